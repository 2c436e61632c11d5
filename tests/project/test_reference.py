"""The reference: the examples of the package run, what is said to be measured was measured, and
links are looked at closely."""

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

import polhode
from polhode.io import formats
from polhode.methods import _registry, everything

ROOT = Path(__file__).parents[2]
PACKAGE = Path(polhode.__file__).parent
ENTRIES = re.findall(
    r"^   ([\w.]+)$", (ROOT / "docs/reference/api.rst").read_text("utf-8"), re.MULTILINE
)
# of no user's concern, or run by their own tests
INSIDE = ("core", "papers", "show.plots", "__main__")
MODULES = [
    one.name
    for one in pkgutil.walk_packages(polhode.__path__, "polhode.")
    if not one.name.startswith(tuple(f"polhode.{name}" for name in INSIDE))
]


def examples(name):
    """The examples of a module, one for each docstring."""
    module = importlib.import_module(name)
    return [test for test in doctest.DocTestFinder().find(module, name, module) if test.examples]


@pytest.mark.parametrize(
    "name", [name for name in MODULES if ">>>" in inspect.getsource(importlib.import_module(name))]
)
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(_registry, "_methods", dict(_registry._methods))  # an example may add to it
    monkeypatch.setattr(formats, "_registered", dict(formats._registered))
    monkeypatch.chdir(tmp_path)
    for file in (ROOT / "examples").glob("*.*"):
        shutil.copy(file, tmp_path)
    found = examples(name)
    assert found
    for test in found:
        said = []
        assert doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed == 0, "".join(
            said
        )


@pytest.mark.parametrize("name", polhode.__all__)
def test_every_public_name_is_in_the_reference(name):
    """By this name or another or, a module, by what it holds; every public function has an
    example."""
    thing = getattr(polhode, name)
    others = [attrgetter(entry)(polhode) for entry in ENTRIES if "." in entry]
    assert (
        name in ENTRIES or any(entry.startswith(f"{name}.") for entry in ENTRIES) or thing in others
    )
    if inspect.isfunction(thing):
        assert ">>>" in inspect.getdoc(thing), f"{name} has no example"


def test_a_module_s_source_is_linked_from_names_with_one_prefix():
    """The page of a module's source knows one prefix for its links back: with `read` and
    `io.read.as_run` one would be broken."""
    prefixes = {}
    for entry in ENTRIES:
        thing = attrgetter(entry)(polhode)
        prefixes.setdefault(getattr(thing, "__module__", None), set()).add(entry.rpartition(".")[0])
    assert {module: found for module, found in prefixes.items() if module and len(found) > 1} == {}


PUBLIC_MODULES = [name for name in polhode.__all__ if inspect.ismodule(getattr(polhode, name))]


@pytest.mark.parametrize("name", ["", *PUBLIC_MODULES])
def test_completion_offers_what_is_public_and_nothing_else(name):
    module = getattr(polhode, name) if name else polhode
    offered = [one for one in dir(module) if one != "__version__"]
    assert sorted(offered) == sorted(set(module.__all__) - {"__version__"})
    assert not any(one.startswith("_") for one in offered)
    assert all(hasattr(module, one) for one in offered)


