"""The dual of an SVM, against the KKT conditions, cvxpy, scikit-learn, and other starts.

The two stages of the solver make up for each other's faults, so each is tested by itself too.
"""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from decon import Gaussian, Linear, Polynomial, Tanh
from decon.learning import qp
from decon.learning.kkt import kkt_residuals
from decon.learning.qp import dual_optimum


def problem(seed, n, d, kind="ordinary"):
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


def programme(seed, n=12, d=3, C=2.0, kernel=None):
    """A dual programme in general position, and a feasible start with some multipliers at bounds.

    Of the sum of the multipliers of either label, the larger is scaled down to the smaller.
    """
    X, t = problem(seed, n, d)
    t[:2] = 1, -1
    Q = (kernel or Gaussian(1.0))(X, X) * np.outer(t, t)
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1, C + 1, n).clip(0, C)
    a[:2] = rng.uniform(0.2, C - 0.2, 2)
    return Q, t, rng.uniform(0.5, 1.5, n), C, qp._feasible(a, t, C)


KINDS = ["ordinary", "integers", "duplicates", "near duplicates", "large"]


def bounds(v, t, a, C, slack=0.0):
    """The largest number that the threshold must not be below, and the smallest not above."""
    lower = [v[i] - np.broadcast_to(slack, len(t))[i] for i in range(len(t))
             if (t[i] > 0 and a[i] > 0) or (t[i] < 0 and a[i] < C)]
    upper = [v[i] + np.broadcast_to(slack, len(t))[i] for i in range(len(t))
             if (t[i] > 0 and a[i] < C) or (t[i] < 0 and a[i] > 0)]
    return max(lower, default=-np.inf), min(upper, default=np.inf)


def gap(Q, t, p, C, a, slack=0.0):
    """By how much the KKT conditions contradict each other about the threshold."""
    lower, upper = bounds(t * (Q @ a - p), t, a, C, slack)
    return lower - upper


def objective(Q, p, a):
    return p @ a - a @ Q @ a / 2


def violation(Q, t, p, C, a):
    """Of the conditions, beside the rounding of the gradient."""
    scale = 1 + (np.abs(Q) @ a).max(initial=0)
    return max(gap(Q, t, p, C, a) / scale, abs(a @ t) / (1 + a.sum()), -a.min(), (a - C).max())


# The optimum

@settings(max_examples=75, deadline=None)
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
    X, t = problem(seed, 30, 3)
    Q = Gaussian(1.0)(X, X) * np.outer(t, t)
    p = np.random.default_rng(seed).standard_normal(30)
    a = dual_optimum(Q, t, p, 2.0)
    x = cp.Variable(30)
    root = np.linalg.cholesky(Q + 1e-12 * np.eye(30)).T
    other = cp.Problem(cp.Maximize(p @ x - 0.5 * cp.sum_squares(root @ x)),
                       [x >= 0, x <= 2.0, t @ x == 0])
    other.solve(solver=cp.CLARABEL)
    assert objective(Q, p, a) == pytest.approx(other.value, rel=1e-7, abs=1e-7)


def test_svm_multipliers_are_exact():
    X, t = problem(0, 200, 3)
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
    given = start.copy()
    first = dual_optimum(Q, t, np.ones(40), 3.0)
    second = dual_optimum(Q, t, np.ones(40), 3.0, start)
    np.testing.assert_allclose(Q @ first, Q @ second, atol=1e-8)
    np.testing.assert_array_equal(start, given)


@pytest.mark.parametrize("seed", range(5))
def test_few_multipliers_are_between_the_bounds(seed):
    X, t = problem(seed, 40, 2, "duplicates")
    a = dual_optimum(np.outer(t, t) * (X @ X.T), t, np.ones(40), 1.0)
    assert ((a > 0) & (a < 1)).sum() <= 3  # the rank of X and a threshold


