"""The hypotheses of the search: each is a machine that fits the box, or None with the reason."""

import numpy as np

from .cubic import machine_of_forms, quasi_cubes, sum_of_cubes, without_threshold
from .gaussian import gaussian_machine
from .infinity import further_normals, rough_weights, unit_normals
from .kernels import Linear
from .machine import KernelMachine
from .oracle import Oracle
from .planes import PlaneByPlane, frame_of
from .polish import OwnCoordinates
from .polynomial import evaluate, fit_polynomial, misfit, quasi_support_vectors
from .slices import Reading, Slice
from .tanh import rough_units, sharp_units, tanh_machine, with_common_bias, without_misses

MANY = 10  # from so many support vectors on, a cubic costs less plane by plane than as a whole
ROUGH = 1e-9  # width of the brackets in planes, if that is enough (of the scale of the curves):
NEAR, TRIES = 0.03, 2  # if the machine they show is nowhere farther off; reference lines tried
CLEAR = 100  # a null vector is clear if the second smallest singular value is so much larger
FAINT = 1e-4  # support vectors with a larger relative error are not called the box's own
ALIKE = ("the cubic is a sum of cubes only nearly: some support vectors are too much alike, or too "
         "faint, to be told apart")
TWO = "the box's own vectors may be others: in two dimensions any form of degree three is two cubes"
DEPENDENT = "a sum of more cubes than dimensions: the vectors found need not be the box's own"
WALLED = "within bounds the vectors are not measured finely enough to be called the box's own"
SINGLE = 4  # a machine that misses its points by more widths may have taken two vectors for one
CLOSER = 0.01  # of the certificate's distance: farther off, a sum of cubes is not the cubic
ATTEMPTS = 2  # at a tanh machine
UNKNOWNS = 6000  # most coefficients that are fitted in one null vector


def linear(search):
    """One direction: is the boundary a single plane n.x = offset?"""
    if search.result.n_support is None:
        return None
    n = search.result.subspace[:, 0]
    offsets = search.result.points @ n
    if search.result.n_support > 1 or np.ptp(offsets) > 100 * search.precision.miss * search.scale:
        search.result.reason = ("no linear machine: the boundary is flat from afar, but no plane "
                              "close by")
        return None
    n = n * np.sign((search.result.normals @ n).sum())
    return KernelMachine(Linear(), [n], [1.0], (search.result.points @ n).mean())


def quadratic(search):
    """Quadratics in slices of growing dimension, until a slice has more than their rank."""
    d, R = search.oracle.dimension, search.reach
    if d == 1:
        return _on_a_line(search)
    plane = Slice(search.oracle, search.ahead[0][0], *search.ends[0], R, np.sqrt(R / search.scale),
                  search.rng, precision=search.precision)
    s = 2
    while True:
        if _unknowns(s) > UNKNOWNS:
            search.result.reason = (f"a quadratic in a slice of {s} dimensions has "
                                  f"{_unknowns(s)} coefficients, more than the {UNKNOWNS} "
                                  "this version fits")
            return None
        for effort in range(3):  # more points, further out, where the rank is not clear
            with search.stage("slices"):
                plane.grow(s, int((1.05 + 0.1 * effort) * _unknowns(s)) + 15, 3.0**effort)
            search.result.points = plane.points
            seen = plane.read()
            if seen.residual > 0.5:
                search.result.reason = (
                    f"no linear or quadratic machine: in a slice of {s} dimensions, boundary "
                    f"points lie {seen.distance / R:.1g} of the data's scale off the best "
                    "quadratic")
                return None
            if seen.rank == s or seen.clear:
                break
        m = seen.U.shape[1]
        if s == d:
            return _quadratic_machine(search, seen, plane.P @ seen.U, plane.x0)
        weak = s < m + 3 and seen.singular_values[m - 1] < 1e-4 * seen.singular_values[0]
        grown, fits = s + s // 2, _unknowns(d) <= UNKNOWNS
        if m < s and not weak:  # the slice shows m: complete S_Y, or is all of R^d cheaper?
            if not fits or seen.clear and (m + 3) * (d - s) < _unknowns(d) - _unknowns(s):
                with search.stage("subspace"):
                    T = plane.extend(seen)
                if T is not None:
                    return _quadratic_machine(search, *_refit(search, plane, seen, T), plane.x0)
            grown = d if fits else grown
        s = d if 1.2 * grown >= d else grown


def _refit(search, plane, seen, T):
    """Where brackets are coarse, the quadratic afresh from points in all directions of S_Y."""
    if not search.precision.coarse:
        return seen, T
    x0, U = plane.x0, np.linalg.qr(T)[0]
    inner = Slice(search.oracle, x0, *(x0 + (plane.ends - x0) @ U @ U.T), plane.reach,
                  plane.anchor, search.rng, U, search.precision)
    with search.stage("slices"):
        inner.grow(U.shape[1], int(1.05 * _unknowns(U.shape[1])) + 15, 1.0)
    again = inner.read()
    return (again, U @ again.U) if again.residual < 0.5 else (seen, T)


