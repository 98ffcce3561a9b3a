"""What is wrong with a box that ends as 'unknown'? Does it contradict itself, is it rounded?"""

import numpy as np
from scipy.stats import beta

from .bracketing import bisect_along, boundary_points
from .precision import DOUBLE, WIDTH, Precision

POINTS = 60  # old questions that are asked again
ROUNDS = 5, 5, 10, 30  # and how often, until the answers have contradicted each other
ENOUGH = 20  # times
CONFIDENCE = 0.95
MOST = 0.2  # a larger share of wrong answers is not voted down unasked
STEP, HEIGHTS = 1e-4, 8  # of the data's scale: over so many such steps a boundary is smooth,
KINKS = 5  # or has kinks, whose "noise" is less by more than this over steps of a tenth
BRACKETS = 12  # boundary points at which the noise of the brackets is measured
DEVIATIONS = 8  # a bracket of this many standard deviations of the noise is not finer than it
COARSEST = 1e-5  # wider brackets than this (of the data's scale) leave m a matter of chance


def remedy_for(search):
    """How to search again: the rate of wrong answers, and the precision. None if that is no help.

    Parameters
    ----------
    search : Search
        One that has found nothing.

    Returns
    -------
    noise, precision : float, Precision
        The upper end of the rate's confidence interval where the box contradicts itself; else
        brackets as wide as the noise of the box, where that is more than double precision's.
    """
    oracle, pool = search.oracle, search.pool
    low, high = flip_rate(oracle, pool.points, search.rng)
    if low > oracle.noise:
        if high < MOST:
            return high, search.precision
        search.result.reason = (f"the box contradicts itself: {100 * low:.0f} to {100 * high:.0f}% "
                                "of its answers are wrong; noise= makes the oracle vote on them")
        return None
    if search.precision != DOUBLE:
        return oracle.noise, search.precision
    if oracle.dimension == 1:
        return None
    X, V = boundary_points(oracle, *pool.pairs(BRACKETS), WIDTH * search.scale)
    noise, closer = (_median(noise_floor(oracle, X, V, search.scale, search.rng, step))
                     for step in (STEP, STEP / 10))
    width = DEVIATIONS * noise
    if width < 10 * WIDTH or closer < noise / KINKS:
        return None
    if width > COARSEST:
        search.result.reason = (f"the box rounds: its boundary is off itself by {noise:.0e} of the "
                                "data's scale or so, too much to tell")
        return None
    return oracle.noise, Precision(width)


def _median(noise):
    """The median of what was measured; 0.0 where nothing was."""
    noise = noise[np.isfinite(noise)]
    return np.median(noise) if len(noise) else 0.0


def flip_rate(oracle, points, random_state=0):
    """How many of a box's answers are wrong? Old questions are asked again and again.

    The rarer of the two answers to a question counts as the wrong one.

    Parameters
    ----------
    oracle : Oracle
        Its `noise` plays no part: all answers are taken as they are.
    points : array (n, d)
    random_state : int or numpy.random.Generator

    Returns
    -------
    low, high : floats
        The ends of the 90% confidence interval [Clopper and Pearson 1934]; both 0.0 where no
        answer was contradicted, in 3,000 and of a deterministic box.

    Examples
    --------
    >>> from decon import Oracle
    >>> rng, points = np.random.default_rng(0), np.ones((60, 2))
    >>> box = Oracle(lambda X: (X[:, 0] > 0) ^ (rng.random(len(X)) < .01), 2)
    >>> low, high = flip_rate(box, points)
    >>> low < .01 < high, high < .02
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    points = points[rng.permutation(len(points))[:POINTS]]
    noise, oracle.noise = oracle.noise, 0
    positive, asked = np.zeros(len(points), int), 0
    try:
        for again in ROUNDS:
            labels = oracle(np.tile(points, (again, 1))).reshape(again, len(points))
            positive += (labels > 0).sum(0)
            asked += again
            wrong = int(np.minimum(positive, asked - positive).sum())
            if wrong >= ENOUGH:
                break
    finally:
        oracle.noise = noise
    if wrong == 0:
        return 0.0, 0.0
    right = asked * len(points) - wrong
    return (float(beta.ppf(1 - CONFIDENCE, wrong, right + 1)),
            float(beta.ppf(CONFIDENCE, wrong + 1, right)))


def noise_floor(oracle, X, V, scale, random_state=0, step=STEP):
    """How far is the boundary off itself, by the rounding of the box? The noise of its brackets.

    The boundary's heights over equal steps along a line are smooth, so that their fourth
    differences over small steps vanish but for noise, which has the variance 8! / 4!^2 = 70 times
    that of one height [More and Wild 2011]. Heights are bracketed to the last bit, and what a box
    rounds shows whether its labels flicker near the boundary or stand in steps.

    Parameters
    ----------
    oracle : Oracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +.
    scale : float
        The data's, in the units of the points.
    random_state : int or numpy.random.Generator
    step : float
        In units of the scale.

    Returns
    -------
    noise : array (s,)
        The standard deviation of a height, in units of the scale; NaN where the boundary was not
        met. About 1e-15 for a box that computes in double precision, 1e-8 to 1e-7 in single.

    Examples
    --------
    >>> from decon import Oracle
    >>> box = Oracle(lambda X: X.astype(np.float32).sum(axis=1) > 1, dimension=2)
    >>> noise = noise_floor(box, np.array([[.5, .5]]), np.array([[1., 0.]]), scale=1.)
    >>> bool(1e-9 < noise[0] < 1e-7)
    True
    """
    rng = np.random.default_rng(random_state)
    U = rng.standard_normal(X.shape)
    U -= (U * V).sum(1, keepdims=True) * V
    step *= scale
    U *= step / np.linalg.norm(U, axis=1, keepdims=True)
    lines = X[:, None] + np.arange(HEIGHTS)[:, None] * U[:, None]
    heights = bisect_along(oracle, lines.reshape(-1, X.shape[1]), np.repeat(V, HEIGHTS, axis=0),
                           0.0, step, 1e-15 * scale, 1000 * step).reshape(-1, HEIGHTS) / scale
    return np.sqrt(np.mean(np.diff(heights, 4, axis=1) ** 2, axis=1) / 70)
