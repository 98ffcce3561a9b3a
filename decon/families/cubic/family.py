"""The family of cubic machines: their own support vectors, or another machine of their boundary."""

from dataclasses import dataclass, replace
from math import comb

import numpy as np

from ...boundary.distance import level_set_distance
from ...subspaces.symmetry import CYLINDER
from ..accuracy import faint, vanishing
from ..polynomial import evaluate, fit_polynomial, misfit
from ..protocol import Candidate, Evidence, Refuted
from ..quasi_vectors import quasi_cubes
from ..settings import SETTINGS as FAMILY
from ..sharpening.sharpen import can_be_sharpened, sharpen
from ..slices import Slice
from .coordinates import SumOfCubes
from .decomposition import sum_of_cubes
from .forms import TWO, machine_of_forms, vector_errors, without_threshold
from .outside import outside
from .overcomplete import groups, many_cubes, polished
from .planes import PlaneSections, frame_of
from .rough import rough_cubics
from .settings import SETTINGS

ALIKE = "some support vectors are too much alike, or too faint, to be told apart"
READ_OFF = "S_Y was read off a fitted cubic: a faint direction of it may be an error"
SEVERAL_SUMS = ("so many vectors (y_i, 1) in so few dimensions: the model's own, or those of "
                "another machine")
DEPENDENT = "a sum of more cubes than dimensions: the vectors found need not be the model's own"
WITHIN_BOUNDS = "within bounds the vectors are measured too coarsely to be called the model's own"
SURROGATE = "a surrogate: within bounds wide Gaussians look cubic, and S_Y does not show"


@dataclass(frozen=True)
class CubicFamily:
    """Models whose boundary is a cubic, by the sum of cubes that it is on S_Y."""

    name = "cubic"

    def applies(self, evidence: Evidence) -> bool:
        """Whether planes show a cubic, and the boundary is not one of revolution."""
        flat = evidence.survey.flat and not evidence.bounded
        if evidence.oracle.dimension == 1 or flat or evidence.degree != 3:
            return False
        subspace = evidence.rough_subspace
        return subspace is None or subspace.symmetry is CYLINDER

    def fit(self, evidence: Evidence) -> Candidate:
        """Plane by plane where that is cheaper and works, else all coefficients at once.

        Raises
        ------
        Refuted
            If the boundary is no cubic in all dimensions of S_Y, or many cubics fit it, or it is
            one of too many coefficients and no sum of cubes of independent vectors.
        """
        with evidence.ledger.stage("polynomial"):
            candidate = _by_sharpening(evidence) or _by_rough_planes(evidence)
        if candidate is None:
            subspace = evidence.subspace
            if subspace is None:  # before all the coefficients of a cubic in R^d are paid for
                evidence.insist_on_consistency(again=True)
            basis = np.eye(evidence.oracle.dimension) if subspace is None else subspace.basis
            with evidence.ledger.stage("polynomial"):
                candidate = _by_planes(evidence, basis) or _by_coefficients(evidence, basis)

        # the boundary points near the data settle the threshold
        machine = candidate.machine
        machine.threshold += float(machine.decision_function(evidence.survey.X).mean())

        # within bounds, a machine that depends on all features may be one of another kernel
        if evidence.bounded and candidate.rank == machine.dimension:
            return replace(candidate, caveat=SURROGATE, surrogate=True)
        return candidate

    def parameters(self, candidate: Candidate) -> int:
        """A subspace, and m vectors in it with a weight each."""
        m, d = candidate.rank, candidate.machine.dimension
        return m * (d - m) + m * (m + 1)


def _by_rough_planes(evidence):
    """The candidate of `_by_planes` in a subspace that is nearly S_Y, where it has many dimensions.

    On any subspace of as many dimensions, it is a sum of as many cubes too.
    """
    subspace = evidence.rough_subspace
    few = subspace and comb(subspace.rank + 3, 3) <= SETTINGS.most_rough_coefficients
    if not subspace or few and can_be_sharpened(evidence, subspace.rank):
        return None
    return _by_planes(evidence, subspace.basis)


def _by_planes(evidence, basis):
    """The candidate from O(m^2) boundary points; None if planes do not show a sum of cubes."""
    survey, width, N = evidence.survey, evidence.precision.width, evidence.normals
    enough = SETTINGS.least_rank_for_planes <= basis.shape[1] <= len(N)
    if not enough or evidence.bounded or evidence.precision.coarse:
        return None

    # frame, reference, planes and pencil (steps 1 to 4 of alg-support-vectors-of-a-cubic-planes)
    frame = frame_of(basis, N, survey.curvature_scale)
    for points in (survey.X, np.roll(survey.X, -1, axis=0)):
        try:
            sections = PlaneSections(evidence.oracle, points, frame, evidence.rng)
        except Refuted:
            continue
        for bracket in (SETTINGS.rough_width, width):
            try:
                own = sections.machine(bracket)
            except Refuted:
                continue

            # near enough to be sharpened, or refined (step 5), and right afterwards?
            sharp = _sharp(evidence, own)
            if sharp is not None:
                return sharp
            if np.quantile(own.distances(sections.points()), 0.99) < SETTINGS.largest_distance:
                own, done = own.refine(evidence.oracle, width, evidence.rng)
                off = np.median(own.distances(sections.points()))
                if done and off < SETTINGS.median_distances * SETTINGS.rough_width:
                    return _with_own_vectors(evidence, own)
    return None


