"""Polynomials through boundary points: null vectors, values, and the directions that matter."""

from itertools import combinations_with_replacement, permutations
from math import comb

import numpy as np
from scipy.linalg import cho_solve

from ..boundary.distance import level_set_distance
from ..types import Array, ArrayLike


def fit_polynomial(Z: ArrayLike, degree: int, weights: ArrayLike = 1.0) -> tuple[Array, Array]:
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
    unknowns = comb(m + degree, degree)
    if n < unknowns - 1:
        raise ValueError(f"degree {degree} in {m} variables needs {unknowns - 1} points, got {n}")

    # h = (z, 1), in units of the points' size; of length 1, so that far points do not rule
    scale = np.sqrt(np.mean(Z**2)) or 1.0
    H = np.c_[Z / scale, np.ones(n)]
    H /= np.linalg.norm(H, axis=1, keepdims=True)

    # the null vector of their monomials is T, in units of the scale (steps 2 and 3 of
    # alg-polynomial-machines-fit)
    index, times = _entries(m, degree)
    vector, values = null_vector(monomials(H, degree) * np.reshape(weights, (-1, 1)))
    vector *= np.r_[np.full(m, 1 / scale), 1][index].prod(1) / times
    T = np.empty((m + 1,) * degree)
    for axes in permutations(index.T):
        T[axes] = vector
    return T / np.linalg.norm(T), values


def monomials(H: Array, degree: int) -> Array:
    """The products h_i h_j .. of so many entries of every row, i <= j <= ..

    Each is multiplied by the root of how often T_ij.. occurs in a symmetric tensor T, so that T and
    its coefficients have one norm.

    Parameters
    ----------
    H : array (n, m + 1)
    degree : int

    Returns
    -------
    rows : array (n, C(m + degree, degree))

    Examples
    --------
    >>> monomials(np.array([[2., 1.]]), 2).round(3)
    array([[4.   , 2.828, 1.   ]])
    """
    index, times = _entries(H.shape[1] - 1, degree)
    rows = np.tile(times, (len(H), 1))
    for i in index.T:
        rows *= H[:, i]
    return rows


def _entries(m, degree):
    """The numbers i <= j <= .. of a symmetric tensor's entries, and the root of how often each is.
    """
    index = np.array(list(combinations_with_replacement(range(m + 1), degree)))
    return index, np.sqrt([len(set(permutations(i))) for i in index])


def misfit(Z: ArrayLike, degree: int, width: float, residual: float | None = None) -> float:
    """The residual of a fitted polynomial, in units of what the width of the brackets explains.

    Below one for the right degree (0.2 is typical), whatever the polynomial and its scale: this
    is what a fixed tolerance cannot give.

    Parameters
    ----------
    Z : array (n, m), n at least C(m + degree, degree) - 1
        Points. If there are no more than that, some polynomial fits, and the misfit is rounding.
    degree : int
        D.
    width : float
        Of the brackets that found the points, in their units.
    residual : float, optional
        The smallest singular value of a fit that is there already.

    Returns
    -------
    misfit : float

    Raises
    ------
    ValueError
        If there are too few points.

    Examples
    --------
    >>> t = np.linspace(0, 6, 20)
    >>> circle = np.c_[np.cos(t), np.sin(t)]
    >>> misfit(circle, 1, 1e-9) > 1e6, misfit(circle, 2, 1e-9) < 1
    (True, True)
    """
    n, m = np.shape(Z)
    residual = fit_polynomial(Z, degree)[1][1] if residual is None else residual
    excess = max(1, n + 1 - comb(m + degree, degree))  # degrees of freedom
    return float(residual * np.sqrt(np.mean(np.square(Z)) / excess) / width)


def null_vector(rows: Array, steps: int = 4) -> tuple[Array, Array]:
    """The unit vector c that makes |rows @ c| smallest, by inverse iteration on two vectors.

    Parameters
    ----------
    rows : array (n, p), n at least p - 1
        Not all of them zero.
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
    # R^T R = rows^T rows, without squaring the condition; its diagonal must not vanish
    p = rows.shape[1]
    padded = np.concatenate([rows, np.zeros((max(0, p - len(rows)), p))])
    R = np.asarray(np.linalg.qr(padded, mode="r"))
    tiny = np.finfo(float).eps * np.abs(R).max()
    R[np.diag_indices(p)] += np.where(np.abs(R.diagonal()) < tiny, tiny, 0)

    # inverse iteration, Q <- (R^T R)^-1 Q, orthonormal again after every step
    Q = np.random.default_rng(0).standard_normal((p, 2))
    for _ in range(steps):
        solved = cho_solve((R, False), Q, check_finite=False)
        if not np.isfinite(solved).all():  # too many small pivots, and their quotients overflow
            _, values, right = np.linalg.svd(R)
            return right[-1], values[-2:]
        Q = np.linalg.qr(solved)[0]

    # the last singular vector in the span of Q
    _, values, right = np.linalg.svd(R @ Q)
    return Q @ right[-1], values


def evaluate(T: Array, Z: Array) -> tuple[Array, Array]:
    """Values and gradients of the polynomial sum_ij.. T_ij.. h_i h_j .., where h = (z, 1).

    Parameters
    ----------
    T : array (m + 1, ..., m + 1) with D axes, symmetric
    Z : array (n, m)

    Returns
    -------
    values : array (n,)
    gradients : array (n, m)

    Examples
    --------
    >>> values, gradients = evaluate(np.diag([1., 1., -1.]), np.array([[1., 2.]]))  # x^2 + y^2 - 1
    >>> values, gradients
    (array([4.]), array([[2., 4.]]))
    """
    # contracted with h until one axis is left: half the gradient, if D = 2
    H = np.c_[Z, np.ones(len(Z))]
    partial = np.tensordot(H, T, 1) if T.ndim > 1 else np.tile(T, (len(H), 1))
    while partial.ndim > 2:
        partial = np.einsum("ni,ni...->n...", H, partial)
    return (partial * H).sum(1), T.ndim * partial[:, :-1]


def distance_to_zeros(T: Array, Z: Array) -> Array:
    """How far points are from the zero set of a polynomial, to first order.

    Parameters
    ----------
    T : array (m + 1, ..., m + 1) with D axes, symmetric
    Z : array (n, m)

    Returns
    -------
    distances : array (n,)
        Not negative; not finite where the gradient vanishes.

    Examples
    --------
    >>> distance_to_zeros(np.diag([1., 1., -1.]), np.array([[1.001, 0.]])).round(6)
    array([0.001])
    """
    return np.abs(level_set_distance(*evaluate(T, Z)))


def relevant_directions(A: Array, again: Array, scale: float) -> tuple[Array, Array, Array]:
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
    # [M k] of both estimates, in units of the scale (prop-polynomial-machines-slice)
    units = np.r_[np.full(len(A) - 1, scale), 1]
    first, second = (B[:-1] * np.outer(units[:-1], units) for B in (A, again))

    # left singular vectors u of one, and the lengths |u^T E| of the difference E along them
    left, values, _ = np.linalg.svd(first)
    difference = first - second * np.sign((first * second).sum())
    return left, values, np.linalg.norm(left.T @ difference, axis=1)
