"""A Gaussian machine of which most support vectors are known, from other pairs, but not all."""

from typing import Any

import numpy as np
from scipy.optimize import least_squares

from ..boundary.distance import level_set_distance
from ..machine import KernelMachine
from .crossings import Crossings, distances
from .pairs import PairMachine
from .settings import SETTINGS
from .vectors import SharedVectors, of_pair


def machine_with_unknown(crossings: Crossings, one: Any, other: Any, shared: SharedVectors
                         ) -> PairMachine:
    """The machine between two classes, with one support vector or two that no other pair has shown.

    These are varied until the best weights leave the least distance of the boundary points from the
    machine's boundary (variable projection), beginning at features of the two classes.

    Parameters
    ----------
    crossings : Crossings
    one, other : labels
    shared : SharedVectors

    Returns
    -------
    PairMachine
        Its vectors are not called the model's own: two may stand for one.
    """
    known, kernel = shared.of_both(one, other), shared.kernel
    if known is None or kernel is None:
        return PairMachine(message="the support vectors of a class are not known")
    Y = np.concatenate(known)
    d, units, rng = crossings.oracle.dimension, crossings.units, crossings.rng
    near, error = crossings.X[np.isin(crossings.labels, (one, other))], np.inf
    for count in range(1, SETTINGS.most_unknown + 1):
        # boundary points for all numbers that are sought, and others to test them
        n = int(SETTINGS.points_per_number * (len(Y) + (d + 1) * count)) + SETTINGS.spare_points
        X = crossings.unexplained(one, other, n)
        if len(X) < SETTINGS.least_share * n:
            return PairMachine(message="the two classes hardly meet")
        fitted, held_out = X[SETTINGS.spare_points:], X[:SETTINGS.spare_points]
        for _ in range(SETTINGS.starts):
            start = near[rng.integers(len(near), size=count)]
            Z = np.concatenate([Y, _moved(kernel, Y, start, fitted, units)])
            machine = _best(kernel, Z, fitted)
            error = min(error, float(np.median(distances(machine, held_out, units))))
            if error < SETTINGS.joint_error:
                return of_pair(machine, len(known[0]), len(Y), own=False)
    return PairMachine(message=f"with {count} unknown support vectors, the best machine found "
                               f"misses its boundary by {error:.0e}")


def _best(kernel, Z, X):
    """The machine with vectors Z whose terms, each of them scaled, add up to the least at X."""
    A = np.c_[kernel(X, Z), -np.ones(len(X))]
    size = np.linalg.norm(A, axis=0) + np.finfo(float).tiny
    null = np.linalg.svd(A / size, full_matrices=False)[2][-1] / size
    return KernelMachine(kernel, Z, null[:-1], null[-1]).normalised()


def _moved(kernel, Y, start, X, units):
    """Vectors, moved from a start, that with those of Y fit the boundary points X best."""
    def residuals(flat):
        # a common sign of all terms, by the largest of the known weights
        machine = _best(kernel, np.concatenate([Y, flat.reshape(start.shape)]), X)
        sign = np.sign(machine.weights[np.abs(machine.weights[:len(Y)]).argmax()])
        with np.errstate(all="ignore"):
            off = level_set_distance(machine.decision_function(X), machine.gradient(X) * units)
        return sign * np.nan_to_num(off, nan=1.0, posinf=1.0, neginf=-1.0)

    # not too far: a vector without influence would fit any
    flat, room = start.ravel(), np.tile(SETTINGS.room * units, len(start))
    found = least_squares(residuals, flat, bounds=(flat - room, flat + room), xtol=1e-14,
                          ftol=1e-14, gtol=1e-14, max_nfev=SETTINGS.most_steps)
    return found.x.reshape(start.shape)
