"""Figures 5a and 5b of the paper: the subspace of a quadratic machine for the digit 1.

    python -m experiments.figure_5

The machine of the last chapter (60 principal components of MNIST, 400 images without an 8), for ten
choices of the images. The paper's way is 800 normals from spheres; its widths are those of its
first experiment, and finer ones. PN-pairs are drawn between a thousand other images, or between
points of a Gaussian cloud three times as wide. Beside it: m + 18 normals from slopes, sharpened
twice, and `deconstruct`. Results go to figure_5.json: medians and counts for every way.
"""

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, deconstruct
from decon.subspaces.spans import largest_gap, span_of_normals
from decon.teaching.datasets import load_mnist

from ._normals import bracketed, sharpened, with_normals
from ._run import each, main, store

SEEDS, NORMALS, EXTRA = 10, 800, 18
SPHERES = [(1e-3, 1e-6), (1e-4, 1e-8), (1e-5, 1e-10), (1e-6, 1e-12)]  # radius, width
WAYS = [("spheres", *sizes, pool) for sizes in SPHERES for pool in ("images", "cloud")]
WAYS += [("slopes", 1e-6, 1e-12, pool) for pool in ("images", "cloud")]
WAYS += [("deconstruct", None, None, "images")]


def digits_box(seed):
    """The machine (with seed 0, that of the chapter), and a thousand images it has not seen."""
    images, digit = load_mnist()
    order = np.random.default_rng(seed).permutation(len(digit))
    order = order[digit[order] != 8]
    train, known = order[:400], order[400:1400]
    Z = PCA(60, random_state=0).fit(images[train]).transform(images)
    svc = SVC(kernel="poly", degree=2, coef0=1).fit(Z[train], digit[train] == 1)
    return KernelMachine.from_sklearn(svc), Z[known]


def one(seed, way, radius, width, pool):
    """The subspace of one machine by one way."""
    machine, X = digits_box(seed)
    m, rng = len(machine.weights), np.random.default_rng(seed)
    Y = machine.support_vectors.T
    if way == "deconstruct":
        oracle, labels = Oracle(machine.predict, 60), machine.predict(X)
        few = np.concatenate([X[labels > 0][:3], X[labels < 0][:3]])
        result = deconstruct(oracle, few, random_state=seed, progress=False)
        right = result.rank == m
        return {"m": m, "found": result.rank, "gap": np.nan, "queries": oracle.queries,
                "lowest": np.cos(subspace_angles(result.subspace, Y)).min() if right else np.nan}
    if pool == "cloud":
        X = 3 * np.sqrt(np.mean(X**2)) * rng.standard_normal(X.shape)
    oracle, n = Oracle(machine.predict, 60), NORMALS if way == "spheres" else m + EXTRA
    X, V, normals = with_normals(oracle, *bracketed(oracle, X, n, width, rng), way, radius, width,
                                 rng)
    basis, values = span_of_normals(normals, rank=m)
    row = {"m": m, "found": largest_gap(values), "gap": values[m - 1] / values[m],
           "lowest": np.cos(subspace_angles(basis, Y)).min()}
    if way == "slopes":
        basis = sharpened(oracle, X, V, normals, basis)
        row["sharpened"] = np.cos(subspace_angles(basis, Y)).min()
    return row | {"queries": oracle.queries}


def summary(way, radius, width, pool, rows):
    lowest = [row["lowest"] for row in rows]
    line = {"way": way, "radius": radius, "width": width, "pairs": pool, "machines": len(rows),
            "m_by_gap": sum(row["found"] == row["m"] for row in rows),
            "gap": np.median([row["gap"] for row in rows]),
            "lowest_cosine": {"median": np.median(lowest), "worst": min(lowest)},
            "queries": np.median([row["queries"] for row in rows])}
    if way == "slopes":
        line["sharpened"] = min(row["sharpened"] for row in rows)
    return line


def run():
    tasks = [(seed, *way) for way in WAYS for seed in range(SEEDS)]
    rows = each(one, tasks, "machines")
    first = [row["m"] for row in rows[:SEEDS]]
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1}", "m": first,
        "ways": [summary(*way, rows[i * SEEDS:(i + 1) * SEEDS]) for i, way in enumerate(WAYS)],
    })


if __name__ == "__main__":
    main(run)
