"""Gaussian machines of at least d support vectors, recovered by a student with too many centres.

    python -m experiments.students

30 random machines in 5 to 13 dimensions, of d to 20 support vectors that are standard normal, and
their sigma 1 to 1.4 times sqrt(d / 2); then negative controls: other radial machines, a nearest
neighbour and a forest. About half an hour. Results go to students.json: one row per machine or
control, with the relative distance of the farthest true vector from the nearest one found
(`missing`), that of the farthest one found from the nearest true one (`found`), and the seconds of
its process.
"""

from time import process_time

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from decon import Gaussian, KernelMachine, Oracle, deconstruct

from ._compare import compare_machines
from ._models import typical
from ._run import each, main, store

MACHINES, CONTROLS = range(100, 130), range(100, 102)  # seeds; others tuned the constants
RADIAL = {  # functions of |x - y|^2 / (2 sigma^2), and of the number of the vector
    "Cauchy": lambda u, i: 1 / (1 + u),
    "Laplacian": lambda u, i: np.exp(-np.sqrt(2 * u)),
    "Matern": lambda u, i: (1 + np.sqrt(5 * u) + 5 * u / 3) * np.exp(-np.sqrt(5 * u)),
    "Student, 30 degrees of freedom": lambda u, i: (1 + u / 30) ** -15.5,
    "two widths": lambda u, i: np.exp(-u / (1 + i % 2)),
}
TRAINED = {"nearest neighbour": lambda: KNeighborsClassifier(1),
           "random forest": lambda: RandomForestClassifier(20, random_state=0)}


def random_student(dimension, n_support, width, seed):
    """A Gaussian machine with standard normal vectors, sigma = width sqrt(d / 2); its features."""
    rng, kernel = np.random.default_rng(seed), Gaussian(width * np.sqrt(dimension / 2))
    Y, w = rng.standard_normal((n_support, dimension)), rng.standard_normal(n_support)
    psi = KernelMachine(kernel, Y, w, 0).decision_function(rng.standard_normal((1001, dimension)))
    machine = KernelMachine(kernel, Y, w, np.median(psi))
    return machine, _features(machine.predict, dimension, seed)


def radial_model(name, dimension, n_support, seed):
    """The labels of a machine with another radial kernel, and features."""
    rng = np.random.default_rng(seed)
    Y, w = rng.standard_normal((n_support, dimension)), rng.standard_normal(n_support)

    def psi(X):
        squares = ((np.asarray(X, float)[:, None] - Y) ** 2).sum(2)
        return RADIAL[name](squares / dimension, np.arange(n_support)) @ w

    b = np.median(psi(rng.standard_normal((1001, dimension))))

    def predict(X):
        return np.where(psi(X) > b, 1, -1)

    return predict, _features(predict, dimension, seed)


def trained_model(name, dimension, seed):
    """The labels of a model trained on those of a Gaussian machine, and features."""
    machine, _ = random_student(dimension, 2 * dimension, 1.0, seed)
    X = np.random.default_rng(seed).standard_normal((300, dimension))
    predict = TRAINED[name]().fit(X, machine.predict(X)).predict
    return predict, _features(predict, dimension, seed)


def _features(predict, dimension, seed):
    X = np.random.default_rng(seed + 10_000).standard_normal((500, dimension))
    return typical(predict, X, 20)


def task(number):
    """The dimension, the number of vectors and the width of a machine of the experiment."""
    rng = np.random.default_rng(number)
    dimension = 5 + number % 9
    return dimension, int(rng.integers(dimension, 21)), round(float(rng.uniform(1, 1.4)), 2)


def one(kind, number):
    """Take a machine or a control apart."""
    dimension, n_support, width = task(number)
    row, truth = {"kind": kind, "dimension": dimension, "seed": number}, None
    if kind == "Gaussian":
        truth, features = random_student(dimension, n_support, width, number)
        predict, row = truth.predict, row | {"n_support": n_support, "width": width}
    elif kind in RADIAL:
        predict, features = radial_model(kind, dimension, n_support, number)
    else:
        predict, features = trained_model(kind, dimension, number)
    oracle, start = Oracle(predict, dimension), process_time()
    result = deconstruct(oracle, features, random_state=number, progress=False,
                         surrogate=False)
    row |= {"kernel_type": result.kernel_type, "own_vectors": result.own_vectors,
            "found_support": result.n_support, "queries": oracle.queries,
            "student": result.queries_by_stage.get("student", 0),
            "seconds": process_time() - start, "message": result.message}
    if truth is not None and isinstance(result.machine, KernelMachine):
        errors = compare_machines(result.machine, truth, result.scale)
        row |= {"found": errors["vectors_found"], "missing": errors["vectors_missing"]}
    return row


def run():
    """Take all the models apart and store one row for each."""
    tasks = [("Gaussian", number) for number in MACHINES]
    tasks += [(kind, number) for kind in (*RADIAL, *TRAINED) for number in CONTROLS]
    store(__file__, {"table": each(one, tasks, "models")})


if __name__ == "__main__":
    main(run)
