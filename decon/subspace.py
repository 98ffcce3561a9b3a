"""The kernel subspace S_Y: where the normals live (Type A), or live up to the points (Type B)."""

import numpy as np
from scipy.linalg import qr

from .bracketing import bisect_along, blocks, lies_between, stay_inside
from .normals import orthonormal_complement


def span_of_normals(normals, rank=None):
    """The subspace that a set of normals spans, by singular value decomposition (section 3.3).

    Parameters
    ----------
    normals : array (s, d)
        Unit normals, one a row (the paper's matrix N holds them as columns).
    rank : int, optional
        How many dimensions to keep. Left out, the largest gap in the singular values tells.

    Returns
    -------
    basis : array (d, rank)
        Orthonormal basis of the leading left singular vectors of N.
    values : array (min(s, d),)
        All singular values, descending.

    Raises
    ------
    ValueError
        If a normal is NaN (given up): drop such rows first.

    Examples
    --------
    >>> basis, values = span_of_normals([[1., 0., 0.], [0., 1., 0.], [.6, .8, 0.]])
    >>> basis.shape, values.round(3).tolist()
    ((3, 2), [1.414, 1.0, 0.0])
    """
    normals = np.asarray(normals, float)
    if not np.isfinite(normals).all():
        raise ValueError("some normals are NaN: drop those rows first")
    basis, values, _ = np.linalg.svd(normals.T, full_matrices=False)
    rank = largest_gap(values) if rank is None else rank
    return basis[:, :rank], values


def largest_gap(values, floor=1e-15):
    """The k for which the ratio values[k - 1] / values[k] is largest (values descending).

    Values below `floor` times the largest count as that: they are rounding. There is always a
    largest ratio, also where nothing deserves to be called a gap: look at it.

    Examples
    --------
    >>> largest_gap([3., 2., 1e-6, 5e-7])
    2
    """
    values = np.asarray(values, float)
    values = np.maximum(values, floor * values[0])
    return int(np.argmax(values[:-1] / values[1:])) + 1 if len(values) > 1 else len(values)


def principal_cosines(A, B):
    """Cosines of the principal angles between the column spans of A (d, k) and B (d, l).

    Returns
    -------
    cosines : array (min(k, l),), descending
        All 1 when one span contains the other.

    Examples
    --------
    >>> principal_cosines([[1.], [0.]], [[1.], [1.]]).round(4)
    array([0.7071])
    """
    A, B = (np.linalg.qr(np.asarray(M, float))[0] for M in (A, B))
    return np.clip(np.linalg.svd(A.T @ B, compute_uv=False), 0, 1)


def sharpen(oracle, X, V, normals, basis, baseline, width, W=None, times=1):
    """Correct a basis of S_Y by long baselines: a Type A boundary is straight across S_Y.

    Along a direction w orthogonal to S_Y the boundary never bends, so its height over a long
    walk shows the smallest tilt of w out of the complement. With W the complement of the basis U
    and S_Y spanned by U + W B for a small B, the height h over x_j + baseline w_l obeys
    (B U^T n_j)_l = -(h / baseline) n_j.v_j: linear equations for B. One step is of Newton's
    kind: an error e of the basis becomes one of the order of baseline e^2, plus e times the error
    of the normals, plus width / baseline, all over the smallest singular value of the normals.

    Parameters
    ----------
    oracle : Oracle
    X, V, normals : arrays (s, d)
        Boundary points, the directions they were bracketed along, and their unit normals.
        As many points as basis vectors are used, chosen to be well conditioned; so many `times`
        more against noise.
    basis : array (d, m)
        Orthonormal; the approximate S_Y.
    baseline, width : floats
        Length of the walk and of the final bracket, in the units of the points.
    W : array (d, k), optional
        Orthonormal and orthogonal to the basis: the directions to be corrected. Left out, all.

    Returns
    -------
    basis : array (d, m), orthonormal
    """
    m = basis.shape[1]
    W = orthonormal_complement(basis) if W is None else W
    if W.shape[1] == 0:
        return basis
    A = basis.T @ normals.T
    best = qr(A, mode="r", pivoting=True)[1][:times * m]
    x, v, n = X[best], V[best], normals[best]
    slopes = np.empty((len(best), W.shape[1]))
    for j in blocks(len(best), W.shape[1] * len(W)):
        start = np.repeat(x[j], W.shape[1], axis=0)
        walk = stay_inside(oracle, start, np.tile(baseline * W.T, (len(x[j]), 1)), share=0.5)
        heights = bisect_along(
            oracle,
            start + walk,
            np.repeat(v[j], W.shape[1], axis=0),
            guess=0.0,
            step=max(1e-7 * baseline, 4 * width),
            width=width,
            reach=baseline,
        )
        length = np.linalg.norm(walk, axis=1)
        slopes[j] = np.nan_to_num(heights / length).reshape(-1, W.shape[1])  # lost: no slope
    tilt = -slopes * (n * v).sum(1)[:, None]  # (m, d - m): rows (B U^T n_j)^T
    B = least_squares(A[:, best].T, tilt).T
    return np.linalg.qr(basis + W @ B)[0]


def least_squares(A, B):
    """The X that makes A X closest to B, for A (n, m) with n at least m."""
    square = A.shape[0] == A.shape[1]
    return np.linalg.solve(A, B) if square else np.linalg.lstsq(A, B, rcond=None)[0]


