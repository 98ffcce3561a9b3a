"""What the span of a quadratic machine's support vectors tells about images.

    python -m experiments.nonnegative

Labels of a quadratic machine determine the span of its support vectors and not the vectors. But
images have no negative pixels, and most of their pixels are 0. SVCs that tell the digit 2 from 0,
5, 7 and 8 (150 images of 14 x 14 pixels) are taken apart by labels alone. Then points z of the
span with n.z = 1 (n: the vector of the span with n.y = 1 for all quasi-support vectors, hence for
all support vectors), no negative entry and many zeros are sought by reweighted linear programmes
[Candes, Wakin and Boyd 2008], each started from an image that the model has not seen, or from
noise. A vertex of these conditions has m - 1 zeros; a solution with clearly more of them is counted
as `sparse`. `true` of these are training images to a relative error of 1e-3, `distinct` of them
different ones. Results go to nonnegative.json: one row per model and kind of start.
"""

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC

from decon import Oracle, deconstruct
from decon.teaching.datasets import load_mnist

from ._run import each, main, store

SEEDS, STARTS = 3, 600
ROUNDS, SOFTENING = 6, 0.05  # linear programmes per start; weight 1 / (entry + softening)
SPARE_ZEROS, ZERO, NEGATIVE = 5, 1e-5, 1e-7  # more than m - 1; what counts as 0, and as negative
EXACT = 1e-3


def small_digits():
    """MNIST with 14 x 14 pixels, and the digits."""
    images, digit = load_mnist()
    return images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196), digit


def span_from_labels(X, digit, seed):
    """An SVC, its span and n as labels show them, the queries, and images it has not seen."""
    chosen = np.flatnonzero(np.isin(digit, [0, 2, 5, 7, 8]))
    order = np.random.default_rng(seed).permutation(chosen)
    learned, rest = order[:150], order[150:]
    svc = SVC(kernel="poly", degree=2, gamma=1, coef0=1).fit(X[learned], digit[learned] == 2)
    labels = svc.predict(X[rest])
    oracle = Oracle(svc.predict, 196)
    result = deconstruct(oracle, X[np.r_[rest[labels][:5], rest[~labels][:5]]], random_state=seed,
                         progress=False)
    quasi = result.machine.support_vectors
    basis = np.linalg.qr(quasi.T)[0]
    n = np.linalg.lstsq(quasi @ basis, np.ones(len(quasi)))[0]
    return svc, basis, n, oracle.queries, X[rest]


def sparse_point(basis, n, z):
    """A point of the span without negative entries and with many zeros, near z; None if none."""
    used = np.abs(basis).max(axis=1) > 1e-6
    for _ in range(ROUNDS):
        weights = 1 / (np.clip(z[used], 0, None) + SOFTENING)
        found = linprog(basis[used].T @ weights, A_ub=-basis[used],
                        b_ub=np.full(used.sum(), NEGATIVE), A_eq=n[None], b_eq=[1.0],
                        bounds=(None, None), method="highs")
        if found.status:
            return None
        z = basis @ found.x
    zeros = (np.abs(z[used]) < ZERO).sum()
    return z if zeros > basis.shape[1] - 1 + SPARE_ZEROS else None


def one(seed):
    """One model, from both kinds of start."""
    X, digit = small_digits()
    svc, basis, n, queries, unseen = span_from_labels(X, digit, seed)
    Y = svc.support_vectors_
    size, rows = np.linalg.norm(Y, axis=1), []
    starts = {"unseen images": unseen[:STARTS],
              "noise": np.random.default_rng(seed).random((STARTS, 196))}
    for start, Z in starts.items():
        found = [z for z in (sparse_point(basis, n, z) for z in Z) if z is not None]
        errors = np.array([np.linalg.norm(z - Y, axis=1) / size for z in found])
        nearest = errors.argmin(axis=1) if found else np.empty(0, int)
        right = errors.min(axis=1) < EXACT if found else np.empty(0, bool)
        rows.append({"seed": seed, "start": start, "starts": STARTS, "support": len(Y),
                     "rank": basis.shape[1], "queries": queries, "sparse": len(found),
                     "true": right.sum(), "distinct": len(set(nearest[right])),
                     "error": errors.min(axis=1)[right].max() if right.any() else None})
    return rows


def run():
    """All models."""
    results = each(one, [(seed,) for seed in range(SEEDS)], "models")
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "table": [row for rows in results
                                                             for row in rows]})


if __name__ == "__main__":
    main(run)
