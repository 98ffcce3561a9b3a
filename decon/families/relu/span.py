"""S_Y by flat pieces: every walk across all normals so far ends at a unit that they lack."""

import numpy as np

from ...subspaces.cylinder import refine
from ...subspaces.spans import span_of_normals
from ...types import Array
from .pieces import Piece, Pieces
from .settings import SETTINGS


def span_by_pieces(pieces: Pieces, first: Piece) -> tuple[Array, Array, Array]:
    """An orthonormal basis of the span of all normals of a piecewise linear boundary.

    Parameters
    ----------
    pieces : Pieces
    first : Piece

    Returns
    -------
    basis : array (d, m)
    normals : array (m, d)
        From which it was computed.
    values : array (m,)
        Their singular values.
    """
    known, calm, d = [first], 0, len(first.point)
    while calm < SETTINGS.calm_walks and len(known) < d:
        # a walk in a piece, at right angles to all normals, to both sides
        piece = known[-1 - calm % len(known)]
        Q = np.linalg.qr(np.array([k.normal for k in known]).T)[0]
        u = pieces.rng.standard_normal(d)
        for _ in range(2):
            u -= Q @ (Q.T @ u)
        U = np.array([u, -u]) / np.linalg.norm(u)
        way = pieces.way(piece, U)
        if np.isinf(way).all():
            calm += 1
            continue

        # the piece behind its end has a new normal
        t, u = way.min(), U[way.argmin()]
        known.append(pieces.behind(piece.point + t * u, u, piece.normal))
        calm = 0

    normals = np.array([k.normal for k in known])
    if len(known) == d:
        return np.eye(d), normals, np.linalg.svd(normals, compute_uv=False)
    basis, values = span_of_normals(normals, len(known))
    if values[-1] < SETTINGS.least_value:
        points = np.array([k.point for k in known])
        basis = refine(pieces.oracle, points, normals, normals, basis, SETTINGS.baseline,
                       SETTINGS.width)
    return basis, normals, values
