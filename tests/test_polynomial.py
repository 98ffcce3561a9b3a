"""Polynomials: null vectors against SVD, quasi-support vectors as an identity."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Polynomial
from decon.families.polynomial import (
    distance_to_zeros,
    evaluate,
    fit_polynomial,
    misfit,
    null_vector,
    relevant_directions,
)
from decon.families.protocol import Refuted
from decon.families.quasi_vectors import quasi_cubes, quasi_support_vectors
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


@pytest.mark.parametrize("seed", range(10))
def test_null_vector_and_values_against_the_svd(seed):
    rng = np.random.default_rng(seed)
    n, p = rng.integers(8, 30), rng.integers(2, 9)
    left = np.linalg.qr(rng.standard_normal((n, p)))[0]
    right = np.linalg.qr(rng.standard_normal((p, p)))[0]
    sizes = np.r_[np.geomspace(3, 1, p - 1), 0.05]
    vector, values = null_vector((left * sizes) @ right.T)
    np.testing.assert_allclose(vector * np.sign(vector @ right[:, -1]), right[:, -1], atol=1e-7)
    assert values[1] == pytest.approx(0.05) and 1 <= values[0] < 1.1 * sizes[0]
    _, values = null_vector((left * sizes) @ right.T, steps=40)
    np.testing.assert_allclose(values, sizes[[-2, -1]], rtol=1e-2)


def test_inverse_iteration_that_would_overflow_gives_a_null_vector_too():
    rng = np.random.default_rng(0)
    A = np.tile(rng.standard_normal((80, 1)), 60) + 1e-16 * rng.standard_normal((80, 60))
    A += np.tril(rng.standard_normal((80, 60))) * 1e-14  # many small pivots
    vector, values = null_vector(A)
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert np.linalg.norm(A @ vector) < 1e-11 and values.shape == (2,)


def test_many_null_vectors_give_one_of_them():
    rng = np.random.default_rng(0)
    for zeros in (1, 3, 6):
        rows = rng.standard_normal((20, 9))
        rows[:, :zeros] = 0  # also in the first column, where R begins
        vector, values = null_vector(rows)
        assert np.linalg.norm(vector) == pytest.approx(1)
        assert np.linalg.norm(rows @ vector) < 1e-12 and values[1] < 1e-12


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_fit_is_the_null_vector_of_weighted_monomials(degree, size, seed):
    rng = np.random.default_rng(seed)
    Z, weights = size * rng.standard_normal((60, 2)), rng.uniform(0.5, 2, 60)
    Z[:, 0] = np.sin(3 * Z[:, 1] / size) * size / 3 + 1e-3 * Z[:, 0]
    T, found = fit_polynomial(Z, degree, weights)

    # T_ij.. h_i h_j .., over all axes: as many equations, and more unknowns
    h = np.c_[Z / np.sqrt(np.mean(Z**2)), np.ones(60)]
    h /= np.linalg.norm(h, axis=1)[:, None]
    letters = "abc"[:degree]
    full = np.einsum(f"{','.join('n' + c for c in letters)},n->n{letters}", *[h] * degree, weights)
    pairs = itertools.combinations_with_replacement(range(3), degree)
    basis = []
    for i in pairs:
        one = np.zeros((3,) * degree)
        for order in set(itertools.permutations(i)):
            one[order] = 1
        basis.append(one / np.linalg.norm(one))
    basis = np.array(basis).reshape(len(basis), -1)
    _, sizes, right = np.linalg.svd(full.reshape(60, -1) @ basis.T)
    truth = (right[-1] @ basis).reshape((3,) * degree)
    units = np.r_[1, 1, np.sqrt(np.mean(Z**2))]
    for axis in range(degree):
        truth = truth * units.reshape([-1 if a == axis else 1 for a in range(degree)])
    truth /= np.linalg.norm(truth)
    assert np.linalg.norm(T) == pytest.approx(1)
    np.testing.assert_allclose(T * np.sign((T * truth).sum()), truth, atol=1e-2)
    assert sizes[-1] * (1 - 1e-9) <= found[1] < sizes[-1] * 1.05
    assert sizes[-2] * (1 - 1e-9) <= found[0]


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_misfit_of_the_right_degree_is_what_the_brackets_explain(degree, scale):
    found = []
    for seed in range(12):
        machine = KernelMachine.random(Polynomial(degree), 3, 3, seed)
        _, Z, _, _ = on_boundary(machine, 2 * math.comb(3 + degree, degree), seed, width=1e-9)
        found.append(misfit(scale * Z, degree, scale * 1e-9))
        residual = fit_polynomial(Z, degree)[1][1]
        assert misfit(Z, degree, 1e-9, residual) == pytest.approx(found[-1], rel=1e-3)
        assert misfit(Z, degree, 1e-9, 2 * residual) == pytest.approx(2 * found[-1], rel=1e-3)
    assert 0.05 < np.median(found) and max(found) < 0.6


def test_misfit_counts_the_degrees_of_freedom():
    rng = np.random.default_rng(0)
    for n, freedom in ((5, 1), (6, 1), (7, 2), (9, 4), (30, 25)):
        Z = rng.standard_normal((n, 2))
        size = np.sqrt(np.mean(Z**2) / freedom)
        assert misfit(Z, 2, 1e-3, 0.5) == pytest.approx(500 * size)


def test_points_at_the_origin_have_a_fit():
    T, sizes = fit_polynomial(np.zeros((9, 2)), 2)
    assert abs(T[2, 2]) < 1e-12 and np.linalg.norm(T) == pytest.approx(1) and sizes[1] < 1e-12


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
    assert len(machine.weights) == m and machine.kernel == Polynomial(2)


@pytest.mark.parametrize("seed", range(20))
def test_quasi_support_vectors_are_balanced(seed):
    # a part sign L L^T of A + c e e^T: its last row is spread evenly, all its weights are alike
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((6, 6))
    A = A + A.T
    scale = 10.0 ** rng.integers(-3, 4)
    machine = quasi_support_vectors(A, scale)
    for sign in (1, -1):
        weights = machine.weights[np.sign(machine.weights) == sign]
        np.testing.assert_allclose(weights, weights[:1].repeat(len(weights)), rtol=1e-6)
    H = np.c_[scale * machine.support_vectors, np.ones(5)]
    B = A * np.outer(*2 * [np.r_[np.full(5, scale), 1]])
    c = A[:-1, -1] @ np.linalg.solve(A[:-1, :-1], A[:-1, -1]) - A[-1, -1]
    B[-1, -1] += c
    found = (H.T * machine.weights) @ H
    np.testing.assert_allclose(found / np.linalg.norm(found), B / np.linalg.norm(B), atol=1e-7)
    assert machine.threshold / found[-1, -1] == pytest.approx(c / B[-1, -1], rel=1e-4)


def test_a_quadratic_is_reproduced_or_refuted():
    rng, refuted, more = np.random.default_rng(0), 0, 0
    for trial in range(2500):
        m, scale = rng.integers(1, 4), [1.0, 1e3, 1e-3][trial % 3]
        A = rng.standard_normal((m + 1, m + 1)) * 10.0 ** rng.uniform(-14, 0, (m + 1, m + 1))
        A *= rng.random((m + 1, m + 1)) < 0.8
        A = A + A.T
        if not A[:-1].any():
            continue
        try:
            machine = quasi_support_vectors(A, scale)
        except Refuted as reason:
            assert "well-conditioned" in str(reason)
            refuted += 1
            continue
        if machine.kernel == Polynomial(2, coef0=0):
            continue

        # in units of the scale, the terms are not much larger than their sum, which is A
        H = np.c_[scale * machine.support_vectors, np.ones(len(machine.weights))]
        found = (H.T * machine.weights) @ H
        found[-1, -1] -= machine.threshold
        A = A * np.outer(*2 * [np.r_[np.full(m, scale), 1]])
        factor = (found * A).sum() / (A**2).sum()
        largest = factor * np.abs(A).max()
        assert factor > 0 and np.abs(found - factor * A).max() < 1e-9 * largest
        assert (np.abs(machine.weights) * (H**2).sum(1)).max() < 1.001e6 * largest
        assert len(H) <= m + 1
        more += len(H) == m + 1
    assert 1 <= refuted < 25 and more > 200


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_quasi_cubes_are_any_cubic(m, scale):
    rng = np.random.default_rng(m)
    T = rng.standard_normal((m + 1,) * 3)
    T = sum(T.transpose(order) for order in itertools.permutations(range(3)))
    for axis in range(3):  # all terms of one size where z is of the scale
        T = T / np.r_[np.full(m, scale), 1].reshape([-1 if a == axis else 1 for a in range(3)])
    origin, Z = scale * rng.standard_normal(m), scale * rng.standard_normal((50, m))
    machine = quasi_cubes(T, origin, scale)
    f, truth = machine.decision_function(Z), evaluate(T, Z - origin)[0]
    factor = (f @ truth) / (truth @ truth)
    assert factor > 0 and np.abs(machine.weights).max() == pytest.approx(1)
    np.testing.assert_allclose(f, factor * truth, atol=1e-10 * factor * np.abs(truth).max())
    assert len(machine.weights) == math.comb(m + 3, 3) - 1 and machine.kernel == Polynomial(3)
    lengths = np.linalg.norm(machine.support_vectors, axis=1) * scale
    assert lengths.min() == pytest.approx(1) and lengths.max() < 2.3


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
    np.testing.assert_allclose(distance_to_zeros(-A, Z), [1e-5, 1e-5], rtol=1e-4)


def test_relevant_directions_are_the_support_vectors_span():
    machine = KernelMachine.random(Polynomial(2), 9, 4, 2)
    A = matrix_of(machine)
    E = 1e-11 * np.random.default_rng(0).standard_normal(A.shape)
    left, sizes, noise = relevant_directions(A, A + E + E.T, 1.0)
    assert (sizes > 30 * noise).sum() == 4
    truth = np.linalg.qr(machine.support_vectors.T)[0]
    np.testing.assert_allclose(left[:, :4] @ (left[:, :4].T @ truth), truth, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_relevant_directions_are_those_of_the_gradients(seed):
    # gradients 2 (M z + k) at points of size `scale` span what [scale M, k] spans
    rng = np.random.default_rng(seed)
    A, E = rng.standard_normal((2, 5, 5))
    A, E, scale = A + A.T, 1e-3 * (E + E.T), 10.0 ** rng.integers(-4, 5)
    left, sizes, noise = relevant_directions(A, rng.choice([-1, 1]) * (A - E), scale)
    stretch = np.r_[np.full(4, scale), 1]
    expected = np.linalg.svd(scale * A[:-1] * stretch)
    np.testing.assert_allclose(sizes, expected[1], rtol=1e-9)
    np.testing.assert_allclose(np.abs((left * expected[0]).sum(0)), 1)
    lengths = np.linalg.norm(left.T @ (scale * E[:-1] * stretch), axis=1)
    np.testing.assert_allclose(noise, lengths, rtol=1e-9)
