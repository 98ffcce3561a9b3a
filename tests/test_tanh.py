"""Tanh machines: their directions far away, the fit of units, the whole machine."""

from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, Tanh, deconstruct
from decon.boundary.bracketing import bisect_along
from decon.families.protocol import Refuted
from decon.families.sharpening import sharpen as sharpening
from decon.families.tanh import family, far_field, fitting
from decon.families.tanh.family import TanhFamily
from decon.families.tanh.far_field import further_normals, hyperplane_normals, rough_weights
from decon.families.tanh.fine import fine_units, zeros
from decon.families.tanh.fitting import SampsonFit, fit_units, new_units
from decon.families.tanh.machine import correct_span, tanh_machine, tie_biases
from decon.families.tanh.rough import rough_units
from decon.families.tanh.settings import SETTINGS
from decon.families.tanh.tanh_sum import TanhSum, sampson, sampson_jacobian, steepness
from decon.families.tanh.uniqueness import doubt
from decon.numerics.least_squares import levenberg_marquardt
from decon.subspaces.spans import largest_sine
from experiments._models import network, random_model


def random_units(seed, k=4, m=4, bias=0.1):
    """Units of lengths from 4 to 8, the threshold somewhere between their sums."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((max(k, m), m)))[0][:k] + 0.2 * rng.standard_normal((k, m))
    A *= (rng.uniform(4, 8, k) / np.linalg.norm(A, axis=1))[:, None]
    units = TanhSum(A, np.full(k, bias), rng.uniform(0.3, 1, k) * rng.choice([-1, 1], k), 0.0)
    return replace(units, threshold=np.median(units(rng.standard_normal((999, m))))).normalised()


def boundary_of(units, n, seed=0):
    """n boundary points of the units, near the origin and farther out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20 * n, units.vectors.shape[1]))
    X *= units.scale * np.exp(rng.uniform(-1, 2.3, (len(X), 1)))
    V = units.gradient(X)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    t = bisect_along(oracle_of(units), X, V, 0.0, 0.1 * units.scale, 1e-15, units.scale)
    Z = (X + t[:, None] * V)[np.isfinite(t)][:n]
    assert len(Z) == n
    return Z


def oracle_of(units):
    return Oracle(lambda Z: units(Z) > 0, units.vectors.shape[1], positive=1)


def error_of(found, true):
    """The largest relative error of a vector, signs aside; infinity if their numbers differ."""
    if len(found) != len(true):
        return np.inf
    off = np.minimum(np.linalg.norm(true[:, None] - found, axis=2),
                     np.linalg.norm(true[:, None] + found, axis=2)).min(1)
    return (off / np.linalg.norm(true, axis=1)).max()


# Sums of tanh units


def small_units(seed, k=3, m=2):
    """A few units of length about one, with biases of their own."""
    rng = np.random.default_rng(seed)
    return TanhSum(rng.standard_normal((k, m)), rng.standard_normal(k), rng.standard_normal(k), 0.2)


def derivative(function, at, step=1e-6):
    """The derivative by central differences: array (..., p) for an argument (p,)."""
    steps = step * np.eye(len(at))
    return np.stack([(function(at + h) - function(at - h)) / (2 * step) for h in steps], axis=-1)


def numbers_of(units):
    """All numbers of the units in the order of the Jacobian's columns."""
    return np.r_[units.vectors.ravel(), units.biases, units.weights, units.threshold]


def units_of(p, k, m):
    """The units with these numbers."""
    A, biases, weights, b = np.split(p, [k * m, k * m + k, k * m + 2 * k])
    return TanhSum(A.reshape(k, m), biases, weights, b[0])


def test_the_values_are_the_sum():
    units = TanhSum(np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([0.1, -0.3]),
                    np.array([2.0, -3.0]), 0.7)
    expected = 2 * np.tanh(0.3 - 0.8 + 0.1) - 3 * np.tanh(0.15 + 0.4 - 0.3) - 0.7
    assert units([[0.3, -0.4]]) == pytest.approx([expected], rel=1e-14)
    assert repr(units) == "TanhSum(2 units in dimension 2)"


@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_slopes_are_the_derivatives(seed):
    units, Z = small_units(seed), np.random.default_rng(seed).standard_normal((5, 2))
    expected = np.array([derivative(lambda z: units(z[None])[0], z) for z in Z])
    np.testing.assert_allclose(units.gradient(Z), expected, atol=1e-8)
    values = np.tanh(Z @ units.vectors.T + units.biases)
    np.testing.assert_allclose(units.slopes(Z), 1 - values**2, rtol=1e-9)


def test_slopes_far_away_are_small_and_not_zero():
    line = TanhSum(np.ones((1, 1)), np.zeros(1), np.ones(1), 0.0)
    np.testing.assert_allclose(line.slopes([[250.0], [-250.0]])[:, 0], 4 * np.exp(-500), rtol=1e-12)
    slopes = line.slopes([[1e6], [-1e6]])[:, 0]
    assert slopes[0] == slopes[1] and 0 < slopes[0] < 1e-250


def test_the_scale_is_that_of_a_typical_unit():
    vectors = np.array([[0.6, 0.8], [6.0, 8.0], [0.0, 2.0]])
    assert TanhSum(vectors, np.zeros(3), np.ones(3), 0.0).scale == pytest.approx(0.5)


def test_normalised_units_have_the_same_zeros():
    units = small_units(0)
    same = units.normalised()
    assert np.sum(same.weights**2) + same.threshold**2 == pytest.approx(1)
    Z = np.random.default_rng(0).standard_normal((9, 2))
    ratio = same(Z) / units(Z)
    assert ratio[0] > 0
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


# Sampson's residual


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), smoothing=st.sampled_from([0.0, 0.3, 2.0]))
def test_the_jacobian_is_the_derivative(seed, smoothing):
    units, Z = small_units(seed), np.random.default_rng(seed).standard_normal((5, 2))
    J = sampson_jacobian(units, Z, smoothing)
    expected = derivative(lambda p: sampson(units_of(p, 3, 2), Z, smoothing), numbers_of(units))
    assert J.shape == (5, 3 * 2 + 3 + 3 + 1)
    size = 1 + np.abs(expected).max(1, keepdims=True) ** 2  # of the error of the differences
    assert (np.abs(J - expected) < 1e-6 * size).all()


