"""A cubic machine plane by plane: O(m^2) boundary points, and no system larger than m x m."""

import numpy as np

from ...numerics.blocks import blocks
from ...types import Array, LabelOracle
from ..polynomial import evaluate, fit_polynomial
from ..protocol import Refuted
from .coordinates import SumOfCubes
from .decomposition import cubes_of_pencil
from .lines import Lines, best_rows, equations
from .settings import SETTINGS


def frame_of(basis: Array, normals: Array, scale: float) -> Array:
    """Directions that span S_Y, along which a cubic machine changes about equally fast.

    In coordinates in which the vectors w_i^(1/3) y_i were orthonormal, a machine
    sum_i w_i (x.y_i + 1)^3 would look alike from all sides. Its normals, which are sums of
    w_i (x.y_i + 1)^2 y_i, make weak directions look weaker than that: the cube root of a singular
    value undoes it, roughly.

    Parameters
    ----------
    basis : array (d, m), orthonormal
    normals : array (s, d), s at least m
    scale : float
        The scale of the data.

    Returns
    -------
    frame : array (d, m)

    Examples
    --------
    >>> frame = frame_of(np.eye(3)[:, :2], np.diag([1., .125, 0.]), scale=1.)
    >>> np.linalg.norm(frame, axis=0).round(3).tolist()
    [0.707, 1.414]
    """
    m = basis.shape[1]
    _, values, right = np.linalg.svd(normals @ basis)
    values = np.maximum(values[:m], 1e-9 * values[0])
    return basis @ right.T * values ** (-1 / 3) * scale / np.sqrt(m)


