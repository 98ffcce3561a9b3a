"""Why there is no machine: is the cause of an 'unknown' model named rightly?

    python -m experiments.causes

Models of every kind outside the five families are trained or made at random, and taken apart;
`seeds` of each. Results go to causes.json. `table`, one row per kind: how many of the `models` get
the `right` verdict, a `wrong` one (`mistaken_for` says which), or none ('unknown'); the medians
of all `queries` and of those of the `diagnosis`, which is the cause's own search with the tests for
noise and rounding before it; no surrogates are made. A network of one layer may be recovered
instead ("relu network" is right then, and counted under `recovered`). A linear model of several
classes may be called "flat pieces" too: where few planes meet in few corners, labels do not tell it
from a small network. `clipped_digits` is a linear SVC on 64 pixels behind np.clip; `clipped`
machines must be found within the bounds.
"""

from collections import Counter, defaultdict

import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import Oracle, deconstruct
from decon.teaching.datasets import load_mnist

from ._models import disguised_model, fitted_model, flip, typical
from ._run import each, main, store

SEEDS = 20
TRAINED, FEW = 300, 120  # rows that a model is trained on; of wine
NOISE = 0.3  # more than is voted down unasked


def trained(model, seed, other="wine"):
    """A model on cancer or on other data, in turn."""
    data = ("cancer", other)[seed % 2]
    model, features = fitted_model(model, data, FEW if data == "wine" else TRAINED, seed)
    return model.predict, features


