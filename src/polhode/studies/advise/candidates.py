"""Which methods are tried: a short list that holds a best one for every kind of task, cut down by
what the user demands."""

from polhode.core.reads import ours
from polhode.studies.compare import entries
from polhode.errors import InputError, flag, whole
from polhode.methods import everything, get

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
FREE = ("EXACT", "DOP853@rtol")  # next to the closed solution
FEW = 8  # that are tried where a demand leaves none of the above

DEMANDS = {
    "symplectic": ("symplectic", lambda facts: facts["symplectic"] is True),
    "explicit": ("explicit", lambda facts: not facts["implicit"]),
    "symmetric": ("symmetric", lambda facts: facts["symmetric"]),
    "one_torque": (
        "content with one torque per step",
        lambda facts: facts["torques_per_step"] == 1,
    ),
}


def demands(symplectic=False, explicit=False, symmetric=False, one_torque=False, order=None):
    """The demands made, as (words, test) pairs."""
    asked = {
        "symplectic": symplectic,
        "explicit": explicit,
        "symmetric": symmetric,
        "one_torque": one_torque,
    }
    made = [DEMANDS[name] for name, wanted in asked.items() if flag(name, wanted)]
    if order is not None:
        order = whole("order", order, 1, "take 4")
        made.append((f"of order {order} or more", lambda facts: (facts["order"] or 0) >= order))
    return made


def facts(name, torque):
    """The facts of an entry under a torque; one that chooses its own steps is neither symmetric nor
    symplectic."""
    base, at, _ = name.partition("@")
    found = {**get(base).facts(), "order": get(base).order_under(torque)}
    return (
        {**found, "symmetric": False, "symplectic": False, "torques_per_step": None}
        if at
        else found
    )


def shortlist(made, methods, long, torque):
    """The names to try; an InputError says which demand leaves none."""
    ours = LONG if long and torque.acts else CANDIDATES if torque.acts else FREE
    preferred = entries.method_names(methods) if methods is not None else [*ours, *_foreign()]
    pool = (
        preferred
        if methods is not None
        else list(dict.fromkeys([*preferred, *entries.method_names("all")]))
    )
    known = {name: facts(name, torque) for name in pool}
    if long:
        energy_known = not torque.acts or not torque.energy_unknown()
        by_force = " (symplectic, or kept so by +ep)" if energy_known else ""
        made = [
            (
                f"free of energy drift{by_force}",
                lambda one: (
                    one["symplectic"] is True or (energy_known and restores_energy(one["name"]))
                ),
            ),
            *made,
        ]
    left = pool
    for number, (words, fits) in enumerate(made):
        before, left = left, [name for name in left if fits(known[name])]
        if not left:
            highest = max(known[name]["order"] or 0 for name in before)
            raise InputError(
                _none_left(
                    [one for one, _ in made[:number]], words, before, methods is not None, highest
                )
            )
    return [name for name in preferred if name in left] or sorted(
        left, key=lambda name: -known[name]["order"]
    )[:FEW]


def restores_energy(name: str) -> bool:
    """Whether the method of an entry restores the energy after its steps."""
    return get(name.partition("@")[0]).restores_energy


def _foreign() -> list[str]:
    """Methods that the user registered."""
    return [method.name for method in everything() if not ours(method.step)]


def _none_left(earlier, words, before, own, highest):
    which = "of the methods given" if own else "registered"
    if words.startswith("of order"):
        words += f" (the highest order is {highest})"
    if not earlier:
        return f"no method {which} is {words}; drop that demand"
    shown = ", ".join(before[:4]) + (f" and {len(before) - 4} more" if len(before) > 4 else "")
    return (
        f"no method {which} is {', '.join(earlier)} and {words}: the last demand removes the {len(before)} that were left "
        f"({shown}); drop one of them"
    )
