"""Printed chapters bound to one file.

It has a title page, contents, an outline, page numbers and running heads; links lead to their
places in the file, and where a chapter leaves room, the number of that page stands beside them.
"""

from html import escape
from io import BytesIO

import yaml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject
from reading_time import ROOT

TITLE = "Deconstructing Kernel Machines"
EDITIONS = {"core": "The core pages", "everything": "All pages"}
PAPER = {"format": "A4", "print_background": True,
         "margin": {"top": "15mm", "bottom": "16mm", "left": "18mm", "right": "18mm"}}
SHEET = (595.92, 841.92)  # A4 in points, as Chromium prints it
MARK = "?page"  # in the address of a link that only holds the place of a page number
ROOM = 3.9  # ems that "[p. 123]" takes (print_book.css)
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
AUTHORS = ", ".join(author["name"] for author in CITATION["authors"])


def print_html(browser, html, **options):
    """A PDF of some HTML of our own."""
    page = browser.new_page()
    page.set_content(html)
    made = page.pdf(**PAPER | options)
    page.close()
    return PdfReader(BytesIO(made))


def contents(browser, chapters, starts, edition):
    """The title page and the table of contents; an entry leads to its page."""
    lines, last = [], None
    for (part, depth, path), (title, _), start in zip(*chapters, starts, strict=True):
        if part and part != last:
            lines.append(f"<h2>{escape(part)}</h2>")
        last = part
        lines.append(f'<a href="{path.as_uri()}" class="{"depth" if depth else "core"}">'
                     f"{escape(title)}<i></i>{start + 1}</a>")
    return print_html(browser, f"""<style>
        body {{ font: 11pt/1.5 "DejaVu Sans", sans-serif; }}
        h1 {{ font-size: 30pt; margin: 60mm 0 4mm; }}
        .first {{ break-after: page; }} .small {{ font-size: 9.5pt; margin-top: 120mm; }}
        h2 {{ font-size: 12pt; margin: 5mm 0 1mm; break-after: avoid; }}
        a {{ display: flex; gap: 2mm; color: inherit; text-decoration: none; }}
        i {{ flex: 1; border-bottom: 0.3mm dotted #999; margin-bottom: 1.5mm; }}
        .depth {{ padding-left: 8mm; font-size: 10pt; }}</style>
        <div class="first"><h1>{TITLE}</h1><p>How to recover a kernel machine from its labels</p>
        <p>{AUTHORS}</p><p>{EDITIONS[edition]}, version {CITATION["version"]}</p>
        <p class="small">The text is licensed under {CITATION["license"][1]}, the module under
        {CITATION["license"][0]}. Code for setting up and plotting is in the notebooks; live figures
        work in the HTML edition; answers stand at the end of each chapter.</p>
        </div>{"".join(lines)}""")


def bind(browser, chapters, target):
    """One file of all chapters, with page numbers, links between pages and an outline."""
    rows, printed = chapters
    lengths = [len(reader.pages) for _, reader in printed]

    # Where every chapter starts, once the length of the contents is known
    front = len(contents(browser, chapters, [0] * len(printed), target.stem).pages)
    starts = [front + sum(lengths[:i]) for i in range(len(printed))]
    opening = contents(browser, chapters, starts, target.stem)
    writer, parts, over = PdfWriter(), {}, None
    for reader in (opening, *(reader for _, reader in printed)):
        writer.append(reader, import_outline=False)

    # The outline: parts, their chapters, and their depth pages
    writer.add_outline_item(title=TITLE, page_number=0)
    for (part, depth, _), (title, _), start in zip(rows, printed, starts, strict=True):
        if part and part not in parts:
            parts[part] = writer.add_outline_item(title=part, page_number=start)
        item = writer.add_outline_item(title=title, page_number=start,
                                       parent=over if depth else parts.get(part))
        over = over if depth else item

    # Where links lead, and at which page numbers there is room for one
    ends = destinations(rows, printed, starts)
    begin = [(opening, 0, ""), *((reader, start, path.as_uri()) for (*_, path), (_, reader), start
                                 in zip(rows, printed, starts, strict=True))]
    references = [reference for reader, start, address in begin
                  for number in range(start, start + len(reader.pages))
                  for reference in linked(writer, number, address, ends)]

    # Page numbers, running heads, and the numbers beside links
    titles = {start + i: title if i else "" for (title, reader), start
              in zip(printed, starts, strict=True) for i in range(len(reader.pages))}
    for sheet, stamp in zip(writer.pages[front:], stamps(browser, titles, references).pages,
                            strict=True):
        sheet.merge_page(stamp)
        sheet.compress_content_streams()

    writer.add_metadata({"/Title": TITLE, "/Author": AUTHORS,
                         "/Subject": " ".join(CITATION["abstract"].split()),
                         "/Keywords": ", ".join(CITATION["keywords"])})
    writer.compress_identical_objects()
    target.parent.mkdir(parents=True, exist_ok=True)
    writer.write(target)
    return len(writer.pages)


