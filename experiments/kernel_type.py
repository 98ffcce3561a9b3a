"""The kernel type by votes, as in the paper, and by a robust test, on the same models.

    python -m experiments.kernel_type

Results go to kernel_type.json. `votes`, the paper's test, in which 25 planes vote: `table`, the
share of machines named rightly by the majority (and of the planes that vote rightly) over the
tolerance, for several radii of the discs; `widths` and `counts`, the same over the width of the
brackets and the number of points per curve; `best`, the confusion at the settings that serve all
random kernels best. `digits`, figures 1 and 4b of the paper: the votes of 200 planes on a cubic
machine for handwritten digits, over the tolerance, for several training sets, kinds of planes,
radii and widths. `robust`, our test: `misfits`, how they are distributed for every degree and kind
of model; `names`, what the test calls the models, its queries, and the share of flat points near
and far; `fewer`, how many degrees are right with fewer radii and planes.
"""

from collections import Counter

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.curves import curve_points, has_one_label_far_away, is_locally_flat
from decon.boundary.pairs import pn_pairs
from decon.families.polynomial import fit_polynomial, misfit
from decon.paper import NAMES
from decon.teaching.datasets import load_mnist

from ._models import SVCS, D, M, fitted_model, random_model, spread_gaussian, trained_model
from ._run import each, main, store

# the models
RANDOM = {
    "linear": Linear(),
    "quadratic": Polynomial(2),
    "cubic": Polynomial(3),
    "tanh, alpha = 1": Tanh(1.0, 0.3),
    "tanh, alpha = 0.2": Tanh(0.2, 0.0),
    "Gaussian, sigma = 1": Gaussian(1.0),
    "Gaussian, sigma = sqrt(d / 2)": None,  # with support vectors like the features
}
HARDER = {
    "homogeneous cubic": Polynomial(3, coef0=0),
    "tanh, alpha = 0.02": Tanh(0.02, 0.0),
    "Gaussian, sigma = 10": Gaussian(10.0),
    "quartic": Polynomial(4),
}
TRAINED = {"linear": SVCS["linear"], "quadratic": SVCS["quadratic"], "cubic": SVCS["cubic"],
           "tanh": SVCS["tanh"], "Gaussian": SVCS["gaussian"]}
FAINT = {"tanh, gamma = 0.001": {"kernel": "sigmoid", "gamma": 0.001, "C": 100},
         "Gaussian, gamma = 0.001": {"kernel": "rbf", "gamma": 0.001, "C": 100}}
FOREIGN = {
    "Laplacian SVC": lambda seed: SVC(kernel=laplacian_kernel),
    "random forest": lambda seed: RandomForestClassifier(30, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(),
    "ReLU network": lambda seed: MLPClassifier((20,), random_state=seed, max_iter=300),
    "tanh network": lambda seed: MLPClassifier((10,), "tanh", random_state=seed, max_iter=300),
}
DATA = {"cancer": 20, "digits": 30, "mnist40": 25}  # training examples, as many as keep m < d
SEEDS = {"random": 100, "trained": 10, "foreign": 10}  # of a kind (and a data set)
POINTS = 20  # of a curve

# the votes
PLANES, WIDTH = 25, 1e-6
RADII = (0.1, 0.3, 1.0, 3.0)  # in units of R0
TOLERANCES = 10.0 ** np.arange(-9, -0.9, 0.5)
SWEEP = ("cubic", "tanh, alpha = 1", "Gaussian, sigma = 1")
WIDTHS, COUNTS, MACHINES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12), (9, 10, 11, 12, 15, 20, 30, 40), 30

# digits
SETS, DIGIT_PLANES = 5, 200
SETTINGS = [(kind, radius, 1e-6) for kind in ("pair", "random") for radius in (0.3, 1.0, 3.0)]
SETTINGS += [(kind, 1.0, 1e-10) for kind in ("pair", "random")]

# the robust test
FAR_RADII, FEW_PLANES, FINE = (1, 10, 100, 1000), 4, 1e-12  # radii in units of R0
FITS, BEND, FAR, STEP, FLAT = 0.5, 1e-3, 1e5, 1e-3, 0.7


def family(kind):
    """The name that is right for a kind of model."""
    word = kind.removeprefix("homogeneous ").split(",")[0].lower()
    return word if word in SVCS else "unknown"


def ballot(kind):
    """What the planes should vote."""
    return family(kind) if family(kind) in NAMES.values() else "transcendental"


