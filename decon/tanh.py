"""Tanh machines: directions read at infinity, everything else fitted nearby."""

from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from .bracketing import bisect, bisect_along, boundary_points, lies_between
from .kernels import Tanh
from .machine import KernelMachine
from .normals import orthonormal_complement
from .oracle import Oracle
from .units import Units, fit_units, new_units, sampson

RADII = np.geomspace(3e-3, 3.0, 8)  # where the bends of the boundary are looked for at first
START = 6  # points a unit for the first fit
RESTARTS, HIDDEN = 8, 40  # of that fit, with other lengths, or with more units, until it is
GOOD, FAIR = 1e-4, 1e-2  # so good; more points are asked for where it is worse than fair
POOR = 0.2  # and worse than this is no fit
LENGTHS = 4.0 ** np.array([2, 1, 3, 0, 4, -1, 5, 6])  # starts for the common length of all vectors
SOFTER = (1.0, 0.3, 0.1, 0.03, 0.0)  # smoothings
NEAR, WIDE = 0.3, 10.0  # the final points lie so far from the origin, in units of 1/length
SPARE, SPARE_POINTS = 1.2, 10  # final points a parameter, and a few more
FRESH, ROUNDS = 20, 3  # points that are held out; how often more are taken where they miss
REFIT = 0.3, 0.03, 0.0  # smoothings
WIDTH = 1e-12  # of the final brackets, in units of 1/length
FLOOR, HELD_OUT = 3.0, 30.0  # largest residuals, in brackets' widths, that the width explains
LONG, MISS = 1e3, 3e-8  # a step out of S_Y, in units of 1/length; and a miss, in units of the step
SAME_BIAS = 1e-3  # biases that differ by more need no fit to be told apart
AFFORD = 1e9  # products of numbers in a step of a fit; one that costs more is tried once,
AFFORDABLE = 5e9  # or, with more units than are needed, not at all
EXTRA = 3  # units more than dimensions and normals that are tried


def rough_units(oracle, normals, weights, threshold, rng):
    """Units with given directions, to about the accuracy of these: lengths, biases, weights.

    Boundary points are bracketed at radii over three decades, and the fit is started from
    several lengths.

    Returns
    -------
    units : Units
    residual : float
        Root mean square distance of the points from their zeros, over their radius.
    """
    k, m = normals.shape
    hidden = max(0, m - k)
    X, best = np.empty((0, m)), (None, np.inf)

    def fit(lengths, biases, more=0):
        """The fit from given lengths and biases, and so many random units more."""
        A = rng.standard_normal((more, m))
        A *= np.median(lengths) / np.linalg.norm(A, axis=1, keepdims=True)
        A = np.vstack([lengths[:, None] * normals, A])
        w = np.r_[weights, rng.uniform(-1, 1, more) * np.abs(weights).mean()]
        return fit_units(Units(A, np.r_[biases, np.zeros(more)], w, threshold), X,
                         lengths_only=k, smoothing=SOFTER, importance=1 / np.linalg.norm(X, axis=1),
                         steps=30, patience=3)

    def better(pair, other):
        return min(pair, other, key=lambda found: found[1])

    for _ in range(ROUNDS):
        n = int(np.ceil((START * k + SPARE * (m + 2) * hidden * (len(X) > 0)) / len(RADII)))
        X = np.concatenate([X, *(_points_at(oracle, normals, n, radius, rng) for radius in RADII)])
        if len(X) < 3 * k + 1:
            continue
        best = None, np.inf  # what fits fewer points better is no better
        for length in LENGTHS:
            best = better(best, fit(np.full(k, length), np.zeros(k)))
            if best[1] < GOOD:
                return best
        if best[0] is None:
            continue
        for _ in range(RESTARTS):
            spread = np.exp(0.5 * rng.standard_normal(k))
            best = better(best, fit(spread / best[0].scale, rng.standard_normal(k)))
            if best[1] < GOOD:
                return best
        enough = len(X) > 1.5 * (3 * k + (m + 2) * hidden)
        for _ in range(HIDDEN if hidden and enough and best[1] > FAIR else 0):
            spread = rng.choice(LENGTHS) * np.exp(0.5 * rng.standard_normal(k))
            best = better(best, fit(spread, np.zeros(k), hidden))
            if best[1] < GOOD:
                return best
        if best[1] < FAIR:
            return best
    if best[1] > POOR:
        raise ArithmeticError("no tanh machine: far away the boundary looks like one, but not "
                              f"nearby, at {len(X)} points that were found")
    return best


def _points_at(oracle, normals, n, radius, rng):
    """About n boundary points, roughly, at one radius; fewer where one label is rare."""
    Z = radius * _cloud(normals, 2 * n, rng)
    labels = oracle(Z)
    P, N = Z[labels > 0], Z[labels < 0]
    if not len(P) or not len(N):
        return np.empty((0, Z.shape[1]))
    P, N = bisect(oracle, P[rng.integers(len(P), size=n)], N[rng.integers(len(N), size=n)],
                  1e-5 * radius)
    return (P + N) / 2


