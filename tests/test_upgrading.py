"""Upgrading: the old skill is kept, the new one learned, from labels and new examples alone."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from decon import (
    Deconstruction,
    Gaussian,
    IncrementalSVM,
    KernelMachine,
    Linear,
    Oracle,
    Polynomial,
    deconstruct,
    upgrade,
)
from decon.learning.upgrading import equal_errors, warm_start


@pytest.fixture(scope="module")
def digits():
    """A box that knows 1 from all digits but 8, and data it has never seen."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    seen = np.flatnonzero(y != 8)[:200]
    fresh = np.setdiff1d(np.arange(len(y)), seen)
    svc = SVC(kernel="poly", degree=2, coef0=1).fit(X[seen], y[seen] == 1)
    return svc, X[seen], X[fresh], y[fresh]


def test_a_deconstructed_machine_learns_a_new_digit(digits):
    svc, seen, X, y = digits
    labels = svc.predict(seen)
    features = np.concatenate([seen[labels][:5], seen[~labels][:5]])
    result = deconstruct(Oracle(svc.predict, 64), features, progress=False)
    assert (result.machine.predict(X) == np.where(svc.predict(X), 1, -1)).all()
    eights, known = np.flatnonzero(y == 8), np.flatnonzero(y != 8)
    teach = np.concatenate([eights[:80], known[:400]])
    told = np.r_[np.ones(80), np.where(svc.predict(X[known[:400]]), 1, -1)]
    upgraded = upgrade(result, X[teach], told, C=10.0, progress=False)
    assert isinstance(upgraded, KernelMachine) and upgraded.kernel.degree == 2
    test, new = known[400:], eights[80:]
    assert (svc.predict(X[new])).mean() < 0.3
    assert (upgraded.predict(X[new]) == 1).mean() > 0.8
    ones = y[test] == 1
    assert (upgraded.predict(X[test[ones]]) == 1).mean() > 0.9
    assert (upgraded.predict(X[test[~ones]]) == -1).mean() > 0.93


def test_examples_it_already_knows_change_nothing():
    box = KernelMachine.random(Polynomial(2), 6, 3)
    X = np.random.default_rng(0).standard_normal((300, 6))
    f = box.decision_function(X)
    sure = np.abs(f) > np.median(np.abs(f))
    upgraded = upgrade(box, X[sure], np.sign(f[sure]), kappa=5.0)
    assert len(upgraded.weights) == 3
    assert (upgraded.predict(X) == box.predict(X)).all()


