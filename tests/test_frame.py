"""Coordinates of a search: nothing depends on the units of the features, or on where 0 is."""

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh, deconstruct, upgrade
from decon.extraction.agreement import agreement_test
from decon.extraction.frame import Frame, frames, in_given_coordinates, spread_of
from decon.extraction.result import Deconstruction
from decon.families.cubic.forms import machine_of_forms
from decon.families.protocol import Candidate
from decon.families.relu.network import ReluNetwork
from decon.machine import ScaledMachine
from experiments.units import random_box

KERNELS = {"linear": Linear(), "quadratic": Polynomial(2), "cubic": Polynomial(3, coef0=0.7),
           "tanh": Tanh(1.0, 0.1), "gaussian": Gaussian(1.5)}
FRAME = Frame(np.array([3.0, -5.0, 0.0, 1e3]), np.array([1.0, 1e-2, 50.0, 7.0]))


def behind_a_scaler(kernel, seed, ratio, offset=0.0, d=10, m=3):
    """A random machine behind a scaler, and 300 points of the spreads that it expects."""
    rng = np.random.default_rng(seed)
    units = ratio ** rng.permutation(np.linspace(0, 1, d))
    machine = KernelMachine.random(kernel, d, m, seed)
    origin = offset * units * rng.choice([-1, 1], d)
    X = origin + units * rng.standard_normal((300, d))
    return ScaledMachine(machine, origin, units), X


def typical(model, X, n=10):
    labels = model.predict(X)
    return np.concatenate([X[labels == side][:n] for side in (1, -1)])


# maps


def test_coordinates_and_points_are_inverse_to_each_other():
    X = np.random.default_rng(0).standard_normal((20, 4)) * 100
    np.testing.assert_allclose(FRAME.points(FRAME.coordinates(X)), X, rtol=1e-12)


def test_a_view_answers_like_the_oracle():
    machine = KernelMachine.random(Gaussian(2.0), 4, 3)
    U = np.random.default_rng(0).standard_normal((200, 4))
    model = ScaledMachine(machine, FRAME.origin, FRAME.units)
    assert (FRAME.view(Oracle(model.predict, 4))(U) == machine.predict(U)).all()


