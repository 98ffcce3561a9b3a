"""Type B: normals leave S_Y by a multiple of the point, n_j - gamma_j x_j lies in S_Y."""

import numpy as np

from ..types import Array, ArrayLike
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
        Infinite or NaN where a point lies in the subspace.

    Examples
    --------
    >>> multipliers_for(np.array([[2., 3.]]), np.array([[1., 6.]]), np.eye(2)[:, :1])
    array([0.5])
    """
    across = points - points @ basis @ basis.T
    return (across * normals).sum(1) / (across * points).sum(1)


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
        gamma = (XW * N).sum(1) / (XW * X).sum(1)
        eps = max(shrink * eps, smallest)
    return gamma / scale
