"""Support vectors that the pairs of a Gaussian one-vs-one machine share."""

from typing import Any

import numpy as np
from scipy.spatial import KDTree

from ..kernels import Gaussian
from ..machine import KernelMachine
from ..types import Array
from .crossings import Crossings, distances
from .pairs import PairMachine
from .settings import SETTINGS


class SharedVectors:
    """The support vectors of each class, as the pairs so far have shown them.

    A vector of a class has a weight of this class's sign in every pair.

    Parameters
    ----------
    spread : float
        The unit of the distance at which two vectors are taken to be one.

    Attributes
    ----------
    kernel : Gaussian or None
    found : bool
        Whether any pair has a machine.
    own : bool
        Whether the vectors of all these machines are the model's own.

    Examples
    --------
    >>> from decon import KernelMachine
    >>> shared = SharedVectors(1.0)
    >>> machine = KernelMachine(Gaussian(1.0), [[0., 1.], [1., 0.]], [1., -1.], 0.1)
    >>> shared.add("a", "b", PairMachine("gaussian", machine, True))
    >>> shared.of("a"), shared.of("c")
    (array([[0., 1.]]), None)
    """

    def __init__(self, spread: float):
        self.spread, self.found, self.own = spread, False, True
        self.kernel: Gaussian | None = None
        self._known: dict[Any, Array] = {}
        self._sure: dict[Any, Array] = {}

    def add(self, one: Any, other: Any, found: PairMachine) -> None:
        """Learn what the machine of a pair shows.

        Parameters
        ----------
        one, other : labels
        found : PairMachine
            Nothing is learned of one whose kernel is not Gaussian.
        """
        machine = found.machine
        self.found |= machine is not None
        if not (isinstance(machine, KernelMachine) and isinstance(machine.kernel, Gaussian)):
            return
        if found.own_vectors or self.kernel is None:
            self.kernel = machine.kernel
        self.own &= found.own_vectors
        for label, sign in ((one, 1), (other, -1)):
            # a vector of another class does not belong to this one
            new = machine.support_vectors[sign * machine.weights > 0]
            new = self._far(new, [Y for known, Y in self._known.items() if known != label])
            old, sure = self._known.get(label, new[:0]), self.sure(label)

            # of two vectors taken as one, keep the sure one, or else the newer one
            groups = [(new, found.own_vectors), (old[sure], True), (old[~sure], False)]
            groups.sort(key=lambda group: not group[1])
            kept: list[Array] = []
            for Y, _ in groups:
                kept.append(self._far(Y, kept))
            self._known[label] = np.concatenate(kept)
            self._sure[label] = np.repeat([own for _, own in groups], [len(Y) for Y in kept])

    def _far(self, Y, known):
        """Those of Y that are none of the known vectors."""
        known = [Z for Z in known if len(Z)]
        if not known or not len(Y):
            return Y
        return Y[KDTree(np.concatenate(known)).query(Y)[0] > SETTINGS.same_vector * self.spread]

    def of(self, label: Any) -> Array | None:
        """The vectors of a class.

        Parameters
        ----------
        label : label

        Returns
        -------
        Y : array (m, d) or None
            None if no pair has shown any.
        """
        return self._known.get(label)

    def sure(self, label: Any) -> Array:
        """For each vector of a class, whether a machine with own vectors has shown it.

        Parameters
        ----------
        label : label

        Returns
        -------
        sure : bool array (m,)
        """
        return self._sure.get(label, np.zeros(0, bool))

    def of_both(self, one: Any, other: Any) -> tuple[Array, Array] | None:
        """The vectors of two classes.

        Parameters
        ----------
        one, other : labels

        Returns
        -------
        Y, Z : arrays (m, d) and (n, d), or None
            None if no pair has shown any of one of them.
        """
        Y, Z = self.of(one), self.of(other)
        return None if Y is None or Z is None else (Y, Z)

    def all(self) -> Array | None:
        """The vectors of all classes.

        Returns
        -------
        Y : array (m, d) or None
            None if no pair has shown any.
        """
        return np.concatenate(list(self._known.values())) if self._known else None


