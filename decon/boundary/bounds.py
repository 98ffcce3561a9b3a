"""The bounds that no query may leave: how far there is room, and steps that keep inside."""

import numpy as np

from ..types import Array, ArrayLike, LabelOracle
from .settings import SETTINGS


def bounds_along(oracle: LabelOracle, X: ArrayLike, V: ArrayLike) -> tuple[Array, Array]:
    """The range of t in which the lines X + t V stay within the oracle's bounds (slab method).

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (n, d)
        Base points and directions of the lines.

    Returns
    -------
    first, last : arrays (n,)
        Minus and plus infinity without bounds; first > last for a line that misses the bounds.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=2, bounds=(0, 1))
    >>> bounds_along(oracle, [[.5, .5]], [[.1, .2]])
    (array([-2.5]), array([2.5]))
    """
    X, V = np.asarray(X, float), np.asarray(V, float)
    if oracle.bounds is None:
        return np.full(len(X), -np.inf), np.full(len(X), np.inf)
    lower, upper = oracle.bounds

    # where each line enters and leaves the interval of each feature
    with np.errstate(divide="ignore", invalid="ignore"):
        to_lower, to_upper = (lower - X) / V, (upper - X) / V
    enters, leaves = np.minimum(to_lower, to_upper), np.maximum(to_lower, to_upper)

    # in a feature that is constant along the line, it is inside for all t or for none
    inside = (lower <= X) & (X <= upper)
    enters = np.where(V == 0, np.where(inside, -np.inf, np.inf), enters)
    leaves = np.where(V == 0, np.where(inside, np.inf, -np.inf), leaves)
    return enters.max(1), leaves.min(1)


def stay_inside(oracle: LabelOracle, X: ArrayLike, steps: Array, share: float = 0.9) -> Array:
    """Steps from the points X, those shortened that would end near or beyond the bounds.

    Parameters
    ----------
    oracle : LabelOracle
    X : array (n, d) or (d,)
        Points within the bounds, or one point.
    steps : array (n, d)
    share : float in (0, 1)
        A step that is too long is shortened to this share of the way to the bounds.

    Returns
    -------
    steps : array (n, d)

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
    _, last = bounds_along(oracle, np.broadcast_to(X, np.shape(steps)), steps)
    return steps * np.clip(share * last, 0, 1)[:, None]


def pairs_inside(oracle: LabelOracle, P: Array, N: Array) -> tuple[Array, Array]:
    """PN-pairs drawn a little towards the centre of the bounds, where both keep their labels.

    Boundary points between features that lie on a bound lie on it too, and leave no room for steps.
    Two queries per pair within bounds, none without.

    Parameters
    ----------
    oracle : LabelOracle
    P, N : arrays (n, d)
        Positive and negative points: row j of both is the PN-pair j.

    Returns
    -------
    P, N : arrays (n, d)
        A pair that does not keep its labels is left where it is.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=2, bounds=(0, 1))
    >>> P, N = np.array([[1., 0.], [.31, 0.]]), np.array([[0., 0.], [.29, 0.]])
    >>> P, N = pairs_inside(oracle, P, N)
    >>> P.round(3).tolist(), N.round(3).tolist(), oracle.queries
    ([[0.95, 0.05], [0.31, 0.0]], [[0.05, 0.05], [0.29, 0.0]], 4)
    """
    if oracle.bounds is None:
        return P, N
    centre, share = np.mean(oracle.bounds, axis=0), SETTINGS.drawn_inside
    ends = [X + share * (centre - X) for X in (P, N)]

    # the labels there
    above, below = np.split(oracle(np.concatenate(ends)), 2)
    kept = ((above > 0) & (below < 0))[:, None]
    return np.where(kept, ends[0], P), np.where(kept, ends[1], N)


def lies_between(oracle: LabelOracle, X: Array, steps: Array) -> Array:
    """Does the boundary pass between X + steps, which must be positive, and X - steps?

    Two queries per point.

    Parameters
    ----------
    oracle : LabelOracle
    X, steps : arrays (n, d)

    Returns
    -------
    between : bool array (n,)
        True also where the bounds leave no room for the two queries: nothing speaks against it.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=1)
    >>> lies_between(oracle, np.array([[.3], [.4]]), np.array([[.01], [.01]]))
    array([ True, False])
    """
    P, N = X + steps, X - steps
    inside = oracle.inside(P) & oracle.inside(N)
    between = ~inside
    above, below = np.split(oracle(np.concatenate([P[inside], N[inside]])), 2)
    between[inside] = (above > 0) & (below < 0)
    return between


def distance_to_bounds(oracle: LabelOracle, X: Array) -> Array:
    """The distance of points from the nearest bound: infinity without bounds, negative outside.

    Parameters
    ----------
    oracle : LabelOracle
    X : array (n, d)

    Returns
    -------
    distances : array (n,)

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0.3, dimension=2, bounds=(0, 1))
    >>> distance_to_bounds(oracle, np.array([[.5, .2]]))
    array([0.2])
    """
    lower, upper = oracle.bounds or (-np.inf, np.inf)
    return np.minimum(X - lower, upper - X).min(1)