def test_smoothing_adds_a_share_of_the_mean_square():
    units, Z = small_units(1), np.random.default_rng(1).standard_normal((7, 2))
    squared = np.sum(units.gradient(Z) ** 2, axis=1)
    for s in (0.0, 0.3, 2.0):
        length = np.sqrt(squared + s**2 * squared.mean())
        np.testing.assert_allclose(sampson(units, Z, s), units(Z) / length, rtol=1e-12)
        np.testing.assert_allclose(steepness(units.gradient(Z), s), length, rtol=1e-12)
    np.testing.assert_array_equal(sampson(units, Z), sampson(units, Z, 0.0))


def test_no_gradient_is_no_division_by_zero():
    np.testing.assert_allclose(steepness(np.zeros((2, 3))), 1e-90, rtol=1e-12)
    flat = TanhSum(np.zeros((1, 2)), np.zeros(1), np.ones(1), 0.5)
    assert np.isfinite(sampson(flat, np.ones((3, 2)))).all()
    assert (sampson(flat, np.ones((3, 2))) < -1e80).all()


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_the_residual_is_the_distance_to_first_order(seed):
    units = random_units(seed)
    Z = boundary_of(units, 20, seed)
    V = units.gradient(Z)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    away = 1e-7 * units.scale * np.linspace(-1, 1, 20)
    np.testing.assert_allclose(sampson(units, Z + away[:, None] * V), away,
                               atol=1e-9 * units.scale)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.1, 10), smoothing=st.sampled_from([0, 0.3]))
def test_the_residual_does_not_change_with_the_scale_of_f(seed, factor, smoothing):
    units = random_units(seed)
    Z = np.random.default_rng(seed).standard_normal((9, 4))
    scaled = replace(units, weights=factor * units.weights, threshold=factor * units.threshold)
    np.testing.assert_allclose(sampson(scaled, Z, smoothing), sampson(units, Z, smoothing),
                               rtol=1e-6)


# Least squares

FREE = {"own": np.eye(3), "common": np.ones((3, 1)), "kept": np.empty((3, 0))}


@pytest.mark.parametrize("lengths_only", range(4))
@pytest.mark.parametrize("biases", FREE)
def test_the_jacobian_of_a_fit_is_the_derivative_by_a_step(biases, lengths_only):
    units, rng = small_units(5), np.random.default_rng(5)
    Z, importance = rng.standard_normal((6, 2)), rng.uniform(0.5, 2, 6)
    fit = SampsonFit(Z, FREE[biases], lengths_only, importance, smoothing=0.3)
    np.testing.assert_allclose(fit.residual(units), importance * sampson(units, Z, 0.3))
    p = lengths_only + 2 * (3 - lengths_only) + FREE[biases].shape[1] + 3 + 1
    expected = derivative(lambda step: fit.residual(fit.updated(units, step)), np.zeros(p))
    np.testing.assert_allclose(fit.jacobian(units), expected, atol=1e-6)


def test_an_update_does_what_the_step_says():
    units = small_units(7).normalised()
    step = np.r_[0.5, 0.1, 0.2, -0.3, -0.4, 0.6, 0.01, 0.02, 0.03, 0.04]
    fit = SampsonFit(np.empty((0, 2)), FREE["common"], 1, 1.0)
    new, A = fit.updated(units, step), units.vectors
    expected = np.array([np.exp(0.5) * A[0], A[1] + [0.1, 0.2], A[2] - [0.3, 0.4]])
    np.testing.assert_allclose(new.vectors, expected, rtol=1e-14)
    np.testing.assert_allclose(new.biases, units.biases + 0.6, rtol=1e-14)
    moved = np.r_[units.weights + [0.01, 0.02, 0.03], units.threshold + 0.04]
    np.testing.assert_allclose(np.r_[new.weights, new.threshold], moved / np.linalg.norm(moved),
                               rtol=1e-14)


@pytest.mark.parametrize("sign", [-1, 1])
def test_an_update_is_cut_short_in_logarithms_and_biases(sign):
    units = small_units(7).normalised()
    fit = SampsonFit(np.empty((0, 2)), np.eye(3), 3, 1.0)
    new = fit.updated(units, sign * np.r_[5.0, 0.5, 1.5, 5.0, 0.5, 1.5, np.zeros(4)])
    factors = np.linalg.norm(new.vectors, axis=1) / np.linalg.norm(units.vectors, axis=1)
    np.testing.assert_allclose(factors, np.exp(sign * np.array([1, 0.5, 1])), rtol=1e-13)
    np.testing.assert_allclose(new.biases - units.biases, sign * np.array([1, 0.5, 1]), rtol=1e-13)


class Line:
    """The residual x on a line; all x are kept at which it is computed."""

    linearised = SampsonFit.linearised

    def __init__(self):
        self.tried = []

    def residual(self, x):
        self.tried.append(x)
        return np.array([x])

    def jacobian(self, x):
        return np.array([[1.0]])

    def updated(self, x, step):
        return x + step[0]


def minimised(problem, x, steps, patience):
    return levenberg_marquardt(problem.residual, problem.linearised, x, steps, 0.01, 1e-15,
                               0.01, patience)


def test_steps_are_damped_by_less_and_less():
    line = Line()
    x = minimised(line, 1.0, steps=3, patience=9)
    expected, damping = [1.0], 0.01
    for _ in range(3):
        expected.append(expected[-1] * (1 - 1 / (1 + damping)))
        damping /= 5
    np.testing.assert_allclose(line.tried, expected, rtol=1e-6)
    assert x == line.tried[-1]


