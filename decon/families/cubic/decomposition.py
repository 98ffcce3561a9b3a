"""Sums of cubes: from a tensor, from a gradient and a Hessian, and from points of a boundary."""

import numpy as np
from scipy.linalg import eig
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from ...numerics.blocks import blocks
from ...numerics.least_squares import levenberg_marquardt
from ...types import Array, RandomState
from ..protocol import Refuted
from .settings import SETTINGS


def sum_of_cubes(T: Array, scale: float = 1.0, random_state: RandomState = 0,
                 tolerance: float = 1e-5, faint: float = SETTINGS.rounding) -> Array:
    """A symmetric tensor as sum_i v_i x v_i x v_i: Jennrich's algorithm.

    For vectors a and b the contractions T(a) = sum_i (a.v_i) v_i v_i^T and T(b) share
    the v_i: with independent v_i, T(a) T(b)^-1 = V diag(a.v_i / b.v_i) V^-1, so that they are its
    eigenvectors [Harshman 1970; Leurgans, Ross and Abel 1993]. By Kruskal's theorem no other
    v_i will do. Gauss-Newton steps then remove what the eigenvectors add to the errors.

    Parameters
    ----------
    T : array (n, n, n), symmetric
    scale : float
        Typical size of the first n - 1 coordinates beside the last, for conditioning.
    random_state : int or numpy.random.Generator
    tolerance : float
        How far off the sum may be, as a share of the norm of T.
    faint : float
        Directions in which T has singular values below this share of the largest are errors.

    Returns
    -------
    V : array (r, n)
        The v_i as rows, r at most n, with lambda_i = 1 (a cube takes any sign).

    Raises
    ------
    Refuted
        If T is no sum of at most n cubes of independent vectors.

    Examples
    --------
    >>> V = np.array([[1., 0., 1.], [0., 2., 1.], [0., 0., 1.]])
    >>> T = np.einsum('r,ri,rj,rk', [1., -2., .5], V, V, V)
    >>> W = sum_of_cubes(T)
    >>> bool(np.allclose(np.einsum('ri,rj,rk', W, W, W), T))
    True
    """
    # like units, and the tensor on the span of the v_i (step 1 of alg-polynomial-machines-cubic)
    rng, n = np.random.default_rng(random_state), len(T)
    units = np.r_[np.full(n - 1, scale), 1]
    T = T * units[:, None, None] * units[:, None] * units
    left, values, _ = np.linalg.svd(T.reshape(n, -1), full_matrices=False)
    basis = left[:, values > faint * values[0]]
    core = np.einsum("ijk,ia,jb,kc", T, basis, basis, basis, optimize=True)

    best, V = np.inf, np.zeros((0, n))
    for _ in range(10):
        # Jennrich: up to their lengths, the v_i are the eigenvectors of T(a) T(b)^-1
        # (eq-polynomial-machines-pencil)
        a, b = rng.standard_normal((2, basis.shape[1]))
        try:
            pencil = np.linalg.solve((core @ b).T, (core @ a).T).T
            vectors = (basis @ np.linalg.eig(pencil)[1].real).T
        except np.linalg.LinAlgError:
            continue
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

        # their lengths: least squares for the weights of the cubes of unit vectors
        right = np.einsum("ijk,ri,rj,rk->r", T, vectors, vectors, vectors, optimize=True)
        weights = np.linalg.lstsq((vectors @ vectors.T) ** 3, right, rcond=None)[0]
        cubes = np.einsum("r,ri,rj,rk", weights, vectors, vectors, vectors, optimize=True)
        if (error := float(np.linalg.norm(cubes - T))) < best:
            best, V = error, vectors * np.cbrt(weights)[:, None]

    # Gauss-Newton steps for all of them together (step 3 of alg-polynomial-machines-cubic)
    V, error = _refined(T, V)
    if not error < tolerance * np.linalg.norm(T):
        raise Refuted(f"this cubic is no sum of at most {n} cubes of independent vectors")
    return V / units


