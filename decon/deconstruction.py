"""The whole algorithm: from the labels of a box to a machine that reproduces it, certified."""

from dataclasses import dataclass, field
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from .diagnosis import remedy_for
from .machine import KernelMachine, npz_path
from .oracle import Oracle, OracleError
from .plotting import plot_singular_values
from .precision import DOUBLE, WIDTH
from .search import Search

WIDER = 2  # so many searches are made with wider brackets, each with other points


@dataclass
class Deconstruction:
    """What the labels of a box have told about the machine inside.

    Attributes
    ----------
    kernel_type : str
        'linear', 'quadratic', 'cubic', 'tanh', 'gaussian' or 'unknown'.
    subspace : array (d, m) or None
        Orthonormal basis of the kernel subspace S_Y.
    n_support : int or None
        Its dimension m: the number of linearly independent support vectors. Where it equals d
        there are at least d of them; how many, a quadratic boundary does not show. A linear
        boundary shows one direction, however many support vectors made it. Where `exact` is True
        it is the number of support vectors, recovered one by one.
    machine : KernelMachine or None
        Reproduces the box; its largest |weight| is 1. None for 'unknown' boxes, for polynomials of
        too many coefficients, and where a box is too coarse for more than a name (see `reason`).
    exact : bool
        True when the machine's support vectors are the box's own (cubic, tanh, Gaussian), a tanh's
        or a homogeneous cubic's up to the factor and sign that no label shows; False for
        quasi-support vectors, which give the same function. It presumes that a cubic's (y_i, 1) are
        independent: some dependent ones are the same function as others that are fewer.
    agreement : dict
        The certificate: agreement with fresh answers 'far' from the recovered boundary and
        'close' to it (at 1e-5 of the data's scale on either side).
    queries : dict
        Queries spent in every stage.
    reason : str
        Why the type is 'unknown', or what is to be kept in mind about the result.
    scale : float
        R0, the root mean square norm of the given features.
    singular_values : array
        Those that S_Y was read from: of [M k] for a quadratic, of N - X Gamma for a Gaussian,
        else of the matrix of normals.
    points : array (s, d)
        Boundary points.
    normals : array (s, d)
        Their unit normals, where S_Y was sought by normals (a quadratic needs none).
    noise : float
        The rate of wrong answers that was reckoned with: the oracle's, or an upper estimate where
        the box contradicted itself.
    width : float
        Of the brackets, in units of the reach: 1e-12, or wider where the labels near the boundary
        were found to be rounding.
    """

    kernel_type: str = "unknown"
    subspace: np.ndarray | None = None
    n_support: int | None = None
    machine: KernelMachine | None = None
    exact: bool = False
    agreement: dict = field(default_factory=dict)
    queries: dict = field(default_factory=dict)
    reason: str = ""
    scale: float = np.nan
    singular_values: np.ndarray = field(default_factory=lambda: np.empty(0))
    points: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    normals: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    noise: float = 0.0
    width: float = WIDTH

    def summary(self):
        """The result in a few lines of text."""
        total = sum(self.queries.values())
        known = "not known" if self.n_support is None else self.n_support
        lines = [f"kernel        {self.kernel_type}", f"dimension m   {known}"]
        if self.machine is not None:
            vectors = "the box's own" if self.exact else "quasi-support vectors"
            lines.append(f"machine       {len(self.machine.weights)} {vectors}")
        for where, agreement in self.agreement.items():
            lines.append(f"agreement     {agreement:.4f} {where}")
        if self.noise:
            lines.append(f"noise         {100 * self.noise:.2g}% of the answers, voted down")
        if self.width > WIDTH:
            lines.append(f"precision     {self.width:.1g} of the data's scale")
        lines.append(f"queries       {total:,}")
        lines += [f"  {stage:<12}{n:>8,}" for stage, n in self.queries.items()]
        if self.reason:
            lines.append(fill(self.reason, 80, initial_indent="note          ",
                              subsequent_indent=" " * 14))
        return "\n".join(lines)

    def plot(self):
        """Draw the singular values that S_Y was read from, beside the queries of every stage."""
        _, (left, right) = plt.subplots(1, 2, figsize=(6.5, 2.8), constrained_layout=True)
        if len(self.singular_values):
            plot_singular_values(left, self.singular_values, self.n_support)
        right.barh(list(self.queries)[::-1], list(self.queries.values())[::-1], color="0.5")
        right.set(xlabel="queries")

    def save(self, path):
        """Write the result to an npz file: plain arrays and strings, no pickle."""
        arrays = {
            name: getattr(self, name)
            for name in ("kernel_type", "exact", "reason", "scale", "singular_values", "points",
                         "normals", "subspace", "n_support", "noise", "width")
            if getattr(self, name) is not None
        }
        for name in ("agreement", "queries"):
            table = getattr(self, name)
            arrays[f"{name}_names"] = np.array(list(table), dtype=str)
            arrays[f"{name}_values"] = np.array(list(table.values()))
        if self.machine is not None:
            arrays |= {f"machine_{k}": v for k, v in self.machine.to_arrays().items()}
        np.savez(npz_path(path), **arrays)

    @classmethod
    def load(cls, path):
        """Read a result that `save` wrote."""
        with np.load(npz_path(path), allow_pickle=False) as file:
            arrays = dict(file)
        result = cls(str(arrays["kernel_type"]), exact=bool(arrays["exact"]),
                     reason=str(arrays["reason"]), scale=float(arrays["scale"]),
                     noise=float(arrays.get("noise", 0)), width=float(arrays.get("width", WIDTH)))
        for name in ("singular_values", "points", "normals", "subspace"):
            setattr(result, name, arrays.get(name))
        if "n_support" in arrays:
            result.n_support = int(arrays["n_support"])
        for name in ("agreement", "queries"):
            names, values = arrays[f"{name}_names"], arrays[f"{name}_values"]
            setattr(result, name, dict(zip(names.tolist(), values.tolist(), strict=True)))
        machine = {k[8:]: v for k, v in arrays.items() if k.startswith("machine_")}
        result.machine = KernelMachine.from_arrays(machine) if machine else None
        return result


