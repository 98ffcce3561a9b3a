"""Does the boundary of a tanh machine determine its units? The hypotheses of the theorem."""

from itertools import product

import numpy as np

from ...types import Array
from .settings import SETTINGS


def doubt(weights: Array, threshold: float, rank: int) -> str:
    """Why the units of a tanh machine need not be the model's own; empty, if they must be.

    By thm-tanh-at-infinity-unique no other sum of tanh units has the same boundary, with any number
    of units in any directions, if there are three or more, with independent vectors; if not three
    of them have two weights of one size, or a signed sum of weights and a threshold that are 0; and
    if not four of them have weights that are equal in pairs, and no threshold. Where weights are so
    within their errors, the data cannot decide.

    Parameters
    ----------
    weights : array (M,)
    threshold : float
    rank : int
        The dimension that the M vectors span.

    Returns
    -------
    str

    Examples
    --------
    >>> doubt(np.array([1., -0.5, 0.2]), 0.1, 3)
    ''
    >>> doubt(np.array([1., 0.5, 0.2, 0.3]), 0.1, 3)
    'more tanh units than dimensions: others may have the same boundary'
    """
    sizes = np.sort(np.abs(weights))
    none = SETTINGS.same_weight * sizes[-1]  # a smaller difference is none
    centred = abs(threshold) < none
    if len(sizes) > rank:
        return "more tanh units than dimensions: others may have the same boundary"
    if len(sizes) < 3:
        return "two tanh units: other pairs have the same boundary"
    if len(sizes) == 3:
        sums = [abs(sizes @ signs) for signs in product((1, -1), repeat=3)]
        if np.diff(sizes).min() < none or centred and min(sums) < none:
            return "three tanh units of special weights: others may have the same boundary"
    if len(sizes) == 4 and centred and np.diff(sizes)[::2].max() < none:
        return "four tanh units, alike in pairs: others may have the same boundary"
    return ""
