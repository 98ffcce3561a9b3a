"""The kernel subspace against the span of the support vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary.normals import orthonormal_complement, slope_normals
from decon.paper import nuclear_norm
from decon.subspaces import cylinder
from decon.subspaces.multipliers import (
    fit_multipliers,
    least_rank,
    log_det_multipliers,
    most_fitted_rank,
    multipliers_for,
    refine_multipliers,
    weakest_angle_error,
)
from decon.subspaces.spans import (
    largest_gap,
    largest_sine,
    span_of_corrected_normals,
    span_of_normals,
    tilt,
)
from tests.test_normals import on_boundary

seeds = st.integers(0, 10**6)


def test_largest_gap():
    assert largest_gap([5.0, 4.0, 1e-7, 1e-8]) == 2
    assert largest_gap([5.0]) == 1
    assert largest_gap([1.0, 0.0, 0.0]) == 1
    assert largest_gap([1.0, 1e-17, 1e-40]) == 1  # below rounding, ratios mean nothing
    assert largest_gap([2.0, 1.0, 1e-3, 1e-9], floor=0.2) == 2
    assert largest_gap([2.0, 1.0, 1e-3, 1e-9]) == 3


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e3, 1e9])
def test_gaps_do_not_depend_on_the_unit(unit):
    for values, gap in (([1.0, 0.5, 1e-17, 1e-40], 2), ([5.0, 4.0, 1e-7, 1e-8], 2),
                        ([1.0, 1e-3, 1e-14, 1e-30], 2), ([1.0, 0.5, 1e-4, 1e-9], 3)):
        assert largest_gap(unit * np.array(values)) == gap


@given(seed=seeds, d=st.integers(2, 12), k=st.integers(1, 5), m=st.integers(1, 5))
@settings(deadline=None, max_examples=40)
def test_the_largest_sine_is_that_of_the_projections(seed, d, k, m):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((d, min(k, d))), rng.standard_normal((d, min(m, d)))
    if A.shape[1] > B.shape[1]:
        A, B = B, A
    (U, _), (W, _) = np.linalg.qr(A), np.linalg.qr(B)
    sine = largest_sine(A, B)
    assert sine == pytest.approx(np.linalg.norm(U - W @ W.T @ U, 2), abs=1e-9)
    assert largest_sine(B, A) == pytest.approx(sine, abs=1e-12)
    assert largest_sine(A, np.c_[B, A]) < 1e-12  # one contains the other
    assert largest_sine(np.c_[A, A[:, :1]], A) < 1e-12  # columns may depend on each other


@pytest.mark.parametrize("angle", [1e-14, 1e-9, 1e-3, 1.0, np.pi / 2])
def test_small_sines_are_accurate(angle):
    A, B = np.eye(4)[:, :2], np.eye(4)[:, :2].copy()
    B[:, 1] = [0, np.cos(angle), np.sin(angle), 0]
    assert largest_sine(A, B) == pytest.approx(np.sin(angle), rel=1e-6)
    assert largest_sine(3 * A, B - 2 * B[:, ::-1]) == pytest.approx(np.sin(angle), rel=1e-1)


@given(seed=seeds, m=st.integers(1, 4), k=st.integers(1, 4), more=st.integers(0, 5))
@settings(max_examples=30)
def test_a_tilt_solves_its_equations(seed, m, k, more):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((m + k + 1, m + k)))[0]
    U, W, B = Q[:, :m], Q[:, m:], rng.standard_normal((k, m))
    A = rng.standard_normal((m + more, m))
    tilted = tilt(U, W, A, A @ B.T)
    np.testing.assert_allclose(tilted.T @ tilted, np.eye(m), atol=1e-12)
    assert largest_sine(tilted, U + W @ B) < 1e-7
    noisy = A @ B.T + rng.standard_normal((m + more, k))
    best = np.linalg.lstsq(A, noisy, rcond=None)[0].T
    assert largest_sine(tilt(U, W, A, noisy), U + W @ best) < 1e-7


def test_span_of_a_given_rank():
    N = np.diag([3.0, 1.0, 2.0])[:, [2, 0, 1]]
    basis, values = span_of_normals(N, rank=2)
    assert basis.shape == (3, 2) and largest_sine(basis, np.eye(3)[:, [0, 1]]) < 1e-12
    np.testing.assert_allclose(values, [3, 2, 1])
    np.testing.assert_array_equal(span_of_normals(N.tolist(), rank=2)[0], basis)
    basis, values = span_of_corrected_normals(N + [[1], [2], [3]] * np.ones(3), np.ones((3, 3)),
                                              [1, 2, 3], rank=1)
    assert basis.shape == (3, 1) and abs(basis[1, 0]) == pytest.approx(1)
    np.testing.assert_allclose(values, [3, 2, 1])


@pytest.mark.parametrize("s, d, limit", [(8, 12, 4), (12, 8, 5), (10, 9, 6), (4, 9, 1), (3, 3, 1)])
def test_the_last_dimensions_are_no_evidence(s, d, limit):
    """Some gamma makes almost any normals look d - 1 dimensional: a gap there does not count."""
    n = min(s, d)
    values = np.full(n, 1.0)
    for k in range(1, n):  # a large gap after k, and a smaller one after the first
        descending = np.where(np.arange(n) < k, values, 1e-6)
        descending[0] = 3.0
        N = np.eye(s, n) * descending @ np.eye(n, d)
        rank = span_of_corrected_normals(N, np.zeros((s, d)), np.zeros(s))[0].shape[1]
        assert rank == (k if k <= limit else 1)


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

    sharp = cylinder.refine(oracle, X, V, N, basis, 0.01, 1e-9)
    sharp = cylinder.refine(oracle, X, V, N, sharp, 1.0, 1e-12)
    np.testing.assert_allclose(sharp.T @ sharp, np.eye(m), atol=1e-12)
    assert error(sharp) < 1e-7 and error(sharp) < 0.05 * error(basis)
    assert cylinder.holds(oracle, X, V, sharp, 1.0, 1e-8, seed).all()
    missing = sharp[:, :-1]
    assert not cylinder.holds(oracle, X, V, missing, 1.0, 1e-8, seed).all()


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
    basis = cylinder.refine(oracle, np.zeros((2, 2)), np.eye(2), np.eye(2), np.eye(2), 1.0, 1e-9)
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
    basis, values = span_of_corrected_normals(N, X, log_det_multipliers(N, X))
    assert basis.shape == (14, 5) and values[4] > 100 * values[5]
    assert largest_sine(basis, Y) < 1e-4
    gamma = log_det_multipliers(N, 1000 * X)  # units do not matter
    scaled, _ = span_of_corrected_normals(N, 1000 * X, gamma)
    assert largest_sine(scaled, Y) < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_the_nuclear_norm_and_its_refinement(seed):
    Y, X, N = type_b_normals(seed, 40)
    gamma = nuclear_norm(N, X)
    rough, _ = span_of_corrected_normals(N, X, gamma, rank=5)
    fine, _ = span_of_corrected_normals(N, X, refine_multipliers(N, X, gamma, 5), rank=5)
    assert largest_sine(rough, Y) < 0.14
    assert largest_sine(fine, Y) < 4e-5
    norm = lambda gamma: np.linalg.svd(N - gamma[:, None] * X)[1].sum()  # noqa: E731
    rng = np.random.default_rng(seed)  # no other gamma nearby has a smaller nuclear norm
    for _ in range(50):
        assert norm(gamma) < norm(gamma + 0.01 * rng.standard_normal(40)) + 1e-4


def test_log_det_of_fewer_rows_than_dimensions():
    rng = np.random.default_rng(0)
    S, X, gamma = rng.standard_normal((2, 60)), rng.standard_normal((12, 60)), rng.random(12)
    N = rng.standard_normal((12, 2)) @ S + gamma[:, None] * X
    np.testing.assert_allclose(log_det_multipliers(N, X), gamma, atol=1e-6)
    turn = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    np.testing.assert_allclose(log_det_multipliers(N @ turn, X @ turn), gamma, atol=1e-6)


@pytest.mark.parametrize("s, d", [(3, 20), (9, 4), (5, 7)])
def test_log_det_works_in_the_span_of_its_rows_and_eps_shrinks_to_a_millionth(s, d, monkeypatch):
    N, X = np.random.default_rng(s).standard_normal((2, s, d))
    inverted, inverse = [], np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda A: inverted.append(A.copy()) or inverse(A))
    log_det_multipliers(N, X)
    assert {A.shape[0] for A in inverted} == {min(2 * s, d)} and len(inverted) == 400
    if s < min(2 * s, d):  # of fewer rows than that, A^T A + eps^2 I shows eps^2
        eps = np.sqrt([np.linalg.eigvalsh(A)[0] for A in inverted]) / np.linalg.norm(N, 2)
        np.testing.assert_allclose(eps, np.maximum(0.95 ** np.arange(400), 1e-6), rtol=1e-2)


def test_every_step_of_log_det_lessens_it():
    """By hand: the weights belong to the eps of the step before, and eps falls to a millionth."""
    rng = np.random.default_rng(1)
    N, X = rng.standard_normal((2, 9, 4))
    size = np.sqrt(np.mean((X**2).sum(1)))
    gamma, eps = np.zeros(9), np.linalg.norm(N, 2)
    least = 1e-6 * eps
    for _ in range(30):
        A = N - gamma[:, None] * X / size
        W = np.linalg.inv(A.T @ A + eps**2 * np.eye(4))
        before = np.linalg.slogdet(A.T @ A + eps**2 * np.eye(4))[1]
        gamma = np.array([(x @ W @ n) / (x @ W @ x) for n, x in zip(N, X / size, strict=True)])
        A = N - gamma[:, None] * X / size
        assert np.linalg.slogdet(A.T @ A + eps**2 * np.eye(4))[1] <= before + 1e-3
        eps = max(eps / 2, least)
    np.testing.assert_allclose(log_det_multipliers(N, X, 30, 0.5), gamma / size, rtol=1e-6)
    assert eps == least
    np.testing.assert_array_equal(log_det_multipliers(N, X, 0), np.zeros(9))


def test_alternating_projections():
    Y, X, N = type_b_normals(0, 20)
    truth = multipliers_for(N, X, np.linalg.qr(Y)[0])
    start = truth + 0.01
    assert refine_multipliers(N, X, start, 5, steps=0) is start
    once = multipliers_for(N, X, span_of_corrected_normals(N, X, start, 5)[0])
    np.testing.assert_array_equal(refine_multipliers(N, X, start, 5, steps=1), once)
    errors = [np.abs(refine_multipliers(N, X, start, 5, steps=n) - truth).max()
              for n in (0, 1, 10, 100)]
    assert errors[1] > errors[2] > errors[3]
    np.testing.assert_array_equal(refine_multipliers(N, X, start, 5),
                                  refine_multipliers(N, X, start, 5, steps=100))


def test_a_linear_machine_needs_no_correction():
    oracle, X, _, N = on_boundary(KernelMachine.random(Linear(), 10, 3, 0), 12, 0)
    basis, _ = span_of_corrected_normals(N, X, np.zeros(12))
    assert basis.shape == (10, 1)


# Walks orthogonal to a subspace

def pipe(m=2, d=6, seed=0, **options):
    """The oracle of a round pipe, points and inward directions, and its queries."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]
    S, queries = Q[:, :m], []

    def predict(X):
        queries.append(X.copy())
        return ((X @ S) ** 2).sum(1) < 1

    rng = np.random.default_rng(seed + 1)
    X = 0.2 * rng.standard_normal((12, d))
    X -= X @ S @ S.T
    inside = rng.standard_normal((12, m))
    inside /= np.linalg.norm(inside, axis=1, keepdims=True)
    V = -inside @ S.T
    return Oracle(predict, d, positive=True, **options), X - V, V, S, queries


