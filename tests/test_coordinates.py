"""A cubic machine in its own coordinates, refined to the width of the brackets."""

import numpy as np
import pytest

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.families.cubic.coordinates import SumOfCubes
from decon.families.cubic.decomposition import ascent, jacobian, refit
from decon.families.cubic.outside import outside
from decon.families.cubic.settings import SETTINGS
from decon.families.protocol import Refuted


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
    return SumOfCubes(x0, frame, V, b * (1 + error))


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
    refined, done = own.refine(oracle, 1e-12, np.random.default_rng(seed))
    assert done and distance(own, A, h, b) > 1e-5 and distance(refined, A, h, b) < 1e-8


def test_a_machine_that_is_known_costs_a_sample_only():
    A, h, oracle = cubic(12, 10, 0)
    own = own_coordinates(A, h, 1.0, 1e-14, 0)
    _, done = own.refine(oracle, 1e-12, np.random.default_rng(0))
    assert done and oracle.queries < 600


@pytest.mark.parametrize("seed", range(3))
def test_one_support_vector_too_few_is_noticed(seed):
    A, h, oracle = cubic(6, 6, seed)
    own = own_coordinates(A[:5], h[:5], 1.0, 0.0, seed)
    _, done = own.refine(oracle, 1e-12, np.random.default_rng(0))
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


def rows(at, L, m):
    """Points of which a few l_i are given, as rows (l, 1)."""
    points = np.zeros((len(L), m + 1))
    np.put_along_axis(points, at, L, 1)
    points[:, -1] = 1
    return points


def test_the_jacobian_against_differences():
    rng = np.random.default_rng(0)
    m = 5
    at = np.array([[0, 3], [2, 1], [4, 0]])
    L, slope = rng.standard_normal((3, 2)), rng.uniform(1, 2, 3)
    G = np.eye(m, m + 1) + 1e-9 * rng.standard_normal((m, m + 1))
    J = jacobian(np.c_[at, np.full(3, m)], np.c_[L, np.ones(3)], G, slope).toarray()
    for k in range(m * (m + 1)):
        step = np.zeros(m * (m + 1))
        step[k] = 1e-6
        up, down = (((rows(at, L, m) @ (G + side * step.reshape(G.shape)).T) ** 3).sum(1)
                    for side in (1, -1))
        np.testing.assert_allclose(J[:, k], (up - down) / 2e-6 / slope, atol=1e-8)
    np.testing.assert_allclose(J[:, -1], -1 / slope)


@pytest.mark.parametrize("b", [2.0, 0.0])
def test_the_refitted_boundary_passes_through_the_points(b):
    m, rng = 5, np.random.default_rng(1)
    A, h, _ = cubic(m, m, 1, b)
    at, L = own_coordinates(A, h, b, 0.0, 1).points(rng)
    b = (L**3).sum(1).mean()
    L = L * (1 + 1e-3 * rng.standard_normal(m)[at]) + 1e-3  # as if the forms were others
    G, found_b = refit(at, L, m, b, 1e-13)
    assert np.abs((L**3).sum(1) - b).max() > 1e-3
    np.testing.assert_allclose(((rows(at, L, m) @ G.T) ** 3).sum(1), found_b, atol=1e-11)


def test_dependent_vectors_are_told():
    V = np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 1.0]])
    with pytest.raises(Refuted, match="dependent"):
        SumOfCubes(np.zeros(2), np.eye(2), V, 1.0)

    # a centre or a direction so far out that no point there can be queried
    with pytest.raises(Refuted, match="far too short"):
        SumOfCubes(np.array([np.inf, 0.0]), np.eye(2), np.eye(2, 3), 1.0)
    with pytest.raises(Refuted, match="far too short"):
        SumOfCubes(np.zeros(2), np.eye(2), np.array([[1e-200, 0, 1], [0, 1, 1]]), 1.0)


def test_points_are_measured_along_the_gradient():
    at, L = np.array([[0, 1]]), np.array([[2.0, -1.0]])
    np.testing.assert_allclose(ascent(L), [[4 / np.sqrt(17), 1 / np.sqrt(17)]])
    A, h, oracle = cubic(4, 2, 0, 7.0)
    own = own_coordinates(A, h, 7.0, 0.0, 0)
    above = own.heights(oracle, at, (L - 1e-3 * ascent(L)) / own.unit, 1e-4, 1e-12)
    np.testing.assert_allclose(above, 1e-3 / own.unit, rtol=1e-6)


