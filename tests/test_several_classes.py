"""Three and more classes, one against one: scikit-learn's SVC says the same."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, IncrementalSVM, KernelMachine, Linear, Polynomial
from decon.learning.pairs import Pairs


def data(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:600]
    return StandardScaler().fit_transform(X)[order], y[order]


def same(svm, svc, X, atol=1e-5):
    for shape in ("ovo", "ovr"):
        svm.set_params(decision_function_shape=shape)
        svc.set_params(decision_function_shape=shape)
        np.testing.assert_allclose(svm.decision_function(X), svc.decision_function(X), atol=atol)
    np.testing.assert_array_equal(svm.predict(X), svc.predict(X))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("name", ["linear", "quadratic", "gaussian"])
def test_scikit_learn_says_the_same(load, name):
    X, y = data(load)
    d, n = X.shape[1], len(y) * 2 // 3
    kernel = {"linear": Linear(), "quadratic": Polynomial(2, gamma=1 / d),
              "gaussian": Gaussian(float(np.sqrt(d)))}[name]
    svm = IncrementalSVM(kernel).fit(X[:n], y[:n])
    same(svm, SVC(**kernel.to_sklearn(), tol=1e-10).fit(X[:n], y[:n]), X[n:])
    assert svm.score(X[n:], y[n:]) > 0.9 and svm.kkt_residual < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_one_by_one_with_new_classes_on_the_way(seed):
    rng = np.random.default_rng(seed)
    X, y = data(load_iris)
    words = np.array(["b", "c", "a"])[y]
    svm = IncrementalSVM(Gaussian(1.5), 2.0)
    for i in range(60):
        svm.learn(X[i], words[i])
    svm.partial_fit(X[60:90], words[60:90])
    svm.change_C(5.0)
    svm.change_kernel(Gaussian(2.0))
    left = np.arange(90)
    for i in rng.permutation(90)[:20]:
        svm.unlearn(int(np.flatnonzero(left == i)[0]))
        left = left[left != i]
    np.testing.assert_array_equal(svm.X, X[left])
    np.testing.assert_array_equal(svm.y, words[left])
    svc = SVC(**Gaussian(2.0).to_sklearn(), C=5.0, tol=1e-10).fit(X[left], words[left])
    same(svm, svc, X[90:])
    assert svm.kkt_residual < 1e-8 and svm.classes_.tolist() == ["a", "b", "c"]


def test_what_several_classes_have_and_have_not():
    X, y = data(load_iris)
    svm = IncrementalSVM(Gaussian(1.0)).fit(X, y)
    assert list(svm.pairs_) == [(1, 0), (2, 0), (2, 1)]
    inside = list(svm.pairs_.values())
    assert svm.objective == sum(m.objective for m in inside) and svm.restarts == 3
    assert repr(svm).startswith("IncrementalSVM(Gaussian(sigma=1.0), C=1.0): 150 examples, ")
    f = [machine.machine().decision_function(X) for machine in inside]
    np.testing.assert_allclose(svm.set_params(decision_function_shape="ovo").decision_function(X),
                               np.transpose(f), atol=1e-12)
    with pytest.raises(AttributeError, match="3 classes have one threshold for each pair"):
        _ = svm.threshold
    for act in (svm.machine, svm.leave_one_out):
        with pytest.raises(ValueError, match="two classes; here are 3"):
            act()
    base = KernelMachine(Gaussian(1.0), X[:1], [1.0], 0.0)
    with pytest.raises(ValueError, match="two"):
        IncrementalSVM(Gaussian(1.0), base=base).fit(X, y)
    streamed = IncrementalSVM(Gaussian(1.0), base=base)
    streamed.learn(X[0], -1), streamed.learn(X[1], 1)
    with pytest.raises(ValueError, match="two labels"):
        streamed.learn(X[2], 2)
    assert len(streamed.y) == 2


def test_the_kernel_matrix_is_computed_once():
    class Counted(Gaussian):
        values = 0

        def __call__(self, X, Y):
            K = super().__call__(X, Y)
            Counted.values += K.size
            return K

    X, y = data(load_digits)
    svm = IncrementalSVM(Counted(8.0)).fit(X[:200], y[:200])
    assert Counted.values == 200**2
    svm.learn(X[200], y[200])
    assert Counted.values == 200**2 + 201
    svm.decision_function(X[300:400])
    assert Counted.values <= 200**2 + 201 + 100 * 201


def test_votes_and_ties_by_hand():
    pairs = Pairs(Linear(), 1.0, None, 3)
    values = np.array([[1.0, -2.0, 3.0],   # 0 beats 1, 2 beats 0, 1 beats 2: a tie, the first wins
                       [-1.0, -1.0, 0.0],  # 1 beats 0, 2 beats 0, and at 0 the second of a pair
                       [1.0, 1.0, -1.0]])
    assert pairs.votes(values).tolist() == [[1, 1, 1], [0, 1, 2], [2, 0, 1]]
    assert pairs.votes(values).argmax(1).tolist() == [0, 2, 0]
    assert pairs.confidences(values)[1].round().tolist() == [0, 2, 1]  # here the first at 0
    total = np.array([[-1.0, 2.0, -1.0]])
    np.testing.assert_allclose(pairs.confidences(values[:1]), 1 + total / (3 * (np.abs(total) + 1)))


def test_deactivated_examples_keep_their_place():
    X, y = data(load_iris)
    svm = IncrementalSVM(Gaussian(1.0)).fit(X, y)
    rows = np.arange(150)[::7]
    for i in rows:
        svm.deactivate(int(i))
    rest = np.delete(np.arange(150), rows)
    fresh = IncrementalSVM(Gaussian(1.0)).fit(X[rest], y[rest])
    np.testing.assert_allclose(svm.decision_function(X), fresh.decision_function(X), atol=1e-7)
    assert len(svm.y) == 150
