"""Figures of matplotlib as Jupyter stores them: vectors, or pixels where these are lighter.

They carry the size of their smallest letters, so that a page never shows them smaller than can be
read.
"""

import re
import zlib
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.text import Text

PIXELS = 200  # per inch: twice what a page shows
LIGHT = 20_000  # bytes of a compressed SVG that is not compared: a PNG is hardly ever lighter
LETTERING = "smallest letters: {:g} pt"


def show_sharply() -> None:
    """Let Jupyter store figures from here on as `picture` draws them; elsewhere, do nothing.

    Examples
    --------
    >>> show_sharply()
    """
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is None:
        return
    import matplotlib_inline.backend_inline  # noqa: F401  (which registers a format of its own)

    for formatter in shell.display_formatter.formatters.values():
        formatter.pop(Figure, None)
    shell.display_formatter.mimebundle_formatter.for_type(Figure, lambda fig, **_: picture(fig))


def picture(figure: Figure) -> dict[str, Any]:
    """A figure as SVG or, if this is heavier, as PNG of twice the resolution.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    bundle : dict
        One picture by its media type. What weighs is the size as a server sends it, compressed.

    Examples
    --------
    >>> figure = Figure()
    >>> _ = figure.subplots().plot([0, 1])
    >>> list(picture(figure))
    ['image/svg+xml']
    >>> figure = Figure()
    >>> _ = figure.subplots().scatter(range(20_000), range(20_000))
    >>> list(picture(figure))
    ['image/png']
    """
    letters = LETTERING.format(smallest_lettering(figure) or 0)

    # Without this, a figure that asks for no layout gets the default one after it has been saved
    if figure.get_layout_engine() is None:
        figure.set_layout_engine(PlaceHolderLayoutEngine(True, True))

    def drawn(form, **metadata):
        file = BytesIO()
        figure.savefig(file, format=form, dpi=PIXELS, bbox_inches="tight",
                       metadata={"Description": letters} | metadata)
        return file.getvalue()

    # Paths to a hundredth of a point
    vectors = drawn("svg", Date=None).decode()
    vectors = re.sub(r' d="[^"]*"', lambda d: re.sub(r"(\.\d\d)\d+", r"\1", d[0]), vectors)
    weight = len(zlib.compress(vectors.encode()))
    if weight <= LIGHT or weight <= len(pixels := drawn("png")):
        return {"image/svg+xml": vectors}
    return {"image/png": pixels}


def smallest_lettering(figure: Figure) -> float | None:
    """The size of the smallest letters of a figure in points; None if it has none.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    size : float or None

    Examples
    --------
    >>> figure = Figure()
    >>> smallest_lettering(figure) is None
    True
    >>> _ = figure.text(0.5, 0.5, "here", fontsize=9)
    >>> smallest_lettering(figure)
    9.0
    """
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    return min((float(t.get_fontsize()) for t in texts), default=None)
