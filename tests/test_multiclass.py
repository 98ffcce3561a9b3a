"""Models of several classes: the oracle, the vote, the pairs, the whole."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import (
    BudgetExhausted,
    ClassOracle,
    Gaussian,
    KernelMachine,
    Linear,
    Oracle,
    OracleError,
    deconstruct_classes,
)
from decon.multiclass.crossings import Crossings, distances
from decon.multiclass.pairs import PairMachine
from decon.multiclass.rough import machine_of_rough_vectors
from decon.multiclass.unknown import machine_with_unknown
from decon.multiclass.vectors import SharedVectors, machine_of_vectors
from decon.multiclass.vote import OneVsOne
from decon.oracles.errors import SeveralClasses
from experiments import several_classes

IRIS, WINE = ((StandardScaler().fit_transform(X), y) for X, y in (
    load(return_X_y=True) for load in (load_iris, load_wine)))


def few_digits(classes, rows, seed):
    """A Gaussian SVC trained on so many digits of each class, and all digits of these classes."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < classes] / 16, y[y < classes]
    rng = np.random.default_rng(seed)
    few = np.concatenate([rng.choice(np.flatnonzero(y == label), rows, replace=False)
                          for label in range(classes)])
    return SVC(C=10).fit(X[few], y[few]), X


def around(X, n=5000, seed=0):
    rng = np.random.default_rng(seed)
    radius = X.std(0) * rng.choice([0.03, 0.3, 1.0], (n, 1))
    return X[rng.integers(len(X), size=n)] + radius * rng.standard_normal((n, X.shape[1]))


def pair_signs(svc, X):
    """The true signs of the machines of all pairs."""
    svc.decision_function_shape = "ovo"
    values = svc.decision_function(X)
    return {pair: np.where(values[:, k] > 0, 1, -1)
            for k, pair in enumerate(combinations(svc.classes_.tolist(), 2))}


# -- the oracle ----------------------------------------------------------------------------------

def test_labels_come_in_the_models_own_words():
    oracle = ClassOracle(lambda X: np.where(X[:, 0] > 0, "cat", "dog"), dimension=1)
    assert oracle([[1.0], [-1.0]]).tolist() == ["cat", "dog"]
    assert oracle.classes == ("cat", "dog") and oracle.queries == 2 and oracle.calls == 1
    assert len(oracle(np.empty((0, 1)))) == 0


def test_no_query_beyond_the_budget_is_sent():
    oracle = ClassOracle(lambda X: X[:, 0].round(), 1, budget=3)
    oracle(np.zeros((2, 1)))
    with pytest.raises(BudgetExhausted, match="budget is 3"):
        oracle(np.zeros((2, 1)))
    assert oracle.queries == 2


def test_errors_of_the_model_are_told():
    def fails(X):
        raise RuntimeError("no such file")

    with pytest.raises(OracleError, match="no such file"):
        ClassOracle(fails, 1)([[1.0]])
    with pytest.raises(OracleError, match="one label per point"):
        ClassOracle(lambda X: np.zeros((len(X), 3)), 1)([[1.0]])
    with pytest.raises(ValueError, match="shape"):
        ClassOracle(fails, 2)([[1.0]])


def test_a_third_label_is_an_error_near_the_origin_only():
    oracle = ClassOracle(lambda X: X[:, 0].round(), 1)
    ball = oracle.pair(1, 0, np.array([0.5]), np.ones(1), reach=0.7, box=False)
    assert ball([[0.2], [-0.2], [5.0]]).tolist() == [1, -1, -1]
    wide = oracle.pair(1, 0, np.array([0.5]), np.ones(1), reach=1.5, box=False)
    with pytest.raises(SeveralClasses, match="met between 1 and 0"):
        wide([[1.3]])
    box = oracle.pair(1, 0, np.array([0.5]), np.ones(1), reach=0.7, box=True)
    with pytest.raises(ValueError, match="out of bounds"):
        box([[0.8]])


def test_names_of_features_are_kept():
    pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SVC(kernel="linear").fit(X, y)
    oracle = ClassOracle.from_examples(model.predict, X)
    assert oracle.dimension == 4 and len(oracle.examples) == 150
    with warnings.catch_warnings(action="error"):
        result = deconstruct_classes(oracle, progress=False)
    assert result.score(X, model.predict(X)) == 1


