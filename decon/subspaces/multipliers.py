"""Type B: normals leave S_Y by a multiple of the point, n_j - gamma_j x_j lies in S_Y."""

import numpy as np

from ..numerics.least_squares import levenberg_marquardt
from ..types import Array, ArrayLike
from .settings import SETTINGS
from .spans import span_of_corrected_normals


def multipliers_for(normals: Array, points: Array, basis: Array) -> Array:
    """The gamma_j that bring n_j - gamma_j x_j closest to a subspace.

    With P the projection on the complement of the subspace, gamma_j = (P n_j).(P x_j) / |P x_j|^2.

    Parameters
    ----------
    normals, points : arrays (s, d)
    basis : array (d, m)
        Orthonormal.

    Returns
    -------
    gamma : array (s,)
        0 where a point lies in the subspace: there every number serves as well.

    Examples
    --------
    >>> multipliers_for(np.array([[2., 3.]]), np.array([[1., 6.]]), np.eye(2)[:, :1])
    array([0.5])
    """
    across = points - points @ basis @ basis.T
    return _ratio((across * normals).sum(1), (across * points).sum(1))


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Their quotients; 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def refine_multipliers(normals: Array, points: Array, gamma: ArrayLike, rank: int,
                       steps: int = 100) -> Array:
    """Alternating projections for a known rank: subspace from vectors, then vectors from subspace.

    The subspace is that of the leading singular vectors of the n_j - gamma_j x_j; then
    `multipliers_for` brings these vectors as close to it as they can come.

    Parameters
    ----------
    normals, points : arrays (s, d)
    gamma : array (s,)
        Where to start.
    rank : int
        The dimension of S_Y.
    steps : int

    Returns
    -------
    gamma : array (s,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> S, X, gamma = rng.standard_normal((2, 8)), rng.standard_normal((20, 8)), rng.random(20)
    >>> N = rng.standard_normal((20, 2)) @ S + gamma[:, None] * X
    >>> bool(abs(refine_multipliers(N, X, gamma + .1, rank=2) - gamma).max() < 1e-6)
    True
    """
    for _ in range(steps):
        basis = span_of_corrected_normals(normals, points, gamma, rank)[0]
        gamma = multipliers_for(normals, points, basis)
    return np.asarray(gamma)


def log_det_multipliers(normals: ArrayLike, points: ArrayLike, steps: int = 400,
                        shrink: float = 0.95) -> Array:
    """The gamma that make log det(A^T A + eps^2 I) small, A = N - diag(gamma) X, as eps shrinks.

    Unlike the nuclear norm, the logarithm rewards small singular values most for getting smaller:
    the rank shows as a clear gap, and from fewer normals. Every step solves a weighted least
    squares problem, W = (A^T A + eps^2 I)^-1 [Fazel, Hindi and Boyd 2003; Mohan and Fazel 2012].

    Parameters
    ----------
    normals, points : arrays (s, d)
        s should be at least about twice the rank.
    steps : int
    shrink : float in (0, 1)
        eps begins at the spectral norm of N and is multiplied by this in every step, until it is
        1e-6 of that.

    Returns
    -------
    gamma : array (s,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> S, X, gamma = rng.standard_normal((2, 8)), rng.standard_normal((20, 8)), rng.random(20)
    >>> N = rng.standard_normal((20, 2)) @ S + gamma[:, None] * X
    >>> bool(abs(log_det_multipliers(N, X) - gamma).max() < 1e-6)
    True
    """
    # points in units of their size; directions orthogonal to all rows play no part
    X = np.asarray(points, float)
    scale = np.sqrt(np.mean((X**2).sum(1)))
    rows = np.concatenate([normals, X / scale])
    if len(rows) < rows.shape[1]:
        rows = rows @ np.linalg.qr(rows.T)[0]
    N, X = np.split(rows, 2)

    # each gamma_j minimises (n_j - gamma_j x_j)^T W (n_j - gamma_j x_j) (eq-gaussian-subspace-mm)
    gamma, eps = np.zeros(len(X)), np.linalg.norm(N, 2)
    smallest = 1e-6 * eps
    for _ in range(steps):
        A = N - gamma[:, None] * X
        XW = X @ np.linalg.inv(A.T @ A + eps**2 * np.eye(A.shape[1]))
        gamma = _ratio((XW * N).sum(1), (XW * X).sum(1))
        eps = max(shrink * eps, smallest)
    return gamma / scale


