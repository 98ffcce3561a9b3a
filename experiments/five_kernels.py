"""The large table: random machines of all five kernels, and trained SVCs.

    python -m experiments.five_kernels

Every model is taken apart once by `deconstruct`, and several chapters read their part: `random`,
d = 30 and m = 12 as in the paper, and homogeneous cubics; `sizes`, tanh machines with other m;
`trained`, SVCs of all kernels on so few points that m < d; `other SVCs`, linear and quadratic ones
on more points and with other parameters; `narrow`, Gaussian SVCs, gamma in units of its default.

About half an hour on two busy cores. Results go to five_kernels.json: one row per kind of model,
with the columns of `_compare`; `group`, `model` and `kernel` say which kind. Models outside the
five families are in `controls`.
"""

from collections import defaultdict
from importlib import import_module

from decon import KernelMachine, Polynomial, Tanh

from ._compare import columns, taken_apart
from ._models import DATA, KERNELS, SVCS, D, M, random_model, trained_model
from ._run import each, main, store

SEEDS = {"random": 100, "sizes": 20, "trained": 15, "other SVCs": 10, "narrow": 20}
SIZES = (4, 8, 12, 16, 20, 24)
TRAINED = [(name, {}) for name in SVCS]
TRAINED += [("tanh", {"gamma": 0.01, "C": 10}), ("gaussian", {"C": 10})]
OTHER = [  # kernel, data, points, options
    *[("linear", data, n, {}) for data, sizes in [("cancer", (100, 400)), ("digits", (100, 400)),
                                                  ("mnist40", (200, 1000))] for n in sizes],
    ("quadratic", "cancer", 60, {}),
    ("quadratic", "cancer", 60, {"gamma": 0.01, "C": 100}),
    ("quadratic", "cancer", 60, {"coef0": 5, "gamma": 1, "C": 100}),
    ("quadratic", "cancer", 400, {}),
    ("quadratic", "cancer", 40, {"gamma": 1e-6, "C": 1000}),
    ("quadratic", "cancer", 300, {"gamma": 1e4, "C": 1000}),
    ("quadratic", "digits", 40, {}),
    ("quadratic", "digits", 40, {"gamma": 1e-4, "C": 1000}),
    ("quadratic", "digits", 60, {"coef0": 0.1}),
    ("quadratic", "digits", 300, {}),
    ("quadratic", "mnist40", 100, {}),
    ("quadratic", "mnist40", 200, {"C": 10}),
    ("quadratic", "mnist40", 200, {"gamma": 1e-5, "C": 1000}),
    ("quadratic", "mnist40", 1500, {}),
]
NARROWER = (0.25, 1, 2, 4, 8, 16, 32)


def random_run(kernel, m, seed):
    """A random machine."""
    machine, features = random_model(kernel, D, m, seed)
    return taken_apart(machine.predict, features, machine, seed)


def trained_run(kernel, data, n, options, narrower, seed):
    """A trained SVC, or one whose gamma is so many times its default."""
    options = SVCS[kernel] | options
    svc, features = trained_model(data, n, seed, **options)
    if narrower != 1:
        svc, features = trained_model(data, n, seed, gamma=narrower * svc._gamma, **options)
    return taken_apart(svc.predict, features, KernelMachine.from_sklearn(svc), seed)


def words(*parts, **options):
    return ", ".join([*parts, *(f"{key} = {value}" for key, value in options.items())])


def kinds():
    """All kinds of models: (group, model, kernel), the function and the arguments of its runs."""
    for kernel in [*KERNELS, Polynomial(3, coef0=0)]:
        yield ("random", str(kernel), kernel.name), random_run, [(kernel, M)]
    for m in SIZES:
        yield ("sizes", f"m = {m}", "tanh"), random_run, [(Tanh(1.0, 0.1), m)]
    for kernel, options in TRAINED:
        for data, n in DATA.items():
            yield (("trained", words(data, **options), kernel), trained_run,
                   [(kernel, data, n, options, 1)])
    for kernel, data, n, options in OTHER:
        yield (("other SVCs", words(data, f"{n} examples", **options), kernel), trained_run,
               [(kernel, data, n, options, 1)])
    for gamma in NARROWER:
        yield (("narrow", f"{gamma:g}", "gaussian"), trained_run,
               [("gaussian", "cancer", DATA["cancer"], {"C": 10}, gamma)])


def call(name, *arguments):
    """A run by its name: results are kept by name and arguments, in other processes as well."""
    return getattr(import_module(f"{__package__}.five_kernels"), name)(*arguments)


def run():
    """Take all the models apart and store the table."""
    tasks = [(key, function.__name__, *arguments, seed) for key, function, several in kinds()
             for arguments in several for seed in range(SEEDS[key[0]])]
    table = defaultdict(list)
    for (key, *_), row in zip(tasks, each(call, [t[1:] for t in tasks], "models"), strict=True):
        table[key].append(row)
    store(__file__, {"seeds": {group: f"0 to {n - 1}" for group, n in SEEDS.items()},
                     "table": [dict(zip(("group", "model", "kernel"), key, strict=True))
                               | columns(rows) for key, rows in table.items()]})


if __name__ == "__main__":
    main(run)
