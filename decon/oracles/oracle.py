"""The label-only oracle: it answers +1 or -1, nothing else, and every answer is counted."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from ..numerics.blocks import blocks
from ..types import Array, ArrayLike
from .errors import BudgetExhausted, OracleError
from .examples import common_range, table_maker
from .journal import Journal
from .labels import Labels
from .settings import SETTINGS

REAL = int | float | np.integer | np.floating


class Oracle:
    """Any binary classifier, seen through its labels +1 and -1 only (the hard-label setting).

    Parameters
    ----------
    predict : callable
        Takes an array (n, d) of finite floats and returns n labels of two kinds: numbers,
        booleans or strings.
    dimension : int
        The number d of features.
    positive : label, optional
        The label that counts as +1. Left out, it is 1 (or True) where the other label is 0, -1
        or False, and of any other two labels the larger, like scikit-learn's `classes_[1]`; in
        that case the first call must show both.
    budget : int, None or 'auto', default 'auto'
        The largest number of queries that may be spent; None: any number. 'auto' leaves it to
        `deconstruct`, which gives up a search that costs unusually much, but not its result.
    noise : float in [0, 0.5), default 0
        The probability that an answer is wrong, each independently of all others. Every point is
        queried until one label leads by `votes_to_lead` answers.
    bounds : pair (lower, upper) of floats or of arrays (d,), optional
        The lower and upper bounds of the features, which no query may leave.
    journal : path-like, optional
        A file in which every answer is kept. When the same run is repeated, it reads the answers
        from there and queries the model only for the rest; see `decon.oracles.journal.Journal`.

    Attributes
    ----------
    queries : int
        Answers so far, the cost of everything in this book. Those from a journal count.
    calls : int
        Calls of `predict` so far.
    examples : array (n, d) or None
        Those that `from_examples` was given.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.
    OracleError
        If the file is not a journal, or is damaged.

    Examples
    --------
    >>> oracle = Oracle(lambda X: X.sum(axis=1) > 1, dimension=2)
    >>> oracle([[0., 0.], [1., 1.]])
    array([-1,  1], dtype=int8)
    >>> oracle.queries, oracle.calls
    (2, 1)

    A model of which every hundredth answer is wrong costs three times as much:

    >>> rng = np.random.default_rng(0)
    >>> noisy = Oracle(lambda X: (X.sum(axis=1) > 1) ^ (rng.random(len(X)) < .01), 2, noise=.01)
    >>> noisy.votes_to_lead, bool((noisy(np.ones((1000, 2))) == 1).all()), noisy.queries
    (3, True, 3068)
    """

    def __init__(self, predict: Callable[[Array], ArrayLike], dimension: int,
                 positive: Any = None, budget: float | str | None = "auto", noise: float = 0.0,
                 bounds: tuple[ArrayLike, ArrayLike] | None = None,
                 journal: str | PathLike | None = None):
        # arguments that cannot be used
        if not callable(predict):
            raise TypeError(f"predict must be callable, got {predict!r}: give model.predict, say")
        if not isinstance(dimension, int | np.integer) or dimension < 1:
            raise ValueError(f"dimension must be a whole number from 1, got {dimension!r}")
        if budget not in (None, "auto") and not (isinstance(budget, REAL) and budget >= 0):
            raise ValueError("budget must be a number of queries >= 0, None or 'auto', "
                             f"got {budget!r}")
        if not (isinstance(noise, REAL) and 0 <= noise < 0.5):
            raise ValueError(f"noise must be a rate of wrong answers in [0, 0.5), got {noise!r}")

        # the model, its labels, and the journal that may know them
        self.predict, self.dimension = predict, int(dimension)
        self.budget, self.noise = budget, float(noise)
        self.bounds = None if bounds is None else _bounds(bounds, self.dimension)
        self.queries = self.calls = 0
        self.examples: Array | None = None
        self._table = table_maker(predict)
        self._labels = Labels(positive)
        self._journal = None if journal is None else Journal(journal, self.dimension)
        if self._journal and (labels := self._journal.two_labels()):
            self._labels.recall(*labels)

    @classmethod
    def from_examples(cls, predict: Callable[[Any], ArrayLike], X: Any,
                      **options: Any) -> "Oracle":
        """The oracle of a model, with what examples tell about it.

        These are the dimension; the names of the features, if X is a DataFrame: the model is then
        called with DataFrames too; the two labels, which a few queries show; and bounds, where the
        features are whole numbers in one range, as pixels are (`bounds=None` for none). The
        examples are kept: `deconstruct(oracle)` takes them for its features.

        Parameters
        ----------
        predict : callable
            As for `Oracle`.
        X : array (n, d) or DataFrame
            Typical points, of both labels.
        **options
            `positive`, `budget`, `noise`, `bounds` and `journal`, as for `Oracle`.

        Returns
        -------
        Oracle

        Raises
        ------
        TypeError, ValueError
            If X is sparse, not of two axes, or holds what is no finite number; or as `Oracle`.
        OracleError
            If the model says only one label, or more than two and `positive` was not given.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.svm import SVC
        >>> X, y = load_digits(return_X_y=True)
        >>> model = SVC(kernel="linear").fit(X, y < 5)
        >>> oracle = Oracle.from_examples(model.predict, X)
        >>> oracle.dimension, oracle.labels, float(oracle.bounds[1][0])
        (64, (True, False), 16.0)
        """
        # names, dimension, bounds
        points = real_points(X, None, "examples")
        options = {"bounds": common_range(points)} | options
        oracle = cls(predict, points.shape[1], **options)
        oracle.examples, oracle._table = points, table_maker(predict, X)

        # labels, of a few examples or of all
        few, others = np.split(np.random.default_rng(0).permutation(points), [SETTINGS.few])
        oracle(few)
        if oracle._labels.negative is None and len(others):
            oracle(others)
        if oracle._labels.negative is None:
            raise OracleError(f"the model gives all {len(points)} examples the same label "
                              f"{oracle._labels.positive!r}: add examples of another one")
        return oracle

    def __repr__(self) -> str:
        return f"Oracle(dimension={self.dimension}, {self.queries:,} queries, {self.calls:,} calls)"

    @property
    def labels(self) -> tuple[Any, Any]:
        """The model's own labels for +1 and for -1, or 1 and -1 before it has said both."""
        known = self._labels
        return (1, -1) if known.negative is None else (known.positive, known.negative)

    @property
    def votes_to_lead(self) -> int:
        """By how many answers one label must lead before a point is taken to have it."""
        return votes_to_lead(self.noise)

    def __call__(self, X: ArrayLike) -> Array:
        """The labels +1 or -1 of the rows of X.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : int8 array (n,)

        Raises
        ------
        ValueError
            If X is not of shape (n, d), holds NaN or infinity, or leaves the bounds. No query is
            spent.
        BudgetExhausted
            If n more queries exceed the budget. No query is spent (with votes: no more).
        OracleError
            If predict raises, returns another number of labels than points, or labels of more
            than two kinds (scores, say); if the journal belongs to another run.
        """
        return self.at_noise(X, self.noise)

    def at_noise(self, X: ArrayLike, noise: float) -> Array:
        """The labels of the rows of X, voted for another rate of wrong answers than the oracle's.

        Parameters
        ----------
        X : array (n, d)
        noise : float in [0, 0.5)

        Returns
        -------
        labels : int8 array (n,)

        Raises
        ------
        ValueError, BudgetExhausted, OracleError
            As a call of the oracle.
        """
        points, lead = self._check(X), votes_to_lead(noise)
        if noise == 0:
            return self._answers(points)
        votes = [vote(self._answers, part, lead) for part in self._blocks(points, lead)]
        return np.concatenate(votes) if votes else np.empty(0, np.int8)

    def inside(self, X: ArrayLike) -> Array:
        """Which rows of X lie within the bounds?

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        inside : bool array (n,)
            True without bounds.
        """
        X = np.asarray(X, float)
        if self.bounds is None:
            return np.ones(len(X), bool)
        lower, upper = self.bounds
        return np.all((lower <= X) & (X <= upper), axis=1)

    def _blocks(self, X, times=1):
        """The rows of X in blocks that, repeated so many times, go to the model at once."""
        return [X[j] for j in blocks(len(X), times * self.dimension, SETTINGS.block_megabytes)]

    def _check(self, X):
        """The points as floats, if they may be queried."""
        X = real_points(X, self.dimension)

        # the first number that is out of bounds
        outside = np.flatnonzero(~self.inside(X))
        if len(outside):
            i = outside[0]
            lower, upper = self.bounds
            k = np.argmax((X[i] < lower) | (X[i] > upper))
            raise ValueError(f"{len(outside)} of {len(X)} points are out of bounds: feature {k} of "
                             f"point {i} is {X[i, k]:.6g}, but may be from {lower[k]:.6g} to "
                             f"{upper[k]:.6g}")
        return X

    def _afford(self, n):
        """Raise an error if n more queries exceed the budget."""
        if isinstance(self.budget, REAL) and self.queries + n > self.budget:
            raise BudgetExhausted(f"the budget is {self.budget} queries; {self.queries} are spent "
                                  f"and {n} more are needed: raise budget=")

    def _answers(self, X):
        """One answer per row of X, as +1 and -1."""
        self._afford(len(X))
        if len(X) == 0:
            return np.empty(0, np.int8)

        # all blocks together must show both labels, the first time
        parts = self._blocks(X)
        answered = [None] * len(parts)
        if self._labels.positive is None:
            answered = [self._query(part) for part in parts]
            self._labels.settle(np.concatenate(answered))
        return np.concatenate([*map(self._remembered, parts, answered)])

    def _remembered(self, X, labels):
        """The signs of a block of points, from the journal or else from the model."""
        # from the journal, where it goes on
        if self._journal and labels is None:
            positive = self._journal.replay(X)
            if positive is not None:
                self.queries += len(X)
                return np.where(positive, 1, -1).astype(np.int8)

        # from the model, into the journal
        signs = self._labels.signs(self._query(X) if labels is None else labels)
        if self._journal:
            self._journal.keep_labels((self._labels.positive, self._labels.negative))
            self._journal.append(X, signs > 0)
        return signs

    def _query(self, X):
        """What the model says of a block of points."""
        # its answer, or why there is none; a predict may change what it is given
        points = self._table(X.copy())
        try:
            labels = self.predict(points)
        except OracleError:  # the model is itself an oracle
            raise
        except Exception as error:
            raise OracleError(f"predict raised {type(error).__name__} on an array of shape "
                              f"{X.shape}: {error}") from error
        self.calls += 1
        self.queries += len(X)

        # one label per point
        labels = np.asarray(labels)
        if labels.size != len(X) or labels.ndim > 2:
            raise OracleError(f"predict must return one label per point: {len(X)} points were "
                              f"queried and the answer has shape {labels.shape}. If these are "
                              "scores of classes, as of predict_proba, give the oracle "
                              "lambda X: scores(X)[:, 1] > 0.5")
        return labels.ravel()


