"""The models of the experiments: random machines, trained SVCs, negative controls, faulty ones.

Every maker gives a model, or what it predicts, and a few typical points of each label.
"""

import warnings
from functools import lru_cache

import numpy as np
from scipy.special import erf
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import euclidean_distances, laplacian_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from decon import Gaussian, KernelMachine, Linear, Polynomial, Tanh
from decon.teaching.datasets import load_mnist

D, M = 30, 12  # the paper's first experiment
KERNELS = [Linear(), Polynomial(2), Polynomial(3), Tanh(1.0, 0.1), Tanh(3.0, -0.2), Gaussian(1.0),
           Gaussian(4.0)]
DATA = {"cancer": 20, "digits": 40, "mnist40": 28}  # data sets, and points an SVC is trained on
SVCS = {  # options of scikit-learn's SVC
    "linear": {"kernel": "linear"},
    "quadratic": {"kernel": "poly", "degree": 2, "coef0": 1},
    "cubic": {"kernel": "poly", "degree": 3, "coef0": 1},
    "tanh": {"kernel": "sigmoid"},
    "gaussian": {"kernel": "rbf"},
}


def typical(predict, X, n=5):
    """The first n points of each label."""
    labels = np.asarray(predict(X))
    return np.concatenate([X[labels == kind][:n] for kind in np.unique(labels)])


# -- random machines -----------------------------------------------------------------------------

def random_model(kernel, dimension, n_support, seed):
    """A random machine, and five typical points of each label."""
    machine = KernelMachine.random(kernel, dimension, n_support, seed)
    X = np.random.default_rng(seed + 10_000).standard_normal((500, dimension))
    return machine, typical(machine.predict, X)


def unit_model(kernel, seed, dimension=D, n_support=M):
    """A random machine whose boundary crosses [0, 1]^d, five points of each label.

    The centres of Gaussian machines lie in the cube; their width is in units of its radius.
    """
    rng = np.random.default_rng(seed)
    if isinstance(kernel, Gaussian):
        Y, radius = rng.random((n_support, dimension)), np.sqrt(dimension) / 3
        kernel = Gaussian(kernel.sigma * radius)
    else:
        Y = 2 * rng.standard_normal((n_support, dimension)) / np.sqrt(dimension)
    weights, X = rng.standard_normal(n_support), rng.random((500, dimension))
    threshold = np.median(KernelMachine(kernel, Y, weights, 0).decision_function(X))
    machine = KernelMachine(kernel, Y, weights, threshold)
    return machine, typical(machine.predict, X)


def spread_gaussian(sigma, seed):
    """A random Gaussian machine with support vectors like the features, standard normal."""
    rng = np.random.default_rng(seed)
    Y, w = rng.standard_normal((M, D)), rng.standard_normal(M)
    psi = KernelMachine(Gaussian(sigma), Y, w, 0).decision_function(rng.standard_normal((1001, D)))
    machine = KernelMachine(Gaussian(sigma), Y, w, np.median(psi))
    X = np.random.default_rng(seed + 10_000).standard_normal((500, D))
    return machine, typical(machine.predict, X)


# -- trained models ------------------------------------------------------------------------------

def trained_model(data, n, seed, **options):
    """An SVC trained on n random points of a data set, and five typical points of each label."""
    return fitted_model(SVC(**options), data, n, seed)


def fitted_model(model, data, n, seed):
    """Any classifier trained on n random points of a data set, five typical points of each label.

    Points are drawn again where the classifier gives all of them the same label.
    """
    X, y = _data(data)
    order = np.random.default_rng(seed).permutation(len(y))
    for _ in range(100):
        if len(set(y[order[:n]])) == 2:
            with warnings.catch_warnings(action="ignore"):  # a network may stop early
                model.fit(X[order[:n]], y[order[:n]])
            if len(set(model.predict(X))) == 2:
                return model, typical(model.predict, X[order])
        order = np.roll(order, n)
    raise ValueError(f"no training set of {n} points of {data} gives {model} two labels")


@lru_cache
def _data(name):
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    if name == "wine":  # the second kind or not
        X, y = load_wine(return_X_y=True)
        return StandardScaler().fit_transform(X), (y == 1).astype(int)
    if name == "digits":  # odd or even
        X, y = load_digits(return_X_y=True)
        return X / 16, y % 2
    X, y = load_mnist()  # "mnist40": 40 principal components, 1 or not
    return PCA(int(name[5:]), random_state=0).fit_transform(X), (y == 1).astype(int)


def digit_two(images, seed=0):
    """The paper's second experiment: a cubic SVC for 2 against 0, 5, 7, 8 on raw pixels.

    Returns
    -------
    svc : SVC
    learned, others : arrays of int
        Numbers of the images in `load_mnist` that it was trained on, and of the rest.
    """
    X, y = load_mnist()
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(np.isin(y, [0, 2, 5, 7, 8])))
    learned, others = np.split(order, [images])
    svc = SVC(kernel="poly", degree=3, gamma=1, coef0=1).fit(X[learned], y[learned] == 2)
    return svc, learned, others


# -- negative controls ---------------------------------------------------------------------------

class RadialKernel:
    """A kernel g(|x - y|^2) for SVC, its length scale the median distance of the first points."""

    def __init__(self, function):
        self.function, self.unit = function, None

    def __call__(self, X, Y):
        r2 = np.array([((x - Y) ** 2).sum(1) for x in X])
        self.unit = self.unit or np.median(r2)
        return self.function(r2 / self.unit)


def cauchy_kernel(X, Y):
    return 1 / (1 + euclidean_distances(X, Y, squared=True) / X.shape[1])


