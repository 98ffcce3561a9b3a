"""Still pictures of the live figures, for readers whose page runs no scripts: `make stills`.

Chromium opens every figure with the data of its page, and its stage is stored in
book/_static/stills. A changed figure needs a new picture: the name holds a digest of the figure's
file, and the book does not build without it.
"""

import shutil
import sys
from io import BytesIO

import nbformat
from live_figures import PLACE, STILLS, still_name
from PIL import Image
from playwright.sync_api import sync_playwright
from reading_time import ROOT

from decon.teaching.live import HERE, script

WIDTH, SHARPNESS, COLOURS = 720, 1.5, 64

# Buttons to press first, where a figure shows little when it is opened
PRESSED = {"bisector": ("Let the algorithm halve", "Show the boundary"),
           "hessians": ("Solve for both",), "version_space": 4 * ("One best query",)}


def places():
    """Every place of a live figure in the book, as (page, figure, its HTML)."""
    for path in sorted((ROOT / "book").rglob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                shown = output.get("data", {}).get("text/html", "")
                if found := PLACE.match(shown):
                    yield path.stem, found[1], shown


def page_of(place):
    """A page with one figure on it."""
    return (f'<!doctype html><html data-theme="light"><meta charset="utf-8"><style>'
            f"body {{ font: 16px/1.5 sans-serif; margin: 0; background: #fff }}"
            f"{(HERE / 'live.css').read_text('utf-8')}</style>{place}<script>{script()}</script>")


def picture(page, figure):
    """The stage of the figure that a browser's page shows: PNG of few colours."""
    if page.locator(".live-skip").count():
        page.locator(".live-skip").click()
    for button in PRESSED.get(figure, ()):
        page.get_by_role("button", name=button).click()
    page.wait_for_timeout(300)
    shot = Image.open(BytesIO(page.locator(".live-stage").screenshot())).convert("RGB")
    stored = BytesIO()
    shot.quantize(COLOURS, dither=Image.Dither.NONE).save(stored, "png", optimize=True)
    return stored.getvalue()


def main():
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("Chromium is missing: apt-get install chromium, then run this again")
    shutil.rmtree(STILLS, ignore_errors=True)
    STILLS.mkdir(parents=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900},
                                device_scale_factor=SHARPNESS, reduced_motion="reduce")
        for name, figure, place in places():
            page.set_content(page_of(place))
            page.wait_for_selector(".live-frame")
            (STILLS / still_name(name, figure)).write_bytes(picture(page, figure))
        browser.close()


if __name__ == "__main__":
    main()
