"""Where the queries go: what every stage of `deconstruct` adds to what is known of a machine.

    python -m experiments.bits_by_stage

Random machines of every kernel, d = 30 and m = 12. Every bracket of the boundary is noted with its
line, its width and the stage that asked for it. Then the model is opened. Its numbers are those of
the bound (`_limit`): before any answer independent and standard normal. To first order in them a
bracket of width w is a measurement with standard error w / sqrt(12), and brackets with Jacobian J
(in standard errors) turn the covariance I into the inverse of I + J^T J. What a stage has learnt is

    1/2 log2 det(I + J^T J) after the stage, less the same before it, in bits:

by so many factors of two has the volume of the numbers that are still possible shrunk. (Numbers
that no label shows contribute nothing.) Labels that bracket nothing, those of the agreement test
among them, bring no bits here; nor do the brackets of a rough cubic or tanh machine, which is where
the sharpening begins and is not kept: what it tells counts for the sharpening. Results go to
bits_by_stage.json: one row a kernel, with medians over the seeds; `bound` is that of `_limit` at
the accuracy reached.
"""

from contextlib import contextmanager
from unittest import mock

import numpy as np

from decon import Gaussian, Linear, Oracle, Polynomial, Tanh, deconstruct
from decon.extraction.ledger import Ledger
from decon.oracles.views import SearchView

from ._compare import compare_boundaries
from ._limit import Prior, cloud
from ._models import D, M, random_model
from ._run import each, main, store

KERNELS = {kernel.name: kernel for kernel in (
    Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Gaussian(3.0))}
SEEDS = 5
FINEST = 3e-13  # of a bracket's width, in units of the scale: beyond it is rounding
PARTS = {  # of a run, and their stages
    "points, kernel": ("features", "boundary", "slices", "diagnosis", "kernel type"),
    "S_Y": ("normals", "subspace"),
    "rough machine": ("polynomial", "radial probe", "far field", "tanh units"),
    "sharpening": ("sharpening",),
    "agreement": ("agreement",),
}


@contextmanager
def brackets_noted(predict):
    """Brackets as (stage, X, V, widths), and the model that notes which stage has asked last."""
    stages, noted = [], []
    stage, met = Ledger.stage, SearchView.met

    @contextmanager
    def named(ledger, name):
        stages.append(name)
        try:
            with stage(ledger, name):
                yield
        finally:
            stages.pop()

    def watched(X):
        watched.stage = stages[-1]
        return predict(X)

    def kept(view, X, V, widths):
        noted.append((watched.stage, X, V, widths))
        met(view, X, V, widths)

    with mock.patch.object(Ledger, "stage", named), mock.patch.object(SearchView, "met", kept):
        yield watched, noted


def information(prior, scale, noted):
    """The bits of every stage."""
    root, known, bits = np.eye(len(prior.numbers)), 0.0, {}

    # R of a QR factorisation, one group of brackets after the other: log2 |det R| is what is known
    for stage, X, V, widths in noted:
        errors = np.maximum(widths, FINEST * scale) / np.sqrt(12)
        J = prior.derivatives(X) / ((prior.machine.gradient(X) * V).sum(1) * errors)[:, None]
        root = np.linalg.qr(np.concatenate([root, J[np.isfinite(J).all(1)]]), mode="r")
        now = np.log2(np.abs(np.diag(root))).sum()
        bits[stage] = bits.get(stage, 0) + now - known
        known = now
    return bits


def one_model(name, seed):
    """Queries and bits of one machine, part by part, and its bound."""
    machine, features = random_model(KERNELS[name], D, M, seed)
    with brackets_noted(machine.predict) as (predict, noted):
        result = deconstruct(Oracle(predict, D), features, random_state=seed, progress=False)
    queries = result.queries_by_stage
    prior = Prior.of(machine, cloud(features, 20_000, np.random.default_rng(seed)))
    bits = information(prior, result.scale, noted)
    unknown = (set(queries) | set(bits)) - {stage for stages in PARTS.values() for stage in stages}
    if unknown:
        raise ValueError(f"stages {sorted(unknown)} belong to no part: add them to PARTS")
    parts = {part: [sum(what.get(stage, 0) for stage in stages) for what in (queries, bits)]
             for part, stages in PARTS.items()}
    return parts, compare_boundaries(result.machine, machine, features, seed)["bits"]


def run():
    """Take the machines apart and store the table."""
    tasks = [(name, seed) for name in KERNELS for seed in range(SEEDS)]
    rows = dict(zip(tasks, each(one_model, tasks, "machines"), strict=True))
    table = []
    for name in KERNELS:
        several = [rows[name, seed] for seed in range(SEEDS)]
        middle = {part: np.median([row[part] for row, _ in several], axis=0) for part in PARTS}
        table.append({"kernel": name, "queries": {part: q for part, (q, _) in middle.items()},
                      "bits": {part: b for part, (_, b) in middle.items()},
                      "bound": np.median([bound for _, bound in several])})
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": table})


if __name__ == "__main__":
    main(run)
