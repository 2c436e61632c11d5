"""Programs found again: what has been bound is not bound twice, and never served after something it
reads has changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from operator import is_
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.core.digest import watch
from polhode.core.layout import shape
from polhode.core.reads import contents, is_lasting, ours, python_function, reads
from polhode.engine.program import build
from polhode.engine.rotors import motors_of
from polhode.engine.systems.few import build as build_few
from polhode.engine.systems.program import build as build_system
from polhode.loads.agreement import Start
from polhode.loads.interaction_slope import check_slopes
from polhode.methods.exact_flow import lined_up, symmetry_axis

if TYPE_CHECKING:
    from polhode.core.digest import Watch
    from polhode.bodies._body import RigidBody
    from polhode.loads._system import System
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method

KEPT = 64  # programs that are remembered; the least recently used go first


class Bound(NamedTuple):
    """A program that was built, with what tells whether it still means the same."""

    program: Any  # a Program, or a FewProgram
    given: tuple  # method, torque, body, force, like: held, so that their ids are not used again
    fields: list  # (what torque and force are made of, and the terms of a sum; as it was)
    watch: Watch | None  # on the user's code; None where all of it is the package's own
    # for which machine code and Python were compared; None where that is not needed
    span: tuple | None

    def unchanged(self) -> bool:
        """Whether torque, force and all that they read are what they were."""
        for now, then in self.fields:
            if len(now) != len(then) or not all(map(is_, now.values(), then)):
                return False
        return self.watch is None or self.watch.unchanged()

    def reads_the_same(self) -> bool:
        """Whether the user's code in it, a method's perhaps, means what it did."""
        return self.watch is None or self.watch.unchanged()

    def serves(self, start: Start) -> bool:
        """Whether it is what `build` would make for a run from `start`."""
        return self.span in (None, (start.t, start.end)) and self.unchanged()


def fields_of(torque: Any, force: Force | None = None) -> list[tuple[dict[str, Any], tuple]]:
    """What torque and force are made of, which may be assigned to, and what it is now."""
    owners = (torque, force, *(torque.terms if len(torque.terms) > 1 else ()))
    return [(vars(one), tuple(vars(one).values())) for one in owners if one is not None]


def _of_the_user(source: Any) -> Iterator[Callable[..., Any]]:
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


def watched(method: Method, torque: Any, *others: Torque | None) -> tuple[bool, Watch | None]:
    """(whether it can be told that the user's code behind these means the same, the watch on it or
    None where there is none)."""
    acting = [one.source() for one in (torque, *others) if one is not None]
    users = [*_of_the_user((method.step, method.start, method.control, *acting))]
    found = watch(*users) if users else None
    return not users or found is not None, found


def kind_of_body(method: Method, moments: Sequence[float]) -> int:
    """All that a method made to measure asks of a body: the axis of symmetry, 3 where there is
    none."""
    axis = None if method.adapt is None else symmetry_axis(moments)
    return 3 if axis is None else axis


def kind_of_gyrostat(method: Method, body: RigidBody) -> tuple[int, bool]:
    """The same for a body with rotors: also whether these are lined up with the axis."""
    return kind_of_body(method, body.moments.tolist()), method.adapt is not None and lined_up(body)


def _family(method: Method, torque: Torque, body: RigidBody, compiled: bool) -> tuple:
    """What programs have in common that differ in numbers alone, moments and parameters."""
    form: Any = id(torque)
    if torque.is_ours:  # another torque is as good if it is made of the same functions
        numbers = {"params", "compared"} if method.adapt is None else {"compared"}
        form = tuple(
            (shape(term.values), *((k, v) for k, v in vars(term).items() if k not in numbers))
            for term in torque.terms
        )
    kind = kind_of_body(method, body.moments.tolist())
    return id(method), type(torque), form, body.is_principal, kind, compiled


def _related(
    found: Bound, method: Method, torque: Torque, body: RigidBody, start: Start
) -> Bound | None:
    """A program like another one, for other numbers; None where it would not be what `build`
    makes."""
    if not (found.reads_the_same() if torque.is_ours else found.serves(start)):
        return None
    acting = torque if torque.is_ours else found.program.acting
    program = found.program.with_numbers(torque, acting, body)
    return found._replace(
        program=program, given=(method, torque, body, None, None), fields=fields_of(torque)
    )


# by the objects they were made for, and the latest of each family
_programs: OrderedDict[tuple, Bound] = OrderedDict()
_families: OrderedDict[tuple, Bound] = OrderedDict()
_finding = threading.Lock()


def find_bound(
    method: Method,
    torque: Torque,
    body: RigidBody,
    compiled: bool = True,
    force: Force | None = None,
    start: Start | None = None,
    like: RigidBody | None = None,
) -> Bound:
    """The program of `build`, found again without a look at code while method, torque, body and
    what they read are the same, with what tells whether it is out of date.

    Only a program that never calls back into Python is shared between runs: others keep what a
    torque ran into, and `given` is empty.
    """
    start = start or Start()
    key = id(method), id(torque), id(body), id(force), id(like), compiled
    with _finding:
        found = _programs.get(key)
    if found is not None and found.serves(start):
        return found
    family = (
        None
        if force is not None or like is not None or body.rotors
        else _hashable(_family(method, torque, body, compiled))
    )
    with _finding:
        found = None if family is None else _families.get(family)
    entry = None if found is None else _related(found, method, torque, body, start)
    if entry is not None:
        _keep(_programs, key, entry)
        return entry
    program = build(method, torque, body, compiled, force, like, start)
    # what is called back is as it is now
    motors = motors_of(body)
    told, watch = (
        (False, None) if program.mode == "callback" else watched(method, torque, force, *motors)
    )
    fields = fields_of(torque, force)
    if not told or program.mode == "python" or any(program.pythons):
        return Bound(program, (), fields, watch, None)
    is_ours = not motors and all(one.is_ours for one in (torque, force) if one is not None)
    span = None if is_ours else (start.t, start.end)
    entry = Bound(program, (method, torque, body, force, like), fields, watch, span)
    _keep(_programs, key, entry)
    if family is not None and (program.acting is torque or not torque.is_ours):
        _keep(_families, family, entry)
    return entry


def find_bound_system(method: Method, system: System, compiled: bool, start: Start) -> Bound:
    """The program of a system, with what tells whether it is out of date.  That of a few bodies, which
    has no memory, is found again."""
    key = id(method), id(system), compiled
    with _finding:
        found = _programs.get(key)
    if found is not None and found.serves(start):
        return found
    given = method, system, compiled, start.t, start.end, start.motion
    check_slopes(system.interaction, start.t, start.motion.reshape(len(system), -1))
    program = build_few(*given)
    shared = program is not None and program.mode == "compiled"
    made: Any = build_system(*given) if program is None else program
    interaction = system.interaction
    told, watch = (False, None) if made.mode == "callback" else watched(method, interaction)
    fields = [(vars(system), tuple(vars(system).values())), *fields_of(interaction)]
    if not (shared and told):
        return Bound(made, (), fields, watch, None)
    span = None if all(one.is_ours for one in interaction.terms) else (start.t, start.end)
    entry = Bound(made, (method, system), fields, watch, span)
    _keep(_programs, key, entry)
    return entry


def _keep(known: OrderedDict[tuple, Bound], key: tuple, entry: Bound) -> None:
    with _finding:
        known[key] = entry
        while len(known) > KEPT:
            known.popitem(last=False)


def _hashable(key: tuple) -> tuple | None:
    """The key, or None where it cannot be one."""
    try:
        hash(key)
    except TypeError:
        return None
    return key