def test_gamma_is_only_a_convention_for_what_is_known():
    box = KernelMachine(Polynomial(2), [[1.0, 0.0]], [1.0], 4.0)
    X = np.array([[2.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
    for gamma in (0.1, 1.0, 7.0):
        upgraded = upgrade(box, X, [1, -1, -1], gamma=gamma, kappa=1e3)
        assert upgraded.kernel.gamma == gamma
        T = np.random.default_rng(0).standard_normal((200, 2)) * 3
        assert (upgraded.predict(T) == box.predict(T)).all()


@pytest.mark.parametrize("spread", [0.2, 5.0])
def test_the_scale_of_gamma_is_scikit_learns(spread):
    model = KernelMachine.random(Polynomial(2), 3, 4)
    X = spread * np.random.default_rng(0).standard_normal((50, 3)) + 1
    y = model.predict(X)
    base = warm_start(model, X, y)
    svc = SVC(kernel="poly", degree=2, coef0=1, gamma="scale").fit(X, np.arange(50) % 2)
    assert base.kernel.gamma == pytest.approx(KernelMachine.from_sklearn(svc).kernel.gamma)
    assert base.kernel.gamma == pytest.approx(1 / (3 * X.var()))
    assert warm_start(model, X[:1], y[:1]).kernel.gamma == pytest.approx(1 / (3 * X[:1].var()))
    np.testing.assert_array_equal(base.predict(X), y)


def test_where_gamma_has_no_say():
    same = np.ones((2, 3))  # no variance
    model = KernelMachine(Polynomial(2), np.eye(3), np.ones(3), 1.0)
    assert warm_start(model, same, [1, 1]).kernel.gamma == pytest.approx(1 / 3)
    for kernel in (Polynomial(2, gamma=0.7, coef0=0), Linear(), Gaussian(2.0)):
        model = KernelMachine(kernel, np.eye(3), np.ones(3), 0.1)
        assert warm_start(model, same, [1, 1], gamma=5.0).kernel == kernel


def test_a_linear_machine_stays_linear():
    box = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.0)
    upgraded = upgrade(box, [[1.0, 0.0], [-1.0, 0.0], [-1.0, 5.0]], [1, -1, 1], C=100.0)
    assert upgraded.kernel == Linear() and upgraded.predict([[-1.0, 5.0]])[0] == 1


@pytest.mark.parametrize("X, y, word", [
    (np.zeros((3, 5)), [1, 1, 1], r"\(n, 2\)"),
    (np.zeros((3, 2)), [1, 1], "shape"),
    (np.eye(2), ["new", "new"], r"labels must be \+1 and -1, 1 and 0"),
    ([["a", "b"]], [1], "is 'a': encode text"),
    ([[2.0, 0.0], [-2.0, 0.0]], [-1, 1], "none of the examples right"),
    (np.empty((0, 2)), np.empty(0), "at least one example"),
    (np.full((1, 2), np.nan), [1], "NaN"),
])
def test_bad_input_is_named(X, y, word):
    with pytest.raises(ValueError, match=word):
        upgrade(KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.0), X, y)


def test_an_unknown_box_cannot_be_upgraded():
    with pytest.raises(ValueError, match="no machine to upgrade: it is a forest"):
        upgrade(Deconstruction(message="it is a forest"), np.eye(2), [1, -1])


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_both_labels_are_missed_equally_often(seed, n):
    rng = np.random.default_rng(seed)
    y = np.r_[1, -1, rng.choice([-1, 1], n)]
    f = np.round(rng.standard_normal(n + 2) + 0.7 * y, 1)  # with ties
    def difference(cut):
        return abs(np.mean(f[y > 0] <= cut) - np.mean(f[y < 0] > cut))
    cut = equal_errors(f, y)
    fine = np.r_[0, np.linspace(f.min(), f.max(), 999)]
    assert difference(cut) <= min(difference(c) for c in fine) + 1e-12
    assert cut == 0 or difference(cut) < difference(0)


def test_one_label_leaves_the_threshold_alone():
    assert equal_errors(np.array([1.0, 2.0]), np.array([1, 1])) == 0


def test_the_threshold_of_the_margin_is_that_of_the_machine_learned_one_by_one(digits):
    svc, _, X, y = digits
    box, some = KernelMachine.from_sklearn(svc), slice(0, 150)
    t = np.where(np.isin(y[some], [1, 8]), 1, -1)
    base = warm_start(box, X[some], t, kappa=0.7)
    assert (base.predict(X) == box.predict(X)).all()
    margins = t * base.decision_function(X[some])
    assert np.median(margins[margins > 0]) == pytest.approx(0.7)
    svm = IncrementalSVM(base.kernel, 2.0, base)
    for x, label in zip(X[some], t, strict=True):
        svm.learn(x, label)
    upgraded = upgrade(box, X[some], t, C=2.0, kappa=0.7, threshold="margin", progress=False)
    np.testing.assert_allclose(upgraded.decision_function(X), svm.decision_function(X), atol=1e-9)


@pytest.mark.slow
def test_leave_one_out_chooses_the_threshold(digits):
    svc, _, X, y = digits
    box, n = KernelMachine.from_sklearn(svc), 300
    t = np.where(np.isin(y, [1, 8]), 1, -1)
    cut = upgrade(box, X[:n], t[:n], threshold="margin", progress=False)
    machine = upgrade(box, X[:n], t[:n], progress=False)
    shift = machine.threshold - cut.threshold
    base = warm_start(box, X[:n], t[:n])
    left_out = np.empty(n)
    for i in range(n):  # n machines, each trained afresh without one example
        rest = np.arange(n) != i
        svm = IncrementalSVM(base.kernel, 1.0, base).fit(X[:n][rest], t[:n][rest])
        left_out[i] = svm.decision_function(X[i:i + 1])[0]
    missed, taken = np.mean(left_out[t[:n] > 0] <= shift), np.mean(left_out[t[:n] < 0] > shift)
    assert abs(missed - taken) < 0.02 and shift < 0


@pytest.mark.parametrize("options, word", [
    ({"gamma": "auto"}, "'scale' or a number, got 'auto'"), ({"gamma": -1.0}, "gamma must be"),
    ({"kappa": np.inf}, "kappa must be"), ({"kappa": np.nan}, "kappa must be")])
def test_units_are_checked(options, word):
    with pytest.raises(ValueError, match=word):
        warm_start(KernelMachine(Linear(), [[1.0]], [1.0], 0.0), [[1.0]], [1], **options)


def test_only_a_recovered_machine_can_be_upgraded():
    for thing in (None, SVC(), 3):
        with pytest.raises(TypeError, match="a Deconstruction or a KernelMachine"):
            upgrade(thing, [[1.0]], [1])


def test_thresholds_that_are_as_good_as_none_are_not_taken():
    f, y = np.array([-2, -2, 1, 1, 2, 2.0]), np.array([1, 1, 1, -1, -1, -1])
    assert equal_errors(f, y) == 0


def test_the_word_for_the_threshold_is_checked():
    with pytest.raises(ValueError, match="equal errors.*'best'"):
        upgrade(KernelMachine(Linear(), [[1.0]], [1.0], 0.0), [[1.0]], [1], threshold="best")


# -- labels in other words, and a warning --------------------------------------------------------


@pytest.mark.parametrize("words", [(1, 0), (True, False), ("yes", "no"), (7, 3), (1.0, -1.0)])
def test_labels_in_other_words(words):
    model = KernelMachine(Polynomial(2), [[1.0, 0.0]], [1.0], 4.0)
    X = np.array([[2.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [1.0, 3.0]])
    t = np.array([1, -1, -1, 1, 1])
    told = np.where(t > 0, words[0], words[1])
    upgraded, expected = upgrade(model, X, told, C=100.0), upgrade(model, X, t, C=100.0)
    np.testing.assert_array_equal(upgraded.decision_function(X), expected.decision_function(X))


def test_a_models_own_labels_need_not_both_occur():
    machine = KernelMachine(Linear(), [[1.0]], [1.0], 0.0)
    result = Deconstruction(machine=machine, labels=("bad", "good"))
    base = warm_start(result, [[2.0]], ["bad"])
    assert base.predict([[2.0]])[0] == 1
    with pytest.raises(ValueError, match="none of the examples right"):
        warm_start(result, [[2.0]], ["good"])


def test_a_table_with_names_is_as_good_as_an_array():
    pd = pytest.importorskip("pandas")
    model = KernelMachine.random(Linear(), 3, 2, 1)
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = model.predict(X + 0.1)
    table = upgrade(model, pd.DataFrame(X, columns=list("abc")), pd.Series(y))
    np.testing.assert_array_equal(table.weights, upgrade(model, X, y).weights)


def lesson(digits, new, known, both=True):
    """Eights that are to be 1s, and images with the labels of the box."""
    svc, _, X, y = digits
    eights, others = np.flatnonzero(y == 8)[:new], np.flatnonzero(y != 8)
    labels = svc.predict(X[others])
    told = np.where(labels, 1, -1)
    order = np.arange(len(others)) if both else np.argsort(~labels, kind="stable")
    index = np.concatenate([eights, others[order[:known]]])
    return KernelMachine.from_sklearn(svc), X[index], np.r_[np.ones(new), told[order[:known]]]


@pytest.mark.parametrize("new, known, both, warns", [
    (80, 0, True, True), (80, 2, True, True), (30, 40, False, True),
    (80, 400, True, False), (80, 60, True, False), (5, 20, True, False)])
def test_new_examples_alone_are_warned_of(digits, new, known, both, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        upgrade(*lesson(digits, new, known, both), threshold="margin", progress=False)
    assert [w.category for w in caught] == [UserWarning] * warns
    assert not warns or "add known examples" in str(caught[0].message)
    assert not warns or caught[0].filename == __file__
