"""The constants of this folder, most of them relative sizes at which rounding begins."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LearningSettings:
    """Where rounding ends, and when an iteration gives up."""

    # cvxpy's solution of an SVM, and its polish
    solver_tolerance: float = 1e-11  # of the duality gap and of the constraints
    on_bound: float = 1e-6  # of the largest multiplier: one as near to 0 or C is taken to be there

    # the dual, by pairs of multipliers and then by active sets
    pairs_gaps: tuple[float, ...] = (1e-3, 1e-5, 1e-7, 1e-9)  # in turn, of the KKT conditions
    exact_gap: float = 1e-12  # of the terms of the gradient: violation that is rounding
    least_curvature: float = 1e-12  # along a pair, of the diagonal of Q
    flat_eigenvalue: float = 1e-11  # of a diagonal of ones: smaller eigenvalues count as 0
    pair_steps: int = 20_000  # most steps of pairs in a row
    pair_steps_per_example: int = 200  # the same, where that is less

    # paths from event to event
    bordered_residual: float = 1e-13  # of the right-hand side, to which a system is solved
    dependent_pivot: float = 1e-10  # of the diagonal of Q: smaller pivots and slopes count as 0
    reached: float = 1e-12  # g, in units of the margin, that counts as 0 on a path
    singular_residual: float = 1e-6  # of the right-hand side: a margin that leaves more is singular
    dust: float = 1e-12  # of the largest multiplier: what rounding leaves of one that became 0
    violation: float = 1e-10  # of a condition on g, in units of the margin, that is rounding
    violation_of_terms: float = 1e-13  # the same, of the terms that make up g
    events_per_example: int = 10  # before a path counts as lost

    # upgrading
    known_share: float = 0.1  # of the new examples: known ones that there must be of either label


SETTINGS = LearningSettings()
