"""An SVM that learns one example at a time, exactly [Cauwenberghs and Poggio 2001]."""

import numpy as np

from .machine import KernelMachine

MARGIN, ERROR, REST = 0, 1, 2  # on the margin (0 < a < C), at the bound (a = C), outside (a = 0)
DEPENDENT = 1e-10  # relative size below which a pivot counts as zero


class IncrementalSVM:
    """A soft-margin SVM kept at its optimum while examples arrive one by one.

    The decision function is f(x) = f0(x) + sum_i a_i t_i K(x_i, x) - threshold, with a fixed
    function f0 (`base`, zero if left out), and the multipliers maximise
    sum_i a_i (1 - t_i f0(x_i)) - 1/2 sum_ij a_i a_j t_i t_j K(x_i, x_j)
    over 0 <= a_i <= C, sum_i a_i t_i = 0. With g_i = t_i f(x_i) - 1 the optimum is where

        g_i >= 0 if a_i = 0,   g_i = 0 if 0 < a_i < C,   g_i <= 0 if a_i = C.

    A new example's multiplier grows from 0; all others and the threshold move along so that
    these conditions keep holding, from event to event (an example reaches or leaves the margin),
    until the new example fulfils its own.

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
        What is subtracted in f, beyond the base's own threshold.

    Raises
    ------
    ValueError
        If C is not positive or the base has another kernel.

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
        if not np.isfinite(C) or C <= 0:
            raise ValueError(f"C must be a finite number > 0, got {C!r}")
        if base is not None and base.kernel != kernel:
            raise ValueError(f"base has the kernel {base.kernel}, the examples {kernel}: one "
                             "kernel machine has one kernel")
        self.kernel, self.C, self.base = kernel, float(C), base
        self.X = None
        self.y, self.a, self.g, self.set = np.empty(0), np.empty(0), np.empty(0), np.empty(0, int)
        self.f0 = np.empty(0)
        self.threshold = 0.0
        self._store = np.empty((0, 0))  # Q with room to grow
        self._margin = []  # indices on the margin, in the order of the inverse
        self._inverse = np.zeros((1, 1))  # of [[0, t^T], [t, Q]] over the margin

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
        if not len(self.y):
            return 0.0
        g = self._exact_g()
        free = (self.a > 0) & (self.a < self.C)
        wrong = np.where(free, np.abs(g), np.where(self.a <= 0, -g, g))
        outside = np.maximum(-self.a, self.a - self.C)
        return float(max(wrong.max(), outside.max(), abs(self.a @ self.y), 0.0))

    def decision_function(self, X):
        """f(x) at every row of X: array (n, d) gives an array (n,)."""
        return self.machine(X).decision_function(X)

    def machine(self, X=None):
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
        ArithmeticError
            If the path does not end, because the kernel matrix is nearly singular or, with a
            tanh kernel, indefinite. The machine stays as it was.
        """
        before = self._state()
        self._append(np.array(x, float), y)
        try:
            self._settle(len(self.y) - 1)
        except ArithmeticError:
            self.__dict__.update(before)
            raise

    def _state(self):
        """All that learning changes, to come back to."""
        arrays = {name: getattr(self, name).copy() for name in ("a", "g", "set", "_inverse")}
        kept = {name: getattr(self, name) for name in ("X", "y", "f0", "threshold", "_store")}
        return arrays | kept | {"_margin": self._margin.copy()}

    def _settle(self, c):
        """Let example c's multiplier grow until all conditions hold."""
        steps = 0
        while self.g[c] < -1e-12 and self.set[c] == REST:
            self._step(c)
            steps += 1
            if steps > 100 * (len(self.y) + 10):
                raise ArithmeticError(
                    f"learning example {c} did not end after {steps} events (KKT residual "
                    f"{self.kkt_residual:.1g}): the kernel matrix is nearly singular, or "
                    "indefinite (tanh); add a little noise to duplicated examples, or lower C"
                )
        if self.set[c] == REST and self.a[c] > 0:  # its margin was reached along with another's
            self._enter_margin(c)
        self._polish()

    # -- one step of the path ---------------------------------------------------------------

    def _append(self, x, y):
        d = len(x) if self.X is None and x.ndim == 1 else None
        d = self.X.shape[1] if d is None and self.X is not None else d
        if x.ndim != 1 or len(x) != d or not np.isfinite(x).all():
            raise ValueError(f"expected one finite example of shape ({d},), got shape {x.shape}")
        if y not in (-1, 1):
            raise ValueError(f"y must be +1 or -1, got {y!r}")
        n = len(self.y)
        X = x[None] if self.X is None else np.concatenate([self.X, x[None]])
        column = self.kernel(X, x[None])[:, 0]
        f0 = 0.0 if self.base is None else self.base.decision_function(x[None])[0]
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

    def _exact_g(self, rows=slice(None)):
        return self.Q[rows] @ self.a + self.y[rows] * (self.f0[rows] - self.threshold) - 1

    def _step(self, c):
        """Move as far as no example changes its set, then let the first one change it."""
        S = self._margin
        grow = 1.0 if S else 0.0  # with an empty margin only the threshold moves: g_c grows
        if S:
            beta = -self._solve(np.r_[self.y[c], self.Q[S, c]])  # (-threshold, a_S) per unit of a_c
        else:
            beta = np.array([self.y[c]])
        gamma = grow * self.Q[:, c] + self.Q[:, S] @ beta[1:] + self.y * beta[0]
        gamma[S] = 0
        small = DEPENDENT * np.sqrt(np.abs(self.Q.diagonal() * self.Q[c, c])) if S else 0.0
        gamma[np.abs(gamma) <= small] = 0

        room = np.full(len(self.y), np.inf)  # how far until example i changes its set
        with np.errstate(divide="ignore", invalid="ignore"):
            rising = (self.set == ERROR) & (gamma > 0)
            falling = (self.set == REST) & (gamma < 0)
            falling[c] = False
            leaves = rising | falling
            room[leaves] = np.maximum(-self.g[leaves] / gamma[leaves], 0)
            if gamma[c] > 0:
                room[c] = -self.g[c] / gamma[c]
            bound = np.where(beta[1:] > 0, self.C, 0.0)
            to_bound = np.where(beta[1:] != 0, (bound - self.a[S]) / beta[1:], np.inf)
            room[S] = np.maximum(to_bound, 0)
        full = self.C - self.a[c] if S else np.inf
        first = int(np.argmin(room))
        t = min(room[first], full)

        self.a[S] += t * beta[1:]
        self.a[c] += t * grow
        self.threshold -= t * beta[0]
        self.g += t * gamma
        if full <= room[first]:
            self.a[c], self.set[c] = self.C, ERROR
        elif self.set[first] == MARGIN:
            j = S.index(first)
            self.a[first] = bound[j]
            self._leave_margin(first, ERROR if bound[j] > 0 else REST)
        else:
            self._enter_margin(first)

    def _enter_margin(self, k):
        self.g[k] = 0.0
        S = self._margin
        border = np.r_[self.y[k], self.Q[S, k]]
        u = self._solve(border) if S else np.zeros(1)
        pivot = self.Q[k, k] - border @ u if S else 1.0
        if S and pivot <= DEPENDENT * self.Q.diagonal().max():
            if not self._exchange(k, -u):
                return
            return self._enter_margin(k)
        self.set[k] = MARGIN
        S.append(k)
        if len(S) == 1:
            self._inverse = np.array([[-self.Q[k, k], self.y[k]], [self.y[k], 0.0]])
            return
        n = len(S)
        bigger = np.zeros((n + 1, n + 1))
        bigger[:n, :n] = self._inverse
        edge = np.r_[-u, 1.0]
        self._inverse = bigger + np.outer(edge, edge) / pivot

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
        j = self._margin.index(k) + 1
        self._margin.remove(k)
        self.set[k] = new_set
        R = self._inverse
        if not self._margin:
            self._inverse = np.zeros((1, 1))
            return
        R = R - np.outer(R[:, j], R[j]) / R[j, j]
        self._inverse = np.delete(np.delete(R, j, 0), j, 1)

    def _polish(self):
        """Remove what rounding has left in the margin's g."""
        self.g = self._exact_g()
        S = self._margin
        if S and np.abs(self.g[S]).max() > 1e-12:
            change = -self._solve(np.r_[self.a @ self.y, self.g[S]])
            a = self.a[S] + change[1:]
            if (a >= 0).all() and (a <= self.C).all():
                self.a[S] = a
                self.threshold -= change[0]
                self.g = self._exact_g()

    def _solve(self, right):
        """Solve the bordered system over the margin; refactor when its inverse has drifted."""
        S = self._margin
        matrix = np.block([[np.zeros((1, 1)), self.y[None, S]],
                           [self.y[S, None], self.Q[np.ix_(S, S)]]])
        for inverse in (lambda: self._inverse, lambda: np.linalg.pinv(matrix, hermitian=True)):
            self._inverse = inverse()
            solution = self._inverse @ right
            for _ in range(3):
                residual = right - matrix @ solution
                if np.abs(residual).max() <= 1e-13 * np.abs(right).max():
                    return solution
                solution = solution + self._inverse @ residual
        return solution
