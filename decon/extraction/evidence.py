"""What has been measured of a model. Every property spends its queries at first use."""

from functools import cached_property
from typing import Any

import numpy as np

from ..boundary.bounds import distance_to_bounds, stay_inside
from ..boundary.bracketing import boundary_points
from ..boundary.curves import (
    curve_pairs,
    has_one_label_far_away,
    holds_triple,
    is_locally_flat,
)
from ..boundary.pairs import Pool
from ..families.polynomial import misfit
from ..families.predicted import points_of_polynomial
from ..families.protocol import SelfContradiction
from ..families.settings import SETTINGS as FAMILIES
from ..families.sharpening.settings import SETTINGS as SHARPENING
from ..oracles.views import AffineView, SearchView
from ..subspaces.finder import Subspace, SubspaceFinder
from ..subspaces.multipliers import multipliers_for
from ..subspaces.settings import SETTINGS as SUBSPACES
from ..subspaces.spans import span_of_normals
from ..subspaces.symmetry import CYLINDER, REVOLUTION
from ..types import Array, LabelOracle
from .frame import Frame, given_frame
from .ledger import Ledger
from .settings import SETTINGS
from .survey import Survey


class GatheredEvidence:
    """Measurements of one model at one precision, shared by all families that are tried on it.

    Parameters
    ----------
    oracle : LabelOracle
    survey : Survey
        Of the same oracle.
    ledger : Ledger
    frame : Frame, optional
        Which coordinates those of the oracle are; left out, the model's own.
    mixed : bool, default False
        Whether pieces of other boundaries may lie among that of the model, as between two of
        several classes. Then a rough S_Y is not relied upon, unless the machine is sharpened.
    largest_fit : int
        How many numbers, m (d + 1), a machine may have that is sharpened.

    Attributes
    ----------
    precision, rng
        Those of the survey.
    points, normals : arrays (s, d)
        Boundary points, and unit normals, measured last; at first those of the survey, and none.
    singular_values : array
        Those that S_Y was read from last.
    refuted : bool
        Has a family been refuted by its own best fit?
    disagreement : dict or None
        What the last candidate that failed the agreement test had reached.
    why_no_subspace : str
        Why normals do not show S_Y.
    asked_far : bool
        Has it been tested whether labels depend on features that are far out?
    cause : Cause or None
        Why there is no machine, once that is known; see `decon.extraction.causes`.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> model = KernelMachine.random(Polynomial(degree=3), dimension=6, n_support=2)
    >>> oracle = Oracle(model.predict, 6)
    >>> features = np.random.default_rng(0).standard_normal((20, 6))
    >>> survey = Survey(oracle, features, Ledger(oracle, progress=False))
    >>> survey.run()
    >>> evidence = GatheredEvidence(oracle, survey, survey.ledger)
    >>> evidence.degree, evidence.subspace
    (3, Subspace(rank 2 in dimension 6, CYLINDER, 2 normals))
    """

    def __init__(self, oracle: LabelOracle, survey: Survey, ledger: Ledger,
                 frame: Frame | None = None, mixed: bool = False,
                 largest_fit: int = SHARPENING.most_numbers):
        self.oracle, self.survey, self.ledger, self.mixed = oracle, survey, ledger, mixed
        self.largest_fit = largest_fit
        self.frame = frame or given_frame(oracle.dimension)
        self.precision, self.rng, self.bounded = survey.precision, survey.rng, survey.bounded
        self.points, self.normals, self.singular_values = survey.X, np.empty((0, 0)), np.empty(0)
        self.refuted, self.why_no_subspace = False, ""
        self.disagreement: dict[str, float] | None = None
        self._consistent = self.asked_far = False
        self._curves: list[Array] = []
        self.plane_curve: tuple[Array, float] | None = None
        self.cause: Any = None

    def __repr__(self) -> str:
        known = sorted(set(vars(self)) & {"crossings", "degree", "one_label_far_away", "subspace"})
        return f"GatheredEvidence({self.survey!r}, known: {', '.join(known) or 'nothing yet'})"

    @property
    def brackets(self) -> tuple[Array, Array, Array]:
        """Where the boundary was met so far: points and unit directions (n, d), and widths (n,)."""
        view = self.oracle if self.frame.given else getattr(self.oracle, "oracle", None)
        if not isinstance(view, SearchView):
            return np.empty((0, self.oracle.dimension)), np.empty((0, self.oracle.dimension)), \
                np.empty(0)
        X, V, widths = view.crossings
        V = V / self.frame.units
        length = np.linalg.norm(V, axis=1)
        return self.frame.coordinates(X), V / length[:, None], widths * length

    def seen(self, **arrays: Array) -> None:
        """Keep what was measured for the result, if there is any.

        Parameters
        ----------
        **arrays : arrays
            `points` (s, d), `normals` (s, d) or `singular_values` (n,), by name.
        """
        vars(self).update({name: array for name, array in arrays.items() if len(array)})

    def insist_on_consistency(self, again: bool = False) -> None:
        """Repeat old queries: does the model answer them as before?

        Parameters
        ----------
        again : bool
            Also if that has been done before.

        Raises
        ------
        SelfContradiction
            If an answer is a new one.
        """
        if self._consistent and not again:
            return
        pool = self.survey.pool
        repeated = np.resize(np.arange(len(pool.points)), SETTINGS.repeated_queries)
        with self.ledger.stage("kernel type"):
            labels = self.oracle(pool.points[repeated])
        if (labels != pool.labels[repeated]).any():
            raise SelfContradiction("the model contradicts itself: the same point gets both labels")
        self._consistent = True

    @cached_property
    def crossings(self) -> tuple[Array, Array]:
        """On a line (d = 1): boundary points (n, 1), and their directions from - to +."""
        survey = self.survey
        with self.ledger.stage("boundary"):
            survey.enlarge(survey.pool, survey.cloud(400), survey.scale)
            X, V = survey.bracket(*survey.pool.neighbours())
        self.seen(points=X)
        return X, V

    @cached_property
    def degree(self) -> int | None:
        """The degree, 2 or 3, of the boundary's curves in planes; None if they have none.

        None also where the model has one label only far away, as no cubic has.
        """
        degree = self._degree_in_planes
        return None if self.one_label_far_away else degree

    @cached_property
    def flat_in_planes(self) -> bool:
        """Do three points of the curves that showed the degree lie on a line? None of a conic do.

        Nor of any smooth curve, as a rule. Costs no queries but those of `degree`.
        """
        self._degree_in_planes  # noqa: B018
        return any(holds_triple(Z, SETTINGS.on_a_line * self.precision.width)
                   for Z in self._curves if len(Z))

    @cached_property
    def one_label_far_away(self) -> bool:
        """Does the model give one and the same label in all directions, far away?

        False without queries within bounds, and where the boundary is flat or a quadratic.
        """
        if self.bounded or self.survey.flat or self._degree_in_planes == 2:
            return False
        with self.ledger.stage("kernel type"):
            return has_one_label_far_away(self.oracle, SETTINGS.far * self.survey.scale,
                                          random_state=self.rng)

    @cached_property
    def _degree_in_planes(self):
        """The lowest degree, 2 or 3, that fits curves in a few planes (section 4.1); or None."""
        self.insist_on_consistency()
        survey, width, degrees = self.survey, self.precision.width, {2}
        lines = list(zip(survey.X, survey.V, strict=True))
        for k, (x, v) in enumerate(lines[:SETTINGS.degree_planes]):
            # the first of planes is known where a quadratic slice has begun with it
            if k == 0 and self.plane_curve is not None:
                Z, radius = self.plane_curve
                self._curves.append(Z)
                fits = [D for D in (2, 3) if misfit(Z, D, width * radius) < 0.5]
                if not fits:
                    return None
                degrees.add(fits[0])
                continue

            # points of the curve in a plane that holds the bracket, far out where there are any
            plane = np.linalg.qr(np.c_[v, self.rng.standard_normal(len(x))])[0]
            for radius in (3 * survey.curvature_scale, survey.curvature_scale, survey.scale):
                with self.ledger.stage("kernel type"):
                    Z = self._curve(x, plane, radius)
                if len(Z):
                    break

            self._curves.append(Z)

            # the lowest degree (prop-kernel-type-curve) that fits (eq-kernel-type-misfit)
            fits = [D for D in (2, 3) if len(Z) and misfit(Z, D, width * radius) < 0.5]
            if not fits:
                return None
            degrees.add(fits[0])

            # two cubics show the degree; conics may be all that a cubic shows in some planes
            enough = len(self._curves) >= SETTINGS.cubic_planes and not self.bounded
            if enough and 3 in degrees:
                break
        return max(degrees)

    def _curve(self, x, plane, radius):
        """Points of the boundary's curve in a disc of a plane, in its coordinates."""
        P, N = curve_pairs(self.oracle, x, plane, SETTINGS.curve_points, radius, self.rng)
        degrees, none = () if self.precision.coarse else (2, 3), np.empty((0, len(x)))
        X, _ = points_of_polynomial(self.oracle, P, N, plane, self.precision.width * radius,
                                    degrees, none, none)
        return (X - x) @ plane

    @cached_property
    def subspace(self) -> Subspace | None:
        """S_Y, if normals show one; within bounds a second way is tried."""
        found = self.subspace_by_normals
        return self._subspace_inside() if found is None and self.bounded else found

    @cached_property
    def subspace_by_normals(self) -> Subspace | None:
        """The same, without the second attempt that is made within bounds."""
        found = vars(self).get("_tested_by_normals", self._rough_by_normals)
        if found is None or not found.rough:
            return found

        # refined; with more normals, where its rank is another one
        self._finder.rough = {}
        return self._finder.settled(found) or self._search()

    @cached_property
    def _tested_by_normals(self):
        """A rough S_Y that has also passed a fine test in a few random directions."""
        found, finder = self._rough_by_normals, self._finder
        if found is None or not found.rough:
            return found

        # from now on, no rough basis is enough without that test
        finder.untested = 0
        return found if finder.passes(found) else self._search()

    def finds_another_subspace(self) -> bool:
        """Whether `rough_subspace` fails a finer test, and another has been found in its place.

        Returns
        -------
        bool
        """
        before = self.rough_subspace
        if before is None or not before.rough:
            return False

        # of few directions, another one would be refined in all of them at once
        if self.oracle.dimension - before.rank < SUBSPACES.rough_directions:
            return False
        now = self._tested_by_normals
        return now is not None and now is not before

    @property
    def rough_subspace(self) -> Subspace | None:
        """S_Y, if normals show one: where the machine is refined later, only roughly at first."""
        if "subspace_by_normals" in vars(self):
            return self.subspace
        return vars(self).get("_tested_by_normals", self._rough_by_normals) or self.subspace

    @property
    def rough_subspace_refuted(self) -> bool:
        """Whether an S_Y that had been found roughly turned out to be another one, or none."""
        known, ways = vars(self), ("_rough_by_normals", "_tested_by_normals", "subspace_by_normals")
        found = [known[way] for way in ways if way in known]
        first, last = (found[0], found[-1]) if found else (None, None)
        return first is not None and (last is None or last.rank != first.rank)

    @property
    def known_subspace(self) -> Subspace | None:
        """S_Y as it is known so far, without further queries: what was found last."""
        ways = ("subspace", "subspace_by_normals", "_tested_by_normals", "_rough_by_normals")
        return next((vars(self)[way] for way in ways if way in vars(self)), None)

    @cached_property
    def _rough_by_normals(self):
        """S_Y, about which the boundary is invariant under translations, or under rotations.

        Rotations are considered only where the model has one label far away.
        """
        # boundary points from the survey, or where the boundary is curved only farther out
        d, survey, radial = self.oracle.dimension, self.survey, self.one_label_far_away
        R = survey.scale if radial else survey.curvature_scale  # a radial one is bounded
        pool, ahead = survey.pool, np.stack([survey.X, survey.V])
        if R > survey.scale:
            cloud = R / survey.scale * survey.cloud(SETTINGS.cloud_points, (1.0, 3.0))
            pool, ahead = self._pool(self.oracle, survey.ends, cloud, R), np.empty((2, 0, d))

        # as few normals as it takes
        self._finder = SubspaceFinder(self.oracle, pool, ahead, R, self.rng, self.ledger.stage,
                                      self.precision)
        if not (self.bounded or self.precision.coarse):
            # as a machine is refined later, by sharpening; a larger cubic vector by vector, and a
            # larger Gaussian direction by direction, which does not show a rank that is too small;
            # in many dimensions, nor do rotations about a rough basis
            most = self.largest_fit // (d + 1)
            if radial:
                self._finder.rough = {REVOLUTION: most if self.mixed else d}
                self._finder.untested = most if d < SETTINGS.many_dimensions else 0
            else:
                self._finder.rough = {CYLINDER: d if self.degree == 3 else most}
        self.ledger.expect(FAMILIES.bracket_queries * (2 * d + 10) * d / 2,
                           f"normals, if S_Y needs all {2 * d + 10}")
        return self._search()

    def _search(self):
        """S_Y, of as few normals as it takes."""
        finder, radial = self._finder, self.one_label_far_away
        try:
            found = finder.search([CYLINDER, REVOLUTION][:1 + radial])
        finally:
            self.seen(points=finder.X, normals=finder.N, singular_values=finder.values)

        # a boundary that is only nearly a cylinder is rejected
        if found is None:
            self.why_no_subspace = _why_not(len(finder.N), finder.dimension, radial)
        elif found.symmetry is REVOLUTION and finder.looks_straight(found.basis):
            self.why_no_subspace = "the boundary is almost straight across S_Y, but not quite"
            return None
        return found

    def subspace_towards(self, direction: Array) -> Subspace | None:
        """`rough_subspace`, refined within the span of its basis and a direction.

        Parameters
        ----------
        direction : array (d,)
            A unit vector orthogonal to it.

        Returns
        -------
        subspace : Subspace or None
            None if the boundary is not symmetric about it: its rank is another one.
        """
        rough = self.rough_subspace
        assert rough is not None
        return self._finder.settled(rough, direction[:, None])

    def sharper_subspace(self) -> Subspace:
        """S_Y, which normals have shown, as accurately as brackets can show it.

        Returns
        -------
        subspace : Subspace
        """
        assert self.subspace_by_normals is not None
        return self._finder.sharper(self.subspace_by_normals)

    def sharpen_subspace(self) -> None:
        """From now on, `subspace` is `sharper_subspace`, where normals have shown one."""
        if self.subspace_by_normals is not None:
            vars(self)["subspace"] = self.sharper_subspace()

    def _pool(self, oracle, ends, cloud, R):
        """A pool of a positive and a negative point and of a cloud of size R."""
        pool = Pool(oracle, ends, np.array([1, -1], np.int8), self.rng)
        with self.ledger.stage("features"):
            self.survey.enlarge(pool, cloud, R)
        return pool

    def _subspace_inside(self):
        """S_Y of a radial kernel within bounds, or None.

        A surface of revolution about S_Y is one about the space through y_1, ..., y_m and any
        further point c too, so that rotations about c need not lead out of the bounds. The lines
        along the normals meet the affine hull of the support vectors, and the places where they do
        span S_Y.
        """
        # coordinates about a point far from the bounds, and a cloud as wide as there is room
        d, c = self.oracle.dimension, self.survey.ends[0]
        R = distance_to_bounds(self.oracle, c[None])[0] * np.sqrt(d) / 3
        view = AffineView(self.oracle, origin=c)
        steps = self.rng.standard_normal((SETTINGS.cloud_points, d)) * R / np.sqrt(d)
        pool = self._pool(view, self.survey.ends - c, stay_inside(view, np.zeros(d), steps), R)

        # the space about which the boundary is a surface of revolution (prop-misbehave-turning)
        finder = SubspaceFinder(view, pool, np.empty((2, 0, d)), R, self.rng, self.ledger.stage,
                                self.precision)
        found = finder.search([REVOLUTION])
        if found is None or finder.looks_straight(found.basis):
            return None

        # where the lines along the normals meet it, x - n / gamma (eq-misbehave-hull)
        gamma = multipliers_for(found.normals, found.points, found.basis)
        meet = (found.points - found.normals / gamma[:, None]) @ found.basis @ found.basis.T
        basis, values = span_of_normals(c + meet, found.rank)
        self.seen(points=found.points + c, normals=found.normals, singular_values=values)
        return Subspace(basis, REVOLUTION, found.points + c, found.normals, values)

    def is_flat_nearby(self) -> bool:
        """Is the boundary flat nearly everywhere, at the scale and at the curvature scale?

        Returns
        -------
        bool
        """
        return all(self._is_flat(R, *self.survey.pool.pairs(20))
                   for R in {self.survey.scale, self.survey.curvature_scale})

    def is_flat_far_away(self, basis: Array) -> bool | None:
        """Is the boundary flat far away inside S_Y, as a tanh machine's is?

        Parameters
        ----------
        basis : array (d, rank)
            Orthonormal basis of S_Y.

        Returns
        -------
        bool or None
            None where there is no boundary far away, but one label only.
        """
        R = SETTINGS.far * self.survey.curvature_scale
        Z = self.rng.standard_normal((40, basis.shape[1])) @ basis.T
        Z *= R / np.linalg.norm(Z, axis=1, keepdims=True)
        pool = Pool(self.oracle, Z, self.oracle(Z), self.rng)
        if abs(int(pool.labels.sum())) == len(Z):
            return None
        return self._is_flat(R, *pool.pairs(8))

    def _is_flat(self, R, P, N):
        """Is the boundary between the rows of P and of N flat nearly everywhere, at a scale R?"""
        X, V = boundary_points(self.oracle, P, N, self.precision.width * R)
        flat = is_locally_flat(self.oracle, X, V, self.precision.flatness_step * R,
                               self.precision.width * R, self.rng)
        return flat.mean() > SETTINGS.flat_share


def _why_not(n, d, radial):
    """Why n normals do not show S_Y, for the user."""
    if n < 2:
        return ("no normals could be measured: the boundary is not smooth at a millionth of the "
                "data's scale")
    rotations = ", nor one about which it is invariant under rotations" if radial else ""
    return (f"{n} normals show no subspace across which the boundary is straight{rotations}: "
            f"{d - radial} or more support vectors, some too weakly determined, or no machine of "
            "ours")
