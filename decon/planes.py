"""A cubic machine plane by plane: O(m^2) boundary points, and no system larger than m x m."""

import numpy as np

from .bracketing import blocks
from .cubic import cubes_of_pencil
from .lines import Lines, best_rows
from .polish import OwnCoordinates
from .polynomial import fit_polynomial

# In units of the reference plane, in which curves bend as much as they are long:
SPREAD = 1.5  # lines start so far from the origin of a plane,
COARSE = 0.25  # and are bracketed to so much of the way before the best of them are chosen;
CLOSER = 1e-3  # these are bracketed to this before they are found good enough
REFERENCE, DISTINCT = 18, 1e-2  # lines in a reference plane, and how well they must fix a curve
BALANCE, PLANES = 0.2, 6  # least share of t and of t^3 in c(t), and how many planes are tried
AXIS, PAIR = (6, 9, 3e-5), (3, 5, 1e-4)  # unknowns of a plane, candidates, least pivot wanted
STRETCH = 1.0, 3.0, 0.3, 10.0, 1.0, 0.1, 1.0, 1.0  # of starts across the line, round by round


def frame_of(basis, normals, reach):
    """Directions that span S_Y, along which a cubic machine changes about equally fast.

    In coordinates in which the vectors w_i^(1/3) y_i were orthonormal, a machine
    sum_i w_i (x.y_i + 1)^3 would look alike from all sides. Its normals, which are sums of
    w_i (x.y_i + 1)^2 y_i, make weak directions look weaker than that: the cube root of a singular
    value undoes it, roughly.

    Parameters
    ----------
    basis : array (d, m), orthonormal
    normals : array (s, d), s at least m
    reach : float
        The scale of the data.

    Returns
    -------
    frame : array (d, m)

    Examples
    --------
    >>> frame = frame_of(np.eye(3)[:, :2], np.diag([1., .125, 0.]), reach=1.)
    >>> np.linalg.norm(frame, axis=0).round(3).tolist()
    [0.707, 1.414]
    """
    m = basis.shape[1]
    _, values, right = np.linalg.svd(normals @ basis)
    values = np.maximum(values[:m], 1e-9 * values[0])
    return basis @ right.T * values ** (-1 / 3) * reach / np.sqrt(m)


