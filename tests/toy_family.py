"""A family of models as a contributor would write it: all balls |x - c| < r."""

import numpy as np

from decon.boundary.curves import has_one_label_far_away
from decon.families.protocol import Candidate, Refuted


class Ball:
    """The machine sign(r - |x - c|)."""

    def __init__(self, centre, radius):
        self.centre, self.radius, self.dimension = centre, radius, len(centre)

    def __repr__(self):
        return f"Ball(radius {self.radius:.4g} in dimension {self.dimension})"

    def predict(self, X):
        return np.where(np.linalg.norm(X - self.centre, axis=1) < self.radius, 1, -1)

    def gradient(self, X):
        return self.centre - X  # normals of the sphere that point inside, where the label is +1


class Balls:
    """The family: a sphere through d + 1 boundary points, tested by as many others."""

    name = "ball"

    def applies(self, evidence):
        """Whether the boundary is curved, and closed: far away there is one label only."""
        survey = evidence.survey
        if survey.flat or evidence.bounded:
            return False
        with evidence.ledger.stage("ball"):
            return has_one_label_far_away(evidence.oracle, 1e3 * survey.scale,
                                          random_state=evidence.rng)

    def fit(self, evidence):
        """The centre and the radius that fit the boundary points best."""
        survey, width = evidence.survey, evidence.precision.width * evidence.survey.curvature_scale
        with evidence.ledger.stage("ball"):
            X, _ = survey.bracket(*survey.pool.pairs(2 * (evidence.oracle.dimension + 1)))

        # |x - c|^2 = r^2 is linear in c and s = r^2 - |c|^2: 2 c.x + s = |x|^2
        solution, *_ = np.linalg.lstsq(np.c_[2 * X, np.ones(len(X))], (X**2).sum(1))
        c, s = solution[:-1], solution[-1]
        r = np.sqrt(max(0, s + c @ c))

        # points of a sphere miss it by no more than the width of their brackets
        miss = np.abs(np.linalg.norm(X - c, axis=1) - r).max()
        if miss > 100 * width:
            raise Refuted(f"no ball: boundary points miss the best sphere by {miss:.1g}")
        return Candidate(Ball(c, r), basis=np.linalg.qr(c[:, None])[0], rank=1)

    def parameters(self, candidate):
        """The centre and the radius."""
        return candidate.machine.dimension + 1
