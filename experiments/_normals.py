"""Boundary points of a pool, normals by several ways, a subspace sharpened, and their errors."""

import numpy as np

from decon import Oracle
from decon.boundary.bracketing import bisect, boundary_points
from decon.boundary.normals import slope_normals
from decon.boundary.pairs import pn_pairs
from decon.paper import sphere_normals
from decon.subspaces import cylinder


def disjoint_normals(oracle, X, radius, width, random_state=0):
    """Unit normals (s, d) at the boundary points X, and the pairs bracketed for each.

    Another reading of the paper's words: `decon.paper.sphere_normals` draws 2d PN-pairs at random
    among 2d labelled points, so that pairs share points. Here 4d points are labelled, and every
    point belongs to one pair at most.
    """
    rng = np.random.default_rng(random_state)
    s, d = X.shape
    S = rng.standard_normal((s, 4 * d, d))
    S *= radius / np.linalg.norm(S, axis=2, keepdims=True)
    S += X[:, None]
    positive = oracle(S.reshape(-1, d)).reshape(s, -1) > 0
    counts = np.minimum(positive.sum(1), (~positive).sum(1))
    P, N = (np.concatenate([S[j, side[j]][:k] for j, k in enumerate(counts)])
            for side in (positive, ~positive))
    towards = P - N
    P, N = bisect(oracle, P, N, width)
    normals, ends = np.full((s, d), np.nan), np.cumsum(counts)
    for j, (end, k) in enumerate(zip(ends, counts, strict=True)):
        if k >= d:
            one = slice(end - k, end)
            points = (P[one] + N[one]) / 2
            normal = np.linalg.eigh(np.cov(points.T))[1][:, 0]
            normals[j] = normal * np.sign(normal @ towards[one].sum(0))
    return normals, counts


def open_box(machine, n_points, width, seed):
    """An oracle, n_points of the boundary between points of a Gaussian cloud, their directions."""
    oracle = Oracle(machine.predict, machine.dimension)
    cloud = np.random.default_rng(seed).standard_normal((400, machine.dimension))
    return oracle, *bracketed(oracle, cloud, n_points, width, seed)


def bracketed(oracle, pool, n, width, seed):
    """n boundary points between random points of a pool, and the brackets' directions."""
    labels = oracle(pool)
    return boundary_points(oracle, *pn_pairs(pool[labels > 0], pool[labels < 0], n, seed), width)


def with_normals(oracle, X, V, way, radius, width, seed=0):
    """Points, directions and normals by spheres or slopes, where a normal was found."""
    normals = (sphere_normals(oracle, X, radius, width, random_state=seed) if way == "spheres"
               else slope_normals(oracle, X, V, radius, width))
    found = np.isfinite(normals[:, 0])
    return X[found], V[found], normals[found]


def sharpened(oracle, X, V, normals, basis, steps=((0.01, 1e-9), (1.0, 1e-12))):
    """A basis of S_Y after passes of the given baselines and widths."""
    for baseline, width in steps:
        basis = cylinder.refine(oracle, X, V, normals, basis, baseline, width)
    return basis


def angles(normals, gradients):
    """Angles in radians between unit normals and gradients, row by row."""
    units = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    return 2 * np.arcsin(np.minimum(np.linalg.norm(normals - units, axis=1) / 2, 1))
