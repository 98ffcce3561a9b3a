"""Cubics as symmetric tensors, taken apart into cubes."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import pn_pairs
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.ledger import Ledger
from decon.extraction.survey import Survey
from decon.families.cubic.decomposition import sum_of_cubes
from decon.families.cubic.family import _by_coefficients
from decon.families.cubic.forms import cubic_machine
from decon.families.polynomial import evaluate, fit_polynomial
from decon.families.protocol import Refuted
from decon.families.quasi_vectors import quasi_cubes
from decon.oracles.precision import Precision
from decon.oracles.views import SearchView
from decon.subspaces.spans import largest_sine
from experiments._models import single
from experiments.deceiving import model


def tensor(V, weights):
    return np.einsum("r,ri,rj,rk", np.broadcast_to(weights, len(V)), V, V, V)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), missing=st.integers(0, 1))
@settings(deadline=None, max_examples=60)
def test_independent_cubes_are_found_again(seed, n, missing):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((n, n)))[0] + 0.2 * rng.standard_normal((n, n))
    V, weights = V[missing:], rng.choice([-1, 1], n - missing) * rng.uniform(0.3, 1, n - missing)
    T = tensor(V, weights)
    found = sum_of_cubes(T, random_state=seed)
    np.testing.assert_allclose(tensor(found, 1), T, atol=1e-10)
    cosines = np.abs((found / np.linalg.norm(found, axis=1)[:, None])
                     @ (V / np.linalg.norm(V, axis=1)[:, None]).T)
    assert len(found) == len(V) and cosines.max(0).min() > 1 - 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_errors_of_the_tensor_are_not_magnified_much(seed):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((9, 9)))[0] + 0.2 * rng.standard_normal((9, 9))
    noise = sum_over_orders(rng.standard_normal((9, 9, 9)))
    T = tensor(V, 1)
    found = sum_of_cubes(T + 1e-6 * np.linalg.norm(T) / np.linalg.norm(noise) * noise)
    distance = np.linalg.norm(found[:, None] - V, axis=2).min(0)
    assert len(found) == 9 and distance.max() < 1e-5


def sum_over_orders(T):
    return sum(T.transpose(axes) for axes in permutations(range(3)))


@pytest.mark.parametrize("seed", range(6))
def test_directions_in_which_a_tensor_is_only_noise_count_for_nothing(seed):
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((3, 8))
    noise = sum_over_orders(rng.standard_normal((8, 8, 8)))
    T = tensor(V, [1, -1, 1])
    T += 1e-7 * np.linalg.norm(T) / np.linalg.norm(noise) * noise
    assert len(sum_of_cubes(T)) == 8
    found = sum_of_cubes(T, faint=1e-6)
    assert len(found) == 3
    assert np.linalg.norm(found[:, None] - V * [[1], [-1], [1]], axis=2).min(0).max() < 1e-5


def by_all_coefficients(predict, seed, width):
    """The candidate of a model in seven dimensions whose S_Y has not been found."""
    view = SearchView(Oracle(predict, 7), noise=0)
    features = np.random.default_rng(seed).standard_normal((60, 7))
    survey = Survey(view, features, Ledger(view.oracle, progress=False), 0, Precision(width))
    survey.run()
    return _by_coefficients(GatheredEvidence(view, survey, survey.ledger, None), np.eye(7))


def share_of_equal_labels(candidate, truth):
    X = np.random.default_rng(1).standard_normal((4000, 7))
    return (candidate.machine.predict(X) == truth.predict(X)).mean()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 8, 10, 24])
def test_a_coarse_model_shows_its_subspace_by_all_coefficients_but_never_own_vectors(seed):
    truth = KernelMachine.random(Polynomial(3), 7, 3, seed)
    candidate = by_all_coefficients(single(truth), seed, 1e-6)
    assert not candidate.own_vectors and candidate.caveat
    assert share_of_equal_labels(candidate, truth) > 0.999
    assert (candidate.least_rank or candidate.rank) <= 3
    if seed != 24:  # there a fourth direction is noise, and the caveat says so
        assert candidate.rank == 3
        assert largest_sine(candidate.basis, truth.support_vectors.T) < 1e-6


def test_a_rank_counts_only_directions_that_show_clearly():
    # the third direction is four thousandths of the first, and beside it a fourth seems to show
    family, predict, truth, features = model("nearly alike", 348)
    result = deconstruct(Oracle(predict, 16), features, random_state=348, progress=False)
    assert result.kernel_type == family and result.rank_bounds[0] <= len(truth.weights) == 3


@pytest.mark.parametrize("seed", range(4))
def test_vectors_in_a_subspace_read_off_a_cubic_are_not_called_own(seed):
    truth = KernelMachine.random(Polynomial(3), 7, 3, seed)
    if seed % 2:  # four vectors, affinely independent, in three dimensions
        truth.support_vectors = np.r_[truth.support_vectors, truth.support_vectors.mean(0)[None]]
        truth.support_vectors[-1] *= -1.5
        truth.weights = np.r_[truth.weights, 0.7]
    candidate = by_all_coefficients(truth.predict, seed, 1e-12)
    assert not candidate.own_vectors and candidate.caveat
    assert share_of_equal_labels(candidate, truth) > 0.999


def test_too_many_cubes_are_told():
    rng = np.random.default_rng(0)
    T = tensor(rng.standard_normal((9, 4)), rng.standard_normal(9))
    with pytest.raises(Refuted, match="sum of at most 4 cubes"):
        sum_of_cubes(T)


@pytest.mark.parametrize("seed", range(4))
def test_the_tensor_is_the_machine(seed):
    m = 5
    box = KernelMachine.random(Polynomial(3), m, m, seed)
    rng = np.random.default_rng(seed)
    Z = 2 * rng.standard_normal((200, m))
    labels = box.predict(Z)
    X, _ = boundary_points(Oracle(box.predict, m),
                           *pn_pairs(Z[labels > 0], Z[labels < 0], 75, rng), 1e-13)
    T, values = fit_polynomial(X, 3)
    assert values[1] < 1e-9 * values[0]
    H = np.c_[Z, np.ones(200)]
    psi = np.einsum("ijk,ni,nj,nk->n", T, H, H, H)
    factor = box.decision_function(Z) @ psi / (psi @ psi)
    np.testing.assert_allclose(factor * psi, box.decision_function(Z), rtol=1e-5, atol=1e-6)
    origin = np.array([1.0, -1.0, 0.5, 0.0, 2.0])  # and from another origin
    T, _ = fit_polynomial(X - origin, 3)
    H = np.c_[Z - origin, np.ones(200)]
    psi = np.einsum("ijk,ni,nj,nk->n", T, H, H, H)
    machine = cubic_machine(T * np.sign(psi @ box.decision_function(Z)), origin)
    assert machine.weights.shape == (m,)
    np.testing.assert_allclose(np.sort(machine.weights), np.sort(box.normalised().weights),
                               atol=1e-5)
    np.testing.assert_array_equal(machine.predict(Z), box.predict(Z))


@pytest.mark.parametrize("m", [1, 2, 5])
def test_quasi_cubes_are_any_cubic(m):
    rng = np.random.default_rng(m)
    T = rng.standard_normal((m + 1,) * 3)
    T = sum(T.transpose(order) for order in permutations(range(3)))
    origin = rng.standard_normal(m)
    machine = quasi_cubes(T, origin, scale=2.0)
    Z = 2 * rng.standard_normal((50, m))
    expected, _ = evaluate(T, Z - origin)
    values = machine.decision_function(Z)
    np.testing.assert_allclose(values / values[0], expected / expected[0], rtol=1e-8, atol=1e-8)
    assert values[0] * expected[0] > 0
    assert len(machine.weights) == (m + 1) * (m + 2) * (m + 3) // 6 - 1
