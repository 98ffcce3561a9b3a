"""Gaussian machines from the radial probe: sigma, support vectors, weights and threshold."""

from itertools import islice

import numpy as np
from scipy.linalg import qr

from ...boundary.normals import orthonormal_complement
from ...kernels import Gaussian
from ...machine import KernelMachine
from ...subspaces.finder import Subspace
from ...subspaces.multipliers import multipliers_for
from ...types import Array, LabelOracle, RandomState
from ..protocol import Refuted
from .exponentials import Exponentials, d_optimal_points, fit_exponentials, support_vector_errors
from .pencil import sigma_candidates, solve_pencil, triple_sums
from .radial_probe import RadialProbe
from .separation import least_separation
from .settings import SETTINGS


def rough_gaussian(oracle: LabelOracle, subspace: Subspace, direction: Array, scale: float,
                   width: float, random_state: RandomState = 0) -> KernelMachine:
    """A Gaussian machine near the model, from the first pencil, and more points if it takes them.

    Parameters
    ----------
    oracle, subspace, scale, width, random_state
        As for `gaussian_machine`; S_Y may be rough, but for the directions of the span of its basis
        and the direction given.
    direction : array (d,)
        Out of S_Y, for the probe.

    Returns
    -------
    machine : KernelMachine

    Raises
    ------
    Refuted
        If no pencil shows one.
    """
    rng = np.random.default_rng(random_state)
    probe, starts, Z = _starts(oracle, subspace, direction, scale, width, rng)
    reason = Refuted("no Gaussian machine: the label flips close to S_Y everywhere")
    for start in starts:
        try:
            surface, X, origin = _first_surface(probe, *start)
            surface, rms = fit_exponentials(surface, X, width / 10)

            # vectors that these points leave wide open would lead the sharpening astray
            if _largest_error(surface, X, origin / scale, rms) > SETTINGS.rough_vectors:
                places = np.concatenate([Z, X[:, :-1] * scale + origin[:-1]])
                surface, _, origin, *_ = _fitted_farther_out(probe, surface, X, origin, places, rng,
                                                             SETTINGS.rough_vectors)
            Y, weights, tau = _on_subspace(probe, surface, origin)
            return _in_space(probe, Y[:, :-1] @ subspace.basis.T, weights, tau)
        except Refuted as refuted:
            reason = refuted
    raise reason


def gaussian_machine(oracle: LabelOracle, subspace: Subspace, cloud: Array, scale: float,
                     width: float = 1e-12, random_state: RandomState = 0,
                     direction: Array | None = None) -> tuple[KernelMachine, float, float, float]:
    """A Gaussian machine from labels: sigma, the support vectors, weights and threshold.

    Parameters
    ----------
    oracle : LabelOracle
    subspace : Subspace
        S_Y, of a dimension m < d, with some boundary points and their unit normals.
    cloud : array (n, d)
        Where the machine is to be known well: the boundary is measured over such points.
    scale : float, positive
        The size of the data.
    width : float, positive
        The brackets' final width, in units of the scale.
    random_state : int, numpy.random.Generator or None
    direction : array (d,), optional
        A vector orthogonal to S_Y, for the probe. S_Y need then be exact only within the span of
        its basis and this vector. Left out, a random one.

    Returns
    -------
    machine : KernelMachine
        Its largest |weight| is 1.
    rms : float
        Root mean square distance of the measured points from its boundary, in units of the scale.
    error : float
        The largest relative error of a support vector, estimated from the fit.
    separation : float
        The distance, relative to its length, from which on a further vector beside a found one
        would have shown; see `least_separation`.

    Raises
    ------
    Refuted
        If no Gaussian machine with m support vectors fits.
    """
    rng = np.random.default_rng(random_state)
    rough = direction is not None
    if direction is None:
        out = orthonormal_complement(subspace.basis)
        direction = out @ rng.standard_normal(out.shape[1])
    probe, starts, Z = _starts(oracle, subspace, direction, scale, width, rng)

    # a pencil, more points and a fit about the first centres that have room, until they agree
    # (steps 2 to 5 of alg-gaussian-measuring-stick)
    reason = Refuted("no Gaussian machine: the label flips close to S_Y everywhere")
    for start in starts:
        try:
            surface, X, origin = _first_surface(probe, *start)
            places = np.concatenate([Z, X[:, :-1] * scale + origin[:-1], cloud @ subspace.basis])
            # with a rough S_Y the tilts take many brackets anyway, and all of them rest on this fit
            enough = 0.0 if rough else SETTINGS.accurate_vectors
            fitted = _fitted_farther_out(probe, surface, X, origin, places, rng, enough)
            return _machine(probe, *fitted, rough=rough)
        except Refuted as refuted:
            reason = refuted
    raise reason


