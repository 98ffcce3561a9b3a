"""Quasi-support vectors: a kernel machine for any quadratic, and for any cubic."""

from itertools import combinations, combinations_with_replacement

import numpy as np

from ..kernels import Polynomial
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .protocol import Refuted


def quasi_support_vectors(A: Array, scale: float | None = None) -> KernelMachine:
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
    Refuted
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
    # without a linear part: the eigenvectors of M (spectral theorem), and coef0 = 0
    M, k, a = A[:-1, :-1], A[:-1, -1], A[-1, -1]
    size, length = np.linalg.norm(M, 2), np.linalg.norm(k)
    if length <= 1e-10 * max(np.sqrt(size * abs(a)), size * (scale or 0)):
        weights, vectors = np.linalg.eigh(M)
        return KernelMachine(Polynomial(2, coef0=0), vectors.T, weights, -a).normalised()

    # in units of the scale, with entries of at most 1
    unit = scale or (length / size if size > 0 else 1 / length)
    units = np.r_[np.full(len(M), unit), 1]
    A = A * np.outer(units, units)
    A = A / np.abs(A).max()

    # B = A + threshold e e^T, e = (0, 1), of rank m or else m + 1 (prop-polynomial-machines-rank)
    M, k, a = A[:-1, :-1], A[:-1, -1], A[-1, -1]
    c = k @ np.linalg.lstsq(M, k, rcond=1e-12)[0] - a
    for threshold in (c, 1 - a, -1 - a, c + 2, c - 2):
        B = A.copy()
        B[-1, -1] += threshold

        # as a sum of w_i (y_i, 1)(y_i, 1)^T (eq-polynomial-machines-blocks): are its terms small
        # enough to give B again?
        vectors, weights = _decompose(B)
        H = np.c_[vectors, np.ones(len(weights))]
        terms = np.abs(weights) * (H**2).sum(1)
        if len(H) and terms.max() < 1e6 and np.abs((H.T * weights) @ H - B).max() < 1e-11:
            return KernelMachine(Polynomial(2), vectors / unit, weights, threshold).normalised()
    raise Refuted("this quadratic has no well-conditioned sum of (z.y + 1)^2")


def _decompose(B):
    """Vectors y_i and weights w_i with B = sum_i w_i (y_i, 1)(y_i, 1)^T, balanced within a sign."""
    eigenvalues, vectors = np.linalg.eigh(B)
    Y, weights = [np.empty((0, len(B) - 1))], [np.empty(0)]
    for sign in (1, -1):
        # the part of B with eigenvalues of this sign is sign L L^T, and so it is for L Q
        # (thm-polynomial-machines-freedom)
        block = sign * eigenvalues > 1e-13 * np.abs(eigenvalues).max()
        L = vectors[:, block] * np.sqrt(np.abs(eigenvalues[block]))
        n, last = L.shape[1], np.linalg.norm(L[-1])
        if last > 1e-12:  # else no (y, 1) has a part in it
            # Q is Householder's reflection that makes all entries of the last row alike
            u = L[-1] / last - 1 / np.sqrt(n)
            L = L @ (np.eye(n) - (2 / (u @ u) * np.outer(u, u) if u @ u > 1e-30 else 0))
            Y.append((L[:-1] / L[-1]).T)
            weights.append(sign * L[-1] ** 2)
    return np.concatenate(Y), np.concatenate(weights)


def quasi_cubes(T: Array, origin: ArrayLike, scale: float = 1.0) -> KernelMachine:
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
    # the cubic in coordinates z
    m = len(T) - 1
    shift = np.eye(m + 1)
    shift[:m, m] = -np.asarray(origin)
    T = np.einsum("ijk,ia,jb,kc", T, shift, shift, shift, optimize=True)

    # the vectors y, in units of the scale (prop-polynomial-machines-cubes)
    e = np.eye(m)
    Y = [np.zeros(m), *e, *-e, *2 * e]
    for i, j in combinations(range(m), 2):
        Y += [e[i] + e[j], e[i] - e[j], 2 * e[i] + e[j]]
    Y += [e[i] + e[j] + e[k] for i, j, k in combinations(range(m), 3)]

    # sum_n w_n h_i h_j h_k = T_ijk for h = (y_n, 1), once for every i <= j <= k
    H = np.c_[np.array(Y), np.ones(len(Y))]
    units = np.r_[np.full(m, scale), 1]
    i, j, k = np.array(list(combinations_with_replacement(range(m + 1), 3))).T
    weights = np.linalg.solve((H[:, i] * H[:, j] * H[:, k]).T,
                              T[i, j, k] * units[i] * units[j] * units[k])

    # y = 0 is the constant: a threshold
    return KernelMachine(Polynomial(3), H[1:, :m] / scale, weights[1:], -weights[0]).normalised()
