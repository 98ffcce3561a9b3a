"""The kernel machine that tanh units are: one bias for all, vectors in R^d, signs."""

from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from ...boundary.bounds import lies_between
from ...boundary.bracketing import bisect_along
from ...boundary.normals import orthonormal_complement
from ...kernels import Tanh
from ...machine import KernelMachine
from ...types import Array, LabelOracle
from ..protocol import Refuted
from .fine import zeros
from .fitting import fit_units
from .settings import SETTINGS
from .tanh_sum import TanhSum


def with_one_bias(units: TanhSum, rank: int) -> TanhSum | None:
    """Units that are known roughly, with one bias for all: the median, or 0 if that is small.

    Parameters
    ----------
    units : TanhSum
    rank : int
        The dimension of S_Y.

    Returns
    -------
    units : TanhSum or None
        None for two units, whose bias the boundary leaves open, and where some do not show yet.

    Examples
    --------
    >>> units = TanhSum(np.eye(3), np.array([.5, -.51, .49]), np.ones(3), 0.)
    >>> with_one_bias(units, 3).biases, with_one_bias(units, 3).weights
    (array([0.5, 0.5, 0.5]), array([ 1., -1.,  1.]))
    """
    k, turn = len(units.biases), np.where(units.biases < 0, -1, 1)
    if k < max(3, rank):
        return None
    bias = float(np.median(turn * units.biases))
    bias = bias if bias > SETTINGS.least_bias else 0.0
    return TanhSum(turn[:, None] * units.vectors, np.full(k, bias), turn * units.weights,
                   units.threshold)


def tie_biases(units: TanhSum, Z: Array, width: float) -> TanhSum:
    """The same units with one bias for all, as a kernel machine has them.

    A unit w tanh(a.z + beta) is the same as -w tanh(-a.z - beta), so that each may be turned to
    beta >= 0 first. A bias that may as well be 0 is set to 0. The bias of a weak unit is known less
    well, in proportion to its weight. Two units are a special case: their boundary
    w_1 tanh(u_1) + w_2 tanh(u_2) = b is a curve that many pairs of biases share.

    Parameters
    ----------
    units : TanhSum
    Z : array (n, m)
        The boundary points that they were fitted to.
    width : float
        Of the brackets of these points.

    Returns
    -------
    units : TanhSum

    Raises
    ------
    Refuted
        If the biases differ.
    """
    turn, k = np.where(units.biases < 0, -1, 1), len(units.biases)
    A, biases, w = turn[:, None] * units.vectors, turn * units.biases, turn * units.weights
    share = np.abs(w) / np.abs(w).max()  # the bias of a weak unit is known less well
    for bias, how, known in ((0.0, "kept", 1.0), (biases.mean(), "common", 1.0),
                             (np.average(biases, weights=share), "common", share)):
        if k == 2 or (known * np.abs(biases - bias)).max() < SETTINGS.bias_spread:
            start = TanhSum(A, np.full(k, bias), w, units.threshold)
            common, error = fit_units(start, Z, biases=how)
            if error < SETTINGS.largest_residual * width:
                return common
    if k == 2:
        raise Refuted("two tanh units fit the boundary, but none were found with a common bias")
    kind = ("no kernel machine" if share.min() > SETTINGS.weak_unit
            else "or a kernel machine with a unit too weak for its bias to be measured")
    raise Refuted(f"{k} tanh units fit the boundary, but their biases differ (|beta| from "
                  f"{biases.min():.4g} to {biases.max():.4g}): a network, {kind}")