def test_a_walk_is_as_long_as_it_says():
    oracle, X, V, S, queries = pipe()
    assert cylinder.holds(oracle, X, V, S, 2.5, 1e-3, 0).all() and oracle.queries == 24
    above, below = np.split(queries[0], 2)
    np.testing.assert_allclose(above - below, 2e-3 * V, atol=1e-12)
    walk = (above + below) / 2 - X
    np.testing.assert_allclose(np.linalg.norm(walk, axis=1), 2.5)
    np.testing.assert_allclose(walk @ S, 0, atol=1e-12)
    assert np.linalg.matrix_rank(walk) == 4
    W = orthonormal_complement(S)[:, :2]
    cylinder.holds(oracle, X, V, S, 2.5, 1e-3, 0, W)
    walk = queries[-1][:12] - 1e-3 * V - X
    np.testing.assert_allclose(walk, walk @ W @ W.T, atol=1e-12)


def test_walks_within_bounds_are_shortened_to_half_the_way():
    oracle, X, V, S, queries = pipe(bounds=(-2, 2))
    cylinder.holds(oracle, X, V, S, 50.0, 1e-3, 0)
    above, below = np.split(queries[0], 2)
    middle = (above + below) / 2
    good = [np.isclose(np.abs(2 * middle - x).max(1), 2, atol=5e-3).any() for x in X]
    assert sum(good) >= 10


