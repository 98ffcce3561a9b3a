"""S_Y from normals, as few as it takes: of Type A by straightness, of Type B by turning."""

import numpy as np

from .bracketing import boundary_points, wall_distance
from .normals import orthonormal_complement, slope_normals
from .precision import DOUBLE
from .subspace import (
    alternate,
    corrected_span,
    crosses_straight,
    gamma_for,
    log_det,
    sharpen,
    span_of_normals,
)
from .turning import crosses_turned, sharpen_by_turning

GAP, GAP_B, GAP_COARSE = 8.0, 4.0, 2.5  # smallest ratios of singular values that are a gap
WEAK = 1e-3  # a direction that the normals show so faintly is easily lost in a correction
FRESH = 6  # boundary points kept back, to test a subspace that they had no part in finding
MOST = 0.75  # of them must pass: some brackets may graze the boundary
STEEP = 0.1  # n.v of those that do not graze it
WALL = 0.001  # points are left out that are so near a wall of the oracle's bounds (of the reach)
PROBE = 3  # dimensions of the complement in which a subspace is tried before all are sharpened
MISSES = 1e-6, 1e-5, 1e-4, 5e-4, 2e-3, 1e-2  # tolerances (of the reach), on the way to the last


class Spanning:
    """Boundary points and normals, more and more of them, until a subspace passes its test.

    Parameters
    ----------
    oracle : Oracle
    pool : Pool
        Where PN-pairs are drawn from.
    ahead : pair of arrays (k, d)
        Boundary points that are there already, and the directions of their brackets.
    reach : float
        The unit of all lengths.
    rng : numpy.random.Generator
    stage : callable
        stage(name) is a context that books the queries made in it.
    precision : Precision

    Attributes
    ----------
    X, V, N : arrays (s, d)
        Boundary points, the directions of their brackets, their unit normals.
    values : array
        The singular values that the subspace was read from.
    """

    def __init__(self, oracle, pool, ahead, reach, rng, stage, precision=DOUBLE):
        self.precision = precision
        self.width, miss = precision.width * reach, precision.miss
        self.misses = [miss, *(t for t in MISSES if t > miss)]  # the first is what is asked for
        self.oracle, self.reach, self.rng, self.stage = oracle, reach, rng, stage
        self.ahead = ahead
        self.pairs = list(pool.pairs(6 * oracle.dimension + 60))
        self.X, self.V, self.N = (np.empty((0, oracle.dimension)) for _ in range(3))
        self.values = np.empty(0)

    def grow(self, n):
        """n more boundary points with their normals; False if there are no more to be had."""
        more = max(0, n + FRESH - len(self.ahead[0]))
        P, N = (a[:more] for a in self.pairs)
        self.pairs = [a[more:] for a in self.pairs]
        with self.stage("boundary"):
            fresh = boundary_points(self.oracle, P, N, self.width)
        free = wall_distance(self.oracle, fresh[0]) > WALL * self.reach
        fresh = [a[free] for a in fresh]
        self.ahead = [np.concatenate(pair) for pair in zip(self.ahead, fresh, strict=True)]
        if len(self.ahead[0]) < n + FRESH:
            return False
        x, v = (a[:n] for a in self.ahead)
        self.ahead = [a[n:] for a in self.ahead]
        with self.stage("normals"):
            normals = slope_normals(self.oracle, x, v, self.precision.delta * self.reach,
                                    self.width, central=self.precision.coarse)
        good = np.isfinite(normals).all(1)
        for name, new in (("X", x), ("V", v), ("N", normals)):
            setattr(self, name, np.concatenate([getattr(self, name), new[good]]))
        return True

    # -- Type A: straight across S_Y ----------------------------------------------------------

    def straight(self):
        """Basis of the subspace across which the boundary is straight, or None: not yet."""
        if len(self.N) == 0:
            return None
        left, self.values = span_of_normals(self.N, rank=len(self.N))
        gaps = np.flatnonzero(self.values[:-1] > GAP * self.values[1:]) + 1
        for k in gaps if len(self.N) > 1 else [1]:
            basis, weak = left[:, :k], self.values[k - 1] < WEAK
            if weak and len(self.N) < k + 2:
                continue  # two more normals cost less than a correction that fails
            if k < self.oracle.dimension and self._crosses(basis, 0.1, self.precision.rough) \
                    and self._promising(basis, self._crosses, self._straighten, weak):
                basis = self._settled(basis, self._crosses, self._straighten)
                if basis is not None:
                    return self._smallest(basis, self.N, self._crosses, self._straighten)
        return None

    def _crosses(self, basis, size, tolerance, W=None):
        R, steep = self.reach, (self.N * self.V).sum(1) > STEEP
        X, V = (np.concatenate([old[steep], new]) for old, new in
                zip((self.X, self.V), self.ahead, strict=True))
        with self.stage("subspace"):
            straight = crosses_straight(self.oracle, X, V, basis, size * R,
                                        self.precision.graze * tolerance * R, self.rng, W)
        return straight[:steep.sum()].all() and straight[steep.sum():].mean() >= MOST

    def almost_straight(self, basis):
        """Is the boundary straight across a basis, by eye?"""
        return self._crosses(basis, 1, 1e-4)

    def _straighten(self, basis, rough, W=None):
        R, (baseline, width) = self.reach, (0.01, 1e-9 * self.reach) if rough else (1, 0)
        with self.stage("subspace"):
            return sharpen(self.oracle, self.X, self.V, self.N, basis, baseline * R,
                           max(width, self.width), W, self.precision.times)

    # -- Type B: can be turned about S_Y ------------------------------------------------------

    def turning(self):
        """Basis of the subspace about which the boundary can be turned, or None: not yet."""
        s, d = self.N.shape
        if s < 6:
            return None
        left, values = corrected_span(self.N, self.X, log_det(self.N, self.X), rank=d)
        ratios = values[:-1] / values[1:]
        gap = GAP_COARSE if self.precision.coarse else GAP_B
        gaps = list(1 + np.argsort(-ratios)[:(ratios > gap).sum()])  # the clearest first
        last = (gaps or [d])[0]
        if self.precision.coarse:  # (d - 1 dimensions are always to be had)
            last = max((k for k in gaps if k < d - 3), default=d)
        late = s > 3 * last  # are weak vectors hidden behind the gap?
        for k in dict.fromkeys(gaps + [last + 1, last + 2] if late else gaps):
            if k >= d or k * (d - k) >= s * (d - k - 1):
                continue  # s normals of anything at all can be brought to this rank
            gamma = alternate(self.N, self.X, gamma_for(self.N, self.X, left[:, :k]), k, steps=20)
            basis = corrected_span(self.N, self.X, gamma, k)[0]
            if s < 2 * k + 4 and not self._turns(basis, 1, self.misses[0]):
                continue  # more normals cost less than sharpening a rough basis
            if self._turns(basis, 0.1, 1e-4) and self._turns(basis, 1, 3e-3) \
                    and self._promising(basis, self._turns, self._turn):
                basis = self._settled(basis, self._turns, self._turn, patience=2 * late)
                if basis is not None:
                    # where gamma was wrong, the point itself is in the span: it shows no gamma
                    across = self.X - self.X @ basis @ basis.T
                    shown = np.linalg.norm(across, axis=1) > 0.05 * np.linalg.norm(self.X, axis=1)
                    gamma = gamma_for(self.N[shown], self.X[shown], basis)
                    corrected = self.N[shown] - gamma[:, None] * self.X[shown]
                    self.values = np.linalg.svd(corrected, compute_uv=False)
                    return self._smallest(basis, corrected, self._turns, self._turn)
        return None

    def _turns(self, basis, size, tolerance, W=None):
        with self.stage("subspace"):
            return crosses_turned(self.oracle, *self.ahead, basis, size * np.pi / 2,
                                  tolerance * self.reach, self.rng, W).mean() >= MOST

    def _turn(self, basis, rough, W=None):
        R, (size, step, width) = self.reach, (0.1, 1e-4, 1e-9) if rough else (1, 1e-6, 0)
        with self.stage("subspace"):
            return sharpen_by_turning(self.oracle, self.X, self.V, self.N, basis,
                                      size * np.pi / 2, max(step * R, 4 * self.width),
                                      max(width * R, self.width), W, self.precision.times)

    # -- both: `passes` is the test, `sharpen` the correction -----------------------------------

    def _promising(self, basis, passes, sharpen, doubtful=False):
        """Does the basis settle inside a slice of few more dimensions? If not, nowhere.

        Asked only where it saves much, or where the answer may well be no.
        """
        W = orthonormal_complement(basis)
        few = self.rng.standard_normal((W.shape[1], PROBE))
        return W.shape[1] < (2 if doubtful else 8) * PROBE or self._settled(
            basis, passes, sharpen, W @ np.linalg.qr(few)[0], patience=1) is not None

    def _settled(self, basis, passes, sharpen, W=None, patience=0):
        """The basis, sharpened until the boundary misses itself no more; or None.

        With W, all happens inside the span of the basis and W. So many steps as `patience` says
        may show no progress.
        """
        inside, miss = None if W is None else np.c_[basis, W], np.inf
        while True:
            if W is not None:
                W = inside @ orthonormal_complement(inside.T @ basis)
            before, miss = miss, next((t for t in self.misses if passes(basis, 1, t, W)), 1)
            if miss == self.misses[0]:
                return sharpen(basis, False) if self.precision.coarse and W is None else basis
            patience -= miss >= before
            if patience < 0:
                return None
            basis = sharpen(basis, miss > max(1e-5, 20 * self.misses[0]), W)

    def _smallest(self, basis, vectors, passes, sharpen):
        """The smallest subspace inside a basis that passes too: a larger one always does.

        The weakest direction of the `vectors`, which lie in S_Y up to noise, is left out, as long
        as the boundary does not notice. A box is looked at in that direction alone, so that this
        costs little.
        """
        while basis.shape[1] > 1:
            inner = np.linalg.svd((vectors @ basis).T)[0]
            turned = basis @ inner
            smaller = self._settled(turned[:, :-1], passes, sharpen, turned[:, -1:], patience=3)
            if smaller is None:
                return basis
            basis = smaller
        return basis
