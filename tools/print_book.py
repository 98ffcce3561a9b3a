"""The book on paper: `make pdf` prints the built pages in Chromium and binds them.

core.pdf has the core pages, everything.pdf the depth pages and the appendices too. Answers and
solutions stand at the end of their page; code that a page folds is left out.
"""

import argparse
import re
import shutil
import sys
from io import BytesIO
from os.path import normpath
from pathlib import Path

from bind_book import MARK, PAPER, bind
from playwright.sync_api import sync_playwright
from pypdf import PdfReader
from reading_time import ROOT, pages
from tqdm import tqdm

SITE = ROOT / "_build/html"
SIZES = {"core": "12.4px", "everything": "10.7px"}  # of the type; all pages make less than 650
CODE = ("api",)  # the reference is for screens; its folder, too
ALWAYS = ("bibliography", "glossary")  # of the appendices
UNNUMBERED = ALWAYS  # a page number after every term and citation would disturb
PREPARE, STYLE = (Path(__file__).with_suffix(kind).read_text("utf-8") for kind in (".js", ".css"))


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


def places_of(rows):
    """The places of each printed page to which other printed pages link, by its address."""
    found = {path.as_uri(): set() for *_, path in rows}
    for *_, path in rows:
        html = path.read_text("utf-8")
        for target, place in re.findall(r'href="([^"#:?]+\.html)#([^"]+)"', html):
            address = Path(normpath(path.parent / target)).as_uri()
            found.get(address, set()).add(place)
    return {address: sorted(places) for address, places in found.items()}


def paper(browser):
    """A page of the browser that prints, without the script of the live figures."""
    page = browser.new_page(viewport={"width": 800, "height": 1100})
    page.emulate_media(media="print", reduced_motion="reduce")
    page.route("**/live.js*", lambda route: route.abort())
    return page


def print_page(page, path, places, size=SIZES["core"]):
    """The title of a built page, and a PDF of it, in a size of type.

    `places` has the pages of this edition by their address, each with the places that need one.
    """
    page.goto(path.as_uri())
    page.add_style_tag(content=f":root {{ --size: {size}; }}\n{STYLE}")
    numbered = [address for address in places
                if address != path.as_uri() and Path(address).stem not in UNNUMBERED]
    page.evaluate(PREPARE, {"numbered": numbered, "mark": MARK, "places": places[path.as_uri()]})
    title = page.locator("article.bd-article h1").first.evaluate(
        "(e) => { e.querySelector('.headerlink')?.remove(); return e.textContent.trim(); }")
    return title, PdfReader(BytesIO(page.pdf(**PAPER, tagged=False)))


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
            places = places_of(rows)
            printed = [print_page(page, path, places, size) for *_, path in
                       tqdm(rows, desc=name, disable=None)]
            length = bind(browser, (rows, printed), into / f"{name}.pdf")
            print(f"{into / name}.pdf: {length} pages")
        browser.close()


if __name__ == "__main__":
    main()
