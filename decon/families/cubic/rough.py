"""A cubic machine roughly, from all coefficients of a cubic: by boundary points and normals."""

from itertools import combinations_with_replacement, permutations

import numpy as np

from ...boundary.bracketing import bisect
from ...machine import KernelMachine
from ...subspaces.finder import Subspace
from ..protocol import Evidence
from .decomposition import sum_of_cubes
from .forms import machine_of_forms
from .planes import frame_of
from .settings import SETTINGS


def rough_cubic(evidence: Evidence, subspace: Subspace, spare: float,
                width: float) -> KernelMachine:
    """A machine near the model, if that is a sum of cubes of independent vectors that span S_Y.

    The coefficients of the cubic solve linear equations: it vanishes at points of the boundary, and
    its gradient at some of them has the direction of a normal. All points are used that have been
    met so far, and as many more as it takes, coarsely bracketed.

    Parameters
    ----------
    evidence : Evidence
    subspace : Subspace
        S_Y, roughly.
    spare : float
        How many more equations there are to be than unknowns, per unknown.
    width : float
        Of the new brackets, in units of the curvature scale.

    Returns
    -------
    machine : KernelMachine

    Raises
    ------
    Refuted
        If some but not all forms of the cubes are homogeneous.
    """
    basis, R, m = subspace.basis, evidence.survey.curvature_scale, subspace.rank
    frame = frame_of(basis, subspace.normals, R)
    inverse = np.linalg.pinv(frame)

    # equations of the cubic that vanishes at known points, with gradients along the normals
    index = np.array(list(combinations_with_replacement(range(m + 1), 3)))
    times = np.sqrt([len(set(permutations(i))) for i in index])
    normals = subspace.normals @ frame
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    across, along = _gradients(subspace.points @ inverse.T, normals, index, times)
    rows = np.concatenate([across, _monomials(_known(evidence, inverse), index, times)])

    # as many more points as leave nothing open, and some to spare
    values = np.linalg.svd(rows, compute_uv=False)
    known = (values > SETTINGS.clear_equation * values[0]).sum()
    new = len(index) - known + int(spare * len(index))
    Z = _more(evidence, basis, frame, new, width) @ inverse.T
    T = _cubic(np.concatenate([rows, _monomials(Z, index, times)]), along, index, times)

    # a sum of m cubes and, along the last axis, a threshold; this may be so small as not to show
    V = sum_of_cubes(T, tolerance=np.inf)
    lengths = np.linalg.norm(V, axis=1)
    along = np.abs(V[:, -1]) / np.maximum(lengths, 1e-300)
    last = along.argmax() if along.max() > SETTINGS.along_last else lengths.argmin()
    forms = np.delete(V, last, axis=0) if len(V) > m else V
    b = -(V[last, -1] ** 3) if len(V) > m else 0.0
    return machine_of_forms(forms[:, :-1] @ inverse, forms[:, -1], float(b), R, faint=0.0)


def _known(evidence, inverse):
    """The boundary points met so far, each place once, in coordinates of the frame."""
    R, (X, _, widths) = evidence.survey.curvature_scale, evidence.brackets
    near = np.linalg.norm(X, axis=1) < SETTINGS.farthest_known * R
    Z = X[near & (widths < SETTINGS.coarsest_known * R)] @ inverse.T
    return Z[np.unique(np.round(Z / SETTINGS.one_place), axis=0, return_index=True)[1]]


def _more(evidence, basis, frame, n, width):
    """n boundary points, roughly, between a cloud of the frame's size and known points."""
    pool, R = evidence.survey.pool, evidence.survey.curvature_scale
    cloud = evidence.rng.standard_normal((n, frame.shape[1])) @ frame.T
    positive = (evidence.oracle(cloud) > 0)[:, None]
    P, N = (ends @ basis @ basis.T for ends in pool.pairs(n))
    P, N = np.where(positive, cloud, P), np.where(positive, N, cloud)
    P, N = bisect(evidence.oracle, P, N, width * R)
    return (P + N) / 2


def _monomials(Z, index, times):
    """A row of monomials for every point, in units of its distance: the cubic vanishes there."""
    H = np.c_[Z, np.ones(len(Z))] / np.sqrt(1 + (Z**2).sum(1, keepdims=True))
    return H[:, index].prod(2) * times


def _gradients(points, normals, index, times):
    """Rows of the gradient at points: tangent parts, which are 0, and the part along normals."""
    H = np.c_[points, np.ones(len(points))]
    gradient = np.zeros((*H.shape, len(index)))
    for i, j, k in (index.T[[0, 1, 2]], index.T[[1, 2, 0]], index.T[[2, 0, 1]]):
        gradient[:, i, np.arange(len(index))] += H[:, j] * H[:, k] * times
    gradient = gradient[:, :-1] / (H**2).sum(1)[:, None, None]
    along = np.einsum("nj,njp->np", normals, gradient)
    across = gradient - normals[:, :, None] * along[:, None]
    return across.reshape(-1, len(index)), along


def _cubic(rows, along, index, times):
    """The tensor T of the cubic sum T_ijk h_i h_j h_k, h = (z, 1), by least squares."""
    # the gradients along the normals are 1 in the mean
    weight = SETTINGS.ridge**-0.5
    rows = np.concatenate([rows, SETTINGS.ridge * np.eye(len(index)),
                           weight * along.mean(0)[None]])
    solution = np.linalg.lstsq(rows, np.r_[np.zeros(len(rows) - 1), weight], rcond=None)[0]
    T = np.empty((index.max() + 1,) * 3)
    for axes in permutations(index.T):
        T[axes] = solution / times
    return T
