"""Tanh units seen from infinity: their directions, and roughly their weights, from far labels."""

import numpy as np
from scipy.optimize import linprog

from .bracketing import bisect, lies_between, pn_pairs
from .normals import orthonormal_complement, slope_normals

FAR = 1e4  # where every tanh is saturated (all lengths in units of the reach)
ASIDE, ROUGH = 1e-3, 1e-7  # step of a normal far away, and width of its brackets, in units of FAR
THROUGH = 1e-3  # sine of the angle between a hyperplane and its points, seen from the origin
ON, OFF = 5e-3, 3e-6  # a step on, after which a hyperplane is missed by less (in units of FAR),
ASIDES = 3  # tried so many times
LOST = 0.7  # the share of the boundary on no hyperplane of ours that gives a tanh machine up
MOST = 2  # hyperplanes a dimension: if there are more, they are tangents of something curved
TRIALS, PATIENCE = 12, 20  # segments a batch, and batches without a new normal before we stop
RECENT = 400  # of the labels, so many show roughly what the weights are
PATTERNS = 3000  # sign patterns tried in search of one that puts the box near its threshold


def unit_normals(oracle, rng):
    """The directions a_i/|a_i| of the units, as normals of the boundary at infinity.

    Far from the origin every tanh is -1 or +1, and the boundary consists of pieces of the
    hyperplanes a_i.z = const. Segments are laid along which no unit already known changes its
    sign: a label that changes is the work of a new one. The signs of the known ones are random
    and, where that is not enough, half of them such that the box is near its threshold by
    `rough_weights`, where a small weight decides.

    Parameters
    ----------
    oracle : Oracle
        Of dimension m, the box in coordinates of S_Y, in units of its reach.
    rng : numpy.random.Generator

    Returns
    -------
    normals : array (k, m)
        Unit vectors; the label rises along them. k <= m, and they are linearly independent.
    Z, labels : arrays (n, m) and (n,)
        Far points with labels.

    Raises
    ------
    ArithmeticError
        If there are none.
    """
    m = oracle.dimension
    normals, Z, labels = np.empty((0, m)), np.empty((0, m)), np.empty(0, np.int8)
    idle = 0
    while len(normals) < m and idle < PATIENCE:
        k = len(normals)
        free = orthonormal_complement(normals.T) if k else np.eye(m)
        base = rng.standard_normal((TRIALS, m - k)) @ free.T / np.sqrt(m - k)
        base *= np.geomspace(0.3, 3, TRIALS)[:, None]  # so that few or many units change sign
        if k:
            signs = rng.choice([-1, 1], (TRIALS, k))
            if idle and k > 1:
                guess = rough_weights(normals, Z[-RECENT:], labels[-RECENT:])
                signs[::2] = _critical_signs(*guess, rng)[::2]
            signs = signs * rng.uniform(0.05, 0.15, signs.shape)
            base += signs @ np.linalg.pinv(normals).T
        step = rng.standard_normal((TRIALS, m - k)) @ free.T
        step /= np.linalg.norm(step, axis=1, keepdims=True)
        ends = FAR * np.array([base + step, base - step])
        answers = oracle(ends.reshape(-1, m)).reshape(2, -1)
        Z, labels = np.concatenate([Z, *ends]), np.concatenate([labels, *answers])
        idle += 1
        changed = np.flatnonzero(answers[0] != answers[1])[:1]
        if len(changed):
            up = answers[0, changed[0]] > 0
            normal = _normal(oracle, *(ends if up else ends[::-1])[:, changed], rng)
            if normal is not None:
                normals, idle = np.vstack([normals, normal]), 0
    if not len(normals):
        raise ArithmeticError("no tanh machine: far away the boundary shows no hyperplanes "
                              "through the origin")
    return normals, Z, labels


