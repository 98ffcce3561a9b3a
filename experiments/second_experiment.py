"""The paper's second experiment: a cubic SVC on raw MNIST pixels, taken apart by its labels alone.

    python -m experiments.second_experiment

d = 784, digit 2 against 0, 5, 7 and 8, 1,000 images. The box evaluates the SVC's support vectors in
blocks, which is faster than `svc.predict` (and so a harder test of the time spent outside the box).
About 6 minutes. Results go to second_experiment.json.
"""

import resource
from time import perf_counter

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.svm import SVC

from decon import KernelMachine, Oracle, deconstruct
from decon.teaching.datasets import load_mnist

from ._run import each, main, store

IMAGES, SEED = 1000, 0


def take_apart(images, seed):
    """Train the SVC, take it apart, and compare with its support vectors."""
    X, y = load_mnist()
    keep = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(y, [0, 2, 5, 7, 8])))
    X, y = X[keep[:images]], y[keep[:images]] == 2
    svc = SVC(kernel="poly", degree=3, gamma=1, coef0=1).fit(X, y)
    box = KernelMachine.from_sklearn(svc)
    inside = 0.0

    def predict(Z):
        nonlocal inside
        start = perf_counter()
        labels = box.predict(Z)
        inside += perf_counter() - start
        return labels

    oracle = Oracle(predict, X.shape[1])
    features = np.concatenate([X[y][:5], X[~y][:5]])
    start = perf_counter()
    result = deconstruct(oracle, features, random_state=seed, progress=False)
    total = perf_counter() - start
    truth = np.linalg.svd(svc.support_vectors_.T, full_matrices=False)[0]
    cosines = np.cos(subspace_angles(result.subspace, truth))[::-1]
    return {
        "images": images, "m": len(svc.support_vectors_), "kernel_type": result.kernel_type,
        "n_support": result.rank, "cosine": cosines.min(), "sine": np.linalg.norm(
            truth - result.subspace @ (result.subspace.T @ truth), 2),
        "queries": oracle.queries, "calls": oracle.calls, "stages": result.queries,
        "seconds_inside": inside, "seconds_outside": total - inside,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "singular_values": result.singular_values,
    }


def run():
    """One box: one task."""
    store(__file__, {"seeds": str(SEED)} | each(take_apart, [(IMAGES, SEED)], "taking apart")[0])


if __name__ == "__main__":
    main(run)
