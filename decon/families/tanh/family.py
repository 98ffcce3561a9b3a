"""The family of tanh machines: directions from far away, everything else from points nearby."""

from dataclasses import dataclass

import numpy as np

from ...oracles.views import AffineView
from ...subspaces.symmetry import CYLINDER
from ..protocol import Candidate, Evidence, Refuted
from ..sharpening.sharpen import sharpen
from .far_field import further_normals, hyperplane_normals, rough_weights
from .fine import fine_units
from .machine import correct_span, tanh_machine, tie_biases, with_one_bias
from .rough import rough_units
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
        subspace = evidence.subspace
        return subspace is not None and subspace.symmetry is CYLINDER and not cubic

    def fit(self, evidence: Evidence) -> Candidate:
        """Normals of hyperplanes far away, a rough fit, a fine one, one common bias."""
        subspace = evidence.subspace
        if subspace is None or subspace.rank < 2:
            raise Refuted("no tanh machine: the boundary consists of parallel planes")

        # twice, if need be: other points, and fits from other starts
        try:
            machine, basis = self._machine(evidence, subspace.basis)
        except Refuted:
            machine, basis = self._machine(evidence, subspace.basis)

        # fewer units than dimensions span S_Y by themselves: the normals showed too much
        if len(machine.weights) < basis.shape[1]:
            basis = np.linalg.qr(machine.support_vectors.T)[0]

        # are the vectors the model's own (thm-tanh-at-infinity-unique)?
        caveat = doubt(machine.weights, machine.threshold, basis.shape[1])
        return Candidate(machine, basis, basis.shape[1], not caveat, caveat)

    def parameters(self, candidate: Candidate) -> int:
        """A subspace, m vectors in it with a weight each, and a bias."""
        M, m, d = len(candidate.machine.weights), candidate.rank, candidate.machine.dimension
        return m * (d - m) + M * (m + 1) + 1

    def _machine(self, evidence, basis):
        """The machine in R^d, and the basis of S_Y corrected by it."""
        rng, scale, towards = evidence.rng, evidence.survey.curvature_scale, \
            evidence.survey.features.mean(0)
        inside = AffineView(evidence.oracle, basis=basis, scale=scale)
        whole = AffineView(evidence.oracle, scale=scale)

        # directions and weights (step 1 of alg-tanh-at-infinity-all); more directions than
        # dimensions where these do not explain labels
        with evidence.ledger.stage("far field"):
            normals, Z, labels = hyperplane_normals(inside, rng)
            weights, threshold = rough_weights(normals, Z, labels)
            if (np.sign(np.sign(Z @ normals.T) @ weights - threshold) != labels).any():
                normals = further_normals(inside, normals, Z, labels, rng)
                weights, threshold = rough_weights(normals, Z, labels)

        # all numbers of the units (steps 2 to 7 of alg-tanh-at-infinity-all)
        with evidence.ledger.stage("tanh units"):
            units, error = rough_units(inside, normals, weights, threshold, rng)

        # if they can be sharpened as they are, with one bias for all, that is all
        nearly = with_one_bias(units, basis.shape[1])
        if nearly is not None:
            sharp = sharpen(evidence, tanh_machine(nearly, basis, scale, towards), basis.shape[1])
            if sharp is not None:
                return sharp.machine, sharp.basis
        with evidence.ledger.stage("tanh units"):
            units, Z, width = fine_units(inside, units, error, rng, evidence.precision.width)
            units = tie_biases(units, Z, width)
            units, basis = correct_span(whole, units, basis, rng)
        machine = tanh_machine(units, basis, scale, towards)

        # fitted to all brackets, if there are not too many
        sharp = sharpen(evidence, machine, basis.shape[1])
        return (machine, basis) if sharp is None else (sharp.machine, sharp.basis)
