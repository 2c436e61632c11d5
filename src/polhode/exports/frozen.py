"""What a torque takes from outside: it is in a file with the value that it had when the file was written."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from polhode.core.reads import contents, ours, python_function
from polhode.errors import brief
from polhode.loads._torque import Torque
from polhode.loads.load import Load


def frozen(acts: Torque | Load) -> list[str]:
    """Numbers that functions of the user find in their closures and globals, as NAME = VALUE."""
    terms = acts.terms if isinstance(acts, Torque) else (*acts.torque.terms, *acts.force.terms)
    found: dict[str, Any] = {}
    for term in terms:
        function = python_function(term.function)
        if function is not None and not ours(function):
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            found |= {name: contents(cell) for name, cell in cells}
            found |= {
                name: function.__globals__[name]
                for name in function.__code__.co_names
                if name in function.__globals__
            }
    return [f"{name} = {brief(value)}" for name, value in found.items() if _is_number(value)]


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or numbers in a row."""
    if isinstance(value, (tuple, list, np.ndarray)):
        return all(map(_is_number, np.ravel(np.asarray(value, dtype=object))[:10]))
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