def further_normals(oracle, normals, Z, labels, rng):
    """The normals, and those of hyperplanes at infinity that they do not explain.

    Of linearly dependent vectors `unit_normals` finds no more than span S_Y. The boundary is met
    on random segments between far points; where it is met on no known hyperplane, it shows another.
    If that is so nearly everywhere, what was found are tangents of something curved.

    Returns
    -------
    normals : array (k, m)

    Raises
    ------
    ArithmeticError
        If the known ones explain too little, or if there is no end of others.
    """
    idle, most, lost = 0, MOST * normals.shape[1], []
    while idle < PATIENCE / 5:
        P, N = bisect(oracle, *pn_pairs(Z[labels > 0], Z[labels < 0], TRIALS, rng), ROUGH * FAR)
        X = (P + N) / 2
        known = np.abs(X @ normals.T).min(1) < THROUGH * np.linalg.norm(X, axis=1)
        idle += 1
        lost.extend(~known if len(lost) < 2 * TRIALS else [])
        if len(lost) == 2 * TRIALS and np.mean(lost) > LOST:
            raise ArithmeticError("no tanh machine: far away the boundary has more than a few "
                                  "hyperplanes")
        for j in np.flatnonzero(~known)[:1]:
            normal = _normal(oracle, P[[j]], N[[j]], rng)
            if normal is not None:
                normals, idle = np.vstack([normals, normal]), 0
        if len(normals) > most:
            raise ArithmeticError("no tanh machine: far away the boundary has more than "
                                  f"{most} hyperplanes")
    return normals


def _normal(oracle, P, N, rng):
    """The normal of the hyperplane between P and N, which passes by the origin; or None."""
    V = (P - N) / np.linalg.norm(P - N)
    P, N = bisect(oracle, P, N, ROUGH * FAR)
    x = (P + N) / 2
    normal = slope_normals(oracle, x, V, ASIDE * FAR, ROUGH * FAR)[0]
    if not abs(x[0] @ normal) < THROUGH * np.linalg.norm(x):
        return None
    aside = rng.standard_normal((ASIDES, len(normal)))
    aside -= (aside @ normal)[:, None] * normal
    aside *= ON * FAR / np.linalg.norm(aside, axis=1, keepdims=True)
    flat = lies_between(oracle, x + aside, OFF * FAR * np.tile(normal, (ASIDES, 1)))
    return normal if flat.all() else None


def _critical_signs(weights, threshold, rng):
    """Rows of signs for which the weighted sum is close to the threshold."""
    signs = rng.choice([-1, 1], (PATTERNS, len(weights)))
    gaps = np.abs(signs @ weights - threshold)
    return signs[rng.permutation(np.argsort(gaps)[:4 * TRIALS])[:TRIALS]]


def rough_weights(normals, Z, labels):
    """Weights and threshold from labels far away: sum_i w_i sign(n_i.z) > b, by linear programming.

    Of all that put the far points on the right side with a margin of 1, those with the smallest
    sum |w_i| + |b|; margins that are missed cost a hundred times as much.

    Examples
    --------
    >>> Z = np.array([[1., 1.], [1., -1.], [-1., 1.], [-1., -1.]])
    >>> w, b = rough_weights(np.eye(2), Z, np.array([1, 1, -1, -1]))
    >>> w.round(3) + 0., round(b, 3) + 0.
    (array([1., 0.]), 0.0)
    """
    rows = np.unique(np.c_[np.sign(Z @ normals.T), labels], axis=0)
    n, k = len(rows), len(normals)
    sides = rows[:, -1:] * np.c_[rows[:, :-1], -np.ones(n)]
    x = linprog(np.r_[np.ones(2 * k + 2), np.full(n, 100.0)],
                A_ub=np.hstack([-sides, sides, -np.eye(n)]), b_ub=-np.ones(n)).x
    v = x[:k + 1] - x[k + 1:2 * k + 2]
    v /= np.linalg.norm(v) or 1
    return v[:k], float(v[k])
