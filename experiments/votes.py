"""The paper's test of the kernel type: 25 planes vote, at many settings, on many machines.

    python -m experiments.votes

Results go to votes.json: `table`, the share of machines named rightly by the majority (and of the
planes that vote rightly) over the tolerance, for several radii of the discs; `widths` and
`points`, the same over the width of the brackets and the number of points a curve; `best`, the
confusion at the settings that serve all random kernels best.
"""

from collections import Counter

import numpy as np

from decon import Gaussian, KernelMachine, Linear, Oracle, Polynomial, Tanh
from decon.boundary.bracketing import boundary_points
from decon.boundary.curves import curve_points
from decon.boundary.pairs import pn_pairs
from decon.families.polynomial import fit_polynomial
from decon.paper import NAMES

from ._boxes import random_box, trained_box
from ._run import each, main, store
from .figure_4a import MAIN, gaussian_box

D, M, PLANES, POINTS, WIDTH = 30, 12, 25, 20, 1e-6
RADII = (0.1, 0.3, 1.0, 3.0)  # in units of R0
TOLERANCES = 10.0 ** np.arange(-9, -0.9, 0.5)
RANDOM, TRAINED = 100, 10  # machines of a kind
KINDS = {  # what the planes should vote, and the kernel
    "linear": ("linear", Linear()),
    "quadratic": ("quadratic", Polynomial(2)),
    "cubic": ("cubic", Polynomial(3)),
    "tanh, alpha = 1": ("transcendental", Tanh(1.0, 0.3)),
    "tanh, alpha = 0.2": ("transcendental", Tanh(0.2, 0.0)),
    "Gaussian, sigma = 1": ("transcendental", Gaussian(1.0)),
    "Gaussian, sigma = sqrt(d / 2)": ("transcendental", None),
}
SVCS = {
    "linear": ("linear", {"kernel": "linear"}),
    "quadratic": ("quadratic", {"kernel": "poly", "degree": 2, "coef0": 1}),
    "cubic": ("cubic", {"kernel": "poly", "degree": 3, "coef0": 1}),
    "tanh": ("transcendental", {"kernel": "sigmoid"}),
    "Gaussian": ("transcendental", {"kernel": "rbf"}),
}
DATA = {"cancer": 20, "digits": 30, "mnist40": 25}  # training examples, as many as keep m < d
SWEEP = ("cubic", "tanh, alpha = 1", "Gaussian, sigma = 1")
WIDTHS, COUNTS, MACHINES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12), (9, 10, 11, 12, 15, 20, 30, 40), 30


def box(kind, seed):
    """What a random machine of a kind predicts, and typical points."""
    kernel = KINDS[kind][1]
    if kernel:
        machine, features = random_box(kernel, D, M, seed)
        return machine.predict, features
    machine = gaussian_box(MAIN, seed)
    cloud = np.random.default_rng(seed + 10_000).standard_normal((500, D))
    labels = machine.predict(cloud)
    return machine.predict, np.concatenate([cloud[labels == one][:5] for one in (-1, 1)])


def svc_box(kind, data, seed):
    """What an SVC predicts, and typical points."""
    svc, features = trained_box(data, DATA[data], seed, **SVCS[kind][1])
    return KernelMachine.from_sklearn(svc).predict, features


def open_box(predict, features, width, seed):
    """An oracle, the scale R0, and as many boundary points as there are planes."""
    d = features.shape[1]
    oracle, R0 = Oracle(predict, d), np.linalg.norm(features) / np.sqrt(len(features))
    cloud = R0 / np.sqrt(d) * np.random.default_rng(seed).standard_normal((400, d))
    cloud = np.concatenate([features, cloud])
    labels = oracle(cloud)
    pairs = pn_pairs(cloud[labels > 0], cloud[labels < 0], PLANES, seed)
    return oracle, R0, *boundary_points(oracle, *pairs, width)


