"""The constants of this folder's own files. Lengths are in units of the curvature scale."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FamilySettings:
    """What linear and quadratic machines are fitted from, and which fits are good enough."""

    # which machines are fitted
    most_coefficients: int = 6000  # of a polynomial that is fitted as one null vector
    largest_spread: float = 100.0  # of a plane's points along its normal (symmetry tolerances)
    largest_misfit: float = 0.5  # of a polynomial, in units of what the brackets' width explains
    least_offset: float = 10.0  # of a centre from the origin that counts (symmetry tolerances)

    # least squares
    dampings: int = 12  # tried in a step, at most

    # boundary points in a slice
    spare_points: int = 15  # more points than unknowns,
    spare_share: float = 1.05  # after so many times as many
    attempts: int = 3  # at a slice whose rank is not clear, each with more points, farther out
    added_share: float = 0.1  # of the unknowns: points more in every further attempt
    radius_factor: float = 3.0  # and how many times farther out they lie

    # the rank of a quadratic
    seen_value: float = 30.0  # least singular value that counts (noise of its direction)
    clear_value: float = 1000.0  # least singular value that leaves no doubt (noise)
    faint_value: float = 1e-4  # singular value beside which more may be hidden (the largest)

    # off the slice
    step_off_slice: float = 0.03  # to lines whose crossings show S_Y outside the slice
    least_incidence: float = 0.1  # |cosine| of bracket and normal at a point that is used
    spare_lines: int = 3  # more lines than dimensions of S_Y, along every direction


SETTINGS = FamilySettings()
