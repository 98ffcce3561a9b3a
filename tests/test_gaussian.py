"""Sums of exponentials taken apart, and Gaussian machines measured by a stick out of S_Y."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, deconstruct
from decon.bracketing import boundary_points, pn_pairs
from decon.exponentials import Exponentials, errors_of_vectors, fit, most_telling
from decon.gaussian import Stick, _lean, gaussian_machine
from decon.normals import orthonormal_complement
from decon.pencil import sigma_candidates, take_apart, triple_sums


def random_exponentials(seed, m, k):
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((m, k))
    alpha = rng.uniform(0.3, 1, m) * rng.choice([-1, 1], m)
    shifts = np.concatenate([np.zeros((1, k)), 0.4 * rng.standard_normal((m, k))])
    return theta, alpha, shifts


def matched(found, truth):
    """For each row of the truth, the distance to the nearest row found."""
    return np.linalg.norm(found[:, None] - truth, axis=2).min(0)


# -- sums of exponentials ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 7])
def test_the_two_matrices_need_only_n_squared_points(n):
    shifts = np.random.default_rng(n).standard_normal((n, 3)) * (np.arange(n)[:, None] > 0)
    triples, index = triple_sums(shifts)
    points = shifts[triples].sum(1)
    assert len(triples) == n**2
    for c in (0, 1):
        np.testing.assert_allclose(points[index[c]], shifts[:, None] + shifts + shifts[c],
                                   atol=1e-12)


def test_shifts_must_begin_with_zero():
    with pytest.raises(ValueError, match="the first of them zero"):
        triple_sums(np.ones((3, 2)))


@given(seed=st.integers(0, 10**6), m=st.integers(2, 6), sigma=st.floats(0.3, 5))
@settings(deadline=None, max_examples=40)
def test_a_sum_of_exponentials_shows_its_sigma_and_its_terms(seed, m, sigma):
    theta, alpha, shifts = random_exponentials(seed, m, m)
    alpha = np.abs(alpha)
    triples, index = triple_sums(shifts)
    G = np.exp(shifts[triples].sum(1) @ theta.T) @ alpha
    ell = 2 * sigma**2 * np.log(G)
    sigma2, contrast = sigma_candidates(ell, index)
    assert contrast[0] < 1e-4 and np.all(np.diff(contrast) >= 0)
    assert abs(sigma2[0] / sigma**2 - 1) < 1e-5
    found, amplitudes = take_apart(ell, index, shifts, sigma**2)
    np.testing.assert_allclose(np.exp(shifts[triples].sum(1) @ found.T) @ amplitudes, G, rtol=1e-5)
    assert np.median(matched(found, theta)) < 1e-4


def test_a_function_that_is_no_such_sum_has_no_sigma():
    rng = np.random.default_rng(0)
    shifts = np.concatenate([np.zeros((1, 4)), rng.standard_normal((4, 4))])
    triples, index = triple_sums(shifts)
    Y = rng.standard_normal((4, 4))
    points = shifts[triples].sum(1)
    cauchy = (1 / (1 + ((points[:, None] - Y) ** 2).sum(2))).sum(1)
    ell = (points**2).sum(1) + 2 * np.log(cauchy)
    assert sigma_candidates(ell, index)[1].min(initial=1) > 1e-4


def random_surface(seed, m=4, k=3):
    """A surface of Gaussian type, and points of it."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((m, k))
    box = KernelMachine(Gaussian(1.0), Y, rng.uniform(0.5, 1, m), 0.4)
    Z = 3 * rng.standard_normal((4000, k))
    labels = box.predict(Z)
    X, _ = boundary_points(Oracle(box.predict, k),
                           *pn_pairs(Z[labels > 0], Z[labels < 0], 80, rng), 1e-14)
    alpha = box.weights / box.threshold * np.exp(-(Y**2).sum(1) / 2)
    return Exponentials(Y, alpha, 0.5), X


