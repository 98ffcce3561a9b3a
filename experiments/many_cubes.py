"""Cubic machines of more support vectors than dimensions: are the vectors found the model's own?

    python -m experiments.many_cubes

Random machines of M support vectors in m of d dimensions; cubic SVCs of few features of the breast
cancer data, which have more support vectors than features; and cubics that are no such sum: with
general coefficients, or of more vectors than a cubic determines. Results go to many_cubes.json: one
row per kind, with the `models` that were tried, those `recovered` (some machine passed the
agreement test), those said to have their `own` vectors, and of these the `false` ones: a vector
missing, invented, or off by more than a millionth of its length. `determined` counts models of so
few vectors that almost all cubics of so many have no others.
"""

from collections import defaultdict
from time import process_time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.families.cubic.overcomplete import largest_number

from ._compare import compare
from ._models import typical
from ._run import each, main, store

RANDOM = [(m, M, d) for m, M in ((6, 9), (8, 12), (10, 15), (12, 18), (12, 24)) for d in (m, 30)]
GENERAL, TOO_MANY = (5, 6, 8), ((5, 14), (6, 16), (8, 24))  # m; m and M
TRAINED = (6, 8, 10)  # features
SEEDS, CONTROLS = 20, 20


def random_machine(m, M, d, seed):
    """A machine of M support vectors that span m dimensions, and features."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, m)))[0]
    Y, w = rng.standard_normal((M, m)) / np.sqrt(m) @ basis.T, rng.standard_normal(M)
    psi = KernelMachine(Polynomial(3), Y, w, 0).decision_function(rng.standard_normal((1001, d)))
    machine = KernelMachine(Polynomial(3), Y, w, np.median(psi))
    return machine, typical(machine.predict, rng.standard_normal((500, d)))


def general_cubic(m, seed):
    """The labels of a cubic with random coefficients, and features."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((m + 1, m + 1, m + 1))

    def psi(X):
        H = np.c_[X, np.ones(len(X))]
        return np.einsum("ni,nj,nk,ijk->n", H, H, H, T, optimize=True)

    b = np.median(psi(rng.standard_normal((1001, m))))

    def predict(X):
        return np.where(psi(X) > b, 1, -1)

    return predict, typical(predict, rng.standard_normal((500, m)))


def trained_machine(d, seed):
    """A cubic SVC of d features of the breast cancer data and of 60 rows, and other rows."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    X, order = StandardScaler().fit_transform(X), rng.permutation(len(X))
    X, y = X[order][:, rng.permutation(30)[:d]], y[order]
    svc = SVC(kernel="poly", degree=3, coef0=1, gamma=1 / d, C=0.1).fit(X[:60], y[:60])
    return KernelMachine.from_sklearn(svc), typical(svc.predict, X[60:])


def one(kind, *arguments):
    """Take one model apart and compare the vectors."""
    start = process_time()
    makers = {"random": random_machine, "trained": trained_machine, "general": general_cubic,
              "too many": random_machine}
    model, features = makers[kind](*arguments)
    predict, truth = (model, None) if kind == "general" else (model.predict, model)
    d, seed = features.shape[1], arguments[-1]
    oracle = Oracle(predict, d)
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    row = {"recovered": result.machine is not None, "own": result.own_vectors, "false": False,
           "queries": oracle.queries, "seconds": process_time() - start, "error": None}
    if truth is not None:
        row["n_support"], row["determined"] = len(truth.weights), _determined(truth, d)
    if result.own_vectors:
        if truth is None:
            return row | {"false": True}
        found = compare(result, truth)
        row["error"] = max(found["vectors_found"], found["vectors_missing"])
        row["false"] = bool(row["error"] > 1e-6 or result.n_support != len(truth.weights))
    return row


def _determined(machine, d):
    """Are there so few vectors that a cubic determines them?"""
    rank = np.linalg.matrix_rank(machine.support_vectors)
    return len(machine.weights) <= max(rank, largest_number(rank))


def run():
    """Take all the models apart and store one row per kind."""
    tasks = [("random", *sizes, seed) for sizes in RANDOM for seed in range(SEEDS)]
    tasks += [("trained", d, seed) for d in TRAINED for seed in range(SEEDS)]
    tasks += [("general", m, seed) for m in GENERAL for seed in range(CONTROLS)]
    tasks += [("too many", m, M, m + 2, seed) for m, M in TOO_MANY for seed in range(CONTROLS)]
    rows = defaultdict(list)
    for (*kind, _), row in zip(tasks, each(one, tasks, "models"), strict=True):
        rows[tuple(kind)].append(row)
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": [
        {"kind": kind[0], "sizes": kind[1:], "models": len(found),
         "determined": sum(r.get("determined", False) for r in found),
         "n_support": [r["n_support"] for r in found] if kind[0] == "trained" else None,
         "recovered": sum(r["recovered"] for r in found), "own": sum(r["own"] for r in found),
         "false": sum(r["false"] for r in found),
         "error": max((r["error"] for r in found if r["error"] is not None), default=None),
         "queries": np.median([r["queries"] for r in found]),
         "seconds": np.median([r["seconds"] for r in found])} for kind, found in rows.items()]})


if __name__ == "__main__":
    main(run)
