"""Lines in planes, and where the boundary crosses them: many candidates, of which few are kept."""

from collections.abc import Callable

import numpy as np

from ...types import Array
from .settings import SETTINGS

ARRAYS = ("plane", "start", "along", "labels", "low", "high")  # with an entry for every line


class Lines:
    """Random lines in planes with coordinates z = (t, s), and a crossing of the boundary on each.

    Line k is `start` + r `along`; `labels` are those at r = 0, and the first change of label,
    to either side, is at low < r < high (or high < r < low): NaN where none is near. The search
    for it, to both sides in doubling steps, is made at once.

    Parameters
    ----------
    query : callable
        query(planes, z): the labels at points z of planes.
    plane : int array (n,)
        The plane of every line.
    start : array (n, 2)
    rng : numpy.random.Generator

    Examples
    --------
    >>> disc = lambda planes, z: np.where((z**2).sum(1) < 1, 1, -1)
    >>> lines = Lines(disc, np.zeros(5, int), np.zeros((5, 2)), np.random.default_rng(0))
    >>> lines.narrow(1e-9)
    >>> np.linalg.norm(lines.points, axis=1).round(6)
    array([1., 1., 1., 1., 1.])
    """

    def __init__(self, query: Callable, plane: Array, start: Array, rng: np.random.Generator):
        self.query, self.plane, self.start = query, plane, start
        angle = rng.uniform(0, 2 * np.pi, len(plane))
        self.along = np.stack([np.cos(angle), np.sin(angle)], 1)
        self.labels = query(plane, start)
        self.low, self.high = np.zeros(len(plane)), np.full(len(plane), np.nan)

        # walk to both sides in doubling steps, until the label changes
        k, last, r = np.arange(len(plane)), 0.0, SETTINGS.start_distance
        while len(k) and r < SETTINGS.farthest_step:
            up, down = (self._changed(k, np.full(len(k), side * r)) for side in (1, -1))
            found, side = up | down, np.where(up, 1, -1)
            self.low[k[found]], self.high[k[found]] = last * side[found], r * side[found]
            k, last, r = k[~found], r, 2 * r

    @property
    def points(self) -> Array:
        """The middles of the brackets: array (n, 2)."""
        return self.start + ((self.low + self.high) / 2)[:, None] * self.along

    def _changed(self, k, r):
        """Is the label at r of the lines k another one than at their starts?"""
        z = self.start[k] + r[:, None] * self.along[k]
        return self.query(self.plane[k], z) != self.labels[k]

    def narrow(self, width: float, among: Array | None = None, relative: bool = False) -> None:
        """Halve the brackets, one call of `query` per step for all.

        Parameters
        ----------
        width : float
            To no more than this, in the units of the points.
        among : int array, optional
            The lines whose brackets are halved; left out, all.
        relative : bool
            Is the width a share of the way from the start?
        """
        k = np.arange(len(self.plane)) if among is None else among  # of them, those too wide
        while len(k := k[np.abs(self.high - self.low)[k]
                         > width * (np.abs(self.high[k]) if relative else 1)]):
            r = (self.low + self.high)[k] / 2
            changed = self._changed(k, r)
            self.high[k[changed]], self.low[k[~changed]] = r[changed], r[~changed]

    def extend(self, others: "Lines") -> None:
        """Add other lines.

        Parameters
        ----------
        others : Lines
        """
        for name in ARRAYS:
            setattr(self, name, np.concatenate([getattr(self, name), getattr(others, name)]))

    def keep(self, k: Array) -> None:
        """Keep the lines with numbers k alone, in this order.

        Parameters
        ----------
        k : int array
        """
        for name in ARRAYS:
            setattr(self, name, getattr(self, name)[k])


def best_rows(rows: Array) -> tuple[Array, Array]:
    """n rows of every set that determine n unknowns well: QR with column pivoting.

    All sets at once; one by one, `scipy.linalg.qr` chooses the same rows where there are enough.

    Parameters
    ----------
    rows : array (sets, k, n)

    Returns
    -------
    chosen : int array (sets, n)
    pivots : array (sets,)
        The last of the pivots: how well the unknowns are determined.

    Examples
    --------
    >>> chosen, pivots = best_rows(np.array([[[3., 0.], [2., 0.], [0., 1.]]]))
    >>> chosen.tolist(), pivots
    ([[0, 2]], array([1.]))
    """
    rows, sets, n = rows.copy(), np.arange(len(rows)), rows.shape[2]
    chosen = np.empty((len(rows), n), int)
    for step in range(n):
        # the longest row of each set
        lengths = np.linalg.norm(rows, axis=2)
        chosen[:, step] = best = lengths.argmax(1)
        pivots = lengths[sets, best]

        # Gram and Schmidt: what is left of all rows, orthogonal to it
        v = rows[sets, best] / np.maximum(pivots, 1e-300)[:, None]
        rows -= np.einsum("skn,sn->sk", rows, v)[..., None] * v[:, None]
    return chosen, pivots


def equations(t: Array, s: Array, unknowns: int) -> tuple[Array, Array]:
    """The equations for the unknown coefficients of a plane, all of about the same weight.

    With 6 unknowns these belong to s, t s, t^2 s, s^2, t s^2, s^3; with 3 to the last three.

    Parameters
    ----------
    t, s : arrays (..., n)
        Coordinates of n boundary points; NaN where there is none.
    unknowns : int
        6 or 3.

    Returns
    -------
    rows : array (..., n, unknowns)
        0 where there is no point.
    size : array (..., n)
        What they have been divided by; the right-hand sides are to be divided by it, too.

    Examples
    --------
    >>> rows, size = equations(np.array([1.]), np.array([2.]), 3)
    >>> rows * size
    array([[4., 4., 8.]])
    """
    size = (1 + np.abs(t) + np.abs(s)) ** 3
    rows = np.stack([s, t * s, t**2 * s, s**2, t * s**2, s**3], -1)[..., -unknowns:]
    return np.nan_to_num(rows / size[..., None]), size
