"""A machine as a vector of numbers: what labels show of it, and nothing twice."""

from typing import Any, Protocol

import numpy as np

from ...boundary.normals import orthonormal_complement
from ...kernels import Gaussian, Linear, Tanh
from ...machine import KernelMachine
from ...types import Array
from ..cubic.forms import machine_of_forms
from ..quasi_vectors import quasi_support_vectors


class Numbers(Protocol):
    """A machine as free numbers theta (p,). Points, here and below, are in units of the scale.

    The factor that f has in sign(f) is fixed, by one number that does not change.

    Attributes
    ----------
    start : array (p,)
        The numbers of the machine given.
    sizes : array (p,)
        Their usual sizes.
    """

    start: Array
    sizes: Array

    def values(self, theta: Array, X: Array) -> tuple[Array, Array]:
        """The function f, whose sign is the label, and its gradient.

        Parameters
        ----------
        theta : array (p,)
        X : array (n, d)

        Returns
        -------
        f : array (n,)
        gradient : array (n, d)
        """

    def jacobian(self, theta: Array, X: Array) -> Array:
        """The derivatives of f by the numbers.

        Parameters
        ----------
        theta, X
            As for `values`.

        Returns
        -------
        J : array (n, p)
        """

    def vector_errors(self, theta: Array, deviations: Array) -> Array:
        """The relative errors of the support vectors.

        Parameters
        ----------
        theta : array (p,)
        deviations : array (p,)
            Their standard deviations.

        Returns
        -------
        errors : array (m,)
            Expected length of each vector's error, per its length. Of a quadratic, which has no
            vectors of its own, (0,).
        """

    def machine(self, theta: Array) -> KernelMachine:
        """The machine of these numbers, in units of the points that it was given in.

        Parameters
        ----------
        theta : array (p,)

        Returns
        -------
        machine : KernelMachine
        """


def numbers_of(machine: KernelMachine, rank: int, scale: float) -> Numbers:
    """The numbers of a machine.

    Parameters
    ----------
    machine : KernelMachine
        Linear, quadratic, cubic, tanh or Gaussian.
    rank : int
        The dimension of S_Y.
    scale : float
        The unit of points.

    Returns
    -------
    numbers : Numbers

    Examples
    --------
    >>> from decon import Polynomial
    >>> machine = KernelMachine.random(Polynomial(3), dimension=5, n_support=2)
    >>> numbers = numbers_of(machine, 2, scale=2.)
    >>> len(numbers.start)                               # m (d + 1)
    12
    >>> X = np.random.default_rng(0).standard_normal((4, 5))
    >>> f, _ = numbers.values(numbers.start, X)
    >>> bool(np.allclose(f / f[0], machine.decision_function(2 * X)
    ...                  / machine.decision_function(2 * X[:1])))
    True
    """
    kinds: dict[str, Any] = {"linear": _Quadratic, "quadratic": _Quadratic, "cubic": _Cubes}
    return kinds.get(machine.kernel.name, _Units)(machine, rank, scale)


class _Free:
    """Numbers of which some are free and some are not; the first of them are vectors (m, d)."""

    shape: tuple[int, int]

    def _set(self, numbers, free, sizes):
        self.all, self.free, self.sizes = numbers, free, sizes[free]
        self.start = numbers[free]

    def vector_errors(self, theta: Array, deviations: Array) -> Array:
        """See `Numbers`; a number that does not change has no error."""
        everywhere, vectors = np.zeros(len(self.all)), slice(np.prod(self.shape))
        everywhere[self.free] = deviations
        errors, lengths = (np.linalg.norm(numbers[vectors].reshape(self.shape), axis=1)
                           for numbers in (everywhere, self._with(theta)))
        return errors / lengths

    def _with(self, theta):
        numbers = self.all.copy()
        numbers[self.free] = theta
        return numbers


