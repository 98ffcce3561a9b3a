"""The large table: random machines of all five kernels, trained SVCs, and foreign boxes.

    python -m experiments.five_kernels

Every box is taken apart by `deconstruct`: is its kernel named, m right, S_Y right, and at what
price? Results go to five_kernels.json, one row a kind of box. d = 30 and m = 12 for the random
machines, as in the paper; the SVCs are trained on so few points that m < d.
"""

import warnings
from collections import defaultdict

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, Linear, Oracle, Polynomial, Tanh, deconstruct
from decon.subspace import principal_cosines

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
FOREIGN = {
    "degree 4": lambda seed: SVC(kernel="poly", degree=4, coef0=1),
    "Laplacian": lambda seed: SVC(kernel=laplacian_kernel),
    "random forest": lambda seed: RandomForestClassifier(10, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(1 + 4 * (seed % 2)),
    "ReLU network": lambda seed: MLPClassifier(((20,), (10, 10))[seed % 2], random_state=seed,
                                               max_iter=300),
}


def measure(predict, features, span, seed):
    """Take one box apart and compare with the truth: the rows of `span` span S_Y."""
    d = features.shape[1]
    oracle = Oracle(predict, d)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    row = {"named": result.kernel_type, "queries": oracle.queries, "exact": result.exact,
           "subspace_queries": sum(n for stage, n in result.queries.items()
                                   if stage not in ("kernel type", "polynomial", "certificate")),
           "agreement": min(result.agreement.values(), default=np.nan)}
    if span is not None:
        m = np.linalg.matrix_rank(span)
        row |= {"m": m, "m_right": result.n_support == m, "cosine": np.nan, "bits": np.nan}
        if row["m_right"]:
            truth = np.linalg.svd(span.T, full_matrices=False)[0][:, :m]
            U = result.subspace
            row["cosine"] = principal_cosines(U, truth).min()
            sine = np.linalg.norm(truth - U @ (U.T @ truth), 2)
            row["bits"] = m * (d - m) * -np.log2(max(sine, 1e-13))
    return row


def random_run(kernel, seed):
    box, features = random_box(kernel, D, M, seed)
    linear = kernel.name == "linear"
    span = (box.weights @ box.support_vectors)[None] if linear else box.support_vectors
    return measure(box.predict, features, span, seed)


def trained_run(data, options, seed):
    svc, features = trained_box(data, DATA[data], seed, **options)
    span = svc.coef_ if options["kernel"] == "linear" else svc.support_vectors_
    return measure(svc.predict, features, span, seed)


def foreign_run(kind, data, seed):
    warnings.simplefilter("ignore")  # a network that has not converged is a box as well
    model, features = foreign_box(FOREIGN[kind](seed), data, (25, 200)[seed % 2], seed)
    return measure(model.predict, features, None, seed)


def summarise(kind, box, expected, rows):
    """One row of the table: counts, the worst cosine, medians of queries."""
    table = {"kind": kind, "box": box, "expected": expected, "boxes": len(rows),
             "named": sum(r["named"] == expected for r in rows),
             "others": sorted({r["named"] for r in rows} - {expected}),
             "queries": np.median([r["queries"] for r in rows]),
             "most": max(r["queries"] for r in rows)}
    if expected == "unknown":
        return table
    m = [r["m"] for r in rows]
    right = [r for r in rows if r["m_right"]]
    agreement = [r["agreement"] for r in rows if np.isfinite(r["agreement"])]
    return table | {
        "m": [min(m), max(m)], "m_right": len(right),
        "cosines_right": sum(r["cosine"] >= 0.9999 for r in right),
        "cosine": min((r["cosine"] for r in right), default=np.nan),
        "agreement": min(agreement, default=np.nan),
        "exact": sum(r["exact"] for r in rows),
        "subspace_queries": np.median([r["subspace_queries"] for r in rows]),
        "over_bits": np.median([r["subspace_queries"] / r["bits"] for r in right]),
    }


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
