"""What the labels of a model have told: the result of the whole algorithm."""

import json
import warnings
from collections import defaultdict
from dataclasses import dataclass, field, fields
from os import PathLike
from textwrap import fill
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from ..families.accuracy import FAINT_ERROR
from ..families.protocol import Candidate
from ..families.relu.network import ReluNetwork
from ..families.tanh.uniqueness import doubt
from ..machine import KernelMachine, ScaledMachine, npz_path
from ..oracles.oracle import real_points
from ..oracles.precision import DOUBLE
from ..types import ArrayLike
from .frame import spread_of
from .surrogate import Surrogate, saved_machine

QUASI = "quasi-support vectors"  # others with the same function


@dataclass(frozen=True)
class Verdict:
    """What the strategy has come to.

    Attributes
    ----------
    kernel_type : str
        The name of a family, or 'unknown'.
    message : str
        Why it is unknown, or what is to be kept in mind.
    candidate : Candidate or None
        The machine that passed the agreement test.
    agreement : dict
        What the test has found; if no candidate passed, that of the last one that failed.
    cause : str
        Of an 'unknown' model: one of the `VERDICTS` of `decon.extraction.causes`, or nothing.
        'clipped' also beside a machine that was found within the bounds.
    """

    kernel_type: str = "unknown"
    message: str = field(default="", repr=False)
    candidate: Candidate | None = field(default=None, repr=False)
    agreement: dict[str, float] = field(default_factory=dict)
    cause: str = ""


