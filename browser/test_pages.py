"""Every page of the built book, as a reader with a narrow or a wide screen sees it."""

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

SITE = Path(__file__).parents[1] / "_build/html"
PAGES = sorted(str(p.relative_to(SITE)) for p in SITE.rglob("*.html")
               if not {"_static", "index.html", "slides"} & set(p.relative_to(SITE).parts))
SOURCES = [page for page in PAGES if "_modules" in page]  # they differ in their code only
EVERY = int(os.environ.get("EVERY", "1"))  # CI checks every eighth page, `make test-pages` all
CHECKED = [page for page in PAGES if page not in SOURCES or page in SOURCES[::10]][::EVERY]

# From the top to the bottom, since what is far from the screen is laid out when a reader comes near
READ = """async () => {
    const frame = () => new Promise((done) => {
        requestAnimationFrame(() => setTimeout(done));
        setTimeout(done, 1000); // a browser that draws no frame must not stop the test
    });
    for (let y = 0; y < document.documentElement.scrollHeight; y += 800) {
        window.scrollTo({ top: y, behavior: "instant" });
        await frame();
    }
    window.scrollTo({ top: 0, behavior: "instant" });
    await frame();
    await new Promise((done) => setTimeout(done, 150));
}"""
LIVE = 'class="decon-live"'
WIDTHS = (320, 820, 1440)
THEMES = ("light", "dark")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "preload": False,
         "resultTypes": ["violations"],
         "rules": {"color-contrast": {"enabled": False}}}  # CONTRAST is a hundred times as fast
CODE = {"exclude": [[".highlight pre"], [".sig"]]}  # thousands of spans
# What the theme does, and no line of ours can cure.
OF_THE_THEME: set[str] = set()

# Shown text or boxes beyond the right edge, unless they are in a box that scrolls
BEYOND = """() => {
    const edge = document.documentElement.clientWidth + 1;
    const hidden = (e) => {
        for (let box = e; box && box !== document.body; box = box.parentElement) {
            const style = getComputedStyle(box);
            if (['auto', 'scroll'].includes(style.overflowX) && box !== e) return true;
            if (style.visibility === 'hidden' || style.opacity === '0') return true;
            if (box.matches('mjx-assistive-mml, .bd-sidebar-secondary, .bd-sidebar-primary')) {
                return true;
            }
        }
        return false;
    };
    return [...document.querySelectorAll('body *')]
        .filter((e) => { const r = e.getBoundingClientRect();
                         return e.checkVisibility() && r.width > 1 && r.height > 1
                             && r.right > edge && !hidden(e); })
        .map((e) => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 60)}`)
        .slice(0, 5);
}"""

# Boxes that cut their content off without a way to scroll to it
CUT = """() => [...document.querySelectorAll('.bd-content *')]
    .filter((e) => ['hidden', 'clip'].includes(getComputedStyle(e).overflowX)
            && e.checkVisibility() && e.clientWidth > 2 && e.scrollWidth > e.clientWidth + 1
            && !e.closest('mjx-assistive-mml, mjx-ext, .live-plane, svg'))
    .map((e) => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 60)}`).slice(0, 5)"""

# Boxes that scroll but cannot be reached by keyboard
UNREACHED = """() => [...document.querySelectorAll('.bd-content *')]
    .filter((e) => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
            && e.checkVisibility() && e.clientWidth > 2
            && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0
            && !e.closest('mjx-assistive-mml'))
    .map((e) => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 60)}`).slice(0, 5)"""

# Narrow formulas that fade out as what scrolls does: an accent overhangs its letter
FADED = """() => [...document.querySelectorAll('span.math[data-scrolls]')]
    .filter((e) => e.clientWidth < 100).map((e) => e.textContent.slice(0, 20))"""

SMALL = """() => [...document.querySelectorAll('.picture img')]
    .filter((e) => e.style.minWidth && e.clientWidth > 0
            && e.clientWidth < parseFloat(e.style.minWidth) - 1).map((e) => e.src)"""

# Pairs of colours, of a text and of what lies behind it, too near to one another (WCAG 1.4.3)
CONTRAST = """() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, a = 1], below) => [r, g, b].map((v, i) => a * v + (1 - a) * below[i]);
    const grounds = new Map([[null, [255, 255, 255]]]), bad = new Map();
    const ground = (e) => {
        if (!grounds.has(e)) {
            const colour = parts(getComputedStyle(e).backgroundColor);
            grounds.set(e, over(colour, ground(e.parentElement)));
        }
        return grounds.get(e);
    };
    const luminance = (colour) => {
        const [r, g, b] = colour.map((v) => v / 255)
            .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !e.checkVisibility({ visibilityProperty: true })
            || e.closest('svg, script, style, [inert], :disabled, mjx-assistive-mml')) continue;
        const style = getComputedStyle(e), size = parseFloat(style.fontSize), below = ground(e);
        const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        const [low, high] = [luminance(below), luminance(over(parts(style.color), below))]
            .sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < (large ? 3 : 4.5)) {
            const text = e.textContent.trim().slice(0, 40);
            bad.set(`${style.color} on ${below.map(Math.round)}`,
                    `${ratio.toFixed(2)}: ${e.tagName}.${e.className}: ${text}`);
        }
    }
    return [...bad].slice(0, 5).map((pair) => pair.join(', '));
}"""