@pytest.mark.parametrize("tilt", [1e-7, 3e-6, 1e-3, 2e-2])
@pytest.mark.parametrize("b", [2.0, 0.0])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_subspace_has_missed_is_found(b, seed, tilt):
    A, h, oracle = cubic(12, 5, seed, b)
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(A.T)[0]
    frame = np.linalg.qr(frame + tilt * rng.standard_normal(frame.shape))[0]
    x0 = rng.standard_normal(12)
    own = SumOfCubes(x0, frame, np.c_[A @ frame, A @ x0 + h], b)
    missing = A - A @ frame @ frame.T
    found, single = outside(own, oracle, 3.0, 1e-12, rng)
    assert np.abs(missing).max() > 1e-8 and single
    np.testing.assert_allclose(found, missing, atol=2e-11)


@pytest.mark.parametrize("b", [0.0, 1e-9, 1e-3])
def test_two_vectors_of_hardly_any_threshold_do_no_harm(b):
    """What they have outside is then open in one direction, and nothing is made up along it."""
    A, h, oracle = cubic(8, 2, 1, b)
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(np.linalg.qr(A.T)[0] + 1e-5 * rng.standard_normal((8, 2)))[0]
    own = SumOfCubes(np.zeros(8), frame, np.c_[A @ frame, h], b)
    found, _ = outside(own, oracle, 3.0, 1e-12, rng)
    assert np.abs(found).max() < 1e-4


def test_a_right_subspace_costs_a_few_labels():
    A, h, oracle = cubic(12, 5, 0)
    basis = np.linalg.qr(A.T)[0]
    own = SumOfCubes(np.zeros(12), basis, np.c_[A @ basis, h], 1.0)
    missing, single = outside(own, oracle, 3.0, 1e-12, np.random.default_rng(0))
    assert (missing == 0).all() and single
    assert oracle.queries == 2 * 3 * SETTINGS.walks * 5 and SETTINGS.least_tilt < 1e-8
    square = SumOfCubes(np.zeros(5), np.eye(5), np.c_[A[:, :5], h], 1.0)
    missing, single = outside(square, oracle, 3.0, 1e-12, 0)
    assert (missing == 0).all() and single


@pytest.mark.parametrize("error, tilt, single", [
    (1e-7, 1e-9, False), (1e-7, 3e-7, True), (1e-5, 3e-7, False), (1e-5, 3e-5, True),
    (0.0, 9e-5, True), (0.0, 2e-4, False)])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_hardly_known_of_a_vector_does_not_make_it_two(error, tilt, single, seed):
    """Unless it is so little that two of them would not show."""
    A, h, oracle = cubic(12, 5, seed)
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(A.T)[0]
    aside = np.linalg.qr(np.c_[frame, rng.standard_normal((12, 7))])[0][:, 5:]
    wrong = A.copy()
    wrong[0] += error * np.linalg.norm(A[0]) * aside @ rng.standard_normal(7)
    frame = np.linalg.qr(wrong.T)[0]
    own = SumOfCubes(np.zeros(12), frame, np.c_[wrong @ frame, h], 1.0)
    missing, shown = outside(own, oracle, 3.0, 1e-12, rng, np.full(5, tilt))
    assert shown == single and (missing == 0).all()


@pytest.mark.parametrize("apart", [1e-3, 3e-5])
@pytest.mark.parametrize("seed", [4])  # others take half a minute
def test_two_vectors_that_look_like_one_are_told_from_one(apart, seed):
    box = KernelMachine.random(Polynomial(3), 20, 12, seed)
    Y = box.support_vectors
    Y[1] = Y[0] + apart * (Y[1] - Y[0])
    X = np.random.default_rng(seed).standard_normal((60, 20))
    result = deconstruct(Oracle(box.predict, 20), X, progress=False)
    assert result.kernel_type == "cubic"
    off = np.linalg.norm(result.machine.support_vectors[:, None] - Y, axis=2).min(0)
    assert not result.own_vectors or (off < 1e-6 * np.linalg.norm(Y, axis=1)).all()


@pytest.mark.parametrize("m", [1, 2])
def test_one_or_two_cubes_of_threshold_zero_are_not_refined(m):
    own = SumOfCubes(np.zeros(4), np.eye(4, m), np.c_[np.eye(m), np.ones(m)], -0.0)
    with pytest.raises(Refuted, match="no curved boundary"):
        own.refine(Oracle(lambda X: X[:, 0] > 0, 4), 1e-12, np.random.default_rng(0))
