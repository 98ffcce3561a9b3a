"""Polynomial machines on their kernel subspace: what the boundary costs, and how exact it is.

    python -m experiments.polynomial_boundary

Random machines (d = 30, m = 12) and SVCs trained on real data, quadratic and cubic, each taken
apart three ways: as the paper does (100 normals from spheres, points to 1e-6, plain monomials), as
the chapter does (slopes and sharpening, points to 1e-12), and, for a few, by a polynomial in all of
R^d. Then the growth with m, the subspace being given. Results go to polynomial_boundary.json.
"""

from collections import defaultdict
from itertools import combinations_with_replacement, permutations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, Polynomial
from decon.families.cubic.forms import cubic_machine
from decon.families.polynomial import distance_to_zeros, evaluate, fit_polynomial
from decon.families.protocol import Refuted
from decon.families.quasi_vectors import quasi_support_vectors
from decon.subspaces.spans import largest_gap, span_of_normals

from ._normals import bracketed, sharpened, with_normals
from ._rivals import points_needed
from ._run import each, main, store

DEGREES = (2, 3)
SEEDS, TRAINED_SEEDS, GROWTH_SEEDS = 50, 10, 10
DIRECT = [(2, seed) for seed in range(5)] + [(3, seed) for seed in range(2)]
SIZES = (4, 6, 8, 10, 12, 14, 16, 20, 24)


def trained_machine(data, degree, seed):
    """An SVC with fewer support vectors than features, as a machine, and its data."""
    if data == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        X, n = StandardScaler().fit_transform(X), 30
    else:
        X, y = load_digits(return_X_y=True)
        X, y, n = X / 8, y == 3, 60
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    svc = SVC(kernel="poly", degree=degree, coef0=1).fit(X[rows], y[rows])
    return KernelMachine.from_sklearn(svc).with_gamma(1.0), X


def pool_of(machine, data, seed):
    """Points to make PN-pairs of: a Gaussian cloud, or the data and a cloud three times as wide."""
    rng = np.random.default_rng(seed)
    if data is None:
        return rng.standard_normal((400, machine.dimension))
    cloud = 3 * np.sqrt(np.mean(data**2)) * rng.standard_normal((300, machine.dimension))
    return np.concatenate([data[:300], cloud])


def wide_points(machine, data, seed):
    """20,000 points to judge by: a Gaussian cloud, or half of them blurred data, half wide."""
    rng = np.random.default_rng(seed + 20_000)
    X = rng.standard_normal((20_000, machine.dimension))
    if data is not None:
        X *= np.sqrt(np.mean(data**2)) * np.resize([0.5, 3], 20_000)[:, None]
        X[::2] += data[rng.integers(len(data), size=10_000)]
    return X


def subspace(oracle, pool, m, way, seed):
    """A basis of S_Y of rank m by the paper's spheres, or by slopes and sharpening."""
    n, how, radius, width = ((100, "spheres", 1e-3, 1e-6) if way == "paper" else
                             (m + 10 if way == "trained" else m + 3, "slopes", 1e-6, 1e-12))
    X, V = bracketed(oracle, pool, n, width, seed)
    X, V, normals = with_normals(oracle, X, V, how, radius, width, seed)
    basis, values = span_of_normals(normals, rank=m)
    if way != "paper":
        basis = sharpened(oracle, X, V, normals, basis)
    return basis, largest_gap(values) == m


def plain_fit(Z, degree):
    """The null vector of the plain monomials, by singular value decomposition."""
    H = np.c_[Z, np.ones(len(Z))]
    index = list(combinations_with_replacement(range(H.shape[1]), degree))
    null = np.linalg.svd(H[:, np.array(index)].prod(axis=2))[2][-1]
    T = np.zeros((H.shape[1],) * degree)
    for i, value in zip(index, null, strict=True):
        orders = set(permutations(i))
        for order in orders:
            T[order] = value / len(orders)
    return T


def polynomial(oracle, pool, basis, degree, way, seed):
    """Psi - b on the span of a basis, from boundary points in it."""
    inside, n = pool @ basis @ basis.T, points_needed(basis.shape[1], degree)
    X, _ = bracketed(oracle, inside, n, 1e-6 if way == "paper" else 1e-12, seed)
    return plain_fit(X @ basis, degree) if way == "paper" else fit_polynomial(X @ basis, degree)[0]


def judge(machine, data, T, basis, seed):
    """How good is a polynomial on the span of a basis, in all of R^d?"""
    X = wide_points(machine, data, seed)
    p, psi = evaluate(T, X @ basis)[0], machine.decision_function(X)
    factor = (p @ psi) / (p @ p)
    oracle = Oracle(machine.predict, machine.dimension)
    fresh, _ = bracketed(oracle, X[:2000], 500, 1e-13, seed)
    scale = np.sqrt(np.mean((X**2).sum(1) if data is None else (data**2).sum(1)))
    return np.sign(factor), {
        "agreement": np.mean((factor * p > 0) == (psi > 0)),
        "error": np.linalg.norm(factor * p - psi) / np.linalg.norm(psi),
        "distance": np.median(distance_to_zeros(T, fresh @ basis)) / scale,
    }


