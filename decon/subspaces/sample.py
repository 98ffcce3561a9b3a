"""Boundary points and their normals, a growing number of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..boundary.bounds import distance_to_bounds, pairs_inside
from ..boundary.bracketing import boundary_points
from ..boundary.normals import grazes, slope_normals
from ..boundary.pairs import Pool
from ..oracles.precision import DOUBLE, Precision
from ..types import Array, ArrayLike, LabelOracle, RandomState
from .settings import SETTINGS


class Sample:
    """Boundary points with their normals, and some more points held back for tests.

    Parameters
    ----------
    oracle : LabelOracle
    pool : Pool
        Where PN-pairs are drawn from.
    ahead : array (2, k, d), or a pair of arrays (k, d)
        Boundary points that are there already, and the directions of their brackets.
    scale : float
        The unit of all lengths: the size of the data, or more where the boundary is nearly flat.
    random_state : int or numpy.random.Generator
    stage : callable, optional
        stage(name) is a context that books the queries made in it.
    precision : Precision

    Attributes
    ----------
    X, V, N : arrays (s, d)
        Boundary points, the directions of their brackets, their unit normals.
    ahead : array (2, k, d)
        Boundary points and directions whose normals have not been measured.
    held_back : int
        How many points `grow` leaves ahead.
    values : array
        The singular values of the normals.
    fitted : array (d, rank)
        The subspace that held the corrected normals of a radial kernel, when they were looked at
        last.
    tried : dict
        How many normals there were when a symmetry and a rank were tried last.
    """

    def __init__(self, oracle: LabelOracle, pool: Pool, ahead: ArrayLike, scale: float,
                 random_state: RandomState = 0,
                 stage: Callable[[str], AbstractContextManager] = nullcontext,
                 precision: Precision = DOUBLE):
        self.oracle, self.dimension, self.scale = oracle, oracle.dimension, scale
        self.rng, self.stage = np.random.default_rng(random_state), stage
        self.precision, self.width = precision, precision.width * scale
        ahead = np.asarray(ahead)
        self.ahead = ahead[:, self._have_room(ahead[0])]
        self.pairs = np.stack(pool.pairs(6 * self.dimension + 60))
        self.X, self.V, self.N = np.empty((3, 0, self.dimension))
        self.values: Array = np.empty(0)
        self.held_back = SETTINGS.revolution_held_back
        self.fitted: Array = np.empty((self.dimension, 0))
        self.tried: dict[Any, int] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.N)} normals in dimension {self.dimension})"

    def tried_lately(self, symmetry: Any, rank: int) -> bool:
        """Has a subspace of this rank been tried with hardly fewer normals?

        Parameters
        ----------
        symmetry : Symmetry
        rank : int

        Returns
        -------
        bool
            Always False where brackets are coarse: a few normals more may decide there.
        """
        if self.precision.coarse:
            return False
        return len(self.N) < self.tried.get((symmetry, rank), 0) * (1 + SETTINGS.more_normals)

    def grow(self, n: int) -> bool:
        """Bracket and measure n more boundary points with their normals.

        Parameters
        ----------
        n : int
            A few of them may be lost, where a bracket grazes the boundary.

        Returns
        -------
        bool
            False if there are no more points to be had.
        """
        # bracket as many points as are missing
        while (more := n + self.held_back - len(self.ahead[0])) > 0 and self.pairs.size:
            (P, N), self.pairs = self.pairs[:, :more], self.pairs[:, more:]
            with self.stage("boundary"):
                P, N = pairs_inside(self.oracle, P, N)
                fresh = np.stack(boundary_points(self.oracle, P, N, self.width))
                self.ahead = np.concatenate([self.ahead, fresh[:, self._useful(*fresh)]], axis=1)
        if more > 0:
            return False

        # normals (alg-normals-slopes) at the first of them; the last are to test a subspace
        (X, V), self.ahead = self.ahead[:, :n], self.ahead[:, n:]
        with self.stage("normals"):
            N = slope_normals(self.oracle, X, V, self.precision.slope_step * self.scale,
                              self.width, central=self.precision.coarse)
        fresh = np.stack([X, V, N])[:, np.isfinite(N).all(1)]
        self.X, self.V, self.N = np.concatenate([[self.X, self.V, self.N], fresh], axis=1)
        self.values = np.linalg.svd(self.N, compute_uv=False)
        return True

    def _useful(self, X, V):
        """Which boundary points are not too near the bounds, nor were met at a grazing angle?"""
        useful = self._have_room(X)
        if self.dimension >= SETTINGS.screened_dimension and not self.precision.coarse:
            delta = self.precision.slope_step * self.scale
            useful[useful] = ~grazes(self.oracle, X[useful], V[useful], delta,
                                     random_state=self.rng)
        return useful

    def _have_room(self, X):
        """Which points are not too near the bounds?"""
        return distance_to_bounds(self.oracle, X) > SETTINGS.clearance * self.scale