def _starts(oracle, subspace, direction, scale, width, rng):
    """A probe, where pencils may be tried, and the projections z of the boundary points."""
    # boundary points lie across S_Y from their projections z; normals lead inwards or outwards
    basis, points, normals = subspace.basis, subspace.points, subspace.normals
    Z = points @ basis
    across = points - Z @ basis.T
    inside = -int(np.sign((across * normals).sum()))

    # a probe out of S_Y
    out = direction - basis @ (direction @ basis)
    probe = RadialProbe(oracle, basis, out / np.linalg.norm(out), inside, scale, width)

    # q is known at every z; q^2 / 2 has the gradient mu - z (eq-gaussian-measuring-stick-shift),
    # where the normal leads to mu (eq-gaussian-subspace-corrected): most room is where q^2 falls to
    # 0 last; if there is not enough, it may be between the z
    q = np.linalg.norm(across, axis=1)
    means = (points - normals / multipliers_for(normals, points, basis)[:, None]) @ basis
    order = np.argsort(-(q**2) / (np.linalg.norm(means - Z, axis=1) + q))
    between = ((z, scale, z) for z in Z.mean(0) + (Z - Z.mean(0)) / 4)
    centres = [*zip(Z[order], q[order], means[order], strict=True), *between]
    starts = ((*centre, _inner_shifts(probe, centre[0], rng)) for centre in centres)
    return probe, islice((s for s in starts if s[-1] is not None), SETTINGS.pencils), Z


def _inner_shifts(probe, z0, rng):
    """Shifts, the first of them zero, all of whose sums of three lead from z0 to points inside.

    None if even the smallest shifts that are tried lead outside.
    """
    # random shifts; the farthest sums are the likeliest to be outside, and come first
    m, sizes = len(z0), 0.7 ** np.arange(SETTINGS.shift_sizes)
    shifts = np.vstack([0 * z0, rng.standard_normal((m, m)) * probe.scale / np.sqrt(m)])
    sums = shifts[triple_sums(shifts)[0]].sum(1)
    sums = sums[np.argsort(-np.linalg.norm(sums, axis=1))]

    # smaller and smaller ones, until all sums are inside
    return next((size * shifts for size in sizes if probe.all_inside(z0 + size * sums)), None)


def _first_surface(probe, z0, q0, mean, shifts):
    """The surface that the pencil of sums about z0 shows, the measured points, and their origin.

    Surface and points are in coordinates ((z, q) - origin) / scale.
    """
    # distances over all sums of three shifts; ell is 2 sigma^2 log of a sum of exponentials
    # (eq-gaussian-measuring-stick-G)
    R, (triples, index) = probe.scale, triple_sums(shifts)
    sums = shifts[triples].sum(1)
    q = probe.distances_over_sums(z0, q0, mean, shifts, triples)
    ell = q**2 + (sums**2).sum(1)
    origin, X = np.r_[z0, q[0]], np.c_[sums, q - q[0]] / R

    # the sigma whose surface goes through the points best (thm-gaussian-measuring-stick-sigma)
    candidates, contrast = sigma_candidates(ell, index)
    best, surface = SETTINGS.pencil_misfit, None
    for sigma2 in candidates[contrast <= SETTINGS.largest_contrast]:
        theta, alpha = solve_pencil(ell - ell[0], index, shifts, sigma2)
        tau = R**2 / (2 * sigma2)
        trial = Exponentials(np.c_[R * theta, np.full(len(z0), -2 * tau * q[0] / R)], alpha, tau)
        rms = np.sqrt(np.mean(trial.distance(X) ** 2))
        if rms < best:
            best, surface = rms, trial
    if surface is None:
        raise Refuted(f"no Gaussian machine: no sigma makes Psi a sum of {len(z0)} Gaussians")
    return surface, X, origin


