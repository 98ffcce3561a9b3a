"""How far the vectors of a Gaussian machine that meets all brackets can be trusted."""

import numpy as np

from ...kernels import Gaussian
from ...types import Array
from ..sharpening.sharpen import Sharpened
from .separation import least_separation


def trust(sharp: Sharpened, scale: float, width: float) -> tuple[float, float, float]:
    """How well the brackets are met, and how well they determine the support vectors.

    Parameters
    ----------
    sharp : Sharpened
        A Gaussian machine.
    scale : float
        The unit of its brackets.
    width : float
        Of the narrowest brackets, in units of the scale.

    Returns
    -------
    rms : float
        Root mean square miss, in units of the scale if all brackets were the narrowest.
    error : float
        The largest relative error of a support vector.
    separation : float
        The distance, relative to its length, from which on a further vector beside a found one
        would have shown; see `least_separation`.
    """
    machine, brackets, kernel = sharp.machine, sharp.brackets, sharp.machine.kernel
    assert isinstance(kernel, Gaussian)
    Y, w = machine.support_vectors / scale, machine.weights
    lengths, m = np.linalg.norm(Y, axis=1), len(Y)
    rms = float(np.sqrt(np.mean(sharp.misses**2) / 12) * width)

    # coordinates in S_Y and, last, the distance from it
    basis = np.linalg.qr(Y.T)[0]
    centres, Z = np.c_[Y @ basis, np.zeros(m)], brackets.X @ basis
    X = np.c_[Z, np.linalg.norm(brackets.X - Z @ basis.T, axis=1)]
    tau = scale**2 / (2 * kernel.sigma**2)
    steps = X[:, None] - centres
    terms = w * np.exp(-tau * (steps**2).sum(2))
    gradient = -2 * tau * np.einsum("nm,nmk->nk", terms, steps)
    slopes = np.linalg.norm(gradient, axis=1)
    J = _jacobian(X, steps, terms, w, tau) / slopes[:, None]
    apart = least_separation(J, X, centres, terms, np.log(np.abs(w)), tau, slopes, width)
    return rms, float(sharp.errors.max()), float((apart / lengths).max())


def _jacobian(X: Array, steps: Array, terms: Array, w: Array, tau: float) -> Array:
    """The derivatives of f by centres, weights, threshold and tau."""
    by_centres = (2 * tau * terms[:, :, None] * steps).reshape(len(X), -1)
    by_tau = -(terms * (steps**2).sum(2)).sum(1)
    return np.column_stack([by_centres, terms / w, -np.ones(len(X)), by_tau])
