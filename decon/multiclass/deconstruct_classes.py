"""The whole algorithm for models of several classes: pair by pair, and their vote."""

from typing import Any

import numpy as np
from tqdm import tqdm

from ..oracles.oracle import real_points
from ..types import ArrayLike, RandomState
from .crossings import Crossings
from .oracle import ClassOracle
from .pairs import PairMachine, machine_in_regions
from .result import ClassesResult
from .rough import machine_of_rough_vectors
from .settings import SETTINGS
from .stand_ins import stand_in
from .unknown import machine_with_unknown
from .vectors import SharedVectors, machine_of_vectors
from .vote import OneVsOne


def deconstruct_classes(oracle: ClassOracle, features: ArrayLike | None = None,
                        random_state: RandomState = 0, progress: bool = True) -> ClassesResult:
    """Extract a model of several classes that lets each pair of them vote, as an `SVC` does.

    Between two classes, the model's boundary is that of the machine of this pair, wherever it is
    decisive. A region is sought where only these two labels occur, and `deconstruct` applied to
    it. Gaussian machines share their support vectors: those of a class that other pairs have shown
    make the rest a linear problem. The largest of several discriminant functions (multinomial
    logistic regression, linear or quadratic discriminant analysis) is such a vote too, of their
    differences.

    Parameters
    ----------
    oracle : ClassOracle
    features : array (n, d) or DataFrame, optional
        Typical points of all classes; left out, the examples of the oracle.
    random_state : int or numpy.random.Generator
        The same call gives the same result.
    progress : bool
        Show a progress bar when the work takes more than a few seconds.

    Returns
    -------
    ClassesResult
        Also where some pairs have no machine, or never meet; a surrogate then votes for them.

    Raises
    ------
    TypeError
        If oracle is no ClassOracle, or there are no features.
    ValueError
        If features do not have shape (n, d), or all get the same label.
    OracleError, BudgetExhausted
        As the oracle raises them. Then `error.result` is a ClassesResult with the pairs that were
        recovered by then.

    Notes
    -----
    `agreement` speaks for points around the features, and for both sides of the boundaries that
    were met there, at 1e-5 of the spreads. A Gaussian kernel must have fewer support vectors in a
    pair than there are features. The class that rules far away from all features borders on every
    other one, as a rule, and these pairs show the vectors of all classes, but for those that they
    lack themselves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(kernel="linear").fit(X, y)
    >>> result = deconstruct_classes(ClassOracle.from_examples(model.predict, X))
    >>> result.kernel_type, result.recovered, result.score(X, model.predict(X))
    ('linear', [(0, 1), (1, 2)], 1.0)
    """
    if not isinstance(oracle, ClassOracle):
        raise TypeError(f"expected a ClassOracle, got {type(oracle).__name__}: wrap the model as "
                        "ClassOracle(predict, dimension)")
    features = oracle.examples if features is None else features
    if features is None:
        raise TypeError("there are no features: give a few typical points of all classes")
    X, started = real_points(features, oracle.dimension, "features"), oracle.queries
    crossings = Crossings(oracle, X, np.random.default_rng(random_state))

    search = _Search(crossings, started, progress)
    try:
        search.run()
        return search.result(_agreement(crossings, search.vote()))
    except BaseException as error:
        error.result = search.result({})  # type: ignore[attr-defined]
        raise


