"""Tanh machines: their directions at infinity, the fit of units, the whole machine."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, Tanh, deconstruct
from decon.bracketing import bisect_along
from decon.infinity import further_normals, rough_weights, unit_normals
from decon.tanh import rough_units, sharp_units, tanh_machine, with_common_bias, without_misses
from decon.units import Units, fit_units, new_units, sampson


def random_units(seed, k=4, m=4, bias=0.1):
    """Units of lengths from 4 to 8, the threshold somewhere between their sums."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((max(k, m), m)))[0][:k] + 0.2 * rng.standard_normal((k, m))
    A *= (rng.uniform(4, 8, k) / np.linalg.norm(A, axis=1))[:, None]
    units = Units(A, np.full(k, bias), rng.uniform(0.3, 1, k) * rng.choice([-1, 1], k), 0.0)
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


# Units and their fit


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), smoothing=st.sampled_from([0.0, 0.3]))
def test_the_jacobian_is_the_derivative(seed, smoothing):
    rng = np.random.default_rng(seed)
    units = Units(rng.standard_normal((3, 2)), rng.standard_normal(3), rng.standard_normal(3), 0.2)
    Z, h = rng.standard_normal((5, 2)), 1e-6
    r, *parts = sampson(units, Z, smoothing)
    for name, part in zip(("vectors", "biases", "weights"), parts[:3], strict=True):
        d = rng.standard_normal(getattr(units, name).shape)
        up, down = (sampson(replace(units, **{name: getattr(units, name) + s * h * d}), Z,
                            smoothing, jacobian=False) for s in (1, -1))
        analytic = (part * d).reshape(5, -1).sum(1)
        scale = np.abs(part).max() * (1 + np.abs(r).max() / np.abs(r).min())
        np.testing.assert_allclose((up - down) / (2 * h), analytic, atol=1e-5 * scale)
    up, down = (sampson(replace(units, threshold=0.2 + s * h), Z, smoothing, jacobian=False)
                for s in (1, -1))
    np.testing.assert_allclose((up - down) / (2 * h), parts[3][:, 0], rtol=1e-4)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_the_residual_is_the_distance_to_first_order(seed):
    units = random_units(seed)
    Z = boundary_of(units, 20, seed)
    V = units.gradient(Z)
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    away = 1e-7 * units.scale * np.linspace(-1, 1, 20)
    np.testing.assert_allclose(sampson(units, Z + away[:, None] * V, jacobian=False), away,
                               atol=1e-9 * units.scale)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.1, 10), smoothing=st.sampled_from([0, 0.3]))
