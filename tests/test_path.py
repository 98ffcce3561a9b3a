"""The path from event to event: every condition holds on the way, without any polish at the end."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Linear, Polynomial
from decon.learning import path
from decon.learning.bordered import LostPath
from decon.learning.optimum import ERROR, INACTIVE, MARGIN, REST
from decon.learning.qp import dual_optimum
from decon.learning.two_classes import TwoClassSVM

KERNELS = [Gaussian(1.0), Gaussian(2.0), Polynomial(2, gamma=0.3)]


def machine(seed, n=20, C=1.0, kernel=KERNELS[0], with_base=False):
    """A machine of n examples in general position, at its optimum."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = 1, -1
    base = KernelMachine.random(kernel, 3, 4, seed) if with_base else None
    return TwoClassSVM(kernel, C, base).fit(X, y)


def holds(svm, but=(), tolerance=1e-8):
    """Every condition for every example but some, from the definitions alone."""
    f = svm.kernel(svm.X, svm.X) @ (svm.a * svm.y) - svm.threshold
    if svm.base is not None:
        f += svm.base.decision_function(svm.X)
    g = svm.y * f - 1
    np.testing.assert_allclose(svm.g, g, atol=tolerance)
    assert abs(svm.a @ svm.y) < tolerance
    for i in set(range(len(svm.y))) - set(but):
        if svm.part[i] == MARGIN:
            assert abs(g[i]) < tolerance and -tolerance < svm.a[i] < svm.bounds[i] + tolerance
        elif svm.part[i] == ERROR:
            assert g[i] < tolerance and svm.a[i] == svm.bounds[i]
        elif svm.part[i] == REST:
            assert g[i] > -tolerance and svm.a[i] == 0
    assert sorted(svm.margin) == np.flatnonzero(svm.part == MARGIN).tolist()
    S = svm.margin
    truth = np.block([[np.zeros((1, 1)), svm.y[None, S]], [svm.y[S, None], svm.Q[np.ix_(S, S)]]])
    np.testing.assert_array_equal(svm.system.matrix, truth)


def best(svm, rows):
    """The multipliers of some of the examples, computed afresh."""
    a = np.zeros(len(svm.y))
    p = 1 - svm.y * svm.f0
    a[rows] = dual_optimum(svm.Q[np.ix_(rows, rows)], svm.y[rows], p[rows], svm.bounds[rows])
    return a


def walked(svm, events, but=()):
    """Follow a path, the conditions holding at every event; how many there were."""
    count = 0
    for length in events:
        assert length >= 0
        holds(svm, but)
        count += 1
    holds(svm)
    return count


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.3, 1.0, 10.0])
def test_learning_keeps_all_conditions_but_one(kernel, C, with_base):
    events = 0
    for seed in range(5):
        svm = machine(seed, 20, C, kernel, with_base)
        for x in np.random.default_rng(seed + 100).standard_normal((4, 3)):
            label = 1 if svm.machine().decision_function(x[None])[0] < 0 else -1  # a surprise
            svm.add(x[None], np.array([label]))
            c = len(svm.y) - 1
            events += walked(svm, path.grow(svm, c), but=[c])
            np.testing.assert_allclose(svm.a, best(svm, np.arange(c + 1)), atol=1e-7 * C)
    assert events > 20


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.3, 1.0, 10.0])
def test_unlearning_keeps_all_conditions_but_one(kernel, C, with_base):
    for seed in range(5):
        svm = machine(seed, 20, C, kernel, with_base)
        rows = set(range(20))
        for c in np.random.default_rng(seed).permutation(20)[:6].tolist():
            rows -= {c}
            walked(svm, path.shrink(svm, c), but=[c])
            assert svm.part[c] == INACTIVE and svm.a[c] == 0
            np.testing.assert_allclose(svm.a, best(svm, np.array(sorted(rows))), atol=1e-7 * C)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("C", [0.1, 0.5, 3.0, 50.0])