class _Search:
    """The machines of all pairs, one after another."""

    def __init__(self, crossings, started, progress):
        self.crossings, self.started, self.progress = crossings, started, progress
        self.pairs: dict[tuple[Any, Any], PairMachine] = {}
        self.shared = SharedVectors(float(np.linalg.norm(crossings.units)))

    def run(self):
        """All pairs, in units in which a machine is found."""
        # is there a label that all points far away have? Then no dot product is inside
        crossings, spread = self.crossings, self.crossings.units
        far = crossings.lead_outwards()

        # a radial kernel has one unit for all features, or else their spreads, behind a scaler
        same = np.full_like(spread, np.sqrt(np.mean(spread**2)))
        for units in () if far is None else (same, spread):
            self._run(far, units)
            if self.shared.found:
                return
        self._run(None, spread)

    def _run(self, far, units):
        """All pairs, those first that border on the outside, and that meet most often."""
        crossings, self.crossings.units = self.crossings, units
        self.pairs.clear()
        crossings.known.clear()
        order = sorted(crossings.pairs,
                       key=lambda pair: (far not in pair, -len(crossings.between(*pair))))
        for again in range(SETTINGS.passes):
            missing = [pair for pair in order if pair not in self.pairs
                       or self.pairs[pair].machine is None]
            for pair in tqdm(missing, "pairs", delay=3, disable=not self.progress, leave=False):
                self._seek(pair, far)
            if not again and not self.shared.found:
                break

    def _seek(self, pair, far):
        """The machine of a pair, by vectors that others have shown, or else by itself."""
        crossings, shared = self.crossings, self.shared
        found = machine_of_vectors(crossings, *pair, shared)
        if found.machine is None and shared.of_both(*pair):
            found = machine_of_rough_vectors(crossings, *pair, shared)
            if found.machine is None:
                found = machine_with_unknown(crossings, *pair, shared)
        elif found.machine is None:
            hopeless = len(self.pairs) >= SETTINGS.hopeless and not shared.found
            tried = pair in self.pairs and far is not None  # a ball tells no more in the end
            if not (hopeless or tried):
                found = machine_in_regions(crossings, *pair, far is not None)
        self.pairs[pair] = found
        shared.add(*pair, found)
        crossings.known += [] if found.machine is None else [found.machine]

    def _all_pairs(self):
        """What is known of every pair, also of those with a class that was met late."""
        unknown = PairMachine(message="not tried")
        return {pair: self.pairs.get(pair, unknown) for pair in self.crossings.pairs}

    def vote(self):
        """The vote of all pairs, with surrogates for those without a machine."""
        machines = {pair: found.machine or stand_in(self.crossings, *pair)
                    for pair, found in self._all_pairs().items()}
        return OneVsOne(self.crossings.classes, machines)

    def result(self, agreement):
        """The result, put together from what is known now."""
        crossings, pairs = self.crossings, self._all_pairs()
        missing = [f"{one} and {other} ({found.message.split(';')[0]})"
                   for (one, other), found in pairs.items() if found.machine is None]
        message = ["a surrogate votes between " + ", ".join(missing)] if missing else []
        if agreement and min(agreement.values()) < SETTINGS.least_agreement:
            message.insert(0, "the vote is not the model's: a machine or a surrogate is wrong "
                              "somewhere, or the model lets no pairs of classes vote")
        return ClassesResult(
            crossings.classes, pairs, self.vote(), self.shared.all(), agreement,
            crossings.oracle.queries - self.started, "; ".join(message))


def _agreement(crossings, vote):
    """How often a vote gives the model's labels: around the features, and close to boundaries."""
    rng, oracle, n = crossings.rng, crossings.oracle, SETTINGS.tested
    d, k = oracle.dimension, len(crossings.features)
    steps = rng.choice([0.0, 0.1, 0.3, 1.0], (n, 1)) * rng.standard_normal((n, d))
    around = crossings.features[rng.integers(k, size=n)] + crossings.units * steps

    # on both sides of boundary points, along the gradient: the shortest way from one
    close = []
    for pair, machine in vote.machines.items():
        X = crossings.points(*pair, n // len(vote.machines))
        normals = machine.gradient(X) * crossings.units
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        aside = SETTINGS.test_distance * crossings.units * normals
        close += [X + aside, X - aside]
    return {name: float((vote.predict(Z) == oracle(Z)).mean())
            for name, Z in (("around", around), ("close", np.concatenate(close)))}
