"""What has been measured of a model. Every property spends its queries at first use."""

from functools import cached_property

import numpy as np

from ..boundary.bounds import distance_to_bounds, stay_inside
from ..boundary.bracketing import boundary_points
from ..boundary.curves import curve_points, has_one_label_far_away, is_locally_flat
from ..boundary.pairs import Pool
from ..families.polynomial import misfit
from ..families.protocol import SelfContradiction
from ..oracles.protocol import LabelOracle
from ..oracles.views import AffineView
from ..subspaces.finder import Subspace, SubspaceFinder
from ..subspaces.multipliers import multipliers_for
from ..subspaces.spans import span_of_normals
from ..subspaces.symmetry import CYLINDER, REVOLUTION
from ..types import Array
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

    Attributes
    ----------
    precision, rng
        Those of the survey.
    points, normals : arrays (s, d)
        Boundary points, and unit normals, measured last.
    singular_values : array
        Those that S_Y was read from last.
    refuted : bool
        Has a family been refuted by its own best fit?
    disagreement : dict or None
        What the last candidate that failed the agreement test had reached.
    why_no_subspace : str
        Why normals do not show S_Y.

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
    (3, Subspace(rank 2 in dimension 6, CYLINDER, 3 normals))
    """

    def __init__(self, oracle: LabelOracle, survey: Survey, ledger: Ledger):
        self.oracle, self.survey, self.ledger = oracle, survey, ledger
        self.precision, self.rng, self.bounded = survey.precision, survey.rng, survey.bounded
        self.points, self.normals = np.empty((0, 0)), np.empty((0, 0))
        self.singular_values = np.empty(0)
        self.refuted, self.why_no_subspace = False, ""
        self.disagreement: dict[str, float] | None = None
        self._consistent = False

    def __repr__(self) -> str:
        known = sorted(set(vars(self)) & {"crossings", "degree", "one_label_far_away", "subspace"})
        return f"GatheredEvidence({self.survey!r}, known: {', '.join(known) or 'nothing yet'})"

    def seen(self, **arrays: Array) -> None:
        """Keep `points`, `normals` or `singular_values` for the result, if there are any."""
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
            survey.pool.add_cloud(survey.cloud(400), SETTINGS.fewest_of_a_label,
                                  SETTINGS.coarse_width * survey.scale)
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
        """The degree, 2 or 3, that shows in every one of a few planes; or None."""
        self.insist_on_consistency()
        with self.ledger.stage("kernel type"):
            return self._look_at_planes()

    def _look_at_planes(self):
        """The lowest degree that fits the curves in all planes; or None."""
        R, scale, width, degrees = self.survey.reach, self.survey.scale, self.precision.width, {2}
        lines = list(zip(self.survey.X, self.survey.V, strict=True))
        for x, v in lines[:SETTINGS.degree_planes]:
            # points of the curve in a plane that holds the bracket, far out where there are any
            plane = np.linalg.qr(np.c_[v, self.rng.standard_normal(len(x))])[0]
            for radius in (3 * R, R, scale):
                Z = curve_points(self.oracle, x, plane, SETTINGS.curve_points, radius,
                                 width * radius, self.rng)
                if len(Z):
                    break

            # the lowest degree that fits
            fits = [D for D in (2, 3) if len(Z) and misfit(Z, D, width * radius) < 0.5]
            if not fits:
                return None
            degrees.add(fits[0])
        return max(degrees)

    @cached_property
    def subspace(self) -> Subspace | None:
        """S_Y, if normals show one; within bounds a second way is tried."""
        found = self.subspace_by_normals
        return self._subspace_inside() if found is None and self.bounded else found

    @cached_property
    def subspace_by_normals(self) -> Subspace | None:
        """S_Y, across which the boundary is straight, or about which it can be turned.

        That it can be turned is considered only where the model has one label far away.
        """
        d, survey, radial = self.oracle.dimension, self.survey, self.one_label_far_away
        R = survey.scale if radial else survey.reach  # such a boundary ends somewhere
        pool, ahead = survey.pool, [survey.X, survey.V]
        if R > survey.scale:
            pool = Pool(self.oracle, survey.ends, np.array([1, -1], np.int8), self.rng)
            ahead = [np.empty((0, d))] * 2
            cloud = R / survey.scale * survey.cloud(SETTINGS.cloud_points, (1.0, 3.0))
            with self.ledger.stage("features"):
                pool.add_cloud(cloud, SETTINGS.fewest_of_a_label, SETTINGS.coarse_width * R)

        # as few normals as it takes
        self.finder = SubspaceFinder(self.oracle, pool, ahead, R, self.rng, self.ledger.stage,
                                     self.precision)
        symmetries = [CYLINDER, REVOLUTION][:1 + radial]
        share = SETTINGS.revolution_share if radial else SETTINGS.cylinder_share
        try:
            found = self.finder.search(symmetries, share)
        finally:
            self.seen(points=self.finder.X, normals=self.finder.N,
                      singular_values=self.finder.values)

        # nearly a cylinder is neither
        n = len(self.finder.N)
        if found is not None and found.symmetry is REVOLUTION \
                and self.finder.looks_straight(found.basis):
            self.why_no_subspace = "the boundary is almost straight across S_Y, but not quite"
            return None
        if found is None and n < 2:
            self.why_no_subspace = ("no normals could be measured: the boundary is not smooth at a "
                                    "scale of a millionth of the data's")
        elif found is None:
            self.why_no_subspace = (
                f"{n} normals show no subspace across which the boundary is straight"
                + radial * ", nor one about which it can be turned"
                + f": {d - radial} or more support vectors, some too faint to be seen, or no "
                "machine of ours")
        return found

    def _subspace_inside(self):
        """S_Y of a radial kernel within bounds, or None.

        A surface of revolution about S_Y is one about the space through y_1, ..., y_m and any
        further point c too, so that points near c need not be turned out of the bounds. The lines
        along the normals meet the affine hull of the support vectors, and the places where they do
        span S_Y.
        """
        # turn about a point far from the bounds, as far as there is room
        d, c = self.oracle.dimension, self.survey.ends[0]
        R = distance_to_bounds(self.oracle, c[None])[0] * np.sqrt(d) / 3
        view = AffineView(self.oracle, origin=c)
        pool = Pool(view, self.survey.ends - c, np.array([1, -1], np.int8), self.rng)
        steps = self.rng.standard_normal((SETTINGS.cloud_points, d)) * R / np.sqrt(d)
        with self.ledger.stage("features"):
            pool.add_cloud(stay_inside(view, np.zeros(d), steps), SETTINGS.fewest_of_a_label,
                           SETTINGS.coarse_width * R)
        finder = SubspaceFinder(view, pool, np.empty((2, 0, d)), R, self.rng, self.ledger.stage,
                                self.precision)
        found = finder.search([REVOLUTION], SETTINGS.revolution_share)
        if found is None or finder.looks_straight(found.basis):
            return None

        # where the lines x - n / gamma meet the space about which the boundary was turned
        gamma = multipliers_for(found.normals, found.points, found.basis)
        meet = (found.points - found.normals / gamma[:, None]) @ found.basis @ found.basis.T
        basis, values = span_of_normals(c + meet, found.rank)
        self.seen(points=found.points + c, normals=found.normals, singular_values=values)
        return Subspace(basis, REVOLUTION, found.points + c, found.normals, values)

    def is_flat_nearby(self) -> bool:
        """Is the boundary flat nearly everywhere at the size of the data, and at its reach?"""
        return all(self._is_flat(R, *self.survey.pool.pairs(20))
                   for R in {self.survey.scale, self.survey.reach})

    def is_flat_far_away(self, basis: Array) -> bool | None:
        """Is the boundary flat far away inside S_Y, as a tanh's is? None: it ends before.

        Parameters
        ----------
        basis : array (d, rank)
            Orthonormal basis of S_Y.
        """
        R = SETTINGS.far * self.survey.reach
        Z = self.rng.standard_normal((40, basis.shape[1])) @ basis.T
        Z *= R / np.linalg.norm(Z, axis=1, keepdims=True)
        pool = Pool(self.oracle, Z, self.oracle(Z), self.rng)
        if abs(int(pool.labels.sum())) == len(Z):
            return None
        return self._is_flat(R, *pool.pairs(8))

    def _is_flat(self, R, P, N):
        """Is the boundary between the rows of P and of N flat nearly everywhere, at a scale R?"""
        X, V = boundary_points(self.oracle, P, N, self.precision.width * R)
        straight = is_locally_flat(self.oracle, X, V, self.precision.flatness_step * R,
                                   self.precision.width * R, self.rng)
        return straight.mean() > SETTINGS.flat_share
