"""The book on paper: `make pdf` prints the built pages in Chromium and binds them.

core.pdf has the core pages, everything.pdf the depth pages and the appendices too. Answers and
solutions stand at the end of their page; code that a page folds is left out. Page numbers, the
table of contents and the links between pages are made while binding.
"""

import argparse
import shutil
import sys
from html import escape
from io import BytesIO
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, NullObject
from reading_time import ROOT, pages
from tqdm import tqdm

SITE = ROOT / "_build/html"
TITLE = "Deconstructing Kernel Machines"
EDITIONS = {"core": "The core pages", "everything": "All pages"}
SIZES = {"core": "12.4px", "everything": "10.8px"}  # of the type; all pages make less than 650
CODE = ("api",)  # the reference is for screens; its folder, too
ALWAYS = ("bibliography", "glossary")  # of the appendices
PAPER = {"format": "A4", "print_background": True,
         "margin": {"top": "15mm", "bottom": "16mm", "left": "18mm", "right": "18mm"}}

# Formulas set, answers and solutions at the end, all else open, what is folded left out, stills for
# live figures
PREPARE = """async () => {
    document.documentElement.dataset.theme = 'light';
    if (window.MathJax?.startup) {
        await MathJax.startup.promise;
        await MathJax.startup.document.lazyTypesetAll();
    }
    const article = document.querySelector('article.bd-article');
    const answers = [...article.querySelectorAll('div.solution, .admonition .dropdown.admonition')]
        .filter((e) => !e.parentElement.closest('div.solution'));
    const end = document.createElement('section');
    end.className = 'answers';
    for (const answer of answers) {
        const question = answer.parentElement.closest('.admonition');
        const title = answer.querySelector('.admonition-title');
        if (question && !answer.matches('.solution')) {
            title.textContent = question.querySelector('.admonition-title').textContent;
        }
        end.append(answer);
    }
    if (answers.length) {
        const heading = document.createElement('h2');
        heading.textContent = 'Answers and solutions';
        end.prepend(heading);
        article.append(end);
    }
    article.querySelectorAll('.decon-live noscript')
        .forEach((e) => { e.outerHTML = e.textContent; });
    article.querySelectorAll('.cell.tag_hide-input details').forEach((e) => e.remove());
    article.querySelectorAll('.toggle-hidden').forEach((e) => e.classList.remove('toggle-hidden'));
    article.querySelectorAll('.toggle-button').forEach((e) => e.remove());
    article.querySelectorAll('details').forEach((e) => { e.open = true; });
    for (const image of article.querySelectorAll('img')) {
        image.loading = 'eager';
        await image.decode().catch(() => {});
    }
}"""

