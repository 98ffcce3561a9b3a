"""The rules every page of the book and every file of the module must keep."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

import nbformat
import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.reading_time import (
    EXERCISES,
    STAMP,
    Length,
    cells_of,
    exercise_minutes,
    length_of,
    totals,
    totals_table,
    words_of,
)
from tools.refresh import fold

ROOT = Path(__file__).parents[1]
LAST = "upgrade/mnist"  # introduces every file whose own chapter is not written yet

# Which floor a room stands on: it may import lower floors only.
FLOORS = {
    "numerics": 0, "types": 0, "conventions": 1, "kernels": 1,
    "oracles": 2, "machine": 2, "teaching": 2,
    "boundary": 3, "learning": 3,
    "subspaces": 4,
    "families": 5,
    "extraction": 6, "paper": 6,
    "multiclass": 7,
}
# `learning` makes machines from examples and knows nothing of oracles.
REACHES = {"learning": {"numerics", "types", "conventions", "kernels", "machine", "learning"}}

# Which chapters may introduce a file, the earliest of them that is written does. Files that are
# not listed are free from the beginning; a folder stands for all its files that are not listed.
INTRODUCED = {
    "kernels": ("kernels/what-is-a-kernel", "kernels/maximum-margin", "kernels/soft-margin",
                "kernels/dual-representation", "kernels/constructing-kernels",
                "kernels/kernel-machines"),
    "learning/ridge": ("kernels/dual-representation",),
    "learning/kkt": ("kernels/maximum-margin", "kernels/soft-margin"),
    "learning/svm": ("kernels/maximum-margin", "kernels/soft-margin"),
    "machine": ("kernels/kernel-machines",),
    "learning": ("upgrade/learning-and-unlearning",),
    "learning/enumeration": ("upgrade/many-machines",),
    "learning/upgrading": ("upgrade/mnist",),
    "oracles": ("deconstruction/hard-label-oracle",),
    "oracles/precision": ("beyond/boxes-that-misbehave",),
    "boundary": ("deconstruction/bracketing",),
    "boundary/curves": ("deconstruction/kernel-type",),
    "boundary/normals": ("deconstruction/normals",),
    "boundary/noise": ("beyond/boxes-that-misbehave",),
    "subspaces": ("deconstruction/kernel-subspace", "deconstruction/gaussian-subspace"),
    "subspaces/finder": ("deconstruction/the-whole-algorithm",),
    "paper": ("deconstruction/normals", "deconstruction/kernel-type"),
    "families": ("deconstruction/the-whole-algorithm",),
    "families/polynomial": ("deconstruction/kernel-type", "deconstruction/polynomial-machines"),
    "families/protocol": ("deconstruction/polynomial-machines",),
    "families/quasi_vectors": ("deconstruction/polynomial-machines",),
    "families/cubic": ("beyond/support-vectors-of-a-cubic",),
    "families/cubic/decomposition": ("deconstruction/polynomial-machines",),
    "families/cubic/forms": ("deconstruction/polynomial-machines",),
    "families/tanh": ("beyond/tanh-at-infinity",),
    "families/gaussian": ("beyond/gaussian-measuring-stick",),
    "families/relu": ("beyond/relu-networks",),
    "extraction": ("deconstruction/the-whole-algorithm",),
}
HEADINGS = ("What you will learn", "What can go wrong", "Summary", "Exercises",
            "Further reading")
LIMITS = {"words": 2500, "lines": 100, "proofs": 4, "minutes": 75}  # of a core page
WIDEST = 88  # printed line, in characters: book.css has room for no more
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
ABSOLUTE_PATH = re.compile(r"""(?:^|[\s"'`(=\[,:])(?:(?:/[\w.+-]+){2,}|[A-Za-z]:\\\w)""", re.M)
KINDS = ("alg", "cor", "def", "eq", "ex", "prop", "sec", "thm")  # which labels begin with
LABEL = r"^[ \t]*:label:[ \t]*(\S+)|\$\$[ \t]*\(([\w-]+)\)|^\(([\w-]+)\)=[ \t]*$"
FENCE = r"^(?:`{3,}|:{3,})\{%s\}[ \t]*(.*)\n((?:[ \t]*:[\w-]+:.*\n)*)"


# Reading the book and the module

def toc_pages(toc):
    """Pages of a table of contents in reading order, as paths below book/ without a suffix."""
    pages = [toc["root"]] if "root" in toc else []
    for entry in toc.get("parts", []) + toc.get("chapters", []) + toc.get("sections", []):
        pages += ([entry["file"]] if "file" in entry else []) + toc_pages(entry | {"root": None})
    return [page.removeprefix("book/") for page in pages if page]


def depth_pages(toc):
    """The pages below the core page of a chapter."""
    return {page["file"].removeprefix("book/") for part in toc["parts"]
            for chapter in part["chapters"] for page in chapter.get("sections", [])}


def is_chapter(page):
    """Chapters stand in the folder of their part; front pages and appendices do not."""
    return "/" in page and not page.startswith("api/")


def parse(cell_source):
    """The syntax tree of a code cell, magics taken out."""
    return ast.parse(TransformerManager().transform_cell(cell_source))


def homes(init_source):
    """Which file of decon each name of `decon/__init__.py` comes from."""
    return {
        alias.asname or alias.name: (node.module or alias.name).replace(".", "/")
        for node in ast.walk(ast.parse(init_source)) if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def decon_imports(tree, home, files, file=""):
    """Files of decon that a syntax tree uses; None stands for the package as a whole.

    With `file`, the tree is that file's own, and its relative imports are read as such.
    """
    used, packages = set(), set()
    folders = {parent.as_posix() for name in files for parent in PurePosixPath(name).parents}

    def add(module, names):
        """What `from module import names` uses: a folder's files by name."""
        if module in files or module not in folders | {""}:
            used.add(module)
        else:
            used.update(home.get(n, f"{module}/{n}".lstrip("/")) if not module else f"{module}/{n}"
                        for n in names)

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                package, _, module = alias.name.partition(".")
                if package == "decon":
                    used.add(module.replace(".", "/") or None)
                    packages.add("decon" if module or not alias.asname else alias.asname)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            if node.level == 0 and module[0] != "decon":
                continue
            above = file.split("/")[:-node.level] if node.level else []
            module = above + (module if node.level else module[1:])
            add("/".join(filter(None, module)), [alias.name for alias in node.names])
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in packages:
                used.add(home.get(node.attr, node.attr))
    return used


# The rules: each gives a list of faults, empty when all is well

def floor_faults(sources, floors=FLOORS, reaches=REACHES):
    """Imports inside decon that climb, go round in a circle, or use the package's own roof."""
    rooms = {name: name.split("/")[0] for name in sources}
    found = [f"decon/{name}.py has no floor" for name, room in rooms.items() if room not in floors]
    if found:
        return found
    graph = {}
    for name, source in sources.items():
        graph[name] = decon_imports(ast.parse(source), {}, sources, name)
        for target in graph[name]:
            if target not in sources:
                found.append(f"decon/{name}.py imports {target or 'the package'}, not a file")
                continue
            room, other = rooms[name], rooms[target]
            if room != other and floors[other] >= floors[room]:
                found.append(f"decon/{name}.py climbs to decon/{target}.py")
            if other not in reaches.get(room, floors):
                found.append(f"decon/{name}.py reaches decon/{target}.py")
    try:  # files of one folder may import each other, but not in a circle
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        found.append(f"imports go round in a circle: {error.args[1]}")
    return found


def toc_faults(pages, files):
    """Pages listed but missing, and files below book/ that are not listed."""
    present = {file.rsplit(".", 1)[0] for file in files}
    return [f"{page} is listed but does not exist" for page in pages if page not in present] + [
        f"{name} is not in the table of contents" for name in sorted(present - set(pages))
    ]


def labels_of(text):
    """The labels of equations, theorems, exercises and sections in a page's Markdown."""
    return {"".join(match) for match in re.findall(LABEL, text, re.M)}


def citation_faults(sources, labels, kinds):
    """A label that a comment or docstring of the module cites is one of the book's."""
    cited = [(name, label) for name, source in sources.items()
             for label in re.findall(rf"\b(?:{'|'.join(kinds)})-[\w-]+", source)]
    return [f"decon/{name}.py cites {label}, which the book does not have"
            for name, label in cited if label not in labels]


def order_faults(cells):
    counts = [cell.execution_count for cell in cells if cell.cell_type == "code"]
    if counts == list(range(1, len(counts) + 1)):
        return []
    return [f"cells were not executed in order from 1: {counts}"]


def output_faults(cells):
    found = []
    for cell in cells:
        for output in cell.get("outputs", []):
            where = f"cell {cell.execution_count}"
            if output.output_type == "error":
                found.append(f"{where}: error {output.ename}")
                continue
            if output.get("name") == "stderr":
                found.append(f"{where}: text on stderr: {output.text[:80]!r}")
            data = output.get("data", {"text/plain": output.get("text", "")})
            widest = max(map(len, data.get("text/plain", "").splitlines()), default=0)
            if set(data) == {"text/plain"} and widest > WIDEST:
                found.append(f"{where}: a line of {widest} characters is cut off, at most {WIDEST}")
            for kind, text in data.items():
                if kind.startswith("text/"):
                    text = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
                    found += [f"{where}: memory address {m[0]}" for m in ADDRESS.finditer(text)]
                    found += [f"{where}: absolute path {m[0].strip()}"
                              for m in ABSOLUTE_PATH.finditer(text)]
    return found


def figure_faults(cells):
    found = []
    for cell in cells:
        kinds = {kind for output in cell.get("outputs", []) for kind in output.get("data", {})}
        if any(kind.startswith("image/") for kind in kinds):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            if not alt.strip():
                found.append(f"cell {cell.execution_count}: figure without alt text")
        if cell.cell_type == "markdown":
            images = re.findall(r"!\[\s*\]\(.*?\)", cell.source)
            images += [tag for tag in re.findall(r"<img[^>]*>", cell.source)
                       if not re.search(r"""alt=["'][^"']""", tag)]
            for match in re.finditer(FENCE % "(?:figure|image)", cell.source, re.M):
                if not re.search(r":alt:[ \t]*\S", match[2]):
                    images.append(match[1])
            found += [f"figure without alt text: {image}" for image in images]
    return found


def exercise_faults(cells, at_least):
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown") + "\n"
    labels = []
    for match in re.finditer(FENCE % "exercise(?:-start)?", text, re.M):
        label = re.search(r":label:[ \t]*(\S+)", match[2])
        labels.append(label[1] if label else None)
    found = ["an exercise has no label" for label in labels if label is None]
    if len(labels) < at_least:
        found.append(f"{len(labels)} exercises, expected at least {at_least}")
    solved = [m[1].strip() for m in re.finditer(FENCE % "solution(?:-start)?", text, re.M)]
    found += [f"exercise {label} has no solution" for label in labels
              if label and label not in solved]
    found += [f"the solution of {label} has no exercise" for label in solved
              if label not in labels]
    for kind in ("exercise", "solution"):
        starts, ends = (len(re.findall(FENCE % f"{kind}-{end}", text, re.M))
                        for end in ("start", "end"))
        if starts != ends:
            found.append(f"{starts} {kind}-start but {ends} {kind}-end")
    return found


def heading_faults(cells):
    headings = [match[1].strip() for cell in cells if cell.cell_type == "markdown"
                for match in re.finditer(r"^#+[ \t]+(.*)$", cell.source, re.M)]
    headings = ["Summary" if heading == "Take-away" else heading for heading in headings]
    return [f"no heading {wanted!r}" for wanted in HEADINGS
            if not any(heading.lower().startswith(wanted.lower()) for heading in headings)]


def fold_faults(cells):
    """What the book folds, JupyterLab folds too."""
    folded = [nbformat.from_dict(cell) for cell in cells]
    fold(folded)
    return [f"cell {i} is folded in the book, not in JupyterLab: run make refresh"
            for i, (cell, right) in enumerate(zip(cells, folded, strict=True))
            if cell.metadata.get("jupyter") != right.metadata.get("jupyter")]


def solution_faults(cells):
    """Text between the cells of a solution is a folded admonition: JupyterLab folds no other."""
    found, inside = [], False
    for i, (kind, source, _) in enumerate(cells):
        if kind == "markdown":
            text = re.split(r"^`{3,}\{solution-end\}", source, maxsplit=1, flags=re.M)[0].strip()
            if inside and text and not re.match(r"`{3,}\{admonition\}.*\n:class: dropdown", text):
                found.append(f"cell {i}: the text of a solution is not folded in JupyterLab")
            inside = ("{solution-start}" in source if "{solution-end}" in source or
                      "{solution-start}" in source else inside)
    return found


def length_faults(cells, is_core):
    """A page shows its reading time, and a core page keeps its limits (pairs as of cells_of)."""
    shown = [int(match[2]) for _, source, _ in cells
             for match in re.finditer(r"(\*\*Time:\*\* )(\d+)", source)]
    length = length_of(cells)
    if not shown:
        return []
    found = solution_faults(cells) + ([] if shown == [length.minutes] else [
        f"shows {shown} minutes, should be {length.minutes}: run tools/reading_time.py"])
    exercises = exercise_minutes(cells)
    found += [f"shows {minutes} minutes of exercises, should be {exercises}: run "
              "tools/reading_time.py" for _, source, _ in cells for minutes
              in re.findall(r"plus about (.*) minutes for the exercises", source)
              if minutes != str(exercises)]
    if is_core:
        found += [f"{getattr(length, name)} {name}, at most {most}" for name, most
                  in LIMITS.items() if getattr(length, name) > most]
    return found


def introducers(name, introduced=INTRODUCED):
    """The chapters that may introduce a file: its own, else those of the folders it is in."""
    while name and name not in introduced:
        name = name.rpartition("/")[0]
    return introduced.get(name, ())


def import_faults(cells, page, pages, home, files=None):
    """A chapter imports decon, and of it only what it or an earlier chapter introduces."""
    files, used = MODULES if files is None else files, set()
    for cell in cells:
        if cell.cell_type == "code":
            used |= decon_imports(parse(cell.source), home, files)
    found = [] if used else ["decon is not imported"]
    for name in sorted(used - {None}):
        if name not in files:
            found.append(f"imports {name}, which decon does not have")
            continue
        chapters = introducers(name)
        written = [pages.index(chapter) for chapter in chapters if chapter in pages]
        introduced = min(written, default=pages.index(LAST) if LAST in pages else len(pages))
        if chapters and introduced > pages.index(page):
            found.append(f"imports {name}, which a later chapter introduces")
    return found


def notebook_faults(notebook, page, pages, home, depth=frozenset()):
    """All that is wrong with one notebook."""
    cells = notebook.cells
    found = order_faults(cells) + output_faults(cells) + figure_faults(cells) + fold_faults(cells)
    found += exercise_faults(cells, 0 if not is_chapter(page) else 1 if page in depth else 3)
    if is_chapter(page):
        found += import_faults(cells, page, pages, home)
        found += [] if page in depth else heading_faults(cells)
    return found


# The book

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES, DEPTH = toc_pages(TOC), depth_pages(TOC)
NOTEBOOKS = [page for page in PAGES if (ROOT / "book" / f"{page}.ipynb").exists()]
SOURCES = {path.relative_to(ROOT / "decon").with_suffix("").as_posix(): path.read_text("utf-8")
           for path in (ROOT / "decon").rglob("*.py")}
MODULES = {name: source for name, source in SOURCES.items() if not name.endswith("__init__")}
HOME = homes(SOURCES["__init__"])


def test_table_of_contents():
    files = [path.relative_to(ROOT / "book").as_posix() for path in (ROOT / "book").rglob("*")
             if path.suffix in {".ipynb", ".md"}
             and not {"_static", ".ipynb_checkpoints"} & set(path.parts)]
    assert toc_faults(PAGES, files) == []


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_notebook(page):
    notebook = nbformat.read(ROOT / "book" / f"{page}.ipynb", as_version=4)
    assert notebook_faults(notebook, page, PAGES, HOME, DEPTH) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_fence_begins_without_a_backtick_in_its_line(page):
    """With one it would be no fence: the box and all that follows it would be raw text."""
    path = next((ROOT / "book").glob(f"{page}.[im]*"))
    for kind, source, _ in cells_of(path):
        if kind == "markdown":
            assert not re.findall(r"^`{3,}\{.*`.*$", source, re.M)


@pytest.mark.parametrize("page", PAGES)
def test_reading_time(page):
    path = next((ROOT / "book").glob(f"{page}.[im]*"))
    assert length_faults(cells_of(path), page not in DEPTH) == []


def test_every_core_page_links_its_depth_pages():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    missing = [page["file"] for chapter in chapters for page in chapter.get("sections", [])
               if not any(f"({Path(page['file']).relative_to(Path(chapter['file']).parent)}."
                          in source for kind, source, _ in
                          cells_of(next(ROOT.glob(f"{chapter['file']}.[im]*")))
                          if kind == "markdown")]
    assert missing == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in NOTEBOOKS])
