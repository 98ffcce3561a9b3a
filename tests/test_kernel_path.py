"""Another kernel: the path from one optimum to the other ends where a new machine begins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, IncrementalSVM, KernelMachine, Linear, Polynomial, Tanh
from decon.learning import two_classes
from decon.learning.kernel_path import repair, wrong_g
from decon.learning.optimum import ERROR, INACTIVE, MARGIN, REST
from decon.learning.two_classes import TwoClassSVM

KERNELS = [Gaussian(0.5), Gaussian(1.0), Gaussian(2.5), Polynomial(2, gamma=0.3),
           Polynomial(3, gamma=0.2), Linear()]


def drawn(seed, n, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1, -1), rng


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), d=st.integers(1, 5),
       C=st.sampled_from([0.1, 1.0, 30.0]), weights=st.booleans(),
       before=st.sampled_from(KERNELS), after=st.sampled_from(KERNELS))
def test_the_path_ends_at_the_new_optimum(seed, n, d, C, weights, before, after):
    X, y, rng = drawn(seed, n, d)
    weight = rng.uniform(0.05, 4, n) if weights else np.ones(n)
    svm = IncrementalSVM(before, C).fit(X, y, weight)
    svm.change_kernel(after)
    fresh = IncrementalSVM(after, C).fit(X, y, weight)
    assert svm.kernel == svm.kernel_ == after and svm.kkt_residual < 1e-7
    assert svm.objective == pytest.approx(fresh.objective, rel=1e-8, abs=1e-9)
    T = rng.standard_normal((20, d))
    np.testing.assert_allclose(svm.decision_function(T) + svm.threshold,
                               fresh.decision_function(T) + fresh.threshold, atol=1e-6)
    svm.learn(X[0] + 0.1, 1)
    svm.unlearn(0)
    assert svm.kkt_residual < 1e-7


def test_small_steps_are_paths_and_no_restarts():
    restarts = 0
    for seed in range(20):
        X, y, _ = drawn(seed, 80)
        svm = IncrementalSVM(Gaussian(1.0), 1.0).fit(X, y)
        for sigma in np.linspace(1.0, 2.0, 11)[1:]:
            svm.change_kernel(Gaussian(sigma))
            assert svm.kkt_residual < 1e-9
        restarts += svm.restarts - 1
    assert restarts <= 2


@pytest.mark.parametrize("seed", range(5))
def test_the_shifted_conditions_hold_all_the_way(seed):
    X, y, _ = drawn(seed, 40)
    svm = TwoClassSVM(Gaussian(1.0), 2.0).fit(X, y)
    kernel = Gaussian(1.4)
    svm.replace_kernel(kernel(X, X))
    wrong, left, events = wrong_g(svm), 1.0, 0
    assert np.abs(wrong).max() > 0.01
    for length in repair(svm, wrong):
        left, events = left - length, events + 1
        g = y * (kernel(X, X) @ (svm.a * y) - svm.threshold) - 1 - left * wrong
        np.testing.assert_allclose(svm.g, g, atol=1e-9)
        assert abs(svm.a @ y) < 1e-9 and svm.a.min() > -1e-9 and svm.a.max() < 2 + 1e-9
        assert np.abs(g[svm.part == MARGIN]).max(initial=0) < 1e-9
        assert g[svm.part == REST].min(initial=0) > -1e-9
        assert g[svm.part == ERROR].max(initial=0) < 1e-9
    assert left == pytest.approx(0, abs=1e-12) and events > 1


def test_what_is_wrong_by_hand():
    svm = TwoClassSVM(Linear())
    svm.part = np.array([MARGIN, MARGIN, REST, REST, ERROR, ERROR, INACTIVE])
    svm.g = np.array([1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 5.0])
    assert wrong_g(svm).tolist() == [1.0, -1.0, 0.0, -2.0, 3.0, 0.0, 0.0]


def test_a_lost_path_ends_at_the_optimum_all_the_same(monkeypatch):
    def for_ever(optimum, wrong):
        while True:
            yield 0.0

    X, y, _ = drawn(0, 30)
    svm = IncrementalSVM(Gaussian(1.0)).fit(X, y)
    monkeypatch.setattr(two_classes, "repair", for_ever)
    svm.change_kernel(Gaussian(2.0))
    assert svm.restarts == 2 and svm.kkt_residual < 1e-9


def test_states_of_another_kernel_are_refused():
    X, y, _ = drawn(0, 20)
    svm = IncrementalSVM(Gaussian(1.0)).fit(X, y)
    state = svm.state()
    svm.change_kernel(Gaussian(1.1))
    with pytest.raises(ValueError, match="other examples"):
        svm.return_to(state)


def test_deactivated_examples_stay_so():
    X, y, _ = drawn(1, 30)
    svm = IncrementalSVM(Gaussian(1.0)).fit(X, y)
    svm.deactivate(3)
    svm.change_kernel(Gaussian(1.5))
    rest = np.arange(30) != 3
    fresh = IncrementalSVM(Gaussian(1.5)).fit(X[rest], y[rest])
    assert svm.a[3] == 0 and svm.objective == pytest.approx(fresh.objective, rel=1e-9)


def test_what_cannot_be_changed():
    svm = IncrementalSVM(Gaussian(1.0)).fit([[0.0], [1e80]], [0, 1])
    with pytest.raises(TypeError, match="kernel must"):
        svm.change_kernel("rbf")
    with pytest.raises(ValueError, match="overflows"):
        svm.change_kernel(Polynomial(4))
    assert svm.kernel_ == Gaussian(1.0) and svm.kkt_residual < 1e-12
    base = KernelMachine.random(Linear(), 1, 1)
    with pytest.raises(ValueError, match="with a base"):
        IncrementalSVM(Linear(), base=base).change_kernel(Linear())
    early = IncrementalSVM(Linear())
    early.change_kernel(Gaussian(2.0))
    assert early.kernel == Gaussian(2.0)
    X, y, _ = drawn(0, 30)
    indefinite = IncrementalSVM(Gaussian(1.0)).fit(X, y)
    with pytest.warns(UserWarning, match="positive semidefinite"):
        indefinite.change_kernel(Tanh(0.1, -0.1))
    assert indefinite.kkt_residual < 1e-6
