"""The machine between two classes, from the labels in a region where only these two occur."""

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..extraction.evidence import GatheredEvidence
from ..extraction.ledger import Ledger
from ..extraction.strategy import MISSED, decide
from ..extraction.survey import Survey
from ..families.cubic.family import CubicFamily
from ..families.gaussian.family import GaussianFamily
from ..families.linear import LinearFamily
from ..families.quadratic import QuadraticFamily
from ..families.tanh.family import TanhFamily
from ..kernels import Linear
from ..machine import ScaledMachine
from ..oracles.errors import BudgetExhausted, SeveralClasses
from ..oracles.views import SearchView
from .crossings import Crossings, distances
from .settings import SETTINGS

# What is sought in a region: dot-product kernels in boxes, radial ones in balls.
IN_BOXES = (LinearFamily(), QuadraticFamily(), QuadraticFamily(near=True), CubicFamily(),
            TanhFamily())
IN_BALLS = (LinearFamily(), GaussianFamily())


@dataclass(frozen=True)
class PairMachine:
    """What is known of the machine between two classes.

    Attributes
    ----------
    kernel_type : str
        As of a `Deconstruction`.
    machine : KernelMachine, ScaledMachine or None
        +1 for the first of the two classes.
    own_vectors : bool
        Whether its support vectors are the model's own.
    rank : int or None
        Dimensions of their span.
    message : str
        Why there is no machine, or what is to be kept in mind.
    """

    kernel_type: str = "unknown"
    machine: Any = field(default=None, repr=False)
    own_vectors: bool = False
    rank: int | None = None
    message: str = field(default="", repr=False)


def machine_in_regions(crossings: Crossings, one: Any, other: Any, radial: bool
                       ) -> PairMachine:
    """The machine between two classes, from the largest regions where only these two occur.

    Parameters
    ----------
    crossings : Crossings
    one, other : labels
    radial : bool
        Whether the kernel is sought among the radial ones, in balls; else in boxes.

    Returns
    -------
    PairMachine
    """
    regions = crossings.regions(one, other, box=not radial)
    found = PairMachine(message="the two classes were never met side by side")
    for region in islice(regions, SETTINGS.regions):
        found = (_in_balls if radial else _in_boxes)(crossings, one, other, region)
        if found.machine is None:
            continue

        # where votes are equal, the boundary between two classes is that of another pair
        X = crossings.unexplained(one, other, SETTINGS.checked)
        share = (distances(found.machine, X, crossings.units) < SETTINGS.on_boundary).mean()
        if share > SETTINGS.least_share:
            return found
        found = PairMachine(message="the machine of a region where only the two classes occur has "
                                    f"{100 * share:.0f}% of the points between them on its "
                                    "boundary: it may be another pair's")
    return found


def _in_boxes(crossings, one, other, region):
    """Searches in boxes, each half as wide as the one before.

    First with the few queries that a plane takes: two planes that meet in a box would cost many. If
    other pairs are known, with as many as they took: their kernel is the same.
    """
    d = crossings.oracle.dimension
    budgets = (SETTINGS.plane + SETTINGS.plane_per_dimension * d, _full_budget(d))
    if crossings.known:
        flat = all(_is_linear(machine) for machine in crossings.known)
        budgets = budgets[:1] if flat else budgets[1:]
    for budget in budgets:
        for k in range(SETTINGS.halvings):
            reach = region.radius / 2**k
            U = reach * crossings.rng.uniform(-1, 1, (SETTINGS.features, d))
            found, _ = _search(crossings, one, other, region.centre, U, reach, True, budget)
            if found.machine is not None:
                return found
    return found


def _is_linear(machine):
    """Is the machine linear, perhaps behind a scaler?"""
    return isinstance(getattr(machine, "machine", machine).kernel, Linear)


def _full_budget(d):
    """How many queries a search may take."""
    return SETTINGS.attempt + SETTINGS.attempt_per_square * d**2


def _in_balls(crossings, one, other, region):
    """Searches for a radial kernel in balls about points off the boundary.

    With the origin there, S_Y leads through it (prop-misbehave-turning), and the label may flip
    across S_Y. Where a third label is met or no S_Y seen, the next ball is smaller; where S_Y is
    seen but no machine found, its centre is another. A machine that misses boundary points may have
    met those of another pair, where votes are equal: a smaller ball may hold none of them.
    """
    (centre, radius), rng, d = region, crossings.rng, crossings.oracle.dimension
    normal, size = _normal(crossings, centre, radius), radius * np.sqrt(d) / SETTINGS.reach
    shifts, rough = SETTINGS.shifts, None
    for _ in range(SETTINGS.balls):
        aside = shifts[0] * size * normal
        U = rng.standard_normal((SETTINGS.features, d))
        U *= size / np.linalg.norm(U, axis=1, keepdims=True)
        found, seen = _search(crossings, one, other, centre + crossings.units * aside, U - aside,
                              SETTINGS.reach * size, False, _full_budget(d))
        if found.machine is not None and found.message != MISSED:
            return found
        rough = rough or (found if found.machine is not None else None)

        # another centre, or a smaller ball
        shifts = shifts[1:] if seen and not rough else shifts
        if not seen or rough or not shifts:
            shifts, size = shifts or SETTINGS.shifts, size / np.sqrt(2)
    return rough or found


def _search(crossings, one, other, origin, features, reach, box, budget):
    """The machine of u = (x - origin) / units, and whether a subspace S_Y was seen."""
    # +1 and -1 in coordinates about the region
    units = crossings.units
    oracle = crossings.oracle.pair(one, other, origin, units, reach, box, budget)
    try:
        if abs(int(oracle(features).sum())) == len(features):
            return PairMachine(message="a region was too small to hold both labels"), False

        # the search of `deconstruct`, without a diagnosis: there are other regions
        view = SearchView(oracle, noise=0)
        survey = Survey(view, features, Ledger(oracle, progress=False), crossings.rng)
        survey.run()
        evidence = GatheredEvidence(view, survey, survey.ledger, mixed=True)
        verdict = decide(evidence, IN_BOXES if box else IN_BALLS)
    except (SeveralClasses, BudgetExhausted) as error:
        return PairMachine(message=str(error)), False

    # back in the coordinates of the model
    found = verdict.candidate
    if found is None:
        return PairMachine(message=verdict.message), vars(evidence).get("subspace") is not None
    return PairMachine(verdict.kernel_type, _in_coordinates(found.machine, origin, units),
                       found.own_vectors, found.rank, verdict.message), True


def _normal(crossings, centre, radius):
    """About the unit normal at a boundary point: the mean of random steps, with their labels."""
    d = len(centre)
    steps = crossings.rng.standard_normal((SETTINGS.normal_points * d, d))
    labels = crossings.oracle(centre + SETTINGS.normal_step * radius * crossings.units * steps)
    mean = steps[labels == labels[0]].mean(0)
    return mean / np.linalg.norm(mean)


def _in_coordinates(machine, origin, units):
    """A machine of u = (x - origin) / units as one of x."""
    if isinstance(machine, ScaledMachine):
        return ScaledMachine(machine.machine, origin + units * machine.origin,
                             units * machine.units)
    try:
        return machine.in_given_units(origin, units)
    except ValueError:
        return ScaledMachine(machine, origin, units)
