"""Surfaces sum_i alpha_i exp(theta_i.x) = exp(tau |x|^2), fitted to points of them."""

import numpy as np
from scipy.linalg import solve_triangular

from ...boundary.distance import level_set_distance
from ...numerics.triangular import solve_upper
from ...types import Array
from ..protocol import Refuted
from .settings import SETTINGS


class Exponentials:
    """The surface sum_i alpha_i exp(theta_i.x) = exp(tau |x|^2) in R^k.

    Every level set of a Gaussian machine is such a surface, in coordinates x from any origin, with
    tau = 1 / (2 sigma^2) and y_i = theta_i / (2 tau): divide by exp(tau |x|^2) to see it.

    Parameters
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

    def __init__(self, theta: Array, alpha: Array, tau: float):
        self.theta, self.alpha, self.tau = theta, alpha, tau

    def __call__(self, X: Array) -> Array:
        """sum_i alpha_i exp(theta_i.x - tau |x|^2) - 1 = Psi / b - 1: (n, k) gives (n,)."""
        return self.terms(X).sum(1) - 1

    def terms(self, X: Array) -> Array:
        """The m terms of the sum at every x.

        Parameters
        ----------
        X : array (n, k)

        Returns
        -------
        terms : array (n, m)
        """
        powers = X @ self.theta.T - self.tau * (X**2).sum(1, keepdims=True)
        return self.alpha * np.exp(np.where(powers < SETTINGS.largest_power, powers, np.inf))

    def gradient(self, X: Array) -> Array:
        """The gradient of the sum.

        Parameters
        ----------
        X : array (n, k)

        Returns
        -------
        gradients : array (n, k)
        """
        terms = self.terms(X)
        return terms @ self.theta - 2 * self.tau * terms.sum(1, keepdims=True) * X

    def distance(self, X: Array) -> Array:
        """Signed distance of points from the surface, to first order (Sampson's).

        Parameters
        ----------
        X : array (n, k)

        Returns
        -------
        distances : array (n,)
        """
        return level_set_distance(self(X), self.gradient(X))

    def jacobian(self, X: Array) -> Array:
        """Derivatives of `distance` by theta, alpha and tau, on the surface.

        Parameters
        ----------
        X : array (n, k)

        Returns
        -------
        J : array (n, m k + m + 1)
        """
        terms = self.terms(X)
        by_theta = (terms[:, :, None] * X[:, None]).reshape(len(X), -1)
        J = np.c_[by_theta, terms / self.alpha, -((X**2).sum(1) * terms.sum(1))]
        return J / np.linalg.norm(self.gradient(X), axis=1)[:, None]

    def updated(self, step: Array) -> "Exponentials":
        """The surface whose parameters differ by a step.

        Parameters
        ----------
        step : array (m k + m + 1,)
            Of theta, row by row, alpha and tau.

        Returns
        -------
        surface : Exponentials
        """
        theta, alpha, tau = np.split(step, [self.theta.size, len(step) - 1])
        return Exponentials(self.theta + theta.reshape(self.theta.shape), self.alpha + alpha,
                            self.tau + tau[0])


def fit_exponentials(surface: Exponentials, X: Array, floor: float = 0.0,
                     steps: int = 60) -> tuple[Exponentials, float]:
    """Fit a surface to points of it: Gauss-Newton steps along parabolas.

    What is minimised is the sum of squared distances r. Many combinations of the parameters hardly
    show in it, and the valley of good fits is narrow and bent: a straight step would leave it. So
    a step is h v + h^2 a / 2, where a makes up for the second derivative of r along v: geodesic
    acceleration [Transtrum and Sethna 2012]. The loop of `least_squares.py` takes straight steps:
    with the damping of tanh units it needs six times as many Jacobians here; without damping at
    first it needs no more, but fewer of the rough starts end at the surface.

    Parameters
    ----------
    surface : Exponentials
        Where to start.
    X : array (n, k)
        At least as many points as there are parameters.
    floor : float
        Stop at this root mean square distance, or where steps help no more.
    steps : int
        At most so many.

    Returns
    -------
    surface : Exponentials
    rms : float
        The root mean square distance of the points, no more than at the start.

    Raises
    ------
    ValueError
        If there are fewer points than parameters.

    Examples
    --------
    >>> t = np.linspace(0, 6, 20)
    >>> X = np.c_[1 + np.cos(t), np.sin(t)]   # a circle about (1, 0)
    >>> start = Exponentials(np.array([[1.9, .1]]), np.array([1.]), 1.05)
    >>> circle, rms = fit_exponentials(start, X)
    >>> (circle.theta / (2 * circle.tau)).round(6) + 0., bool(rms < 1e-9)
    (array([[1., 0.]]), True)
    """
    parameters = surface.theta.size + len(surface.alpha) + 1
    if len(X) < parameters:
        raise ValueError(f"{parameters} parameters need at least as many points, got {len(X)}")
    damping = undamped = 1e-15
    for _ in range(steps):
        r, J = surface.distance(X), surface.jacobian(X)
        norms = np.linalg.norm(J, axis=0)
        if not r @ r > len(X) * floor**2 or damping > 0.1 or not norms.all():
            break

        # velocity: the Gauss-Newton step, J v = -r, damped if need be (eq-tanh-at-infinity-lm)
        rows = J if damping == undamped else np.concatenate([J, damping * np.diag(norms)])
        Q, R = np.linalg.qr(rows)
        v = -solve_upper(R, Q[:len(J)].T @ r)
        promised = r + J @ v
        if damping == undamped and promised @ promised > 0.9 * (r @ r):
            break

        # acceleration: J a = -r'', with r'' = 2/h ((r(p + h v) - r) / h - J v) at h = 0.1
        # (eq-gaussian-measuring-stick-parabola)
        steep = np.linalg.norm(surface.gradient(X), axis=1)
        bent = 20 * ((surface.updated(0.1 * v)(X) / steep - r) / 0.1 - J @ v)
        a = -solve_upper(R, Q[:len(J)].T @ bent) if np.isfinite(bent).all() else 0 * v

        # update: the longest step along the parabola that helps; if none does, more damping
        trials = (surface.updated(h * v + h**2 / 2 * a) for h in (1, 0.5, 0.25, 0.125))
        better = next((t for t in trials if np.sum(t.distance(X) ** 2) < 0.9 * (r @ r)), None)
        damping = 10 * damping if better is None else max(damping / 10, undamped)
        surface = better or surface
    return surface, float(np.sqrt(np.mean(surface.distance(X) ** 2)))


def d_optimal_points(surface: Exponentials, X: Array, candidates: Array, n: int, limit: float,
                     width: float, tilt: float = np.inf) -> tuple[Array, Array]:
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
        Candidates whose distance is more uncertain than this are left out: there, a linear
        estimate says little.
    width : float
        The error of a measured point.
    tilt : float
        How large the last coordinates of the y_i = theta_i / (2 tau) may be beforehand.

    Returns
    -------
    chosen : array (j, k)
    uncertainty : array (j,)
        Standard deviations of their distances from the surface, from the points X alone.

    Raises
    ------
    Refuted
        If the points X do not determine the surface.

    Examples
    --------
    >>> circle = Exponentials(np.array([[2., 0.]]), np.array([1.]), 1.0)
    >>> t = np.array([0., .1, .2, .3, .4, .5])
    >>> X = np.c_[1 + np.cos(t), np.sin(t)]
    >>> opposite = np.array([[0., 0.], [1., 1.]])
    >>> chosen, uncertainty = d_optimal_points(circle, X, opposite, 1, 1.0, 1e-6)
    >>> chosen, bool(1e-6 < uncertainty[0] < 1e-2)
    (array([[0., 0.]]), True)
    """
    # what is known beforehand are rows too: the last coordinates of the y_i are 0, up to the tilt
    m, k = surface.theta.shape
    prior = width / (2 * surface.tau * tilt) * np.eye(m * k + m + 1)[k - 1 : m * k : k]

    # the candidates in coordinates in which the parameters' errors are independent
    R, norms = _scaled_qr(np.concatenate([surface.jacobian(X), prior]))
    V = solve_triangular(R, (surface.jacobian(candidates) / norms).T, trans="T").T
    uncertainty = width * np.linalg.norm(V, axis=1)
    V, candidates, uncertainty = (a[uncertainty < limit] for a in (V, candidates, uncertainty))

    # the most uncertain one (prop-gaussian-measuring-stick-telling), then the others as they are
    # once it is measured: V (I + v v^T)^(-1/2), a rank-one update
    chosen: list[int] = []
    for _ in range(min(n, len(V))):
        size = (V**2).sum(1)
        size[chosen] = -1
        j = int(size.argmax())
        chosen.append(j)
        V = V - np.outer(V @ V[j], V[j]) * (1 - 1 / np.sqrt(1 + size[j])) / size[j]
    return candidates[chosen], uncertainty[chosen]


def support_vector_errors(surface: Exponentials, X: Array, rms: float) -> Array:
    """Standard deviations of the y_i = theta_i / (2 tau), their last coordinates left out.

    Parameters
    ----------
    surface : Exponentials
        Fitted to the points X.
    X : array (n, k)
    rms : float
        The root mean square distance of the points from it.

    Returns
    -------
    errors : array (m,)

    Raises
    ------
    Refuted
        If the points X do not determine the surface.
    """
    # the errors of all parameters that unit errors of independent points lead to
    R, norms = _scaled_qr(surface.jacobian(X))
    errors = solve_triangular(R, np.eye(len(R))) / norms[:, None]

    # the derivative of y_i is that of theta_i less theta_i / tau times that of tau
    of_theta = errors[: surface.theta.size].reshape(*surface.theta.shape, -1)[:, :-1]
    of_vectors = of_theta - surface.theta[:, :-1, None] / surface.tau * errors[-1]
    scatter = rms * np.sqrt(len(X) / max(1, len(X) - len(R))) / (2 * surface.tau)
    return scatter * np.sqrt((of_vectors**2).sum((1, 2)))


def _scaled_qr(J):
    """R of a QR decomposition of J with columns of length 1, and their lengths before."""
    norms = np.linalg.norm(J, axis=0)
    if not norms.all():
        raise Refuted("no Gaussian machine: a support vector shows at no measured point")
    return np.linalg.qr(J / norms, mode="r"), norms