def _fitted_farther_out(probe, surface, X, origin, places, rng, enough):
    """The surface fitted to more points, over places of S_Y, farther out round by round.

    It ends when the largest relative error of a support vector is below `enough`. Returns the
    surface, all points, their origin, their root mean square distance from the surface, that error,
    and the largest relative `least_separation`.
    """
    n, R = (len(surface.alpha) + 1) ** 2 // 8, probe.scale
    for limit in SETTINGS.uncertainties:
        # measure the points that tell most (prop-gaussian-measuring-stick-telling), from where the
        # surface has them
        over = _points_over(surface, origin / R, places / R, rng)
        chosen, spread = d_optimal_points(surface, X, over, n, limit, probe.width, SETTINGS.tilt)
        Z, guess = (chosen[:, :-1] + origin[:-1] / R) * R, chosen[:, -1] * R + origin[-1]
        q = probe.distances(Z, guess, np.maximum(spread, 4 * probe.width) * R)
        chosen[:, -1] = (q - origin[-1]) / R
        X = np.concatenate([X, chosen[np.isfinite(q)]])

        # fit the surface to all points (eq-gaussian-measuring-stick-surface)
        surface, rms = fit_exponentials(surface, X, probe.width / 10)
        if not rms < SETTINGS.machine_misfit * probe.width:
            raise Refuted(f"no Gaussian machine: the best one is {rms:.1g} of the data's scale off")
        error = _largest_error(surface, X, origin / R, rms)
        if error < enough:
            break

    # how near would another vector have shown?
    Y = surface.theta / (2 * surface.tau)
    lengths = np.linalg.norm(Y + origin / R, axis=1)
    log_weights = np.log(np.abs(surface.alpha)) + surface.tau * (Y**2).sum(1)
    slopes = np.linalg.norm(surface.gradient(X), axis=1)
    apart = least_separation(surface.jacobian(X), X, Y, surface.terms(X), log_weights, surface.tau,
                             slopes, probe.width)
    return surface, X, origin, rms, error, (apart / lengths).max()


def _largest_error(surface, X, origin, rms):
    """The largest relative error of a support vector, estimated; all in units of the scale."""
    lengths = np.linalg.norm(surface.theta / (2 * surface.tau) + origin, axis=1)
    return (support_vector_errors(surface, X, rms) / lengths).max()


def _points_over(surface, origin, places, rng):
    """Points of the surface over and between given places of S_Y; all in units of the scale."""
    # places inside, and log Psi / b there
    a, b = places[rng.integers(len(places), size=(2, 1500))]
    Z = np.concatenate([places, a + rng.uniform(-0.5, 1.5, (len(a), 1)) * (b - a)]) - origin[:-1]
    log_psi = np.log(np.maximum(surface(np.c_[Z, np.full(len(Z), -origin[-1])]) + 1, 1))
    inside = log_psi > surface.tau * SETTINGS.least_room**2

    # q^2 = 2 sigma^2 log Psi / b (eq-gaussian-measuring-stick-q), corrected by Newton's method:
    # vectors tilt along the probe
    X = np.c_[Z[inside], np.sqrt(log_psi[inside] / surface.tau) - origin[-1]]
    for _ in range(3):
        X[:, -1] -= surface(X) / surface.gradient(X)[:, -1]
    return X[np.abs(surface.distance(X)) < 1e-9]  # some get lost


def _on_subspace(probe, surface, origin):
    """The vectors in the plane of S_Y and the probe, their weights on S_Y, and 1 / (2 sigma^2)."""
    # weights where q = 0 (prop-gaussian-measuring-stick-lean)
    R, tau = probe.scale, surface.tau / probe.scale**2
    Y = surface.theta / (2 * surface.tau) * R + origin
    weights = surface.alpha * np.exp(tau * (((Y - origin) ** 2).sum(1) - Y[:, -1] ** 2))
    return Y, weights, tau