def model(source, kind, data, seed):
    """What a model predicts, and typical points."""
    if source == "foreign":
        classifier, features = fitted_model(FOREIGN[kind](seed), data, 200, seed)
        return classifier.predict, features
    if source == "trained":
        svc, features = trained_model(data, DATA[data], seed, **(TRAINED | FAINT)[kind])
        return KernelMachine.from_sklearn(svc).predict, features
    kernel = (RANDOM | HARDER)[kind]
    machine, features = (random_model(kernel, D, M, seed) if kernel else
                         spread_gaussian(np.sqrt(D / 2), seed))
    return machine.predict, features


def tasks_for(kinds):
    """(source, kind, data, seed) of all models of some kinds (source, kind)."""
    return [(source, kind, data, seed) for source, kind in kinds
            for data in (["-"] if source == "random" else DATA) for seed in range(SEEDS[source])]


def scale_of(features):
    return np.linalg.norm(features) / np.sqrt(len(features))


def pairs(oracle, features, radius, n, rng, cloud_rng=None):
    """PN-pairs between points of a cloud of a given root mean square norm (and the features)."""
    d = features.shape[1]
    cloud = radius / np.sqrt(d) * (cloud_rng or rng).standard_normal((400, d))
    cloud = np.concatenate([features, cloud])
    labels = oracle(cloud)
    return pn_pairs(cloud[labels > 0], cloud[labels < 0], n, rng)


# -- the votes -----------------------------------------------------------------------------------

def residuals(oracle, x, other, n, radius, width, rng):
    """Root mean square residuals of degrees 1 to 3, in the plane of 0, x and another direction."""
    plane = np.linalg.qr(np.c_[x, other])[0]
    Z = curve_points(oracle, x, plane, n, radius, width, rng)
    if not len(Z):
        return [np.nan] * 3
    return [fit_polynomial(Z, degree)[1][1] / np.sqrt(n) for degree in (1, 2, 3)]


def measured(source, kind, data, seed, radii=RADII, n=POINTS, width=WIDTH):
    """Residuals (radii, planes, 3) of a model, and the queries of a radius.

    The width is in units of the root mean square of a coordinate.
    """
    predict, features = model(source, kind, data, seed)
    d, R0 = features.shape[1], scale_of(features)
    oracle, rng = Oracle(predict, d), np.random.default_rng(seed)
    width *= np.sqrt(np.mean(features**2)) if radii is RADII else 1.0
    X, _ = boundary_points(oracle, *pairs(oracle, features, R0, PLANES, seed,
                                          np.random.default_rng(seed)), width)
    before = oracle.queries
    found = [[residuals(oracle, x, rng.standard_normal(d), n, r * R0, width, rng) for x in X]
             for r in radii]
    return np.array(found), (oracle.queries - before) / len(radii) + before


def vote(planes, tolerance):
    """The votes of some planes: the smallest degree with a residual within the tolerance."""
    votes = Counter()
    for row in planes[np.isfinite(planes[:, 0])]:
        fits = [degree for degree in (1, 2, 3) if row[degree - 1] <= tolerance]
        votes[NAMES[fits[0] if fits else None]] += 1
    return votes


def majority(votes):
    """The name with more votes than any other; 'tie' or 'none' otherwise."""
    first = votes.most_common(2)
    if not first:
        return "none"
    return "tie" if len(first) == 2 and first[0][1] == first[1][1] else first[0][0]


def rates(truth, machines):
    """Share of machines, and of planes, that are right, over the tolerance."""
    named, share = [], []
    for tolerance in TOLERANCES:
        votes = [vote(planes, tolerance) for planes in machines]
        named.append(np.mean([majority(v) == truth for v in votes]))
        share.append(sum(v[truth] for v in votes) / max(1, sum(v.total() for v in votes)))
    return {"machines": len(machines), "named": named, "planes": share,
            "one_label": np.mean([np.isnan(planes[:, 0]).mean() for planes in machines])}


