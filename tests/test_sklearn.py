"""scikit-learn's conventions: its own checks, pipelines, labels, tables, and models of its own."""

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from decon import Gaussian, IncrementalSVM, KernelMachine, Linear, Polynomial, Tanh
from decon.machine import ScaledMachine

FROZEN = "frozen: a recovered machine is not trained, and keeps its number of features"
LABELS = "frozen: a recovered machine is not trained, and keeps its labels -1 and +1"
CHECKED = "the constructor checks and copies its arrays: a machine is never half made"
NOT_FOR_MACHINES = dict.fromkeys([
    "check_fit_score_takes_y", "check_dont_overwrite_parameters",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit", "check_estimators_dtypes", "check_dtype_object",
    "check_pipeline_consistency", "check_estimators_nan_inf", "check_estimators_pickle",
    "check_f_contiguous_array_estimator", "check_supervised_y_2d", "check_fit2d_1sample",
    "check_methods_sample_order_invariance", "check_methods_subset_invariance",
    "check_fit2d_1feature", "check_dict_unchanged", "check_n_features_in",
    "check_fit2d_predict1d"], FROZEN) | dict.fromkeys([
        "check_classifiers_one_label", "check_classifiers_classes", "check_classifiers_train",
        "check_classifiers_regression_target"], LABELS) | dict.fromkeys([
            "check_do_not_raise_errors_in_init_or_set_params", "check_set_params"], CHECKED)
KERNELS = [Linear(), Polynomial(2, gamma=0.3), Polynomial(3, coef0=0.0), Tanh(0.5, -0.2),
           Tanh(-0.5, 0.1), Gaussian(1.7)]


def not_for(estimator):
    return NOT_FOR_MACHINES if isinstance(estimator, KernelMachine) else {}


@parametrize_with_checks([IncrementalSVM(), IncrementalSVM(Linear(), C=10.0),
                          KernelMachine(Linear(), [[1.0, 0.0]], [1.0], 0.0)],
                         expected_failed_checks=not_for)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_exceptions_are_listed_for_contributors():
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    names = [name.removeprefix("check_") for name in NOT_FOR_MACHINES]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_decon_does_not_load_scikit_learn():
    code = "import sys, decon; print('sklearn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


# -- parameters --------------------------------------------------------------------------------


def test_parameters_are_stored_untouched_and_cloned():
    kernel, weight = Gaussian(2.0), {1: 2.0}
    svm = IncrementalSVM(kernel, "much", class_weight=weight)
    assert svm.kernel is kernel and svm.C == "much" and svm.class_weight is weight
    assert svm.get_params(deep=False) == {
        "kernel": kernel, "C": "much", "base": None, "class_weight": weight,
        "decision_function_shape": "ovr"}
    same = clone(svm.set_params(C=2, kernel__sigma=3.0))
    assert same.kernel == Gaussian(3.0) and same.C == 2 and is_classifier(same)
    for wrong in ("sigma", "kernel__width", "base__threshold"):
        with pytest.raises((ValueError, TypeError)):
            svm.set_params(**{wrong: 1.0})


def test_a_parameter_set_later_waits_for_the_next_fit():
    X, y = [[0.0], [1.0], [2.0], [5.0]], [-1, 1, -1, 1]
    svm = IncrementalSVM(Gaussian(1.0), 1.0).fit(X, y)
    svm.set_params(C=5.0, kernel__sigma=0.3)
    svm.learn([3.0], 1)
    svm.unlearn(-1)
    assert svm.kkt_residual < 1e-9 and svm.a.max() == 1.0
    assert svm.kernel_ == Gaussian(1.0) and svm.fit(X, y).kernel_ == Gaussian(0.3)
    assert svm.a.max() > 1.0


def test_the_default_kernel_is_scikit_learns():
    X, y = load_breast_cancer(return_X_y=True)
    svm, svc = IncrementalSVM().fit(X[:200], y[:200]), SVC(tol=1e-8).fit(X[:200], y[:200])
    assert svm.kernel is None and svm.kernel_.to_sklearn()["gamma"] == pytest.approx(svc._gamma)
    np.testing.assert_allclose(svm.decision_function(X), svc.decision_function(X), atol=1e-5)
    assert repr(svm).startswith("IncrementalSVM(C=1.0): 200 examples, ")
    alone = IncrementalSVM()
    alone.learn([1.0, 5.0], 1)
    assert alone.kernel_ == Gaussian(1.0)


def test_nothing_learned_is_said_in_one_voice():
    svm = IncrementalSVM(Linear())
    for act in (lambda: svm.predict([[0.0]]), lambda: svm.decision_function([[0.0]]), svm.machine,
                lambda: svm.unlearn(0), lambda: svm.deactivate(0), svm.leave_one_out,
                lambda: svm.a, lambda: svm.y, lambda: svm.X, lambda: svm.state()):
        with pytest.raises(NotFittedError, match="nothing has been learned yet.*is not fitted yet"):
            act()
    assert repr(svm) == "IncrementalSVM(Linear(), C=1.0): 0 examples"
    assert not hasattr(svm, "a") and not hasattr(svm, "nonsense")
    svm.fit([[0.0]], [1]).unlearn(0)
    with pytest.raises(IndexError, match="there is no example 0"):
        svm.unlearn(0)


