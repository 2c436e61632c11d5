"""The method to certify: a registered method, a Method, or a step function of the user's, possibly
in a file of Python or C."""

import math
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from polhode.core.layout import flatten, shape
from polhode.core.reads import python_function
from polhode.errors import ConvergenceError, InputError
from polhode.loads import user_file
from polhode.methods import Method, Motion, everything, get
from polhode.methods._method import start_motion
from polhode.studies.c_code import from_c
from polhode.studies.c_code import is_target as is_c
from polhode.studies.facts.trial import Map, trial_torque

UNIT = 1e-9  # how far from 1 the length of a quaternion may be after a step


def as_method(given: Any) -> Method:
    """A Method from a name, a Method, a step function, "FILE.py" or "FILE.py:NAME", "FILE.c" or a
    library of C."""
    if callable(given) and not isinstance(given, (str, Method)):
        return unknown_facts(given)
    if isinstance(given, (str, Path)) and (user_file.is_target(given) or is_c(given)):
        found = from_file(given)
        if len(found) > 1:
            raise InputError(
                f"{str(given)!r} has {len(found)} methods ({', '.join(m.name for m in found)}); certify them "
                "one by one"
            )
        return found[0]
    return get(given)


def unknown_facts(step: Callable[..., Any]) -> Method:
    """A step function on Motion states as a Method about which nothing is declared."""
    summary = (step.__doc__ or "").strip().partition("\n")[0]
    return Method(
        getattr(step, "__name__", "step"),
        step,
        start_motion,
        Motion,
        order=None,
        torques=None,
        symmetric=None,
        symplectic=None,
        conserves=None,
        solves=None,
        family="user",
        summary=summary,
    )


# --- files ----------------------------------------------------------------------------------------

_registered: dict[str, list[Method]] = {}  # what each file registered


def from_file(target: str | PathLike[str]) -> list[Method]:
    """The methods of a file.

    Of a Python file all it registers or, with "FILE.py:NAME", the one named or a step function of
    that name; of a C file or a library of C the steps in it, or the one named.
    """
    if is_c(target):
        return from_c(target)
    path, name = user_file.split(target)
    module, found = _run_file(path)
    if name:
        return [_find_named(path, module, name, found)]
    if not found:
        raise InputError(
            f"{str(path)!r} registers no method; put @polhode.method(...) on a step function, or name one, as in "
            f"{path}:step"
        )
    return found


def _find_named(path, module, name, found):
    step = getattr(module, name, None)
    for method in found:
        if step is method.step or method.name.lower() == name.lower():
            return method
    if not callable(step):
        raise InputError(
            f"{str(path)!r} has no function and no method {name!r}; name one that it defines, as in {path}:step"
        )
    return unknown_facts(step)


def _run_file(path):
    """The module of a file and the methods it registered when it was run."""
    before = set(map(id, everything()))
    module = user_file.module(path)

    def is_new(method):  # or of the file, where a torque in it was needed first
        own = getattr(python_function(method.step), "__globals__", None) is vars(module)
        return own or id(method) not in before

    return module, _registered.setdefault(
        module.__file__, [method for method in everything() if is_new(method)]
    )


# --- first steps ----------------------------------------------------------------------------------


def check(method: Method, step: float = 0.05) -> None:
    """Take two steps; anything but a state of finite numbers with a unit quaternion is an error."""
    name = method.name
    path = Map(method, trial_torque())
    first = _call_checked(f"the start of {name!r}", lambda: path.start(step))
    _check_state(f"the start of {name!r}", first, method, shape(first))
    state = first
    for k in range(2):
        before = state
        state = _call_checked(
            f"the step of {name!r}", lambda k=k, before=before: path.step(step, k * step, before)
        )
        _check_state(f"the step of {name!r}", state, path.method, shape(first))


def _call_checked(who, action):
    try:
        return action()
    except ConvergenceError:
        raise
    except Exception as error:
        raise InputError(
            f"{who} raised {type(error).__name__}: {error}; correct it in your file"
        ) from error


def _check_state(who, state, method, expected):
    kind = method.state
    fields = ", ".join(kind._fields)
    if not hasattr(state, "_fields") or state._fields != kind._fields:
        raise InputError(
            f"{who} must return a {kind.__name__}({fields}), got {_brief(state)}; end it with return "
            f"{kind.__name__}(...)"
        )
    try:
        numbers = flatten(state)
    except (TypeError, ValueError):
        raise InputError(
            f"{who} must return a {kind.__name__} of floats and tuples of floats, got {_brief(state)}; convert its "
            "entries"
        ) from None
    if shape(state) != expected:
        raise InputError(
            f"{who} returned a state of another shape than the one it was given, got {_brief(state)}; return one "
            "of the same"
        )
    if not all(map(math.isfinite, numbers)):
        raise InputError(
            f"{who} returned a value that is not finite, got {_brief(state)}; correct it in your file"
        )
    length = math.sqrt(sum(x * x for x in state.q))
    if len(state.q) != 4 or abs(length - 1.0) > UNIT:
        raise InputError(
            f"{who} must return a unit quaternion q (x, y, z, w), got one of length {length:.12g}; normalise it"
        )


def _brief(value):
    text = repr(value)
    return text if len(text) <= 90 else text[:87] + "..."
