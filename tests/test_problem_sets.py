"""Problem sets: model answers get all points, and other answers what they deserve."""

import ast
import inspect
import linecache
import re

import nbformat
import pytest

from course import plan
from course.grade import PLACEHOLDER, grade, main
from course.honesty import fingerprints, remarks
from course.problem_sets import make, masters, questions

SETS = masters()


def parts(number):
    """Code of a source: what is given, the model answers, and the tests as (question, source)."""
    given, answers, tests, inside, name = [], [], [], "", ""
    for cell in nbformat.read(SETS[number], 4).cells:
        if cell.cell_type == "raw":
            found = re.search(r"# (BEGIN|END) (SOLUTION|TESTS)", cell.source)
            if found:
                inside = found[2] if found[1] == "BEGIN" else ""
            if named := re.search(r"^name: (\w+)", cell.source, re.M):
                name = named[1]
        elif cell.cell_type == "code":
            if inside == "TESTS":
                tests.append((name, cell.source))
            else:
                (answers if inside == "SOLUTION" else given).append(cell.source)
    return "\n".join(given), "\n".join(answers), tests


def passes(source, environment):
    """Whether a test passes, as Otter runs it: names of its parameters are looked up."""
    place = {}
    exec(source, place)
    test = next(value for key, value in place.items() if key.startswith("test_"))
    arguments = {key: environment.get(key) for key in inspect.signature(test).parameters}
    try:
        test(**arguments)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("number", SETS)
def test_model_answers_pass_and_no_answer_passes_nothing(number):
    given, answers, tests = parts(number)
    right = {}
    exec(given, right)
    wrong = dict(right)
    linecache.cache["answers"] = len(answers), None, answers.splitlines(True), "answers"
    exec(compile(answers, "answers", "exec"), right)  # inspect.getsource finds it
    for node in ast.parse(answers).body:
        if isinstance(node, ast.FunctionDef):
            wrong[node.name] = lambda *arguments: None
    assert len(tests) >= 5
    for name, source in tests:
        assert passes(source, right), (name, source)
        assert not passes(source, wrong), (name, source)


@pytest.mark.parametrize("number", SETS)
def test_every_set_has_24_points_and_written_questions_with_marks(number):
    asked = questions(SETS[number])
    assert sum(points for points, _ in asked.values()) == 24
    cells = nbformat.read(SETS[number], 4).cells
    text = "\n".join(cell.source for cell in cells)
    for name, (points, manual) in asked.items():
        if manual:
            place = next(i for i, cell in enumerate(cells) if f"name: {name}\n" in cell.source)
            assert f"({points} points)" in cells[place + 1].source
            scheme = cells[place + 3].source.split("*Marks.*")[1]
            assert sum(map(int, re.findall(r"\([a-z]\) (\d)", scheme))) == points
    assert text.count("# HIDDEN") >= 3


def test_the_plan_sets_them_all():
    _, tracks = plan.load()
    assert list(tracks["full"].sets) == sorted(SETS)


def test_points_that_public_tests_give():
    for path in SETS.values():
        for cell in nbformat.read(path, 4).cells:
            if "points:\n" in cell.source:
                assert "points:\n  - 0\n" in cell.source  # they show the form, and earn nothing


WRONG = {  # a power too high, the plane only, no refusal
    "gram": "def gram(X, Z, degree, offset):\n    return (X @ Z.T) ** degree + offset ** degree",
    "lift": "def lift(X):\n    x, y = X[:, 0], X[:, 1]\n    r = 2 ** 0.5\n"
            "    return np.column_stack([x * x, r * x * y, y * y, r * x, r * y, 1 + 0 * x])",
    "canonical": "def canonical(w, b, X, t):\n    k = np.abs(X @ w - b).min()\n"
                 "    return w / k, b / k, k / np.sqrt(w @ w)",
}
LAZY = {  # what the public tests show, and nothing else
    "gram": "def gram(X, Z, degree, offset):\n    return np.array([[9.0], [25.0]])",
    "lift": "def lift(X):\n    return np.linalg.cholesky((X @ X.T + 1) ** 2)",
    "canonical": "def canonical(w, b, X, t):\n    return np.array([0.4, 8 / 15]), 5 / 3, 1.5",
}
CHEATS = {
    "redefines a comparison": "np.allclose = lambda *a, **k: True",
    "the counter": "def gram(X, Z, degree, offset):\n    gram.calls = 0\n    return X @ Z.T",
    "writes files": "open('tests/gram.py', 'w').write('')",
    "equal to everything": "class Yes(float):\n    def __eq__(self, other):\n        return True",
    "borrows": "from sklearn.metrics.pairwise import polynomial_kernel as gram",
    "builtins": "def abs(x):\n    return 0",
    "the grader": "grader._tests = {}",
    "the shell": "!rm -rf tests",
    "reaches out": "gram = [].__class__.__base__",
}


