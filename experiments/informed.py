"""What a machine costs that is nearly known: brackets that know what they will find.

    python -m experiments.informed

Random machines of d = 30 and m = 12, whose numbers are known to a relative error `start`, are
fitted until every crossing of the boundary is known to 30 widths of 1e-12 R0. Results go to
informed.json, one row for each kernel, start and `known`: nothing but the start, or also what a
survey of 40 boundary points and the slopes at 15 of them (26 of a Gaussian's) leave behind, over
1e-6 R0 and to 1e-12 R0. The columns are the queries `before` and those of the fit, its `brackets`,
the `distance` of the boundaries (root mean square, in R0) and `parameters`, the number p that
labels show; null where a fit has failed.
"""

import numpy as np

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.normals import orthonormal_complement, slope_normals
from decon.boundary.pairs import pn_pairs

from ._informed import boundary_of, informed_fit
from ._run import each, main, store

D, M, WIDTH = 30, 12, 1e-12
KERNELS = {"cubic": (Polynomial(3), 372, 15), "tanh": (Tanh(1.0, 0.1), 373, 15),
           "gaussian": (Gaussian(4.0), 373, 26)}
STARTS, OTHERS, STEP, SEEDS = (0.1, 0.03, 0.01), 40, 1e-6, 3


def measured(oracle, normals, scale, rng):
    """Boundary points as a survey and slopes leave them behind, with the widths of brackets."""
    cloud, width = rng.standard_normal((400, D)), WIDTH * scale
    labels = oracle(cloud)
    pairs = pn_pairs(cloud[labels > 0], cloud[labels < 0], normals + OTHERS, rng)
    X, V = boundary_points(oracle, *pairs, width)
    N = slope_normals(oracle, X[:normals], V[:normals], STEP * scale, width)

    # the points that the slopes stand for: x + delta u + h v, with n.(delta u + h v) = 0
    points = [X]
    for x, v, n in zip(X, V, N, strict=False):
        U = STEP * scale * orthonormal_complement(v[:, None]).T
        points.append(x + U - (U @ n / (v @ n))[:, None] * v)
    X = np.concatenate(points)
    X = X[np.isfinite(X).all(1)]  # none where a line grazes the boundary
    return X, np.full(len(X), width)


def fit(name, start, known, seed):
    """One machine: queries, brackets and the distance of the boundaries."""
    rng, (kernel, _, normals) = np.random.default_rng(seed), KERNELS[name]
    truth, scale = KernelMachine.random(kernel, D, M, seed), np.sqrt(D)
    oracle = Oracle(truth.predict, D)

    # every number with an error of its own
    errors = start / np.sqrt(D), start
    if name == "tanh":
        kernel = Tanh(1.0, kernel.beta + start * rng.standard_normal())
    elif name == "gaussian":
        kernel = Gaussian(kernel.sigma * np.exp(start * rng.standard_normal()))
    nearly = KernelMachine(kernel, truth.support_vectors + errors[0] * rng.standard_normal((M, D)),
                           truth.weights + start * rng.standard_normal(M),
                           truth.threshold + start * rng.standard_normal())
    points = measured(oracle, normals, scale, rng) if known else None
    before = oracle.queries
    try:
        found, brackets = informed_fit(oracle, nearly, errors, scale, WIDTH * scale, rng, points)
    except RuntimeError:
        return {"before": before, "queries": None, "brackets": None, "distance": None}
    X, _, _ = boundary_of(truth, 500, scale, rng)
    slope = np.linalg.norm(found.gradient(X), axis=1)
    off = found.decision_function(X) / slope / scale
    return {"before": before, "queries": oracle.queries - before, "brackets": brackets,
            "distance": np.sqrt(np.mean(off**2))}


def run():
    cases = [(name, start, known) for name in KERNELS for start in STARTS
             for known in (False, True)]
    rows = each(fit, [(*case, seed) for case in cases for seed in range(SEEDS)], "machines")
    table = []
    for k, (name, start, known) in enumerate(cases):
        some = rows[k * SEEDS:(k + 1) * SEEDS]
        table.append({"kernel": name, "start": start, "known": known,
                      "parameters": KERNELS[name][1],
                      **{key: [row[key] for row in some] for key in some[0]}})
    store(__file__, {"d": D, "m": M, "width": WIDTH, "seeds": SEEDS, "table": table})


if __name__ == "__main__":
    main(run)
