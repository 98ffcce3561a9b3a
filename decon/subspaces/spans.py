"""Subspaces: the span of normals, the gap in their singular values, angles, and how to tilt one."""

import numpy as np
from scipy.linalg import subspace_angles

from ..types import Array, ArrayLike


def span_of_normals(normals: ArrayLike, rank: int | None = None) -> tuple[Array, Array]:
    """The subspace that a set of normals spans, by singular value decomposition (section 3.3).

    Parameters
    ----------
    normals : array (s, d)
        Unit normals, one per row (the paper's matrix N holds them as columns).
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
        If a normal is NaN (rejected): drop such rows first.

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


def span_of_corrected_normals(normals: ArrayLike, points: ArrayLike, gamma: ArrayLike,
                              rank: int | None = None) -> tuple[Array, Array]:
    """The span of n_j - gamma_j x_j; for a radial kernel (Type B) it is S_Y (Eqs. 11 and 12).

    Parameters
    ----------
    normals, points : arrays (s, d)
        Unit normals at boundary points.
    gamma : array (s,)
        The multipliers, as `log_det_multipliers` or `decon.paper.nuclear_norm` find them.
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
    >>> basis, values = span_of_corrected_normals(normals, points, [.5, .2, .1], rank=2)
    >>> abs(basis[2]).round(9)
    array([0., 0.])
    """
    A = np.asarray(normals) - np.asarray(gamma)[:, None] * points
    basis, values, _ = np.linalg.svd(A.T, full_matrices=False)
    if rank is None:
        rank = largest_gap(values[:max(2, min(len(A) - 3, A.shape[1] - 2))])
    return basis[:, :rank], values


def largest_gap(values: ArrayLike, floor: float = 1e-15) -> int:
    """The k for which the ratio values[k - 1] / values[k] is largest.

    Some ratio is always the largest, even where there is no real gap: check how large it is.

    Parameters
    ----------
    values : array (n,)
        Positive, descending.
    floor : float
        Values below this fraction of the first are raised to it: they are rounding errors.

    Returns
    -------
    k : int

    Examples
    --------
    >>> largest_gap([3., 2., 1e-6, 5e-7])
    2
    """
    seen = np.asarray(values, float)
    seen = np.maximum(seen, floor * seen[0])
    return int(np.argmax(seen[:-1] / seen[1:])) + 1 if len(seen) > 1 else len(seen)


def largest_sine(A: ArrayLike, B: ArrayLike) -> float:
    """The sine of the largest principal angle between two column spans: how far apart are they?

    Between subspaces of different dimensions there are as many angles as the smaller one has
    dimensions: the sine is 0 where the larger one contains it, so compare the dimensions too.

    Parameters
    ----------
    A, B : arrays (d, k) and (d, l)
        Their columns need be neither orthonormal nor independent.

    Returns
    -------
    sine : float in [0, 1]
        Accurate also where it is small [Knyazev and Argentati 2002], unlike arccos of a cosine.

    Examples
    --------
    >>> round(largest_sine([[1.], [0.]], [[1.], [1.]]), 4)
    0.7071
    >>> round(largest_sine([[1.], [0.]], [[1.], [1e-12]]), 20)
    1e-12
    """
    return float(np.sin(subspace_angles(A, B)[0]))


def tilt(basis: Array, W: Array, A: Array, G: Array) -> Array:
    """The span of U + W B, where B solves A B^T = G: a subspace U, corrected by a small tilt.

    Parameters
    ----------
    basis : array (d, m)
        U, orthonormal.
    W : array (d, k)
        Orthonormal, orthogonal to U: the directions into which U may tilt.
    A, G : arrays (n, m) and (n, k)
        The linear equations for B (k, m); solved by least squares where n is larger than m.

    Returns
    -------
    basis : array (d, m), orthonormal

    Examples
    --------
    >>> tilted = tilt(np.eye(2)[:, :1], np.eye(2)[:, 1:], np.array([[2.]]), np.array([[1.]]))
    >>> (tilted / tilted[0]).ravel()
    array([1. , 0.5])
    """
    square = A.shape[0] == A.shape[1]
    B = np.linalg.solve(A, G).T if square else np.linalg.lstsq(A, G, rcond=None)[0].T
    return np.linalg.qr(basis + W @ B)[0]
