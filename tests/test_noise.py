"""How many answers are wrong, and how finely is a boundary drawn? Of models that we made."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary import noise as noise_module
from decon.boundary.bracketing import boundary_points
from decon.boundary.noise import flip_rate, noise_floor
from decon.boundary.pairs import pn_pairs

D = 12


def cloud(n=60, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.003, 0.01, 0.05, 0.15]))
def test_the_rate_of_wrong_answers_is_bracketed(seed, p):
    rng = np.random.default_rng(seed)
    oracle = Oracle(lambda X: (X[:, 0] > 0) ^ (rng.random(len(X)) < p), D, positive=True)
    low, high = flip_rate(oracle, cloud(), rng)
    assert 0 < low < high and low / 2 < p < 2 * high  # nine times in ten, low < p < high


def test_intervals_hold_as_often_as_they_say():
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        box = Oracle(lambda X: (X[:, 0] > 0) ^ (rng.random(len(X)) < 0.02), D,  # noqa: B023
                     positive=True)
        low, high = flip_rate(box, cloud(), rng)
        hits += low < 0.02 < high
    assert hits >= 165  # of 180 expected


def test_a_deterministic_box_does_not_contradict_itself():
    oracle = Oracle(lambda X: X[:, 0] > 0, D, noise=0.01)
    assert flip_rate(oracle, cloud()) == (0.0, 0.0)
    assert oracle.queries == 3000 and oracle.noise == 0.01


@pytest.mark.parametrize("wrong, repetitions", [(20, 5), (19, 20), (9, 20), (1, 50)])
@pytest.mark.parametrize("sign", [1, -1])
def test_repetitions_end_when_enough_answers_are_in_the_minority(wrong, repetitions, sign):
    """A model that contradicts itself at `wrong` different points of every 300 answers."""
    asked = [0]

    def predict(X):
        k = asked[0] + np.arange(len(X))
        asked[0] += len(X)
        flipped = (k < 300) & (k % 60 < wrong) & (k // 60 == k % 5) if wrong > 1 else k == 7
        return ~flipped if sign > 0 else flipped

    oracle = Oracle(predict, D, positive=True)
    low, high = flip_rate(oracle, cloud(100))
    total = 60 * repetitions if wrong not in (19, 9) else oracle.queries
    assert oracle.queries == total == asked[0]
    interval = binomtest(wrong, total).proportion_ci(0.9, "exact")
    assert (low, high) == pytest.approx((interval.low, interval.high))


def test_the_same_points_are_repeated():
    seen = []
    oracle = Oracle(lambda X: seen.append(X) or X[:, 0] > 0, D, positive=True)
    points = cloud(100)
    flip_rate(oracle, points, 3)
    assert [len(X) for X in seen] == [300, 300, 600, 1800]
    chosen = np.unique(np.concatenate(seen), axis=0)
    assert len(chosen) == 60 and {tuple(x) for x in chosen} <= {tuple(x) for x in points}
    np.testing.assert_array_equal(seen[0].reshape(5, 60, D)[0], seen[3].reshape(30, 60, D)[29])
    few = flip_rate(Oracle(lambda X: X[:, 0] > 0, D, positive=True), points[:7])
    assert few == (0.0, 0.0)


@pytest.mark.parametrize("scale, step", [(1.0, 1e-4), (5.0, 2e-3)])
def test_noise_is_read_from_fourth_differences(monkeypatch, scale, step):
    calls, rng = [], np.random.default_rng(0)
    s, n = 4000, 8
    smooth = np.polynomial.polynomial.polyval(np.arange(n), rng.standard_normal((4, s)))
    rough = 1e-6 * rng.standard_normal((s, n))
    rough[0] = np.nan

    def bisect_along(oracle, X, V, guess, step, width, max_distance):
        calls.append((X, V, guess, step, width, max_distance))
        return (scale * (smooth + rough)).ravel()

    monkeypatch.setattr(noise_module, "bisect_along", bisect_along)
    X, V = rng.standard_normal((2, s, 3))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    noise = noise_floor(None, X, V, scale, 1, step)
    assert noise.shape == (s,) and np.isnan(noise[0]) and np.isfinite(noise[1:]).all()
    assert np.sqrt(np.mean(noise[1:] ** 2)) == pytest.approx(1e-6, rel=0.03)
    lines, directions, *rest = calls[0]
    assert rest == [0.0, step * scale, pytest.approx(1e-15 * scale), 1000 * step * scale]
    np.testing.assert_array_equal(directions, np.repeat(V, n, axis=0))
    lines = lines.reshape(s, n, 3) - X[:, None]
    np.testing.assert_allclose(lines[:, 0], 0, atol=1e-15)
    np.testing.assert_allclose(np.diff(lines, axis=1), lines[:, 1:2].repeat(n - 1, 1), atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(lines[:, 1], axis=1), step * scale)
    np.testing.assert_allclose((lines[:, 1] * V).sum(1), 0, atol=1e-15)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3), Tanh(3.0, -0.2),
                                    Gaussian(2.0)], ids=str)
@pytest.mark.parametrize("name, least, most", [
    ("double", 0, 1e-12), ("float32", 1e-9, 1e-6), ("rounded", 1e-7, 1e-4)])
def test_the_noise_of_brackets_is_what_it_is(kernel, name, least, most):
    """Measured against the true boundary, whether labels flicker or stand in steps."""
    for seed in range(3):
        box = KernelMachine.random(kernel, D, 4, seed)
        change = {"double": lambda X: X, "float32": lambda X: X.astype(np.float32),
                  "rounded": lambda X: X.round(5)}[name]
        oracle = Oracle(lambda X: box.predict(change(X)), D)  # noqa: B023
        X = cloud(300, seed)
        labels = oracle(X)
        X, V = boundary_points(oracle, *pn_pairs(X[labels > 0], X[labels < 0], 16), 1e-14)
        noise = np.nanmedian(noise_floor(oracle, X, V, np.sqrt(D), seed))
        assert least <= noise <= most
        if name != "double":  # the distance from the true boundary, along the brackets
            off = box.decision_function(X) / (box.gradient(X) * V).sum(1)
            truth = np.median(np.abs(off)) / 0.67 / np.sqrt(D)
            assert truth / 4 < noise < 4 * truth
