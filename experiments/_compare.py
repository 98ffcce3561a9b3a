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
    distance           between the boundaries, root mean square, in units of R0: the accuracy of
                       all tables (definition: `_limit`)
    parameters         how many numbers the labels show
    bits               the information bound at this distance, its constant included, as `_limit`
                       defines it; without it, it is parameters * log2(1 / distance)
    message            how often each last remark was made, numbers left out

No distance counts as smaller than 1e-14.
"""

import re
from collections import Counter
from math import comb

import numpy as np
from scipy.linalg import subspace_angles

from decon import Oracle, deconstruct

from ._limit import boundary_distance, cloud, limit, near_boundary

ROUNDING = 1e-14
ERRORS = ("sine", "vectors_found", "vectors_missing", "sigma", "beta", "coefficients",
          "distance", "bits")


def taken_apart(predict, features, truth=None, seed=0, **options):
    """Take one model apart and compare the result with the machine inside; None for a control,
    of which no surrogate is made.
    """
    oracle = Oracle(predict, features.shape[1], **options)
    result = deconstruct(oracle, features, random_state=seed, progress=False,
                         surrogate=truth is not None)
    return compare(result, truth, features, seed)


def compare(result, truth=None, features=None, seed=0):
    """The comparison of one result with the machine inside (schema: see the module).

    Parameters
    ----------
    result : Deconstruction
    truth : KernelMachine or None
        None where the model is none of the five families.
    features : array (k, d), optional
        What the search began with; without them boundaries are not compared.
    seed : int
        Of the points where boundaries and coefficients are compared.
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
    row["parameters"] = visible_numbers(truth, rank)
    if row["rank_right"]:
        row["sine"] = np.sin(subspace_angles(result.subspace, span.T).max())
    if row["recovered"] and row["named"]:
        row |= compare_machines(result.machine, truth, result.scale, seed)
        if features is not None:
            row |= compare_boundaries(result.machine, truth, features, seed)
    return row


def compare_boundaries(found, truth, features, seed=0):
    """The accuracy of a recovered machine, and what it costs at least (see `_limit`)."""
    # the distance
    rng = np.random.default_rng(seed + 20_000)
    X = near_boundary(truth, np.concatenate([features, cloud(features, 20_000, rng)]), 400, rng)
    scale = np.sqrt(np.mean((features**2).sum(1)))
    r = max(boundary_distance(found, truth, X) / scale, ROUNDING)

    # the bound
    bound = limit(truth, features, seed)
    return {"distance": r, "bits": bound.bits(r) if bound else np.nan}


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


def visible_numbers(machine, rank):
    """How many numbers of a machine the labels show."""
    return rank * (machine.dimension - rank) + numbers_inside(machine, rank)


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
