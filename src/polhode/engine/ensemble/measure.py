"""Quantities of a motion: energy, momentum, and the user's own functions, for many bodies at once.

A quantity is a kernel f(t, q, Om, body, p) in principal axes.  A user's function is called with those
of t, R, omega, body, p that it names: time, attitude matrix, body angular velocity in the user's
axes, principal moments (body.I), parameters of the torque.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.loads.kernels import as_array, handed, nested, vector_array
from polhode.loads.own_axes import potential_in_axes
from polhode.loads._torque import Torque
from polhode.loads.foreign import Foreign
from polhode.loads.agreement import agree
from polhode.core import digest
from polhode.core.loops import tiles
from polhode.core.generated import generated
from polhode.core.jit import bind, compiles, interpreted, jit
from polhode.core.layout import layout, shape
from polhode.core.loops.fixed import load_body
from polhode.core.vec import apply, dot, matmul, matrix, norm, qrotate, times, transpose
from polhode.engine.ensemble.inputs import Bodies
from polhode.engine.ensemble.parameters import parameter_rows
from polhode.errors import InputError, brief, unknown

ARGUMENTS = ("t", "R", "omega", "body", "p")
Kernel = Callable[..., Any]


@jit
def kinetic_energy(t, q, Om, body, p):
    return 0.5 * dot(Om, times(body.I, Om))


@jit
def momentum(t, q, Om, body, p):
    return norm(times(body.I, Om))


def momentum_in_space(i: int) -> Kernel:
    @jit
    def component(t, q, Om, body, p):
        return qrotate(q, times(body.I, Om))[i]

    return component


def energy_with(potential: Kernel) -> Kernel:
    @jit
    def energy(t, q, Om, body, p):
        return 0.5 * dot(Om, times(body.I, Om)) + potential(t, matrix(q), p)

    return energy


QUANTITIES: dict[str, Kernel | None] = {
    "energy": None,
    "kinetic_energy": kinetic_energy,
    "momentum": momentum,
    **{f"momentum_{axis}": momentum_in_space(i) for i, axis in enumerate("xyz")},
}


@jit
def as_given(R, Om, p):
    return R, Om, p


@jit
def in_own_axes(R, Om, p):
    axes, inner = p
    return matmul(R, transpose(axes)), apply(axes, Om), inner


def check_function(name: str, function: Callable[..., Any]) -> None:
    """Check that a statistic is a function, and that its arguments are known."""
    if not callable(function):
        raise InputError(
            f"the statistic {name!r} must be a function of any of {', '.join(ARGUMENTS)}, got {brief(function)}; "
            "write def f(omega): ..."
        )
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise InputError(
            f"the statistic {name!r} is a function that has unknown arguments, {brief(function)}; write "
            "def f(omega): ... around it"
        ) from None
    for argument in arguments:
        if argument not in ARGUMENTS:
            raise unknown(
                f"argument of the function for the statistic {name!r}:", argument, ARGUMENTS
            )


def of_function(function: Kernel, own_axes: bool, params: Any) -> Kernel:
    """A user's function as a quantity."""
    names = inspect.signature(function).parameters
    if "p" in names and params is None:
        raise InputError(
            f"the function {function.__name__!r} has an argument p, but the torque has no parameters; leave p out"
        )
    forms = {"R": "as_array(R)", "omega": "vector_array(Om)", "p": "given(inner)[0]"}
    called = ", ".join(forms.get(name, name) for name in names)
    return generated(
        __name__,
        "quantity",
        "t, q, Om, body, p",
        ["R, Om, inner = turned(matrix(q), Om, p)"],
        f"float(function({called}))",
        function=function,
        turned=in_own_axes if own_axes else as_given,
        given=handed(params, "array"),
        matrix=matrix,
        as_array=as_array,
        vector_array=vector_array,
    )


class Measure:
    """Evaluates quantities of the bodies of an ensemble."""

    def __init__(
        self, bodies: Bodies, torque: Torque, values: dict[str, Any], functions: Any = ()
    ) -> None:
        self.bodies, self.torque, self.functions = bodies, torque, dict(functions)
        values = {name: getattr(value, "host", value) for name, value in values.items()}
        rows, structure = parameter_rows(torque, values), torque.values
        if bodies.axes is not None:
            rows, structure = [*bodies.axes.reshape(-1, 9).T, *rows], (nested(np.eye(3)), structure)
        count = max((len(row) for row in rows), default=1)
        self.parameters = np.array([np.broadcast_to(row, count) for row in rows]).reshape(
            len(rows), count
        )
        self.shape = shape(structure)
        self._loops: dict[str, Kernel] = {}

    def _kernel(self, name: str) -> Any:
        if name in self.functions:
            params = None if isinstance(self.torque, Foreign) else self.torque.params
            return of_function(self.functions[name], self.bodies.axes is not None, params)
        if name == "energy":
            potential = self.torque.potential_kernel()
            if potential is None:
                return kinetic_energy
            return energy_with(
                potential_in_axes(potential) if self.bodies.axes is not None else potential
            )
        return QUANTITIES[name]

    def _loop(self, name: str, t: np.ndarray, motions: np.ndarray) -> Kernel:
        """The loop as machine code if numba can compile it and it agrees with Python for some of the
        bodies, else as Python."""
        names = {
            "quantity": self._kernel(name),
            "load_body": load_body,
            "load_parameters": layout(self.shape).unpack,
            "own_body": tiles.each if self.bodies.count > 1 else tiles.shared,
            "own_parameters": tiles.each if self.parameters.shape[1] > 1 else tiles.shared,
        }
        own, none = self.functions.get(name), np.empty((0, 7))
        python = interpreted(tiles.measure, **names)
        if (digest.obstacle(own) if own else self.torque.potential_obstacle()) is not None:
            return python
        machine = bind(tiles.measure, **names)
        arguments = none[:, 0], none, self.bodies.moments, self.parameters, none[:, 0]
        if not compiles(lambda: machine(*arguments)):
            return python
        trusted = own is None and self.torque.is_ours
        return machine if trusted or self._agree(machine, python, t, motions) else python

    def _agree(self, machine: Kernel, python: Kernel, t: np.ndarray, motions: np.ndarray) -> bool:
        few = np.unique(np.linspace(0, len(t) - 1, 12).astype(int))
        moments, parameters = (
            rows if rows.shape[1] == 1 else rows[:, few]
            for rows in (self.bodies.moments, self.parameters)
        )
        ours, theirs = np.empty((2, len(few)))
        try:
            for loop, out in ((machine, ours), (python, theirs)):
                loop(t[few], motions[few], moments, parameters, out)
        except Exception:  # raised again when it runs as Python
            return False
        return agree(ours, theirs)

    def __call__(self, name: str, t: Any, motions: np.ndarray) -> np.ndarray:
        """The quantity (n,) of motions (n, 7) in principal axes at times (n,)."""
        if name not in self._loops:
            self._loops[name] = self._loop(name, t, motions)
        out = np.empty(len(motions))
        try:
            self._loops[name](t, motions, self.bodies.moments, self.parameters, out)
        except Exception as error:
            if name not in self.functions:
                raise
            raise InputError(
                f"the statistic {name!r} must return one number, and raised {type(error).__name__}: {error}; "
                "correct it"
            ) from error
        return out
