"""The registry: a method is one pure `step` function and the facts it declares about itself.

Everything that speaks of methods (tables, comparisons, certificates, documentation) reads this
registry, and one test file measures every declared fact.  A fact that is not declared must fail
when measured, so that the table cannot be timid.
"""

import copyreg
import importlib
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import polhode
from polhode.core.jit import jit
from polhode.errors import InputError, brief, closest, nearest
from polhode.methods._families import FAMILIES, Family
from polhode.methods._groups import grouped
from polhode.methods._method import Method, Motion, recorded_step, start_motion


F = TypeVar("F", bound=Callable[..., Any])
LONGEST_NAME = 100

_methods: dict[str, Method] = {}
_suffixes: dict[str, Callable] = {}
_made: dict[str, Method] = {}  # on demand, by get(): not part of the registry; the last MADE_LIMIT
MADE_LIMIT = 256


def register(entry: Method) -> Method:
    """Enter a Method into the registry; a name that is taken by other code is an error."""
    for name in (entry.name, *entry.aliases):
        held = _methods.get(name.lower())
        if held is not None and (held.name, held.step.__module__) != (
            entry.name,
            entry.step.__module__,
        ):
            raise InputError(f"the method name {name!r} is taken by {held!r}; choose another name")
        _methods[name.lower()] = entry
    _made.clear()  # some may be made of a method that had this name
    return entry


def _first_line(text):
    return (text or "").strip().split("\n")[0].strip()


def method(
    name: str,
    *,
    state: type = Motion,
    start: Callable[..., Any] = start_motion,
    order: int | None = None,
    torques: int | None = None,
    symmetric: bool | None = None,
    symplectic: bool | str | None = None,
    conserves: Iterable[str] = (),
    free_order: tuple[int, int] | None = None,
    omega_order: int | None = None,
    solves: int = 0,
    multistep: bool = False,
    family: str = "",
    aliases: Iterable[str] = (),
    synonyms: Iterable[str] = (),
    cite: str = "",
    builds_on: Iterable[str] = (),
    summary: str = "",
    best_for: str = "",
    flaw: str = "",
    limit: str = "",
    control: tuple | None = None,
    flight: Callable[..., Any] | None = None,
    system: Callable[..., Any] | None = None,
    rotors: Callable[..., Any] | None = None,
    arrays: bool = False,
) -> Callable[[F], F]:
    """Register the decorated function `step(h, t, s, body, torque, p)` as a method.

    The facts are those of `Method`; leave out `order`, `symmetric` and `symplectic` if you want
    `polhode.certify` to find them.  The step gets the state `s` at time t and returns that at t + h.

    Parameters
    ----------
    state : NamedTuple class
        Fields `q` and one of `Om` (body velocity), `om` (spatial velocity), `Pi` (body momentum),
        `pi` (spatial momentum), annotated with Quaternion, Vector, float ...; `residual`, if there
        is one, is the relative residual of the implicit equation, and `calls` the torque
        evaluations of the step.
    start : function
        `start(h, t, q, Om, body, torque, p)` gives the first state.

    Examples
    --------
    >>> from polhode.core.vec import qexp, qmul, scale
    >>> @method("coasting", order=1, torques=0, symmetric=True, symplectic=False)
    ... def step(h, t, s, body, torque, p):
    ...     "Goes on as it turns, whatever acts on it."
    ...     return Motion(qmul(s.q, qexp(scale(h, s.Om))), s.Om)
    >>> get("coasting").summary
    'Goes on as it turns, whatever acts on it.'
    """

    def enter(step):
        jit(step)
        register(
            Method(
                name,
                step,
                start,
                state,
                order,
                torques,
                symmetric,
                symplectic,
                tuple(conserves),
                tuple(free_order or (order, order)),
                solves,
                multistep,
                family or step.__module__.split(".")[-1],
                tuple(aliases),
                cite,
                summary or _first_line(step.__doc__),
                limit=limit,
                control=control,
                flight=flight,
                system=system,
                rotors=rotors,
                arrays=arrays,
                omega_order=omega_order,
                builds_on=tuple(builds_on),
                best_for=best_for,
                flaw=flaw,
                synonyms=tuple(synonyms),
            )
        )
        return step

    return enter