def _in_space(probe, Y, weights, tau):
    """The machine of vectors in R^d and their weights, divided by the threshold."""
    if not (np.isfinite(weights).all() and np.isfinite(Y).all()):
        raise Refuted("no Gaussian machine: its weights are too large for a number")
    return KernelMachine(Gaussian(float(1 / np.sqrt(2 * tau))), Y, probe.inside * weights,
                         probe.inside).normalised()


def _machine(probe, surface, X, origin, rms, error, separation, *, rough):
    """The machine in R^d; rms; the larger of the error and what tilt adds to it; separation."""
    R, (Y, weights, tau) = probe.scale, _on_subspace(probe, surface, origin)
    Y, along = Y[:, :-1], Y[:, -1]
    lengths = np.linalg.norm(Y, axis=1)

    # their tilt out of S_Y, along the probe, and where that is not negligible, along all others
    tilts, tilt_error = np.outer(along, probe.direction), (np.abs(along) / lengths).max()
    out = orthonormal_complement(np.c_[probe.basis, probe.direction])
    if out.shape[1] and (rough or tilt_error > SETTINGS.least_tilt):
        others, errors = _tilts(probe, Y, weights, tau, X[:, :-1] * R + origin[:-1], along, out,
                                rough)
        tilts += others @ out.T
        tilt_error = rms * (errors / lengths).max()

    # on S_Y a tilted vector's weight is smaller than its own by a factor
    # (prop-gaussian-measuring-stick-lean)
    machine = _in_space(probe, Y @ probe.basis.T + tilts,
                        weights * np.exp(tau * (tilts**2).sum(1)), tau)
    return machine, rms, max(error, tilt_error), float(separation)


def _tilts(probe, Y, weights, tau, Z, along, out, rough=False):
    """The support vectors' coordinates in directions out of S_Y and the probe, and their errors.

    In the plane of S_Y and a column w of `out`, y_i has the w-coordinate c_i, and
    Psi / b = sum_i weights_i exp(-tau (|z - y_i|^2 + q^2 - 2 q c_i)). One distance along w over
    each of m and a few z gives the c_i, by Newton's method.

    Parameters
    ----------
    probe : RadialProbe
    Y : array (m, m)
        The support vectors, in coordinates of the probe's basis.
    weights : array (m,)
        Of the machine on S_Y, divided by its threshold b.
    tau : float
        1 / (2 sigma^2).
    Z : array (n, m)
        Points of S_Y to choose from; a few of them may be outside.
    along : array (m,)
        The coordinates along the probe: the others will be about as large.
    out : array (d, k)
        Orthonormal, orthogonal to the basis and the probe.
    rough : bool
        Whether S_Y is rough: the other coordinates may then be much larger than these.

    Returns
    -------
    tilts : array (m, k)
    errors : array (m,)
        What errors of one scale in all distances would add up to in each support vector; infinite,
        where they do not show the tilts in some direction.
    """
    # m + 2 points inside at which the shares of Psi differ most, by QR with column pivoting
    terms = weights * np.exp(-tau * ((Z[:, None] - Y) ** 2).sum(2))
    psi = terms.sum(1, keepdims=True)
    shares = np.where(psi > 1, terms / psi, 0)
    best = qr(shares.T, mode="r", pivoting=True)[1][:len(Y) + 2]
    terms, Z, k = terms[best], Z[best], out.shape[1]

    # distances along the columns of `out`, from those without any tilt
    # (eq-gaussian-measuring-stick-q)
    psi = np.maximum(terms.sum(1), 1)
    guess = np.sqrt(np.log(psi) / tau)
    step = np.abs(terms @ along) / psi + 4 * probe.width * probe.scale
    if rough:
        step += SETTINGS.rough_tilt * probe.scale
    if not (np.isfinite(guess).all() and np.isfinite(step).all()):
        raise Refuted("no Gaussian machine: its weights are too large for a number")
    measure = _predicted_distances if rough else _distances
    q = measure(probe, Z, guess, step, out.T)[..., None]

    # Newton's method for Psi / b = 1 where the distance was met, every equation divided by the size
    # of its row: rows are large where kernels nearly cancel
    c, change = np.zeros((k, len(Y))), np.zeros((k, len(Y)))
    for _ in range(SETTINGS.newton_steps):
        rows, off = _off_boundary(terms, tau, q, c)
        size = np.linalg.norm(rows, axis=2, keepdims=True)
        size[size == 0] = 1
        inverse = np.linalg.pinv(rows / size, SETTINGS.hidden_tilt) / size.transpose(0, 2, 1)
        change = (inverse @ off)[..., 0]
        c -= change
        if np.abs(change).max() < SETTINGS.least_change * probe.scale:
            break

    # log Psi / b changes by 2 tau q times an error of q; some tilts may be hidden, or not found
    errors = inverse * 2 * tau * np.nan_to_num(q).transpose(0, 2, 1) * probe.scale
    hidden = np.linalg.matrix_rank(rows / size, rtol=SETTINGS.hidden_tilt) < len(Y)
    astray = np.abs(change).max(1) > SETTINGS.largest_change * probe.scale
    errors[hidden | astray] = np.inf
    return c.T, np.sqrt((errors**2).sum((0, 2)))


