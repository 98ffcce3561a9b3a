"""Tanh machines taken apart to their support vectors: random ones, trained SVCs, and impostors.

    python -m experiments.tanh_machines

Every box is taken apart by `deconstruct`: are all alpha y_i found, how exactly, and at what price,
beside the information bound? Random machines: d = 30 and m = 12 as in the paper, then other m.
SVCs are trained on so few points that m < d. Impostors are functions of x.a_1, ..., x.a_m too,
and must be refused. Results go to tanh_machines.json.
"""

import numpy as np
from scipy.special import erf

from decon import KernelMachine, Oracle, Tanh, deconstruct

from ._boxes import random_box, trained_box
from ._run import each, main, store

D, M, SEEDS, TRAINED_SEEDS, FOREIGN_SEEDS, SIZE_SEEDS = 30, 12, 100, 15, 20, 20
KERNELS = [Tanh(1.0, 0.1), Tanh(3.0, -0.2)]
SIZES = [4, 8, 12, 16, 20, 24]
DATA = {"cancer": 20, "mnist40": 28, "digits": 40}  # and how many points an SVC is trained on
OPTIONS = [{"kernel": "sigmoid"}, {"kernel": "sigmoid", "gamma": 0.01, "C": 10}]
IMPOSTORS = {  # the function of x.a + beta, and how much the beta of the units differ
    "tanh, biases of their own": (np.tanh, 0.3),
    "tanh, biases almost the same": (np.tanh, 0.01),
    "error function": (erf, 0.0),
    "arc tangent": (np.arctan, 0.0),
    "u / (1 + |u|)": (lambda u: u / (1 + abs(u)), 0.0),
    "rectifier": (lambda u: np.maximum(u, 0), 0.3),
    "softplus": (lambda u: np.logaddexp(u, 0), 0.3),
    "degree 5": (lambda u: (u + 1) ** 5, 0.0),
    "sine": (np.sin, 0.3),
}
FAR_AND_NEAR = "far field", "tanh units"


def measure(box, machine, features, seed):
    """Take one box apart; `machine` is the truth, or None for an impostor."""
    d = features.shape[1]
    oracle = Oracle(box.predict, d)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    row = {"named": result.kernel_type, "exact": result.own_vectors, "queries": oracle.queries,
           "certified": result.machine is not None, "reason": result.message,
           "recovery": sum(result.queries_by_stage.get(stage, 0) for stage in FAR_AND_NEAR),
           "far": result.queries_by_stage.get("far field", 0)}
    if machine is None:
        return row
    Y = machine.kernel.alpha * machine.support_vectors
    m = len(Y)
    row |= {"m": m, "agreement": min(result.agreement.values(), default=np.nan), "error": np.inf}
    if result.kernel_type == "tanh" and result.machine and len(result.machine.weights) == m:
        found = result.machine.support_vectors
        off = [np.linalg.norm(found - s * y, axis=1).min() / np.linalg.norm(y)
               for y in Y for s in (1, -1)]
        row["error"] = np.reshape(off, (m, 2)).min(1).max()
        row["beta"] = abs(abs(result.machine.kernel.beta) - abs(machine.kernel.beta))
    rank = np.linalg.matrix_rank(Y)
    row["bits"] = (rank * (d - rank) + m * (rank + 1) + 1) * -np.log2(np.clip(row["error"], 1e-13,
                                                                              0.5))
    return row


def random_run(kernel, m, seed):
    box, features = random_box(kernel, D, m, seed)
    return measure(box, box, features, seed)


def trained_run(data, options, seed):
    svc, features = trained_box(data, DATA[data], seed, **options)
    return measure(svc, KernelMachine.from_sklearn(svc), features, seed)


