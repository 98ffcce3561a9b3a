"""A Type A boundary is a cylinder: along directions orthogonal to S_Y it is straight."""

import numpy as np
from scipy.linalg import qr

from ..boundary.bounds import lies_between, stay_inside
from ..boundary.bracketing import bisect_along
from ..boundary.normals import orthonormal_complement
from ..numerics.blocks import blocks
from ..types import Array, LabelOracle, RandomState
from .spans import tilt


def holds(oracle: LabelOracle, X: Array, V: Array, basis: Array, baseline: float, tolerance: float,
          random_state: RandomState = 0, W: Array | None = None) -> Array:
    """Is the boundary invariant under translations orthogonal to a subspace?

    From every boundary point x one walk of length `baseline` in a random direction orthogonal
    to the basis; the labels `tolerance` below and above it must still be -1 and +1. Where the
    basis misses a part of S_Y, they are not. Two queries per point.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +.
    basis : array (d, m)
        Orthonormal; a candidate for S_Y.
    baseline, tolerance : floats
        Length of the walk, shortened within bounds, and how far the boundary may then be off;
        both in the units of the points.
    random_state : int or numpy.random.Generator
    W : array (d, k), optional
        Orthonormal and orthogonal to the basis: the directions to walk in. Left out, all.

    Returns
    -------
    passed : bool array (s,)

    Examples
    --------
    >>> from decon import Oracle
    >>> pipe = Oracle(lambda X: (X[:, :2]**2).sum(1) < 1, dimension=3)
    >>> X, V = np.array([[.6, .8, 0.]]), np.array([[-.6, -.8, 0.]])
    >>> [bool(holds(pipe, X, V, basis, 1., 1e-9)[0])
    ...  for basis in (np.eye(3)[:, :2], np.eye(3)[:, 1:])]  # across the z-axis, across the x-axis
    [True, False]
    """
    # a random step of the given length, orthogonal to the basis
    W = orthonormal_complement(basis) if W is None else W
    U = np.random.default_rng(random_state).standard_normal((len(X), W.shape[1])) @ W.T
    U *= baseline / np.linalg.norm(U, axis=1, keepdims=True)

    # the boundary passes through its end too (eq-kernel-subspace-cylinder)
    return lies_between(oracle, X + stay_inside(oracle, X, U, share=0.5), tolerance * V)


def refine(oracle: LabelOracle, X: Array, V: Array, normals: Array, basis: Array, baseline: float,
           width: float, W: Array | None = None, times: int = 1) -> Array:
    """Correct a basis of S_Y by long baselines: a Type A boundary is straight across S_Y.

    Along a direction w orthogonal to S_Y the boundary never bends, so its height over a long
    walk shows the smallest tilt of w out of the complement. With W the complement of the basis U
    and S_Y spanned by U + W B for a small B, the height h over x_j + baseline w_l obeys
    (B U^T n_j)_l = -(h / baseline) n_j.v_j: linear equations for B. This is a step of Newton's
    method: an error e of the basis becomes one of the order of baseline e^2, plus e times the
    error of the normals, plus width / baseline, all over the smallest singular value of the
    normals.

    Parameters
    ----------
    oracle : LabelOracle
    X, V, normals : arrays (s, d)
        Boundary points, the directions they were bracketed along, and their unit normals.
        `times` as many points as basis vectors are used, those whose equations are best
        conditioned; `times` > 1 averages out noise.
    basis : array (d, m)
        Orthonormal; the approximate S_Y.
    baseline, width : floats
        Length of the walk and of the final bracket, in the units of the points.
    W : array (d, k), optional
        Orthonormal and orthogonal to the basis: the directions to be corrected. Left out, all.
    times : int

    Returns
    -------
    basis : array (d, m), orthonormal
    """
    W = orthonormal_complement(basis) if W is None else W
    k = W.shape[1]

    # the points whose equations are best conditioned, by QR with column pivoting
    A = basis.T @ normals.T
    best = qr(A, mode="r", pivoting=True)[1][:times * len(A)]

    # slopes of the boundary over a walk from each of them along each column of W
    slopes = np.empty((len(best), k))
    for j in blocks(len(best), W.size):
        x, v = (np.repeat(a[best[j]], k, axis=0) for a in (X, V))
        walks = stay_inside(oracle, x, np.tile(baseline * W.T, (len(best[j]), 1)), share=0.5)
        heights = bisect_along(oracle, x + walks, v, 0.0, max(1e-7 * baseline, 4 * width), width,
                               baseline) / np.linalg.norm(walks, axis=1)
        slopes[j] = np.nan_to_num(heights).reshape(slopes[j].shape)  # not met: no slope

    # B from its equations (eq-kernel-subspace-sharpen)
    return tilt(basis, W, A[:, best].T, -slopes * (normals * V)[best].sum(1, keepdims=True))
