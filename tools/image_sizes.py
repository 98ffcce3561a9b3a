"""A Sphinx extension: pictures have their size from the beginning, and letters that can be read.

Width and height of each picture stand in the page, so that nothing moves while it loads. On a
narrow screen a picture shrinks as long as its letters stay `READABLE` pixels high; then its box
scrolls.
"""

import re
import struct
from pathlib import Path

IMAGE = re.compile(r'<img ([^>]*?)src="([^"]*?_images/([^"]+))"([^>]*)>')
READABLE = 9.0  # height of letters, in pixels of the page
INCH = 96  # pixels of the page


def size_of(path):
    """Width and height of a PNG or SVG in pixels of the page, and its smallest letters, or None."""
    data = Path(path).read_bytes()
    if data.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", data[16:24])
        place = data.find(b"pHYs")
        per_metre = struct.unpack(">I", data[place + 4:place + 8])[0] if place > 0 else 100 / 0.0254
        scale = INCH / round(per_metre * 0.0254)
    else:
        found = re.search(rb'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"', data)
        if found is None:
            return None
        (width, height), scale = map(float, found.groups()), INCH / 72
    letters = re.search(rb"smallest letters: ([\d.]+) pt", data)
    return width * scale, height * scale, float(letters[1]) * INCH / 72 if letters else None


def with_size(match, file):
    """The tag of a picture with its size."""
    before, address, _, after = match.groups()
    size = None if "width=" in before + after else size_of(file)
    if size is None:
        return match[0]
    width, height, letters = size
    least = f' style="min-width: {min(1, READABLE / letters) * width:.0f}px"' if letters else ""
    return (f'<span class="picture"><img {before}src="{address}"{after.rstrip("/ ")} '
            f'width="{width:.0f}" height="{height:.0f}" loading="lazy" decoding="async"{least}>'
            '</span>')


def add_sizes(app, page, template, context, doctree):
    """Put sizes into the tags of a page."""
    if app.builder.format == "html" and "body" in context:
        sources = {name: app.srcdir / source for source, name in app.builder.images.items()}
        def size(match):
            source = sources.get(match[3])
            return with_size(match, source) if source else match[0]
        context["body"] = IMAGE.sub(size, context["body"])


def setup(app):
    app.connect("html-page-context", add_sizes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