def test_markdown_page(page):
    path = ROOT / "book" / f"{page}.md"
    if path.exists():  # that it must is the business of test_table_of_contents
        cell = new_markdown_cell(path.read_text(encoding="utf-8"))
        assert not is_chapter(page) and figure_faults([cell]) + exercise_faults([cell], 0) == []


def test_the_module_cites_labels_that_the_book_has():
    texts = [cell.source for page in NOTEBOOKS for cell in
             nbformat.read(ROOT / "book" / f"{page}.ipynb", as_version=4).cells
             if cell.cell_type == "markdown"]
    labels = set().union(*map(labels_of, texts))
    kinds = KINDS + tuple(page.rpartition("/")[2] for page in NOTEBOOKS if is_chapter(page))
    assert citation_faults(SOURCES, labels, kinds) == []


def test_no_import_climbs():
    assert floor_faults(MODULES) == []


# The checks themselves: a good chapter passes, and each way to spoil it is caught

BOOK = ["intro", "kernels/kernel-machines", "deconstruction/hard-label-oracle",
        "deconstruction/bracketing", "upgrade/mnist", "glossary"]
TOP = {"Oracle": "oracles/oracle", "deconstruct": "extraction/deconstruct", "Gaussian": "kernels"}


def good_chapter():
    """A chapter (of the laconic oracle) that keeps every rule."""
    exercises = "\n".join(
        f"```{{exercise}} Title\n:label: ex-{i}\nText.\n```\n\n```{{solution}} ex-{i}\n:class: "
        f"dropdown\nText.\n```\n" for i in (1, 2))
    exercises += "\n```{exercise}\n:label: ex-3\nText.\n```\n```{solution-start} ex-3\n```\n"
    png = new_output("display_data", data={"image/png": "AAAA", "text/plain": "<Figure size>"})
    cells = [
        new_markdown_cell("# Title\n\n" + "\n\n".join(f"## {heading}" for heading in HEADINGS)),
        new_code_cell("from decon import Gaussian, Oracle\n%matplotlib inline",
                      execution_count=1),
        new_markdown_cell("![A curve](a.png)\n\n```{figure} b.png\n:alt: A line\nCaption.\n```\n"),
        new_code_cell("1 / 3", execution_count=2, outputs=[
            new_output("stream", name="stdout", text="m / n and 1/2, decon/oracle.py\n"),
            new_output("execute_result", data={"text/plain": "0.3333", "text/html": "<b>1</b>"})]),
        new_markdown_cell(exercises),
        new_code_cell("plot()", execution_count=3, outputs=[png],
                      metadata={"mystnb": {"image": {"alt": "Points around a circle"}},
                                "tags": ["hide-input"],
                                "jupyter": {"source_hidden": True, "outputs_hidden": True}}),
        new_markdown_cell("```{solution-end}\n```"),
    ]
    return new_notebook(cells=cells)


