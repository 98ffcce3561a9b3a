"""A surrogate from labels: kernel machines of random centres, and trees, chosen on fresh labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from ..boundary.bracketing import bisect
from ..boundary.distance import level_set_distance
from ..boundary.pairs import pn_pairs
from ..kernels import Gaussian, Kernel, Polynomial
from ..machine import KernelMachine, ScaledMachine
from ..types import Array, LabelOracle, RandomState
from .frame import Frame, spread_of
from .retraining import retrained
from .settings import SETTINGS
from .surrogate import LabelledTrees, Surrogate


def find_surrogate(oracle: LabelOracle, features: Array, kernels: Sequence[Kernel] = (),
                   width: float = 1e-12, random_state: RandomState = 0) -> Surrogate | None:
    """The best stand-in for a model, measured on queries of its own.

    Parameters
    ----------
    oracle, features, kernels, width
        As for `best_stand_in`.
    random_state : int or numpy.random.Generator

    Returns
    -------
    surrogate : Surrogate or None
        None if no label but one is found near the features.
    """
    rng = np.random.default_rng(random_state)
    machine = best_stand_in(oracle, features, kernels, width, rng)
    return None if machine is None else measured(oracle, features, machine, width, rng)


def measured(oracle: LabelOracle, features: Array, machine: Any, width: float = 1e-12,
             random_state: RandomState = 0) -> Surrogate:
    """A stand-in for a model, with its agreement on fresh queries.

    Parameters
    ----------
    oracle, features, width
        As for `best_stand_in`.
    machine : KernelMachine, ScaledMachine, ReluNetwork or LabelledTrees
    random_state : int or numpy.random.Generator

    Returns
    -------
    surrogate : Surrogate
    """
    rng, frame = np.random.default_rng(random_state), Frame(features.mean(0), spread_of(features))
    view, U = frame.view(oracle), frame.coordinates(features)
    return Surrogate(machine, _agreement(view, U, machine, frame, width, rng))


def best_stand_in(oracle: LabelOracle, features: Array, kernels: Sequence[Kernel] = (),
                  width: float = 1e-12, random_state: RandomState = 0,
                  brackets: int | None = None) -> Any:
    """The best stand-in for a model among kernel machines of random centres and trees.

    Boundary points and labels are asked for near the features, and labels at the boundaries of
    SVMs that are trained on these. The stand-ins are fitted to four fifths of them, and chosen by
    the fifth that is left: of those with the fewest wrong labels, or so few more that chance may
    have made them, the one with the smallest median distance of boundary points from its boundary.
    Where a kernel machine comes as close to the boundary as the brackets are wide, these are
    narrowed.

    Parameters
    ----------
    oracle : LabelOracle
    features : array (k, d)
        Typical points.
    kernels : sequence of kernels
        Kernels that the model may have, in coordinates in which each feature has spread 1; they
        are tried besides Gaussians of several widths, quadratics and cubics.
    width : float
        Of the narrowest brackets, in spreads.
    random_state : int or numpy.random.Generator
    brackets : int, optional
        How many boundary points are asked for, at 17 queries each or more where they are narrowed,
        with up to twenty times as many labels besides, but no more than 6,000; left out, 200
        for each dimension, but no more than 1,500.

    Returns
    -------
    machine : KernelMachine, ScaledMachine, LabelledTrees or None
        None if no label but one is found near the features.
    """
    rng, d = np.random.default_rng(random_state), features.shape[1]
    frame = Frame(features.mean(0), spread_of(features))
    view, U = frame.view(oracle), frame.coordinates(features)

    # labelled points near the features, and brackets between unlike ones
    n = brackets or min(SETTINGS.most_stand_in_points, SETTINGS.stand_in_points * d)
    size = min(10 * n, SETTINGS.stand_in_labels)
    cloud = places(view, U, size, SETTINGS.stand_in_noise, rng)
    labels = view(cloud)
    if abs(int(labels.sum())) == len(labels):
        return None
    P, N = pn_pairs(cloud[labels > 0], cloud[labels < 0], n, rng)
    apart = (P != N).any(axis=1)  # a feature may occur twice, and get both labels by noise
    P, N = bisect(view, P[apart], N[apart], max(width, SETTINGS.stand_in_width))

    # fit to the first, choose by the last
    seen = _Seen(cloud, labels, P, N, frame)
    learned = 4 * size // 5
    svms = retrained(view, cloud[:learned], labels[:learned],
                     lambda count: places(view, U, count, SETTINGS.stand_in_noise, rng), rng)
    scaled = [ScaledMachine(svm, frame.origin, frame.units) for svm in svms]
    centres = places(view, U, n, SETTINGS.stand_in_noise, rng)
    distance, best = seen.best(_fitted(seen, centres, kernels, scaled, SETTINGS.stand_in_width))
    if distance < 10 * SETTINGS.stand_in_width and width < SETTINGS.stand_in_width:
        seen = _Seen(cloud, labels, *bisect(view, P, N, width), frame)
        _, best = seen.best(_fitted(seen, centres, kernels, scaled, width))
    return best


def places(oracle: LabelOracle, U: Array, n: int, noise: Sequence[float],
           rng: np.random.Generator) -> Array:
    """Points near features whose spreads are 1.

    Parameters
    ----------
    oracle : LabelOracle
        Its bounds, if it has any, are kept.
    U : array (k, d)
        The features.
    n : int
    noise : sequence of floats
        Standard deviations, in spreads, of the noise that is added to a feature moved along the
        difference of two others.
    rng : numpy.random.Generator

    Returns
    -------
    points : array (n, d)
    """
    i, j, k = rng.integers(len(U), size=(3, n))
    points = U[i] + rng.uniform(-0.5, 0.5, (n, 1)) * (U[j] - U[k])
    points += np.resize(noise, n)[:, None] * rng.standard_normal(points.shape)
    return points if oracle.bounds is None else np.clip(points, *oracle.bounds)


def fit_dictionary(kernel: Kernel, centres: Array, X: Array, V: Array,
                   tolerance: float) -> KernelMachine:
    """The machine of given support vectors whose boundary comes nearest to given points.

    It minimises sum_k (f(x_k) / |grad f(x_k)|)^2 over weights and threshold, by least squares
    with the gradients of the round before, under the constraint that f increases along the v_k by
    1 a unit of length on average.

    Parameters
    ----------
    kernel : kernel
    centres : array (m, d)
        The support vectors.
    X, V : arrays (n, d)
        Boundary points, and directions from the label -1 to +1 across the boundary.
    tolerance : float
        Singular values smaller than this share of the largest are taken to be noise; without it,
        noise is fitted by components of the boundary that the model does not have.

    Returns
    -------
    machine : KernelMachine
    """
    K, h = np.c_[kernel(X, centres), -np.ones(len(X))], 1e-3 * V

    # the weights that fulfil the constraint c.w = 1: one of them, and all directions left free
    c = np.r_[((kernel(X + h, centres) - kernel(X - h, centres)) / 2e-3).mean(0), 0]
    one, free = c / (c @ c), np.linalg.qr(c[:, None], mode="complete")[0][:, 1:]
    offset, slope, share = K @ one, K @ free, np.ones(len(X))

    # least squares, three times, with rows divided by the slope
    for _ in range(3):
        u = lstsq(share[:, None] * slope, -share * offset, tolerance, lapack_driver="gelsy")[0]
        w = one + free @ u
        machine = KernelMachine(kernel, centres, w[:-1], w[-1])
        steepness = np.linalg.norm(machine.gradient(X), axis=1)
        share = 1 / np.maximum(steepness, 0.05 * np.median(steepness))
    return machine


class _Seen:
    """Labels and brackets, in spreads: those to fit to, and those to choose by."""

    def __init__(self, cloud, labels, P, N, frame):
        self.frame = frame
        X, V = (P + N) / 2, P - N
        V = V / np.linalg.norm(V, axis=1, keepdims=True)
        m, n = 4 * len(cloud) // 5, 4 * len(X) // 5
        self.X, self.V, self.held_X = X[:n], V[:n], X[n:]
        self.points = np.concatenate([cloud[:m], P[:n], N[:n]])
        self.labels = np.r_[labels[:m], np.ones(n), -np.ones(n)]
        self.held_points, self.held_labels = frame.points(cloud[m:]), labels[m:]

    def score(self, machine):
        """The number of wrong held-out labels, and the median distance of held-out points."""
        wrong = int((machine.predict(self.held_points) != self.held_labels).sum())
        if not hasattr(machine, "gradient"):
            return wrong, np.inf
        X = self.frame.points(self.held_X)
        gradients = machine.gradient(X) * self.frame.units
        with np.errstate(invalid="ignore", divide="ignore"):
            distance = np.abs(level_set_distance(machine.decision_function(X), gradients))
        return wrong, float(np.nan_to_num(np.median(distance), nan=np.inf))

    def best(self, machines):
        """The best machine, and its median distance."""
        scored = [(*self.score(machine), machine) for machine in machines]
        fewest = min(wrong for wrong, _, _ in scored)
        near = [(distance, wrong, i) for i, (wrong, distance, _) in enumerate(scored)
                if wrong <= fewest + 2 * np.sqrt(fewest + 1)]
        distance, _, i = min(near)
        return distance, scored[i][-1]


def _fitted(seen, centres, kernels, svms, width):
    frame, n, d = seen.frame, len(seen.X), centres.shape[1]
    given = frame.units / np.sqrt(np.mean(frame.units**2))

    # kernels of few and of many centres; a Gaussian in the given units too, if these are others
    def fit(kernel, m, ratio):
        machine = fit_dictionary(kernel, ratio * centres[:m], ratio * seen.X, ratio * seen.V,
                                 width / 10)
        return ScaledMachine(machine, frame.origin, frame.units / ratio)

    polynomials = [Polynomial(degree, 1 / d) for degree in (2, 3)]
    yield from (fit(kernel, n // 2, np.ones(d)) for kernel in dict.fromkeys([*kernels,
                                                                            *polynomials]))
    for ratio in [np.ones(d), given] if np.ptp(given) > 0.1 else [np.ones(d)]:
        for sigma in np.sqrt(d / 2) * np.array(SETTINGS.stand_in_widths):
            yield from (fit(Gaussian(float(sigma)), n // parts, ratio) for parts in (8, 4, 2))

    # what labels alone teach: SVMs, a tree, boosted trees
    yield from svms
    points = frame.points(seen.points)
    yield LabelledTrees(points, seen.labels, False)
    yield LabelledTrees(points, seen.labels, True)


def _agreement(view, U, machine, frame, width, rng):
    n = SETTINGS.stand_in_tests
    right = {"features": U, "between": places(view, U, n, [0.0], rng),
             "around": places(view, U, n, [0.3, 1.0], rng)}
    agreement = {name: float((view(points) == machine.predict(frame.points(points))).mean())
                 for name, points in right.items()}

    # where both boundaries cross the same chords
    def stand_in(points):
        return machine.predict(frame.points(points))

    ends = right["around"]
    labels = view(ends)
    both = labels == stand_in(ends)
    P, N = ends[both & (labels > 0)], ends[both & (labels < 0)]
    if len(P) and len(N):
        P, N = pn_pairs(P, N, SETTINGS.stand_in_chords, rng)
        middles = [sum(bisect(ask, P, N, width)) / 2 for ask in (view, stand_in)]
        apart = float(np.median(np.linalg.norm(middles[0] - middles[1], axis=1)))
        agreement["distance"] = max(apart, width)
    return agreement
