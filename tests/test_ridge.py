"""Ridge regression in both forms, against scikit-learn and against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from decon import Gaussian, Linear, Polynomial, Tanh
from decon.learning.ridge import dual_ridge, primal_ridge


@given(seed=st.integers(0, 10**6), N=st.integers(1, 20), M=st.integers(1, 20),
       logp=st.floats(-6, 3))
@settings(deadline=None, max_examples=60)
def test_primal_and_dual_predict_the_same(seed, N, M, logp):
    rng = np.random.default_rng(seed)
    Phi, t = rng.standard_normal((N, M)), rng.standard_normal(N)
    w = primal_ridge(Phi, t, 10**logp)
    machine = dual_ridge(Phi, t, Linear(), 10**logp)
    fresh = rng.standard_normal((5, M))
    np.testing.assert_allclose(machine.decision_function(fresh), fresh @ w, atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(machine.weights @ Phi, w, atol=1e-6, rtol=1e-6)  # w = Phi^T a
    np.testing.assert_allclose(machine.weights, (t - Phi @ w) / 10**logp,
                               rtol=1e-4, atol=1e-6 * np.abs(machine.weights).max())  # Eq. 13


@pytest.mark.parametrize("penalty", [1e-3, 1, 100])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.5), Polynomial(3, 0.5),
                                    Gaussian(1.2)], ids=str)
def test_scikit_learn_agrees(kernel, penalty):
    rng = np.random.default_rng(0)
    X, t, fresh = rng.standard_normal((40, 3)), rng.standard_normal(40), rng.standard_normal((9, 3))
    machine = dual_ridge(X, t, kernel, penalty)
    theirs = KernelRidge(alpha=penalty, kernel="precomputed").fit(kernel(X, X), t)
    np.testing.assert_allclose(machine.decision_function(fresh), theirs.predict(kernel(fresh, X)),
                               rtol=1e-8)
    if kernel == Linear():
        ridge = Ridge(alpha=penalty, fit_intercept=False).fit(X, t)
        np.testing.assert_allclose(primal_ridge(X, t, penalty), ridge.coef_, rtol=1e-8)


def test_the_gradient_vanishes_at_the_minimum():
    rng = np.random.default_rng(1)
    Phi, t = rng.standard_normal((30, 5)), rng.standard_normal(30)
    w = primal_ridge(Phi, t, 0.7)
    np.testing.assert_allclose(Phi.T @ (Phi @ w - t) + 0.7 * w, 0, atol=1e-12)


def test_a_small_penalty_interpolates():
    rng = np.random.default_rng(2)
    X, t = rng.standard_normal((12, 2)), rng.standard_normal(12)
    np.testing.assert_allclose(dual_ridge(X, t, Gaussian(0.5), 1e-10).decision_function(X), t,
                               atol=1e-6)


@pytest.mark.parametrize("arguments, word", [
    (([[1.0]], [1.0, 2.0], 1.0), "got (1, 1) and (2,)"),
    ((np.empty((0, 2)), [], 1.0), "at least one example"),
    (([[np.inf]], [1.0], 1.0), "finite"),
    (([[1.0]], [1.0], 0), "penalty must be a finite number > 0"),
    (([[1.0]], [np.nan], 1.0), "targets must be finite"),
    (([[1.0]], [1.0], np.nan), "penalty must be"),
])
def test_bad_input_is_told(arguments, word):
    with pytest.raises(ValueError) as error:
        primal_ridge(*arguments)
    assert word in str(error.value)
    X, t, penalty = arguments
    with pytest.raises(ValueError):
        dual_ridge(X, t, Linear(), penalty)


def test_a_singular_system_is_told():
    kernel = Tanh(1.0, 0.0)  # K(0, 0) = 0, K(x, x) = tanh(x^2): with penalty p, K + p I is diagonal
    X = [[0.0], [1.0]]

    class Negative:
        def __call__(self, X, Y):
            return -kernel(X, Y)

    with pytest.raises(ValueError, match="singular"):
        dual_ridge(X, [1.0, 2.0], Negative(), float(np.tanh(1.0)))
