"""How far points are from a level set."""

import numpy as np

from ..types import Array


def level_set_distance(values: Array, gradients: Array) -> Array:
    """The signed distance f / |grad f| of points from the zeros of f, to first order (Sampson).

    Parameters
    ----------
    values : array (n,)
        f at the points.
    gradients : array (n, d)
        Its gradients there.

    Returns
    -------
    distances : array (n,)
        Not finite where the gradient vanishes.

    Examples
    --------
    >>> level_set_distance(np.array([0.1]), np.array([[3., 4.]]))
    array([0.02])
    """
    return values / np.linalg.norm(gradients, axis=1)
