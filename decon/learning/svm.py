"""Support vector machines, hard and soft margin, as the convex programmes that define them."""

from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

from ..kernels import Kernel, Linear, check_positive
from ..machine import KernelMachine
from ..types import Array, ArrayLike
from .bordered import Bordered
from .checks import checked_examples
from .kkt import threshold_interval
from .settings import SETTINGS


class NotSeparable(ValueError):
    """No hyperplane of the feature space separates the classes, so there is no hard margin.

    Examples
    --------
    >>> from decon import Linear
    >>> try:
    ...     train_svm([[0.], [1.], [2.]], [1, -1, 1], Linear())
    ... except NotSeparable:
    ...     print("use a finite C, or another kernel")
    use a finite C, or another kernel
    """


@dataclass
class SVM:
    """A trained support vector machine: f(x) = sum_i a_i t_i K(x, x_i) - b, label +1 where f > 0.

    Attributes
    ----------
    machine : KernelMachine
        Of the support vectors: weights a_i t_i, threshold b.
    multipliers : array (N,)
        The a_i of all examples, 0 <= a_i <= C.
    threshold_interval : tuple of two floats
        All b that are optimal. Longer than a point only where no multiplier lies strictly
        between 0 and C; the machine takes the middle.
    slacks : array (N,)
        xi_i = max(0, 1 - t_i f(x_i)).
    margin : float
        1 / |w|, the distance in feature space from the boundary to f = 1 and to f = -1; infinite
        where w = 0, when the classes cannot be told apart at all.
    primal, dual : float
        1/2 |w|^2 + C sum_i xi_i, and sum_i a_i - 1/2 sum_ij a_i a_j t_i t_j K(x_i, x_j): equal at
        the optimum, which lies between them.

    Examples
    --------
    >>> from decon import Linear
    >>> svm = train_svm([[0.], [2.], [5.]], [-1, 1, 1], Linear())
    >>> svm.support, round(svm.margin, 6), round(svm.primal, 6)
    (array([0, 1]), 1.0, 0.5)
    """

    machine: KernelMachine
    multipliers: Array = field(repr=False)
    threshold_interval: tuple[float, float]
    slacks: Array = field(repr=False)
    margin: float
    primal: float
    dual: float

    @property
    def support(self) -> Array:
        """Indices of the support vectors, the examples with a_i > 0: array (s,) of ints."""
        return np.flatnonzero(self.multipliers)


def train_svm(X: ArrayLike, t: ArrayLike, kernel: Kernel | None = None, C: float = np.inf,
              form: str = "dual") -> SVM:
    """Train a support vector machine by solving its primal or its dual programme.

    The primal (Eq. 7 of Wang 2021), with phi the feature map of the kernel,

        minimise 1/2 |w|^2 + C sum_i xi_i  subject to  t_i (w.phi(x_i) - b) >= 1 - xi_i, xi_i >= 0,

    is written in the coordinates of the space that the phi(x_i) span, which a factor of the Gram
    matrix gives. The dual (Eqs. 4, 5 and 10) is

        maximise sum_i a_i - 1/2 sum_ij a_i a_j t_i t_j K(x_i, x_j)
        subject to 0 <= a_i <= C, sum_i a_i t_i = 0.

    Either is solved by cvxpy (Clarabel) and then polished by `polish`.

    Parameters
    ----------
    X : array (N, d)
        Examples.
    t : array (N,) of +1 and -1
        Their labels; both must occur.
    kernel : Linear, Polynomial, Tanh or Gaussian, default Linear()
        Its Gram matrix of the examples must be positive semidefinite.
    C : float, positive
        The regularisation parameter, which weighs the slacks; infinity, the default, asks for a
        hard margin.
    form : 'dual' or 'primal'
        Which programme to solve. The machine is the same.

    Returns
    -------
    SVM

    Raises
    ------
    NotSeparable
        If C is infinite and no hyperplane of the feature space separates the classes.
    ValueError
        If shapes do not match, numbers are not finite, labels are not +1 and -1 or all alike, C
        is not positive, or the Gram matrix has a negative eigenvalue.
    ArithmeticError
        If the solver gives up.

    Examples
    --------
    >>> svm = train_svm([[0., 0.], [2., 0.], [3., 1.]], [-1, 1, 1])
    >>> svm.multipliers.round(6), round(svm.machine.threshold, 6), round(svm.margin, 6)
    (array([0.5, 0.5, 0. ]), 1.0, 1.0)
    """
    # what is given
    X, t = checked_examples(X, t)
    if len(np.unique(t)) < 2:
        raise ValueError(f"both labels, +1 and -1, must occur, got only {t[0]:+g}")
    if C != np.inf:
        check_positive("C", C)
    if form not in ("dual", "primal"):
        raise ValueError(f"form must be 'dual' or 'primal', got {form!r}")
    kernel = Linear() if kernel is None else kernel

    # features with these inner products; with K / scale, multipliers are scale times larger
    K = kernel(X, X)
    scale = np.abs(K.diagonal()).mean() or 1.0
    F = gram_features(K) / np.sqrt(scale)
    if np.isinf(C) and not _separable(F, t):
        raise NotSeparable(f"the classes are not separable by a hyperplane in the feature space of "
                           f"{kernel}, so there is no hard margin: give a finite C for a soft one, "
                           "or take a richer kernel")

    # the programme, and the threshold in the middle of what the KKT conditions allow
    # (eq-soft-margin-interval)
    solve = _solve_dual if form == "dual" else _solve_primal
    a = polish(K, t, solve(F, t, C * scale) / scale, C)
    lower, upper = threshold_interval(K, t, a, C)
    b = (lower + upper) / 2

    # slacks (soft-margin-hinge), and both objectives (eq-soft-margin-primal, eq-soft-margin-dual);
    # |w|^2 = sum_ij a_i a_j t_i t_j K_ij
    psi = K @ (a * t)
    slacks = np.maximum(0, 1 - t * (psi - b))
    square = a * t @ psi
    primal = square / 2 + (C * slacks.sum() if np.isfinite(C) else 0.0)
    machine = KernelMachine(kernel, X[a > 0], (a * t)[a > 0], b)
    margin = 1 / np.sqrt(square) if square > 0 else np.inf
    return SVM(machine, a, (lower, upper), slacks, float(margin), float(primal),
               float(a.sum() - square / 2))


