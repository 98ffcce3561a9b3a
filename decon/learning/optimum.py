"""The optimum of the dual programme while examples come and go, and how exact it is."""

from copy import copy
from warnings import warn

import numpy as np

from ..types import Array
from .bordered import Bordered
from .kkt import threshold_bounds, violations
from .qp import dual_optimum
from .settings import SETTINGS

# On the margin (0 < a < C), in error (a = C), at rest (a = 0), or out of use (no conditions).
MARGIN, ERROR, REST, INACTIVE = 0, 1, 2, 3


class Optimum:
    """Multipliers and a threshold at the optimum of an SVM's dual programme.

    Knows neither kernel nor features: only labels t_i = y_i, the matrix Q and the values f0 of the
    base function at the examples. The dual programme is that of `IncrementalSVM`.

    Parameters
    ----------
    C : float, positive
        Upper bound of the multipliers of examples whose weight is 1.
    has_base : bool
        Whether there is a base function, whose threshold is then preferred.

    Attributes
    ----------
    y, f0, a, g : arrays (n,)
        Labels, values of the base function, multipliers, and g_i = t_i f(x_i) - 1.
    weight : array (n,)
        The upper bound of a_i is C times the weight of example i; weight 0 puts it out of use.
    part : array (n,) of ints
        MARGIN, ERROR, REST or INACTIVE, for each example.
    margin : list of ints
        The examples on the margin, in the order of `system`.
    system : Bordered
        Their bordered system.
    threshold : float
    restarts : int
        How often the optimum was computed afresh.
    """

    def __init__(self, C: float, has_base: bool = False):
        self.C, self.has_base, self.threshold, self.restarts = C, has_base, 0.0, 0
        self.y, self.f0, self.a, self.g, self.weight = (np.empty(0) for _ in range(5))
        self.part = np.empty(0, int)
        self._store = np.empty((0, 0))  # Q, with room to grow
        self.margin: list[int] = []
        self.system = Bordered()
        self._returned: tuple = None, None, None  # the state returned to last, its system and g

    @property
    def Q(self) -> Array:
        """The matrix t_i t_j K(x_i, x_j): array (n, n)."""
        return self._store[: len(self.y), : len(self.y)]

    @property
    def bounds(self) -> Array:
        """The upper bounds C_i of the multipliers: array (n,)."""
        return self.C * self.weight

    def append(self, kernel_values: Array, y: float, f0: float, weight: float = 1.0) -> None:
        """Add one example with the multiplier 0.

        Parameters
        ----------
        kernel_values : array (n + 1,)
            K(x_i, x) for all examples x_i, the new one last.
        y : +1 or -1
        f0 : float
            Value of the base function.
        weight : float, not negative
        """
        n = len(self.y)
        if n == len(self._store):
            self._store = np.pad(self._store, (0, n + 8))
        self.y, self.f0 = np.append(self.y, y), np.append(self.f0, f0)
        self.weight, self.a = np.append(self.weight, weight), np.append(self.a, 0.0)
        self.part = np.append(self.part, REST if weight > 0 else INACTIVE)
        self.Q[n] = self.Q[:, n] = y * self.y * kernel_values
        self.g = np.append(self.g, self.exact_g([n]))

    def delete(self, i: int) -> None:
        """Take away an example that is inactive; those after it move up by one.

        Parameters
        ----------
        i : int
            The example's number, from 0.
        """
        Q = self.Q
        Q[i:-1] = Q[i + 1 :]
        Q[:, i:-1] = Q[:, i + 1 :]
        for name in ("y", "f0", "a", "g", "weight", "part"):
            setattr(self, name, np.delete(getattr(self, name), i))
        self.margin = [k - (k > i) for k in self.margin]

    def replace_kernel(self, K: Array) -> None:
        """Take other kernel values; the multipliers stay, and are optimal no more.

        Parameters
        ----------
        K : array (n, n)
            The new kernel matrix of the examples.
        """
        self._store = np.outer(self.y, self.y) * K
        self.y = self.y.copy()  # so that `return_to` knows states of the old kernel
        self._set_margin(self.margin)
        self.g = self.exact_g()

    def exact_g(self, rows: slice | list[int] = slice(None)) -> Array:
        """g_i = t_i f(x_i) - 1, computed by its definition.

        Parameters
        ----------
        rows : slice or list of ints
            Which examples; all of them if left out.

        Returns
        -------
        array (len(rows),)
        """
        return self.Q[rows] @ self.a + self.y[rows] * (self.f0[rows] - self.threshold) - 1

    @property
    def objective(self) -> float:
        """The dual objective at the present multipliers: a float."""
        return float(self.a @ (1 - self.y * self.f0) - 0.5 * self.a @ self.Q @ self.a)

    @property
    def kkt_residual(self) -> float:
        """The largest violation of the optimality conditions, a float; 0 up to rounding."""
        outside = np.maximum(-self.a, self.a - self.bounds).max(initial=0)
        wrong = self.violations(self.exact_g()).max(initial=outside)
        return float(max(wrong, abs(self.a @ self.y)))

    def violations(self, g: Array) -> Array:
        """By how much each active example violates its condition.

        Parameters
        ----------
        g : array (n,)
            t_i f(x_i) - 1.

        Returns
        -------
        array (n,)
            As `kkt.violations`; 0 for inactive examples.
        """
        return np.where(self.part == INACTIVE, 0.0, violations(g, self.a, self.bounds))

    def is_exact(self, times: float = 1.0) -> bool:
        """Whether the conditions hold up to rounding, with g as it is stored.

        Parameters
        ----------
        times : float
            So many times what counts as rounding is allowed.

        Returns
        -------
        bool
        """
        # |Q_ij| is at most the product of two lengths (Cauchy-Schwarz): these are the terms of g_i
        lengths = np.sqrt(np.abs(self.Q.diagonal()))
        rounding = SETTINGS.violation + SETTINGS.violation_of_terms * lengths * (lengths @ self.a)

        # and these are the terms of sum_i a_i t_i
        total = self.a.sum()
        balance = SETTINGS.violation * min(1.0, total) + SETTINGS.violation_of_terms * total
        return bool((self.violations(self.g) <= times * rounding).all()
                    and abs(self.a @ self.y) <= times * balance)

    def polish(self) -> None:
        """Remove what rounding has left of the margin's g, and compute all g afresh."""
        self.g = self.exact_g()
        S = self.margin

        # a Newton step: g = 0 on the margin and sum_i a_i t_i = 0, if it stays within the bounds
        if S and np.abs(self.g[S]).max() > SETTINGS.reached:
            change = -self.system.solve(np.r_[self.a @ self.y, self.g[S]])
            a = self.a[S] + change[1:]
            if (a >= 0).all() and (a <= self.bounds[S]).all():
                self.a[S] = a
                self.threshold -= change[0]
                self.g = self.exact_g()

    def restart(self) -> None:
        """Compute the optimum afresh, by `dual_optimum` from where we are.

        Warns
        -----
        UserWarning
            If rounding keeps it far from the optimum.
        """
        self.restarts += 1

        # the dual programme (eq-learning-and-unlearning-dual) of the active examples, and who is on
        # the margin at its optimum
        p, active, top = 1 - self.y * self.f0, self.part != INACTIVE, self.bounds
        self.a[~active] = 0
        self.a[active] = a = dual_optimum(self.Q[np.ix_(active, active)], self.y[active],
                                          p[active], top[active], self.a[active])
        self.part[active] = np.where(a <= 0, REST, np.where(a >= top[active], ERROR, MARGIN))
        self._set_margin(np.flatnonzero(self.part == MARGIN).tolist())

        # the threshold at which g = 0 on the margin: g_i = t_i (v_i - b)
        # (eq-learning-and-unlearning-g)
        if self.margin:
            v = self.y * (self.Q @ self.a - p)
            self.threshold = float(np.median(v[self.margin]))
            self.polish()
        self.settle_threshold()

        # within 10^4 times the usual rounding there is nothing to worry about
        if not self.is_exact(1e4):
            warn(f"the optimum is known only up to a KKT residual of {self.kkt_residual:.0e}: the "
                 "kernel values are of very different sizes, scale the examples", stacklevel=6)

    def settle_threshold(self) -> None:
        """If no multiplier is between the bounds, take one point of the threshold's interval.

        The middle; with a base the one nearest to the base's own. With no example left it is 0.
        """
        a = self.a[self.margin]
        if ((a > 0) & (a < self.bounds[self.margin])).any():
            return
        self.part[self.margin] = np.where(a > 0, ERROR, REST)
        self._set_margin([])

        # the interval that the KKT conditions allow: max v_i <= b <= min v_i, each over its side
        # (eq-soft-margin-interval)
        v, active = self.y * (self.Q @ self.a - 1) + self.f0, self.part != INACTIVE
        lower, upper = threshold_bounds(v, self.y, self.a, self.bounds)
        ends = lower[active].max(initial=-np.inf), upper[active].min(initial=np.inf)

        # its middle, its only finite end, or what is nearest to the base's own threshold
        finite = [end for end in ends if np.isfinite(end)]
        middle = np.mean(finite) if finite and not self.has_base else np.clip(0.0, *ends)
        self.threshold = float(middle)
        self.g = self.exact_g()

    def state(self) -> tuple:
        """What `return_to` needs to come back to this optimum.

        Returns
        -------
        tuple
            Of small arrays: the matrix Q is not among them.
        """
        return (self.y, self.C, self.threshold,
                self.a.copy(), self.part.copy(), self.margin.copy())

    def return_to(self, state: tuple) -> None:
        """Come back to an earlier optimum, of the same examples and the same C.

        Parameters
        ----------
        state : tuple
            What `state` returned there.

        Raises
        ------
        ValueError
            If examples have been learned or unlearned since, or C is another. (What has been
            deactivated comes back.)
        """
        y, C, threshold, a, part, margin = state
        if y is not self.y or C != self.C:  # another array of labels belongs to other examples
            raise ValueError("this state is of other examples, or of another C: a state cannot be "
                             "returned to after learn, fit, unlearn or change_C")
        self.threshold, self.a, self.part = threshold, a.copy(), part.copy()

        # system and g are the same as the last time, if it was this state
        if state is not self._returned[0]:
            self._set_margin(margin)
            self._returned = state, self.system, self.exact_g()
        self.margin, self.system = margin.copy(), copy(self._returned[1])
        self.g = self._returned[2].copy()

    def _set_margin(self, S):
        """These examples are the margin: their bordered system, from nothing."""
        self.margin, self.system = S, Bordered(self.y[S], self.Q[np.ix_(S, S)])
