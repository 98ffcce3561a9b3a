"""The oracle: counting, kinds of labels, and boxes that misbehave."""

import numpy as np
import pytest

import decon.oracle
from decon import BudgetExhausted, Oracle, OracleError

X = np.array([[-1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
SIGNS = [-1, 1, 1]


@pytest.mark.parametrize("negative, positive", [
    (-1, 1), (0, 1), (False, True), ("cat", "dog"), (3, 7), (-1.0, 1.0), (0, -1)])
def test_labels_of_any_two_kinds(negative, positive):
    oracle = Oracle(lambda X: np.where(X[:, 0] > 0, positive, negative), 2)
    signs = SIGNS if positive > negative else [-s for s in SIGNS]
    for points in (X, X[:1], X[1:]):
        labels = oracle(points)
        assert labels.dtype == np.int8
    assert oracle(X).tolist() == signs


@pytest.mark.parametrize("negative, positive", [("dog", "cat"), (1, 0), (7, 3), (True, False)])
def test_positive_says_which_label_is_plus_one(negative, positive):
    oracle = Oracle(lambda X: np.where(X[:, 0] > 0, positive, negative), 2, positive=positive)
    assert oracle(X[:1]).tolist() == [-1]
    assert oracle(X).tolist() == SIGNS


def test_lists_columns_and_object_arrays_of_labels():
    for shape in (list, lambda a: a[:, None], lambda a: a.astype(object)):
        oracle = Oracle(lambda X, shape=shape: shape(np.where(X[:, 0] > 0, "b", "a")), 2)
        assert oracle(X).tolist() == SIGNS


def test_one_kind_at_a_time_is_understood_where_it_is_clear():
    for label, sign in [(1, 1), (0, -1), (-1, -1), (True, 1), (False, -1)]:
        assert Oracle(lambda X, label=label: np.full(len(X), label), 2)(X).tolist() == [sign] * 3


@pytest.mark.parametrize("label", ["yes", 5, 2.5])
def test_one_kind_at_a_time_is_refused_where_it_is_not(label):
    with pytest.raises(OracleError, match="positive="):
        Oracle(lambda X: np.full(len(X), label), 2)(X)


def test_one_and_two_are_ambiguous_only_if_one_came_alone():
    predict = lambda X: np.where(X[:, 0] > 0, 2, 1)  # noqa: E731
    assert Oracle(predict, 2)(X).tolist() == SIGNS
    oracle = Oracle(predict, 2)
    oracle(X[:1])
    with pytest.raises(OracleError, match="positive="):
        oracle(X)


def test_every_point_is_counted_in_blocks(monkeypatch):
    monkeypatch.setattr(decon.oracle, "BLOCK_BYTES", 8 * 2 * 10)
    sizes = []

    def predict(X):
        sizes.append(len(X))
        return X[:, 0] > 0

    oracle = Oracle(predict, 2)
    points = np.random.default_rng(0).standard_normal((37, 2))
    assert ((oracle(points) > 0) == (points[:, 0] > 0)).all()
    assert oracle.queries == 37 and oracle.calls == 4 and max(sizes) == 10
    assert oracle(np.empty((0, 2))).shape == (0,) and oracle.queries == 37


def test_budget_is_never_exceeded():
    oracle = Oracle(lambda X: X[:, 0] > 0, 2, budget=5)
    oracle(X)
    with pytest.raises(BudgetExhausted, match="budget is 5 queries; 3 are spent and 3 more"):
        oracle(X)
    assert oracle.queries == 3
    oracle(X[:2])
    assert oracle.queries == 5


@pytest.mark.parametrize("points, word", [
    (np.zeros((3, 5)), r"\(n, 2\), got \(3, 5\)"), (np.zeros(2), r"got \(2,\)"),
    (np.full((1, 2), np.nan), "NaN"), (np.full((1, 2), np.inf), "infinite")])
def test_malformed_questions_cost_nothing(points, word):
    oracle = Oracle(lambda X: X[:, 0] > 0, 2)
    with pytest.raises(ValueError, match=word):
        oracle(points)
    assert oracle.queries == 0


def _raise(X):
    raise KeyError("no such column")


@pytest.mark.parametrize("predict, word", [
    (lambda X: X[:, 0], "scores"),
    (lambda X: np.arange(len(X)), "two kinds, but this one has 3"),
    (lambda X: np.array(["a", "b", "c"]), "'a', 'b', 'c'"),
    (lambda X: [1], "one label a point: 3 points"),
    (lambda X: 1, "one label a point"),
    (lambda X: np.zeros((3, 2)), r"shape \(3, 2\)"),
    (lambda X: np.array([1, 0, np.nan]), "NaN"),
    (lambda X: [None, 1, 0], "None"),
    (_raise, "KeyError on an array of shape .3, 2.: 'no such column'"),
])
def test_boxes_that_misbehave_are_told_what_is_wrong(predict, word):
    with pytest.raises(OracleError, match=word):
        Oracle(predict, 2)(X)


def test_a_third_kind_of_label_that_comes_late():
    oracle = Oracle(lambda X: np.sign(X[:, 0]), 2)
    oracle(X)
    with pytest.raises(OracleError, match="two kinds"):
        oracle(np.zeros((1, 2)))


def test_labels_without_an_order():
    labels = np.array(["a", 3, 3], dtype=object)
    with pytest.raises(OracleError, match="no order.*positive="):
        Oracle(lambda X: labels[: len(X)], 2)(X)
    assert Oracle(lambda X: labels[: len(X)], 2, positive=3)(X).tolist() == SIGNS


def test_a_predict_that_changes_its_argument_changes_nothing_else():
    def predict(X):
        X -= 0.5
        return X[:, 0] > 0

    before = X.copy()
    assert Oracle(predict, 2)(X).tolist() == SIGNS
    np.testing.assert_array_equal(X, before)


def test_errors_of_an_oracle_inside_an_oracle_pass_through():
    inner = Oracle(lambda X: X[:, 0] > 0, 2, budget=1)
    with pytest.raises(BudgetExhausted):
        Oracle(inner, 2)(X)


@pytest.mark.parametrize("make, word", [
    (lambda: Oracle(3, 2), "callable"),
    (lambda: Oracle(len, 0), "dimension"),
    (lambda: Oracle(len, 2.5), "dimension"),
    (lambda: Oracle(len, 2, budget=-1), "budget"),
    (lambda: Oracle(len, 2, budget=np.nan), "budget"),
    (lambda: Oracle(len, 2, budget="9"), "budget"),
    (lambda: Oracle(len, None), "dimension"),
])
def test_malformed_oracles_are_refused(make, word):
    with pytest.raises((TypeError, ValueError), match=word):
        make()
