"""Examples of different weights: an upper bound for each multiplier, on every path."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from decon import Gaussian, IncrementalSVM, KernelMachine, Linear, Polynomial
from decon.learning import path
from decon.learning.kkt import kkt_residuals
from decon.learning.labels import checked_weights, class_weights
from decon.learning.optimum import ERROR, INACTIVE, MARGIN, REST
from decon.learning.two_classes import TwoClassSVM

from .test_path import best, holds, walked

KERNELS = [Gaussian(1.0), Polynomial(2, gamma=0.3), Linear()]


def drawn(seed, n=40, d=3, zeros=True):
    """Examples, labels, and weights of very different sizes, some of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = 1, -1
    weight = 10 ** rng.uniform(-1.5, 1, n)
    weight[2:][rng.random(n - 2) < 0.1 * zeros] = 0
    return X, y, weight, rng


def residual(svm, C, weight):
    """The largest residual, from the kernel matrix and the definitions alone."""
    used = weight > 0
    assert (svm.a[~used] == 0).all() and (svm.part[~used] == INACTIVE).all()
    K = svm.kernel(svm.X[used], svm.X[used])
    return max(kkt_residuals(K, svm.y[used], svm.a[used], svm.threshold, C * weight[used]).values())


def taught(X, y, weight, kernel, C):
    svm = IncrementalSVM(kernel, C)
    for x, label, w in zip(X, y, weight, strict=True):
        svm.learn(x, label, w)
    return svm


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.1, 1.0, 30.0]),
       kernel=st.sampled_from(KERNELS))
