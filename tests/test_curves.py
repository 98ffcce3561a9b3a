"""Curves in planes, labels far away, flat and curved boundaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary import curves as curves_module
from decon.boundary.bracketing import boundary_points
from decon.boundary.curves import (
    curve_points,
    has_broken_line,
    has_one_label_far_away,
    is_locally_flat,
)
from decon.boundary.pairs import pn_pairs

KERNELS = [Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.3), Gaussian(1.0)]
seeds = st.integers(0, 10**6)


def open_box(machine, n, seed=0, width=1e-12):
    """An oracle, n boundary points and their directions."""
    oracle = Oracle(machine.predict, machine.dimension)
    cloud = np.random.default_rng(seed).standard_normal((400, machine.dimension))
    labels = oracle(cloud)
    pairs = pn_pairs(cloud[labels > 0], cloud[labels < 0], n, seed)
    return oracle, *boundary_points(oracle, *pairs, width)


def a_plane(v, seed):
    """An orthonormal plane that holds v and a random direction."""
    return np.linalg.qr(np.c_[v, np.random.default_rng(seed).standard_normal(len(v))])[0]


# curve_points

@given(seed=seeds, d=st.integers(2, 12), kernel=st.sampled_from(KERNELS),
       radius=st.floats(0.1, 30.0))
@settings(max_examples=60)
def test_curve_points_lie_on_the_boundary_within_the_disc(seed, d, kernel, radius):
    machine = KernelMachine.random(kernel, d, min(d, 4), seed)
    oracle, X, V = open_box(machine, 1, seed)
    plane = a_plane(V[0], seed)
    before, width = oracle.queries, 1e-9 * radius
    Z = curve_points(oracle, X[0], plane, 12, radius, width, seed)
    if len(Z) == 0:
        assert oracle.queries - before == 24
        return
    assert Z.shape == (12, 2)
    assert np.linalg.norm(Z, axis=1).max() <= radius * (1 + 1e-9)
    bits = (oracle.queries - before - 24) / 12
    assert bits <= np.log2(2 * radius / width) + 1
    steps = width * np.stack([np.cos(a := np.arange(16) * np.pi / 8), np.sin(a)], axis=1)
    around = machine.decision_function(
        X[0] + (Z[:, None] + steps).reshape(-1, 2) @ plane.T).reshape(12, 16)
    assert (around.min(axis=1) <= 0).all() and (around.max(axis=1) > 0).all()


def test_curve_points_are_different_pairs_and_repeatable():
    """Even of one lonely label among 2n there are enough pairs without repetition."""
    oracle = Oracle(lambda X: X[:, 0] > 0.9, 3)
    x, plane = np.array([0.9, 0, 0]) - [0.85, 0, 0], np.eye(3)[:, :2]
    for seed in range(20):
        Z = curve_points(oracle, x, plane, 15, 1.0, 1e-9, seed)
        if len(Z):
            assert len(np.unique(Z.round(8), axis=0)) == 15
            np.testing.assert_allclose(Z[:, 0], 0.85, atol=1e-9)
            np.testing.assert_array_equal(Z, curve_points(oracle, x, plane, 15, 1.0, 1e-9, seed))


@pytest.mark.parametrize("n", [1, 10, 25])
def test_a_disc_of_one_label_costs_its_labels_only(n):
    oracle = Oracle(lambda X: (X**2).sum(1) < 100, 4, positive=True)
    Z = curve_points(oracle, np.zeros(4), np.eye(4)[:, :2], n, 1.0, 1e-9)
    assert Z.shape == (0, 2) and oracle.queries == 2 * n


def test_discs_are_filled_evenly():
    seen = []

    def predict(X):
        seen.append(X)
        return X[:, 0] > 0

    curve_points(Oracle(predict, 2), np.zeros(2), np.eye(2), 2000, 3.0, 1.0)
    r = np.linalg.norm(seen[0], axis=1)
    assert r.max() <= 3 and abs((r < 1.5).mean() - 1 / 4) < 0.03


# Far away

@pytest.mark.parametrize("seed", range(10))
def test_one_label_far_away(seed):
    for kernel, expected in [(Gaussian(1.0), True), (Polynomial(3), False),
                             (Polynomial(3, coef0=0), False), (Linear(), False)]:
        machine = KernelMachine.random(kernel, 12, 4, seed)
        oracle = Oracle(machine.predict, 12, positive=1)
        assert has_one_label_far_away(oracle, 1e5, n=30, random_state=seed) == expected
        assert oracle.queries == 30


def test_far_away_is_as_far_as_it_says():
    seen = []
    oracle = Oracle(lambda X: seen.append(X) or X[:, 0] > 1e9, 5, positive=True)
    assert has_one_label_far_away(oracle, 250.0) and oracle.queries == 40
    np.testing.assert_allclose(np.linalg.norm(seen[0], axis=1), 250)
    assert np.linalg.matrix_rank(seen[0]) == 5
    assert has_one_label_far_away(Oracle(lambda X: X[:, 0] < 1e9, 5, positive=True), 250.0)


def test_a_definite_quadratic_has_one_label_far_away_too():
    ellipsoid = KernelMachine(Polynomial(2), np.eye(3), [1.0, 2.0, 3.0], 20.0)
    assert has_one_label_far_away(Oracle(ellipsoid.predict, 3, positive=1), 1e5)


def test_trained_gaussians_fade():
    X, y = make_moons(100, noise=0.1, random_state=0)
    svc = SVC(kernel="rbf").fit(X, y)
    assert has_one_label_far_away(Oracle(svc.predict, 2, positive=1), 1e5)


# Flat or curved

def flat_share(machine, n=30, seed=0, step=1e-3, width=1e-12):
    oracle, X, V = open_box(machine, n, seed, width)
    before = oracle.queries
    flat = is_locally_flat(oracle, X, V, step, width, seed)
    assert flat.shape == (n,) and flat.dtype == bool
    assert oracle.queries - before < 3 * n * np.log2(step / width)
    return flat.mean()


class Network:
    """A classifier with a random layer."""

    def __init__(self, d, activation, seed):
        rng = np.random.default_rng(seed)
        self.W, self.v = rng.standard_normal((d, 8)), rng.standard_normal(8)
        self.dimension, self.activation = d, activation
        self.b = np.median(self.values(rng.standard_normal((999, d))))

    def values(self, X):
        return self.activation(X @ self.W + 0.3) @ self.v

    def predict(self, X):
        return np.where(self.values(X) > self.b, 1, -1)


def test_heights_on_both_sides_must_cancel(monkeypatch):
    calls = []
    up = np.array([0.3, 0.3, 0.3, np.nan, 0.3])
    down = np.array([-0.3, -0.201, -0.199, -0.3, -0.401])

    def bisect_along(oracle, X, V, guess, step, width, max_distance):
        calls.append((X, V, guess, step, width, max_distance))
        return up

    monkeypatch.setattr(curves_module, "bisect_along", bisect_along)
    rng = np.random.default_rng(0)
    X, V = rng.standard_normal((2, 5, 4))
    V /= np.linalg.norm(V, axis=1, keepdims=True)

    def labels(Z):
        """Positive above `down`, on the lines through X - (X1 - X) along V."""
        Y = 2 * X - calls[0][0]
        heights = np.einsum("zij,ij->zi", Z[:, None] - Y, V)
        off = np.linalg.norm(Z[:, None] - Y - heights[:, :, None] * V, axis=2)
        line = off.argmin(axis=1)
        assert off.min(axis=1).max() < 1e-12
        return heights[np.arange(len(Z)), line] > down[line]

    oracle = Oracle(labels, dimension=4)
    flat = is_locally_flat(oracle, X, V, 2.0, 1e-3, 0)
    assert flat.tolist() == [True, True, False, False, False]
    assert len(calls) == 1 and oracle.queries == 8
    X1, V1, *first = calls[0]
    np.testing.assert_allclose(np.linalg.norm(X1 - X, axis=1), 2)
    np.testing.assert_allclose(((X1 - X) * V).sum(1), 0, atol=1e-12)
    assert V1 is V and first == [0.0, 2.0, 1e-3, 200.0]


@pytest.mark.parametrize("seed", range(5))
def test_flat_and_curved_boundaries(seed):
    assert flat_share(KernelMachine.random(Linear(), 8, 3, seed), seed=seed) == 1
    assert flat_share(Network(8, lambda z: np.maximum(z, 0), seed), seed=seed) > 0.9
    for kernel in KERNELS[1:]:
        assert flat_share(KernelMachine.random(kernel, 8, 4, seed), seed=seed) < 0.1
    assert flat_share(Network(8, np.tanh, seed), seed=seed) < 0.1


@given(seed=seeds, d=st.integers(2, 10), step=st.floats(1e-4, 0.3))
@settings(max_examples=40)
def test_planes_are_flat_and_spheres_are_not(seed, d, step):
    rng = np.random.default_rng(seed)
    n = rng.standard_normal(d)
    n /= np.linalg.norm(n)
    plane = Oracle(lambda X: X @ n > 0.1, d)
    X = rng.standard_normal((6, d))
    X += (0.1 - X @ n)[:, None] * n
    V = rng.standard_normal((6, d)) * 0.3 + n
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    V[V @ n < 0] *= -1
    sensible = V @ n > 0.2
    assert is_locally_flat(plane, X[sensible], V[sensible], step, 1e-11, seed).all()
    sphere = Oracle(lambda X: (X**2).sum(1) > 1, d)
    X = rng.standard_normal((6, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert not is_locally_flat(sphere, X, X, step, 1e-12, seed).any()


def test_where_the_boundary_ends_it_is_not_flat():
    ball = Oracle(lambda X: (X**2).sum(1) > 1, 2)
    flat = is_locally_flat(ball, [[1.0, 0.0]], [[1.0, 0.0]], 3.0, 1e-9)  # beside the ball
    assert not flat.any()
    assert is_locally_flat(ball, np.empty((0, 2)), np.empty((0, 2)), 1.0, 1e-9).shape == (0,)


@pytest.mark.parametrize("seed", range(3))
def test_tanh_is_curved_nearby_and_flat_far_away_and_a_cubic_is_neither(seed):
    shares = {}
    for kernel in (Tanh(1.0, 0.3), Polynomial(3)):
        machine = KernelMachine.random(kernel, 10, 4, seed)
        oracle = Oracle(machine.predict, 10)
        far = np.random.default_rng(seed).standard_normal((60, 10))
        far *= 1e5 / np.linalg.norm(far, axis=1, keepdims=True)
        labels = oracle(far)
        X, V = boundary_points(oracle, *pn_pairs(far[labels > 0], far[labels < 0], 20, 0), 1e-7)
        shares[kernel.name] = [flat_share(machine, seed=seed),
                               is_locally_flat(oracle, X, V, 1e2, 1e-7, seed).mean()]
    assert shares["tanh"][0] < 0.1 and shares["tanh"][1] > 0.8
    assert max(shares["cubic"]) < 0.2


def test_a_trained_relu_network_is_flat_at_every_scale():
    X, y = make_moons(200, noise=0.1, random_state=0)
    network = MLPClassifier((10,), random_state=0, max_iter=2000, tol=1e-3).fit(X, y)
    oracle = Oracle(network.predict, 2)
    labels = oracle(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], 30, 0)
    assert is_locally_flat(oracle, *boundary_points(oracle, P, N, 1e-12), 1e-3, 1e-12).mean() > 0.8


# has_broken_line

@given(seed=seeds, d=st.integers(2, 12), kernel=st.sampled_from([Linear(), Polynomial(2)]))
@settings(max_examples=60)
def test_no_plane_and_no_quadratic_has_a_broken_line(seed, d, kernel):
    machine = KernelMachine.random(kernel, d, 1 + seed % d, seed)
    assert not has_broken_line(*open_box(machine, 10, seed), scale=d**0.5, width=1e-12)


@given(seed=seeds, d=st.integers(2, 12))
@settings(max_examples=60)
def test_a_kink_breaks_lines_and_parallel_planes_do_not(seed, d):
    rng = np.random.default_rng(seed)
    n, a = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    wedge = Oracle(lambda X: X @ n + np.maximum(0, X @ a) > 0.3, d)
    slab = Oracle(lambda X: abs(X @ n) > 0.3, d)
    found = []
    for oracle in (wedge, slab):
        cloud = rng.standard_normal((400, d))
        labels = oracle(cloud)
        pairs = pn_pairs(cloud[labels > 0], cloud[labels < 0], 10, seed)
        X, V = boundary_points(oracle, *pairs, 1e-12)
        found.append(has_broken_line(oracle, X, V, scale=d**0.5 / 2, width=1e-12))
    assert found == [True, False]


@given(seed=seeds, d=st.integers(3, 12), flatness=st.floats(1e-12, 1.0))
@settings(max_examples=60)
def test_a_quadratic_that_is_nearly_flat_has_no_broken_line(seed, d, flatness):
    """Nor a product of two planes, on which labels on the two sides of a line change places."""
    rng = np.random.default_rng(seed)
    n, a = rng.standard_normal((2, d))
    nearly_flat = Oracle(lambda X: X @ n + flatness * (X @ a) ** 2 > 0.1, d)
    product = Oracle(lambda X: (X @ n - 0.1) * (flatness * (X @ a) + 1) > 0, d)
    for oracle in (nearly_flat, product):
        cloud = rng.standard_normal((400, d))
        labels = oracle(cloud)
        pairs = pn_pairs(cloud[labels > 0], cloud[labels < 0], 10, seed)
        X, V = boundary_points(oracle, *pairs, 1e-12)
        assert not has_broken_line(oracle, X, V, scale=1.0, width=1e-12)