def votes_to_lead(noise: float) -> int:
    """By how many answers one label must lead before a point is taken to have it.

    The smallest k with (p / (1 - p))^k at most 2e-6, where p is the noise: this is about the
    probability that the wrong label is the first to lead by k (the gambler's ruin). 1 without
    noise.

    Parameters
    ----------
    noise : float in [0, 0.5)
        The probability that an answer is wrong.

    Returns
    -------
    lead : int

    Examples
    --------
    >>> votes_to_lead(0.01), votes_to_lead(0.2)
    (3, 10)
    """
    if noise == 0:
        return 1
    return int(np.ceil(np.log(SETTINGS.wrong_vote) / np.log(noise / (1 - noise))))


def vote(answers: Callable[[Array], Array], X: Array, lead: int) -> Array:
    """The labels of the rows of X, each queried until one label leads by `lead` answers.

    Parameters
    ----------
    answers : callable
        One answer +1 or -1 per row, which may be wrong.
    X : array (n, d)
    lead : int

    Returns
    -------
    labels : int8 array (n,)

    Examples
    --------
    >>> answers = iter([[1, -1], [1, 1]])
    >>> vote(lambda X: next(answers), np.zeros((1, 3)), lead=2)
    array([1], dtype=int8)
    """
    score, undecided = np.zeros(len(X), int), np.arange(len(X))
    while len(undecided):
        # so many more answers are needed at least: no query is superfluous (alg-misbehave-vote)
        again = np.repeat(undecided, lead - np.abs(score[undecided]))
        np.add.at(score, again, answers(X[again]))
        undecided = undecided[np.abs(score[undecided]) < lead]
    return np.sign(score).astype(np.int8)


