"""The five kernels, their gradients, and their names in scikit-learn.

Dot-product kernels, K(x, y) = f(x.y), are Type A of the paper; radial kernels like the Gaussian,
K(x, y) = g(|x - y|^2), are Type B [Ali, Rushdi and Ho 2014, section 2].

Every kernel has a `name`, values `kernel(X, Y)`, a `gradient(X, Y, weights)` and `to_sklearn()`.
"""

from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Linear:
    """The linear kernel K(x, y) = x.y, a dot-product kernel.

    Examples
    --------
    >>> Linear()([[1., 2.]], [[3., 4.]])
    array([[11.]])
    """

    name = "linear"

    def __call__(self, X: ArrayLike, Y: ArrayLike) -> np.ndarray:
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        return _inner_products(X, Y)

    def gradient(self, X: ArrayLike, Y: ArrayLike, weights: np.ndarray) -> np.ndarray:
        """The gradient of sum_i w_i K(x, y_i) with respect to x: sum_i w_i y_i (Eq. 4).

        Parameters
        ----------
        X : array (n, d)
            The points x, one a row.
        Y : array (m, d)
            The points y_i.
        weights : array (m,)
            The w_i.

        Returns
        -------
        gradient : array (n, d)
        """
        return np.broadcast_to(weights @ np.asarray(Y, float), np.shape(X)).copy()

    def to_sklearn(self) -> dict[str, Any]:
        """Arguments of scikit-learn's SVC that choose this kernel."""
        return {"kernel": "linear"}


@dataclass(frozen=True)
class Polynomial:
    """The polynomial kernel K(x, y) = (gamma x.y + coef0)^degree, a dot-product kernel.

    Parameters
    ----------
    degree : int, at least 1
        2 is the quadratic and 3 the cubic kernel of the paper.
    gamma : float, positive
        Scale of the inner product.
    coef0 : float, not negative
        The constant. 0 makes the kernel homogeneous (and is scikit-learn's default).

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> Polynomial(degree=2)([[1., 2.]], [[3., 4.]])
    array([[144.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self):
        if self.degree != int(self.degree) or self.degree < 1:
            raise ValueError(f"degree must be a whole number from 1, got {self.degree!r}")
        check_positive("gamma", self.gamma)
        if not np.isfinite(self.coef0) or self.coef0 < 0:
            raise ValueError(f"coef0 must be a finite number >= 0, got {self.coef0!r}")

    @property
    def name(self) -> str:
        """'quadratic', 'cubic' or 'polynomial of degree D'."""
        return {2: "quadratic", 3: "cubic"}.get(self.degree, f"polynomial of degree {self.degree}")

    def __call__(self, X: ArrayLike, Y: ArrayLike) -> np.ndarray:
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        return (self.gamma * _inner_products(X, Y) + self.coef0) ** self.degree

    def gradient(self, X: ArrayLike, Y: ArrayLike, weights: np.ndarray) -> np.ndarray:
        """The gradient of sum_i w_i K(x, y_i) with respect to x (Eq. 7).

        It is sum_i w_i degree gamma (gamma x.y_i + coef0)^(degree - 1) y_i.

        Parameters
        ----------
        X : array (n, d)
            The points x, one a row.
        Y : array (m, d)
            The points y_i.
        weights : array (m,)
            The w_i.

        Returns
        -------
        gradient : array (n, d)
        """
        base = self.gamma * _inner_products(X, Y) + self.coef0
        slope = self.degree * self.gamma * base ** (self.degree - 1)
        return (slope * weights) @ np.asarray(Y, float)

    def to_sklearn(self) -> dict[str, Any]:
        """Arguments of scikit-learn's SVC that choose this kernel."""
        return {"kernel": "poly", **asdict(self)}


@dataclass(frozen=True)
class Tanh:
    """The kernel K(x, y) = tanh(alpha x.y + beta), a dot-product kernel; `sigmoid` in scikit-learn.

    Not positive semidefinite in general.

    Parameters
    ----------
    alpha : float, not 0
        Scale of the inner product.
    beta : float
        The constant.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Examples
    --------
    >>> Tanh(alpha=.5, beta=-1)([[1., 2.]], [[2., 0.]])
    array([[0.]])
    """

    alpha: float = 1.0
    beta: float = 0.0
    name = "tanh"

    def __post_init__(self):
        if not (np.isfinite(self.alpha) and np.isfinite(self.beta)) or self.alpha == 0:
            raise ValueError("alpha must be finite and not 0, beta finite; "
                             f"got {self.alpha!r}, {self.beta!r}")

    def __call__(self, X: ArrayLike, Y: ArrayLike) -> np.ndarray:
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        return np.tanh(self.alpha * _inner_products(X, Y) + self.beta)

    def gradient(self, X: ArrayLike, Y: ArrayLike, weights: np.ndarray) -> np.ndarray:
        """The gradient of sum_i w_i K(x, y_i) with respect to x (Eq. 5).

        It is sum_i w_i alpha (1 - K(x, y_i)^2) y_i.

        Parameters
        ----------
        X : array (n, d)
            The points x, one a row.
        Y : array (m, d)
            The points y_i.
        weights : array (m,)
            The w_i.

        Returns
        -------
        gradient : array (n, d)
        """
        slope = self.alpha * (1 - self(X, Y) ** 2)
        return (slope * weights) @ np.asarray(Y, float)

    def to_sklearn(self) -> dict[str, Any]:
        """Arguments of scikit-learn's SVC that choose this kernel."""
        return {"kernel": "sigmoid", "gamma": self.alpha, "coef0": self.beta}


