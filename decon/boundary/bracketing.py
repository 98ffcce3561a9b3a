"""Bracketing: points of the decision boundary, found by halving what lies between + and -."""

from collections.abc import Callable

import numpy as np

from ..types import Array, ArrayLike, LabelOracle
from .bounds import bounds_along


def bisect(oracle: Callable[[Array], Array], P: ArrayLike, N: ArrayLike,
           width: float) -> tuple[Array, Array]:
    """Halve every bracket until it is no longer than `width`: one oracle call per step for all.

    Parameters
    ----------
    oracle : callable
        A LabelOracle, or any function of points (n, d) that is positive where the label is +1.
    P, N : arrays (n, d)
        Positive points and negative points: row j of both is the PN-pair j. Their own labels are
        not queried; a bracket with two equal labels shrinks to one of its ends.
    width : float
        The precision epsilon, in the units of the points. Halving also stops when no
        floating-point number lies between the ends.

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
    V = P - N
    active = np.flatnonzero(np.linalg.norm(P - N, axis=1) > width)
    while len(active):
        # midpoints, where there is a number between the ends of a bracket (prop-bracketing-floor)
        M = (P[active] + N[active]) / 2
        between = (M != P[active]).any(1) & (M != N[active]).any(1)
        active, M = active[between], M[between]

        # the label of the midpoint says which half holds the boundary (alg-bracketing-bisection)
        positive = oracle(M) > 0
        P[active[positive]], N[active[~positive]] = M[positive], M[~positive]
        active = active[np.linalg.norm(P[active] - N[active], axis=1) > width]
    keep_crossings(oracle, (P + N) / 2, V, np.linalg.norm(P - N, axis=1))
    return P, N


def bisect_along(oracle: LabelOracle, X: ArrayLike, V: ArrayLike, guess: ArrayLike,
                 step: ArrayLike, width: float, max_distance: ArrayLike) -> Array:
    """Where on the lines X + t V does the boundary cross, near t = guess?

    The label must go from -1 to +1 as t grows, near the crossing. From the guess the search
    walks towards the boundary in doubling steps, then bisects: a guess that is good to `step`
    costs about log2(step / width) + 2 queries.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (n, d)
        Base points and unit directions.
    guess, step, max_distance : floats, or arrays (n,)
        Where to start, the first step of the walk, and how far from the guess to walk before
        giving up.
    width : float
        The precision epsilon, in the units of the points.

    Returns
    -------
    t : array (n,)
        The crossings; NaN where none was met within `max_distance`, or before the bounds.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=1)
    >>> bisect_along(oracle, [[0.]], [[1.]], 0.25, step=0.1, width=1e-9, max_distance=1.).round(6)
    array([0.3])
    """
    X, V = np.asarray(X, float), np.asarray(V, float)
    step, max_distance = (np.broadcast_to(a, len(X)) for a in (step, max_distance))

    def is_positive(j, t):
        points = V[j]
        points *= t[:, None]
        points += X[j]
        if oracle.bounds is not None:  # rounding may lead out of them
            np.clip(points, *oracle.bounds, out=points)
        return oracle(points) > 0

    # start at the guesses, within the bounds; a positive start lies above the crossing
    first, last = bounds_along(oracle, X, V)
    j = np.flatnonzero(first <= last)
    near = np.clip(np.broadcast_to(guess, len(X)).astype(float), first, last)
    start, far, positive = near.copy(), np.full(len(X), np.nan), np.zeros(len(X), bool)
    positive[j] = is_positive(j, near[j])
    towards = np.where(positive, -step, step)

    # walk in doubling steps until the label changes (eq-bracketing-along)
    while len(j):
        t = np.clip(near[j] + towards[j], first[j], last[j])
        met = is_positive(j, t) != positive[j]
        far[j[met]], near[j[~met]] = t[met], t[~met]
        towards[j] *= 2
        j = j[~met & (np.abs(t - start[j]) < max_distance[j]) & (first[j] < t) & (t < last[j])]

    # bisect between the last two points of each walk, in coordinates (t, number of the line)
    lines = np.arange(len(X))
    P, N = (np.c_[np.where(above, near, far), lines] for above in (positive, ~positive))
    P, N = bisect(lambda T: is_positive(T[:, 1].astype(int), T[:, 0]), P, N, width)
    t = (P[:, 0] + N[:, 0]) / 2
    keep_crossings(oracle, X + t[:, None] * V, V, P[:, 0] - N[:, 0])
    return t


def boundary_points(oracle: Callable[[Array], Array], P: ArrayLike, N: ArrayLike,
                    width: float) -> tuple[Array, Array]:
    """Points of the decision boundary, one on every segment between the rows of P and of N.

    Parameters
    ----------
    oracle : callable
        As for `bisect`.
    P, N : arrays (n, d)
        The PN-pairs, as for `bisect`.
    width : float
        The precision epsilon, in the units of the points.

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
    V = np.asarray(P, float) - N
    length = np.linalg.norm(V, axis=1, keepdims=True)
    if (length == 0).any():
        raise ValueError("a point cannot be its own partner: some rows of P and N are equal")
    P, N = bisect(oracle, P, N, width)
    return (P + N) / 2, V / length


def keep_crossings(oracle: Callable[[Array], Array], X: Array, V: Array, widths: Array) -> None:
    """Tell an oracle where its boundary was met, if it wants to know.

    Parameters
    ----------
    oracle : callable
        With a method `met`, as a `SearchView` has it, or without.
    X, V : arrays (n, d)
        Middles of brackets, and directions of their lines; rows with NaN are left out.
    widths : array (n,)
        Lengths of the brackets.

    Examples
    --------
    >>> from decon import Oracle
    >>> from decon.oracles.views import SearchView
    >>> view = SearchView(Oracle(lambda X: X[:, 0] > 0.3, dimension=1), noise=0)
    >>> P, N = bisect(view, [[1.]], [[0.]], width=1e-3)   # calls it
    >>> view.crossings[0].round(3)
    array([[0.3]])
    """
    if hasattr(oracle, "met"):
        length = np.linalg.norm(V, axis=1)
        kept = (length > 0) & np.isfinite(X).all(1) & np.isfinite(widths)
        if kept.any():
            oracle.met(X[kept], V[kept] / length[kept, None], widths[kept])
