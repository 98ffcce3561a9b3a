"""The setting with which the book is built without solutions."""

from types import SimpleNamespace

import nbformat
import pytest

from tools.solutions import remove, shown_text

TEXT = "Before.\n\n````{solution} ex-a\n:class: dropdown\nSecret\n````\n\nAfter."


def read(source, path, solutions):
    app = SimpleNamespace(config=SimpleNamespace(solutions=solutions),
                          env=SimpleNamespace(doc2path=lambda name: path))
    source = [source]
    remove(app, "page", source)
    return source[0]


def test_a_markdown_page():
    assert read(TEXT, "page.md", True) == TEXT
    assert read(TEXT, "page.md", False) == "Before.\n\n\n\nAfter."


def test_a_notebook_with_a_solution_over_several_cells():
    new = nbformat.v4
    cells = [new.new_markdown_cell("Asked.\n\n```{solution-start} ex-a\n```"),
             new.new_code_cell("secret()"), new.new_markdown_cell("```{solution-end}\n```"),
             new.new_code_cell("shown()", metadata={"tags": ["hide-input"]})]
    source = nbformat.writes(new.new_notebook(cells=cells))
    assert read(source, "page.ipynb", True) == source
    kept = nbformat.reads(read(source, "page.ipynb", False), 4).cells
    assert [cell.source for cell in kept] == ["Asked.\n\n", "shown()"]
    assert kept[1].metadata.tags == ["hide-input"]


def test_an_open_fence_is_named():
    with pytest.raises(ValueError, match="a solution is not closed"):
        shown_text("```{solution} ex-a\nSecret")