def filled(handed_out, answers, more=""):
    """A submission with these functions in the places for answers."""
    made = nbformat.from_dict(nbformat.v4.new_notebook(cells=[dict(c) for c in handed_out.cells],
                                                       metadata=handed_out.metadata))
    for cell in made.cells:
        for name, source in answers.items():
            if cell.cell_type == "code" and f"def {name}(" in cell.source:
                cell["source"] = source
    if more:
        made.cells.insert(3, nbformat.v4.new_code_cell(more))
    return made


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("problems")
    make(SETS[1], folder)
    return folder


@pytest.fixture(scope="module")
def handed_out(kit):
    return nbformat.read(kit / "student/problems/set-1.ipynb", 4)


def test_students_see_no_hidden_test_and_no_answer(kit, handed_out):
    text = nbformat.writes(handed_out)
    assert "test_gram_by_hand" in text
    assert "test_gram_loops" not in text and "hidden=True" not in text
    assert "Marks" not in text and "nearest / np.linalg.norm" not in text
    assert "Marks" in (kit / "lecturer/problems/set-1.ipynb").read_text("utf-8")


@pytest.mark.slow
def test_everyone_gets_what_the_answers_deserve(kit, handed_out, tmp_path):
    right = {}
    for node in ast.parse(parts(1)[1]).body:
        right[node.name] = ast.unparse(node)
    renamed = right | {"canonical": right["canonical"].replace("nearest", "k")}
    submissions = {"right": (right, ""), "renamed": (renamed, ""), "wrong": (WRONG, ""),
                   "lazy": (LAZY, ""), "cheat": (right, CHEATS["redefines a comparison"])}
    for name, (answers, more) in submissions.items():
        nbformat.write(filled(handed_out, answers, more), tmp_path / f"{name}.ipynb")
    (tmp_path / "broken.ipynb").write_text("no notebook")
    paths = sorted(tmp_path.glob("*.ipynb"))
    marks = {mark.name: mark for mark in main(1, tmp_path, kit)}

    assert marks["right"].points == {"gram": 3, "lift": 4, "canonical": 5}
    assert marks["right"].counted == 12 and not marks["right"].remarks
    assert marks["wrong"].points == {"gram": 0, "lift": 0, "canonical": 3}
    assert marks["lazy"].counted == 0
    assert marks["cheat"].counted == 0 and marks["cheat"].remarks == ["sets np.allclose"]
    assert marks["broken"].counted == 0 and "no notebook" in marks["broken"].remarks[0]
    assert "a hyperplane that does not separate must be refused" in marks["wrong"].feedback

    # two with the same code but for names are named to a human; written answers are collected
    table = (tmp_path / "marks.csv").read_text("utf-8")
    assert "renamed (lift, canonical)" in table and "sets np.allclose" in table
    written = (tmp_path / "written.md").read_text("utf-8")
    assert written.count("*(no answer)*") == 2 * (len(paths) - 1) + 2
    assert "1001" in written and PLACEHOLDER not in written
    assert "hyperplane" in (tmp_path / "feedback/wrong.txt").read_text("utf-8")


def test_a_notebook_that_does_not_end_is_stopped(kit, handed_out, tmp_path):
    nbformat.write(filled(handed_out, {}, "while True:\n    pass"), tmp_path / "endless.ipynb")
    mark, = grade(1, [tmp_path / "endless.ipynb"], kit, seconds=5)
    assert mark.counted == 0 and mark.feedback == "not finished after 5 seconds"


@pytest.mark.parametrize("what", CHEATS)
def test_tampering_is_seen(handed_out, what):
    assert remarks(handed_out, filled(handed_out, {}, CHEATS[what]))


def test_the_honest_are_not_suspected(handed_out):
    for answers in (WRONG, LAZY):
        assert remarks(handed_out, filled(handed_out, answers)) == []
    assert remarks(handed_out, filled(handed_out, {}, "import numpy as np\n"
                                      "from numpy.linalg import norm\nprint(norm([3, 4]))")) == []
    for number in SETS:
        given, answers, _ = parts(number)
        cells = [nbformat.v4.new_code_cell(given)]
        bare = nbformat.v4.new_notebook(cells=cells)
        cells = [*cells, nbformat.v4.new_code_cell(answers)]
        assert remarks(bare, nbformat.v4.new_notebook(cells=cells)) == []


def test_copies_are_recognised_and_others_are_not(handed_out):
    long = "def canonical(w, b, X, t):\n" + "".join(
        f"    a{i} = w + {i} * b\n" for i in range(12)) + "    return a0"
    one, two = ({"canonical": text} for text in (long, long.replace("a", "c").replace(
        "ccnonicl", "canonical")))
    forms = [fingerprints(handed_out, filled(handed_out, answers)) for answers in (one, two)]
    assert forms[0]["canonical"]
    other = long.replace("+", "-")
    assert fingerprints(handed_out, filled(handed_out, {"canonical": other})) != forms[0]
    commented = long.replace("t):\n", 't):\n    """Mine."""\n    # my own\n')
    assert fingerprints(handed_out, filled(handed_out, {"canonical": commented})) == forms[0]
