"""Where a support vector that has not been found could hide: too far from the boundary to show."""

import numpy as np
from scipy.spatial.distance import cdist

from ..boundary.bracketing import boundary_points
from ..machine import KernelMachine, ScaledMachine
from ..types import Array


def displacements(machine: KernelMachine | ScaledMachine, points: Array, places: Array,
                  units: Array | float = 1.0) -> Array:
    """How far one more support vector at a place would displace the boundary, at least.

    A vector y with the smallest |weight| w of those found changes f by w K(x, y), and so moves the
    boundary at x by w K(x, y) / |grad f(x)|, to first order; of all measured points x, the one
    where it shows most counts.

    Parameters
    ----------
    machine : KernelMachine or ScaledMachine
    points : array (n, d)
        Where the boundary has been measured.
    places : array (k, d)
        Where the vector might be.
    units : array (d,) or float
        Of each feature, in which the displacement is given.

    Returns
    -------
    displacements : array (k,)

    Examples
    --------
    A vector ten widths away from the boundary cannot be seen:

    >>> from decon import Gaussian
    >>> machine = KernelMachine(Gaussian(1.0), [[0., 0.]], [1.], 0.5)
    >>> X = np.array([[np.sqrt(2 * np.log(2)), 0.]])
    >>> (displacements(machine, X, np.array([[2., 0.], [11., 0.]])) > 1e-9).tolist()
    [True, False]
    """
    return _shown(machine, points, places, units).max(0)


def telling_points(machine: KernelMachine | ScaledMachine, places: Array, ends: Array, n: int,
                   units: Array | float = 1.0) -> Array:
    """Boundary points of a machine where one more support vector at a place would show well.

    They lie on segments from the places to the nearest points of the other label: for each place,
    the one of them all where it shows most. No queries.

    Parameters
    ----------
    machine : KernelMachine or ScaledMachine
    places : array (k, d)
        Where the vector might be.
    ends : array (e, d)
        Points for segments to end at.
    n : int
        How many segments there are for each place, at most.
    units : array (d,) or float
        Of each feature.

    Returns
    -------
    points : array (at most k, d)
        Empty where all places and ends have one label.

    Examples
    --------
    >>> from decon import Gaussian
    >>> machine = KernelMachine(Gaussian(1.0), [[0., 0.]], [1.], 0.5)
    >>> place, ends = np.array([[2., 0.]]), np.array([[0., 0.], [3., 3.]])
    >>> telling_points(machine, place, ends, n=1).round(3)
    array([[1.177, 0.   ]])
    """
    # segments from each place to the nearest ends of the other label
    sides, far = machine.predict(places), cdist(places / units, ends / units)
    far[sides[:, None] == machine.predict(ends)] = np.inf
    nearest = np.argsort(far, axis=1)[:, :n]
    i, k = np.nonzero(np.isfinite(np.take_along_axis(far, nearest, axis=1)))
    if not len(i):
        return np.empty((0, places.shape[1]))
    start, end, positive = places[i], ends[nearest[i, k]], sides[i, None] > 0
    P, N = np.where(positive, start, end), np.where(positive, end, start)
    X = units * boundary_points(lambda Z: machine.predict(Z * units), P / units, N / units, 0.0)[0]

    # of their boundary points, those where some place shows most
    return X[np.unique(_shown(machine, X, places, units).argmax(0))]


def _shown(machine, points, places, units):
    """How far a vector at each place displaces the boundary at each point: array (n, k)."""
    # the kernel between points and places, in the coordinates in which the machine has it
    inner, X, Y = machine, points, places
    if isinstance(machine, ScaledMachine):
        inner, X, Y = machine.machine, machine.scaled(points), machine.scaled(places)
    least = np.abs(inner.weights).min()
    slopes = np.linalg.norm(machine.gradient(points) * units, axis=1)
    return least * np.abs(inner.kernel(X, Y)) / slopes[:, None]
