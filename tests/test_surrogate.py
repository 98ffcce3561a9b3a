"""Stand-ins for models that no machine reproduces."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_circles, make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import Deconstruction, Gaussian, KernelMachine, Oracle, Polynomial, deconstruct
from decon.extraction.retraining import retrained
from decon.extraction.stand_in import best_stand_in, find_surrogate, fit_dictionary, places
from decon.extraction.surrogate import LabelledTrees, Surrogate

WINE, CLASSES = load_wine(return_X_y=True)


def boundary_of(machine, n, seed=0):
    """Points on the boundary of a machine, by Newton's method, and the normals there."""
    X = np.random.default_rng(seed).standard_normal((n, machine.dimension))
    for _ in range(100):
        G = machine.gradient(X)
        X -= (machine.decision_function(X) / (G**2).sum(1))[:, None] * G
    good = np.abs(machine.decision_function(X)) < 1e-12
    G = machine.gradient(X[good])
    return X[good], G / np.linalg.norm(G, axis=1)[:, None]


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(3, 0.5), Polynomial(2)], ids=str)
def test_a_dictionary_with_the_right_centres_gives_back_the_machine(kernel):
    machine = KernelMachine.random(kernel, 6, 5)
    X, V = boundary_of(machine, 200)
    assert len(X) > 50
    found = fit_dictionary(kernel, machine.support_vectors, X, V, 1e-14).normalised()
    truth = machine.normalised()
    np.testing.assert_allclose(found.weights, truth.weights, atol=1e-8)
    assert found.threshold == pytest.approx(truth.threshold, abs=1e-8)


@pytest.mark.parametrize("make, options", [(make_moons, {"noise": 0.2}),
                                           (make_circles, {"noise": 0.1, "factor": 0.5})])
@pytest.mark.parametrize("seed", range(2))
def test_in_the_plane_the_boundary_is_found_to_many_digits(make, options, seed):
    X, y = make(200, random_state=seed, **options)
    model = SVC().fit(X, y)
    surrogate = find_surrogate(Oracle(model.predict, 2), X, random_state=seed)
    assert surrogate.agreement["distance"] < 1e-9
    assert surrogate.agreement["features"] == 1 and surrogate.agreement["around"] > 0.98
    moved = X + 0.3 * X.std(0) * np.random.default_rng(5).standard_normal(X.shape)
    assert (surrogate.predict(moved) == np.where(model.predict(moved) == 1, 1, -1)).mean() > 0.99


@pytest.mark.slow
def test_what_is_measured_is_true():
    model = make_pipeline(StandardScaler(), SVC()).fit(WINE, CLASSES == 1)
    surrogate = find_surrogate(Oracle(model.predict, 13), WINE, random_state=0)
    rng = np.random.default_rng(7)
    i, j, k = rng.integers(len(WINE), size=(3, 20_000))
    between = WINE[i] + rng.uniform(-0.5, 0.5, (20_000, 1)) * (WINE[j] - WINE[k])
    noise = np.resize([0.3, 1.0], 20_000)[:, None] * WINE.std(0)
    around = between + noise * rng.standard_normal(between.shape)
    for name, points in (("features", WINE), ("between", between), ("around", around)):
        truth = np.where(model.predict(points), 1, -1)
        error = 4 * np.sqrt(0.25 / 1000) * (name != "features")
        assert (surrogate.predict(points) == truth).mean() == pytest.approx(
            surrogate.agreement[name], abs=error)
        assert (surrogate.predict(points) == truth).mean() > 0.96


@pytest.mark.slow
def test_a_tree_is_stood_in_for_by_a_tree():
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(WINE, CLASSES == 1)
    surrogate = find_surrogate(Oracle(model.predict, 13), WINE, random_state=0)
    assert isinstance(surrogate.machine, LabelledTrees)
    assert surrogate.agreement["around"] > 0.99


