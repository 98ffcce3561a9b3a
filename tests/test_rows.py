"""Support vectors among the given rows: found, all of them, or refused."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from decon import Deconstruction, Oracle, deconstruct
from decon.extraction import strategy
from decon.kernels import kernel_from_sklearn

KERNELS = {
    "gaussian": {"gamma": 0.05},
    "gaussian by default": {"C": 10},
    "homogeneous cubic": {"kernel": "poly"},
    "cubic": {"kernel": "poly", "coef0": 1, "gamma": 0.1, "C": 0.3},
    "polynomial of degree 4": {"kernel": "poly", "degree": 4, "coef0": 1},
    "tanh": {"kernel": "sigmoid", "gamma": 0.05},
    "tanh with a bias": {"kernel": "sigmoid", "coef0": -0.5, "gamma": 0.03},
    "tanh by default": {"kernel": "sigmoid"},
}


def wine(n=90, raw=False):
    """Some wines, and whether each is of the second kind."""
    X, y = load_wine(return_X_y=True)
    few = np.random.default_rng(0).permutation(len(X))[:n]
    return X[few] if raw else StandardScaler().fit_transform(X[few]), y[few] == 1


def taken_apart(model, X):
    oracle = Oracle(model.predict, X.shape[1])
    return deconstruct(oracle, X, progress=False, surrogate=False)


@pytest.fixture
def only_rows(monkeypatch):
    """No family but this one and the cheap ones: those after it would try for twenty seconds."""
    before = [family.name for family in strategy.FAMILIES].index("rows") + 1
    monkeypatch.setattr(strategy, "FAMILIES", strategy.FAMILIES[:before])


def check(result, svc, X):
    """Own vectors, their weights and constants are those of the SVC, and no others."""
    assert result.own_vectors and result.n_support == len(svc.support_)
    found = result.match(X)
    assert found.tolist() == sorted(svc.support_)
    assert min(result.agreement.values()) == 1.0
    assert list(result.queries_by_stage)[-2:] == ["rows", "agreement"]

    # the weights in the order of the table, and b, up to a factor
    nearest = cdist(result.machine.support_vectors, X).argmin(1)
    weights = np.zeros(len(X))
    weights[nearest] = result.machine.weights
    true = np.zeros(len(X))
    true[svc.support_] = svc.dual_coef_[0]
    kernel, truth = result.machine.kernel, kernel_from_sklearn(svc)
    assert kernel.name == truth.name == result.kernel_type
    np.testing.assert_allclose(weights, true / np.abs(true).max(), atol=1e-6)
    if kernel.name == "gaussian":
        assert kernel.sigma == pytest.approx(truth.sigma, rel=1e-9)
    elif kernel.name == "tanh":
        assert (kernel.alpha, kernel.beta) == pytest.approx((truth.alpha, truth.beta), abs=1e-9)
    else:
        assert kernel.degree == truth.degree
        assert kernel.coef0 / kernel.gamma == pytest.approx(truth.coef0 / truth.gamma, rel=1e-9)


@pytest.mark.parametrize("options", KERNELS.values(), ids=KERNELS)
def test_all_vectors_are_found_and_none_is_invented(options):
    X, y = wine()
    svc = SVC(**options).fit(X, y)
    check(taken_apart(svc, X), svc, X)


@pytest.mark.parametrize("options", [{}, {"kernel": "sigmoid"}, {"kernel": "poly", "coef0": 1}])
def test_a_scaler_in_front_is_found_too(options, tmp_path):
    X, y = wine(raw=True)
    model = make_pipeline(StandardScaler(), SVC(**options)).fit(X, y)
    result = taken_apart(model, X)
    check(result, model[-1], X)
    result.save(tmp_path / "result.npz")
    loaded = Deconstruction.load(tmp_path / "result.npz")
    assert (loaded.match(X) == result.match(X)).all()
    assert ((loaded.machine.predict(X) > 0) == model.predict(X)).all()


def test_unlike_units_that_the_kernel_sees():
    X, y = wine()
    X = X * np.exp(np.random.default_rng(1).uniform(0, np.log(100), 13))
    svc = SVC().fit(X, y)
    check(taken_apart(svc, X), svc, X)


def test_dependent_features_leave_a_smaller_subspace():
    X, y = wine()
    X = X @ np.c_[np.eye(13), np.random.default_rng(0).standard_normal((13, 3)) / 3]
    svc = SVC(kernel="poly").fit(X, y)
    result = taken_apart(svc, X)
    check(result, svc, X)
    assert result.rank == 13


@pytest.mark.parametrize("options, other, n, d", [
    ({}, True, 89, 13), ({}, False, 89, 13), ({"kernel": "poly"}, False, 60, 8),
    ({"kernel": "sigmoid"}, True, 89, 13)])
def test_a_missing_vector_or_other_rows_are_refused(options, other, n, d, only_rows):
    X, y = wine(178)
    X = X[:, :d]
    svc = SVC(**options).fit(X[:n], y[:n])
    result = taken_apart(svc, X[n:] if other else np.delete(X[:n], svc.support_[3], axis=0))
    assert not result.own_vectors
    assert result.queries_by_stage["rows"] < 0.3 * sum(result.queries_by_stage.values())
    if result.kernel_type == "unknown":
        assert "support vectors are not among the" in result.message


def test_another_kernel_is_refused(only_rows):
    X, y = wine()

    def kernel(A, B):
        return 1 / (1 + cdist(A, B, "sqeuclidean") / 13)
    svc = SVC(kernel=kernel, C=5).fit(X, y)
    assert taken_apart(svc, X).kernel_type == "unknown"


def test_many_rows_in_a_plane_are_refused_without_queries():
    X, y = make_moons(100, noise=0.15, random_state=0)
    result = taken_apart(SVC().fit(X, y), X)
    assert result.kernel_type == "unknown" and "almost linearly dependent" in result.message
    assert result.queries_by_stage.get("rows", 0) == 0


def test_few_features_cost_nothing(only_rows):
    X, y = wine()
    svc = SVC().fit(X, y)
    assert "rows" not in taken_apart(svc, X[:15]).queries_by_stage


def test_match_is_in_the_order_of_the_table():
    X, y = wine()
    svc = SVC().fit(X, y)
    result = taken_apart(svc, X)
    order = np.random.default_rng(0).permutation(len(X))
    assert (np.sort(order[result.match(X[order])]) == np.sort(svc.support_)).all()
    near = X + 1e-4 * X.std(0)
    assert len(result.match(near)) == 0
    assert (result.match(near, tolerance=1e-3) == np.sort(svc.support_)).all()
    assert len(result.match(np.full((3, 13), 9.0))) == 0
    with pytest.raises(ValueError, match="expected rows of shape"):
        result.match(X[:, :3])


def test_no_match_without_vectors_of_its_own():
    with pytest.raises(ValueError, match="no row can be matched.*too coarse"):
        Deconstruction("unknown", message="too coarse").match(np.eye(3))


@pytest.mark.parametrize("scaler", [False, True])
@pytest.mark.parametrize("options", [{"kernel": "sigmoid", "C": 10}, {"kernel": "poly"}, {}])
def test_vectors_fewer_than_dimensions_are_found_among_the_rows(options, scaler):
    X, y = load_wine(return_X_y=True)
    few = np.random.default_rng(1).permutation(len(X))[:100]
    X, y, svc = X[few], y[few] == 2, SVC(**options)
    rows = X if scaler else StandardScaler().fit_transform(X)
    model = (make_pipeline(StandardScaler(), svc) if scaler else svc).fit(rows, y)
    if "kernel" in options and options["kernel"] == "sigmoid":
        assert len(svc.support_) < X.shape[1]
    result = taken_apart(model, rows)
    assert result.own_vectors and result.match(rows).tolist() == sorted(svc.support_)
    assert "far field" not in result.queries_by_stage


@pytest.mark.slow
@pytest.mark.parametrize("told", [False, True])
def test_units_of_another_scaler_are_used_for_rows_as_well(told, only_rows):
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(MinMaxScaler(), SVC(gamma=0.5)).fit(X, y == 1)
    units = np.ptp(X, axis=0) if told else "auto"
    result = deconstruct(Oracle(model.predict, 13), X, units=units, surrogate=False,
                         random_state=0, progress=False)
    assert result.own_vectors == told
    if told:
        assert result.match(X).tolist() == sorted(model[-1].support_)
        assert (result.predict(X) == model.predict(X)).all()
