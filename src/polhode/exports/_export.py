"""`polhode.export`: a method as a file in another language."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from polhode.bodies._body import RigidBody
from polhode.errors import InputError, brief, choice, flag, label
from polhode.exports import languages
from polhode.exports.measured import measured
from polhode.exports.module import module_of
from polhode.exports.provenance import Options, Typed, command
from polhode.exports.source import Untranslatable
from polhode.exports.traced import check_returned, in_tuples
from polhode.loads._system import System
from polhode.loads._torque import Torque
from polhode.loads.conversion import as_torque
from polhode.loads.force import Force
from polhode.loads.foreign import Foreign
from polhode.loads.load import Load, as_load
from polhode.loads.user_file import is_target
from polhode.methods._method import Method
from polhode.methods._registry import get
from polhode.support.atomic import write
from polhode.studies.facts.source import from_file
from polhode.support.regular import file_path

__all__ = ["export", "exported"]

FRAMES = ("spatial", "body")
UNTYPED = Typed()
TURN = "and turn attitudes and vectors by body.axes"
IN_AXES = "give inertia and rotors in these axes, body.axes.T @ one.axis for the axis of a rotor, "


def export(
    method: str | Method = "LP2",
    language: str = "c",
    *,
    torque: Torque | Load | Callable[..., Any] | str | None = None,
    body: RigidBody | ArrayLike | None = None,
    precision: str | None = None,
    frame: str = "spatial",
    flight: bool = False,
    fma: bool = True,
    measure: bool = False,
    target: str | None = None,
    output: str | PathLike[str] | None = None,
) -> str | bytes:
    """Write a method out in another language: one file that needs no library.

    The steps are those of polhode, operation for operation: where numbers are doubles and the
    language has a fused multiplication and addition, results are equal bit for bit.

    Parameters
    ----------
    method : str or Method
        Any method with fixed steps; "FILE.py" or "FILE.py:NAME" for one of your own.
    language : str
        "c", "cpp", "rust", "javascript", "csharp" or "wgsl"; or machine code: "wasm", a module of
        WebAssembly, or "object", an object file.
    torque : Torque, function or str, optional
        Becomes part of the file, with its parameters as constants: a named torque, or a function of
        your own.  Without it the file calls a function that you write in its language.
    body : RigidBody or three moments, optional
        Some methods have a better step for symmetric bodies, such as EXACT; the file is then for
        bodies with the same symmetry, says so, and gives NaN for others.  Moments remain parameters of
        the file.  For a body with rotors the file has the step of a gyrostat, with the body's own motors.
    precision : {"double", "float"}, optional
        The type of all numbers; the language's own by default.
    frame : {"spatial", "body"}
        The frame of the torque that you write.
    flight : bool
        The body flies: the function that you write gets position and velocity too, and returns torque
        and acceleration.  With a load for `torque` the body flies anyway.
    fma : bool
        Fused multiplication and addition, of which products and sums take the place otherwise.
    measure : bool
        Measure the method for the comment at the top of the file, in a second or two: order, symmetry,
        and what a free body keeps.  Declared facts are always there.
    target : str, optional
        The processor and system of an object file, such as "aarch64-linux-gnu", "thumbv7em-none-eabihf" or
        "riscv64-unknown-elf"; this machine by default.
    output : str or Path, optional
        A file to write to; an existing file is replaced.

    Returns
    -------
    str or bytes
        The text of the file, or machine code.

    Examples
    --------
    >>> import polhode
    >>> text = polhode.export("LP2", "c", torque="heavy_top")
    >>> [line for line in text.splitlines() if line.startswith("void LP2_step")][0]
    'void LP2_step(LP2_state *s, double h, double t, const LP2_body *body);'
    """
    content = exported(
        method, language, torque, body, precision, frame, flight, fma, measure, target
    ).content()
    if output is not None:
        write(file_path(output), content)
    return content


def exported(
    method: str | Method,
    language: str,
    torque: Any = None,
    body: Any = None,
    precision: str | None = None,
    frame: str = "spatial",
    flight: bool = False,
    fma: bool = True,
    measure: bool = False,
    target: str | None = None,
    typed: Typed = UNTYPED,
) -> Any:
    """The printer of a file, ready to write it; `typed` are words of a command."""
    printer, entry = languages.get(language), _method(method)
    if target is not None and language != "object":
        raise InputError(
            f"target {brief(target)} is for object files, and the language is {language!r}; give language 'object'"
        )
    precision = printer.precisions[0] if precision is None else precision
    choice(f"precision of {language}", precision, printer.precisions)
    choice("frame", frame, FRAMES)
    acts, given = _acting(torque, flag("flight", flight)), _body(body)
    load = acts and writable(acts)
    measure = flag("measure", measure)
    options = Options(language, precision, frame, flight, flag("fma", fma), measure, target)
    try:
        module = module_of(entry, load, given, frame, flight or isinstance(load, Load))
    except Untranslatable as error:
        if load is None or repr(load.name) in str(error):
            raise
        what = "load" if isinstance(load, Load) else "torque"
        raise InputError(f"{what} {load.name!r} cannot be exported: {error}") from error
    module.load = acts  # with the names and numbers that it was given with
    module.facts = list(measured(entry)) if measure and not printer.binary else []
    if isinstance(method, (str, PathLike)) and is_target(method):
        typed = typed._replace(method=f"{str(method).partition('.py')[0]}.py:{entry.name}")
    module.command = command(entry, torque, body, options, typed)
    made = printer(module, precision, fma)
    made.target = made.target if target is None else label("target", target)
    return made


def _method(given: Any) -> Method:
    """A method by its name, or of a Python file."""
    if isinstance(given, str) and given.endswith("@rtol"):
        raise InputError(
            f"{given} cannot be exported: it chooses its steps; export {given.removesuffix('@rtol')}, for steps of one size"
        )
    if not (isinstance(given, (str, PathLike)) and is_target(given)):
        return get(given)
    found = from_file(given)
    if len(found) > 1:
        raise InputError(
            f"{str(given)!r} has {len(found)} methods; export one of them, {given}:{found[0].name} for example"
        )
    return found[0]


def _acting(given: Any, flight: bool) -> Torque | Load | None:
    """The torque or load that becomes part of the file; None if the user writes it."""
    if given is None:
        return None
    return as_load(given) if flight or isinstance(given, (Load, Force)) else as_torque(given)


def writable(acts: Torque | Load) -> Torque | Load:
    """The same, of functions that can be written in other languages."""
    if isinstance(acts, Load):
        return Load(_tuples(acts.torque), _tuples(acts.force))
    return _tuples(acts)


def _tuples(torque: Torque) -> Any:
    if isinstance(torque, Foreign):
        raise InputError(
            f"torque {torque.name!r} is machine code and has no source; leave out the torque, and call it from the "
            "function that the exported file asks for"
        )
    check_returned(torque)
    return in_tuples(torque)


def _body(given: Any) -> RigidBody | None:
    if given is None:
        return None
    if isinstance(given, System):
        raise InputError(
            f"a system of bodies cannot be exported, got {brief(given)}; export a method for one body"
        )
    body = given if isinstance(given, RigidBody) else RigidBody(given)
    if body.is_principal:
        return body
    numbers = ",".join(f"{one:.17g}" for one in body.moments)
    without = " of the body without its free rotors" * bool(body.rotors)
    raise InputError(
        f"exported steps work in principal axes{without}, and those of {brief(body)} are others; "
        + (
            IN_AXES
            if body.rotors
            else f"give its principal moments alone, --moments {numbers} or body=body.moments, "
        )
        + TURN
    )
