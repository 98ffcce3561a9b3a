"""Rotations about S_Y: isometries that a radial machine cannot see, and what that is good for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, Polynomial
from decon.boundary.bracketing import boundary_points
from decon.boundary.normals import orthonormal_complement, slope_normals
from decon.boundary.pairs import pn_pairs
from decon.subspaces import revolution
from decon.subspaces.multipliers import multipliers_for
from decon.subspaces.revolution import reflected
from decon.subspaces.spans import largest_sine
from tests.test_normals import on_boundary

RADIAL = {  # g(u), u the squared distance
    "Gaussian": lambda u: np.exp(-u / 3),
    "Cauchy": lambda u: 1 / (1 + u),
    "multiquadric": lambda u: np.sqrt(1 + u),
    "exponential": lambda u: np.exp(-np.sqrt(u)),
    "wave": lambda u: np.cos(u / 5),
    "squared distance": lambda u: u,
}


def problem(seed, d, m, n=7):
    """Support vectors and weights, points and directions, and where the points are to go."""
    rng = np.random.default_rng(seed)
    Y, w = rng.standard_normal((m, d)), rng.standard_normal(m)
    X, V = rng.standard_normal((2, n, d))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    W = orthonormal_complement(np.linalg.qr(Y.T)[0])
    P = rng.standard_normal((n, d - m))
    P *= np.linalg.norm(X @ W, axis=1, keepdims=True) / np.linalg.norm(P, axis=1, keepdims=True)
    if d - m == 1:
        P = -X @ W  # the only other vector of that length
    return Y, w, X, V, W, P


dimensions = st.tuples(st.integers(1, 8), st.integers(1, 5)).map(lambda p: (sum(p), p[0]))


@given(seed=st.integers(0, 10**6), dm=dimensions)
@settings(max_examples=60)
def test_reflections_move_only_what_lies_across(seed, dm):
    Y, _, X, V, W, P = problem(seed, *dm)
    X2, V2 = reflected(X, V, W, P)
    np.testing.assert_allclose(X2 @ W, P, atol=1e-12)
    np.testing.assert_allclose(X2 @ Y.T, X @ Y.T, atol=1e-12)  # the projection on S_Y
    np.testing.assert_allclose(np.linalg.norm(X2 @ W, axis=1), np.linalg.norm(X @ W, axis=1))
    np.testing.assert_allclose(np.linalg.norm(X2, axis=1), np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(V2 @ Y.T, V @ Y.T, atol=1e-12)
    np.testing.assert_allclose((X2 * V2).sum(1), (X * V).sum(1), atol=1e-12)  # one isometry
    np.testing.assert_allclose(np.linalg.norm(V2, axis=1), 1)
    back, V3 = reflected(X2, V2, W, X @ W)  # a reflection undoes itself
    np.testing.assert_allclose(back, X, atol=1e-12)
    np.testing.assert_allclose(V3, V, atol=1e-12)


@given(seed=st.integers(0, 10**6), dm=dimensions, name=st.sampled_from(sorted(RADIAL)))
@settings(max_examples=60)
def test_no_radial_machine_notices(seed, dm, name):
    Y, w, X, V, W, P = problem(seed, *dm)

    def psi(X):
        return RADIAL[name](((X[:, None] - Y) ** 2).sum(2)) @ w

    X2, V2 = reflected(X, V, W, P)
    size = abs(psi(X)).max() + abs(w).sum()
    np.testing.assert_allclose(psi(X2), psi(X), atol=1e-10 * size)
    for t in (-0.3, 1e-3, 2.0):  # and along the turned directions it is the same function
        np.testing.assert_allclose(psi(X2 + t * V2), psi(X + t * V), atol=1e-10 * size)
    b = np.median(psi(X)) + 1e-6
    np.testing.assert_array_equal(psi(X2) > b, psi(X) > b)


@given(seed=st.integers(0, 10**6), dm=dimensions)
@settings(max_examples=30)
def test_gradients_turn_with_the_points(seed, dm):
    Y, w, X, V, W, P = problem(seed, *dm)
    machine = KernelMachine(Gaussian(2.0), Y, w, 0.1)
    X2, V2 = reflected(X, V, W, P)
    np.testing.assert_array_equal(machine.predict(X2), machine.predict(X))
    slopes = (machine.gradient(X) * V).sum(1)
    np.testing.assert_allclose((machine.gradient(X2) * V2).sum(1), slopes, atol=1e-12)


def test_a_turn_by_nothing_changes_nothing():
    _, _, X, V, W, _ = problem(0, 6, 2)
    X2, V2 = reflected(X, V, W, X @ W)
    np.testing.assert_allclose(X2, X, atol=1e-15)
    np.testing.assert_allclose(V2, V, atol=1e-15)


def with_more(basis, extra, rng):
    """An orthonormal basis of the span and some random directions, mixed."""
    basis = np.linalg.qr(np.c_[basis, rng.standard_normal((len(basis), extra))])[0]
    return basis @ np.linalg.qr(rng.standard_normal((basis.shape[1],) * 2))[0]


@pytest.mark.parametrize("d, m", [(14, 5), (9, 7), (6, 5), (4, 1)])
@pytest.mark.parametrize("seed", range(6))
def test_turning_passes_for_supersets_and_for_nothing_smaller(seed, d, m):
    machine = KernelMachine.random(Gaussian(1.0), d, m, seed)
    oracle, X, V, _ = on_boundary(machine, 30, seed)
    rng, truth = np.random.default_rng(seed), np.linalg.qr(machine.support_vectors.T)[0]
    for extra in range(d - m):
        before = oracle.queries
        basis = with_more(truth, extra, rng)
        for angle in (0.05, 1.0, np.pi / 2):
            assert revolution.holds(oracle, X, V, basis, angle, 1e-8, rng).mean() > 0.95
        assert oracle.queries - before == 3 * 2 * 30
    for less in range(1, m):
        part = with_more(truth, 0, rng)[:, less:]
        assert revolution.holds(oracle, X, V, part, np.pi / 2, 1e-6, rng).mean() < 0.3
    other = np.linalg.qr(rng.standard_normal((d, m)))[0]
    assert revolution.holds(oracle, X, V, other, np.pi / 2, 1e-6, rng).mean() < 0.3


def test_any_hyperplane_makes_some_gamma_but_its_mirror_does_not_lie():
    machine = KernelMachine.random(Gaussian(1.0), 12, 4, 0)
    oracle, X, V, N = on_boundary(machine, 40, 0)
    a = np.random.default_rng(0).standard_normal(12)
    gamma = (N @ a) / (X @ a)
    assert np.linalg.svd(N - gamma[:, None] * X)[1][11] < 1e-12
    basis = orthonormal_complement(a[:, None])
    assert not revolution.holds(oracle, X, V, basis, 1.0, 1e-6).any()


@pytest.mark.parametrize("predict", [
    pytest.param(lambda X: np.exp(-np.abs(X[:, None] - np.eye(8)[:3]).sum(2)).sum(1) > 0.05,
                 id="Laplacian"),
    pytest.param(KernelMachine.random(Polynomial(3), 8, 3, 1).predict, id="cubic"),
])
def test_other_models_do_not_turn(predict):
    rng = np.random.default_rng(0)
    oracle = Oracle(predict, 8)
    cloud = rng.standard_normal((2000, 8))
    labels = oracle(cloud)
    P, N = pn_pairs(cloud[labels > 0], cloud[labels < 0], 30, 0)
    X, V = boundary_points(oracle, P, N, 1e-13)
    assert revolution.holds(oracle, X, V, np.eye(8)[:, :3], 1.0, 1e-6).mean() < 0.2


def tilted(truth, size, rng):
    tilt = rng.standard_normal(truth.shape)
    tilt -= truth @ (truth.T @ tilt)
    return np.linalg.qr(truth + size * tilt / np.linalg.norm(tilt, 2))[0]


def sharpened(oracle, X, V, normals, basis, unit):
    for angle, step, width in ((0.1, 1e-4, 1e-9), (np.pi / 2, 1e-6, 1e-12),
                               (np.pi / 2, 1e-9, 1e-12)):
        basis = revolution.refine(oracle, X, V, normals, basis, angle, step * unit, width * unit)
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    return basis


@pytest.mark.parametrize("d, m", [(30, 12), (30, 3), (10, 9), (7, 1), (5, 4), (2, 1)])
@pytest.mark.parametrize("seed", range(5))
def test_sharpening_takes_a_thousandth_to_rounding(seed, d, m):
    machine = KernelMachine.random(Gaussian(1.0), d, m, seed)
    oracle, X, V, _ = on_boundary(machine, 4 * m + 8, seed, scale=1.0)
    normals = slope_normals(oracle, X, V, 1e-6, 1e-12)
    good = np.isfinite(normals[:, 0])
    truth = np.linalg.qr(machine.support_vectors.T)[0]
    start = tilted(truth, 1e-3, np.random.default_rng(seed + 100))
    assert largest_sine(start, truth) > 9e-4
    basis = sharpened(oracle, X[good], V[good], normals[good], start, 1.0)
    assert largest_sine(basis, truth) < 1e-8


@pytest.mark.parametrize("data, n", [("cancer", 20), ("digits", 30)])
@pytest.mark.parametrize("seed", range(4))
def test_sharpening_on_trained_machines(data, n, seed):
    X, y = load_breast_cancer(return_X_y=True) if data == "cancer" else load_digits(return_X_y=True)
    X, y = (StandardScaler().fit_transform(X), y) if data == "cancer" else (X / 8, y % 2)
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    svc = SVC(kernel="rbf").fit(X[rows], y[rows])
    rank = np.linalg.matrix_rank(svc.support_vectors_)
    truth = np.linalg.svd(svc.support_vectors_.T, full_matrices=False)[0][:, :rank]
    oracle = Oracle(svc.predict, X.shape[1])
    labels = oracle(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], 4 * rank, seed)
    points, V = boundary_points(oracle, P, N, 1e-13)
    normals = slope_normals(oracle, points, V, 3e-6, 3e-12)
    good = np.isfinite(normals[:, 0])
    start = tilted(truth, 1e-3, np.random.default_rng(seed + 100))
    basis = sharpened(oracle, points[good], V[good], normals[good], start, 1.0)
    assert largest_sine(basis, truth) < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_one_step_squares_the_error(seed):
    machine = KernelMachine.random(Gaussian(1.0), 12, 4, seed)
    oracle, X, V, N = on_boundary(machine, 30, seed)  # N is exact here
    truth, errors = np.linalg.qr(machine.support_vectors.T)[0], []
    for size in (1e-3, 1e-4):
        start = tilted(truth, size, np.random.default_rng(seed + 100))
        before = oracle.queries
        basis = revolution.refine(oracle, X, V, N, start, 1.0, 1e-4, 1e-13)
        assert oracle.queries - before > 4 * 8 * 2
        errors.append(largest_sine(basis, truth))
    assert errors[1] < 0.03 * errors[0]


def test_sharpening_a_superset_leaves_it_one():
    machine = KernelMachine.random(Gaussian(1.0), 14, 5, 0)
    oracle, X, V, _ = on_boundary(machine, 40, 0)
    normals = slope_normals(oracle, X, V, 1e-6, 1e-12)
    good = np.isfinite(normals[:, 0])
    rng, truth = np.random.default_rng(0), np.linalg.qr(machine.support_vectors.T)[0]
    start = tilted(with_more(truth, 2, rng), 1e-4, rng)
    basis = sharpened(oracle, X[good], V[good], normals[good], start, 1.0)
    assert largest_sine(basis, truth) < 1e-8 < largest_sine(start, truth)


@pytest.mark.parametrize("seed", range(3))
def test_only_some_directions_are_turned_and_corrected(seed):
    machine = KernelMachine.random(Gaussian(1.0), 14, 5, seed)
    oracle, X, V, N = on_boundary(machine, 40, seed)
    truth = np.linalg.qr(machine.support_vectors.T)[0]
    W = orthonormal_complement(truth)
    tilt = np.random.default_rng(seed).standard_normal((9, 5)) * 1e-4
    some, others = W[:, :4], W[:, 4:]
    start = np.linalg.qr(truth + some @ tilt[:4])[0]  # tilted towards four directions alone
    some = orthonormal_complement(np.c_[start, others])
    for part, passes in ((some, False), (others, True)):
        assert revolution.holds(oracle, X, V, start, 1.0, 1e-7, W=part).all() == passes
    basis = start
    for step in (1e-4, 1e-7):
        before = oracle.queries
        basis = revolution.refine(oracle, X, V, N, basis, 1.0, step, 1e-12,
                                  W=orthonormal_complement(np.c_[basis, others]))
    assert largest_sine(basis, truth) < 1e-9 < 1e-5 < largest_sine(start, truth)
    four, before = oracle.queries - before, oracle.queries
    revolution.refine(oracle, X, V, N, basis, 1.0, 1e-7, 1e-12)
    assert oracle.queries - before > 2 * four  # nine directions cost more than four


def ball(d=5, m=2, seed=0, **options):
    """The oracle of a ball about a point of a subspace, points, directions, and its queries."""
    rng = np.random.default_rng(seed)
    S = np.linalg.qr(rng.standard_normal((d, m)))[0]
    centre, queries = 0.5 * S @ np.ones(m), []

    def predict(X):
        queries.append(X.copy())
        return ((X - centre) ** 2).sum(1) < 1

    V = rng.standard_normal((9, d))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    return Oracle(predict, d, positive=True, **options), centre - V, V, S, queries


@pytest.mark.parametrize("d", [5, 3])
@pytest.mark.parametrize("angle", [0.1, 1.0])
def test_points_are_turned_by_the_angle(d, angle):
    oracle, X, V, S, queries = ball(d)
    assert revolution.holds(oracle, X, V, S, angle, 1e-3, 1).all() and oracle.queries == 18
    above, below = np.split(queries[0], 2)
    to, directions = (above + below) / 2, (above - below) / 2e-3
    np.testing.assert_allclose(to @ S, X @ S, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(to, axis=1), np.linalg.norm(X, axis=1))
    np.testing.assert_allclose((to * directions).sum(1), (X * V).sum(1), atol=1e-9)
    W = orthonormal_complement(S)
    P, Q = X @ W, to @ W
    cosines = (P * Q).sum(1) / (np.linalg.norm(P, axis=1) * np.linalg.norm(Q, axis=1))
    np.testing.assert_allclose(cosines, np.cos(angle) if d == 5 else -1)
    if d == 5:  # to all sides, differently each time
        assert np.linalg.matrix_rank(Q / np.linalg.norm(P, axis=1)[:, None] - P, tol=1e-3) == 3
        revolution.holds(oracle, X, V, S, angle, 1e-3, 2)
        assert np.linalg.norm(queries[1] - queries[0]) > 0.01
        some = W[:, :2]
        revolution.holds(oracle, X, V, S, angle, 1e-3, 1, some)
        moved = np.split(queries[2], 2)[0] - 1e-3 * V - X
        assert np.linalg.norm(moved - moved @ some @ some.T, axis=1).max() < 3e-3


def recorded(d, m, seed=0, n=12, **options):
    """An oracle of a Gaussian machine and its queries, points, directions, normals, S_Y."""
    machine, queries = KernelMachine.random(Gaussian(1.0), d, m, seed), []
    _, X, V, N = on_boundary(machine, n, seed, scale=1.0)

    def predict(X):
        queries.append(X.copy())
        return machine.predict(X)

    S = np.linalg.qr(machine.support_vectors.T)[0]
    return Oracle(predict, d, positive=1, **options), queries, X, V, N, S


@pytest.mark.parametrize("times", [1, 2])
def test_a_refinement_uses_few_points_and_turns_them_all_ways(times):
    oracle, queries, X, V, N, S = recorded(6, 2)
    start = tilted(S, 1e-5, np.random.default_rng(0))
    basis = revolution.refine(oracle, X, V, N, start, 0.5, 1e-4, 1e-13, times=times)
    assert largest_sine(basis, S) < 1e-8
    first, W = queries[0], orthonormal_complement(start)
    assert first.shape == (2 * times * 4, 6)
    used = [np.flatnonzero(np.isclose(X @ start, x @ start).all(1)).item() for x in first]
    assert len(set(used)) == 2 * times
    for j in set(used):
        p = X[j] @ W / np.linalg.norm(X[j] @ W)
        turns = np.array([x for x, k in zip(first, used, strict=True) if k == j]) @ W
        turns /= np.linalg.norm(X[j] @ W)
        np.testing.assert_allclose(turns @ p, [np.cos(0.5)] * 3 + [-1])
        across = (turns[:3] - np.cos(0.5) * p) / np.sin(0.5)
        np.testing.assert_allclose(across @ across.T, np.eye(3), atol=1e-9)


def test_the_points_used_are_well_conditioned():
    """Of points that are nearly the same one is used; those far from S_Y show most."""
    oracle, queries, X, V, N, S = recorded(6, 2)
    far = np.linalg.norm(X - X @ S @ S.T, axis=1)
    again = np.r_[np.full(5, far.argmax()), np.arange(12)]
    revolution.refine(oracle, X[again], V[again], N[again], S, 0.5, 1e-4, 1e-12)
    used = {int(np.argmin(np.linalg.norm((X - x) @ S, axis=1))) for x in queries[0]}
    assert len(used) == 2
    near = [X + (0.01 - 1) * (X - X @ S @ S.T) * (np.arange(12) > 1)[:, None], V, N]
    revolution.refine(oracle, *near, S, 0.5, 1e-4, 1e-12, times=1)
    assert len({tuple(x) for x in (queries[-1] @ S).round(9)}) <= 2


def test_refinements_in_small_blocks_are_the_same(monkeypatch):
    oracle, _, X, V, N, S = recorded(7, 3)
    start = tilted(S, 1e-4, np.random.default_rng(0))
    whole = revolution.refine(oracle, X, V, N, start, 0.5, 1e-3, 1e-12)
    monkeypatch.setattr(revolution, "blocks", lambda n, numbers: [slice(0, 2), slice(2, n)])
    parts = revolution.refine(oracle, X, V, N, start, 0.5, 1e-3, 1e-12)
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("room, better", [(10.0, 1e-3), (1.0, 0.2)])
def test_what_is_lost_within_bounds_teaches_nothing(room, better):
    """Turns beyond the bounds are left out of the equations."""
    _, _, X, V, N, S = recorded(6, 2, n=20)
    limit = room * np.abs(X).max()
    oracle, queries, *_ = recorded(6, 2, bounds=(-limit, limit))
    start = tilted(S, 1e-4, np.random.default_rng(0))
    basis = revolution.refine(oracle, X, V, N, start, 1.0, 1e-3, 1e-12, times=5)
    assert largest_sine(basis, S) < better * largest_sine(start, S)
    assert np.abs(np.concatenate(queries)).max() <= limit


@pytest.mark.parametrize("bounds", [None, (-50, 50)])
def test_a_turn_that_is_lost_counts_as_met_unless_bounds_may_hide_it(bounds, monkeypatch):
    """One equation by hand: the boundary at known heights over all turns of a point but one."""
    d, rng = 5, np.random.default_rng(0)
    x, v, n = rng.standard_normal((3, 1, d))
    U, W = np.eye(d)[:, :1], np.eye(d)[:, 1:]
    heights, turned = np.array([1e-4, np.nan, -2e-4, 3e-4]), []

    def bisect_along(oracle, X, V, *lengths):
        turned.append(X)
        return heights.copy()

    monkeypatch.setattr(revolution, "bisect_along", bisect_along)
    oracle = Oracle(lambda X: X[:, 0] > 0, d, positive=True, bounds=bounds)
    basis = revolution.refine(oracle, x, v, n, U, 0.7, 1e-3, 1e-12)

    # h n.v = -(p' - p)^T B U^T (n - gamma x)
    p, met = x[0] @ W, np.array([True, bounds is None, True, True])
    steps, right = turned[0] @ W - p, -np.nan_to_num(heights) * (n @ v.T).item()
    gamma = (n[0] @ W @ p) / (p @ p)
    g = np.linalg.lstsq(steps[met], right[met], rcond=None)[0]
    B = g / (n[0, 0] - gamma * x[0, 0])
    np.testing.assert_allclose(basis[1:, 0] / basis[0, 0], B, rtol=1e-9)


@pytest.mark.parametrize("bounds", [None, (-50, 50)])
def test_where_no_boundary_is_met_nothing_is_corrected(bounds):
    _, _, X, V, N, S = recorded(6, 2)
    blind = Oracle(lambda X: X[:, 0] > 1e9, 6, positive=True, bounds=bounds)
    assert largest_sine(revolution.refine(blind, X, V, N, S, 1.5, 1e-3, 1e-9), S) < 1e-12


@given(seed=st.integers(0, 10**6), dm=dimensions, n=st.integers(1, 9))
@settings(max_examples=50)
def test_multipliers_are_least_squares(seed, dm, n):
    d, m = dm
    rng = np.random.default_rng(seed)
    N, X = rng.standard_normal((2, n, d))
    basis = np.linalg.qr(rng.standard_normal((d, m)))[0]
    W = orthonormal_complement(basis)
    best = [np.linalg.lstsq((W.T @ x)[:, None], W.T @ n, rcond=None)[0][0]
            for n, x in zip(N, X, strict=True)]
    np.testing.assert_allclose(multipliers_for(N, X, basis), best, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_true_multiplier_is_the_inverse_distance_to_the_affine_hull(seed):
    machine = KernelMachine.random(Gaussian(1.3), 9, 4, seed)
    _, X, _, N = on_boundary(machine, 20, seed)
    truth = np.linalg.qr(machine.support_vectors.T)[0]
    gamma = multipliers_for(N, X, truth)
    b, sigma = machine.threshold, 1.3
    np.testing.assert_allclose(gamma, -b / sigma**2 / np.linalg.norm(machine.gradient(X), axis=1),
                               rtol=1e-6)
    hit = X - N / gamma[:, None]  # where the normal meets S_Y
    np.testing.assert_allclose(np.linalg.norm(hit - X, axis=1), 1 / abs(gamma), rtol=1e-9)
    Y = machine.support_vectors
    a = np.linalg.lstsq(Y.T, hit.T, rcond=None)[0]  # as combinations of the support vectors
    np.testing.assert_allclose(a.sum(0), 1, rtol=1e-6)
    assert largest_sine((N - gamma[:, None] * X).T, truth) < 4e-5