def crosses_straight(oracle, X, V, basis, baseline, tolerance, random_state=0, W=None):
    """Does the boundary stay straight across the basis? True where it does: bool array (s,).

    From every boundary point x one walk of length `baseline` in a random direction orthogonal
    to the basis; the labels `tolerance` below and above it must still be -1 and +1. Where the
    basis misses a part of S_Y, they are not. Two queries a point. With a basis W of some
    directions orthogonal to the basis, only these are looked along.
    """
    rng = np.random.default_rng(random_state)
    W = orthonormal_complement(basis) if W is None else W
    U = rng.standard_normal((len(X), W.shape[1])) @ W.T
    U *= baseline / np.linalg.norm(U, axis=1, keepdims=True)
    U = stay_inside(oracle, X, U, share=0.5)
    return lies_between(oracle, X + U, tolerance * V)


# -- Type B: normals leave S_Y by a multiple of the point, n_j - gamma_j x_j lies in S_Y ---------


def corrected_span(normals, points, gamma, rank=None):
    """The span of n_j - gamma_j x_j, for a Type B kernel S_Y (Eqs. 11 and 12).

    Parameters
    ----------
    normals, points : arrays (s, d)
    gamma : array (s,)
        As `nuclear_norm`, `alternate` or `log_det` find them.
    rank : int, optional
        How many dimensions to keep. Left out, the largest gap tells; the last three dimensions
        do not count, as some gamma makes almost any set of normals look d - 1 dimensional.

    Returns
    -------
    basis : array (d, rank), orthonormal
    values : array (min(s, d),)
        Singular values, descending.

    Examples
    --------
    >>> points = np.array([[1., 0., 2.], [0., 1., 1.], [1., 1., 0.]])
    >>> normals = np.array([[1., 2., 0.], [3., 1., 0.], [1., 1., 0.]]) + [[.5], [.2], [.1]] * points
    >>> basis, values = corrected_span(normals, points, [.5, .2, .1], rank=2)
    >>> abs(basis[2]).round(9)
    array([0., 0.])
    """
    A = np.asarray(normals) - np.asarray(gamma)[:, None] * points
    basis, values, _ = np.linalg.svd(A.T, full_matrices=False)
    if rank is None:
        rank = largest_gap(values[: max(2, min(len(A) - 3, A.shape[1] - 2))])
    return basis[:, :rank], values


def nuclear_norm(normals, points):
    """The gamma that make the nuclear norm of N - X Gamma smallest: the paper's way (Eq. 13).

    The nuclear norm, the sum of the singular values, is the convex stand-in for the rank; cvxpy
    minimises it by SCS.

    Parameters
    ----------
    normals, points : arrays (s, d)
        Unit normals at boundary points of a Type B machine; the more than the rank, the better.

    Returns
    -------
    gamma : array (s,)
    """
    import cvxpy as cp  # slow to import, and needed here alone

    gamma = cp.Variable(len(normals))
    corrected = normals - cp.multiply(gamma[:, None], points)
    cp.Problem(cp.Minimize(cp.normNuc(corrected))).solve(solver=cp.SCS, eps=1e-5, max_iters=20_000)
    return gamma.value


def alternate(normals, points, gamma, rank, steps=100):
    """Refine gamma for a known rank: fit the subspace to the vectors, then the vectors to it.

    U spans the leading singular vectors of N - X Gamma; with P the projector on the complement of
    U, gamma_j = (P n_j).(P x_j) / |P x_j|^2 brings n_j - gamma_j x_j as close to U as it can come.

    Returns
    -------
    gamma : array (s,)
    """
    for _ in range(steps):
        gamma = gamma_for(normals, points, corrected_span(normals, points, gamma, rank)[0])
    return gamma


def gamma_for(normals, points, basis):
    """The gamma_j that bring n_j - gamma_j x_j closest to the span of an orthonormal basis.

    Examples
    --------
    >>> gamma_for(np.array([[2., 3.]]), np.array([[1., 6.]]), np.eye(2)[:, :1])
    array([0.5])
    """
    across = points - points @ basis @ basis.T
    return (across * normals).sum(1) / (across * points).sum(1)


def log_det(normals, points, steps=400, shrink=0.95):
    """The gamma that make log det(A^T A + eps^2 I) small, A = N - X Gamma, as eps shrinks.

    The logarithm of a singular value rewards the small ones for vanishing, as the nuclear norm
    does not: the rank shows as a gap, and from fewer normals. Every step solves a weighted least
    squares problem, W = (A^T A + eps^2 I)^-1 [Fazel, Hindi and Boyd 2003; Mohan and Fazel 2012].

    Parameters
    ----------
    normals, points : arrays (s, d)
        About 2 rank and more of them.
    steps : int
    shrink : float in (0, 1)
        eps begins at |N| and is multiplied by this in every step.

    Returns
    -------
    gamma : array (s,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> S, X, gamma = rng.standard_normal((2, 8)), rng.standard_normal((20, 8)), rng.random(20)
    >>> N = rng.standard_normal((20, 2)) @ S + gamma[:, None] * X
    >>> bool(abs(log_det(N, X) - gamma).max() < 1e-6)
    True
    """
    normals, points = np.asarray(normals, float), np.asarray(points, float)
    scale = np.sqrt(np.mean((points**2).sum(1)))
    rows = np.concatenate([normals, points / scale])
    if len(rows) < rows.shape[1]:  # what is orthogonal to all of them plays no part
        rows = rows @ np.linalg.qr(rows.T)[0]
    normals, X = np.split(rows, 2)
    gamma, eps = np.zeros(len(X)), np.linalg.norm(normals, 2)
    smallest = 1e-6 * eps
    for _ in range(steps):
        A = normals - gamma[:, None] * X
        W = np.linalg.inv(A.T @ A + eps**2 * np.eye(A.shape[1]))
        XW = X @ W
        gamma = (XW * normals).sum(1) / (XW * X).sum(1)
        eps = max(shrink * eps, smallest)
    return gamma / scale
