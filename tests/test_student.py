"""Gaussian machines of at least d support vectors, by a student with too many centres."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from decon import Gaussian, KernelMachine, Oracle, deconstruct
from decon.extraction.evidence import GatheredEvidence
from decon.extraction.ledger import Ledger
from decon.extraction.survey import Survey
from decon.families.gaussian import student
from decon.families.gaussian.gaussian_sum import (
    GaussianSum,
    centre_deviations,
    fit_sum,
    with_best_weights,
)
from decon.families.gaussian.shrinking import left_out, shrunk, without_unseen
from decon.families.gaussian.student import BoundarySample, GaussianStudentFamily
from decon.families.protocol import Refuted
from experiments._models import typical
from experiments.students import radial_model, random_student


def random_sum(size=4, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return GaussianSum(rng.standard_normal((size, d)), np.resize([1.0, -0.7], size), 0.1, -1.0), rng


def zeros(total, n, rng):
    """Points where a sum is zero, and the directions of their segments."""
    X = 2 * rng.standard_normal((4000, total.centres.shape[1]))
    f = total.values(X)[0]
    P, N = (X[side][:n] for side in (f > 0, f < 0))
    n = min(len(P), len(N))
    V, t = P[:n] - N[:n], np.tile([[0.0], [1.0]], n)
    for _ in range(60):
        middle = t.mean(0)
        up = total.values(N[:n] + middle[:, None] * V)[0] > 0
        t[1, up], t[0, ~up] = middle[up], middle[~up]
    return N[:n] + t[1][:, None] * V, V / np.linalg.norm(V, axis=1, keepdims=True)


def gathered(predict, features):
    """The evidence on a model, as `deconstruct` gathers it."""
    oracle = Oracle(predict, features.shape[1])
    survey = Survey(oracle, features, Ledger(oracle, progress=False))
    survey.run()
    return GatheredEvidence(oracle, survey, survey.ledger)


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_the_jacobian_is_that_of_finite_differences(floor):
    total, rng = random_sum()
    X, step = rng.standard_normal((20, 3)), 1e-6

    def moved(s):
        k = total.centres.size
        return GaussianSum(total.centres + s[:k].reshape(total.centres.shape),
                           total.weights + s[k:-2], total.threshold + s[-2], total.log_tau + s[-1])

    J = total.sampson_jacobian(X, floor)
    differences = [(moved(s).sampson(X, floor) - moved(-s).sampson(X, floor)) / (2 * step)
                   for s in step * np.eye(J.shape[1])]
    np.testing.assert_allclose(J, np.array(differences).T, rtol=1e-5, atol=1e-6 * abs(J).max())


def test_values_are_those_of_the_machine():
    total, rng = random_sum()
    X = rng.standard_normal((9, 3))
    machine = KernelMachine(Gaussian(1 / np.sqrt(2 * np.exp(-1.0))), total.centres, total.weights,
                            total.threshold)
    f, gradient = total.values(X)
    np.testing.assert_allclose(f, machine.decision_function(X), atol=1e-14)
    np.testing.assert_allclose(gradient, machine.gradient(X), atol=1e-14)


def test_weights_at_the_right_centres_are_the_right_ones():
    total, rng = random_sum()
    X, V = zeros(total, 100, rng)
    found = with_best_weights(total.centres, total.log_tau, X, V)
    assert np.abs(found.sampson(X)).max() < 1e-5
    ratio = found.weights / total.weights
    assert np.ptp(ratio) < 1e-4 * ratio.mean() and ratio.mean() > 0


def test_a_fit_ends_at_the_sum_and_a_superfluous_centre_is_removed():
    total, rng = random_sum()
    X, _ = zeros(total, 200, rng)
    a = total.weights
    split = GaussianSum(np.r_[total.centres, total.centres[:1] + 0.01],
                        np.r_[a[0] / 2, a[1:], a[0] / 2], total.threshold, total.log_tau)
    fits = [fit_sum(trial, X, 1e-3, 60) for trial in shrunk(split, X, 1, 3)[:3]]
    best = min(fits, key=lambda fit: np.abs(fit.sampson(X)).max())
    assert np.abs(best.sampson(X)).max() < 1e-10 and len(best.weights) == 4
    gaps = np.linalg.norm(best.centres[:, None] - total.centres, axis=2)
    assert gaps.min(0).max() < 1e-8

    # each of the four is needed
    for trial in left_out(best, X):
        assert np.median(np.abs(fit_sum(trial, X, 1e-3, 20).sampson(X))) > 1e-4


def test_gaussians_that_are_nowhere_seen_are_dropped():
    total, rng = random_sum()
    far = GaussianSum(np.r_[total.centres, [[1e9, 0, 0]]], np.r_[total.weights, 1e40], 0.1, -1.0)
    assert len(without_unseen(far, rng.standard_normal((5, 3)), 1e-12).weights) == 4


@pytest.mark.parametrize("dimension, n_support, seed", [(3, 4, 0), (5, 6, 1)])
def test_machines_of_many_vectors_are_recovered(dimension, n_support, seed):
    machine, features = random_student(dimension, n_support, 1.1, seed)
    oracle = Oracle(machine.predict, dimension)
    result = deconstruct(oracle, features, progress=False)
    assert result.kernel_type == "gaussian" and result.own_vectors
    assert result.n_support == n_support and result.rank == min(dimension, n_support)
    gaps = np.linalg.norm(result.machine.support_vectors[:, None] - machine.support_vectors, axis=2)
    assert gaps.min(0).max() < 1e-7 and gaps.min(1).max() < 1e-7
    assert result.machine.kernel.sigma == pytest.approx(machine.kernel.sigma, rel=1e-8)
    assert result.queries_by_stage["student"] < 50_000


def test_a_vector_too_many_is_not_called_the_models_own():
    machine, features = random_student(3, 4, 1.1, 0)
    evidence = gathered(machine.predict, features)
    sample = BoundarySample(evidence)
    sample.grow(100, 1e-12)
    Y = (machine.support_vectors - sample.origin) / sample.unit
    log_tau = float(np.log(sample.unit**2 / (2 * machine.kernel.sigma**2)))
    right = GaussianSum(Y, machine.weights, machine.threshold, log_tau)
    assert student._candidate(fit_sum(right, sample.points, 1e-3, 9), sample).own_vectors
    half = np.r_[machine.weights[0] / 2, machine.weights[1:], machine.weights[0] / 2]
    twice = GaussianSum(np.r_[Y, Y[:1] + 1e-5], half, machine.threshold, log_tau)
    candidate = student._candidate(fit_sum(twice, sample.points, 1e-3, 9), sample)
    assert not candidate.own_vectors and "fewer support" in candidate.caveat


def test_a_vector_may_be_two_that_are_farther_apart_where_the_fit_is_worse():
    machine, features = random_student(3, 4, 1.1, 0)
    sample = BoundarySample(gathered(machine.predict, features))
    sample.grow(100, 1e-9)
    Y = (machine.support_vectors - sample.origin) / sample.unit
    log_tau = float(np.log(sample.unit**2 / (2 * machine.kernel.sigma**2)))
    separations = []
    for error in (0.0, 1e-6):  # a thousand widths: the misfit grows with the square of a distance
        total = GaussianSum(Y, machine.weights, machine.threshold * (1 + error), log_tau)
        separations.append(student._candidate(total, sample).separation)
    assert 10 < separations[1] / separations[0] < 100


@pytest.mark.slow
def test_other_radial_machines_are_refused():  # more of them: experiments/students.py
    predict, features = radial_model("Laplacian", 3, 5, 0)
    with pytest.raises(Refuted, match="no Gaussian machine"):
        GaussianStudentFamily().fit(gathered(predict, features))


@pytest.mark.parametrize("model", [KNeighborsClassifier(1), RandomForestClassifier(20,
                                                                                  random_state=0)])
def test_models_without_a_smooth_boundary_are_refused_early(model):
    machine, _ = random_student(5, 8, 1.0, 0)
    X = np.random.default_rng(0).standard_normal((300, 5))
    model.fit(X, machine.predict(X))
    evidence = gathered(model.predict, typical(model.predict, X))
    with pytest.raises(Refuted, match="no Gaussian machine"):
        GaussianStudentFamily().fit(evidence)
    assert evidence.ledger.queries["student"] < 15_000


def test_it_does_not_apply_in_the_plane_or_to_a_polynomial():
    machine, features = random_student(2, 4, 1.0, 0)
    assert not GaussianStudentFamily().applies(gathered(machine.predict, features))
    X = np.random.default_rng(0).standard_normal((20, 4))
    assert not GaussianStudentFamily().applies(gathered(lambda X: X[:, 0] > X[:, 1] ** 2, X))


def test_a_vector_that_no_point_shows_may_be_anywhere():
    total, rng = random_sum()
    X = zeros(total, 80, rng)[0]
    assert (centre_deviations(total, X) < 1e6).all()
    unseen = GaussianSum(np.vstack([total.centres, [1e3, 0, 0]]), np.r_[total.weights, 1.0],
                         total.threshold, total.log_tau)
    assert np.isinf(centre_deviations(unseen, X)).all()
