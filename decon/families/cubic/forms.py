"""Linear forms whose cubes add up to a cubic machine, and the machine that they are."""

import numpy as np

from ...kernels import Polynomial
from ...machine import KernelMachine
from ...types import Array
from ..protocol import Refuted
from .decomposition import sum_of_cubes

TWO = "the model's own vectors may be others: in two dimensions many cubic forms are two cubes"


def cubic_machine(T: Array, origin: Array, scale: float = 1.0) -> KernelMachine:
    """The kernel machine whose Psi - b is a given cubic: its own support vectors, not any others.

    Of the cubes (v_i.h)^3 one has v_i along e = (0, ..., 0, 1) and is the threshold; every other
    one is w_i (z.y_i + 1)^3 with y_i = v_i / (its last coordinate).

    Parameters
    ----------
    T : array (m + 1, m + 1, m + 1)
        As `fit_polynomial` finds it, with the sign that makes +1 the positive side, in coordinates
        z - origin.
    origin : array (m,)
    scale : float
        Typical size of z.

    Returns
    -------
    machine : KernelMachine
        With kernel (x.y + 1)^3, or (x.y)^3 where all last coordinates vanish; the largest
        |weight| is 1.

    Raises
    ------
    Refuted
        If T is no sum of at most m + 1 cubes of independent vectors, or if one of these is
        neither of the form above.

    Examples
    --------
    >>> V = np.array([[1., 0., 1.], [0., 2., 1.], [0., 0., 1.]])
    >>> T = np.einsum('r,ri,rj,rk', [1., -.5, -.25], V, V, V)
    >>> machine = cubic_machine(T, origin=np.zeros(2))
    >>> order = np.argsort(machine.weights)
    >>> machine.support_vectors[order].round(6) + 0., machine.weights[order].round(6)
    (array([[0., 2.],
           [1., 0.]]), array([-0.5,  1. ]))
    """
    V, threshold = without_threshold(sum_of_cubes(T, scale), scale)
    return machine_of_forms(V[:, :-1], V[:, -1] - V[:, :-1] @ origin, threshold, scale)


def without_threshold(V: Array, scale: float = 1.0) -> tuple[Array, float]:
    """The vectors of `sum_of_cubes` without those along the last axis, which are the threshold.

    Parameters
    ----------
    V : array (r, m + 1)
    scale : float
        Typical size of the first m coordinates beside the last.

    Returns
    -------
    V : array (n, m + 1)
        The other vectors.
    threshold : float

    Examples
    --------
    >>> without_threshold(np.array([[1., 2., 1.], [0., 0., -2.]]))
    (array([[1., 2., 1.]]), 8.0)
    """
    along = np.linalg.norm(V[:, :-1], axis=1) * scale < 1e-3 * np.abs(V[:, -1])
    return V[~along], -float((V[along, -1] ** 3).sum())


def vector_errors(machine: KernelMachine, errors: Array, distance: float,
                  units: Array | float = 1.0) -> Array:
    """The relative errors of the support vectors y_i = a_i / h_i of linear forms a_i.x + h_i.

    Where the constants are values of the forms at some distance, less a_i times this distance, an
    error of a_i is one of h_i, too. Lengths are those in some units, in which errors are alike in
    all directions; the factor 1 / sqrt(d) is their root mean square.

    Parameters
    ----------
    machine : KernelMachine
        With kernel (x.y + 1)^D or (x.y)^D; of the latter, all h_i are 0.
    errors : array (m,)
        Relative errors of the a_i.
    distance : float
        In these units.
    units : array (d,) or float, default 1
        Of the features.

    Returns
    -------
    errors : array (m,)

    Examples
    --------
    >>> vector_errors(KernelMachine(Polynomial(3), [[4., 0., 0., 3.]], [1.], 1.), np.ones(1), 100.)
    array([250.00199999])
    """
    if getattr(machine.kernel, "coef0", 0.0) == 0:
        return errors
    lengths = np.linalg.norm(machine.support_vectors * units, axis=1)
    return errors * np.hypot(1, lengths * distance / np.sqrt(machine.dimension))


def machine_of_forms(A: Array, h: Array, threshold: float, scale: float = 1.0,
                     faint: float = 1e-5) -> KernelMachine:
    """The kernel machine of sum_i (A_i.x + h_i)^3 > threshold.

    Parameters
    ----------
    A : array (m, d)
    h : array (m,)
    threshold : float
    scale : float
        Typical size of x.
    faint : float
        An h smaller than so much of scale |A_i| counts as 0.

    Returns
    -------
    machine : KernelMachine
        With kernel (x.y + 1)^3, or (x.y)^3 where all h vanish; the largest |weight| is 1.

    Raises
    ------
    Refuted
        If some but not all h vanish.

    Examples
    --------
    >>> machine = machine_of_forms(np.array([[2., 0.], [0., 1.]]), np.array([2., -1.]), 4.)
    >>> machine.support_vectors, machine.weights, machine.threshold
    (array([[ 1.,  0.],
           [-0., -1.]]), array([ 1.   , -0.125]), 0.5)
    """
    homogeneous = np.abs(h) < faint * scale * np.linalg.norm(A, axis=1)
    if homogeneous.all():
        return KernelMachine(Polynomial(3, coef0=0), A, np.ones(len(A)), threshold)
    if homogeneous.any():
        raise Refuted("this cubic mixes cubes (x.y + 1)^3 and (x.y)^3")
    return KernelMachine(Polynomial(3), A / h[:, None], h**3, threshold).normalised()
