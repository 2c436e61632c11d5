"""The registry: a method is one pure `step` function and the facts it declares about itself.

Everything that speaks of methods (tables, comparisons, certificates, documentation) reads this
registry, and one test file measures every declared fact.  A fact that is not declared must fail
when measured, so that the table cannot be timid.
"""

import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import polhode
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector
from polhode.errors import InputError, brief, unknown


class Motion(NamedTuple):
    """The smallest state: attitude (body to space) and body angular velocity."""

    q: Quaternion
    Om: Vector


@jit
def start_motion(h, t, q, Om, body, torque, p):
    return Motion(q, Om)


@dataclass(frozen=True)
class Method:
    """A method and its declared facts.

    Attributes
    ----------
    order : int
        Order of attitude and momentum under a nonlinear torque.
    free_order : tuple of int
        Orders of attitude and body momentum for the torque-free body, where they differ from
        `order`.
    omega_order : int or None
        Order under torques that look at the angular velocity, where it differs from `order`.
    torques : int or None
        Torque evaluations per step, beyond one at the start; None when an iteration decides.
    solves : int
        Nonlinear equations solved per step.
    symmetric : bool
        A step of h followed by a step of -h comes back to where it began.
    symplectic : bool or "orbits"
        The step preserves the symplectic form of T*SO(3); "orbits": only that of the body momentum
        on its coadjoint orbits.
    conserves : tuple of str
        What the torque-free motion keeps to round-off: "momentum" (spatial), "energy".
    multistep : bool
        The state remembers more than attitude and velocity: a start from these alone is a new
        start.
    limit : str
        The largest step there is a solution for, in words, where that is known.
    adapt : function or None
        `adapt(torque, body)` gives the same method with a step made for what is known of the torque
        (that there is none, that it offers derivatives, that it looks at the angular velocity) and
        of the body (that it is symmetric; None: nothing is known, or there are several); without it
        the step takes every torque and body alike.
    control : core.adaptive.Pair, methods._series.Recursion or None
        What a loop that chooses its own steps needs of the method; without it the method takes
        steps of given size alone.
    potential : bool
        The step asks for the potential energy, `torque.potential(t, R, p)`.
    remark : str
        What a run has to say of the method as it was run.
    counted : tuple of (str, function)
        Fields of the state that count steps, each with a function that says the total in words.
    restores_energy : bool
        After a step the state is moved to one of the right energy, where that is known: NAME+ep.
    """

    name: str
    step: Callable
    start: Callable
    state: type
    order: int | None
    torques: int | None
    symmetric: bool | None
    symplectic: bool | str | None
    conserves: tuple = ()
    free_order: tuple = ()
    solves: int = 0
    multistep: bool = False
    family: str = ""
    aliases: tuple = ()
    cite: str = ""
    summary: str = ""
    adapt: Callable | None = None
    limit: str = ""
    control: tuple | None = None
    potential: bool = False
    remark: str = ""
    omega_order: int | None = None
    restores_energy: bool = False
    counted: tuple = ()

    def order_under(self, torque: Any) -> int | None:
        """The order under a torque."""
        return (
            self.omega_order if torque.feels_omega and self.omega_order is not None else self.order
        )

    def lowered(self, torque: Any) -> str:
        """What is lost under a torque that looks at the angular velocity, in words; empty where
        nothing is."""
        order = self.order_under(torque)
        return (
            ""
            if order == self.order
            else (
                f"{self.name} is of order {order}, not {self.order}, under a torque that looks at "
                "the angular velocity"
            )
        )

    def remarks(self, total: Callable[[str], float]) -> str:
        """What a run adds to its message; `total(field)` is the total of a field of the state."""
        said = [self.remark, *(words(total(field)) for field, words in self.counted)]
        return "".join(f"; {one}" for one in said if one)

    def suited(self, torque: Any, body: Any = None) -> "Method":
        """The method as it is best run with a torque and, where there is just one, a body."""
        return self if self.adapt is None else self.adapt(torque, body)

    @property
    def implicit(self) -> bool:
        """Whether a step solves a nonlinear equation."""
        return bool(self.solves)

    def facts(self) -> dict[str, Any]:
        """The facts as plain data, for tables and JSON."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "family": self.family,
            "order": self.order,
            "free_order": list(self.free_order),
            "omega_order": self.order if self.omega_order is None else self.omega_order,
            "torques_per_step": self.torques,
            "implicit": self.implicit,
            "solves_per_step": self.solves,
            "symmetric": self.symmetric,
            "symplectic": self.symplectic,
            "conserves": list(self.conserves or ()),
            "multistep": self.multistep,
            "reference": self.cite,
            "summary": self.summary,
            "limit": self.limit,
        }

    def __repr__(self) -> str:
        return f"<method {self.name}, order {self.order}>"


F = TypeVar("F", bound=Callable[..., Any])
LONGEST_NAME = 100

_methods: dict[str, Method] = {}
_suffixes: dict[str, Callable] = {}
_families: list["Family"] = []
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
    cite: str = "",
    summary: str = "",
    limit: str = "",
    control: tuple | None = None,
) -> Callable[[F], F]:
    """Register the decorated function `step(h, t, s, body, torque, p)` as a method.

    The facts are those of `Method`; `order`, `symmetric` and `symplectic` may be left out by those
    who wait for `polhode.certify` to find them.  The step gets the state `s` at time t and returns
    the one at t + h.

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
                omega_order=omega_order,
            )
        )
        return step

    return enter


