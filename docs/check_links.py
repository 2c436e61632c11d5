"""Does every link of the built pages lead somewhere?  Offline: pages, files and anchors of the
documentation itself; addresses elsewhere are looked at, not fetched.

    python docs/check_links.py docs/_build/html
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TAKES = {
    "a": "href",
    "link": "href",
    "img": "src",
    "script": "src",
    "source": "src",
    "iframe": "src",
}
# by the browser, unasked: nothing of it may come from the network
FETCHED = {"link", "img", "script", "source", "iframe"}


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes.get("id"), attributes.get("name")} - {None}
        if tag in TAKES and attributes.get(TAKES[tag]) and attributes.get("rel") != "canonical":
            self.links.add((tag, attributes[TAKES[tag]]))

    handle_startendtag = handle_starttag


@cache
def page(path):
    return Page(path.read_text("utf-8"))


def fault(root, source, tag, link):
    """What is wrong with a link on a page, or None."""
    parts = urlsplit(link)
    if parts.scheme in ("mailto", "data", "javascript"):
        return None
    if parts.scheme or parts.netloc:
        if tag in FETCHED:
            return "is fetched from the network"
        return (
            None
            if parts.scheme in ("http", "https") and "." in parts.netloc
            else "is not an address"
        )
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if target.is_dir():
        target = target / "index.html"
    if not target.is_relative_to(root) or not target.is_file():
        return "leads nowhere"
    if (
        parts.fragment
        and target.suffix == ".html"
        and unquote(parts.fragment) not in page(target).anchors
    ):
        return "has no such anchor"
    return None


def faults(root):
    """(page, link, what is wrong) for all pages below a folder, and how many links there are."""
    found, count = [], 0
    # the theme keeps templates there
    for source in sorted(set(root.rglob("*.html")) - set(root.glob("_static/**/*"))):
        links = page(source).links
        count += len(links)
        found += [
            (source.relative_to(root), link, what)
            for tag, link in sorted(links)
            if (what := fault(root, source, tag, link))
        ]
    return found, count


def main():
    root = Path(sys.argv[1]).resolve()
    found, count = faults(root)
    for source, link, what in found:
        print(f"{source}: {link} {what}")
    if not count:
        print(f"{root}: no pages; build them first: make docs")
    print(f"{count} links, {len(found)} broken")
    return bool(found) or not count


if __name__ == "__main__":
    sys.exit(main())