def test_the_residual_does_not_change_with_the_scale_of_f(seed, factor, smoothing):
    units = random_units(seed)
    Z = np.random.default_rng(seed).standard_normal((9, 4))
    scaled = replace(units, weights=factor * units.weights, threshold=factor * units.threshold)
    np.testing.assert_allclose(sampson(scaled, Z, smoothing, jacobian=False),
                               sampson(units, Z, smoothing, jacobian=False), rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("biases", ["own", "common", "kept"])
def test_a_fit_finds_the_units_again(seed, biases):
    units = random_units(seed)
    rng = np.random.default_rng(seed)
    Z = boundary_of(units, 60, seed)
    start = Units(units.vectors * rng.uniform(0.9, 1.1, (4, 4)),
                  units.biases if biases == "kept" else np.zeros(4),
                  units.weights * rng.uniform(0.9, 1.1, 4), units.threshold)
    found, residual = fit_units(start, Z, biases, smoothing=(0.3, 0.0))
    assert residual < 1e-13 and error_of(found.vectors, units.vectors) < 1e-9
    np.testing.assert_allclose(found.biases, 0.1, atol=1e-9)
    np.testing.assert_allclose(found.weights, units.weights, atol=1e-9)


def test_a_fit_of_lengths_keeps_the_directions():
    units = random_units(1)
    start = replace(units, vectors=units.vectors * [[0.5], [2.0], [1.5], [0.7]])
    found, residual = fit_units(start, boundary_of(units, 30), lengths_only=True,
                                smoothing=(1, 0.3, 0))
    cosines = (found.vectors * start.vectors).sum(1) / np.linalg.norm(found.vectors, axis=1)
    np.testing.assert_allclose(cosines, np.linalg.norm(start.vectors, axis=1), rtol=1e-12)
    assert residual < 1e-13


@pytest.mark.parametrize("seed", range(4))
def test_a_missing_unit_is_guessed(seed):
    units = random_units(seed)
    units = replace(units, weights=units.weights * [1, 1, 1, 0.1]).normalised()
    Z = boundary_of(units, 60, seed)
    few = Units(units.vectors[:3], units.biases[:3], units.weights[:3], units.threshold)
    guesses = new_units(few, Z, np.random.default_rng(seed))
    residuals = [fit_units(guess, Z, smoothing=(0.3, 0.03, 0.0))[1] for guess in guesses]
    assert min(residuals) < 1e-13


# Far away


@pytest.mark.parametrize("seed", range(10))
def test_normals_far_away_are_the_directions_of_the_units(seed):
    units = random_units(seed, 6, 6)
    normals, Z, labels = unit_normals(oracle_of(units), np.random.default_rng(seed))
    directions = units.vectors * np.sign(units.weights)[:, None]  # along which the label rises
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    cosines = normals @ directions.T
    assert (cosines.max(1) > 1 - 1e-6).all()
    assert len(set(cosines.argmax(1))) == len(normals) >= 5
    np.testing.assert_array_equal(labels, np.where(units(Z) > 0, 1, -1))


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


@pytest.mark.parametrize("values", [lambda Z: (Z**2).sum(1) - 1,
                                    lambda Z: Z[:, 0]**2 - (Z[:, 1:]**2).sum(1),
                                    lambda Z: np.exp(-(Z**2).sum(1)) - 0.5])
def test_what_is_not_flat_far_away_is_refused(values):
    oracle = Oracle(lambda Z: values(Z) > 0, 4, positive=1)
    with pytest.raises(ArithmeticError, match="far away the boundary shows no hyperplanes"):
        unit_normals(oracle, np.random.default_rng(0))


def test_dependent_vectors_have_further_normals():
    units = random_units(3, 5, 3)
    rng = np.random.default_rng(0)
    oracle = oracle_of(units)
    normals, Z, labels = unit_normals(oracle, rng)
    more = further_normals(oracle, normals, Z, labels, rng)
    directions = units.vectors / np.linalg.norm(units.vectors, axis=1, keepdims=True)
    assert len(normals) == 3 and len(more) > 3
    assert (np.abs(more @ directions.T).max(1) > 1 - 1e-6).all()


def test_normals_without_end_are_refused():
    relu = np.random.default_rng(1).standard_normal((12, 3))
    oracle = Oracle(lambda Z: np.maximum(Z @ relu.T, 0) @ np.resize([1, -1], 12) > 0, 3,
                    positive=1)
    rng = np.random.default_rng(0)
    with pytest.raises(ArithmeticError, match="more than .* hyperplanes"):
        further_normals(oracle, *unit_normals(oracle, rng), rng)


# Nearby


@pytest.mark.parametrize("seed", range(4))
def test_units_become_sharp(seed):
    units, rng = random_units(seed), np.random.default_rng(seed)
    oracle = oracle_of(units)
    normals, Z, labels = unit_normals(oracle, rng)
    rough, error = rough_units(oracle, normals, *rough_weights(normals, Z, labels), rng)
    sharp, Z, width = sharp_units(oracle, rough, error, rng)
    assert error_of(sharp.vectors, units.vectors) < 1e-9
    assert width < 1e-11 and np.abs(units(Z)).max() < 1e-10


def test_units_with_biases_of_their_own_are_no_machine():
    units = random_units(0)
    Z, turned = boundary_of(units, 60), [1, -1, 1, -1]
    mirror = Units(units.vectors * np.reshape(turned, (4, 1)), units.biases * turned,
                   units.weights * turned, units.threshold)
    common = with_common_bias(mirror, Z, 1e-12)
    np.testing.assert_allclose(common.biases, 0.1, atol=1e-9)
    own = replace(units, biases=units.biases + [0, 0, 0, 2e-4])
    with pytest.raises(ArithmeticError, match="4 tanh units fit.* from 0.1 to 0.1002.* a network"):
        with_common_bias(own, boundary_of(own, 60), 1e-12)


def test_a_bias_that_may_be_zero_is_zero():
    units = random_units(0, bias=0.0)
    rng = np.random.default_rng(0)
    noisy = replace(units, biases=1e-12 * rng.standard_normal(4))
    common = with_common_bias(noisy, boundary_of(units, 60), 1e-12)
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
    same, basis = without_misses(oracle, units, true, rng)
    assert basis is true and same is units and oracle.queries == 2 * 4
    off = np.linalg.qr(true + 1e-6 * rng.standard_normal((9, 4)))[0]
    inside = replace(units, vectors=units.vectors @ true.T @ off)
    found, basis = without_misses(oracle, inside, off, rng)
    assert error_of(found.vectors @ basis.T, units.vectors @ true.T) < 1e-8


# The whole machine


def features_of(predict, d, seed):
    X = np.random.default_rng(seed + 10_000).standard_normal((500, d))
    labels = predict(X)
    return np.concatenate([X[labels > 0][:5], X[labels <= 0][:5]])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kernel, d, m", [(Tanh(1.0, 0.1), 30, 12), (Tanh(3.0, -0.2), 12, 8),
                                          (Tanh(2.0), 9, 4)])
