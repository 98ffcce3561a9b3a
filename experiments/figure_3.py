"""Figure 3 of the paper: principal angles between recovered and true kernel subspaces.

    python -m experiments.figure_3

A hundred random machines of both polynomial kernels (d = 30, m = 12), each taken by the paper's
way, with pairs drawn at random and with pairs that share no point, and by what improves on it.
Results go to figure_3.json: `methods`, over machines; `machines`, one row each, with what decides
whether the largest gap tells m; `how_many`, over the number of normals.
"""

import numpy as np
from scipy.linalg import subspace_angles

from decon import KernelMachine, Oracle, Polynomial
from decon.boundary.bracketing import boundary_points
from decon.boundary.normals import slope_normals
from decon.boundary.pairs import pn_pairs
from decon.paper import sphere_normals
from decon.subspaces import cylinder
from decon.subspaces.spans import largest_gap, largest_sine, span_of_normals

from ._normals import disjoint_normals, open_box, sharpened, with_normals
from ._run import each, main, store

SEEDS = 100
KERNELS = {"quadratic": 2, "cubic": 3}
COUNTS = [12, 13, 14, 15, 16, 20, 40, 100]
BITS = 12 * (30 - 12)  # numbers that describe S_Y
# baseline and tolerance of a test of straightness, baseline and width of the sharpening after it
STAGES = [(0.1, 3e-5, 0.01, 1e-9), (1.0, 1e-6, 1.0, 1e-12), (1.0, 1e-8, None, None)]


def paper(machine, seed, kind):
    """A hundred normals from spheres, their singular vectors: what the paper does."""
    oracle, X, _ = open_box(machine, 100, 1e-6, seed)
    points = oracle.queries
    if kind == "disjoint":
        normals, _ = disjoint_normals(oracle, X, 1e-3, 1e-6, seed)
    else:
        normals = sphere_normals(oracle, X, 1e-3, 1e-6, random_state=seed)
    queries = counts(oracle, points)
    again = sphere_normals(oracle, X[:5], 1e-3, 1e-6, random_state=seed + 1000)
    kept = np.isfinite(normals[:, 0])
    basis, values = span_of_normals(normals[kept], rank=12)
    error = np.sqrt(((normals[:5] - again) ** 2).sum(1).mean() / 2)  # of a normal, remeasured
    floor = error / np.sqrt(29) * (np.sqrt(kept.sum()) + np.sqrt(30))  # of the largest noise
    return judge(machine, basis, queries, values) | {
        "m_last": int(np.flatnonzero(values[:-1] > 2 * values[1:]).max(initial=-1)) + 1,
        "m_floor": int((values > floor).sum())}


def counts(oracle, points):
    """Queries of the cloud, of the boundary points and of the normals."""
    return {"cloud": 400, "points": points - 400, "normals": oracle.queries - points}


def slopes(machine, seed):
    """m + 3 normals from slopes, then two passes of sharpening: sines after each."""
    oracle, X, V = open_box(machine, 15, 1e-13, seed)
    points = oracle.queries
    X, V, normals = with_normals(oracle, X, V, "slopes", 1e-6, 1e-12)
    basis, values = span_of_normals(normals, rank=12)
    queries = counts(oracle, points)
    plain = judge(machine, basis, dict(queries), values)
    before = oracle.queries
    basis = sharpened(oracle, X, V, normals, basis)
    queries["sharpening"] = oracle.queries - before
    return plain, judge(machine, basis, queries, values)


def fine_spheres(machine, seed):
    """The paper's normals, fewer and finer: m + 3 of them, with the radius and width of slopes."""
    oracle, X, V = open_box(machine, 15, 1e-13, seed)
    points = oracle.queries
    _, _, normals = with_normals(oracle, X, V, "spheres", 1e-6, 1e-12, seed)
    basis, values = span_of_normals(normals, rank=12)
    return judge(machine, basis, counts(oracle, points), values)


def complete(oracle, fresh, x, v, n, basis):
    """The basis, sharpened; or None where the boundary is not straight across it."""
    for across, tolerance, baseline, width in STAGES:
        if not cylinder.holds(oracle, *fresh, basis, across, tolerance).all():
            return None
        if baseline is not None:
            basis = cylinder.refine(oracle, x, v, n, basis, baseline, width)
    return basis


def grow(oracle, P, N, gap=8.0):
    """S_Y from PN-pairs, normal by normal, until a gap shows and the boundary is straight."""
    d = P.shape[1]
    fresh = boundary_points(oracle, P[:4], N[:4], 1e-13)
    x, v, n = np.empty((3, 0, d))
    for p, q in zip(P[4:, None], N[4:, None], strict=True):
        point, along = boundary_points(oracle, p, q, 1e-13)
        normal = slope_normals(oracle, point, along, 1e-6, 1e-12)
        if np.isnan(normal).any():
            continue
        x, v, n = (np.concatenate(pair) for pair in ((x, point), (v, along), (n, normal)))
        left, values = span_of_normals(n, rank=len(n))
        gaps = np.flatnonzero(values[:-1] > gap * values[1:]) + 1
        for k in gaps[gaps <= len(n) - 3]:
            basis = complete(oracle, fresh, x, v, n, left[:, :k])
            if basis is not None:
                return basis, len(n)
    return None, len(n)


def grown(machine, seed):
    """The chapter's own search, from the pairs that the paper's way is given."""
    oracle = Oracle(machine.predict, 30)
    cloud = np.random.default_rng(seed).standard_normal((400, 30))
    labels = oracle(cloud)
    basis, normals = grow(oracle, *pn_pairs(cloud[labels > 0], cloud[labels < 0], 100, seed))
    return judge(machine, basis, {"all": oracle.queries}) | {"n": normals}


