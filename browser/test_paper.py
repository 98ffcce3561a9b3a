"""Two built pages printed and bound, on paper and for e-readers, and every deck of slides."""

import os
import re
import sys
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from pypdf import PdfReader

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import bind_book  # noqa: E402
import epub  # noqa: E402
import print_book  # noqa: E402

from course import session_slides  # noqa: E402
from course.numbers import numbers  # noqa: E402
from tools import slides  # noqa: E402

EVERY = max(int(os.environ.get("EVERY", "1")) // 3, 1)  # CI opens every second deck


@pytest.fixture(scope="module")
def bound(chromium, tmp_path_factory):
    """Two chapters as one file, and where the second begins."""
    target = tmp_path_factory.mktemp("paper") / "core.pdf"
    which = [row for row in print_book.chosen(everything=False)
             if row[-1].stem in ("bracketing", "normals")]
    page = print_book.paper(chromium)
    places = print_book.places_of(which)
    printed = [print_book.print_page(page, path, places) for *_, path in which]
    page.close()
    length = bind_book.bind(chromium, (which, printed), target)
    reader = PdfReader(target)
    assert length == len(reader.pages) == 2 + sum(len(part.pages) for _, part in printed)
    return reader, 2 + len(printed[0][1].pages)


def test_the_contents_say_where_chapters_begin(bound):
    reader, second = bound
    contents = reader.pages[1].extract_text()
    assert re.search(rf"Bracketing.*\s3\b[\s\S]*Normals.*\s{second + 1}\b", contents)
    assert "Normals" in reader.pages[second].extract_text()
    title, part, chapters = reader.outline
    assert title.title == "Deconstructing Kernel Machines" and part.title.startswith("Part II.")
    assert [item.title.split(".")[0] for item in chapters] == ["10", "11"]
    ends = [reader.get_page_number(a.get_object()["/Dest"][0].get_object())
            for a in reader.pages[1]["/Annots"]]
    assert ends == [2, second]


def test_pages_have_numbers(bound):
    reader, _ = bound
    for i in range(2, len(reader.pages)):
        assert re.search(rf"(?:^|\n){i + 1}\s*$", reader.pages[i].extract_text())


def test_pages_have_running_heads(bound):
    reader, second = bound
    assert reader.pages[second].extract_text().count("Normals: the direction") == 1  # its title
    assert "Normals: the direction" in reader.pages[second + 3].extract_text()


def test_links_stay_in_the_file_or_lead_to_the_web(bound):
    reader, second = bound
    links = []
    for number, page in enumerate(reader.pages):
        for annotation in page.get("/Annots", ()):
            link = annotation.get_object()
            assert not str(link.get("/A", {}).get("/URI", "")).startswith("file:")
            if "/Dest" in link:
                links.append((number, reader.get_page_number(link["/Dest"][0].get_object())))
    assert any(here >= second and there == 2 for here, there in links)  # to the first chapter
    assert any(here >= second and there > second for here, there in links)  # inside the second


def test_links_to_other_chapters_say_the_page(bound):
    reader, second = bound
    ends, said = set(), set()
    for page in reader.pages[second:]:
        said |= {int(n) for n in re.findall(r"\[p\.\s(\d+)\]", page.extract_text())}
        for annotation in page.get("/Annots", ()):
            sheet, _, _, top, _ = annotation.get_object().get("/Dest", [None] * 5)
            number = sheet and reader.get_page_number(sheet.get_object())
            if number is not None and number < second:
                ends.add((number, float(top)))
    assert {number + 1 for number, _ in ends} == said
    assert (2, bind_book.SHEET[1]) in ends


def test_a_link_leads_to_its_place_in_another_chapter(chromium, tmp_path):
    link = '<a class="reference internal" href="two.html#far">there</a>'
    bodies = {"one": f"<p>Look {link}.</p>", "two": '<div style="height: 1500px"></div>'
              '<h2 id="far">The place</h2>'}
    for name, body in bodies.items():
        (tmp_path / f"{name}.html").write_text(
            f'<article class="bd-article"><h1>{name}</h1>{body}</article>', "utf-8")
    rows = [("Part", False, tmp_path / f"{name}.html") for name in bodies]
    page, places = print_book.paper(chromium), print_book.places_of(rows)
    printed = [print_book.print_page(page, path, places) for *_, path in rows]
    page.close()
    bind_book.bind(chromium, (rows, printed), tmp_path / "core.pdf")

    # the second sheet of the second chapter, of which the number stands beside the link
    reader = PdfReader(tmp_path / "core.pdf")
    assert "The place" in reader.pages[4].extract_text()
    assert re.search(r"Look there\s.*\[p\.\s5\]", reader.pages[2].extract_text(), re.S)
    sheet, _, _, top, _ = reader.pages[2]["/Annots"][0].get_object()["/Dest"]
    assert reader.get_page_number(sheet.get_object()) == 4 and 300 < top < 600  # of 842 points


def test_a_live_figure_is_its_still_picture(bound):
    reader, second = bound
    pages = [(i, page.extract_text()) for i, page in enumerate(reader.pages) if 2 <= i < second]
    i = next(i for i, text in pages if re.search(r"each\s+label\s+halves\s+the", text))
    assert any(name.name.endswith(".png") and max(name.image.size) > 700
               for page in (reader.pages[i - 1], reader.pages[i]) for name in page.images)


def test_answers_stand_at_the_end(bound):
    reader, second = bound
    text = "".join(page.extract_text() for page in reader.pages[2:second])
    questions, answers = text.split("Answers and solutions")
    assert "Exercises" in questions and "Solution to Exercise" not in questions
    assert "Solution to Exercise" in answers and "Check yourself 1" in answers


@pytest.fixture(scope="module")
def for_e_readers(tmp_path_factory):
    """The files of an EPUB of two chapters, by name, XHTML and SVG as trees."""
    target = tmp_path_factory.mktemp("epub") / "two.epub"
    epub.bind([row for row in print_book.chosen(everything=False)
               if row[-1].stem in ("bracketing", "kernel-machines")], target)
    with ZipFile(target) as archive:
        assert archive.namelist()[0] == "mimetype"
        return {Path(name).name: ElementTree.fromstring(archive.read(name))
                for name in archive.namelist() if name.endswith((".xhtml", ".svg"))}


def test_an_epub_has_formulas_pictures_and_chapters(for_e_readers):
    texts = {name: "".join(tree.itertext()) for name, tree in for_e_readers.items()
             if name.endswith(".xhtml")}
    contents = texts.pop("nav.xhtml")
    assert re.search("Kernel machines as functions.*Bracketing", contents)
    assert not [name for name, text in texts.items() if r"\(" in text or r"\[" in text]
    chapters = [for_e_readers[name] for name, text in texts.items() if len(text) > 10_000]
    assert len(chapters) == 2
    for chapter in chapters:
        assert len(chapter.findall(".//{*}math")) > 50
        assert all(image.get("src").split("/")[-1] in for_e_readers or "png" in image.get("src")
                   for image in chapter.findall(".//{*}img"))
    assert any(name.endswith(".svg") for name in for_e_readers)


def test_links_of_an_epub_have_an_end(for_e_readers):
    marks = {name: {tag.get("id") for tag in tree.iter() if tag.get("id")}
             for name, tree in for_e_readers.items()}
    links = [(name, link.get("href")) for name, tree in for_e_readers.items()
             for link in tree.findall(".//{*}a[@href]") if ":" not in link.get("href")]
    assert len(links) > 50
    for name, address in links:
        target, _, mark = address.partition("#")
        assert not mark or mark in marks[Path(target).name or name], address


def test_pictures_of_an_epub_have_every_name_once():
    pictures = list((print_book.SITE / "_images").glob("*.svg"))
    texts = [picture.read_text("utf-8") for picture in pictures]
    names = [re.findall(r'\sid="([^"]*)"', epub.as_epub_wants(text)) for text in texts]
    assert all(len(set(some)) == len(some) for some in names)
    for before, after in zip(texts, names, strict=True):  # and none is lost
        assert set(re.findall(r'\sid="([^"]*)"', before)) == set(after)
    assert any(text.count(f' id="{name}"') > 1 for text, some in zip(texts, names, strict=True)
               for name in some)


def test_entries_of_the_bibliography_have_no_role_that_is_out_of_use():
    path = next(row[-1] for row in print_book.chosen(everything=True)
                if row[-1].stem == "bibliography")
    assert "doc-biblioentry" in path.read_text("utf-8")
    article = epub.article_of(path, {path: epub.name_of(path)})
    assert "kanamori" in article.lower() and "doc-biblioentry" not in article


def test_answers_of_an_epub_stand_at_the_end(for_e_readers):
    text = next("".join(tree.itertext()) for name, tree in for_e_readers.items()
                if name.startswith("ch") and "Bracketing" in "".join(tree.itertext()))
    questions, answers = text.split("Answers and solutions")
    assert "Exercises" in questions and "Solution to Exercise" not in questions
    assert "Solution to Exercise" in answers and "Check yourself 1" in answers


def test_every_deck_fits_its_slides(chromium, capsys):
    slides.main()
    session_slides.write_decks()
    page, faults = chromium.new_page(viewport={"width": 1280, "height": 720}), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda request: faults.append(request.url))
    decks = sorted(path for path in (slides.SITE / "slides").glob("*.html")
                   if path.stem not in ("index", "sessions"))
    assert len(decks) > 40
    for path in decks[::EVERY]:
        page.goto(path.as_uri())
        page.evaluate("MathJax.startup.promise")
        if path.stem.startswith("session-"):  # live figures are opened when they are near
            for number in page.evaluate("""slides.map((s, i) => s.querySelector('.decon-live')
                    ? i : -1).filter((i) => i >= 0)"""):
                page.evaluate(f"go({number})")
                page.wait_for_selector(f"section:nth-of-type({number + 1}) .live-frame")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
        page.evaluate("fitAll()")
        tall = page.evaluate("""slides.filter((s) => s.getBoundingClientRect().height > 721)
            .map((s) => s.textContent.trim().slice(0, 60))""")
        faults += [f"{path.stem}, too tall: {text}" for text in tall]
        wide = page.evaluate("""[...document.querySelectorAll('main > section')]
            .filter((s) => s.scrollWidth > 1281
                || [...s.querySelectorAll('pre')].some((e) => e.scrollWidth > e.clientWidth + 1))
            .map((s) => s.textContent.trim().slice(0, 60))""")
        faults += [f"{path.stem}: {text}" for text in wide]
        if page.locator("mjx-merror").count():
            faults.append(f"{path.stem}: a formula")
    page.keyboard.press("End")
    page.wait_for_function("document.querySelector('main > section:last-child')"
                           ".getBoundingClientRect().top < 10")
    page.close()
    assert not faults, "\n".join(faults)


