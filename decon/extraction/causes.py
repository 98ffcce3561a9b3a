"""Why no machine is found: what kind of model the labels are consistent with, and what to do."""

from typing import NamedTuple

import numpy as np

from ..boundary.bounds import lies_between
from ..boundary.bracketing import boundary_points
from ..boundary.curves import curve_points, has_one_label_far_away, is_locally_flat
from ..families.polynomial import misfit
from ..oracles.precision import DOUBLE
from ..subspaces.symmetry import REVOLUTION
from ..types import Array
from .evidence import GatheredEvidence
from .inputs import (
    clip_bounds,
    crossings_nearby,
    grid_step,
    ignores_far_values,
    ignores_length,
)
from .pieces import axes_of_steps, kink_between, share_on_common_planes, slopes_at_corners
from .result import Verdict
from .settings import SETTINGS

MANY_VECTORS = "gaussian, more support vectors than dimensions"

POLYNOMIAL = ("machines are recovered up to degree 3: use the subspace, if there is one, or the "
              "surrogate")

# All verdicts on models without a machine, and what a user can do about each.
VERDICTS = {
    "polynomial of degree 4": POLYNOMIAL,
    "polynomial of degree 5": POLYNOMIAL,
    "polynomial of degree 6": POLYNOMIAL,
    "piecewise linear": "ReLU networks are recovered only with one hidden layer, and only if "
                        "every unit bends the boundary; more queries will not help",
    "piecewise constant": "a tree or a sum of trees is no kernel machine; its thresholds are the "
                          "places where labels change along an axis",
    "nearest neighbours": "no kernel machine: every piece is the bisector of two training points; "
                          "if you have the rows, fit the same model on them",
    "flat pieces": "a ReLU network, nearest neighbours, or one class of a linear model of several: "
                   "labels do not tell which; ask the owner",
    "several classes": "pass all its labels to deconstruct_classes, or query one pair of classes: "
                       "use a model fitted on two classes, or inputs for which these two have the "
                       "highest scores",
    "clipped": "if you know its bounds, give them: Oracle(predict, d, bounds=(lower, upper))",
    "rounded to a grid": "query the model behind the rounding",
    "normalised inputs": "query the model behind the normalisation: labels on a sphere do not "
                         "show how it behaves off it",
    "contradicts itself": "give the oracle the rate of wrong answers as noise=, or repair the "
                          "model",
    "changes with time": "freeze the model: keep it from learning while it is queried",
    "radial, not Gaussian": "the kernel is another function of the distance; without a machine the "
                            "subspace is not tested: test it with labels",
    MANY_VECTORS:
        "give the rows it was trained on, or the model's own units",
    "unknown": "",
}


class Cause(NamedTuple):
    """What kind of model it is, as far as labels show.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`.
    message : str
        What was measured.
    bounds : pair of arrays (d,) or None
        Of a clipped model, in its own coordinates.
    step : float or None
        Of a grid that inputs are rounded to, in the model's own coordinates.
    """

    verdict: str = "unknown"
    message: str = ""
    bounds: tuple[Array, Array] | None = None
    step: float | None = None

    @property
    def advice(self) -> str:
        """What the user can do."""
        return VERDICTS[self.verdict]

    def as_verdict(self, agreement: dict[str, float], reasons: str = "") -> Verdict:
        """The verdict on a model without a machine.

        Parameters
        ----------
        agreement : dict
            Of the last machine that failed the test.
        reasons : str
            Why the families do not fit.

        Returns
        -------
        Verdict
        """
        if self.verdict == "unknown":
            message = "; ".join(filter(None, [reasons, self.message]))
            return Verdict(message=message, agreement=agreement)
        tried = f". Tried: {reasons}" if reasons else ""
        message = f"{self.verdict}: {self.message}. What to do: {self.advice}{tried}"
        return Verdict(message=message, agreement=agreement, cause=self.verdict)


def find_cause(evidence: GatheredEvidence, rough: bool = False) -> Cause:
    """Why is there no machine? The cheap and decisive measurements come first.

    About 300 to 16,000 queries, none farther than 1e7 spreads from the features.

    Parameters
    ----------
    evidence : GatheredEvidence
        Of a search in which no family has passed.
    rough : bool
        Whether the model contradicts itself, or rounds: then its boundary has no shape to measure.

    Returns
    -------
    Cause
        'unknown' where no measurement speaks for any other.
    """
    if evidence.oracle.dimension == 1:
        return Cause()
    with evidence.ledger.stage("diagnosis"):
        for measure in (_inconsistent, _normalised, _radial, _far_values, _steps):
            if cause := measure(evidence):
                return cause
        shapes = () if rough else (_flat, _kinked, _smooth)
        return next(filter(None, (measure(evidence) for measure in shapes)), Cause())


