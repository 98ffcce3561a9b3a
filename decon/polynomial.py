"""Polynomial machines: Psi on the kernel subspace, and quasi-support vectors (quadratic kernel)."""

from itertools import combinations_with_replacement, permutations
from math import comb

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import factorial

from .kernels import Polynomial
from .machine import KernelMachine


def fit_polynomial(Z, degree, weights=1.0):
    """The polynomial that vanishes on given points: a null vector (section 3.5).

    With h = (z, 1), Psi - b = sum_ij.. T_ij.. h_i h_j ..; the symmetric tensor T has
    C(m + D, D) different entries, and every boundary point gives one linear equation for them,
    so they are the null vector of the matrix of monomials.

    Parameters
    ----------
    Z : array (n, m), n at least C(m + D, D) - 1
        Points of the boundary, in coordinates of S_Y.
    degree : int
        D.
    weights : float or array (n,), default 1
        The weight of every equation.

    Returns
    -------
    T : array (m + 1, ..., m + 1) with D axes, symmetric, of norm 1
        Determined up to its sign. For D = 2 the matrix A.
    values : array (2,)
        The two smallest singular values of the matrix of monomials, descending: the last is
        the residual, the gap before it shows how well determined T is.

    Raises
    ------
    ValueError
        If there are too few points.

    Examples
    --------
    >>> angle = np.arange(5.)
    >>> A, values = fit_polynomial(np.c_[np.cos(angle), np.sin(angle)], 2)   # the unit circle
    >>> (A / A[0, 0]).round(6) + 0
    array([[ 1.,  0.,  0.],
           [ 0.,  1.,  0.],
           [ 0.,  0., -1.]])
    """
    Z = np.asarray(Z, float)
    n, m = Z.shape
    index = np.array(list(combinations_with_replacement(range(m + 1), degree)))
    if n < len(index) - 1:
        raise ValueError(f"a polynomial of degree {degree} in {m} variables needs "
                         f"{len(index) - 1} points, got {n}")
    scale = np.sqrt(np.mean(Z**2)) or 1.0
    H = np.c_[Z / scale, np.ones(n)]
    H /= np.linalg.norm(H, axis=1, keepdims=True)  # so that far points do not rule
    powers = (index[:, :, None] == np.arange(m + 1)).sum(1)
    times = np.sqrt(factorial(degree) / factorial(powers).prod(1))  # how often an entry occurs
    rows = np.outer(np.broadcast_to(weights, n), times)
    for i in index.T:
        rows *= H[:, i]
    vector, values = null_vector(rows)
    vector *= np.r_[np.full(m, 1 / scale), 1][index].prod(1) / times
    T = np.empty((m + 1,) * degree)
    for order in permutations(range(degree)):
        T[tuple(index[:, order].T)] = vector
    return T / np.linalg.norm(T), values


def misfit(Z, degree, width, residual=None):
    """The residual of a fitted polynomial, in units of what the width of the brackets explains.

    Below one for the right degree (0.2 is typical), whatever the polynomial and its scale: this
    is what a fixed tolerance cannot give.

    Parameters
    ----------
    Z : array (n, m), n at least C(m + degree, degree) - 1
        With no point more than that, every polynomial fits, and the misfit is rounding.
    degree : int
    width : float
        Of the brackets that found the points.
    residual : float, optional
        The smallest singular value of a fit that is there already.

    Examples
    --------
    >>> t = np.linspace(0, 6, 20)
    >>> circle = np.c_[np.cos(t), np.sin(t)]
    >>> misfit(circle, 1, 1e-9) > 1e6, misfit(circle, 2, 1e-9) < 1
    (True, True)
    """
    n, m = np.shape(Z)
    excess = max(1, n + 1 - comb(m + degree, degree))
    if residual is None:
        residual = fit_polynomial(Z, degree)[1][1]
    return float(residual * np.sqrt(np.mean(np.square(Z)) / excess) / width)


