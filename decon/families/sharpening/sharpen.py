"""A machine that is nearly known, brought to the accuracy of the brackets."""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import qr, solve_triangular

from ...boundary.bracketing import keep_crossings
from ...boundary.informed import predicted_crossings
from ...machine import KernelMachine
from ...types import Array
from ..protocol import Evidence
from .fit import Brackets, Fit, fit_brackets
from .numbers import Numbers, numbers_of
from .settings import SETTINGS


@dataclass
class Sharpened:
    """A machine that meets every bracket, and how well these determine it.

    Attributes
    ----------
    machine : KernelMachine
    basis : array (d, rank)
        Orthonormal, of S_Y.
    errors : array (m,)
        Relative errors of its vectors (of a quadratic, none).
    brackets : Brackets
        In units of the scale.
    misses : array (n,)
        How far off they are, in standard errors.
    """

    machine: KernelMachine
    basis: Array = field(repr=False)
    errors: Array = field(repr=False)
    brackets: Brackets = field(repr=False)
    misses: Array = field(repr=False)


def sharpen(evidence: Evidence, machine: KernelMachine, rank: int,
            most: int | None = None) -> Sharpened | None:
    """A machine fitted to all brackets of this search, and to as many more as it takes.

    The covariance of the fit says how far off the boundary may still be, and the lines along which
    that is most are bracketed next, from where the fit has them.

    Parameters
    ----------
    evidence : Evidence
    machine : KernelMachine
        Linear, quadratic, cubic, tanh or Gaussian, nearly right, in the coordinates of the search.
    rank : int
        The dimension of S_Y.
    most : int, optional
        How many numbers the machine may have; left out, `evidence.largest_fit`.

    Returns
    -------
    sharpened : Sharpened or None
        None if brackets refute the machine, or `can_be_sharpened` says no.
    """
    if not can_be_sharpened(evidence, len(machine.weights), most):
        return None
    search = _Search(evidence, numbers_of(machine, rank, evidence.survey.scale))
    fit = search.run()
    if fit is None:
        return None
    machine = search.numbers.machine(fit.theta).normalised()
    basis = np.linalg.svd(machine.support_vectors.T, full_matrices=False)[0][:, :rank]
    errors = search.numbers.vector_errors(fit.theta, fit.deviations)
    return Sharpened(machine, basis, errors, search.brackets, fit.misses)


def can_be_sharpened(evidence: Evidence, m: int, most: int | None = None) -> bool:
    """Are there brackets, no bounds, and not too many numbers?

    Parameters
    ----------
    evidence : Evidence
    m : int
        How many vectors the machine has.
    most : int, optional
        The largest m (d + 1) that is not too many; left out, `evidence.largest_fit`.

    Returns
    -------
    bool
    """
    most = evidence.largest_fit if most is None else most
    numbers = m * (evidence.oracle.dimension + 1)
    return not evidence.bounded and numbers <= most and len(evidence.brackets[0]) > 0


