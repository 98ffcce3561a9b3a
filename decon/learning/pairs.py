"""Several classes, one against one: a machine of two classes for each pair, and their votes."""

from copy import copy

import numpy as np

from ..kernels import Kernel
from ..machine import KernelMachine
from ..numerics.blocks import blocks
from ..types import Array
from .two_classes import TwoClassSVM, kernel_columns, refuse_overflow


class Pairs:
    """Machines for all pairs of classes 0 to k - 1, with one kernel matrix.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
    C : float, positive
    base : KernelMachine or None
        For two classes only.
    k : int
        The number of classes.

    Attributes
    ----------
    X, codes : arrays (n, d), (n,)
        All examples, and the numbers of their classes.
    weight : array (n,)
        Their weights.
    machines : dict
        A `TwoClassSVM` for each pair (negative, positive). Of two classes the second is positive,
        and of several the first of a pair, as in scikit-learn.

    Examples
    --------
    >>> from decon import Linear
    >>> X, codes = np.array([[0.], [1.], [2.]]), np.array([0, 1, 2])
    >>> pairs = Pairs(Linear(), 10., None, 3).fit(X, codes, np.ones(3))
    >>> list(pairs.machines), pairs.votes(pairs.values(X)).argmax(1)
    ([(1, 0), (2, 0), (2, 1)], array([0, 1, 2]))
    """

    def __init__(self, kernel: Kernel, C: float, base: KernelMachine | None, k: int):
        self.X, self.codes, self.weight = np.empty((0, 0)), np.empty(0, int), np.empty(0)
        self.kernel, self.C, self.base, self.k = kernel, C, base, k
        several = [(j, i) for i in range(k) for j in range(i + 1, k)]
        keys = {1: [(-1, 0)], 2: [(0, 1)]}.get(k, several)  # of a single class all are positive
        self.machines = {key: TwoClassSVM(kernel, C, base) for key in keys}

    def members(self, pair: tuple[int, int]) -> Array:
        """Which examples are of a pair's classes.

        Parameters
        ----------
        pair : (negative, positive)

        Returns
        -------
        bool array (n,)
        """
        return np.isin(self.codes, pair)

    def fit(self, X: Array, codes: Array, weight: Array) -> "Pairs":
        """Learn many more examples at once; this object stays as it was.

        Parameters
        ----------
        X, codes, weight : arrays (m, d), (m,), (m,)

        Returns
        -------
        Pairs
        """
        after, n = copy(self), len(self.codes)
        K = after._append(X, codes, weight)

        # each pair gets its part of the kernel's columns
        after.machines = dict(self.machines)
        for pair, machine in self.machines.items():
            rows, new = after.members(pair), np.isin(codes, pair)
            if new.any():
                after.machines[pair] = copy(machine).fit(
                    X[new], after.signs(pair)[n:][new], weight[new], K[np.ix_(rows, new)])
        return after

    def learn(self, x: Array, code: int, weight: float) -> None:
        """Learn one example along a path, in every pair of its class.

        Parameters
        ----------
        x : array (d,)
        code : int
        weight : float
        """
        K = self._append(x[None], np.array([code]), np.array([weight]))
        for pair, machine in self.machines.items():
            if code in pair:
                machine.learn(x, self.signs(pair)[-1], weight, K[self.members(pair)])

    def _append(self, X, codes, weight):
        """Append examples; their kernel values beside all."""
        every = np.concatenate([self.X.reshape(-1, X.shape[1]), X])
        K = kernel_columns(self.kernel, every, X)
        if self.base is not None:
            refuse_overflow(self.base.decision_function(X))  # before anything changes
        self.X, self.codes = every, np.append(self.codes, codes)
        self.weight = np.append(self.weight, weight)
        return K

    def signs(self, pair: tuple[int, int]) -> Array:
        """Labels for a pair: +1 for its positive class, -1 for all others.

        Parameters
        ----------
        pair : (negative, positive)

        Returns
        -------
        array (n,)
        """
        return np.where(self.codes == pair[1], 1.0, -1.0)

    def deactivate(self, i: int) -> None:
        """Unlearn example i, but keep its place.

        Parameters
        ----------
        i : int
            From 0.
        """
        for pair, machine in self.machines.items():
            if self.codes[i] in pair:
                machine.deactivate(int(self.members(pair)[:i].sum()))

    def unlearn(self, i: int) -> None:
        """Remove example i.

        Parameters
        ----------
        i : int
            From 0.
        """
        for pair, machine in self.machines.items():
            if self.codes[i] in pair:
                machine.unlearn(int(self.members(pair)[:i].sum()))
        self.X, self.codes = np.delete(self.X, i, 0), np.delete(self.codes, i)
        self.weight = np.delete(self.weight, i)

    def change_C(self, C: float) -> None:
        """Change the regularisation parameter in every pair.

        Parameters
        ----------
        C : float, positive
        """
        self.C = C
        for machine in self.machines.values():
            machine.change_C(C)

    def change_kernel(self, kernel: Kernel) -> None:
        """Replace the kernel in every pair.

        Parameters
        ----------
        kernel : Linear, Polynomial, Tanh or Gaussian
        """
        K = kernel_columns(kernel, self.X, self.X)
        self.kernel = kernel
        for pair, machine in self.machines.items():
            rows = self.members(pair)
            machine.change_kernel(kernel, K[np.ix_(rows, rows)])

    def values(self, X: Array) -> Array:
        """The decision functions of all pairs, with every kernel value computed once.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        array (n, number of pairs)
        """
        if len(self.machines) == 1:
            machine, = self.machines.values()
            return machine.machine().decision_function(X)[:, None]

        # f = K W - thresholds, over the examples that are a support vector of any pair
        W = np.zeros((len(self.codes), len(self.machines)))
        for column, (pair, machine) in zip(W.T, self.machines.items(), strict=True):
            column[self.members(pair)] = machine.a * machine.y
        used, thresholds = W.any(1), [machine.threshold for machine in self.machines.values()]
        Y, W = self.X[used], W[used]
        psi = [self.kernel(X[rows], Y) @ W for rows in blocks(len(X), max(Y.size, 1), megabytes=64)]
        return np.concatenate([np.empty((0, len(thresholds))), *psi]) - thresholds

    def votes(self, values: Array) -> Array:
        """How many pairs are for each class.

        Parameters
        ----------
        values : array (n, number of pairs)
            Of `values`.

        Returns
        -------
        array (n, k) of ints
        """
        votes = np.zeros((len(values), self.k), int)
        for f, (negative, positive) in zip(values.T, self.machines, strict=True):
            votes[:, positive] += f > 0
            votes[:, negative] += f <= 0
        return votes

    def confidences(self, values: Array) -> Array:
        """Votes, and confidences that break their ties: scikit-learn's 'ovr' shape.

        Parameters
        ----------
        values : array (n, number of pairs)
            Of `values`.

        Returns
        -------
        array (n, k)
        """
        votes, total = np.zeros((2, len(values), self.k))
        for f, (negative, positive) in zip(values.T, self.machines, strict=True):
            votes[:, positive] += f >= 0
            votes[:, negative] += f < 0
            total[:, positive] += f
            total[:, negative] -= f
        return votes + total / (3 * (np.abs(total) + 1))
