"""Sums of tanh units, fitted to points of their decision boundary by Levenberg-Marquardt."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares

from ...numerics.least_squares import levenberg_marquardt
from ...types import Array
from ..protocol import Refuted
from .settings import SETTINGS
from .tanh_sum import TanhSum, sampson, sampson_jacobian, steepness


@dataclass(frozen=True)
class SampsonFit:
    """Least squares of Sampson's residual: the residual, its Jacobian, and the update by a step.

    The free parameters are the logarithms of the lengths of those vectors that keep their
    directions, then all numbers of the other vectors, the biases as far as they are free, the
    weights and the threshold.

    Attributes
    ----------
    Z : array (n, m)
        Boundary points.
    free_biases : array (k, q)
        A step s of the q free parameters of the biases adds free_biases @ s to them.
    lengths_only : int
        So many vectors, the first, keep their directions.
    importance : float or array (n,)
        Factors of the residuals.
    smoothing : float, at least 0
        As for `sampson`.

    Examples
    --------
    >>> line = TanhSum(np.array([[0., .5]]), np.zeros(1), np.ones(1), 0.)
    >>> fit = SampsonFit(np.array([[3., .01]]), np.eye(1), 1, importance=100.)
    >>> fit.residual(line).round(4), fit.jacobian(line).shape
    (array([1.]), (1, 4))
    >>> fit.updated(line, np.array([np.log(2), 0., 0., 0.])).vectors
    array([[0., 1.]])
    """

    Z: Array
    free_biases: Array
    lengths_only: int
    importance: float | Array
    smoothing: float = 0.0

    def residual(self, units: TanhSum) -> Array:
        """Sampson's residual, times its importance.

        Parameters
        ----------
        units : TanhSum

        Returns
        -------
        r : array (n,)
        """
        return self.importance * sampson(units, self.Z, self.smoothing)

    def jacobian(self, units: TanhSum) -> Array:
        """Its derivatives by the free parameters, by the chain rule.

        Parameters
        ----------
        units : TanhSum

        Returns
        -------
        J : array (n, p)
        """
        (k, m), fixed = units.vectors.shape, self.lengths_only
        J = sampson_jacobian(units, self.Z, self.smoothing)
        by_vectors, by_biases, others = np.split(J, [k * m, k * m + k], axis=1)
        along = by_vectors.reshape(-1, k, m)[:, :fixed] * units.vectors[:fixed]
        free = along.sum(2), by_vectors[:, fixed * m:], by_biases @ self.free_biases, others
        return np.hstack(free) * np.reshape(self.importance, (-1, 1))

    def linearised(self, units: TanhSum, r: Array) -> Callable[[float], TanhSum]:
        """Where damped steps lead.

        Parameters
        ----------
        units : TanhSum
        r : array (n,)
            Their residual.

        Returns
        -------
        stepped : callable
            stepped(damping) are the units after a step.
        """
        # the normal equations, every column of J divided by its length (eq-tanh-at-infinity-lm)
        J = self.jacobian(units)
        size = np.linalg.norm(J, axis=0)
        size[size == 0] = 1
        J /= size
        H, slope = J.T @ J, J.T @ r

        def stepped(damping):
            H[np.diag_indices(len(H))] = 1 + damping
            try:
                step = -np.linalg.solve(H, slope) / size
            except np.linalg.LinAlgError:  # singular as rounded
                step = np.nan * size  # leads nowhere
            return self.updated(units, step)

        return stepped

    def updated(self, units: TanhSum, step: Array) -> TanhSum:
        """The units after a step that is cut short in logarithms and biases.

        Parameters
        ----------
        units : TanhSum
        step : array (p,)

        Returns
        -------
        units : TanhSum
            With weights and threshold of norm 1.
        """
        (k, q), longest = self.free_biases.shape, SETTINGS.longest_step
        A, rest = np.split(units.vectors, [self.lengths_only])
        longer, dA, db, dw, dt = np.split(step, np.cumsum([len(A), rest.size, q, k]))
        A = A * np.exp(np.clip(longer, -longest, longest))[:, None]
        db = np.clip(self.free_biases @ db, -longest, longest)
        return TanhSum(np.vstack([A, rest + dA.reshape(rest.shape)]), units.biases + db,
                       units.weights + dw, units.threshold + dt[0]).normalised()


def fit_units(units: TanhSum, Z: Array, biases: str = "own", lengths_only: int = 0,
              smoothings: tuple[float, ...] = (0.0,), importance: float | Array = 1.0,
              steps: int = 100, patience: int = 6) -> tuple[TanhSum, float]:
    """Levenberg-Marquardt on Sampson's residual: units whose zeros pass through given points.

    Parameters
    ----------
    units : TanhSum
        Where to start.
    Z : array (n, m)
        Points of the boundary.
    biases : 'own', 'common' or 'kept'
        'common' is one number for all; the start must have it so.
    lengths_only : int
        So many vectors, the first, keep their directions.
    smoothings : tuple of floats
        The fit is repeated with these, each from where the last one ended.
    importance : float or array (n,)
        Factors of the residuals.
    steps, patience : int
        Most steps, and how many in a row may gain next to nothing.

    Returns
    -------
    units : TanhSum
        With weights and threshold of norm 1.
    residual : float
        The root mean square of factor times residual, without smoothing; not below what the
        rounding of f explains, or units that are constant everywhere would fit everything.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 40)
    >>> Z = np.c_[x, np.arctanh(.5 * np.tanh(2 * x))]   # .5 tanh(2 x) = tanh(y)
    >>> guess = TanhSum(np.array([[1.5, .1], [.1, 1.2]]), np.zeros(2), np.array([-.4, 1.]), 0.)
    >>> found, residual = fit_units(guess, Z)
    >>> bool(residual < 1e-12), found.vectors.round(3) + 0.
    (True, array([[2., 0.],
           [0., 1.]]))
    """
    k = len(units.weights)
    free = {"own": np.eye(k), "common": np.ones((k, 1)), "kept": np.empty((k, 0))}[biases]
    problem, units = SampsonFit(Z, free, lengths_only, importance), units.normalised()
    for smoothing in smoothings:
        fit = replace(problem, smoothing=smoothing)
        units = levenberg_marquardt(fit.residual, fit.linearised, units, steps, SETTINGS.damping,
                                    SETTINGS.least_damping, SETTINGS.least_gain, patience)

    # the residual, and what the rounding of f, 1e-16, makes of a zero
    rounding = 1e-16 / steepness(units.gradient(Z))
    r = importance * np.hypot(sampson(units, Z), rounding)
    return units, float(np.sqrt(np.mean(r**2)))


def new_units(units: TanhSum, Z: Array, rng: np.random.Generator) -> list[TanhSum]:
    """Guesses of one more unit that explains what is left of the residual.

    Matching pursuit: to first order the units that are there adapt to a new one, so that what
    counts of the residual r, and of the new unit's column tanh(a.z + beta)/|grad f|, is the part
    orthogonal to the Jacobian's columns. Random vectors a are tried; the best are improved.

    Parameters
    ----------
    units : TanhSum
        The best fit so far.
    Z : array (n, m)
        Points of the boundary.
    rng : numpy.random.Generator

    Returns
    -------
    list of TanhSum
        Each with one unit more, the best first.

    Raises
    ------
    Refuted
        If vectors have grown or shrunk out of all bounds.
    """
    lengths, m, n = np.linalg.norm(units.vectors, axis=1), Z.shape[1], SETTINGS.candidates
    if not (lengths.min() > 0 and lengths.max() < np.inf):
        raise Refuted("no tanh machine: the best fit has vectors of length 0 or infinity")

    # what the Jacobian's columns leave of others, by projection; its last column is -1/|grad f|
    # (eq-tanh-at-infinity-sampson)
    J = sampson_jacobian(units, Z)
    Q, height = np.linalg.qr(J)[0], -J[:, -1:]

    def rest(columns):
        return columns - Q @ (Q.T @ columns)

    # random units, with the weights that explain most of the residual (matching pursuit)
    r, A = rest(sampson(units, Z)), rng.standard_normal((n, m))
    sizes = np.exp(rng.uniform(np.log(lengths.min() / 2), np.log(2 * lengths.max()), n))
    A *= (sizes / np.linalg.norm(A, axis=1))[:, None]
    biases = rng.choice(units.biases, n)
    columns = rest(height * np.tanh(Z @ A.T + biases))
    squared = (columns**2).sum(0)
    weights = -(r @ columns) / squared
    best = np.argsort(-(weights**2 * squared))[:SETTINGS.improved_candidates]

    # a least-squares fit of (a, beta, w) from each of the best (eq-tanh-at-infinity-lm)
    def residual(x):
        return r + rest(x[-1] * height[:, 0] * np.tanh(Z @ x[:m] + x[m]))

    def jacobian(x):
        t = np.tanh(Z @ x[:m] + x[m])[:, None]
        slope = x[-1] * (1 - t**2)
        return rest(height * np.hstack([slope * Z, slope, t]))

    found = [least_squares(residual, start, jacobian, method="lm", x_scale="jac", max_nfev=60)
             for start in np.column_stack([A, biases, weights])[best]]
    found.sort(key=lambda fit: fit.cost)
    return [TanhSum(np.vstack([units.vectors, fit.x[:m]]), np.append(units.biases, fit.x[m]),
                    np.append(units.weights, fit.x[-1]), units.threshold) for fit in found]