def test_damping_grows_until_a_step_helps_and_ends_when_none_does():
    class Wall(Line):
        def residual(self, x):
            self.tried.append(x)
            return np.array([x if x > 0.9 else 2.0])

    wall = Wall()
    x = minimised(wall, 1.0, steps=1, patience=9)
    damping = 0.01 * 4.0 ** np.arange(6)  # 1 / (1 + 10.24) is the first step below a tenth
    np.testing.assert_allclose(wall.tried[1:], 1 - 1 / (1 + damping), rtol=1e-12)
    assert x == wall.tried[-1] > 0.9

    # the damping of the next step is a fifth of the last one
    wall = Wall()
    minimised(wall, 1.0, steps=2, patience=9)
    x, damping = wall.tried[6], damping[-1] / 5
    assert wall.tried[7] == pytest.approx(x * (1 - 1 / (1 + damping)), rel=1e-12)

    # a start that nothing improves is given back after twelve tries
    stuck = Wall()
    assert minimised(stuck, 0.9000000001, steps=5, patience=9) == 0.9000000001
    assert len(stuck.tried) == 13


def test_the_fit_ends_after_idle_steps_in_a_row():
    class Slow(Line):
        """The sum of squares falls by 0.5% a step, by 2% in the third."""

        def residual(self, x):
            self.tried.append(x)
            step = len(self.tried) - 1
            return np.array([np.sqrt(0.995 ** (step - (step >= 3)) * 0.98 ** (step >= 3))])

    slow = Slow()
    minimised(slow, 1.0, steps=50, patience=4)
    assert len(slow.tried) == 1 + 3 + 4
    slow = Slow()
    minimised(slow, 1.0, steps=5, patience=4)
    assert len(slow.tried) == 1 + 5


def test_a_fit_does_not_depend_on_the_units_of_its_parameters():
    tried = []
    for factor in (1.0, 1e6):
        class Plane(Line):
            """Residuals A x, x given as x = (y_1, factor y_2)."""

            def residual(self, y, factor=factor):
                self.tried.append(y * [1, factor])
                return np.array([[1.0, 0.5], [0.2, 1.0], [1.0, 1.0]]) @ self.tried[-1] - 1

            def jacobian(self, y, factor=factor):
                return np.array([[1.0, 0.5], [0.2, 1.0], [1.0, 1.0]]) * [1, factor]

            def updated(self, y, step):
                return y + step

        plane = Plane()
        minimised(plane, np.array([0.3, 0.4 / factor]), 4, 9)
        tried.append(plane.tried)
    np.testing.assert_allclose(*tried, rtol=1e-9)
    best = np.linalg.lstsq([[1.0, 0.5], [0.2, 1.0], [1.0, 1.0]], np.ones(3), rcond=None)[0]
    np.testing.assert_allclose(tried[0][-1], best, atol=1e-5)


def test_parameters_without_an_effect_and_singular_systems_are_survived(monkeypatch):
    class Blind(Line):
        def jacobian(self, x):
            return np.array([[1.0, 0.0]])

    assert abs(minimised(Blind(), 1.0, steps=5, patience=9)) < 1e-6

    solve, calls = np.linalg.solve, []

    def singular_at_first(H, slope):
        calls.append(H[0, 0])
        if len(calls) == 1:
            raise np.linalg.LinAlgError("Singular matrix")
        return solve(H, slope)

    monkeypatch.setattr(np.linalg, "solve", singular_at_first)
    assert abs(minimised(Line(), 1.0, steps=5, patience=9)) < 1e-6
    np.testing.assert_allclose(calls[:2], [1.01, 1.04])


# Fits of units


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("biases", ["own", "common", "kept"])
def test_a_fit_finds_the_units_again(seed, biases):
    units = random_units(seed)
    rng = np.random.default_rng(seed)
    Z = boundary_of(units, 60, seed)
    start = TanhSum(units.vectors * rng.uniform(0.9, 1.1, (4, 4)),
                    units.biases if biases == "kept" else np.zeros(4),
                    units.weights * rng.uniform(0.9, 1.1, 4), units.threshold)
    found, residual = fit_units(start, Z, biases, smoothings=(0.3, 0.0))
    assert residual < 1e-13 and error_of(found.vectors, units.vectors) < 1e-9
    np.testing.assert_allclose(found.biases, 0.1, atol=1e-9)
    np.testing.assert_allclose(found.weights, units.weights, atol=1e-9)


def test_a_fit_of_lengths_keeps_the_directions():
    units = random_units(1)
    start = replace(units, vectors=units.vectors * [[0.5], [2.0], [1.5], [0.7]])
    found, residual = fit_units(start, boundary_of(units, 30), lengths_only=4,
                                smoothings=(1, 0.3, 0))
    cosines = (found.vectors * start.vectors).sum(1) / np.linalg.norm(found.vectors, axis=1)
    np.testing.assert_allclose(cosines, np.linalg.norm(start.vectors, axis=1), rtol=1e-12)
    assert residual < 1e-13


def test_the_residual_of_a_fit_is_a_root_mean_square():
    units, rng = small_units(3), np.random.default_rng(3)
    Z, importance = rng.standard_normal((8, 2)), rng.uniform(0.5, 2, 8)
    for factor in (1.0, importance):
        same, residual = fit_units(units, Z, importance=factor, steps=0)
        np.testing.assert_allclose(numbers_of(same), numbers_of(units.normalised()))
        expected = np.sqrt(np.mean((factor * sampson(units, Z)) ** 2))
        assert residual == pytest.approx(expected, rel=1e-12)


def test_units_that_are_constant_fit_nothing():
    Z = np.random.default_rng(0).standard_normal((8, 2))
    flat = TanhSum(np.full((1, 2), 1e-30), np.zeros(1), np.ones(1), 0.0)  # |f| = 1e-30, but
    slope = np.sqrt(2) * 1e-30  # it is f, and with it the residual, that is known to 1e-16 only
    _, residual = fit_units(flat, Z, importance=3.0, steps=0)
    assert residual == pytest.approx(3 * 1e-16 / slope, rel=1e-9)


def test_a_fit_is_repeated_with_every_smoothing(monkeypatch):
    seen = []

    def spy(residual, linearised, units, steps, *schedule):
        assert residual.__self__ is linearised.__self__
        seen.append((residual.__self__.smoothing, units.threshold, steps, schedule[-1]))
        return replace(units, threshold=units.threshold + 1)

    monkeypatch.setattr(fitting, "levenberg_marquardt", spy)
    start = TanhSum(np.eye(2), np.zeros(2), np.array([0.6, 0.8]), 0.0)
    found, _ = fit_units(start, np.ones((3, 2)), smoothings=(1.0, 0.5, 0.0), steps=7, patience=2)
    assert seen == [(1.0, 0.0, 7, 2), (0.5, 1.0, 7, 2), (0.0, 2.0, 7, 2)] and found.threshold == 3
    fit_units(start, np.ones((3, 2)))
    assert seen[3:] == [(0.0, 0.0, 100, 6)]


