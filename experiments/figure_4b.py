"""Figures 1 and 4b of the paper: 200 planes vote on a cubic machine for handwritten digits.

    python -m experiments.figure_4b

Results go to figure_4b.json: for several training sets, kinds of planes, radii and widths, the
votes over the tolerance.
"""

import numpy as np
from sklearn.svm import SVC

from decon import KernelMachine, Oracle
from decon.boundary.bracketing import boundary_points
from decon.boundary.curves import curve_points
from decon.boundary.pairs import pn_pairs
from decon.families.polynomial import fit_polynomial
from decon.paper import NAMES
from decon.teaching.datasets import load_mnist

from ._run import each, main, store
from .votes import TOLERANCES, vote

PLANES, POINTS, SETS = 200, 20, 5
RADII = (0.3, 1.0, 3.0)  # in units of R0
SETTINGS = [(kind, radius, 1e-6) for kind in ("pair", "random") for radius in RADII]
SETTINGS += [(kind, 1.0, 1e-10) for kind in ("pair", "random")]


def digits_box(seed):
    """A cubic SVC for 2 against 0, 5, 7 and 8, and its 1,000 training images."""
    X, y = load_mnist()
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:200] for k in (2, 0, 5, 7, 8)])
    svc = SVC(kernel="poly", degree=3, gamma=1, coef0=1).fit(X[rows], y[rows] == 2)
    return svc, X[rows]


def votes(seed, kind, radius, width):
    """Planes through a boundary point and the origin; the pair's own, or a random direction."""
    svc, X = digits_box(seed)
    oracle, rng = Oracle(KernelMachine.from_sklearn(svc).predict, 784), np.random.default_rng(seed)
    R0 = np.linalg.norm(X) / np.sqrt(len(X))
    labels = oracle(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], PLANES, rng)
    points, V = boundary_points(oracle, P, N, width)
    before, rows = oracle.queries, []
    others = V if kind == "pair" else rng.standard_normal(V.shape)
    for x, other in zip(points, others, strict=True):
        Z = curve_points(oracle, x, np.linalg.qr(np.c_[x, other])[0], POINTS, radius * R0, width,
                         rng)
        rows.append([fit_polynomial(Z, D)[1][1] / np.sqrt(POINTS) for D in (1, 2, 3)] if len(Z)
                    else [np.nan] * 3)
    counted = [vote(np.array(rows), tolerance) for tolerance in TOLERANCES]
    return {"queries": oracle.queries - before, "support_vectors": len(svc.dual_coef_[0]),
            "scale": R0, "median": np.nanmedian(rows, axis=0),
            **{name: [v[name] for v in counted] for name in NAMES.values()}}


def run():
    tasks = [(seed, *setting) for setting in SETTINGS for seed in range(SETS)]
    results = dict(zip(tasks, each(votes, tasks, "planes"), strict=True))
    table = []
    for kind, radius, width in SETTINGS:
        rows = [results[seed, kind, radius, width] for seed in range(SETS)]
        table.append({"planes": kind, "radius": radius, "width": width,
                      "queries": np.median([row["queries"] for row in rows]),
                      **{name: [row[name] for row in rows] for name in NAMES.values()}})
    first = [results[seed, *SETTINGS[0]] for seed in range(SETS)]
    store(__file__, {
        "seeds": f"training sets 0 to {SETS - 1}, of 200 images each of 2, 0, 5, 7, 8",
        "support_vectors": [row["support_vectors"] for row in first],
        "scale": np.median([row["scale"] for row in first]), "tolerances": TOLERANCES,
        "points": POINTS, "votes": table,
    })


if __name__ == "__main__":
    main(run)
