"""The gallery: every example has a title and a picture and teaches with public names; building the
documentation runs them."""

import ast
import importlib
import runpy
from pathlib import Path
from types import ModuleType

import pytest
from matplotlib.figure import Figure

import polhode
from polhode import plots

FOLDER = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = sorted(FOLDER.glob("plot_*.py"))
# what authors of methods use: CONTRIBUTING.md
FOR_METHODS = ("polhode.core.vec", "polhode.core.jit", "polhode.core.newton")

each = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def test_there_are_enough_examples_and_a_header():
    assert len(EXAMPLES) >= 16
    assert (
        (FOLDER / "GALLERY_HEADER.rst").read_text(encoding="utf-8").startswith("Gallery\n=======\n")
    )


@each
def test_an_example_has_a_title_and_a_text(path):
    title, underline, blank, *text = ast.get_docstring(tree(path)).splitlines()
    assert set(underline) == {"="} and len(underline) >= len(title) and not blank and text


@each
def test_an_example_draws(path):
    figures = {name for name in plots.__all__ if name not in ("PALETTE", "styled")}
    made = [
        node.value.func.attr
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and ast.unparse(node.value.func.value) == "plots"
    ]
    assert set(made) & figures, (
        "an example assigns a figure of polhode.plots, or its own new_figure, to a variable"
    )


@each
def test_an_example_uses_public_names_alone(path):
    modules = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            modules |= {
                alias.asname or alias.name: polhode
                for alias in node.names
                if alias.name == "polhode"
            }
        if (
            isinstance(node, ast.ImportFrom)
            and node.module.split(".")[0] == "polhode"
            and node.module not in FOR_METHODS
        ):
            home = importlib.import_module(node.module)
            for alias in node.names:
                public(home, alias.name)
                modules[alias.asname or alias.name] = getattr(home, alias.name)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute):
            root, *names = chain(node)
            follow(modules.get(root), names)


def chain(node):
    """["a", "b", "c"] of a.b.c, and [None] of what does not begin with a name."""
    if isinstance(node, ast.Attribute):
        return [*chain(node.value), node.attr]
    return [node.id if isinstance(node, ast.Name) else None]


def follow(home, names):
    """Check a chain of attributes as far as it leads through modules."""
    for name in names:
        if not isinstance(home, ModuleType):
            return
        public(home, name)
        home = getattr(home, name)


def public(home, name):
    assert name in getattr(
        home, "__all__", [word for word in dir(home) if not word.startswith("_")]
    ), f"{home.__name__}.{name}"


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@each
def test_an_example_runs(path, monkeypatch):
    monkeypatch.chdir(FOLDER)  # as sphinx-gallery does
    found = [value for value in runpy.run_path(str(path)).values() if isinstance(value, Figure)]
    assert found
    for figure in found:
        figure.canvas.draw()
