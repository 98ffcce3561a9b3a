"""The book's figures: one look, one meaning for every colour.

Colours are Okabe and Ito's, which colour-blind readers can tell apart. Every helper draws and
returns nothing, so that a cell that ends with it prints no address.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike

from .pictures import show_sharply

POSITIVE = "#0072B2"  # blue, drawn with circles
NEGATIVE = "#D55E00"  # vermilion, drawn with squares
BOUNDARY = "#000000"  # black
NORMAL = "#009E73"  # bluish green
SUPPORT = "#CC79A7"  # reddish purple, drawn with diamonds
TRUTH = "#56B4E9"  # sky blue, a solid line or an open circle
RECOVERED = "#E69F00"  # orange, a dashed line or a cross
PAPER = "#777777"  # grey: what the paper reports
STYLE: dict[Any, Any] = {
    "figure.figsize": (6.5, 3.6), "figure.dpi": 100, "figure.constrained_layout.use": True,
    "figure.facecolor": "none", "savefig.facecolor": "none", "axes.facecolor": "none",
    "image.cmap": "cividis", "svg.hashsalt": "decon",  # the same file from the same figure
    "axes.prop_cycle": plt.cycler(color=[POSITIVE, NEGATIVE, NORMAL, SUPPORT, TRUTH, RECOVERED]),
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": "medium",
    "font.size": 10, "legend.frameon": False, "lines.linewidth": 1.5,
}


def use_style() -> None:
    """Give all figures from here on the look of the book."""
    show_sharply()
    plt.rcParams.update(STYLE)


def plot_labels(ax: Axes, X: ArrayLike, y: ArrayLike, size: float = 25) -> None:
    """Points of the plane: blue circles for +1, vermilion squares for -1.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    X : array (n, 2)
        The points.
    y : array (n,)
        Their labels: positive numbers count as +1, all others as -1.
    size : float
        Area of a marker (square points).

    Examples
    --------
    >>> fig, ax = plt.subplots()
    >>> plot_labels(ax, [[0., 0.], [1., 1.]], [-1, 1])
    >>> plt.close(fig)
    """
    X, positive = np.asarray(X, float), np.asarray(y) > 0
    for chosen, color, marker, label in [(positive, POSITIVE, "o", "+1"),
                                         (~positive, NEGATIVE, "s", "\N{MINUS SIGN}1")]:
        ax.scatter(X[chosen, 0], X[chosen, 1], s=size, c=color, marker=marker, label=label,
                   edgecolors="white", linewidths=0.5)


def plot_boundary(ax: Axes, machine: Any, xlim: tuple[float, float], ylim: tuple[float, float],
                  color: str = BOUNDARY, linestyle: str = "-", label: str | None = None,
                  fill: bool = True, resolution: int = 201) -> None:
    """The decision boundary of a classifier of the plane, and its two sides in pale colours.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    machine : object or callable
        Has `decision_function` or `predict`, or is itself a function of an array (n, 2); the
        boundary is where its value passes 0.
    xlim, ylim : pairs of floats
        The ends of the axes.
    color, linestyle : str
        Of the boundary, as matplotlib names them.
    label : str, optional
        Of the boundary in a legend.
    fill : bool
        Whether to colour the two sides.
    resolution : int
        Grid points along each axis.

    Examples
    --------
    >>> fig, ax = plt.subplots()
    >>> plot_boundary(ax, lambda X: X[:, 0] ** 2 + X[:, 1] ** 2 - 1, (-2, 2), (-2, 2))
    >>> plt.close(fig)
    """
    # Values on a grid
    function = getattr(machine, "decision_function", None) or getattr(machine, "predict", machine)
    x, y = np.meshgrid(np.linspace(*xlim, resolution), np.linspace(*ylim, resolution))
    values = np.asarray(function(np.column_stack([x.ravel(), y.ravel()])), float).reshape(x.shape)

    # The sides, and where they meet
    if fill:
        ax.pcolormesh(x, y, values > 0, cmap=ListedColormap([NEGATIVE, POSITIVE]), alpha=0.12,
                      vmin=0, vmax=1, shading="nearest", rasterized=True, zorder=0, linewidth=0)
    if values.min() <= 0 < values.max():
        ax.contour(x, y, values, levels=[0], colors=color, linestyles=linestyle)
    if label is not None:
        ax.plot([], [], color=color, linestyle=linestyle, label=label)
    ax.set(xlim=xlim, ylim=ylim)


def plot_models(axes: Any, X: ArrayLike, y: ArrayLike, models: Iterable[Any],
                xlim: tuple[float, float], ylim: tuple[float, float]) -> None:
    """Machines of the plane that were trained on the same points, one a panel, with their rank.

    Diamonds mark the support vectors; a dashed line repeats the first machine's boundary.

    Parameters
    ----------
    axes : array of matplotlib axes
        One for each model, at least; those left over are emptied.
    X : array (n, 2)
        The points.
    y : array (n,)
        Their labels: positive numbers count as +1, all others as -1.
    models : iterable
        With `objective`, `support` and `machine`, like those of `enumerate_svms`.
    xlim, ylim : pairs of floats
        The ends of all axes.

    Raises
    ------
    ValueError
        If the points are not in the plane, or there are fewer axes than models.

    Examples
    --------
    >>> from decon import Gaussian, enumerate_svms
    >>> X, y = [[0., 0.], [1., 0.], [3., 1.]], [-1, 1, 1]
    >>> fig, axes = plt.subplots(1, 2)
    >>> models = list(enumerate_svms(X, y, Gaussian(1.), count=2))
    >>> plot_models(axes, X, y, models, (-1, 4), (-1, 2))
    >>> plt.close(fig)
    """
    X, axes, models = np.asarray(X, float), np.ravel(axes), list(models)
    if X.ndim != 2 or X.shape[1] != 2 or len(models) > len(axes):
        raise ValueError(f"expected points of shape (n, 2) and an axes for every model, got "
                         f"{X.shape}, {len(models)} models and {len(axes)} axes")

    for rank, (ax, model) in enumerate(zip(axes, models, strict=False), start=1):
        # The boundaries of this machine and of the first, the points, and the support vectors
        if rank > 1:
            plot_boundary(ax, models[0].machine, xlim, ylim, PAPER, "--", fill=False)
        plot_boundary(ax, model.machine, xlim, ylim)
        plot_labels(ax, X, y, size=16)
        ax.plot(*X[model.support].T, "D", markersize=7, markerfacecolor="none", color=SUPPORT,
                markeredgewidth=1.2)

        # How much worse than the best it is
        ratio = model.objective / models[0].objective if models[0].objective else 1.0
        ax.set_title(f"{rank}: objective {ratio:.3f}")

    for ax in axes[len(models):]:
        ax.set_axis_off()


def plot_singular_values(ax: Axes, values: ArrayLike, m: int | None = None) -> None:
    """Singular values on a logarithmic scale, and a line after the m-th.

    Zeros are drawn at machine precision times the largest value.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    values : array (n,)
        In descending order.
    m : int, optional
        How many of them count; the others are drawn as grey crosses.

    Examples
    --------
    >>> fig, ax = plt.subplots()
    >>> plot_singular_values(ax, [3., 2., 1e-9, 0.], m=2)
    >>> plt.close(fig)
    """
    # Values that count, and the others
    values = np.asarray(values, float)
    index = np.arange(1, len(values) + 1)
    kept = index <= (len(values) if m is None else m)
    drawn = np.maximum(values, np.finfo(float).eps * values.max())
    ax.semilogy(index[kept], drawn[kept], "o", color=NORMAL, markersize=4)
    ax.semilogy(index[~kept], drawn[~kept], "x", color=PAPER, markersize=4)

    # The gap, named where a descending curve leaves room beside the line
    if m is not None:
        ax.axvline(m + 0.5, color=BOUNDARY, linestyle="--", linewidth=1, label=f"m = {m}")
        ax.legend(loc="lower left" if 2 * m > len(values) else "upper right")
    ax.set(xlabel="index", ylabel="singular value")


def plot_digits(images: ArrayLike, titles: Sequence[str] | None = None, columns: int = 10) -> None:
    """A new figure with images of 28 x 28 pixels, in rows.

    Images with negative pixels are drawn in two colours around white, the others in greys; all
    of one call share one scale.

    Parameters
    ----------
    images : array (n, 784) or (n, 28, 28)
        Rows of pixels from the top.
    titles : sequence of n strings, optional
        Printed above the images.
    columns : int
        The most images in a row.

    Examples
    --------
    >>> plot_digits(np.zeros((3, 784)), titles=['a', 'b', 'c'])
    >>> plt.close()
    """
    # As many rows as are needed, in the width of the page
    images = np.asarray(images, float).reshape(-1, 28, 28)
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    inch = min(6.5 / columns, 1.6)
    fig, axes = plt.subplots(rows, columns, squeeze=False,
                             figsize=(inch * columns, (inch + 0.25 * (titles is not None)) * rows))

    # One scale for all images; negative pixels ask for one with two colours
    top = max(np.abs(images).max(), np.finfo(float).tiny)
    signed = images.min() < 0
    for i, ax in enumerate(axes.flat):
        ax.set_axis_off()
        if i < len(images):
            ax.imshow(images[i], cmap="PuOr" if signed else "gray_r", vmin=-top * signed, vmax=top)
            if titles is not None:
                ax.set_title(titles[i], fontsize=8)
