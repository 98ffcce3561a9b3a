"""Boundary points that a polynomial through the first of them predicts."""

from math import comb

import numpy as np

from ..boundary.bracketing import bisect, boundary_points, keep_crossings
from ..boundary.informed import predicted_crossings
from ..types import Array, LabelOracle
from .polynomial import evaluate, fit_polynomial, misfit, monomials
from .settings import SETTINGS


def points_of_polynomial(oracle: LabelOracle, P: Array, N: Array, basis: Array, width: float,
                         degrees: tuple[int, ...], X: Array, V: Array,
                         complete: bool = True) -> tuple[Array, Array]:
    """Boundary points, one on every segment between the rows of P and of N.

    As many are bracketed as it takes to determine a polynomial of the first degree. The others are
    sought where it predicts them, a few at first, which costs little if it is right; if it is not,
    the next degree is tried in the same way. Where none is right, those that are left are bracketed
    as well, if points are to be `complete`.

    Parameters
    ----------
    oracle : LabelOracle
    P, N : arrays (n, d)
        PN-pairs, as for `boundary_points`, in one affine subspace with the points X.
    basis : array (d, s)
        Orthonormal: the directions of this subspace.
    width : float
        Of the brackets, in the units of the points.
    degrees : tuple of int
        Ascending; none, and all points are bracketed.
    X, V : arrays (k, d)
        Points of the boundary that are known already, and the unit directions of their brackets
        (0 where there was none).
    complete : bool
        Whether points are wanted on all segments, also where no such polynomial has them.

    Returns
    -------
    X, V : arrays (n, d), or fewer rows
        Middles of the brackets, and unit directions, from - to +.

    Examples
    --------
    >>> from decon import Oracle
    >>> circle, rng = Oracle(lambda X: (X**2).sum(1) < 1, dimension=2), np.random.default_rng(0)
    >>> angles, none = rng.uniform(0, 6, 40), np.empty((0, 2))
    >>> far = 2 * np.c_[np.cos(angles), np.sin(angles)]
    >>> X, _ = points_of_polynomial(circle, 0 * far, far, np.eye(2), 1e-12, (2,), none, none)
    >>> bool(np.allclose((X**2).sum(1), 1)), circle.queries < 40 * 41 / 2
    (True, True)
    """
    known, n, right = len(X), len(P), True
    for D in degrees if oracle.bounds is None else ():
        # as many as the polynomial has coefficients, less its factor
        size = comb(basis.shape[1] + D, D)
        if size > SETTINGS.most_predicted:
            break
        missing = slice(done := len(X) - known, max(done, min(n, size - 1 - known)))
        X, V = _appended(X, V, *boundary_points(oracle, P[missing], N[missing], width))

        # the others in batches that grow, as more points determine it better
        batch, right = SETTINGS.first_predicted, True
        while right and (done := len(X) - known) < n:
            j = slice(done, done + batch)
            with np.errstate(all="ignore"):
                x, v = _where_predicted(oracle, P[j], N[j], basis, width, D, X, V)
            rest = np.isnan(x[:, 0])
            x[rest], v[rest] = boundary_points(oracle, P[j][rest], N[j][rest], width)
            X, V = _appended(X, V, x, v)
            batch *= 2
            right = misfit((X - X[-1]) @ basis, D, width) < SETTINGS.largest_misfit

    # all that are left
    rest = slice(len(X) - known, n if complete or right else 0)
    X, V = _appended(X, V, *boundary_points(oracle, P[rest], N[rest], width))
    return X[known:], V[known:]


def _appended(X, V, x, v):
    """Both with more rows."""
    return np.concatenate([X, x]), np.concatenate([V, v])


def _where_predicted(oracle, P, N, basis, width, degree, X, V):
    """Points on segments where they are predicted, NaN where none was; the segments' directions."""
    # the polynomial through the known points, and its slopes along their brackets: of one sign, if
    # it is the right one and determined
    origin, W = X[-1], V @ basis
    Z, P, N = ((A - origin) @ basis for A in (X, P, N))
    T, _ = fit_polynomial(Z, degree)
    slopes = (evaluate(T, Z)[1] * W).sum(1)
    steep = slopes != 0  # not where a point is known without a bracket
    sign = np.sign(np.sign(slopes).sum()) or 1.0

    # its crossings with the segments, where it has different signs at their ends
    length = np.linalg.norm(P - N, axis=1)
    U = (P - N) / length[:, None]
    values = [sign * evaluate(T, ends)[0] for ends in (P, N)]
    found = (values[0] > 0) & (values[1] < 0) & (sign * slopes[steep] > 0).all()
    ends = bisect(lambda z: sign * evaluate(T, z)[0], P[found], N[found], width / 4)
    at = np.zeros_like(P)
    at[found] = sum(ends) / 2

    # how far off: a point x moves by phi(x).dc / slope when the coefficients change by dc, and
    # those of known points by no more than their brackets
    scale = np.sqrt(np.mean(Z**2)) or 1.0
    known, new = (monomials(np.c_[A / scale, np.ones(len(A))], degree) for A in (Z, at))
    _, values, right = np.linalg.svd(known[steep] / slopes[steep, None], full_matrices=False)
    determined = known.shape[1] - 1  # all but a factor
    spread = right[:determined].T / values[:determined]
    errors = np.linalg.norm(new @ spread, axis=1) * width
    errors /= np.abs((evaluate(T, at)[1] * U).sum(1))

    # the model's, there
    k = np.flatnonzero(found & (errors < SETTINGS.vague * length))
    errors = np.maximum(errors, 2 * width)
    x, v, t = origin + at @ basis.T, U @ basis.T, np.full(len(at), np.nan)
    t[k] = predicted_crossings(oracle, x[k], v[k], errors[k], width,
                               SETTINGS.farthest_predicted * errors[k])
    x += t[:, None] * v
    met = np.isfinite(t)
    keep_crossings(oracle, x[met], v[met], np.full(met.sum(), width))
    return x, v