@pytest.mark.parametrize("kernel", KERNELS.values())
def test_normals_and_gradients_follow_the_map(kernel):
    machine = KernelMachine.random(kernel, 4, 3)
    model = ScaledMachine(machine, FRAME.origin, FRAME.units)
    U = np.random.default_rng(1).standard_normal((5, 4))
    X, G = FRAME.points(U), machine.gradient(U)
    for k, step in enumerate(1e-5 * FRAME.units):
        ahead, behind = (model.decision_function(X + h * np.eye(4)[k]) for h in (step, -step))
        np.testing.assert_allclose(model.gradient(X)[:, k], (ahead - behind) / (2 * step),
                                   rtol=1e-4, atol=1e-7 / FRAME.units[k])
    N = FRAME.normals(G / np.linalg.norm(G, axis=1, keepdims=True))
    g = model.gradient(X)
    np.testing.assert_allclose(N, g / np.linalg.norm(g, axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("radial", [False, True])
def test_the_span_of_the_support_vectors_follows_the_map(radial):
    frame = Frame(np.zeros(4), FRAME.units)
    Y = np.random.default_rng(2).standard_normal((2, 4))
    basis = frame.span(np.linalg.qr(Y.T)[0], radial)
    there = Y * frame.units if radial else Y / frame.units
    np.testing.assert_allclose(there @ basis @ basis.T, there, rtol=1e-9)


# machines


@pytest.mark.parametrize("name", ["linear", "quadratic", "cubic"])
@pytest.mark.parametrize("seed", range(5))
def test_a_polynomial_stays_one_in_given_coordinates(name, seed):
    machine = KernelMachine.random(KERNELS[name], 4, 3, seed)
    moved = machine.in_given_units(FRAME.origin, FRAME.units)
    model = ScaledMachine(machine, FRAME.origin, FRAME.units)
    X = FRAME.points(np.random.default_rng(seed).standard_normal((50, 4)))
    ratio = moved.decision_function(X) / model.decision_function(X)
    assert ratio.min() > 0
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)


@pytest.mark.parametrize("kernel, origin, units", [
    (Tanh(2.0, 0.3), np.zeros(4), FRAME.units), (Gaussian(2.0), FRAME.origin, np.full(4, 3.0))])
def test_a_tanh_with_other_units_and_a_gaussian_elsewhere_stay_what_they_are(kernel, origin, units):
    machine = KernelMachine.random(kernel, 4, 3)
    moved, model = machine.in_given_units(origin, units), ScaledMachine(machine, origin, units)
    X = origin + units * np.random.default_rng(0).standard_normal((50, 4))
    ratio = moved.decision_function(X) / model.decision_function(X)
    assert type(moved.kernel) is type(kernel) and ratio[0] > 0
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("error", [0.0, 1e-10])
def test_a_homogeneous_polynomial_found_about_another_origin_is_one_again(degree, error):
    # gamma z.x = gamma z.(x - origin) + gamma z.origin, and the last is known up to an error
    rng, origin = np.random.default_rng(degree), np.array([60.0, 0.3, -2.0, 5.0])
    Z, w, units = rng.standard_normal((3, 4)), rng.uniform(0.5, 1, 3), FRAME.units
    h = (Z @ origin) * (1 + error * rng.standard_normal(3))
    about = KernelMachine(Polynomial(degree), Z * units / h[:, None], w * h**degree, 0.7)
    moved = about.in_given_units(origin, units)
    model = KernelMachine(Polynomial(degree, coef0=0.0), Z, w, 0.7)
    X = origin + units * rng.standard_normal((50, 4))
    ratio = moved.decision_function(X) / model.decision_function(X)
    assert moved.kernel.coef0 == 0 and np.linalg.norm(moved.support_vectors) < 100
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


@pytest.mark.parametrize("kernel, says", [(Tanh(), "different biases"), (Gaussian(), "different")])
def test_what_does_not_stay_a_kernel_machine_is_refused(kernel, says):
    machine = KernelMachine.random(kernel, 4, 3)
    with pytest.raises(ValueError, match=says):
        machine.in_given_units(FRAME.origin, FRAME.units)


# which coordinates


def test_spreads_of_constant_features_are_those_of_the_others():
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1, 10, 0]
    spread = spread_of(X)
    assert spread[2] == pytest.approx(np.median(spread[:2]))
    assert (spread_of(np.ones((5, 2))) == 1).all()
    X[:, 2] = 8.72e-6  # whose mean is off by a rounding error
    assert np.std(X[:, 2]) > 0 and spread_of(X)[2] == pytest.approx(spread[2])


def test_coordinates_are_the_given_ones_unless_features_are_unlike():
    X = np.random.default_rng(0).standard_normal((50, 4))
    assert [frame.given for frame in frames(X)] == [True]
    assert [frame.given for frame in frames(X * [1, 1, 1, 30])] == [True, False]
    assert [frame.given for frame in frames(X * [1, 1, 1, 1e4])] == [False, True]
    assert [frame.origin.any() for frame in frames(X + 100)] == [True, False]
    bounds = np.zeros(4), np.ones(4)
    assert [frame.given for frame in frames(X * [1, 1, 1, 1e4], bounds)] == [True]


def test_the_caller_may_say_which_units():
    X = np.random.default_rng(0).standard_normal((50, 3)) * [1, 1, 1e4]
    assert [frame.given for frame in frames(X, units="given")] == [True]
    assert [frame.units.tolist() for frame in frames(X, units=[1, 2, 3])] == [[1, 2, 3]]


@pytest.mark.parametrize("units", ["metres", [1.0, 2.0], [1.0, 0.0, 1.0], [1.0, np.nan, 1.0]])
def test_units_that_are_none(units):
    with pytest.raises(ValueError, match="units must be"):
        deconstruct(Oracle(lambda X: X[:, 0] > 0, 3), np.eye(3) - 0.5, units=units)


# the whole algorithm


