"""The bank of short questions: what the pages ask in passing, and their exercises with one star.

    python -m course.bank

writes _build/course/questions.xml, which Moodle imports (question type essay, with the answer as
feedback; formulas need Moodle's MathJax filter), and questions.md to read. The pages are the only
source: a question that is changed there is changed here.
"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pypandoc

from tools.reading_time import ROOT, cells_of, pages

from .readable import in_words, references

CHECK = re.compile(r"^(`{4,})\{admonition\} (Check yourself[^\n]*)\n(.*?)^\1[ \t]*$", re.M | re.S)
ANSWER = re.compile(r"^(`{3,})\{admonition\} Answer[^\n]*\n(.*?)^\1[ \t]*$", re.M | re.S)
EXERCISE = re.compile(r"^(`{3,})\{exercise(?:-start)?\}[ \t]*★ ([^\n]*)\n:label: (\S+)\n(.*?)"
                      r"^\1[ \t]*$", re.M | re.S)
SOLUTION = re.compile(r"^(`{3,})\{solution\} (\S+)\n(.*?)^\1[ \t]*$", re.M | re.S)
GATED = re.compile(r"^(`{3,})\{solution-start\} (\S+)\n.*?^\1[ \t]*$(.*?)^`{3,}\{solution-end\}",
                   re.M | re.S)
DIRECTIVE = re.compile(r"^(`{3,})\{[\w:-]+\}[^\n]*\n(.*?)^\1[ \t]*$", re.M | re.S)
MARK = "QUESTIONPART"


@dataclass(frozen=True)
class Question:
    """A question of a page.

    Attributes
    ----------
    page : str
        Its path in `book/` without the ending.
    part : str
        Of the book.
    title : str
    difficulty : int
        1: to be answered in passing; 2: an exercise with one star, about five minutes.
    text, answer : str
        In Markdown, with formulas between dollars.
    """

    page: str
    part: str
    title: str
    difficulty: int
    text: str
    answer: str


def questions():
    """All questions, in reading order."""
    texts = [(part, path.relative_to(ROOT / "book").with_suffix("").as_posix(), _text(path))
             for part, _, path in pages() if path.is_relative_to(ROOT / "book")]
    known = references()
    found = []
    for part, name, text in texts:
        for match in CHECK.finditer(text):
            answer = ANSWER.search(match[3])
            if answer is None:
                raise ValueError(f"{name}: {match[2]} has no answer")
            asked = match[3][:answer.start()]
            found.append((part, name, match[2], 1, asked, answer[2]))
        answers = {label: body for pattern in (SOLUTION, GATED)
                   for _, label, body in pattern.findall(text)}
        for _, title, label, asked in EXERCISE.findall(text):
            if label not in answers:
                raise ValueError(f"{name}: the exercise {label} has no solution")
            found.append((part, name, title, 2, asked, answers[label]))
    return [Question(name, part, title, difficulty, _plain(asked, known, name),
                     _plain(answer, known, name))
            for part, name, title, difficulty, asked, answer in found]


def _text(path):
    """A page as one Markdown text, its code in fences."""
    return "\n\n".join(source if kind == "markdown" else f"```python\n{source}\n```"
                       for kind, source, _ in cells_of(path))


def _plain(text, known, name=""):
    """Markdown without directives, options, and roles that only the book can resolve."""
    while DIRECTIVE.search(text):
        text = DIRECTIVE.sub(r"\2", text)
    text = re.sub(r"^:\w+:.*$", "", text, flags=re.M)
    text = in_words(text, known, f"book/{name}")
    text = re.sub(r"\[([^]]+)\]\([^)]*\.(?:ipynb|md)[^)]*\)", r"\1", text)
    return re.sub(r"^\$\$ \([\w-]+\)$", "$$", text, flags=re.M).strip()


def as_html(texts):
    """Markdown texts as HTML, formulas between \\( and \\), by one call of pandoc."""
    joined = f"\n\n{MARK}\n\n".join(texts)
    html = pypandoc.convert_text(joined, "html", format="markdown-raw_html",
                                 extra_args=["--mathjax", "--wrap=none"])
    parts = re.split(rf"\s*<p>{MARK}</p>\s*", html)
    if len(parts) != len(texts):
        raise ValueError(f"{len(texts)} texts have become {len(parts)}: a fence is not closed")
    return parts


def moodle(bank):
    """The questions as Moodle XML."""
    quiz = ElementTree.Element("quiz")
    html = as_html([text for question in bank for text in (question.text, question.answer)])
    for number, question in enumerate(bank):
        node = ElementTree.SubElement(quiz, "question", type="essay")

        def add(name, text, node=node, **attributes):
            inner = ElementTree.SubElement(node, name, attributes)
            ElementTree.SubElement(inner, "text").text = text

        add("name", f"{question.page}: {question.title}")
        add("questiontext", html[2 * number], format="html")
        add("generalfeedback", html[2 * number + 1], format="html")
        ElementTree.SubElement(node, "defaultgrade").text = "1"
        tags = ElementTree.SubElement(node, "tags")
        for tag in (question.page, question.part, f"difficulty {question.difficulty}"):
            ElementTree.SubElement(ElementTree.SubElement(tags, "tag"), "text").text = tag
    ElementTree.indent(quiz)
    return ElementTree.tostring(quiz, encoding="unicode", xml_declaration=True)


def readable(bank):
    """The questions in Markdown, page by page."""
    lines, last = ["# Questions", ""], None
    for question in bank:
        if question.page != last:
            lines += [f"## {question.page}", ""]
        last = question.page
        lines += [f"**{question.title}** (difficulty {question.difficulty})", "", question.text, "",
                  "*Answer.* " + question.answer, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "_build/course")
    into, bank = parser.parse_args().into, questions()
    into.mkdir(parents=True, exist_ok=True)
    (into / "questions.xml").write_text(moodle(bank), encoding="utf-8")
    (into / "questions.md").write_text(readable(bank), encoding="utf-8")
    print(f"{into}: {len(bank)} questions")
