"""Terms and names become links while the book is built; the glossary has what the pages define."""

import pkgutil
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from pybtex.database import parse_file
from sphinx.application import Sphinx

import decon
from tools.author_year_labels import AuthorYearLabels
from tools.glossary_links import SILENT, Glossary
from tools.reading_time import cells_of, pages

BOOK = Path(__file__).parents[1] / "book"
EMPHASIS = {  # what chapters print in bold without defining a term of the subject
    "affine", "equality constraint", "height", "images", "invariant under rotations about",
    "leave-one-out", "maintain", "multiplier", "noisy", "off", "on", "the same function",
    "unknown", "unlearn", "verify",
}
SEARCH = r"^#+ (?:Further reading|Exercises)\b.*?(?=^#+ |\Z)"  # sections that define no terms
NOT_PROSE = [
    (r"```(?:python|bash|text|console|\{math\})\n.*?```", re.S), (r"\$\$.*?\$\$", re.S),
    (r"^#+ .*$|^[ \t]*:[\w-]+:.*$|^%.*$", re.M), (r"\$[^$]+\$|\]\([^)]*\)", re.S),
    (r"(?:\{[\w:]+\})?(?<!`)`[^`\n]+`(?!`)", re.S),
]


def read_entries(text):
    """The entries of the glossary, as `Glossary` takes them."""
    entries = {}
    for block in re.split(r"\n\s*\n", text.split("```{glossary}\n")[1].split("\n```")[0]):
        lines = block.splitlines()
        terms = [line for line in lines if not line.startswith(" ")]
        home = re.search(r"\]\(([\w/-]+)\.(?:ipynb|md)\)", lines[-1])
        entries |= {term: (terms[0], home and home[1], "  % ordinary word" in lines)
                    for term in terms}
    return entries


def read_prose(path):
    """The prose of a page, and that of its sections which may define terms."""
    text = "\n\n".join(source for kind, source, _ in cells_of(path) if kind == "markdown")
    defining = re.sub(SEARCH, "", text, flags=re.S | re.M)
    for part, flags in NOT_PROSE:
        text, defining = re.sub(part, " x ", text, flags=flags), re.sub(part, " x ", defining,
                                                                        flags=flags)
    return text, defining


def undefined(defining, page, glossary):
    """The words in bold that a page seems to define, but the glossary does not have."""
    found = [(line[:bold.start()], bold[1]) for line in defining.splitlines()
             for bold in re.finditer(r"\*\*([^*]+)\*\*", line)]
    return [bold for before, bold in found
            if before.strip(" -0123456789.") and len(bold.split()) <= 4 and bold[0].islower()
            and bold[-1] not in ".:?" and bold not in EMPHASIS
            and not list(glossary.find(bold, page, True))]


ENTRIES = read_entries((BOOK / "glossary.md").read_text("utf-8"))
GLOSSARY = Glossary(ENTRIES)
PROSE = {path.relative_to(BOOK).with_suffix("").as_posix(): read_prose(path)
         for _, _, path in pages() if not {path.stem, path.parent.name} & set(SILENT)}


def test_every_term_is_used_on_the_page_that_its_entry_names():
    plain = Glossary({term: (key, home, False) for term, (key, home, _) in ENTRIES.items()})
    found = {(key, page) for page, (text, _) in PROSE.items()
             for part in [text.replace("**", "")] + re.findall(r"\*\*(.+?)\*\*", text, re.S)
             for bold in (False, True) for key, *_ in plain.find(part, page, bold)}
    wrong = {f"{key}: {home}" for key, home, _ in ENTRIES.values() if (key, home) not in found}
    assert wrong == set()


def test_what_a_chapter_prints_in_bold_is_in_the_glossary():
    wrong = {page: words for page, (_, text) in PROSE.items() if "/" in page
             if (words := undefined(text, page, GLOSSARY))}
    assert wrong == {}


def test_a_word_that_is_missing_in_the_glossary_is_caught():
    glossary = Glossary({"dual problem": ("dual", "a/b", False)})
    text = "The **dual problem** has a **gap**.\n**run in** on\n- **item** of a **list.** Or **x**"
    assert undefined(text, "a/b", glossary) == ["gap", "x"]
    assert undefined("Now the **dual** of it", "a/b", glossary) == []
    assert undefined("Now the **dual** of it", "a/c", glossary) == ["dual"]


def test_the_entries_are_in_alphabetical_order():
    first = list(dict.fromkeys(key for key, _, _ in ENTRIES.values()))
    plain = [re.sub(r"[^a-z0-9 ]", "", key.lower().replace("ö", "o")) for key in first]
    assert plain == sorted(plain)


