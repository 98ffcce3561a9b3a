"""Regularised least squares (ridge regression), in its two forms."""

import numpy as np
from scipy.linalg import solve

from ..kernels import Kernel, check_positive
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .checks import checked_examples


def primal_ridge(Phi: ArrayLike, t: ArrayLike, penalty: float) -> Array:
    """The weights w that minimise 1/2 |Phi w - t|^2 + penalty/2 |w|^2 (Eq. 12 of Wang 2021).

    w = (Phi^T Phi + penalty I_M)^-1 Phi^T t: an M x M system.

    Parameters
    ----------
    Phi : array (N, M)
        Design matrix: the features of the examples, one example a row.
    t : array (N,)
        Targets.
    penalty : float, positive
        The lambda of the formula.

    Returns
    -------
    w : array (M,)

    Raises
    ------
    ValueError
        If shapes do not match, numbers are not finite or the penalty is not positive.

    Examples
    --------
    >>> primal_ridge([[1., 0.], [0., 1.], [1., 1.]], [1., 2., 3.], penalty=1.)
    array([0.875, 1.375])
    """
    Phi, t = checked_examples(Phi, t, labels=False)
    check_positive("penalty", penalty)

    # the normal equations (eq-dual-representation-primal)
    return solve(Phi.T @ Phi + penalty * np.eye(Phi.shape[1]), Phi.T @ t, assume_a="pos")


def dual_ridge(X: ArrayLike, t: ArrayLike, kernel: Kernel, penalty: float) -> KernelMachine:
    """The same regression by its dual: y(x) = k(x)^T (K + penalty I_N)^-1 t (Eq. 16).

    Only kernel values enter, K_ij = K(x_i, x_j) and k_i(x) = K(x, x_i); an N x N system.

    Parameters
    ----------
    X : array (N, d)
        Examples.
    t : array (N,)
        Targets.
    kernel : Linear, Polynomial, Tanh or Gaussian
        Or any other function of two arrays of points that returns the matrix of kernel values.
    penalty : float, positive
        The lambda of the formula.

    Returns
    -------
    KernelMachine
        Every example with its weight a_i, and threshold 0: `decision_function` is the
        prediction.

    Raises
    ------
    ValueError
        As in `primal_ridge`; also if K + penalty I is singular to rounding, which a kernel
        that is not positive semidefinite can do.

    Examples
    --------
    >>> from decon import Linear
    >>> machine = dual_ridge([[1., 0.], [0., 1.], [1., 1.]], [1., 2., 3.], Linear(), penalty=1.)
    >>> machine.decision_function([[1., 0.], [0., 1.]])      # the weights of the primal
    array([0.875, 1.375])
    """
    X, t = checked_examples(X, t, labels=False)
    check_positive("penalty", penalty)

    # the dual variables a = (K + penalty I)^-1 t (eq-dual-representation-solution)
    K = kernel(X, X)
    try:
        a = solve(K + penalty * np.eye(len(X)), t, assume_a="sym")
    except np.linalg.LinAlgError:
        raise ValueError(f"K + penalty I is singular for {kernel} and penalty={penalty!r}: take "
                         "another penalty, or a positive semidefinite kernel") from None
    return KernelMachine(kernel, X, a, 0.0)