def _off_boundary(terms, tau, q, c):
    """How far Psi / b is from 1 after tilts c, (k, n, 1), and the derivatives by c, (k, n, m).

    Where Psi / b is above 1/2, its logarithm, which grows as slowly as tilts do; elsewhere a linear
    function of it, as it may be close to 0 or negative. Zero where the boundary was not met, or
    terms of Psi overflow, or nearly.
    """
    with np.errstate(all="ignore"):
        now = terms * np.exp(tau * (2 * q * c[:, None] - q**2))
        psi = now.sum(2, keepdims=True)
        off = np.where(psi > 1 / 2, np.log(psi), 2 * psi - 1 - np.log(2))
        largest = np.abs(now).max(2, keepdims=True)
        met, above = np.isfinite(q) & (largest < SETTINGS.largest_term), np.maximum(psi, 1 / 2)
        return np.where(met, 2 * tau * q * now / above, 0), np.where(met, off, 0)


def _distances(probe, Z, guess, step, directions):
    """The distances q over n points of S_Y along each of k directions: (k, n)."""
    (k, _), n = directions.shape, len(Z)
    q = probe.distances(np.tile(Z, (k, 1)), np.tile(guess, k), np.tile(step, k),
                        np.repeat(directions, n, axis=0))
    return q.reshape(k, n)


def _predicted_distances(probe, Z, guess, step, directions):
    """The same; after the first few directions, each is predicted from those along the same one.

    By how much a distance differs from its guess depends, to first order, on the coordinates of the
    vectors in its direction. These are taken to be distributed alike in all directions: so the
    first ones show the covariance R^T R of the n distances along any other.
    """
    n = len(Z)
    some = max(SETTINGS.first_tilts, 2 * n)
    first, rest = _distances(probe, Z, guess, step, directions[:some]), directions[some:]
    R = np.linalg.qr(np.nan_to_num(first - guess) / np.sqrt(len(first)), mode="r")

    # point by point: the distances differ from their guesses by z R, z ~ N(0, I), and each of them
    # shows one more component of z
    q, z = np.empty((2, len(rest), n))
    for j in range(n if len(rest) else 0):
        predicted = guess[j] + z[:, :j] @ R[:j, j]
        size = max(SETTINGS.predicted * abs(R[j, j]), 4 * probe.width * probe.scale)
        q[:, j] = probe.distances(np.tile(Z[j], (len(rest), 1)), predicted,
                                  np.full(len(rest), size), rest)
        shown = np.nan_to_num((q[:, j] - predicted) / (R[j, j] or 1.0))
        z[:, j] = np.clip(shown, -SETTINGS.most_shown, SETTINGS.most_shown)
    return np.concatenate([first, q])
