"""An SVM that learns and unlearns one example at a time, exactly [Cauwenberghs and Poggio 2001]."""

from copy import copy

import numpy as np
from tqdm import tqdm

from ..kernels import Kernel, check_positive
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .checks import checked_examples
from .optimum import Optimum
from .path import follow_path, grow, move_C, shrink


class IncrementalSVM(Optimum):
    """A soft-margin SVM kept at its optimum while examples arrive one by one.

    The decision function is f(x) = f0(x) + sum_i a_i t_i K(x_i, x) - threshold, with a fixed
    function f0 (`base`, zero if left out), and the multipliers maximise
    sum_i a_i (1 - t_i f0(x_i)) - 1/2 sum_ij a_i a_j t_i t_j K(x_i, x_j)
    over 0 <= a_i <= C, sum_i a_i t_i = 0. With g_i = t_i f(x_i) - 1 the optimum is where

        g_i >= 0 if a_i = 0,   g_i = 0 if 0 < a_i < C,   g_i <= 0 if a_i = C.

    A new example's multiplier grows from 0; all others and the threshold move along so that
    these conditions keep holding, from event to event (an example reaches or leaves the margin),
    until the new example fulfils its own. An example is unlearned by the same steps in reverse,
    and C is changed in the same way [Diehl and Cauwenberghs 2003]. Where a path gets lost (among
    examples that are nearly the same, say), the optimum is computed afresh by `dual_optimum`.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
    C : float, positive
        The regularisation parameter: the upper bound of the multipliers.
    base : KernelMachine, optional
        f0 is its decision function. Its kernel must be `kernel`.

    Attributes
    ----------
    X, y, a : arrays (n, d), (n,), (n,)
        Examples, labels and multipliers.
    threshold : float
        What is subtracted in f, beyond the base's own threshold. Where no multiplier lies strictly
        between 0 and C, a whole interval is optimal, and this is a point of it.
    restarts : int
        How often the optimum was computed afresh.

    Raises
    ------
    TypeError
        If the kernel is none.
    ValueError
        If C is not a positive number or the base has another kernel.

    Examples
    --------
    >>> from decon import Linear
    >>> svm = IncrementalSVM(Linear(), C=10.)
    >>> for x, t in [([0.], -1), ([2.], 1), ([3.], 1)]:
    ...     svm.learn(x, t)
    >>> svm.decision_function([[0.], [1.], [2.]]).round(6) + 0
    array([-1.,  0.,  1.])
    """

    def __init__(self, kernel: Kernel, C: float = 1.0, base: KernelMachine | None = None):
        if not callable(kernel):
            raise TypeError(f"kernel must be one of decon's kernels, got {kernel!r}")
        if base is not None and base.kernel != kernel:
            raise ValueError(f"base must have the same kernel {kernel}, got {base.kernel}")
        check_positive("C", C)
        super().__init__(float(C), has_base=base is not None)
        self.kernel, self.base = kernel, base
        self.X = np.empty((0, 0)) if base is None else base.support_vectors[:0]

    def __repr__(self) -> str:
        return (f"IncrementalSVM({self.kernel}, C={self.C}): {len(self.y)} examples, "
                f"{np.count_nonzero(self.a)} support vectors")

    def decision_function(self, X: ArrayLike) -> Array:
        """f(x) at every row of X.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        array (n,)

        Raises
        ------
        ValueError
            As `machine`; or if X has another shape.
        """
        return self.machine().decision_function(X)

    def machine(self) -> KernelMachine:
        """The present classifier as one KernelMachine, the base included.

        Returns
        -------
        KernelMachine
            Of the base's support vectors, if there is a base, and the examples with a_i > 0.

        Raises
        ------
        ValueError
            If nothing has been learned yet, and there is no base.
        """
        if self.X.shape[1] == 0:
            raise ValueError("nothing has been learned yet: call learn(x, y) first")

        # f = f0 + sum_i a_i t_i K(x_i, .) - threshold, over the support vectors
        used = self.a > 0
        Y, w, b = self.X[used], (self.a * self.y)[used], self.threshold
        if self.base is not None:
            Y = np.concatenate([self.base.support_vectors, Y])
            w = np.concatenate([self.base.weights, w])
            b += self.base.threshold
        return KernelMachine(self.kernel, Y, w, b)

    def learn(self, x: ArrayLike, y: float) -> None:
        """Learn one example and restore the optimum of all examples seen.

        Parameters
        ----------
        x : array (d,)
            The example.
        y : +1 or -1
            Its label.

        Raises
        ------
        ValueError
            If x has another length than the examples before it or is not finite, or y is
            another label. The machine stays as it was.
        """
        self._append(*checked_examples(np.asarray(x, float)[None], [y], self.X.shape[1]))
        follow_path(self, grow, len(self.y) - 1)

    def fit(self, X: ArrayLike, y: ArrayLike) -> "IncrementalSVM":
        """Learn these examples and no others: what was learned before is dropped.

        The same optimum as by `learn`, without a path to it.

        Parameters
        ----------
        X : array (n, d)
            Examples.
        y : array (n,) of +1 and -1
            Their labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `learn`. The machine stays as it was.

        Examples
        --------
        >>> from decon import Linear
        >>> svm = IncrementalSVM(Linear(), C=10.).fit([[0.], [5.]], [-1, 1])
        >>> svm.fit([[0.], [2.]], [-1, 1])
        IncrementalSVM(Linear(), C=10.0): 2 examples, 2 support vectors
        """
        afresh = IncrementalSVM(self.kernel, self.C, self.base).partial_fit(X, y)
        self.__dict__.update(afresh.__dict__)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> "IncrementalSVM":
        """Learn many more examples at once.

        The same optimum as by `learn`, without a path to it.

        Parameters
        ----------
        X : array (n, d)
            Examples.
        y : array (n,) of +1 and -1
            Their labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `learn`. The machine stays as it was.

        Examples
        --------
        >>> from decon import Linear
        >>> svm = IncrementalSVM(Linear(), C=10.).fit([[0.], [5.]], [-1, 1])
        >>> svm.partial_fit([[6.], [2.]], [1, 1])
        IncrementalSVM(Linear(), C=10.0): 4 examples, 2 support vectors
        """
        X, y = checked_examples(X, y, self.X.shape[1])

        # all of them or none: this machine changes when nothing can go wrong any more
        after = copy(self)
        after._append(X, y)
        after.restart()
        self.__dict__.update(after.__dict__)
        return self

    def _append(self, X, y):
        """Add examples with multipliers 0."""
        # kernel values by columns, so that a Gaussian is exact among neighbours, and the base
        every = np.concatenate([self.X.reshape(-1, X.shape[1]), X])
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.hstack([self.kernel(every, x[None]) for x in X])
            f0 = np.zeros(len(X)) if self.base is None else self.base.decision_function(X)
        if not (np.isfinite(K).all() and np.isfinite(f0).all()):
            raise ValueError("the kernel overflows at an example: scale the features")

        # one after the other: K(x_i, x) for the examples x_i up to x
        for values, t, f in zip(K.T, y, f0, strict=True):
            self.append(values[: len(self.y) + 1], t, f)
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

    def leave_one_out(self, progress: bool = False) -> Array:
        """f at every example, when all others have been learned and this one has not.

        Parameters
        ----------
        progress : bool
            Show a progress bar when it takes more than a few seconds.

        Returns
        -------
        array (n,)
            The examples with other signs than y are the errors of leave-one-out cross validation.
        """
        # where a = 0 nothing changes
        state, f = self.state(), self.y * (self.exact_g() + 1)

        # each support vector is unlearned, and comes back
        for i in tqdm(np.flatnonzero(self.a > 0), "leaving one out", delay=3, leave=False,
                      disable=not progress, unit=" examples"):
            self.deactivate(i)
            f[i] = self.y[i] * (self.exact_g([i])[0] + 1)
            self.return_to(state)
        return f