@pytest.mark.parametrize("tolerance, baseline, passes", [
    (2e-3, 1.0, True), (5e-4, 1.0, False), (5e-4, 0.1, True)])
def test_a_tilt_shows_in_proportion_to_the_walk(tolerance, baseline, passes):
    oracle, X, V, S, _ = pipe()
    W = orthonormal_complement(S)
    tilted = tilt(S, W, np.eye(2), 1e-3 * np.ones((2, 4)))
    held = cylinder.holds(oracle, X, V, tilted, baseline, tolerance, 0)
    assert held.mean() > 0.9 if passes else held.mean() < 0.7


@pytest.mark.parametrize("times", [1, 2])
def test_one_refinement_squares_the_error(times):
    oracle, X, V, S, queries = pipe()
    N, errors = V.copy(), []
    for size in (1e-2, 1e-4):
        start = tilt(S, orthonormal_complement(S), np.eye(2), size * np.ones((2, 4)))
        before = len(queries)
        basis = cylinder.refine(oracle, X, V, N, start, 1.0, 1e-12, times=times)
        errors.append(largest_sine(basis, S))
        assert len(queries[before]) == 2 * times * 4  # the guesses: as many points as needed
    assert errors[0] < 1e-3 and errors[1] < 1e-7


@pytest.mark.parametrize("baseline, width, step", [
    (2.0, 1e-12, 2e-7), (0.01, 1e-12, 1e-9), (0.5, 1e-5, 4e-5)])