@pytest.mark.parametrize("seed", range(20))
def test_indefinite_kernels_end_where_the_conditions_hold(seed):
    X, t = problem(seed, 30, 3)
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
    assert gap(Q, t, np.ones(n), C, a, rounding) <= 0
    assert abs(a @ t) <= 1e-10 * a.sum() and a.min() >= 0 and a.max() <= C
    length = np.sqrt(K.diagonal())  # in these units cvxpy sees a kernel with ones on the diagonal
    values, vectors = np.linalg.eigh(K / np.outer(length, length))
    b = cp.Variable(n)
    half = (vectors * np.sqrt(values.clip(0))).T
    best = cp.Problem(
        cp.Maximize((1 / length) @ b - cp.sum_squares(half @ cp.multiply(t, b)) / 2),
        [b >= 0, b <= C * length, (t / length) @ b == 0]).solve(cp.CLARABEL)
    assert a.sum() - a @ Q @ a / 2 >= best - 1e-4 * abs(best)


def test_the_stages_are_repeated_from_nearer_until_the_conditions_hold(monkeypatch):
    Q, t, p, C, _ = programme(0)
    tried, right = [], qp._active_sets

    def fails_twice(Q, t, p, C, a):
        tried.append(gap(Q, t, p, C, a))
        found, done = right(Q, t, p, C, a)
        return (found, done) if len(tried) > 2 else (a, False)

    monkeypatch.setattr(qp, "_active_sets", fails_twice)
    a = dual_optimum(Q, t, p, C)
    assert violation(Q, t, p, C, a) < 1e-12
    limits = 1.5 * np.array([1e-3, 1e-5, 1e-7])  # p is at most 1.5
    assert len(tried) == 3 and (tried <= limits).all()


# Decomposition

@given(st.integers(0, 10**6), st.integers(1, 12))
def test_a_feasible_start(seed, n):
    rng = np.random.default_rng(seed)
    t, a = rng.choice([-1.0, 1.0], n), rng.uniform(-1, 3, n)
    found, clipped = qp._feasible(a, t, 2.0), a.clip(0, 2)
    sums = clipped[t > 0].sum(), clipped[t < 0].sum()
    assert found.min() >= 0 and found.max() <= 2 and abs(found @ t) < 1e-12
    for side, total in ((t > 0, sums[0]), (t < 0, sums[1])):
        factor = min(sums) / total if total > 0 else 1.0
        np.testing.assert_allclose(found[side], factor * clipped[side], atol=1e-12)


@given(st.integers(0, 10**6))
def test_a_step_of_a_pair_is_the_best_one(seed):
    Q, t, p, C, a = programme(seed)
    before, gradient = a.copy(), Q @ a - p
    lower, upper = bounds(t * gradient, t, a, C)
    if lower <= upper:
        return
    i, j = (int(np.flatnonzero(t * gradient == value)[0]) for value in (upper, lower))
    qp._pair_step(Q, t, C, a, gradient, i, j)
    np.testing.assert_allclose(gradient, Q @ a - p, atol=1e-12)
    assert abs((a - before) @ t) < 1e-12 and a.min() >= 0 and a.max() <= C
    np.testing.assert_array_equal(np.delete(a, [i, j]), np.delete(before, [i, j]))
    line = np.zeros(len(t))
    line[[i, j]] = t[i], -t[j]
    others = [before + length * line for length in np.linspace(-2 * C, 2 * C, 4001)]
    others = [other for other in others if other.min() >= 0 and other.max() <= C]
    assert objective(Q, p, a) >= max(objective(Q, p, other) for other in others) - 1e-12
    moved = (a - before)[i] * t[i]
    assert moved > 0
    if abs(t[i] * gradient[i] - t[j] * gradient[j]) > 1e-9:  # not at the top of the parabola:
        assert {a[i], a[j]} & {0.0, C}  # exactly at a bound


def test_the_curvature_along_a_pair():
    Q = np.array([[4.0, 3.0, 0.0], [3.0, 9.0, 0.0], [0.0, 0.0, 0.0]])
    t = np.array([1.0, -1.0, 1.0])
    line = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 1.0]])  # (t_i, -t_j) up to sign
    for (i, j), d in zip([(0, 1), (0, 2), (2, 1)], line, strict=True):
        assert qp._curvature(Q, t, i, j) == pytest.approx(d @ Q @ d)
    every = [qp._curvature(Q, t, 0, j) for j in range(3)]
    np.testing.assert_array_equal(qp._curvature(Q, t, 0, slice(None)), every)
    for scale in (1e-8, 1.0, 1e8):  # of twins, and of two that the kernel is indefinite about
        for other in (scale, 5 * scale):
            Q = np.array([[scale, other], [other, -scale]])
            assert qp._curvature(Q, np.ones(2), 0, 1) == pytest.approx(1e-12 * scale)
            assert qp._curvature(Q[::-1, ::-1], np.ones(2), 0, 1) == pytest.approx(1e-12 * scale)
    assert 0 < qp._curvature(np.zeros((2, 2)), np.ones(2), 0, 1) < 1e-90


