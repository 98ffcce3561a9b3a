"""The attack in one picture: its stages, where a page stands, and what each stage costs."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from .plotting import POSITIVE

STAGES = {
    "oracle": "hard-label\noracle",
    "bracketing": "boundary\npoints",
    "normals": "normals",
    "subspace": "subspace\n$S_Y$",
    "kernel": "kernel\ntype",
    "machine": "machine",
    "test": "agreement\ntest",
}
WIDTH, GAP, HEIGHT = 0.96, 0.2, 0.62  # of a box, between two of them, and of a box again


def plot_attack(here: str | None = None, queries: Mapping[str, float] | None = None) -> None:
    """Draw the stages of the extraction from left to right.

    Parameters
    ----------
    here : str, optional
        The stage that a page is about, which is highlighted: oracle, bracketing, normals,
        subspace, kernel, machine or test.
    queries : mapping, optional
        Queries of stages, by the same names, which are written below them.

    Raises
    ------
    ValueError
        If a name is none of the stages.

    Examples
    --------
    >>> plot_attack("normals", {"normals": 12_345})
    >>> plt.close()
    """
    queries = queries or {}
    unknown = ({here} - {None} | set(queries)) - set(STAGES)
    if unknown:
        raise ValueError(f"no stage {sorted(map(str, unknown))}: expected {', '.join(STAGES)}")

    fig, ax = plt.subplots(figsize=(8.2, 1.15 if queries else 0.85))
    for i, (name, title) in enumerate(STAGES.items()):
        # the box of a stage, and the arrow to it
        x, current = i * (WIDTH + GAP), name == here
        ax.add_patch(FancyBboxPatch((x, 0), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=.1",
                                    facecolor=POSITIVE if current else "white",
                                    edgecolor=POSITIVE, linewidth=1.5))
        ax.text(x + WIDTH / 2, HEIGHT / 2, title, ha="center", va="center", fontsize=10,
                color="white" if current else "black", weight="bold" if current else "normal")
        if i:
            ax.annotate("", (x, HEIGHT / 2), (x - GAP, HEIGHT / 2),
                        arrowprops={"arrowstyle": "->", "color": POSITIVE, "shrinkA": 1,
                                    "shrinkB": 1})

        # what it costs
        if name in queries:
            ax.text(x + WIDTH / 2, -0.12, f"{queries[name]:,.0f}", ha="center", va="top",
                    fontsize=10)
    ax.set(xlim=(-0.05, len(STAGES) * (WIDTH + GAP) - GAP + 0.05),
           ylim=(-0.45 if queries else -0.05, HEIGHT + 0.05))
    ax.set_axis_off()
    plt.show()
