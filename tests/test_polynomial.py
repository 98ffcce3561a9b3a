"""Polynomials: null vectors against SVD, quasi-support vectors as an identity."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Polynomial
from decon.polynomial import (
    distance_to_zeros,
    evaluate,
    fit_polynomial,
    null_vector,
    quasi_support_vectors,
    relevant_directions,
)
from tests.test_normals import on_boundary


def values(A, Z):
    H = np.c_[Z, np.ones(len(Z))]
    return ((H @ A) * H).sum(1)


def matrix_of(machine):
    """A of a machine with kernel (x.y + 1)^2, in R^d."""
    H = np.c_[machine.support_vectors, np.ones(len(machine.weights))]
    A = (H.T * machine.weights) @ H
    A[-1, -1] -= machine.threshold
    return A


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), p=st.integers(2, 12))
@settings(deadline=None, max_examples=50)
def test_null_vector_is_the_last_singular_vector(seed, n, p):
    rows = np.random.default_rng(seed).standard_normal((max(n, p - 1), p))
    rows[:, 0] = rows[:, 1:].sum(1) * (1 + 1e-9 * (seed % 2))
    vector, sizes = null_vector(rows)
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert np.linalg.norm(rows @ vector) <= 1e-7 * np.linalg.norm(rows)
    assert sizes[1] <= 1e-7 * np.linalg.norm(rows) and sizes[0] >= sizes[1]


def tensor_of(machine):
    """T of a machine with kernel (x.y + 1)^D, in R^d."""
    H = np.c_[machine.support_vectors, np.ones(len(machine.weights))]
    degree = machine.kernel.degree
    letters = "abcd"[:degree]
    T = np.einsum(f"n,{','.join('n' + c for c in letters)}", machine.weights, *[H] * degree)
    T[(-1,) * degree] -= machine.threshold
    return T


@pytest.mark.parametrize("degree, m", [(1, 4), (2, 2), (2, 5), (2, 12), (3, 2), (3, 6), (4, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_fit_recovers_the_polynomial(degree, m, seed):
    machine = KernelMachine.random(Polynomial(degree), m, m, seed)
    truth = tensor_of(machine)
    _, Z, _, _ = on_boundary(machine, 2 * math.comb(m + degree, degree), seed)
    T, sizes = fit_polynomial(Z, degree)
    truth = truth / np.linalg.norm(truth)
    noise = 1e-12 * np.sqrt(len(Z))  # the brackets' width, in all equations
    np.testing.assert_allclose(T * np.sign((T * truth).sum()), truth, atol=10 * noise / sizes[0])
    assert T.shape == (m + 1,) * degree and sizes[1] < noise
    for axes in itertools.permutations(range(degree)):
        np.testing.assert_array_equal(T, T.transpose(axes))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_evaluate_is_the_machine(degree):
    machine = KernelMachine.random(Polynomial(degree), 5, 4, 1)
    Z = np.random.default_rng(0).standard_normal((20, 5))
    f, gradient = evaluate(tensor_of(machine), Z)
    np.testing.assert_allclose(f, machine.decision_function(Z), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gradient, machine.gradient(Z), rtol=1e-9, atol=1e-9)


def test_two_crossings_on_a_line():
    Z = np.array([[1.0], [-0.5]])  # two points are all there is
    A, _ = fit_polynomial(Z, 2)
    assert np.abs(values(A, Z)).max() < 1e-12


def test_points_of_small_weight_do_not_count():
    Z = np.random.default_rng(0).standard_normal((40, 2))
    Z[:20] /= np.linalg.norm(Z[:20], axis=1)[:, None]
    A, _ = fit_polynomial(Z, 2, np.repeat([1, 1e-12], 20))
    np.testing.assert_allclose(A / A[0, 0], np.diag([1, 1, -1]), atol=1e-9)


@pytest.mark.parametrize("degree, points", [(1, 2), (2, 5), (3, 9), (4, 14)])
def test_too_few_points_are_refused(degree, points):
    Z = np.random.default_rng(0).standard_normal((points, 2))
    fit_polynomial(Z, degree)
    with pytest.raises(ValueError, match=f"needs {points} points, got {points - 1}"):
        fit_polynomial(Z[1:], degree)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 10))
@settings(deadline=None, max_examples=100)
def test_quasi_support_vectors_are_the_same_function(seed, m):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m + 1, m + 1))
    A = A + A.T
    machine = quasi_support_vectors(A)
    Z = rng.standard_normal((200, m))
    f, g = machine.decision_function(Z), values(A, Z)
    factor = (f @ g) / (g @ g)
    assert factor > 0
    size = np.abs(f).max() + np.abs(machine.weights).sum() + abs(machine.threshold)
    np.testing.assert_allclose(f, factor * g, atol=1e-6 * size)
    assert np.abs(machine.weights).max() == pytest.approx(1)


def test_m_quasi_support_vectors_suffice():
    machine = KernelMachine.random(Polynomial(2), 12, 12, 3)
    quasi = quasi_support_vectors(matrix_of(machine))
    assert quasi.support_vectors.shape == (12, 12) and quasi.kernel == Polynomial(2)
    assert np.abs(quasi.support_vectors).max() < 1e3


@pytest.mark.parametrize("A", [
    np.diag([1.0, -2.0, 0.0, -1.0]),                         # homogeneous, and a direction unused
    np.diag([1.0, 1.0, -1.0]),                               # a sphere
    np.array([[1.0, 0, 0], [0, 0, 0.5], [0, 0.5, 0]]),       # a parabola: M is singular
    np.array([[1.0, 0, 1], [0, -1, 0], [1, 0, 0]]),          # one block without a linear part
])
def test_degenerate_quadratics(A):
    machine = quasi_support_vectors(A)
    Z = np.random.default_rng(0).standard_normal((100, len(A) - 1))
    f, g = machine.decision_function(Z), values(A, Z)
    np.testing.assert_allclose(f / np.abs(f).max(), g / np.abs(g).max(), atol=1e-9)


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("seed", range(5))
def test_units_do_not_matter(unit, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((5, 5))
    A = A + A.T
    units = np.r_[np.full(4, unit), 1]
    Z = rng.standard_normal((200, 4)) / unit
    B = A * np.outer(units, units)
    f, g = quasi_support_vectors(B).decision_function(Z), values(B, Z)
    np.testing.assert_allclose(f / np.abs(f).max(), g / np.abs(g).max(), atol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_a_weak_linear_part_outside_the_range_of_m(seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    A = np.zeros((5, 5))
    A[:4, :4] = Q @ np.diag([1.0, -1.0, 0.3, 1e-12 * (seed % 2)]) @ Q.T
    A[:4, 4] = A[4, :4] = 10.0 ** -(seed % 5) * rng.standard_normal(4)
    A[4, 4] = rng.standard_normal()
    Z = rng.standard_normal((200, 4))
    f, g = quasi_support_vectors(A).decision_function(Z), values(A, Z)
    np.testing.assert_allclose(f / np.abs(f).max(), g / np.abs(g).max(), atol=1e-6)


@pytest.mark.parametrize("last", [-1.0, 0.0])
def test_homogeneous_machines_are_named_so(last):
    A = np.diag([1.0, -2.0, last])
    assert quasi_support_vectors(A).kernel == Polynomial(2, coef0=0)
    A[0, 2] = A[2, 0] = 1e-13  # noise, where points are of size 3
    assert quasi_support_vectors(A, scale=3.0).kernel == Polynomial(2, coef0=0)


def test_distance_is_the_distance():
    Z = np.array([[1 + 1e-5, 0.0], [0.0, -2 + 1e-5]])
    A = np.diag([1.0, 0.25, -1.0])  # half axes 1 and 2
    np.testing.assert_allclose(distance_to_zeros(A, Z), [1e-5, 1e-5], rtol=1e-4)


def test_relevant_directions_are_the_support_vectors_span():
    machine = KernelMachine.random(Polynomial(2), 9, 4, 2)
    A = matrix_of(machine)
    E = 1e-11 * np.random.default_rng(0).standard_normal(A.shape)
    left, sizes, noise = relevant_directions(A, A + E + E.T, 1.0)
    assert (sizes > 30 * noise).sum() == 4
    truth = np.linalg.qr(machine.support_vectors.T)[0]
    np.testing.assert_allclose(left[:, :4] @ (left[:, :4].T @ truth), truth, atol=1e-9)
