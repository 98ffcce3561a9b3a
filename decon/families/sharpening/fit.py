"""Numbers of a machine fitted to brackets, each with its width: damped Gauss-Newton steps."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import solve_triangular

from ...numerics.least_squares import levenberg_marquardt
from ...numerics.triangular import solve_upper, with_diagonal
from ...types import Array
from .numbers import Numbers
from .settings import SETTINGS


@dataclass
class Brackets:
    """Where the boundary was met: points, directions of the lines, and standard errors along them.

    Attributes
    ----------
    X, V : arrays (n, d)
    errors : array (n,)
        1/sqrt(12) of a bracket's width, in which the crossing may be anywhere.
    """

    X: Array = field(repr=False)
    V: Array = field(repr=False)
    errors: Array

    def __len__(self) -> int:
        return len(self.X)

    def __add__(self, other: "Brackets") -> "Brackets":
        return Brackets(np.concatenate([self.X, other.X]), np.concatenate([self.V, other.V]),
                        np.r_[self.errors, other.errors])

    def __getitem__(self, kept: Array | slice) -> "Brackets":
        return Brackets(self.X[kept], self.V[kept], self.errors[kept])

    def misses(self, numbers: Numbers, theta: Array) -> Array:
        """How far along its line a machine's boundary is from each, in standard errors.

        Parameters
        ----------
        numbers : Numbers
        theta : array (p,)

        Returns
        -------
        misses : array (n,)
            To first order; huge where the machine's boundary is parallel to a line.
        """
        f, gradient = numbers.values(theta, self.X)
        misses = f / ((gradient * self.V).sum(1) * self.errors)
        return np.where(np.isfinite(misses), misses, 1e30)

    def jacobian(self, numbers: Numbers, theta: Array) -> Array:
        """The derivatives of the misses by the numbers, where they are small.

        Parameters
        ----------
        numbers, theta
            As for `misses`.

        Returns
        -------
        J : array (n, p)
        """
        _, gradient = numbers.values(theta, self.X)
        slopes = (gradient * self.V).sum(1) * self.errors
        return numbers.jacobian(theta, self.X) / slopes[:, None]


@dataclass
class Fit:
    """A fit: the numbers, and how well they are known.

    Attributes
    ----------
    theta : array (p,)
    root : array (p, p)
        R, upper triangular: the covariance of theta is (R^T R)^-1.
    misses : array (n,)
        See `Brackets.misses`.
    error : float
        The least standard error that brackets were given; 0 where they kept their own.
    """

    theta: Array
    root: Array = field(repr=False)
    misses: Array = field(repr=False)
    error: float = 0.0

    @property
    def meets(self) -> bool:
        """Are nearly all brackets met, within the errors that they were given?"""
        return bool(np.mean(np.abs(self.misses) > SETTINGS.good) <= SETTINGS.left_out)

    @property
    def good(self) -> bool:
        """The same, within their own errors."""
        return self.error == 0 and self.meets

    @property
    def nearly(self) -> bool:
        """Is it good, or are the brackets met within errors that are not much wider?"""
        return self.error < SETTINGS.nearly and self.meets

    @property
    def deviations(self) -> Array:
        """The standard deviations of theta: array (p,)."""
        return np.linalg.norm(solve_triangular(self.root, np.eye(len(self.root))), axis=1)


def fit_brackets(numbers: Numbers, theta: Array, brackets: Brackets, deviations: Array,
                 wide: tuple[float, ...] = SETTINGS.wide) -> Fit:
    """The numbers that meet all brackets best.

    Damped Gauss-Newton steps; where these lead astray, they are tried with wide errors that become
    narrow, for as long as the brackets are met to within these.

    Parameters
    ----------
    numbers : Numbers
    theta : array (p,)
        Where the steps begin.
    brackets : Brackets
    deviations : array (p,)
        What the numbers are known to anyway, as standard deviations.
    wide : tuple of floats
        The wide errors, in turn.

    Returns
    -------
    fit : Fit
        Where none is good, the last of those with wide errors that meets all brackets, if any does.
    """
    with np.errstate(all="ignore"):
        fit = _least_squares(numbers, theta, brackets, deviations)
        if fit.good:
            return fit
        best = fit
        for error in (*wide, 0.0) if wide else ():
            wider = Brackets(brackets.X, brackets.V, np.maximum(brackets.errors, error))
            fit = replace(_least_squares(numbers, theta, wider, deviations), error=error)
            if not fit.meets:
                break
            best, theta = fit, fit.theta
        return best


def _least_squares(numbers, theta, brackets, deviations):
    """Levenberg's steps, in numbers of unit deviation."""
    p, last = len(theta), [theta, None, 0.0]

    def linearised(theta, r):
        # the Jacobian beside the misses, large rows first for the sake of rounding
        rows = np.c_[brackets.jacobian(numbers, theta) * deviations, r]
        rows = np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0)
        rows = rows[np.argsort(-np.abs(rows[:, :-1]).max(1))]
        none = np.zeros((max(p + 1 - len(rows), 0), p + 1))
        R = np.asarray(np.linalg.qr(np.r_[rows, none], mode="r"))

        def stepped(damping):
            damped = with_diagonal(R, np.sqrt(damping) * np.r_[np.ones(p), 0])
            last[:] = theta, damped[:p, :p], damping
            return theta - deviations * solve_upper(damped[:p, :p], damped[:p, p])

        return stepped

    found = levenberg_marquardt(lambda theta: brackets.misses(numbers, theta), linearised, theta,
                                SETTINGS.steps, 1.0, SETTINGS.least_damping, SETTINGS.least_gain,
                                SETTINGS.patience, SETTINGS.enough * len(brackets))
    r = brackets.misses(numbers, found)

    # R with a damping of 1, from the last Jacobian, or from one here
    at, R, damping = last
    if R is None or damping > 1 or np.abs((found - at) / deviations).max() > SETTINGS.hardly:
        linearised(found, r)(1.0)
        _, R, damping = last
    R = with_diagonal(R, np.full(p, np.sqrt(1 - damping))) if damping < 1 else R
    return Fit(found, R / deviations, r)
