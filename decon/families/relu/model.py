"""The part of a network that is known: its units so far, and sections of its boundary."""

from typing import NamedTuple

import numpy as np

from ...types import Array
from .settings import SETTINGS


class Segment(NamedTuple):
    """A segment of a section of the boundary, inside one flat piece."""

    start: Array
    along: Array
    length: float
    on: Array

    def at(self, share: float) -> Array:
        """The point at a share of its length.

        Parameters
        ----------
        share : float in [0, 1]

        Returns
        -------
        point : array (m,)
        """
        return self.start + share * self.length * self.along


class KnownUnits:
    """f(z) = N0.(z, 1) + sum_k e_k max(0, J_k.(z, 1)), with all units off at the first piece.

    Parameters
    ----------
    first : array (m + 1,)
        The N0.

    Examples
    --------
    >>> known = KnownUnits(np.array([0., 1., 0.]))
    >>> known.add(np.array([2., 0., -1.]), on=np.array([1., 0.]))
    >>> known.plane(np.array([True])), known.pattern(np.array([.4, 0.]))
    (array([ 2.,  1., -1.]), array([False]))
    >>> [segment.length for segment in known.section(np.zeros(2), np.eye(2), -1, 10.)]
    [0.5, 10.0]
    """

    def __init__(self, first: Array):
        self.first, self.signs = first, np.empty(0)
        self.units = np.empty((0, len(first)))

    def add(self, change: Array, on: Array) -> None:
        """Add a unit.

        Parameters
        ----------
        change : array (m + 1,)
            By which it changes the linear function where it is on.
        on : array (m,)
            A point where it is on.
        """
        sign = np.sign(change @ np.r_[on, 1])
        self.units = np.vstack([self.units, sign * change])
        self.signs = np.r_[self.signs, sign]

    def pattern(self, z: Array) -> Array:
        """Which units are on at a point?

        Parameters
        ----------
        z : array (m,)

        Returns
        -------
        on : bool array (h,)
        """
        return self.units @ np.r_[z, 1] > 0

    def plane(self, on: Array) -> Array:
        """The linear function where these units are on.

        Parameters
        ----------
        on : bool array (h,)

        Returns
        -------
        plane : array (m + 1,)
        """
        return self.first + (on * self.signs) @ self.units

    def heights(self, Z: Array) -> Array:
        """Distances of points from the planes of their patterns, as shares of their size.

        Parameters
        ----------
        Z : array (n, m)

        Returns
        -------
        heights : array (n,)
            With their signs, over 1 + |z|.
        """
        Z = np.c_[Z, np.ones(len(Z))]
        planes = self.first + ((Z @ self.units.T > 0) * self.signs) @ self.units
        size = np.linalg.norm(planes[:, :-1], axis=1) * (1 + np.linalg.norm(Z[:, :-1], axis=1))
        return (planes * Z).sum(1) / size

    def onto(self, z: Array) -> Array:
        """The point of the plane of its pattern that is nearest to a point.

        Parameters
        ----------
        z : array (m,)

        Returns
        -------
        nearest : array (m,)
        """
        plane = self.plane(self.pattern(z))
        return z - plane[:-1] * (plane @ np.r_[z, 1] / (plane[:-1] @ plane[:-1]))

    def next_kink(self, z: Array, along: Array, on: Array) -> tuple[float, int]:
        """How far it is to the next kink along a direction, and of which unit it is.

        Parameters
        ----------
        z, along : arrays (m,)
        on : bool array (h,)
            The pattern at z.

        Returns
        -------
        way : float
            Infinity if there is none.
        unit : int
        """
        if not len(on):
            return np.inf, -1
        value, rate = self.units @ np.r_[z, 1], self.units[:, :-1] @ along
        towards = np.where(on, -rate, rate) > 0
        way = np.where(towards, np.maximum(0, -value / np.where(towards, rate, 1)), np.inf)
        return float(way.min()), int(way.argmin())

    def polish(self, points: Array) -> None:
        """The least change that lets the boundary pass through points near it.

        Where patterns are known, every boundary point is one linear equation.

        Parameters
        ----------
        points : array (n, m)
        """
        # one equation per point whose pattern is known
        Z = np.c_[points, np.ones(len(points))]
        factors = np.c_[np.ones(len(Z)), (Z @ self.units.T > 0) * self.signs]
        theta = np.vstack([self.first, self.units])
        planes = factors @ theta
        size = np.linalg.norm(planes[:, :-1], axis=1) * (1 + np.linalg.norm(points, axis=1))
        near = np.abs((planes * Z).sum(1)) < SETTINGS.rough_tolerance * size
        factors, Z = factors[near] / size[near, None], Z[near]
        E = (factors[:, :, None] * Z[:, None]).reshape(len(Z), -1)

        # normal equations, with a penalty on changes that no point shows; the scale stays
        G = E.T @ E + SETTINGS.ridge * np.eye(E.shape[1])
        G[:len(Z[0]), :len(Z[0])] += np.outer(self.first, self.first)
        change = np.linalg.solve(G, E.T @ (E @ theta.ravel()))
        if np.abs(change).max() < SETTINGS.largest_change:
            theta -= change.reshape(theta.shape)
            self.first, self.units = theta[0], theta[1:]

    def section(self, start: Array, plane: Array, side: int, reach: float) -> list[Segment]:
        """The boundary's polyline in a plane, followed from kink to kink.

        Parameters
        ----------
        start : array (m,)
            A boundary point.
        plane : array (2, m)
            Orthonormal.
        side : +1 or -1
            In which direction.
        reach : float
            It ends so far from the start, or where it returns to its first piece.

        Returns
        -------
        segments : list of Segment
        """
        z, on, segments = start, self.pattern(start), list[Segment]()
        first = on.copy()
        while np.linalg.norm(z - start) < reach and len(segments) < SETTINGS.most_kinks:
            # along the piece: the turned gradient keeps its side across a kink
            slope = plane @ self.plane(on)[:-1]
            along = side * np.array([-slope[1], slope[0]]) @ plane / np.linalg.norm(slope)
            way, unit = self.next_kink(z, along, on)
            segments.append(Segment(z, along, min(way, reach), on.copy()))
            if way > reach:
                break
            z = z + way * along
            on[unit] = ~on[unit]
            if (on == first).all() and (start - z) @ along > 0:
                break
        return segments
