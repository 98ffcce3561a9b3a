"""Networks with one hidden layer of rectifiers: the machine of this family."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...numerics.blocks import blocks
from ...types import Array, ArrayLike


class ReluNetwork:
    """The classifier that says +1 where g.x + sum_i w_i max(0, a_i.x + c_i) > b, else -1.

    Parameters
    ----------
    directions : array (h, d)
        The a_i, one a row.
    offsets : array (h,)
        The c_i.
    weights : array (h,)
        The w_i, of either sign.
    linear : array (d,)
        The vector g: 0 for a network that has nothing but its units.
    threshold : float
        The number b.

    Examples
    --------
    >>> network = ReluNetwork([[1., 0.], [0., 1.]], [0., 0.], [1., -2.], [0., 0.], 1.)
    >>> network, network.decision_function([[3., 1.], [-1., 1.]])
    (ReluNetwork(2 units in dimension 2), array([ 0., -3.]))
    >>> network.predict([[3., 0.], [3., 2.]]), network.gradient([[3., 2.]])
    (array([ 1, -1], dtype=int8), array([[ 1., -2.]]))
    """

    def __init__(self, directions: ArrayLike, offsets: ArrayLike, weights: ArrayLike,
                 linear: ArrayLike, threshold: float):
        self.directions, self.offsets = np.array(directions, float), np.array(offsets, float)
        self.weights, self.linear = np.array(weights, float), np.array(linear, float)
        self.threshold = float(threshold)

    def __repr__(self) -> str:
        rest = " and a linear part" if self.linear.any() else ""
        return f"ReluNetwork({len(self.weights)} units{rest} in dimension {self.dimension})"

    @property
    def dimension(self) -> int:
        """The number d of features."""
        return len(self.linear)

    def decision_function(self, X: ArrayLike) -> Array:
        """g.x + sum_i w_i max(0, a_i.x + c_i) - b, positive where the label is +1.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        values : array (n,)
        """
        X, values = np.asarray(X, float), np.empty(len(X))
        for j in blocks(len(X), len(self.weights) + self.dimension):
            units = np.maximum(0, X[j] @ self.directions.T + self.offsets)
            values[j] = X[j] @ self.linear + units @ self.weights - self.threshold
        return values

    def predict(self, X: ArrayLike) -> Array:
        """The labels +1 or -1 of the points.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : int8 array (n,)
        """
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.int8)

    def gradient(self, X: ArrayLike) -> Array:
        """The gradient at every point: that of the flat piece it lies in.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        gradient : array (n, d)
        """
        on = np.asarray(X, float) @ self.directions.T + self.offsets > 0
        return self.linear + (on * self.weights) @ self.directions

    @classmethod
    def from_units(cls, first: Array, signs: Array, units: Array, origin: Array,
                   basis: Array) -> "ReluNetwork":
        """The network N0.(z, 1) + sum_k e_k max(0, J_k.(z, 1)) with z = basis^T (x - origin).

        As max(0, t) = max(0, -t) + t, units may be turned round until their linear parts make up
        for g, if any choice of them does that.

        Parameters
        ----------
        first : array (m + 1,)
            The N0.
        signs : array (h,)
            The e_k.
        units : array (h, m + 1)
            The J_k.
        origin : array (d,)
        basis : array (d, m)

        Returns
        -------
        network : ReluNetwork
            With |a_i| = 1, and the largest |w_i| is 1.

        Examples
        --------
        >>> units = np.array([[1., 0., -1.], [0., 1., 2.]])
        >>> network = ReluNetwork.from_units(np.array([1., 0., 3.]), np.array([-1., 1.]), units,
        ...                                  np.zeros(2), np.eye(2))
        >>> network, network.offsets, network.threshold
        (ReluNetwork(2 units in dimension 2), array([1., 2.]), -4.0)
        """
        # in given coordinates
        planes = np.vstack([first, units])
        A = planes[:, :-1] @ np.asarray(basis).T
        c = planes[:, -1] - A @ origin
        g, b, A, c, w = A[0], -c[0], A[1:], c[1:], np.array(signs)

        # g + sum_k y_k e_k a_k = 0 with y_k = 1 for those to be turned round, else 0
        parts = (w[:, None] * A).T
        y = np.linalg.lstsq(parts, -g, rcond=None)[0].round()
        if np.isin(y, (0, 1)).all() and np.linalg.norm(g + parts @ y) < 1e-6 * np.linalg.norm(g):
            g, b = np.zeros(len(g)), b - w @ (y * c)
            A, c = A * (1 - 2 * y)[:, None], c * (1 - 2 * y)

        # vectors of length 1
        size = np.linalg.norm(A, axis=1)
        w = w * size
        largest = np.abs(w).max()
        return cls(A / size[:, None], c / size, w / largest, g / largest, b / largest)

    def in_given_units(self, origin: ArrayLike, units: ArrayLike) -> "ReluNetwork":
        """The same network for points x, if this one takes u = (x - origin) / units.

        Parameters
        ----------
        origin : array (d,)
        units : array (d,), positive

        Returns
        -------
        network : ReluNetwork

        Examples
        --------
        >>> metres = ReluNetwork([[1.]], [-2.], [1.], [0.], 3.)
        >>> metres.in_given_units([0.], [1000.]).predict([[4999.], [5001.]])  # millimetres
        array([-1,  1], dtype=int8)
        """
        planes = np.vstack([np.r_[self.linear, -self.threshold],
                            np.c_[self.directions, self.offsets]])
        return self.from_units(planes[0], self.weights, planes[1:], np.asarray(origin, float),
                               np.diag(1 / np.asarray(units, float)))

    def to_arrays(self) -> dict[str, Any]:
        """The network as plain arrays, ready for `numpy.savez`: the parameters, by name.

        Returns
        -------
        arrays : dict
        """
        return dict(vars(self))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "ReluNetwork":
        """The inverse of `to_arrays`.

        Parameters
        ----------
        arrays : mapping

        Returns
        -------
        network : ReluNetwork

        Examples
        --------
        >>> network = ReluNetwork([[1., 0.]], [0.], [1.], [0., 1.], 1.)
        >>> ReluNetwork.from_arrays(network.to_arrays())
        ReluNetwork(1 units and a linear part in dimension 2)
        """
        names = ("directions", "offsets", "weights", "linear", "threshold")
        return cls(*(arrays[name] for name in names))
