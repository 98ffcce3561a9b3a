"""The large table: random machines of all five kernels, trained SVCs, and foreign boxes.

    python -m experiments.five_kernels

Every box is taken apart by `deconstruct`: is its kernel named, m right, S_Y right, are the support
vectors its own, and at what price? d = 30 and m = 12 for the random machines, as in the paper; the
SVCs are trained on so few points that m < d. Among the foreign boxes two have the shape of ours:
tanh networks with a bias of their own in every unit, and machines with the Cauchy kernel.

The price is compared with the information bound at the accuracy reached: m (d - m) numbers for S_Y,
to the largest sine, and those of the function inside it, to the largest relative error of a support
vector (where only quasi-support vectors can be found, to the relative error of Psi - b on a cloud).
Results go to five_kernels.json, one row a kind of box.
"""

import warnings
from collections import defaultdict
from math import comb

import numpy as np
from scipy.linalg import subspace_angles
from scipy.optimize import linear_sum_assignment
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import euclidean_distances, laplacian_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh, deconstruct

from ._boxes import foreign_box, random_box, trained_box
from ._run import each, main, store

D, M, SEEDS, TRAINED_SEEDS, FOREIGN_SEEDS = 30, 12, 100, 15, 10
RANDOM = [Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Tanh(3.0, -0.2), Gaussian(1.0),
          Gaussian(4.0)]
DATA = {"cancer": 20, "digits": 40, "mnist40": 28}  # and how many points an SVC is trained on
TRAINED = [
    ("linear", {"kernel": "linear"}),
    ("quadratic", {"kernel": "poly", "degree": 2, "coef0": 1}),
    ("cubic", {"kernel": "poly", "degree": 3, "coef0": 1}),
    ("tanh", {"kernel": "sigmoid"}),
    ("tanh", {"kernel": "sigmoid", "gamma": 0.01, "C": 10}),
    ("gaussian", {"kernel": "rbf"}),
    ("gaussian", {"kernel": "rbf", "C": 10}),
]
NOT_FOR_SUBSPACE = ("kernel type", "polynomial", "far field", "tanh units", "radial probe",
                    "certificate", "diagnosis")
GOALS = {"cubic": 1e-6, "tanh": 1e-6, "gaussian": 1e-3}  # relative errors of the support vectors
LEAST = 1e-13  # no error counts as smaller than this


def cauchy_kernel(X, Y):
    return 1 / (1 + euclidean_distances(X, Y, squared=True) / X.shape[1])


