"""Linear machines: the boundary is one hyperplane."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..boundary.curves import has_broken_line
from ..boundary.normals import grazes, slope_normals
from ..kernels import Linear
from ..machine import KernelMachine
from ..types import Array
from .protocol import Candidate, Evidence, Refuted
from .settings import SETTINGS
from .sharpening.sharpen import can_be_sharpened, sharpen

KINKED = "no linear machine: the boundary is flat from afar only"


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

        # normals in many dimensions cost far more queries than a look at kinks
        if is_kinked(evidence, evidence.survey.scale):
            raise Refuted(KINKED)

        # one normal, roughly; if all brackets agree, that is all
        sharp = self._sharpened(evidence)
        if sharp is not None:
            return Candidate(sharp.machine, sharp.basis, 1)

        # S_Y must be one direction n, that of w in Psi = w.x (eq-oracle-linear)
        subspace = evidence.subspace_by_normals
        if subspace is None:
            raise Refuted(evidence.why_no_subspace)
        n = subspace.basis[:, 0]

        # and n.x the same at all boundary points
        offsets = subspace.points @ n
        tolerance = SETTINGS.largest_spread * evidence.precision.symmetry_tolerance
        if subspace.rank > 1 or np.ptp(offsets) > tolerance * evidence.survey.scale:
            raise Refuted(KINKED)

        # n.x > b is the positive side
        n = n * np.sign((subspace.normals @ n).sum())
        b = (subspace.points @ n).mean()
        return Candidate(KernelMachine(Linear(), [n], [1.0], b), subspace.basis, 1)

    def _sharpened(self, evidence):
        """The plane of a rough normal, sharpened; None where that fails."""
        survey, steps = evidence.survey, SETTINGS.rough_slope
        if not can_be_sharpened(evidence, 1, SETTINGS.most_of_a_plane):
            return None

        # at the first point that was not bracketed at a grazing angle
        delta, width = survey.scale * np.array(steps)
        for x, v in zip(survey.X[:, None], steep_directions(survey)[:, None], strict=True):
            with evidence.ledger.stage("normals"):
                if grazes(evidence.oracle, x, v, delta, random_state=evidence.rng)[0]:
                    continue
                normals = slope_normals(evidence.oracle, x, v, delta, width)
            if np.isfinite(normals).all():
                evidence.seen(points=x, normals=normals, singular_values=np.ones(1))
                plane = KernelMachine(Linear(), normals, [1.0], x[0] @ normals[0])
                return sharpen(evidence, plane, 1, SETTINGS.most_of_a_plane)
        return None

    def parameters(self, candidate: Candidate) -> int:
        """The d - 1 of a unit vector, and a threshold."""
        return candidate.machine.dimension


def steep_directions(survey: Any) -> Array:
    """Unit vectors from - to +, one a boundary point, that are not nearly tangent to a plane.

    A bracket's own direction v is nearly random, so that n.v is about 1 / sqrt(d): enough in few
    dimensions. In many, v is the difference of the mean points of the two labels, whose noise is
    smaller by the square root of the number of points.

    Parameters
    ----------
    survey : Survey

    Returns
    -------
    V : array (n, d)
        Unit vectors.
    """
    if survey.oracle.dimension < SETTINGS.many_dimensions:
        return survey.V
    points, labels = survey.pool.points, survey.pool.labels
    v = points[labels > 0].mean(0) - points[labels < 0].mean(0)
    return np.broadcast_to(v / np.linalg.norm(v), survey.V.shape)


def is_kinked(evidence: Evidence, scale: float, X: Array | None = None,
              V: Array | None = None) -> bool:
    """Do a few boundary points show that the model is neither linear nor quadratic?

    They are looked at in many dimensions only, where a fit costs far more queries, and not if the
    model is coarse: the middle of two points is not known to lie on the boundary then.

    Parameters
    ----------
    evidence : Evidence
    scale : float
        How far apart the points are, of which their brackets have the width of the precision.
    X, V : arrays (s, d), optional
        Boundary points, and the unit directions of their brackets; left out, the survey's.

    Returns
    -------
    bool
    """
    few = evidence.oracle.dimension < SETTINGS.many_dimensions
    if few or evidence.bounded or evidence.precision.coarse:
        return False
    if X is None or V is None:
        X, V = evidence.survey.X, evidence.survey.V
    with evidence.ledger.stage("kernel type"):
        return has_broken_line(evidence.oracle, X, V, scale, evidence.precision.width * scale)
