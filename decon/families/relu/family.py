"""The family of networks with one hidden layer of rectifiers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...boundary.bracketing import bisect_along, boundary_points
from ...boundary.curves import is_locally_flat
from ...boundary.normals import random_tangents
from ...oracles.views import AffineView
from ..protocol import Candidate, Evidence, Refuted
from .explore import Explorer
from .model import KnownUnits
from .network import ReluNetwork
from .pieces import Piece, Pieces
from .planar import units_of_polyline
from .settings import SETTINGS
from .span import span_by_pieces

CAVEAT = ("labels leave the length of each unit's vector open; a unit whose kink never meets the "
          "boundary is part of the linear part, or invisible")
ONE_KINK = ("the boundary has one kink: a network of two units, one of which is always on, or one "
            "class of a linear model of three classes; labels do not decide between them, nor "
            "show the direction of the kink")


@dataclass(frozen=True)
class ReluFamily:
    """Models sign(sum_i w_i max(0, a_i.x + c_i) - b): flat pieces, one unit more behind a kink."""

    name = "relu network"

    def applies(self, evidence: Evidence) -> bool:
        """Whether the boundary is flat: curves in planes far out, and then a few points nearby.

        Only the latter costs queries, about 130 and random numbers of its own, which few models
        of later families come to: some tanh machines, whose far field is flat.
        """
        survey = evidence.survey
        if evidence.oracle.dimension == 1 or evidence.bounded or evidence.precision.coarse:
            return False
        if survey.flat:  # as far as secants reach, and no linear machine
            return True
        few = slice(SETTINGS.flat_points)
        if not evidence.flat_in_planes:
            return False
        with evidence.ledger.stage("kernel type"):
            flat = is_locally_flat(evidence.oracle, survey.X[few], survey.V[few],
                                   SETTINGS.step * survey.scale,
                                   evidence.precision.width * survey.scale)
        return bool(flat.any())

    def fit(self, evidence: Evidence) -> Candidate:
        """S_Y from flat pieces, then units inside it; on a polyline, both at once.

        Raises
        ------
        Refuted
            If the boundary is not flat, all of its pieces are parallel or parallel to axes, or
            kinks bend where they cross.
        """
        with evidence.ledger.stage(self.name):
            # a flat piece to begin with
            scale = evidence.survey.scale
            view: Any = AffineView(evidence.oracle, scale=scale)
            whole = Pieces(view, evidence.rng)
            first = self._first(whole, evidence)

            # S_Y, in which the boundary is the same again
            basis, normals, values = span_by_pieces(whole, first)
            evidence.seen(normals=normals, singular_values=values)
            if len(values) == 1:
                raise Refuted("no network: the boundary consists of parallel planes")
            origin = scale * first.point
            view = AffineView(evidence.oracle, origin, basis, scale)
            inside = Pieces(view, evidence.rng)
            start = Piece(np.zeros(len(values)), first.normal @ basis)

            # its units
            if len(values) == 2:
                known = units_of_polyline(inside, start)
            else:
                known = KnownUnits(start.plane)
                pool = evidence.survey.pool
                Z = (pool.points - origin) @ basis / scale
                Explorer(inside, known).run(Z[pool.labels > 0], Z[pool.labels < 0])
        machine = ReluNetwork.from_units(known.first, known.signs, known.units, origin,
                                         basis / scale)
        if len(known.signs) == 1:
            return Candidate(machine, basis, 2, caveat=ONE_KINK, surrogate=True,
                             cause="flat pieces")
        return Candidate(machine, basis, len(values), caveat=CAVEAT)

    def parameters(self, candidate: Candidate) -> int:
        """A unit vector, an offset and a weight per unit; the threshold sets the scale."""
        return len(candidate.machine.weights) * (candidate.machine.dimension + 1)

    def _first(self, pieces, evidence):
        """A flat piece near the data, not parallel to an axis."""
        survey, scale = evidence.survey, evidence.survey.scale
        P, N = survey.pool.pairs(SETTINGS.first_points)
        X, V = boundary_points(pieces.oracle, P / scale, N / scale, SETTINGS.width)
        flat = is_locally_flat(pieces.oracle, X, V, SETTINGS.step, SETTINGS.rough * SETTINGS.step,
                               pieces.rng)
        X, V = X[flat], V[flat]
        for j in self._steepest(pieces, X, V):
            x, v = X[j], V[j]
            try:
                piece = pieces.measure(x, v)
            except Refuted:
                continue
            if np.sort(np.abs(piece.normal))[-2] > SETTINGS.oblique:
                return piece
        raise Refuted("no network: the boundary has no flat pieces, or all are parallel to axes")

    def _steepest(self, pieces, X, V):
        """Boundary points in order: those first whose brackets cross it at a large angle."""
        n, step = SETTINGS.aside_points, SETTINGS.step
        Y, W = np.repeat(X, n, axis=0), np.repeat(V, n, axis=0)
        Y = Y + random_tangents(W, step, pieces.rng)
        heights = bisect_along(pieces.oracle, Y, W, 0.0, step, step / 4, step / SETTINGS.grazing)
        return np.argsort((heights**2).reshape(-1, n).sum(1))  # not met: NaN, the last
