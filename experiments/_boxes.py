"""The boxes of the experiments: random machines, and SVCs trained on real data."""

from functools import lru_cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import KernelMachine
from decon.teaching.datasets import load_mnist


def random_box(kernel, dimension, n_support, seed):
    """A random machine, and five typical points of each label."""
    machine = KernelMachine.random(kernel, dimension, n_support, seed)
    X = np.random.default_rng(seed + 10_000).standard_normal((500, dimension))
    return machine, _typical(machine.predict, X)


def trained_box(data, n, seed, **options):
    """An SVC trained on n random points of a data set, and five typical points of each label."""
    return foreign_box(SVC(**options), data, n, seed)


def foreign_box(model, data, n, seed):
    """Any classifier trained on n random points of a data set, five typical points of each label.

    Points are drawn again where the classifier gives all of them the same label.
    """
    X, y = _data(data)
    order = np.random.default_rng(seed).permutation(len(y))
    for _ in range(100):
        if len(set(y[order[:n]])) == 2:
            model.fit(X[order[:n]], y[order[:n]])
            if len(set(model.predict(X))) == 2:
                return model, _typical(model.predict, X[order])
        order = np.roll(order, n)
    raise ValueError(f"no training set of {n} points of {data} gives {model} two labels")


def _typical(predict, X):
    labels = np.asarray(predict(X))
    return np.concatenate([X[labels == kind][:5] for kind in np.unique(labels)])


@lru_cache
def _data(name):
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    if name == "digits":  # odd or even
        X, y = load_digits(return_X_y=True)
        return X / 16, y % 2
    X, y = load_mnist()  # "mnist40": 40 principal components, 1 or not
    return PCA(int(name[5:]), random_state=0).fit_transform(X), (y == 1).astype(int)
