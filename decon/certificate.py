"""The certificate: does a recovered machine answer like the box, far and close to its boundary?"""

import numpy as np

from .bracketing import boundary_points, pn_pairs
from .oracle import Oracle


def certificate(oracle, machine, points, distance, random_state=0, ends=None):
    """Agreement of a machine with fresh answers of the box, 'far' and 'close'.

    Far: at half of the given points. Close: at boundary points of the recovered machine, found
    without the box on segments between given points, once `distance` above and once below
    along the gradient. A wrong boundary that would pass by eye scores one half there: the box
    gives the same answer on both sides.

    Parameters
    ----------
    oracle : Oracle
    machine : KernelMachine
    points : array (n, d)
        Spread over the region where the machine is to be trusted, not used to find it.
    distance : float
        How close is close, in the units of the points.
    random_state : int or numpy.random.Generator
    ends : array (k, d), optional
        More points for segments to begin and end at: some of a label that is rare, say.

    Returns
    -------
    agreement : dict
        'far' and 'close', numbers from 0 to 1; 'close' is NaN where the machine gives all
        points the same label, and a NaN is no agreement. n queries.

    Examples
    --------
    >>> from decon import KernelMachine, Linear
    >>> box = KernelMachine(Linear(), [[1., 1.]], [1.], 0.5)
    >>> almost = KernelMachine(Linear(), [[1., 1.]], [1.], 0.5001)
    >>> points = np.random.default_rng(1).standard_normal((1000, 2))
    >>> certificate(Oracle(box.predict, 2), almost, points, distance=1e-5)
    {'far': 1.0, 'close': 0.5}
    """
    predicted = machine.predict(points)
    half = len(points) // 2
    agreement = {"far": float((oracle(points[:half]) == predicted[:half]).mean()), "close": np.nan}
    ends = points if ends is None else np.concatenate([points, ends])
    predicted = machine.predict(ends)
    if abs(int(predicted.sum())) < len(ends):
        own = Oracle(machine.predict, oracle.dimension, positive=1)
        P, N = pn_pairs(ends[predicted > 0], ends[predicted < 0], half // 2, random_state)
        X, _ = boundary_points(own, P, N, 1e-3 * distance)
        normals = machine.gradient(X)
        lengths = np.linalg.norm(normals, axis=1)
        steep = lengths > 0  # where it rises nowhere, a machine has no boundary to agree with
        X, normals = X[steep], distance * normals[steep] / lengths[steep, None]
        inside = oracle.inside(X + normals) & oracle.inside(X - normals)
        X, normals = X[inside], normals[inside]
        labels = oracle(np.concatenate([X + normals, X - normals]))
        if len(X):
            right = (labels == np.repeat([1, -1], len(X))).sum()
            agreement["close"] = float(right / (len(labels) + 2 * (~steep).sum()))
    return agreement
