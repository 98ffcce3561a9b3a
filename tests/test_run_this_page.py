"""The project as an archive, and what the head of a page says."""

import subprocess
from zipfile import ZipFile

from docutils import nodes

from tools.run_this_page import NAME, project_files, write_archive


def test_the_archive_holds_what_git_tracks_and_is_the_same_every_time(tmp_path):
    root = tmp_path / "project"
    (root / "book").mkdir(parents=True)
    for name in ("README.md", "book/page.ipynb", "secret.log"):
        (root / name).write_text(name)
    (root / ".gitignore").write_text("*.log\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for target in ("one.zip", "two.zip"):
        write_archive(root, tmp_path / target)
    with ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == [f"{NAME}/{name}" for name in
                                      (".gitignore", "README.md", "book/page.ipynb")]
        assert archive.read(f"{NAME}/README.md") == b"README.md"
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_without_git_nothing_that_a_build_makes_is_packed(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    for name in ("README.md", "_build/page.html", ".venv/x", "decon/__pycache__/x.pyc"):
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text("")
    assert project_files(tmp_path / "p") == [tmp_path / "p/README.md"]


def test_a_description_is_the_first_paragraph_cut_at_a_word():
    from tools.page_head import LENGTH, description

    def page(text):
        document, section = nodes.Element(), nodes.section()
        section += nodes.title("", "Title")
        section += nodes.paragraph("", text)
        document += section
        return document

    assert description(page("Short,\nand whole.")) == "Short, and whole."
    cut = description(page("word " * 100))
    assert len(cut) <= LENGTH + 2 and cut.endswith("word …")
    assert description(nodes.Element()) == ""
