"""Pools of labelled points: enough of both labels, and pairs that bracket."""

import numpy as np
import pytest

from decon import Oracle
from decon.pool import Pool


def pool_of(predict, points, labels, d=3):
    return Pool(Oracle(predict, d, positive=True), np.asarray(points, float), np.asarray(labels),
                np.random.default_rng(0))


@pytest.mark.parametrize("radius", [0.05, 0.3])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_rare_label_becomes_less_rare_and_all_labels_are_true(radius, sign):
    def predict(X):
        return (np.linalg.norm(X, axis=1) < radius) == (sign > 0)

    pool = pool_of(predict, [[0, 0, 0], [1, 1, 1]], [sign, -sign])
    pool.add_cloud(np.random.default_rng(1).standard_normal((50, 3)), rarest=15, coarse=1e-3)
    np.testing.assert_array_equal(pool.labels > 0, predict(pool.points))
    assert min((pool.labels > 0).sum(), (pool.labels < 0).sum()) >= 15
    P, N = pool.pairs(20)
    assert predict(P).all() and not predict(N).any()


def test_labels_that_are_frequent_enough_cost_no_more_than_the_cloud():
    pool = pool_of(lambda X: X[:, 0] > 0, [[1, 0, 0], [-1, 0, 0]], [1, -1])
    pool.add_cloud(np.random.default_rng(1).standard_normal((50, 3)), rarest=10, coarse=1e-3)
    assert pool.oracle.queries == 50 and len(pool.points) == 52


def test_neighbours_on_a_line_bracket_every_crossing_once():
    pool = pool_of(lambda X: np.abs(X[:, 0]) > 1, [[-3], [0], [-2], [0.5], [2]], [1, -1, 1, -1, 1],
                   d=1)
    P, N = pool.neighbours()
    pairs = sorted(zip(P.ravel().tolist(), N.ravel().tolist(), strict=True))
    assert pairs == [(-2, 0), (2, 0.5)]
