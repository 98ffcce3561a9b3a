"""A pool of labelled points, and the PN-pairs that are drawn from it."""

import numpy as np

from ..types import Array, ArrayLike, LabelOracle, RandomState
from .bracketing import bisect


def pn_pairs(positives: ArrayLike, negatives: ArrayLike, n: int,
             random_state: RandomState = 0) -> tuple[Array, Array]:
    """n random PN-pairs out of pools of positive and of negative points.

    No pair is drawn again before all others have been: its bracket would tell nothing new.

    Parameters
    ----------
    positives, negatives : arrays (p, d) and (q, d)
        At least one point each.
    n : int
    random_state : int or numpy.random.Generator

    Returns
    -------
    P, N : arrays (n, d)
        Row j of both is the PN-pair j.

    Examples
    --------
    >>> P, N = pn_pairs([[1.], [2.]], [[-1.], [-2.]], 3)
    >>> len({(p, n) for p, n in zip(P.ravel(), N.ravel())})
    3
    """
    rng = np.random.default_rng(random_state)
    positives, negatives = np.asarray(positives, float), np.asarray(negatives, float)
    total = len(positives) * len(negatives)
    pairs = np.resize(rng.choice(total, min(n, total), replace=False), n)  # repeated if n > total
    return positives[pairs // len(negatives)], negatives[pairs % len(negatives)]


class Pool:
    """Points and their labels; both labels must be there before pairs can be drawn.

    Parameters
    ----------
    oracle : LabelOracle
    points : array (n, d)
    labels : array (n,) of +1 and -1
    rng : numpy.random.Generator

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X.sum(axis=1) > 1, dimension=2)
    >>> pool = Pool(oracle, np.eye(2) * [3, 0], np.array([1, -1]), np.random.default_rng(0))
    >>> pool.add_cloud(np.full((5, 2), 0.2), fewest=4, width=1e-3)
    >>> pool
    Pool(4 of 10 points positive)
    """

    def __init__(self, oracle: LabelOracle, points: Array, labels: Array,
                 rng: np.random.Generator):
        self.oracle, self.points, self.labels, self.rng = oracle, points, labels, rng

    def __repr__(self) -> str:
        return f"Pool({(self.labels > 0).sum()} of {len(self.labels)} points positive)"

    def add(self, points: Array, labels: Array) -> None:
        """Add points whose labels are known.

        Parameters
        ----------
        points : array (n, d)
        labels : array (n,) of +1 and -1
        """
        self.points = np.concatenate([self.points, points])
        self.labels = np.concatenate([self.labels, labels])

    def add_cloud(self, cloud: Array, fewest: int, width: float) -> None:
        """Label and add the points of a cloud; then more of the rarer label, up to a number.

        Segments from only a few points would all meet the boundary from the same side. So further
        points of a rare label are taken between ends of different rough brackets; where such a
        point turns out to have the other label, one of the two ends is added instead.

        Parameters
        ----------
        cloud : array (n, d)
        fewest : int
            How many points of the rarer label there are to be.
        width : float
            Of the rough brackets, in the units of the points.
        """
        # the cloud itself
        self.add(cloud, self.oracle(cloud))
        rare = 1 if (self.labels > 0).sum() < (self.labels < 0).sum() else -1
        missing = fewest - (self.labels == rare).sum()

        # points between two ends of brackets, on the side of the rare label
        if missing > 0:
            P, N = bisect(self.oracle, *self.pairs(missing), width)
            ends = P if rare > 0 else N
            share = self.rng.uniform(0.2, 0.8, (missing, 1))
            between = share * ends + (1 - share) * np.roll(ends, 1, axis=0)
            good = self.oracle(between) == rare
            self.add(np.where(good[:, None], between, ends), np.full(missing, rare))

    def pairs(self, n: int) -> tuple[Array, Array]:
        """n random PN-pairs, distinct as long as there are so many.

        Parameters
        ----------
        n : int

        Returns
        -------
        P, N : arrays (n, d)
            Row j of both is the PN-pair j.
        """
        return pn_pairs(self.points[self.labels > 0], self.points[self.labels < 0], n, self.rng)

    def neighbours(self) -> tuple[Array, Array]:
        """On a line (d = 1): the PN-pairs of neighbours, one per crossing.

        Returns
        -------
        P, N : arrays (n, 1)
        """
        points, first = np.unique(self.points, axis=0, return_index=True)
        labels = self.labels[first]
        falls = np.flatnonzero(labels[:-1] > labels[1:])
        rises = np.flatnonzero(labels[:-1] < labels[1:])
        return points[np.r_[falls, rises + 1]], points[np.r_[falls + 1, rises]]
