"""Networks with one hidden layer of rectifiers, recovered from labels; and what must be refused.

    python -m experiments.relu_networks

Random networks from 20-2-1 to 64-16-1, with 512, 784 and 3072 inputs, with more units than inputs,
and trained ones; then negative controls: trees, forests, SVMs, networks of two hidden layers,
nearest neighbours and one class of linear models of several classes. A few minutes on one
core. Results go to relu_networks.json: one row per model, with the number of labels of 20,000
that are right at random points (`far`) and of 20,000 on both sides of the model's own boundary, at
most 1e-5 of the data's scale away (`close`). Where the boundary has one kink only, labels do not
show the network, and the counts are those of what stands in for it.
"""

from collections import defaultdict
from time import process_time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import Oracle, deconstruct
from decon.boundary.bracketing import boundary_points
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.ledger import Ledger
from decon.extraction.survey import Survey
from decon.families.relu.family import ReluFamily
from decon.families.relu.network import ReluNetwork
from decon.teaching.datasets import load_mnist

from ._models import fitted_model, typical
from ._run import each, main, store
from .causes import one_class

POINTS, BATCH, CLOSE = 20_000, 2_000, 1e-5
RANDOM = [(20, 2), (20, 4), (20, 8), (32, 8), (48, 12), (64, 16)]  # inputs, units
WIDE = [(512, 2), (784, 2), (3072, 2)]
MORE_UNITS = [(5, 10), (10, 20), (8, 24), (20, 30), (16, 32)]
TRAINED = {"cancer": (4, 8, 16, 24, 32), "digits": (3, 4, 8, 12, 16, 24),
           "MNIST": (2, 3, 4, 8, 12, 16)}
CHEN = {512: 670_000, 784: 1_060_000, 3072: 4_200_000}  # queries of Chen et al. (ASIACRYPT 2024)
CONTROLS = {
    "tree": lambda s: fitted(DecisionTreeClassifier(max_depth=2 + s % 5, random_state=s), s),
    "forest": lambda s: fitted(RandomForestClassifier(10 + s, random_state=s), s),
    "boosted trees": lambda s: fitted(HistGradientBoostingClassifier(max_iter=10), s),
    "SVM, Gaussian": lambda s: fitted(SVC(C=10.0 ** (s % 3)), s),
    "network, two layers": lambda s: fitted(MLPClassifier(
        ((20, 10), (8, 4), (4, 3))[s % 3], max_iter=200, random_state=s), s),
    "nearest neighbours": lambda s: fitted(KNeighborsClassifier(1 + 2 * (s % 3)), s),
    "several classes, linear": lambda s: one_class(
        (SVC(kernel="linear"), LogisticRegression(max_iter=300))[s % 2], s),
}


