"""A Sphinx extension: from a page to its code, and the whole project as one archive.

Every notebook page ends with the way to run it; the archive holds what git tracks.
"""

import subprocess
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

NAME = "deconstructing-kernel-machines"
ARCHIVE = f"_static/{NAME}.zip"
HIDDEN = ("_build", "__pycache__", ".venv", ".git", ".ipynb_checkpoints")
BOX = """
<aside class="run-this-page" aria-label="Run this page">
<p><strong>Run this page.</strong> <a href="{archive}" download>The whole project</a>
({size:.0f} MB) has this page as <code>{notebook}</code>. Unpacked, it starts with two lines:</p>
<div class="highlight"><pre>make .venv/.installed
.venv/bin/jupyter lab {notebook}</pre></div>
<p><a href="{source}" download>The notebook alone</a> ·
<a href="{modules}">source of the module</a></p>
</aside>
"""


def project_files(root):
    """What belongs to the project: what git tracks or, without git, what is not made by a build."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted(root / name for name in listed.stdout.split("\0")
                      if name and (root / name).is_file())
    return sorted(path for path in root.rglob("*") if path.is_file()
                  and not any(part in HIDDEN for part in path.relative_to(root).parts))


def write_archive(root, target):
    """Put the project into one file, with the same bytes for the same project."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for path in project_files(root):
            entry = ZipInfo(f"{NAME}/{path.relative_to(root).as_posix()}")
            entry.external_attr = (path.stat().st_mode & 0o777 | 0o100000) << 16
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def write(app):
    """Write the archive into the built site."""
    if app.builder.format == "html":
        write_archive(Path(app.srcdir), app.outdir / ARCHIVE)


def add_box(app, page, template, context, doctree):
    """End a notebook's page with the way to run it."""
    source = Path(app.env.doc2path(page)) if page in app.env.found_docs else Path()
    if source.suffix != ".ipynb" or app.builder.format != "html":
        return
    link = context["pathto"]
    context["body"] += BOX.format(
        archive=link(ARCHIVE, 1), size=(app.outdir / ARCHIVE).stat().st_size / 1e6,
        notebook=f"{page}.ipynb", source=link(f"_sources/{page}.ipynb", 1),
        modules=link("_modules/index"))


def setup(app):
    app.connect("builder-inited", write)
    app.connect("html-page-context", add_box)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
