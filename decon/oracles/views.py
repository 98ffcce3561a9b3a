"""The same oracle, in other coordinates or with another rate of wrong answers."""

import numpy as np

from ..types import Array, ArrayLike, LabelOracle
from .errors import SearchTooLong
from .oracle import Oracle
from .settings import SETTINGS


class AffineView:
    """An oracle in coordinates z of its own: it is queried at x = origin + scale * basis @ z.

    Queries count in the oracle behind it.

    Parameters
    ----------
    oracle : LabelOracle
    origin : array (d,) or 0.0
        The point x that z = 0 stands for.
    basis : array (d, k), optional
        Left out, z and x have the same axes.
    scale : float or array (k,), default 1
        The unit of length of z, or of each of its coordinates.

    Examples
    --------
    >>> oracle = Oracle(lambda X: X[:, 0] + X[:, 1] > 1, dimension=2)
    >>> diagonal = AffineView(oracle, origin=np.array([.5, .5]), basis=np.ones((2, 1)))
    >>> diagonal([[-1.], [1.]]), oracle.queries
    (array([-1,  1], dtype=int8), 2)
    """

    def __init__(self, oracle: LabelOracle, origin: Array | float = 0.0,
                 basis: Array | None = None, scale: float | Array = 1.0):
        self.oracle, self.origin, self.basis, self.scale = oracle, origin, basis, scale
        self.dimension = oracle.dimension if basis is None else basis.shape[1]
        self.bounds = None
        if oracle.bounds is not None and basis is None:
            lower, upper = oracle.bounds
            margin = SETTINGS.bounds_margin * (upper - lower)  # for the rounding of x
            self.bounds = (lower + margin - origin) / scale, (upper - margin - origin) / scale

    def __repr__(self) -> str:
        return f"AffineView(dimension={self.dimension}) of {self.oracle!r}"

    def points(self, Z: ArrayLike) -> Array:
        """The points x that the rows of Z stand for.

        Parameters
        ----------
        Z : array (n, k)

        Returns
        -------
        X : array (n, d)
        """
        X = self.scale * np.asarray(Z, float)
        return self.origin + (X if self.basis is None else X @ self.basis.T)

    def __call__(self, Z: ArrayLike) -> Array:
        """The labels of the rows of Z: int8 array (n,)."""
        return self.oracle(self.points(Z))

    def met(self, Z: Array, V: Array, widths: Array) -> None:
        """Tell the oracle behind where the boundary was met; see `SearchView.met`.

        Parameters
        ----------
        Z, V : arrays (n, k)
        widths : array (n,)
        """
        if hasattr(self.oracle, "met"):
            V = self.scale * V if self.basis is None else (self.scale * V) @ self.basis.T
            length = np.linalg.norm(V, axis=1)
            self.oracle.met(self.points(Z), V / length[:, None], widths * length)

    def inside(self, Z: ArrayLike) -> Array:
        """Which rows of Z stand for points within the bounds?

        Parameters
        ----------
        Z : array (n, k)

        Returns
        -------
        inside : bool array (n,)
        """
        return self.oracle.inside(self.points(Z))


class SearchView:
    """An oracle as one search sees it: with a noise rate, bounds and a limit of its own.

    Parameters
    ----------
    oracle : Oracle
    noise : float in [0, 0.5)
        0: every answer is taken as it is.
    bounds : pair of arrays (d,), optional
        That no query through this view may leave; left out, the oracle's.
    limit : int, optional
        The number of queries of the oracle from which on a call raises SearchTooLong.

    Examples
    --------
    >>> oracle = Oracle(lambda X: X[:, 0] > 1, dimension=1, positive=True)
    >>> SearchView(oracle, 0.01)([[2.]]), oracle.queries
    (array([1], dtype=int8), 3)
    """

    def __init__(self, oracle: Oracle, noise: float, bounds: tuple[Array, Array] | None = None,
                 limit: int | None = None):
        self.oracle, self.noise, self.dimension = oracle, noise, oracle.dimension
        self.limit = limit
        self.bounds = oracle.bounds if bounds is None else bounds
        self.brackets: list[tuple[Array, Array, Array]] = []
        self.kept = 0

    def __repr__(self) -> str:
        return f"SearchView(noise={self.noise:.3g}) of {self.oracle!r}"

    def __call__(self, X: ArrayLike) -> Array:
        """The labels of the rows of X, voted for this rate: int8 array (n,)."""
        if self.limit is not None and self.oracle.queries >= self.limit:
            raise SearchTooLong(f"{self.oracle.queries:,} queries are more than models of "
                                "our families cost as a rule: the search is given up. "
                                "Oracle(..., budget=None) lets it go on")
        return self.oracle.at_noise(X, self.noise)

    def met(self, X: Array, V: Array, widths: Array) -> None:
        """Keep where the boundary was met; the first of it, where it would be too much.

        Parameters
        ----------
        X, V : arrays (n, d)
            Middles of brackets, and the unit directions of their lines.
        widths : array (n,)
            Lengths of the brackets.
        """
        self.kept += X.size + V.size
        if self.kept <= SETTINGS.most_kept:
            self.brackets.append((X, V, widths))

    @property
    def crossings(self) -> tuple[Array, Array, Array]:
        """All that was kept: X, V and widths, as `met` takes them."""
        none = np.empty((0, self.dimension)), np.empty((0, self.dimension)), np.empty(0)
        X, V, widths = zip(none, *self.brackets, strict=True)
        return np.concatenate(X), np.concatenate(V), np.concatenate(widths)

    def inside(self, X: ArrayLike) -> Array:
        """Which rows of X lie within the bounds?

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        inside : bool array (n,)
        """
        X = np.asarray(X, float)
        if self.bounds is None:
            return np.ones(len(X), bool)
        lower, upper = self.bounds
        return np.all((lower <= X) & (X <= upper), axis=1)
