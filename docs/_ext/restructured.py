"""Text as reStructuredText: what the generated pages are put together from."""

import re


def title(text, line="="):
    return f"{text}\n{line * len(text)}\n"


def literal(text):
    return f"``{text}``"


def escaped(text):
    """Plain text, with names in single backquotes shown as code."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(
        literal(part.strip("`")) if part.startswith("`") else re.sub(r"([*|_\\])", r"\\\1", part)
        for part in parts
    )


def indented(text, by=3):
    return "\n".join(" " * by + line if line.strip() else "" for line in text.splitlines())


def prose(docstring):
    """A docstring in the style of the modules: paragraphs, and indented blocks that are formulas or
    examples."""
    out = []
    for block in re.split(r"\n\s*\n", docstring.strip("\n")):
        out += [code(part) if part.startswith("    ") else escaped(part) for part in _runs(block)]
    return "\n\n".join(out)


def _runs(block):
    """The parts of a paragraph that are indented, and those that are not."""
    runs = []
    for line in block.splitlines():
        if runs and runs[-1].startswith("    ") == line.startswith("    "):
            runs[-1] += "\n" + line
        else:
            runs.append(line)
    return runs


def code(text, language="text"):
    margin = min(len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip())
    language = "pycon" if text.lstrip().startswith(">>>") else language
    return f".. code-block:: {language}\n\n" + indented(
        "\n".join(line[margin:] for line in text.splitlines())
    )


def table(header, rows, widths="auto", css=""):
    """A table of cells that are reStructuredText already."""
    lines = [
        ".. list-table::",
        "   :header-rows: 1",
        f"   :widths: {widths}",
        *([f"   :class: {css}"] if css else []),
        "",
    ]
    for row in (header, *rows):
        for number, cell in enumerate(row):
            first, *rest = (str(cell) or "\\").splitlines()
            lines.append(f"   {'* -' if number == 0 else '  -'} {first}")
            lines += [f"       {line}" if line else "" for line in rest]
    return "\n".join(lines) + "\n"


def toctree(pages, **options):
    lines = [
        ".. toctree::",
        *(f"   :{key}: {value}" for key, value in options.items()),
        "",
        *(f"   {page}" for page in pages),
    ]
    return "\n".join(lines) + "\n"
