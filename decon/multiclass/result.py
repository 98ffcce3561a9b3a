"""The result for a model of several classes."""

from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

import numpy as np

from ..types import Array, ArrayLike
from .pairs import PairMachine
from .vote import OneVsOne


@dataclass(frozen=True)
class ClassesResult:
    """What the labels of a model of several classes have told.

    Attributes
    ----------
    classes : tuple
        The labels that occurred, in increasing order.
    pairs : dict
        From each pair of classes to a `PairMachine`.
    machine : OneVsOne
        The vote of all pairs, with surrogates for those without a machine.
    support_vectors : array (n, d) or None
        Those of all pairs together, if their kernel is Gaussian.
    agreement : dict
        How often the vote gives the model's label, at fresh points: 'around' the features, and
        'close' to the boundaries between classes.
    queries : int
    message : str
        Which pairs have no machine, and why.

    Examples
    --------
    >>> from decon import KernelMachine, Linear
    >>> pair = PairMachine("linear", KernelMachine(Linear(), [[1.]], [1.], 0.))
    >>> vote = OneVsOne("ab", {("a", "b"): pair.machine})
    >>> result = ClassesResult(("a", "b"), {("a", "b"): pair}, vote)
    >>> result.kernel_type, result.score([[1.], [-2.]], ["a", "b"])
    ('linear', 1.0)
    """

    classes: tuple
    pairs: dict[tuple[Any, Any], PairMachine]
    machine: OneVsOne = field(repr=False)
    support_vectors: Array | None = field(default=None, repr=False)
    agreement: dict[str, float] = field(default_factory=dict)
    queries: int = 0
    message: str = field(default="", repr=False)

    @property
    def recovered(self) -> list[tuple[Any, Any]]:
        """The pairs that have a machine."""
        return [pair for pair, found in self.pairs.items() if found.machine is not None]

    @property
    def own_vectors(self) -> bool:
        """Whether they are the model's own.

        As `Deconstruction.own_vectors` says of the pairs found in regions; with the same vectors
        the other pairs meet their boundaries to 1e-7 spreads in the median. Two vectors nearer
        than a thousandth of a spread count as one.
        """
        return self.support_vectors is not None and all(
            found.own_vectors for found in self.pairs.values())

    @property
    def kernel_type(self) -> str:
        """That of all pairs that have a machine, if it is the same; else 'unknown'."""
        kinds = {self.pairs[pair].kernel_type for pair in self.recovered}
        return kinds.pop() if len(kinds) == 1 else "unknown"

    def predict(self, X: ArrayLike) -> Array:
        """The class that most pairs vote for.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : array (n,)
            In the model's own words.
        """
        return self.machine.predict(X)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """How often `predict` agrees with given labels.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)

        Returns
        -------
        accuracy : float
            From 0 to 1.

        Raises
        ------
        ValueError
            If there is another number of labels than of points.
        """
        predicted, y = self.predict(X), np.asarray(y)
        if y.shape != predicted.shape:
            raise ValueError(f"expected {len(predicted)} labels, got an array of shape {y.shape}")
        return float((predicted == y).mean())

    def summary(self) -> str:
        """The result in a few lines of text.

        Returns
        -------
        str
        """
        lines = [f"classes       {', '.join(map(str, self.classes))}",
                 f"kernel        {self.kernel_type}",
                 f"pairs         {len(self.recovered)} of {len(self.pairs)} recovered"]
        if self.support_vectors is not None:
            own = (", the model's own as far as the pairs show" if self.own_vectors
                   else " that the pairs recovered show")
            lines.append(f"vectors       {len(self.support_vectors)}{own}")
        lines += [f"agreement     {value:.4f} {where}" for where, value in self.agreement.items()]
        lines.append(f"queries       {self.queries:,}")
        if self.message:
            lines.append(fill(self.message, 80, initial_indent="note          ",
                              subsequent_indent=" " * 14))
        return "\n".join(lines)
