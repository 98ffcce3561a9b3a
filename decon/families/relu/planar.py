"""Where S_Y has two dimensions: the boundary is a polyline, and no two kinks of it cross."""

import numpy as np

from ..protocol import Refuted
from .model import KnownUnits
from .pieces import Piece, Pieces


def units_of_polyline(pieces: Pieces, first: Piece) -> KnownUnits:
    """The one unit or two of a polyline of two pieces or three.

    With two kinks, either unit is off on one of the outer pieces, and both are on between them:
    N_0 + s_2 N_2 = s_1 N_1. With one kink, the other unit is always on, and labels leave the
    direction of the first one open: it is chosen in the middle between the two pieces.

    Parameters
    ----------
    pieces : Pieces
    first : Piece

    Returns
    -------
    known : KnownUnits

    Raises
    ------
    Refuted
        If there are more kinks.
    """
    # follow the polyline to both sides
    polyline = [first]
    for side in (0, -1):
        along = np.array([-1.0, 1.0]) * polyline[side].normal[::-1] * (1 + 2 * side)
        while len(polyline) < 4:
            piece = polyline[side]
            (way,) = pieces.way(piece, along[None])
            if np.isinf(way):
                break
            kink = piece.point + way * along
            polyline.insert(len(polyline) * -side, pieces.behind(kink, along, piece.normal))
            ahead = polyline[side]
            tangent = np.array([-1.0, 1.0]) * ahead.normal[::-1]
            along = tangent * np.sign(tangent @ (ahead.point - kink))
    if len(polyline) > 3:
        raise Refuted("the boundary is a polyline with more than two kinks: labels leave the "
                      "directions of its units open")

    # the factors of the planes, in units of the first
    planes = np.array([piece.plane for piece in polyline])
    factors = np.ones(2)
    if len(planes) == 3:
        factors = np.linalg.solve(planes[1:, :-1].T * [1, -1], planes[0, :-1])
        if (factors <= 0).any():
            raise Refuted("a polyline that no two units have")

    # what each kink changes
    known, before = KnownUnits(planes[0]), planes[0]
    for factor, plane, piece in zip(factors, planes[1:], polyline[1:], strict=False):
        known.add(factor * plane - before, piece.point)
        before = factor * plane
    return known
