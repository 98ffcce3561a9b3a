"""Table 1b of the paper: a machine for the digit 1 is upgraded to 1 and 8, and an 8 is unlearned.

    python -m experiments.upgrade

The machine of the last chapter (60 principal components of MNIST, quadratic, 400 images without an
8) for ten choices of the images: taken apart, upgraded with 200 images of 8 and 1,000 images that
the box labels, and tested on some 3,400 images that nobody has seen. Beside it: new images alone,
the same images without the recovered function, two machines joined by OR, and training on
everything, the original's images included. Then fewer 8s, and fewer images for the box to label.
Last, 8 is unlearned in two ways: the upgrade's own examples one by one, and a box that was born
with 1 and 8 learns that 8 is none of its business. Results go to upgrade.json: hits of every seed.
"""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from decon import IncrementalSVM, KernelMachine, Oracle, Polynomial, deconstruct, upgrade
from decon.learning.upgrading import equal_errors, warm_start
from decon.teaching.datasets import load_mnist

from ._run import each, main, store

SEEDS, NEW, KNOWN = 10, 200, 1000
NEWS, KNOWNS = [5, 10, 20, 50, 100, 200], [20, 50, 100, 200, 500, 1000]


class Digits:
    """Images for one seed: the vendor's, those that the box may label, 8s, and the test's."""

    def __init__(self, seed, born_with=()):
        images, self.digit = load_mnist()
        order = np.random.default_rng(seed).permutation(len(images))
        others, eights = order[self.digit[order] != 8], order[self.digit[order] == 8]
        self.known, self.test_others = others[400:1400], others[1400:]
        self.new, self.test_eights = eights[:NEW], eights[NEW:]
        self.train = others[:400]
        if born_with:  # one image in ten is an 8, none of them in `new` or the test
            self.train = np.concatenate([others[:360], self.test_eights[-40:]])
            self.test_eights = self.test_eights[:-40]
        self.Z = PCA(60, random_state=0).fit(images[self.train]).transform(images)
        self.vendor = SVC(kernel="poly", degree=2, coef0=1).fit(
            self.Z[self.train], self.truth(self.train, {1, *born_with}))

    def truth(self, index, positive):
        return np.where(np.isin(self.digit[index], list(positive)), 1, -1)

    def box(self):
        return Oracle(self.vendor.predict, 60)

    def taken_apart(self):
        said = self.vendor.predict(self.Z[self.known])
        features = np.concatenate([self.known[said > 0][:3], self.known[said < 0][:3]])
        return features, deconstruct(self.box(), self.Z[features], random_state=0, progress=False)

    def hits(self, predict, positive=(1, 8)):
        """How many of the test's 1s, 8s and other digits are labelled rightly."""
        ones = self.test_others[self.digit[self.test_others] == 1]
        rest = self.test_others[self.digit[self.test_others] != 1]
        return [int(np.sum(predict(self.Z[index]) == self.truth(index, positive)))
                for index in (ones, self.test_eights, rest)]

    def tested(self):
        ones = int(np.sum(self.digit[self.test_others] == 1))
        return [ones, len(self.test_eights), len(self.test_others) - ones]


def trained(X, y, threshold="equal errors"):
    """A new machine, with the threshold that the upgrade has."""
    svm = IncrementalSVM(Polynomial(2, gamma=1 / (X.shape[1] * X.var()))).fit(X, y)
    shift = equal_errors(svm.leave_one_out(), svm.y) if threshold == "equal errors" else 0.0
    return lambda X: np.where(svm.decision_function(X) > shift, 1, -1)


