"""Sums of tanh units, fitted to points of their decision boundary by Levenberg-Marquardt."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

LONGEST = 1.0  # longest step of a logarithm of a length, or of a bias, in one step of a fit
STALLED = 1e-2  # a fit ends when this share is not gained any more, a few steps in a row
FLATTEST = 1e-90  # smallest |grad f|, so that its cube is no zero
ROUNDING = 1e-16  # of f, where weights and threshold have norm 1
CANDIDATES, POLISHED = 3000, 8  # vectors that are tried for a new unit, and of these, improved


@dataclass
class Units:
    """The function f(z) = sum_i w_i tanh(a_i.z + beta_i) - b, whose zeros are a boundary.

    Attributes
    ----------
    vectors : array (k, m)
        The a_i.
    biases : array (k,)
        The beta_i: each unit may have its own.
    weights : array (k,)
    threshold : float

    Examples
    --------
    >>> f = Units(np.array([[1., 0.], [0., 2.]]), np.zeros(2), np.array([1., -1.]), 0.)
    >>> f([[2., 1.], [2., 0.]]).round(3) + 0.
    array([0.   , 0.964])
    """

    vectors: np.ndarray
    biases: np.ndarray
    weights: np.ndarray
    threshold: float

    def __call__(self, Z):
        """The values of f at the rows of Z: array (n, m) gives an array (n,)."""
        return np.tanh(np.asarray(Z) @ self.vectors.T + self.biases) @ self.weights - self.threshold

    def gradient(self, Z):
        """The gradients of f at the rows of Z: array (n, m)."""
        return (self.weights * self.slopes(Z)) @ self.vectors

    def slopes(self, Z):
        """The derivative of every tanh at its argument: array (n, k)."""
        u = np.asarray(Z) @ self.vectors.T + self.biases
        return 1 / np.cosh(np.clip(u, -300, 300)) ** 2

    @property
    def scale(self):
        """The length over which a typical unit goes from -1 to +1."""
        return 1 / np.median(np.linalg.norm(self.vectors, axis=1))

    def normalised(self):
        """The same boundary, with weights and threshold of norm 1."""
        norm = np.hypot(np.linalg.norm(self.weights), self.threshold)
        return Units(self.vectors, self.biases, self.weights / norm, self.threshold / norm)

    def with_unit(self, vector, bias, weight):
        """One unit more."""
        return Units(np.vstack([self.vectors, vector]), np.append(self.biases, bias),
                     np.append(self.weights, weight), self.threshold)


def sampson(units, Z, smoothing=0.0, jacobian=True):
    """Sampson's residual f/|grad f|: the distance of z from the zeros of f, to first order.

    Parameters
    ----------
    units : Units
    Z : array (n, m)
    smoothing : float
        With s > 0, f/sqrt(|grad f|^2 + s^2 <|grad f|^2>), where <.> is the mean over Z: points
        in whose neighbourhood a bad guess is almost constant do not outweigh all others.
    jacobian : bool
        False for the residual alone.

    Returns
    -------
    residual : array (n,)
    J_vectors (n, k, m), J_biases (n, k), J_weights (n, k), J_threshold (n, 1) : arrays
        Its derivatives.

    Examples
    --------
    >>> line = Units(np.array([[0., .5]]), np.zeros(1), np.ones(1), 0.)
    >>> sampson(line, np.array([[3., .01]]), jacobian=False).round(6)
    array([0.01])
    """
    A, w = units.vectors, units.weights
    u = Z @ A.T
    t, slopes = np.tanh(u + units.biases), units.slopes(Z)
    ws = w * slopes
    f, g = t @ w - units.threshold, ws @ A
    squared = (g**2).sum(1)
    norm = np.sqrt(np.maximum(squared + smoothing**2 * squared.mean(), FLATTEST**2))
    if not jacobian:
        return f / norm
    along = g @ A.T  # derivatives of f, and of |grad f|^2 / 2
    bend = -2 * ws * t * along
    df = ws[:, :, None] * Z[:, None], ws, t, -np.ones((len(Z), 1))
    dg = (ws[:, :, None] * g[:, None] + bend[:, :, None] * Z[:, None], bend, slopes * along,
          np.zeros((len(Z), 1)))

    def quotient(F, G):
        G = G + smoothing**2 * G.mean(0) if smoothing else G
        shape = (-1, *[1] * (F.ndim - 1))
        return F / norm.reshape(shape) - G * (f / norm**3).reshape(shape)

    return f / norm, *map(quotient, df, dg)


def fit_units(units, Z, biases="own", lengths_only=0, smoothing=(0.0,), importance=1.0,
              steps=100, patience=6):
    """Levenberg-Marquardt on Sampson's residual: units whose zeros pass through given points.

    Parameters
    ----------
    units : Units
        Where to start.
    Z : array (n, m)
        Points of the boundary.
    biases : str
        'own', 'common' (one number for all; the start must have it so) or 'kept'.
    lengths_only : int
        So many vectors, the first, keep their directions.
    smoothing : sequence of floats
        The fit is repeated with these, each from where the last one ended.
    importance : float or array (n,)
        Factors of the residuals.
    steps, patience : int
        Most steps, and how many may gain next to nothing.

    Returns
    -------
    units : Units
        With weights and threshold of norm 1.
    residual : float
        The root mean square of factor times residual, without smoothing; not below what the
        rounding of f explains, or units that are constant everywhere would fit everything.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 40)
    >>> Z = np.c_[x, np.arctanh(.5 * np.tanh(2 * x))]   # .5 tanh(2 x) = tanh(y)
    >>> guess = Units(np.array([[1.5, .1], [.1, 1.2]]), np.zeros(2), np.array([-.4, 1.]), 0.)
    >>> found, residual = fit_units(guess, Z)
    >>> bool(residual < 1e-12), found.vectors.round(3) + 0.
    (True, array([[2., 0.],
           [0., 1.]]))
    """
    k, n = len(units.weights), len(Z)
    B = {"own": np.eye(k), "common": np.ones((k, 1)), "kept": np.empty((k, 0))}[biases]
    units = units.normalised()
    for s in smoothing:
        damping, idle = 1e-2, 0
        r, *parts = sampson(units, Z, s)
        r = importance * r
        for _ in range(steps):
            along = (parts[0][:, :lengths_only] * units.vectors[:lengths_only]).sum(2)
            J_A = parts[0][:, lengths_only:].reshape(n, -1)
            J = np.hstack([along, J_A, parts[1] @ B, *parts[2:]]) * np.reshape(importance, (-1, 1))
            size = np.linalg.norm(J, axis=0)
            size[size == 0] = 1
            J /= size
            H, slope, cost = J.T @ J, J.T @ r, r @ r
            for _ in range(12):
                H[np.diag_indices(len(H))] = 1 + damping
                try:
                    d = -np.linalg.solve(H, slope) / size
                    trial = _moved(units, d, B, lengths_only)
                    r = importance * sampson(trial, Z, s, jacobian=False)
                except np.linalg.LinAlgError:
                    r = np.full(n, np.inf)
                if r @ r < cost:
                    break
                damping *= 4
            else:
                break
            units, damping = trial, max(damping / 5, 1e-15)
            idle = idle + 1 if cost - r @ r < STALLED * cost else 0
            if idle >= patience:
                break
            r, *parts = sampson(units, Z, s)
            r = importance * r
    blind = ROUNDING / np.maximum(np.linalg.norm(units.gradient(Z), axis=1), FLATTEST)
    r = importance * np.hypot(sampson(units, Z, jacobian=False), blind)
    return units, float(np.sqrt(np.mean(r**2)))


def _moved(units, d, B, lengths_only):
    """The units after a step d, no longer than LONGEST in logarithms and biases."""
    A, k, n = units.vectors, len(units.weights), d.size
    longer, dA, db, dw, dt = np.split(d, [lengths_only, n - B.shape[1] - k - 1, n - k - 1, n - 1])
    A = np.vstack([A[:lengths_only] * np.exp(np.clip(longer, -LONGEST, LONGEST))[:, None],
                   A[lengths_only:] + dA.reshape(-1, A.shape[1])])
    step = np.clip(B @ db, -LONGEST, LONGEST)
    return Units(A, units.biases + step, units.weights + dw, units.threshold + dt[0]).normalised()


def new_units(units, Z, rng):
    """Guesses of one more unit that explains what is left of the residual: `POLISHED` of them.

    Matching pursuit: to first order the units that are there adapt to a new one, so that what
    counts of the residual r, and of the new unit's column tanh(a.z + beta)/|grad f|, is the part
    orthogonal to the Jacobian's columns. Random vectors a are tried; the best are improved.

    Returns
    -------
    list of Units
        Each with one unit more, the best first.

    Raises
    ------
    ArithmeticError
        If vectors have grown or shrunk out of all bounds.
    """
    m = Z.shape[1]
    r, *parts = sampson(units, Z)
    Q = np.linalg.qr(np.hstack([part.reshape(len(Z), -1) for part in parts]))[0]
    height = -parts[-1]  # 1/|grad f|

    def rest(columns):
        return columns - Q @ (Q.T @ columns)

    r = rest(r)
    lengths = np.linalg.norm(units.vectors, axis=1)
    if not (lengths.min() > 0 and lengths.max() < np.inf):
        raise ArithmeticError("the best fit has vectors of length 0 or infinity")
    A = rng.standard_normal((CANDIDATES, m))
    A *= (np.exp(rng.uniform(np.log(lengths.min() / 2), np.log(2 * lengths.max()), CANDIDATES))
          / np.linalg.norm(A, axis=1))[:, None]
    beta = rng.choice(units.biases, CANDIDATES)
    columns = rest(height * np.tanh(Z @ A.T + beta))
    squared = (columns**2).sum(0)
    weights = -(r @ columns) / squared
    best = np.argsort(-(weights**2 * squared))[:POLISHED]

    def residual(x):
        return r + rest(x[-1] * height[:, 0] * np.tanh(Z @ x[:-2] + x[-2]))

    def jacobian(x):
        t = np.tanh(Z @ x[:-2] + x[-2])[:, None]
        slope = x[-1] * (1 - t**2)
        return rest(height * np.hstack([slope * Z, slope, t]))

    found = [least_squares(residual, np.r_[A[j], beta[j], weights[j]], jacobian, method="lm",
                           x_scale="jac", max_nfev=60) for j in best]
    return [units.with_unit(fit.x[:-2], fit.x[-2], fit.x[-1])
            for fit in sorted(found, key=lambda fit: fit.cost)]
