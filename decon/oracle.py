"""The laconic black box: it answers +1 or -1, nothing else, and every answer is counted."""

from numbers import Integral, Real

import numpy as np

BLOCK_BYTES = 64e6  # points are sent to the box in blocks of about this size


class OracleError(RuntimeError):
    """The box did not do what a laconic box does; `result` holds what had been learned so far."""

    result = None


class BudgetExhausted(OracleError):
    """The next question would cost more than the budget allows; nothing was asked."""


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
        The largest number of points that may be asked about.

    Attributes
    ----------
    queries : int
        Points answered so far, the cost of everything in this book.
    calls : int
        Calls of `predict` so far.

    Examples
    --------
    >>> oracle = Oracle(lambda X: X.sum(axis=1) > 1, dimension=2)
    >>> oracle([[0., 0.], [1., 1.]])
    array([-1,  1], dtype=int8)
    >>> oracle.queries, oracle.calls
    (2, 1)
    """

    def __init__(self, predict, dimension, positive=None, budget=None):
        if not callable(predict):
            raise TypeError(f"predict must be callable, got {predict!r}: give model.predict, say")
        if not isinstance(dimension, Integral) or dimension < 1:
            raise ValueError(f"dimension must be a whole number from 1, got {dimension!r}")
        if budget is not None and not (isinstance(budget, Real) and budget >= 0):
            raise ValueError(f"budget must be a number of queries >= 0 or None, got {budget!r}")
        self.predict = predict
        self.dimension = int(dimension)
        self.budget = budget
        self.queries = 0
        self.calls = 0
        self._positive = positive
        self._negative = None
        self._guessed = False

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
            If X is not of shape (n, d), or holds NaN or infinity. Nothing was asked.
        BudgetExhausted
            If n more queries exceed the budget. Nothing was asked.
        OracleError
            If predict raises, returns another number of labels than points, or labels of more
            than two kinds (scores, say).
        """
        X = self._check(X)
        if self.budget is not None and self.queries + len(X) > self.budget:
            raise BudgetExhausted(
                f"the budget is {self.budget} queries; {self.queries} are spent and "
                f"{len(X)} more are needed: raise budget="
            )
        rows = max(1, int(BLOCK_BYTES / (8 * self.dimension)))
        blocks = [self._ask(X[i : i + rows]) for i in range(0, len(X), rows)]
        return self._signs(np.concatenate(blocks)) if blocks else np.empty(0, np.int8)

    def _check(self, X):
        X = np.asarray(X, float)
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ValueError(f"expected points of shape (n, {self.dimension}), got {X.shape}")
        if not np.isfinite(X).all():
            raise ValueError("points must be finite, but some are NaN or infinite")
        return X

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
                f"the answer has shape {labels.shape}"
            )
        return labels.ravel()

    def _signs(self, labels):
        if self._negative is None:
            self._settle(labels)
        is_positive = labels == self._positive
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
        some = ", ".join(map(repr, kinds[:4])) + (" and so on" if len(kinds) > 4 else "")
        raise OracleError(
            f"a laconic box has labels of two kinds, but this one has {len(kinds)}: {some}. If "
            "predict returns scores, give the box lambda X: score(X) > 0; if it has several "
            "classes, lambda X: predict(X) == one_class"
        )


def _kinds(labels):
    kinds = set(labels.tolist())
    if any(kind is None or kind != kind for kind in kinds):
        raise OracleError("predict returned NaN or None where a label was expected")
    return kinds
