"""Machines whose support vectors are among the given rows: one linear problem per kernel."""

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.optimize import least_squares, minimize

from ..boundary.bracketing import bisect
from ..boundary.distance import level_set_distance
from ..kernels import Gaussian, Polynomial, Tanh
from ..machine import KernelMachine, ScaledMachine
from .polynomial import null_vector
from .protocol import Candidate, Evidence, Refuted
from .settings import SETTINGS


@dataclass(frozen=True)
class RowsFamily:
    """Models sign(sum_j w_j K(x, x_j) - b) over given rows x_j, most of whose weights may be 0.

    For every kernel K, each boundary point x is one linear equation for (w, b). Only if K has the
    right constants, and if no support vector is missing among the rows, is there a solution that
    holds at further boundary points. Rows are tried as they are, as `StandardScaler` makes them,
    and in the units of the search, where the caller gives some.

    Parameters
    ----------
    again : bool
        Apply only where the S_Y that had been found roughly, and to which rows may have been
        alien, has been refuted since.
    """

    name = "rows"
    again: bool = False

    def applies(self, evidence: Evidence) -> bool:
        """Whether there are rows enough, and no S_Y of fewer dimensions to which they are alien."""
        survey, (n, d) = evidence.survey, evidence.survey.features.shape
        if survey.flat or evidence.bounded or evidence.precision.coarse or d == 1:
            return False
        if self.again and not evidence.rough_subspace_refuted:
            return False
        if n < max(SETTINGS.fewest_rows, d + 1):
            return False
        if evidence.degree == 3 and n > SETTINGS.cubic_share * comb(d + 3, 3):
            return False

        # of a smaller S_Y as many rows as it has dimensions have to lie in it, else others apply;
        # more of them, of a cubic, whose vectors are found for less
        rough, tolerance = evidence.rough_subspace, SETTINGS.off_rough_subspace
        if rough is None or rough.rank == d:
            return True
        fewest = rough.rank + (evidence.degree == 3)
        if _possible(evidence, rough, tolerance).sum() < fewest:
            return False
        subspace = evidence.subspace
        if subspace is None or subspace.rank == d:
            return True
        return int(_possible(evidence, subspace).sum()) >= subspace.rank + (evidence.degree == 3)

    def fit(self, evidence: Evidence) -> Candidate:
        """The kernel whose dictionary of rows holds at further boundary points.

        Raises
        ------
        Refuted
            If there are too many rows, or they cannot be told apart, or no kernel fits.
        """
        # rows that can be told apart: fewer than the polynomials of the highest degree span
        table = evidence.frame.points(evidence.survey.features)
        rows = np.unique(table[_possible(evidence, evidence.subspace)], axis=0)
        n, d = rows.shape
        if n > SETTINGS.most_rows:
            raise Refuted(f"{n} rows are too many to be tried as support vectors")
        if n >= comb(d + SETTINGS.degrees[-1], d):
            raise Refuted(f"the kernels of {n} rows in {d} dimensions are almost linearly "
                          "dependent: which are support vectors, labels do not tell")

        # rough boundary points, and what the best kernel misses by
        evidence.ledger.expect(SETTINGS.bracket_queries * (SETTINGS.rows_share * n
                                                           + SETTINGS.spare_rows),
                               f"{n} rows as support vectors, if they are")
        with evidence.ledger.stage("rows"):
            points = _Points(evidence, int(SETTINGS.rows_share * n) + SETTINGS.spare_rows)
            points.narrow(SETTINGS.rows_width)
            trial = _best(points, rows, table)
            if not trial.error < SETTINGS.rough_error:
                raise Refuted(f"the support vectors are not among the {n} rows: the best kernel "
                              f"misses boundary points by {trial.error:.0e}")

            # fine ones, if it is nearly right; then the rows without weight are left out
            points.narrow(evidence.precision.width)
        trial = trial.of(slice(None)).polished()
        trial = trial.of(_with_weight(trial)).polished()
        return _candidate(trial, SETTINGS.rows_error * evidence.precision.width)

    def parameters(self, candidate: Candidate) -> int:
        """A weight for each vector, b and the constants up to a factor; rows are known already."""
        return len(candidate.machine.weights) + 2


def _possible(evidence, subspace, tolerance=SETTINGS.off_subspace):
    """Which rows may be support vectors: those in S_Y, if that has fewer dimensions than space."""
    X, frame = evidence.survey.features, evidence.frame
    if subspace is None or subspace.rank == X.shape[1]:
        return np.ones(len(X), bool)

    # S_Y holds vectors of a radial kernel, or the gradients that those of a dot-product kernel,
    # standardised by the rows or as they are, have in the coordinates of the search
    spread = X.std(axis=0)
    standardised = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1) ** 2
    inside = []
    for Y in (X, frame.points(X) * frame.units, standardised):
        off = np.linalg.norm(Y - Y @ subspace.basis @ subspace.basis.T, axis=1)
        inside.append(off < tolerance * np.median(np.linalg.norm(Y, axis=1)))
    return max(inside, key=np.sum)


