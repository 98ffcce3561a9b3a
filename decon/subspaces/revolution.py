"""A Type B boundary is a surface of revolution: it is invariant under rotations about S_Y."""

import numpy as np
from scipy.linalg import qr

from ..boundary.bounds import lies_between
from ..boundary.bracketing import bisect_along
from ..boundary.normals import orthonormal_complement
from ..numerics.blocks import blocks
from ..types import Array, ArrayLike, LabelOracle, RandomState
from .multipliers import multipliers_for
from .spans import tilt


def reflected(X: Array, V: Array, W: Array, P: ArrayLike) -> tuple[Array, Array]:
    """Points and directions, reflected so that W^T x becomes a given vector for every point.

    K(x, y_i) = g(|x - y_i|^2) depends on x through its projection on S_Y and its distance from
    S_Y alone. So whatever preserves both maps the boundary of a Type B machine to itself; here it
    is the Householder reflection that takes W^T x to another vector of the same length.

    Parameters
    ----------
    X, V : arrays (s, d)
        Boundary points, and the directions along which they were bracketed.
    W : array (d, d - m)
        Orthonormal basis of the complement of S_Y.
    P : array (s, d - m)
        What W^T x is to become; row j has the length of W^T x_j.

    Returns
    -------
    X, V : arrays (s, d)

    Examples
    --------
    >>> x, v = np.array([[5., 1., 0.]]), np.array([[0., 1., 0.]])
    >>> X, V = reflected(x, v, np.eye(3)[:, 1:], [[0, 1]])
    >>> X, V.round(9)
    (array([[5., 0., 1.]]), array([[0., 0., 1.]]))
    """
    # the mirror's unit normal u within the complement; no mirror for a step of nothing
    step = P - X @ W
    length = np.linalg.norm(step, axis=1, keepdims=True)
    u = step / np.where(length > 1e-12 * np.linalg.norm(P, axis=1, keepdims=True), length, np.inf)

    # directions v - 2 (u.v) u: Householder's reflection
    lean = (V @ W * u).sum(1, keepdims=True)
    return X + step @ W.T, V - 2 * lean * u @ W.T


def holds(oracle: LabelOracle, X: Array, V: Array, basis: Array, angle: float, tolerance: float,
          random_state: RandomState = 0, W: Array | None = None) -> Array:
    """Is the boundary invariant under rotations about a subspace?

    Every boundary point is rotated by `angle` in a random direction; the labels `tolerance` below
    and above it, along its rotated direction, must still be -1 and +1. Where the basis misses a
    part of S_Y, they are not. Two queries per point.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +.
    basis : array (d, m)
        Orthonormal; a candidate for S_Y.
    angle : float
        In radians.
    tolerance : float
        How far the boundary may then be off, in the units of the points.
    random_state : int or numpy.random.Generator
    W : array (d, k), optional
        Orthonormal and orthogonal to the basis: only the parts of the points in its span are
        rotated. Left out, all that is orthogonal to the basis.

    Returns
    -------
    passed : bool array (s,)
        True also for a point that would leave the oracle's bounds.

    Examples
    --------
    >>> from decon import Oracle
    >>> ball = Oracle(lambda X: ((X - [1., 0., 0.])**2).sum(1) < 4, dimension=3)
    >>> X, V = np.array([[1., 2., 0.]]), np.array([[0., -1., 0.]])
    >>> [bool(holds(ball, X, V, basis, 1., 1e-9)[0])
    ...  for basis in (np.eye(3)[:, :1], np.eye(3)[:, 2:])]  # about the x-axis, about the z-axis
    [True, False]
    """
    W = orthonormal_complement(basis) if W is None else W
    P = X @ W
    if W.shape[1] == 1:
        to = -P  # across a hyperplane there is only the mirror image
    else:
        # a random direction orthogonal to each P, of the same length; then a turn towards it
        length = np.linalg.norm(P, axis=1, keepdims=True)
        aside = np.random.default_rng(random_state).standard_normal(P.shape)
        aside -= (aside * P).sum(1, keepdims=True) / length**2 * P
        aside *= length / np.linalg.norm(aside, axis=1, keepdims=True)
        to = np.cos(angle) * P + np.sin(angle) * aside

    # the boundary passes through the rotated points too (thm-gaussian-subspace-revolution)
    X, V = reflected(X, V, W, to)
    return lies_between(oracle, X, tolerance * V)