def test_a_pair_of_twins_goes_to_a_bound():
    Q, t = np.ones((2, 2)), np.ones(2)  # curvature zero along the pair
    for p, expected in (([2.0, 1.0], [1.5, 0.0]), ([2.0, 1.0 - 1e-9], [1.5, 0.0])):
        a = np.array([0.5, 1.0])
        qp._pair_step(Q, t, 2.0, a, Q @ a - p, 0, 1)
        np.testing.assert_allclose(a, expected)
    nothing = np.zeros((2, 2))  # and of kernel values that are all zero
    a = np.array([0.5, 1.0])
    qp._pair_step(nothing, t, 2.0, a, -np.array([2.0, 1.0]), 0, 1)
    np.testing.assert_allclose(a, [1.5, 0.0])


@pytest.mark.parametrize("wanted", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_come_as_near_as_is_wanted(seed, wanted):
    Q, t, p, C, a = programme(seed, n=30)
    start = a.copy()
    near = qp._pairs(Q, t, p, C, a, wanted)
    largest = np.abs(p).max()
    assert gap(Q, t, p, C, near) <= wanted * largest * (1 + 1e-9) < gap(Q, t, p, C, start)
    assert abs(near @ t) < 1e-12 and near.min() >= 0 and near.max() <= C
    assert objective(Q, p, near) > objective(Q, p, start)
    np.testing.assert_array_equal(a, start)
    again = qp._pairs(Q, t, p, C, near, wanted)  # it stops where it is near enough
    np.testing.assert_array_equal(again, near)
    enough = 1.001 * gap(Q, t, p, C, start) / largest  # relative to the largest p, if that is large
    assert largest > 1.1
    np.testing.assert_array_equal(qp._pairs(Q, t, p, C, a, enough), a)
    small = qp._pairs(Q, t, p / 100, C, a, wanted)  # never relative to less than 1
    assert wanted / 100 < gap(Q, t, p / 100, C, small) <= wanted or wanted < 1e-5


@pytest.mark.parametrize("seed", range(10))
def test_the_second_of_a_pair_gains_most(seed, monkeypatch):
    Q, t, p, _, a = programme(seed)
    C = 1e6  # no bound is in the way
    a[a == 0] = 1.0
    a = 1e5 + qp._feasible(a, t, C)
    a = qp._feasible(a, t, C)
    p = Q @ a + np.random.default_rng(seed).standard_normal(len(a))
    monkeypatch.setattr(qp, "SETTINGS", replace(qp.SETTINGS, pair_steps=1))
    after = qp._pairs(Q, t, p, C, a, 0.0)
    v = t * (Q @ a - p)
    i = int(np.argmin(v))
    gains = [(v[j] - v[i]) ** 2 / (Q[i, i] + Q[j, j] - 2 * t[i] * t[j] * Q[i, j]) / 2
             if j != i else 0.0 for j in range(len(a))]
    change = after - a
    np.testing.assert_array_equal(np.flatnonzero(change), np.sort([i, int(np.argmax(gains))]))
    gained = -(Q @ a - p) @ change - change @ Q @ change / 2
    assert gained == pytest.approx(max(gains), rel=1e-6)


def test_pairs_give_up_in_the_end(monkeypatch):
    Q, t, p, C, a = programme(1, n=30)
    steps, right = [], qp._pair_step
    monkeypatch.setattr(qp, "_pair_step", lambda *every: (steps.append(1), right(*every)))
    for settings_, most in ((replace(qp.SETTINGS, pair_steps=7), 7),
                            (replace(qp.SETTINGS, pair_steps_per_example=1), 35)):
        steps.clear()
        monkeypatch.setattr(qp, "SETTINGS", settings_)
        qp._pairs(Q, t, p, C, a, -1.0)  # a gap that is never reached
        assert len(steps) == most


# Active sets

@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(2), Linear()], ids=str)
def test_the_directions_of_a_face(kernel, seed):
    Q, t, _, C, a = programme(seed, kernel=kernel)
    free = np.flatnonzero((a > 0) & (a < C))
    values, vectors = qp._directions(Q, t, free)
    assert vectors.shape == (len(free), len(free) - 1)
    np.testing.assert_allclose(t[free] @ vectors, 0, atol=1e-10)  # sum a t stays as it is
    within = Q[np.ix_(free, free)]
    scale = np.abs(values).max()
    np.testing.assert_allclose(vectors.T @ within @ vectors, np.diag(values), atol=1e-9 * scale)
    ones = vectors.T @ np.diag(within.diagonal()) @ vectors  # in units with ones on the diagonal
    np.testing.assert_allclose(ones, np.eye(len(values)), atol=1e-9)


