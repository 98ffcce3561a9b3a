"""The search behind `deconstruct`: from the first label to a certified machine, stage by stage."""

from contextlib import contextmanager

import numpy as np
from tqdm import tqdm

from . import hypotheses
from .bracketing import boundary_points
from .certificate import certificate
from .kernel_type import curve_points, goes_straight_on, same_label_far_away
from .polynomial import misfit
from .pool import Pool
from .slices import WIDTH
from .spanning import Spanning

# All lengths are in units of the reach, which is R0, the root mean square norm of the features
# given, or more where the boundary is almost flat.
CHORDS, BEND, FARTHEST = 5, 0.1, 1e11  # flat: most chords miss the boundary by less than BEND
CLOSE = 1e-5  # the certificate asks this close to the recovered boundary (in units of R0)
AGREEMENT = 0.999  # and must find at least this agreement there, and far from it
PLANES, CURVE = 4, 18  # a degree shows in so many planes, and in so many points of each
FAR, STEP = 1e5, 3e-4  # far away a tanh is flat, as far as a step aside; nearby it is curved
BATCH = 16, 6  # normals come in such parts of their number; to look for Type B is dear
FLAT = 0.5  # the share of flat points that makes a boundary flat


class Search:
    """One run of `deconstruct`: the oracle, the pool of labelled points, the growing result."""

    def __init__(self, oracle, rng, result, progress):
        self.oracle, self.rng, self.result = oracle, rng, result
        self.refuted = False  # has a machine been found that fits best, and is wrong?
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
        oracle, result = self.oracle, self.result
        self.label_features(features)
        self.first_points()
        flat = self.find_reach()
        if not flat and self.accept(hypotheses.quadratic(self)):
            return
        if self.reach > self.scale and self.result.agreement:  # far points did not do: near ones?
            far, self.reach = self.reach, self.scale
            if self.accept(hypotheses.quadratic(self)):
                return
            self.reach = far
        if oracle.dimension == 1:
            return
        reasons, result.reason = [result.reason], ""
        if flat:
            self.find_subspace()
            if self.accept(hypotheses.linear(self)):
                return
        else:
            with self.stage("kernel type"):
                degree = self.degree_in_planes()
                far = degree != 2 and same_label_far_away(oracle, FAR * self.scale,
                                                          random_state=self.rng)
                degree = None if far else degree  # a cubic has both labels far away
            straight = self.find_subspace(turning=far)
            if self.accept(hypotheses.cubic(self) if degree == 3 else None):
                return
            if self.name_without_machine(degree, straight):
                reasons = reasons if degree == 2 else []
        result.reason = "; ".join(filter(None, [*reasons, result.reason]))

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

    def cloud(self, n, radii=(0.5, 1.0, 3.0)):
        """n points: a third near the features, the others at about 1 and 3 times the scale."""
        near = self.features[self.rng.integers(len(self.features), size=n)]
        radius = np.resize(radii, n)[:, None]
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

    # -- the kernel subspace and the kernel, where no machine tells them ----------------------

    def find_subspace(self, turning=False):
        """Add normals until they show S_Y. True for Type A: the boundary is straight across it.

        With `turning`, Type B is looked for as well.
        """
        d, R, result = self.oracle.dimension, self.reach, self.result
        if d == 1:
            return None
        if turning:
            R = self.scale  # such a boundary ends somewhere
        pool, ahead = self.pool, self.ahead  # points whose normals are not measured yet
        if R > self.scale:
            pool, ahead = Pool(self.oracle, *self.ends, self.rng), np.empty((2, 0, d))
            with self.stage("features"):
                pool.add_cloud(R / self.scale * self.cloud(60, (1.0, 3.0)), 20, 1e-3 * R)
        normals = self.normals = Spanning(self.oracle, pool, ahead, R, self.rng, self.stage)
        basis = straight = None
        while basis is None and len(normals.N) < 2 * d + 10:
            if len(normals.N) >= d + 3 and not turning and normals.values[-1] > 1e-3:
                break  # these normals do span R^d
            if not normals.grow(max(1, len(normals.N) // BATCH[bool(turning)])):
                break
            basis = normals.straight()
            straight = basis is not None
            if turning and not straight:
                basis = normals.turning()
                if basis is not None and normals.almost_straight(basis):
                    result.reason = "the boundary is almost straight across S_Y, but not quite"
                    return None
            result.points, result.normals = normals.X, normals.N
            result.singular_values = normals.values
        if basis is not None:
            result.subspace, result.n_support = basis, basis.shape[1]
            return straight
        if len(normals.N) < 2:
            result.reason = ("no normals could be measured: the boundary is not smooth at a scale "
                             "of a millionth of the data's")
        else:
            result.reason = (f"{len(normals.N)} normals show no subspace across which the boundary "
                             "is straight" + turning * ", nor one about which it can be turned"
                             + f": {d - turning} or more support vectors, or no machine of ours")
        return None

    def degree_in_planes(self):
        """The degree, 2 or 3, that the boundary shows in every one of a few planes; or None."""
        R, degrees = self.reach, {2}
        for x, v in list(zip(*self.ahead, strict=True))[:PLANES]:
            plane = np.linalg.qr(np.c_[v, self.rng.standard_normal(len(x))])[0]
            for radius in (3 * R, R, self.scale):
                Z = curve_points(self.oracle, x, plane, CURVE, radius, WIDTH * radius, self.rng)
                if len(Z):
                    break
            fits = [D for D in (2, 3) if len(Z) and misfit(Z, D, WIDTH * radius) < 0.5]
            if not fits:
                return None
            degrees.add(fits[0])
        return max(degrees)

    def name_without_machine(self, degree, straight):
        """Name the kernel of a box of which S_Y alone is known; False where it is none of ours."""
        result = self.result
        if straight is None or degree and self.refuted:
            return False
        with self.stage("kernel type"):
            again = np.resize(np.arange(len(self.pool.points)), 300)
            if (self.oracle(self.pool.points[again]) != self.pool.labels[again]).any():
                result.reason = "the box contradicts itself: the same point gets both labels"
                return False
            if degree:
                name = {2: "quadratic", 3: "cubic"}[degree]
            elif not straight:
                name = "gaussian"
            else:
                if all(self.is_flat(R, *self.pool.pairs(20)) for R in {self.scale, self.reach}):
                    result.reason = "the boundary is made of flat pieces"
                    return False
                flat = self.flat_far_away()
                if flat is None:
                    result.reason = ("the boundary is straight across S_Y and has an end: perhaps "
                                     "a Gaussian machine with threshold 0")
                    return False
                if not flat:
                    result.reason = "no polynomial of degree 1 to 3, and curved far away: no tanh"
                    return False
                name = "tanh"
        result.kernel_type, result.agreement = name, {}
        result.reason = result.reason or f"{name} by its shape: the machine is not recovered"
        return True

    def flat_far_away(self):
        """Is the boundary flat far away inside S_Y, as a tanh's is? None: it ends before."""
        r, result = FAR * self.reach, self.result
        z = self.rng.standard_normal((40, result.n_support)) @ result.subspace.T
        z *= r / np.linalg.norm(z, axis=1, keepdims=True)
        pool = Pool(self.oracle, z, self.oracle(z), self.rng)
        if abs(int(pool.labels.sum())) == len(z):
            return None
        return self.is_flat(r, *pool.pairs(8))

    def is_flat(self, R, P, N):
        """Is the boundary between the rows of P and of N flat nearly everywhere, at a scale R?"""
        X, V = boundary_points(self.oracle, P, N, WIDTH * R)
        return goes_straight_on(self.oracle, X, V, STEP * R, WIDTH * R, self.rng).mean() > FLAT

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
        self.refuted = True
        result.reason = (f"the {machine.kernel.name} machine that fits best fails the certificate: "
                         + ", ".join(f"{v:.3f} {k}" for k, v in result.agreement.items()))
        result.subspace, result.n_support, result.singular_values = None, None, np.empty(0)
        return False
