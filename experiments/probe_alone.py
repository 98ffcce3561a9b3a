"""The off-subspace probe alone: what further points are worth, and what it makes of S_Y.

    python -m experiments.probe_alone

`deconstruct` sharpens most Gaussian machines by other means. Here `gaussian_machine` does all of
the work: random machines, d = 30 and m = 12, whose S_Y is found first, as `deconstruct` finds it.
The further points of a surface are chosen in three ways: those that tell most, random ones out of
the same candidates, and none at all beyond the pencil. Results go to probe_alone.json: one row per
sigma and way, with one value per machine:

    missing    largest relative distance of a true vector from the nearest one found
    predicted  the relative error that the fit predicts
    before     sine of the largest principal angle between the S_Y given and the true one
    after      the same of the span of the machine's vectors
    queries    of the probe
    leaning    those of them that correct S_Y, where the fit says that the probe leans; else 0

Where the probe refuses, they are null, and `reasons` says why.
"""

from unittest.mock import patch

import numpy as np

from decon import Gaussian, Oracle
from decon.boundary.pairs import Pool
from decon.families.gaussian import recovery
from decon.families.gaussian.exponentials import d_optimal_points
from decon.families.protocol import Refuted
from decon.subspaces.finder import SubspaceFinder
from decon.subspaces.spans import largest_sine
from decon.subspaces.symmetry import REVOLUTION

from ._compare import vector_errors
from ._models import D, M, random_model
from ._run import each, main, store

SEEDS, SIGMAS = range(100), (1.0, 4.0)
WAYS = ("most informative", "random", "none")
WIDTH = 1e-12


def further_points(way, seed):
    """A function in the place of `d_optimal_points`."""
    rng = np.random.default_rng(seed)

    def chosen(surface, X, candidates, n, limit, width, tilt):
        if way == "most informative":
            return d_optimal_points(surface, X, candidates, n, limit, width, tilt)
        some = rng.permutation(len(candidates))[:8 * n]  # enough, of which some are too uncertain
        points, spread = d_optimal_points(surface, X, candidates[some], len(some), limit, width,
                                          tilt)
        some = rng.permutation(len(points))[:n if way == "random" else 0]
        return points[some], spread[some]

    return chosen


def one(sigma, way, seed):
    """Find S_Y, then the machine, and compare both with the truth."""
    # S_Y, from pairs of the given features and a cloud of their size
    truth, features = random_model(Gaussian(sigma), D, M, seed)
    oracle, rng = Oracle(truth.predict, D), np.random.default_rng(seed)
    scale = np.sqrt(np.mean((features**2).sum(1)))
    cloud = np.concatenate([features, rng.standard_normal((200, D)) * scale / np.sqrt(D)])
    pool = Pool(oracle, cloud, oracle(cloud), rng)
    subspace = SubspaceFinder(oracle, pool, np.empty((2, 0, D)), scale, rng).search([REVOLUTION])
    spent, span = oracle.queries, truth.support_vectors.T
    row = dict.fromkeys(("missing", "predicted", "after", "queries", "leaning"), np.nan)
    row |= {"before": largest_sine(subspace.basis, span), "reason": ""}

    # the machine
    leaning, tilts = [], recovery._tilts

    def counted(*arguments):
        begin = oracle.queries
        found = tilts(*arguments)
        leaning.append(oracle.queries - begin)
        return found

    with (patch.object(recovery, "d_optimal_points", further_points(way, seed)),
          patch.object(recovery, "_tilts", counted)):
        try:
            found, _, predicted, _ = recovery.gaussian_machine(oracle, subspace, cloud, scale,
                                                               WIDTH, rng)
        except Refuted as refuted:
            return row | {"reason": str(refuted)}
    return row | {"missing": vector_errors(found, truth)[1], "predicted": predicted,
                  "after": largest_sine(found.support_vectors.T, span),
                  "queries": oracle.queries - spent, "leaning": sum(leaning)}


def run():
    """All machines; one row per sigma and way."""
    tasks = [(sigma, way, seed) for sigma in SIGMAS for way in WAYS for seed in SEEDS]
    rows = list(zip(tasks, each(one, tasks, "machines"), strict=True))
    table = []
    for sigma in SIGMAS:
        for way in WAYS:
            some = [row for task, row in rows if task[:2] == (sigma, way)]
            table.append({"sigma": sigma, "way": way, "machines": len(some),
                          **{key: [row[key] for row in some] for key in some[0] if key != "reason"},
                          "reasons": sorted({row["reason"] for row in some} - {""})})
    store(__file__, {"seeds": f"{SEEDS[0]} to {SEEDS[-1]}", "table": table})


if __name__ == "__main__":
    main(run)
