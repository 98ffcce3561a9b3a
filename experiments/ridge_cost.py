"""Seconds that ridge regression takes in its primal and in its dual form.

    OMP_NUM_THREADS=1 python -m experiments.ridge_cost

Results go to ridge_cost.json, one row a number M of features.
"""

import json
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np

from decon import Linear
from decon.ridge import dual_ridge, primal_ridge

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


def main():
    """Time both forms on random features and store the rows."""
    rng = np.random.default_rng(0)
    rows = []
    for M in FEATURES:
        Phi, t = rng.standard_normal((N, M)), rng.standard_normal(N)
        primal = seconds(primal_ridge, Phi, t, 1.0)
        dual = seconds(dual_ridge, Phi, t, Linear(), 1.0)
        rows.append({"M": M, "primal": float(f"{primal:.3g}"), "dual": float(f"{dual:.3g}")})
    versions = {name: version(name) for name in ("numpy", "scipy")}
    report = {"date": date.today().isoformat(), "versions": versions, "seed": 0, "N": N,
              "repeats": REPEATS, "rows": rows}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
