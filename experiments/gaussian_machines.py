"""Gaussian machines from yes and no: are the support vectors the box's own, and at what price?

    python -m experiments.gaussian_machines

Random machines (d = 30, m = 12), SVCs trained with gamma = 'scale', SVCs whose kernels are ever
narrower, and boxes with other radial kernels, which must be refused. Results go to
gaussian_machines.json, one row a kind of box.
"""

from collections import defaultdict

import numpy as np
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, deconstruct

from ._boxes import foreign_box, random_box, trained_box
from ._run import each, main, store

D, M, SEEDS, TRAINED_SEEDS, FOREIGN_SEEDS = 30, 12, 100, 15, 20
DATA = {"cancer": 20, "digits": 40, "mnist40": 28}  # and how many points an SVC is trained on
NARROWER = [0.25, 1, 2, 4, 8, 16, 32]
ROUNDING = 1e-13  # no error is counted as smaller
RADIAL = {
    "Cauchy": lambda r2: 1 / (1 + r2),
    "Student, 30 degrees of freedom": lambda r2: (1 + r2 / 30) ** -15.5,
    "inverse multiquadric": lambda r2: 1 / np.sqrt(1 + r2),
    "Laplacian": lambda r2: np.exp(-np.sqrt(r2)),
    "two Gaussians": lambda r2: 0.7 * np.exp(-r2 / 2) + 0.3 * np.exp(-r2 / 8),
}


def measure(predict, features, truth, seed):
    """Take one box apart and compare with the truth, a KernelMachine, or None."""
    oracle = Oracle(predict, features.shape[1])
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    machine = result.machine
    row = {"named": result.kernel_type, "certified": machine is not None,
           "exact": result.own_vectors, "queries": oracle.queries, "n_support": result.rank,
           "stick": result.queries_by_stage.get("radial probe", np.nan)}
    if truth is None or machine is None or result.kernel_type != "gaussian":
        return row
    Y, d = truth.support_vectors, truth.dimension
    m = len(Y)
    distances = np.linalg.norm(machine.support_vectors[:, None] - Y, axis=2)
    found, own = (np.linalg.qr(V.T)[0] for V in (machine.support_vectors, Y))
    row["sine"] = np.linalg.norm(own - found @ (found.T @ own), 2)
    length = np.linalg.norm(Y, axis=1)
    row["vectors"] = (distances.min(0) / length).max()
    row["wrong"] = (distances.min(1) / length[distances.argmin(1)]).max()  # found, and nowhere near
    row["sigma"] = abs(machine.kernel.sigma / truth.kernel.sigma - 1)
    row["bits"] = (m * (d - m) * -np.log2(max(row["sine"], ROUNDING))
                   + (m * (m + 1) + 1) * -np.log2(max(row["vectors"], ROUNDING)))
    return row


def random_run(sigma, seed):
    box, features = random_box(Gaussian(sigma), D, M, seed)
    return measure(box.predict, features, box, seed) | {"m": M}


def trained_run(data, C, narrower, seed):
    options = {"kernel": "rbf", "C": C}
    svc, features = trained_box(data, DATA[data], seed, **options)
    if narrower != 1:
        svc, features = trained_box(data, DATA[data], seed, gamma=narrower * svc._gamma, **options)
    truth = KernelMachine.from_sklearn(svc)
    return measure(svc.predict, features, truth, seed) | {"m": len(truth.weights)}


class RadialKernel:
    """A kernel g(|x - y|^2) for SVC, its length scale the median distance of the first points."""

    def __init__(self, name):
        self.name, self.unit = name, None

    def __call__(self, X, Y):
        r2 = ((X[:, None] - Y) ** 2).sum(2) if len(X) < 1000 else np.concatenate(
            [((x[None] - Y) ** 2).sum(1)[None] for x in X])
        self.unit = self.unit or np.median(r2)
        return RADIAL[self.name](r2 / self.unit)


def foreign_run(name, data, seed):
    model, features = foreign_box(SVC(kernel=RadialKernel(name), C=10), data, DATA[data], seed)
    return measure(model.predict, features, None, seed)


def summarise(kind, box, rows):
    """One row of the table."""
    known = [r for r in rows if "bits" in r]
    table = {"kind": kind, "box": box, "boxes": len(rows),
             "named": sum(r["named"] == "gaussian" for r in rows),
             "certified": sum(r["certified"] for r in rows),
             "exact": sum(r["exact"] for r in rows),
             "queries": np.median([r["queries"] for r in rows]),
             "stick": np.median([r["stick"] for r in rows if np.isfinite(r["stick"])] or np.nan)}
    if kind == "foreign":
        return table
    m_right = [r for r in rows if r["n_support"] == r["m"]]
    within = {f"within_{10.0**-k:.0e}": sum(r["vectors"] < 10.0**-k for r in known)
              for k in (3, 4, 6)}
    return table | within | {
        "m": [min(r["m"] for r in rows), max(r["m"] for r in rows)], "m_right": len(m_right),
        "sigma_1e-04": sum(r["sigma"] < 1e-4 for r in known),
        "false": sum(r["exact"] and r["wrong"] > 1e-3 for r in known),
        "median_error": np.median([r["vectors"] for r in known]) if known else np.nan,
        "worst_error": max((r["vectors"] for r in known), default=np.nan),
        "worst_sigma": max((r["sigma"] for r in known), default=np.nan),
        "over_bits": np.median([r["queries"] / r["bits"] for r in known]) if known else np.nan,
    }


def run():
    """Take all the boxes apart and store the table."""
    groups = defaultdict(list)
    tasks = [(sigma, s) for sigma in (1.0, 4.0) for s in range(SEEDS)]
    rows = each(random_run, tasks, "random machines")
    for (sigma, _), row in zip(tasks, rows, strict=True):
        groups["random", f"sigma = {sigma:g}"].append(row)
    scatter = [[r["vectors"], r["queries"]] for r in rows if "vectors" in r]
    tasks = [(data, C, 1, s) for data in DATA for C in (1, 10) for s in range(TRAINED_SEEDS)]
    for (data, C, *_), row in zip(tasks, each(trained_run, tasks, "trained SVCs"), strict=True):
        groups["trained", f"{data}, C = {C}"].append(row)
    tasks = [("cancer", 10, gamma, s) for gamma in NARROWER for s in range(FOREIGN_SEEDS)]
    for (*_, gamma, _), row in zip(tasks, each(trained_run, tasks, "narrow SVCs"), strict=True):
        groups["narrower", f"{gamma:g}"].append(row)
    tasks = [(name, "cancer", s) for name in RADIAL for s in range(FOREIGN_SEEDS)]
    for (name, *_), row in zip(tasks, each(foreign_run, tasks, "foreign boxes"), strict=True):
        groups["foreign", name].append(row)
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1} for random machines, 0 to {TRAINED_SEEDS - 1} for trained "
                 f"ones, 0 to {FOREIGN_SEEDS - 1} for narrow and foreign ones",
        "table": [summarise(*key, rows) for key, rows in groups.items()],
        "error_and_queries": scatter,
    })


if __name__ == "__main__":
    main(run)
