"""Which methods are compared, by name: `NAME` takes fixed steps, `NAME@rtol` chooses its own by
tolerance."""

from polhode.studies.compare.runner import StepRunner, ToleranceRunner
from polhode.errors import InputError, brief, choice
from polhode.methods import everything, get, names

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


def method_names(methods=None, family=None):
    """The names asked for, each once and spelt as the registry spells them; a name that is unknown
    is refused."""
    if methods is not None and family is not None:
        raise InputError("give methods or a family, not both; drop one")
    if family is not None:
        found = everything()
        families = sorted({entry.family for entry in found})
        choice("family", family.lower() if isinstance(family, str) else family, families)
        return [entry.name for entry in found if entry.family == family.lower()]
    if methods is None:
        return list(DEFAULT)
    if not isinstance(methods, (str, list, tuple, set)):
        raise InputError(
            f"methods must be a list of names, got {brief(methods)}; write methods=['NMB', 'LP2']"
        )
    given = [methods] if isinstance(methods, str) else list(methods)
    if len(given) == 1 and isinstance(given[0], str) and given[0].lower() == "all":
        return names() + by_tolerance()
    if not given:
        raise InputError("methods is empty; name some, or leave it out")
    return list(dict.fromkeys(_entry_name(name) for name in given))


def _entry_name(name):
    base, at, knob = name.strip().partition("@") if isinstance(name, str) else (name, "", "")
    method = get(base)
    if not at:
        return method.name
    if knob.lower() != "rtol":
        raise InputError(
            f"{name!r}: only @rtol may follow a method's name, for a run by tolerance; write "
            f"{name.partition('@')[0]}@rtol"
        )
    if method.control is None:
        raise InputError(
            f"{method.name} takes steps of given size; by tolerance go {', '.join(by_tolerance())}"
        )
    return f"{method.name}@rtol"


def by_tolerance():
    """The entries that choose their own steps."""
    return [f"{method.name}@rtol" for method in everything() if method.control]


def runner(task, truth, name):
    """A runner for a name that `method_names` gave."""
    base, at, _ = name.partition("@")
    return (ToleranceRunner if at else StepRunner)(task, truth, get(base))