STYLE = Path(__file__).with_suffix(".css").read_text("utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
AUTHORS = ", ".join(author["name"] for author in CITATION["authors"])


def chosen(everything):
    """The pages to print, as (part, depth page?, path of the built page)."""
    found = []
    for part, depth, path in pages():
        name = path.relative_to(ROOT).with_suffix(".html")
        core = not depth and part != "Appendices" or name.stem in ALWAYS
        if set(name.with_suffix("").parts) & set(CODE) or not (core or everything):
            continue
        found.append((part, depth, SITE / name))
    return found


def paper(browser):
    """A page of the browser that prints, without the script of the live figures."""
    page = browser.new_page(viewport={"width": 800, "height": 1100})
    page.emulate_media(media="print", reduced_motion="reduce")
    page.route("**/live.js*", lambda route: route.abort())
    return page


def print_html(browser, html, **options):
    """A PDF of some HTML of our own."""
    page = browser.new_page()
    page.set_content(html)
    made = page.pdf(**PAPER | options)
    page.close()
    return PdfReader(BytesIO(made))


def print_page(page, path, size=SIZES["core"]):
    """The title of a built page, and a PDF of it, in a size of type."""
    page.goto(path.as_uri())
    page.add_style_tag(content=f":root {{ --size: {size}; }}\n{STYLE}")
    page.evaluate(PREPARE)
    title = page.locator("article.bd-article h1").first.evaluate(
        "(e) => { e.querySelector('.headerlink')?.remove(); return e.textContent.trim(); }")
    return title, PdfReader(BytesIO(page.pdf(**PAPER, tagged=False)))


def contents(browser, chapters, starts, edition):
    """The title page and the table of contents; an entry leads to its page."""
    lines, last = [], None
    for (part, depth, path), (title, _), start in zip(*chapters, starts, strict=True):
        if part and part != last:
            lines.append(f"<h2>{escape(part)}</h2>")
        last = part
        lines.append(f'<a href="{path.as_uri()}" class="{"depth" if depth else "core"}">'
                     f"{escape(title)}<i></i>{start + 1}</a>")
    return print_html(browser, f"""<style>
        body {{ font: 11pt/1.5 "DejaVu Sans", sans-serif; }}
        h1 {{ font-size: 30pt; margin: 60mm 0 4mm; }}
        .first {{ break-after: page; }} .small {{ font-size: 9.5pt; margin-top: 120mm; }}
        h2 {{ font-size: 12pt; margin: 5mm 0 1mm; break-after: avoid; }}
        a {{ display: flex; gap: 2mm; color: inherit; text-decoration: none; }}
        i {{ flex: 1; border-bottom: 0.3mm dotted #999; margin-bottom: 1.5mm; }}
        .depth {{ padding-left: 8mm; font-size: 10pt; }}</style>
        <div class="first"><h1>{TITLE}</h1><p>How to recover a kernel machine from its labels</p>
        <p>{AUTHORS}</p><p>{EDITIONS[edition]}, version {CITATION["version"]}</p>
        <p class="small">The text is licensed under {CITATION["license"][1]}, the module under
        {CITATION["license"][0]}. Code for setting up and plotting is in the notebooks; live figures
        work in the HTML edition; answers stand at the end of each chapter.</p>
        </div>{"".join(lines)}""")


def bind(browser, chapters, target):
    """One file of all chapters, with page numbers, links between pages and an outline."""
    rows, printed = chapters
    lengths = [len(reader.pages) for _, reader in printed]

    # Where every chapter starts, once the length of the contents is known
    front = len(contents(browser, chapters, [0] * len(printed), target.stem).pages)
    starts = [front + sum(lengths[:i]) for i in range(len(printed))]
    opening = contents(browser, chapters, starts, target.stem)
    writer, parts, over = PdfWriter(), {}, None
    for reader in (opening, *(reader for _, reader in printed)):
        writer.append(reader, import_outline=False)

    # The outline: parts, their chapters, and their depth pages
    writer.add_outline_item(title=TITLE, page_number=0)
    for (part, depth, _), (title, _), start in zip(rows, printed, starts, strict=True):
        if part and part not in parts:
            parts[part] = writer.add_outline_item(title=part, page_number=start)
        item = writer.add_outline_item(title=title, page_number=start,
                                       parent=over if depth else parts.get(part))
        over = over if depth else item

    # Links: to places in the same chapter, to the beginning of another one, to the web
    begin = {path.as_uri(): start for (_, _, path), start in zip(rows, starts, strict=True)}
    for reader, start in zip((opening, *(reader for _, reader in printed)), (0, *starts),
                             strict=True):
        named = reader.named_destinations
        for sheet in writer.pages[start:start + len(reader.pages)]:
            kept = ArrayObject()
            for annotation in sheet.get("/Annots", ()):
                link = annotation.get_object()
                address = str(link.get("/A", {}).get("/URI", ""))
                if link.get("/Dest") in named:
                    place = named[link["/Dest"]]
                    there = start + reader.get_destination_page_number(place)
                    link[NameObject("/Dest")] = ArrayObject([
                        writer.pages[there].indirect_reference, NameObject("/XYZ"), NullObject(),
                        place.get("/Top", NullObject()), NullObject()])
                elif address.startswith("file:"):
                    there = begin.get(address.split("#")[0])
                    if there is None:
                        continue  # a page that this file does not have
                    del link["/A"]
                    link[NameObject("/Dest")] = ArrayObject([
                        writer.pages[there].indirect_reference, NameObject("/Fit")])
                kept.append(annotation)
            sheet[NameObject("/Annots")] = kept

    # Page numbers
    numbers = "".join(f"<div>{i}</div>" for i in range(front + 1, len(writer.pages) + 1))
    stamps = print_html(browser, f"""<style>body {{ margin: 0; }} div {{ height: 287mm;
        padding-top: 0; break-after: page; font: 9pt sans-serif; display: flex;
        align-items: flex-end; justify-content: center; color: #555; }}</style>{numbers}""",
                        margin={side: "0mm" for side in ("top", "bottom", "left", "right")})
    for sheet, stamp in zip(writer.pages[front:], stamps.pages, strict=False):
        sheet.merge_page(stamp)
        sheet.compress_content_streams()

    writer.add_metadata({"/Title": TITLE, "/Author": AUTHORS,
                         "/Subject": " ".join(CITATION["abstract"].split()),
                         "/Keywords": ", ".join(CITATION["keywords"])})
    writer.compress_identical_objects()
    target.parent.mkdir(parents=True, exist_ok=True)
    writer.write(target)
    return len(writer.pages)


def main():
    """Print the core pages, and everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "_build/pdf")
    into = parser.parse_args().into
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Chromium prints the book, and is missing: apt-get install chromium")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = paper(browser)
        for name, size in SIZES.items():
            rows = chosen(everything=name == "everything")
            printed = [print_page(page, path, size) for *_, path in
                       tqdm(rows, desc=name, disable=None)]
            length = bind(browser, (rows, printed), into / f"{name}.pdf")
            print(f"{into / name}.pdf: {length} pages")
        browser.close()


if __name__ == "__main__":
    main()
