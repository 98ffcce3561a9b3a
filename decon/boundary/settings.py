"""The constants of this folder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BoundarySettings:
    """How a model's answers are put to the test."""

    # brackets that know what they will find
    degrees: int = 4  # of freedom of the predictive distribution: Student's
    halving: float = 0.5  # brackets shorter than so many standard errors are halved

    # pairs on the bounds
    drawn_inside: float = 0.1  # of the way to the centre

    # slopes
    first_rise: float = 3.0  # step towards the boundary, times sqrt(d), in units of the step aside

    # whether lines graze the boundary
    grazing_steps: int = 6  # aside
    usual_rise: float = 0.67  # median of |z| of a standard normal z

    # how many answers are wrong
    repeated_points: int = 60  # points that are queried again and again
    repetitions: tuple[int, ...] = (5, 5, 10, 30)  # of each point, batch after batch
    enough_contradictions: int = 20  # answers in the minority: no further batch is queried
    confidence: float = 0.9  # of the interval for the rate

    # how finely the boundary is drawn
    noise_step: float = 1e-4  # of the data's scale, over which a boundary is smooth
    noise_heights: int = 8  # on a line of such steps

    # whether its lines break (`has_broken_line`)
    pair_apart: float = 0.3  # of the points' scale, at least, between two points of a pair
    line_followed: float = 300.0  # of the points' scale, to both sides of a pair
    middle_widths: float = 100.0  # of a bracket, within which a middle is on the boundary
    aside_followed: float = 1e-6  # of the way followed, within which a line is on the boundary,
    aside_widths: float = 1000.0  # or of a bracket, times the square of way over pair


SETTINGS = BoundarySettings()
