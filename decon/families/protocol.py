"""The interface of a family of models: what `deconstruct` asks of those that it recovers.

A family is one file or folder beside this one, and one line in the registry `FAMILIES` of
`decon/extraction/strategy.py`; no other code changes. For each family of the registry in turn:

1. `applies(evidence)` says whether a fit is worth its queries.
2. `fit(evidence)` returns a `Candidate`, or raises `Refuted` with the reason.
3. The agreement test compares the candidate's machine with fresh labels of the model, far from the
   boundary and close to it. The first machine that passes is the result.

`tests/toy_family.py` is a complete family, all balls |x - c| < r, in 60 lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..oracles.precision import Precision
from ..subspaces.finder import Subspace
from ..types import Array, LabelOracle


class Family(Protocol):
    """A family of models, such as all those whose boundary is a quadratic.

    Attributes
    ----------
    name : str
        The `kernel_type` of a model that is found to be of this family.
    """

    name: str

    def applies(self, evidence: Evidence) -> bool:
        """Whether a fit is worth its queries; looks at evidence, and spends little else.

        Parameters
        ----------
        evidence : Evidence
            What is known of the model.

        Returns
        -------
        worth_it : bool
        """

    def fit(self, evidence: Evidence) -> Candidate:
        """The machine of this family that fits the model best. Raises Refuted if none fits.

        Parameters
        ----------
        evidence : Evidence

        Returns
        -------
        candidate : Candidate
        """

    def parameters(self, candidate: Candidate) -> int:
        """How many numbers describe the machine: a lower bound on queries counts them.

        Parameters
        ----------
        candidate : Candidate
            That `fit` has returned.

        Returns
        -------
        count : int
        """


@dataclass(frozen=True)
class Candidate:
    """A machine that fits all that its family has measured; the agreement test comes next.

    Attributes
    ----------
    machine : object
        Has a `dimension`, labels +1 and -1 by `predict(X)`, and by `gradient(X)` normals of its
        boundary, which point to the positive side. A `KernelMachine`, as a rule; any other
        class needs a short `repr`.
    basis : array (d, rank)
        Orthonormal basis of the kernel subspace S_Y.
    rank : int
        The dimension of S_Y.
    own_vectors : bool
        Whether the machine's support vectors are the model's own, up to symmetries of the kernel,
        under the hypotheses stated for `Deconstruction.own_vectors`.
    caveat : str
        What a user has to keep in mind about the result.
    surrogate : bool
        Whether labels cannot tell the model from one of another family, so that the machine stands
        in for it without naming it.
    cause : str
        Of such a model: one of the `VERDICTS` of `decon.extraction.causes`, or nothing.
    name : str
        The `kernel_type` of the model; left out, the name of the family.
    given : bool
        Whether machine and basis are in the model's coordinates, not in those of the search.
    least_rank : int or None
        The smallest rank that the labels allow; None for `rank`.
    separation : float
        Where the support vectors are the model's own: two of them that are nearer to each other
        than this share of their length may have been found as one.
    error : float
        Of a cubic, the largest relative error of the gradients a_i of its forms a_i.x + h_i;
        0 if it is not known.
    """

    machine: Any
    basis: Array = field(repr=False)
    rank: int
    own_vectors: bool = False
    caveat: str = field(default="", repr=False)
    surrogate: bool = False
    cause: str = field(default="", repr=False)
    name: str = field(default="", repr=False)
    given: bool = field(default=False, repr=False)
    least_rank: int | None = field(default=None, repr=False)
    separation: float = field(default=0.0, repr=False)
    error: float = field(default=0.0, repr=False)


class Refuted(Exception):
    """The model is not of this family.

    No other exception means that: an ArithmeticError or a LinAlgError is a bug, and is not caught.

    Parameters
    ----------
    message : str
        The reason, which is shown to the user.
    conclusive : bool
        Whether this casts doubt on the `degree` of plane sections, because a polynomial of that
        degree was fitted and is not the boundary.
    """

    def __init__(self, message: str, conclusive: bool = False):
        super().__init__(message)
        self.conclusive = conclusive


class SelfContradiction(Refuted):
    """The model answers a repeated query in a new way: no family fits without majority votes."""


class Evidence(Protocol):
    """What is known of a model. Families share it; a property spends its queries at first use.

    The one that `deconstruct` uses is in `decon/extraction/evidence.py`.

    Attributes
    ----------
    oracle : LabelOracle
        `oracle(X)` queries the labels +1 or -1 of points (n, d), and `oracle.dimension` is d.
    ledger : Ledger
        Queries are made inside `with evidence.ledger.stage(name):`, which counts them.
    rng : numpy.random.Generator
        The source of all random numbers.
    precision : Precision
        The `width` of brackets, in units of the curvature scale, and tolerances that follow.
    survey : Survey
        The first look: the given `features`, their size `scale`, the `curvature_scale` at which
        curvature shows (`flat` if none does), a `pool` of labelled `points` with their `labels`,
        and about ten boundary points `X` with the directions `V` of their brackets.
        `X, V = survey.bracket(*survey.pool.pairs(n))` finds n more: about 40 queries each.
        `survey.cloud(n)` draws n points at the scale, without queries. Use `scale` for lengths
        at the data, and `curvature_scale` for lengths over which the boundary has to bend.
    frame : Frame
        Takes coordinates of the search to the model's, by `frame.points(U)`.
    bounded : bool
        Whether there are bounds that no query may leave.
    largest_fit : int
        How many numbers, m (d + 1), a machine may have that is fitted to all brackets at once.
    refuted : bool
        Whether the `degree` of plane sections is in doubt: an earlier candidate has failed the
        agreement test, or a refutation was conclusive.
    disagreement : dict or None
        What the last candidate that has failed the agreement test had reached.
    normals : array (s, d)
        The unit normals that were measured for `subspace`, even if they determine none.
    why_no_subspace : str
        The reason if `subspace` is None, which is shown to the user.
    """

    oracle: LabelOracle
    ledger: Any
    rng: np.random.Generator
    precision: Precision
    survey: Any
    frame: Any
    bounded: bool
    largest_fit: int
    refuted: bool
    disagreement: dict[str, float] | None
    normals: Array
    why_no_subspace: str

    @property
    def crossings(self) -> tuple[Array, Array]:
        """On a line (d = 1): boundary points and directions from - to +, two arrays (n, 1)."""

    @property
    def degree(self) -> int | None:
        """The degree, 2 or 3, of plane sections of the boundary; None for any other curve.

        Costs 1,000 to 3,500 queries. None if d = 1.
        """

    @property
    def flat_in_planes(self) -> bool:
        """Whether three points of such a section lie on a line, as on flat pieces.

        Costs no queries but those of `degree`.
        """

    @property
    def one_label_far_away(self) -> bool:
        """Whether the model gives one and the same label in all directions, far away.

        Costs 40 queries and those of `degree`. False within bounds and for a quadratic.
        """

    @property
    def subspace(self) -> Subspace | None:
        """S_Y, with its symmetry, if normals of the boundary show it.

        Costs 40 to 100 d (m + 3) queries, and several times as many if nothing is found.
        """

    @property
    def rough_subspace(self) -> Subspace | None:
        """The same; where a machine is refined later, a rough basis at first, which costs less."""

    def finds_another_subspace(self) -> bool:
        """Whether a rough S_Y fails a fine test in three directions, and another has been found.

        Costs some 60 queries a dimension if it does not fail; `rough_subspace` is the other one
        afterwards. To be asked where a machine of the rough one is refuted.

        Returns
        -------
        bool
        """

    @property
    def rough_subspace_refuted(self) -> bool:
        """Whether an S_Y that had been found roughly turned out to be another one, or none."""

    def subspace_towards(self, direction: Array) -> Subspace | None:
        """The same, exact within the span of its basis and of one direction.

        Costs some 60 queries a dimension.

        Parameters
        ----------
        direction : array (d,)
            Of length 1, out of S_Y.

        Returns
        -------
        subspace : Subspace or None
            None if its rank is another one.
        """

    @property
    def subspace_by_normals(self) -> Subspace | None:
        """The same, without the second attempt that is made within bounds."""

    @property
    def brackets(self) -> tuple[Array, Array, Array]:
        """Where the boundary was met so far: points and unit directions (n, d), widths (n,)."""

    def sharper_subspace(self) -> Subspace:
        """`subspace`, if it is not None, as accurately as brackets can show it.

        Costs 20 d rank queries.

        Returns
        -------
        subspace : Subspace
        """

    def insist_on_consistency(self, again: bool = False) -> None:
        """Repeat old queries, once or `again`. Raises SelfContradiction if an answer differs.

        Parameters
        ----------
        again : bool
            Repeat them also if that has been done before.
        """

    def seen(self, **arrays: Array) -> None:
        """Hand `points`, `normals` or `singular_values` on to the result.

        Parameters
        ----------
        **arrays : arrays
            By the names that they have in the result.
        """
