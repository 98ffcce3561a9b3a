"""Boxes that misbehave: noise, single precision, bounds, and budgets that end too soon.

    python -m experiments.misbehaving

Random machines of the five kernels, d = 30 and m = 12, are spoiled in one way at a time and taken
apart. Is the kernel named, are m and S_Y right (all cosines at least 0.999), at how many times the
price of the same box unspoiled? Results go to misbehaving.json, one row a kernel and a fault.
"""

from collections import defaultdict

import numpy as np
from scipy.linalg import subspace_angles

from decon import (
    BudgetExhausted,
    Gaussian,
    KernelMachine,
    Linear,
    Oracle,
    Polynomial,
    Tanh,
    deconstruct,
)

from ._boxes import random_box
from ._run import each, main, store

D, M, SEEDS, FEW = 30, 12, 100, 20
KERNELS = [Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Tanh(3.0, -0.2), Gaussian(1.0),
           Gaussian(4.0)]
RATES = [0.001, 0.01, 0.05]
SLOW = "bounds", Gaussian(4.0)  # which passes for a cubic in all dimensions
TYPICAL = 0.01  # the rate of most boxes, told or not
SHARES = [0.1, 0.25, 0.5, 0.75]  # of the budget that would do


def unit_box(kernel, seed):
    """A random machine whose boundary crosses [0, 1]^d, five points of each label.

    The centres of Gaussian machines lie in the cube; their width is in units of its radius.
    """
    rng = np.random.default_rng(seed)
    if isinstance(kernel, Gaussian):
        Y, kernel = rng.random((M, D)), Gaussian(kernel.sigma * np.sqrt(D) / 3)
    else:
        Y = 2 * rng.standard_normal((M, D)) / np.sqrt(D)
    weights, X = rng.standard_normal(M), rng.random((500, D))
    threshold = np.median(KernelMachine(kernel, Y, weights, 0).decision_function(X))
    box = KernelMachine(kernel, Y, weights, threshold)
    labels = box.predict(X)
    return box, np.concatenate([X[labels == kind][:5] for kind in (-1, 1)])


def flip(box, rate, seed):
    """The answers of a box, each wrong with the same probability."""
    rng = np.random.default_rng(seed + 20_000)
    return lambda X: box.predict(X) * np.where(rng.random(len(X)) < rate, -1, 1)


def single(box):
    """The answers of a machine whose arithmetic is all in single precision."""
    Y, weights = (a.astype(np.float32) for a in (box.support_vectors, box.weights))
    kernel, f = box.kernel, np.float32

    def predict(X):
        X = X.astype(f)
        inner = X @ Y.T
        if isinstance(kernel, Linear):
            K = inner
        elif isinstance(kernel, Polynomial):
            K = (f(kernel.gamma) * inner + f(kernel.coef0)) ** kernel.degree
        elif isinstance(kernel, Tanh):
            K = np.tanh(f(kernel.alpha) * inner + f(kernel.beta))
        else:
            squares = (X**2).sum(1)[:, None] + (Y**2).sum(1) - 2 * inner
            K = np.exp(-squares / f(2 * kernel.sigma**2))
        return np.where(K @ weights > f(box.threshold), 1, -1)

    return predict


def within(box):
    """The answers of a box that refuses all questions from outside the unit cube."""
    def predict(X):
        if X.min() < 0 or X.max() > 1:
            raise AssertionError("a question from outside the unit cube")
        return box.predict(X)
    return predict


