"""Linear machines: the boundary is one hyperplane."""

from dataclasses import dataclass

import numpy as np

from ..kernels import Linear
from ..machine import KernelMachine
from .protocol import Candidate, Evidence, Refuted
from .settings import SETTINGS


@dataclass(frozen=True)
class LinearFamily:
    """Models whose boundary is n.x = b: however many support vectors they have, S_Y is one line."""

    name = "linear"

    def applies(self, evidence: Evidence) -> bool:
        """Whether the boundary is flat as far as secants reach; any boundary on a line may be."""
        return evidence.survey.flat or evidence.oracle.dimension == 1

    def fit(self, evidence: Evidence) -> Candidate:
        """The plane through all boundary points; on a line, its only crossing."""
        if evidence.oracle.dimension == 1:
            X, V = evidence.crossings
            if len(X) != 1:
                raise Refuted(f"no linear machine: {len(X)} crossings on a line")
            return Candidate(KernelMachine(Linear(), V, [1.0], X[0] @ V[0]), np.eye(1), 1)

        # S_Y must be one direction n, that of w in Psi = w.x (eq-oracle-linear)
        subspace = evidence.subspace_by_normals
        if subspace is None:
            raise Refuted(evidence.why_no_subspace)
        n = subspace.basis[:, 0]

        # and n.x the same at all boundary points
        offsets = subspace.points @ n
        tolerance = SETTINGS.largest_spread * evidence.precision.symmetry_tolerance
        if subspace.rank > 1 or np.ptp(offsets) > tolerance * evidence.survey.scale:
            raise Refuted("no linear machine: the boundary is flat from afar only")

        # n.x > b is the positive side
        n = n * np.sign((subspace.normals @ n).sum())
        b = (subspace.points @ n).mean()
        return Candidate(KernelMachine(Linear(), [n], [1.0], b), subspace.basis, 1)

    def parameters(self, candidate: Candidate) -> int:
        """The d - 1 of a unit vector, and a threshold."""
        return candidate.machine.dimension