def _refined(T, V):
    """V after Gauss-Newton steps for T = sum_i v_i x v_i x v_i, while they help; and the error."""
    def residual(V):
        return (T - np.einsum("ri,rj,rk", V, V, V, optimize=True)).ravel()

    def linearised(V, r):
        # normal equations: inner products of the derivatives with each other and the residual
        g, (k, n) = V @ V.T, V.shape  # blocks 3 [(v_i.v_j)^2 I + 2 (v_i.v_j) v_j v_i^T]
        products = 3 * (np.einsum("ij,kl->ikjl", g**2, np.eye(n))
                        + 2 * np.einsum("ij,jk,il->ikjl", g, V, V)).reshape(k * n, k * n)
        right = 3 * np.einsum("ijk,ri,rj->rk", r.reshape(n, n, n), V, V, optimize=True).ravel()
        step = np.linalg.lstsq(products, right, rcond=1e-14)[0].reshape(k, n)
        return lambda damping: V + step

    V = levenberg_marquardt(residual, linearised, V, steps=4)
    return V, float(np.linalg.norm(residual(V)))


def cubes_of_pencil(g: Array, H: Array, c0: float) -> tuple[Array, float]:
    """The sum of cubes that a machine is, from its gradient and Hessian along a line.

    With Psi - b = sum_i l_i^3 - b for linear forms l_i(z) = v_i.z + p_i, the Hessians H0 + t H1
    on the line t w are 6 sum_i (p_i + t r_i) v_i v_i^T, where r_i = v_i.w. So H0 and H1 become
    diagonal together, in the dual basis x_i of the v_i, x_i.v_k = 0 for i not k: the eigenvectors
    of the pencil H0 x = lambda H1 x. Along x_i, where v_i.x_i = q, gradient and Hessian are
    3 q (p_i + t r_i)^2 and 6 q^2 (p_i + t r_i).

    Parameters
    ----------
    g : array (3, m)
        The gradient g[0] + g[1] t + g[2] t^2.
    H : array (2, m, m)
        The Hessian H[0] + t H[1].
    c0 : float
        Psi - b at t = 0.

    Returns
    -------
    V : array (m, m + 1)
        The linear forms: rows (v_i, p_i).
    b : float

    Raises
    ------
    Refuted
        If the pencil has complex eigenvalues or is singular.

    Examples
    --------
    >>> V = np.array([[1., 0., 2.], [1., -1., 1.]])
    >>> v, p, r = V[:, :2], V[:, 2], V[:, :2] @ [1., 3.]
    >>> g = 3 * np.array([p**2, 2 * p * r, r**2]) @ v
    >>> H = 6 * np.stack([(v.T * p) @ v, (v.T * r) @ v])
    >>> W, b = cubes_of_pencil(g, H, (p**3).sum() - 5)
    >>> W[np.argsort(-W[:, 2])].round(6) + 0., round(b, 6)
    (array([[ 1.,  0.,  2.],
           [ 1., -1.,  1.]]), 5.0)
    """
    # the dual basis x_i, as columns of X: eigenvectors of the pencil of Hessians
    # (thm-support-vectors-of-a-cubic-pencil)
    try:
        values, X = eig(*H)
        X, vectors = X.real, np.linalg.inv(X.real)  # rows of the latter: the v_i up to factors q
    except np.linalg.LinAlgError:
        raise Refuted("the Hessians are singular, or their eigenvectors dependent") from None
    if not np.isfinite(values).all() or (np.abs(values.imag) > 1e-9 * np.abs(values)).any():
        raise Refuted("the Hessians have no common diagonal form")

    # gradient 3 q (p^2, 2 p r, r^2) and Hessian 6 q^2 (p, r) along each x_i
    slope = g @ X
    curvature = np.einsum("ia,kij,ja->ka", X, H, X)

    # polar coordinates, (p, r) = rho (cos, sin) with a rho of either sign
    angle = np.arctan2(curvature[1], curvature[0])
    cos, sin = np.cos(angle), np.sin(angle)
    squares = np.stack([cos**2, 2 * cos * sin, sin**2])
    alpha = (slope * squares).sum(0) / (squares**2).sum(0) / 3  # q rho^2
    beta = np.hypot(*curvature) / 6  # q^2 rho
    rho, q = np.cbrt(alpha**2 / beta), np.cbrt(beta**2 / alpha)
    p = rho * cos
    return np.c_[q[:, None] * vectors, p], float((p**3).sum() - c0)