def fitted(model, seed):
    """The labels of a model fitted to a table of two classes, and features."""
    model, features = fitted_model(model, ("cancer", "wine")[seed // 2 % 2], 120, seed)
    return model.predict, features


def random_network(dimension, units, seed):
    """A random network, features, and its parameters."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((units, dimension)) / np.sqrt(dimension)
    c, w = rng.standard_normal(units) / 2, rng.standard_normal(units)
    psi = ReluNetwork(A, c, w, np.zeros(dimension), 0).decision_function
    values = psi(rng.standard_normal((1001, dimension)))
    b = np.median(values[values != 0])  # at 0, all units are off
    network = ReluNetwork(A, c, w, np.zeros(dimension), b)
    X = np.random.default_rng(seed + 10_000).standard_normal((500, dimension))
    return network, typical(network.predict, X, 10)


def trained_network(data, units, seed):
    """The labels of a network that scikit-learn has trained, and features."""
    if data == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        X = StandardScaler().fit_transform(X)
    else:
        X, y = load_mnist() if data == "MNIST" else load_digits(return_X_y=True)
        X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)] == 3
        X = X / X.max()
    model = MLPClassifier((units,), max_iter=300, random_state=seed).fit(X, y)
    return model.predict, typical(model.predict, X, 10)


def right_labels(oracle, machine, scale, seed):
    """How many of 20,000 labels are right, far from the boundary and close to it."""
    rng, right, d = np.random.default_rng(seed), np.zeros(2, int), oracle.dimension
    for _ in range(POINTS // BATCH):
        # far: at random points
        X = rng.standard_normal((BATCH, d)) * scale / np.sqrt(d)
        X *= rng.choice([0.5, 1.0, 3.0], (BATCH, 1))
        labels = oracle(X)
        right[0] += (labels == machine.predict(X)).sum()

        # close: on both sides of the model's own boundary
        P, N = (X[labels == s][rng.integers((labels == s).sum(), size=BATCH // 2)] for s in (1, -1))
        B, V = boundary_points(oracle, P, N, 1e-9 * scale)
        for side in (1, -1):
            right[1] += (machine.predict(B + side * CLOSE * scale * V) == side).sum()
    return right


def unit_error(found, truth):
    """The largest distance of a found unit (a_i, c_i), |a_i| = 1, from the nearest true one."""
    F = np.c_[found.directions, found.offsets] / np.linalg.norm(found.directions, axis=1)[:, None]
    T = np.c_[truth.directions, truth.offsets] / np.linalg.norm(truth.directions, axis=1)[:, None]
    return max(min(np.linalg.norm(f - s * t) for t in T for s in (1, -1)) for f in F)


def one(kind, dimension, units, seed):
    """Extract a network, or a control."""
    truth = None
    if kind in CONTROLS:
        predict, features = CONTROLS[kind](seed)
    elif kind in TRAINED:
        predict, features = trained_network(kind, units, seed)
    else:
        truth, features = random_network(dimension, units, seed)
        predict = truth.predict
    oracle, start = Oracle(predict, features.shape[1]), process_time()
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    row = {"kind": kind, "dimension": oracle.dimension, "units": units, "seed": seed,
           "kernel_type": result.kernel_type, "verdict": result.verdict,
           "queries": oracle.queries, "family": result.queries_by_stage.get("relu network", 0),
           "seconds": process_time() - start, "message": result.message}

    # one kink: what stands in for the network
    machine, row["one_kink"] = result.machine, "has one kink" in result.message
    if row["one_kink"] and kind not in CONTROLS:
        survey = Survey(again := Oracle(predict, oracle.dimension), features,
                        Ledger(again, progress=False))
        survey.run()
        machine = ReluFamily().fit(GatheredEvidence(again, survey, survey.ledger)).machine
    if machine is not None:
        positive, _ = result.labels
        labels = Oracle(predict, oracle.dimension, positive=positive)
        row["far"], row["close"] = right_labels(labels, machine, result.scale, seed)
    if isinstance(machine, ReluNetwork):
        row["found_units"], row["skip"] = len(machine.weights), bool(machine.linear.any())
    if units:
        row["parameters"] = units * (oracle.dimension + 2) + 1
        row["queries_per_parameter"] = row["family"] / row["parameters"]
    if isinstance(machine, ReluNetwork) and truth is not None and not row["one_kink"]:
        row["unit_error"] = unit_error(machine, truth)
    return row


def summary(rows):
    """One row per kind and shape: how many, recovered, label-exact, and the medians of costs."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["kind"], row["dimension"] if row["units"] else 0, row["units"]].append(row)
    table = []
    for (kind, dimension, units), group in groups.items():
        exact = [row.get("far") == row.get("close") == POINTS for row in group]
        named = [row["kernel_type"] == "relu network" for row in group]
        table.append({
            "kind": kind, "dimension": dimension, "units": units, "models": len(group),
            "recovered": sum(named), "one_kink": sum(row["one_kink"] for row in group),
            "label_exact": sum(exact),
            "false": sum(n and not e for n, e in zip(named, exact, strict=True)),
            "queries": np.median([row["queries"] for row in group]),
            "family": np.median([row["family"] for row in group]),
            "seconds": np.median([row["seconds"] for row in group])})
        if units:
            table[-1]["queries_per_parameter"] = np.median(
                [row["queries_per_parameter"] for row in group])
            table[-1]["chen_2024"] = CHEN.get(dimension) if units == 2 else None
    return table


def run():
    """Extract all the models and store one row for each."""
    tasks = [("random", d, h, 100 + s) for d, h in RANDOM for s in range(6)]
    tasks += [("random", d, h, 100 + s) for d, h in WIDE for s in range(3)]
    tasks += [("random", d, h, 100 + s) for d, h in MORE_UNITS for s in range(4)]
    tasks += [(data, 0, h, h) for data, all_units in TRAINED.items() for h in all_units]
    tasks += [(kind, 0, 0, s) for kind in CONTROLS for s in range(15)]
    rows = each(one, tasks, "models")
    store(__file__, {"summary": summary(rows), "table": rows})


if __name__ == "__main__":
    main(run)
