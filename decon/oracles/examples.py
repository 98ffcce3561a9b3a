"""What examples tell of a model: the names of its features, its labels, and bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..types import Array
from .settings import SETTINGS


def table_maker(predict: Callable, X: Any = None) -> Callable[[Array], Any]:
    """How to hand points to a model: as a table with names, if it was fitted on one.

    So that scikit-learn's models do not warn that their features have lost their names.

    Parameters
    ----------
    predict : callable
        If it is a method of a model with `feature_names_in_`, those are the names.
    X : array or DataFrame, optional
        Examples. The columns of a DataFrame are the names.

    Returns
    -------
    make : callable
        make(points) is what `predict` is to be called with.

    Examples
    --------
    >>> import pandas as pd
    >>> make = table_maker(len, pd.DataFrame({"age": [30.], "income": [2e4]}))
    >>> make(np.zeros((1, 2))).columns.tolist()
    ['age', 'income']
    """
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(getattr(predict, "__self__", None), "feature_names_in_", None)
    if names is None:
        return lambda points: points
    try:
        from pandas import DataFrame  # whoever has fitted a model on a table has it
    except ImportError:
        return lambda points: points
    return lambda points: DataFrame(points, columns=list(names))


def common_range(X: Array) -> tuple[float, float] | None:
    """The range of features that are whole numbers in one and the same range, as pixels are.

    Parameters
    ----------
    X : array (n, d)

    Returns
    -------
    lower, upper : floats, or None
        None where a number is not whole, where the range holds few numbers, or where most of the
        features that vary do not come near both of its ends.

    Examples
    --------
    >>> common_range(np.array([[0., 16.], [16., 1.], [7., 0.]]))
    (0.0, 16.0)
    >>> common_range(np.array([[0., 1., 1.], [16., 3., 0.], [7., 2., 1.]]))
    """
    lower, upper = float(X.min()), float(X.max())
    size = upper - lower
    if size < SETTINGS.least_range or (X != np.round(X)).any():
        return None

    # do the features come near both ends?
    lowest, highest = X.min(0), X.max(0)
    near = SETTINGS.near_the_end * size
    reaching = (lowest - lower <= near) & (upper - highest <= near)
    return (lower, upper) if reaching[lowest < highest].mean() >= 0.5 else None
