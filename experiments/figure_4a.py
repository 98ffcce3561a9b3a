"""Figure 4a of the paper: the subspace of random Gaussian machines, and what improves on it.

    python -m experiments.figure_4a

Results go to figure_4a.json: `paper`, principal angles before and after rank minimisation, for
several kinds of machines; `normals`, how many of them the methods need; `queries`, the error of
the subspace after each stage of both ways, over the queries spent.
"""

from time import perf_counter

import numpy as np
from scipy.linalg import subspace_angles

from decon import Gaussian
from decon.boundary.bracketing import bisect_along
from decon.boundary.normals import slope_normals
from decon.paper import nuclear_norm, sphere_normals
from decon.subspaces import revolution
from decon.subspaces.multipliers import log_det_multipliers, multipliers_for, refine_multipliers
from decon.subspaces.spans import largest_sine, span_of_corrected_normals, span_of_normals

from ._models import D, M, random_model, spread_gaussian
from ._normals import angles, open_box
from ._run import each, main, store

MAIN = np.sqrt(D / 2)  # scikit-learn's gamma='scale' for features of variance 1
KINDS = {  # the widths sigma, and how many machines
    "sigma = sqrt(d) / 2": (MAIN / np.sqrt(2), 20),
    "sigma = sqrt(d / 2)": (MAIN, 100),
    "sigma = sqrt(d)": (MAIN * np.sqrt(2), 20),
    "KernelMachine.random(Gaussian(1))": (None, 20),
}
NUMBERS, MACHINES = (16, 20, 24, 30, 40, 60, 100), 10
FEW = 30  # normals of our way
QUARTER = np.pi / 2
STEPS = ((0.1, 1e-4, 1e-9), (QUARTER, 1e-6, 1e-12), (QUARTER, 1e-9, 1e-12))  # angle, step, width
COARSE = ((0.02, 1e-4, 1e-8), STEPS[0], (QUARTER, 1e-4, 1e-12), *STEPS[1:])


def gaussian_box(sigma, seed):
    """A random machine with support vectors like the features, or without sigma the module's."""
    if sigma is None:
        return random_model(Gaussian(1.0), D, M, seed)[0]
    return spread_gaussian(sigma, seed)[0]


def span(machine, normals, X, gamma):
    """Largest sine for rank 12, cosines for rank 12, the rank of the largest gap, the gap at 12."""
    Y = machine.support_vectors
    found = span_of_corrected_normals(normals, X, gamma)[0].shape[1]
    basis, values = span_of_corrected_normals(normals, X, gamma, M)
    return {"sine": largest_sine(basis, Y.T), "cosines": np.cos(subspace_angles(basis, Y.T))[::-1],
            "found": found, "gap": values[M - 1] / values[M]}


def turn(oracle, X, V, normals, basis, Y, steps):
    """Queries and error before and after every step of sharpening."""
    stages = [(oracle.queries, largest_sine(basis, Y.T))]
    for angle, step, width in steps:
        basis = revolution.refine(oracle, X, V, normals, basis, angle, step, width)
        stages.append((oracle.queries, largest_sine(basis, Y.T)))
    return basis, stages


def paper(sigma, seed):
    """100 normals of the paper's procedure, its nuclear norm, and then our steps."""
    machine = gaussian_box(sigma, seed)
    oracle, X, V = open_box(machine, 100, 1e-6, seed)
    normals = sphere_normals(oracle, X, 1e-3, 1e-6, random_state=seed)
    before = span_of_normals(normals, M)[0]
    start = perf_counter()
    nuclear = nuclear_norm(normals, X)
    row = {"seconds": perf_counter() - start, "queries": oracle.queries,
           "threshold": machine.threshold,
           "error": np.median(angles(normals, machine.gradient(X))),
           "before": np.cos(subspace_angles(before, machine.support_vectors.T))[::-1],
           "nuclear": span(machine, normals, X, nuclear),
           "log_det": span(machine, normals, X, log_det_multipliers(normals, X))}
    row["alternate"] = span(machine, normals, X, refine_multipliers(normals, X, nuclear, M, 200))
    t = bisect_along(oracle, X, V, 0.0, 1e-6, 1e-13, 1e-3)  # the same points, more precisely
    gamma = refine_multipliers(normals, X, log_det_multipliers(normals, X), M, 20)
    basis = span_of_corrected_normals(normals, X, gamma, M)[0]
    row["turning"] = turn(oracle, X + t[:, None] * V, V, normals, basis, machine.support_vectors,
                          COARSE)[1]
    return row | obstructions(machine, normals, X, nuclear)


def obstructions(machine, normals, X, gamma):
    """At how many points the nuclear norm cannot be right, is wrong, and both."""
    Q = np.linalg.qr(machine.support_vectors.T, mode="complete")[0]
    U, W = Q[:, :M], Q[:, M:]
    exact = machine.gradient(X)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    across = X @ W
    true = (across * (exact @ W)).sum(1) / (across**2).sum(1)
    left, _, V = np.linalg.svd(((exact - true[:, None] * X) @ U).T, full_matrices=False)
    leverage = (V**2).sum(0)
    pull = abs((X @ U @ left * V.T).sum(1))
    cannot = pull > np.linalg.norm(across, axis=1) * np.sqrt(1 - leverage)
    wrong = abs(gamma - true) * np.linalg.norm(X, axis=1) > 0.02
    return {"cannot": cannot.sum(), "wrong": wrong.sum(), "both": (cannot & wrong).sum()}


