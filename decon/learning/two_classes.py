"""An SVM of two classes that learns and unlearns exactly [Cauwenberghs and Poggio 2001]."""

from copy import copy

import numpy as np

from ..kernels import Kernel, check_positive
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .checks import checked_examples
from .kernel_path import repair, wrong_g
from .optimum import Optimum
from .path import follow_path, grow, move_C, shrink


class TwoClassSVM(Optimum):
    """The soft-margin SVM of labels +1 and -1 inside an `IncrementalSVM`, which see.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
    C : float, positive
        The upper bound of the multipliers of examples whose weight is 1.
    base : KernelMachine, optional
        The fixed function f0.

    Attributes
    ----------
    X : array (n, d)
        The examples. All else is as in `Optimum`.

    Examples
    --------
    >>> from decon import Linear
    >>> svm = TwoClassSVM(Linear(), C=10.).fit([[0.], [2.], [3.]], [-1, 1, 1])
    >>> svm.a.round(6) + 0
    array([0.5, 0.5, 0. ])
    """

    def __init__(self, kernel: Kernel, C: float = 1.0, base: KernelMachine | None = None):
        super().__init__(float(C), has_base=base is not None)
        self.kernel, self.base = kernel, base
        self.X = np.empty((0, 0)) if base is None else base.support_vectors[:0]

    def machine(self) -> KernelMachine:
        """The present classifier as one KernelMachine, the base included.

        Returns
        -------
        KernelMachine
            Of the base's support vectors, if there is a base, and the examples with a_i > 0.
        """
        # f = f0 + sum_i a_i t_i K(x_i, .) - threshold, over the support vectors
        used = self.a > 0
        Y, w, b = self.X[used], (self.a * self.y)[used], self.threshold
        if self.base is not None:
            Y = np.concatenate([self.base.support_vectors, Y])
            w = np.concatenate([self.base.weights, w])
            b += self.base.threshold
        return KernelMachine(self.kernel, Y, w, b)

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0, K: Array | None = None) -> None:
        """Learn one example and restore the optimum of all examples seen.

        Parameters
        ----------
        x : array (d,)
            The example.
        y : +1 or -1
            Its label.
        weight : float, not negative
            Its multiplier is at most C times this.
        K : array (n + 1, 1), optional
            The kernel values between all examples, it being the last, and it.
        """
        self.add(np.asarray(x, float)[None], np.array([y]), np.array([weight]), K)
        follow_path(self, grow, len(self.y) - 1)

    def fit(self, X: ArrayLike, y: ArrayLike, weight: Array | None = None,
            K: Array | None = None) -> "TwoClassSVM":
        """Learn many more examples at once, without a path.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) of +1 and -1
        weight, K : arrays, optional
            As `add`.

        Returns
        -------
        self
            If anything goes wrong, it stays as it was.
        """
        X, t = checked_examples(X, y, self.X.shape[1])
        after = copy(self)
        after.add(X, t, weight, K)
        after.restart()
        self.__dict__.update(after.__dict__)
        return self

    def add(self, X: Array, y: Array, weight: Array | None = None, K: Array | None = None) -> None:
        """Add examples with multipliers 0, which need not be optimal.

        Parameters
        ----------
        X : array (k, d)
        y : array (k,) of +1 and -1
        weight : array (k,), optional
            Ones, if left out.
        K : array (n + k, k), optional
            Kernel values between all examples, these being the last, and these.
        """
        every = np.concatenate([self.X.reshape(-1, X.shape[1]), X])
        K = kernel_columns(self.kernel, every, X) if K is None else K
        weight = np.ones(len(X)) if weight is None else weight
        with np.errstate(over="ignore", invalid="ignore"):
            f0 = np.zeros(len(X)) if self.base is None else self.base.decision_function(X)
        refuse_overflow(f0)

        # one after the other: K(x_i, x) for the examples x_i up to x
        for values, t, f, w in zip(K.T, y, f0, weight, strict=True):
            self.append(values[: len(self.y) + 1], t, f, w)
        self.X = every

    def unlearn(self, i: int) -> None:
        """Remove example i, as if it had never been there; those after it move up by one.

        Parameters
        ----------
        i : int
            The example's number; negative ones count from the end.

        Raises
        ------
        IndexError
            If there is no such example.
        """
        i = self._number(i)
        self.deactivate(i)
        self.delete(i)
        self.X = np.delete(self.X, i, 0)

    def deactivate(self, i: int) -> None:
        """Unlearn example i, but keep its place: its multiplier is 0, and its number stays.

        Parameters
        ----------
        i : int
            The example's number; negative ones count from the end.

        Raises
        ------
        IndexError
            If there is no such example.
        """
        follow_path(self, shrink, self._number(i))

    def _number(self, i):
        """An example's number, from 0, which may be given from the end."""
        try:
            return range(len(self.y))[i]
        except IndexError:
            raise IndexError(f"there is no example {i}: {len(self.y)} have been learned") from None

    def change_C(self, C: float) -> None:
        """Change the regularisation parameter.

        Parameters
        ----------
        C : float, positive
            The new upper bound of the multipliers.

        Raises
        ------
        ValueError
            If C is not positive.
        """
        check_positive("C", C)
        follow_path(self, move_C, float(C))

    def change_kernel(self, kernel: Kernel, K: Array | None = None) -> None:
        """Change the kernel; the multipliers follow along a path.

        Parameters
        ----------
        kernel : Linear, Polynomial, Tanh or Gaussian
        K : array (n, n), optional
            Its values at the examples, if they are known.
        """
        self.replace_kernel(kernel_columns(kernel, self.X, self.X) if K is None else K)
        self.kernel = kernel
        if len(self.y):
            follow_path(self, repair, wrong_g(self))


def kernel_columns(kernel: Kernel, X: Array, Y: Array) -> Array:
    """Kernel values by columns, so that a Gaussian is exact among neighbours.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
    X, Y : arrays (n, d), (m, d)

    Returns
    -------
    array (n, m)

    Raises
    ------
    ValueError
        If one of them overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        K = np.hstack([kernel(X, y[None]) for y in Y]) if len(Y) else np.empty((len(X), 0))
    refuse_overflow(K)
    return K


def refuse_overflow(values: Array) -> None:
    """Raise a ValueError unless all kernel values are finite.

    Parameters
    ----------
    values : array
    """
    if not np.isfinite(values).all():
        raise ValueError("the kernel overflows at an example: scale the features")
