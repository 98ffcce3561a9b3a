"""Pages without the solutions of their exercises; a Sphinx extension with the setting `solutions`.

With `solutions: false` under `sphinx:`, `config:` in `_config.yml` the book is built without them.
(The setting `hide_solutions` of sphinx-exercise cannot hide a solution that goes over several
cells.)
"""

import re

import nbformat

FENCE = re.compile(r"^(`{3,})\{(solution|solution-start|solution-end)\}", re.M)


def shown_text(text, inside=False):
    """The text outside solutions, and whether a solution goes on after it.

    Parameters
    ----------
    text : str
        Markdown.
    inside : bool
        Whether the text begins inside a solution.

    Raises
    ------
    ValueError
        If a fence is not closed.
    """
    kept = []
    while text:
        found = FENCE.search(text)
        if found is None:
            break
        fence, kind = found.groups()
        end = re.compile(rf"^{fence}[ \t]*$", re.M).search(text, found.end())
        if end is None:
            raise ValueError(f"a {kind} is not closed: {text[found.start():][:60]!r}")
        kept.append("" if inside else text[:found.start()])
        inside = {"solution-start": True, "solution-end": False}.get(kind, inside)
        text = text[end.end():]
    if not inside:
        kept.append(text)
    return "".join(kept), inside


def shown_cells(cells):
    """The cells outside solutions, those of Markdown without the parts that belong to one."""
    inside = False
    for cell in cells:
        if cell.cell_type != "markdown":
            if not inside:
                yield cell
            continue
        text, inside = shown_text(cell.source, inside)
        if text.strip():
            yield nbformat.from_dict({**cell, "source": text})


def remove(app, docname, source):
    """Leave the solutions out of a page that is read."""
    if app.config.solutions:
        return
    if str(app.env.doc2path(docname)).endswith(".ipynb"):
        notebook = nbformat.reads(source[0], 4)
        notebook.cells = list(shown_cells(notebook.cells))
        source[0] = nbformat.writes(notebook)
    else:
        source[0], _ = shown_text(source[0])


def setup(app):
    app.add_config_value("solutions", True, "env")
    app.connect("source-read", remove)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