def destinations(rows, printed, starts):
    """Number of the page, and height on it in points, by address: of chapters and their places."""
    ends = {}
    for (*_, path), (_, reader), start in zip(rows, printed, starts, strict=True):
        ends[path.as_uri()] = start, SHEET[1]
        for name, place in reader.named_destinations.items():
            there = start + reader.get_destination_page_number(place)
            ends[f"{path.as_uri()}#{name.removeprefix('/')}"] = there, float(place["/Top"])
    return ends


def linked(writer, number, address, ends):
    """Let the links of one page lead to places in the file; the references with room for a number.

    A reference is (page, left, baseline, right, page it leads to), lengths in points. Links to
    pages that the file does not have are dropped.
    """
    kept, references = ArrayObject(), []
    for annotation in writer.pages[number].get("/Annots", ()):
        link = annotation.get_object()
        target = str(link.get("/A", {}).get("/URI", ""))
        if "/Dest" in link:
            target = f"{address}#{link['/Dest'].removeprefix('/')}"
        marked, target = MARK in target, target.replace(MARK, "")
        there = ends.get(target) or ends.get(target.split("#")[0])
        if there is None and target.startswith("file:"):
            continue
        if there is not None:
            link.pop("/A", None)
            link[NameObject("/Dest")] = ArrayObject([
                writer.pages[there[0]].indirect_reference, NameObject("/XYZ"), NullObject(),
                FloatObject(there[1]), NullObject()])
        if marked:
            left, low, right, _ = map(float, link["/Rect"])
            references.append((number, left, low, right, there[0]))
        kept.append(annotation)
    writer.pages[number][NameObject("/Annots")] = kept
    return references


def stamps(browser, titles, references):
    """A sheet for every numbered page: its number, running head, and the numbers beside links."""
    width, height = SHEET
    texts = {number: [f'<text x="{width / 2}" y="28" text-anchor="middle">{escape(title)}</text>']
             for number, title in titles.items()}
    for number, left, baseline, right, there in references:
        if number in texts:  # and not in the table of contents, which has them
            texts[number].append(
                f'<text x="{right}" y="{height - baseline}" text-anchor="end" style="fill: black; '
                f'font-size: {(right - left) / ROOM}px">[p.&#8239;{there + 1}]</text>')
    sheets = "".join(
        f'<svg width="{width - 2}pt" height="{height - 2}pt" viewBox="0 0 {width - 2} '
        f'{height - 2}">{"".join(lines)}<text x="{width / 2}" y="{height - 24}" '
        f'text-anchor="middle">{number + 1}</text></svg>' for number, lines in texts.items())
    return print_html(browser, f"""<style>
        body {{ margin: 0; }} svg {{ display: block; break-after: page; }}
        text {{ font: 8px "DejaVu Sans", sans-serif; fill: #555; }}</style>{sheets}""",
                      margin={side: "0mm" for side in ("top", "bottom", "left", "right")})