def one_class(model, seed):
    """Is the label of a model of several classes this one? On wine and on digits of MNIST."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        X, y = load_mnist()
        X = X[:, X.std(0) > 0.2][:, ::8]
    else:
        X, y = load_wine(return_X_y=True)
        X = StandardScaler().fit_transform(X)
    learned = rng.permutation(len(y))[:400]
    model.fit(X[learned], y[learned])
    one = 1 if seed % 2 == 0 else seed % 10  # the class between the two others

    def predict(X):
        return model.predict(X) == one

    return predict, typical(predict, X[rng.permutation(len(X))], 10)


def behind(function, seed, **options):
    """An SVC behind a function of its inputs."""
    kind = ({"kernel": "linear"}, {"kernel": "rbf"}, {"kernel": "poly", "coef0": 1})[seed // 2 % 3]
    pipeline = make_pipeline(FunctionTransformer(function), SVC(**(kind | options)))
    return trained(pipeline, seed, "digits")


def rounded(seed):
    """Rounded to a grid, of steps that differ."""
    step = (0.05, 0.1, 0.25, 0.5)[seed % 4] / (1 + seed % 2)  # of digits less, from 0 to 1
    return behind(lambda X: np.round(X / step) * step, seed)


def clipped(seed):
    """Clipped, to what the features of digits never leave, or to less than those of cancer do."""
    bounds = (-1.5, 1.5 + seed / 10) if seed % 2 == 0 else (0, 1)
    return behind(lambda X: np.clip(X, *bounds), seed, kernel="linear")


def drifting(seed):
    """Two models: after so many queries the one takes the place of the other."""
    models = [trained(SVC(kernel="poly", coef0=1, degree=2 + k), seed + 2 * k) for k in range(2)]
    asked = 0

    def predict(X):
        nonlocal asked
        asked += len(X)
        return models[asked > 700 + 20 * seed][0](X)

    return predict, models[0][1]


def contradicting(seed):
    """An SVC whose answers are wrong at a rate that is not voted down."""
    predict, features = trained(SVC(), seed)
    return flip(lambda X: 2 * predict(X) - 1, NOISE, seed), features


KINDS = {  # verdict, and models that should get it
    "tree": ("piecewise constant", lambda s: trained(DecisionTreeClassifier(
        max_depth=2 + s % 5, random_state=s), s, "digits")),
    "random forest": ("piecewise constant", lambda s: trained(RandomForestClassifier(
        10 + s, random_state=s), s, "digits")),
    "boosted trees": ("piecewise constant", lambda s: trained(HistGradientBoostingClassifier(
        max_iter=20, random_state=s), s, "digits")),
    "1 neighbour": ("nearest neighbours", lambda s: trained(KNeighborsClassifier(1), s)),
    "3 neighbours": ("nearest neighbours", lambda s: trained(KNeighborsClassifier(3), s)),
    "5 neighbours": ("nearest neighbours", lambda s: trained(KNeighborsClassifier(5), s)),
    "network, one layer": ("piecewise linear", lambda s: trained(MLPClassifier(
        (20 + 10 * (s % 4),), random_state=s, max_iter=300), s)),
    "network, two layers": ("piecewise linear", lambda s: trained(MLPClassifier(
        (20, 10), random_state=s, max_iter=300), s)),
    "degree 4": ("polynomial of degree 4", lambda s: trained(
        SVC(kernel="poly", degree=4, coef0=1), s)),
    "degree 5": ("polynomial of degree 5", lambda s: trained(
        SVC(kernel="poly", degree=5, coef0=1), s)),
    "degree 6": ("polynomial of degree 6", lambda s: trained(
        SVC(kernel="poly", degree=6, coef0=1), s)),
    "several classes, Gaussian": ("several classes", lambda s: one_class(SVC(), s)),
    "several classes, cubic": ("several classes", lambda s: one_class(
        SVC(kernel="poly", coef0=1), s)),
    "several classes, linear": ("several classes", lambda s: one_class((SVC(
        kernel="linear"), LogisticRegression(max_iter=300))[s // 2 % 2], s)),
    "clipped": ("clipped", clipped),
    "rounded": ("rounded to a grid", rounded),
    "normalised": ("normalised inputs", lambda s: trained(
        make_pipeline(Normalizer(), SVC(kernel=("rbf", "linear")[s // 2 % 2])), s)),
    "noise": ("contradicts itself", contradicting),
    "drift": ("changes with time", drifting),
    "Cauchy": ("radial, not Gaussian", lambda s: disguised_model("Cauchy", s)),
    "Matern": ("radial, not Gaussian", lambda s: disguised_model("Matern", s)),
    "Gaussian, many vectors": ("gaussian, more support vectors than dimensions",
                               lambda s: trained(SVC(), s)),
}
MORE = {"network, one layer": "relu network"}  # an answer that says more
ALSO = {"several classes, linear": "flat pieces"}  # an answer that says less, and is not wrong


def measure(kind, seed):
    """Take one model apart."""
    predict, features = KINDS[kind][1](seed)
    oracle = Oracle(predict, features.shape[1])
    result = deconstruct(oracle, features, seed, progress=False, surrogate=False)
    stages = result.queries_by_stage
    return (result.verdict, result.kernel_type, sum(stages.values()), stages.get("diagnosis", 0))


def clipped_digits():
    """Queries and result for a linear SVC behind np.clip(X, 0, 1), within the bounds it shows."""
    predict, features = trained(make_pipeline(FunctionTransformer(
        lambda X: np.clip(X, 0, 1)), SVC(kernel="linear")), 1, "digits")
    result = deconstruct(Oracle(predict, features.shape[1]), features, progress=False)
    return {"kernel_type": result.kernel_type, "verdict": result.verdict,
            "agreement": result.agreement, "queries": sum(result.queries_by_stage.values())}


def run():
    """Take all models apart, and store the table."""
    tasks = [(kind, seed) for kind in KINDS for seed in range(SEEDS)]
    groups = defaultdict(list)
    for (kind, _), row in zip(tasks, each(measure, tasks, "models"), strict=True):
        groups[kind].append(row)
    table = []
    for kind, rows in groups.items():
        verdicts = Counter(row[0] for row in rows)
        right = KINDS[kind][0]
        verdicts[right] += verdicts.pop(MORE.get(kind), 0)
        others = {v: n for v, n in verdicts.items() if v not in (right, ALSO.get(kind), "unknown")}
        table.append({
            "kind": kind, "verdict": right, "models": len(rows), "right": verdicts[right],
            "said_less": verdicts[ALSO[kind]] if kind in ALSO else 0,
            "unknown": verdicts["unknown"] if right != "unknown" else 0,
            "wrong": sum(others.values()), "mistaken_for": others,
            "recovered": sum(row[1] != "unknown" for row in rows),
            "queries": np.median([row[2] for row in rows]),
            "diagnosis": np.median([row[3] for row in rows])})
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": table,
                     "clipped_digits": clipped_digits()})


if __name__ == "__main__":
    main(run)
