import ast
import inspect
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_hex

from decon import Gaussian, enumerate_svms
from decon.teaching import plotting, source


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close("all")


def test_each_label_has_its_colour_and_its_marker(ax):
    plotting.plot_labels(ax, [[0, 0], [1, 1], [2, 2]], [-1, 1, 1])
    positive, negative = ax.collections
    assert to_hex(positive.get_facecolor()[0]).upper() == plotting.POSITIVE
    assert to_hex(negative.get_facecolor()[0]).upper() == plotting.NEGATIVE
    assert len(positive.get_offsets()) == 2 and len(negative.get_offsets()) == 1
    assert len(positive.get_paths()[0].vertices) != len(negative.get_paths()[0].vertices)


class Circle:
    def decision_function(self, X):
        return (X**2).sum(1) - 1

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, 1, -1)


class OnlyLabels:
    predict = Circle().predict


@pytest.mark.parametrize("machine, tolerance", [
    (Circle(), 1e-3), (Circle().decision_function, 1e-3), (OnlyLabels(), 0.03)])
def test_boundary_lies_where_the_machine_changes_sign(ax, machine, tolerance):
    plotting.plot_boundary(ax, machine, (-2, 2), (-2, 2), fill=False, label="circle")
    (contour,) = ax.collections
    points = np.vstack([path.vertices for path in contour.get_paths()])
    assert len(points) > 100
    assert np.abs(np.linalg.norm(points, axis=1) - 1).max() < tolerance
    assert ax.get_xlim() == (-2, 2) and ax.get_legend_handles_labels()[1] == ["circle"]


def test_a_machine_of_one_sign_has_no_boundary(ax):
    plotting.plot_boundary(ax, lambda X: np.ones(len(X)), (0, 1), (0, 1), fill=False)
    assert not ax.collections


def test_singular_values_are_split_after_m(ax):
    plotting.plot_singular_values(ax, [4, 2, 1e-8, 0], m=2)
    kept, dropped, line = ax.lines
    assert kept.get_ydata().tolist() == [4, 2]
    assert dropped.get_ydata()[-1] == 4 * np.finfo(float).eps
    assert line.get_xdata()[0] == 2.5
    assert ax.get_xlabel() and ax.get_ylabel()


@pytest.mark.parametrize("m, corner", [(2, "left"), (1, "right")])
def test_the_legend_of_singular_values_keeps_away_from_them(ax, m, corner):
    plotting.plot_singular_values(ax, [4, 2, 1e-8], m)
    box = ax.get_legend().get_window_extent().transformed(ax.transAxes.inverted())
    assert (box.x1 < 0.5 and box.y1 < 0.5) if corner == "left" else min(box.x0, box.y0) > 0.5


def legends_without_a_place(source):
    """matplotlib looks for a place, and warns on a slow machine that this takes long."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if getattr(call.func, "attr", "") == "legend"
            and not {"loc", "bbox_to_anchor"} & {keyword.arg for keyword in call.keywords}]


def test_legends_have_a_place():
    root = Path(__file__).parents[1]
    found = [legends_without_a_place(file.read_text()) for file in root.glob("decon/**/*.py")]
    for file in root.glob("book/**/*.ipynb"):
        cells = [cell.source for cell in nbformat.read(file, 4).cells if cell.cell_type == "code"]
        found += [legends_without_a_place(source) for source in cells if "legend(" in source]
    assert sum(found, []) == []
    assert legends_without_a_place("ax.legend(); ax.legend(loc='upper left')") == ["ax.legend()"]


def test_digits_share_one_scale_and_fill_rows():
    images = np.random.default_rng(0).random((12, 784))
    plotting.plot_digits(images, titles=list("abcdefghijkl"), columns=5)
    axes = plt.gcf().axes
    assert len(axes) == 15 and [len(a.images) for a in axes] == [1] * 12 + [0] * 3
    assert {a.images[0].get_clim() for a in axes[:12]} == {(0, images.max())}
    np.testing.assert_array_equal(axes[11].images[0].get_array(), images[11].reshape(28, 28))
    plt.close("all")


def test_signed_images_are_centred_at_zero():
    plotting.plot_digits(np.linspace(-1, 0.5, 784)[None])
    assert plt.gcf().axes[0].images[0].get_clim() == (-1, 1)
    plt.close("all")


def test_style_is_applied():
    with matplotlib.rc_context():
        plotting.use_style()
        assert plt.rcParams["figure.facecolor"] == "none"


def test_meanings_have_different_colours():
    names = ["POSITIVE", "NEGATIVE", "BOUNDARY", "NORMAL", "SUPPORT", "TRUTH", "RECOVERED", "PAPER"]
    assert len({getattr(plotting, name) for name in names}) == len(names)


def test_source_is_the_real_source():
    shown = repr(source.show_source(plotting.use_style))  # its docstring has one line
    source_code = inspect.getsource(plotting.use_style).rstrip()
    assert shown == "# decon/teaching/plotting.py\n" + source_code


def test_docstrings_shrink_to_their_first_lines_and_the_code_stays():
    shown = repr(source.show_source(plotting.plot_digits))
    assert '    """A new figure with images of 28 x 28 pixels, in rows."""\n    # As many' in shown
    assert "Parameters" not in shown and shown.endswith("fontsize=8)")


def test_source_of_a_method_and_of_a_class():
    assert repr(source.show_source(source.Source.__repr__)).split("\n")[1] == (
        "def __repr__(self) -> str:")
    assert "def _repr_markdown_" in repr(source.show_source(source.Source))


def test_jupyter_gets_a_fenced_block_and_no_path():
    markdown = source.show_source(plotting.use_style)._repr_markdown_()
    first, *code, last = markdown.split("\n")
    assert (first, last) == ("```python", "```")
    assert "\n".join(code) == repr(source.show_source(plotting.use_style))
    assert inspect.getfile(plotting) not in markdown


def test_models_have_a_panel_each_and_the_rest_is_empty():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0]]), [-1, 1, 1]
    models = list(enumerate_svms(X, y, Gaussian(1.0), count=2, progress=False))
    fig, axes = plt.subplots(1, 3)
    plotting.plot_models(axes, X, y, models, (-1, 4), (-1, 2))
    for rank, (ax, model) in enumerate(zip(axes, models, strict=False), start=1):
        ratio = model.objective / models[0].objective
        assert ax.get_title() == f"{rank}: objective {ratio:.3f}"
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), X[model.support])
    assert not axes[2].axison
    plt.close("all")
