"""Boxes that lie now and then, round, have walls, or end half-way: what is recovered."""

import numpy as np
import pytest
from sklearn.svm import SVC

from decon import (
    BudgetExhausted,
    Deconstruction,
    Gaussian,
    KernelMachine,
    Linear,
    Oracle,
    Polynomial,
    Tanh,
    deconstruct,
)
from decon.subspaces.spans import largest_sine
from experiments._compare import spanning
from experiments._models import flip, random_model, single, unit_model, within

D, M = 20, 6
KERNELS = [Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Gaussian(1.5)]


def random_box(kernel, seed=0, d=D, m=M, low=None):
    """A machine, typical points and what spans S_Y; with `low`, on the unit cube."""
    box, features = (random_model(kernel, d, m, seed) if low is None else
                     unit_model(kernel, seed, d, m))
    return box, features, spanning(box)


def is_right(result, kernel, span):
    if (result.kernel_type, result.rank) != (kernel.name, len(span)):
        return False
    return largest_sine(result.subspace, span.T) < 0.04


def take_apart(predict, features, seed=0, **options):
    oracle = Oracle(predict, features.shape[1], **options)
    result = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    assert sum(result.queries_by_stage.values()) == oracle.queries
    assert oracle.noise == options.get("noise", 0)  # as it was given
    return result


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_known_noise_costs_three_times_as_much(kernel):
    box, features, span = random_box(kernel, 1)
    plain = take_apart(box.predict, features)
    noisy = take_apart(flip(box.predict, 0.01), features, noise=0.01)
    assert is_right(plain, kernel, span) and is_right(noisy, kernel, span)
    assert sum(noisy.queries_by_stage.values()) < 3.5 * sum(plain.queries_by_stage.values())
    assert "noise         1%" in noisy.summary() and "noise" not in plain.summary()


@pytest.mark.parametrize("p", [0.003, 0.03])
def test_noise_is_found_out_and_voted_down(p):
    box, features, span = random_box(Polynomial(2), 1)
    result = take_apart(flip(box.predict, p), features)
    assert is_right(result, Polynomial(2), span)
    assert p / 1.5 < result.noise < 3 * p
    assert min(result.agreement.values()) == 1
    assert {"discarded", "agreement"} <= set(result.queries_by_stage)


def test_a_noise_rate_that_was_given_too_small_is_found_out():
    box, features, span = random_box(Polynomial(2), 2)
    result = take_apart(flip(box.predict, 0.1), features, noise=0.002)
    assert is_right(result, Polynomial(2), span) and 0.08 < result.noise < 0.2


def test_labels_that_are_mostly_noise_are_said_to_be():
    box, features, _ = random_box(Polynomial(2), 0)
    result = take_apart(flip(box.predict, 0.35), features)
    assert result.kernel_type == "unknown" and "contradicts itself" in result.message


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_single_precision(kernel):
    box, features, span = random_box(kernel)
    result = take_apart(single(box), features)
    assert is_right(result, kernel, span), result.message
    if kernel not in (Linear(),):  # whose plane shows without a search for more
        assert 1e-8 < result.width < 1e-5 and "precision" in result.summary()
    if result.machine is not None:
        assert not result.own_vectors or kernel.name in ("cubic", "tanh", "gaussian")
        X = np.random.default_rng(1).standard_normal((20_000, D))
        assert (result.machine.predict(X) == box.predict(X)).mean() > 0.999


def test_a_box_rounded_too_much_is_unknown():
    box, features, _ = random_box(Polynomial(2))
    result = take_apart(lambda X: box.predict(X.round(2)), features)
    assert result.kernel_type == "unknown" and result.machine is None and result.message


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_no_question_leaves_the_bounds(kernel, seed):
    box, features, span = random_box(kernel, seed, low=0)
    result = take_apart(within(box.predict, 0, 1), features, seed, bounds=(0, 1))
    if kernel.name in ("linear", "quadratic", "cubic"):
        assert is_right(result, kernel, span), result.message
        X = np.random.default_rng(1).random((20_000, D))
        assert (result.machine.predict(X) == box.predict(X)).mean() > 0.9999
    elif result.machine is None:  # the kernel does not show, S_Y does
        assert result.kernel_type == "unknown" and "beyond the bounds" in result.message
        assert largest_sine(result.subspace, span.T) < 0.14
    else:
        assert "surrogate" in result.message


def test_bounds_that_differ_from_feature_to_feature():
    rng = np.random.default_rng(0)
    lower, upper = -rng.random(D) - 0.5, 3 * rng.random(D) + 1
    box = KernelMachine.random(Polynomial(2), D, M, 3)
    X = lower + (upper - lower) * rng.random((300, D))
    box.threshold += float(np.median(box.decision_function(X)))
    labels = box.predict(X)
    features = np.concatenate([X[labels == kind][:5] for kind in (-1, 1)])
    result = take_apart(within(box.predict, lower, upper), features, bounds=(lower, upper))
    assert is_right(result, Polynomial(2), box.support_vectors)


def test_pixels_between_black_and_white():
    """Features on the walls themselves, trained machines."""
    from sklearn.datasets import load_digits
    X, y = load_digits(return_X_y=True)
    X, y = X[:, 8:56] / 16, y % 2
    svc = SVC(kernel="poly", degree=2, coef0=1).fit(X[:30], y[:30])
    features = np.concatenate([X[svc.predict(X) == kind][:5] for kind in (0, 1)])
    result = take_apart(within(svc.predict, 0, 1), features, bounds=(0, 1))
    rank = np.linalg.matrix_rank(svc.support_vectors_)
    assert (result.kernel_type, result.rank) == ("quadratic", rank)
    assert min(result.agreement.values()) == 1


def test_features_out_of_bounds_are_refused():
    box, features, _ = random_box(Polynomial(2), low=0)
    with pytest.raises(ValueError, match="out of bounds"):
        take_apart(box.predict, features + 0.5, bounds=(0, 1))
    with pytest.raises(ValueError, match="at the centre of the bounds"):
        take_apart(box.predict, np.full((3, D), 0.5), bounds=(0, 1))


def test_all_at_once(tmp_path):
    """Noise within bounds, on a budget, with a journal."""
    box, features, span = random_box(Polynomial(2), 1, low=0)
    predict = within(flip(box.predict, 0.01), 0, 1)
    options = {"noise": 0.01, "bounds": (0, 1), "journal": tmp_path / "answers"}
    with pytest.raises(BudgetExhausted) as error:
        take_apart(predict, features, budget=15_000, **options)
    assert isinstance(error.value.result, Deconstruction) and len(error.value.result.points) > 10
    oracle = Oracle(predict, D, **options)
    result = deconstruct(oracle, features, progress=False)
    assert is_right(result, Polynomial(2), span)
    assert 0 < oracle.queries - 15_000 and oracle.calls > 0


def test_noise_and_width_are_saved(tmp_path):
    result = Deconstruction(noise=0.02, width=1e-6)
    result.save(tmp_path / "a")
    same = Deconstruction.load(tmp_path / "a")
    assert (same.noise, same.width) == (0.02, 1e-6) and same.summary() == result.summary()