def test_all_conditions_hold_while_C_moves(kernel, C):
    for seed in range(5):
        svm = machine(seed, 20, 1.0, kernel, with_base=seed % 2 == 1)
        before = svm.C
        for _ in path.move_C(svm, C):
            assert abs(svm.C - C) <= abs(before - C)
            before = svm.C
            holds(svm)
        assert svm.C == C
        holds(svm)
        np.testing.assert_allclose(svm.a, best(svm, np.arange(20)), atol=1e-7 * C)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_between_events_all_move_on_straight_lines(seed):
    svm = machine(seed)
    c = int(np.argmax(svm.a))
    points = [np.append(svm.a, svm.threshold)]
    lengths = []
    for length in path.shrink(svm, c):
        points.append(np.append(svm.a, svm.threshold))
        lengths.append(length)
    own = [before[c] - after[c] for before, after in pairwise(points)]
    np.testing.assert_allclose(own, lengths, atol=1e-12)  # as long as there is a margin


def test_the_direction_keeps_the_margin_and_the_balance():
    svm = machine(3)
    c = int(np.flatnonzero(svm.part == ERROR)[0])
    S, step = svm.margin, 1e-6
    rates, slopes = path.direction(svm, svm.y[c], svm.Q[c], svm.Q[c, c])
    a = svm.a.copy()
    a[S] += step * rates[1:]
    a[c] += step
    assert abs(a @ svm.y) < 1e-12
    g = svm.Q @ a + svm.y * (svm.f0 - (svm.threshold - step * rates[0])) - 1
    np.testing.assert_allclose((g - svm.exact_g()) / step, slopes, atol=1e-6)
    assert (slopes[S] == 0).all() and slopes[c] > 0


def test_slopes_that_are_rounding_are_zero():
    svm = machine(3, kernel=Linear(), C=0.1)
    rates, slopes = path.direction(svm, 0.0, np.full(20, 1e-14), 1.0)
    assert (slopes == 0).all()
    _, slopes = path.direction(svm, 0.0, np.full(20, 1e-6), 1.0)
    outside = np.delete(np.arange(20), svm.margin)
    assert (slopes[outside] != 0).any()


def test_the_distances_to_the_events_by_hand():
    svm = machine(0, 6, C=2.0)
    svm.part = np.array([MARGIN, MARGIN, ERROR, ERROR, REST, INACTIVE])
    svm.margin = [0, 1]
    svm.a = np.array([0.5, 1.5, 2.0, 2.0, 0.0, 0.0])
    svm.g = np.array([0.0, 0.0, -1.0, -1.0, 3.0, -1.0])
    slopes = np.array([0.0, 0.0, 2.0, -2.0, -4.0, 1.0])
    inf = np.inf
    for rates, drift, expected in (
            ([9.0, -1.0, 0.25], 0.0, [0.5, 2.0, 0.5, inf, 0.75, inf]),
            ([9.0, 1.0, -0.25], 0.0, [1.5, 6.0, 0.5, inf, 0.75, inf]),
            ([9.0, 0.0, 0.5], 1.0, [inf, inf, 0.5, inf, 0.75, inf]),  # C runs away from both
            ([9.0, 2.0, 0.5], 1.0, [1.5, inf, 0.5, inf, 0.75, inf]),
            ([9.0, 0.0, -0.5], -1.0, [1.5, 1.0, 0.5, inf, 0.75, inf])):  # C comes down on both
        found = path.distances(svm, np.array(rates), slopes, drift)
        np.testing.assert_allclose(found, expected)
    found = path.distances(svm, np.zeros(3), -slopes, 0.0)
    np.testing.assert_allclose(found, [inf, inf, inf, 0.5, inf, inf])
    svm.g[2], svm.g[4] = 1e-15, -1e-15  # what is past its event by rounding is at it
    assert (path.distances(svm, np.zeros(3), slopes, 0.0)[[2, 4]] == 0).all()


def test_the_nearest_event_or_the_limit():
    rates, slopes = np.array([2.0, 1.0]), np.arange(4.0)
    for room, limit, length, first in (([3.0, 0.5, 9.0, 0.5], 1.0, 0.5, 1),
                                       ([3.0, 3.0, 3.0, 3.0], 1.0, 1.0, None),
                                       ([3.0, 1.0, 3.0, 3.0], 1.0, 1.0, None)):
        svm = machine(1, 4)
        svm.margin = [2]
        a, g, threshold = svm.a.copy(), svm.g.copy(), svm.threshold
        assert path.advance(svm, rates, slopes, np.array(room), limit) == (length, first)
        np.testing.assert_allclose(svm.a - a, [0, 0, length, 0], atol=1e-15)
        np.testing.assert_allclose(svm.g - g, length * slopes, atol=1e-15)
        assert threshold - svm.threshold == pytest.approx(2 * length)
    with pytest.raises(LostPath, match="nothing stops"):
        path.advance(svm, rates, slopes, np.full(4, np.inf), np.inf)


