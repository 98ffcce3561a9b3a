"""One training image emerges from labels: what the search of `mnist_images` knows, query by query.

    python -m experiments.mnist_emerging

The model with 217 support vectors in 784 dimensions (1,000 images, digit 2 against 0, 5, 7 and 8),
and the search that begins with ten other images. Up to the end of the normals no support vector is
known; what is stored there is the part of each true support vector that lies in the span of the
normals measured so far, which a search with that budget returns (`error.result.normals`). From then
on every machine that the search makes is stored, with its own estimates of the vectors. The search
itself is not changed: the class of these machines is only watched.

Controls are images of the same digits that the function does not contain: the training images that
are no support vectors, and images that were neither learned nor given to the search. Of each, the
part is stored that lies in what has been measured: the span of the normals, later that of the
estimated vectors. Results go to mnist_emerging.json (relative errors of all images at every stage),
pictures of a few images and the weights of the machine that comes out to mnist_emerging.npz.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from decon import KernelMachine, Oracle, deconstruct
from decon.families.cubic.coordinates import SumOfCubes
from decon.oracles.errors import BudgetExhausted
from decon.teaching.datasets import load_mnist

from ._models import digit_two, typical
from ._run import each, main, store

IMAGES, SEED, THREADS = 1000, 0, 2
BUDGETS = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000]


class Watched:
    """Notes how many queries had been made when a machine was made, and its support vectors."""

    def __init__(self, oracle):
        self.oracle, self.seen, self.made = oracle, [], SumOfCubes.__init__

    def __enter__(self):
        watch, made = self, self.made

        def init(own, *arguments):
            made(own, *arguments)
            A, h, _ = own.forms()
            watch.seen.append((watch.oracle.queries, A / h[:, None]))  # w^(1/3) (y.x + 1)

        SumOfCubes.__init__ = init
        return self

    def __exit__(self, *_):
        SumOfCubes.__init__ = self.made


def directions(predict, features, budget):
    """An orthonormal basis (k, d) of the normals that a search with this budget has measured."""
    oracle = Oracle(predict, features.shape[1], budget=budget)
    try:
        deconstruct(oracle, features, random_state=SEED, progress=False)
    except BudgetExhausted as error:
        N = error.result.normals
        return span(N) if N is not None and len(N) else np.empty((0, features.shape[1]))
    raise RuntimeError("the search ended within the budget")


def span(N):
    """An orthonormal basis, in rows, of the span of the rows."""
    return np.linalg.qr(N.T)[0].T


def emerge():
    """Every stage: queries, what is known, a basis of it, estimates of all true support vectors."""
    svc, _, others = digit_two(IMAGES, SEED)
    machine = KernelMachine.from_sklearn(svc)
    Y, features = machine.support_vectors, typical(svc.predict, load_mnist()[0][others])
    stages = []
    with ThreadPoolExecutor(THREADS) as pool:
        def predict(X):
            return np.concatenate(list(pool.map(machine.predict, np.array_split(X, THREADS))))

        for budget in BUDGETS:
            U = directions(predict, features, budget)
            stages.append((budget, f"{len(U)} normals", U, Y @ U.T @ U))
        oracle = Oracle(predict, machine.dimension)
        with Watched(oracle) as watched:
            result = deconstruct(oracle, features, random_state=SEED, progress=False)
    U = span(result.normals)
    spent = list(result.queries_by_stage.values())
    upto = sum(spent[:list(result.queries_by_stage).index("polynomial")])
    stages.append((upto, f"{len(U)} normals", U, Y @ U.T @ U))
    for queries, vectors in [*watched.seen, (oracle.queries, result.machine.support_vectors)]:
        stages.append((queries, "machine", span(vectors), nearest(vectors, Y)))
    return Y, svc.support_, features, stages, result


def nearest(vectors, Y):
    """For every true support vector the one found that is nearest in direction."""
    def unit(Z):
        return Z / np.linalg.norm(Z, axis=1, keepdims=True)

    return vectors[(unit(Y) @ unit(vectors).T).argmax(1)]


def controls(support, features):
    """Numbers of the images that the function does not contain: learned, and never seen."""
    _, learned, others = digit_two(IMAGES, SEED)
    given = (load_mnist()[0][others][:, None] == features).all(axis=2).any(axis=1)
    return {"learned": np.delete(learned, support), "unseen": others[~given]}


def first_of_each(digits):
    """The place of the first image of each digit."""
    return np.array([np.flatnonzero(digits == k)[0] for k in (0, 2, 5, 7, 8)])


def relative(Z, Y):
    """Relative errors of the rows."""
    return np.linalg.norm(Z - Y, axis=1) / np.linalg.norm(Y, axis=1)


def run():
    (Y, support, features, stages, result), = each(emerge, [()], "one search, and six with budgets")
    X, digit = load_mnist()
    numbers = digit_two(IMAGES, SEED)[1][support]
    others = controls(support, features)
    parts = {name: [X[index] @ U.T @ U for _, _, U, _ in stages]
             for name, index in others.items()}

    # the first image of each digit
    shown, unseen = first_of_each(digit[numbers]), first_of_each(digit[others["unseen"]])
    match = nearest(result.machine.support_vectors, Y)
    order = [int(np.flatnonzero((result.machine.support_vectors == z).all(1))[0]) for z in match]
    store(__file__, {
        "seeds": str(SEED), "threads": THREADS, "queries": [q for q, *_ in stages],
        "known": [what for _, what, *_ in stages],
        "dimensions": [len(U) for _, _, U, _ in stages],
        "errors": [relative(Z, Y) for *_, Z in stages],
        **{f"errors of {name} images": [relative(Z, X[others[name]]) for Z in part]
           for name, part in parts.items()},
        "queries_by_stage": result.queries_by_stage, "agreement": result.agreement,
        "kernel": repr(result.machine.kernel), "threshold": result.machine.threshold})
    np.savez_compressed(
        Path(__file__).with_suffix(".npz"), shown=shown, numbers=numbers,
        pictures=np.stack([Z[shown] for *_, Z in stages]).clip(-9, 9).astype(np.float16),
        unseen=unseen, unseen_numbers=others["unseen"][unseen],
        unseen_pictures=np.stack([Z[unseen] for Z in parts["unseen"]]).astype(np.float16),
        difference=(match - Y)[shown].astype(np.float32),
        weights=result.machine.weights[order], threshold=result.machine.threshold)


if __name__ == "__main__":
    main(run)
