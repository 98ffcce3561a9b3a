"""Types that signatures share."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Array", "ArrayLike", "LabelOracle", "RandomState"]

Array = np.ndarray
RandomState = int | np.random.Generator | None  # what numpy.random.default_rng takes


class LabelOracle(Protocol):
    """What an oracle is to those who query it: an `Oracle`, or a view of one.

    Attributes
    ----------
    dimension : int
        The number d of features.
    bounds : pair of arrays (d,) or None
        The lower and upper bounds that no query may leave.
    """

    dimension: int
    bounds: tuple[Array, Array] | None

    def __call__(self, X: ArrayLike) -> Array:
        """The labels +1 or -1 (int8) of the rows of X: array (n, d) gives an array (n,)."""

    def inside(self, X: ArrayLike) -> Array:
        """Which points lie within the bounds.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        inside : bool array (n,)
        """
