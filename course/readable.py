"""What only the book can resolve, in words: references, citations, links without a title."""

import posixpath
import re
from dataclasses import dataclass

from pybtex.backends.markdown import Backend
from pybtex.database import parse_file

from tools.author_year_labels import AuthorYearStyle
from tools.reading_time import ROOT, cells_of, pages

from .numbers import numbers

TITLED = re.compile(r"\{(prf:\w+|exercise(?:-start)?)\}[ \t]*★*[ \t]*([^\n]*)\n:label: (\S+)")
BIBLIOGRAPHY = re.compile(r"```\{bibliography\}.*?```", re.S)
DISPLAY = re.compile(r"\s*\$\$ \((eq-\S+)\)")
DIRECTIVE = re.compile(r"^(`{3,})\{math\}[^\n]*\n(?::label: (\S+)\n)?\s*(.*?)\s*^\1[ \t]*$",
                       re.M | re.S)


@dataclass(frozen=True)
class References:
    """Where labels and keys lead.

    Attributes
    ----------
    titles : dict of str to (str, str)
        Of theorems and exercises by label: the title, and the name of their page.
    numbers : dict of str to str
        Of equations and figures, by label.
    names : dict of str to str
        Titles of pages by name.
    works : dict of str to (str, str)
        Of works by key: author and year, and the entry of the bibliography in Markdown.
    """

    titles: dict
    numbers: dict
    names: dict
    works: dict


def references():
    """All references of the book."""
    titles, names = {}, {}
    for _, _, path in pages():
        text = "\n".join(source for kind, source, _ in cells_of(path) if kind == "markdown")
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        names[name] = re.search(r"^# (.+)", text, re.M)[1]
        for kind, title, label in TITLED.findall(text):
            if title.strip():
                word = "Exercise " * kind.startswith("exercise")
                titles[label] = f"{word}“{title.strip()}”", name
    entries = AuthorYearStyle().format_bibliography(parse_file(ROOT / "book/references.bib"))
    works = {entry.key: (entry.label, entry.text.render(Backend()).replace("\n", " "))
             for entry in entries}
    return References(titles, numbers(), names, works)


def in_words(text, known, here=""):
    """A text whose references are titles in quotes or numbers of the book, its citations names.

    Parameters
    ----------
    text : str
    known : References
    here : str
        The name of its page: what is on another page is said to be there.
    """
    def referred(match):
        label = match[1]
        if label in known.numbers:
            return f"Fig. {known.numbers[label]}"
        title, page = known.titles.get(label, ("the algorithm", here))
        return title if page == here else f"{title} in “{known.names[page]}”"

    def equation(match):
        return f"({known.numbers[match[1]]})"

    def cited(match):
        labels = [known.works[key.strip()][0] for key in match[2].split(",")]
        if match[1] == "p":
            return f"[{'; '.join(labels)}]"
        return ", ".join(f"{label[:-6]} [{label[-4:]}]" for label in labels)

    text = re.sub(r"\{(?:prf:ref|numref|ref)\}`([^`<]+?)\s*<[^>`]+>`", r"\1", text)  # has its words
    text = re.sub(r"\{(?:prf:ref|numref|ref)\}`([^`<]+)`", referred, text)
    text = re.sub(r"\{eq\}`([^`]*)`", equation, text)
    return re.sub(r"\{cite:(\w)\w*\}`([^`]*)`", cited, text)


def with_numbers(text, known):
    """Equations with the numbers of the book, which every kind of notebook shows."""
    def tag(label):
        return (f" \\tag{{{known.numbers[label]}}}" if label else "") + "\n$$"

    text = DIRECTIVE.sub(lambda match: f"$$\n{match[3]}{tag(match[2])}", text)
    return DISPLAY.sub(lambda match: tag(match[1]), text)


def with_works(text, known):
    """The bibliography written out."""
    listed = "\n\n".join(f"[{label}] {entry}" for label, entry in known.works.values())
    return BIBLIOGRAPHY.sub(lambda match: listed, text)


def with_titles(text, here, names, there):
    """Links between pages with a title and an ending; without a link where the page is not there.

    Parameters
    ----------
    text : str
    here : str
        Folder of the page, as in `names`.
    names : dict of str to str
        Titles by name.
    there : collection of str
        Names of the pages that are there, as notebooks.
    """
    def link(match):
        words, address, place = match[1], match[2], match[3] or ""
        name = posixpath.normpath(posixpath.join(here, re.sub(r"\.(ipynb|md)$", "", address)))
        if name not in names:
            return match[0]  # not a page of the book
        words = words or names[name]
        if name not in there:
            return words
        return f"[{words}]({posixpath.relpath(name, here)}.ipynb{place})"

    return re.sub(r"(?<!!)\[([^]]*)\]\(([^)#:\s]+)(#[^)]*)?\)", link, text)
