"""The kernel subspace S_Y: where the normals live, and how to find it precisely (Type A)."""

import numpy as np
from scipy.linalg import qr

from .bracketing import bisect_along
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


def sharpen(oracle, X, V, normals, basis, baseline, width):
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
        As many points as basis vectors are used, chosen to be well conditioned.
    basis : array (d, m)
        Orthonormal; the approximate S_Y.
    baseline, width : floats
        Length of the walk and of the final bracket, in the units of the points.

    Returns
    -------
    basis : array (d, m), orthonormal
    """
    m = basis.shape[1]
    W = orthonormal_complement(basis)
    if W.shape[1] == 0:
        return basis
    A = basis.T @ normals.T
    best = qr(A, mode="r", pivoting=True)[1][:m]
    x, v, n = X[best], V[best], normals[best]
    heights = bisect_along(
        oracle,
        (x[:, None] + baseline * W.T).reshape(-1, x.shape[1]),
        np.repeat(v, W.shape[1], axis=0),
        guess=0.0,
        step=max(1e-7 * baseline, 4 * width),
        width=width,
        reach=baseline,
    ).reshape(m, -1)
    heights = np.nan_to_num(heights)  # a lost line teaches nothing
    tilt = -(heights / baseline) * (n * v).sum(1)[:, None]  # (m, d - m): rows (B U^T n_j)^T
    B = np.linalg.solve(A[:, best].T, tilt).T
    return np.linalg.qr(basis + W @ B)[0]


def crosses_straight(oracle, X, V, basis, baseline, tolerance, random_state=0):
    """Does the boundary stay straight across the basis? True where it does: bool array (s,).

    From every boundary point x one walk of length `baseline` in a random direction orthogonal
    to the basis; the labels `tolerance` below and above it must still be -1 and +1. Where the
    basis misses a part of S_Y, they are not. Two queries a point.
    """
    rng = np.random.default_rng(random_state)
    W = orthonormal_complement(basis)
    U = rng.standard_normal((len(X), W.shape[1])) @ W.T
    U *= baseline / np.linalg.norm(U, axis=1, keepdims=True)
    return (oracle(X + U + tolerance * V) > 0) & (oracle(X + U - tolerance * V) < 0)
