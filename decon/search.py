"""The search behind `deconstruct`: from the first label to a certified machine, stage by stage."""

from contextlib import contextmanager
from math import comb

import numpy as np
from tqdm import tqdm

from . import hypotheses
from .bracketing import boundary_points, lies_between, stay_inside, wall_distance
from .certificate import certificate
from .kernel_type import curve_points, goes_straight_on, same_label_far_away
from .polynomial import misfit
from .pool import Pool
from .precision import DOUBLE
from .spanning import Spanning
from .subspace import gamma_for, span_of_normals

# All lengths are in units of the reach, which is R0, the root mean square norm of the features
# given, or more where the boundary is almost flat.
CHORDS, BEND, FARTHEST = 5, 0.1, 1e11  # flat: most chords miss the boundary by less than BEND
MIDDLE = 1e-4  # within bounds, the middle of a chord by less than this, in units of the chord
AGREEMENT = 0.999  # the certificate must find at least this, far from the boundary and close to it
PLANES, CURVE = 4, 18  # a degree shows in so many planes, and in so many points of each
FAR = 1e5  # far away a tanh is flat, and a Gaussian has one label only
BATCH = 16, 6  # normals come in such parts of their number; to look for Type B is dear
FLAT = 0.5  # the share of flat points that makes a boundary flat
HUGE = 1e100  # squares and cubes of larger numbers overflow