def refit(at: Array, L: Array, m: int, b: float, width: float) -> tuple[Array, float]:
    """The sum of cubes whose boundary passes through measured points: Gauss-Newton steps.

    With l_i + sum_j E_ij l_j + e_i instead of l_i, Psi - b changes by 3 sum_i l_i^2
    (sum_j E_ij l_j + e_i) at first order: at a point where all l_i but two or three are 0, by few
    unknowns. So the Jacobian is sparse.

    Parameters
    ----------
    at : int array (n, k)
        Which l_i are not 0 at the points,
    L : array (n, k)
        and their values there.
    m : int
        How many l_i there are.
    b : float
        The boundary was expected to be sum_i l_i^3 = b.
    width : float
        Points off by this, in the root mean square, are taken to lie on the boundary.

    Returns
    -------
    G : array (m, m + 1)
        The new forms: G_i.(l, 1) instead of l_i.
    b : float

    Examples
    --------
    >>> t = np.linspace(-2, 2, 9)
    >>> L = np.c_[t, np.cbrt(1 - t**3)] / 1.01 - .001       # 1.01 (l_i + .001) are the right ones
    >>> G, b = refit(np.tile([0, 1], (9, 1)), L, 2, 1., 1e-12)
    >>> (G / np.cbrt(b)).round(9) + 0.
    array([[1.01   , 0.     , 0.00101],
           [0.     , 1.01   , 0.00101]])
    """
    # the points as (l, 1): the few entries that are not 0, and where they are
    index, h = np.c_[at, np.full(len(L), m)], np.c_[L, np.ones(len(L))]
    slope = 3 * np.linalg.norm(L**2, axis=1)

    def residual(x):
        """How far the points are from the boundary, to first order; x holds G and b."""
        G = x[:-1].reshape(m, m + 1)
        sums = [(combine(index[k], h[k], G.T) ** 3).sum(1) for k in blocks(len(h), 2 * m)]
        return (np.concatenate(sums) - x[-1]) / slope

    def linearised(x, r):
        J = jacobian(index, h, x[:-1].reshape(m, m + 1), slope)
        return lambda damping: x + lsqr(J, -r, damping, atol=1e-10, btol=1e-10, iter_lim=4000)[0]

    # damped Gauss-Newton steps for G and b (eq-support-vectors-of-a-cubic-newton)
    x = levenberg_marquardt(residual, linearised, np.r_[np.eye(m, m + 1).ravel(), b],
                            SETTINGS.refitting_steps, 0.0, SETTINGS.least_damping,
                            SETTINGS.least_refitting_gain, enough=len(L) * width**2)
    return x[:-1].reshape(m, m + 1), x[-1]


def jacobian(index: Array, h: Array, G: Array, slope: Array) -> csr_array:
    """Derivatives of (sum_i (G_i.(l, 1))^3 - b) / slope by all entries of G and by b.

    Where l_i is 0, it is taken to stay 0, which it does nearly: so a row has few entries.

    Parameters
    ----------
    index, h : arrays (n, k + 1)
        Which entries of (l, 1) are not 0, the 1 the last of them, and their values.
    G : array (m, m + 1)
    slope : array (n,)

    Returns
    -------
    J : sparse array (n, m (m + 1) + 1)
    """
    # row by row the derivatives 3 (G_i.(l, 1))^2 (l, 1) by row i of G, and -1 by b
    n, own, others = len(h), index[:, :-1, None], index[:, None]
    now = G[own, others] @ h[:, :, None]
    entries = np.c_[(3 * now**2 * h[:, None]).reshape(n, -1), -np.ones(n)] / slope[:, None]
    columns = np.c_[(own * G.shape[1] + others).reshape(n, -1), np.full(n, G.size)]
    ends = columns.shape[1] * np.arange(n + 1)
    return csr_array((entries.ravel(), columns.ravel(), ends), (n, G.size + 1))


def combine(index: Array, h: Array, rows: Array) -> Array:
    """The sums of h_k times row index_k of an array, one for every point.

    Parameters
    ----------
    index : int array (n, k)
    h : array (n, k)
    rows : array (m, d)

    Returns
    -------
    sums : array (n, d)
    """
    return sum(values[:, None] * rows[i] for i, values in zip(index.T, h.T, strict=True))


def ascent(L: Array) -> Array:
    """The unit gradients of sum_i l_i^3 in the l_i.

    Parameters
    ----------
    L : array (n, k)
        The l_i that are not 0.

    Returns
    -------
    U : array (n, k)

    Examples
    --------
    >>> ascent(np.array([[1., -1.]])).round(4)
    array([[0.7071, 0.7071]])
    """
    return L**2 / np.linalg.norm(L**2, axis=1, keepdims=True)
