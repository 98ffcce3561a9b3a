"""The bordered system of a margin set, against matrices that numpy inverts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decon.bordered import Bordered


def _problem(seed, n=8):
    rng = np.random.default_rng(seed)
    t = rng.choice([-1.0, 1.0], n)
    X = rng.standard_normal((n, n + 2))
    return t, (X @ X.T) * np.outer(t, t)


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
    assert len(system) == len(S)
    truth = np.block([[np.zeros((1, 1)), t[None, S]], [t[S, None], Q[np.ix_(S, S)]]])
    np.testing.assert_array_equal(system.matrix, truth)
    if S:
        right = np.random.default_rng(seed).standard_normal(len(truth))
        np.testing.assert_allclose(truth @ system.solve(right), right, atol=1e-10)
        np.testing.assert_allclose(system.inverse, np.linalg.inv(truth), atol=1e-5)


def test_set_up_at_once_is_the_same_as_one_by_one():
    t, Q = _problem(3)
    system = Bordered()
    for k in range(len(t)):
        system.enter(np.r_[t[k], Q[:k, k]], Q[k, k])
    np.testing.assert_allclose(Bordered(t, Q).inverse, system.inverse, atol=1e-9)


def test_a_dependent_example_does_not_enter():
    t, Q = _problem(5)
    system = Bordered(t, Q)
    before = system.matrix.copy()
    assert not system.enter(np.r_[t[0], Q[:, 0]], Q[0, 0], 1e-10)  # a copy of the first
    np.testing.assert_array_equal(system.matrix, before)


def test_an_inverse_that_has_drifted_is_computed_afresh():
    t, Q = _problem(7)
    system, right = Bordered(t, Q), np.arange(9.0)
    system.inverse = system.inverse + 0.5
    np.testing.assert_allclose(system.matrix @ system.solve(right), right, atol=1e-10)
    np.testing.assert_allclose(system.inverse, np.linalg.inv(system.matrix), atol=1e-9)


def test_who_is_needed_cannot_leave():
    system = Bordered(np.array([1.0, 1.0, -1.0]), np.zeros((3, 3)))
    system.inverse = np.zeros((4, 4))
    with pytest.raises(ArithmeticError, match="singular"):
        system.leave(0)
    assert len(system) == 3
