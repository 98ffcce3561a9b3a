"""Rivals of `deconstruct`, and a yardstick for all of them: how far off is the boundary?

A rival is a generator: it asks an oracle, and from time to time yields a `Guess`, with the number
of queries so far. All are told what `deconstruct` finds out by itself: the kernel, with its
constants, and m.

The copies of `retraining` and `active` are trained until their solvers converge or reach their
limit of steps, and a guess says which: logistic regression on all monomials for a quadratic kernel,
a network with m tanh units for tanh (its own kernel is not positive semidefinite), an SVC with the
right kernel else.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from decon import Oracle
from decon.boundary.bracketing import bisect, boundary_points
from decon.boundary.normals import slope_normals
from decon.boundary.pairs import Pool, pn_pairs
from decon.families.polynomial import evaluate, fit_polynomial
from decon.numerics.blocks import blocks
from decon.paper import nuclear_norm, sphere_normals
from decon.subspaces import cylinder
from decon.subspaces.multipliers import refine_multipliers
from decon.subspaces.spans import largest_sine, span_of_corrected_normals, span_of_normals

from ._limit import cloud, near_boundary

DEPTHS = tuple(10.0 ** -np.arange(1, 7))  # where labels are compared, in units of R0
CLOUD = 400  # points that a rival labels before anything else
HARDNESS = 100  # C of an SVC, in units of 1 / (mean of K(x, x))
STEPS = 5000  # of the network's solver
WEAK = 1e9  # C of the logistic regression


@dataclass
class Guess:
    """What a rival knows after so many queries: labels for all points, and a basis of S_Y."""

    queries: int
    predict: Callable | None = None
    basis: np.ndarray | None = None
    converged: bool = True


# -- the yardstick --------------------------------------------------------------------------------

class Yardstick:
    """A box, opened: it tells how good a guess is. Nothing of it is shown to a rival.

    Parameters
    ----------
    machine : KernelMachine
        The truth.
    features : array (k, d)
        Their root mean square norm R0 is the unit of length.
    seed : int
    far, close : int
        Fresh points far from the boundary, and points of the boundary.
    """

    def __init__(self, machine, features, seed, far=100_000, close=400):
        rng = np.random.default_rng(seed + 20_000)
        self.machine, self.scale = machine, np.sqrt(np.mean((features**2).sum(1)))
        self.X = cloud(features, far, rng)
        self.labels = machine.predict(self.X)
        self.points = near_boundary(machine, self.X[:20_000], close, rng)
        G = machine.gradient(self.points)
        self.normals = G / np.linalg.norm(G, axis=1, keepdims=True)
        self.shift = rng.random(close)[:, None]

    def measure(self, guess):
        """Sine, distance of the boundaries (see `_limit`), agreement far and at every depth."""
        row = {"queries": guess.queries, "sine": np.nan, "distance": np.nan,
               "converged": guess.converged}
        if guess.basis is not None:
            row["sine"] = largest_sine(guess.basis, self.machine.support_vectors.T)
        if guess.predict is not None:
            row["distance"] = np.sqrt(np.mean(self.distances(guess.predict)**2))
            row["far"] = np.mean(guess.predict(self.X) == self.labels)
            row["close"] = [np.mean([guess.predict(Z) == self.machine.predict(Z)
                                     for Z in self.beside(depth)]) for depth in DEPTHS]
        return row

    def beside(self, depth):
        """Points on both sides of the boundary, so many R0 away from it."""
        step = depth * self.scale * self.normals
        return self.points + step, self.points - step

    def distances(self, predict, smallest=-48):
        """How far from the points of the boundary is the other boundary, in units of R0?

        Along the normal labels are compared at the distances 2^k, moved by a random fraction of an
        octave; beyond the other boundary they are right: the nearest right one tells the distance
        to a factor of two.
        """
        found = np.full(len(self.points), 1.0)
        for t in 2.0 ** (np.arange(0, smallest, -1) - self.shift).T:
            step = (t * self.scale)[:, None] * self.normals
            wrong = (predict(self.points + step) < 0) | (predict(self.points - step) > 0)
            found = np.where(wrong, found, t / np.sqrt(2))
        return found


def labelled(oracle, features, seed):
    """A pool to begin with: the features and a cloud of points, labelled."""
    rng = np.random.default_rng(seed)
    R = np.sqrt(np.mean((features**2).sum(1)))
    pool = Pool(oracle, features, oracle(features), rng)
    pool.add_cloud(cloud(features, CLOUD, rng), CLOUD // 10, 1e-3 * R)
    return pool, R


# -- rivals ---------------------------------------------------------------------------------------

def direct_fit(oracle, features, degree, m, widths, seed):
    """No structure: a polynomial in all of R^d through boundary points, to smaller widths."""
    pool, R = labelled(oracle, features, seed)
    d = oracle.dimension
    P, N = pool.pairs(points_needed(d, degree))
    for width in widths:
        P, N = bisect(oracle, P, N, width * R)
        T = fit_polynomial((P + N) / 2 / R, degree)[0]
        yield Guess(oracle.queries, on_span(T, np.eye(d) / R, pool), columns(T, m))


def paper(oracle, features, kernel, m, counts, seed):
    """The paper's procedure [Ali, Rushdi and Ho 2014]: spheres, SVD or nuclear norm, monomials.

    delta = 1e-3 and epsilon = 1e-6 in units of the features, for more and more normals.
    """
    pool, _ = labelled(oracle, features, seed)
    sigma = np.sqrt(np.mean(features**2))
    X, N = (np.empty((0, oracle.dimension)) for _ in range(2))
    for n in counts:
        fresh, _ = boundary_points(oracle, *pool.pairs(n - len(X)), 1e-6 * sigma)
        X = np.concatenate([X, fresh])
        N = np.concatenate([N, sphere_normals(oracle, fresh, 1e-3 * sigma, 1e-6 * sigma,
                                              random_state=pool.rng)])
        good = np.isfinite(N[:, 0])
        if kernel.name == "gaussian":
            gamma = refine_multipliers(N[good], X[good], nuclear_norm(N[good], X[good]), m)
            basis = span_of_corrected_normals(N[good], X[good], gamma, m)[0]
            yield Guess(oracle.queries, None, basis)
        else:
            yield with_polynomial(oracle, pool, kernel, span_of_normals(N[good], m)[0],
                                  1e-6 * sigma)


def by_labels(oracle, features, kernel, m, labels, seed, n_normals=100):
    """Normals as HopSkipJump estimates them, from so many labels each; the rest as before."""
    pool, R = labelled(oracle, features, seed)
    X, _ = boundary_points(oracle, *pool.pairs(n_normals), 1e-9 * R)
    before = oracle.queries
    for n in labels:
        oracle.queries = before  # another number of labels is another run
        N = signed_normals(oracle, X, 1e-3 * R, n, pool.rng)
        yield with_polynomial(oracle, pool, kernel, span_of_normals(N, m)[0], 1e-9 * R)


def by_tools(oracle, features, kernel, m, width, seed):
    """The tools of the book at a given width: m + 3 slopes, sharpened twice, and a polynomial."""
    pool, R = labelled(oracle, features, seed)
    X, V = boundary_points(oracle, *pool.pairs(m + 3), width * R)
    N = slope_normals(oracle, X, V, np.sqrt(width) * R, width * R)
    good = np.isfinite(N[:, 0])
    basis = span_of_normals(N[good], m)[0]
    for baseline, fine in [(0.01, max(1e-9, width)), (1.0, width)]:
        basis = cylinder.refine(oracle, X[good], V[good], N[good], basis, baseline * R, fine * R)
    yield with_polynomial(oracle, pool, kernel, basis, width * R)


def retraining(oracle, features, kernel, m, sizes, seed, C=WEAK):
    """Adaptive retraining after Tramer et al. 2016: train, ask at the copy's boundary, repeat."""
    def at_the_boundary(copy, n, rng):
        ends = cloud(features, max(2000, n), rng)
        labels = copy.predict(ends)
        pairs = pn_pairs(ends[labels > 0], ends[labels < 0], n, rng)
        own = Oracle(copy.predict, oracle.dimension, positive=1)
        return boundary_points(own, *pairs, 1e-9 * np.sqrt(np.mean((ends**2).sum(1))))[0]

    return rounds(oracle, features, kernel, m, sizes, seed, at_the_boundary, C)


