"""The comparison of results with the truth, on results whose errors are known."""

import numpy as np
import pytest

from decon import Deconstruction, Gaussian, KernelMachine, Linear, Polynomial, Tanh
from experiments._compare import ROUNDING, columns, compare, spanning
from experiments._models import KERNELS, random_model

D, M = 10, 4


def result_of(truth, found=None, **changes):
    """A result that claims to have found one machine inside another."""
    found = found or truth
    span = spanning(truth)
    return Deconstruction(**{
        "kernel_type": truth.kernel.name, "machine": found, "rank": len(span), "scale": 1.0,
        "subspace": np.linalg.qr(span.T)[0], "own_vectors": True,
        "agreement": {"far": 1.0, "close": 0.5},
        "queries_by_stage": {"slices": 30, "polynomial": 70}} | changes)


def changed(machine, Y=None, weights=None, kernel=None):
    """The machine with other numbers."""
    return KernelMachine(kernel or machine.kernel, machine.support_vectors if Y is None else Y,
                         machine.weights if weights is None else weights, machine.threshold)


@pytest.mark.parametrize("kernel", [*KERNELS, Polynomial(3, coef0=0)], ids=str)
def test_the_machine_itself_has_no_errors(kernel):
    machine = KernelMachine.random(kernel, D, M, 0)
    row = compare(result_of(machine), machine)
    assert row["named"] and row["rank_right"] and row["recovered"]
    assert row["rank"] == (1 if kernel == Linear() else M)
    assert max(row["sine"], row["coefficients"]) < 1e-12
    vectors = row["vectors_found"], row["vectors_missing"]
    assert max(vectors) < 1e-12 if kernel.name in ("cubic", "tanh", "gaussian") else (
        np.isnan(vectors).all())
    assert (row["queries"], row["agreement"]) == (100, 0.5)
    assert np.isnan([row["distance"], row["bits"]]).all()  # without features


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_accuracy_is_the_distance_between_the_boundaries_and_the_bound_follows(kernel):
    """A threshold off by h moves the boundary by h / |grad f|, and every digit costs p log2(10)."""
    machine, features = random_model(kernel, D, M, 3)
    own = compare(result_of(machine), machine, features)
    assert own["distance"] == ROUNDING

    scale, rows = np.sqrt(np.mean((features**2).sum(1))), []
    slopes = np.linalg.norm(machine.gradient(features), axis=1)
    for h in 1e-6 * np.median(slopes) * scale * np.array([1, 0.1]):
        moved = KernelMachine(machine.kernel, machine.support_vectors, machine.weights,
                              machine.threshold + h)
        rows.append(compare(result_of(machine, moved), machine, features))
    p = rows[0]["parameters"]
    assert 1e-7 < rows[0]["distance"] < 1e-5
    assert rows[0]["distance"] / rows[1]["distance"] == pytest.approx(10, rel=1e-3)
    visible = p - (kernel.name in ("tanh", "gaussian"))  # the kernel's constant counts as known
    assert rows[1]["bits"] - rows[0]["bits"] == pytest.approx(visible * np.log2(10), rel=1e-3)
    assert 0.3 < rows[0]["bits"] / (p * -np.log2(rows[0]["distance"])) < 1


def test_order_and_open_signs_do_not_count_and_a_closed_sign_does():
    signs = np.array([1, -1, 1, 1])[:, None]
    for kernel, same in [(Tanh(2.0, 0.0), True), (Tanh(2.0, 0.3), False), (Gaussian(1.0), False),
                         (Polynomial(3, coef0=0), True), (Polynomial(3), False)]:
        machine = KernelMachine.random(kernel, D, M, 1)
        other = changed(machine, (signs * machine.support_vectors)[::-1])
        row = compare(result_of(machine, other), machine)
        assert (row["vectors_missing"] < 1e-12) == same == (row["vectors_found"] < 1e-12)
    steep = KernelMachine.random(Tanh(2.0, 0.3), D, M, 1)
    mirrored = changed(steep, -2 * steep.support_vectors, -steep.weights, Tanh(1.0, -0.3))
    row = compare(result_of(steep, mirrored), steep)  # alpha y, and all signs at once
    assert max(row["vectors_found"], row["beta"], row["coefficients"]) < 1e-12


def test_vectors_found_and_missing_are_told_apart():
    machine = KernelMachine.random(Gaussian(1.0), D, M, 2)
    Y = machine.support_vectors
    fewer = KernelMachine(machine.kernel, Y[:-1], machine.weights[:-1], machine.threshold)
    row = compare(result_of(machine, fewer), machine)
    assert row["vectors_found"] < 1e-12 < 0.1 < row["vectors_missing"]
    more = KernelMachine(machine.kernel, np.r_[Y, Y[:1] + 1], np.r_[machine.weights, 1.0],
                         machine.threshold)
    row = compare(result_of(machine, more), machine)
    assert row["vectors_missing"] < 1e-12 < 0.1 < row["vectors_found"]


def test_errors_have_the_size_that_was_put_in():
    machine = KernelMachine.random(Gaussian(1.0), D, M, 3)
    Y = machine.support_vectors.copy()
    Y[1] *= 1 + 1e-5
    row = compare(result_of(machine, changed(machine, Y, kernel=Gaussian(1.001))), machine)
    assert row["vectors_found"] == pytest.approx(1e-5) == row["vectors_missing"]
    assert row["sigma"] == pytest.approx(1e-3)
    twice = KernelMachine(machine.kernel, machine.support_vectors, 2 * machine.weights,
                          2 * machine.threshold)
    assert compare(result_of(machine, twice), machine)["coefficients"] < 1e-12
    basis = np.linalg.qr(machine.support_vectors.T)[0]
    outside = np.linalg.qr(np.c_[basis, np.eye(D)])[0][:, M]
    turned = np.c_[basis[:, :-1], np.cos(1e-4) * basis[:, -1] + np.sin(1e-4) * outside]
    assert compare(result_of(machine, subspace=turned), machine)["sine"] == pytest.approx(1e-4)


def test_a_wrong_rank_or_name_has_nothing_to_compare_and_a_control_is_to_be_refused():
    machine = KernelMachine.random(Gaussian(1.0), D, M, 4)
    refused = compare(result_of(machine, kernel_type="unknown", rank=3, machine=None,
                                message="no: 3.5 units; a network"), machine)
    assert not (refused["named"] or refused["rank_right"] or refused["recovered"])
    assert np.isnan([refused[key] for key in ("sine", "vectors_found", "bits")]).all()
    control = compare(Deconstruction(message="tried; 6 units fit, but 0.5 is not 0.3"))
    assert control["named"] and control["message"] == "… units fit, but … is not …"
    assert "sine" not in control


def test_columns_hold_one_value_per_model():
    machine = KernelMachine.random(Polynomial(2), D, M, 5)
    rows = [compare(result_of(machine), machine),
            compare(result_of(machine, rank=3, queries_by_stage={"slices": 5, "features": 1}),
                    machine)]
    table = columns(rows)
    assert table["models"] == 2 and table["kernel_type"] == {"quadratic": 2}
    assert table["rank_right"] == [True, False] and np.isnan(table["sine"][1])
    assert table["queries_by_stage"] == {"features": [0, 1], "polynomial": [70, 0],
                                         "slices": [30, 5]}
    assert "vectors_found" not in table  # a quadratic shows none