def test_the_directions_where_a_kernel_value_is_zero():
    Q, t = np.diag([4.0, 0.0, -9.0]), np.array([1.0, -1.0, 1.0])
    values, vectors = qp._directions(Q, t, np.arange(3))
    np.testing.assert_allclose(vectors.T @ Q @ vectors, np.diag(values), atol=1e-12)
    units = np.diag([4.0, 1.0, 9.0])  # |Q_ii|, and 1 for none
    np.testing.assert_allclose(vectors.T @ units @ vectors, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("direction, longest, expected, left", [
    ([1.0, 0.0, -0.5], 0.5, [1.0, 1.0, 1.25], [1, 3, 4]),      # as far as it may
    ([1.0, 0.0, -0.5], np.inf, [2.0, 1.0, 0.75], [3, 4]),      # up to C
    ([0.5, 0.0, -1.0], np.inf, [1.25, 1.0, 0.0], [1, 3]),      # down to 0
    ([1.0, 0.0, -1.0], np.inf, [2.0, 1.0, 0.0], [3]),          # both at once
    ([1.0, 0.0, -1.0], 1.5, [2.0, 1.0, 0.0], [3]),             # and as far as it may
    ([0.0, 0.0, 0.0], np.inf, [0.5, 1.0, 1.5], [1, 3, 4]),     # nothing stops it: it stays
])
def test_a_move_ends_at_the_first_bound(direction, longest, expected, left):
    a = np.array([0.0, 0.5, 2.0, 1.0, 1.5])
    free = qp._move(2.0, a, np.array([1, 3, 4]), np.array(direction), longest)
    np.testing.assert_array_equal(a, [0.0, expected[0], 2.0, expected[1], expected[2]])
    np.testing.assert_array_equal(free, left)


def test_bounds_that_are_met_together_up_to_rounding():
    a = np.array([1.0, 1.0 + 1e-15, 1.0, 0.5])
    free = qp._move(2.0, a, np.arange(4), np.array([-1.0, -1.0, -0.5, 0.5]), np.inf)
    np.testing.assert_array_equal(a[:2], 0.0)
    np.testing.assert_array_equal(free, [2, 3])


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()], ids=str)
@pytest.mark.parametrize("seed", range(10))
def test_the_optimum_of_a_face(seed, kernel):
    Q, t, p, C, a = programme(seed, n=16, kernel=kernel)
    p = np.ones(16) if kernel == Linear() else p  # otherwise the face is flat
    start, total = a.copy(), a @ t
    found = qp._optimum_of_face(Q, t, p, C, a)
    assert found is a and abs(a @ t - total) < 1e-10 and a.min() >= 0 and a.max() <= C
    assert objective(Q, p, a) >= objective(Q, p, start)
    at_bounds = (start == 0) | (start == C)
    np.testing.assert_array_equal(a[at_bounds], start[at_bounds])
    free = np.flatnonzero((a > 0) & (a < C))
    if len(free):  # no gain along any direction of the face that is left
        v = (t * (Q @ a - p))[free]
        assert np.ptp(v) < 1e-9


def test_a_flat_face_is_left_downhill():
    Q, t = np.zeros((3, 3)), np.array([1.0, 1.0, 1.0])  # only p counts: it goes to one of the three
    a = qp._optimum_of_face(Q, t, np.array([1.0, 3.0, 2.0]), 10.0, np.array([2.0, 1.0, 1.0]))
    np.testing.assert_allclose(a, [0.0, 4.0, 0.0], atol=1e-12)
    level = np.array([2.0, 1.0, 1.0])
    still = qp._optimum_of_face(Q, t, np.ones(3), 10.0, level.copy())  # level, not downhill
    np.testing.assert_array_equal(still, level)