CONTROLS = {  # trained models outside the five families, by seed
    "degree 4": lambda seed: SVC(kernel="poly", degree=4, coef0=1),
    "Laplacian": lambda seed: SVC(kernel=laplacian_kernel),
    "random forest": lambda seed: RandomForestClassifier(10, random_state=seed),
    "nearest neighbours": lambda seed: KNeighborsClassifier(1 + 4 * (seed % 2)),
    "deep ReLU network": lambda seed: MLPClassifier(((20, 10), (10, 10))[seed % 2],
                                                    random_state=seed, max_iter=300),
    "tanh network": lambda seed: MLPClassifier((6,), activation="tanh", random_state=seed,
                                               max_iter=300),
    "Cauchy kernel": lambda seed: SVC(kernel=cauchy_kernel),
}
RADIAL = {  # functions of |x - y|^2
    "Cauchy": lambda r2: 1 / (1 + r2),
    "Student, 30 degrees of freedom": lambda r2: (1 + r2 / 30) ** -15.5,
    "inverse multiquadric": lambda r2: 1 / np.sqrt(1 + r2),
    "Laplacian": lambda r2: np.exp(-np.sqrt(r2)),
    "two Gaussians": lambda r2: 0.7 * np.exp(-r2 / 2) + 0.3 * np.exp(-r2 / 8),
}
ACTIVATIONS = {  # the function of x.a + beta, and how much the beta of the units differ
    "tanh, biases of their own": (np.tanh, 0.3),
    "tanh, biases almost the same": (np.tanh, 0.01),
    "error function": (erf, 0.0),
    "arc tangent": (np.arctan, 0.0),
    "u / (1 + |u|)": (lambda u: u / (1 + abs(u)), 0.0),
    "softplus": (lambda u: np.logaddexp(u, 0), 0.3),
    "degree 5": (lambda u: (u + 1) ** 5, 0.0),
    "sine": (np.sin, 0.3),
}


def network(function, spread, seed, dimension=20, units=6):
    """The labels of sign(sum_i w_i g(a_i.x + beta_i) - b) at random, and typical points."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((units, dimension)) / np.sqrt(dimension)
    w, biases = rng.standard_normal(units), 0.1 + spread * rng.standard_normal(units)
    X = rng.standard_normal((1001, dimension))
    b = np.median(function(X @ A.T + biases) @ w)

    def predict(X):
        return np.where(function(X @ A.T + biases) @ w > b, 1, -1)

    return predict, typical(predict, X)


def _squares(X, Y):
    return ((X[:, None] - Y) ** 2).sum(2)


DISGUISED = {  # random machines with other kernels, functions of X and of the support vectors Y
    "Cauchy": lambda X, Y: 1 / (1 + _squares(X, Y)),
    "inverse multiquadric": lambda X, Y: 1 / np.sqrt(1 + _squares(X, Y) / 4),
    "Matern": lambda X, Y: Matern(length_scale=3.0, nu=2.5)(X, Y),
    "tanh network": lambda X, Y: np.tanh(X @ Y.T + np.arange(len(Y)) / len(Y)),
    "arctangent": lambda X, Y: np.arctan(X @ Y.T + 0.1),
    "two widths": lambda X, Y: np.exp(-_squares(X, Y) / np.resize([8.0, 32.0], len(Y))),
    "degree 4": Polynomial(4),
    "quadratic + Gaussian": lambda X, Y: Polynomial(2)(X, Y) + 1e-3 * Gaussian(1.0)(X, Y),
    "cubic + tanh": lambda X, Y: Polynomial(3)(X, Y) + 1e-3 * Tanh(3.0, 0.2)(X, Y),
    "rounded": lambda X, Y: Polynomial(3)(X, np.round(Y, 1)).round(3),
}


def disguised_model(name, seed, dimension=20, n_support=6):
    """The labels of a random machine whose kernel is none of the five, and typical points."""
    rng, kernel = np.random.default_rng(seed), DISGUISED[name]
    Y = rng.standard_normal((n_support, dimension))
    Y *= 1.0 if name == "rounded" else 2 / np.sqrt(dimension)
    w = rng.standard_normal(n_support)
    X = rng.standard_normal((1001, dimension))
    b = np.median(kernel(X, Y) @ w)

    def predict(X):
        return kernel(np.asarray(X, float), Y) @ w > b

    return predict, typical(predict, X[:500])


# -- faults --------------------------------------------------------------------------------------

def flip(predict, rate, seed=0):
    """The labels of a model, each wrong with the same probability."""
    rng = np.random.default_rng(seed)
    return lambda X: predict(X) * np.where(rng.random(len(X)) < rate, -1, 1)


def single(machine):
    """The labels of a machine whose arithmetic is all in single precision."""
    Y, weights = (a.astype(np.float32) for a in (machine.support_vectors, machine.weights))
    kernel, f = machine.kernel, np.float32

    def predict(X):
        X = X.astype(f)
        inner = X @ Y.T
        if isinstance(kernel, Linear):
            K = inner
        elif isinstance(kernel, Polynomial):
            K = (f(kernel.gamma) * inner + f(kernel.coef0)) ** kernel.degree
        elif isinstance(kernel, Tanh):
            K = np.tanh(f(kernel.alpha) * inner + f(kernel.beta))
        else:
            squares = (X**2).sum(1)[:, None] + (Y**2).sum(1) - 2 * inner
            K = np.exp(-squares / f(2 * kernel.sigma**2))
        psi = K @ weights
        assert psi.dtype == f
        return np.where(psi > f(machine.threshold), 1, -1)

    return predict


def within(predict, lower=0.0, upper=1.0):
    """The labels of a model that refuses all queries from outside a box."""
    def inside(X):
        assert (lower <= X).all() and (X <= upper).all(), "a query from outside the bounds"
        return predict(X)
    return inside
