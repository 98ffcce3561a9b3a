"""The constants of this folder. Lengths are in units of the data's scale."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GaussianSettings:
    """How Gaussian machines are measured with the radial probe, and fitted."""

    # the probe
    tilt: float = 1e-5  # of the support vectors out of S_Y, that is expected

    # where pencils are tried
    pencils: int = 3  # at most
    shift_sizes: int = 14  # tried about each centre, every one 0.7 times the one before

    rough_width: float = 10.0  # final widths, of brackets of a pencil that is sharpened

    # sigma^2, from a pencil
    grid_step: float = 0.04  # of log sigma^2, where zeros of the determinant are sought
    largest_contrast: float = 0.03  # ratio of singular values of a sigma^2 that is worth a try
    pencil_misfit: float = 1e-6  # of a pencil's points to the surface, if it is the right one

    # further points of the surface
    uncertainties: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)  # of further points, round by round
    least_room: float = 0.05  # over S_Y, of points that are worth a bracket
    accurate_vectors: float = 1e-7  # predicted relative error at which no points are added
    rough_vectors: float = 0.1  # the same where the machine is sharpened later

    # the fit
    largest_power: float = 340.0  # of e in a term: beyond, squares of gradients overflow

    # what counts as found
    machine_misfit: float = 30.0  # bracket widths by which the right machine may miss its points
    single_misfit: float = 0.5  # bracket widths: beyond, two vectors may have been taken for one
    safe_separation: float = 2.0  # times the estimate, which is of first order
    alike: float = 0.05  # of a vector's length, within which two must not be taken for one

    # tilts out of S_Y
    first_tilts: int = 48  # directions, at least, that are measured before the others are predicted
    predicted: float = 1.5  # standard deviations of a prediction: the first step of its bracket
    most_shown: float = 6.0  # the same: the most that a distance counts for in the next one
    rough_tilt: float = 1e-4  # of the scale: added to a bracket's first step where S_Y is rough
    newton_steps: int = 50  # at most;
    least_change: float = 1e-12  # of the scale: they end with a smaller one,
    largest_change: float = 1e-6  # and have not found a tilt that still changes by more
    share_met: float = 0.9  # of boundary points that a machine of a rough S_Y has to meet
    least_tilt: float = 3e-8  # relative to a support vector's length, that is corrected
    largest_term: float = 1e100  # of Psi / b, where the boundary was met
    hidden_tilt: float = 1e-9  # share of the largest singular value that shows no tilt

    # the student: an over-parametrised sum of Gaussians. Its points are in units of their spread
    largest_dimension: int = 13  # in which it is tried
    most_unlike: float = 10.0  # spreads of features: else a Gaussian is one of a few of them only
    usual_queries: int = 70_000  # that it takes
    student_sizes: tuple[int, ...] = (16, 32, 50)  # centres: from so many to so many
    least_size: float = 2.0  # centres per dimension, at least
    most_numbers: int = 725  # of a student
    most_work: float = 1.2e12  # points times numbers squared, over all steps: about a minute
    points_per_number: float = 2.5  # of the student
    held_out: int = 200  # points that it is not fitted to
    widths: tuple[float, ...] = (1e-5, 1e-8)  # of brackets, before the final width
    narrow_at: float = 10.0  # widths: the held-out median from which on narrower ones tell more
    sigmas: tuple[float, ...] = (0.7, 1.0, 1.4, 2.0)  # at the start, in units of sqrt(d / 2)
    scatter: float = 0.5  # of centres about boundary points, at the start
    ridge: float = 1e-6  # of the eigenvalue problem for weights (mean diagonal entry)

    # its fits: floors under |grad f|, whose root mean square is 1, and how many steps with each
    rough_floors: tuple[float, ...] = (0.1, 0.1, 0.03)
    fine_floors: tuple[float, ...] = (0.01, 0.003, 0.001)
    last_floor: float = 1e-3
    floor_steps: int = 15
    shrunk_steps: int = 100  # after a removal,
    patient_steps: int = 200  # and where these do not suffice
    longest_step: float = 0.3  # of log tau
    damping: float = 1e-2  # of the first step, in normal equations of columns of length 1
    least_damping: float = 1e-14  # of others

    # its way down to the machine
    kept_starts: tuple[int, ...] = (8, 4, 2)  # with the lowest held-out medians, floor by floor
    rough_error: float = 0.04  # held-out median, from which on a boundary is no Gaussian machine's
    good_start: float = 1e-4  # held-out median of a student that is large enough
    shrink_share: float = 0.07  # of the centres, that are left out at once
    shrink_dampings: tuple[float, ...] = (1e-11, 1e-8, 1e-6, 1e-4, 1e-2)  # of a removal's cost
    poor_error: float = 3e-3  # the same of a large student that leaves no hope
    neighbours: int = 3  # of a centre, that it may be merged with
    removals_tried: int = 6  # for each damping, one by one
    fits_tried: int = 12  # of the removals that cost least,
    rough_fits_tried: int = 2  # and where the held-out median is still large
    rough_limit: float = 1e-4  # from which on it is large
    hope_share: float = 0.6  # of the centres, left when the median is large: nothing to hope for
    growth: float = 1.5  # of the held-out median, that a removal may cost
    forgiven: float = 1e-7  # held-out median that any removal may leave
    snap: float = 20.0  # bracket widths: the largest held-out median of the machine itself
    flat_span: float = 1e-6  # share of the largest singular value of vectors that spans nothing
    break_factor: float = 1e3  # by which the median grows if a machine's own vector is missing


SETTINGS = GaussianSettings()
