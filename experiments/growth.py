"""Growth of the queries of a whole extraction, with d and with m.

    python -m experiments.growth

Random machines of every kernel, as many support vectors as m: d grows at m = 12, m at d = 240.
Results go to growth.json: `table`, one row per kernel, d and m, with the columns of `_compare` and
one more, `extraction`: all queries but those of the agreement test, which do not depend on the
machine. `exponents`: the power laws in d and in m that fit the medians best, over the models whose
kernel and rank were found; those in d from d = 120 on, since smaller machines are sharpened and
cost less. (A linear machine's m is 1: it has no power of m.)

About a quarter of an hour on two cores, most of it for machines of 960 and 1,920 dimensions.
"""

from collections import defaultdict

import numpy as np

from decon import Gaussian, Linear, Polynomial, Tanh

from ._compare import columns, taken_apart
from ._models import random_model
from ._run import each, main, store

KERNELS = {kernel.name: kernel for kernel in (
    Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Gaussian(3.0))}
SEEDS, LARGE_SEEDS = 5, 3  # the second from d = LARGE on
LARGE = 960
WITH_D = [(d, 12) for d in (30, 60, 120, 240, 480, 960, 1920)]
WITH_M = [(240, m) for m in (6, 8, 12, 16, 24)]  # m (d - m) is nearly a power of m here


def one_model(name, d, m, seed):
    """Take a random machine apart."""
    machine, features = random_model(KERNELS[name], d, m, seed)
    row = taken_apart(machine.predict, features, machine, seed)
    return row | {"extraction": row["queries"] - row["queries_by_stage"].get("agreement", 0)}


def exponent(groups, name, what, sizes):
    """The slope of log(median queries) over log(d) or log(m), and the sizes it was fitted to."""
    if name == "linear" and what == "m":
        return None
    x, y = [], []
    for d, m in sizes:
        right = [r["extraction"] for r in groups[name, d, m] if r["named"] and r["rank_right"]]
        if right:
            x.append({"d": d, "m": m}[what])
            y.append(np.median(right))
    return {"exponent": np.polyfit(np.log(x), np.log(y), 1)[0], what: x} if len(x) > 1 else None


def run():
    """Take the models apart, the costly ones first, and store the rows and the exponents."""
    tasks = [(name, d, m, seed) for name in KERNELS
             for d, m in sorted({*WITH_D, *(WITH_M if name != "linear" else [])})
             for seed in range(LARGE_SEEDS if d >= LARGE else SEEDS)]
    tasks.sort(key=lambda task: task[1] * task[2], reverse=True)
    groups = defaultdict(list)
    for task, row in zip(tasks, each(one_model, tasks, "taking models apart"), strict=True):
        groups[task[:3]].append(row)
    order = sorted(groups, key=lambda key: (list(KERNELS).index(key[0]), *key[1:]))
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1}; 0 to {LARGE_SEEDS - 1} from d = {LARGE} on",
        "table": [{"kernel": name, "d": d, "m": 1 if name == "linear" else m}
                  | columns(groups[name, d, m]) for name, d, m in order],
        "exponents": {name: {"d": exponent(groups, name, "d", WITH_D[2:]),
                             "m": exponent(groups, name, "m", WITH_M)} for name in KERNELS},
    })


if __name__ == "__main__":
    main(run)
