"""A cubic machine that is nearly known, corrected in its own coordinates to the brackets' width."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from .bracketing import bisect_along, blocks
from .normals import orthonormal_complement

# Points of the curve p^3 + q^3 = 1 that tell the unknowns of a plane apart: two in every plane,
# three more in those of neighbours.
TWO = np.cbrt([[2.0, -1.0], [0.5, 0.5]])
MORE = np.cbrt([[1.0, 0.0], [8.0, -7.0], [-8.0, 9.0]])
SAMPLE = 20  # points that show how far off the machine is (in units of its own coordinates)
DONE = 30  # widths of the brackets: so close is as close as they show
REACH = 0.5  # farther off, there is nothing to be corrected
FAINT = 0.2  # a smaller |b| makes the curves of two coordinates too straight
ALONG, WALKS = 1e-10, 4  # a vector may have so much of its length outside the subspace
FAR = 3000  # baselines, from where two vectors that are nearly alike are told from one
ROUNDS = 3  # of measurements,
STEPS = 30  # and of Newton's kind after each,
DAMP = 0.0, 0.03, 0.1, 0.3  # damped where they overshoot (Levenberg and Marquardt)


class OwnCoordinates:
    """A cubic machine sum_i l_i^3 = b, with its linear forms l_i as coordinates of the space.

    l_i = v_i.z + p_i at x = x0 + frame @ z. In the plane of two coordinates, all others being 0,
    the boundary is the curve l_i^3 + l_j^3 = b, whatever the machine. Where b is too small for
    comfort a third coordinate is set to a number beta, and the curve is l_i^3 + l_j^3 =
    b - beta^3.

    Parameters
    ----------
    x0 : array (d,)
    frame : array (d, m)
    V : array (m, m + 1)
        Rows (v_i, p_i).
    b : float

    Raises
    ------
    ArithmeticError
        If the v_i are dependent.

    Attributes
    ----------
    D : array (d, m)
        Column i is the direction along which l_i alone changes, by one unit.
    centre : array (d,)
        Where all l_i are 0.
    unit : float
        Typical size of the l_i: all are given in units of it.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> box = KernelMachine(Polynomial(3), [[1., 0.], [0., 2.]], [1., -1.], .25)
    >>> nearly = np.array([[1., .001, 1.], [0., -2., -1.002]])       # l_2 = -(2 x_2 + 1)
    >>> own = OwnCoordinates(np.zeros(2), np.eye(2), nearly, .25)
    >>> own, done = own.polish(Oracle(box.predict, 2), 1e-12, np.random.default_rng(0))
    >>> A, h, b = own.forms()
    >>> done, (A / h[:, None]).round(9) + 0.
    (True, array([[1., 0.],
           [0., 2.]]))
    """

    def __init__(self, x0, frame, V, b):
        self.x0, self.frame = x0, frame
        self.unit = max(np.cbrt(abs(b)), np.sqrt(np.mean(V[:, -1] ** 2)))
        self.V, self.b = V / self.unit, b / self.unit**3
        try:
            self.D = frame @ np.linalg.inv(self.V[:, :-1])
        except np.linalg.LinAlgError:
            raise ArithmeticError("the vectors of the cubes are dependent") from None
        self.centre = x0 - self.D @ self.V[:, -1]

    def polish(self, oracle, width, rng):
        """The same machine, corrected until boundary points are where it has them.

        Parameters
        ----------
        oracle : Oracle
        width : float
            Of the brackets, in units of the l_i.
        rng : numpy.random.Generator

        Returns
        -------
        own : OwnCoordinates
        done : bool
            Are points of the boundary where they should be, within the width of the brackets?
        """
        own, step = self, 1e-6
        for k in range(ROUNDS + 1):
            at, L = own.points(rng)
            sample = rng.choice(len(L), min(SAMPLE, len(L)), replace=False)
            h = np.empty(len(L))
            h[sample] = own.heights(oracle, at[sample], L[sample], step, width)
            off = np.median(np.nan_to_num(np.abs(h[sample]), nan=np.inf))
            if off < DONE * width or not off < REACH or k == ROUNDS:
                break
            others = np.setdiff1d(np.arange(len(L)), sample)
            h[others] = own.heights(oracle, at[others], L[others], 2 * off, width)
            own, step = own.corrected(at, L, h, width), 10 * width
        return own, bool(off < DONE * width)

    def distances(self, Z):
        """How far from the boundary are points, rows of coordinates in the frame? In units."""
        L = Z @ self.V[:, :-1].T + self.V[:, -1]
        return np.abs((L**3).sum(1) - self.b) / np.linalg.norm(3 * L**2, axis=1)

    def points(self, rng):
        """The boundary points to be measured, m^2 + 2 m of them, all l_i but two or three being 0.

        Returns
        -------
        at : int array (n, k)
            Which are not 0,
        L : array (n, k)
            and their values.
        """
        m = len(self.V)
        i, j = (np.repeat(a, len(TWO)) for a in np.triu_indices(m, 1))
        swap = rng.random(len(i)) < 0.5
        near = np.repeat(np.arange(m), len(MORE))
        at = np.stack([np.r_[np.where(swap, j, i), near],
                       np.r_[np.where(swap, i, j), (near + 1) % m]], 1)
        L = np.concatenate([np.resize(TWO, (len(i), 2)), np.resize(MORE, (len(near), 2))])
        if abs(self.b) > FAINT or m < 3:
            return at, np.cbrt(self.b) * L
        third = rng.integers(m - 2, size=len(at))
        for index in np.sort(at, axis=1).T:
            third += third >= index
        sign = np.copysign(1.0, self.b)
        return np.c_[at, third], np.c_[sign * L, np.full(len(L), np.cbrt(self.b - sign))]

    def heights(self, oracle, at, L, step, width):
        """How far above these points is the boundary, along the gradient of sum_i l_i^3?"""
        h = np.empty(len(L))
        for k in blocks(len(L), 4 * len(self.centre)):
            X, U = self.steps(at[k], L[k]) + self.centre, self.steps(at[k], ascent(L[k]))
            h[k] = bisect_along(oracle, X, U, 0.0, step, width, REACH)
        return h

    def steps(self, at, L):
        """The steps from the centre, array (n, d), that a few l_i describe, those numbered `at`."""
        return sum(values[:, None] * self.D.T[i] for i, values in zip(at.T, L.T, strict=True))

    def forms(self):
        """The l_i as A x + h: arrays (m, d) and (m,), A in the span of the frame; and b."""
        A = self.V[:, :-1] @ np.linalg.pinv(self.frame) * self.unit
        return A, self.V[:, -1] * self.unit - A @ self.x0, self.b * self.unit**3

    def outside(self, oracle, baseline, width, rng):
        """What the vectors of the l_i have outside the span of the frame, one by one.

        Where l_i alone is not 0, the boundary's normal is the vector of l_i. A walk w out of the
        span changes l_i by the product of w with what is missing, and the boundary steps aside by
        as much. d - m brackets a vector show all of it; two labels show whether it is worth it.

        The same labels, farther out, show a vector that is in truth two, nearly alike: of w and
        of -w one then misses the boundary, as cubes of l + e and l - e add up to more than 2 l^3.

        Parameters
        ----------
        oracle : Oracle
        baseline : float
            How far to walk, about the scale of the data.
        width : float
            Of the brackets, in units of the l_i.
        rng : numpy.random.Generator

        Returns
        -------
        missing : array (m, d)
            To be added to A of `forms`.
        single : bool
            Is every vector one vector, as far as labels show?
        """
        m, d = len(self.V), len(self.x0)
        W = orthonormal_complement(self.frame)
        missing = np.zeros((m, d))
        if W.shape[1] == 0:
            return missing, True
        at, L = np.arange(m)[:, None], np.full((m, 1), np.cbrt(self.b))
        if abs(self.b) < FAINT:
            sign, i = np.copysign(1.0, self.b), np.arange(m)
            # three in a circle, the others beside them: so the slopes have an inverse
            at = np.c_[at, np.where(i < 3, (i + 1) % min(m, 3), i % 3)]
            L = np.tile([sign, np.cbrt(self.b - sign)], (m, 1))
        X, U = self.steps(at, L) + self.centre, self.steps(at, ascent(L))
        slopes = np.zeros((m, m))
        np.put_along_axis(slopes, at, ascent(L), 1)
        lengths = np.linalg.norm(self.forms()[0], axis=1) / self.unit / np.sqrt(W.shape[1])

        def misses(walks, off):
            height = -(slopes @ missing / self.unit * walks).sum(1)
            up, down = (oracle(X + walks + (height + side * off)[:, None] * U) for side in (1, -1))
            return (up < 0) | (down > 0)

        small = np.maximum(ALONG * lengths * baseline, 4 * width)
        shown = np.any([misses(baseline * unit_rows(rng, m, W), small)
                        for _ in range(WALKS)], axis=0)
        h = np.zeros((m, W.shape[1]))
        for i in np.flatnonzero(shown):
            h[i] = bisect_along(oracle, X[i] + baseline * W.T, np.tile(U[i], (len(W.T), 1)), 0.0,
                                2 * small[i], width, REACH)
        missing = -np.linalg.lstsq(slopes, np.nan_to_num(h), rcond=None)[0] @ W.T
        missing *= self.unit / baseline
        single = True
        for _ in range(WALKS):
            far = FAR * baseline * unit_rows(rng, m, W)
            single &= not any(misses(side * far, 30 * FAR * small).any() for side in (1, -1))
        return missing, bool(single)

    def corrected(self, at, L, h, width):
        """The machine whose boundary goes through the points measured at heights h.

        With l_i + sum_j E_ij l_j + e_i instead of l_i, Psi - b changes by 3 sum_i l_i^2
        (sum_j E_ij l_j + e_i) at first order: at such a point, by few unknowns.
        """
        kept, m = np.isfinite(h), len(self.V)
        at, L = at[kept], (L + h[:, None] * ascent(L))[kept]
        slope = 3 * np.linalg.norm(L**2, axis=1)
        G, b = np.eye(m, m + 1), self.b  # the new l are G (l, 1)
        off = (sum_of_cubes_at(at, L, G) - b) / slope
        for _ in range(STEPS):
            if np.linalg.norm(off) < width * np.sqrt(len(off)):
                break
            J = derivatives(at, L, G, slope)
            for damp in DAMP:
                step = lsqr(J, -off, damp, atol=1e-10, btol=1e-10, iter_lim=4000)[0]
                new = G + step[:-1].reshape(m, m + 1), b + step[-1]
                new_off = (sum_of_cubes_at(at, L, new[0]) - new[1]) / slope
                gain = np.linalg.norm(off) / np.linalg.norm(new_off)
                if gain > 1:
                    (G, b), off = new, new_off
                    break
            if gain < 1.1:
                break
        V = G[:, :-1] @ self.V
        V[:, -1] += G[:, -1]
        return OwnCoordinates(self.x0, self.frame, V * self.unit, b * self.unit**3)


def derivatives(at, L, G, slope):
    """Those of (sum_i (G_i.(l, 1))^3 - b) / slope by all entries of G and by b: a sparse array.

    Where l_k is 0, it is taken to stay 0, which it does nearly.
    """
    n, m = len(L), len(G)
    h, index = np.c_[L, np.ones(n)], np.c_[at, np.full(n, m)]
    now = (G[at[:, :, None], index[:, None]] @ h[:, :, None])[:, :, 0]
    entries = np.c_[(3 * now[:, :, None] ** 2 * h[:, None]).reshape(n, -1), -np.ones(n)]
    columns = (at[:, :, None] * (m + 1) + index[:, None]).reshape(n, -1)
    columns = np.c_[columns, np.full(n, m * (m + 1))]
    ends = entries.shape[1] * np.arange(n + 1)
    return csr_array(((entries / slope[:, None]).ravel(), columns.ravel(), ends),
                     (n, m * (m + 1) + 1))


def unit_rows(rng, n, W):
    """n random unit vectors in the span of the orthonormal columns of W."""
    walks = rng.standard_normal((n, W.shape[1]))
    return walks / np.linalg.norm(walks, axis=1, keepdims=True) @ W.T


def ascent(L):
    """The unit gradients of sum_i l_i^3 at points of which a few l_i are given."""
    return L**2 / np.linalg.norm(L**2, axis=1, keepdims=True)


def sum_of_cubes_at(at, L, G):
    """sum_i (G_i.(l, 1))^3 at points of which a few l_i, those with indices `at`, are not 0."""
    f = np.empty(len(L))
    for block in blocks(len(L), 2 * len(G)):
        pairs = zip(at[block].T, L[block].T, strict=True)
        now = G[:, -1] + sum(values[:, None] * G.T[i] for i, values in pairs)
        f[block] = (now**3).sum(1)
    return f