def votes():
    """The paper's test on all models, and over widths and numbers of points."""
    tasks = tasks_for([("random", kind) for kind in RANDOM] + [("trained", k) for k in TRAINED])
    seen, queries = {}, []
    for (source, kind, *_), (found, count) in zip(tasks, each(measured, tasks, "radii"),
                                                  strict=True):
        seen.setdefault((source, kind), []).append(found)
        queries.append(count)
    table = [{"boxes": source, "kind": kind, "truth": ballot(kind), "radius": radius,
              **rates(ballot(kind), [planes[i] for planes in found])}
             for (source, kind), found in seen.items() for i, radius in enumerate(RADII)]

    def quality(ij):
        """The worst share of a random kind, then the mean share of all."""
        rows = [row for row in table if row["radius"] == RADII[ij[0]]]
        return (min(row["named"][ij[1]] for row in rows if row["boxes"] == "random"),
                np.mean([row["named"][ij[1]] for row in rows]))

    i, j = max(np.ndindex(len(RADII), len(TOLERANCES)), key=quality)
    confusion = [{"boxes": source, "kind": kind, "named": Counter(
        majority(vote(planes[i], TOLERANCES[j])) for planes in found)}
        for (source, kind), found in seen.items()]
    sweep = [("random", kind, "-", seed, (1.0,), n, width) for kind in SWEEP for n, width in (
        [(POINTS, width) for width in WIDTHS] + [(n, WIDTH) for n in COUNTS if n != POINTS])
        for seed in range(MACHINES)]
    seen = {}
    for (_, kind, _, _, _, n, width), (found, _) in zip(
            sweep, each(measured, sweep, "widths, points"), strict=True):
        seen.setdefault((kind, width, n), []).append(found[0])
    rows = [{"kind": kind, "width": width, "points": n, **rates(ballot(kind), found)}
            for (kind, width, n), found in seen.items()]
    return {"planes": PLANES, "points": POINTS, "width": WIDTH, "tolerances": TOLERANCES,
            "radii": RADII, "queries": np.median(queries), "table": table,
            "best": {"radius": RADII[i], "tolerance": TOLERANCES[j], "confusion": confusion},
            "widths": [row for row in rows if row["points"] == POINTS],
            "counts": [row for row in rows if row["width"] == WIDTH]}


# -- digits --------------------------------------------------------------------------------------

def digit_votes(seed, kind, radius, width):
    """Planes through a boundary point and the origin; the pair's own, or a random direction."""
    X, y = load_mnist()
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:200] for k in (2, 0, 5, 7, 8)])
    svc, X = SVC(kernel="poly", degree=3, gamma=1, coef0=1).fit(X[rows], y[rows] == 2), X[rows]
    oracle, rng = Oracle(KernelMachine.from_sklearn(svc).predict, 784), np.random.default_rng(seed)
    R0, labels = scale_of(X), oracle(X)
    P, N = pn_pairs(X[labels > 0], X[labels < 0], DIGIT_PLANES, rng)
    points, V = boundary_points(oracle, P, N, width)
    before = oracle.queries
    others = V if kind == "pair" else rng.standard_normal(V.shape)
    planes = np.array([residuals(oracle, x, other, POINTS, radius * R0, width, rng)
                       for x, other in zip(points, others, strict=True)])
    counted = [vote(planes, tolerance) for tolerance in TOLERANCES]
    return {"queries": oracle.queries - before, "support_vectors": len(svc.dual_coef_[0]),
            "scale": R0, **{name: [v[name] for v in counted] for name in NAMES.values()}}


def digits():
    """The votes of many planes on cubic machines for digits."""
    tasks = [(seed, *setting) for setting in SETTINGS for seed in range(SETS)]
    results = each(digit_votes, tasks, "planes")
    table = []
    for k, (kind, radius, width) in enumerate(SETTINGS):
        rows = results[k * SETS:(k + 1) * SETS]
        table.append({"planes": kind, "radius": radius, "width": width,
                      "queries": np.median([row["queries"] for row in rows]),
                      **{name: [row[name] for row in rows] for name in NAMES.values()}})
    return {"seeds": f"training sets 0 to {SETS - 1}, of 200 images each of 2, 0, 5, 7, 8",
            "support_vectors": [row["support_vectors"] for row in results[:SETS]],
            "scale": np.median([row["scale"] for row in results[:SETS]]),
            "tolerances": TOLERANCES, "points": POINTS, "votes": table}


# -- the robust test -----------------------------------------------------------------------------

def sphere(oracle, radius, n, rng):
    """PN-pairs between points at a given distance from the origin; None if all labels agree."""
    U = rng.standard_normal((60, oracle.dimension))
    U *= radius / np.linalg.norm(U, axis=1, keepdims=True)
    labels = oracle(U)
    both = abs(int(labels.sum())) < len(U)
    return pn_pairs(U[labels > 0], U[labels < 0], n, rng) if both else None


def flat(oracle, P, N, radius, rng):
    X, V = boundary_points(oracle, P, N, FINE * radius)
    return is_locally_flat(oracle, X, V, STEP * radius, FINE * radius, rng).mean()