def _by_sharpening(evidence):
    """The candidate from a rough machine; None if that is too far off, or has too many numbers."""
    subspace, (fewest, most) = evidence.rough_subspace, SETTINGS.completed_coefficients
    if subspace is None or not (fewest <= comb(subspace.rank + 3, 3) <= most
                                and can_be_sharpened(evidence, subspace.rank)):
        return None
    for machine in rough_cubics(evidence, subspace):
        sharp = sharpen(evidence, machine, subspace.rank)
        if sharp is not None:
            return _of_sharpened(evidence, sharp)
        if evidence.finds_another_subspace():
            return _by_sharpening(evidence)
    return _by_sharpening(evidence) if evidence.finds_another_subspace() else None


def _of_sharpened(evidence, sharp):
    """The candidate of a machine that is sharpened."""
    # its forms, as functions of z at x = x0 + basis @ z
    machine, x0 = sharp.machine, evidence.survey.X[0]
    root = np.cbrt(machine.weights)[:, None]
    A, h = root * machine.support_vectors, root[:, 0] * machine.kernel.coef0
    V = np.c_[A @ sharp.basis, h + A @ x0]
    own = SumOfCubes(x0, sharp.basis, V, machine.threshold)

    return _with_own_vectors(evidence, own, sharp.errors)


def _sharp(evidence, own):
    """The candidate of a sum of cubes, sharpened; None where that fails."""
    A, h, threshold = own.forms()
    try:
        machine = machine_of_forms(A, h, threshold, evidence.survey.curvature_scale, faint=0.0)
    except Refuted:
        return None
    sharp = sharpen(evidence, machine, len(A))
    return sharp and _of_sharpened(evidence, sharp)


def _with_own_vectors(evidence, own, errors=None):
    """The candidate of a sum of cubes, corrected outside the subspace as well.

    If they are known, the relative errors of its vectors count.
    """
    R, width = evidence.survey.curvature_scale, evidence.precision.width
    A, h, threshold = own.forms()
    tilts = None if errors is None else errors / np.sqrt(A.shape[1])
    missing, single = outside(own, evidence.oracle, R, width, evidence.rng, tilts)
    A, h = A + missing, h - missing @ own.x0
    least = max(1e-8, 100 * width) if errors is None else vanishing(errors.max())
    machine = machine_of_forms(A, h, threshold, R, faint=least)
    if errors is not None:
        single &= not faint(vector_errors(machine, errors, evidence.survey.scale).max())

    # a homogeneous machine in two dimensions has no vectors of its own
    ambiguous = len(A) == 2 and machine.kernel.coef0 == 0
    caveat = TWO if ambiguous else "" if single else ALIKE
    error = 0.0 if errors is None else float(errors.max())
    least = _clear_rank(A) if caveat == ALIKE else None
    return Candidate(machine, np.linalg.qr(A.T)[0], len(A), not caveat, caveat, error=error,
                     least_rank=least)


def _clear_rank(rows):
    """In how many directions the gradients of forms, or the rows of a tensor, vary clearly."""
    values = np.linalg.svd(rows, compute_uv=False)
    return int((values > SETTINGS.clear_direction * values[0]).sum())


def _by_coefficients(evidence, basis):
    """The candidate of all coefficients of a cubic on S_Y, by a null vector."""
    # C(m + 3, 3) coefficients (eq-polynomial-machines-count): not too many?
    survey, precision, m = evidence.survey, evidence.precision, basis.shape[1]
    R, x0 = survey.curvature_scale, survey.X[0]
    unknowns = (m + 1) * (m + 2) * (m + 3) // 6
    if unknowns > FAMILY.most_coefficients:
        raise Refuted(f"a cubic that is no sum of {m} cubes of independent vectors, and of "
                      f"{unknowns} coefficients, too many to be fitted")

    # boundary points inside S_Y: what is orthogonal to it does not matter (kernel-machines-type-a)
    ends = x0 + (survey.ends - x0) @ basis @ basis.T
    part = Slice(evidence.oracle, x0, ends, R, np.sqrt(R / survey.scale), evidence.rng,
                 frame=basis, precision=precision)
    n = int(FAMILY.spare_share * unknowns) + FAMILY.spare_points
    evidence.ledger.expect(FAMILY.bracket_queries * n, f"a cubic of {unknowns:,} coefficients")
    part.grow(m, n, 1.0)

    # the cubic through them (alg-polynomial-machines-fit), if there is one and no other, with the
    # sign of known labels
    T, values = fit_polynomial(part.Z, 3, part.weights)
    if not values[0] > SETTINGS.clear_null_vector * values[1]:
        raise Refuted("many cubics fit the boundary equally well: it need not be one", True)
    if not misfit(part.Z, 3, precision.width * R, values[1]) <= FAMILY.largest_misfit:
        raise Refuted(f"no cubic machine: planes look cubic, but not all {m} dimensions", True)
    psi, _ = evaluate(T, (survey.pool.points - x0) @ basis)
    T *= 1 if np.sign(psi) @ survey.pool.labels >= 0 else -1

    # a sum of few cubes, of many, or of quasi-cubes (prop-polynomial-machines-cubes)
    try:
        return _sum_of_cubes(evidence, part, basis, T, values[1])
    except Refuted as refuted:
        reason = refuted
    try:
        return _many_cubes(evidence, part, basis, T)
    except Refuted:
        machine = quasi_cubes(T, x0 @ basis, R)
        machine.support_vectors = machine.support_vectors @ basis.T
        caveat = f"{reason}: there are more than {m} support vectors, or dependent ones"
        return Candidate(machine, basis, m, caveat=caveat,
                         least_rank=_clear_rank(T[:-1].reshape(m, -1)))