def _quadratic_machine(search, seen, T, x0):
    """The machine sign(q(T^T (x - x0))), where q is what a slice has shown."""
    result, rank = search.result, seen.rank
    result.singular_values, result.n_support = seen.singular_values, rank
    result.subspace = np.linalg.qr(T[:, :rank])[0]
    if rank == search.oracle.dimension:
        result.reason = (f"S_Y is the whole space: at least {rank} support vectors; how many, "
                         "a quadratic boundary does not show")
    elif not seen.clear:
        result.reason = (f"S_Y fades into the noise: {rank} directions stand out, weaker ones "
                         "may be hidden")
    shift = np.eye(len(seen.A))
    shift[:-1, -1] = -x0 @ T
    A = shift.T @ seen.A @ shift
    faint = 10 * search.precision.miss * search.scale
    if np.linalg.norm(A[:-1, -1]) < faint * np.linalg.norm(A[:-1, :-1]):
        A[:-1, -1] = A[-1, :-1] = 0  # centred at the origin, as far as we can see: coef0 = 0
    H = np.c_[search.pool.points @ T, np.ones(len(search.pool.points))]
    agree = (np.sign(((H @ A) * H).sum(1)) * search.pool.labels).sum()
    try:
        machine = quasi_support_vectors(A if agree >= 0 else -A, search.reach)
    except ArithmeticError as error:
        result.reason = str(error)
        return None
    return KernelMachine(machine.kernel, machine.support_vectors @ T.T, machine.weights,
                         machine.threshold)


def cubic(search):
    """The cubic machine with the box's own support vectors; or another with the same boundary."""
    result, d = search.result, search.oracle.dimension
    U = np.eye(d) if result.subspace is None else result.subspace
    if d == 1:
        return None
    with search.stage("polynomial"):
        own = _plane_by_plane(search, U)
        machine = _own_machine(search, own) if own else _whole_cubic(search, U)
    if machine is not None:
        X = search.ahead[0]  # near R0
        machine.threshold += float(machine.decision_function(X).mean())
    return machine


def _plane_by_plane(search, U):
    """A cubic machine in its own coordinates, from O(m^2) boundary points; or None."""
    oracle, rng, N = search.oracle, search.rng, search.normals.N
    if not MANY <= U.shape[1] <= len(N) or oracle.bounds is not None or search.precision.coarse:
        return None
    frame = frame_of(U, N, search.reach)
    for k in range(TRIES):
        try:
            planes = PlaneByPlane(oracle, np.roll(search.ahead[0], -k, axis=0), frame, rng)
        except ArithmeticError:
            continue
        for width in (ROUGH, search.width):
            try:
                own = planes.machine(width)
            except ArithmeticError:
                continue
            if np.quantile(own.distances(planes.points()), 0.99) < NEAR:
                own, done = own.polish(oracle, search.width, rng)
                if done and np.median(own.distances(planes.points())) < 10 * ROUGH:
                    return own
    return None


def _own_machine(search, own):
    """The machine of own coordinates, corrected outside S_Y as well; sets S_Y and m."""
    result, R = search.result, search.reach
    A, h, threshold = own.forms()
    missing, single = own.outside(search.oracle, R, search.width, search.rng)
    A, h = A + missing, h - missing @ own.x0
    machine = machine_of_forms(A, h, threshold, R, faint=max(1e-8, 100 * search.width))
    search.own, result.reason = single, "" if single else ALIKE
    if len(A) == 2 and machine.kernel.coef0 == 0:
        search.own, result.reason = False, TWO
    result.subspace, result.n_support = np.linalg.qr(A.T)[0], len(A)
    return machine


def _whole_cubic(search, U):
    """All coefficients of a cubic on S_Y, by a null vector, and the sum of cubes that it is."""
    result, R, x0, m = search.result, search.reach, search.ahead[0][0], U.shape[1]
    unknowns = (m + 1) * (m + 2) * (m + 3) // 6
    if unknowns > UNKNOWNS:
        result.reason = (f"a cubic that is no sum of {m} cubes of independent vectors (there are "
                         f"more than {m} support vectors, or dependent ones), and that has "
                         f"{unknowns} coefficients in {m} dimensions, more than the {UNKNOWNS} "
                         "this version fits")
        return None
    p, q = x0 + (search.ends[0] - x0) @ U @ U.T  # what is orthogonal to S_Y does not matter
    plane = Slice(search.oracle, x0, p, q, R, np.sqrt(R / search.scale), search.rng, frame=U,
                  precision=search.precision)
    plane.grow(m, int(1.05 * unknowns) + 15, 1.0)
    T, values = fit_polynomial(plane.Z, 3, plane.weights)
    if misfit(plane.Z, 3, search.width * R, values[1]) > 0.5 or values[0] < CLEAR * values[1]:
        search.refuted = True
        result.reason = (f"no cubic machine: planes look cubic, but not all {m} dimensions"
                         if values[0] > CLEAR * values[1] else
                         "many cubics fit the boundary equally well, so it need not be one")
        return None
    psi, _ = evaluate(T, (search.pool.points - x0) @ U)
    T *= 1 if np.sign(psi) @ search.pool.labels >= 0 else -1
    try:
        return _cubes(search, plane, U, T)
    except ArithmeticError as error:
        result.reason = f"{error}: there are more than {m} support vectors, or dependent ones"
        result.subspace, result.n_support = U, m
        machine = quasi_cubes(T, x0 @ U, R)
        return KernelMachine(machine.kernel, machine.support_vectors @ U.T, machine.weights,
                             machine.threshold)


