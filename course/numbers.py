"""The numbers that equations and figures have in the book, by their labels."""

import re
from collections import Counter

import nbformat

from tools.reading_time import pages

EQUATION = re.compile(r"\$\$ \((eq-\S+)\)|\{math\}[^\n]*\n:label: (\S+)")


def numbers():
    """Numbers such as "5.3" by label, as Sphinx counts: by chapter, through its depth pages.

    What is in no numbered chapter is counted from the beginning of the book to its end.

    Returns
    -------
    dict of str to str
    """
    found, counts, chapter = {}, Counter(), 0
    for part, depth, path in pages():
        numbered = part.startswith("Part ")
        chapter += numbered and not depth
        before = f"{chapter}." if numbered else ""
        for label in _labels(path):
            kind = label.split("-")[0]
            counts[before, kind] += 1
            found[label] = f"{before}{counts[before, kind]}"
    return found


def _labels(path):
    """The labels of the equations and figures of a page, in order."""
    if path.suffix == ".md":
        return _equations(path.read_text("utf-8"))
    labels = []
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "markdown":
            labels += _equations(cell.source)
        elif figure := cell.metadata.get("mystnb", {}).get("figure"):
            labels.append(figure["name"])
    return labels


def _equations(text):
    return [one or other for one, other in EQUATION.findall(text)]
