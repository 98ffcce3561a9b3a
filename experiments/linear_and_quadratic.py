"""Linear and quadratic boxes, random and trained, taken apart.

    python -m experiments.linear_and_quadratic

Results go to linear_and_quadratic.json, one row a kind of box.
"""

from itertools import islice

import numpy as np
from scipy.linalg import subspace_angles

from decon import Linear, Oracle, Polynomial, deconstruct
from decon.boundary.bracketing import boundary_points
from decon.boundary.pairs import pn_pairs

from ._boxes import random_box, trained_box
from ._run import each, main, store

SEEDS = 50
RANDOM = [("linear", Linear()), ("quadratic", Polynomial(2))]
QUADRATIC = {"kernel": "poly", "degree": 2}
TRAINED = [  # data, images, options
    *[("cancer", n, {"kernel": "linear"}) for n in (100, 400)],
    *[("digits", n, {"kernel": "linear"}) for n in (100, 400)],
    *[("mnist40", n, {"kernel": "linear"}) for n in (200, 1000)],
    ("cancer", 60, QUADRATIC | {"coef0": 1}),
    ("cancer", 60, QUADRATIC | {"coef0": 1, "gamma": 0.01, "C": 100}),
    ("cancer", 60, QUADRATIC | {"coef0": 5, "gamma": 1, "C": 100}),
    ("cancer", 400, QUADRATIC | {"coef0": 1}),
    ("cancer", 40, QUADRATIC | {"coef0": 1, "gamma": 1e-6, "C": 1000}),
    ("cancer", 300, QUADRATIC | {"coef0": 1, "gamma": 1e4, "C": 1000}),
    ("digits", 40, QUADRATIC | {"coef0": 1}),
    ("digits", 40, QUADRATIC | {"coef0": 1, "gamma": 1e-4, "C": 1000}),
    ("digits", 60, QUADRATIC | {"coef0": 0.1}),
    ("digits", 300, QUADRATIC | {"coef0": 1}),
    ("mnist40", 100, QUADRATIC | {"coef0": 1}),
    ("mnist40", 200, QUADRATIC | {"coef0": 1, "C": 10}),
    ("mnist40", 200, QUADRATIC | {"coef0": 1, "gamma": 1e-5, "C": 1000}),
    ("mnist40", 1500, QUADRATIC | {"coef0": 1}),
]


def measure(predict, features, span, seed):
    """Deconstruct one box and compare with the truth: `span` holds what S_Y is spanned by."""
    d = features.shape[1]
    oracle = Oracle(predict, d)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    rank = np.linalg.matrix_rank(span)
    row = {"type": result.kernel_type, "m": rank, "m_right": result.rank == rank,
           "queries": oracle.queries, "certificate": result.queries_by_stage["agreement"]}
    row["bits"] = (rank * (d - rank) + (rank + 1) * (rank + 2) // 2 - 1) * np.log2(1e10)
    if result.machine is not None:
        truth = np.linalg.svd(span.T, full_matrices=False)[0][:, :rank]
        row["cosine"] = np.cos(subspace_angles(result.subspace, truth)).min()
        U = result.subspace
        row["sine"] = np.linalg.norm(truth - U @ (U.T @ truth), 2)
        row["wide"], row["near"] = _agreement(result, predict, seed)
    return row


def _agreement(result, predict, seed):
    """Agreement on 20,000 wide points and on 5,000 at 1e-4 R0 from the boundary."""
    rng = np.random.default_rng(seed + 20_000)
    d, R = result.machine.dimension, result.scale
    wide = np.repeat([1, 3], 10_000)[:, None] * R / np.sqrt(d) * rng.standard_normal((20_000, d))
    own = result.machine.predict(wide)
    P, N = pn_pairs(wide[own > 0], wide[own < 0], 2500, rng)
    X, _ = boundary_points(Oracle(result.machine.predict, d), P, N, 1e-13 * R)
    G = result.machine.gradient(X)
    G *= 1e-4 * R / np.linalg.norm(G, axis=1, keepdims=True)
    return [float(np.mean(result.machine.predict(Z) == np.where(predict(Z) == 1, 1, -1)))
            for Z in (wide, np.concatenate([X + G, X - G]))]


def one_run(function, *arguments):
    return function(*arguments)


def random_run(kernel, seed):
    box, features = random_box(kernel, 30, 12, seed)
    linear = isinstance(kernel, Linear)
    w = (box.weights @ box.support_vectors)[None]
    return measure(box.predict, features, w if linear else box.support_vectors, seed)


def trained_run(data, n, options, seed):
    svc, features = trained_box(data, n, seed, **options)
    span = svc.coef_ if options["kernel"] == "linear" else svc.support_vectors_
    return measure(svc.predict, features, span, seed)


def summarise(name, expected, rows):
    """One row of the table: the worst case of every number but the queries."""
    with_machine = [r for r in rows if "cosine" in r]
    m = [r["m"] for r in rows]
    return {
        "box": name, "boxes": len(rows), "m": [int(min(m)), int(max(m))],
        "named": sum(r["type"] == expected for r in rows),
        "m_right": int(sum(r["m_right"] for r in rows)),
        **{key: float(min((r[key] for r in with_machine), default=np.nan))
           for key in ("cosine", "wide", "near")},
        "sine": float(max((r["sine"] for r in with_machine), default=np.nan)),
        "queries": float(np.median([r["queries"] for r in rows])),
        "most_queries": int(max(r["queries"] for r in rows)),
        "certificate": int(np.median([r["certificate"] for r in rows])),
        "over_bits": round(float(np.median([r["queries"] / r["bits"] for r in rows])), 2),
    }


def run():
    """Take every box of every kind apart, and store one row a kind."""
    kinds = [(f"{name}: random, d = 30, m = 12", name, random_run, (kernel,), SEEDS)
             for name, kernel in RANDOM]
    for data, n, options in TRAINED:
        name = "linear" if options["kernel"] == "linear" else "quadratic"
        words = [f"{k} = {v}" for k, v in options.items() if k not in ("kernel", "degree")]
        kinds.append((", ".join([f"{name}: {data}, {n} examples", *words]), name,
                      trained_run, (data, n, options), 10))
    rows = iter(each(one_run, [(function, *arguments, seed)
                               for _, _, function, arguments, n in kinds for seed in range(n)],
                     "taking boxes apart"))
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1} for random machines, 0 to 9 for trained ones",
        "table": [summarise(box, name, list(islice(rows, n))) for box, name, _, _, n in kinds],
    })


if __name__ == "__main__":
    main(run)
