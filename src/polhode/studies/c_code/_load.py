"""From a C file, or a library made of one, to a `Method`.

Code in C is compiled and run only because the user names the file.  It runs inside this process: what
it does wrong cannot be caught.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from polhode.core.foreign_step import step_in_c
from polhode.core.jit import jit
from polhode.core.layout import Quaternion, Vector, filler, layout
from polhode.core.vec import matrix
from polhode.errors import InputError, as_path, brief, nearest
from polhode.loads.user_file import is_target as is_python
from polhode.methods import Method, Motion, get
from polhode.methods._method import IN_C
from polhode.studies.c_code.compiler import build, environment
from polhode.studies.c_code.exported import names_in, read
from polhode.studies.c_code.declared import CHECKS, facts_in, with_facts

LIBRARIES = (".so", ".dylib", ".dll")
TARGET = re.compile(r"(?P<path>.*\.(?:c|so|dylib|dll))(?::(?P<name>\w*))?", re.DOTALL)
STEPS = re.compile(r"\bvoid\s+(?:(\w+)_)?step\s*\(")
# what a file is compiled with: the compiler compares it with the functions of the user
SIGNATURE = (
    "void {function}(double h, double t, double q[4], double omega[3], const double I[3], "
    "void (*torque)(double t, const double q[4], const double omega[3], double torque[3], void *context), "
    "void *context{memory});"
)
ASKED = SIGNATURE.format(function="step", memory="")


def is_target(given: Any) -> bool:
    """Whether text names a C file or a library, "FILE.c", or a step in it, "FILE.c:NAME"."""
    return TARGET.fullmatch(str(given)) is not None


def split(target: str | PathLike[str]) -> tuple[Path, str]:
    """(path, name) of a target; the name is "" where there is none."""
    found = TARGET.fullmatch(str(target))
    if found is None:
        raise InputError(
            f"code in C is FILE.c or a library, {', '.join(f'FILE{one}' for one in LIBRARIES)}, got {brief(target)}; "
            "give one of these, or FILE.c:NAME for NAME_step in it"
        )
    return Path(found["path"]), found["name"] or ""


@dataclass(frozen=True, repr=False)
class MethodInC(Method):
    """A method that other processes make again from its file."""

    target: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {name: getattr(self, name) for name in CHECKS}
        return _again, (self.target, self.name, facts)


def _again(target: str, name: str, facts: dict[str, Any]) -> Method:
    return replace(next(one for one in from_c(target) if one.name == name), **facts)


def from_c(target: str | PathLike[str]) -> list[Method]:
    """The methods of a C file or of a library: all in a file or, with "FILE.c:NAME", the one named."""
    path, name = split(target)
    place = as_path("path", path).resolve()
    if not place.is_file():
        raise InputError(
            f"there is no file {str(path)!r}; give the path of a C file or a library, FILE.c or FILE.so"
        )
    whole = f"{place}:{name}" if name else str(place)
    if place.suffix in LIBRARIES:
        return [replace(_of_library(place, name), target=whole)]
    source = place.read_text("utf-8", errors="replace")
    written = names_in(source)
    names = written or list(dict.fromkeys(STEPS.findall(source)))
    if name:
        if name not in names:
            there = ", ".join(f"{_prefix(one)}step" for one in names) or "none"
            raise InputError(
                f"{str(path)!r} has no function {name}_step{nearest(name, names)}, but {there}; write {name}_step with "
                f"these arguments: {ASKED}"
            )
        names = [name]
    if not names:
        raise InputError(f"{str(path)!r} has no function step and no NAME_step; write {ASKED}")
    of = _of_exported if written else _of_source
    found = [of(place, source, one, len(names) > 1 or bool(name)) for one in names]
    return [replace(one, target=whole) for one in found]


# --- libraries ------------------------------------------------------------------------------------


class _Library(NamedTuple):
    code: Any
    digest: str


_libraries: dict[Any, _Library] = {}  # by what they were made from; a loaded one stays


def _load(path: Path, where: str) -> _Library:
    """Load a library, once for its contents."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:20]
    if digest not in _libraries:
        try:
            _libraries[digest] = _Library(ctypes.CDLL(str(path)), digest)
        except OSError as error:
            raise InputError(
                f"{where} cannot be loaded: {error}; it must be a shared library for this processor"
            ) from None
    return _libraries[digest]


def _compiled(place: Path, text: str) -> _Library:
    """The library of a C file and of the text that follows it."""
    key = place, place.read_bytes(), text, *environment()
    if key not in _libraries:
        # a library that is in use can be deleted, except on Windows
        with TemporaryDirectory(prefix="polhode-", ignore_cleanup_errors=True) as folder:
            source = Path(folder) / "step.c"
            source.write_text(text, encoding="utf-8")
            library = source.with_suffix(".dll" if sys.platform == "win32" else ".so")
            build(source, library, repr(str(place)), place)
            _libraries[key] = _load(library, repr(str(place)))
    return _libraries[key]


def _number(library: _Library, name: str) -> int:
    """An int of a library, 0 where there is none of the name."""
    try:
        return ctypes.c_int.in_dll(library.code, name).value
    except ValueError:
        return 0


def _function(
    library: _Library, name: str, attitude: int, remembers: bool
) -> Callable[..., Any] | None:
    """A function of a library for loops, None where there is none of the name."""
    found = getattr(library.code, name, None)
    if found is None:
        return None
    address: Any = ctypes.cast(found, ctypes.c_void_p).value
    return step_in_c(address, f"polhode_{library.digest}_{name}", attitude, remembers)


