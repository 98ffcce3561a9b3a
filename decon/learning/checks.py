"""Checks of examples and labels, shared by all that learn from them."""

import numpy as np

from ..conventions.numbers import as_numbers
from ..types import Array, ArrayLike


def checked_examples(X: ArrayLike, t: ArrayLike, dimension: int = 0,
                     labels: bool = True) -> tuple[Array, Array]:
    """Examples and their labels as arrays of floats, if they can be learned.

    Parameters
    ----------
    X : array (n, d)
        Examples, one a row, at least one.
    t : array (n,)
        Their labels +1 and -1; or, without `labels`, any numbers.
    dimension : int
        The number of features that there must be; 0 for any.
    labels : bool

    Returns
    -------
    X, t : arrays

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, or a label is neither +1 nor -1.

    Examples
    --------
    >>> checked_examples([[0.], [2.]], [-1, 1])
    (array([[0.],
           [2.]]), array([-1.,  1.]))
    """
    # the examples
    X, t = as_numbers(X), np.asarray(t)
    if X.ndim != 2 or t.shape != X.shape[:1] or dimension not in (0, X.shape[1]):
        raise ValueError(f"expected shapes (n, {dimension or 'd'}) and (n,), got {X.shape} and "
                         f"{t.shape}")
    X = checked_points(X, dimension)

    # their labels or targets
    if labels and (t.dtype == bool or not np.isin(t, (-1, 1)).all()):
        raise ValueError(f"labels must be +1 and -1 only, got {np.unique(t)[:5]}: "
                         "np.where(y == one_class, 1, -1) makes them")
    if not labels and not np.isfinite(t).all():
        raise ValueError("targets must be finite, but some are NaN or infinite")
    return X, t.astype(float)


def checked_points(X: ArrayLike, dimension: int = 0) -> Array:
    """Points as an array of floats, if they can be learned.

    Parameters
    ----------
    X : array (n, d)
    dimension : int
        The number of features that there must be; 0 for any.

    Returns
    -------
    array (n, d)

    Raises
    ------
    TypeError
        If X is sparse.
    ValueError
        If it has another shape, no row, no column, or an entry that is no finite number.

    Examples
    --------
    >>> checked_points([[0, 2]], dimension=2)
    array([[0., 2.]])
    """
    X = as_numbers(X)
    if X.ndim != 2 or dimension not in (0, X.shape[1]):
        raise ValueError(f"expected points of shape (n, {dimension or 'd'}), got {X.shape}")
    if X.size == 0 or not np.isfinite(X).all():
        raise ValueError("there must be at least one example, and every example must be finite, "
                         "without NaN or infinity")
    return X
