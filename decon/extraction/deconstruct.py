"""The whole algorithm: from the labels of a model to a machine that reproduces it, tested."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from ..families.sharpening.settings import SETTINGS as SHARPENING
from ..kernels import Kernel, Polynomial, Tanh
from ..oracles.errors import SearchTooLong, SeveralClasses
from ..oracles.oracle import Oracle, real_points, votes_to_lead
from ..oracles.precision import DOUBLE
from ..oracles.views import SearchView
from ..subspaces.symmetry import REVOLUTION
from ..types import ArrayLike, RandomState
from .causes import find_cause
from .diagnosis import Remedy, remedy_for
from .evidence import GatheredEvidence
from .frame import frames, given_frame
from .ledger import Ledger
from .result import Deconstruction, Verdict
from .settings import SETTINGS
from .stand_in import find_surrogate, measured
from .strategy import decide
from .survey import Survey


def deconstruct(oracle: Oracle, features: ArrayLike | None = None, random_state: RandomState = 0,
                progress: bool = True, units: str | ArrayLike = "auto",
                surrogate: bool = True,
                largest_fit: int = SHARPENING.most_numbers) -> Deconstruction:
    """Extract a kernel machine from labels: kernel, support vectors, their span, the boundary.

    This is functionally equivalent extraction in the hard-label setting. Linear and quadratic
    machines come back with quasi-support vectors, cubic, tanh and Gaussian ones with their own. Any
    other model ends as 'unknown', with the reason and a stand-in, the `surrogate`.

    Parameters
    ----------
    oracle : Oracle
    features : array (k, d) or DataFrame, optional
        A few points with both labels among them; left out, the examples of an oracle that was made
        by `Oracle.from_examples`. Their spread and their size set the scale of the
        search, so let them be typical. If all support vectors are among them, as they are in the
        training table, these are found even where they number more than d.
    random_state : int or numpy.random.Generator
        The same call gives the same result.
    progress : bool
        Show a progress bar when the work takes more than a few seconds.
    units : 'auto', 'given' or array (d,) of positive numbers
        What lengths are measured in. 'auto': in the units of the features, and where these vary
        very differently or lie far from 0, in their standard deviations about their means; see
        `frames`. If the one finds nothing, the other may be tried. The result is in the units of
        the features in every case.
    surrogate : bool
        Whether a stand-in is made where no machine is found, with 10,000 to 80,000 queries more;
        see `find_surrogate`.
    largest_fit : int
        A machine of up to so many numbers, m (d + 1), is fitted to all brackets at once. As a rule
        that takes fewer queries, by up to half, or shows up to three more digits of the boundary;
        its time grows with the cube of the numbers, to some minutes for 2,500. (A linear machine
        is fitted up to d = 2,000 in any case.)

    Returns
    -------
    Deconstruction

    Raises
    ------
    TypeError
        If oracle is not an Oracle, there are no features, or largest_fit is no whole number.
    ValueError
        If features do not have shape (k, d), hold NaN, are all zero, or all get the same label, or
        if units is none of the three, or if largest_fit is negative.
    OracleError, BudgetExhausted
        As the oracle raises them. Whatever is raised, `error.result` is a Deconstruction with what
        was known by then.

    Notes
    -----
    The agreement test speaks for the region where it queries: near the features, and out to about
    three times their root mean square norm from the origin, to a hundred thousandth of the spread
    of every feature, or to a hundred widths of a bracket where these are more; and the features
    themselves must get their labels. It says nothing about how the model behaves elsewhere, or in
    corners that its 800 queries miss; and on a line (d = 1) labels cannot tell models with the same
    crossings apart.

    Every machine returned has passed the agreement test. In two cases a model is named, but no
    machine is returned and `agreement` is empty: a polynomial with too many coefficients to fit is
    named by its degree, and a model that rounds too coarsely to be fitted is named 'tanh' or
    'gaussian' by the shape of its boundary. A machine is named after the simplest kernel with its
    boundary: with one support vector, a Gaussian's is a sphere (quadratic), a tanh's or a cubic's a
    plane (linear).

    With `budget='auto'`, a search is given up after 600,000 + 50 d^2 queries, times the votes that
    noise takes, and twice as many where the model rounds; what stands in for the model is still
    made and measured. A stage of more than 50,000 queries is announced.

    A model that ends as 'unknown' is diagnosed: if it contradicts itself, the search is repeated
    with votes; if rounding displaces its boundary, with wider brackets (see `noise` and `width` of
    the result); if it clips its features, within the bounds. If there is no remedy, `verdict` and
    `message` say what kind of model the labels are consistent with, and what to do.

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
    features = oracle.examples if features is None else features
    if features is None:
        raise TypeError("there are no features: give a few typical points of both labels, or make "
                        "the oracle with Oracle.from_examples(predict, X)")

    if not isinstance(largest_fit, Integral):
        raise TypeError("largest_fit is a whole number, m (d + 1) of the largest machine to be "
                        f"fitted at once; got {largest_fit!r}")
    if largest_fit < 0:
        raise ValueError(f"largest_fit has to be at least 0, which fits none; got {largest_fit}")

    # one search, or more of them, until no remedy is left
    attempt = _Attempt(oracle, features, units, np.random.default_rng(random_state), progress,
                       largest_fit)
    try:
        remedy: Remedy | None = attempt.first()
        while remedy is not None:
            remedy = attempt.run(remedy)
        if surrogate:
            attempt.find_stand_in()
        return attempt.result()

    # whatever is raised, with what was known by then
    except BaseException as error:
        attempt.verdict = Verdict(message=f"interrupted: {error}" if str(error) else "interrupted",
                                  agreement=getattr(attempt.evidence, "disagreement", None) or {},
                                  cause=isinstance(error, SeveralClasses) * "several classes")
        error.result = attempt.result()  # type: ignore[attr-defined]
        raise
    finally:
        attempt.ledger.close()


