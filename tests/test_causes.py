"""Why is there no machine? Real models of each kind, and each measurement alone."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import Deconstruction, KernelMachine, Linear, Oracle, OracleError, Tanh, deconstruct
from decon.extraction.causes import VERDICTS, Cause, find_cause
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.inputs import clip_bounds, grid_step, ignores_far_values, ignores_length
from decon.extraction.ledger import Ledger
from decon.extraction.pieces import (
    axes_of_steps,
    kink_between,
    share_on_common_planes,
    slopes_at_corners,
)
from decon.extraction.survey import Survey
from experiments._models import disguised_model, fitted_model
from experiments.causes import behind, clipped, drifting, one_class, rounded

D = 8
MANY = "gaussian, more support vectors than dimensions"


def evidence_of(predict, features, seed=0):
    """What a search that found nothing leaves behind, without the search."""
    oracle = Oracle(predict, features.shape[1])
    survey = Survey(oracle, features, Ledger(oracle, progress=False), seed)
    survey.run()
    return GatheredEvidence(oracle, survey, survey.ledger)


def take_apart(predict, features, **options):
    return deconstruct(Oracle(predict, features.shape[1], **options), features, progress=False,
                       surrogate=False)


@pytest.mark.parametrize("verdict, model", [
    ("piecewise constant", DecisionTreeClassifier(max_depth=4, random_state=0)),
    ("piecewise constant", RandomForestClassifier(10, random_state=0)),
    ("piecewise constant", HistGradientBoostingClassifier(max_iter=10, random_state=0)),
    ("nearest neighbours", KNeighborsClassifier(1)),
    ("nearest neighbours", KNeighborsClassifier(3)),
    ("nearest neighbours", KNeighborsClassifier(5)),
    ("piecewise linear", MLPClassifier((20,), random_state=0, max_iter=200)),
    ("piecewise linear", MLPClassifier((20, 10), random_state=0, max_iter=200)),
    ("polynomial of degree 4", SVC(kernel="poly", degree=4, coef0=1)),
    ("polynomial of degree 5", SVC(kernel="poly", degree=5, coef0=1)),
    ("polynomial of degree 6", SVC(kernel="poly", degree=6, coef0=1)),
    ("normalised inputs", make_pipeline(Normalizer(), SVC())),
    (MANY, SVC()),
], ids=str)
@pytest.mark.parametrize("data", ["cancer", "wine"])
def test_trained_models_are_named(verdict, model, data):
    model, features = fitted_model(model, data, 120, 1)
    evidence = evidence_of(model.predict, features)
    cause = find_cause(evidence)
    assert cause.verdict == verdict and cause.message and cause.advice == VERDICTS[verdict]
    assert evidence.ledger.queries["diagnosis"] < 17_000


@pytest.mark.parametrize("seed", [1, 5, 7])
@pytest.mark.parametrize("model", [SVC(), SVC(kernel="poly", coef0=1)], ids=str)
def test_curved_pieces_with_kinks_are_several_classes(model, seed):
    assert find_cause(evidence_of(*one_class(model, seed))).verdict == "several classes"


@pytest.mark.parametrize("seed", range(4))
def test_linear_models_of_several_classes_are_no_networks(seed):
    verdict = find_cause(evidence_of(*one_class(SVC(kernel="linear"), seed))).verdict
    assert verdict in ("several classes", "flat pieces")


@pytest.mark.parametrize("seed", range(4))
def test_a_step_of_rounding_is_measured(seed):
    cause = find_cause(evidence_of(*rounded(seed)))
    assert cause.verdict == "rounded to a grid"
    assert cause.step == pytest.approx((0.05, 0.1, 0.25, 0.5)[seed] / (1 + seed % 2), rel=1e-6)


@pytest.mark.parametrize("step", [1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("seed", range(3))
def test_a_fine_grid_is_measured_too(seed, step):
    cause = find_cause(evidence_of(*behind(lambda X: np.round(X / step) * step, seed)))
    assert cause.verdict == "rounded to a grid"
    assert cause.step == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_no_fine_grid_is_measured_behind_a_tree(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 12))
    tree = DecisionTreeClassifier(random_state=seed).fit(X, X @ rng.standard_normal(12) > 0)
    evidence = evidence_of(tree.predict, X[:20])
    assert find_cause(evidence).verdict == "piecewise constant"
    assert evidence.ledger.queries["diagnosis"] < 2500


def test_a_grid_so_fine_that_a_machine_is_found_does_not_end_the_search():
    predict, features = behind(lambda X: np.round(X / 2e-6) * 2e-6, 1)
    assert take_apart(predict, features).kernel_type == "linear"


@pytest.mark.parametrize("seed", range(3))
def test_features_on_the_bounds_cost_no_more(seed):
    # most pixels of digits are 0: boundary points between two images lie on the bounds
    pixels, digits = load_digits(return_X_y=True)
    model = SVC(kernel="linear", C=0.01).fit(pixels, digits < 4 + seed)
    result = take_apart(lambda X: model.predict(np.clip(X, 0, 16)), pixels, positive=True)
    assert (result.kernel_type, result.verdict) == ("linear", "clipped")
    assert (result.machine.predict(pixels) == np.where(model.predict(pixels), 1, -1)).all()
    assert sum(result.queries_by_stage.values()) < 12_000  # 25,000 with points on the bounds


@pytest.mark.parametrize("seed", range(4))
def test_a_clipped_model_is_recovered_within_its_bounds(seed):
    predict, features = clipped(seed)
    result = take_apart(predict, features)
    assert (result.kernel_type, result.verdict) == ("linear", "clipped")
    assert "clipped" in result.message and "verdict       clipped" in result.summary()
    assert sum(result.queries_by_stage.values()) < 10_000
    X = np.clip(features, -1.5, 1.5) if seed % 2 == 0 else features
    signs = np.where(np.asarray(predict(X)).astype(int) > 0, 1, -1)
    assert (result.machine.predict(X) == signs).all()


def test_bounds_that_differ_are_found_one_by_one():
    lower, upper = -1 - np.arange(D) / 10, 1 + np.arange(D) / 7
    w = np.random.default_rng(0).standard_normal(D)
    oracle = Oracle(lambda X: np.clip(X, lower, upper) @ w > 0.1, D)
    points, rng = np.random.default_rng(1).standard_normal((60, D)), np.random.default_rng(2)
    found = clip_bounds(oracle, points, np.zeros(D), np.ones(D), rng)
    np.testing.assert_allclose(found, [lower, upper], atol=2e-6)
    assert ignores_far_values(oracle, points, np.zeros(D), np.ones(D), rng)
    plane = Oracle(lambda X: X @ w > 0.1, D)
    assert ignores_far_values(plane, points, np.zeros(D), np.ones(D), rng) is None
    assert plane.queries <= 200


@pytest.mark.parametrize("seed", range(4))
def test_a_saturated_tanh_does_not_look_clipped(seed):
    # far out along the axes of Y's zeros few units still change
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((4, D)) * (rng.random((4, D)) < 0.4)
    machine = KernelMachine(Tanh(0.5, 0.2), Y, [1, -1.3, 0.8, -0.7], 0.1)
    oracle = Oracle(machine.predict, D)
    points, rng = 2 * rng.standard_normal((60, D)), np.random.default_rng(2)
    assert clip_bounds(oracle, points, np.zeros(D), np.ones(D), rng) is None


@pytest.mark.parametrize("name", ["Cauchy", "Matern"])
def test_another_radial_kernel(name):
    result = take_apart(*disguised_model(name, 0))
    assert (result.kernel_type, result.verdict) == ("unknown", "radial, not Gaussian")
    assert result.rank == 6 and result.machine is None


def test_a_model_that_changes_and_one_that_contradicts_itself():
    assert take_apart(*drifting(0)).verdict == "changes with time"
    rng, w = np.random.default_rng(0), np.random.default_rng(1).standard_normal(D)
    result = take_apart(lambda X: (X @ w > 0.1) ^ (rng.random(len(X)) < 0.35),
                        np.random.default_rng(2).standard_normal((20, D)))
    assert result.verdict == "contradicts itself" and "noise=" in result.message


def test_labels_of_three_kinds_are_several_classes():
    X = np.random.default_rng(0).standard_normal((20, D))
    with pytest.raises(OracleError, match="two kinds") as error:
        take_apart(lambda X: np.digitize(X[:, 0], [-0.5, 0.5]), X)
    assert error.value.result.verdict == "several classes"


def test_a_recovered_machine_is_its_own_verdict():
    model = KernelMachine.random(Linear(), D, 3)
    features = np.random.default_rng(0).standard_normal((20, D))
    result = take_apart(model.predict, features)
    assert result.verdict == result.kernel_type == "linear" and "verdict" not in result.summary()
    assert "diagnosis" not in result.queries_by_stage


def test_a_verdict_is_saved_and_loaded(tmp_path):
    result = Deconstruction(verdict="clipped")
    result.save(tmp_path / "result")
    assert Deconstruction.load(tmp_path / "result").verdict == "clipped"


@pytest.mark.parametrize("cause", [Cause(verdict, "seen") for verdict in VERDICTS], ids=str)
def test_what_a_verdict_says(cause):
    verdict = cause.as_verdict({}, "no tanh machine")
    assert verdict.kernel_type == "unknown" and "no tanh machine" in verdict.message
    assert cause.advice in verdict.message and "seen" in verdict.message


def test_grids_need_three_values():
    assert grid_step(np.array([1.0, -1.0, 1.0]), 1e-9) is None
    assert grid_step(np.array([1.0, -1.0, 5.0]), 1e-9) == pytest.approx(2)


def test_steps_along_axes_are_not_planes():
    rng = np.random.default_rng(0)
    w = rng.standard_normal(D)
    plane = Oracle(lambda X: X @ w > 0, D)
    X = rng.standard_normal((10, D))
    X -= np.outer(X @ w, w) / (w @ w)
    steps = np.tile(1e-9 * w / np.linalg.norm(w), (10, 1))
    assert (axes_of_steps(plane, X, steps, rng) == -1).all()
    assert share_on_common_planes(plane, X, 100 * steps) == 1
    assert ignores_length(plane, np.zeros(D), X, steps, rng.standard_normal((5, D)))
    assert not ignores_length(plane, w, X, steps, rng.standard_normal((5, D)))


@pytest.mark.parametrize("function, slopes", [
    (lambda X: 0.7 * np.maximum(X[:, 0], 0) - 0.9 * np.maximum(X[:, 1], 0), 4),
    (lambda X: X[:, :3].max(1), 3),
    (lambda X: np.sort(X[:, :3])[:, 1], 3),  # each of three slopes twice
])
def test_slopes_at_the_corner_of_flat_pieces(function, slopes):
    rng = np.random.default_rng(0)
    oracle = Oracle(lambda X: X[:, 3] + 0.3 * function(X) > 0, 4)
    X = rng.standard_normal((20, 4))
    X[:, 3] = -0.3 * function(X)
    V = np.tile([0.0, 0.0, 0.0, 1.0], (20, 1))
    found = slopes_at_corners(oracle, X, V, 2.0, 1e-12, rng)
    assert (found == slopes).sum() >= 5 and (found == 7 - slopes).sum() == 0


def test_a_kink_is_told_from_a_strong_curvature():
    apex, ends = np.zeros(2), np.array([[2.0, -2.0], [2.0, 2.0]])
    for sharp in (1e-2, 1e-1):
        smooth = Oracle(lambda X, s=sharp: X[:, 0] + np.hypot(X[:, 1] - 0.3, s) > 1, 2)
        assert kink_between(smooth, apex, ends, positive=False) is None
    kinked = Oracle(lambda X: X[:, 0] + abs(X[:, 1] - 0.3) > 1, 2)
    t = kink_between(kinked, apex, ends, positive=False)
    x = (1 - t) * ends[0] + t * ends[1]
    assert x[1] / x[0] == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("radius, fewest, most", [(0, 35, 40), (5e-4, 0, 5), (2e-3, 0, 0)])
def test_a_curvature_that_is_resolved_at_the_last_halvings_is_no_kink(radius, fewest, most):
    apex, ends = np.array([0.1, -6]), np.array([[-1.0, 9], [1, 9]])
    kinks = 0
    for x in np.random.default_rng(0).uniform(-0.4, 0.4, 40):
        oracle = Oracle(lambda X, x=x: X[:, 1] > 0.5 + 5 * np.hypot(X[:, 0] - x, radius), 2)
        kinks += kink_between(oracle, apex, ends, positive=False) is not None
    assert fewest <= kinks <= most