@pytest.mark.parametrize("name", ["linear", "quadratic", "cubic"])
@pytest.mark.parametrize("ratio, offset", [(1e6, 0.0), (1e12, 0.0), (1.0, 1e4), (1e3, 100.0)])
@pytest.mark.parametrize("seed", range(2))
def test_polynomials_behind_a_scaler(name, ratio, offset, seed):
    model, X = behind_a_scaler(KERNELS[name], seed, ratio, offset)
    result = deconstruct(Oracle(model.predict, 10), typical(model, X), progress=False)
    assert result.kernel_type == name and result.agreement["close"] == 1
    nearby = np.concatenate([X, X + 0.3 * model.units * np.random.default_rng(1).standard_normal(
        X.shape)])
    assert (result.machine.predict(nearby) == model.predict(nearby)).all()


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1e5])
def test_a_gaussian_behind_a_scaler_is_one_in_the_units_of_the_training_rows(ratio):
    model, X = behind_a_scaler(KERNELS["gaussian"], 1, ratio)
    model.units = X.std(axis=0)
    result = deconstruct(Oracle(model.predict, 10), X, progress=False)
    assert result.kernel_type == "gaussian" and result.own_vectors
    assert isinstance(result.machine, ScaledMachine) and "behind a scaler" in result.summary()
    np.testing.assert_allclose(result.machine.kernel.sigma, 1.5, rtol=1e-6)
    off = (result.machine.support_vectors[:, None] - model.support_vectors) / model.units
    assert np.linalg.norm(off, axis=2).min(1).max() < 1e-5
    vectors = model.support_vectors @ result.subspace @ result.subspace.T
    np.testing.assert_allclose((vectors - model.support_vectors) / model.units, 0, atol=1e-5)


def test_a_gaussian_in_given_units_is_found_whatever_the_spreads():
    model = KernelMachine.random(Gaussian(1.5), 10, 3, 2)
    X = np.random.default_rng(0).standard_normal((300, 10)) * np.geomspace(0.03, 1, 10)
    model.threshold += np.median(model.decision_function(X))
    result = deconstruct(Oracle(model.predict, 10), typical(model, X), progress=False)
    assert result.kernel_type == "gaussian" and isinstance(result.machine, KernelMachine)


def test_a_boundary_displaced_in_small_units_does_not_pass():
    model = KernelMachine(Linear(), [[1.0, 1e-6]], [1.0], 0.0)
    displaced = KernelMachine(Linear(), [[1.0, 1e-6]], [1.0], 1e-3)
    points = np.random.default_rng(0).standard_normal((1000, 2)) * [1, 1e6]
    oracle = Oracle(model.predict, 2)
    assert agreement_test(oracle, displaced, points, 1e-5 * 1e6)["close"] == 1  # as if alike
    assert agreement_test(oracle, displaced, points, 1e-5 * spread_of(points))["close"] == 0.5
    assert agreement_test(oracle, model, points, 1e-5 * spread_of(points))["close"] == 1


def test_a_machine_behind_a_scaler_survives_a_file(tmp_path):
    model, X = behind_a_scaler(KERNELS["gaussian"], 0, 1e3)
    Deconstruction("gaussian", machine=model, units=model.units).save(tmp_path / "result")
    again = Deconstruction.load(tmp_path / "result")
    np.testing.assert_array_equal(again.machine.decision_function(X), model.decision_function(X))
    assert repr(again.machine) == repr(model)


def test_an_upgrade_of_a_machine_behind_a_scaler_is_one_in_its_units():
    model, X = behind_a_scaler(KERNELS["gaussian"], 0, 1e3)
    y = model.predict(X)
    with pytest.raises(ValueError, match="upgrade machine.machine"):
        upgrade(Deconstruction("gaussian", machine=model), X[:40], y[:40])
    upgraded = upgrade(model.machine, model.scaled(X[:40]), y[:40], progress=False)
    assert (upgraded.predict(model.scaled(X)) == y).mean() > 0.9


# cubics far from the origin


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("constant", [0.0, 1e-6, 1e-3, 1.0])
def test_vectors_about_an_origin_far_away_count_as_known_if_they_are(seed, constant):
    # forms with relative errors of 1e-9: constants of 1e-6 lose three digits, and those in x more
    rng, d, e = np.random.default_rng(seed), 8, 1e-9
    origin = 100 * rng.standard_normal(d)
    A, h = rng.standard_normal((3, d)), constant * np.array([1.0, -2.0, 1.5])
    noisy = A * (1 + e * rng.standard_normal(A.shape))
    about = machine_of_forms(noisy, h + A @ origin, 1.0, 1.0, 0.0)  # of u = x - origin
    candidate = Candidate(about, np.linalg.qr(A.T)[0], 3, True, error=e)
    *moved, scaled = in_given_coordinates(candidate, Frame(origin, np.ones(d)))
    assert isinstance(scaled.machine, ScaledMachine) and scaled.own_vectors
    assert moved[0].machine.kernel.coef0 == (constant > 1e-5)
    if moved[0].machine.kernel.coef0:
        Y = A / h[:, None]
        errors = np.linalg.norm(moved[0].machine.support_vectors - Y, axis=1)
        errors /= np.linalg.norm(Y, axis=1)
        assert moved[0].own_vectors == (constant == 1.0)
        assert not moved[0].own_vectors or errors.max() < 1e-4
    else:  # else with constants that are nothing but errors, and lengths that are not known
        assert moved[0].own_vectors and not moved[1].own_vectors
        assert "faint" in moved[1].caveat


