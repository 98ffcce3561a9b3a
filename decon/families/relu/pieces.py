"""Flat pieces of a boundary: their planes, walks in them, and what lies behind a kink."""

from typing import NamedTuple

import numpy as np

from ...boundary.bounds import lies_between
from ...boundary.bracketing import bisect, bisect_along
from ...boundary.curves import is_locally_flat
from ...boundary.normals import orthonormal_complement, random_tangents, slope_normals
from ...types import Array, LabelOracle
from ..protocol import Refuted
from .settings import SETTINGS

BENT = ("kinks of the boundary are not those of one hidden layer: a network of more layers, one "
        "with a unit that hardly shows or that is 0 in a whole region, or no network")


class Piece(NamedTuple):
    """A point of a flat piece, and the unit normal of its plane, to the positive side."""

    point: Array
    normal: Array

    @property
    def plane(self) -> Array:
        """The vector N with N.(z, 1) = 0 on the plane: array (m + 1,)."""
        return np.r_[self.normal, -self.normal @ self.point]


class Pieces:
    """What labels show of the flat pieces of a boundary.

    Parameters
    ----------
    oracle : LabelOracle
        In units of the data.
    rng : numpy.random.Generator

    Examples
    --------
    >>> from decon import Oracle
    >>> wedge = Oracle(lambda X: X[:, 1] > abs(X[:, 0]), dimension=2)
    >>> pieces = Pieces(wedge, np.random.default_rng(0))
    >>> right = pieces.measure(np.array([1., 1.]), np.array([0., 1.]))
    >>> way = pieces.way(right, np.array([[-.6, -.6]]))
    >>> left = pieces.behind(right.point + way[0] * np.array([-.6, -.6]), np.array([-.6, -.6]),
    ...                      right.normal)
    >>> way.round(6), left.normal.round(6)
    (array([1.666667]), array([0.707107, 0.707107]))
    """

    def __init__(self, oracle: LabelOracle, rng: np.random.Generator):
        self.oracle, self.rng = oracle, rng

    def measure(self, point: Array, aside: Array, step: float = SETTINGS.step) -> Piece:
        """The plane of the piece around a boundary point, by slopes over a wide step.

        Parameters
        ----------
        point, aside : arrays (m,)
            A boundary point, and a unit vector to the positive side.
        step : float
            To begin with.

        Returns
        -------
        piece : Piece

        Raises
        ------
        Refuted
            If the boundary is not flat there.
        """
        chords = np.tile(point, (SETTINGS.held_out, 1)), np.tile(aside, (SETTINGS.held_out, 1))
        while step > SETTINGS.least_step:
            # is it flat along a few chords?
            if is_locally_flat(self.oracle, *chords, step, SETTINGS.rough * step, self.rng).all():
                # slopes over an orthonormal basis (alg-normals-slopes), roughly: does the piece
                # reach so far? Then it is measured along its own normal
                (normal,) = slope_normals(self.oracle, point[None], aside[None], step,
                                          SETTINGS.pilot * step, SETTINGS.grazing)
                if np.isnan(normal).any():
                    raise Refuted("a bracket grazes the boundary")
                piece = Piece(point, normal)
                if (self._is_flat(piece, step, 100 * SETTINGS.pilot * step)
                        and (found := self._sharper(piece, step))):
                    return found
            step *= SETTINGS.smaller
        raise Refuted("the boundary is not flat at some of its points")

    def sharpen(self, piece: Piece, step: float) -> Piece:
        """A piece whose plane is known nearly, measured again with fewer queries.

        Parameters
        ----------
        piece : Piece
        step : float
            Over which slopes are measured.

        Returns
        -------
        piece : Piece

        Raises
        ------
        Refuted
            If the boundary is not near the plane.
        """
        while step > SETTINGS.least_step:
            if found := self._sharper(piece, step):
                return found
            step *= SETTINGS.smaller
        raise Refuted(BENT)

    def _sharper(self, piece, step):
        """A piece whose plane is known nearly, measured over a step; None if it is not flat."""
        n = piece.normal
        U = np.vstack([np.zeros(len(n)), step * orthonormal_complement(n[:, None]).T])
        heights = bisect_along(self.oracle, piece.point + U, np.tile(n, (len(U), 1)), 0.0,
                               SETTINGS.near / 1000, SETTINGS.width, SETTINGS.near)
        normal = n - (heights[1:] - heights[0]) @ U[1:] / step**2
        found = Piece(piece.point + heights[0] * n, normal / np.linalg.norm(normal))
        near = np.linalg.norm(found.normal - n) < SETTINGS.tilt
        return found if near and self._is_flat(found, step, SETTINGS.miss) else None

    def _is_flat(self, piece, step, miss):
        """Does the boundary pass through a few other points of the plane?"""
        U = random_tangents(np.tile(piece.normal, (SETTINGS.held_out, 1)), step, self.rng)
        return lies_between(self.oracle, piece.point + U, miss * piece.normal[None]).all()

    def way(self, piece: Piece, directions: Array) -> Array:
        """How far does the boundary stay in the plane of a piece?

        Parameters
        ----------
        piece : Piece
        directions : array (n, m)
            In its plane.

        Returns
        -------
        way : array (n,)
            Infinity where it stays in the plane to the end of the walk.
        """
        def on(j, t):
            steps = (SETTINGS.leave * (1 + t))[:, None] * piece.normal
            return lies_between(self.oracle, piece.point + t[:, None] * directions[j], steps)

        # the first of some places where it has left the plane
        n = len(directions)
        t = np.r_[0, np.geomspace(SETTINGS.nearest, SETTINGS.farthest, SETTINGS.places)]
        places = np.arange(n * SETTINGS.places)
        stays = on(places // SETTINGS.places, np.tile(t[1:], n)).reshape(n, -1)
        first, left = stays.argmin(1), ~stays.all(1)
        j, low, high = np.flatnonzero(left), t[first[left]], t[first[left] + 1]

        # and where it does so
        for _ in range(SETTINGS.halvings):
            middle = (low + high) / 2
            stay = on(j, middle)
            low, high = np.where(stay, middle, low), np.where(stay, high, middle)
        way = np.full(n, np.inf)
        way[j] = low
        return way

    def ray(self, kink: Array, along: Array, normal: Array,
            radius: float) -> tuple[Array, Array] | None:
        """The boundary behind a kink, in the plane of a walk and of the normal in front of it.

        On a circle around the kink there are one positive and one negative arc. They meet on
        the way back, and where the boundary goes on.

        Parameters
        ----------
        kink, along, normal : arrays (m,)
            The end of a walk in a piece, its unit direction, and the normal of the piece.
        radius : float
            Of the circle.

        Returns
        -------
        point, aside : arrays (m,), or None
            A boundary point, and a unit vector to the positive side. None if the boundary is
            no ray behind the kink.
        """
        def at(angle):
            return (-np.cos(angle) * along + np.sin(angle) * normal,
                    -np.sin(angle) * along - np.cos(angle) * normal)

        (above,), (below,) = bisect(
            lambda A: self.oracle(kink + radius * at(A)[0]), [[0.01]], [[2 * np.pi - 0.01]],
            SETTINGS.width / radius)
        ray, aside = at((above + below) / 2)
        halves = kink + np.array([[0.5], [0.25]]) * radius * ray
        bend = SETTINGS.bends * radius + 40 * SETTINGS.leave * (1 + np.linalg.norm(kink))
        if lies_between(self.oracle, halves, bend * aside[None]).all():
            return kink + radius * ray, aside
        return None

    def behind(self, kink: Array, along: Array, normal: Array, radius: float = 0.1) -> Piece:
        """The piece behind a kink.

        Parameters
        ----------
        kink, along, normal : arrays (m,)
            As for `ray`.
        radius : float
            Of the circle, to begin with.

        Returns
        -------
        piece : Piece

        Raises
        ------
        Refuted
            If none is found.
        """
        along = along / np.linalg.norm(along)
        radius *= 1 + float(np.linalg.norm(kink))
        while radius > SETTINGS.least_step:
            found = self.ray(kink, along, normal, radius)
            if found is not None:
                try:
                    return self.measure(*found, step=radius / 4)
                except Refuted:
                    pass
            radius *= SETTINGS.smaller
        raise Refuted("no flat piece was found behind a kink")
