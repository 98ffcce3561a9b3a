"""The book for e-readers: `make epub` binds the built pages with pandoc, formulas as MathML.

Answers and solutions stand at the end of their page; code that a page folds is left out, and a live
figure is its still picture. Links lead within the file, or to the web.
"""

import argparse
import posixpath
import re
import tempfile
from pathlib import Path

import pypandoc
from bind_book import TITLE
from bs4 import BeautifulSoup
from print_book import SITE, chosen
from reading_time import ROOT

STYLE = Path(__file__).with_suffix(".css")
ONLY_ON_SCREEN = ("script, button, .headerlink, .run-this-page, .toctree-wrapper, "
                  ".tag_hide-input > details, nav")


def name_of(path):
    """What the built page is called inside the file, the beginning of all its identifiers."""
    return path.relative_to(SITE).with_suffix("").as_posix().replace("/", ".")


def at_the_end(soup, article):
    """Answers and solutions, moved to their own section; an answer is named as its question."""
    answers = [box for box in article.select("div.solution, .admonition .dropdown.admonition")
               if not box.find_parent(class_="solution")]
    if not answers:
        return
    section = soup.new_tag("section")
    heading = soup.new_tag("h2")
    heading.string = "Answers and solutions"
    section.append(heading)
    for answer in answers:
        question = answer.find_parent(class_="admonition")
        if question and "solution" not in answer["class"]:
            title = question.select_one(".admonition-title").get_text()
            answer.select_one(".admonition-title").string = title
        section.append(answer.extract())
    article.append(section)


def in_this_file(article, path, names):
    """Identifiers that no other page has, and links and pictures as seen from this file."""
    here, name = path.relative_to(SITE).parent.as_posix(), name_of(path)
    seen = set()
    for tag in article.select("[id]"):
        place = tag["id"]
        del tag["id"]  # pandoc keeps those of some elements only
        if place not in seen:  # the proofs of a page share theirs
            mark = f'<span id="{name}--{place}"></span>'
            tag.insert(0, BeautifulSoup(mark, "html.parser"))
        seen.add(place)
    for link in article.select("a[href]"):
        address, _, place = link["href"].partition("#")
        if re.match(r"[a-z]+:", address):
            continue
        target = SITE / posixpath.normpath(posixpath.join(here, address)) if address else path
        if target in names:
            link["href"] = f"#{names[target]}--{place}" if place else f"#{names[target]}"
        else:
            link.unwrap()  # a page that this file does not have, or a notebook
    for image in article.select("img"):
        image["src"] = str((path.parent / image["src"]).resolve())
        for attribute in ("style", "loading", "decoding"):
            del image[attribute]


def without_sections(article):
    """Headings at the top level, where pandoc looks for them."""
    for section in article.select("section"):
        heading = section.find(re.compile("^h[1-6]$"), recursive=False)
        if heading is None:
            section.name = "div"  # of a theorem or an algorithm
            continue
        section.unwrap()


def article_of(path, names):
    """The article of a built page, one heading lower, as a reader of paper would want it."""
    soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    article = soup.select_one("article.bd-article")
    for still in article.select("noscript"):
        still.unwrap()
    for tag in article.select(ONLY_ON_SCREEN):
        tag.decompose()
    for title in article.select("p.admonition-title"):
        title.name = "div"  # pandoc forgets the class of a paragraph
    for entry in article.select("[role=doc-biblioentry]"):
        del entry["role"]  # which is out of use
    for code in article.select(".highlight-python pre, .highlight-ipython3 pre"):
        code["class"] = "python"
    at_the_end(soup, article)
    in_this_file(article, path, names)
    without_sections(article)
    for level in (5, 4, 3, 2, 1):
        for heading in article.select(f"h{level}"):
            heading.name = f"h{level + 1}"
    article.select_one("h2")["id"] = names[path]
    return article.decode_contents()


def as_epub_wants(picture):
    """An SVG without DTD, without a path that has no d, and with every id once.

    Matplotlib gives the same id to the same image shown twice; references find the first.
    """
    seen = set()

    def once(found):
        repeated = found[1] in seen
        seen.add(found[1])
        return "" if repeated else found[0]

    picture = re.sub(r"<!DOCTYPE[^>]*>", "", picture, count=1)
    picture = re.sub(r"<path (?![^>]*\bd=)", '<path d="" ', picture)
    return re.sub(r'\sid="([^"]*)"', once, picture)


def with_pictures(html, folder):
    """A file of the HTML, and copies of its SVGs."""
    for source in set(re.findall(r'src="(/[^"]*\.svg)"', html)):
        copy = folder / Path(source).name
        copy.write_text(as_epub_wants(Path(source).read_text("utf-8")), "utf-8")
        html = html.replace(source, str(copy))
    book = folder / "book.html"
    book.write_text(html, "utf-8")
    return book


def bind(which, target):
    """One file of the chosen pages, with the parts of the book above them."""
    names = {path: name_of(path) for *_, path in which}
    html, last = [], None
    for part, _, path in which:
        if part and part != last:
            html.append(f"<h1>{part}</h1>")
        last = part
        html.append(article_of(path, names))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(html).replace(r"\big/", "/")  # of which pandoc makes invalid MathML
        book = with_pictures(text, Path(folder))
        pypandoc.convert_file(book, "epub3", format="html+tex_math_single_backslash",
                              outputfile=target, extra_args=[
            "--mathml", "--toc-depth=2", "--split-level=2", f"--css={STYLE}", "--fail-if-warnings",
            f"--metadata=title:{TITLE}", "--metadata=lang:en-GB"])


def main():
    """Bind everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "_build/epub/book.epub")
    target = parser.parse_args().into
    bind(chosen(everything=True), target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
