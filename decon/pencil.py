"""Sums of exponentials, sum_i alpha_i exp(theta_i.x): taken apart by a matrix pencil."""

import numpy as np

GRID = 0.04  # step of the search for log sigma^2
SHARP = 1e-9  # relative difference of two sigma^2 that are the same


def triple_sums(shifts):
    """The sums s_j + s_k + s_c, c being 0 or 1, of n shifts: n^2 points for two matrices (n, n).

    With s_0 = 0 the matrices G(s_j + s_k) and G(s_j + s_k + s_1) of a function G share n of their
    values, and both are symmetric.

    Parameters
    ----------
    shifts : array (n, k)
        The first row must be zero.

    Returns
    -------
    triples : int array (n^2, 3)
        Numbers j <= k <= l of the shifts that make up each point.
    index : int array (2, n, n)
        index[c, j, k] is the row of `triples` with s_j + s_k + s_c.

    Examples
    --------
    >>> triples, index = triple_sums(np.array([[0., 0.], [1., 0.], [0., 1.]]))
    >>> len(triples), triples[index[1, 2, 2]].tolist()
    (9, [1, 2, 2])
    """
    n = len(shifts)
    if n < 2 or np.any(shifts[0]):
        raise ValueError("expected at least two shifts, the first of them zero")
    rows = {}
    index = np.empty((2, n, n), int)
    for c, j, k in np.ndindex(2, n, n):
        index[c, j, k] = rows.setdefault(tuple(sorted((c, j, k))), len(rows))
    return np.array(list(rows)), index


def sigma_candidates(ell, index):
    """The sigma^2 at which the matrix exp(ell / (2 sigma^2)) is singular, the best ones first.

    If exp(ell / (2 sigma^2)) is a sum of n - 1 exponentials at the n^2 points of `triple_sums`,
    both of their matrices have rank n - 1, and the same column space. So an eigenvalue of the
    first passes through zero, and the two side by side have only n - 1 singular values. The zeros
    come from a grid: with M = exp(ell / (2 sigma^2)), the eigenvalues of -M'(g)^-1 M(g) are how far
    the zeros lie from g = log sigma^2, to first order.

    Parameters
    ----------
    ell : array (n^2,)
    index : int array (2, n, n)

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
    E = ell[index]
    diagonal = np.diagonal(E[0]) / 2
    E = E - diagonal[:, None] - diagonal  # the same rank, with entries of order one

    def to_zeros(g):
        X = E[0] / (2 * np.exp(g))[:, None, None]
        M = np.exp(X)
        with np.errstate(invalid="ignore"):
            fine = np.isfinite(M).all((1, 2))
        steps = np.full((len(g), len(diagonal)), np.inf)
        for i in np.flatnonzero(fine):
            try:
                values = np.linalg.eigvals(np.linalg.solve(X[i] * M[i], M[i]))
            except np.linalg.LinAlgError:
                continue
            real = np.abs(values.imag) < 1e-3 * np.abs(values.real)
            steps[i, real] = values.real[real]
        return steps

    spread = np.ptp(ell)
    g = np.arange(np.log(spread / 120), np.log(spread * 500), GRID)
    with np.errstate(over="ignore"):
        steps = to_zeros(g)
        i, k = np.nonzero(np.abs(steps) < 0.6 * GRID)
        g = g[i] + steps[i, k]
        for _ in range(4):
            steps = to_zeros(g)
            nearest = np.take_along_axis(steps, np.abs(steps).argmin(1)[:, None], 1)[:, 0]
            g = g + np.where(np.abs(nearest) < GRID, nearest, 0)
    g = np.sort(g)
    g = g[np.diff(g, prepend=-np.inf) > SHARP]
    n = len(diagonal)
    values = np.array([np.linalg.svd(np.concatenate(np.exp(E / (2 * np.exp(h))), axis=1),
                                     compute_uv=False) for h in g]).reshape(-1, n)
    contrast = values[:, -1] / values[:, -2]
    order = np.argsort(contrast)
    return np.exp(g[order]), contrast[order]


def take_apart(ell, index, shifts, sigma2):
    """The exponents and amplitudes of G = exp(ell / (2 sigma^2)), a sum of n - 1 exponentials.

    G(s_j + s_k) = A diag(alpha) A^T and G(s_j + s_k + s_1) = A diag(alpha exp(s_1.theta)) A^T with
    A_ji = exp(s_j.theta_i). On their common column space the second times the inverse of the
    first has eigenvectors the columns of A, whose logarithms are linear in theta: a matrix pencil
    [Hua and Sarkar 1990].

    Parameters
    ----------
    ell, index
        As for `sigma_candidates`.
    shifts : array (n, k)
    sigma2 : float

    Returns
    -------
    theta : array (n - 1, k)
    alpha : array (n - 1,)

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrices have no inverse on their column space.

    Examples
    --------
    >>> shifts = np.array([[0., 0.], [1., 0.], [0., 1.]])
    >>> triples, index = triple_sums(shifts)
    >>> points = shifts[triples].sum(1)
    >>> G = np.exp(points @ [1., 2.]) - .5 * np.exp(points @ [-1., .5])
    >>> theta, alpha = take_apart(2 * np.log(G), index, shifts, 1.0)
    >>> order = np.argsort(alpha)
    >>> theta[order].round(6) + 0., alpha[order].round(6)
    (array([[-1. ,  0.5],
           [ 1. ,  2. ]]), array([-0.5,  1. ]))
    """
    L = ell[index] / (2 * sigma2)
    diagonal = np.diagonal(L[0]) / 2
    G = np.exp(L - diagonal[:, None] - diagonal)
    basis = np.linalg.svd(np.concatenate(G, axis=1))[0][:, :-1]
    first, second = (basis.T @ g @ basis for g in G)
    A = (basis @ np.linalg.eig(second @ np.linalg.inv(first))[1]).real
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(A / A[0])) + (diagonal - diagonal[0])[:, None]
    if not np.isfinite(logs).all():
        raise np.linalg.LinAlgError("an eigenvector of the pencil has a zero: no exponential has")
    theta = np.linalg.lstsq(shifts[1:], logs[1:], rcond=None)[0].T
    K = np.exp(shifts @ theta.T - diagonal[:, None])
    alpha = np.linalg.lstsq((K[:, None] * K).reshape(-1, len(theta)), G[0].ravel(), rcond=None)[0]
    return theta, alpha
