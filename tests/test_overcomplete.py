"""Cubics of more support vectors than dimensions: how many cubes there are, and which."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.families.cubic.overcomplete import (
    fewest_cubes,
    groups,
    largest_number,
    many_cubes,
    polished,
)
from decon.families.protocol import Refuted
from experiments._compare import compare
from experiments._models import typical


def tensor(V):
    return np.einsum("ri,rj,rk", V, V, V)


def machine_of(m, M, d, seed):
    """A random cubic machine of M vectors in m of d dimensions, and typical points."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, m)))[0]
    Y, w = rng.standard_normal((M, m)) / np.sqrt(m) @ basis.T, rng.standard_normal(M)
    X = rng.standard_normal((1001, d))
    psi = KernelMachine(Polynomial(3), Y, w, 0).decision_function(X)
    machine = KernelMachine(Polynomial(3), Y, w, np.median(psi))
    return machine, typical(machine.predict, X)


@given(seed=st.integers(0, 10**6), n=st.integers(4, 9), data=st.data())
@settings(deadline=None, max_examples=40)
def test_flattenings_count_the_cubes(seed, n, data):
    r = data.draw(st.integers(1, min(3 * n // 2, (comb(n + 2, 3) - 1) // n)))
    assert fewest_cubes(tensor(np.random.default_rng(seed).standard_normal((r, n))), seed) == r


@given(seed=st.integers(0, 10**6), n=st.integers(5, 8))
@settings(deadline=None, max_examples=20)
def test_flattenings_never_count_too_many(seed, n):
    r = comb(n + 2, 3) // n
    assert fewest_cubes(tensor(np.random.default_rng(seed).standard_normal((r, n))), seed) <= r


@pytest.mark.parametrize("m", range(3, 10))
def test_so_many_cubes_are_determined_locally(m):
    # derivatives of sum_i v_i x v_i x v_i and of the constant: of full rank up to this number
    rng = np.random.default_rng(m)
    V, E = rng.standard_normal((largest_number(m), m + 1)), np.eye(m + 1)
    columns = [sum(np.einsum("i,j,k->" + axes, e, v, v) for axes in ("ijk", "jik", "jki")).ravel()
               for v in V for e in E]
    columns.append(np.einsum("i,j,k", E[-1], E[-1], E[-1]).ravel())
    assert np.linalg.matrix_rank(np.array(columns)) == len(columns)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_in_few_dimensions_there_are_never_many_cubes(m):
    with pytest.raises(Refuted, match="more than can be sought"):
        many_cubes(np.ones((m + 1, m + 1, m + 1)), 1.0, 0)


@pytest.mark.parametrize("seed", range(6))
def test_many_cubes_are_found_whatever_the_constant(seed):
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((9, 7))
    T = tensor(V)
    T[-1, -1, -1] += rng.standard_normal()
    noise = rng.standard_normal(T.shape)
    noise = sum(noise.transpose(p) for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
    noise = noise + noise.transpose(1, 0, 2)
    found = many_cubes(T + 1e-12 * np.linalg.norm(T) * noise / np.linalg.norm(noise), 1.0, seed)
    assert len(found) == 9
    assert np.abs(found[:, None] - V).max(2).min(0).max() < 1e-6


def test_a_general_cubic_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(Refuted, match="no sum of 6 to 7 cubes"):
        many_cubes(tensor(rng.standard_normal((15, 6))), 1.0, 0)


@pytest.mark.parametrize("seed", range(4))
def test_polishing_removes_errors_and_shows_what_is_determined(seed):
    # r cubes in the plane: determined if the curve has more coefficients than they have numbers
    rng = np.random.default_rng(seed)
    t = rng.standard_normal((200, 2))
    for V, determined in (([[1, .3, 1], [-.4, 1, .7]], True),
                          ([[1, .3, 1], [-.4, 1, .7], [.5, -1, 1], [1, 1, -.4]], False)):
        V, b = np.array(V), 0.2

        # points of the curve, by Newton's method along random lines
        Z = t.copy()
        for _ in range(60):
            L = Z @ V[:, :2].T + V[:, 2]
            f, g = (L**3).sum(1) - b, 3 * L**2 @ V[:, :2]
            Z -= (f / (g**2).sum(1))[:, None] * g
        Z = Z[np.abs(((Z @ V[:, :2].T + V[:, 2]) ** 3).sum(1) - b) < 1e-13]
        Z = Z[np.abs(Z).max(1) < 5]
        assert len(Z) > 60
        W, c, values = polished(V + 1e-4 * rng.standard_normal(V.shape), b, Z, 1.0)
        assert (values[-2] > 1e-6) == determined
        if determined:
            np.testing.assert_allclose(W / np.cbrt(c), V / np.cbrt(b), atol=1e-9)


@pytest.mark.parametrize("m, M, d", [(5, 7, 5), (6, 9, 6), (6, 9, 15), (8, 12, 12)])
def test_more_vectors_than_dimensions_are_the_models_own(m, M, d):
    model, features = machine_of(m, M, d, seed=M + d)
    result = deconstruct(Oracle(model.predict, d), features, progress=False)
    found = compare(result, model)
    assert (result.kernel_type, result.rank, result.n_support) == ("cubic", m, M)
    assert result.own_vectors
    assert max(found["vectors_found"], found["vectors_missing"]) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_too_many_vectors_are_not_called_the_models_own(seed):
    model, features = machine_of(5, 14, 8, seed)
    result = deconstruct(Oracle(model.predict, 8), features, progress=False)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("cubic", 5, False)
    assert "more than 5 support vectors" in result.message


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("several", [[(9, 6)], [(3, 2), (4, 3)], [(6, 5), (1, 1), (1, 1)]])
def test_vectors_that_share_no_dimension_are_groups_whatever_their_order(several, seed):
    # in general position inside each group, the threshold's vector in the last one's span
    rng = np.random.default_rng(seed)
    n = sum(k for _, k in several)
    V, first = np.zeros((0, n)), 0
    for r, k in several:
        V = np.r_[V, np.pad(rng.standard_normal((r, k)), [(0, 0), (first, n - first - k)])]
        first += k
    last = several[-1][1]
    mixed = np.eye(n)
    mixed[:n - last, :n - last] = rng.standard_normal((n - last, n - last))
    found = groups((V @ mixed)[rng.permutation(len(V))], 1.0)
    assert sorted(found) == sorted(several)


@pytest.mark.parametrize("seed", [5, 17])
def test_histograms_beside_another_one_are_not_called_the_models_own_either(seed):
    # nine of six entries have two machines (seed 17), also with a tenth of seven
    V = np.zeros((10, 7))
    V[:9, :6], V[9] = np.random.default_rng(seed).standard_normal((9, 6)), [1, 2, 0, 1, 0, 1, 3]
    model = KernelMachine(Polynomial(3), V / V.sum(1, keepdims=True), V.sum(1) ** 3, 0.2)
    X = np.random.default_rng(1).standard_normal((500, 7))
    result = deconstruct(Oracle(model.predict, 7), typical(model.predict, X), progress=False)
    assert (result.kernel_type, result.rank) == ("cubic", 7)
    assert min(result.agreement.values()) == 1 and len(result.machine.support_vectors) == 10
    assert not result.own_vectors and "another machine" in result.message


@pytest.mark.parametrize("M, m, seed", [(9, 6, 5), (9, 6, 17), (12, 7, 0)])
def test_histograms_that_may_have_a_second_machine_are_not_called_the_models_own(M, m, seed):
    # their entries add up to 1; twelve of seven have as many numbers as the cubic coefficients
    V = np.random.default_rng(seed).standard_normal((M, m))
    Y, w = V / V.sum(1, keepdims=True), V.sum(1) ** 3
    model = KernelMachine(Polynomial(3), Y, w, 0.2)
    X = np.random.default_rng(1).standard_normal((500, m))
    result = deconstruct(Oracle(model.predict, m), typical(model.predict, X), progress=False)
    assert (result.kernel_type, result.rank) == ("cubic", m)
    assert min(result.agreement.values()) == 1 and len(result.machine.support_vectors) == M
    assert not result.own_vectors and "another machine" in result.message