# One unit more


def lacking_one(seed):
    """Units without the last of them, which is small, boundary points of all, and the last."""
    units = random_units(seed)
    units = replace(units, weights=units.weights * [1, 1, 1, 0.1]).normalised()
    few = TanhSum(units.vectors[:3], units.biases[:3], units.weights[:3], units.threshold)
    return few, boundary_of(units, 60, seed), units.vectors[3:]


def test_a_missing_unit_is_guessed():
    found = []
    for seed in range(4):
        few, Z, missing = lacking_one(seed)
        guesses = new_units(few, Z, np.random.default_rng(seed))
        assert len(guesses) == SETTINGS.improved_candidates
        for guess in guesses:
            np.testing.assert_array_equal(guess.vectors[:3], few.vectors)
            np.testing.assert_array_equal(guess.weights[:3], few.weights)
            assert guess.threshold == few.threshold and len(guess.biases) == 4
        residuals = [fit_units(guess, Z, smoothings=(0.3, 0.03, 0.0))[1] for guess in guesses]
        found.append(min(residuals) < 1e-13)
    assert sum(found) >= 3


def unexplained(units, Z):
    """What the Jacobian's columns leave of the residual, and of a unit's column."""
    J = sampson_jacobian(units, Z)
    Q = np.linalg.qr(J)[0]

    def rest(columns):
        return columns - Q @ (Q.T @ columns)

    def column(a, beta):
        return rest(np.tanh(Z @ a + beta) / np.linalg.norm(units.gradient(Z), axis=1))

    return rest(sampson(units, Z)), column


def test_guesses_are_sorted_and_as_good_as_their_neighbours():
    few, Z, _ = lacking_one(0)
    few = TanhSum(few.vectors[:2], few.biases[:2], few.weights[:2], few.threshold)  # lacks two
    r, column = unexplained(few, Z)

    def left(x):
        return np.sum((r + x[-1] * column(x[:4], x[4])) ** 2)

    guesses = [np.r_[guess.vectors[2], guess.biases[2], guess.weights[2]]
               for guess in new_units(few, Z, np.random.default_rng(0))]
    costs = [left(x) for x in guesses]
    np.testing.assert_allclose(costs, sorted(costs), rtol=1e-9)
    assert costs[0] < 0.9 * costs[-1] < 0.9 * (r @ r)
    slope = derivative(left, guesses[0], 1e-5)
    curved = np.array([derivative(lambda x, j=j: derivative(left, x, 1e-3)[j], guesses[0], 1e-3)
                       for j in range(6)])
    assert slope @ np.linalg.solve(curved, slope) < 1e-3 * costs[0]  # a minimum, nearly


def test_the_candidates_that_explain_most_are_improved(monkeypatch):
    class Start:
        cost = 0.0

        def __init__(self, residual, x, jacobian, **options):
            self.x, self.residual, self.jacobian = x, residual, jacobian

    starts = []

    def keep(*arguments, **options):
        starts.append(Start(*arguments, **options))
        return starts[-1]

    few, Z, _ = lacking_one(1)
    few = replace(few, vectors=few.vectors * [[0.5], [1.0], [3.0]], biases=np.array([0, 0.2, 0.4]))
    r, column = unexplained(few, Z)
    monkeypatch.setattr(fitting, "least_squares", keep)
    new_units(few, Z, np.random.default_rng(1))
    gains = []
    for start in starts:
        a, beta, w = start.x[:4], start.x[4], start.x[5]
        c = column(a, beta)
        assert beta in few.biases and w == pytest.approx(-(r @ c) / (c @ c), rel=1e-6)
        np.testing.assert_allclose(start.residual(start.x), r + w * c, atol=1e-9 * np.abs(r).max())
        expected = derivative(start.residual, start.x)
        np.testing.assert_allclose(start.jacobian(start.x), expected,
                                   atol=1e-6 * np.abs(expected).max())
        gains.append((r @ c) ** 2 / (c @ c))
    assert gains == sorted(gains, reverse=True)

    # far better than vectors of the same lengths taken at random, which lie where they should
    lengths = np.linalg.norm(few.vectors, axis=1)
    rng = np.random.default_rng(2)
    A = rng.standard_normal((300, 4))
    A *= (np.exp(rng.uniform(np.log(lengths.min() / 2), np.log(2 * lengths.max()), 300))
          / np.linalg.norm(A, axis=1))[:, None]
    columns = np.array([column(a, 0.2) for a in A])
    usual = (columns @ r) ** 2 / (columns**2).sum(1)
    assert gains[-1] > np.quantile(usual, 0.98)
    monkeypatch.setattr(fitting, "SETTINGS", replace(SETTINGS, improved_candidates=3000))
    starts.clear()
    new_units(few, Z, np.random.default_rng(1))
    sizes = np.linalg.norm([start.x[:4] for start in starts], axis=1)
    assert lengths.min() / 2 < sizes.min() < 0.51 * lengths.min()
    assert 1.96 * lengths.max() < sizes.max() < 2 * lengths.max()


@pytest.mark.parametrize("factor", [0.0, np.inf, np.nan])
def test_vectors_out_of_all_bounds_are_refuted(factor):
    few, Z, _ = lacking_one(0)
    with np.errstate(invalid="ignore"), pytest.raises(Refuted, match="length 0 or infinity"):
        new_units(replace(few, vectors=few.vectors * [[1], [factor], [1]]), Z,
                  np.random.default_rng(0))


# Far away


