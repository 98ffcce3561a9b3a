"""The radial probe, which measures distances out of S_Y: how far is it until the label flips?"""

import numpy as np

from ...boundary.bracketing import bisect_along
from ...types import Array, ArrayLike, LabelOracle
from ..protocol import Refuted
from .settings import SETTINGS


class RadialProbe:
    """Distances from points of S_Y to the boundary along a direction u out of S_Y.

    For z in S_Y where |Psi(z)| > |b|, with b's sign, Psi(z + q u) = exp(-q^2 / 2 sigma^2) Psi(z)
    falls to b at one q > 0, and q^2 = 2 sigma^2 log(Psi(z) / b).

    Parameters
    ----------
    oracle : LabelOracle
    basis : array (d, m)
        Orthonormal basis of S_Y.
    direction : array (d,)
        Unit vector orthogonal to S_Y.
    inside : +1 or -1
        The label where Psi / b > 1. Far away the label is the other one.
    scale : float, positive
        The size of the data.
    width : float, positive
        The brackets' final width, in units of the scale.

    Examples
    --------
    >>> from decon import Gaussian, KernelMachine, Oracle
    >>> model = KernelMachine(Gaussian(2.0), [[1., 0., 0.], [0., 1., 0.]], [1., 1.], 0.5)
    >>> probe = RadialProbe(Oracle(model.predict, 3), np.eye(3)[:, :2], np.eye(3)[2], 1, scale=1.0)
    >>> q = probe.distances(np.array([[0.5, 0.5], [1., 1.]]), guess=1.0, step=0.5)
    >>> psi = model.decision_function([[0.5, 0.5, 0.], [1., 1., 0.]]) + 0.5
    >>> bool(np.allclose(q**2, 2 * 2.0**2 * np.log(psi / 0.5)))
    True
    """

    def __init__(self, oracle: LabelOracle, basis: Array, direction: Array, inside: int,
                 scale: float, width: float = 1e-12):
        self.oracle, self.basis, self.direction = oracle, basis, direction
        self.inside, self.scale, self.width = inside, scale, width

    def all_inside(self, Z: Array) -> bool:
        """Is |Psi| > |b|, with b's sign, at all points Z (n, m) of S_Y? n queries, fewer if not.

        Parameters
        ----------
        Z : array (n, m)
            Points, in coordinates of the basis.

        Returns
        -------
        inside : bool
        """
        return all((self.oracle(part @ self.basis.T) == self.inside).all()
                   for part in np.array_split(Z, 1 + len(Z) // 16))

    def distances(self, Z: Array, guess: ArrayLike, step: ArrayLike,
                  directions: Array | None = None, width: float | None = None) -> Array:
        """The q > 0 at which the label of z + q u flips.

        Parameters
        ----------
        Z : array (n, m)
            Points inside, in coordinates of the basis.
        guess : float or array (n,), positive
            Where to start.
        step : float or array (n,), positive
            How far off the guess may be: the first step of a walk towards the boundary.
        directions : array (n, d), optional
            Unit vectors out of S_Y, one for each point, instead of the probe's own.
        width : float, optional
            Instead of the probe's own.

        Returns
        -------
        q : array (n,)
            NaN where no flip was met.
        """
        # steps that double lead from the guess to q = 0, not beyond
        guess = np.maximum(guess, 4 * self.width * self.scale)
        step = guess / (2 ** np.ceil(np.log2(1 + guess / np.minimum(step, guess))) - 1)

        # brackets want labels that go from - to +: if + is inside they do along -u, where q = -t
        U = self.direction if directions is None else directions
        V = np.broadcast_to(-self.inside * U, (len(Z), len(self.basis)))
        t = bisect_along(self.oracle, Z @ self.basis.T, V, -self.inside * guess, step,
                         (width or self.width) * self.scale, 8 * self.scale)
        return -self.inside * t

    def distances_over_sums(self, z0: Array, q0: float, mean: Array, shifts: Array,
                            triples: Array) -> Array:
        """The q over z0 and all sums of three shifts, each predicted from those before it.

        ell = q^2 + |z - z0|^2 has the gradient 2 (mean - z0) at z0, and depends on the three
        shifts nearly as a sum of terms in which at most two of them appear.

        Parameters
        ----------
        z0 : array (m,)
            A point inside.
        q0 : float
            About the distance there.
        mean : array (m,)
            About the kernels' weighted mean of the support vectors at z0.
        shifts : array (n, m)
        triples : int array (n^2, 3)
            As `triple_sums` returns them.

        Returns
        -------
        q : array (n^2,)

        Raises
        ------
        Refuted
            If at some point no flip was met.
        """
        R, sums = self.scale, shifts[triples].sum(1)
        squares, nonzero = (sums**2).sum(1), (triples > 0).sum(1)
        ell = np.empty((2, len(shifts), len(shifts)))  # at s_i + s_j + s_k, i <= j <= k
        ell[0, 0, 0], miss = q0**2, 0.0
        for level in range(4):
            # the prediction (first by eq-gaussian-measuring-stick-shift), and how far off it may be
            at = nonzero == level
            i, j, k = triples[at].T
            if level < 2:
                guess = ell[0, 0, 0] + 2 * sums[at] @ (mean - z0)
            elif level == 2:
                guess = ell[0, 0, j] + ell[0, 0, k] - ell[0, 0, 0]
            else:
                guess = (ell[0, i, j] + ell[0, i, k] + ell[0, j, k]
                         - ell[0, 0, i] - ell[0, 0, j] - ell[0, 0, k] + ell[0, 0, 0])
            step = (SETTINGS.tilt * R, 0.01 * R, miss, miss / 4)[level]
            guess = np.sqrt(np.maximum(guess - squares[at], (0.01 * R) ** 2))

            # the measurement; the next predictions will be about as far off
            q = self.distances(z0 + sums[at], guess, step)
            if not np.isfinite(q).all():
                raise Refuted("no Gaussian machine: the label does not flip out of S_Y")
            ell[i, j, k] = q**2 + squares[at]
            miss = max(np.sqrt(np.mean((q - guess) ** 2)), 4 * self.width * R)
        return np.sqrt(ell[tuple(triples.T)] - squares)
