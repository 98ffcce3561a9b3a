"""What is wrong with a box? Estimates against boxes whose noise we have made."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh, deconstruct
from decon.bracketing import boundary_points, pn_pairs
from decon.diagnosis import flip_rate, noise_floor
from decon.precision import DOUBLE, Precision

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


@pytest.mark.parametrize("seed", range(3))
def test_kinks_are_not_taken_for_rounding(seed):
    """An SVC with a Laplacian kernel has a kink wherever a coordinate is a support vector's."""
    X, y = make_classification(80, D, random_state=seed)
    box = SVC(kernel=laplacian_kernel).fit(X, y)
    result = deconstruct(Oracle(box.predict, D), X[:30], progress=False)
    assert result.kernel_type == "unknown" and result.width == DOUBLE.width
    assert "in vain" not in result.queries


def test_the_lengths_of_double_precision():
    assert (DOUBLE.width, DOUBLE.delta, DOUBLE.miss, DOUBLE.rough, DOUBLE.step, DOUBLE.close) == (
        1e-12, 1e-6, 1e-8, 3e-5, 3e-4, 1e-5)
    assert (DOUBLE.times, DOUBLE.graze, DOUBLE.coarse) == (1, 1, False)


@given(st.floats(1e-12, 1e-4))
def test_lengths_grow_with_the_width(width):
    precision = Precision(width)
    for name in ("miss", "rough", "step", "close"):
        assert getattr(precision, name) >= getattr(DOUBLE, name)
        assert getattr(precision, name) >= width
    assert width < precision.delta < 0.1