def early_cause(evidence: GatheredEvidence) -> Cause | None:
    """Trees and clipping, which show early: families would spend many queries on them.

    120 queries for other models, as a rule. Random numbers of its own: no later query changes.

    Parameters
    ----------
    evidence : GatheredEvidence

    Returns
    -------
    Cause or None
    """
    with evidence.ledger.stage("diagnosis"):
        cause = _far_values(evidence)

    # a search with wider brackets does not mind a fine grid
    fine = SETTINGS.coarsest * evidence.survey.scale * np.median(evidence.frame.units)
    return None if cause and cause.step and cause.step < fine else cause


def _far_values(evidence):
    """Trees, and clipping with its bounds; asked once."""
    oracle, survey, rng = evidence.oracle, evidence.survey, np.random.default_rng(0)
    if evidence.bounded or oracle.dimension == 1 or evidence.asked_far:
        return None
    evidence.asked_far = True
    near = survey.pool.points, survey.features.mean(0), survey.spread
    seen = ignores_far_values(oracle, *near, rng)
    if seen is None:
        return None
    if steps := _steps(evidence, rng):
        return steps
    if not seen:
        return None

    # clipped: the bounds, in the model's own coordinates; where it shows none, beyond the features
    if (found := clip_bounds(oracle, *near, rng)) is None:
        return None
    found = np.array(found)
    seen = ~np.isnan(found)
    reach = survey.features.min(0) - survey.spread, survey.features.max(0) + survey.spread
    units, margin = evidence.frame.units, 2e-6 * survey.spread
    lower, upper = evidence.frame.points(np.where(seen, found, reach))
    lower, upper = lower + margin * units, upper - margin * units
    message = "far out along an axis labels do not depend on that feature"
    if not seen.any() or (lower >= upper).any():
        return Cause("clipped", message)
    return Cause("clipped", f"{message}: below {_range(lower[seen[0]])} and above "
                 f"{_range(upper[seen[1]])}", bounds=(lower, upper))


def _range(values):
    """One number, or the range of several."""
    low, high = (f"{number:.3g}" for number in (min(values, default=0), max(values, default=0)))
    return low if low == high else f"{low} to {high}"


def _inconsistent(evidence):
    """Does it answer old questions in another way, and the same ones twice alike?"""
    pool = evidence.survey.pool
    j = np.resize(evidence.rng.permutation(len(pool.points)), SETTINGS.again)
    first, second = evidence.oracle(np.tile(pool.points[j], (2, 1))).reshape(2, -1)
    if n := int((first != second).sum()):
        return Cause("contradicts itself", f"{n} of {len(j)} points got both labels when they were "
                     "queried twice")
    if n := int((first != pool.labels[j]).sum()):
        return Cause("changes with time", f"{n} of {len(j)} old queries get another answer now, "
                     "twice the same")
    return None


def _radial(evidence):
    """A surface of revolution that the Gaussian family refused."""
    subspace = vars(evidence).get("subspace")
    if evidence.bounded or subspace is None or subspace.symmetry is not REVOLUTION:
        return None
    found = ("the boundary is invariant under rotations about a subspace of "
             f"{subspace.rank} dimensions")

    # rows that have no more dimensions may be any number of vectors
    X = evidence.survey.features
    off = X - X @ subspace.basis @ subspace.basis.T
    if np.linalg.norm(off) < SETTINGS.off_span * np.linalg.norm(X):
        return Cause(MANY_VECTORS, f"{found}, which holds the given features; more vectors than "
                     "that cannot be told from labels")
    return Cause("radial, not Gaussian", f"{found}, and no sum of Gaussians of one width was found "
                 "there")


def _brackets(evidence, share=1.0):
    """Boundary points, and short steps to the positive side, longer than the brackets."""
    survey = evidence.survey
    step = max(SETTINGS.tiny_step, 100 * evidence.precision.width) * survey.scale
    return survey.X, share * step * survey.V


