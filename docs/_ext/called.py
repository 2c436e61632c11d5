"""The functions that a step calls, however deep, in the order in which they are met."""

import inspect
from functools import partial
from types import CodeType, FunctionType

from polhode.core.kicks import ON_GROUND

# in full; what lies below is listed
SHOWN = ("polhode.methods.", "polhode.papers.methods.", "polhode.core.kicks")


def functions(step):
    """The functions of the package that are reached from a step, the step first."""
    found, waiting = {}, [step]
    while waiting:
        function = waiting.pop(0)
        if isinstance(function, partial):
            waiting += [function.func, *function.args]
        elif isinstance(function, FunctionType) and _is_new(function, found):
            found[function] = None
            waiting += _reads(function)
    return list(found)


def _is_new(function, found):
    return function not in found and (function.__module__ or "").startswith("polhode.")


def _reads(function):
    names = inspect.getclosurevars(function)
    values = [*names.nonlocals.values(), *names.globals.values(), *_inner(function)]
    if "kicks" in function.__code__.co_names:  # the moves of a splitting: torque.kicks
        values += ON_GROUND
    return [one for value in values for one in (value if isinstance(value, tuple) else (value,))]


def _inner(function):
    """What functions written inside this one read of the globals."""
    codes, seen = [c for c in function.__code__.co_consts if isinstance(c, CodeType)], []
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
        seen += [function.__globals__[n] for n in code.co_names if n in function.__globals__]
    return seen


def has_source(function):
    try:
        return bool(inspect.getsourcelines(function))
    except (OSError, TypeError):
        return False
