"""The plan of the course adds up, and its notebooks for students have no solutions."""

import re
from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient

from course import plan
from course.kit import PLACE, build, sessions_text, without_solutions
from tools.reading_time import ROOT, exercise_minutes, length_of, pages


@pytest.fixture(scope="module")
def core():
    return plan.core_pages()


@pytest.fixture(scope="module")
def loaded():
    return plan.load()


def test_minutes_are_those_of_the_pages(core, loaded):
    for part, depth, path in pages():
        if part.startswith("Part ") and not depth:
            name = path.relative_to(ROOT / "book").with_suffix("").as_posix()
            cells = plan.cells_of(path)
            assert core[name].minutes == length_of(cells).minutes
            assert exercise_minutes(cells) == sum(
                plan.MINUTES.get(stars, 0) for stars, _ in core[name].exercises.values())
    sessions, _ = loaded
    reading, exercises = plan.home_minutes(["kernel-trick"], sessions, core)
    assert (reading, exercises) == (core["kernels/what-is-a-kernel"].minutes, 5 + 5 + 30)
    assert plan.home_minutes(["kernel-trick"], sessions, core, ["kernels/what-is-a-kernel"])[0] == 0


def test_prerequisites_come_first_in_the_book(core):
    order = list(core)
    for page in core.values():
        assert all(order.index(name) < order.index(page.name) for name in page.needs)
    assert sum(bool(page.needs) for page in core.values()) >= len(core) - 2


def test_the_graph_is_without_detours(core):
    layers = plan.layers_of(core)
    level = {name: i for i, names in enumerate(layers) for name in names}
    assert sorted(level) == sorted(core)
    pairs = plan.direct_needs(core)
    for name, need in pairs:
        assert level[need] < level[name]
    reach = {name: {need for other, need in pairs if other == name} for name in core}
    for name in core:  # in reading order
        reach[name] = reach[name].union(*(reach[need] for need in reach[name]))
        assert set(core[name].needs) <= reach[name]
    for pair in pairs:  # each is needed: without it, the page is not reached any more
        rest = [other for other in pairs if other != pair]
        seen, open_ = set(), [pair[0]]
        while open_:
            here = open_.pop()
            seen.add(here)
            open_ += [need for name, need in rest if name == here and need not in seen]
        assert pair[1] not in seen


def test_the_full_track_needs_no_page_that_it_has_not(loaded):
    sessions, tracks = loaded
    assert set(tracks) == {"full", "kernels", "security"}
    assert len(sum(tracks["full"].weeks, ())) == 16
    assert all(len(week) == 2 for track in tracks.values() for week in track.weeks)
    assert tracks["full"].weeks[:4] == tracks["kernels"].weeks


def test_mistakes_in_a_plan_are_named(core, loaded):
    sessions, tracks = loaded
    short = replace(sessions["margin"], agenda=((10, "proof", "one"),))
    with pytest.raises(ValueError, match="margin has 10 minutes, not 90"):
        plan._check_session(short, core)
    for label in ("ex-maximum-margin-8", "ex-bracketing-1"):  # a project; one of another page
        with pytest.raises(ValueError, match=f"margin sets {label}"):
            plan._check_session(replace(sessions["margin"], exercises=(label,)), core)
    swapped = replace(tracks["kernels"], weeks=tracks["kernels"].weeks[::-1])
    with pytest.raises(ValueError, match="kernels/constructing-kernels needs kernels/soft-margin"):
        plan._check_track(replace(swapped, sets=(None,) * 4), sessions, core, {})
    full = replace(tracks["kernels"], weeks=(sum(tracks["kernels"].weeks, ()),), sets=(None,))
    with pytest.raises(ValueError, match="minutes at home, more than 360"):
        plan._check_track(full, sessions, core, {})
    early = replace(tracks["kernels"], sets=(None, 3, None, None))
    with pytest.raises(ValueError, match="problem set 3 needs kernels/smo, which has not"):
        plan._check_track(early, sessions, core, {3: ["kernels/duality", "kernels/smo"]})


def test_a_late_session_knows_what_ten_minutes_to_leave_out(loaded):
    for session in loaded[0].values():
        saved = re.findall(r"\((\d+)(?: to \d+)?(?: minutes)?\)", session.late)
        assert sum(map(int, saved)) >= 10, session.name


