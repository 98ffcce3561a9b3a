"""Cubic machines plane by plane: gradients, Hessians, and the sum of cubes that they show."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import pn_pairs
from decon.families.cubic.decomposition import cubes_of_pencil
from decon.families.cubic.lines import Lines, best_rows
from decon.families.cubic.planes import PlaneSections, frame_of
from decon.families.cubic.settings import SETTINGS
from decon.families.protocol import Refuted
from decon.families.settings import SETTINGS as FAMILY


def random_cubic(dimension, m, seed, coef0=1.0):
    """A random box, boundary points, and unit normals at them (the true ones)."""
    box = KernelMachine.random(Polynomial(3, coef0=coef0), dimension, m, seed)
    rng = np.random.default_rng(seed)
    Z = 2 * rng.standard_normal((300, dimension))
    labels = box.predict(Z)
    P, N = pn_pairs(Z[labels > 0], Z[labels < 0], 2 * m + 10, rng)
    X, _ = boundary_points(Oracle(box.predict, dimension), P, N, 1e-12)
    normals = box.gradient(X)
    return box, X, normals / np.linalg.norm(normals, axis=1, keepdims=True)


def planes_of(dimension, m, seed, coef0=1.0):
    box, X, normals = random_cubic(dimension, m, seed, coef0)
    basis = np.linalg.qr(box.support_vectors.T)[0]
    oracle = Oracle(box.predict, dimension)
    frame = frame_of(basis, normals, np.sqrt(dimension))
    return box, oracle, PlaneSections(oracle, X, frame, np.random.default_rng(seed))


def truth(box, planes):
    """Psi - b on the reference line, gradient and Hessian, of the box and up to one factor."""
    Y, w, c0 = box.support_vectors, box.weights, box.kernel.coef0
    p, q, V = Y @ planes.x0 + c0, Y @ planes.frame @ planes.w, Y @ planes.frame
    c = np.array([w @ p**3 - box.threshold, 3 * w @ (p**2 * q), 3 * w @ (p * q**2), w @ q**3])
    g = 3 * np.array([w * p**2, 2 * w * p * q, w * q**2]) @ V
    return c, g, 6 * np.stack([(V.T * (w * p)) @ V, (V.T * (w * q)) @ V])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dimension, m, coef0", [(6, 4, 1), (12, 9, 1), (7, 7, 1), (9, 5, 0)])
def test_gradients_and_hessians_are_those_of_the_box(dimension, m, coef0, seed):
    box, oracle, planes = planes_of(dimension, m, seed, coef0)
    c, g, H = truth(box, planes)
    scale = np.linalg.norm(c)
    np.testing.assert_allclose(planes.c, c / scale, atol=1e-8)
    found_g, found_H = planes.read(1e-12)
    assert np.abs(found_g - g / scale).max() < 1e-4 * np.abs(g / scale).max()
    assert np.abs(found_H - H / scale).max() < 1e-4 * np.abs(H / scale).max()
    Z = planes.points()
    assert Z.shape == (6 * m + 3 * m * (m - 1) // 2, m)
    X = planes.x0 + Z @ planes.frame.T
    off = box.decision_function(X) / np.linalg.norm(box.gradient(X) @ planes.frame, axis=1)
    assert np.abs(off).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_finer_brackets_show_the_support_vectors_better(seed):
    box, oracle, planes = planes_of(10, 6, seed)
    errors = []
    for width in (1e-6, 1e-9, 1e-12):
        before = oracle.queries
        A, h, _ = planes.machine(width).forms()
        distance = np.linalg.norm(A / h[:, None] - box.support_vectors[:, None], axis=2).min(1)
        errors.append(distance.max())
        assert oracle.queries - before <= 10 * (6 * 6 + 3 * 15)  # ten more bits a point, at most
    assert errors[2] < 1e-2 * errors[0] and errors[2] < 1e-5


@given(seed=st.integers(0, 10**6), m=st.integers(2, 9), homogeneous=st.booleans())
@settings(deadline=None, max_examples=60)
def test_the_pencil_shows_the_cubes(seed, m, homogeneous):
    rng = np.random.default_rng(seed)
    v = np.linalg.qr(rng.standard_normal((m, m)))[0] + 0.2 * rng.standard_normal((m, m)) / m
    x0, w, b = rng.standard_normal(m), rng.standard_normal(m), rng.standard_normal()
    p = v @ x0 + (0 if homogeneous else rng.standard_normal(m))
    q = v @ w
    g = 3 * np.array([p**2, 2 * p * q, q**2]) @ v
    H = 6 * np.stack([(v.T * p) @ v, (v.T * q) @ v])
    V, found_b = cubes_of_pencil(g, H, (p**3).sum() - b)
    distance = np.linalg.norm(V[:, None] - np.c_[v, p], axis=2)
    angles = np.sort(np.arctan(p / q))
    gap = np.diff(np.r_[angles, angles[0] + np.pi]).min()
    tolerance = 1e-9 / gap / min(1, np.hypot(p, q).min()) ** 2
    assert distance.min(0).max() < tolerance and abs(found_b - b) < tolerance


def test_hessians_without_a_common_diagonal_form_are_told():
    rng = np.random.default_rng(1)
    H = rng.standard_normal((2, 6, 6))
    with pytest.raises(Refuted, match="no common diagonal form"):
        cubes_of_pencil(np.ones((3, 6)), H + H.transpose(0, 2, 1), 1.0)


def test_singular_hessians_are_told():
    H = np.stack([np.diag([1.0, 0.0]), np.diag([2.0, 0.0])])
    with pytest.raises(Refuted, match="no common diagonal form"):
        cubes_of_pencil(np.ones((3, 2)), H, 1.0)


def test_eigenvectors_that_depend_on_each_other_are_told(monkeypatch):
    monkeypatch.setattr("decon.families.cubic.decomposition.eig",
                        lambda *H: (np.ones(2) + 0j, np.ones((2, 2))))
    with pytest.raises(Refuted, match="eigenvectors dependent"):
        cubes_of_pencil(np.ones((3, 2)), np.ones((2, 2, 2)), 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_in_the_frame_a_machine_looks_alike_from_all_sides(seed):
    box, _, normals = random_cubic(30, 12, seed)
    weights = box.weights * np.geomspace(1, 1000, 12)
    vectors = np.cbrt(weights)[:, None] * box.support_vectors
    box = KernelMachine(box.kernel, box.support_vectors, weights, box.threshold)
    X = np.random.default_rng(seed).standard_normal((40, 30))
    normals = box.gradient(X)
    basis = np.linalg.qr(box.support_vectors.T)[0]
    frame = frame_of(basis, normals / np.linalg.norm(normals, axis=1, keepdims=True), 1.0)
    assert np.linalg.cond(vectors @ frame) < 0.6 * np.linalg.cond(vectors)
    np.testing.assert_allclose(basis @ (basis.T @ frame), frame, atol=1e-12)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
@settings(deadline=None, max_examples=30)
def test_the_chosen_rows_determine_the_unknowns(seed, n):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((5, 3 * n, n))
    rows[0, n:] = rows[0, :1]  # the same row again and again: it must not be taken twice
    chosen, pivots = best_rows(rows)
    for k in range(5):
        square = rows[k, chosen[k]]
        values = np.linalg.svd(square, compute_uv=False)
        assert values[-1] > 0 and pivots[k] >= values[-1] * (1 - 1e-9)
        assert abs(np.linalg.det(square)) <= np.linalg.norm(square, axis=1).prod() * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_crossings_are_the_first_changes_of_label(seed):
    rng = np.random.default_rng(seed)
    start = rng.uniform(-3, 3, (200, 2))
    lines = Lines(lambda planes, z: np.where((z**2).sum(1) < 1 + planes, 1, -1),
                  np.repeat([0, 1], 100), start, rng)
    lines.narrow(1e-3)
    few = np.flatnonzero(np.isfinite(lines.points[:, 0]))[::7]
    lines.narrow(1e-12, among=few)
    radius = np.linalg.norm(lines.points, axis=1)
    off = np.abs(radius - np.sqrt(1 + lines.plane))
    assert off[few].max() < 1e-10 and np.nanmax(off) < 1e-2
    inside = lines.labels > 0
    assert np.isfinite(radius[inside]).all()  # from inside a disc every line leaves it
    assert (np.abs(lines.high[inside]) < 2 * np.sqrt(2)).all()
    lines.keep(few[::-1])
    np.testing.assert_array_equal(lines.start, start[few[::-1]])


def test_a_box_without_a_boundary_in_planes_is_told():
    oracle = Oracle(lambda X: np.ones(len(X)), 4, positive=1)
    with pytest.raises(Refuted, match="no plane shows a cubic"):
        PlaneSections(oracle, np.zeros((1, 4)), np.eye(4), np.random.default_rng(0))


# As a part of the whole

def take_apart(box, seed):
    X = np.random.default_rng(seed).standard_normal((300, box.dimension))
    labels = box.predict(X)
    features = np.concatenate([X[labels > 0][:5], X[labels < 0][:5]])
    oracle = Oracle(box.predict, box.dimension)
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    return result, oracle


@pytest.mark.parametrize("dimension, m", [(30, 12), (14, 14), (30, 15), (40, 30)])
def test_many_support_vectors_to_the_accuracy_of_the_brackets(dimension, m):
    box = KernelMachine.random(Polynomial(3), dimension, m, m)
    result, _ = take_apart(box, 0)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("cubic", m, True)
    Y = box.support_vectors
    off = np.linalg.norm(result.machine.support_vectors[:, None] - Y, axis=2).min(0)
    assert (off < 1e-8 * np.linalg.norm(Y, axis=1)).all()
    assert result.machine.threshold == pytest.approx(box.normalised().threshold, rel=1e-8)
    assert min(result.agreement.values()) == 1


def test_plane_by_plane_asks_less_than_a_cubic_as_a_whole(monkeypatch):
    box = KernelMachine.random(Polynomial(3), 20, 16, 3)
    queries = []
    for many in (10, 100):
        monkeypatch.setattr("decon.families.cubic.family.SETTINGS",
                            replace(SETTINGS, least_rank_for_planes=many,
                                    completed_coefficients=(10**6, 10**6)))  # no rough machine
        result, oracle = take_apart(box, 0)
        assert result.own_vectors
        queries.append(result.queries_by_stage["polynomial"])
    assert queries[0] < 0.7 * queries[1]


def test_a_homogeneous_machine_with_many_support_vectors():
    box = KernelMachine.random(Polynomial(3, coef0=0), 20, 13, 0)
    result, _ = take_apart(box, 0)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("cubic", 13, True)
    assert result.machine.kernel.coef0 == 0 and min(result.agreement.values()) == 1


@pytest.mark.slow
def test_too_many_dependent_support_vectors_are_told(monkeypatch):
    few = replace(FAMILY, most_coefficients=300)
    monkeypatch.setattr("decon.families.cubic.family.FAMILY", few)
    monkeypatch.setattr("decon.extraction.diagnosis.FAMILIES", few)
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((15, 11)) @ rng.standard_normal((11, 20)) / np.sqrt(220)
    box = KernelMachine(Polynomial(3), Y, rng.standard_normal(15), 0.0)
    box.threshold = float(np.median(box.decision_function(rng.standard_normal((500, 20)))))
    result, _ = take_apart(box, 0)
    assert (result.kernel_type, result.rank, result.machine) == ("cubic", 11, None)
    assert "no sum of 11 cubes" in result.message and "364 coefficients" in result.message
