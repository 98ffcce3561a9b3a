"""The search behind `deconstruct`: from the first label to a certified machine, stage by stage."""

from contextlib import contextmanager

import numpy as np
from tqdm import tqdm

from .bracketing import bisect, boundary_points, pn_pairs
from .certificate import certificate
from .kernels import Linear
from .machine import KernelMachine
from .normals import slope_normals
from .polynomial import (
    distance_to_quadratic,
    fit_quadratic,
    quasi_support_vectors,
    relevant_directions,
)
from .subspace import crosses_straight, sharpen, span_of_normals

# All lengths are in units of R0, the root mean square norm of the features given.
WIDTH = 1e-12  # brackets; a box that computes in double precision resolves no less
DELTA, DELTA_WIDTH = 1e-6, 1e-12  # step and bracket of a normal's slopes
CLOSE = 1e-5  # the certificate asks this close to the recovered boundary
AGREEMENT = 0.999  # and must find at least this agreement there, and far from it
GAP = 8.0  # smallest ratio of singular values that counts as a gap
CHORDS, BEND, FARTHEST = 10, 0.02, 1e8
UNKNOWNS = 6000  # most coefficients that are fitted in one null vector


class Search:
    """One run of `deconstruct`: the oracle, the pool of labelled points, the growing result."""

    def __init__(self, oracle, rng, result, progress):
        self.oracle, self.rng, self.result = oracle, rng, result
        self.bar = tqdm(unit=" queries", delay=3, disable=not progress, leave=False)

    @contextmanager
    def stage(self, name):
        """Book the queries of a block of code under a name."""
        before = self.oracle.queries
        self.bar.set_description(name, refresh=False)
        try:
            yield
        finally:
            spent = self.oracle.queries - before
            ledger = self.result.queries
            ledger[name] = ledger.get(name, 0) + spent
            self.bar.update(spent)

    def run(self, features):
        """Fill in the result, as far as the answers go."""
        result = self.result
        self.label_features(features)
        self.find_reach()
        self.find_subspace()
        for hypothesis in (self.linear, self.quadratic):
            known = result.subspace, result.n_support, result.singular_values
            machine = hypothesis()
            if machine is not None:
                if self.certify(machine):
                    return
                result.subspace, result.n_support, result.singular_values = known

    # -- points -----------------------------------------------------------------------------

    def label_features(self, features):
        """Check the features, ask for their labels, and begin the pool with them."""
        features = np.asarray(features, float)
        d = self.oracle.dimension
        if features.ndim != 2 or features.shape[1] != d:
            raise ValueError(f"expected features of shape (k, {d}), got {features.shape}")
        if not np.isfinite(features).all():
            raise ValueError("features must be finite, but some are NaN or infinite")
        self.features = features
        self.scale = self.result.scale = np.linalg.norm(features) / np.sqrt(max(1, len(features)))
        if self.scale == 0:
            raise ValueError("features are all zero (or there are none): their root mean square "
                             "norm sets the scale of the search, so give typical points")
        with self.stage("features"):
            self.labels = self.oracle(features)
        if abs(self.labels.sum()) == len(features):
            only = "+1" if self.labels[0] > 0 else "-1"
            raise ValueError(f"all {len(features)} features got the label {only}: give a few "
                             "points of the other label too")
        self.pool, self.reach = features, self.scale
        with self.stage("features"):
            self.enlarge_pool(60, rarest=20)

    def cloud(self, n, reach):
        """n points about the origin, half of them three times as far as the others.

        At the data's own scale a third of them are near the features.
        """
        radius = np.resize([1.0, 3.0] if reach > self.scale else [0.5, 1.0, 3.0], n)[:, None]
        near = self.features[self.rng.integers(len(self.features), size=n)]
        steps = self.rng.standard_normal((n, self.oracle.dimension))
        steps *= reach * radius / np.sqrt(self.oracle.dimension)
        return np.where(radius < 1, near, 0) + steps

    def enlarge_pool(self, n, rarest):
        """Add n points of the cloud, and points of the rarer label until it has `rarest`.

        Segments from few points would look at the boundary from few sides. Points of a rare
        label lie between ends of coarse brackets; where they do not, the ends must do.
        """
        cloud = self.cloud(n, self.reach)
        self.add(cloud, self.oracle(cloud))
        rare = 1 if (self.labels > 0).sum() < (self.labels < 0).sum() else -1
        missing = rarest - (self.labels == rare).sum()
        if missing > 0:
            P, N = bisect(self.oracle, *self.pairs(missing), 1e-3 * self.reach)
            ends = P if rare > 0 else N
            share = self.rng.uniform(0.2, 0.8, (missing, 1))
            between = share * ends + (1 - share) * np.roll(ends, 1, axis=0)
            inside = self.oracle(between) == rare
            self.add(np.where(inside[:, None], between, ends), np.full(missing, rare))

    def add(self, points, labels):
        """Put labelled points into the pool."""
        self.pool = np.concatenate([self.pool, points])
        self.labels = np.concatenate([self.labels, labels])

    def pairs(self, n):
        """n random PN-pairs out of the pool, distinct as long as it has that many."""
        return pn_pairs(self.pool[self.labels > 0], self.pool[self.labels < 0], n, self.rng)

    def neighbouring_pairs(self, direction):
        """PN-pairs of the pool that are neighbours along a direction: one a crossing."""
        order = np.argsort(self.pool @ direction)
        pool, labels = self.pool[order], self.labels[order]
        falls = np.flatnonzero(labels[:-1] > labels[1:])
        rises = np.flatnonzero(labels[:-1] < labels[1:])
        return pool[np.r_[falls, rises + 1]], pool[np.r_[falls + 1, rises]]

    def boundary(self, P, N):
        """The boundary points between the rows of P and of N, and the brackets' directions."""
        return boundary_points(self.oracle, P, N, WIDTH * self.reach)

    # -- the scale of the work -----------------------------------------------------------------

    def find_reach(self):
        """Where is the boundary curved? The reach is the smallest of R0, 8 R0, 64 R0, ...

        at which it bends. Chords of boundary points are drawn out to that length: as long as
        the boundary follows them, it is a plane to the eye, and where it is a plane all
        quadratics that hold this plane look alike.
        """
        self.near = self.pool, self.labels
        if self.oracle.dimension == 1:
            return
        with self.stage("boundary"):
            X, V = self.boundary(*self.pairs(CHORDS + 1))
        chords = np.diff(X, axis=0)
        length = np.linalg.norm(chords, axis=1, keepdims=True)
        X, V, U = X[:-1], V[:-1], chords / np.where(length > 0, length, 1)
        with self.stage("features"):
            reach = self.scale
            while reach < FARTHEST * self.scale:
                ends, aside = X + reach * U, BEND * reach * V
                straight = (self.oracle(ends + aside) > 0) & (self.oracle(ends - aside) < 0)
                if straight.mean() < 0.5:
                    break
                reach *= 8
            else:
                return
        if reach > self.scale:
            self.reach = reach
            self.pool, self.labels = np.empty((0, self.oracle.dimension)), np.empty(0, np.int8)
            with self.stage("features"):
                self.enlarge_pool(60, rarest=20)

    # -- the kernel subspace ----------------------------------------------------------------

    def find_subspace(self):
        """Add normals until they span no more than before, then sharpen their span.

        The last large gap in their singular values is tried: too large a basis can be trimmed
        once the boundary is known, too small a one cannot be completed.

        Normals that span more than half of R^d are not worth the queries where a quadratic
        can be fitted in all of R^d, which shows S_Y as well.
        """
        d, R, result = self.oracle.dimension, self.reach, self.result
        if d == 1:  # on a line, the direction of a bracket is the normal
            with self.stage("boundary"):
                result.points, result.normals = self.boundary(*self.pairs(5))
            result.subspace, result.n_support = np.eye(1), 1
            return
        limit = d // 2 + 3 if d <= _largest_dimension() else d + 3
        X, V, N = np.empty((0, d)), np.empty((0, d)), np.empty((0, d))
        ahead = X, V  # boundary points whose normals are not measured yet
        pairs = list(self.pairs(3 * limit + 4))
        while len(pairs[0]) and len(N) < limit:
            batch = max(1, len(N) // 6)
            more = batch + 4 - len(ahead[0])
            with self.stage("boundary"):
                fresh = self.boundary(*(a[:more] for a in pairs))
            pairs = [a[more:] for a in pairs]
            ahead = [np.concatenate(pair) for pair in zip(ahead, fresh, strict=True)]
            x, v = (a[:batch] for a in ahead)
            ahead = [a[batch:] for a in ahead]
            with self.stage("normals"):
                n = slope_normals(self.oracle, x, v, DELTA * R, DELTA_WIDTH * R)
            good = np.isfinite(n).all(1)
            X, V, N = (np.concatenate([old, new[good]]) for old, new in ((X, x), (V, v), (N, n)))
            result.points, result.normals = X, N
            if len(N) == 0:
                continue
            left, values = span_of_normals(N, rank=len(N))
            result.singular_values = values
            gaps = np.flatnonzero(values[:-1] > GAP * values[1:]) + 1
            k = int(gaps[-1]) if len(gaps) else len(N)
            if k < d and (len(N) == 1 or len(gaps)):
                with self.stage("subspace"):
                    basis = self.complete(left[:, :k], X, V, N, ahead)
                if basis is not None:
                    result.subspace, result.n_support = basis, k
                    return
        if len(N) < 2:
            result.reason = ("no normals could be measured: the boundary is not smooth at a scale "
                             f"of {DELTA:g} of the data's")
        else:
            result.reason = (f"{len(N)} normals span {len(N)} dimensions and show no gap: a Type B "
                             "kernel, or many support vectors")

    def complete(self, basis, X, V, N, fresh):
        """The basis, sharpened; or None if the boundary is not straight across it.

        Straightness is tested from fresh points, which had no part in finding the basis, and
        more strictly after every sharpening.
        """
        R = self.reach

        def straight(baseline, tolerance):
            return crosses_straight(self.oracle, *fresh, basis, baseline * R, tolerance * R,
                                    self.rng).all()

        if len(fresh[0]) and straight(0.1, 3e-5):
            basis = sharpen(self.oracle, X, V, N, basis, 0.01 * R, 1e-9 * R)
            if straight(1, 1e-6):
                basis = sharpen(self.oracle, X, V, N, basis, R, WIDTH * R)
                if straight(1, 1e-8):
                    return basis
        return None

    # -- hypotheses: each returns a machine or None, with the reason ------------------------

    def linear(self):
        """One direction: is the boundary a single plane n.x = offset?"""
        if self.result.n_support != 1:
            return None
        n = self.result.subspace[:, 0]
        offsets = self.result.points @ n
        if np.ptp(offsets) > 1e-6 * self.scale:
            return None
        n = n * np.sign((self.result.normals @ n).sum())
        return KernelMachine(Linear(), [n], [1.0], (self.result.points @ n).mean())

    def quadratic(self):
        """A quadratic on S_Y through boundary points; its rank corrects the subspace."""
        result, R = self.result, self.reach
        basis = np.eye(self.oracle.dimension) if result.subspace is None else result.subspace
        m = basis.shape[1]
        unknowns = (m + 1) * (m + 2) // 2
        if m > _largest_dimension():
            result.reason += (f"; a quadratic in {m} variables has {unknowns} coefficients, more "
                              f"than the {UNKNOWNS} this version fits")
            return None
        with self.stage("polynomial"):
            self.enlarge_pool(unknowns // 4 if m > 1 else 400, rarest=max(20, unknowns // 30))
            n = int(1.1 * unknowns) + 20
            P, N = self.pairs(n) if m > 1 else self.neighbouring_pairs(basis[:, 0])
            P, N = P @ basis @ basis.T, N @ basis @ basis.T
            distinct = (P != N).any(1)
            X, _ = self.boundary(P[distinct], N[distinct])
            near = np.empty((0, m))
            if R > self.scale:
                pool, labels = self.near
                P, N = pn_pairs(pool[labels > 0], pool[labels < 0], 20, self.rng)
                P, N = P @ basis @ basis.T, N @ basis @ basis.T
                near = boundary_points(self.oracle, P, N, WIDTH * self.scale)[0] @ basis
        Z = np.resize(X @ basis, (n, m))
        held_out = len(Z) // 20 + 5
        weights = np.r_[np.ones(len(Z)), np.full(len(near), np.sqrt(R / self.scale))]
        far = len(Z)
        Z = np.concatenate([Z, near])
        A, values = fit_quadratic(Z[held_out:], weights[held_out:])
        distance = np.median(distance_to_quadratic(A, Z[:held_out]))
        excess = len(Z) - held_out - unknowns + 1
        explained = WIDTH * R / np.sqrt(np.mean(Z**2)) * np.sqrt(excess)  # by the brackets' width
        if values[1] > explained / 2:
            result.reason = ("no linear or quadratic machine: boundary points lie "
                             f"{distance / R:.1g} of the data's scale off the best quadratic in "
                             f"{m} dimensions")
            return None
        keep = np.delete(np.arange(len(Z)), np.s_[far - held_out:far])
        again, _ = fit_quadratic(Z[keep], weights[keep])
        left, singular, noise = relevant_directions(A, again, R)
        rank = max(1, int((singular > 30 * noise).sum()))
        seen = basis @ left[:, :rank]
        if rank < m:  # directions along which the quadratic does not change are not in S_Y
            lift = np.zeros((m + 1, rank + 1))
            lift[:m, :rank], lift[m, rank] = left[:, :rank], 1
            trimmed = lift.T @ A @ lift
            off = distance_to_quadratic(trimmed, X @ seen)
            if np.quantile(off, 0.99) < 1e-2 * CLOSE * R:  # else they still bend the boundary
                A, basis = trimmed, seen
        if result.n_support is None:
            result.singular_values = singular
        result.n_support, result.subspace = rank, seen
        if rank == self.oracle.dimension:
            result.reason = (f"S_Y is the whole space: at least {rank} support vectors; how many, "
                             "a quadratic boundary does not show")
        elif singular[rank - 1] < 1000 * noise[rank - 1]:
            result.reason = (f"S_Y fades into the noise: {rank} directions stand out, weaker ones "
                             "may be hidden")
        else:
            result.reason = ""
        try:
            machine = quasi_support_vectors(A * self._sign(A, basis), R)
        except ArithmeticError as error:
            result.reason = str(error)
            return None
        return KernelMachine(machine.kernel, machine.support_vectors @ basis.T, machine.weights,
                             machine.threshold)

    def _sign(self, A, basis):
        """+1 or -1: with which sign does the quadratic give the labels of the pool?"""
        H = np.c_[self.pool @ basis, np.ones(len(self.pool))]
        return np.sign((np.sign(((H @ A) * H).sum(1)) * self.labels).sum()) or 1.0

    # -- the certificate --------------------------------------------------------------------

    def certify(self, machine):
        """Ask afresh, far from the recovered boundary and close to it; keep what passes."""
        result = self.result
        with self.stage("certificate"):
            result.agreement = certificate(self.oracle, machine, self.cloud(800, self.scale),
                                           CLOSE * self.scale, self.rng, ends=self.near[0])
        if all(agreement >= AGREEMENT for agreement in result.agreement.values()):
            result.kernel_type, result.machine = machine.kernel.name, machine
            return True
        result.reason = (f"the {machine.kernel.name} machine that fits best fails the certificate: "
                         + ", ".join(f"{v:.3f} {k}" for k, v in result.agreement.items()))
        return False


def _largest_dimension():
    """The most variables in which a quadratic has at most UNKNOWNS coefficients."""
    return int((np.sqrt(8 * UNKNOWNS + 1) - 3) / 2)
