"""The procedures of the 2014 paper as printed: votes on the kernel's type."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary.curves import curve_points
from decon.families.polynomial import fit_polynomial
from decon.paper import vote_of_plane, votes_on_kernel_type
from tests.test_curves import a_plane, open_box
from tests.test_kernel_type import residual

seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_any_points_but_one_fewer_than_coefficients_fit(degree):
    """Through any C(D + 2, 2) - 1 points there is a curve of degree D; through more, in general
    not. So nine points of whatever curve vote for a cubic at most."""
    rng = np.random.default_rng(degree)
    needed = comb(degree + 2, 2) - 1
    for _ in range(20):
        assert vote_of_plane(rng.standard_normal((needed, 2)), 1e-12) <= degree
        assert fit_polynomial(rng.standard_normal((needed, 2)), degree)[1][1] < 1e-14
        more = rng.standard_normal((needed + 3, 2))
        assert fit_polynomial(more, degree)[1][1] > 1e-4
    assert vote_of_plane(rng.standard_normal((40, 2)), 1e-6) is None


def test_votes_with_fewer_than_nine_points():
    rng = np.random.default_rng(0)
    line = rng.standard_normal((4, 1)) * [1.0, 2.0] + [0.0, 1.0]
    assert vote_of_plane(line, 1e-9) == 1
    assert vote_of_plane(rng.standard_normal((8, 2)) * [1, 0], 1e-9) == 1
    for n in (6, 7, 8):
        with pytest.raises(ValueError, match="degree 3 in 2 variables needs 9 points"):
            vote_of_plane(rng.standard_normal((n, 2)), 1e-9)


@given(seed=seeds, exponent=st.floats(-9, -1))
@settings(max_examples=60)
def test_a_vote_is_the_smallest_degree_within_the_tolerance(seed, exponent):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, 20)
    Z = np.c_[t, 10 ** rng.uniform(-6, 0) * np.sin(t) + 10 ** rng.uniform(-6, 0) * t**2]
    tolerance = 10.0**exponent
    fits = [D for D in (1, 2, 3) if residual(Z, D) / np.sqrt(20) <= tolerance]
    assert vote_of_plane(Z, tolerance) == (fits[0] if fits else None)


@pytest.mark.parametrize("kernel, expected", [
    (Linear(), "linear"), (Polynomial(2), "quadratic"), (Polynomial(3), "cubic"),
    (Tanh(1.0, 0.3), "transcendental"), (Gaussian(1.0), "transcendental")])
@pytest.mark.parametrize("seed", range(3))
def test_the_majority_is_right_at_good_settings(kernel, expected, seed):
    machine = KernelMachine.random(kernel, 30, 12, seed)
    oracle, X, _ = open_box(machine, 25, seed, width=1e-6)
    before = oracle.queries
    votes = votes_on_kernel_type(oracle, X, radius=3 * np.sqrt(30), tolerance=10**-7.5,
                                 random_state=seed)
    assert votes.most_common(1)[0][0] == expected
    assert votes.total() <= 25
    assert 300 * votes.total() < oracle.queries - before < 25 * 700
    again = votes_on_kernel_type(oracle, X, radius=3 * np.sqrt(30), tolerance=10**-7.5,
                                 random_state=seed)
    assert votes == again


def test_a_small_disc_makes_a_tanh_a_polynomial():
    """From close by everything is a cubic: the paper's test needs a wide disc."""
    oracle, X, _ = open_box(KernelMachine.random(Tanh(1.0, 0.3), 30, 12, 0), 25, 0, 1e-6)
    near = votes_on_kernel_type(oracle, X, radius=0.5)
    far = votes_on_kernel_type(oracle, X, radius=15.0)
    assert near["transcendental"] == 0 and far["transcendental"] > 13


def test_planes_through_the_origin_cut_a_cone_in_lines():
    """coef0 = 0 and b = 0: a quadratic box that every such plane calls linear."""
    rng = np.random.default_rng(0)
    cone = KernelMachine(Polynomial(2, coef0=0), rng.standard_normal((4, 8)), [1, -1, 1, -1], 0.0)
    oracle, X, V = open_box(cone, 10)
    votes = votes_on_kernel_type(oracle, X, radius=0.1, width=1e-9)
    assert votes["linear"] >= 8
    planes = [a_plane(v, 1) for v in V]
    seen = [curve_points(oracle, x, plane, 20, 1.0, 1e-9, 0)
            for x, plane in zip(X, planes, strict=True)]
    assert all(vote_of_plane(Z, 1e-7) == 2 for Z in seen if len(Z))


def test_planes_of_one_label_do_not_vote():
    oracle = Oracle(lambda X: X[:, 0] > 1e9, 3, positive=True)
    assert votes_on_kernel_type(oracle, np.eye(3)) == {}
