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
        The crossings; NaN where none was met within `reach`, or before the oracle's bounds.

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
        if oracle.bounds is not None:
            np.clip(points, *oracle.bounds, out=points)  # rounding, at a wall
        return oracle(points) > 0

    first, last = walls(oracle, X, V)
    j = np.flatnonzero(first <= last)
    near = np.clip(np.broadcast_to(guess, len(X)).astype(float), first, last)
    step, reach = (np.broadcast_to(a, len(X)) for a in (step, reach))
    start, far = near.copy(), np.full(len(X), np.nan)
    positive = np.zeros(len(X), bool)
    positive[j] = is_positive(j, near[j])
    towards = np.where(positive, -step, step)  # a positive start lies above the crossing
    while len(j):
        t = np.clip(near[j] + towards[j], first[j], last[j])
        met = is_positive(j, t) != positive[j]
        far[j[met]], near[j[~met]] = t[met], t[~met]
        towards[j] *= 2
        j = j[~met & (np.abs(t - start[j]) < reach[j]) & (first[j] < t) & (t < last[j])]
    j = np.flatnonzero(np.isfinite(far))
    while len(j):
        middle = (near[j] + far[j]) / 2
        between = (middle != near[j]) & (middle != far[j]) & (np.abs(far[j] - near[j]) > width)
        j, middle = j[between], middle[between]
        same = is_positive(j, middle) == positive[j]
        near[j[same]], far[j[~same]] = middle[same], middle[~same]
    return (near + far) / 2


def walls(oracle, X, V):
    """The range of t in which the lines X + t V stay within the oracle's bounds.

    Parameters
    ----------
    oracle : Oracle
    X, V : arrays (n, d)

    Returns
    -------
    first, last : arrays (n,)
        Minus and plus infinity without bounds; first > last for a line that misses the box.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=2, bounds=(0, 1))
    >>> walls(oracle, [[.5, .5]], [[.1, .2]])
    (array([-2.5]), array([2.5]))
    """
    X, V = np.asarray(X, float), np.asarray(V, float)
    first, last = np.full(len(X), -np.inf), np.full(len(X), np.inf)
    if oracle.bounds is None:
        return first, last
    lower, upper = oracle.bounds
    for x, v, low, high in zip(X.T, V.T, lower, upper, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = (low - x) / v, (high - x) / v
        a, b = np.where(v < 0, (b, a), (a, b))
        within = (low <= x) & (x <= high)  # decides where the line runs along these walls
        first = np.maximum(first, np.where(v != 0, a, np.where(within, -np.inf, np.inf)))
        last = np.minimum(last, np.where(v != 0, b, np.where(within, np.inf, -np.inf)))
    return first, last


def stay_inside(oracle, X, steps, share=0.9):
    """Steps from the points X, those shortened that would take them near or through a wall.

    They end at a share of the way to it. Arrays (n, d); X may be one point.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=1, bounds=(0, 1))
    >>> stay_inside(oracle, [[.5], [.5]], np.array([[.2], [3.]])).round(6)
    array([[0.2 ],
           [0.45]])
    """
    if oracle.bounds is None:
        return steps
    last = walls(oracle, np.broadcast_to(X, np.shape(steps)), steps)[1]
    return steps * np.clip(share * last, 0, 1)[:, None]


def lies_between(oracle, X, steps):
    """Does the boundary pass between X + steps, which is positive, and X - steps? Bool array (n,).

    Points next to which the oracle's bounds leave no room say nothing against it: True. Two
    queries a point.
    """
    inside = oracle.inside(X + steps) & oracle.inside(X - steps)
    between = ~inside
    X, steps = X[inside], steps[inside]
    labels = oracle(np.concatenate([X + steps, X - steps]))
    between[inside] = (labels[:len(X)] > 0) & (labels[len(X):] < 0)
    return between


def wall_distance(oracle, X):
    """How far the points X (n, d) are from the nearest wall of the oracle's bounds: array (n,)."""
    if oracle.bounds is None:
        return np.full(len(X), np.inf)
    lower, upper = oracle.bounds
    return np.minimum(X - lower, upper - X).min(1)


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

    No pair is drawn again before all others have been: its bracket would tell nothing new.

    Examples
    --------
    >>> P, N = pn_pairs([[1.], [2.]], [[-1.], [-2.]], 3)
    >>> len({(p, n) for p, n in zip(P.ravel(), N.ravel())})
    3
    """
    rng = np.random.default_rng(random_state)
    positives, negatives = np.asarray(positives, float), np.asarray(negatives, float)
    total = len(positives) * len(negatives)
    pairs = rng.choice(total, min(n, total), replace=False)
    pairs = np.resize(pairs, n) if n > total else pairs
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
