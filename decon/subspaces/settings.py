"""The constants of this folder. Lengths are in units of the scale at which the boundary is seen."""

from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class SubspaceSettings:
    """How S_Y is sought among normals, tested and refined."""

    # gaps in the singular values: a rank is a candidate where the ratio at it is larger
    cylinder_gap: float = 8.0  # of normals
    revolution_gap: float = 4.0  # of corrected normals
    coarse_revolution_gap: float = 2.5  # where brackets are coarse
    steady_angle: float = 0.03  # (radians) between subspaces of few normals and of some more,
    largest_angle_error: float = 0.1  # and how far off it may be, to be worth a try
    spare_normals: int = 4  # more than dimensions
    weak_value: float = 1e-3  # singular value of a direction that is easily lost in a correction
    cylinder_noise: float = 100.0  # roots of the brackets' width, by which normals may be off,
    revolution_noise: float = 1e3  # and corrected normals

    # multipliers of radial kernels
    multiplier_steps: int = 100  # of a fit for a known rank, at most
    least_multiplier_gain: float = 1e-6  # share of the sum of squares: an idle step gains less
    left_out: int = 3  # vectors of high leverage, without which a smaller rank is tried
    normals_misfit: float = 1000.0  # roots of the brackets' width, at most, where a rank fits
    least_misfit: float = 1e-3  # share of it, that always fits
    few_normals: float = 0.2  # share of the dimension: of more, large ranks fit the errors too

    # points
    cylinder_share: int = 16  # a new batch of normals is 1/share of the number measured so far;
    revolution_share: int = 16  # batches are larger where a test is expensive
    cylinder_held_back: int = 12  # boundary points that test a subspace they had no part in
    revolution_held_back: int = 6  # finding
    share_that_may_fail: float = 1 / 16  # of the points in use
    cylinder_passed: float = 0.9  # of those held back, at least: some brackets may graze the
    revolution_passed: float = 0.75  # boundary
    screened_dimension: int = 100  # from which on grazing brackets are left out before normals are
    # measured
    least_incidence: float = 0.1  # n.v of a bracket that does not graze it
    clearance: float = 1e-3  # points nearer to the oracle's bounds are left out
    least_height: float = 0.05  # of |x|, that x must lie out of S_Y to show its gamma

    # tests: how far they reach (of the whole way: one length, or a quarter of a turn), and how
    # far the boundary may then miss itself
    short_way: float = 0.1  # of the whole way
    tolerances: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 5e-4, 2e-3, 1e-2)  # on the way to the last
    rough_goal: float = 1e-4  # the last, where a rough basis is enough
    rough_directions: int = 15  # out of one of many dimensions, at least: in fewer, to refine it
    # takes less than what a rough one asks for later
    rough_turn_tolerance: float = 1e-4  # after a short turn
    wide_turn_tolerance: float = 3e-3  # after a quarter of a turn, before anything is refined
    nearly_straight: float = 1e-4  # a boundary is, if it misses itself by less
    more_normals: float = 0.15  # share by which they must have grown, for a rank that has failed
    probe_dimensions: int = 3  # of the complement, in which a subspace is tried before all others
    rough_miss: float = 1e-5  # a larger miss is refined roughly first

    # refinement, rough and fine
    rough_walk: float = 0.01  # across S_Y
    rough_width: float = 1e-9  # of the brackets at its end
    share_of_miss: float = 1e-4  # of how far the boundary misses itself: brackets after a turn

    def __repr__(self) -> str:
        return f"SubspaceSettings({len(vars(self))} constants)"


SETTINGS = SubspaceSettings()
