"""Normals of the decision boundary, from brackets in a small neighbourhood of a point of it."""

import numpy as np

from .bracketing import bisect, bisect_along, blocks


def sphere_normals(oracle, X, radius=1e-3, width=1e-6, n_points=None, random_state=0):
    """The paper's normals: a hyperplane through PN-pairs from a small sphere (section 3.2).

    Around every boundary point, points on a sphere are labelled and paired, positive with
    negative; the pairs are bracketed; the normal is the eigenvector of the smallest eigenvalue
    of the covariance of the bracketed points. Its angular error is about
    atan(width / (2 radius)) plus curvature times radius.

    Parameters
    ----------
    oracle : Oracle
    X : array (s, d)
        Points of the boundary.
    radius : float
        The paper's delta, in the units of the points.
    width : float
        The paper's epsilon: the brackets' final width.
    n_points : int, default 2 d (as in the paper)
        Points labelled, and pairs bracketed, a normal. Much fewer leave the hyperplane
        undetermined, silently.
    random_state : int or numpy.random.Generator

    Returns
    -------
    normals : array (s, d)
        Unit normals, pointing to the positive side; NaN where a sphere showed one label only.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X @ [3., 4.] > 0, dimension=2)
    >>> sphere_normals(oracle, [[0., 0.]]).round(2) + 0
    array([[0.6, 0.8]])
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X, float)
    s, d = X.shape
    n_points = 2 * d if n_points is None else n_points
    S = rng.standard_normal((s, n_points, d))
    S *= radius / np.linalg.norm(S, axis=2, keepdims=True)
    S += X[:, None]
    labels = oracle(S.reshape(-1, d)).reshape(s, n_points)
    normals = np.full((s, d), np.nan)
    mixed = np.flatnonzero((labels > 0).any(1) & (labels < 0).any(1))
    if len(mixed) == 0:
        return normals
    pick = [(rng.choice(np.flatnonzero(labels[j] > 0), n_points),
             rng.choice(np.flatnonzero(labels[j] < 0), n_points)) for j in mixed]
    P = np.concatenate([S[j, p] for j, (p, _) in zip(mixed, pick, strict=True)])
    N = np.concatenate([S[j, n] for j, (_, n) in zip(mixed, pick, strict=True)])
    towards = (P - N).reshape(len(mixed), n_points, d).sum(1)
    P, N = bisect(oracle, P, N, width)
    points = ((P + N) / 2).reshape(len(mixed), n_points, d)
    centred = points - points.mean(1, keepdims=True)
    smallest = np.linalg.eigh(np.einsum("jki,jkl->jil", centred, centred))[1][:, :, 0]
    normals[mixed] = smallest * np.sign((smallest * towards).sum(1))[:, None]
    return normals


def slope_normals(oracle, X, V, delta=1e-5, width=1e-12, grazing=0.03, central=False,
                  bend=0.03):
    """Normals from slopes: how much does the boundary rise as one steps aside?

    At a boundary point x that was bracketed along v, and for each u of an orthonormal basis of
    the complement of v, the height h with x + delta u + h v on the boundary is bracketed. The
    step delta u + h v is tangent, n.(delta u + h v) = 0, so that n is proportional to
    v - sum_u (h_u / delta) u. d - 1 brackets a normal and no factorisation; the angular error
    is about curvature times delta / (n.v)^2 plus width / delta.

    Parameters
    ----------
    oracle : Oracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +
        (as `boundary_points` returns them).
    delta, width : floats
        Step and bracket width, in the units of the points.
    grazing : float in [0, 1)
        Normals with |n.v| below this are given up: a line almost tangent to the boundary
        makes the heights large.
    central : bool
        Step to both sides, at twice the price: the curvature then has no part in the error.
    bend : float
        Central normals whose two sides differ by more than twice this are given up.

    Returns
    -------
    normals : array (s, d)
        Unit normals, pointing to the positive side; NaN where given up.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X @ [3., 4.] > 0, dimension=2)
    >>> slope_normals(oracle, [[0., 0.]], [[1., 0.]]).round(6)
    array([[0.6, 0.8]])
    """
    X, V = np.asarray(X, float), np.asarray(V, float)
    s, d = X.shape
    normals, bent = np.empty((s, d)), np.zeros(s, bool)
    for j in blocks(s, d * d):
        U = np.stack([orthonormal_complement(v[:, None]).T for v in V[j]])  # (points, d - 1, d)
        slopes, guess = [], 0.0
        for side in (1, -1) if central else (1,):
            heights = bisect_along(
                oracle,
                (X[j, None] + side * delta * U).reshape(-1, d),
                np.repeat(V[j], d - 1, axis=0),
                guess=guess,
                step=delta / 2,
                width=width,
                reach=delta / grazing,
            )
            slopes.append(side * heights.reshape(-1, d - 1) / delta)
            guess = np.nan_to_num(-heights)
        normals[j] = V[j] - np.einsum("jk,jki->ji", sum(slopes) / len(slopes), U)
        if central:  # the next order of the error is about the square of the bend
            bent[j] = np.linalg.norm(slopes[0] - slopes[1], axis=1) / 2 > bend
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals[bent | ((normals * V).sum(1) < grazing)] = np.nan
    return normals


def orthonormal_complement(U):
    """An orthonormal basis, array (d, d - k), of what is orthogonal to the columns of U (d, k).

    Examples
    --------
    >>> abs(orthonormal_complement([[0.], [1.]]))
    array([[1.],
           [0.]])
    """
    U = np.asarray(U, float)
    return np.linalg.qr(U, mode="complete")[0][:, U.shape[1] :]
