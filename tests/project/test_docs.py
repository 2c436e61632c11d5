"""Every code block of the documentation is run, page by page, and what a page shows is what comes
out.

A page is run in a folder of its own that holds the files of examples/.  Its blocks run in their
order:

    python              in one namespace for the page
    console             lines that begin with "$ " are commands; the lines below a command are what it prints
    any, with a caption  is written to the file that the caption names
    text, class output  is what the block before it printed

What is shown must come out, line by line, words as they are and numbers to the digits shown; lines
may be left out, and "..." stands for anything.  Class "exit-2" says that the command ends with that
code.  Class "varies" is for times and what follows from them: there the first word of each line is
enough.  Classes "needs-gpu" and "needs-cluster" are not run here; tests/engine/gpu_checks.py is for
machines that have one.
"""

import contextlib
import importlib
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from docutils.utils.math.latex2mathml import tex2mathml

from polhode import methods, papers
from polhode.io import formats

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = {"_build", "_static", "_templates", "gallery", "api", "commands", "methods"}
# by the build, which may be going on
WRITTEN = ("changelog", "papers", "problems", "scenario", "errata", "verdicts")
# compare and certify several methods; the tutorial and test_certify.py do so with few
LONG = ("which_method", "own_integrator", "free_flight", "expensive_torque")
PAGES = sorted(
    path
    for path in DOCS.rglob("*.rst")
    if not GENERATED & set(path.relative_to(DOCS).parts[:-1])
    and path.stem not in WRITTEN
    and ".. code-block::" in path.read_text("utf-8")
)
SETS_UP = (
    "pip install ",
    "python -m venv ",
    "git clone ",
    "cd ",
    "source ",
    "make ",
    "python benchmarks/",
    "polhode play",
)  # not what is tested here
NOT_HERE = {"needs-gpu", "needs-cluster"}
# what `polhode export` says with the lowest version of numba; a page that exports machine code ends there
TOO_OLD = "machine code needs llvmlite 0.45 or newer"
NUMBER = re.compile(r"[-+−]?\d+\.?\d*(?:e[-+]?\d+)?$", re.IGNORECASE)


# --- reading --------------------------------------------------------------------------------------


class Block(NamedTuple):
    language: str
    caption: str
    classes: frozenset
    text: str
    line: int


def blocks(path):
    """The code blocks of a page."""
    lines = path.read_text("utf-8").splitlines()
    for number, line in enumerate(lines):
        begin = re.match(r"( *)\.\. code-block:: *(\w+)", line)
        if begin:
            yield block(begin[2], len(begin[1]), lines[number + 1 :], number + 1)


def block(language, indent, rest, line):
    """One block: options, and the lines that are indented deeper than the directive."""
    own = []
    for text in rest:
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            break
        own.append(text)
    options = {}
    while own and (found := re.match(r" *:(\w+): *(.*)", own[0])):
        options[found[1]] = found[2].strip()
        own.pop(0)
    body = [text for text in own if text.strip()]
    left = min((len(text) - len(text.lstrip()) for text in body), default=0)
    text = "\n".join(text[left:] for text in own).strip("\n") + "\n"
    return Block(
        language,
        options.get("caption", ""),
        frozenset(options.get("class", "").split()),
        text,
        line,
    )