class _Cubes(_Free):
    """sum_i (a_i.x + h_i)^3 - b: the a_i, the h_i unless all are 0, and b."""

    def __init__(self, machine, rank, scale):
        kernel, root = machine.kernel, np.cbrt(machine.weights)
        A, h = scale * kernel.gamma * root[:, None] * machine.support_vectors, root * kernel.coef0
        self.shape, self.scale = A.shape, scale
        unit = np.linalg.norm(np.c_[A, h]) / np.sqrt(len(A))
        numbers = np.r_[A.ravel() / unit, h / unit, machine.threshold / unit**3]

        # of a homogeneous kernel, the h_i are 0; the largest number is fixed
        free = np.ones(len(numbers), bool)
        free[A.size:-1] = kernel.coef0 != 0
        free[np.abs(numbers[:-1]).argmax()] = False
        sizes = np.repeat(np.linalg.norm(np.c_[A, h], axis=1) / unit / np.sqrt(A.shape[1]),
                          A.shape[1])
        self._set(numbers, free, np.r_[sizes, np.ones(len(h) + 1)])

    def _parts(self, theta):
        numbers, (m, d) = self._with(theta), self.shape
        return numbers[:m * d].reshape(m, d), numbers[m * d:-1], numbers[-1]

    def values(self, theta, X):
        A, h, b = self._parts(theta)
        forms = X @ A.T + h
        return (forms**3).sum(1) - b, 3 * forms**2 @ A

    def jacobian(self, theta, X):
        A, h, _ = self._parts(theta)
        slopes = 3 * (X @ A.T + h) ** 2
        by_vectors = (slopes[:, :, None] * X[:, None]).reshape(len(X), A.size)
        return np.column_stack([by_vectors, slopes, -np.ones(len(X))])[:, self.free]

    def machine(self, theta):
        A, h, b = self._parts(theta)
        faint = 0.0 if h.any() else 1.0  # homogeneous forms stay so
        return machine_of_forms(A / self.scale, h, float(b), self.scale, faint)


class _Units(_Free):
    """Tanh and Gaussian machines: vectors, weights, threshold, and beta or log sigma."""

    def __init__(self, machine, rank, scale):
        kernel, Y, w = machine.kernel, machine.support_vectors, machine.weights
        self.gaussian, self.shape, self.scale = isinstance(kernel, Gaussian), Y.shape, scale
        if self.gaussian:
            Y, constant = Y / scale, np.log(kernel.sigma / scale)
        else:
            Y, constant = Y * scale * kernel.alpha, kernel.beta
        numbers = np.r_[Y.ravel(), w, machine.threshold, constant]

        # the largest weight is fixed; beta, where it is 0, and where two units leave it open
        free = np.ones(len(numbers), bool)
        free[Y.size + np.abs(w).argmax()] = False
        free[-1] = self.gaussian or (kernel.beta != 0 and len(w) > 2)
        lengths = np.sqrt((Y**2).mean(1) + (self.gaussian * np.exp(2 * constant) / Y.shape[1]))
        self._set(numbers, free, np.r_[np.repeat(lengths, Y.shape[1]), np.abs(w),
                                       np.abs(w).max(), 1.0])

    def _parts(self, theta):
        numbers, (m, d) = self._with(theta), self.shape
        return numbers[:m * d].reshape(m, d), numbers[m * d:-2], numbers[-2], numbers[-1]

    def _terms(self, theta, X):
        Y, w, b, constant = self._parts(theta)
        if not self.gaussian:
            K = np.tanh(X @ Y.T + constant)
            return Y, w, b, K, w * (1 - K**2), np.ones_like(K)
        squares = (X**2).sum(1)[:, None] - 2 * X @ Y.T + (Y**2).sum(1)
        K = np.exp(-np.maximum(squares, 0) / 2 * np.exp(-2 * constant))
        return Y, w, b, K, w * K * np.exp(-2 * constant), squares

    def values(self, theta, X):
        Y, w, b, K, slopes, _ = self._terms(theta, X)
        inwards = slopes.sum(1)[:, None] * X if self.gaussian else 0
        return K @ w - b, slopes @ Y - inwards

    def jacobian(self, theta, X):
        Y, _, _, K, slopes, by_constant = self._terms(theta, X)
        steps = X[:, None] - Y if self.gaussian else X[:, None]
        by_vectors = (slopes[:, :, None] * steps).reshape(len(X), Y.size)
        return np.column_stack([by_vectors, K, -np.ones(len(X)),
                                (slopes * by_constant).sum(1)])[:, self.free]

    def machine(self, theta):
        Y, w, b, constant = self._parts(theta)
        if self.gaussian:
            sigma = float(np.exp(constant) * self.scale)
            return KernelMachine(Gaussian(sigma), Y * self.scale, w, float(b))
        return KernelMachine(Tanh(1.0, float(constant)), Y / self.scale, w, float(b))


