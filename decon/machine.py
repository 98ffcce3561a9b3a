"""Kernel machines: a kernel, support vectors, weights and a threshold, whatever trained them."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from .kernels import Gaussian, Linear, Polynomial, Tanh, kernel_from_sklearn

BLOCK_BYTES = 64e6  # kernel values are computed in blocks of about this size


class KernelMachine:
    """The classifier that says +1 where sum_i w_i K(x, y_i) > b, and -1 elsewhere (Eqs. 1, 2).

    Equation 2 of the paper has the opposite sign; ours is scikit-learn's.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
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

    def __init__(self, kernel, support_vectors, weights, threshold):
        self.kernel = kernel
        self.support_vectors = np.array(support_vectors, float)
        self.weights = np.array(weights, float)
        self.threshold = float(threshold)
        if self.support_vectors.ndim != 2 or self.weights.shape != self.support_vectors.shape[:1]:
            raise ValueError(
                "expected support_vectors of shape (m, d) and weights of shape (m,), got "
                f"{self.support_vectors.shape} and {self.weights.shape}"
            )
        if not all(np.isfinite(a).all() for a in (self.support_vectors, self.weights, threshold)):
            raise ValueError("support_vectors, weights and threshold must be finite")

    def __repr__(self):
        m, d = self.support_vectors.shape
        return f"KernelMachine({self.kernel}, {m} support vectors in dimension {d})"

    @property
    def dimension(self):
        """The number d of features."""
        return self.support_vectors.shape[1]

    def decision_function(self, X):
        """Psi(x) - b at every row of X: array (n, d) gives an array (n,). Positive where +1."""
        X = self._check(X)
        Y, w = self.support_vectors, self.weights
        psi = self._blockwise(X, lambda block: self.kernel(block, Y) @ w, (len(X),))
        return psi - self.threshold

    def predict(self, X):
        """Labels +1 or -1 (int8) of the rows of X: array (n, d) gives an array (n,)."""
        return np.where(self.decision_function(X) > 0, 1, -1).astype(np.int8)

    def gradient(self, X):
        """The gradient of Psi, a normal of the level set, at every row of X: (n, d) (Eq. 4)."""
        X = self._check(X)
        Y, w = self.support_vectors, self.weights
        return self._blockwise(X, lambda block: self.kernel.gradient(block, Y, w), X.shape)

    def normalised(self):
        """The same classifier with its largest |weight| equal to 1.

        Labels show weights and threshold only up to a common positive factor; this fixes it.
        """
        largest = np.abs(self.weights).max(initial=0) or 1.0
        return KernelMachine(
            self.kernel, self.support_vectors, self.weights / largest, self.threshold / largest
        )

    def with_gamma(self, gamma, coef0=1.0):
        """The same classifier as a polynomial machine with the given gamma and coef0.

        (g x.y + c)^D = (c/c')^D (g' x.y' + c')^D with y' = (g c' / g' c) y, so that gamma and
        coef0 are conventions as long as neither is 0.

        Raises
        ------
        ValueError
            If the kernel is not polynomial, or is homogeneous (coef0 = 0).
        """
        old = self.kernel
        if not isinstance(old, Polynomial) or old.coef0 == 0 or coef0 <= 0:
            raise ValueError("with_gamma needs a polynomial kernel with coef0 > 0, and a coef0 > 0;"
                             f" got {old} and coef0={coef0!r}")
        new = replace(old, gamma=float(gamma), coef0=float(coef0))
        stretch = old.gamma * coef0 / (gamma * old.coef0)
        factor = (old.coef0 / coef0) ** old.degree
        return KernelMachine(
            new, stretch * self.support_vectors, factor * self.weights, self.threshold
        )

    @classmethod
    def from_sklearn(cls, svc):
        """The machine inside a fitted binary scikit-learn SVC; +1 stands for `classes_[1]`.

        Examples
        --------
        >>> from sklearn.svm import SVC
        >>> X, y = [[0., 0.], [1., 1.], [2., 0.]], [0, 1, 1]
        >>> svc = SVC(kernel='rbf').fit(X, y)
        >>> machine = KernelMachine.from_sklearn(svc)
        >>> bool(abs(machine.decision_function(X) - svc.decision_function(X)).max() < 1e-10)
        True

        Raises
        ------
        ValueError
            If the SVC is not fitted, has more than two classes or a kernel of another kind.
        """
        kernel = kernel_from_sklearn(svc)
        if len(svc.classes_) != 2:
            raise ValueError(f"expected an SVC of two classes, got {len(svc.classes_)} classes")
        return cls(kernel, svc.support_vectors_, svc.dual_coef_[0], -svc.intercept_[0])

    @classmethod
    def random(cls, kernel, dimension, n_support, random_state=0):
        """A random machine whose two labels are about equally frequent.

        Support vectors and weights are standard normal, the former divided by sqrt(d) so that
        x.y is of order one for standard normal x; the threshold is the median of Psi over a
        standard normal cloud.

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

    def to_arrays(self):
        """The machine as a dict of plain arrays and strings, ready for numpy.savez."""
        return {
            "kernel": type(self.kernel).__name__,
            "kernel_names": np.array(list(asdict(self.kernel)), dtype=str),
            "kernel_values": np.array(list(asdict(self.kernel).values()), float),
            "support_vectors": self.support_vectors,
            "weights": self.weights,
            "threshold": self.threshold,
        }

    @classmethod
    def from_arrays(cls, arrays):
        """The inverse of `to_arrays`."""
        kinds = {kind.__name__: kind for kind in (Linear, Polynomial, Tanh, Gaussian)}
        values = dict(zip(map(str, arrays["kernel_names"]), map(float, arrays["kernel_values"]),
                          strict=True))
        if "degree" in values:
            values["degree"] = int(values["degree"])
        return cls(kinds[str(arrays["kernel"])](**values), arrays["support_vectors"],
                   arrays["weights"], float(arrays["threshold"]))

    def save(self, path):
        """Write the machine to an npz file: plain arrays, no pickle."""
        np.savez(npz_path(path), **self.to_arrays())

    @classmethod
    def load(cls, path):
        """Read a machine that `save` wrote."""
        with np.load(npz_path(path), allow_pickle=False) as arrays:
            return cls.from_arrays(arrays)

    def _check(self, X):
        X = np.asarray(X, float)
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ValueError(f"expected points of shape (n, {self.dimension}), got {X.shape}")
        return X

    def _blockwise(self, X, function, shape):
        rows = max(1, int(BLOCK_BYTES / (8 * max(len(self.weights), self.dimension))))
        out = np.empty(shape)
        for start in range(0, len(X), rows):
            out[start : start + rows] = function(X[start : start + rows])
        return out


def npz_path(path):
    """The path with the ending .npz, which numpy adds on writing but not on reading."""
    path = Path(path)
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
