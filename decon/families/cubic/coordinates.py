"""A cubic machine that is nearly known, in its own coordinates: refined to the brackets' width."""

import numpy as np

from ...blocks import blocks
from ...boundary.bracketing import bisect_along
from ...boundary.distance import level_set_distance
from ...boundary.normals import orthonormal_complement
from ...types import Array, LabelOracle
from ..protocol import Refuted
from .decomposition import ascent, combine, refit
from .settings import SETTINGS


class SumOfCubes:
    """A cubic machine sum_i l_i^3 = b, with its linear forms l_i as coordinates of the space.

    l_i = v_i.z + p_i at x = x0 + frame @ z. In the plane of two coordinates, all others being 0,
    the boundary is the curve l_i^3 + l_j^3 = b, whatever the machine. Where |b| is small, so that
    this curve is nearly straight, a third coordinate is set to a number beta, and the curve is
    l_i^3 + l_j^3 = b - beta^3.

    Parameters
    ----------
    x0 : array (d,)
    frame : array (d, m)
    V : array (m, m + 1)
        Rows (v_i, p_i).
    b : float

    Raises
    ------
    Refuted
        If the v_i are dependent.

    Attributes
    ----------
    D : array (d, m)
        Column i is the direction along which l_i alone changes, by one unit.
    centre : array (d,)
        Where all l_i are 0.
    unit : float
        Typical size of the l_i: V, b and all l_i below are given in units of it.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> model = KernelMachine(Polynomial(3), [[1., 0.], [0., 2.]], [1., -1.], .25)
    >>> nearly = np.array([[1., .001, 1.], [0., -2., -1.002]])       # l_2 = -(2 x_2 + 1)
    >>> own = SumOfCubes(np.zeros(2), np.eye(2), nearly, .25)
    >>> own, done = own.refine(Oracle(model.predict, 2), 1e-12, np.random.default_rng(0))
    >>> A, h, b = own.forms()
    >>> done, (A / h[:, None]).round(9) + 0.
    (True, array([[1., 0.],
           [0., 2.]]))
    """

    def __init__(self, x0: Array, frame: Array, V: Array, b: float):
        self.x0, self.frame = x0, frame
        self.unit = max(np.cbrt(abs(b)), np.sqrt(np.mean(V[:, -1] ** 2)))
        self.V, self.b = V / self.unit, b / self.unit**3
        try:
            self.D = frame @ np.linalg.inv(self.V[:, :-1])
        except np.linalg.LinAlgError:
            raise Refuted("the vectors of the cubes are dependent") from None
        self.centre = x0 - self.D @ self.V[:, -1]

    def refine(self, oracle: LabelOracle, width: float,
               rng: np.random.Generator) -> tuple["SumOfCubes", bool]:
        """The same machine, refitted until boundary points are where it has them.

        Parameters
        ----------
        oracle : LabelOracle
        width : float
            Of the brackets, in units of the l_i.
        rng : numpy.random.Generator

        Returns
        -------
        own : SumOfCubes
        done : bool
            Are points of the boundary where they should be, within the width of the brackets?

        Raises
        ------
        Refuted
            If the vectors of a refitted machine are dependent.
        """
        own, step = self, 1e-6
        for k in range(SETTINGS.refinements + 1):
            # how far off is the boundary, at a sample of the points?
            at, L = own.points(rng)
            sample = rng.choice(len(L), min(SETTINGS.sample_points, len(L)), replace=False)
            h = np.empty(len(L))
            h[sample] = own.heights(oracle, at[sample], L[sample], step, width)
            off = np.median(np.nan_to_num(np.abs(h[sample]), nan=np.inf))
            done = bool(off < SETTINGS.median_widths * width)
            if done or not off < SETTINGS.largest_correction or k == SETTINGS.refinements:
                break

            # all other points, and the sum of cubes whose boundary passes through them (step 5 of
            # alg-support-vectors-of-a-cubic-planes)
            others = np.setdiff1d(np.arange(len(L)), sample)
            h[others] = own.heights(oracle, at[others], L[others], 2 * off, width)
            kept = np.isfinite(h)
            measured = (L + h[:, None] * ascent(L))[kept]
            G, b = refit(at[kept], measured, len(own.V), own.b, width)

            # its forms G (l, 1), in terms of (z, 1)
            V = G[:, :-1] @ own.V
            V[:, -1] += G[:, -1]
            own, step = SumOfCubes(own.x0, own.frame, V * own.unit, b * own.unit**3), 10 * width
        return own, done

    def points(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The boundary points to be measured, m^2 + 2 m of them, all l_i but two or three being 0.

        Parameters
        ----------
        rng : numpy.random.Generator

        Returns
        -------
        at : int array (n, k)
            Which are not 0,
        L : array (n, k)
            and their values.
        """
        # on p^3 + q^3 = 1 (eq-support-vectors-of-a-cubic-own), two points for every pair, in random
        # order, and three for neighbours
        m = len(self.V)
        pairs = np.repeat(np.transpose(np.triu_indices(m, 1)), 2, axis=0)
        swapped = rng.random(len(pairs)) < 0.5
        pairs[swapped] = pairs[swapped, ::-1]
        near = np.repeat(np.arange(m), 3)
        at = np.concatenate([pairs, np.stack([near, (near + 1) % m], 1)])
        L = np.cbrt(np.concatenate([np.resize([[2, -1], [0.5, 0.5]], pairs.shape),
                                    np.resize([[1, 0], [8, -7], [-8, 9]], (3 * m, 2))]))
        if abs(self.b) > SETTINGS.small_threshold or m < 3:
            return at, np.cbrt(self.b) * L

        # l_i^3 + l_j^3 = b - beta^3 = +-1, with a third coordinate that is none of the two
        third = rng.integers(m - 2, size=len(at))
        for index in np.sort(at, axis=1).T:
            third += third >= index
        sign = np.copysign(1.0, self.b)
        return np.c_[at, third], np.c_[sign * L, np.full(len(L), np.cbrt(self.b - sign))]

    def heights(self, oracle: LabelOracle, at: Array, L: Array, step: float, width: float) -> Array:
        """How far above these points is the boundary, along the gradient of sum_i l_i^3?

        Parameters
        ----------
        oracle : LabelOracle
        at, L : arrays (n, k)
            Which l_i are not 0, and their values.
        step, width : floats
            The first step towards the boundary, and the width of the brackets.

        Returns
        -------
        h : array (n,)
            The values are L + h ascent(L) there; NaN where no boundary is near.
        """
        h = np.empty(len(L))
        for k in blocks(len(L), 4 * len(self.centre)):
            X, U = self.steps(at[k], L[k]) + self.centre, self.steps(at[k], ascent(L[k]))
            h[k] = bisect_along(oracle, X, U, 0.0, step, width, SETTINGS.largest_correction)
        return h

    def steps(self, at: Array, L: Array) -> Array:
        """The steps from the centre to where a few l_i have given values.

        Parameters
        ----------
        at, L : arrays (n, k)
            Which l_i are not 0, and their values.

        Returns
        -------
        steps : array (n, d)
        """
        return combine(at, L, self.D.T)

    def distances(self, Z: Array) -> Array:
        """How far the boundary is from points, to first order.

        Parameters
        ----------
        Z : array (n, m)
            Coordinates in the frame.

        Returns
        -------
        distances : array (n,)
        """
        L = Z @ self.V[:, :-1].T + self.V[:, -1]
        return np.abs(level_set_distance((L**3).sum(1) - self.b, 3 * L**2))

    def forms(self) -> tuple[Array, Array, float]:
        """The l_i as A x + h, and b, all without the unit.

        Returns
        -------
        A : array (m, d)
            In the span of the frame.
        h : array (m,)
        b : float
        """
        A = self.V[:, :-1] @ np.linalg.pinv(self.frame) * self.unit
        return A, self.V[:, -1] * self.unit - A @ self.x0, self.b * self.unit**3


def outside(own: SumOfCubes, oracle: LabelOracle, baseline: float, width: float,
            rng: np.random.Generator, sharpened: bool = False) -> tuple[Array, bool]:
    """What the vectors of a machine have outside the span of its frame, one by one.

    Where l_i alone is not 0, the boundary's normal is the vector of l_i. A walk w out of the
    span changes l_i by the product of w with what is missing, and the boundary steps aside by
    as much. d - m brackets per vector show all of it; two labels show whether that is worth it.

    The same labels, farther out, show a vector that is in truth two, nearly alike: of w and
    of -w one then misses the boundary, as cubes of l + e and l - e add up to more than 2 l^3.

    Parameters
    ----------
    own : SumOfCubes
    oracle : LabelOracle
    baseline : float
        How far to walk, about the scale of the data.
    width : float
        Of the brackets, in units of the l_i.
    rng : numpy.random.Generator
    sharpened : bool
        Is it known that nothing is missing?

    Returns
    -------
    missing : array (m, d)
        To be added to A of `forms`.
    single : bool
        Is every vector one vector, as far as labels show?
    """
    m, W = len(own.V), orthonormal_complement(own.frame)
    missing = np.zeros((m, len(W)))
    if W.shape[1] == 0:
        return missing, True

    # a boundary point for each l_i, all others being 0; where |b| is small, all but one: three in
    # a circle and the others beside them, so that the slopes have an inverse
    i, sign, straight = np.arange(m), np.copysign(1.0, own.b), abs(own.b) < SETTINGS.small_threshold
    at = np.c_[np.where(i < 3, (i + 1) % min(m, 3), i % 3), i]
    L = np.tile([np.cbrt(own.b - sign), sign] if straight else [0, np.cbrt(own.b)], (m, 1))
    X, U = own.steps(at, L) + own.centre, own.steps(at, ascent(L))
    slopes = combine(at, ascent(L), np.eye(m))

    def walk(length):
        """A walk in a random direction out of the span, for each point."""
        steps = rng.standard_normal((m, W.shape[1]))
        return length * (steps / np.linalg.norm(steps, axis=1, keepdims=True) @ W.T)

    def misses(walks, off):
        """Is the boundary more than `off` above or below where it should be after the walks?"""
        # back inside the span, to where all l_i, with what was missing, are what they were
        back = -walks @ missing.T / own.unit @ own.D.T
        up, down = (oracle(X + walks + back + side * off[:, None] * U) for side in (1, -1))
        return (up < 0) | (down > 0)

    # which points show that something is missing (step 6 of
    # alg-support-vectors-of-a-cubic-planes)?
    lengths = np.linalg.norm(own.forms()[0], axis=1) / own.unit / np.sqrt(W.shape[1])
    small = np.maximum(SETTINGS.least_tilt * lengths * baseline, 4 * width)
    shown = np.zeros(m, bool) if sharpened else \
        np.any([misses(walk(baseline), small) for _ in range(SETTINGS.walks)], axis=0)

    # the heights above them after walks along all of W, which are -slopes @ missing @ W
    h = np.zeros((m, W.shape[1]))
    for j in np.flatnonzero(shown):
        h[j] = bisect_along(oracle, X[j] + baseline * W.T, np.tile(U[j], (len(W.T), 1)), 0.0,
                            2 * small[j], width, SETTINGS.largest_correction)
    tilts = np.linalg.lstsq(slopes, np.nan_to_num(h), rcond=None)[0]
    missing = -tilts @ W.T * (own.unit / baseline)

    # (l + e)^3 + (l - e)^3 = 2 l^3 + 6 l e^2 would show far away
    single = True
    for _ in range(SETTINGS.walks):
        far = walk(SETTINGS.far_walk * baseline)
        off = 30 * SETTINGS.far_walk * small
        single &= not any(misses(side * far, off).any() for side in (1, -1))
    return missing, bool(single)