def _normalised(evidence):
    """Do labels depend on the direction from 0 alone?"""
    X, steps = _brackets(evidence, 100)
    points = evidence.survey.pool.points[:20]
    origin = evidence.frame.coordinates(np.zeros((1, X.shape[1])))[0]
    if evidence.bounded or not ignores_length(evidence.oracle, origin, X, steps, points):
        return None
    return Cause("normalised inputs", f"along rays from 0 none of {len(points)} labels and few of "
                 f"{len(X)} boundary points change, from 0.01 to 1,000 times the length")


def _steps(evidence, rng=None):
    """Steps along axes: of trees, or of a grid."""
    rng = evidence.rng if rng is None else rng
    X, steps = _brackets(evidence)
    if evidence.precision.coarse:  # a grid may be finer than these brackets
        survey = evidence.survey
        X, V = boundary_points(evidence.oracle, *survey.pool.pairs(10), DOUBLE.width * survey.scale)
        steps = SETTINGS.tiny_step * survey.scale * V
    axes = axes_of_steps(evidence.oracle, X, steps, rng)
    tree = (axes >= 0).mean() >= SETTINGS.axis_share
    if not tree:  # the steps of a fine grid are short
        axes = axes_of_steps(evidence.oracle, X, steps, np.random.default_rng(0), reach=10)
        if (axes >= 0).mean() < SETTINGS.axis_share:
            return None

    # do all crossings of axes lie on one lattice, in the model's own coordinates?
    frame, rows = evidence.frame, axes >= 0
    X, steps, axes = X[rows], steps[rows], axes[rows]
    values = frame.points(X)[np.arange(len(X)), axes]
    tolerances = np.array([1e-9, 1e-8, 1e-7]) * np.abs(values).max()
    step = next(filter(None, (grid_step(values, tolerance) for tolerance in tolerances)), None)

    # a fine lattice shows in crossings that are few of its steps apart
    if step is None:
        scale = evidence.survey.scale
        gaps, which = crossings_nearby(evidence.oracle, X, axes, scale, np.random.default_rng(0)).T
        units = frame.units[which.astype(int)]
        step = grid_step(np.r_[-gaps * units, 0, gaps * units],
                         1e-10 * scale * frame.units.max())

    # one step of the lattice aside, along other axes, a tree's boundary mostly stays; a grid's not
    if step is not None:
        X, steps, axes = np.tile(X, (6, 1)), np.tile(steps, (6, 1)), np.tile(axes, 6)
        aside = step / frame.units * rng.choice([-1, 1], X.shape)
        aside *= rng.random(X.shape) < SETTINGS.lattice_axes / X.shape[1]
        aside[np.arange(len(X)), axes] = 0
        if lies_between(evidence.oracle, X + aside, steps).mean() < SETTINGS.stays:
            return Cause("rounded to a grid", f"along an axis labels change only at multiples of "
                         f"{step:.6g}, all shifted alike", step=step)
    if not tree:
        return None
    return Cause("piecewise constant", f"at {rows.sum()} of {len(rows)} boundary points the label "
                 "depends on one feature alone, in steps, as a tree's does or a sum of trees'")


