"""The plan of the course: sessions, tracks, and what every page needs to have been read before.

Minutes come from the pages themselves (`tools/reading_time.py`), prerequisites from the line
**Prerequisites** of each page; `plan.yaml` has only what a lecturer decides.
"""

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.reading_time import ROOT, cells_of, length_of, pages

PLAN = Path(__file__).with_suffix(".yaml")
LENGTH = 90  # minutes of a session
MOST = 360  # minutes of a student's week at home
EXERCISE = re.compile(r"\{exercise(?:-start)?\}[ \t]*(★+)[ \t]*(.*?)\n:label: (\S+)")
PROBLEM_SET = 60  # minutes
MINUTES = {1: 5, 2: 30}  # of an exercise, by its stars; projects are not set for a week


@dataclass(frozen=True)
class Page:
    """A core page.

    Attributes
    ----------
    name : str
        Its path in `book/` without the ending.
    title : str
    part : str
    minutes : int
        Of reading.
    exercises : dict of str to (int, str)
        Stars and title by label.
    needs : tuple of str
        Names of the core pages that it names as prerequisites.
    """

    name: str
    title: str
    part: str
    minutes: int
    exercises: dict
    needs: tuple


@dataclass(frozen=True)
class Session:
    """Ninety minutes in class, and what is read and solved for them."""

    name: str
    pages: tuple
    exercises: tuple
    agenda: tuple
    hard: str
    late: str


@dataclass(frozen=True)
class Track:
    """A way through the sessions.

    Attributes
    ----------
    name, title : str
    weeks : tuple of tuple of str
        Names of sessions.
    sets : tuple of int or None
        The problem set of each week.
    known : tuple of str
        Pages that students know from elsewhere.
    """

    name: str
    title: str
    weeks: tuple
    sets: tuple
    known: tuple


def core_pages():
    """All core pages of the four parts, by name, in reading order."""
    found = {}
    for part, depth, path in pages():
        if depth or not part.startswith("Part "):
            continue
        name = path.relative_to(ROOT / "book").with_suffix("").as_posix()
        cells = cells_of(path)
        text = "\n".join(source for kind, source, _ in cells if kind == "markdown")
        needs = re.search(r"\*\*Prerequisites:\*\*(.*?)\*\*Time", text, re.S)
        here = posixpath.dirname(name)
        links = re.findall(r"\]\(([^)#:]+)", needs[1]) if needs else []
        targets = [posixpath.normpath(posixpath.join(here, posixpath.splitext(link)[0]))
                   for link in links]
        found[name] = Page(
            name, re.search(r"^# (.+)", text, re.M)[1], part, length_of(cells).minutes,
            {label: (len(stars), title) for stars, title, label in EXERCISE.findall(text)},
            tuple(dict.fromkeys(targets)))
    return {name: Page(**{**vars(page), "needs": tuple(n for n in page.needs if n in found)})
            for name, page in found.items()}


def load():
    """The sessions by name, and the tracks by name.

    Raises
    ------
    ValueError
        If an agenda does not add up, an exercise is on no page of its session, a page or a problem
        set comes before a page that it needs, or a week is too long.
    """
    plan, core = yaml.safe_load(PLAN.read_text(encoding="utf-8")), core_pages()
    sessions = {name: Session(name, tuple(s["pages"]), tuple(s["exercises"]),
                              tuple(map(tuple, s["agenda"])), s["hard"], s["late"])
                for name, s in plan["sessions"].items()}
    tracks = {name: Track(name, t["title"], tuple(map(tuple, t["weeks"])), tuple(t["sets"]),
                          tuple(t["known"]))
              for name, t in plan["tracks"].items()}
    for session in sessions.values():
        _check_session(session, core)
    for track in tracks.values():
        _check_track(track, sessions, core, plan["problem_sets"])
    return sessions, tracks


def layers_of(core):
    """The pages in layers: each needs only pages above it, and one directly above it."""
    height = {}
    for name, page in core.items():  # which come in an order that respects what they need
        height[name] = 1 + max((height[need] for need in page.needs), default=-1)
    return [[name for name in core if height[name] == level]
            for level in range(max(height.values()) + 1)]


def direct_needs(core):
    """Pairs (page, what it needs), without those that follow from others."""
    all_needs = {}
    for name, page in core.items():
        all_needs[name] = set(page.needs).union(*(all_needs[need] for need in page.needs))
    return [(name, need) for name, page in core.items() for need in page.needs
            if not any(need in all_needs[other] for other in page.needs)]


def home_minutes(names, sessions, core, read=()):
    """Reading and exercises of some sessions, in minutes; a page that has been read counts once."""
    fresh = {page for name in names for page in sessions[name].pages} - set(read)
    reading = sum(core[page].minutes for page in fresh)
    stars = [core[page].exercises[label][0] for name in names for page in sessions[name].pages
             for label in sessions[name].exercises if label in core[page].exercises]
    return reading, sum(MINUTES[n] for n in stars)


def _check_session(session, core):
    minutes = sum(row[0] for row in session.agenda)
    if minutes != LENGTH:
        raise ValueError(f"the agenda of {session.name} has {minutes} minutes, not {LENGTH}")
    there = {label: stars for page in session.pages
             for label, (stars, _) in core[page].exercises.items()}
    for label in session.exercises:
        if there.get(label) not in MINUTES:
            raise ValueError(f"{session.name} sets {label}, which is no exercise of one or two "
                             f"stars on {', '.join(session.pages)}")


def _check_track(track, sessions, core, problem_sets):
    read = set(track.known)
    for week, number in zip(track.weeks, track.sets, strict=True):
        before = set(read)
        for name in week:
            for page in sessions[name].pages:
                missing = set(core[page].needs) - read - set(sessions[name].pages)
                if missing:
                    raise ValueError(f"track {track.name}: {page} needs "
                                     f"{', '.join(sorted(missing))}, which has not been read")
            read |= set(sessions[name].pages)
        missing = set(problem_sets[number]) - read if number else ()
        if missing:
            raise ValueError(f"track {track.name}: problem set {number} needs "
                             f"{', '.join(sorted(missing))}, which has not been read")
        work = sum(home_minutes(week, sessions, core, before)) + PROBLEM_SET * bool(number)
        if work > MOST:
            raise ValueError(f"track {track.name}: {' and '.join(week)} take {work} minutes at "
                             f"home, more than {MOST}")
