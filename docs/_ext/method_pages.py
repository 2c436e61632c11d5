"""The table of methods and a page for each, from the registry; what was measured of them is in
data/certificates.json."""

import inspect
import json
import os
import re
import sys

import called
import formulas
from docutils import nodes
from restructured import blocks, code, escaped, literal, prose, table, title, toctree
from sphinx.addnodes import pending_xref
from symbols import explained

from polhode.cli.commands.certify import file_name
from polhode.methods import everything, families, get
from polhode.methods._groups import grouped

INTRODUCTION = """
Every method that polhode has: those recommended, the others by family, and last the faulty variants that papers used, kept to
reproduce their numbers.  Order, symmetry, symplecticity and what is kept are declared by the method
and measured by ``polhode certify``; each name leads to a page with the formulas, what was measured, what a step costs, and the
literature.

Methods made on demand: ``newmark(gamma)``; ``taylor(n)`` for n up to 24, with steps of given size under a torque
without derivatives best up to 12; ``MR2-abc`` and ``MR4-abc`` with the axes 1, 2, 3 in any order, as in ``MR2-312``,
and ``-cay`` after it for Cayley rotations; ``NAME+ep``, as in ``taylor3+ep``, conserves the
energy of a free body and, with one more torque evaluation per step, kinetic plus potential energy for a torque with a potential
that does not depend on time (:doc:`/theory/energy` explains where this helps); ``NAME+yoshida4``, ``+suzuki4``, ``+yoshida6``,
``+yoshida8``, ``+kahanli6``, ``+kahanli8`` and ``+kahanli10`` compose a symmetric method.

The columns: *torques* and *solves* are torque evaluations and nonlinear equations per step; *symm.* and *sympl.* say whether the
step is symmetric in time and symplectic (*orbits*: in the body momentum alone); *conserves* lists what is conserved to round-off
for a free body; *drift* is the slope of the energy in long runs of the stress test (*chaotic*: no drift can be resolved; *lost*:
the run diverges); *ns* is the time of a compiled step there in nanoseconds.  {machine}  An *order* in brackets is that for
torques that depend on the angular velocity, if it is lower.
"""
# files whose formulas belong to every method that uses them
SHARED = ("polhode.methods._kicked",)
# where the mathematics is in two files
BESIDE = {"_taylor": ("taylor", "_taylor"), "compose": ("axis_splitting", "compose")}
YES = {True: "yes", False: "–", "orbits": "orbits"}


def page_of(method):
    """The name of a method's page: LIEMID[EA] is liemid-ea."""
    return file_name(method.name).lower().replace("+", "-")


def documented(name):
    """The registered method whose page tells of a method: itself, the one that stands for its
    family, or the one it is made from."""
    entry = get(name)
    if entry in everything():
        return entry
    for family in families():
        if re.fullmatch(family.pattern, name.lower()):
            return get(family.standard)
    return documented(name.rpartition("+")[0])


def role(name, rawtext, text, lineno, inliner, options=None, content=()):
    """:method:`NMB` links to the page of a method, on-demand ones to that of the method they are made from."""
    base = documented(text)
    target = pending_xref(
        "",
        refdomain="std",
        reftype="doc",
        reftarget=f"/reference/methods/{page_of(base)}",
        refexplicit=True,
        refwarn=True,
        refdoc=inliner.document.settings.env.current_document.docname,
    )
    target += nodes.literal(text, text, classes=["method"])
    return [target], []


def pages(docs):
    certificates = {
        entry["name"]: entry
        for entry in json.loads((docs / "data" / "certificates.json").read_text("utf-8"))
    }
    machine = (docs / "data" / "certificates-machine.txt").read_text("utf-8").strip()
    methods = everything()
    texts = {
        f"reference/methods/{page_of(method)}.rst": page(
            method, certificates.get(method.name), docs, machine
        )
        for method in methods
    }
    modules = {module for method in methods for module in files_of(method)}
    modules |= {
        sys.modules[function.__module__]
        for method in methods
        for function in called.functions(method.step)
    }
    sources = {
        f"reference/methods/source/{short(module)}.rst": source_page(module, docs)
        for module in modules
    }
    index_page = index(methods, certificates, machine)
    return texts | sources | {"reference/methods/index.rst": index_page}


