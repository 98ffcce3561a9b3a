"""Which kernel? Curves in planes, labels far away, and whether the boundary is flat or curved."""

from collections import Counter

import numpy as np

from .bracketing import bisect, bisect_along, pn_pairs, stay_inside
from .polynomial import fit_polynomial

NAMES = {1: "linear", 2: "quadratic", 3: "cubic", None: "transcendental"}


def curve_points(oracle, x, plane, n, radius, width, random_state=0):
    """Points of the curve in which a plane cuts the boundary, near a point of it (section 3.4).

    Points of a disc around x are labelled and paired, positive with negative; the pairs are
    bracketed.

    Parameters
    ----------
    oracle : Oracle
    x : array (d,)
        A point of the boundary.
    plane : array (d, 2)
        Orthonormal; x + plane @ z is a point of the plane.
    n : int
    radius, width : floats
        Of the disc, and of the final brackets.
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
    rng = np.random.default_rng(random_state)
    Z = rng.standard_normal((2 * n, 2))
    Z *= radius * np.sqrt(rng.random((2 * n, 1))) / np.linalg.norm(Z, axis=1, keepdims=True)
    X = x + stay_inside(oracle, x, Z @ plane.T)
    labels = oracle(X)
    if abs(int(labels.sum())) == len(labels):
        return np.empty((0, 2))
    P, N = bisect(oracle, *pn_pairs(X[labels > 0], X[labels < 0], n, rng), width)
    return ((P + N) / 2 - x) @ plane


def vote_of_plane(Z, tolerance):
    """The smallest degree, 1 to 3, that fits the curve; None if none does (the paper's test).

    The fitting error is the root mean square residual of the polynomial's equation at the points.

    Parameters
    ----------
    Z : array (n, 2)
        Points of the curve; more than nine of them, as a cubic can be laid through any nine.
    tolerance : float
    """
    for degree in (1, 2, 3):
        if fit_polynomial(Z, degree)[1][1] <= tolerance * np.sqrt(len(Z)):
            return degree
    return None


def votes_on_kernel_type(oracle, X, n=20, radius=1.0, tolerance=1e-6, width=1e-6, random_state=0):
    """The paper's test: every boundary point looks at one plane, and votes (section 4.1).

    A plane holds the point, a second direction and, as in the paper, the origin.

    Parameters
    ----------
    oracle : Oracle
    X : array (s, d)
        Points of the boundary; the paper takes 25 of them, 200 for its MNIST machine.
    n : int
        Points of every curve.
    radius, width : floats
        How far from the point to look, and the width of the brackets.
    tolerance : float
        The largest fitting error of the right degree.
    random_state : int or numpy.random.Generator

    Returns
    -------
    votes : collections.Counter
        How many planes voted 'linear', 'quadratic', 'cubic', 'transcendental'; planes that show
        one label only do not vote.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> from decon.bracketing import boundary_points, pn_pairs
    >>> box = KernelMachine.random(Polynomial(degree=2), dimension=6, n_support=4)
    >>> oracle = Oracle(box.predict, dimension=6)
    >>> points = np.random.default_rng(0).standard_normal((50, 6))
    >>> labels = oracle(points)
    >>> P, N = pn_pairs(points[labels > 0], points[labels < 0], 25)
    >>> X, _ = boundary_points(oracle, P, N, 1e-6)
    >>> votes_on_kernel_type(oracle, X).most_common(1)[0][0]
    'quadratic'
    """
    rng = np.random.default_rng(random_state)
    votes = Counter()
    for x in np.asarray(X, float):
        plane = np.linalg.qr(np.c_[x, rng.standard_normal(len(x))])[0]
        Z = curve_points(oracle, x, plane, n, radius, width, rng)
        if len(Z):
            votes[NAMES[vote_of_plane(Z, tolerance)]] += 1
    return votes


def same_label_far_away(oracle, radius, n=40, random_state=0):
    """Do n points in random directions, `radius` from the origin, have one and the same label?

    So it is with a Gaussian machine, all of whose kernel values vanish there.
    """
    U = np.random.default_rng(random_state).standard_normal((n, oracle.dimension))
    U *= radius / np.linalg.norm(U, axis=1, keepdims=True)
    return abs(int(oracle(U).sum())) == n


def goes_straight_on(oracle, X, V, step, width, random_state=0):
    """Is the boundary flat at every point, as far as a step aside? Bool array (s,).

    The heights of the boundary at x + step u and x - step u, u a random direction orthogonal to
    the bracket's, cancel where it is flat. About 2 log2(step / width) queries a point.

    Parameters
    ----------
    oracle : Oracle
    X, V : arrays (s, d)
        Boundary points, and the directions along which they were bracketed.
    step, width : floats
        The width is that of the brackets; heights that cancel to 100 widths are flat.
    random_state : int or numpy.random.Generator

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: abs(X).sum(axis=1) > 1, dimension=2)   # a square
    >>> goes_straight_on(oracle, [[.5, .5], [1., 0.]], [[1., 0.], [1., 0.]], 1e-3, 1e-9)
    array([ True, False])
    """
    rng = np.random.default_rng(random_state)
    X, V = np.asarray(X, float), np.asarray(V, float)
    U = rng.standard_normal(X.shape)
    U -= (U * V).sum(1, keepdims=True) * V
    U *= step / np.linalg.norm(U, axis=1, keepdims=True)
    up = bisect_along(oracle, X + U, V, 0.0, step, width, 100 * step)
    down = bisect_along(oracle, X - U, V, np.nan_to_num(-up), 10 * width, width, 100 * step)
    return np.abs(up + down) < 100 * width
