"""What practitioners bring: default SVCs with all rows and with few, and models that are hostile.

    python -m experiments.practice

Default SVCs of four data sets, as they are, on standardised features and behind a scaler. With
all training rows, and with ten of each label that it was not trained on. Then models that once
cost millions of queries, raised an exception or were never answered. About 5 minutes.
Results go to practice.json: one row per model, with how often `predict` agrees with the model on
all rows of the table, and on these with noise of 0.3 spreads.
"""

import warnings
from time import process_time

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_circles,
    make_moons,
)
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import Gaussian, KernelMachine, Oracle, deconstruct

from ._run import each, main, store

SETS = ["moons 0", "moons 1", "circles 0", "circles 1", "wine 0", "wine 1", "wine 2", "cancer"]
WAYS = ["given", "standardised", "behind a scaler"]
HOSTILE = [*(f"tree of depth {depth}, wine {kind}" for depth in (2, 3, 5) for kind in range(3)),
           "forest, cancer", "boosted trees, wine 1", "half precision", "clipped linear, digits",
           "clipped linear, digits standardised", "raw cubic, cancer", "raw cubic, few rows",
           "tanh of 30 vectors", "tanh of 60 vectors", "wide Gaussian within bounds"]


def table(name):
    """Features and labels of a data set."""
    kind, _, which = name.partition(" ")
    if kind == "moons":
        return make_moons(200, noise=0.2, random_state=int(which))
    if kind == "circles":
        return make_circles(200, noise=0.1, factor=0.5, random_state=int(which))
    if kind == "wine":
        X, y = load_wine(return_X_y=True)
        return X, (y == int(which)).astype(int)
    return load_breast_cancer(return_X_y=True)


def default_svc(name, way, rows):
    """A default SVC, the features that it is taken apart with, and all rows."""
    X, y = table(name)
    X = StandardScaler().fit_transform(X) if way == "standardised" else X
    model = make_pipeline(StandardScaler(), SVC()) if way == "behind a scaler" else SVC()
    if rows == "training":
        return model.fit(X, y).predict, X, X

    # others: trained on one half, taken apart with some of the other half
    order = np.random.default_rng(0).permutation(len(X))
    first, second = np.array_split(order, 2)
    model.fit(X[first], y[first])
    labels = model.predict(X[second])
    few = np.concatenate([second[labels == kind][:10] for kind in np.unique(labels)])
    return model.predict, X[few], X


def hostile(name):
    """The labels of a hostile model, features, all rows, and options of the oracle."""
    (wine, kinds), (cancer, tumours), (pixels, digits) = (
        load(return_X_y=True) for load in (load_wine, load_breast_cancer, load_digits))
    rng = np.random.default_rng(0)
    if name.startswith("tree"):
        model = DecisionTreeClassifier(max_depth=int(name[14]), random_state=0)
        return model.fit(wine, kinds == int(name[-1])).predict, wine, {}
    if name.startswith("forest"):
        return RandomForestClassifier(20, random_state=0).fit(cancer, tumours).predict, cancer, {}
    if name.startswith("boosted"):
        model = GradientBoostingClassifier(n_estimators=20, random_state=0)
        return model.fit(wine, kinds == 1).predict, wine, {}
    if name == "half precision":
        machine = KernelMachine.random(Gaussian(1.5), 10, 3, 1)
        return (lambda X: machine.predict(X.astype(np.float16).astype(float)),
                rng.standard_normal((300, 10)), {})
    if name.startswith("clipped"):
        model = make_pipeline(*[StandardScaler()] * name.endswith("standardised"),
                              SVC(kernel="linear", C=0.01)).fit(pixels, digits < 5)
        return (lambda X: model.predict(np.clip(X, 0, 16))), pixels, {}
    if name.startswith("raw cubic"):
        model = SVC(kernel="poly", degree=3, coef0=1).fit(cancer, tumours)
        return model.predict, cancer[::20] if name.endswith("few rows") else cancer, {}
    if name.startswith("tanh"):
        X = StandardScaler().fit_transform(pixels)
        some = rng.permutation(len(X))[:int(name[8:10])]
        model = SVC(kernel="sigmoid", C=10).fit(X[some], digits[some] < 5)
        return model.predict, X[:20], {}
    Y, w = rng.random((15, 20)), rng.standard_normal(15)
    psi = KernelMachine(Gaussian(10.0), Y, w, 0).decision_function(rng.random((1001, 20)))
    machine = KernelMachine(Gaussian(10.0), Y, w, np.median(psi))
    return machine.predict, rng.random((40, 20)), {"bounds": (0, 1)}


def one(kind, *arguments):
    """Take a model apart, and compare the labels of what comes out."""
    if kind == "hostile":
        predict, features, options = hostile(*arguments)
        X = features
    else:
        (predict, features, X), options = default_svc(*arguments), {}
    labels = predict(np.concatenate([features, X]))
    if len(set(labels.tolist())) < 2:
        return {"kind": kind, "model": ", ".join(arguments), "verdict": "one label only"}
    positive = max(labels.tolist())
    farthest = [0.0]

    def watched(points):
        farthest.append(float(np.abs(points).max()))
        return predict(points)

    oracle, start = Oracle(watched, X.shape[1], positive=positive, **options), process_time()
    with warnings.catch_warnings(action="ignore"):
        result = deconstruct(oracle, features, random_state=0, progress=False)
    row = {"kind": kind, "model": ", ".join(arguments), "kernel_type": result.kernel_type,
           "verdict": result.verdict, "own_vectors": result.own_vectors,
           "queries": oracle.queries, "seconds": process_time() - start,
           "farthest": max(farthest), "message": result.message}

    # rows of the table, and rows with noise
    noisy = X + 0.3 * X.std(0) * np.random.default_rng(5).standard_normal(X.shape)
    noisy = noisy if "bounds" not in options else np.clip(noisy, *options["bounds"])
    with warnings.catch_warnings(action="ignore"):
        for name, points in (("rows", X), ("noisy", noisy)):
            row[name] = float((result.predict(points) == predict(points)).mean())
    return row


def run():
    """Take all the models apart and store one row for each."""
    tasks = [("default SVC", name, way, rows) for rows in ("training", "other")
             for name in SETS for way in WAYS]
    tasks += [("hostile", name) for name in HOSTILE]
    store(__file__, {"table": each(one, tasks, "models")})


if __name__ == "__main__":
    main(run)