def test_a_tanh_kernel_is_warned_of():
    with pytest.warns(UserWarning, match="need not be positive semidefinite"):
        svm = IncrementalSVM(Tanh(0.1)).fit([[0.0], [1.0]], [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svm.learn([2.0], 1)


# -- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(0, 1), (-1, 1), (-1.0, 1.0), (3, 8), ("no", "yes"),
                                   (False, True)])
@pytest.mark.parametrize("way", ["fit", "partial_fit", "learn", "classes"])
def test_labels_come_back_in_their_own_words(words, way):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    t = np.where(X[:, 0] + 0.5 * rng.standard_normal(40) > 0, 1, -1)
    y = np.array(words)[(t > 0).astype(int)]
    reference = IncrementalSVM(Gaussian(1.0)).fit(X, t)
    svm = IncrementalSVM(Gaussian(1.0))
    if way == "fit":
        svm.fit(X, y)
    elif way == "partial_fit":
        svm.partial_fit(X[:9], y[:9]).partial_fit(X[9:], y[9:])
    elif way == "classes":
        first = np.flatnonzero(t > 0)[:3]  # of one class only
        svm.partial_fit(X[first], y[first], classes=words)
        svm.partial_fit(np.delete(X, first, 0), np.delete(y, first))
    else:
        for x, label in zip(X, y, strict=True):
            svm.learn(x, label)
    assert svm.classes_.tolist() == list(words)
    np.testing.assert_allclose(svm.decision_function(X), reference.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(svm.predict(X), np.array(words)[(reference.predict(X) > 0) + 0])
    assert svm.predict(X).dtype == y.dtype and set(svm.y) == {-1, 1}
    assert svm.score(X, y) == np.mean(svm.predict(X) == y)
    assert set(svm.machine().predict(X)) == {-1, 1}


def test_a_single_class_is_always_said():
    for label in ("only", 0, 7, -1, 1):
        svm = IncrementalSVM(Gaussian(1.0)).fit([[0.0], [1.0]], [label, label])
        assert svm.predict([[5.0]]).tolist() == [label] and svm.kkt_residual < 1e-12


@pytest.mark.parametrize("label, word", [
    (0.5, "whole numbers"), ("red", "texts"), ([1], "whole numbers"), (None, "whole|texts"),
    (np.nan, "whole numbers")])
def test_what_is_no_label(label, word):
    svm = IncrementalSVM(Linear())
    svm.learn([0.0], 1)
    with pytest.raises(ValueError, match=word):
        svm.learn([1.0], label)
    assert len(svm.y) == 1


def test_classes_that_were_named_are_all():
    svm = IncrementalSVM(Linear()).partial_fit([[0.0]], ["a"], classes=["a", "b"])
    for act in (lambda: svm.learn([1.0], "c"), lambda: svm.partial_fit([[1.0]], ["c"]),
                lambda: svm.partial_fit([[1.0]], ["a"], classes=["a", "c"])):
        with pytest.raises(ValueError, match="classes"):
            act()
    assert svm.learn([1.0], "b") is None and svm.predict([[9.0]]).tolist() == ["b"]


# -- input -------------------------------------------------------------------------------------


def test_tables_with_names_pass_without_a_warning():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svm = IncrementalSVM(Gaussian(1.0)).fit(X, y)
        svm.partial_fit(X[:3], y[:3])
        svm.learn(X.iloc[0], y[0])
        assert svm.predict(X).shape == (150,) and svm.decision_function(X).shape == (150, 3)
        assert svm.score(X, y) > 0.9 and svm.n_features_in_ == 4
        assert svm.feature_names_in_.tolist() == list(X.columns)
        KernelMachine.random(Linear(), 4, 2).predict(X)
    with pytest.raises(ValueError, match="feature names"):
        svm.predict(X.rename(columns=str.upper))
    assert not hasattr(svm.fit(X.to_numpy(), y), "feature_names_in_")
    assert isinstance(X, pd.DataFrame)


def test_sparse_input_is_told_what_to_do():
    X = sparse.csr_array(np.eye(3))
    svm = IncrementalSVM(Linear()).fit(np.eye(3), [0, 1, 1])
    machine = KernelMachine.random(Linear(), 3, 2)
    for act in (lambda: svm.fit(X, [0, 1, 1]), lambda: svm.partial_fit(X, [0, 1, 1]),
                lambda: svm.predict(X), lambda: svm.learn(X[[0]], 1), lambda: machine.predict(X)):
        with pytest.raises(TypeError, match="toarray"):
            act()


def test_text_among_the_features_is_told_what_to_do():
    svm = IncrementalSVM(Linear())
    for act in (lambda: svm.fit([[1.0], ["red"]], [0, 1]), lambda: svm.learn(["red"], 1)):
        with pytest.raises(ValueError, match="one is 'red': encode text first"):
            act()


# -- tools -------------------------------------------------------------------------------------


def test_pipelines_grid_searches_and_pickles():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = make_pipeline(StandardScaler(), IncrementalSVM(Gaussian(1.0)))
    grid = GridSearchCV(pipeline, {"incrementalsvm__C": [0.1, 1.0],
                                   "incrementalsvm__kernel__sigma": [0.5, 2.0],
                                   "incrementalsvm__class_weight": [None, "balanced"]}, cv=3)
    grid.fit(X, names)
    assert grid.best_score_ > 0.9 and grid.score(X, names) > 0.9
    same = pickle.loads(pickle.dumps(grid.best_estimator_))
    np.testing.assert_array_equal(same.predict(X), grid.predict(X))
    same[-1].learn(same[0].transform(X[:1])[0], "setosa")
    assert same[-1].kkt_residual < 1e-9 and len(grid.best_estimator_[-1].y) == 150
    assert "IncrementalSVM" in repr(pipeline) and "IncrementalSVM" in pipeline._repr_html_()
    assert cross_val_score(IncrementalSVM(), X, y).mean() > 0.9
    weighted = clone(pipeline).fit(X, y, incrementalsvm__sample_weight=np.arange(150) % 3)
    assert weighted.score(X, y) > 0.9


def test_a_machine_is_the_frozen_end_of_a_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    scaler = StandardScaler().fit(X)
    svm = IncrementalSVM(Gaussian(5.0)).fit(scaler.transform(X[:200]), y[:200])
    machine, t = svm.machine(), np.where(y > 0, 1, -1)
    pipeline = Pipeline([("scaler", scaler), ("machine", machine)])
    assert pipeline.score(X, t) == machine.score(scaler.transform(X), t) > 0.9
    assert pipeline.fit(X, t)["machine"] is machine  # fit changes the scaler, not the machine
    assert cross_val_score(pipeline, X, t).min() > 0.8
    other = clone(machine)
    np.testing.assert_array_equal(other.weights, machine.weights)
    assert other is not machine and other.weights is not machine.weights
    assert machine.classes_.tolist() == [-1, 1] and machine.n_features_in_ == 30
    with pytest.raises(ValueError, match="expected support_vectors"):
        other.set_params(weights=[1.0])
    np.testing.assert_array_equal(other.weights, machine.weights)
    other.set_params(threshold=2, kernel__sigma=3.0)
    assert other.threshold == 2.0 and other.kernel == Gaussian(3.0)


# -- scikit-learn's own models -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_an_svc_of_the_same_function(kernel, seed):
    machine = KernelMachine.random(kernel, 4, 1 + 3 * seed, seed)
    X = np.random.default_rng(seed).standard_normal((500, 4))
    svc, f = machine.to_sklearn(), machine.decision_function(X)
    for model in (svc, pickle.loads(pickle.dumps(svc))):
        np.testing.assert_allclose(model.decision_function(X), f, atol=1e-12 * np.abs(f).max())
        sure = np.abs(f) > 1e-9  # the threshold is the median of f, which a point may have
        np.testing.assert_array_equal(model.predict(X[sure]), machine.predict(X[sure]))
        assert sure.sum() >= 499 and model.n_support_.sum() == 1 + 3 * seed
    back = KernelMachine.from_sklearn(svc)
    np.testing.assert_allclose(back.decision_function(X), f, atol=1e-12 * np.abs(f).max())
    assert isinstance(back.kernel, type(kernel))
    with pytest.raises(NotFittedError):
        clone(svc).predict(X)
    if kernel == Linear():
        np.testing.assert_allclose(svc.coef_[0], machine.weights @ machine.support_vectors)
    afresh = clone(svc).fit(X, machine.predict(X))  # its parameters are those of any SVC
    assert KernelMachine.from_sklearn(afresh).kernel.name == kernel.name


def test_an_svc_without_support_vectors():
    machine = KernelMachine(Gaussian(1.0), np.empty((0, 2)), [], -0.5)
    assert machine.to_sklearn().decision_function([[3.0, 4.0]]) == pytest.approx(0.5)


def test_a_machine_behind_a_scaler_is_a_pipeline():
    rng = np.random.default_rng(0)
    scaled = ScaledMachine(KernelMachine.random(Polynomial(2), 3, 4), rng.standard_normal(3),
                           [0.1, 1.0, 100.0])
    X = rng.standard_normal((200, 3)) * scaled.units + scaled.origin
    pipeline = pickle.loads(pickle.dumps(scaled.to_sklearn()))
    np.testing.assert_allclose(pipeline.decision_function(X), scaled.decision_function(X))
    np.testing.assert_array_equal(pipeline.predict(X), scaled.predict(X))
    assert isinstance(pipeline[0], StandardScaler) and isinstance(pipeline[1], SVC)
    np.testing.assert_array_equal(pipeline[0].inverse_transform(pipeline[0].transform(X)).round(9),
                                  X.round(9))
