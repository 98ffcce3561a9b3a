"""What an oracle is to those who query it: labels, a dimension, bounds."""

from typing import Protocol

from ..types import Array, ArrayLike


class LabelOracle(Protocol):
    """An `Oracle`, or a view of one: whatever answers +1 or -1 at points of R^d.

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
