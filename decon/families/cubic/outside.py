"""What the vectors of a cubic machine have outside a subspace that is nearly S_Y."""

import numpy as np

from ...boundary.bracketing import bisect_along
from ...boundary.normals import orthonormal_complement
from ...numerics.blocks import blocks
from ...types import Array, LabelOracle
from .coordinates import SumOfCubes
from .decomposition import ascent, combine
from .settings import SETTINGS


def outside(own: SumOfCubes, oracle: LabelOracle, baseline: float, width: float,
            rng: np.random.Generator, tilts: Array | None = None) -> tuple[Array, bool]:
    """What the vectors of a machine have outside the span of its frame, one by one.

    Where l_i alone is not 0, the boundary's normal is the vector of l_i. A walk w out of the
    span changes l_i by the product of w with what is missing, and the boundary steps aside by
    as much. d - m brackets per vector show all of it; two labels per walk in a random direction
    show whether that is worth it.

    The same labels, farther out, show a vector that is in truth two, nearly alike: of w and
    of -w one then misses the boundary, as cubes of l + e and l - e add up to more than 2 l^3.

    Parameters
    ----------
    own : SumOfCubes
    oracle : LabelOracle
    baseline : float
        How far to walk, about the scale of the data.
    width : float
        Of the brackets, in units of the l_i.
    rng : numpy.random.Generator
    tilts : array (m,), optional
        How well it is known that nothing is missing: the standard deviations of what each vector
        has in a direction outside, per its length.

    Returns
    -------
    missing : array (m, d)
        To be added to A of `forms`.
    single : bool
        Is every vector one vector, as far as labels show?
    """
    walks = _Walks(own, oracle, baseline, width, rng, tilts)
    if walks.W.shape[1] == 0:
        return walks.missing, bool(tilts is None or tilts.max() < SETTINGS.largest_tilt)

    # which vectors have a part outside (step 6 of alg-support-vectors-of-a-cubic-planes)?
    rounds = SETTINGS.outside_rounds if tilts is None else 0
    for _ in range(rounds):
        shown = np.any([walks.misses(walks.random(baseline), walks.small)
                        for _ in range(SETTINGS.walks)], axis=0)
        if not shown.any():
            break
        walks.correct(np.flatnonzero(shown))

    # (l + e)^3 + (l - e)^3 = 2 l^3 + 6 l e^2 would show far away, unless l is hardly known
    single = tilts is None or tilts.max() < SETTINGS.largest_tilt
    for _ in range(SETTINGS.walks):
        far = walks.random(SETTINGS.far_walk * baseline)
        off = 30 * SETTINGS.far_walk * walks.small
        single &= not any(walks.misses(side * far, off).any() for side in (1, -1))
    return walks.missing, bool(single)


class _Walks:
    """A boundary point for each vector, where it is the normal, and walks from there.

    Attributes
    ----------
    W : array (d, d - m)
        Orthonormal, orthogonal to the frame.
    missing : array (m, d)
        What the vectors have outside the span of the frame, as far as it is known.
    small : array (m,)
        How far off the boundary may be after a walk of one baseline, if nothing is missing.
    """

    def __init__(self, own: SumOfCubes, oracle: LabelOracle, baseline: float, width: float,
                 rng: np.random.Generator, tilts: Array | None):
        self.own, self.oracle, self.baseline, self.width = own, oracle, baseline, width
        self.rng, m = rng, len(own.V)
        self.W = orthonormal_complement(own.frame)
        self.missing = np.zeros((m, len(self.W)))

        # where l_i alone is not 0; where |b| is small, all but one: three in a circle and the
        # others beside them, so that the slopes have an inverse
        i, sign = np.arange(m), np.copysign(1.0, own.b)
        straight = abs(own.b) < SETTINGS.small_threshold
        at = np.c_[np.where(i < 3, (i + 1) % min(m, 3), i % 3), i]
        L = np.tile([np.cbrt(own.b - sign), sign] if straight else [0, np.cbrt(own.b)], (m, 1))
        self.X, self.U = own.steps(at, L) + own.centre, own.steps(at, ascent(L))

        # all l_i there, and how they change along U
        self.L, self.along = combine(at, L, np.eye(m)), combine(at, ascent(L), np.eye(m))
        lengths = np.linalg.norm(own.forms()[0], axis=1) / own.unit
        least = SETTINGS.least_tilt / np.sqrt(max(1, self.W.shape[1]))
        least = least if tilts is None else np.maximum(least, SETTINGS.sure_tilts * tilts)
        self.small = np.maximum(least * lengths * baseline, 4 * width)

    def random(self, length):
        """A walk in a random direction out of the span, for each point."""
        steps = self.rng.standard_normal((len(self.X), self.W.shape[1]))
        return length * (steps / np.linalg.norm(steps, axis=1, keepdims=True) @ self.W.T)

    def _back(self, walks):
        """Back inside the span, to where all l_i, with what was missing, are what they were."""
        return -walks @ self.missing.T / self.own.unit @ self.own.D.T

    def misses(self, walks, off):
        """Is the boundary more than `off` above or below where it should be after the walks?"""
        ends = self.X + walks + self._back(walks)
        up, down = (self.oracle(ends + side * off[:, None] * self.U) for side in (1, -1))
        return (up < 0) | (down > 0)

    def correct(self, shown):
        """Add to what is known of the vectors what walks along all of W show."""
        steps = self.baseline * self.W.T
        back = self._back(steps)
        h = np.zeros((len(self.X), len(steps)))
        for j in shown:
            # a few walks tell how far off the boundary is, and so how to begin with the others
            size = 2 * self.small[j]
            for k in np.split(np.arange(len(steps)), [min(SETTINGS.pilot_walks, len(steps))]):
                h[j, k] = bisect_along(self.oracle, self.X[j] + steps[k] + back[k],
                                       np.tile(self.U[j], (len(k), 1)), 0.0, size, self.width,
                                       SETTINGS.largest_correction)
                h[j, k] = np.nan_to_num(h[j, k])  # not met: no height
                size = max(size, np.linalg.norm(h[j, k]) / np.sqrt(max(1, len(k))))
        changes = self._changes(h)
        self.missing += changes @ self.W.T * (self.own.unit / self.baseline)

    def _changes(self, h):
        """By how much the l_j have changed where the boundary is h_ik above the ends of walks k.

        Their cubes add up to b there: for each walk m equations for the m changes t_jk,
        sum_j (L_ij + h_ik U_ij + t_jk)^3 = b, solved by simplified Newton steps, with the
        derivatives where all h and t are 0. (Two vectors of a machine with hardly any threshold
        have no inverse of these.)
        """
        slopes = np.linalg.pinv(3 * self.L**2, rcond=SETTINGS.least_slope)
        t = np.zeros_like(h)
        for k in blocks(h.shape[1], self.L.size):
            at = self.L[:, :, None] + self.along[:, :, None] * h[:, None, k]
            for _ in range(SETTINGS.newton_steps):
                step = slopes @ (((at + t[:, k])**3).sum(1) - self.own.b)
                t[:, k] -= np.clip(step, -SETTINGS.largest_correction, SETTINGS.largest_correction)
                if np.abs(step).max() < self.width:
                    break
        return t
