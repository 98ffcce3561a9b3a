"""Bracketing against known crossings, Eq. 9, and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Oracle, Polynomial
from decon.boundary.bounds import (
    bounds_along,
    distance_to_bounds,
    lies_between,
    pairs_inside,
    stay_inside,
)
from decon.boundary.bracketing import bisect, bisect_along, boundary_points
from decon.boundary.pairs import pn_pairs


def equation_9(diameter, width):
    return np.floor(np.log2(diameter) - np.log2(width) + 1 + 1e-9)


def pairs(machine, n, seed=0, scale=3.0):
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((4 * n, machine.dimension))
    labels = machine.predict(X)
    return pn_pairs(X[labels > 0], X[labels < 0], n, rng)


@pytest.mark.parametrize("dimension", [1, 2, 30, 300])
def test_brackets_hold_the_boundary_and_obey_equation_9(dimension):
    machine = KernelMachine.random(Polynomial(2), dimension, 3)
    oracle = Oracle(machine.predict, dimension)
    P, N = pairs(machine, 40)
    before = [np.linalg.norm(P - N, axis=1), P.copy(), N.copy()]
    p, n = bisect(oracle, P, N, 1e-6)
    assert (machine.predict(p) == 1).all() and (machine.predict(n) == -1).all()
    assert (np.linalg.norm(p - n, axis=1) <= 1e-6).all()
    steps = equation_9(before[0], 1e-6)
    assert oracle.queries <= steps.sum() and oracle.calls <= steps.max()
    np.testing.assert_array_equal(P, before[1])  # the caller's arrays are left alone
    np.testing.assert_array_equal(N, before[2])


@given(length=st.floats(1e-3, 1e3), width=st.floats(1e-9, 1e-4))
@settings(deadline=None)
def test_steps_of_one_bracket(length, width):
    oracle = Oracle(lambda X: X[:, 0] > length / np.pi, 1)
    bisect(oracle, [[length]], [[0.0]], width)
    assert oracle.queries <= equation_9(length, width) <= oracle.queries + 1


def test_a_width_below_rounding_ends_all_the_same():
    oracle = Oracle(lambda X: X[:, 0] > 1 / 3, 1)
    P, N = bisect(oracle, [[1.0]], [[0.0]], 0.0)
    assert 0 < P[0, 0] - N[0, 0] < 1e-16 and oracle.queries < 70


def test_no_pairs_cost_nothing():
    oracle = Oracle(lambda X: X[:, 0] > 0, 3)
    P, N = bisect(oracle, np.empty((0, 3)), np.empty((0, 3)), 1e-6)
    assert P.shape == N.shape == (0, 3) and oracle.queries == 0


@pytest.mark.parametrize("seed", range(5))
def test_boundary_points_lie_on_the_boundary(seed):
    machine = KernelMachine.random(Polynomial(3), 10, 4, seed)
    P, N = pairs(machine, 30, seed)
    X, V = boundary_points(Oracle(machine.predict, 10), P, N, 1e-12)
    distance = np.abs(machine.decision_function(X)) / np.linalg.norm(machine.gradient(X), axis=1)
    assert np.median(distance) < 1e-12 and distance.max() < 1e-10
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1)
    np.testing.assert_allclose(V, (P - N) / np.linalg.norm(P - N, axis=1)[:, None])


def test_a_bracket_of_exactly_the_width_is_narrow_enough():
    oracle = Oracle(lambda X: X[:, 0] > 0.3, 1)
    P, N = bisect(oracle, [[1.0], [0.5]], [[0.0], [0.25]], 0.25)
    np.testing.assert_array_equal(P, [[0.5], [0.5]])
    np.testing.assert_array_equal(N, [[0.25], [0.25]])
    assert oracle.queries == 2 and oracle.calls == 2  # the second bracket needs none


def test_a_point_is_no_pair_with_itself():
    with pytest.raises(ValueError, match="own partner"):
        boundary_points(Oracle(lambda X: X[:, 0] > 0, 2), [[1.0, 1.0]], [[1.0, 1.0]], 1e-6)


@given(crossing=st.floats(-50, 50), guess=st.floats(-50, 50), step=st.floats(1e-6, 10))
@settings(deadline=None, max_examples=60)
def test_walk_then_bisect_finds_the_crossing(crossing, guess, step):
    oracle = Oracle(lambda X: X[:, 0] > crossing, 2)
    t = bisect_along(oracle, np.zeros((3, 2)), np.tile([1.0, 0.0], (3, 1)), guess, step, 1e-9, 1e3)
    np.testing.assert_allclose(t, crossing, atol=1e-9)
    walk = np.log2(abs(crossing - guess) / step + 1) + 2
    assert oracle.queries / 3 <= walk + np.log2(max(abs(crossing - guess), step) / 1e-9) + 2


def test_a_good_guess_is_cheap():
    oracle = Oracle(lambda X: X[:, 0] > 0.123456, 1)
    bisect_along(oracle, [[0.0]], [[1.0]], 0.123455, 2e-6, 1e-9, 1.0)
    assert oracle.queries <= np.log2(2e-6 / 1e-9) + 3


def test_lines_without_a_crossing_are_nan():
    oracle = Oracle(lambda X: X[:, 0] > 0.5, 2)
    t = bisect_along(oracle, np.zeros((2, 2)), np.eye(2), 0.0, 0.1, 1e-9, 10.0)
    assert t[0] == pytest.approx(0.5) and np.isnan(t[1])


def test_the_walk_doubles_its_steps_and_ends_at_the_largest_distance():
    def places(crossing, guess, step, **options):
        seen = []

        def predict(X):
            seen.append(X[0, 0])
            return X[:, 0] > crossing

        oracle = Oracle(predict, 1, positive=True, **options)
        t = bisect_along(oracle, [[1.0]], [[1.0]], guess, step, 0.5, 10.0)
        return t[0] + 1, seen

    t, seen = places(9.2, 0.0, 1.0)
    assert seen == [1, 2, 4, 8, 16, 12, 10, 9, 9.5] and t == 9.25
    t, seen = places(-6.3, 0.5, 1.0)
    assert seen == [1.5, 0.5, -1.5, -5.5, -13.5, -9.5, -7.5, -6.5, -6] and t == -6.25
    t, seen = places(99.0, 0.0, 1.0)  # 15 is farther than 10: no step more
    assert np.isnan(t) and seen == [1, 2, 4, 8, 16]
    t, seen = places(99.0, 0.0, 10.0)  # the step ends there
    assert np.isnan(t) and seen == [1, 11]
    t, seen = places(5.5, 0.0, 1.0, bounds=(-5, 6))  # shortened to the bounds
    assert seen == [1, 2, 4, 6, 5, 5.5] and t == 5.75
    t, seen = places(7.0, 0.0, 1.0, bounds=(-5, 6))
    assert np.isnan(t) and seen == [1, 2, 4, 6]
    t, seen = places(-5.5, 0.0, 1.0, bounds=(-5, 6))
    assert np.isnan(t) and seen == [1, 0, -2, -5]
    t, seen = places(5.5, 99.0, 1.0, bounds=(-5, 6))  # the guess too
    assert seen == [6, 5, 5.5] and t == 5.75


def test_every_line_has_its_own_guess_step_and_distance():
    oracle = Oracle(lambda X: X[:, 0] > 5, 1)
    start, V = np.array([[0.0], [0], [1], [0]]), np.ones((4, 1))
    t = bisect_along(oracle, start, V, [4.9, 0, 4, 0], [0.1, 1, 1, 1], 1e-9, [1, 3, 1, 10])
    np.testing.assert_allclose(t, [5, np.nan, 4, 5], atol=1e-9)


def test_a_width_below_rounding_ends_a_walk_too():
    oracle = Oracle(lambda X: X[:, 0] > 1 / 3, 1)
    t = bisect_along(oracle, [[0.0]], [[1.0]], 0.3, 0.1, 0.0, 1.0)
    assert abs(t[0] - 1 / 3) < 1e-15 and oracle.queries < 65


def test_pairs_are_distinct_while_there_are_enough():
    P, N = pn_pairs(np.arange(4.0)[:, None], -np.arange(1.0, 6)[:, None], 20, 3)
    assert len(set(zip(P.ravel(), N.ravel(), strict=True))) == 20
    P, N = pn_pairs(np.arange(4.0)[:, None], -np.arange(1.0, 6)[:, None], 50, 3)
    for part in (slice(0, 20), slice(20, 40)):  # none again before all others
        assert len(set(zip(P[part, 0], N[part, 0], strict=True))) == 20
    P, N = pn_pairs([[1.0]], [[0.0]], 7)
    assert P.shape == N.shape == (7, 1)


# Within bounds

BOUNDED = [(0, 1), (np.full(3, -1.0), np.full(3, 2.0)), ([0.0, -5.0, 0.2], [1.0, 5.0, 0.3])]


@pytest.mark.parametrize("bounds", BOUNDED)
def test_lines_leave_the_bounds_where_they_say(bounds):
    oracle = Oracle(lambda X: X[:, 0] > 0.3, 3, bounds=bounds)
    rng = np.random.default_rng(0)
    lower, upper = oracle.bounds
    X = lower + (upper - lower) * rng.random((200, 3))
    V = rng.standard_normal((200, 3)) * rng.integers(0, 2, (200, 3))
    V[(V == 0).all(1), 0] = 1
    first, last = bounds_along(oracle, X, V)
    for t, sign in ((first, -1), (last, 1)):
        assert oracle.inside(X + (t - sign * 1e-9)[:, None] * V).all()
        assert not oracle.inside(X + (t + sign * 1e-6)[:, None] * V).any()
    outside = upper + 1.0
    first, last = bounds_along(oracle, outside[None], np.eye(3)[:1])
    assert first[0] > last[0]  # this line misses the bounds
    steps = stay_inside(oracle, X, 1e4 * V)
    assert oracle.inside(X + steps).all() and not oracle.inside(X + 1.2 * steps).any()
    np.testing.assert_array_equal(stay_inside(Oracle(len, 3), X, V), V)


@given(st.integers(0, 10_000))
def test_walks_never_leave_the_bounds_and_find_what_is_inside(seed):
    rng = np.random.default_rng(seed)
    normal, offset = rng.standard_normal(3), rng.uniform(-0.3, 0.3)

    def predict(X):
        assert (X >= 0).all() and (X <= 1).all()
        return (X - 0.5) @ normal > offset

    oracle = Oracle(predict, 3, positive=True, bounds=(0, 1))
    X = rng.uniform(-0.2, 1.2, (30, 3))  # some base points outside
    V = rng.standard_normal((30, 3))
    V *= np.sign(V @ normal)[:, None] / np.linalg.norm(V, axis=1, keepdims=True)
    t = bisect_along(oracle, X, V, 0.0, 0.01, 1e-9, 10.0)
    truth = (offset - (X - 0.5) @ normal) / (V @ normal)
    met = np.isfinite(t)
    np.testing.assert_allclose(t[met], truth[met], atol=1e-8)
    crossing = X + truth[:, None] * V
    well_inside = ((crossing > 1e-6) & (crossing < 1 - 1e-6)).all(1)
    assert met[well_inside].all() and oracle.inside(crossing[met].clip(1e-6, 1 - 1e-6)).all()


def test_lines_along_the_bounds():
    oracle = Oracle(lambda X: X[:, 0] > 0.3, 2, bounds=([0, 0], [1, 2]))
    X = np.array([[0.0, 0.5], [1.0, 0.5], [0.5, 0.5], [-0.1, 0.5], [1.1, 0.5]])
    first, last = bounds_along(oracle, X, np.tile([0.0, 0.5], (5, 1)))
    np.testing.assert_array_equal(first, [-1, -1, -1, np.inf, np.inf])
    np.testing.assert_array_equal(last, [3, 3, 3, -np.inf, -np.inf])
    first, last = bounds_along(oracle, X, np.tile([0.0, -0.25], (5, 1)))
    np.testing.assert_array_equal(first, [-6, -6, -6, np.inf, np.inf])
    np.testing.assert_array_equal(last, [2, 2, 2, -np.inf, -np.inf])
    first, last = bounds_along(oracle, [[0.5, 0.5]], [[0.0, 0.0]])
    assert first[0] == -np.inf and last[0] == np.inf
    first, last = bounds_along(oracle, [[0.5, 0.5]], [[-1.0, 0.0]])
    assert first[0] == -0.5 and last[0] == 0.5


def test_steps_end_at_a_share_of_the_way():
    oracle = Oracle(lambda X: X[:, 0] > 0.3, 2, bounds=(0, 1))
    steps = np.array([[0.4, 0.0], [0.6, 0.0], [0.0, -5.0], [-0.1, 0.1]])
    for share in (0.9, 0.5):
        inside = stay_inside(oracle, [0.5, 0.5], steps, share)
        np.testing.assert_allclose(inside, [[min(0.4, 0.5 * share), 0], [0.5 * share, 0],
                                            [0, -0.5 * share], [-0.1, 0.1]])
    np.testing.assert_allclose(stay_inside(oracle, [0.5, 0.5], steps)[1], [0.45, 0])
    outside = stay_inside(oracle, [[2.0, 0.5]], np.array([[1.0, 0.0]]))
    np.testing.assert_array_equal(outside, [[0, 0]])  # never backwards


@pytest.mark.parametrize("normal, between", [([1, 0], True), ([-1, 0], False), ([0, 1], False)])
def test_the_upper_end_must_be_positive_and_the_lower_one_negative(normal, between):
    oracle = Oracle(lambda X: X @ normal > -0.01, 2, positive=True)
    assert lies_between(oracle, np.zeros((1, 2)), np.array([[0.5, 0.0]])).tolist() == [between]


def test_what_lies_between():
    oracle = Oracle(lambda X: X[:, 0] > 0.5, 1, bounds=(0, 1))
    X, steps = np.array([[0.5], [0.6], [0.99]]), np.array([[0.05], [0.05], [0.05]])
    assert lies_between(oracle, X, steps).tolist() == [True, False, True]  # no room at the last
    assert oracle.queries == 4
    np.testing.assert_allclose(distance_to_bounds(oracle, X), [0.5, 0.4, 0.01])
    np.testing.assert_allclose(distance_to_bounds(oracle, np.array([[-0.2], [1.5]])), [-0.2, -0.5])
    assert np.isinf(distance_to_bounds(Oracle(len, 1), X)).all()


@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_drawn_inside_only_where_they_keep_their_labels(seed):
    rng = np.random.default_rng(seed)
    n = rng.standard_normal(6)
    oracle = Oracle(lambda X: X @ n > n @ (lower + upper) / 2 + 0.02, 6, positive=True,
                    bounds=(lower := rng.uniform(-3, 0, 6), upper := rng.uniform(1, 9, 6)))
    corners = np.where(rng.random((80, 6)) < 0.5, lower, upper)
    corners[::2, 2:] = (lower + upper)[2:] / 2
    labels = oracle(corners)
    P, N = pn_pairs(corners[labels > 0], corners[labels < 0], 200, rng)
    before = oracle.queries
    nearer = pairs_inside(oracle, P, N)
    assert oracle.queries == before + 2 * 200 and oracle.inside(np.concatenate(nearer)).all()

    # both ends have moved by a tenth of the way, or none; labels are those that they were
    shares = [np.linalg.norm(b - a, axis=1) / np.linalg.norm((lower + upper) / 2 - a, axis=1)
              for a, b in zip((P, N), nearer, strict=True)]
    moved = shares[0] > 0
    np.testing.assert_allclose(shares, [0.1 * moved] * 2, atol=1e-12)
    assert moved.any() and (oracle(nearer[0]) > 0).all() and (oracle(nearer[1]) < 0).all()
    kept = (oracle(0.9 * P + 0.05 * (lower + upper)) > 0) & (
        oracle(0.9 * N + 0.05 * (lower + upper)) < 0)
    np.testing.assert_array_equal(moved, kept)

    # without bounds, nothing
    free = Oracle(lambda X: X @ n > 0, 6, positive=True)
    assert pairs_inside(free, P, N)[0] is P and free.queries == 0