def test_every_path_ends_at_the_optimum_within_the_bounds(seed, C, kernel):
    X, y, weight, rng = drawn(seed)
    svm = taught(X, y, weight, kernel, C)
    at_once = IncrementalSVM(kernel, C).fit(X, y, weight)
    assert svm.objective == pytest.approx(at_once.objective, rel=1e-8, abs=1e-9)
    assert residual(svm, C, weight) < 1e-7 * max(1, C)
    svm.change_C(3 * C)
    assert residual(svm, 3 * C, weight) < 1e-7 * max(1, C)
    svm.change_C(C / 5)
    assert residual(svm, C / 5, weight) < 1e-7 * max(1, C)
    for i in -np.sort(-rng.permutation(len(y))[:10]):
        svm.unlearn(int(i))
        weight = np.delete(weight, i)
        assert residual(svm, C / 5, weight) < 1e-7 * max(1, C)
    fresh = IncrementalSVM(kernel, C / 5).fit(svm.X, svm.y, weight)
    assert svm.objective == pytest.approx(fresh.objective, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_the_conditions_hold_at_every_event(seed):
    X, y, weight, rng = drawn(seed, n=25, zeros=False)
    svm = TwoClassSVM(Gaussian(1.0), 1.0).fit(X[:20], y[:20], weight[:20])
    for i in range(20, 25):
        svm.add(X[i:i + 1], y[i:i + 1], weight[i:i + 1])
        walked(svm, path.grow(svm, i), but=[i])
    events = 0
    for C in (4.0, 0.3):
        for _ in path.move_C(svm, C):
            holds(svm)
            events += 1
        holds(svm)
        np.testing.assert_allclose(svm.a, best(svm, np.arange(25)), atol=1e-6)
    rows = set(range(25))
    for c in rng.permutation(25)[:5].tolist():
        rows -= {c}
        walked(svm, path.shrink(svm, c), but=[c])
        np.testing.assert_allclose(svm.a, best(svm, np.array(sorted(rows))), atol=1e-6)
    assert events > 5 and svm.restarts == 1


@pytest.mark.parametrize("own, other, expected, parts, entered", [
    (0.05, 1.0, [0.5, 0.1, 0.5], [MARGIN, MARGIN, ERROR], False),   # its own bound, 0.5, is met
    (1.0, 0.054, [0.5, 0.54, 9.86], [MARGIN, ERROR, REST], True)])  # or that of its twin
def test_twins_of_different_weights(own, other, expected, parts, entered):
    svm = TwoClassSVM(Linear(), 10.0).fit([[0.0], [2.0]], [-1, 1], np.array([1.0, other]))
    svm.add(np.array([[2.0]]), np.array([1]), np.array([own]))
    svm.a = np.array([0.5, 0.5, 9.9 if entered else 0.1])  # beyond half of its bound it shrinks
    assert path.exchange(svm, 2) == entered
    np.testing.assert_allclose(svm.a, expected, atol=1e-12)
    assert svm.part.tolist() == parts


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_scikit_learn_says_the_same(kernel, seed):
    X, y, weight, _ = drawn(seed)
    svm = IncrementalSVM(kernel, 2.0).fit(X, y, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svc = SVC(**kernel.to_sklearn(), C=2.0, tol=1e-10).fit(X, y, sample_weight=weight)
    f = svc.decision_function(X)  # libsvm has kernel values of single precision
    np.testing.assert_allclose(svm.decision_function(X), f, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_cvxpy_says_the_same(seed):
    import cvxpy as cp

    X, y, weight, _ = drawn(seed)
    kernel = Gaussian(1.0)
    base = KernelMachine.random(kernel, 3, 4, seed) if seed % 2 else None
    f0 = base.decision_function(X) if base else np.zeros(len(y))
    svm = IncrementalSVM(kernel, 2.0, base).fit(X, y, weight)
    a, Q = cp.Variable(len(y)), kernel(X, X) * np.outer(y, y)
    root = np.linalg.cholesky(Q + 1e-10 * np.eye(len(y))).T
    value = cp.sum(cp.multiply(a, 1 - y * f0)) - 0.5 * cp.sum_squares(root @ a)
    problem = cp.Problem(cp.Maximize(value), [a >= 0, a <= 2.0 * weight, y @ a == 0])
    problem.solve(solver=cp.CLARABEL)
    assert svm.objective == pytest.approx(problem.value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_learn_and_unlearn_leaves_no_trace(seed):
    X, y, weight, rng = drawn(seed)
    svm = taught(X, y, weight, Gaussian(1.5), 1.0)
    a, threshold = svm.a.copy(), svm.threshold
    svm.learn(rng.standard_normal(3), 1, 5.0)
    svm.learn(rng.standard_normal(3), -1, 0.01)
    svm.unlearn(-1)
    svm.unlearn(-1)
    np.testing.assert_allclose(svm.a, a, atol=1e-10)
    assert svm.threshold == pytest.approx(threshold, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_with_weights(seed):
    X, y, weight, _ = drawn(seed, n=30)
    svm = IncrementalSVM(Gaussian(1.0), 1.0).fit(X, y, weight)
    f = svm.leave_one_out()
    for i in range(30):
        rest = np.arange(30) != i
        refit = IncrementalSVM(Gaussian(1.0), 1.0).fit(X[rest], y[rest], weight[rest])
        assert f[i] == pytest.approx(refit.decision_function(X[[i]])[0], abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_whole_weights_are_repetitions_and_zero_is_absence(seed):
    X, y, _, rng = drawn(seed)
    times = rng.integers(0, 4, len(y))
    times[:2] = 1
    for kernel in (None, Gaussian(1.0)):
        weighted = IncrementalSVM(kernel).fit(X, y, times)
        repeated = IncrementalSVM(kernel).fit(np.repeat(X, times, 0), np.repeat(y, times))
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X),
                                   atol=1e-7)


@pytest.mark.parametrize("weights", [{0: 3.0, 1: 0.2}, {0: 5.0, 1: 1.0, 2: 0.5}, "balanced"])
def test_classes_of_different_weights(weights):
    X, _, sample, rng = drawn(0, n=90)
    k = 3 if weights == "balanced" or 2 in weights else 2
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(90), [0.8, 1.5][:k - 1])
    svm = IncrementalSVM(Gaussian(1.0), class_weight=weights, decision_function_shape="ovo")
    svc = SVC(**Gaussian(1.0).to_sklearn(), class_weight=weights, tol=1e-10,
              decision_function_shape="ovo")
    for w in (None, sample + 0.1):
        f = svc.fit(X, y, sample_weight=w).decision_function(X)
        np.testing.assert_allclose(svm.fit(X, y, w).decision_function(X), f, atol=1e-5)
        if weights != "balanced":
            svm.fit(X[:50], y[:50], None if w is None else w[:50])
            for i in range(50, 90):
                svm.learn(X[i], y[i], 1.0 if w is None else w[i])
            np.testing.assert_allclose(svm.decision_function(X), f, atol=1e-5)


def test_balanced_weights_are_worked_out_by_fit():
    svm = IncrementalSVM(Linear(), class_weight="balanced")
    for act in (lambda: svm.learn([0.0], 1), lambda: svm.partial_fit([[0.0]], [1])):
        with pytest.raises(ValueError, match="balanced.*call fit first"):
            act()
    svm.fit([[0.0], [1.0], [2.0]], [-1, 1, 1])
    svm.learn([3.0], 1)
    np.testing.assert_allclose(svm.weight, [1.5, 0.75, 0.75, 0.75])


@pytest.mark.parametrize("weight, word", [
    ([1.0], "shape"), ([1.0, -1.0], "not negative"), ([1.0, np.nan], "finite"),
    ([0.0, 0.0], "every example is zero")])
def test_weights_that_are_none(weight, word):
    with pytest.raises(ValueError, match=word):
        checked_weights(weight, 2)
    with pytest.raises(ValueError, match=word):
        IncrementalSVM(Linear()).fit([[0.0], [1.0]], [0, 1], weight)


@pytest.mark.parametrize("weights", ["heavy", {0: -1.0}, {0: np.inf}, {2: 3.0}, 3])
def test_class_weights_that_are_none(weights):
    with pytest.raises(ValueError, match="class_weight must"):
        class_weights(weights, np.array([0, 1]), [0, 1])
