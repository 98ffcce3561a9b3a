"""Surfaces sum_i alpha_i exp(theta_i.x) = exp(tau |x|^2), fitted to points of them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

DAMPING = 1e-15  # of the parameters' steps, where it is needed, at least
TRIES = 4  # halvings of a step that does not help, before it is damped more


@dataclass
class Exponentials:
    """The surface sum_i alpha_i exp(theta_i.x) = exp(tau |x|^2) in R^k.

    Every level set of a Gaussian machine is such a surface, in coordinates x from any origin, with
    tau = 1 / (2 sigma^2) and y_i = theta_i / (2 tau): divide by exp(tau |x|^2) to see it.

    Attributes
    ----------
    theta : array (m, k)
    alpha : array (m,)
    tau : float

    Examples
    --------
    >>> circle = Exponentials(np.array([[2., 0.]]), np.array([1.]), 1.0)   # |x - (1, 0)| = 1
    >>> circle(np.array([[0., 0.], [1., 1.], [1., 0.]])).round(3)
    array([0.   , 0.   , 1.718])
    """

    theta: np.ndarray
    alpha: np.ndarray
    tau: float

    def __call__(self, X):
        """sum_i alpha_i exp(theta_i.x - tau |x|^2) - 1 = Psi / b - 1: array (n,)."""
        return self.terms(X).sum(1) - 1

    def terms(self, X):
        """The m terms of the sum at every x: array (n, m)."""
        with np.errstate(over="ignore"):  # infinite for what is far from any fit
            return self.alpha * np.exp(X @ self.theta.T - self.tau * (X**2).sum(1, keepdims=True))

    def gradient(self, X):
        """The gradient of the sum: array (n, k)."""
        terms = self.terms(X)
        with np.errstate(invalid="ignore", over="ignore"):
            return terms @ self.theta - 2 * self.tau * terms.sum(1, keepdims=True) * X

    def distance(self, X):
        """Signed distance of points from the surface, to first order (Sampson's): array (n,)."""
        with np.errstate(all="ignore"):
            return self(X) / np.linalg.norm(self.gradient(X), axis=1)

    def slopes(self, X):
        """Derivatives of `distance` by theta, alpha and tau, on the surface: (n, m k + m + 1)."""
        terms = self.terms(X)
        J = np.concatenate([(terms[:, :, None] * X[:, None]).reshape(len(X), -1),
                            terms / self.alpha,
                            -((X**2).sum(1) * terms.sum(1))[:, None]], axis=1)
        return J / np.linalg.norm(self.gradient(X), axis=1)[:, None]

    def moved(self, step):
        """The surface whose parameters differ by a step, array (m k + m + 1,)."""
        theta, alpha, tau = np.split(step, [self.theta.size, len(step) - 1])
        return Exponentials(self.theta + theta.reshape(self.theta.shape), self.alpha + alpha,
                            self.tau + tau[0])


def fit(surface, X, floor=0.0, steps=60):
    """Fit a surface to points of it: Gauss-Newton steps along parabolas.

    What is minimised is the sum of squared distances. Many combinations of the parameters hardly
    show in it, and the valley of good fits is narrow and bent: a straight step would leave it. So
    a step is v + a / 2, where a makes up for the second derivative of the residuals along v
    [Transtrum and Sethna 2012].

    Parameters
    ----------
    surface : Exponentials
        Where to start.
    X : array (n, k)
        More points than there are parameters.
    floor : float
        Stop at this root mean square distance, or where steps help no more.
    steps : int
        At most so many.

    Raises
    ------
    ValueError
        If there are fewer points than parameters.

    Returns
    -------
    surface : Exponentials
    rms : float
        The root mean square distance of the points.

    Examples
    --------
    >>> t = np.linspace(0, 6, 20)
    >>> X = np.c_[1 + np.cos(t), np.sin(t)]   # a circle about (1, 0)
    >>> start = Exponentials(np.array([[1.9, .1]]), np.array([1.]), 1.05)
    >>> circle, rms = fit(start, X)
    >>> (circle.theta / (2 * circle.tau)).round(6) + 0., bool(rms < 1e-9)
    (array([[1., 0.]]), True)
    """
    parameters = surface.theta.size + len(surface.alpha) + 1
    if len(X) < parameters:
        raise ValueError(f"{parameters} parameters need at least as many points, got {len(X)}")
    r = surface.distance(X)
    cost, damping = _square(r), DAMPING
    for _ in range(steps):
        if not cost > len(X) * floor**2 or damping > 0.1:
            break
        steep = np.linalg.norm(surface.gradient(X), axis=1)
        J = surface.slopes(X)
        damps = damping * np.diag(np.linalg.norm(J, axis=0)) if damping > DAMPING else J[:0]
        Q, R = np.linalg.qr(np.concatenate([J, damps]))
        Q = Q[:len(X)]
        if not np.diagonal(R).all():
            damping *= 10
            continue
        v = -solve_triangular(R, Q.T @ r)
        if _square(r + J @ v) > 0.9 * cost and damping == DAMPING:
            break
        bent = 20 * ((surface.moved(0.1 * v)(X) / steep - r) / 0.1 - J @ v)
        a = -solve_triangular(R, Q.T @ bent) if np.isfinite(bent).all() else 0 * v
        for h in 0.5 ** np.arange(TRIES):
            better = surface.moved(h * v + h**2 / 2 * a)
            remains = better.distance(X)
            if _square(remains) < 0.9 * cost:
                surface, r, cost = better, remains, _square(remains)
                damping = max(damping / 10, DAMPING)
                break
        else:
            damping *= 10
    return surface, np.sqrt(cost / len(X))


def _square(r):
    """r.r, infinite where an entry is NaN."""
    return r @ r if np.isfinite(r).all() else np.inf


def most_telling(surface, X, candidates, n, limit, width, lean=np.inf):
    """Which points of a surface should be measured next, for the parameters' sake?

    Chosen one by one: the most uncertain point, given the measured ones and those chosen before,
    is next, so that the volume of the parameters' errors shrinks the most (D-optimal design).

    Parameters
    ----------
    surface : Exponentials
    X : array (s, k)
        Points that are measured already.
    candidates : array (c, k)
        Points of the surface to choose from.
    n : int
        How many to choose, at most.
    limit : float
        Candidates whose place is more uncertain than this are left out: there, a linear estimate
        says little.
    width : float
        The error of a measured point.
    lean : float
        How large the last coordinates of the y_i = theta_i / (2 tau) may be beforehand.

    Returns
    -------
    chosen : array (j, k)
    uncertainty : array (j,)
        Standard deviations of their distances from the surface, from the points X alone.

    Examples
    --------
    >>> circle = Exponentials(np.array([[2., 0.]]), np.array([1.]), 1.0)
    >>> t = np.array([0., .1, .2, .3, .4, .5])
    >>> X = np.c_[1 + np.cos(t), np.sin(t)]
    >>> opposite = np.array([[0., 0.], [1., 1.]])
    >>> chosen, uncertainty = most_telling(circle, X, opposite, 1, 1.0, 1e-6)
    >>> chosen, bool(1e-6 < uncertainty[0] < 1e-2)
    (array([[0., 0.]]), True)
    """
    m, k = surface.theta.shape
    upright = np.zeros((m, m * k + m + 1))
    upright[np.arange(m), np.arange(m) * k + k - 1] = width / (2 * surface.tau * lean)
    J = np.concatenate([surface.slopes(X), upright])
    units = np.linalg.norm(J, axis=0)
    R = np.linalg.qr(J / units, mode="r")
    V = solve_triangular(R, (surface.slopes(candidates) / units).T, trans="T").T
    uncertainty = width * np.linalg.norm(V, axis=1)
    V, candidates, uncertainty = (a[uncertainty < limit] for a in (V, candidates, uncertainty))
    chosen = []
    for _ in range(min(n, len(V))):
        size = (V**2).sum(1)
        size[chosen] = -1
        j = int(size.argmax())
        chosen.append(j)
        V = V - np.outer(V @ V[j], V[j]) * (1 - 1 / np.sqrt(1 + size[j])) / size[j]
    return candidates[chosen], uncertainty[chosen]


def errors_of_vectors(surface, X, rms):
    """Standard deviations of the y_i = theta_i / (2 tau), their last coordinates left out: (m,).

    Parameters
    ----------
    surface : Exponentials
        Fitted to the points X.
    X : array (n, k)
    rms : float
        The root mean square distance of the points from it.
    """
    m, k = surface.theta.shape
    J = surface.slopes(X)
    units = np.linalg.norm(J, axis=0)
    R = np.linalg.qr(J / units, mode="r")
    inverse = solve_triangular(R, np.eye(len(R))) / units[:, None]  # parameters, from unit errors
    theta = surface.theta[:, :-1, None]
    by_theta = inverse[: m * k].reshape(m, k, -1)[:, :-1]
    errors = (by_theta - theta / surface.tau * inverse[-1]) / (2 * surface.tau)
    scatter = rms * np.sqrt(len(X) / max(1, len(X) - len(R)))
    return scatter * np.sqrt((errors**2).sum((1, 2)))