# -- the vote ------------------------------------------------------------------------------------

@given(st.integers(3, 6), st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_the_vote_is_that_of_scikit_learn(classes, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % classes  # labels without sense: many ties
    svc = SVC(C=5).fit(X, y)
    Y, starts = svc.support_vectors_, np.cumsum([0, *svc.n_support_])
    machines = {}
    for k, (i, j) in enumerate(combinations(range(classes), 2)):
        rows = [*range(starts[i], starts[i + 1]), *range(starts[j], starts[j + 1])]
        n = svc.n_support_[i]
        w = np.r_[svc.dual_coef_[j - 1, rows[:n]], svc.dual_coef_[i, rows[n:]]]
        kernel = Gaussian(float(1 / np.sqrt(2 * svc._gamma)))
        machines[i, j] = KernelMachine(kernel, Y[rows], w, -svc.intercept_[k])
    vote = OneVsOne(range(classes), machines)
    Z = rng.standard_normal((500, 3))
    assert (vote.predict(Z) == svc.predict(Z)).all()
    assert (vote.votes(Z).sum(1) == len(machines)).all()


def test_a_vote_needs_all_pairs():
    with pytest.raises(ValueError, match="no machine for the pairs"):
        OneVsOne("abc", {("a", "b"): KernelMachine(Linear(), [[1.0]], [1.0], 0.0)})


# -- crossings and shared vectors ----------------------------------------------------------------

def test_crossings_lie_between_the_two_labels():
    X, y = WINE
    svc = SVC(kernel="linear").fit(X, y)
    crossings = Crossings(ClassOracle(svc.predict, 13), X, np.random.default_rng(0))
    signs = pair_signs(svc, X)
    assert list(signs) == crossings.pairs
    for k, pair in enumerate(crossings.pairs):
        points = crossings.points(*pair)
        assert len(points) >= 10
        values = svc.decision_function(points)[:, k]
        assert np.median(np.abs(values)) < 1e-10


def test_a_region_holds_two_labels_only():
    X, y = WINE
    svc, rng = SVC(kernel="linear").fit(X, y), np.random.default_rng(0)
    crossings = Crossings(ClassOracle(svc.predict, 13), X, rng)
    for box in (True, False):
        region = next(crossings.regions(0, 1, box))
        inside = crossings.random(region.centre, region.radius, 2000, box)
        share = np.isin(svc.predict(inside), [0, 1]).mean()
        assert region.radius > 0.01 and share > 0.98
        steps = (inside - region.centre) / crossings.units
        if box:
            assert np.abs(steps).max() <= region.radius
        else:
            assert np.linalg.norm(steps, axis=1).max() <= region.radius * np.sqrt(13) + 1e-9


def test_known_boundaries_explain_crossings():
    X, y = WINE
    svc = SVC(kernel="linear").fit(X, y)
    crossings = Crossings(ClassOracle(svc.predict, 13), X, np.random.default_rng(0))
    before = len(crossings.unexplained(0, 1, 40))
    plane = KernelMachine(Linear(), svc.coef_[:1], [1.0], -svc.intercept_[0])
    crossings.known.append(plane)
    after = crossings.unexplained(0, 1, 40)
    assert before >= 40 and len(after) < 0.2 * before
    assert (distances(plane, after, crossings.units) > 1e-6).all()


def test_vectors_of_other_pairs_make_a_pair_linear():
    svc, X = few_digits(3, 5, 0)
    oracle = ClassOracle(svc.predict, 64)
    crossings = Crossings(oracle, X[:200], np.random.default_rng(0))
    shared, kernel = SharedVectors(1.0), Gaussian(float(1 / np.sqrt(2 * svc._gamma)))
    starts = np.cumsum([0, *svc.n_support_])
    Y = [svc.support_vectors_[a:b] for a, b in zip(starts, starts[1:], strict=False)]

    # nothing is known of class 2 yet
    w = np.r_[np.ones(len(Y[0])), -np.ones(len(Y[1]))]
    shared.add(0, 1, PairMachine("gaussian", KernelMachine(
        kernel, np.concatenate(Y[:2]), w, 0.1), True))
    assert machine_of_vectors(crossings, 1, 2, shared).machine is None

    # with the vectors of all three classes, the pair is found
    w = np.r_[np.ones(len(Y[0])), -np.ones(len(Y[2]))]
    shared.add(0, 2, PairMachine("gaussian", KernelMachine(
        kernel, np.concatenate([Y[0], Y[2]]), w, 0.1), True))
    found = machine_of_vectors(crossings, 1, 2, shared)
    assert found.own_vectors and len(shared.all()) == len(svc.support_)
    points = around(X)
    assert (found.machine.predict(points) == pair_signs(svc, points)[1, 2]).all()

    # with one vector missing, it is not
    lacking = SharedVectors(1.0)
    w = np.r_[np.ones(len(Y[1]) - 1), -np.ones(len(Y[2]))]
    lacking.add(1, 2, PairMachine("gaussian", KernelMachine(
        kernel, np.concatenate([Y[1][1:], Y[2]]), w, 0.1), True))
    assert machine_of_vectors(crossings, 1, 2, lacking).machine is None


@pytest.mark.parametrize("seed", range(2))
def test_vectors_that_another_pair_shows_roughly_are_moved(seed):
    svc, X = few_digits(3, 5, seed)
    crossings = Crossings(ClassOracle(svc.predict, 64), X[:200], np.random.default_rng(seed))
    kernel, starts = Gaussian(float(1 / np.sqrt(2 * svc._gamma))), np.cumsum([0, *svc.n_support_])
    Y = [svc.support_vectors_[a:b] for a, b in zip(starts, starts[1:], strict=False)]
    off = 1e-5 * np.random.default_rng(seed).standard_normal(Y[2].shape)

    def shared_vectors(*classes):
        shared = SharedVectors(1.0)
        w = np.r_[np.ones(len(classes[0])), -np.ones(len(classes[1]))]
        shared.add(0, 1, PairMachine("gaussian", KernelMachine(
            kernel, np.concatenate(classes[:2]), w, 0.1), True))
        w = np.r_[np.ones(len(classes[0])), -np.ones(len(classes[2]))]
        shared.add(0, 2, PairMachine("gaussian", KernelMachine(
            kernel, np.concatenate([classes[0], classes[2]]), w, 0.1), False))
        return shared

    # those of two classes are sure; those of the third are off by about 1e-5
    shared = shared_vectors(Y[0], Y[1], Y[2] + off)
    assert shared.sure(0).all() and shared.sure(1).all() and not shared.sure(2).any()
    assert machine_of_vectors(crossings, 1, 2, shared).machine is None
    found = machine_of_rough_vectors(crossings, 1, 2, shared)
    points = around(X)
    assert (found.machine.predict(points) == pair_signs(svc, points)[1, 2]).all()
    assert not found.own_vectors

    # the refitted vectors take the place of the rough ones
    shared.add(1, 2, found)
    assert len(shared.of(2)) == len(Y[2])
    inside = np.abs(svc.dual_coef_[1, starts[2]:]) > 0  # the vectors that this pair has
    assert KDTree(shared.of(2)).query(Y[2][inside])[0].max() < 1e-7

    # with one vector missing, there is no such machine; and none is sought where all are sure
    lacking = shared_vectors(Y[0], Y[1], (Y[2] + off)[1:])
    assert machine_of_rough_vectors(crossings, 1, 2, lacking).machine is None
    assert machine_of_rough_vectors(crossings, 0, 1, lacking).machine is None


# -- the whole -----------------------------------------------------------------------------------

@pytest.mark.parametrize("data", [IRIS, WINE], ids=["iris", "wine"])
@pytest.mark.parametrize("options", [
    {"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1}], ids=["linear", "quadratic"])
def test_votes_of_polynomial_machines_are_reproduced(data, options):
    X, y = data
    svc, Z = SVC(**options).fit(X, y), around(X)
    oracle = ClassOracle(svc.predict, X.shape[1])
    result = deconstruct_classes(oracle, X, progress=False)
    assert result.queries == oracle.queries < 150_000
    assert result.kernel_type == {"linear": "linear", "poly": "quadratic"}[options["kernel"]]
    assert result.score(X, svc.predict(X)) == 1
    assert result.score(Z, svc.predict(Z)) > 0.999
    assert result.agreement == {"around": 1.0, "close": 1.0}

    # the machine of every pair that has one is right everywhere
    signs = pair_signs(svc, Z)
    assert len(result.recovered) >= 2
    for pair in result.recovered:
        assert (result.machine.machines[pair].predict(Z) == signs[pair]).mean() > 0.999


def test_five_classes_all_of_whose_pairs_meet():
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 5] / 16, y[y < 5]
    svc = SVC(kernel="linear").fit(X, y)
    result = deconstruct_classes(ClassOracle(svc.predict, 64), X[:200], progress=False)
    assert len(result.recovered) == len(result.pairs) == 10
    Z = around(X)
    assert (result.predict(Z) == svc.predict(Z)).all()


@pytest.mark.parametrize("seed", range(2))
def test_gaussian_machines_share_their_vectors(seed):
    svc, X = few_digits(3, 5, seed)
    result = deconstruct_classes(ClassOracle(svc.predict, 64), X[:200], progress=False)
    assert result.kernel_type == "gaussian" and len(result.recovered) == 3
    Z = around(X)
    assert (result.predict(Z) == svc.predict(Z)).all()
    near = KDTree(result.support_vectors).query(svc.support_vectors_)[0]
    assert len(result.support_vectors) == len(svc.support_) and near.max() < 3e-4
    assert result.own_vectors == ("the model's own" in result.summary())


@pytest.mark.slow
def test_a_smaller_ball_has_no_points_of_another_pairs_boundary():
    """Five of the 551 brackets lie where votes are equal: with them no fit becomes sharp."""
    svc, X = several_classes.fitted("wine", "gaussian", 0)
    features = X[np.random.default_rng(100).permutation(len(X))]
    result = deconstruct_classes(ClassOracle(svc.predict, 13), features, progress=False)
    assert result.own_vectors and len(result.support_vectors) == len(svc.support_)
    assert KDTree(result.support_vectors).query(svc.support_vectors_)[0].max() < 1e-6


def test_vectors_that_no_other_pair_shows_are_found():
    svc, X = few_digits(3, 5, 1)
    crossings = Crossings(ClassOracle(svc.predict, 64), X[:200], np.random.default_rng(0))
    starts = np.cumsum([0, *svc.n_support_])
    Y, Z = (svc.support_vectors_[starts[k]:starts[k + 1]] for k in (0, 2))
    shared, kernel = SharedVectors(1.0), Gaussian(float(1 / np.sqrt(2 * svc._gamma)))
    machine = KernelMachine(kernel, np.concatenate([Y[1:], Z]), np.r_[
        np.ones(len(Y) - 1), -np.ones(len(Z))], 0.1)
    shared.add(0, 2, PairMachine("gaussian", machine, True))
    found = machine_with_unknown(crossings, 0, 2, shared)
    points = around(X)
    assert (found.machine.predict(points) == pair_signs(svc, points)[0, 2]).all()
    assert KDTree(found.machine.support_vectors).query(Y[:1])[0] < 1e-6


def test_string_labels_and_unlike_units():
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])
    model = LogisticRegression(max_iter=5000).fit(X / X.std(0), names[y])
    oracle = ClassOracle(lambda Z: model.predict(Z / X.std(0)), 13)
    result = deconstruct_classes(oracle, X, progress=False)
    assert result.classes == ("barbera", "barolo", "grignolino")
    Z = around(X)
    assert (result.predict(Z) == model.predict(Z / X.std(0))).all()
    assert result.kernel_type == "linear" and not result.own_vectors


def test_the_largest_of_several_functions_is_a_vote_too():
    X, y = IRIS
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    result = deconstruct_classes(ClassOracle(model.predict, 4), X, progress=False)
    Z = around(X)
    assert result.kernel_type == "quadratic" and result.score(Z, model.predict(Z)) > 0.999


def test_two_classes_are_a_vote_of_one_machine():
    X, y = WINE
    svc = SVC(kernel="linear").fit(X, y == 1)
    result = deconstruct_classes(ClassOracle(svc.predict, 13), X, progress=False)
    assert result.recovered == [(False, True)] and result.score(X, svc.predict(X)) == 1


def test_what_is_no_kernel_machine_has_stand_ins():
    X, y = IRIS
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    result = deconstruct_classes(ClassOracle(model.predict, 4), X, progress=False)
    assert "a surrogate votes between" in result.message
    assert result.score(X, model.predict(X)) > 0.85
    assert result.agreement["close"] < 0.95 and "the vote is not the model's" in result.message


def test_a_third_class_that_occurs_late_is_one_more():
    X = np.random.default_rng(0).standard_normal((60, 2))
    result = deconstruct_classes(ClassOracle(lambda Z: (Z[:, 0] > 0) + (Z[:, 0] > 2.5), 2),
                                 X[np.abs(X[:, 0]) < 1.5], progress=False)
    assert result.classes in ((0, 1), (0, 1, 2))
    assert (0, 1) in result.recovered


def test_what_is_known_survives_a_budget():
    X, y = WINE
    svc = SVC(kernel="linear").fit(X, y)
    oracle = ClassOracle(svc.predict, 13, budget=40_000)
    with pytest.raises(BudgetExhausted) as error:
        deconstruct_classes(oracle, X, progress=False)
    result = error.value.result
    assert oracle.queries <= 40_000 and result.agreement == {}
    assert len(result.pairs) == 3 and len(result.recovered) >= 1
    assert result.score(X, svc.predict(X)) > 0.9


def test_a_programming_error_comes_out_as_itself(monkeypatch):
    X, y = IRIS
    svc = SVC(kernel="linear").fit(X, y)

    def broken(*args, **options):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("decon.multiclass.pairs.decide", broken)
    with pytest.raises(ZeroDivisionError, match="planted") as error:
        deconstruct_classes(ClassOracle(svc.predict, 4), X, progress=False)
    assert error.value.result.recovered == []


def test_the_same_call_gives_the_same_result():
    X, y = IRIS
    svc = SVC(kernel="linear").fit(X, y)
    one, two = (deconstruct_classes(ClassOracle(svc.predict, 4), X, progress=False)
                for _ in range(2))
    assert one.queries == two.queries and one.agreement == two.agreement
    for pair in one.recovered:
        np.testing.assert_array_equal(one.machine.machines[pair].support_vectors,
                                      two.machine.machines[pair].support_vectors)


def test_bad_input():
    X, y = IRIS
    svc = SVC(kernel="linear").fit(X, y)
    with pytest.raises(TypeError, match="ClassOracle"):
        deconstruct_classes(Oracle(svc.predict, 4), X)
    with pytest.raises(TypeError, match="no features"):
        deconstruct_classes(ClassOracle(svc.predict, 4))
    with pytest.raises(ValueError, match="shape"):
        deconstruct_classes(ClassOracle(svc.predict, 4), X[:, :2])
    with pytest.raises(ValueError, match="got the label"):
        deconstruct_classes(ClassOracle(svc.predict, 4), X[:20])
    result = deconstruct_classes(ClassOracle(svc.predict, 4), X, progress=False)
    with pytest.raises(ValueError, match="expected 150 labels"):
        result.score(X, y[:10])


@pytest.mark.slow
def test_a_class_that_is_met_between_the_others_only():
    def predict(Z):  # 0, a thin slab of 2, then 1; and 3 far out
        return np.select([np.abs(Z[:, 1]) > 40, Z[:, 0] < 0, Z[:, 0] > 0.2], [3, 0, 1], 2)

    X = np.random.default_rng(0).standard_normal((80, 3))
    X = X[(X[:, 0] < 0) | (X[:, 0] > 0.2)]
    result = deconstruct_classes(ClassOracle(predict, 3), X, progress=False)
    assert set(result.classes) >= {0, 1, 2} and {(0, 2), (1, 2)} <= set(result.recovered)
    assert result.score(X, predict(X)) == 1
