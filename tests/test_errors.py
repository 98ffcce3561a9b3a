"""Errors are errors: a bug anywhere inside comes out as itself, with what was known by then."""

import sys
from pathlib import Path

import numpy as np
import pytest

import decon
from decon import (
    Deconstruction,
    Gaussian,
    KernelMachine,
    Linear,
    Oracle,
    Polynomial,
    Tanh,
    deconstruct,
)

HOUSE = str(Path(decon.__file__).parent)
KERNELS = [Linear(), Polynomial(2), Polynomial(3), Tanh(2.0, 0.1), Gaussian(2.0), Polynomial(4)]
KINDS = [ZeroDivisionError, ArithmeticError, ValueError, TypeError, KeyError, RuntimeError,
         np.linalg.LinAlgError, FloatingPointError, AttributeError]


def plain(machine):
    """The machine's labels by numpy alone, so that no call inside the model is one of ours."""
    kernel, Y, w, b = (machine.kernel, machine.support_vectors, machine.weights,
                       machine.threshold)

    def predict(X):
        G = X @ Y.T
        if isinstance(kernel, Linear):
            K = G
        elif isinstance(kernel, Polynomial):
            K = (kernel.gamma * G + kernel.coef0) ** kernel.degree
        elif isinstance(kernel, Tanh):
            K = np.tanh(kernel.alpha * G + kernel.beta)
        else:
            K = np.exp(-((X[:, None] - Y) ** 2).sum(2) / (2 * kernel.sigma**2))
        return np.where(K @ w > b, 1, -1)

    return predict


def run(kernel, seed, at, kind):
    """Deconstruct a model; call number `at` of a function of ours raises. How many were made?"""
    predict = plain(KernelMachine.random(kernel, 7, 3, seed))
    features = np.random.default_rng(seed).standard_normal((30, 7))
    oracle, calls = Oracle(predict, 7, positive=1), 0

    def trace(frame, event, _):
        nonlocal calls
        if frame.f_code.co_filename.startswith(HOUSE):
            calls += 1
            if calls == at:
                raise kind("planted")

    sys.settrace(trace)
    try:
        result = deconstruct(oracle, features, random_state=seed, progress=False)
    finally:
        sys.settrace(None)
    return calls, result


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_planted_error_comes_out_as_itself(kernel):
    total, _ = run(kernel, 0, None, None)
    rng = np.random.default_rng(0)
    for at in rng.integers(5, total, 8):  # the first calls are those of the arguments' check
        kind = KINDS[rng.integers(len(KINDS))]
        with pytest.raises(kind, match="planted") as caught:
            run(kernel, 0, at, kind)
        assert isinstance(caught.value.result, Deconstruction)


def test_what_was_known_hangs_on_an_interruption():
    box = KernelMachine.random(Polynomial(3), 9, 3, 0)
    features = np.random.default_rng(0).standard_normal((30, 9))
    whole = deconstruct(Oracle(box.predict, 9), features, progress=False)
    left = sum(whole.queries_by_stage.values()) - 1000  # S_Y is known by then

    def predict(X):
        nonlocal left
        left -= len(X)
        if left <= 0:
            raise KeyboardInterrupt
        return box.predict(X)

    with pytest.raises(KeyboardInterrupt) as caught:
        deconstruct(Oracle(predict, 9), features, progress=False)
    known = caught.value.result
    assert known.message == "interrupted" and known.rank == whole.rank == 3
    np.testing.assert_array_equal(known.normals, whole.normals)
