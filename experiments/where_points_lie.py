"""Normals of machines for handwritten digits, from PN-pairs near the data and far from them.

    python -m experiments.where_points_lie

A cubic machine on raw images (784 pixels, digit 2 against 0, 5, 7, 8); m + 20 boundary points
between images, or between points of Gaussian clouds; the kernel subspace from slopes, and for the
smaller machine also from the paper's spheres. Results go to where_points_lie.json, one row each.
"""

import numpy as np
from scipy.linalg import subspace_angles

from decon import KernelMachine, Oracle
from decon.boundary.normals import slope_normals
from decon.paper import sphere_normals
from decon.subspaces.spans import largest_gap, largest_sine, span_of_normals
from decon.teaching.datasets import load_mnist

from ._models import digit_two
from ._normals import bracketed
from ._run import each, main, store

RUNS = [(1000, "images", "slopes"), (1000, 10.0, "slopes"),  # the paper's number of images
        (150, "images", "slopes"), (150, 2.0, "slopes"), (150, 10.0, "slopes"),
        (150, "images", "spheres"), (150, 10.0, "spheres")]


def one(n_train, pool, way):
    """Train, box, bracket, measure m + 20 normals, and compare their span with the truth."""
    images, digits = load_mnist()
    rng = np.random.default_rng(0)
    svc, _, rest = digit_two(n_train, rng)
    machine = KernelMachine.from_sklearn(svc)
    m = len(machine.weights)
    points = images[rest] if pool == "images" else pool * rng.standard_normal((1000, 784))
    oracle = Oracle(svc.predict, 784)
    X, V = bracketed(oracle, points, m + 20, 1e-11, 0)
    G = machine.gradient(X)
    G /= np.linalg.norm(G, axis=1, keepdims=True)
    if way == "spheres":
        normals = np.concatenate([sphere_normals(oracle, X[i:i + 10], 1e-3, 1e-6, random_state=i)
                                  for i in range(0, len(X), 10)])
    else:
        normals = np.concatenate([slope_normals(oracle, X[i:i + 10], V[i:i + 10], 1e-5, 1e-11,
                                                 grazing=1e-3)
                                  for i in range(0, len(X), 10)])
    found = np.isfinite(normals[:, 0])
    basis, values = span_of_normals(normals[found], rank=m)
    exact = np.linalg.svd(G[found], compute_uv=False)
    return {"images": n_train, "m": m, "pool": pool, "way": way,
            "positives": int((svc.predict(points) > 0).sum()), "asked": len(points),
            "test_accuracy": np.mean(svc.predict(images[rest]) == (digits[rest] == 2)),
            "normals": int(found.sum()), "m_by_gap": largest_gap(values),
            "gap_at_m": values[m - 1] / values[m], "exact_s1": exact[0], "exact_sm": exact[m - 1],
            "E": np.linalg.norm(normals[found] - G[found], 2),
            "worst_cosine": np.cos(subspace_angles(basis, machine.support_vectors.T)).min(),
            "sine": largest_sine(basis, machine.support_vectors.T),
            "queries": oracle.queries, "values": [float(f"{v:.3g}") for v in values]}


def run():
    store(__file__, {"seed": 0, "rows": each(one, RUNS, "pools")})


if __name__ == "__main__":
    main(run)
