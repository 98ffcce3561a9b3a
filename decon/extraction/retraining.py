"""SVMs from labels that they ask for themselves: at their own boundary, round by round."""

import warnings
from collections.abc import Callable

import numpy as np

from ..boundary.bracketing import bisect
from ..boundary.pairs import pn_pairs
from ..machine import KernelMachine
from ..types import Array, LabelOracle
from .settings import SETTINGS


def retrained(oracle: LabelOracle, X: Array, y: Array, fresh: Callable[[int], Array],
              rng: np.random.Generator) -> list[KernelMachine]:
    """Gaussian SVMs by adaptive retraining: labels are asked for where the last one is unsure.

    C and gamma are chosen by cross-validation. Then as many labels as there are in the beginning
    are asked for in a few rounds, on the boundary of the SVM so far: adaptive retraining
    [Tramèr et al. 2016].

    Parameters
    ----------
    oracle : LabelOracle
    X, y : arrays (n, d) and (n,)
        Labelled points, with both labels.
    fresh : callable
        `fresh(n)` gives n random points: array (n, d).
    rng : numpy.random.Generator

    Returns
    -------
    machines : list of KernelMachine
        With the C that was chosen, and with a hundred times as much.

    Examples
    --------
    >>> from decon import Oracle
    >>> rng = np.random.default_rng(0)
    >>> oracle = Oracle(lambda X: (X**2).sum(1) < 2, dimension=2)   # a disc
    >>> X, Z = rng.standard_normal((2, 60, 2))
    >>> machines = retrained(oracle, X, oracle(X), lambda n: rng.standard_normal((n, 2)), rng)
    >>> len(machines), bool((machines[1].predict(Z) == oracle(Z)).mean() > 0.9)
    (2, True)
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        # C and gamma
        d, some, steps = X.shape[1], slice(SETTINGS.most_validated), SETTINGS.most_svm_steps
        chosen = {"C": 100.0, "gamma": 1 / d}
        folds = int(min(3, (y[some] > 0).sum(), (y[some] < 0).sum()))
        if folds > 1:
            grid = {"C": SETTINGS.svm_penalties, "gamma": np.divide(SETTINGS.svm_gammas, d)}
            search = GridSearchCV(SVC(max_iter=steps), grid, cv=folds, refit=False)
            chosen = search.fit(X[some], y[some]).best_params_

        # rounds of labels at the boundary of the SVM so far
        size = len(X) // SETTINGS.retraining_rounds
        for _ in range(SETTINGS.retraining_rounds):
            svm, ends = SVC(max_iter=steps, **chosen).fit(X, y), fresh(2 * size)
            guessed = svm.predict(ends)
            if abs(guessed.sum()) == len(guessed):
                break
            pairs = pn_pairs(ends[guessed > 0], ends[guessed < 0], size, rng)
            new = sum(bisect(svm.predict, *pairs, SETTINGS.svm_width)) / 2
            X, y = np.concatenate([X, new]), np.r_[y, oracle(new)]

        harder = chosen | {"C": 100 * chosen["C"]}
        return [KernelMachine.from_sklearn(SVC(max_iter=steps, **options).fit(X, y))
                for options in (chosen, harder)]
