"""Models made to deceive: is a machine ever wrong, or a vector missing that is said to be there?

    python -m experiments.deceiving

Five kinds: features in unlike units; Gaussians so narrow that they hardly overlap; a Gaussian away
from the others, among the features or outside; vectors that are nearly alike; single precision:
400 models each, of the second and the last 100, which take longer. A result is false if its
machine gives wrong labels to more than one in a thousand of 4,000 points, if `own_vectors` is True
and a vector is missing or invented by more than `separation`, or a thousandth of its length, or if
the true rank, with or without directions weaker than a thousandth, lies outside `rank_bounds`.
`own_vectors` presumes that no vector of a Gaussian lies farther out than twice the size of the
features, and so do the bounds of its rank; a claim that lacks only such vectors counts as `beyond`.
Results go to deceiving.json: one row per kind and family.
"""

import warnings
from collections import defaultdict

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh, deconstruct

from ._compare import compare_machines
from ._models import random_model, single, trained_model, typical
from ._run import each, main, store

SEEDS = {"unlike units": 400, "narrow kernels": 100, "a vector away from the others": 400,
         "nearly alike": 400, "single precision": 100}
D = 16


def model(kind, seed):
    """The family, the labels, the true machine or None, typical points, and points to compare."""
    rng = np.random.default_rng(seed)
    if kind == "unlike units":
        return _in_units(seed, rng)
    if kind == "narrow kernels":
        gamma = float(rng.uniform(2, 10)) / 30
        svc, features = trained_model("cancer", int(rng.integers(8, 22)), seed, kernel="rbf",
                                      C=10, gamma=gamma)
        return "gaussian", svc.predict, KernelMachine.from_sklearn(svc), features
    if kind == "a vector away from the others":
        machine = _with_island(rng, seed)
        X = rng.standard_normal((500, D))
        return "gaussian", machine.predict, machine, typical(machine.predict, X)

    # random machines, as they are, with a vector that nearly repeats another, or rounded
    kernel = [Polynomial(3), Tanh(1.0, 0.1), Gaussian(1.5), Gaussian(4.0)][seed % 4]
    d = 8 if seed % 20 == 2 else D
    machine, features = random_model(kernel, d, int(rng.integers(2, 8)), seed)
    if kind == "nearly alike":
        Y = machine.support_vectors
        Y[1] = Y[0] + 10 ** rng.uniform(-5, -0.5) * (Y[1] - Y[0])
        return kernel.name, machine.predict, machine, features
    return kernel.name, single(machine), machine, features


def _in_units(seed, rng):
    """An SVC behind a scaler, on 60 patients and 12 features, two of which have large units."""
    from ._models import _data

    X, y = _data("cancer")
    order = rng.permutation(len(X))[:60]
    units = np.ones(12)
    units[rng.choice(12, 2, replace=False)] = 10 ** rng.uniform(0, 12)
    X, y = X[order, :12] * units, y[order]
    name, options = [("linear", {"kernel": "linear"}),
                     ("quadratic", {"kernel": "poly", "degree": 2, "coef0": 1}),
                     ("cubic", {"kernel": "poly", "degree": 3, "coef0": 1}),
                     ("gaussian", {})][seed % 4]
    fitted = make_pipeline(StandardScaler(), SVC(**options)).fit(X, y)
    return name, fitted.predict, None, X


def _with_island(rng, seed):
    """Some Gaussians near the origin, and one or two away from them, at most three sizes out."""
    m, sigma = int(rng.integers(3, 8)), float(rng.uniform(0.7, 4))
    Y, w = rng.standard_normal((m, D)) / np.sqrt(D), rng.standard_normal(m)
    far = rng.standard_normal((1 + seed % 2, D))
    far *= np.sqrt(D) * rng.uniform(0.7, 3, (len(far), 1)) / np.linalg.norm(far, axis=1)[:, None]
    far *= 0.999 if seed % 3 else 1 / 3
    weights = np.r_[w, rng.choice([-1, 1], len(far)) * rng.uniform(0.2, 2, len(far))]
    machine = KernelMachine(Gaussian(sigma), np.vstack([Y, far]), weights, 0)
    cloud = rng.standard_normal((1001, D))
    machine.threshold = float(np.median(machine.decision_function(cloud)))
    return machine


def one(kind, seed):
    """Take a model apart: what is said, and is it so?"""
    family, predict, truth, features = model(kind, seed)
    d, rng = features.shape[1], np.random.default_rng(seed + 1)
    oracle = Oracle(predict, d)
    row = {"family": family, "machine": False, "own_vectors": False, "false": "", "beyond": False}
    try:
        with warnings.catch_warnings(action="ignore"):
            result = deconstruct(oracle, features, random_state=seed, progress=False,
                                 surrogate=False)
    except ValueError:  # one label only
        return row | {"family": "one label"}
    row |= {"machine": result.machine is not None, "own_vectors": result.own_vectors,
            "queries": oracle.queries}

    # labels of the machine, near the features and among them
    if result.machine is not None:
        i, j, k = rng.integers(len(features), size=(3, 4000))
        points = features[i] + rng.uniform(-0.5, 0.5, (4000, 1)) * (features[j] - features[k])
        points += 0.3 * features.std(0) * rng.standard_normal(points.shape)
        if (Oracle(predict, d)(points) == result.machine.predict(points)).mean() < 0.999:
            row["false"] = "labels"

    # its vectors, and the rank
    if truth is not None:
        near = _near(truth, features)
        least, most = (np.linalg.matrix_rank(some.support_vectors, rtol=share)
                       for some, share in ((near, 1e-3), (truth, 1e-12)))
        low, high = result.rank_bounds or (0, d)
        if result.kernel_type in (family, "unknown") and not (least <= high and low <= most):
            row["false"] = f"rank {most}, not from {low} to {high}"
        if result.own_vectors and isinstance(result.machine, KernelMachine):
            errors = compare_machines(result.machine, truth, result.scale)
            known = compare_machines(result.machine, near, result.scale)
            off, most = errors["vectors_found"], max(1e-3, result.separation)
            if not max(off, known["vectors_missing"]) < most:
                off = max(off, errors["vectors_missing"])
                row["false"] = f"vectors off by {off:.0e}, not {result.separation:.0e}"
            row["beyond"] = not row["false"] and not errors["vectors_missing"] < most
    return row


def _near(truth, features):
    """A Gaussian machine without vectors farther out than twice the size of the features."""
    centre = features.mean(0)
    size = np.sqrt(((features - centre) ** 2).sum(1).mean())
    near = np.linalg.norm(truth.support_vectors - centre, axis=1) <= 2 * size
    near |= not isinstance(truth.kernel, Gaussian)
    return KernelMachine(truth.kernel, truth.support_vectors[near], truth.weights[near],
                         truth.threshold)


def run():
    """Take all the models apart and store one row for each kind and family."""
    tasks = [(kind, seed) for kind, seeds in SEEDS.items() for seed in range(seeds)]
    rows = defaultdict(list)
    for (kind, _), row in zip(tasks, each(one, tasks, "models"), strict=True):
        rows[kind, row["family"]].append(row)
    store(__file__, {"seeds": "0 to 399, and 0 to 99", "table": [
        {"kind": kind, "family": family, "models": len(found),
         "machines": sum(row["machine"] for row in found),
         "own_vectors": sum(row["own_vectors"] for row in found),
         "false": [row["false"] for row in found if row["false"]],
         "beyond": sum(row["beyond"] for row in found),
         "queries": np.median([row.get("queries", np.nan) for row in found])}
        for (kind, family), found in rows.items()]})


if __name__ == "__main__":
    main(run)
