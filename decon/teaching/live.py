"""Live figures: drawings of the book that the reader moves, clicks and plays.

A figure is one JavaScript file of the folder `figures`. It draws into an element of the page and
knows nothing of Jupyter or of the book (the contract of anywidget: `export default { render }`), so
the same file serves JupyterLab and the published pages.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "figures"
SHARED = ("numbers", "kernel")  # what the figures import from
FIGURES = tuple(sorted(p.stem for p in HERE.glob("*.js") if p.stem not in (*SHARED, "mount")))


def live(name: str, says: str, **data: Any) -> "Live":
    """A live figure of the book.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    says : str
        What the figure shows, in a sentence, for readers whose page runs no scripts.
    **data : numbers, strings, lists and dicts of them
        What the figure draws, where it does not compute this itself.

    Returns
    -------
    figure : Live
        Jupyter shows it.

    Raises
    ------
    ValueError
        If there is no such figure.

    Examples
    --------
    >>> live("bisector", "Twenty labels halve a bracket twenty times.")
    Live figure 'bisector': Twenty labels halve a bracket twenty times.
    """
    if name not in FIGURES:
        raise ValueError(f"there is no live figure {name!r}; there are {', '.join(FIGURES)}")
    return Live(name, says, data)


class Live:
    """A live figure with its data: a widget in JupyterLab, a place in the page of the book.

    Parameters
    ----------
    name, says : str
    data : dict

    Examples
    --------
    >>> Live("margin", "Only the support vectors matter.", {"soft": True}).data
    {'soft': True}
    """

    def __init__(self, name: str, says: str, data: dict[str, Any]):
        self.name, self.says, self.data = name, says, data

    def __repr__(self) -> str:
        return f"Live figure {self.name!r}: {self.says}"

    def _repr_html_(self) -> str:
        """The place where the book's script puts the figure."""
        data = html.escape(json.dumps(self.data, separators=(",", ":")))
        return (f'<div class="decon-live" data-figure="{self.name}" data-data="{data}">'
                f"<p>{html.escape(self.says)}</p></div>")

    def _repr_mimebundle_(self, **_: Any) -> Any:
        """The widget, where Jupyter can show one, and the place in the page for everything else."""
        plain = {"text/plain": repr(self), "text/html": self._repr_html_()}
        try:
            from anywidget import AnyWidget
            from traitlets import Dict
        except ImportError:  # not installed: the figure lives in the book only
            return plain

        class Widget(AnyWidget):
            _esm = module(self.name)
            _css = (HERE / "live.css").read_text(encoding="utf-8")
            data = Dict(self.data).tag(sync=True)

        shown: Any = Widget()._repr_mimebundle_()
        return shown[0] | plain, shown[1]


def module(name: str) -> str:
    """One figure as an ECMAScript module without imports.

    Parameters
    ----------
    name : str
        One of `FIGURES`.

    Returns
    -------
    source : str
    """
    return f"{_shared()}\nexport default {_enclosed(name)};\n"


def script() -> str:
    """All figures as one script, which puts each into its place in the page.

    Not a module: browsers load none from a folder of files.
    """
    figures = ",\n".join(f"{name}: {_enclosed(name)}" for name in FIGURES)
    mount = (HERE / "mount.js").read_text(encoding="utf-8")
    inside = f"{_shared()}\nconst figures = {{\n{figures}\n}};\n{mount}"
    return f'(() => {{\n"use strict";\n{inside}}})();\n'


def _shared():
    """What the figures import, in one scope."""
    return "\n".join(re.sub(r"^export ", "", _source(name), flags=re.M) for name in SHARED)


def _enclosed(name):
    """A figure in a scope of its own: the expression that a module would export."""
    return f"(() => {{\n{_source(name).replace('export default', 'return')}}})()"


def _source(name):
    """A file without its imports."""
    text = (HERE / f"{name}.js").read_text(encoding="utf-8")
    return re.sub(r"^import [^;]*;\n", "", text, flags=re.M)
