"""A Sphinx extension: terms link to the glossary, and its entries to the pages that use them.

The sources stay as they are: links are made while the book is built, on every page there is.

The first use of a term on a page, best where it is printed in bold, links to its entry: at most
`MOST` terms a page, first those in bold, then those that the fewest pages use. An entry ends with
the pages that use its term most, behind the one that it names itself, its home. Of an entry with
the comment `% ordinary word` only uses in bold count; a term with a remark in parentheses, such
as "margin (of an example)", counts in the chapter of its home only.
"""

import re
from collections import Counter, defaultdict

from docutils import nodes
from sphinx import addnodes

MOST, PAGES = 15, 5  # links to the glossary on a page; pages that an entry adds to its home
SILENT = ("glossary", "api", "bibliography")  # pages and folders without these links
SKIPPED = (nodes.title, nodes.caption, nodes.table, nodes.FixedTextElement, nodes.math,
           nodes.reference, nodes.footnote, nodes.rubric, addnodes.pending_xref)


class Glossary:
    """The terms of the glossary: {term: (key of its entry, home of the entry, ordinary word?)}."""

    def __init__(self, entries):
        self.entries, self.senses, words = entries, {}, set()
        for term in entries:  # "margin" means "margin (of an example)" or "margin (of ...)"
            word = re.sub(r" \(.*", "", term).replace("’", "'")
            self.senses.setdefault(word.lower(), []).append(term)
            words.add(word)
        forms = [f"[{word[0].lower()}{word[0].upper()}]"
                 + re.escape(word[1:]).replace(r"\ ", r"\s+").replace("'", "['’]")
                 for word in sorted(words, key=len, reverse=True)]
        forms = [f"{f[:-1]}(?:y|ies)" if f[-1] == "y" else f"{f}(?:s|es)?" for f in forms]
        self.pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(forms) or '(?!)'})(?![\w-])")

    def name(self, text):
        """The term, without its remark, of which a text is the singular or plural; or None."""
        text = re.sub(r"\s+", " ", text.lower()).replace("’", "'")
        forms = text, text[:-1], text[:-2], text[:-3] + "y"
        return next((form for form in forms if form in self.senses), None)

    def bold(self, text, page):
        """The same for a text in bold, which at home may be the first words of a term."""
        begun = [name for name in self.senses if name.startswith(text.lower() + " ") and any(
            at_home(page, self.entries[term][1]) for term in self.senses[name])]
        return self.name(text) or (begun[0] if len(begun) == 1 else None)

    def find(self, text, page, bold):
        """The entries that a text uses, each as (key, in bold?, begin, end)."""
        match = re.match(r"\s*(.+?)[\s.:,]*$", text, re.S) if bold else None
        whole = match and self.bold(match[1], page)
        bold = bool(whole)  # a term inside a longer phrase in bold is not defined there
        found = [(whole, *match.span(1))] if whole else [
            (self.name(match[0]), *match.span()) for match in self.pattern.finditer(text)]
        for name, begin, end in found:
            for term in self.senses[name]:
                key, home, ordinary = self.entries[term]
                if (bold or not ordinary) and ("(" not in term or at_home(page, home)):
                    yield key, bold, begin, end
                    break


def at_home(page, home):
    """Whether a page is the core page or a depth page of the chapter of an entry's home."""
    return page == home or page.startswith(f"{home}-")


def prose(node, bold=False):
    """The texts and code words of a page that may become links; each with: is it in bold?"""
    for child in node.children:
        if isinstance(child, nodes.Text | nodes.literal):
            yield child, bold
        elif not (isinstance(child, SKIPPED) or type(child).__name__ == "solution_node"
                  or type(child).__name__.endswith("title")
                  or {"dropdown", "cell_output"} & set(child.get("classes", ()))):
            yield from prose(child, bold or isinstance(child, nodes.strong))


def uses(doctree, page, glossary):
    """{key: its uses on a page}, each as (in bold?, begin, end, text), in the order of reading."""
    found, late = defaultdict(list), set()
    for section in doctree.findall(nodes.section):
        if re.match("Further reading|Exercises", section[0].astext()):  # no definitions there
            late |= {id(text) for text, _ in prose(section)}
    for text, bold in prose(doctree):
        if isinstance(text, nodes.Text):
            for key, *place in glossary.find(str(text), page, bold and id(text) not in late):
                found[key].append((*place, text))
    return found


