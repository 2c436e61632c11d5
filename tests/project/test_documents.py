"""What README and CONTRIBUTING say is run here; what the page on the architecture names must be
there."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from polhode import papers
from polhode.methods import _references

ROOT = Path(__file__).parents[2]


def blocks(name, language):
    """The fenced blocks of a document in a language ("" for none)."""
    parts = (ROOT / name).read_text("utf-8").split("```")[1::2]
    return [
        part.partition("\n")[2] for part in parts if part.partition("\n")[0].strip() == language
    ]


def execute(code, folder):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("code", blocks("README.md", "python"))
def test_the_code_of_the_readme_runs(code, tmp_path):
    execute(code, tmp_path)
    assert "top.png" not in code or (tmp_path / "top.png").stat().st_size > 10_000


def test_the_commands_of_the_readme_run(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "mine.toml").write_text(blocks("README.md", "toml")[0])
    commands = [
        line.split("#")[0].strip()
        for block in blocks("README.md", "")
        for line in block.splitlines()
    ]
    commands = [command for command in commands if command.startswith("polhode ")]
    assert len(commands) >= 4
    for command in commands:
        arguments = [sys.executable, "-m", "polhode", *command.split()[1:]]
        done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout.strip()


def test_a_method_added_as_contributing_says_works_everywhere(tmp_path):
    """Write the method of CONTRIBUTING.md into a file, register it by importing it, and measure its
    facts."""
    (tmp_path / "mine.py").write_text(blocks("CONTRIBUTING.md", "python")[0])
    out = execute(
        """
import mine, polhode
entry = polhode.methods.get("EULER")
assert entry in polhode.methods.everything()
run = polhode.integrate([1, 2, 2.5], "heavy_top", (0, 1), 0.001, "euler", omega0=(0.1, 1, 0.2), rotation0=(0.3, 0, 0))
assert run.nfev == run.steps == 1000
slopes = polhode.facts.order(entry)
print("order", round(slopes[0], 1), round(slopes[1], 1))
""",
        tmp_path,
    )
    assert out.split() == ["order", "1.0", "1.0"]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_links_of_a_document_lead_somewhere(name):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text("utf-8"))
    assert all((ROOT / link).exists() for link in links), links


ARCHITECTURE = (ROOT / "docs" / "reference" / "architecture.rst").read_text("utf-8")


def test_the_architecture_page_has_the_layers_of_the_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    listed = ARCHITECTURE.partition("::\n\n")[2].partition("\n\n")[0].splitlines()
    assert [re.split("  +", line.strip())[0] for line in listed] == contracts[0]["layers"]


def test_what_the_architecture_page_names_is_where_it_says():
    package = ROOT / "src" / "polhode"
    files = set(re.findall(r"``(\w+/[\w/]+\.py)``", ARCHITECTURE))
    missing = [
        path for path in files if not ((package / path).is_file() or (ROOT / path).is_file())
    ]
    assert len(files) > 20 and not missing
    stops = re.findall(r"``([\w.]+)``\s+\(``([\w/]+\.py)``\)", ARCHITECTURE)
    assert len(stops) > 30
    gone = [
        stop
        for stop in stops
        for name in stop[0].split(".")
        if not re.search(rf"(def|class) {name}\b", (package / stop[1]).read_text("utf-8"))
    ]
    assert not gone


def test_the_readme_is_short():
    """Two screens, 130 columns wide, the picture aside."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 90


def test_the_version_is_the_same_everywhere():
    import polhode

    assert f"version: {polhode.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"## {polhode.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


# How the text names each of the five documents; a year may follow.
NAMED = {
    "krysl-endres-2004": r"Krysl\s+(?:&|and)\s+Endres",
    "krysl-2005": r"(?<!Petr )Krysl",
    "bou-rabee-2009": r"Bou-Rabee\s+et\s+al\.|Saccon",
    "buss-2001": r"Buss",
}


def test_each_of_the_documents_is_cited_with_one_year():
    cited = [paper.cite for paper in papers.PAPERS.values()]
    assert len(set(cited)) == 6
    for paper in papers.PAPERS.values():
        year = _references.fields(paper.cite)["year"]
        assert year in paper.name and year in paper.short
    page = (ROOT / "docs" / "theory" / "disagreements.rst").read_text("utf-8")
    assert all(key in page for key in cited)


@pytest.mark.parametrize("name", NAMED)
def test_the_year_of_a_document_is_the_same_everywhere(name):
    year = _references.fields(papers.PAPERS[name].cite)["year"]
    citation = re.compile(rf"(?:{NAMED[name]}),?\s+\(?((?:19|20)\d\d)\b")
    files = [
        path
        for folder in ("src", "docs", "examples", "benchmarks")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".rst", ".md", ".toml", ".html")
        and not path.is_relative_to(ROOT / "docs" / "_build")
        and not path.is_relative_to(ROOT / "docs" / "reference" / "methods")  # both generated
    ]
    files += ROOT.glob("*.md")
    years = {path: citation.findall(path.read_text("utf-8")) for path in files}
    assert sum(map(len, years.values())) > 2
    assert {path: found for path, found in years.items() if set(found) - {year}} == {}
