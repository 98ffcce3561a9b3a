"""Places where the label changes, and regions about them in which two labels occur only."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..boundary.distance import level_set_distance
from ..extraction.frame import spread_of
from ..machine import KernelMachine, ScaledMachine
from ..types import Array
from .oracle import ClassOracle
from .settings import SETTINGS


class Region(NamedTuple):
    """Where two labels occur only: about a point of the boundary between them.

    Attributes
    ----------
    centre : array (d,)
    radius : float
        In units of the features' spreads: half the width of a box, or the radius of a ball over
        the square root of d.
    """

    centre: Array
    radius: float


class Crossings:
    """Brackets between unlike labels, at least a few for every pair of classes that meet.

    Parameters
    ----------
    oracle : ClassOracle
    features : array (n, d)
        Typical points of all classes.
    rng : numpy.random.Generator

    Attributes
    ----------
    units : array (d,)
        What lengths are measured in: at first, the spread of each feature.
    X, labels : arrays (n, d) and (n,)
        The points that the brackets began with.
    A, B : arrays (k, d)
        The ends of the brackets.
    one, other : arrays (k,)
        Their labels.
    known : list of machines
        Of other pairs, whose boundaries explain some of the crossings.

    Examples
    --------
    >>> oracle = ClassOracle(lambda X: np.sign(X[:, 0].round()), dimension=2)
    >>> rng = np.random.default_rng(0)
    >>> crossings = Crossings(oracle, 3 * rng.standard_normal((50, 2)), rng)
    >>> len(crossings.between(0, 1)) > 5, len(crossings.between(-1, 1))
    (True, 0)
    """

    def __init__(self, oracle: ClassOracle, features: Array, rng: np.random.Generator):
        self.oracle, self.features, self.rng = oracle, features, rng
        self.units = spread_of(features)
        self.known: list[Any] = []
        self.X, self.labels = features, oracle(features)
        if len(np.unique(self.labels)) == 1:
            raise ValueError(f"all {len(features)} features got the label {self.labels[0]!r}: give "
                             "points of the other classes too")
        self.A, self.B = np.empty((2, 0, features.shape[1]))
        self.one, self.other = np.empty((2, 0), self.labels.dtype)
        for _ in range(SETTINGS.rounds):
            self.look_around()
            lacking = [pair for pair in self.pairs if len(self.between(*pair)) < SETTINGS.enough]
            if not lacking:
                break
            self.seek(lacking, SETTINGS.crossings)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels met so far, in increasing order."""
        return tuple(sorted(set(self.labels.tolist())))

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """All pairs of classes, as scikit-learn orders them."""
        classes = self.classes
        return [(a, b) for k, a in enumerate(classes) for b in classes[k + 1:]]

    def ask(self, X: Array) -> Array:
        """Labels; a point of a class that was never met before is kept, to draw lines from it.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : array (n,)
        """
        labels = self.oracle(X)
        new = ~np.isin(labels, self.labels)
        if new.any():
            self.X, self.labels = np.r_[self.X, X[new]], np.r_[self.labels, labels[new]]
        return labels

    def between(self, one: Any, other: Any) -> Array:
        """The numbers of the brackets between two labels.

        Parameters
        ----------
        one, other : labels

        Returns
        -------
        numbers : int array
        """
        same, turned = ((self.one == a) & (self.other == b)
                        for a, b in ((one, other), (other, one)))
        return np.flatnonzero(same | turned)

    def look_around(self) -> None:
        """Labels of points near the features."""
        n, (k, d) = 2 * SETTINGS.crossings, self.features.shape
        near = self.features[self.rng.integers(k, size=n)]
        near = near + SETTINGS.noise * self.units * self.rng.standard_normal((n, d))
        self.X, self.labels = np.concatenate([self.X, near]), np.r_[self.labels, self.oracle(near)]

    def seek(self, pairs: list[tuple[Any, Any]], n: int) -> None:
        """Brackets on lines between points of two classes; a third one may come between.

        Parameters
        ----------
        pairs : list of pairs of labels
            Taken in turn.
        n : int
            How many brackets.
        """
        ends = [[self.rng.choice(np.flatnonzero(self.labels == label))
                 for label in pairs[k % len(pairs)]] for k in range(n)]
        i, j = np.array(ends).T
        self._bracket(self.X[i], self.X[j], self.labels[i], self.labels[j])

    def _bracket(self, A, B, one, other):
        """Brackets between points, halved where the label of the one end changes."""
        A, B, other = self._halved(A, B, one, other, SETTINGS.coarse_halvings)
        self.A, self.B = np.concatenate([self.A, A]), np.concatenate([self.B, B])
        self.one, self.other = np.r_[self.one, one], np.r_[self.other, other]

    def lead_outwards(self) -> Any:
        """Brackets on lines that lead far away from points of each class.

        Returns
        -------
        label : label or None
            The one that all points far away have; None, without brackets, if there are several.
        """
        # is there one label far away?
        directions = self.rng.standard_normal((SETTINGS.far_points, self.features.shape[1]))
        far = self.ask(SETTINGS.far * self.units * directions)
        if len(np.unique(far)) > 1:
            return None

        # lines from points of the others
        starts = np.concatenate([self.rng.choice(np.flatnonzero(self.labels == label),
                                                 SETTINGS.outwards)
                                 for label in self.classes if label != far[0]])
        directions = self.rng.standard_normal((len(starts), self.features.shape[1]))
        ends = self.X[starts] + SETTINGS.away * self.units * directions
        labels = self.ask(ends)
        cross = labels != self.labels[starts]
        self._bracket(self.X[starts][cross], ends[cross], self.labels[starts][cross],
                      labels[cross])
        return far[0]

    def _halved(self, A, B, one, other, times):
        """Brackets, halved; at their first ends the labels stay the same."""
        A, B, other = A.copy(), B.copy(), other.copy()
        for _ in range(times):
            middles = (A + B) / 2
            labels = self.ask(middles)
            same = labels == one
            A[same], B[~same], other[~same] = middles[same], middles[~same], labels[~same]
        return A, B, other

    def points(self, one: Any, other: Any, n: int | None = None) -> Array:
        """Boundary points between two labels, from their brackets, halved further.

        Parameters
        ----------
        one, other : labels
        n : int, optional
            At most so many, at random.

        Returns
        -------
        X : array (n, d)
        """
        numbers = self.rng.permutation(self.between(one, other))[:n]
        ones = self.one[numbers]
        A, B, others = self._halved(self.A[numbers], self.B[numbers], ones, self.other[numbers],
                                    SETTINGS.fine_halvings)
        return ((A + B) / 2)[(others == one) | (others == other)]

    def unexplained(self, one: Any, other: Any, n: int) -> Array:
        """Boundary points between two labels that lie on the boundary of no machine in `known`.

        Parameters
        ----------
        one, other : labels
        n : int
            Of how many brackets, if the two classes meet often enough.

        Returns
        -------
        X : array (n, d)
            A third class, and known machines, may leave fewer.
        """
        for _ in range(SETTINGS.rounds):
            if (lacking := n - len(self.between(one, other))) <= 0:
                break
            self.seek([(one, other)], 2 * lacking)
        X = self.points(one, other, n)
        for machine in self.known:
            X = X[distances(machine, X, self.units) > SETTINGS.on_boundary]
        return X

    def regions(self, one: Any, other: Any, box: bool) -> Iterator[Region]:
        """The largest regions about crossings between two labels, the largest first.

        Parameters
        ----------
        one, other : labels
        box : bool
            Whether a region is a box or a ball.

        Yields
        ------
        region : Region
            At random points of it, and on lines between these, both labels were met and no other.
        """
        # how large they may be, by a few points
        two, points = {one, other}, self.unexplained(one, other, SETTINGS.centres)
        radii = np.array([self._largest(x, SETTINGS.largest_region, lambda x, r: set(
            self.ask(self.random(x, r, SETTINGS.first_points, box)).tolist()) <= two)
            for x in points])

        # and by more of them, and lines, where these leave hope
        for k in np.argsort(-radii):
            radius = self._largest(points[k], radii[k],
                                   lambda x, r: self._holds_two(x, r, one, other, box))
            if radius:
                yield Region(points[k], radius)

    def _largest(self, x, radius, holds):
        """The largest radius at which a test holds, from the given one downwards; or 0."""
        while radius > SETTINGS.smallest_region and not holds(x, radius):
            radius /= np.sqrt(2)
        return radius if radius > SETTINGS.smallest_region else 0.0

    def _holds_two(self, x, radius, one, other, box):
        """Does a region hold two labels and no other, also on lines between its points?"""
        X = self.random(x, radius, SETTINGS.sure_points, box)
        labels = self.ask(X)
        if set(labels.tolist()) != {one, other}:
            return False

        # third ones are the likeliest near the boundary
        A, B = (X[self.rng.choice(np.flatnonzero(labels == label), SETTINGS.sure_lines)]
                for label in (one, other))
        for _ in range(SETTINGS.coarse_halvings):
            middles = (A + B) / 2
            labels = self.ask(middles)
            if not set(labels.tolist()) <= {one, other}:
                return False
            first = (labels == one)[:, None]
            A, B = np.where(first, middles, A), np.where(first, B, middles)
        return True

    def random(self, centre: Array, radius: float, n: int, box: bool) -> Array:
        """Random points of a box; or of a ball, at distances from its centre that are uniform.

        Parameters
        ----------
        centre : array (d,)
        radius : float
        n : int
        box : bool

        Returns
        -------
        X : array (n, d)
        """
        if box:
            steps = self.rng.uniform(-1, 1, (n, len(centre)))
        else:
            steps = self.rng.standard_normal((n, len(centre)))
            steps *= np.sqrt(len(centre)) / np.linalg.norm(steps, axis=1, keepdims=True)
            steps *= self.rng.uniform(0, 1, (n, 1))
        return centre + radius * self.units * steps


def distances(machine: KernelMachine | ScaledMachine, X: Array, units: Array) -> Array:
    """The distances of points from a machine's boundary, to first order.

    Parameters
    ----------
    machine : KernelMachine or ScaledMachine
    X : array (n, d)
    units : array (d,)
        What distances are measured in.

    Returns
    -------
    distances : array (n,)
        Infinite where the gradient vanishes.

    Examples
    --------
    >>> from decon import Linear
    >>> distances(KernelMachine(Linear(), [[1., 0.]], [1.], 2.), np.array([[5., 7.]]), np.ones(2))
    array([3.])
    """
    with np.errstate(all="ignore"):
        found = level_set_distance(machine.decision_function(X), machine.gradient(X) * units)
    return np.where(np.isfinite(found), np.abs(found), np.inf)
