"""Do the tests notice faults? Plant random faults, one at a time, and run the tests on each.

    python tools/mutants.py decon/learning/qp.py --tests tests/test_dual.py --count 40 --seed 0

Works on a copy of the tree in a temporary folder. Survivors, the faults that the tests did not
notice, are printed as one-line diffs; whether one of them can be observed at all is yours to tell.
"""
import argparse
import ast
import copy
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "_build", "*.egg-info", ".*_cache", "*.pyc")
OPERATORS = {  # what stands in for what
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div], ast.Div: [ast.Mult],
    ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd], ast.And: [ast.Or], ast.Or: [ast.And],
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt], ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.USub: [ast.UAdd],
}
OTHER_VALUE = {bool: lambda b: not b, int: lambda n: n + 1, float: lambda x: 1.5 * x or 1.0}
NAMES = {"min": "max", "argmin": "argmax", "minimum": "maximum"}
NAMES |= {other: name for name, other in NAMES.items()}
KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass)  # not deleted


def faults(node):
    """The faults that can be planted at one node: a list of pairs (field, new value)."""
    found = []
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp, ast.UnaryOp)):
        found += [("op", other()) for other in OPERATORS.get(type(node.op), [])]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
        found.append(("operand", ast.UnaryOp(node.op, node.operand)))  # twice is not at all
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        found += [("ops", [other()]) for other in OPERATORS.get(type(node.ops[0]), [])]
    if isinstance(node, ast.Constant) and type(value := node.value) in OTHER_VALUE:
        found.append(("value", OTHER_VALUE[type(value)](value)))
    found += [(field, NAMES[name]) for field, name in ast.iter_fields(node)
              if field in ("id", "attr") and name in NAMES]
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        found.append(("test", ast.UnaryOp(ast.Not(), node.test)))
    for field, block in ast.iter_fields(node):
        for k, line in enumerate(block if isinstance(block, list) else []):
            text = isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
            if isinstance(line, ast.stmt) and not text and not isinstance(line, KEPT):
                found.append((field, block[:k] + [ast.Pass()] + block[k + 1 :]))
    return found


def parsed(path):
    """The tree of a file without its type hints, where a fault would be none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.arg, ast.AnnAssign)):
            node.returns, node.annotation = None, ast.Name("object")
    return tree


def mutant(tree, i, j):
    """The source of a file with fault j of node i, and the first line that differs."""
    other = copy.deepcopy(tree)
    node = list(ast.walk(other))[i]
    setattr(node, *faults(node)[j])
    before, after = ast.unparse(tree), ast.unparse(ast.fix_missing_locations(other))
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return after, next(f"{old.strip()}  ->  {new.strip()}" for old, new in lines if old != new)


def passes(folder, tests, seconds=resource.RLIM_INFINITY):
    """Whether the tests pass in the copy of the tree, in so much time of the processor."""
    # without plugins, pytest starts ten times as fast
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
                                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds))
    return not subprocess.run(command, cwd=folder, env=environment, capture_output=True,
                              preexec_fn=limit).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", help="where to plant faults")
    parser.add_argument("--tests", nargs="+", required=True, help="what pytest runs")
    parser.add_argument("--count", type=int, default=40, help="faults, in all files together")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "tree"
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED)
        if not passes(folder, options.tests):
            sys.exit("the tests fail before any fault is planted")
        seconds = int(10 + 5 * os.times().children_user)
        trees = {name: parsed(folder / name) for name in options.files}
        every = [(name, i, j) for name, tree in trees.items()
                 for i, node in enumerate(ast.walk(tree)) for j in range(len(faults(node)))]
        chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
        survived = dict.fromkeys(options.files, 0)
        for name, i, j in chosen:
            faulty, line = mutant(trees[name], i, j)
            (folder / name).write_text(faulty)
            if passes(folder, options.tests, seconds):
                survived[name] += 1
                print(f"survived in {name}: {line}", flush=True)
            (folder / name).write_text(ast.unparse(trees[name]))
    print("killed survived file")
    for name, missed in survived.items():
        print(f"{sum(name == one for one, _, _ in chosen) - missed:6d} {missed:8d} {name}")


if __name__ == "__main__":
    main()
