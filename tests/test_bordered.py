"""The bordered system of a margin set, against matrices that numpy inverts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decon.learning.bordered import Bordered, LostPath


def _problem(seed, n=8):
    rng = np.random.default_rng(seed)
    t = rng.choice([-1.0, 1.0], n)
    X = rng.standard_normal((n, n + 2))
    return t, (X @ X.T) * np.outer(t, t)


def _matrix(t, Q, S):
    return np.block([[np.zeros((1, 1)), t[None, S]], [t[S, None], Q[np.ix_(S, S)]]])


@given(st.integers(0, 10**6), st.lists(st.integers(0, 7), max_size=30))
def test_any_coming_and_going_leaves_the_inverse_of_the_matrix(seed, visits):
    t, Q = _problem(seed)
    system, S = Bordered(), []
    for k in visits:
        if k in S:
            system.leave(S.index(k))
            S.remove(k)
        else:
            assert system.enter(np.r_[t[k], Q[S, k]], Q[k, k])
            S.append(k)
        # after every single change, before `solve` could compute the inverse afresh
        truth = _matrix(t, Q, S)
        np.testing.assert_array_equal(system.matrix, truth)
        if S:
            fresh = np.linalg.inv(truth)
            np.testing.assert_allclose(system.inverse, fresh, atol=1e-6 * np.abs(fresh).max())
    assert len(system) == len(S)
    if S:
        right = np.random.default_rng(seed).standard_normal(len(truth))
        np.testing.assert_allclose(truth @ system.solve(right), right, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_updates_alone_keep_the_inverse(seed, monkeypatch):
    """Entering solves a system, so the inverse must be right without being computed afresh."""
    t, Q = _problem(seed)
    system, S = Bordered(), list(range(8))
    monkeypatch.setattr(Bordered, "_pseudo_inverse", lambda system: pytest.fail("computed afresh"))
    for k in S:
        assert system.enter(np.r_[t[k], Q[:k, k]], Q[k, k])
    np.testing.assert_allclose(system.inverse @ _matrix(t, Q, S), np.eye(9), atol=1e-8)
    for j in (3, 0, 5, 1):
        system.leave(j)
        S.pop(j)
        size = len(S) + 1
        np.testing.assert_allclose(system.inverse @ _matrix(t, Q, S), np.eye(size), atol=1e-8)


def test_set_up_at_once_is_the_same_as_one_by_one():
    t, Q = _problem(3)
    system = Bordered()
    for k in range(len(t)):
        system.enter(np.r_[t[k], Q[:k, k]], Q[k, k])
    np.testing.assert_allclose(Bordered(t, Q).inverse, system.inverse, atol=1e-9)


def test_a_dependent_example_does_not_enter():
    t, Q = _problem(5)
    system = Bordered(t, Q)
    before, inverse = system.matrix.copy(), system.inverse.copy()
    assert not system.enter(np.r_[t[0], Q[:, 0]], Q[0, 0], 1e-10)  # a copy of the first
    np.testing.assert_array_equal(system.matrix, before)
    np.testing.assert_array_equal(system.inverse, inverse)


def test_the_pivot_is_the_squared_distance_from_the_affine_hull():
    t, Q = np.ones(2), np.outer([1.0, 3.0], [1.0, 3.0])  # the points (1, 0) and (3, 0)
    border, corner = np.array([1.0, 2.0, 6.0]), 4.25  # (2, 1/2), at 1/2 from the line through them
    for smallest, enters in ((0.25 + 1e-9, False), (0.25 - 1e-9, True)):
        assert Bordered(t, Q).enter(border, corner, smallest) == enters


def test_a_pivot_of_zero_does_not_enter():
    system = Bordered()
    system.enter(np.array([1.0]), 4.0)
    assert not system.enter(np.array([1.0, 4.0]), 4.0)  # twins: exactly zero


def test_an_inverse_that_has_drifted_is_computed_afresh():
    t, Q = _problem(7)
    system, right = Bordered(t, Q), np.arange(9.0)
    system.inverse = system.inverse + 0.5
    np.testing.assert_allclose(system.matrix @ system.solve(right), right, atol=1e-10)
    np.testing.assert_allclose(system.inverse, np.linalg.inv(system.matrix), atol=1e-9)


def test_an_inverse_that_is_nearly_right_is_refined(monkeypatch):
    t, Q = _problem(8)
    system = Bordered(t, Q)
    system.inverse = system.inverse * (1 + 1e-5)  # every refinement gains five digits
    monkeypatch.setattr(Bordered, "_pseudo_inverse", lambda system: pytest.fail("computed afresh"))
    for size in (1e-6, 1.0, 1e6):  # what is accurate is relative to the right-hand side
        right = size * np.arange(9.0)
        np.testing.assert_allclose(system.matrix @ system.solve(right), right, atol=1e-10 * size)


def test_after_three_refinements_the_inverse_is_computed_afresh():
    t, Q = _problem(8)
    for drift, times in ((3e-4, 0), (1e-5, 1)):  # three refinements are too few; two are enough
        system, right = Bordered(t, Q), np.arange(9.0)
        fresh = system.inverse
        system.inverse = fresh * (1 + drift)
        np.testing.assert_allclose(system.matrix @ system.solve(right), right, atol=1e-10)
        np.testing.assert_allclose(system.inverse, fresh * (1 + times * drift), rtol=1e-8)


def test_a_singular_system_is_solved_by_least_squares():
    system = Bordered(np.array([1.0, 1.0]), np.ones((2, 2)))  # twins share what one would have
    np.testing.assert_allclose(system.solve(np.array([1.0, 1.0, 1.0])), [0.0, 0.5, 0.5], atol=1e-9)
    away = np.array([1.0, 1.0, 3.0])  # the two equations contradict each other
    np.testing.assert_allclose(system.solve(away), [1.0, 0.5, 0.5], atol=1e-9)


def test_who_is_needed_cannot_leave():
    system = Bordered(np.array([1.0, 1.0, -1.0]), np.zeros((3, 3)))
    system.inverse = np.zeros((4, 4))
    with pytest.raises(LostPath, match="singular"):
        system.leave(0)
    assert len(system) == 3


def test_the_last_one_may_leave():
    system = Bordered(np.array([1.0]), np.array([[2.0]]))
    system.leave(0)
    assert len(system) == 0 and (system.inverse == 0).all()
    assert system.enter(np.array([-1.0]), 3.0)
    np.testing.assert_array_equal(system.matrix, [[0.0, -1.0], [-1.0, 3.0]])
    np.testing.assert_allclose(system.inverse @ system.matrix, np.eye(2))


def test_nobody_on_the_margin():
    system = Bordered()
    assert len(system) == 0 and system.inverse.shape == system.matrix.shape == (1, 1)
    np.testing.assert_array_equal(system.solve(np.array([0.0])), [0.0])
    np.testing.assert_array_equal(system.solve(np.array([3.0])), [0.0])  # nothing can balance it
