"""Tanh units fitted to the accuracy of the brackets: as many as it takes."""

from typing import Any

import numpy as np

from ...boundary.bracketing import bisect_along, boundary_points
from ...boundary.distance import level_set_distance
from ...types import Array, LabelOracle
from ..protocol import Refuted
from .fitting import fit_units, new_units
from .rough import cloud
from .settings import SETTINGS
from .tanh_sum import TanhSum


def fine_units(oracle: LabelOracle, units: TanhSum, error: float, rng: np.random.Generator,
               width: float = SETTINGS.width) -> tuple[TanhSum, Array, float]:
    """Units fitted to the accuracy of the brackets: as many as it takes.

    Zeros of the units found so far predict boundary points of the model, so that a bracket costs
    only the bits that the prediction leaves open. Where the best fit misses the points by more
    than the brackets' width explains, a unit is added.

    Parameters
    ----------
    oracle : LabelOracle
        Of dimension m, as for `rough_units`.
    units : TanhSum
        From `rough_units`: they may be too few.
    error : float
        How far the boundary is from their zeros, in units of their scale.
    rng : numpy.random.Generator
    width : float
        Of the brackets, in units of the scale of the units.

    Returns
    -------
    units : TanhSum
        Each with a bias of its own.
    Z : array (n, m)
        The boundary points that they were fitted to.
    width : float
        Of their brackets, in units of z.

    Raises
    ------
    Refuted
        If no number of units that was tried passes through the points.
    """
    m, scale, smoothings = oracle.dimension, units.scale, SETTINGS.fine_smoothings
    width, Z, fewest = width * scale, np.empty((0, m)), max(len(units.weights), m)
    sure = error < SETTINGS.good_residual
    error, enough = max(2 * error, 1e-6) * scale, SETTINGS.largest_residual * width
    for k in range(fewest, fewest + SETTINGS.more_units + 1):
        unknowns = k * (m + 2)
        for _ in range(SETTINGS.rounds):
            # enough points for k units, near the zeros of the best fit so far (step 3 of
            # alg-tanh-at-infinity-all)
            n = int(SETTINGS.spare_share * (unknowns + 1)) + SETTINGS.spare_points
            if n * unknowns**2 > SETTINGS.largest_fit and not (sure and k == fewest):
                raise Refuted(f"no tanh machine of {fewest} units is near, and {k} that are not "
                              "near are too many to fit")
            if n > len(Z):
                least = unknowns + 1 - len(Z)
                Z = np.r_[Z, _near_points(oracle, units, n - len(Z), least, error, width, rng)]

            # a fit to all points, with more units where that is not enough (step 4)
            better, error = fit_units(units, Z, smoothings=smoothings)
            units = better if error < enough else units
            for _ in range(k - len(units.weights)):
                if error > enough:
                    units, error = _with_new_unit(units, Z, enough, rng)
            if error > enough:
                break

            # does it hold at points that it has not seen (step 5; eq-tanh-at-infinity-sampson)?
            n = SETTINGS.held_out_points
            fresh = _near_points(oracle, units, n, 1, 10 * width, width, rng)
            off = level_set_distance(units(fresh), units.gradient(fresh))
            if np.median(np.abs(off)) < SETTINGS.largest_held_out * width:
                return _without_spare_units(units, Z, enough), Z, width
            Z, error = np.concatenate([Z, fresh]), 1e-6 * scale
    raise Refuted(f"no tanh machine: no sum of up to {k} tanh units passes through the boundary")


def zeros(units: TanhSum, n: int, width: float, rng: np.random.Generator,
          farthest: float = SETTINGS.farthest) -> tuple[Array, Array]:
    """Random zeros of the units, about as far out as they bend, and unit gradients there.

    Parameters
    ----------
    units : TanhSum
    n : int
        As many zeros, or somewhat fewer.
    width : float
        Of the brackets of the zeros, in units of z.
    rng : numpy.random.Generator
    farthest : float
        From the origin, in units of the scale of the units.

    Returns
    -------
    Z, V : arrays (n, m)

    Raises
    ------
    Refuted
        If the units have vectors of length 0 or infinity.
    """
    m, scale = units.vectors.shape[1], units.scale
    with np.errstate(over="ignore"):
        length = np.linalg.norm(units.vectors, axis=1, keepdims=True)
    normals = units.vectors / length
    if not (0 < scale < np.inf and (length > 0).all() and (length < np.inf).all()):
        raise Refuted("no tanh machine: the best fit has vectors of length 0 or infinity")

    # pairs of random points of different signs, and zeros between them (thm-bracketing-crossing)
    radii = scale * np.exp(rng.uniform(np.log(SETTINGS.nearest), np.log(farthest), (2, 4 * n, 1)))
    ends = np.array([radius * cloud(normals, 4 * n, rng) for radius in radii])
    values = units(ends.reshape(-1, m)).reshape(2, -1)
    j = np.flatnonzero(values[0] * values[1] < 0)[:n]
    order = np.argsort(values[:, j], axis=0)[:, :, None]
    N, P = np.take_along_axis(ends[:, j], order, axis=0)
    signs: Any = units  # brackets look at nothing but the signs of answers
    Z, _ = boundary_points(signs, P, N, width)
    V = units.gradient(Z)
    return Z, V / np.linalg.norm(V, axis=1, keepdims=True)


def _near_points(oracle, units, n, least, error, width, rng):
    """About n boundary points, bracketed along the units' gradients from their zeros."""
    X, V = zeros(units, n, 0.1 * error, rng)
    t = bisect_along(oracle, X, V, 0.0, error, width, SETTINGS.farthest * units.scale)
    Z = (X + t[:, None] * V)[np.isfinite(t)]
    if len(Z) < least:
        raise Refuted("no tanh machine: the boundary is not where the best fit says")
    return Z


def _with_new_unit(units, Z, enough, rng):
    """The best fit with one unit more, and its residual."""
    best, cost = (units, np.inf), len(Z) * (len(units.weights) * (Z.shape[1] + 2)) ** 2
    for guess in new_units(units, Z, rng)[:1 + int(SETTINGS.cheap_fit / cost)]:
        fit = fit_units(guess, Z, smoothings=SETTINGS.fine_smoothings)
        best = min(best, fit, key=lambda pair: pair[1])
        if best[1] < enough:
            break
    return best


def _without_spare_units(units, Z, enough):
    """The same fit without units that are not needed: constant ones, or halves of another."""
    swing = np.abs(units.weights) * np.tanh(Z @ units.vectors.T + units.biases).std(0)
    for i in np.argsort(swing) if len(swing) > Z.shape[1] else []:
        rest = [np.delete(a, i, axis=0) for a in (units.vectors, units.biases, units.weights)]
        constant = units.weights[i] * np.tanh(Z @ units.vectors[i] + units.biases[i]).mean()
        fewer, error = fit_units(TanhSum(*rest, units.threshold - constant), Z)
        if error < enough:
            return _without_spare_units(fewer, Z, enough)
    return units
