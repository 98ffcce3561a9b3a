"""Grade the submissions of a problem set.

    python -m course grade 3 FOLDER

FOLDER has one notebook for each student or team, named after them. Next to the notebooks it writes
`marks.csv`, `written.md` (the written answers, question by question, with model answers and
schemes) and `feedback/NAME.txt`. The kit must have been built (`make kit`).

Code runs in a process of its own, with a limit of time, and under your account: this is no
sandbox. For code that you would not run yourself use `otter grade`, which starts a container.
"""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from tools.reading_time import ROOT

from .honesty import fingerprints, remarks
from .problem_sets import masters, questions

KIT = ROOT / "_build/course"
SECONDS = 300  # for one notebook
PLACEHOLDER = "_Type your answer here, replacing this text._"


@dataclass
class Marks:
    """What one submission is worth before a human has marked its written answers.

    Attributes
    ----------
    name : str
    points : dict of str to float
        Of the code, by question.
    remarks : list of str
        What has to be looked at; the points do not count before that.
    written : dict of str to str
        Answers by question.
    feedback : str
        What the tests said.
    alike : list of str
        Others with the same code, but for names and comments. That costs no points: a human has
        to judge it.
    notebook : NotebookNode or None
        None if it could not be read.
    """

    name: str
    points: dict
    remarks: list
    written: dict = field(default_factory=dict)
    feedback: str = ""
    alike: list = field(default_factory=list)
    notebook: nbformat.NotebookNode | None = None

    @property
    def counted(self):
        """Points that count: none while there are remarks."""
        return 0.0 if self.remarks else float(sum(self.points.values()))


def grade(number, paths, kit=KIT, seconds=SECONDS):
    """Grade notebooks of one problem set.

    Parameters
    ----------
    number : int
        Of the problem set.
    paths : list of Path
        The notebooks.
    kit : Path
        Where `make kit` has written.
    seconds : float
        For each notebook; one that takes longer gets no points for its code.

    Returns
    -------
    list of Marks
        In the order of the notebooks.

    Raises
    ------
    FileNotFoundError
        If the kit has not been built.
    """
    archive = kit / f"lecturer/problems/set-{number}.zip"
    if not archive.exists():
        raise FileNotFoundError(f"{archive} is not there: run make kit first")
    handed_out = nbformat.read(kit / f"student/problems/set-{number}.ipynb", 4)
    asked = questions(masters()[number])
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        marks = list(pool.map(lambda path: _one(path, archive, handed_out, asked, seconds), paths))

    # which functions are the same in two submissions?
    forms = [fingerprints(handed_out, mark.notebook) if mark.notebook else {} for mark in marks]
    for mark, mine in zip(marks, forms, strict=True):
        for other, theirs in zip(marks, forms, strict=True):
            same = [name for name, form in mine.items() if theirs.get(name) == form]
            if same and other is not mark:
                mark.alike.append(f"{other.name} ({', '.join(same)})")
    return marks


def _one(path, archive, handed_out, asked, seconds):
    """Grade one notebook."""
    code = [name for name, (_, manual) in asked.items() if not manual]
    nothing = dict.fromkeys(code, 0.0)
    try:
        submitted = nbformat.read(path, 4)
    except Exception as error:
        return Marks(path.stem, nothing, [f"is no notebook: {error}"])
    suspect = remarks(handed_out, submitted)
    tests, said = _run(path, archive, seconds)
    points = nothing | {test["name"]: float(test["score"]) for test in tests
                        if test["name"] in nothing}
    feedback = "\n\n".join(test["output"] for test in tests if test["name"] in nothing)
    return Marks(path.stem, points, suspect, _written(submitted, asked), feedback or said,
                 notebook=submitted)


def _run(path, archive, seconds):
    """Run Otter on a notebook; its tests, and what to say if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "submission.ipynb")
        process = subprocess.Popen(
            [sys.executable, "-m", "otter", "run", "--no-logo", "-a", str(archive),
             "-o", ".", "submission.ipynb"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True)
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the notebook's own process as well
            process.communicate()
            return [], f"not finished after {seconds:g} seconds"
        results = Path(folder) / "results.json"
        if process.returncode or not results.exists():
            return [], said
        return json.loads(results.read_text("utf-8"))["tests"], said


def _written(submitted, asked):
    """Answers to the questions that a human marks, in their order."""
    answers, inside, lines = [], False, []
    for cell in submitted.cells:
        if "<!-- END QUESTION -->" in cell.source and inside:
            answers.append("\n\n".join(lines).replace(PLACEHOLDER, "").strip())
            inside, lines = False, []
        elif inside:
            lines.append(cell.source)
        if "<!-- BEGIN QUESTION -->" in cell.source:
            inside = True
    manual = [name for name, (_, by_hand) in asked.items() if by_hand]
    return dict(zip(manual, answers, strict=False))


def written_answers(number, marks):
    """All written answers of a set, question by question, after the model answer."""
    cells, lines, name = nbformat.read(masters()[number], 4).cells, [], None
    for i, cell in enumerate(cells):
        if cell.cell_type == "raw" and "manual: true" in cell.source:
            name = re.search(r"name: (\S+)", cell.source)[1]
            lines += [f"## {name}", "", cells[i + 1].source, "", "**Model answer.** "
                      + cells[i + 3].source, ""]
            for mark in marks:
                answer = mark.written.get(name) or "*(no answer)*"
                lines += [f"### {mark.name}", "", answer, ""]
    return "\n".join(lines)


def main(number, folder, kit=KIT):
    """Grade a folder, write the results into it and return them as a list of `Marks`."""
    paths = sorted(Path(folder).glob("*.ipynb"))
    if not paths:
        raise FileNotFoundError(f"{folder} has no notebooks (one .ipynb for each team)")
    asked, marks = questions(masters()[number]), grade(number, paths, kit)
    code = [name for name, (_, manual) in asked.items() if not manual]
    manual = [name for name, (_, by_hand) in asked.items() if by_hand]
    most = sum(asked[name][0] for name in code)
    with open(Path(folder) / "marks.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["name", *(f"{name} ({asked[name][0]})" for name in code),
                        *(f"{name} ({asked[name][0]}, by hand)" for name in manual),
                        "code that counts", "look at", "same code as"])
        for mark in marks:
            table.writerow([mark.name, *(mark.points[name] for name in code),
                            *("" for _ in manual), mark.counted, "; ".join(mark.remarks),
                            "; ".join(mark.alike)])
            print(f"{mark.name:20} {mark.counted:5g} of {most}"
                  + (f"   look at: {'; '.join(mark.remarks)}" if mark.remarks else ""))
    (Path(folder) / "written.md").write_text(written_answers(number, marks), encoding="utf-8")
    (Path(folder) / "feedback").mkdir(exist_ok=True)
    for mark in marks:
        (Path(folder) / "feedback" / f"{mark.name}.txt").write_text(mark.feedback, "utf-8")
    return marks
