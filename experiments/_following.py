"""Follow a box that has changed a little: brackets start from predictions, the rest is arithmetic.

Yesterday's machine is known; today all of its numbers are a little different. Its boundary
predicts where on a line today's crossing is, so that a bracket need not start blind; and as soon
as there are as many crossings as numbers to be seen, least squares gives all of them.
"""

from dataclasses import asdict, replace

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln

from decon import Gaussian, KernelMachine, Oracle, Tanh
from decon.boundary.bracketing import bisect_along, boundary_points
from decon.boundary.pairs import pn_pairs

from ._limit import derivatives

STEEP = 0.3  # lines that cross the boundary at a smaller n.v are not used


def numbers(machine):
    """Support vectors, weights and the kernel's constant; the threshold sets the scale."""
    constant = {Tanh: "beta", Gaussian: "sigma"}.get(type(machine.kernel))
    constants = [asdict(machine.kernel)[constant]] if constant else []
    return np.r_[machine.support_vectors.ravel(), machine.weights, constants]


def rebuilt(machine, z):
    """The machine with other numbers."""
    m, d = machine.support_vectors.shape
    kernel = machine.kernel
    if isinstance(kernel, Tanh):
        kernel = replace(kernel, beta=float(z[-1]))
    elif isinstance(kernel, Gaussian):
        kernel = replace(kernel, sigma=max(float(z[-1]), 1e-3))
    return KernelMachine(kernel, z[:m * d].reshape(m, d), z[m * d:m * d + m], machine.threshold)


def predicted(machine, features, n, rng):
    """n lines and where the known machine's boundary crosses them: X and V (n, d). No queries."""
    own = Oracle(machine.predict, machine.dimension, positive=1)
    spread = np.sqrt(np.mean(features**2))
    ends = spread * rng.standard_normal((4000, machine.dimension))
    labels = machine.predict(ends)
    X, V = boundary_points(own, *pn_pairs(ends[labels > 0], ends[labels < 0], 6 * n + 50, rng),
                           1e-14 * spread)
    slope = (machine.gradient(X) * V).sum(1) / np.linalg.norm(machine.gradient(X), axis=1)
    return tuple(a[slope > STEEP][:n] for a in (X, V))


def miss(machine, X, V):
    """How far along V the points are from the machine's boundary, to first order: array (n,)."""
    return machine.decision_function(X) / (machine.gradient(X) * V).sum(1)


def sensitivity(machine, X, V):
    """The derivatives of `miss` with respect to the numbers: array (n, p)."""
    Y, w, kernel = machine.support_vectors, machine.weights, machine.kernel
    K, columns = kernel(X, Y), derivatives(machine, X)
    if isinstance(kernel, Gaussian):
        columns = np.column_stack([columns, (K * cdist(X, Y) ** 2) @ w / kernel.sigma**3])
    elif isinstance(kernel, Tanh):
        columns = np.column_stack([columns, (1 - K**2) @ w])
    return columns / (machine.gradient(X) * V).sum(1)[:, None]


def fitted(machine, X, V, steps=60):
    """The machine's numbers changed until its boundary meets all points (Levenberg, Marquardt)."""
    r, damping = miss(machine, X, V), 1e-3
    for _ in range(steps):
        J = sensitivity(machine, X, V)
        size = np.linalg.norm(J, axis=0)
        left, values, right = np.linalg.svd(J / size, full_matrices=False)
        factors = values / (values**2 + (damping * values[0]) ** 2)
        other = rebuilt(machine, numbers(machine) - right.T @ (factors * (left.T @ r)) / size)
        remains = miss(other, X, V)
        if np.linalg.norm(remains) < np.linalg.norm(r):
            machine, r, damping = other, remains, max(damping / 30, 1e-13)
        else:
            damping *= 10
        if damping > 1:
            break
    return machine


def followed(oracle, machine, features, n, drift, width, rng):
    """Today's machine from yesterday's, and n brackets that start where it predicts them."""
    X, V = predicted(machine, features, n, rng)
    R = np.sqrt(np.mean((features**2).sum(1)))
    t = bisect_along(oracle, X, V, 0.0, drift * R, width * R, 0.1 * R)
    met = np.isfinite(t)
    return fitted(machine, (X + t[:, None] * V)[met], V[met])


def bits_of_an_update(machine, features, drift, distance, rng):
    """So many bits, constant included, bring the boundary to a root mean square distance.

    Every number was multiplied by 1 + drift g, g standard normal. A statement allows an ellipsoid
    of numbers, {z: |J (z - z0)|^2 <= n distance^2}; its probability is at most its volume times
    the largest density.
    """
    X, V = predicted(machine, features, 8 * len(numbers(machine)), rng)
    G = machine.gradient(X)
    J = sensitivity(machine, X, V) * ((G * V).sum(1) / np.linalg.norm(G, axis=1))[:, None]
    p = J.shape[1]  # J: how far the boundary moves along its normal
    ball = p / 2 * np.log(np.pi) - gammaln(p / 2 + 1)
    volume = ball + p * np.log(distance) - np.linalg.slogdet(J.T @ J / len(J))[1] / 2
    density = -np.log(np.sqrt(2 * np.pi) * drift * np.abs(numbers(machine))).sum()
    return -(volume + density) / np.log(2)
