"""Bracketing: points of the decision boundary, found by halving what lies between + and -."""

import numpy as np


def bisect(oracle, P, N, width):
    """Halve every bracket until it is no longer than `width`, one oracle call a step for all.

    Parameters
    ----------
    oracle : Oracle
    P, N : arrays (n, d)
        Positive points and negative points: row j of both is the PN-pair j. Their labels are
        not asked for again; a bracket with two equal ends shrinks to one of them.
    width : float
        The precision epsilon, in the units of the points. A bracket also ends when no number
        lies between its ends.

    Returns
    -------
    P, N : arrays (n, d)
        The ends of the final brackets; the boundary crosses between them.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=1)
    >>> P, N = bisect(oracle, [[1.]], [[0.]], width=1e-6)
    >>> ((P + N) / 2).round(4).tolist(), oracle.queries
    ([[0.3]], 20)
    """
    P, N = np.array(P, float), np.array(N, float)
    active = np.flatnonzero(np.linalg.norm(P - N, axis=1) > width)
    while len(active):
        M = (P[active] + N[active]) / 2
        between = (M != P[active]).any(1) & (M != N[active]).any(1)  # else no number lies there
        active, M = active[between], M[between]
        positive = oracle(M) > 0
        P[active[positive]], N[active[~positive]] = M[positive], M[~positive]
        active = active[np.linalg.norm(P[active] - N[active], axis=1) > width]
    return P, N


def bisect_along(oracle, X, V, guess, step, width, reach):
    """Where on the lines X + t V does the boundary cross, near t = guess?

    The label must go from -1 to +1 as t grows, near the crossing. From the guess the search
    walks towards the boundary in doubling steps, then bisects: a guess that is good to `step`
    costs about log2(step / width) + 2 queries.

    Parameters
    ----------
    oracle : Oracle
    X, V : arrays (n, d)
        Base points and unit directions.
    guess, step, reach : floats, or arrays (n,)
        Where to start, the first step of the walk, and how far from the guess to walk before
        giving up.
    width : float
        The precision epsilon, in the units of the points.

    Returns
    -------
    t : array (n,)
        The crossings; NaN where none was met within `reach`.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=1)
    >>> bisect_along(oracle, [[0.]], [[1.]], guess=0.25, step=0.1, width=1e-9, reach=1.).round(6)
    array([0.3])
    """
    X, V = np.asarray(X, float), np.asarray(V, float)

    def is_positive(j, t):
        points = V[j] * t[:, None]
        points += X[j]
        return oracle(points) > 0

    j = np.arange(len(X))
    near = np.array(np.broadcast_to(guess, len(X)), float)
    step, reach = (np.broadcast_to(a, len(X)) for a in (step, reach))
    start, far = near.copy(), np.full(len(X), np.nan)
    positive = is_positive(j, near)
    towards = np.where(positive, -step, step)  # a positive start lies above the crossing
    while len(j):
        t = near[j] + towards[j]
        met = is_positive(j, t) != positive[j]
        far[j[met]], near[j[~met]] = t[met], t[~met]
        towards[j] *= 2
        j = j[~met & (np.abs(t - start[j]) < reach[j])]
    j = np.flatnonzero(np.isfinite(far))
    while len(j):
        middle = (near[j] + far[j]) / 2
        between = (middle != near[j]) & (middle != far[j]) & (np.abs(far[j] - near[j]) > width)
        j, middle = j[between], middle[between]
        same = is_positive(j, middle) == positive[j]
        near[j[same]], far[j[~same]] = middle[same], middle[~same]
    return (near + far) / 2


def blocks(n, numbers, megabytes=16):
    """Slices of range(n) so that `numbers` floats a row fit into about so many megabytes.

    Examples
    --------
    >>> list(blocks(5, 1_000_000, megabytes=16))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    rows = max(1, int(megabytes * 1e6 / (8 * max(1, numbers))))
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def pn_pairs(positives, negatives, n, random_state=0):
    """n random PN-pairs out of pools of positive and negative points: two arrays (n, d).

    Pairs are drawn without repetition as long as there are enough of them, and otherwise
    with, so that some may be missing.

    Examples
    --------
    >>> P, N = pn_pairs([[1.], [2.]], [[-1.], [-2.]], 3)
    >>> len({(p, n) for p, n in zip(P.ravel(), N.ravel())})
    3
    """
    rng = np.random.default_rng(random_state)
    positives, negatives = np.asarray(positives, float), np.asarray(negatives, float)
    total = len(positives) * len(negatives)
    pairs = rng.choice(total, n, replace=n > total)
    return positives[pairs // len(negatives)], negatives[pairs % len(negatives)]


def boundary_points(oracle, P, N, width):
    """Points of the decision boundary, one on every segment between the rows of P and of N.

    Returns
    -------
    X : array (n, d)
        Midpoints of the final brackets.
    V : array (n, d)
        Unit directions of the segments, from the negative to the positive end.

    Raises
    ------
    ValueError
        If a row of P equals the row of N.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X.sum(axis=1) > 1, dimension=2)
    >>> X, V = boundary_points(oracle, [[1., 1.]], [[0., 0.]], width=1e-9)
    >>> X.round(6).tolist()
    [[0.5, 0.5]]
    """
    P, N = np.asarray(P, float), np.asarray(N, float)
    V = P - N
    length = np.linalg.norm(V, axis=1, keepdims=True)
    if (length == 0).any():
        raise ValueError("a point cannot be its own partner: some rows of P and N are equal")
    P, N = bisect(oracle, P, N, width)
    return (P + N) / 2, V / length
