"""The held-out agreement test: does a machine answer like the model, far and close?"""

from typing import Any

import numpy as np

from ..boundary.bracketing import boundary_points
from ..boundary.pairs import pn_pairs
from ..types import Array, LabelOracle, RandomState


def agreement_test(oracle: LabelOracle, machine: Any, points: Array, distance: float | Array,
                   random_state: RandomState = 0, ends: Array | None = None) -> dict[str, float]:
    """Agreement of a machine with fresh labels of the model, 'far' and 'close'.

    Far: at half of the given points, but for those so near the recovered boundary that rounding may
    decide their labels: nearer than `distance`. Close: on both sides of boundary points of the
    recovered machine, `distance` away along its gradient in units of `distance`; these boundary
    points lie on segments between given points and cost no queries. A displaced boundary scores one
    half, because the model gives both sides the same label. Where the machine lacks a component of
    the model's boundary, the test notices it only if one of its points shows it.

    Parameters
    ----------
    oracle : LabelOracle
    machine : object
        With `predict` and `gradient`, as a KernelMachine has them.
    points : array (n, d)
        Spread over the region where the machine is to be trusted, not used to find it.
    distance : float or array (d,)
        How close is close, in the units of the points: for all features, or for each of them.
    random_state : int or numpy.random.Generator
    ends : array (k, d), optional
        More points for segments to begin and end at: some of a label that is rare, say.

    Returns
    -------
    agreement : dict
        'far' and 'close', numbers from 0 to 1; NaN where there is no point to test: 'close' if the
        machine gives all points the same label. A NaN is no agreement. n queries.

    Examples
    --------
    >>> from decon import KernelMachine, Linear, Oracle
    >>> model = KernelMachine(Linear(), [[1., 1.]], [1.], 0.5)
    >>> almost = KernelMachine(Linear(), [[1., 1.]], [1.], 0.5001)
    >>> points = np.random.default_rng(1).standard_normal((1000, 2))
    >>> agreement_test(Oracle(model.predict, 2), almost, points, distance=1e-5)
    {'far': 1.0, 'close': 0.5}
    """
    # far: labels at half of the points, those at the very boundary left out
    unit, half = np.broadcast_to(distance, points.shape[1]), len(points) // 2
    first = points[:half]
    agreement = {"far": clearly_right(machine, first, oracle(first), unit), "close": np.nan}

    # the machine's own boundary points, between points of its two labels (thm-bracketing-crossing)
    ends = points if ends is None else np.concatenate([points, ends])
    predicted = machine.predict(ends)
    if abs(int(predicted.sum())) == len(ends):
        return agreement
    P, N = pn_pairs(ends[predicted > 0], ends[predicted < 0], half // 2, random_state)
    U, _ = boundary_points(lambda U: machine.predict(U * unit), P / unit, N / unit, 1e-3)
    X = U * unit

    # steps above and below; where the machine's gradient is zero, there is no boundary
    normals, steep = normal_steps(machine, X, unit)
    X, normals = X[steep], normals[steep]
    inside = oracle.inside(X + normals) & oracle.inside(X - normals)
    X, normals = X[inside], normals[inside]

    # close: labels on both sides; what they prove, says prop-the-whole-algorithm-certificate
    labels = oracle(np.concatenate([X + normals, X - normals]))
    if len(X):
        right = (labels == np.repeat([1, -1], len(X))).sum()
        agreement["close"] = float(right / (len(labels) + 2 * (~steep).sum()))
    return agreement


def clearly_right(machine: Any, X: Array, labels: Array, unit: Array | float) -> float:
    """The share of labels that a machine gives, where a step of one unit does not change its own.

    Parameters
    ----------
    machine : object
        With `predict` and `gradient`, as a KernelMachine has them.
    X : array (n, d)
    labels : array (n,)
        Of the model.
    unit : float or array (d,)
        The length of a step, for all features or for each of them.

    Returns
    -------
    share : float
        NaN if every point is so near the machine's boundary.
    """
    steps, _ = normal_steps(machine, X, unit)
    clear = machine.predict(X + steps) == machine.predict(X - steps)
    return float((machine.predict(X) == labels)[clear].mean()) if clear.any() else np.nan


def normal_steps(machine: Any, X: Array, unit: Array | float) -> tuple[Array, Array]:
    """Steps of one unit along the gradient, and where there is one; elsewhere they are 0.

    Parameters
    ----------
    machine : object
        With `gradient`, as a KernelMachine has it.
    X : array (n, d)
    unit : float or array (d,)
        The length of a step, for all features or for each of them.

    Returns
    -------
    steps : array (n, d)
    steep : bool array (n,)
    """
    steps = machine.gradient(X) * unit
    lengths = np.linalg.norm(steps, axis=1)
    steep = lengths > 0
    return unit * steps / np.where(steep, lengths, 1)[:, None], steep
