"""The hypotheses of the search: each is a machine that fits the box, or None with the reason."""

import numpy as np

from .cubic import cubic_machine, quasi_cubes
from .kernels import Linear
from .machine import KernelMachine
from .polynomial import evaluate, fit_polynomial, misfit, quasi_support_vectors
from .slices import WIDTH, Reading, Slice

OWN = 1e-10  # support vectors that reproduce the boundary this closely are the box's own
CLEAR = 100  # a null vector is clear if the second smallest singular value is so much larger
UNKNOWNS = 6000  # most coefficients that are fitted in one null vector


def linear(search):
    """One direction: is the boundary a single plane n.x = offset?"""
    if search.result.n_support is None:
        return None
    n = search.result.subspace[:, 0]
    offsets = search.result.points @ n
    if search.result.n_support > 1 or np.ptp(offsets) > 1e-6 * search.scale:
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
                  search.rng)
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
                    return _quadratic_machine(search, seen, T, plane.x0)
            grown = d if fits else grown
        s = d if 1.2 * grown >= d else grown


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
    if np.linalg.norm(A[:-1, -1]) < 1e-7 * search.scale * np.linalg.norm(A[:-1, :-1]):
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
    """A cubic on S_Y through boundary points, and the box's own support vectors from it."""
    result, R = search.result, search.reach
    d = search.oracle.dimension
    U = np.eye(d) if result.subspace is None else result.subspace
    m = U.shape[1]
    unknowns = (m + 1) * (m + 2) * (m + 3) // 6
    if d == 1:
        return None
    if unknowns > UNKNOWNS:
        result.reason = (f"a cubic in {m} dimensions, whose {unknowns} coefficients are more "
                         f"than the {UNKNOWNS} this version fits")
        return None
    x0 = search.ahead[0][0]
    p, q = x0 + (search.ends[0] - x0) @ U @ U.T  # what is orthogonal to S_Y does not matter
    plane = Slice(search.oracle, x0, p, q, R, np.sqrt(R / search.scale), search.rng, frame=U)
    with search.stage("polynomial"):
        plane.grow(m, int(1.05 * unknowns) + 15, 1.0)
    T, values = fit_polynomial(plane.Z, 3, plane.weights)
    if misfit(plane.Z, 3, WIDTH * R, values[1]) > 0.5 or values[0] < CLEAR * values[1]:
        search.refuted = True
        result.reason = (f"no cubic machine: planes look cubic, but not all {m} dimensions"
                         if values[0] > CLEAR * values[1] else
                         "many cubics fit the boundary equally well, so it need not be one")
        return None
    psi, _ = evaluate(T, (search.pool.points - x0) @ U)
    sign = 1 if np.sign(psi) @ search.pool.labels >= 0 else -1
    few, note = True, ("the cubic is a sum of cubes only nearly: some support vectors are too much "
                       "alike to tell apart")
    try:
        machine = cubic_machine(sign * T, x0 @ U, R)
        vectors = machine.support_vectors @ U.T
        result.subspace = np.linalg.qr(vectors.T)[0]
    except ArithmeticError as error:
        few, note = False, f"{error}: there are more than {m} support vectors, or dependent ones"
        machine = quasi_cubes(sign * T, x0 @ U, R)
        vectors, result.subspace = machine.support_vectors @ U.T, U
    machine = KernelMachine(machine.kernel, vectors, machine.weights, 0.0)
    machine.threshold = float(machine.decision_function(search.ahead[0]).mean())  # near R0
    X = plane.points
    off = np.abs(machine.decision_function(X)) / np.linalg.norm(machine.gradient(X), axis=1)
    search.own = few and bool(np.median(off) < OWN * R)
    result.n_support = len(machine.weights) if few else m
    result.reason = "" if search.own else note
    return machine


def _on_a_line(search):
    """d = 1: one crossing is a linear machine, two are a quadratic one."""
    with search.stage("boundary"):
        search.pool.add_cloud(search.cloud(400), rarest=20, coarse=1e-3 * search.scale)
        X, V = search.boundary(*search.pool.neighbours())
    search.result.points = X
    if len(X) > 2:
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
