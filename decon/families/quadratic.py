"""Quadratic machines, from slices of growing dimension."""

from dataclasses import dataclass, replace
from math import comb

import numpy as np

from ..boundary.curves import has_one_kink, is_locally_flat
from .linear import is_kinked
from .polynomial import evaluate, fit_polynomial
from .protocol import Candidate, Evidence, Refuted
from .quasi_vectors import quasi_support_vectors
from .settings import SETTINGS
from .sharpening.sharpen import can_be_sharpened, sharpen
from .slices import Reading, Slice

KINKED = "no linear or quadratic machine: the boundary has a kink between flat pieces"


@dataclass(frozen=True)
class QuadraticFamily:
    """Models whose boundary is a quadratic: their S_Y, and a machine of quasi-support vectors.

    Attributes
    ----------
    near : bool
        Look at the boundary at the size of the data, after a fit farther out, at the curvature
        scale, was refused; or once more, at other points, after one failed the agreement test.
    """

    near: bool = False
    name = "quadratic"

    def applies(self, evidence: Evidence) -> bool:
        """Whether the boundary is curved; near the data, only after another fit has failed."""
        survey = evidence.survey
        if self.near:
            again = survey.curvature_scale != survey.scale or evidence.disagreement
            return evidence.refuted and bool(again)
        return not survey.flat or evidence.bounded

    def fit(self, evidence: Evidence) -> Candidate:
        """The quadratic of a slice that has more dimensions than its rank, completed in R^d.

        Raises
        ------
        Refuted
            If the boundary in a slice is no quadratic, or one of too many coefficients; on a line,
            if there are not two crossings.
        """
        d, survey = evidence.oracle.dimension, evidence.survey
        if d == 1:
            return self._on_a_line(evidence)
        if self.near:
            evidence.insist_on_consistency()
        scale = survey.scale if self.near else survey.curvature_scale
        part = Slice(evidence.oracle, survey.X[0], survey.ends, scale,
                     np.sqrt(scale / survey.scale), evidence.rng, precision=evidence.precision)
        s, fits = 2, unknowns(d) <= SETTINGS.most_coefficients
        while s < d:
            seen = self._read(evidence, part, s)

            # does the slice show all m dimensions of S_Y? (prop-polynomial-machines-slice)
            m, values = seen.U.shape[1], seen.singular_values
            faint = values[m - 1] < SETTINGS.faint_value * values[0]
            whole = m < s and (s >= m + SETTINGS.spare_lines or not faint)

            # if so, S_Y is completed in R^d, by fewer crossings than R^d has coefficients
            # (step 4 of alg-the-whole-algorithm-slices)
            fewer = (m + SETTINGS.spare_lines) * (d - s) < unknowns(d) - unknowns(s)
            if whole and (not fits or seen.clear and fewer):
                some = slice(1, 1 + SETTINGS.looked_at)
                if is_kinked(evidence, scale, part.points[some], (part.V @ part.P.T)[some]):
                    raise Refuted(KINKED)
                found = self._sharpened(evidence, part, seen, scale)
                if found is not None:
                    return found
                with evidence.ledger.stage("subspace"):
                    T = part.extend(seen)
                if T is not None:
                    seen, T = self._averaged(evidence, part, seen, T)
                    return self._candidate(evidence, seen, T, part.x0, scale)

            # if not, a larger slice (step 1 of alg-the-whole-algorithm-slices)
            s = d if whole and fits else s + max(2, s // 2)
            s = d if 1.2 * s >= d else s
        seen = self._read(evidence, part, d)
        candidate = self._candidate(evidence, seen, part.P @ seen.U, part.x0, scale)
        return self._sharper(evidence, candidate) or candidate

    def _sharpened(self, evidence, part, seen, scale):
        """The candidate of a rough S_Y, sharpened; None where that fails."""
        if evidence.precision.coarse or not can_be_sharpened(evidence, seen.rank):
            return None
        with evidence.ledger.stage("subspace"):
            T = part.extend(seen, roughly=True)
        if T is None:
            return None
        return self._sharper(evidence, self._candidate(evidence, seen, T, part.x0, scale))

    def _sharper(self, evidence, candidate):
        """The candidate fitted to all brackets; None where that fails."""
        sharp = sharpen(evidence, candidate.machine, candidate.rank)
        return sharp and replace(candidate, machine=sharp.machine, basis=sharp.basis)

    def _read(self, evidence, part, s):
        """What a slice of s dimensions shows; from more points, farther out, if it is not clear."""
        if unknowns(s) > SETTINGS.most_coefficients:
            raise Refuted(f"a quadratic in {s} dimensions has {unknowns(s)} coefficients, too many")
        for attempt in range(SETTINGS.attempts):
            seen = self._look(evidence, part, s, attempt)
            evidence.seen(points=part.points)
            if s == 2:
                evidence.plane_curve = part.Z, 3 * part.scale  # as far as its points lie
            if seen.residual > SETTINGS.largest_misfit:
                raise Refuted(f"no linear or quadratic machine: in {s} dimensions, the best one "
                              "misses boundary points by far more than these may be off")
            if s == 2 and has_one_kink(part.Z, SETTINGS.on_a_ray * part.precision.width):
                raise Refuted(KINKED)
            if seen.rank == s or seen.clear:
                break
        return seen

    def _look(self, evidence, part, s, attempt=0):
        """One look at a slice of s dimensions."""
        share = SETTINGS.spare_share + SETTINGS.added_share * attempt
        n = int(share * unknowns(s)) + SETTINGS.spare_points
        evidence.ledger.expect(SETTINGS.bracket_queries * (n - len(part.Z)),
                               f"a quadratic in {s} dimensions")
        with evidence.ledger.stage("slices"):
            part.grow(s, n, SETTINGS.radius_factor**attempt, complete=s > 2)

            # in a plane, points are complete also where flat pieces are to be seen in them
            few = slice(1, 1 + SETTINGS.flat_points)
            if len(part.Z) < n and is_locally_flat(
                    evidence.oracle, part.points[few], (part.V @ part.P.T)[few],
                    SETTINGS.flat_step * part.scale, part.width).any():
                part.grow(s, n, SETTINGS.radius_factor**attempt)
        return part.read()

    def _averaged(self, evidence, part, seen, T):
        """For coarse brackets, the quadratic on S_Y measured again, in all of its directions."""
        if not evidence.precision.coarse:
            return seen, T
        U = np.linalg.qr(T)[0]
        ends = part.x0 + (part.ends - part.x0) @ U @ U.T
        inner = Slice(evidence.oracle, part.x0, ends, part.scale, part.weights[0], evidence.rng, U,
                      evidence.precision)
        again = self._look(evidence, inner, U.shape[1])
        return (again, U @ again.U) if again.residual < SETTINGS.largest_misfit else (seen, T)

    def _on_a_line(self, evidence):
        """The machine of two crossings."""
        X, _ = evidence.crossings
        if len(X) != 2:
            raise Refuted(f"no linear or quadratic machine: {len(X)} crossings on a line")
        seen = Reading(fit_polynomial(X, 2)[0], np.eye(1), 1, True, np.ones(1), 0.0)
        scale = evidence.survey.curvature_scale
        return self._candidate(evidence, seen, np.eye(1), np.zeros(1), scale)

    def _candidate(self, evidence, seen, T, x0, scale):
        """The machine of the quadratic seen, at t = T^T (x - x0)."""
        # what it does not show
        rank, survey, caveat = seen.rank, evidence.survey, ""
        if rank == evidence.oracle.dimension:
            caveat = (f"S_Y is the whole space: at least {rank} support vectors; how many, "
                      "a quadratic boundary does not show")
        elif not seen.clear:
            caveat = f"S_Y fades into the noise: weaker directions than these {rank} may be hidden"

        # (t, 1)^T A (t, 1) about the origin: t = T^T x - T^T x0 (eq-the-whole-algorithm-everywhere)
        shift = np.eye(len(seen.A))
        shift[:-1, -1] = -x0 @ T
        A = shift.T @ seen.A @ shift

        # centred there, as far as can be seen: no linear part, and coef0 = 0
        off_centre = SETTINGS.least_offset * evidence.precision.symmetry_tolerance * survey.scale
        if np.linalg.norm(A[:-1, -1]) < off_centre * np.linalg.norm(A[:-1, :-1]):
            A[:-1, -1] = A[-1, :-1] = 0

        # the sign that agrees with known labels
        psi, _ = evaluate(A, survey.pool.points @ T)
        machine = quasi_support_vectors(A if np.sign(psi) @ survey.pool.labels >= 0 else -A, scale)

        # from S_Y to R^d: K(T^T x, y) = K(x, T y)
        machine.support_vectors = machine.support_vectors @ T.T
        evidence.seen(singular_values=seen.singular_values)
        return Candidate(machine, np.linalg.qr(T[:, :rank])[0], rank, caveat=caveat)

    def parameters(self, candidate: Candidate) -> int:
        """A subspace, and the coefficients of a quadratic on it up to a factor."""
        m, d = candidate.rank, candidate.machine.dimension
        return m * (d - m) + unknowns(m) - 1


def unknowns(s: int) -> int:
    """The number of coefficients of a quadratic in s variables.

    Parameters
    ----------
    s : int

    Returns
    -------
    count : int
    """
    return comb(s + 2, 2)
