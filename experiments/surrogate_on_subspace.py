"""Is the search for S_Y worth its queries, if all that comes of it is a surrogate?

    python -m experiments.surrogate_on_subspace

Gaussian SVCs behind a PCA to three components, on the standardised wine data (13 features); 20
features of each label are given. `deconstruct` finds S_Y and no machine. Then surrogates are made
on S_Y, of 100 brackets, and in all dimensions: with as many queries, and with as many as those on
S_Y have taken together with the search. Each of them by `best_stand_in` and by active learning,
as in `surrogates`. Results go to surrogate_on_subspace.json: one row a way, one value per seed:
all `queries`, the search included where there was one, and the share of right labels `around` the
rows (noise of 0.3 spreads) and at `fresh` points of independent features with spread 1.5.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Oracle, deconstruct
from decon.extraction.stand_in import best_stand_in

from ._models import typical
from ._run import each, main, store
from .surrogates import GIVEN, active

SEEDS, BRACKETS, COMPONENTS = range(4), 100, 3
COPIES, FRESH = 20, 20_000


def model(seed):
    """The labels of a model trained on half of the rows, and all rows in random order."""
    X, y = load_wine(return_X_y=True)
    X, order = StandardScaler().fit_transform(X), np.random.default_rng(seed).permutation(len(X))
    half = order[:len(X) // 2]
    fitted = make_pipeline(PCA(COMPONENTS), SVC()).fit(X[half], y[half] == 1)
    return (lambda points: np.where(fitted.predict(points), 1, -1)), X[order]


def one(seed):
    """All ways for one model."""
    predict, X = model(seed)
    d, features = X.shape[1], typical(predict, X, GIVEN)

    # the search for S_Y
    oracle = Oracle(predict, d, positive=1)
    found = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    if found.machine is not None or found.subspace is None:
        raise RuntimeError(f"seed {seed}: a subspace and no machine were expected, got {found}")
    U, search = found.subspace, oracle.queries

    # where surrogates are judged
    rng = np.random.default_rng(seed + 100)
    around = np.tile(X, (COPIES, 1))
    around = around + 0.3 * rng.standard_normal(around.shape)
    fresh = 1.5 * rng.standard_normal((FRESH, d))

    rows = {}

    def judged(way, basis, make, spent=0):
        """Make a surrogate in coordinates of a basis, and store its row."""
        rng = np.random.default_rng(seed + 1)
        oracle = Oracle(lambda T: predict(T @ basis.T), basis.shape[1], positive=1)
        copy = make(oracle, features @ basis, rng)
        rows[way] = {"queries": oracle.queries + spent} | {
            name: np.mean(copy.predict(points @ basis) == predict(points))
            for name, points in (("around", around), ("fresh", fresh))}
        return oracle.queries

    def stand_in(brackets):
        return lambda oracle, X, rng: best_stand_in(oracle, X, random_state=rng, brackets=brackets)

    def learner(queries):
        return lambda oracle, X, rng: active(oracle, X, queries, rng)

    # on S_Y, and in all dimensions
    few = judged("surrogate, S_Y", U, stand_in(BRACKETS), search)
    judged("active, S_Y", U, learner(few), search)
    judged("surrogate, few", np.eye(d), stand_in(BRACKETS))
    judged("active, few", np.eye(d), learner(few))
    judged("surrogate, many", np.eye(d), stand_in(None))
    judged("active, many", np.eye(d), learner(few + search))
    return {"rank": U.shape[1], "search": search, "rows": rows}


def run():
    """All seeds; one row per way."""
    found = each(one, [(seed,) for seed in SEEDS], "models")
    store(__file__, {
        "seeds": f"{SEEDS[0]} to {SEEDS[-1]}", "rank": [f["rank"] for f in found],
        "search": [f["search"] for f in found],
        "table": [{"way": way} | {key: [f["rows"][way][key] for f in found] for key in row}
                  for way, row in found[0]["rows"].items()]})


if __name__ == "__main__":
    main(run)
