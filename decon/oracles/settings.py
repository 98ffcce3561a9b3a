"""The constants of this folder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OracleSettings:
    """How an oracle queries a model."""

    block_megabytes: float = 64.0  # of points (1e6 bytes) that go to the model at once
    wrong_vote: float = 2e-6  # the largest probability that a point is voted to the wrong label
    most_kept: int = 10_000_000  # numbers, in all brackets that a search remembers
    bounds_margin: float = 1e-12  # of the bounds' width, kept free for rounding in a view

    # what examples tell
    few: int = 200  # whose labels are asked first
    least_range: float = 8.0  # of whole numbers that are taken for bounds,
    near_the_end: float = 0.1  # and how near most features come to both ends (share of the range)


SETTINGS = OracleSettings()
