"""Fewer Gaussians for the same boundary: what leaving out or merging centres would cost."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy.linalg import LinAlgError, inv

from ...types import Array
from .gaussian_sum import GaussianSum, scaled_normal_equations
from .settings import SETTINGS

Removal = tuple[tuple[int, ...], tuple[int, ...]]  # centres left out, centres merged into one


def shrunk(total: GaussianSum, X: Array, count: int, tries: int) -> list[GaussianSum]:
    """The sum without some of its centres: several ways, the best first.

    To second order, the residual grows least if all other parameters follow the removal: the
    removals are constraints A s = e on a step s, which costs e.(A B A^T)^-1 e and is
    B A^T (A B A^T)^-1 e, B being the inverse of J^T J with some damping [Hassibi and Stork 1993].

    Parameters
    ----------
    total : GaussianSum
        Fitted to X.
    X : array (n, d)
        Points of the boundary.
    count : int
        How many centres are to go at once.
    tries : int
        How many removals are tried for each damping.

    Returns
    -------
    list of GaussianSum
        Sorted by their root mean square residuals, none of them fitted again.
    """
    found = []
    for B in _inverses(total, X):
        # what every removal would cost
        removals = sorted(_removals(total), key=lambda removal: _step(total, B, [removal])[1])

        # several at once that do not touch each other, or the best ones one by one
        groups = [[removal] for removal in removals[:tries]]
        if count > 1:
            groups = [list(islice(_apart(removals), count))]
        found += [_without(total, _step(total, B, group)[0], group, X) for group in groups]
    rms = [np.linalg.norm(trial.sampson(X, SETTINGS.last_floor)) for trial in found]
    return [found[i] for i in np.argsort(rms) if np.isfinite(rms[i])]


def left_out(total: GaussianSum, X: Array) -> Iterator[GaussianSum]:
    """The sum without each one of its centres, none of them fitted again.

    Parameters
    ----------
    total : GaussianSum
        Fitted to X.
    X : array (n, d)
        Points of the boundary.

    Yields
    ------
    GaussianSum
    """
    B = next(_inverses(total, X))
    for i in range(len(total.weights)):
        group = [((i,), ())]
        yield _without(total, _step(total, B, group)[0], group, X)


def _inverses(total, X):
    """The inverse of J^T J, with one damping after another."""
    H, size = scaled_normal_equations(total.sampson_jacobian(X, SETTINGS.last_floor))
    for damping in SETTINGS.shrink_dampings:
        H[np.diag_indices(len(H))] = 1 + damping
        try:
            yield inv(H, check_finite=False) / np.outer(size, size)
        except LinAlgError:  # singular as rounded: with more damping, perhaps
            continue


def without_unseen(total: GaussianSum, X: Array, least: float) -> GaussianSum:
    """The sum without those Gaussians that are smaller than a number at all points.

    Parameters
    ----------
    total : GaussianSum
    X : array (n, d)
    least : float

    Returns
    -------
    total : GaussianSum
    """
    seen = np.abs(total.terms(X)[1] * total.weights).max(0) > least
    return GaussianSum(total.centres[seen], total.weights[seen], total.threshold, total.log_tau)


def _removals(total):
    """Every centre left out; near ones merged, or both left out."""
    k = len(total.centres)
    squares = total.terms(total.centres)[0]
    near = np.argsort(squares, axis=1)[:, 1:SETTINGS.neighbours + 1]
    pairs = {(min(i, int(j)), max(i, int(j))) for i in range(k) for j in near[i] if i != j}
    return ([((i,), ()) for i in range(k)] + [((), pair) for pair in sorted(pairs)]
            + [(pair, ()) for pair in sorted(pairs)])


def _apart(removals):
    """Those removals that touch no centre of an earlier one."""
    touched = set()
    for removal in removals:
        if not touched & set(sum(removal, ())):
            touched |= set(sum(removal, ()))
            yield removal


def _step(total, B, group):
    """The step of all parameters that satisfies the removals, and what it costs."""
    # the constraints: weights become 0, pairs of centres become equal
    (k, d), at, e = total.centres.shape, [], []
    for out, pair in group:
        at += [(k * d + i, -1) for i in out]
        e += [-total.weights[i] for i in out]
        if pair:
            i, j = pair
            at += [(i * d + t, j * d + t) for t in range(d)]
            e += list(total.centres[j] - total.centres[i])
    plus, minus = np.array(at).T
    AB = B[plus] - np.where(minus[:, None] < 0, 0, B[minus])
    ABA = AB[:, plus] - np.where(minus < 0, 0, AB[:, minus])

    # the least costly step
    try:
        multipliers = np.linalg.solve(ABA, e)
    except LinAlgError:
        return np.nan * B[0], np.inf
    cost = float(multipliers @ e)
    return AB.T @ multipliers, cost if cost >= 0 else np.inf


def _without(total, step, group, X):
    """The sum after the step, without the centres that are no longer needed."""
    moved, gone = total.moved(step, X), set()
    weights = moved.weights.copy()
    for out, pair in group:
        gone |= set(out) | set(pair[1:])
        if pair:
            weights[pair[0]] += weights[pair[1]]
    keep = np.setdiff1d(np.arange(len(weights)), list(gone))
    return GaussianSum(moved.centres[keep], weights[keep], moved.threshold, moved.log_tau)
