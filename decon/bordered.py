"""The bordered system of a margin set, solved again and again while it grows and shrinks."""

import numpy as np

PRECISION = 1e-13  # of the right-hand side, to which a system is solved


class Bordered:
    """The matrix [[0, t^T], [t, Q]] and its inverse, for a margin set S.

    An example that enters or leaves S changes the inverse by a matrix of rank one [Cauwenberghs
    and Poggio 2001], O(|S|^2) instead of the O(|S|^3) of a new one. Rounding adds up on the way:
    solutions are refined, and where that does not help the inverse is computed afresh.

    Parameters
    ----------
    t : array (s,) of +1 and -1
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

    def __init__(self, t=(), Q=()):
        s = len(t)
        self.matrix = np.zeros((1 + s, 1 + s))
        self.inverse = np.zeros((1 + s, 1 + s))
        if s:
            self.matrix[0, 1:] = self.matrix[1:, 0] = t
            self.matrix[1:, 1:] = Q
            self._refactor()

    def __len__(self):
        return len(self.matrix) - 1

    def solve(self, right):
        """The solution u of matrix @ u = right: arrays (1 + s,)."""
        for refactored in (False, True):
            if refactored:
                self._refactor()
            solution = self.inverse @ right
            for _ in range(3):
                residual = right - self.matrix @ solution
                if np.abs(residual).max() <= PRECISION * np.abs(right).max():
                    return solution
                solution = solution + self.inverse @ residual
        return solution

    def enter(self, border, corner, smallest=0.0):
        """One more example: its border (t_k, Q_kS) and corner Q_kk.

        Returns
        -------
        bool
            False if it depends on the others, that is if the pivot, the corner's Schur complement,
            is not above `smallest`; nothing has changed then.
        """
        s = len(self)
        if s:
            u = self.solve(border)
            pivot = corner - border @ u
            if pivot <= smallest:
                return False
        self.matrix = np.block([[self.matrix, border[:, None]], [border, corner]])
        if not s:
            self.inverse = np.array([[-corner, border[0]], [border[0], 0.0]])
            return True
        edge = np.append(-u, 1.0)
        self.inverse = np.pad(self.inverse, (0, 1)) + np.outer(edge, edge) / pivot
        return True

    def leave(self, j):
        """Example j of S (from 0) is gone.

        Raises
        ------
        ArithmeticError
            If the others alone have no inverse. Nothing has changed then.
        """
        if len(self) == 1:
            self.__init__()
            return
        k, R = j + 1, self.inverse
        if R[k, k] == 0:
            raise ArithmeticError("the margin is singular without this example")
        R = R - np.outer(R[:, k], R[k]) / R[k, k]
        self.inverse = np.delete(np.delete(R, k, 0), k, 1)
        self.matrix = np.delete(np.delete(self.matrix, k, 0), k, 1)

    def _refactor(self):
        self.inverse = np.linalg.pinv(self.matrix, hermitian=True)