def _cubes(search, plane, U, T):
    """The cubic T on S_Y as a sum of cubes of support vectors, the box's own if they can be."""
    result, R, x0, m = search.result, search.reach, plane.x0, U.shape[1]
    V, threshold = without_threshold(sum_of_cubes(T, R), R)
    if len(V) == m and not search.bounded:
        try:
            own, done = OwnCoordinates(x0, U, V, threshold).polish(search.oracle, search.width,
                                                                   search.rng)
        except ArithmeticError:
            done = False
        if done:
            return _own_machine(search, own)
    machine = machine_of_forms(V[:, :-1] @ U.T, V[:, -1] - V[:, :-1] @ U.T @ x0, threshold, R)
    X = x0 + plane.Z @ U.T
    off = np.abs(machine.decision_function(X)) / np.linalg.norm(machine.gradient(X), axis=1)
    if np.quantile(off, 0.9) > CLOSER * search.precision.close * search.scale:
        raise ArithmeticError("this cubic is a sum of cubes only nearly")
    result.subspace, result.n_support = U, m
    if len(V) < m:
        result.subspace, result.n_support = np.linalg.qr(machine.support_vectors.T)[0], len(V)
    result.reason = DEPENDENT if len(V) > m else WALLED if search.bounded else ALIKE
    return machine


def tanh(search):
    """A tanh machine on S_Y: directions at infinity, the rest from points nearby."""
    result, R, rng = search.result, search.reach, search.rng
    U = np.eye(search.oracle.dimension) if result.subspace is None else result.subspace
    if U.shape[1] < 2:
        result.reason = "no tanh machine: the boundary consists of parallel planes"
        return None
    inside = Oracle(lambda Z: search.oracle(R * Z @ U.T), U.shape[1], positive=1)
    whole = Oracle(lambda X: search.oracle(R * X), len(U), positive=1)
    for _ in range(ATTEMPTS):  # with other points, from other starts
        try:
            with search.stage("far field"):
                normals, Z, labels = unit_normals(inside, rng)
                weights, threshold = rough_weights(normals, Z, labels)
                if (np.sign(np.sign(Z @ normals.T) @ weights - threshold) != labels).any():
                    normals = further_normals(inside, normals, Z, labels, rng)
                    weights, threshold = rough_weights(normals, Z, labels)
            with search.stage("tanh units"):
                units, error = rough_units(inside, normals, weights, threshold, rng)
                units, Z, width = sharp_units(inside, units, error, rng, search.width)
                units = with_common_bias(units, Z, width)
                units, U = without_misses(whole, units, U, rng)
            break
        except ArithmeticError as error:
            result.reason = str(error)
    else:
        return None
    machine = tanh_machine(units, U, R, search.features.mean(0))
    result.subspace, result.n_support = U, len(machine.weights)
    search.own = result.n_support > 2
    result.reason = "" if search.own else "two tanh units: other pairs have the same boundary"
    return machine


def gaussian(search):
    """A Gaussian machine, from the measuring stick."""
    result, seen = search.result, search.normals
    try:
        with search.stage("measuring stick"):
            machine, rms, doubt = gaussian_machine(
                search.oracle, result.subspace, seen.X, seen.N,
                np.concatenate([search.pool.points, search.cloud(200)]), search.scale,
                search.precision.width, search.rng)
    except ArithmeticError as error:
        result.reason = str(error)
        return None
    result.subspace = np.linalg.qr(machine.support_vectors.T)[0]
    search.own = bool(doubt < FAINT and rms < SINGLE * search.precision.width)
    result.reason = "" if search.own else (
        f"some support vectors are seen so faintly that their relative error may be {doubt:.0e}"
        if doubt >= FAINT else "some support vector may in truth be two, nearly alike")
    return machine


def _on_a_line(search):
    """d = 1: one crossing is a linear machine, two are a quadratic one."""
    with search.stage("boundary"):
        search.pool.add_cloud(search.cloud(400), rarest=20, coarse=1e-3 * search.scale)
        X, V = search.boundary(*search.pool.neighbours())
    search.result.points = X
    if not 1 <= len(X) <= 2:
        search.result.reason = f"no linear or quadratic machine: {len(X)} crossings on a line"
        return None
    search.result.n_support, search.result.subspace = 1, np.eye(1)
    if len(X) == 1:
        return KernelMachine(Linear(), V, [1.0], X[0] @ V[0])
    A, _ = fit_polynomial(X, 2)
    return _quadratic_machine(search, Reading(A, np.eye(1), 1, True, np.ones(1), 0.0, 0.0),
                                  np.eye(1), np.zeros(1))


def _unknowns(s):
    """The number of coefficients of a quadratic in s variables."""
    return (s + 1) * (s + 2) // 2
