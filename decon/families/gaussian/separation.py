"""How near two support vectors of a Gaussian machine may lie, and be taken for one."""

import numpy as np

from ...types import Array


def least_separation(J: Array, X: Array, centres: Array, terms: Array, log_weights: Array,
                     tau: float, slopes: Array, width: float) -> Array:
    """The distance from every vector at which a further one would have shown.

    A vector of weight w at y + t u, where one has been found at y, changes f by w K(x, y + t u).
    The weight and the place of the vector found make up for the terms of order 0 and 1 in t; left
    is w t^2 (2 tau^2 (u.(x - y))^2 - tau) K(x, y) + O(t^3), and of that what no other parameter of
    the fit makes up for: its part orthogonal to the columns of J. So far the points measured would
    be off the fit. w is taken to be the smallest weight found.

    Parameters
    ----------
    J : array (n, p)
        Derivatives of the points' distances from the boundary by the parameters of the fit.
    X : array (n, k)
        The points.
    centres : array (m, k)
        The vectors found.
    terms : array (n, m)
        What every vector adds to f at every point.
    log_weights : array (m,)
        Logarithms of the |weights|, up to a common summand.
    tau : float
        1 / (2 sigma^2).
    slopes : array (n,)
        |grad f| at the points.
    width : float
        Of the brackets: a fit that misses its points by so much is noticed.

    Returns
    -------
    distances : array (m,)
        Each the largest of 5 k directions u, among them the axes.

    Examples
    --------
    >>> t = np.linspace(0, 6, 20)
    >>> X = np.c_[np.cos(t), np.sin(t)]   # a circle about (0, 0): f = 1 - exp(1 - |x|^2)
    >>> J, ones = np.c_[X, np.ones(20)], np.ones((20, 1))   # by the centre, and by the radius
    >>> slopes, log_w = 2 * ones[:, 0], np.zeros(1)
    >>> least_separation(J, X, np.zeros((1, 2)), ones, log_w, 1.0, slopes, 1e-12).round(8)
    array([1.68e-06])
    """
    # unit directions, and the changes t = 1 would make, of the smallest weight
    k = centres.shape[1]
    U = np.concatenate([np.eye(k), np.random.default_rng(0).standard_normal((4 * k, k))])
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    along = np.einsum("nmk,uk->num", X[:, None] - centres, U)
    changes = (2 * tau**2 * along**2 - tau) * (terms / slopes[:, None])[:, None]
    changes *= np.exp(log_weights.min() - log_weights)

    # without what other parameters make up for, twice for the sake of rounding
    Q = np.linalg.qr(J / np.linalg.norm(J, axis=0))[0]
    left = changes.reshape(len(X), -1)
    for _ in range(2):
        left = left - Q @ (Q.T @ left)
    rms = np.sqrt((left**2).mean(0)).reshape(changes.shape[1:])
    return np.sqrt(width / rms.min(0))
