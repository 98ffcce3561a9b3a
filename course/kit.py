"""The notebooks of the course: for students without solutions, for lecturers as they are.

    make kit

writes _build/course: `student/` and `lecturer/` with the notebooks of all pages, the stored
results that these read and the problem sets; `student/plan.md`, what is due in which week; and
`sessions.md`, the plan of every session. `make course` does so too, and adds the slides and
handouts of the sessions. (The book itself without solutions: see `tools/solutions.py`.)
"""

import argparse
import posixpath
import re
import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from tools.reading_time import ROOT, pages
from tools.solutions import shown_cells

from .plan import PROBLEM_SET, core_pages, home_minutes, load
from .problem_sets import build as build_problem_sets
from .problem_sets import masters, title_of
from .readable import in_words, references, with_numbers, with_titles, with_works

EXERCISE = re.compile(r"^(`{3,})\{exercise\}.*?^\1[ \t]*$", re.M | re.S)
GATED = re.compile(r"^(`{3,})\{exercise-end\}.*?^\1[ \t]*$", re.M | re.S)
TITLE = re.compile(r"^# .+", re.M)
PLACE = "*Your answer:*"
FIRST = ("*Run the first cell now, and each later one when you reach it; where a question stands "
         "before it, write your answer down first. Exercises need the cells before them.*")
INSTALL = """`jupyterlab`, `jupyterlab-myst`, `anywidget` (for the live figures), `matplotlib`,
`mlxtend`, `pandas`, `cvxpy` and, for the problem sets in `problems/`, `otter-grader`; then start
`jupyter lab` in this folder. `experiments/` has the results of long runs that notebooks read."""
STUDENTS = f"""# Deconstructing Kernel Machines: notebooks of the course

`plan.md` says what is due when. The notebooks in `book/` import `decon`: install the wheel that
your lecturer gives you, and
{INSTALL}

Run the first cell of a notebook, and each later one when you reach it; where a question stands
before it, write your answer down first. Exercises take about five minutes (★), half an hour (★★) or
are projects (★★★). Numbers of equations and figures are those of the book, which has more pages;
theorems and exercises, which the slides number as well, have their names here.
Answers to *Check yourself* are in the notebooks, solutions of exercises are not: your lecturer
hands them out after the session, as well as the slides. Hand in a problem set as its notebook; keep
the file's name until then, because its tests look for it.

"""
LECTURERS = f"""# Deconstructing Kernel Machines: notebooks for lecturers

The pages of the book with all solutions and outputs, and the problem sets with answers and schemes
of marks. `../sessions.md` has the agenda of every session; `../student` is what students get, with
the wheel of `decon`, and `../handouts` are the slides on paper (after the session: they show the
answers to its questions). Decks with these agendas in their notes are in `slides/sessions.html` of
the built book. How to grade, how to serve the sealed models and how to change a plan is told in
`book/for-instructors.ipynb`. The notebooks need the wheel,
{INSTALL}

"""
FOR_LECTURERS = ("for-instructors", "the-papers-item-by-item", "how-to-read")


