"""The family of Gaussian machines, by a probe that leads out of S_Y."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...boundary.distance import level_set_distance
from ...boundary.normals import orthonormal_complement
from ...subspaces.symmetry import REVOLUTION
from ..accuracy import faint
from ..protocol import Candidate, Evidence, Refuted
from ..sharpening.sharpen import can_be_sharpened, sharpen
from .recovery import gaussian_machine, rough_gaussian
from .settings import SETTINGS
from .trust import trust

ALIKE = "some support vector may in truth be two, nearly alike"


@dataclass(frozen=True)
class GaussianFamily:
    """Models sign(sum_i w_i exp(-|x - y_i|^2 / 2 sigma^2) - b), m < d."""

    name = "gaussian"

    def applies(self, evidence: Evidence) -> bool:
        """Can the boundary be turned about S_Y, and does it end somewhere?"""
        if evidence.survey.flat or evidence.bounded or evidence.oracle.dimension == 1:
            return False
        cubic = evidence.degree == 3 and not evidence.refuted
        subspace = evidence.rough_subspace
        return subspace is not None and subspace.symmetry is REVOLUTION and not cubic

    def fit(self, evidence: Evidence) -> Candidate:
        """The machine that distances out of S_Y show, with the error of its vectors."""
        # from a rough S_Y, or from another one if it is refuted
        sharp, found = self._from_rough(evidence)
        if found is None and evidence.finds_another_subspace():
            sharp, found = self._from_rough(evidence)
        if found is None and evidence.rough_subspace is not evidence.subspace:
            found = sharp = self._by_sharpening(evidence, evidence.subspace)

        # by distances where that fails, or where a vector of a sharpened machine might stand for
        # two: these are more brackets, and may show that it does not
        if found is None:
            found = self._by_distances(evidence)
        elif sharp is not None and found[-1] * SETTINGS.safe_separation >= SETTINGS.alike:
            with suppress(Refuted):
                found = self._by_distances(evidence)
        machine, rms, error, separation = found
        separation, width = separation * SETTINGS.safe_separation, evidence.precision.width

        # are the vectors the model's own? Not if they are uncertain, or stand for more of them
        coarse = faint(error)  # some may not be there at all
        single = rms < SETTINGS.single_misfit * width and separation < SETTINGS.alike
        crowded = _crowded(machine.support_vectors)  # nor need all of them be there
        alike = "" if single and not crowded else ALIKE
        caveat = coarse or alike
        basis = np.linalg.qr(machine.support_vectors.T)[0]
        return Candidate(machine, basis, basis.shape[1], own_vectors=not caveat, caveat=caveat,
                         separation=separation, least_rank=1 if coarse or crowded else None)

    def _from_rough(self, evidence):
        """What `_by_sharpening` returns of a rough S_Y; and that, or what the other way does."""
        sharp = self._by_sharpening(evidence, evidence.rough_subspace)
        return sharp, self._vector_by_vector(evidence) if sharp is None else sharp

    def _by_distances(self, evidence):
        """What `gaussian_machine` returns, of distances alone; sharpened, where brackets agree."""
        survey, width = evidence.survey, evidence.precision.width
        if evidence.subspace is None:
            raise Refuted(evidence.why_no_subspace)
        subspace = evidence.sharper_subspace()
        with evidence.ledger.stage("radial probe"):
            cloud = np.concatenate([survey.pool.points, survey.cloud(200)])
            found = gaussian_machine(evidence.oracle, subspace, cloud, survey.scale, width,
                                     evidence.rng)
        sharp = sharpen(evidence, found[0], subspace.rank)
        return found if sharp is None else (sharp.machine, *trust(sharp, survey.scale, width))

    def _by_sharpening(self, evidence, subspace):
        """What `gaussian_machine` returns, of a rough machine sharpened; None where that fails."""
        survey, width = evidence.survey, evidence.precision.width
        if subspace is None or not can_be_sharpened(evidence, subspace.rank):
            return None

        # the probe leads in one direction out of S_Y, and towards it S_Y has to be right
        exact, direction = _towards_a_probe(evidence, subspace)
        if exact is None:
            return None
        try:
            with evidence.ledger.stage("radial probe"):
                rough = rough_gaussian(evidence.oracle, exact, direction, survey.scale,
                                       SETTINGS.rough_width * width, evidence.rng)
            sharp = sharpen(evidence, rough, subspace.rank)
        except Refuted:
            return None
        return None if sharp is None else (sharp.machine, *trust(sharp, survey.scale, width))

    def _vector_by_vector(self, evidence):
        """What `gaussian_machine` returns for a rough S_Y and many numbers; None if that fails.

        Newton's method for S_Y as a whole takes m brackets in every direction out of it, step after
        step; the tilts of the vectors out of a rough S_Y take m + 2 in each, once.
        """
        survey, rough = evidence.survey, evidence.rough_subspace
        if rough is None or not rough.rough or can_be_sharpened(evidence, rough.rank):
            return None
        exact, direction = _towards_a_probe(evidence, rough)
        if exact is None:
            return None
        try:
            with evidence.ledger.stage("radial probe"):
                cloud = np.concatenate([survey.pool.points, survey.cloud(200)])
                found = gaussian_machine(evidence.oracle, exact, cloud, survey.scale,
                                         evidence.precision.width, evidence.rng, direction)
        except Refuted:
            return None

        # does it pass through the boundary points that the normals belong to?
        with np.errstate(all="ignore"):
            apart = level_set_distance(found[0].decision_function(exact.points),
                                       found[0].gradient(exact.points))
        off = np.quantile(np.nan_to_num(np.abs(apart), nan=np.inf), SETTINGS.share_met)
        return found if off < evidence.precision.symmetry_tolerance * survey.scale else None

    def parameters(self, candidate: Candidate) -> int:
        """A subspace, m vectors in it with a weight each, and sigma."""
        m, d = candidate.rank, candidate.machine.dimension
        return m * (d - m) + m * (m + 1) + 1


def _crowded(Y):
    """Are there three vectors nearly alike? Two others may have nearly the same boundary."""
    apart = np.linalg.norm(Y[:, None] - Y, axis=2) / np.linalg.norm(Y, axis=1)
    return bool(((apart < SETTINGS.alike).sum(0) > 2).any())


def _towards_a_probe(evidence, subspace):
    """S_Y, made exact towards a random unit vector orthogonal to it (or None), and that vector."""
    out = orthonormal_complement(subspace.basis)
    direction = out @ evidence.rng.standard_normal(out.shape[1])
    direction /= np.linalg.norm(direction)
    return evidence.subspace_towards(direction), direction