def _reduced(entry: Method) -> Any:
    """How a method is pickled: by name, where the name leads to it."""
    try:
        if get(entry.name) is entry:
            return _again, (entry.name, entry.step.__module__)
    except InputError:
        pass
    return object.__reduce_ex__(entry, 2)


def _again(name, module):
    """A method in another process; one of a user's is registered by its module."""
    _load()
    if name.lower() not in _methods and not module.startswith("polhode."):
        importlib.import_module(module)
    return get(name)


copyreg.pickle(Method, _reduced)


def suffix(name):
    """Register a factory that changes a method: `NAME+ep`."""

    def enter(factory):
        _suffixes[name.lower()] = factory
        return factory

    return enter


_loaded = False


def _load():
    """Import every method file of the package, once."""
    global _loaded
    if not _loaded:
        for package in polhode.METHOD_PACKAGES:
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                if not module.name.startswith("_"):
                    importlib.import_module(f"{package}.{module.name}")
        _loaded = True


def get(name: str | Method) -> Method:
    """A method by name, in upper or lower case; `newmark(0.6)` and `taylor3+ep` are made on demand; a
    Method is returned unchanged.

    >>> get("nmb").order
    2
    """
    if isinstance(name, Method):
        return name if name.step is not recorded_step else get(name.name)
    if not isinstance(name, str):
        raise InputError(
            f"method must be a name or a Method, got {brief(name)}; see polhode.methods.names()"
        )
    if not _loaded:
        _load()
    key = name.strip().lower()
    if len(key) > LONGEST_NAME:
        raise InputError(
            f"a method's name has at most {LONGEST_NAME} characters, got {len(key)}: {name[:40]!r}...; "
            "see polhode.methods.names()"
        )
    if key in _methods:
        return _methods[key]
    made = _made.pop(key, None) or _make(name, key)
    if made.name.lower() != key:
        made = get(made.name)  # one method, however its name is written
    while len(_made) >= MADE_LIMIT:
        _made.pop(next(iter([*_made])), None)  # of a list: other threads add to it
    _made[key] = made  # the latest is last
    return made


def _make(name, key):
    """A method with an ending or a parameter."""
    base, plus, ending = key.rpartition("+")
    if plus and ending in _suffixes:
        return _suffixes[ending](get(base))
    for one in FAMILIES:
        parts = re.fullmatch(one.pattern, key)
        if parts:
            return one.make(*parts.groups())
    if plus or closest(key, _suffixes):
        raise InputError(
            f"unknown method {brief(name)}; write NAME+ENDING, as in LP2+yoshida4, with one of the endings "
            f"{', '.join(sorted(_suffixes))}"
        )
    raise _unknown_method(name)


def _unknown_method(name: str) -> InputError:
    """The error for a name that no method has."""
    entries = everything()
    meant = {synonym: entry.name for entry in entries for synonym in entry.synonyms}
    guess = nearest(name, [entry.name for entry in entries] + [one.form for one in FAMILIES], meant)
    common = ", ".join(repr(entry.name) for entry in entries if entry.best_for)
    return InputError(
        f"unknown method {brief(name)}{guess}; recommended: {common}; polhode.methods.names(), or `polhode methods`, "
        "lists all"
    )


def names() -> list[str]:
    """The names of all registered methods, in the order of `everything`.

    Examples
    --------
    >>> "NMB" in names()
    True
    """
    return [entry.name for entry in everything()]


def families() -> list[Family]:
    """The families of methods that are made on demand.

    Examples
    --------
    >>> [one.form for one in families()]
    ['MR2-abc', 'MR4-abc', 'newmark(gamma)', 'taylor(n)']
    """
    _load()
    return sorted(FAMILIES, key=lambda one: one.form)


def everything() -> list[Method]:
    """All registered methods, each once: recommended ones first, the others by family, and the faulty
    variants of papers last.

    Examples
    --------
    >>> everything()[0].name, everything()[0].best_for.partition(":")[0]
    ('LP2', 'a first run with a fixed step (the default)')
    >>> [entry.name for entry in everything() if entry.symplectic is True and entry.order == 4 and entry.torques == 6]
    ['EXACT-RKN4', 'MR2-BM4']
    """
    _load()
    # by file: the order of registration is that of imports, whoever makes them
    ordered = sorted(dict.fromkeys(_methods.values()), key=lambda entry: entry.step.__module__)
    return list(itertools.chain(*grouped(ordered).values()))
