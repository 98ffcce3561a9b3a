"""Slices of quadratic machines, and the linear and quadratic families, against the truth."""

from dataclasses import FrozenInstanceError, replace
from types import SimpleNamespace

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import Pool, pn_pairs
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.ledger import Ledger
from decon.extraction.survey import Survey
from decon.families.linear import LinearFamily
from decon.families.protocol import Candidate, Refuted, SelfContradiction
from decon.families.quadratic import QuadraticFamily, unknowns
from decon.families.settings import SETTINGS
from decon.families.slices import Reading, Slice
from decon.oracles.precision import DOUBLE, Precision
from decon.subspaces.finder import Subspace
from decon.subspaces.symmetry import CYLINDER
from experiments.relu_networks import random_network

D, M = 12, 5


def slice_of(predict, d, seed, scale=3.0, precision=DOUBLE, anchor=1.0, frame=None, bounds=None,
             spread=1.0):
    """A slice of R^d that begins at a boundary point, and the batches that the model is asked."""
    asked = []

    def model(X):
        asked.append(X.copy())
        return predict(X)

    oracle = Oracle(model, d, positive=1, bounds=bounds)
    rng = np.random.default_rng(seed)
    X = spread * rng.standard_normal((50, d))
    labels = predict(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], 1, rng)
    x, _ = boundary_points(oracle, P, N, 1e-13)
    ends = np.array([P[0], N[0]])
    if frame is not None:
        ends = x[0] + (ends - x[0]) @ frame @ frame.T
    part = Slice(oracle, x[0], ends, scale, anchor, rng, frame, precision)
    asked.clear()
    return part, asked


def start(kernel, seed, d=D, m=M, **options):
    machine = KernelMachine.random(kernel, d, m, seed)
    return machine, slice_of(machine.predict, d, seed, **options)[0]


def enough(s):
    return int(1.1 * (s + 1) * (s + 2) / 2) + 15


def off_span(T, vectors):
    """The largest relative distance of vectors from the span of the columns of T."""
    Q = np.linalg.qr(T)[0]
    off = np.linalg.norm(vectors - vectors @ Q @ Q.T, axis=1)
    return (off / np.linalg.norm(vectors, axis=1)).max()


def proportional(f, g, tolerance):
    """Is f a positive multiple of g?"""
    factor = (f @ g) / (g @ g)
    return factor > 0 and np.abs(f - factor * g).max() <= tolerance * np.abs(f).max()


def values(A, t):
    """(t, 1)^T A (t, 1)"""
    t = np.c_[t, np.ones(len(t))]
    return ((t @ A) * t).sum(1)


# Slices

@pytest.mark.parametrize("seed", range(5))
def test_a_slice_shows_the_machine_in_it(seed):
    machine, part = start(Polynomial(2), seed)
    for s in (2, 3, 4, 6, 9, D):
        part.grow(s, enough(s), 1.0)
        np.testing.assert_allclose(part.P.T @ part.P, np.eye(s), atol=1e-12)
        f = machine.decision_function(part.points)
        assert np.abs(f / np.linalg.norm(machine.gradient(part.points), axis=1)).max() < 1e-10
        seen = part.read()
        assert seen.rank == min(s, M) and seen.clear and seen.residual < 0.5
        np.testing.assert_allclose(seen.U.T @ seen.U, np.eye(seen.U.shape[1]), atol=1e-12)
        assert off_span(part.P @ seen.U, machine.support_vectors @ part.P @ part.P.T) < 1e-6
        z = np.random.default_rng(seed).standard_normal((100, s))
        q, f = values(seen.A, z @ seen.U), machine.decision_function(part.x0 + z @ part.P.T)
        assert proportional(q * np.sign(q @ f), f, 1e-6)


