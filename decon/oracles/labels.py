"""Which of a model's two labels counts as +1."""

from typing import Any

import numpy as np

from .errors import OracleError, SeveralClasses


class Labels:
    """The two labels of a model, learned from its answers, and their signs.

    Parameters
    ----------
    positive : label, optional
        The label that counts as +1. Left out, it is 1 (or True) where the other label is 0, -1 or
        False, and of any other two labels the larger.

    Attributes
    ----------
    positive, negative : label or None
        None as long as it is not known.

    Examples
    --------
    >>> Labels().signs(np.array(["cat", "dog", "cat"]))
    array([-1,  1, -1], dtype=int8)
    """

    def __init__(self, positive: Any = None):
        self.positive: Any = positive.item() if isinstance(positive, np.generic) else positive
        self.negative: Any = None
        self._guessed = False  # nobody has said which label counts as +1
        self._met = False  # a +1 has occurred

    def __repr__(self) -> str:
        return f"Labels(positive={self.positive!r}, negative={self.negative!r})"

    def recall(self, positive: Any, negative: Any) -> None:
        """Take over the labels that a journal holds.

        Parameters
        ----------
        positive, negative : label or None
            None for one that has not been seen.

        Raises
        ------
        OracleError
            If another label was said to be the positive one.
        """
        if self.positive not in (None, positive):
            raise OracleError(f"the journal counts {positive!r} as +1, but positive="
                              f"{self.positive!r} was given: give that label, or journal= another "
                              "path")
        self._guessed = self.positive is None and positive == 1
        self.positive, self.negative = positive, negative

    def signs(self, labels: np.ndarray) -> np.ndarray:
        """The signs +1 and -1 (int8) of labels.

        Parameters
        ----------
        labels : array (n,)
            Answers of the model.

        Returns
        -------
        signs : int8 array (n,)

        Raises
        ------
        OracleError
            If a label is of a third kind, NaN or None, or it is not clear which counts as +1.
        """
        if self.negative is None:
            self.settle(labels)
        is_positive = labels == self.positive
        self._met = self._met or bool(np.any(is_positive))
        if not np.all(is_positive | (labels == self.negative)):
            self._complain(labels)
        return np.where(is_positive, 1, -1).astype(np.int8)

    def settle(self, labels: np.ndarray) -> None:
        """Find out which label is +1 and which is -1, as far as the labels seen tell.

        Parameters
        ----------
        labels : array (n,)
            Answers of the model.

        Raises
        ------
        OracleError
            As `signs`.
        """
        # the positive one
        kinds = _kinds(labels)
        if self.positive is None:
            self.positive = self._choose(kinds, labels)
            self._guessed = self.positive == 1

        # the negative one, if it has been seen
        others = kinds - {self.positive}
        if len(others) > 1:
            self._complain(labels)
        if others:
            self.negative = others.pop()
            if self._guessed and not (self.negative in (-1, 0) or self.negative < 1):
                raise _unclear(f"the model's labels are 1 and {self.negative!r}")

    def _choose(self, kinds, labels):
        """The label that counts as +1, where nobody has said so."""
        # 1 beside 0, -1 or False, also where it is alone
        if kinds <= {-1, 0, 1} and kinds != {-1, 0}:
            return type(next(iter(kinds)))(1)  # True, where the others are False
        if len(kinds) == 1:
            raise _unclear(f"the model has only said {next(iter(kinds))!r} so far")
        if len(kinds) > 2:
            self._complain(labels)

        # of any other two the larger
        try:
            return max(kinds)
        except TypeError:
            some = " and ".join(map(repr, kinds))
            raise _unclear(f"the model's labels {some} have no order") from None

    def _complain(self, labels):
        """Say that there are too many kinds of labels."""
        known = {self.positive, self.negative} - {None}
        kinds = sorted(_kinds(labels) | known, key=str)
        others = [kind for kind in kinds if kind != self.positive]
        if len(others) == 2 and not (self._guessed or self._met):
            raise OracleError(f"positive={self.positive!r} was said to count as +1, but the model "
                              f"says {others[0]!r} and {others[1]!r}: say which of the two it is")
        some = ", ".join(map(repr, kinds[:4])) + (" and so on" if len(kinds) > 4 else "")
        raise SeveralClasses(
            f"an oracle needs labels of two kinds, but this model has {len(kinds)}: {some}. If "
            "predict returns scores, give the oracle lambda X: score(X) > 0; if it has several "
            "classes, lambda X: predict(X) == one_class, or take them all apart with "
            "deconstruct_classes")


def _unclear(why):
    """The error where nobody has said which label counts as +1, and it cannot be guessed."""
    return OracleError(f"{why}: say with positive= which label counts as +1")


def _kinds(labels):
    """The set of the labels that occur."""
    kinds = set(labels.tolist())
    if any(kind is None or kind != kind for kind in kinds):
        raise OracleError("predict returned NaN or None where a label was expected")
    return kinds