def vectors(machine, data, T, basis):
    """The support vectors that a polynomial shows, against the true ones."""
    scale = 3.0 if data is None else np.sqrt(np.mean((data**2).sum(1)))
    try:
        if T.ndim == 2:
            found = quasi_support_vectors(T, scale)
        else:
            found = cubic_machine(T, np.zeros(basis.shape[1]), scale)
    except Refuted:
        return {"vectors": 0, "vector_error": np.nan}
    Y, true = found.support_vectors @ basis.T, machine.support_vectors
    errors = np.linalg.norm(Y[:, None] - true, axis=2).min(0) / np.linalg.norm(true, axis=1)
    return {"vectors": len(Y), "vector_error": errors.max()}


def take_apart(machine, data, way, seed):
    """One box, one way: queries of both stages, and how good the result is."""
    m, degree = len(machine.weights), machine.kernel.degree
    oracle, pool = Oracle(machine.predict, machine.dimension), pool_of(machine, data, seed)
    row = {"m": m}
    if way == "direct":
        basis = np.eye(machine.dimension)
    else:
        how = "trained" if data is not None and way == "here" else way
        basis, row["m_by_gap"] = subspace(oracle, pool, m, how, seed)
    row["subspace_queries"] = oracle.queries
    T = polynomial(oracle, pool, basis, degree, way, seed)
    row["polynomial_queries"] = oracle.queries - row["subspace_queries"]
    row["points"] = points_needed(basis.shape[1], degree)
    sign, quality = judge(machine, data, T, basis, seed)
    shown = {} if way == "direct" else vectors(machine, data, sign * T, basis)
    return row | quality | shown


def random_run(degree, way, seed):
    return take_apart(KernelMachine.random(Polynomial(degree), 30, 12, seed), None, way, seed)


def trained_run(data, degree, way, seed):
    return take_apart(*trained_machine(data, degree, seed), way, seed)


def growth_run(degree, m, seed):
    """S_Y given: the polynomial alone."""
    machine = KernelMachine.random(Polynomial(degree), 30, m, seed)
    oracle, pool = Oracle(machine.predict, 30), pool_of(machine, None, seed)
    basis = np.linalg.qr(machine.support_vectors.T)[0]
    T = polynomial(oracle, pool, basis, degree, "here", seed)
    sign, quality = judge(machine, None, T, basis, seed)
    row = {"queries": oracle.queries, "points": points_needed(m, degree)}
    return row | quality | vectors(machine, None, sign * T, basis)


def summary(rows):
    """One line of a table: medians of the costs, the worst of what shows quality."""
    line = {"boxes": len(rows)}
    if "m" in rows[0]:
        m = [row["m"] for row in rows]
        line["m"] = [min(m), max(m)]
    for key in rows[0]:
        values = np.array([row[key] for row in rows], float)
        if "queries" in key or key == "points":
            line[key] = np.median(values)
        elif key == "agreement":
            line[key] = {"median": np.median(values), "worst": values.min()}
        elif key in ("error", "distance", "vector_error"):
            line[key] = {"median": np.median(values), "worst": values.max()}
        elif key == "m_by_gap":
            line[key] = int(values.sum())
        elif key == "vectors":
            line[key] = int(np.sum(values > 0))
    return line


def exponents(table):
    """The power of m in points and queries: of the whole fit, and of its last step."""
    found = {}
    for key in ("points", "queries"):
        x, y = np.log([row["m"] for row in table]), np.log([row[key] for row in table])
        found[key] = {"fitted": np.polyfit(x, y, 1)[0],
                      "last": (y[-1] - y[-2]) / (x[-1] - x[-2])}
    return found


def run():
    random_tasks = [(degree, way, seed) for way in ("paper", "here") for degree in DEGREES
                    for seed in range(SEEDS)]
    random_tasks += [(degree, "direct", seed) for degree, seed in DIRECT]
    trained_tasks = [(data, degree, way, seed) for data in ("cancer", "digits")
                     for degree in DEGREES for way in ("paper", "here")
                     for seed in range(TRAINED_SEEDS)]
    growth_tasks = [(degree, m, seed) for m in reversed(SIZES) for degree in DEGREES
                    for seed in range(GROWTH_SEEDS)]
    groups = defaultdict(list)
    for function, tasks, what in [(growth_run, growth_tasks, "growth with m"),
                                  (trained_run, trained_tasks, "trained machines"),
                                  (random_run, random_tasks, "random machines")]:
        for task, row in zip(tasks, each(function, tasks, what), strict=True):
            groups[function, *task[:-1]].append(row)
    tables = {degree: [{"m": m} | summary(groups[growth_run, degree, m]) for m in SIZES]
              for degree in DEGREES}
    store(__file__, {
        "seeds": f"random 0 to {SEEDS - 1}; trained 0 to {TRAINED_SEEDS - 1}; "
                 f"growth 0 to {GROWTH_SEEDS - 1}",
        "random": [{"degree": degree, "way": way} | summary(groups[random_run, degree, way])
                   for degree in DEGREES for way in ("paper", "here", "direct")],
        "trained": [{"data": data, "degree": degree, "way": way}
                    | summary(groups[trained_run, data, degree, way])
                    for data in ("cancer", "digits") for degree in DEGREES
                    for way in ("paper", "here")],
        "growth": {str(degree): table for degree, table in tables.items()},
        "exponents": {str(degree): exponents(table) for degree, table in tables.items()},
    })


if __name__ == "__main__":
    main(run)
