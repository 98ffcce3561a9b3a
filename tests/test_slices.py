"""Slices of quadratic boxes against what is inside them."""

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Oracle, Polynomial
from decon.bracketing import boundary_points, pn_pairs
from decon.slices import Slice
from decon.subspace import principal_cosines

D, M = 12, 5


def start(kernel, seed, d=D, m=M):
    machine = KernelMachine.random(kernel, d, m, seed)
    oracle = Oracle(machine.predict, d, positive=1)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, d))
    labels = machine.predict(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], 1, rng)
    x, _ = boundary_points(oracle, P, N, 1e-13)
    return machine, Slice(oracle, x[0], P[0], N[0], 3.0, 1.0, rng)


@pytest.mark.parametrize("seed", range(5))
def test_a_slice_shows_the_machine_in_it(seed):
    machine, plane = start(Polynomial(2), seed)
    for s in (2, 3, 4, 6, 9, D):
        plane.grow(s, int(1.1 * (s + 1) * (s + 2) / 2) + 15, 1.0)
        np.testing.assert_allclose(plane.P.T @ plane.P, np.eye(s), atol=1e-12)
        f = machine.decision_function(plane.points)
        assert np.abs(f / np.linalg.norm(machine.gradient(plane.points), axis=1)).max() < 1e-10
        seen = plane.read()
        assert seen.rank == min(s, M) and seen.clear and seen.residual < 0.5
        z = np.random.default_rng(seed).standard_normal((100, s))
        t = np.c_[z @ seen.U, np.ones(100)]
        q = np.einsum("ij,jk,ik->i", t, seen.A, t)
        f = machine.decision_function(plane.x0 + z @ plane.P.T)
        np.testing.assert_allclose(q * (f @ q) / (q @ q), f, atol=1e-6 * np.abs(f).max())


@pytest.mark.parametrize("s", [M + 1, M + 3])
@pytest.mark.parametrize("seed", range(5))
def test_what_a_slice_shows_is_completed(s, seed):
    machine, plane = start(Polynomial(2), seed)
    plane.grow(s, int(1.1 * (s + 1) * (s + 2) / 2) + 15, 1.0)
    seen = plane.read()
    T = plane.extend(seen)
    np.testing.assert_allclose(plane.P.T @ T, seen.U, atol=1e-6)
    assert principal_cosines(T, machine.support_vectors.T).min() > 1 - 1e-12
    x = np.random.default_rng(seed).standard_normal((100, D))
    t = np.c_[(x - plane.x0) @ T, np.ones(100)]
    q = np.einsum("ij,jk,ik->i", t, seen.A, t)
    f = machine.decision_function(x)
    np.testing.assert_allclose(q * (f @ q) / (q @ q), f, atol=1e-6 * np.abs(f).max())


def test_what_a_slice_misses_is_not_completed():
    machine, plane = start(Polynomial(2), 0)
    plane.grow(M, 60, 1.0)
    seen = plane.read()
    seen.U, seen.A = seen.U[:, 1:], seen.A[1:, 1:]  # as if a direction had not been seen
    assert plane.extend(seen) is None


@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(4), Gaussian(3.0)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_other_kernels_leave_a_residual(kernel, seed):
    _, plane = start(kernel, seed)
    plane.grow(2, 21, 1.0)
    seen = plane.read()
    assert seen.residual > 1e3 and seen.distance > 1e-6


def test_more_points_are_added_to_those_there_are():
    _, plane = start(Polynomial(2), 0)
    plane.grow(2, 20, 1.0)
    before = plane.points
    plane.grow(4, 40, 3.0)
    assert plane.points.shape == (40, D)
    np.testing.assert_allclose(plane.points[:20], before, atol=1e-14)
