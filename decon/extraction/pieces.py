"""Of what pieces a boundary consists: steps along axes, flat faces and their corners, kinks."""

import numpy as np

from ..boundary.bounds import lies_between
from ..boundary.bracketing import bisect_along
from ..boundary.normals import random_tangents
from ..types import Array, LabelOracle
from .settings import SETTINGS


def axes_of_steps(oracle: LabelOracle, X: Array, steps: Array, rng: np.random.Generator,
                  reach: float = 1e4) -> Array:
    """On which feature alone does the label depend at a boundary point? On one, at a tree's.

    About log2(d) + 12 queries per point.

    Parameters
    ----------
    oracle : LabelOracle
    X, steps : arrays (n, d)
        Boundary points, and tiny steps to their positive side.
    rng : numpy.random.Generator
    reach : float
        How many steps other features are moved by, without effect.

    Returns
    -------
    axes : int array (n,)
        -1 where the label depends on several.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: (X[:, 0] > 0) & (X[:, 1] > 0), dimension=3)
    >>> X, steps = np.array([[0., 1., 1.], [1., 0., 1.]]), np.full((2, 3), 1e-9)
    >>> axes_of_steps(oracle, X, steps, np.random.default_rng(0))
    array([0, 1])
    """
    # features from the positive end one after another: with which of them does the label change?
    n, d = X.shape
    low, high, features = np.zeros(n, int), np.full(n, d), np.arange(d)
    while (high - low > 1).any():
        middle = (low + high) // 2
        positive = oracle(np.where(features < middle[:, None], X + steps, X - steps)) > 0
        low, high = np.where(positive, low, middle), np.where(positive, middle, high)

    # with that one alone, too, wherever the others are within many steps
    alone = features == low[:, None]
    passed = np.ones(n, bool)
    for far in (0, 0, reach / 10, reach / 10, reach, reach):
        moved = X + ~alone * far * rng.standard_normal((n, d)) * np.abs(steps).max(1)[:, None]
        other = np.where(alone, 0, rng.choice([-1, 1], (n, 1)) * steps)
        passed &= lies_between(oracle, moved + other, np.where(alone, steps, 0))
    return np.where(passed, low, -1)


def share_on_common_planes(oracle: LabelOracle, X: Array, steps: Array) -> float:
    """Of all pairs of points of flat pieces, the share that lies on one plane.

    It is large where the boundary consists of a few planes. Two queries per pair, or four.

    Parameters
    ----------
    oracle : LabelOracle
    X, steps : arrays (n, d)
        Boundary points, and short steps to their positive side.

    Returns
    -------
    share : float
    """
    # the line to the other point must be tangent at both: a walk much longer than the step aside
    i, j = np.triu_indices(len(X), 1)
    apart = np.linalg.norm(X[j] - X[i], axis=1)
    i, j, apart = i[apart > 0], j[apart > 0], apart[apart > 0]
    U = (X[j] - X[i]) * (1e3 * np.linalg.norm(steps[i], axis=1) / apart)[:, None]
    there = np.flatnonzero(lies_between(oracle, X[i] + U, steps[i]))
    i, j, U = i[there], j[there], U[there]
    return float(lies_between(oracle, X[j] - U, steps[j]).sum() / (len(X) * (len(X) - 1) / 2))