@pytest.mark.parametrize("model", [SVC(), DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_a_result_predicts_with_its_surrogate_says_so_and_is_saved(model, tmp_path):
    X, y = make_moons(100, noise=0.2, random_state=0)
    model.fit(X, np.where(y == 1, "yes", "no"))
    result = deconstruct(Oracle(model.predict, 2), X, progress=False)
    assert result.machine is None and "surrogate" in result.queries_by_stage
    assert "surrogate" in result.summary()
    with pytest.warns(UserWarning, match="those of the surrogate"):
        labels = result.predict(X)
    assert (labels == model.predict(X)).mean() > 0.98
    result.save(tmp_path / "result.npz")
    loaded = Deconstruction.load(tmp_path / "result.npz")
    assert loaded.surrogate.agreement == result.surrogate.agreement
    assert loaded.labels == ("yes", "no")
    with pytest.warns(UserWarning):
        assert (loaded.predict(X) == labels).all()


def test_a_machine_predicts_in_the_models_own_words():
    machine = KernelMachine.random(Polynomial(2), 5, 3)
    X = np.random.default_rng(0).standard_normal((200, 5))

    def words(points):
        return np.where(machine.predict(points) > 0, "spam", "ham")

    result = deconstruct(Oracle(words, 5, positive="spam"), X[:20], progress=False)
    assert result.surrogate is None and (result.predict(X) == words(X)).all()


def test_without_a_machine_and_a_surrogate_nothing_is_predicted():
    X, y = make_moons(100, noise=0.2, random_state=0)
    model = KNeighborsClassifier(1).fit(X, y)
    result = deconstruct(Oracle(model.predict, 2), X, progress=False, surrogate=False)
    assert result.surrogate is None and "surrogate" not in result.queries_by_stage
    with pytest.raises(ValueError, match="neither a machine nor a surrogate"):
        result.predict(X)


def test_points_keep_to_the_bounds():
    oracle = Oracle(lambda X: X[:, 0] > 0.5, 3, bounds=(0, 1))
    points = places(oracle, np.random.default_rng(0).random((20, 3)), 300, [1.0],
                    np.random.default_rng(1))
    assert (points >= 0).all() and (points <= 1).all()
    assert find_surrogate(oracle, np.random.default_rng(0).random((20, 3))) is not None


def test_labels_at_its_own_boundary_help_an_svm():
    """Against an SVM on as many labels at random points, on five discs and five stripes."""
    better = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        c = rng.standard_normal(4)
        rule = ((lambda X, c=c: ((X - c) ** 2).sum(1) < 6) if seed % 2
                else (lambda X, c=c: np.sin(X @ c) > 0))
        X = rng.standard_normal((150, 4))
        oracle, fresh = Oracle(rule, 4), rng.standard_normal((4000, 4))
        found = retrained(oracle, X, oracle(X), lambda n, r=rng: r.standard_normal((n, 4)), rng)
        assert 150 < oracle.queries <= 300 and len(found) == 2
        more = rng.standard_normal((oracle.queries, 4))
        plain = SVC(C=100, gamma=1 / 4).fit(more, rule(more))
        right = max(((machine.predict(fresh) > 0) == rule(fresh)).mean() for machine in found)
        better += right > (plain.predict(fresh) == rule(fresh)).mean()
    assert better >= 7


def test_an_svm_of_few_labels_of_one_kind_is_trained_all_the_same():
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = np.where(np.arange(30) < 1, 1, -1)
    oracle = Oracle(lambda X: X[:, 0] > 10, 2)
    rng = np.random.default_rng(1)
    machines = retrained(oracle, X, y, lambda n: rng.standard_normal((n, 2)), rng)
    assert all(set(machine.predict(X)) <= {-1, 1} for machine in machines)


@pytest.mark.parametrize("brackets", [30, 100])
def test_the_number_of_brackets_sets_the_price(brackets):
    machine = KernelMachine.random(Gaussian(2.0), 5, 8)
    X = np.random.default_rng(0).standard_normal((40, 5))
    oracle = Oracle(machine.predict, 5)
    found = best_stand_in(oracle, X, brackets=brackets)
    assert 30 * brackets < oracle.queries < 80 * brackets
    assert (found.predict(X) == machine.predict(X)).mean() > 0.9


def test_one_label_near_the_features_gives_no_surrogate():
    oracle = Oracle(lambda X: X[:, 0] > 1e6, 3, positive=True)
    assert find_surrogate(oracle, np.random.default_rng(0).random((20, 3))) is None


def test_a_point_that_got_both_labels_is_no_bracket():
    rng = np.random.default_rng(0)
    oracle = Oracle(lambda X: (X[:, 0] > 0) ^ (rng.random(len(X)) < 0.3), 2)
    X = np.random.default_rng(1).standard_normal((6, 2))  # drawn again and again
    machine = best_stand_in(oracle, X, brackets=100)
    assert set(machine.predict(X)) <= {-1, 1}


def test_surrogates_have_a_short_repr():
    trees = LabelledTrees(np.eye(4), [1, 1, -1, -1], True)
    assert "boosted trees" in repr(trees) and len(repr(Surrogate(trees, {"around": 0.9}))) < 160
