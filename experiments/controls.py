"""Negative controls: models outside the five families, each taken apart once.

    python -m experiments.controls

Three groups: `control`, trained classifiers (two of them have the shape of ours: tanh networks with
a bias of their own in every unit, and the Cauchy kernel); `network`, functions of x.a_1, ...,
x.a_m like a tanh machine; `radial`, SVCs with other functions of |x - y|. Results go to
controls.json: one row per kind of model, with the columns of `_compare`; `group` and `model` say
which kind. No surrogates are made. About ten minutes on two cores.
"""

from collections import defaultdict

from sklearn.svm import SVC

from ._compare import columns, taken_apart
from ._models import ACTIVATIONS, CONTROLS, DATA, RADIAL, RadialKernel, fitted_model, network
from ._run import each, main, store

SEEDS = {"control": 10, "network": 20, "radial": 20}


def one_model(group, kind, data, seed):
    """Take a negative control apart."""
    if group == "network":
        return taken_apart(*network(*ACTIVATIONS[kind], seed), seed=seed)
    if group == "radial":
        model, n = SVC(kernel=RadialKernel(RADIAL[kind]), C=10), DATA[data]
    else:
        model, n = CONTROLS[kind](seed), (25, 200)[seed % 2]
    model, features = fitted_model(model, data, n, seed)
    return taken_apart(model.predict, features, seed=seed)


def run():
    """Take all the models apart and store the table."""
    kinds = [("control", kind, data) for kind in CONTROLS for data in DATA]
    kinds += [(group, kind, "cancer") for group, names in
              [("network", ACTIVATIONS), ("radial", RADIAL)] for kind in names]
    tasks = [(*kind, seed) for kind in kinds for seed in range(SEEDS[kind[0]])]
    table = defaultdict(list)
    for (group, kind, *_), row in zip(tasks, each(one_model, tasks, "models"), strict=True):
        table[group, kind].append(row)
    store(__file__, {"seeds": {group: f"0 to {n - 1}" for group, n in SEEDS.items()},
                     "table": [{"group": group, "model": kind, "kernel": "unknown"} | columns(rows)
                               for (group, kind), rows in table.items()]})


if __name__ == "__main__":
    main(run)
