"""What examples and labels must be like before anything is learned from them."""

import numpy as np
import pytest

from decon.kernels import check_positive
from decon.learning.checks import checked_examples


def test_examples_and_labels_become_floats():
    X, t = checked_examples([[0, 1], [2, 3]], [1, -1], dimension=2)
    np.testing.assert_array_equal(X, [[0.0, 1.0], [2.0, 3.0]])
    assert X.dtype == t.dtype == float and t.tolist() == [1, -1]
    assert checked_examples([[1.0]], [0.3], labels=False)[1].tolist() == [0.3]


@pytest.mark.parametrize("X, t, options, word", [
    ([1.0], [1], {}, r"shapes \(n, d\) and \(n,\), got \(1,\)"),
    ([[1.0]], [1, 1], {}, r"got \(1, 1\) and \(2,\)"),
    ([[1.0]], [[1]], {}, r"got \(1, 1\) and \(1, 1\)"),
    ([[1.0]], [1], {"dimension": 2}, r"shapes \(n, 2\)"),
    (np.empty((0, 2)), [], {}, "at least one example"),
    ([[np.inf]], [1], {}, "finite"),
    ([[1.0]], [0], {}, r"\+1 and -1 only, got \[0\]"),
    ([[1.0]], [True], {}, "labels must"),
    ([[1.0]], [np.nan], {}, "labels must"),
    ([[1.0]], ["good"], {}, "np.where"),
    ([[1.0]], [np.nan], {"labels": False}, "targets must be finite")])
def test_what_cannot_be_learned_is_told(X, t, options, word):
    with pytest.raises(ValueError, match=word):
        checked_examples(X, t, **options)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "one", None, [1.0]])
def test_a_parameter_that_is_no_positive_number_is_named(value):
    check_positive("width", 0.5), check_positive("width", np.float32(2)), check_positive("width", 3)
    with pytest.raises(ValueError, match="width must be a finite number > 0, got "):
        check_positive("width", value)
