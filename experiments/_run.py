"""How an experiment runs its tasks, on one machine or on a cluster, and stores what it found.

    python -m experiments.NAME [--jobs N] [--backend NAME] [--scheduler ADDRESS] [--keep FOLDER]

An experiment has a function `run`, which calls `each` and `store`, and ends with `main(run)`.
"""

import json
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from contextlib import ExitStack
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
from joblib import Memory, Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

LIBRARIES = ("numpy", "scipy", "scikit-learn", "cvxpy")
DIGITS = 6
_options = {"keep": None}  # the folder of the single results of an interrupted run


def each(function, arguments, what):
    """Call a function once for every tuple of arguments, in parallel if `main` says so.

    Parameters
    ----------
    function : callable
        Defined at the top level of a module, so that other processes can import it.
    arguments : iterable of tuple
    what : str
        What is being done: the label of the progress bar.

    Returns
    -------
    list
        The results, in the order of the arguments.
    """
    kept = Memory(_options["keep"], verbose=0).cache(function)
    calls = [delayed(kept)(*a) for a in arguments]
    # one task at a time: kept results take no time at all, and batches of what follows would grow
    try:
        parallel = Parallel(return_as="generator", batch_size=1)
    except ValueError:  # this backend gives its results all at once: count what it has accepted
        return Parallel(batch_size=1)(tqdm(calls, what))
    return list(tqdm(parallel(calls), what, len(calls)))


def store(module, results):
    """Write NAME.json beside the module NAME.py, with the date and the versions of the libraries.

    Parameters
    ----------
    module : path-like
        `__file__` of the experiment.
    results : dict
        Numbers, strings, lists, arrays and dicts of them. Floats are rounded to 6 digits; what
        is not finite becomes null.
    """
    head = {"date": date.today().isoformat(), "versions": {p: version(p) for p in LIBRARIES}}
    text = json.dumps(_plain(head | results), indent=1)
    # A list of numbers stands on one line. (No string of JSON holds a line break.)
    text = re.sub(r'\[\n([^][{}"]*)\]', lambda m: "[" + " ".join(m[1].split()) + "]", text)
    Path(module).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def main(run, arguments=None):
    """Call `run()` with the workers that the command line names, each with one BLAS thread.

    Parameters
    ----------
    run : callable
    arguments : list of str, default=None
        The command line; None for that of the process.
    """
    parser = ArgumentParser(description=sys.modules[run.__module__].__doc__,
                            formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=-1, metavar="N",
                        help="number of workers (default: one a core)")
    parser.add_argument("--backend", default="loky", metavar="NAME",
                        help="any backend of joblib: loky (default), threading, dask, ...")
    parser.add_argument("--scheduler", metavar="ADDRESS",
                        help="of a Dask cluster (default: a cluster on this machine)")
    parser.add_argument("--keep", metavar="FOLDER",
                        help="of single results, with which an interrupted run goes on; to be "
                             "deleted when the code has changed")
    options = parser.parse_args(arguments)
    _options["keep"] = options.keep
    if options.scheduler and options.backend != "dask":
        parser.error("--scheduler needs --backend dask")
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))  # for what runs in this process
        settings = {"n_jobs": options.jobs}
        if options.backend == "loky":
            settings["inner_max_num_threads"] = 1
        if options.backend == "dask":  # whose workers set OMP_NUM_THREADS=1 themselves
            settings["client"] = stack.enter_context(_client(options))
        stack.enter_context(parallel_config(options.backend, **settings))
        run()


def _client(options):
    """A client of the named Dask cluster, or of a new one on this machine."""
    import dask  # not needed without --backend dask
    from dask.distributed import Client

    if not options.scheduler:
        # Dask tells malloc to hand memory back at once, which makes arrays several times slower.
        trim = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
        with dask.config.set({trim: None}):
            return Client(n_workers=options.jobs if options.jobs > 0 else None,
                          threads_per_worker=1, dashboard_address=":0")
    client = Client(options.scheduler)
    # Without these, joblib would wait for ever for a cluster that cannot read its tasks.
    client.run_on_scheduler(import_module, __name__)
    client.run(import_module, __name__)
    return client


def _plain(value):
    """The same value in types of JSON, floats rounded."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value
