"""Sums of cubes from fewer linear equations than a cubic has coefficients."""

from math import comb

import numpy as np
import pytest

from decon import KernelMachine, Oracle, Polynomial, deconstruct
from decon.boundary.bracketing import bisect
from decon.families.cubic import rough
from decon.families.cubic.completion import Equations, completed, lengthened


def equations_of(machine, n, normals, width, rng):
    """Those of n boundary points, coarsely bracketed, and of gradients at some of them."""
    m = machine.dimension
    P, N = rng.standard_normal((2, 40 * n, m))
    labels = machine.predict(P), machine.predict(N)
    mixed = np.flatnonzero(labels[0] > labels[1])[:n + normals]
    P, N = bisect(lambda Z: machine.predict(Z), P[mixed], N[mixed], width)
    Z = (P + N) / 2
    g = machine.gradient(Z[:normals])
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    tangents = np.stack([np.linalg.qr(v[:, None], mode="complete")[0][:, 1:].T for v in g])
    H = lengthened(Z[:normals])
    T, along = (np.insert(3 * v, m, 0, axis=-1) for v in (tangents, g))
    known = Equations(np.repeat(H, m - 1, axis=0), T.reshape(-1, m + 1), H, along)
    return known.with_points(Z[normals:])


@pytest.mark.parametrize("coef0", [1.0, 0.0])
@pytest.mark.parametrize("seed", range(6))
def test_two_equations_a_number_show_a_sum_of_cubes(seed, coef0):
    m, width = 8, 1e-6
    rng, kernel = np.random.default_rng(seed), Polynomial(3, coef0=coef0)
    machine = KernelMachine.random(kernel, m, m, seed)
    numbers = m * (m + 1) + 1
    equations = equations_of(machine, int(2.1 * numbers) - 9 * (m - 1), 9, width, rng)
    assert numbers < len(equations) < comb(m + 3, 3)
    found = completed(equations, m, width, random_state=seed)
    for _ in range(4):  # from other starts
        if found.error > width:
            found = completed(equations, m, width, found, rng)
    assert found.error < width

    # it is the machine: the same cubic up to a positive factor, at points that no equation knows
    Z = rng.standard_normal((500, m))
    f = ((np.c_[Z, np.ones(500)] @ found.V.T) ** 3).sum(1) - found.b
    g = machine.decision_function(Z)
    np.testing.assert_allclose(f * (f @ g) / (f @ f), g, atol=1e-3 * np.abs(g).max())
    assert f @ g > 0


def test_equations_are_derivatives_of_the_cubic():
    """T(h, h, t) of a sum of cubes is the cubic at a point, or one of its derivatives."""
    rng, m = np.random.default_rng(0), 4
    machine = KernelMachine.random(Polynomial(3), m, m, 3)
    equations = equations_of(machine, 5, 3, 1e-13, rng)
    cubes = np.cbrt(machine.weights)[:, None] * np.c_[machine.support_vectors, np.ones(m)]
    forms = equations.H @ cubes.T
    values = (forms**2 * (equations.T @ cubes.T)).sum(1)
    values -= machine.threshold * equations.H[:, -1] ** 2 * equations.T[:, -1]
    np.testing.assert_allclose(values, 0, atol=1e-11)

    # along normals it is the length of the gradient, h being shorter than (z, 1)
    forms = equations.along_H @ cubes.T
    slopes = (forms**2 * (equations.along_T @ cubes.T)).sum(1)
    points = equations.along_H[:, :-1] / equations.along_H[:, -1:]
    lengths = np.linalg.norm(machine.gradient(points), axis=1)
    np.testing.assert_allclose(slopes / equations.along_H[:, -1] ** 2, lengths, rtol=1e-9)


def test_what_is_no_sum_of_so_few_cubes_is_not_completed():
    m, width, rng = 6, 1e-6, np.random.default_rng(0)
    V = rng.standard_normal((2 * m, m + 1))
    machine = KernelMachine(Polynomial(3), V[:, :-1] / V[:, -1:], V[:, -1] ** 3, 0.3)
    equations = equations_of(machine, int(1.9 * (m * (m + 1) + 1)) - 7 * (m - 1), 7, width, rng)
    assert completed(equations, m, width).error > 1e3 * width


def test_a_cubic_takes_fewer_brackets_than_it_has_coefficients():
    m, d, spent = 10, 16, []
    for seed in range(3):
        machine = KernelMachine.random(Polynomial(3), d, m, seed)
        features = np.random.default_rng(seed).standard_normal((40, d))
        result = deconstruct(Oracle(machine.predict, d), features, random_state=seed,
                             progress=False)
        assert result.own_vectors and result.kernel_type == "cubic"
        spent.append(result.queries_by_stage["polynomial"])
    assert np.median(spent) < 1200  # about 1,800 for 286 coefficients, of which normals show 130


def test_the_same_equations_are_solved_once(monkeypatch):
    """A second search, in single precision, begins with more of them than it asks for."""
    solved = []

    def counted(equations, *arguments):
        solved.append(len(equations))
        return completed(equations, *arguments)

    monkeypatch.setattr(rough, "completed", counted)
    machine = KernelMachine.random(Polynomial(3), 20, 10, 0)
    low = [np.float32(a) for a in (machine.support_vectors, machine.weights, machine.threshold)]
    features = np.random.default_rng(0).standard_normal((40, 20))

    def predict(X):
        return (np.float32(X) @ low[0].T + 1) ** 3 @ low[1] > low[2]

    result = deconstruct(Oracle(predict, 20), features, progress=False)
    assert result.kernel_type == "cubic" and result.rank == 10
    assert solved and max(np.bincount(solved)) == 1
