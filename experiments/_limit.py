"""The information limit: one definition of accuracy, and of the bound, for all tables.

*Accuracy.* r is the root mean square distance between the model's boundary and the one found, in
units of R0, the root mean square norm of the features: over points of the model's boundary between
features, points near them and points spread like them about the origin (`near_boundary`).

*Bound.* Every answer is one bit at most. So whoever always ends with a true statement asks, on
average over models drawn at random, at least as many questions as the average of log2(1/q), where q
is the probability that the statement is true of a fresh random model. Here it says that the
boundary is within r of the one found; to first order that is as probable as within r of the
model's. For q, support vectors and weights are drawn from normal distributions with the mean
squares of the model's own; the kernel with its constants is known, and the threshold is the median
of Psi over 1,001 random points, up to the error of such a median (for normal values). For a random
machine that is nearly how it was drawn. Of a trained one nobody knows how it was drawn; its bound
is what its numbers would be worth if they were random.

To first order the boundary moves by J g where the standard normal numbers g of the model change.
With the singular values s_1 >= s_2 >= ... of J (root mean square over the points), V their right
singular vectors and B_k the volume of the unit ball in k dimensions, nearly, for every k,

    q <= B_k r^k / (s_1 ... s_k) * (2 pi)^(-k/2) exp(-|V_k^T g|^2 / 2),

and the best k is taken: directions in which less than r / sqrt(k) is visible do not count, among
them all those that no label shows. Where vectors are visible, m! orders of them are the same
machine. (Signs that a homogeneous cubic or a tanh with beta = 0 leaves open, m bits, are not
counted.) Without the constant, the bound is p log2(1/r), p the number of visible numbers.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.special import gammaln

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import pn_pairs

MEDIAN_OF = 1001  # points, whose Psi the threshold is the median of
POINTS, POINTS_A_NUMBER = 400, 3
MOST_VISIBLE = 2500  # of the numbers; beyond them the singular values would take minutes
ROUNDING = 1e-13


def cloud(features, n, rng):
    """n points: half of them near the features, half spread like them, about the origin."""
    k, d = features.shape
    sigma = np.sqrt(np.mean((features**2).sum(1)) / d)
    X = sigma * rng.standard_normal((n, d))
    X[::2] = features[rng.integers(k, size=len(X[::2]))] + 0.5 * X[::2]
    return X


def near_boundary(machine, ends, n, rng):
    """n points of a machine's boundary, on segments between points of the two labels."""
    own, labels = Oracle(machine.predict, machine.dimension, positive=1), machine.predict(ends)
    pairs = pn_pairs(ends[labels > 0], ends[labels < 0], n, rng)
    return boundary_points(own, *pairs, 1e-15 * np.sqrt(np.mean((ends**2).sum(1))))[0]


def boundary_distance(found, truth, X):
    """Root mean square distance of two boundaries, at points of the second, to first order."""
    apart = [machine.decision_function(X) / np.linalg.norm(machine.gradient(X), axis=1)
             for machine in (found, truth)]
    aligned = np.sign((found.gradient(X) * truth.gradient(X)).sum(1))
    return np.sqrt(np.mean((aligned * apart[0] - apart[1]) ** 2))


def derivatives(machine, X):
    """Derivatives of Psi at X by support vectors, row by row, and weights: (n, m d + m)."""
    Y, w, kernel = machine.support_vectors, machine.weights, machine.kernel
    K = kernel(X, Y)
    if isinstance(kernel, Gaussian):
        by_vectors = (w * K)[:, :, None] * (X[:, None] - Y) / kernel.sigma**2
    else:
        if isinstance(kernel, Linear):
            slopes = np.ones_like(K)
        elif isinstance(kernel, Tanh):
            slopes = kernel.alpha * (1 - K**2)
        elif isinstance(kernel, Polynomial):
            inner = kernel.gamma * X @ Y.T + kernel.coef0
            slopes = kernel.degree * kernel.gamma * inner ** (kernel.degree - 1)
        by_vectors = (w * slopes)[:, :, None] * X[:, None]
    return np.concatenate([by_vectors.reshape(len(X), -1), K], axis=1)