def spoil(cell, key, value):
    def change(notebook):
        notebook.cells[cell][key] = value
    return change


def replace(cell, old, new):
    def change(notebook):
        assert old in notebook.cells[cell].source
        notebook.cells[cell].source = notebook.cells[cell].source.replace(old, new, 1)
    return change


def prints(text, name="stdout"):
    return spoil(3, "outputs", [new_output("stream", name=name, text=text)])


def shows(html):
    return spoil(3, "outputs", [new_output("display_data", data={"text/html": html})])


BAD = {
    "not executed": (spoil(3, "execution_count", None), "in order from 1"),
    "executed out of order": (spoil(3, "execution_count", 7), "in order from 1"),
    "an error": (spoil(3, "outputs", [new_output("error", ename="ValueError", evalue="",
                                                 traceback=[])]), "error ValueError"),
    "a warning": (prints("UserWarning", "stderr"), "stderr"),
    "a line that is cut off": (prints("short\n" + 89 * "x"), "89 characters"),
    "an address": (prints("<object at 0x7f12ab34cd56>"), "memory address"),
    "a path": (prints("read /home/ann/data.csv"), "absolute path"),
    "a quoted path": (prints("'/data/set'"), "absolute path"),
    "a path on Windows": (prints("saved to C:\\data"), "absolute path"),
    "a path in HTML": (shows("<p>in /opt/lib/x.py</p>"), "absolute path"),
    "hidden in the book only": (spoil(5, "metadata", {"tags": ["hide-input"]}),
                                "cell 5 is folded in the book, not in JupyterLab"),
    "a solution hidden in the book only": (
        lambda notebook: notebook.cells.insert(6, new_code_cell("x = 1", execution_count=4)),
        "cell 6 is folded"),
    "no alt text": (spoil(5, "metadata", {}), "cell 3: figure without alt text"),
    "empty alt text": (spoil(5, "metadata", {"mystnb": {"image": {"alt": " "}}}), "alt text"),
    "a Markdown image without alt": (replace(2, "![A curve]", "![]"), "alt text: ![](a.png)"),
    "a figure without alt": (replace(2, ":alt: A line\n", ""), "alt text: b.png"),
    "an img without alt": (replace(2, "![A curve](a.png)", "<img src='a.png'>"), "alt text: <img"),
    "an exercise without label": (replace(4, ":label: ex-1\n", ""), "has no label"),
    "an exercise without solution": (replace(4, "{solution} ex-1", "{note} ex-1"),
                                     "ex-1 has no solution"),
    "a solution without exercise": (replace(4, "{solution} ex-1", "{solution} ex-9"),
                                    "solution of ex-9 has no exercise"),
    "two exercises": (replace(4, "{exercise}", "{note}"), "2 exercises"),
    "an open solution": (spoil(6, "source", ""), "solution-start but 0 solution-end"),
    "no decon": (replace(1, "from decon import Gaussian, Oracle", ""), "not imported"),
    "a later file": (replace(1, "decon import", "decon.boundary.bracketing import"),
                     "imports boundary/bracketing"),
    "a later name": (replace(1, "Gaussian, Oracle", "deconstruct"),
                     "imports extraction/deconstruct"),
    "a later attribute": (replace(1, "from decon import Gaussian, Oracle",
                                  "import decon as d; d.deconstruct"),
                          "imports extraction/deconstruct"),
    "a later module": (replace(1, "from decon import Gaussian, Oracle",
                               "import decon.learning.upgrading as u"),
                       "imports learning/upgrading"),
    "an unknown name": (replace(1, "Oracle", "Delphi"), "imports Delphi"),
    "everything": (replace(1, "Gaussian, Oracle", "*"), "imports *"),
} | {f"no {heading}": (replace(0, f"## {heading}", "## Other"), f"no heading '{heading}'")
     for heading in HEADINGS}


