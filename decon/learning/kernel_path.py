"""From the optimum of one kernel to that of another [after Diehl and Cauwenberghs 2003]."""

from collections.abc import Iterator

import numpy as np

from ..types import Array
from .bordered import LostPath
from .optimum import ERROR, MARGIN, REST, Optimum
from .path import advance, change_part, direction, distances
from .settings import SETTINGS


def repair(optimum: Optimum, wrong: Array) -> Iterator[float]:
    """Let violations of the conditions vanish evenly, as after a change of the kernel.

    With g - r instead of g, where r is what is wrong, all conditions hold. They keep holding with
    g - (1 - s) r while s grows from 0 to 1.

    Parameters
    ----------
    optimum : Optimum
        Changed in place; sum_i a_i t_i = 0 and 0 <= a_i <= C_i hold.
    wrong : array (n,)
        The violations r: see `wrong_g`.

    Yields
    ------
    float
        How far it is to each event.

    Raises
    ------
    LostPath
        If the margin is singular with this kernel.
    """
    optimum.g, left = optimum.g - wrong, 1.0
    largest = optimum.Q.diagonal().max(initial=0)
    while left > 0:
        # the direction: r grows at the rate 1
        rates, slopes = direction(optimum, 0.0, wrong, largest)
        residual = optimum.system.matrix @ rates + np.r_[0.0, wrong[optimum.margin]]
        if np.abs(residual).max() > SETTINGS.singular_residual * np.abs(wrong).max():
            raise LostPath("the margin is singular")

        # go to the nearest event
        far = distances(optimum, rates, slopes, 0.0)
        length, first = advance(optimum, rates, slopes, far, left)
        left = 0.0 if first is None else left - length
        if first is not None:
            change_part(optimum, first)
        yield length


def wrong_g(optimum: Optimum) -> Array:
    """What is to be subtracted from g for all conditions to hold.

    Parameters
    ----------
    optimum : Optimum

    Returns
    -------
    array (n,)
        All of g on the margin, its negative part at rest, its positive part in error; else 0.
    """
    g, part = optimum.g, optimum.part
    return np.select([part == MARGIN, part == REST, part == ERROR],
                     [g, g.clip(max=0), g.clip(min=0)], 0.0)
