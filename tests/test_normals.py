"""Normals against the gradient of machines that we know."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.boundary import normals as normals_module
from decon.boundary.bracketing import boundary_points
from decon.boundary.normals import (
    grazes,
    orthonormal_complement,
    random_tangents,
    slope_normals,
)
from decon.boundary.pairs import pn_pairs
from decon.paper import sphere_normals


def on_boundary(machine, n, seed, scale=2.0, width=1e-12):
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((400, machine.dimension))
    labels = machine.predict(X)
    oracle = Oracle(machine.predict, machine.dimension)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], n, rng)
    X, V = boundary_points(oracle, P, N, width)
    G = machine.gradient(X)
    return Oracle(machine.predict, machine.dimension), X, V, G / np.linalg.norm(G, axis=1)[:, None]


def angles(normals, truth):
    good = np.isfinite(normals).all(1)
    return np.linalg.norm(normals[good] - truth[good], axis=1), good.mean()


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3), Tanh(1.0, 0.2), Gaussian(4.0)],
                         ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_slopes_point_along_the_gradient(kernel, seed):
    oracle, X, V, truth = on_boundary(KernelMachine.random(kernel, 20, 6, seed), 15, seed)
    normals = slope_normals(oracle, X, V, delta=1e-5, width=1e-11)
    error, measured = angles(normals, truth)
    assert measured > 0.7 and np.median(error) < 1e-4 and error.max() < 5e-3
    np.testing.assert_allclose(np.linalg.norm(normals[np.isfinite(normals[:, 0])], axis=1), 1)


@pytest.mark.parametrize("seed", range(3))
def test_spheres_point_along_the_gradient(seed):
    oracle, X, _, truth = on_boundary(KernelMachine.random(Polynomial(3), 20, 6, seed), 15, seed)
    error, measured = angles(sphere_normals(oracle, X, 1e-3, 1e-6, random_state=seed), truth)
    assert measured == 1 and np.median(error) < 5e-3 and error.max() < 0.1


def test_slope_error_falls_with_delta_until_the_width_takes_over():
    oracle, X, V, truth = on_boundary(KernelMachine.random(Polynomial(2), 20, 6, 1), 20, 1)
    error = {}
    for delta, width in [(1e-2, 1e-11), (1e-4, 1e-11), (1e-6, 1e-11), (1e-6, 1e-8)]:
        error[delta, width] = np.median(angles(slope_normals(oracle, X, V, delta, width), truth)[0])
    assert error[1e-4, 1e-11] < 0.03 * error[1e-2, 1e-11]
    assert error[1e-6, 1e-11] < error[1e-4, 1e-11]
    assert error[1e-6, 1e-8] > 10 * error[1e-6, 1e-11]


def test_slopes_cost_d_minus_one_brackets():
    oracle, X, V, _ = on_boundary(KernelMachine.random(Polynomial(2), 20, 6, 1), 10, 1)
    slope_normals(oracle, X, V, 1e-5, 1e-10)
    assert oracle.queries < 10 * 19 * (np.log2(1e-5 / 1e-10) + 9)


def test_a_grazing_direction_is_given_up():
    oracle = Oracle(lambda X: X[:, 1] > 0, 2)
    V = np.array([[1.0, 0.0], [1.0, 1e-3], [0.0, 1.0]])
    V /= np.linalg.norm(V, axis=1)[:, None]
    normals = slope_normals(oracle, np.zeros((3, 2)), V)
    assert np.isnan(normals[:2]).all()
    np.testing.assert_allclose(normals[2], [0, 1], atol=1e-6)


@pytest.mark.parametrize("slope, given_up", [(0.05, False), (0.02, True)])
def test_the_incidence_below_which_normals_are_given_up(slope, given_up):
    oracle = Oracle(lambda X: X[:, 1] + slope * X[:, 0] > 0, 2)
    for central in (False, True):
        normals = slope_normals(oracle, [[0.0, 0.0]], [[1.0, 0.0]], central=central)
        assert np.isnan(normals).all() == given_up
    steep = slope_normals(oracle, [[0.0, 0.0]], [[1.0, 0.0]], grazing=slope / 2)
    np.testing.assert_allclose(steep, [[slope, 1] / np.hypot(slope, 1)], atol=1e-5)
    assert np.isnan(slope_normals(oracle, [[0.0, 0.0]], [[1.0, 0.0]], grazing=2 * slope)).all()


def test_central_slopes_are_of_the_next_order():
    """On a sphere of radius 1, at steps of a tenth: C delta / 2, and none by symmetry."""
    oracle = Oracle(lambda X: (X**2).sum(1) > 1, 3)
    x = v = np.array([[1.0, 0.0, 0.0]])
    one_sided = slope_normals(oracle, x, v, 0.1, 1e-12)[0]
    np.testing.assert_allclose(one_sided[1:] / one_sided[0], [0.05, 0.05], rtol=1e-2)
    queries = oracle.queries
    central = slope_normals(oracle, x, v, 0.1, 1e-12, central=True, bend=1.0)
    np.testing.assert_allclose(central, v, atol=1e-9)
    assert oracle.queries - queries <= 2 * queries


@pytest.mark.parametrize("bend, given_up", [(0.08, False), (0.06, True)])
def test_the_bend_at_which_central_normals_are_given_up(bend, given_up):
    """Half the difference of both sides: of a circle at steps of 0.1, 0.05 for each of two u."""
    oracle = Oracle(lambda X: (X**2).sum(1) > 1, 3)
    x = v = np.array([[1.0, 0.0, 0.0]])
    normals = slope_normals(oracle, x, v, 0.1, 1e-12, central=True, bend=bend)
    assert np.isnan(normals).all() == given_up  # 0.05 times the root of two is 0.0707
    assert np.isfinite(slope_normals(oracle, x, v, 0.1, 1e-12, bend=bend)).all()


def test_normals_in_small_blocks_are_the_same(monkeypatch):
    oracle, X, V, _ = on_boundary(KernelMachine.random(Polynomial(2), 6, 3, 0), 7, 0)
    whole = [slope_normals(oracle, X, V, central=central) for central in (False, True)]
    monkeypatch.setattr(normals_module, "blocks", lambda n, numbers: [slice(0, 4), slice(4, n)])
    parts = [slope_normals(oracle, X, V, central=central) for central in (False, True)]
    np.testing.assert_array_equal(parts, whole)


def test_random_tangents():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((50, 4))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    U = random_tangents(V, 2.5, 1)
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), 2.5)
    np.testing.assert_allclose((U * V).sum(1), 0, atol=1e-14)
    np.testing.assert_array_equal(U, random_tangents(V, 2.5, 1))
    assert np.linalg.norm(U.mean(0)) < 1.0  # to all sides


def test_a_sphere_with_one_label_is_given_up():
    oracle = Oracle(lambda X: X[:, 0] > 0, 3)
    normals = sphere_normals(oracle, np.array([[0.0, 0, 0], [5.0, 0, 0]]))
    np.testing.assert_allclose(normals[0], [1, 0, 0], atol=1e-2)
    assert np.isnan(normals[1]).all()
    assert np.isnan(sphere_normals(oracle, [[5.0, 0, 0]])).all()


def test_normals_of_a_trained_svc():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    svc = SVC(kernel="poly", degree=2, coef0=1).fit(X[:200], y[:200])
    oracle, X, V, truth = on_boundary(KernelMachine.from_sklearn(svc), 10, 0)
    error, measured = angles(slope_normals(Oracle(svc.predict, 30), X, V, 1e-5, 1e-11), truth)
    assert measured > 0.7 and error.max() < 1e-3


@pytest.mark.parametrize("d, k", [(1, 1), (4, 0), (5, 2), (3, 3)])
def test_complement_completes_the_basis(d, k):
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((d, k)))[0]
    W = orthonormal_complement(U)
    both = np.c_[U, W]
    np.testing.assert_allclose(both.T @ both, np.eye(d), atol=1e-12)


@pytest.mark.parametrize("d", [3, 30, 300])
@pytest.mark.parametrize("incidence, kind", [(0.01, True), (0.2, False), (0.9, False)])
def test_grazing_lines_are_told_from_others(d, incidence, kind):
    rng = np.random.default_rng(d)
    normal, aside = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    V = np.tile(incidence * normal + np.sqrt(1 - incidence**2) * aside, (100, 1))
    oracle = Oracle(lambda X: X @ normal > 0, dimension=d)
    X = rng.standard_normal((100, d))
    X -= np.outer(X @ normal, normal)
    found = grazes(oracle, X, V, 1e-3, random_state=rng)
    assert (found == kind).mean() >= (0.8 if d == 3 else 0.95)
    assert oracle.queries == 12 * 100
