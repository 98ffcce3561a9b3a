"""The units of a boundary, one after another: where does it leave that of the known ones?"""

import numpy as np

from ...boundary.bounds import lies_between
from ...boundary.bracketing import boundary_points
from ...types import Array
from ..protocol import Refuted
from .crossing import add_units
from .model import KnownUnits, Segment
from .pieces import BENT, Pieces
from .settings import SETTINGS


class Explorer:
    """Sections of the known boundary, compared with labels until nothing new shows.

    Parameters
    ----------
    pieces : Pieces
    known : KnownUnits
        Units are added to it.

    Attributes
    ----------
    points : list of arrays (m,)
        Boundary points on known pieces.
    """

    def __init__(self, pieces: Pieces, known: KnownUnits):
        self.pieces, self.known = pieces, known
        self.points = [np.zeros(len(known.first) - 1)]

    def run(self, P: Array, N: Array) -> None:
        """Add units until sections and chords show no further one.

        Parameters
        ----------
        P, N : arrays (p, m) and (n, m)
            Positive and negative points.

        Raises
        ------
        Refuted
            If there are too many, or kinks that no unit has.
        """
        rng, known, clean, failures = self.pieces.rng, self.known, 0, 0
        for _ in range(SETTINGS.most_sections):
            # a chord: a new start where it is explained, and else a place to look for
            i, j = rng.integers(len(P)), rng.integers(len(N))
            (x,), _ = boundary_points(self.pieces.oracle, P[[i]], N[[j]], SETTINGS.width)
            explained = (abs(known.heights(x[None])[0]) < SETTINGS.rough_tolerance
                         and self._keep(x[None]))
            start = self.points[rng.integers(len(self.points))]
            aim = rng.standard_normal(len(x)) if explained else x - start

            # a section to both sides
            plane = np.linalg.qr(np.array([aim, rng.standard_normal(len(x))]).T)[0].T
            start, news = known.onto(start), False
            for side in (1, -1):
                try:
                    news |= self._follow(known.section(start, plane, side, SETTINGS.reach))
                except Refuted:
                    failures, news = failures + 1, True
                    if failures >= SETTINGS.failures + len(known.signs) // SETTINGS.per_failure:
                        raise
                if news:
                    break
            clean = 0 if news else clean + explained
            if clean == SETTINGS.clean:
                known.polish(np.array(self.points[-SETTINGS.most_points:]))
                return
        raise Refuted("the boundary has more pieces than are followed")

    def _keep(self, points):
        """Boundary points correct the units, unless a kink that is still unknown moves them."""
        known, before = self.known, (self.known.first, self.known.units)
        if np.abs(known.heights(points)).max() > SETTINGS.precise:
            Z = np.array([*self.points, *points])[-SETTINGS.most_points:]
            known.polish(Z)
            if np.abs(known.heights(Z)).max() > SETTINGS.precise:
                known.first, known.units = before
                return False
        self.points += list(points)
        return True

    def _follow(self, segments: list[Segment]) -> bool:
        """Follow a section. Is anything new there: a unit, or an error of a known one?"""
        # does the boundary pass through places on it, nearly or at least roughly?
        n, labels = len(segments), SETTINGS.labels
        steps = (np.arange(labels) + self.pieces.rng.uniform(0.1, 0.9, labels)) * (n / labels)
        steps = np.minimum(steps, n - 1e-3)
        fine = self._passes(segments, steps, SETTINGS.tolerance)
        rough = fine.copy()
        if not fine.all():
            rough[~fine] = self._passes(segments, steps[~fine], SETTINGS.rough_tolerance)
        end, width = labels if rough.all() else int(rough.argmin()), SETTINGS.rough_tolerance

        # points before it leaves them for good correct the units
        if end:
            few = np.unique(np.linspace(0, end - 1, SETTINGS.polished).astype(int))
            X, normals = self._places(segments, steps[few])
            aside = normals * np.where(fine[few], SETTINGS.tolerance, width)[:, None]
            if self._keep(boundary_points(self.pieces.oracle, X + aside, X - aside,
                                          SETTINGS.width)[0]):
                if not fine[:end].all():
                    return True
                if end == labels:
                    return False
            else:  # a kink that hardly shows
                end, width = int(fine.argmin()), SETTINGS.tolerance

        # the kink where it does so
        low, high = (steps[end - 1] if end else 0.0), steps[end]
        for _ in range(SETTINGS.halvings):
            middle = (low + high) / 2
            if self._passes(segments, np.array([middle]), width)[0]:
                low = middle
            else:
                high = middle
        segment = segments[int(low)]
        if int(low) < int(high):
            raise Refuted(BENT)

        # the unit behind it, which must leave the points that are known on the boundary
        room = min(SETTINGS.back, low % 1 * segment.length / 2)
        before = segment.at(low % 1) - room * segment.along
        first, units, signs = self.known.first, self.known.units, self.known.signs
        add_units(self.pieces, self.known, before, room, segment.along, segment.on)
        heights = np.abs(self.known.heights(np.array(self.points)))
        if (heights > SETTINGS.rough_tolerance * SETTINGS.slack).any():
            self.known.first, self.known.units, self.known.signs = first, units, signs
            raise Refuted(BENT)
        return True

    def _places(self, segments, steps):
        """Points on a section, so many segments from its start; normals for steps aside."""
        segments = [segments[int(step)] for step in steps]
        X = np.array([segment.at(step % 1) for segment, step in zip(segments, steps, strict=True)])
        normals = np.array([self.known.plane(segment.on)[:-1] for segment in segments])
        size = 1 + np.linalg.norm(X, axis=1, keepdims=True)
        return X, normals * size / np.linalg.norm(normals, axis=1, keepdims=True)

    def _passes(self, segments, steps, tolerance):
        """Does the boundary pass through these places?"""
        X, normals = self._places(segments, steps)
        return lies_between(self.pieces.oracle, X, tolerance * normals)
