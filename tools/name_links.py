"""A Sphinx extension: names of `decon` in code font link to their docstrings.

On each page the first use of a name, such as `Oracle.from_examples` or `deconstruct(oracle, X)`,
becomes a link, if the reference has exactly one object of that name.
"""

import re
from collections import defaultdict

from docutils import nodes
from glossary_links import SILENT, link, prose


def names_of(objects):
    """{name: (page, anchor)}: full names, and their last parts where these mean one object."""
    short = defaultdict(set)
    for full, entry in objects.items():
        parts = full.split(".")
        least = {"module": len(parts), "function": 1, "class": 1, "exception": 1}
        for i in range(len(parts) - least.get(entry.objtype, 2) + 1):
            short[".".join(parts[i:])].add((entry.docname, entry.node_id))
    return {name: places.copy().pop() for name, places in short.items() if len(places) == 1}


def link_names(app, doctree, page):
    """Put the links onto a page."""
    if app.builder.format != "html" or set(page.split("/")) & set(SILENT):
        return
    names, seen = names_of(app.env.get_domain("py").objects), set()
    for node, _ in list(prose(doctree)):
        name = isinstance(node, nodes.literal) and re.sub(r"\(.*\)$", "", node.astext(), flags=re.S)
        if name in names and names[name] not in seen:
            seen.add(names[name])
            node.parent.replace(node, link(app, page, *names[name], node.deepcopy()))


def setup(app):
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