@dataclass
class Prior:
    """The numbers of a model as the bound draws them: independent and standard normal.

    These are the vectors and the weights, in units of their mean squares, and the error of the
    median that the threshold is.
    """

    machine: KernelMachine
    units: np.ndarray
    follows: np.ndarray  # how the threshold follows vectors and weights
    off: float  # how far it is off, for an error of 1

    @classmethod
    def of(cls, machine: KernelMachine, X: np.ndarray):
        """For a threshold that is the median of Psi over points like X."""
        Y, w = machine.support_vectors, machine.weights
        units = np.repeat(np.sqrt([np.mean(Y**2), np.mean(w**2)]), [Y.size, w.size])
        values = machine.decision_function(X)
        level = np.argsort(np.abs(values))[:500]
        return cls(machine, units, derivatives(machine, X[level]).mean(0),
                   np.sqrt(np.pi / 2 / MEDIAN_OF) * values.std())

    @property
    def numbers(self):
        machine = self.machine
        own = np.r_[machine.support_vectors.ravel(), machine.weights]
        return np.append(own / self.units, 0.0)

    def derivatives(self, X):
        """Of Psi - b at X, by the numbers."""
        moves = (derivatives(self.machine, X) - self.follows) * self.units
        return np.column_stack([moves, np.full(len(X), -self.off)])


@dataclass
class Limit:
    """The bound for one model, at any accuracy: the largest `offsets[k] - k log2(r)`, in bits."""

    offsets: np.ndarray

    def bits(self, r):
        return float(np.max(self.offsets - np.arange(len(self.offsets)) * np.log2(r)))


def most_visible(machine: KernelMachine) -> int:
    """So many numbers of a model at most are visible: of a polynomial, one for each monomial."""
    kernel, d = machine.kernel, machine.dimension
    numbers = machine.support_vectors.size + len(machine.weights) + 1  # with the threshold
    if isinstance(kernel, Linear | Polynomial):
        degree = getattr(kernel, "degree", 1)
        return min(numbers, comb(d + degree, degree))
    return numbers


def limit(machine: KernelMachine, features: np.ndarray, seed: int = 0) -> Limit | None:
    """The bound of one model, constant included (see the module); None for too large a model."""
    w, visible, rng = machine.weights, most_visible(machine), np.random.default_rng(seed)
    if visible > MOST_VISIBLE:
        return None

    # its numbers, standard normal
    X = cloud(features, 20_000, rng)
    prior = Prior.of(machine, X)
    g = prior.numbers

    # how the boundary moves, in units of R0
    ends = np.concatenate([features, X])
    X = near_boundary(machine, ends, max(POINTS, POINTS_A_NUMBER * visible), rng)
    slopes = np.linalg.norm(machine.gradient(X), axis=1) * np.sqrt(np.mean((features**2).sum(1)))
    J = prior.derivatives(X) / slopes[:, None] / np.sqrt(len(X))
    _, s, V = np.linalg.svd(J, full_matrices=False)
    V, s = V[s > ROUNDING * s[0]], s[s > ROUNDING * s[0]]

    # log2(1/q), of the k best visible directions
    k = np.arange(len(s) + 1)
    ball = k / 2 * np.log(np.pi) - gammaln(k / 2 + 1)
    volume = ball - np.r_[0, np.cumsum(np.log(s))]
    density = -k / 2 * np.log(2 * np.pi) - np.r_[0, np.cumsum((V @ g) ** 2)] / 2
    same = gammaln(len(w) + 1) if machine.kernel.name in ("cubic", "tanh", "gaussian") else 0
    return Limit(-(volume + density + same * (k > 0)) / np.log(2))
