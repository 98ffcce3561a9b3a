"""Slides are cut from the built pages: what is shown, what becomes notes, where links lead."""

import pytest
from bs4 import BeautifulSoup

from tools import slides

PAGE = """<html><body><article class="bd-article"><section id="halving">
<h1>9. Halving<a class="headerlink" href="#halving">#</a></h1>
<p>How many halvings? <a href="../glossary.html#term-label">label</a></p>
<div class="cell tag_hide-input"><div class="cell_input"><pre>draw()</pre></div>
  <div class="cell_output"><figure id="fig-1"><img src="../../_images/a.svg"></figure></div></div>
<section id="what-you-will-learn"><h2>What you will learn</h2><ul><li>count</li></ul></section>
<section id="the-idea"><h2>The idea</h2><p>Halve.</p><p>Again.</p></section>
<section id="the-bound"><h2>The bound</h2>
  <p>Before the theorem.</p>
  <div class="proof theorem admonition" id="thm-1"><p>At most n. <a href="#fig-1">It</a></p></div>
  <div class="proof admonition" id="proof"><p>Induction.</p></div>
  <div class="cell"><div class="cell_input"><pre>SHORT</pre></div>
    <div class="cell_output"><pre>42</pre></div></div>
  <div class="cell"><div class="cell_input"><pre>LONG\n{}</pre></div></div>
  <div class="cell"><div class="cell_output"><div class="decon-live" data-figure="step"></div>
    </div></div>
  <div class="admonition-check-yourself-1 admonition"><p class="admonition-title">Check 1</p>
    <p>Why?</p><div class="dropdown admonition"><p class="admonition-title">Answer</p>
    <p>Because.</p></div></div>
  <p>After it.</p></section>
<section id="exercises"><h2>Exercises</h2><div class="exercise"><p>Prove it.</p></div>
  <div class="solution"><p>Secret.</p></div></section>
<section id="further-reading"><h2>Further reading</h2><p>A book.</p></section>
</section></article></body></html>"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr(slides, "SITE", tmp_path)
    path = tmp_path / "book/part/halving.html"
    path.parent.mkdir(parents=True)
    path.write_text(PAGE.format("x\n" * slides.LINES), encoding="utf-8")
    title, deck = slides.deck(path)
    assert title == "9. Halving"
    return [BeautifulSoup(slide.html(i), "html.parser") for i, slide in enumerate(deck, start=1)]


def shown(slide):
    """The text of a slide without its notes and its number."""
    copy = BeautifulSoup(str(slide), "html.parser")
    for part in copy.select(".notes, .number"):
        part.extract()
    return " ".join(copy.get_text(" ").split())


def test_what_is_shown_in_which_order(made):
    assert [shown(slide) for slide in made] == [
        "9. Halving Deconstructing Kernel Machines", "How many halvings? label", "",
        "What you will learn count", "The idea Halve.", "The bound At most n. It",
        "The bound SHORT 42", "", "The bound Check 1 Why? Answer Because.",
        "Exercises Prove it."]
    assert made[2].select_one("figure img") and made[7].select_one(".decon-live")
    assert [slide.select_one(".number").string for slide in made] == [
        str(i) for i in range(1, 11)]


def test_the_text_becomes_notes(made):
    notes = [" ".join(n.get_text().split()) for s in made for n in s.select(".notes")]
    assert notes == ["Again.", "Before the theorem.", "Induction.", "After it."]


def test_links_lead_from_the_folder_of_the_slides(made):
    assert made[1].a["href"] == "../book/glossary.html#term-label"
    assert made[2].img["src"] == "../_images/a.svg"
    assert made[5].a["href"] == "../book/part/halving.html#fig-1"


def test_answers_open_and_solutions_stay_out(made):
    assert made[8].select_one("details summary").string == "Answer"
    assert "Secret" not in "".join(map(str, made))
