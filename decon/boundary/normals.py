"""Normals of the decision boundary, from brackets in a small neighbourhood of a point of it."""

import numpy as np

from ..numerics.blocks import blocks
from ..types import Array, ArrayLike, LabelOracle, RandomState
from .bounds import lies_between
from .bracketing import bisect_along
from .settings import SETTINGS


def slope_normals(oracle: LabelOracle, X: ArrayLike, V: ArrayLike, delta: float = 1e-5,
                  width: float = 1e-12, grazing: float = 0.03, central: bool = False,
                  bend: float = 0.03) -> Array:
    """Normals from slopes: how much does the boundary rise when one steps aside?

    At a boundary point x that was bracketed along v, and for each u of an orthonormal basis of
    the complement of v, the height h with x + delta u + h v on the boundary is bracketed. The
    step delta u + h v is tangent, n.(delta u + h v) = 0, so that n is proportional to
    v - sum_u (h_u / delta) u. This takes d - 1 brackets per normal and no factorisation; the
    angular error is about curvature times delta / (n.v)^2 plus width / delta.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +
        (as `boundary_points` returns them).
    delta, width : floats
        Step and bracket width, in the units of the points.
    grazing : float in [0, 1)
        Normals with |n.v| below this are rejected: along a line almost tangent to the boundary
        the heights are large.
    central : bool
        Step to both sides, with twice the queries: the curvature then has no part in the error.
    bend : float
        Central normals are rejected where the slopes of the two sides differ by more than twice
        this.

    Returns
    -------
    normals : array (s, d)
        Unit normals, pointing to the positive side; NaN where rejected.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X @ [3., 4.] > 0, dimension=2)
    >>> slope_normals(oracle, [[0., 0.]], [[1., 0.]]).round(6)
    array([[0.6, 0.8]])
    """
    X, V = np.asarray(X, float), np.asarray(V, float)
    s, d = X.shape
    normals, bent = np.empty((s, d)), np.zeros(s, bool)
    rise = min(0.5, SETTINGS.first_rise / np.sqrt(d))  # n has d components: few slopes are large
    for j in blocks(s, d * d):
        # slopes h_u / delta along every u, to one side or to both (prop-misbehave-step)
        U = np.stack([orthonormal_complement(v[:, None]).T for v in V[j]])  # (points, d - 1, d)
        slopes, guess = [], 0.0
        for side in (1, -1) if central else (1,):
            starts = (X[j, None] + side * delta * U).reshape(-1, d)
            heights = bisect_along(oracle, starts, np.repeat(V[j], d - 1, axis=0), guess,
                                   rise * delta, width, delta / grazing)
            slopes.append(side * heights.reshape(-1, d - 1) / delta)
            guess = np.nan_to_num(-heights)

        # n is proportional to v - sum_u (h_u / delta) u (eq-normals-slopes); the next order of the
        # error of central slopes is about the square of half their difference
        normals[j] = V[j] - np.einsum("jk,jki->ji", sum(slopes) / len(slopes), U)
        bent[j] = np.linalg.norm(slopes[0] - slopes[-1], axis=1) / 2 > bend

    # unit length; none where n.v is too small (step 4 of alg-normals-slopes)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals[bent | ((normals * V).sum(1) < grazing)] = np.nan
    return normals


def grazes(oracle: LabelOracle, X: Array, V: Array, delta: float, grazing: float = 0.05,
           random_state: RandomState = 0) -> Array:
    """Were boundary points bracketed along lines that are almost tangent to the boundary?

    A step of length delta across v, in a random direction, moves the crossing along v by delta
    n.u / n.v, which is most often more than 2/3 of delta / (grazing sqrt(d - 1)) where |n.v| is
    smaller than `grazing`. Two queries a step, a few steps: much less than a normal costs that is
    then rejected.

    Parameters
    ----------
    oracle : LabelOracle
    X, V : arrays (s, d)
        Boundary points, and the unit directions along which they were bracketed, from - to +.
    delta : float
        The step, in the units of the points.
    grazing : float in (0, 1)
        As for `slope_normals`.
    random_state : int or numpy.random.Generator

    Returns
    -------
    grazes : bool array (s,)
        A guess, as a rule right where |n.v| is less than half or more than twice `grazing`.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X[:, 0] > 0, dimension=30)
    >>> V = np.eye(30)[:2] * [[1], [.01]] + .01 * np.eye(30)[2]
    >>> V[1, 2] = 1.
    >>> grazes(oracle, np.zeros((2, 30)), V / np.linalg.norm(V, axis=1)[:, None], 1e-3)
    array([False,  True])
    """
    rng = np.random.default_rng(random_state)
    rise = SETTINGS.usual_rise * delta / (grazing * np.sqrt(max(1, X.shape[1] - 1)))
    low = [lies_between(oracle, X + random_tangents(V, delta, rng), rise * V)
           for _ in range(SETTINGS.grazing_steps)]
    return np.mean(low, axis=0) < 0.5


def orthonormal_complement(U: ArrayLike) -> Array:
    """An orthonormal basis of what is orthogonal to the columns of a matrix, by QR.

    Parameters
    ----------
    U : array (d, k)
        Of rank k.

    Returns
    -------
    W : array (d, d - k)

    Examples
    --------
    >>> abs(orthonormal_complement([[0.], [1.]]))
    array([[1.],
           [0.]])
    """
    U = np.asarray(U, float)
    return np.linalg.qr(U, mode="complete")[0][:, U.shape[1]:]


def random_tangents(V: Array, length: float, random_state: RandomState = 0) -> Array:
    """Random vectors of one length, each at right angles to a unit vector.

    Parameters
    ----------
    V : array (n, d)
        Unit vectors.
    length : float
    random_state : int or numpy.random.Generator

    Returns
    -------
    U : array (n, d)
        The row U[j] is orthogonal to V[j].

    Examples
    --------
    >>> abs(random_tangents(np.array([[1., 0.], [0., 1.]]), 2.))
    array([[0., 2.],
           [2., 0.]])
    """
    U = np.random.default_rng(random_state).standard_normal(V.shape)
    U -= (U * V).sum(1, keepdims=True) * V
    return U * (length / np.linalg.norm(U, axis=1, keepdims=True))