def active(oracle, features, kernel, m, sizes, seed):
    """Active learning [Settles 2009]: ask where, of many points, the copy is least certain."""
    def least_certain(copy, n, rng):
        X = cloud(features, 10 * n, rng)
        return X[np.argpartition(np.abs(values_of(copy, X)), n)[:n]]

    return rounds(oracle, features, kernel, m, sizes, seed, least_certain)


# -- their parts ----------------------------------------------------------------------------------

def signed_normals(oracle, X, radius, n, rng):
    """HopSkipJump's estimate of normals [Chen, Jordan and Wainwright 2020].

    The mean of n random unit directions u, weighted by the labels of x + radius u less their mean.
    """
    found = np.empty(X.shape)
    for i, x in enumerate(X):
        total = np.zeros((2, len(x)))
        count = np.zeros(2)
        for block in blocks(n, len(x)):
            U = rng.standard_normal((block.stop - block.start, len(x)))
            U /= np.linalg.norm(U, axis=1, keepdims=True)
            positive = oracle(x + radius * U) > 0
            total += [U[positive].sum(0), U[~positive].sum(0)]
            count += [positive.sum(), (~positive).sum()]
        mean = (count[0] - count[1]) / n
        found[i] = (1 - mean) * total[0] - (1 + mean) * total[1]
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def separated_normal(oracle, x, radius, n, rng):
    """A normal from the same kind of labels as above, better decoded: of the widest margin."""
    U = rng.standard_normal((n, len(x)))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    normal = SVC(kernel="linear", C=1e6).fit(U, oracle(x + radius * U)).coef_[0]
    return normal / np.linalg.norm(normal)