class _Attempt:
    """One search after another, each with its view of the oracle, until no remedy is left."""

    def __init__(self, oracle, features, units, rng, progress, largest_fit):
        self.oracle, self.features, self.units, self.rng = oracle, features, units, rng
        self.ledger, self.coarser, self.started = Ledger(oracle, progress), 0, oracle.queries
        self.remedy = Remedy(oracle.noise, DOUBLE, given_frame(oracle.dimension))
        self.survey = self.evidence = self.kept = self.clipped = self.surrogate = None
        self.largest_fit = largest_fit

    def first(self) -> Remedy:
        """How to search first; `frames` are the other coordinates, if any are to be tried."""
        self.features = real_points(self.features, self.oracle.dimension, "features")
        self.frames = frames(self.features, self.oracle.bounds, self.units)
        return self.remedy._replace(frame=self.frames.pop(0))

    def run(self, remedy: Remedy) -> Remedy | None:
        """Survey, strategy and, where nothing was found, the diagnosis: how to search again."""
        # discard what was measured, and follow the remedy
        self.survey, self.evidence, self.verdict, self.remedy = None, None, Verdict(), remedy
        noise, precision, frame, bounds = remedy
        self.coarser += precision != DOUBLE
        self.ledger.discard()

        # one search (alg-the-whole-algorithm-run)
        view = SearchView(self.oracle, noise, bounds, self._limit(noise, precision))
        seen = frame.view(view)
        features = frame.coordinates(self.features)
        self.survey = Survey(seen, features, self.ledger, self.rng, precision)
        self.survey.run()
        self.evidence = GatheredEvidence(seen, self.survey, self.ledger, frame,
                                         largest_fit=self.largest_fit)
        try:
            self.verdict = decide(self.evidence)
        except SearchTooLong as error:
            view.limit = None
            self.verdict = Verdict(message=str(error))
            return self._explain()
        view.limit = None  # what is left to do is cheap

        # no remedy where a machine was found, or S_Y within bounds, or after enough attempts
        if self.verdict.kernel_type != "unknown" or self.verdict.candidate is not None:
            return self._within_bounds()
        hidden = self.survey.bounded and self.result().rank is not None
        if self.verdict.cause or hidden or self.coarser >= SETTINGS.most_coarser:
            return self._explain()

        # in other coordinates, if the boundary may be radial there, or looks flat though it is no
        # plane, or a machine was nearly right;
        # where that finds nothing either, what the first search has seen is kept
        if self.frames and self._may_differ():
            self.kept = self.survey, self.evidence, self.verdict, self.remedy
            return remedy._replace(frame=self.frames.pop())
        if self.kept is not None:
            self.survey, self.evidence, self.verdict, self.remedy = self.kept
            self.kept = None

        # by what the diagnosis says
        with self.ledger.stage("diagnosis"):
            again = remedy_for(self.oracle, self.evidence, self.remedy)
        if isinstance(again, Remedy):
            return again
        return self._explain(again)

    def _limit(self, noise, precision):
        """How many queries are too many, for so many votes, and for brackets so wide."""
        if self.oracle.budget != "auto":
            return None
        votes, d = votes_to_lead(noise) * (1 + (precision != DOUBLE)), self.oracle.dimension
        budget = SETTINGS.auto_budget + SETTINGS.auto_budget_per_square * d**2
        return self.started + votes * budget

    def _explain(self, diagnosis=""):
        """The cause, where no machine was found; of a clipped model, a search within the bounds."""
        # where it is not known yet: find out
        verdict = replace(self.verdict, message=diagnosis or self.verdict.message)
        if not verdict.cause and not self.remedy.bounds:
            self.evidence.cause = find_cause(self.evidence, rough=bool(diagnosis))
            verdict = self.evidence.cause.as_verdict(verdict.agreement, verdict.message)
        self.verdict, cause = verdict, self.evidence.cause
        if cause is None or cause.bounds is None:
            return self._within_bounds()

        # within the bounds, in which labels of the features are the same
        bounds, self.clipped = cause.bounds, self.verdict
        self.features = np.clip(self.features, *bounds)
        self.frames = frames(self.features, bounds, self.units)
        return self.remedy._replace(frame=self.frames.pop(0), bounds=bounds)

    def _within_bounds(self):
        """No further search; what was found within the bounds of a clipped model says so."""
        if self.remedy.bounds:
            found, clipped = self.verdict, self.clipped
            inside = found.message or "the machine holds within these bounds"
            self.verdict = replace(found, cause=clipped.cause,
                                   message=f"{clipped.message}. Searched within them: {inside}")

    def find_stand_in(self) -> None:
        """Where there is no machine, the best surrogate, measured on queries of its own."""
        candidate, frame = self.verdict.candidate, self.remedy.frame
        if candidate is not None and not candidate.surrogate:
            return

        # a machine that has passed the agreement test, though labels do not show its kernel
        base = self.evidence.oracle if frame.given else self.evidence.oracle.oracle
        width = self.remedy.precision.width
        if candidate is not None:
            with self.ledger.stage("surrogate"):
                self.surrogate = measured(base, self.features, candidate.machine, width, self.rng)
            return

        # if there is none, also of kernels that the shape of the boundary has shown
        kernels: list[Kernel] = [Tanh(1.0)] if self.verdict.kernel_type == "tanh" else []
        if self.verdict.cause.startswith("polynomial of degree"):
            kernels = [Polynomial(int(self.verdict.cause[-1]), 1 / self.oracle.dimension)]
        with self.ledger.stage("surrogate"):
            self.surrogate = find_surrogate(base, self.features, kernels, width=width,
                                            random_state=self.rng)

    def _may_differ(self):
        """May a search in other coordinates find more?"""
        radial = vars(self.evidence).get("one_label_far_away", False)
        nearly, flat = self.evidence.disagreement, self.survey.flat
        return radial or flat or nearly or self.remedy.frame.origin.any()

    def _rank_bounds(self, subspace):
        """The dimensions of normals that stand out of the noise of the first one without, and all.

        Normals lie in S_Y where the boundary is a cylinder; corrected ones only if S_Y is right.
        """
        values, rank = self.evidence.singular_values, subspace.rank
        noise = values[rank] if len(values) > rank else SETTINGS.faint_share * values[0]
        clear = int((values[:rank] > SETTINGS.clear_of_noise * noise).sum())
        low = 1 if subspace.symmetry is REVOLUTION else max(1, clear)
        return low, self.oracle.dimension

    def result(self) -> Deconstruction:
        """The result, put together from what is known now, in the model's coordinates."""
        survey, evidence, verdict = self.survey, self.evidence, self.verdict
        frame = self.remedy.frame
        known: dict[str, Any] = {"units": frame.units, "surrogate": self.surrogate,
                                 "labels": self.oracle.labels}
        if self.remedy.bounds is not None:
            known["bounds"] = np.array(self.remedy.bounds)
        if survey is not None:
            known |= {"scale": survey.scale, "points": frame.points(survey.X)}
        if evidence is not None:
            known |= {"points": frame.points(evidence.points),
                      "normals": frame.normals(evidence.normals),
                      "singular_values": evidence.singular_values}
            subspace = evidence.known_subspace
            if subspace is not None:
                known["subspace"] = frame.span(subspace.basis, subspace.symmetry is REVOLUTION)
                known |= {"rank": subspace.rank, "rank_bounds": self._rank_bounds(subspace)}
            known["step"] = evidence.cause.step if evidence.cause else None

        # a machine that has passed the agreement test
        candidate = verdict.candidate
        if candidate is not None:
            known |= {"subspace": candidate.basis, "rank": candidate.rank}
            if not candidate.surrogate:
                sure = candidate.own_vectors or not candidate.caveat
                high = candidate.rank if sure else self.oracle.dimension
                least = candidate.least_rank or candidate.rank
                low = 1 if self.remedy.precision.coarse else least
                known |= {"machine": candidate.machine, "rank_bounds": (low, high)}
            if candidate.own_vectors and not candidate.surrogate:
                known |= {"own_vectors": True, "separation": candidate.separation,
                          "n_support": len(candidate.machine.support_vectors)}
        message = verdict.message
        if known.get("rank") and "machine" not in known and not message.startswith("interrupted"):
            low, _ = known["rank_bounds"] = known.get("rank_bounds", (1, self.oracle.dimension))
            message = "; ".join(filter(None, [f"S_Y has at least {low} dimensions", message]))
        return Deconstruction(
            verdict.kernel_type, message=message, agreement=verdict.agreement,
            queries_by_stage=self.ledger.queries, noise=self.remedy.noise,
            width=self.remedy.precision.width, verdict=verdict.cause, **known)