@pytest.mark.parametrize("n", [40, 170, 900])
@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_brackets_begin_in_a_cloud_of_two_sizes_inside_the_slice(n, radius, monkeypatch):
    machine = KernelMachine.random(Polynomial(2), D, M, 0)
    part, asked = slice_of(machine.predict, D, 0, anchor=0.25)
    pools = []

    class Kept(Pool):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            pools.append(self)

    monkeypatch.setattr("decon.families.slices.Pool", Kept)
    part.grow(7, n, radius)

    # the cloud: half of it at the radius, half at three times that, in units of the scale
    cloud = asked[0] - part.x0
    assert len(cloud) == max(40, (n - 1) // 4)
    sizes = [np.sqrt((some**2).sum(1).mean()) for some in (cloud[::2], cloud[1::2])]
    np.testing.assert_allclose(sizes, [3.0 * radius, 9.0 * radius], rtol=0.25)
    for batch in asked:
        off = (batch - part.x0) - (batch - part.x0) @ part.P @ part.P.T
        assert np.abs(off).max() < 1e-12 * radius * 9 * D

    # the pool: true labels, of each at least a few
    (pool,) = pools
    np.testing.assert_array_equal(pool.labels, machine.predict(pool.points))
    assert min((pool.labels > 0).sum(), (pool.labels < 0).sum()) >= max(14, (n - 1) // 30)

    # the points: x0 first, in a line of brackets from - to +, each weighing 1
    assert part.points.shape == (n, D) and len(np.unique(part.points, axis=0)) == n
    np.testing.assert_array_equal(part.points[0], part.x0)
    np.testing.assert_array_equal(part.weights, [0.25] + (n - 1) * [1])
    np.testing.assert_allclose(np.linalg.norm(part.V[1:], axis=1), 1)
    X, V = part.points[1:], part.V[1:] @ part.P.T
    for sign in (1, -1):
        assert (machine.predict(X + sign * 1e-9 * V) == sign).all()
    # a bracket costs what it takes to halve it down to the width; where the quadratic through the
    # others shows where it is, a few queries
    full = np.log2(40 * radius / 1e-12)
    assert sum(map(len, asked)) < len(cloud) + min(n, 45) * full + max(0, n - 45) * 12


@pytest.mark.parametrize("seed", range(4))
def test_a_rare_label_is_looked_for(seed, monkeypatch):
    def inside(X):
        return np.where((X**2).sum(1) < 3, 1, -1)

    pools = []
    monkeypatch.setattr("decon.families.slices.Pool", lambda *a: pools.append(Pool(*a)) or pools[0])
    part, asked = slice_of(inside, 4, seed, scale=40.0)
    part.grow(4, 900, 1.0)
    positive = pools[0].points[pools[0].labels > 0]
    assert len(positive) == 29 and inside(positive).min() == 1
    np.testing.assert_allclose((part.points**2).sum(1), 3)
    # on 28 brackets of their ends they are found to a thousandth of the scale
    assert (np.linalg.norm(positive, axis=1) > 1.6).sum() < 15


def test_coarse_brackets_are_averaged():
    precision = Precision(1e-6)
    machine, part = start(Polynomial(2), 0, precision=precision)
    part.grow(3, 30, 1.0)
    assert part.width == 3e-6 and len(part.Z) == 90
    off = np.abs(machine.decision_function(part.points))
    off /= np.linalg.norm(machine.gradient(part.points), axis=1)
    assert 1e-9 < np.median(off) < 3e-6


def test_more_points_are_added_to_those_there_are():
    _, part = start(Polynomial(2), 0)
    assert part.points.shape == part.P.T.shape == (1, D)  # x0 on the line of the ends
    part.grow(2, 20, 1.0)
    before = part.points
    part.grow(4, 40, 3.0)
    assert part.points.shape == (40, D) and part.Z.shape == part.V.shape == (40, 4)
    np.testing.assert_allclose(part.points[:20], before, atol=1e-14)
    np.testing.assert_array_equal(part.V[:20, 2:], 0)
    assert repr(part) == f"Slice(dimension 4 of {D}, 40 points)"


def test_the_slices_hold_the_line_of_both_labels_and_keep_to_the_frame():
    _, part = start(Polynomial(2), 0)
    ends = part.ends - part.x0
    np.testing.assert_allclose(ends @ part.P @ part.P.T, ends, atol=1e-12)
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((D, 6)))[0]
    machine, part = start(Polynomial(2), 0, frame=frame)
    part.grow(6, enough(6), 1.0)
    np.testing.assert_array_equal(part.P, frame)
    off = part.points - part.x0
    np.testing.assert_allclose(off @ frame @ frame.T, off, atol=1e-12)


def test_a_slice_stays_within_bounds():
    machine = KernelMachine.random(Polynomial(2), 6, 3, 1)
    part, asked = slice_of(machine.predict, 6, 1, bounds=(-4, 4))
    part.grow(6, 60, 3.0)
    assert max(np.abs(X).max() for X in asked) <= 4
    assert part.read().rank == 3


# Reading a slice

def synthetic(values, seed, n=None, size=1.0, width=1e-12, scale=1.0):
    """A slice with points of the quadratic sum_i values_i (u_i.z - c_i)^2 = 1, no oracle."""
    s, rng = len(values), np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((s, s)))[0]
    c = rng.standard_normal(s) * (np.abs(values) > 0)
    n = n or 2 * unknowns(s)
    A, k = (U * values) @ U.T, -(U * values) @ c
    B = np.r_[np.c_[A, k], [np.r_[k, (values * c**2).sum() - 1]]]

    # roots of the quadratic on random lines, and errors of the brackets' width along them
    Z, V = scale * size * rng.standard_normal((2, 50 * n, s))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    H, G = np.c_[Z / scale, np.ones(len(Z))], np.c_[V, np.zeros(len(V))]
    p, q, r = (((X @ B) * Y).sum(1) for X, Y in ((G, G), (H, G), (H, H)))
    with np.errstate(invalid="ignore", divide="ignore"):
        t = (-q + np.sqrt(q**2 - p * r)) / p
    good = np.flatnonzero(np.abs(t) < 3 * size)[:n]
    assert len(good) == n
    Z = Z[good] + scale * (t[good] + width * rng.uniform(-0.5, 0.5, n))[:, None] * V[good]
    part = Slice(None, np.zeros(s), np.eye(2, s), scale, 1.0, rng, np.eye(s),
                 Precision(width))
    part.Z, part.V, part.weights = Z, V[good], np.ones(n)
    return part, B, U


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_reading_is_the_quadratic_its_rank_and_its_singular_values(seed, scale):
    s, m = 6, 1 + seed % 5
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.5, 2, s) * np.resize([1, -1], s) * (np.arange(s) < m)
    part, B, U = synthetic(sizes, seed, scale=scale, width=1e-11)
    seen = part.read()
    assert seen.rank == m == seen.U.shape[1] and seen.clear is True
    assert off_span(seen.U, U.T[:m]) < 1e-6

    # (t, 1)^T A (t, 1) is the truth, up to a factor, in units of the scale
    z = scale * rng.standard_normal((50, s))
    q, truth = values(seen.A, z @ seen.U), values(B, z / scale)
    assert proportional(q * np.sign(q @ truth), truth, 1e-6)
    singular = np.linalg.svd(B[:-1], compute_uv=False)
    np.testing.assert_allclose(seen.singular_values / seen.singular_values[0],
                               singular / singular[0], atol=1e-6)

    # the residual is what the brackets' width explains
    assert 0.01 < seen.residual < 0.6
    part.width /= 100
    assert part.read().residual == pytest.approx(100 * seen.residual)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_faint_is_not_clear_and_what_is_hidden_is_not_seen(seed):
    found = {}
    for faint in (1e-2, 1e-5, 1e-7, 1e-9, 1e-11):
        part, _, _ = synthetic(np.array([1.0, -1.0, faint, 0.0, 0.0]), seed, width=1e-9)
        found[faint] = part.read()
    assert [found[f].rank for f in (1e-2, 1e-5, 1e-11)] == [3, 3, 2]
    assert found[1e-2].clear and found[1e-11].clear
    for seen in found.values():
        ratio = seen.singular_values[2] / 1e-9  # the noise is a few times the width
        assert ratio < 1000 or seen.rank == 3
        assert ratio > 1e-1 or seen.rank == 2