def _sum_of_cubes(evidence, part, basis, T, error):
    """The candidate of the cubic T on S_Y as a sum of cubes: the model's own, if they can be.

    The rank of T shows in how many directions the cubic varies, if S_Y has not been found.
    """
    survey, precision, m = evidence.survey, evidence.precision, basis.shape[1]
    R = survey.curvature_scale
    faint = max(SETTINGS.rounding, SETTINGS.magnified * error)
    V, threshold = without_threshold(sum_of_cubes(T, R, faint=faint), R)
    A = V[:, :-1] @ basis.T
    machine = machine_of_forms(A, V[:, -1] - A @ part.x0, threshold, R)

    # as many as dimensions: refined on the boundary, they are the model's own
    # (thm-polynomial-machines-jennrich); fewer, or a coarse model whose S_Y has not been found:
    # how many there are rests on what is faint
    if len(V) <= m and not evidence.bounded:
        sharp = sharpen(evidence, machine, len(V))
        if sharp is not None and (len(V) < m or precision.coarse and m == machine.dimension):
            candidate, own = _of_sharpened(evidence, sharp), sharp.machine
            least = _clear_rank(np.cbrt(own.weights)[:, None] * own.support_vectors)
            return replace(candidate, own_vectors=False, caveat=READ_OFF, least_rank=least)
        if sharp is not None:
            return _of_sharpened(evidence, sharp)
    if len(V) == m and not evidence.bounded:
        own = SumOfCubes(part.x0, basis, V, threshold)
        own, done = own.refine(evidence.oracle, precision.width, evidence.rng)
        if done:
            return _with_own_vectors(evidence, own)

    # else a machine whose boundary passes through the points, by Sampson's distances
    X = part.points
    off = np.abs(level_set_distance(machine.decision_function(X), machine.gradient(X)))
    if np.quantile(off, 0.9) > SETTINGS.closeness * precision.agreement_distance * survey.scale:
        raise Refuted("this cubic is a sum of cubes only nearly")
    caveat = DEPENDENT if len(V) > m else WITHIN_BOUNDS if evidence.bounded else ALIKE
    basis = np.linalg.qr(machine.support_vectors.T)[0] if len(V) < m else basis
    least = _clear_rank(A) if len(V) <= m else None
    return Candidate(machine, basis, basis.shape[1], caveat=caveat, least_rank=least)


def _many_cubes(evidence, part, basis, T):
    """The candidate of the cubic T as a sum of more cubes than S_Y has dimensions."""
    precision, R = evidence.precision, evidence.survey.curvature_scale
    if evidence.bounded or precision.coarse:
        raise Refuted("brackets within bounds, or of a coarse model, are too wide for many cubes")
    V = many_cubes(T, R, evidence.rng)

    # on the boundary points: is it the only one nearby, and their boundary?
    threshold = float((V[:, -1] ** 3).sum() - T[-1, -1, -1])
    V, threshold, values = polished(V, threshold, part.Z, R)
    machine = machine_of_forms(V[:, :-1], V[:, -1], threshold, R)
    off = np.abs(level_set_distance(machine.decision_function(part.Z), machine.gradient(part.Z)))
    if np.median(off) > SETTINGS.median_widths * precision.width * R:
        raise Refuted("this cubic is a sum of more cubes only nearly")
    A = V[:, :-1] @ basis.T
    machine = machine_of_forms(A, V[:, -1] - A @ part.x0, threshold, R)

    # the only one at all for almost every machine, but for nine cubes in six variables, and for as
    # many numbers as coefficients (thm-support-vectors-of-a-cubic-generic)
    several = any((r, n) == (9, 6) or r * n >= comb(n + 2, 3) for r, n in groups(V, R) if r > n)
    alike = not values[-2] > SETTINGS.least_independence
    caveat = SEVERAL_SUMS if several else ALIKE if alike else ""
    return Candidate(machine, basis, basis.shape[1], not caveat, caveat)
