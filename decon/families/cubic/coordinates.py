"""A cubic machine that is nearly known, in its own coordinates: refined to the brackets' width."""

import numpy as np

from ...boundary.bracketing import bisect_along
from ...boundary.distance import level_set_distance
from ...numerics.blocks import blocks
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
        if not np.abs(np.r_[self.D.ravel(), self.centre, self.b]).max() < SETTINGS.longest:
            raise Refuted("the vectors of the cubes are dependent, or far too short")

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
            If the vectors of a refitted machine are dependent, or there are one or two of them and
            the threshold is 0.
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

        Raises
        ------
        Refuted
            If there are one or two vectors and the threshold is 0: all these points are the centre.
        """
        if len(self.V) < 3 and self.b == 0:
            raise Refuted("one or two cubes with the threshold 0 have no curved boundary")

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