def slopes_at_corners(oracle: LabelOracle, X: Array, V: Array, scale: float, width: float,
                      rng: np.random.Generator) -> Array:
    """How many slopes do flat pieces have around a corner of theirs, in a space of 3 dimensions?

    Where two hyperplanes of kinks cross, as in a network of rectifiers, four pieces meet, each
    with a slope of its own. Where the smallest of several distances passes from one row to another,
    or the largest of several scores, there are three: beyond the corner nothing but the slopes of
    the first piece and of its two neighbours. About 500 queries per point.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (n, d)
        Boundary points inside flat pieces, and the unit directions of their brackets.
    scale, width : floats
        Of the data and of brackets, in the units of the points.
    rng : numpy.random.Generator

    Returns
    -------
    slopes : int array (n,)
        3 or 4; 0 where no corner was found.
    """
    # the piece as a graph over a plane, its slopes over a short step and then over most of it
    piece = _Graph(oracle, X, V, scale, width, rng)
    G = piece.slopes(np.full(len(X), SETTINGS.short_step * scale))
    ways = [piece.way(G, 0, e, 1e-7 * scale, 5) for e in ([1.0, 0.0], [0.0, 1.0])]
    reach = np.fmin(*ways)
    G = piece.slopes(reach / 2, G)

    # one edge, from two of its points; inside of it on to the next one, twice; and the corner
    tiny = 20 * width
    turn = np.where(np.isfinite(ways[0]), 0, np.pi / 2)[:, None] + [0, 0.05]
    starts = [piece.way(G, 0, E, tiny, 30)[:, None] * E
              for E in np.stack([np.cos(turn), np.sin(turn)]).T]
    first, edge = starts[0], _unit(starts[1] - starts[0])
    ends = [Z + piece.way(G, Z, edge, tiny)[:, None] * edge
            for Z in (first * (1 - 1e-3), first * (1 - 3e-2))]
    other, gap = _unit(ends[1] - ends[0]), ends[0] - first
    corner = first + (_cross(gap, other) / _cross(edge, other))[:, None] * edge

    # the slopes behind either edge, which agree with the first along it
    radius, slopes = 1e-2 * reach, [G]
    for along, away in ((-edge, other), (other, -edge)):
        step = along - 0.2 * away
        across = np.c_[-along[:, 1], along[:, 0]]
        rise = piece.rise(G, corner, corner + radius[:, None] * step, radius)
        slopes.append(G + (rise / (radius * (step * across).sum(1)))[:, None] * across)
    kinked = [np.linalg.norm(S - G, axis=1) > SETTINGS.least_kink for S in slopes[1:]]

    # has the boundary one of the three everywhere around the corner?
    explained = np.ones(len(X), bool)
    for angle in np.linspace(0, 2 * np.pi, 24, endpoint=False):
        Z = corner + radius[:, None] * [np.cos(angle), np.sin(angle)]
        explained &= np.any([piece.holds(S, Z, 4e-4 * radius, piece.height(G, corner), corner)
                             for S in slopes], axis=0)
    return np.where(kinked[0] & kinked[1], np.where(explained, 3, 4), 0)


class _Graph:
    """The boundary near X as a graph over a plane of two random tangents, along V."""

    def __init__(self, oracle, X, V, scale, width, rng):
        self.oracle, self.X, self.V, self.scale, self.width = oracle, X, V, scale, width
        self.A, self.B = random_tangents(V, 1.0, rng), random_tangents(V, 1.0, rng)
        self.B = _unit(self.B - (self.A * self.B).sum(1, keepdims=True) * self.A)

    def at(self, Z):
        """The points of the plane, where coordinates (n, 2) are numbers."""
        Z = np.nan_to_num(Z)
        return self.X + Z[:, :1] * self.A + Z[:, 1:] * self.B

    def height(self, G, Z):
        """Of planes of slopes G through X."""
        return (G * Z).sum(1)

    def slopes(self, step, G=None):
        """The slopes (n, 2) over a step for each, near a first guess."""
        guess = np.zeros((len(step), 2)) if G is None else np.nan_to_num(G * step[:, None])
        first = 1e-2 * step if G is None else np.full(len(step), 1e-7 * self.scale)
        return np.stack([bisect_along(self.oracle, self.at(step[:, None] * e), self.V, guess[:, k],
                                      np.nan_to_num(first, nan=1.0), self.width, 10 * step)
                         for k, e in enumerate(np.eye(2))], axis=1) / step[:, None]

    def rise(self, G, corner, Z, radius):
        """The height at Z above the plane of slopes G."""
        guess, step = np.nan_to_num(self.height(G, Z)), np.nan_to_num(radius, nan=1.0) / 4
        return bisect_along(self.oracle, self.at(Z), self.V, guess, step, self.width,
                            100 * step) - self.height(G, Z)

    def holds(self, G, Z, tolerance, height=0.0, origin=0.0):
        """Does the boundary at Z lie on planes of slopes G, of that height at the origin?"""
        H = height + self.height(G, Z - origin)
        step = np.broadcast_to(np.asarray(tolerance, float), len(Z))
        ok = np.isfinite(H) & np.isfinite(step)
        X = self.at(Z) + np.where(ok, H, 0)[:, None] * self.V
        held = lies_between(self.oracle, X[ok], step[ok, None] * self.V[ok])
        return np.isin(np.arange(len(Z)), np.flatnonzero(ok)[held])

    def way(self, G, Z, E, tolerance, halvings=24):
        """How far the plane goes on from Z along E; NaN if not, or farther than the data."""
        low, high = np.zeros(len(self.X)), np.full(len(self.X), 1e-3 * self.scale)
        Z = np.broadcast_to(Z, (len(self.X), 2))
        go = np.ones(len(high), bool)
        while (go := go & (high < 8 * self.scale)
               & self.holds(G, Z + high[:, None] * E, tolerance)).any():
            low, high = np.where(go, high, low), np.where(go, 2 * high, high)
        for _ in range(halvings):
            middle = (low + high) / 2
            on = self.holds(G, Z + middle[:, None] * E, tolerance)
            low, high = np.where(on, middle, low), np.where(on, high, middle)
        return np.where((low == 0) | (high > 4 * self.scale), np.nan, low)


