"""The bound of the experiments, beside what can be counted: how rare are machines within r?"""

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Linear, Polynomial, Tanh
from experiments._compare import numbers_inside, spanning, visible_numbers
from experiments._limit import (
    boundary_distance,
    cloud,
    derivatives,
    limit,
    most_visible,
    near_boundary,
)
from experiments._models import KERNELS, random_model


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.5, 2.0), Polynomial(3, 2.0, 0.0),
                                    Tanh(1.5, 0.1), Gaussian(0.7)], ids=str)
def test_derivatives_are_those_of_finite_differences(kernel):
    machine, X = random_model(kernel, 4, 3, 0)
    numbers = np.r_[machine.support_vectors.ravel(), machine.weights]

    def psi(numbers):
        return KernelMachine(kernel, numbers[:12].reshape(3, 4), numbers[12:], 0.0
                             ).decision_function(X)

    differences = [(psi(numbers + h) - psi(numbers - h)) / 2e-6 for h in 1e-6 * np.eye(15)]
    np.testing.assert_allclose(derivatives(machine, X), np.array(differences).T, atol=1e-7)


@pytest.mark.parametrize("kernel, m", [(Linear(), 2), (Gaussian(1.5), 1), (Polynomial(3), 1)],
                         ids=str)
def test_the_bound_counts_the_machines_within_r(kernel, m):
    """Machines drawn as the bound assumes; the share of them within r of one of them."""
    d, n, rng = 2, 8000, np.random.default_rng(0)
    machine, features = random_model(kernel, d, m, 2)
    machine.threshold += np.median(machine.decision_function(cloud(features, 100_000, rng)))
    sizes = [np.sqrt(np.mean(a**2)) for a in (machine.support_vectors, machine.weights)]
    X = near_boundary(machine, np.concatenate([features, cloud(features, 2000, rng)]), 200, rng)
    scale = np.sqrt(np.mean((features**2).sum(1)))
    far = []
    for _ in range(n):
        Y, w = sizes[0] * rng.standard_normal((m, d)), sizes[1] * rng.standard_normal(m)
        psi = KernelMachine(kernel, Y, w, 0.0).decision_function(cloud(features, 1001, rng))
        far.append(boundary_distance(KernelMachine(kernel, Y, w, np.median(psi)), machine, X))
    r = np.quantile(np.array(far) / scale, 0.004)
    assert r < 0.2
    assert limit(machine, features).bits(r) == pytest.approx(np.log2(250), abs=1.0)


@pytest.mark.parametrize("kernel", [*KERNELS, Polynomial(3, coef0=0)], ids=str)
def test_only_visible_numbers_count(kernel):
    machine, features = random_model(kernel, 8, 3, 1)
    rank = np.linalg.matrix_rank(spanning(machine))
    p = visible_numbers(machine, rank) - (kernel.name in ("tanh", "gaussian"))
    assert p <= rank * (8 - rank) + numbers_inside(machine, rank)
    bound = limit(machine, features)
    assert bound.bits(1e-12) - bound.bits(1e-11) == pytest.approx(p * np.log2(10))


@pytest.mark.parametrize("kernel, visible", [(Linear(), 4), (Polynomial(2), 10),
                                             (Polynomial(3), 20)], ids=str)
def test_of_many_vectors_no_more_is_visible_than_monomials(kernel, visible):
    """The derivatives by 45 vectors, weights and the threshold have the rank of the monomials."""
    machine, features = random_model(kernel, 3, 45, 0)
    X = cloud(features, 500, np.random.default_rng(0))
    by_numbers = np.column_stack([derivatives(machine, X), np.ones(len(X))])
    assert np.linalg.matrix_rank(by_numbers) == visible == most_visible(machine)
    assert limit(machine, features).bits(1e-9) == pytest.approx(
        limit(machine, features, 1).bits(1e-9), rel=0.03)


def test_a_large_machine_has_no_constant():
    assert limit(*random_model(Tanh(1.0, 0.1), 210, 12, 0)) is None
    assert limit(*random_model(Linear(), 210, 12, 0)) is not None
