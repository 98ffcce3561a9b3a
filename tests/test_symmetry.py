"""The two symmetries: which subspaces they suggest, at which points and how far they are tested."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from decon.oracles.precision import DOUBLE, Precision
from decon.subspaces import cylinder, revolution, symmetry
from decon.subspaces.multipliers import (
    log_det_multipliers,
    multipliers_for,
    refine_multipliers,
)
from decon.subspaces.settings import SETTINGS
from decon.subspaces.spans import largest_sine, span_of_corrected_normals
from decon.subspaces.symmetry import CYLINDER, REVOLUTION

D = 8
COARSE = Precision(1e-7)


class Sample(SimpleNamespace):
    """Normals and points without an oracle; counts how often a stage begins."""

    def __init__(self, N, X=None, V=None, ahead=4, precision=DOUBLE, scale=3.0, fitted=None):
        d = N.shape[1]
        X = np.zeros(N.shape) if X is None else X
        V = N if V is None else V
        super().__init__(N=N, X=X, V=V, oracle="oracle", rng="rng", scale=scale, dimension=d,
                         ahead=np.arange(2.0 * ahead * d).reshape(2, ahead, d), stages=[],
                         precision=precision, width=precision.width * scale,
                         fitted=np.empty((d, 0)) if fitted is None else fitted,
                         tried={}, lately=set())

    def tried_lately(self, symmetry, rank):
        return rank in self.lately

    @contextmanager
    def stage(self, name):
        self.stages.append(name)
        yield


def with_values(values, d=D, seed=0):
    """Rows with given singular values, and the first of their right singular vectors."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((n, len(values))))[0]
                   for n in (len(values), d))
    return left * values @ right.T, right


def found(symmetry, sample, passes=lambda *arguments: True):
    """The candidates, and the tests (rank, way, tolerance) that they had to pass."""
    tests = []

    def holds(sample, basis, way, tolerance, W=None):
        tests.append((basis.shape[1], way, tolerance))
        return passes(basis.shape[1], way, tolerance)

    symmetry = type(symmetry)()
    symmetry.holds = holds
    sample.tried = {(symmetry, rank): 1 for rank in sample.tried}
    return list(symmetry.candidates(sample)), tests


@pytest.fixture
def recorded(monkeypatch):
    """What the functions of both files are called with; they pass where `answers` says so."""
    calls = SimpleNamespace(list=[], answers=None)

    def record(*arguments, **options):
        assert not options
        calls.list.append(arguments)
        return calls.answers

    for module in (cylinder, revolution):
        for name in ("holds", "refine"):
            monkeypatch.setattr(module, name, record)
    return calls


def test_names():
    assert repr(CYLINDER) == "CYLINDER" and repr(REVOLUTION) == "REVOLUTION"


# Cylinders

def test_every_gap_makes_a_candidate():
    N, right = with_values([2.0, 1.5, 0.1, 0.09, 0.011])
    candidates, tests = found(CYLINDER, Sample(N))
    assert [basis.shape[1] for basis, *_ in candidates] == [2, 4, 5]  # and the span of them all
    for basis, faint, patience in candidates:
        assert largest_sine(basis, right[:, :basis.shape[1]]) < 1e-12
        assert not faint and patience == 0
    assert tests == [(k, 0.1, DOUBLE.rough_symmetry_tolerance) for k in (2, 4, 5)]
    coarse, tests = found(CYLINDER, Sample(N, precision=COARSE))
    assert {test[2] for test in tests} == {COARSE.rough_symmetry_tolerance}
    candidates, _ = found(CYLINDER, Sample(N), lambda k, *_: k == 4)
    assert [basis.shape[1] for basis, *_ in candidates] == [4]


@pytest.mark.parametrize("ratio, ranks", [(8.1, [2, 4]), (7.9, [4])])
def test_a_gap_is_a_ratio_of_eight(ratio, ranks):
    N, _ = with_values([2.0, 1.0, 1 / ratio, 0.1])
    assert [basis.shape[1] for basis, *_ in found(CYLINDER, Sample(N))[0]] == ranks


