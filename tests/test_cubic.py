"""Cubics as symmetric tensors: fitted, and taken apart into cubes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Oracle, Polynomial
from decon.bracketing import boundary_points, pn_pairs
from decon.cubic import cubic_machine, fit_cubic, sum_of_cubes


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


def test_too_many_cubes_are_told():
    rng = np.random.default_rng(0)
    T = tensor(rng.standard_normal((9, 4)), rng.standard_normal(9))
    with pytest.raises(ArithmeticError, match="sum of at most 4 cubes"):
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
    T, values = fit_cubic(X)
    assert values[1] < 1e-9 * values[0]
    np.testing.assert_array_equal(T, T.transpose(2, 0, 1))
    np.testing.assert_array_equal(T, T.transpose(1, 0, 2))
    H = np.c_[Z, np.ones(200)]
    psi = np.einsum("ijk,ni,nj,nk->n", T, H, H, H)
    factor = box.decision_function(Z) @ psi / (psi @ psi)
    np.testing.assert_allclose(factor * psi, box.decision_function(Z), rtol=1e-5, atol=1e-6)
    origin = np.array([1.0, -1.0, 0.5, 0.0, 2.0])  # and from another origin
    T, _ = fit_cubic(X - origin)
    H = np.c_[Z - origin, np.ones(200)]
    psi = np.einsum("ijk,ni,nj,nk->n", T, H, H, H)
    machine = cubic_machine(T * np.sign(psi @ box.decision_function(Z)), origin)
    assert machine.weights.shape == (m,)
    np.testing.assert_allclose(np.sort(machine.weights), np.sort(box.normalised().weights),
                               atol=1e-5)
    np.testing.assert_array_equal(machine.predict(Z), box.predict(Z))


def test_too_few_points_are_told():
    with pytest.raises(ValueError, match="needs 9 points, got 5"):
        fit_cubic(np.zeros((5, 2)))
