"""How finely a box can be asked: the width of the brackets, and every length that follows it."""

from dataclasses import dataclass

WIDTH = 1e-12  # what a box that computes in double precision allows


@dataclass(frozen=True)
class Precision:
    """The lengths of a search, in units of its reach, all of them set by the first.

    A box answers reliably only so close to its boundary: to about 1e-14 of the data's scale where
    it computes in double precision, to about 1e-7 in single precision. Brackets finer than that
    measure its rounding. What is read from brackets is coarser than they are: a slope over a step
    delta has the error curvature delta + width / delta, which is least at delta = sqrt(width), or
    (a third derivative) delta^2 + width / delta if it is central, least at delta = width^(1/3).

    Parameters
    ----------
    width : float
        Of the brackets: no finer than the box's own noise.

    Examples
    --------
    >>> fine, coarse = Precision(), Precision(1e-6)
    >>> fine.delta, round(coarse.delta, 6)
    (1e-06, 0.0025)
    >>> fine.close, round(coarse.close, 9)
    (1e-05, 0.0001)
    """

    width: float = WIDTH

    @property
    def delta(self):
        """The step of a normal's slopes; of central ones where the brackets are coarse."""
        if self.coarse:
            return self.width ** (1 / 3) / 4
        return 1e-6 * (self.width / WIDTH) ** (1 / 2)

    @property
    def coarse(self):
        """Do slopes to one side err too much?"""
        return self.width > 1e-9

    @property
    def times(self):
        """How many times the fewest points are taken for a fit, to average the noise."""
        return 3 if self.coarse else 1

    @property
    def step(self):
        """The step aside by which a curved boundary is told from a flat one."""
        return 3e-4 * (self.width / WIDTH) ** (1 / 3)

    @property
    def miss(self):
        """By how much a boundary may miss itself, moved across the right subspace."""
        return max(1e-8, 10 * self.width)

    @property
    def graze(self):
        """How many times more across Type A, where brackets meet the boundary at a small angle."""
        return 4 if self.coarse else 1

    @property
    def rough(self):
        """The same for a subspace that only normals have shown, over a short walk."""
        return 3e-5 * (self.width / WIDTH) ** (1 / 4)

    @property
    def close(self):
        """How close to a recovered boundary the certificate asks."""
        return max(1e-5, 100 * self.width)


DOUBLE = Precision()
