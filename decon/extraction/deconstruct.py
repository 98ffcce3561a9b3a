"""The whole algorithm: from the labels of a model to a machine that reproduces it, tested."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..oracles.oracle import Oracle
from ..oracles.precision import DOUBLE
from ..oracles.views import NoiseView
from ..types import ArrayLike, RandomState
from .diagnosis import Remedy, remedy_for
from .evidence import GatheredEvidence
from .ledger import Ledger
from .result import Deconstruction, Verdict
from .settings import SETTINGS
from .strategy import decide
from .survey import Survey


def deconstruct(oracle: Oracle, features: ArrayLike, random_state: RandomState = 0,
                progress: bool = True) -> Deconstruction:
    """Extract a kernel machine from labels: kernel, support vectors, their span, the boundary.

    This is functionally equivalent extraction in the hard-label setting. Linear and quadratic
    machines come back with quasi-support vectors, cubic, tanh and Gaussian ones with their own. Any
    other model ends as 'unknown', with the reason.

    Parameters
    ----------
    oracle : Oracle
    features : array (k, d)
        A few points with both labels among them. Their root mean square norm sets the scale
        of the search, so let them be typical.
    random_state : int or numpy.random.Generator
        The same call gives the same result.
    progress : bool
        Show a progress bar when the work takes more than a few seconds.

    Returns
    -------
    Deconstruction

    Raises
    ------
    TypeError
        If oracle is not an Oracle.
    ValueError
        If features do not have shape (k, d), hold NaN, are all zero, or all get the same label.
    OracleError, BudgetExhausted
        As the oracle raises them. Whatever is raised, `error.result` is a Deconstruction with what
        was known by then.

    Notes
    -----
    The agreement test speaks for the region where it queries: near the features, and out to about
    three times their root mean square norm from the origin. It says nothing about how the model
    behaves elsewhere, or in corners that its 800 queries miss; and on a line (d = 1) labels
    cannot tell models with the same crossings apart.

    Every machine returned has passed the agreement test. In two cases a model is named, but no
    machine is returned and `agreement` is empty: a polynomial with too many coefficients to fit is
    named by its degree, and a model that rounds too coarsely to be fitted is named 'tanh' or
    'gaussian' by the shape of its boundary. A machine is named after the simplest kernel with its
    boundary: with one support vector, a Gaussian's is a sphere (quadratic), a tanh's or a cubic's a
    plane (linear).

    A model that ends as 'unknown' is diagnosed: if it contradicts itself, the search is repeated
    with votes; if rounding displaces its boundary, with wider brackets (see `noise` and `width` of
    the result).

    Examples
    --------
    >>> import numpy as np
    >>> from decon import KernelMachine, Oracle, Polynomial, deconstruct
    >>> model = KernelMachine.random(Polynomial(degree=2), dimension=8, n_support=3)
    >>> features = np.random.default_rng(0).standard_normal((20, 8))
    >>> result = deconstruct(Oracle(model.predict, dimension=8), features)
    >>> result.kernel_type, result.rank, result.agreement
    ('quadratic', 3, {'far': 1.0, 'close': 1.0})
    """
    if not isinstance(oracle, Oracle):
        raise TypeError(f"expected an Oracle, got {type(oracle).__name__}: wrap the model as "
                        "Oracle(predict, dimension)")

    # one search, or more of them, until no remedy is left
    attempt = _Attempt(oracle, features, np.random.default_rng(random_state), progress)
    remedy: Remedy | None = Remedy(oracle.noise, DOUBLE)
    try:
        while remedy is not None:
            remedy = attempt.run(remedy)
        return attempt.result()

    # whatever is raised, with what was known by then
    except BaseException as error:
        attempt.verdict = Verdict(message=f"interrupted: {error}" if str(error) else "interrupted",
                                  agreement=getattr(attempt.evidence, "disagreement", None) or {})
        error.result = attempt.result()  # type: ignore[attr-defined]
        raise
    finally:
        attempt.ledger.close()


class _Attempt:
    """One search after another, each with its view of the oracle, until no remedy is left."""

    def __init__(self, oracle, features, rng, progress):
        self.oracle, self.features, self.rng = oracle, features, rng
        self.ledger, self.coarser = Ledger(oracle, progress), 0
        self.noise, self.precision = oracle.noise, DOUBLE
        self.survey = self.evidence = None

    def run(self, remedy: Remedy) -> Remedy | None:
        """Survey, strategy and, where nothing was found, the diagnosis: how to search again."""
        # discard what was measured, and follow the remedy
        self.survey, self.evidence, self.verdict = None, None, Verdict()
        self.noise, self.precision = remedy
        self.coarser += self.precision != DOUBLE
        self.ledger.discard()

        # one search (alg-the-whole-algorithm-run)
        same = self.noise == self.oracle.noise
        view = self.oracle if same else NoiseView(self.oracle, self.noise)
        self.survey = Survey(view, self.features, self.ledger, self.rng, self.precision)
        self.survey.run()
        self.evidence = GatheredEvidence(view, self.survey, self.ledger)
        self.verdict = decide(self.evidence)

        # no remedy where a machine was found, or S_Y within bounds, or after enough attempts
        found = self.verdict.kernel_type != "unknown" or self.verdict.candidate is not None
        hidden = self.survey.bounded and self.result().rank is not None
        if found or hidden or self.coarser >= SETTINGS.most_coarser:
            return None
        with self.ledger.stage("diagnosis"):
            again = remedy_for(self.oracle, self.evidence, self.noise)
        if isinstance(again, Remedy):
            return again
        self.verdict = replace(self.verdict, message=again or self.verdict.message)
        return None

    def result(self) -> Deconstruction:
        """The result, put together from what is known now."""
        survey, evidence, verdict = self.survey, self.evidence, self.verdict
        known: dict[str, Any] = {}
        if survey is not None:
            known |= {"scale": survey.scale, "points": survey.X}
        if evidence is not None:
            measured = vars(evidence)
            known |= {name: measured[name] for name in ("points", "normals", "singular_values")}
            subspace = measured.get("subspace", measured.get("subspace_by_normals"))
            if subspace is not None:
                known |= {"subspace": subspace.basis, "rank": subspace.rank}

        # a machine that has passed the agreement test
        candidate = verdict.candidate
        if candidate is not None:
            known |= {"subspace": candidate.basis, "rank": candidate.rank}
            known["surrogate" if candidate.surrogate else "machine"] = candidate.machine
            if candidate.own_vectors and not candidate.surrogate:
                known |= {"own_vectors": True, "n_support": len(candidate.machine.support_vectors)}
        return Deconstruction(
            verdict.kernel_type, message=verdict.message, agreement=verdict.agreement,
            queries_by_stage=self.ledger.queries, noise=self.noise, width=self.precision.width,
            **known)