def null_vector(rows, steps=4):
    """The unit vector c that makes |rows @ c| smallest, by inverse iteration.

    Parameters
    ----------
    rows : array (n, p), n at least p - 1
    steps : int
        A step shrinks what is not the null vector by the square of the two smallest singular
        values' ratio, so few are needed when there is a null vector at all.

    Returns
    -------
    vector : array (p,)
    values : array (2,)
        The two smallest singular values, the larger (an upper estimate) first.

    Examples
    --------
    >>> vector, values = null_vector(np.array([[1., 1., 0.], [0., 1., 1.], [1., 2., 1.]]))
    >>> (vector / vector[0]).round(6), bool(values[1] < 1e-12)
    (array([ 1., -1.,  1.]), True)
    """
    p = rows.shape[1]
    padded = np.concatenate([rows, np.zeros((max(0, p - len(rows)), p))])
    R = np.linalg.qr(padded, mode="r")  # R^T R = rows^T rows, without squaring the condition
    tiny = np.finfo(float).eps * np.abs(R).max()
    R[np.diag_indices(p)] += np.where(np.abs(R.diagonal()) < tiny, tiny, 0)
    Q = np.random.default_rng(0).standard_normal((p, 2))
    for _ in range(steps):
        Q = solve_triangular(R, solve_triangular(R, Q, trans="T"))
        Q = np.linalg.qr(Q)[0]
    _, values, right = np.linalg.svd(R @ Q)
    return Q @ right[-1], values


def evaluate(T, Z):
    """Values (n,) and gradients (n, m) at points Z (n, m) of the polynomial with tensor T.

    Examples
    --------
    >>> values, gradients = evaluate(np.diag([1., 1., -1.]), [[1., 2.]])   # x^2 + y^2 - 1
    >>> values, gradients
    (array([4.]), array([[2., 4.]]))
    """
    H = np.c_[Z, np.ones(len(Z))]
    partial = np.tensordot(H, T, 1) if T.ndim > 1 else np.tile(T, (len(H), 1))
    while partial.ndim > 2:
        partial = np.einsum("ni,ni...->n...", H, partial)
    return (partial * H).sum(1), T.ndim * partial[:, :-1]


def distance_to_zeros(T, Z):
    """How far the points Z (n, m) are from the zero set of a polynomial T, to first order.

    Examples
    --------
    >>> distance_to_zeros(np.diag([1., 1., -1.]), [[1.001, 0.]]).round(6)   # the unit circle
    array([0.001])
    """
    values, gradients = evaluate(T, Z)
    return np.abs(values) / np.linalg.norm(gradients, axis=1)


def relevant_directions(A, again, scale):
    """The directions along which a quadratic changes: S_Y, read from the quadratic itself.

    The rows of [M k] span S_Y. `again` is a second estimate of A, from other points: what
    differs between the two is noise, and need not be the same in all directions.

    Parameters
    ----------
    A, again : arrays (m + 1, m + 1), symmetric
    scale : float
        Typical size of z, which makes M and k comparable.

    Returns
    -------
    left : array (m, m)
        Orthonormal columns, the most important direction first.
    values : array (m,)
        The singular values of [M k].
    noise : array (m,)
        The noise of each; a direction whose value does not exceed it many times is not seen.
    """
    units = np.r_[np.full(len(A) - 1, scale), 1]
    first, second = (B[:-1] * np.outer(units[:-1], units) for B in (A, again))
    left, values, _ = np.linalg.svd(first)
    difference = first - second * np.sign((first * second).sum())
    return left, values, np.linalg.norm(left.T @ difference, axis=1)


