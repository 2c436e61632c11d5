"""Text as reStructuredText: what the generated pages are put together from."""

import re

import formulas


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


def prose(docstring, typeset=False):
    """A docstring in the style of the modules as reStructuredText, its formulas typeset if wanted."""
    made = {"text": escaped, "code": code, "formula": displayed if typeset else code}
    made["list"] = columns if typeset else code
    return "\n\n".join(made[kind](part) for kind, part in blocks(docstring))


def blocks(docstring):
    """(kind, text) of the parts of a docstring: paragraphs are text; indented blocks are formulas,
    lists (of names, each with what is said of it) or code."""
    parts = [part for block in re.split(r"\n\s*\n", docstring.strip("\n")) for part in _runs(block)]
    return [(_kind(part), part) for part in parts]


def _kind(part):
    if not part.startswith("    "):
        return "text"
    if part.lstrip().startswith(">>>"):
        return "code"
    if formulas.is_displayed(part):
        return "formula"
    return "list" if all("  " in line.strip() for line in _items(part)) else "code"


def displayed(block):
    """A formula of its own."""
    return ".. math::\n\n" + indented(formulas.tex(block))


def columns(block):
    """A list of names as a table; a line that is indented further goes on from the one before."""
    rows = [re.split(r"\s{2,}", item.strip(), maxsplit=1) for item in _items(block)]
    return table(None, [(literal(name), escaped(said)) for name, said in rows])


def _items(block):
    """The lines of a block, each with those that go on from it."""
    margin = min(len(line) - len(line.lstrip()) for line in block.splitlines())
    return re.sub(rf"\n {{{margin + 1},}}", " ", block).splitlines()


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
    """A table of cells that are reStructuredText already; header may be None."""
    lines = [
        ".. list-table::",
        f"   :header-rows: {0 if header is None else 1}",
        f"   :widths: {widths}",
        *([f"   :class: {css}"] if css else []),
        "",
    ]
    for row in rows if header is None else (header, *rows):
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