def test_a_tanh_machine_is_recovered(kernel, d, m, seed):
    box = KernelMachine.random(kernel, d, m, seed)
    oracle = Oracle(box.predict, d)
    result = deconstruct(oracle, features_of(box.predict, d, seed), random_state=seed)
    machine, Y = result.machine, kernel.alpha * box.support_vectors
    assert result.kernel_type == "tanh" and result.exact and result.n_support == m
    assert min(result.agreement.values()) >= 0.999 and result.reason == ""
    error = error_of(machine.support_vectors, Y)
    assert error < 1e-6 and abs(abs(machine.kernel.beta) - abs(kernel.beta)) < 1e-8
    if kernel.beta:  # one sign is open, that of all together
        sign = np.sign(machine.kernel.beta * kernel.beta)
        order = np.linalg.norm(sign * machine.support_vectors[:, None] - Y, axis=2).argmin(1)
        expected = sign * box.weights[order] / np.abs(box.weights).max()
        np.testing.assert_allclose(machine.weights, expected, atol=1e-6)
    bits = (m * (d - m) + m * (m + 1) + 2) * np.log2(1 / max(error, 1e-13))
    assert oracle.queries < 8 * bits
    X = np.random.default_rng(seed).standard_normal((20_000, d))
    assert (machine.predict(X) == box.predict(X)).mean() > 0.9999


def test_a_trained_machine_with_a_unit_that_infinity_hides_is_recovered():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(3).permutation(len(y))
    svc = SVC(kernel="sigmoid").fit(X[order[:20]], y[order[:20]])
    labels = svc.predict(X)
    features = np.concatenate([X[labels == 1][:5], X[labels == 0][:5]])
    result = deconstruct(Oracle(svc.predict, 30), features, random_state=0)
    vectors = svc._gamma * svc.support_vectors_
    assert result.exact and result.machine.kernel == Tanh(1.0, 0.0)
    assert error_of(result.machine.support_vectors, vectors) < 1e-6


def network(activation, seed, spread=0.0, d=10, k=5):
    rng = np.random.default_rng(seed)
    A, w = rng.standard_normal((k, d)) / np.sqrt(d), rng.standard_normal(k)
    biases = 0.1 + spread * rng.standard_normal(k)
    b = np.median(activation(rng.standard_normal((999, d)) @ A.T + biases) @ w)
    return lambda X: np.where(activation(X @ A.T + biases) @ w > b, 1, -1)


@pytest.mark.parametrize("activation, spread", [
    (np.tanh, 0.01), (np.tanh, 0.5), (erf, 0), (lambda u: u / (1 + abs(u)), 0),
    (lambda u: np.maximum(u, 0), 0.5), (lambda u: (u + 1)**5, 0)])
def test_other_functions_of_products_are_refused(activation, spread):
    predict = network(activation, 1, spread)
    result = deconstruct(Oracle(predict, 10), features_of(predict, 10, 1), random_state=0)
    assert result.machine is None and not result.exact
    assert result.reason


def test_a_logistic_network_with_one_bias_is_a_tanh_machine():
    predict = network(lambda u: 1 / (1 + np.exp(-np.clip(u, -500, 500))), 2)  # (1 + tanh(u/2))/2
    result = deconstruct(Oracle(predict, 10), features_of(predict, 10, 1), random_state=0)
    assert result.exact and abs(result.machine.kernel.beta) == pytest.approx(0.05, abs=1e-9)
