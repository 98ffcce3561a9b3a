"""What votes between two classes whose machine is not known."""

import warnings
from typing import Any

import numpy as np

from ..machine import KernelMachine, ScaledMachine
from .crossings import Crossings
from .settings import SETTINGS


def stand_in(crossings: Crossings, one: Any, other: Any) -> ScaledMachine:
    """A support vector machine fitted to the labels of two classes that are known anyway.

    Parameters
    ----------
    crossings : Crossings
    one, other : labels

    Returns
    -------
    machine : ScaledMachine
        The better one of a linear and a Gaussian kernel.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    two = np.flatnonzero((crossings.labels == one) | (crossings.labels == other))
    some = crossings.rng.permutation(two)[:SETTINGS.fitted]
    X, y = crossings.X[some], np.where(crossings.labels[some] == one, 1, -1)
    svcs = (SVC(kernel=kernel, C=SETTINGS.stiffness, max_iter=SETTINGS.svm_steps)
            for kernel in ("linear", "rbf"))
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        machines = [_behind(svc, X, y, crossings.units) for svc in svcs]
    return max(machines, key=lambda machine: (machine.predict(X) == y).mean())


def _behind(svc, X, y, units):
    """An SVC fitted in units of the spreads, as a machine of the points themselves."""
    machine = KernelMachine.from_sklearn(svc.fit(X / units, y))
    return ScaledMachine(machine, np.zeros_like(units), units)
