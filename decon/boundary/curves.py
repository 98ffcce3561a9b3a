"""What the boundary looks like: its curve in a plane, whether it is flat, what lies far away."""

from itertools import combinations

import numpy as np

from ..types import Array, ArrayLike, LabelOracle, RandomState
from .bounds import lies_between, stay_inside
from .bracketing import bisect, bisect_along
from .normals import random_tangents
from .pairs import pn_pairs
from .settings import SETTINGS


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
    P, N = curve_pairs(oracle, x, plane, n, radius, random_state)
    P, N = bisect(oracle, P, N, width)
    return ((P + N) / 2 - x) @ plane


def curve_pairs(oracle: LabelOracle, x: Array, plane: Array, n: int, radius: float,
                random_state: RandomState = 0) -> tuple[Array, Array]:
    """PN-pairs in a plane: points of a disc around a point of it, labelled.

    Parameters
    ----------
    oracle, x, plane, n, radius, random_state
        As for `curve_points`.

    Returns
    -------
    P, N : arrays (n, d)
        Row j of both is the PN-pair j; (0, d) where the disc shows one label only.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: (X**2).sum(axis=1) > 1, dimension=3)
    >>> P, N = curve_pairs(oracle, np.array([1., 0., 0.]), np.eye(3)[:, :2], 5, 1.)
    >>> bool((oracle(P) == 1).all()), bool((oracle(N) == -1).all()), oracle.queries
    (True, True, 20)
    """
    # points spread evenly over the disc, and their labels
    rng = np.random.default_rng(random_state)
    Z = rng.standard_normal((2 * n, 2))
    Z *= radius * np.sqrt(rng.random((2 * n, 1))) / np.linalg.norm(Z, axis=1, keepdims=True)
    X = x + stay_inside(oracle, x, Z @ plane.T)
    labels = oracle(X)
    if abs(int(labels.sum())) == len(labels):
        return np.empty((0, len(x))), np.empty((0, len(x)))
    return pn_pairs(X[labels > 0], X[labels < 0], n, rng)


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
    the bracket's, cancel where it is flat: the first is bracketed, two queries test the second.
    About log2(step / width) queries per point.

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
    flat = ~np.isnan(up)
    down, aside = X - U - up[:, None] * V, 100 * width * V
    flat[flat] = lies_between(oracle, down[flat], aside[flat])
    return flat


def has_broken_line(oracle: LabelOracle, X: Array, V: Array, scale: float, width: float) -> bool:
    """Is the boundary straight between two of its points, but not along their whole line?

    No plane is like that and no quadratic, which holds all of a line if it holds three points of
    it: where it misses the middle of two points by h, it misses a point at the distance t from
    them by about 4 (t / L)^2 h, L the distance of the two. Two queries per pair of points, and
    four more where the boundary passes their middle.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions of their brackets, from - to +.
    scale, width : floats
        How far apart the points are, roughly, and the width of their brackets; in their units.
        Pairs nearer than `pair_apart` scales are left out, and lines followed for `line_followed`
        scales. A middle within `middle_widths` of the boundary counts as on it.

    Returns
    -------
    bool
        False also where no two points have their middle on the boundary.

    Examples
    --------
    >>> from decon import Oracle
    >>> X, V = np.array([[0., 0.], [.5, 0.]]), np.array([[0., 1.], [0., 1.]])
    >>> [has_broken_line(Oracle(model, dimension=2), X, V, scale=1., width=1e-9)
    ...  for model in (lambda X: X[:, 1] > 0, lambda X: X[:, 1] > np.maximum(0, X[:, 0] - 3))]
    [False, True]
    """
    # pairs of points whose middle is on the boundary
    i, j = np.triu_indices(len(X), 1)
    length = np.linalg.norm(X[j] - X[i], axis=1)
    i, j, length = (a[length > SETTINGS.pair_apart * scale] for a in (i, j, length))
    v, far = (V[i] + V[j]) / 2, SETTINGS.line_followed * scale
    straight = lies_between(oracle, (X[i] + X[j]) / 2, SETTINGS.middle_widths * width * v)

    # their lines, to both sides: do labels change across them? Which is which may change where
    # another part of the boundary crosses
    x, length = X[i][straight], length[straight, None]
    u = (X[j] - X[i])[straight] / length
    aside = np.maximum(SETTINGS.aside_followed * far,
                       SETTINGS.aside_widths * width * (far / length) ** 2) * v[straight]
    ends = np.concatenate([x + far * u, x - far * u])
    aside = np.tile(aside, (2, 1))
    return bool((oracle(ends + aside) == oracle(ends - aside)).any())


def holds_triple(Z: Array, tolerance: float) -> bool:
    """Do three of the points lie on a line, well apart from each other?

    Parameters
    ----------
    Z : array (n, 2)
    tolerance : float
        Distance of a point from the line of two others, as a share of the size of the set, that
        is none.

    Returns
    -------
    bool

    Examples
    --------
    >>> holds_triple(np.array([[0., 0.], [1., 1.], [3., 3.], [5., 0.]]), 1e-9)
    True
    """
    # twice the area of every triangle, over its longest side: its least height
    i, j, k = np.array(list(combinations(range(len(Z)), 3)), int).reshape(-1, 3).T
    sides = np.stack([Z[j] - Z[i], Z[k] - Z[j], Z[i] - Z[k]])
    lengths = np.linalg.norm(sides, axis=2)
    area = np.abs(sides[0, :, 0] * sides[1, :, 1] - sides[0, :, 1] * sides[1, :, 0])
    size = np.abs(Z - Z.mean(0)).max()
    apart = lengths.min(0) > 1e-2 * size
    return bool((area < tolerance * size * lengths.max(0))[apart].any())


def has_one_kink(Z: Array, tolerance: float) -> bool:
    """Do the points lie on two rays from one point, which is no more than a size of theirs away?

    Two lines that cross have points on both sides of the crossing, as a rule.

    Parameters
    ----------
    Z : array (n, 2)
    tolerance : float
        Distance from a line, as a share of the size of the set.

    Returns
    -------
    bool
        False where one of the rays has fewer than 5 points.

    Examples
    --------
    >>> t = np.linspace(0, 1, 9)[1:]
    >>> wedge = np.r_[np.c_[t, t], np.c_[-t, t]]
    >>> has_one_kink(wedge, 1e-9), has_one_kink(np.r_[wedge, -wedge], 1e-9)
    (True, False)
    """
    # a line through two points, of those through the first few, that holds most, and the others'
    Z = Z - Z.mean(0)
    size, lines, left = np.abs(Z).max(), [], Z
    for _ in range(2):
        best = np.zeros(len(left), bool)
        for x, y in combinations(left[:6], 2):
            normal = np.array([x[1] - y[1], y[0] - x[0]]) / max(np.linalg.norm(x - y), 1e-300)
            holds = np.abs((left - x) @ normal) < tolerance * size
            if np.linalg.norm(x - y) > 1e-2 * size and holds.sum() > best.sum():
                best, line = holds, (normal, normal @ x)
        if best.sum() < 5:
            return False
        lines.append((*line, left[best]))
        left = left[~best]
    (n, b, X), (m, c, Y) = lines
    if len(left) or abs(n[0] * m[1] - n[1] * m[0]) < tolerance:
        return False

    # all points of either line on one side of the crossing
    crossing = np.linalg.solve([n, m], [b, c])
    sides = [(A - crossing) @ [-k[1], k[0]] for A, k in ((X, n), (Y, m))]
    return bool(np.linalg.norm(crossing) < 2 * size
                and all((side > 0).all() or (side < 0).all() for side in sides))
