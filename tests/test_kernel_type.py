"""Curves in planes, votes, misfits, labels far away, flat and curved boundaries."""

from itertools import combinations_with_replacement, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.bracketing import boundary_points, pn_pairs
from decon.kernel_type import (
    curve_points,
    goes_straight_on,
    same_label_far_away,
    vote_of_plane,
    votes_on_kernel_type,
)
from decon.polynomial import fit_polynomial, misfit

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


def residual(Z, degree):
    """The last singular value of the monomials, weighted so that |coefficients| = |tensor|."""
    H = np.c_[Z / np.sqrt(np.mean(Z**2)), np.ones(len(Z))]
    H /= np.linalg.norm(H, axis=1, keepdims=True)
    columns = [np.sqrt(len(set(permutations(index)))) * H[:, list(index)].prod(axis=1)
               for index in combinations_with_replacement(range(3), degree)]
    return np.linalg.svd(np.array(columns).T, compute_uv=False)[-1]


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


# Votes

@pytest.mark.parametrize("degree", [1, 2, 3])
def test_any_points_but_one_fewer_than_coefficients_fit(degree):
    """Through any C(D + 2, 2) - 1 points there is a curve of degree D; through more, in general
    not. So nine points of whatever curve vote for a cubic at most."""
    rng = np.random.default_rng(degree)
    needed = comb(degree + 2, 2) - 1
    for _ in range(20):
        assert vote_of_plane(rng.standard_normal((needed, 2)), 1e-12) <= degree
        assert fit_polynomial(rng.standard_normal((needed, 2)), degree)[1][1] < 1e-14
        more = rng.standard_normal((needed + 3, 2))
        assert fit_polynomial(more, degree)[1][1] > 1e-4
    assert vote_of_plane(rng.standard_normal((40, 2)), 1e-6) is None


def test_votes_with_fewer_than_nine_points():
    rng = np.random.default_rng(0)
    line = rng.standard_normal((4, 1)) * [1.0, 2.0] + [0.0, 1.0]
    assert vote_of_plane(line, 1e-9) == 1
    assert vote_of_plane(rng.standard_normal((8, 2)) * [1, 0], 1e-9) == 1
    for n in (6, 7, 8):
        with pytest.raises(ValueError, match="degree 3 in 2 variables needs 9 points"):
            vote_of_plane(rng.standard_normal((n, 2)), 1e-9)


@given(seed=seeds, exponent=st.floats(-9, -1))
@settings(max_examples=60)
def test_a_vote_is_the_smallest_degree_within_the_tolerance(seed, exponent):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, 20)
    Z = np.c_[t, 10 ** rng.uniform(-6, 0) * np.sin(t) + 10 ** rng.uniform(-6, 0) * t**2]
    tolerance = 10.0**exponent
    fits = [D for D in (1, 2, 3) if residual(Z, D) / np.sqrt(20) <= tolerance]
    assert vote_of_plane(Z, tolerance) == (fits[0] if fits else None)


@pytest.mark.parametrize("kernel, expected", [
    (Linear(), "linear"), (Polynomial(2), "quadratic"), (Polynomial(3), "cubic"),
    (Tanh(1.0, 0.3), "transcendental"), (Gaussian(1.0), "transcendental")])
@pytest.mark.parametrize("seed", range(3))
def test_the_majority_is_right_at_good_settings(kernel, expected, seed):
    machine = KernelMachine.random(kernel, 30, 12, seed)
    oracle, X, _ = open_box(machine, 25, seed, width=1e-6)
    before = oracle.queries
    votes = votes_on_kernel_type(oracle, X, radius=3 * np.sqrt(30), tolerance=10**-7.5,
                                 random_state=seed)
    assert votes.most_common(1)[0][0] == expected
    assert votes.total() <= 25
    assert 300 * votes.total() < oracle.queries - before < 25 * 700
    again = votes_on_kernel_type(oracle, X, radius=3 * np.sqrt(30), tolerance=10**-7.5,
                                 random_state=seed)
    assert votes == again


def test_a_small_disc_makes_a_tanh_a_polynomial():
    """From close by everything is a cubic: the paper's test needs a wide disc."""
    oracle, X, _ = open_box(KernelMachine.random(Tanh(1.0, 0.3), 30, 12, 0), 25, 0, 1e-6)
    near = votes_on_kernel_type(oracle, X, radius=0.5)
    far = votes_on_kernel_type(oracle, X, radius=15.0)
    assert near["transcendental"] == 0 and far["transcendental"] > 13


