"""Features in unlike units, and far from 0: is a recovered machine ever displaced?

    python -m experiments.units

Random machines of every kernel behind a scaler: the spreads of their features differ by a ratio of
up to 1e12, and the features lie up to 10,000 spreads from 0. Where the scaler is *ours*, the
features given to `deconstruct` have just the spreads that it expects; where it is *another*, they
differ from these by factors of up to 3; *none* is a machine in the given units. Then models trained
on the breast cancer data, with two features multiplied by a factor. A machine is displaced if it
labels one row wrongly, or one of as many points 0.3 spreads from the rows. No surrogates are
made. Results go to units.json: one row per kind of model, ratio and offset.
"""

from collections import defaultdict

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh, deconstruct

from ._run import each, main, store

SEEDS = 10
DIMENSION, N_SUPPORT = 12, 4
KERNELS = {"linear": Linear(), "quadratic": Polynomial(2), "cubic": Polynomial(3),
           "tanh": Tanh(1.0, 0.1), "gaussian": Gaussian(1.5)}
SCALERS = [("ours", 0.0), ("ours", 100.0), ("ours", 10_000.0), ("another", 0.0), ("none", 0.0)]
RATIOS = (1.0, 6.0, 100.0, 1e6, 1e12)
TRAINED = {
    "logistic regression": lambda: LogisticRegression(max_iter=5000),
    "quadratic discriminant": lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
    "quadratic SVC": lambda: SVC(kernel="poly", degree=2, coef0=1),
    "cubic SVC": lambda: SVC(kernel="poly", degree=3, coef0=1, C=10),
}
FACTORS = (1.0, 1e3, 1e6, 1e9, 1e12)


def random_box(kernel, scaler, offset, ratio, seed):
    """Labels of a random machine behind a scaler, 300 rows, and the spreads of their features."""
    rng = np.random.default_rng(seed)
    units = np.exp(rng.uniform(0, np.log(ratio), DIMENSION))
    units[:2] = 1.0, ratio
    X = units * (rng.standard_normal((300, DIMENSION)) + offset)
    machine = KernelMachine.random(KERNELS[kernel], DIMENSION, N_SUPPORT, seed)
    if scaler == "none":
        return lambda Z: machine.predict(Z * np.sqrt(DIMENSION) / np.linalg.norm(units)), X, units
    expected = units * 3 ** rng.uniform(-1, 1, DIMENSION) if scaler == "another" else units
    return lambda Z: machine.predict((Z - offset * units) / expected), X, units


def trained_box(model, factor, seed):
    """Labels of a model trained on 12 features of tumours, the rows, and their spreads."""
    rng = np.random.default_rng(seed)
    data, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(data)[:, rng.choice(30, 12, replace=False)]
    X[:, rng.choice(12, 2, replace=False)] *= factor
    fitted = make_pipeline(StandardScaler(), TRAINED[model]()).fit(X, 2 * y - 1)
    return fitted.predict, X, X.std(axis=0)


def one(kind, *arguments):
    """Take a model apart; None if it gives too few labels of a kind, else what came of it."""
    seed = arguments[-1]
    predict, X, units = {"random": random_box, "trained": trained_box}[kind](*arguments)
    labels = predict(X)
    if min((labels > 0).sum(), (labels < 0).sum()) < 5:
        return None
    features = np.concatenate([X[labels == side][:20] for side in (1, -1)])
    oracle = Oracle(predict, X.shape[1])
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    row = {"queries": oracle.queries, "recovered": result.machine is not None, "wrong": 0}
    if result.machine is not None:
        rng = np.random.default_rng(seed + 1)
        near = np.concatenate([X, X + 0.3 * units * rng.standard_normal(X.shape)])
        row["wrong"] = int((result.machine.predict(near) != predict(near)).sum())
    return row


def run():
    """Take all the models apart and store one row per kind."""
    tasks = [("random", kernel, *scaler, ratio, seed) for kernel in KERNELS
             for scaler in SCALERS for ratio in RATIOS for seed in range(SEEDS)]
    tasks += [("trained", model, factor, seed) for model in TRAINED for factor in FACTORS
              for seed in range(SEEDS)]
    rows = defaultdict(list)
    for (box, *kind, _), row in zip(tasks, each(one, tasks, "models"), strict=True):
        if row is not None:
            model, scaler, offset, ratio = kind if box == "random" else (kind[0], "trained", 0.0,
                                                                         kind[1])
            rows[model, scaler, offset, ratio].append(row)
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": [
        {"model": model, "scaler": scaler, "offset": offset, "ratio": ratio, "models": len(found),
         "recovered": sum(r["recovered"] for r in found),
         "displaced": sum(r["wrong"] > 0 for r in found),
         "queries": np.median([r["queries"] for r in found])}
        for (model, scaler, offset, ratio), found in rows.items()]})


if __name__ == "__main__":
    main(run)