def residuals(oracle, x, other, n, radius, width, rng):
    """Root mean square residuals of degrees 1 to 3, in the plane of 0, x and another direction."""
    plane = np.linalg.qr(np.c_[x, other])[0]
    Z = curve_points(oracle, x, plane, n, radius, width, rng)
    if not len(Z):
        return [np.nan] * 3
    return [fit_polynomial(Z, degree)[1][1] / np.sqrt(n) for degree in (1, 2, 3)]


def look(predict, features, radii, n, width, seed):
    """Residuals (radii, planes, 3) of a box, and the queries of a radius."""
    oracle, R0, X, _ = open_box(predict, features, width, seed)
    rng, before, d = np.random.default_rng(seed), oracle.queries, features.shape[1]
    found = [[residuals(oracle, x, rng.standard_normal(d), n, r * R0, width, rng) for x in X]
             for r in radii]
    return np.array(found), (oracle.queries - before) / len(radii) + before


def unit(features):
    """The root mean square of a coordinate: 1 for the random machines."""
    return np.sqrt(np.mean(features**2))


def at_radii(kind, data, seed):
    predict, features = box(kind, seed) if data == "random" else svc_box(kind, data, seed)
    return look(predict, features, RADII, POINTS, WIDTH * unit(features), seed)


def at_width(kind, width, n, seed):
    predict, features = box(kind, seed)
    return look(predict, features, (1.0,), n, width, seed)


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


def run():
    tasks = [(kind, "random", seed) for kind in KINDS for seed in range(RANDOM)]
    tasks += [(kind, data, seed) for kind in SVCS for data in DATA for seed in range(TRAINED)]
    seen = {}
    queries = []
    for (kind, data, _), (found, count) in zip(tasks, each(at_radii, tasks, "radii"), strict=True):
        seen.setdefault(("random" if data == "random" else "trained", kind), []).append(found)
        queries.append(count)
    table = []
    for (source, kind), found in seen.items():
        truth = (KINDS if source == "random" else SVCS)[kind][0]
        for i, radius in enumerate(RADII):
            table.append({"boxes": source, "kind": kind, "truth": truth, "radius": radius,
                          **rates(truth, [planes[i] for planes in found])})

    def worst(boxes, i):
        rows = [row["named"] for row in table
                if row["boxes"] == boxes and row["radius"] == RADII[i]]
        return np.min(rows, axis=0)

    best = max(np.ndindex(len(RADII), len(TOLERANCES)),
               key=lambda ij: (worst("random", ij[0])[ij[1]],
                               np.mean([row["named"][ij[1]] for row in table
                                        if row["radius"] == RADII[ij[0]]])))
    confusion = [{"boxes": source, "kind": kind, "named": Counter(
        majority(vote(planes[best[0]], TOLERANCES[best[1]])) for planes in found)}
        for (source, kind), found in seen.items()]

    sweep = [(kind, width, POINTS, seed) for kind in SWEEP for width in WIDTHS
             for seed in range(MACHINES)]
    sweep += [(kind, WIDTH, n, seed) for kind in SWEEP for n in COUNTS for seed in range(MACHINES)]
    seen = {}
    for (kind, width, n, _), (found, _) in zip(sweep, each(at_width, sweep, "widths, points"),
                                               strict=True):
        seen.setdefault((kind, width, n), []).append(found[0])
    rows = [{"kind": kind, "width": width, "points": n, **rates(KINDS[kind][0], found)}
            for (kind, width, n), found in seen.items()]
    store(__file__, {
        "seeds": f"random machines 0 to {RANDOM - 1} (0 to {MACHINES - 1} for widths and points), "
                 f"d = {D}, m = {M}; SVCs 0 to {TRAINED - 1} of every data set",
        "planes": PLANES, "points": POINTS, "width": WIDTH, "tolerances": TOLERANCES,
        "radii": RADII, "queries": np.median(queries), "table": table,
        "best": {"radius": RADII[best[0]], "tolerance": TOLERANCES[best[1]],
                 "confusion": confusion},
        "widths": [row for row in rows if row["points"] == POINTS],
        "counts": [row for row in rows if row["width"] == WIDTH],
    })


if __name__ == "__main__":
    main(run)