def test_one_normal_is_a_candidate_and_none_is_not():
    N, right = with_values([1.0])
    candidates, _ = found(CYLINDER, Sample(N))
    assert len(candidates) == 1 and largest_sine(candidates[0][0], right) < 1e-12
    assert found(CYLINDER, Sample(np.empty((0, D)))) == ([], [])


def test_all_dimensions_are_no_candidate():
    rng = np.random.default_rng(0)
    N = np.linalg.qr(rng.standard_normal((4, 3)))[0] * [1, 1, 0.5] @ np.eye(3)
    assert found(CYLINDER, Sample(np.r_[N, N])) == ([], [])  # the gap after 3 is none
    one = np.ones((1, 1))
    assert found(CYLINDER, Sample(one)) == ([], [])


@pytest.mark.parametrize("value, more, faint", [
    (0.9e-3, 1, None), (0.9e-3, 2, True), (0.9e-3, 3, True), (1.1e-3, 1, False)])
def test_faint_directions_wait_for_two_more_normals(value, more, faint):
    N, _ = with_values([1.0, 0.9, value, *(1e-12,) * more])
    candidates = [c for c in found(CYLINDER, Sample(N))[0] if c[0].shape[1] == 3]
    assert [c[1] for c in candidates] == ([] if faint is None else [faint])


def test_the_vectors_of_a_cylinder_are_the_normals():
    sample = Sample(np.eye(D))
    assert CYLINDER.vectors(sample, None) is sample.N


@pytest.mark.parametrize("precision, factor", [(DOUBLE, 1), (COARSE, 4)])
def test_a_cylinder_is_tested_at_all_points_that_do_not_graze(monkeypatch, precision, factor):
    incidence = np.array([0.5, 0.1, 0.11, 1.0])
    V, X = incidence[:, None] * np.eye(4), np.arange(16.0).reshape(4, 4)
    sample = Sample(np.eye(4), X, V, ahead=20, precision=precision)
    points = np.r_[X[[3, 0, 2]], sample.ahead[0]]  # the steepest first
    directions, calls, failing = np.r_[V[[3, 0, 2]], sample.ahead[1]], [], []

    def holds(*arguments):
        before = sum(len(call[1]) for call in calls)
        calls.append(arguments)
        return np.array([before + j not in failing for j in range(len(arguments[1]))])

    monkeypatch.setattr(cylinder, "holds", holds)
    assert CYLINDER.holds(sample, "basis", 0.5, 1e-4, "W") is True
    np.testing.assert_array_equal(np.concatenate([call[1] for call in calls]), points)
    np.testing.assert_array_equal(np.concatenate([call[2] for call in calls]), directions)
    assert sample.stages == ["subspace", "subspace"]
    for oracle, _, _, *rest in calls:
        assert oracle == "oracle"
        assert rest == ["basis", 1.5, pytest.approx(factor * 3e-4), "rng", "W"]
    for failing, passes in [([0], False), ([2], False), ([3], True), ([6, 22], True),
                            ([3, 5, 9], False)]:
        calls.clear()
        assert CYLINDER.holds(sample, "basis", 1, 1e-4) is passes
        assert len(calls) == (1 if failing == [0] else 2)  # one point is enough to refute it
    assert calls[-1][-1] is None