class _Points:
    """Boundary points, those of the fit before those held out, in the model's coordinates."""

    def __init__(self, evidence, n):
        self.evidence, self.fitted, self.units = evidence, n, evidence.frame.units
        survey, rng, n = evidence.survey, evidence.rng, n + SETTINGS.held_out
        features, spread = survey.features, survey.spread
        self.scale = np.linalg.norm(spread)

        # a cloud as wide as the rows and wider, in every feature, about rows or about their mean
        radii = np.resize(SETTINGS.rows_radii, n)[:, None]
        centres = np.where(radii < 1, features[rng.integers(len(features), size=n)],
                           features.mean(0))
        cloud = centres + radii * spread * rng.standard_normal((n, len(spread)))

        # a bracket from each of its points to a known one of the other label
        positive = (evidence.oracle(cloud) > 0)[:, None]
        P, N = survey.pool.pairs(n)
        self.P, self.N = np.where(positive, cloud, P), np.where(positive, N, cloud)

    def narrow(self, width):
        """Halve the brackets until they are no wider, in units of the scale."""
        self.P, self.N = bisect(self.evidence.oracle, self.P, self.N, width * self.scale)
        middles = (self.P + self.N) / 2
        self.X = self.evidence.frame.points(middles)
        self.evidence.seen(points=middles)

    def distances(self, machine):
        """How far those held out are from a machine's boundary, on which side."""
        X = self.X[self.fitted:]

        # gradients with respect to the coordinates of the search, in which lengths are measured
        gradients = machine.gradient(X) * self.units
        return level_set_distance(machine.decision_function(X), gradients) / self.scale

    def sign(self, machine):
        """1 if the machine gives known labels, -1 if their opposites."""
        return 1 if machine.predict(self.evidence.frame.points(self.P)).mean() > 0 else -1


class _Trial:
    """A kernel with certain constants, and the machine of rows that fits the points best."""

    def __init__(self, points, rows, scaler, make, constants):
        self.points, self.rows, self.scaler = points, rows, scaler
        self.make, self.constants, self.kernel = make, np.asarray(constants), make(*constants)

        # every fitted point is one equation sum_j w_j K(x, x_j) - b = 0, of norm 1
        origin, units = scaler
        Z, Y = (points.X[:points.fitted] - origin) / units, (rows - origin) / units
        A = np.c_[self.kernel(Z, Y), -np.ones(len(Z))]
        A /= np.linalg.norm(A, axis=1, keepdims=True)
        self.null, self.values = null_vector(A)
        self.shares = np.abs(self.null[:-1]) * np.linalg.norm(A[:, :-1], axis=0)

        # what it misses the others by
        machine = KernelMachine(self.kernel, Y, self.null[:-1], self.null[-1])
        self.machine = _behind(machine, origin, units)
        distances = points.distances(self.machine)
        self.distances = np.where(np.isfinite(distances), distances, 1 / SETTINGS.rough_error)
        self.error = np.median(np.abs(self.distances))

    def at(self, constants):
        """The same with other constants."""
        return _Trial(self.points, self.rows, self.scaler, self.make, constants)

    def of(self, kept):
        """The same with some of the rows."""
        return _Trial(self.points, self.rows[kept], self.scaler, self.make, self.constants)

    def searched(self, step):
        """The same with better constants, of those about a step away."""
        k = len(self.constants)
        if k == 0:
            return self
        found = minimize(lambda c: np.log(self.at(c).error + 1e-300), self.constants,
                         method="Nelder-Mead", options={
                             "initial_simplex": self.constants + step * np.eye(k + 1, k, -1),
                             "fatol": np.inf, "xatol": SETTINGS.search_step,
                             "maxfev": SETTINGS.most_trials * k})
        return self.at(found.x)

    def polished(self):
        """The same with the constants of the least squares, near these."""
        def residual(change):  # 1 for none, since differences are relative
            trial = self.at(self.constants + change - 1)
            return trial.distances if trial.null @ self.null > 0 else -trial.distances

        k = len(self.constants)
        if k == 0:
            return self
        found = least_squares(residual, np.ones(k), method="lm", xtol=1e-15, ftol=1e-15,
                              gtol=1e-15, max_nfev=SETTINGS.most_trials * k,
                              diff_step=SETTINGS.difference_step)
        return min((self, self.at(self.constants + found.x - 1)), key=_error)


