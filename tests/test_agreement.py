"""The certificate: passes what is right, and halves what is a little wrong."""

import numpy as np
import pytest

from decon import KernelMachine, Linear, Oracle, Polynomial
from decon.extraction.agreement import agreement_test


def cloud(d, n=1000):
    return 2 * np.random.default_rng(7).standard_normal((n, d))


@pytest.mark.parametrize("seed", range(5))
def test_the_machine_itself_scores_one(seed):
    box = KernelMachine.random(Polynomial(2), 8, 3, seed)
    oracle = Oracle(box.predict, 8)
    assert agreement_test(oracle, box, cloud(8), 1e-5) == {"far": 1.0, "close": 1.0}
    assert oracle.queries == 1000


@pytest.mark.parametrize("shift, close", [(1e-7, 1.0), (1e-3, 0.5)])
def test_a_shifted_threshold_shows_close_to_the_boundary(shift, close):
    box = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.0)
    shifted = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], shift)
    agreement = agreement_test(Oracle(box.predict, 2), shifted, cloud(2), 1e-5)
    assert agreement["close"] == close and agreement["far"] > 0.99


def test_a_wrong_weight_shows_close_to_the_boundary():
    box = KernelMachine.random(Polynomial(2), 8, 3, 0)
    weights = box.weights * [1, 1, 1.01]
    wrong = KernelMachine(box.kernel, box.support_vectors, weights, box.threshold)
    assert agreement_test(Oracle(box.predict, 8), wrong, cloud(8), 1e-5)["close"] < 0.6


def test_a_machine_of_one_label_has_no_boundary_to_be_close_to():
    box = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.0)
    constant = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 1e9)
    agreement = agreement_test(Oracle(box.predict, 2), constant, cloud(2), 1e-5)
    assert np.isnan(agreement["close"]) and 0.4 < agreement["far"] < 0.6


@pytest.mark.parametrize("nearer", [-1e-12, 1e-12])
def test_points_on_the_boundary_itself_do_not_count(nearer):
    # rounding decides their labels, and a feature may lie there
    box = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.0)
    again = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], nearer)
    points = cloud(2)
    points[:20, 0] = 0
    assert agreement_test(Oracle(box.predict, 2), again, points, 1e-5)["far"] == 1
    displaced = KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.5)
    assert agreement_test(Oracle(box.predict, 2), displaced, points, 1e-5)["far"] < 0.96