@pytest.mark.parametrize("seed", range(6))
def test_where_the_rank_is_hidden_all_directions_are_kept(seed):
    # on a small patch of a sphere all quadratics look alike: no singular value is sure
    rng = np.random.default_rng(seed)
    Z = np.eye(1, 4) + 1e-3 * rng.standard_normal((40, 4))
    part, _, _ = synthetic(np.ones(4), seed)
    part.Z = Z / np.linalg.norm(Z, axis=1)[:, None] + 1e-9 * rng.standard_normal((40, 4))
    part.weights, part.width = np.ones(40), 1e-9
    seen = part.read()
    assert seen.rank < 4 and seen.U.shape == (4, 4) and seen.A.shape == (5, 5)
    assert seen.residual < 2


@pytest.mark.parametrize("seed", range(4))
def test_a_heavy_point_is_met(seed):
    part, _, _ = synthetic(np.array([1.0, 0.5]), seed, n=40, width=1e-6)
    for anchor in (1.0, 1e4):
        part.weights[0] = anchor
        seen = part.read()
        off = np.abs(values(seen.A, part.Z[:1] @ seen.U))[0]
        assert (off < 1e-10) == (anchor > 1)


@pytest.mark.parametrize("kernel", [Polynomial(3), Polynomial(4), Gaussian(3.0)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_other_kernels_leave_a_residual(kernel, seed):
    _, part = start(kernel, seed)
    part.grow(2, 21, 1.0)
    assert part.read().residual > 1e3


def test_a_reading_is_short_and_cannot_be_changed():
    _, part = start(Polynomial(2), 0)
    part.grow(2, 21, 1.0)
    seen = part.read()
    assert repr(seen).startswith("Reading(rank=2, clear=True, residual=0.") and len(repr(seen)) < 79
    with pytest.raises(FrozenInstanceError):
        seen.rank = 1


# Off the slice

@pytest.mark.parametrize("s", [M + 1, M + 3])
@pytest.mark.parametrize("seed", range(5))
def test_what_a_slice_shows_is_completed(s, seed):
    machine, part = start(Polynomial(2), seed)
    part.grow(s, enough(s), 1.0)
    seen = part.read()
    before = part.oracle.queries
    T = part.extend(seen)
    spent = part.oracle.queries - before
    np.testing.assert_allclose(part.P.T @ T, seen.U, atol=1e-6)
    assert off_span(T, machine.support_vectors) < 1e-6
    x = np.random.default_rng(seed).standard_normal((100, D))
    q, f = values(seen.A, (x - part.x0) @ T), machine.decision_function(x)
    assert proportional(q * np.sign(q @ f), f, 1e-6)

    # m + 3 lines a direction, from 0.03 of the scale down to the width; the last are predicted
    lines, bits = D - s, np.log2(0.03 / 1e-12)
    assert M * lines * (bits - 3) < spent < (M + 3) * lines * (bits + 7) + 200


@pytest.mark.parametrize("seed", range(5))
def test_lines_start_a_little_off_the_slice_on_both_sides(seed):
    machine = KernelMachine.random(Polynomial(2), D, M, seed)
    part, asked = slice_of(machine.predict, D, seed)
    s = M + 2
    part.grow(s, enough(s), 1.0)
    seen = part.read()
    asked.clear()
    assert part.extend(seen) is not None
    met = (np.concatenate(asked) - part.x0) @ part.frame
    off = np.round(met[:, s:], 9)  # the coordinates off the slice are one +-delta
    off = off[(np.abs(off) > 0).sum(1) == 1]
    delta = off[np.isclose(np.abs(off).max(1), 0.03 * part.scale)].sum(1)
    assert 0.3 < (delta > 0).mean() < 0.7 and len(delta) > (M + 3) * (D - s) * 20


@pytest.mark.parametrize("seed", range(5))
def test_heights_off_the_slice_are_predicted_from_those_before(seed, monkeypatch):
    machine, part = start(Polynomial(2), seed, 40)
    part.grow(M + 2, enough(M + 2), 1.0)
    seen, spent = part.read(), []
    T = part.extend(seen)

    def none(self, seen, W, X, V, j, delta, width):
        # where the boundary is steep: in the slice, its normal is not orthogonal to the bracket
        normals = machine.gradient(X[j]) @ part.P
        along = np.abs((normals * (V[j] @ part.P)).sum(1))
        assert (along > 0.09 * np.linalg.norm(normals, axis=1)).all()
        return np.full(delta.shape, np.nan)

    heights = Slice._predicted_heights
    for way in (heights, none):
        monkeypatch.setattr(Slice, "_predicted_heights", way)
        before = part.oracle.queries
        again = part.extend(seen, roughly=True)
        spent.append(part.oracle.queries - before)
        assert off_span(again, machine.support_vectors) < 0.05
    assert spent[0] < 0.95 * spent[1]
    assert off_span(T, machine.support_vectors) < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_a_thin_boundary_that_lines_miss_is_completed(seed):
    # an ellipsoid that is thinner off the slice than the first step
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    axes = np.r_[np.full(3, 1.0), np.zeros(5)]
    w = 15 * Q[:, 3]
    A = (Q * axes) @ Q.T + np.outer(w, w)  # rank 4, steep along w

    def inside(X):
        return np.where(((X @ A) * X).sum(1) < 2, 1, -1)

    part, _ = slice_of(inside, 8, seed, scale=1.5, spread=0.3)
    part.grow(6, enough(6), 1.0)
    seen = part.read()
    assert seen.rank == 4
    T = part.extend(seen)
    assert T is not None and off_span(T, Q.T[:4]) < 1e-6
    np.testing.assert_allclose(part.P.T @ T, seen.U, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_coarse_brackets_are_corrected_by_long_walks(seed):
    precision = Precision(1e-7)
    machine, part = start(Polynomial(2), seed, precision=precision)
    part.grow(M + 2, enough(M + 2), 1.0)
    seen = part.read()
    T = part.extend(seen)
    assert T is not None and off_span(T, machine.support_vectors) < 3e-4
    np.testing.assert_allclose(part.P.T @ T, seen.U, atol=1e-5)
    np.testing.assert_allclose(seen.U.T @ part.P.T @ T, np.eye(M), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_slice_misses_is_not_completed(seed):
    _, part = start(Polynomial(2), seed)
    part.grow(M, 60, 1.0)
    seen = part.read()
    seen = replace(seen, U=seen.U[:, 1:], A=seen.A[1:, 1:])  # as if a direction had not been seen
    assert part.extend(seen) is None


def test_too_few_steep_points_complete_nothing():
    _, part = start(Polynomial(2), 0)
    part.grow(M + 1, enough(M + 1), 1.0)
    seen = part.read()
    g = part.Z @ seen.U @ seen.A[:-1, :-1] + seen.A[:-1, -1]
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    steep = np.flatnonzero(np.abs((g * (part.V @ seen.U)).sum(1)) > 0.1)
    Z, V = part.Z, part.V
    for n, completed in ((13, True), (12, False)):  # 5 for the test, m + 3 for the lines
        chosen = np.r_[0, steep[:n]]
        part.Z, part.V = Z[chosen], V[chosen]
        assert (part.extend(seen) is not None) == completed


# The families

def evidence_of(predict, d, seed=0, precision=DOUBLE, features=None, **options):
    oracle = Oracle(predict, d, positive=1, **options)
    if features is None:
        features = np.random.default_rng(seed).standard_normal((60, d))
    survey = Survey(oracle, features, Ledger(oracle, progress=False), seed, precision)
    survey.run()
    return GatheredEvidence(oracle, survey, survey.ledger)


@pytest.mark.parametrize("seed", range(4))
def test_a_plane_of_neither_conics_nor_cubics_ends_early(seed):
    evidence = evidence_of(KernelMachine.random(Gaussian(2.0), 10, 4, seed).predict, 10, seed)
    with pytest.raises(Refuted, match="misses boundary points"):
        QuadraticFamily().fit(evidence)
    assert len(evidence.plane_curve[0]) == 11


@pytest.mark.parametrize("units, seed", [(8, 0), (8, 1), (30, 196), (30, 218)])
def test_but_not_where_the_boundary_has_flat_pieces(units, seed):
    network, _ = random_network(10, units, seed)
    evidence = evidence_of(network.predict, 10, seed)
    with pytest.raises(Refuted, match="misses boundary points"):
        QuadraticFamily().fit(evidence)
    assert len(evidence.plane_curve[0]) == 21


def same_machine(candidate, machine, seed=0, tolerance=1e-6):
    X = np.random.default_rng(seed).standard_normal((200, machine.dimension))
    f, g = candidate.machine.decision_function(X), machine.decision_function(X)
    return proportional(f, g, tolerance)


@pytest.mark.parametrize("d, m", [(2, 1), (2, 2), (4, 2), (6, 3), (9, 2), (16, 3), (16, 12),
                                  (24, 6)])
@pytest.mark.parametrize("seed", range(3))
def test_quadratic_machines_and_their_subspace(d, m, seed):
    machine = KernelMachine.random(Polynomial(2), d, m, seed)
    evidence = evidence_of(machine.predict, d, seed)
    family = QuadraticFamily()
    assert family.applies(evidence) and not QuadraticFamily(near=True).applies(evidence)
    candidate = family.fit(evidence)
    assert same_machine(candidate, machine) and candidate.rank == m
    assert candidate.basis.shape == (d, m) and not candidate.own_vectors
    assert off_span(candidate.basis, machine.support_vectors) < 1e-6
    assert ("whole space" in candidate.caveat) == (m == d) and not candidate.surrogate
    assert family.parameters(candidate) == m * (d - m) + (m + 1) * (m + 2) // 2 - 1
    np.testing.assert_allclose(candidate.basis.T @ candidate.basis, np.eye(m), atol=1e-12)
    assert len(evidence.singular_values) >= m and len(evidence.points) >= unknowns(2)

    # queries: R^d at once, or a slice of m + 1 to 1.5 m + 2 dimensions and lines off it
    spent = evidence.ledger.queries
    bits = family.parameters(candidate) * 40
    assert bits < sum(spent.values()) < 2500 + 4.2 * bits
    s = 2
    while s <= m:
        s += s // 2
    fewer = (m + 3) * (d - s) < (d + 1) * (d + 2) // 2 - (s + 1) * (s + 2) // 2
    assert ("subspace" in spent) == (1.2 * s < d and fewer)


@pytest.mark.parametrize("seed", range(4))
def test_where_a_direction_is_faint_the_slice_has_dimensions_to_spare(seed, monkeypatch):
    seen = []
    monkeypatch.setattr(Slice, "extend", lambda self, reading: seen.append(self.Z.shape[1]))
    rng = np.random.default_rng(seed)
    Y = np.linalg.qr(rng.standard_normal((30, 3)))[0].T
    for faint, s in ((1e-2, 4), (1e-6, 6)):
        machine = KernelMachine(Polynomial(2, coef0=0), Y, [1.0, -1.0, faint], 0.1)
        candidate = QuadraticFamily().fit(evidence_of(machine.predict, 30, seed))
        assert seen == [s] and candidate.rank == 3  # and nothing was completed: all of R^d
        assert same_machine(candidate, machine)
        seen.clear()


@pytest.mark.parametrize("seed", range(4))
def test_a_centred_quadratic_is_homogeneous(seed):
    machine = KernelMachine.random(Polynomial(2, coef0=0), 7, 3, seed)
    candidate = QuadraticFamily().fit(evidence_of(machine.predict, 7, seed))
    assert same_machine(candidate, machine) and candidate.machine.kernel.coef0 == 0
    moved = KernelMachine.random(Polynomial(2, coef0=1e-5), 7, 3, seed)
    candidate = QuadraticFamily().fit(evidence_of(moved.predict, 7, seed))
    assert candidate.machine.kernel.coef0 == 1 and same_machine(candidate, moved)


@pytest.mark.parametrize("seed", range(4))
def test_within_bounds_also_where_the_boundary_is_flat(seed):
    machine = KernelMachine.random(Polynomial(2), 6, 3, seed)
    features = np.random.default_rng(seed).uniform(-3, 3, (60, 6))
    evidence = evidence_of(machine.predict, 6, seed, features=features, bounds=(-3, 3))
    assert QuadraticFamily().applies(evidence)
    assert same_machine(QuadraticFamily().fit(evidence), machine)
    plane = KernelMachine.random(Linear(), 6, 3, seed)
    bounded = evidence_of(plane.predict, 6, seed, features=features, bounds=(-3, 3))
    free = evidence_of(plane.predict, 6, seed)
    assert bounded.survey.flat and QuadraticFamily().applies(bounded)
    assert free.survey.flat and not QuadraticFamily().applies(free)


@pytest.mark.parametrize("seed", range(3))
def test_coarse_brackets_are_measured_again_inside_the_subspace(seed, monkeypatch):
    started = []

    class Kept(Slice):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append((self.frame, self.ends))

    monkeypatch.setattr("decon.families.quadratic.Slice", Kept)
    machine = KernelMachine.random(Polynomial(2), 24, 4, seed)
    evidence = evidence_of(machine.predict, 24, seed, Precision(1e-7))
    candidate = QuadraticFamily().fit(evidence)
    assert same_machine(candidate, machine, tolerance=1e-3) and candidate.rank == 4
    for _, ends in started:  # in the subspace, between points of both labels
        np.testing.assert_array_equal(machine.predict(ends), [1, -1])
    assert [len(basis.T) for basis, _ in started] == [24, 4]
    assert off_span(started[1][0], machine.support_vectors) < 1e-3
    monkeypatch.setattr(QuadraticFamily, "_averaged", lambda self, e, part, seen, T: (seen, T))
    once = evidence_of(machine.predict, 24, seed, Precision(1e-7))
    QuadraticFamily().fit(once)
    spent = [e.ledger.queries["slices"] for e in (evidence, once)]
    brackets = 3 * (int(1.05 * unknowns(4)) + 15)
    assert 20 * brackets < spent[0] - spent[1] < 32 * brackets + 60


@pytest.mark.parametrize("crossings", [0, 1, 2, 3])
@pytest.mark.parametrize("sign", [1, -1])
def test_crossings_on_a_line(crossings, sign):
    roots = np.array([-0.7, 0.4, 1.1])[:crossings]

    def predict(X):
        return np.where(sign * np.prod(X - roots, axis=1) > 0, 1, -1)

    evidence = SimpleNamespace(
        oracle=SimpleNamespace(dimension=1), precision=DOUBLE, bounded=False, refuted=False,
        survey=SimpleNamespace(flat=False, curvature_scale=1.0, scale=1.0, pool=SimpleNamespace(
            points=np.linspace(-2, 2, 9)[:, None], labels=predict(np.linspace(-2, 2, 9)[:, None]))),
        crossings=(roots[:, None], np.sign([[predict(np.array([[r + 1e-9]]))[0]] for r in roots])),
        seen=lambda **arrays: None)
    assert LinearFamily().applies(evidence) and QuadraticFamily().applies(evidence)
    grid = np.linspace(-3, 3, 601)[:, None] + 1e-4
    for count, family in ((1, LinearFamily()), (2, QuadraticFamily())):
        if crossings == count:
            candidate = family.fit(evidence)
            np.testing.assert_array_equal(candidate.machine.predict(grid), predict(grid))
            np.testing.assert_array_equal(candidate.basis, [[1.0]])
            assert candidate.rank == 1 and family.parameters(candidate) == count
        else:
            with pytest.raises(Refuted, match=f": {crossings} crossings on a line"):
                family.fit(evidence)


@pytest.mark.parametrize("kernel", [Polynomial(3), Gaussian(3.0)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_other_models_are_no_quadratics(kernel, seed):
    machine = KernelMachine.random(kernel, 8, 4, seed)
    evidence = evidence_of(machine.predict, 8, seed)
    with pytest.raises(Refuted, match="in 2 dimensions, the best one misses boundary points"):
        QuadraticFamily().fit(evidence)
    assert sum(evidence.ledger.queries.values()) < 2500


def test_quadratics_of_too_many_coefficients(monkeypatch):
    small = replace(SETTINGS, most_coefficients=unknowns(9))
    monkeypatch.setattr("decon.families.quadratic.SETTINGS", small)
    machine = KernelMachine.random(Polynomial(2), 20, 4, 0)  # R^20 is too large, but not needed
    assert same_machine(QuadraticFamily().fit(evidence_of(machine.predict, 20)), machine)
    machine = KernelMachine.random(Polynomial(2), 9, 8, 0)
    assert same_machine(QuadraticFamily().fit(evidence_of(machine.predict, 9)), machine)
    machine = KernelMachine.random(Polynomial(2), 20, 12, 0)
    with pytest.raises(Refuted, match="in 13 dimensions has 105 coefficients"):
        QuadraticFamily().fit(evidence_of(machine.predict, 20))


def test_a_second_look_is_nearer_and_insists_on_consistency():
    machine = KernelMachine.random(Polynomial(2, gamma=1e-3), 6, 3, 0)

    def predict(X):  # a quadratic, and a plane farther out
        return np.where(np.linalg.norm(X, axis=1) < 60, machine.predict(X), np.sign(X[:, 0]))

    evidence, near = evidence_of(predict, 6), QuadraticFamily(near=True)
    assert evidence.survey.curvature_scale > evidence.survey.scale and not near.applies(evidence)
    evidence.refuted = True
    assert near.applies(evidence) and repr(near) == "QuadraticFamily(near=True)"
    with pytest.raises(Refuted):
        QuadraticFamily().fit(evidence)
    assert same_machine(near.fit(evidence), machine, tolerance=1e-3)
    evidence.survey.curvature_scale = evidence.survey.scale
    assert not near.applies(evidence)
    evidence = evidence_of(predict, 6)
    evidence.survey.pool.labels = -evidence.survey.pool.labels
    with pytest.raises(SelfContradiction):
        near.fit(evidence)


# Linear machines

@pytest.mark.parametrize("d, m", [(2, 1), (5, 3), (20, 30)])
@pytest.mark.parametrize("seed", range(4))
def test_linear_machines(d, m, seed):
    machine = KernelMachine.random(Linear(), d, m, seed)
    evidence = evidence_of(machine.predict, d, seed)
    assert LinearFamily().applies(evidence)
    candidate = LinearFamily().fit(evidence)
    assert same_machine(candidate, machine, tolerance=1e-8)
    assert candidate.rank == 1 and candidate.basis.shape == (d, 1)
    np.testing.assert_allclose(np.linalg.norm(candidate.machine.support_vectors), 1)
    assert LinearFamily().parameters(candidate) == d and not candidate.own_vectors


@pytest.mark.parametrize("seed", range(6))
def test_a_plane_is_measured_by_how_far_its_points_spread(seed):
    rng = np.random.default_rng(seed)
    d, scale = 4, 10.0 ** rng.integers(-3, 4)
    basis = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    n, sign = basis[:, 0], rng.choice([-1, 1])
    for spread, plane in ((0.9e-6, True), (1.1e-6, False)):  # 100 tolerances of 1e-8
        X = scale * rng.standard_normal((9, d))
        X += (2 * scale - X @ n)[:, None] * n
        X[0] += spread * scale * n
        normals = sign * n + 1e-3 * rng.standard_normal((9, d))
        evidence = SimpleNamespace(
            oracle=SimpleNamespace(dimension=d), bounded=True,
            survey=SimpleNamespace(scale=scale, flat=True),
            precision=DOUBLE, why_no_subspace="for a reason")
        for rank in (1, 2):
            evidence.subspace_by_normals = Subspace(basis[:, :rank], CYLINDER, X, normals,
                                                    np.ones(rank))
            if rank == 1 and plane:
                machine = LinearFamily().fit(evidence).machine
                np.testing.assert_allclose(machine.support_vectors, [sign * n])
                assert machine.threshold == pytest.approx(sign * 2 * scale, rel=1e-6)
                assert machine.threshold == pytest.approx(sign * (X @ n).mean(), rel=1e-12)
            else:
                with pytest.raises(Refuted, match="flat from afar only"):
                    LinearFamily().fit(evidence)
        evidence.subspace_by_normals = None
        with pytest.raises(Refuted, match="for a reason"):
            LinearFamily().fit(evidence)


def test_names_and_short_representations():
    assert LinearFamily.name == "linear" and QuadraticFamily.name == "quadratic"
    machine = KernelMachine(Linear(), np.eye(1), [1.0], 0.0)
    assert len(repr(Candidate(machine, np.eye(1), 1))) < 130
    seen = Reading(np.eye(2), np.eye(1), 1, True, np.ones(1), 0.1)
    assert repr(seen) == "Reading(rank=1, clear=True, residual=0.1)"
