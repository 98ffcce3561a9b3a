"""What it costs to learn: one example more or less, and ridge regression in both its forms.

    python -m experiments.learning_cost

Times are in seconds, of one thread. Use --jobs 1: more tasks at a time disturb each other's clocks.
Results go to learning_cost.json. `ridge`: the primal and the dual form, one row per number M of
features. `rows`: what it costs to learn or unlearn one example exactly, against training the
machine afresh, one row per machine: a data set, a kernel and a number n of examples. Quartiles are
over the examples.

"any" are examples that the machine has not seen: each is learned (from n to n + 1) and unlearned.
"support" are random support vectors: each is unlearned (from n to n - 1) and learned again.
"refit" is scikit-learn's SVC with its default tolerance, "refit_fine" with 1e-8, on n - 1 examples.
"""

from time import perf_counter

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from decon import Gaussian, IncrementalSVM, Linear, Polynomial
from decon.learning.ridge import dual_ridge, primal_ridge
from decon.teaching.datasets import load_mnist

from ._run import each, main, store

SIZES = [200, 400, 800, 1200, 2000]
EXAMPLES = 30  # of each kind
BRUTE = 400  # up to this n, leave-one-out is also done by n refits
STEPS = ["learn any", "unlearn any", "learn support", "unlearn support"]
TOLERANCES = {"refit": 1e-3, "refit_fine": 1e-8}
MACHINES = [("mnist", "polynomial"), ("mnist", "gaussian"), ("clouds", "linear"),
            ("clouds", "gaussian")]
N, REPEATS = 500, 7  # examples of ridge regression, and runs of which the fastest counts
FEATURES = [20, 40, 80, 150, 250, 350, 500, 700, 1000, 1500, 2500, 4000]


def examples(data, seed=0):
    """All examples of a data set, in random order: X, t, and the width of a Gaussian for them."""
    rng = np.random.default_rng(seed)
    if data == "mnist":  # odd against even digits
        X, digit = load_mnist()
        X = PCA(60, svd_solver="full").fit_transform(X)
        t = np.where(digit % 2 == 1, 1, -1)
    else:  # two clouds in ten dimensions, of which the best classifier confuses 16%
        t = np.repeat([1, -1], 1500)
        X = rng.standard_normal((3000, 10)) + np.outer(t, np.r_[1.0, np.zeros(9)])
    order = rng.permutation(len(t))
    return X[order], t[order], float(np.sqrt(X.shape[1] * X.var() / 2))


def seconds(function, *arguments):
    start = perf_counter()
    function(*arguments)
    return perf_counter() - start


def refit(kernel, tolerance):
    return SVC(**kernel.to_sklearn(), C=1.0, tol=tolerance)


def quartiles(values):
    """First quartile, median, third."""
    return np.percentile(values, [25, 50, 75])


def cost(data, kernel_name, n):
    """One row of the table."""
    X, t, sigma = examples(data)
    kernel = {"linear": Linear(), "polynomial": Polynomial(2, gamma=1 / (2 * sigma**2)),
              "gaussian": Gaussian(sigma)}[kernel_name]
    rng = np.random.default_rng(1)
    svm = IncrementalSVM(kernel, 1.0)
    fits = [seconds(IncrementalSVM(kernel, 1.0).fit, X[:n], t[:n]) for _ in range(2)]
    fits.append(seconds(svm.fit, X[:n], t[:n]))
    row = {"data": data, "kernel": kernel_name, "n": n, "support": int((svm.a > 0).sum()),
           "margin": int(((svm.a > 0) & (svm.a < svm.C)).sum()), "fit": float(np.median(fits))}

    one_by_one = IncrementalSVM(kernel, 1.0)
    row["one_by_one"] = sum(seconds(one_by_one.learn, *pair)
                            for pair in zip(X[:n], t[:n], strict=True))
    row["same_objective"] = abs(one_by_one.objective / svm.objective - 1)

    times = {what: [] for what in (*TOLERANCES, *STEPS)}
    ratios = {f"{name} / {what}": [] for name in TOLERANCES for what in STEPS}
    residuals, idle = [], 0

    def step(what, change, *arguments):
        times[what].append(seconds(change, *arguments))
        residuals.append(svm.kkt_residual)
        return times[what][-1]

    for e in range(EXAMPLES):
        taken = {"learn any": step("learn any", svm.learn, X[n + e], t[n + e])}
        idle += svm.a[-1] == 0
        taken["unlearn any"] = step("unlearn any", svm.unlearn, n)
        i = int(rng.choice(np.flatnonzero(svm.a > 0)))
        x, label = svm.X[i].copy(), svm.y[i]
        taken["unlearn support"] = step("unlearn support", svm.unlearn, i)
        taken["learn support"] = step("learn support", svm.learn, x, label)
        for name, tolerance in TOLERANCES.items():  # at once, so that both meet the same machine
            times[name].append(seconds(refit(kernel, tolerance).fit, svm.X[1:], svm.y[1:]))
            for what in STEPS:
                ratios[f"{name} / {what}"].append(times[name][-1] / taken[what])
    row |= {"idle": int(idle), "residual": max(residuals), "restarts": svm.restarts - 1}
    row |= {key: quartiles(values) for key, values in (times | ratios).items()}

    row["leave_one_out"] = seconds(svm.leave_one_out)
    for name, tolerance in TOLERANCES.items():
        row[f"n {name}"] = n * row[name][1]  # an estimate, from the median
        if n <= BRUTE:
            row[f"n {name}, measured"] = sum(
                seconds(refit(kernel, tolerance).fit, np.delete(X[:n], i, 0), np.delete(t[:n], i))
                for i in range(n))
    return row


def ridge(M):
    """Seconds for both forms of ridge regression on random features."""
    rng = np.random.default_rng(M)
    Phi, t = rng.standard_normal((N, M)), rng.standard_normal(N)
    return {"M": M, "primal": min(seconds(primal_ridge, Phi, t, 1.0) for _ in range(REPEATS)),
            "dual": min(seconds(dual_ridge, Phi, t, Linear(), 1.0) for _ in range(REPEATS))}


def run():
    """Measure all machines and store the rows."""
    tasks = [(*machine, n) for machine in MACHINES for n in SIZES]
    load_mnist()
    rows = each(cost, tasks, "machines")
    store(__file__, {"seeds": "data 0, support vectors 1", "examples": EXAMPLES,
                     "tolerances": TOLERANCES, "rows": rows,
                     "ridge": {"N": N, "repeats": REPEATS, "rows": each(
                         ridge, [(M,) for M in FEATURES], "ridge regression")}})


if __name__ == "__main__":
    main(run)
