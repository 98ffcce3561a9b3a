"""One-vs-one SVCs of three to ten classes, taken apart pair by pair.

    python -m experiments.several_classes

SVCs with linear, quadratic and Gaussian kernels on iris, wine (both standardised) and digits of
3, 5 and 10 classes. Those with Gaussian kernels are trained on so few rows that every pair of
classes has fewer support vectors than there are features. Then models that are no SVC and vote all
the same: logistic regression and discriminant analysis, the largest of several functions. And
controls: trees, neighbours and forests. Results go to several_classes.json: one row per model, with
the pairs that were recovered and those that meet nowhere, queries, seconds, and how many labels are
right: of the rows (`rows_right`) and of 20,000 points around them (`around`). `vectors_missing` and
`vectors_invented` compare the support vectors that are called the model's own with the true ones.
"""

from time import process_time

import numpy as np
from scipy.spatial import KDTree
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import ClassOracle, deconstruct_classes

from ._run import each, main, store

DATA = {"iris": 3, "wine": 3, "digits, 3 classes": 3, "digits, 5 classes": 5,
        "digits, 10 classes": 10}
ROWS = {"iris": (1, 1, 1), "wine": (4,) * 3, "digits, 3 classes": (6,) * 3,
        "digits, 5 classes": (4,) * 5, "digits, 10 classes": (3,) * 10}  # of each class
SVCS = {"linear": lambda: SVC(kernel="linear"),
        "quadratic": lambda: SVC(kernel="poly", degree=2, coef0=1),
        "gaussian": lambda: SVC(C=10)}
OTHERS = {"logistic regression": lambda: LogisticRegression(max_iter=500),
          "linear discriminant analysis": LinearDiscriminantAnalysis,
          "quadratic discriminant analysis": lambda: QuadraticDiscriminantAnalysis(reg_param=0.1)}
CONTROLS = {"tree": lambda: DecisionTreeClassifier(random_state=0),
            "neighbours": lambda: KNeighborsClassifier(3),
            "forest": lambda: RandomForestClassifier(20, random_state=0)}
MODELS = SVCS | OTHERS | CONTROLS
SEEDS, FEATURES, POINTS = 3, 200, 20_000


def load(name):
    """Rows and labels."""
    if name in ("iris", "wine"):
        X, y = (load_iris if name == "iris" else load_wine)(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    X, y = load_digits(return_X_y=True)
    return X[y < DATA[name]] / 16, y[y < DATA[name]]


def fitted(name, kind, seed):
    """A model, and all rows."""
    X, y = load(name)
    if kind != "gaussian":
        half = np.random.default_rng(seed).permutation(len(X))[:max(100, len(X) // 2)]
        return MODELS[kind]().fit(X[half], y[half]), X
    rng = np.random.default_rng(seed)
    few = np.concatenate([rng.choice(np.flatnonzero(y == label), n, replace=False)
                          for label, n in enumerate(ROWS[name])])
    return MODELS[kind]().fit(X[few], y[few]), X


def one(name, kind, seed):
    """Take one model apart."""
    model, X = fitted(name, kind, seed)
    rng = np.random.default_rng(seed + 100)
    features = X[rng.permutation(len(X))[:FEATURES]]
    oracle, start = ClassOracle(model.predict, X.shape[1]), process_time()
    result = deconstruct_classes(oracle, features, random_state=seed, progress=False)
    row = {"data": name, "model": kind, "seed": seed, "classes": len(result.classes),
           "features": X.shape[1], "pairs": len(result.pairs), "recovered": len(result.recovered),
           "unmet": sum("never met" in p.message or "hardly" in p.message
                        for p in result.pairs.values()),
           "kernel_type": result.kernel_type, "own_vectors": result.own_vectors,
           "queries": oracle.queries, "seconds": process_time() - start,
           "agreement": result.agreement, "message": result.message}

    # the labels of all rows, and of points around them
    radius = X.std() * rng.choice([0.03, 0.1, 0.3, 1.0], (POINTS, 1))
    around = X[rng.integers(len(X), size=POINTS)] + radius * rng.standard_normal((POINTS,
                                                                                  X.shape[1]))
    row["rows"], row["rows_right"] = len(X), int((result.predict(X) == model.predict(X)).sum())
    row["around"] = int((result.predict(around) == model.predict(around)).sum())

    # the vectors
    if kind == "gaussian":
        row["vectors"] = len(model.support_)
    if kind == "gaussian" and result.own_vectors:
        Y, Z, near = model.support_vectors_, result.support_vectors, 1e-4 * np.sqrt(X.shape[1])
        row["vectors_missing"] = int((KDTree(Z).query(Y)[0] > near * X.std()).sum())
        row["vectors_invented"] = int((KDTree(Y).query(Z)[0] > near * X.std()).sum())
    return row


def summary(rows):
    """One row per data set and kind of model."""
    table = []
    for name, kind in dict.fromkeys((row["data"], row["model"]) for row in rows):
        group = [row for row in rows if (row["data"], row["model"]) == (name, kind)]
        table.append({
            "data": name, "model": kind, "models": len(group),
            "pairs": sum(row["pairs"] for row in group),
            "recovered": sum(row["recovered"] for row in group),
            "unmet": sum(row["unmet"] for row in group),
            "all_rows_right": sum(row["rows_right"] == row["rows"] for row in group),
            "all_around_right": sum(row["around"] == POINTS for row in group),
            "least_around": min(row["around"] for row in group),
            "own_vectors": sum(row["own_vectors"] for row in group),
            "false_own": sum(row.get("vectors_missing", 0) + row.get("vectors_invented", 0) > 0
                             for row in group),
            "queries": np.median([row["queries"] for row in group]),
            "seconds": np.median([row["seconds"] for row in group])})
    return table


def run():
    """Take all models apart and store one row for each."""
    tasks = [(name, kind, seed) for name in DATA for kind in SVCS for seed in range(SEEDS)]
    tasks += [(name, kind, seed) for name in list(DATA)[:3] for kind in OTHERS
              for seed in range(SEEDS)]
    tasks += [(name, kind, seed) for name in ("iris", "wine") for kind in CONTROLS
              for seed in range(SEEDS)]
    rows = each(one, tasks, "models")
    store(__file__, {"summary": summary(rows), "table": rows})


if __name__ == "__main__":
    main(run)
