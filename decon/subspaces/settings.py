"""The constants of this folder. Lengths are in units of the scale at which the boundary is seen."""

from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class SubspaceSettings:
    """How S_Y is sought among normals, tested and refined."""

    # gaps in the singular values: a rank is a candidate where the ratio at it is larger
    cylinder_gap: float = 8.0  # of normals
    revolution_gap: float = 4.0  # of corrected normals
    coarse_revolution_gap: float = 2.5  # where brackets are coarse
    steady_gap: float = 20.0  # that is worth a try with few normals, if it has been there before
    wide_gap: float = 1000.0  # the same, if it has not,
    early_share: float = 1.4  # with so many normals per dimension
    weak_value: float = 1e-3  # singular value of a direction that is easily lost in a correction
    cylinder_noise: float = 100.0  # roots of the brackets' width, by which normals may be off,
    revolution_noise: float = 1e4  # and corrected normals

    # points
    cylinder_share: int = 16  # a new batch of normals is 1/share of the number measured so far;
    revolution_share: int = 8  # batches are larger where a test is expensive
    held_back: int = 6  # boundary points that test a subspace they had no part in finding
    share_that_must_pass: float = 0.75  # of them: some brackets may graze the boundary
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
