"""An SVM that learns and unlearns one example at a time, exactly [Cauwenberghs and Poggio 2001]."""

from copy import copy
from operator import index
from warnings import warn

import numpy as np
from tqdm import tqdm

from .bordered import Bordered
from .dual import dual_optimum
from .machine import KernelMachine

# On the margin (0 < a < C), at the bound (a = C), outside (a = 0), or forgotten (no conditions).
MARGIN, ERROR, REST, GONE = 0, 1, 2, 3
DEPENDENT = 1e-10  # relative size below which a pivot counts as zero
ROUNDING = 1e-10, 1e-13  # what the conditions may be violated by: in all, and of the terms of f
DUST = 1e-12  # of the largest multiplier, is what rounding leaves of one that has become 0
PATIENCE = 10  # events an example, before a path is given up and the optimum computed afresh


class IncrementalSVM:
    """A soft-margin SVM kept at its optimum while examples arrive one by one.

    The decision function is f(x) = f0(x) + sum_i a_i t_i K(x_i, x) - threshold, with a fixed
    function f0 (`base`, zero if left out), and the multipliers maximise
    sum_i a_i (1 - t_i f0(x_i)) - 1/2 sum_ij a_i a_j t_i t_j K(x_i, x_j)
    over 0 <= a_i <= C, sum_i a_i t_i = 0. With g_i = t_i f(x_i) - 1 the optimum is where

        g_i >= 0 if a_i = 0,   g_i = 0 if 0 < a_i < C,   g_i <= 0 if a_i = C.

    A new example's multiplier grows from 0; all others and the threshold move along so that
    these conditions keep holding, from event to event (an example reaches or leaves the margin),
    until the new example fulfils its own. To unlearn an example is the same film run backwards, and
    C is changed in the same way [Diehl and Cauwenberghs 2003]. Where a path gets lost (among
    examples that are nearly the same, say), the optimum is computed afresh by `dual_optimum`.

    Parameters
    ----------
    kernel : Linear, Polynomial, Tanh or Gaussian
    C : float, positive
        The soft margin's price of an error.
    base : KernelMachine, optional
        f0 is its decision function. Its kernel must be `kernel`.

    Attributes
    ----------
    X, y, a : arrays (n, d), (n,), (n,)
        Examples, labels and multipliers.
    threshold : float
        What is subtracted in f, beyond the base's own threshold. Where no multiplier lies strictly
        between 0 and C, a whole interval is optimal, and this is a point of it.
    restarts : int
        How often the optimum was computed afresh.

    Raises
    ------
    TypeError
        If the kernel is none.
    ValueError
        If C is not a positive number or the base has another kernel.

    Examples
    --------
    >>> from decon import Linear
    >>> svm = IncrementalSVM(Linear(), C=10.)
    >>> for x, t in [([0.], -1), ([2.], 1), ([3.], 1)]:
    ...     svm.learn(x, t)
    >>> svm.decision_function([[0.], [1.], [2.]]).round(6) + 0
    array([-1.,  0.,  1.])
    """

    def __init__(self, kernel, C=1.0, base=None):
        if not callable(kernel):
            raise TypeError(f"kernel must be one of decon's kernels, got {kernel!r}")
        if base is not None and base.kernel != kernel:
            raise ValueError(f"base has the kernel {base.kernel}, the examples {kernel}: one "
                             "kernel machine has one kernel")
        self.kernel, self.C, self.base = kernel, _price(C), base
        self.X = None
        self.y, self.a, self.g, self.set = np.empty(0), np.empty(0), np.empty(0), np.empty(0, int)
        self.f0 = np.empty(0)
        self.threshold = 0.0
        self.restarts = 0
        self._version = 0  # of the set of examples
        self._store = np.empty((0, 0))  # Q with room to grow
        self._margin = []  # indices on the margin, in the order of the system
        self._system = Bordered()
        self._last = None, None, None  # where we came back to last: its state, system, and g

    @property
    def Q(self):
        """The matrix t_i t_j K(x_i, x_j) of all examples."""
        return self._store[: len(self.y), : len(self.y)]

    @property
    def objective(self):
        """The dual objective at the present multipliers."""
        return float(self.a @ (1 - self.y * self.f0) - 0.5 * self.a @ self.Q @ self.a)

    @property
    def kkt_residual(self):
        """The largest violation of the optimality conditions; 0 up to rounding."""
        outside = np.maximum(-self.a, self.a - self.C).max(initial=0)
        return float(max(self._violations(self._exact_g()).max(initial=0), outside,
                         abs(self.a @ self.y)))

    def _violations(self, g):
        """By how much every example violates its condition, for g as given; at most 0 if not."""
        free = (self.a > 0) & (self.a < self.C)
        wrong = np.where(free, np.abs(g), np.where(self.a <= 0, -g, g))
        return np.where(self.set == GONE, 0.0, wrong)

    def _in_order(self, times=1):
        """Whether the conditions hold, but for rounding, or for so many times that."""
        lengths = np.sqrt(np.abs(self.Q.diagonal()))  # |Q_ij| is at most the product of two
        rounding = ROUNDING[0] + ROUNDING[1] * lengths * (lengths @ self.a)
        total = self.a.sum()
        balance = ROUNDING[0] * min(1.0, total) + ROUNDING[1] * total
        return bool((self._violations(self.g) <= times * rounding).all()
                    and abs(self.a @ self.y) <= times * balance)

    def decision_function(self, X):
        """f(x) at every row of X: array (n, d) gives an array (n,)."""
        return self.machine().decision_function(X)

    def machine(self):
        """The present classifier as one KernelMachine, the base included."""
        if self.X is None and self.base is None:
            raise ValueError("nothing has been learned yet: call learn(x, y) first")
        if self.X is None:
            return self.base
        used = self.a > 0
        Y, w, b = self.X[used], (self.a * self.y)[used], self.threshold
        if self.base is not None:
            Y = np.concatenate([self.base.support_vectors, Y])
            w = np.concatenate([self.base.weights, w])
            b += self.base.threshold
        return KernelMachine(self.kernel, Y, w, b)

    def learn(self, x, y):
        """Learn one example and restore the optimum of all examples seen.

        Parameters
        ----------
        x : array (d,)
        y : +1 or -1

        Raises
        ------
        ValueError
            If x has another length than the examples before it or is not finite, or y is
            another label. The machine stays as it was.
        """
        self._append(np.array(x, float), y)
        if self.g[-1] < 0:
            self._along(self._grow, len(self.y) - 1)
        else:  # it has room to spare, and nothing changes
            self._settle()

    def fit(self, X, y):
        """Learn many examples at once: the same optimum, without a path to it.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) of +1 and -1

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `learn`. The machine stays as it was.
        """
        X, y = np.asarray(X, float), np.asarray(y)
        if X.ndim != 2 or y.shape != X.shape[:1]:
            raise ValueError(f"expected X of shape (n, d) and y of shape (n,), got {X.shape} and "
                             f"{y.shape}")
        before = self.__dict__.copy()
        try:
            for x, t in zip(X, y, strict=True):
                self._append(x, t)
        except ValueError:
            self.__dict__.update(before)
            raise
        self._restart()
        return self

    def unlearn(self, i):
        """Forget example i, as if it had never been there; those after it move up by one.

        Raises
        ------
        IndexError
            If there is no such example.
        """
        i = self._number(i)
        self.forget(i)
        self._remove(i)

    def forget(self, i):
        """Unlearn example i, but keep its place: its multiplier is 0, and its number stays.

        Raises
        ------
        IndexError
            If there is no such example.
        """
        i = self._number(i)
        if self.set[i] == REST:
            self.set[i] = GONE
            self._settle()
        else:
            self._along(self._shrink, i)

    def _number(self, i):
        """An example's number, from 0, which may be given from the end."""
        n = len(self.y)
        if not -n <= index(i) < n:
            raise IndexError(f"there is no example {i}: {n} have been learned")
        return index(i) % n

    def change_C(self, C):
        """Change the price of an error.

        Raises
        ------
        ValueError
            If C is not positive.
        """
        self._along(self._stretch, _price(C))

    def leave_one_out(self, progress=False):
        """f at every example, when all others have been learned and this one has not.

        Parameters
        ----------
        progress : bool
            Show a progress bar when it takes more than a few seconds.

        Returns
        -------
        array (n,)
            The examples with other signs than y are the errors of leave-one-out cross validation.
        """
        f = self.y * (self._exact_g() + 1)  # right where a = 0: nothing changes
        state = self.state()
        for i in tqdm(np.flatnonzero(self.a > 0), "leaving one out", delay=3, leave=False,
                      disable=not progress, unit=" examples"):
            self.forget(i)
            f[i] = self.y[i] * (self._exact_g([i])[0] + 1)
            self.return_to(state)
        return f

    def state(self):
        """What `return_to` needs to come back to this optimum: a tuple of small arrays."""
        return (self.a.copy(), self.set.copy(), self._margin.copy(), self.threshold,
                (self._version, self.C))

    def return_to(self, state):
        """Come back to an earlier optimum, of the same examples and the same C.

        Raises
        ------
        ValueError
            If examples have been learned or unlearned since, or C is another. (What has been
            forgotten comes back.)
        """
        if state[4] != (self._version, self.C):
            raise ValueError("this state is of other examples, or of another C: a state cannot be "
                             "returned to after learn, fit, unlearn or change_C")
        self.a, self.set, self._margin, self.threshold = (
            state[0].copy(), state[1].copy(), state[2].copy(), state[3])
        if state is not self._last[0]:
            self._set_up()
            self._last = state, self._system, self._exact_g()
        self._system, self.g = copy(self._last[1]), self._last[2].copy()

    def _set_up(self):
        """The bordered system of the margin, from nothing."""
        S = self._margin
        self._system = Bordered(self.y[S], self.Q[np.ix_(S, S)])

    def _along(self, path, *argument):
        """Follow a path to its end; where it gets lost, go there at once."""
        lost, largest = False, self.a.max(initial=0)
        try:
            path(*argument)
        except ArithmeticError:
            lost = True
        if path == self._stretch:
            self.C = argument[0]
        used = self.a > 0
        alone = len(np.unique(self.y[used])) < 2  # then sum_i a_i t_i = 0 leaves no room
        dust = used & (alone | (self.a < DUST * largest))
        self.a[dust], lost = 0, lost or dust.any()
        self.a.clip(0, self.C, out=self.a)
        if not lost:
            self._polish()
        if lost or not self._in_order():
            self._restart()
        else:
            self._settle()

    def _restart(self):
        """The optimum, computed afresh from where we are."""
        self.restarts += 1
        p, known = 1 - self.y * self.f0, self.set != GONE
        self.a[~known] = 0
        self.a[known] = a = dual_optimum(self.Q[np.ix_(known, known)], self.y[known], p[known],
                                         self.C, self.a[known])
        self.set[known] = np.where(a <= 0, REST, np.where(a >= self.C, ERROR, MARGIN))
        free = np.flatnonzero(self.set == MARGIN)
        self._margin = free.tolist()
        self._set_up()
        if len(free):
            slack = self.y * (self.Q @ self.a - p)  # what the threshold has to be, for each
            self.threshold = float(np.median(slack[free]))
            self._polish()
        self._settle()
        if not self._in_order(1e4):
            warn(f"the optimum is known only up to a KKT residual of {self.kkt_residual:.0e}: the "
                 "kernel values are of very different sizes, scale the examples", stacklevel=4)

    def _settle(self):
        """Without a multiplier between the bounds the threshold has room: take one point of it.

        The middle; with a base the one nearest to the base's own. With no example left it is 0.
        """
        if ((self.a[self._margin] > 0) & (self.a[self._margin] < self.C)).any():
            return
        self.set[self._margin] = np.where(self.a[self._margin] > 0, ERROR, REST)
        self._margin, self._system = [], Bordered()
        known = self.set != GONE
        slack = self.y * (self.Q @ self.a - 1) + self.f0
        above = slack[known & np.where(self.y > 0, self.a < self.C, self.a > 0)]
        below = slack[known & np.where(self.y > 0, self.a > 0, self.a < self.C)]
        ends = below.max(initial=-np.inf), above.min(initial=np.inf)
        finite = [end for end in ends if np.isfinite(end)]
        if self.base is None and finite:
            self.threshold = float(np.mean(finite))
        else:
            self.threshold = float(np.clip(0.0, *ends))
        self.g = self._exact_g()

    def _grow(self, c):
        """Let example c's multiplier grow until all conditions hold."""
        self._follow(lambda: self.g[c] < -1e-12 and self.set[c] == REST, self._step, c, 1)
        if self.set[c] == REST and self.a[c] > 0:  # its margin was reached along with another's
            self._enter_margin(c)

    def _shrink(self, c):
        """Let example c's multiplier shrink to 0, the conditions of all others holding."""
        if self.set[c] == MARGIN:
            self._leave_margin(c, GONE)
        self.set[c] = GONE
        self._follow(lambda: self.a[c] > 0, self._step, c, -1)

    def _stretch(self, C):
        """Let C go to another value, and the multipliers at the bound with it."""
        self._follow(lambda: self.C != C, self._step_of_C, C)

    def _follow(self, goes_on, step, *argument):
        """From event to event, as long as the path goes on."""
        for _ in range(PATIENCE * (len(self.y) + 10)):
            if not goes_on():
                return
            step(*argument)
        raise ArithmeticError("no end of events")

    def _remove(self, c):
        """Take away example c, which has been forgotten."""
        n = len(self.y)
        rest = np.delete(np.arange(n), c)
        Q = self._store
        Q[:c, c : n - 1], Q[c : n - 1, :c] = Q[:c, c + 1 : n], Q[c + 1 : n, :c]
        Q[c : n - 1, c : n - 1] = Q[c + 1 : n, c + 1 : n]
        for name in ("X", "y", "f0", "a", "g", "set"):
            setattr(self, name, getattr(self, name)[rest])
        self._margin = [k - (k > c) for k in self._margin]
        self._version += 1

    # -- one step of the path ---------------------------------------------------------------

    def _append(self, x, y):
        d = len(x) if self.X is None and x.ndim == 1 else None
        d = self.X.shape[1] if d is None and self.X is not None else d
        if x.ndim != 1 or len(x) != d:
            shape = "(d,)" if d is None else f"({d},)"
            raise ValueError(f"expected one example of shape {shape}, got shape {x.shape}")
        if not np.isfinite(x).all():
            raise ValueError(f"an example must be finite, without NaN or infinity, got {x}")
        if np.ndim(y) or isinstance(y, (bool, np.bool_)) or y not in (-1, 1):
            raise ValueError(f"y must be +1 or -1, got {y!r}")
        n = len(self.y)
        X = x[None].copy() if self.X is None else np.concatenate([self.X, x[None]])
        with np.errstate(over="ignore", invalid="ignore"):
            column = self.kernel(X, x[None])[:, 0]
            f0 = 0.0 if self.base is None else self.base.decision_function(x[None])[0]
        if not (np.isfinite(column).all() and np.isfinite(f0)):
            raise ValueError("the kernel overflows at this example: scale the features")
        if n == len(self._store):
            bigger = np.zeros((2 * n + 8, 2 * n + 8))
            bigger[:n, :n] = self._store
            self._store = bigger
        self.X, self.y = X, np.append(self.y, float(y))
        self._store[n, : n + 1] = self._store[: n + 1, n] = y * self.y * column
        self.f0 = np.append(self.f0, f0)
        self.a, self.set = np.append(self.a, 0.0), np.append(self.set, REST)
        self.g = np.append(self.g, 0.0)
        self.g[n] = self._exact_g([n])[0]
        self._version += 1

    def _exact_g(self, rows=slice(None)):
        return self.Q[rows] @ self.a + self.y[rows] * (self.f0[rows] - self.threshold) - 1

    def _step(self, c, sign):
        """Let a_c grow (sign 1) or shrink (-1), until the first example changes its set."""
        S = self._margin
        if S:
            beta = -sign * self._system.solve(np.r_[self.y[c], self.Q[S, c]])  # (-threshold, a_S)
            gamma = sign * self.Q[c] + beta[1:] @ self.Q[S] + self.y * beta[0]
            small = DEPENDENT * np.sqrt(np.abs(self.Q.diagonal() * self.Q[c, c]))
        else:  # only the threshold moves: until g_c is 0, or another that can make up for a_c
            beta = np.array([sign * self.y[c]])
            gamma, small = self.y * beta[0], 0.0
        room = self._room(gamma, beta, small, c)
        if sign > 0 and gamma[c] > 0:
            room[c] = -self.g[c] / gamma[c]
        full = np.inf if not S else self.C - self.a[c] if sign > 0 else self.a[c]
        first = int(np.argmin(room))
        length = min(room[first], full)
        if not np.isfinite(length):
            raise ArithmeticError("nothing stops the path")
        self.a[c] += length * sign * bool(S)
        self._go(length, beta, gamma)
        if full <= room[first]:
            self.a[c], self.set[c] = (self.C, ERROR) if sign > 0 else (0.0, GONE)
        else:
            self._change(first)

    def _step_of_C(self, C):
        """Let C move towards another value, until the first example changes its set."""
        S, sign = self._margin, np.sign(C - self.C)
        moving = sign * (self.set == ERROR)
        if S:
            beta = -self._system.solve(np.r_[self.y @ moving, self.Q[S] @ moving])
        else:
            beta = np.zeros(1)
        gamma = self.Q @ moving + beta[1:] @ self.Q[S] + self.y * beta[0]
        scale = np.sqrt(np.abs(self.Q.diagonal() * self.Q.diagonal().max(initial=0)))
        room = self._room(gamma, beta, DEPENDENT * scale, None, sign)
        first = int(np.argmin(room)) if len(room) else 0
        length = min(room.min(initial=np.inf), abs(C - self.C))
        self._go(length, beta, gamma)
        self.C = C if length == abs(C - self.C) else self.C + sign * length
        self.a[self.set == ERROR] = self.C
        if self.C != C:
            self._change(first)

    def _room(self, gamma, beta, small, c, rate=0.0):
        """How far until example i changes its set: array (n,). The bound C moves at a rate."""
        S = self._margin
        gamma[S] = 0
        gamma[np.abs(gamma) <= small] = 0
        room = np.full(len(self.y), np.inf)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            leaves = ((self.set == ERROR) & (gamma > 0)) | ((self.set == REST) & (gamma < 0))
            if c is not None:
                leaves[c] = False
            room[leaves] = np.maximum(-self.g[leaves] / gamma[leaves], 0)
            rises, falls = beta[1:] - rate > 0, beta[1:] < 0
            to_C = np.where(rises, (self.C - self.a[S]) / (beta[1:] - rate), np.inf)
            to_0 = np.where(falls, -self.a[S] / beta[1:], np.inf)
            room[S] = np.maximum(np.minimum(to_C, to_0), 0)
        return room

    def _go(self, length, beta, gamma):
        """Move along; a step that changes the threshold moves all g."""
        self.a[self._margin] += length * beta[1:]
        self.threshold -= length * beta[0]
        self.g += length * gamma

    def _change(self, k):
        """Example k reaches a bound, or the margin."""
        if self.set[k] == MARGIN:
            full = self.a[k] > self.C / 2
            self.a[k] = self.C if full else 0.0
            self._leave_margin(k, ERROR if full else REST)
        else:
            self._enter_margin(k)

    def _enter_margin(self, k):
        self.g[k] = 0.0
        border = np.r_[self.y[k], self.Q[self._margin, k]]
        smallest = DEPENDENT * np.abs(self.Q.diagonal()).max()
        if self._system.enter(border, self.Q[k, k], smallest):
            self.set[k] = MARGIN
            self._margin.append(k)
        elif self._exchange(k, -self._system.solve(border)):
            self._enter_margin(k)

    def _exchange(self, k, beta):
        """k depends on the margin: shift weight between them, changing no margin, till one is full.

        True when a member of the margin has left it, so that k can enter.
        """
        S = self._margin
        sign = 1.0 if self.a[k] < self.C / 2 else -1.0
        move = sign * beta[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.where(move > 0, self.C, 0.0)
            room = np.where(np.abs(move) > DEPENDENT, (bound - self.a[S]) / move, np.inf)
        j = int(np.argmin(room))
        end = self.C if sign > 0 else 0.0
        own = abs(end - self.a[k])
        t = min(max(room[j], 0.0), own)
        self.a[S] += t * move
        self.a[k] += t * sign
        if own <= room[j]:
            self.a[k], self.set[k] = end, ERROR if sign > 0 else REST
            return False
        leaver = S[j]
        self.a[leaver] = bound[j]
        self._leave_margin(leaver, ERROR if bound[j] > 0 else REST)
        return True

    def _leave_margin(self, k, new_set):
        j = self._margin.index(k)
        self._margin.remove(k)
        self.set[k] = new_set
        self._system.leave(j)

    def _polish(self):
        """Remove what rounding has left in the margin's g."""
        self.g = self._exact_g()
        S = self._margin
        if S and np.abs(self.g[S]).max() > 1e-12:
            change = -self._system.solve(np.r_[self.a @ self.y, self.g[S]])
            a = self.a[S] + change[1:]
            if (a >= 0).all() and (a <= self.C).all():
                self.a[S] = a
                self.threshold -= change[0]
                self.g = self._exact_g()


def _price(C):
    """C as a float, if it is a positive number."""
    try:
        good = 0 < float(C) < np.inf
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ValueError(f"C must be a finite number > 0, got {C!r}")
    return float(C)
