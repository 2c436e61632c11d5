"""CHANGELOG.md as a page."""

import re

from restructured import escaped, title


def pages(docs):
    lines = []
    for line in (docs.parent / "CHANGELOG.md").read_text("utf-8").splitlines():
        heading = re.fullmatch(r"(#+) (.*)", line)
        lines.append(title(heading[2], "=-~"[len(heading[1]) - 1]) if heading else escaped(line))
    return {"changelog.rst": "\n".join(lines) + "\n"}
