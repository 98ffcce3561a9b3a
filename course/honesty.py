"""Does a submission do what was asked, or does it tamper with what grades it?

Tests run in the same Python process as the code that they test, so code can change them: redefine
a function that they use, or set the counter of its own queries. This reads the code without
running it. It is no proof of honesty, and it may suspect the innocent; a human decides.
"""

import ast
import builtins

FORBIDDEN = {"open", "exec", "eval", "compile", "__import__", "globals", "locals", "vars",
             "setattr", "delattr", "breakpoint", "grader", "otter", "get_ipython"}
FILES = {"load", "save", "savez", "savetxt", "loadtxt", "genfromtxt", "fromfile", "tofile",
         "memmap"}
LONG = 40  # nodes of a syntax tree: shorter answers agree by chance


def own_cells(handed_out, submitted):
    """Code of a submission that was not in the notebook as it was handed out."""
    given = {cell.source.strip() for cell in handed_out.cells if cell.cell_type == "code"}
    return [cell.source for cell in submitted.cells
            if cell.cell_type == "code" and cell.source.strip()
            and cell.source.strip() not in given]


def given_names(handed_out):
    """Names that the notebook defines or imports for the student, other than the answers."""
    names = set()
    for cell in handed_out.cells:
        if cell.cell_type == "code" and "otter_answer_cell" not in cell.metadata.get("tags", []):
            names |= _bound(ast.parse(cell.source))
    return names


def remarks(handed_out, submitted):
    """What a human should look at before the points count.

    Parameters
    ----------
    handed_out, submitted : NotebookNode

    Returns
    -------
    list of str
        Empty if there is nothing.
    """
    given = given_names(handed_out)
    found = []
    for source in own_cells(handed_out, submitted):
        try:
            tree = ast.parse(source)
        except SyntaxError:
            if any(line.lstrip().startswith(("!", "%")) for line in source.splitlines()):
                found.append("runs a command of the shell or of the notebook")
            continue  # it does not run, so it scores nothing
        found += [f"redefines {name}"
                  for name in sorted(_bound(tree) & (given | set(dir(builtins))))]
        for node in ast.walk(tree):
            found += _remark(node, given)
    return list(dict.fromkeys(found))


def _bound(tree):
    """Names that a module's code binds at its top level, also inside if, for or with."""
    names = set()
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names
                      if not _of_numpy(node)}
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, (ast.Store, ast.Del)):
                names.add(node.id)
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
                                   ast.GeneratorExp)):
            todo += ast.iter_child_nodes(node)
    return names


def _of_numpy(node):
    """Whether an import takes from numpy alone, under any name."""
    names = ([alias.name for alias in node.names] if isinstance(node, ast.Import)
             else [node.module or "."])
    return all(name.split(".")[0] == "numpy" for name in names)


def _remark(node, given):
    """What one node of a syntax tree gives reason to say."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [] if _of_numpy(node) else [f"has the line {ast.unparse(node)}"]
    if isinstance(node, ast.Name) and node.id in FORBIDDEN:
        return [f"uses {node.id}"]
    if isinstance(node, ast.Global):
        return [f"redefines {name}" for name in node.names if name in given]
    if isinstance(node, ast.ClassDef):
        return [f"defines a class, {node.name}"]
    if isinstance(node, ast.Attribute):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            return [f"sets {ast.unparse(node)}"]
        if node.attr.startswith("__") or node.attr in FILES:
            return [f"uses {ast.unparse(node)}"]
    return []


def fingerprints(handed_out, submitted):
    """The answers' functions without names, comments and layout, to find copies.

    Parameters
    ----------
    handed_out, submitted : NotebookNode

    Returns
    -------
    dict of str to str
        Name of a function and its form; functions of a few lines are left out.
    """
    found = {}
    for source in own_cells(handed_out, submitted):
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and sum(1 for _ in ast.walk(node)) >= LONG:
                name = node.name
                found[name] = ast.dump(_Anonymous().visit(node))
    return found


class _Anonymous(ast.NodeTransformer):
    """Numbers instead of names, in the order in which they occur; no text of documentation."""

    def __init__(self):
        self.numbers = {}

    def _number(self, name):
        return str(self.numbers.setdefault(name, len(self.numbers)))

    def visit_Name(self, node):
        return ast.Name(self._number(node.id), node.ctx)

    def visit_arg(self, node):
        return ast.arg(self._number(node.arg))

    def visit_FunctionDef(self, node):
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        node.name = self._number(node.name)
        return self.generic_visit(node)
