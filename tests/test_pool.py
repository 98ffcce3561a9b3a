"""Pools of labelled points: enough of both labels, and pairs that bracket."""

import numpy as np
import pytest

from decon import Oracle
from decon.boundary.pairs import Pool


def pool_of(predict, points, labels, d=3):
    return Pool(Oracle(predict, d, positive=True), np.asarray(points, float), np.asarray(labels),
                np.random.default_rng(0))


@pytest.mark.parametrize("radius", [0.05, 0.3])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_rare_label_becomes_less_rare_and_all_labels_are_true(radius, sign):
    def predict(X):
        return (np.linalg.norm(X, axis=1) < radius) == (sign > 0)

    pool = pool_of(predict, [[0, 0, 0], [1, 1, 1]], [sign, -sign])
    pool.add_cloud(np.random.default_rng(1).standard_normal((50, 3)), fewest=15, width=1e-3)
    np.testing.assert_array_equal(pool.labels > 0, predict(pool.points))
    assert min((pool.labels > 0).sum(), (pool.labels < 0).sum()) >= 15
    P, N = pool.pairs(20)
    assert predict(P).all() and not predict(N).any()


def test_labels_that_are_frequent_enough_cost_no_more_than_the_cloud():
    pool = pool_of(lambda X: X[:, 0] > 0, [[1, 0, 0], [-1, 0, 0]], [1, -1])
    pool.add_cloud(np.random.default_rng(1).standard_normal((50, 3)), fewest=10, width=1e-3)
    assert pool.oracle.queries == 50 and len(pool.points) == 52


def test_neighbours_on_a_line_bracket_every_crossing_once():
    pool = pool_of(lambda X: np.abs(X[:, 0]) > 1, [[-3], [0], [-2], [0.5], [2]], [1, -1, 1, -1, 1],
                   d=1)
    P, N = pool.neighbours()
    pairs = sorted(zip(P.ravel().tolist(), N.ravel().tolist(), strict=True))
    assert pairs == [(-2, 0), (2, 0.5)]


def test_a_pool_says_what_it_holds():
    pool = pool_of(lambda X: X[:, 0] > 0, [[1, 0, 0], [-1, 0, 0], [-2, 0, 0]], [1, -1, -1])
    assert repr(pool) == "Pool(1 of 3 points positive)"
    pool.add(np.ones((2, 3)), np.array([1, 1]))
    assert repr(pool) == "Pool(3 of 5 points positive)" and pool.points.shape == (5, 3)


@pytest.mark.parametrize("sign", [1, -1])
def test_points_of_a_rare_label_lie_between_ends_of_brackets(sign):
    """Of a half-space, so that they all have the label: at least a fifth of the way from each."""
    def predict(X):
        return (X[:, 0] > 2) == (sign > 0)

    pool = pool_of(predict, [[3, 0, 0], [0, 0, 0]], [sign, -sign])
    cloud = np.random.default_rng(1).uniform(-1, 1, (40, 3))
    pool.add_cloud(cloud, fewest=30, width=1e-3)
    assert (pool.labels == sign).sum() == 30 and (pool.labels == -sign).sum() == 41
    new = pool.points[42:]
    assert len(new) == 29 and (new[:, 0] > 2).all() and (new[:, 0] < 2.001).all()
    assert len(np.unique(new.round(9), axis=0)) == 29
    at = pool.oracle.queries
    pool.add_cloud(cloud[:5], fewest=31, width=1e-3)
    assert (pool.labels == sign).sum() == 31
    pool.add_cloud(cloud[:5], fewest=31, width=1e-3)
    assert pool.oracle.queries - at < 5 + 5 + 1 + 14  # two clouds, one point, its bracket


def test_where_points_between_ends_have_the_other_label_the_ends_do():
    def predict(X):
        return (np.abs(X[:, 0]) > 1)  # two far sides: between them lies the other label

    pool = pool_of(predict, [[1.001, 0, 0], [-1.001, 0, 0], [0, 0, 0]], [1, 1, -1])
    pool.add_cloud(np.random.default_rng(0).uniform(-0.9, 0.9, (50, 3)), fewest=20, width=1e-6)
    np.testing.assert_array_equal(pool.labels > 0, predict(pool.points))
    np.testing.assert_allclose(np.abs(pool.points[pool.labels > 0, 0]), 1, atol=2e-3)
