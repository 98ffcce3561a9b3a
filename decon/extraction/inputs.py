"""What stands in front of a model: clipping, rounding to a grid, normalising to unit length."""

import numpy as np

from ..boundary.bounds import lies_between
from ..boundary.bracketing import bisect
from ..types import Array, LabelOracle
from .settings import SETTINGS


def ignores_length(oracle: LabelOracle, origin: Array, X: Array, steps: Array,
                   points: Array) -> bool:
    """Does a label depend on the direction from the origin alone, as behind x / |x|?

    10 queries per boundary point and 5 per other point.

    Parameters
    ----------
    oracle : LabelOracle
    origin : array (d,)
    X, steps : arrays (n, d)
        Boundary points, and short steps to their positive side.
    points : array (k, d)
        Others, which must keep their labels too.

    Returns
    -------
    bool
    """
    factors = np.array([1e-2, 0.3, 1.5, 30, 1e3])[:, None, None]
    signs = [oracle((origin + factors * (Z - origin)).reshape(-1, len(origin))).reshape(5, -1)
             for Z in (X + steps, X - steps, points)]
    unmoved = (signs[0] > 0).all(0) & (signs[1] < 0).all(0)
    return bool(unmoved.mean() >= 0.8 and (signs[2] == signs[2][0]).all())