def machine_of_vectors(crossings: Crossings, one: Any, other: Any, shared: SharedVectors
                       ) -> PairMachine:
    """The machine between two classes, if its support vectors are among those of other pairs.

    Every boundary point is one linear equation for the weights and the threshold.

    Parameters
    ----------
    crossings : Crossings
    one, other : labels
    shared : SharedVectors

    Returns
    -------
    PairMachine
    """
    known, kernel = shared.of_both(one, other), shared.kernel
    if known is None or kernel is None:
        return PairMachine(message="the support vectors of a class are not known")
    Y = np.concatenate(known)

    # as many boundary points as there are weights, and more: some may be another pair's
    n = 2 * len(Y) + SETTINGS.spare_points
    X = crossings.unexplained(one, other, n)
    if len(X) < n / 2:
        return PairMachine(message="the two classes hardly meet")

    machine, kept = fitted_to_most(kernel, Y, X, crossings)
    error = float(np.median(distances(machine, X, crossings.units)))
    if not error < SETTINGS.joint_error:
        return PairMachine(message="its support vectors are not all among those of other pairs: "
                                   f"they miss its boundary by {error:.0e}")

    first = int(kept[:len(known[0])].sum())
    return of_pair(machine, first, int(kept.sum()), shared.own)


def fitted_to_most(kernel: Gaussian, Y: Array, X: Array, crossings: Crossings
                   ) -> tuple[KernelMachine, Array]:
    """A machine with vectors among those given, whose boundary passes through most of the points.

    Parameters
    ----------
    kernel : Gaussian
    Y : array (m, d)
        Its vectors, and perhaps others.
    X : array (n, d)
        Some may lie on the boundary of another pair.
    crossings : Crossings

    Returns
    -------
    machine : KernelMachine
        Up to its sign.
    kept : bool array (m,)
        Which rows of Y it keeps.
    """
    # the weights that vanish at most of them: least median, over random subsets
    A, size = np.c_[kernel(X, Y), -np.ones(len(X))], len(Y) + SETTINGS.spare_equations
    trials = (_machine(kernel, Y, A[crossings.rng.choice(len(X), size, replace=False)])
              for _ in range(SETTINGS.subsets))
    machine = min(trials, key=lambda trial: np.median(distances(trial, X, crossings.units)))

    # and at those that lie on its boundary, without vectors that have none
    for kept in (np.full(len(Y), True), np.abs(machine.weights) > SETTINGS.least_weight):
        off = distances(machine, X, crossings.units)
        good = off < SETTINGS.inliers * np.median(off)
        machine = _machine(kernel, Y[kept], A[np.ix_(good, np.r_[kept, True])])
    return machine, kept


def of_pair(machine: KernelMachine, first: int, count: int, own: bool) -> PairMachine:
    """What is known of a pair whose support vectors, or most of them, other pairs have shown.

    Parameters
    ----------
    machine : KernelMachine
        Up to its sign: a vector of the first class has a positive weight.
    first, count : ints
        Of its vectors, the first ones are known to be of the first class, up to `count` of the
        other one.
    own : bool
        Whether those of the other pairs are the model's own.

    Returns
    -------
    PairMachine
    """
    side = np.where(np.arange(count) < first, 1, -1)
    if side @ machine.weights[:count] < 0:
        machine = KernelMachine(machine.kernel, machine.support_vectors, -machine.weights,
                                -machine.threshold)
    rank = int(np.linalg.matrix_rank(machine.support_vectors))
    return PairMachine("gaussian", machine, own, rank,
                       "by support vectors of other pairs")


def _machine(kernel, Y, A):
    """The machine whose weights and threshold solve A (w, b) = 0 best."""
    null = np.linalg.svd(A, full_matrices=False)[2][-1]
    return KernelMachine(kernel, Y, null[:-1], null[-1]).normalised()
