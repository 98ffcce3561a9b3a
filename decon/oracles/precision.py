"""How finely a model can be queried: the width of brackets, and each length that follows from it.

All lengths are in units of the curvature scale: R0, the root mean square norm of the features
given, or more where the boundary is almost flat.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Precision:
    """The lengths and tolerances of a search; the width of its brackets sets them all.

    A model answers reliably only so close to its boundary: to about 1e-14 of the data's scale
    where it computes in double precision, to about 1e-7 in single precision. Narrower brackets
    would measure its rounding. What is computed from brackets is less accurate than they are:

    - A one-sided slope over a step delta is off by C delta + width / delta, which is least at
      delta = sqrt(width / C). `slope_step` takes C = 1.
    - A central slope is off by B delta^2 + width / delta, which is least at
      delta = (width / (2 B))^(1/3). `slope_step` takes B = 32, to be safe where the boundary bends
      within a fraction of the curvature scale.
    - Heights at both ends of a step t show curvatures from about 100 width / t^2 upwards. With t
      proportional to width^(1/3), as in `flatness_step`, the step and that least curvature shrink
      alike.
    - Normals are off by about sqrt(width), and a wrong subspace by about 1. A tolerance
      proportional to width^(1/4) lies between the two, as `rough_symmetry_tolerance` does.

    Parameters
    ----------
    width : float, positive
        Final width of the brackets: no narrower than the model's own rounding.

    Examples
    --------
    >>> fine, coarse = Precision(), Precision(1e-6)
    >>> fine.slope_step, round(coarse.slope_step, 6)
    (1e-06, 0.0025)
    >>> fine.agreement_distance, round(coarse.agreement_distance, 9)
    (1e-05, 0.0001)
    """

    width: float = 1e-12  # what a model that computes in double precision allows

    @property
    def coarse(self) -> bool:
        """Whether one-sided slopes would be too inaccurate; then slopes are central."""
        return self.width > 1e-9

    @property
    def slope_step(self) -> float:
        """Step of the slopes that a normal is computed from."""
        if self.coarse:
            return self.width ** (1 / 3) / 4
        return 1e-6 * (self.width / DOUBLE.width) ** (1 / 2)

    @property
    def flatness_step(self) -> float:
        """Step to both sides over which a flat boundary is told from a curved one."""
        return 3e-4 * (self.width / DOUBLE.width) ** (1 / 3)

    @property
    def symmetry_tolerance(self) -> float:
        """Largest distance of a boundary from its own image under the right symmetry."""
        return max(1e-8, 10 * self.width)

    @property
    def rough_symmetry_tolerance(self) -> float:
        """The same after a short walk, for a subspace that only normals have shown."""
        return 3e-5 * (self.width / DOUBLE.width) ** (1 / 4)

    @property
    def grazing_factor(self) -> int:
        """Factor on both tolerances for cylinders: brackets may meet them at a small angle."""
        return 4 if self.coarse else 1

    @property
    def points_factor(self) -> int:
        """Multiple of the fewest points that a fit needs: more of them average the rounding."""
        return 3 if self.coarse else 1

    @property
    def agreement_distance(self) -> float:
        """Distance of the close agreement queries from the recovered boundary, in units of R0."""
        return max(1e-5, 100 * self.width)


DOUBLE = Precision()