TYPESET = """async () => {
    if (!window.MathJax) return;
    await MathJax.startup.promise;
    await MathJax.startup.document.lazyTypesetAll();
    await new Promise((done) => setTimeout(done, 50));
}"""


@pytest.fixture(scope="session", autouse=True)
def site():
    if not PAGES:
        pytest.fail("there is no built book: run `make book` first")


@pytest.fixture(scope="session")
def window(chromium):
    """One page for all tests, and what it reports."""
    page, faults = chromium.new_page(), []
    page.on("request", lambda r: faults.append(f"asks {r.url}")
            if urlsplit(r.url).scheme not in ("file", "data", "blob")
            and urlsplit(r.url).hostname != "127.0.0.1" else None)
    page.on("requestfailed", lambda r: faults.append(f"failed: {r.url}"))
    page.on("console", lambda m: faults.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: faults.append(str(e)))
    return page, faults


@pytest.fixture
def visit(window):
    """Opens pages of the book; none may ask another host, or report an error."""
    page, faults = window
    faults.clear()

    def open_it(name):
        page.set_viewport_size({"width": WIDTHS[-1], "height": 900})
        page.goto(f"{SITE.as_uri()}/{name}")
        page.evaluate(TYPESET)
        return page

    yield open_it
    assert not faults, "\n".join(faults)


@pytest.fixture(scope="session")
def served():
    """The book on a server of this machine, whose pages may read other pages."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_site_opens_with_the_introduction(chromium):
    page = chromium.new_page()
    page.goto(f"{SITE.as_uri()}/index.html")
    page.wait_for_url("**/book/intro.html")
    page.close()


@pytest.mark.parametrize("name", CHECKED)
def test_page(visit, name):
    page = visit(name)
    found = {}

    # Nothing is cut off, at any width
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(READ)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"wider than {width}"
        for what, script in [("beyond", BEYOND), ("cut", CUT), ("unreached", UNREACHED),
                             ("small", SMALL)]:
            if bad := page.evaluate(script):
                found[what, width] = bad

    # Formulas are set, and are no tab stops
    if page.locator("mjx-merror").count():
        found["formula"] = page.locator("mjx-merror").all_inner_texts()
    if page.locator("mjx-container:not([data-scrolls])[tabindex='0']").count():
        found["tab stop"] = "formulas"
    if faded := page.evaluate(FADED):
        found["faded"] = faded

    # Accessible
    for fault in Axe().run(page, context=CODE, options=RULES).response["violations"]:
        if fault["id"] not in OF_THE_THEME:
            found[fault["id"]] = [node["html"][:150] for node in fault["nodes"][:3]]

    # Colours, in both themes
    page.add_style_tag(content="* { transition: none !important }")
    for theme in THEMES:
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        if bad := page.evaluate(CONTRAST):
            found["contrast", theme] = bad
    assert not found, "\n".join(f"{where}: {what}" for where, what in found.items())


@pytest.mark.parametrize("name", [page for page in CHECKED
                                  if LIVE in (SITE / page).read_text("utf-8")])
def test_without_scripts_a_live_figure_is_a_picture_and_a_sentence(chromium, name):
    page = chromium.new_page(java_script_enabled=False, viewport={"width": 390, "height": 900})
    page.goto(f"{SITE.as_uri()}/{name}")
    place = page.locator(".decon-live")
    assert place.locator("p").first.is_visible()
    box = place.locator("img").bounding_box()
    assert 200 < box["width"] <= 390 and box["height"] > 60
    page.close()


@pytest.mark.parametrize("style, ratio", [
    ("color: #888", "3.54"), ("color: rgba(0, 0, 0, 0.4)", "2.85"),
    ("color: #888; background: #ccc", "2.21"), ("color: #888; font-size: 24px", None),
    ("color: #767676", None), ("color: #888; visibility: hidden", None)])
def test_colours_too_near_to_one_another_are_found(chromium, style, ratio):
    page = chromium.new_page()
    page.set_content(f'<body><p>good <span style="{style}">faint</span></p></body>')
    assert [bad.split(": ")[0].split(", ")[-1] for bad in page.evaluate(CONTRAST)] == (
        [ratio] if ratio else [])
    page.close()


@pytest.mark.parametrize("typed", ["bracketing", "normals", "soft margin", "which kernel"])
def test_search_finds_the_chapter_first(chromium, served, typed):
    chapter = {"bracketing": "bracketing", "normals": "normals", "soft margin": "soft-margin",
               "which kernel": "kernel-type"}[typed]
    page = chromium.new_page()
    page.goto(f"{served}/search.html?q={typed}")
    first = page.locator("#search-results li a").first
    first.wait_for()
    assert first.get_attribute("href").split("?")[0].endswith(f"/{chapter}.html")
    page.close()
