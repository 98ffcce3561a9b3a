"""The two symmetries of a boundary about S_Y, behind one protocol: candidates, holds, refine."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ..types import Array
from . import cylinder, revolution
from .multipliers import log_det_multipliers, multipliers_for, refine_multipliers
from .sample import Sample
from .settings import SETTINGS
from .spans import span_of_corrected_normals, span_of_normals


class Symmetry(Protocol):
    """What maps the boundary to itself, for S_Y and larger subspaces, and for no smaller one."""

    def __repr__(self) -> str:
        return type(self).__name__.upper()

    def candidates(self, sample: Sample) -> Iterator[tuple[Array, bool, int]]:
        """Subspaces that the normals suggest, and that pass a short test; the clearest first.

        Yields
        ------
        basis : array (d, k)
            Orthonormal.
        faint : bool
            Is its last direction only weakly determined by the normals?
        patience : int
            How many refinements without progress it is worth.
        """

    def vectors(self, sample: Sample, basis: Array) -> Array:
        """Vectors (k, d) that lie in S_Y up to their errors, and span it."""

    def holds(self, sample: Sample, basis: Array, way: float, tolerance: float,
              W: Array | None = None) -> bool:
        """Does the boundary fall on itself, up to a tolerance (in units of the sample's scale)?

        It is moved by a part of the whole way, 0 < way <= 1; with W (d, k), in its span only.
        """

    def refine(self, sample: Sample, basis: Array, rough: bool, W: Array | None = None) -> Array:
        """The basis (d, k), corrected by how far the boundary misses itself."""


class Cylinder(Symmetry):
    """The boundary of a dot-product kernel: invariant under translations orthogonal to S_Y."""

    def candidates(self, sample: Sample) -> Iterator[tuple[Array, bool, int]]:
        """Spans of the leading singular vectors of the normals, at every gap (section 3.3)."""
        s, tolerance = len(sample.N), sample.precision.rough_symmetry_tolerance
        left, values = span_of_normals(sample.N, rank=s)
        gaps = np.flatnonzero(values[:-1] > SETTINGS.cylinder_gap * values[1:]) + 1
        for k in gaps if s != 1 else [1]:
            faint = values[k - 1] < SETTINGS.faint_value
            if k == sample.dimension or faint and s < k + 2:
                continue  # two more normals cost less than a refinement that fails
            if self.holds(sample, left[:, :k], SETTINGS.short_way, tolerance):
                yield left[:, :k], faint, 0

    def vectors(self, sample: Sample, basis: Array) -> Array:
        """The normals themselves."""
        return sample.N

    def holds(self, sample: Sample, basis: Array, way: float, tolerance: float,
              W: Array | None = None) -> bool:
        """Is the boundary straight over walks of this length, at all points in use?"""
        # points in use whose brackets do not graze the boundary, and points held back
        steep = (sample.N * sample.V).sum(1) > SETTINGS.least_incidence
        X, V = np.concatenate([np.stack([sample.X, sample.V])[:, steep], sample.ahead], axis=1)

        # all of the former must pass, and most of the latter
        tolerance *= sample.precision.grazing_factor * sample.scale
        with sample.stage("subspace"):
            passed = cylinder.holds(sample.oracle, X, V, basis, way * sample.scale, tolerance,
                                    sample.rng, W)
        used, fresh = np.split(passed, [steep.sum()])
        return bool(used.all() and fresh.mean() >= SETTINGS.share_that_must_pass)

    def refine(self, sample: Sample, basis: Array, rough: bool, W: Array | None = None) -> Array:
        """By heights over long walks orthogonal to the basis."""
        R = sample.scale
        walk, width = (SETTINGS.rough_walk, SETTINGS.rough_width) if rough else (1, 0)
        with sample.stage("subspace"):
            return cylinder.refine(sample.oracle, sample.X, sample.V, sample.N, basis, walk * R,
                                   max(width * R, sample.width), W, sample.precision.points_factor)


class Revolution(Symmetry):
    """The boundary of a radial kernel: invariant under rotations about S_Y."""

    def candidates(self, sample: Sample) -> Iterator[tuple[Array, bool, int]]:
        """Spans of n_j - gamma_j x_j, the gamma_j by log det, at every gap (Eqs. 11 and 12)."""
        N, X, precision = sample.N, sample.X, sample.precision
        s, d = N.shape
        if s < 6:
            return

        # ranks at gaps in the singular values, the clearest first
        left, values = span_of_corrected_normals(N, X, log_det_multipliers(N, X), rank=d)
        ratios = values[:-1] / values[1:]
        gap = SETTINGS.coarse_revolution_gap if precision.coarse else SETTINGS.revolution_gap
        ranks = list(1 + np.argsort(-ratios)[:(ratios > gap).sum()])

        # with many normals, two more: faint vectors may be hidden behind the gap
        last = (ranks or [d])[0]
        if precision.coarse:  # where d - 1 dimensions are always to be had
            last = max((k for k in ranks if k < d - 3), default=d)
        late = s > 3 * last
        for k in dict.fromkeys(ranks + [last + 1, last + 2] if late else ranks):
            if k >= d or k * (d - k) >= s * (d - k - 1):
                continue  # s normals of anything at all can be brought to this rank

            # the multipliers that fit this rank best
            gamma = refine_multipliers(N, X, multipliers_for(N, X, left[:, :k]), k, steps=20)
            basis = span_of_corrected_normals(N, X, gamma, k)[0]

            # tests; with so few normals, more of them cost less than refining a rough basis
            if s < 2 * k + 4 and not self.holds(sample, basis, 1, precision.symmetry_tolerance):
                continue
            if self.holds(sample, basis, SETTINGS.short_way, SETTINGS.rough_turn_tolerance) \
                    and self.holds(sample, basis, 1, SETTINGS.wide_turn_tolerance):
                yield basis, False, 2 * late

    def vectors(self, sample: Sample, basis: Array) -> Array:
        """The n_j - gamma_j x_j, without points so near the subspace that they show no gamma."""
        across = np.linalg.norm(sample.X - sample.X @ basis @ basis.T, axis=1)
        shown = across > SETTINGS.least_offset * np.linalg.norm(sample.X, axis=1)
        N, X = sample.N[shown], sample.X[shown]
        return N - multipliers_for(N, X, basis)[:, None] * X

    def holds(self, sample: Sample, basis: Array, way: float, tolerance: float,
              W: Array | None = None) -> bool:
        """Does the boundary fall on itself, turned by a part of a quarter of a turn?"""
        X, V = sample.ahead
        with sample.stage("subspace"):
            passed = revolution.holds(sample.oracle, X, V, basis, way * np.pi / 2,
                                      tolerance * sample.scale, sample.rng, W)
        return bool(passed.mean() >= SETTINGS.share_that_must_pass)

    def refine(self, sample: Sample, basis: Array, rough: bool, W: Array | None = None) -> Array:
        """By heights over turned points."""
        R, way, step, width = sample.scale, 1.0, SETTINGS.fine_turn_step, 0.0
        if rough:
            way, step, width = SETTINGS.short_way, SETTINGS.rough_turn_step, SETTINGS.rough_width
        step, width = max(step * R, 4 * sample.width), max(width * R, sample.width)
        with sample.stage("subspace"):
            return revolution.refine(sample.oracle, sample.X, sample.V, sample.N, basis,
                                     way * np.pi / 2, step, width, W,
                                     sample.precision.points_factor)


CYLINDER, REVOLUTION = Cylinder(), Revolution()
