"""The robust test of the kernel type: misfits near and far, labels and flatness far away.

    python -m experiments.kernel_type

Results go to kernel_type.json: `misfits`, how they are distributed for every degree and kind of
box; `names`, what the test calls the boxes, its queries, and the share of flat points near and
far; `fewer`, how many degrees are right with fewer radii and planes.
"""

import warnings
from collections import Counter

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.curves import curve_points, has_one_label_far_away, is_locally_flat
from decon.boundary.pairs import pn_pairs
from decon.families.polynomial import misfit

from ._boxes import foreign_box, random_box, trained_box
from ._run import each, main, store
from .votes import DATA, SVCS, D, M, box

RADII, PLANES, POINTS, WIDTH = (1, 10, 100, 1000), 4, 20, 1e-12  # radii in units of R0
FITS, BEND, FAR, STEP, FLAT = 0.5, 1e-3, 1e5, 1e-3, 0.7
RANDOM, TRAINED = 100, 10
OTHER = {  # more machines of the five kernels: harder ones
    "homogeneous cubic": ("cubic", Polynomial(3, coef0=0)),
    "tanh, alpha = 0.02": ("tanh", Tanh(0.02, 0.0)),
    "Gaussian, sigma = 10": ("gaussian", Gaussian(10.0)),
    "quartic": ("unknown", Polynomial(4)),
}
FAINT = {
    "tanh, gamma = 0.001": ("tanh", {"kernel": "sigmoid", "gamma": 0.001, "C": 100}),
    "Gaussian, gamma = 0.001": ("gaussian", {"kernel": "rbf", "gamma": 0.001, "C": 100}),
}
FOREIGN = {
    "Laplacian SVC": lambda seed: SVC(kernel=laplacian_kernel),
    "random forest": lambda seed: RandomForestClassifier(30, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(),
    "ReLU network": lambda seed: MLPClassifier((20,), random_state=seed, max_iter=300),
    "tanh network": lambda seed: MLPClassifier((10,), "tanh", random_state=seed, max_iter=300),
}
RANDOM_KINDS = {"linear": "linear", "quadratic": "quadratic", "cubic": "cubic",
                "tanh, alpha = 1": "tanh", "tanh, alpha = 0.2": "tanh",
                "Gaussian, sigma = 1": "gaussian", "Gaussian, sigma = sqrt(d / 2)": "gaussian"}
SVC_KINDS = dict(zip(SVCS, ("linear", "quadratic", "cubic", "tanh", "gaussian"), strict=True))


def make(source, kind, data, seed):
    """What a box predicts, and typical points."""
    if source == "random":
        if kind in OTHER:
            machine, features = random_box(OTHER[kind][1], D, M, seed)
            return machine.predict, features
        return box(kind, seed)
    if source == "trained":
        options = (FAINT if kind in FAINT else SVCS)[kind][1]
        model, features = trained_box(data, DATA[data], seed, **options)
        predict = KernelMachine.from_sklearn(model).predict
    else:
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            model, features = foreign_box(FOREIGN[kind](seed), data, 200, seed)
        predict = model.predict
    return predict, features


def pairs(oracle, features, radius, n, rng):
    """PN-pairs between points of a cloud of a given root mean square norm (and the features)."""
    d = features.shape[1]
    cloud = radius / np.sqrt(d) * rng.standard_normal((400, d))
    cloud = np.concatenate([features, cloud])
    labels = oracle(cloud)
    return pn_pairs(cloud[labels > 0], cloud[labels < 0], n, rng)


def sphere(oracle, radius, n, rng):
    """PN-pairs between points at a given distance from the origin; None if all labels agree."""
    U = rng.standard_normal((60, oracle.dimension))
    U *= radius / np.linalg.norm(U, axis=1, keepdims=True)
    labels = oracle(U)
    both = abs(int(labels.sum())) < len(U)
    return pn_pairs(U[labels > 0], U[labels < 0], n, rng) if both else None


def flat(oracle, P, N, radius, rng):
    X, V = boundary_points(oracle, P, N, WIDTH * radius)
    return is_locally_flat(oracle, X, V, STEP * radius, WIDTH * radius, rng).mean()


def look(source, kind, data, seed):
    """All that the test looks at, for one box, and the name it gives."""
    predict, features = make(source, kind, data, seed)
    oracle, rng = Oracle(predict, features.shape[1]), np.random.default_rng(seed)
    oracle(features)
    R0 = np.linalg.norm(features) / np.sqrt(len(features))
    X, V = boundary_points(oracle, *pairs(oracle, features, R0, PLANES, rng), WIDTH * R0)
    planes = [np.linalg.qr(np.c_[v, rng.standard_normal(len(v))])[0] for v in V]
    start, misfits = oracle.queries, np.full((len(RADII), PLANES, 4), np.nan)
    for i, radius in enumerate(RADII):
        for j, (x, plane) in enumerate(zip(X, planes, strict=True)):
            Z = curve_points(oracle, x, plane, POINTS, radius * R0, WIDTH * radius * R0, rng)
            if len(Z):
                misfits[i, j] = [misfit(Z, degree, WIDTH * radius * R0) for degree in (1, 2, 3, 4)]
    row = {"misfits": misfits, "planes": oracle.queries - start}
    bent = [np.mean(m[:, 0] * WIDTH > BEND) >= 0.5 for m in misfits]  # NaN is not bent
    scale = R0 * (RADII[bent.index(True)] if any(bent) else 1)
    start = oracle.queries
    row["alike"] = has_one_label_far_away(oracle, FAR * scale, random_state=rng)
    row["near"] = flat(oracle, *pairs(oracle, features, scale, 20, rng), scale, rng)
    far = sphere(oracle, FAR * scale, 20, rng)
    row["far"] = np.nan if far is None else flat(oracle, *far, FAR * scale, rng)
    row["scale"], row["flatness"] = scale / R0, oracle.queries - start
    return row | {"name": name(row)}


def degree(misfits):
    """The smallest degree that fits every curve; None if none does, 0 if there is no curve."""
    seen = misfits[np.isfinite(misfits[:, 0])]
    if not len(seen):
        return 0
    return next((D for D in (1, 2, 3) if (seen[:, D - 1] < FITS).all()), None)


def name(row):
    D = degree(row["misfits"].reshape(-1, 4))
    if D and not (D == 3 and row["alike"]):
        return {1: "linear", 2: "quadratic", 3: "cubic"}[D]
    if row["alike"]:
        return "gaussian"
    return "tanh" if row["near"] < FLAT < row["far"] else "unknown"


def quantiles(misfits):
    """Logarithms of the misfits: minimum, quantiles, maximum, for every degree."""
    seen = misfits[np.isfinite(misfits[:, 0])]
    return np.log10(np.quantile(seen, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1], axis=0)).T


