"""Is a recovered machine ever wrong? Models of fourteen kinds outside the families, disguised.

    python -m experiments.false_certificates

A machine is false if `deconstruct` returns it for a model whose labels it does not give: on less
than 99.9 % of 20,000 fresh points around the data, or of 2,000 points on either side of the
recovered boundary, at ten times the distance of the agreement test itself: 1e-4 of the data's
scale, or more where the model was found to be rounded. No surrogates are made. Results go to
false_certificates.json: one row per kind of model.
"""

from collections import defaultdict

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Oracle, deconstruct
from decon.extraction.agreement import agreement_test
from decon.oracles.precision import Precision

from ._models import DISGUISED, disguised_model, fitted_model
from ._run import each, main, store

SEEDS = 72
MODELS = {
    "random forest": lambda seed: RandomForestClassifier(10, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(3),
    "tanh layers": lambda seed: MLPClassifier((8,), activation="tanh", random_state=seed,
                                              max_iter=2000),
    "SVC of degree 5": lambda seed: SVC(kernel="poly", degree=5, coef0=1),
}


def one(name, seed):
    """Take a model apart; is what comes out right?"""
    if name in DISGUISED:
        predict, features = disguised_model(name, seed)
    else:
        model, features = fitted_model(MODELS[name](seed), "cancer", 60, seed)
        predict = model.predict
    oracle = Oracle(predict, features.shape[1])
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    row = {"kernel_type": result.kernel_type, "queries": oracle.queries, "false": False}
    if result.machine is not None:
        rng = np.random.default_rng(seed + 1)
        cloud = rng.standard_normal((40_000, oracle.dimension)) * result.scale
        cloud *= np.resize([0.3, 1.0, 3.0], len(cloud))[:, None] / np.sqrt(oracle.dimension)
        cloud *= result.units
        distance = 10 * Precision(result.width).agreement_distance * result.scale * result.units
        close = agreement_test(Oracle(predict, oracle.dimension), result.machine, cloud[:4000],
                               distance, rng, ends=features)["close"]
        fresh = cloud[20_000:]
        same = Oracle(predict, oracle.dimension)(fresh) == result.machine.predict(fresh)
        row["false"] = bool(same.mean() < 0.999 or close < 0.999)
    return row


def run():
    """Take all the models apart and store one row per kind."""
    tasks = [(name, seed) for name in [*DISGUISED, *MODELS] for seed in range(SEEDS)]
    rows = defaultdict(list)
    for (name, _), row in zip(tasks, each(one, tasks, "models"), strict=True):
        rows[name].append(row)
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": [
        {"model": name, "models": len(found),
         "named": sum(r["kernel_type"] == "unknown" for r in found),
         "kernel_type": sorted({r["kernel_type"] for r in found} - {"unknown"}),
         "false": sum(r["false"] for r in found),
         "queries": np.median([r["queries"] for r in found])} for name, found in rows.items()]})


if __name__ == "__main__":
    main(run)