def unresolved(names):
    """Which of the names a fresh process does not find after a bare `import polhode`, and why."""
    code = (
        "import json, operator, polhode, sys\n"
        "missing = {}\n"
        "for name in json.loads(sys.argv[1]):\n"
        "    try:\n"
        "        operator.attrgetter(name)(polhode)\n"
        "    except AttributeError as error:\n"
        "        missing[name] = str(error)\n"
        "print(json.dumps(missing))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("order", [1, -1], ids=["first to last", "last to first"])
def test_every_name_of_the_reference_is_there_after_a_bare_import(order):
    """In either order: no name may need another one that was looked up before it."""
    assert len(ENTRIES) > 90 and len(set(ENTRIES)) == len(ENTRIES)
    assert unresolved(ENTRIES[::order]) == {}


def test_every_name_that_the_pages_mention_is_there_after_a_bare_import():
    """Pages and README write them `polhode.io.save`; in code blocks they are run."""
    pages = [
        *(page for page in (ROOT / "docs").glob("*.rst") if page.stem != "changelog"),
        *(ROOT / "docs").glob("[hrt]*/*.rst"),
        ROOT / "README.md",
    ]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    names = sorted(set(re.findall(r"(?<![\w./-])polhode\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", text)))
    assert len(names) > 30
    files = ("org", "toml", "nc")  # of addresses and files
    assert unresolved([name for name in names if name not in files]) == {}


@pytest.mark.parametrize(
    "stub", sorted(PACKAGE.rglob("__init__.pyi")), ids=lambda stub: stub.parent.name
)
def test_what_a_stub_lists_is_what_the_package_gives(stub):
    """Type checkers read `__all__` of the stub, and Python the imports above it."""
    tree = ast.parse(stub.read_text("utf-8"))
    listed = next(ast.literal_eval(one.value) for one in tree.body if isinstance(one, ast.Assign))
    imported = [
        alias.name for one in tree.body if isinstance(one, ast.ImportFrom) for alias in one.names
    ]
    assert sorted(set(listed) - {"__version__"}) == sorted(imported)
    package = importlib.import_module(".".join(stub.parent.relative_to(PACKAGE.parent).parts))
    assert [name for name in listed if not hasattr(package, name)] == []


def doors():
    """The public functions, classes and methods by name; of modules, what they list."""
    for name in polhode.__all__:
        value = getattr(polhode, name)
        if inspect.isclass(value):
            yield name, value
        if inspect.isclass(value) or (inspect.ismodule(value) and hasattr(value, "__all__")):
            members = vars(value) if inspect.isclass(value) else value.__all__
            yield from ((f"{name}.{one}", getattr(value, one)) for one in members if one[0] != "_")
        elif callable(value):
            yield name, value


def test_help_shows_the_options_of_every_door():
    vague = []
    for name, value in doors():
        if callable(value):
            parameters = inspect.signature(value).parameters.values()
            vague += [name for one in parameters if one.kind is one.VAR_KEYWORD]
    # made by `ensemble` alone; parameters of any name
    assert vague == ["Ensemble", "SystemEnsemble", "Torque.with_params"]
    assert {"frame", "params", "uses_omega"} <= inspect.signature(polhode.torque).parameters.keys()


def test_the_front_imports_nothing_heavy():
    code = "import sys, polhode; print([name for name in ('numpy', 'numba', 'scipy', 'matplotlib') if name in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


# --- certificates ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates():
    return {
        one["name"]: one
        for one in json.loads((ROOT / "docs/data/certificates.json").read_text("utf-8"))
    }


def test_every_stored_certificate_is_of_a_method_and_holds(certificates):
    """A method may have none yet: its page says so."""
    assert set(certificates) <= {method.name for method in everything()}, "run: make certificates"
    assert all(one["ok"] for one in certificates.values())


@pytest.mark.parametrize("method", everything(), ids=lambda method: method.name)
def test_a_stored_certificate_is_of_the_method_as_it_is(method, certificates):
    """What it calls declared is what the registry declares now."""
    if method.name not in certificates:
        pytest.skip("not measured yet: make certificates")
    facts = {name: fact["declared"] for name, fact in certificates[method.name]["facts"].items()}
    free = ["exact" if order == float("inf") else order for order in method.free_order]
    told = {
        "order_attitude": method.order,
        "order_momentum": method.order,
        "free_order_attitude": free[0],
        "free_order_momentum": free[1],
        "omega_order_attitude": method.omega_order or method.order,
        "symmetric": method.symmetric,
        "symplectic": method.symplectic is True,
        "conserves_momentum": "momentum" in method.conserves,
        "conserves_energy": "energy" in method.conserves,
        "torques": method.torques,
        "solves": method.solves,
    }
    assert {name: facts[name] for name in told} == told, "run: make certificates"


# --- links ----------------------------------------------------------------------------------------


@pytest.fixture
def check_links(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    yield importlib.import_module("check_links")
    sys.modules.pop("check_links")


@pytest.mark.parametrize(
    ("link", "what"),
    [
        ("b.html#here", None),
        ("b.html?x=1", None),
        ("folder/", None),
        ("#top", None),
        ("https://example.org/x", None),
        ("b.html#there", "has no such anchor"),
        ("c.html", "leads nowhere"),
        ("../outside.html", "leads nowhere"),
        ("https://nowhere", "is not an address"),
        ("htp://example.org", "is not an address"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(link, what, check_links, tmp_path):
    root = tmp_path / "html"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "outside.html").write_text("")
    (root / "a.html").write_text(f'<a href="{link}">x</a>')
    (root / "b.html").write_text('<p id="here">')
    (root / "folder" / "index.html").write_text("")
    found, count = check_links.faults(root)
    assert count == 1 and [one[2] for one in found] == ([what] if what else [])


def test_what_a_page_fetches_is_not_on_the_network(check_links, tmp_path):
    (tmp_path / "a.html").write_text('<script src="https://cdn.example.org/x.js"></script>')
    assert check_links.faults(tmp_path)[0][0][2] == "is fetched from the network"