def correct_span(oracle: LabelOracle, units: TanhSum, basis: Array,
                 rng: np.random.Generator) -> tuple[TanhSum, Array]:
    """Units and the basis of their span in R^d, corrected where the basis is not exact.

    A step of length L out of the span, along w, moves the boundary at a point z by a height h with
    sum_i (w_i tanh') (L c_i.w) + |grad f| h = 0, where c_i is the part of a_i that the basis
    misses. A long step shows a small c_i; k points at which the units have different shares of
    the gradient show all of them. Two queries per point tell first whether there is anything to
    correct.

    Parameters
    ----------
    oracle : LabelOracle
        Of dimension d, in the units of length of z.
    units : TanhSum
    basis : array (d, m)
        Orthonormal.
    rng : numpy.random.Generator

    Returns
    -------
    units, basis : TanhSum and array (d, m)
        The same objects where there is nothing to correct.
    """
    scale, k, m = units.scale, len(units.weights), basis.shape[1]
    L = SETTINGS.long_step * scale
    for _ in range(SETTINGS.rounds if len(basis) > m else 0):
        W = orthonormal_complement(basis)

        # k zeros at which the units' shares of the gradient differ most (QR with pivots)
        Z, V = zeros(units, 100 * k, SETTINGS.width * scale, rng, 10 * SETTINGS.farthest)
        steep = np.linalg.norm(units.gradient(Z), axis=1, keepdims=True)
        shares = units.weights * units.slopes(Z) / steep
        effects = scale * shares * np.linalg.norm(units.vectors, axis=1)
        r, rows = qr(effects.T, mode="r", pivoting=True)
        strength, rows = np.abs(np.diag(r)), rows[:k]
        X, V, shares = Z[rows] @ basis.T, V[rows] @ basis.T, shares[rows]

        # is the boundary where it was, after a long random step?
        w = W @ rng.standard_normal(W.shape[1])
        miss = SETTINGS.span_miss * L * strength[:, None] * V
        if lies_between(oracle, X + L * w / np.linalg.norm(w), miss).all():
            break

        # its heights after steps along all directions out of the span
        x, v = np.repeat([X, V], W.shape[1], axis=1)
        x += L * np.tile(W.T, (k, 1))
        h = bisect_along(oracle, x, v, 0.0, 10 * SETTINGS.span_miss * L, 1e-8 * scale, 0.1 * scale)
        if np.isnan(h).any():
            break

        # sum_i share_i c_i.w = -h / L at every point (step 7 of alg-tanh-at-infinity-all)
        try:
            missing = np.linalg.solve(shares, h.reshape(k, -1) / L)
        except np.linalg.LinAlgError:  # a unit without a share
            break
        Y = units.vectors @ basis.T - missing @ W.T
        basis = np.linalg.svd(Y.T, full_matrices=False)[0][:, :m]
        units = replace(units, vectors=Y @ basis)
    return units, basis


def tanh_machine(units: TanhSum, basis: Array, scale: float, towards: Array) -> KernelMachine:
    """The kernel machine of units with a common bias beta: kernel tanh(x.y + beta).

    The labels show alpha y_i, not alpha. They leave signs open as well: of all (alpha y_i, beta,
    w_i) together, and of each on its own if beta = 0. The vectors are turned `towards` a
    direction.

    Parameters
    ----------
    units : TanhSum
    basis : array (d, m)
        x = scale basis z.
    scale : float
    towards : array (d,)
        The mean of the features, say.

    Returns
    -------
    KernelMachine
        The largest |weight| is 1.

    Examples
    --------
    >>> units = TanhSum(np.array([[-2., 0.], [0., 1.]]), np.zeros(2), np.array([1., .5]), 0.)
    >>> machine = tanh_machine(units, np.eye(3)[:, :2], 1.0, towards=np.ones(3))
    >>> machine.support_vectors + 0., machine.weights
    (array([[2., 0., 0.],
           [0., 1., 0.]]), array([-1. ,  0.5]))
    """
    Y, bias = units.vectors @ basis.T / scale, units.biases[0]
    side = Y @ towards / np.linalg.norm(Y, axis=1)
    turn = np.where((side if bias == 0 else np.full(len(Y), side.sum())) < 0, -1, 1)
    machine = KernelMachine(Tanh(1.0, float(turn[0] * bias) + 0.0), turn[:, None] * Y,
                            turn * units.weights, units.threshold)
    return machine.normalised()
