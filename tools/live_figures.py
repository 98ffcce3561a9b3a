"""A Sphinx extension: the script and the style of the live figures, on the pages that have some."""

from decon.teaching.live import HERE, script

PLACE = 'class="decon-live"'


def write(app):
    """Write both files into the built site."""
    folder = app.outdir / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "live.js").write_text(script(), encoding="utf-8")
    (folder / "live.css").write_text((HERE / "live.css").read_text("utf-8"), encoding="utf-8")


def load(app, page, template, context, doctree):
    """Load them on a page with a live figure."""
    if PLACE in context.get("body", ""):
        app.add_css_file("live.css")
        app.add_js_file("live.js", loading_method="defer")


def setup(app):
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