def test_a_good_chapter_has_no_fault():
    page = "deconstruction/hard-label-oracle"
    assert notebook_faults(good_chapter(), page, BOOK, TOP) == []


@pytest.mark.parametrize("change, expected", BAD.values(), ids=BAD.keys())
def test_a_bad_chapter_is_caught(change, expected):
    notebook = good_chapter()
    change(notebook)
    found = notebook_faults(notebook, "deconstruction/hard-label-oracle", BOOK, TOP)
    assert any(expected in fault for fault in found), found


def test_a_depth_page_is_free_in_its_order_but_has_an_exercise():
    cells = [new_code_cell("import decon", execution_count=1)]
    page, depth = "kernels/kernel-machines", {"kernels/kernel-machines"}
    assert notebook_faults(new_notebook(cells=cells), page, BOOK, TOP, depth) == [
        "0 exercises, expected at least 1"]


PAGE = """# Title

(label)=
**Time:** 5 minutes. One $x + y$ two.

```{figure} a.png
:alt: not read
```

```{prf:proof}
Three [four](five.ipynb).
```

% not read

## Exercises

Not counted.
"""


def test_reading_time_is_counted_as_promised():
    cells = [("markdown", PAGE, ()), ("code", "x = 1\n\ny = 2", ()),
             ("markdown", "word " * 50, ())]
    assert words_of("a b.\n```{math}\n:label: eq-x\nx = 1\n```") == 4  # a, b., x, 1
    assert length_of(cells[:1]) == Length(11, 0, 1)  # with a.png, and without the exercises
    assert length_of(cells[1:]) == Length(50, 2, 0)
    assert Length(500, 40, 2).minutes == 20 and Length(501, 40, 2).minutes == 25
    assert length_faults(cells, True) == []
    assert length_faults([("markdown", PAGE.replace("5 min", "10 min"), ())], True) == [
        "shows [10] minutes, should be 5: run tools/reading_time.py"]
    long = [("markdown", "**Time:** 75 minutes " + "word " * 2600, ()), cells[1]]
    assert length_faults(long, False) == ["shows [75] minutes, should be 55: run "
                                          "tools/reading_time.py"]
    assert length_faults(long, True)[1:] == ["2603 words, at most 2500"]
    start, end = "```{solution-start} ex-1\n```", "```{solution-end}\n```"
    assert solution_faults([("markdown", start, ()), ("markdown", "So.\n\n" + end, ())]) == [
        "cell 1: the text of a solution is not folded in JupyterLab"]
    folded = "```{admonition} Why\n:class: dropdown\nSo.\n```\n\n" + end
    assert solution_faults([("markdown", start, ()), ("markdown", folded, ())]) == []
    graded = [("markdown", "```{exercise} ★ A\n```\n````{exercise-start} ★★ B\n````\n"
               "```{exercise} ★★★ C\n```\n```{exercise} D\n```", ())]
    assert exercise_minutes(graded) == 35
    timed = [("markdown", "**Time:** 5 minutes, plus about 65 minutes for the exercises", ())]
    assert length_faults(timed + graded, True) == [
        "shows 65 minutes of exercises, should be 35: run tools/reading_time.py"]
    assert EXERCISES.sub(r"\g<1>plus about 35 minutes\g<2>", timed[0][1]).endswith(
        "5 minutes, plus about 35 minutes for the exercises")
    assert STAMP.sub(r"\g<1>9\g<2>", "**Time:** 60 minutes") == "**Time:** 9 minutes"