def deconstruct(oracle, features, random_state=0, progress=True):
    """Take a box apart: kernel, number of support vectors, their span, and the boundary.

    Linear and quadratic machines come back with quasi-support vectors, cubic, tanh and Gaussian
    ones with their own. Any other box ends as 'unknown', with the reason.

    Parameters
    ----------
    oracle : Oracle
    features : array (k, d)
        A few points with both labels among them. Their root mean square norm sets the scale
        of the search, so let them be typical.
    random_state : int or numpy.random.Generator
        The same call gives the same answer.
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
        As the oracle raises them; `error.result` is a Deconstruction with what was known.

    Notes
    -----
    The certificate speaks for the region where it asks: near the features, and out to about
    three times their root mean square norm from the origin. What a box does elsewhere, or in
    corners that 800 questions do not meet, it does not show; and on a line (d = 1) all boxes
    with the same crossings are alike.

    Every machine returned has passed the certificate. Without one a box is named in two cases:
    a polynomial of more coefficients than are fitted, by its degree, and 'tanh' or 'gaussian',
    by the shape of the boundary, where the box was found to be too coarse for more; `agreement` is
    empty then. A machine is named after the simplest kernel with its boundary: with one support
    vector, a Gaussian's is a sphere (quadratic), a tanh's or a cubic's a plane (linear).

    A box that ends as 'unknown' is diagnosed: if it contradicts itself the search is repeated with
    votes, and if its boundary is rounded, with wider brackets (see `noise` and `width` of the
    result).

    Examples
    --------
    >>> import numpy as np
    >>> from decon import KernelMachine, Oracle, Polynomial, deconstruct
    >>> box = KernelMachine.random(Polynomial(degree=2), dimension=8, n_support=3)
    >>> features = np.random.default_rng(0).standard_normal((20, 8))
    >>> result = deconstruct(Oracle(box.predict, dimension=8), features)
    >>> result.kernel_type, result.n_support, result.agreement
    ('quadratic', 3, {'far': 1.0, 'close': 1.0})
    """
    if not isinstance(oracle, Oracle):
        raise TypeError(f"expected an Oracle, got {type(oracle).__name__}: wrap the box as "
                        "Oracle(predict, dimension)")
    rng, given = np.random.default_rng(random_state), oracle.noise
    result, precision, wider = Deconstruction(noise=given), DOUBLE, 0
    try:
        while True:
            search = Search(oracle, rng, result, progress, precision)
            with search.bar:
                search.run(features)
                remedy = None
                hidden = search.bounded and result.n_support is not None  # by walls: no remedy
                if result.kernel_type == "unknown" and not (result.machine or hidden) \
                        and wider < WIDER:
                    with search.stage("diagnosis"):
                        remedy = remedy_for(search)
            if remedy is None:
                return result
            oracle.noise, precision = remedy
            wider += precision != DOUBLE
            result = Deconstruction(noise=oracle.noise, width=precision.width,
                                    queries={"in vain": sum(result.queries.values())})
    except (OracleError, KeyboardInterrupt) as error:
        result.reason = f"interrupted: {error}" if str(error) else "interrupted"
        error.result = result
        raise
    finally:
        oracle.noise = given