def without_solutions(notebook, change=lambda text: text):
    """A copy for students: no solution, and after every exercise a place to write and to compute.

    Parameters
    ----------
    notebook : NotebookNode
    change : callable
        Applied to every text and caption: see `course.readable`.

    Returns
    -------
    NotebookNode
    """
    made = []
    for cell in shown_cells(notebook.cells):
        if cell.cell_type == "markdown":
            made += _with_places(change(cell.source), cell)
        else:
            made += [cell, *_caption(cell, change)]
    copy = nbformat.from_dict({**notebook, "cells": made})
    for number, cell in enumerate(copy.cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return copy


def _caption(cell, change):
    """The caption of a figure, which the book takes from the metadata."""
    figure = cell.metadata.get("mystnb", {}).get("figure")
    return [new_markdown_cell(change(f"*{{numref}}`{figure['name']}`.* {figure['caption']}"))
            ] if figure else []


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
        lines += [f"## {track.title}", "",
                  "| week | sessions | reading | exercises | problem set |",
                  "|--:|---|--:|--:|---|"]
        read = set(track.known)
        for number, (week, due) in enumerate(zip(track.weeks, track.sets, strict=True), start=1):
            minutes = home_minutes(week, sessions, core, read)
            set_ = f"{due} ({PROBLEM_SET} min)" if due else ""
            lines.append(f"| {number} | {', '.join(week)} | {minutes[0]} | {minutes[1]} | {set_} |")
            read |= {page for name in week for page in sessions[name].pages}
        lines.append("")
    orders = {track.title.split(";")[0]: sum(track.weeks, ()) for track in tracks.values()}
    for session in sessions.values():
        where = [f"Session {order.index(session.name) + 1} of *{title}*"
                 for title, order in orders.items() if session.name in order]
        lines += [f"## {session.name}", "", "; ".join(where) + ".", ""]
        lines += [session_text(session, core), ""]
    return "\n".join(lines)


def student_plan():
    """What is read and solved in each week of each track, in Markdown, for students."""
    sessions, tracks = load()
    core, lines = core_pages(), ["# Plan", "",
                                 "Read before the session, solve after it. Minutes in brackets. "
                                 "Only the exercises named here are due; a page's own time counts "
                                 "all of them. Each page opens with a question and asks for "
                                 "predictions: write your answers on paper before you read on, and "
                                 "bring the paper, because the session begins with it."]
    for track in tracks.values():
        lines += ["", f"## {track.title}", ""]
        read, count = set(track.known), 0
        for number, (week, due) in enumerate(zip(track.weeks, track.sets, strict=True), start=1):
            lines += [f"**Week {number}.**", ""]
            for session in (sessions[name] for name in week):
                count += 1
                fresh = [page for page in session.pages if page not in read]
                reading, solving = home_minutes([session.name], sessions, core, read)
                read |= set(fresh)
                pages_ = "; ".join(f"[{core[page].title}](book/{page}.ipynb)" for page in fresh)
                lines.append(f"- *Session {count}, {session.name}.* "
                             + f"To read ({reading}): {pages_}. " * bool(fresh)
                             + f"To solve ({solving}): {_exercises(session, core)}.")
            if due:
                lines.append(f"- [Problem set {due}](problems/set-{due}.ipynb) ({PROBLEM_SET}).")
            lines.append("")
    return "\n".join(lines)


def _exercises(session, core):
    """The exercises of a session, with their pages if these are several."""
    listed = []
    for page in session.pages:
        titles = [f"{'★' * stars} {title}" for label in session.exercises
                  if label in core[page].exercises
                  for stars, title in [core[page].exercises[label]]]
        of_page = f" (in *{core[page].title.split(':')[0]}*)" * (len(session.pages) > 1)
        listed += ["; ".join(titles) + of_page] * bool(titles)
    return "; ".join(listed)


def session_text(session, core):
    """The plan of one session, in Markdown."""
    exercises = [core[page].exercises[label] for page in session.pages
                 for label in session.exercises if label in core[page].exercises]
    return "\n".join([
        "To read before: " + "; ".join(f"{core[page].title} (`{page}`, {core[page].minutes} min)"
                                       for page in session.pages) + ".", "",
        *(f"- {minutes} min, {kind}: {text}" for minutes, kind, text in session.agenda), "",
        "To solve afterwards: " + "; ".join(f"{'★' * stars} {title}"
                                            for stars, title in exercises) + ".", "",
        f"*Hard:* {session.hard} *When late:* {session.late}"])


def _notebook(path):
    """A page as a notebook: one of Markdown alone is a single cell."""
    if path.suffix == ".ipynb":
        return nbformat.read(path, 4)
    return nbformat.v4.new_notebook(cells=[new_markdown_cell(path.read_text("utf-8"))])


def build(target):
    """Write both editions, from scratch, and the plan into a folder."""
    for edition in ("student", "lecturer"):
        shutil.rmtree(target / edition, ignore_errors=True)
    known = references()
    listed = {path.relative_to(ROOT).with_suffix("").as_posix(): path for *_, path in pages()
              if path.is_relative_to(ROOT / "book") and "api" not in path.stem
              and "api" not in path.parts}
    student = {name for name in listed if name.split("/")[-1] not in FOR_LECTURERS}
    for name, path in listed.items():
        notebook, here = _notebook(path), posixpath.dirname(name)

        def change(text, name=name, here=here):
            text = with_works(with_numbers(in_words(text, known, name), known), known)
            return with_titles(text, here, known.names, student)

        editions = {"lecturer": notebook}
        if name in student:
            editions["student"] = without_solutions(notebook, change)
            first, *rest = editions["student"].cells
            if any(cell.cell_type == "code" for cell in rest):
                first["source"] = TITLE.sub(rf"\g<0>\n\n{FIRST}", first["source"], count=1)
        for edition, content in editions.items():
            place = (target / edition / name).with_suffix(".ipynb")
            place.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(content, place)
    contents = "".join(f"- [{known.names[name]}]({name}.ipynb)\n"
                       for name in listed if name in student)
    contents += "\n" + "".join(f"- [{title_of(path)}](problems/{path.name})\n"
                               for path in masters().values())
    for edition in ("student", "lecturer"):
        shutil.copy(ROOT / "_toc.yml", target / edition)
        results = target / edition / "experiments"
        results.mkdir()
        for path in (*ROOT.glob("experiments/*.json"), *ROOT.glob("experiments/*.npz")):
            shutil.copy(path, results)
        opening = STUDENTS if edition == "student" else LECTURERS
        (target / edition / "README.md").write_text(opening + contents, encoding="utf-8")
    (target / "student/plan.md").write_text(student_plan(), encoding="utf-8")
    (target / "sessions.md").write_text(sessions_text(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "_build/course")
    into = parser.parse_args().into
    build(into)
    build_problem_sets(into)
    print(f"{into}: {len(list(into.rglob('*.ipynb')))} notebooks and the plan of the sessions")
