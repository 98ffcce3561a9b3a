"""Check a built book: pages exist, show no error, and load nothing from another host."""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup

ERRORS = {
    ".system-message": "a message of docutils",
    ".problematic": "markup that docutils could not read",
    ".output.traceback": "a traceback",
    ".output.stderr": "text on stderr",
    ".highlight .err": "code that Pygments could not read",
}
LOADING = {  # what a browser fetches by itself when it opens a page
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src",
    "audio": "src", "embed": "src", "object": "data", "link": "href",
}
LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "shortcut", "apple-touch-icon"}
CSS_URL = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
UNREAD_ROLE = re.compile(r"\{[a-z:-]+\}`")


def faults(site):
    """List what is wrong with the HTML files below the folder `site`."""
    site = Path(site)
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    found = []
    if not (site / "index.html").is_file():
        found.append("index.html: missing")
    if len(pages) < 2:
        found.append("no page besides index.html")
    for page in pages:
        name = page.relative_to(site)
        found += [f"{name}: {fault}" for fault in page_faults(page, site)]
    return found


def page_faults(page, site):
    """List what is wrong with one page."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    found = [
        f"shows {what}: {' '.join(node.get_text().split())[:200]}"
        for selector, what in ERRORS.items()
        for node in soup.select(selector)
    ]
    styles = [(page, style.get_text()) for style in soup.find_all("style")]
    for tag, attribute in LOADING.items():
        for node in soup.find_all(tag):
            if tag == "link" and not LOADING_LINKS & set(node.get("rel", [])):
                continue
            address = node.get(attribute)
            if not address or address.startswith("data:"):
                continue
            target = local(address, page, site)
            if target is None:
                found.append(f"<{tag}> loads from another host: {address}")
            elif not target.is_file():
                found.append(f"<{tag}> loads a file that is missing: {address}")
            elif target.suffix == ".css":
                styles.append((target, target.read_text(encoding="utf-8")))
    for source, css in styles:
        for match in CSS_URL.finditer(css):
            address = match[1] or match[2]
            if not address.startswith("data:") and local(address, source, site) is None:
                found.append(f"{source.name} loads from another host: {address}")
    for node in soup.select("script, style, pre, code"):
        node.decompose()
    text = soup.get_text()
    found += [f"shows an unread role: {match[0]}" for match in UNREAD_ROLE.finditer(text)]
    refresh = soup.find("meta", attrs={"http-equiv": re.compile("refresh", re.I)})
    if refresh is not None:
        address = re.search(r"url=['\"]?([^'\"]+)", refresh["content"], re.I)[1]
        if not (target := local(address, page, site)) or not target.is_file():
            found.append(f"sends the reader to a page that is missing: {address}")
    return found


def local(address, source, site):
    """The file that `source` means by `address`, or None if it is on another host."""
    if re.match(r"([a-z][a-z0-9+.-]*:)?//", address, re.I):
        return None
    path = unquote(re.split("[?#]", address)[0])
    return site / path.lstrip("/") if path.startswith("/") else source.parent / path


if __name__ == "__main__":
    sys.exit("\n".join(faults(sys.argv[1])) or 0)
