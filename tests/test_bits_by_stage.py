"""What the stages of a search have learnt: every query is booked, and no bit is counted twice."""

import numpy as np
import pytest

from decon import Linear, Oracle, deconstruct
from experiments import bits_by_stage
from experiments._limit import Prior
from experiments._models import random_model


@pytest.mark.parametrize("name", ["linear", "quadratic", "cubic"])
def test_no_part_of_a_search_is_left_out_and_none_brings_more_bits_than_queries(name):
    parts, bound = bits_by_stage.one_model(name, 0)
    machine, features = random_model(bits_by_stage.KERNELS[name], 30, 12, 0)
    oracle = Oracle(machine.predict, 30)
    deconstruct(oracle, features, random_state=0, progress=False)
    assert sum(queries for queries, _ in parts.values()) == oracle.queries
    assert parts["agreement"][1] == 0
    assert bound < sum(bits for _, bits in parts.values()) < oracle.queries


def test_bits_are_those_of_a_posterior_covariance():
    """Of a plane w.x = b and brackets on the axes, crossings are b / w_k: all by hand."""
    rng, (machine, _) = np.random.default_rng(1), random_model(Linear(), 3, 2, 0)
    own = np.r_[machine.support_vectors.ravel(), machine.weights]
    prior = Prior(machine, rng.uniform(0.5, 2, 8), rng.standard_normal(8), 0.3)
    crossings = machine.threshold / (machine.weights @ machine.support_vectors)
    noted = [("first", np.diag(crossings)[:2], np.eye(3)[:2], np.full(2, 1e-6)),
             ("second", np.diag(crossings)[2:], np.eye(3)[2:], np.full(1, 1e-9))]
    bits = bits_by_stage.information(prior, 1.0, noted)

    # the derivatives of a crossing by the numbers, by differences
    def crossing(change, k):
        step = change[:8] * prior.units
        Y, w = (own + step)[:6].reshape(2, 3), (own + step)[6:]
        return (machine.threshold + prior.follows @ step + 0.3 * change[8]) / (w @ Y)[k]

    J = [[(crossing(h, k) - crossing(-h, k)) / 2e-6 for h in 1e-6 * np.eye(9)] for k in range(3)]
    rows = np.array(J) / np.array([1e-6, 1e-6, 1e-9])[:, None] * np.sqrt(12)
    # the same determinant from the side of the brackets: fewer digits are lost
    dets = [np.linalg.slogdet(np.eye(n) + rows[:n] @ rows[:n].T)[1] / np.log(4) for n in (0, 2, 3)]
    assert list(bits.values()) == pytest.approx(np.diff(dets), rel=1e-4)
