"""A quadratic boundary in slices of growing dimension: the cheapest way to S_Y and to its shape."""

from dataclasses import dataclass, field
from math import comb

import numpy as np
from scipy.linalg import block_diag, qr

from ..boundary.bounds import stay_inside
from ..boundary.bracketing import bisect_along, keep_crossings
from ..boundary.informed import predicted_crossings
from ..boundary.pairs import Pool
from ..oracles.precision import DOUBLE, Precision
from ..subspaces import cylinder
from ..types import Array, LabelOracle
from .polynomial import distance_to_zeros, fit_polynomial, misfit, relevant_directions
from .predicted import points_of_polynomial
from .settings import SETTINGS


@dataclass(frozen=True)
class Reading:
    """What a slice shows: a quadratic, and the directions along which it changes.

    Attributes
    ----------
    A : array (k + 1, k + 1)
        The quadratic q(t) = (t, 1)^T A (t, 1) in the coordinates t = U^T z.
    U : array (s, k)
        Orthonormal; the first `rank` columns span P^T S_Y, the slice's part of S_Y.
    rank : int
        How many directions stand out from the noise; k is larger if others bend the boundary too.
    clear : bool
        Whether the weakest of them stands out by far.
    singular_values : array (s,)
        Those of [M k], where A = [[M, k], [k^T, a]] in the coordinates z.
    residual : float
        Of the fit, in units of what the brackets' width explains: above 1, this is no quadratic.
    """

    A: Array = field(repr=False)
    U: Array = field(repr=False)
    rank: int
    clear: bool
    singular_values: Array = field(repr=False)
    residual: float


