"""The laconic black box: it answers +1 or -1, nothing else, and every answer is counted."""

from numbers import Integral, Real

import numpy as np

from .errors import BudgetExhausted, OracleError
from .journal import Journal

BLOCK_BYTES = 64e6  # points are sent to the box in blocks of about this size
ERROR = 2e-6  # the largest probability that points are voted to the wrong label


class Oracle:
    """Any classifier of two kinds of labels, seen through +1 and -1 only.

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
    budget : int, optional
        The largest number of answers that may be asked for.
    noise : float in [0, 0.5), default 0
        The probability that an answer is wrong, each independently of all others. Every point is
        asked about until one label leads by `lead` answers.
    bounds : pair (lower, upper) of floats or of arrays (d,), optional
        The box that no query may leave.
    journal : path-like, optional
        A file in which every answer is kept. The same run made again reads its answers there, as
        far as they go, and asks the box for the rest alone; `decon.journal.Journal` tells more.

    Attributes
    ----------
    queries : int
        Answers so far, the cost of everything in this book. Those from a journal count.
    calls : int
        Calls of `predict` so far.
    lead : int
        The smallest k with (p / (1 - p))^k at most 2e-6, where p is the noise: about the
        probability that k answers too many are wrong (the gambler's ruin). 1 without noise.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above.
    OracleError
        If the journal is none, or is damaged.

    Examples
    --------
    >>> oracle = Oracle(lambda X: X.sum(axis=1) > 1, dimension=2)
    >>> oracle([[0., 0.], [1., 1.]])
    array([-1,  1], dtype=int8)
    >>> oracle.queries, oracle.calls
    (2, 1)

    A box of which every hundredth answer is wrong costs three times as much:

    >>> rng = np.random.default_rng(0)
    >>> noisy = Oracle(lambda X: (X.sum(axis=1) > 1) ^ (rng.random(len(X)) < .01), 2, noise=.01)
    >>> noisy.lead, bool((noisy(np.ones((1000, 2))) == 1).all()), noisy.queries
    (3, True, 3068)
    """

    def __init__(self, predict, dimension, positive=None, budget=None, noise=0.0, bounds=None,
                 journal=None):
        if not callable(predict):
            raise TypeError(f"predict must be callable, got {predict!r}: give model.predict, say")
        if not isinstance(dimension, Integral) or dimension < 1:
            raise ValueError(f"dimension must be a whole number from 1, got {dimension!r}")
        if budget is not None and not (isinstance(budget, Real) and budget >= 0):
            raise ValueError(f"budget must be a number of queries >= 0 or None, got {budget!r}")
        if not (isinstance(noise, Real) and 0 <= noise < 0.5):
            raise ValueError(f"noise must be a rate of wrong answers in [0, 0.5), got {noise!r}")
        self.predict = predict
        self.dimension = int(dimension)
        self.budget = budget
        self.noise = noise
        self.bounds = None if bounds is None else _bounds(bounds, self.dimension)
        self.queries = 0
        self.calls = 0
        self._positive = positive.item() if isinstance(positive, np.generic) else positive
        self._negative = None
        self._guessed = False  # which label counts as +1
        self._met = False  # whether a +1 has occurred
        self._journal = None if journal is None else Journal(journal, self.dimension)
        if self._journal and self._journal.labels:
            known = self._journal.labels
            if positive not in (None, known[0]):
                raise OracleError(f"{journal} counts {known[0]!r} as +1, but positive={positive!r} "
                                  "was given: give that label, or journal= another path")
            self._guessed = positive is None and known[0] == 1
            self._positive, self._negative = known

    @property
    def lead(self):
        """By how many answers one label must lead before a point is taken to have it."""
        if self.noise == 0:
            return 1
        return int(np.ceil(np.log(ERROR) / np.log(self.noise / (1 - self.noise))))

    def __call__(self, X):
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
            If X is not of shape (n, d), holds NaN or infinity, or leaves the bounds. Nothing was
            asked.
        BudgetExhausted
            If n more queries exceed the budget. Nothing was asked (of a noisy box: no more).
        OracleError
            If predict raises, returns another number of labels than points, or labels of more
            than two kinds (scores, say); if the journal belongs to another run.
        """
        X = self._check(X)
        if self.noise == 0:
            return self._answers(X)
        rows = self._rows // self.lead + 1
        votes = [self._vote(X[i : i + rows]) for i in range(0, len(X), rows)]
        return np.concatenate(votes) if votes else np.empty(0, np.int8)

    def inside(self, X):
        """Which rows of X lie within the bounds? Bool array (n,); all of them without bounds."""
        X = np.asarray(X, float)
        if self.bounds is None:
            return np.ones(len(X), bool)
        lower, upper = self.bounds
        return ((lower <= X) & (X <= upper)).all(1)

    def seen_from(self, centre):
        """The same oracle for points given relative to a centre (d,); it counts in this one."""
        return _Shifted(self, np.asarray(centre, float))

    @property
    def _rows(self):
        return max(1, int(BLOCK_BYTES / (8 * self.dimension)))

    def _check(self, X):
        X = np.asarray(X, float)
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ValueError(f"expected points of shape (n, {self.dimension}), got {X.shape}")
        if not np.isfinite(X).all():
            raise ValueError("points must be finite, but some are NaN or infinite")
        outside = np.flatnonzero(~self.inside(X))
        if len(outside):
            i = outside[0]
            lower, upper = self.bounds
            k = np.argmax((X[i] < lower) | (X[i] > upper))
            raise ValueError(f"{len(outside)} of {len(X)} points are out of bounds: feature {k} of "
                             f"point {i} is {X[i, k]:.6g}, but may be from {lower[k]:.6g} to "
                             f"{upper[k]:.6g}")
        return X

    def _vote(self, X):
        """The labels of the rows of X, each asked for until one label leads by `lead`."""
        score, undecided = np.zeros(len(X), int), np.arange(len(X))
        while len(undecided):
            # so many more answers are needed at least: no point is asked about in vain
            again = np.repeat(undecided, self.lead - np.abs(score[undecided]))
            np.add.at(score, again, self._answers(X[again]))
            undecided = undecided[np.abs(score[undecided]) < self.lead]
        return np.sign(score).astype(np.int8)

    def _answers(self, X):
        """One answer a row of X, as +1 and -1."""
        if self.budget is not None and self.queries + len(X) > self.budget:
            raise BudgetExhausted(
                f"the budget is {self.budget} queries; {self.queries} are spent and "
                f"{len(X)} more are needed: raise budget="
            )
        blocks = [X[i : i + self._rows] for i in range(0, len(X), self._rows)]
        asked = [None] * len(blocks)
        if self._positive is None and blocks:  # all blocks together must show both labels
            asked = [self._ask(block) for block in blocks]
            self._settle(np.concatenate(asked))
        signs = [self._remembered(*pair) for pair in zip(blocks, asked, strict=True)]
        return np.concatenate(signs) if signs else np.empty(0, np.int8)

    def _remembered(self, X, labels):
        """The signs of a block of points, from the journal or else from the box."""
        if self._journal and labels is None:
            positive = self._journal.replay(X)
            if positive is not None:
                self.queries += len(X)
                return np.where(positive, 1, -1).astype(np.int8)
        signs = self._signs(self._ask(X) if labels is None else labels)
        if self._journal:
            self._journal.name((self._positive, self._negative))
            self._journal.append(X, signs > 0)
        return signs

    def _ask(self, X):
        try:
            labels = self.predict(X.copy())  # a predict may change what it is given
        except OracleError:  # the box is itself an oracle
            raise
        except Exception as error:
            raise OracleError(
                f"predict raised {type(error).__name__} on an array of shape {X.shape}: {error}"
            ) from error
        self.calls += 1
        self.queries += len(X)
        labels = np.asarray(labels)
        if labels.size != len(X) or labels.ndim > 2:
            raise OracleError(
                f"predict must return one label a point: {len(X)} points were asked about and "
                f"the answer has shape {labels.shape}. If these are scores of classes, as of "
                "predict_proba, give the box lambda X: scores(X)[:, 1] > 0.5"
            )
        return labels.ravel()

    def _signs(self, labels):
        if self._negative is None:
            self._settle(labels)
        is_positive = labels == self._positive
        self._met = self._met or bool(np.any(is_positive))
        if not np.all(is_positive | (labels == self._negative)):
            self._complain(labels)
        return np.where(is_positive, 1, -1).astype(np.int8)

    def _settle(self, labels):
        """Find out which label is +1 and which is -1, as far as the labels seen tell."""
        kinds = _kinds(labels)
        if self._positive is None:
            if kinds <= {-1, 0, 1} and kinds != {-1, 0}:
                self._positive = 1
            elif len(kinds) == 2:
                try:
                    self._positive = max(kinds)
                except TypeError:
                    raise OracleError(
                        f"the box's labels {' and '.join(map(repr, kinds))} have no order, so "
                        "which of them counts as +1 is not clear: say so with positive="
                    ) from None
            elif len(kinds) == 1:
                raise OracleError(
                    f"the box has only said {next(iter(kinds))!r} so far, so which label counts "
                    "as +1 is not clear: say so with positive="
                )
            else:
                self._complain(labels)
            self._guessed = self._positive == 1
        others = kinds - {self._positive}
        if len(others) > 1:
            self._complain(labels)
        if others:
            self._negative = others.pop()
            if self._guessed and not (self._negative in (-1, 0) or self._negative < 1):
                raise OracleError(
                    f"the box's labels are 1 and {self._negative!r}, so which of them counts as "
                    "+1 is not clear: say so with positive="
                )

    def _complain(self, labels):
        known = {self._positive, self._negative} - {None}
        kinds = sorted(_kinds(labels) | known, key=str)
        others = [kind for kind in kinds if kind != self._positive]
        if len(others) == 2 and not (self._guessed or self._met):
            raise OracleError(
                f"positive={self._positive!r} was said to count as +1, but the box says "
                f"{others[0]!r} and {others[1]!r}: say which of the two it is"
            )
        some = ", ".join(map(repr, kinds[:4])) + (" and so on" if len(kinds) > 4 else "")
        raise OracleError(
            f"a laconic box has labels of two kinds, but this one has {len(kinds)}: {some}. If "
            "predict returns scores, give the box lambda X: score(X) > 0; if it has several "
            "classes, lambda X: predict(X) == one_class"
        )


class _Shifted:
    """An oracle in coordinates of its own: its points are relative to a centre."""

    def __init__(self, oracle, centre):
        self.oracle, self.centre, self.dimension = oracle, centre, oracle.dimension
        self.bounds = None
        if oracle.bounds is not None:
            lower, upper = oracle.bounds
            margin = 1e-12 * (upper - lower)  # for the rounding of X + centre
            self.bounds = lower + margin - centre, upper - margin - centre

    def __call__(self, X):
        return self.oracle(X + self.centre)

    def inside(self, X):
        return self.oracle.inside(X + self.centre)


def _kinds(labels):
    kinds = set(labels.tolist())
    if any(kind is None or kind != kind for kind in kinds):
        raise OracleError("predict returned NaN or None where a label was expected")
    return kinds


def _bounds(bounds, d):
    """The bounds as two arrays (d,)."""
    try:
        lower, upper = (np.array(np.broadcast_to(np.asarray(b, float), d)) for b in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be a pair (lower, upper) of numbers or of arrays ({d},), "
                         f"got {bounds!r}") from None
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (lower < upper).all()):
        raise ValueError("bounds must be finite, and every lower one below its upper one: leave a "
                         "feature that cannot change out of the box")
    return lower, upper
