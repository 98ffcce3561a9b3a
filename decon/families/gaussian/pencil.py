"""Sums of exponentials, sum_i alpha_i exp(theta_i.x): taken apart by a matrix pencil."""

import numpy as np

from ...types import Array
from ..protocol import Refuted
from .settings import SETTINGS


def triple_sums(shifts: Array) -> tuple[Array, Array]:
    """The sums s_j + s_k + s_c, c being 0 or 1, of n shifts: n^2 points for two matrices (n, n).

    With s_0 = 0 the matrices G(s_j + s_k) and G(s_j + s_k + s_1) of a function G share n of their
    values, and both are symmetric.

    Parameters
    ----------
    shifts : array (n, k)
        At least two; the first row must be zero.

    Returns
    -------
    triples : int array (n^2, 3)
        Numbers j <= k <= l of the shifts that make up each point; j is 0 or 1.
    index : int array (2, n, n)
        index[c, j, k] is the row of `triples` with s_j + s_k + s_c.

    Raises
    ------
    ValueError
        If there are fewer than two shifts, or the first is not zero.

    Examples
    --------
    >>> triples, index = triple_sums(np.array([[0., 0.], [1., 0.], [0., 1.]]))
    >>> len(triples), triples[index[1, 2, 2]].tolist()
    (9, [1, 2, 2])
    """
    n = len(shifts)
    if n < 2 or np.any(shifts[0]):
        raise ValueError("expected at least two shifts, the first of them zero")

    # a sum does not depend on the order of its terms
    every = np.sort(np.moveaxis(np.indices((2, n, n)), 0, -1).reshape(-1, 3), axis=1)
    triples, index = np.unique(every, axis=0, return_inverse=True)
    return triples, index.reshape(2, n, n)


def sigma_candidates(ell: Array, index: Array) -> tuple[Array, Array]:
    """The sigma^2 at which the matrix exp(ell / (2 sigma^2)) is singular, the best ones first.

    If exp(ell / (2 sigma^2)) is a sum of n - 1 exponentials at the n^2 points of `triple_sums`,
    both of their matrices have rank n - 1, and the same column space. So an eigenvalue of the
    first passes through zero, and the two side by side have only n - 1 singular values. The zeros
    come from a grid of g = log sigma^2 and Newton's method for nonlinear eigenvalue problems: with
    M = exp(ell / (2 sigma^2)), the eigenvalues of -M'(g)^-1 M(g) are how far the zeros lie from g,
    to first order [Ruhe 1973].

    Parameters
    ----------
    ell : array (n^2,)
        q^2 + |z - z_0|^2 at the points, in squared units of length: 2 sigma^2 times the logarithm
        of a sum of exponentials, up to a linear function.
    index : int array (2, n, n)
        As `triple_sums` returns it.

    Returns
    -------
    sigma2 : array (k,)
    contrast : array (k,), ascending
        The ratio of the last two singular values of the two matrices side by side: rounding or
        noise for the true sigma^2, of order 0.1 otherwise.

    Raises
    ------
    ValueError
        If ell is not finite.

    Examples
    --------
    >>> shifts = np.array([[0., 0.], [1., 0.], [0., 1.]])
    >>> triples, index = triple_sums(shifts)
    >>> points = shifts[triples].sum(1)
    >>> G = np.exp(points @ [1., 2.]) + np.exp(points @ [-1., .5])
    >>> sigma2, contrast = sigma_candidates(2 * 3.0 * np.log(G), index)
    >>> float(sigma2[0].round(6)), bool(contrast[0] < 1e-9)
    (3.0, True)
    """
    if not np.isfinite(ell).all():
        raise ValueError("ell must be finite, but some of it is not: are all points inside?")
    E, _ = _balanced(ell[index])

    # zeros of det M, to first order from a grid of log sigma^2
    spread, grid_step = np.ptp(ell), SETTINGS.grid_step
    g = np.arange(np.log(spread / 120), np.log(spread * 500), grid_step)
    steps = _steps_to_zeros(E[0], g)
    g = (g[:, None] + steps)[np.abs(steps) < 0.6 * grid_step]

    # Newton's method [Ruhe 1973], from each of them to the zero that is nearest; each zero once
    for _ in range(4):
        steps = _steps_to_zeros(E[0], g)
        nearest = steps[np.arange(len(g)), np.abs(steps).argmin(1)]
        g = g + np.where(np.abs(nearest) < grid_step, nearest, 0)
    g = np.sort(g)
    sigma2 = np.exp(g[np.diff(g, prepend=-np.inf) > 1e-9])

    # the contrast tells which of them is a zero of both matrices, with a common null vector
    # (eq-gaussian-measuring-stick-factors)
    G = np.exp(E / (2 * sigma2[:, None, None, None]))
    values = np.linalg.svd(np.concatenate([G[:, 0], G[:, 1]], axis=2), compute_uv=False)
    contrast = values[:, -1] / values[:, -2]
    order = np.argsort(contrast)
    return sigma2[order], contrast[order]


