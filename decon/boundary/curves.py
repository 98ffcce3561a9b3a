"""What the boundary looks like: its curve in a plane, whether it is flat, what lies far away."""

import numpy as np

from ..types import Array, ArrayLike, LabelOracle, RandomState
from .bounds import stay_inside
from .bracketing import bisect, bisect_along
from .normals import random_tangents
from .pairs import pn_pairs


def curve_points(oracle: LabelOracle, x: Array, plane: Array, n: int, radius: float, width: float,
                 random_state: RandomState = 0) -> Array:
    """Points of the curve in which a plane cuts the boundary, near a point of it (section 3.4).

    Points of a disc around x are labelled and paired, positive with negative; the pairs are
    bracketed.

    Parameters
    ----------
    oracle : LabelOracle
    x : array (d,)
        A point of the boundary.
    plane : array (d, 2)
        Orthonormal; x + plane @ z is a point of the plane.
    n : int
        How many points; 2 n points of the disc are labelled.
    radius, width : floats
        Of the disc, and of the final brackets, in the units of the points.
    random_state : int or numpy.random.Generator

    Returns
    -------
    Z : array (n, 2)
        Coordinates in the plane; (0, 2) where the disc shows one label only.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: (X**2).sum(axis=1) > 1, dimension=3)
    >>> Z = curve_points(oracle, np.array([1., 0., 0.]), np.eye(3)[:, :2], 5, 1., 1e-9)
    >>> ((Z + [1, 0])**2).sum(1).round(6)
    array([1., 1., 1., 1., 1.])
    """
    # points spread evenly over the disc, and their labels
    rng = np.random.default_rng(random_state)
    Z = rng.standard_normal((2 * n, 2))
    Z *= radius * np.sqrt(rng.random((2 * n, 1))) / np.linalg.norm(Z, axis=1, keepdims=True)
    X = x + stay_inside(oracle, x, Z @ plane.T)
    labels = oracle(X)
    if abs(int(labels.sum())) == len(labels):
        return np.empty((0, 2))

    # brackets between PN-pairs of them
    P, N = bisect(oracle, *pn_pairs(X[labels > 0], X[labels < 0], n, rng), width)
    return ((P + N) / 2 - x) @ plane


def has_one_label_far_away(oracle: LabelOracle, radius: float, n: int = 40,
                           random_state: RandomState = 0) -> bool:
    """Do n points in random directions have one and the same label, far from the origin?

    They do for a Gaussian machine with a threshold other than 0: all of its kernel values vanish
    far away.

    Parameters
    ----------
    oracle : LabelOracle
    radius : float
        How far, in the units of the points.
    n : int
        The number of queries.
    random_state : int or numpy.random.Generator

    Returns
    -------
    bool

    Examples
    --------
    >>> from decon import Oracle
    >>> ball = Oracle(lambda X: (X**2).sum(axis=1) < 1, dimension=3, positive=True)
    >>> half_space = Oracle(lambda X: X[:, 0] < 1, dimension=3, positive=True)
    >>> has_one_label_far_away(ball, 1e5), has_one_label_far_away(half_space, 1e5)
    (True, False)
    """
    U = np.random.default_rng(random_state).standard_normal((n, oracle.dimension))
    U *= radius / np.linalg.norm(U, axis=1, keepdims=True)
    return abs(int(oracle(U).sum())) == n


def is_locally_flat(oracle: LabelOracle, X: ArrayLike, V: ArrayLike, step: float, width: float,
                    random_state: RandomState = 0) -> Array:
    """Is the boundary flat around each of its points, as far as a step aside?

    The heights of the boundary at x + step u and x - step u, u a random direction orthogonal to
    the bracket's, cancel where it is flat. About 2 log2(step / width) queries per point.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed.
    step, width : floats
        In the units of the points. The width is that of the brackets; heights that cancel to 100
        widths are flat.
    random_state : int or numpy.random.Generator

    Returns
    -------
    flat : bool array (s,)
        False where the boundary was not met beside the point.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: abs(X).sum(axis=1) > 1, dimension=2)   # a square
    >>> is_locally_flat(oracle, [[.5, .5], [1., 0.]], [[1., 0.], [1., 0.]], 1e-3, 1e-9)
    array([ True, False])
    """
    X, V = np.asarray(X, float), np.asarray(V, float)
    U = random_tangents(V, step, random_state)
    up = bisect_along(oracle, X + U, V, 0.0, step, width, 100 * step)
    down = bisect_along(oracle, X - U, V, np.nan_to_num(-up), 10 * width, width, 100 * step)
    return np.abs(up + down) < 100 * width
