"""From a recovered model to an upgraded machine, without its source code or training data."""

from typing import Any
from warnings import warn

import numpy as np

from ..conventions.numbers import as_numbers
from ..kernels import Polynomial, check_positive
from ..machine import KernelMachine, ScaledMachine
from ..types import Array, ArrayLike
from .checks import checked_examples
from .incremental import IncrementalSVM
from .labels import signs_of
from .settings import SETTINGS


def upgrade(result: Any, X_new: ArrayLike, y_new: ArrayLike, C: float = 1.0,
            gamma: float | str = "scale", kappa: float = 1.0, threshold: str = "equal errors",
            progress: bool = True) -> KernelMachine:
    """Teach a recovered machine new examples, on top of what it knows.

    The recovered decision function f0 stays as it is; what is learned is
    f = f0 + sum_i a_i t_i K(x_i, .), with the multipliers of an `IncrementalSVM` that starts from
    f0 (see `warm_start`). Give known examples beside the new ones, labelled by the target model
    itself; without them the correction may undo what the machine knew.

    Parameters
    ----------
    result : Deconstruction or KernelMachine
        What the target model turned out to be.
    X_new : array (n, d)
        Examples of what is to be recognised from now on, and known examples.
    y_new : array (n,)
        Their labels: +1 and -1, 1 and 0, the model's own (those of a Deconstruction's `labels`),
        or any other two, of which the larger is +1.
    C : float, positive
        The regularisation parameter: upper bound of the multipliers.
    gamma, kappa : see `warm_start`
    threshold : 'equal errors' or 'margin'
        Where to cut f: where leave-one-out misses the same share of the examples of either label,
        or where the margin of the support vector machine has its middle.
    progress : bool
        Show a progress bar when leaving one out takes more than a few seconds.

    Returns
    -------
    KernelMachine
        With one kernel; its first support vectors are the recovered ones, rescaled for gamma.

    Raises
    ------
    TypeError, ValueError
        As `warm_start`; or if `threshold` is another word.

    Warns
    -----
    UserWarning
        If there seem to be new examples only: of either label the recovered machine should get
        right a tenth as many as it gets wrong in all.

    Examples
    --------
    >>> from decon import KernelMachine, Polynomial, upgrade
    >>> model = KernelMachine(Polynomial(degree=2), [[1., 0.]], [1.], 4.)    # x_1 > 1 or x_1 < -3
    >>> X = np.array([[2., 0.], [0., 0.], [-1., 0.], [0., 3.], [1., 3.]])
    >>> upgraded = upgrade(model, X, [1, -1, -1, 1, 1], C=100.)
    >>> upgraded.predict(X).tolist()
    [1, -1, -1, 1, 1]
    """
    if threshold not in ("equal errors", "margin"):
        raise ValueError(f"threshold must be 'equal errors' or 'margin', got {threshold!r}")

    # the dual programme with f0 in its linear term
    base = warm_start(result, X_new, y_new, gamma, kappa)
    X, t = as_numbers(X_new), signs_of(y_new, getattr(result, "labels", (1, -1)))
    warn_if_all_are_new(base.predict(X), t)
    svm = IncrementalSVM(base.kernel, C, base).fit(X, t)
    machine = svm.machine()

    # the threshold: as it is, or where leave-one-out misses both labels equally often
    if threshold == "margin":
        return machine
    shift = equal_errors(svm.leave_one_out(progress), svm.y)
    return KernelMachine(machine.kernel, machine.support_vectors, machine.weights,
                         machine.threshold + shift)


