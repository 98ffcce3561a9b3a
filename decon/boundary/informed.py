"""Brackets that know what they will find: queries at the median of where the boundary is."""

from collections.abc import Callable

import numpy as np
from scipy.special import stdtr, stdtrit

from ..types import Array
from .settings import SETTINGS


def predicted_crossings(oracle: Callable[[Array], Array], X: Array, V: Array, errors: Array,
                        width: float, farthest: Array) -> Array:
    """Where on the lines X + t V, predicted at t = 0 with standard errors, is the boundary?

    Every query goes to the median of a Student distribution, cut to what is known: about
    log2(error / width) + 2 queries a line. The label must go from -1 to +1 as t grows.

    Parameters
    ----------
    oracle : callable
        Labels of points (n, d).
    X, V : arrays (n, d)
        Points, and unit directions.
    errors, farthest : arrays (n,)
        Standard errors, and how far from 0 a crossing is given up.
    width : float
        Of the final brackets.

    Returns
    -------
    t : array (n,)
        NaN where none was met.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=1)
    >>> t = predicted_crossings(oracle, np.array([[.29]]), np.array([[1.]]), np.array([.01]),
    ...                         1e-9, np.array([1.]))
    >>> t.round(6), oracle.queries < 30
    (array([0.01]), True)
    """
    low, high = np.full(len(X), -np.inf), np.full(len(X), np.inf)
    j, degrees = np.arange(len(X)), SETTINGS.degrees
    while len(j):
        # the median of what is left, by the tail where that is thin, or the middle of a short one
        a, b = low[j] / errors[j], high[j] / errors[j]
        side = np.where(a > 0, -1, 1)
        share = (stdtr(degrees, side * a) + stdtr(degrees, side * b)) / 2
        middle = side * stdtrit(degrees, share)
        short = b - a < SETTINGS.halving
        middle[short] = (a[short] + b[short]) / 2
        t = np.clip(middle, a, b) * errors[j]

        # its label
        positive = oracle(X[j] + t[:, None] * V[j]) > 0
        high[j[positive]], low[j[~positive]] = t[positive], t[~positive]
        j = j[(high[j] - low[j] > width) & (low[j] < farthest[j]) & (high[j] > -farthest[j])]
    t = (low + high) / 2
    return np.where((low < farthest) & (high > -farthest), t, np.nan)