def refine(oracle: LabelOracle, X: Array, V: Array, normals: Array, basis: Array, angle: float,
           step: float, width: float, W: Array | None = None, times: int = 1) -> Array:
    """Correct a basis of S_Y by turning: where the boundary misses itself, the basis is tilted.

    With W the complement of the basis U and S_Y spanned by U + W B for a small B, a point x rotated
    so that p = W^T x becomes p', and the boundary at height h over it along the rotated v,

        h n.v = -(p' - p)^T B U^T (n - gamma x),

    linear equations for B, where gamma makes n - gamma x lie in S_Y. This is a step of Newton's
    method, like `cylinder.refine`.

    Parameters
    ----------
    oracle : LabelOracle
    X, V, normals : arrays (s, d)
        Boundary points, the directions they were bracketed along, and their unit normals.
        `times` as many points as basis vectors are used, those whose equations are best
        conditioned; `times` > 1 averages out noise.
    basis : array (d, m)
        Orthonormal; the approximate S_Y.
    angle : float in (0, pi / 2]
        By how much to turn, in radians: little where the basis is coarse.
    step, width : floats
        How far off the boundary is expected, and the final width of the brackets, in the units of
        the points.
    W : array (d, k), optional
        Orthonormal and orthogonal to the basis: the directions to be corrected. Left out, all.
    times : int

    Returns
    -------
    basis : array (d, m), orthonormal
    """
    W = orthonormal_complement(basis) if W is None else W
    k, P, scale = W.shape[1], X @ W, np.sqrt(np.mean((X**2).sum(1)))

    # the points whose equations are best conditioned, by QR with column pivoting
    A = basis.T @ (normals - multipliers_for(normals, X, basis)[:, None] * X).T
    best = qr(A * np.linalg.norm(P, axis=1), mode="r", pivoting=True)[1][:times * len(A)]

    # G: the rows B U^T (n_j - gamma_j x_j), from k turns of each point
    # (eq-gaussian-subspace-newton)
    G = np.zeros((len(best), k))
    for block in blocks(len(best), k * X.shape[1]):
        j = best[block]
        to = _turns(P[j], angle)
        x, v = (np.repeat(a[j], k, axis=0) for a in (X, V))
        x, v = reflected(x, v, W, to.reshape(-1, k))
        h = bisect_along(oracle, x, v, 0.0, step, width, scale).reshape(-1, k)
        steps = to - P[j][:, None]
        right = -np.nan_to_num(h * (normals[j] * V[j]).sum(1)[:, None])[..., None]

        # within bounds, turns at which the boundary was not met drop out
        lost = np.isnan(h).any(1) & (oracle.bounds is not None)
        G[block][~lost] = np.linalg.solve(steps[~lost], right[~lost])[..., 0]
        steps[np.isnan(h)] = 0
        G[block][lost] = (np.linalg.pinv(steps[lost]) @ right[lost])[..., 0]

    # B from its equations (step 4 of alg-gaussian-subspace-turning)
    return tilt(basis, W, A[:, best].T, G)


def _turns(P, angle):
    """Rows p of P (n, k) rotated by an angle in k - 1 orthogonal directions, and -p: (n, k, k)."""
    k, length = P.shape[1], np.linalg.norm(P, axis=1)[:, None]
    frames = np.stack([np.linalg.qr(np.c_[p, np.eye(k)])[0].T for p in P])
    frames[:, 0] = P / length
    to = np.cos(angle) * frames[:, :1] + np.sin(angle) * frames[:, 1:]
    return np.concatenate([to, -frames[:, :1]], axis=1) * length[:, None]