class Family(NamedTuple):
    """Methods made on demand, when their name is looked for."""

    form: str  # how a name is written: newmark(gamma), MR2-abc
    pattern: str  # a regular expression of the names, in lower case
    make: Callable  # from the groups of the pattern, as text
    standard: str  # a registered method that stands for the family
    summary: str


def family(form: str, pattern: str, standard: str) -> Callable[[F], F]:
    """Register a factory of methods made on demand, such as `MR2-312`; its arguments are the groups
    of the pattern.  The fields are those of `Family`, the summary is the first line of its
    docstring."""

    def enter(factory):
        _families.append(Family(form, pattern, factory, standard, _first_line(factory.__doc__)))
        return factory

    return enter


def number_family(name: str, parameter: str, standard: str) -> Callable[[F], F]:
    """Register a factory of methods with a number as a parameter: `newmark(0.6)`, `taylor(12)`.
    Where the parameter has a default the name alone is a method too."""

    def enter(factory):
        (one,) = inspect.signature(factory).parameters.values()
        optional = one.default is not one.empty

        def make(text):
            return factory() if text is None else factory(_number(name, text))

        make.__doc__ = factory.__doc__
        brackets = r"\((.*)\)"
        pattern = name + (f"(?:{brackets})?" if optional else brackets)
        family(f"{name}({parameter})", pattern, standard)(make)
        return factory

    return enter


def _number(name, text):
    """The parameter of NAME(text)."""
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
        if not all(map(math.isfinite, numbers)):
            raise ValueError
    except ValueError:
        raise InputError(
            f"'{name}({text})': the parameters must be finite numbers; write {name}(1)"
        ) from None
    if len(numbers) != 1:
        raise InputError(
            f"'{name}({text})': {name}(...) takes one number, got {len(numbers)}; write {name}(1)"
        )
    return numbers[0]


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
    """A method by name, in any case; `newmark(0.6)` and `taylor3+ep` are made on demand; a Method
    is returned as it is.

    >>> get("nmb").order
    2
    """
    if isinstance(name, Method):
        return name
    if not isinstance(name, str):
        raise InputError(
            f"method must be a name or a Method, got {brief(name)}; see polhode.methods.names()"
        )
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
    while len(_made) >= MADE_LIMIT:
        _made.pop(next(iter([*_made])), None)  # of a list: other threads add to it
    _made[key] = made  # the latest is last
    return made


def _make(name, key):
    """A method with an ending or a parameter."""
    base, plus, ending = key.rpartition("+")
    if plus and ending in _suffixes:
        return _suffixes[ending](get(base))
    for one in _families:
        parts = re.fullmatch(one.pattern, key)
        if parts:
            return one.make(*parts.groups())
    found = unknown("method", name, names() + [one.form for one in _families])
    raise InputError(
        f"{found}; a symmetric one may be composed ({', '.join(f'NAME+{one}' for one in sorted(_suffixes))})"
    )


def names() -> list[str]:
    """The names of all registered methods, in the order of registration.

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
    return list(_families)


def everything() -> list[Method]:
    """All registered methods, each once.

    Examples
    --------
    >>> [entry.name for entry in everything() if entry.symplectic is True and entry.order == 4 and entry.torques == 6]
    ['EXACT-RKN4', 'MR2-BM4']
    """
    _load()
    return list(dict.fromkeys(_methods.values()))


def variant(entry: Method, **changes: Any) -> Method:
    """A copy of a method with other facts."""
    return replace(entry, **changes)