def one(seed):
    """All ways to the new machine, for one choice of the images."""
    data = Digits(seed)
    Z, box = data.Z, data.box()
    features, result = data.taken_apart()

    def lesson(new, known):
        index = np.concatenate([data.new[:new], known])
        return Z[index], np.concatenate([np.ones(new), box(Z[known])])

    X, y = lesson(NEW, data.known)
    eight = trained(X, np.repeat([1, -1], [NEW, KNOWN]))  # 8 against all that is known
    everything = np.concatenate([data.train, data.known, data.new])
    Z_all, y_all = Z[everything], data.truth(everything, {1, 8})
    few_X, few_y = lesson(NEW, features)
    ways = {
        "original": data.vendor.predict,
        "upgraded": upgrade(result, X, y, progress=False).predict,
        "upgraded, margin": upgrade(result, X, y, threshold="margin").predict,
        "new images only": upgrade(result, few_X, few_y, threshold="margin").predict,
        "without f0": trained(X, y),
        "without f0, margin": trained(X, y, "margin"),
        "OR": lambda Z: np.maximum(result.machine.predict(Z), eight(Z)),
        "everything": trained(Z_all, y_all),
        "everything, margin": trained(Z_all, y_all, "margin"),
    }
    few = [(n, KNOWN) for n in NEWS] + [(NEW, n) for n in KNOWNS]
    lessons = [lesson(n, data.known[:k]) for n, k in few]
    return {
        "m": len(data.vendor.support_), "found": result.rank,
        "queries": sum(result.queries_by_stage.values()),
        "different": int(np.sum(result.machine.predict(Z) != data.vendor.predict(Z))),
        "tested": data.tested(), "ways": {name: data.hits(way) for name, way in ways.items()},
        "growth": {
            "upgraded": [data.hits(upgrade(result, *few, progress=False).predict)
                         for few in lessons],
            "without f0": [data.hits(trained(*few)) for few in lessons]},
    }


def undone(seed):
    """The 8s of the upgrade are unlearned one by one: what is left of them?"""
    data = Digits(seed)
    result = KernelMachine.from_sklearn(data.vendor)
    index = np.concatenate([data.new, data.known])
    X, y = data.Z[index], np.concatenate([np.ones(NEW), data.box()(data.Z[data.known])])
    base = warm_start(result, X, y)
    svm = IncrementalSVM(base.kernel, base=base).fit(X, y)
    for _ in range(NEW):
        svm.unlearn(0)
    never = IncrementalSVM(base.kernel, base=base).fit(X[NEW:], y[NEW:])
    f, wanted = svm.decision_function(data.Z), never.decision_function(data.Z)
    predict = svm.machine().predict
    return {"difference": float(np.abs(f - wanted).max()), "restarts": svm.restarts - 1,
            "hits": data.hits(predict, (1,)), "tested": data.tested(),
            "original": data.hits(data.vendor.predict, (1,)),
            "other_labels": int(np.sum(predict(data.Z) != data.vendor.predict(data.Z)))}


def cured(seed):
    """A box that was born with 1 and 8 learns that 8 is none of its business."""
    data = Digits(seed, born_with=(8,))
    features, result = data.taken_apart()
    Z, box = data.Z, data.box()
    index = np.concatenate([data.new, data.known])
    X, y = Z[index], np.concatenate([-np.ones(NEW), box(Z[data.known])])
    everything = np.concatenate([data.train, data.known, data.new])
    Z_all, y_all = Z[everything], data.truth(everything, {1})
    ways = {
        "original": data.vendor.predict,
        "upgraded": upgrade(result, X, y, progress=False).predict,
        "upgraded, margin": upgrade(result, X, y, threshold="margin").predict,
        "without f0": trained(X, y),
        "without f0, margin": trained(X, y, "margin"),
        "everything": trained(Z_all, y_all),
        "everything, margin": trained(Z_all, y_all, "margin"),
    }
    return {"m": len(data.vendor.support_), "found": result.rank,
            "different": int(np.sum(result.machine.predict(Z) != data.vendor.predict(Z))),
            "tested": data.tested(),
            "ways": {name: data.hits(way, (1,)) for name, way in ways.items()}}


def columns(rows):
    """A list of dicts of the same shape as one dict of lists."""
    first = rows[0]
    if isinstance(first, dict):
        return {key: columns([row[key] for row in rows]) for key in first}
    return rows


def run():
    seeds = [(seed,) for seed in range(SEEDS)]
    store(__file__, {
        "seeds": f"0 to {SEEDS - 1}", "new": NEW, "known": KNOWN,
        "news": NEWS, "knowns": KNOWNS,  # the columns of `growth`: first these, then those
        "groups": ["digit 1", "digit 8", "the rest"],
        "upgrade": columns(each(one, seeds, "upgrades")),
        "undone": columns(each(undone, seeds, "unlearning")),
        "cured": columns(each(cured, seeds, "boxes with 1 and 8")),
    })


if __name__ == "__main__":
    main(run)
