"""The check of the built book must fail when the book is bad."""

import pytest

from tools.check_html import faults

GOOD = """<html><head><link rel="stylesheet" href="_static/book.css?v=1">
<link rel="canonical" href="https://example.org/book/">
<script src="_static/math.js"></script></head>
<body><p>See <a href="https://example.org">this</a>.</p><pre>{cite}`code`</pre>
<img src="data:image/png;base64,AAAA"></body></html>"""
INDEX = '<meta http-equiv="Refresh" content="0; url=page.html" />'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static/book.css").write_text("a {background: url('data:image/svg+xml,x')}")
    (tmp_path / "_static/math.js").write_text("")
    (tmp_path / "page.html").write_text(GOOD)
    (tmp_path / "index.html").write_text(INDEX)
    return tmp_path


def test_a_good_site_has_no_fault(site):
    assert faults(site) == []


@pytest.mark.parametrize("old, new, expected", [
    ("<p>", '<div class="system-message">Unknown target</div><p>', "docutils: Unknown target"),
    ("<p>", '<span class="problematic">x</span><p>', "docutils could not read"),
    ("<p>", '<div class="output traceback">ValueError</div><p>', "a traceback: ValueError"),
    ("<p>", '<div class="output stderr">warning</div><p>', "stderr"),
    ("<p>", '<div class="highlight"><span class="err">?</span></div><p>', "Pygments"),
    ("See", "See {cite}`ali2014`", "unread role"),
    ("_static/math.js", "https://cdn.example.org/math.js", "<script> loads from another host"),
    ("_static/math.js", "//cdn.example.org/math.js", "<script> loads from another host"),
    ("_static/math.js", "_static/none.js", "missing"),
    ("_static/book.css?v=1", "https://fonts.example.org/a.css", "<link> loads from another"),
    ("data:image/png;base64,AAAA", "https://example.org/a.png", "<img> loads from another"),
    ("<body>", "<style>@import 'https://example.org/a.css';</style><body>", "loads from another"),
])
def test_a_bad_page_is_caught(site, old, new, expected):
    assert old in GOOD
    (site / "page.html").write_text(GOOD.replace(old, new))
    (fault,) = faults(site)
    assert fault.startswith("page.html: ") and expected in fault


def test_a_font_from_another_host_is_caught(site):
    (site / "_static/book.css").write_text("@font-face {src: url(https://example.org/f.woff2)}")
    assert faults(site) == ["page.html: book.css loads from another host: "
                            "https://example.org/f.woff2"]


def test_no_html_is_caught(tmp_path):
    assert faults(tmp_path) == ["index.html: missing", "no page besides index.html"]


def test_an_index_that_leads_nowhere_is_caught(site):
    (site / "index.html").write_text(INDEX.replace("page.html", "gone.html"))
    (fault,) = faults(site)
    assert "sends the reader to a page that is missing" in fault