def test_the_totals_on_a_page_are_those_of_the_pages(tmp_path):
    assert totals_table() in (ROOT / "book/how-to-read.md").read_text("utf-8"), (
        "run tools/reading_time.py")
    (tmp_path / "a.md").write_text("word " * 60 + "\n## Exercises\n```{exercise} ★ A\n```\n")
    (tmp_path / "b.md").write_text("word " * 600)
    found = [("Part I", False, tmp_path / "a.md"), ("Part I", True, tmp_path / "b.md"),
             ("Part II", False, tmp_path / "b.md"), ("Appendices", False, tmp_path / "b.md")]
    assert totals(found) == [("Part I", 1, 5, 1, 15, 5), ("Part II", 1, 15, 0, 0, 0),
                             ("All parts", 2, 20, 1, 15, 5)]


def test_a_citation_of_no_label_is_caught():
    text = "```{prf:theorem}\n:label: normals-tls\n$$ x = 1 $$ (eq-x)\n```\n\n(sec-end)=\n## End"
    assert labels_of(text) == {"normals-tls", "eq-x", "sec-end"}
    sources = {"boundary/normals": '"""Slopes."""\n# by (eq-x) and (normals-tls), not (eq-y)'}
    assert citation_faults(sources, labels_of(text), ("eq", "normals")) == [
        "decon/boundary/normals.py cites eq-y, which the book does not have"]