def test_heights_are_sought_next_to_the_walk(baseline, width, step):
    """Ten-millionths of the walk away, and no nearer than four brackets."""
    oracle, X, V, S, queries = pipe()
    cylinder.refine(oracle, X, V, V, S, baseline, width)
    points = np.concatenate(queries[:2])
    off = np.linalg.norm(points[len(queries[0]):, None] - queries[0], axis=2).min(1)
    np.testing.assert_allclose(off, step, rtol=1e-5)


def test_a_refinement_in_some_directions_leaves_the_others():
    oracle, X, V, S, queries = pipe()
    W = orthonormal_complement(S)
    start = tilt(S, W, np.eye(2), 1e-4 * np.ones((2, 4)))
    complement = orthonormal_complement(start)
    basis = cylinder.refine(oracle, X, V, V, start, 1.0, 1e-12, W=complement[:, :2])
    assert len(queries[0]) == 2 * 2
    assert largest_sine(np.c_[start, complement[:, :2]], basis) < 1e-12
    assert 1e-6 < largest_sine(basis, S) < largest_sine(start, S)


def test_refinements_in_small_blocks_are_the_same(monkeypatch):
    oracle, X, V, S, queries = pipe(m=3, d=7)
    start = tilt(S, orthonormal_complement(S), np.eye(3), 1e-3 * np.ones((3, 4)))
    whole = cylinder.refine(oracle, X, V, V, start, 1.0, 1e-12)
    monkeypatch.setattr(cylinder, "blocks", lambda n, numbers: [slice(0, 2), slice(2, n)])
    np.testing.assert_array_equal(cylinder.refine(oracle, X, V, V, start, 1.0, 1e-12), whole)


