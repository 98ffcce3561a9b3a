"""A deck of slides for every session, with the lecturer's plan in its notes, and handouts of them.

    make sessions

cuts the decks out of the built book, as `make slides` does for single pages, and prints each as a
handout, two slides on a page with room for notes: `_build/course/handouts`. Decks stand in the
folder `slides` of the site; `sessions.html` lists them.
"""

import shutil
import sys
from html import escape
from io import BytesIO

from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright
from pypdf import PageObject, PdfReader, PdfWriter, Transformation

from tools import slides
from tools.reading_time import ROOT
from tools.slides import Slide

from .plan import core_pages, load

HANDOUTS = ROOT / "_build/course/handouts"
SHEET = 595.0, 842.0  # A4, in points
MARGIN, GAP = 36.0, 64.0
OPEN = """async () => {
    await MathJax.startup.promise;
    document.querySelectorAll('details').forEach((e) => e.remove());
    document.querySelectorAll('a[href]').forEach((e) => e.removeAttribute('href'));
    const frame = document.createElement('style');
    frame.textContent = 'main > section { border: 0.3mm solid #c4c9d0; }';
    document.head.append(frame);
    document.querySelectorAll('.decon-live noscript')
        .forEach((e) => { e.outerHTML = e.textContent; });
    await Promise.all([...document.images].map((image) => {
        image.loading = 'eager';
        return image.decode().catch(() => {});
    }));
    fitAll();
}"""


def deck(session, core):
    """The slides of a session: its plan in the notes of the first, then those of its pages.

    Parameters
    ----------
    session : Session
    core : dict of str to Page

    Returns
    -------
    list of Slide
    """
    agenda = "".join(f"<p>{minutes} min, {kind}: {escape(text)}</p>"
                     for minutes, kind, text in session.agenda)
    titles = "; ".join(escape(core[page].title) for page in session.pages)
    made = [Slide("", [f"<h1>{titles}</h1><p>Deconstructing Kernel Machines</p>"], "", [
        f"<p>The plan of this session:</p>{agenda}<p>Hard: {escape(session.hard)}</p>"
        f"<p>When late: {escape(session.late)}</p>"])]

    # the pages one after another; of their exercises those that are set
    for page in session.pages:
        _, cut = slides.deck(slides.SITE / "book" / f"{page}.html")
        for slide in cut if len(session.pages) > 1 else cut[1:]:
            label = _exercise(slide)
            if label is None or label in session.exercises:
                made.append(slide)
    return made


def _exercise(slide):
    """The label of the exercise that a slide shows, or None."""
    for part in slide.parts:
        if not isinstance(part, str) and "exercise" in part.get("class", []):
            return part.get("id", "")
    return None


def handout(page, path):
    """A PDF of a deck, two slides on a page, live figures as pictures."""
    page.emulate_media(media="print")
    page.goto(path.as_uri())
    page.evaluate(OPEN)
    one = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True, print_background=True)))
    writer, (wide, high) = PdfWriter(), SHEET
    for start in range(0, len(one.pages), 2):
        sheet = PageObject.create_blank_page(width=wide, height=high)
        for i, slide in enumerate(one.pages[start:start + 2]):
            factor = (wide - 2 * MARGIN) / float(slide.mediabox.width)
            tall = factor * float(slide.mediabox.height)
            y = high - MARGIN - tall - i * (tall + GAP)
            sheet.merge_transformed_page(
                slide, Transformation().scale(factor).translate(MARGIN, y))
        writer.add_page(sheet)
    writer.compress_identical_objects()
    return writer


def write_decks():
    """Write the decks of all sessions into the site; their names by session."""
    sessions, _ = load()
    core, listed, names = core_pages(), [], {}
    for session in sessions.values():
        names[session.name] = f"session-{session.name}.html"
        title = BeautifulSoup("; ".join(core[page].title for page in session.pages),
                              "html.parser").get_text()
        listed.append(slides.write(names[session.name], title, deck(session, core)))
    slides.index("sessions.html", "Slides of the sessions", slides.KEYS, listed)
    return names


def main():
    """Decks of all sessions, and their handouts where Chromium is there."""
    if not slides.SITE.exists():
        sys.exit("there is no built book: run `make book` first")
    names = write_decks()
    print(f"{slides.SITE / 'slides/sessions.html'}: {len(names)} decks")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Chromium prints the handouts, and is missing: apt-get install chromium")
    HANDOUTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.route("**/live.js*", lambda route: route.abort())
        for name, address in names.items():
            writer = handout(page, slides.SITE / "slides" / address)
            writer.write(HANDOUTS / f"{name}.pdf")
        browser.close()
    print(f"{HANDOUTS}: {len(names)} handouts")


if __name__ == "__main__":
    main()
