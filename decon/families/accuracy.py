"""Which support vectors, and which constants of a polynomial kernel, are known well enough."""

import numpy as np

FAINT_ERROR = 1e-4  # relative, of support vectors that are not called the model's own
VANISHING, ROUNDED = 10.0, 1e-12  # errors, and least share of its terms


def faint(error: float) -> str:
    """Why support vectors are known too coarsely to be called the model's own; empty, if not.

    Parameters
    ----------
    error : float
        The largest of their relative errors; infinite, if labels have not shown it.

    Returns
    -------
    str

    Examples
    --------
    >>> faint(1e-9), faint(0.002)
    ('', 'some support vectors are faint: their relative error may be 2e-03')
    """
    if error < FAINT_ERROR:
        return ""
    known = f"relative error may be {error:.0e}" if error < np.inf else "errors are not known"
    return f"some support vectors are faint: their {known}"


def vanishing(error: float) -> float:
    """Up to which share of its terms a constant may be nothing but their errors.

    Parameters
    ----------
    error : float
        Relative, of the terms.

    Returns
    -------
    float

    Examples
    --------
    >>> vanishing(1e-9), vanishing(0.0)
    (1e-08, 1e-12)
    """
    return max(VANISHING * error, ROUNDED)