def fit_multipliers(normals: Array, points: Array, gamma: Array,
                    rank: int) -> tuple[Array, Array, float]:
    """The gamma for which the n_j - gamma_j x_j are closest to a subspace of a known rank.

    The sum of squares of all but the `rank` largest singular values of A = N - diag(gamma) X is a
    function of gamma alone (eq-gaussian-subspace-varpro): the subspace is eliminated, as variable
    projection does [Golub and Pereyra 1973], and the Levenberg-Marquardt method finds its
    minimum. It gets there in fewer steps than alternating projections, and with hardly more
    equations than unknowns. (Rows here are columns in the book: `left` is its V, `basis` its U.)

    Parameters
    ----------
    normals, points : arrays (s, d)
        Unit normals, and points in units of their size.
    gamma : array (s,)
        Where to start.
    rank : int

    Returns
    -------
    gamma : array (s,)
    basis : array (d, rank)
        Orthonormal.
    misfit : float
        Square root of the sum of squared distances of the n_j - gamma_j x_j from it per degree of
        freedom: an estimate of the standard error of an entry of the normals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> S, X, gamma = rng.standard_normal((2, 8)), rng.standard_normal((6, 8)), rng.random(6)
    >>> N = rng.standard_normal((6, 2)) @ S + gamma[:, None] * X
    >>> found, basis, misfit = fit_multipliers(N, X, gamma + .1, rank=2)
    >>> bool(abs(found - gamma).max() < 1e-6), misfit < 1e-6
    (True, True)
    """
    s, d = normals.shape

    def leading(gamma):
        A = normals - gamma[:, None] * points
        left, values, right = np.linalg.svd(A, full_matrices=False)
        return A, left[:, :rank], values[:rank], right[:rank].T

    def residual(gamma):
        A, left, values, basis = leading(gamma)
        return (A - left * values @ basis.T).ravel()

    def linearised(gamma, r):
        # normal equations of eq-gaussian-subspace-kaufman
        _, left, _, basis = leading(gamma)
        across = points - points @ basis @ basis.T
        beside = np.eye(s) - left @ left.T
        normal = beside * (across @ across.T)
        rhs = ((beside @ r.reshape(s, d)) * across).sum(1)

        def stepped(damping):
            damped = normal + damping * np.diag(np.diag(normal))
            try:
                return gamma + np.linalg.lstsq(damped, rhs, rcond=1e-14)[0]
            except np.linalg.LinAlgError:  # its SVD does not converge: no step
                return gamma

        return stepped

    gamma = levenberg_marquardt(residual, linearised, gamma, SETTINGS.multiplier_steps,
                                1e-3, 1e-9, SETTINGS.least_multiplier_gain, patience=3)
    misfit, freedom = np.linalg.norm(residual(gamma)), (s - rank) * (d - rank) - s
    return gamma, leading(gamma)[3], float(misfit / np.sqrt(max(freedom, 1)))