class Search:
    """One run of `deconstruct`: the oracle, the pool of labelled points, the growing result."""

    def __init__(self, oracle, rng, result, progress, precision=DOUBLE):
        self.oracle, self.rng, self.result = oracle, rng, result
        self.precision = precision
        self.bounded = oracle.bounds is not None
        self.centre = np.mean(oracle.bounds, axis=0) if self.bounded else np.zeros(oracle.dimension)
        self.refuted = False  # has a machine been found that fits best, and is wrong?
        self.own = False  # are the support vectors found the box's own?
        self.bar = tqdm(unit=" queries", delay=3, disable=not progress, leave=False)

    @property
    def width(self):
        """The width of the brackets, in units of the reach."""
        return self.precision.width

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
        if flat and self.bounded:
            if self.find_linear():
                return
            flat = False  # then it is bent, by less than shows at a glance
        if not flat and (self.accept(hypotheses.quadratic(self)) or self.contradicts_itself()):
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
            if self.find_linear():
                return
        else:
            with self.stage("kernel type"):
                degree = self.degree_in_planes()
                far = not self.bounded and degree != 2 and same_label_far_away(
                    oracle, FAR * self.scale, random_state=self.rng)
                degree = None if far else degree  # a cubic has both labels far away
            straight = self.find_subspace(turning=far)
            if self.bounded and straight is None:
                straight = self.find_subspace_inside()
            degree = None if straight is False else degree
            if degree == 3 and straight is None and self.contradicts_itself():
                return  # before all the coefficients of a cubic in R^d are paid for
            shape = None if straight is None or self.bounded else (
                hypotheses.tanh if straight else hypotheses.gaussian)
            if degree == 3 and self.certified(hypotheses.cubic):
                return
            # a faint tanh may look cubic in planes, and then be refuted as one
            if shape and (degree != 3 or self.refuted) and self.certified(shape):
                return
            if self.name_without_machine(degree, straight):
                reasons = reasons if degree == 2 else []
        result.reason = "; ".join(filter(None, [*reasons, result.reason]))

    # -- points -----------------------------------------------------------------------------

    def label_features(self, features):
        """Check the features, ask for their labels, and begin the pool with them."""
        if np.iscomplexobj(features):
            raise ValueError("features must be real numbers, but some are complex")
        features = np.asarray(features, float)
        d = self.oracle.dimension
        if features.ndim != 2 or features.shape[1] != d:
            raise ValueError(f"expected features of shape (k, {d}), got {features.shape}")
        if not np.isfinite(features).all():
            raise ValueError("features must be finite, but some are NaN or infinite")
        self.features = features
        with np.errstate(over="ignore"):
            self.scale = np.linalg.norm(features - self.centre) / np.sqrt(max(1, len(features)))
        if not self.scale < HUGE:
            raise ValueError(f"features have a root mean square norm of {self.scale}, too large to "
                             "be squared: give them in other units")
        if self.scale == 0:
            where = "at the centre of the bounds" if self.bounded else "zero"
            raise ValueError(f"features are all {where} (or there are none): their root mean "
                             "square norm sets the scale of the search, so give typical points")
        self.result.scale = self.scale
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
        steps += np.where(radius < 1, near - self.centre, 0)
        return self.centre + stay_inside(self.oracle, self.centre, steps)

    def between(self, n):
        """n points x_i + t (x_j - x_k) of features, shaped like them however these are scaled."""
        i, j, k = self.rng.integers(len(self.features), size=(3, n))
        steps = self.features[i] - self.centre
        steps += self.rng.uniform(-0.5, 0.5, (n, 1)) * (self.features[j] - self.features[k])
        return self.centre + stay_inside(self.oracle, self.centre, steps)

    def boundary(self, P, N):
        """The boundary points between the rows of P and of N, and the brackets' directions."""
        return boundary_points(self.oracle, P, N, self.width * self.reach)

    def first_points(self):
        """A few boundary points; with the first of them, the ends of the segment it is on."""
        P, N = self.pool.pairs(2 * CHORDS)
        with self.stage("boundary"):
            self.ahead = self.boundary(P, N)
            if self.bounded:
                P, N = self.begin_inside(P, N)
        self.result.points = self.ahead[0]
        self.ends = np.array([P[0], N[0]]), np.array([1, -1], np.int8)

    def begin_inside(self, P, N):
        """The points far from the walls first, the first one's segment as short as its room."""
        X, V = self.ahead
        order = np.argsort(-wall_distance(self.oracle, X))
        self.ahead, P, N = (X[order], V[order]), P[order], N[order]
        half = 0.9 * wall_distance(self.oracle, X[order[:1]])[0]
        while half > 1e-3 * self.scale:
            ends = X[order[0]] + half * V[order[0]] * [[1], [-1]]
            if (self.oracle(ends) == [1, -1]).all():
                return ends[:1], ends[1:]
            half /= 2
        return P, N

    def find_reach(self):
        """How far out is the boundary curved? True where it is flat as far as one can see.

        Chords between boundary points are drawn out to R0, 8 R0, 64 R0, ...; the reach is where
        most of them have left the boundary. Nearer, it is a plane n.x = c to the eye, and all
        quadratics (n.x - c)(l.x + 1) look alike. Within bounds nothing is far out: the middles of
        chords tell, and may be nearer the boundary.
        """
        if self.bounded:
            return self.is_flat_between()
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

    def is_flat_between(self):
        """Do the middles of most chords lie on the boundary?"""
        X, V = self.ahead
        middles, chords = (X[::2] + X[1::2]) / 2, X[::2] - X[1::2]
        aside = MIDDLE * np.linalg.norm(chords, axis=1, keepdims=True) * V[::2]
        with self.stage("boundary"):
            return bool(lies_between(self.oracle, middles, aside).mean() > 0.5)

    # -- the kernel subspace and the kernel, where no machine tells them ----------------------

    def find_linear(self):
        """Is the box a linear machine? Then the result is complete."""
        self.find_subspace()
        return self.accept(hypotheses.linear(self))

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
        normals = self.normals = Spanning(self.oracle, pool, ahead, R, self.rng, self.stage,
                                          self.precision)
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
                             + f": {d - turning} or more support vectors, some too faint to be "
                             "seen, or no machine of ours")
        return None

    def find_subspace_inside(self):
        """S_Y of Type B within bounds. False if it is found, None if not.

        A surface of revolution about S_Y is one about the space through y_1, ..., y_m and any
        further point c too, so that points near c need not be turned out of the box. The lines
        along the normals meet the affine hull of the support vectors, and the places where they do
        span S_Y.
        """
        d, result, c = self.oracle.dimension, self.result, self.ends[0][0]
        R = wall_distance(self.oracle, c[None])[0] * np.sqrt(d) / 3  # leaves room to turn
        view = self.oracle.seen_from(c)
        pool = Pool(view, self.ends[0] - c, self.ends[1], self.rng)
        steps = self.rng.standard_normal((60, d)) * R / np.sqrt(d)
        with self.stage("features"):
            pool.add_cloud(stay_inside(view, np.zeros(d), steps), 20, 1e-3 * R)
        normals = Spanning(view, pool, np.empty((2, 0, d)), R, self.rng, self.stage, self.precision)
        basis = None
        while basis is None and len(normals.N) < 2 * d + 10:
            if not normals.grow(max(1, len(normals.N) // BATCH[True])):
                break
            basis = normals.turning()
        if basis is None or normals.almost_straight(basis):
            return None
        X, N = normals.X, normals.N
        gamma = gamma_for(N, X, basis)
        hull = c + (X - N / gamma[:, None]) @ basis @ basis.T
        result.subspace, result.singular_values = span_of_normals(hull, basis.shape[1])
        result.n_support, result.points, result.normals = basis.shape[1], X + c, N
        return False

    def degree_in_planes(self):
        """The degree, 2 or 3, that the boundary shows in every one of a few planes; or None."""
        R, degrees = self.reach, {2}
        for x, v in list(zip(*self.ahead, strict=True))[:PLANES]:
            plane = np.linalg.qr(np.c_[v, self.rng.standard_normal(len(x))])[0]
            for radius in (3 * R, R, self.scale):
                Z = curve_points(self.oracle, x, plane, CURVE, radius, self.width * radius,
                                 self.rng)
                if len(Z):
                    break
            fits = [D for D in (2, 3) if len(Z) and misfit(Z, D, self.width * radius) < 0.5]
            if not fits:
                return None
            degrees.add(fits[0])
        return max(degrees)

    def name_without_machine(self, degree, straight):
        """Name a box whose polynomial is too large to be fitted after its degree; or say why not.

        True where it has been named.
        """
        result = self.result
        if straight is None or degree and self.refuted or self.contradicts_itself():
            return False
        if degree and comb(result.n_support + degree, degree) <= hypotheses.UNKNOWNS:
            return False  # it was fitted, in vain
        with self.stage("kernel type"):
            if degree:
                result.kernel_type = {2: "quadratic", 3: "cubic"}[degree]
                result.agreement = {}
                result.reason = result.reason or "by its degree: the machine is not recovered"
                return True
            if self.bounded:
                result.reason = (
                    "no polynomial of degree 1 to 3, and straight across S_Y: perhaps a tanh "
                    "machine, whose far field lies beyond the bounds" if straight else
                    "the boundary can be turned about S_Y: perhaps a Gaussian machine, but what it "
                    "does far away lies beyond the bounds")
            elif straight:
                if all(self.is_flat(R, *self.pool.pairs(20)) for R in {self.scale, self.reach}):
                    result.reason = "the boundary is made of flat pieces"
                elif (flat := self.flat_far_away()) is None:
                    result.reason = ("the boundary is straight across S_Y and has an end: perhaps "
                                     "a Gaussian machine with threshold 0, or one that sees a "
                                     "projection of its input only")
                elif flat and self.precision.coarse:
                    return self.name_by_shape("tanh")
            elif self.precision.coarse:
                return self.name_by_shape("gaussian")
        return False

    def name_by_shape(self, name):
        """Name a box whose precision hides the machine, and say that it is no more than a name."""
        result = self.result
        result.kernel_type, result.agreement = name, {}
        result.reason = f"{name} by its shape: the box is not precise enough to show the machine"
        return True

    def contradicts_itself(self):
        """Does the box answer old questions in a new way?"""
        again = np.resize(np.arange(len(self.pool.points)), 300)
        with self.stage("kernel type"):
            labels = self.oracle(self.pool.points[again])
        if (labels == self.pool.labels[again]).all():
            return False
        self.result.reason = "the box contradicts itself: the same point gets both labels"
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
        X, V = boundary_points(self.oracle, P, N, self.width * R)
        straight = goes_straight_on(self.oracle, X, V, self.precision.step * R, self.width * R,
                                    self.rng)
        return straight.mean() > FLAT

    # -- the certificate --------------------------------------------------------------------

    def certified(self, hypothesis):
        """Does a hypothesis give a machine that is accepted? If not, S_Y remains as it was."""
        result = self.result
        found = result.subspace, result.n_support, result.singular_values
        try:
            with np.errstate(all="ignore"):  # boxes of no kind at all lead fits anywhere
                machine = hypothesis(self)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            machine, result.reason = None, f"no {hypothesis.__name__} machine: {error}"
        if self.accept(machine):
            return True
        if result.subspace is None:
            result.subspace, result.n_support, result.singular_values = found
        return False

    def accept(self, machine):
        """Is it the box? Ask afresh, far from the recovered boundary and close to it."""
        if machine is None:
            return False
        result = self.result
        with self.stage("certificate"):
            points = np.concatenate([self.between(200), self.cloud(600)])
            result.agreement = certificate(self.oracle, machine, points,
                                           self.precision.close * self.scale, self.rng,
                                           ends=self.pool.points)
        if all(agreement >= AGREEMENT for agreement in result.agreement.values()):
            result.kernel_type, result.machine = machine.kernel.name, machine
            result.exact = self.own and not self.precision.coarse
            if self.own and not result.exact:
                result.reason = "the box is too coarse to show that the vectors are its own"
            if self.bounded and machine.kernel.name == "cubic" and not self.own \
                    and result.n_support == machine.dimension:
                result.kernel_type = "unknown"
                result.reason = ("the cubic machine is a surrogate: it answers like the box, but "
                                 "within bounds wide Gaussians look cubic, and S_Y does not show")
            return True
        self.refuted = True
        result.reason = (f"the {machine.kernel.name} machine that fits best fails the certificate: "
                         + ", ".join(f"{v:.3f} {k}" for k, v in result.agreement.items()))
        result.subspace, result.n_support, result.singular_values = None, None, np.empty(0)
        return False