def test_every_session_is_in_the_text(loaded):
    text = sessions_text()
    for session in loaded[0].values():
        assert f"## {session.name}\n" in text and session.hard in text


def markdown(notebook):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kit")
    build(folder)
    return folder


def test_students_get_exercises_with_places_and_no_solutions(kit):
    found = 0
    for path in (kit / "student").rglob("*.ipynb"):
        student = nbformat.read(path, 4)
        nbformat.validate(student)
        lecturer = nbformat.read(kit / "lecturer" / path.relative_to(kit / "student"), 4)
        text, all_text = markdown(student), markdown(lecturer)
        count = len(re.findall(r"^`{3,}\{exercise(?:-start)?\}", all_text, re.M))
        assert len(re.findall(r"^`{3,}\{exercise(?:-start)?\}", text, re.M)) == count
        assert sum(cell.source == PLACE for cell in student.cells) == count
        assert "{solution" not in text and not any(
            cell.get("outputs") for cell in student.cells if cell.cell_type == "code")
        for solution in re.findall(r"\{solution\} .*?\n:class: dropdown\n+(.+)", all_text):
            assert solution.strip() not in text
        found += count
    assert found > 250
    assert not (kit / "student/book/for-instructors.ipynb").exists()
    assert (kit / "student/experiments/five_kernels.json").exists()
    assert "{exercise} ★ Classify" in markdown(
        nbformat.read(kit / "student/book/related-work.ipynb", 4))


def test_the_plan_of_students_has_every_week_and_no_remarks_for_lecturers(kit, loaded):
    sessions, tracks = loaded
    text = (kit / "student/plan.md").read_text("utf-8")
    assert text.count("**Week ") == sum(len(track.weeks) for track in tracks.values())
    for address in re.findall(r"\]\((book/[^)]+)\)", text):
        assert (kit / "student" / address).exists()
    assert text.count("(problems/") == sum(
        number is not None for track in tracks.values() for number in track.sets)
    for session in sessions.values():
        assert session.hard not in text and session.late not in text
        assert not any(remark in text for _, _, remark in session.agenda)


def test_links_and_references_of_students_lead_somewhere(kit):
    for path in (kit / "student").rglob("*.ipynb"):
        text = markdown(nbformat.read(path, 4))
        assert "[](" not in text and not re.search(r"\{(?:prf:ref|numref|ref|cite:\w)\}`", text)
        assert not re.search(r"\{eq\}`|\$\$ \(eq-|\{math\}|\{bibliography\}", text), path.name
        for address in re.findall(r"(?<!!)\[[^]]*\]\(([^)#:\s]+\.(?:ipynb|md))(?:#[^)]*)?\)", text):
            assert (path.parent / address).exists(), (path.name, address)
    captions = sum(cell.source.startswith("*Fig. ")
                   for path in (kit / "student").rglob("*.ipynb")
                   for cell in nbformat.read(path, 4).cells)
    assert captions > 200


def test_the_first_notebook_of_students_runs(kit):
    notebook = nbformat.read(kit / "student/book/intro.ipynb", 4)
    NotebookClient(notebook, timeout=120, resources={
        "metadata": {"path": kit / "student/book"}}).execute()
    assert any("image/svg+xml" in output.get("data", {}) or "image/png" in output.get("data", {})
               for cell in notebook.cells for output in cell.get("outputs", ()))


def test_a_solution_that_goes_over_several_cells_is_left_out():
    cells = [nbformat.v4.new_markdown_cell(
        "Before.\n\n```{exercise} ★ Count\n:label: ex-a\nHow many?\n```\n\n"
        "```{solution-start} ex-a\n:class: dropdown\n```\n\nSecret"),
        nbformat.v4.new_code_cell("secret()"), nbformat.v4.new_markdown_cell("More.\n"),
        nbformat.v4.new_markdown_cell("Still.\n\n```{solution-end}\n```\n\nAfter."),
        nbformat.v4.new_code_cell("shown()")]
    student = without_solutions(nbformat.v4.new_notebook(cells=cells))
    assert [cell.source for cell in student.cells] == [
        "Before.\n\n```{exercise} ★ Count\n:label: ex-a\nHow many?\n```", PLACE, "", "After.",
        "shown()"]
    with pytest.raises(ValueError, match="not closed"):
        without_solutions(nbformat.v4.new_notebook(cells=[
            nbformat.v4.new_markdown_cell("```{solution} ex-a\nopen")]))
