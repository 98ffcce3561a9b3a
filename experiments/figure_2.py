"""Figure 2 of the paper: singular values of the normals, over the radius of their spheres.

    python -m experiments.figure_2

Results go to figure_2.json: `spectra` of one machine; `sweep`, over machines, at several widths;
`flat`, the angular error on a flat boundary (the paper's footnote 2); `average`, the spherical
average of normals from several radii (the paper's section 3.2).
"""

import numpy as np

from decon import KernelMachine, Oracle, Polynomial
from decon.boundary.normals import orthonormal_complement
from decon.paper import sphere_normals
from decon.subspaces.spans import largest_gap, largest_sine, span_of_normals

from ._normals import angles, disjoint_normals, open_box
from ._run import each, main, store

SEEDS = 100
POWERS = np.arange(-4, 5) / 2  # radii: these powers of ten times 1000 widths ...
WIDTHS = {1e-4: 20, 1e-6: SEEDS, 1e-8: 20, 1e-10: 20}  # ... times sqrt(width / 1e-6); machines
DIMENSIONS = {3: 400, 10: 200, 30: 100, 100: 40, 300: 20}  # normals on a flat boundary


def cubic(seed):
    return KernelMachine.random(Polynomial(degree=3), dimension=30, n_support=12,
                                random_state=seed)


def curvature(machine, x, step=1e-5):
    """The root mean square of the principal curvatures of the boundary at x."""
    d, g = len(x), machine.gradient(x[None])[0]
    E = step * np.eye(d)
    hessian = (machine.gradient(x + E) - machine.gradient(x - E)) / (2 * step)
    T = orthonormal_complement(g[:, None])
    return np.linalg.norm(T.T @ hessian @ T) / np.linalg.norm(g) / np.sqrt(d - 1)


def measure(machine, normals, gradients):
    """What a set of normals is worth, by itself and for the subspace."""
    found = np.isfinite(normals[:, 0])
    normals, gradients = normals[found], gradients[found]
    angle = angles(normals, gradients)
    basis, values = span_of_normals(normals, rank=12)
    units = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    return {"rms": np.sqrt(np.mean(angle**2)), "median": np.median(angle),
            "E": np.linalg.norm(normals - units, 2), "s12": values[11], "s13": values[12],
            "m": largest_gap(values), "sine": largest_sine(basis, machine.support_vectors.T),
            "values": values}


def sweep(seed, width):
    """One machine, all radii, both readings of the paper's pairs."""
    machine = cubic(seed)
    oracle, X, _ = open_box(machine, 100, width, seed)
    G = machine.gradient(X)
    rows = {"kappa": np.sqrt(np.mean([curvature(machine, x) ** 2 for x in X])),
            "random": [], "disjoint": []}
    for radius in radii(width):
        before = oracle.queries
        row = measure(machine, sphere_normals(oracle, X, radius, width, random_state=seed), G)
        rows["random"].append(row | {"queries": oracle.queries - before})
        before = oracle.queries
        normals, pairs = disjoint_normals(oracle, X, radius, width, seed)
        rows["disjoint"].append(measure(machine, normals, G)
                                | {"queries": oracle.queries - before, "pairs": pairs.mean()})
    return rows


def radii(width):
    return 1e-3 * 10.0**POWERS * np.sqrt(width / 1e-6)


def flat(d, count, ratio):
    """Angular errors on a plane, radius = ratio times width, with both kinds of pairs."""
    oracle = Oracle(lambda X: X[:, 0] > 0, d)
    X, truth = np.zeros((count, d)), np.eye(d)[:1]
    both = {"random": sphere_normals(oracle, X, 1.0, 1 / ratio, random_state=d)}
    both["disjoint"], pairs = disjoint_normals(oracle, X, 1.0, 1 / ratio, d)
    row = {"d": d, "ratio": ratio, "pairs": pairs.mean()}
    for name, normals in both.items():
        found = np.isfinite(normals[:, 0])
        angle = angles(normals[found], truth)
        row[name] = {"rms": np.sqrt(np.mean(angle**2)), "median": np.median(angle)}
    return row


def average(seed, radii, width):
    """Errors of normals from one radius, from several, and of their spherical average."""
    machine = cubic(seed)
    oracle, X, _ = open_box(machine, 100, width, seed)
    G, before = machine.gradient(X), oracle.queries
    all_normals = [sphere_normals(oracle, X, radius, width, random_state=1000 * k + seed)
                   for k, radius in enumerate(radii)]
    queries = oracle.queries - before
    mean = np.sum(all_normals, axis=0)
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    return [[np.sqrt(np.mean(angles(n, G) ** 2)) for n in [*all_normals, mean]], queries / 100]


def summary(rows, width):
    """Medians over machines for every radius, and where the errors and the gaps are best."""
    result = {"width": width, "machines": len(rows), "radii": radii(width),
              "kappa": np.median([row["kappa"] for row in rows])}
    for name in ("random", "disjoint"):
        table = [row[name] for row in rows]
        part = {key: [np.median([row[i][key] for row in table]) for i in range(len(POWERS))]
                for key in ("rms", "median", "E", "s12", "s13", "sine", "queries")}
        gaps = np.array([[cell["s12"] / cell["s13"] for cell in row] for row in table])
        part["gap"], part["gap_low"], part["gap_high"] = np.quantile(gaps, [0.5, 0.1, 0.9], axis=0)
        part["right"] = [sum(row[i]["m"] == 12 for row in table) for i in range(len(POWERS))]
        decades = slice(None, None, 2)  # the paper's radii
        best = radii(width)[decades][gaps[:, decades].argmax(1)]
        part["best_decade"] = {f"{r:.0e}": int((best == r).sum()) for r in radii(width)[decades]}
        error = [[cell["rms"] for cell in row] for row in table]
        part["best_error"] = np.median(radii(width)[np.argmin(error, axis=1)])
        if name == "disjoint":
            part["pairs"] = np.mean([[cell["pairs"] for cell in row] for row in table])
        result[name] = part
    return result


def run():
    arguments = [(seed, width) for width, count in WIDTHS.items() for seed in range(count)]
    rows = each(sweep, arguments, "radii of spheres")
    by_width = {width: [row for row, (_, w) in zip(rows, arguments, strict=True) if w == width]
                for width in WIDTHS}
    first = by_width[1e-6][0]
    planes = each(flat, [(30, 100, ratio) for ratio in (10, 100, 1000, 1e4, 1e6)]
                  + [(d, count, 1000) for d, count in DIMENSIONS.items() if d != 30], "planes")
    averages = {}
    for name, several in [("around the optimum", [1e-3, 2e-3, 4e-3]),
                          ("one radius thrice", [2e-3] * 3)]:
        rows = each(average, [(seed, several, 1e-6) for seed in range(20)], name)
        averages[name] = {"radii": several, "queries": np.median([q for _, q in rows]),
                          "rms": np.median([errors for errors, _ in rows], axis=0)}
    store(__file__, {
        "seeds": f"machines 0 to {SEEDS - 1} at width 1e-6, 0 to 19 elsewhere; cubic, d = 30, "
                 "m = 12, 100 normals",
        "spectra": {"machine": 0, "radii": radii(1e-6)[::2],
                    **{name: [cell["values"] for cell in first[name][::2]]
                       for name in ("random", "disjoint")}},
        "sweep": [summary(rows, width) for width, rows in by_width.items()],
        "flat": planes,
        "average": averages,
    })


if __name__ == "__main__":
    main(run)