def rounds(oracle, features, kernel, m, sizes, seed, chosen, C=WEAK):
    """Train a copy, ask for the labels of n points that it chooses, train again, and so on."""
    pool, _ = labelled(oracle, features, seed)
    for n in (*sizes, 0):
        copy, converged = trained(pool, kernel, m, C)
        basis = span_of_copy(copy, pool.points[-200:], m)
        yield Guess(oracle.queries, copy.predict, basis, converged)
        if n:
            X = chosen(copy, n, pool.rng)
            pool.add(X, oracle(X))


def trained(pool, kernel, m, C=WEAK):
    """A copy trained on the points of a pool, and whether its solver says that it converged.

    C is that of the logistic regression.
    """
    if kernel.name == "quadratic":
        copy = make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression(
            C=C, tol=1e-10, solver="newton-cholesky", max_iter=1000))
    elif kernel.name == "tanh":
        copy = MLPClassifier((m,), activation="tanh", solver="lbfgs", alpha=1e-6, tol=1e-8,
                             max_iter=STEPS, max_fun=10 * STEPS, random_state=0)
    else:
        K = np.mean([kernel(x[None], x[None]) for x in pool.points])
        copy = SVC(C=HARDNESS / K, cache_size=1000, **kernel.to_sklearn())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        copy.fit(pool.points, pool.labels)
    return copy, not any(issubclass(w.category, ConvergenceWarning) for w in caught)


def values_of(copy, X):
    """A copy's decision function, in blocks; of a network, the logarithm of the odds."""
    if not isinstance(copy, MLPClassifier):
        return np.concatenate([copy.decision_function(X[j]) for j in blocks(len(X), 1000)])
    q = copy.predict_proba(X)[:, 1]
    return np.log(np.maximum(q, 1e-300)) - np.log(np.maximum(1 - q, 1e-300))


def span_of_copy(copy, X, m):
    """The span of a copy's gradients at some points, by differences: (d, m)."""
    d, h = X.shape[1], 1e-4 * np.sqrt(np.mean(X**2))
    shifted = X[:, None, None] + h * np.stack([np.eye(d), -np.eye(d)])
    G = np.diff(values_of(copy, shifted.reshape(-1, d)).reshape(len(X), 2, d), axis=1)[:, 0]
    G /= np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300)
    return np.linalg.svd(G.T, full_matrices=False)[0][:, :m]


def with_polynomial(oracle, pool, kernel, basis, width):
    """A guess from a basis of S_Y, and for a polynomial kernel the polynomial on it."""
    if kernel.name not in ("quadratic", "cubic"):
        return Guess(oracle.queries, None, basis)
    before = oracle.queries
    inside = pool.points @ basis @ basis.T
    labels = oracle(inside)
    pairs = pn_pairs(inside[labels > 0], inside[labels < 0],
                     points_needed(basis.shape[1], kernel.degree), pool.rng)
    X, _ = boundary_points(oracle, *pairs, width)
    guess = Guess(oracle.queries,
                  on_span(fit_polynomial(X @ basis, kernel.degree)[0], basis, pool), basis)
    oracle.queries = before  # the next guess will need other points, on another basis
    return guess


def points_needed(m, degree):
    """Boundary points for a polynomial in m variables: five per cent and fifteen to spare."""
    return int(1.05 * comb(m + degree, degree)) + 15


def on_span(T, basis, pool):
    """Labels of the polynomial T in the coordinates basis^T x, its sign taken from the pool."""
    def values(X):
        rows = blocks(len(X), len(T) ** (T.ndim - 1))
        return np.concatenate([evaluate(T, X[j] @ basis)[0] for j in rows])

    sign = np.sign(np.sign(values(pool.points)) @ pool.labels)
    return lambda X: np.where(sign * values(X) > 0, 1, -1)


def columns(T, m):
    """The m directions of a polynomial's variables in which it changes most."""
    unfolded = T[:-1].reshape(len(T) - 1, -1)
    return np.linalg.svd(unfolded, full_matrices=False)[0][:, :m]
