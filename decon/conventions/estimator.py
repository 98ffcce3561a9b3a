"""scikit-learn's conventions for classifiers, without importing scikit-learn.

`sklearn.base` loads scipy.stats, which is most of the time that `import decon` would take. So what
`BaseEstimator` and `ClassifierMixin` do is done here, and scikit-learn is imported when it is used.
"""

from dataclasses import fields, is_dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from ..types import Array, ArrayLike
from .numbers import explained


class Estimator:
    """A classifier that scikit-learn's tools accept: clone, pipelines, grid searches.

    Examples
    --------
    >>> from sklearn.base import is_classifier
    >>> from decon import Gaussian, IncrementalSVM
    >>> svm = IncrementalSVM(Gaussian(2.), C=10.)
    >>> svm.get_params()["kernel__sigma"], svm.set_params(kernel__sigma=3.).kernel
    (2.0, Gaussian(sigma=3.0))
    >>> is_classifier(svm)
    True
    """

    @classmethod
    def _parameter_names(cls):
        return [name for name in signature(cls).parameters]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters.

        Parameters
        ----------
        deep : bool
            Those of the parameters too: `kernel__sigma`.

        Returns
        -------
        dict
        """
        found = {}
        for name in self._parameter_names():
            value = found[name] = getattr(self, name)
            if deep and is_dataclass(value):
                found |= {f"{name}__{f.name}": getattr(value, f.name) for f in fields(value)}
            elif deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{key}": part for key, part in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> "Estimator":
        """Set parameters; what has been learned stays until the next fit.

        Parameters
        ----------
        **params
            By the names that `get_params` lists.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        for name in params:
            if name.partition("__")[0] not in self._parameter_names():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid "
                                 f"parameters are: {self._parameter_names()!r}.")
        for name, value in sorted(params.items(), key=lambda item: "__" in item[0]):
            outer, _, inner = name.partition("__")
            if inner:
                value = _with_parameter(getattr(self, outer), inner, value)
            setattr(self, outer, value)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """The labels of points: each class has its own.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        array (n,)
        """
        raise NotImplementedError

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of labels that `predict` gets right.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
            The right labels.
        sample_weight : array (n,), optional
            How much each counts.

        Returns
        -------
        float
        """
        right = self.predict(X) == np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, float)
        return float(np.average(right, weights=weights))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True),
                    classifier_tags=ClassifierTags(), input_tags=InputTags())


def _with_parameter(value, name, part):
    """A parameter with one of its own changed."""
    if is_dataclass(value):
        return replace(value, **{name: part})
    if hasattr(value, "set_params"):
        return value.set_params(**{name: part})
    raise ValueError(f"{value!r} has no parameter {name!r}")


def checked_input(estimator: Any, X: ArrayLike, y: ArrayLike | None = "no_validation",
                  reset: bool = False) -> Any:
    """Points, and labels if they are given, as scikit-learn checks them.

    Parameters
    ----------
    estimator : object
        Gets `n_features_in_` and `feature_names_in_`, or is compared with them.
    X : array (n, d)
        An array, a list or a DataFrame; finite numbers.
    y : array (n,), optional
        Labels of any kind; None is no labels, and an error.
    reset : bool
        Whether the number and the names of features are new.

    Returns
    -------
    X, or X and y : arrays (n, d) of floats, (n,)

    Raises
    ------
    TypeError
        If X is sparse.
    ValueError
        If shapes do not match or an entry is no finite number; or if y holds no labels.
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import validate_data

    try:
        found = validate_data(estimator, X, y, reset=reset, dtype=np.float64)
    except ValueError as error:
        raise explained(error) from None
    if isinstance(found, tuple):
        check_classification_targets(found[1])
    return found


def not_fitted(estimator: Any) -> Exception:
    """scikit-learn's NotFittedError, which is a ValueError and an AttributeError.

    Parameters
    ----------
    estimator : object

    Returns
    -------
    sklearn.exceptions.NotFittedError
    """
    from sklearn.exceptions import NotFittedError

    return NotFittedError(f"nothing has been learned yet: this {type(estimator).__name__} instance "
                          "is not fitted yet, call fit, partial_fit or learn first")
