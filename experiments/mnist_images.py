"""Training images read out of a box that only says yes or no: a cubic SVC on raw MNIST pixels.

    python -m experiments.mnist_images

d = 784, digit 2 against 0, 5, 7 and 8, as in `second_experiment`; SVCs trained on 150 and on 1,000
images. The support vectors of a cubic machine are training images: how many of them come back, and
how exactly? The search is given ten other images to begin with. The box evaluates its kernel in
blocks of points, on two threads. About 10 minutes on two cores. Results go to mnist_images.json,
the recovered images (as 8-bit pixels) to mnist_images.npz, with the numbers of the images in
`load_mnist` that they are compared with.
"""

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time, thread_time

import numpy as np
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, deconstruct
from decon.teaching.datasets import load_mnist

from ._run import each, main, store

IMAGES, SEED, THREADS = (150, 1000), 0, 2


def train(images, seed):
    """The SVC as a machine, the numbers of its support vectors, and a few other images."""
    X, y = load_mnist()
    order = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(y, [0, 2, 5, 7, 8])))
    rows, others = np.split(order, [images])
    svc = SVC(kernel="poly", degree=3, gamma=1, coef0=1).fit(X[rows], y[rows] == 2)
    is_two = svc.predict(X[others])
    features = X[np.r_[others[is_two][:5], others[~is_two][:5]]]
    return KernelMachine.from_sklearn(svc), rows[svc.support_], features


class Clock:
    """A box that counts the seconds it takes: of the clock, and of computing on all its threads."""

    def __init__(self, predict, pool):
        self.predict, self.pool, self.seconds, self.cpu_seconds = predict, pool, 0.0, 0.0

    def __call__(self, X):
        start = perf_counter()
        labels, seconds = zip(*self.pool.map(self.timed, np.array_split(X, THREADS)), strict=True)
        self.seconds += perf_counter() - start
        self.cpu_seconds += sum(seconds)
        return np.concatenate(labels)

    def timed(self, X):
        start = thread_time()
        return self.predict(X), thread_time() - start


def take_apart(images, seed):
    """Train, take apart by labels alone, and compare with the training images."""
    box, numbers, features = train(images, seed)
    with ThreadPoolExecutor(THREADS) as pool:
        clock = Clock(box.predict, pool)
        oracle = Oracle(clock, box.dimension)
        start, cpu_start = perf_counter(), process_time()
        result = deconstruct(oracle, features, random_state=seed, progress=False)
        total, cpu_total = perf_counter() - start, process_time() - cpu_start
    row = {
        "images": images, "m": len(numbers), "kernel_type": result.kernel_type,
        "n_support": result.rank, "exact": result.own_vectors, "reason": result.message,
        "agreement": result.agreement, "queries": oracle.queries, "stages": result.queries,
        "seconds": total, "seconds_inside": clock.seconds, "seconds_outside": total - clock.seconds,
        "cpu_seconds_inside": clock.cpu_seconds,
        "cpu_seconds_outside": cpu_total - clock.cpu_seconds,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    if result.machine is None:
        return row, None
    Y, found = box.support_vectors, result.machine.support_vectors
    match = (unit(Y) @ unit(found).T).argmax(1)
    apart = np.linalg.norm(unit(Y) - unit(found[match]), axis=1)
    errors = np.linalg.norm(found[match] - Y, axis=1) / np.linalg.norm(Y, axis=1)
    row |= {"distinct": len(set(match)), "above_099": int((apart**2 / 2 < 0.01).sum()),
            "one_minus_cosine": np.sort(apart**2 / 2)[::-1], "errors": np.sort(errors)[::-1]}
    pixels = np.clip(np.rint(255 * found[match]), 0, 255).astype(np.uint8)
    return row, (pixels, numbers)


def unit(Y):
    """The rows, of length one."""
    return Y / np.linalg.norm(Y, axis=1, keepdims=True)


def run():
    """Both boxes, one after the other: each has both cores for itself."""
    rows, arrays = [], {}
    for images in IMAGES:
        row, pictures = each(take_apart, [(images, SEED)], f"{images} images")[0]
        rows.append(row)
        if pictures is not None:
            arrays |= {f"recovered_{images}": pictures[0], f"numbers_{images}": pictures[1]}
    store(__file__, {"seeds": str(SEED), "threads": THREADS, "boxes": rows})
    np.savez_compressed(Path(__file__).with_suffix(".npz"), **arrays)


if __name__ == "__main__":
    main(run)
