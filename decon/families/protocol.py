"""The seam: how a family of models is added to those that `deconstruct` recovers.

A family is one file or folder beside this one, and one line in the registry `FAMILIES` of
`decon/extraction/strategy.py`; nothing else changes. For one family of the registry after another:

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
        Whether the machine's support vectors are the model's own, all of them, up to symmetries
        of the kernel.
    caveat : str
        What a user has to keep in mind about the result.
    surrogate : bool
        Whether labels cannot tell the model from one of another family, so that the machine stands
        in for it without naming it.
    """

    machine: Any
    basis: Array = field(repr=False)
    rank: int
    own_vectors: bool = False
    caveat: str = field(default="", repr=False)
    surrogate: bool = False


class Refuted(Exception):
    """The model is not of this family.

    No other exception means that: an ArithmeticError or a LinAlgError is a bug, and is not caught.

    Parameters
    ----------
    message : str
        The reason, as the user reads it.
    conclusive : bool
        Whether this casts doubt on the `degree` that planes show, because a polynomial of that
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
        the boundary is curved (it is `flat` if it nowhere is), a `pool` of labelled points, and
        boundary points `X`. `survey.bracket(*survey.pool.pairs(n))` finds n more.
    bounded : bool
        Whether there are bounds that no query may leave.
    refuted : bool
        Whether the `degree` that planes show is in doubt: an earlier candidate has failed the
        agreement test, or a refutation was conclusive.
    normals : array (s, d)
        The unit normals that were measured for `subspace`, also if they do not show it.
    why_no_subspace : str
        The reason if `subspace` is None, as the user reads it.
    """

    oracle: LabelOracle
    ledger: Any
    rng: np.random.Generator
    precision: Precision
    survey: Any
    bounded: bool
    refuted: bool
    normals: Array
    why_no_subspace: str

    @property
    def crossings(self) -> tuple[Array, Array]:
        """On a line (d = 1): boundary points and directions from - to +, two arrays (n, 1)."""

    @property
    def degree(self) -> int | None:
        """The degree, 2 or 3, of the curves in which planes cut the boundary; None for others."""

    @property
    def subspace(self) -> Subspace | None:
        """S_Y, with its symmetry, if normals of the boundary show it."""

    @property
    def subspace_by_normals(self) -> Subspace | None:
        """The same, without the second attempt that is made within bounds."""

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
