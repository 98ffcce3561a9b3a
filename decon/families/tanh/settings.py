"""The constants of this folder."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TanhSettings:
    """How directions are found far away, and how units are fitted nearby.

    Lengths are in units of the curvature scale; where the comment says so, in units of |z|, the
    distance of a point from the origin, or of 1/|a|, the length over which a typical unit goes from
    -1 to +1.
    """

    # far away, where every tanh is saturated
    far_distance: float = 1e4  # from the origin
    normal_step: float = 10.0  # over which the slopes of a hyperplane are measured
    normal_width: float = 8e-3  # of the brackets for that, on a first try
    plane_step: float = 50.0  # from a point of a hyperplane to others,
    plane_points: int = 3  # and how many of them are tested:
    plane_miss: float = 0.03  # the boundary must miss them by less
    plane_sine: float = 1e-3  # of the angle between a hyperplane and its points, from the origin
    segments: int = 4  # in a batch
    idle_batches: int = 60  # without a new normal, before the search ends
    recent_labels: int = 400  # that show roughly what the weights are
    sign_patterns: int = 3000  # tried in search of some that put the model near its threshold
    first_batches: int = 6  # in which most boundary points must lie on known hyperplanes:
    unexplained_share: float = 0.7  # on none of them are too many

    # fits
    longest_step: float = 1.0  # of the logarithm of a length, or of a bias
    least_gain: float = 0.01  # share of the sum of squares: a step that gains less is idle
    damping: float = 1e-2  # of the first step, in normal equations of columns of length 1
    least_damping: float = 1e-15  # of others
    candidates: int = 3000  # random vectors for one unit more,
    improved_candidates: int = 8  # and how many of them are improved
    rounds: int = 3  # in which more is measured, where a fit or a basis is not good enough

    # the rough fit
    radii: tuple[float, ...] = tuple(np.geomspace(3e-3, 3.0, 8))  # where bends are looked for
    points_per_unit: int = 6  # in the first round
    rough_width: float = 1e-3  # |z|: of their brackets, on a first try
    start_lengths: tuple[float, ...] = (16.0, 4.0, 64.0, 1.0, 256.0, 0.25, 1024.0, 4096.0)  # |a|
    restarts: int = 8  # from random lengths and biases
    hidden_restarts: tuple[int, int] = (40, 300)  # with random vectors for units without a normal:
    hidden_work: float = 1e7  # products per step, of all these fits together, within these limits
    smoothings: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.0)  # of the mean |grad f|, in turn
    good_residual: float = 1e-3  # |z|: no other start is needed, on a first try
    finer: float = 0.1  # these two and normal_width on a second try, in units of those on the first
    fair_residual: float = 0.01  # |z|: no more points are needed
    poor_residual: float = 0.2  # |z|: a larger one is no fit

    # the fine fit
    width: float = 1e-12  # 1/|a|, of brackets
    nearest: float = 0.3  # 1/|a|, of boundary points from the origin
    farthest: float = 10.0  # 1/|a|, the same
    spare_share: float = 1.2  # points per parameter,
    spare_points: int = 10  # and so many more
    held_out_points: int = 20  # that no fit has seen
    fine_smoothings: tuple[float, ...] = (0.3, 0.03, 0.0)  # of the mean |grad f|, in turn
    largest_residual: float = 3.0  # widths of brackets, in the root mean square
    largest_held_out: float = 30.0  # widths of brackets, in the median
    more_units: int = 3  # than dimensions and normals, at most
    cheap_fit: float = 1e9  # products per step; of a larger fit with a new unit one start is tried,
    largest_fit: float = 5e9  # products per step; a larger fit needs a good start, and no new unit

    # the machine
    least_bias: float = 1e-2  # a smaller one, known roughly, may be 0
    bias_spread: float = 1e-3  # units whose biases differ by more have no common one
    weak_unit: float = 1e-3  # weight over the largest, below which a bias may be off by as much
    long_step: float = 1e3  # 1/|a|, out of S_Y
    span_miss: float = 3e-8  # of the boundary after a long step, as a share of the step
    share_met: float = 0.9  # of the boundary points met so far, by a machine that is not sharpened
    dependent: float = 1e-6  # singular value over the largest, of vectors that count as dependent


SETTINGS = TanhSettings()