class _Search:
    """Fits and brackets in turn, in units of the scale."""

    def __init__(self, evidence: Evidence, numbers: Numbers):
        self.evidence, self.numbers = evidence, numbers
        self.scale, self.width = evidence.survey.scale, evidence.precision.width
        self.deviations = SETTINGS.start * numbers.sizes

        # all brackets so far
        X, V, widths = evidence.brackets
        X, widths = X / self.scale, widths / self.scale
        errors = np.maximum(widths, SETTINGS.finest * self.width) / np.sqrt(12)
        self.brackets = Brackets(X, V, errors)[widths < SETTINGS.narrow]
        self.far = self.brackets[:0]

    def run(self) -> Fit | None:
        """The fit in the end; None if brackets refute the machine."""
        fit, lost, wide = self._fit(self.numbers.start), 0, 0
        for _ in range(SETTINGS.rounds):
            # the machine, and with it those far out if they fit; one that meets the brackets only
            # nearly may still show which others would help
            wide += not fit.good
            if not fit.nearly or lost > SETTINGS.lost or wide > SETTINGS.wide_rounds:
                return None
            if len(self.far):
                fit = self._with_far(fit)

            # where the boundary is known least, and brackets there
            X, N, root = self._uncertain(fit)
            if not len(X):
                return fit if fit.good else None
            misses = self._bracket(X, N, root)
            lost += np.isnan(misses).sum()

            # what no bracket shows is as far off as these were, beside what was predicted
            n = SETTINGS.batch
            ratio = np.sqrt((np.nansum(misses**2) + n) / (np.isfinite(misses).sum() + n))
            self.deviations = self.deviations * np.clip(ratio, 0.1, 10)
            again = fit_brackets(self.numbers, fit.theta, self.brackets, self.deviations, wide=())
            if not again.good:
                again = min((self._fit(theta) for theta in (fit.theta, self.numbers.start)),
                            key=lambda fit: fit.error if fit.meets else np.inf)
            fit = again
        return None

    def _fit(self, start):
        """The fit to brackets near the origin; those far out wait until the machine is known."""
        brackets, fit = self.brackets + self.far, None
        r = np.linalg.norm(brackets.X, axis=1)
        for unit in (self.evidence.survey.curvature_scale / self.scale, 1.0):
            # fewer brackets than before, but as many as numbers
            near = r < SETTINGS.far * unit
            if fit and not len(self.numbers.start) <= near.sum() < len(self.brackets):
                break
            self.brackets, self.far = brackets[near], brackets[~near]
            fit = fit_brackets(self.numbers, start, self.brackets, self.deviations)
            if fit.good:
                break
        return fit

    def _bracket(self, X, N, root):
        """Brackets on lines, and how far off they are, in standard errors given those before."""
        t, z, misses = np.zeros((3, len(X)))
        batch = max(SETTINGS.batch, len(X) // SETTINGS.batches)
        for first in range(0, len(X), batch):
            # a few lines at a time, predicted from those before: t = root z, z ~ N(0, 1)
            j = slice(first, first + batch)
            predicted = root[j, :first] @ z[:first]
            alone, given = (np.linalg.norm(rows, axis=1) for rows in (root[j], root[j, first:]))
            errors = np.maximum(np.maximum(given, SETTINGS.least_share * alone), 2 * self.width)
            farthest = np.minimum(30 * alone, 1.0) + 10 * self.width
            with self.evidence.ledger.stage("sharpening"):
                t[j] = predicted + predicted_crossings(
                    lambda Z: self.evidence.oracle(Z * self.scale),
                    X[j] + predicted[:, None] * N[j], N[j], errors, self.width, farthest)

            # what they say of z: not too much, as t is not quite linear in it
            off = t[j] - predicted
            misses[j] = off / errors
            z[j] = np.clip(solve_triangular(root[j, j], np.nan_to_num(off), lower=True),
                           -SETTINGS.most_shown, SETTINGS.most_shown)

        # kept for the fit, and for what follows
        met, points = np.isfinite(t), X + t[:, None] * N
        widths = np.full(len(t), self.width)
        self.brackets += Brackets(points[met], N[met], widths[met] / np.sqrt(12))
        keep_crossings(self.evidence.oracle, points * self.scale, N, widths * self.scale)
        return misses

    def _with_far(self, fit):
        """The fit to all brackets, if it is good."""
        brackets = self.brackets + self.far
        tried = fit_brackets(self.numbers, fit.theta, brackets, self.deviations, wide=())
        if not tried.good:
            return fit
        self.brackets, self.far = brackets, self.far[:0]
        return tried

    def _uncertain(self, fit):
        """Lines along normals where the boundary is known least, and a root of the covariance."""
        X, N, slopes = self._boundary(fit.theta)
        if not len(X):
            return X, N, slopes
        rows = self.numbers.jacobian(fit.theta, X) / slopes[:, None]
        whitened = solve_triangular(fit.root, rows.T, trans="T")
        errors, enough = np.linalg.norm(whitened, axis=0), SETTINGS.known * self.width
        if np.quantile(errors, SETTINGS.share) <= enough:
            return X[:0], N[:0], errors[:0]

        # the most uncertain ones, each given those before it, by QR with column pivoting; what the
        # others nearly determine is predicted better by the next fit
        R, order = qr(whitened, mode="r", pivoting=True)
        left = np.abs(np.diag(R))
        wanted = left > np.maximum(enough, SETTINGS.least_share * errors[order[:len(left)]])
        most = max(SETTINGS.batch, int(SETTINGS.share_of_numbers * len(left)))
        n = min(int(np.argmin(np.r_[wanted, False])), most)
        n = max(n, min(SETTINGS.batch, int((left > enough).sum())))
        signs = np.sign(np.diag(R))[:n, None]
        return X[order[:n]], N[order[:n]], (signs * R[:n, :n]).T

    def _boundary(self, theta):
        """Points of the machine's own boundary near the data, its unit normals and slopes there."""
        X = self.evidence.survey.cloud(SETTINGS.candidates, (0.5, 1.0, 2.0)) / self.scale
        with np.errstate(all="ignore"):
            for _ in range(SETTINGS.newton_steps):
                f, g = self.numbers.values(theta, X)
                slopes = np.maximum(np.linalg.norm(g, axis=1), 1e-300)
                X = X - (np.clip(f / slopes, -0.5, 0.5) / slopes)[:, None] * g
            f, g = self.numbers.values(theta, X)
        slopes = np.linalg.norm(g, axis=1)
        near = np.linalg.norm(X, axis=1) < SETTINGS.farthest
        kept = near & (np.abs(f) < 1e-9 * slopes)
        return X[kept], (g / slopes[:, None])[kept], slopes[kept]
