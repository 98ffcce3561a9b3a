"""Cubic machines: a symmetric tensor as a sum of cubes, which shows their own support vectors."""

from itertools import combinations, combinations_with_replacement

import numpy as np
from scipy.linalg import eig

from .kernels import Polynomial
from .machine import KernelMachine

COMPLEX = 1e-9  # larger imaginary parts of eigenvalues are no rounding


def sum_of_cubes(T, scale=1.0, random_state=0):
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

    Returns
    -------
    V : array (r, n)
        The v_i as rows, r at most n, with lambda_i = 1 (a cube takes any sign).

    Raises
    ------
    ArithmeticError
        If T is no sum of at most n cubes of independent vectors.

    Examples
    --------
    >>> V = np.array([[1., 0., 1.], [0., 2., 1.], [0., 0., 1.]])
    >>> T = np.einsum('r,ri,rj,rk', [1., -2., .5], V, V, V)
    >>> W = sum_of_cubes(T)
    >>> bool(np.allclose(np.einsum('ri,rj,rk', W, W, W), T))
    True
    """
    rng = np.random.default_rng(random_state)
    n = len(T)
    units = np.r_[np.full(n - 1, scale), 1]
    T = T * units[:, None, None] * units[:, None] * units
    size = np.linalg.norm(T)
    left, values, _ = np.linalg.svd(T.reshape(n, -1), full_matrices=False)
    basis = left[:, values > 1e-9 * values[0]]  # the span of the v_i
    core = np.einsum("ijk,ia,jb,kc", T, basis, basis, basis, optimize=True)
    best, V, weights = np.inf, None, None
    for _ in range(10):
        a, b = rng.standard_normal((2, basis.shape[1]))
        try:
            pencil = np.linalg.solve((core @ b).T, (core @ a).T).T
        except np.linalg.LinAlgError:
            continue
        vectors = (basis @ np.linalg.eig(pencil)[1].real).T
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        gram = (vectors @ vectors.T) ** 3  # least squares for the weights
        right = np.einsum("ijk,ri,rj,rk->r", T, vectors, vectors, vectors, optimize=True)
        fit = np.linalg.lstsq(gram, right, rcond=None)[0]
        cubes = np.einsum("r,ri,rj,rk", fit, vectors, vectors, vectors, optimize=True)
        if (error := np.linalg.norm(cubes - T)) < best:
            best, V, weights = error, vectors, fit
    if V is not None:
        V, best = _polish(T, V * np.cbrt(weights)[:, None])
    if not best < 1e-5 * size:
        raise ArithmeticError(f"this cubic is no sum of at most {n} cubes of independent vectors")
    return V / units


def _polish(T, V, steps=4):
    """Gauss-Newton steps for T = sum_i v_i x v_i x v_i, as long as they help; V and the error."""
    error = T - np.einsum("ri,rj,rk", V, V, V, optimize=True)
    r, n = V.shape
    for _ in range(steps):
        g = V @ V.T
        # 3 [(v_i.v_j)^2 I + 2 (v_i.v_j) v_j v_i^T], the inner products of the derivatives
        H = 3 * (np.einsum("ij,kl->ikjl", g**2, np.eye(n))
                 + 2 * np.einsum("ij,jk,il->ikjl", g, V, V)).reshape(r * n, r * n)
        slope = 3 * np.einsum("ijk,ri,rj->rk", error, V, V, optimize=True).ravel()
        better = V + np.linalg.lstsq(H, slope, rcond=1e-14)[0].reshape(r, n)
        remains = T - np.einsum("ri,rj,rk", better, better, better, optimize=True)
        if not np.linalg.norm(remains) < np.linalg.norm(error):
            break
        V, error = better, remains
    return V, np.linalg.norm(error)


def cubes_of_pencil(g, H, c, w):
    """The sum of cubes that a machine is, from its gradient and Hessian along a line.

    With Psi - b = sum_i l_i^3 - b for linear forms l_i(z) = v_i.z + p_i, the Hessians H0 + t H1
    are 6 sum_i (p_i + t v_i.w) v_i v_i^T. So H0 and H1 become diagonal together, in the dual
    basis x_i of the v_i, x_i.v_k = 0 for i not k: the eigenvectors of the pencil H0 x = lambda
    H1 x. Along x_i, where v_i.x_i = q, gradient and Hessian are 3 q (p_i + t v_i.w)^2 and
    6 q^2 (p_i + t v_i.w).

    Parameters
    ----------
    g : array (3, m)
        The gradient g[0] + g[1] t + g[2] t^2.
    H : array (2, m, m)
        The Hessian H[0] + t H[1].
    c : array (4,)
        Psi - b on the line.
    w : array (m,)
        The line's direction.

    Returns
    -------
    V : array (m, m + 1)
        The linear forms: rows (v_i, p_i).
    b : float

    Raises
    ------
    ArithmeticError
        If the pencil has complex eigenvalues or is singular.

    Examples
    --------
    >>> V = np.array([[1., 0., 2.], [1., -1., 1.]])
    >>> v, p, w = V[:, :2], V[:, 2], np.array([1., 3.])
    >>> q = v @ w
    >>> g = 3 * np.array([p**2, 2 * p * q, q**2]) @ v
    >>> H = 6 * np.stack([(v.T * p) @ v, (v.T * q) @ v])
    >>> c = [(p**3).sum() - 5, 3 * (p**2 @ q), 3 * (p @ q**2), (q**3).sum()]
    >>> W, b = cubes_of_pencil(g, H, c, w)
    >>> W[np.argsort(-W[:, 2])].round(6) + 0., round(b, 6)
    (array([[ 1.,  0.,  2.],
           [ 1., -1.,  1.]]), 5.0)
    """
    values, X = eig(*H)
    if not np.isfinite(values).all() or (np.abs(values.imag) > COMPLEX * np.abs(values)).any():
        raise ArithmeticError("the Hessians have no common diagonal form")
    X = X.real
    slope = (g @ X)  # 3 q (p^2, 2 p r, r^2), where r = v.w
    curvature = np.einsum("ia,kij,ja->ka", X, H, X)  # 6 q^2 (p, r)
    angle = np.arctan2(curvature[1], curvature[0])
    cos, sin = np.cos(angle), np.sin(angle)  # (p, r) = rho (cos, sin) with a rho > 0 or < 0
    squares = np.stack([cos**2, 2 * cos * sin, sin**2])
    alpha = (slope * squares).sum(0) / (squares**2).sum(0) / 3  # q rho^2
    beta = np.hypot(*curvature) / 6  # q^2 rho
    rho, q = np.cbrt(alpha**2 / beta), np.cbrt(beta**2 / alpha)
    p = rho * cos
    return np.c_[q[:, None] * np.linalg.inv(X), p], float((p**3).sum() - c[0])


def cubic_machine(T, origin, scale=1.0):
    """The kernel machine whose Psi - b is a given cubic: its own support vectors, not any others.

    Of the cubes (v_i.h)^3 one has v_i along e = (0, ..., 0, 1) and is the threshold; every other
    one is w_i (z.y_i + 1)^3 with y_i = v_i / (its last coordinate).

    Parameters
    ----------
    T : array (m + 1, m + 1, m + 1)
        As `fit_polynomial` finds it, with the sign that makes +1 the positive side, in coordinates
        z - origin.
    origin : array (m,)
    scale : float
        Typical size of z.

    Returns
    -------
    KernelMachine
        With kernel (x.y + 1)^3, or (x.y)^3 where all last coordinates vanish; the largest
        |weight| is 1.

    Raises
    ------
    ArithmeticError
        If T is no sum of at most m + 1 cubes of independent vectors, or if one of these is
        neither of the form above.

    Examples
    --------
    >>> box = KernelMachine(Polynomial(3), [[1., 0.], [0., 2.]], [1., -.5], .25)
    >>> V = np.array([[1., 0., 1.], [0., 2., 1.], [0., 0., 1.]])
    >>> T = np.einsum('r,ri,rj,rk', [1., -.5, -.25], V, V, V)
    >>> machine = cubic_machine(T, origin=np.zeros(2))
    >>> order = np.argsort(machine.weights)
    >>> machine.support_vectors[order].round(6) + 0., machine.weights[order].round(6)
    (array([[0., 2.],
           [1., 0.]]), array([-0.5,  1. ]))
    """
    V, threshold = without_threshold(sum_of_cubes(T, scale), scale)
    return machine_of_forms(V[:, :-1], V[:, -1] - V[:, :-1] @ origin, threshold, scale)


def without_threshold(V, scale=1.0):
    """The vectors of `sum_of_cubes` without those along the last axis, and the threshold of these.

    Examples
    --------
    >>> without_threshold(np.array([[1., 2., 1.], [0., 0., -2.]]))
    (array([[1., 2., 1.]]), 8.0)
    """
    along = np.linalg.norm(V[:, :-1], axis=1) * scale < 1e-3 * np.abs(V[:, -1])
    return V[~along], -float((V[along, -1] ** 3).sum())


def machine_of_forms(A, h, threshold, scale=1.0, faint=1e-5):
    """The kernel machine of sum_i (A_i.x + h_i)^3 > threshold.

    Parameters
    ----------
    A : array (m, d)
    h : array (m,)
    threshold : float
    scale : float
        Typical size of x.
    faint : float
        An h smaller than so much of scale |A_i| counts as 0.

    Returns
    -------
    KernelMachine
        With kernel (x.y + 1)^3, or (x.y)^3 where all h vanish; the largest |weight| is 1.

    Raises
    ------
    ArithmeticError
        If some but not all h vanish.

    Examples
    --------
    >>> machine = machine_of_forms(np.array([[2., 0.], [0., 1.]]), np.array([2., -1.]), 4.)
    >>> machine.support_vectors, machine.weights, machine.threshold
    (array([[ 1.,  0.],
           [-0., -1.]]), array([ 1.   , -0.125]), 0.5)
    """
    homogeneous = np.abs(h) < faint * scale * np.linalg.norm(A, axis=1)
    if homogeneous.all():
        ones = np.ones(len(A))
        return KernelMachine(Polynomial(3, coef0=0), A, ones, threshold)
    if homogeneous.any():
        raise ArithmeticError("this cubic mixes cubes (x.y + 1)^3 and (x.y)^3")
    return KernelMachine(Polynomial(3), A / h[:, None], h**3, threshold).normalised()


def quasi_cubes(T, origin, scale=1.0):
    """A kernel machine for any cubic, also for one that is no short sum of cubes.

    The cubes of (z.y + 1) with y = 0, of e_i, -e_i, 2 e_i, of e_i + e_j, e_i - e_j, 2 e_i + e_j
    and of e_i + e_j + e_k are C(m + 3, 3) in number and a basis of all cubics: their weights solve
    a linear system.

    Parameters
    ----------
    T : array (m + 1, m + 1, m + 1), symmetric
        The cubic in coordinates z - origin.
    origin : array (m,)
    scale : float
        Typical size of z.

    Returns
    -------
    KernelMachine
        With C(m + 3, 3) - 1 quasi-support vectors; the largest |weight| is 1.

    Examples
    --------
    >>> T = np.zeros((3, 3, 3))
    >>> T[0, 1, 2] = T[0, 2, 1] = T[1, 0, 2] = T[1, 2, 0] = T[2, 0, 1] = T[2, 1, 0] = 1 / 6   # x y
    >>> machine = quasi_cubes(T, origin=np.zeros(2))
    >>> machine.predict(np.array([[2., 3.], [2., -3.]]))
    array([ 1, -1], dtype=int8)
    """
    m = len(T) - 1
    shift = np.eye(m + 1)
    shift[:m, m] = -np.asarray(origin)
    T = np.einsum("ijk,ia,jb,kc", T, shift, shift, shift, optimize=True)
    e = np.eye(m)
    Y = [np.zeros(m), *e, *-e, *2 * e]
    for i, j in combinations(range(m), 2):
        Y += [e[i] + e[j], e[i] - e[j], 2 * e[i] + e[j]]
    Y += [e[i] + e[j] + e[k] for i, j, k in combinations(range(m), 3)]
    H = np.c_[np.array(Y), np.ones(len(Y))]
    i, j, k = np.array(list(combinations_with_replacement(range(m + 1), 3))).T
    units = np.r_[np.full(m, scale), 1]  # in units of the scale, the y are of length about 1
    weights = np.linalg.solve((H[:, i] * H[:, j] * H[:, k]).T,
                              T[i, j, k] * units[i] * units[j] * units[k])
    return KernelMachine(Polynomial(3), H[1:, :m] / scale, weights[1:], -weights[0]).normalised()
