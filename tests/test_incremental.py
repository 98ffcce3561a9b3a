"""Exact learning against scikit-learn's batch solution and the optimality conditions."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from decon import Gaussian, IncrementalSVM, KernelMachine, Linear, Polynomial, Tanh


def taught(X, y, kernel, C, base=None):
    svm = IncrementalSVM(kernel, C, base)
    for x, t in zip(X, y, strict=True):
        svm.learn(x, t)
    return svm


def noisy(rng, n, d):
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1, -1)


def batch_objective(X, y, kernel, C):
    Q = kernel(X, X) * np.outer(y, y)
    svc = SVC(kernel="precomputed", C=C, tol=1e-10, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libsvm may not get there on singular kernels
        svc.fit(kernel(X, X), y)
    a = np.zeros(len(y))
    a[svc.support_] = np.abs(svc.dual_coef_[0])
    return a.sum() - 0.5 * a @ Q @ a


@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), d=st.integers(1, 5),
       C=st.sampled_from([0.01, 0.1, 1.0, 10.0, 100.0]),
       kernel=st.sampled_from([Linear(), Polynomial(2), Polynomial(3), Gaussian(1.0)]),
       duplicates=st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_step_ends_at_the_optimum(seed, n, d, C, kernel, duplicates):
    X, y = noisy(np.random.default_rng(seed), n, d)
    if duplicates:
        X[n // 2 :] = X[: n - n // 2]
    svm = taught(X, y, kernel, C)
    assert svm.kkt_residual < 1e-6
    if len(set(y)) == 2:
        best = batch_objective(X, y, kernel, C)  # of all feasible points, ours must be the best
        assert svm.objective >= best - 1e-6 * max(1, abs(best))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, gamma=0.2), Gaussian(2.0)], ids=str)
def test_the_order_of_learning_does_not_matter(kernel):
    rng = np.random.default_rng(3)
    X, y = noisy(rng, 80, 4)
    first = taught(X, y, kernel, 1.0)
    shuffled = rng.permutation(80)
    second = taught(X[shuffled], y[shuffled], kernel, 1.0)
    T = rng.standard_normal((50, 4))
    np.testing.assert_allclose(first.decision_function(T), second.decision_function(T), atol=1e-6)


def test_decision_function_is_scikit_learns():
    X, y = noisy(np.random.default_rng(1), 120, 3)
    svm = taught(X, y, Gaussian(1.5), 1.0)
    svc = SVC(**Gaussian(1.5).to_sklearn(), C=1.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(svm.decision_function(X), svc.decision_function(X), atol=1e-5)
    assert svm.kkt_residual < 1e-10


def test_one_class_only_is_a_constant():
    svm = taught(np.random.default_rng(0).standard_normal((5, 2)), [1] * 5, Linear(), 1.0)
    assert (svm.a == 0).all() and svm.kkt_residual < 1e-12
    np.testing.assert_allclose(svm.decision_function([[9.0, 9.0]]), 1.0)


def test_a_base_that_is_right_everywhere_needs_no_correction():
    X, y = noisy(np.random.default_rng(0), 50, 3)
    box = KernelMachine.from_sklearn(SVC(kernel="linear", C=1.0).fit(X, y))
    f = box.decision_function(X)
    sure = np.abs(f) > 0.3
    base = KernelMachine(Linear(), box.support_vectors, 10 * box.weights, 10 * box.threshold)
    svm = taught(X[sure], np.sign(f[sure]), Linear(), 1.0, base)
    assert (svm.a == 0).all()
    np.testing.assert_allclose(svm.decision_function(X), 10 * f)


@pytest.mark.parametrize("seed", range(4))
def test_with_a_base_the_optimum_is_cvxpys(seed):
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    X, y = noisy(rng, 40, 3)
    kernel = Polynomial(2, gamma=0.3)
    base = KernelMachine.random(kernel, 3, 4, seed)
    svm = taught(X, y, kernel, 2.0, base)
    assert svm.kkt_residual < 1e-9
    f0 = base.decision_function(X)
    np.testing.assert_allclose(
        svm.decision_function(X),
        f0 + kernel(X, X) @ (svm.a * y) - svm.threshold)
    Q = kernel(X, X) * np.outer(y, y)
    a = cp.Variable(40)
    root = np.linalg.cholesky(Q + 1e-10 * np.eye(40)).T
    value = cp.sum(cp.multiply(a, 1 - y * f0)) - 0.5 * cp.sum_squares(root @ a)
    problem = cp.Problem(cp.Maximize(value), [a >= 0, a <= 2.0, y @ a == 0])
    problem.solve(solver=cp.CLARABEL)
    assert svm.objective == pytest.approx(problem.value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("make, word", [
    (lambda: IncrementalSVM(Linear(), C=0).learn([0.0], 1), "C must"),
    (lambda: IncrementalSVM(Linear(), C=np.nan).fit([[0.0]], [1]), "C must"),
    (lambda: IncrementalSVM(Linear(), base=KernelMachine.random(Polynomial(2), 2, 1)).learn(
        [0.0, 0.0], 1), "kernel"),
    (lambda: IncrementalSVM(Linear()).decision_function([[0.0]]), "learn"),
    (lambda: IncrementalSVM(Linear()).learn([0.0], 0.5), "labels must"),
    (lambda: IncrementalSVM(Linear()).fit([[0.0], [1.0]], [1, -1]).learn([0.0], 2), "labels must"),
    (lambda: IncrementalSVM(Linear()).learn([[0.0]], 1), "shape"),
    (lambda: IncrementalSVM(Linear()).learn([np.nan], 1), "finite"),
])
def test_bad_input_is_named(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_ties_end_at_the_optimum():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        svm = IncrementalSVM(Linear(), 1.0)
        for x, t in zip(rng.integers(0, 5, (40, 2)) * 1.0, rng.choice([-1, 1], 40), strict=True):
            svm.learn(x, t)
            assert svm.kkt_residual < 1e-7


def test_examples_are_copied():
    x = np.array([1.0, 2.0])
    svm = taught([x], [1], Linear(), 1.0)
    x[:] = 9
    np.testing.assert_array_equal(svm.X, [[1.0, 2.0]])


def test_a_refused_example_changes_nothing():
    svm = taught([[0.0], [1.0]], [-1, 1], Linear(), 1.0)
    before = svm.a.copy(), svm.threshold
    with pytest.raises(ValueError, match=r"\(n, 1\)"):
        svm.learn([0.0, 1.0], 1)
    np.testing.assert_array_equal(svm.a, before[0])
    assert svm.threshold == before[1] and len(svm.y) == 2


# -- unlearning, another C, many at once -------------------------------------------------------


def same_machine(svm, other, T, atol=1e-7):
    assert svm.kkt_residual < 1e-9 and len(svm.y) == len(other.y)
    assert svm.objective == pytest.approx(other.objective, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(svm.decision_function(T) + svm.threshold,
                               other.decision_function(T) + other.threshold, atol=atol)
    free = (svm.a > 1e-9 * svm.C) & (svm.a < (1 - 1e-9) * svm.C)
    if free.any():  # otherwise the threshold is an interval
        assert svm.threshold == pytest.approx(other.threshold, abs=atol)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, gamma=0.2), Gaussian(2.0)], ids=str)
def test_unlearned_is_never_learned(kernel):
    rng = np.random.default_rng(5)
    X, y = noisy(rng, 120, 4)
    svm = IncrementalSVM(kernel, 1.0).fit(X, y)
    gone = rng.permutation(120)[:40]
    for i in -np.sort(-gone):
        svm.unlearn(int(i))
    rest = np.delete(np.arange(120), gone)
    np.testing.assert_array_equal(svm.X, X[rest])
    same_machine(svm, taught(X[rest], y[rest], kernel, 1.0), rng.standard_normal((50, 4)))


@pytest.mark.parametrize("C", [0.05, 0.5, 3.0, 50.0])
def test_another_C_is_as_if_it_had_been_so_from_the_start(C):
    rng = np.random.default_rng(6)
    X, y = noisy(rng, 100, 3)
    svm = taught(X, y, Gaussian(1.5), 1.0)
    svm.change_C(C)
    same_machine(svm, taught(X, y, Gaussian(1.5), C), rng.standard_normal((50, 3)))
    assert svm.C == C


def test_learn_and_unlearn_leaves_no_trace():
    rng = np.random.default_rng(7)
    X, y = noisy(rng, 60, 3)
    svm = taught(X[:-1], y[:-1], Gaussian(1.5), 1.0)
    a, threshold = svm.a.copy(), svm.threshold
    svm.learn(X[-1], -y[-1])
    svm.unlearn(-1)
    np.testing.assert_allclose(svm.a, a, atol=1e-12)
    assert svm.threshold == pytest.approx(threshold, abs=1e-12)


@pytest.mark.parametrize("with_base", [False, True])
def test_leave_one_out_is_what_a_refit_without_it_says(with_base):
    X, y = noisy(np.random.default_rng(8), 50, 3)
    kernel = Polynomial(2, gamma=0.3)
    base = KernelMachine.random(kernel, 3, 4, 1) if with_base else None
    svm = IncrementalSVM(kernel, 1.0, base).fit(X, y)
    before = svm.a.copy(), svm.objective
    f = svm.leave_one_out()
    np.testing.assert_array_equal(svm.a, before[0])
    assert svm.objective == before[1] and svm.kkt_residual < 1e-9
    for i in range(50):
        others = np.arange(50) != i
        refit = IncrementalSVM(kernel, 1.0, base).fit(X[others], y[others])
        assert f[i] == pytest.approx(refit.decision_function(X[[i]])[0], abs=1e-7)


def test_many_at_once_is_one_by_one():
    rng = np.random.default_rng(9)
    X, y = noisy(rng, 150, 4)
    T = rng.standard_normal((50, 4))
    one_by_one = taught(X, y, Gaussian(2.0), 1.0)
    same_machine(IncrementalSVM(Gaussian(2.0), 1.0).fit(X, y), one_by_one, T)
    both = IncrementalSVM(Gaussian(2.0), 1.0).fit(X[:70], y[:70]).partial_fit(X[70:], y[70:])
    same_machine(both, one_by_one, T)
    grown = IncrementalSVM(Gaussian(2.0), 1.0).partial_fit(X[:70], y[:70])
    for x, t in zip(X[70:], y[70:], strict=True):
        grown.learn(x, t)
    same_machine(grown, one_by_one, T)


@pytest.mark.parametrize("with_base", [False, True])
def test_fit_drops_what_was_learned_before(with_base):
    rng = np.random.default_rng(10)
    (X, y), (X2, y2) = noisy(rng, 40, 3), noisy(rng, 30, 4)
    X2 = X2[:, :3] if with_base else X2  # another number of features is another data set
    base = KernelMachine.random(Gaussian(1.5), 3, 4, 1) if with_base else None
    svm = IncrementalSVM(Gaussian(1.5), 2.0, base).fit(X, y)
    svm.change_C(3.0)
    assert svm.fit(X2, y2) is svm
    fresh = IncrementalSVM(Gaussian(1.5), 3.0, base).fit(X2, y2)
    np.testing.assert_array_equal(svm.X, X2)
    np.testing.assert_array_equal(svm.a, fresh.a)
    assert svm.threshold == fresh.threshold and svm.restarts == fresh.restarts == 1
    svm.fit(X2, y2)
    np.testing.assert_array_equal(svm.a, fresh.a)


def test_a_batch_that_cannot_be_added_changes_nothing():
    svm = IncrementalSVM(Linear(), 10.0).fit([[0.0], [2.0]], [-1, 1])
    a, threshold, state = svm.a.copy(), svm.threshold, svm.state()
    for act in (svm.fit, svm.partial_fit):
        for X, y in (([[5.0], [1.0]], [1, 0.5]), ([[1.0], [np.nan]], [1, 1]), ([[1.0]], [1, 1])):
            with pytest.raises(ValueError):
                act(X, y)
        np.testing.assert_array_equal(svm.X, [[0.0], [2.0]])
        np.testing.assert_array_equal(svm.a, a)
        assert svm.threshold == threshold and svm.kkt_residual < 1e-12
    svm.return_to(state)
    svm.partial_fit([[3.0], [-1.0]], [-1, 1])
    assert len(svm.y) == 4 and svm.kkt_residual < 1e-12
    with pytest.raises(ValueError, match="other examples"):
        svm.return_to(state)


def test_a_machine_is_shown_in_one_line():
    svm = IncrementalSVM(Linear(), 10.0).fit([[0.0], [2.0], [9.0]], [-1, 1, 1])
    assert repr(svm) == "IncrementalSVM(Linear(), C=10.0): 3 examples, 2 support vectors"


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 25), d=st.integers(1, 4),
       C=st.sampled_from([0.01, 0.1, 1.0, 10.0, 1000.0]),
       kind=st.sampled_from(["integers", "duplicates", "near duplicates", "large", "one class"]),
       kernel=st.sampled_from([Linear(), Polynomial(2), Polynomial(3), Gaussian(1.0),
                               Tanh(0.1, -0.1)]))
def test_no_path_through_nasty_examples_fails(seed, n, d, C, kind, kernel):
    rng = np.random.default_rng(seed)
    X, y = noisy(rng, n, d)
    if kind == "integers":
        X = X.round()
    elif kind == "large":
        X *= 10
    elif kind == "one class":
        y[:] = 1
    elif kind != "one class":
        X[n // 2 :] = X[: n - n // 2]
        X[n // 2 :] += 1e-7 * (kind == "near duplicates") * rng.standard_normal((n - n // 2, d))
    svm = taught(X, y, kernel, C)
    residuals = [svm.kkt_residual]
    svm.change_C(C * rng.choice([0.1, 0.5, 3.0, 10.0]))
    residuals.append(svm.kkt_residual)
    while len(svm.y):
        svm.unlearn(int(rng.integers(len(svm.y))))
        residuals.append(svm.kkt_residual)
    assert max(residuals) < 1e-6


@pytest.mark.parametrize("act, error, word", [
    (lambda svm: svm.unlearn(3), IndexError, "no example 3"),
    (lambda svm: svm.change_C(-1.0), ValueError, "C must"),
    (lambda svm: svm.fit([[0.0], [1.0]], [1]), ValueError, "inconsistent numbers of samples"),
    (lambda svm: svm.fit([[0.0], [np.inf]], [1, -1]), ValueError, "infinity"),
])
def test_what_cannot_be_done_changes_nothing(act, error, word):
    svm = taught([[0.0], [2.0], [3.0]], [-1, 1, 1], Linear(), 10.0)
    with pytest.raises(error, match=word):
        act(svm)
    assert len(svm.y) == 3 and svm.kkt_residual < 1e-12
    np.testing.assert_allclose(svm.decision_function([[0.0], [2.0]]), [-1, 1])


def test_examples_of_very_different_sizes_one_by_one():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20, 2)), rng.choice([-1, 1], 20)
    X[0] *= 1000
    one_by_one, at_once = (taught(X, y, Polynomial(2), 10.0),
                           IncrementalSVM(Polynomial(2), 10.0).fit(X, y))
    assert one_by_one.objective == pytest.approx(104.5038, abs=1e-4)  # as cvxpy says
    assert at_once.objective == pytest.approx(one_by_one.objective, rel=1e-9)


@pytest.mark.parametrize("keep_place", [False, True])
def test_what_has_unlearned_everything_is_the_base_again(keep_place):
    base = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.5)
    T = np.random.default_rng(0).standard_normal((5, 2))
    for start, f in ((base, base.decision_function(T)), (None, 0)):
        svm = IncrementalSVM(Linear(), 1.0, start)
        svm.learn([-3.0, 0.0], 1)
        svm.deactivate(0) if keep_place else svm.unlearn(0)
        np.testing.assert_allclose(svm.decision_function(T), f, atol=1e-12)


def test_the_threshold_without_a_margin_does_not_depend_on_history():
    X, y = np.array([[-1.0], [1.0], [-1.2], [1.2], [0.4]]), [1, -1, 1, -1, 1]
    svm = taught(X, y, Linear(), 0.1)
    svm.unlearn(4)
    fresh = IncrementalSVM(Linear(), 0.1).fit(X[:4], y[:4])
    backwards = taught(X[3::-1], y[3::-1], Linear(), 0.1)
    assert svm.threshold == pytest.approx(fresh.threshold)
    assert backwards.threshold == pytest.approx(fresh.threshold)


def test_a_state_of_other_examples_or_another_C_is_refused():
    svm = IncrementalSVM(Gaussian(1.0), 10.0).fit([[0.0], [1.0], [2.0]], [1, -1, 1])
    state, before = svm.state(), svm.objective
    svm.deactivate(1)
    assert svm.objective < before - 0.1
    svm.return_to(state)  # what was deactivated comes back
    assert svm.kkt_residual < 1e-12 and svm.objective == pytest.approx(before)
    for change in (lambda: svm.learn([5.0], -1), lambda: svm.unlearn(3), lambda: svm.change_C(0.1)):
        change()
        a = svm.a.copy()
        with pytest.raises(ValueError, match="other examples, or of another C"):
            svm.return_to(state)
        np.testing.assert_array_equal(svm.a, a)
        svm.learn([3.0], 1)
        svm.unlearn(-1)


def test_examples_are_counted_from_the_end_as_well():
    X, y = [[0.0], [1.0], [3.0]], [-1, 1, 1]
    inactive, unlearned = taught(X, y, Linear(), 10.0), taught(X, y, Linear(), 10.0)
    inactive.deactivate(-2)
    unlearned.unlearn(-2)
    np.testing.assert_allclose(inactive.decision_function(X), unlearned.decision_function(X))
    for wrong, error in ((3, IndexError), (-4, IndexError), (0.5, TypeError), ([1], TypeError)):
        for act in (inactive.deactivate, inactive.unlearn):
            before = inactive.a.copy(), inactive.part.copy()
            with pytest.raises(error):
                act(wrong)
            np.testing.assert_array_equal(inactive.a, before[0])
            np.testing.assert_array_equal(inactive.part, before[1])


def test_a_kernel_that_overflows_is_refused():
    svm = taught([[0.0], [1.0]], [-1, 1], Linear(), 1.0)
    with pytest.raises(ValueError, match="overflows.*scale"):
        svm.learn([1e160], 1)
    assert len(svm.y) == 2 and svm.kkt_residual < 1e-12


def test_multipliers_keep_within_a_small_C():
    rng = np.random.default_rng(0)
    X, y = noisy(rng, 30, 2)
    svm = taught(X.round(), y, Linear(), 1.0)
    for C in (1e-6, 1e-11, 1e-3):
        svm.change_C(C)
        assert svm.a.min() >= 0 and svm.a.max() <= C
        assert abs(svm.a @ svm.y) <= 1e-9 * svm.a.sum()


def test_fit_keeps_no_view_of_a_single_example():
    X = np.array([[1.0, 2.0]])
    svm = IncrementalSVM(Linear()).fit(X, [1])
    X[0, 0] = 99
    assert svm.X[0, 0] == 1


@pytest.mark.parametrize("C", ["one", None, np.nan, np.inf, 0, [1.0, 2.0]])
def test_a_C_that_is_no_positive_number_is_named(C):
    with pytest.raises(ValueError, match="C must be"):
        IncrementalSVM(Linear(), C).fit([[0.0], [1.0]], [-1, 1])
