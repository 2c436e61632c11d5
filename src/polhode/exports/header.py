"""The comment at the top of an exported file: what it is, what is known of it, whom to cite."""

from __future__ import annotations

import inspect
import math
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import polhode
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
        f"{method.name}: {method.summary.rstrip('.')}.  Written by polhode {polhode.__version__}, {module.command}.  "
        + LICENCE,
        theory(method),
        acting(module)
        + "\n"
        + "\n".join(f"  {line}" for line in [*declared(method), *module.facts]),
        printer.example(),
        "\n".join(map(entry, method.references)),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part)


MOST = 10  # lines of theory


def theory(method: Method) -> str:
    """The beginning of what the method's file says about it."""
    text = inspect.cleandoc(sys.modules[method.step.__module__].__doc__ or "")
    first, *rest = text.split("\n\n")
    kept = [first]
    for one in rest:
        if sum(part.count("\n") + 2 for part in [*kept, one]) > MOST:
            break
        kept.append(one)
    return "\n\n".join(kept)


def entry(key: str) -> str:
    """A BibTeX entry on few lines."""
    words = re.sub(r"\s+", " ", bibtex(key)).replace(", }", "}")
    return textwrap.fill(
        words, WIDTH - 6, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


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
    shown = [described(term) for term in terms if term.acts]
    return f"What acts: {', '.join(shown)}." if shown else "No torque acts."


def described(term: Torque) -> str:
    """A torque or force with its parameters."""
    given = {} if term.params is None else term.params._asdict()
    return f"{term.name}({', '.join(f'{key} = {value}' for key, value in given.items())})"


def declared(method: Method) -> list[str]:
    """The declared facts, in lines; polhode's tests measure each."""

    def order(value: Any) -> str:
        return "exact" if value == math.inf else f"of order {value}"

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