def test_planes_through_the_origin_cut_a_cone_in_lines():
    """coef0 = 0 and b = 0: a quadratic box that every such plane calls linear."""
    rng = np.random.default_rng(0)
    cone = KernelMachine(Polynomial(2, coef0=0), rng.standard_normal((4, 8)), [1, -1, 1, -1], 0.0)
    oracle, X, V = open_box(cone, 10)
    votes = votes_on_kernel_type(oracle, X, radius=0.1, width=1e-9)
    assert votes["linear"] >= 8
    planes = [a_plane(v, 1) for v in V]
    seen = [curve_points(oracle, x, plane, 20, 1.0, 1e-9, 0)
            for x, plane in zip(X, planes, strict=True)]
    assert all(vote_of_plane(Z, 1e-7) == 2 for Z in seen if len(Z))


def test_planes_of_one_label_do_not_vote():
    oracle = Oracle(lambda X: X[:, 0] > 1e9, 3, positive=True)
    assert votes_on_kernel_type(oracle, np.eye(3)) == {}


# Misfits

@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_misfit_of_random_machines(seed, degree):
    """Below one, and the provable bound, for the right degree; far above ten for lower ones."""
    kernel = Polynomial(degree) if degree > 1 else Linear()
    machine = KernelMachine.random(kernel, 12, 4, seed)
    oracle, X, V = open_box(machine, 3, seed)
    for j, (x, v) in enumerate(zip(X, V, strict=True)):
        for radius in (1.0, 10.0):
            Z = curve_points(oracle, x, a_plane(v, j), 20, radius, 1e-12 * radius, j)
            for D in (1, 2, 3):
                m, excess = misfit(Z, D, 1e-12 * radius), 21 - comb(D + 2, 2)
                if D == degree:
                    assert m < 0.5 < D / 2 * np.sqrt(20 / excess)
                elif D < degree:
                    assert m > 10


@given(seed=seeds, degree=st.integers(1, 4), n=st.integers(16, 40))
@settings(max_examples=100)
def test_misfit_never_exceeds_its_bound(seed, degree, n):
    """Points within half a width of a curve of degree D, adversarial signs included."""
    rng = np.random.default_rng(seed)
    forms = rng.standard_normal((degree, 3))  # a product of lines, or of a circle and lines
    width, Z = 1e-8, []
    for form in forms[rng.integers(degree, size=n)]:
        u = form[:2] / np.linalg.norm(form[:2])
        t = rng.uniform(-1, 1)
        foot = -form[2] / np.linalg.norm(form[:2]) * u
        Z.append(foot + t * np.array([-u[1], u[0]]) + width / 2 * rng.choice([-1, 1]) * u)
    bound = degree / 2 * np.sqrt(n / (n + 1 - comb(degree + 2, 2)))
    assert misfit(np.array(Z), degree, width) <= bound * (1 + 1e-6)


@given(seed=seeds, degree=st.integers(1, 3), angle=st.floats(0, 7), scale=st.floats(1e-3, 1e3))
@settings(max_examples=60)
def test_misfit_knows_no_rotation_and_no_scale(seed, degree, angle, scale):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, 25)
    Z = np.c_[np.cos(t), np.sin(2 * t) + np.cos(t + 1)] + rng.standard_normal(2)
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    first = misfit(Z, degree, 1e-6)
    assert misfit(scale * Z @ Q, degree, scale * 1e-6) == pytest.approx(first, rel=0.3)
    assert misfit(scale * Z, degree, scale * 1e-6) == pytest.approx(first)
    assert misfit(Z, degree, 1e-9) == pytest.approx(1000 * first)


@given(seed=seeds, degree=st.integers(1, 4), n=st.integers(15, 40))
@settings(max_examples=60)
def test_misfit_against_a_singular_value(seed, degree, n):
    """Where nothing fits, inverse iteration stops a little above the smallest value."""
    Z = np.random.default_rng(seed).standard_normal((n, 2))
    excess = n - (comb(degree + 2, 2) - 1)
    expected = residual(Z, degree) / np.sqrt(excess) * np.sqrt(np.mean(Z**2)) / 1e-3
    assert expected * (1 - 1e-9) <= misfit(Z, degree, 1e-3) < 1.5 * expected


