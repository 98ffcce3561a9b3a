"""A sum of cubes from fewer linear equations than a cubic has coefficients."""

from dataclasses import dataclass, field

import numpy as np

from ...numerics.least_squares import levenberg_marquardt
from ...types import Array, RandomState
from .settings import SETTINGS


@dataclass
class Equations:
    """T(h, h, t) = 0, with one h and one t in every row, for the symmetric tensor of a cubic.

    T(h, h, h) is the cubic at z, where h = (z, 1), and T(h, h, t) a third of its derivative there
    along t, whose last entry is 0.

    Attributes
    ----------
    H, T : arrays (n, m + 1)
        For each equation h and t.
    along_H, along_T : arrays (k, m + 1)
        The same for derivatives that are 1 in the mean: this fixes the cubic's factor.
    """

    H: Array = field(repr=False)
    T: Array = field(repr=False)
    along_H: Array = field(repr=False)
    along_T: Array = field(repr=False)

    def __len__(self) -> int:
        return len(self.H)

    def with_points(self, Z: Array) -> "Equations":
        """These, and those of further points.

        Parameters
        ----------
        Z : array (n, m)
            Where the cubic is 0.

        Returns
        -------
        equations : Equations
        """
        H = lengthened(Z)
        return Equations(np.r_[self.H, H], np.r_[self.T, H], self.along_H, self.along_T)


@dataclass
class Completion:
    """A sum of cubes sum_i (v_i.h)^3 - b, h = (z, 1).

    Attributes
    ----------
    V : array (m, m + 1)
        The vectors v_i.
    b : float
    error : float
        Root mean square of what it misses the equations by.
    """

    V: Array = field(repr=False)
    b: float
    error: float


def lengthened(Z: Array) -> Array:
    """h = (z, 1), of length 1, so that far points do not rule.

    Parameters
    ----------
    Z : array (n, m)

    Returns
    -------
    H : array (n, m + 1)

    Examples
    --------
    >>> lengthened(np.array([[0.75]]))
    array([[0.6, 0.8]])
    """
    return np.c_[Z, np.ones(len(Z))] / np.sqrt(1 + (Z**2).sum(1, keepdims=True))


def completed(equations: Equations, m: int, enough: float, best: Completion | None = None,
              random_state: RandomState = 0) -> Completion:
    """The sum of m cubes and a constant that solves linear equations for its coefficients best.

    It has m (m + 1) + 1 numbers, far fewer than a cubic has coefficients, and about twice as many
    equations as numbers show it. Damped Gauss-Newton steps start from random vectors, and again
    from the best sum so far with a few of its vectors drawn anew.

    Parameters
    ----------
    equations : Equations
    m : int
    enough : float
        A smaller error ends the search.
    best : Completion, optional
        The best sum for fewer equations.
    random_state : int or numpy.random.Generator

    Returns
    -------
    best : Completion

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> V, H, T = (rng.standard_normal((n, 5)) for n in (4, 32, 32))  # 21 numbers
    >>> squares = (H @ V.T) ** 2
    >>> T[:, 0] -= (squares * (T @ V.T)).sum(1) / (squares @ V)[:, 0]  # T(h, h, t) = 0
    >>> h = rng.standard_normal((1, 5))
    >>> found = completed(Equations(H, T, h, h / ((h @ V.T) ** 3).sum()), 4, enough=1e-9)
    >>> bool(np.abs(found.V[:, None] - V).max(2).min(0).max() < 1e-6)
    True
    """
    rng, n = np.random.default_rng(random_state), equations.H.shape[1]
    if best is not None:
        best = _fitted(equations, best.V, best.b)
    for start in range(SETTINGS.completions):
        # from random vectors, or from the best so far with a few of them drawn anew
        V, b = _normalised(equations, rng.standard_normal((m, n))), 0.0
        if best is not None and (start + 1) % SETTINGS.restarts:
            again = rng.permutation(m) < rng.integers(1, min(m, SETTINGS.drawn_anew) + 1)
            V, b = np.where(again[:, None], V, best.V), best.b
        trial = _fitted(equations, V, b)
        if best is None or trial.error < best.error:
            best = trial
        if best.error < enough:
            break
    assert best is not None
    return best


def _values(V, b, H, T):
    """T(h, h, t), of the tensor of a sum of cubes."""
    return ((H @ V.T) ** 2 * (T @ V.T)).sum(1) - b * H[:, -1] ** 2 * T[:, -1]


def _derivatives(V, H, T):
    """Its derivatives by the vectors, row by row, and by b."""
    forms, slopes = H @ V.T, T @ V.T
    by_vectors = (2 * forms * slopes)[:, :, None] * H[:, None] + (forms**2)[:, :, None] * T[:, None]
    return np.c_[by_vectors.reshape(len(H), -1), -H[:, -1] ** 2 * T[:, -1]]


def _normalised(equations, V):
    """Vectors of such a length that the derivatives that are 1 in the mean are about that."""
    slopes = _values(V, 0.0, equations.along_H, equations.along_T)
    return V * np.copysign(np.mean(slopes**2) ** (-1 / 6), slopes.mean())


def _fitted(equations, V, b):
    """A sum of cubes after damped Gauss-Newton steps."""
    shape, weight = V.shape, np.sqrt(len(equations))
    pairs, along = (equations.H, equations.T), (equations.along_H, equations.along_T)

    def residual(x):
        V, b = x[:-1].reshape(shape), x[-1]
        return np.r_[_values(V, b, *pairs), weight * (_values(V, b, *along).mean() - 1)]

    def linearised(x, r):
        V = x[:-1].reshape(shape)
        J = np.r_[_derivatives(V, *pairs), weight * _derivatives(V, *along).mean(0)[None]]
        products, right, diagonal = J.T @ J, J.T @ r, np.arange(len(x))
        mean = np.trace(products) / len(x)

        def stepped(damping):
            damped = products.copy()
            damped[diagonal, diagonal] += (damping + 1e-12) * mean
            return x - np.linalg.solve(damped, right)
        return stepped

    x = levenberg_marquardt(residual, linearised, np.r_[V.ravel(), b], SETTINGS.completion_steps,
                            1e-2, 1e-8, SETTINGS.least_completion_gain,
                            SETTINGS.completion_patience)
    return Completion(x[:-1].reshape(shape), float(x[-1]), float(np.sqrt(np.mean(residual(x)**2))))