def test_a_handout_has_two_slides_on_a_page_and_no_links(chromium):
    name = session_slides.write_decks()["which-kernel"]
    path = slides.SITE / "slides" / name
    page = chromium.new_page()
    page.route("**/live.js*", lambda route: route.abort())
    written = BytesIO()
    session_slides.handout(page, path).write(written)
    sheets = PdfReader(written).pages
    count = path.read_text("utf-8").count('<span class="number">')
    page.close()
    assert len(sheets) == -(-count // 2)
    assert not any(sheet.get("/Annots") for sheet in sheets)
    text = "".join(sheet.extract_text() for sheet in sheets)
    assert "Which kernel" in text and "The plan of this session" not in text


def test_students_find_the_numbers_of_the_book():
    found = {}
    for path in (print_book.SITE / "book").rglob("*.html"):
        html = path.read_text("utf-8")
        found |= dict(re.findall(r'id="equation-([^"]+)">\s*<span class="eqno">\(([\d.]+)\)', html))
        found |= dict(re.findall(r'<figure[^>]*id="([^"]+)"[^>]*>(?:(?!</figure>).)*?'
                                 r'class="caption-number">Fig\. ([\d.]+) ', html, re.S))
    assert found == {label.lower(): number for label, number in numbers().items()}
    assert len(found) > 400
