"""Boundary points that a polynomial through the first of them predicts."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.families import predicted
from decon.families.predicted import points_of_polynomial

WIDTH = 1e-11


def pairs(machine, basis, x0, n, seed):
    """PN-pairs in an affine subspace."""
    rng = np.random.default_rng(seed)
    X = x0 + 2 * rng.standard_normal((400, basis.shape[1])) @ basis.T
    labels = machine.predict(X)
    P, N = X[labels > 0], X[labels < 0]
    return P[rng.integers(len(P), size=n)], N[rng.integers(len(N), size=n)]


def setting(kernel, s, n, seed, d=7, m=4):
    """A machine, a subspace through a point of its boundary, and pairs in it."""
    rng = np.random.default_rng(seed)
    machine = KernelMachine.random(kernel, d, m, seed)
    X = 2 * rng.standard_normal((400, d))
    labels = machine.predict(X)
    own = Oracle(machine.predict, d, positive=1)
    x0, v0 = boundary_points(own, X[labels > 0][:1], X[labels < 0][:1], 1e-13)
    basis = np.linalg.qr(np.c_[v0.T, rng.standard_normal((d, s - 1))])[0]
    return machine, basis, *pairs(machine, basis, x0, n, seed)


def measured(machine, *rest, **options):
    """The points, their directions, and the queries that they cost."""
    oracle = Oracle(machine.predict, machine.dimension, positive=1, **options)
    X, V = points_of_polynomial(oracle, *rest)
    return X, V, oracle.queries


def off(machine, X, V):
    """Which points have no boundary within a width of them, along their directions?"""
    return ((machine.predict(X + WIDTH * V) < 0) | (machine.predict(X - WIDTH * V) > 0)).mean()


@pytest.mark.parametrize(("kernel", "degrees", "s"), [
    (Polynomial(2), (2,), 2), (Polynomial(2), (2, 3), 2), (Polynomial(2), (2,), 5),
    (Polynomial(3), (2, 3), 2), (Polynomial(3), (3,), 3)])
@pytest.mark.parametrize("seed", range(8))
def test_points_that_are_predicted_cost_a_few_queries(kernel, degrees, s, seed):
    n = comb(s + degrees[-1], degrees[-1]) + 25
    machine, basis, P, N = setting(kernel, s, n, seed)
    none = np.empty((0, 7))
    X, V, queries = measured(machine, P, N, basis, WIDTH, degrees, none, none)
    assert X.shape == V.shape == P.shape
    assert off(machine, X, V) <= 0.05
    np.testing.assert_allclose(V, (P - N) / np.linalg.norm(P - N, axis=1)[:, None])

    # on the segment of their pair
    t = ((X - N) * V).sum(1)
    np.testing.assert_allclose(X, N + t[:, None] * V, atol=1e-9)

    # the determining ones in full, the others for less than half as much
    *_, full = measured(machine, P, N, basis, WIDTH, (), none, none)
    determining = comb(s + degrees[-1], degrees[-1]) - 1
    assert queries < full * (determining + (n - determining) / 2 + 2) / n


@pytest.mark.parametrize("kernel", [Tanh(2.0, 0.3), Gaussian(1.5), Polynomial(5)])
@pytest.mark.parametrize("seed", range(4))
def test_where_no_polynomial_fits_all_points_are_bracketed(kernel, seed):
    machine, basis, P, N = setting(kernel, 2, 30, seed)
    none = np.empty((0, 7))
    X, V, queries = measured(machine, P, N, basis, WIDTH, (2, 3), none, none)
    expected, _, full = measured(machine, P, N, basis, WIDTH, (), none, none)
    assert off(machine, X, V) <= 0.05 and len(X) == 30
    assert queries < full + 200  # what two wrong predictions a degree cost

    # the same crossings, where a segment has only one
    assert (np.linalg.norm(X - expected, axis=1) < 3 * WIDTH).mean() > 0.5


@pytest.mark.parametrize("kernel, enough", [(Gaussian(1.5), 4), (Tanh(2.0, 0.3), 2),
                                            (Polynomial(5), 1)])  # some are nearly cubics
def test_points_need_not_be_complete(kernel, enough):
    few = 0
    for seed in range(4):
        machine, basis, P, N = setting(kernel, 2, 30, seed)
        none = np.empty((0, 7))
        X, V, queries = measured(machine, P, N, basis, WIDTH, (2, 3), none, none, False)
        *_, full = measured(machine, P, N, basis, WIDTH, (), none, none)
        assert off(machine, X, V) <= 0.1

        # two more than the nine that determine a cubic
        few += len(X) == 11
        assert len(X) > 11 or queries < full / 2
    assert few >= enough


@pytest.mark.parametrize("seed", range(4))
def test_known_points_count(seed):
    machine, basis, P, N = setting(Polynomial(2), 3, 40, seed)
    own = Oracle(machine.predict, 7, positive=1)
    known, V = boundary_points(own, P[:12], N[:12], WIDTH)
    V[0] = 0  # known without a bracket
    X, _, queries = measured(machine, P[12:], N[12:], basis, WIDTH, (2,), known, V)
    assert len(X) == 28
    assert queries < 28 * 20


def test_within_bounds_or_with_too_many_coefficients_nothing_is_predicted(monkeypatch):
    machine, basis, P, N = setting(Polynomial(2), 2, 20, 1)
    none = np.empty((0, 7))
    expected, _, full = measured(machine, P, N, basis, WIDTH, (), none, none)
    for options in ({"bounds": (-99.0, 99.0)}, {}):
        X, _, queries = measured(machine, P, N, basis, WIDTH, (2,), none, none, **options)
        assert queries == full
        np.testing.assert_array_equal(X, expected)
        few = replace(predicted.SETTINGS, most_predicted=3)
        monkeypatch.setattr(predicted, "SETTINGS", few)


@given(n=st.integers(0, 9), seed=st.integers(0, 20))
def test_few_pairs(n, seed):
    machine, basis, P, N = setting(Polynomial(2), 2, n, seed)
    none = np.empty((0, 7))
    X, V, _ = measured(machine, P, N, basis, WIDTH, (2, 3), none, none)
    assert X.shape == V.shape == (n, 7)
    assert off(machine, X, V) == 0 if n else True
