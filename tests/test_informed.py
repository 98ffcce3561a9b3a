"""Brackets that know what they will find: their cost, and the fit of a machine nearly known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from experiments._informed import Numbers, boundary_of, informed_fit, predicted_crossings

KERNELS = [Polynomial(3), Tanh(1.0, 0.1), Gaussian(2.0)]


@given(seed=st.integers(0, 1000), power=st.floats(-8, 0))
@settings(max_examples=30)
def test_a_prediction_saves_the_bits_that_it_knows(seed, power):
    rng, n, error = np.random.default_rng(seed), 200, 10**power
    crossing = error * rng.standard_normal(n)
    oracle = Oracle(lambda X: X[:, 0] > crossing[X[:, 1].astype(int)], 2)
    X, V = np.c_[np.zeros(n), np.arange(n)], np.tile([1.0, 0.0], (n, 1))
    t = predicted_crossings(oracle, X, V, np.full(n, error), 1e-12, np.full(n, 30 * error))
    np.testing.assert_allclose(t, crossing, atol=1e-12)
    assert 1.5 < oracle.queries / n - np.log2(error / 1e-12) < 3.3  # 2.05 for the best code


def test_a_crossing_far_from_its_prediction_is_given_up():
    oracle = Oracle(lambda X: X[:, 0] > 100, 2)
    one = np.ones(1)
    assert np.isnan(predicted_crossings(oracle, np.zeros((1, 2)), np.eye(2)[:1], one, 1e-9,
                                        30 * one)).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_derivatives_by_the_numbers_are_right(kernel):
    rng = np.random.default_rng(0)
    machine = KernelMachine.random(kernel, 5, 3)
    numbers, X = Numbers(machine, 0.3, 0.7), rng.standard_normal((4, 5))
    theta = numbers.pack(machine)
    np.testing.assert_allclose(numbers.machine(theta).decision_function(X),
                               machine.decision_function(X))
    J, h = numbers.jacobian(machine, X), 1e-6
    for k, step in enumerate(h * np.eye(len(theta))):
        up, down = (numbers.machine(theta + s * step).decision_function(X) for s in (1, -1))
        np.testing.assert_allclose(J[:, k], (up - down) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_points_of_a_machines_own_boundary_need_no_query(kernel):
    machine = KernelMachine.random(kernel, 6, 4)
    X, N, slope = boundary_of(machine, 50, 2.0, np.random.default_rng(0))
    assert len(X) > 25 and np.abs(machine.decision_function(X) / slope).max() < 1e-8
    np.testing.assert_allclose(N * slope[:, None], machine.gradient(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_machine_nearly_known_becomes_exact_at_a_bit_per_query(kernel):
    d, m, start = 8, 4, 0.02
    rng, truth = np.random.default_rng(1), KernelMachine.random(kernel, d, m, 1)
    nearly = KernelMachine(kernel, truth.support_vectors + start / 3 * rng.standard_normal((m, d)),
                           truth.weights + start * rng.standard_normal(m),
                           truth.threshold + start * rng.standard_normal())
    oracle = Oracle(truth.predict, d)
    found, brackets = informed_fit(oracle, nearly, (start / 3, start), np.sqrt(d), 1e-11, rng)
    X, _, slope = boundary_of(truth, 300, np.sqrt(d), rng)
    distance = np.sqrt(np.mean((found.decision_function(X) / slope) ** 2)) / np.linalg.norm(
        found.weights) * np.linalg.norm(truth.weights)
    p = m * (d + 1) + (kernel.name != "cubic")
    assert distance < 1e-9 and p <= brackets <= 1.1 * p + 8
    assert oracle.queries < 1.2 * p * np.log2(1 / 1e-11)


def test_a_start_that_is_no_machine_of_the_kind_is_refused():
    truth, other = (KernelMachine.random(Polynomial(3), 8, 4, seed) for seed in (1, 2))
    with pytest.raises(RuntimeError, match="without a crossing"):
        informed_fit(Oracle(truth.predict, 8), other, (1e-3, 1e-3), np.sqrt(8), 1e-11,
                     np.random.default_rng(0))
