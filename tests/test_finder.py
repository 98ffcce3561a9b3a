"""S_Y from normals: as few as needed, of both symmetries, and no larger subspace than needed."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import Pool
from decon.oracles.precision import DOUBLE, Precision
from decon.subspaces import sample as sample_module
from decon.subspaces.finder import Subspace, SubspaceFinder
from decon.subspaces.spans import largest_sine
from decon.subspaces.symmetry import CYLINDER, REVOLUTION, Symmetry


def finder_of(kernel, d, m, seed, **options):
    model = KernelMachine.random(kernel, d, m, seed)
    oracle = Oracle(model.predict, d, positive=1)
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((60, d))
    pool = Pool(oracle, points, oracle(points), rng)
    R = np.sqrt(d)
    ahead = boundary_points(oracle, *pool.pairs(10), 1e-12 * R)
    return model, SubspaceFinder(oracle, pool, ahead, R, rng, **options)


def until_found(finder, symmetry, limit):
    while len(finder.N) < limit and finder.grow(2):
        basis = finder.find(symmetry)
        if basis is not None:
            return basis


@pytest.mark.parametrize("kernel, symmetry", [
    (Polynomial(3), CYLINDER), (Tanh(2.0, 0.1), CYLINDER),
    (Gaussian(1.0), REVOLUTION), (Gaussian(3.0), REVOLUTION)], ids=str)
@pytest.mark.parametrize("d, m", [(15, 6), (12, 8), (40, 5)])
@pytest.mark.parametrize("seed", range(2))
def test_s_y_is_found_and_no_more(kernel, symmetry, d, m, seed):
    model, finder = finder_of(kernel, d, m, seed)
    basis = until_found(finder, symmetry, 6 * m + 30)
    assert basis.shape == (d, m)
    assert largest_sine(basis, model.support_vectors.T) < (1e-6 if symmetry is CYLINDER else 2e-4)
    np.testing.assert_allclose(basis.T @ basis, np.eye(m), atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(3)], ids=str)
def test_with_as_many_support_vectors_as_dimensions_there_is_none(kernel):
    _, finder = finder_of(kernel, 6, 8, 0)
    assert until_found(finder, CYLINDER, 20) is None


@pytest.mark.parametrize("kernel, symmetry, seed", [
    (Tanh(1.0, 0.2), CYLINDER, 0), (Gaussian(2.0), REVOLUTION, 1)], ids=str)
def test_a_larger_subspace_is_cut_down(kernel, symmetry, seed):
    model, finder = finder_of(kernel, 12, 4, seed)
    finder.grow(16)
    rng = np.random.default_rng(seed)
    larger = np.linalg.qr(np.c_[model.support_vectors.T, rng.standard_normal((12, 3))])[0]
    across = larger @ np.linalg.qr(rng.standard_normal((7, 7)))[0]
    vectors = model.gradient(finder.X)  # n - gamma x, exactly
    if symmetry is REVOLUTION:
        W = np.linalg.svd(model.support_vectors)[2][4:].T
        gamma = ((vectors @ W) * (finder.X @ W)).sum(1) / ((finder.X @ W) ** 2).sum(1)
        vectors = vectors - gamma[:, None] * finder.X
    vectors += 1e-6 * np.abs(vectors).max() * rng.standard_normal(vectors.shape)
    basis = finder.smallest(symmetry, across, vectors)
    assert basis.shape == (12, 4)
    assert largest_sine(basis, model.support_vectors.T) < 1e-6


def test_a_search_returns_what_it_has_seen():
    model, finder = finder_of(Gaussian(2.0), 12, 3, 0)
    found = finder.search([CYLINDER, REVOLUTION])
    assert found.symmetry is REVOLUTION and found.rank == 3
    assert repr(found) == f"Subspace(rank 3 in dimension 12, REVOLUTION, {len(finder.N)} normals)"
    assert found.points is finder.X and found.normals is finder.N
    np.testing.assert_array_equal(found.values, finder.values)
    assert found.values[2] > 1e3 * found.values[3]  # of the corrected normals, not of the normals
    assert not finder.looks_straight(found.basis)
    larger = np.linalg.qr(np.c_[model.support_vectors.T, np.eye(12)])[0][:, :11]
    assert not finder.looks_straight(larger)


def test_what_looks_straight():
    model, finder = finder_of(Polynomial(2), 8, 3, 0)
    truth = np.linalg.qr(model.support_vectors.T)[0]
    assert finder.looks_straight(truth) and not finder.looks_straight(truth[:, :2])
    away = np.linalg.qr(np.eye(8) - truth @ truth.T)[0][:, 0]
    for tilt, straight in ((1e-6, True), (1e-2, False)):
        tilted = truth + tilt * np.outer(away, [1, 1, 1])
        assert finder.looks_straight(np.linalg.qr(tilted)[0]) == straight


# The logic of the search, with a symmetry that does as it is told

class Scripted(Symmetry):
    """A symmetry whose boundary misses itself by the numbers of a list, one per refinement."""

    noise = 100.0

    def __init__(self, candidates, misses, misses_inside=()):
        self.listed, self.misses, self.inside = candidates, list(misses), list(misses_inside)
        self.tolerances, self.refined, self.slices = [], [], []

    def candidates(self, sample):
        yield from self.listed

    def vectors(self, sample, basis):
        return 2 * basis.T[:1]

    def holds(self, sample, basis, way, tolerance, W=None):
        assert way == 1
        if W is None:
            self.tolerances.append(tolerance)
            return tolerance >= self.misses[0]
        if not any(W is known for known in self.slices):
            self.slices.append(W)
        np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-12)
        np.testing.assert_allclose(W.T @ basis, 0, atol=1e-12)
        return tolerance >= self.inside[0]

    def refine(self, sample, basis, miss, W=None):
        self.refined.append((miss, None if W is None else W.shape[1]))
        misses = self.misses if W is None else self.inside
        if len(misses) > 1:
            misses.pop(0)
        if W is None:
            return basis
        return np.linalg.qr(basis + 0.1 * W @ np.ones((W.shape[1], basis.shape[1])))[0]


def scripted(d, rank, misses, misses_inside=(), faint=False, patience=0, width=1e-12):
    """A finder in d dimensions, and a symmetry with one candidate of some rank."""
    _, finder = finder_of(Polynomial(2), d, 1, 0, precision=Precision(width))
    finder.smallest = lambda symmetry, basis, vectors: basis  # not of interest here
    basis = np.eye(d)[:, :rank]
    return finder, Scripted([(basis, faint, patience)], misses, misses_inside), basis


def test_a_basis_is_refined_until_the_goal_is_reached():
    finder, symmetry, basis = scripted(5, 1, [3e-3, 2e-5, 1e-6, 5e-9])
    assert finder.find(symmetry) is basis
    ladder = [1e-8, 1e-6, 1e-5, 1e-4, 5e-4, 2e-3, 1e-2]
    assert symmetry.refined == [(1e-2, None), (1e-4, None), (1e-6, None)]
    assert set(symmetry.tolerances) <= set(ladder) and symmetry.tolerances[-1] == 1e-8
    assert len(symmetry.tolerances) <= 3 * (1 + 3) + 1  # the goal, and three to halve six others
    np.testing.assert_allclose(finder.values, [2])  # of the vectors that the symmetry has given


def test_of_all_candidates_the_first_that_settles_is_cut_down():
    finder, symmetry, basis = scripted(5, 1, [1e-3, 1e-3, 1e-9])
    other, cut = np.eye(5)[:, 1:3], []
    symmetry.listed.append((other, False, 0))
    finder.smallest = lambda *arguments: cut.append(arguments) or "smaller"
    assert finder.find(symmetry) == "smaller"
    assert cut[0][:2] == (symmetry, other)
    np.testing.assert_array_equal(cut[0][2], 2 * other.T[:1])


@pytest.mark.parametrize("miss, known", [
    (1e-5, 1e-5), (1.1e-5, 1e-4), (4e-4, 5e-4), (6e-4, 2e-3), (9e-3, 1e-2), (0.5, 1)])
def test_a_refinement_is_told_the_miss(miss, known):
    finder, symmetry, _ = scripted(5, 1, [miss, 1e-9])
    assert finder.find(symmetry) is not None
    assert symmetry.refined == [(known, None)]


@pytest.mark.parametrize("width, goal, most", [(1e-9, 1e-8, 4), (1e-7, 1e-6, 9)])
def test_no_tolerance_is_tried_twice(width, goal, most):
    finder, symmetry, _ = scripted(5, 1, [1.0], width=width)
    assert finder.find(symmetry) is None  # 1e-6 is the goal, and on the way to it
    once, again = np.split(np.array(symmetry.tolerances), 2)
    assert once.tolist() == again.tolist() and len(set(once)) == len(once) <= most
    assert once[0] == pytest.approx(goal) and 1e-2 in once


def test_a_rank_that_failed_is_tried_again_at_once_only_where_brackets_are_coarse():
    for width, again in [(1e-12, False), (1e-7, True)]:
        finder, symmetry, _ = scripted(5, 1, [1.0], width=width)
        finder.N = np.ones((20, 5))
        finder.tried[symmetry, 3] = 19
        assert finder.tried_lately(symmetry, 3) is not again


@pytest.mark.parametrize("patience, misses, refinements", [
    (0, [1e-3], 1), (1, [1e-3], 2), (2, [1e-3], 3), (0, [1.0], 1), (2, [1.0], 3),
    (0, [1e-3, 1e-4], 2), (1, [1e-3, 1e-4, 1e-3, 1e-5, 1e-5], 4), (0, [1e-6], 2), (1, [1e-6], 2)])
def test_patience_is_for_refinements_without_progress(patience, misses, refinements):
    finder, symmetry, _ = scripted(5, 1, misses, patience=patience)
    assert finder.find(symmetry) is None
    assert len(symmetry.refined) == refinements


def test_coarse_brackets_have_a_wider_goal_and_one_refinement_more():
    finder, symmetry, _ = scripted(5, 1, [5e-4, 1e-4, 1e-9], width=2e-6)
    assert finder.find(symmetry) is not None
    assert symmetry.refined == [(5e-4, None), (1e-4, None), (pytest.approx(2e-5), None)]


@pytest.mark.parametrize("d, faint, probed", [
    (25, False, False), (26, False, True), (7, True, False), (8, True, True)])
def test_where_it_saves_much_a_slice_is_tried_first(d, faint, probed):
    # no progress within the slice, twice: hopeless, and nothing else is tested
    finder, symmetry, basis = scripted(d, 2, [1e-9], [6e-4], faint=faint)
    assert finder.find(symmetry) is (None if probed else basis)
    assert symmetry.refined == [(2e-3, 3), (2e-3, 3)] * probed
    assert (symmetry.tolerances == []) == probed

    # within the slice it settles, after a refinement: then all directions are tested
    finder, symmetry, basis = scripted(d, 2, [1e-9], [6e-4, 1e-9], faint=faint)
    assert finder.find(symmetry) is basis
    assert symmetry.refined == [(2e-3, 3)] * probed and symmetry.tolerances == [1e-8]


@pytest.mark.parametrize("untested", [1, 2])
def test_a_rough_basis_has_to_be_exact_in_a_slice_where_it_has_too_many_dimensions(untested):
    strict = untested < 2
    finder, symmetry, basis = scripted(30, 2, [5e-5], [5e-5])
    finder.rough, finder.untested = {symmetry: 2}, untested
    assert finder.find(symmetry) is (None if strict else basis)
    assert symmetry.refined == [(1e-4, 3), (1e-4, 3)] * strict
    finder, symmetry, basis = scripted(30, 2, [5e-5], [5e-5, 1e-9])
    finder.rough, finder.untested = {symmetry: 2}, untested
    assert finder.find(symmetry) is basis and finder.found_rough  # as before, in all directions
    assert symmetry.refined == [(1e-4, 3)] * strict


def test_where_there_is_no_room_for_a_slice_such_a_basis_is_refined_in_all_directions():
    finder, symmetry, basis = scripted(25, 2, [5e-5, 1e-9], [])
    finder.rough, finder.untested = {symmetry: 2}, 1
    assert finder.find(symmetry) is basis and not finder.found_rough
    assert symmetry.refined == [(1e-4, None)]


@pytest.mark.parametrize("directions", [14, 15])
def test_a_slice_of_few_directions_is_not_enough_for_a_rough_basis(directions):
    finder, symmetry, basis = scripted(2 + directions, 2, [5e-5, 1e-9], [1e-9], faint=True)
    finder.rough, finder.untested = {symmetry: 2}, 1
    assert finder.find(symmetry) is basis
    assert finder.found_rough == (directions == 15) == (symmetry.refined == [])


@pytest.mark.parametrize("right", [False, True])
def test_a_rough_subspace_is_tested_in_a_few_directions(right):
    finder, symmetry, basis = scripted(30, 2, [5e-5], [5e-5, 1e-9] if right else [5e-5])
    found = Subspace(basis, symmetry, finder.X, finder.N, np.ones(2), rough=True)
    before = finder.rng.bit_generator.state
    assert finder.passes(found) == right
    assert finder.rng.bit_generator.state == before  # the search goes on as without the test
    assert symmetry.refined == [(1e-4, 3)] and symmetry.tolerances == []


def test_a_slice_stays_the_same_while_the_basis_moves_in_it():
    finder, symmetry, basis = scripted(30, 2, [1e-9], [6e-4, 1e-4, 1e-5, 1e-9])
    assert finder.find(symmetry) is basis
    assert symmetry.refined == [(2e-3, 3), (1e-4, 3), (1e-5, 3)]
    spans = [W @ W.T for W in symmetry.slices]
    assert len({W.shape for W in symmetry.slices}) == 1
    moved = basis
    for W, smaller in zip(symmetry.slices, spans, strict=True):
        whole = smaller + moved @ moved.T  # the projection on the span of both
        first = spans[0] + basis @ basis.T
        np.testing.assert_allclose(whole, first, atol=1e-12)
        moved = np.linalg.qr(moved + 0.1 * W @ np.ones((3, 2)))[0]


class Contains(Symmetry):
    """A symmetry about every subspace that contains some directions, up to the tolerance."""

    noise = 100.0

    def __init__(self, truth):
        self.truth, self.tested = truth, []

    def holds(self, sample, basis, way, tolerance, W=None):
        assert way == 1
        self.tested.append((basis.shape[1], W.shape[1]))
        return np.linalg.norm(W.T @ self.truth, 2) <= tolerance

    def refine(self, sample, basis, rough, W=None):
        return np.linalg.qr(basis + W @ W.T @ self.truth @ (self.truth.T @ basis))[0]


def test_the_weakest_direction_is_left_out_first():
    _, finder = finder_of(Polynomial(2), 6, 1, 0)
    scales = np.array([3.0, 2.0, 1e-5, 1e-8, 1e-7])
    rng = np.random.default_rng(0)
    vectors = (scales[:, None] * np.eye(6)[:5])[rng.permutation(5)]
    mixed = np.eye(6)[:, :5] @ np.linalg.qr(rng.standard_normal((5, 5)))[0]
    symmetry = Contains(np.eye(6)[:, :3])
    basis = finder.smallest(symmetry, mixed, vectors)
    assert basis.shape == (6, 3) and largest_sine(basis, np.eye(6)[:, :3]) < 1e-12
    assert set(symmetry.tested) == {(4, 1), (3, 1), (2, 1)}
    one = np.eye(6)[:, :1]
    assert finder.smallest(symmetry, one, vectors) is one  # a boundary bends in some direction


def test_a_smaller_subspace_is_worth_three_refinements_without_progress():
    _, finder = finder_of(Polynomial(2), 6, 1, 0)
    symmetry = Scripted([], [], [1e-3])
    basis = np.eye(6)[:, :3]
    assert finder.smallest(symmetry, basis, np.diag([3.0, 2, 1e-5, 0, 0, 0])) is basis
    assert len(symmetry.refined) == 4


@pytest.mark.parametrize("value, width, tested", [
    (1.1e-4, 1e-12, False), (0.9e-4, 1e-12, True), (1.1e-2, 1e-8, False), (0.9e-2, 1e-8, True)])
def test_directions_that_vectors_show_clearly_are_not_tested(value, width, tested):
    _, finder = finder_of(Polynomial(2), 6, 1, 0, precision=Precision(width))
    symmetry = Contains(np.eye(6))
    finder.smallest(symmetry, np.eye(6)[:, :3], np.diag([3.0, 2, value, 0, 0, 0]))
    assert bool(symmetry.tested) == tested


def test_a_rank_is_tried_again_only_with_more_normals():
    finder, _ = growing(8)
    symmetry = Scripted([(np.eye(8)[:, :2], False, 0)], [1e-3])
    finder.N = np.ones((20, 8))
    assert not finder.tried_lately(symmetry, 2)
    assert finder.find(symmetry) is None and finder.tried_lately(symmetry, 2)
    assert not finder.tried_lately(symmetry, 3) and not finder.tried_lately(CYLINDER, 2)
    for n, lately in ((22, True), (23, False)):  # 15% more
        finder.N = np.ones((n, 8))
        assert finder.tried_lately(symmetry, 2) == lately


class Nothing(Symmetry):
    """A symmetry that no normals suggest."""

    held_back = 6

    def __init__(self, share=16):
        self.seen, self.share = [], share

    def candidates(self, sample):
        self.seen.append(len(sample.N))
        return iter(())


def growing(d, singular=1.0):
    """A finder whose normals cost nothing, and the numbers of them that were ordered."""
    _, finder = finder_of(Polynomial(2), d, 1, 0)
    ordered = []

    def grow(n):
        ordered.append(n)
        finder.N = np.concatenate([finder.N, np.ones((n, d))])
        finder.values = np.array([1.0, singular])
        return True

    finder.grow = grow
    return finder, ordered


@pytest.mark.parametrize("d, share", [(4, 16), (30, 16), (20, 6)])
def test_batches_grow_with_the_number_of_normals_until_there_are_enough(d, share):
    finder, ordered = growing(d)
    first, second = Nothing(), Nothing(share)
    assert finder.search([first, second]) is None
    total = np.cumsum(ordered)
    assert total[-1] >= 2 * d + 10 > total[-2]
    assert ordered == [max(1, (s - n) // share) for s, n in zip(total, ordered, strict=True)]
    assert first.seen == second.seen == total.tolist()


@pytest.mark.parametrize("shares, least", [([16], 16), ([6], 6), ([16, 6], 6)])
def test_batches_are_the_share_that_the_dearest_symmetry_asks_for(shares, least):
    finder, ordered = growing(30)
    assert finder.search([Nothing(share) for share in shares]) is None
    have = np.cumsum([0, *ordered[:-1]])
    assert ordered == np.maximum(1, have // least).tolist()


@pytest.mark.parametrize("symmetries, singular, least", [
    ([CYLINDER], 2e-3, 8), ([CYLINDER], 5e-4, 20), ([CYLINDER, REVOLUTION], 2e-3, 20),
    ([REVOLUTION], 2e-3, 20)])
def test_a_search_for_a_cylinder_ends_when_normals_span_everything(symmetries, singular, least):
    finder, _ = growing(5, singular)
    finder.find = lambda symmetry: None
    assert finder.search(symmetries) is None and len(finder.N) == least


def test_a_search_ends_with_its_points():
    finder, _ = growing(5)
    finder.grow = lambda n: False
    assert finder.search([Nothing()]) is None


# Samples

def sample_of(predict, d, pairs, stages, bounds=None, scale=1.0, precision=DOUBLE):
    """A sample without points ahead, and with given PN-pairs."""
    @contextmanager
    def stage(name):
        before = oracle.queries
        yield
        stages[name] = stages.get(name, 0) + oracle.queries - before

    oracle = Oracle(predict, d, positive=True, bounds=bounds)
    pool = Pool(oracle, np.eye(d)[:2], np.array([1, -1]), np.random.default_rng(0))
    sample = sample_module.Sample(oracle, pool, np.empty((2, 0, d)), scale, 0,
                                  stage, precision)
    assert sample.pairs.shape == (2, 6 * d + 60, d)
    sample.pairs = np.asarray(pairs, float)
    return sample


def plane_pairs(n, d=3, seed=0):
    """PN-pairs across the plane x_1 = 0, whose brackets are steep."""
    rng = np.random.default_rng(seed)
    P, N = rng.uniform(-0.3, 0.3, (2, n, d))
    P[:, 0], N[:, 0] = rng.uniform(0.5, 1, n), rng.uniform(-1, -0.5, n)
    return P, N


def test_some_points_are_held_back():
    stages = {}
    sample = sample_of(lambda X: X[:, 0] > 0, 3, plane_pairs(20), stages)
    assert sample.grow(4) and sample.pairs.shape == (2, 10, 3)
    assert sample.X.shape == sample.V.shape == sample.N.shape == (4, 3)
    assert sample.ahead.shape == (2, 6, 3)
    assert list(stages) == ["boundary", "normals"]
    assert stages["boundary"] == 10 * 41  # log2(2 / 1e-12)
    held = sample.ahead.copy()
    assert sample.grow(3) and sample.pairs.shape == (2, 7, 3)
    np.testing.assert_array_equal(sample.X[4:], held[0, :3])  # the first of those held back
    np.testing.assert_array_equal(sample.V[4:], held[1, :3])
    np.testing.assert_allclose(np.abs(sample.X[:, 0]), 0, atol=1e-12)
    np.testing.assert_allclose(sample.N, np.tile([1, 0, 0], (7, 1)), atol=1e-5)
    np.testing.assert_allclose(sample.values, [np.sqrt(7), 0, 0], atol=1e-4)
    assert repr(sample) == "Sample(7 normals in dimension 3)"
    assert sample.grow(7) and len(sample.N) == 14
    assert not sample.grow(1) and len(sample.N) == 14 and not sample.pairs.size


def test_points_of_a_sample_have_room_within_bounds():
    # features as of images, most of them on a bound
    rng = np.random.default_rng(0)
    P, N = rng.integers(0, 2, (2, 40, 6)).astype(float)
    P[:, 0], N[:, 0], P[:, 5], N[:, 5] = 1, 0, 0, 0
    sample = sample_of(lambda X: X[:, 0] > 0.4, 6, (P, N), {}, bounds=(0, 1))
    assert sample.grow(6) and sample.pairs.shape == (2, 28, 6)
    X = np.concatenate([sample.X, sample.ahead[0]])
    assert np.minimum(X, 1 - X).min() > 0.04
    np.testing.assert_allclose(sample.N, np.tile(np.eye(6)[0], (6, 1)), atol=1e-5)

    # a point on a bound, found before, is neither measured nor held back: no walk would refute it
    inside, on_it = np.array([[0.4, *[0.5] * 5], [0.4, *[0.0] * 5]])
    ahead = np.stack([[on_it, inside], np.eye(6)[[0, 0]]])
    pool = Pool(sample.oracle, np.eye(6)[:2], np.array([1, -1]), rng)
    again = sample_module.Sample(sample.oracle, pool, ahead, 1.0)
    np.testing.assert_array_equal(again.ahead[0], [inside])


def test_points_ahead_are_used_first():
    sample = sample_of(lambda X: X[:, 0] > 0, 3, plane_pairs(2), {})
    sample.ahead = np.stack([np.zeros((9, 3)), np.tile([1.0, 0, 0], (9, 1))])
    assert sample.grow(2) and sample.pairs.shape == (2, 2, 3) and sample.ahead.shape == (2, 7, 3)


def test_points_next_to_the_bounds_are_left_out():
    P, N = plane_pairs(12)
    P[:3, 1] = N[:3, 1] = 0.9995  # nearer than a thousandth of the scale, which is 2,
    P[:3, 0] = 0.46  # and drawn a tenth of the way towards 0 their label would be another one
    P[3:5, 1] = N[3:5, 1] = 0.99
    sample = sample_of(lambda X: X[:, 0] > 0.45, 3, (P, N), {}, bounds=(-1, 1), scale=2.0)
    assert sample.grow(3) and sample.ahead.shape == (2, 6, 3) and not sample.pairs.size
    found = np.concatenate([sample.X, sample.ahead[0]])[:, 1]
    assert found.max() < 0.9 and (found > 0.88).sum() == 2
    assert sample.grow(1) is False


@pytest.mark.parametrize("seed", range(3))
def test_in_many_dimensions_grazing_brackets_are_left_out_before_their_normals_cost_queries(seed):
    # half of the lines meet the plane x_1 = 0 at an angle of which the sine is 0.01
    P, N = plane_pairs(40, 120, seed)
    along = np.random.default_rng(seed).standard_normal((20, 119))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    P[::2], N[::2] = np.c_[np.full(20, 0.01), along], -np.c_[np.full(20, 0.01), along]
    stages = {}
    sample = sample_of(lambda X: X[:, 0] > 0, 120, (P, N), stages)
    assert sample.grow(8) and len(sample.N) >= 7
    assert stages["normals"] <= 9 * 119 * 26
    assert np.median(np.abs(sample.V[:, 0])) > 0.2


def test_normals_of_grazing_brackets_are_lost():
    P, N = plane_pairs(12)
    P[:2], N[:2] = [1e-3, 0.3, 0], [-1e-3, -0.3, 0]
    sample = sample_of(lambda X: X[:, 0] > 0, 3, (P, N), {})
    assert sample.grow(5) and len(sample.N) == len(sample.X) == len(sample.V) == 3
    assert np.isfinite(sample.N).all() and sample.ahead.shape == (2, 6, 3)


@pytest.mark.parametrize("width", [1e-12, 1e-6])
def test_lengths_are_in_units_of_the_scale(width, monkeypatch):
    precision, seen = Precision(width), []

    def slope_normals(oracle, X, V, delta, width, central):
        seen.append((delta, width, central))
        return V

    monkeypatch.setattr(sample_module, "slope_normals", slope_normals)
    P, N = (100 * a for a in plane_pairs(8))
    sample = sample_of(lambda X: X[:, 0] > 0, 3, (P, N), {}, scale=100.0, precision=precision)
    assert sample.grow(2)
    assert seen == [(precision.slope_step * 100, width * 100, width == 1e-6)]
    assert 12 * width < np.abs(sample.ahead[0, :, 0]).max() < 50 * width  # half a bracket of 100


@pytest.mark.parametrize("kernel, symmetry", [
    (Polynomial(3), CYLINDER), (Tanh(2.0, 0.1), CYLINDER), (Gaussian(3.0), REVOLUTION)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_rough_basis_costs_less_and_can_be_refined(kernel, symmetry, seed):
    found, queries = [], []
    for rough in ({}, {symmetry: 5}, {symmetry: 4}):
        model, finder = finder_of(kernel, 15, 5, seed)
        finder.rough = rough
        found.append(finder.search([symmetry]))
        queries.append(finder.oracle.queries)
    sines = [largest_sine(s.basis, model.support_vectors.T) for s in found]
    assert [s.rank for s in found] == [5, 5, 5]
    assert queries[1] < queries[0] == queries[2]  # five dimensions are too many for the last one
    assert sines[1] < 0.1 and sines[0] == sines[2] < 2e-4
    assert [s.rough for s in found] == [False, True, False]

    # refined in all directions, or within the span of the basis and one direction
    finder.rough = {symmetry: 5}
    model, finder = finder_of(kernel, 15, 5, seed)
    finder.rough = {symmetry: 5}
    rough = finder.search([symmetry])
    fine = finder.settled(rough)
    assert rough.rough and not fine.rough
    assert largest_sine(fine.basis, model.support_vectors.T) < max(1e-6, sines[0] * 10)
    w = np.linalg.svd(rough.basis)[0][:, 7]
    towards = finder.settled(rough, w[:, None])
    assert towards.rough
    inside = np.c_[rough.basis, w]
    assert largest_sine(towards.basis, inside @ (inside.T @ model.support_vectors.T)) < 1e-5
    np.testing.assert_allclose(inside @ (inside.T @ towards.basis), towards.basis, atol=1e-12)


@pytest.mark.parametrize("m", [2, 5, 8])
def test_as_many_normals_as_dimensions_may_do(m):
    """A subspace is tested before another normal is measured: one too small costs little."""
    spare, spent = [], []
    for seed in range(6):
        model, finder = finder_of(Polynomial(3), 15, m, seed)
        found = finder.search([CYLINDER])
        assert found.rank == m
        assert largest_sine(found.basis, model.support_vectors.T) < 1e-5
        spare.append(len(found.normals) - m)

        # most often two queries refute one of fewer normals
        model, finder = finder_of(Polynomial(3), 15, m, seed)
        finder.grow(m - 1)
        before = finder.oracle.queries
        small = np.linalg.qr(finder.N.T)[0]
        assert not CYLINDER.holds(finder, small, 0.1, 3e-5)
        spent.append(finder.oracle.queries - before)
    assert min(spare) == 0 and max(spare) < 4
    assert np.median(spent) == 2


def test_a_rank_that_is_wrong_does_not_settle():
    model, finder = finder_of(Polynomial(3), 15, 5, 0)
    finder.rough = {CYLINDER: 5}
    rough = finder.search([CYLINDER])
    wrong = replace(rough, basis=np.linalg.qr(model.support_vectors.T)[0][:, :4])
    assert finder.settled(wrong) is None
