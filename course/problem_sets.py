"""The problem sets of the course: notebooks for students, and what grades them.

The sources are `course/problems/set-*.ipynb`, in the format of Otter Assign: questions with model
answers, schemes of marks, public tests and hidden ones.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import yaml

HERE = Path(__file__).parent / "problems"
TITLE = re.compile(r"^# (Problem set \d+: .+)", re.M)


def masters():
    """Paths of the sources by number of the set."""
    return {int(path.stem.split("-")[1]): path for path in sorted(HERE.glob("set-*.ipynb"))}


def title_of(path):
    """The title of a problem set."""
    return next(found[1] for cell in nbformat.read(path, 4).cells
                if (found := TITLE.search(cell.source)))


def questions(path):
    """Name, points and kind of each question.

    Parameters
    ----------
    path : Path
        A source.

    Returns
    -------
    dict of str to (int, bool)
        By name: its points, and whether a human marks it.
    """
    found = {}
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "raw" and cell.source.startswith("# BEGIN QUESTION"):
            said = yaml.safe_load(cell.source)
            points = said["points"]
            found[said["name"]] = (sum(points) if isinstance(points, list) else points,
                                   said.get("manual", False))
    return found


def make(master, into):
    """Make a student's notebook, a lecturer's with solutions, and the archive that grades.

    Parameters
    ----------
    master : Path
        A source.
    into : Path
        Receives `student/problems/set-N.ipynb`, `lecturer/problems/set-N.ipynb` and
        `lecturer/problems/set-N.zip`.

    Raises
    ------
    RuntimeError
        If the model answers fail a test: with what Otter said.
    """
    student, lecturer = into / "student/problems", into / "lecturer/problems"
    student.mkdir(parents=True, exist_ok=True)
    lecturer.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:

        # Otter writes both notebooks, and runs all tests on the model answers
        done = subprocess.run(
            [sys.executable, "-m", "otter", "assign", "--no-pdfs", str(master), folder],
            capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{master.name}: {done.stderr or done.stdout}")
        archive, = Path(folder).glob("autograder/*.zip")
        shutil.copy(archive, lecturer / f"{master.stem}.zip")
        shutil.copy(Path(folder) / "autograder" / master.name, lecturer)
        shutil.copy(Path(folder) / "student" / master.name, student)


def build(into):
    """All problem sets; see `make`. Two at a time, or as many as there are processors."""
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        list(pool.map(lambda master: make(master, into), masters().values()))
