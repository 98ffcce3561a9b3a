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
        return (f'<section class="{self.kind}">{heading}{"".join(map(str, self.parts))}'
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


def slides_of_section(section, title):
    """What of a section stands on slides, in the order of the page; its text becomes notes."""
    notes, made = [], []

    def add(heading, part, kind=""):
        made.append(Slide(heading, [part], kind, notes[:]))
        notes.clear()

    for element in section.find_all(recursive=False):
        classes = element.get("class", [])
        if element.name == "section":
            made += slides_of_section(element, heading_of(element))
        elif "proof" in classes and element.get("id", "") != "proof":
            add(title, element)
        elif any(c.startswith("admonition-check-yourself") for c in classes):
            add(title, with_answer(element))
        elif "cell" in classes or element.name == "figure":
            figures = [element] if element.name == "figure" else [
                figure.extract() for figure in element.select("figure, div.decon-live")]
            if "cell" in classes and is_shown(element):
                add(title, fitted(element), "small")
            for figure in figures:
                add(title if figure.name == "figure" else "", figure)
        elif element.name == "table" or element.select("table"):
            add(title, element)
        elif element.name in ("p", "ul", "ol", "div"):
            notes.append(element)

    # A section of text alone is a slide of its first paragraph
    if notes and not made:
        return [Slide(title, notes[:1], "", notes[1:])]
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
