"""Kernels: values and gradients against scikit-learn and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from decon import Gaussian, Linear, Polynomial, Tanh
from decon.kernels import kernel_from_sklearn

KERNELS = [Linear(), Polynomial(2), Polynomial(3, gamma=0.3, coef0=2.0), Polynomial(2, coef0=0),
           Tanh(0.4, -0.3), Gaussian(1.7)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 8), m=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_gradient_is_the_limit_of_differences(kernel, seed, d, m):
    rng = np.random.default_rng(seed)
    X, Y, w = rng.standard_normal((3, d)), rng.standard_normal((m, d)), rng.standard_normal(m)
    h = 1e-6
    differences = np.stack([
        (kernel(X + h * e, Y) @ w - kernel(X - h * e, Y) @ w) / (2 * h) for e in np.eye(d)
    ], axis=1)
    size = 1 + np.abs(differences).max()
    np.testing.assert_allclose(kernel.gradient(X, Y, w), differences, atol=1e-7 * size)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values_are_scikit_learns(kernel):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((7, 4)), rng.standard_normal((5, 4))
    arguments = kernel.to_sklearn()
    theirs = pairwise_kernels(X, Y, metric=arguments.pop("kernel"), **arguments)
    np.testing.assert_allclose(kernel(X, Y), theirs, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_scikit_learn_there_and_back(kernel):
    X = np.random.default_rng(0).standard_normal((20, 3))
    svc = SVC(**kernel.to_sklearn()).fit(X, X[:, 0] > 0)
    back = kernel_from_sklearn(svc)
    assert type(back) is type(kernel)
    np.testing.assert_allclose(back(X, X), kernel(X, X), rtol=1e-12)


def test_gamma_scale_becomes_a_number():
    X = np.random.default_rng(0).standard_normal((20, 3))
    svc = SVC(kernel="rbf", gamma="scale").fit(X, X[:, 0] > 0)
    assert kernel_from_sklearn(svc).sigma == pytest.approx(np.sqrt(3 * X.var() / 2))


def test_gaussian_far_from_the_origin_stays_a_kernel():
    X = np.random.default_rng(0).standard_normal((5, 3))
    K, w = Gaussian(1.0)(X, X), np.arange(5.0)
    far = X + 1e6  # itself rounded to about 1e-10
    np.testing.assert_allclose(Gaussian(1.0)(far, far), K, atol=1e-8)
    np.testing.assert_allclose(Gaussian(1.0).gradient(far, far, w),
                               Gaussian(1.0).gradient(X, X, w), atol=1e-7)


@pytest.mark.parametrize("make, word", [
    (lambda: Polynomial(degree=0), "degree"),
    (lambda: Polynomial(degree=2.5), "degree"),
    (lambda: Polynomial(gamma=-1), "gamma"),
    (lambda: Polynomial(coef0=-1), "coef0"),
    (lambda: Polynomial(coef0=np.nan), "coef0"),
    (lambda: Gaussian(0), "sigma"),
    (lambda: Gaussian(np.inf), "sigma"),
    (lambda: Tanh(alpha=0), "alpha"),
    (lambda: Tanh(alpha=np.nan), "alpha"),
    (lambda: Tanh(beta=np.inf), "beta"),
])
def test_parameters_out_of_range_are_named(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_names_defaults_and_reprs():
    kernels = [Linear(), Polynomial(1), Polynomial(2), Polynomial(), Tanh(), Gaussian()]
    assert [kernel.name for kernel in kernels] == [
        "linear", "polynomial of degree 1", "quadratic", "cubic", "tanh", "gaussian"]
    assert [repr(kernel) for kernel in kernels[3:]] == [
        "Polynomial(degree=3, gamma=1.0, coef0=1.0)", "Tanh(alpha=1.0, beta=0.0)",
        "Gaussian(sigma=1.0)"]
    with pytest.raises(AttributeError):
        kernels[3].gamma = 2.0
    assert len({*kernels, Gaussian(1.0)}) == 6  # equal kernels have equal hashes


def test_unfitted_and_foreign_svcs_are_refused():
    with pytest.raises(ValueError, match="fit"):
        kernel_from_sklearn(SVC())
    X = np.eye(4)
    with pytest.raises(ValueError, match="precomputed"):
        kernel_from_sklearn(SVC(kernel="precomputed").fit(X, [0, 1, 0, 1]))