def test_normals_far_away_are_the_directions_of_the_units():
    found = []
    for seed in range(10):
        units = random_units(seed, 6, 6)
        normals, Z, labels = hyperplane_normals(oracle_of(units), np.random.default_rng(seed))
        directions = units.vectors * np.sign(units.weights)[:, None]  # along which the label rises
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        cosines = normals @ directions.T
        assert (cosines.max(1) > 1 - 1e-6).all()
        assert len(set(cosines.argmax(1))) == len(normals)
        np.testing.assert_array_equal(labels, np.where(units(Z) > 0, 1, -1))
        found.append(len(normals))
    assert np.median(found) == 6


@pytest.mark.parametrize("seed", range(5))
def test_rough_weights_say_what_the_far_labels_say(seed):
    units = random_units(seed, 6, 6)
    units = replace(units, vectors=units.vectors * np.sign(units.weights)[:, None],
                    biases=units.biases * np.sign(units.weights), weights=abs(units.weights))
    Z = 1e4 * np.random.default_rng(seed).standard_normal((300, 6))
    labels = np.where(units(Z) > 0, 1, -1)
    weights, threshold = rough_weights(units.vectors, Z, labels)
    np.testing.assert_array_equal(np.sign(np.sign(Z @ units.vectors.T) @ weights - threshold),
                                  labels)
    assert np.linalg.norm(weights - units.weights) < 0.3
    assert np.sum(weights**2) + threshold**2 == pytest.approx(1)


def test_a_linear_programme_without_an_answer_is_no_tanh_machine(monkeypatch):
    nothing = SimpleNamespace(x=None, message="Numerical difficulties encountered.")
    monkeypatch.setattr(far_field, "linprog", lambda *arguments, **options: nothing)
    with pytest.raises(Refuted, match="no weights explain the far labels .Numerical difficulties"):
        rough_weights(np.eye(2), np.ones((1, 2)), np.ones(1))


@pytest.mark.parametrize("values", [lambda Z: (Z**2).sum(1) - 1,
                                    lambda Z: Z[:, 0]**2 - (Z[:, 1:]**2).sum(1),
                                    lambda Z: np.exp(-(Z**2).sum(1)) - 0.5])
def test_what_is_not_flat_far_away_is_refused(values):
    oracle = Oracle(lambda Z: values(Z) > 0, 4, positive=1)
    with pytest.raises(Refuted, match="far away the boundary shows no hyperplanes"):
        hyperplane_normals(oracle, np.random.default_rng(0))


def test_dependent_vectors_have_further_normals():
    units = random_units(3, 5, 3)
    rng = np.random.default_rng(0)
    oracle = oracle_of(units)
    normals, Z, labels = hyperplane_normals(oracle, rng)
    more = further_normals(oracle, normals, Z, labels, rng)
    directions = units.vectors / np.linalg.norm(units.vectors, axis=1, keepdims=True)
    assert len(normals) == 3 and len(more) > 3
    assert (np.abs(more @ directions.T).max(1) > 1 - 1e-6).all()


def test_normals_without_end_are_refused():
    relu = np.random.default_rng(1).standard_normal((12, 3))
    oracle = Oracle(lambda Z: np.maximum(Z @ relu.T, 0) @ np.resize([1, -1], 12) > 0, 3,
                    positive=1)
    rng = np.random.default_rng(0)
    with pytest.raises(Refuted, match="boundary has over 6|most boundary points"):
        further_normals(oracle, *hyperplane_normals(oracle, rng), rng)


# Nearby


def test_units_are_fitted_to_the_accuracy_of_the_brackets():
    found = []
    for seed in range(4):
        units, rng = random_units(seed), np.random.default_rng(seed)
        oracle = oracle_of(units)
        normals, Z, labels = hyperplane_normals(oracle, rng)
        rough, error = rough_units(oracle, normals, *rough_weights(normals, Z, labels), rng)
        fine, Z, width = fine_units(oracle, rough, error, rng)
        found.append(error_of(fine.vectors, units.vectors) < 1e-9)
        assert width < 1e-11 and np.abs(units(Z)).max() < 1e-10
    assert sum(found) >= 3


def test_a_boundary_that_is_not_where_the_units_say_is_refused():
    units, rng = random_units(0), np.random.default_rng(0)
    oracle = Oracle(lambda Z: Z[:, 0] > 1e6, 4, positive=1)
    with pytest.raises(Refuted, match="the boundary is not where the best fit says"):
        fine_units(oracle, units, 1e-3, rng)
    with pytest.raises(Refuted, match="looks like one, but not nearby"):
        rough_units(oracle, np.eye(4), np.ones(4) / 2, 0.0, rng)


def test_a_boundary_that_no_units_make_is_refused():
    rng = np.random.default_rng(0)
    oracle = Oracle(lambda Z: erf(4 * Z[:, 0]) + 0.8 * erf(5 * Z[:, 1]) > 0.1, 2, positive=1)
    start = TanhSum(np.diag([4.6, 5.7]), np.zeros(2), np.array([1.0, 0.8]), 0.1)
    with pytest.raises(Refuted, match="no sum of up to 5 tanh units passes through the boundary"):
        fine_units(oracle, start, 0.05, rng)


def test_zeros_lie_on_the_boundary_with_unit_gradients():
    units, rng = random_units(0), np.random.default_rng(0)
    Z, V = zeros(units, 30, 1e-13, rng)
    assert 10 < len(Z) <= 30 and Z.shape == V.shape
    np.testing.assert_allclose(sampson(units, Z), 0, atol=1e-13)
    G = units.gradient(Z)
    np.testing.assert_allclose(V, G / np.linalg.norm(G, axis=1, keepdims=True), rtol=1e-12)
    for factor in (0.0, 1e200, np.inf):
        bad = replace(units, vectors=units.vectors * [[factor], [1], [1], [1]])
        with np.errstate(invalid="ignore"), pytest.raises(Refuted, match="length 0 or infinity"):
            zeros(bad, 30, 1e-13, rng)


def test_units_that_are_not_needed_are_dropped():
    units, rng = random_units(0, k=3, m=3), np.random.default_rng(0)
    half = replace(units, vectors=np.vstack([units.vectors, units.vectors[0]]),
                   biases=np.full(4, 0.1), weights=np.append(units.weights, units.weights[0] / 2))
    half.weights[0] /= 2
    fine, _, _ = fine_units(oracle_of(units), half, 1e-4, rng)
    assert error_of(fine.vectors, units.vectors) < 1e-9