def quasi_support_vectors(A, scale=None):
    """A quadratic as a kernel machine: sum_i w_i (z.y_i + 1)^2 > b, by eigen-decomposition.

    With A = [[M, k], [k^T, a]] and M invertible, adding c = k^T M^-1 k - a to the last entry
    leaves a matrix of rank m (c is also what the threshold becomes), so that m quasi-support
    vectors suffice. They are not unique: any rotation that preserves the signs of the
    eigenvalues gives others. We take the one that spreads the last coordinates evenly, so that
    no quasi-support vector is far away.

    Parameters
    ----------
    A : array (m + 1, m + 1), symmetric
        Psi(z) - b = (z, 1)^T A (z, 1), with the sign that makes +1 the positive side.
    scale : float, optional
        Typical size of z; left out, the one at which M z and k are alike.

    Returns
    -------
    KernelMachine
        With kernel (x.y + 1)^2, or (x.y)^2 where A has no linear part; m quasi-support vectors
        (m + 1 where M is too nearly singular for c), the largest |weight| being 1.

    Raises
    ------
    ArithmeticError
        If no decomposition reproduces A to rounding.

    Examples
    --------
    >>> A = np.diag([1., -1., 0.5]); A[0, 2] = A[2, 0] = A[1, 2] = A[2, 1] = 1
    >>> machine = quasi_support_vectors(A)
    >>> z = np.array([2., 3., 1.])
    >>> factor = machine.decision_function([z[:2]])[0] / (z @ A @ z)
    >>> w = np.array([-1., 5., 1.])
    >>> bool(np.isclose(machine.decision_function([w[:2]])[0], factor * (w @ A @ w)))
    True
    """
    A = np.asarray(A, float)
    M, k, a = A[:-1, :-1], A[:-1, -1], A[-1, -1]
    size, length = np.linalg.norm(M, 2), np.linalg.norm(k)
    if length <= 1e-10 * max(np.sqrt(size * abs(a)), size * (scale or 0)):
        weights, vectors = np.linalg.eigh(M)
        return KernelMachine(Polynomial(2, coef0=0), vectors.T, weights, -a).normalised()
    unit = scale or (length / size if size > 0 else 1 / length)
    units = np.r_[np.full(len(M), unit), 1]
    A = A * np.outer(units, units)
    A = A / np.abs(A).max()
    M, k, a = A[:-1, :-1], A[:-1, -1], A[-1, -1]
    c = k @ np.linalg.lstsq(M, k, rcond=1e-12)[0] - a
    for threshold in (c, 1 - a, -1 - a, c + 2, c - 2):  # all but the first: m + 1 vectors
        B = A.copy()
        B[-1, -1] += threshold
        vectors, weights = _decompose(B)
        H = np.c_[vectors, np.ones(len(weights))]
        terms = np.abs(weights) * (H**2).sum(1)
        if len(H) and terms.max() < 1e6 and np.abs((H.T * weights) @ H - B).max() < 1e-11:
            return KernelMachine(Polynomial(2), vectors / unit, weights, threshold).normalised()
    raise ArithmeticError("this quadratic has no well-conditioned sum of (z.y + 1)^2")


def _decompose(B):
    """Vectors y_i and weights w_i with B = sum_i w_i (y_i, 1)(y_i, 1)^T, balanced within a sign."""
    eigenvalues, vectors = np.linalg.eigh(B)
    keep = np.abs(eigenvalues) > 1e-13 * np.abs(eigenvalues).max()
    Y, weights = [np.empty((0, len(B) - 1))], [np.empty(0)]
    for sign in (1, -1):
        block = keep & (sign * eigenvalues > 0)
        L = vectors[:, block] * np.sqrt(np.abs(eigenvalues[block]))  # B's part = sign * L L^T
        n = L.shape[1]
        last = np.linalg.norm(L[-1]) if n else 0.0
        if last > 1e-12:  # without a part along e no (y, 1) can express the block
            L = L @ _rotation(L[-1] / last, np.full(n, 1 / np.sqrt(n)))
            Y.append((L[:-1] / L[-1]).T)
            weights.append(sign * L[-1] ** 2)
    return np.concatenate(Y), np.concatenate(weights)


def _rotation(a, b):
    """An orthogonal Q with a @ Q = b for unit vectors a and b (a Householder reflection)."""
    u = a - b
    length = u @ u
    return np.eye(len(a)) - (2 / length * np.outer(u, u) if length > 1e-30 else 0)
