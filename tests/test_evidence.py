"""What a search knows of a model: how far out its boundary is curved, and S_Y as roughly known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh, deconstruct
from decon.boundary.normals import orthonormal_complement
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.ledger import Ledger
from decon.extraction.survey import Survey
from decon.subspaces.spans import largest_sine
from experiments._models import random_model


def evidence_of(kernel, d, m, seed):
    model = KernelMachine.random(kernel, d, m, seed)
    oracle = Oracle(model.predict, d)
    survey = Survey(oracle, np.random.default_rng(seed).standard_normal((40, d)),
                    Ledger(oracle, progress=False), seed)
    survey.run()
    return model, GatheredEvidence(oracle, survey, survey.ledger)


# -- the curvature scale -----------------------------------------------------------------------


class Bending:
    """Five secants, of which some leave the boundary from one distance on, others from another."""

    def __init__(self, *lengths):
        self.lengths = np.array(lengths)

    def __call__(self, X):
        # along axis j of five runs the secant j: the label changes with the last coordinate, but
        # beyond its length
        j = np.abs(X[:, :5]).argmax(1)
        off = X[np.arange(len(X)), j] > self.lengths[j] * 0.99
        return np.where(off, -1, np.where(X[:, 5] > 0, 1, -1))


@pytest.mark.parametrize("lengths, scale", [
    ((1, 1, 1, 64, 512), 1),  # most of them at once
    ((1, 8, 64, 64, 512), 64),  # one more at every distance, until most of them have left
    ((1, 1, 512, 512, 512), 1),  # two at once, and no others at the next
    ((1, 512, 512, 512, 512), 512),  # one alone may be chance
    ((8, 8, 8e9, 8e9, 8e9), 8),
    ((64, 1e99, 1e99, 1e99, 1e99), 64)])
def test_the_curvature_scale_is_where_secants_leave_the_boundary(lengths, scale):
    survey = Survey.__new__(Survey)
    survey.oracle, survey.bounded, survey.scale = Bending(*lengths), False, 1.0
    survey.ledger = Ledger(SimpleNamespace(queries=0), progress=False)
    survey.X = np.repeat(np.eye(5, 6), 2, axis=0) * np.tile([0, 0.5], 5)[:, None]
    survey.V = np.tile(np.eye(6)[5], (10, 1))
    survey.find_curvature_scale()
    assert survey.curvature_scale == scale and not survey.flat


@pytest.mark.parametrize("seed", [4, 25])
def test_a_boundary_that_is_curved_nearby_is_not_sought_far_away(seed):
    """Two of five secants leave it at once, the third 64 or 512 times as far out."""
    model, features = random_model(Polynomial(3), 30, 12, seed)
    result = deconstruct(Oracle(model.predict, 30), features, random_state=seed, progress=False)
    assert result.own_vectors
    assert sum(result.queries_by_stage.values()) < 24_000  # before: 89,000 and 70,000


# -- a rough S_Y -------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Polynomial(3), Tanh(1.0, 0.1), Gaussian(4.0)], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_a_rough_subspace_that_lacks_a_direction_fails_a_finer_test(kernel, seed):
    model, evidence = evidence_of(kernel, 25, 5, seed)
    right = evidence.rough_subspace
    assert right.rough and right.rank == 5
    lacking = replace(right, basis=right.basis @ np.linalg.qr(
        np.random.default_rng(seed).standard_normal((5, 4)))[0])
    vars(evidence)["_rough_by_normals"] = lacking
    assert evidence.rough_subspace is lacking and not evidence.rough_subspace_refuted

    # another one is found, still rough, and stands from now on
    assert evidence.finds_another_subspace() and evidence.rough_subspace_refuted
    found = evidence.rough_subspace
    assert found.rough and found.rank == 5 and evidence.known_subspace is found
    assert largest_sine(found.basis, model.support_vectors.T) < 1e-2
    before = evidence.oracle.queries
    assert not evidence.finds_another_subspace() and evidence.oracle.queries == before

    # refined, it is the model's
    assert largest_sine(evidence.subspace.basis, model.support_vectors.T) < 1e-5
    assert not evidence.finds_another_subspace() and evidence.rough_subspace is evidence.subspace


@pytest.mark.parametrize("kernel", [Polynomial(3), Tanh(1.0, 0.1), Gaussian(4.0)], ids=str)
def test_a_rough_subspace_that_is_right_passes(kernel):
    model, evidence = evidence_of(kernel, 25, 5, 0)
    rough, before = evidence.rough_subspace, evidence.oracle.queries
    assert not evidence.finds_another_subspace() and not evidence.rough_subspace_refuted
    assert evidence.rough_subspace.rank == rough.rank and evidence.rough_subspace.rough
    assert evidence.oracle.queries - before < 100 * 25


@pytest.mark.parametrize("kernel", [Polynomial(3), Tanh(1.0, 0.1), Gaussian(4.0)], ids=str)
def test_a_rough_subspace_with_a_wrong_direction_is_replaced_by_one_of_the_same_rank(kernel):
    model, evidence = evidence_of(kernel, 25, 5, 0)
    right = evidence.rough_subspace
    wrong = np.c_[right.basis[:, 1:], orthonormal_complement(right.basis)[:, 0]]
    vars(evidence)["_rough_by_normals"] = replace(right, basis=wrong)
    assert evidence.finds_another_subspace() and not evidence.finds_another_subspace()
    found = evidence.rough_subspace
    assert found.rough and found.rank == 5
    assert largest_sine(found.basis, model.support_vectors.T) < 1e-2


@pytest.mark.parametrize("kernel, seed, most", [
    (Gaussian(4.0), 31, 52_000), (Tanh(3.0, -0.2), 60, 55_000),
    (Tanh(1.0, 0.1), 94, 52_000)], ids=str)
def test_a_machine_is_sharpened_in_the_other_subspace(kernel, seed, most):
    model, features = random_model(kernel, 30, 12, seed)
    result = deconstruct(Oracle(model.predict, 30), features, random_state=seed, progress=False)
    assert result.own_vectors and result.rank == 12
    assert sum(result.queries_by_stage.values()) < most  # before: 63,000 and 59,000
