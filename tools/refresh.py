"""Run notebooks and store their outputs, and nothing that changes from run to run."""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from reading_time import stamp

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def fold(cells):
    """Code that the book folds, JupyterLab folds too: drawings, and the cells of solutions."""
    solution = False
    for cell in cells:
        if cell.cell_type == "markdown":
            solution = "{solution-start}" in cell.source or (
                solution and "{solution-end}" not in cell.source)
        elif solution:
            cell.metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
        elif "hide-input" in cell.metadata.get("tags", []):
            cell.metadata["jupyter"] = {"source_hidden": True}


def without_widgets(cells):
    """Widgets live as long as their session; what is stored is their place in the page."""
    for cell in cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)


def refresh(path):
    """Execute one notebook in place; returns the error message, or None."""
    start = time.perf_counter()
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=120,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": os.path.dirname(path)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return f"{path}: left as it was, because a cell fails\n{error}"
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    fold(notebook.cells)
    without_widgets(notebook.cells)
    text = nbformat.writes(notebook).rstrip() + "\n"
    changed = text != Path(path).read_text(encoding="utf-8")
    if changed:
        Path(path).write_text(text, encoding="utf-8")
    changed |= stamp(Path(path))
    state = "changed" if changed else "unchanged"
    print(f"{time.perf_counter() - start:6.1f} s  {path}  {state}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("notebooks", nargs="*")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        errors = list(filter(None, pool.map(refresh, arguments.notebooks)))
    stamp(Path(__file__).parents[1] / "book/how-to-read.md")  # the totals
    sys.exit("\n".join(errors) or 0)