def test_units_with_biases_of_their_own_are_no_machine():
    units = random_units(0)
    Z, turned = boundary_of(units, 60), [1, -1, 1, -1]
    mirror = TanhSum(units.vectors * np.reshape(turned, (4, 1)), units.biases * turned,
                   units.weights * turned, units.threshold)
    common = tie_biases(mirror, Z, 1e-12)
    np.testing.assert_allclose(common.biases, 0.1, atol=1e-9)
    own = replace(units, biases=units.biases + [0, 0, 0, 2e-4])
    with pytest.raises(Refuted, match="4 tanh units fit.* from 0.1 to 0.1002.* a network"):
        tie_biases(own, boundary_of(own, 60), 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_weak_unit_shares_the_bias_of_the_others(seed):
    units = random_units(seed)
    units = replace(units, weights=units.weights * [1, 1, 1, 1e-8])
    off = replace(units, biases=units.biases + [0, 0, 0, 0.02])  # shows less than brackets are wide
    common = tie_biases(off, boundary_of(units, 60), 1e-12)
    np.testing.assert_allclose(common.biases, 0.1, atol=1e-9)


def test_a_weak_unit_of_another_bias_is_not_called_a_network_for_sure():
    units = random_units(0)
    own = replace(units, weights=units.weights * [1, 1, 1, 1e-5],
                  biases=units.biases + [0, 0, 0, 0.5])
    with pytest.raises(Refuted, match="a network, or a kernel machine with a unit too weak"):
        tie_biases(own, boundary_of(own, 60), 1e-12)


def test_a_bias_that_may_be_zero_is_zero():
    units = random_units(0, bias=0.0)
    rng = np.random.default_rng(0)
    noisy = replace(units, biases=1e-12 * rng.standard_normal(4))
    common = tie_biases(noisy, boundary_of(units, 60), 1e-12)
    assert (common.biases == 0).all() and error_of(common.vectors, units.vectors) < 1e-9


@pytest.mark.parametrize("bias", [0.0, 0.3, -0.3])
def test_the_machine_of_units_is_turned_where_labels_leave_it_open(bias):
    units, rng = random_units(2, bias=bias), np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((7, 4)))[0]
    towards = rng.standard_normal(7)
    machine = tanh_machine(units, basis, 2.0, towards)
    X = rng.standard_normal((500, 7))
    np.testing.assert_array_equal(machine.predict(X), np.where(units(X @ basis / 2) > 0, 1, -1))
    Y = machine.support_vectors
    sides = Y @ towards / np.linalg.norm(Y, axis=1)
    assert sides.min() >= 0 if bias == 0 else sides.sum() >= 0
    assert abs(machine.kernel.beta) == abs(bias) and np.abs(machine.weights).max() == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_basis_that_is_not_exact_is_mended(seed):
    rng = np.random.default_rng(seed)
    units = random_units(seed)
    true = np.linalg.qr(rng.standard_normal((9, 4)))[0]
    oracle = Oracle(lambda X: units(X @ true) > 0, 9, positive=1)
    same, basis = correct_span(oracle, units, true, rng)
    assert basis is true and same is units and oracle.queries == 2 * 4
    off = np.linalg.qr(true + 1e-6 * rng.standard_normal((9, 4)))[0]
    inside = replace(units, vectors=units.vectors @ true.T @ off)
    found, basis = correct_span(oracle, inside, off, rng)
    assert error_of(found.vectors @ basis.T, units.vectors @ true.T) < 1e-8


# The whole machine


@pytest.mark.parametrize("kernel, d, m, most", [(Tanh(1.0, 0.1), 30, 12, 4),
                                                (Tanh(3.0, -0.2), 12, 8, 8), (Tanh(2.0), 9, 4, 10)])
def test_tanh_machines_are_recovered(kernel, d, m, most):
    found, costs = 0, []
    for seed in range(5):
        model, features = random_model(kernel, d, m, seed)
        oracle = Oracle(model.predict, d)
        result = deconstruct(oracle, features, random_state=seed, progress=False)
        if not result.own_vectors:
            assert result.message
            continue

        # what is called the model's own is so
        found += 1
        machine, Y = result.machine, kernel.alpha * model.support_vectors
        assert result.kernel_type == "tanh" and result.rank == m
        assert min(result.agreement.values()) >= 0.999 and result.message == ""
        error = error_of(machine.support_vectors, Y)
        assert error < 1e-6 and abs(abs(machine.kernel.beta) - abs(kernel.beta)) < 1e-8
        if kernel.beta:  # one sign is open, that of all together
            sign = np.sign(machine.kernel.beta * kernel.beta)
            order = np.linalg.norm(sign * machine.support_vectors[:, None] - Y, axis=2).argmin(1)
            expected = sign * model.weights[order] / np.abs(model.weights).max()
            np.testing.assert_allclose(machine.weights, expected, atol=1e-6)
        X = np.random.default_rng(seed).standard_normal((20_000, d))
        assert (machine.predict(X) == model.predict(X)).mean() > 0.9999
        bits = (m * (d - m) + m * (m + 1) + 2) * np.log2(1 / max(error, 1e-13))
        costs.append(oracle.queries / bits)
    assert found >= 4 and np.median(costs) < most  # queries per bit: 2.6, 5.7 and 7.1


@pytest.mark.parametrize("seed", [7, 25])  # infinity shows one of their four units
def test_machines_with_most_units_hidden_are_recovered(seed):
    model, features = random_model(Tanh(1.0, 0.1), 30, 4, seed)
    result = deconstruct(Oracle(model.predict, 30), features, random_state=seed, progress=False)
    assert result.own_vectors
    assert error_of(result.machine.support_vectors, model.support_vectors) < 1e-6


def test_a_second_try_is_finer(monkeypatch):
    finer = []

    def refuted(family, evidence, factor):
        finer.append(factor)
        raise Refuted("not found")

    monkeypatch.setattr(TanhFamily, "_machine", refuted)
    class Found:
        def __init__(self, *ranks):
            self.ranks = iter(ranks)

        @property
        def rough_subspace(self):
            return SimpleNamespace(rank=next(self.ranks))

    # in the same S_Y; not in another one
    for ranks, expected in (((4, 4, 4), [1.0, SETTINGS.finer]), ((3, 4, 3, 3), [1.0, 1.0,
                                                                               SETTINGS.finer])):
        finer.clear()
        with pytest.raises(Refuted):
            TanhFamily().fit(Found(*ranks))
        assert finer == expected


