"""Few images to be labelled: an upgrade, a machine trained afresh, and rivals that query as much.

    python -m experiments.few_images

The machines and the images of `upgrade` (digit 1 is known, 8 is learned, ten choices of images),
with 200 images of 8 and 20 to 1,000 images that the original labels. `upgrade` has the recovered
function and the machine without it. Here are two more. The first needs no copy but the original
itself, for ever: a new machine for 8 against the other images, and the answer is yes if the
original or the new machine says yes. The second is a student in place of the copy: a logistic
regression on all products of two features, learned from labels of random points, 20,000 or as many
as the extraction's queries. The points are Gaussian, with the means and standard deviations of the
220 images at hand when 20 are labelled. It is upgraded like the copy, with the same rule for the
threshold. `upgrade` begins its extraction with six of 1,000 images; a copy that begins with those
of the 220 is extracted here, too. Results go to few_images.json: hits of every seed, on how many of
the test's images other than 8 a student's label is not the original's, and on how many of all 5,000
that of the copy.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

from decon import deconstruct, upgrade
from decon.families.quasi_vectors import quasi_support_vectors

from ._models import typical
from ._run import each, main, store
from .upgrade import KNOWNS, NEW, SEEDS, Digits, trained

POINTS = [20_000, 86_000]  # random ones


def rivals(seed):
    """Hits of all rivals, for every number of known images."""
    data = Digits(seed)
    original, tested = data.vendor.predict, data.Z[data.test_others]
    ones = [int(np.sum(original(data.Z[data.known[:n]]) > 0)) for n in KNOWNS]
    row = {"tested": data.tested(), "hits": [kept(data, n) for n in KNOWNS], "called yes": ones}

    at_hand = data.Z[np.concatenate([data.known[:KNOWNS[0]], data.new])]
    copy = deconstruct(data.box(), typical(original, at_hand, 3), random_state=0, progress=False)
    students = [student(original, at_hand, points, seed) for points in POINTS]
    return row | {
        "student": [upgraded(data, students[-1], n) for n in KNOWNS],
        "students, fewest images": [upgraded(data, machine, KNOWNS[0]) for machine in students],
        "students, not upgraded": [data.hits(machine.predict) for machine in students],
        "students, other labels": [int(np.sum(machine.predict(tested) != original(tested)))
                                   for machine in students],
        "copy, queries": sum(copy.queries_by_stage.values()),
        "copy, other labels": int(np.sum(copy.machine.predict(data.Z) != original(data.Z))),
        "copy, fewest images": upgraded(data, copy, KNOWNS[0])}


def kept(data, known):
    """Hits of the original and a new machine joined by OR."""
    index = np.concatenate([data.new, data.known[:known]])
    eight = trained(data.Z[index], np.repeat([1, -1], [NEW, known]))
    return data.hits(lambda Z: np.maximum(data.vendor.predict(Z), eight(Z)))


def student(predict, at_hand, points, seed):
    """A quadratic machine, learned from labels of points scattered like the images at hand."""
    mean, width, d = at_hand.mean(axis=0), at_hand.std(axis=0), at_hand.shape[1]
    W = np.random.default_rng(seed).standard_normal((points, d))
    products = PolynomialFeatures(2, include_bias=False).fit_transform(W)
    fit = LogisticRegression(max_iter=1000).fit(products, predict(mean + width * W))

    # the quadratic as a symmetric matrix: first of (w, 1), then of (x, 1)
    linear, squares = np.split(fit.coef_[0] / 2, [d])
    A = np.zeros((d + 1, d + 1))
    A[np.triu_indices(d)] = squares
    A[:d, d], A[d, d] = linear, fit.intercept_[0] / 2
    to_w = np.vstack([np.c_[np.diag(1 / width), -mean / width], np.eye(d + 1)[d]])
    return quasi_support_vectors(to_w.T @ (A + A.T) @ to_w)


def upgraded(data, machine, known):
    """Hits of the upgrade of a machine."""
    index = np.concatenate([data.new, data.known[:known]])
    y = np.concatenate([np.ones(NEW), data.vendor.predict(data.Z[data.known[:known]])])
    return data.hits(upgrade(machine, data.Z[index], y, progress=False).predict)


def run():
    rows = each(rivals, [(seed,) for seed in range(SEEDS)], "rivals with few images")
    store(__file__, {"seeds": f"0 to {SEEDS - 1}", "new": NEW, "knowns": KNOWNS,
                     "random points": POINTS, "groups": ["digit 1", "digit 8", "the rest"],
                     **{key: [row[key] for row in rows] for key in rows[0]}})


if __name__ == "__main__":
    main(run)
