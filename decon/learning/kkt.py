"""The Karush-Kuhn-Tucker conditions of a support vector machine, once for all who need them.

Let 0 <= a_i <= C, sum_i a_i t_i = 0 and g_i = t_i f(x_i) - 1. Multipliers and a threshold b are
optimal if and only if

    g_i >= 0 where a_i < C (it may grow),    g_i <= 0 where a_i > 0 (it may shrink).

With g_i = t_i (v_i - b), the same conditions bound the threshold by the numbers v_i: b <= v_i where
a_i t_i may grow, and b >= v_i where a_i t_i may shrink.
"""

import numpy as np

from ..types import Array, ArrayLike


def violations(g: Array, a: Array, C: float | Array) -> Array:
    """By how much each example violates its condition on g_i.

    Parameters
    ----------
    g : array (n,)
        t_i f(x_i) - 1.
    a : array (n,)
        Multipliers.
    C : float or array (n,)
        Their upper bound, or that of each; may be infinite.

    Returns
    -------
    array (n,)
        At most 0 where the condition holds; |g_i| where 0 < a_i < C.

    Examples
    --------
    >>> violations(np.array([.5, .5, .5]), np.array([0., 1., 2.]), C=2.)
    array([-0.5,  0.5,  0.5])
    """
    return np.maximum(np.where(a < C, -g, -np.inf), np.where(a > 0, g, -np.inf))


def threshold_bounds(v: Array, t: Array, a: Array, C: float | Array) -> tuple[Array, Array]:
    """The bounds that each example sets to the threshold.

    Parameters
    ----------
    v : array (n,)
        The threshold at which t_i f(x_i) = 1: v_i = t_i (Q a - p)_i for the dual programme with
        the linear term p; sum_j a_j t_j K_ij - t_i for an SVM.
    t : array (n,) of +1 and -1
    a : array (n,)
        Multipliers.
    C : float or array (n,)
        Their upper bound, or that of each; may be infinite.

    Returns
    -------
    lower, upper : arrays (n,)
        v_i or no bound, -infinity and infinity. Where 0 < a_i < C both are v_i.

    Examples
    --------
    >>> threshold_bounds(np.array([1., 2.]), np.array([-1., 1.]), np.array([0., .5]), C=2.)
    (array([1., 2.]), array([inf,  2.]))
    """
    may_grow = np.where(t > 0, a < C, a > 0)
    may_shrink = np.where(t > 0, a > 0, a < C)
    return np.where(may_shrink, v, -np.inf), np.where(may_grow, v, np.inf)


def distances_to_bounds(a: Array, rates: Array, C: float | Array,
                        drift: float | Array = 0.0) -> Array:
    """How far each multiplier can move at a constant rate until it is 0 or C.

    Parameters
    ----------
    a, rates : arrays (n,)
        Multipliers and their rates.
    C : float or array (n,)
        Their upper bound, or that of each; may be infinite.
    drift : float or array (n,)
        Rate of the bound C itself.

    Returns
    -------
    array (n,)
        Infinity for a multiplier that meets no bound.

    Examples
    --------
    >>> distances_to_bounds(np.array([1., 1., 1.]), np.array([.5, -.5, 0.]), C=3.)
    array([ 4.,  2., inf])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        to_C = np.where(rates > drift, (C - a) / (rates - drift), np.inf)
        to_0 = np.where(rates < 0, -a / rates, np.inf)
    return np.minimum(to_C, to_0)


def violating_pair(lower: Array, upper: Array) -> tuple[float, int, int]:
    """The two examples whose bounds on the threshold contradict each other most.

    Parameters
    ----------
    lower, upper : arrays (n,)
        Of `threshold_bounds`.

    Returns
    -------
    gap : float
        lower_j - upper_i; at most 0 if some threshold fulfils all conditions.
    i, j : ints

    Examples
    --------
    >>> violating_pair(np.array([0., -np.inf]), np.array([2., -1.]))
    (1.0, 1, 0)
    """
    i, j = int(np.argmin(upper)), int(np.argmax(lower))
    return float(lower[j] - upper[i]), i, j


def threshold_interval(K: Array, t: Array, a: Array,
                       C: float | Array = np.inf) -> tuple[float, float]:
    """All thresholds b that the conditions allow an SVM of given multipliers: (lower, upper).

    Each condition on t_i f_i compares b with v_i = sum_j a_j t_j K_ij - t_i: b <= v_i where a_i
    could still grow along with t_i, b >= v_i where it could shrink. A multiplier strictly
    between 0 and C does both, and pins b down.

    Parameters
    ----------
    K, t, a, C :
        As in `kkt_residuals`.

    Returns
    -------
    lower, upper : floats
        Equal, up to rounding, where there is such a multiplier. lower > upper by more than that
        says that a is not optimal.

    Examples
    --------
    >>> threshold_interval(np.diag([1., 1.]), np.array([-1., 1.]), np.array([.5, .5]), C=.5)
    (-0.5, 0.5)
    """
    lower, upper = threshold_bounds(K @ (a * t) - t, t, a, C)
    return float(lower.max()), float(upper.min())


def kkt_residuals(K: ArrayLike, t: ArrayLike, a: ArrayLike, b: float,
                  C: float | Array = np.inf) -> dict[str, float]:
    """How far multipliers and a threshold are from the Karush-Kuhn-Tucker conditions (Eq. 9).

    With f_i = sum_j a_j t_j K_ij - b, slacks xi_i = max(0, 1 - t_i f_i) and the multipliers
    mu_i = C - a_i of xi_i >= 0, what is left to ask is below; each entry is its largest violation.
    (Without the slacks, they are the conditions of `violations`.)

    Parameters
    ----------
    K : array (N, N)
        Gram matrix of the examples.
    t, a : arrays (N,)
        Labels and multipliers, of whatever solver.
    b : float
        Threshold (minus scikit-learn's `intercept_`).
    C : float or array (N,)
        The upper bound of the multipliers, or that of each; infinity for a hard margin, where
        xi_i itself must be 0.

    Returns
    -------
    residuals : dict
        'a >= 0', 'a <= C', 'sum a t = 0', 'a (t f - 1 + xi) = 0' and 'mu xi = 0' ('xi = 0' for a
        hard margin), all zero at the optimum.

    Examples
    --------
    >>> K = [[0., 0.], [0., 4.]]                        # the points 0 and 2 on a line
    >>> kkt_residuals(K, [-1, 1], [0.5, 0.5], b=1.)     # doctest: +NORMALIZE_WHITESPACE
    {'a >= 0': 0.0, 'a <= C': 0.0, 'sum a t = 0': 0.0, 'a (t f - 1 + xi) = 0': 0.0, 'xi = 0': 0.0}
    """
    K, t, a = (np.asarray(array, float) for array in (K, t, a))

    # t_i f_i, and the smallest slacks that it allows (soft-margin-hinge)
    margins = t * (K @ (a * t) - b)
    xi = np.maximum(0, 1 - margins)

    # feasibility, and complementary slackness (eq-soft-margin-kkt)
    residuals = {
        "a >= 0": np.maximum(0, -a),
        "a <= C": np.maximum(0, a - C),
        "sum a t = 0": abs(a @ t),
        "a (t f - 1 + xi) = 0": np.abs(a * (margins - 1 + xi)),
    }
    hard = np.isinf(C).all()
    residuals |= {"xi = 0": xi} if hard else {"mu xi = 0": np.abs((C - a) * xi)}
    return {name: float(np.max(value)) for name, value in residuals.items()}
