"""From a deconstructed box to an upgraded machine, without its source code or training data."""

import numpy as np
from tqdm import tqdm

from .incremental import IncrementalSVM
from .kernels import Polynomial
from .machine import KernelMachine


def upgrade(result, X_new, y_new, C=1.0, gamma="scale", kappa=1.0, progress=True):
    """Teach a deconstructed machine new examples, one at a time, on top of what it knows.

    The recovered decision function f0 stays as it is; what is learned is
    f = f0 + sum_i a_i t_i K(x_i, .), with the multipliers of an exact incremental SVM. Labels
    leave the scale of f0 open, so it is set to have its known examples at a margin of `kappa`.
    Give known examples beside the new ones, labelled by the box itself, or the machine forgets
    that the rest of the world is still there.

    Parameters
    ----------
    result : Deconstruction or KernelMachine
        What the box turned out to be.
    X_new : array (n, d)
        Examples of what is to be recognised from now on, and known examples.
    y_new : array (n,)
        Their labels +1 and -1.
    C : float, positive
        The soft margin's price of an error.
    gamma : 'scale' or float, positive
        Scale of a polynomial kernel (x.y)-term for the new examples: the recovered part of the
        machine is rewritten for it and stays the same function. 'scale' is scikit-learn's
        1 / (d var(X_new)). Other kernels keep their own constants.
    kappa : float, positive
        The median of |f0| over those examples that it already gets right.
    progress : bool
        Show a progress bar when the work takes more than a few seconds.

    Returns
    -------
    KernelMachine
        With one kernel; its first support vectors are the recovered ones, rescaled for gamma.

    Raises
    ------
    ValueError
        If the result holds no machine, shapes do not match, a label is neither +1 nor -1, or
        the machine gets none of the examples right (f0 then has no scale).

    Examples
    --------
    >>> from decon import KernelMachine, Polynomial, upgrade
    >>> box = KernelMachine(Polynomial(degree=2), [[1., 0.]], [1.], 4.)    # x_1 > 1 or x_1 < -3
    >>> X = np.array([[2., 0.], [0., 0.], [-1., 0.], [0., 3.], [1., 3.]])
    >>> upgraded = upgrade(box, X, [1, -1, -1, 1, 1], C=100.)
    >>> upgraded.predict(X).tolist()
    [1, -1, -1, 1, 1]
    """
    machine = result if isinstance(result, KernelMachine) else result.machine
    if machine is None:
        raise ValueError(f"the deconstruction holds no machine to upgrade: {result.reason}")
    X, y = np.asarray(X_new, float), np.asarray(y_new)
    if X.ndim != 2 or X.shape[1] != machine.dimension or y.shape != X.shape[:1]:
        raise ValueError(f"expected X_new of shape (n, {machine.dimension}) and y_new of shape "
                         f"(n,), got {X.shape} and {y.shape}")
    if len(X) == 0 or not np.isfinite(X).all():
        raise ValueError("X_new must hold at least one example and no NaN or infinity")
    if not kappa > 0:
        raise ValueError(f"kappa must be > 0, got {kappa!r}")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"y_new must hold +1 and -1 only, got {np.unique(y)[:5]}")
    if isinstance(machine.kernel, Polynomial) and machine.kernel.coef0 > 0:
        if gamma == "scale":
            gamma = 1 / (X.shape[1] * (X.var() or 1.0))
        machine = machine.with_gamma(gamma)
    margins = y * machine.decision_function(X)
    if not (margins > 0).any():
        raise ValueError("the recovered machine gets none of the examples right: add known "
                         "examples, labelled by the box")
    factor = kappa / np.median(margins[margins > 0])
    base = KernelMachine(machine.kernel, machine.support_vectors, factor * machine.weights,
                         factor * machine.threshold)
    svm = IncrementalSVM(machine.kernel, C, base)
    for x, t in tqdm(zip(X, y, strict=True), total=len(y), delay=3, disable=not progress,
                     leave=False, desc="learning", unit=" examples"):
        svm.learn(x, t)
    return svm.machine()
