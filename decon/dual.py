"""The dual of an SVM with any linear term, solved exactly: decomposition, then active sets."""

import numpy as np

ROUGH = 1e-3  # gap of the KKT conditions at which active sets take over from pairs
EXACT = 1e-12  # and at which they are done, relative to the terms of the gradient
SINGULAR = 1e-11  # relative size below which an eigenvalue counts as zero
PAIRS = 20_000, 200  # most steps of pairs in a row: in all, and for each example
TINY = 1e-12  # smallest curvature along a pair, relative to the diagonal


def dual_optimum(Q, t, p, C, a=None):
    """The multipliers that maximise p.a - a.Q a / 2 over 0 <= a <= C, sum_i a_i t_i = 0.

    Sequential minimal optimisation [Platt 1999; Fan, Chen and Lin 2005] leads near the optimum.
    There the examples strictly between the bounds are told, and a linear system does the rest: a
    step to the optimum on the face that they span, or up to the first bound that is met.

    Parameters
    ----------
    Q : array (n, n)
        t_i t_j K(x_i, x_j). If it is indefinite, as a tanh kernel's may be, the result fulfils
        the KKT conditions, but need not be the maximum.
    t : array (n,) of +1 and -1
    p : array (n,)
        All ones for an SVM.
    C : float, positive
    a : array (n,), optional
        Where to start; made feasible first.

    Returns
    -------
    a : array (n,)
        Exactly 0 and C on the bounds. Those between are as few as can be: no other multipliers of
        the same value have fewer of the same examples between the bounds.

    Examples
    --------
    >>> X, t = np.array([0., 2., 3.]), np.array([-1., 1., 1.])
    >>> dual_optimum(np.outer(t * X, t * X), t, np.ones(3), 10.).round(9)
    array([0.5, 0.5, 0. ])
    """
    a = _feasible(np.zeros(len(t)) if a is None else np.asarray(a, float), t, C)
    if len(t) == 0:
        return a
    rough = ROUGH
    for _ in range(4):
        a = _pairs(Q, t, p, C, a, rough)
        a, done = _active_sets(Q, t, p, C, a)
        if done:
            break
        rough /= 100
    return _fewest(Q, t, C, a)


def gap(t, C, a, gradient, slack=0.0):
    """How far are the KKT conditions violated, and by which pair? (gap, i, j).

    With the gradient Q a - p, the threshold must lie above all t_j g_j of multipliers that may
    shrink along with t, and below those of multipliers that may grow; up to a slack, for each.
    """
    value = -t * gradient
    grows = np.where(t > 0, a < C, a > 0)
    shrinks = np.where(t > 0, a > 0, a < C)
    if not grows.any() or not shrinks.any():
        return 0.0, 0, 0
    upper, lower = np.where(grows, value - slack, -np.inf), np.where(shrinks, value + slack, np.inf)
    i, j = int(np.argmax(upper)), int(np.argmin(lower))
    return float(upper[i] - lower[j]), i, j


def _feasible(a, t, C):
    """Multipliers within the bounds that sum to zero: the heavier side is scaled down."""
    a = a.clip(0, C)
    plus, minus = a[t > 0].sum(), a[t < 0].sum()
    if plus != minus:
        heavy = t > 0 if plus > minus else t < 0
        a[heavy] *= min(plus, minus) / max(plus, minus)
    return a


def _rounding(Q, p, a):
    """Rounding of the gradient, for each example."""
    return EXACT * (np.abs(p) + np.abs(Q) @ a)


def _pair_step(Q, t, C, a, gradient, i, j):
    """Move the multipliers i and j, in place, to the optimum along a t = const."""
    curvature = Q[i, i] + Q[j, j] - 2 * t[i] * t[j] * Q[i, j]
    curvature = max(curvature, TINY * max(abs(Q[i, i]), abs(Q[j, j])), 1e-100)
    slope = t[j] * gradient[j] - t[i] * gradient[i]
    rooms = (C - a[i] if t[i] > 0 else a[i]), (a[j] if t[j] > 0 else C - a[j])
    step = slope / curvature if slope < min(rooms) * curvature else min(rooms)
    for k, side, room in ((i, t[i], rooms[0]), (j, -t[j], rooms[1])):
        moved = (C if side > 0 else 0.0) if step == room else a[k] + side * step
        gradient += (moved - a[k]) * Q[k]
        a[k] = moved


