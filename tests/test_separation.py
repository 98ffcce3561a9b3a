"""How near two Gaussians may lie and be taken for one: foretold, and by fitting one to two."""

import numpy as np
import pytest

from decon import Gaussian, KernelMachine
from decon.families.gaussian.exponentials import Exponentials, fit_exponentials
from decon.families.gaussian.separation import least_separation

WIDTH = 1e-9


def on_boundary(machine, n, rng):
    """Points of the boundary, by Newton's method along the gradient."""
    X = 2 * rng.standard_normal((30 * n, machine.dimension))
    with np.errstate(all="ignore"):
        for _ in range(60):
            G = machine.gradient(X)
            X = X - (machine.decision_function(X) / (G**2).sum(1))[:, None] * G
        good = np.abs(machine.decision_function(X)) < 1e-13
    return X[good & (np.abs(X).max(1) < 5)][:n]


def surface_of(machine):
    """The machine as a sum of exponentials."""
    Y, tau = machine.support_vectors, 1 / (2 * machine.kernel.sigma**2)
    alpha = machine.weights / machine.threshold * np.exp(-tau * (Y**2).sum(1))
    return Exponentials(2 * tau * Y, alpha, tau)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_a_fit_misses_its_points_where_two_vectors_are_farther_apart(factor, seed):
    rng = np.random.default_rng(seed)
    Y, w = 1.2 * rng.standard_normal((2, 2)), np.array([1.0, 0.8])
    one = KernelMachine(Gaussian(1.1), Y, w, 0.4)
    surface, X = surface_of(one), on_boundary(one, 60, rng)
    slopes = np.linalg.norm(surface.gradient(X), axis=1)
    tau = surface.tau
    log_weights = np.log(np.abs(surface.alpha)) + tau * (Y**2).sum(1)
    apart = least_separation(surface.jacobian(X), X, Y, surface.terms(X), log_weights, tau,
                             slopes, WIDTH)

    # one of the two is in truth two, with the smallest weight for the further one
    for i, step in enumerate(factor * apart):
        u = rng.standard_normal(2)
        further = Y[i] + step * u / np.linalg.norm(u)
        weights = np.r_[w, 0.8]
        weights[i] -= 0.8 if i == 0 else 0.0
        two = KernelMachine(Gaussian(1.1), np.vstack([Y, further]), weights, 0.4)
        _, rms = fit_exponentials(surface_of(one), on_boundary(two, 60, rng), WIDTH / 1e3)
        assert rms > WIDTH if factor > 1 else rms < WIDTH
