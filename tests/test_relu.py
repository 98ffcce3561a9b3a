"""Networks with one hidden layer of rectifiers, and what is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from decon import KernelMachine, Oracle, Tanh, deconstruct
from decon.boundary.curves import has_one_kink, holds_triple
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.ledger import Ledger
from decon.extraction.result import Deconstruction
from decon.extraction.survey import Survey
from decon.families.protocol import Refuted
from decon.families.relu.family import ReluFamily
from decon.families.relu.model import KnownUnits
from decon.families.relu.network import ReluNetwork
from decon.families.relu.pieces import Piece, Pieces
from decon.families.relu.planar import units_of_polyline
from decon.families.relu.span import span_by_pieces
from decon.machine import ScaledMachine
from experiments._models import fitted_model, random_model, typical
from experiments.causes import one_class
from experiments.relu_networks import POINTS, random_network, right_labels, unit_error


def extract(predict, features, **options):
    oracle = Oracle(predict, features.shape[1])
    return deconstruct(oracle, features, progress=False, surrogate=False, **options), oracle


def is_exact(predict, result, machine=None):
    oracle = Oracle(predict, len(result.units), positive=result.labels[0])
    right = right_labels(oracle, machine or result.machine, result.scale, 5)
    return right.tolist() == [POINTS, POINTS]


def evidence_of(predict, features):
    oracle = Oracle(predict, features.shape[1])
    survey = Survey(oracle, features, Ledger(oracle, progress=False))
    survey.run()
    return GatheredEvidence(oracle, survey, survey.ledger)


def random_units(h, m, seed):
    rng = np.random.default_rng(seed)
    known = KnownUnits(rng.standard_normal(m + 1))
    for _ in range(h):
        unit = rng.standard_normal(m + 1)
        known.units = np.vstack([known.units, unit])
        known.signs = np.r_[known.signs, rng.choice([-1, 1])]
    return known


# -- networks ------------------------------------------------------------------------------------

@pytest.mark.parametrize("dimension, units, seed", [
    (20, 2, 0), (20, 3, 1), (20, 4, 1), (20, 8, 2), (32, 8, 3), (64, 16, 0), (100, 3, 1),
    (5, 10, 0), (10, 20, 3), (8, 24, 4), (16, 32, 5),
])
def test_random_networks_are_recovered(dimension, units, seed):
    network, features = random_network(dimension, units, seed)
    result, oracle = extract(network.predict, features)
    assert result.kernel_type == result.verdict == "relu network"
    assert is_exact(network.predict, result)
    assert len(result.machine.weights) == units
    assert unit_error(result.machine, network) < 1e-5
    assert result.rank == min(units, dimension) and not result.own_vectors
    assert sum(result.queries_by_stage.values()) == oracle.queries
    if units <= dimension:  # then the linear part can only be that of units turned round
        assert not result.machine.linear.any()


def test_a_wide_network_costs_60_queries_a_parameter():
    network, features = random_network(512, 2, 101)
    result, _ = extract(network.predict, features)
    assert is_exact(network.predict, result) and unit_error(result.machine, network) < 1e-9
    assert result.queries_by_stage["relu network"] < 60 * (2 * 514 + 1)


@pytest.mark.slow
@pytest.mark.parametrize("data, units", [("cancer", 3), ("wine", 3), ("wine", 20)])
def test_trained_networks_are_recovered(data, units):
    model, features = fitted_model(MLPClassifier((units,), random_state=1, max_iter=200), data,
                                   120, 1)
    result, _ = extract(model.predict, features)
    assert result.kernel_type == "relu network" and is_exact(model.predict, result)


@pytest.mark.parametrize("weight", [1e-3, 1e-5])
def test_units_that_hardly_show_spoil_no_others(weight):
    network, features = random_network(10, 5, 1)
    network.weights[2] *= weight
    result, _ = extract(network.predict, features)
    if result.machine is None:
        assert "hardly shows" in result.message or "meets no other" in result.message
    else:
        assert is_exact(network.predict, result) and unit_error(result.machine, network) < 1e-4


def test_networks_in_unlike_units_are_recovered():
    network, features = random_network(10, 4, 3)
    units = np.logspace(0, 4, 10)

    def predict(X):
        return network.predict((X - 7) / units)

    result, _ = extract(predict, 7 + units * features)
    assert result.kernel_type == "relu network" and isinstance(result.machine, ReluNetwork)
    X = 7 + units * np.random.default_rng(0).standard_normal((5000, 10))
    assert (result.machine.predict(X) == predict(X)).all()


def test_results_are_saved_and_described(tmp_path):
    network, features = random_network(8, 3, 1)
    result, _ = extract(network.predict, features)
    assert "ReluNetwork(3 units in dimension 8)" in result.summary()
    assert "labels leave" in result.message
    result.save(tmp_path / "network")
    again = Deconstruction.load(tmp_path / "network")
    assert isinstance(again.machine, ReluNetwork)
    assert (again.predict(features) == result.predict(features)).all()
    for name, value in vars(result.machine).items():
        np.testing.assert_array_equal(value, vars(again.machine)[name])
    with pytest.raises(ValueError, match="no row"):
        result.match(features)


def test_the_same_call_gives_the_same_result():
    network, features = random_network(8, 4, 1)
    (one, first), (two, second) = (extract(network.predict, features) for _ in range(2))
    assert first.queries == second.queries
    np.testing.assert_array_equal(one.machine.directions, two.machine.directions)


def test_one_kink_is_not_named_but_reproduced():
    network, features = random_network(20, 2, 102)
    result = deconstruct(Oracle(network.predict, 20), features, progress=False)
    assert (result.kernel_type, result.verdict) == ("unknown", "flat pieces")
    assert "one kink" in result.message and result.machine is None
    assert is_exact(network.predict, result, result.surrogate.machine)

@pytest.mark.parametrize("dimension, seed, state, goal", [
    (784, 101, 101, 106_000), (784, 102, 102, 106_000), (512, 102, 0, 67_000),
])
def test_two_units_of_many_inputs_are_cheap(dimension, seed, state, goal):
    """A tenth of the queries of Chen et al. (ASIACRYPT 2024), everything counted."""
    network, features = random_network(dimension, 2, seed)
    oracle = Oracle(network.predict, dimension)
    result = deconstruct(oracle, features, random_state=state, progress=False)
    assert oracle.queries < goal
    assert is_exact(network.predict, result, result.machine or result.surrogate.machine)


# -- no networks of one layer --------------------------------------------------------------------

def of_two_classes(model, seed=0, data="wine"):
    model, features = fitted_model(model, data, 120, seed)
    return model.predict, features


CONTROLS = {
    "tree": lambda: of_two_classes(DecisionTreeClassifier(random_state=0)),
    "forest": lambda: of_two_classes(RandomForestClassifier(10, random_state=0)),
    "SVM": lambda: of_two_classes(SVC(), data="cancer"),
    "two layers": lambda: of_two_classes(MLPClassifier((20, 10), random_state=0, max_iter=200)),
    "two small layers": lambda: of_two_classes(
        MLPClassifier((4, 3), random_state=1, max_iter=300), 1, "cancer"),
    "linear, 3 classes": lambda: one_class(LogisticRegression(max_iter=300), 0),
    "SVM, 3 classes": lambda: one_class(SVC(kernel="linear"), 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTROLS)
def test_others_are_refused(name):
    result, _ = extract(*CONTROLS[name]())
    assert result.kernel_type == "unknown" and result.machine is None and result.message


@pytest.mark.parametrize("name, reason", [
    ("tree", "parallel to axes"), ("SVM", "no flat pieces"), ("two layers", "layers"),
])
def test_the_reason_is_said(name, reason):
    with pytest.raises(Refuted, match=reason):
        ReluFamily().fit(evidence_of(*CONTROLS[name]()))


@pytest.mark.slow
def test_deeper_networks_are_still_named_piecewise_linear():
    result, _ = extract(*CONTROLS["two layers"]())
    assert result.verdict == "piecewise linear"


def test_parallel_planes_are_refused():
    rng = np.random.default_rng(0)
    a, features = rng.standard_normal(6), rng.standard_normal((40, 6))
    with pytest.raises(Refuted, match="parallel planes"):
        ReluFamily().fit(evidence_of(lambda X: np.where(abs(X @ a) < 1, 1, -1), features))


# -- what it costs others ------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(3))
def test_no_network_is_sought_behind_a_curved_boundary(seed):
    machine, features = random_model(Tanh(1.0, 0.1), 15, 6, seed)
    evidence = evidence_of(machine.predict, features)
    assert evidence.degree is None or evidence.degree == 3
    before = evidence.oracle.queries
    assert not ReluFamily().applies(evidence) and evidence.oracle.queries == before


@given(st.integers(0, 10**6))
def test_curves_hold_no_three_points_of_a_line(seed):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(-2, 2, 18))
    curve = np.c_[t, t**2 + 0.3 * t**3]
    turned = curve @ np.linalg.qr(rng.standard_normal((2, 2)))[0]
    assert not holds_triple(turned, 1e-10) and not has_one_kink(turned, 1e-10)
    wedge = np.c_[t, np.abs(t - (t[8] + t[9]) / 2)]
    assert holds_triple(wedge, 1e-10) and has_one_kink(wedge @ [[3, 1], [0, 2]], 1e-10)


@given(st.integers(0, 10**6))
def test_lines_that_cross_or_never_meet_have_no_kink(seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(-1, 1, 12)
    assert not has_one_kink(np.r_[np.c_[t, 0 * t], np.c_[t, t + 0.1 * rng.random()]], 1e-10)
    assert not has_one_kink(np.r_[np.c_[t, 0 * t], np.c_[t, 0 * t + 1]], 1e-10)


# -- the parts -----------------------------------------------------------------------------------

@given(st.integers(1, 6), st.integers(3, 8), st.integers(0, 10**6))
def test_a_network_of_units_is_the_same_function(h, m, seed):
    known, rng = random_units(h, m, seed), np.random.default_rng(seed + 1)
    basis, origin = np.linalg.qr(rng.standard_normal((m + 2, m)))[0], rng.standard_normal(m + 2)
    network = ReluNetwork.from_units(known.first, known.signs, known.units, origin, basis)
    X = rng.standard_normal((50, m + 2))
    Z = np.c_[(X - origin) @ basis, np.ones(50)]
    f = Z @ known.first + np.maximum(0, Z @ known.units.T) @ known.signs
    ratio = f / network.decision_function(X)
    assert ratio.min() > 0 and np.ptp(ratio) < 1e-6 * ratio.max()
    np.testing.assert_allclose(np.linalg.norm(network.directions, axis=1), 1)

    # in other units, and as arrays
    units = rng.uniform(0.1, 10, m + 2)
    moved = network.in_given_units(origin, units)
    behind = ScaledMachine(network, origin, units)
    np.testing.assert_array_equal(moved.predict(X), behind.predict(X))
    again = ReluNetwork.from_arrays(network.to_arrays())
    np.testing.assert_array_equal(again.decision_function(X), network.decision_function(X))


@given(st.integers(1, 5), st.integers(2, 6), st.integers(0, 10**6))
def test_units_that_are_turned_round_leave_no_linear_part(h, d, seed):
    # g = - sum of y_k e_k a_k over units, in the way that a network without linear part has it
    rng = np.random.default_rng(seed)
    h = min(h, d)
    A, c, w = rng.standard_normal((h, d)), rng.standard_normal(h), rng.choice([-1.0, 1.0], h)
    turned = rng.random(h) < 0.5
    truth = ReluNetwork(A, c, w, np.zeros(d), 0.3)
    J = np.c_[A, c] * np.where(turned, -1, 1)[:, None]
    first = np.r_[w[turned] @ A[turned], w[turned] @ c[turned] - 0.3]
    network = ReluNetwork.from_units(first, w, J, np.zeros(d), np.eye(d))
    X = rng.standard_normal((50, d))
    factor = np.abs(w * np.linalg.norm(A, axis=1)).max()
    np.testing.assert_allclose(factor * network.decision_function(X), truth.decision_function(X),
                               atol=1e-9)
    assert not turned.any() or not network.linear.any()


def test_gradients_are_those_of_the_function():
    network, X = random_network(6, 4, 0)
    step = 1e-6 * np.eye(6)
    numeric = np.stack([(network.decision_function(X + e) - network.decision_function(X - e)) / 2e-6
                        for e in step], axis=1)
    np.testing.assert_allclose(network.gradient(X), numeric, atol=1e-6)


@given(st.integers(1, 8), st.integers(3, 6), st.integers(0, 10**6))
def test_sections_stay_on_the_boundary(h, m, seed):
    known, rng = random_units(h, m, seed), np.random.default_rng(seed)
    start = known.onto(rng.standard_normal(m))
    if abs(known.heights(start[None])[0]) > 1e-9:  # the nearest point lies behind a kink
        return
    plane = np.linalg.qr(rng.standard_normal((m, 2)))[0].T
    for side in (1, -1):
        segments = known.section(start, plane, side, 5.0)
        Z = np.array([segment.at(share) for segment in segments for share in (0.01, 0.5, 0.99)])
        assert np.abs(known.heights(Z)).max() < 1e-8
        off = (Z - start) - (Z - start) @ plane.T @ plane
        assert np.abs(off).max() < 1e-9
        for one, two in zip(segments, segments[1:], strict=False):
            assert (one.on != two.on).sum() == 1
            np.testing.assert_allclose(one.at(1.0), two.start)


@given(st.integers(1, 5), st.integers(3, 5), st.integers(0, 10**6))
def test_a_polish_corrects_small_errors(h, m, seed):
    known, rng = random_units(h, m, seed), np.random.default_rng(seed)
    known.first /= np.linalg.norm(known.first[:-1])
    points = []
    for _ in range(60 * (h + 1)):  # points of the boundary, by a few steps of Newton's method
        z = 3 * rng.standard_normal(m)
        for _ in range(5):
            z = known.onto(z)
        if abs(known.heights(z[None])[0]) < 1e-13:
            points.append(z)
    wrong = KnownUnits(known.first)
    wrong.units = known.units + 1e-9 * rng.standard_normal(known.units.shape)
    wrong.signs = known.signs
    if len(points) > 2:
        Z = np.array(points)
        before = np.abs(wrong.heights(Z)).max()
        wrong.polish(Z)
        assert np.abs(wrong.heights(Z)).max() <= max(1e-12, 0.1 * before)


def test_pieces_of_a_pyramid():
    # x_3 > |x_1| + |x_2|: four pieces, kinks where x_1 = 0 or x_2 = 0
    oracle = Oracle(lambda X: X[:, 2] > np.abs(X[:, :2]).sum(1), dimension=3)
    pieces = Pieces(oracle, np.random.default_rng(0))
    right = pieces.measure(np.array([1.0, 0.5, 1.5]), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(right.normal, np.array([-1, -1, 1]) / np.sqrt(3), atol=1e-10)
    near = right.normal + 1e-7 * np.array([1.0, 0, 0])
    again = pieces.sharpen(Piece(right.point + 1e-8, near / np.linalg.norm(near)), 1e-2)
    np.testing.assert_allclose(again.plane, right.plane, atol=1e-10)
    along = np.array([-1.0, 0, -1]) / np.sqrt(2)
    (way,) = pieces.way(right, along[None])
    assert way == pytest.approx(np.sqrt(2), abs=1e-7)
    left = pieces.behind(right.point + way * along, along, right.normal)
    np.testing.assert_allclose(left.normal, np.array([1, -1, 1]) / np.sqrt(3), atol=1e-9)
    basis, _, values = span_by_pieces(pieces, right)
    assert basis.shape == (3, 3) and len(values) == 3


def test_polylines_of_two_units_and_of_more():
    def of(predict):
        return Pieces(Oracle(predict, dimension=2, positive=True), np.random.default_rng(0))

    # f = 1 + max(0, x) - 2 max(0, y) is a polyline of two pieces, and a unit that is always on
    wedge = of(lambda X: 1 + np.maximum(0, X[:, 0]) > 2 * np.maximum(0, X[:, 1]))
    first = wedge.measure(np.array([-1.0, 0.5]), np.array([0.0, -1.0]))
    assert len(units_of_polyline(wedge, first).signs) == 1

    # three pieces: the units have the directions of the outer pieces
    three = of(lambda X: np.maximum(0, X[:, 0]) + np.maximum(0, X[:, 1]) > 1)
    first = three.measure(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))
    known = units_of_polyline(three, first)
    units = known.units / np.linalg.norm(known.units[:, :-1], axis=1)[:, None]
    np.testing.assert_allclose(np.sort(np.abs(units).argmax(1)), [0, 1])
    np.testing.assert_allclose(np.abs(units).max(1), 1, atol=1e-8)

    # a square has four kinks
    square = of(lambda X: np.abs(X).sum(1) < 1)
    first = square.measure(np.array([0.5, 0.5]), np.array([-1.0, 0.0]))
    with pytest.raises(Refuted, match="more than two kinks"):
        units_of_polyline(square, first)


def test_kernel_machines_still_load(tmp_path):
    machine = KernelMachine.random(Tanh(1.0), 4, 3)
    Deconstruction("tanh", machine=machine).save(tmp_path / "tanh")
    assert isinstance(Deconstruction.load(tmp_path / "tanh").machine, KernelMachine)


def test_typical_points_have_both_labels():
    network, features = random_network(5, 3, 2)
    assert set(network.predict(features)) == {1, -1}
    assert len(typical(network.predict, features, 2)) == 4
