"""The coordinates of a search: features about an origin, in units in which they vary alike."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..families.accuracy import ROUNDED, faint, vanishing
from ..families.cubic.forms import TWO, vector_errors
from ..families.protocol import Candidate
from ..families.relu.network import ReluNetwork
from ..machine import KernelMachine, ScaledMachine
from ..oracles.views import AffineView
from ..types import Array, ArrayLike, LabelOracle
from .settings import SETTINGS


@dataclass(frozen=True)
class Frame:
    """Coordinates u = (x - origin) / units of points x.

    Parameters
    ----------
    origin, units : arrays (d,)
    guessed : bool
        Whether the units are the spreads of the given features: near to those of a scaler that the
        model may have, but not the same.

    Examples
    --------
    >>> frame = Frame(np.array([0., 1900.]), np.array([1., 50.]))
    >>> frame.coordinates(np.array([[3., 2000.]]))
    array([[3., 2.]])
    """

    origin: Array = field(repr=False)
    units: Array = field(repr=False)
    guessed: bool = False

    @property
    def given(self) -> bool:
        """Whether u = x."""
        return bool((self.units == 1).all() and (self.origin == 0).all())

    def view(self, oracle: LabelOracle) -> Any:
        """The oracle in these coordinates.

        Parameters
        ----------
        oracle : LabelOracle

        Returns
        -------
        view : LabelOracle
        """
        return oracle if self.given else AffineView(oracle, self.origin, scale=self.units)

    def coordinates(self, X: Array) -> Array:
        """The u of points x.

        Parameters
        ----------
        X : array (n, d)

        Returns
        -------
        U : array (n, d)
        """
        return X if self.given else (X - self.origin) / self.units

    def points(self, U: Array) -> Array:
        """The points x of coordinates u.

        Parameters
        ----------
        U : array (n, d)

        Returns
        -------
        X : array (n, d)
        """
        return U if self.given else self.origin + self.units * U

    def normals(self, N: Array) -> Array:
        """The unit normals in x of a boundary with the normals N in u.

        Parameters
        ----------
        N : array (n, d)

        Returns
        -------
        N : array (n, d)
        """
        if self.given or not len(N):
            return N
        N = N / self.units
        return N / np.linalg.norm(N, axis=1, keepdims=True)

    def span(self, basis: Array, radial: bool) -> Array:
        """The span of the support vectors in x: of u-vectors times the units, or divided by them.

        Parameters
        ----------
        basis : array (d, m)
            Orthonormal, of S_Y in u.
        radial : bool
            Of a radial kernel, whose support vectors are points; those of another are gradients.

        Returns
        -------
        basis : array (d, m)
        """
        if self.given:
            return basis
        return np.linalg.qr(basis * (self.units if radial else 1 / self.units)[:, None])[0]


def given_frame(dimension: int) -> Frame:
    """The model's own coordinates.

    Parameters
    ----------
    dimension : int

    Returns
    -------
    Frame
    """
    return Frame(np.zeros(dimension), np.ones(dimension))


def frames(features: Array, bounds: tuple[Array, Array] | None = None,
           units: str | ArrayLike = "auto") -> list[Frame]:
    """The coordinates to search in: the first choice, and perhaps a second.

    Features whose spreads are alike are searched as they are, then in their spreads if these differ
    by more than ten; very unlike ones the other way round. If some feature is far from 0, by 30 of
    its spreads, all are centred, and searched as they are if that fails.

    Parameters
    ----------
    features : array (k, d)
    bounds : pair of arrays (d,), optional
        If there are any, they say in which units features are alike.
    units : 'auto', 'given' or array (d,)
        'given': as they are; an array: in these units.

    Returns
    -------
    frames : list of one or two Frames

    Raises
    ------
    ValueError
        If units is none of the three.

    Examples
    --------
    >>> len(frames(np.eye(2))), len(frames(np.diag([1., 1000.])))
    (1, 2)
    """
    # what the caller says
    own = given_frame(features.shape[1])
    if not isinstance(units, str):
        chosen = np.asarray(units, float)
        if chosen.shape != own.units.shape or not (0 < chosen).all() or np.isinf(chosen).any():
            raise ValueError(f"units must be {len(own.units)} positive numbers, got {units!r}")
        return [Frame(own.origin, chosen)]
    if units not in ("auto", "given"):
        raise ValueError(f"units must be 'auto', 'given' or an array, got {units!r}")
    if units == "given" or not len(features) or np.abs(features).max() > SETTINGS.largest_norm:
        return [own]  # (of features that are none, or too large, the survey says what is wrong)

    # what the features say
    mean, spread = features.mean(0), spread_of(features if bounds is None else np.array(bounds))
    if bounds is None and (np.abs(mean) > SETTINGS.far_off * spread).any():
        return [Frame(mean, spread, guessed=True), own]
    ratio, other = spread.max() / spread.min(), Frame(own.origin, spread, guessed=True)
    return [other, own] if ratio > SETTINGS.unlike else [own, other][:1 + (ratio > SETTINGS.alike)]


def spread_of(features: Array) -> Array:
    """The spread of each feature: its standard deviation, or the median of the others' if it is 0.

    Parameters
    ----------
    features : array (k, d)

    Returns
    -------
    spread : array (d,)
        Positive; 1 for all if no feature varies.

    Examples
    --------
    >>> spread_of(np.array([[0., 5., 100.], [2., 5., 300.]]))
    array([  1. ,  50.5, 100. ])
    """
    spread = np.std(features, axis=0)
    varies = spread > 1e-12 * np.abs(features).max(axis=0)  # not by rounding alone
    return np.where(varies, spread, np.median(spread[varies]) if varies.any() else 1.0)


def in_given_coordinates(candidate: Candidate, frame: Frame) -> list[Candidate]:
    """A candidate found in a frame, for points x: as a machine of x, and behind a scaler.

    Parameters
    ----------
    candidate : Candidate
    frame : Frame

    Returns
    -------
    candidates : list of one to three
        All give the same labels, but for rounding: far from its origin a polynomial in x is a
        small difference of large numbers.
    """
    if frame.given or candidate.given:
        return [candidate]
    machine: Any = candidate.machine
    scaled = ScaledMachine(machine, frame.origin, frame.units)
    radial = isinstance(machine, KernelMachine) and machine.kernel.name == "gaussian"
    basis = frame.span(candidate.basis, radial)
    found = _moved(candidate, frame) if isinstance(machine, KernelMachine | ReluNetwork) else []
    return [replace(each, basis=basis) for each in (*found, replace(candidate, machine=scaled))]


def _moved(candidate, frame):
    """A candidate with its machine as one of x: none, one or two; are its vectors still known?"""
    machine, origin, error = candidate.machine, frame.origin, candidate.error

    # a constant about the new origin is a difference of large numbers: first without those that may
    # be nothing but errors
    found: list[Candidate] = []
    for share in ([vanishing(error)], [ROUNDED]) if error else ([],):
        with suppress(ValueError):
            moved = machine.in_given_units(origin, frame.units, *share)
            if not found or moved.kernel != found[0].machine.kernel:
                caveat = candidate.caveat or _doubt(moved, frame, error)
                found.append(replace(candidate, machine=moved, caveat=caveat,
                                     own_vectors=candidate.own_vectors and not caveat))
    return found


def _doubt(machine, frame, error):
    """Why the vectors of a machine of x are not the model's own, though its forms were; or ''."""
    kernel = getattr(machine, "kernel", None)
    if getattr(kernel, "degree", None) != 3 or not frame.origin.any():
        return ""
    if kernel.coef0 == 0:
        return TWO if len(machine.weights) == 2 else ""
    errors = np.full(len(machine.weights), error or np.inf)
    distance = float(np.linalg.norm(frame.origin / frame.units))
    return faint(vector_errors(machine, errors, distance, frame.units).max())
