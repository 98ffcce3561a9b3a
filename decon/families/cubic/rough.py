"""A cubic machine roughly: by boundary points and normals, as linear equations."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations

import numpy as np

from ...boundary.bracketing import bisect
from ...boundary.normals import orthonormal_complement
from ...machine import KernelMachine
from ...subspaces.finder import Subspace
from ..protocol import Evidence, Refuted
from .completion import Equations, completed, lengthened
from .decomposition import sum_of_cubes
from .forms import machine_of_forms
from .planes import frame_of
from .settings import SETTINGS


def rough_cubics(evidence: Evidence, subspace: Subspace) -> Iterator[KernelMachine]:
    """Machines near the model, if that is a sum of cubes of independent vectors that span S_Y.

    The coefficients of the cubic solve linear equations: it vanishes at points of the boundary, and
    its gradient at some of them has the direction of a normal. All points are used that have been
    met so far, and more and more others, coarsely bracketed: about two equations for each number
    of a sum of cubes are tried first, and in the end more than there are coefficients.

    Parameters
    ----------
    evidence : Evidence
    subspace : Subspace
        S_Y, roughly.

    Yields
    ------
    machine : KernelMachine
        One after the other, for as long as they are asked for: the last ones are the most reliable,
        and cost the most.
    """
    m, rough = subspace.rank, _Rough(evidence, subspace)

    # few equations, where these show a sum of cubes
    found, solved, enough = None, 0, SETTINGS.completed * SETTINGS.few_width
    for share in SETTINGS.equations_per_number:
        equations = rough.equations()
        n = int(share * (m * (m + 1) + 1))
        if n >= len(rough.index):
            break
        equations = rough.more(equations, max(0, n - len(equations)), SETTINGS.few_width)

        # the same ones as before show no more
        if len(equations) == solved:
            continue
        solved = len(equations)
        found = completed(equations, m, enough, found, evidence.rng)
        if found.error < enough:
            yield from rough.machines(found.V, found.b)

    # more of them than coefficients, if these are not too many: a sum of m cubes and, along the
    # last axis, a threshold; this may be so small as not to show
    if len(rough.index) > SETTINGS.most_rough_coefficients:
        return
    for spare, width in SETTINGS.spare_equations:
        equations = rough.equations()
        new = rough.missing(equations) + int(spare * len(rough.index))
        V = sum_of_cubes(rough.cubic(rough.more(equations, new, width)), tolerance=np.inf)
        lengths = np.linalg.norm(V, axis=1)
        along = np.abs(V[:, -1]) / np.maximum(lengths, 1e-300)
        last = along.argmax() if along.max() > SETTINGS.along_last else lengths.argmin()
        forms = np.delete(V, last, axis=0) if len(V) > m else V
        yield from rough.machines(forms, -(V[last, -1] ** 3) if len(V) > m else 0.0)


class _Rough:
    """Equations of a cubic on S_Y, in coordinates in which it looks alike from all sides."""

    def __init__(self, evidence, subspace):
        self.evidence, self.subspace, self.R = evidence, subspace, evidence.survey.curvature_scale
        self.frame = frame_of(subspace.basis, subspace.normals, self.R)
        self.inverse = np.linalg.pinv(self.frame)

        # coefficients, and the root of how often each occurs
        numbers = range(subspace.rank + 1)
        self.index = np.array(list(combinations_with_replacement(numbers, 3)))
        self.times = np.sqrt([len(set(permutations(i))) for i in self.index])

    def equations(self):
        """The cubic vanishes at all points met so far, and its gradient is known at some."""
        # tangents at which the derivative is 0, and normals along which it is 1 in the mean
        normals = self.subspace.normals @ self.frame
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        tangents = np.stack([orthonormal_complement(n[:, None]).T for n in normals])
        H, k = lengthened(self.subspace.points @ self.inverse.T), tangents.shape[1]
        T, along = (np.insert(3 * v, v.shape[-1], 0, axis=-1) for v in (tangents, normals))
        known = Equations(np.repeat(H, k, axis=0), T.reshape(-1, H.shape[1]), H, along)

        # points, each place once
        X, _, widths = self.evidence.brackets
        near = np.linalg.norm(X, axis=1) < SETTINGS.farthest_known * self.R
        Z = X[near & (widths < SETTINGS.coarsest_known * self.R)] @ self.inverse.T
        return known.with_points(
            Z[np.unique(np.round(Z / SETTINGS.one_place), axis=0, return_index=True)[1]])

    def missing(self, equations):
        """How many more equations would leave no coefficient open."""
        values = np.linalg.svd(self._rows(equations.H, equations.T), compute_uv=False)
        return len(self.index) - int((values > SETTINGS.clear_equation * values[0]).sum())

    def more(self, equations, n, width):
        """Those of n more points, roughly, between a cloud of the frame's size and known points."""
        oracle, pool = self.evidence.oracle, self.evidence.survey.pool
        cloud = self.evidence.rng.standard_normal((n, self.frame.shape[1])) @ self.frame.T
        positive = (oracle(cloud) > 0)[:, None]
        basis = self.subspace.basis
        P, N = (ends @ basis @ basis.T for ends in pool.pairs(n))
        P, N = np.where(positive, cloud, P), np.where(positive, N, cloud)
        P, N = bisect(oracle, P, N, width * self.R)
        return equations.with_points((P + N) / 2 @ self.inverse.T)

    def cubic(self, equations):
        """The tensor of the cubic, by least squares."""
        # the derivatives along the normals are 1 in the mean
        weight, p = SETTINGS.ridge**-0.5, len(self.index)
        mean = self._rows(equations.along_H, equations.along_T).mean(0)
        rows = np.concatenate([self._rows(equations.H, equations.T), SETTINGS.ridge * np.eye(p),
                               weight * mean[None]])
        solution = np.linalg.lstsq(rows, np.r_[np.zeros(len(rows) - 1), weight], rcond=None)[0]
        T = np.empty((self.index.max() + 1,) * 3)
        for axes in permutations(self.index.T):
            T[axes] = solution / self.times
        return T

    def _rows(self, H, T):
        """A row of coefficients for every equation T(h, h, t) = 0."""
        i, j, k = self.index.T
        return (H[:, i] * H[:, j] * T[:, k] + H[:, i] * T[:, j] * H[:, k]
                + T[:, i] * H[:, j] * H[:, k]) * (self.times / 3)

    def machines(self, V, b):
        """The machine sum_i (v_i.h)^3 > b; none if some but not all forms are homogeneous."""
        try:
            yield machine_of_forms(V[:, :-1] @ self.inverse, V[:, -1], float(b), self.R, faint=0.0)
        except Refuted:
            return
