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
    assert notes == ["Again.", "Before the theorem.Induction.", "After it."]


def section_of(html):
    section = BeautifulSoup(f"<section><h2>S</h2>{html}</section>", "html.parser").section
    section.h2.extract()
    return slides.slides_of_section(section, "S")


def test_a_numbered_formula_is_shown_with_its_paragraph():
    made = section_of('<p>First.</p><p>So it is</p><div class="math"><span class="eqno">(1)</span>'
                      "a</div><p>Then.</p><p>Hence</p>"
                      '<div class="math"><span class="eqno">(2)</span>b</div><p>Last.</p>')
    assert [[part.get_text() for part in slide.parts] for slide in made] == [
        ["So it is", "(1)a", "Hence", "(2)b"]]
    assert sorted(note.get_text() for note in made[0].notes) == ["First.", "Last.", "Then."]


def test_a_sentence_is_shown_to_its_end():
    made = section_of(r'<p>The norm is</p><div class="math">\[x,\]</div><p>where x is small.</p>'
                      "<p>More.</p>")
    assert [part.get_text() for part in made[0].parts] == [
        "The norm is", r"\[x,\]", "where x is small."]
    assert [note.get_text() for note in made[0].notes] == ["More."]


def test_long_tables_and_outputs_are_parted():
    rows = "".join(f"<tr><td>{i}</td></tr>" for i in range(2 * slides.ROWS + 1))
    made = section_of(f"<table><thead><tr><th>n</th></tr></thead><tbody>{rows}</tbody></table>")
    found = [[int(cell.string) for cell in slide.parts[0].select("td")] for slide in made]
    assert sum(found, []) == list(range(2 * slides.ROWS + 1)) and len(found) == 3
    assert len(found[-1]) == 2 and all(slide.parts[0].th for slide in made)
    lines = "\n".join(map(str, range(slides.BOTH)))
    made = section_of('<div class="cell"><div class="cell_input"><pre>code</pre></div>'
                      f'<div class="cell_output"><pre>{lines}</pre></div></div>')
    assert [slide.parts[0].get_text() for slide in made] == ["code", lines]


def test_links_lead_from_the_folder_of_the_slides(made):
    assert made[1].a["href"] == "../book/glossary.html#term-label"
    assert made[2].img["src"] == "../_images/a.svg"
    assert made[5].a["href"] == "../book/part/halving.html#fig-1"


def test_answers_open_and_solutions_stay_out(made):
    assert made[8].select_one("details summary").string == "Answer"
    assert "Secret" not in "".join(map(str, made))
