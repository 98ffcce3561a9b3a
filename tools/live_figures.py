"""A Sphinx extension: the script, the style and the stills of the live figures."""

import hashlib
import re
from pathlib import Path

from sphinx.util import logging

from decon.teaching.live import HERE, script

STILLS = Path(__file__).parents[1] / "book/_static/stills"
PLACE = re.compile(r'<div class="decon-live" data-figure="(\w+)" data-data="[^"]*">')


def still_name(page, figure):
    """The file of the still of a figure on a page, `deconstruction/bracketing` say."""
    digest = hashlib.sha256((HERE / f"{figure}.js").read_bytes()).hexdigest()[:8]
    return f"{page.rsplit('/', 1)[-1]}-{figure}-{digest}.png"


def write(app):
    """Write both files into the built site."""
    folder = app.outdir / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "live.js").write_text(script(), encoding="utf-8")
    (folder / "live.css").write_text((HERE / "live.css").read_text("utf-8"), encoding="utf-8")


def load(app, page, template, context, doctree):
    """Load them on a page with a live figure, which has a picture where no script runs."""
    if not PLACE.search(context.get("body", "")):
        return
    app.add_css_file("live.css")
    app.add_js_file("live.js", loading_method="defer")

    def with_still(place):
        name = still_name(page, place[1])
        if not (STILLS / name).exists():
            logging.getLogger(__name__).warning("no still %s: run `make stills`", name)
        address = context["pathto"](f"_static/stills/{name}", resource=True)
        return f'{place[0]}<noscript><img src="{address}" width="720" alt=""></noscript>'

    context["body"] = PLACE.sub(with_still, context["body"])


def setup(app):
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