def test_the_last_chapter_introduces_what_no_written_chapter_does():
    cells = [new_code_cell("from decon import deconstruct")]
    assert import_faults(cells, LAST, BOOK, TOP) == []
    assert import_faults(cells, "deconstruction/bracketing", BOOK, TOP) != []


def test_front_pages_and_appendices_need_no_exercises():
    notebook = new_notebook(cells=[new_code_cell("from decon import deconstruct",
                                                 execution_count=1)])
    assert notebook_faults(notebook, "intro", BOOK, TOP) == []


def test_toc_is_read_in_order_and_compared_with_the_files():
    toc = {"root": "book/intro", "parts": [{"caption": "I", "chapters": [
        {"file": "book/a/b", "sections": [{"file": "book/a/c"}]}, {"file": "book/d"}]}]}
    assert depth_pages(toc) == {"a/c"}
    assert toc_pages(toc) == ["intro", "a/b", "a/c", "d"]
    assert toc_faults(["intro", "a/b"], ["intro.md", "a/b.ipynb"]) == []
    assert toc_faults(["intro", "a/b"], ["intro.md", "a/c.ipynb"]) == [
        "a/b is listed but does not exist", "a/c is not in the table of contents"]


@pytest.mark.parametrize("sources, expected", [
    ({"kernels": "from .machine import KernelMachine", "machine": ""}, "climbs to decon/machine"),
    ({"kernels": "def f():\n    from decon import machine", "machine": ""}, "climbs to"),
    ({"machine": "import decon.oracles.oracle", "oracles/oracle": ""}, "climbs to decon/oracles"),
    ({"oracles/oracle": "from ..boundary import normals", "boundary/normals": ""}, "climbs to"),
    ({"learning/qp": "from ..oracles.oracle import Oracle", "oracles/oracle": ""}, "reaches"),
    ({"machine": "from decon import Oracle"}, "imports Oracle, not a file"),
    ({"machine": "import decon"}, "imports the package"),
    ({"families/a": "from .gone import f"}, "imports families/gone, not a file"),
    ({"learning/svm": "from . import ridge", "learning/ridge": "from .svm import f"}, "circle"),
    ({"families/cubic/a": "from ..b import f", "families/b": "from .cubic import a"}, "circle"),
    ({"attic": ""}, "decon/attic.py has no floor"),
])
def test_a_climbing_import_is_caught(sources, expected):
    found = floor_faults(sources)
    assert any(expected in fault for fault in found), found


