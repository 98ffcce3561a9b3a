"""Lines in planes, and where the boundary crosses them: many candidates, of which few are kept."""

import numpy as np

FIRST, FARTHEST = 1.5, 9.0  # first step of the walk along a line, and how far it goes


class Lines:
    """Random lines in planes with coordinates z = (t, s), and a crossing of the boundary on each.

    Line k is `start` + r `along`; `signs` are the labels at r = 0, and the first change of label,
    to either side, is at low < r < high (or high < r < low): NaN where there is none.

    Parameters
    ----------
    ask : callable
        ask(planes, z): the labels at points z of planes.
    plane : int array (n,)
        The plane of every line.
    start : array (n, 2)
    rng : numpy.random.Generator

    Examples
    --------
    >>> disc = lambda planes, z: np.where((z**2).sum(1) < 1, 1, -1)
    >>> lines = Lines(disc, np.zeros(5, int), np.zeros((5, 2)), np.random.default_rng(0))
    >>> lines.walk()
    >>> lines.narrow(1e-9)
    >>> np.linalg.norm(lines.points, axis=1).round(6)
    array([1., 1., 1., 1., 1.])
    """

    def __init__(self, ask, plane, start, rng):
        self.ask, self.plane, self.start = ask, plane, start
        angle = rng.uniform(0, 2 * np.pi, len(plane))
        self.along = np.stack([np.cos(angle), np.sin(angle)], 1)
        self.signs = ask(plane, start)
        self.low, self.high = np.zeros(len(plane)), np.full(len(plane), np.nan)

    def at(self, k, r):
        """The points r of the lines k, in their planes."""
        return self.start[k] + r[:, None] * self.along[k]

    @property
    def points(self):
        """The middles of the brackets: array (n, 2)."""
        return self.at(np.arange(len(self.plane)), (self.low + self.high) / 2)

    def walk(self):
        """Walk to both sides in doubling steps, until the label changes."""
        k, last, r = np.arange(len(self.plane)), 0.0, FIRST
        while len(k) and r < FARTHEST:
            up, down = (self.changed(k, np.full(len(k), side * r)) for side in (1, -1))
            found, side = up | down, np.where(up, 1, -1)
            self.low[k[found]], self.high[k[found]] = last * side[found], r * side[found]
            k, last, r = k[~found], r, 2 * r

    def changed(self, k, r):
        """Is the label at r of the lines k another one than at their starts?"""
        return self.ask(self.plane[k], self.at(k, r)) != self.signs[k]

    def narrow(self, width, among=None, relative=False):
        """Halve the brackets (among some) to `width`, or to so much of the way from the start."""
        k = np.arange(len(self.plane)) if among is None else among
        while len(k := k[np.abs(self.high - self.low)[k]
                         > width * (np.abs(self.high[k]) if relative else 1)]):
            r = (self.low + self.high)[k] / 2
            changed = self.changed(k, r)
            self.high[k[changed]], self.low[k[~changed]] = r[changed], r[~changed]

    def extend(self, others):
        """Add other lines."""
        for name in ("plane", "start", "along", "signs", "low", "high"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(others, name)]))

    def keep(self, k):
        """Keep the lines k alone, in this order."""
        for name in ("plane", "start", "along", "signs", "low", "high"):
            setattr(self, name, getattr(self, name)[k])


def best_rows(rows, n):
    """n rows of every set that determine n unknowns well, by pivoting.

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
    >>> best_rows(np.array([[[3., 0.], [2., 0.], [0., 1.]]]), 2)
    (array([[0, 2]]), array([1.]))
    """
    rows, sets = rows.copy(), np.arange(len(rows))
    chosen = np.empty((len(rows), n), int)
    for step in range(n):
        lengths = np.linalg.norm(rows, axis=2)
        chosen[:, step] = best = lengths.argmax(1)
        pivots = lengths[sets, best]
        v = rows[sets, best] / np.maximum(pivots, 1e-300)[:, None]
        rows -= np.einsum("skn,sn->sk", rows, v)[..., None] * v[:, None]
    return chosen, pivots
