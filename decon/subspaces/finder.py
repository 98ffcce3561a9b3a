"""S_Y from normals, as few as it takes: the subspace about which the boundary is symmetric."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from ..boundary.normals import orthonormal_complement
from ..types import Array
from .sample import Sample
from .settings import SETTINGS
from .symmetry import CYLINDER, Symmetry


@dataclass(frozen=True)
class Subspace:
    """The kernel subspace S_Y, as normals have shown it.

    Attributes
    ----------
    basis : array (d, rank)
        Orthonormal.
    symmetry : Symmetry
        CYLINDER for dot-product kernels (the paper's Type A), REVOLUTION for radial ones (Type B).
    points, normals : arrays (s, d)
        Boundary points and their unit normals.
    values : array
        The singular values that S_Y was read from.
    rough : bool
        Whether the basis is only roughly right, to be refined later.
    """

    basis: Array
    symmetry: Symmetry
    points: Array
    normals: Array
    values: Array
    rough: bool = False

    def __repr__(self) -> str:
        where = f"rank {self.rank} in dimension {len(self.basis)}"
        return f"Subspace({where}, {self.symmetry}, {len(self.normals)} normals)"

    @property
    def rank(self) -> int:
        """The dimension of S_Y."""
        return self.basis.shape[1]


class SubspaceFinder(Sample):
    """A sample of boundary points that grows until a subspace passes the test of a symmetry.

    Parameters and attributes are those of `Sample`, and three more. Once a subspace has been found,
    `values` are the singular values that it was read from.

    Attributes
    ----------
    rough : mapping
        Of a subspace about which the boundary has a symmetry, a rough basis is enough if it has no
        more dimensions than this says for the symmetry.
    untested : int
        A rough basis of more dimensions than this must also pass the fine test in a few random
        directions, refined in them: it costs little, and rejects subspaces of too small a rank.
        Where there are only few directions at all, it is refined in all of them.
    found_rough : bool
        Whether the basis that was found last is rough.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> from decon.boundary.pairs import Pool
    >>> model = KernelMachine.random(Polynomial(degree=3), dimension=9, n_support=3)
    >>> oracle, cloud = Oracle(model.predict, 9), np.random.default_rng(0).standard_normal((60, 9))
    >>> pool = Pool(oracle, cloud, oracle(cloud), np.random.default_rng(0))
    >>> finder = SubspaceFinder(oracle, pool, np.empty((2, 0, 9)), scale=3.0)
    >>> finder.search([CYLINDER])
    Subspace(rank 3 in dimension 9, CYLINDER, 3 normals)
    """

    rough: Mapping[Symmetry, int] = MappingProxyType({})
    untested = sys.maxsize
    found_rough = False

    def search(self, symmetries: Sequence[Symmetry]) -> Subspace | None:
        """Add normals until a subspace passes the test of one of the symmetries.

        Parameters
        ----------
        symmetries : sequence of Symmetry
            Tried in this order whenever there are new normals.

        Returns
        -------
        Subspace or None
            None if 2 d + 10 normals do not show one, they span all of R^d, or points run out.
        """
        share = min(symmetry.share for symmetry in symmetries)
        self.held_back = min(symmetry.held_back for symmetry in symmetries)
        while len(self.N) < 2 * self.dimension + 10:
            # do these normals span R^d, as those of a cylinder must not? (kernel-machines-normals)
            enough = list(symmetries) == [CYLINDER] and len(self.N) >= self.dimension + 3
            if enough and self.values[-1] > SETTINGS.weak_value:
                return None

            # more normals, and what they show
            if not self.grow(max(1, len(self.N) // share)):
                return None
            for symmetry in symmetries:
                basis = self.find(symmetry)
                if basis is not None:
                    return Subspace(basis, symmetry, self.X, self.N, self.values, self.found_rough)
        return None

    def find(self, symmetry: Symmetry) -> Array | None:
        """A basis of the smallest subspace with a symmetry.

        Parameters
        ----------
        symmetry : Symmetry

        Returns
        -------
        basis : array (d, rank) or None
            Orthonormal; None if the normals do not show one yet.
        """
        for basis, weak, patience in symmetry.candidates(self):
            self.tried[symmetry, basis.shape[1]] = len(self.N)
            rough = basis.shape[1] <= self.rough.get(symmetry, 0)
            strict = basis.shape[1] > self.untested

            # where that saves much, or the answer may well be no, first among few directions
            few, out = self._few_directions(basis), self.dimension - basis.shape[1]
            many = out >= (2 if weak else 8) * SETTINGS.probe_dimensions
            if many and self._settle(symmetry, basis, few, 1, rough and not strict) is None:
                continue

            # then among all of them
            tested = many and out >= SETTINGS.rough_directions
            rough = self.found_rough = rough and (tested or not strict)
            settled = self._settle(symmetry, basis, None, patience, rough)
            if settled is not None:
                vectors = symmetry.vectors(self, settled)
                self.values = np.linalg.svd(vectors, compute_uv=False)
                return self.smallest(symmetry, settled, vectors)
        return None

    def smallest(self, symmetry: Symmetry, basis: Array, vectors: Array) -> Array:
        """The smallest subspace of a given one that still passes the test; larger ones always do.

        The direction that the vectors show most weakly is left out, as long as the test is passed.
        It is tested in that direction alone, so that this takes few queries; and not at all where
        the vectors show it clearly.

        Parameters
        ----------
        symmetry : Symmetry
        basis : array (d, k), orthonormal
            A subspace that passes the test.
        vectors : array (n, d)
            They lie in S_Y up to their errors.

        Returns
        -------
        basis : array (d, rank)
        """
        noise = symmetry.noise * np.sqrt(self.precision.width)
        while basis.shape[1] > 1:
            left, values, _ = np.linalg.svd((vectors @ basis).T)
            if len(values) == basis.shape[1] and values[-1] > noise:
                return basis
            ordered = basis @ left
            smaller = self._settle(symmetry, ordered[:, :-1], ordered[:, -1:], patience=3)
            if smaller is None:
                return basis
            basis = smaller
        return basis

    def settled(self, found: Subspace, W: Array | None = None) -> Subspace | None:
        """A subspace that was found roughly, refined until the boundary falls on itself.

        Parameters
        ----------
        found : Subspace
        W : array (d, k), optional
            Orthonormal and orthogonal to its basis: it is refined in these directions only.

        Returns
        -------
        Subspace or None
            None if the boundary does not: its rank is another one.
        """
        basis = self._settle(found.symmetry, found.basis, W)
        rough = found.rough and W is not None
        return None if basis is None else replace(found, basis=basis, rough=rough)

    def passes(self, found: Subspace) -> bool:
        """Whether a few random directions do not refute the rank of a rough subspace.

        It is refined in these, on trial, until the boundary falls on itself: a small part of what
        that takes in all directions. The search goes on afterwards as without this test.

        Parameters
        ----------
        found : Subspace

        Returns
        -------
        bool
        """
        rng, self.rng = self.rng, self.rng.spawn(1)[0]
        settled = self.settled(found, self._few_directions(found.basis))
        self.rng = rng
        return settled is not None

    def sharper(self, found: Subspace) -> Subspace:
        """A subspace that was found, refined once more, by brackets of the final width.

        Parameters
        ----------
        found : Subspace

        Returns
        -------
        Subspace
            The same one, if the boundary does not fall on itself about the other.
        """
        goal = self.precision.symmetry_tolerance
        basis = found.symmetry.refine(self, found.basis, goal)
        better = found.symmetry.holds(self, basis, 1, goal)
        return replace(found, basis=basis) if better else found

    def looks_straight(self, basis: Array) -> bool:
        """Is the boundary nearly invariant under translations orthogonal to a subspace?

        Parameters
        ----------
        basis : array (d, k)
            Orthonormal.

        Returns
        -------
        bool
        """
        return CYLINDER.holds(self, basis, 1, SETTINGS.nearly_straight)

    def _few_directions(self, basis):
        """Random directions out of a subspace, orthonormal: (d, k), or all where there are few."""
        W = orthonormal_complement(basis)
        few = self.rng.standard_normal((W.shape[1], SETTINGS.probe_dimensions))
        return W @ np.linalg.qr(few)[0]

    def _settle(self, symmetry, basis, W=None, patience=0, rough=False):
        """The basis, refined until the boundary falls on itself, or nearly so; or None.

        With W (d, k), the search stays inside the span of the basis and W. It ends after more than
        `patience` refinements without progress, or one where it has come near.
        """
        goal = SETTINGS.rough_goal if rough else self.precision.symmetry_tolerance
        miss, idle = np.inf, 0
        tolerances = [goal, *(t for t in SETTINGS.tolerances if t > goal)]
        inside = None if W is None else np.c_[basis, W]
        while True:
            # the smallest tolerance at which the boundary still falls on itself, by halving
            if W is not None:
                W = inside @ orthonormal_complement(inside.T @ basis)
            before, miss = miss, self._miss(symmetry, basis, tolerances, W)
            if miss == goal:  # coarse normals leave room for one more step
                more = self.precision.coarse and W is None
                return symmetry.refine(self, basis, miss) if more else basis

            # one more step of Newton's method, a rough one where the miss is large
            idle += miss >= before
            if idle > max(patience, miss < SETTINGS.rough_miss):
                return None
            basis = symmetry.refine(self, basis, miss, W)

    def _miss(self, symmetry, basis, tolerances, W):
        """The smallest of these tolerances at which the boundary falls on itself; 1 if none is."""
        if symmetry.holds(self, basis, 1, tolerances[0], W):
            return tolerances[0]
        if self.precision.coarse:  # one by one, as rounding makes single answers wrong
            return next((t for t in tolerances[1:] if symmetry.holds(self, basis, 1, t, W)), 1)
        low, high = 0, len(tolerances)
        while high - low > 1:
            middle = (low + high) // 2
            if symmetry.holds(self, basis, 1, tolerances[middle], W):
                high = middle
            else:
                low = middle
        return 1 if high == len(tolerances) else tolerances[high]
