"""The constants of this folder's own files. Lengths are in units of the curvature scale."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FamilySettings:
    """What linear and quadratic machines are fitted from, and which fits are good enough."""

    # which machines are fitted
    bracket_queries: int = 45  # that a boundary point costs, from the size of the data to 1e-12
    most_coefficients: int = 6000  # of a polynomial that is fitted as one null vector
    most_of_a_plane: int = 2000  # numbers, at most, of a plane that is sharpened
    rough_slope: tuple[float, float] = (0.1, 1e-4)  # step and width of a plane's first normal
    largest_spread: float = 100.0  # of a plane's points along its normal (symmetry tolerances)
    largest_misfit: float = 0.5  # of a polynomial, in units of what the brackets' width explains
    on_a_ray: float = 100.0  # widths of brackets, by which points of a flat piece may miss it
    least_offset: float = 10.0  # of a centre from the origin that counts (symmetry tolerances)

    # from so many dimensions on, normals cost more than a look at kinks, and random lines nearly
    # graze a plane
    many_dimensions: int = 100
    looked_at: int = 10  # points of a slice

    # least squares

    # boundary points in a slice
    spare_points: int = 15  # more points than unknowns,
    spare_share: float = 1.05  # after so many times as many
    attempts: int = 3  # at a slice whose rank is not clear, each with more points, farther out
    added_share: float = 0.1  # of the unknowns: points more in every further attempt
    radius_factor: float = 3.0  # and how many times farther out they lie
    flat_points: int = 2  # of a plane without a curve of degree 2 or 3: is one on a flat piece,
    flat_step: float = 3e-4  # as far as this aside? Of the scale

    # those of them that a polynomial through the others predicts
    most_predicted: int = 1000  # coefficients of it: more take too long
    first_predicted: int = 2  # points in the first batch
    vague: float = 0.01  # of a segment: a point predicted less exactly is not sought there
    farthest_predicted: float = 10.0  # standard errors, by which a prediction may be off

    # the rank of a quadratic
    seen_value: float = 30.0  # least singular value that counts (noise of its direction)
    clear_value: float = 1000.0  # least singular value that leaves no doubt (noise)
    faint_value: float = 1e-4  # singular value beside which more may be hidden (the largest)

    # off the slice
    step_off_slice: float = 0.03  # to lines whose crossings show S_Y outside the slice
    least_incidence: float = 0.1  # |cosine| of bracket and normal at a point that is used
    spare_lines: int = 3  # more lines than dimensions of S_Y, along every direction,
    rough_lines: int = 2  # where the machine is sharpened later;
    rough_width: float = 1e-5  # of their brackets then
    least_open: float = 3e-3  # of the standard deviation of a height, when others are known
    first_rows: int = 4  # of directions, which show how far off the prediction of others may be

    # rows as candidates: how many, and how many boundary points
    fewest_rows: int = 20  # features given that are tried as support vectors
    most_rows: int = 1500  # of which the null vector is still cheap
    cubic_share: float = 0.4  # of a cubic's coefficients: of more rows, the cubic is cheaper
    off_subspace: float = 1e-6  # of the scale: a row in S_Y lies no farther from it
    off_rough_subspace: float = 0.01  # the same, where only a rough basis is known
    rows_share: float = 1.1  # boundary points per row that are fitted,
    spare_rows: int = 30  # so many more,
    held_out: int = 60  # and others to test the fit
    rows_radii: tuple[float, ...] = (0.5, 1.0, 3.0)  # (spreads) of the cloud about the rows

    # the constants of their kernels (logarithms, about those of the rows' size)
    degrees: tuple[int, ...] = (2, 3, 4, 5, 6)  # of polynomial kernels
    widths: int = 41  # values of sigma, and of alpha where beta is 0,
    width_range: float = 1.2  # up and down
    gammas: int = 9  # of gamma or alpha,
    gamma_range: float = 2.5
    betas: int = 17  # of beta itself,
    beta_range: float = 2.0
    starts: int = 8  # on the grid, from which two constants are searched
    most_trials: int = 40  # of every constant from a start, and as many to polish it
    search_step: float = 1e-3  # to which constants are searched before they are polished
    difference_step: float = 1e-7  # of constants, over which errors are differentiated

    # which fits are good enough (lengths in units of the scale)
    rows_width: float = 1e-6  # of the brackets that the kernels are tried on first
    near_error: float = 5e-3  # median distance of those held out, where constants are polished
    sure_error: float = 1e-5  # the same, of the right kernel
    rough_error: float = 3e-5  # the same, that is worth fine brackets
    rows_error: float = 10.0  # the same, in widths of fine brackets
    weight_gap: float = 100.0  # between the weights of support vectors and of other rows
    null_ratio: float = 1e-6  # of the two smallest singular values, if the weights are determined
    broken: float = 0.03  # share of the error that a fit has without one of its vectors


SETTINGS = FamilySettings()
