"""The constants of this folder. Lengths are in units of the data's scale."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SharpeningSettings:
    """How a machine that is nearly known is brought to the accuracy of the brackets."""

    # what is fitted
    most_numbers: int = 1000  # of a machine, if the user does not say otherwise: a step of the fit
    # takes the cube of it
    narrow: float = 1e-2  # wider brackets are left out
    finest: float = 0.3  # widths of the search: no bracket counts for more
    far: float = 10.0  # from the origin, in units of the curvature scale, or else of the scale:
    # brackets there wait until a machine is known well

    # the fit
    steps: int = 20  # at most
    wide: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
    # errors of brackets, in turn
    least_damping: float = 1e-8
    least_gain: float = 0.01  # share of the sum of squares: a step that gains less is idle
    patience: int = 2  # idle steps in a row
    hardly: float = 1e-3  # standard deviations, by which a Jacobian stays the same
    enough: float = 1.3  # mean squared miss, of a fit that is good enough
    good: float = 10.0  # standard errors by which a fit may miss a bracket
    left_out: float = 0.02  # share of brackets that it may miss by more
    nearly: float = 1e-9  # wide error, within which a fit that is not good shows further lines,
    wide_rounds: int = 2  # so often

    # brackets that know what they will find
    start: float = 1e-3  # relative error of numbers that no bracket shows, at first
    least_share: float = 3e-3  # of a line's standard error, that is left when others are known:
    # a line of which less would be left waits for the next fit
    most_shown: float = 6.0  # standard errors, that a line counts for in the prediction of others
    candidates: int = 900  # points from which the boundary is sought
    newton_steps: int = 20  # on the way to it
    farthest: float = 3.0  # from the origin, of points where it is to be known
    batch: int = 8  # lines at a time, at least: fewer would hardly be predicted better;
    batches: int = 12  # as more batches are more calls of the model
    share_of_numbers: float = 0.5  # so many lines, at most, before the next fit
    known: float = 0.8  # widths, to which the boundary is known in the end
    share: float = 0.98  # of those points
    rounds: int = 40  # of fits and brackets, at most
    lost: int = 20  # lines without a crossing, and the machine was wrong


SETTINGS = SharpeningSettings()
