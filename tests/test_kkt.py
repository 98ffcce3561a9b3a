"""The optimality conditions, against the textbook's table of cases and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decon import Gaussian
from decon.learning.kkt import (
    distances_to_bounds,
    kkt_residuals,
    threshold_bounds,
    threshold_interval,
    violating_pair,
    violations,
)

RESIDUALS = ["a >= 0", "a <= C", "sum a t = 0", "a (t f - 1 + xi) = 0", "mu xi = 0"]


def drawn(seed, n=12, C=2.0):
    """Labels, multipliers (some at 0, some at C), and any numbers v."""
    rng = np.random.default_rng(seed)
    t, a = rng.choice([-1.0, 1.0], n), rng.uniform(-2, 4, n).clip(0, C)
    return t, a, rng.standard_normal(n)


@pytest.mark.parametrize("a, g, violated", [
    (0.0, 0.5, False), (0.0, 0.0, False), (0.0, -0.5, True),      # g >= 0 at 0
    (1.0, 0.5, True), (1.0, 0.0, False), (1.0, -0.5, True),       # g = 0 between
    (2.0, 0.5, True), (2.0, 0.0, False), (2.0, -0.5, False)])     # g <= 0 at C
def test_the_three_cases(a, g, violated):
    wrong, = violations(np.array([g]), np.array([a]), 2.0)
    assert wrong == (abs(g) if violated else -abs(g))


@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_the_bounds_say_of_the_threshold_what_the_cases_say_of_g(seed, b):
    t, a, v = drawn(seed)
    lower, upper = threshold_bounds(v, t, a, 2.0)
    np.testing.assert_array_equal(np.maximum(lower - b, b - upper), violations(t * (v - b), a, 2.0))


@pytest.mark.parametrize("t, a, lower, upper", [
    (1.0, 0.0, -np.inf, 3.0), (1.0, 1.0, 3.0, 3.0), (1.0, 2.0, 3.0, np.inf),
    (-1.0, 0.0, 3.0, np.inf), (-1.0, 1.0, 3.0, 3.0), (-1.0, 2.0, -np.inf, 3.0)])
def test_which_way_an_example_bounds_the_threshold(t, a, lower, upper):
    found = threshold_bounds(np.array([3.0]), np.array([t]), np.array([a]), 2.0)
    np.testing.assert_array_equal(np.concatenate(found), [lower, upper])


@given(st.integers(0, 10**6))
def test_the_pair_that_contradicts_most(seed):
    t, a, v = drawn(seed)
    lower, upper = threshold_bounds(v, t, a, 2.0)
    gap, i, j = violating_pair(lower, upper)
    assert gap == max(lo - up for lo in lower for up in upper) == lower[j] - upper[i]


@pytest.mark.parametrize("rate, drift, expected", [
    (0.5, 0.0, 3.0), (-0.5, 0.0, 1.0), (0.0, 0.0, np.inf),      # a = 0.5, C = 2
    (0.5, 0.5, np.inf), (0.5, 0.25, 6.0), (0.0, -1.0, 1.5),     # C itself moves
    (-0.5, -1.0, 1.0), (-0.5, -3.0, 0.6), (1e-320, 0.0, np.inf)])
def test_how_far_it_is_to_a_bound(rate, drift, expected):
    found = distances_to_bounds(np.array([0.5]), np.array([rate]), 2.0, drift)
    np.testing.assert_allclose(found, [expected])
    assert drift or distances_to_bounds(np.array([0.5]), np.array([abs(rate)]), np.inf) == np.inf


def test_nobody_bounds_the_threshold():
    t, a = np.ones(3), np.zeros(3)  # of one label: any high threshold is bounded, no low one is
    assert violating_pair(*threshold_bounds(np.arange(3.0), t, a, 1.0))[0] == -np.inf


def test_the_interval_of_a_small_machine():
    K, t = np.outer([0.0, 3.0], [0.0, 3.0]), np.array([-1.0, 1.0])
    a = np.array([0.1, 0.1])  # both at C = 0.1: f = 0.3 x - b
    assert threshold_interval(K, t, a, 0.1) == pytest.approx((-0.1, 1.0))
    assert threshold_interval(K, t, a, 1.0) == pytest.approx((1.0, -0.1))  # they could still grow
    assert threshold_interval(K, t, a) == pytest.approx((1.0, -0.1))
    lower, upper = threshold_interval(K, t, np.array([2 / 9, 2 / 9]))
    assert lower == pytest.approx(1.0) and upper == pytest.approx(1.0)


@pytest.mark.parametrize("name, change", [
    ("a >= 0", dict(a=[-0.5, -0.5])), ("a <= C", dict(C=0.25)),
    ("sum a t = 0", dict(a=[0.5, 0.25])),
    ("a (t f - 1 + xi) = 0", dict(b=1.5)), ("mu xi = 0", dict(b=1.5))])
def test_every_residual_says_what_is_violated(name, change):
    right = dict(K=[[0.0, 0.0], [0.0, 4.0]], t=[-1, 1], a=[0.5, 0.5], b=1.0, C=1.0)
    assert kkt_residuals(**right) == pytest.approx(dict.fromkeys(RESIDUALS, 0.0))
    assert kkt_residuals(**right | change)[name] > 0.2


def test_the_residuals_by_hand():
    K, t, a, b = [[0.0, 0.0], [0.0, 4.0]], [-1, 1], [0.5, 0.25], 0.75
    # f = (-0.75, 0.25), t f = (0.75, 0.25), xi = (0.25, 0.75)
    assert kkt_residuals(K, t, a, b, C=0.4) == pytest.approx(dict(zip(
        RESIDUALS, [0.0, 0.1, 0.25, 0.0, 0.15 * 0.75], strict=True)))
    assert kkt_residuals(K, t, a, b - 0.5, C=1.0)["a (t f - 1 + xi) = 0"] == 0  # xi makes up for it
    # b = 2: f = (-2, -1), t f = (2, -1), xi = (0, 2)
    assert kkt_residuals(K, t, a, 2.0, C=1.0) == pytest.approx(dict(zip(
        RESIDUALS, [0.0, 0.0, 0.25, 0.5, 1.5], strict=True)))
    hard = kkt_residuals(K, t, a, 2.0)
    assert hard["xi = 0"] == 2.0 and "mu xi = 0" not in hard


@given(st.integers(0, 10**6), st.floats(-2, 2))
def test_with_and_without_slacks_the_conditions_are_the_same(seed, b):
    t, a, _ = drawn(seed)
    X = np.random.default_rng(seed).standard_normal((12, 2))
    K = Gaussian(1.0)(X, X)
    g = t * (K @ (a * t) - b) - 1
    residuals = kkt_residuals(K, t, a, b, 2.0)
    too_wide, too_narrow = a * np.maximum(g, 0), (2.0 - a) * np.maximum(-g, 0)
    assert residuals["a (t f - 1 + xi) = 0"] == pytest.approx(too_wide.max())
    assert residuals["mu xi = 0"] == pytest.approx(too_narrow.max())
    wrong = violations(g, a, 2.0)
    np.testing.assert_array_equal(wrong > 0, (too_wide > 0) | (too_narrow > 0))
