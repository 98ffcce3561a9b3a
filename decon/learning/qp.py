"""The dual of an SVM with any linear term, solved exactly: decomposition, then active sets."""

import numpy as np

from ..types import Array
from .kkt import distances_to_bounds, threshold_bounds, violating_pair
from .settings import SETTINGS


def dual_optimum(Q: Array, t: Array, p: Array, C: float | Array,
                 a: Array | None = None) -> Array:
    """The multipliers that maximise p.a - a.Q a / 2 over 0 <= a_i <= C_i, sum_i a_i t_i = 0.

    Sequential minimal optimisation [Platt 1999; Fan, Chen and Lin 2005] leads near the optimum.
    There it is known which examples are strictly between the bounds, and a linear system does the
    rest: a step to the optimum on the face that they span, or up to the first bound that is met.

    Parameters
    ----------
    Q : array (n, n)
        t_i t_j K(x_i, x_j). If it is indefinite, as a tanh kernel's may be, the result fulfils
        the KKT conditions, but need not be the maximum.
    t : array (n,) of +1 and -1
        Labels.
    p : array (n,)
        The linear term: all ones for an SVM.
    C : float or array (n,), positive
        Upper bound of the multipliers, or that of each.
    a : array (n,), optional
        Where to start; made feasible first.

    Returns
    -------
    a : array (n,)
        Exactly 0 and C_i on the bounds. Those between are as few as can be: no other multipliers of
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

    # near the optimum, then on it; nearer, if the active sets do not find it from there
    for gap in SETTINGS.pairs_gaps:
        a = _pairs(Q, t, p, C, a, gap)
        a, done = _active_sets(Q, t, p, C, a)
        if done:
            break
    return _fewest(Q, t, C, a)


def _feasible(a, t, C):
    """Multipliers within the bounds that sum to zero: the heavier side is scaled down."""
    # the box, and then the balance sum_i a_i t_i = 0
    a = a.clip(0, C)
    lighter = min(a[t > 0].sum(), a[t < 0].sum())
    for side in (t > 0, t < 0):
        if a[side].sum() > lighter:
            a[side] *= lighter / a[side].sum()
    return a


def _each(C, a):
    """The upper bound of each multiplier, if one is given for all."""
    return C if np.ndim(C) else np.full(len(a), C)


# Decomposition: two multipliers at a time

def _pairs(Q, t, p, C, a, gap):
    """Sequential minimal optimisation until the conditions are violated by no more than the gap."""
    a, gradient = a.copy(), Q @ a - p
    for _ in range(min(SETTINGS.pair_steps, SETTINGS.pair_steps_per_example * (len(t) + 5))):
        # the KKT conditions: every lower bound of the threshold is below every upper one
        # (eq-soft-margin-interval)
        lower, upper = threshold_bounds(t * gradient, t, a, C)
        width, i, _ = violating_pair(lower, upper)
        if width <= gap * max(1.0, np.abs(p).max()):
            break

        # i violates most; j is the one that gains most with it [Fan, Chen and Lin 2005]
        gain = np.maximum(lower - upper[i], 0)
        j = int(np.argmax(gain**2 / _curvature(Q, t, i, slice(None))))
        _pair_step(Q, t, C, a, gradient, i, j)
    return a


def _curvature(Q, t, i, j):
    """Of the objective when a_i t_i grows and a_j t_j shrinks alike; positive even for twins."""
    # d.Q d for the direction d_i = t_i, d_j = -t_j
    curvature = Q[i, i] + Q.diagonal()[j] - 2 * t[i] * t[j] * Q[i, j]
    floor = SETTINGS.least_curvature * np.maximum(abs(Q[i, i]), np.abs(Q.diagonal()[j])) + 1e-100
    return np.maximum(curvature, floor)


def _pair_step(Q, t, C, a, gradient, i, j):
    """Move the multipliers i and j, in place, to the optimum along a_i t_i + a_j t_j = const."""
    # a_i t_i grows and a_j t_j shrinks: the optimum of a parabola, or the first bound (step 4 of
    # soft-margin-smo)
    top = _each(C, a)
    slope, curvature = t[j] * gradient[j] - t[i] * gradient[i], _curvature(Q, t, i, j)
    rooms = (top[i] - a[i] if t[i] > 0 else a[i]), (a[j] if t[j] > 0 else top[j] - a[j])
    step = slope / curvature if slope < min(rooms) * curvature else min(rooms)

    # who meets a bound is put exactly there
    for k, side, room in ((i, t[i], rooms[0]), (j, -t[j], rooms[1])):
        moved = (top[k] if side > 0 else 0.0) if step == room else a[k] + side * step
        gradient += (moved - a[k]) * Q[k]
        a[k] = moved


# Active sets: all free multipliers at a time

def _active_sets(Q, t, p, C, a):
    """The optimum on one face after another; and whether the KKT conditions hold up to rounding.

    A face is left at a bound, or at its optimum by the pair that violates the conditions most.
    """
    a = a.copy()
    for _ in range(10 * len(t) + 100):
        a = _balanced(_optimum_of_face(Q, t, p, C, a), t, C)

        # the conditions across the face (eq-soft-margin-interval), up to the rounding of each
        # example's own gradient
        gradient, rounding = Q @ a - p, 5 * _rounding(Q, p, a)
        lower, upper = threshold_bounds(t * gradient, t, a, C)
        width, i, j = violating_pair(lower - rounding, upper + rounding)
        if width <= 0:
            return a, True

        # the next face: the pair (eq-soft-margin-pair) leaves its bounds, unless rounding holds it
        before = a[[i, j]].copy()
        _pair_step(Q, t, C, a, gradient, i, j)
        if (a[[i, j]] == before).all():
            return a, False
    return a, False


def _optimum_of_face(Q, t, p, C, a):
    """Move the free multipliers, in place, to the optimum on their face; some meet a bound."""
    free, rounding = np.flatnonzero((a > 0) & (a < C)), _rounding(Q, p, a)
    while len(free) > 1:
        # the quadratic on the face, in its principal axes
        gradient = (Q @ a - p)[free]
        values, vectors = _directions(Q, t, free)

        # downhill for ever where the face is flat, otherwise Newton's step to its optimum
        slope = vectors.T @ gradient
        flat = values <= SETTINGS.flat_eigenvalue
        steep = flat & (np.abs(slope) > np.abs(vectors).T @ rounding[free])
        if steep.any():
            direction, longest = -vectors[:, steep] @ slope[steep], np.inf
        else:
            direction, longest = -vectors[:, ~flat] @ (slope[~flat] / values[~flat]), 1.0

        # those that meet a bound leave the face
        left = _move(C, a, free, direction, longest)
        if len(left) == len(free):
            break
        free = left
    return a


def _rounding(Q, p, a):
    """Rounding of the gradient, for each example."""
    return SETTINGS.exact_gap * (np.abs(p) + np.abs(Q) @ a)


def _directions(Q, t, free):
    """Eigenvalues and directions of Q among the free, as far as they leave sum_i a_i t_i alone.

    Every multiplier is measured in a unit of its own, in which the diagonal of Q is 1.
    """
    unit = np.sqrt(np.abs(Q.diagonal()[free]))
    unit[unit == 0] = 1.0

    # an orthonormal basis whose first vector is along t: the others leave sum_i a_i t_i alone
    across = np.linalg.qr((t[free] / unit)[:, None], mode="complete")[0][:, 1:]

    # Q in that basis
    within = Q[np.ix_(free, free)] / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(across.T @ within @ across)
    return values, across @ vectors / unit[:, None]


def _move(C, a, free, direction, longest):
    """Move the free along a direction, in place, up to a bound; the free that are left."""
    # as far as the first bound lets them
    top = _each(C, a)[free]
    far = distances_to_bounds(a[free], direction, top)
    length = min(longest, far.min())
    if not np.isfinite(length):
        return free

    # who meets it is put exactly there
    moved = (a[free] + length * direction).clip(0, top)
    hit = far <= length * (1 + 1e-12)
    moved[hit] = np.where(direction[hit] > 0, top[hit], 0.0)
    a[free] = moved
    return free[~hit]


def _balanced(a, t, C):
    """Rounding of sum_i a_i t_i is laid on the free multiplier that is farthest from its bounds."""
    free = np.flatnonzero((a > 0) & (a < C))
    if len(free):
        top = _each(C, a)
        k = free[np.argmax(np.minimum(a, top - a)[free])]
        a[k] = np.clip(a[k] - t[k] * (a @ t), 0, top[k])
    return a


def _fewest(Q, t, C, a):
    """The same function with as few multipliers between the bounds as possible."""
    free = np.flatnonzero((a > 0) & (a < C))
    while len(free) > 1:
        # along the flattest direction, to the first bound
        values, vectors = _directions(Q, t, free)
        flattest = int(np.argmin(np.abs(values)))
        fewer = a.copy()
        left = _move(C, fewer, free, vectors[:, flattest], np.inf)
        if abs(values[flattest]) > SETTINGS.flat_eigenvalue or len(left) == len(free):
            break

        # it may look flat only beside others that are very steep
        rounding = SETTINGS.flat_eigenvalue * (1 + np.abs(Q) @ (fewer + a))
        if (np.abs(Q @ (fewer - a)) > rounding).any():
            break
        a, free = fewer, left
    return _balanced(a, t, C)
