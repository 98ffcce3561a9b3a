"""How reliable a model's answers are: the rate of wrong ones, and the effect of rounding."""

import numpy as np

from ..oracles.oracle import Oracle
from ..types import Array, LabelOracle, RandomState
from .bracketing import bisect_along
from .normals import random_tangents
from .settings import SETTINGS


def flip_rate(oracle: Oracle, points: Array, random_state: RandomState = 0) -> tuple[float, float]:
    """How many of a model's answers are wrong? The same queries are sent again and again.

    The rarer of the two answers to a query counts as the wrong one.

    Parameters
    ----------
    oracle : Oracle
        Its `noise` plays no part: all answers are taken as they are.
    points : array (n, d)
        Some of them are queried.
    random_state : int or numpy.random.Generator

    Returns
    -------
    low, high : floats
        The ends of the 90% confidence interval [Clopper and Pearson 1934]; both 0.0 where no
        answer was contradicted, which takes 3,000 queries of a deterministic model.

    Examples
    --------
    >>> from decon import Oracle
    >>> rng, points = np.random.default_rng(0), np.ones((60, 2))
    >>> oracle = Oracle(lambda X: (X[:, 0] > 0) ^ (rng.random(len(X)) < .01), 2)
    >>> low, high = flip_rate(oracle, points)
    >>> low < .01 < high, high < .02
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    points = rng.permutation(points)[:SETTINGS.repeated_points]

    # the same queries again and again, until the answers have contradicted each other enough
    positive, repeated = np.zeros(len(points), int), 0
    for again in SETTINGS.repetitions:
        labels = oracle.at_noise(np.tile(points, (again, 1)), 0).reshape(again, len(points))
        positive += (labels > 0).sum(0)
        repeated += again
        wrong = int(np.minimum(positive, repeated - positive).sum())
        if wrong >= SETTINGS.enough_contradictions:
            break
    if wrong == 0:
        return 0.0, 0.0

    # the exact interval of Clopper and Pearson (eq-misbehave-clopper)
    from scipy.stats import binomtest  # slow to import, and needed here alone

    interval = binomtest(wrong, repeated * len(points)).proportion_ci(SETTINGS.confidence)
    return float(interval.low), float(interval.high)


def noise_floor(oracle: LabelOracle, X: Array, V: Array, scale: float,
                random_state: RandomState = 0, step: float = SETTINGS.noise_step) -> Array:
    """How far does the model's rounding displace its boundary? The noise of its brackets.

    The boundary's heights over equal steps along a line vary smoothly, so that over small steps
    their fourth differences are noise alone, with 8! / 4!^2 = 70 times the variance of one height
    [More and Wild 2011]. Heights are bracketed to the last bit, and show a
    model's rounding whether its labels flicker near the boundary or its boundary is a staircase.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +.
    scale : float
        The data's, in the units of the points.
    random_state : int or numpy.random.Generator
    step : float
        Between neighbouring heights, in units of the scale.

    Returns
    -------
    noise : array (s,)
        The standard deviation of a height, in units of the scale; NaN where the boundary was not
        met. About 1e-15 for a model that computes in double precision, 1e-8 to 1e-7 in single.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X.astype(np.float32).sum(axis=1) > 1, dimension=2)
    >>> noise = noise_floor(oracle, np.array([[.5, .5]]), np.array([[1., 0.]]), scale=1.)
    >>> bool(1e-9 < noise[0] < 1e-7)
    True
    """
    # equal steps along a random line at right angles to the bracket
    n, step = SETTINGS.noise_heights, step * scale
    U = random_tangents(V, step, random_state)
    starts = (X[:, None] + np.arange(n)[:, None] * U[:, None]).reshape(-1, X.shape[1])

    # heights to the last bit, and their fourth differences (prop-misbehave-differences)
    heights = bisect_along(oracle, starts, np.repeat(V, n, axis=0), 0.0, step, 1e-15 * scale,
                           1000 * step).reshape(-1, n) / scale
    return np.sqrt(np.mean(np.diff(heights, 4, axis=1) ** 2, axis=1) / 70)
