"""The search behind `deconstruct`: from the first label to a certified machine, stage by stage."""

from contextlib import contextmanager

import numpy as np
from tqdm import tqdm

from .bracketing import boundary_points
from .certificate import certificate
from .cubic import cubic_machine, fit_cubic
from .kernels import Linear
from .machine import KernelMachine
from .normals import slope_normals
from .polynomial import fit_quadratic, quasi_support_vectors
from .pool import Pool
from .slices import WIDTH, Reading, Slice
from .subspace import crosses_straight, sharpen, span_of_normals

# All lengths are in units of the reach, which is R0, the root mean square norm of the features
# given, or more where the boundary is almost flat.
DELTA, DELTA_WIDTH = 1e-6, 1e-12  # step and bracket of a normal's slopes
CHORDS, BEND, FARTHEST = 5, 0.1, 1e11  # flat: most chords miss the boundary by less than BEND
CLOSE = 1e-5  # the certificate asks this close to the recovered boundary (in units of R0)
AGREEMENT = 0.999  # and must find at least this agreement there, and far from it
GAP = 8.0  # smallest ratio of singular values that counts as a gap
OWN = 1e-10  # support vectors that reproduce the boundary this closely are the box's own
CUBIC_SLICE = 2  # the dimension of the slice in which quadratic and cubic are told apart
UNKNOWNS = 6000  # most coefficients that are fitted in one null vector