PAGES = {
    "index": "# Start\n\n```{toctree}\na\nb\nglossary\napi\n```\n",
    "a": """# On kernels
A kernel, `kernel` and $kernel$; see [kernel](b), *kernel*. Then a **kernel** is defined.
Two Gram matrices, a margin, a bit, Lawler's scheme and sub-kernels. A **wide margin**.

```{admonition} Symbols
:class: dropdown
A slack.
```

Call `thing(x, y)` and `Other.do`, then `thing` and `do`.

## Kernels again
A kernel and a slack.
""",
    "b": "# Page two: with a subtitle\nA Kernel. Kernels. **Bits** of a margin. `index` thing.\n",
    "glossary": """# Glossary
```{glossary}
kernel
  A function. See [this](a.md).

Gram matrice
Gram matrix
  A table.

margin (of a line)
  A distance. See [that](b.md).

margin (of a point)
  A number. See [this](a.md).

bit
  % ordinary word
  A unit. See [that](b.md).

Lawler's scheme
slack
  Two things in one entry.
```
""",
    "api": """# Reference
```{eval-rst}
.. py:function:: lib.thing(x)
.. py:class:: lib.Other

   .. py:method:: do()
```
""",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A tiny book, built with both extensions."""
    source = tmp_path_factory.mktemp("book")
    for name, text in PAGES.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    extensions = ["myst_parser", "glossary_links", "name_links"]
    app = Sphinx(source, None, source / "_html", source / "_tree", "html", status=None,
                 confoverrides={"extensions": extensions, "root_doc": "index",
                                "myst_enable_extensions": ["dollarmath"]},
                 warningiserror=True)
    app.build()
    return {name: BeautifulSoup((source / f"_html/{name}.html").read_text("utf-8"), "html.parser")
            for name in PAGES}


def shown(page, selector="a.glossary-term"):
    return [(" ".join(node.get_text().split()), node["href"]) for node in page.select(selector)]


def test_the_first_use_of_a_term_links_to_its_entry(site):
    assert shown(site["a"]) == [
        ("kernel", "glossary.html#term-kernel"),  # where it is in bold, not before
        ("Gram matrices", "glossary.html#term-Gram-matrice"),
        ("margin", "glossary.html#term-margin-of-a-point"),  # the sense of this chapter
        ("Lawler’s scheme", "glossary.html#term-Lawler-s-scheme"),
    ]
    assert site["a"].select_one("strong > a#use-term-kernel")
    assert shown(site["b"]) == [
        ("Kernel", "glossary.html#term-kernel"),
        ("Bits", "glossary.html#term-bit"),  # an ordinary word counts in bold
        ("margin", "glossary.html#term-margin-of-a-line"),
    ]


def test_code_formulas_headings_links_and_folded_boxes_are_left_alone(site):
    for page in ("a", "b"):
        for link in site[page].select("a.glossary-term"):
            assert not link.find_parents(["h1", "h2", "code", "a", "details"])
    assert "slack" not in str(site["a"].select(".admonition a"))
    assert not site["glossary"].select("a.glossary-term")


def test_an_entry_lists_the_other_pages_that_use_it(site):
    lines = {line.find_previous("dt").get_text().strip("¶ \n"): [
        (a.get_text(), a["href"]) for a in line.select("a")]
        for line in site["glossary"].select("p.term-pages")}
    assert lines["kernel"] == [("Page two", "b.html#use-term-kernel")]
    assert lines["Gram matrix"] == [("On kernels", "a.html#use-term-Gram-matrice")]
    assert not any(term.startswith(("bit", "margin")) for term in lines)  # used at home only


def test_names_in_code_font_link_to_the_reference_once(site):
    assert shown(site["a"], "a:has(> code)") == [
        ("thing(x, y)", "api.html#lib.thing"), ("Other.do", "api.html#lib.Other.do")]
    assert shown(site["b"], "a:has(> code)") == []


def listed_names():
    """The names in the index by task of the reference, as they stand there and in full."""
    return re.findall(r"\{py:obj\}`([^<`]+) <([\w.]+)>`", (BOOK / "api.md").read_text("utf-8"))


def test_the_index_of_the_reference_has_every_public_name():
    assert set(decon.__all__) <= {name for name, _ in listed_names()}


@pytest.mark.parametrize("full", [full for _, full in listed_names()])
def test_every_name_of_the_index_has_a_running_example(full):
    assert ">>>" in pkgutil.resolve_name(full).__doc__


def test_the_extensions_belong_to_the_book():
    config = yaml.safe_load((BOOK.parent / "_config.yml").read_text("utf-8"))
    assert {"glossary_links", "name_links", "author_year_labels"} <= set(
        config["sphinx"]["local_extensions"])


def test_the_pages_on_data_and_on_citing_are_up_to_date():
    data = (BOOK / "data-and-licences.md").read_text("utf-8")
    loaders = {name for path in BOOK.rglob("*.ipynb") for name in re.findall(
        r"\b(?:load|fetch)_(?:mnist|binary|recidivism|digits|iris|wine|breast_cancer|openml)\b",
        path.read_text("utf-8"))}
    assert [name for name in sorted(loaders) if f"`{name}`" not in data] == []
    assert decon.__version__ in (BOOK / "how-to-cite.md").read_text("utf-8")
    assert decon.__version__ in (BOOK.parent / "CITATION.cff").read_text("utf-8")


def test_the_bibliography_has_the_labels_of_the_text():
    entries = parse_file(BOOK / "references.bib").entries
    labels = dict(zip(entries, AuthorYearLabels().format_labels(entries.values()), strict=True))
    assert labels["ali2014"] == "Ali et al., 2014"  # in the text: Ali et al. [2014]
    assert labels["golub2013"] == "Golub and Van Loan, 2013"
    assert labels["tramer2016"] == "Tramèr et al., 2016"
    assert len(set(labels.values())) == len(labels)
