"""The family of tanh machines: directions from far away, everything else from points nearby."""

from dataclasses import dataclass, replace

import numpy as np

from ...boundary.distance import level_set_distance
from ...oracles.views import AffineView
from ...subspaces.spans import largest_sine
from ...subspaces.symmetry import CYLINDER
from ..accuracy import faint
from ..protocol import Candidate, Evidence, Refuted
from ..sharpening.sharpen import can_be_sharpened, sharpen
from .far_field import further_normals, hyperplane_normals, rough_weights
from .fine import fine_units
from .machine import correct_span, tanh_machine, tie_biases, with_one_bias
from .rough import rough_units
from .settings import SETTINGS
from .uniqueness import doubt


@dataclass(frozen=True)
class TanhFamily:
    """Models sign(sum_i w_i tanh(alpha x.y_i + beta) - b): a cylinder with flat pieces far away."""

    name = "tanh"

    def applies(self, evidence: Evidence) -> bool:
        """Is the boundary a cylinder about S_Y? (In planes a weak tanh looks like a cubic.)
        """
        if evidence.survey.flat or evidence.bounded or evidence.oracle.dimension == 1:
            return False
        cubic = evidence.degree == 3 and not evidence.refuted
        subspace = evidence.rough_subspace
        return subspace is not None and subspace.symmetry is CYLINDER and not cubic

    def fit(self, evidence: Evidence) -> Candidate:
        """Normals of hyperplanes far away, a rough fit, a fine one, one common bias."""
        subspace = evidence.rough_subspace
        if subspace is None or subspace.rank < 2:
            raise Refuted("no tanh machine: the boundary consists of parallel planes")

        # twice, if need be: other points, finer brackets, and fits from other starts; and so in
        # another S_Y
        tried: list[int] = []
        found = None
        while found is None:
            try:
                again = subspace.rank in tried
                found = self._machine(evidence, SETTINGS.finer if again else 1.0)
            except Refuted:
                tried.append(subspace.rank)
                subspace = evidence.rough_subspace
                if subspace is None or tried.count(subspace.rank) == 2:
                    raise
        machine, basis, error = found

        # fewer units than dimensions span S_Y by themselves: the normals showed too many
        spanned, values, _ = np.linalg.svd(machine.support_vectors.T, full_matrices=False)
        moved = error * np.linalg.norm(values) if error < np.inf else 0.0
        least = max(SETTINGS.dependent * values[0], moved)
        independent = int((values > least).sum())
        if len(machine.weights) < basis.shape[1]:
            basis = spanned[:, :independent]

        # are the vectors the model's own (thm-tanh-at-infinity-unique)?
        caveat = doubt(len(machine.weights), independent) or faint(error)
        return Candidate(machine, basis, basis.shape[1], not caveat, caveat)

    def parameters(self, candidate: Candidate) -> int:
        """A subspace, m vectors in it with a weight each, and a bias."""
        M, m, d = len(candidate.machine.weights), candidate.rank, candidate.machine.dimension
        return m * (d - m) + M * (m + 1) + 1

    def _machine(self, evidence, finer):
        """The machine in R^d, the basis of S_Y corrected by it, and the error if it is known."""
        rough = evidence.rough_subspace
        if rough is None:
            raise Refuted(evidence.why_no_subspace)
        basis, rng = rough.basis, evidence.rng
        scale, towards = evidence.survey.curvature_scale, evidence.survey.features.mean(0)
        inside = AffineView(evidence.oracle, basis=basis, scale=scale)
        whole = AffineView(evidence.oracle, scale=scale)

        # directions and weights (step 1 of alg-tanh-at-infinity-all); more directions than
        # dimensions where these do not explain labels
        with evidence.ledger.stage("far field"):
            width = finer * SETTINGS.normal_width
            normals, Z, labels = hyperplane_normals(inside, rng, width)
            weights, threshold = rough_weights(normals, Z, labels)
            if (np.sign(np.sign(Z @ normals.T) @ weights - threshold) != labels).any():
                normals = further_normals(inside, normals, Z, labels, rng, width)
                weights, threshold = rough_weights(normals, Z, labels)

        # all numbers of the units (steps 2 to 7 of alg-tanh-at-infinity-all); if they can be
        # sharpened as they are, with one bias for all, that is all; if not, once more from other
        # points
        sharp = None
        for _ in range(1 + 2 * can_be_sharpened(evidence, len(normals))):
            if sharp is None:
                with evidence.ledger.stage("tanh units"):
                    units, error = rough_units(inside, normals, weights, threshold, rng, finer)
                sharp = self._sharpened(evidence, units, basis)

        # if not, a rough S_Y may lack a direction; not if there are fewer units than directions
        lacking = sharp is None and len(units.weights) >= rough.rank
        another = lacking and evidence.finds_another_subspace()
        fine = rough if sharp or another else evidence.subspace
        if another or fine is None or fine.rank != rough.rank:
            raise Refuted("no tanh machine: S_Y is another one")

        # on a finer S_Y, perhaps; else they are fitted more finely there (steps 2 to 7)
        if fine is not rough:
            units = replace(units, vectors=units.vectors @ basis.T @ fine.basis)
            error += largest_sine(basis, fine.basis)
            basis, inside = fine.basis, AffineView(evidence.oracle, basis=fine.basis, scale=scale)
            sharp = self._sharpened(evidence, units, basis)
        if sharp is not None:
            return sharp.machine, sharp.basis, sharp.errors.max()
        with evidence.ledger.stage("tanh units"):
            units, Z, width = fine_units(inside, units, error, rng, evidence.precision.width)
            units = tie_biases(units, Z, width)
            units, basis = correct_span(whole, units, basis, rng)
        machine = tanh_machine(units, basis, scale, towards)

        # fitted to all brackets, if there are not too many
        sharp = sharpen(evidence, machine, basis.shape[1])
        if sharp is None:  # of too many numbers there is no estimate; others meet not all brackets
            if not _meets_most(evidence, machine):
                raise Refuted("no tanh machine: the best one misses many boundary points")
            small = can_be_sharpened(evidence, len(machine.weights))
            return machine, basis, np.inf if small else 0.0
        return sharp.machine, sharp.basis, sharp.errors.max()

    def _sharpened(self, evidence, units, basis):
        """Rough units with one bias for all, sharpened; None where that fails."""
        nearly, survey = with_one_bias(units, basis.shape[1]), evidence.survey
        if nearly is None:
            return None
        machine = tanh_machine(nearly, basis, survey.curvature_scale, survey.features.mean(0))
        return sharpen(evidence, machine, basis.shape[1])


def _meets_most(evidence, machine):
    """Does a machine pass through most of the boundary points that this search has met?"""
    survey, precision = evidence.survey, evidence.precision
    X, _, widths = evidence.brackets
    X = X[widths < precision.agreement_distance * survey.scale]
    with np.errstate(all="ignore"):  # where the gradient vanishes, the point is missed
        apart = level_set_distance(machine.decision_function(X), machine.gradient(X))
    near = precision.agreement_distance * np.maximum(np.linalg.norm(X, axis=1), survey.scale)
    return bool((np.abs(apart) < near).sum() >= SETTINGS.share_met * len(X))
