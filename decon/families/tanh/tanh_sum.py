"""Sums of tanh units: values, gradients, and the distance of points from their zeros."""

from dataclasses import dataclass, replace

import numpy as np

from ...types import Array, ArrayLike


@dataclass
class TanhSum:
    """The function f(z) = sum_i w_i tanh(a_i.z + beta_i) - b, whose zeros are a boundary.

    Attributes
    ----------
    vectors : array (k, m)
        The a_i.
    biases : array (k,)
        The beta_i: each unit may have its own.
    weights : array (k,)
        The w_i.
    threshold : float
        The number b.

    Examples
    --------
    >>> f = TanhSum(np.array([[1., 0.], [0., 2.]]), np.zeros(2), np.array([1., -1.]), 0.)
    >>> f
    TanhSum(2 units in dimension 2)
    >>> f([[2., 1.], [2., 0.]]).round(3) + 0.
    array([0.   , 0.964])
    """

    vectors: Array
    biases: Array
    weights: Array
    threshold: float

    def __repr__(self) -> str:
        return "TanhSum({} units in dimension {})".format(*self.vectors.shape)

    def __call__(self, Z: ArrayLike) -> Array:
        """The values of f at the rows of Z: array (n, m) gives an array (n,)."""
        return np.tanh(np.asarray(Z) @ self.vectors.T + self.biases) @ self.weights - self.threshold

    def gradient(self, Z: ArrayLike) -> Array:
        """The gradients of f at the rows of Z.

        Parameters
        ----------
        Z : array (n, m)

        Returns
        -------
        gradients : array (n, m)
        """
        return (self.weights * self.slopes(Z)) @ self.vectors

    def slopes(self, Z: ArrayLike) -> Array:
        """The derivative of every tanh at its argument, 1 / cosh^2.

        Parameters
        ----------
        Z : array (n, m)

        Returns
        -------
        slopes : array (n, k)
        """
        u = np.asarray(Z) @ self.vectors.T + self.biases
        return 1 / np.cosh(np.clip(u, -300, 300)) ** 2

    @property
    def scale(self) -> float:
        """The length 1/|a| over which a typical unit goes from -1 to +1."""
        return 1 / np.median(np.linalg.norm(self.vectors, axis=1))

    def normalised(self) -> "TanhSum":
        """The same boundary, with weights and threshold of norm 1."""
        norm = np.hypot(np.linalg.norm(self.weights), self.threshold)
        return replace(self, weights=self.weights / norm, threshold=self.threshold / norm)


def sampson(units: TanhSum, Z: Array, smoothing: float = 0.0) -> Array:
    """Sampson's residual f/|grad f|: the distance of z from the zeros of f, to first order.

    With smoothing s > 0, it is f/sqrt(|grad f|^2 + s^2 <|grad f|^2>), where <.> is the mean over
    Z: points in whose neighbourhood a bad guess is almost constant do not outweigh all others.

    Parameters
    ----------
    units : TanhSum
    Z : array (n, m)
    smoothing : float, at least 0
        The number s.

    Returns
    -------
    residuals : array (n,)

    Examples
    --------
    >>> line = TanhSum(np.array([[0., .5]]), np.zeros(1), np.ones(1), 0.)
    >>> sampson(line, np.array([[3., .01]])).round(6)
    array([0.01])
    """
    return units(Z) / steepness(units.gradient(Z), smoothing)


def sampson_jacobian(units: TanhSum, Z: Array, smoothing: float = 0.0) -> Array:
    """The derivatives of Sampson's residual by all numbers of a sum of k tanh units.

    Parameters
    ----------
    units, Z, smoothing
        As for `sampson`.

    Returns
    -------
    J : array (n, k m + 2 k + 1)
        The columns belong to the vectors (one after the other), biases, weights and threshold.

    Examples
    --------
    >>> line = TanhSum(np.array([[0., .5]]), np.zeros(1), np.ones(1), 0.)
    >>> sampson_jacobian(line, np.array([[3., 0.]]))[0].round(6) + 0.  # by a (2), beta, w and b
    array([ 6.,  0.,  2.,  0., -2.])
    """
    A, w, n = units.vectors, units.weights, len(Z)
    t, slopes, g = np.tanh(Z @ A.T + units.biases), units.slopes(Z), units.gradient(Z)
    f, norm = units(Z)[:, None], steepness(g, smoothing)[:, None]

    # derivatives of f and of |grad f|^2 / 2, by the vectors, biases, weights and threshold
    ws, along = w * slopes, g @ A.T
    bend = -2 * ws * t * along
    by_vectors = ws[:, :, None] * g[:, None] + bend[:, :, None] * Z[:, None]
    derivatives = [((ws[:, :, None] * Z[:, None]).reshape(n, -1), by_vectors.reshape(n, -1)),
                   (ws, bend), (t, slopes * along), (-np.ones((n, 1)), np.zeros((n, 1)))]

    # the quotient rule; smoothing adds the mean over Z to |grad f|^2
    return np.hstack([F / norm - (G + smoothing**2 * G.mean(0)) * (f / norm**3)
                      for F, G in derivatives])


def steepness(gradients: Array, smoothing: float = 0.0) -> Array:
    """The denominator of Sampson's residual: lengths of gradients, with smoothing as for `sampson`.

    Parameters
    ----------
    gradients : array (n, m)
    smoothing : float, at least 0

    Returns
    -------
    lengths : array (n,)
        At least 1e-90, so that their cubes are not 0.
    """
    squared = (gradients**2).sum(1)
    return np.sqrt(np.maximum(squared + smoothing**2 * squared.mean(), 1e-90**2))
