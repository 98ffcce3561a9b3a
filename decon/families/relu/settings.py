"""The constants of this folder. Lengths are in units of R0, the size of the data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReluSettings:
    """How flat pieces are measured and followed, and which fits are good enough."""

    # flat pieces
    flat_points: int = 3  # boundary points near the data, one of which must lie in one
    first_points: int = 10  # boundary points, one of which lies in a flat piece
    aside_points: int = 4  # beside each of them, that show how steeply its bracket crosses it
    oblique: float = 1e-6  # component of a normal that a tree's has not
    width: float = 1e-14  # of brackets
    step: float = 1e-2  # over which slopes of a flat piece are measured first,
    smaller: float = 0.25  # and its factor where that leaves the piece,
    least_step: float = 1e-7  # down to this
    pilot: float = 1e-6  # share of a step, of brackets that show whether it leaves the piece
    rough: float = 1e-8  # share of a step by which chords are bracketed, before it is measured
    held_out: int = 4  # such chords, and points that a measured plane must pass through,
    miss: float = 1e-11  # and by how much it may miss them
    grazing: float = 3e-3  # least cosine between a bracket and the normal of the plane

    # walks
    near: float = 1e-5  # by which a plane that is measured again may be off
    tilt: float = 1e-4  # and by which it may be tilted
    leave: float = 1e-9  # what the boundary leaves its plane by, over a walk of length 1
    places: int = 20  # at which a walk is tested,
    nearest: float = 1e-3  # the first
    farthest: float = 300.0  # and the last
    halvings: int = 36  # of the way between two of them
    bends: float = 1e-6  # share of a radius by which a ray behind a kink may be bent

    # the span
    calm_walks: int = 6  # that end the search for new directions
    least_value: float = 1e-2  # singular value of normals, below which S_Y is refined
    baseline: float = 3.0  # of the walks that refine it

    # crossings of two kinks
    asides: tuple[float, ...] = (1e-2, 3e-3, 1e-3)  # distances from the ridge, in turn
    directions: int = 2  # along a ridge, for each of them
    equations: int = 5  # points behind a crossing
    residual: float = 1e-11  # of their equations,
    least_determined: float = 1e-7  # and their smallest singular value

    # sections
    reach: float = 30.0  # of a section from the first point
    labels: int = 16  # places on a section that are compared with labels
    polished: int = 6  # of them, that are bracketed
    rough_tolerance: float = 1e-7  # by which the boundary of the model may be off there first,
    slack: float = 1000.0  # times that, by which a new unit may move known points
    tolerance: float = 1e-8  # by which the boundary of the model may be off there
    clean: int = 10  # sections and chords without anything new that end the search
    failures: int = 3  # to find the unit of a kink that end the search,
    per_failure: int = 8  # and of how many known units one more is allowed
    precise: float = 1e-10  # distance of the model's boundary from points that needs no polish
    ridge: float = 1e-10  # of a polish: noise of points over errors of units, squared
    largest_change: float = 3e-7  # of any number, by a polish
    most_points: int = 3000  # of a polish
    back: float = 0.05  # from a kink, where its piece is measured, at most
    most_sections: int = 3000
    most_kinks: int = 2000  # of one section


SETTINGS = ReluSettings()