def look(source, kind, data, seed):
    """All that the test looks at, for one model, and the name it gives."""
    predict, features = model(source, kind, data, seed)
    oracle, rng = Oracle(predict, features.shape[1]), np.random.default_rng(seed)
    oracle(features)
    R0 = scale_of(features)
    X, V = boundary_points(oracle, *pairs(oracle, features, R0, FEW_PLANES, rng), FINE * R0)
    planes = [np.linalg.qr(np.c_[v, rng.standard_normal(len(v))])[0] for v in V]
    start, misfits = oracle.queries, np.full((len(FAR_RADII), FEW_PLANES, 4), np.nan)
    for i, radius in enumerate(FAR_RADII):
        for j, (x, plane) in enumerate(zip(X, planes, strict=True)):
            Z = curve_points(oracle, x, plane, POINTS, radius * R0, FINE * radius * R0, rng)
            if len(Z):
                misfits[i, j] = [misfit(Z, degree, FINE * radius * R0) for degree in (1, 2, 3, 4)]
    row = {"misfits": misfits, "planes": oracle.queries - start}
    bent = [np.mean(m[:, 0] * FINE > BEND) >= 0.5 for m in misfits]  # NaN is not bent
    scale = R0 * (FAR_RADII[bent.index(True)] if any(bent) else 1)
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
        return NAMES[D]
    if row["alike"]:
        return "gaussian"
    return "tanh" if row["near"] < FLAT < row["far"] else "unknown"


def quantiles(misfits):
    """Logarithms of the misfits: minimum, quantiles, maximum, for every degree."""
    seen = misfits[np.isfinite(misfits[:, 0])]
    return np.log10(np.quantile(seen, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1], axis=0)).T


def robust():
    """Our test on all models."""
    kinds = [("random", kind) for kind in RANDOM | HARDER]
    kinds += [("trained", kind) for kind in TRAINED | FAINT] + [("foreign", k) for k in FOREIGN]
    tasks, seen = tasks_for(kinds), {}
    for (source, kind, *_), row in zip(tasks, each(look, tasks, "boxes"), strict=True):
        seen.setdefault((source, kind), []).append(row)
    misfits, names, fewer = [], [], np.zeros((len(FAR_RADII), FEW_PLANES), int)
    for (source, kind), rows in seen.items():
        stack, truth = np.array([row["misfits"] for row in rows]), family(kind)
        one = {"boxes": source, "kind": kind, "truth": truth, "machines": len(rows)}
        right = {"linear": 1, "quadratic": 2, "cubic": 3}.get(truth)
        if truth != "unknown":
            fewer += [[sum(degree(m[:i + 1, :j + 1].reshape(-1, 4)) == right for m in stack)
                       for j in range(FEW_PLANES)] for i in range(len(FAR_RADII))]
        if source != "foreign":
            misfits.append(one | {"quantiles": quantiles(stack[:, 0].reshape(-1, 4))})
        far = [row["far"] for row in rows if np.isfinite(row["far"])]
        names.append(one | {
            "named": Counter(row["name"] for row in rows),
            "degree": Counter(str(degree(m.reshape(-1, 4))) for m in stack),
            "right_degree_misfit": np.nanmax(stack[..., right - 1]) if right else None,
            "near": np.mean([row["near"] for row in rows]), "far": np.mean(far) if far else None,
            "alike": np.mean([row["alike"] for row in rows]),
            "queries_planes": np.median([row["planes"] for row in rows]),
            "queries_flatness": np.median([row["flatness"] for row in rows])})
    return {"radii": FAR_RADII, "planes": FEW_PLANES, "points": POINTS, "width": FINE,
            "misfits": misfits, "names": names,
            "fewer": {"machines": sum(n["machines"] for n in names if n["truth"] != "unknown"),
                      "right": fewer}}  # with the first radii (rows) and planes (columns) only


def run():
    """Both tests, one after the other."""
    seeds = f"random machines 0 to {SEEDS['random'] - 1}"
    more = f"d = {D}, m = {M}; %s 0 to {SEEDS['trained'] - 1} of every data set"
    store(__file__, {
        "votes": {"seeds": f"{seeds} (0 to {MACHINES - 1} for widths and points), {more % 'SVCs'}"}
        | votes(), "digits": digits(),
        "robust": {"seeds": f"{seeds}, {more % 'other boxes'}"} | robust()})


if __name__ == "__main__":
    main(run)
