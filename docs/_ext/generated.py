"""Writes the pages that come from the code itself, before Sphinx looks for pages: methods,
commands, scenario keys, papers, problems, changes.

Each maker gives {path below docs/: text}.  A page that has not changed is left alone, so that a
second build is quick; one whose subject is gone is removed.
"""

from pathlib import Path

import change_page
import command_pages
import method_pages
import paper_pages
import scenario_page
import verdict_pages

MAKERS = (method_pages, command_pages, scenario_page, paper_pages, verdict_pages, change_page)
FOLDERS = ("reference/methods", "reference/commands")  # these hold generated pages and nothing else


def write(app):
    docs = Path(app.srcdir)
    pages = {docs / path: text for maker in MAKERS for path, text in maker.pages(docs).items()}
    for folder in FOLDERS:
        for old in set((docs / folder).glob("**/*.rst")) - set(pages):
            old.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app):
    app.connect("builder-inited", write, priority=100)
    app.add_role("method", method_pages.role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