def test_refinement_within_bounds():
    """Walks are half as long as there is room for; what is lost counts as straight."""
    oracle, X, V, S, queries = pipe(bounds=(-2, 2))
    start = tilt(S, orthonormal_complement(S), np.eye(2), 1e-3 * np.ones((2, 4)))
    basis = cylinder.refine(oracle, X, V, V, start, 50.0, 1e-12)
    assert largest_sine(basis, S) < 1e-4
    assert np.abs(np.concatenate(queries)).max() <= 2
    way = [np.abs(2 * x - X[np.abs((x - X) @ S).sum(1).argmin()]).max() for x in queries[0]]
    assert np.isclose(way, 2).all()  # twice as far, and they would be at the bounds
    blind = Oracle(lambda X: X[:, 0] > 1e9, 6, positive=True)
    lost = cylinder.refine(blind, X, V, V, start, 1.0, 1e-12)
    assert largest_sine(lost, start) < 1e-12


def radial(rank, s, d, seed, sizes=1.0, error=0.0):
    """Normals and points with n - gamma x in a subspace, and a basis of it."""
    rng = np.random.default_rng(seed)
    S, X = np.linalg.qr(rng.standard_normal((d, rank)))[0], rng.standard_normal((s, d))
    N = rng.standard_normal((s, rank)) * sizes @ S.T + rng.standard_normal((s, 1)) * X
    return N + error * rng.standard_normal((s, d)), X / np.sqrt(d), S


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d, rank", [(12, 3), (20, 8), (30, 12)])
def test_variable_projection_is_at_the_least_sum_of_squares(seed, d, rank):
    """From not much more normals than unknowns, where the minimum is not 0."""
    N, X, S = radial(rank, rank + 4, d, seed, error=1e-3)
    truth = multipliers_for(N, X, S)
    gamma, basis, misfit = fit_multipliers(N, X, truth + 0.3, rank)

    def squares(gamma):
        return (np.linalg.svd(N - gamma[:, None] * X)[1][rank:]**2).sum()

    freedom = 4 * (d - rank) - (rank + 4)
    assert misfit == pytest.approx(np.sqrt(squares(gamma) / freedom))
    assert 0.5e-3 < misfit < 2e-3 and largest_sine(basis, S) < 0.1
    steps = 1e-4 * np.random.default_rng(seed).standard_normal((20, len(gamma)))
    assert all(squares(gamma + step) >= squares(gamma) * (1 - 1e-6) for step in steps)


def test_variable_projection_takes_fewer_steps_than_alternating_projections():
    ends = []
    for seed in range(6):
        N, X, S = radial(8, 14, 20, seed)
        start = multipliers_for(N, X, S) + 0.1
        by_fit = fit_multipliers(N, X, start, 8)[1]
        by_turns = span_of_corrected_normals(N, X, refine_multipliers(N, X, start, 8), 8)[0]
        ends.append([largest_sine(basis, S) for basis in (by_fit, by_turns)])
    fits, turns = np.median(ends, axis=0)
    assert fits < 1e-9 and turns > 100 * fits


