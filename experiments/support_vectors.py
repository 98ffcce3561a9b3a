"""The box's own support vectors: cubic machines, how exactly, and at what price.

    python -m experiments.support_vectors

Random machines (d = 30, m = 12), homogeneous ones, and SVCs trained on three data sets, taken apart
by `deconstruct`. The price is divided by the least possible, (m (d - m) + m (m + 1)) log2(1 / r),
where r is the relative error of the box's worst support vector: a bit an answer. (A homogeneous
machine has no weights beside its vectors: m numbers less.) About two minutes. Results go to
support_vectors.json.
"""

from collections import defaultdict

import numpy as np

from decon import KernelMachine, Oracle, Polynomial, deconstruct

from ._boxes import random_box, trained_box
from ._run import each, main, store

D, M, SEEDS, TRAINED_SEEDS = 30, 12, 100, 15
DATA = {"cancer": 20, "digits": 40, "mnist40": 28}  # and how many points an SVC is trained on


def measure(predict, box, features, seed):
    """Take one box apart; `box` is the truth, with gamma = 1."""
    oracle = Oracle(predict, box.dimension)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    Y, (m, d) = box.support_vectors, box.support_vectors.shape
    row = {"exact": result.own_vectors, "right": result.rank == m, "m": m, "error": np.nan,
           "queries": oracle.queries, "cubic_queries": result.queries.get("polynomial", 0),
           "ratio": np.nan, "coef0": np.nan}
    if result.machine is not None:
        found = result.machine.support_vectors
        row["coef0"] = result.machine.kernel.coef0
        if box.kernel.coef0 == 0:  # lengths are not known, nor are signs
            Y, found = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (Y, found))
            found = np.concatenate([found, -found])
        off = np.linalg.norm(found - Y[:, None], axis=2).min(1) / np.linalg.norm(Y, axis=1)
        row["error"] = off.max()
        numbers = m * (d - m) + m * m + m * (box.kernel.coef0 != 0)
        row["ratio"] = oracle.queries / (numbers * -np.log2(off.max()))
    return row


def random_run(coef0, seed):
    box, features = random_box(Polynomial(3, coef0=coef0), D, M, seed)
    return measure(box.predict, box, features, seed)


def trained_run(data, seed):
    svc, features = trained_box(data, DATA[data], seed, kernel="poly", degree=3, coef0=1)
    return measure(svc.predict, KernelMachine.from_sklearn(svc).with_gamma(1.0), features, seed)


def summarise(box, rows):
    """One row of the table."""
    column = {name: np.array([row[name] for row in rows], float) for name in rows[0]}
    return {"box": box, "boxes": len(rows), "exact": int(column["exact"].sum()),
            "m": [int(column["m"].min()), int(column["m"].max())],
            "m_right": int(column["right"].sum()), "error": np.median(column["error"]),
            "largest_error": column["error"].max(), "to_1e-6": int((column["error"] < 1e-6).sum()),
            "queries": np.median(column["queries"]), "most_queries": column["queries"].max(),
            "cubic_queries": np.median(column["cubic_queries"]),
            "over_bound": np.median(column["ratio"]), "largest_over_bound": column["ratio"].max(),
            "coef0": sorted(set(column["coef0"]))}


def run():
    """All boxes."""
    groups = defaultdict(list)
    tasks = [(1.0, seed) for seed in range(SEEDS)] + [(0.0, seed) for seed in range(SEEDS)]
    for (coef0, _), row in zip(tasks, each(random_run, tasks, "random machines"), strict=True):
        groups["random" if coef0 else "random, homogeneous"].append(row)
    tasks = [(data, seed) for data in DATA for seed in range(TRAINED_SEEDS)]
    for (data, _), row in zip(tasks, each(trained_run, tasks, "trained SVCs"), strict=True):
        groups[data].append(row)
    store(__file__, {"seeds": f"0 to {SEEDS - 1}, trained: 0 to {TRAINED_SEEDS - 1}",
                     "table": [summarise(*group) for group in groups.items()]})


if __name__ == "__main__":
    main(run)