def _cloud(normals, n, rng):
    """n points at which the known units have independent arguments, of variance one."""
    k, m = normals.shape
    Z = rng.standard_normal((n, k)) @ np.linalg.pinv(normals).T
    if k < m:
        Z += rng.standard_normal((n, m - k)) @ orthonormal_complement(normals.T).T
    return Z


def sharp_units(oracle, units, error, rng, width=WIDTH):
    """Units fitted to the accuracy of the brackets: as many as it takes.

    Zeros of the units found so far predict boundary points of the box, so that a bracket costs
    only the bits that the prediction leaves open. Where the best fit misses the points by more
    than the brackets' width explains, a unit is added.

    Parameters
    ----------
    oracle : Oracle
    units : Units
        From `rough_units`: they may be too few.
    error : float
        How far the boundary is from their zeros, in units of their scale.
    rng : numpy.random.Generator
    width : float
        Of the brackets, in units of the scale of the units.

    Returns
    -------
    units : Units
        Each with a bias of its own.
    Z : array (n, m)
        The boundary points that they were fitted to.
    width : float
        Of their brackets.

    Raises
    ------
    ArithmeticError
        If no number of units that was tried passes through the points.
    """
    m, scale = oracle.dimension, units.scale
    width, Z = width * scale, np.empty((0, m))
    error, fewest = max(2 * error, 1e-6) * scale, max(len(units.weights), m)
    for k in range(fewest, fewest + EXTRA + 1):
        for _ in range(ROUNDS):
            missing = int(SPARE * (k * (m + 2) + 1)) + SPARE_POINTS - len(Z)
            if missing > 0:
                Z = np.concatenate([Z, _near_points(oracle, units, missing, error, width, rng)])
            if len(Z) < k * (m + 2) + 1:
                raise ArithmeticError("no tanh machine: the boundary is not where the best fit to "
                                      "some of its points says")
            if k > fewest and len(Z) * (k * (m + 2)) ** 2 > AFFORDABLE:
                raise ArithmeticError(f"no tanh machine of {fewest} units, and a fit of {k} is too "
                                      "large for this version")
            better, error = fit_units(units, Z, smoothing=REFIT)
            units = better if error < FLOOR * width else units
            while error > FLOOR * width and len(units.weights) < k:
                units, error = _one_more(units, Z, FLOOR * width, rng)
            if error > FLOOR * width:
                break
            fresh = _near_points(oracle, units, FRESH, 10 * width, width, rng)
            if not len(fresh):
                raise ArithmeticError("the boundary is not where the best fit says")
            if np.median(np.abs(sampson(units, fresh, jacobian=False))) < HELD_OUT * width:
                return _without_spare(units, Z, width), Z, width
            Z, error = np.concatenate([Z, fresh]), 1e-6 * scale
    raise ArithmeticError(f"no tanh machine: the best of up to {k} tanh units misses points of the "
                          f"boundary by {error / width:.1g} times the width of their brackets")


def _zeros(units, n, width, rng, wide=WIDE):
    """n zeros of the units, about as far out as they bend, and unit gradients there."""
    m, scale = units.vectors.shape[1], units.scale
    normals = units.vectors / np.linalg.norm(units.vectors, axis=1, keepdims=True)
    if not (0 < scale < np.inf and np.isfinite(normals).all()):
        raise ArithmeticError("no tanh machine: the best fit to its boundary has no finite vectors")
    radii = scale * np.exp(rng.uniform(np.log(NEAR), np.log(wide), (2, 4 * n, 1)))
    ends = np.array([radius * _cloud(normals, 4 * n, rng) for radius in radii])
    values = units(ends.reshape(-1, m)).reshape(2, -1)
    j = np.flatnonzero(values[0] * values[1] < 0)[:n]
    first = (values[0, j] > 0)[:, None]
    P, N = np.where(first, *ends[:, j]), np.where(first, *ends[::-1, j])
    X, _ = boundary_points(Oracle(lambda Z: units(Z) > 0, m, positive=1), P, N, width)
    V = units.gradient(X)
    return X, V / np.linalg.norm(V, axis=1, keepdims=True)


def _near_points(oracle, units, n, error, width, rng):
    """n boundary points of the box, bracketed along the units' gradients from their zeros."""
    X, V = _zeros(units, n, 0.1 * error, rng)
    t = bisect_along(oracle, X, V, 0.0, error, width, WIDE * units.scale)
    return (X + t[:, None] * V)[np.isfinite(t)]


def _one_more(units, Z, enough, rng):
    """The best fit with one unit more, and its residual."""
    best = units, np.inf
    affordable = 1 + int(AFFORD / (len(Z) * (len(units.weights) * (Z.shape[1] + 2)) ** 2))
    for guess in new_units(units, Z, rng)[:affordable]:
        best = min(best, fit_units(guess, Z, smoothing=REFIT), key=lambda pair: pair[1])
        if best[1] < enough:
            break
    return best


