"""What is wrong with a model? Kinks are not taken for rounding."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, deconstruct
from decon.extraction.ledger import Ledger
from decon.extraction.settings import SETTINGS
from decon.oracles.precision import DOUBLE
from decon.subspaces.spans import largest_sine

D = 12


@pytest.mark.slow
def test_kinks_are_not_taken_for_rounding(seed=0):
    """An SVC with a Laplacian kernel has a kink wherever a coordinate is a support vector's."""
    X, y = make_classification(80, D, random_state=seed)
    box = SVC(kernel=laplacian_kernel).fit(X, y)
    result = deconstruct(Oracle(box.predict, D), X[:30], progress=False, surrogate=False)
    assert result.kernel_type == "unknown" and result.width == DOUBLE.width
    assert "discarded" not in result.queries_by_stage


@pytest.mark.parametrize("seed", range(1, 3))
def test_a_projection_is_found_as_accurately_as_a_search_within_it_needs(seed):
    """An SVC of 6 principal components: its rows are recognised in the subspace that was found."""
    wine = load_wine()
    Z, y = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0), wine.target == 1
    box = make_pipeline(PCA(6), SVC()).fit(Z, y)
    whole = deconstruct(Oracle(box.predict, 13), Z[::9], seed, progress=False, surrogate=False)
    assert whole.kernel_type == "unknown" and "projection" in whole.message
    U = whole.subspace
    assert largest_sine(U, box[0].components_.T) < 1e-9  # of 1e-8 where it was only tested
    within = deconstruct(Oracle(lambda T: box.predict(T @ U.T), 6), Z @ U, seed, progress=False)
    assert within.own_vectors
    assert set(box[-1].support_) <= set(within.match(Z @ U))


@pytest.mark.slow
def test_a_search_that_costs_too_much_ends_with_a_cause_and_a_stand_in(monkeypatch):
    """A limit of 8,000 queries, where normals alone cost more."""
    few = replace(SETTINGS, auto_budget=8_000, auto_budget_per_square=0)
    monkeypatch.setattr("decon.extraction.deconstruct.SETTINGS", few)
    box = KernelMachine.random(Gaussian(4.0), 14, 17)
    features = np.random.default_rng(0).standard_normal((15, 14))
    oracle = Oracle(box.predict, 14)
    result = deconstruct(oracle, features, progress=False)
    assert result.kernel_type == "unknown" and "budget=None" in result.message
    assert result.surrogate is not None and result.surrogate.agreement["around"] > 0.8
    before = sum(n for stage, n in result.queries_by_stage.items()
                 if stage not in ("diagnosis", "surrogate"))
    assert 7_000 < before < 13_000

    # a second search with the same oracle has as much again; None is no limit
    again = deconstruct(oracle, features, progress=False, surrogate=False).queries_by_stage
    assert sum(again.values()) - again.get("diagnosis", 0) > 7_000
    free = deconstruct(Oracle(box.predict, 14, budget=None), features, progress=False,
                       surrogate=False)
    assert "budget=None" not in free.message


def test_expensive_stages_are_announced(capsys):
    ledger = Ledger(Oracle(lambda X: X[:, 0] > 0, 1))
    ledger.expect(123_456, "a cubic")
    ledger.expect(1_000, "a plane")
    ledger.close()
    quiet = Ledger(Oracle(lambda X: X[:, 0] > 0, 1), progress=False)
    quiet.expect(123_456, "a cubic")
    assert capsys.readouterr().out == "a cubic: about 123,000 queries\n"