def gather(app, env):
    """When all pages have been read: what the entries are, and which page uses which."""
    entries = {}
    for page in sorted({page for page, _ in env.get_domain("std")._terms.values()}):
        for item in env.get_doctree(page).findall(nodes.definition_list_item):
            terms = [node for node in item.children if isinstance(node, nodes.term)]
            home = [node["reftarget"] for node in item.findall(addnodes.pending_xref)
                    if node["refdomain"] == "doc"]
            ordinary = any("ordinary word" in node.astext()
                           for node in item.findall(nodes.comment))
            for term in filter(lambda term: term["ids"], terms):
                entries[term.astext()] = terms[0]["ids"][0], (home or [""])[0], ordinary
    env.term_glossary, env.term_uses = Glossary(entries), {}
    for page in reading_order(env, env.config.root_doc):
        if not set(page.split("/")) & set(SILENT):
            found = uses(env.get_doctree(page), page, env.term_glossary)
            env.term_uses[page] = {key: (len(places), any(place[0] for place in places))
                                   for key, places in found.items()}


def reading_order(env, page):
    """A page and those below it in the table of contents."""
    return [page] + [p for below in env.toctree_includes.get(page, ())
                     for p in reading_order(env, below)]


def chosen(env, page):
    """The entries to which a page links."""
    pages = Counter(key for used in env.term_uses.values() for key in used)
    used = env.term_uses.get(page, {})
    return sorted(used, key=lambda key: (not used[key][1], pages[key]))[:MOST]


def link(app, page, target, anchor, text, **attributes):
    """A link from a page to an anchor of another."""
    address = app.builder.get_relative_uri(page, target) + (anchor and f"#{anchor}")
    return nodes.reference("", "", text, refuri=address, internal=True, **attributes)


def link_page(app, doctree, page):
    """Put the links onto a page."""
    if app.builder.format != "html" or not (env := app.env).term_glossary.entries:
        return
    target = next(iter(env.get_domain("std")._terms.values()))[0]
    if page == target:
        list_pages(app, doctree, page)
    if page not in env.term_uses:
        return
    found, places = uses(doctree, page, env.term_glossary), defaultdict(list)
    for key in filter(found.get, chosen(env, page)):
        _, begin, end, text = min(found[key], key=lambda place: not place[0])  # the first of those
        places[id(text)].append((begin, end, key, text))
    for spans in places.values():
        text, parts, done = spans[0][3], [], 0
        for begin, end, key, _ in sorted(spans, key=lambda span: span[:2]):
            parts += [nodes.Text(text[done:begin]),
                      link(app, page, target, key, nodes.Text(text[begin:end]),
                           ids=[f"use-{key}"], classes=["glossary-term"])]
            done = end
        text.parent.replace(text, parts + [nodes.Text(text[done:])])


def list_pages(app, doctree, page):
    """Add to each entry of the glossary the pages that use it, in the order of reading."""
    env = app.env
    homes = {key: home for key, home, _ in env.term_glossary.entries.values()}
    for item in doctree.findall(nodes.definition_list_item):
        key = item[0]["ids"][0] if item[0]["ids"] else None
        others = [name for name, used in env.term_uses.items()
                  if key in used and name != homes[key]]
        most = sorted(others, key=lambda name: -env.term_uses[name][key][0])[:PAGES]
        line = nodes.paragraph("", "Also in: ", classes=["term-pages"])
        titles = {name: env.titles[name].astext() for name in others if name in most}
        short = [title.split(":")[0] for title in titles.values()]
        for i, (name, title) in enumerate(titles.items()):
            title = nodes.Text(short[i] if short.count(short[i]) == 1 else title)
            anchor = f"use-{key}" if key in chosen(env, name) else ""
            line += [nodes.Text(" · ")] * (i > 0) + [link(app, page, name, anchor, title)]
        if most:
            item[-1].append(line)


def setup(app):
    app.connect("env-updated", gather)
    app.connect("doctree-resolved", link_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
