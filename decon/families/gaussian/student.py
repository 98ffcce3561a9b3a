"""Gaussian machines of at least d support vectors: a student with too many centres, then fewer."""

from dataclasses import dataclass

import numpy as np

from ...boundary.bracketing import bisect
from ...kernels import Gaussian
from ...machine import KernelMachine
from ...types import Array
from ..accuracy import faint
from ..protocol import Candidate, Evidence, Refuted
from .gaussian_sum import GaussianSum, centre_deviations, fit_sum, with_best_weights
from .separation import least_separation
from .settings import SETTINGS
from .shrinking import left_out, shrunk, without_unseen


class BoundarySample:
    """Brackets that can be made more and narrower; points in units of their spread.

    Parameters
    ----------
    evidence : Evidence

    Attributes
    ----------
    origin, unit : array (d,) and float
        Points x are (x - origin) / unit in the sample. From the first `grow` on.
    width : float
        Of the brackets, in units of the sample.
    """

    def __init__(self, evidence: Evidence):
        self.evidence, self.survey, self.unit = evidence, evidence.survey, 0.0
        self.P, self.N, self.V = np.empty((3, 0, evidence.oracle.dimension))
        self.work = 0.0
        self.width = np.nan

    def grow(self, n: int, width: float) -> None:
        """Add brackets until there are n, and the held-out ones.

        Parameters
        ----------
        n : int
        width : float
            In units of the data's scale.
        """
        # pairs of a pool that grows along
        pool, more = self.survey.pool, n + SETTINGS.held_out - len(self.P)
        self.survey.enlarge(pool, self.survey.cloud(more // 2), self.survey.scale)
        P, N = pool.pairs(more)
        V = (P - N) / np.linalg.norm(P - N, axis=1, keepdims=True)
        self.P, self.N, self.V = (np.concatenate(pair) for pair in
                                  ((self.P, P), (self.N, N), (self.V, V)))

        # the units are fixed by the first ones, from their positive ends
        if not self.unit:
            self.narrow(width)
            self.origin, self.unit = self.P.mean(0), float(np.std(self.P - self.P.mean(0)))
        self.narrow(width)

    def in_units(self, width: float) -> float:
        """A width in units of the sample.

        Parameters
        ----------
        width : float
            In units of the data's scale.

        Returns
        -------
        width : float
        """
        return width * self.survey.scale / self.unit

    def narrow(self, width: float) -> None:
        """Halve all brackets.

        Parameters
        ----------
        width : float
            That none of them exceeds afterwards, in units of the data's scale.
        """
        self.P, self.N = bisect(self.evidence.oracle, self.P, self.N, width * self.survey.scale)
        self.width = self.in_units(width) if self.unit else np.nan

    @property
    def all_points(self) -> Array:
        """The boundary points."""
        return ((self.P + self.N) / 2 - self.origin) / self.unit

    @property
    def points(self) -> Array:
        """Those that sums are fitted to."""
        return self.all_points[SETTINGS.held_out:]

    def error(self, total: GaussianSum) -> float:
        """The median distance of the held-out points from the zeros of a sum.

        Parameters
        ----------
        total : GaussianSum

        Returns
        -------
        median : float
            Infinite, if most of the distances are not finite.
        """
        r = np.abs(total.sampson(self.all_points[:SETTINGS.held_out]))
        return float(np.median(np.where(np.isfinite(r), r, np.inf)))


    def fit(self, total: GaussianSum, floor: float, steps: int, least_gain: float = 0.01,
            patience: int = 6) -> GaussianSum:
        """Fit a sum to the points.

        Parameters
        ----------
        total : GaussianSum
            Where to start.
        floor, steps, least_gain, patience
            As for `fit_sum`.

        Returns
        -------
        total : GaussianSum

        Raises
        ------
        Refuted
            After more work than machines take that are found.
        """
        return fit_sum(total, self.points, floor, steps, least_gain, patience, self._spend)

    def _spend(self, work):
        self.work += work
        if self.work > SETTINGS.most_work:
            raise Refuted("no Gaussian machine was found with as much work as others take")


@dataclass(frozen=True)
class GaussianStudentFamily:
    """Gaussian machines without a subspace of symmetry, of up to 20 support vectors or so."""

    name = "gaussian"

    def applies(self, evidence: Evidence) -> bool:
        """Is the boundary smooth, with one label far away, and has it no subspace of symmetry?"""
        d = evidence.oracle.dimension
        spread = evidence.survey.spread
        unlike = spread.max() > SETTINGS.most_unlike * spread.min()
        unlike = unlike or evidence.frame.guessed  # a Gaussian shows in its own units only
        if evidence.bounded or evidence.survey.flat or evidence.precision.coarse or unlike:
            return False
        return (2 < d <= SETTINGS.largest_dimension and evidence.one_label_far_away
                and evidence.subspace is None and len(evidence.normals) > 1)

    def fit(self, evidence: Evidence) -> Candidate:
        """A sum of too many Gaussians, and as few of them as fit."""
        sample, error = BoundarySample(evidence), np.inf
        evidence.ledger.expect(SETTINGS.usual_queries, "a Gaussian machine of many vectors")
        with evidence.ledger.stage("student"):
            sizes = _sizes(evidence.oracle.dimension)
            for size in sizes + sizes[-1:]:  # the last ones twice, from other starts
                # the fewest Gaussians, from the first starts that are good
                for start in _starts(sample, size, evidence):
                    total, reached = _fewest(start, sample, evidence.precision.width)
                    error = min(error, reached)
                    if reached < SETTINGS.snap * sample.in_units(evidence.precision.width):
                        return _candidate(total, sample)
        raise Refuted(f"no Gaussian machine was found by a sum of {size} Gaussians: with fewer, "
                      f"the best one misses the boundary by {error:.0e} of its spread")

    def parameters(self, candidate: Candidate) -> int:
        """m vectors with a weight each, and sigma: the threshold is a factor."""
        return candidate.machine.support_vectors.size + len(candidate.machine.weights) + 1


def _sizes(d):
    """How many Gaussians a student may have in d dimensions, in increasing order."""
    return [size for size in SETTINGS.student_sizes if size >= SETTINGS.least_size * d
            and size * (d + 1) + 2 <= SETTINGS.most_numbers]


def _starts(sample, size, evidence):
    """Sums of many Gaussians, the best first; none if more of them promise more."""
    d, rng = evidence.oracle.dimension, evidence.rng
    numbers, sizes = size * (d + 1) + 2, _sizes(d)
    sample.grow(int(SETTINGS.points_per_number * numbers), SETTINGS.widths[0])

    # many Gaussians near the boundary, of several sigmas; the best ones are fitted further
    sigmas = np.resize(SETTINGS.sigmas, SETTINGS.kept_starts[0]) * np.sqrt(d / 2)
    starts = [_wide(sample, size, sigma, rng) for sigma in sigmas]
    for kept, floor in zip(SETTINGS.kept_starts, SETTINGS.rough_floors, strict=True):
        starts = [sample.fit(start, floor, SETTINGS.floor_steps)
                  for start in sorted(starts, key=sample.error)[:kept]]
    for floor in SETTINGS.fine_floors:
        starts = [sample.fit(start, floor, SETTINGS.floor_steps) for start in starts]
    starts = sorted(starts, key=sample.error)

    # is there hope?
    error = sample.error(starts[0])
    if error > (SETTINGS.rough_error if size == sizes[0] else SETTINGS.poor_error):
        raise Refuted(f"no Gaussian machine: sums of {size} Gaussians miss the boundary by "
                      f"{error:.0e} of its spread")
    return starts if size == sizes[-1] or error < SETTINGS.good_start else []


def _wide(sample, size, sigma, rng):
    """Many Gaussians about random points of the boundary, with the best weights."""
    X, V = sample.points, sample.V[SETTINGS.held_out:]
    centres = X[rng.choice(len(X), size, replace=False)]
    centres = centres + SETTINGS.scatter * rng.standard_normal(centres.shape)
    return with_best_weights(centres, -np.log(2 * sigma**2), X, V)


def _fewest(total, sample, width):
    """The sum with as few Gaussians as possible, and its held-out error."""
    error, size = sample.error(total), len(total.weights)
    final = SETTINGS.snap * sample.in_units(width)
    while len(total.weights) > 1:
        # narrower brackets, as soon as they tell more
        for narrower in (*SETTINGS.widths[1:], width):
            finer = sample.in_units(narrower) < sample.width
            if finer and error < SETTINGS.narrow_at * sample.width:
                sample.narrow(narrower)
                total = sample.fit(total, SETTINGS.last_floor, SETTINGS.shrunk_steps)
                error = sample.error(total)

        # without those that ran away; the first removal after which the fit is as good as before
        total = without_unseen(total, sample.points, sample.width)
        limit = max(SETTINGS.growth * error, final, min(SETTINGS.forgiven, sample.width))
        fewer = next((trial for trial in _fewer(total, sample, limit)
                      if sample.error(trial) < limit), None)
        if fewer is None:
            break
        if len(fewer.weights) < SETTINGS.hope_share * size and limit > SETTINGS.rough_limit:
            break
        total, error = fewer, sample.error(fewer)
    return total, error


def _fewer(total, sample, limit):
    """Fits with fewer Gaussians: several of them gone at once, then one."""
    X, floor = sample.points, SETTINGS.last_floor
    for count in sorted({max(1, int(SETTINGS.shrink_share * len(total.weights))), 1}, reverse=True):
        trials = shrunk(total, X, count, SETTINGS.removals_tried)
        rough = limit > SETTINGS.rough_limit
        tried = SETTINGS.rough_fits_tried if rough else SETTINGS.fits_tried
        for trial in trials[:1 if count > 1 else tried]:
            fit = sample.fit(trial, floor, SETTINGS.shrunk_steps)
            if sample.error(fit) > limit and not rough:
                fit = sample.fit(fit, floor / 10, SETTINGS.patient_steps, 0.003, 10)
            yield fit


def _candidate(total, sample):
    """The machine, and whether its vectors are shown to be the model's own."""
    # fewer vectors than dimensions would lie in a subspace, which was looked for
    if len(total.weights) < sample.origin.size:
        raise Refuted(f"a sum of {len(total.weights)} Gaussians fits the boundary, but no subspace "
                      "of so few dimensions: some vectors are too much alike")

    # every single removal must spoil the fit
    broken = SETTINGS.break_factor * sample.width
    alone = [sample.fit(trial, SETTINGS.last_floor, SETTINGS.floor_steps)
             for trial in left_out(total, sample.points)]
    needed = all(sample.error(trial) > broken for trial in alone)
    machine = KernelMachine(
        Gaussian(float(sample.unit / np.sqrt(2 * np.exp(total.log_tau)))),
        sample.origin + sample.unit * total.centres, total.weights, total.threshold).normalised()
    basis = np.linalg.svd(machine.support_vectors, full_matrices=False)
    rank = int((basis[1] > SETTINGS.flat_span * basis[1][0]).sum())

    # and errors of the points as large as these are must leave every vector accurate
    lengths, caveat = np.linalg.norm(machine.support_vectors, axis=1) / sample.unit, ""
    width = max(sample.width, np.sqrt(np.mean(total.sampson(sample.points) ** 2)))
    error = (width * centre_deviations(total, sample.points) / lengths).max()
    separation = _separations(total, sample, width) / lengths
    separation = SETTINGS.safe_separation * float(separation.max())
    if not needed:
        caveat = "the model may have fewer support vectors, or some of them are faint"
    elif faint(error):
        caveat = faint(error)
    elif not separation < SETTINGS.alike:
        caveat = "some support vector may in truth be two, nearly alike"
    return Candidate(machine, basis[2][:rank].T, rank, own_vectors=not caveat, caveat=caveat,
                     separation=separation)


def _separations(total, sample, width):
    """The distances at which a further vector beside one of the machine would have shown."""
    X = sample.points
    slopes = np.linalg.norm(total.values(X)[1], axis=1)
    return least_separation(total.sampson_jacobian(X), X, total.centres,
                            total.terms(X)[1] * total.weights, np.log(np.abs(total.weights)),
                            np.exp(total.log_tau), slopes, width)
