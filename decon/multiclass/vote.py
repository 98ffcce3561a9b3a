"""The vote of one-vs-one: a machine for each pair of classes, and the class most of them say."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..types import Array, ArrayLike


class OneVsOne:
    """Machines for all pairs of classes, which vote; of classes with equal votes the first wins.

    That is the rule of LIBSVM, and of scikit-learn's `SVC`.

    Parameters
    ----------
    classes : sequence of labels
        In increasing order.
    machines : mapping
        From each pair of classes, the smaller first, to a machine that says +1 for that one.

    Raises
    ------
    ValueError
        If a pair has no machine.

    Examples
    --------
    >>> from decon import KernelMachine, Linear
    >>> half = [KernelMachine(Linear(), [[-1.]], [1.], b) for b in (0., -1., -2.)]
    >>> vote = OneVsOne("abc", dict(zip([("a", "b"), ("a", "c"), ("b", "c")], half)))
    >>> vote.predict([[-1.], [.5], [3.]]).tolist()
    ['a', 'b', 'c']
    """

    def __init__(self, classes: Sequence[Any], machines: Mapping[tuple[Any, Any], Any]):
        self.classes, self.machines = np.array(list(classes)), dict(machines)
        missing = {(a, b) for i, a in enumerate(classes)
                   for b in classes[i + 1:]} - set(machines)
        if missing:
            raise ValueError(f"no machine for the pairs {sorted(missing)}")

    def __repr__(self) -> str:
        return f"OneVsOne({len(self.classes)} classes, {len(self.machines)} machines)"

    def votes(self, X: ArrayLike) -> Array:
        """How many pairs vote for each class.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        votes : int array (n, K)
        """
        votes = np.zeros((len(np.asarray(X)), len(self.classes)), int)
        numbers = {label: k for k, label in enumerate(self.classes.tolist())}
        for (one, other), machine in self.machines.items():
            positive = machine.predict(X) > 0
            votes[positive, numbers[one]] += 1
            votes[~positive, numbers[other]] += 1
        return votes

    def predict(self, X: ArrayLike) -> Array:
        """The class with most votes; the first of several.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : array (n,)
        """
        return self.classes[self.votes(X).argmax(1)]
