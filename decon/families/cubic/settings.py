"""The constants of this folder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CubicSettings:
    """How cubic machines are fitted. Lengths are in units of the data's scale."""

    # the family
    least_rank_for_planes: int = 10  # from here on, plane by plane costs less than all at once
    rough_width: float = 1e-9  # of brackets in planes, in units of the reference plane
    largest_distance: float = 0.03  # from the machine that planes show, if it is the right one
    median_distances: float = 10.0  # rough widths by which its points may be off in the median
    clear_null_vector: float = 100.0  # ratio of the two smallest singular values of a fit
    clear_direction: float = 1e-3  # singular value of forms that is no error (the largest)
    rounding: float = 1e-9  # singular values of an exact cubic that are errors (the largest)
    magnified: float = 10.0  # misfits that those of a fitted one may amount to
    closeness: float = 0.01  # of the agreement test's distance: a sum of cubes farther off is not
    # the cubic

    # a rough machine that is sharpened
    completed_coefficients: tuple[int, int] = (50, 3000)  # of a cubic that is read as a sum of
    # cubes from fewer equations: with fewer, all are found at once; more take too long
    most_rough_coefficients: int = 1000  # that are then read one by one: more cost more than planes
    spare_equations: tuple[tuple[float, float], ...] = ((0.05, 1e-3), (0.2, 3e-4), (0.4, 1e-5))
    # per coefficient, more than are open, and the width of brackets; tried in turn
    equations_per_number: tuple[float, ...] = (1.7, 1.85, 2.0, 2.15, 2.3, 2.5, 2.7, 2.9)  # of a
    # sum of cubes that is completed from fewer equations than coefficients; tried in turn
    completions: int = 24  # starts, for so many equations
    drawn_anew: int = 3  # vectors at most, where some are
    completion_steps: int = 40  # of the Gauss-Newton method, at most
    least_completion_gain: float = 0.02  # share of the sum of squares: a step that gains less is
    completion_patience: int = 3  # idle, and so many in a row are the last
    few_width: float = 2e-3  # of their brackets
    completed: float = 0.15  # widths of the brackets, by which equations may be missed
    clear_equation: float = 1e-2  # singular value (the largest) of equations that count
    ridge: float = 1e-4  # least squares of a coefficient, beside those of the equations
    along_last: float = 0.9  # cosine, of a vector that is the threshold's
    one_place: float = 1e-2  # coordinates of points that differ by less count as one
    coarsest_known: float = 1e-2  # bracket of a point that is used,
    farthest_known: float = 10.0  # and how far it may be from the origin (curvature scales)

    # lines in planes, in units of the reference plane, in which curves bend as much as they are
    # long
    start_distance: float = 1.5  # of a line's start from the origin; first step along it, doubled
    farthest_step: float = 9.0  # no step is as long
    coarse_width: float = 0.25  # of brackets while lines are compared, per distance from the start
    fine_width: float = 1e-3  # of the brackets on the lines chosen, before they are judged
    lines_per_unknown: float = 1.5  # lines that are compared at a time
    stretches: tuple[float, ...] = (1.0, 3.0, 0.3, 10.0, 1.0, 0.1, 1.0, 1.0)  # of the starts'
    # coordinate s, one for each time that lines are drawn in a plane
    least_pivot_of_axes: float = 3e-5  # of a plane's equations: with less, more lines are drawn
    least_pivot_of_pairs: float = 1e-4  # the same, in planes of two axes

    # the reference plane
    reference_planes: int = 6  # tried, at most
    lines_in_reference: int = 18  # in each of them, for a cubic of 10 coefficients
    clear_curve: float = 1e-2  # singular value that shows that the points determine the curve
    least_balance: float = 0.2  # share of t and of t^3 in c(t)

    # decomposition
    refitting_steps: int = 30  # of the Gauss-Newton method, at most
    least_refitting_gain: float = 0.17  # share of the sum of squares: after less, it ends
    least_damping: float = 0.03  # where a step without any overshoots

    # more cubes than dimensions
    most_exterior: int = 3  # p of the Young flattenings, at most
    clear_flattening: float = 1e-8  # least singular value that counts (the largest)
    most_cube_numbers: int = 500  # in all vectors, at most
    starts: int = 200  # for a number of cubes that is known, at most
    hopeless: float = 1e-3  # error of the first starts with the largest number, and none will fit
    fewer_starts: int = 40  # for the largest number, and for a sum with one cube less
    restarts: int = 6  # so often, all vectors are drawn anew
    shake: float = 0.02  # of the others, where only some are (their largest entry)
    cube_steps: int = 300  # of the Gauss-Newton method from one start, at most
    least_cube_gain: float = 0.004  # share of the sum of squares, in a step,
    cube_patience: int = 20  # or else in the last of so many idle ones the start is given up
    fitted_cubes: float = 1e-8  # error of a fit that is right (the tensor's norm)
    polishing_rounds: int = 3  # on boundary points
    least_independence: float = 1e-6  # singular value of the Jacobian there, without which a sum
    # may not be the only one nearby
    clear_variable: float = 1e-6  # least singular value of the vectors that counts (the largest)
    clear_link: float = 1e-4  # least entry of the projection onto their columns that counts

    # own coordinates, in units of which |b| is about 1
    longest: float = 1e100  # of their directions and centre: points farther out overflow
    sample_points: int = 20  # of the boundary that show how far off a machine is
    refinements: int = 3  # of a machine, at most
    median_widths: float = 30.0  # of brackets, by which a refined machine may be off
    largest_correction: float = 0.5  # a machine farther off is not refined
    small_threshold: float = 0.2  # with less, two coordinates make too straight a curve
    walks: int = 4  # in random directions out of the subspace
    pilot_walks: int = 16  # of each vector, that show how far off the boundary is after the others
    outside_rounds: int = 2  # of corrections
    least_slope: float = 1e-6  # singular value of the derivatives by all forms (the largest)
    newton_steps: int = 60  # for the changes of all forms, at most
    least_tilt: float = 1e-10  # of a vector out of the subspace, per its length, that is corrected
    largest_tilt: float = 1e-4  # standard deviation, with which a vector counts as known
    sure_tilts: float = 0.2  # standard deviations of a tilt that counts as none (far out, 30 times
    # as many)
    far_walk: float = 10_000.0  # baselines, over which two vectors nearly alike differ from one


SETTINGS = CubicSettings()
