"""What examples tell of a model: names, labels, bounds; and results in the model's own words."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Deconstruction, Oracle, OracleError, deconstruct
from decon.oracles.errors import SeveralClasses
from decon.oracles.examples import common_range


@pytest.fixture(scope="module")
def cancer():
    table, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.array(["malignant", "benign"])[y]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, names)
    return model, table, names


def test_a_model_of_a_table_is_taken_apart_without_a_warning(cancer):
    model, table, names = cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oracle = Oracle.from_examples(model.predict, table, positive="malignant")
        result = deconstruct(oracle, progress=False)
        assert result.kernel_type == "linear"
        assert result.score(table, model.predict(table)) == 1
        assert result.score(table, names) == model.score(table, names)
    assert set(result.predict(table)) == {"malignant", "benign"}
    assert oracle.labels == ("malignant", "benign") == result.labels


def test_names_are_known_from_the_model_too(cancer):
    model, table, _ = cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oracle = Oracle(model.predict, 30, positive="malignant")
        labels = oracle(table.to_numpy())
    assert (labels == np.where(model.predict(table) == "malignant", 1, -1)).all()


def test_labels_survive_saving(cancer, tmp_path):
    model, table, _ = cancer
    oracle = Oracle.from_examples(model.predict, table)
    result = deconstruct(oracle, table.iloc[::20], progress=False)
    result.save(tmp_path / "result")
    again = Deconstruction.load(tmp_path / "result")
    assert again.score(table, model.predict(table)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_labels_are_found_in_sorted_tables_and_few_are_asked(seed):
    X = np.sort(np.random.default_rng(seed).standard_normal((5000, 3)), axis=0)
    oracle = Oracle.from_examples(lambda X: np.where(X[:, 0] > 0.5, "yes", "no"), X)
    assert oracle.labels == ("yes", "no") and oracle.queries <= 200 and oracle.bounds is None


def test_pixels_have_bounds_and_other_tables_have_none():
    X, y = load_digits(return_X_y=True)
    model = SVC(kernel="linear").fit(X, y < 5)
    oracle = Oracle.from_examples(model.predict, X)
    assert (oracle.bounds[0] == 0).all() and (oracle.bounds[1] == 16).all()
    assert Oracle.from_examples(model.predict, X, bounds=None).bounds is None
    rng = np.random.default_rng(0)
    assert common_range(X + 3) == (3, 19) and common_range(X + 0.01 * (X > 3)) is None
    assert common_range(rng.integers(0, 2, (100, 5))) is None  # yes and no
    assert common_range(np.c_[rng.integers(0, 90, 500), rng.integers(0, 4, (500, 3))]) is None


def test_examples_that_cannot_be_used_are_refused():
    def predict(X):
        return X[:, 0] > 0

    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(TypeError, match="toarray"):
        Oracle.from_examples(predict, csr_array(X))
    with pytest.raises(TypeError, match="toarray"):
        Oracle(predict, 2)(csr_array(X))
    with pytest.raises(ValueError, match="Encode categories"):
        Oracle.from_examples(predict, pd.DataFrame({"a": [1.0, 2.0], "colour": ["red", "blue"]}))
    with pytest.raises(ValueError, match="shape"):
        Oracle.from_examples(predict, X[:, 0])
    with pytest.raises(ValueError, match="finite"):
        Oracle.from_examples(predict, np.r_[X, [[np.nan, 0]]])
    with pytest.raises(OracleError, match="the same label"):
        Oracle.from_examples(predict, np.abs(X))
    with pytest.raises(OracleError, match="positive="):
        Oracle.from_examples(lambda X: np.full(len(X), "yes"), X)
    with pytest.raises(SeveralClasses, match="several"):
        Oracle.from_examples(lambda X: (X > 0).sum(1), X)


def test_an_oracle_without_examples_needs_features():
    with pytest.raises(TypeError, match="from_examples"):
        deconstruct(Oracle(lambda X: X[:, 0] > 0, 2))


def test_scores_need_a_label_for_every_point(cancer):
    model, table, names = cancer
    result = deconstruct(Oracle.from_examples(model.predict, table), progress=False)
    with pytest.raises(ValueError, match="labels"):
        result.score(table, names[:-1])
