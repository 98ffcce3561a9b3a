"""Tanh units seen from infinity: their directions, and roughly their weights, from far labels."""

import numpy as np
from scipy.optimize import linprog

from ...boundary.bounds import lies_between
from ...boundary.bracketing import bisect
from ...boundary.normals import orthonormal_complement, slope_normals
from ...boundary.pairs import pn_pairs
from ...types import Array, LabelOracle
from ..protocol import Refuted
from .settings import SETTINGS


def hyperplane_normals(oracle: LabelOracle, rng: np.random.Generator,
                       width: float = SETTINGS.normal_width) -> tuple[Array, Array, Array]:
    """The directions a_i/|a_i| of the units, as normals of the boundary at infinity.

    Far from the origin every tanh is -1 or +1, and the boundary consists of pieces of the
    hyperplanes a_i.z = const. Segments are laid along which no unit already known changes its
    sign: a label that changes is the work of a new one. The signs of the known ones are random
    and, where that is not enough, half of them such that the model is near its threshold by
    `rough_weights`, where a small weight decides.

    Parameters
    ----------
    oracle : LabelOracle
        Of dimension m: the model in coordinates of S_Y, in units of its curvature scale.
    rng : numpy.random.Generator
    width : float
        Of the brackets for normals.

    Returns
    -------
    normals : array (k, m)
        Unit vectors; the label rises along them. k <= m, and they are linearly independent.
    Z, labels : arrays (n, m) and (n,)
        Far points with labels.

    Raises
    ------
    Refuted
        If there are none.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda Z: np.tanh(Z) @ [1., 0.8] > 0.3, dimension=2)
    >>> normals, Z, labels = hyperplane_normals(oracle, np.random.default_rng(0))
    >>> np.sort(normals, axis=0).round(3) + 0.
    array([[0., 0.],
           [1., 1.]])
    """
    m = oracle.dimension
    normals, Z, labels, idle = np.empty((0, m)), np.empty((0, m)), np.empty(0, np.int8), 0
    while len(normals) < m and idle < SETTINGS.idle_batches:
        # labels at both ends of segments along which no known unit changes its sign
        ends = _segments(normals, Z, labels, idle > 0, rng)
        answers = oracle(ends.reshape(-1, m)).reshape(2, -1)
        Z, labels = np.concatenate([Z, *ends]), np.concatenate([labels, *answers])

        # a label that changes is the work of a new one (eq-tanh-at-infinity-pivotal)
        known, changed = len(normals), answers[0] != answers[1]
        order = np.argsort(answers, axis=0)[:, :, None]
        N, P = np.take_along_axis(ends, order, axis=0)[:, changed]
        normals = _with_normal(normals, oracle, P, N, rng, width)
        idle = idle + 1 if len(normals) == known else 0
    if not len(normals):
        raise Refuted("no tanh machine: far away the boundary shows no hyperplanes through 0")
    return normals, Z, labels


def further_normals(oracle: LabelOracle, normals: Array, Z: Array, labels: Array,
                    rng: np.random.Generator, width: float = SETTINGS.normal_width) -> Array:
    """The normals, and those of hyperplanes at infinity that they do not explain.

    Of linearly dependent vectors `hyperplane_normals` finds no more than span S_Y. The boundary is
    met on random segments between far points; where it is met on no known hyperplane, it shows
    another. If that is so nearly everywhere, what was found are tangents of something curved.

    Parameters
    ----------
    oracle : LabelOracle
        Of dimension m, as for `hyperplane_normals`.
    normals, Z, labels : arrays (k, m), (n, m) and (n,)
        As `hyperplane_normals` returns them.
    rng : numpy.random.Generator
    width : float
        As for `hyperplane_normals`.

    Returns
    -------
    normals : array (at least k, m)

    Raises
    ------
    Refuted
        If the known ones explain too little, or if there is no end of others.
    """
    idle, most, unexplained = 0, 2 * normals.shape[1], []
    while idle < SETTINGS.idle_batches / 5:
        # boundary points on random segments: which of them lie on no known hyperplane
        # (eq-tanh-at-infinity-offset)?
        pairs = pn_pairs(Z[labels > 0], Z[labels < 0], SETTINGS.segments, rng)
        P, N = bisect(oracle, *pairs, width)
        X = (P + N) / 2
        new = np.abs(X @ normals.T).min(1) >= SETTINGS.plane_sine * np.linalg.norm(X, axis=1)

        # in the first batches not too many: those would be points of something curved
        unexplained.append(new.mean())
        too_many = np.mean(unexplained) > SETTINGS.unexplained_share
        if len(unexplained) == SETTINGS.first_batches and too_many:
            raise Refuted("no tanh machine: far away most boundary points lie on no hyperplane of "
                          "a unit")

        # the first of them shows another hyperplane
        known, normals = len(normals), _with_normal(normals, oracle, P[new], N[new], rng, width)
        idle = idle + 1 if len(normals) == known else 0
        if len(normals) > most:
            raise Refuted(f"no tanh machine: far away the boundary has over {most} hyperplanes")
    return normals


