"""The constants of this folder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BoundarySettings:
    """How a model's answers are put to the test."""

    # how many answers are wrong
    repeated_points: int = 60  # points that are queried again and again
    repetitions: tuple[int, ...] = (5, 5, 10, 30)  # of each point, batch after batch
    enough_contradictions: int = 20  # answers in the minority: no further batch is queried
    confidence: float = 0.9  # of the interval for the rate

    # how finely the boundary is drawn
    noise_step: float = 1e-4  # of the data's scale, over which a boundary is smooth
    noise_heights: int = 8  # on a line of such steps


SETTINGS = BoundarySettings()