@pytest.mark.parametrize("seed", [3, 7])
def test_a_boundary_that_is_flat_in_the_spreads_of_the_features_is_searched_as_it_is(seed):
    # units from 1 to 1e12 and no scaler: in the features' spreads the cubic is flat to 11 digits
    predict, X, _ = random_box("cubic", "none", 0.0, 1e12, seed)
    labels = predict(X)
    features = np.concatenate([X[labels == side][:20] for side in (1, -1)])
    result = deconstruct(Oracle(predict, 12), features, random_state=seed, progress=False)
    assert result.kernel_type == "cubic" and min(result.agreement.values()) == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1.0, 1e4, 1e6])
def test_errors_of_constants_far_away_are_those_of_the_units_of_the_search(seed, size):
    # one feature of small spread, far from 0, beside seven of a large one
    rng, d, e = np.random.default_rng(seed), 8, 1e-10
    units = np.r_[1.0, np.full(d - 1, size)]
    origin = np.r_[1e6, np.zeros(d - 1)]
    A, h = rng.standard_normal((3, d)), 1e-2 * np.array([1.0, -2.0, 1.5])
    A[:, 0] /= size
    about = A + e * np.linalg.norm(A, axis=1, keepdims=True) * rng.standard_normal(A.shape)
    machine = machine_of_forms(about, h + A @ (origin / units), 1.0, 1.0, 0.0)
    candidate = Candidate(machine, np.linalg.qr(A.T)[0], 3, True, error=4 * e)
    moved = in_given_coordinates(candidate, Frame(origin, units))[0]
    errors = np.linalg.norm(moved.machine.support_vectors * units - A / h[:, None], axis=1)
    assert (errors / np.linalg.norm(A / h[:, None], axis=1)).max() > 1e-4
    assert not moved.own_vectors and "faint" in moved.caveat


@pytest.mark.parametrize("m, origin, kept", [(3, 60.0, True), (2, 60.0, False), (2, 0.0, True)])
def test_two_vectors_of_a_homogeneous_cubic_are_not_claimed_after_a_move(m, origin, kept):
    rng, d = np.random.default_rng(m), 6
    A, origin = rng.standard_normal((m, d)), np.full(d, origin)
    units = np.full(d, 2.0)
    h = A @ (origin / units) if origin.any() else np.ones(m)
    about = machine_of_forms(A, h, 1.0, 1.0, 0.0)
    candidate = Candidate(about, np.linalg.qr(A.T)[0], m, True, error=1e-11)
    moved = in_given_coordinates(candidate, Frame(origin, units))[0]
    assert moved.machine.kernel.coef0 == (not origin.any())
    assert moved.own_vectors == kept and (moved.caveat == "") == kept


def test_a_network_of_rectifiers_is_one_in_given_coordinates():
    rng = np.random.default_rng(0)
    network = ReluNetwork(rng.standard_normal((3, 4)), rng.standard_normal(3), np.ones(3),
                          np.zeros(4), 0.3)
    frame = Frame(np.full(4, 60.0), np.logspace(0, 3, 4))
    moved, scaled = in_given_coordinates(Candidate(network, np.eye(4), 4, True), frame)
    X = frame.points(rng.standard_normal((500, 4)))
    assert isinstance(moved.machine, ReluNetwork) and moved.own_vectors
    assert (moved.machine.predict(X) == scaled.machine.predict(X)).all()


@pytest.mark.parametrize("seed", range(4))
def test_constants_far_away_are_not_claimed_where_errors_are_not_known(seed):
    # seven vectors in five dimensions: no estimate
    rng, d = np.random.default_rng(seed), 5
    A, h, origin = rng.standard_normal((7, d)), np.full(7, 0.1), np.full(d, 50.0)
    about = machine_of_forms(A, h + A @ origin, 1.0, 1.0, 0.0)
    candidate = Candidate(about, np.eye(d), d, True)
    moved, scaled = in_given_coordinates(candidate, Frame(origin, np.ones(d)))
    assert moved.machine.kernel.coef0 == 1 and not moved.own_vectors
    assert "not known" in moved.caveat and scaled.own_vectors