def _pairs(Q, t, p, C, a, rough):
    """Sequential minimal optimisation until the gap is rough."""
    a, gradient, diagonal = a.copy(), Q @ a - p, Q.diagonal()
    floor = max(TINY * np.abs(diagonal).max(), 1e-100)
    for _ in range(min(PAIRS[0], PAIRS[1] * (len(t) + 5))):
        width, i, j = gap(t, C, a, gradient)
        if width <= rough * max(1.0, np.abs(p).max()):
            break
        value = -t * gradient
        gain = value[i] - value
        curvature = np.maximum(diagonal[i] + diagonal - 2 * t[i] * t * Q[i], floor)
        shrinks = np.where(t > 0, a > 0, a < C) & (gain > 0)
        j = int(np.argmax(np.where(shrinks, gain**2 / curvature, -1)))
        _pair_step(Q, t, C, a, gradient, i, j)
    return a


def _directions(Q, t, free):
    """Eigenvalues and directions of Q among the free, as far as they leave sum_i a_i t_i alone.

    Every multiplier is measured in a unit of its own, in which the diagonal of Q is 1.
    """
    unit = np.sqrt(np.abs(Q.diagonal()[free]))
    unit[unit == 0] = 1.0
    u = t[free] / unit
    u /= np.linalg.norm(u)
    u[0] += np.sign(u[0])
    across = (np.eye(len(free)) - np.outer(u, u) * 2 / (u @ u))[:, 1:]  # Householder's reflection
    within = Q[np.ix_(free, free)] / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(across.T @ within @ across)
    return values, across @ vectors / unit[:, None]


def _step(C, a, free, direction, longest):
    """Move the free along a direction, in place; the free that are left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0, (C - a[free]) / direction, a[free] / -direction)
    room = np.where(direction == 0, np.inf, room)
    length = min(longest, room.min())
    if not np.isfinite(length):
        return free
    moved = (a[free] + length * direction).clip(0, C)
    hit = room <= length * (1 + 1e-12)
    moved[hit] = np.where(direction[hit] > 0, C, 0.0)
    a[free] = moved
    return free[~hit]


def _active_sets(Q, t, p, C, a):
    """The optimum on one face after another; and whether the KKT conditions hold up to rounding.

    A face is left at a bound, or at its optimum by the pair that violates the conditions most.
    """
    a = a.copy()
    for _ in range(10 * len(t) + 100):
        free = np.flatnonzero((a > 0) & (a < C))
        rounding = _rounding(Q, p, a)
        while len(free) > 1:
            gradient = (Q @ a - p)[free]
            values, vectors = _directions(Q, t, free)
            slope = vectors.T @ gradient
            flat = values <= SINGULAR
            steep = flat & (np.abs(slope) > np.abs(vectors).T @ rounding[free])
            if steep.any():
                direction, longest = -vectors[:, steep] @ slope[steep], np.inf
            else:
                direction = -vectors[:, ~flat] @ (slope[~flat] / values[~flat])
                longest = 1.0
            left = _step(C, a, free, direction, longest)
            if len(left) == len(free):
                break
            free = left
        a = _balanced(a, t, C)
        gradient = Q @ a - p
        width, i, j = gap(t, C, a, gradient, 5 * _rounding(Q, p, a))
        if width <= 0:
            return a, True
        before = a[[i, j]].copy()
        _pair_step(Q, t, C, a, gradient, i, j)
        if (a[[i, j]] == before).all():
            return a, False
    return a, False


def _balanced(a, t, C):
    """Rounding of sum_i a_i t_i is laid on the free multiplier that is farthest from its bounds."""
    free = np.flatnonzero((a > 0) & (a < C))
    if len(free):
        k = free[np.argmax(np.minimum(a[free], C - a[free]))]
        a[k] = np.clip(a[k] - t[k] * (a @ t), 0, C)
    return a


def _fewest(Q, t, C, a):
    """The same function with as few multipliers between the bounds as possible."""
    free = np.flatnonzero((a > 0) & (a < C))
    while len(free) > 1:
        values, vectors = _directions(Q, t, free)
        flattest = int(np.argmin(np.abs(values)))
        fewer = a.copy()
        left = _step(C, fewer, free, vectors[:, flattest], np.inf)
        if abs(values[flattest]) > SINGULAR or len(left) == len(free):
            break
        if (np.abs(Q @ (fewer - a)) > SINGULAR * (1 + np.abs(Q) @ (fewer + a))).any():
            break  # it looks flat only beside others that are very steep
        a, free = fewer, left
    return _balanced(a, t, C)
