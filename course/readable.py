"""What only the book can resolve, in words: references, citations, links without a title."""

import posixpath
import re

from tools.reading_time import ROOT, cells_of, pages

TITLED = re.compile(r"\{(?:prf:\w+|exercise(?:-start)?)\}[ \t]*★*[ \t]*([^\n]*)\n:label: (\S+)")
EQUATION = re.compile(r"\$\$ \((eq-\S+)\)")
KINDS = {"fig": "the figure", "tab": "the table", "alg": "the algorithm", "eq": "the equation"}


def all_titles():
    """Titles by label (of an equation: of its page), and titles of pages by name."""
    labels, names = {}, {}
    for _, _, path in pages():
        text = "\n".join(source for kind, source, _ in cells_of(path) if kind == "markdown")
        labels |= {label: title.strip() for title, label in TITLED.findall(text)}
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        names[name] = re.search(r"^# (.+)", text, re.M)[1]
        labels |= dict.fromkeys(equations_of(text), names[name])
    return labels, names


def equations_of(text):
    """The labels of the equations in a text."""
    return set(EQUATION.findall(text))


def in_words(text, labels, kept=()):
    """A text in which references are titles in quotes, and citations are keys in brackets.

    Parameters
    ----------
    text : str
    labels : dict of str to str
        Titles by label; for an equation the title of its page.
    kept : collection of str
        Labels of equations of the same notebook, which Jupyter resolves itself.
    """
    def referred(match):
        label = match[1]
        title = labels.get(label)
        return f"“{title}”" if title else KINDS.get(label.split("-")[0], "the result")

    def equation(match):
        if match[1] in kept:
            return match[0]
        return f"the equation in “{labels[match[1]]}”" if match[1] in labels else "the equation"

    text = re.sub(r"\{(?:prf:ref|numref|ref)\}`([^`<]+?)\s*<[^>`]+>`", r"\1", text)  # has its words
    text = re.sub(r"\{(?:prf:ref|numref|ref)\}`([^`<]+)`", referred, text)
    text = re.sub(r"\{eq\}`([^`]*)`", equation, text)
    return re.sub(r"\{cite:\w+\}`([^`]*)`", r"[\1]", text)


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
