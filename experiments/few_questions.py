"""Queries against accuracy: `deconstruct`, the paper, and five rivals on the same boxes.

    python -m experiments.few_questions

Random machines (d = 30, m = 12) and SVCs trained on few points: three boxes of each kind, the same
for all methods. The common currency is the distance between the true boundary and the guessed one
(`_limit`). Retraining and active learning go on to 40,000 answers; of quadratics, retraining also
with so much regularisation that its solver converges (`converged`). Then a single normal, by four
methods, and in 784 dimensions by two; and boxes that have changed a little, followed by brackets
that start from predictions. Results go to few_questions.json: one row a kind of box, method and
number of queries, with medians over the boxes and the ledger of `deconstruct`; a row a method and
number of queries for the normals; a row a kind and number of brackets for the boxes that have
changed.
"""

from collections import defaultdict

import numpy as np

from decon import Gaussian, KernelMachine, Oracle, Polynomial, Tanh, deconstruct
from decon.boundary.bracketing import boundary_points
from decon.boundary.normals import slope_normals
from decon.paper import sphere_normals

from ._compare import visible_numbers
from ._following import bits_of_an_update, followed, numbers, rebuilt
from ._limit import limit
from ._models import SVCS, D, M, random_model, trained_model
from ._normals import angles
from ._rivals import (
    DEPTHS,
    Guess,
    Yardstick,
    active,
    by_labels,
    by_tools,
    direct_fit,
    labelled,
    paper,
    retraining,
    separated_normal,
    signed_normals,
)
from ._run import each, main, store

RANDOM = {"quadratic": Polynomial(2), "cubic": Polynomial(3), "tanh": Tanh(1.0, 0.1),
          "gaussian": Gaussian(3.0)}
