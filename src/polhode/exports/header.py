"""The comment at the top of an exported file: what it is, what is known of it, whom to cite."""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from typing import TYPE_CHECKING, Any

import polhode
from polhode.core.reads import ours, python_function
from polhode.exports.frozen import frozen
from polhode.exports.text import WIDTH
from polhode.loads._torque import Torque
from polhode.methods._references import bibtex

if TYPE_CHECKING:
    from polhode.exports.module import Module
    from polhode.methods._method import Method

LICENCE = (
    "Copyright (c) the polhode developers.  MIT licence: keep this notice; there is no warranty."
)


def header(module: Module, printer: Any) -> str:
    """The text of the comment."""
    method = module.method
    parts = [
        f"{method.name}: {method.summary.rstrip('.')}.  {licence(method)}  Written by polhode {polhode.__version__}:\n"
        + "\n".join(continued(module.command)),
        theory(method),
        only(module)
        + acting(module)
        + "\n"
        + "\n".join(f"  {line}" for line in [*declared(method), *facts(module, printer)]),
        printer.example(),
        "\n".join(map(entry, method.references)),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part)


MADE_FOR = "the step is made for them, and make_body gives NaN for others."
MOST, FORMULA = 10, 8  # lines of theory, and more where it ends with a formula


def _module(method: Method) -> dict[str, Any]:
    """What the module of a step holds, whether or not Python still knows the module."""
    function = python_function(method.step)
    return {} if function is None else function.__globals__


def theory(method: Method) -> str:
    """The beginning of what the method's file says about it."""
    text = inspect.cleandoc(_module(method).get("__doc__") or "")
    first, *rest = _units(text.split("\n\n"))
    kept = [first]
    for one in rest:
        most = MOST + FORMULA * (one.count("\n\n") > 0)
        if sum(part.count("\n") + 2 for part in [*kept, one]) > most:
            break
        kept.append(one)
    return "\n\n".join(kept)


def _units(paragraphs: list[str]) -> list[str]:
    """Paragraphs, together with the formula that they announce by a colon."""
    units: list[str] = []
    for one in paragraphs:
        if units and units[-1].endswith((":", ",")):
            units[-1] += f"\n\n{one}"
        else:
            units.append(one)
    return units


def about(module: Module) -> str:
    """The same in one line, for files that have no comments."""
    method, words = module.method, " ".join(module.command)
    return f"{method.name}, by polhode {polhode.__version__}: {words}. {only(module).strip()} {licence(method)}"


def facts(module: Module, printer: Any) -> list[str]:
    """The measured facts, in lines."""
    if printer.precision == "double":
        return module.facts
    return [one.replace("Measured:", "Measured in double precision:") for one in module.facts]


def licence(method: Method) -> str:
    """Whose the file is."""
    if ours(method.step):
        return LICENCE
    return f"The step is its author's.  What it calls of polhode: {LICENCE}"


def continued(words: list[str]) -> list[str]:
    """The words of a command on as many lines as they need; a call in Python is one word."""
    lines = [f"  {words[0]}"]
    for one in words[1:]:
        if len(f"{lines[-1]} {one}") <= WIDTH - 8:
            lines[-1] += f" {one}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {one}")
    return lines


def entry(key: str) -> str:
    """A BibTeX entry on few lines."""
    words = re.sub(r"\s+", " ", bibtex(key)).replace(", }", "}")
    return textwrap.fill(
        words, WIDTH - 6, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def only(module: Module) -> str:
    """Which bodies the file is for, where it is not for all."""
    return f"Only for bodies with {module.symmetry}: {MADE_FOR}\n" if module.symmetry else ""


def acting(module: Module) -> str:
    """What acts, in a sentence."""
    load = module.load
    if load is None:
        where = {"spatial": "in space", "body": "in the body"}[module.frame]
        if module.start.params[4][0] == "x":
            return f"The load is yours: torque about the centre of mass, {where}, and its acceleration, in space."
        return (
            f"The torque is yours: a function of time, attitude matrix and body velocity, {where}."
        )
    terms = load.terms if isinstance(load, Torque) else (*load.torque.terms, *load.force.terms)
    shown = list(dict.fromkeys(described(term) for term in terms if term.acts))
    held = frozen(load)
    as_were = f"  Taken from Python as it was: {', '.join(held)}." if held else ""
    mass = "" if module.mass is None else f" on a body of mass {module.mass!r}"
    return f"What acts: {', '.join(shown)}{mass}.{as_were}" if shown else "No torque acts."


def described(term: Torque) -> str:
    """A torque or force with its parameters."""
    given = {} if term.params is None else term.params._asdict()
    return f"{term.name}({', '.join(f'{key} = {value}' for key, value in given.items())})"


def declared(method: Method) -> list[str]:
    """The declared facts, in lines; polhode's tests measure each."""

    def order(value: Any) -> str:
        return "exact" if value == math.inf else f"of order {value}"

    if method.order is None and method.torques is None:
        return ["Declared: nothing; `polhode certify` measures"]
    lines = [f"Declared: order {method.order}" if method.order else "Declared:"]
    if method.omega_order not in (None, method.order):
        lines[0] += f", {method.omega_order} under torques that depend on the velocity"
    free = method.free_order
    if free and free != (method.order,) * 2:
        lines[0] += (
            f"; without torque the attitude is {order(free[0])}, the momentum {order(free[1])}"
        )
    calls = "as many as it needs" if method.torques is None else str(method.torques)
    lines[0] += f"; torques per step: {calls}; nonlinear equations: {method.solves}"
    kept = " and ".join(method.conserves or ()) or "nothing"
    words = {True: "yes", False: "no", "orbits": "on coadjoint orbits", None: "not declared"}
    lines.append(
        f"symmetric: {words[method.symmetric]}; symplectic: {words[method.symplectic]}; "
        f"kept without torque: {kept}"
    )
    if method.remark:
        lines.append(f"remark: {method.remark}")
    if method.limit:
        lines.append(f"limit: {method.limit}")
    if method.flaw:
        lines.append(f"FAULTY: {method.flaw}")
    return lines
