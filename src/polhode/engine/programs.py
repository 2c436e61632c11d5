"""Programs found again: what has been bound is not bound twice, and never served after something it
reads has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.core.digest import watch
from polhode.core.jit import compiling
from polhode.core.reads import contents, is_lasting, ours, python_function, reads
from polhode.engine.program import Program, build
from polhode.loads.agreement import Start

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method

KEPT = 64  # programs that are remembered; the least recently used go first


class Bound(NamedTuple):
    """A program that was built, with what tells whether it still means the same."""

    program: Program
    given: tuple  # method, torque, body, force, like: held, so that their ids are not used again
    fields: list  # (what torque and force are made of, and the terms of a sum; as it was)
    watch: object  # on the user's code; None where all of it is the package's own
    # for which machine code and Python were compared; None where that is not needed
    span: tuple | None

    def unchanged(self) -> bool:
        """Whether torque, force and all that they read are what they were."""
        for now, then in self.fields:
            if len(now) != len(then) or not all(map(is_, now.values(), then)):
                return False
        return self.watch is None or self.watch.unchanged()

    def serves(self, start: Start) -> bool:
        """Whether it is what `build` would make for a run from `start`."""
        return self.span in (None, (start.t, start.end)) and self.unchanged()


def _fields(torque, force):
    """What torque and force are made of, which may be assigned to, and what it is now."""
    owners = (torque, force, *(torque.terms if len(torque.terms) > 1 else ()))
    return [(vars(one), tuple(vars(one).values())) for one in owners if one is not None]


def _of_the_user(source):
    """The functions in a nested tuple that are not the package's own, and those that the package's
    were made around."""
    if isinstance(source, tuple):
        for part in source:
            yield from _of_the_user(part)
    elif (function := python_function(source)) is not None:
        if not ours(function):
            yield source
        elif not is_lasting(
            function
        ):  # a composition, for example, has the steps of a method inside
            scope, cells = function.__globals__, function.__closure__ or ()
            inside = (
                *map(contents, cells),
                *(scope.get(name) for name in reads(function.__code__).names),
            )
            yield from _of_the_user(inside)


def watched(method: Method, torque: Torque, force: Force | None = None) -> tuple[bool, Any]:
    """(whether it can be told that the user's code behind these means the same, the watch on it or
    None where there is none)."""
    acting = [one.source() for one in (torque, force) if one is not None]
    users = [*_of_the_user((method.step, method.start, method.control, *acting))]
    found = watch(*users) if users else None
    return not users or found is not None, found


_programs: OrderedDict[tuple, Bound] = OrderedDict()
_finding = threading.Lock()


def find(
    method: Method,
    torque: Torque,
    body: RigidBody,
    compiled: bool = True,
    force: Force | None = None,
    start: Start | None = None,
    like: RigidBody | None = None,
) -> Program:
    """The program of `build`, found again without a look at code while method, torque, body and
    what they read are the same.

    Only a program that never calls back into Python is shared between runs: others keep what a
    torque ran into.
    """
    return find_bound(method, torque, body, compiled, force, start, like).program


def find_bound(
    method: Method,
    torque: Torque,
    body: RigidBody,
    compiled: bool = True,
    force: Force | None = None,
    start: Start | None = None,
    like: RigidBody | None = None,
) -> Bound:
    """The same, with what tells whether it is out of date; `given` is empty where it is not
    shared."""
    start = start or Start()
    key = id(method), id(torque), id(body), id(force), id(like), compiled and compiling()
    with _finding:
        found = _programs.get(key)
    if found is not None and found.serves(start):
        return found
    program = build(method, torque, body, compiled, force, like, start)
    # what is called back is as it is now
    told, watch = (False, None) if program.mode == "callback" else watched(method, torque, force)
    fields = _fields(torque, force)
    if not told or program.mode == "python" or any(program.pythons):
        return Bound(program, (), fields, watch, None)
    span = None if torque.is_ours and (force is None or force.is_ours) else (start.t, start.end)
    entry = Bound(program, (method, torque, body, force, like), fields, watch, span)
    with _finding:
        _programs[key] = entry
        while len(_programs) > KEPT:
            _programs.popitem(last=False)
    return entry
