"""What only the book can resolve, in words: references, citations, links without a title."""

import posixpath
import re

from tools.reading_time import ROOT, cells_of, pages

TITLED = re.compile(r"\{(?:prf:\w+|exercise(?:-start)?)\}[ \t]*★*[ \t]*([^\n]*)\n:label: (\S+)")
KINDS = {"fig": "the figure", "tab": "the table", "alg": "the algorithm", "eq": "the equation"}


def all_titles():
    """Titles of theorems, exercises and so on by label, and titles of pages by name."""
    labels, names = {}, {}
    for _, _, path in pages():
        text = "\n".join(source for kind, source, _ in cells_of(path) if kind == "markdown")
        labels |= {label: title.strip() for title, label in TITLED.findall(text)}
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        names[name] = re.search(r"^# (.+)", text, re.M)[1]
    return labels, names


def in_words(text, labels):
    """A text in which references are titles in quotes, and citations are keys in brackets."""
    def referred(match):
        label = match[1]
        title = labels.get(label)
        return f"“{title}”" if title else KINDS.get(label.split("-")[0], "the result")

    text = re.sub(r"\{(?:prf:ref|numref|ref)\}`([^`<]+?)\s*<[^>`]+>`", r"\1", text)  # has its words
    text = re.sub(r"\{(?:prf:ref|numref|ref)\}`([^`<]+)`", referred, text)
    text = re.sub(r"\{eq\}`[^`]*`", "the equation of the page", text)
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
