"""A Type B boundary is a surface of revolution: turned about S_Y, it falls on itself."""

import numpy as np
from scipy.linalg import qr

from .bracketing import bisect_along, blocks, lies_between
from .normals import orthonormal_complement
from .subspace import gamma_for, least_squares


def turned(X, V, W, P):
    """Points and directions reflected so that their parts across S_Y become given ones.

    K(x, y_i) = g(|x - y_i|^2) depends on x through its projection on S_Y and its distance from
    S_Y alone. So whatever preserves both maps the boundary of a Type B machine to itself; here it
    is the reflection that takes W^T x to another vector of the same length.

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
    >>> X, V = turned(x, v, np.eye(3)[:, 1:], [[0, 1]])
    >>> X, V.round(9)
    (array([[5., 0., 1.]]), array([[0., 0., 1.]]))
    """
    step = P - X @ W
    length = np.linalg.norm(step, axis=1, keepdims=True)
    u = step / np.where(length > 1e-12 * np.linalg.norm(P, axis=1, keepdims=True), length, np.inf)
    lean = (V @ W * u).sum(1, keepdims=True)
    return X + step @ W.T, V - 2 * lean * u @ W.T


def crosses_turned(oracle, X, V, basis, angle, tolerance, random_state=0, W=None):
    """Does the boundary fall on itself when turned about the basis? Bool array (s,).

    Every boundary point is turned by `angle` (radians) in a random direction; the labels
    `tolerance` below and above it, along its turned direction, must still be -1 and +1. Where
    the basis misses a part of S_Y, they are not. Two queries a point. With a basis W of some
    directions orthogonal to the basis, only these are turned. A point that would leave the oracle's
    bounds says nothing against the basis: True.

    Examples
    --------
    >>> from decon import Oracle
    >>> ball = Oracle(lambda X: ((X - [1., 0., 0.])**2).sum(1) < 4, dimension=3)
    >>> X, V = np.array([[1., 2., 0.]]), np.array([[0., -1., 0.]])
    >>> [bool(crosses_turned(ball, X, V, basis, 1., 1e-9)[0])
    ...  for basis in (np.eye(3)[:, :1], np.eye(3)[:, 2:])]  # about the x-axis, about the z-axis
    [True, False]
    """
    rng = np.random.default_rng(random_state)
    W = orthonormal_complement(basis) if W is None else W
    P = X @ W
    if W.shape[1] == 1:
        turned_to = -P  # across a hyperplane there is only the mirror image
    else:
        length = np.linalg.norm(P, axis=1, keepdims=True)
        aside = rng.standard_normal(P.shape)
        aside -= (aside * P).sum(1, keepdims=True) / length**2 * P
        aside *= length / np.linalg.norm(aside, axis=1, keepdims=True)
        turned_to = np.cos(angle) * P + np.sin(angle) * aside
    X, V = turned(X, V, W, turned_to)
    return lies_between(oracle, X, tolerance * V)


def sharpen_by_turning(oracle, X, V, normals, basis, angle, step, width, W=None, times=1):
    """Correct a basis of S_Y by turning: where the boundary misses itself, the basis is tilted.

    With W the complement of the basis U and S_Y spanned by U + W B for a small B, a point x turned
    so that p = W^T x becomes p', and the boundary at height h over it along the turned v,

        h n.v = -(p' - p)^T B U^T (n - gamma x),

    linear equations for B, where gamma makes n - gamma x lie in S_Y. A step of Newton's kind, like
    `subspace.sharpen`.

    Parameters
    ----------
    oracle : Oracle
    X, V, normals : arrays (s, d)
        Boundary points, the directions they were bracketed along, and their unit normals.
        As many points as basis vectors are used, chosen to be well conditioned; so many `times`
        more against noise.
    basis : array (d, m)
        Orthonormal; the approximate S_Y.
    angle : float in (0, pi / 2]
        By how much to turn: small where the basis is coarse.
    step, width : floats
        How far off the boundary is expected, and the final width of the brackets.
    W : array (d, k), optional
        Orthonormal and orthogonal to the basis: the directions to be corrected. Left out, all.

    Returns
    -------
    basis : array (d, m), orthonormal
    """
    m = basis.shape[1]
    W = orthonormal_complement(basis) if W is None else W
    k = W.shape[1]
    P = X @ W
    length = np.linalg.norm(P, axis=1)
    A = basis.T @ (normals - gamma_for(normals, X, basis)[:, None] * X).T  # U^T (n - gamma x)
    best = qr(A * length, mode="r", pivoting=True)[1][:times * m]
    scale = np.sqrt(np.mean((X**2).sum(1)))
    G = np.zeros((len(best), k))  # rows B U^T (n_j - gamma_j x_j)
    for block in blocks(len(best), k * X.shape[1]):
        j = best[block]
        frames = np.stack([np.linalg.qr(np.c_[p, np.eye(k)])[0] for p in P[j]])
        frames[:, :, 0] = P[j] / length[j, None]
        to = np.cos(angle) * frames[:, :, :1] + np.sin(angle) * frames[:, :, 1:]
        to = np.concatenate([to, -frames[:, :, :1]], axis=2) * length[j, None, None]
        to = np.swapaxes(to, 1, 2)  # (points, k, k): k turns a point
        x, v = turned(np.repeat(X[j], k, axis=0), np.repeat(V[j], k, axis=0), W,
                      to.reshape(-1, k))
        h = bisect_along(oracle, x, v, 0.0, step, width, scale).reshape(-1, k)
        steep = (normals[j] * V[j]).sum(1)[:, None]
        steps = to - P[j][:, None]
        right = -np.nan_to_num(h * steep)[..., None]
        lost = np.isnan(h).any(1) & (oracle.bounds is not None)
        G[block][~lost] = np.linalg.solve(steps[~lost], right[~lost])[..., 0]
        if lost.any():  # what was not met within the bounds teaches nothing
            steps[np.isnan(h)] = 0
            G[block][lost] = (np.linalg.pinv(steps[lost]) @ right[lost])[..., 0]
    B = least_squares(A[:, best].T, G).T
    return np.linalg.qr(basis + W @ B)[0]
