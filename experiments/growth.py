"""Growth of the queries that name the kernel and find S_Y, with d and with m.

    python -m experiments.growth

Random machines of every kernel, as many support vectors as m: d grows at m = 12, m at d = 120.
Counted are all queries of `deconstruct` but those of the certificate and of the stages that find
the machine on S_Y ("polynomial"; "far field", "tanh units"; "radial probe"). A quadratic
machine's "slices" show S_Y and the boundary at once, and are counted whole. Results go to
growth.json: one row a kernel, d and m, with medians over the seeds, then the exponents of the power
laws in d and in m that fit them best. (A linear machine's m is 1: it has no power of m.)
"""

from collections import defaultdict

import numpy as np

from decon import Gaussian, Linear, Oracle, Polynomial, Tanh, deconstruct

from ._boxes import random_box
from ._run import each, main, store

KERNELS = [Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Gaussian(3.0)]
SEEDS = 5
WITH_D = [(d, 12) for d in (30, 60, 120, 240, 480)]
WITH_M = [(120, m) for m in (4, 8, 12, 16, 24)]  # m (d - m) is nearly a power of m here
NOT_COUNTED = ("polynomial", "far field", "tanh units", "radial probe", "certificate")


def one_box(kernel, d, m, seed):
    """Take a random machine apart: is the answer right, how good, and what did it cost?"""
    box, features = random_box(kernel, d, m, seed)
    vectors = box.support_vectors
    if kernel.name == "linear":
        vectors = box.weights[None] @ vectors
    result = deconstruct(Oracle(box.predict, d), features, random_state=seed, progress=False)
    row = {"named": result.kernel_type == kernel.name, "stages": result.queries_by_stage,
           "m_right": result.rank == len(vectors), "sine": np.nan}
    if row["m_right"]:
        U, truth = result.subspace, np.linalg.qr(vectors.T)[0]
        row["sine"] = np.linalg.norm(truth - U @ (U.T @ truth), 2)
    return row


def summarise(kernel, d, m, rows):
    """One row of the table: medians over the boxes whose kernel and m were found."""
    m = 1 if kernel.name == "linear" else m
    table = {"kernel": kernel.name, "d": d, "m": m, "boxes": len(rows),
             "named": sum(r["named"] for r in rows), "m_right": sum(r["m_right"] for r in rows)}
    right = [r for r in rows if r["named"] and r["m_right"]]
    if not right:
        return table | {"queries": None}
    stages = {stage for r in right for stage in r["stages"]}
    counts = {s: np.array([r["stages"].get(s, 0) for r in right]) for s in stages}
    queries = sum(count for stage, count in counts.items() if stage not in NOT_COUNTED)
    # The information limit: every parameter that labels show to the accuracy of S_Y, against all
    # queries, since the machine's own stages make S_Y more accurate.
    parameters = m * (d - m)
    boundary = {"linear": 1, "quadratic": (m + 1) * (m + 2) // 2 - 1, "cubic": m * (m + 1)}.get(
        kernel.name, m * (m + 1) + 1)
    everything = sum(counts.values())
    bits = -np.log2([r["sine"] for r in right])
    return table | {
        "queries": np.median(queries), "least": queries.min(), "most": queries.max(),
        "sine": max(r["sine"] for r in right),
        "subspace_bits": parameters * np.median(bits),
        "bits": (parameters + boundary) * np.median(bits),
        "over_bits": np.median(everything / ((parameters + boundary) * bits)),
        "stages": {stage: np.median(counts[stage]) for stage in sorted(stages)},
    }


def exponent(table, name, what, points):
    """The slope of log(queries) over log(d) or log(m), and the sizes it was fitted to."""
    rows = [r for r in table if r["kernel"] == name and r["queries"] is not None
            and ((r["d"], r["m"]) in points or name == "linear")]
    if len(rows) < 2 or name == "linear" and what == "m":
        return None
    sizes = [r[what] for r in rows]
    slope = np.polyfit(np.log(sizes), np.log([r["queries"] for r in rows]), 1)[0]
    return {"exponent": slope, what: sizes}


def run():
    """Take the boxes apart, the costly ones first, and store medians and exponents."""
    tasks = [(kernel, d, m, seed) for kernel in KERNELS for seed in range(SEEDS)
             for d, m in sorted({*WITH_D, *(WITH_M if kernel.name != "linear" else [])})]
    tasks.sort(key=lambda task: task[1] * task[2], reverse=True)
    groups = defaultdict(list)
    for task, row in zip(tasks, each(one_box, tasks, "taking boxes apart"), strict=True):
        groups[task[:3]].append(row)
    table = [summarise(*key, groups[key])
             for key in sorted(groups, key=lambda key: (KERNELS.index(key[0]), *key[1:]))]
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1}", "not_counted": NOT_COUNTED, "table": table,
        "exponents": {kernel.name: {"d": exponent(table, kernel.name, "d", WITH_D),
                                    "m": exponent(table, kernel.name, "m", WITH_M)}
                      for kernel in KERNELS},
    })


if __name__ == "__main__":
    main(run)
