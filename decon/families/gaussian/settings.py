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

    # sigma^2, from a pencil
    grid_step: float = 0.04  # of log sigma^2, where zeros of the determinant are sought
    largest_contrast: float = 0.03  # ratio of singular values of a sigma^2 that is worth a try
    pencil_misfit: float = 1e-6  # of a pencil's points to the surface, if it is the right one

    # further points of the surface
    uncertainties: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)  # of further points, round by round
    least_room: float = 0.05  # over S_Y, of points that are worth a bracket
    accurate_vectors: float = 1e-7  # predicted relative error at which no points are added

    # the fit
    largest_power: float = 340.0  # of e in a term: beyond, squares of gradients overflow

    # what counts as found
    machine_misfit: float = 30.0  # bracket widths by which the right machine may miss its points
    single_misfit: float = 4.0  # bracket widths: beyond, two vectors may have been taken for one
    faint_error: float = 1e-4  # relative, of support vectors that are not called the model's own

    # tilts out of S_Y
    least_tilt: float = 3e-8  # relative to a support vector's length, that is corrected
    hidden_tilt: float = 1e-9  # share of the largest singular value that shows no tilt


SETTINGS = GaussianSettings()
