"""Where a support vector that has not been found could hide: too far from the boundary to show."""

import numpy as np

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
    # the kernel between points and places, in the coordinates in which the machine has it
    inner, X, Y = machine, points, places
    if isinstance(machine, ScaledMachine):
        inner, X, Y = machine.machine, machine.scaled(points), machine.scaled(places)
    least = np.abs(inner.weights).min()

    # the displacement where it shows most
    slopes = np.linalg.norm(machine.gradient(points) * units, axis=1)
    return (least * np.abs(inner.kernel(X, Y)) / slopes[:, None]).max(0)