@pytest.mark.parametrize("d", [3, 8, 30])
def test_ranks_that_are_a_matter_of_course(d):
    for s in range(1, 40):
        fits = [k for k in range(1, d - 1) if k * (d - k) < s * (d - k - 1)]
        assert most_fitted_rank(s, d) == max(fits, default=0)


@pytest.mark.parametrize("error", [1e-9, 1e-6])
@pytest.mark.parametrize("d, rank", [(12, 1), (12, 3), (20, 8), (30, 12), (60, 5)])
def test_the_least_rank_of_hardly_more_normals_than_dimensions(d, rank, error):
    right = 0
    for seed in range(6):
        N, X, S = radial(rank, rank + 5, d, seed, error=error)
        found = least_rank(N, 50 * X, 1e-3, 4.0)
        right += found is not None and found[0].shape == S.shape \
            and largest_sine(found[0], S) < 1e-2 and found[1] < 3 * error
    assert right >= 5


@pytest.mark.parametrize("d", [80, 200])
def test_singular_values_that_fall_evenly_do_not_wear_the_rank_away(d):
    """Each is 2.5 times the next, and the last is near the errors: no ratio of misfits is large."""
    sizes = 0.1 * 2.5**-np.arange(8)
    ranks = []
    for seed in range(6):
        N, X, _ = radial(8, 14, d, seed, sizes, error=8e-5 / np.sqrt(d))
        ranks.append(least_rank(N, X, 1e-3, 4.0)[0].shape[1])
    assert set(ranks) <= {7, 8}


def test_normals_in_no_subspace_have_no_least_rank():
    for seed in range(5):
        N, X = np.random.default_rng(seed).standard_normal((2, 18, 20))
        assert least_rank(N, X, 1e-3, 4.0) is None
    assert least_rank(N[:1], X[:1], 1e-3, 4.0) is None


def test_a_step_that_cannot_be_computed_is_none(monkeypatch):
    N, X, _ = radial(3, 10, 12, 0)
    start = np.linspace(-1, 1, 10)

    def fails(*arguments, **options):
        raise np.linalg.LinAlgError("SVD did not converge")
    monkeypatch.setattr(np.linalg, "lstsq", fails)
    gamma, basis, misfit = fit_multipliers(N, X, start, 3)
    assert (gamma == start).all() and basis.shape == (12, 3) and np.isfinite(misfit)


@pytest.mark.parametrize("seed", range(3))
def test_a_boundary_point_at_the_origin_leaves_the_rank_as_it_is(seed):
    """Its multiplier is arbitrary: nothing is divided by its zero distance from S_Y."""
    N, X, S = radial(5, 14, 20, seed, error=1e-8)
    X[3], N[3] = 0, S[:, 0]
    basis, _ = least_rank(N, 50 * X, 1e-3, 4.0)
    assert basis.shape == S.shape and largest_sine(basis, S) < 1e-4
    assert multipliers_for(N, X, basis)[3] == 0


@pytest.mark.parametrize("weak", [1.0, 1e-2])
def test_the_error_of_the_weakest_direction_is_that_of_many_trials(weak):
    """Its standard error for fixed normals and points, from one fit and by repetition."""
    sizes, error = np.array([1, 1, 1, weak]), 1e-5
    N, X, S = radial(4, 10, 14, 3, sizes)
    rng = np.random.default_rng(0)
    angles, estimates = [], []
    for _ in range(60):
        noisy = N + error * rng.standard_normal(N.shape)
        _, basis, misfit = fit_multipliers(noisy, X, multipliers_for(N, X, S), 4)
        angles.append(largest_sine(basis, S))
        estimates.append(weakest_angle_error(noisy, X, basis, misfit))
    assert np.median(estimates) == pytest.approx(np.sqrt(np.mean(np.square(angles))), rel=0.35)
