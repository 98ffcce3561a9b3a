"""The five kernels, their gradients, and their names in scikit-learn.

Type A kernels depend on x.y alone, K(x, y) = f(x.y); the Gaussian, of Type B, on the distance
alone, K(x, y) = g(|x - y|^2) [Ali, Rushdi and Ho 2014, section 2].
"""

from dataclasses import asdict, dataclass

import numpy as np


@dataclass(frozen=True)
class Linear:
    """The linear kernel K(x, y) = x.y (Type A).

    Examples
    --------
    >>> Linear()([[1., 2.]], [[3., 4.]])
    array([[11.]])
    """

    @property
    def name(self):
        """'linear'."""
        return "linear"

    def __call__(self, X, Y):
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        return np.asarray(X, float) @ np.asarray(Y, float).T

    def gradient(self, X, Y, weights):
        """Sum of the gradients weights[i] * grad_x K(x, y_i) at every x: array (n, d) (Eq. 4)."""
        X, Y = np.asarray(X, float), np.asarray(Y, float)
        return np.broadcast_to(np.asarray(weights, float) @ Y, X.shape).copy()

    def to_sklearn(self):
        """Arguments of scikit-learn's SVC that choose this kernel."""
        return {"kernel": "linear"}


@dataclass(frozen=True)
class Polynomial:
    """The polynomial kernel K(x, y) = (gamma x.y + coef0)^degree (Type A).

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
        _positive("gamma", self.gamma)
        if not np.isfinite(self.coef0) or self.coef0 < 0:
            raise ValueError(f"coef0 must be a finite number >= 0, got {self.coef0!r}")

    @property
    def name(self):
        """'quadratic', 'cubic' or 'polynomial of degree D'."""
        return {2: "quadratic", 3: "cubic"}.get(self.degree, f"polynomial of degree {self.degree}")

    def __call__(self, X, Y):
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        return self._inner(X, Y) ** self.degree

    def gradient(self, X, Y, weights):
        """Sum of the gradients weights[i] * grad_x K(x, y_i) at every x: array (n, d) (Eq. 7)."""
        slope = self.degree * self.gamma * self._inner(X, Y) ** (self.degree - 1)
        return (slope * weights) @ np.asarray(Y, float)

    def to_sklearn(self):
        """Arguments of scikit-learn's SVC that choose this kernel."""
        return {"kernel": "poly", **asdict(self)}

    def _inner(self, X, Y):
        return self.gamma * (np.asarray(X, float) @ np.asarray(Y, float).T) + self.coef0


@dataclass(frozen=True)
class Tanh:
    """The hyperbolic tangent K(x, y) = tanh(alpha x.y + beta) (Type A; `sigmoid` in scikit-learn).

    Not positive semidefinite in general.

    Examples
    --------
    >>> Tanh(alpha=.5, beta=-1)([[1., 2.]], [[2., 0.]])
    array([[0.]])
    """

    alpha: float = 1.0
    beta: float = 0.0

    def __post_init__(self):
        if not (np.isfinite(self.alpha) and np.isfinite(self.beta)) or self.alpha == 0:
            raise ValueError(
                f"alpha must be finite and not 0, beta finite; got {self.alpha!r}, {self.beta!r}"
            )

    @property
    def name(self):
        """'tanh'."""
        return "tanh"

    def __call__(self, X, Y):
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        return np.tanh(self.alpha * (np.asarray(X, float) @ np.asarray(Y, float).T) + self.beta)

    def gradient(self, X, Y, weights):
        """Sum of the gradients weights[i] * grad_x K(x, y_i) at every x: array (n, d) (Eq. 5)."""
        slope = self.alpha * (1 - self(X, Y) ** 2)
        return (slope * weights) @ np.asarray(Y, float)

    def to_sklearn(self):
        """Arguments of scikit-learn's SVC that choose this kernel."""
        return {"kernel": "sigmoid", "gamma": self.alpha, "coef0": self.beta}


@dataclass(frozen=True)
class Gaussian:
    """The Gaussian K(x, y) = exp(-|x - y|^2 / (2 sigma^2)) (Type B; `rbf` in scikit-learn).

    Examples
    --------
    >>> Gaussian(sigma=1.)([[0., 0.]], [[0., 0.], [1., 1.]]).round(4)
    array([[1.    , 0.3679]])
    """

    sigma: float = 1.0

    def __post_init__(self):
        _positive("sigma", self.sigma)

    @property
    def name(self):
        """'gaussian'."""
        return "gaussian"

    def __call__(self, X, Y):
        """Kernel values K(x_i, y_j): arrays (n, d) and (m, d) give an array (n, m)."""
        X, Y = self._centred(X, Y)
        squared = (X**2).sum(1)[:, None] - 2 * X @ Y.T + (Y**2).sum(1)
        return np.exp(np.maximum(squared, 0) / (-2 * self.sigma**2))

    def gradient(self, X, Y, weights):
        """Sum of the gradients weights[i] * grad_x K(x, y_i) at every x: array (n, d) (Eq. 8)."""
        X, Y = self._centred(X, Y)
        wK = self(X, Y) * weights
        return (wK @ Y - wK.sum(1)[:, None] * X) / self.sigma**2

    def _centred(self, X, Y):
        """Both arrays with the mean of Y at the origin: the square is lost far from it."""
        Y = np.asarray(Y, float)
        centre = Y.mean(0) if len(Y) else 0.0
        return np.asarray(X, float) - centre, Y - centre

    def to_sklearn(self):
        """Arguments of scikit-learn's SVC that choose this kernel: gamma = 1 / (2 sigma^2)."""
        return {"kernel": "rbf", "gamma": 1 / (2 * self.sigma**2)}


def kernel_from_sklearn(svc):
    """The kernel of a fitted scikit-learn SVC.

    Parameters
    ----------
    svc : sklearn.svm.SVC
        Fitted, so that gamma='scale' and 'auto' have become numbers.

    Returns
    -------
    Linear, Polynomial, Tanh or Gaussian

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


def _positive(name, value):
    if not np.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