def judge(machine, basis, queries, values=None):
    """How good is a basis, and what did it cost?"""
    total = sum(queries.values())
    row = {"queries": total, "parts": queries}
    if values is not None:
        row |= {"values": values, "m_gap": largest_gap(values)}
    if basis is None or basis.shape[1] != 12:
        return row | {"m": 0 if basis is None else basis.shape[1]}
    sine = largest_sine(basis, machine.support_vectors.T)
    return row | {"m": 12, "sine": sine, "units": total / (BITS * np.log2(1 / sine)),
                  "cosines": np.cos(subspace_angles(basis, machine.support_vectors.T))[::-1]}


def one_machine(degree, seed):
    """All methods on one box."""
    machine = KernelMachine.random(Polynomial(degree=degree), 30, 12, seed)
    plain, sharp = slopes(machine, seed)
    return {"weight": np.abs(machine.weights).min(),
            "spheres": paper(machine, seed, "random"),
            "spheres, disjoint pairs": paper(machine, seed, "disjoint"),
            "spheres, fine": fine_spheres(machine, seed),
            "slopes": plain, "slopes, sharpened": sharp, "grown": grown(machine, seed)}


def normals_needed(degree, seed):
    """Slopes at up to 100 points: rank and sine for growing numbers of them."""
    machine = KernelMachine.random(Polynomial(degree=degree), 30, 12, seed)
    oracle, X, V = open_box(machine, 100, 1e-13, seed)
    normals = slope_normals(oracle, X, V, 1e-6, 1e-12)
    rows = []
    for s in COUNTS:
        n = normals[:s]
        basis, values = span_of_normals(n[np.isfinite(n[:, 0])])
        low = len(values) < 12
        rows.append([basis.shape[1], np.nan if low else values[11], 1.0 if low else largest_sine(
            span_of_normals(n[np.isfinite(n[:, 0])], 12)[0], machine.support_vectors.T)])
    return rows


def summary(rows):
    """One method over the machines of one kernel."""
    found = [row for row in rows if "cosines" in row]
    cosines = np.array([row["cosines"] for row in found])
    sines = np.array([row["sine"] for row in found])
    result = {
        "machines": len(rows), "recovered": len(found),
        "mean": cosines.mean(0), "variance": cosines.var(0), "std": cosines.std(0),
        "lowest": cosines.min(0), "worst_cosine": cosines.min(),
        "degrees": np.degrees(np.arcsin(np.quantile(sines, [0.5, 0.9, 1.0]))),
        "sine": np.quantile(sines, [0, 0.1, 0.5, 0.9, 1]),
        "queries": np.quantile([row["queries"] for row in rows], [0, 0.5, 1]),
        "parts": {k: np.median([row["parts"].get(k, 0) for row in rows]) for k in rows[0]["parts"]},
        "units": np.quantile([row["units"] for row in found], [0, 0.5, 1]),
    }
    if "values" in rows[0]:
        result["m_by_gap"] = sum(row["m_gap"] == 12 for row in rows)
        result["smallest_gap"] = min(row["values"][11] / row["values"][12] for row in rows)
    if "m_floor" in rows[0]:
        result["m_by_floor"] = sum(row["m_floor"] == 12 for row in rows)
        result["m_by_last"] = sum(row["m_last"] == 12 for row in rows)
        answers, counts = np.unique([row["m_gap"] for row in rows], return_counts=True)
        result["m_answers"] = {str(a): int(c) for a, c in zip(answers, counts, strict=True)}
    if "n" in rows[0]:
        answers, counts = np.unique([row["n"] for row in rows], return_counts=True)
        result["normals"] = {str(a): int(c) for a, c in zip(answers, counts, strict=True)}
    return result


def run():
    arguments = [(degree, seed) for degree in KERNELS.values() for seed in range(SEEDS)]
    results = each(one_machine, arguments, "machines")
    needed = each(normals_needed, arguments, "numbers of normals")
    report = {"methods": {}, "machines": {}, "how_many": {"normals": COUNTS}}
    for name, degree in KERNELS.items():
        of_kernel = [j for j, (D, _) in enumerate(arguments) if D == degree]
        rows = [results[j] for j in of_kernel]
        report["methods"][name] = {method: summary([row[method] for row in rows])
                                   for method in rows[0] if method != "weight"}
        values = np.array([row["spheres"]["values"] for row in rows])
        report["machines"][name] = {
            "smallest_weight": [row["weight"] for row in rows],
            "s11": values[:, 10], "s12": values[:, 11], "s13": values[:, 12],
            "m_gap": [row["spheres"]["m_gap"] for row in rows],
            "m_floor": [row["spheres"]["m_floor"] for row in rows],
            "m_last": [row["spheres"]["m_last"] for row in rows],
            "sine": [row["spheres"]["sine"] for row in rows],
        }
        table = np.array([needed[j] for j in of_kernel])
        report["how_many"][name] = {
            "right": (table[:, :, 0] == 12).sum(0), "s12": np.nanmedian(table[:, :, 1], axis=0),
            "sine": np.median(table[:, :, 2], axis=0), "worst_sine": table[:, :, 2].max(0)}
    store(__file__, {"seeds": f"0 to {SEEDS - 1}; d = 30, m = 12", **report})


if __name__ == "__main__":
    main(run)
