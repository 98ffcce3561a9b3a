"""A pool of labelled points, from which PN-pairs are drawn."""

import numpy as np

from .bracketing import bisect, pn_pairs


class Pool:
    """Points and their labels; both labels must be there before pairs can be drawn.

    Parameters
    ----------
    oracle : Oracle
    points : array (n, d)
    labels : array (n,) of +1 and -1
    rng : numpy.random.Generator

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X.sum(axis=1) > 1, dimension=2)
    >>> pool = Pool(oracle, np.eye(2) * [3, 0], np.array([1, -1]), np.random.default_rng(0))
    >>> pool.add_cloud(np.full((5, 2), 0.2), rarest=4, coarse=1e-3)
    >>> int((pool.labels > 0).sum()), int((pool.labels < 0).sum())
    (4, 6)
    """

    def __init__(self, oracle, points, labels, rng):
        self.oracle, self.points, self.labels, self.rng = oracle, points, labels, rng

    def add(self, points, labels):
        """Add points whose labels are known."""
        self.points = np.concatenate([self.points, points])
        self.labels = np.concatenate([self.labels, labels])

    def add_cloud(self, cloud, rarest, coarse):
        """Label and add the points of a cloud; then more of the rarer label, until `rarest`.

        Segments from few points would look at the boundary from few sides. Points of a rare
        label lie between ends of coarse brackets; where they do not, the ends must do.
        """
        self.add(cloud, self.oracle(cloud))
        rare = 1 if (self.labels > 0).sum() < (self.labels < 0).sum() else -1
        missing = rarest - (self.labels == rare).sum()
        if missing > 0:
            P, N = bisect(self.oracle, *self.pairs(missing), coarse)
            ends = P if rare > 0 else N
            share = self.rng.uniform(0.2, 0.8, (missing, 1))
            between = share * ends + (1 - share) * np.roll(ends, 1, axis=0)
            inside = self.oracle(between) == rare
            self.add(np.where(inside[:, None], between, ends), np.full(missing, rare))

    def pairs(self, n):
        """n random PN-pairs, distinct as long as there are so many."""
        return pn_pairs(self.points[self.labels > 0], self.points[self.labels < 0], n, self.rng)

    def neighbours(self):
        """PN-pairs of points on a line (d = 1) that are neighbours: one a crossing."""
        points, first = np.unique(self.points, axis=0, return_index=True)
        labels = self.labels[first]
        falls = np.flatnonzero(labels[:-1] > labels[1:])
        rises = np.flatnonzero(labels[:-1] < labels[1:])
        return points[np.r_[falls, rises + 1]], points[np.r_[falls + 1, rises]]
