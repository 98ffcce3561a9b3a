"""Models that misbehave: noise, single precision, bounds, and budgets that end too soon.

    python -m experiments.misbehaving

Random machines of the five kernels, d = 30 and m = 12, are spoiled in one way at a time and taken
apart, without surrogates. The same machines unspoiled are in five_kernels.json, which must have
been made before.
Results go to misbehaving.json. `table`, one row per kernel and fault: on how many models the
kernel is `named`, S_Y right (`subspace`, all cosines at least 0.999), or `both`; how many are
named after another kernel (`false`); medians of the queries, of their `ratio` to those of the
unspoiled model, and of the result's `width` and `noise`; how many machines are `recovered`, and
the largest share of 20,000 labels that such a machine has `wrong`. `budgets` tells what is known
when the budget ends after a share of the queries that would do.
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from decon import BudgetExhausted, Gaussian, Oracle, Polynomial, deconstruct
from decon.subspaces.spans import largest_sine

from ._compare import compare
from ._models import KERNELS, D, M, flip, random_model, single, unit_model, within
from ._run import each, main, store

SEEDS, SOME, FEW = 100, 40, 20  # single precision is slow: some seeds
RATES = (0.001, 0.01, 0.05)
SLOW = "bounds", Gaussian(4.0)  # which passes for a cubic in all dimensions
TYPICAL = 0.01  # the rate of most models, told or not
COARSE = np.sqrt(1 - 0.999**2)  # a largest sine that counts as right
SHARES = (0.1, 0.25, 0.5, 0.75)  # of the budget that would do


def measure(fault, kernel, seed):
    """Take one model apart, spoiled, and compare with the truth."""
    make = unit_model if fault == "bounds" else lambda k, seed: random_model(k, D, M, seed)
    machine, features = make(kernel, seed)
    kind, _, rate = fault.partition(" ")
    predict, options = {
        "noise": lambda: (flip(machine.predict, float(rate), seed + 20_000),
                          {"noise": float(rate)}),
        "untold": lambda: (flip(machine.predict, float(rate), seed + 20_000), {}),
        "single": lambda: (single(machine), {}),
        "bounds": lambda: (within(machine.predict), {"bounds": (0, 1)}),
    }[kind]()
    result = deconstruct(Oracle(predict, D, **options), features, random_state=seed,
                         progress=False, surrogate=False)
    row = compare(result, machine, features, seed)
    row |= {"width": result.width, "noise": result.noise, "wrong": np.nan}
    if result.machine is not None:
        rng = np.random.default_rng(seed + 30_000)
        X = rng.random((20_000, D)) if kind == "bounds" else rng.standard_normal((20_000, D))
        row["wrong"] = (result.machine.predict(X) != machine.predict(X)).mean()
    return row


def summarise(fault, kernel, rows):
    """One row of the table."""
    named, sine, wrong = (np.array([r[key] for r in rows]) for key in ("named", "sine", "wrong"))
    subspace = sine <= COARSE
    wrong = wrong[named & np.isfinite(wrong)]
    return {"fault": fault, "model": str(kernel), "kernel": kernel.name, "models": len(rows),
            "named": named.sum(), "subspace": subspace.sum(), "both": (named & subspace).sum(),
            "false": sum(r["kernel_type"] not in (kernel.name, "unknown") for r in rows),
            **{key: np.median([r[key] for r in rows])
               for key in ("queries", "ratio", "width", "noise")},
            "recovered": len(wrong), "wrong": max(wrong, default=np.nan)}


def cut_short(kernel, share, full, seed):
    """What is known when the budget ends after a share of the queries that would have done?"""
    machine, features = random_model(kernel, D, M, seed)
    oracle = Oracle(machine.predict, D, budget=int(share * full))
    try:
        known = deconstruct(oracle, features, random_state=seed, progress=False, surrogate=False)
    except BudgetExhausted as error:
        known = error.result
    right = known.rank == M and largest_sine(known.subspace, machine.support_vectors.T) <= COARSE
    return len(known.points), len(known.normals), right


def run():
    """Spoil all the models, take them apart, and store the table."""
    stored = json.loads(Path(__file__).with_name("five_kernels.json").read_text(encoding="utf-8"))
    plain = {row["model"]: row["queries"] for row in stored["table"] if row["group"] == "random"}
    faults = {f"noise {rate}": SEEDS if rate == TYPICAL else FEW for rate in RATES}
    faults |= {f"untold {TYPICAL}": FEW, "single": SOME, "bounds": SEEDS}
    tasks = [(fault, kernel, seed) for fault, seeds in faults.items() for kernel in KERNELS
             for seed in range(FEW if (fault, kernel) == SLOW else seeds)]
    groups = defaultdict(list)
    for (fault, kernel, seed), row in zip(tasks, each(measure, tasks, "models"), strict=True):
        row["ratio"] = np.nan if fault == "bounds" else row["queries"] / plain[str(kernel)][seed]
        groups[fault, kernel].append(row)
    cuts = [(kernel, share, plain[str(kernel)][seed], seed) for kernel in (
        Polynomial(2), Polynomial(3), Gaussian(1.0)) for share in SHARES for seed in range(FEW)]
    known = np.array(each(cut_short, cuts, "budgets"), float).reshape(-1, FEW, 3)
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1}; 0 to {SOME - 1} for single precision; 0 to {FEW - 1} for "
                 "other rates of noise, wide Gaussians within bounds, and budgets",
        "table": [summarise(*key, rows) for key, rows in groups.items()],
        "budgets": [{"kernel": kernel.name, "share": share, "points": np.median(points),
                     "normals": np.median(normals), "subspace": right.mean()}
                    for (kernel, share, *_), (points, normals, right)
                    in zip(cuts[::FEW], known.transpose(0, 2, 1), strict=True)],
    })


if __name__ == "__main__":
    main(run)
