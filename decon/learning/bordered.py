"""The bordered system of a margin set, solved again and again while it grows and shrinks."""

import numpy as np

from ..types import Array, ArrayLike
from .settings import SETTINGS


class LostPath(Exception):
    """A path of optima cannot be followed: the margin is singular, or nothing stops it."""


class Bordered:
    """The matrix M = [[0, t^T], [t, Q]] and its inverse, for a margin set S.

    An example that enters or leaves S changes the inverse by a matrix of rank one [Cauwenberghs
    and Poggio 2001], O(|S|^2) instead of the O(|S|^3) of a new one. Rounding adds up on the way:
    solutions are refined, and where that does not help the inverse is computed afresh.

    Parameters
    ----------
    t : array (s,) of +1 and -1
        Labels of the margin set.
    Q : array (s, s)
        t_i t_j K(x_i, x_j).

    Attributes
    ----------
    matrix, inverse : arrays (1 + s, 1 + s)
        The pseudo-inverse where the matrix is singular.

    Examples
    --------
    >>> system = Bordered(np.array([1.]), np.array([[2.]]))
    >>> system.enter(np.array([-1., 0.]), 2.)           # t_2 = -1, Q_21 = 0, Q_22 = 2
    True
    >>> system.solve(np.array([0., 1., 1.])).round(6) + 0
    array([0. , 0.5, 0.5])
    """

    def __init__(self, t: ArrayLike = (), Q: ArrayLike = ()):
        s = np.size(t)
        self.matrix: Array = np.zeros((1 + s, 1 + s))
        self.matrix[0, 1:] = self.matrix[1:, 0] = t
        self.matrix[1:, 1:] = np.reshape(Q, (s, s))
        self.inverse = self._pseudo_inverse()

    def __len__(self) -> int:
        return len(self.matrix) - 1

    def solve(self, right: Array) -> Array:
        """The solution of M u = right, by iterative refinement.

        Parameters
        ----------
        right : array (1 + s,)

        Returns
        -------
        u : array (1 + s,)
            In the sense of least squares where M is singular.
        """
        accurate = SETTINGS.bordered_residual * np.abs(right).max()

        # u + R (right - M u) instead of u, up to three times; then once more with a new inverse R
        for refactored in (False, True):
            if refactored:
                self.inverse = self._pseudo_inverse()
            solution = self.inverse @ right
            for _ in range(3):
                residual = right - self.matrix @ solution
                if np.abs(residual).max() <= accurate:
                    return solution
                solution = solution + self.inverse @ residual
        return solution

    def enter(self, border: Array, corner: float, smallest: float = 0.0) -> bool:
        """Add example k to S, if it does not depend on the others.

        Parameters
        ----------
        border : array (1 + s,)
            Its row of the matrix, m_k = (t_k, Q_kS).
        corner : float
            Q_kk.
        smallest : float
            The pivot, the corner's Schur complement Q_kk - m_k^T M^-1 m_k, must be larger.

        Returns
        -------
        bool
            False if the pivot is too small; nothing has changed then.
        """
        # the pivot, the Schur complement of M: the squared distance from the affine hull of S
        # (eq-learning-and-unlearning-dist)
        s = len(self)
        if s:
            u = self.solve(border)
            pivot = corner - border @ u
            if pivot <= smallest:
                return False

        # the larger matrix, and its inverse by blocks, rank one more (for S = {k}, by hand)
        # (eq-learning-and-unlearning-enter)
        self.matrix = np.block([[self.matrix, border[:, None]], [border, corner]])
        if s:
            edge = np.append(-u, 1.0)
            self.inverse = np.pad(self.inverse, (0, 1)) + np.outer(edge, edge) / pivot
        else:
            self.inverse = np.array([[-corner, border[0]], [border[0], 0.0]])
        return True

    def leave(self, j: int) -> None:
        """Remove an example from S.

        Parameters
        ----------
        j : int
            Its place in S, from 0.

        Raises
        ------
        LostPath
            If the others alone have no inverse. Nothing has changed then.
        """
        if len(self) == 1:
            self.matrix = self.inverse = np.zeros((1, 1))
            return

        # the inverse without row and column k, rank one less: R_ij - R_ik R_kj / R_kk
        # (learning-and-unlearning-rank-one)
        k, R = j + 1, self.inverse
        if R[k, k] == 0:
            raise LostPath("the margin is singular without this example")
        R = R - np.outer(R[:, k], R[k]) / R[k, k]
        self.inverse, self.matrix = (np.delete(np.delete(M, k, 0), k, 1) for M in (R, self.matrix))

    def _pseudo_inverse(self) -> Array:
        """The inverse from the matrix, afresh."""
        return np.linalg.pinv(self.matrix, hermitian=True)
