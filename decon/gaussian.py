"""Gaussian machines by the measuring stick: how far out of S_Y does the label flip?"""

from itertools import chain, islice

import numpy as np
from scipy.linalg import qr

from .bracketing import bisect_along
from .exponentials import Exponentials, errors_of_vectors, fit, most_telling
from .kernels import Gaussian
from .machine import KernelMachine
from .normals import orthonormal_complement
from .pencil import sigma_candidates, take_apart, triple_sums
from .subspace import gamma_for

# In units of the reach:
CLOSE = 1e-6  # a pencil has found the machine if its points lie this close to the boundary
TILT = 1e-5  # the stick is expected to be orthogonal to the support vectors up to this
LOW = 0.05  # the stick's lengths are at least about this
LIMITS = 1e-5, 1e-4, 1e-3, 1e-2  # how uncertain the points may be that are added in each round

OWN = 30  # support vectors that reproduce the boundary to so many widths are the box's own
CONTRAST = 0.03  # of a sigma that is worth a try
SIZES = 14  # of pencils, each 0.7 times the one before
SUMMITS = 5  # are tried as centres where the boundary is nowhere far away
CENTRES = 3  # pencils are tried about so many points
SURE = 1e-7  # predicted relative error of the support vectors at which no more points are added
LEAN = 3e-8  # relative error of S_Y from which on it is corrected
EXTRA, HIDDEN = 2, 1e-9  # for that, points more than unknowns; what shows less is left alone


