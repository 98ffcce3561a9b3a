"""What is wrong with a model? Kinks are not taken for rounding."""

import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import SVC

from decon import Oracle, deconstruct
from decon.oracles.precision import DOUBLE

D = 12


@pytest.mark.parametrize("seed", range(3))
def test_kinks_are_not_taken_for_rounding(seed):
    """An SVC with a Laplacian kernel has a kink wherever a coordinate is a support vector's."""
    X, y = make_classification(80, D, random_state=seed)
    box = SVC(kernel=laplacian_kernel).fit(X, y)
    result = deconstruct(Oracle(box.predict, D), X[:30], progress=False)
    assert result.kernel_type == "unknown" and result.width == DOUBLE.width
    assert "discarded" not in result.queries_by_stage