@dataclass(frozen=True)
class Gaussian:
    """The Gaussian K(x, y) = exp(-|x - y|^2 / (2 sigma^2)), a radial kernel; scikit-learn's `rbf`.

    Parameters
    ----------
    sigma : float, positive
        The width, in the units of the points.

    Raises
    ------
    ValueError
        If sigma is out of its range.

    Examples
    --------
    >>> Gaussian(sigma=1.)([[0., 0.]], [[0., 0.], [1., 1.]]).round(4)
    array([[1.    , 0.3679]])
    """

    sigma: float = 1.0
    name = "gaussian"

    def __post_init__(self):
        check_positive("sigma", self.sigma)

    def __call__(self, X: ArrayLike, Y: ArrayLike) -> np.ndarray:
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        X, Y = _centred(X, Y)
        squared = (X**2).sum(1)[:, None] - 2 * X @ Y.T + (Y**2).sum(1)
        return np.exp(np.maximum(squared, 0) / (-2 * self.sigma**2))

    def gradient(self, X: ArrayLike, Y: ArrayLike, weights: np.ndarray) -> np.ndarray:
        """The gradient of sum_i w_i K(x, y_i) with respect to x (Eq. 8).

        It is sum_i w_i K(x, y_i) (y_i - x) / sigma^2.

        Parameters
        ----------
        X : array (n, d)
            The points x, one a row.
        Y : array (m, d)
            The points y_i.
        weights : array (m,)
            The w_i.

        Returns
        -------
        gradient : array (n, d)
        """
        X, Y = _centred(X, Y)
        wK = self(X, Y) * weights
        return (wK @ Y - wK.sum(1)[:, None] * X) / self.sigma**2

    def to_sklearn(self) -> dict[str, Any]:
        """Arguments of scikit-learn's SVC that choose this kernel: gamma = 1 / (2 sigma^2)."""
        return {"kernel": "rbf", "gamma": 1 / (2 * self.sigma**2)}


Kernel = Linear | Polynomial | Tanh | Gaussian


def kernel_from_sklearn(svc: Any) -> Kernel:
    """The kernel of a fitted scikit-learn SVC.

    Parameters
    ----------
    svc : sklearn.svm.SVC
        Fitted, so that gamma='scale' and 'auto' have become numbers.

    Returns
    -------
    kernel : Linear, Polynomial, Tanh or Gaussian

    Raises
    ------
    ValueError
        If the SVC is not fitted, its kernel is not linear, poly, sigmoid or rbf, or its
        parameters lie outside the range of our kernels (poly with coef0 < 0, say).

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svc = SVC(kernel='poly', degree=2, gamma=.5, coef0=1).fit([[0.], [1.]], [0, 1])
    >>> kernel_from_sklearn(svc)
    Polynomial(degree=2, gamma=0.5, coef0=1.0)
    """
    if not hasattr(svc, "_gamma"):
        raise ValueError(f"expected a fitted sklearn.svm.SVC, got {svc!r}: call fit first")
    if svc.kernel == "linear":
        return Linear()
    if svc.kernel == "poly":
        return Polynomial(int(svc.degree), float(svc._gamma), float(svc.coef0))
    if svc.kernel == "sigmoid":
        return Tanh(float(svc._gamma), float(svc.coef0))
    if svc.kernel == "rbf":
        return Gaussian(float(1 / np.sqrt(2 * svc._gamma)))
    raise ValueError(f"no kernel of ours for SVC(kernel={svc.kernel!r}): use one of 'linear', "
                     "'poly', 'sigmoid', 'rbf'")


def _inner_products(X: ArrayLike, Y: ArrayLike) -> np.ndarray:
    """The array (n, m) of all x_i.y_j."""
    return np.asarray(X, float) @ np.asarray(Y, float).T


def _centred(X: ArrayLike, Y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays with the mean of Y at the origin: far from it, |x - y|^2 loses all digits."""
    Y = np.asarray(Y, float)
    centre = Y.mean(0) if len(Y) else 0.0
    return np.asarray(X, float) - centre, Y - centre


def check_positive(name: str, value: float) -> None:
    """Raise a ValueError unless a parameter is a finite positive number.

    Parameters
    ----------
    name : str
        What the error calls it.
    value : float
    """
    if not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
