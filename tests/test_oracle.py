"""The oracle: counting, kinds of labels, and boxes that misbehave."""

from dataclasses import replace

import numpy as np
import pytest

from decon import BudgetExhausted, Oracle, OracleError
from decon.oracles.errors import SearchTooLong
from decon.oracles.settings import SETTINGS
from decon.oracles.views import SearchView

X = np.array([[-1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
SIGNS = [-1, 1, 1]


def small_blocks(monkeypatch, size):
    small = replace(SETTINGS, block_megabytes=size / 1e6)
    monkeypatch.setattr("decon.oracles.oracle.SETTINGS", small)


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
    small_blocks(monkeypatch, 8 * 2 * 10)
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
    (lambda X: np.arange(len(X)), "two kinds, but this model has 3"),
    (lambda X: np.array(["a", "b", "c"]), "'a', 'b', 'c'"),
    (lambda X: [1], "one label per point: 3 points"),
    (lambda X: 1, "one label per point"),
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


# Noise: votes

def flipping(p, seed=0):
    rng = np.random.default_rng(seed)
    return lambda X: (X[:, 0] > 0.5) ^ (rng.random(len(X)) < p)


@pytest.mark.parametrize("p, lead", [(0, 1), (1e-6, 1), (1e-3, 2), (0.01, 3), (0.05, 5),
                                     (0.1, 6), (0.25, 12), (0.4, 33)])
def test_the_lead_is_the_smallest_that_errs_rarely_enough(p, lead):
    oracle = Oracle(len, 2, noise=p)
    assert oracle.votes_to_lead == lead
    if p:
        odds = p / (1 - p)
        assert odds**lead <= 2e-6 < odds ** (lead - 1)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.3])
def test_votes_are_right_and_cost_what_the_gamblers_ruin_says(p):
    X = np.random.default_rng(1).random((20_000, 2))
    oracle = Oracle(flipping(p), 2, noise=p)
    labels = oracle(X)
    assert ((labels > 0) == (X[:, 0] > 0.5)).all()
    expected = oracle.votes_to_lead / (1 - 2 * p)  # times 1 - 2 (the error), which is 1
    assert oracle.queries / len(X) == pytest.approx(expected, rel=0.03)


def test_no_point_is_asked_about_in_vain():
    asked = []

    def predict(X):
        asked.append(len(X))
        return X[:, 0] > 0.5

    oracle = Oracle(predict, 2, noise=0.01)
    oracle(np.random.default_rng(0).random((10, 2)))
    assert asked == [30] and (oracle.queries, oracle.calls) == (30, 1)


def test_the_budget_holds_while_votes_are_cast():
    oracle = Oracle(flipping(0.2), 2, noise=0.2, budget=1000)
    with pytest.raises(BudgetExhausted):
        oracle(np.random.default_rng(0).random((90, 2)))
    assert 500 < oracle.queries <= 1000
    with pytest.raises(BudgetExhausted):
        Oracle(flipping(0.2), 2, noise=0.2, budget=1000)(np.zeros((200, 2)))


def test_votes_in_small_blocks(monkeypatch):
    small_blocks(monkeypatch, 16 * 10)
    X = np.random.default_rng(0).random((100, 2))
    assert ((Oracle(flipping(0.05), 2, noise=0.05)(X) > 0) == (X[:, 0] > 0.5)).all()


# Bounds

def test_questions_out_of_bounds_are_not_asked():
    oracle = Oracle(lambda X: X[:, 0] > 0, 2, bounds=([0, -1], 2))
    oracle([[0, -1], [2, 2], [0.5, 1]])
    with pytest.raises(ValueError, match=r"1 of 2 points are out of bounds: feature 1 of point 1 "
                                         r"is -1.5, but may be from -1 to 2"):
        oracle([[0, 0], [1, -1.5]])
    assert oracle.queries == 3
    assert oracle.inside([[0, 0], [1, -1.5], [2, 2]]).tolist() == [True, False, True]
    assert Oracle(len, 2).inside([[0, 1e9]]).tolist() == [True]


@pytest.mark.parametrize("make, word", [
    (lambda: Oracle(len, 2, noise=-0.1), r"\[0, 0.5\)"),
    (lambda: Oracle(len, 2, noise=0.5), r"\[0, 0.5\)"),
    (lambda: Oracle(len, 2, noise=np.nan), r"\[0, 0.5\)"),
    (lambda: Oracle(len, 2, noise="1%"), r"\[0, 0.5\)"),
    (lambda: Oracle(len, 2, bounds=1), "pair"),
    (lambda: Oracle(len, 2, bounds=(0, 1, 2)), "pair"),
    (lambda: Oracle(len, 2, bounds=([0, 0, 0], 1)), "pair"),
    (lambda: Oracle(len, 2, bounds=(1, 0)), "below"),
    (lambda: Oracle(len, 2, bounds=([0, 1], [1, 1])), "below"),
    (lambda: Oracle(len, 2, bounds=(0, np.inf)), "finite"),
])
def test_malformed_noise_and_bounds_are_refused(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_a_misspelt_positive_label_is_named():
    oracle = Oracle(lambda X: np.where(X[:, 0] > 0, "good", "bad"), 2, positive="Good")
    with pytest.raises(OracleError, match="positive='Good'.*'bad' and 'good'"):
        oracle(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    oracle = Oracle(lambda X: np.where(X[:, 0] > 0, "good", "bad"), 2, positive="Good")
    oracle(np.array([[-1.0, 0.0]]))
    with pytest.raises(OracleError, match="positive='Good'.*'bad' and 'good'"):
        oracle(np.array([[1.0, 0.0]]))


def test_columns_of_scores_are_recognised_by_their_shape():
    oracle = Oracle(lambda X: np.c_[X[:, 0], 1 - X[:, 0]], 2)
    with pytest.raises(OracleError, match=r"shape \(3, 2\).*predict_proba"):
        oracle(np.ones((3, 2)))


def test_an_automatic_budget_ends_a_search_and_not_the_oracle():
    view = SearchView(Oracle(lambda X: X[:, 0] > 0, 1, positive=True), 0, limit=3)
    assert (view([[1.0], [2.0], [-1.0]]) == [1, 1, -1]).all()
    with pytest.raises(SearchTooLong, match="budget=None"):
        view([[1.0]])
    assert (view.oracle([[1.0]]) == 1).all() and Oracle(view, 1).budget == "auto"


@pytest.mark.parametrize("budget", ["automatic", -1, "100"])
def test_a_budget_is_a_number_none_or_auto(budget):
    with pytest.raises(ValueError, match="None or 'auto'"):
        Oracle(lambda X: X[:, 0] > 0, 1, budget=budget)
