"""Seconds that ridge regression takes in its primal and in its dual form.

    python -m experiments.ridge_cost

Results go to ridge_cost.json, one row a number M of features.
"""

from time import perf_counter

import numpy as np
from tqdm import tqdm

from decon import Linear
from decon.learning.ridge import dual_ridge, primal_ridge

from ._run import main, store

N = 500
FEATURES = [20, 40, 80, 150, 250, 350, 500, 700, 1000, 1500, 2500, 4000]
REPEATS = 7


def seconds(function, *arguments):
    """The best time of several runs."""
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        function(*arguments)
        times.append(perf_counter() - start)
    return min(times)


def run():
    """Time both forms on random features, one after the other, and store the rows."""
    rng = np.random.default_rng(0)
    rows = []
    for M in tqdm(FEATURES, "timing"):
        Phi, t = rng.standard_normal((N, M)), rng.standard_normal(N)
        primal = seconds(primal_ridge, Phi, t, 1.0)
        dual = seconds(dual_ridge, Phi, t, Linear(), 1.0)
        rows.append({"M": M, "primal": float(f"{primal:.3g}"), "dual": float(f"{dual:.3g}")})
    store(__file__, {"seed": 0, "N": N, "repeats": REPEATS, "rows": rows})


if __name__ == "__main__":
    main(run)