def solve_pencil(ell: Array, index: Array, shifts: Array, sigma2: float) -> tuple[Array, Array]:
    """The exponents and amplitudes of G = exp(ell / (2 sigma^2)), a sum of n - 1 exponentials.

    G(s_j + s_k) = A diag(alpha) A^T and G(s_j + s_k + s_1) = A diag(alpha exp(s_1.theta)) A^T with
    A_ji = exp(s_j.theta_i). On their common column space the second times the inverse of the
    first has eigenvectors the columns of A, whose logarithms are linear in theta: a matrix pencil
    [Hua and Sarkar 1990].

    Parameters
    ----------
    ell : array (n^2,)
    index : int array (2, n, n)
        As for `sigma_candidates`.
    shifts : array (n, k)
        Of which `index` was made, k < n.
    sigma2 : float, positive

    Returns
    -------
    theta : array (n - 1, k)
    alpha : array (n - 1,)

    Raises
    ------
    Refuted
        If the matrices have no inverse on their column space, or an eigenvector has a zero.

    Examples
    --------
    >>> shifts = np.array([[0., 0.], [1., 0.], [0., 1.]])
    >>> triples, index = triple_sums(shifts)
    >>> points = shifts[triples].sum(1)
    >>> G = np.exp(points @ [1., 2.]) - .5 * np.exp(points @ [-1., .5])
    >>> theta, alpha = solve_pencil(2 * np.log(G), index, shifts, 1.0)
    >>> order = np.argsort(alpha)
    >>> theta[order].round(6) + 0., alpha[order].round(6)
    (array([[-1. ,  0.5],
           [ 1. ,  2. ]]), array([-0.5,  1. ]))
    """
    L, diagonal = _balanced(ell[index] / (2 * sigma2))
    G = np.exp(L)
    if not np.isfinite(G).all():
        raise Refuted("the pencil is singular: its exponentials overflow with so small a sigma")

    # on the common column space: eigenvectors of G_1 G_0^-1 (thm-gaussian-measuring-stick-pencil)
    basis = np.linalg.svd(np.concatenate(G, axis=1))[0][:, :-1]
    first, second = (basis.T @ g @ basis for g in G)
    try:
        A = (basis @ np.linalg.eig(second @ np.linalg.inv(first))[1]).real
    except np.linalg.LinAlgError:
        raise Refuted("the pencil is singular: no sum of exponentials is this short") from None

    # log A_ji = s_j.theta_i, up to a constant for every i, which A_0i = 1 shows
    logs = np.log(np.abs(A / A[0])) + (diagonal - diagonal[0])[:, None]
    if not np.isfinite(logs).all():
        raise Refuted("an eigenvector of the pencil has a zero: no exponential has")
    theta = np.linalg.lstsq(shifts[1:], logs[1:], rcond=None)[0].T

    # G_0 = A diag(alpha) A^T is linear in alpha (eq-gaussian-measuring-stick-factors)
    A = np.exp(shifts @ theta.T - diagonal[:, None])
    alpha = np.linalg.lstsq((A[:, None] * A).reshape(-1, len(theta)), G[0].ravel(), rcond=None)[0]
    return theta, alpha


def _balanced(E):
    """E_jk - (E_jj + E_kk) / 2, which leaves the rank of exp(E) as it is; and E_jj / 2 of E[0]."""
    diagonal = np.diagonal(E[0]) / 2
    return E - diagonal[:, None] - diagonal, diagonal


def _steps_to_zeros(E, g):
    """How far from each g, to first order, M = exp(E / 2 e^g) is singular: (len(g), n)."""
    X = E / (2 * np.exp(g))[:, None, None]
    M = np.exp(X)
    try:
        steps = np.linalg.eigvals(np.linalg.solve(X * M, M))  # -M' = X M, entry by entry
    except np.linalg.LinAlgError:
        raise Refuted("no Gaussian machine: distances do not depend on sigma") from None
    return np.where(np.abs(steps.imag) < 1e-3 * np.abs(steps.real), steps.real, np.inf)