def run():
    truth = {("random", kind): name for kind, name in RANDOM_KINDS.items()}
    truth |= {("random", kind): name for kind, (name, _) in OTHER.items()}
    truth |= {("trained", kind): name for kind, name in SVC_KINDS.items()}
    truth |= {("trained", kind): name for kind, (name, _) in FAINT.items()}
    truth |= {("foreign", kind): "unknown" for kind in FOREIGN}
    tasks = [(source, kind, data, seed) for source, kind in truth
             for data in (["-"] if source == "random" else DATA)
             for seed in range(RANDOM if source == "random" else TRAINED)]
    seen = {}
    for (source, kind, _, _), row in zip(tasks, each(look, tasks, "boxes"), strict=True):
        seen.setdefault((source, kind), []).append(row)
    misfits, names, fewer = [], [], np.zeros((len(RADII), PLANES), int)
    for (source, kind), rows in seen.items():
        stack = np.array([row["misfits"] for row in rows])
        one = {"boxes": source, "kind": kind, "truth": truth[source, kind], "machines": len(rows)}
        right = {"linear": 1, "quadratic": 2, "cubic": 3}.get(truth[source, kind])
        if one["truth"] != "unknown":
            fewer += [[sum(degree(m[:i + 1, :j + 1].reshape(-1, 4)) == right for m in stack)
                       for j in range(PLANES)] for i in range(len(RADII))]
        if source != "foreign":
            misfits.append(one | {"quantiles": quantiles(stack[:, 0].reshape(-1, 4)),
                                  "all_radii": quantiles(stack.reshape(-1, 4))})
            names_at = [Counter(str(degree(m)) for m in stack[:, i]) for i in range(len(RADII))]
            misfits[-1]["degree_at_radius"] = names_at
        names.append(one | {
            "named": Counter(row["name"] for row in rows),
            "degree": Counter(str(degree(m.reshape(-1, 4))) for m in stack),
            "right_degree_misfit": np.nanmax(stack[..., right - 1]) if right else None,
            "near": np.mean([row["near"] for row in rows]),
            "far": np.nanmean([row["far"] for row in rows]) if any(
                np.isfinite(row["far"]) for row in rows) else None,
            "alike": np.mean([row["alike"] for row in rows]),
            "scale": Counter(str(round(row["scale"])) for row in rows),
            "queries_planes": np.median([row["planes"] for row in rows]),
            "queries_flatness": np.median([row["flatness"] for row in rows])})
    store(__file__, {
        "seeds": f"random machines 0 to {RANDOM - 1}, d = {D}, m = {M}; other boxes 0 to "
                 f"{TRAINED - 1} of every data set",
        "radii": RADII, "planes": PLANES, "points": POINTS, "width": WIDTH,
        "misfits": misfits, "names": names,
        "fewer": {"machines": sum(n["machines"] for n in names if n["truth"] != "unknown"),
                  "right": fewer},  # with the first radii (rows) and planes (columns) only
    })


if __name__ == "__main__":
    main(run)
