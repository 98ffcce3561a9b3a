"""Slides for a lecture: `make slides` cuts a deck for every core page out of the built book.

A deck has the question of the page, what one will learn, and of each section its pictures, live
figures, theorems, code with its output, and checks; then the summary and the exercises. Decks stand
in the folder `slides` of the site and use its pictures and scripts.
"""

import posixpath
import re
import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template

from bs4 import BeautifulSoup

from tools.reading_time import ROOT, pages

SITE = ROOT / "_build/html"
TEMPLATE = Path(__file__).with_name("slides.html")
LINES = 18  # of code on a slide
BOTH = 20  # lines of code and output on one slide; else the output has its own
FORMULAS = 4  # and paragraphs that a slide may have before it takes one more formula
ROWS, LETTERS_OF_ROWS = 8, 700  # of a table on a slide
WIDTH = 46.0  # of a block of code, in rem
KEYS = ("Arrow keys, space and the page keys turn the slides; n shows the notes; t changes to dark "
        "and back. Printed, each slide is a page.")
LETTERS, LETTER = 1.05, 0.61  # size of its letters at most, in rem; the width of one, in its size


def soup_of(path):
    """The article of a built page, its links as seen from the folder of the slides."""
    soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    here = path.relative_to(SITE).parent.as_posix()
    for tag in soup.select("[href], [src]"):
        for name in ("href", "src"):
            address = tag.get(name, "")
            if not address or re.match(r"[a-z]+:", address):
                continue
            if address.startswith("#"):
                address = path.name + address
            target = posixpath.normpath(posixpath.join(here, address))
            tag[name] = posixpath.relpath(target, "slides")
    return soup


@dataclass
class Slide:
    """A heading, elements of the page, and what a lecturer may say about them."""

    title: str
    parts: list
    kind: str = ""
    notes: list = field(default_factory=list)

    def html(self, number):
        heading = f"<h2>{self.title}</h2>" if self.title else ""
        notes = "".join(map(str, self.notes))
        return (f'<section class="{self.kind}"><div class="fit">{heading}'
                f'{"".join(map(str, self.parts))}</div>'
                + (f'<aside class="notes">{notes}</aside>' if notes else "")
                + f'<span class="number">{number}</span></section>')


def heading_of(section):
    """The heading of a section as HTML, without its link to itself."""
    heading = section.find(["h1", "h2", "h3"], recursive=False)
    for link in heading.select(".headerlink"):
        link.extract()
    return heading.decode_contents()


def is_shown(cell):
    """Whether a cell of code is short enough to be read on a slide, and not folded."""
    code = cell.select_one(".cell_input pre")
    return (code is not None and "tag_hide-input" not in cell["class"]
            and len(code.get_text().strip().splitlines()) <= LINES)


def fitted(cell):
    """A cell whose longest line of code or output goes onto a slide, in letters as large as fit."""
    for block in cell.select("pre"):
        longest = max(map(len, block.get_text().splitlines()), default=1)
        block["style"] = f"font-size: {min(LETTERS, WIDTH / (LETTER * longest)):.2f}rem"
    return cell


def with_answer(box):
    """A check: the answer opens when it is clicked."""
    for answer in box.select(".dropdown.admonition"):
        answer.select_one(".admonition-title").extract()
        answer.name, answer["class"] = "details", []
        answer.insert(0, BeautifulSoup("<summary>Answer</summary>", "html.parser"))
    return box


def cell_and_output(cell):
    """A cell as one part, or its output as a second one, where both are too long together."""
    output = cell.select_one(".cell_output")
    lines = sum(len(block.get_text().strip().splitlines()) for block in cell.select("pre"))
    if output is None or lines <= BOTH or not output.select("pre"):
        return [cell]
    return [cell, output.extract()]


def parts_of_table(element):
    """A table in parts of a few rows, each with the heading."""
    table = element if element.name == "table" else element.select_one("table")
    body = table.find("tbody")
    rows, parts, letters = list(body.find_all("tr", recursive=False)), [[]], 0
    for row in rows:
        letters += len(row.get_text())
        if parts[-1] and (len(parts[-1]) >= ROWS or letters > LETTERS_OF_ROWS):
            parts.append([])
            letters = len(row.get_text())
        parts[-1].append(row.extract())
    if len(parts) > 1 and len(parts[-1]) == 1:  # no row stands alone
        parts[-1].insert(0, parts[-2].pop())
    made = []
    for some in parts:
        part = BeautifulSoup(str(element), "html.parser")
        part.find("tbody").extend(some)
        made.append(part)
    return made


def is_open(element):
    """Does a paragraph wait for what follows, or a formula for the end of its sentence?"""
    if "math" in element.get("class", []):
        return not re.search(r"[.?!]\s*(?:\\\]|\\end\{\w+\*?\})?\s*(?:\\\])?$",
                             element.get_text().strip())
    return not re.search(r"[.?!][)”’\"]*$", element.get_text().strip())


