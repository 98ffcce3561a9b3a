"""Triangular systems that may be singular: what a fit of a model of another kind can lead to."""

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular


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
