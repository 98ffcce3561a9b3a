"""One comparison of a result of `deconstruct` with the truth, and one schema for all rows.

`compare` gives a dict for one model. `columns` makes one row of a JSON file of the dicts of many
models of one kind: `models` is their number, every other entry a list with one value per model
(null where there is nothing to compare), or a count of texts.

    kernel_type        how often each name was given
    named              is the name right? (A model outside the five families: is it refused?)
    recovered          is there a machine that passed the agreement test?
    own_vectors        are its support vectors said to be the model's own?
    rank               the dimension of S_Y, the true one
    rank_right         is the rank that was found the true one?
    sine               of the largest principal angle between the true S_Y and the one found
    vectors_found      largest relative distance of a vector found from the nearest true one
    vectors_missing    largest relative distance of a true vector from the nearest one found
    sigma, alpha, beta errors of the kernel's constants: sigma relative; alpha is part of the
                       vectors of a tanh machine (alpha y is visible), and has no column
    coefficients       relative error of Psi - b, up to a positive factor, on a cloud of 1,000
                       points of the data's scale: of all weights and the threshold together
    agreement          the smaller value of the held-out agreement test
    queries            all queries
    queries_by_stage   {stage: list}
    bits               the information bound for the accuracy reached: rank (d - rank) numbers of
                       S_Y to its sine, and those of the function inside it to the error of the
                       vectors (to that of the coefficients where no vectors are visible)
    message            how often each last remark was made, numbers left out

No error counts as smaller than 1e-13 in the bits.
"""

import re
from collections import Counter
from math import comb

import numpy as np
from scipy.linalg import subspace_angles

from decon import Oracle, deconstruct

ROUNDING = 1e-13
AFTER_SUBSPACE = ("polynomial", "far field", "tanh units", "radial probe", "agreement")
ERRORS = ("sine", "vectors_found", "vectors_missing", "sigma", "beta", "coefficients", "bits")


def taken_apart(predict, features, truth=None, seed=0, **options):
    """Take one model apart and compare the result with the machine inside; None for a control."""
    oracle = Oracle(predict, features.shape[1], **options)
    return compare(deconstruct(oracle, features, random_state=seed, progress=False), truth, seed)


def compare(result, truth=None, seed=0):
    """The comparison of one result with the machine inside (schema: see the module).

    Parameters
    ----------
    result : Deconstruction
    truth : KernelMachine or None
        None where the model is none of the five families.
    seed : int
        Of the cloud on which the coefficients are compared.
    """
    expected = "unknown" if truth is None else truth.kernel.name
    row = {"kernel_type": result.kernel_type, "named": result.kernel_type == expected,
           "recovered": result.machine is not None, "own_vectors": result.own_vectors,
           "agreement": min(result.agreement.values(), default=np.nan),
           "queries": sum(result.queries_by_stage.values()),
           "queries_by_stage": result.queries_by_stage,
           "message": re.sub(r"\d\S*", "…", result.message.split("; ")[-1])}
    if truth is None:
        return row
    span = spanning(truth)
    rank = int(np.linalg.matrix_rank(span))
    row |= {"rank": rank, "rank_right": result.rank == rank} | dict.fromkeys(ERRORS, np.nan)
    if row["rank_right"]:
        row["sine"] = np.sin(subspace_angles(result.subspace, span.T).max())
    if row["recovered"] and row["named"]:
        row |= compare_machines(result.machine, truth, result.scale, seed)
    if row["rank_right"]:
        inner = next((e for e in (max(row["vectors_found"], row["vectors_missing"]),
                                  row["coefficients"]) if np.isfinite(e)), np.nan)
        row["bits"] = bits(rank * (truth.dimension - rank), row["sine"]) + bits(
            numbers_inside(truth, rank), inner)
    return row


def compare_machines(found, truth, scale, seed=0):
    """The errors of a recovered machine of the right kind: vectors, constants, coefficients."""
    row, kernel = {}, truth.kernel
    if kernel.name in ("cubic", "tanh", "gaussian"):
        row["vectors_found"], row["vectors_missing"] = vector_errors(found, truth)
    if kernel.name == "gaussian":
        row["sigma"] = abs(found.kernel.sigma / kernel.sigma - 1)
    if kernel.name == "tanh":
        row["beta"] = abs(abs(found.kernel.beta) - abs(kernel.beta))
    X = np.random.default_rng(seed).standard_normal((1000, truth.dimension))
    X *= scale / np.sqrt(truth.dimension)
    f, g = found.decision_function(X), truth.decision_function(X)
    row["coefficients"] = np.linalg.norm(f * (f @ g) / (f @ f) - g) / np.linalg.norm(g)
    return row


def vector_errors(found, truth):
    """Largest relative errors of the vectors found, and of the true ones, in any order.

    tanh is odd: the signs of all alpha y_i, w_i and beta together are not visible; where beta = 0,
    and for a homogeneous cubic, those of each vector are not.
    """
    Y, Z = visible_vectors(found), visible_vectors(truth)
    distances = np.array([np.linalg.norm(Y[:, None] - side * Z, axis=2) for side in (1, -1)])
    if truth.kernel.name != "tanh" and not homogeneous(truth):
        distances = distances[:1]  # no sign is open
    elif homogeneous(truth) or truth.kernel.beta == 0:
        distances = distances.min(0, keepdims=True)
    lengths = np.linalg.norm(Z, axis=1)
    errors = [((one.min(1) / lengths[one.argmin(1)]).max(), (one.min(0) / lengths).max())
              for one in distances]
    return min(errors, key=max)


def homogeneous(machine):
    return machine.kernel.name == "cubic" and machine.kernel.coef0 == 0


def visible_vectors(machine):
    """Support vectors as far as labels show them.

    alpha y for tanh, gamma / c y for a cubic, directions only for a homogeneous one.
    """
    if homogeneous(machine):
        Y = machine.support_vectors
        return Y / np.linalg.norm(Y, axis=1, keepdims=True)
    if machine.kernel.name == "tanh":
        return machine.kernel.alpha * machine.support_vectors
    return (machine.with_gamma(1.0) if machine.kernel.name == "cubic" else machine).support_vectors


def spanning(machine):
    """What S_Y is spanned by, in rows: a linear boundary shows the one normal only."""
    Y = machine.support_vectors
    return machine.weights[None] @ Y if machine.kernel.name == "linear" else Y


def numbers_inside(machine, m):
    """How many numbers of the function inside S_Y, of dimension m, the labels show."""
    if homogeneous(machine):
        return m * m
    return {"linear": 1, "quadratic": comb(m + 2, 2) - 1, "cubic": m * (m + 1)}.get(
        machine.kernel.name, m * (m + 1) + 1)


def bits(numbers, error):
    """The information in some numbers, each known to a relative error."""
    return numbers * -np.log2(max(error, ROUNDING))


def to_subspace(stages):
    """The queries that name the kernel and find S_Y, of {stage: queries}."""
    return sum(n for stage, n in stages.items() if stage not in AFTER_SUBSPACE)


def columns(rows):
    """One row of a JSON file: the comparisons of many models of one kind."""
    stages = {stage for row in rows for stage in row["queries_by_stage"]}
    table = {"models": len(rows)}
    for key in rows[0]:
        values = [row[key] for row in rows]
        if key in ("kernel_type", "message"):
            table[key] = dict(Counter(values).most_common())
        elif key == "queries_by_stage":
            table[key] = {s: [v.get(s, 0) for v in values] for s in sorted(stages)}
        elif key not in ERRORS or np.isfinite(values).any():
            table[key] = values
    return table