FOREIGN = {
    "degree 4": lambda seed: SVC(kernel="poly", degree=4, coef0=1),
    "Laplacian": lambda seed: SVC(kernel=laplacian_kernel),
    "random forest": lambda seed: RandomForestClassifier(10, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(1 + 4 * (seed % 2)),
    "ReLU network": lambda seed: MLPClassifier(((20,), (10, 10))[seed % 2], random_state=seed,
                                               max_iter=300),
    "tanh network": lambda seed: MLPClassifier((6,), activation="tanh", random_state=seed,
                                               max_iter=300),
    "Cauchy kernel": lambda seed: SVC(kernel=cauchy_kernel),
}


def visible_vectors(machine):
    """The support vectors as far as labels show them: alpha y for tanh, gamma / c y for a cubic."""
    kernel = machine.kernel
    if kernel.name == "tanh":
        return kernel.alpha * machine.support_vectors
    if kernel.name == "cubic" and kernel.coef0:
        return machine.with_gamma(1.0).support_vectors
    return machine.support_vectors


def vector_error(found, truth):
    """The largest relative error of a support vector, in the best order (and with the best signs).

    tanh is odd: the signs of all alpha y_i, w_i and beta together are not visible; where beta = 0,
    those of each y_i and w_i are not.
    """
    Y, Z = visible_vectors(found), visible_vectors(truth)
    if len(Y) != len(Z):
        return np.nan
    odd = truth.kernel.name == "tanh"
    distances = np.array([pairwise_distances(Y, side * Z) for side in (1, -1)[:1 + odd]])
    if odd and truth.kernel.beta == 0:
        distances = distances.min(0, keepdims=True)
    distances /= np.linalg.norm(Z, axis=1)
    return min(one[linear_sum_assignment(one)].max() for one in distances)


def pairwise_distances(X, Y):
    """The norms of all x_i - y_j, without the cancellation of |x|^2 - 2 x.y + |y|^2."""
    return np.linalg.norm(X[:, None] - Y, axis=2)


def function_error(found, truth, scale, seed):
    """Relative error of Psi - b, up to a positive factor, on a cloud of the data's size."""
    X = np.random.default_rng(seed).standard_normal((1000, truth.dimension))
    X *= scale / np.sqrt(truth.dimension)
    f, g = found.decision_function(X), truth.decision_function(X)
    return np.linalg.norm(f * (f @ g) / (f @ f) - g) / np.linalg.norm(g)


def bits(numbers, error):
    return numbers * -np.log2(max(error, LEAST))


def measure(predict, features, truth, seed):
    """Take one box apart and compare with the machine inside; None where it is none of ours."""
    d = features.shape[1]
    oracle = Oracle(predict, d)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    row = {"named": result.kernel_type, "queries": oracle.queries, "exact": result.own_vectors,
           "subspace_queries": sum(n for stage, n in result.queries_by_stage.items()
                                   if stage not in NOT_FOR_SUBSPACE),
           "agreement": min(result.agreement.values(), default=np.nan)}
    if truth is None:
        return row
    kind, span = truth.kernel.name, truth.support_vectors
    if kind == "linear":
        span = truth.weights[None] @ span
    m = np.linalg.matrix_rank(span)
    row |= {"m": m, "m_right": result.rank == m} | dict.fromkeys(
        ("cosine", "subspace_bits", "vectors", "sigma", "bits"), np.nan)
    if row["m_right"]:
        basis, U = np.linalg.svd(span.T, full_matrices=False)[0][:, :m], result.subspace
        row["cosine"] = np.cos(subspace_angles(U, basis)).min()
        row["subspace_bits"] = bits(m * (d - m), np.linalg.norm(basis - U @ (U.T @ basis), 2))
        if result.machine is not None and result.kernel_type == kind:
            if result.own_vectors:
                row["vectors"] = vector_error(result.machine, truth)
            error = row["vectors"]
            if not np.isfinite(error):
                error = function_error(result.machine, truth, result.scale, seed)
            inside = {"linear": 1, "quadratic": comb(m + 2, 2) - 1,
                      "cubic": m * (m + 1)}.get(kind, m * (m + 1) + 1)
            row["bits"] = row["subspace_bits"] + bits(inside, error)
            if kind == "gaussian":
                row["sigma"] = abs(result.machine.kernel.sigma / truth.kernel.sigma - 1)
    return row


def random_run(kernel, seed):
    box, features = random_box(kernel, D, M, seed)
    return measure(box.predict, features, box, seed)


def trained_run(data, options, seed):
    svc, features = trained_box(data, DATA[data], seed, **options)
    return measure(svc.predict, features, KernelMachine.from_sklearn(svc), seed)


def foreign_run(kind, data, seed):
    warnings.simplefilter("ignore")  # a network that has not converged is a box as well
    model, features = foreign_box(FOREIGN[kind](seed), data, (25, 200)[seed % 2], seed)
    return measure(model.predict, features, None, seed)


def median(values):
    return np.median(values) if len(values) else np.nan


def summarise(kind, box, expected, rows):
    """One row of the table: counts, the worst cosine, medians of queries."""
    table = {"kind": kind, "box": box, "expected": expected, "boxes": len(rows),
             "named": sum(r["named"] == expected for r in rows),
             "others": sorted({r["named"] for r in rows} - {expected}),
             "queries": median([r["queries"] for r in rows]),
             "most": max(r["queries"] for r in rows)}
    if expected == "unknown":
        return table
    m = [r["m"] for r in rows]
    right = [r for r in rows if r["m_right"]]

    def finite(key):
        return [r[key] for r in rows if np.isfinite(r[key])]

    table |= {
        "m": [min(m), max(m)], "m_right": len(right),
        "cosines_right": sum(r["cosine"] >= 0.9999 for r in right),
        "cosine": min(finite("cosine"), default=np.nan),
        "agreement": min(finite("agreement"), default=np.nan),
        "exact": sum(r["exact"] for r in rows),
        "subspace_queries": median([r["subspace_queries"] for r in rows]),
        "over_subspace_bits": median([r["subspace_queries"] / r["subspace_bits"] for r in right]),
        "over_bits": median([r["queries"] / r["bits"] for r in rows if np.isfinite(r["bits"])]),
    }
    if expected in GOALS:
        errors, goal = finite("vectors"), GOALS[expected]
        table |= {"goal": goal, "vectors_right": sum(error <= goal for error in errors),
                  "vectors": median(errors), "worst_vectors": max(errors, default=np.nan)}
    if expected == "gaussian":
        errors = finite("sigma")
        table |= {"sigma_right": sum(error <= 1e-4 for error in errors),
                  "worst_sigma": max(errors, default=np.nan)}
    return table


def run():
    """Take all the boxes apart and store the table."""
    groups = defaultdict(list)
    kernels = {str(kernel): kernel for kernel in RANDOM}
    tasks = [(str(k), s) for k in RANDOM for s in range(SEEDS)]
    rows = each(random_run, [(kernels[name], s) for name, s in tasks], "random machines")
    for (name, _), row in zip(tasks, rows, strict=True):
        groups["random", name, kernels[name].name].append(row)
    tasks = [(data, name, options, s) for name, options in TRAINED for data in DATA
             for s in range(TRAINED_SEEDS)]
    rows = each(trained_run, [(data, options, s) for data, _, options, s in tasks], "trained SVCs")
    for (data, name, options, _), row in zip(tasks, rows, strict=True):
        words = ", ".join(f"{k} = {v}" for k, v in options.items() if k in ("gamma", "C"))
        groups["trained", data + (", " + words if words else ""), name].append(row)
    tasks = [(kind, data, s) for kind in FOREIGN for data in DATA for s in range(FOREIGN_SEEDS)]
    rows = each(foreign_run, tasks, "foreign boxes")
    for (kind, _, _), row in zip(tasks, rows, strict=True):
        groups["foreign", kind, "unknown"].append(row)
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1} for random machines, 0 to {TRAINED_SEEDS - 1} for trained "
                 f"ones, 0 to {FOREIGN_SEEDS - 1} for foreign ones",
        "table": [summarise(*key, rows) for key, rows in groups.items()],
    })


if __name__ == "__main__":
    main(run)
