"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from decon.teaching.live import HERE, Live, script

GROUNDS = {"light": "#ffffff", "dark": "#14181e"}


@pytest.fixture(scope="session")
def chromium():
    """The browser."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.fail("Chromium is missing: apt-get install chromium, then run these tests again")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_figure(chromium, tmp_path):
    """Opens a live figure on a page of its own; at the end, no error may have been reported."""
    errors, pages = [], []

    def open_it(name, data=None, width=760, theme="light", motion="reduce"):
        file = tmp_path / f"{name}-{theme}.html"
        file.write_text(
            f'<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width"><title>A figure</title><style>'
            f"body {{ font: 16px/1.5 sans-serif; background: {GROUNDS[theme]} }}"
            f"{(HERE / 'live.css').read_text('utf-8')}</style></head><body><main>"
            f"{Live(name, 'A sentence.', data or {})._repr_html_()}</main>"
            f"<script>{script()}</script></body></html>", encoding="utf-8")
        page = chromium.new_page(viewport={"width": width, "height": 900}, reduced_motion=motion)
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_selector(".live-frame")
        pages.append(page)
        return page

    yield open_it
    for page in pages:
        page.close()
    assert not errors
