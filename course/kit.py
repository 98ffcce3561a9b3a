"""The notebooks of the course: for students without solutions, for lecturers as they are.

    make course

writes _build/course: `student/` and `lecturer/` with the notebooks of all pages and the stored
results that these read, and `sessions.md`, the plan of every session. The book itself is built
without solutions if `hide_solutions: true` stands under `sphinx: config:` in `_config.yml`.
"""

import argparse
import re
import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools.reading_time import ROOT, pages

from .plan import core_pages, home_minutes, load

FENCE = re.compile(r"^(`{3,})\{(solution|solution-start|solution-end)\}", re.M)
EXERCISE = re.compile(r"^(`{3,})\{exercise\}.*?^\1[ \t]*$", re.M | re.S)
GATED = re.compile(r"^(`{3,})\{exercise-end\}.*?^\1[ \t]*$", re.M | re.S)
PLACE = "*Your answer:*"
README = """# Deconstructing Kernel Machines: notebooks of the course

The notebooks in `book/` import `decon`. Install the project once, as its README says, and start
`jupyter lab` from its environment in this folder. `experiments/` has the results of long runs that
some notebooks read.
"""
FOR_LECTURERS = ("for-instructors", "the-papers-item-by-item")


def without_solutions(notebook):
    """A copy for students: no solution, and after every exercise a place to write and to compute.

    Parameters
    ----------
    notebook : NotebookNode

    Returns
    -------
    NotebookNode
    """
    made, inside = [], False
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            if not inside:
                made.append(cell)
            continue
        text, inside = _shown(cell.source, inside)
        made += _with_places(text, cell)
    copy = nbformat.from_dict({**notebook, "cells": made})
    for number, cell in enumerate(copy.cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return copy


def _shown(text, inside):
    """The text outside solutions, and whether a solution goes on after it."""
    kept = []
    while text:
        found = FENCE.search(text)
        if found is None:
            break
        fence, kind = found.groups()
        end = re.compile(rf"^{fence}[ \t]*$", re.M).search(text, found.end())
        if end is None:
            raise ValueError(f"a {kind} is not closed: {text[found.start():][:60]!r}")
        kept.append("" if inside else text[:found.start()])
        inside = {"solution-start": True, "solution-end": False}.get(kind, inside)
        text = text[end.end():]
    if not inside:
        kept.append(text)
    return "".join(kept), inside


def _with_places(text, cell):
    """Markdown cells of a text, cut after each exercise, with a place for an answer there."""
    made, begin = [], 0
    for found in sorted((*EXERCISE.finditer(text), *GATED.finditer(text)),
                        key=lambda match: match.end()):
        made += [new_markdown_cell(text[begin:found.end()].strip()), new_markdown_cell(PLACE),
                 new_code_cell("")]
        begin = found.end()
    rest = text[begin:].strip()
    return made + ([new_markdown_cell(rest, metadata=cell.metadata)] if rest else [])


def sessions_text():
    """The plan of all tracks and sessions, in Markdown."""
    sessions, tracks = load()
    core, lines = core_pages(), ["# Sessions", ""]
    for track in tracks.values():
        lines += [f"## {track.title}", "", "| week | sessions | reading | exercises |",
                  "|--:|---|--:|--:|"]
        read = set(track.known)
        for number, week in enumerate(track.weeks, start=1):
            minutes = home_minutes(week, sessions, core, read)
            lines.append(f"| {number} | {', '.join(week)} | {minutes[0]} | {minutes[1]} |")
            read |= {page for name in week for page in sessions[name].pages}
        lines.append("")
    for session in sessions.values():
        lines += [f"## {session.name}", "", session_text(session, core), ""]
    return "\n".join(lines)


def session_text(session, core):
    """The plan of one session, in Markdown."""
    exercises = [core[page].exercises[label] for page in session.pages
                 for label in session.exercises if label in core[page].exercises]
    return "\n".join([
        "To read before: " + "; ".join(f"{core[page].title} ({core[page].minutes} min)"
                                       for page in session.pages) + ".", "",
        *(f"- {minutes} min, {kind}: {text}" for minutes, kind, text in session.agenda), "",
        "To solve afterwards: " + "; ".join(f"{'★' * stars} {title}"
                                            for stars, title in exercises) + ".", "",
        f"*Hard:* {session.hard} *When late:* {session.late}"])


def build(target):
    """Write both editions and the plan into a folder, from scratch."""
    shutil.rmtree(target, ignore_errors=True)
    for *_, path in pages():
        if path.suffix != ".ipynb":
            continue
        notebook = nbformat.read(path, 4)
        editions = {"student": without_solutions(notebook), "lecturer": notebook}
        for edition, content in editions.items():
            if edition == "student" and path.stem in FOR_LECTURERS:
                continue
            place = target / edition / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(content, place)
    for edition in editions:
        results = target / edition / "experiments"
        results.mkdir()
        for path in (*ROOT.glob("experiments/*.json"), *ROOT.glob("experiments/*.npz")):
            shutil.copy(path, results)
        (target / edition / "README.md").write_text(README, encoding="utf-8")
    (target / "sessions.md").write_text(sessions_text(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "_build/course")
    into = parser.parse_args().into
    build(into)
    print(f"{into}: {len(list(into.rglob('*.ipynb')))} notebooks and the plan of the sessions")