class PlaneByPlane:
    """Psi - b on a reference line, and its gradient and Hessian there, from curves in planes.

    In the plane x0 + t w + s u, Psi - b is a cubic of 10 coefficients,

        c(t) + s (g0 + g1 t + g2 t^2).u + s^2/2 u^T (H0 + t H1) u + s^3 T(u, u, u).

    One plane, fitted as a whole, shows c up to the scale of Psi; it is the same in all others. So
    6 coefficients remain in the planes of the axes u = e_i of a frame, and 3 in those of two axes,
    u = (e_i + e_j) / sqrt(2), where the gradient is known from the axes: 6 m + 3 m (m - 1) / 2
    points in all.

    Parameters
    ----------
    oracle : Oracle
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

    Raises
    ------
    ArithmeticError
        If no reference plane shows a cubic that its points determine.

    Examples
    --------
    >>> from decon import KernelMachine, Oracle, Polynomial
    >>> box = KernelMachine(Polynomial(3), [[1., 0.], [0., 2.]], [1., -.5], .25)
    >>> x0 = np.array([[np.cbrt(.75) - 1, 0.]])       # (.75^(1/3))^3 - .5 = .25
    >>> planes = PlaneByPlane(Oracle(box.predict, 2), x0, np.eye(2), np.random.default_rng(0))
    >>> A, h, b = planes.machine(width=1e-12).forms()
    >>> (A / h[:, None])[np.argsort(A[:, 0])].round(6) + 0.
    array([[0., 2.],
           [1., 0.]])
    """

    def __init__(self, oracle, points, frame, rng):
        self.oracle, self.rng = oracle, rng
        self.x0, self.frame, self.w, self.c = self._reference(points, frame)
        i = np.arange(frame.shape[1])
        self.axes = self._lines(i, i, 0.5, *AXIS)
        self.pairs = self._lines(*np.triu_indices(len(i), 1), np.sqrt(0.5), *PAIR)

    def read(self, width):
        """Bracket all points to `width`, in units of the reference plane, and solve.

        Returns
        -------
        g : array (3, m)
            g0, g1 and g2 in the frame.
        H : array (2, m, m)
            H0 and H1.
        """
        self.axes.narrow(width)
        self.pairs.narrow(width)
        axes = self._coefficients(self.axes, 6)
        g, h = axes[:, :3], 2 * axes[:, 3:5]
        i, j = np.triu_indices(len(h), 1)
        pairs = self._coefficients(self.pairs, 3, np.sqrt(0.5) * (g[i] + g[j]))
        H = np.stack([np.diag(column) for column in h.T])
        H[:, i, j] = H[:, j, i] = (2 * pairs[:, :2] - (h[i] + h[j]) / 2).T
        return g.T, H

    def machine(self, width):
        """The sum of cubes with this gradient and Hessian, as `cubes_of_pencil` finds it."""
        V, b = cubes_of_pencil(*self.read(width), self.c, self.w)
        return OwnCoordinates(self.x0, self.frame, V, b)

    def points(self):
        """The boundary points of all planes, in coordinates of the frame: array (n, m)."""
        m = len(self.w)
        i, j = np.triu_indices(m, 1)
        U = np.concatenate([np.eye(m), np.sqrt(0.5) * (np.eye(m)[i] + np.eye(m)[j])])
        planes = np.r_[self.axes.plane, m + self.pairs.plane]
        t, s = np.concatenate([self.axes.points, self.pairs.points]).T[..., None]
        Z = t * self.w + s * U[planes]
        return Z[np.isfinite(t[:, 0])]

    def _reference(self, points, frame):
        """An origin, the frame at a scale where curves bend, a line's direction, the cubic on it.

        Planes are tried until one has a curve that its points determine well, and in it a line on
        which both t and t^3 play a part in c(t).
        """
        m, best = frame.shape[1], 0.0
        angles = np.linspace(0, np.pi, 24, endpoint=False)
        for n in range(PLANES):
            x0 = points[n % len(points)]
            plane, scale = self.rng.standard_normal((m, 2)) / np.sqrt(m), np.sqrt(m)
            for _ in range(6):
                T, distinct = self._curve(x0, scale * frame @ plane)
                straight, bent = 3 * np.linalg.norm(T[:2, 2, 2]), np.linalg.norm(T[:2, :2, :2])
                stretch = np.clip(np.sqrt(straight / bent), 0.1, 10) if distinct else 0.2
                if 0.3 < stretch < 3:
                    break
                scale *= stretch
            V = np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1)
            c = np.stack([np.full(24, T[2, 2, 2]), 3 * V @ T[2, 2],
                          3 * np.einsum("ni,ij,nj->n", V, T[2], V),
                          np.einsum("ni,nj,nk,ijk->n", V, V, V, T)])
            c /= np.maximum(np.linalg.norm(c, axis=0), 1e-300)
            balance = np.abs(c[[1, 3]]).min(0)
            k = balance.argmax()
            quality = min(distinct / DISTINCT, balance[k] / BALANCE)
            if quality > best:
                best, found = quality, (x0, scale * frame, plane @ V[k, :2], c[:, k])
            if best > 1:
                break
        if best < 1e-6:
            raise ArithmeticError("no plane shows a cubic that its points determine")
        return found

    def _curve(self, x0, plane):
        """The cubic in x0 + span(plane), and how well its points determine it; zeros where not."""
        lines = Lines(lambda k, z: self.oracle(x0 + z @ plane.T), np.zeros(REFERENCE, int),
                      self.rng.uniform(-SPREAD, SPREAD, (REFERENCE, 2)), self.rng)
        lines.walk()
        lines.narrow(1e-12)
        Z = lines.points[np.isfinite(lines.points).all(1)]
        if len(Z) < 12:
            return np.zeros((3, 3, 3)), 0.0
        T, values = fit_polynomial(Z, 3)
        H = np.c_[lines.start, np.ones(REFERENCE)]
        return T * np.sign(np.einsum("ijk,ni,nj,nk->n", T, H, H, H) @ lines.signs), values[0]

    def _lines(self, i, j, factor, unknowns, candidates, pivot):
        """Lines in the planes x0 + t w + s factor (e_i + e_j): the best of many candidates."""
        e, w = factor * self.frame.T, self.frame @ self.w

        def ask(plane, z):
            labels = np.empty(len(z))
            for k in blocks(len(z), 2 * len(w)):
                X = e[i[plane[k]]] + e[j[plane[k]]]
                X *= z[k, 1:]
                X += z[k, :1] * w
                X += self.x0
                labels[k] = self.oracle(X)
            return labels

        def rows(k):
            return np.nan_to_num(monomials(*lines.points[k].transpose(2, 0, 1), unknowns))

        todo, lines = np.arange(len(i)), Lines(ask, np.empty(0, int), np.empty((0, 2)), self.rng)
        table, best = np.empty((len(i), 0), int), np.empty((len(i), unknowns), int)
        for stretch in STRETCH:
            start = self._starts(len(todo), candidates, stretch)
            new = Lines(ask, np.repeat(todo, candidates), start, self.rng)
            new.walk()
            new.narrow(COARSE, relative=True)
            numbers = len(lines.plane) + np.arange(len(new.plane)).reshape(-1, candidates)
            lines.extend(new)
            table = np.c_[table, numbers]  # the lines of every plane that is still to do
            best[todo] = np.take_along_axis(table, best_rows(rows(table), unknowns)[0], 1)
            lines.narrow(CLOSER, among=best[todo].ravel())
            poor = best_rows(rows(best[todo]), unknowns)[1] < pivot
            todo, table = todo[poor], table[poor]
            if len(todo) == 0:
                break
        lines.keep(best.ravel())
        return lines

    def _starts(self, n, candidates, stretch):
        """Where the lines start in n planes: (n * candidates, 2), every third on the line itself.

        On the line the label is known, so that half of these can be of either label: one of them
        may be rare, the inside of a small oval.
        """
        start = self.rng.uniform(-SPREAD, SPREAD, (n, candidates, 2)) * (1, stretch)
        t = np.linspace(-SPREAD, SPREAD, 300)
        above = np.polyval(self.c[::-1], t) > 0
        for k, side in enumerate((above, ~above)):
            if side.any():
                start[:, k::6, 0] = self.rng.choice(t[side], start[:, k::6, 0].shape)
                start[:, k::6, 1] = 0
        return start.reshape(-1, 2)

    def _coefficients(self, lines, unknowns, g=None):
        """Solve for the unknown coefficients of every plane: array (planes, unknowns)."""
        t, s = (a.reshape(-1, unknowns) for a in lines.points.T)
        right = -np.polyval(self.c[::-1], t)
        if g is not None:
            right -= s * (g[:, :1] + g[:, 1:2] * t + g[:, 2:] * t**2)
        right /= size(t, s)
        lost = np.isnan(right)
        rows = np.where(lost[..., None], 0, monomials(t, s, unknowns))
        return (np.linalg.pinv(rows) @ np.where(lost, 0, right)[..., None])[..., 0]


def size(t, s):
    """How large cubic terms are at (t, s), to give all equations the same weight."""
    return (1 + np.abs(t) + np.abs(s)) ** 3


def monomials(t, s, unknowns):
    """What the unknown coefficients of a plane are multiplied with: array (..., unknowns).

    With 6 unknowns s, t s, t^2 s, s^2, t s^2, s^3; with 3 the last three.
    """
    rows = np.stack([s, t * s, t**2 * s, s**2, t * s**2, s**3], -1)[..., -unknowns:]
    return rows / size(t, s)[..., None]