class Stick:
    """A direction u out of S_Y, along which yes and no become a length.

    For z in S_Y where |Psi(z)| > |b|, with b's sign, Psi(z + q u) = exp(-q^2 / 2 sigma^2) Psi(z)
    falls to b at one q > 0, and q^2 = 2 sigma^2 log(Psi(z) / b).

    Parameters
    ----------
    oracle : Oracle
    basis : array (d, m)
        Orthonormal basis of S_Y.
    direction : array (d,)
        Unit vector orthogonal to S_Y.
    inside : +1 or -1
        The label where Psi / b > 1. Far away the label is the other one.
    reach, width : floats
        The unit of all lengths, and the brackets' final width in these units.

    Examples
    --------
    >>> from decon import Gaussian, KernelMachine, Oracle
    >>> box = KernelMachine(Gaussian(2.0), [[1., 0., 0.], [0., 1., 0.]], [1., 1.], 0.5)
    >>> stick = Stick(Oracle(box.predict, 3), np.eye(3)[:, :2], np.eye(3)[2], 1, reach=1.0)
    >>> q = stick.lengths(np.array([[0.5, 0.5], [1., 1.]]), guess=1.0, step=0.5)
    >>> psi = box.decision_function([[0.5, 0.5, 0.], [1., 1., 0.]]) + 0.5
    >>> bool(np.allclose(q**2, 2 * 2.0**2 * np.log(psi / 0.5)))
    True
    """

    def __init__(self, oracle, basis, direction, inside, reach, width=1e-12):
        self.oracle, self.basis, self.direction = oracle, basis, direction
        self.inside, self.reach, self.width = inside, reach, width

    def holds(self, Z):
        """Are all these points of S_Y, (n, m), inside? n queries, or fewer if not."""
        return all((self.oracle(part @ self.basis.T) == self.inside).all()
                   for part in np.array_split(Z, 1 + len(Z) // 16))

    def lengths(self, Z, guess, step, directions=None, width=None):
        """The q at which the label flips, for points inside: arrays (n, m) and (n,) give (n,).

        Other unit vectors than the stick's own may be given, (n, d), and another width.
        """
        U = self.direction if directions is None else directions
        guess = np.maximum(guess, 4 * self.width * self.reach)
        doublings = np.ceil(np.log2(1 + guess / np.minimum(step, guess)))
        step = guess / (2**doublings - 1)  # then a walk inwards ends at q = 0, not beyond
        V = np.broadcast_to(-self.inside * U, (len(Z), len(self.basis)))
        t = bisect_along(self.oracle, Z @ self.basis.T, V, -self.inside * guess, step,
                         (width or self.width) * self.reach, 8 * self.reach)
        return -self.inside * t


def gaussian_machine(oracle, basis, points, normals, cloud, reach, width=1e-12, random_state=0):
    """A Gaussian machine from yes and no: sigma, the support vectors, weights and threshold.

    Parameters
    ----------
    oracle : Oracle
    basis : array (d, m)
        Orthonormal basis of S_Y, m < d.
    points, normals : arrays (s, d)
        Some boundary points and their unit normals, towards the positive side.
    cloud : array (n, d)
        Where the machine is to be known well: the boundary is asked for over such points.
    reach, width : floats
        The data's scale, and the brackets' final width in units of it.
    random_state : int or numpy.random.Generator

    Returns
    -------
    machine : KernelMachine
        Its largest |weight| is 1.
    rms : float
        Root mean square distance of the measured points from its boundary, in units of the reach.
    doubt : float
        The largest relative error of a support vector, estimated from the fit.

    Raises
    ------
    ArithmeticError
        If no Gaussian machine with m support vectors fits.
    """
    rng = np.random.default_rng(random_state)
    across = points - points @ basis @ basis.T
    inside = -int(np.sign((across * normals).sum()))
    out = orthonormal_complement(basis)
    stick = Stick(oracle, basis, _unit(out @ rng.standard_normal(out.shape[1])), inside, reach,
                  width)
    gamma = gamma_for(normals, points, basis)
    Z, means = points @ basis, (points - normals / gamma[:, None]) @ basis
    q = np.linalg.norm(across, axis=1)
    room = q**2 / (np.linalg.norm(means - Z, axis=1) + q)  # q^2 / 2 has the gradient means - Z

    best = np.inf
    order = np.argsort(-room)
    centres = chain(zip(Z[order], q[order], means[order], strict=True), _summits(stick, Z))
    roomy = ((z0, q0, mean, _shifts(stick, z0, rng)) for z0, q0, mean in centres)
    for centre in islice((c for c in roomy if c[3] is not None), CENTRES):
        pencil = _pencil(stick, *centre)
        if pencil is None:
            continue
        surface, X, origin = pencil
        places = np.concatenate([Z, X[:, :-1] * reach + origin[:-1], cloud @ basis])
        surface, X, rms, doubt = _widen(stick, surface, X, origin, places, rng)
        if rms < OWN * width:
            machine, also = _machine(stick, surface, X, origin, rms)
            return machine, rms, max(doubt, also)
        best = min(best, rms)
    if best < np.inf:
        raise ArithmeticError(f"no Gaussian machine: boundary points lie {best:.1g} of the data's "
                              f"scale off the best one with {Z.shape[1]} support vectors")
    raise ArithmeticError("no Gaussian machine: there is no sigma for which Psi, as the measuring "
                          f"stick shows it, is a sum of {Z.shape[1]} Gaussians")


def _summits(stick, Z):
    """Points between the points Z where Psi / b is largest: they, q there roughly, again they."""
    middle = Z.mean(0)
    inner = np.concatenate([middle + t * (Z - middle) for t in (0.5, 0.25, 0.1)])
    inner = inner[stick.oracle(inner @ stick.basis.T) == stick.inside]
    q = stick.lengths(inner, np.full(len(inner), stick.reach), stick.reach / 2, width=0.01)
    order = np.argsort(-q)[:SUMMITS]
    yield from zip(inner[order], q[order], inner[order], strict=True)


def _shifts(stick, z0, rng):
    """Shifts, the first of them zero, all of whose sums of three lead from z0 to points inside."""
    m, R = len(z0), stick.reach
    shifts = np.concatenate([np.zeros((1, m)), rng.standard_normal((m, m)) * R / np.sqrt(m)])
    triples, _ = triple_sums(shifts)
    farthest = triples[np.argsort(-np.linalg.norm(shifts[triples].sum(1), axis=1))]
    for size in 0.7 ** np.arange(SIZES):
        if stick.holds(z0 + size * shifts[farthest].sum(1)):
            return size * shifts
    return None


def _pencil(stick, z0, q0, mean, shifts):
    """A pencil of sums about z0: the surface, the measured points and their origin; or None.

    `mean` is where the normal over z0 leads, the kernels' weighted mean of the support vectors.
    """
    m, R = len(z0), stick.reach
    triples, index = triple_sums(shifts)
    sums = shifts[triples].sum(1)
    q = _measure_sums(stick, z0, q0, mean, shifts, triples)
    if not np.isfinite(q).all():
        return None
    origin, X = np.r_[z0, q[0]], np.c_[sums, q - q[0]] / R
    ell = q**2 + (sums**2).sum(1)
    best, surface = CLOSE, None
    for sigma2, contrast in zip(*sigma_candidates(ell, index), strict=True):
        if contrast > CONTRAST:
            break
        try:
            theta, alpha = take_apart(ell - ell[0], index, shifts, sigma2)
        except np.linalg.LinAlgError:
            continue
        tau = R**2 / (2 * sigma2)
        theta = np.c_[R * theta, np.full(m, -2 * tau * q[0] / R)]
        guess = Exponentials(theta, alpha, tau)
        rms = np.sqrt(np.mean(guess.distance(X) ** 2))
        if rms < best:
            best, surface = rms, guess
    return None if surface is None else (surface, X, origin)


def _measure_sums(stick, z0, q0, mean, shifts, triples):
    """The stick's lengths over z0 + s_j + s_k + s_l, each predicted from those before it.

    ell = q^2 + |z - z0|^2 has the gradient 2 (mean - z0) at z0, and depends on the three shifts
    nearly as a sum of terms in which at most two of them appear.
    """
    ell = {}
    step = TILT * stick.reach
    nonzero = (triples > 0).sum(1)
    for level in range(4):
        rows = triples[nonzero == level]
        sums = shifts[rows].sum(1)
        if level == 0:
            guess = np.array([q0**2])
        elif level == 1:
            guess = ell[0, 0, 0] + 2 * sums @ (mean - z0)
            step = 0.01 * stick.reach
        elif level == 2:
            guess = np.array([ell[0, 0, j] + ell[0, 0, k] - ell[0, 0, 0] for _, j, k in rows])
        else:
            guess = np.array([ell[0, i, j] + ell[0, i, k] + ell[0, j, k] - ell[0, 0, i]
                              - ell[0, 0, j] - ell[0, 0, k] + ell[0, 0, 0] for i, j, k in rows])
            step /= 4
        square = (sums**2).sum(1)
        guess = np.sqrt(np.maximum(guess - square, (0.01 * stick.reach) ** 2))
        q = stick.lengths(z0 + sums, guess, step)
        if not np.isfinite(q).all():
            return np.full(len(triples), np.nan)
        ell |= zip(map(tuple, rows), q**2 + square, strict=True)
        step = max(np.sqrt(np.mean((q - guess) ** 2)), 4 * stick.width * stick.reach)
    squares = (shifts[triples].sum(1) ** 2).sum(1)
    return np.sqrt([ell[tuple(row)] for row in triples] - squares)


def _widen(stick, surface, X, origin, places, rng):
    """More points, where they tell most, and the surface fitted to all: it, they, rms, doubt."""
    m, R = len(surface.alpha), stick.reach
    more = (m + 1) ** 2 // 8
    for limit in LIMITS:
        candidates = _over(surface, origin / R, places / R, rng)
        chosen, spread = most_telling(surface, X, candidates, more, limit, stick.width, TILT)
        Z, guess = (chosen[:, :-1] + origin[:-1] / R) * R, chosen[:, -1] * R + origin[-1]
        q = stick.lengths(Z, guess, np.maximum(spread, 4 * stick.width) * R)
        chosen[:, -1] = (q - origin[-1]) / R
        X = np.concatenate([X, chosen[np.isfinite(q)]])
        surface, rms = fit(surface, X, stick.width / 10)
        length = np.linalg.norm(surface.theta / (2 * surface.tau) + origin / R, axis=1)
        doubt = (errors_of_vectors(surface, X, rms) / length).max()
        if doubt < SURE or rms > OWN * stick.width:
            break
    return surface, X, rms, doubt


def _over(surface, origin, places, rng):
    """Points of the surface over and between given places of S_Y, about the origin."""
    a, b = places[rng.integers(len(places), size=(2, 1500))]
    Z = np.concatenate([places, a + rng.uniform(-0.5, 1.5, (len(a), 1)) * (b - a)]) - origin[:-1]
    log_psi = np.log(np.maximum(surface(np.c_[Z, np.full(len(Z), -origin[-1])]) + 1, 1))
    inside = log_psi > surface.tau * LOW**2
    X = np.c_[Z[inside], np.sqrt(log_psi[inside] / surface.tau) - origin[-1]]
    with np.errstate(all="ignore"):  # some get lost
        for _ in range(3):  # the stick leans a little
            X[:, -1] -= surface(X) / surface.gradient(X)[:, -1]
        return X[np.abs(surface.distance(X)) < 1e-9]


def _machine(stick, surface, X, origin, rms):
    """The machine in R^d from the surface in the plane of S_Y and the stick.

    And the largest relative error that the support vectors' leaning out of S_Y adds.
    """
    R = stick.reach
    tau = surface.tau / R**2
    Y = (surface.theta / (2 * surface.tau)) * R + origin
    weights = surface.alpha * np.exp(tau * (((Y - origin) ** 2).sum(1) - Y[:, -1] ** 2))  # at q = 0
    Y, lean = Y[:, :-1], Y[:, -1]
    leans = np.outer(lean, stick.direction)
    out = orthonormal_complement(np.c_[stick.basis, stick.direction])
    length = np.linalg.norm(Y, axis=1)
    doubt = (np.abs(lean) / length).max()
    if out.shape[1] and doubt > LEAN:
        Z = X[:, :-1] * R + origin[:-1]
        c, errors = _lean(stick, Y, weights, tau, Z, lean, out)
        leans += c @ out.T
        doubt = rms * (errors / length).max()
    weights = weights * np.exp(tau * (leans**2).sum(1))
    machine = KernelMachine(Gaussian(float(1 / np.sqrt(2 * tau))), Y @ stick.basis.T + leans,
                            stick.inside * weights, stick.inside)
    return machine.normalised(), doubt


def _lean(stick, Y, weights, tau, Z, lean, out):
    """How far each support vector leans out of S_Y: coordinates in the basis `out`, (m, k).

    And (m,) the error of that, from brackets off by one reach.

    In the plane of S_Y and a column w of `out`, y_i has the w-coordinate c_i, and
    Psi / b = sum_i weights_i exp(-tau (|z - y_i|^2 + q^2 - 2 q c_i)). One bracket over each of m
    and a few z gives the c_i; their z are chosen among Z to be well conditioned. The leans along
    the stick, `lean`, say how far off the first guess will be.
    """
    terms = weights * np.exp(-tau * ((Z[:, None] - Y) ** 2).sum(2))
    inside = terms.sum(1) > 1  # a few may not be, where brackets are coarse
    if inside.sum() < len(weights):
        raise ArithmeticError("no Gaussian machine: the one that fits best has its points outside")
    terms, Z = terms[inside], Z[inside]
    best = qr((terms / terms.sum(1, keepdims=True)).T, mode="r", pivoting=True)[1]
    best = best[: Y.shape[1] + EXTRA]
    terms, Z, k = terms[best], Z[best], out.shape[1]
    total = terms.sum(1)
    guess = np.sqrt(np.log(total) / tau)
    step = np.abs(terms @ lean) / total + 4 * stick.width * stick.reach
    q = stick.lengths(np.tile(Z, (k, 1)), np.tile(guess, k), np.tile(step, k),
                      np.repeat(out.T, len(Z), axis=0)).reshape(k, -1, 1)
    c = np.zeros((k, len(weights)))
    for _ in range(3):
        now = terms * np.exp(tau * (2 * q * c[:, None] - q**2))
        total = now.sum(2)
        good = total > 0  # which also leaves out a lost bracket, a NaN
        total = np.where(good, total, 1)
        slopes = np.where(good[..., None], 2 * tau * q * now / total[..., None], 0)
        inverse = np.linalg.pinv(slopes, rcond=HIDDEN)
        c -= (inverse @ np.log(total)[..., None])[..., 0]
    errors = inverse * 2 * tau * np.nan_to_num(q).transpose(0, 2, 1) * stick.reach
    return c.T, np.sqrt((errors**2).sum((0, 2)))


def _unit(v):
    """The vector of length 1 in the direction of v."""
    return v / np.linalg.norm(v)