TRAINED = {"trained cubic": ("cancer", 20, SVCS["cubic"])}
BOXES = 3  # of each kind
WIDTHS = (1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
CUBIC_WIDTHS = (1e-6, 1e-12)  # of a direct fit, which takes minutes
COUNTS = (15, 25, 50, 100)  # normals of the paper's kind
LABELS = (100, 1000, 10_000)  # of a normal, as HopSkipJump estimates it
FIRM = 1e6  # C of logistic regression that converges up to 40,000 labels
SIZES = (400, 800, 1600, 3200, 6400, 12_800, 14_390)  # of a round of retraining: 40,000 in all
ACCURACIES = tuple(10.0 ** np.arange(0, -14.5, -0.5))  # where the bound is computed
NORMAL_SEEDS = 10
NORMAL_LABELS = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
IMAGES, IMAGE_SEEDS = 784, 5  # a normal in so many dimensions, of so many boxes
DRIFT, LINES = 1e-4, (0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.2)  # in units of p
DRIFT_SEEDS = 5


def open_box(kind, seed):
    """A machine, and a few typical points of each label."""
    if kind in RANDOM:
        return random_model(RANDOM[kind], D, M, seed)
    data, n, options = TRAINED[kind]
    svc, features = trained_model(data, n, seed, **options)
    return KernelMachine.from_sklearn(svc), features


def one_box(kind, method, seed):
    """What one method knows of one box, after more and more queries."""
    machine, features = open_box(kind, seed)
    kernel, (m, d) = machine.kernel, machine.support_vectors.shape
    copies = method in ("retraining", "converged", "active")
    yardstick = Yardstick(machine, features, seed, 20_000 if copies else 100_000, 400)
    oracle = Oracle(machine.predict, d, positive=1)
    stages = {}
    if method == "deconstruct":
        result = deconstruct(oracle, features, random_state=seed, progress=False)
        stages = {"queries_by_stage": result.queries_by_stage,
                  "own_vectors": result.own_vectors}
        guesses = [Guess(oracle.queries, result.machine and result.machine.predict,
                         result.subspace)]
    elif method == "tools":
        guesses = (guess for width in WIDTHS for guess in by_tools(
            Oracle(machine.predict, d, positive=1), features, kernel, m, width, seed))
    elif method == "paper":
        guesses = paper(oracle, features, kernel, m, COUNTS, seed)
    elif method == "labels":
        guesses = by_labels(oracle, features, kernel, m, LABELS, seed)
    elif copies:
        learn = active if method == "active" else retraining
        more = (FIRM,) if method == "converged" else ()
        guesses = learn(oracle, features, kernel, m, SIZES, seed, *more)
    else:
        widths = WIDTHS if kernel.degree == 2 else CUBIC_WIDTHS
        guesses = direct_fit(oracle, features, kernel.degree, m, widths, seed)
    bound, p = limit(machine, features, seed), visible_numbers(machine, m)
    rows = []
    for guess in guesses:
        row = yardstick.measure(guess) | {"parameters": p, "m": m} | stages
        row["bits"] = bound.bits(row["distance"]) if np.isfinite(row["distance"]) else np.nan
        rows.append(row)
    return rows


def one_normal(dimension, seed):
    """Angles of one normal of a cubic box by all methods: lists of (queries, angle)."""
    machine, features = random_model(RANDOM["cubic"], dimension, M, seed)
    d = len(features[0])
    oracle = Oracle(machine.predict, d, positive=1)
    pool, R = labelled(oracle, features, seed)
    x, v = boundary_points(oracle, *pool.pairs(1), 1e-15 * R)
    found = defaultdict(list)

    def note(method, normal):
        angle = angles(np.atleast_2d(normal), machine.gradient(x))[0]
        found[method].append((oracle.queries - before, angle))

    for n in NORMAL_LABELS:
        before = oracle.queries
        note("labels", signed_normals(oracle, x, 1e-4 * R, n, pool.rng))
        if d == D and 100 <= n <= 10_000:
            before = oracle.queries
            note("labels, separated", separated_normal(oracle, x[0], 1e-4 * R, n, pool.rng))
    for width in (1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13):
        before = oracle.queries
        note("slopes", slope_normals(oracle, x, v, np.sqrt(width) * R, width * R))
        before = oracle.queries
        if d == D:
            note("spheres", sphere_normals(oracle, x, np.sqrt(width) * R, width * R,
                                           random_state=pool.rng))
    return found


def one_update(kind, seed):
    """A box whose numbers have all changed a little, followed by more and more brackets."""
    old, features = open_box(kind, seed)
    d = old.dimension
    p, z = visible_numbers(old, len(old.weights)), numbers(old)
    rng = np.random.default_rng(seed)
    box = rebuilt(old, z * (1 + DRIFT * rng.standard_normal(len(z))))
    yardstick = Yardstick(box, features, seed, 20_000)
    before = np.sqrt(np.mean(yardstick.distances(old.predict)**2))
    rows = []
    for share in LINES:
        oracle, n = Oracle(box.predict, d, positive=1), int(np.ceil(share * p))
        new = followed(oracle, old, features, n, DRIFT / 2, 1e-13, rng)
        after = np.sqrt(np.mean(yardstick.distances(new.predict)**2))
        row = {"lines": n, "parameters": p, "queries": oracle.queries, "before": before,
               "after": after, "over_bits": oracle.queries / (p * np.log2(before / after))}
        if len(z) == p and share >= 1:  # a quadratic's numbers are not all visible
            bits = bits_of_an_update(old, features, DRIFT, after * yardstick.scale, rng)
            row["over_bits_with_constant"] = oracle.queries / bits
        rows.append(row)
    return rows


def methods_for(kind):
    """The methods that can do anything with a kind of box."""
    degree = {"quadratic": 2, "cubic": 3, "trained cubic": 3}.get(kind)
    methods = ["deconstruct", "paper", "retraining"]
    methods += ["converged"] * (kind == "quadratic")
    methods += ["tools"] * bool(degree) + ["labels"] * (kind != "gaussian")
    methods += ["active"] * (degree != 3)  # of a cubic, a round takes minutes
    return methods + ["direct"] * (kind in ("quadratic", "cubic"))


def summarise(kind, method, rows):
    """Medians over the boxes, and how many have a boundary to be measured."""
    line = {"kind": kind, "method": method, "boxes": len(rows),
            "with_boundary": int(sum(np.isfinite(row["distance"]) for row in rows)),
            "converged": int(sum(row["converged"] for row in rows)),
            "parameters": np.median([row["parameters"] for row in rows]),
            "m": [min(row["m"] for row in rows), max(row["m"] for row in rows)]}
    for name in ("queries", "sine", "distance", "far", "bits"):
        values = [row[name] for row in rows if np.isfinite(row.get(name, np.nan))]
        if values:
            line[name] = np.median(values)
            line["worst_" + name] = (min if name == "far" else max)(values)
    if line["with_boundary"]:
        line["close"] = np.median([row["close"] for row in rows if "close" in row], axis=0)
    ratios = [row["queries"] / row["bits"] for row in rows if row["bits"] > 0]
    if ratios:
        line["over_bits"] = np.median(ratios)
    if "queries_by_stage" in rows[0]:
        stages = {stage for row in rows for stage in row["queries_by_stage"]}
        line["queries_by_stage"] = {
            stage: np.median([row["queries_by_stage"].get(stage, 0) for row in rows])
            for stage in sorted(stages)}
        line["own_vectors"] = sum(row["own_vectors"] for row in rows)
    return line


def bounds(kind):
    """Median bound of the boxes of a kind, in bits, at each of ACCURACIES."""
    limits = [limit(*open_box(kind, seed), seed) for seed in range(BOXES)]
    return [np.median([one.bits(r) for one in limits]) for r in ACCURACIES]


def medians(normals):
    """Median queries and angles of the normals of several boxes, by method."""
    return {method: [{"queries": np.median([n[method][k][0] for n in normals]),
                      "angle": np.nanmedian([n[method][k][1] for n in normals])}
                     for k in range(len(normals[0][method]))] for method in normals[0]}


def run():
    """All boxes by all methods, the slow ones first."""
    kinds = [*RANDOM, *TRAINED]
    tasks = [(kind, method, seed) for kind in kinds for method in methods_for(kind)
             for seed in range(BOXES)]
    slow = {"retraining": 2, "converged": 2, "active": 2, "direct": 1}
    tasks.sort(key=lambda task: -slow.get(task[1], 0))
    groups = defaultdict(list)
    for task, rows in zip(tasks, each(one_box, tasks, "boxes"), strict=True):
        for k, row in enumerate(rows):
            groups[*task[:2], k].append(row)
    seeds = [(D, seed) for seed in range(NORMAL_SEEDS)]
    seeds += [(IMAGES, seed) for seed in range(IMAGE_SEEDS)]
    normals = defaultdict(list)
    for (d, _), found in zip(seeds, each(one_normal, seeds, "normals"), strict=True):
        normals[d].append(found)
    updates = defaultdict(list)
    tasks = [(kind, seed) for kind in RANDOM for seed in range(DRIFT_SEEDS)]
    for (kind, _), rows in zip(tasks, each(one_update, tasks, "changed boxes"), strict=True):
        updates[kind].append(rows)
    store(__file__, {
        "seeds": f"targets 0 to {BOXES - 1} for all methods, normals 0 to {NORMAL_SEEDS - 1} and, "
                 f"in {IMAGES} dimensions, {IMAGE_SEEDS - 1}, "
                 f"changed targets 0 to {DRIFT_SEEDS - 1}",
        "depths": DEPTHS,
        "table": [summarise(kind, method, groups[kind, method, k]) for kind in kinds
                  for method in methods_for(kind) for k in range(10)
                  if (kind, method, k) in groups],
        "accuracies": ACCURACIES,
        "bounds": {kind: bounds(kind) for kind in kinds},
        "normals": medians(normals[D]),
        "normals_of_images": medians(normals[IMAGES]),
        "drift": DRIFT,
        "updates": [{"kind": kind} | {name: np.median([rows[k][name] for rows in boxes])
                                      for name in boxes[0][k]}
                    for kind, boxes in updates.items() for k in range(len(LINES))],
    })


if __name__ == "__main__":
    main(run)