@pytest.mark.parametrize("seed", range(20))
def test_active_sets_find_the_optimum_from_anywhere(seed):
    Q, t, p, C, a = programme(seed, n=20)
    start = a.copy()
    found, done = qp._active_sets(Q, t, p, C, a)
    assert done and violation(Q, t, p, C, found) < 1e-11
    np.testing.assert_array_equal(a, start)
    again, done = qp._active_sets(Q, t, p, C, found)
    assert done
    np.testing.assert_allclose(again, found, atol=1e-12)


def test_active_sets_say_when_they_do_not_get_on(monkeypatch):
    Q, t, p, C, a = programme(0, n=20)
    steps = []
    monkeypatch.setattr(qp, "_pair_step", lambda *every: steps.append(1))  # it moves nothing
    _, done = qp._active_sets(Q, t, p, C, a)
    assert not done and len(steps) == 1

    def to_and_fro(Q, t, C, a, gradient, i, j):
        steps.append(1)
        a[i] = 0.5 if a[i] != 0.5 else 0.25

    steps.clear()
    monkeypatch.setattr(qp, "_pair_step", to_and_fro)
    monkeypatch.setattr(qp, "_optimum_of_face", lambda Q, t, p, C, a: a)
    monkeypatch.setattr(qp, "_balanced", lambda a, t, C: a)
    _, done = qp._active_sets(Q, t, p, C, a)
    assert not done and len(steps) == 300  # 10 for each example, and 100


def test_rounding_is_laid_where_there_is_most_room():
    t = np.array([1.0, -1.0, 1.0, -1.0])
    a = np.array([0.0, 1.9, 0.9, 2.0])
    np.testing.assert_allclose(qp._balanced(a.copy(), t, 2.0), [0.0, 1.9, 2.0, 2.0])
    a = np.array([0.0, 1.9, 1.8, 0.1])
    np.testing.assert_allclose(qp._balanced(a.copy(), t, 2.0), [0.0, 1.9, 2.0, 0.1])
    a = np.array([2.0, 1.9, 1.8, 0.6])
    np.testing.assert_allclose(qp._balanced(a.copy(), t, 2.0), [2.0, 1.9, 1.8, 1.9])
    bound = np.array([2.0, 0.0, 2.0, 0.0])
    np.testing.assert_array_equal(qp._balanced(bound.copy(), t, 2.0), bound)


# As few as can be between the bounds

@pytest.mark.parametrize("seed", range(10))
def test_weight_is_shifted_between_dependent_examples(seed):
    X, t = problem(seed, 24, 2, "duplicates")
    Q, C = (X @ X.T) * np.outer(t, t), 2.0
    a = qp._feasible(np.random.default_rng(seed).uniform(0.1, C - 0.1, 24), t, C)
    start = a.copy()
    few = qp._fewest(Q, t, C, a)
    free = (few > 0) & (few < C)
    assert free.sum() <= 3 < ((start > 0) & (start < C)).sum()
    np.testing.assert_allclose(Q @ few, Q @ start, atol=1e-9)
    assert abs(few @ t) < 1e-10 and few.min() >= 0 and few.max() <= C
    np.testing.assert_array_equal(a, start)


@pytest.mark.parametrize("seed", range(5))
def test_independent_examples_stay_as_they_are(seed):
    Q, t, _, C, a = programme(seed)
    few = qp._fewest(Q, t, C, a)
    np.testing.assert_allclose(few, a, atol=1e-12)


def test_a_direction_that_is_flat_only_beside_steep_ones():
    """Two examples that differ by 1e-7 of their size are twins, but the third tells them apart."""
    x = np.array([[1.0, 0.0], [1.0, 1e-7], [0.0, 1e9]])
    t = np.array([1.0, -1.0, 1.0])
    Q, a = (x @ x.T) * np.outer(t, t), np.array([0.5, 0.5, 0.0])
    few = qp._fewest(Q, t, 10.0, a)
    np.testing.assert_allclose(few, a, atol=1e-12)
