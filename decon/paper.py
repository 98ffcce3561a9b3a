"""The procedures of Ali, Rushdi and Ho (2014) as printed: normals, rank, votes on the kernel.

- `sphere_normals`: section 3.2, normals from PN-pairs on a small sphere.
- `nuclear_norm`: section 3.3, Eq. 13, the multipliers of Type B by convex rank minimisation.
- `vote_of_plane` and `votes_on_kernel_type`: section 4.1 (the curves are those of section 3.4).

They are here to be compared with. `deconstruct` calls none of them: its normals are slopes, its
multipliers come from `decon.subspaces.multipliers`, its kernels are told from what they predict.
"""

from collections import Counter

import numpy as np

from .boundary.bracketing import bisect
from .boundary.curves import curve_points
from .families.polynomial import fit_polynomial
from .types import Array, ArrayLike, LabelOracle, RandomState

NAMES = {1: "linear", 2: "quadratic", 3: "cubic", None: "transcendental"}  # by vote of a plane


def sphere_normals(oracle: LabelOracle, X: ArrayLike, radius: float = 1e-3, width: float = 1e-6,
                   n_points: int | None = None, random_state: RandomState = 0) -> Array:
    """The paper's normals: a hyperplane through PN-pairs from a small sphere (section 3.2).

    Around every boundary point, points on a sphere are labelled and paired, positive with
    negative; the pairs are bracketed; the normal is the eigenvector of the smallest eigenvalue
    of the covariance of the bracketed points. Its angular error is about
    atan(width / (2 radius)) plus curvature times radius.

    Parameters
    ----------
    oracle : Oracle
    X : array (s, d)
        Points of the boundary.
    radius : float
        The paper's delta, in the units of the points.
    width : float
        The paper's epsilon: the brackets' final width, in the units of the points.
    n_points : int, default 2 d (as in the paper)
        Points labelled, and pairs bracketed, per normal. Much fewer leave the hyperplane
        undetermined, silently.
    random_state : int or numpy.random.Generator

    Returns
    -------
    normals : array (s, d)
        Unit normals, pointing to the positive side; NaN where a sphere showed one label only.

    Examples
    --------
    >>> from decon import Oracle
    >>> oracle = Oracle(lambda X: X @ [3., 4.] > 0, dimension=2)
    >>> sphere_normals(oracle, [[0., 0.]]).round(2) + 0
    array([[0.6, 0.8]])
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X, float)
    s, d = X.shape
    n_points = 2 * d if n_points is None else n_points
    normals = np.full((s, d), np.nan)

    # random points of every sphere, and their labels (step 1 of alg-normals-sphere)
    S = rng.standard_normal((s, n_points, d))
    S *= radius / np.linalg.norm(S, axis=2, keepdims=True)
    S += X[:, None]
    labels = oracle(S.reshape(-1, d)).reshape(s, n_points)
    mixed = np.flatnonzero((labels > 0).any(1) & (labels < 0).any(1))
    if len(mixed) == 0:
        return normals

    # PN-pairs, drawn with replacement
    pairs = [[S[j, rng.choice(np.flatnonzero(labels[j] == side), n_points)] for side in (1, -1)]
             for j in mixed]
    P, N = np.concatenate(pairs, axis=1)
    towards = (P - N).reshape(len(mixed), n_points, d).sum(1)

    # their crossings of the boundary, by bracketing (step 2 of alg-normals-sphere)
    P, N = bisect(oracle, P, N, width)
    points = ((P + N) / 2).reshape(len(mixed), n_points, d)

    # principal components: the direction of least variance (prop-normals-tls), to the positive side
    centred = points - points.mean(1, keepdims=True)
    smallest = np.linalg.eigh(np.einsum("jki,jkl->jil", centred, centred))[1][:, :, 0]
    normals[mixed] = smallest * np.sign((smallest * towards).sum(1))[:, None]
    return normals


def nuclear_norm(normals: Array, points: Array) -> Array:
    """The gamma that make the nuclear norm of N - diag(gamma) X smallest (section 3.3, Eq. 13).

    Row j of the matrix is n_j - gamma_j x_j: a normal of a radial kernel's boundary, corrected by
    a multiple of its point. The right gamma make its rank least. The nuclear norm, the sum of the
    singular values, is the convex stand-in for the rank; cvxpy minimises it by SCS.

    Parameters
    ----------
    normals, points : arrays (s, d)
        Unit normals at boundary points of a Type B machine; the more than the rank, the better.

    Returns
    -------
    gamma : array (s,)

    Examples
    --------
    >>> normals = np.array([[1., 0., .5], [0., 1., .5], [.6, .8, .5]])
    >>> points = np.array([[0., 0., 1.], [0., 0., 1.], [0., 0., 1.]])
    >>> nuclear_norm(normals, points).round(2)
    array([0.5, 0.5, 0.5])
    """
    import cvxpy as cp  # slow to import, and needed here alone

    gamma = cp.Variable(len(normals))
    corrected = normals - cp.multiply(gamma[:, None], points)
    cp.Problem(cp.Minimize(cp.normNuc(corrected))).solve(solver=cp.SCS, eps=1e-5, max_iters=20_000)
    return np.asarray(gamma.value)


def vote_of_plane(Z: Array, tolerance: float) -> int | None:
    """The smallest degree, 1 to 3, of a polynomial that fits the points of a curve (section 4.1).

    The fitting error is the root mean square residual of the polynomial's equation at the points.

    Parameters
    ----------
    Z : array (n, 2)
        Points of the curve; more than nine of them, as a cubic can be laid through any nine.
    tolerance : float
        The largest fitting error of the right degree.

    Returns
    -------
    degree : int or None
        None if no degree fits: the paper then takes the kernel for a transcendental one.

    Examples
    --------
    >>> angle = np.arange(12.)
    >>> circle = np.c_[np.cos(angle), np.sin(angle)]
    >>> vote_of_plane(circle, 1e-6), vote_of_plane(angle[:, None] * circle, 1e-6)
    (2, None)
    """
    for degree in (1, 2, 3):
        if fit_polynomial(Z, degree)[1][1] <= tolerance * np.sqrt(len(Z)):
            return degree
    return None


def votes_on_kernel_type(oracle: LabelOracle, X: ArrayLike, n: int = 20, radius: float = 1.0,
                         tolerance: float = 1e-6, width: float = 1e-6,
                         random_state: RandomState = 0) -> Counter[str]:
    """The paper's test: every boundary point looks at one plane, and votes (section 4.1).

    A plane holds the point, a second direction and, as in the paper, the origin.

    Parameters
    ----------
    oracle : Oracle
    X : array (s, d)
        Points of the boundary; the paper takes 25 of them, 200 for its MNIST machine.
    n : int
        Points of every curve.
    radius, width : floats
        How far from the point to look, and the width of the brackets, in the units of the points.
    tolerance : float
        The largest fitting error of the right degree.
    random_state : int or numpy.random.Generator

    Returns
    -------
    votes : collections.Counter
        How many planes voted 'linear', 'quadratic', 'cubic', 'transcendental'; planes that show
        one label only do not vote.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> from decon.boundary.bracketing import boundary_points
    >>> from decon.boundary.pairs import pn_pairs
    >>> model = KernelMachine.random(Polynomial(degree=2), dimension=6, n_support=4)
    >>> oracle = Oracle(model.predict, dimension=6)
    >>> points = np.random.default_rng(0).standard_normal((50, 6))
    >>> labels = oracle(points)
    >>> P, N = pn_pairs(points[labels > 0], points[labels < 0], 25)
    >>> X, _ = boundary_points(oracle, P, N, 1e-6)
    >>> votes_on_kernel_type(oracle, X).most_common(1)[0][0]
    'quadratic'
    """
    rng = np.random.default_rng(random_state)
    votes: Counter[str] = Counter()
    for x in np.asarray(X, float):
        plane = np.linalg.qr(np.c_[x, rng.standard_normal(len(x))])[0]
        Z = curve_points(oracle, x, plane, n, radius, width, rng)
        if len(Z):
            votes[NAMES[vote_of_plane(Z, tolerance)]] += 1
    return votes
