"""The constants of this folder. Lengths are in units of R0, the size of the data."""

from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class ExtractionSettings:
    """How a model is surveyed, what counts as agreement, and what is diagnosed."""

    # units
    alike: float = 10.0  # features whose spreads differ by less are left in their own units
    unlike: float = 1000.0  # those whose spreads differ by more are measured in spreads at once
    far_off: float = 30.0  # spreads of a feature from 0, from which on all are centred

    # the survey
    largest_norm: float = 1e100  # squares and cubes of larger numbers overflow
    cloud_points: int = 60  # labelled around the features
    fewest_of_a_label: int = 20  # in the pool
    rare_width: float = 1e-3  # of brackets that only look for points of a rare label
    secants: int = 5  # through pairs of boundary points
    bend: float = 0.1  # the boundary is flat where most secants miss it by less (of their length)
    farthest_secant: float = 1e11  # that secants are followed out to
    least_bent: int = 2  # secants off the boundary, and none more at the next length: far enough
    middle: float = 1e-4  # within bounds, the same for the middle of a secant (of its length)

    # costs
    auto_budget: int = 600_000  # queries of budget='auto',
    auto_budget_per_square: int = 50  # and more of them, times d^2
    worth_saying: int = 50_000  # queries of a stage, that is announced

    # evidence
    many_dimensions: int = 100  # from here on, every rough S_Y of a radial kernel is tested finely
    degree_planes: int = 4  # in which conics must show that a boundary is a quadric,
    cubic_planes: int = 2  # and cubics, that it is a cubic
    curve_points: int = 18  # bracketed in each of them
    on_a_line: float = 30.0  # widths of brackets, by which three points of a flat piece may miss
    far: float = 1e5  # where a tanh is flat, and a Gaussian has one label only
    repeated_queries: int = 300  # by which a model may contradict itself
    flat_share: float = 0.5  # of points at which the boundary is flat, that makes it flat

    # the agreement test
    least_agreement: float = 0.999  # far from the boundary, and close to it
    agreement_points: tuple[int, int] = (200, 600)  # between features, and around them

    # the rank without a certificate
    clear_of_noise: float = 3.0  # times the largest singular value of noise, that a direction shows
    faint_share: float = 1e-4  # of the largest singular value, that may be noise where none is left

    # support vectors that may hide
    narrow_brackets: float = 10.0  # widths, of those at which a hidden vector would show
    fitted_share: float = 0.9  # of narrow brackets that a machine has to reach, if none is missing
    hiding_places: int = 200  # between the features, and as many around them,
    hiding_radius: float = 2.0  # times their size away from their centre
    hiding_segments: int = 8  # from each of these places to known points, that cross the boundary
    least_trace: float = 1000.0  # widths of brackets that a vector has to displace the boundary by

    # stand-ins for models that no machine reproduces; lengths are in spreads
    stand_in_points: int = 200  # boundary points a dimension
    most_stand_in_points: int = 1500  # of them in all
    stand_in_labels: int = 3000  # labelled points, at most, ten for each of the boundary
    stand_in_noise: tuple[float, ...] = (0.0, 0.3, 1.0)  # about points between features
    stand_in_width: float = 1e-5  # of brackets, before a stand-in has come that close
    stand_in_widths: tuple[float, ...] = (0.5, 0.7, 1.0, 1.4, 2.0, 4.0)  # sigma / sqrt(d / 2)
    stand_in_tests: int = 1000  # fresh labels, between features and around them
    stand_in_chords: int = 100  # on which the boundaries are compared
    svm_penalties: tuple[float, ...] = (1.0, 100.0, 10_000.0)  # C of SVMs among the stand-ins
    svm_gammas: tuple[float, ...] = (0.1, 0.3, 1.0)  # their gamma, times d
    most_validated: int = 1500  # points that choose among these
    most_svm_steps: int = 200_000  # of the training of an SVM
    retraining_rounds: int = 3  # in which SVMs ask for labels at their own boundary,
    svm_width: float = 1e-6  # that is bracketed so far

    # diagnosis
    largest_noise: float = 0.2  # a larger rate of wrong answers is not corrected by votes unasked
    kink_ratio: float = 5.0  # a boundary with kinks has less "noise" over steps of a tenth
    noise_brackets: int = 12  # boundary points at which the noise of brackets is measured
    deviations: float = 8.0  # a bracket of this many standard deviations of the noise is reliable
    coarsest: float = 1e-5  # brackets wider than this do not determine the rank
    most_coarser: int = 2  # searches with wider brackets, each with other points

    # causes: preprocessing in front of a model
    far_spreads: float = 1e6  # from the mean of a feature, where nothing that is clipped changes
    far_patterns: int = 12  # sets of features that are put there,
    far_points: int = 10  # in so many points each
    far_sets: int = 3  # of which so many must show that a model clips
    clip_rounds: int = 60  # sets of features whose bounds are bisected, at most
    stays: float = 0.5  # of steps along axes, one of a lattice aside: more stay at a tree's
    lattice_axes: int = 16  # that such a step goes along, at most

    # causes: the shape of the boundary
    tiny_step: float = 1e-9  # to both sides of a boundary point, at which steps are recognised
    axis_share: float = 0.8  # of points at which the boundary is a step along one axis
    short_step: float = 3e-4  # over which the slope of a flat piece is measured first
    least_kink: float = 1e-3  # difference of slopes of two pieces
    corners: int = 16  # of flat pieces that are looked at, at most, in batches of 4
    common_planes: float = 0.04  # share of pairs of points on one plane, where planes are few
    flat_points: int = 18  # boundary points that are looked at, where the first ten are flat
    sections: int = 16  # in which kinks are sought
    section_points: int = 9  # of the boundary in such a section
    section_halvings: int = 30  # by which each of them is bracketed
    kink_halvings: int = 9  # of the step around the largest second difference
    kink_decay: float = 0.36  # a factor per halving: 1/2 at a kink, 1/4 where it is smooth
    jump_decay: float = 0.7  # a larger one: no kink, a jump from one fold to another
    plane_points: int = 32  # of a curve, by which degrees up to 6 are told apart
    plane_radii: tuple[float, ...] = (10.0, 3.0, 1.0)  # of its disc (curvature scales), in turn
    off_span: float = 1e-6  # of features, by which they may leave a subspace that holds them
    again: int = 60  # points that are queried twice more

    def __repr__(self) -> str:
        return f"ExtractionSettings({len(vars(self))} constants)"


SETTINGS = ExtractionSettings()
