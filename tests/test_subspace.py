"""The kernel subspace against the span of the support vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.normals import slope_normals
from decon.subspace import (
    alternate,
    corrected_span,
    crosses_straight,
    largest_gap,
    log_det,
    nuclear_norm,
    principal_cosines,
    sharpen,
    span_of_normals,
)
from tests.test_normals import on_boundary


@given(seed=st.integers(0, 10**6), d=st.integers(2, 12), k=st.integers(1, 5), m=st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_principal_cosines_are_scipys(seed, d, k, m):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((d, min(k, d))), rng.standard_normal((d, min(m, d)))
    cosines = principal_cosines(A, B)
    np.testing.assert_allclose(cosines, np.cos(subspace_angles(A, B))[::-1], atol=1e-7)
    assert (cosines <= 1).all()


def test_largest_gap():
    assert largest_gap([5.0, 4.0, 1e-7, 1e-8]) == 2
    assert largest_gap([5.0]) == 1
    assert largest_gap([1.0, 0.0, 0.0]) == 1
    assert largest_gap([1.0, 1e-17, 1e-40]) == 1  # below rounding, ratios mean nothing


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3), Tanh(1.0, 0.2)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_normals_span_the_support_vectors_and_sharpening_sharpens(kernel, seed):
    m = 5
    machine = KernelMachine.random(kernel, 20, m, seed)
    truth = np.linalg.qr(machine.support_vectors.T)[0]
    oracle, X, V, _ = on_boundary(machine, 12, seed)
    N = slope_normals(oracle, X, V, 1e-5, 1e-11)
    good = np.isfinite(N).all(1)
    X, V, N = X[good], V[good], N[good]
    basis, values = span_of_normals(N)
    assert basis.shape == (20, m) and values[m - 1] > 20 * values[m]

    def error(basis):
        return np.linalg.norm(truth - basis @ (basis.T @ truth), 2)

    sharp = sharpen(oracle, X, V, N, basis, 0.01, 1e-9)
    sharp = sharpen(oracle, X, V, N, sharp, 1.0, 1e-12)
    np.testing.assert_allclose(sharp.T @ sharp, np.eye(m), atol=1e-12)
    assert error(sharp) < 1e-7 and error(sharp) < 0.05 * error(basis)
    assert crosses_straight(oracle, X, V, sharp, 1.0, 1e-8, seed).all()
    missing = sharp[:, :-1]
    assert not crosses_straight(oracle, X, V, missing, 1.0, 1e-8, seed).all()


def test_a_linear_machine_shows_one_direction():
    oracle, X, V, truth = on_boundary(KernelMachine.random(Linear(), 20, 5, 0), 6, 0)
    basis, _ = span_of_normals(slope_normals(oracle, X, V, 1e-5, 1e-11))
    assert basis.shape == (20, 1)
    assert abs(basis[:, 0] @ truth[0]) == pytest.approx(1, abs=1e-9)


def test_dependent_support_vectors_count_by_their_rank():
    machine = KernelMachine.random(Polynomial(2), 20, 5, 0)
    Y = machine.support_vectors.copy()
    Y[4] = Y[0] + Y[1]
    machine = KernelMachine(machine.kernel, Y, machine.weights, machine.threshold)
    oracle, X, V, _ = on_boundary(machine, 10, 0)
    N = slope_normals(oracle, X, V, 1e-5, 1e-11)
    assert span_of_normals(N[np.isfinite(N).all(1)])[0].shape == (20, 4)


def test_a_full_basis_needs_no_sharpening():
    oracle = Oracle(lambda X: X[:, 0] > 0, 2)
    basis = sharpen(oracle, np.zeros((2, 2)), np.eye(2), np.eye(2), np.eye(2), 1.0, 1e-9)
    np.testing.assert_array_equal(basis, np.eye(2))
    assert oracle.queries == 0


def test_nan_normals_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        span_of_normals([[1.0, np.nan]])


def type_b_normals(seed, n, m=5, d=14, noise=0.0):
    machine = KernelMachine.random(Gaussian(1.0), d, m, seed)
    oracle, X, _, N = on_boundary(machine, n, seed)
    rng = np.random.default_rng(seed)
    return machine.support_vectors.T, X, N + noise * rng.standard_normal(N.shape)


@pytest.mark.parametrize("seed", range(5))
def test_log_det_finds_the_dimension_and_the_span(seed):
    Y, X, N = type_b_normals(seed, 20, noise=1e-9)
    assert span_of_normals(N)[1][5] > 1e-2  # the normals themselves show no gap
    basis, values = corrected_span(N, X, log_det(N, X))
    assert basis.shape == (14, 5) and values[4] > 100 * values[5]
    assert principal_cosines(basis, Y).min() > 1 - 1e-8
    scaled, _ = corrected_span(N, 1000 * X, log_det(N, 1000 * X))  # units do not matter
    assert principal_cosines(scaled, Y).min() > 1 - 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_the_nuclear_norm_and_its_refinement(seed):
    Y, X, N = type_b_normals(seed, 40)
    gamma = nuclear_norm(N, X)
    rough, _ = corrected_span(N, X, gamma, rank=5)
    fine, _ = corrected_span(N, X, alternate(N, X, gamma, 5), rank=5)
    assert principal_cosines(rough, Y).min() > 0.99
    assert principal_cosines(fine, Y).min() > 1 - 1e-9
    norm = lambda gamma: np.linalg.svd(N - gamma[:, None] * X)[1].sum()  # noqa: E731
    rng = np.random.default_rng(seed)  # no other gamma nearby has a smaller nuclear norm
    for _ in range(50):
        assert norm(gamma) < norm(gamma + 0.01 * rng.standard_normal(40)) + 1e-4


def test_a_linear_machine_needs_no_correction():
    oracle, X, _, N = on_boundary(KernelMachine.random(Linear(), 10, 3, 0), 12, 0)
    basis, _ = corrected_span(N, X, np.zeros(12))
    assert basis.shape == (10, 1)
