"""Is a certificate ever false? Boxes of fourteen foreign kinds, many of them disguised.

    python -m experiments.false_certificates

A certificate is false if `deconstruct` returns a machine for a box whose labels it does not give:
on less than 99.9 % of 20,000 fresh points around the data, or of 2,000 points on either side of the
recovered boundary, at ten times the distance at which the certificate itself asks: 1e-4 of the
data's scale, or more where the box was found to be rounded. About 15 minutes. Results go to
false_certificates.json.
"""

from collections import defaultdict

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process.kernels import Matern
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, Oracle, Polynomial, Tanh, deconstruct
from decon.extraction.agreement import agreement_test
from decon.oracles.precision import Precision

from ._boxes import _typical, foreign_box
from ._run import each, main, store

D, M, SEEDS = 20, 6, 72


def distances(X, Y):
    """Squared distances (n, m)."""
    return ((X[:, None] - Y) ** 2).sum(2)


KERNELS = {  # of random machines, as functions of X and of the support vectors Y
    "Cauchy": lambda X, Y: 1 / (1 + distances(X, Y)),
    "inverse multiquadric": lambda X, Y: 1 / np.sqrt(1 + distances(X, Y) / 4),
    "Matern": lambda X, Y: Matern(length_scale=3.0, nu=2.5)(X, Y),
    "tanh network": lambda X, Y: np.tanh(X @ Y.T + np.arange(len(Y)) / len(Y)),
    "arctangent": lambda X, Y: np.arctan(X @ Y.T + 0.1),
    "two widths": lambda X, Y: np.exp(-distances(X, Y) / np.resize([8.0, 32.0], len(Y))),
    "degree 4": Polynomial(4),
    "quadratic + Gaussian": lambda X, Y: Polynomial(2)(X, Y) + 1e-3 * Gaussian(1.0)(X, Y),
    "cubic + tanh": lambda X, Y: Polynomial(3)(X, Y) + 1e-3 * Tanh(3.0, 0.2)(X, Y),
    "rounded": lambda X, Y: Polynomial(3)(X, np.round(Y, 1)).round(3),
}
MODELS = {
    "random forest": lambda seed: RandomForestClassifier(10, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(3),
    "tanh layers": lambda seed: MLPClassifier((8,), activation="tanh", random_state=seed,
                                              max_iter=2000),
    "SVC of degree 5": lambda seed: SVC(kernel="poly", degree=5, coef0=1),
}


def random_foreign(name, seed):
    """A machine with a kernel that is none of the five, and typical points."""
    rng, kernel = np.random.default_rng(seed), KERNELS[name]
    Y = rng.standard_normal((M, D)) * (1.0 if name in ("rounded",) else 2 / np.sqrt(D))
    w = rng.standard_normal(M)
    X = rng.standard_normal((1001, D))
    b = np.median(kernel(X, Y) @ w)

    def predict(X):
        return kernel(np.asarray(X, float), Y) @ w > b

    return predict, _typical(predict, X[:500])


def one(name, seed):
    """Take a foreign box apart; is what comes out right?"""
    if name in KERNELS:
        predict, features = random_foreign(name, seed)
    else:
        model, features = foreign_box(MODELS[name](seed), "cancer", 60, seed)
        predict = model.predict
    oracle = Oracle(predict, features.shape[1])
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    row = {"named": result.kernel_type, "queries": oracle.queries, "false": False}
    if result.machine is not None:
        rng = np.random.default_rng(seed + 1)
        cloud = rng.standard_normal((40_000, oracle.dimension)) * result.scale
        cloud *= np.resize([0.3, 1.0, 3.0], len(cloud))[:, None] / np.sqrt(oracle.dimension)
        again = agreement_test(Oracle(predict, oracle.dimension), result.machine, cloud[:4000],
                            10 * Precision(result.width).agreement_distance * result.scale, rng,
                            ends=features)
        same = Oracle(predict, oracle.dimension)(cloud[20_000:]) == \
            result.machine.predict(cloud[20_000:])
        row |= {"false": bool(same.mean() < 0.999 or again["close"] < 0.999),
                "agreement": [float(same.mean()), again["close"]]}
    return row


def run():
    names = [*KERNELS, *MODELS]
    tasks = [(name, seed) for name in names for seed in range(SEEDS)]
    rows = defaultdict(list)
    for (name, _), row in zip(tasks, each(one, tasks, "foreign boxes"), strict=True):
        rows[name].append(row)
    table = [{"box": name, "boxes": len(found),
              "unknown": sum(r["named"] == "unknown" for r in found),
              "named": sorted({r["named"] for r in found} - {"unknown"}),
              "false": sum(r["false"] for r in found),
              "queries": float(np.median([r["queries"] for r in found]))}
             for name, found in rows.items()]
    store(__file__, {"d": D, "m": M, "seeds": SEEDS, "table": table,
                     "false": sum(row["false"] for row in table)})


if __name__ == "__main__":
    main(run)
