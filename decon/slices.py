"""A quadratic box in slices of growing dimension: the cheapest way to S_Y and to its boundary."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from .bracketing import bisect_along, boundary_points, stay_inside
from .polynomial import distance_to_zeros, fit_polynomial, misfit, relevant_directions
from .pool import Pool
from .precision import DOUBLE
from .subspace import crosses_straight, sharpen

ASIDE = 0.03  # how far off a slice points are bracketed to see what is outside it (of the reach)


@dataclass
class Reading:
    """What a slice shows: a quadratic, and the directions along which it changes.

    Attributes
    ----------
    A : array (k + 1, k + 1)
        The quadratic (t, 1)^T A (t, 1) in the coordinates t = U^T z.
    U : array (s, k)
        Orthonormal; the first `rank` columns span P^T S_Y.
    rank : int
        Directions that stand out from the noise; k is larger where others matter too.
    clear : bool
        Does the weakest of them stand out by far?
    singular_values : array (s,)
        Those of [M k].
    residual : float
        Of the fit, in units of what the brackets' width explains: above 1, no quadratic.
    distance : float
        Median distance of fresh points from the quadratic.
    """

    A: np.ndarray
    U: np.ndarray
    rank: int
    clear: bool
    singular_values: np.ndarray
    residual: float
    distance: float


class Slice:
    """The boundary inside the slice x0 + span(P), whose dimension s grows from 2 to d.

    In a slice, x = x0 + P z, the boundary of a quadratic machine is a quadratic in s variables:
    few coefficients, few questions. Its [M k] has the rank of P^T (y_1 ... y_m), so that the
    first slice with more dimensions than rank shows m; and its points serve all later slices.

    Parameters
    ----------
    oracle : Oracle
    x0, p, q : arrays (d,)
        A boundary point, and a positive and a negative point on a line with it: all slices
        hold this line, hence points of both labels.
    reach : float
        Slices are looked at as far as about 3 times this from x0.
    anchor : float
        The weight of x0 in the fits.
    rng : numpy.random.Generator
    frame : array (d, k), optional
        Orthonormal columns that span the largest slice; left out, all of R^d, at random.
    precision : Precision
    """

    def __init__(self, oracle, x0, p, q, reach, anchor, rng, frame=None,
                 precision=DOUBLE):
        self.precision = precision
        self.width = self.precision.width * reach
        self.oracle, self.reach, self.anchor, self.rng = oracle, reach, anchor, rng
        self.x0, self.ends, d = x0, np.array([p, q]), len(x0)
        if frame is None:
            frame = np.linalg.qr(np.c_[p - q, rng.standard_normal((d, d - 1))])[0]
        self.frame = frame
        self.Z, self.V = np.zeros((1, 1)), np.zeros((1, 1))  # x0 is the first point

    @property
    def P(self):
        """Orthonormal basis (d, s) of the slice."""
        return self.frame[:, :self.Z.shape[1]]

    @property
    def points(self):
        """The boundary points found so far, array (n, d)."""
        return self.x0 + self.Z @ self.P.T

    @property
    def weights(self):
        """The weights of the points in a fit."""
        return np.r_[self.anchor, np.ones(len(self.Z) - 1)]

    def grow(self, s, n, radius):
        """Look at a slice of dimension s: bracket there until there are n boundary points."""
        new = s - self.Z.shape[1]
        self.Z, self.V = (np.pad(a, ((0, 0), (0, new))) for a in (self.Z, self.V))
        pool = Pool(self.oracle, self.ends, np.array([1, -1]), self.rng)
        missing = self.precision.times * n - len(self.Z)
        size = max(40, missing // 4)
        cloud = self.rng.standard_normal((size, s)) / np.sqrt(s)
        cloud *= np.resize([1.0, 3.0], size)[:, None] * radius * self.reach
        cloud = stay_inside(self.oracle, self.x0, cloud @ self.P.T)
        pool.add_cloud(self.x0 + cloud, max(20, missing // 30), 1e-3 * self.reach)
        X, V = boundary_points(self.oracle, *pool.pairs(missing), self.width)
        self.Z = np.concatenate([self.Z, (X - self.x0) @ self.P])
        self.V = np.concatenate([self.V, V @ self.P])

    def read(self):
        """What the points found so far tell: the quadratic through them, and its rank."""
        n, s = self.Z.shape
        weights = self.weights
        held_out = np.arange(1, 6 + n // 20)
        kept = np.delete(np.arange(n), held_out)
        A, values = fit_polynomial(self.Z, 2, weights)
        again, _ = fit_polynomial(self.Z[kept], 2, weights[kept])
        residual = misfit(self.Z, 2, self.width, values[1])
        distance = np.median(distance_to_zeros(again, self.Z[held_out]))
        left, singular, noise = relevant_directions(A, again, self.reach)
        rank = max(1, int((singular > 30 * noise).sum()))
        U = left[:, :rank]
        lift = np.zeros((s + 1, rank + 1))
        lift[:s, :rank], lift[s, rank] = U, 1
        trimmed = lift.T @ A @ lift  # directions along which it does not change are not in S_Y,
        off = distance_to_zeros(trimmed, self.Z @ U)
        if np.quantile(off, 0.99) > 10 * self.precision.miss * self.reach:  # unless they bend it
            trimmed, U = A, left
        clear = singular[rank - 1] > 1000 * noise[rank - 1]
        return Reading(trimmed, U, rank, clear, singular, residual, distance)

    def extend(self, seen):
        """S_Y from a slice: array T (d, m) whose columns span it, with P^T T = U; or None.

        Psi - b = q(T^T (x - x0)), where q is the quadratic of the slice, and T = P U + W B, with W
        the complement of P. At a boundary point x0 + P z + delta w off the slice, with t = U^T z
        and r the row of B that belongs to w,

            q(t + delta r) = q(t) + 2 delta (M t + k).r + delta^2 r.M r = 0,

        a linear equation for the m entries of r and the number r.M r. m + 3 points a direction w
        are bracketed, near points of the slice; where the boundary is not straight across the
        result, it is sharpened once. None if it is not straight then.
        """
        A, U, R = seen.A, seen.U, self.reach
        W, m = self.frame[:, U.shape[0]:], U.shape[1]
        X, V = self.points, self.V @ self.P.T

        g = self.Z[1:] @ U @ A[:-1, :-1] + A[:-1, -1]  # half the gradient of q
        g /= np.linalg.norm(g, axis=1, keepdims=True)
        steep = 1 + np.flatnonzero(np.abs((g * (self.V[1:] @ U)).sum(1)) > 0.1)
        fresh, steep = np.split(steep, [len(steep) // 10 + 4])
        if len(steep) < m + 3:
            return None
        j = steep[qr(g[steep - 1].T, mode="r", pivoting=True)[1][:m + 3]]

        delta = ASIDE * R * np.resize([1.0, -1.0], (W.shape[1], len(j)))
        h = np.full(delta.shape, np.nan)
        for _ in range(2):
            lost = np.isnan(h)
            w, i = np.nonzero(lost)
            h[lost] = bisect_along(self.oracle, X[j[i]] + delta[lost][:, None] * W.T[w], V[j[i]],
                                   0.0, abs(delta[lost]), self.width, 30 * abs(delta[lost]))
            delta[np.isnan(h)] /= 10  # a line that misses the boundary: try nearer
        delta, h = delta[..., None], h[..., None]

        t = (self.Z[j] + h * self.V[j]) @ U  # (d - s, m + 3, m)
        g = t @ A[:-1, :-1] + A[:-1, -1]
        q = (t * (g + A[:-1, -1])).sum(2) + A[-1, -1]
        rows = np.concatenate([2 * delta * g, delta**2 / R], axis=2)
        length = np.linalg.norm(rows, axis=2)
        lost = np.isnan(length)
        rows = np.where(lost[..., None], 0, rows / length[..., None])
        q = np.where(lost, 0, q / length)
        B = -(np.linalg.pinv(rows) @ q[..., None])[:, :-1, 0]

        T = self.P @ U + W @ B
        basis = np.linalg.qr(T)[0]
        for sharpened in (False, True):
            if crosses_straight(self.oracle, X[fresh], V[fresh], basis, R,
                                self.precision.graze * self.precision.miss * R, self.rng).all():
                return T
            if not sharpened:
                normals = (self.Z[j] @ U @ A[:-1, :-1] + A[:-1, -1]) @ T.T
                basis = sharpen(self.oracle, X[j], V[j], normals, basis, R, self.width)
                T = basis @ np.linalg.inv((self.P @ U).T @ basis)
        return None
