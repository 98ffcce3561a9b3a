"""The rivals of `deconstruct`, and the yardstick that they are measured by."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.subspaces.spans import largest_sine
from experiments import _rivals, few_questions
from experiments._compare import visible_numbers
from experiments._following import (
    bits_of_an_update,
    followed,
    miss,
    numbers,
    predicted,
    rebuilt,
    sensitivity,
)
from experiments._models import random_model
from experiments._normals import angles
from experiments._rivals import (
    Guess,
    Yardstick,
    active,
    by_labels,
    by_tools,
    cloud,
    columns,
    direct_fit,
    labelled,
    on_span,
    paper,
    points_needed,
    retraining,
    separated_normal,
    signed_normals,
    span_of_copy,
    trained,
    values_of,
)

D, M = 8, 3


def open_box(kernel, seed=0):
    box, features = random_model(kernel, D, M, seed)
    return box, features, Oracle(box.predict, D, positive=1)


def plane(normal, offset=0.0):
    return KernelMachine(Linear(), [normal], [1.0], offset)


# -- the yardstick

@given(st.floats(-9, -1.5), st.sampled_from([-1, 1]), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_distance_between_parallel_planes(exponent, sign, seed):
    rng = np.random.default_rng(seed)
    normal = np.eye(D)[0]
    features = rng.standard_normal((20, D))
    yardstick = Yardstick(plane(normal), features, seed, far=2000, close=60)
    shift = 10.0**exponent
    moved = plane(normal, sign * shift * yardstick.scale)
    distances = yardstick.distances(moved.predict)
    assert np.all(np.abs(np.log2(distances / shift)) <= 0.51)
    assert abs(np.log2(np.median(distances) / shift)) < 0.25


def test_a_perfect_guess_is_perfect():
    box, features, _ = open_box(Polynomial(2))
    yardstick = Yardstick(box, features, 0, far=5000, close=100)
    row = yardstick.measure(Guess(17, box.predict, np.linalg.qr(box.support_vectors.T)[0]))
    assert row["queries"] == 17 and row["far"] == 1 and row["close"] == [1.0] * 6
    assert row["sine"] < 1e-14 and row["distance"] < 1e-14


@pytest.mark.parametrize("depth, expected", [(1e-1, 1.0), (1e-6, 0.5)])
def test_agreement_close_by_is_that_of_a_shifted_boundary(depth, expected):
    box, features, _ = open_box(Polynomial(2))
    yardstick = Yardstick(box, features, 0, far=5000, close=200)
    step = 1e-3 * yardstick.scale * np.eye(D)[0]
    row = yardstick.measure(Guess(0, lambda X: box.predict(X + step)))
    assert abs(row["close"][few_questions.DEPTHS.index(depth)] - expected) < 0.1


def test_a_wrong_guess_is_wrong():
    box, features, _ = open_box(Polynomial(2))
    yardstick = Yardstick(box, features, 0, far=5000, close=100)
    row = yardstick.measure(Guess(0, lambda X: -box.predict(X), np.eye(D)[:, :M]))
    assert row["far"] == 0 and row["distance"] > 0.1 and row["sine"] > 0.1
    assert np.isnan(yardstick.measure(Guess(0))["distance"])


def test_a_cloud_is_spread_like_the_features():
    features = np.random.default_rng(0).standard_normal((500, D)) * 7
    X = cloud(features, 4000, np.random.default_rng(1))
    assert abs(np.sqrt(np.mean(X[1::2] ** 2)) / 7 - 1) < 0.05
    near = np.linalg.norm(X[::2, None] - features, axis=2).min(1)
    assert near.max() < 7 * 0.5 * np.sqrt(D) * 2.5


# -- the parts of the rivals

@pytest.mark.parametrize("n", [300, 3000])
def test_labels_of_random_directions_obey_the_law_of_their_number(n):
    normal = np.eye(30)[3]
    oracle = Oracle(plane(normal).predict, 30, positive=1)
    N = signed_normals(oracle, np.zeros((40, 30)), 1e-3, n, np.random.default_rng(0))
    assert oracle.queries == 40 * n
    law = np.arctan(np.sqrt(np.pi * 29 / (2 * n)))
    assert abs(np.sqrt(np.mean(angles(N, normal[None]) ** 2)) / law - 1) < 0.1


def test_the_mean_label_is_taken_out():
    """Off the boundary nearly all labels are equal; unweighted directions would drown the rest."""
    normal = np.eye(10)[0]
    oracle = Oracle(plane(normal).predict, 10, positive=1)
    x = np.full((20, 1), 0.5e-3) * normal
    N = signed_normals(oracle, x, 1e-3, 4000, np.random.default_rng(0))
    assert np.median(angles(N, normal[None])) < 0.2


def test_separation_decodes_the_same_labels_better():
    normal = np.eye(20)[0]
    oracle, rng = Oracle(plane(normal).predict, 20, positive=1), np.random.default_rng(0)
    mean = angles(signed_normals(oracle, np.zeros((5, 20)), 1e-3, 2000, rng), normal[None])
    wide = angles(np.array([separated_normal(oracle, np.zeros(20), 1e-3, 2000, rng)
                            for _ in range(5)]), normal[None])
    assert oracle.queries == 20_000 and np.median(wide) < 0.4 * np.median(mean)


@pytest.mark.parametrize("degree", [2, 3])
def test_columns_of_a_polynomial_span_what_it_depends_on(degree):
    rng = np.random.default_rng(degree)
    V = np.c_[rng.standard_normal((4, M)) @ rng.standard_normal((M, D)), np.ones(4)]
    letters = "abc"[:degree]
    T = np.einsum("r," + ",".join("r" + c for c in letters) + "->" + letters,
                  rng.standard_normal(4), *[V] * degree)
    assert largest_sine(columns(T, M), np.linalg.svd(V[:, :D].T)[0][:, :M]) < 1e-10


def test_the_sign_of_a_polynomial_comes_from_the_pool():
    box, features, oracle = open_box(Polynomial(2))
    pool, _ = labelled(oracle, features, 0)
    H = np.c_[box.support_vectors, np.ones(M)]
    T = np.einsum("r,ra,rb", box.weights, H, H)
    T[-1, -1] -= box.threshold
    for sign in (1, -1):
        assert np.array_equal(on_span(sign * T, np.eye(D), pool)(pool.points), pool.labels)


# -- the rivals

def last(rival):
    return list(rival)[-1]


@pytest.mark.parametrize("degree", [2, 3])
def test_rivals_that_reach_any_accuracy(degree):
    box, features, oracle = open_box(Polynomial(degree))
    yardstick = Yardstick(box, features, 0, far=5000, close=100)
    for guess in (last(direct_fit(oracle, features, degree, M, (1e-6, 1e-12), 0)),
                  last(by_tools(oracle, features, box.kernel, M, 1e-12, 0))):
        row = yardstick.measure(guess)
        assert row["sine"] < 1e-7 and row["distance"] < 1e-9 and row["close"] == [1.0] * 6


def test_a_direct_fit_counts_every_query_once():
    _, features, oracle = open_box(Polynomial(2))
    guesses = list(direct_fit(oracle, features, 2, M, (1e-3, 1e-6), 0))
    n = points_needed(D, 2)
    assert guesses[-1].queries == oracle.queries
    assert 9 * n <= guesses[1].queries - guesses[0].queries <= 11 * n  # log2 of a thousand


@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Gaussian(3.0)])
def test_the_paper_finds_the_subspace_roughly(kernel):
    box, features, oracle = open_box(kernel)
    first, second = paper(oracle, features, kernel, M, (10, 30), 0)
    sine = largest_sine(second.basis, box.support_vectors.T)
    assert sine < 0.2 and first.queries < second.queries
    assert (second.predict is not None) == isinstance(kernel, Polynomial)
    if second.predict is not None:
        row = Yardstick(box, features, 0, far=5000, close=100).measure(second)
        assert row["far"] > 0.99 and row["distance"] < 1e-2


def test_more_labels_a_normal_are_another_run():
    box, features, oracle = open_box(Polynomial(2))
    few, many = by_labels(oracle, features, box.kernel, M, (100, 2000), 0, n_normals=20)
    assert abs(many.queries - few.queries - 20 * 1900) < 2000
    yardstick = Yardstick(box, features, 0, far=5000, close=100)
    assert yardstick.measure(many)["distance"] < yardstick.measure(few)["distance"]


@pytest.mark.parametrize("learn", [retraining, active])
@pytest.mark.parametrize("kernel", [Polynomial(2), Tanh(1.0, 0.1), Gaussian(3.0)], ids=str)
def test_copies_come_closer(kernel, learn):
    box, features, oracle = open_box(kernel)
    yardstick = Yardstick(box, features, 0, far=5000, close=100)
    first, second, third = learn(oracle, features, kernel, M, (400, 800), 0)
    assert second.queries == first.queries + 400 and third.queries == second.queries + 800
    assert yardstick.measure(third)["distance"] < 0.6 * yardstick.measure(first)["distance"]
    assert third.converged or kernel.name != "gaussian"  # the others need not come to an end


def test_a_solver_that_does_not_converge_says_so(monkeypatch):
    box, features, oracle = open_box(Tanh(1.0, 0.1))
    monkeypatch.setattr(_rivals, "STEPS", 3)
    assert not next(retraining(oracle, features, box.kernel, M, (), 0)).converged


def test_the_span_of_a_copy_is_that_of_its_gradients():
    box, features, oracle = open_box(Polynomial(2))
    pool, _ = labelled(oracle, features, 0)
    copy, _ = trained(pool, box.kernel, M)
    x, h = pool.points[:1], 1e-6
    gradient = [(values_of(copy, x + e) - values_of(copy, x - e))[0] for e in h * np.eye(D)]
    span = span_of_copy(copy, x, 1)
    assert largest_sine(span, np.array(gradient)[:, None]) < 1e-4


# -- boxes that have changed

KERNELS = [Polynomial(2), Polynomial(3), Tanh(0.7, -0.4), Gaussian(2.5)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_sensitivity_is_the_derivative_of_the_miss(kernel):
    box, features, _ = open_box(kernel)
    X, V = predicted(box, features, 20, np.random.default_rng(0))
    assert np.abs(miss(box, X, V)).max() < 1e-12
    J, z, h = sensitivity(box, X, V), numbers(box), 1e-6
    for k in range(len(z)):
        step = h * np.eye(len(z))[k]
        slope = (miss(rebuilt(box, z + step), X, V) - miss(rebuilt(box, z - step), X, V)) / (2 * h)
        assert np.allclose(J[:, k], slope, rtol=1e-5, atol=1e-6 * np.abs(J).max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_as_many_brackets_as_numbers_follow_a_box(kernel):
    old, features, _ = open_box(kernel)
    rng, z = np.random.default_rng(1), numbers(old)
    box = rebuilt(old, z * (1 + 1e-5 * rng.standard_normal(len(z))))
    yardstick = Yardstick(box, features, 0, far=2000, close=100)
    p = visible_numbers(old, len(old.weights))
    medians = []
    for n in (p - p // 4, p + 4):
        oracle = Oracle(box.predict, D, positive=1)
        new = followed(oracle, old, features, n, 1e-5, 1e-13, np.random.default_rng(0))
        medians.append(np.median(yardstick.distances(new.predict)))
        assert oracle.queries < 36 * n
    assert medians[1] < 1e-9 and medians[1] < 1e-2 * medians[0]


def test_the_bits_of_an_update_fall_by_p_with_every_doubling_of_the_distance():
    old, features, _ = open_box(Polynomial(3))
    p = visible_numbers(old, len(old.weights))
    bits = [bits_of_an_update(old, features, drift, r, np.random.default_rng(0))
            for drift, r in [(1e-4, 1e-9), (1e-4, 2e-9), (2e-4, 2e-9)]]
    assert bits[0] - bits[1] == pytest.approx(p) and bits[2] - bits[1] == pytest.approx(p)
    assert 0.5 < bits[0] / (p * np.log2(1e-4 / 1e-9)) < 1.5


# -- the experiment

@pytest.mark.parametrize("name, kernel", [("quadratic", Polynomial(2)), ("cubic", Polynomial(3)),
                                          ("tanh", Tanh(0.7, -0.4)), ("gaussian", Gaussian(2.5))])
def test_the_parameters_are_the_visible_ones(name, kernel):
    """The rank of how the boundary moves when the numbers of a machine are changed a little."""
    d, m = 8, 3
    box, _ = random_model(kernel, d, m, 1)
    constants = {"tanh": [0.7, -0.4], "gaussian": [2.5]}.get(name, [])
    numbers = np.r_[box.support_vectors.ravel(), box.weights, box.threshold, constants]

    def psi(numbers, X):
        kind = type(kernel)(*numbers[m * d + m + 1:]) if constants else kernel
        Y, w = numbers[:m * d].reshape(m, d), numbers[m * d:m * d + m]
        return kind(X, Y) @ w - numbers[m * d + m]

    features = 2 * np.random.default_rng(0).standard_normal((20, d))
    X = Yardstick(box, features, 0, 2000, 400).points
    J = [psi(numbers + h, X) - psi(numbers - h, X) for h in 1e-5 * np.eye(len(numbers))]
    J = np.array(J) / np.linalg.norm(box.gradient(X), axis=1)
    assert np.linalg.matrix_rank(J, tol=1e-9 * np.linalg.norm(J)) == \
        visible_numbers(box, m)


def test_a_row_of_the_table():
    rows = few_questions.one_box("quadratic", "deconstruct", 0)
    line = few_questions.summarise("quadratic", "deconstruct", rows)
    assert line["with_boundary"] == 1 and line["far"] == 1 and line["parameters"] == 306
    assert sum(line["queries_by_stage"].values()) == line["queries"]
    assert line["over_bits"] == pytest.approx(line["queries"] / line["bits"])
    assert 0.7 * 306 < line["bits"] / -np.log2(line["distance"]) < 306


def test_the_bound_of_a_kind_grows_with_the_accuracy():
    bits = np.array(few_questions.bounds("cubic"))
    assert bits[0] == 0 and (np.diff(bits) >= 0).all()
    assert bits[-1] - bits[-3] == pytest.approx(372 * np.log2(10), rel=1e-3)


def test_normals_are_measured_in_many_dimensions_too():
    found = few_questions.one_normal(100, 0)
    assert set(found) == {"labels", "slopes"}
    queries, angle = np.transpose(found["labels"])
    expected = np.arctan(np.sqrt(np.pi * 99 / 2 / queries))
    np.testing.assert_allclose(angle[-3:], expected[-3:], rtol=0.3)