class PlaneSections:
    """Psi - b on a reference line, and its gradient and Hessian there, from curves in planes.

    In the plane x0 + t w + s u, Psi - b is a cubic of 10 coefficients,

        c(t) + s (g0 + g1 t + g2 t^2).u + s^2/2 u^T (H0 + t H1) u + s^3 T(u, u, u).

    One plane, fitted as a whole, shows c up to the scale of Psi; it is the same in all others. So
    6 coefficients remain in the planes of the axes u = e_i of a frame, and 3 in those of two axes,
    u = (e_i + e_j) / sqrt(2), where the gradient is known from the axes: 6 m + 3 m (m - 1) / 2
    points in all.

    Parameters
    ----------
    oracle : LabelOracle
    points : array (k, d)
        Boundary points; the best of them becomes the origin x0 of all planes.
    frame : array (d, m)
        As `frame_of` makes it.
    rng : numpy.random.Generator

    Attributes
    ----------
    x0 : array (d,)
    frame : array (d, m)
        The frame, rescaled: the machine is looked at in coordinates z, x = x0 + frame @ z.
    w : array (m,)
        The direction of the reference line, in the frame.
    c : array (4,)
        The coefficients of 1, t, t^2, t^3 on it.
    axes, pairs : Lines
        With a boundary point each, in the planes of the axes and in those of two axes.

    Raises
    ------
    Refuted
        If no reference plane shows a cubic that its points determine.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> model = KernelMachine(Polynomial(3), [[1., 0.], [0., 2.]], [1., -.5], .25)
    >>> x0 = np.array([[np.cbrt(.75) - 1, 0.]])       # (.75^(1/3))^3 - .5 = .25
    >>> planes = PlaneSections(Oracle(model.predict, 2), x0, np.eye(2), np.random.default_rng(0))
    >>> A, h, b = planes.machine(width=1e-12).forms()
    >>> (A / h[:, None])[np.argsort(A[:, 0])].round(6) + 0.
    array([[0., 2.],
           [1., 0.]])
    """

    def __init__(self, oracle: LabelOracle, points: Array, frame: Array, rng: np.random.Generator):
        self.oracle, self.rng = oracle, rng
        self.x0, self.frame, self.w, self.c = _reference_line(oracle, points, frame, rng)
        axis = np.arange(frame.shape[1])
        self.i, self.j = np.triu_indices(len(axis), 1)
        self.axes = self._lines(axis, axis, 0.5, 6, SETTINGS.least_pivot_of_axes)
        self.pairs = self._lines(self.i, self.j, np.sqrt(0.5), 3, SETTINGS.least_pivot_of_pairs)

    def read(self, width: float) -> tuple[Array, Array]:
        """Bracket all points to `width`, in units of the reference plane, and solve.

        Parameters
        ----------
        width : float
            Of the brackets, in units of the reference plane.

        Returns
        -------
        g : array (3, m)
            g0, g1 and g2 in the frame.
        H : array (2, m, m)
            H0 and H1.
        """
        # the planes of the axes show the gradient and the diagonals of the Hessians
        g = np.zeros((len(self.w), 3))
        axes = self._coefficients(self.axes, 6, g, width)
        g, h = axes[:, :3], 2 * axes[:, 3:5]

        # those of two axes the rest, by polarisation: u^T H u = (H_ii + H_jj) / 2 + H_ij
        i, j = self.i, self.j
        pairs = self._coefficients(self.pairs, 3, np.sqrt(0.5) * (g[i] + g[j]), width)
        H = np.stack([np.diag(column) for column in h.T])
        H[:, i, j] = H[:, j, i] = (2 * pairs[:, :2] - (h[i] + h[j]) / 2).T
        return g.T, H

    def machine(self, width: float) -> SumOfCubes:
        """The sum of cubes with the gradient and Hessian that `read` finds with this width.

        Parameters
        ----------
        width : float
            Of the brackets, in units of the reference plane.

        Returns
        -------
        own : SumOfCubes

        Raises
        ------
        Refuted
            If there is none.
        """
        V, b = cubes_of_pencil(*self.read(width), self.c[0])
        return SumOfCubes(self.x0, self.frame, V, b)

    def points(self) -> Array:
        """The boundary points of all planes, in coordinates of the frame: array (n, m)."""
        axes = np.eye(len(self.w))
        pairs = np.sqrt(0.5) * (axes[self.i] + axes[self.j])
        u = np.concatenate([axes[self.axes.plane], pairs[self.pairs.plane]])
        t, s = np.concatenate([self.axes.points, self.pairs.points]).T[..., None]
        return (t * self.w + s * u)[np.isfinite(t[:, 0])]

    def _lines(self, i, j, factor, unknowns, least_pivot):
        """Lines in the planes x0 + t w + s factor (e_i + e_j): the best of many candidates."""
        e, w = factor * self.frame.T, self.frame @ self.w

        def query(plane, z):
            labels = np.empty(len(z))
            for k in blocks(len(z), 2 * len(w)):
                X = (e[i[plane[k]]] + e[j[plane[k]]]) * z[k, 1:] + z[k, :1] * w + self.x0
                labels[k] = self.oracle(X)
            return labels

        def pivoting(k):
            return best_rows(equations(*lines.points[k].transpose(2, 0, 1), unknowns)[0])

        count = int(np.ceil(SETTINGS.lines_per_unknown * unknowns))
        todo, lines = np.arange(len(i)), Lines(query, np.empty(0, int), np.empty((0, 2)), self.rng)
        table, best = np.empty((len(i), 0), int), np.empty((len(i), unknowns), int)
        for stretch in SETTINGS.stretches:
            # more lines in the planes that need some, coarsely bracketed (step 3 of
            # alg-support-vectors-of-a-cubic-planes)
            start = self._starts(len(todo), count, stretch)
            new = Lines(query, np.repeat(todo, count), start, self.rng)
            new.narrow(SETTINGS.coarse_width, relative=True)
            table = np.c_[table, len(lines.plane) + np.arange(len(new.plane)).reshape(-1, count)]
            lines.extend(new)

            # the best of all lines there, by QR with column pivoting; are they good enough?
            best[todo] = np.take_along_axis(table, pivoting(table)[0], 1)
            lines.narrow(SETTINGS.fine_width, among=best[todo].ravel())
            poor = pivoting(best[todo])[1] < least_pivot
            todo, table = todo[poor], table[poor]
            if len(todo) == 0:
                break
        lines.keep(best.ravel())
        return lines

    def _starts(self, n, count, stretch):
        """Where the lines start in n planes: (n * count, 2), every third on the line itself.

        On the line the label is known, so that half of these can be of either label: one of them
        may be rare, the inside of a small oval.
        """
        d = SETTINGS.start_distance
        start = self.rng.uniform(-d, d, (n, count, 2)) * (1, stretch)
        t = np.linspace(-d, d, 300)
        above = np.polyval(self.c[::-1], t) > 0
        for k, side in enumerate((above, ~above)):
            if side.any():
                start[:, k::6, 0] = self.rng.choice(t[side], start[:, k::6, 0].shape)
                start[:, k::6, 1] = 0
        return start.reshape(-1, 2)

    def _coefficients(self, lines, unknowns, g, width):
        """The unknown coefficients of every plane, array (planes, unknowns); g as far as known."""
        lines.narrow(width)
        t, s = (a.reshape(-1, unknowns) for a in lines.points.T)
        rows, size = equations(t, s, unknowns)
        known = np.polyval(self.c[::-1], t) + s * (g[:, :1] + g[:, 1:2] * t + g[:, 2:] * t**2)
        return (np.linalg.pinv(rows) @ np.nan_to_num(-known / size)[..., None])[..., 0]


