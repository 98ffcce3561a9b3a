"""Arrays of numbers, and clear errors where there are none."""

from typing import Any

import numpy as np

from ..types import Array


def as_numbers(X: Any) -> Array:
    """An array of floats.

    Parameters
    ----------
    X : array, list or DataFrame

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If X is sparse.
    ValueError
        If an entry is text.

    Examples
    --------
    >>> as_numbers([[1, 2]])
    array([[1., 2.]])
    """
    if hasattr(X, "toarray"):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' to "
                        "convert to a dense numpy array.")
    try:
        return np.asarray(X, float)
    except ValueError as error:
        raise explained(error) from None


def explained(error: ValueError) -> ValueError:
    """A clearer error, where text stands among numbers.

    Parameters
    ----------
    error : ValueError

    Returns
    -------
    ValueError

    Examples
    --------
    >>> print(explained(ValueError("could not convert string to float: 'red'")))
    every feature must be a number, but one is 'red': encode text first, for instance with \
sklearn.preprocessing.OneHotEncoder
    """
    text = str(error).partition("could not convert string to float: ")[2]
    if not text:
        return error
    text = text.removeprefix("np.str_(").removesuffix(")")
    return ValueError(f"every feature must be a number, but one is {text}: encode text first, for "
                      "instance with sklearn.preprocessing.OneHotEncoder")