@dataclass(frozen=True)
class Deconstruction:
    """What the labels of a model have told about the machine inside.

    Attributes
    ----------
    kernel_type : str
        'linear', 'quadratic', 'cubic', 'polynomial of degree D', 'tanh', 'gaussian',
        'relu network' or 'unknown'.
    subspace : array (d, rank) or None
        Orthonormal basis of the kernel subspace S_Y.
    rank : int or None
        The dimension m of S_Y: the number of linearly independent support vectors. Where it equals
        d there are at least d of them; how many, a quadratic boundary does not show. A linear
        boundary shows one direction, however many support vectors made it.
    rank_bounds : (int, int) or None
        The smallest and the largest rank that the labels allow: both are `rank` where a machine has
        passed the agreement test without a caveat; it does not see directions a thousand times
        weaker than the others, nor vectors of a Gaussian farther out than twice the size of the
        features. Elsewhere directions too weak to show may be hidden, and without a machine `rank`
        is an estimate, of which so many are clear of the noise, at least.
    n_support : int or None
        The number of support vectors of the machine where these are the model's own, under the
        hypotheses stated for `own_vectors`; else None.
    machine : KernelMachine, ScaledMachine, ReluNetwork or None
        Reproduces the model, and has passed the agreement test; its largest |weight| is 1. A
        ScaledMachine is a machine with its kernel in `units` only, as all Gaussians are. None
        for 'unknown' models, for polynomials of too many coefficients, and where a model is too
        coarse for more than a name (see `message`).
    own_vectors : bool
        True when the machine's support vectors are the model's own (cubic, tanh, Gaussian; rows of
        the features with any kernel); False for quasi-support vectors, which give the same
        function, and for vectors that may be wrong one by one, or too few (`message` says why). Not
        estimated are the errors of tanh and cubic machines of more than 1,000 numbers, and of
        cubics that have more vectors than dimensions or could not be sharpened.
        Own vectors of a dot-product kernel, unless they are rows of the features, are those of the
        machine written in x, or behind the scaler of a ScaledMachine, with the kernels
        (x.y + 1)^3, (x.y)^3 or tanh(x.y + beta): gamma, coef0 and a scaler in front of the model
        are part of them. Each vector of a homogeneous cubic is known up to a factor, those of a
        tanh up to one sign for all, or if beta = 0 one for each. Equal vectors of the model count
        as one, as do those that differ by such a factor or sign, or as none if their terms cancel;
        a vector 0 of a dot-product kernel is part of the threshold. A cubic counts as homogeneous
        if its constants are within ten of their errors.
        Where a theorem is known, its hypotheses hold for the machine found, and no other machine of
        this kernel, with any constants, has this boundary: of a cubic with at most as many vectors
        if the y_i are linearly independent (cor-support-vectors-of-a-cubic-count), of a tanh at all
        if there are three or more and they are independent (thm-tanh-at-infinity-unique), of a
        Gaussian in the same units with a threshold b that is not 0 and 2 <= m <= d affinely
        independent vectors, if the model has fewer than m (m + 1) / 2
        (thm-gaussian-measuring-stick-unique). More vectors of a cubic than dimensions are the only
        ones nearby, by the rank of the derivatives, and for almost every machine the only ones at
        all, among machines with at most as many [Chiantini, Ottaviani and Vannieuwenhoven 2017].
        (Nine vectors (y_i, 1) in six dimensions, such as histograms of six entries, may have
        another machine. They are not called the model's own, with or without others in further
        dimensions; nor are more than n vectors in n that leave no coefficient to spare,
        C(n + 2, 3) / n, such as twelve histograms of seven, which the theorem does not cover;
        nor, out of caution, are two of a homogeneous cubic: many forms in two variables are sums of
        two cubes, so that the fit hardly shows how many vectors there are. Such sets among vectors
        whose dimensions they share are not looked for.) For other Gaussians, for
        Gaussian rows of the features and for rows with other kernels no theorem is tested: True
        says that the fit reaches ten widths of the brackets (of rows: at half of the held-out
        points), and none of the vectors can be left out. `summary` says which it is (of cubic or
        tanh rows that no theorem covers: "as far as the fit shows").
        For a Gaussian whose vectors are not rows of the features, True says that the machine passes
        through nine in ten of the narrow brackets to within ten of their widths (a thousand, if it
        has more than 1,000 numbers), and presumes that no vector lies farther out than twice the
        size of the features. Nearer, at the features and at 400 sampled places, a further vector
        with the smallest weight found would have displaced a measured boundary point by a thousand
        brackets; farther away it may leave no trace. Where the vectors are rows of the features, it
        presumes that all of them are.
        Vectors nearer to each other than `separation` may have been found as one.
    separation : float
        Of a Gaussian's own vectors: a further one at this distance from one of them, in units of
        that one's length, and with the smallest weight found, would have shown. 0 if
        `own_vectors` is False, if they are rows of the features, and for other kernels, with
        which two vectors are fitted as one only if they agree to about a millionth.
    surrogate : Surrogate or None
        Where `machine` is None: the best stand-in that was found, with its measured agreement. Its
        kernel need not be the model's.
    agreement : dict
        The held-out agreement test: agreement with fresh labels 'far' from the recovered boundary
        (or with those of the given features, if that is less) and 'close' to it (at 1e-5 of the
        data's scale on either side).
    queries_by_stage : dict
        Queries spent in every stage.
    message : str
        Why the type is 'unknown', or what is to be kept in mind about the result.
    scale : float
        R0, the root mean square norm of the given features, in `units`.
    units : array (d,)
        What lengths of the search were measured in: the spread of each feature, where these are
        very different or the search in their own units has failed; else 1.
    singular_values : array
        Those that S_Y was read from: of [M k] for a quadratic, of N - X Gamma for a Gaussian,
        else of the matrix of normals.
    points : array (s, d)
        Boundary points.
    normals : array (s, d)
        Their unit normals, where S_Y was sought by normals (a quadratic needs none).
    noise : float
        The rate of wrong answers that was assumed: the oracle's, or an upper confidence bound
        where the model contradicted itself.
    width : float
        Of the brackets, in units of the curvature scale: 1e-12, or wider where rounding was
        found to decide the labels near the boundary.
    labels : pair
        The model's own labels for +1 and for -1.
    verdict : str
        What kind of model it is, as far as labels show: the `kernel_type`, or where that is
        'unknown', one of the `VERDICTS` of `decon.extraction.causes`. 'clipped' also for a model
        whose machine was found within the bounds that it clips its features to.
    bounds : array (2, d) or None
        The range of each feature beyond which a 'clipped' model sees no difference.
    step : float or None
        The step of a grid that a model rounds its features to.

    Examples
    --------
    >>> from decon import KernelMachine, Linear, Oracle, deconstruct
    >>> model = KernelMachine(Linear(), [[2., 1., 0.]], [1.], 0.5)
    >>> features = np.random.default_rng(0).standard_normal((20, 3))
    >>> result = deconstruct(Oracle(model.predict, dimension=3), features)
    >>> result.kernel_type, result.rank, result.verdict, result.own_vectors
    ('linear', 1, 'linear', False)
    >>> bool((result.predict(features) == model.predict(features)).all())
    True
    """

    kernel_type: str = "unknown"
    subspace: np.ndarray | None = None
    rank: int | None = None
    rank_bounds: tuple[int, int] | None = None
    n_support: int | None = None
    machine: Any = None
    own_vectors: bool = False
    separation: float = 0.0
    surrogate: Any = None
    agreement: dict[str, float] = field(default_factory=dict)
    queries_by_stage: dict[str, int] = field(default_factory=dict)
    message: str = ""
    scale: float = np.nan
    singular_values: np.ndarray = field(default_factory=lambda: np.empty(0))
    points: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    normals: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    units: np.ndarray = field(default_factory=lambda: np.empty(0))
    noise: float = 0.0
    width: float = DOUBLE.width
    labels: tuple[Any, Any] = (1, -1)
    verdict: str = ""
    bounds: np.ndarray | None = None
    step: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", self.verdict or self.kernel_type)

    def __repr__(self) -> str:
        total = sum(self.queries_by_stage.values())
        return f"Deconstruction({self.kernel_type!r}, rank={self.rank}, {total:,} queries)"

    def summary(self) -> str:
        """The result in a few lines of text.

        Returns
        -------
        str
        """
        # what was found
        known = "not known" if self.rank is None else str(self.rank)
        if self.rank_bounds and self.rank_bounds[0] < self.rank_bounds[1]:
            known = f"at least {self.rank_bounds[0]}, apparently {known}"
        lines = [f"kernel        {self.kernel_type}", f"rank of S_Y   {known}"]
        if self.verdict != self.kernel_type:
            lines.insert(1, f"verdict       {self.verdict}")
        if self.machine is not None:
            lines.append(_note("machine", self._described(self.machine)))
        if self.surrogate is not None:
            lines.append(f"surrogate     {self._described(self.surrogate.machine, False)}")
            lines += [f"  {where:12s}{value:.4g}{' spreads' * (where == 'distance')}"
                      for where, value in self.surrogate.agreement.items()]

        # how well it is tested, in which circumstances, and what it has cost
        lines += [f"agreement     {value:.4f} {where}" for where, value in self.agreement.items()]
        if np.ptp(self.units) if len(self.units) else 0:
            smallest, largest = self.units.min(), self.units.max()
            lines.append(f"units         spreads of the features, {smallest:.2g} to {largest:.2g}")
        if self.noise:
            lines.append(f"noise         {100 * self.noise:.2g}% of the answers, voted down")
        if self.width > DOUBLE.width:
            lines.append(f"precision     {self.width:.1g} of the curvature scale")
        lines.append(f"queries       {sum(self.queries_by_stage.values()):,}")
        lines += [f"  {stage:<12}{n:>8,}" for stage, n in self.queries_by_stage.items()]
        if self.message:
            lines.append(_note("note", self.message))
        return "\n".join(lines)

    def _described(self, machine, extracted=True):
        """A machine in a few words."""
        if not isinstance(getattr(machine, "machine", machine), KernelMachine):
            return repr(machine)
        m = len(machine.weights)
        scaled = " behind a scaler" if isinstance(machine, ScaledMachine) else ""
        if extracted and self.own_vectors:
            return f"{m} support vectors{scaled}, the model's own{self._condition()}"
        if extracted and self.kernel_type in ("tanh", "gaussian"):
            return f"{m} support vectors{scaled}, perhaps not the model's own"
        return f"{m} {QUASI}{scaled}"  # mixtures

    def _condition(self):
        """Under which condition a theorem says that the machine's vectors are the model's own."""
        # independent vectors, of a cubic or tanh, whatever their lengths, by more than their errors
        machine = getattr(self.machine, "machine", self.machine)
        Y = machine.support_vectors
        inside = Y * self.units if machine is self.machine and len(self.units) else Y
        lengths = np.linalg.norm(inside, axis=1, keepdims=True)
        values = np.linalg.svd(inside / np.where(lengths > 0, lengths, 1), compute_uv=False)
        rank = int((values > FAINT_ERROR * np.sqrt(len(Y))).sum())
        if self.kernel_type == "tanh" and not doubt(len(Y), rank):
            return ""
        proved = self.kernel_type == "cubic" and rank == len(Y)
        if self.kernel_type in ("cubic", "tanh"):
            return f" if it has at most {len(Y)}" if proved else " as far as the fit shows"

        # rows of the features: another kernel's, or a Gaussian's of which nothing was measured
        if not self.separation:
            return " if they are rows of the features"

        # of a Gaussian, affinely independent ones by more than their errors: no singular value
        # changes by more than the norm of these
        m, spread = len(Y), 0.0
        if 2 <= m <= Y.shape[1] and machine.threshold != 0:
            spread = np.linalg.svd(Y - Y.mean(0), compute_uv=False)[m - 2]
        proved = spread > FAINT_ERROR * np.linalg.norm(Y)
        few = f" if it has fewer than {m * (m + 1) // 2}, none far from the features"
        return few if proved else " as far as the fit shows"

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The labels of the recovered machine, or of the surrogate where there is none.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : array (n,)
            In the model's own words.

        Raises
        ------
        TypeError, ValueError
            If there is neither a machine nor a surrogate, or X does not hold such points.

        Warns
        -----
        UserWarning
            Where the labels are those of the surrogate, with its measured agreement.
        """
        stand_in = self.machine
        if stand_in is None and self.surrogate is None:
            raise ValueError("there is neither a machine nor a surrogate to predict with: "
                             + self.message)
        if stand_in is None:
            stand_in = self.surrogate
            around = self.surrogate.agreement["around"]
            warnings.warn("no machine was recovered: these labels are those of the surrogate, "
                          f"which agrees on {100 * around:.1f}% of points around the features",
                          stacklevel=2)
        positive, negative = self.labels
        X = real_points(X, None)
        X = X if self.bounds is None else np.clip(X, *self.bounds)
        return np.where(stand_in.predict(X) > 0, positive, negative)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """How often `predict` agrees with given labels.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
            Labels in the model's own words: the model's answers, or the truth.

        Returns
        -------
        accuracy : float
            From 0 to 1.

        Raises
        ------
        ValueError
            As `predict`, or if there is another number of labels than of points.
        """
        predicted, y = self.predict(X), np.asarray(y)
        if y.shape != predicted.shape:
            raise ValueError(f"expected {len(predicted)} labels, got an array of shape {y.shape}")
        return float((predicted == y).mean())

    def match(self, X: ArrayLike, tolerance: float = 1e-6) -> np.ndarray:
        """Which rows of a table are support vectors of the model?

        Without rows of the table among the features given to `deconstruct`, the vectors of a
        dot-product kernel are known only as those of the machine written in x (see `own_vectors`),
        and no row may match.

        Parameters
        ----------
        X : array (n, d)
        tolerance : float
            Largest distance in any feature, in units of the feature's spread over the table.

        Returns
        -------
        indices : int array
            In the order of the table.

        Raises
        ------
        ValueError
            If the machine's support vectors are not the model's own.
        """
        if not self.own_vectors:
            raise ValueError("no row can be matched: the support vectors of the model are not known"
                             + (f" ({self.message})" if self.message else ""))
        X = real_points(X, self.machine.dimension, "rows")
        spread = spread_of(X)
        nearest = KDTree(self.machine.support_vectors / spread)
        return np.flatnonzero(nearest.query(X / spread, p=np.inf)[0] <= tolerance)

    def plot(self) -> None:
        """Draw the singular values that S_Y was read from, beside the queries of every stage."""
        import matplotlib.pyplot as plt  # the one thing here that needs it

        from ..teaching.plotting import plot_singular_values

        _, (left, right) = plt.subplots(1, 2, figsize=(6.5, 2.8), constrained_layout=True)
        if len(self.singular_values):
            plot_singular_values(left, self.singular_values, self.rank)
        stages = self.queries_by_stage
        right.barh(list(stages)[::-1], list(stages.values())[::-1], color="0.5")
        right.set(xlabel="queries")

    def save(self, path: str | PathLike) -> None:
        """Write the result to an npz file: plain arrays and strings, no pickle.

        Parameters
        ----------
        path : path-like
            The ending .npz is added if it is missing.

        Raises
        ------
        TypeError
            If the machine is of another class: a family of your own may have one.
        """
        arrays: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, dict | tuple):
                arrays[f"{item.name}.json"] = json.dumps(value)
            elif isinstance(value, KernelMachine | ScaledMachine | ReluNetwork | Surrogate):
                arrays |= {f"{item.name}.{k}": v for k, v in value.to_arrays().items()}
            elif item.name == "machine" and value is not None:
                raise TypeError(f"a {type(value).__name__} cannot be saved, only a machine of ours")
            elif value is not None:
                arrays[item.name] = value
        np.savez(npz_path(path), **arrays)

    @classmethod
    def load(cls, path: str | PathLike) -> "Deconstruction":
        """Read a result that `save` wrote.

        Parameters
        ----------
        path : path-like
            As given to `save`.

        Returns
        -------
        result : Deconstruction

        Raises
        ------
        OSError
            If there is no such file.
        """
        # dicts as JSON, machines as parts, and all else as it is
        values: dict[str, Any] = {}
        machines: dict[str, dict] = defaultdict(dict)
        with np.load(npz_path(path), allow_pickle=False) as file:
            for key, array in file.items():
                name, _, part = key.partition(".")
                if part == "json":
                    value = json.loads(array.item())
                    values[name] = tuple(value) if isinstance(value, list) else value
                elif part:
                    machines[name][part] = array
                else:
                    values[name] = array if array.ndim else array.item()

        # machines from their parts
        kinds = {"machine": saved_machine, "surrogate": Surrogate.from_arrays}
        values |= {name: kinds[name](parts) for name, parts in machines.items()}
        return cls(**values)


def _note(name, text):
    """A line of the summary; a long one goes on below its beginning."""
    return fill(text, 80, initial_indent=f"{name:14s}", subsequent_indent=" " * 14)
