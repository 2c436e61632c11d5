"""Which methods are tried: a short list with a good method for every kind of task, without those
that do not meet the user's requirements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


from polhode.core.reads import ours
from polhode.studies.compare.entries import Entry, find, select, select_for
from polhode.studies.compare.task import Task
from polhode.errors import InputError, flag, whole
from polhode.methods import everything


# high orders first: the first good one bounds what the others may cost
CANDIDATES = (
    "DOP853@rtol",
    "DOP853",
    "EXACT-RKN6",
    "EXACT-RKN4",
    "EXACT",
    "DP5",
    "RK4-quaternion",
    "SW",
)
LONG = ("EXACT-RKN6", "EXACT-RKN4", "EXACT", "MR2-BM6", "MR2-BM4", "LP2", "VLV")
FREE = ("EXACT", "DOP853@rtol")  # in addition to the closed solution
FEW = 8  # how many methods are tried if none of the above meets the requirements


@dataclass(frozen=True)
class Demand:
    """What a method must be: in words, and as a test of an entry and its facts."""

    words: str
    fits: Callable[[Entry, dict], bool]
    names_order: bool = False  # whether its error says what the highest order is


DEMANDS = {
    "symplectic": Demand("symplectic", lambda _, facts: facts["symplectic"] is True),
    "explicit": Demand("explicit", lambda _, facts: not facts["implicit"]),
    "symmetric": Demand("symmetric", lambda _, facts: facts["symmetric"]),
    "one_torque": Demand(
        "content with one torque per step", lambda _, facts: facts["torques_per_step"] == 1
    ),
}


def demands(
    symplectic: bool = False,
    explicit: bool = False,
    symmetric: bool = False,
    one_torque: bool = False,
    order: int | None = None,
) -> list[Demand]:
    """The demands made."""
    wanted = {
        "symplectic": symplectic,
        "explicit": explicit,
        "symmetric": symmetric,
        "one_torque": one_torque,
    }
    made = [DEMANDS[name] for name, value in wanted.items() if flag(name, value)]
    if order is not None:
        least = whole("order", order, 1, "use 4")
        words = f"of order {least} or more"
        made.append(Demand(words, lambda _, facts: (facts["order"] or 0) >= least, True))
    return made


def shortlist(
    made: list[Demand], methods: Sequence[str] | str | None, long: bool, task: Task
) -> list[Entry]:
    """The entries to try; an InputError says which demand leaves none."""
    if methods is not None:
        preferred = pool = select_for(task, methods)
    else:
        names = FREE if task.is_free else LONG if long else CANDIDATES
        of_the_user = [Entry(method) for method in everything() if not ours(method.step)]
        preferred = [*map(find, names), *of_the_user]
        pool = list(dict.fromkeys([*preferred, *select("all")]))
        pool = [entry for entry in pool if not entry.obstacle(task)]
    facts = {entry: entry.facts(task) for entry in pool}
    if long:
        made = [_no_drift(task), *made]
    left = pool
    for number, demand in enumerate(made):
        before, left = left, [entry for entry in left if demand.fits(entry, facts[entry])]
        if not left:
            highest = max(facts[entry]["order"] or 0 for entry in before)
            raise InputError(
                _none_left(made[:number], demand, before, methods is not None, highest)
            )
    return [entry for entry in preferred if entry in left] or sorted(
        left, key=lambda entry: -facts[entry]["order"]
    )[:FEW]


def _no_drift(task: Task) -> Demand:
    """The demand of a long run: a symplectic method, or one that restores a known energy."""
    energy_known = not task.energy_unknown
    return Demand(
        "free of energy drift" + (" (symplectic, or kept so by +ep)" if energy_known else ""),
        lambda entry, facts: (
            facts["symplectic"] is True or (energy_known and entry.method.restores_energy)
        ),
    )


def _none_left(
    earlier: list[Demand], last: Demand, before: list[Entry], given: bool, highest: int
) -> str:
    which = "of the methods given" if given else "registered"
    words = last.words + (f" (the highest order is {highest})" if last.names_order else "")
    if not earlier:
        return f"no method {which} is {words}; drop that requirement"
    names = ", ".join(entry.name for entry in before[:4])
    more = f" and {len(before) - 4} more" if len(before) > 4 else ""
    return (
        f"no method {which} is {', '.join(one.words for one in earlier)} and {words}: the last "
        f"requirement removes the {len(before)} that were left ({names}{more}); drop one of them"
    )
