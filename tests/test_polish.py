"""A cubic machine in its own coordinates, corrected to the width of the brackets."""

import numpy as np
import pytest

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.polish import ALONG, WALKS, OwnCoordinates, ascent, derivatives, sum_of_cubes_at


def cubic(dimension, m, seed, b=1.0):
    """A random box of sum_i (A_i.x + h_i)^3 > b."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, dimension)) / np.sqrt(dimension)
    h = rng.choice([-1, 1], m) * rng.uniform(0.5, 2, m)
    machine = KernelMachine(Polynomial(3), A / h[:, None], h**3, b)
    return A, h, Oracle(machine.predict, dimension)


def own_coordinates(A, h, b, error, seed):
    """The box's own coordinates about a point x0, in a frame that spans its vectors; perturbed."""
    rng = np.random.default_rng(seed)
    m, d = A.shape
    x0 = rng.standard_normal(d)
    frame = np.linalg.qr(A.T)[0] @ rng.standard_normal((m, m))
    V = np.c_[A @ frame, A @ x0 + h]
    V += error * rng.standard_normal(V.shape) * np.abs(V).mean()
    return OwnCoordinates(x0, frame, V, b * (1 + error))


def distance(own, A, h, b):
    """How far off are A, h and b, once they are on the same scale?"""
    found_A, found_h, found_b = own.forms()
    factor = np.linalg.norm(A) / np.linalg.norm(found_A)
    return max(np.abs(factor * np.c_[found_A, found_h] - np.c_[A, h]).max(),
               abs(factor**3 * found_b - b))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dimension, m, b", [(5, 2, 1.0), (6, 4, -2.0), (8, 8, 1e-4), (9, 5, 0.0)])
def test_a_machine_that_is_nearly_known_becomes_exact(dimension, m, b, seed):
    A, h, oracle = cubic(dimension, m, seed, b)
    own = own_coordinates(A, h, b, 1e-4, seed)
    polished, done = own.polish(oracle, 1e-12, np.random.default_rng(seed))
    assert done and distance(own, A, h, b) > 1e-5 and distance(polished, A, h, b) < 1e-8


def test_a_machine_that_is_known_costs_a_sample_only():
    A, h, oracle = cubic(12, 10, 0)
    polished, done = own_coordinates(A, h, 1.0, 1e-14, 0).polish(oracle, 1e-12,
                                                                 np.random.default_rng(0))
    assert done and oracle.queries < 600


@pytest.mark.parametrize("seed", range(3))
def test_one_support_vector_too_few_is_noticed(seed):
    A, h, oracle = cubic(6, 6, seed)
    _, done = own_coordinates(A[:5], h[:5], 1.0, 0.0, seed).polish(oracle, 1e-12,
                                                                   np.random.default_rng(0))
    assert not done


@pytest.mark.parametrize("b", [2.0, 0.0])
def test_the_points_to_be_measured_lie_on_the_boundary(b):
    A, h, _ = cubic(9, 7, 0, b)
    own = own_coordinates(A, h, b, 0.0, 0)
    at, L = own.points(np.random.default_rng(0))
    assert len(L) == 7 * 7 + 2 * 7 and at.shape == L.shape
    assert (np.diff(np.sort(at, axis=1), axis=1) > 0).all() and at.min() >= 0 and at.max() < 7
    X = own.centre + own.steps(at, L)
    np.testing.assert_allclose(((X @ A.T + h) ** 3).sum(1), b, atol=1e-9)
    Z = (X - own.x0) @ np.linalg.pinv(own.frame).T
    assert own.distances(Z).max() < 1e-9


def test_derivatives_against_differences():
    rng = np.random.default_rng(0)
    m = 5
    at = np.array([[0, 3], [2, 1], [4, 0]])
    L, slope = rng.standard_normal((3, 2)), rng.uniform(1, 2, 3)
    G = np.eye(m, m + 1) + 1e-9 * rng.standard_normal((m, m + 1))
    J = derivatives(at, L, G, slope).toarray()
    for k in range(m * (m + 1)):
        step = np.zeros(m * (m + 1))
        step[k] = 1e-6
        up, down = (sum_of_cubes_at(at, L, G + side * step.reshape(G.shape)) for side in (1, -1))
        np.testing.assert_allclose(J[:, k], (up - down) / 2e-6 / slope, atol=1e-8)
    np.testing.assert_allclose(J[:, -1], -1 / slope)


def test_points_are_measured_along_the_gradient():
    at, L = np.array([[0, 1]]), np.array([[2.0, -1.0]])
    np.testing.assert_allclose(ascent(L), [[4 / np.sqrt(17), 1 / np.sqrt(17)]])
    A, h, oracle = cubic(4, 2, 0, 7.0)
    own = own_coordinates(A, h, 7.0, 0.0, 0)
    above = own.heights(oracle, at, (L - 1e-3 * ascent(L)) / own.unit, 1e-4, 1e-12)
    np.testing.assert_allclose(above, 1e-3 / own.unit, rtol=1e-6)


@pytest.mark.parametrize("b", [2.0, 0.0])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_subspace_has_missed_is_found(b, seed):
    A, h, oracle = cubic(12, 5, seed, b)
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(A.T)[0]
    frame = np.linalg.qr(frame + 1e-7 * rng.standard_normal(frame.shape))[0]
    x0 = rng.standard_normal(12)
    own = OwnCoordinates(x0, frame, np.c_[A @ frame, A @ x0 + h], b)
    missing = A - A @ frame @ frame.T
    found, single = own.outside(oracle, 3.0, 1e-12, rng)
    assert np.abs(missing).max() > 1e-8 and single
    np.testing.assert_allclose(found, missing, atol=1e-11)


def test_a_right_subspace_costs_a_few_labels():
    A, h, oracle = cubic(12, 5, 0)
    own = OwnCoordinates(np.zeros(12), np.linalg.qr(A.T)[0], np.c_[A @ np.linalg.qr(A.T)[0], h],
                         1.0)
    missing, single = own.outside(oracle, 3.0, 1e-12, np.random.default_rng(0))
    assert (missing == 0).all() and single
    assert oracle.queries == 2 * 3 * WALKS * 5 and ALONG < 1e-8
    square = OwnCoordinates(np.zeros(5), np.eye(5), np.c_[A[:, :5], h], 1.0)
    missing, single = square.outside(oracle, 3.0, 1e-12, 0)
    assert (missing == 0).all() and single


@pytest.mark.parametrize("apart", [1e-3, 1e-4, 3e-5])
@pytest.mark.parametrize("seed", range(3, 6))
def test_two_vectors_that_look_like_one_are_told_from_one(apart, seed):
    box = KernelMachine.random(Polynomial(3), 20, 12, seed)
    Y = box.support_vectors
    Y[1] = Y[0] + apart * (Y[1] - Y[0])
    X = np.random.default_rng(seed).standard_normal((60, 20))
    result = deconstruct(Oracle(box.predict, 20), X, progress=False)
    assert result.kernel_type == "cubic"
    off = np.linalg.norm(result.machine.support_vectors[:, None] - Y, axis=2).min(0)
    assert not result.exact or (off < 1e-6 * np.linalg.norm(Y, axis=1)).all()
