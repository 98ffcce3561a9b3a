"""A model that no family fits: what can still be said of it, and how to search again."""

from math import comb
from typing import NamedTuple

import numpy as np

from ..boundary.bracketing import boundary_points
from ..boundary.noise import flip_rate, noise_floor
from ..boundary.settings import SETTINGS as BOUNDARY
from ..families.protocol import SelfContradiction
from ..families.settings import SETTINGS as FAMILIES
from ..oracles.oracle import Oracle
from ..oracles.precision import DOUBLE, Precision
from ..subspaces.symmetry import CYLINDER
from ..types import Array
from .evidence import GatheredEvidence
from .frame import Frame
from .result import Verdict
from .settings import SETTINGS


def name_without_machine(evidence: GatheredEvidence, reasons: dict[str, str],
                         agreement: dict[str, float]) -> Verdict:
    """Name a model by the shape of its boundary, where no machine is found; or say why not.

    Parameters
    ----------
    evidence : GatheredEvidence
    reasons : dict
        Why each family that was tried does not fit.
    agreement : dict
        Of the last candidate.

    Returns
    -------
    Verdict
        Named by its degree where a polynomial has too many coefficients to be fitted, and by its
        shape where the model is too coarse for more; else 'unknown'.
    """
    def unknown(reason: str = "") -> Verdict:
        """All reasons, and one more."""
        message = "; ".join(filter(None, [*reasons.values(), reason]))
        return Verdict(message=message, agreement=agreement)

    # is there anything to name it by?
    if evidence.oracle.dimension == 1 or evidence.survey.flat and not evidence.bounded:
        return unknown()
    subspace = evidence.subspace
    if subspace is None:
        return unknown(evidence.why_no_subspace)
    degree = evidence.degree if subspace.symmetry is CYLINDER else None
    if degree and evidence.refuted:
        return unknown()
    try:
        evidence.insist_on_consistency(again=True)
    except SelfContradiction as contradiction:
        return unknown(str(contradiction))

    # by its degree, if C(m + D, D) coefficients (eq-polynomial-machines-count) are too many to fit
    if degree and comb(subspace.rank + degree, degree) <= FAMILIES.most_coefficients:
        return unknown()  # it was fitted, and does not agree
    if degree == 3:
        return Verdict("cubic", reasons.get("cubic", "by its degree"))
    if degree == 2:
        return Verdict("quadratic", unknown("by its degree: the machine is not recovered").message)

    # by its shape
    with evidence.ledger.stage("kernel type"):
        name, reason = _shape(evidence, subspace)
    return Verdict(name, reason) if name else unknown(reason)


def _shape(evidence, subspace):
    """The name of a boundary's shape, or none; and why that is all."""
    # within bounds, where the asymptotic behaviour is hidden
    straight = subspace.symmetry is CYLINDER
    if evidence.bounded:
        shape = "the boundary is rotation invariant about S_Y: perhaps a Gaussian"
        if straight:
            shape = "no polynomial of degree 1 to 3, and straight across S_Y: perhaps a tanh"
        return "", f"{shape} machine, whose behaviour far away lies beyond the bounds"

    # a cylinder that is no tanh machine's, which is flat far away only (prop-kernel-type-slabs)
    if straight and evidence.is_flat_nearby():
        return "", ""
    flat = evidence.is_flat_far_away(subspace.basis) if straight else True
    if flat is None:
        evidence.sharpen_subspace()  # to be queried further within it
        return "", ("the boundary is invariant orthogonal to S_Y and bounded within it: perhaps a "
                    "Gaussian machine with threshold 0, or one that sees only a projection of its "
                    "input")

    # where the model is coarse, the shape has to do
    name = "tanh" if straight else "gaussian"
    if flat and evidence.precision.coarse:
        return name, f"{name} by its shape: the model is not precise enough to show the machine"
    return "", ""


class Remedy(NamedTuple):
    """How to search again.

    Attributes
    ----------
    noise : float
        The rate of wrong answers to assume.
    precision : Precision
        How wide brackets have to be.
    frame : Frame
        In which coordinates.
    bounds : pair of arrays (d,) or None
        That the model clips its features to, once they are known.
    """

    noise: float
    precision: Precision
    frame: Frame
    bounds: tuple[Array, Array] | None = None


def remedy_for(oracle: Oracle, evidence: GatheredEvidence, last: Remedy) -> Remedy | str:
    """How to search again: the rate of wrong answers, and the precision.

    Parameters
    ----------
    oracle : Oracle
        The model's own, whatever view of it was searched.
    evidence : GatheredEvidence
        Of a search that has found nothing.
    last : Remedy
        What it assumed.

    Returns
    -------
    Remedy or str
        If the model contradicts itself, a search with the upper end of the confidence interval of
        the rate; else, if its brackets are noisier than double precision explains, one with wider
        brackets. A str if there is no remedy: the diagnosis, which may be empty.
    """
    # does it contradict itself?
    survey, (noise, precision, frame, _) = evidence.survey, last
    low, high = flip_rate(oracle, frame.points(survey.pool.points), evidence.rng)
    if low > noise:
        if high < SETTINGS.largest_noise:
            return last._replace(noise=high)
        return (f"the model contradicts itself: {100 * low:.0f} to {100 * high:.0f}% of its "
                "answers are wrong; noise= makes the oracle vote on them")
    if precision != DOUBLE:
        return last
    if oracle.dimension == 1:
        return ""

    # does rounding displace its boundary, measured with a step and with a tenth of it
    # (prop-misbehave-differences)?
    P, N = survey.pool.pairs(SETTINGS.noise_brackets)
    X, V = boundary_points(evidence.oracle, P, N, DOUBLE.width * survey.scale)
    step = BOUNDARY.noise_step
    floor, closer = (_median(noise_floor(evidence.oracle, X, V, survey.scale, evidence.rng, length))
                     for length in (step, step / 10))
    width = SETTINGS.deviations * floor
    if width < 10 * DOUBLE.width or closer < floor / SETTINGS.kink_ratio:
        return ""
    if width > SETTINGS.coarsest:
        return (f"the model rounds: its boundary is displaced by about {floor:.0e} of the data's "
                "scale, too much to tell what it is")
    return last._replace(precision=Precision(width))


def _median(noise):
    """The median of what was measured; 0.0 where nothing was."""
    return np.nanmedian(noise) if np.isfinite(noise).any() else 0.0