class Search:
    """One run of `deconstruct`: the oracle, the pool of labelled points, the growing result."""

    def __init__(self, oracle, rng, result, progress):
        self.oracle, self.rng, self.result = oracle, rng, result
        self.is_cubic = False  # does the boundary look cubic in a slice?
        self.own = False  # are the support vectors found the box's own?
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
        self.first_points()
        flat = self.find_reach()
        if not flat and self.accept(self.quadratic()):
            return
        if self.reach > self.scale and self.result.agreement:  # far points did not do: near ones?
            far, self.reach = self.reach, self.scale
            if self.accept(self.quadratic()):
                return
            self.reach = far
        reason, result.reason = result.reason, ""
        self.find_subspace()
        if self.accept(self.linear() if flat else self.cubic()):
            return
        result.reason = "; ".join(filter(None, [reason, result.reason]))

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
            labels = self.oracle(features)
            if abs(labels.sum()) == len(features):
                only = "+1" if labels[0] > 0 else "-1"
                raise ValueError(f"all {len(features)} features got the label {only}: give a few "
                                 "points of the other label too")
            self.reach = self.scale
            self.pool = Pool(self.oracle, features, labels, self.rng)
            self.pool.add_cloud(self.cloud(60), rarest=20, coarse=1e-3 * self.scale)

    def cloud(self, n):
        """n points: a third near the features, the others at about 1 and 3 times the scale."""
        near = self.features[self.rng.integers(len(self.features), size=n)]
        radius = np.resize([0.5, 1.0, 3.0], n)[:, None]
        steps = self.rng.standard_normal((n, self.oracle.dimension))
        steps *= self.scale * radius / np.sqrt(self.oracle.dimension)
        return np.where(radius < 1, near, 0) + steps

    def boundary(self, P, N):
        """The boundary points between the rows of P and of N, and the brackets' directions."""
        return boundary_points(self.oracle, P, N, WIDTH * self.reach)

    def first_points(self):
        """A few boundary points; with the first of them, the ends of the segment it is on."""
        P, N = self.pool.pairs(2 * CHORDS)
        with self.stage("boundary"):
            self.ahead = self.boundary(P, N)
        self.result.points = self.ahead[0]
        self.ends = np.array([P[0], N[0]]), np.array([1, -1], np.int8)

    def find_reach(self):
        """How far out is the boundary curved? True where it is flat as far as one can see.

        Chords between boundary points are drawn out to R0, 8 R0, 64 R0, ...; the reach is where
        most of them have left the boundary. Nearer, it is a plane n.x = c to the eye, and all
        quadratics (n.x - c)(l.x + 1) look alike.
        """
        X, V = self.ahead
        U = X[1::2] - X[::2]
        length = np.linalg.norm(U, axis=1, keepdims=True)
        X, V, U = X[::2], V[::2], U / np.where(length > 0, length, 1)
        bent, reach, first = np.zeros(len(X), bool), self.scale, None
        while reach < FARTHEST * self.scale and bent.mean() < 0.5:
            ends, aside = X + reach * U, BEND * reach * V
            with self.stage("boundary"):
                bent |= (self.oracle(ends + aside) < 0) | (self.oracle(ends - aside) > 0)
            first = reach if bent.any() and first is None else first
            self.reach, reach = reach, 8 * reach
        if bent.mean() < 0.5:  # never most of them: where the first did, or nowhere
            self.reach = first or self.scale
        return first is None

    # -- the kernel subspace, from normals ----------------------------------------------------

    def find_subspace(self):
        """Add normals until they span no more than before, then sharpen their span.

        Wherever their singular values show a gap, the boundary is asked whether it is straight
        across the directions before it.
        """
        d, R, result = self.oracle.dimension, self.reach, self.result
        if d == 1:
            return
        limit = d + 3
        X, V, N = np.empty((0, d)), np.empty((0, d)), np.empty((0, d))
        pool, ahead = self.pool, self.ahead  # points whose normals are not measured yet
        if R > self.scale:
            pool, ahead = Pool(self.oracle, *self.ends, self.rng), (X, V)
            with self.stage("features"):
                pool.add_cloud(R / self.scale * self.cloud(60), 20, 1e-3 * R)
        pairs = list(pool.pairs(3 * limit + 4))
        while len(pairs[0]) and len(N) < limit:
            batch = max(1, len(N) // 6)
            more = max(0, batch + 4 - len(ahead[0]))
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
            for k in gaps if len(N) > 1 else [1]:
                with self.stage("subspace"):
                    basis = self.complete(left[:, :k], X, V, N, ahead) if k < d else None
                if basis is not None:
                    result.subspace, result.n_support = basis, int(k)
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
        if self.result.n_support is None:
            return None
        n = self.result.subspace[:, 0]
        offsets = self.result.points @ n
        if self.result.n_support > 1 or np.ptp(offsets) > 1e-6 * self.scale:
            self.result.reason = ("no linear machine: the boundary is flat from afar, but no plane "
                                  "close by")
            return None
        n = n * np.sign((self.result.normals @ n).sum())
        return KernelMachine(Linear(), [n], [1.0], (self.result.points @ n).mean())

    def quadratic(self):
        """Quadratics in slices of growing dimension, until a slice has more than their rank."""
        d, R = self.oracle.dimension, self.reach
        if d == 1:
            return self.on_a_line()
        plane = Slice(self.oracle, self.ahead[0][0], *self.ends[0], R, np.sqrt(R / self.scale),
                      self.rng)
        s = 2
        while True:
            if _unknowns(s) > UNKNOWNS:
                self.result.reason = (f"a quadratic in a slice of {s} dimensions has "
                                      f"{_unknowns(s)} coefficients, more than the {UNKNOWNS} "
                                      "this version fits")
                return None
            for effort in range(3):  # more points, further out, where the rank is not clear
                with self.stage("slices"):
                    plane.grow(s, int((1.05 + 0.1 * effort) * _unknowns(s)) + 15, 3.0**effort)
                self.result.points = plane.points
                seen = plane.read()
                if seen.residual > 0.5:
                    self.is_cubic = s == CUBIC_SLICE and plane.residual(
                        fit_cubic(plane.Z)[1], 10) < 0.5
                    self.result.reason = (
                        f"no linear or quadratic machine: in a slice of {s} dimensions, boundary "
                        f"points lie {seen.distance / R:.1g} of the data's scale off the best "
                        "quadratic")
                    return None
                if seen.rank == s or seen.clear:
                    break
            m = seen.U.shape[1]
            if s == d:
                return self.quadratic_machine(seen, plane.P @ seen.U, plane.x0)
            weak = s < m + 3 and seen.singular_values[m - 1] < 1e-4 * seen.singular_values[0]
            grown, fits = s + s // 2, _unknowns(d) <= UNKNOWNS
            if m < s and not weak:  # the slice shows m: complete S_Y, or is all of R^d cheaper?
                if not fits or (m + 3) * (d - s) < _unknowns(d) - _unknowns(s):
                    with self.stage("subspace"):
                        T = plane.extend(seen)
                    if T is not None:
                        return self.quadratic_machine(seen, T, plane.x0)
                grown = d if fits else grown
            s = d if 1.2 * grown >= d else grown

    def quadratic_machine(self, seen, T, x0):
        """The machine sign(q(T^T (x - x0))), where q is what a slice has shown."""
        result, rank = self.result, seen.rank
        result.singular_values, result.n_support = seen.singular_values, rank
        result.subspace = np.linalg.qr(T[:, :rank])[0]
        if rank == self.oracle.dimension:
            result.reason = (f"S_Y is the whole space: at least {rank} support vectors; how many, "
                             "a quadratic boundary does not show")
        elif not seen.clear:
            result.reason = (f"S_Y fades into the noise: {rank} directions stand out, weaker ones "
                             "may be hidden")
        shift = np.eye(len(seen.A))
        shift[:-1, -1] = -x0 @ T
        A = shift.T @ seen.A @ shift
        if np.linalg.norm(A[:-1, -1]) < 1e-7 * self.scale * np.linalg.norm(A[:-1, :-1]):
            A[:-1, -1] = A[-1, :-1] = 0  # centred at the origin, as far as we can see: coef0 = 0
        H = np.c_[self.pool.points @ T, np.ones(len(self.pool.points))]
        agree = (np.sign(((H @ A) * H).sum(1)) * self.pool.labels).sum()
        try:
            machine = quasi_support_vectors(A if agree >= 0 else -A, self.reach)
        except ArithmeticError as error:
            result.reason = str(error)
            return None
        return KernelMachine(machine.kernel, machine.support_vectors @ T.T, machine.weights,
                             machine.threshold)

    def cubic(self):
        """A cubic on S_Y through boundary points, and the box's own support vectors from it."""
        result, R = self.result, self.reach
        d = self.oracle.dimension
        U = np.eye(d) if result.subspace is None else result.subspace
        m = U.shape[1]
        unknowns = (m + 1) * (m + 2) * (m + 3) // 6
        if d == 1 or not self.is_cubic:
            return None
        if unknowns > UNKNOWNS:
            result.reason = (f"a cubic in {m} dimensions, whose {unknowns} coefficients are more "
                             f"than the {UNKNOWNS} this version fits")
            return None
        x0 = self.ahead[0][0]
        p, q = x0 + (self.ends[0] - x0) @ U @ U.T  # what is orthogonal to S_Y does not matter
        plane = Slice(self.oracle, x0, p, q, R, np.sqrt(R / self.scale), self.rng, frame=U)
        with self.stage("polynomial"):
            plane.grow(m, int(1.05 * unknowns) + 15, 1.0)
        T, values = fit_cubic(plane.Z, plane.weights)
        if plane.residual(values, unknowns) > 0.5:
            result.reason = f"no cubic machine: a slice looks cubic, but not all {m} dimensions"
            return None
        H = np.c_[(self.pool.points - x0) @ U, np.ones(len(self.pool.points))]
        psi = np.einsum("ijk,ni,nj,nk->n", T, H, H, H, optimize=True)
        sign = 1 if np.sign(psi) @ self.pool.labels >= 0 else -1
        try:
            machine = cubic_machine(sign * T, x0 @ U, R)
        except ArithmeticError as error:
            result.reason = str(error)
            return None
        vectors = machine.support_vectors @ U.T
        result.subspace = np.linalg.qr(vectors.T)[0]
        machine = KernelMachine(machine.kernel, vectors, machine.weights, 0.0)
        machine.threshold = float(machine.decision_function(self.ahead[0]).mean())  # near R0
        X = plane.points
        off = np.abs(machine.decision_function(X)) / np.linalg.norm(machine.gradient(X), axis=1)
        self.own = bool(np.median(off) < OWN * R)
        result.n_support = len(machine.weights)
        result.reason = "" if self.own else ("the cubic is a sum of cubes only nearly: some "
                                             "support vectors are too much alike to tell apart")
        return machine

    def on_a_line(self):
        """d = 1: one crossing is a linear machine, two are a quadratic one."""
        with self.stage("boundary"):
            self.pool.add_cloud(self.cloud(400), rarest=20, coarse=1e-3 * self.scale)
            X, V = self.boundary(*self.pool.neighbours())
        self.result.points = X
        if len(X) > 2:
            self.result.reason = f"no linear or quadratic machine: {len(X)} crossings on a line"
            return None
        self.result.n_support, self.result.subspace = 1, np.eye(1)
        if len(X) == 1:
            return KernelMachine(Linear(), V, [1.0], X[0] @ V[0])
        A, _ = fit_quadratic(X)
        return self.quadratic_machine(Reading(A, np.eye(1), 1, True, np.ones(1), 0.0, 0.0),
                                      np.eye(1), np.zeros(1))

    # -- the certificate --------------------------------------------------------------------

    def accept(self, machine):
        """Is it the box? Ask afresh, far from the recovered boundary and close to it."""
        if machine is None:
            return False
        result = self.result
        with self.stage("certificate"):
            result.agreement = certificate(self.oracle, machine, self.cloud(800),
                                           CLOSE * self.scale, self.rng, ends=self.pool.points)
        if all(agreement >= AGREEMENT for agreement in result.agreement.values()):
            result.kernel_type, result.machine = machine.kernel.name, machine
            result.exact = self.own
            return True
        result.reason = (f"the {machine.kernel.name} machine that fits best fails the certificate: "
                         + ", ".join(f"{v:.3f} {k}" for k, v in result.agreement.items()))
        result.subspace, result.n_support, result.singular_values = None, None, np.empty(0)
        return False


def _unknowns(s):
    """The number of coefficients of a quadratic in s variables."""
    return (s + 1) * (s + 2) // 2
