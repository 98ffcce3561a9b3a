"""What an SVM has learned, and how it is changed: unlearning, another C, another kernel."""

import numpy as np
from tqdm import tqdm

from ..conventions.estimator import Estimator, not_fitted
from ..kernels import Kernel, check_positive
from ..machine import KernelMachine
from ..types import Array
from .kernel_choice import checked_kernel
from .pairs import Pairs
from .two_classes import TwoClassSVM

# What belongs to the one machine of two classes, or to each pair of several.
OF_TWO_CLASSES = {"a", "threshold", "g", "f0", "part", "margin", "system", "weight", "bounds", "Q",
                  "state", "return_to", "exact_g", "violations", "is_exact"}
OVER_PAIRS = {"objective": sum, "restarts": sum, "kkt_residual": max}
PROPERTIES = {"X", "y", "pairs_", "_pairs"}  # looked up again where they have not been found


class LearnedSVM(Estimator):
    """The part of `IncrementalSVM` that looks at what has been learned, and changes it.

    Attributes
    ----------
    As those of `IncrementalSVM`.
    """

    kernel: Kernel | None
    C: float
    base: KernelMachine | None
    kernel_: Kernel
    classes_: Array
    n_features_in_: int
    _known: bool
    _pairs: Pairs

    def __sklearn_is_fitted__(self) -> bool:
        return "_pairs" in self.__dict__

    def __getattr__(self, name):
        """What the machines inside have: one of two classes, or one for each pair."""
        known = name in OF_TWO_CLASSES or name in OVER_PAIRS
        if not self.__sklearn_is_fitted__() and (known or name in PROPERTIES):
            raise not_fitted(self)
        if not known:
            raise AttributeError(f"an IncrementalSVM has no {name}")
        found = [getattr(machine, name) for machine in self._pairs.machines.values()]
        if name in OVER_PAIRS:
            return OVER_PAIRS[name](found)
        if len(found) > 1:
            raise AttributeError(f"{len(self.classes_)} classes have one {name} for each pair: "
                                 "see pairs_")
        return found[0]

    def _fitted_pairs(self):
        """The machines inside; those of the base, if nothing has been learned."""
        if self.__sklearn_is_fitted__():
            return self._pairs
        if self.base is None:
            raise not_fitted(self)
        return Pairs(self.base.kernel, self.C, self.base, 2)

    def _check_two_classes(self, what):
        """Raise a ValueError if there is more than one pair."""
        machines = self._fitted_pairs().machines
        if len(machines) > 1:
            raise ValueError(f"{what} is for two classes; here are {len(self.classes_)}: each pair "
                             "in pairs_ has a machine of its own")

    @property
    def X(self) -> Array:
        """All examples: array (n, d)."""
        return self._fitted_pairs().X

    @property
    def y(self) -> Array:
        """Their labels: array (n,); +1 and -1 where there are two classes."""
        pairs = self._fitted_pairs()
        if len(pairs.machines) == 1:
            return next(iter(pairs.machines.values())).y
        return self.classes_[pairs.codes]

    @property
    def pairs_(self) -> dict[tuple, TwoClassSVM]:
        """The machine of each pair (negative label, positive label)."""
        names = [*self.classes_.tolist(), None]  # None: of a single class, the other one
        return {(names[i], names[j]): machine
                for (i, j), machine in self._fitted_pairs().machines.items()}

    def machine(self) -> KernelMachine:
        """The present classifier of two classes as one KernelMachine, the base included.

        Returns
        -------
        KernelMachine
            Of the base's support vectors, if there is a base, and the examples with a_i > 0. It
            says +1 for the second class and -1 for the first.

        Raises
        ------
        ValueError
            If nothing has been learned yet, and there is no base; or if there are several classes:
            then each pair has its own, `svm.pairs_[pair].machine()`.
        """
        self._check_two_classes("machine")
        machine, = self._fitted_pairs().machines.values()
        return machine.machine()

    def unlearn(self, i: int) -> None:
        """Remove example i, as if it had never been there; those after it move up by one.

        Its class stays one of `classes_`.

        Parameters
        ----------
        i : int
            The example's number; negative ones count from the end.

        Raises
        ------
        IndexError
            If there is no such example.
        ValueError
            If nothing has been learned yet.
        """
        self._pairs.unlearn(self._number(i))

    def deactivate(self, i: int) -> None:
        """Unlearn example i, but keep its place: its multiplier is 0, and its number stays.

        Parameters
        ----------
        i : int
            The example's number; negative ones count from the end.

        Raises
        ------
        IndexError, ValueError
            As `unlearn`.
        """
        self._pairs.deactivate(self._number(i))

    def _number(self, i):
        """An example's number, from 0, which may be given from the end."""
        n = len(self._pairs.codes)
        try:
            return range(n)[i]
        except IndexError:
            raise IndexError(f"there is no example {i}: {n} have been learned") from None

    def change_C(self, C: float) -> None:
        """Change the regularisation parameter.

        Parameters
        ----------
        C : float, positive
            The upper bound of the multipliers becomes C times the weight of each example.

        Raises
        ------
        ValueError
            If C is not positive.
        """
        check_positive("C", C)
        if self.__sklearn_is_fitted__():
            self._pairs.change_C(float(C))
        self.C = float(C)

    def change_kernel(self, kernel: Kernel) -> None:
        """Change the kernel, most of all its parameter: multipliers and threshold follow.

        With the new kernel values the multipliers are feasible, but the optimality conditions are
        violated. The violations vanish along a path, from event to event, and at its end is the
        new optimum [after Diehl and Cauwenberghs 2003]. A small change has few events.

        Parameters
        ----------
        kernel : Linear, Polynomial, Tanh or Gaussian

        Raises
        ------
        TypeError
            If the kernel is none.
        ValueError
            If there is a base, which has a kernel already, or the kernel overflows at an example.
            The machine stays as it was.

        Warns
        -----
        UserWarning
            If the kernel is Tanh.

        Examples
        --------
        >>> from decon import Gaussian, IncrementalSVM
        >>> svm = IncrementalSVM(Gaussian(1.), C=10.).fit([[0.], [2.], [3.]], [-1, 1, 1])
        >>> svm.change_kernel(Gaussian(2.))
        >>> afresh = IncrementalSVM(Gaussian(2.), C=10.).fit(svm.X, svm.y)
        >>> np.allclose(svm.a, afresh.a), svm.kkt_residual < 1e-12
        (True, True)
        """
        checked_kernel(kernel)
        if self.base is not None:
            raise ValueError("with a base the kernel cannot be changed: the base has it too")
        if self.__sklearn_is_fitted__():
            self._pairs.change_kernel(kernel)
            self.kernel_ = kernel
        self.kernel = kernel

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

        Raises
        ------
        ValueError
            If nothing has been learned yet, or there are not two classes.
        """
        self._check_two_classes("leave_one_out")

        # where a = 0 nothing changes
        state, f = self.state(), self.y * (self.exact_g() + 1)

        # each support vector is unlearned, and comes back
        for i in tqdm(np.flatnonzero(self.a > 0), "leaving one out", delay=3, leave=False,
                      disable=not progress, unit=" examples"):
            self.deactivate(i)
            f[i] = self.y[i] * (self.exact_g([i])[0] + 1)
            self.return_to(state)
        return f