def twins():
    """Two equal examples of the three on the margin: the second twin cannot enter beside it."""
    svm = TwoClassSVM(Linear(), 10.0).fit([[0.0], [2.0]], [-1, 1])
    svm.add(np.array([[2.0]]), np.array([1]))
    return svm


def test_a_twin_takes_the_place_of_the_other():
    svm = twins()
    svm.a[2] = 0.2
    svm.a[1] = 0.3
    path.enter_margin(svm, 2)
    np.testing.assert_allclose(svm.a, [0.5, 0.0, 0.5], atol=1e-12)
    assert svm.part.tolist() == [MARGIN, REST, MARGIN] and svm.margin == [0, 2]
    holds(svm)


def test_an_exchange_stops_at_the_first_bound():
    for C, a, expected, parts, entered in (
            (0.5, [0.5, 0.5, 0.1], [0.5, 0.1, 0.5], [MARGIN, MARGIN, ERROR], False),  # it gets full
            (10.0, [0.5, 0.1, 9.5], [0.5, 9.6, 0.0], [MARGIN, MARGIN, REST], False),  # or empty
            (10.0, [0.5, 9.9, 9.5], [0.5, 10.0, 9.4], [MARGIN, ERROR, REST], True)):  # or the other
        svm = twins()
        svm.C, svm.a = C, np.array(a)
        assert path.exchange(svm, 2) == entered
        np.testing.assert_allclose(svm.a, expected, atol=1e-12)
        assert svm.part.tolist() == parts


@pytest.mark.parametrize("C", [0.3, 0.4, 10.0])
def test_learning_twins(C):
    svm = TwoClassSVM(Linear(), C).fit([[0.0], [2.0]], [-1, 1])
    for x in (2.0, 2.0, 0.0):
        svm.learn([x], 1.0 if x else -1.0)
        assert svm.kkt_residual < 1e-12
    total = min(2 * C, 0.5)  # the optimum of the two places
    np.testing.assert_allclose([svm.a[svm.y > 0].sum(), svm.a[svm.y < 0].sum()], total, atol=1e-12)


def test_a_path_that_gets_lost_ends_at_the_optimum_all_the_same(monkeypatch):
    def nowhere(optimum, argument):
        raise LostPath("lost")
        yield

    def for_ever(optimum, argument):
        while True:
            yield 0.0

    def dusty(optimum, c):
        optimum.a[optimum.margin[0]] = 1e-16
        yield 0.0

    def wrong(optimum, c):
        optimum.a[optimum.part == REST] = 0.1
        yield 0.0

    for lost in (nowhere, for_ever, dusty, wrong):
        svm = machine(2)
        a, restarts = svm.a.copy(), svm.restarts
        path.follow_path(svm, lost, 0)
        assert svm.restarts == restarts + 1 and svm.kkt_residual < 1e-12
        np.testing.assert_allclose(svm.a, a, atol=1e-9)
    svm, fresh = machine(2), machine(2, C=5.0)
    monkeypatch.setattr(path, "move_C", nowhere)
    path.follow_path(svm, path.move_C, 5.0)
    np.testing.assert_allclose(svm.a, fresh.a, atol=1e-9)
    assert svm.C == 5.0


def test_what_changes_nothing_costs_nothing():
    svm = machine(4)
    a, g, threshold, restarts = svm.a.copy(), svm.g, svm.threshold, svm.restarts
    c = int(np.flatnonzero(svm.part == REST)[0])
    svm.deactivate(c)
    assert svm.g is g and svm.threshold == threshold and svm.restarts == restarts
    np.testing.assert_array_equal(svm.a, a)
    assert svm.part[c] == INACTIVE


def test_an_error_on_the_way_is_an_error(monkeypatch):
    def broken(optimum, argument):
        raise ZeroDivisionError("a bug")
        yield

    svm = TwoClassSVM(Linear(), 10.0).fit([[0.0], [2.0]], [-1, 1])
    with pytest.raises(ZeroDivisionError, match="a bug"):
        path.follow_path(svm, broken, 0)
