"""A Sphinx extension: what search engines and messengers show of a page, and no idle scripts.

The description of a page is its first paragraph. With `html: baseurl:` in _config.yml the addresses
in the head are full ones, as messengers need them.
"""

from html import escape

from docutils import nodes
from social_card import CARD

LENGTH = 200  # characters of a description


def description(doctree):
    """The first paragraph of the page's text, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            if len(text) <= LENGTH:
                return text
            return text[:LENGTH].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return ""


def fill_head(app, page, template, context, doctree):
    """Describe the page; leave out Thebe, which would need a server on the network."""
    context["script_files"] = [s for s in context["script_files"] if "thebe" not in
                               (s.attributes.get("body") or str(getattr(s, "filename", s))).lower()]
    if doctree is None:
        return
    base = app.config.html_baseurl.rstrip("/")
    card = f"{base}/{CARD}" if base else context["pathto"](CARD, 1)
    title = f"{context['title']} — {app.config.project}" if page != app.config.root_doc \
        else app.config.project
    shown = {"og:title": title, "og:type": "article", "og:image": card,
             "og:description": description(doctree), "twitter:card": "summary_large_image"}
    says = escape(shown["og:description"])
    context["metatags"] += f'\n<meta name="description" content="{says}">'
    context["metatags"] += "".join(f'\n<meta property="{name}" content="{escape(text)}">'
                                   for name, text in shown.items() if text)


def setup(app):
    app.connect("html-page-context", fill_head, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