def polish(K: Array, t: Array, a: Array, C: float = np.inf) -> Array:
    """Make approximate multipliers exact: once it is known which are 0 and C, the rest is linear.

    The examples strictly between the bounds have t_i f_i = 1, and sum_i a_i t_i = 0: as many
    equations as unknowns (those a_i, and b). Where that leads further from the KKT conditions,
    the multipliers stay as they are, up to what is on a bound.

    Parameters
    ----------
    K, t, a, C :
        As in `kkt_residuals`.

    Returns
    -------
    a : array (N,)
        Exactly 0 and C where they are on a bound.
    """
    # which are on a bound, and so are known (soft-margin-kinds)
    near = SETTINGS.on_bound * a.max()
    rough = np.where(a < near, 0.0, np.where(a > C - near, C, a))
    free = (rough > 0) & (rough < C)

    # the bordered system of the others: [0 t; t Q] (-b, change of a) = (-t.a, 1 - Q a)
    Q, exact = K * np.outer(t, t), rough.copy()
    system = Bordered(t[free], Q[np.ix_(free, free)])
    exact[free] += system.solve(np.r_[-(t @ rough), (1 - Q @ rough)[free]])[1:]

    exact = np.where(exact > C - 1e-6 * near, C, exact.clip(0))

    # whichever violates the KKT conditions (eq-soft-margin-interval) least
    def violation(a):
        lower, upper = threshold_interval(K, t, a, C)
        return max(lower - upper, 0) + abs(a @ t)

    return min([exact, rough, a.clip(0, C)], key=violation)


def gram_features(K: Array) -> Array:
    """Features of examples, read off their Gram matrix: F with F F^T = K.

    Parameters
    ----------
    K : array (N, N), symmetric

    Returns
    -------
    F : array (N, r)
        One example a row, in as many coordinates r as the examples span in feature space.

    Raises
    ------
    ValueError
        If K has a negative eigenvalue (beyond rounding): there are no such features.

    Examples
    --------
    >>> F = gram_features(np.array([[2., 1.], [1., 2.]]))
    >>> (F @ F.T).round(9)
    array([[2., 1.],
           [1., 2.]])
    """
    # the spectral theorem: K = V diag(values) V^T
    values, vectors = np.linalg.eigh(K)
    if values[0] < -1e-8 * values[-1]:
        raise ValueError(f"the Gram matrix has the negative eigenvalue {values[0]:.2g} beside "
                         f"{values[-1]:.2g}: no features have these inner products, and the dual "
                         "of an SVM need not be concave; take a positive semidefinite kernel")

    # F = V sqrt(values), without what is rounding
    keep = values > 1e-14 * values[-1]
    return vectors[:, keep] * np.sqrt(values[keep])


def _solve_dual(F, t, C):
    """The multipliers of Eqs. 4, 5 and 10."""
    a = cp.Variable(len(t))
    constraints = [a >= 0, t @ a == 0] + ([a <= C] if np.isfinite(C) else [])
    objective = cp.Maximize(cp.sum(a) - cp.sum_squares(F.T @ cp.multiply(t, a)) / 2)
    _solve(cp.Problem(objective, constraints))
    return a.value


def _solve_primal(F, t, C):
    """The multipliers of the margins' constraints in Eq. 7."""
    w, b = cp.Variable(F.shape[1]), cp.Variable()
    xi = cp.Variable(len(t), nonneg=True) if np.isfinite(C) else np.zeros(len(t))
    margins = cp.multiply(t, F @ w - b) >= 1 - xi
    penalty = C * cp.sum(xi) if np.isfinite(C) else 0
    _solve(cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + penalty), [margins]))
    return margins.dual_value


def _solve(problem):
    """Solve a programme, or say why it cannot be solved."""
    tol = SETTINGS.solver_tolerance
    try:
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
    except cp.SolverError as error:
        raise ArithmeticError(f"the solver gave up: {error}") from None
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise ArithmeticError(f"the solver ended with status {problem.status!r}: scale the data so "
                              "that kernel values are of order one, or take a smaller C")


def _separable(F, t):
    """Is there a hyperplane with t_i (F_i.w - b) >= 1 for all i? A linear programme."""
    A = -t[:, None] * np.c_[F, -np.ones(len(t))]
    return linprog(np.zeros(A.shape[1]), A, -np.ones(len(t)), bounds=(None, None)).status == 0