def _reference_line(oracle, points, frame, rng):
    """x0, the frame at a scale where curves bend, and w and c(t) of the line x0 + t frame @ w.

    Random planes through the points are tried until one has a curve that its points determine
    well, and in it a line on which both t and t^3 play a part in c(t).
    """
    m, best = frame.shape[1], 0.0
    angles = np.linspace(0, np.pi, 24, endpoint=False)
    V = np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1)
    for x0 in np.resize(points, (SETTINGS.reference_planes, len(frame))):  # one after the other
        # a random plane, rescaled until the curve in it bends as much as it is long
        plane, scale = rng.standard_normal((m, 2)) / np.sqrt(m), np.sqrt(m)
        for _ in range(6):
            T, clear = _curve(oracle, x0, scale * frame @ plane, rng)
            straight, bent = 3 * np.linalg.norm(T[:2, 2, 2]), np.linalg.norm(T[:2, :2, :2])
            stretch = np.clip(np.sqrt(straight / bent), 0.1, 10) if clear else 0.2
            if 0.3 < stretch < 3:
                break
            scale *= stretch

        # c(t) = T(x0 + t v) for directions v (eq-support-vectors-of-a-cubic-plane), and the one in
        # which t and t^3 weigh most
        c = np.stack([np.full(24, T[2, 2, 2]), 3 * V @ T[2, 2],
                      3 * np.einsum("ni,ij,nj->n", V, T[2], V),
                      np.einsum("ni,nj,nk,ijk->n", V, V, V, T)])
        c /= np.maximum(np.linalg.norm(c, axis=0), 1e-300)
        balance = np.abs(c[[1, 3]]).min(0)
        k = balance.argmax()
        quality = min(clear / SETTINGS.clear_curve, balance[k] / SETTINGS.least_balance)
        if quality > best:
            best, found = quality, (x0, scale * frame, plane @ V[k, :2], c[:, k])
        if best > 1:
            break
    if best < 1e-6:
        raise Refuted("no plane shows a cubic that its points determine")
    return found


def _curve(oracle, x0, plane, rng):
    """The cubic in x0 + span(plane), and how well its points determine it; zeros where not."""
    # a boundary point on each of many lines
    n, d = SETTINGS.lines_in_reference, SETTINGS.start_distance
    lines = Lines(lambda _, z: oracle(x0 + z @ plane.T), np.zeros(n, int),
                  rng.uniform(-d, d, (n, 2)), rng)
    lines.narrow(1e-12)
    Z = lines.points[np.isfinite(lines.points).all(1)]
    if len(Z) < 12:
        return np.zeros((3, 3, 3)), 0.0

    # the cubic through them, with the sign that the labels of the starts show
    T, values = fit_polynomial(Z, 3)
    return T * np.sign(evaluate(T, lines.start)[0] @ lines.labels), values[0]
