"""Support vector machines against scikit-learn, against each other, and against geometry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, Linear, Polynomial, Tanh
from decon.learning.kkt import kkt_residuals, threshold_interval
from decon.learning.svm import NotSeparable, gram_features, polish, train_svm

KERNELS = [Linear(), Polynomial(2, gamma=0.3), Polynomial(3, gamma=0.2), Gaussian(1.5)]


def two_clouds(seed, n=50, d=3, distance=1.0):
    rng = np.random.default_rng(seed)
    t = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    X = rng.standard_normal((n, d)) + distance * t[:, None]
    return np.round(16 * X) / 16, t  # scikit-learn's solver keeps kernel values in single precision


def dual_objective(K, t, a):
    return a.sum() - (a * t) @ K @ (a * t) / 2


def scaled(residuals, svm, C):
    """Residuals in units of what they are made of: multipliers and their sum."""
    return max(residuals.values()) / max(1, svm.multipliers.max())


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("C", [0.01, 0.3, 1, 30, 1000])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_scikit_learn_agrees(kernel, C, form):
    X, t = two_clouds(0)
    svm = train_svm(X, t, kernel, C, form)
    svc = SVC(C=C, tol=1e-10, **kernel.to_sklearn()).fit(X, t)
    K = kernel(X, X)
    a = np.zeros(len(t))
    a[svc.support_] = np.abs(svc.dual_coef_[0])
    assert svm.dual == pytest.approx(dual_objective(K, t, a), rel=1e-8)
    assert svm.primal == pytest.approx(svm.dual, rel=1e-9)
    fresh = two_clouds(1)[0]
    scale = np.abs(svc.decision_function(fresh)).max()
    lower, upper = svm.threshold_interval
    difference = svm.machine.decision_function(fresh) - svc.decision_function(fresh)
    assert np.ptp(difference) < 1e-5 * scale  # the same w ...
    assert lower - 1e-5 * scale < -svc.intercept_[0] < upper + 1e-5 * scale  # ... and a b that fits
    assert scaled(kkt_residuals(K, t, svm.multipliers, svm.machine.threshold, C), svm, C) < 1e-9


@pytest.mark.parametrize("C", [0.05, 1, 100])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, gamma=1 / 30), Gaussian(5.0)], ids=str)
def test_breast_cancer(kernel, C):
    data = load_breast_cancer()
    X = StandardScaler().fit_transform(data.data)[:250]
    t = np.where(data.target[:250] == 1, 1, -1)
    svm = train_svm(X, t, kernel, C)
    svc = SVC(C=C, tol=1e-8, **kernel.to_sklearn()).fit(X, t)
    a = np.zeros(len(t))
    a[svc.support_] = np.abs(svc.dual_coef_[0])
    K = kernel(X, X)
    assert svm.dual == pytest.approx(dual_objective(K, t, a), rel=1e-8)
    np.testing.assert_allclose(svm.machine.decision_function(X), svc.decision_function(X),
                               atol=1e-5 * np.abs(svc.decision_function(X)).max())
    assert scaled(kkt_residuals(K, t, svm.multipliers, svm.machine.threshold, C), svm, C) < 1e-8


@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), d=st.integers(1, 4),
       distance=st.floats(0, 3), logC=st.floats(-2, 3), kernel=st.sampled_from(KERNELS))
@settings(deadline=None, max_examples=60)
def test_primal_is_dual_and_the_conditions_hold(seed, n, d, distance, logC, kernel):
    X, t = two_clouds(seed, n, d, distance)
    C = 10**logC
    dual, primal = (train_svm(X, t, kernel, C, form) for form in ("dual", "primal"))
    assert dual.dual == pytest.approx(dual.primal, rel=1e-7)
    assert primal.dual == pytest.approx(dual.dual, rel=1e-7)
    residuals = kkt_residuals(kernel(X, X), t, dual.multipliers, dual.machine.threshold, C)
    assert scaled(residuals, dual, C) < 1e-6
    np.testing.assert_allclose(dual.slacks, primal.slacks, atol=1e-4)


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("seed", range(5))
def test_the_margin_is_the_distance_to_the_nearest_point(seed, form):
    X, t = two_clouds(seed, distance=4.0)
    svm = train_svm(X, t, form=form)
    w = svm.machine.weights @ svm.machine.support_vectors
    distances = t * (X @ w - svm.machine.threshold) / np.linalg.norm(w)
    assert distances.min() == pytest.approx(svm.margin, rel=1e-8)
    np.testing.assert_allclose(distances[svm.support], svm.margin, rtol=1e-7)
    assert (svm.slacks < 1e-7).all() and svm.primal == pytest.approx(0.5 / svm.margin**2)
    rng = np.random.default_rng(seed)  # and no other plane does better
    for _ in range(300):
        v = w / np.linalg.norm(w) + 0.05 * rng.standard_normal(3)
        heights = X @ (v / np.linalg.norm(v))
        assert (heights[t > 0].min() - heights[t < 0].max()) / 2 <= svm.margin + 1e-9


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_a_hard_margin_that_does_not_exist_is_told(form):
    X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    t = [1, 1, -1, -1]
    with pytest.raises(NotSeparable, match=r"feature space of Linear\(\).*finite C.*richer kernel"):
        train_svm(X, t, form=form)
    svm = train_svm(X, t, Polynomial(2), form=form)
    assert (svm.machine.predict(X) == t).all() and svm.slacks.max() < 1e-8
    assert train_svm(X, t, C=1.0, form=form).slacks.max() > 0.5
    with pytest.raises(NotSeparable):  # the same point with both labels
        train_svm([[0.0], [0.0], [1.0]], [1, -1, 1], Gaussian(1.0), form=form)


def test_all_multipliers_at_the_bound_leave_an_interval():
    X, t = [[-1.0], [1.0]], [-1, 1]
    svm = train_svm(X, t, C=0.1)
    np.testing.assert_allclose(svm.multipliers, 0.1)
    assert svm.threshold_interval == pytest.approx((-0.8, 0.8))
    assert svm.machine.threshold == pytest.approx(0)
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for b in (-0.8, 0.3, 0.8):
        assert max(kkt_residuals(K, t, svm.multipliers, b, 0.1).values()) < 1e-12
    assert kkt_residuals(K, t, svm.multipliers, 0.9, 0.1)["mu xi = 0"] == 0
    assert kkt_residuals(K, t, svm.multipliers, 0.9, 0.1)["a (t f - 1 + xi) = 0"] > 0.005


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_an_optimum_that_just_touches_the_bound(form):
    svm = train_svm([[-1.0], [1.0]], [-1, 1], C=0.5, form=form)  # the hard margin has a = 1/2 too
    np.testing.assert_allclose(svm.multipliers, 0.5, atol=1e-12)
    lower, upper = svm.threshold_interval
    assert lower - 1e-12 < 0 < upper + 1e-12


def test_two_points_by_hand():
    svm = train_svm([[0.0, 0.0], [3.0, 4.0]], [-1, 1])
    np.testing.assert_allclose(svm.multipliers, 2 / 25)
    assert svm.margin == pytest.approx(2.5) and svm.machine.threshold == pytest.approx(1)
    assert svm.dual == pytest.approx(0.08)
    np.testing.assert_array_equal(svm.support, [0, 1])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_polishing_leaves_exact_multipliers(kernel):
    X, t = two_clouds(3)
    K = kernel(X, X)
    svm = train_svm(X, t, kernel, 1.0)
    noise = 1e-8 * np.random.default_rng(0).standard_normal(len(t))
    again = polish(K, t, (svm.multipliers + noise).clip(0, 1), 1.0)
    np.testing.assert_allclose(again, svm.multipliers, atol=1e-6)
    lower, upper = threshold_interval(K, t, again, 1.0)
    assert lower - upper < 1e-9 * np.abs(K).max()
    useless = np.full(len(t), 0.5)
    assert np.isfinite(polish(K, t, useless, 1.0)).all()


@pytest.mark.parametrize("unit", [1e-4, 1e4])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_units_do_not_matter(unit, C):
    X, t = two_clouds(0, distance=4.0)
    svm, other = train_svm(X, t, C=C), train_svm(unit * X, t, C=C / unit**2)
    np.testing.assert_allclose(other.multipliers * unit**2, svm.multipliers, atol=1e-6)
    np.testing.assert_array_equal(other.machine.predict(unit * X), svm.machine.predict(X))


@pytest.mark.parametrize("arguments, word", [
    (([[1.0, 2.0]], [1, -1]), "got (1, 2) and (2,)"),
    (([1.0, 2.0], [1, -1]), "got (2,)"),
    (([[1.0], [np.nan]], [1, -1]), "NaN"),
    (([[1.0], [2.0]], [1, 1]), "both labels, +1 and -1, must occur, got only +1"),
    (([[1.0], [2.0]], [0, 1]), "np.where"),
    (([[1.0], [2.0], [3.0]], [1, -1, 2]), "+1 and -1"),
    (([[1.0], [2.0]], [1, -1], Linear(), 0), "C must be a finite number > 0"),
    (([[1.0], [2.0]], [1, -1], Linear(), -np.inf), "C must be"),
    (([[1.0], [2.0]], [1, -1], Linear(), np.nan), "C must be"),
    (([[1.0], [2.0]], [1, -1], Linear(), 1, "both"), "'dual' or 'primal'"),
    (([[1.0], [2.0]], [1, -1], Tanh(1.0, -1.0)), "negative eigenvalue"),
])
def test_bad_input_is_told(arguments, word):
    with pytest.raises(ValueError) as error:
        train_svm(*arguments)
    assert word in str(error.value)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_features_read_off_the_gram_matrix(kernel):
    X = np.concatenate([two_clouds(0)[0]] * 2)  # every point twice: half the rank
    K = kernel(X, X)
    F = gram_features(K)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-6 * np.abs(K).max())
    assert F.shape[1] <= 50
    with pytest.raises(ValueError, match="negative eigenvalue -1 beside 3"):
        gram_features(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_how_small_an_eigenvalue_may_be():
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    for least, kept in ((1e-12, 4), (1e-16, 3), (-1e-10, 3)):
        K = turn * [1.0, 2.0, 3.0, 3 * least] @ turn.T
        F = gram_features((K + K.T) / 2)
        assert F.shape == (4, kept)
        np.testing.assert_allclose(F @ F.T, K, atol=1e-9)
    K = turn * [1.0, 2.0, 3.0, -3e-7] @ turn.T
    with pytest.raises(ValueError, match="negative eigenvalue"):
        gram_features((K + K.T) / 2)


def test_classes_that_cannot_be_told_apart():
    svm = train_svm([[1.0], [1.0]], [1, -1], C=3.0)
    assert svm.margin == np.inf and svm.dual == pytest.approx(6.0)
    assert svm.primal == pytest.approx(6.0)  # slacks of 1 for both, or of 0 and 2
    nothing = train_svm([[0.0], [0.0], [0.0]], [1, -1, 1], C=2.0)  # kernel values are all zero
    assert nothing.margin == np.inf and nothing.primal == pytest.approx(nothing.dual)
    assert nothing.dual == pytest.approx(4.0) and nothing.multipliers[1] == pytest.approx(2.0)


def test_a_machine_with_its_slacks_by_hand():
    X, t = [[0.0], [2.0], [1.5]], [-1, 1, -1]  # 1.5 is on the wrong side
    svm = train_svm(X, t, C=1.0)
    f = svm.machine.decision_function(X)
    np.testing.assert_allclose(svm.slacks, np.maximum(0, 1 - t * f), atol=1e-12)
    w = svm.machine.weights @ svm.machine.support_vectors
    assert svm.margin == pytest.approx(1 / abs(w[0]))
    assert svm.primal == pytest.approx(w[0] ** 2 / 2 + svm.slacks.sum())
    assert svm.dual == pytest.approx(svm.multipliers.sum() - w[0] ** 2 / 2)
    assert svm.machine.threshold == pytest.approx(np.mean(svm.threshold_interval))
    assert len(svm.machine.weights) == len(svm.support) == (svm.multipliers > 0).sum()
    assert len(repr(svm)) < 300


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_polishing_puts_on_the_bounds_what_is_near_them(C):
    x, t = np.array([-3.0, -1.0, 1.0, 3.0, 0.5, -0.5]), np.array([-1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    n = 6 if C == 1.0 else 4
    x, t = x[:n], t[:n]
    K = np.outer(x, x)
    exact = train_svm(x[:, None], t, C=C).multipliers
    noise = 1e-8 * np.random.default_rng(0).standard_normal(n)
    found = polish(K, t, exact + noise, C)
    np.testing.assert_allclose(found, exact, atol=1e-12)
    np.testing.assert_array_equal(found == 0, exact == 0)
    np.testing.assert_array_equal(found == C, exact == C)
    lower, upper = threshold_interval(K, t, found, C)
    assert lower - upper < 1e-12 and abs(found @ t) < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_polishing_never_makes_it_worse(seed):
    X, t = two_clouds(seed, 12)
    K, rng = Gaussian(1.5)(X, X), np.random.default_rng(seed)
    rough = rng.uniform(-0.2, 1.2, 12)

    def wrong(a):
        lower, upper = threshold_interval(K, t, a, 1.0)
        return max(lower - upper, 0) + abs(a @ t)

    found = polish(K, t, rough, 1.0)
    assert found.min() >= 0 and found.max() <= 1
    assert wrong(found) <= wrong(rough.clip(0, 1)) + 1e-12


def test_what_cannot_be_solved_is_told(monkeypatch):
    import cvxpy as cp

    from decon.learning import svm

    def gives_up(problem, **options):
        raise cp.SolverError("out of breath")

    X, t = two_clouds(0)
    monkeypatch.setattr(cp.Problem, "solve", gives_up)
    with pytest.raises(ArithmeticError, match="gave up: out of breath"):
        train_svm(X, t, C=1.0)
    monkeypatch.undo()
    x = cp.Variable()
    with pytest.raises(ArithmeticError, match="'infeasible'.*smaller C"):
        svm._solve(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))
    monkeypatch.setattr(cp.Problem, "status", "optimal_inaccurate")
    svm._solve(cp.Problem(cp.Minimize(x), [x >= 1]))  # good enough to be polished


def test_tolerances_are_handed_to_the_solver(monkeypatch):
    import cvxpy as cp

    asked, solve = {}, cp.Problem.solve
    monkeypatch.setattr(cp.Problem, "solve",
                        lambda problem, **how: (asked.update(how), solve(problem, **how)))
    train_svm(*two_clouds(0), C=1.0)
    assert asked.pop("solver") == cp.CLARABEL
    assert asked == {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