@pytest.mark.parametrize("finer", [1.0, 0.1])
def test_all_parts_of_a_try_are_as_fine(monkeypatch, finer):
    passed = []

    def normals(oracle, rng, width):
        passed.append(width / SETTINGS.normal_width)
        return np.eye(2), np.array([[1.0, 1.0]]), np.array([1])

    def further(oracle, normals, Z, labels, rng, width):
        passed.append(width / SETTINGS.normal_width)
        return normals

    def rough(oracle, normals, weights, threshold, rng, factor):
        passed.append(factor)
        raise Refuted("enough")

    for name, part in (("hyperplane_normals", normals), ("further_normals", further),
                       ("rough_units", rough),
                       ("rough_weights", lambda *_: (np.array([-1.0, -1.0]), 0.0))):
        monkeypatch.setattr(family, name, part)
    evidence = SimpleNamespace(
        bounded=True, largest_fit=1000, rough_subspace=SimpleNamespace(basis=np.eye(3)[:, :2]),
        rng=np.random.default_rng(0),
        oracle=Oracle(lambda X: X[:, 0] > 0, 3), ledger=SimpleNamespace(stage=nullcontext),
        survey=SimpleNamespace(curvature_scale=1.0, features=np.eye(3)))
    with pytest.raises(Refuted, match="enough"):
        TanhFamily()._machine(evidence, finer)
    np.testing.assert_allclose(passed, [finer] * 3)


def test_finer_directions_and_rough_fits_have_smaller_errors():
    units, coarse, fine = random_units(3), [], []
    oracle = Oracle(lambda X: units(X) > 0, units.vectors.shape[1], positive=1)
    true = units.vectors / np.linalg.norm(units.vectors, axis=1, keepdims=True)
    for errors, finer in ((coarse, 1.0), (fine, SETTINGS.finer)):
        for seed in range(2):
            rng = np.random.default_rng(seed)
            normals, Z, labels = hyperplane_normals(oracle, rng, finer * SETTINGS.normal_width)
            sines = [min(np.linalg.norm(n - t) for t in (*true, *-true)) for n in normals]
            _, residual = rough_units(oracle, normals, *rough_weights(normals, Z, labels), rng,
                                      finer)
            errors.append((max(sines), residual))
    assert (np.median(fine, axis=0) < 0.3 * np.median(coarse, axis=0)).all()


def test_a_trained_machine_with_a_unit_that_infinity_hides_is_recovered():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(3).permutation(len(y))
    svc = SVC(kernel="sigmoid").fit(X[order[:20]], y[order[:20]])
    labels = svc.predict(X)
    features = np.concatenate([X[labels == 1][:5], X[labels == 0][:5]])
    found = []
    for seed in range(3):
        result = deconstruct(Oracle(svc.predict, 30), features, random_state=seed, progress=False)
        found.append(result.own_vectors)
        if result.own_vectors:
            assert result.machine.kernel == Tanh(1.0, 0.0)
            error = error_of(result.machine.support_vectors, svc._gamma * svc.support_vectors_)
            assert error < 1e-6
    assert sum(found) >= 2


@pytest.mark.parametrize("activation, spread", [
    (np.tanh, 0.01), (np.tanh, 0.5), (erf, 0), (lambda u: u / (1 + abs(u)), 0),
    (lambda u: (u + 1)**5, 0)])
def test_other_functions_of_products_are_refused(activation, spread):
    predict, features = network(activation, spread, 1, dimension=10, units=5)
    result = deconstruct(Oracle(predict, 10), features, random_state=0, progress=False,
                         surrogate=False)
    assert result.machine is None and not result.own_vectors
    assert result.message


def test_a_logistic_network_with_one_bias_is_a_tanh_machine():
    logistic = lambda u: 1 / (1 + np.exp(-np.clip(u, -500, 500)))  # noqa: E731  (1 + tanh(u/2))/2
    predict, features = network(logistic, 0.0, 2, dimension=10, units=5)
    result = deconstruct(Oracle(predict, 10), features, random_state=0, progress=False)
    assert result.own_vectors
    assert abs(result.machine.kernel.beta) == pytest.approx(0.05, abs=1e-9)


def test_the_rank_is_that_of_the_vectors_where_normals_show_too_many_dimensions():
    model = random_model(Tanh(3.0, -0.2), 14, 7, 6)[0]
    features = np.random.default_rng(56).standard_normal((60, 14))
    result = deconstruct(Oracle(model.predict, 14), features, random_state=4, progress=False)
    assert result.own_vectors and result.rank == result.n_support == 7
    assert largest_sine(result.subspace, model.support_vectors.T) < 1e-6


# Are the units the model's own?

@pytest.mark.parametrize("units, rank, own", [(1, 1, False), (2, 2, False), (3, 3, True),
                                              (9, 9, True), (4, 3, False)])
def test_three_or_more_independent_units_are_the_models_own(units, rank, own):
    assert (doubt(units, rank) == "") is own


def units_at_boundary_points(weights, threshold, shift, n=1500):
    """Columns: units and a constant, at complex boundary points; the first ones are f's own."""
    m, rng = len(weights), np.random.default_rng(0)
    T = np.tanh(rng.standard_normal((n, m - 1)) + 1j * rng.uniform(0, np.pi, (n, m - 1)))
    T = np.c_[T, (threshold - T @ weights[:-1]) / weights[-1]]
    U = np.arctanh(T) + 1j * np.pi * rng.integers(0, 2, (n, m))
    forms = [c for c in product((-1, 0, 1), repeat=m)
             if sum(map(abs, c)) > 1 and next(filter(None, c)) > 0]
    own = [np.tanh(U[:, i]) for i in range(m)]
    others = [np.tanh(scale * U @ np.array(c) + shift) for c in forms for scale in (0.5, 1, 2)]
    lines = [np.tanh(scale * U[:, i] + bias) for i in range(m)
             for scale, bias in ((0.5, 0), (2, 0), (1, 0.3))]
    columns = np.stack([*own, np.ones(n), *others, *lines], axis=1)
    columns = columns[np.abs(columns).max(axis=1) < 30]  # not next to a pole
    return columns / np.linalg.norm(columns, axis=0)


