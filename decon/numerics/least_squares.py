"""Least squares by damped Gauss-Newton steps: the loop of all fits of units and of cubes."""

from collections.abc import Callable
from typing import Any

DAMPINGS = 12  # tried in a step, at most


def levenberg_marquardt(residual: Callable, linearised: Callable, x: Any, steps: int,
                        damping: float = 0.0, least_damping: float = 0.0, least_gain: float = 0.0,
                        patience: int = 1, enough: float = 0.0) -> Any:
    """Least squares by damped Gauss-Newton steps [Levenberg 1944, Marquardt 1963].

    How a step is found is left to the problem: its linear system may be dense, sparse, or known
    in closed form.

    Parameters
    ----------
    residual : callable
        residual(x) is the array (n,) whose sum of squares is minimised.
    linearised : callable
        stepped = linearised(x, r), r being the residual at x with the Jacobian J, says where steps
        lead: stepped(damping) is x after the step s that minimises |r + J s|, or, if there is
        damping, after a shorter step.
    x : object
        Where to start: the parameters, of whatever type the problem likes.
    steps : int
        The largest number of steps.
    damping : float
        Of the first step. Every later step begins with a fifth of the damping that helped last.
    least_damping : float
        A smaller damping becomes 0. A step that does not help is tried again with four times
        the damping, and at least this much; if this is 0, the fit ends instead.
    least_gain : float
        Share of the sum of squares: a step that gains less is idle.
    patience : int
        The fit ends after so many idle steps in a row.
    enough : float
        A step that leaves a smaller sum of squares is the last one.

    Returns
    -------
    x : object
        After the last step that helped; the start, if none did.

    Examples
    --------
    >>> import numpy as np
    >>> def linearised(x, r):                        # Newton's method for a square root
    ...     return lambda damping: x - r[0] / (2 * x + damping)
    >>> x = levenberg_marquardt(lambda x: np.array([x**2 - 2]), linearised, 1.0, steps=9)
    >>> float(x.round(9))
    1.414213562
    """
    r, idle = residual(x), 0
    for _ in range(steps):
        # more and more damping, the lambda of eq-tanh-at-infinity-lm, until a step helps
        cost, stepped = r @ r, linearised(x, r)
        for _ in range(DAMPINGS if least_damping else 1):
            trial = stepped(damping)
            r = residual(trial)
            if r @ r < cost:
                break
            damping = max(4 * damping, least_damping)
        else:
            break
        x, damping = trial, damping / 5 if damping > 5 * least_damping else 0.0

        # the end, where all is well or several steps in a row have gained next to nothing
        idle = idle + 1 if cost - r @ r < least_gain * cost else 0
        if idle >= patience or r @ r < enough:
            break
    return x
