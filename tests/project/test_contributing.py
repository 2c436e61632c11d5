"""A method that is added as CONTRIBUTING.md says, in its own file and with its reference, is taken up
by everything that reads the registry, and the tests pass with no other file touched."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("```")[1::2]
# tests that speak of every method, and of those what they say of the new one
FILES = (
    "methods/test_facts.py",
    "project/test_reference.py",
    "studies/test_compare.py",
    "cli/test_cli.py",
    "show/test_play.py",
)
CHOSEN = (
    "euler or on_demand or stored_certificate or everything_registered or test_methods or references "
    "or catalogue"
)


def block(language):
    """The first block of CONTRIBUTING.md in a language."""
    found = next(one for one in BLOCKS if one.partition("\n")[0].strip() == language)
    return found.partition("\n")[2]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the package with the new method."""
    source = tmp_path_factory.mktemp("contribution") / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    methods = source / "polhode" / "methods"
    (methods / "euler.py").write_text(block("python"), encoding="utf-8")
    bibliography = methods / "references.bib"
    entries = re.split(r"\n(?=@)", bibliography.read_text("utf-8").strip() + "\n")
    head, entries = (entries[:1], entries[1:]) if not entries[0].startswith("@") else ([], entries)
    key = re.compile(r"@\w+\{([^,]+),")
    entries = sorted([*entries, block("bibtex")], key=lambda one: key.match(one)[1])
    bibliography.write_text("\n".join([*head, *entries]), encoding="utf-8")
    return source


def run(source, *arguments):
    """Run Python with that copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def test_its_examples_pass_the_linter(tmp_path):
    """Who copies them finds `make check` satisfied."""
    code = [one.partition("\n")[2] for one in BLOCKS if one.startswith("python\n")]
    assert len(code) == 2
    for name, text in zip(("euler.py", "count_down.py"), code, strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for check in (["check"], ["format", "--check"]):
        run(
            ROOT / "src",
            "-m",
            "ruff",
            *check,
            "--config",
            str(ROOT / "pyproject.toml"),
            str(tmp_path),
        )


def test_the_tests_pass_with_a_new_method(source):
    quick = ["-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow"]
    files = [f"tests/{name}" for name in FILES]
    out = run(source, "-m", "pytest", *quick, *files, "-k", CHOSEN, "-rA")
    for part in (
        "test_what_is_declared_holds_and_what_is_not_declared_fails[euler]",
        "test_methods",
        "catalogue",
    ):
        assert re.search(rf"PASSED .*{re.escape(part)}", out), out[-2000:]


def test_a_new_method_is_listed_and_has_a_page(source):
    code = """
import sys
from pathlib import Path
sys.path.insert(0, "docs/_ext")
import method_pages
pages = method_pages.pages(Path("docs").resolve())
assert "No certificate is stored" in pages["reference/methods/euler.rst"]
assert "euler" in pages["reference/methods/index.rst"]
"""
    run(source, "-c", code)
    assert "euler" in run(source, "-m", "polhode", "methods", "--family", "euler")
    assert "Euler" in run(source, "-m", "polhode", "cite", "euler")
