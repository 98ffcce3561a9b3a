"""A first fit of tanh units: directions from far away, lengths and weights from points nearby."""

import numpy as np

from ...boundary.bracketing import bisect
from ...boundary.normals import orthonormal_complement
from ...types import Array, LabelOracle
from ..protocol import Refuted
from .fitting import fit_units
from .settings import SETTINGS
from .tanh_sum import TanhSum


def rough_units(oracle: LabelOracle, normals: Array, weights: Array, threshold: float,
                rng: np.random.Generator, finer: float = 1.0) -> tuple[TanhSum, float]:
    """Units with given directions, to about the accuracy of these: lengths, biases, weights.

    Boundary points are bracketed at radii over three decades, and the fit is started from
    several lengths.

    Parameters
    ----------
    oracle : LabelOracle
        Of dimension m: the model in coordinates of S_Y, in units of its curvature scale.
    normals : array (k, m)
        The directions of the vectors, as `hyperplane_normals` finds them. Where k < m, there may
        be m - k more units, whose vectors are started at random.
    weights, threshold : array (k,) and float
        As `rough_weights` finds them.
    rng : numpy.random.Generator
    finer : float
        Brackets are narrower by this factor, and a good fit is one that is better by it.

    Returns
    -------
    units : TanhSum
    residual : float
        Root mean square distance of the points from their zeros, over their radius.

    Raises
    ------
    Refuted
        If no fit comes near the points.
    """
    (k, m), good = normals.shape, finer * SETTINGS.good_residual
    X, hidden = np.empty((0, m)), max(0, m - k)
    best = no_fit = TanhSum(normals, np.zeros(k), weights, threshold), np.inf

    def better(lengths, biases, more=0):
        """The best fit so far, or the one from these lengths and biases and random units more."""
        A = rng.standard_normal((more, m))
        A *= np.median(lengths) / np.linalg.norm(A, axis=1, keepdims=True)
        A, biases = np.vstack([lengths[:, None] * normals, A]), np.r_[biases, np.zeros(more)]
        w = np.r_[weights, rng.uniform(-1, 1, more) * np.abs(weights).mean()]
        fit = fit_units(TanhSum(A, biases, w, threshold), X, lengths_only=k, steps=30, patience=3,
                        smoothings=SETTINGS.smoothings, importance=1 / np.linalg.norm(X, axis=1))
        return min(best, fit, key=lambda pair: pair[1])

    for _ in range(SETTINGS.rounds):
        # points at all radii (step 2 of alg-tanh-at-infinity-all), from the second round on also
        # for hidden units
        n = SETTINGS.points_per_unit * k + SETTINGS.spare_share * (m + 2) * hidden * (len(X) > 0)
        n = int(np.ceil(n / len(SETTINGS.radii)))
        X = np.vstack([X, *[_points_at(oracle, normals, n, r, rng, finer) for r in SETTINGS.radii]])
        if len(X) <= 3 * k:
            continue

        # fits from several common lengths (what fitted fewer points better was no better)
        best = no_fit
        for length in SETTINGS.start_lengths:
            if best[1] >= good:
                best = better(np.full(k, length), np.zeros(k))

        # from random lengths and biases
        for _ in range(SETTINGS.restarts):
            if good <= best[1] < np.inf:
                lengths = np.exp(0.5 * rng.standard_normal(k)) / best[0].scale
                best = better(lengths, rng.standard_normal(k))

        # with hidden units (prop-tanh-at-infinity-visible), where there are points enough for them
        unknowns = 3 * k + (m + 2) * hidden
        hopeful = len(X) > 1.5 * unknowns and SETTINGS.fair_residual < best[1] < np.inf
        affordable = SETTINGS.hidden_work / (len(X) * unknowns**2)
        restarts = int(np.clip(affordable, *SETTINGS.hidden_restarts))
        for _ in range(restarts if hidden and hopeful else 0):
            if best[1] >= good:
                lengths = rng.choice(SETTINGS.start_lengths) * np.exp(0.5 * rng.standard_normal(k))
                best = better(lengths, np.zeros(k), hidden)
        if best[1] < SETTINGS.fair_residual:
            return best
    if best[1] > SETTINGS.poor_residual:
        raise Refuted("no tanh machine: far away the boundary looks like one, but not nearby")
    return best


def cloud(normals: Array, n: int, rng: np.random.Generator) -> Array:
    """Random points at which units have independent arguments.

    Parameters
    ----------
    normals : array (k, m)
        The directions of the units' vectors.
    n : int
    rng : numpy.random.Generator

    Returns
    -------
    Z : array (n, m)
        If the normals are independent, all normals @ z are standard normal.
    """
    free = orthonormal_complement(normals.T)
    Z = rng.standard_normal((n, len(normals))) @ np.linalg.pinv(normals).T
    return Z + rng.standard_normal((n, free.shape[1])) @ free.T


def _points_at(oracle, normals, n, radius, rng, finer):
    """n boundary points, roughly, at one radius; none where one label is missing."""
    Z = radius * cloud(normals, 2 * n, rng)
    labels = oracle(Z)
    P, N = Z[labels > 0], Z[labels < 0]
    n = n if len(P) and len(N) else 0
    P, N = P[rng.integers(len(P), size=n)], N[rng.integers(len(N), size=n)]
    P, N = bisect(oracle, P, N, finer * SETTINGS.rough_width * radius)
    return (P + N) / 2