def commands(text):
    """(command, what is shown below it) of a console block; a backslash continues a command on the
    next line."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = re.sub(r"\\\n\s*", "", part).partition("\n")
        yield command.strip(), shown


# --- comparing ------------------------------------------------------------------------------------


def same(shown, real):
    """Whether two words are the same, numbers to the digits shown."""
    if shown == "..." or shown == real:
        return True
    bare, other = (word.strip("[](),;:'\"").replace("−", "-") for word in (shown, real))
    if not (NUMBER.match(bare) and NUMBER.match(other)):
        return False
    if bare.isdigit() and other.isdigit():
        return bare == other
    digits = len(bare.lower().partition("e")[0].partition(".")[2])
    power = int(bare.lower().partition("e")[2] or 0)
    return abs(float(bare) - float(other)) <= 1.01 * 10.0 ** (power - digits)


def is_line(shown, real):
    """Whether a real line is the one shown; "..." within a line stands for one or more words."""
    words, others = shown.split(), real.split()
    if len(words) == len(others):
        return all(map(same, words, others))
    if "..." not in words:
        return False
    at = words.index("...")
    tail = words[at + 1 :]
    return (
        len(others) >= len(words)
        and all(map(same, words[:at], others))
        and (not tail or all(map(same, tail, others[-len(tail) :])))
    )


def missing(shown, real, varies=False):
    """The first shown line that does not come out, or None."""
    wanted = [line for line in shown.splitlines() if line.strip(" ─.")]
    if varies:
        return next((line for line in wanted if line.split()[0] not in real), None)
    rest = iter(real.splitlines())
    return next(
        (line for line in wanted if not any(is_line(line, candidate) for candidate in rest)), None
    )


# --- running --------------------------------------------------------------------------------------


class Page:
    """A page as it is run."""

    def __init__(self, path, folder):
        self.path, self.folder, self.printed = path, folder, ""
        self.namespace = {"__name__": "__main__"}
        self.environment = {
            **os.environ,
            "MPLBACKEND": "Agg",
            "COLUMNS": "100",
            "PYTHONWARNINGS": "ignore",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }

    def run(self, block):
        """Run, write or compare a block."""
        if block.caption:
            (self.folder / block.caption).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self.python(block)
        elif block.language == "console":
            for command, shown in commands(block.text):
                self.command(command, shown, block)
        elif "output" in block.classes:
            self.compare(block.text, block)

    def python(self, block):
        code = compile("\n" * block.line + block.text, str(self.path), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, self.namespace)
        self.printed = out.getvalue()

    def command(self, command, shown, block):
        if command.startswith(SETS_UP):
            return
        for tool, what in (("cc", "C compiler"), ("node", "node")):
            if command.startswith(f"{tool} ") and not shutil.which(tool):
                pytest.skip(f"there is no {what} here")
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        if TOO_OLD in done.stderr:
            pytest.skip(TOO_OLD)
        expected = next((int(name[5:]) for name in block.classes if name.startswith("exit-")), 0)
        assert done.returncode == expected, (
            f"{self.path.name}:{block.line}: {command}\n{done.stderr}"
        )
        self.printed = done.stdout + done.stderr
        self.compare(shown, block)

    def compare(self, shown, block):
        line = missing(shown, self.printed, "varies" in block.classes)
        assert line is None, (
            f"{self.path.name}:{block.line} shows\n{line}\nwhich is not in\n{self.printed}"
        )


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=path.relative_to(DOCS).with_suffix("").as_posix(),
            marks=[pytest.mark.slow] * (path.stem in LONG),
        )
        for path in PAGES
    ],
)
def test_what_a_page_shows_is_what_happens(path, tmp_path, monkeypatch):
    examples = DOCS.parent / "examples"
    shutil.copytree(
        examples, tmp_path, ignore=shutil.ignore_patterns("gallery"), dirs_exist_ok=True
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(formats, "_registered", dict(formats.formats()))  # a page may add to it
    page = Page(path, tmp_path)
    for one in blocks(path):
        if not NOT_HERE & one.classes:
            page.run(one)


@pytest.mark.parametrize(
    ("shown", "real", "found"),
    [
        ("a 1.5", "a 1.4999", True),
        ("a 1.5", "a 1.7", False),
        ("a 1.2e-3", "a 0.0012", True),
        ("a b", "b\na b", True),
        ("b\na", "a\nb", False),
        ("a ... 3", "a b c 3", True),
        ("...\nc", "a\nb\nc", True),
        ("12", "14", False),
    ],
)
def test_what_counts_as_shown(shown, real, found):
    assert (missing(shown, real) is None) == found


# --- the pages of the methods ---------------------------------------------------------------------


@pytest.fixture
def method_pages(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module("method_pages")


def test_the_formulas_of_the_methods_can_be_typeset_and_their_letters_are_explained(method_pages):
    formulas, symbols = (importlib.import_module(name) for name in ("formulas", "symbols"))
    modules = {
        module for method in methods.everything() for module in method_pages.files_of(method)
    }
    shown = [
        (method_pages.short(module), block)
        for module in modules
        for block in method_pages.displayed(inspect.getdoc(module))
    ]
    assert len(shown) > 15
    for name, block in shown:
        assert "<mtable" in tex2mathml(rf"\begin{{aligned}}{formulas.tex(block)}\end{{aligned}}")
        known = dict(symbols.explained(name, formulas.letters(block), block))
        assert set(formulas.letters(block)) <= {*known, *symbols.EVERYDAY}, name


def test_a_method_page_shows_the_step_and_what_it_calls(method_pages):
    page = method_pages.pages(DOCS)["reference/methods/vlv.rst"]
    shown = re.findall(r"literalinclude:: (\S+)\n(?:   :.*\n)*?   :lines: (\d+)-(\d+)", page)
    folder = DOCS / "reference" / "methods"  # is there after a build

    def included(path):
        return Path(os.path.normpath(folder / path)).read_text("utf-8")

    code = "\n".join(
        "\n".join(included(path).splitlines()[int(first) - 1 : int(last)])
        for path, first, last in shown
    )
    for name in ("step", "kicked", "drift", "halfway", "kick", "pull"):
        assert f"def {name}(" in code
    assert (
        "``of_length``" in page and "``newton_after``" in page and "source/newton" in page
    )  # listed, and linked


@pytest.mark.parametrize(
    ("plain", "tex"),
    [
        ("R' = R cay(h W)", r"R' &= R \,\mathrm{cay} ( h W )"),
        ("Om' = I^-1 R'^T pi'", r"\Omega' &= I^{- 1} {R'}^{T} \pi'"),
        ("Pi- = Pi + h^2/4 T", r"\Pi^{-} &= \Pi + \frac{h^{2}}{4} T"),
        ("K5 = e1^2 . C   KE (3)", r"K_{5} &= e_{1}^{2} \cdot C \qquad \text{KE (3)}"),
    ],
)
def test_formulas_in_plain_text_become_latex(plain, tex, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    assert importlib.import_module("formulas").tex(plain) == tex


# --- what the pages say of the papers -------------------------------------------------------------


def test_every_item_of_the_papers_has_its_verdicts():
    """The stored verdicts cover every item, and where an item takes no time they are what it says
    today."""
    records = json.loads((DOCS / "data" / "verdicts.json").read_text("utf-8"))
    stored = {f"{record['paper']}/{record['item']}": record for record in records}
    assert list(stored) == [item.key for item in papers.items()]
    for key in ("krysl-endres-2004/fig2", "buss-2001/fig2", "bou-rabee-2009/fig2"):
        said = [
            (claim.claim, claim.verdict) for claim in papers.items(key)[0].run(quick=True).claims
        ]
        assert said == [(claim["claim"], claim["verdict"]) for claim in stored[key]["claims"]]


def test_the_page_on_disagreements_shows_figures_that_are_kept(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    import verdict_pages

    shown = re.findall(
        r"data/figures/(\S+)\.png", (DOCS / "theory" / "disagreements.rst").read_text("utf-8")
    )
    kept = DOCS / "data" / "figures"
    assert sorted(shown) == sorted(verdict_pages.FIGURES)
    assert sorted(shown) == sorted(
        path.relative_to(kept).with_suffix("").as_posix() for path in kept.rglob("*.png")
    )
    page = verdict_pages.errata_page(papers.errata())
    assert page.count("   * - ") == len(papers.errata()) + len(
        {one.paper for one in papers.errata()}
    )


@pytest.mark.parametrize(
    "page, words, most",
    [
        ("fit", "least_squares", 10),
        ("from_game_engine", "step(dt=dt)", 10),
        ("monte_carlo", "gravity_gradient", 10),
        ("lyapunov", "angle_between", 10),
        ("cubesat", "detumble", 25),
    ],
)
def test_common_tasks_take_few_lines(page, words, most):
    """The block of a page that has these words."""
    found = [one for one in blocks(DOCS / "howto" / f"{page}.rst") if words in one.text]
    lines = [line for line in found[0].text.splitlines() if line.strip()]
    assert found[0].language == "python" and len(lines) <= most
