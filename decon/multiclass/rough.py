"""A Gaussian machine whose support vectors other pairs have shown, some of them roughly."""

from typing import Any

import numpy as np

from ..families.sharpening.fit import Brackets, fit_brackets
from ..families.sharpening.numbers import numbers_of
from .crossings import Crossings, distances
from .pairs import PairMachine
from .settings import SETTINGS
from .vectors import SharedVectors, fitted_to_most, of_pair


def machine_of_rough_vectors(crossings: Crossings, one: Any, other: Any, shared: SharedVectors
                             ) -> PairMachine:
    """The machine between two classes, beginning with vectors that a pair has shown only roughly.

    A vector with little influence on one boundary is known from it to few digits, perhaps too few
    for another boundary. Such vectors are refitted here.

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
    sure = np.r_[shared.sure(one), shared.sure(other)]
    if known is None or kernel is None or sure.all():
        return PairMachine(message="all known support vectors of these classes are sure")
    Y, d = np.concatenate(known), crossings.oracle.dimension

    # boundary points for all numbers that are sought, and others to test them
    n = len(Y) + d * int((~sure).sum()) + 2 * SETTINGS.spare_points
    X = crossings.unexplained(one, other, n)
    if len(X) < SETTINGS.least_share * n + SETTINGS.spare_points:
        return PairMachine(message="too few boundary points between the two classes")
    fitted, held_out = X[SETTINGS.spare_points:], X[:SETTINGS.spare_points]

    # first the weights, then all numbers, without points of another pair's boundary
    machine, kept = fitted_to_most(kernel, Y, fitted, crossings)
    off = distances(machine, fitted, crossings.units)
    good = off < SETTINGS.inliers * np.median(off)
    machine = _moved(machine, fitted[good], sure[kept], crossings.units)
    error = float(np.median(distances(machine, held_out, crossings.units)))
    if not error < SETTINGS.joint_error:
        return PairMachine(message="with support vectors that other pairs show roughly, the best "
                                   f"machine found misses its boundary by {error:.0e}")
    return of_pair(machine, int(kept[:len(known[0])].sum()), int(kept.sum()), own=False)


def _moved(machine, X, sure, units):
    """The machine fitted to boundary points; vectors that are sure hardly move."""
    scale = float(np.linalg.norm(units))
    numbers, d = numbers_of(machine, 0, scale), X.shape[1]
    deviations = SETTINGS.rough * numbers.sizes
    deviations[:d * len(sure)][np.repeat(sure, d)] *= SETTINGS.joint_error

    # distances to first order: along the gradients
    gradients = machine.gradient(X)
    V = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    errors = np.full(len(X), SETTINGS.fitted_to / np.sqrt(d))
    fit = fit_brackets(numbers, numbers.start, Brackets(X / scale, V, errors), deviations, wide=())
    return numbers.machine(fit.theta).normalised()
