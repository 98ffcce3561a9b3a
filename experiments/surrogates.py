"""A surrogate for its queries, beside as many random labels, and beside active learning.

    python -m experiments.surrogates

Default SVCs of four data sets and a network, on standardised features; 20 features of each label
are given. Three ways to a stand-in, with the same number of queries:

    surrogate  `best_stand_in`: labels, and brackets of the boundary
    random     an SVC on labels at random points of the same distribution
    active     rounds that double the points: half of the new ones on the boundary of the SVC so
               far, as in adaptive retraining, half at random

C and gamma of both SVCs are chosen by cross-validation on 1,000 of their points in every round,
and both are trained until their solver converges, on up to some 40,000 labels; a larger C would
take it hours. Results go to surrogates.json: one row a model, number of brackets and way, medians
over the seeds: the queries, how often it agrees `around` the rows of the table (noise of 0.3
spreads), and the median `distance` of the boundaries along chords between these, in spreads.
"""

from collections import defaultdict

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine, make_circles, make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Oracle
from decon.boundary.bracketing import bisect
from decon.boundary.pairs import pn_pairs
from decon.extraction.stand_in import best_stand_in, places

from ._models import typical
from ._run import each, main, store

MODELS = ("moons", "circles", "wine", "cancer", "cancer, network")
BRACKETS, SEEDS = (30, 100, 300, 1000), 2
GIVEN, NOISE = 20, (0.0, 0.3, 1.0)
COPIES, CHORDS, CHORD_WIDTH = 10, 200, 1e-12
GRID = {"C": [1, 30, 1000], "gamma": [0.1, 0.3, 1, 3]}  # gamma times d
CHOSEN_BY, FOLDS = 1000, 3  # points that choose these
FIRST = 40  # labels of the active learner before its first round


def model(name, seed):
    """The labels of a model, +1 and -1, and all rows."""
    rng = np.random.default_rng(seed)
    X, y = {"moons": lambda: make_moons(200, noise=0.2, random_state=seed),
            "circles": lambda: make_circles(200, noise=0.1, factor=0.5, random_state=seed),
            "wine": lambda: load_wine(return_X_y=True)}.get(
                name, lambda: load_breast_cancer(return_X_y=True))()
    X, y = StandardScaler().fit_transform(X), y == 1
    learned = rng.permutation(len(X))[:len(X) // 2]
    learner = MLPClassifier(random_state=seed, max_iter=400) if "network" in name else SVC()
    fitted = learner.fit(X[learned], y[learned])
    return (lambda points: np.where(fitted.predict(points), 1, -1)), X


def svc(points, labels, rng):
    """An SVC with the C and gamma that cross-validation prefers, on all points."""
    grid = {"C": GRID["C"], "gamma": np.divide(GRID["gamma"], points.shape[1])}
    some = rng.permutation(len(points))[:CHOSEN_BY]  # of the active learner: near ones and others
    folds = min(FOLDS, int(min((labels[some] > 0).sum(), (labels[some] < 0).sum())))
    if folds < 2:
        return SVC(C=100).fit(points, labels)
    chosen = GridSearchCV(SVC(), grid, cv=folds, refit=False).fit(points[some], labels[some])
    return SVC(cache_size=1000, **chosen.best_params_).fit(points, labels)


def random(oracle, features, queries, rng):
    """An SVC on labels at random points."""
    points = places(oracle, features, queries, NOISE, rng)
    return svc(points, oracle(points), rng)


def active(oracle, features, queries, rng):
    """Rounds of labels, half of them on the boundary of the SVC so far."""
    points = places(oracle, features, min(FIRST, queries), NOISE, rng)
    labels = oracle(points)
    while len(points) < queries:
        copy, more = svc(points, labels, rng), min(len(points), queries - len(points))
        new = places(oracle, features, more, NOISE, rng)
        guessed = copy.predict(new)
        if abs(guessed.sum()) < more:
            pairs = pn_pairs(new[guessed > 0], new[guessed < 0], more // 2, rng)
            P, N = bisect(copy.predict, *pairs, 1e-6)
            new = np.concatenate([(P + N) / 2, new[more // 2:]])
        points, labels = np.concatenate([points, new]), np.r_[labels, oracle(new)]
    return svc(points, labels, rng)


def quality(predict, stand_in, X, rng):
    """How often it agrees around the rows, and the median distance of the boundaries."""
    points = np.tile(X, (COPIES, 1))
    points = points + 0.3 * rng.standard_normal(points.shape)
    labels, guessed = predict(points), stand_in.predict(points)
    right = labels == guessed
    P, N = points[right & (labels > 0)], points[right & (labels < 0)]
    if not (len(P) and len(N)):
        return right.mean(), np.inf
    pairs = pn_pairs(P, N, CHORDS, rng)
    middles = [sum(bisect(ask, *pairs, CHORD_WIDTH)) / 2 for ask in (predict, stand_in.predict)]
    return right.mean(), np.median(np.linalg.norm(middles[0] - middles[1], axis=1))


def one(name, brackets, seed):
    """All three ways, with as many queries as the first takes."""
    predict, X = model(name, seed)
    rng = np.random.default_rng(seed)
    features = typical(predict, X[rng.permutation(len(X))], GIVEN)

    # the surrogate, and then the others with as many queries
    rows, queries = {}, 0
    for way in ("surrogate", "random", "active"):
        oracle, rng = Oracle(predict, X.shape[1], positive=1), np.random.default_rng(seed + 1)
        if way == "surrogate":
            found = best_stand_in(oracle, features, random_state=rng, brackets=brackets)
            queries = oracle.queries
        else:
            found = {"random": random, "active": active}[way](oracle, features, queries, rng)
        around, distance = quality(predict, found, X, np.random.default_rng(seed + 2))
        rows[way] = {"queries": oracle.queries, "around": around, "distance": distance}
    return rows


def run():
    """All models, sizes and seeds; medians over the seeds."""
    tasks = [(name, n, seed) for n in BRACKETS[::-1] for name in MODELS for seed in range(SEEDS)]
    found = defaultdict(list)
    for (name, n, _), rows in zip(tasks, each(one, tasks, "models"), strict=True):
        for way, row in rows.items():
            found[name, n, way].append(row)
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": [
        {"model": name, "brackets": n, "way": way}
        | {key: np.median([row[key] for row in rows]) for key in rows[0]}
        for (name, n, way), rows in sorted(found.items())]})


if __name__ == "__main__":
    main(run)