def test_one_of_many_points_in_use_may_fail(monkeypatch):
    for n in (15, 16, 31, 32):
        for fail in range(4):
            sample = Sample(np.tile(np.eye(4)[0], (n, 1)))
            monkeypatch.setattr(cylinder, "holds", lambda oracle, X, *rest, fail=fail, n=n: (
                np.ones(1, bool) if len(X) == 1 else np.arange(1, n + 4) > fail))
            assert CYLINDER.holds(sample, "basis", 1, 1e-4) is (fail <= n // 16)


def test_points_that_refute_a_cylinder_are_the_next_to_show_normals(monkeypatch):
    sample = Sample(np.eye(4), ahead=6)
    before = sample.ahead.copy()
    passed = np.array([True, False, True, True, False, True])
    monkeypatch.setattr(cylinder, "holds", lambda oracle, X, *rest: (
        np.ones(1, bool) if len(X) == 1 else np.r_[np.ones(3, bool), passed]))
    assert not CYLINDER.holds(sample, "basis", 1, 1e-4)
    np.testing.assert_array_equal(sample.ahead, before[:, [1, 4, 0, 2, 3, 5]])


def test_ranks_that_were_tried_are_probed_and_those_tried_lately_are_left_out():
    N, _ = with_values([2.0, 1.5, 0.1, 0.09, 0.011])
    sample = Sample(N)
    sample.tried = {2}
    assert [faint for _, faint, _ in found(CYLINDER, sample)[0]] == [True, False, False]
    sample.lately = {2}
    candidates, tests = found(CYLINDER, sample)
    assert [basis.shape[1] for basis, *_ in candidates] == [4, 5] and len(tests) == 2
    N, X, S = corrected(3, 9)
    sample = Sample(N, X, fitted=S)
    sample.lately = {3}
    assert found(REVOLUTION, sample) == ([], [])


@pytest.mark.parametrize("miss, width, walk, bracket", [
    (1e-6, 1e-12, 3.0, 3e-12), (1e-5, 1e-12, 3.0, 3e-9), (1e-4, 1e-12, 0.03, 3e-9),
    (1e-4, 1e-7, 0.03, 3e-7), (1e-6, 1e-7, 3.0, 3e-7)])
def test_walks_that_refine_a_cylinder(recorded, miss, width, walk, bracket):
    sample, basis = Sample(np.eye(4), "X", "V", precision=Precision(width)), np.eye(4)[:, :2]
    assert CYLINDER.refine(sample, basis, miss, "W") is None  # what was recorded
    oracle, X, V, N, given, *rest = recorded.list[0]
    assert (oracle, X, V) == ("oracle", "X", "V") and N is sample.N and given is basis
    assert rest == [pytest.approx(walk), pytest.approx(bracket), "W", 3 if width > 1e-9 else 1]
    assert sample.stages == ["subspace"]


# Surfaces of revolution

def corrected(rank, s, d=14, seed=0, error=0.0):
    """Normals and points with n - gamma x in a subspace, and this subspace."""
    rng = np.random.default_rng(seed)
    S = np.linalg.qr(rng.standard_normal((d, rank)))[0]
    X, gamma = rng.standard_normal((s, d)), rng.random(s)
    N = rng.standard_normal((s, rank)) @ S.T + gamma[:, None] * X
    return N + error * rng.standard_normal((s, d)), X, S


def test_corrected_normals_suggest_the_subspace():
    N, X, S = corrected(3, 9)
    (basis, faint, patience), = found(REVOLUTION, Sample(N, X, fitted=S))[0]
    assert basis.shape == S.shape and largest_sine(basis, S) < 1e-9
    assert faint and patience == 0  # a probe in few directions comes first


def test_where_brackets_are_coarse_a_candidate_is_read_from_multipliers_that_fit_its_rank():
    N, X, _ = corrected(3, 9, error=0.01)
    (basis, *_), = found(REVOLUTION, Sample(N, X, precision=COARSE))[0]
    rough = multipliers_for(N, X, span_of_corrected_normals(N, X, log_det_multipliers(N, X), 3)[0])
    fine = refine_multipliers(N, X, rough, 3, steps=20)
    by_rough, by_fine = (span_of_corrected_normals(N, X, g, 3)[0] for g in (rough, fine))
    assert largest_sine(basis, by_fine) < 1e-9 < 1e-4 < largest_sine(basis, by_rough)


@pytest.mark.parametrize("s, late", [(9, False), (10, True)])
def test_of_many_normals_two_ranks_more_are_tried(s, late):
    N, X, S = corrected(3, s)
    candidates, tests = found(REVOLUTION, Sample(N, X, fitted=S), lambda k, *_: True)
    assert [c[0].shape[1] for c in candidates] == ([3, 4, 5] if late else [3])
    assert {c[2] for c in candidates} == {2 * late}


@pytest.mark.parametrize("s, turned, tried", [
    (9, 0.02, True), (9, 0.05, False), (9, None, False), (7, 0.02, True), (6, 0.02, False),
    (10, 0.05, True), (10, None, True)])
def test_of_few_normals_a_subspace_must_be_steady(s, turned, tried):
    """It may have turned by 0.03 since it was looked at last, and one more than 3 k are many."""
    N, X, S = corrected(3, s)
    before = None
    if turned is not None:
        before = S.copy()
        aside = np.linalg.qr(np.c_[S, np.ones(14)])[0][:, 3]
        before[:, 0] = np.cos(turned) * S[:, 0] + np.sin(turned) * aside
    sample = Sample(N, X, fitted=before)
    candidates, tests = found(REVOLUTION, sample)
    assert (3 in [basis.shape[1] for basis, *_ in candidates]) == tried
    assert [test for test in tests if test[0] == 3] == [(3, 0.1, 1e-4), (3, 1, 3e-3)] * tried
    assert largest_sine(sample.fitted, S) < 1e-9  # kept for the next time


@pytest.mark.parametrize("error, turned, tried", [
    (0.09, 0.1, True), (0.09, 0.2, False), (0.11, 0.01, False)])
def test_of_few_normals_no_direction_may_be_lost_in_their_errors(error, turned, tried, monkeypatch):
    """A subspace may turn by twice its error, if that is not too large."""
    monkeypatch.setattr(symmetry, "weakest_angle_error", lambda *_: error)
    N, X, S = corrected(3, 9)
    aside = np.linalg.qr(np.c_[S, np.ones(14)])[0][:, 3]
    before = np.c_[np.cos(turned) * S[:, 0] + np.sin(turned) * aside, S[:, 1:]]
    assert bool(found(REVOLUTION, Sample(N, X, fitted=before))[0]) == tried


def test_both_tests_must_be_passed():
    N, X, _ = corrected(3, 11)
    for way in (0.1, 1):
        assert found(REVOLUTION, Sample(N, X), lambda k, w, t, way=way: w != way)[0] == []


def test_five_normals_are_too_few_and_six_are_not():
    for s in (5, 6):
        N, X, _ = corrected(1, s, d=6)
        assert bool(found(REVOLUTION, Sample(N, X))[0]) == (s == 6)


@pytest.mark.parametrize("d, rank, s", [(6, 4, 7), (6, 4, 8), (6, 4, 9), (7, 5, 9), (7, 5, 10),
                                        (7, 5, 11)])
def test_ranks_that_any_normals_can_be_brought_to_are_no_evidence(d, rank, s):
    N, X, S = corrected(rank, s, d=d)
    ranks = [basis.shape[1] for basis, *_ in found(REVOLUTION, Sample(N, X, fitted=S))[0]]
    assert all(k < d and k * (d - k) < s * (d - k - 1) for k in ranks)
    assert (rank in ranks) == (rank * (d - rank) < s * (d - rank - 1) and s >= rank + 4)


def test_no_rank_reaches_the_dimension():
    N, X, _ = corrected(3, 16, d=5)
    _, tests = found(REVOLUTION, Sample(N, X))
    assert {k for k, *_ in tests} == {3}  # 4 and 5 would be next


@pytest.mark.parametrize("precision, error, shows", [
    (DOUBLE, 5e-4, True), (DOUBLE, 2e-3, False), (COARSE, 0.12, True), (COARSE, 0.5, False)])
def test_gaps_of_the_corrected_normals(precision, error, shows):
    """Where brackets are coarse, normals may be farther off."""
    N, X, S = corrected(3, 40, d=20, error=error)
    candidates, _ = found(REVOLUTION, Sample(N, X, precision=precision))
    right = [largest_sine(basis, S) < 0.3 for basis, *_ in candidates if basis.shape[1] == 3]
    assert right == [True] * shows


def test_the_clearest_gap_comes_first():
    rng = np.random.default_rng(3)
    _, X, S = corrected(5, 14, d=20, seed=3)
    inside = rng.standard_normal((14, 5)) * [1, 1, 1, 0.02, 0.02]  # a second gap, after three
    N = inside @ S.T + rng.random(14)[:, None] * X
    candidates, _ = found(REVOLUTION, Sample(N, X, precision=COARSE))
    assert [basis.shape[1] for basis, *_ in candidates][:2] == [5, 3]


@pytest.mark.parametrize("d, faint, tried", [
    (40, 2, [3, 5]),  # 14 are more than 3 * 3, not than 3 * 5
    (9, 3, [3, 6, 4, 5]),  # that 6 = d - 3 dimensions show means nothing
    (9, 2, [3, 5])])  # but 5 do
def test_the_last_gap_says_whether_normals_are_many(d, faint, tried):
    rng = np.random.default_rng(0)
    _, X, S = corrected(3 + faint, 14, d=d)
    inside = rng.standard_normal((14, 3 + faint)) * ([1, 1, 1] + [1e-4] * faint)
    N = inside @ S.T + rng.random((14, 1)) * X + 1e-6 * rng.standard_normal((14, d))
    candidates, _ = found(REVOLUTION, Sample(N, X, precision=COARSE))
    assert [basis.shape[1] for basis, *_ in candidates] == tried
    assert {patience for *_, patience in candidates} == {0 if tried == [3, 5] else 2}


def test_points_next_to_the_subspace_show_no_multiplier():
    N, X, S = corrected(3, 12)
    inside = X @ S @ S.T
    across = X - inside
    X = inside + across * (np.linalg.norm(inside, axis=1) / np.linalg.norm(across, axis=1)
                           * np.where(np.arange(12) < 4, 0.04, 0.06))[:, None]
    N = N + 0.3 * X
    vectors = REVOLUTION.vectors(Sample(N, X), S)
    assert vectors.shape == (8, 14)
    expected = N[4:] - X[4:] * np.array([np.linalg.lstsq(
        (x - S @ (S.T @ x))[:, None], n - S @ (S.T @ n), rcond=None)[0][0]
        for n, x in zip(N[4:], X[4:], strict=True)])[:, None]
    np.testing.assert_allclose(vectors, expected, atol=1e-12)


def test_a_revolution_is_tested_at_the_points_held_back(recorded):
    sample = Sample(np.eye(4))
    for passed, passes in [((1, 1, 1, 0), True), ((1, 0, 1, 0), False), ((1, 1, 1, 1), True)]:
        recorded.answers = np.array(passed, bool)
        assert REVOLUTION.holds(sample, "basis", 0.5, 1e-4, "W") is passes
    oracle, X, V, *rest = recorded.list[0]
    np.testing.assert_array_equal([X, V], sample.ahead)
    assert oracle == "oracle"
    assert rest == ["basis", pytest.approx(np.pi / 4), pytest.approx(3e-4), "rng", "W"]
    assert sample.stages == ["subspace"] * 3
    REVOLUTION.holds(sample, "basis", 1, 1e-4)
    assert recorded.list[-1][-1] is None


@pytest.mark.parametrize("miss, width, angle, step, bracket", [
    (1e-6, 1e-12, np.pi / 2, 7.5e-7, 3e-12), (1e-5, 1e-12, np.pi / 2, 7.5e-6, 3e-9),
    (1e-3, 1e-12, np.pi / 20, 7.5e-5, 3e-8),
    (3e-2, 1e-4, np.pi / 20, 22.5e-4, 3e-4), (1e-6, 1e-6, np.pi / 2, 12e-6, 3e-6)])
def test_turns_that_refine_a_revolution(recorded, miss, width, angle, step, bracket):
    sample, basis = Sample(np.eye(4), "X", "V", precision=Precision(width)), np.eye(4)[:, :2]
    assert REVOLUTION.refine(sample, basis, miss, "W") is None
    oracle, X, V, N, given, *rest = recorded.list[0]
    assert (oracle, X, V) == ("oracle", "X", "V") and N is sample.N and given is basis
    assert rest == [pytest.approx(angle), pytest.approx(step), pytest.approx(bracket), "W",
                    3 if width > 1e-9 else 1]
    assert sample.stages == ["subspace"]


def test_settings():
    """Tolerances on the way to the last, each wider than the one before."""
    assert list(SETTINGS.tolerances) == sorted(SETTINGS.tolerances)
    assert SETTINGS.nearly_straight < 1e-3 and 0.5 < SETTINGS.revolution_passed < 1
    assert 0.5 < SETTINGS.cylinder_passed < 1
