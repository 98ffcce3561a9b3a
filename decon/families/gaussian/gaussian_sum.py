"""A sum of Gaussians with free centres, fitted so that its zeros pass through given points."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from ...numerics.least_squares import levenberg_marquardt
from ...types import Array
from .settings import SETTINGS


@dataclass(frozen=True)
class GaussianSum:
    """The function f(x) = sum_i a_i exp(-tau |x - c_i|^2) - b.

    Its M (d + 1) + 2 parameters stand in the order centres, weights, threshold, log tau.

    Parameters
    ----------
    centres : array (M, d)
        The c_i.
    weights : array (M,)
        The a_i.
    threshold : float
        The number b.
    log_tau : float
        The logarithm of tau = 1 / (2 sigma^2).

    Examples
    --------
    >>> f = GaussianSum(np.array([[0., 1.]]), np.array([2.]), 1.0, 0.0)
    >>> X = np.array([[0., 1.], [0., 0.]])
    >>> f.values(X)[0].round(4), f.values(X)[1].round(4) + 0.
    (array([ 1.    , -0.2642]), array([[0.    , 0.    ],
           [0.    , 1.4715]]))
    """

    centres: Array = field(repr=False)
    weights: Array = field(repr=False)
    threshold: float
    log_tau: float

    def terms(self, X: Array) -> tuple[Array, Array]:
        """The squared distances |x - c_i|^2, and their Gaussians.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        squares, gaussians : arrays (n, M)
        """
        squares = (X**2).sum(1)[:, None] - 2 * X @ self.centres.T + (self.centres**2).sum(1)
        squares = np.maximum(squares, 0)
        return squares, np.exp(-np.exp(self.log_tau) * squares)

    def values(self, X: Array) -> tuple[Array, Array]:
        """The function and its gradient.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        f : array (n,)
        gradient : array (n, d)
        """
        K = self.terms(X)[1] * self.weights
        total = K.sum(1)
        gradient = 2 * np.exp(self.log_tau) * (K @ self.centres - total[:, None] * X)
        return total - self.threshold, gradient

    def sampson(self, X: Array, floor: float = 0.0) -> Array:
        """Sampson's residual f / |grad f|: about the distance of a point from the zeros.

        Parameters
        ----------
        X : array (n, d)
        floor : float
            Added in quadrature to |grad f|, so that no point with a small gradient dominates.

        Returns
        -------
        r : array (n,)
        """
        f, gradient = self.values(X)
        return f / np.hypot(np.linalg.norm(gradient, axis=1), floor)

    def sampson_jacobian(self, X: Array, floor: float = 0.0) -> Array:
        """Its derivatives by all parameters, with those of |grad f|.

        With g = |grad f| and n = grad f / g, dr = (df - r n . d grad f) / g.

        Parameters
        ----------
        X : array (n, d)
        floor : float
            As for `sampson`.

        Returns
        -------
        J : array (n, M (d + 1) + 2)
        """
        # the residual, and u_i = n . (x - c_i)
        (squares, E), (f, gradient), tau = self.terms(X), self.values(X), np.exp(self.log_tau)
        g = np.hypot(np.linalg.norm(gradient, axis=1), floor)[:, None]
        r, normals, K = f[:, None] / g, gradient / g, E * self.weights
        u = (normals * X).sum(1)[:, None] - normals @ self.centres.T
        stretched = 1 + 2 * tau * r * u

        # by c_i: 2 tau a_i e_i ((1 + 2 tau r u_i) (x - c_i) - r n) / g
        (k, d), n = self.centres.shape, len(X)
        J = np.empty((n, k * (d + 1) + 2))
        by_centres = J[:, :k * d].reshape(n, k, d)
        np.subtract(X[:, None], self.centres, out=by_centres)
        by_centres *= stretched[:, :, None]
        by_centres -= (r * normals)[:, None]
        by_centres *= (2 * tau * K / g)[:, :, None]

        # by a_i: e_i (1 + 2 tau r u_i) / g; by b: -1 / g; by log tau
        J[:, k * d:-2] = E * stretched / g
        J[:, -2] = -1 / g[:, 0]
        J[:, -1] = tau * (K * (2 * r * u * (1 - tau * squares) - squares)).sum(1) / g[:, 0]
        return J

    def moved(self, step: Array, X: Array) -> "GaussianSum":
        """The sum after a step of its parameters, scaled so that its gradients have a mean of 1.

        Parameters
        ----------
        step : array (M (d + 1) + 2,)
        X : array (n, d)
            Where the root mean square of |grad f| is to be 1.

        Returns
        -------
        total : GaussianSum
        """
        (k, d), longest = self.centres.shape, SETTINGS.longest_step
        centres = self.centres + step[:k * d].reshape(k, d)
        log_tau = self.log_tau + np.clip(step[-1], -longest, longest)
        moved = GaussianSum(centres, self.weights + step[k * d:-2], self.threshold + step[-2],
                            float(log_tau))
        size = np.sqrt((moved.values(X)[1] ** 2).sum(1).mean())
        return GaussianSum(centres, moved.weights / size, moved.threshold / size, moved.log_tau)


def scaled_normal_equations(J: Array) -> tuple[Array, Array]:
    """J^T J with columns of length 1, and the lengths that they had.

    Parameters
    ----------
    J : array (n, p)

    Returns
    -------
    H : array (p, p)
    size : array (p,)
    """
    H = J.T @ J
    size = np.sqrt(np.diag(H))
    size[~(size > 0)] = 1
    return H / np.outer(size, size), size


def fit_sum(total: GaussianSum, X: Array, floor: float, steps: int, least_gain: float = 0.01,
            patience: int = 6, spend: Callable[[int], None] = lambda work: None) -> GaussianSum:
    """Levenberg's steps on Sampson's residual, every column of the Jacobian scaled.

    Parameters
    ----------
    total : GaussianSum
        Where to start.
    X : array (n, d)
        Points of the boundary.
    floor : float
        Under |grad f|, whose root mean square is 1.
    steps, least_gain, patience
        As for `levenberg_marquardt`.
    spend : callable
        Is told the work before every step: points times numbers squared. May raise.

    Returns
    -------
    total : GaussianSum
    """
    def linearised(total, r):
        """Where damped steps lead (eq-tanh-at-infinity-lm)."""
        spend(len(X) * (total.centres.size + len(total.centres) + 2) ** 2)
        J = total.sampson_jacobian(X, floor)
        H, size = scaled_normal_equations(J)
        slope = J.T @ r / size

        def stepped(damping):
            H[np.diag_indices(len(H))] = 1 + damping
            try:
                step = -cho_solve(cho_factor(H, check_finite=False), slope, check_finite=False)
            except LinAlgError:  # singular as rounded
                step = np.nan * size  # leads nowhere
            return total.moved(step / size, X)

        return stepped

    total = total.moved(np.zeros(total.centres.size + len(total.centres) + 2), X)
    return levenberg_marquardt(lambda total: total.sampson(X, floor), linearised, total, steps,
                               SETTINGS.damping, SETTINGS.least_damping, least_gain, patience)


def with_best_weights(centres: Array, log_tau: float, X: Array, V: Array) -> GaussianSum:
    """Weights and threshold for given centres, by Taubin's generalised eigenvalue problem.

    The sum of f^2 is minimised against that of (v . grad f)^2 + f^2.

    Parameters
    ----------
    centres : array (M, d)
    log_tau : float
    X, V : arrays (n, d)
        Points of the boundary, and the directions of their brackets, from - to +.

    Returns
    -------
    total : GaussianSum
    """
    # f and v . grad f, linear in (a, b)
    E = GaussianSum(centres, np.ones(len(centres)), 0.0, log_tau).terms(X)[1]
    A = np.c_[E, -np.ones(len(X))]
    B = -2 * np.exp(log_tau) * E * ((V * X).sum(1)[:, None] - V @ centres.T)
    B = np.c_[B, np.zeros(len(X))]

    # the smallest eigenvalue, with a ridge; f grows along the brackets
    fits = A.T @ A
    grows = B.T @ B + fits
    grows[np.diag_indices(len(grows))] += SETTINGS.ridge * np.trace(grows) / len(grows)
    solution = eigh(fits, grows, subset_by_index=[0, 0])[1][:, 0]
    solution = solution * (np.sign((B @ solution).sum()) or 1)
    return GaussianSum(centres, solution[:-1], float(solution[-1]), log_tau)


def centre_deviations(total: GaussianSum, X: Array) -> Array:
    """What errors of standard deviation 1 in the points of a fit leave in every centre.

    Parameters
    ----------
    total : GaussianSum
        Fitted to X.
    X : array (n, d)

    Returns
    -------
    deviations : array (M,)
        Root mean square lengths, in units of the errors; infinite where a number moves no point,
        or a point has no normal.
    """
    J, (k, d) = total.sampson_jacobian(X), total.centres.shape
    size = np.linalg.norm(J, axis=0)
    if not np.isfinite(size).all() or not size.all():
        return np.full(k, np.inf)
    spread = np.linalg.norm(np.linalg.pinv(J / size, rcond=1e-14), axis=1) / size
    return np.linalg.norm(spread[:k * d].reshape(k, d), axis=1)