def real_points(X: Any, dimension: int | None, name: str = "points") -> Array:
    """Points as an array of floats, if that is what they are.

    Parameters
    ----------
    X : array (n, d) or DataFrame
    dimension : int or None
        The number d of features; None for any.
    name : str
        What a message calls them.

    Returns
    -------
    X : float array (n, d)

    Raises
    ------
    TypeError
        If they are a sparse matrix.
    ValueError
        If they are of another shape, no numbers, complex, NaN or infinite.

    Examples
    --------
    >>> real_points([[1, 2]], dimension=2)
    array([[1., 2.]])
    """
    if hasattr(X, "toarray"):
        raise TypeError(f"{name} are a sparse matrix: give {name}.toarray()")
    if np.iscomplexobj(X):
        raise ValueError(f"{name} must be real numbers, but some are complex")
    try:
        points = np.asarray(X, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}. Encode categories as numbers, as the "
                         "model's own pipeline does, or query the model behind that step") from None
    if points.ndim != 2 or dimension not in (None, points.shape[1]):
        raise ValueError(f"expected {name} of shape (n, {dimension or 'd'}), got {points.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(points.sum())  # in one pass; overflow alone may make it infinite
    if not (finite or np.isfinite(points).all()):
        raise ValueError(f"{name} must be finite, but some are NaN or infinite")
    return points


def _bounds(bounds, d):
    """The bounds as two arrays (d,)."""
    try:
        lower, upper = (np.array(np.broadcast_to(np.asarray(b, float), d)) for b in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be a pair (lower, upper) of numbers or of arrays ({d},), "
                         f"got {bounds!r}") from None
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (lower < upper).all()):
        raise ValueError("bounds must be finite, and every lower one below its upper one: drop a "
                         "feature that cannot change, and let predict fill it in")
    return lower, upper
