"""The dual of an SVM, against the KKT conditions, cvxpy, scikit-learn, and other starts."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from decon import Gaussian, Linear, Polynomial, Tanh
from decon.dual import dual_optimum, gap
from decon.svm import kkt_residuals


def problem(seed, n, d, kind):
    """Examples of a kind that makes kernel matrices singular, or nearly so."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    half = n - n // 2
    if kind == "integers":
        X = X.round()
    elif kind == "duplicates":
        X[n // 2 :] = X[:half]
    elif kind == "near duplicates":
        X[n // 2 :] = X[:half] + 1e-7 * rng.standard_normal((half, d))
    elif kind == "large":
        X *= 10
    t = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, t


KINDS = ["ordinary", "integers", "duplicates", "near duplicates", "large"]


def violation(Q, t, p, C, a):
    """Of the conditions, beside the rounding of the gradient."""
    scale = 1 + (np.abs(Q) @ a).max(initial=0)
    return max(gap(t, C, a, Q @ a - p)[0] / scale, abs(a @ t) / (1 + a.sum()), -a.min(),
               (a - C).max())


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 50), d=st.integers(1, 5),
       kind=st.sampled_from(KINDS), C=st.sampled_from([0.01, 1.0, 100.0, 1e4]),
       kernel=st.sampled_from([Linear(), Polynomial(2), Polynomial(3), Gaussian(1.0)]))
def test_the_optimum_fulfils_its_conditions(seed, n, d, kind, C, kernel):
    X, t = problem(seed, n, d, kind)
    Q = kernel(X, X) * np.outer(t, t)
    a = dual_optimum(Q, t, np.ones(n), C)
    assert violation(Q, t, np.ones(n), C, a) < 1e-10


@pytest.mark.parametrize("seed", range(10))
def test_a_general_linear_term_against_cvxpy(seed):
    X, t = problem(seed, 30, 3, "ordinary")
    Q = Gaussian(1.0)(X, X) * np.outer(t, t)
    p = np.random.default_rng(seed).standard_normal(30)
    a = dual_optimum(Q, t, p, 2.0)
    x = cp.Variable(30)
    root = np.linalg.cholesky(Q + 1e-12 * np.eye(30)).T
    other = cp.Problem(cp.Maximize(p @ x - 0.5 * cp.sum_squares(root @ x)),
                       [x >= 0, x <= 2.0, t @ x == 0])
    other.solve(solver=cp.CLARABEL)
    assert p @ a - 0.5 * a @ Q @ a == pytest.approx(other.value, rel=1e-7, abs=1e-7)


def test_svm_multipliers_are_exact():
    X, t = problem(0, 200, 3, "ordinary")
    K = Gaussian(1.5)(X, X)
    a = dual_optimum(K * np.outer(t, t), t, np.ones(200), 1.0)
    svc = SVC(**Gaussian(1.5).to_sklearn(), C=1.0, tol=1e-10).fit(X, t)
    np.testing.assert_array_equal(np.flatnonzero(a), np.sort(svc.support_))
    b = np.median((K @ (a * t) - t)[(a > 0) & (a < 1)])
    assert max(kkt_residuals(K, t, a, b, 1.0).values()) < 1e-12
    np.testing.assert_allclose(K @ (a * t) - b, svc.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_where_it_starts_does_not_matter(kind, seed):
    X, t = problem(seed, 40, 2, kind)
    Q = Gaussian(1.0)(X, X) * np.outer(t, t)
    start = np.random.default_rng(seed).uniform(-1, 4, 40)
    first = dual_optimum(Q, t, np.ones(40), 3.0)
    second = dual_optimum(Q, t, np.ones(40), 3.0, start)
    np.testing.assert_allclose(Q @ first, Q @ second, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_few_multipliers_are_between_the_bounds(seed):
    X, t = problem(seed, 40, 2, "duplicates")
    a = dual_optimum(np.outer(t, t) * (X @ X.T), t, np.ones(40), 1.0)
    assert ((a > 0) & (a < 1)).sum() <= 3  # the rank of X and a threshold


@pytest.mark.parametrize("seed", range(20))
def test_indefinite_kernels_end_where_the_conditions_hold(seed):
    X, t = problem(seed, 30, 3, "ordinary")
    Q = Tanh(0.5, -1.0)(X, X) * np.outer(t, t)
    assert violation(Q, t, np.ones(30), 1.0, dual_optimum(Q, t, np.ones(30), 1.0)) < 1e-9


@pytest.mark.parametrize("t", [[], [1.0], [1.0, 1.0, 1.0]])
def test_one_label_or_none_needs_no_multipliers(t):
    t = np.array(t)
    assert (dual_optimum(np.eye(len(t)), t, np.ones(len(t)), 1.0) == 0).all()


@pytest.mark.parametrize("kernel, far", [(Linear(), 1e6), (Polynomial(2), 1e3),
                                         (Polynomial(2), 1e4), (Polynomial(3), 100.0)])
@pytest.mark.parametrize("seed", range(3))
def test_one_far_example_does_not_spoil_the_others(kernel, far, seed):
    rng = np.random.default_rng(seed)
    X, t = rng.standard_normal((20, 2)), rng.choice([-1.0, 1.0], 20)
    X[0] *= far
    _agrees_with_cvxpy(kernel(X, X), t, 10.0)


@pytest.mark.parametrize("seed", range(6))
def test_examples_of_all_sizes(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3)) * 10.0 ** rng.uniform(-3, 3, (25, 1))
    _agrees_with_cvxpy(Polynomial(2)(X, X), rng.choice([-1.0, 1.0], 25), 10.0)


def _agrees_with_cvxpy(K, t, C):
    """In the objective, and in the conditions beside the rounding of each example's own row."""
    Q, n = K * np.outer(t, t), len(t)
    a = dual_optimum(Q, t, np.ones(n), C)
    rounding = 1e-11 * (1 + np.abs(Q) @ a)
    assert gap(t, C, a, Q @ a - 1, rounding)[0] <= 0
    assert abs(a @ t) <= 1e-10 * a.sum() and a.min() >= 0 and a.max() <= C
    length = np.sqrt(K.diagonal())  # in these units cvxpy sees a kernel with ones on the diagonal
    values, vectors = np.linalg.eigh(K / np.outer(length, length))
    b = cp.Variable(n)
    half = (vectors * np.sqrt(values.clip(0))).T
    best = cp.Problem(
        cp.Maximize((1 / length) @ b - cp.sum_squares(half @ cp.multiply(t, b)) / 2),
        [b >= 0, b <= C * length, (t / length) @ b == 0]).solve(cp.CLARABEL)
    assert a.sum() - a @ Q @ a / 2 >= best - 1e-4 * abs(best)