def ours(sigma, seed):
    """A few slope normals, log det, turning."""
    machine = gaussian_box(sigma, seed)
    oracle, X, V = open_box(machine, FEW + 10, 1e-13, seed)
    fresh, (X, V) = (X[FEW:], V[FEW:]), (X[:FEW], V[:FEW])
    normals = slope_normals(oracle, X, V, 1e-6, 1e-12)
    good = np.isfinite(normals[:, 0])
    X, V, normals = X[good], V[good], normals[good]
    gamma = log_det_multipliers(normals, X)
    row = span(machine, normals, X, gamma)
    basis = span_of_corrected_normals(normals, X, gamma, M)[0]
    basis, row["turning"] = turn(oracle, X, V, normals, basis, machine.support_vectors, STEPS)
    row["passed"] = np.mean(revolution.holds(oracle, *fresh, basis, 1.0, 1e-7))
    row["missing"] = np.mean(revolution.holds(oracle, *fresh, basis[:, 1:], 1.0, 1e-7))
    row["queries"] = oracle.queries
    return row


def leave_out(normals, X, gamma):
    """Without the points that lie in the span themselves: where gamma is wrong, they do."""
    basis, _ = span_of_corrected_normals(normals, X, gamma)
    kept = np.linalg.norm(X - X @ basis @ basis.T, axis=1) > 0.05 * np.linalg.norm(X, axis=1)
    normals, X = normals[kept], X[kept]
    return normals, X, multipliers_for(normals, X, basis)


def count(seed, way, s):
    """The methods on s normals, all of them on the same."""
    machine = gaussian_box(MAIN, seed)
    oracle, X, V = open_box(machine, s, 1e-13 if way == "slopes" else 1e-6, seed)
    normals = (slope_normals(oracle, X, V, 1e-6, 1e-12) if way == "slopes" else
               sphere_normals(oracle, X, 1e-3, 1e-6, random_state=seed))
    good = np.isfinite(normals[:, 0])
    X, normals = X[good], normals[good]
    gamma = nuclear_norm(normals, X)
    result = {"nuclear": span(machine, normals, X, gamma),
              "left out": span(machine, *leave_out(normals, X, gamma)),
              "alternate": span(machine, normals, X, refine_multipliers(normals, X, gamma, M, 200)),
              "log_det": span(machine, normals, X, log_det_multipliers(normals, X))}
    return {name: (row["sine"], row["found"]) for name, row in result.items()}


def cosines(rows, *path):
    values = np.array([row[path[0]] if len(path) == 1 else row[path[0]][path[1]] for row in rows])
    return {"mean": values.mean(0), "variance": values.var(0), "worst": values.min(0)}


def summary(rows):
    result = {"machines": len(rows), "before": cosines(rows, "before"),
              "queries": np.median([row["queries"] for row in rows]),
              "angle of the normals": np.median([row["error"] for row in rows]),
              "seconds of the nuclear norm": np.median([row["seconds"] for row in rows]),
              "obstructions": {key: sum(row[key] for row in rows)
                               for key in ("cannot", "wrong", "both")}}
    for name in ("nuclear", "alternate", "log_det"):
        found = [row[name]["found"] for row in rows]
        result[name] = cosines(rows, name, "cosines") | {
            "sine": np.quantile([row[name]["sine"] for row in rows], [0.1, 0.5, 0.9]),
            "m found": sum(k == M for k in found), "larger": sum(k > M for k in found)}
    return result


def stages(rows):
    """Queries (medians) and the quantiles 10, 50, 90, 100 of the error, stage by stage."""
    table = np.array([row["turning"] for row in rows])
    return {"queries": np.median(table[:, :, 0], axis=0),
            "sine": np.quantile(table[:, :, 1], [0.1, 0.5, 0.9, 1], axis=0)}


def run():
    kinds = [(name, sigma, seed) for name, (sigma, n) in KINDS.items() for seed in range(n)]
    done = each(paper, [(sigma, seed) for _, sigma, seed in kinds], "the paper's way")
    by_kind = {name: [row for row, (kind, *_) in zip(done, kinds, strict=True) if kind == name]
               for name in KINDS}
    few = each(ours, [(MAIN, seed) for seed in range(100)], "our way")
    counts = [(seed, way, s) for way in ("slopes", "spheres") for s in NUMBERS
              for seed in range(MACHINES)]
    numbers = {}
    for (_, way, s), row in zip(counts, each(count, counts, "number of normals"), strict=True):
        for name, (sine, found) in row.items():
            cell = numbers.setdefault(way, {}).setdefault(name, {"sine": {}, "found": {}})
            cell["sine"].setdefault(s, []).append(sine)
            cell["found"].setdefault(s, []).append(found)
    in_main = by_kind["sigma = sqrt(d / 2)"]
    store(__file__, {
        "seeds": f"0 to {len(in_main) - 1}, 0 to 19 for the other kinds, 0 to {MACHINES - 1} for "
                 "the number of normals",
        "setting": f"d = {D}, m = {M}; the paper's way: 100 normals, delta 1e-3, eps 1e-6; "
                   f"our way: {FEW} slope normals, delta 1e-6, eps 1e-12",
        "paper": {name: {"sigma": KINDS[name][0] or 1.0} | summary(rows)
                  for name, rows in by_kind.items()},
        "normals": numbers,
        "queries": {
            "paper": {"queries": np.median([row["queries"] for row in in_main]),
                      "sine": np.quantile([row["nuclear"]["sine"] for row in in_main],
                                          [0.1, 0.5, 0.9, 1])},
            "paper, log det, turning": stages(in_main),
            "ours": stages(few) | {
                "m found": sum(row["found"] == M for row in few),
                "all": np.median([row["queries"] for row in few]),
                "passed": np.mean([row["passed"] for row in few]),
                "missing": np.mean([row["missing"] for row in few])},
        },
    })


if __name__ == "__main__":
    main(run)
