import json
import os
import re
from datetime import date
from importlib import import_module
from pathlib import Path
from time import sleep

import nbformat
import numpy as np
import pytest
from dask.distributed import LocalCluster
from joblib import register_parallel_backend
from joblib._parallel_backends import ThreadingBackend
from threadpoolctl import threadpool_info

from experiments._run import each, main, store

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "experiments").glob("[!_]*.py"))
# How a page names a stored result: its file, a call of `stored`, or a tuple of names.
FILES = r"(\w+)\.(?:json|npz)\b|\bstored\(\"(\w+)\"\)"
TUPLES = r"(?:\bfor \w+ in|\bUSED =)\s*\(([^)]*)\)"


def draw(seed, wait):
    """A result that depends on the seed alone; the first tasks are the last to finish."""
    sleep(wait)
    return {"seed": seed, "value": np.random.default_rng(seed).standard_normal()}


def where(wait):
    sleep(wait)
    return os.getpid(), [pool["num_threads"] for pool in threadpool_info()]


def stumble(seed):
    if seed == 3:
        raise ValueError("box 3 has no boundary")


TASKS = [(seed, 0.01 * (6 - seed)) for seed in range(6)]


def by(options, function, arguments):
    """What `each` returns with these options of the command line."""
    if options is None:
        return each(function, arguments, "testing")
    results = []
    main(lambda: results.extend(each(function, arguments, "testing")), options)
    return results


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield ["--backend", "dask", "--scheduler", cluster.scheduler_address]


class AllAtOnce(ThreadingBackend):
    """A backend that cannot give its results one after the other, like multiprocessing."""

    supports_return_generator = False


register_parallel_backend("all at once", AllAtOnce)


@pytest.fixture(params=["no main", "sequential", "threading", "all at once", "loky", "cluster"])
def options(request):
    """The command line of every way to run tasks; None is without `main`."""
    if request.param == "cluster":
        return request.getfixturevalue("cluster")
    return {"no main": None, "sequential": ["--jobs", "1"]}.get(
        request.param, ["--jobs", "2", "--backend", request.param])


def test_results_come_in_order_whatever_the_backend(options):
    assert by(options, draw, TASKS) == [draw(seed, 0) for seed, _ in TASKS]


def test_a_fault_keeps_its_message(options):
    with pytest.raises(ValueError, match="box 3 has no boundary"):
        by(options, stumble, [(seed,) for seed in range(5)])


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_other_processes_do_the_work_with_one_thread_each(backend):
    found = by(["--jobs", "2", "--backend", backend], where, [(0.3,)] * 4)
    processes = {process for process, _ in found}
    assert len(processes) <= 2 and os.getpid() not in processes
    assert all(count == 1 for _, threads in found for count in threads)


def test_a_scheduler_is_one_of_dask():
    with pytest.raises(SystemExit):
        by(["--scheduler", "127.0.0.1:8786"], draw, TASKS)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_an_interrupted_run_goes_on(tmp_path, backend):
    options = ["--jobs", "2", "--backend", backend, "--keep", str(tmp_path)]
    first = by(options, where, [(0.01,), (0.02,)])
    again = by(options, where, [(0.01,), (0.02,), (0.03,)])
    assert again[:2] == first and len(again) == 3
    assert len(list(tmp_path.rglob("output.pkl"))) == 3
    by(["--jobs", "1"], where, [(0.04,)])  # without the option nothing is kept
    assert len(list(tmp_path.rglob("output.pkl"))) == 3


def test_store_round_trip(tmp_path):
    table = [{"m": np.int64(3), "right": np.True_, "cosine": 0.123456789, "bits": (1, 2)}]
    store(tmp_path / "found.py", {"seeds": "0 to 4, [\n1]", "table": table,
                                  "grid": np.array([[1.0, np.nan], [1e-300 / 3, np.inf]])})
    text = (tmp_path / "found.json").read_text(encoding="utf-8")
    found = json.loads(text)
    assert found.pop("date") == date.today().isoformat()
    assert found.pop("versions").keys() == {"numpy", "scipy", "scikit-learn", "cvxpy"}
    assert found == {
        "seeds": "0 to 4, [\n1]",
        "table": [{"m": 3, "right": True, "cosine": 0.123457, "bits": [1, 2]}],
        "grid": [[1.0, None], [3.33333e-301, None]],
    }
    assert text.endswith("}\n")
    assert '   "bits": [1, 2]\n' in text
    assert "  [1.0, null],\n" in text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_an_experiment_says_how_to_run_it_and_has_been_run(path):
    module = import_module(f"experiments.{path.stem}")
    assert f"python -m experiments.{path.stem}\n" in module.__doc__
    assert callable(module.run)
    stored = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert {"date", "versions"} <= stored.keys()


def named(code):
    """The words that may be names of stored results in the code of a page."""
    files = {word for pair in re.findall(FILES, code) for word in pair}
    return files | {word for names in re.findall(TUPLES, code)
                    for word in re.findall(r"\"(\w+)\"", names)}


def test_names_of_stored_results_are_found():
    code = """for name in ("a", "b"):
        json.loads(Path(f"../experiments/{name}.json"))
    stored("c")["d"], np.load("../../experiments/e.npz"), (folder / "f.json").read_text()"""
    assert set("abcef") <= named(code) and "d" not in named(code)


def test_the_list_of_programs_names_every_page_that_reads_them():
    names = {path.stem for path in MODULES}
    reads = {(name, page.stem) for page in ROOT.glob("book/**/*.ipynb")
             for name in names & named("\n".join(
                 cell.source for cell in nbformat.read(page, 4).cells if cell.cell_type == "code"))}
    reads |= {(name, page.stem) for page in ROOT.glob("book/**/*.md")
              for name in names & set(re.findall(r"experiments/(\w+)\.json", page.read_text()))}
    rows = re.findall(r"^\| `(\w+)` .*\|(.*)\|$", (ROOT / "experiments/README.md").read_text(),
                      re.MULTILINE)
    assert {name for name, _ in rows} == names
    listed = {(name, page) for name, pages in rows for page in re.findall(r"`(.*?)`", pages)}
    # four pictures of the paper are named by their numbers alone
    assert {pair for pair in listed - reads if not pair[0].startswith("figure_")} == set()
    assert reads - listed == set()
