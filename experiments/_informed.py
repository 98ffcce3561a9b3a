"""Brackets that know what they will find: a machine that is nearly known, fitted to the last digit.

The covariance of what is known chooses the next lines, and each query goes to the median of where
the boundary may still be: so nearly every answer is worth a bit. What earlier stages have
measured is used again, each point with the width of its bracket.
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import stdtr, stdtrit

from decon import Gaussian, KernelMachine, Tanh

DEGREES = 4  # of freedom of the predictive distribution: Student's
HALVING = 0.5  # brackets shorter than so many standard errors are halved
BATCH, CANDIDATES = 8, 300  # lines at a time, of so many
STOP = 30  # a crossing known to so many widths is not measured
LOST = 20  # lines without a crossing, and the start was wrong
GOOD = 10.0  # widths of brackets by which a fit may miss a point
WIDE = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8)  # errors that points are given at first


def predicted_crossings(oracle, X, V, error, width, farthest):
    """Where on X + t V, predicted at t = 0 with standard errors, is the boundary?

    Every query goes to the median of a Student distribution, cut to what is known: about
    log2(error / width) + 2 queries. Labels go from -1 to +1 along V.

    Parameters
    ----------
    oracle : callable
    X, V : arrays (n, d)
    error, farthest : arrays (n,)
        Standard errors, and how far from 0 a crossing is given up.
    width : float

    Returns
    -------
    t : array (n,)
        NaN where none was met.
    """
    low, high = np.full(len(X), -np.inf), np.full(len(X), np.inf)
    j = np.arange(len(X))
    while len(j):
        # the median of what is left, or the middle of a short bracket
        a, b = low[j] / error[j], high[j] / error[j]
        middle = stdtrit(DEGREES, (stdtr(DEGREES, a) + stdtr(DEGREES, b)) / 2)
        short = b - a < HALVING
        middle[short] = (a[short] + b[short]) / 2
        t = np.clip(middle, a, b) * error[j]

        # its label
        positive = oracle(X[j] + t[:, None] * V[j]) > 0
        high[j[positive]], low[j[~positive]] = t[positive], t[~positive]
        j = j[(high[j] - low[j] > width) & (low[j] < farthest[j]) & (high[j] > -farthest[j])]
    t = (low + high) / 2
    return np.where((low < farthest) & (high > -farthest), t, np.nan)


class Numbers:
    """A kernel machine as a vector of numbers, each in units of how well it is known.

    Parameters
    ----------
    machine : KernelMachine
        Polynomial with gamma = 1, tanh with alpha = 1, or Gaussian.
    vectors, others : floats
        Standard errors of the coordinates of support vectors; of weights, threshold and the
        kernel's constant (beta, or log sigma).
    """

    def __init__(self, machine, vectors, others):
        self.kernel, (self.m, self.d) = machine.kernel, machine.support_vectors.shape
        constant = isinstance(machine.kernel, (Tanh, Gaussian))
        self.unit = np.r_[np.full(self.m * self.d, vectors),
                          np.full(self.m + 1 + constant, others)]

    def pack(self, machine):
        """The numbers of a machine."""
        kernel = machine.kernel
        constant = ([kernel.beta] if isinstance(kernel, Tanh) else
                    [np.log(kernel.sigma)] if isinstance(kernel, Gaussian) else [])
        return np.r_[machine.support_vectors.ravel(), machine.weights, machine.threshold,
                     constant] / self.unit

    def machine(self, numbers):
        """The machine of these numbers."""
        numbers, k = numbers * self.unit, self.m * self.d
        kernel = (Tanh(1.0, float(numbers[-1])) if isinstance(self.kernel, Tanh) else
                  Gaussian(float(np.exp(numbers[-1]))) if isinstance(self.kernel, Gaussian) else
                  self.kernel)
        return KernelMachine(kernel, numbers[:k].reshape(self.m, self.d),
                             numbers[k:k + self.m], numbers[k + self.m])

    def jacobian(self, machine, X):
        """Derivatives of the decision function at points by the numbers: array (n, p)."""
        Y, w, kernel = machine.support_vectors, machine.weights, machine.kernel
        K, steps, last = kernel(X, Y), X[:, None, :], []
        if isinstance(kernel, Gaussian):
            steps, slopes = X[:, None, :] - Y, w * K / kernel.sigma**2
            last = [(slopes * (steps**2).sum(2)).sum(1)]
        elif isinstance(kernel, Tanh):
            slopes = w * (1 - K**2)
            last = [slopes.sum(1)]
        else:
            slopes = w * kernel.degree * (X @ Y.T + kernel.coef0) ** (kernel.degree - 1)
        vectors = (slopes[:, :, None] * steps).reshape(len(X), self.m * self.d)
        return np.column_stack([vectors, K, -np.ones(len(X)), *last]) * self.unit


def boundary_of(machine, n, scale, rng):
    """Points of a machine's own boundary, its normals and slopes there; no query is needed."""
    d = machine.dimension
    X = rng.standard_normal((3 * n, d)) * scale / np.sqrt(d) * rng.choice([0.5, 1, 2], (3 * n, 1))
    for _ in range(30):
        f, g = machine.decision_function(X), machine.gradient(X)
        slope = np.maximum(np.linalg.norm(g, axis=1), 1e-300)
        X = X - (np.clip(f / slope, -scale / 2, scale / 2) / slope)[:, None] * g
    f, g = machine.decision_function(X), machine.gradient(X)
    slope = np.linalg.norm(g, axis=1)
    near = (np.abs(f) < 1e-9 * slope * scale) & (np.linalg.norm(X, axis=1) < 4 * scale)
    return X[near][:n], (g / slope[:, None])[near][:n], slope[near][:n]


