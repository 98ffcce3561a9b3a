"""Support vectors among the rows that an auditor has: are all of them found, and none invented?

    python -m experiments.rows

SVCs trained on all wines (each kind against the others) and on the breast cancer data, with the
kernels and the gammas of scikit-learn: on standardised features, and on raw ones behind a
StandardScaler. `deconstruct` gets the table of training features. Then the same models from a table
without 5% of the support vectors, and models of one half of a table from the other half: none of
their vectors may be claimed. In the plane (moons and circles) a claim may be made, but not a wrong
one. About half an hour. Results go to rows.json: one row per model.

    missing, invented  support vectors that are not found; rows that are taken for some
    weights            largest error of a weight, the largest weight being 1
    constants          relative error of sigma, of gamma / coef0, or of alpha (beta: absolute)
    wasted             share of the queries that the rows took, where they led to nothing
"""

from collections import Counter
from time import perf_counter

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_circles, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Oracle, deconstruct
from decon.kernels import kernel_from_sklearn

from ._run import each, main, store

DATA = ("wine 0", "wine 1", "wine 2", "cancer")
KERNELS = {"rbf": {}, "poly, coef0 = 0": {"kernel": "poly"},
           "poly, coef0 = 1": {"kernel": "poly", "coef0": 1}, "sigmoid": {"kernel": "sigmoid"}}
TABLES = ("complete", "5% missing", "other rows")
PLANE = {"moons": make_moons, "circles": make_circles}
PLANE_SIZES, PLANE_SEEDS = (25, 200), 10


def table(data):
    """The features of a data set, and whether a row is of the kind asked for."""
    name, *kind = data.split()
    X, y = (load_wine if name == "wine" else load_breast_cancer)(return_X_y=True)
    return X, y == int(*kind or [1])


def trained(data, kernel, gamma, C, scaler):
    """A model, the SVC inside, its table and the labels."""
    X, y = table(data)
    svc = SVC(**KERNELS[kernel], gamma=gamma, C=C)
    if scaler:
        return make_pipeline(StandardScaler(), svc), svc, X, y
    return svc, svc, StandardScaler().fit_transform(X), y


def one(data, kernel, gamma, C, scaler, given):
    """Take one model apart from a table, complete or not, and compare it with the SVC inside."""
    model, svc, X, y = trained(data, kernel, gamma, C, scaler)
    rng, rows = np.random.default_rng(0), np.arange(len(X))
    if given == "other rows":
        half, rows = np.split(rng.permutation(rows), [len(X) // 2])
        model.fit(X[half], y[half])
        truth = np.empty(0, int)
    else:
        truth = model.fit(X, y)[-1].support_ if scaler else model.fit(X, y).support_
        if given == "5% missing":
            lost = rng.choice(truth, int(np.ceil(0.05 * len(truth))), replace=False)
            rows = np.setdiff1d(rows, lost)
    row = {"data": data, "kernel": kernel, "gamma": gamma, "C": C, "scaler": scaler,
           "given": given, "m": len(svc.support_)}
    return row | taken_apart(model, svc, X, rows, truth)


def taken_apart(model, svc, X, rows, truth):
    """What came of a model from some rows of a table, of which these are the support vectors."""
    start = perf_counter()
    result = deconstruct(Oracle(model.predict, X.shape[1]), X[rows], progress=False)
    stages = result.queries_by_stage
    row = {"named": result.kernel_type, "own_vectors": result.own_vectors,
           "queries": sum(stages.values()), "rows": stages.get("rows", 0),
           "seconds": perf_counter() - start}
    if not result.own_vectors:
        return row | {"wasted": row["rows"] / row["queries"]}
    found = rows[result.match(X[rows])]
    row |= {"found": len(found), "missing": len(np.setdiff1d(truth, found)),
            "invented": len(np.setdiff1d(found, truth))}
    if row["missing"] or row["invented"]:
        return row

    # weights in the order of the table, b among them, and the constants
    order = np.argmin([np.abs(X - y).max(1) for y in result.machine.support_vectors], axis=1)
    ours = np.append(result.machine.weights[np.argsort(order)], result.machine.threshold)
    true = np.append(svc.dual_coef_[0][np.argsort(svc.support_)], -svc.intercept_[0])
    machine, kernel = result.machine, kernel_from_sklearn(svc)
    if kernel.name == "gaussian":
        constants = machine.kernel.sigma / kernel.sigma - 1
    elif kernel.name == "tanh":
        constants = max(abs(machine.kernel.alpha / kernel.alpha - 1), abs(machine.kernel.beta))
    else:
        constants = machine.kernel.coef0 * kernel.gamma / machine.kernel.gamma - kernel.coef0
        ours[-1] = true[-1] = 0  # whose factor depends on gamma
    ours, true = ours / np.abs(ours[:-1]).max(), true / np.abs(true[:-1]).max()
    return row | {"weights": np.abs(ours - true).max(), "constants": abs(constants)}


def in_the_plane(shape, size, seed):
    """An SVC of two features, from its own training table."""
    X, y = PLANE[shape](size, noise=0.15, random_state=seed)
    svc = SVC().fit(X, y)
    if abs(svc.predict(X).mean() - 0.5) == 0.5:
        return None
    row = taken_apart(svc, svc, X, np.arange(size), svc.support_)
    wrong = row.get("missing", 0) + row.get("invented", 0) > 0
    return "wrong" if wrong else "right" if row["own_vectors"] else "refused"


def run():
    """Take all models apart and store one row of each."""
    tasks = [(data, kernel, gamma, C, scaler, given) for data in DATA for kernel in KERNELS
             for gamma in ("scale", "auto") for C in (1, 10) for scaler in (False, True)
             for given in TABLES if given == "complete" or (gamma, C) == ("scale", 1)]
    plane = [(shape, size, seed) for shape in PLANE for size in PLANE_SIZES
             for seed in range(PLANE_SEEDS)]
    outcomes = zip(plane, each(in_the_plane, plane, "planes"), strict=True)
    counts = Counter((shape, size, outcome) for (shape, size, _), outcome in outcomes)
    store(__file__, {
        "models": each(one, tasks, "models"),
        "plane": [{"shape": shape, "rows": size, "outcome": outcome, "models": count}
                  for (shape, size, outcome), count in sorted(counts.items(), key=str)]})


if __name__ == "__main__":
    main(run)
