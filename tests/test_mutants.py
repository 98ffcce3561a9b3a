"""The tool that plants faults: which faults, and how it tells that a test has failed."""

import ast

import pytest

from tools import mutants

SOURCE = '''
def f(a: int | None, b: float = 1.5) -> int:
    """A docstring stays."""
    if not a < b and a != 3:
        return max(a, -b)
    a += 1
    return a * b
'''
EXPECTED = [
    "def f(a: object, b: object=1.5):  ->  def f(a: object, b: object=2.25):",
    "if not a < b and a != 3:  ->  if not (not a < b and a != 3):",
    "if not a < b and a != 3:  ->  if not a < b or a != 3:",
    "if not a < b and a != 3:  ->  if not not a < b and a != 3:",
    "if not a < b and a != 3:  ->  if not a <= b and a != 3:",
    "if not a < b and a != 3:  ->  if not a >= b and a != 3:",
    "if not a < b and a != 3:  ->  if not a < b and a == 3:",
    "if not a < b and a != 3:  ->  if not a < b and a != 4:",
    "if not a < b and a != 3:  ->  pass",
    "return max(a, -b)  ->  pass", "return max(a, -b)  ->  return min(a, -b)",
    "return max(a, -b)  ->  return max(a, +b)",
    "a += 1  ->  a -= 1", "a += 1  ->  a += 2", "a += 1  ->  pass",
    "return a * b  ->  pass", "return a * b  ->  return a / b",
]


def test_the_faults_of_a_small_file(tmp_path):
    (tmp_path / "f.py").write_text(SOURCE)
    tree = mutants.parsed(tmp_path / "f.py")
    before = ast.unparse(tree)
    found = [mutants.mutant(tree, i, j) for i, node in enumerate(ast.walk(tree))
             for j in range(len(mutants.faults(node)))]
    assert sorted(line for _, line in found) == sorted(EXPECTED)
    assert ast.unparse(tree) == before
    for source, _ in found:
        compile(source, "f.py", "exec")
        assert source != before and "A docstring stays" in source


@pytest.mark.parametrize("test, passed", [("assert 1 + 1 == 2", True), ("assert 1 + 1 == 3", False),
                                          ("while True: pass", False)])
def test_a_failure_is_noticed_and_no_end_as_well(tmp_path, test, passed):
    (tmp_path / "test_sum.py").write_text(f"def test_sum():\n    {test}\n")
    assert mutants.passes(tmp_path, ["test_sum.py"], seconds=4) == passed
