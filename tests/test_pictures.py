"""Figures as Jupyter stores them, and their sizes in a page."""

import base64
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from decon.teaching import pictures
from tools.image_sizes import IMAGE, READABLE, size_of, with_size


def drawing(points=2, fontsize=9):
    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.scatter(np.arange(points), np.arange(points))
    axes.set_title("title", fontsize=fontsize)
    return figure


def stored(tmp_path, figure):
    (form, data), = pictures.picture(figure).items()
    path = tmp_path / ("picture.svg" if "svg" in form else "picture.png")
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("points, suffix", [(2, ".svg"), (20_000, ".png")])
def test_size_and_lettering_are_read_back(tmp_path, points, suffix):
    path = stored(tmp_path, drawing(points))
    assert path.suffix == suffix
    width, height, letters = size_of(path)
    assert 600 < width < 640 and 330 < height < 360  # a tight box in 6.5 x 3.6 inches
    assert letters == pytest.approx(12)  # 9 points


def test_the_same_figure_gives_the_same_file():
    import matplotlib.pyplot as plt
    with plt.rc_context({"svg.hashsalt": "decon"}):
        assert pictures.picture(drawing()) == pictures.picture(drawing())


@pytest.mark.filterwarnings("error")
def test_a_figure_without_layout_keeps_its_places():
    import matplotlib.pyplot as plt
    with plt.rc_context({"figure.constrained_layout.use": True}):
        figure = plt.figure(layout="none")
        axes = figure.add_axes([0.1, 0.1, 0.3, 0.8])
        pictures.picture(figure)
        assert axes.get_position().bounds == pytest.approx((0.1, 0.1, 0.3, 0.8))
        plt.close(figure)


def test_invisible_and_empty_text_does_not_count():
    figure = drawing(fontsize=7)
    figure.text(0.5, 0.5, "hidden", fontsize=2, visible=False)
    figure.text(0.5, 0.5, " ", fontsize=3)
    assert pictures.smallest_lettering(figure) == 7


def test_a_tag_gets_its_size(tmp_path):
    path = stored(tmp_path, drawing())
    width, height, _ = size_of(path)
    tag = '<img alt="a &gt; b" src="../_images/picture.svg" />'
    match = IMAGE.search(tag)
    sized = with_size(match, path)
    assert f'width="{width:.0f}" height="{height:.0f}"' in sized and 'alt="a &gt; b"' in sized
    least = float(re.search(r"min-width: (\d+)px", sized)[1])
    assert least == pytest.approx(READABLE / 12 * width, abs=0.5)
    assert with_size(IMAGE.search('<img width="3" src="_images/picture.svg">'), path) \
        == '<img width="3" src="_images/picture.svg">'


def test_pictures_of_other_programs_have_no_lettering(tmp_path):
    other = tmp_path / "other.png"
    other.write_bytes(base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5C"
        "YII="))
    assert size_of(other)[2] is None
    (tmp_path / "odd.svg").write_text("<svg/>")
    assert size_of(tmp_path / "odd.svg") is None


def test_jupyter_stores_one_picture_a_figure(tmp_path):
    cells = ["import matplotlib.pyplot as plt\n"
             "from decon.teaching.plotting import use_style\nuse_style()",
             "plt.plot([0, 1])\nplt.show()",
             "plt.plot([0, 1])\nplt.scatter(range(20_000), range(20_000))\nplt.show()"]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, kernel_name="python3",
                   resources={"metadata": {"path": str(Path(__file__).parents[1])}}).execute()
    data = [[set(o.data) - {"text/plain"} for o in c.outputs if "data" in o and
             any(key.startswith("image") for key in o.data)] for c in notebook.cells]
    assert data == [[], [{"image/svg+xml"}], [{"image/png"}]]
    nbformat.validate(notebook)
