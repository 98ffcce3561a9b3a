"""The lengths of a search: their values in double precision, and the balance behind each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from decon.oracles.precision import DOUBLE, Precision

FINE, COARSE = [1e-14, 1e-12, 1e-10, 1e-9], [1.01e-9, 1e-8, 5e-7, 1e-5]
TOLERANCES = ("symmetry_tolerance", "rough_symmetry_tolerance", "agreement_distance")


def best_step(error):
    """The step in (1e-12, 1) at which an error is least."""
    return np.exp(minimize_scalar(lambda t: np.log(error(np.exp(t))), bounds=(np.log(1e-12), 0),
                                  method="bounded", options={"xatol": 1e-9}).x)


def test_double_precision():
    assert DOUBLE == Precision(1e-12)
    assert (DOUBLE.slope_step, DOUBLE.flatness_step, DOUBLE.agreement_distance) == (
        1e-6, 3e-4, 1e-5)
    assert (DOUBLE.symmetry_tolerance, DOUBLE.rough_symmetry_tolerance) == (1e-8, 3e-5)


@pytest.mark.parametrize("width", FINE)
def test_a_one_sided_step_balances_curvature_and_width(width):
    best = best_step(lambda delta: delta + width / delta)
    assert Precision(width).slope_step == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("width", COARSE)
def test_a_central_step_balances_the_next_order_and_width(width):
    best = best_step(lambda delta: 32 * delta**2 + width / delta)
    assert Precision(width).slope_step == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("width", FINE + COARSE)
def test_what_is_coarse_gets_more_points_and_more_room(width):
    precision, coarse = Precision(width), width in COARSE
    assert precision.coarse is coarse
    assert (precision.points_factor, precision.grazing_factor) == ((3, 4) if coarse else (1, 1))


@pytest.mark.parametrize("width", FINE + COARSE)
def test_the_flatness_step_shrinks_like_the_least_curvature_that_it_shows(width):
    step = Precision(width).flatness_step
    assert 100 * width / step**2 / step == pytest.approx(100 / 27)


@pytest.mark.parametrize("width", FINE + COARSE)
def test_the_rough_tolerance_is_between_the_error_of_normals_and_one(width):
    halfway = np.sqrt(np.sqrt(width) * 1)  # on a logarithmic scale
    assert Precision(width).rough_symmetry_tolerance / halfway == pytest.approx(0.03)


@pytest.mark.parametrize("width, symmetry, agreement", [
    (1e-14, 1e-8, 1e-5), (1e-9, 1e-8, 1e-5), (2e-9, 2e-8, 1e-5), (1e-7, 1e-6, 1e-5),
    (2e-7, 2e-6, 2e-5), (1e-5, 1e-4, 1e-3)])
def test_tolerances_hold_many_brackets_and_no_less_than_their_floor(width, symmetry, agreement):
    precision = Precision(width)
    assert precision.symmetry_tolerance == pytest.approx(symmetry)
    assert precision.agreement_distance == pytest.approx(agreement)


@given(st.floats(1e-15, 1e-4), st.floats(1, 100))
def test_every_length_grows_with_the_width_and_exceeds_it(width, factor):
    narrow, wide = Precision(width), Precision(width * factor)
    for name in (*TOLERANCES, "flatness_step", "grazing_factor", "points_factor"):
        assert getattr(narrow, name) <= getattr(wide, name)
        assert getattr(narrow, name) >= width
    assert width < narrow.slope_step < 0.1


def test_a_precision_shows_its_width_and_cannot_be_changed():
    assert repr(Precision(1e-7)) == "Precision(width=1e-07)"
    with pytest.raises(AttributeError):
        DOUBLE.width = 1e-6
