"""Kernel machines: scikit-learn's decision function, conventions, files."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import decon.machine
from decon import Gaussian, KernelMachine, Linear, Polynomial, Tanh
from decon.numerics.blocks import blocks

KERNELS = [Linear(), Polynomial(2, gamma=0.1), Polynomial(3, gamma=0.05, coef0=2.0),
           Tanh(0.02, 0.1), Gaussian(4.0)]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_agrees_with_scikit_learn(kernel, cancer):
    X, y = cancer
    svc = SVC(**kernel.to_sklearn()).fit(X[:300], y[:300])
    machine = KernelMachine.from_sklearn(svc)
    f = svc.decision_function(X)
    np.testing.assert_allclose(machine.decision_function(X), f, atol=1e-10 * max(1, abs(f).max()))
    assert ((machine.predict(X) > 0) == (svc.predict(X) == svc.classes_[1])).all()


def test_positive_is_the_second_class_whatever_it_is_called(cancer):
    X, y = cancer
    svc = SVC(kernel="linear").fit(X, np.where(y == 1, "benign", "malignant"))
    machine = KernelMachine.from_sklearn(svc)
    assert ((machine.predict(X) > 0) == (svc.predict(X) == "malignant")).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_random_machines_have_both_labels_about_equally(kernel, seed):
    machine = KernelMachine.random(kernel, 10, 4, seed)
    X = np.random.default_rng(seed + 100).standard_normal((2000, 10))
    assert 0.4 < (machine.predict(X) > 0).mean() < 0.6


def test_random_support_vectors_have_a_length_of_about_one():
    machine = KernelMachine.random(Linear(), 400, 50)
    assert np.linalg.norm(machine.support_vectors, axis=1) == pytest.approx(1, abs=0.2)


def test_labels_are_plus_and_minus_one_and_a_tie_is_minus_one():
    labels = KernelMachine(Linear(), [[2.0]], [1.0], 1.0).predict([[1.0], [0.5], [0.0]])
    assert labels.tolist() == [1, -1, -1] and labels.dtype == np.int8


def test_normalised_is_the_same_classifier():
    machine = KernelMachine.random(Polynomial(2), 5, 3)
    same = machine.normalised()
    X = np.random.default_rng(0).standard_normal((50, 5))
    assert np.abs(same.weights).max() == 1
    factor = np.abs(machine.weights).max()
    np.testing.assert_allclose(factor * same.decision_function(X), machine.decision_function(X))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_gamma_and_coef0_are_conventions(degree):
    machine = KernelMachine.random(Polynomial(degree, gamma=0.7, coef0=2.5), 5, 3)
    same = machine.with_gamma(0.1, coef0=0.3)
    X = np.random.default_rng(0).standard_normal((50, 5))
    assert same.kernel == Polynomial(degree, gamma=0.1, coef0=0.3)
    np.testing.assert_allclose(same.decision_function(X), machine.decision_function(X), rtol=1e-9)


def test_a_machine_without_weights_stays_as_it_is():
    same = KernelMachine(Linear(), [[1.0, 2.0]], [0.0], -3.0).normalised()
    assert same.weights.tolist() == [0] and same.threshold == -3


def test_with_gamma_refuses_homogeneous_machines():
    for kernel, coef0 in [(Polynomial(2, coef0=0), 1.0), (Polynomial(2), 0.0), (Linear(), 1.0)]:
        with pytest.raises(ValueError, match="coef0"):
            KernelMachine.random(kernel, 5, 3).with_gamma(1.0, coef0)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_saved_and_loaded_without_pickle(kernel, tmp_path):
    machine = KernelMachine.random(kernel, 5, 3)
    machine.save(tmp_path / "machine.npz")
    same = KernelMachine.load(tmp_path / "machine.npz")
    assert same.kernel == machine.kernel
    np.testing.assert_array_equal(same.support_vectors, machine.support_vectors)
    np.testing.assert_array_equal(same.weights, machine.weights)
    assert same.threshold == machine.threshold


def test_points_may_be_lists_and_a_repr_fits_a_line(tmp_path):
    machine = KernelMachine.random(Polynomial(3), 2, 4)
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(machine.gradient(X.tolist()), machine.gradient(X))
    assert repr(machine) == ("KernelMachine(Polynomial(degree=3, gamma=1.0, coef0=1.0), "
                             "4 support vectors in dimension 2)")
    machine.save(str(tmp_path / "machine"))
    assert repr(KernelMachine.load(str(tmp_path / "machine"))) == repr(machine)


def test_blocks_change_nothing(monkeypatch):
    machine = KernelMachine.random(Gaussian(2.0), 5, 3)
    X = np.random.default_rng(0).standard_normal((101, 5))
    values, gradients = machine.decision_function(X), machine.gradient(X)
    monkeypatch.setattr(decon.machine, "blocks", lambda n, *_, **__: blocks(n, 1, 7 * 8e-6))
    np.testing.assert_allclose(machine.decision_function(X), values, rtol=1e-12)
    np.testing.assert_allclose(machine.gradient(X), gradients, rtol=1e-12)


def test_no_points_give_no_labels():
    machine = KernelMachine.random(Linear(), 5, 3)
    assert machine.predict(np.empty((0, 5))).shape == (0,)
    assert machine.gradient(np.empty((0, 5))).shape == (0, 5)


@pytest.mark.parametrize("arguments", [
    ([1.0, 2.0], [1.0], 0), ([[1.0, 2.0]], [1.0, 2.0], 0), ([[1.0, np.nan]], [1.0], 0),
    ([[1.0, 2.0]], [1.0], np.inf),
])
def test_malformed_machines_are_refused(arguments):
    with pytest.raises(ValueError, match="expected|finite"):
        KernelMachine(Linear(), *arguments)


def test_points_of_the_wrong_width_are_refused():
    with pytest.raises(ValueError, match=r"\(n, 5\), got \(3, 4\)"):
        KernelMachine.random(Linear(), 5, 3).predict(np.zeros((3, 4)))


def test_three_classes_are_refused():
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(ValueError, match="3 classes"):
        KernelMachine.from_sklearn(SVC(kernel="linear").fit(X, np.arange(30) % 3))