def test_misfit_counts_degrees_of_freedom():
    """Its mean square does not depend on the number of points: that is what the excess is for."""
    rng = np.random.default_rng(0)

    def mean_square(n):
        found = []
        for _ in range(300):
            a = rng.uniform(0, 2 * np.pi, n)
            Z = np.c_[np.cos(a), np.sin(a)] + rng.uniform(-5e-7, 5e-7, (n, 2))
            found.append(misfit(Z, 2, 1e-6) ** 2)
        return np.mean(found)

    values = [mean_square(n) for n in (7, 10, 20, 40)]
    assert max(values) / min(values) < 1.4


@pytest.mark.parametrize("degree, order", [(1, 1), (2, 4), (3, 8)])
def test_residuals_fade_with_the_order_of_contact(degree, order):
    """From close by every smooth curve has any degree: r^(C(D + 2, 2) - 2)."""
    t = np.linspace(-1, 1, 30)
    small, large = (residual(np.c_[r * t, np.exp(3 * r * t) - 1], degree) for r in (0.16, 0.32))
    assert abs(np.log2(large / small) - order) < 0.2


# Far away

@pytest.mark.parametrize("seed", range(10))
def test_same_label_far_away(seed):
    for kernel, expected in [(Gaussian(1.0), True), (Polynomial(3), False),
                             (Polynomial(3, coef0=0), False), (Linear(), False)]:
        machine = KernelMachine.random(kernel, 12, 4, seed)
        oracle = Oracle(machine.predict, 12, positive=1)
        assert same_label_far_away(oracle, 1e5, n=30, random_state=seed) == expected
        assert oracle.queries == 30


def test_a_definite_quadratic_has_one_label_far_away_too():
    ellipsoid = KernelMachine(Polynomial(2), np.eye(3), [1.0, 2.0, 3.0], 20.0)
    assert same_label_far_away(Oracle(ellipsoid.predict, 3, positive=1), 1e5)


def test_trained_gaussians_fade():
    X, y = make_moons(100, noise=0.1, random_state=0)
    svc = SVC(kernel="rbf").fit(X, y)
    assert same_label_far_away(Oracle(svc.predict, 2, positive=1), 1e5)


# Flat or curved

def flat_share(machine, n=30, seed=0, step=1e-3, width=1e-12):
    oracle, X, V = open_box(machine, n, seed, width)
    before = oracle.queries
    flat = goes_straight_on(oracle, X, V, step, width, seed)
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
    assert goes_straight_on(plane, X[sensible], V[sensible], step, 1e-11, seed).all()
    sphere = Oracle(lambda X: (X**2).sum(1) > 1, d)
    X = rng.standard_normal((6, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert not goes_straight_on(sphere, X, X, step, 1e-12, seed).any()


def test_where_the_boundary_ends_it_is_not_flat():
    ball = Oracle(lambda X: (X**2).sum(1) > 1, 2)
    flat = goes_straight_on(ball, [[1.0, 0.0]], [[1.0, 0.0]], 3.0, 1e-9)  # beside the ball
    assert not flat.any()
    assert goes_straight_on(ball, np.empty((0, 2)), np.empty((0, 2)), 1.0, 1e-9).shape == (0,)


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
                               goes_straight_on(oracle, X, V, 1e2, 1e-7, seed).mean()]
    assert shares["tanh"][0] < 0.1 and shares["tanh"][1] > 0.8
    assert max(shares["cubic"]) < 0.2


def test_a_trained_relu_network_is_flat_at_every_scale():
    X, y = make_moons(200, noise=0.1, random_state=0)
    network = MLPClassifier((10,), random_state=0, max_iter=2000, tol=1e-3).fit(X, y)
    oracle = Oracle(network.predict, 2)
    labels = oracle(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], 30, 0)
    assert goes_straight_on(oracle, *boundary_points(oracle, P, N, 1e-12), 1e-3, 1e-12).mean() > 0.8


def test_misfit_of_as_few_points_as_a_curve_goes_through():
    Z = np.random.default_rng(0).standard_normal((5, 2))
    assert misfit(Z, 2, 1e-6) < 1e-6
    with pytest.raises(ValueError, match="needs 5 points, got 4"):
        misfit(Z[:4], 2, 1e-6)
