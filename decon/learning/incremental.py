"""An SVM that learns and unlearns one example at a time, exactly [Cauwenberghs and Poggio 2001]."""

from copy import copy
from typing import Any

import numpy as np

from ..conventions.estimator import checked_input
from ..conventions.numbers import as_numbers
from ..kernels import Kernel, check_positive
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .checks import checked_points
from .kernel_choice import chosen_kernel
from .labels import checked_weights, class_weights, classes_of, codes_of, joined
from .learned import LearnedSVM
from .pairs import Pairs


class IncrementalSVM(LearnedSVM):
    """A soft-margin SVM kept at its optimum while examples arrive one by one.

    The decision function is f(x) = f0(x) + sum_i a_i t_i K(x_i, x) - threshold, with a fixed
    function f0 (`base`, zero if left out), and the multipliers maximise
    sum_i a_i (1 - t_i f0(x_i)) - 1/2 sum_ij a_i a_j t_i t_j K(x_i, x_j)
    over 0 <= a_i <= C_i, sum_i a_i t_i = 0, where C_i is C times the weight of example i. With
    g_i = t_i f(x_i) - 1 the optimum is where

        g_i >= 0 if a_i = 0,   g_i = 0 if 0 < a_i < C_i,   g_i <= 0 if a_i = C_i.

    A new example's multiplier grows from 0; all others and the threshold move along so that
    these conditions keep holding, from event to event (an example reaches or leaves the margin),
    until the new example fulfils its own. An example is unlearned by the same steps in reverse,
    and C and the kernel are changed in the same way [Diehl and Cauwenberghs 2003]. Where a path
    gets lost (among examples that are nearly the same, say), the optimum is computed afresh by
    `dual_optimum`.

    It is a classifier of scikit-learn's conventions: labels may be any two or more numbers or
    texts, and `clone`, pipelines and grid searches work (`kernel__sigma` is a parameter too).
    Parameters are checked when something is learned; parameters set later take effect at the next
    `fit`. Three or more classes are told apart one against one, by votes as scikit-learn's `SVC`
    counts them.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian, optional
        Left out, a Gaussian of scikit-learn's gamma='scale', 1 / (d var), with the (weighted)
        variance of the first examples that `fit` or `partial_fit` gets; 1 if `learn` comes first.
    C : float, positive
        The regularisation parameter: the upper bound of the multipliers.
    base : KernelMachine, optional
        f0 is its decision function. Its kernel must be `kernel`, and there must be two classes.
    class_weight : dict, 'balanced' or None
        Factors of C by label. 'balanced' is worked out by `fit`, and stays afterwards.
    decision_function_shape : 'ovr' or 'ovo'
        Of several classes: one column for each class, or for each pair. As in `SVC`.

    Attributes
    ----------
    classes_ : array (k,)
        The labels, sorted; of two, f > 0 says the second. `fit`, or `classes` of `partial_fit`,
        says what they are; otherwise they grow with the labels that arrive. (Where only +1 or only
        -1 has been seen, they are both of them.)
    X, y, a : arrays (n, d), (n,), (n,)
        Examples, labels +1 and -1 (those of `classes_`, if there are not two), and multipliers.
    threshold : float
        What is subtracted in f, beyond the base's own threshold. Where no multiplier lies strictly
        between its bounds, a whole interval is optimal, and this is a point of it.
    pairs_ : dict
        A `TwoClassSVM` for each pair (negative label, positive label). Of several classes, only
        these have `a`, `threshold` and the like.
    restarts : int
        How often the optimum was computed afresh.
    objective, kkt_residual : floats
        The dual objective, and by how much its conditions are violated; of several classes, the
        sum and the largest of all pairs.
    kernel_ : Kernel
        The one in use.
    n_features_in_, feature_names_in_ : int, array (d,)
        As scikit-learn keeps them; names only of a DataFrame.

    Warns
    -----
    UserWarning
        If the kernel is Tanh, which need not be positive semidefinite.

    Examples
    --------
    >>> from decon import Linear
    >>> svm = IncrementalSVM(Linear(), C=10.)
    >>> for x, t in [([0.], -1), ([2.], 1), ([3.], 1)]:
    ...     svm.learn(x, t)
    >>> svm.decision_function([[0.], [1.], [2.]]).round(6) + 0
    array([-1.,  0.,  1.])
    >>> svm = IncrementalSVM().fit([[0.], [1.], [4.], [8.]], ["low", "low", "mid", "high"])
    >>> svm.predict([[0.5], [3.8], [9.]]).tolist()
    ['low', 'mid', 'high']
    """

    def __init__(self, kernel: Kernel | None = None, C: float = 1.0,
                 base: KernelMachine | None = None, class_weight: dict | str | None = None,
                 decision_function_shape: str = "ovr"):
        self.kernel, self.C, self.base, self.class_weight = kernel, C, base, class_weight
        self.decision_function_shape = decision_function_shape

    def __repr__(self) -> str:
        name = f"IncrementalSVM({self.kernel or ''}{', ' if self.kernel else ''}C={self.C})"
        if not self.__sklearn_is_fitted__():
            return f"{name}: 0 examples"
        support = sum(np.count_nonzero(m.a) for m in self._pairs.machines.values())
        return f"{name}: {len(self.y)} examples, {support} support vectors"

    def fit(self, X: ArrayLike, y: ArrayLike,
            sample_weight: ArrayLike | None = None) -> "IncrementalSVM":
        """Learn these examples and no others: what was learned before is dropped.

        The same optimum as by `learn`, without a path to it.

        Parameters
        ----------
        X : array (n, d)
            Examples.
        y : array (n,)
            Their labels.
        sample_weight : array (n,), optional
            Each multiplier is at most C times its example's weight, which is not negative.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If X is sparse or the kernel is none.
        ValueError
            If shapes do not match, something is not finite, or a parameter is out of its range.
            The machine stays as it was.

        Examples
        --------
        >>> from decon import Linear
        >>> svm = IncrementalSVM(Linear(), C=10.).fit([[0.], [5.]], [-1, 1])
        >>> svm.fit([[0.], [2.]], [-1, 1])
        IncrementalSVM(Linear(), C=10.0): 2 examples, 2 support vectors
        """
        after = copy(self)
        points, labels = checked_input(after, X, y, reset=True)
        weight = checked_weights(sample_weight, len(points))
        after._start(classes_of(labels), points, weight, known=True)
        after._class_weight = class_weights(self.class_weight, after.classes_, labels)
        return self._become(after, points, labels, weight)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None,
                    sample_weight: ArrayLike | None = None) -> "IncrementalSVM":
        """Learn many more examples at once.

        The same optimum as by `learn`, without a path to it.

        Parameters
        ----------
        X : array (n, d)
            Examples.
        y : array (n,)
            Their labels.
        classes : array (k,), optional
            All labels that will ever occur, at the first call; left out, they join as they come.
        sample_weight : array (n,), optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As `fit`; also if a label is not one of the classes that `fit` or `classes` has named.
            The machine stays as it was.

        Examples
        --------
        >>> from decon import Linear
        >>> svm = IncrementalSVM(Linear(), C=10.).fit([[0.], [5.]], [-1, 1])
        >>> svm.partial_fit([[6.], [2.]], [1, 1])
        IncrementalSVM(Linear(), C=10.0): 4 examples, 2 support vectors
        """
        after, first = copy(self), not self.__sklearn_is_fitted__()
        points, labels = checked_input(after, X, y, reset=first)
        weight = checked_weights(sample_weight, len(points))
        if first:
            after._start(classes_of(labels) if classes is None else np.unique(classes), points,
                         weight, known=classes is not None)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes is {np.unique(classes).tolist()}, but was "
                             f"{self.classes_.tolist()} before")
        for label in np.unique(labels):
            after._join(label)
        return self._become(after, points, labels, weight)

    def learn(self, x: ArrayLike, y: Any, sample_weight: float = 1.0) -> None:
        """Learn one example and restore the optimum of all examples seen.

        Parameters
        ----------
        x : array (d,)
            The example.
        y : number or text
            Its label. A new one joins the classes, if they have not been named before.
        sample_weight : float, not negative
            Its multiplier is at most C times this.

        Raises
        ------
        ValueError
            If x has another length than the examples before it or is not finite, or y is not one
            of the classes that `fit` or `partial_fit` has named. The machine stays as it was.
        """
        after, first = copy(self), not self.__sklearn_is_fitted__()
        dimension = self.base.dimension if self.base is not None else 0
        X = checked_points(as_numbers(x)[None], dimension if first else self.n_features_in_)
        weight = np.asarray(sample_weight, float)
        if weight.ndim or not 0 <= weight < np.inf:
            raise ValueError(f"sample_weight must be a number >= 0, got {sample_weight!r}")
        if first:
            after._start(joined(np.empty(0), y), X, None, known=False)
        after._join(y)
        after.n_features_in_ = X.shape[1]

        # the path: nothing can go wrong after the kernel has been computed
        code = int(codes_of([y], after.classes_)[0])
        after._pairs.learn(X[0], code, float(weight * after._weights(code)))
        self.__dict__.update(after.__dict__)

    def decision_function(self, X: ArrayLike) -> Array:
        """f(x) at every row of X.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        array (n,)
            Positive for the second class. Of several, an array (n, k) of votes with confidences
            below 1/2, or the f of all pairs ('ovo'), positive for the first: both as in `SVC`.

        Raises
        ------
        ValueError
            If nothing has been learned yet, and there is no base; or if X has another shape.
        """
        pairs = self._fitted_pairs()
        values = pairs.values(checked_input(self, X))
        if values.shape[1] == 1:
            return values[:, 0]
        return values if self.decision_function_shape == "ovo" else pairs.confidences(values)

    def predict(self, X: ArrayLike) -> Array:
        """The label at every row of X: the class with most votes, the first of equals.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        array (n,)
            Of `classes_`.

        Raises
        ------
        ValueError
            As `decision_function`.
        """
        pairs = self._fitted_pairs()
        values = pairs.values(checked_input(self, X))
        codes = values[:, 0] > 0 if len(self.classes_) == 2 else pairs.votes(values).argmax(1)
        return self.classes_[codes.astype(int)]

    def _start(self, classes, X, weight, known):
        """Check the parameters; there are these classes, and others if they are not `known`."""
        kernel = chosen_kernel(self.kernel, X, weight)
        if self.base is not None and (self.base.kernel != kernel or len(classes) != 2):
            raise ValueError(f"base must have the same kernel {kernel} and there must be two "
                             f"classes, got {self.base.kernel} and the classes {classes.tolist()}")
        check_positive("C", self.C)
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError("decision_function_shape must be 'ovr' or 'ovo', got "
                             f"{self.decision_function_shape!r}")
        self.kernel_, self.classes_, self._known = kernel, classes, known
        self._class_weight = None if self.class_weight == "balanced" else class_weights(
            self.class_weight, classes, [])
        self._pairs = Pairs(kernel, self.C, self.base, len(classes))

    def _join(self, label):
        """One class more, unless they have been named: all pairs are made anew."""
        if label in self.classes_.tolist():
            return
        if self._known:
            codes_of([label], self.classes_)  # says what is wrong
        old = self._pairs
        labels = self.classes_[old.codes]
        self.classes_ = classes = joined(np.unique(labels), label)
        self._class_weight = class_weights(self.class_weight, classes, labels)
        if old.base is not None and len(classes) != 2:
            raise ValueError(f"a base has two labels, but there are the classes {classes.tolist()}")
        self._pairs = Pairs(old.kernel, old.C, old.base, len(classes))
        if len(labels):
            self._pairs = self._pairs.fit(old.X, codes_of(labels, classes), old.weight)

    def _become(self, after, X, labels, weight):
        """Be what comes after these examples: all of them are learned, or none."""
        codes = codes_of(labels, after.classes_)
        after._pairs = after._pairs.fit(X, codes, weight * after._weights(codes))
        self.__dict__ = after.__dict__
        return self

    def _weights(self, codes):
        """The weights of examples' classes."""
        if self._class_weight is None:
            raise ValueError("class_weight='balanced' is worked out by fit: call fit first, or "
                             "give a dict of weights")
        return self._class_weight[codes]