def weakest_angle_error(normals: Array, points: Array, basis: Array, misfit: float) -> float:
    """How far off the direction of a fitted subspace may be that the normals show most weakly.

    To first order (eq-gaussian-subspace-weakest), from the covariance of the gamma: an error of
    n_j - gamma_j x_j, of its own and through gamma_j, counts by the share that row j has in the
    weakest singular vector, over its singular value.

    Parameters
    ----------
    normals, points : arrays (s, d)
    basis : array (d, rank)
        As `fit_multipliers` finds it.
    misfit : float
        Standard error of the entries of the normals.

    Returns
    -------
    error : float
        Standard error in radians, root mean square over the directions of the complement.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> S, X, gamma = np.eye(8)[:2], rng.standard_normal((9, 8)), rng.random(9)
    >>> N = rng.standard_normal((9, 2)) @ S + gamma[:, None] * X
    >>> weakest_angle_error(N, X, S.T, 1e-6) < 1e-5
    True
    """
    gamma = multipliers_for(normals, points, basis)
    left, values, _ = np.linalg.svd(normals - gamma[:, None] * points, full_matrices=False)
    left, last = left[:, :basis.shape[1]], basis.shape[1] - 1
    across = points - points @ basis @ basis.T
    products, share = across @ across.T, left[:, last]
    covariance = np.linalg.pinv((np.eye(len(left)) - left @ left.T) * products, rcond=1e-14)
    through_gamma = share @ (products * covariance) @ share
    return float(misfit * np.sqrt(len(basis) - last - 1 + through_gamma) / values[last])


def most_fitted_rank(s: int, d: int) -> int:
    """The largest rank to which s arbitrary normals cannot be brought (a count of equations).

    See eq-gaussian-subspace-count.

    Parameters
    ----------
    s, d : ints
        The number of normals, and the dimension.

    Returns
    -------
    rank : int
        0 if there is none.

    Examples
    --------
    >>> most_fitted_rank(s=16, d=30)
    14
    """
    ranks = np.arange(d - 1)
    return int(ranks[ranks * (d - ranks) < s * (d - ranks - 1)].max(initial=0))


def least_rank(normals: Array, points: Array, misfit: float,
               gap: float) -> tuple[Array, float] | None:
    """The smallest subspace that holds all n_j - gamma_j x_j, for some gamma, up to a misfit.

    Ranks are tried downwards from the largest that arbitrary normals cannot be brought to
    (alg-gaussian-subspace-least). A fit of too large a rank holds S_Y and, besides, directions of
    single vectors with a wrong gamma: these have a high leverage, as nothing else lies in their
    direction. Left out, the others show a subspace of one dimension less, from which the next fit
    starts.

    Parameters
    ----------
    normals, points : arrays (s, d)
    misfit : float
        As `fit_multipliers` measures it; with a larger one, a rank does not fit.
    gap : float
        Nor does it if the misfit is so many times that of the rank above, and not negligible; of
        few normals beside the dimension, the least misfit of all larger ranks.

    Returns
    -------
    basis : array (d, rank), orthonormal
    misfit : float
        Of its fit. A single None is returned if no rank fits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> S, X, gamma = rng.standard_normal((2, 8)), rng.standard_normal((6, 8)), rng.random(6)
    >>> N = rng.standard_normal((6, 2)) @ S + gamma[:, None] * X
    >>> least_rank(N, X, misfit=1e-6, gap=4.0)[0].shape
    (8, 2)
    """
    N, X = normals, points / np.sqrt(np.mean((points**2).sum(1)))
    found, allowed, floor = None, misfit, np.inf
    rank, starts = most_fitted_rank(*N.shape), [log_det_multipliers(N, X)]
    while rank:
        # the first start from which a fit of this rank is good enough
        fits = (fit_multipliers(N, X, start, rank) for start in starts)
        fit = next((fit for fit in fits if fit[2] < allowed), None)
        if fit is None:
            return found
        gamma, basis, off = fit
        # singular values that fall evenly would wear a ratio of neighbours away; but where normals
        # are many, the largest ranks fit their errors as well
        floor = min(floor, off) if len(N) <= SETTINGS.few_normals * N.shape[1] else off
        found, allowed = (basis, off), np.clip(gap * floor, SETTINGS.least_misfit * misfit, misfit)

        # one dimension less: without the weakest direction, or without a vector of high leverage
        A, rank = N - gamma[:, None] * X, rank - 1
        leverage = np.linalg.norm(np.linalg.svd(A, full_matrices=False)[0][:, :rank + 1], axis=1)
        without = [np.delete(A, j, axis=0) for j in np.argsort(-leverage)[:SETTINGS.left_out]]
        starts = [multipliers_for(N, X, np.linalg.svd(a, full_matrices=False)[2][:rank].T)
                  for a in [A, *without]]
    return found