# --- the signature to be written by hand ----------------------------------------------------------


def _prefix(name: str) -> str:
    return f"{name}_" if name else ""


def _of_source(place: Path, source: str, name: str, named: bool) -> MethodInC:
    prefix = _prefix(name)
    memory = ", double *memory" if re.search(rf"\bint\s+{prefix}memory\b", source) else ""
    functions = [f"{prefix}step"]
    if re.search(rf"\bvoid\s+{prefix}start\s*\(", source):
        functions.append(f"{prefix}start")
    text = "\n".join(SIGNATURE.format(function=one, memory=memory) for one in functions)
    library = _compiled(place, text + "\n")
    shown = f"{place.name}:{name}" if named and name else place.name
    return with_facts(_by_hand(library, shown, prefix, place), facts_in(source))


def _of_library(place: Path, name: str) -> MethodInC:
    library = _load(place, repr(str(place)))
    own = place.stem.removeprefix("lib")
    tried = [_prefix(one) for one in ([name] if name else ["", own])]
    for prefix in tried:
        if hasattr(library.code, f"{prefix}make_body"):
            raise InputError(
                f"{str(place)!r} was made from a file of `polhode export`, whose structures are not in the library; "
                "give the C file"
            )
        if hasattr(library.code, f"{prefix}step"):
            shown = f"{place.name}:{name}" if name else place.name
            return _by_hand(library, shown, prefix, place)
    raise InputError(
        f"{str(place)!r} has none of the functions {', '.join(f'{one}step' for one in tried)}; "
        f"name one, as in {place.name}:NAME for NAME_step, or write {ASKED}"
    )


def _by_hand(library: _Library, shown: str, prefix: str, place: Path) -> MethodInC:
    memory = _number(library, f"{prefix}memory")
    if not 0 <= memory <= MOST:
        raise InputError(
            f"{prefix}memory must be from 0 to {MOST}, got {memory} in {str(place)!r}; it is how many numbers the "
            "step remembers"
        )
    kind = _state_with(memory)
    remembers = memory > 0
    advance = _function(library, f"{prefix}step", 4, remembers)
    begin = _function(library, f"{prefix}start", 4, remembers)
    if advance is None:
        raise InputError(
            f"{str(place)!r} has no {prefix}step that can be called from outside; leave out `static`"
        )
    return _method(shown, kind, 7 + memory, advance, begin, at_quaternion, f"{place.name}, in C")


MOST = 1000  # numbers of memory


def _state_with(memory: int) -> Any:
    if not memory:
        return Motion
    made: Any = tuple
    fields = [("q", Quaternion), ("Om", Vector), ("memory", made[(float,) * memory])]
    return NamedTuple("MotionInC", fields)  # type: ignore[misc]


# --- files of `polhode export` --------------------------------------------------------------------


def _of_exported(place: Path, source: str, name: str, named: bool) -> MethodInC:
    file = read(source, name, repr(str(place)))
    library = _compiled(place, file.adapter)
    answer = in_body if file.frame == "body" else in_space
    advance, begin = (_function(library, f"polhode_{one}", 9, True) for one in ("step", "start"))
    made = _method(
        f"{place.name}:{name}" if named else place.name,
        file.kind,
        file.size,
        advance,
        begin,
        answer,
        f"{file.method or name}, exported to C",
    )
    if file.method and not is_python(file.method):
        entry = get(file.method)
        made = replace(made, **{key: getattr(entry, key) for key in CLAIMED})
    return with_facts(made, facts_in(source))


# what an exported step claims: what the method does
CLAIMED = (
    "order",
    "free_order",
    "omega_order",
    "symmetric",
    "symplectic",
    "conserves",
    "torques",
    "multistep",
)


# --- what loops call ------------------------------------------------------------------------------


@jit
def at_quaternion(t, q, Om, torque, p):
    a, b, c = torque.spatial(t, matrix(q), Om, p)
    return (float(a), float(b), float(c))


@jit
def in_space(t, R, Om, torque, p):
    a, b, c = torque.spatial(t, (R[:3], R[3:6], R[6:]), Om, p)
    return (float(a), float(b), float(c))


@jit
def in_body(t, R, Om, torque, p):
    a, b, c = torque.body(t, (R[:3], R[3:6], R[6:]), Om, p)
    return (float(a), float(b), float(c))


def _method(
    name: str, kind: Any, count: int, advance: Any, begin: Any, answer: Any, summary: str
) -> MethodInC:
    """A method about which nothing is declared."""
    numbers = filler(kind, (0.0,) * count, range(count))
    made = layout(kind, flat=True).unpack
    blank = (0.0,) * (count - 7)

    @jit
    def step(h, t, s, body, torque, p):
        return made(advance(h, t, numbers(s), body.I, answer, torque, p), 0)

    @jit
    def at_rest(h, t, q, Om, body, torque, p):
        return made(q + Om + blank, 0)

    @jit
    def start(h, t, q, Om, body, torque, p):
        return made(begin(h, t, q + Om + blank, body.I, answer, torque, p), 0)

    return MethodInC(
        name,
        step,
        start if begin else at_rest,
        kind,
        order=None,
        torques=None,
        symmetric=None,
        symplectic=None,
        conserves=None,
        solves=None,
        multistep=count > 7 and answer is at_quaternion,
        family=IN_C,
        summary=summary,
    )
