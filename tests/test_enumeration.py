"""Enumeration against brute force over all subsets, and against retraining on real data."""

from heapq import heappop, heappush
from itertools import count, islice

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

from decon import Gaussian, IncrementalSVM, Linear, Polynomial, enumerate_svms
from decon.learning.qp import dual_optimum


def trained_on(rows, Q, y, C):
    """Objective and support of the SVM on a subset."""
    a = np.zeros(len(y))
    if len(rows):
        a[rows] = dual_optimum(Q[np.ix_(rows, rows)], y[rows], np.ones(len(rows)), C)
    return a.sum() - 0.5 * a @ Q @ a, tuple(np.flatnonzero(a > 0).tolist())


def listed(models):
    models = list(models)
    return [m.objective for m in models], [tuple(m.support.tolist()) for m in models]


@pytest.mark.parametrize("n", [1, 4, 7, 9])
@pytest.mark.parametrize("kernel, C", [(Gaussian(1.0), 0.5), (Gaussian(0.7), 100.0),
                                       (Polynomial(3), 3.0), (Gaussian(2.0), 5.0)])
def test_all_models_of_all_subsets_in_order(n, kernel, C):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((n, 3)), rng.choice([-1.0, 1.0], n)
        Q = kernel(X, X) * np.outer(y, y)
        brute = {}
        for mask in range(1 << n):
            objective, support = trained_on(np.flatnonzero([mask >> i & 1 for i in range(n)]),
                                            Q, y, C)
            brute[support] = objective
        objectives, supports = listed(enumerate_svms(X, y, kernel, C, progress=False))
        assert len(supports) == len(set(supports)) == len(brute) and set(supports) == set(brute)
        np.testing.assert_allclose(objectives, [brute[s] for s in supports], atol=1e-9)
        np.testing.assert_allclose(objectives, sorted(brute.values(), reverse=True), atol=1e-9)


@pytest.mark.parametrize("load, kernel", [(load_breast_cancer, Gaussian(5.0)),
                                          (load_wine, Gaussian(4.0)),
                                          (load_wine, Polynomial(2, gamma=0.1))])
def test_fifty_models_as_retraining_lists_them(load, kernel):
    X, y = load(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:120], np.where(y[:120] == 1, 1.0, -1.0)
    Q, C, number = kernel(X, X) * np.outer(y, y), 1.0, count()
    heap, seen = [], []

    def push(rows, branched):
        objective, support = trained_on(rows, Q, y, C)
        heappush(heap, (-objective, next(number), support, rows, branched))

    push(np.arange(len(y)), frozenset())
    while len(seen) < 50:
        _, _, support, rows, branched = heappop(heap)
        if support not in seen:
            seen.append(support)
        for i in support:
            if i not in branched:
                branched |= {i}
                push(rows[rows != i], branched)
    objectives, supports = listed(enumerate_svms(X, y, kernel, C, 50, progress=False))
    assert supports == seen and (np.diff(objectives) <= 0).all()


def test_the_machines_are_those_of_their_support_vectors():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.choice([-1, 1], 30)
    for model in enumerate_svms(X, y, Gaussian(1.0), 2.0, 20, progress=False):
        alone = IncrementalSVM(Gaussian(1.0), 2.0).fit(X[model.support], y[model.support])
        assert model.objective == pytest.approx(alone.objective, rel=1e-10)
        np.testing.assert_array_equal(model.machine.support_vectors, X[model.support])
        np.testing.assert_allclose(model.machine.weights, alone.machine().weights, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_on_singular_kernels_the_objectives_are_still_in_order(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((12, 2)).round(), rng.choice([-1, 1], 12)
    objectives, supports = listed(enumerate_svms(X, y, Linear(), 1.0, 40, progress=False))
    assert (np.diff(objectives) <= 1e-9).all() and len(set(supports)) == len(supports)


def test_models_are_computed_as_they_are_asked_for(monkeypatch):
    gone = []
    deactivate = IncrementalSVM.deactivate
    monkeypatch.setattr(IncrementalSVM, "deactivate",
                        lambda svm, i: (gone.append(i), deactivate(svm, i)))
    rng = np.random.default_rng(0)
    models = enumerate_svms(rng.standard_normal((40, 2)), rng.choice([-1, 1], 40), Gaussian(1.0),
                            progress=False)
    next(models)
    assert not gone
    assert len(list(islice(models, 3))) == 3 and gone


@pytest.mark.parametrize("X, y, word", [
    ([[0.0], [np.nan]], [1, -1], "NaN"), ([[0.0], [1.0], [2.0]], [1, 2, 3], "two classes"),
    ([[0.0], [1.0]], [1], "inconsistent"), ([[0.0], ["red"]], [1, 0], "is 'red': encode")])
def test_examples_that_cannot_be_learned(X, y, word):
    with pytest.raises(ValueError, match=word):
        next(enumerate_svms(X, y, Linear(), progress=False))


def test_the_last_model_wanted_has_no_children():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.choice([-1, 1], 60)
    unlearned = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IncrementalSVM, "deactivate", lambda svm, i: unlearned.append(i))
        first, = enumerate_svms(X, y, Gaussian(1.0), count=1)
    assert not unlearned and len(first.support) > 10


def test_a_far_example_does_not_disturb_the_order():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((8, 2)), np.array([1, -1] * 4)
    X[0] *= 1000
    values = [model.objective for model in enumerate_svms(X, y, Polynomial(2), 10.0)]
    assert all(a >= b - 1e-9 * abs(a) for a, b in zip(values, values[1:], strict=False))


def test_models_can_be_compared_and_collected():
    models = list(enumerate_svms([[0.0], [1.0]], [-1, 1], Linear()))
    assert models[0] != models[1] and len(set(models)) == 2
    assert len(repr(models[0])) < 120


@pytest.mark.parametrize("words", [(0, 1), ("no", "yes"), (False, True)])
def test_labels_in_other_words_list_the_same_models(words):
    rng = np.random.default_rng(1)
    X, t = rng.standard_normal((15, 2)), rng.choice([-1, 1], 15)
    y = np.array(words)[(t > 0).astype(int)]
    pairs = zip(enumerate_svms(X, t, Gaussian(1.0), 2.0, 20, progress=False),
                enumerate_svms(X, y, Gaussian(1.0), 2.0, 20, progress=False), strict=True)
    for ours, theirs in pairs:
        assert ours.objective == theirs.objective
        np.testing.assert_array_equal(ours.support, theirs.support)
        np.testing.assert_array_equal(theirs.machine.predict(X), ours.machine.predict(X))
