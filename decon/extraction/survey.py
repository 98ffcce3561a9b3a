"""A first look at a model: labels of the features, a pool, boundary points, where it is curved."""

import numpy as np

from ..boundary.bounds import distance_to_bounds, lies_between, pairs_inside, stay_inside
from ..boundary.bracketing import boundary_points
from ..boundary.pairs import Pool
from ..oracles.oracle import real_points
from ..oracles.precision import DOUBLE, Precision
from ..types import Array, ArrayLike, LabelOracle, RandomState
from .frame import spread_of
from .ledger import Ledger
from .settings import SETTINGS


class Survey:
    """What has to be known of a model before anything else: points, scale and curvature.

    Parameters
    ----------
    oracle : LabelOracle
    features : array (k, d)
        A few typical points with both labels among them.
    ledger : Ledger
    random_state : int or numpy.random.Generator
    precision : Precision

    Attributes
    ----------
    features : array (k, d)
    scale : float
        R0, the root mean square norm of the features (about the middle of the bounds, if any).
    pool : Pool
        Labelled points of both kinds. From `label` on.
    X, V : arrays (n, d)
        A few boundary points, and the directions of their brackets. From `find_points` on.
    ends : array (2, d)
        A positive and a negative point on a line with X[0].
    curvature_scale : float
        The distance at which curvature shows: R0, or more where the boundary is nearly flat.
        From `find_curvature_scale` on.
    flat : bool
        Is the boundary flat as far as secants reach?

    Raises
    ------
    ValueError
        If the features do not have shape (k, d), are not real and finite, are all zero or too
        large to be squared.

    Examples
    --------
    >>> from decon import KernelMachine, Linear, Oracle
    >>> model = KernelMachine.random(Linear(), dimension=5, n_support=3)
    >>> oracle = Oracle(model.predict, 5)
    >>> features = np.random.default_rng(0).standard_normal((20, 5))
    >>> survey = Survey(oracle, features, Ledger(oracle, progress=False))
    >>> survey.run()
    >>> survey.flat, len(survey.X)
    (True, 10)
    """

    def __init__(self, oracle: LabelOracle, features: ArrayLike, ledger: Ledger,
                 random_state: RandomState = 0, precision: Precision = DOUBLE):
        self.oracle, self.ledger, self.precision = oracle, ledger, precision
        self.rng, self.bounded = np.random.default_rng(random_state), oracle.bounds is not None
        d = oracle.dimension
        self.curvature_scale, self.flat, self.X, self.V = np.nan, False, *np.empty((2, 0, d))

        # R0, the unit of all lengths (step 1 of alg-the-whole-algorithm-run)
        self.centre = np.zeros(d) if oracle.bounds is None else np.mean(oracle.bounds, axis=0)
        self.features = real_points(features, d, "features")
        with np.errstate(over="ignore"):
            norm = np.linalg.norm(self.features - self.centre)
        self.scale = norm / np.sqrt(max(1, len(self.features)))
        if not self.scale < SETTINGS.largest_norm:
            raise ValueError(f"features have a root mean square norm of {self.scale}, too large to "
                             "be squared: give them in other units")
        if self.scale == 0:
            where = "at the centre of the bounds" if self.bounded else "zero"
            raise ValueError(f"features are all {where} (or there are none): their root mean "
                             "square norm sets the scale of the search, so give typical points")
        self.curvature_scale = self.scale

    def __repr__(self) -> str:
        return (f"Survey(scale={self.scale:.3g}, curvature_scale={self.curvature_scale:.3g}, "
                f"{len(self.X)} boundary points)")

    def run(self) -> None:
        """Label the features, find a few boundary points, and how far out it is curved there."""
        self.label()
        self.find_points()
        self.find_curvature_scale()

    def label(self) -> None:
        """Query the features, and begin the pool with them and a cloud around them.

        Raises
        ------
        ValueError
            If all features get the same label.
        """
        with self.ledger.stage("features"):
            # labels of both kinds
            labels = self.oracle(self.features)
            if abs(labels.sum()) == len(self.features):
                only = "+1" if labels[0] > 0 else "-1"
                raise ValueError(f"all {len(self.features)} features got the label {only}: give a "
                                 "few points of the other label too")

            # the pool
            self.pool = Pool(self.oracle, self.features, labels, self.rng)
            self.enlarge(self.pool, self.cloud(SETTINGS.cloud_points), self.scale)

    def enlarge(self, pool: Pool, cloud: Array, size: float) -> None:
        """Add a cloud to a pool, and more points of the label that is rare.

        Parameters
        ----------
        pool : Pool
        cloud : array (n, d)
        size : float
            Of the cloud, in the units of its points.
        """
        pool.add_cloud(cloud, SETTINGS.fewest_of_a_label, SETTINGS.rare_width * size)

    def cloud(self, n: int, radii: tuple[float, ...] = (0.5, 1.0, 3.0)) -> Array:
        """Random points at given distances from the features, or from the centre.

        Parameters
        ----------
        n : int
        radii : floats
            Root mean square distances of the points, in units of the scale, used in turn: radii
            below 1 are measured from random features, the others from the centre.

        Returns
        -------
        X : array (n, d)
            Within the bounds.
        """
        near = self.features[self.rng.integers(len(self.features), size=n)]
        radius = np.resize(radii, n)[:, None]
        steps = self.rng.standard_normal((n, self.oracle.dimension))
        steps *= self.scale * radius / np.sqrt(self.oracle.dimension)
        steps += np.where(radius < 1, near - self.centre, 0)
        return self.centre + stay_inside(self.oracle, self.centre, steps)

    @property
    def spread(self) -> Array:
        """The standard deviation of each feature: array (d,); see `spread_of`."""
        return spread_of(self.features)

    def between(self, n: int) -> Array:
        """Points x_i + t (x_j - x_k) of features: spread like them, however these are scaled.

        Parameters
        ----------
        n : int

        Returns
        -------
        X : array (n, d)
            Within the bounds; t is uniform from -1/2 to 1/2.
        """
        i, j, k = self.rng.integers(len(self.features), size=(3, n))
        steps = self.features[i] - self.centre
        steps += self.rng.uniform(-0.5, 0.5, (n, 1)) * (self.features[j] - self.features[k])
        return self.centre + stay_inside(self.oracle, self.centre, steps)

    def bracket(self, P: Array, N: Array) -> tuple[Array, Array]:
        """Boundary points, one on every segment between the rows of P and of N.

        Parameters
        ----------
        P, N : arrays (n, d)
            PN-pairs, as the pool draws them.

        Returns
        -------
        X, V : arrays (n, d)
            Boundary points, and the unit directions of their brackets, from - to +.
        """
        return boundary_points(self.oracle, P, N, self.precision.width * self.curvature_scale)

    def find_points(self) -> None:
        """Bracket a few boundary points; `ends` are those of the segment of the first."""
        P, N = self.pool.pairs(2 * SETTINGS.secants)
        with self.ledger.stage("boundary"):
            P, N = pairs_inside(self.oracle, P, N)
            self.X, self.V = self.bracket(P, N)
            if self.bounded:
                P, N = self._begin_inside(P, N)
        self.ends = np.array([P[0], N[0]])

    def _begin_inside(self, P, N):
        """The points far from the bounds first, the first one's segment as short as its room."""
        order = np.argsort(-distance_to_bounds(self.oracle, self.X))
        self.X, self.V, P, N = self.X[order], self.V[order], P[order], N[order]
        half = 0.9 * distance_to_bounds(self.oracle, self.X[:1])[0]
        while half > 1e-3 * self.scale:
            ends = self.X[0] + half * self.V[0] * [[1], [-1]]
            if (self.oracle(ends) == [1, -1]).all():
                return ends[:1], ends[1:]
            half /= 2
        return P, N

    def find_curvature_scale(self) -> None:
        """How far out is the boundary curved, and is it flat as far as one can see?

        Secants through pairs of boundary points are followed out to R0, 8 R0, 64 R0, ...; the
        curvature scale is the first of these distances at which most of them have left the
        boundary. At smaller distances the boundary cannot be told from a plane n.x = c, and
        quadratics (n.x - c)(l.x + 1) with different l cannot be told apart. If two or more have
        left it and no others leave at the next distance, going farther shows no more curvature:
        the scale is then the distance at which the first one left.
        Within bounds, the midpoints of the secants are tested instead.
        """
        if self.bounded:
            self.flat = self._is_flat_between()
            return

        # secants through pairs of points, as unit vectors (step 2 of alg-the-whole-algorithm-run)
        V, U = self.V[::2], self.X[1::2] - self.X[::2]
        length = np.linalg.norm(U, axis=1, keepdims=True)
        X, U = self.X[::2], U / np.where(length > 0, length, 1)

        # drawn out further and further, until most of them are off the boundary, or no others are
        bent, length, first, more = np.zeros(len(X), bool), self.scale, None, True
        while (length < SETTINGS.farthest_secant * self.scale and bent.mean() < 0.5
               and (more or bent.sum() < SETTINGS.least_bent)):
            before = bent.sum()
            ends, aside = X + length * U, SETTINGS.bend * length * V
            with self.ledger.stage("boundary"):
                bent |= (self.oracle(ends + aside) < 0) | (self.oracle(ends - aside) > 0)
            first = length if bent.any() and first is None else first
            more = bent.sum() > before
            self.curvature_scale, length = length, 8 * length
        if bent.mean() < 0.5:  # not most of them: where the first did, or nowhere
            self.curvature_scale = first or self.scale
        self.flat = first is None

    def _is_flat_between(self):
        """Do the middles of most secants lie on the boundary?"""
        middles, secants = (self.X[::2] + self.X[1::2]) / 2, self.X[::2] - self.X[1::2]
        aside = SETTINGS.middle * np.linalg.norm(secants, axis=1, keepdims=True) * self.V[::2]
        with self.ledger.stage("boundary"):
            return bool(lies_between(self.oracle, middles, aside).mean() > 0.5)
