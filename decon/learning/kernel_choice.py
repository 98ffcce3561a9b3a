"""The kernel of a machine that is to learn: the given one, or a Gaussian of a fitting width."""

from warnings import warn

import numpy as np

from ..kernels import Gaussian, Kernel, Tanh
from ..types import Array


def chosen_kernel(kernel: Kernel | None, X: Array, weight: Array | None) -> Kernel:
    """The given kernel; or `default_kernel`, if it is None.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh, Gaussian or None
    X, weight : arrays
        As in `default_kernel`.

    Returns
    -------
    Kernel

    Raises
    ------
    TypeError
        As `checked_kernel`.

    Examples
    --------
    >>> from decon import Linear
    >>> chosen_kernel(Linear(), np.ones((2, 1)), None)
    Linear()
    """
    return default_kernel(X, weight) if kernel is None else checked_kernel(kernel, 5)


def checked_kernel(kernel: Kernel, stacklevel: int = 3) -> Kernel:
    """A kernel, if it is one.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
    stacklevel : int
        Of the warning.

    Returns
    -------
    Kernel

    Raises
    ------
    TypeError
        If it is something else.

    Warns
    -----
    UserWarning
        If it is Tanh.
    """
    if not callable(kernel):
        raise TypeError(f"kernel must be one of decon's kernels, got {kernel!r}")
    if isinstance(kernel, Tanh):
        warn("a tanh kernel need not be positive semidefinite: what is learned fulfils the "
             "optimality conditions, but need not be the maximum", stacklevel=stacklevel)
    return kernel


def default_kernel(X: Array, weight: Array | None = None) -> Gaussian:
    """The Gaussian of scikit-learn's gamma='scale'.

    Parameters
    ----------
    X : array (n, d)
    weight : array (n,), optional
        How much each example counts. Left out, the variance counts as 1.

    Returns
    -------
    Gaussian

    Examples
    --------
    >>> default_kernel(np.array([[0.], [2.], [2.], [4.]]), np.ones(4))
    Gaussian(sigma=1.0)
    """
    if weight is None:
        return Gaussian(float(np.sqrt(X.shape[1] / 2)))
    mean = np.average(X.mean(1), weights=weight)
    variance = np.average(((X - mean) ** 2).mean(1), weights=weight)
    return Gaussian(float(np.sqrt(X.shape[1] * (variance or 1.0) / 2)))