def _unit(Z):
    """Rows of length 1."""
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def _cross(A, B):
    """Cross products of the rows of two arrays (n, 2)."""
    return A[:, 0] * B[:, 1] - A[:, 1] * B[:, 0]


def kink_between(oracle: LabelOracle, apex: Array, ends: Array, positive: bool) -> float | None:
    """Where has the boundary a kink between two rays from one point to two of the other label?

    Met at a share r(t) of the ray to (1 - t) ends[0] + t ends[1], a plane has 1 / r linear in t.
    The largest second difference falls to a quarter with every halving of the step on a smooth
    boundary, and to a half at a kink. About 450 queries.

    Parameters
    ----------
    oracle : LabelOracle
    apex : array (d,)
    ends : array (2, d)
        Of the other label.
    positive : bool
        The label of the apex.

    Returns
    -------
    t : float or None
        None where no kink was met.
    """
    def inverse(t):
        """1 / r(t); NaN where the boundary is not met."""
        U = (1 - t)[:, None] * ends[0] + t[:, None] * ends[1] - apex
        low, high = np.zeros(len(t)), np.ones(len(t))
        met = (oracle(apex + U) > 0) != positive
        for _ in range(SETTINGS.section_halvings):
            middle = (low + high) / 2
            near = (oracle(apex + middle[:, None] * U) > 0) == positive
            low, high = np.where(near, middle, low), np.where(near, high, middle)
        return np.where(met, 2 / (low + high), np.nan)

    # the largest second difference, again and again with half the step around it: as far as it
    # might be a kink, and a spot of strong curvature shows itself at last
    t, bends = np.linspace(0, 1, SETTINGS.section_points), list[float]()
    G = inverse(t)
    noise = 100 * 0.5**SETTINGS.section_halvings * np.nanmax(G, initial=1) ** 2
    while len(bends) <= SETTINGS.kink_halvings:
        second = np.abs(np.diff(G, 2))
        if not np.nanmax(second, initial=0) > noise:
            return None
        i = int(np.nanargmax(second))
        bends.append(second[i])
        if len(bends) > 4 and bends[-1] < SETTINGS.kink_decay**4 * bends[-5]:
            return None  # smooth
        t, G = t[i:i + 3], G[i:i + 3]
        between = (t[1:] + t[:-1]) / 2
        t, G = np.insert(t, [1, 2], between), np.insert(G, [1, 2], inverse(between))
    # a spot that is resolved only now is smooth; a jump leads from one fold to another
    is_smooth = bends[-1] < SETTINGS.kink_decay**3 * bends[-4]
    is_jump = bends[-1] > SETTINGS.jump_decay**4 * bends[-5]
    return None if is_smooth or is_jump else float(t[2])