def _kinds(Y):
    """All kernels, a grid of the constants of each, scikit-learn's own first, and its step."""
    d, size = Y.shape[1], np.log((Y**2).sum(1).mean())
    gammas = -np.log([d, d * Y.var()])

    # sigma about the distance of rows; then gamma about one over their squared norm
    near = np.log(Y.var(0).sum() / 2) / 2
    sigmas = near + np.linspace(-1, 1, SETTINGS.widths) * SETTINGS.width_range
    yield (lambda s: Gaussian(float(np.exp(s))),
           np.r_[-(gammas + np.log(2)) / 2, sigmas][:, None], sigmas[1] - sigmas[0])
    scales = np.linspace(-1, 1, SETTINGS.gammas) * SETTINGS.gamma_range - size
    step = scales[1] - scales[0]
    for degree in SETTINGS.degrees:
        yield lambda D=degree: Polynomial(D, float(np.exp(-size)), 0.0), np.empty((1, 0)), step
        yield (lambda g, D=degree: Polynomial(D, float(np.exp(g))),
               np.r_[gammas, scales][:, None], step)

    # alpha likewise; more closely where beta = 0, since far fewer models have another
    fine = np.linspace(scales[0], scales[-1], SETTINGS.widths)
    betas = np.linspace(-1, 1, SETTINGS.betas) * SETTINGS.beta_range
    grid = np.array(np.meshgrid(scales, betas)).reshape(2, -1).T
    plain = np.r_[gammas, fine]
    yield (lambda a, b: Tanh(float(np.exp(a)), float(b)),
           np.r_[np.c_[plain, 0 * plain], grid], fine[1] - fine[0])


def _best(points, rows, table):
    """The best trial of all kernels, for rows as they are, as standardised with their table, and in
    the units of the search, where these are others.
    """
    # none but the given rows, if they are standardised
    spread, frame = table.std(0), points.evidence.frame
    given = np.zeros_like(spread), np.ones_like(spread)
    scaled = table.mean(0), np.where(spread > 0, spread, 1.0)
    scalers = [given] if np.allclose(given, scaled, atol=1e-9) else [given, scaled]
    if not any(np.allclose(frame.units / units, 1) for _, units in scalers):
        scalers.append((frame.origin, frame.units))

    # every kernel, until one fits as well as can be
    found = []
    for scaler in scalers:
        for make, grid, step in _kinds((rows - scaler[0]) / scaler[1]):
            trials = sorted((_Trial(points, rows, scaler, make, constants) for constants in grid),
                            key=_error)
            if trials[0].error < SETTINGS.sure_error:
                return trials[0]
            starts = SETTINGS.starts if grid.shape[1] > 1 else 1
            found += [(trial, step) for trial in trials[:starts]]

    # and with constants between those of the grid
    best = found[0][0]
    for trial, step in sorted(found, key=lambda pair: pair[0].error):
        trial = trial.searched(step / 2)
        if trial.error < SETTINGS.near_error:
            trial = trial.polished()
        best = min(best, trial, key=_error)
        if best.error < SETTINGS.sure_error:
            break
    return best


def _error(trial):
    """What trials are ordered by."""
    return trial.error


def _with_weight(trial):
    """Which rows have weight: those above the widest gap, or all if there is no clear one."""
    order = np.argsort(-trial.shares)
    ratios = trial.shares[order][:-1] / np.maximum(trial.shares[order][1:], 1e-300)
    return order[:ratios.argmax() + 1] if ratios.max() > SETTINGS.weight_gap else order


def _candidate(trial, floor):
    """The machine of the rows that are left, if they and no others give the boundary."""
    n, m = trial.points.fitted, len(trial.rows)
    if not trial.error < floor:
        raise Refuted(f"some support vectors are not among the rows: the {trial.kernel.name} "
                      f"machine of {m} of them misses boundary points by {trial.error:.0e}")
    if not trial.values[1] < SETTINGS.null_ratio * trial.values[0]:
        raise Refuted(f"the kernels of the rows are almost linearly dependent: {n} boundary "
                      "points do not tell which are support vectors")

    # the model's own, if none can be missed
    without = (trial.of(np.delete(np.arange(m), j)) for j in range(m)) if m > 1 else ()
    own = all(trial.error < SETTINGS.broken * other.error for other in without)
    caveat = "" if own else "some support vectors are too faint to be told from none"

    # their span: of points if the kernel is radial, else of gradients
    (origin, units), kernel = trial.scaler, trial.kernel
    Y = (trial.rows - origin) / units
    left, values, _ = np.linalg.svd(Y.T, full_matrices=False)
    rank = int((values > SETTINGS.null_ratio * values[0]).sum())
    stretched = left[:, :rank].T * (units if kernel.name == "gaussian" else 1 / units)
    null = trial.null * trial.points.sign(trial.machine)
    machine = KernelMachine(kernel, Y, null[:-1], null[-1]).normalised()
    return Candidate(_behind(machine, origin, units), np.linalg.qr(stretched.T)[0], rank, own,
                     caveat, name=kernel.name, given=True)


def _behind(machine, origin, units):
    """A machine behind a scaler, if that is one."""
    same = (units == 1).all() and (origin == 0).all()
    return machine if same else ScaledMachine(machine, origin, units)
