"""Source code shown in a notebook, highlighted."""

import ast
import inspect
import textwrap
from typing import Any


def show_source(obj: Any) -> "Source":
    """The source code of a function, class or module, highlighted in Jupyter and in the book.

    What you see is read from the file that Python imported, so it is the code that runs. Of a
    docstring only the first line is shown.

    Parameters
    ----------
    obj : function, method, class or module
        What to show.

    Returns
    -------
    source : Source
        The code, below a comment that names its file.

    Raises
    ------
    OSError
        If Python has no source code of it.

    Examples
    --------
    >>> from decon.teaching.plotting import use_style
    >>> show_source(use_style)
    # decon/teaching/plotting.py
    def use_style() -> None:
        \"\"\"Give all figures from here on the look of the book.\"\"\"
        show_sharply()
        plt.rcParams.update(STYLE)
    """
    code = _first_lines_of_docstrings(textwrap.dedent(inspect.getsource(obj)).rstrip())
    module = getattr(obj, "__module__", obj.__name__)  # (a module has no __module__)
    if module != "__main__":
        code = f"# {module.replace('.', '/')}.py\n{code}"
    return Source(code)


class Source:
    """Python code that Jupyter shows highlighted and a terminal shows plain.

    Parameters
    ----------
    code : str

    Examples
    --------
    >>> Source("x = 1")
    x = 1
    """

    def __init__(self, code: str):
        self.code = code

    def __repr__(self) -> str:
        return self.code

    def _repr_markdown_(self) -> str:
        """A fenced block of code: Jupyter and the book highlight it in the colours of the page."""
        return f"```python\n{self.code}\n```"


def _first_lines_of_docstrings(code):
    """The code with the first line of each docstring in place of the whole."""
    # Which statements are docstrings
    lines = code.split("\n")
    documented = ast.AsyncFunctionDef | ast.FunctionDef | ast.ClassDef | ast.Module
    nodes = [n for n in ast.walk(ast.parse(code)) if isinstance(n, documented)]
    strings = [n.body[0] for n in nodes if ast.get_docstring(n) is not None]

    # Shorten them from the last to the first, so that line numbers before them stay right
    for node in sorted(strings, key=lambda n: -n.lineno):
        if node.end_lineno > node.lineno:
            indent = " " * node.col_offset
            first = node.value.value.strip().split("\n")[0]
            lines[node.lineno - 1 : node.end_lineno] = [f'{indent}"""{first}"""']
    return "\n".join(lines)