def _without_spare(units, Z, width):
    """The same fit without units that are not needed: constant ones, or halves of another."""
    swing = np.abs(units.weights) * np.tanh(Z @ units.vectors.T + units.biases).std(0)
    for i in np.argsort(swing) if len(swing) > Z.shape[1] else []:
        constant = np.tanh(Z @ units.vectors[i] + units.biases[i]).mean()
        rest = Units(*(np.delete(a, i, axis=0) for a in
                       (units.vectors, units.biases, units.weights)),
                     units.threshold - units.weights[i] * constant)
        rest, error = fit_units(rest, Z)
        if error < FLOOR * width:
            return _without_spare(rest, Z, width)
    return units


def with_common_bias(units, Z, width):
    """The same units with one bias for all, as a kernel machine has them.

    A unit w tanh(a.z + beta) is the same as -w tanh(-a.z - beta), so that each may be turned to
    beta >= 0 first. A bias that may as well be 0 is set to 0. Two units are a special case: their
    boundary w_1 tanh(u_1) + w_2 tanh(u_2) = b is a curve that many pairs of biases share.

    Raises
    ------
    ArithmeticError
        If the biases differ.
    """
    turn = np.where(units.biases < 0, -1, 1)
    biases = turn * units.biases
    for bias, how in ((0.0, "kept"), (biases.mean(), "common")):
        if len(turn) == 2 or np.abs(biases - bias).max() < SAME_BIAS:
            start = Units(turn[:, None] * units.vectors, np.full(len(turn), bias),
                          turn * units.weights, units.threshold)
            common, error = fit_units(start, Z, biases=how)
            if error < FLOOR * width:
                return common
    if len(turn) == 2:
        raise ArithmeticError("two tanh units fit the boundary, as other pairs do: no pair with a "
                              "common bias was found among them")
    raise ArithmeticError(f"{len(turn)} tanh units fit the boundary, but their biases differ "
                          f"(|beta| from {biases.min():.4g} to {biases.max():.4g}): a network, "
                          "no kernel machine")


def without_misses(oracle, units, basis, rng):
    """Units and the basis of their span in R^d, corrected where the basis is not exact.

    A step of length L out of the span, along w, moves the boundary at a point z by a height h with
    sum_i (w_i tanh') (L c_i.w) + |grad f| h = 0, where c_i is the part of a_i that the basis
    misses. A long step shows a small c_i; k points at which the units have different shares of
    the gradient show all of them. Two questions a point tell first whether anything is to mend.

    Parameters
    ----------
    oracle : Oracle
        Of dimension d, in the units of length of z.
    units : Units
    basis : array (d, m)
        Orthonormal.
    rng : numpy.random.Generator

    Returns
    -------
    units, basis
    """
    scale, k = units.scale, len(units.weights)
    L = LONG * scale
    for _ in range(ROUNDS if basis.shape[0] > basis.shape[1] else 0):
        W = orthonormal_complement(basis)
        Z, V = _zeros(units, 100 * k, WIDTH * scale, rng, 10 * WIDE)
        shares = (units.weights * units.slopes(Z)
                  / np.linalg.norm(units.gradient(Z), axis=1, keepdims=True))
        lengths = np.linalg.norm(units.vectors, axis=1)
        r, rows = qr((scale * shares * lengths).T, mode="r", pivoting=True)
        strength, rows = np.abs(np.diag(r)), rows[:k]
        X, V, shares = Z[rows] @ basis.T, V[rows] @ basis.T, shares[rows]
        w = W @ rng.standard_normal(W.shape[1])
        if lies_between(oracle, X + L * w / np.linalg.norm(w),
                        MISS * L * strength[:, None] * V).all():
            break
        x, v = (np.repeat(a, W.shape[1], axis=0) for a in (X, V))
        h = bisect_along(oracle, x + L * np.tile(W.T, (k, 1)), v, 0.0, 10 * MISS * L,
                         1e-8 * scale, 0.1 * scale).reshape(k, -1)
        if np.isnan(h).any():
            break
        try:
            missing = np.linalg.solve(shares, h / L)
        except np.linalg.LinAlgError:
            break
        Y = units.vectors @ basis.T - missing @ W.T
        basis = np.linalg.svd(Y.T, full_matrices=False)[0][:, :basis.shape[1]]
        units = replace(units, vectors=Y @ basis)
    return units, basis


def tanh_machine(units, basis, scale, towards):
    """The kernel machine of units with a common bias beta: kernel tanh(x.y + beta).

    The labels show alpha y_i, not alpha. They leave signs open as well: of all (alpha y_i, beta,
    w_i) together, and of each on its own if beta = 0. The vectors are turned `towards` a
    direction.

    Parameters
    ----------
    units : Units
    basis : array (d, m)
        x = scale basis z.
    scale : float
    towards : array (d,)
        The mean of the features, say.

    Returns
    -------
    KernelMachine
        The largest |weight| is 1.
    """
    Y = units.vectors @ basis.T / scale
    side = Y @ towards / np.linalg.norm(Y, axis=1)
    bias = units.biases[0]
    turn = np.where((side if bias == 0 else np.full(len(Y), side.sum())) < 0, -1, 1)
    kernel = Tanh(1.0, float(turn[0] * bias) + 0.0)
    return KernelMachine(kernel, turn[:, None] * Y, turn * units.weights,
                         units.threshold).normalised()