@pytest.mark.parametrize("seed", range(5))
def test_a_level_set_of_a_gaussian_machine_is_such_a_surface(seed):
    surface, X = random_surface(seed)
    assert np.abs(surface.distance(X)).max() < 1e-12
    h = 1e-6
    numeric = [(surface(X + h * e) - surface(X - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(surface.gradient(X), np.transpose(numeric), atol=1e-7)
    steps = np.eye(surface.theta.size + 4 + 1) * h
    numeric = [(surface.moved(s).distance(X) - surface.moved(-s).distance(X)) / (2 * h)
               for s in steps]
    np.testing.assert_allclose(surface.slopes(X), np.transpose(numeric), atol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_a_fit_finds_the_surface_again(seed):
    surface, X = random_surface(seed)
    rng = np.random.default_rng(seed)
    start = surface.moved(0.01 * rng.standard_normal(surface.theta.size + 4 + 1))
    found, rms = fit(start, X)
    assert rms < 1e-12
    assert matched(found.theta / (2 * found.tau), surface.theta).max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_points_that_tell_most_lower_the_errors_most(seed):
    surface, X = random_surface(seed)
    few, candidates = X[:30], X[30:]
    chosen, uncertainty = most_telling(surface, few, candidates, 8, np.inf, 1e-12)
    assert len(chosen) == 8 and np.all(uncertainty > 0)
    rows = (chosen[:, None] == candidates).all(2)
    assert (rows.sum(1) == 1).all() and rows.sum() == 8  # eight different ones of them
    rng = np.random.default_rng(seed)
    by_chance = [candidates[rng.permutation(50)[:8]] for _ in range(20)]
    volumes = [np.linalg.slogdet(J.T @ J)[1] for J in
               (surface.slopes(np.concatenate([few, more])) for more in [chosen, *by_chance])]
    assert volumes[0] > max(volumes[1:])
    limit = np.median(uncertainty)
    assert most_telling(surface, few, candidates, 50, limit, 1e-12)[1].max() < limit


def test_the_predicted_errors_are_the_errors():
    ratios = []
    for seed in range(10):
        surface, X = random_surface(seed)
        X = X + 1e-7 * np.random.default_rng(seed).standard_normal(X.shape)
        found, rms = fit(surface, X)
        error = (found.theta / (2 * found.tau) - surface.theta)[:, :-1]
        ratios.append(np.linalg.norm(error, axis=1) / errors_of_vectors(found, X, rms))
    assert 0.5 < np.sqrt(np.mean(np.square(ratios))) < 2


def test_too_few_points_and_lost_soundings_are_refused():
    surface, X = random_surface(0)
    with pytest.raises(ValueError, match="17 parameters need at least as many points, got 5"):
        fit(surface, X[:5])
    _, index = triple_sums(np.eye(3)[[0, 1, 2]] * [[0], [1], [1]])
    with pytest.raises(ValueError, match="ell must be finite"):
        sigma_candidates(np.full(9, np.nan), index)


def test_a_fit_never_makes_it_worse():
    surface, X = random_surface(0)
    X = X + 0.3 * np.random.default_rng(0).standard_normal(X.shape)  # points of nothing
    before = np.sqrt(np.mean(surface.distance(X) ** 2))
    assert fit(surface, X)[1] <= before


# -- the measuring stick -----------------------------------------------------------------------


def machine_and_view(seed, m=5, d=9, sigma=1.0, tilt=0.0, kernel=None):
    """A random machine, an oracle, and what is known of S_Y when the stick is taken up."""
    box = KernelMachine.random(kernel or Gaussian(sigma), d, m, seed)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((800, d))
    labels = box.predict(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], 30, rng)
    points, _ = boundary_points(Oracle(box.predict, d), P, N, 1e-12)
    normals = box.gradient(points)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    basis = np.linalg.qr(box.support_vectors.T)[0]
    basis = np.linalg.qr(basis + tilt * rng.standard_normal(basis.shape))[0]
    return box, Oracle(box.predict, d), basis, points, normals, X[:100]


@pytest.mark.parametrize("seed", range(6))
def test_the_stick_measures_the_logarithm_of_psi(seed):
    box, oracle, basis, points, *_ = machine_and_view(seed, sigma=2.0)
    direction = orthonormal_complement(basis)[:, 0]
    inside = int(np.sign(box.threshold))
    Z = points @ basis
    stick = Stick(oracle, basis, direction, inside, reach=3.0)
    assert stick.holds(Z)  # a boundary point's shadow on S_Y is inside
    q = stick.lengths(Z, guess=1.0, step=0.5)
    psi = box.decision_function(Z @ basis.T) + box.threshold
    np.testing.assert_allclose(q**2, 2 * 2.0**2 * np.log(psi / box.threshold), rtol=1e-9)
    assert not Stick(oracle, basis, direction, -inside, reach=3.0).holds(Z)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sigma", [1.5, 4.0])
def test_a_random_machine_is_measured(seed, sigma):
    box, oracle, *view = machine_and_view(seed, sigma=sigma, tilt=1e-9)
    machine, rms, doubt = gaussian_machine(oracle, *view, reach=3.0, random_state=seed)
    lengths = np.linalg.norm(box.support_vectors, axis=1)
    error = matched(machine.support_vectors, box.support_vectors) / lengths
    assert abs(machine.kernel.sigma / sigma - 1) < 1e-6
    assert rms < 1e-12 and error.max() < 1e-4 and error.max() < 30 * doubt
    assert np.abs(machine.weights).max() == 1
    assert np.sign(machine.threshold) == np.sign(box.threshold)
    nearest = np.linalg.norm(machine.support_vectors[:, None] - box.support_vectors,
                             axis=2).argmin(0)
    np.testing.assert_allclose(machine.weights[nearest] / machine.threshold,
                               box.weights / box.threshold, rtol=1e-3)
    assert oracle.queries < 6000  # 5 vectors: 32 numbers and a tilt, each to about 40 bits


def test_the_last_direction_out_of_S_Y_is_enough():
    box, oracle, *view = machine_and_view(3, m=6, d=7)
    machine, *_ = gaussian_machine(oracle, *view, reach=3.0)
    assert matched(machine.support_vectors, box.support_vectors).max() < 1e-5


class Cauchy(Gaussian):
    """1 / (1 + |x - y|^2), which can be turned about S_Y like a Gaussian, but is none."""

    def __call__(self, X, Y):
        return 1 / (1 + ((np.asarray(X)[:, None] - np.asarray(Y)) ** 2).sum(2))

    def gradient(self, X, Y, weights):
        difference = np.asarray(X)[:, None] - np.asarray(Y)
        slope = -2 / (1 + (difference**2).sum(2)) ** 2 * weights
        return (slope[:, :, None] * difference).sum(1)


@pytest.mark.parametrize("seed", range(5))
def test_a_cauchy_machine_is_refused(seed):
    _, oracle, *view = machine_and_view(seed, kernel=Cauchy())
    with pytest.raises(ArithmeticError, match="no Gaussian machine"):
        gaussian_machine(oracle, *view, reach=3.0)


def test_a_missing_support_vector_is_noticed():
    box, oracle, basis, *view = machine_and_view(1)
    basis = np.linalg.qr(box.support_vectors[:-1].T)[0]
    with pytest.raises(ArithmeticError, match="no Gaussian machine"):
        gaussian_machine(oracle, basis, *view, reach=3.0)


# -- the whole way, from yes and no ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_deconstruct_returns_the_box_itself(seed):
    box = KernelMachine.random(Gaussian(1.5), 12, 5, seed)
    features = np.random.default_rng(seed).standard_normal((20, 12))
    oracle = Oracle(box.predict, 12)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    assert result.kernel_type == "gaussian" and result.exact and result.n_support == 5
    assert abs(result.machine.kernel.sigma - 1.5) < 1e-6
    assert matched(result.machine.support_vectors, box.support_vectors).max() < 1e-5
    assert result.queries["measuring stick"] < 6000


def test_the_training_points_of_an_svc_come_back():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    svc = SVC(kernel="rbf").fit(X[10:26], y[10:26])
    result = deconstruct(Oracle(svc.predict, 30), X[:40], random_state=0, progress=False)
    assert result.exact and result.n_support == len(svc.support_vectors_)
    assert abs(2 * svc._gamma * result.machine.kernel.sigma**2 - 1) < 1e-6
    assert matched(result.machine.support_vectors, svc.support_vectors_).max() < 1e-4


def test_vectors_too_much_alike_are_not_called_the_boxs_own():
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((4, 8)) / np.sqrt(8)
    Y[1] = Y[0] + 1e-2 * rng.standard_normal(8) / np.sqrt(8)
    X = rng.standard_normal((200, 8))
    psi = KernelMachine(Gaussian(6.0), Y, [1.0, -0.6, 0.8, 0.7], 0).decision_function(X)
    box = KernelMachine(Gaussian(6.0), Y, [1.0, -0.6, 0.8, 0.7], np.median(psi))
    result = deconstruct(Oracle(box.predict, 8), X, random_state=0, progress=False)
    assert not result.exact
    assert result.kernel_type == "unknown" or "relative error" in result.reason


@pytest.mark.parametrize("seed", range(5))
def test_places_outside_do_not_disturb_how_far_vectors_lean(seed):
    rng = np.random.default_rng(seed)
    Y, leans = rng.standard_normal((3, 3)), 1e-5 * rng.standard_normal((3, 3))
    box = KernelMachine(Gaussian(1.0), np.c_[Y, leans], rng.uniform(0.5, 1, 3), 0.05)
    stick = Stick(Oracle(box.predict, 6), np.eye(6)[:, :3], np.eye(6)[3], 1, 1.0)
    Z = np.concatenate([Y + 0.5 * rng.standard_normal((5, 3, 3)), [[[30.0, 0, 0]] * 3]])
    found, _ = _lean(stick, Y, box.weights / box.threshold, 0.5, Z.reshape(-1, 3), leans[:, 0],
                     np.eye(6)[:, 4:])
    np.testing.assert_allclose(found, leans[:, 1:], atol=1e-9)
