"""Many SVMs from one data set: the best ones with distinct support vectors [Kanamori et al.]."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from tqdm import tqdm

from ..kernels import Kernel
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .incremental import IncrementalSVM


@dataclass(frozen=True, eq=False)
class Model:
    """One of the machines that `enumerate_svms` lists.

    Attributes
    ----------
    objective : float
        Of the dual problem.
    support : array (s,) of ints
        The numbers of its support vectors in the data set, ascending.
    machine : KernelMachine

    Examples
    --------
    >>> from decon import Linear, enumerate_svms
    >>> best = next(iter(enumerate_svms([[0.], [2.], [5.]], [-1, 1, 1], Linear(), C=10., count=1)))
    >>> round(best.objective, 6), best.support, best.machine.predict([[3.]]).tolist()
    (0.5, array([0, 1]), [1])
    """

    objective: float
    support: Array = field(repr=False)
    machine: KernelMachine


def enumerate_svms(X: ArrayLike, y: ArrayLike, kernel: Kernel, C: float = 1.0,
                   count: int | None = None, progress: bool = True) -> Iterator[Model]:
    """SVMs with distinct support vectors, in descending order of the dual objective.

    For a set I of examples, a(I) are the multipliers of the SVM trained on them alone. The models
    are all different supports of a(I) over all I. Lawler's scheme lists them: the best model is
    the SVM on all examples; those without one of its support vectors, i, are its children, each
    the result of *unlearning* i; the best child that has not been listed is next, and has children
    of its own. Support vectors that have been branched on at a parent are not branched on again
    below its later children, as that would lead to the same sets I.

    If the kernel matrix is singular (duplicates, a linear kernel in few dimensions), different
    multipliers can have the same objective. Which of them are listed, and how many, depends on the
    solver then; only the different values of the objective are defined. Data of many duplicates
    tie massively, and the same supports are met again and again: remove duplicates first. With a
    kernel that is not positive semidefinite, as Tanh need not be, an optimum is only a point where
    the conditions hold, and the objectives need not descend.

    Parameters
    ----------
    X : array (n, d)
        Examples.
    y : array (n,)
        Their labels: any two. The machines say +1 for the second of them, sorted, and -1 for the
        first.
    kernel : Linear, Polynomial, Tanh or Gaussian
    C : float, positive
        The regularisation parameter.
    count : int, optional
        The largest number of models; all of them (at most 2^n) if left out.
    progress : bool
        Show a progress bar when the work takes more than a few seconds.

    Yields
    ------
    Model
        Computed as they are requested: the first one costs a single training.

    Raises
    ------
    ValueError
        When the first model is requested, as `IncrementalSVM` does for examples that cannot be
        learned; also if there are none, or more than two labels.

    Examples
    --------
    >>> from decon import Gaussian
    >>> X, y = [[0.], [1.], [3.], [4.5]], [-1, -1, 1, 1]
    >>> for model in enumerate_svms(X, y, Gaussian(1.), C=2., count=3):
    ...     print(round(model.objective, 4), model.support)
    1.4481 [0 1 2 3]
    1.323 [1 2 3]
    1.2216 [0 1 2]
    """
    # on the heap: a child as (-objective, order, its parent's state, family, k, branched): the
    # parent without the support vector family[k], not to be branched on again below: branched
    svm = IncrementalSVM(kernel, C).fit(X, y)
    if len(svm.classes_) > 2:
        raise ValueError(f"enumerate_svms is for two classes, got {svm.classes_.tolist()}")
    heap: list = [(-svm.objective, 0, svm.state(), [], None, frozenset())]
    seen: set[bytes] = set()
    pushed = 1
    with tqdm(total=count, unit=" models", delay=3, disable=not progress, leave=False) as bar:
        while heap and len(seen) != count:
            # the best child; it is unlearned again, so that its state need not be kept
            objective, _, state, family, k, branched = heappop(heap)
            svm.return_to(state)
            if k is not None:
                svm.deactivate(family[k])
                state, branched = svm.state(), branched.union(family[: k + 1])

            # a model, if its support is new
            support = np.flatnonzero(svm.a > 0)
            if support.tobytes() not in seen:
                seen.add(support.tobytes())
                bar.update()
                yield Model(-objective, support, svm.machine())
                if len(seen) == count:
                    return

            # its children; of equal objectives the first comes first (alg-many-machines-enumerate)
            family = [i for i in support.tolist() if i not in branched]
            for k, i in enumerate(family):
                svm.return_to(state)
                svm.deactivate(i)
                heappush(heap, (-svm.objective, pushed, state, family, k, branched))
                pushed += 1