class Network:
    """sign(sum_i w_i g(a_i.x + beta_i) - b) at random, the labels about equally frequent."""

    def __init__(self, function, spread, seed):
        rng = np.random.default_rng(seed)
        self.function = function
        self.A, self.w = rng.standard_normal((6, 20)) / np.sqrt(20), rng.standard_normal(6)
        self.biases = 0.1 + spread * rng.standard_normal(6)
        X = rng.standard_normal((1001, 20))
        self.b = 0.0
        self.b = np.median(self.values(X))
        labels = self.predict(X)
        self.features = np.concatenate([X[labels > 0][:5], X[labels < 0][:5]])

    def values(self, X):
        return self.function(X @ self.A.T + self.biases) @ self.w - self.b

    def predict(self, X):
        return np.where(self.values(X) > 0, 1, -1)


def impostor_run(kind, seed):
    box = Network(*IMPOSTORS[kind], seed)
    return measure(box, None, box.features, seed)


def summarise(kind, box, rows):
    """One row of a table."""
    right = [r for r in rows if r["exact"] and r["error"] < 1e-6]
    m = [r["m"] for r in rows]
    return {"kind": kind, "box": box, "boxes": len(rows), "m": [min(m), max(m)],
            "named": sum(r["named"] == "tanh" for r in rows),
            "exact": sum(r["exact"] for r in rows), "right": len(right),
            "falsely_exact": sum(r["exact"] and not r["error"] < 1e-6 for r in rows),
            "error": np.median([r["error"] for r in right]),
            "worst": max(r["error"] for r in right), "beta": max(r["beta"] for r in right),
            "agreement": min(r["agreement"] for r in right),
            "queries": np.median([r["queries"] for r in rows]),
            "recovery": np.median([r["recovery"] for r in right]),
            "far": np.median([r["far"] for r in right]),
            "over_bits": np.median([r["queries"] / r["bits"] for r in right]),
            "bits": np.median([r["bits"] for r in right])}


def run():
    """Take all the boxes apart and store the tables."""
    tasks = [(k, M, s) for k in KERNELS for s in range(SEEDS)]
    rows = each(random_run, tasks, "random machines")
    table = [summarise("random", str(k), rows[i * SEEDS:(i + 1) * SEEDS])
             for i, k in enumerate(KERNELS)]
    groups = [(data, options) for data in DATA for options in OPTIONS]
    rows = each(trained_run, [(*g, s) for g in groups for s in range(TRAINED_SEEDS)],
                "trained SVCs")
    for i, (data, options) in enumerate(groups):
        words = ", ".join(f"{k} = {v}" for k, v in options.items() if k != "kernel")
        table.append(summarise("trained", data + (", " + words if words else ""),
                               rows[i * TRAINED_SEEDS:(i + 1) * TRAINED_SEEDS]))
    rows = each(random_run, [(KERNELS[0], m, s) for m in SIZES for s in range(SIZE_SEEDS)],
                "other sizes")
    sizes = [summarise("random", str(KERNELS[0]), rows[i * SIZE_SEEDS:(i + 1) * SIZE_SEEDS])
             for i in range(len(SIZES))]
    rows = each(impostor_run, [(kind, s) for kind in IMPOSTORS for s in range(FOREIGN_SEEDS)],
                "impostors")
    impostors = []
    for i, kind in enumerate(IMPOSTORS):
        part = rows[i * FOREIGN_SEEDS:(i + 1) * FOREIGN_SEEDS]
        impostors.append({"box": kind, "boxes": len(part),
                          "certified": sum(r["certified"] for r in part),
                          "named_tanh": sum(r["named"] == "tanh" for r in part),
                          "called_a_network": sum("a network" in r["reason"] for r in part),
                          "queries": np.median([r["queries"] for r in part])})
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1} for random machines, 0 to {TRAINED_SEEDS - 1} for trained "
                 f"ones, 0 to {SIZE_SEEDS - 1} for other sizes, 0 to {FOREIGN_SEEDS - 1} for "
                 "impostors",
        "table": table, "sizes": sizes, "impostors": impostors,
    })


if __name__ == "__main__":
    main(run)