def index(methods, certificates, machine):
    parts = [title("Methods"), INTRODUCTION.format(machine=machine)]
    for heading, members in grouped(methods).items():
        parts += [
            title(heading, "-"),
            table(
                (
                    "method",
                    "order",
                    "torques",
                    "solves",
                    "symm.",
                    "sympl.",
                    "conserves",
                    "drift",
                    "ns",
                ),
                [row(method, certificates.get(method.name)) for method in members],
                "36 7 8 8 7 8 11 9 6",
                css="methods",
            ),
            toctree(map(page_of, members), hidden=""),
        ]
    return "\n".join(parts)


def row(method, certificate):
    facts = certificate["facts"] if certificate else {}
    keeps = ", ".join(method.conserves or ()) or "–"
    name = f":doc:`{method.name} <{page_of(method)}>`\n\n{escaped(method.summary.rstrip('.'))}"
    name += "".join(f"\n\n*{key}*: {escaped(text)}" for key, text in remarks(method).items())
    lower = "" if method.omega_order in (None, method.order) else f" ({method.omega_order})"
    return (
        name,
        f"{method.order}{lower}",
        torques(method),
        method.solves,
        YES[method.symmetric],
        YES[method.symplectic],
        keeps,
        drift(facts.get("drift")),
        cost(facts.get("cost")),
    )


def remarks(method):
    """What it is recommended for, or what is wrong with it."""
    found = {"Best for": method.best_for, "Faulty": method.flaw}
    return {key: text for key, text in found.items() if text}


def torques(method):
    return "varies" if method.torques is None else method.torques


def drift(fact):
    if fact is None:
        return "–"
    if fact.get("blow_up") is not None:
        return "lost"
    if fact.get("chaotic"):
        return "chaotic"
    return "–" if fact["measured"] is None else f"{fact['measured']:+.0e}"


def cost(fact):
    return "–" if fact is None or fact["measured"] is None else f"{fact['measured']:.0f}"


def page(method, certificate, docs, machine):
    modules = files_of(method)
    reached = called.functions(method.step)
    shared = [module for module in SHARED if sys.modules[module] in map(inspect.getmodule, reached)]
    texts = [inspect.getdoc(module) for module in (*modules, *map(sys.modules.get, shared))]
    sections = {
        "Formulas": "\n\n".join(prose(text, typeset=True) for text in texts),
        "Symbols": symbols(modules, shared),
        "Declared and measured": measured(method, certificate, machine),
        "Use": use(method),
        "Source": source(method, modules, reached, docs),
        "Literature": f":cite:t:`{', '.join(method.references)}`; ``polhode cite '{method.name}'`` prints\n\n"
        + code(method.bibtex(), "bibtex"),
    }
    head = [
        f".. _method-{page_of(method)}:\n",
        title(method.name),
        escaped(method.summary.rstrip(".") + ".\n"),
        declaration(method),
    ]
    return "\n".join([*head, *(f"{title(name, '-')}\n{text}\n" for name, text in sections.items())])


def files_of(method):
    """The modules that a method is written in."""
    home = method.step.__module__
    package, _, name = home.rpartition(".")
    return [sys.modules[f"{package}.{one}"] for one in BESIDE.get(name, (name,))]


def declaration(method):
    """What a method declares."""
    rows = [
        *((key, escaped(text)) for key, text in remarks(method).items()),
        ("Family", method.family),
        ("Other names", ", ".join(method.aliases)),
        ("Order", order(method)),
        (
            "Torque evaluations per step",
            "depends on an iteration" if method.torques is None else method.torques,
        ),
        ("Nonlinear equations per step", method.solves or "none: explicit"),
        ("Limit", escaped(method.limit)),
        ("Memory", "uses earlier steps" if method.multistep else ""),
    ]
    return "\n".join(f":{key}: {value}" for key, value in rows if value not in ("", ())) + "\n"


def order(method):
    parts = [str(method.order)]
    if tuple(method.free_order) != (method.order, method.order):
        attitude, momentum = (
            "exact" if value == float("inf") else value for value in method.free_order
        )
        parts.append(f"free body: attitude {attitude}, body momentum {momentum}")
    if method.omega_order not in (None, method.order):
        parts.append(f"for torques that depend on the angular velocity: {method.omega_order}")
    return "; ".join(parts)


