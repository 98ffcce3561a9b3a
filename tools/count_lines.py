"""Count lines of code: without blank lines, comments and docstrings.

    python tools/count_lines.py [FILE ...]       (all files of decon, if none are given)
"""

import ast
import sys
import tokenize
from pathlib import Path

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
          tokenize.ENDMARKER, tokenize.ENCODING}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def count(path):
    """The number of lines of a file that hold code."""
    with open(path, "rb") as file:
        lines = {line for token in tokenize.tokenize(file.readline) if token.type not in SILENT
                 for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(Path(path).read_bytes())):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


if __name__ == "__main__":
    paths = sys.argv[1:] or sorted(map(str, Path("decon").rglob("*.py")))
    counts = {path: count(path) for path in paths}
    print("\n".join(f"{lines:6d}  {path}" for path, lines in counts.items()))
    print(f"{sum(counts.values()):6d}  in all")