def sentence(elements):
    """The first paragraph with the formulas that belong to it, and how many elements these are."""
    count = 1
    while count < len(elements) and (is_open(elements[count - 1])
                                     or "math" in elements[count].get("class", [])):
        count += 1
    return count


def slides_of_section(section, title):
    """What of a section stands on slides, in the order of the page; its text becomes notes.

    A numbered formula is shown, with the paragraph before it. Text belongs to what stands before
    it, at the beginning of a section to what follows.
    """
    notes, made = [], []

    def add(heading, part, kind=""):
        if made and notes:
            made[-1].notes += notes
            notes.clear()
        made.append(Slide(heading, [part], kind, notes[:]))
        notes.clear()

    for element in section.find_all(recursive=False):
        classes = element.get("class", [])
        if element.name == "section":
            if notes and not made:
                count = sentence(notes)
                made.append(Slide(title, notes[:count], "", notes[count:]))
            elif notes:
                made[-1].notes += notes
            notes.clear()
            made += slides_of_section(element, heading_of(element))
        elif "proof" in classes and element.get("id", "") != "proof":
            add(title, element)
        elif any(c.startswith("admonition-check-yourself") for c in classes):
            add(title, with_answer(element))
        elif "cell" in classes or element.name == "figure":
            figures = [element] if element.name == "figure" else [
                figure.extract() for figure in element.select("figure, div.decon-live")]
            if "cell" in classes and is_shown(element):
                for part in cell_and_output(fitted(element)):
                    add(title, part, "small")
            for figure in figures:
                add(title if figure.name == "figure" else "", figure)
        elif element.name == "table" or element.select("table"):
            for part in parts_of_table(element):
                add(title, part)
        elif "math" in classes and element.select_one(".eqno"):
            before = [notes.pop()] if notes and notes[-1].name == "p" else []
            if made and made[-1].kind == "formulas" and len(made[-1].parts) < FORMULAS:
                made[-1].parts += [*before, element]
            else:
                add(title, element, "formulas")
                made[-1].parts = [*before, element]
        elif element.name in ("p", "ul", "ol", "div"):
            notes.append(element)

    # A section of text alone is a slide of its first paragraph
    if notes and not made:
        count = sentence(notes)
        return [Slide(title, notes[:count], "", notes[count:])]
    if notes:
        made[-1].notes += notes
    return made


def deck(path):
    """The title of a core page, as text, and its slides."""
    soup = soup_of(path)
    top = soup.select_one("article.bd-article > section")
    title = heading_of(top)
    made = [Slide("", [f"<h1>{title}</h1><p>Deconstructing Kernel Machines</p>"])]

    # The question: what stands before the first section
    first = [e for e in top.find_all(recursive=False) if e.name != "section"]
    made.append(Slide("", [e for e in first if e.name in ("p", "ul", "ol")]))
    made += [Slide("", [figure]) for e in first for figure in e.select("figure, div.decon-live")]

    # The sections; of the exercises the statements, of others the text or what they show
    for section in top.find_all("section", recursive=False):
        heading, name = heading_of(section), section["id"].rstrip("0123456789-")
        if name in ("what-you-will-learn", "summary"):
            made.append(Slide(heading, section.find_all(["p", "ul", "ol"], recursive=False)))
        elif name == "exercises":
            made += [Slide(heading, [e]) for e in section.select("div.exercise")]
        elif name != "further-reading":
            made += slides_of_section(section, heading)
    return BeautifulSoup(title, "html.parser").get_text(), made


def write(name, title, made):
    """Write a deck into the folder of the slides; its entry of a list of decks."""
    into = SITE / "slides"
    into.mkdir(exist_ok=True)
    mathjax = next((SITE / "_static/mathjax").glob("tex-chtml*.js")).name
    slides = "\n".join(slide.html(number) for number, slide in enumerate(made, start=1))
    (into / name).write_text(Template(TEMPLATE.read_text("utf-8")).substitute(
        title=escape(title), static="../_static", mathjax=mathjax, slides=slides), "utf-8")
    return f'<li><a href="{name}">{escape(title)}</a>, {len(made)} slides</li>'


def index(name, title, text, listed):
    """Write a page that lists decks."""
    (SITE / "slides" / name).write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        "<style>body { font: 1.1rem/1.5 sans-serif; max-width: 45rem; margin: 2rem auto; }</style>"
        f"<h1>{title}</h1><p>{text}</p><ol>{''.join(listed)}</ol></html>", encoding="utf-8")


def main():
    """Write a deck for every core page, and a page that lists them."""
    if not SITE.exists():
        sys.exit("there is no built book: run `make book` first")
    listed = []
    for part, depth, source in pages():
        path = SITE / source.relative_to(ROOT).with_suffix(".html")
        if not depth and part not in ("", "Appendices"):
            listed.append(write(path.name, *deck(path)))
    index("index.html", "Slides", KEYS, listed)
    print(f"{SITE / 'slides'}: {len(listed)} decks")


if __name__ == "__main__":
    main()