def ignores_far_values(oracle: LabelOracle, points: Array, centre: Array, spread: Array,
                       rng: np.random.Generator) -> bool | None:
    """Far out along an axis, does the boundary not depend on that feature, but inside it does?

    So it is behind np.clip, and where labels are constant on boxes, as those of a tree are. 120
    queries where it is not so, as a rule.

    Parameters
    ----------
    oracle : LabelOracle
    points : array (n, d)
        Near the boundary on both sides.
    centre, spread : arrays (d,)
        Of the features.
    rng : numpy.random.Generator

    Returns
    -------
    ignored : bool or None
        False where too few sets of features show it, None where it depends on them far out.
    """
    d, seen = oracle.dimension, []
    for size in np.geomspace(1, max(1, d // 2), SETTINGS.far_patterns).round().astype(int)[::-1]:
        # some features far out; where both labels remain, a bracket between two such points
        S = rng.permutation(d)[:size]
        ends = _pushed(oracle, points, S, rng.choice([-1, 1], size), centre, spread, rng)
        if ends is None:
            continue

        # the bracket stays where those features go farther out, but not where they come back
        out, back = np.repeat(ends[:, None], 6, 1), np.repeat(ends[:, None], 6, 1)
        out[:, :, S] += rng.uniform(1, 9, (6, size)) * (ends[0, S] - centre[S])
        back[:, :, S] = points[rng.permutation(len(points))[:6]][:, S]
        there = oracle(np.concatenate([out, back]).reshape(-1, d)).reshape(2, 2, 6)
        if not ((there[0, 0] > 0) & (there[0, 1] < 0)).all():
            return None
        seen.append(not ((there[1, 0] > 0) & (there[1, 1] < 0)).all())
        if sum(seen) == SETTINGS.far_sets:
            break
    return sum(seen) == SETTINGS.far_sets if seen else None


def clip_bounds(oracle: LabelOracle, points: Array, centre: Array, spread: Array,
                rng: np.random.Generator) -> tuple[Array, Array] | None:
    """The bounds of np.clip in front of a model, to a millionth of the spread of each feature.

    About 26 queries per bound. Where half of the features have been looked at, and all of them
    have the same, the others are taken to have it too. A tanh that is saturated does not look at
    far values either, but from where on it does not depends on the other features: some bounds are
    measured twice, with others.

    Parameters
    ----------
    oracle : LabelOracle
    points, centre, spread, rng
        As for `ignores_far_values`.

    Returns
    -------
    lower, upper : arrays (d,)
        NaN where the model does not show it: it may ignore that feature. None instead of both
        where the bounds depend on the other features.
    """
    d, confirmed = oracle.dimension, False
    bounds, tries, size = np.full((2, d), np.nan), np.zeros((2, d), int), max(1, d // 2)
    for _ in range(SETTINGS.clip_rounds):
        # features whose bounds are not known, far out on the side of the bound
        open_ends = np.isnan(bounds) & (tries < 3)
        S = rng.permutation(np.flatnonzero(open_ends.any(0)))[:size]
        if not len(S):
            break
        side = np.where(open_ends[:, S].all(0), rng.integers(2, size=len(S)), open_ends[1, S])
        out = S, 2 * side - 1, centre, spread
        ends = _pushed(oracle, points, *out, rng)
        if ends is None:
            size = max(1, size // 2)
            continue

        # where each comes back so far that the bracket is left
        tries[side, S] += 1
        found = bounds[side, S] = _where_it_matters(oracle, ends, *out)

        # from another bracket, the same?
        if not confirmed and (ends := _pushed(oracle, points, *out, rng)) is not None:
            apart = np.abs(_where_it_matters(oracle, ends, *out) - found)
            both = ~np.isnan(apart)
            confirmed = both.any()
            if confirmed and (apart > 1e-5 * spread[S])[both].mean() > 0.5:
                return None

        # one and the same on all axes?
        for known in bounds:
            found = known[~np.isnan(known)]
            if len(found) >= min(8, d) and np.ptp(found) < 1e-5 * np.median(spread):
                known[:] = np.median(found)
    return bounds[0], bounds[1]


def grid_step(values: Array, tolerance: float) -> float | None:
    """The largest number of which all differences of the values are multiples.

    Parameters
    ----------
    values : array (n,)
    tolerance : float
        How far a difference may be off.

    Returns
    -------
    step : float or None
        None if it is less than 1,000 tolerances, or of fewer than three values: any values have
        one.

    Examples
    --------
    >>> grid_step(np.array([0.15, 0.45, 1.05, 2.55]), 1e-9).__round__(6)
    0.3
    >>> grid_step(np.array([0.15, 0.45, 1.05, 2.5567]), 1e-6)
    """
    # Euclid's algorithm, for the differences that are not 0
    step, gaps = 0.0, np.diff(np.sort(values))
    gaps = gaps[gaps > tolerance]
    for other in gaps:
        while other > tolerance:
            step, other = other, step % other
            other = min(other, abs(other - step))
        if step < 1000 * tolerance:
            return None
    return float(step) if len(gaps) > 1 else None


def crossings_nearby(oracle: LabelOracle, X: Array, axes: Array, scale: float,
                     rng: np.random.Generator) -> Array:
    """How far along an axis the label changes, a little to the side of boundary points.

    Behind a grid, by a few of its steps: the side step grows until some are met. 500 to 2,000
    queries for 10 points.

    Parameters
    ----------
    oracle : LabelOracle
    X : array (n, d)
        Boundary points at which the label depends on one feature alone.
    axes : int array (n,)
        Which.
    scale : float
        Of the data.
    rng : numpy.random.Generator

    Returns
    -------
    gaps : array (k, 2)
        Distances along the axis, and which axis. Empty if the place of a change never depends on
        the other features.
    """
    width, axes = 1e-12 * scale, np.tile(axes, 4)
    for reach in scale * np.geomspace(1e-7, 1e-2, 6):
        # to the side along all other axes, and along the axis as far as the boundary may turn
        along = np.arange(X.shape[1]) == axes[:, None]
        middle = np.tile(X, (4, 1)) + reach * np.where(along, 0, rng.standard_normal(along.shape))
        half = 3 * np.sqrt(X.shape[1]) * reach * along
        signs = oracle(np.concatenate([middle - half, middle + half])).reshape(2, -1)
        turn = (signs[0] != signs[1]).nonzero()[0]
        up = np.where(signs[1, turn] > 0, 1, -1)[:, None] * along[turn]

        # as long as most changes are where they were, no bracket is worth its queries
        same = lies_between(oracle, middle[turn], 100 * width * up)
        turn, up = turn[~same], up[~same]
        if len(turn) >= len(X):
            middle, half = middle[turn], half[turn]
            ends = bisect(oracle, middle + up * half, middle - up * half, width)
            gaps = np.abs(sum(ends) / 2 - np.tile(X, (4, 1))[turn])[along[turn]]
            return np.c_[gaps, axes[turn]]
    return np.empty((0, 2))


def _pushed(oracle, points, S, signs, centre, spread, rng):
    """The ends (2, d) of a bracket between points whose features S are far out; None if none is."""
    some = points[rng.permutation(len(points))[:SETTINGS.far_points]]
    some = centre + rng.choice([1, 3], (len(some), 1)) * (some - centre)
    some[:, S] = centre[S] + SETTINGS.far_spreads * signs * spread[S]
    labels = oracle(some)
    if abs(int(labels.sum())) == len(labels):
        return None
    width = 1e-12 * np.linalg.norm(spread)
    return np.concatenate(bisect(oracle, some[labels > 0][:1], some[labels < 0][:1], width))


def _where_it_matters(oracle, ends, S, signs, centre, spread):
    """Up to where each feature of S can come back, alone, before the bracket is left."""
    rows = np.arange(len(S))

    def left(k, t, which):
        """Has that end of the bracket another label, with the features S[k] at t?"""
        X = ends[which].copy()
        X[np.arange(len(k)), S[k]] = t
        return oracle(X) != np.where(which == 0, 1, -1)

    # far on the other side it is left, at one end or at the other
    inner, outer = centre[S] - 3 * signs * spread[S], centre[S] + 4 * signs * spread[S]
    at_first, at_second = (left(rows, inner, np.full(len(S), end)) for end in (0, 1))
    which, active = np.where(at_first, 0, 1), rows[at_first | at_second]
    found = np.full(len(S), np.nan)
    found[active] = 0

    # outwards until it is not left any more, and halving
    k = active
    while len(k := k[left(k, outer[k], which[k])]):
        inner[k], outer[k] = outer[k], outer[k] + 2 * (outer[k] - centre[S[k]])
        far = np.abs(outer[k] - centre[S[k]]) > SETTINGS.far_spreads * spread[S[k]]
        found[k[far]] = np.nan
        k = k[~far]
    k = active[~np.isnan(found[active])]
    while len(k := k[np.abs(outer[k] - inner[k]) > 1e-6 * spread[S[k]]]):
        middle = (inner[k] + outer[k]) / 2
        change = left(k, middle, which[k])
        inner[k], outer[k] = np.where(change, middle, inner[k]), np.where(change, outer[k], middle)
    return np.where(np.isnan(found), np.nan, (inner + outer) / 2)
