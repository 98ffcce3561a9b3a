"""A machine nearly known, fitted to brackets: its numbers, the fit, and what it asks for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh, deconstruct
from decon.boundary.bracketing import bisect_along, boundary_points
from decon.boundary.informed import predicted_crossings
from decon.boundary.pairs import pn_pairs
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.frame import Frame
from decon.extraction.ledger import Ledger
from decon.extraction.survey import Survey
from decon.families.gaussian.family import GaussianFamily
from decon.families.sharpening import fit as fit_module
from decon.families.sharpening import sharpen as sharpen_module
from decon.families.sharpening.fit import Brackets, fit_brackets
from decon.families.sharpening.numbers import numbers_of
from decon.families.sharpening.sharpen import can_be_sharpened, sharpen
from decon.numerics.triangular import solve_upper, with_diagonal
from decon.oracles.settings import SETTINGS as ORACLES
from decon.oracles.views import AffineView, SearchView
from experiments._limit import boundary_distance, near_boundary
from experiments._models import random_model

KERNELS = [Linear(), Polynomial(2), Polynomial(2, coef0=0), Polynomial(3), Polynomial(3, 0.5, 2.0),
           Polynomial(3, coef0=0), Tanh(1.0, 0.1), Tanh(0.7, 0.0), Gaussian(2.0)]


def shown(kernel, d, m):
    """How many numbers the labels of a machine show."""
    if kernel.name == "linear":
        return d
    if kernel.name == "quadratic":
        return m * (d - m) + (m + 1) * (m + 2) // 2 - 1
    homogeneous = getattr(kernel, "coef0", 1) == 0
    constant = kernel.name == "gaussian" or getattr(kernel, "beta", 0) != 0
    return m * d + (0 if homogeneous else m) + 1 - 1 + constant


def nearly(truth, error, rng):
    """A machine whose numbers are a little different."""
    Y = truth.support_vectors
    size = error * np.sqrt(np.mean(Y**2))
    return KernelMachine(truth.kernel, Y + size * rng.standard_normal(Y.shape),
                         truth.weights * (1 + error * rng.standard_normal(len(Y))),
                         truth.threshold + error * rng.standard_normal())


def evidence_of(model, features, frame=None, **options):
    """Evidence with a survey, that keeps its brackets."""
    view = SearchView(Oracle(model.predict, model.dimension, **options), noise=0)
    seen = view if frame is None else frame.view(view)
    features = features if frame is None else frame.coordinates(features)
    survey = Survey(seen, features, Ledger(view.oracle, progress=False), 0)
    survey.run()
    return GatheredEvidence(seen, survey, survey.ledger, frame)


class Moved:
    """The model of x that a machine of u = (x - origin) / units is."""

    def __init__(self, machine, frame):
        self.machine, self.frame, self.dimension = machine, frame, machine.dimension

    def predict(self, X):
        return self.machine.predict(self.frame.coordinates(np.asarray(X)))


def distance(found, truth, scale):
    """Root mean square distance of two boundaries, in units of the scale."""
    rng, d = np.random.default_rng(99), truth.dimension
    X = rng.standard_normal((4000, d)) * scale / np.sqrt(d)
    labels = truth.predict(X)
    X, V = boundary_points(lambda Z: truth.predict(Z), *pn_pairs(
        X[labels > 0], X[labels < 0], 200, rng), 1e-14 * scale)
    slopes = np.linalg.norm(found.gradient(X), axis=1)
    return np.sqrt(np.mean((found.decision_function(X) / slopes / scale) ** 2))


# Numbers

@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_as_many_as_labels_show(kernel, seed):
    d, m = 6, 3
    machine = KernelMachine.random(kernel, d, m, seed)
    numbers = numbers_of(machine, 1 if kernel.name == "linear" else m, 2.0)
    assert len(numbers.start) == len(numbers.sizes) == shown(kernel, d, m)

    # they are the machine, up to a positive factor of f
    X = np.random.default_rng(seed).standard_normal((20, d))
    f, gradient = numbers.values(numbers.start, X)
    again = numbers.machine(numbers.start)
    for values, gradients in ((machine.decision_function(2 * X), machine.gradient(2 * X)),
                              (again.decision_function(2 * X), again.gradient(2 * X))):
        factor = (f @ values) / (f @ f)
        assert factor > 0
        np.testing.assert_allclose(values, factor * f, atol=1e-9 * np.abs(values).max())
        np.testing.assert_allclose(2 * gradients, factor * gradient,
                                   atol=1e-9 * np.abs(gradients).max())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_derivatives_by_the_numbers_are_right(kernel):
    rng, d, m = np.random.default_rng(1), 5, 3
    machine = KernelMachine.random(kernel, d, m, 2)
    numbers = numbers_of(machine, 1 if kernel.name == "linear" else m, 1.5)
    X, theta, h = rng.standard_normal((6, d)), numbers.start, 1e-6
    theta = theta + 0.01 * numbers.sizes * rng.standard_normal(len(theta))
    J = numbers.jacobian(theta, X)
    for k, step in enumerate(h * np.eye(len(theta))):
        up, down = (numbers.values(theta + s * step, X)[0] for s in (1, -1))
        np.testing.assert_allclose(J[:, k], (up - down) / (2 * h), atol=1e-7)
    _, gradient = numbers.values(theta, X)
    for k, step in enumerate(h * np.eye(d)):
        up, down = (numbers.values(theta, X + s * step)[0] for s in (1, -1))
        np.testing.assert_allclose(gradient[:, k], (up - down) / (2 * h), atol=1e-7)


def test_what_labels_do_not_show_is_no_number():
    two = KernelMachine.random(Tanh(1.0, 0.3), 4, 2, 0)
    three = KernelMachine.random(Tanh(1.0, 0.3), 4, 3, 0)
    assert len(numbers_of(two, 2, 1.0).start) == 2 * 5      # a bias that two units leave open
    assert len(numbers_of(three, 3, 1.0).start) == 3 * 5 + 1
    J = numbers_of(three, 3, 1.0).jacobian(numbers_of(three, 3, 1.0).start,
                                           np.random.default_rng(0).standard_normal((40, 4)))
    assert np.linalg.matrix_rank(J) == 16


# Brackets that know what they will find

@given(seed=st.integers(0, 1000), power=st.floats(-8, 0))
@settings(max_examples=30)
def test_a_prediction_saves_the_bits_that_it_knows(seed, power):
    rng, n, error = np.random.default_rng(seed), 200, 10**power
    crossing = error * rng.standard_normal(n)
    oracle = Oracle(lambda X: X[:, 0] > crossing[X[:, 1].astype(int)], 2)
    X, V = np.c_[np.zeros(n), np.arange(n)], np.tile([1.0, 0.0], (n, 1))
    t = predicted_crossings(oracle, X, V, np.full(n, error), 1e-12, np.full(n, 30 * error))
    np.testing.assert_allclose(t, crossing, atol=1e-12)
    assert 1.5 < oracle.queries / n - np.log2(error / 1e-12) < 3.3  # 2.05 for the best code


def test_a_crossing_far_from_its_prediction_is_given_up():
    oracle = Oracle(lambda X: X[:, 0] > 100, 2)
    one = np.ones(1)
    assert np.isnan(predicted_crossings(oracle, np.zeros((1, 2)), np.eye(2)[:1], one, 1e-9,
                                        30 * one)).all()


# What an oracle is told

def test_brackets_are_kept_in_the_models_coordinates():
    rng = np.random.default_rng(0)
    model = KernelMachine.random(Polynomial(3), 4, 2, 0)
    view = SearchView(Oracle(model.predict, 4), noise=0)
    inner = AffineView(AffineView(view, np.ones(4), scale=3.0), 0.2,
                       np.linalg.qr(rng.standard_normal((4, 3)))[0], np.array([1.0, 2.0, 0.5]))
    Z = rng.standard_normal((300, 3))
    labels = inner(Z)
    P, N = pn_pairs(Z[labels > 0], Z[labels < 0], 30, rng)
    ends = boundary_points(inner, P, N, 1e-9)[0]
    X, V, widths = view.crossings
    np.testing.assert_allclose(X, inner.oracle.points(inner.points(ends)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1)
    assert (model.predict(X + widths[:, None] * V) == 1).all()
    assert (model.predict(X - widths[:, None] * V) == -1).all()

    # also those along lines, but not those that were not met
    t = bisect_along(view, X[:2] - 0.1 * V[:2], V[:2] * [[1], [-1]], 0.0, 0.1, 1e-9, 0.15)
    assert np.isfinite(t).tolist() == [True, False] and len(view.crossings[0]) == 31


def test_no_more_is_kept_than_memory_allows(monkeypatch):
    monkeypatch.setattr("decon.oracles.views.SETTINGS", replace(ORACLES, most_kept=100))
    view = SearchView(Oracle(lambda X: X[:, 0] > 0.1, 5), noise=0)
    ends = np.ones((4, 5))
    for _ in range(5):  # 40 numbers each
        boundary_points(view, ends, -ends, 1e-3)
    assert view.crossings[0].shape == (8, 5)


def test_evidence_gives_brackets_in_the_coordinates_of_the_search():
    model = KernelMachine.random(Polynomial(2), 5, 3, 0)
    frame = Frame(np.arange(5.0), np.array([1.0, 10.0, 0.1, 2.0, 1.0]))
    features = frame.points(np.random.default_rng(0).standard_normal((30, 5)))
    evidence = evidence_of(Moved(model, frame), features, frame)
    X, V, widths = evidence.brackets
    assert len(X) >= 10 and np.allclose(np.linalg.norm(V, axis=1), 1)
    step = widths[:, None] * V
    assert (evidence.oracle(X + step) == 1).all() and (evidence.oracle(X - step) == -1).all()


def test_evidence_of_an_oracle_that_keeps_nothing_has_no_brackets():
    model = KernelMachine.random(Polynomial(2), 5, 3, 0)
    oracle = Oracle(model.predict, 5)
    survey = Survey(oracle, np.random.default_rng(0).standard_normal((30, 5)),
                    Ledger(oracle, progress=False), 0)
    survey.run()
    assert [a.shape for a in GatheredEvidence(oracle, survey, survey.ledger).brackets] == [
        (0, 5), (0, 5), (0,)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_errors_of_vectors_are_relative_to_their_lengths(kernel):
    machine = KernelMachine.random(kernel, 6, 3, 1)
    numbers = numbers_of(machine, 1 if kernel.name == "linear" else 3, 2.0)
    errors = numbers.vector_errors(numbers.start, 1e-3 * np.abs(numbers.start))
    if kernel.name in ("linear", "quadratic"):  # no vectors of their own
        assert errors.shape == (0,)
        return

    # all of them a thousandth, but for the coordinate of a cube that is fixed
    assert errors.shape == (3,)
    np.testing.assert_allclose(np.sort(errors)[kernel.name == "cubic":], 1e-3)
    assert 0 < errors.min() <= 1e-3 * (1 + 1e-9)


# Fits

@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_brackets_are_met_from_a_start_that_is_off(kernel):
    rng, d, m = np.random.default_rng(0), 6, 3
    truth = KernelMachine.random(kernel, d, m, 1)
    X = rng.standard_normal((2000, d))
    labels = truth.predict(X)
    X, V = boundary_points(lambda Z: truth.predict(Z), *pn_pairs(
        X[labels > 0], X[labels < 0], 200, rng), 1e-12)
    numbers = numbers_of(nearly(truth, 0.01, rng), 1 if kernel.name == "linear" else m, 1.0)
    brackets = Brackets(X, V, np.full(200, 1e-12 / np.sqrt(12)))
    fit = fit_brackets(numbers, numbers.start, brackets, 0.1 * numbers.sizes)
    assert fit.good and np.median(np.abs(fit.misses)) < 2
    assert distance(numbers.machine(fit.theta), truth, np.sqrt(d)) < 1e-11

    # how well the numbers are known: about as well as they are met
    assert (fit.deviations < 1e-8 * np.maximum(numbers.sizes, 1e-2)).all()

    # brackets that are wrong refute it
    X[:10] += 1e-6 * rng.standard_normal((10, 1)) * V[:10]
    assert not fit_brackets(numbers, fit.theta, brackets, 0.1 * numbers.sizes).good


def test_a_fit_is_given_up_where_brackets_are_not_met_within_wider_errors(monkeypatch):
    """Of twelve fits the second is the last, if a hundredth of the scale is not wide enough."""
    truth, other = (KernelMachine.random(Polynomial(3), 6, 3, seed) for seed in (1, 2))
    rng, fits, least_squares = np.random.default_rng(0), [], fit_module._least_squares
    X = rng.standard_normal((2000, 6))
    labels = truth.predict(X)
    X, V = boundary_points(truth.predict, *pn_pairs(X[labels > 0], X[labels < 0], 300, rng), 1e-12)
    brackets = Brackets(X, V, np.full(300, 1e-12))

    def counted(*arguments):
        fits.append(least_squares(*arguments))
        return fits[-1]

    monkeypatch.setattr(fit_module, "_least_squares", counted)
    numbers = numbers_of(other, 3, 1.0)
    fit = fit_brackets(numbers, numbers.start, brackets, 1e-3 * numbers.sizes)
    assert not fit.good and len(fits) == 2
    # a start that is off, but not by far: as many as it takes
    fits.clear()
    numbers = numbers_of(nearly(truth, 0.1, np.random.default_rng(3)), 3, 1.0)
    assert fit_brackets(numbers, numbers.start, brackets, 1e-3 * numbers.sizes).good
    assert [fit.good for fit in fits] == [False] + [True] * 11


def test_a_fit_that_comes_near_shows_lines_that_help(monkeypatch):
    """One that meets its brackets within wider errors is no refusal, but no answer either."""
    truth, rng = KernelMachine.random(Gaussian(2.0), 8, 4, 1), np.random.default_rng(1)
    evidence = evidence_of(truth, rng.standard_normal((60, 8)))
    evidence.survey.bracket(*evidence.survey.pool.pairs(60))
    start, seen, fit_brackets_ = nearly(truth, 1e-3, rng), [], sharpen_module.fit_brackets

    def stopped(error, times):
        def fitted(*arguments, **options):
            fit = fit_brackets_(*arguments, **options)
            seen.append(fit)
            return replace(fit, error=error) if len(seen) <= times else fit
        seen.clear()
        monkeypatch.setattr(sharpen_module, "fit_brackets", fitted)
        return sharpen(evidence, start, 4)

    sharp = stopped(1e-10, 2)  # twice, as of brackets nearby and of all
    assert sharp is not None
    assert boundary_distance(sharp.machine, truth, near_boundary(
        truth, rng.standard_normal((200, 8)), 50, rng)) < 1e-11
    assert stopped(1e-6, 2) is None  # too far off
    assert stopped(1e-10, 99) is None  # again and again


class SlowAndIdle:
    """Two numbers: steps of the first are five times too short, the second moves nothing."""

    start, sizes = np.zeros(2), np.ones(2)

    def values(self, theta, X):
        return X[:, 0] - theta[0], np.eye(1, X.shape[1]).repeat(len(X), axis=0)

    def jacobian(self, theta, X):
        return np.tile([-5.0, 0.0], (len(X), 1))


def test_a_number_that_moves_nothing_does_not_break_a_fit():
    """Without damping, which ends after a dozen steps that help, the system is singular."""
    brackets = Brackets(np.ones((9, 2)), np.eye(1, 2).repeat(9, axis=0), np.full(9, 1e-13))
    fit = fit_brackets(SlowAndIdle(), np.zeros(2), brackets, np.ones(2), wide=())
    assert 0.9 < fit.theta[0] < 1 and fit.theta[1] == 0 and not fit.good


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 70), st.integers(0, 1000))
def test_a_diagonal_below_is_taken_in(n, seed):
    rng = np.random.default_rng(seed)
    R, diagonal = np.triu(rng.standard_normal((n, n))), rng.standard_normal(n)
    found = with_diagonal(R, diagonal)
    assert (np.tril(found, -1) == 0).all()
    np.testing.assert_allclose(found.T @ found, R.T @ R + np.diag(diagonal**2), atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 3), st.integers(0, 1000))
def test_triangular_systems_are_solved_also_where_they_are_singular(n, zeros, seed):
    rng = np.random.default_rng(seed)
    R, x = np.triu(rng.standard_normal((n, n))) + 3 * np.eye(n), rng.standard_normal((n, 2))
    np.testing.assert_allclose(solve_upper(R, R @ x), x, atol=1e-9)
    idle = rng.permutation(n)[:zeros]
    R[idle] = R[:, idle] = 0
    found = solve_upper(R, R @ x)
    np.testing.assert_allclose(R @ found, R @ x, atol=1e-9)
    assert np.abs(found[idle]).max(initial=0) < 1e-9 or not zeros


# All of it

@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_a_machine_nearly_known_becomes_exact_at_a_bit_per_query(kernel, seed):
    d, m, start = 8, 4, 0.01
    rng, truth = np.random.default_rng(seed), KernelMachine.random(kernel, d, m, seed)
    evidence = evidence_of(truth, rng.standard_normal((60, d)))
    before, rank = evidence.survey.oracle.oracle.queries, 1 if kernel.name == "linear" else m
    sharp = sharpen(evidence, nearly(truth, start, rng), rank)
    queries = evidence.survey.oracle.oracle.queries - before
    assert distance(sharp.machine, truth, evidence.survey.scale) < 3e-11
    assert queries < 1.25 * shown(kernel, d, m) * np.log2(1e12)
    assert set(evidence.ledger.queries) <= {"features", "boundary", "sharpening"}
    truth_basis = np.linalg.svd((truth.weights @ truth.support_vectors)[None]
                                if rank == 1 else truth.support_vectors)[2][:rank].T
    np.testing.assert_allclose(sharp.basis @ (sharp.basis.T @ truth_basis), truth_basis, atol=1e-6)

    # and nothing is left to be asked
    before = evidence.survey.oracle.oracle.queries
    again = sharpen(evidence, sharp.machine, rank)
    assert evidence.survey.oracle.oracle.queries - before < 0.2 * queries + 100
    assert distance(again.machine, truth, evidence.survey.scale) < 3e-11


@pytest.mark.parametrize("kernel", [Polynomial(3), Tanh(1.0, 0.1), Gaussian(2.0)], ids=str)
def test_another_machine_is_refuted(kernel):
    truth, other = (KernelMachine.random(kernel, 8, 4, seed) for seed in (1, 2))
    evidence = evidence_of(truth, np.random.default_rng(0).standard_normal((60, 8)))
    evidence.survey.bracket(*evidence.survey.pool.pairs(60))
    assert sharpen(evidence, other, 4) is None


@pytest.mark.parametrize("kernel", [Polynomial(3), Tanh(1.0, 0.1), Gaussian(2.0)], ids=str)
def test_a_fit_that_is_led_astray_begins_again_from_the_start(kernel, monkeypatch):
    """And so the brackets that it was fitted to are not lost."""
    truth, rng = KernelMachine.random(kernel, 8, 4, 1), np.random.default_rng(0)
    starts, astray = [], iter([True])

    def led_astray(numbers, theta, brackets, deviations, **options):
        starts.append(np.array_equal(theta, numbers.start))
        if options.get("wide") == () and next(astray, False):
            theta = theta + 10 * rng.standard_normal(len(theta))
        return fit_brackets(numbers, theta, brackets, deviations, **options)

    monkeypatch.setattr(sharpen_module, "fit_brackets", led_astray)
    evidence = evidence_of(truth, rng.standard_normal((60, 8)))
    evidence.survey.bracket(*evidence.survey.pool.pairs(20))
    sharp = sharpen(evidence, nearly(truth, 1e-4, rng), 4)
    assert next(astray, None) is None and starts[0] and any(starts[1:])
    assert distance(sharp.machine, truth, evidence.survey.scale) < 3e-11


def test_there_are_bounds_and_machines_of_too_many_numbers():
    truth = KernelMachine.random(Polynomial(3), 8, 4, 1)
    features = np.random.default_rng(0).uniform(-1, 1, (60, 8))
    evidence = evidence_of(truth, features, bounds=(-3, 3))
    assert sharpen(evidence, truth, 4) is None
    assert not can_be_sharpened(evidence, 4)
    evidence = evidence_of(truth, features)
    assert can_be_sharpened(evidence, 111) and not can_be_sharpened(evidence, 112)  # 9 numbers each
    assert can_be_sharpened(evidence, 51, 459) and not can_be_sharpened(evidence, 52, 459)
    assert sharpen(evidence, truth, 4, most=35) is None


@pytest.mark.parametrize("kernel", [Polynomial(3), Gaussian(2.0)], ids=str)
def test_in_other_coordinates(kernel):
    truth, rng = KernelMachine.random(kernel, 6, 3, 1), np.random.default_rng(0)
    frame = Frame(np.array([5.0, 0, 0, -3, 0, 0]), np.full(6, 4.0))
    features = rng.standard_normal((60, 6))
    evidence = evidence_of(Moved(truth, frame), frame.points(features), frame)
    sharp = sharpen(evidence, nearly(truth, 0.01, rng), 3)
    assert distance(sharp.machine, truth, evidence.survey.scale) < 3e-11


@pytest.mark.parametrize("kernel", [Polynomial(3), Tanh(1.0, 0.1), Gaussian(2.0)], ids=str)
def test_lines_of_a_batch_are_predicted_from_those_before(kernel, monkeypatch):
    """What is predicted from others is as far off as its standard error says, and no bracket costs
    more queries than its own information and a few."""
    seen = []

    def bracket(self, X, N, root):
        before = self.evidence.oracle.oracle.queries
        misses = measure(self, X, N, root)
        alone = np.linalg.norm(root, axis=1)
        given = np.maximum(np.abs(np.diag(root)), 2 * self.width)
        spent = self.evidence.oracle.oracle.queries - before
        seen.append((misses, alone, given, spent, len(X)))
        return misses

    measure = sharpen_module._Search._bracket
    monkeypatch.setattr(sharpen_module._Search, "_bracket", bracket)
    for seed in range(4):
        truth, rng = KernelMachine.random(kernel, 10, 5, seed), np.random.default_rng(seed)
        evidence = evidence_of(truth, rng.standard_normal((60, 10)))
        evidence.survey.bracket(*evidence.survey.pool.pairs(60))
        assert sharpen(evidence, nearly(truth, 1e-3, rng), 5) is not None
    misses = np.concatenate([m for m, *_ in seen])
    assert not np.isnan(misses).any() and 0.2 < np.median(np.abs(misses)) < 1.5
    assert all(root_alone.max() >= 0.99 * given.max() for _, root_alone, given, *_ in seen)

    # log2(4.1 given / width) bits for a line, if its crossing is normal
    bits = sum(np.log2(4.13 * g / 1e-12).sum() for *_, g, _, _ in seen)
    assert sum(spent for *_, spent, _ in seen) < bits + 3 * sum(n for *_, n in seen)


def test_far_in_a_tail_the_median_is_still_finite():
    oracle = Oracle(lambda X: X[:, 0] > 0.5, dimension=1)
    t = predicted_crossings(oracle, np.zeros((1, 1)), np.ones((1, 1)), np.array([1e-9]), 1e-12,
                            np.array([1.0]))
    np.testing.assert_allclose(t, 0.5, atol=1e-12)


def test_a_valley_that_bends_is_followed_to_its_end():
    """As many brackets as numbers, some of them found out late: the errors become narrow slowly."""
    for seed in range(20):
        truth, rng = KernelMachine.random(Gaussian(2.0), 6, 3, seed), np.random.default_rng(seed)
        evidence = evidence_of(truth, rng.standard_normal((60, 6)))
        assert sharpen(evidence, nearly(truth, 0.01, rng), 3) is not None


def test_a_gaussian_vector_that_might_be_two_is_looked_at_by_more_brackets(monkeypatch):
    """The sharpened machine is taken to leave room for a second vector; distances do not."""
    sharpened, doubts = GaussianFamily._by_sharpening, []

    def doubtful(family, evidence, subspace):
        found = sharpened(family, evidence, subspace)
        doubts.append(found is not None)
        return found and (*found[:-1], 1.0)

    model, features = random_model(Gaussian(4.0), 30, 12, 0)
    sure = deconstruct(Oracle(model.predict, 30), features, random_state=0, progress=False)
    monkeypatch.setattr(GaussianFamily, "_by_sharpening", doubtful)
    result = deconstruct(Oracle(model.predict, 30), features, random_state=0, progress=False)
    assert any(doubts) and result.own_vectors and sure.own_vectors
    probes = [r.queries_by_stage["radial probe"] for r in (sure, result)]
    assert probes[1] > 1.5 * probes[0]
    far = np.linalg.norm(result.machine.support_vectors[:, None] - model.support_vectors, axis=2)
    assert far.min(0).max() < 1e-4
