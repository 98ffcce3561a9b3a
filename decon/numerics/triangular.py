"""Triangular systems: with a diagonal below, and singular ones, to which a wrong model leads."""

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dtpqrt

BLOCK = 32  # columns that LAPACK takes together


def solve_upper(R: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of R x = right; of least norm among the best ones where R is singular.

    Parameters
    ----------
    R : array (n, n)
        Upper triangular.
    right : array (n,) or (n, k)

    Returns
    -------
    x : array (n,) or (n, k)

    Examples
    --------
    >>> solve_upper(np.array([[2., 1.], [0., 4.]]), np.array([4., 8.]))
    array([1., 2.])
    >>> solve_upper(np.array([[2., 0.], [0., 0.]]), np.array([4., 8.])).round(12) + 0.
    array([2., 0.])
    """
    try:
        return np.asarray(solve_triangular(R, right))
    except LinAlgError:
        return np.linalg.lstsq(R, right, rcond=None)[0]


def with_diagonal(R: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """The R of a QR factorisation of an upper triangular matrix with a diagonal one below it.

    As LAPACK leaves the zeros of both out, this is about a tenth of the work of a QR factorisation
    of a full matrix.

    Parameters
    ----------
    R : array (n, n)
        Upper triangular.
    diagonal : array (n,)

    Returns
    -------
    R : array (n, n)

    Examples
    --------
    >>> R = with_diagonal(np.array([[3., 1.], [0., 4.]]), np.array([4., 3.]))
    >>> (R.T @ R).round(9)                               # [[3, 1], [0, 4]]: 9, 3, 1 + 16
    array([[25.,  3.],
           [ 3., 26.]])
    """
    factor, _, _, _ = dtpqrt(len(R), min(BLOCK, len(R)), R, np.diag(diagonal))
    return np.triu(factor)
