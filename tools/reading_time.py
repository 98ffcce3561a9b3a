"""How long a page takes to read, by the rule on the page "How to read this book".

    python tools/reading_time.py            write the minutes onto every page that shows them
    python tools/reading_time.py --table    print words, lines, proofs and minutes of every page

A page shows its minutes as `**Time:** 60 minutes, plus about 70 minutes for the exercises`. A
chapter's core page is listed in _toc.yml as a chapter, its depth pages are the `sections` below it.
Where a page has the comment `% totals`, the table of all parts stands below it.
"""

import argparse
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
STAMP = re.compile(r"(\*\*(?:Time|Reading):\*\* )\d+( min)")
EXERCISES = re.compile(r"(\*\*Time:\*\* \d+ minutes, )plus about [^.()]*( for the exercises)")
TOTALS = re.compile(r"(^% totals\n\n)(?:\|.*\n)*", re.M)
WORDS_PER_MINUTE, LINES_PER_MINUTE, MINUTES_PER_PROOF, STEP = 50, 10, 3, 5


@dataclass(frozen=True)
class Length:
    """What stands on a page before its exercises."""

    words: int  # formulas count; code, outputs, alt texts and labels do not
    lines: int  # of code that is visible
    proofs: int

    @property
    def minutes(self) -> int:
        """Words / 50 + lines / 10 + 3 per proof, rounded up to 5."""
        minutes = (self.words / WORDS_PER_MINUTE + self.lines / LINES_PER_MINUTE
                   + self.proofs * MINUTES_PER_PROOF)
        return STEP * math.ceil(minutes / STEP)


def words_of(markdown):
    """Words of a text as it is read: neither directives nor their options, nor link targets."""
    text = re.sub(r"<!--.*?-->", "", markdown, flags=re.S)
    text = re.sub(r"```(?:python|bash|text|console)\n.*?```", "", text, flags=re.S)
    text = re.sub(r"^%.*$", "", text, flags=re.M)  # comments
    text = re.sub(r"^[ \t]*:[\w-]+:.*$", "", text, flags=re.M)  # options of directives
    text = re.sub(r"^\([\w-]+\)=[ \t]*$", "", text, flags=re.M)  # labels
    text = re.sub(r"^[ \t]*[`:]{3,}(?:\{[\w:-]+\})?", "", text, flags=re.M)  # fences
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return len([word for word in text.split() if re.search(r"[\w$\\]", word)])


def length_of(cells):
    """The length of a page, given as pairs (kind, source, tags)."""
    words = lines = proofs = 0
    for kind, source, tags in cells:
        if kind == "markdown":
            before, *exercises = re.split(r"^#+ Exercises", source, maxsplit=1, flags=re.M)
            words += words_of(before)
            proofs += len(re.findall(r"\{prf:proof\}", before))
            if exercises:
                break
        elif not {"hide-input", "remove-input", "hide-cell", "remove-cell"} & set(tags):
            lines += sum(bool(line.strip()) for line in source.splitlines())
    return Length(words, lines, proofs)


def exercise_minutes(cells):
    """Minutes of the exercises on a page: 5 for one star, 30 for two; projects do not count."""
    text = "\n".join(source for kind, source, _ in cells if kind == "markdown")
    stars = re.findall(r"^`{3,}\{exercise(?:-start)?\}[ \t]*(★+)", text, re.M)
    return sum({1: 5, 2: 30}.get(len(some), 0) for some in stars)


def cells_of(path):
    """The cells of a page, as pairs (kind, source, tags)."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [("markdown", text, ())]
    return [(cell["cell_type"], "".join(cell["source"]), cell["metadata"].get("tags", ()))
            for cell in json.loads(text)["cells"]]


def pages():
    """Pages in reading order, as (part, whether it is a depth page, path)."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [("", False, toc["root"])]
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            found.append((part["caption"], False, chapter["file"]))
            found += [(part["caption"], True, page["file"])
                      for page in chapter.get("sections", [])]
    return [(part, depth, next(ROOT.glob(f"{page}.[im]*"))) for part, depth, page in found]


def totals(found=None):
    """Of every part: pages and minutes of core and depth, minutes of exercises; and their sum.

    Parameters
    ----------
    found : list, optional
        Triples as `pages` gives them.

    Returns
    -------
    rows : list of (caption, core pages, minutes, depth pages, minutes, minutes of exercises)
    """
    rows = {}
    for part, depth, path in found or pages():
        if part.startswith("Part "):
            row, cells = rows.setdefault(part, [0] * 5), cells_of(path)
            row[2 * depth] += 1
            row[2 * depth + 1] += length_of(cells).minutes
            row[4] += exercise_minutes(cells)
    rows["All parts"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    return [(part, *row) for part, row in rows.items()]


def totals_table():
    """The totals as a table in Markdown, with hours below."""
    rows = totals()
    lines = [f"| {part} | {core} | {minutes} | {depth} | {more} | {exercises} |"
             for part, core, minutes, depth, more, exercises in rows]
    hours = (str(round(minutes / 60)) for minutes in (rows[-1][2], rows[-1][4], rows[-1][5]))
    return "\n".join([
        "| part | core pages | minutes | depth pages | minutes | exercises ★ and ★★, minutes |",
        "|---|--:|--:|--:|--:|--:|",
        *lines, "| in hours | | {} | | {} | {} |\n".format(*hours)])


def stamp(path):
    """Write the minutes onto a page; returns whether it changed."""
    before = path.read_text(encoding="utf-8")
    cells = cells_of(path)
    after = STAMP.sub(rf"\g<1>{length_of(cells).minutes}\g<2>", before)
    after = EXERCISES.sub(rf"\g<1>plus about {exercise_minutes(cells)} minutes\g<2>", after)
    after = TOTALS.sub(lambda match: match[1] + totals_table(), after)
    if after != before:
        path.write_text(after, encoding="utf-8")
    return after != before


def table():
    """One row per page, and the minutes of the core pages of each part."""
    rows, sums = [], {}
    for part, depth, path in pages():
        size, exercises = length_of(cells_of(path)), exercise_minutes(cells_of(path))
        name = path.relative_to(ROOT / "book").with_suffix("").as_posix()
        name = "  " * depth + name
        rows.append(f"{name:48s}{size.words:6d} words{size.lines:5d} lines"
                    f"{size.proofs:3d} proofs{size.minutes:5d} min, exercises {exercises} min")
        key = part, "depth" if depth else "core"
        sums[key] = sums.get(key, 0) + size.minutes
    rows += [f"{part or 'Front'}, {kind}: {minutes} min" for (part, kind), minutes in sums.items()]
    return "\n".join(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true")
    if parser.parse_args().table:
        print(table())
    else:
        for _, _, page in pages():
            if stamp(page):
                print("minutes written onto", page.relative_to(ROOT))
