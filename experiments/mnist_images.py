"""The paper's second experiment: cubic SVCs on raw MNIST pixels, taken apart by labels alone.

    python -m experiments.mnist_images

d = 784, digit 2 against 0, 5, 7 and 8; SVCs trained on 150 and on 1,000 images. The search is given
ten images to begin with, some of the training images or others. The support vectors of a cubic
machine are training images: how many of them come back, and how exactly? The model evaluates its
kernel in blocks of points, which is faster than `svc.predict` (and so a harder test of the time
spent outside the model): `svc_microseconds` is what one point takes there. `seconds_points` is what
it takes to compute as many points x + t v as were queried, in the same batches, and nothing else.
About 6 minutes on two cores. Results go to mnist_images.json, the recovered images (as 8-bit
pixels) to mnist_images.npz, with the numbers of the images in `load_mnist` that they are compared
with.
"""

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

from decon import KernelMachine, Oracle, deconstruct
from decon.teaching.datasets import load_mnist

from ._compare import compare
from ._models import digit_two, typical
from ._run import each, main, store

RUNS = [(1000, "training"), (150, "other"), (1000, "other")]  # images, those to begin with
SEED, THREADS = 0, 2
TIMED = 2000  # points of `svc.predict`


class Clock:
    """A model that counts the seconds it takes, and the points of every call."""

    def __init__(self, predict, pool):
        self.predict, self.pool, self.seconds, self.sizes = predict, pool, 0.0, []

    def __call__(self, X):
        self.sizes.append(len(X))
        start = perf_counter()
        labels = list(self.pool.map(self.predict, np.array_split(X, THREADS)))
        self.seconds += perf_counter() - start
        return np.concatenate(labels)


def seconds_of_points(sizes, d):
    """The seconds that it takes to compute points x + t v in batches of these sizes."""
    X, V = np.random.default_rng(SEED).standard_normal((2, max(sizes), d))
    t, start = X[:, :1].copy(), perf_counter()
    for n in sizes:
        X[:n] + t[:n] * V[:n]
    return perf_counter() - start


def seconds_of(predict, X):
    """The seconds that a model takes for a table."""
    start = perf_counter()
    predict(X)
    return perf_counter() - start


def take_apart(images, begin, seed):
    """Train, take apart by labels alone, and compare with the training images."""
    svc, learned, others = digit_two(images, seed)
    machine, X = KernelMachine.from_sklearn(svc), load_mnist()[0]
    features = typical(svc.predict, X[learned if begin == "training" else others])
    with ThreadPoolExecutor(THREADS) as pool:
        clock = Clock(machine.predict, pool)
        oracle = Oracle(clock, machine.dimension)
        start = perf_counter()
        result = deconstruct(oracle, features, random_state=seed, progress=False)
        total = perf_counter() - start
    row = {"images": images, "begin": begin} | compare(result, machine, features, seed) | {
        "calls": oracle.calls, "seconds_inside": clock.seconds,
        "seconds_outside": total - clock.seconds,
        "seconds_points": seconds_of_points(clock.sizes, machine.dimension),
        "svc_microseconds": 1e6 * seconds_of(svc.predict, X[:TIMED]) / TIMED,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "singular_values": result.singular_values}
    if result.machine is None:
        return row, None
    Y, found = machine.support_vectors, result.machine.support_vectors
    match = (unit(Y) @ unit(found).T).argmax(1)
    apart = np.linalg.norm(unit(Y) - unit(found[match]), axis=1)
    errors = np.linalg.norm(found[match] - Y, axis=1) / np.linalg.norm(Y, axis=1)
    row |= {"distinct": len(set(match)), "one_minus_cosine": np.sort(apart**2 / 2)[::-1],
            "errors": np.sort(errors)[::-1]}
    pixels = np.clip(np.rint(255 * found[match]), 0, 255).astype(np.uint8)
    return row, (pixels, learned[svc.support_])


def unit(Y):
    """The rows, of length one."""
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def run():
    """The models one after the other: each has all cores for itself."""
    rows, arrays = [], {}
    for images, begin in RUNS:
        row, pictures = each(take_apart, [(images, begin, SEED)], f"{images} images")[0]
        rows.append(row)
        if pictures is not None and begin == "other":
            arrays |= {f"recovered_{images}": pictures[0], f"numbers_{images}": pictures[1]}
    store(__file__, {"seeds": str(SEED), "threads": THREADS, "table": rows})
    np.savez_compressed(Path(__file__).with_suffix(".npz"), **arrays)


if __name__ == "__main__":
    main(run)