def warm_start(result: Any, X: ArrayLike, y: ArrayLike, gamma: float | str = "scale",
               kappa: float = 1.0) -> KernelMachine:
    """The recovered decision function, scaled to be the `base` of an `IncrementalSVM`.

    Labels leave the scale of f0 open, so it is set to have the examples that f0 gets right at a
    median margin of `kappa`: what the machine knows well then needs no new support vectors.

    Parameters
    ----------
    result : Deconstruction or KernelMachine
    X : array (n, d)
        The examples that are to be learned.
    y : array (n,)
        Their labels, as in `upgrade`.
    gamma : 'scale' or float, positive
        Scale of a polynomial kernel's (x.y)-term for the new examples: the recovered part of the
        machine is rewritten for it and stays the same function. 'scale' is scikit-learn's
        1 / (d var(X)). Other kernels keep their own constants.
    kappa : float, positive
        The median of |f0| over those examples that it already gets right.

    Returns
    -------
    KernelMachine
        With the same labels as the recovered one.

    Raises
    ------
    TypeError
        If the result is neither of the two.
    ValueError
        If the result holds no machine or a ScaledMachine, gamma or kappa is not positive, shapes
        do not match, it cannot be known what a label stands for, or the machine gets none of the
        examples right (f0 then has no scale).

    Examples
    --------
    >>> from decon import KernelMachine, Linear
    >>> X = [[2.], [-4.], [6.]]
    >>> base = warm_start(KernelMachine(Linear(), [[1.]], [5.], 0.), X, [1, -1, 1])
    >>> base.decision_function(X).tolist()
    [0.5, -1.0, 1.5]
    """
    # what is given
    machine = getattr(result, "machine", result)  # a KernelMachine has none, it is one
    if isinstance(machine, ScaledMachine):
        raise ValueError("this machine has its kernel in scaled features: upgrade machine.machine, "
                         "with examples machine.scaled(X)")
    if result is None or not isinstance(machine, KernelMachine | None):
        raise TypeError(f"expected a Deconstruction or a KernelMachine, got {type(result)}")
    if machine is None:
        raise ValueError(f"the deconstruction holds no machine to upgrade: {result.message}")
    t = signs_of(y, getattr(result, "labels", (1, -1)))
    X, t = checked_examples(X, t, machine.dimension)
    check_positive("kappa", kappa)
    if isinstance(gamma, str):
        if gamma != "scale":
            raise ValueError(f"gamma must be 'scale' or a number, got {gamma!r}")
        gamma = float(1 / (X.shape[1] * (X.var() or 1.0)))
    check_positive("gamma", gamma)

    # the scale of the kernel: the same function of x with another gamma (`with_gamma`;
    # eq-kernel-machines-canonical)
    if isinstance(machine.kernel, Polynomial) and machine.kernel.coef0 > 0:
        machine = machine.with_gamma(gamma)

    # the scale of the function: a median margin of kappa
    margins = t * machine.decision_function(X)
    if not (margins > 0).any():
        raise ValueError("the recovered machine gets none of the examples right: add known "
                         "examples, labelled by the target model")
    factor = kappa / np.median(margins[margins > 0])
    return KernelMachine(machine.kernel, machine.support_vectors, factor * machine.weights,
                         factor * machine.threshold)


def warn_if_all_are_new(predicted: Array, t: Array) -> None:
    """Warn if there are hardly any examples that the recovered machine knows.

    Parameters
    ----------
    predicted, t : arrays (n,) of +1 and -1
        The recovered machine's own labels, and those that are to be learned.
    """
    right = predicted == t
    plus, minus = int(np.sum(right & (t > 0))), int(np.sum(right & (t < 0)))
    if min(plus, minus) < SETTINGS.known_share * np.sum(~right):
        warn(f"of {len(t)} examples the recovered machine gets only {plus} with the label +1 and "
             f"{minus} with the label -1 right: if all others are new, the correction may undo "
             "what the machine knew; add known examples of both labels, labelled by the target "
             "model",
             stacklevel=3)


def equal_errors(f: Array, y: Array) -> float:
    """The threshold at which both labels are missed equally often.

    Parameters
    ----------
    f : array (n,)
        Decision values, best of examples that were not learned (`IncrementalSVM.leave_one_out`).
    y : array (n,) of +1 and -1
        Labels.

    Returns
    -------
    float
        0 where no other threshold is better, or one label is missing.

    Examples
    --------
    >>> equal_errors(np.array([-3., -2., 1., 2., 3.]), np.array([-1, -1, 1, 1, 1]))
    0.0
    >>> equal_errors(np.array([-4., -3., -2., -1., 3.]), np.array([-1, -1, 1, 1, 1]))
    -2.5
    """
    positive, negative = np.sort(f[y > 0]), np.sort(f[y < 0])
    if not len(positive) or not len(negative):
        return 0.0

    # every cut that makes a difference, and 0 first
    values = np.unique(f)
    cuts = np.r_[0.0, (values[1:] + values[:-1]) / 2]

    # the errors at each, as whole numbers, so that ties are seen
    missed = np.searchsorted(positive, cuts, "right")
    taken = len(negative) - np.searchsorted(negative, cuts, "right")
    unequal = np.abs(missed * len(negative) - taken * len(positive))
    return float(cuts[np.argmin(unequal)])
