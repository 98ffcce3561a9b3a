"""The strategy: one family after another, until a machine passes the agreement test."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..boundary.bounds import lies_between
from ..boundary.distance import level_set_distance
from ..families.cubic.family import CubicFamily
from ..families.gaussian.family import GaussianFamily
from ..families.gaussian.student import GaussianStudentFamily
from ..families.linear import LinearFamily
from ..families.protocol import Family, Refuted, SelfContradiction
from ..families.quadratic import QuadraticFamily
from ..families.relu.family import ReluFamily
from ..families.rows import RowsFamily
from ..families.tanh.family import TanhFamily
from .agreement import agreement_test, clearly_right, normal_steps
from .causes import early_cause
from .diagnosis import name_without_machine
from .evidence import GatheredEvidence
from .frame import in_given_coordinates
from .result import Verdict
from .settings import SETTINGS
from .visibility import displacements, telling_points

MISSED = ("the machine misses boundary points by more than these may be off: a support vector may "
          "be missing")
HIDDEN = ("these are all support vectors that the boundary shows; the kernel is so narrow that "
          "others may hide near the features or around them")

# The registry: the simplest boundary first. A new family is one line more.
FAMILIES: tuple[Family, ...] = (
    LinearFamily(),
    QuadraticFamily(),
    QuadraticFamily(near=True),
    ReluFamily(),
    RowsFamily(),
    CubicFamily(),
    TanhFamily(),
    GaussianFamily(),
    RowsFamily(again=True),
    GaussianStudentFamily(),
)


def decide(evidence: GatheredEvidence, families: Sequence[Family] | None = None) -> Verdict:
    """Try the families in order: applies, fit, test agreement.

    Parameters
    ----------
    evidence : GatheredEvidence
    families : sequence of Family, optional
        Left out, the registry `FAMILIES`.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> from decon.extraction.ledger import Ledger
    >>> from decon.extraction.survey import Survey
    >>> model = KernelMachine.random(Polynomial(degree=2), dimension=6, n_support=2)
    >>> oracle = Oracle(model.predict, 6)
    >>> features = np.random.default_rng(0).standard_normal((20, 6))
    >>> survey = Survey(oracle, features, Ledger(oracle, progress=False))
    >>> survey.run()
    >>> decide(GatheredEvidence(oracle, survey, survey.ledger)).kernel_type
    'quadratic'
    """
    reasons: dict[str, str] = {}
    agreement: dict[str, float] = {}
    for family in FAMILIES if families is None else families:
        # trees and clipping show early, and would cost the other families many queries
        cheap = not reasons or family.name in ("linear", "quadratic")
        if not cheap and (cause := early_cause(evidence)):
            evidence.cause = cause
            return cause.as_verdict(agreement, "; ".join(reasons.values()))

        # does the family apply, and does it fit?
        try:
            if not family.applies(evidence):
                continue
            with np.errstate(all="ignore"):  # models of no family at all lead fits anywhere
                fitted = family.fit(evidence)
        except SelfContradiction as contradiction:
            return Verdict(message=str(contradiction), agreement=agreement)
        except Refuted as refuted:
            evidence.refuted |= refuted.conclusive
            reasons[family.name] = str(refuted)
            continue

        # does the machine answer like the model (prop-the-whole-algorithm-certificate)?
        for candidate in in_given_coordinates(fitted, evidence.frame):
            agreement = _agreement(evidence, candidate.machine)
            if all(value >= SETTINGS.least_agreement for value in agreement.values()):
                return _certified(evidence, candidate.name or family.name, candidate,
                                  agreement)
        evidence.refuted, evidence.disagreement = True, agreement
        reasons[family.name] = (
            f"the {family.name} machine that fits best fails the agreement test: "
            + ", ".join(f"{value:.3f} {where}" for where, value in agreement.items()))
    return name_without_machine(evidence, reasons, agreement)


def _agreement(evidence, machine):
    """The agreement test at fresh points, near the features and farther out."""
    survey, frame, (between, around) = evidence.survey, evidence.frame, SETTINGS.agreement_points
    oracle = evidence.oracle if frame.given else evidence.oracle.oracle
    precision, width = evidence.precision, evidence.precision.width * survey.scale
    distance = np.maximum(precision.agreement_distance * survey.spread, 100 * width)
    with evidence.ledger.stage("agreement"):
        points = np.concatenate([survey.between(between), survey.cloud(around)])
        agreement = agreement_test(oracle, machine, frame.points(points), distance * frame.units,
                                   evidence.rng, ends=frame.points(survey.pool.points))

    # the features themselves: far from 0 they lie closer together than brackets are wide
    features, labels = frame.points(survey.features), survey.pool.labels[:len(survey.features)]
    close = precision.agreement_distance * survey.spread * frame.units
    right = clearly_right(machine, features, labels, close)
    return agreement | {"far": min(agreement["far"], right)}  # a NaN of the test remains one


def _certified(evidence, name, candidate, agreement):
    """The verdict on a candidate that has passed the agreement test."""
    if candidate.surrogate:
        return Verdict("unknown", candidate.caveat, candidate, agreement, candidate.cause)
    if candidate.own_vectors and evidence.precision.coarse:
        caveat = "the model is too coarse to show that the vectors are its own"
        candidate = replace(candidate, own_vectors=False, caveat=caveat)
    radial = name == "gaussian" and not candidate.given  # of rows, none can be missing
    for doubt, caveat in ((_misses, MISSED), (_may_hide, HIDDEN)):
        if candidate.own_vectors and radial and doubt(evidence, candidate.machine):
            candidate = replace(candidate, own_vectors=False, caveat=caveat)
    return Verdict(name, candidate.caveat, candidate, agreement)


def _measured(evidence):
    """Boundary points in narrow brackets, as the machine takes them."""
    X, _, widths = evidence.brackets
    narrow = widths <= SETTINGS.narrow_brackets * evidence.precision.width * evidence.survey.scale
    return evidence.frame.points(X[narrow] if narrow.any() else evidence.points)


def _misses(evidence, machine):
    """Whether a machine passes by its narrow brackets, as it does where a centre is missing."""
    X, units = _measured(evidence), evidence.frame.units
    with np.errstate(all="ignore"):  # where the gradient vanishes, the point is missed
        apart = level_set_distance(machine.decision_function(X), machine.gradient(X) * units)
        apart = np.nan_to_num(np.abs(apart), nan=np.inf)
    return bool(np.quantile(apart, SETTINGS.fitted_share) > _reached(evidence, machine))


def _reached(evidence, machine):
    """How near to its narrow brackets a machine comes, at least, if no centre is missing."""
    # one small enough to be sharpened reaches them; a larger one is as good as its planes
    small = len(machine.weights) * (machine.dimension + 1) <= evidence.largest_fit
    most = SETTINGS.narrow_brackets if small else SETTINGS.least_trace
    return most * evidence.precision.width * evidence.survey.scale


def _may_hide(evidence, machine):
    """Whether a Gaussian's centre near the features or around them could leave no trace."""
    survey, frame, n = evidence.survey, evidence.frame, SETTINGS.hiding_places
    width = evidence.precision.width * survey.scale
    around = survey.cloud(n, (SETTINGS.hiding_radius,))
    places = frame.points(np.concatenate([survey.features, survey.between(n), around]))

    # where it would have displaced narrow brackets
    shown = displacements(machine, _measured(evidence), places, frame.units)
    places = places[shown < SETTINGS.least_trace * width]
    if not 0 < len(places) <= 2 * n:
        return len(places) > 0

    # where it would show, at other points of the machine's boundary
    X = telling_points(machine, places, frame.points(survey.pool.points), SETTINGS.hiding_segments,
                       frame.units)
    if not len(X) or (displacements(machine, X, places, frame.units)
                      < SETTINGS.least_trace * width).any():
        return True

    # does the model's boundary pass through them?
    steps, _ = normal_steps(machine, X, _reached(evidence, machine) / 2 * frame.units)
    oracle = evidence.oracle if frame.given else evidence.oracle.oracle
    with evidence.ledger.stage("agreement"):
        return not lies_between(oracle, X, steps).all()
