"""A model of several classes, seen through its labels only."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from ..oracles.errors import OracleError, SeveralClasses
from ..oracles.examples import table_maker
from ..oracles.journal import CLASSES, Journal
from ..oracles.oracle import Oracle, real_points
from ..types import Array, ArrayLike

MOST_CLASSES = 256  # in a journal: a byte per label


class ClassOracle(Oracle):
    """An `Oracle` with labels of any number of kinds: any classifier, seen through its labels.

    Parameters
    ----------
    predict : callable
        Takes an array (n, d) of finite floats and returns n labels: all numbers or all strings.
    dimension : int
        The number d of features.
    budget : int or None
        The largest number of queries that may be spent; None: any number.
    journal : path-like, optional
        A file in which every answer is kept, as for `Oracle`: a second run replays it and queries
        the model only for the rest. Of at most 256 classes.

    Attributes
    ----------
    queries, calls : int
        Answers so far, and calls of `predict`.
    examples : array (n, d) or None
        Those that `from_examples` was given.
    classes : tuple
        The labels seen so far, in increasing order.

    Raises
    ------
    TypeError, ValueError
        As `Oracle`.

    Examples
    --------
    >>> oracle = ClassOracle(lambda X: np.sign(X[:, 0]).astype(int), dimension=1)
    >>> oracle([[2.], [-1.], [0.]]), oracle.queries
    (array([ 1, -1,  0]), 3)
    """

    def __init__(self, predict: Callable[[Any], ArrayLike], dimension: int,
                 budget: int | None = None, journal: str | PathLike | None = None):
        super().__init__(predict, dimension, budget=budget)
        self.classes: tuple[Any, ...] = ()
        self._journal = None if journal is None else Journal(journal, self.dimension)

    @classmethod
    def from_examples(cls, predict: Callable[[Any], ArrayLike], X: Any,
                      **options: Any) -> "ClassOracle":
        """The oracle of a model, with examples: its dimension and the names of the features.

        Parameters
        ----------
        predict : callable
            As for `ClassOracle`.
        X : array (n, d) or DataFrame
            Typical points of all classes.
        **options
            `budget` and `journal`, as for `ClassOracle`.

        Returns
        -------
        ClassOracle

        Raises
        ------
        TypeError, ValueError
            If X is sparse, not of two axes, or holds what is no finite number.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> X, y = load_iris(return_X_y=True)
        >>> ClassOracle.from_examples(SVC().fit(X, y).predict, X).dimension
        4
        """
        points = real_points(X, None, "examples")
        oracle = cls(predict, points.shape[1], **options)
        oracle.examples, oracle._table = points, table_maker(predict, X)
        return oracle

    def pair(self, one: Any, other: Any, origin: Array, units: Array, reach: float, box: bool,
             budget: int | None = None) -> Oracle:
        """Two labels, as an oracle of points u: the model is asked at origin + units u.

        Parameters
        ----------
        one, other : labels
            For +1 and for -1.
        origin, units : arrays (d,)
        reach : float
            A third label nearer to the origin than that, in u, is an error; farther away all
            labels but `one` count as -1.
        box : bool
            Whether no coordinate of u may be larger than `reach`: then no label is farther away.
        budget : int, optional
            Of queries through this oracle.

        Returns
        -------
        Oracle
            Raises SeveralClasses where a third label is met.

        Examples
        --------
        >>> oracle = ClassOracle(lambda X: X[:, 0].round(), dimension=1)
        >>> pair = oracle.pair(1, 0, np.array([0.5]), np.array([1.0]), reach=0.4, box=True)
        >>> pair([[-0.3], [0.3]])
        array([-1,  1], dtype=int8)
        """
        def is_one(U):
            labels = self(origin + units * U)
            third = (labels != one) & (labels != other)
            if not box:
                third &= (U**2).sum(1) < reach**2
            if third.any():
                raise SeveralClasses(f"the label {labels[third][0]!r} was met between {one!r} and "
                                     f"{other!r}")
            return labels == one

        return Oracle(is_one, self.dimension, positive=True, budget=budget,
                      bounds=(-reach, reach) if box else None)

    def _answers(self, X):
        """One label per row of X, in the model's own words."""
        self._afford(len(X))
        if len(X) == 0:
            return np.empty(0, int)
        labels = np.concatenate([self._kept(part) for part in self._blocks(X)])
        self.classes = tuple(sorted({*self.classes, *labels.tolist()}))
        return labels

    def _kept(self, X):
        """The labels of a block of points, from the journal or else from the model, into it."""
        journal = self._journal
        codes = None if journal is None else journal.next_answers(X, CLASSES)
        if codes is not None:
            self.queries += len(X)
            return np.array(journal.labels)[codes]
        labels = self._query(X)
        if journal is not None:
            known = list(dict.fromkeys([*(journal.labels or ()), *labels.tolist()]))
            if len(known) > MOST_CLASSES:
                raise OracleError(f"a journal keeps up to {MOST_CLASSES} classes; the model has "
                                  "more: leave journal= out")
            journal.keep_labels(tuple(known))
            code = {label: k for k, label in enumerate(known)}
            journal.append_classes(X, np.array([code[k] for k in labels.tolist()], np.uint8))
        return labels
