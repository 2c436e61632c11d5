"""Programs found again: what has been bound is not bound twice, and never served after something it reads has changed."""

from __future__ import annotations

import math
import operator
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.core.digest import watch
from polhode.core.jit import compiling
from polhode.core.reads import ours, python_function
from polhode.engine.program import Program, build

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.agreement import Start
    from polhode.loads.force import Force
    from polhode.methods._registry import Method

KEPT = 64   # programs that are remembered; the least recently used go first


class _Bound(NamedTuple):
    """A program that was built, with what tells whether it still means the same."""

    program: Program
    given: tuple     # method, torque, body, force: held, so that their ids are not used again
    fields: list     # of the torque and its terms
    watch: object    # on the user's code; None where all of it is the package's own
    span: tuple      # the times between which machine code and Python were compared

    def serves(self, start: Start) -> bool:
        """Whether it is what `build` would make for a run from `start`."""
        low, high = self.span
        return (low <= start.t <= high and low <= start.end <= high
                and all(map(operator.is_, self.fields, _fields(self.program.torque)))
                and (self.watch is None or self.watch.unchanged()))


def _fields(torque):
    """What a torque is made of: it may be assigned to."""
    found = [*torque.__dict__.values()]
    for term in getattr(torque, "terms", ()):
        found += term.__dict__.values()
    return found


def _of_the_user(source):
    """The functions in a nested tuple that are not the package's own."""
    if isinstance(source, tuple):
        for part in source:
            yield from _of_the_user(part)
    elif (function := python_function(source)) is not None and not ours(function):
        yield source


def watched(method: Method, torque: Torque, force: Force | None = None) -> tuple[bool, Any]:
    """(whether it can be told that the user's code behind these means the same, the watch on it or None where there is none)."""
    acting = [one.source() for one in (torque, force) if one is not None]
    users = [*_of_the_user((method.step, method.start, *acting))]
    found = watch(*users) if users else None
    return not users or found is not None, found


_programs: OrderedDict[tuple, _Bound] = OrderedDict()
_finding = threading.Lock()


def find(method: Method, torque: Torque, body: RigidBody, compiled: bool = True, force: Force | None = None,
         start: Start | None = None) -> Program:
    """The program of `build`, found again without a look at code while method, torque, body and what they read are the same.

    Only a compiled program is shared between runs: those that call back keep what a torque ran into.
    """
    key = id(method), id(torque), id(body), id(force), compiled and compiling()
    with _finding:
        found = _programs.get(key)
    if found is not None and found.serves(start):
        return found.program
    program = build(method, torque, body, compiled, force, start=start)
    told, watch = watched(method, torque, force) if program.mode == "compiled" else (False, None)
    if told:
        low, high = sorted((start.t, start.end))
        if torque.is_ours and (force is None or force.is_ours):
            low, high = -math.inf, math.inf
        entry = _Bound(program, (method, torque, body, force), _fields(torque), watch, (low, high))
        with _finding:
            _programs[key] = entry
            while len(_programs) > KEPT:
                _programs.popitem(last=False)
    return program
