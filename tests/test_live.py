"""Live figures as Jupyter and the book get them. What they do is tested in a browser: browser/."""

import json
import re
from html import unescape

import nbformat
import pytest

from decon.teaching import live
from tools.live_figures import PLACE
from tools.refresh import without_widgets


@pytest.mark.parametrize("name", live.FIGURES)
def test_a_module_stands_alone(name):
    text = live.module(name)
    assert not re.search(r"^\s*import\b", text, re.M)
    assert re.findall(r"^export .*", text, re.M) == ["export default (() => {"]
    assert "export" not in live.script()


def test_every_name_that_a_figure_imports_is_exported():
    for name in live.FIGURES:
        text = (live.HERE / f"{name}.js").read_text("utf-8")
        for names, file in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";', text, re.M):
            shared = (live.HERE / f"{file}.js").read_text("utf-8")
            exported = set(re.findall(r"^export (?:function|const|class) (\w+)", shared, re.M))
            assert {n.strip() for n in names.split(",") if n.strip()} <= exported


def test_the_place_in_the_page_carries_the_data():
    place = live.live("margin", 'a < b & "c"', points=[[1, 2, -1]], soft=True)._repr_html_()
    assert PLACE.match(place) and "a &lt; b &amp; &quot;c&quot;" in place
    data = json.loads(unescape(re.search('data-data="([^"]*)"', place)[1]))
    assert data == {"points": [[1, 2, -1]], "soft": True}


def test_the_widget_is_shown_beside_the_place_and_not_stored():
    bundle, _ = live.live("bisector", "says")._repr_mimebundle_()
    view = "application/vnd.jupyter.widget-view+json"
    assert {view, "text/html", "text/plain"} <= set(bundle)
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("execute_result", bundle)])
    without_widgets([nbformat.v4.new_markdown_cell("text"), cell])
    assert set(cell.outputs[0].data) == {"text/html", "text/plain"}


def test_an_unknown_figure_is_named():
    with pytest.raises(ValueError, match="no live figure 'bisect'; there are bisector, "):
        live.live("bisect", "says")