def rough_weights(normals: Array, Z: Array, labels: Array) -> tuple[Array, float]:
    """Weights and threshold from labels far away: sum_i w_i sign(n_i.z) > b, by linear programming.

    Of all that put the far points on the right side with a margin of 1, those with the smallest
    sum |w_i| + |b|; margins that are missed cost a hundred times as much.

    Parameters
    ----------
    normals : array (k, m)
        Directions of the units.
    Z, labels : arrays (n, m) and (n,)
        Far points with labels.

    Returns
    -------
    weights, threshold : array (k,) and float
        Of norm 1 together.

    Raises
    ------
    Refuted
        If the solver finds no solution.

    Examples
    --------
    >>> Z = np.array([[1., 1.], [1., -1.], [-1., 1.], [-1., -1.]])
    >>> w, b = rough_weights(np.eye(2), Z, np.array([1, 1, -1, -1]))
    >>> w.round(3) + 0., round(b, 3) + 0.
    (array([1., 0.]), 0.0)
    """
    # every combination of signs with its label is one inequality (eq-tanh-at-infinity-vote)
    rows = np.unique(np.c_[np.sign(Z @ normals.T), labels], axis=0)
    n, k = len(rows), len(normals)
    sides = rows[:, -1:] * np.c_[rows[:, :-1], -np.ones(n)]

    # unknown are the positive and negative parts of (w, b), and the missing margins
    result = linprog(np.r_[np.ones(2 * k + 2), np.full(n, 100.0)],
                     A_ub=np.hstack([-sides, sides, -np.eye(n)]), b_ub=-np.ones(n))
    if result.x is None:
        raise Refuted(f"no tanh machine: no weights explain the far labels ({result.message})")
    v = result.x[:k + 1] - result.x[k + 1:2 * k + 2]
    v /= np.linalg.norm(v) or 1
    return v[:k], float(v[k])


def _segments(normals, Z, labels, balanced, rng):
    """Both ends, array (2, n, m), of segments along which the units with these normals keep signs.

    Where `balanced`, the model is near its threshold at half of them, by rough weights.
    """
    n, (k, m), free = SETTINGS.segments, normals.shape, orthonormal_complement(normals.T)

    # centres near which few or many unknown units change their signs
    centres = rng.standard_normal((n, m - k)) @ free.T / np.sqrt(m - k)
    centres *= np.geomspace(0.3, 3, n)[:, None]

    # moved to where the known units have random signs, or a close vote (eq-tanh-at-infinity-vote)
    signs = rng.choice([-1, 1], (n, k))
    if balanced and k > 1:
        recent = slice(-SETTINGS.recent_labels, None)
        weights, threshold = rough_weights(normals, Z[recent], labels[recent])
        patterns = rng.choice([-1, 1], (SETTINGS.sign_patterns, k))
        closest = np.argsort(np.abs(patterns @ weights - threshold))[:4 * n]
        signs[::2] = patterns[rng.permutation(closest)[:n:2]]
    centres += (signs * rng.uniform(0.05, 0.15, signs.shape)) @ np.linalg.pinv(normals).T

    # steps orthogonal to all known normals (step 1 of alg-tanh-at-infinity-directions)
    steps = rng.standard_normal((n, m - k)) @ free.T
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return SETTINGS.far_distance * np.array([centres + steps, centres - steps])


def _with_normal(normals, oracle, P, N, rng, width):
    """The normals and, if it is one, that of the plane through 0 between the first of P and N."""
    if not len(P):
        return normals

    # the normal, from slopes (alg-normals-slopes); does the plane pass by the origin?
    V = (P[:1] - N[:1]) / np.linalg.norm(P[0] - N[0])
    P, N = bisect(oracle, P[:1], N[:1], width)
    x = (P + N) / 2
    normal = slope_normals(oracle, x, V, SETTINGS.normal_step, width)[0]
    if not abs(x[0] @ normal) < SETTINGS.plane_sine * np.linalg.norm(x):
        return normals

    # does the boundary continue straight along it? (step 3 of alg-tanh-at-infinity-directions)
    aside = rng.standard_normal((SETTINGS.plane_points, len(normal)))
    aside -= (aside @ normal)[:, None] * normal
    aside *= SETTINGS.plane_step / np.linalg.norm(aside, axis=1, keepdims=True)
    steps = np.tile(SETTINGS.plane_miss * normal, (len(aside), 1))
    straight = lies_between(oracle, x + aside, steps).all()
    return np.vstack([normals, normal]) if straight else normals
