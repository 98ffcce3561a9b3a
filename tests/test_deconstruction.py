"""From labels to machines, on boxes whose inside we know; and everything that can be wrong."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import (
    BudgetExhausted,
    Deconstruction,
    Gaussian,
    KernelMachine,
    Linear,
    Oracle,
    OracleError,
    Polynomial,
    Tanh,
    deconstruct,
)
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import pn_pairs
from decon.families.settings import SETTINGS
from decon.subspaces.spans import largest_sine
from decon.teaching.datasets import load_mnist
from experiments._models import random_model, typical


def take_apart(predict, features, seed=0, **options):
    oracle = Oracle(predict, features.shape[1], **options)
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    assert sum(result.queries_by_stage.values()) == oracle.queries
    return result


def agreement(result, predict, seed=0):
    """Agreement on 20,000 wide points and 5,000 near the boundary, none of them used before."""
    # points u, in the units of the search
    rng = np.random.default_rng(seed + 1000)
    d, R, units = result.machine.dimension, result.scale, result.units
    wide = rng.standard_normal((20000, d)) * R / np.sqrt(d)
    wide[10000:] *= 3
    truth = lambda U: np.where(predict(U * units) == 1, 1, -1)  # noqa: E731
    ours = lambda U: result.machine.predict(U * units)  # noqa: E731

    # a step to both sides of the recovered boundary
    own = ours(wide)
    X, _ = boundary_points(Oracle(ours, d), *pn_pairs(wide[own > 0], wide[own < 0], 2500, rng),
                           1e-13 * R)
    G = result.machine.gradient(X * units) * units
    G *= 1e-4 * R / np.linalg.norm(G, axis=1, keepdims=True)
    near = np.concatenate([X + G, X - G])
    return (own == truth(wide)).mean(), (ours(near) == truth(near)).mean()


@pytest.mark.parametrize("seed", range(6))
def test_random_quadratic_machines(seed):
    box, features = random_model(Polynomial(2), 30, 12, seed)
    result = take_apart(box.predict, features, seed)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("quadratic", 12, False)
    assert largest_sine(result.subspace, box.support_vectors.T) < 0.014
    assert min(agreement(result, box.predict, seed)) >= 0.9999
    assert min(result.agreement.values()) >= 0.999
    assert result.machine.support_vectors.shape == (12, 30)
    assert sum(result.queries_by_stage.values()) <= 25_000
    assert result.queries_by_stage["agreement"] == 800


@pytest.mark.parametrize("d, seed", [*((30, seed) for seed in range(6)), (640, 0), (640, 1)])
def test_random_linear_machines(d, seed):
    box, features = random_model(Linear(), d, 12, seed)
    result = take_apart(box.predict, features, seed)
    w = box.weights @ box.support_vectors
    size = np.linalg.norm(w)
    assert (result.kernel_type, result.rank) == ("linear", 1)
    np.testing.assert_allclose(result.machine.support_vectors[0], w / size, atol=1e-6)
    assert result.machine.threshold == pytest.approx(box.threshold / size, abs=1e-6)
    assert min(agreement(result, box.predict, seed)) >= 0.9999
    assert sum(result.queries_by_stage.values()) <= 1500 + 45 * d
    assert result.queries_by_stage["normals"] <= 15 * d  # one, which does not get lost


@pytest.mark.parametrize("d, m", [(1, 1), (2, 2), (3, 1), (5, 4), (5, 5), (5, 9), (60, 3)])
def test_other_sizes(d, m):
    box = KernelMachine.random(Polynomial(2), d, m, 1)
    features = typical(box.predict, np.random.default_rng(501).standard_normal((300, d)))
    result = take_apart(box.predict, features)
    if d > 1:  # on a line, one of the two roots may lie far outside
        assert (result.kernel_type, result.rank) == ("quadratic", min(m, d))
        assert largest_sine(result.subspace, box.support_vectors.T) < 0.014
    assert min(agreement(result, box.predict)) >= 0.998


@pytest.mark.parametrize("predict, name", [
    (lambda X: X[:, 0] > 0.3, "linear"),
    (lambda X: X[:, 0] < -0.2, "linear"),
    (lambda X: (X[:, 0] + 0.3) ** 2 > 1, "quadratic"),
    (lambda X: np.abs(X[:, 0] - 0.1) < 0.4, "quadratic"),
    (lambda X: (X[:, 0] - 0.3) * (X[:, 0] + 0.5) * (X[:, 0] - 1.1) > 0, "unknown"),
])
def test_on_a_line(predict, name):
    features = np.random.default_rng(0).standard_normal((30, 1))
    result = take_apart(predict, features)
    assert result.kernel_type == name
    if name != "unknown":
        assert result.rank == 1 and min(agreement(result, predict)) == 1
    else:
        assert "3 crossings" in result.message


def test_labels_with_errors_are_seen_through():
    rng = np.random.default_rng(0)
    w = rng.standard_normal(8)
    features = rng.standard_normal((20, 8))
    for _ in range(5):
        result = take_apart(lambda X: (X @ w > 0.1) ^ (rng.random(len(X)) < 0.01), features)
        if result.kernel_type == "unknown":
            assert result.message
        else:
            assert result.kernel_type == "linear" and 0.005 < result.noise < 0.05
            assert "voted down" in result.summary()
            assert np.abs(result.subspace[:, 0] @ w) > 0.9999 * np.linalg.norm(w)


@pytest.fixture(scope="module")
def sets():
    cancer, digits, mnist = load_breast_cancer(), load_digits(), load_mnist()
    pixels = PCA(40, random_state=0).fit_transform(mnist[0])
    shuffled = np.random.default_rng(0).permutation(len(pixels))
    return {
        "cancer": (StandardScaler().fit_transform(cancer.data), cancer.target),
        "raw cancer": (cancer.data, cancer.target),
        "digits": (digits.data / 16, digits.target % 2),
        "mnist": (pixels[shuffled], (mnist[1] == 1).astype(int)[shuffled]),
    }


@pytest.mark.parametrize("name, n, options", [
    ("cancer", 60, {"C": 100, "gamma": 0.01}),
    ("cancer", 400, {}),                               # m > d
    ("cancer", 100, {"C": 100, "gamma": 5, "coef0": 3}),
    ("digits", 60, {}),
    ("digits", 150, {"coef0": 0.1}),
    ("mnist", 80, {}),
    ("mnist", 600, {"C": 10}),                         # m > d
])
def test_trained_quadratic_svcs(sets, name, n, options):
    X, y = sets[name]
    svc = SVC(kernel="poly", degree=2, **{"coef0": 1, **options}).fit(X[:n], y[:n])
    result = take_apart(svc.predict, typical(svc.predict, X))
    rank = np.linalg.matrix_rank(svc.support_vectors_)
    assert (result.kernel_type, result.rank) == ("quadratic", rank)
    basis = np.linalg.svd(svc.support_vectors_.T)[0][:, :rank]
    assert largest_sine(result.subspace, basis) < 0.014
    assert min(agreement(result, svc.predict)) >= 0.9999
    assert ("at least" in result.message) == (rank == X.shape[1])


@pytest.mark.parametrize("name, n", [("cancer", 300), ("raw cancer", 200), ("digits", 200),
                                     ("mnist", 300)])
def test_trained_linear_svcs(sets, name, n):
    X, y = sets[name]
    svc = SVC(kernel="linear").fit(X[:n], y[:n])
    result = take_apart(svc.predict, typical(svc.predict, X))
    w = svc.coef_[0] / np.linalg.norm(svc.coef_)
    assert result.kernel_type == "linear"
    np.testing.assert_allclose(result.machine.support_vectors[0], w, atol=1e-6)
    offset = -svc.intercept_[0] / np.linalg.norm(svc.coef_)
    assert result.machine.threshold == pytest.approx(offset, abs=1e-6 * result.scale)


def test_badly_scaled_data_hide_directions_but_not_the_boundary(sets):
    X, y = sets["raw cancer"]
    svc = SVC(kernel="poly", degree=2, coef0=1).fit(X[:60], y[:60])
    result = take_apart(svc.predict, typical(svc.predict, X))
    assert result.kernel_type == "quadratic" and "hidden" in result.message
    assert min(agreement(result, svc.predict)) >= 0.9999


@pytest.mark.parametrize("gamma", [1e-6, 1e-5, 1e-4, 1e-2, 1e4])
@pytest.mark.parametrize("name, n", [("cancer", 40), ("cancer", 300), ("mnist", 60)])
def test_any_gamma(sets, name, n, gamma):
    X, y = sets[name]
    svc = SVC(kernel="poly", degree=2, coef0=1, gamma=gamma, C=1000).fit(X[:n], y[:n])
    features = typical(svc.predict, np.concatenate([X, 10 * X]))
    result = take_apart(svc.predict, features)
    rank = np.linalg.matrix_rank(svc.support_vectors_)
    assert (result.kernel_type, result.rank) == ("quadratic", rank)
    basis = np.linalg.svd(svc.support_vectors_.T)[0][:, :rank]
    assert largest_sine(result.subspace, basis) < 0.014
    assert min(agreement(result, svc.predict)) >= 0.9999
    if name == "cancer":
        assert sum(result.queries_by_stage.values()) <= 32_000


@pytest.mark.parametrize("gamma, coef0", [(0.003, 3.0), (30.0, 0.01)])
def test_nearly_linear_and_nearly_homogeneous(gamma, coef0):
    box, features = random_model(Polynomial(2, gamma=gamma, coef0=coef0), 20, 6, 0)
    result = take_apart(box.predict, features)
    assert (result.kernel_type, result.rank) == ("quadratic", 6)
    assert min(agreement(result, box.predict)) >= 0.9999


def test_homogeneous_threshold_zero_and_small_weights():
    box, features = random_model(Polynomial(2, coef0=0), 15, 5, 0)
    result = take_apart(box.predict, features)
    assert result.kernel_type == "quadratic" and result.machine.kernel.coef0 == 0
    machine = KernelMachine.random(Polynomial(2), 15, 5, 0)
    X = np.random.default_rng(0).standard_normal((300, 15))
    for weights, threshold in [(machine.weights, 0.0),
                               (machine.weights * [1, 1, 1, 1, 1e-3], machine.threshold)]:
        box = KernelMachine(machine.kernel, machine.support_vectors, weights, threshold)
        result = take_apart(box.predict, typical(box.predict, X))
        assert (result.kernel_type, result.rank) == ("quadratic", 5)
        assert min(agreement(result, box.predict)) >= 0.9999


@pytest.mark.parametrize("seed", range(4))
def test_a_parabola(seed):
    features = np.random.default_rng(0).standard_normal((20, 2))
    result = take_apart(lambda X: X[:, 1] > X[:, 0] ** 2, features, seed)
    assert (result.kernel_type, result.rank) == ("quadratic", 2)


@pytest.mark.parametrize("unit", [1e-8, 1e-4, 1e4, 1e8])
def test_units_do_not_matter(unit):
    box, features = random_model(Polynomial(2), 10, 4, 0)
    box = KernelMachine(Polynomial(2, gamma=unit**-2), unit * box.support_vectors, box.weights,
                        box.threshold)
    result = take_apart(box.predict, unit * features)
    assert (result.kernel_type, result.rank) == ("quadratic", 4)


@pytest.mark.slow
@pytest.mark.parametrize("d", [3, 10, 20])
def test_one_label_is_rare(d):
    features = np.r_[np.ones((1, d)), np.random.default_rng(0).standard_normal((6, d))]
    ball = take_apart(lambda X: np.linalg.norm(X - 1, axis=1) < 0.05, features, positive=True)
    assert (ball.kernel_type, ball.rank) == ("quadratic", d)
    if d > 3:  # in three dimensions this takes half a minute
        cube = take_apart(lambda X: np.abs(X - 1).max(1) < 0.05, features, positive=True)
        assert cube.kernel_type == "unknown" and cube.machine is None


@pytest.mark.parametrize("seed", range(3))
def test_few_errors_allowed_few_support_vectors_free(sets, seed):
    X, y = sets["cancer"]
    order = np.random.default_rng(seed).permutation(len(y))
    svc = SVC(kernel="poly", degree=2, coef0=1, C=0.01).fit(X[order[:40]], y[order[:40]])
    result = take_apart(svc.predict, typical(svc.predict, X))
    assert result.kernel_type == "quadratic"
    assert min(agreement(result, svc.predict)) >= 0.999


def test_a_wide_gaussian_is_not_quadratic(seed=2):
    wide, features = random_model(Gaussian(100.0), 10, 4, seed)
    result = take_apart(wide.predict, features, seed)
    assert (result.kernel_type, result.rank) in [("gaussian", 4), ("unknown", 4),
                                                            ("unknown", None)]


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_almost_quadratic_is_not_quadratic(seed):
    box, features = random_model(Polynomial(2), 10, 4, seed)
    other, _ = random_model(Gaussian(3.0), 10, 4, seed)

    def predict(X):
        return box.decision_function(X) + 1e-7 * other.decision_function(X) > 0

    assert take_apart(predict, features, seed).kernel_type == "unknown"


@pytest.mark.parametrize("degree", [2, 3])
def test_a_budget_that_ends_in_the_certificate_leaves_no_name(degree):
    box, features = random_model(Polynomial(degree), 8, 3, 0)
    total = sum(take_apart(box.predict, features).queries_by_stage.values())
    with pytest.raises(BudgetExhausted) as error:
        take_apart(box.predict, features, budget=total - 1)
    known = error.value.result
    assert (known.kernel_type, known.machine, known.own_vectors) == ("unknown", None, False)


def test_what_is_no_oracle_is_said():
    with pytest.raises(TypeError, match="wrap the model as Oracle"):
        deconstruct(lambda X: X[:, 0] > 0, np.eye(2))


@pytest.mark.parametrize("largest, error, words", [
    (2500.0, TypeError, r"whole number.*got 2500\.0"), ("all", TypeError, "got 'all'"),
    (-1, ValueError, "at least 0.*got -1")])
def test_how_many_numbers_are_fitted_at_once_is_a_count(largest, error, words):
    box, features = random_model(Polynomial(2), 5, 2, 0)
    oracle = Oracle(box.predict, 5)
    with pytest.raises(error, match=words):
        deconstruct(oracle, features, progress=False, largest_fit=largest)
    assert oracle.queries == 0


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Gaussian(2.0)],
                         ids=str)
def test_a_fit_of_all_numbers_saves_queries_and_none_is_made_beyond_the_largest(kernel, seed=0):
    d, m = 10, 4
    box, features = random_model(kernel, d, m, seed)
    fitted, not_fitted = (deconstruct(Oracle(box.predict, d), features, progress=False,
                                      largest_fit=most) for most in (m * (d + 1), m * (d + 1) // 2))
    for result in (fitted, not_fitted):
        assert result.kernel_type == kernel.name and result.rank == m
    assert fitted.own_vectors == not_fitted.own_vectors == (kernel.name != "quadratic")
    assert "sharpening" in fitted.queries_by_stage
    assert "sharpening" not in not_fitted.queries_by_stage
    assert sum(fitted.queries_by_stage.values()) < sum(not_fitted.queries_by_stage.values())


def own_vectors_are_found(result, Y, tolerance):
    """Is every row of Y among the recovered vectors, to a relative error?"""
    distance = np.linalg.norm(result.machine.support_vectors[:, None] - Y, axis=2)
    return (distance.min(0) < tolerance * np.linalg.norm(Y, axis=1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("d, m, seed", [(15, 5, 0), (15, 5, 1), (15, 5, 2), (30, 12, 4), (8, 8, 0)])
def test_cubic_machines_and_their_own_support_vectors(d, m, seed):
    box, features = random_model(Polynomial(3), d, m, seed)
    result = take_apart(box.predict, features, seed)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("cubic", m, True)
    assert own_vectors_are_found(result, box.support_vectors, 1e-5)
    assert result.machine.threshold == pytest.approx(box.normalised().threshold, rel=1e-5)
    assert min(agreement(result, box.predict)) >= 0.9999
    assert "the model's own" in result.summary() and result.message == ""


@pytest.mark.parametrize("name, n", [("cancer", 30), ("mnist", 60)])
def test_trained_cubic_svcs(sets, name, n):
    X, y = sets[name]
    svc = SVC(kernel="poly", degree=3, coef0=1).fit(X[:n], y[:n])
    result = take_apart(svc.predict, typical(svc.predict, X))
    assert (result.kernel_type, result.own_vectors) == ("cubic", True)
    assert own_vectors_are_found(result, svc._gamma * svc.support_vectors_, 1e-3)
    assert min(agreement(result, svc.predict)) >= 0.9999


def test_support_vectors_too_much_alike_are_not_called_the_boxs_own():
    machine, features = random_model(Polynomial(3), 8, 3, 0)
    Y = np.concatenate([machine.support_vectors, 1.001 * machine.support_vectors[:1]])
    box = KernelMachine(machine.kernel, Y, np.r_[machine.weights, 0.7], machine.threshold)
    X = np.random.default_rng(0).standard_normal((300, 8))
    result = take_apart(box.predict, typical(box.predict, X))
    assert result.kernel_type == "cubic" and not result.own_vectors and "alike" in result.message
    assert min(agreement(result, box.predict)) >= 0.999


def test_a_homogeneous_cubic():
    box, features = random_model(Polynomial(3, coef0=0), 15, 5, 0)
    result = take_apart(box.predict, features)
    assert (result.kernel_type, result.rank) == ("cubic", 5)
    assert result.machine.kernel.coef0 == 0
    assert min(agreement(result, box.predict)) >= 0.9999


@pytest.mark.parametrize("d, m, rank, own", [
    (6, 12, 6, False), (12, 8, 6, True), (8, 30, 8, False)])
def test_a_cubic_of_too_many_vectors_has_quasi_support_vectors(d, m, rank, own, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, d)) / np.sqrt(rank * d)
    box = KernelMachine(Polynomial(3), Y, rng.standard_normal(m), 0.0)
    X = rng.standard_normal((300, d))
    box.threshold = float(np.median(box.decision_function(X)))
    result = take_apart(box.predict, typical(box.predict, X), seed)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("cubic", rank, own)
    assert largest_sine(result.subspace, Y.T) < 0.014
    assert min(agreement(result, box.predict)) >= 0.9999
    assert own or "dependent" in result.message


@pytest.mark.parametrize("seed", range(2))
def test_a_faint_sigmoid_is_curved_only_far_out_and_a_wide_gaussian_looks_cubic(sets, seed):
    X, y = sets["cancer"]
    order = np.random.default_rng(seed).permutation(len(y))[:25]
    svc = SVC(kernel="sigmoid", gamma=0.001, C=100).fit(X[order], y[order])
    result = take_apart(svc.predict, typical(svc.predict, X))
    assert (result.kernel_type, result.rank) == ("tanh", len(svc.support_vectors_))
    wide, features = random_model(Gaussian(10.0), 12, 4, seed)
    result = take_apart(wide.predict, features)
    assert (result.kernel_type, result.rank) == ("gaussian", 4)


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3), Tanh(1.0, 0.2)], ids=str)
def test_threshold_zero(kernel):
    box, features = random_model(kernel, 12, 4, 3)
    box.threshold = 0.0
    result = take_apart(box.predict, features)
    assert (result.kernel_type, result.rank) == (kernel.name, 4)


def test_a_gaussian_with_threshold_zero_is_type_a_and_refused():
    box, features = random_model(Gaussian(2.0), 12, 4, 3)
    box.threshold = 0.0
    result = take_apart(box.predict, features)
    assert result.kernel_type == "unknown" and "threshold 0" in result.message
    differences = (box.support_vectors[1:] - box.support_vectors[0]).T
    assert largest_sine(result.subspace, differences) < 0.014


@pytest.mark.parametrize("kernel, name", [(Polynomial(3), "linear"), (Tanh(1.0, 0.2), "linear"),
                                          (Gaussian(2.0), "quadratic")], ids=str)
def test_one_support_vector_makes_the_simplest_boundary(kernel, name):
    box, features = random_model(kernel, 8, 1, 2)
    result = take_apart(box.predict, features)
    assert result.kernel_type == name and min(agreement(result, box.predict)) >= 0.9999


@pytest.mark.parametrize("kernel", [Tanh(1.0, 0.2), Gaussian(2.0)], ids=str)
def test_as_many_support_vectors_as_dimensions_are_said(kernel):
    box, features = random_model(kernel, 14, 16, 1)
    result = take_apart(box.predict, features)
    assert result.kernel_type == "unknown" and "or more support vectors" in result.message


@pytest.mark.parametrize("seed", range(3))
def test_a_kernel_of_degree_4_is_unknown_with_a_reason(seed):
    box, features = random_model(Polynomial(4), 12, 4, seed)
    result = take_apart(box.predict, features, seed)
    assert result.kernel_type == "unknown" and result.machine is None and result.message
    assert largest_sine(result.subspace, box.support_vectors.T) < 0.014


@pytest.mark.parametrize("kernel", [Tanh(1.0, 0.1), Tanh(3.0, 0.0), Gaussian(1.0), Gaussian(4.0)],
                         ids=str)
@pytest.mark.parametrize("d, m", [(12, 4), (20, 8), (9, 7)])
@pytest.mark.parametrize("seed", range(2))
def test_tanh_and_gaussian_machines_are_recovered(kernel, d, m, seed):
    box, features = random_model(kernel, d, m, seed)
    result = take_apart(box.predict, features, seed)
    assert (result.kernel_type, result.rank) == (kernel.name, m), result.message
    assert largest_sine(result.subspace, box.support_vectors.T) < 0.014
    if kernel == Gaussian(1.0) and not result.own_vectors:  # the features are five widths away
        assert "others may hide" in result.message and result.n_support is None
    else:
        assert result.own_vectors and result.message == ""
    Y = getattr(kernel, "alpha", 1.0) * box.support_vectors
    found = result.machine.support_vectors
    if kernel.name == "tanh":  # tanh(-u) = -tanh(u): (y, w, beta) and (-y, -w, -beta) are one
        nearest = np.abs(found @ Y.T / np.linalg.norm(found, axis=1)[:, None]).argmax(0)
        signs = np.sign((found[nearest] * Y).sum(1))
        assert kernel.beta == 0 or (signs == signs[0]).all()
        Y = signs[:, None] * Y
    assert own_vectors_are_found(result, Y, 1e-5)
    assert min(agreement(result, box.predict)) >= 0.9999


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cancer", "digits"])
@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "sigmoid", "C": 10},
                                     {"kernel": "rbf", "C": 10}], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_trained_tanh_and_gaussian_machines_are_recovered(sets, name, options, seed):
    X, y = sets[name]
    y = y % 2
    order = np.random.default_rng(seed).permutation(len(y))[:24]
    svc = SVC(**options).fit(X[order], y[order])
    features = typical(svc.predict, X)
    result = take_apart(svc.predict, features, seed)
    kind = {"rbf": "gaussian", "sigmoid": "tanh"}[options["kernel"]]
    assert (result.kernel_type, result.rank) == (kind, len(svc.support_vectors_))
    assert largest_sine(result.subspace, svc.support_vectors_.T) < 0.014
    assert result.own_vectors and min(result.agreement.values()) >= 0.999
    answers = np.where(svc.predict(X) == svc.classes_[1], 1, -1)
    assert (result.machine.predict(X) == answers).mean() >= 0.999


@pytest.mark.parametrize("kind", ["Cauchy", "tanh network"])
@pytest.mark.parametrize("seed", range(3))
def test_machines_of_another_kind_with_the_same_shape_are_refused(kind, seed):
    rng = np.random.default_rng(seed)
    Y, w, biases = rng.standard_normal((5, 12)) / 2, rng.standard_normal(5), np.linspace(0, 1, 5)

    def psi(X):
        if kind == "tanh network":
            return np.tanh(X @ Y.T + biases) @ w
        return 1 / (1 + ((X[:, None] - Y) ** 2).sum(2)) @ w

    X = rng.standard_normal((400, 12))
    b = np.median(psi(X))
    result = take_apart(lambda X: psi(X) > b, typical(lambda X: psi(X) > b, X), seed)
    assert result.kernel_type == "unknown" and result.machine is None and result.message
    assert largest_sine(result.subspace, Y.T) < 0.014  # which is right all the same


@pytest.mark.parametrize("model", [RandomForestClassifier(10, random_state=0),
                                   KNeighborsClassifier()], ids=lambda m: type(m).__name__)
def test_boxes_that_are_no_kernel_machines_are_unknown(sets, model):
    X, y = sets["cancer"]
    X = X[:, :6]
    model.fit(X, y)
    result = take_apart(model.predict, typical(model.predict, X))
    assert result.kernel_type == "unknown" and result.machine is None and result.message


def test_too_large_for_a_null_vector_is_said(monkeypatch):
    few = replace(SETTINGS, most_coefficients=100)
    for file in ("families.quadratic.SETTINGS", "extraction.diagnosis.FAMILIES"):
        monkeypatch.setattr(f"decon.{file}", few)
    box, features = random_model(Polynomial(2), 20, 19, 0)
    result = take_apart(box.predict, features)
    assert result.machine is None and "105 coefficients" in result.message
    assert (result.kernel_type, result.rank) == ("quadratic", 19)  # by its degree
    box, features = random_model(Polynomial(2), 20, 4, 0)  # R^d is too large, but no slice needed
    result = take_apart(box.predict, features)
    assert (result.kernel_type, result.rank) == ("quadratic", 4)


def test_the_same_call_gives_the_same_answer():
    box, features = random_model(Polynomial(2), 8, 3, 0)
    first, second = (take_apart(box.predict, features, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.machine.support_vectors, second.machine.support_vectors)
    assert first.queries_by_stage == second.queries_by_stage


def test_labels_as_strings_and_booleans():
    box, features = random_model(Polynomial(2), 8, 3, 0)
    expected = take_apart(box.predict, features)
    for predict in (lambda X: np.where(box.predict(X) > 0, "yes", "no"),
                    lambda X: box.predict(X) > 0):
        result = take_apart(predict, features)
        np.testing.assert_array_equal(result.machine.weights, expected.machine.weights)


@pytest.mark.parametrize("features, word", [
    (np.ones((3, 4)), "(n, 8), got (3, 4)"),
    (np.ones(8), "got (8,)"),
    (np.full((3, 8), np.nan), "NaN"),
    (np.zeros((3, 8)), "all zero"),
    (np.empty((0, 8)), "all zero (or there are none)"),
])
def test_malformed_features(features, word):
    box, _ = random_model(Polynomial(2), 8, 3, 0)
    with np.errstate(all="ignore"), pytest.raises(ValueError) as error:
        deconstruct(Oracle(box.predict, 8), features, progress=False)
    assert word in str(error.value)


@pytest.mark.parametrize("sign", [1, -1])
def test_features_of_one_class_only(sign):
    box, features = random_model(Polynomial(2), 8, 3, 0)
    features = features[box.predict(features) == sign]
    with pytest.raises(ValueError, match=f"all 5 features got the label [+]?{sign}: give"):
        deconstruct(Oracle(box.predict, 8), features, progress=False)


@pytest.mark.parametrize("predict, word", [
    (lambda box: box.decision_function, "scores"),
    (lambda box: lambda X: np.digitize(box.decision_function(X), [-1, 1]), "two kinds"),
    (lambda box: lambda X: box.predict(X)[:-1], "one label per point"),
    (lambda box: lambda X: 1 / 0, "ZeroDivisionError"),
])
def test_boxes_that_misbehave(predict, word):
    box, features = random_model(Polynomial(2), 8, 3, 0)
    with pytest.raises(OracleError, match=word) as error:
        deconstruct(Oracle(predict(box), 8), features, progress=False)
    assert isinstance(error.value.result, Deconstruction)


@pytest.mark.parametrize("budget", [0, 30, 600, 6000, 12000, 14000])
def test_what_is_known_when_the_budget_runs_out(budget):
    box, features = random_model(Polynomial(2), 30, 12, 2)
    oracle = Oracle(box.predict, 30, budget=budget)
    with pytest.raises(BudgetExhausted, match=f"budget is {budget}") as error:
        deconstruct(oracle, features, random_state=2, progress=False)
    known = error.value.result
    assert oracle.queries <= budget and sum(known.queries_by_stage.values()) == oracle.queries
    assert known.kernel_type == "unknown" and "interrupted: the budget" in known.message
    if budget >= 600:  # some boundary points, and they are right
        slope = np.linalg.norm(box.gradient(known.points), axis=1)
        assert len(slope) >= 5
        assert (np.abs(box.decision_function(known.points)) < 1e-9 * slope).all()
    assert "interrupted" in known.summary()


def test_a_box_that_fails_half_way_keeps_what_is_known():
    box, features = random_model(Polynomial(2), 10, 4, 0)
    asked = 0

    def predict(X):
        nonlocal asked
        asked += len(X)
        if asked > 2000:
            raise ConnectionError("gone")
        return box.predict(X)

    with pytest.raises(OracleError, match="ConnectionError") as error:
        deconstruct(Oracle(predict, 10), features, progress=False)
    assert len(error.value.result.points) > 20


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(3.0)], ids=str)
def test_saved_and_loaded_without_pickle(kernel, tmp_path):
    box, features = random_model(kernel, 8, 3, 0)
    result = take_apart(box.predict, features)
    result.save(tmp_path / "result")
    same = Deconstruction.load(tmp_path / "result")
    assert (tmp_path / "result.npz").exists()
    assert same.summary() == result.summary()
    assert same.queries_by_stage == result.queries_by_stage and same.agreement == result.agreement
    for name in ("subspace", "singular_values", "points", "normals"):
        np.testing.assert_array_equal(getattr(same, name), getattr(result, name))
    if result.machine is not None:
        X = np.random.default_rng(0).standard_normal((50, 8))
        np.testing.assert_array_equal(same.machine.predict(X), result.machine.predict(X))


def test_a_long_reason_is_wrapped():
    lines = Deconstruction(message=60 * "word ").summary().splitlines()
    assert max(map(len, lines)) <= 80 and lines[-1].startswith(14 * " " + "word")


@pytest.mark.parametrize("name, own, word", [
    ("gaussian", True, "the model's own if it has fewer than 6, none far from the features"),
    ("cubic", True, "the model's own if it has at most 3"),
    ("tanh", True, "the model's own"),
    ("polynomial of degree 4", True, "if they are rows of the features"),
    ("quadratic", True, "the model's own if they are rows of the features"),
    ("gaussian", False, "3 support vectors, perhaps not the model's own"),
    ("tanh", False, "3 support vectors, perhaps not the model's own"),
    ("quadratic", False, "3 quasi-support vectors"), ("cubic", False, "3 quasi-support vectors")])
def test_a_summary_says_whose_the_vectors_are(name, own, word):
    machine = KernelMachine(Gaussian(1.0), np.eye(4)[:3], [1.0, -1.0, 0.5], 0.1)
    result = Deconstruction(name, machine=machine, own_vectors=own,
                           separation=1e-3 * own * (name == "gaussian"))
    assert " ".join(result.summary().split()).split(" queries ")[0].endswith(word)


ON_A_LINE = [[0, 0, 0.0], [1, 2, 3], [2, 4, 6]]


@pytest.mark.parametrize("name, vectors, separation, b", [
    ("gaussian", np.r_[np.eye(2), [[2.0, 2.0]]], 1e-3, 0.1), ("gaussian", np.eye(3), 0.0, 0.1),
    ("gaussian", ON_A_LINE, 1e-3, 0.1), ("gaussian", 25 + 1e-3 * np.eye(3), 1e-3, 0.1),
    ("gaussian", np.eye(3), 1e-3, 0.0), ("tanh", np.eye(3)[[0, 1, 1]], 0.0, 0.1),
    ("tanh", np.eye(3)[:2], 0.0, 0.1), ("cubic", np.r_[np.eye(2), [[2.0, 2.0]]], 0.0, 0.1)],
    ids=["more than d", "rows of the features", "on a line", "errors as large as the spread",
         "no threshold", "dependent units", "two units", "more cubes than dimensions"])
def test_a_summary_promises_nothing_without_a_theorem(name, vectors, separation, b):
    machine = KernelMachine(Gaussian(1.0), vectors, [1.0, -1.0, 0.5][:len(vectors)], b)
    result = Deconstruction(name, machine=machine, own_vectors=True, separation=separation)
    given = name == "gaussian" and not separation
    promise = "if they are rows of the features" if given else "as far as the fit shows"
    says = " ".join(result.summary().split())
    assert f"{len(vectors)} support vectors, the model's own {promise}" in says


@pytest.mark.parametrize("weak, units, promise", [
    (1e-5, 1.0, "as far as the fit shows"), (1e-2, 1.0, "if it has at most 3"),
    (1e-8, 1e8, "if it has at most 3"), (1e-2, 1e-8, "as far as the fit shows")])
def test_independence_is_judged_in_the_units_of_the_search(weak, units, promise):
    # the third vector leaves the span of the others in one feature
    machine = KernelMachine(Polynomial(3), [[1.0, 0, 0], [0, 1, 0], [1, 1, weak]], np.ones(3), 0.1)
    result = Deconstruction("cubic", machine=machine, own_vectors=True,
                            units=np.array([1.0, 1.0, units]))
    assert result.summary().count(f"the model's own {promise}") == 1


def test_summary_and_plot():
    box, features = random_model(Polynomial(2), 8, 3, 0)
    result = take_apart(box.predict, features)
    text = result.summary()
    for word in ("quadratic", "3 quasi-support vectors", "1.0000 close", "agreement"):
        assert word in text
    import matplotlib.pyplot as plt
    assert result.plot() is None
    left, right = plt.gcf().axes
    assert len(right.patches) == len(result.queries_by_stage) and left.get_yscale() == "log"
    plt.close("all")


@pytest.mark.parametrize("seed", range(20))
def test_a_plane_costs_the_same_wherever_its_first_bracket_grazes_it(seed):
    box = KernelMachine.random(Linear(), 30, 12, seed)
    features = np.random.default_rng(seed + 1000).standard_normal((20, 30))
    result = take_apart(box.predict, features, seed)
    assert result.kernel_type == "linear"
    assert sum(result.queries_by_stage.values()) < 2700
