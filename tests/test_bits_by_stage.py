"""What the stages of a search have learnt: every query is booked, and no bit is counted twice."""

import numpy as np
import pytest

from decon import Linear, Oracle, deconstruct
from decon.families.sharpening.numbers import numbers_of
from experiments import bits_by_stage
from experiments._models import random_model


@pytest.mark.parametrize("name", ["linear", "quadratic", "cubic"])
def test_no_part_of_a_search_is_left_out_and_none_brings_more_bits_than_queries(name):
    parts = bits_by_stage.one_model(name, 0)
    machine, features = random_model(bits_by_stage.KERNELS[name], 30, 12, 0)
    oracle = Oracle(machine.predict, 30)
    deconstruct(oracle, features, random_state=0, progress=False)
    assert sum(queries for queries, _ in parts.values()) == oracle.queries
    assert parts["agreement"][1] == 0
    assert sum(bits for _, bits in parts.values()) < oracle.queries


def test_bits_are_those_of_a_posterior_covariance():
    """Of a plane w.x = 1 and brackets on the axes, crossings are 1/w_k: all by hand."""
    machine, _ = random_model(Linear(), 3, 2, 0)
    normal = machine.weights @ machine.support_vectors
    crossings = machine.threshold / normal
    numbers = numbers_of(machine, 1, 1.0)
    noted = [("first", np.diag(crossings)[:2], np.eye(3)[:2], np.full(2, 1e-6)),
             ("second", np.diag(crossings)[2:], np.eye(3)[2:], np.full(1, 1e-9))]
    bits = bits_by_stage.information(machine, 1, 1.0, noted)

    # the derivatives of a crossing by the numbers, by differences
    def crossing(theta, k):
        f, gradient = numbers.values(theta, np.zeros((1, 3)))
        return -f[0] / gradient[0, k]

    J = [[(crossing(numbers.start + h, k) - crossing(numbers.start - h, k)) / 2e-6
          for h in 1e-6 * np.eye(len(numbers.start))] for k in range(3)]
    rows = np.array(J) / np.array([1e-6, 1e-6, 1e-9])[:, None] * np.sqrt(12)
    prior = np.diag(numbers.sizes**-2.0)
    dets = [np.linalg.slogdet(prior + rows[:n].T @ rows[:n])[1] / np.log(4) for n in (0, 2, 3)]
    assert list(bits.values()) == pytest.approx(np.diff(dets), rel=1e-4)