@pytest.mark.parametrize("weights, threshold", [
    ([1, 0.7, 0.45], 0.2), ([1, 1, 1], 0), ([1, 1, 1], 1), ([1, 1, -2], 0), ([1, 2, -3], 0),
    ([1, 0.5, -0.5], 0.3), ([1, 1, 0.6], 0.6), ([1, 1, 0.6, 0.6], 0), ([1, 1, 1, 1], 0)])
def test_no_other_units_vanish_on_the_boundary_whatever_the_weights(weights, threshold):
    weights = np.array(weights, float)
    values = np.linalg.svd(units_at_boundary_points(weights, threshold, 0), compute_uv=False)
    assert values[-1] < 1e-10 * values[0] and values[-2] > 1e-6 * values[0]


def test_units_with_a_complex_shift_can_vanish_on_it():
    """The proof needs real units: coth(u_1 - u_2) and the like give two more relations."""
    columns = units_at_boundary_points(np.array([1, 2, -3.0]), 0, 0.5j * np.pi)
    values = np.linalg.svd(columns, compute_uv=False)
    assert (values < 1e-10 * values[0]).sum() == 3


def test_more_units_than_dimensions_are_not_called_the_models_own():
    rng = np.random.default_rng(3)
    Y = np.r_[np.eye(3), [[1., 1., 1.]]] @ rng.standard_normal((3, 8))
    model = KernelMachine(Tanh(1.0, 0.1), Y, [1., -0.8, 0.6, 0.9], 0.2)
    features = rng.standard_normal((20, 8))
    result = deconstruct(Oracle(model.predict, 8), features, random_state=0, progress=False)
    assert result.kernel_type == "tanh" and result.rank == 3
    assert not result.own_vectors and "more tanh units than dimensions" in result.message


@pytest.mark.parametrize("third, error, rank", [
    ([0, 0, 1, 0], 0.0, 3), ([1, 1, 1e-8, 0], 0.0, 2), ([1, 1, 1e-5, 0], 1e-7, 3),
    ([1, 1, 1e-5, 0], 9e-5, 2)])
def test_only_vectors_that_are_independent_by_more_than_their_errors_are_called_the_models_own(
        monkeypatch, third, error, rank):
    """Three units where the normals had shown four dimensions."""
    Y = np.array([[1, 0, 0, 0], [0, 1, 0, 0], third], float)
    found = KernelMachine(Tanh(1.0, 0.1), Y, [1.0, -0.8, 0.6], 0.2), np.eye(4), error
    monkeypatch.setattr(TanhFamily, "_machine", lambda family, evidence, finer: found)
    candidate = TanhFamily().fit(SimpleNamespace(rough_subspace=SimpleNamespace(rank=4)))
    assert candidate.own_vectors is (rank == 3) and candidate.rank == rank
    assert largest_sine(candidate.basis, Y[:rank].T) < 1e-4


@pytest.mark.parametrize("error, own", [
    (1e-5, True), (2e-4, False), (np.nan, False), (np.inf, False)])
def test_faint_tanh_vectors_are_not_called_the_models_own(monkeypatch, error, own):
    machine = KernelMachine(Tanh(1.0, 0.1), np.eye(4), [1.0, -0.8, 0.6, 0.5], 0.2)
    found = machine, np.eye(4), error
    monkeypatch.setattr(TanhFamily, "_machine", lambda family, evidence, finer: found)
    candidate = TanhFamily().fit(SimpleNamespace(rough_subspace=SimpleNamespace(rank=4)))
    assert candidate.own_vectors is own and ("faint" in candidate.caveat) is not own


@pytest.mark.parametrize("most, own", [(1000, False), (10, True)])  # numbers: small, too many
def test_a_machine_that_brackets_refute_is_not_called_the_models_own(monkeypatch, most, own):
    box, features = random_model(Tanh(1.0, 0.1), 8, 3, 0)
    small = sharpening.can_be_sharpened
    monkeypatch.setattr(family, "sharpen", lambda *arguments: None)
    monkeypatch.setattr(family, "can_be_sharpened", lambda evidence, m: small(evidence, m, most))
    result = deconstruct(Oracle(box.predict, 8), features, progress=False)
    assert (result.kernel_type, result.rank, result.own_vectors) == ("tanh", 3, own)
    assert ("errors are not known" in result.message) is not own


def relations(weights, threshold, seed=0, n=600):
    """How many sums of many tanh units vanish where sum_i w_i tanh u_i = b, for complex u."""
    # complex points there: all branches of artanh
    rng, m = np.random.default_rng(seed), len(weights)
    t = rng.standard_normal((n, m)) + 1j * rng.standard_normal((n, m))
    t[:, -1] = (threshold - t[:, :-1] @ weights[:-1]) / weights[-1]
    u = np.arctanh(t) + 1j * np.pi * rng.integers(-2, 3, (n, m))

    # units in many directions, the m own ones among them, and a constant
    directions = np.array(list(product((0, 0.5, -0.5, 1, -1, 2), repeat=m)))
    first = np.array([c[c != 0][0] if c.any() else 0 for c in directions])
    values = np.tanh(u @ directions[first > 0].T)
    values = np.c_[values, np.ones(n)]
    return int((np.linalg.svd(values / np.linalg.norm(values, axis=0))[1] < 1e-9).sum())


@pytest.mark.parametrize("weights, threshold, alone", [
    ([1, 1.7, 0.6], 0.3, True), ([1, 1.7, 0.6], 0, True), ([2, 3, 4], 2, True),
    ([1, 1], 0, False)])                             # u_1 = -u_2: any unit along both will do
def test_no_other_sum_of_units_vanishes_on_the_boundary(weights, threshold, alone):
    assert (relations(np.array(weights, float), threshold) == 1) is alone