class _Quadratic(_Free):
    """(t, 1)^T A (t, 1) with t = (U + W B)^T x: the entries of A, and of B, which tilts S_Y."""

    def __init__(self, machine, rank, scale):
        kernel, Y, w = machine.kernel, machine.support_vectors * scale, machine.weights
        self.linear, self.scale, d = isinstance(kernel, Linear), scale, Y.shape[1]
        self.shape = 0, d
        gamma, c = (0.0, 0.5) if self.linear else (kernel.gamma, kernel.coef0)
        M, k = (Y.T * w * gamma**2) @ Y, c * (gamma or 1.0) * (w @ Y)
        a = 0.0 if self.linear else c**2 * w.sum()

        # an orthonormal basis of S_Y in which M is diagonal
        U = np.linalg.svd(np.c_[M, k])[0][:, :rank]
        values, Q = np.linalg.eigh(U.T @ M @ U)
        self.U, self.W = U @ Q, orthonormal_complement(U)
        self.i, self.j = np.triu_indices(rank)
        A = np.r_[np.diag(values)[self.i, self.j], self.U.T @ k, a - machine.threshold]

        # the largest of A is fixed; of a plane, all that would bend it
        A /= np.abs(A[:-1]).max()
        outside = rank * (d - rank)
        free = np.ones(outside + len(A), bool)
        free[outside:outside + len(self.i)] = not self.linear
        free[outside + np.abs(A[:-1]).argmax()] = False
        self._set(np.r_[np.zeros(outside), A], free, np.ones(len(free)))

    def _parts(self, theta):
        numbers, r = self._with(theta), self.U.shape[1]
        B, A = np.split(numbers, [self.W.shape[1] * r])
        M = np.zeros((r, r))
        M[self.i, self.j] = M[self.j, self.i] = A[:-r - 1]
        return self.U + self.W @ B.reshape(-1, r), M, A[-r - 1:-1], A[-1]

    def values(self, theta, X):
        T, M, k, a = self._parts(theta)
        t = X @ T
        half = t @ M + k
        return (t * (half + k)).sum(1) + a, 2 * half @ T.T

    def jacobian(self, theta, X):
        T, M, k, _ = self._parts(theta)
        t, aside = X @ T, X @ self.W
        by_tilt = (aside[:, :, None] * 2 * (t @ M + k)[:, None]).reshape(
            len(X), aside.shape[1] * t.shape[1])
        squares = t[:, self.i] * t[:, self.j] * np.where(self.i == self.j, 1, 2)
        return np.column_stack([by_tilt, squares, 2 * t, np.ones(len(X))])[:, self.free]

    def machine(self, theta):
        T, M, k, a = self._parts(theta)
        if self.linear:
            n = 2 * (T @ k) / self.scale
            size = np.linalg.norm(n)
            return KernelMachine(Linear(), [n / size], [1.0], -float(a) / size)
        machine = quasi_support_vectors(np.block([[M, k[:, None]], [k, a]]), 1.0)
        machine.support_vectors = machine.support_vectors @ T.T / self.scale
        return machine
