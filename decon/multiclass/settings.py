"""The constants of this folder. Lengths are in units of the features' spreads."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MulticlassSettings:
    """How models of several classes are taken apart, pair by pair."""

    # crossings from one label to another
    crossings: int = 400  # sought in a round
    rounds: int = 6  # at most, until
    enough: int = 10  # crossings of every pair are known
    noise: float = 0.3  # added to features, from which lines are drawn
    coarse_halvings: int = 14  # of their brackets
    fine_halvings: int = 40  # of those that are used

    # regions in which two labels occur only
    largest_region: float = 4.0
    smallest_region: float = 0.01
    centres: int = 30  # crossings tried as centres
    first_points: int = 20  # that a region must pass at once
    sure_points: int = 100  # and in the end,
    sure_lines: int = 30  # with lines between these
    regions: int = 4  # of the largest, in which a machine is sought
    halvings: int = 3  # of a region in which none was found

    # points between two classes anywhere, of which its machine must explain most
    checked: int = 30
    on_boundary: float = 1e-6
    least_share: float = 0.5

    # radial kernels
    far: float = 1e5
    far_points: int = 60
    outwards: int = 60  # lines that lead there, from points of each class
    away: float = 10.0  # where lines end that lead outwards
    reach: float = 4.0  # a search reaches so many times as far as its features
    shifts: tuple[float, ...] = (0.5, -0.5, 1.0, -1.0)  # of centres off the boundary (features)
    normal_step: float = 1e-3  # of the normal's estimate
    normal_points: int = 20  # of it, per dimension
    balls: int = 6  # tried about one centre
    features: int = 40  # in a region

    passes: int = 3  # over pairs, when others are known
    hopeless: int = 3  # pairs without a machine, after which no others are tried

    # queries of one attempt
    plane: int = 3_000  # where a plane is looked for,
    plane_per_dimension: int = 200  # and so many times d more
    attempt: int = 40_000
    attempt_per_square: int = 25  # and so many times d^2 more

    # vectors that other pairs have shown
    same_vector: float = 1e-3
    spare_points: int = 60  # more boundary points than twice the vectors
    spare_equations: int = 1  # more than weights, in a random subset of them
    subsets: int = 100
    inliers: float = 100.0  # medians, beyond which a point lies on another pair's boundary
    joint_error: float = 1e-7  # median, at which the machine is right, and no vector is missing
    least_weight: float = 1e-6  # of a vector (the largest)

    # vectors that other pairs have shown roughly
    rough: float = 1e-3  # relative standard deviation of all numbers but sure vectors
    fitted_to: float = 1e-10  # assumed error of boundary points

    # vectors that no other pair has shown
    most_unknown: int = 2
    points_per_number: float = 2.0
    starts: int = 5
    room: float = 4.0  # how far a vector may move from its start, in every feature
    most_steps: int = 40

    # the test of the whole, and stand-ins
    tested: int = 1000
    test_distance: float = 1e-5
    least_agreement: float = 0.999
    fitted: int = 2000  # labels that a stand-in is fitted to
    stiffness: float = 1e3  # its C
    svm_steps: int = 20_000  # to fit it


SETTINGS = MulticlassSettings()
