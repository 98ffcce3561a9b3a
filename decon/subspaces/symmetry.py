"""The two symmetries of a boundary about S_Y, behind one protocol: candidates, holds, refine."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy.linalg import subspace_angles

from ..types import Array
from . import cylinder, revolution
from .multipliers import (
    fit_multipliers,
    least_rank,
    log_det_multipliers,
    multipliers_for,
    refine_multipliers,
    weakest_angle_error,
)
from .sample import Sample
from .settings import SETTINGS
from .spans import span_of_corrected_normals, span_of_normals


class Symmetry(Protocol):
    """Motions that map the boundary to itself if and only if a subspace contains S_Y.

    There are two, `CYLINDER` and `REVOLUTION`; the docstrings of this protocol describe both.

    Attributes
    ----------
    share : int
        A new batch of normals is 1/share of the number measured so far: small batches where a
        test is cheap.
    held_back : int
        How many boundary points test a subspace that they had no part in finding.
    noise : float
        How far off `vectors` may be, in roots of the width of the brackets.
    """

    share: int
    held_back: int
    noise: float

    def __repr__(self) -> str:
        return type(self).__name__.upper()

    def is_rough(self, sample: Sample, miss: float) -> bool:
        """Does the boundary miss itself by much?

        Parameters
        ----------
        sample : Sample
        miss : float
            In units of the sample's scale.

        Returns
        -------
        bool
        """
        return miss > max(SETTINGS.rough_miss, 20 * sample.precision.symmetry_tolerance)

    def width_for(self, sample: Sample, miss: float) -> float:
        """The width of brackets by which a basis is refined.

        Parameters
        ----------
        sample : Sample
        miss : float
            How far the boundary misses itself, in units of the sample's scale.

        Returns
        -------
        width : float
            In these units; 0, as narrow as can be, where that is hardly at all.
        """
        last = miss < SETTINGS.rough_miss / 2
        return 0.0 if last or sample.precision.coarse else SETTINGS.share_of_miss * miss

    def candidates(self, sample: Sample) -> Iterator[tuple[Array, bool, int]]:
        """Subspaces that the normals suggest, and that pass a short test; the clearest first.

        Parameters
        ----------
        sample : Sample
            Boundary points with s normals, and points held back for the test.

        Yields
        ------
        basis : array (d, k)
            Orthonormal.
        weak : bool
            Is its last direction only weakly determined by the normals?
        patience : int
            How many refinements without progress it is worth.
        """

    def vectors(self, sample: Sample, basis: Array) -> Array:
        """Vectors that lie in S_Y up to their errors, and span it.

        Parameters
        ----------
        sample : Sample
        basis : array (d, k)
            S_Y, orthonormal.

        Returns
        -------
        vectors : array (n, d)
            The normals, or the n_j - gamma_j x_j of a radial kernel (Eq. 11).
        """

    def holds(self, sample: Sample, basis: Array, way: float, tolerance: float,
              W: Array | None = None) -> bool:
        """Does the boundary fall on itself when it is moved?

        Parameters
        ----------
        sample : Sample
            The images of its boundary points are queried on both sides: two queries per point.
            After translations, points ahead that refute the basis come first: `grow` measures
            their normals next.
        basis : array (d, k)
            Orthonormal; a candidate for S_Y.
        way : float in (0, 1]
            How far to move: a fraction of the scale (translations) or of a quarter turn
            (rotations).
        tolerance : float
            How far the boundary may miss itself, in units of the sample's scale.
        W : array (d, l), optional
            Orthonormal and orthogonal to the basis: moves stay in its span. Left out, all.

        Returns
        -------
        bool
        """

    def refine(self, sample: Sample, basis: Array, miss: float, W: Array | None = None) -> Array:
        """The basis, corrected by how far the boundary misses itself: a step of Newton's method.

        Parameters
        ----------
        sample : Sample
        basis : array (d, k)
            Orthonormal; the approximate S_Y.
        miss : float
            How far the boundary misses itself, in units of the sample's scale: if that is much, by
            short moves and wide brackets.
        W : array (d, l), optional
            Orthonormal and orthogonal to the basis: the directions to be corrected. Left out, all.

        Returns
        -------
        basis : array (d, k), orthonormal
        """


class Cylinder(Symmetry):
    """The boundary of a dot-product kernel: invariant under translations orthogonal to S_Y."""

    share, held_back = SETTINGS.cylinder_share, SETTINGS.cylinder_held_back
    noise = SETTINGS.cylinder_noise

    def candidates(self, sample: Sample) -> Iterator[tuple[Array, bool, int]]:
        # spans of the leading singular vectors, at every gap (step 3 of alg-kernel-subspace-svd),
        # and of all of them: another normal costs much more than the test
        s, tolerance = len(sample.N), sample.precision.rough_symmetry_tolerance
        left, values = span_of_normals(sample.N, rank=s)
        gaps = np.flatnonzero(values[:-1] > SETTINGS.cylinder_gap * values[1:]) + 1
        for k in [*gaps.tolist(), len(values)] if s else []:
            weak = values[k - 1] < SETTINGS.weak_value
            if k >= sample.dimension or weak and s < k + 2 or sample.tried_lately(self, k):
                continue  # two more normals cost less than a refinement that fails
            if self.holds(sample, left[:, :k], SETTINGS.short_way, tolerance):
                yield left[:, :k], weak or (self, k) in sample.tried, 0

    def vectors(self, sample: Sample, basis: Array) -> Array:
        return sample.N

    def holds(self, sample: Sample, basis: Array, way: float, tolerance: float,
              W: Array | None = None) -> bool:
        # walks from points in use whose brackets do not graze the boundary, the steepest first, and
        # from points ahead
        incidence = (sample.N * sample.V).sum(1)
        steep = np.argsort(-incidence)[:(incidence > SETTINGS.least_incidence).sum()]
        X, V = np.concatenate([np.stack([sample.X, sample.V])[:, steep], sample.ahead], axis=1)
        tolerance *= sample.precision.grazing_factor * sample.scale

        # nearly all of them must pass; one most often refutes it
        def passed(part):
            with sample.stage("subspace"):
                return cylinder.holds(sample.oracle, X[part], V[part], basis, way * sample.scale,
                                      tolerance, sample.rng, W)

        n, first = len(steep), min(1, len(steep))
        if not passed(slice(first)).all():
            return False
        used, fresh = np.split(passed(slice(first, None)), [n - first])

        # the next normals are measured where the boundary bends out of this subspace
        sample.ahead = sample.ahead[:, np.argsort(fresh, kind="stable")]
        return bool((~used).sum() <= SETTINGS.share_that_may_fail * n
                    and fresh.mean() >= SETTINGS.cylinder_passed)

    def refine(self, sample: Sample, basis: Array, miss: float, W: Array | None = None) -> Array:
        # by heights over long walks orthogonal to the basis
        R, rough = sample.scale, self.is_rough(sample, miss)
        walk, width = (SETTINGS.rough_walk, SETTINGS.rough_width) if rough else \
            (1, self.width_for(sample, miss))
        with sample.stage("subspace"):
            return cylinder.refine(sample.oracle, sample.X, sample.V, sample.N, basis, walk * R,
                                   max(width * R, sample.width), W, sample.precision.points_factor)


class Revolution(Symmetry):
    """The boundary of a radial kernel: invariant under rotations about S_Y."""

    share, held_back = SETTINGS.revolution_share, SETTINGS.revolution_held_back
    noise = SETTINGS.revolution_noise

    def candidates(self, sample: Sample) -> Iterator[tuple[Array, bool, int]]:
        s, d = sample.N.shape
        if s < 6:
            return
        ranks = self._by_gaps(sample) if sample.precision.coarse else self._by_fits(sample)
        for k, basis, late in ranks:
            if k >= d or k * (d - k) >= s * (d - k - 1) or sample.tried_lately(self, k):
                continue  # any s normals can be brought to this rank (eq-gaussian-subspace-count)
            if len(self.vectors(sample, basis)) < k:
                continue  # rotations about a subspace hardly move the points that lie in it
            tests = [(SETTINGS.short_way, SETTINGS.rough_turn_tolerance),
                     (1, SETTINGS.wide_turn_tolerance)]
            if all(self.holds(sample, basis, way, tolerance) for way, tolerance in tests):
                yield basis, True, 2 * late

    def _by_fits(self, sample):
        """The least rank that fits, and with many normals two more: weak vectors may be hidden."""
        misfit = SETTINGS.normals_misfit * np.sqrt(sample.precision.width)
        found = least_rank(sample.N, sample.X, misfit, SETTINGS.revolution_gap)
        if found is None:
            return
        (basis, off), s, k = found, len(sample.N), found[0].shape[1]
        before, sample.fitted, late = sample.fitted, basis, s > 3 * k

        # it is worth a try if it has hardly changed with the last normals, and none of its
        # directions is lost in their errors; where normals are many, in any case
        steady = False
        if before.shape == basis.shape and s >= k + SETTINGS.spare_normals:
            error = weakest_angle_error(sample.N, sample.X, basis, off)
            change = float(subspace_angles(before, basis).max())
            steady = (error < SETTINGS.largest_angle_error
                      and change < max(SETTINGS.steady_angle, 2 * error))
        if steady or late:
            yield k, basis, late
        for more in (1, 2) if late else ():
            gamma = multipliers_for(sample.N, sample.X, basis)
            yield k + more, fit_multipliers(sample.N, sample.X, gamma, k + more)[1], late

    def _by_gaps(self, sample):
        """Ranks at gaps of the singular values, the clearest first, where brackets are coarse."""
        N, X, d = sample.N, sample.X, sample.dimension

        # the n_j - gamma_j x_j in S_Y (eq-gaussian-subspace-corrected), by log det
        # (eq-gaussian-subspace-logdet)
        left, values = span_of_corrected_normals(N, X, log_det_multipliers(N, X), rank=d)
        ratios = values[:-1] / values[1:]
        gaps = (ratios > SETTINGS.coarse_revolution_gap).sum()
        ranks = list(1 + np.argsort(-ratios)[:gaps])

        # with many normals two more: weak vectors may be hidden behind the gap, but d - 1
        # dimensions are always to be had
        last = max((k for k in ranks if k < d - 3), default=d)
        late = len(N) > 3 * last
        for k in dict.fromkeys(ranks + [last + 1, last + 2] if late else ranks):
            if k < d:
                # the multipliers that fit this rank best (eq-gaussian-subspace-alternate)
                gamma = refine_multipliers(N, X, multipliers_for(N, X, left[:, :k]), k, steps=20)
                yield k, span_of_corrected_normals(N, X, gamma, k)[0], late

    def vectors(self, sample: Sample, basis: Array) -> Array:
        # without points so near the subspace that they show no gamma
        across = np.linalg.norm(sample.X - sample.X @ basis @ basis.T, axis=1)
        shown = across > SETTINGS.least_height * np.linalg.norm(sample.X, axis=1)
        N, X = sample.N[shown], sample.X[shown]
        return N - multipliers_for(N, X, basis)[:, None] * X

    def holds(self, sample: Sample, basis: Array, way: float, tolerance: float,
              W: Array | None = None) -> bool:
        # most of the points ahead must pass
        X, V = sample.ahead
        with sample.stage("subspace"):
            passed = revolution.holds(sample.oracle, X, V, basis, way * np.pi / 2,
                                      tolerance * sample.scale, sample.rng, W)
        return bool(passed.mean() >= SETTINGS.revolution_passed)

    def refine(self, sample: Sample, basis: Array, miss: float, W: Array | None = None) -> Array:
        # by heights over rotated points
        R, way = sample.scale, SETTINGS.short_way if self.is_rough(sample, miss) else 1.0
        step, width = way * miss / 4, way * self.width_for(sample, miss)
        with sample.stage("subspace"):
            return revolution.refine(sample.oracle, sample.X, sample.V, sample.N, basis,
                                     way * np.pi / 2, max(step * R, 4 * sample.width),
                                     max(width * R, sample.width), W,
                                     sample.precision.points_factor)


CYLINDER, REVOLUTION = Cylinder(), Revolution()