def symbols(modules, shared):
    """What the letters in the displayed formulas mean."""
    rows = {}
    for module in (*modules, *map(sys.modules.get, shared)):
        shown = "\n".join(displayed(inspect.getdoc(module)))
        rows |= dict(explained(short(module), formulas.letters(shown), shown)) | rows
    marks = {"prime": "x'", "plus": "x^+", "minus": "x^-"}
    plain = {"prime": "x'", "plus": "x+", "minus": "x-"}
    named = [
        (f":math:`{marks.get(key, formulas.letter(key))}`", literal(plain.get(key, key)), meaning)
        for key, meaning in rows.items()
    ]
    if not named:
        return "The letters are those of :doc:`/theory/notation`.\n"
    return (
        table(("symbol", "in text and code", "meaning"), named, "12 18 70")
        + "\nMore in :doc:`/theory/notation`.\n"
    )


def displayed(docstring):
    """The blocks of a docstring that are formulas."""
    return [part for kind, part in blocks(docstring) if kind == "formula"]


def measured(method, certificate, machine):
    if certificate is None:
        return f"No certificate is stored; run ``polhode certify '{method.name}'``.\n"
    verdict = {True: "holds", False: "**fails**", None: "–"}
    rows = [
        (
            escaped(fact["title"]),
            declared(name, fact),
            escaped(fact["text"] or "–"),
            verdict[fact["ok"]],
        )
        for name, fact in certificate["facts"].items()
    ]
    return (
        f"Measured by ``polhode certify '{method.name}'``; the drift is that of ``{certificate['problem']}``.  {machine}\n\n"
        + table(("fact", "declared", "measured", "verdict"), rows, css="facts")
    )


def declared(name, fact):
    """What was declared, in words; the certificate holds plain data."""
    value = fact["declared"]
    if name == "torques" and value is None and fact["ok"] is not None:
        return "varies"
    if name.startswith("drift") and value == 0.0:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else value if isinstance(value, str) else f"{value:g}"


def use(method):
    return code(
        f"""\
import polhode

run = polhode.integrate([1.0, 2.0, 3.0], t_span=(0, 10), step=0.01,
                        method="{method.name}", omega0=(0.01, 1, 0))""",
        "python",
    )


def source(method, modules, reached, docs):
    """The step and the functions it calls: those of the methods in full, those below as a list."""
    links = " and ".join(linked(module) for module in modules)
    shown = [
        function
        for function in reached
        if function.__module__.startswith(called.SHOWN) and called.has_source(function)
    ]
    below = [function for function in reached if not function.__module__.startswith(called.SHOWN)]
    made = [function for function in reached if not called.has_source(function)]
    parts = [
        f"The method is in {links}.  Its step, and the functions of the methods that it calls:\n"
    ]
    places = dict.fromkeys(place(function) for function in shown)
    parts += [included(*one, docs / "reference" / "methods") for one in places]
    if made:
        names = ", ".join(dict.fromkeys(f"``{function.__name__}``" for function in made))
        parts.append(f"Written out for this method when it is first used: {names}.\n")
    if below:
        parts += ["It also calls:\n", table(("function", "what it does", "file"), rows_of(below))]
    return "\n".join(parts)


def place(function):
    lines, first = inspect.getsourcelines(function)
    return sys.modules[function.__module__], first, first + len(lines) - 1


def included(module, first, last, folder):
    return (
        f".. literalinclude:: {file(module, folder)}\n   :language: python\n   :dedent:\n"
        f"   :caption: {path_of(module)}\n   :lines: {first}-{last}\n   :lineno-match:\n"
    )


def rows_of(functions):
    """Name, first sentence and file of functions, once each."""
    rows = {}
    for function in functions:
        text = inspect.getdoc(function) or "–"
        said = re.split(r"(?<=[.:;])\s+(?=[A-Z])|:\s|;\s|\n\n", text, maxsplit=1)[0]
        name = (function.__name__, function.__module__)
        module = sys.modules[function.__module__]
        rows.setdefault(
            name, (f"``{name[0]}``", escaped(" ".join(said.split()).rstrip(".:;")), linked(module))
        )
    return list(rows.values())


def linked(module):
    return f":doc:`{path_of(module)} <source/{short(module)}>`"


def source_page(module, docs):
    path = file(module, docs / "reference" / "methods" / "source")
    heading = title(path_of(module))
    return (
        f":orphan:\n\n{heading}\n.. literalinclude:: {path}\n   :language: python\n   :linenos:\n"
    )


def short(module):
    return module.__name__.rpartition(".")[2]


def path_of(module):
    return module.__name__.replace(".", "/") + ".py"


def file(module, page):
    return os.path.relpath(inspect.getsourcefile(module), page)