class Slice:
    """The boundary inside the slice x = x0 + P z, whose dimension s grows from 2 to d.

    There, the boundary of a quadratic machine is a quadratic in the s variables z, with few
    coefficients. Its [M k] has the rank of P^T (y_1 ... y_m), so that the first slice with more
    dimensions than rank shows m; and its points serve all larger slices.

    Parameters
    ----------
    oracle : LabelOracle
    x0 : array (d,)
        A boundary point.
    ends : array (2, d)
        A positive and a negative point on a line with it: all slices hold this line, hence points
        of both labels.
    scale : float
        Points are bracketed as far as about 3 times this from x0.
    anchor : float
        The weight of x0 in the fits.
    rng : numpy.random.Generator
    frame : array (d, k), optional
        Orthonormal columns, the first s of which are P. Left out, k = d, and all but the first
        are random.
    precision : Precision

    Attributes
    ----------
    Z, V : arrays (n, s)
        The boundary points, and the unit directions of their brackets, in coordinates z.
    weights : array (n,)
        Of the points in a fit: 1, but for x0.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] ** 2 + X[:, 1] > 0, dimension=5)
    >>> e, rng = np.eye(5), np.random.default_rng(0)
    >>> part = Slice(oracle, np.zeros(5), np.array([e[1], -e[1]]), 1.0, 1.0, rng)
    >>> part.grow(3, n=20, radius=1.0)
    >>> seen = part.read()
    >>> seen.rank, seen.clear, part.extend(seen).shape
    (2, True, (5, 2))
    """

    def __init__(self, oracle: LabelOracle, x0: Array, ends: Array, scale: float, anchor: float,
                 rng: np.random.Generator, frame: Array | None = None,
                 precision: Precision = DOUBLE):
        self.oracle, self.x0, self.ends, self.scale, self.rng = oracle, x0, ends, scale, rng
        self.precision, self.width, d = precision, precision.width * scale, len(x0)
        if frame is None:
            frame = np.linalg.qr(np.c_[ends[0] - ends[1], rng.standard_normal((d, d - 1))])[0]
        self.frame = frame

        # x0 is the first point
        self.Z, self.V, self.weights = np.zeros((1, 1)), np.zeros((1, 1)), np.array([anchor])

    def __repr__(self) -> str:
        return f"Slice(dimension {self.P.shape[1]} of {len(self.x0)}, {len(self.Z)} points)"

    @property
    def P(self) -> Array:
        """Orthonormal basis (d, s) of the slice."""
        return self.frame[:, :self.Z.shape[1]]

    @property
    def points(self) -> Array:
        """The boundary points found so far, array (n, d)."""
        return self.x0 + self.Z @ self.P.T

    def grow(self, s: int, n: int, radius: float, complete: bool = True) -> None:
        """Bracket more boundary points, in a slice of s dimensions.

        Parameters
        ----------
        s : int
            At least the present dimension.
        n : int
            How many points there are to be then; three times as many if brackets are coarse.
        radius : float
            Half of the brackets' ends lie about so far from x0, the others 3 times as far (scale).
        complete : bool
            Whether there are to be as many also where they lie on no quadric (in a plane: on no
            conic and no cubic); this shows after a few more than determine one.
        """
        # the points found so far, in coordinates of the larger slice
        self.Z, self.V = (np.pad(a, ((0, 0), (0, s - a.shape[1]))) for a in (self.Z, self.V))

        # labels of a cloud around x0, at least a few of the rarer label
        missing = self.precision.points_factor * n - len(self.Z)
        size = max(40, missing // 4)
        cloud = self.rng.standard_normal((size, s)) / np.sqrt(s)
        cloud *= np.resize([1.0, 3.0], size)[:, None] * radius * self.scale
        cloud = stay_inside(self.oracle, self.x0, cloud @ self.P.T)
        pool = Pool(self.oracle, self.ends, np.array([1, -1]), self.rng)
        pool.add_cloud(self.x0 + cloud, max(14, missing // 30), 1e-3 * self.scale)

        # boundary points between its positive and its negative points; in a plane, also those of
        # what turns out to be a cubic
        degrees = () if self.precision.coarse else (2, 3) if s == 2 else (2,)
        X, V = points_of_polynomial(self.oracle, *pool.pairs(missing), self.P, self.width, degrees,
                                    self.points, self.V @ self.P.T, complete)
        self.Z = np.concatenate([self.Z, (X - self.x0) @ self.P])
        self.V = np.concatenate([self.V, V @ self.P])
        self.weights = np.r_[self.weights, np.ones(len(X))]

    def read(self) -> Reading:
        """The quadratic through the points found so far, and its rank."""
        # the null vector of all points, and of all but a few (alg-polynomial-machines-fit)
        Z = self.Z
        A, values = fit_polynomial(Z, 2, self.weights)
        few = np.arange(1, min(6 + len(Z) // 20, len(Z) - comb(Z.shape[1] + 2, 2)))
        again, _ = fit_polynomial(np.delete(Z, few, 0), 2, np.delete(self.weights, few))

        # the rank of [M k] (prop-polynomial-machines-slice): singular values above the noise, in
        # which the two fits differ
        left, singular, noise = relevant_directions(A, again, self.scale)
        rank = max(1, int((singular > SETTINGS.seen_value * noise).sum()))
        clear = bool(singular[rank - 1] > SETTINGS.clear_value * noise[rank - 1])

        # in coordinates t = U^T z, unless other directions bend the boundary too
        U = left[:, :rank]
        lift = block_diag(U, 1)
        inside = lift.T @ A @ lift
        off = np.quantile(distance_to_zeros(inside, Z @ U), 0.99)
        if off > 10 * self.precision.symmetry_tolerance * self.scale:
            inside, U = A, left
        return Reading(inside, U, rank, clear, singular, misfit(Z, 2, self.width, values[1]))

    def extend(self, seen: Reading, roughly: bool = False) -> Array | None:
        """S_Y in R^d from what a slice shows of it.

        Psi - b = q(T^T (x - x0)), where q is the quadratic of the slice and T = P U + W B, with W
        the complement of P. At a boundary point x0 + P z + delta w off the slice, with t = U^T z
        and r the row of B that belongs to w,

            q(t + delta r) = q(t) + 2 delta (M t + k).r + delta^2 r.M r = 0:    (1)

        a linear equation for the entries of r and the number r.M r.

        Parameters
        ----------
        seen : Reading
            Of this slice, with U of shape (s, k), s < d.
        roughly : bool
            By fewer and wider brackets, and without a test.

        Returns
        -------
        T : array (d, k) or None
            Its columns span S_Y, and P^T T = U. None if the boundary is not straight across them,
            also after a correction; or if too few brackets cross it steeply enough.
        """
        M, k, U = seen.A[:-1, :-1], seen.A[:-1, -1], seen.U
        W, X, V = self.frame[:, len(U):], self.points, self.V @ self.P.T

        # points whose brackets do not graze the boundary: a few to test the result with,
        g = self.Z[1:] @ U @ M + k  # half the gradients of q
        g /= np.linalg.norm(g, axis=1, keepdims=True)
        cosines = np.abs((g * (self.V[1:] @ U)).sum(1))
        steep = 1 + np.flatnonzero(cosines > SETTINGS.least_incidence)
        few, steep = np.split(steep, [len(steep) // 10 + 4])

        # and some for (1), with gradients as independent as can be, by QR with column pivoting
        n = len(k) + (SETTINGS.rough_lines if roughly else SETTINGS.spare_lines)
        if len(steep) < n:
            return None
        j = steep[qr(g[steep - 1].T, mode="r", pivoting=True)[1][:n]]
        width = max(self.width, roughly * SETTINGS.rough_width * self.scale)
        T = self.P @ U + W @ self._rows_outside(seen, W, X, V, j, width)
        if roughly:
            return T

        # if the boundary is not straight across T: once more, by long walks
        # (alg-kernel-subspace-sharpen), and P^T T = U again
        basis = np.linalg.qr(T)[0]
        if not self._is_straight(X[few], V[few], basis):
            normals = (self.Z[j] @ U @ M + k) @ T.T
            basis = cylinder.refine(self.oracle, X[j], V[j], normals, basis, self.scale, self.width)
            T = basis @ np.linalg.inv((self.P @ U).T @ basis)
            if not self._is_straight(X[few], V[few], basis):
                return None
        return T

    def _rows_outside(self, seen, W, X, V, j, width):
        """The matrix B of `extend`, by Eq. (1) at boundary points near the points j."""
        # crossings X_j + delta w + h V_j, for every w; nearer, where a line misses the boundary
        delta = SETTINGS.step_off_slice * self.scale * np.resize([1.0, -1.0], (W.shape[1], len(j)))
        h = self._predicted_heights(seen, W, X, V, j, delta, width)
        for _ in range(2):
            w, i = np.nonzero(np.isnan(h))
            step = np.abs(delta[w, i])
            h[w, i] = bisect_along(self.oracle, X[j[i]] + delta[w, i][:, None] * W.T[w], V[j[i]],
                                   0.0, step, width, 30 * step)
            delta[np.isnan(h)] /= 10
        delta, h = delta[..., None], h[..., None]

        # q(t), and half its gradient M t + k there
        M, k, a = seen.A[:-1, :-1], seen.A[:-1, -1], seen.A[-1, -1]
        t = (self.Z[j] + h * self.V[j]) @ seen.U  # (d - s, n, k)
        g = t @ M + k
        q = (t * (g + k)).sum(2) + a

        # (1) for r and r.M r (eq-the-whole-algorithm-row), all rows of length 1; no crossing: 0 = 0
        rows = np.concatenate([2 * delta * g, delta**2 / self.scale], axis=2)
        length = np.linalg.norm(rows, axis=2)
        rows, q = np.nan_to_num(rows / length[..., None]), np.nan_to_num(q / length)
        return -(np.linalg.pinv(rows) @ q[..., None])[:, :-1, 0]

    def _predicted_heights(self, seen, W, X, V, j, delta, width):
        """The heights h of `_rows_outside`, each predicted from those before it along the same w.

        The rows r of B are taken to be as long as those of U: r = Q z / sqrt(s), z ~ N(0, I), with
        Q such that the first height depends on z_1 alone, the second on z_1 and z_2, and so on.
        """
        h, (s, k) = np.full(delta.shape, np.nan), seen.U.shape
        if self.oracle.bounds is not None:
            return h

        # to first order, h / delta = -g.r / g.u, g half the gradient of q and u = U^T v
        M, half, a = seen.A[:-1, :-1], seen.A[:-1, -1], seen.A[-1, -1]
        T, along = self.Z[j] @ seen.U, self.V[j] @ seen.U
        g = T @ M + half
        slopes = -g / (g * along).sum(1, keepdims=True) / np.sqrt(s)
        Q, R = np.linalg.qr(slopes.T)
        z = np.zeros((len(h), k))
        for i in range(len(j)):
            # where q(t + delta r + h u) = 0: the root near 0
            t = T[i] + delta[:, i, None] * (z @ Q.T) / np.sqrt(s)
            gradients = t @ M + half
            a0, a1, a2 = (t * (gradients + half)).sum(1) + a, gradients @ along[i], \
                along[i] @ M @ along[i]
            root = np.sqrt(np.maximum(a1**2 - a2 * a0, 0))
            predicted = -a0 / (a1 + np.copysign(root, a1))

            # the model's, near it: first along a few w, which show how far off the others may be
            alone, given = np.linalg.norm(R[:, i]), abs(R[i, i]) if i < k else 0.0
            error = max(given, SETTINGS.least_open * alone)
            starts = X[j[i]] + delta[:, i, None] * W.T + predicted[:, None] * V[j[i]]
            off, size = np.empty(len(h)), np.abs(delta[:, i])
            for some in np.split(np.arange(len(h)), [SETTINGS.first_rows]):
                off[some] = predicted_crossings(
                    self.oracle, starts[some], np.tile(V[j[i]], (len(some), 1)),
                    np.maximum(error * size[some], 2 * width), width,
                    SETTINGS.farthest_predicted * max(error, alone) * size[some])
                met = off[some] / size[some]
                error = np.sqrt(np.nanmean(met**2)) if np.isfinite(met).any() else error

            # and what that says of z
            h[:, i] = predicted + off
            if i < k:
                z[:, i] = np.nan_to_num(off) / (R[i, i] * delta[:, i])
        points = X[j] + delta[..., None] * W.T[:, None] + h[..., None] * V[j]
        keep_crossings(self.oracle, points.reshape(-1, X.shape[1]), np.tile(V[j], (len(h), 1)),
                       np.full(h.size, width))
        return h

    def _is_straight(self, X, V, basis):
        """Whether the boundary is straight, across S_Y, at these of its points."""
        tolerance = self.precision.grazing_factor * self.precision.symmetry_tolerance * self.scale
        return cylinder.holds(self.oracle, X, V, basis, self.scale, tolerance, self.rng).all()
