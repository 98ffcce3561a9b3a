"""Trained SVCs of 64 features with `largest_fit`: what a fit of 2,500 numbers saves and takes.

    python -m experiments.larger_fits

The SVCs of digits in `five_kernels`, with default parameters, have 1,000 to 2,500 numbers. They are
taken apart again with `largest_fit=2500`, and the first of them with 1,000, the default, for the
time that it takes.
Results go to larger_fits.json: `table`, one row per kernel and largest fit, with the columns of
`_compare` and one more, `seconds`, the time of one processor in `deconstruct`.

About an hour and a half on two cores.
"""

import time
from collections import defaultdict

from decon import KernelMachine, Oracle, deconstruct

from ._compare import columns, compare
from ._models import DATA, SVCS, trained_model
from ._run import each, main, store

FITS = {2500: 15, 1000: 5}  # largest fits, and numbers of SVCs of each kernel
KERNELS = ("quadratic", "gaussian", "tanh", "cubic")


def one_model(kernel, largest_fit, seed):
    """Take one SVC apart."""
    svc, features = trained_model("digits", DATA["digits"], seed, **SVCS[kernel])
    oracle = Oracle(svc.predict, features.shape[1])

    # timed without the comparison
    start = time.process_time()
    result = deconstruct(oracle, features, random_state=seed, progress=False,
                         largest_fit=largest_fit)
    seconds = time.process_time() - start
    return compare(result, KernelMachine.from_sklearn(svc), features, seed) | {"seconds": seconds}


def run():
    """Take all of them apart and store the table."""
    tasks = [(kernel, most, seed) for kernel in KERNELS for most, n in FITS.items()
             for seed in range(n)]
    table = defaultdict(list)
    for (*key, _), row in zip(tasks, each(one_model, tasks, "taking SVCs apart"), strict=True):
        table[tuple(key)].append(row)
    store(__file__, {"seeds": {str(most): f"0 to {n - 1}" for most, n in FITS.items()},
                     "table": [{"kernel": kernel, "largest_fit": most} | columns(rows)
                               for (kernel, most), rows in table.items()]})


if __name__ == "__main__":
    main(run)
