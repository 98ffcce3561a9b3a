"""Stand-ins for models that no machine reproduces, and how well they have been measured to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..families.relu.network import ReluNetwork
from ..machine import KernelMachine, machine_of_arrays
from ..types import Array, ArrayLike


@dataclass(frozen=True)
class Surrogate:
    """The best stand-in for a model, with its measured agreement.

    Parameters
    ----------
    machine : KernelMachine, ScaledMachine or LabelledTrees
    agreement : dict
        Of its labels with the model's, on the features, 'between' them and 'around' them (up to
        one spread of each feature away), and the median 'distance' of the two boundaries in
        spreads, along random chords. All but 'features' are measured on queries that neither
        its training nor the choice of its kernel has used.
    """

    machine: Any
    agreement: dict[str, float] = field(default_factory=dict)

    def predict(self, X: ArrayLike) -> Array:
        """The labels that the stand-in gives.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : array (n,) of +1 and -1
        """
        return self.machine.predict(X)

    def to_arrays(self) -> dict[str, Any]:
        """The arrays to save. `from_arrays` is the way back.

        Returns
        -------
        dict of str to array
        """
        names, values = list(self.agreement), list(self.agreement.values())
        return {**self.machine.to_arrays(), "measured": np.array(names), "values": values}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "Surrogate":
        """The surrogate of saved arrays.

        Parameters
        ----------
        arrays : dict of str to array, as `to_arrays` gives it

        Returns
        -------
        Surrogate
        """
        trees = "boosted" in arrays
        machine = LabelledTrees.from_arrays(arrays) if trees else saved_machine(arrays)
        values = map(float, arrays["values"])
        return cls(machine, dict(zip(map(str, arrays["measured"]), values, strict=True)))


class LabelledTrees:
    """scikit-learn's trees, grown on labelled points, which are what is saved.

    Parameters
    ----------
    points : array (n, d)
    labels : array (n,) of +1 and -1
    boosted : bool
        Many small trees by gradient boosting, instead of one large tree.
    """

    def __init__(self, points: ArrayLike, labels: ArrayLike, boosted: bool):
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.tree import DecisionTreeClassifier
        from threadpoolctl import threadpool_limits

        self.points, self.labels = np.asarray(points, float), np.asarray(labels, np.int8)
        self.boosted = bool(boosted)
        kind = HistGradientBoostingClassifier if self.boosted else DecisionTreeClassifier

        # in one thread: many of them wait for each other where others work too
        self._limits = threadpool_limits
        with self._limits(1):
            self.model = kind(random_state=0).fit(self.points, self.labels)

    def __repr__(self) -> str:
        kind = "boosted trees" if self.boosted else "a decision tree"
        return f"LabelledTrees({kind}, grown on {len(self.points):,} labelled points)"

    def predict(self, X: ArrayLike) -> Array:
        """The labels that the trees give.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : array (n,) of +1 and -1
        """
        with self._limits(1):
            return self.model.predict(np.asarray(X, float))

    def to_arrays(self) -> dict[str, Any]:
        """The arrays to save. `from_arrays` is the way back.

        Returns
        -------
        dict of str to array
        """
        return {"points": self.points, "labels": self.labels, "boosted": self.boosted}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "LabelledTrees":
        """The trees of saved arrays, grown again.

        Parameters
        ----------
        arrays : dict of str to array, as `to_arrays` gives it

        Returns
        -------
        LabelledTrees
        """
        return cls(arrays["points"], arrays["labels"], bool(arrays["boosted"]))


def saved_machine(arrays: Mapping[str, Any]) -> Any:
    """The machine of saved arrays: a KernelMachine or a ReluNetwork, perhaps behind a scaler.

    Parameters
    ----------
    arrays : dict of str to array, as its `to_arrays` gives it

    Returns
    -------
    machine : KernelMachine, ReluNetwork or ScaledMachine
    """
    return machine_of_arrays(arrays, ReluNetwork if "directions" in arrays else KernelMachine)
