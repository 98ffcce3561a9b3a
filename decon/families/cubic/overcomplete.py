"""Cubics of more support vectors than dimensions: symmetric tensors of rank above their size."""

from itertools import combinations
from math import comb

import numpy as np
from scipy.sparse.csgraph import connected_components

from ...numerics.least_squares import levenberg_marquardt
from ...types import Array, RandomState
from ..protocol import Refuted
from .settings import SETTINGS


def fewest_cubes(T: Array, random_state: RandomState = 0) -> int:
    """How many cubes a symmetric tensor takes at least, by the ranks of its Young flattenings.

    For a random subspace of dimension 2 p + 1, u -> sum_a T(a, ., .) (a ^ u) maps p-vectors to
    (p + 1)-vectors. A cube gives it the rank C(2 p, p), so that its rank divided by this is a
    lower bound; as a rule it is the number of cubes itself, if this is smaller than
    n (2 p + 1) / (p + 1), however many the dimensions are [Landsberg and Ottaviani 2013].

    Parameters
    ----------
    T : array (n, n, n), symmetric, n at least 3
    random_state : int or numpy.random.Generator

    Returns
    -------
    count : int

    Examples
    --------
    >>> V = np.random.default_rng(0).standard_normal((9, 7))      # nine cubes in seven dimensions
    >>> fewest_cubes(np.einsum("ri,rj,rk", V, V, V))
    9
    """
    rng, n, count = np.random.default_rng(random_state), len(T), 0
    for p in range(1, min(SETTINGS.most_exterior, (n - 1) // 2) + 1):
        subspace = np.linalg.qr(rng.standard_normal((n, 2 * p + 1)))[0]
        slices = np.einsum("ijk,ia->ajk", T, subspace)

        # the block from the p-vector e_I to the (p + 1)-vector e_a ^ e_I
        lower, upper = (list(combinations(range(2 * p + 1), k)) for k in (p, p + 1))
        blocks = np.zeros((len(upper), n, len(lower), n))
        for i, J in enumerate(upper):
            for k, a in enumerate(J):
                blocks[i, :, lower.index(J[:k] + J[k + 1:])] = (-1) ** k * slices[a]
        values = np.linalg.svd(blocks.reshape(len(upper) * n, -1), compute_uv=False)
        rank = int((values > SETTINGS.clear_flattening * values[0]).sum())
        count = max(count, -(-rank // comb(2 * p, p)))
    return count


def largest_count(n: int) -> int:
    """Up to how many cubes `fewest_cubes` can count.

    Parameters
    ----------
    n : int
        The tensor's size.

    Returns
    -------
    count : int

    Examples
    --------
    >>> [largest_count(n) for n in (5, 7, 13)]
    [8, 12, 22]
    """
    largest = min(SETTINGS.most_exterior, (n - 1) // 2)
    return max(n * (2 * p + 1) // (p + 1) for p in range(1, largest + 1))


def many_cubes(T: Array, scale: float = 1.0, random_state: RandomState = 0) -> Array:
    """A symmetric tensor as a sum of more cubes than it has dimensions, but for its last entry.

    The last entry is the constant of a cubic, which a threshold may change. Damped Gauss-Newton
    steps start from random vectors, and again from the best sum so far with some of its vectors
    drawn anew. If there are more cubes than `fewest_cubes` can count, the largest number that is
    determined comes first, and then one cube after the other is left out.

    Parameters
    ----------
    T : array (n, n, n), symmetric
    scale : float
        Typical size of the first n - 1 coordinates beside the last, for conditioning.
    random_state : int or numpy.random.Generator

    Returns
    -------
    V : array (r, n)
        The vectors of the cubes.

    Raises
    ------
    Refuted
        If no sum of at least n cubes is found, and of so few that almost all are unique.

    Examples
    --------
    >>> V = np.random.default_rng(0).standard_normal((9, 7))      # a cubic in six variables
    >>> W = many_cubes(np.einsum("ri,rj,rk", V, V, V))
    >>> nearest = np.abs(W[:, None] - V).max(axis=2).min(axis=0)
    >>> W.shape, bool(nearest.max() < 1e-6)
    ((9, 7), True)
    """
    # so many are determined
    rng, n = np.random.default_rng(random_state), len(T)
    most = min(largest_number(n - 1), SETTINGS.most_cube_numbers // n)
    if most < n:
        raise Refuted(f"{n} support vectors in {n - 1} dimensions are more than can be sought")

    # like units, and norm 1
    units = np.r_[np.full(n - 1, scale), 1]
    T = T * units[:, None, None] * units[:, None] * units
    size = np.linalg.norm(T)
    T = T / size

    # as many as the flattenings count, the threshold among them or not
    counted, V, error = fewest_cubes(T, rng), np.empty((0, n)), np.inf
    if counted < largest_count(n):
        for r in range(max(counted - 1, n), min(counted, most) + 1):
            V, error = _best_fit(T, r, SETTINGS.starts, rng)
            if error < SETTINGS.fitted_cubes:
                break

    # or more than they can count: many cubes fit from nearly any start, then fewer and fewer
    elif counted <= most + 1:
        V, error = _best_fit(T, most, SETTINGS.fewer_starts, rng, SETTINGS.hopeless)
        if error < SETTINGS.fitted_cubes:
            V = _fewer(T, V, rng)
    if error > SETTINGS.fitted_cubes:
        raise Refuted(f"this cubic is no sum of {n} to {most} cubes that can be found")
    return V * np.cbrt(size) / units


def largest_number(m: int) -> int:
    """How many support vectors in m dimensions are looked for at most.

    With the threshold, r + 1 cubes in m + 1 dimensions: almost all sums of so few that their
    vectors have fewer entries than the cubic has coefficients are unique, but for nine cubes in six
    dimensions, of which there are two sums [Chiantini, Ottaviani and Vannieuwenhoven 2017]. We
    leave one cube to spare, although the labels may determine it.

    Parameters
    ----------
    m : int

    Returns
    -------
    count : int

    Examples
    --------
    >>> [largest_number(m) for m in (4, 5, 6, 12)]
    [4, 7, 9, 32]
    """
    coefficients = comb(m + 3, 3)
    return (coefficients - 1) // (m + 1) - 2


def _start(rng, r, n):
    """Random vectors whose cubes have a sum of norm about 1, if they are few."""
    return rng.standard_normal((r, n)) / np.sqrt(4 * n)


def _best_fit(T, r, starts, rng, hopeless=np.inf):
    """The best sum of r cubes from so many starts, and its error."""
    best, V = np.inf, np.empty((0, len(T)))
    for start in range(starts):
        # from random vectors, or from the best so far with a few of them drawn anew
        trial = _start(rng, r, len(T))
        if start % SETTINGS.restarts:
            again = rng.permutation(r) < rng.integers(1, r // 4 + 2)
            trial = np.where(again[:, None], trial, _shaken(V, SETTINGS.shake, rng))
        trial, error = _fitted(T, trial)
        if error < best:
            best, V = error, trial
        if best < SETTINGS.fitted_cubes or (start == SETTINGS.restarts and best > hopeless):
            break
    return V, best


def _fewer(T, V, rng):
    """The smallest sum of cubes that is found by leaving out one after the other."""
    for start in range(SETTINGS.fewer_starts):
        # without the shortest vector; then without any, the others shaken, or from random ones
        trial = np.delete(V, np.argmin(np.linalg.norm(V, axis=1)), 0)
        if start % 3 == 2:
            trial = _start(rng, len(V) - 1, len(T))
        elif start:
            trial = _shaken(np.delete(V, rng.integers(len(V)), 0), 2 * SETTINGS.shake, rng)
        trial, error = _fitted(T, trial)
        if error < SETTINGS.fitted_cubes:
            return _fewer(T, trial, rng)
    return V


def _shaken(V, share, rng):
    """Vectors with noise, of a share of their largest entry."""
    return V + share * np.abs(V).max() * rng.standard_normal(V.shape)


def _fitted(T, V):
    """V after damped Gauss-Newton steps for T = sum_i v_i x v_i x v_i without the last entry."""
    def residual(V):
        r = T - np.einsum("ri,rj,rk", V, V, V, optimize=True)
        r[-1, -1, -1] = 0
        return r.ravel()

    def linearised(V, r):
        # normal equations as in `sum_of_cubes`, without the row 3 v_in^2 of the last entry
        g, (k, n) = V @ V.T, V.shape
        products = 3 * (np.einsum("ij,kl->ikjl", g**2, np.eye(n))
                        + 2 * np.einsum("ij,jk,il->ikjl", g, V, V)).reshape(k * n, k * n)
        last = np.zeros((k, n))
        last[:, -1] = 3 * V[:, -1] ** 2
        products -= np.outer(last, last)
        right = 3 * np.einsum("ijk,ri,rj->rk", r.reshape(n, n, n), V, V, optimize=True).ravel()
        mean, diagonal = np.trace(products) / (k * n), np.arange(k * n)

        def stepped(damping):
            damped = products.copy()
            damped[diagonal, diagonal] += (damping + 1e-14) * mean
            return V + np.linalg.solve(damped, right).reshape(k, n)
        return stepped

    V = levenberg_marquardt(residual, linearised, V, SETTINGS.cube_steps, 1.0, 1e-12,
                            SETTINGS.least_cube_gain, SETTINGS.cube_patience, 1e-22)
    return V, float(np.linalg.norm(residual(V)))


def groups(V: Array, scale: float) -> list[tuple[int, int]]:
    """The groups of cubes that share no dimension: each a sum of its own, in variables of its own.

    Parameters
    ----------
    V : array (r, m + 1)
        The vectors (v_i, last entry): sum_i (v_i.(z, 1))^3.
    scale : float
        Typical size of z.

    Returns
    -------
    groups : list of (count, dimension)
        How many vectors each has, and how many dimensions these span. Together with the
        threshold's vector (0, ..., 0, 1), which is in one of the groups and is not counted.

    Examples
    --------
    >>> Y = np.random.default_rng(0).dirichlet(np.ones(6), 9)    # nine histograms: their entries
    >>> groups(np.c_[Y, np.ones(9)], 1.0)                        # add up to the last entry
    [(9, 6), (0, 1)]
    """
    V = np.r_[V * np.r_[np.full(V.shape[1] - 1, scale), 1], np.eye(V.shape[1])[-1:]]
    U, values, _ = np.linalg.svd(V / np.linalg.norm(V, axis=1, keepdims=True), full_matrices=False)
    U = U[:, values > SETTINGS.clear_variable * values[0]]

    # the projection onto the columns of V is one block for each group, with its dimension as trace
    projection = U @ U.T
    number, group = connected_components(np.abs(projection) > SETTINGS.clear_link)
    dimensions = np.bincount(group, np.diag(projection))
    counts = np.bincount(group[:-1], minlength=number)
    return [(int(r), round(n)) for r, n in zip(counts, dimensions, strict=True)]


def polished(V: Array, threshold: float, Z: Array, scale: float) -> tuple[Array, float, Array]:
    """The sum of cubes whose boundary passes through given points, by Gauss-Newton steps.

    Parameters
    ----------
    V : array (r, m + 1)
        Nearly the vectors: sum_i (v_i.(z, 1))^3 = threshold is the boundary.
    threshold : float
    Z : array (n, m)
        Points of the boundary; n at least r (m + 1).
    scale : float
        Typical size of z.

    Returns
    -------
    V : array (r, m + 1)
    threshold : float
    values : array (r (m + 1) + 1,)
        Singular values of the Jacobian with columns of length 1, descending. The last is 0: a
        common factor changes nothing. If the one before it is clear of 0, no other sum of cubes
        nearby has this boundary.

    Examples
    --------
    >>> t = np.linspace(-2, 2, 40)
    >>> Z = np.c_[t, np.cbrt(1 - t**3)]                                # the curve x^3 + y^3 = 1
    >>> V, b, values = polished(np.array([[1., 0., .001], [.001, 1., 0.]]), 1., Z, 1.)
    >>> (V / np.cbrt(b)).round(9) + 0., bool(values[-2] > 1e-3 > 1e-9 > values[-1])
    (array([[1., 0., 0.],
           [0., 1., 0.]]), True)
    """
    units = np.r_[np.full(Z.shape[1], scale), 1]
    H, shape = np.c_[Z / scale, np.ones(len(Z))], V.shape

    # parameters: all entries of V, and the threshold
    def steepness(V):
        return np.linalg.norm(3 * (H @ V.T) ** 2 @ V[:, :-1], axis=1)

    def jacobian(V, slope):
        rows = 3 * np.einsum("kr,ki->kri", (H @ V.T) ** 2, H).reshape(len(H), -1)
        return np.c_[rows, -np.ones(len(H))] / slope[:, None]

    V = V * units
    for _ in range(SETTINGS.polishing_rounds):
        # distances of the points to first order, with the slopes of the round before
        slope = steepness(V)

        def residual(x, slope=slope):
            W = x[:-1].reshape(shape)
            return (((H @ W.T) ** 3).sum(1) - x[-1]) / slope

        def linearised(x, r, slope=slope):
            # a step orthogonal to x, which is the direction of the common factor
            rows = np.r_[jacobian(x[:-1].reshape(shape), slope), x[None] / np.linalg.norm(x)]
            step = np.linalg.lstsq(rows, np.r_[-r, 0], rcond=1e-14)[0]
            return lambda damping: x + step

        x = levenberg_marquardt(residual, linearised, np.r_[V.ravel(), threshold], 4)
        V, threshold = x[:-1].reshape(shape), float(x[-1])
    J = jacobian(V, steepness(V))
    values = np.linalg.svd(J / np.linalg.norm(J, axis=0), compute_uv=False)
    return V / units, threshold, values
