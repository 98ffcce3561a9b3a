"""A unit from one crossing of its kink with another: four planes fix what one kink leaves open."""

import numpy as np

from ...types import Array
from ..protocol import Refuted
from .model import KnownUnits
from .pieces import BENT, Piece, Pieces
from .settings import SETTINGS


def add_units(pieces: Pieces, known: KnownUnits, before: Array, room: float,
              along: Array, on: Array) -> None:
    """Find the unit behind a kink, and with it perhaps the unit whose kink crosses that.

    In front of the kink f is N_p, behind it s_q N_q with an unknown s_q > 0. Beside a crossing
    with another unit it is s_r N_r, and behind both kinks s_q N_q + s_r N_r - N_p, which vanishes
    at boundary points there: linear equations for s_q, and for s_r if that unit is not known.

    Parameters
    ----------
    pieces : Pieces
    known : KnownUnits
        The units are added to it.
    before : array (m,)
        A boundary point in a known piece, in front of the kink.
    room : float
        How far it is from the kink, and no nearer to another one on the same line.
    along : array (m,)
        The direction from the point to the kink.
    on : bool array (h,)
        The pattern of the piece.

    Raises
    ------
    Refuted
        If no crossing is like one of two units of one hidden layer.
    """
    # the piece in front of the kink, measured again, where the boundary leaves it, and the
    # piece behind
    plane = known.plane(on)
    size = np.linalg.norm(plane[:-1])
    front = pieces.sharpen(Piece(before, plane[:-1] / size), room / 4)
    along = _unit(along - (along @ front.normal) * front.normal)
    (way,) = pieces.way(front, along[None])
    if np.isinf(way):
        raise Refuted(BENT)
    kink = front.point + way * along
    back = pieces.behind(kink, along, front.normal)
    n, k = front.normal, back.normal

    # directions in both, away from their ridge, and a point of the ridge
    ahead, behind = _unit(k - (k @ n) * n), _unit(n - (n @ k) * k)
    ahead, behind = ahead * -np.sign(along @ ahead), behind * np.sign((back.point - kink) @ behind)
    both = np.array([front.plane, back.plane])
    ridge = kink - np.linalg.lstsq(both[:, :-1], both @ np.r_[kink, 1], rcond=None)[0]
    met = False
    for aside in SETTINGS.asides:
        p, q = Piece(ridge + aside * ahead, n), Piece(ridge + aside * behind, k)
        for _ in range(SETTINGS.directions):
            # along the ridge on both sides of it, until another unit crosses
            u = pieces.rng.standard_normal(len(n))
            u = _unit(u - both[:, :-1].T @ np.linalg.lstsq(both[:, :-1].T, u, rcond=None)[0])
            U = np.array([u, -u])
            ways = np.array([pieces.way(side, U) for side in (p, q)])
            alike = (ways < np.inf).all(0) & (ways[1] > 0.5 * ways[0]) & (ways[1] < 1.5 * ways[0])
            if not alike.any():
                continue
            ways[:, ~alike] = np.inf
            side = int(ways[0].argmin())
            (tp, tq), u, met = ways[:, side], U[side], True
            try:
                changes = _solve(pieces, known, (size, on), (p, q), (tp, tq), u, aside)
            except Refuted:
                continue
            points = back.point, p.point + (tp + aside) * u
            for change, point in zip(changes, points, strict=False):
                known.add(change, point)
            return
    raise Refuted(BENT if met else
                  "the kink of a unit meets no other: labels leave its direction open")


def _solve(pieces, known, front, sides, ways, u, aside):
    """The changes of the linear function behind one kink, or behind each of two."""
    (size, on), (p, q) = front, sides
    first = p.plane

    # which unit crosses: a known one, or a new one with a piece to be measured
    crossing = p.point + ways[0] * u
    way, unit = known.next_kink(p.point, u, on)
    late = np.abs(known.units[unit] @ np.r_[crossing, 1]) / size if way < np.inf else np.inf
    if late < SETTINGS.near * (1 + ways[0]):
        flipped = known.plane(on ^ (np.arange(len(on)) == unit))
        n = _unit(flipped[:-1])
        beside = crossing + aside / 2 * _unit(u - (u @ n) * n)
        beside -= n * (flipped @ np.r_[beside, 1]) / np.linalg.norm(flipped[:-1])
        second, new = pieces.sharpen(Piece(beside, n), aside / 8).plane, False
    elif way > ways[0]:
        second, new = pieces.behind(crossing, u, p.normal, aside / 2).plane, True
    else:
        raise Refuted("a known kink is not where it should be")

    # points behind both kinks
    corner, points = q.point + ways[1] * u, []
    for _ in range(3 * SETTINGS.equations):
        v = pieces.rng.standard_normal(len(u))
        v = u + 0.7 * _unit(v - (v @ q.normal) * q.normal)
        found = pieces.ray(corner, _unit(v), q.normal, aside / 4)
        if found is not None:
            points.append(found[0])
        if len(points) == SETTINGS.equations:
            break
    else:
        raise Refuted("no points behind a crossing")

    # the factors of the planes beside both kinks
    Z = np.c_[np.array(points), np.ones(len(points))]
    A, b = Z @ np.array([q.plane, second]).T, Z @ first
    factors, _, _, values = np.linalg.lstsq(A, b, rcond=None)
    if values[-1] < SETTINGS.least_determined or (factors <= 0).any():
        raise Refuted("a crossing that does not show the factors")
    if np.abs(A @ factors - b).max() > SETTINGS.residual:
        raise Refuted("a crossing of more than two kinks")
    changes = [size * (factors[0] * q.plane - first), size * (factors[1] * second - first)]
    return changes[:1 + new]


def _unit(v):
    """A vector of length 1."""
    return v / np.linalg.norm(v)