def measure(fault, kernel, seed):
    """Take one box apart, spoiled, and compare with the truth."""
    box, features = unit_box(kernel, seed) if fault == "bounds" else random_box(kernel, D, M, seed)
    kind, _, rate = fault.partition(" ")
    predict, options = {
        "plain": lambda: (box.predict, {}),
        "noise": lambda: (flip(box, float(rate), seed), {"noise": float(rate)}),
        "untold": lambda: (flip(box, float(rate), seed), {}),
        "single": lambda: (single(box), {}),
        "bounds": lambda: (within(box), {"bounds": (0, 1)}),
    }[kind]()
    oracle = Oracle(predict, D, **options)
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    span = box.support_vectors
    if isinstance(kernel, Linear):
        span = (box.weights @ span)[None]
    cosine = np.nan
    if result.rank == len(span):
        cosine = np.cos(subspace_angles(result.subspace, span.T)).min()
    wrong = np.nan
    if result.machine is not None:
        rng = np.random.default_rng(seed + 30_000)
        X = rng.random((20_000, D)) if kind == "bounds" else rng.standard_normal((20_000, D))
        wrong = (result.machine.predict(X) != box.predict(X)).mean()
    return {"kind": kind, "named": result.kernel_type, "right": result.kernel_type == kernel.name,
            "cosine": cosine, "queries": oracle.queries, "width": result.width,
            "noise": result.noise, "wrong": wrong}


def summarise(fault, kernel, rows, plain):
    """One row of the table."""
    good = [r["cosine"] >= 0.999 for r in rows]
    wrong = [r["wrong"] for r in rows if r["right"] and np.isfinite(r["wrong"])]
    ratios = [r["queries"] / p["queries"] for r, p in zip(rows, plain, strict=False)]
    return {
        "fault": fault, "box": str(kernel), "kernel": kernel.name, "boxes": len(rows),
        "named": sum(r["right"] for r in rows), "subspace": sum(good),
        "both": sum(g and r["right"] for g, r in zip(good, rows, strict=True)),
        "false": sum(r["named"] not in (kernel.name, "unknown") for r in rows),
        "queries": np.median([r["queries"] for r in rows]),
        "ratio": np.nan if fault == "bounds" else np.median(ratios),
        "cosine": min((r["cosine"] for r, g in zip(rows, good, strict=True) if g), default=np.nan),
        "width": np.median([r["width"] for r in rows]),
        "noise": np.median([r["noise"] for r in rows]),
        "machines": len(wrong), "wrong": max(wrong, default=np.nan),
    }


def cut_short(kernel, share, seed):
    """What is known when the budget ends after a share of what would have done?"""
    box, features = random_box(kernel, D, M, seed)
    oracle = Oracle(box.predict, D)
    deconstruct(oracle, features, random_state=seed, progress=False)
    budget = int(share * oracle.queries)
    try:
        known = deconstruct(Oracle(box.predict, D, budget=budget), features, random_state=seed,
                            progress=False)
    except BudgetExhausted as error:
        known = error.result
    cosine = 0.0
    if known.rank == M:
        cosine = np.cos(subspace_angles(known.subspace, box.support_vectors.T)).min()
    return {"points": len(known.points), "normals": len(known.normals), "subspace": cosine >= 0.999}


def run():
    """Spoil all the boxes, take them apart, and store the table."""
    faults = {"plain": SEEDS, **{f"noise {rate}": FEW for rate in RATES}, f"untold {TYPICAL}": FEW,
              "single": SEEDS, "bounds": SEEDS} | {f"noise {TYPICAL}": SEEDS}
    tasks = [(fault, kernel, seed) for fault, seeds in faults.items() for kernel in KERNELS
             for seed in range(FEW if (fault, kernel) == SLOW else seeds)]
    groups = defaultdict(list)
    for task, row in zip(tasks, each(measure, tasks, "boxes"), strict=True):
        groups[task[:2]].append(row)
    shares = [(kernel, share, seed) for kernel in (Polynomial(2), Polynomial(3), Gaussian(1.0))
              for share in SHARES for seed in range(FEW)]
    cut = defaultdict(list)
    for task, row in zip(shares, each(cut_short, shares, "budgets"), strict=True):
        cut[task[:2]].append(row)
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1}; 0 to {FEW - 1} for other rates of noise, and for budgets",
        "table": [summarise(*key, rows, groups["plain", key[1]]) for key, rows in groups.items()],
        "budgets": [{"kernel": kernel.name, "share": share,
                     "points": np.median([r["points"] for r in rows]),
                     "normals": np.median([r["normals"] for r in rows]),
                     "subspace": np.mean([r["subspace"] for r in rows])}
                    for (kernel, share), rows in cut.items()],
    })


if __name__ == "__main__":
    main(run)
