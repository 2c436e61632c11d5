"""Which methods are compared, by name: `NAME` takes fixed steps, `NAME@rtol` chooses its own by
tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polhode.studies.compare.task import Task
from polhode.studies.compare.truth import Truth
from polhode.studies.compare.runner import StepRunner, ToleranceRunner
from polhode.errors import InputError, brief, choice
from polhode.methods import Method, everything, get


# what the papers compare, each kind once, and what lies beyond them
DEFAULT = (
    "NMB",
    "SW",
    "AKW",
    "LIEMID[EA]",
    "VLV",
    "LP2",
    "MR4-123",
    "RK4-quaternion",
    "CF4",
    "taylor3",
    "EXACT",
    "EXACT-RKN4",
    "EXACT-RKN6",
    "DOP853",
    "DOP853@rtol",
)


@dataclass(frozen=True)
class Entry:
    """A method to compare: with steps of a given size, or choosing its own by tolerance."""

    method: Method
    by_tolerance: bool = False

    @property
    def name(self) -> str:
        """`NAME` or `NAME@rtol`."""
        return f"{self.method.name}@rtol" if self.by_tolerance else self.method.name

    def facts(self, task: Task) -> dict[str, Any]:
        """What the registry says about the method, with its order under these loads.  Steps that
        depend on the motion make no method symmetric or symplectic; of one with the translation
        beside it, which has order 2, that is not known."""
        order = self.method.order_under(task.speeds_felt)
        facts = {**self.method.facts(), "order": order}
        if self.by_tolerance:
            facts |= {"symmetric": False, "symplectic": False, "torques_per_step": None}
        elif task.has_translation_beside(self.method):
            facts |= {"order": min(order or 2, 2), "symmetric": None, "symplectic": None}
        return facts

    def lowered(self, task: Task) -> str:
        """Why its order is lower than usual, in words; empty where it is not."""
        return self.method.lowered(task.speeds_felt)

    def obstacle(self, task: Task) -> str:
        """Why it cannot follow the motion of a task; empty where it can."""
        try:
            task.check_able(self.method, self.by_tolerance)
        except InputError as error:
            return str(error)
        return ""

    def runner(self, task: Task, truth: Truth | None) -> StepRunner | ToleranceRunner:
        """A runner of the method on a task."""
        return (ToleranceRunner if self.by_tolerance else StepRunner)(task, truth, self.method)


def select(methods: Sequence[str] | str | None = None, family: str | None = None) -> list[Entry]:
    """The entries of these names, or of a family, each once; an unknown name is an error."""
    if methods is not None and family is not None:
        raise InputError("give methods or a family, not both; drop one")
    if family is not None:
        found = everything()
        families = sorted({method.family for method in found})
        choice("family", family.lower() if isinstance(family, str) else family, families)
        return [Entry(method) for method in found if method.family == family.lower()]
    if methods is None:
        return [find(name) for name in DEFAULT]
    if not isinstance(methods, (str, list, tuple, set)):
        raise InputError(
            f"methods must be a list of names, got {brief(methods)}; write methods=['NMB', 'LP2']"
        )
    given = _listed(methods)
    if _is_all(given):
        return [Entry(method) for method in everything()] + tolerance_entries()
    if not given:
        raise InputError("methods is empty; name some, or leave it out")
    return list({entry.name: entry for entry in map(find, given)}.values())


def select_for(
    task: Task, methods: Sequence[str] | str | None = None, family: str | None = None
) -> list[Entry]:
    """The same for a task: of methods that are not named one by one, those that can follow its
    motion."""
    chosen = select(methods, family)
    if methods is not None and not _is_all(_listed(methods)):
        return chosen
    able = [entry for entry in chosen if not entry.obstacle(task)]
    if not able:
        raise InputError(chosen[0].obstacle(task))
    return able


def _listed(methods: Any) -> list[Any]:
    return [methods] if isinstance(methods, str) else list(methods)


def _is_all(given: list[Any]) -> bool:
    return len(given) == 1 and isinstance(given[0], str) and given[0].lower() == "all"


def find(name: Any) -> Entry:
    """The entry of a name."""
    base, at, knob = name.strip().partition("@") if isinstance(name, str) else (name, "", "")
    method = get(base)
    if not at:
        return Entry(method)
    if knob.lower() != "rtol":
        raise InputError(
            f"{name!r}: only @rtol may follow a method's name, for a run by tolerance; write "
            f"{name.partition('@')[0]}@rtol"
        )
    if method.control is None:
        others = ", ".join(entry.name for entry in tolerance_entries())
        raise InputError(f"{method.name} takes fixed steps; methods with a tolerance: {others}")
    return Entry(method, by_tolerance=True)


def tolerance_entries() -> list[Entry]:
    """The methods that can choose their own steps, doing so."""
    return [Entry(method, by_tolerance=True) for method in everything() if method.control]