def fitted(numbers, theta, start, X, widths, steps=10):
    """Gauss-Newton steps to points and a prior: the numbers, R of the information, largest misfit.

    Whole steps first; where they lead astray, damped ones, with wide errors that become narrow.
    """
    with np.errstate(all="ignore"):
        found = _stepped(numbers, theta, start, X, widths, steps, shares=(1.0,))
        if not found[2] < GOOD:
            for wide in WIDE:
                theta, *_ = _stepped(numbers, theta, start, X, np.maximum(widths, wide), steps)
            found = _stepped(numbers, theta, start, X, widths, steps)
    return found


def _stepped(numbers, theta, start, X, widths, steps, shares=(1, 0.5, 0.25, 0.1, 0.03, 0.01)):
    """Gauss-Newton steps, whole ones or the first of these shares that helps."""

    def misfits(theta):
        machine = numbers.machine(theta)
        slope = np.linalg.norm(machine.gradient(X), axis=1)
        return np.r_[machine.decision_function(X) / (slope * widths), theta - start]

    r, R = misfits(theta), np.eye(len(theta))
    for _ in range(steps):
        # the Jacobian, large rows first for the sake of rounding
        machine = numbers.machine(theta)
        slope = np.linalg.norm(machine.gradient(X), axis=1)
        rows = numbers.jacobian(machine, X) / (slope * widths)[:, None]
        A = np.r_[rows, np.eye(len(theta))]
        order = np.argsort(-np.linalg.norm(A, axis=1))
        if not np.isfinite(A).all():
            return theta, R, np.inf
        Q, R = np.linalg.qr(A[order])
        step = -solve_triangular(R, Q.T @ r[order])

        # a step; the last one, if it was small
        for share in shares:
            after = misfits(theta + share * step)
            if after @ after < r @ r or len(shares) == 1:
                theta, r = theta + share * step, after
                break
        else:
            break
        if np.abs(step).max() < 1e-10:
            break
    return theta, R, np.abs(r[:len(X)]).max(initial=0)


def informed_fit(oracle, machine, errors, scale, width, rng, known=None):
    """A machine that is nearly known, from brackets on the lines that tell most.

    Parameters
    ----------
    oracle : Oracle
    machine : KernelMachine
        With about the right support vectors.
    errors : (float, float)
        See `Numbers`.
    scale, width : floats
        The size of the data, and the width of brackets.
    rng : numpy.random.Generator
    known : (array (n, d), array (n,)), optional
        Boundary points that were measured before, and the widths of their brackets.

    Returns
    -------
    machine : KernelMachine
    brackets : int
        How many were measured.

    Raises
    ------
    RuntimeError
        If the boundary is not where the machine and its errors allow it.
    """
    numbers = Numbers(machine, *errors)
    start = theta = numbers.pack(machine)
    X, widths = (np.empty((0, machine.dimension)), np.empty(0)) if known is None else known
    theta, R, _ = fitted(numbers, theta, start, X, widths)
    first, lost = len(X), 0
    while lost <= LOST and len(X) - first <= 2 * len(theta):
        # crossings of lines along normals, and their standard errors
        C, N, slope = boundary_of(numbers.machine(theta), CANDIDATES, scale, rng)
        if len(C) == 0:
            break
        rows = numbers.jacobian(numbers.machine(theta), C) / slope[:, None]
        whitened = solve_triangular(R, rows.T, trans="T")
        errors_before = spread = np.linalg.norm(whitened, axis=0)

        # the most uncertain ones, each given those before it
        chosen = []
        while len(chosen) < BATCH and spread.max() > STOP * width:
            chosen.append(spread.argmax())
            u = whitened[:, chosen[-1]] / spread[chosen[-1]]
            whitened = whitened - np.outer(u, u @ whitened)
            spread = np.linalg.norm(whitened, axis=0)
        if not chosen:
            return numbers.machine(theta), len(X) - first

        # their brackets, and the machine again
        error = errors_before[chosen]
        t = predicted_crossings(oracle, C[chosen], N[chosen], np.maximum(error, 2 * width), width,
                                np.minimum(30 * error, scale) + 10 * width)
        met = np.isfinite(t)
        X = np.concatenate([X, (C[chosen] + t[:, None] * N[chosen])[met]])
        widths, lost = np.r_[widths, np.full(met.sum(), width)], lost + (~met).sum()
        theta, R, worst = fitted(numbers, theta, start, X, widths)
        if not worst < GOOD:
            break
    raise RuntimeError(f"{lost} lines without a crossing, {len(X) - first} with one")
