"""Misfits: what tells the degree of a curve."""

from itertools import combinations_with_replacement, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import KernelMachine, Linear, Polynomial
from decon.boundary.curves import curve_points
from decon.families.polynomial import misfit
from tests.test_curves import a_plane, open_box

seeds = st.integers(0, 10**6)


def residual(Z, degree):
    """The last singular value of the monomials, weighted so that |coefficients| = |tensor|."""
    H = np.c_[Z / np.sqrt(np.mean(Z**2)), np.ones(len(Z))]
    H /= np.linalg.norm(H, axis=1, keepdims=True)
    columns = [np.sqrt(len(set(permutations(index)))) * H[:, list(index)].prod(axis=1)
               for index in combinations_with_replacement(range(3), degree)]
    return np.linalg.svd(np.array(columns).T, compute_uv=False)[-1]


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_misfit_of_random_machines(seed, degree):
    """Below one, and the provable bound, for the right degree; far above ten for lower ones."""
    kernel = Polynomial(degree) if degree > 1 else Linear()
    machine = KernelMachine.random(kernel, 12, 4, seed)
    oracle, X, V = open_box(machine, 3, seed)
    for j, (x, v) in enumerate(zip(X, V, strict=True)):
        for radius in (1.0, 10.0):
            Z = curve_points(oracle, x, a_plane(v, j), 20, radius, 1e-12 * radius, j)
            for D in (1, 2, 3):
                m, excess = misfit(Z, D, 1e-12 * radius), 21 - comb(D + 2, 2)
                if D == degree:
                    assert m < 0.5 < D / 2 * np.sqrt(20 / excess)
                elif D < degree:
                    assert m > 10


@given(seed=seeds, degree=st.integers(1, 4), n=st.integers(16, 40))
@settings(max_examples=100)
def test_misfit_never_exceeds_its_bound(seed, degree, n):
    """Points within half a width of a curve of degree D, adversarial signs included."""
    rng = np.random.default_rng(seed)
    forms = rng.standard_normal((degree, 3))  # a product of lines, or of a circle and lines
    width, Z = 1e-8, []
    for form in forms[rng.integers(degree, size=n)]:
        u = form[:2] / np.linalg.norm(form[:2])
        t = rng.uniform(-1, 1)
        foot = -form[2] / np.linalg.norm(form[:2]) * u
        Z.append(foot + t * np.array([-u[1], u[0]]) + width / 2 * rng.choice([-1, 1]) * u)
    bound = degree / 2 * np.sqrt(n / (n + 1 - comb(degree + 2, 2)))
    assert misfit(np.array(Z), degree, width) <= bound * (1 + 1e-6)


@given(seed=seeds, degree=st.integers(1, 3), angle=st.floats(0, 7), scale=st.floats(1e-3, 1e3))
@settings(max_examples=60)
def test_misfit_knows_no_rotation_and_no_scale(seed, degree, angle, scale):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, 25)
    Z = np.c_[np.cos(t), np.sin(2 * t) + np.cos(t + 1)] + rng.standard_normal(2)
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    first = misfit(Z, degree, 1e-6)
    assert misfit(scale * Z @ Q, degree, scale * 1e-6) == pytest.approx(first, rel=0.3)
    assert misfit(scale * Z, degree, scale * 1e-6) == pytest.approx(first)
    assert misfit(Z, degree, 1e-9) == pytest.approx(1000 * first)


@given(seed=seeds, degree=st.integers(1, 4), n=st.integers(15, 40))
@settings(max_examples=60)
def test_misfit_against_a_singular_value(seed, degree, n):
    """Where nothing fits, inverse iteration stops a little above the smallest value."""
    Z = np.random.default_rng(seed).standard_normal((n, 2))
    excess = n - (comb(degree + 2, 2) - 1)
    expected = residual(Z, degree) / np.sqrt(excess) * np.sqrt(np.mean(Z**2)) / 1e-3
    assert expected * (1 - 1e-9) <= misfit(Z, degree, 1e-3) < 1.5 * expected


def test_misfit_counts_degrees_of_freedom():
    """Its mean square does not depend on the number of points: that is what the excess is for."""
    rng = np.random.default_rng(0)

    def mean_square(n):
        found = []
        for _ in range(300):
            a = rng.uniform(0, 2 * np.pi, n)
            Z = np.c_[np.cos(a), np.sin(a)] + rng.uniform(-5e-7, 5e-7, (n, 2))
            found.append(misfit(Z, 2, 1e-6) ** 2)
        return np.mean(found)

    values = [mean_square(n) for n in (7, 10, 20, 40)]
    assert max(values) / min(values) < 1.4


@pytest.mark.parametrize("degree, order", [(1, 1), (2, 4), (3, 8)])
def test_residuals_fade_with_the_order_of_contact(degree, order):
    """From close by every smooth curve has any degree: r^(C(D + 2, 2) - 2)."""
    t = np.linspace(-1, 1, 30)
    small, large = (residual(np.c_[r * t, np.exp(3 * r * t) - 1], degree) for r in (0.16, 0.32))
    assert abs(np.log2(large / small) - order) < 0.2


def test_misfit_of_as_few_points_as_a_curve_goes_through():
    Z = np.random.default_rng(0).standard_normal((5, 2))
    assert misfit(Z, 2, 1e-6) < 1e-6
    with pytest.raises(ValueError, match="needs 5 points, got 4"):
        misfit(Z[:4], 2, 1e-6)
