"""From one optimum to the next along a path: straight lines from event to event.

While one multiplier grows or shrinks, or the bound C moves, all other multipliers and the threshold
move along so that the KKT conditions keep holding. They move on straight lines until the next
event: an example reaches or leaves the margin [Cauwenberghs and Poggio 2001; Diehl and Cauwenberghs
2003].
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..types import Array
from .bordered import LostPath
from .kkt import distances_to_bounds
from .optimum import ERROR, INACTIVE, MARGIN, REST, Optimum
from .settings import SETTINGS


def follow_path(optimum: Optimum, path: Callable, argument: Any) -> None:
    """Follow a path to its end; if it is lost on the way, compute the optimum there directly.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    path : grow, shrink, move_C or repair
    argument : int, float or array
        What the path takes: the index of an example, the new C, or the violations.
    """
    # the path, event by event; it is lost if nothing stops it or it has no end
    largest, most = optimum.a.max(initial=0), SETTINGS.events_per_example * (len(optimum.y) + 10)
    try:
        events = sum(1 for _ in islice(path(optimum, argument), most))
    except LostPath:
        events = most
    if path is move_C:
        optimum.C = argument
    if events == 0:
        return optimum.settle_threshold()

    # dust: what rounding leaves of multipliers that are 0; with one label only, all of them are
    used = optimum.a > 0
    one_label = len(np.unique(optimum.y[used])) < 2
    dust = used & (one_label | (optimum.a < SETTINGS.dust * largest))
    optimum.a[dust] = 0
    optimum.a.clip(0, optimum.bounds, out=optimum.a)

    # the KKT conditions, afresh (eq-learning-and-unlearning-kkt)
    if events < most and not dust.any():
        optimum.polish()
        if optimum.is_exact():
            return optimum.settle_threshold()
    optimum.restart()


def grow(optimum: Optimum, c: int) -> Iterator[float]:
    """Let example c's multiplier grow until it fulfils its own condition too.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    c : int
        The example.

    Yields
    ------
    float
        How far it is to each event.
    """
    while optimum.g[c] < -SETTINGS.reached and optimum.part[c] == REST:
        yield next_event(optimum, c, 1)
    if optimum.part[c] == REST and optimum.a[c] > 0:  # its margin was reached along with another's
        enter_margin(optimum, c)


def shrink(optimum: Optimum, c: int) -> Iterator[float]:
    """Let example c's multiplier shrink to 0; the example is inactive then.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    c : int
        The example.

    Yields
    ------
    float
        How far it is to each event.
    """
    if optimum.part[c] == MARGIN:
        leave_margin(optimum, c, INACTIVE)
    optimum.part[c] = INACTIVE
    while optimum.a[c] > 0:
        yield next_event(optimum, c, -1)


def move_C(optimum: Optimum, C: float) -> Iterator[float]:
    """Let the bound move to C, and the multipliers at the bound with it.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    C : float, positive
        The new bound.

    Yields
    ------
    float
        How far it is to each event.
    """
    while optimum.C != C:
        # the direction: multipliers at the bound move at the rate of the bound
        # (eq-learning-and-unlearning-price)
        Q, in_error, sign = optimum.Q, optimum.part == ERROR, np.sign(C - optimum.C)
        moving, largest = sign * in_error * optimum.weight, Q.diagonal().max(initial=0)
        rates, slopes = direction(optimum, optimum.y @ moving, Q @ moving, largest)

        # go to the nearest event
        far = distances(optimum, rates, slopes, sign)
        length, first = advance(optimum, rates, slopes, far, abs(C - optimum.C))
        optimum.C = C if first is None else optimum.C + sign * length
        optimum.a[in_error] = optimum.bounds[in_error]
        if first is not None:
            change_part(optimum, first)
        yield length


def next_event(optimum: Optimum, c: int, sign: int) -> float:
    """Let a_c grow or shrink until the next event.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    c : int
        The example.
    sign : 1 or -1
        Whether a_c grows or shrinks.

    Returns
    -------
    float
        How far it went.

    Raises
    ------
    LostPath
        If there is no event.
    """
    y, Q, a, C = optimum.y, optimum.Q, optimum.a, optimum.bounds[c]

    # the direction (eq-learning-and-unlearning-step); without a margin a_c waits, and only the
    # threshold moves
    if optimum.margin:
        rates, slopes = direction(optimum, sign * y[c], sign * Q[c], Q[c, c])
        rate, to_bound = sign, C - a[c] if sign > 0 else a[c]
    else:
        rates, slopes = np.array([sign * y[c]]), sign * y[c] * y
        rate, to_bound = 0, np.inf

    # the nearest event, c's own among them: g_c = 0, or a_c at its bound (step 3 of
    # alg-learning-and-unlearning-learn)
    far = distances(optimum, rates, slopes, 0.0)
    far[c] = -optimum.g[c] / slopes[c] if sign > 0 and slopes[c] > 0 else np.inf

    # go there
    length, first = advance(optimum, rates, slopes, far, to_bound)
    a[c] += rate * length
    if first is None:
        a[c], optimum.part[c] = (C, ERROR) if sign > 0 else (0.0, INACTIVE)
    else:
        change_part(optimum, first)
    return length


def direction(optimum: Optimum, balance: float, push: Array, scale: float) -> tuple[Array, Array]:
    """How threshold, margin and all g move when other multipliers move at given rates.

    Parameters
    ----------
    optimum : Optimum
    balance : float
        Rate of sum_i a_i t_i without the margin.
    push : array (n,)
        Rates of all g without the margin and the threshold.
    scale : float
        Diagonal entry of Q of what moves: slopes are zero or not beside it.

    Returns
    -------
    rates : array (1 + s,)
        Of minus the threshold, and of the multipliers on the margin.
    slopes : array (n,)
        Rates of all g; 0 on the margin.
    """
    # the bordered system keeps sum_i a_i t_i = 0, and g = 0 on the margin
    # (eq-learning-and-unlearning-step, eq-learning-and-unlearning-slopes)
    S, Q = optimum.margin, optimum.Q
    rates = -optimum.system.solve(np.r_[balance, push[S]])
    slopes = push + rates[1:] @ Q[S] + optimum.y * rates[0]

    # what is rounding is zero
    slopes[S] = 0
    small = SETTINGS.dependent_pivot * np.sqrt(np.abs(Q.diagonal() * scale))
    slopes[np.abs(slopes) <= small] = 0
    return rates, slopes


def distances(optimum: Optimum, rates: Array, slopes: Array, drift: float) -> Array:
    """How far it is until each example changes its part.

    Parameters
    ----------
    optimum : Optimum
    rates, slopes : arrays
        Of `direction`.
    drift : float
        Rate of the bound C; each multiplier's own bound moves in proportion to its weight.

    Returns
    -------
    array (n,)
        Infinity for an example that keeps its part.
    """
    S, part, g = optimum.margin, optimum.part, optimum.g
    far = np.full(len(g), np.inf)

    # outside the margin, until g is 0
    meets = ((part == ERROR) & (slopes > 0)) | ((part == REST) & (slopes < 0))
    with np.errstate(over="ignore"):
        far[meets] = -g[meets] / slopes[meets]

    # on the margin, until the multiplier is C or 0; what is past its event by rounding is at it
    far[S] = distances_to_bounds(optimum.a[S], rates[1:], optimum.bounds[S],
                                 drift * optimum.weight[S])
    return far.clip(0)


def advance(optimum: Optimum, rates: Array, slopes: Array, far: Array,
            limit: float) -> tuple[float, int | None]:
    """Move the margin, the threshold and all g along, to the nearest event or to a limit.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    rates, slopes : arrays
        Of `direction`.
    far : array (n,)
        How far it is to each event.
    limit : float
        How far to go if they are farther.

    Returns
    -------
    length : float
        How far it went.
    first : int or None
        The example whose event it is; None at the limit.

    Raises
    ------
    LostPath
        If neither stops the path.
    """
    # the first of all events
    nearest = int(np.argmin(np.r_[limit, far]))
    length = limit if nearest == 0 else far[nearest - 1]
    if not np.isfinite(length):
        raise LostPath("nothing stops the path")

    # all that moves on the straight line to it
    optimum.a[optimum.margin] += length * rates[1:]
    optimum.threshold -= length * rates[0]
    optimum.g += length * slopes
    return length, nearest - 1 if nearest else None


def change_part(optimum: Optimum, k: int) -> None:
    """Move example k, at its event, from the margin to a bound or from elsewhere to the margin.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    k : int
        The example.
    """
    if optimum.part[k] == MARGIN:
        top = optimum.bounds[k]
        full = optimum.a[k] > top / 2
        optimum.a[k] = top if full else 0.0
        leave_margin(optimum, k, ERROR if full else REST)
    else:
        enter_margin(optimum, k)


def enter_margin(optimum: Optimum, k: int) -> None:
    """Example k, with g_k = 0, enters the margin, if need be in exchange for another.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    k : int
        The example.
    """
    y, Q, S = optimum.y, optimum.Q, optimum.margin
    optimum.g[k] = 0.0

    # as long as k depends on the margin, up to rounding, weight is shifted until somebody leaves
    smallest = SETTINGS.dependent_pivot * np.abs(Q.diagonal()).max()
    while not optimum.system.enter(np.r_[y[k], Q[S, k]], Q[k, k], smallest):
        if not exchange(optimum, k):
            return
    optimum.part[k] = MARGIN
    S.append(k)


def leave_margin(optimum: Optimum, k: int, part: int) -> None:
    """Example k leaves the margin for another part.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    k : int
        The example.
    part : ERROR, REST or INACTIVE
    """
    optimum.part[k] = part
    optimum.system.leave(optimum.margin.index(k))
    optimum.margin.remove(k)


def exchange(optimum: Optimum, k: int) -> bool:
    """Shift weight between example k and the margin that it depends on, till one is at a bound.

    In feature space k lies in the affine hull of the margin, so this changes no g at all.

    Parameters
    ----------
    optimum : Optimum
        Changed in place.
    k : int
        The example.

    Returns
    -------
    bool
        True when an example has left the margin, so that k can enter; False when k itself has
        reached the other bound.
    """
    S, bounds, a = optimum.margin, optimum.bounds, optimum.a

    # k's multiplier moves to its other bound, the margin's make up for it
    # (eq-learning-and-unlearning-step)
    sign, end, part = (1.0, bounds[k], ERROR) if a[k] < bounds[k] / 2 else (-1.0, 0.0, REST)
    move = -sign * optimum.system.solve(np.r_[optimum.y[k], optimum.Q[S, k]])[1:]

    # who is at a bound first, k itself or one of the margin
    move_on = np.where(np.abs(move) > SETTINGS.dependent_pivot, move, 0.0)
    far = distances_to_bounds(a[S], move_on, bounds[S])
    j, own = int(np.argmin(far)), abs(end - a[k])
    length = min(max(far[j], 0.0), own)

    # go there: sum_i a_i t_i and all g stay as they are
    a[S] += length * move
    a[k] += length * sign

    # whoever has reached a bound: k itself, or the other, so that k can enter
    if own <= far[j]:
        a[k], optimum.part[k] = end, part
        return False
    change_part(optimum, S[j])
    return True