def test_imports_downwards_and_inside_a_room_are_allowed():
    assert floor_faults({
        "machine": "from .kernels import Gaussian\nimport numpy",
        "learning/svm": "from decon.machine import KernelMachine\nfrom . import kkt",
        "learning/kkt": "", "kernels": "",
        "families/cubic/planes": "from .lines import Lines\nfrom ...machine import KernelMachine",
        "families/cubic/lines": ""}) == []


def test_the_house_has_at_most_fifteen_rooms_at_the_first_level():
    assert len({name.split("/")[0] for name in SOURCES}) <= 15


def test_the_reference_lists_every_file_of_decon():
    listed = [name for page in (ROOT / "book/api").glob("*.md")
              for name in re.findall(r"automodule:: (\S+)", page.read_text("utf-8"))]
    paths = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "decon").rglob("*.py")]
    files = {".".join(path.parts) for path in paths if path.name != "__init__"}
    assert len(listed) == len(set(listed)) and set(listed) <= files
    families = {".".join(name.split(".")[:3]) for name in listed}
    assert all(name.startswith("decon.families.") and ".".join(name.split(".")[:3]) not in families
               for name in files - set(listed))  # a new family may wait


def test_jupyterlab_shows_theorems_and_exercises():
    """The extension that reads the book's Markdown goes with the JupyterLab that is installed."""
    listed = subprocess.run([sys.executable, "-m", "jupyter", "labextension", "list"],
                            capture_output=True, text=True, check=True)
    lines = (listed.stdout + listed.stderr).splitlines()
    (line,) = [line for line in lines if re.match(r"\s*jupyterlab-myst v", line)]
    assert "enabled" in line and "OK" in line