def _flat(evidence):
    """Flat pieces: of a network, of neighbours, of several classes."""
    # is it flat at ten points, and at more?
    survey, oracle, rng = evidence.survey, evidence.oracle, evidence.rng
    R, width, step = survey.scale, evidence.precision.width, evidence.precision.flatness_step
    X, V, flat = survey.X, survey.V, np.ones(0, bool)
    for more in (SETTINGS.flat_points - len(X), 0):
        new = slice(len(flat), None)
        flat = np.r_[flat, is_locally_flat(oracle, X[new], V[new], step * R, width * R, rng)]
        if flat.mean() <= SETTINGS.flat_share:
            return None
        if more > 0:
            further = survey.bracket(*survey.pool.pairs(more))
            X, V = (np.concatenate(pair) for pair in zip((X, V), further, strict=True))

    # how many slopes meet at corners, and do few planes explain all?
    X, V, slopes = X[flat], V[flat], np.empty(0, int)
    common = share_on_common_planes(oracle, X, 1e-7 * R * V)
    three = four = 0
    if oracle.dimension > 2 and not evidence.bounded:
        for j in np.split(np.arange(SETTINGS.corners), SETTINGS.corners // 4):
            j = j[j < len(X)]
            slopes = np.r_[slopes, slopes_at_corners(oracle, X[j], V[j], R, width * R, rng)]
            three, four = (slopes == 3).sum(), (slopes == 4).sum()
            if three > 1 or four > 5 + 4 * three:
                break
        if three == four == 0 and _ends(evidence):  # flat pieces that end somewhere have corners
            return None
    made = (f"the boundary is made of flat pieces: at {flat.sum()} of {len(flat)} points; at "
            f"{three + four} corners {three} times three of them meet, {four} times four; "
            f"{100 * common:.0f}% of the pairs of points lie on one plane")

    # three meet where the largest of several scores, or the smallest distance, passes to another
    if three > 1 or three > four / 4:
        if common > SETTINGS.common_planes:
            return Cause("several classes", f"{made}; as with one class of a linear model of "
                         "several classes")
        return Cause("nearest neighbours", f"{made}; as between bisectors of rows")
    if four > 1 and common < SETTINGS.common_planes:
        return Cause("piecewise linear", f"{made}; as with a network of rectifiers")
    few = "few rectifiers" if common > SETTINGS.common_planes else "rectifiers, nearest neighbours"
    return Cause("flat pieces", f"{made}; a network of {few}, or one class of a linear model of "
                 "several classes")


def _kinked(evidence):
    """Curved pieces with kinks between them."""
    pool, rng = evidence.survey.pool, evidence.rng
    for section in range(SETTINGS.sections):
        # from a point of either label in turn, between two rays far apart
        positive = section % 2 == 0
        inside, outside = (pool.points[(pool.labels > 0) == label]
                           for label in (positive, not positive))
        apex = inside[rng.integers(len(inside))]
        some = outside[rng.permutation(len(outside))[:6]]
        rays = (some - apex) / np.linalg.norm(some - apex, axis=1, keepdims=True)
        ends = some[[0, np.argmin(rays @ rays[0])]]
        kink = kink_between(evidence.oracle, apex, ends, positive)
        if kink is None:
            continue

        # have short parts of the section, aside of it, kinks too?
        again = 0
        for aside in np.linspace(0.08, 0.4, 6):
            part = kink + (aside + np.array([[0], [0.05]])) * (1 if kink < 0.5 else -1)
            sides = (1 - part) * ends[0] + part * ends[1]
            again += kink_between(evidence.oracle, apex, sides, positive) is not None
        if again > 1:
            return Cause(message="the boundary has kinks everywhere, as with a kernel that has "
                         "kinks itself (of absolute differences, say)")
        return Cause("several classes", "curved pieces of the boundary meet at a kink, as with one "
                     "class of a model of several classes")
    return None


def _smooth(evidence):
    """No kinks: one label far away, as with a Gaussian machine, or else curves of a degree."""
    if evidence.bounded:
        return None
    return _gaussian(evidence) if _ends(evidence) else _degree(evidence)


def _ends(evidence):
    """Is there one label far away?"""
    far = SETTINGS.far * evidence.survey.scale
    return has_one_label_far_away(evidence.oracle, far, random_state=evidence.rng)


def _degree(evidence):
    """The degree, 4 to 6, of curves in two planes."""
    survey, width, degrees = evidence.survey, evidence.precision.width, []
    for x, v in zip(survey.X[:2], survey.V[:2], strict=True):
        # long arcs: short ones of any smooth curve are nearly of degree 6
        plane = np.linalg.qr(np.c_[v, evidence.rng.standard_normal(len(x))])[0]
        for radius in np.multiply(SETTINGS.plane_radii, survey.curvature_scale):
            Z = curve_points(evidence.oracle, x, plane, SETTINGS.plane_points, radius,
                             width * radius, evidence.rng)
            if len(Z):
                break
        fits = [D for D in range(2, 7) if len(Z) and misfit(Z, D, width * radius) < 0.5]
        if not fits or fits[0] < 4:
            return None
        degrees.append(fits[0])

    # a few planes far away, as of tanh units, have a degree too; a polynomial is a cone there
    flat = evidence.is_flat_far_away(np.eye(len(survey.X[0])))
    if flat is None or flat:
        return None
    return Cause(f"polynomial of degree {max(degrees)}", "curves of the boundary in planes are of "
                 f"degree {max(degrees)}, and of no lower one")


def _gaussian(evidence):
    """One label far away in all directions, no subspace, and nothing that speaks against it."""
    if vars(evidence).get("subspace"):
        return None
    d = evidence.oracle.dimension
    message = ("the boundary is smooth, there is one label far away, and no subspace of fewer than "
               f"{d} dimensions: consistent with a Gaussian machine of {d} or more support vectors")
    if d == 2:
        message += "; in the plane labels do not determine vectors, kernel and width"
    return Cause(MANY_VECTORS, message)
