"""Kernel machines: a kernel, support vectors, weights and a threshold, whatever trained them."""

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .conventions.estimator import Estimator, checked_input
from .conventions.models import fitted_scaler, fitted_svc
from .conventions.numbers import as_numbers
from .kernels import Gaussian, Kernel, Linear, Polynomial, Tanh, kernel_from_sklearn
from .numerics.blocks import blocks


class KernelMachine(Estimator):
    """The classifier that says +1 where sum_i w_i K(x, y_i) > b, and -1 elsewhere (Eqs. 1, 2).

    The sum is called Psi(x). Equation 2 of the paper has the opposite sign; ours is
    scikit-learn's.

    For scikit-learn it is a classifier that has been fitted already, and is frozen: `fit` checks
    the examples and changes nothing, so that a machine can be the last step of a pipeline.
    (CONTRIBUTING.md lists the conventions that it does not follow, and why.)

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
        The function K.
    support_vectors : array (m, d)
        The y_i, one a row.
    weights : array (m,)
        The w_i, of either sign.
    threshold : float
        The number b.

    Raises
    ------
    ValueError
        If the shapes do not match or a number is not finite.

    Examples
    --------
    >>> machine = KernelMachine(Polynomial(degree=2), [[1., 0.], [0., 1.]], [1., -1.], 0.)
    >>> machine.decision_function([[2., 0.]])
    array([8.])
    >>> machine.predict([[2., 0.], [0., 2.]])
    array([ 1, -1], dtype=int8)
    """

    def __init__(self, kernel: Kernel, support_vectors: ArrayLike, weights: ArrayLike,
                 threshold: float):
        self.kernel = kernel
        self.support_vectors = np.array(support_vectors, float)
        self.weights = np.array(weights, float)
        self.threshold = float(threshold)
        if self.support_vectors.ndim != 2 or self.weights.shape != self.support_vectors.shape[:1]:
            raise ValueError("expected support_vectors of shape (m, d) and weights of shape (m,), "
                             f"got {self.support_vectors.shape} and {self.weights.shape}")
        if not all(np.isfinite(a).all() for a in (self.support_vectors, self.weights, threshold)):
            raise ValueError("support_vectors, weights and threshold must be finite")

    def __repr__(self) -> str:
        m, d = self.support_vectors.shape
        return f"KernelMachine({self.kernel}, {m} support vectors in dimension {d})"

    @property
    def dimension(self) -> int:
        """The number d of features."""
        return self.support_vectors.shape[1]

    @property
    def n_features_in_(self) -> int:
        """The number d of features, by scikit-learn's name."""
        return self.dimension

    @property
    def classes_(self) -> np.ndarray:
        """The labels, -1 and +1: array (2,)."""
        return np.array([-1, 1], np.int8)

    def __sklearn_clone__(self) -> "KernelMachine":
        return KernelMachine(**self.get_params(deep=False))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def set_params(self, **params: Any) -> "KernelMachine":
        """Set parameters of the constructor, which checks them.

        Parameters
        ----------
        **params
            By the names that `get_params` lists.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter, or they do not match. The machine stays as it was.
        """
        after = Estimator.set_params(copy(self), **params)
        self.__dict__ = KernelMachine(**after.get_params(deep=False)).__dict__
        return self

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> "KernelMachine":
        """Nothing is fitted: the machine stays as it is.

        Parameters
        ----------
        X : array (n, d)
            Points of the right shape.
        y : array (n,), optional
            Labels, which are checked and ignored.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If X is sparse.
        ValueError
            If X has another shape or an entry that is no finite number, or y holds no labels.
        """
        checked_input(self, X) if y is None else checked_input(self, X, y)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = tags.target_tags.required = False
        return tags

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Psi(x) - b at every point, positive where the label is +1.

        Parameters
        ----------
        X : array (n, d)
            The points x, one a row.

        Returns
        -------
        values : array (n,)

        Raises
        ------
        ValueError
            If X is not of shape (n, d).
        """
        psi = [self.kernel(x, self.support_vectors) @ self.weights for x in self._blocks(X)]
        return np.concatenate(psi) - self.threshold

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The labels +1 or -1 of the points.

        Parameters
        ----------
        X : array (n, d)
            The points, one a row.

        Returns
        -------
        labels : int8 array (n,)

        Raises
        ------
        ValueError
            If X is not of shape (n, d).
        """
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.int8)

    def to_sklearn(self) -> Any:
        """The same classifier as a scikit-learn SVC that has been fitted.

        No training: the attributes that `SVC.fit` sets are set, those that its `predict` reads
        among them. They are private, and a version of scikit-learn may rename them; this is tested
        with 1.9. `sklearn.base.clone` of it is not fitted, as of any SVC.

        Returns
        -------
        sklearn.svm.SVC
            With the same labels -1 and +1 and the same decision function up to rounding. (At
            exactly 0 it says +1.) For a tanh kernel of alpha < 0, support vectors change sign.

        Examples
        --------
        >>> machine = KernelMachine(Gaussian(2.), [[1., 0.], [0., 1.]], [1., -2.], -0.5)
        >>> svc = machine.to_sklearn()
        >>> svc
        SVC(gamma=0.125)
        >>> np.allclose(svc.decision_function([[3., 1.]]), machine.decision_function([[3., 1.]]))
        True
        """
        return fitted_svc(self.kernel.to_sklearn(), self.support_vectors, self.weights,
                          self.threshold)

    def gradient(self, X: ArrayLike) -> np.ndarray:
        """The gradient of Psi at every point, a normal of the level set there (Eq. 4).

        Parameters
        ----------
        X : array (n, d)
            The points, one a row.

        Returns
        -------
        gradient : array (n, d)

        Raises
        ------
        ValueError
            If X is not of shape (n, d).
        """
        return np.concatenate([self.kernel.gradient(x, self.support_vectors, self.weights)
                               for x in self._blocks(X)])

    def normalised(self) -> "KernelMachine":
        """The same classifier with its largest |weight| equal to 1.

        Labels show weights and threshold only up to a common positive factor; this fixes it.

        Returns
        -------
        machine : KernelMachine
            With the same kernel and support vectors.

        Examples
        --------
        >>> machine = KernelMachine(Linear(), [[1., 0.], [0., 1.]], [4., -2.], 8.).normalised()
        >>> machine.weights, machine.threshold
        (array([ 1. , -0.5]), 2.0)
        """
        largest = np.abs(self.weights).max(initial=0) or 1.0
        return KernelMachine(self.kernel, self.support_vectors, self.weights / largest,
                             self.threshold / largest)

    def with_gamma(self, gamma: float, coef0: float = 1.0) -> "KernelMachine":
        """The same classifier as a polynomial machine with the given gamma and coef0.

        (g x.y + c)^D = (c/c')^D (g' x.y' + c')^D with y' = (g c' / g' c) y, so that gamma and
        coef0 are conventions as long as neither is 0.

        Parameters
        ----------
        gamma, coef0 : floats, positive
            The g' and c' of the new kernel.

        Returns
        -------
        machine : KernelMachine
            With other support vectors and weights, and the same threshold.

        Raises
        ------
        ValueError
            If the kernel is not polynomial, or is homogeneous (coef0 = 0).

        Examples
        --------
        >>> machine = KernelMachine(Polynomial(2, gamma=.5, coef0=2.), [[4., 0.]], [1.], 3.)
        >>> same = machine.with_gamma(1.)
        >>> same.support_vectors, same.weights
        (array([[1., 0.]]), array([4.]))
        """
        old = self.kernel
        if not isinstance(old, Polynomial) or old.coef0 == 0 or coef0 <= 0:
            raise ValueError("with_gamma needs a polynomial kernel with coef0 > 0, and a coef0 > 0;"
                             f" got {old} and coef0={coef0!r}")

        # the formula above, from (g, c) to (g', c') (eq-kernel-machines-canonical, twice)
        new = replace(old, gamma=float(gamma), coef0=float(coef0))
        stretch = old.gamma * coef0 / (gamma * old.coef0)
        factor = (old.coef0 / coef0) ** old.degree
        return KernelMachine(new, stretch * self.support_vectors, factor * self.weights,
                             self.threshold)

    def in_given_units(self, origin: ArrayLike, units: ArrayLike,
                       error: float = 1e-8) -> "KernelMachine":
        """The same machine for points x, if this one takes u = (x - origin) / units.

        With z_i = y_i / units, a polynomial kernel's gamma u.y_i + c is gamma x.z_i + h_i with
        h_i = c - gamma origin.z_i: the support vectors become gamma z_i / h_i and the weights
        w_i h_i^D, of (x.y + 1)^D; if all h_i are no larger than errors of the z_i make them, the
        kernel is homogeneous. A linear machine gets the z_i, and the threshold
        b + sum_i w_i origin.z_i. A tanh's beta moves by -alpha origin.z_i, which has to be the same
        for all i. A Gaussian moves along, y_i to origin + units y_i, if all units are alike.

        Parameters
        ----------
        origin : array (d,)
        units : array (d,), positive
        error : float
            Relative, of the z_i.

        Returns
        -------
        machine : KernelMachine
            Its largest |weight| is 1, and the normal of a linear one has the length 1.

        Raises
        ------
        ValueError
            If it is no machine with one of our kernels in x: a ScaledMachine is it all the same.

        Examples
        --------
        >>> metres = KernelMachine(Linear(), [[2.]], [1.], 3.)
        >>> metres.in_given_units([0.], [1000.]).decision_function([[4000.]])  # millimetres
        array([2500.])
        """
        kernel, w, b = self.kernel, self.weights, self.threshold
        origin, units = np.asarray(origin, float), np.asarray(units, float)
        Z = self.support_vectors / units
        if isinstance(kernel, Gaussian):
            if np.ptp(units):
                raise ValueError("a Gaussian in different units is not a Gaussian")
            kernel, Z = Gaussian(float(units[0]) * kernel.sigma), origin + units**2 * Z
        elif isinstance(kernel, Linear):
            size = np.linalg.norm(w @ Z) or 1.0  # the normal gets the length 1
            Z, b = Z / size, (b + w @ (Z @ origin)) / size
        elif isinstance(kernel, Tanh):
            moved = kernel.alpha * (Z @ origin)
            if np.ptp(moved) > 0:
                raise ValueError("the tanh units of this machine have different biases in x")
            kernel = Tanh(kernel.alpha, kernel.beta - float(moved.mean()))
        elif origin.any():
            h = kernel.coef0 - kernel.gamma * (Z @ origin)
            size = abs(kernel.coef0) + kernel.gamma * (np.abs(Z) @ np.abs(origin))
            vanishing = np.abs(h) <= error * size
            if vanishing.any() and not vanishing.all():
                raise ValueError("one polynomial of this machine has no constant in x")
            if vanishing.all():
                kernel = Polynomial(kernel.degree, kernel.gamma, 0.0)
            else:
                Z, w = kernel.gamma * Z / h[:, None], w * h**kernel.degree
                kernel = Polynomial(kernel.degree)
        return KernelMachine(kernel, Z, w, b).normalised()

    @classmethod
    def from_sklearn(cls, svc: Any) -> "KernelMachine":
        """The machine inside a fitted binary scikit-learn SVC.

        Parameters
        ----------
        svc : sklearn.svm.SVC
            Fitted to two classes; +1 stands for `svc.classes_[1]`.

        Returns
        -------
        machine : KernelMachine
            With the SVC's decision function, up to rounding.

        Raises
        ------
        ValueError
            If the SVC is not fitted, has more than two classes or a kernel of another kind.

        Examples
        --------
        >>> from sklearn.svm import SVC
        >>> X, y = [[0., 0.], [1., 1.], [2., 0.]], [0, 1, 1]
        >>> svc = SVC(kernel='rbf').fit(X, y)
        >>> machine = KernelMachine.from_sklearn(svc)
        >>> bool(abs(machine.decision_function(X) - svc.decision_function(X)).max() < 1e-10)
        True
        """
        kernel = kernel_from_sklearn(svc)
        if len(svc.classes_) != 2:
            raise ValueError(f"expected an SVC of two classes, got {len(svc.classes_)} classes")
        return cls(kernel, svc.support_vectors_, svc.dual_coef_[0], -svc.intercept_[0])

    @classmethod
    def random(cls, kernel: Kernel, dimension: int, n_support: int,
               random_state: int | np.random.Generator = 0) -> "KernelMachine":
        """A random machine whose two labels are about equally frequent.

        Support vectors and weights are standard normal, the former divided by sqrt(d) so that
        x.y is of order one for standard normal x; the threshold is the median of Psi over a
        standard normal cloud.

        Parameters
        ----------
        kernel : Linear, Polynomial, Tanh or Gaussian
        dimension : int, at least 1
            The number d of features.
        n_support : int, at least 1
            The number m of support vectors.
        random_state : int or numpy.random.Generator

        Returns
        -------
        machine : KernelMachine

        Examples
        --------
        >>> KernelMachine.random(Linear(), dimension=30, n_support=12)
        KernelMachine(Linear(), 12 support vectors in dimension 30)
        """
        rng = np.random.default_rng(random_state)
        Y = rng.standard_normal((n_support, dimension)) / np.sqrt(dimension)
        machine = cls(kernel, Y, rng.standard_normal(n_support), 0)
        cloud = rng.standard_normal((1001, dimension))
        return cls(kernel, Y, machine.weights, np.median(machine.decision_function(cloud)))

    def to_arrays(self) -> dict[str, Any]:
        """The machine as plain arrays and strings, ready for `numpy.savez`.

        Returns
        -------
        arrays : dict
            `kernel`, the name of its class; `kernel_names` and `kernel_values`, its parameters;
            `support_vectors`, `weights` and `threshold`.

        Examples
        --------
        >>> arrays = KernelMachine(Gaussian(2.), [[1., 0.]], [1.], 0.5).to_arrays()
        >>> arrays["kernel"], arrays["kernel_names"].tolist(), arrays["kernel_values"].tolist()
        ('Gaussian', ['sigma'], [2.0])
        """
        parameters = asdict(self.kernel)
        return {
            "kernel": type(self.kernel).__name__,
            "kernel_names": np.array(list(parameters), dtype=str),
            "kernel_values": np.array(list(parameters.values()), float),
            "support_vectors": self.support_vectors,
            "weights": self.weights,
            "threshold": self.threshold,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "KernelMachine":
        """The inverse of `to_arrays`.

        Parameters
        ----------
        arrays : mapping
            As `to_arrays` returns it, or as `numpy.load` reads it from a file.

        Returns
        -------
        machine : KernelMachine

        Examples
        --------
        >>> machine = KernelMachine(Gaussian(2.), [[1., 0.]], [1.], 0.5)
        >>> KernelMachine.from_arrays(machine.to_arrays())
        KernelMachine(Gaussian(sigma=2.0), 1 support vectors in dimension 2)
        """
        kernels = {kernel.__name__: kernel for kernel in (Linear, Polynomial, Tanh, Gaussian)}
        names, values = arrays["kernel_names"], arrays["kernel_values"]
        parameters: dict[str, Any] = dict(zip(map(str, names), map(float, values), strict=True))
        if "degree" in parameters:
            parameters["degree"] = int(parameters["degree"])
        return cls(kernels[str(arrays["kernel"])](**parameters), arrays["support_vectors"],
                   arrays["weights"], float(arrays["threshold"]))

    def save(self, path: str | PathLike) -> None:
        """Write the machine to an npz file: plain arrays, no pickle.

        Parameters
        ----------
        path : path-like
            Gets the ending .npz if it has another or none.
        """
        np.savez(npz_path(path), **self.to_arrays())

    @classmethod
    def load(cls, path: str | PathLike) -> "KernelMachine":
        """Read a machine that `save` has written.

        Parameters
        ----------
        path : path-like
            As given to `save`.

        Returns
        -------
        machine : KernelMachine

        Raises
        ------
        OSError
            If there is no such file.
        """
        with np.load(npz_path(path), allow_pickle=False) as arrays:
            return cls.from_arrays(arrays)

    def _blocks(self, X: ArrayLike) -> list[np.ndarray]:
        """The points in blocks whose kernel values, and whose points, take 64 MB at most."""
        X = as_numbers(X)
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ValueError(f"expected points of shape (n, {self.dimension}), got {X.shape}")
        rows = blocks(len(X), max(len(self.weights), self.dimension), megabytes=64)
        return [X[j] for j in rows] or [X]  # one block if there is no point


class ScaledMachine:
    """A machine behind a scaler: its label at x is that of `machine` at (x - origin) / units.

    Parameters
    ----------
    machine : object
        With `predict`, `decision_function` and `gradient`, as a KernelMachine has them.
    origin, units : arrays (d,)

    Attributes
    ----------
    support_vectors : array (m, d)
        Those of the machine, taken back through the scaler: origin + units y_i.

    Examples
    --------
    >>> machine = KernelMachine(Gaussian(1.0), [[1., 1.]], [1.], 0.5)
    >>> ScaledMachine(machine, [0., 0.], [1., 1000.]).predict([[1., 1000.], [1., 3000.]])
    array([ 1, -1], dtype=int8)
    """

    def __init__(self, machine: Any, origin: ArrayLike, units: ArrayLike):
        self.machine = machine
        self.origin, self.units = np.asarray(origin, float), np.asarray(units, float)

    def __repr__(self) -> str:
        return f"ScaledMachine({self.machine!r})"

    def __getattr__(self, name):
        if name in ("kernel", "weights", "threshold", "dimension"):
            return getattr(self.machine, name)
        raise AttributeError(f"a ScaledMachine has no {name}")

    @property
    def support_vectors(self) -> np.ndarray:
        """The points that the scaler takes to the machine's: array (m, d)."""
        return self.origin + self.units * self.machine.support_vectors

    def scaled(self, X: ArrayLike) -> np.ndarray:
        """The points that the machine sees.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        U : array (n, d)
        """
        return (np.asarray(X, float) - self.origin) / self.units

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """That of the machine, above the threshold.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        psi : array (n,)
        """
        return self.machine.decision_function(self.scaled(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """+1 where it is positive, else -1.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        labels : int8 array (n,)
        """
        return self.machine.predict(self.scaled(X))

    def gradient(self, X: ArrayLike) -> np.ndarray:
        """Its gradient with respect to x.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        gradient : array (n, d)
        """
        return self.machine.gradient(self.scaled(X)) / self.units

    def to_sklearn(self) -> Any:
        """The same classifier as a scikit-learn Pipeline: a StandardScaler and an SVC.

        Returns
        -------
        sklearn.pipeline.Pipeline

        Examples
        --------
        >>> machine = ScaledMachine(KernelMachine(Linear(), [[1.]], [1.], 2.), [0.], [1000.])
        >>> machine.to_sklearn().decision_function([[3000.]])
        array([1.])
        """
        from sklearn.pipeline import Pipeline

        scaler = fitted_scaler(self.origin, self.units)
        return Pipeline([("scaler", scaler), ("machine", self.machine.to_sklearn())])

    def to_arrays(self) -> dict[str, Any]:
        """Those of the machine, with the origin and the units; see `machine_of_arrays`."""
        return {**self.machine.to_arrays(), "origin": self.origin, "units": self.units}


def machine_of_arrays(arrays: Mapping[str, Any], kind: Any = KernelMachine) -> Any:
    """The machine that `to_arrays` has made arrays of.

    Parameters
    ----------
    arrays : mapping
    kind : type
        Of the machine, or of the one behind a scaler: a class with `from_arrays`.

    Returns
    -------
    machine : KernelMachine, another machine of that kind, or a ScaledMachine
    """
    machine = kind.from_arrays(arrays)
    if "units" not in arrays:
        return machine
    return ScaledMachine(machine, arrays["origin"], arrays["units"])


def npz_path(path: str | PathLike) -> Path:
    """The path with the ending .npz, which numpy adds on writing but not on reading.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    path : pathlib.Path

    Examples
    --------
    >>> npz_path("machine").name, npz_path("machine.npz").name
    ('machine.npz', 'machine.npz')
    """
    path = Path(path)
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
