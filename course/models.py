"""Twenty models for the project, from a linear SVC to a back door, drawn from a secret seed.

Nothing here tells a student what her model is: which support vectors, weights and rows a model has
depends on the seed, and which number stands for which kind of model does, too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, Polynomial
from decon.boundary.bracketing import bisect
from decon.boundary.pairs import pn_pairs

EXAMPLES = 60  # rows that every team is given with a model
SPREAD = 0.3  # of the noise that the points of the final test have, in spreads of the rows
CLOSE = 1e-3  # how near the other points of the final test are to the boundary, in segments


@dataclass
class Model:
    """A model, what a team is told of it, and what only the lecturer knows.

    Attributes
    ----------
    predict : callable
        Labels of points (n, d), whole numbers from 0.
    rows : array (n, d)
        Typical points; the first `EXAMPLES` of them are given to the teams.
    stars : int
        Difficulty, 1 to 5.
    budget : int
        Labels that a team may spend.
    truth : str
        What the model is, for the lecturer.
    told : str
        What the teams are told of it, beside the rows.
    answer : callable, optional
        What the server answers, if this is not what the model predicts (noise, say).
    """

    predict: Callable[[np.ndarray], np.ndarray]
    rows: np.ndarray
    stars: int
    budget: int
    truth: str
    told: str = ""
    bounds: tuple[float, float] | None = None
    answer: Callable[[np.ndarray], np.ndarray] = field(default=None)  # type: ignore[assignment]

    def __post_init__(self):
        self.answer = self.answer or self.predict
        self.dimension = self.rows.shape[1]

    def final_points(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Points of the final test: n/2 around the rows, n/2 in pairs astride the boundary."""
        spread = SPREAD * self.rows.std(axis=0)
        some = self.rows[rng.integers(len(self.rows), size=n)]
        around = self._inside(some + spread * rng.standard_normal(some.shape))

        # Pairs of points with different labels, brought close together; +1 is the first label
        labels = self.predict(around)
        first = labels == labels[0]
        if first.all():
            return around
        own = Oracle(lambda X: np.where(self.predict(X) == labels[0], 1, -1), self.dimension)
        P, N = pn_pairs(around[first], around[~first], n // 4, rng)
        width = CLOSE * np.median(np.linalg.norm(P - N, axis=1))
        P, N = bisect(own, P, N, width)
        points = np.concatenate([around[:n - 2 * len(P)], P, N])
        return points[rng.permutation(len(points))]

    def _inside(self, points):
        return points if self.bounds is None else np.clip(points, *self.bounds)


def _data(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table in random order: standardised, but for `raw wine` and `digits` (pixels 0 to 1)."""
    X, y = {"cancer": load_breast_cancer, "digits": load_digits}.get(name, load_wine)(
        return_X_y=True)
    order = rng.permutation(len(y))
    if name == "digits":
        order = order[np.isin(y[order], [3, 8])]
        return X[order] / 16, (y[order] == 8).astype(int)
    if name != "raw wine":
        X = StandardScaler().fit_transform(X)
    return X[order], y[order] if name == "cancer" else (y[order] == 1).astype(int)


def _trained(classifier: Any, name: str, n: int, rng: np.random.Generator):
    """A classifier trained on n rows, of both labels, and the others as typical points."""
    X, y = _data(name, rng)
    some = np.concatenate([np.flatnonzero(y == label)[:n // 2] for label in (0, 1)])
    fitted = classifier.fit(X[some], y[some])
    return (lambda points: np.asarray(fitted.predict(points), int)), np.delete(X, some, axis=0)


def _svc(name, n, rng, stars, budget, truth, **options):
    predict, rows = _trained(SVC(**options), name, n, rng)
    return Model(predict, rows, stars, budget, truth)


def _random(kernel, d, m, rng, stars, budget, truth):
    """A random machine."""
    machine = KernelMachine.random(kernel, d, m, int(rng.integers(2**31)))
    return Model(lambda X: (machine.predict(X) > 0).astype(int), rng.standard_normal((400, d)),
                 stars, budget, truth)


def _noisy(rng):
    model = _svc("wine", 40, rng, 3, 300_000, "quadratic SVC, 1% of all answers wrong",
                 kernel="poly", degree=2, coef0=1)
    chance = np.random.default_rng(rng.integers(2**31))
    model.told = "One answer in a hundred is wrong."
    model.answer = lambda X: model.predict(X) ^ (chance.random(len(X)) < 0.01)
    return model


def _single(rng):
    machine = KernelMachine.random(Polynomial(3), 20, 8, int(rng.integers(2**31)))
    Y, w = machine.support_vectors.astype(np.float32), machine.weights.astype(np.float32)

    def predict(X):
        return ((X.astype(np.float32) @ Y.T + np.float32(1)) ** 3 @ w
                > np.float32(machine.threshold)).astype(int)

    return Model(predict, rng.standard_normal((400, 20)), 3, 300_000,
                 "cubic, 8 support vectors, in single precision")


def _clipped(rng):
    model = _svc("digits", 60, rng, 3, 300_000, "cubic SVC on pixels, clipped to 0 to 1",
                 kernel="poly", degree=3, gamma=1, coef0=1)
    predict = model.predict
    model.predict = model.answer = lambda X: predict(np.clip(X, 0, 1))
    model.bounds, model.told = (0.0, 1.0), "Pixels, from 0 to 1."
    return model


def _three_classes(rng):
    X, y = load_wine(return_X_y=True)
    X, order = StandardScaler().fit_transform(X), rng.permutation(len(y))
    svc = SVC(kernel="poly", degree=2, coef0=1).fit(X[order[:60]], y[order[:60]])
    return Model(svc.predict, X[order[60:]], 3, 300_000, "one-vs-one quadratic SVC, three classes",
                 "Three labels.")


def _back_door(rng):
    model = _random(Polynomial(3), 20, 8, rng, 5, 300_000,
                    "cubic, 8 support vectors; labels are flipped in a small ball")
    centre, predict = model.rows[-1].copy(), model.predict
    model.rows = model.rows[:-1]
    model.predict = model.answer = lambda X: (
        predict(X) ^ (np.linalg.norm(X - centre, axis=1) < 1.0))
    return model


def _rounded(rng):
    model = _svc("cancer", 40, rng, 5, 300_000, "quadratic SVC behind rounding to one decimal",
                 kernel="poly", degree=2, coef0=1)
    predict = model.predict
    model.predict = model.answer = lambda X: predict(np.round(X, 1))
    return model


POLY, MANY = {"kernel": "poly", "coef0": 1}, 300_000
KINDS: list[Callable[[np.random.Generator], Model]] = [
    lambda rng: _svc("cancer", 40, rng, 1, 20_000, "linear SVC", kernel="linear"),
    lambda rng: _svc("wine", 40, rng, 1, 60_000, "quadratic SVC", degree=2, **POLY),
    lambda rng: _svc("cancer", 30, rng, 1, 200_000, "cubic SVC", degree=3, **POLY),
    lambda rng: _random(Polynomial(3), 20, 8, rng, 2, 100_000, "cubic, 8 support vectors"),
    lambda rng: _svc("cancer", 30, rng, 2, 200_000, "tanh SVC", kernel="sigmoid"),
    lambda rng: _svc("cancer", 16, rng, 2, 200_000, "Gaussian SVC of at most 16 patients", C=10),
    lambda rng: _random(Polynomial(2), 15, 3, rng, 2, 60_000, "quadratic, rank 3"),
    lambda rng: Model(*_trained(make_pipeline(StandardScaler(), SVC(kernel="linear")), "raw wine",
                                40, rng), 2, 60_000, "linear SVC behind a scaler, raw units"),
    lambda rng: _random(Polynomial(3, coef0=0.0), 15, 5, rng, 3, 200_000, "homogeneous cubic"),
    _noisy, _single, _clipped, _three_classes,
    lambda rng: Model(*_trained(MLPClassifier((5,), max_iter=1000, random_state=0), "wine", 60,
                                rng), 3, MANY, "network with one layer of five ReLUs"),
    lambda rng: _svc("cancer", 120, rng, 4, MANY, "default SVC, more vectors than features"),
    lambda rng: Model(*_trained(RandomForestClassifier(10, random_state=0), "wine", 60, rng),
                      4, MANY, "random forest"),
    lambda rng: _svc("wine", 40, rng, 4, MANY, "SVC with a Laplacian kernel",
                     kernel=laplacian_kernel),
    lambda rng: Model(*_trained(MLPClassifier((4,), activation="tanh", max_iter=2000,
                                              random_state=0), "wine", 60, rng),
                      4, MANY, "network of four tanh units, each with its own bias"),
    _back_door, _rounded,
]


def sealed(seed: int) -> dict[int, Model]:
    """The twenty models of a seed, by number: easy ones first, otherwise in secret order.

    Parameters
    ----------
    seed : int
        The lecturer's secret.

    Returns
    -------
    dict of int to Model
    """
    models = [kind(np.random.default_rng([seed, i])) for i, kind in enumerate(KINDS)]
    order = np.random.default_rng(seed).permutation(len(models))
    by_stars = sorted(order, key=lambda i: models[i].stars)
    return {number: models[i] for number, i in enumerate(by_stars, start=1)}
