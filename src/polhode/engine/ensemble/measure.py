"""Quantities of a motion: energy, momentum, and the user's own functions, for many bodies at once.

A quantity is a kernel f(t, motion, body, p) in principal axes; p are the parameters of the torque,
in flight those of torque and force and the mass (`engine.flight.Parameters`).  A user's function is
called with those of t, R, omega, body, p that it names: time, attitude matrix, body angular velocity
in the user's axes, principal moments (body.I), parameters of the torque; in flight also x and v,
position and velocity.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from polhode.loads.kernels import nested, no_potential, parameter_text, same, scope_of
from polhode.loads.own_axes import potential_in_axes
from polhode.loads._torque import Torque
from polhode.loads.force import Force
from polhode.loads.foreign import Foreign
from polhode.loads.agreement import agree
from polhode.core import digest
from polhode.core.loops import tiles
from polhode.core.generated import generated
from polhode.core.jit import bind, compiles, interpreted, jit
from polhode.core.layout import layout, shape
from polhode.core.loops.fixed import load_body
from polhode.core.motions import FLIGHT, ROTATION, Airborne, with_rotors
from polhode.core.vec import apply, dot, matmul, matrix, norm, qrotate, times, transpose
from polhode.engine.ensemble.bodies import Bodies
from polhode.engine.ensemble.parameters import parameter_rows
from polhode.engine.ensemble.spin import kinetic_energy_of, momentum_of
from polhode.engine.flight import Parameters
from polhode.errors import InputError, brief, unknown

FLYING_ARGUMENTS = ("x", "v")
ARGUMENTS = ("t", "R", "omega", "body", "p", *FLYING_ARGUMENTS)
Kernel = Callable[..., Any]


@jit
def kinetic_energy(t, motion, body, p):
    return 0.5 * dot(motion.omega, times(body.I, motion.omega))


@jit
def own_momentum(motion, body):
    return times(body.I, motion.omega)


def momentum_size(own: Kernel) -> Kernel:
    @jit
    def momentum(t, motion, body, p):
        return norm(own(motion, body))

    return momentum


def momentum_in_space(own: Kernel, i: int) -> Kernel:
    @jit
    def component(t, motion, body, p):
        return qrotate(motion.attitude, own(motion, body))[i]

    return component


def energy_with(turning: Kernel, potential: Kernel) -> Kernel:
    @jit
    def energy(t, motion, body, p):
        return turning(t, motion, body, p) + potential(t, matrix(motion.attitude), p)

    return energy


def kinetic_energy_in_flight(turning: Kernel) -> Kernel:
    @jit
    def energy(t, motion, body, p):
        moving = 0.5 * p.mass * dot(motion.velocity, motion.velocity)
        return turning(t, motion, body, p) + moving

    return energy


def energy_in_flight(turning: Kernel, of_torque: Kernel, of_force: Kernel) -> Kernel:
    kinetic = kinetic_energy_in_flight(turning)

    @jit
    def energy(t, motion, body, p):
        R = matrix(motion.attitude)
        potential = of_torque(t, R, p.torque) + of_force(
            t, R, Airborne(p.force, motion.position, motion.velocity)
        )
        return kinetic(t, motion, body, p) + potential

    return energy


@jit
def torque_parameters(p):
    return p.torque


def position(i: int) -> Kernel:
    @jit
    def component(t, motion, body, p):
        return motion.position[i]

    return component


def velocity(i: int) -> Kernel:
    @jit
    def component(t, motion, body, p):
        return motion.velocity[i]

    return component


QUANTITIES = ("energy", "kinetic_energy", "momentum", *(f"momentum_{axis}" for axis in "xyz"))
IN_FLIGHT = {
    f"{part.__name__}_{axis}": part(i)
    for part in (position, velocity)
    for i, axis in enumerate("xyz")
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


def of_function(function: Kernel, own_axes: bool, params: Any, flying: bool) -> Kernel:
    """A user's function as a quantity."""
    names = inspect.signature(function).parameters
    if "p" in names and params is None:
        raise InputError(
            f"the function {function.__name__!r} has an argument p, but the torque has no parameters; leave p out"
        )
    forms = {
        "R": "matrix(R)",
        "omega": "vector(Om)",
        "p": "".join(parameter_text(params, "array", p="inner")),
        "x": "vector(motion.position)",
        "v": "vector(motion.velocity)",
    }
    called = ", ".join(forms.get(name, name) for name in names)
    return generated(
        __name__,
        "quantity",
        "t, motion, body, p",
        ["R, Om, inner = turned(attitude(motion.attitude), motion.omega, own(p))"],
        f"float(function({called}))",
        function=function,
        turned=in_own_axes if own_axes else as_given,
        own=torque_parameters if flying else same,
        attitude=matrix,
        **scope_of(params, "array"),
    )


class Measure:
    """Evaluates quantities of the bodies of an ensemble."""

    def __init__(
        self,
        bodies: Bodies,
        torque: Torque,
        values: dict[str, Any],
        functions: Any = (),
        force: Force | None = None,
    ) -> None:
        self.bodies, self.torque, self.functions = bodies, torque, dict(functions)
        base = ROTATION if force is None else FLIGHT
        self.force, self.kind = force, with_rotors(base, bodies.spinning)
        self.loads = [torque] if force is None else [torque, force]
        values = {name: getattr(value, "host", value) for name, value in values.items()}
        axes = [] if bodies.axes is None else [*bodies.axes.reshape(-1, 9).T]
        rows = [row for load in self.loads for row in (*axes, *parameter_rows(load, values))]
        parts = [(nested(np.eye(3)), load.values) if axes else load.values for load in self.loads]
        structure = parts[0] if force is None else Parameters(parts[0], parts[1], 1.0)
        rows += [] if force is None else [bodies.masses]
        count = max((len(row) for row in rows), default=1)
        self.parameters = np.array([np.broadcast_to(row, count) for row in rows]).reshape(
            len(rows), count
        )
        self.shape = shape(structure)
        self._loops: dict[str, Kernel] = {}

    @cached_property
    def moments(self) -> np.ndarray:
        """What the kernels read of the bodies, (numbers, 1 or n)."""
        return self.bodies.numbers

    def _kernel(self, name: str) -> Any:
        if name in self.functions:
            params = None if isinstance(self.torque, Foreign) else self.torque.params
            own_axes, flying = self.bodies.axes is not None, self.force is not None
            return of_function(self.functions[name], own_axes, params, flying)
        rotors = self.kind.spinning
        turning = kinetic_energy_of(rotors) if rotors else kinetic_energy
        if name == "energy":
            potentials = [self._potential(load) for load in self.loads]
            if self.force is not None:
                return energy_in_flight(turning, *(one or no_potential for one in potentials))
            return energy_with(turning, *potentials) if potentials[0] else turning
        if name == "kinetic_energy":
            return turning if self.force is None else kinetic_energy_in_flight(turning)
        if name in IN_FLIGHT:
            return IN_FLIGHT[name]
        own = momentum_of(rotors) if rotors else own_momentum
        if name == "momentum":
            return momentum_size(own)
        return momentum_in_space(own, "xyz".index(name[-1]))

    def _potential(self, load):
        """The potential of a torque or force for principal axes, or None."""
        kernel = load.potential_kernel()
        if kernel is None or self.bodies.axes is None:
            return kernel
        return potential_in_axes(kernel, load.setting)

    def _loop(self, name: str, t: np.ndarray, motions: np.ndarray) -> Kernel:
        """The loop as machine code if numba can compile it and it agrees with Python for some of the
        bodies, else as Python."""
        names = {
            "quantity": self._kernel(name),
            "load_body": self.kind.names().get("load_body", load_body),
            "load_motion": layout(self.kind.parts, rows=True).unpack,
            "load_parameters": layout(self.shape).unpack,
            "own_body": tiles.each if self.bodies.count > 1 else tiles.shared,
            "own_parameters": tiles.each if self.parameters.shape[1] > 1 else tiles.shared,
        }
        own, none = self.functions.get(name), np.empty((0, self.kind.width))
        python = interpreted(tiles.measure, **names)
        obstacles = (
            [digest.obstacle(own)] if own else [load.potential_obstacle() for load in self.loads]
        )
        if any(obstacles):
            return python
        machine = bind(tiles.measure, **names)
        arguments = none[:, 0], none, self.moments, self.parameters, none[:, 0]
        if not compiles(lambda: machine(*arguments)):
            return python
        trusted = own is None and all(load.is_ours for load in self.loads)
        return machine if trusted or self._agree(machine, python, t, motions) else python

    def _agree(self, machine: Kernel, python: Kernel, t: np.ndarray, motions: np.ndarray) -> bool:
        few = np.unique(np.linspace(0, len(t) - 1, 12).astype(int))
        moments, parameters = (
            rows if rows.shape[1] == 1 else rows[:, few] for rows in (self.moments, self.parameters)
        )
        ours, theirs = np.empty((2, len(few)))
        try:
            for loop, out in ((machine, ours), (python, theirs)):
                loop(t[few], motions[few], moments, parameters, out)
        except Exception:  # raised again when it runs as Python
            return False
        return agree(ours, theirs)

    def __call__(self, name: str, t: Any, motions: np.ndarray) -> np.ndarray:
        """The quantity (n,) of motions (n, width) in principal axes at times (n,)."""
        if name not in self._loops:
            self._loops[name] = self._loop(name, t, motions)
        out = np.empty(len(motions))
        try:
            self._loops[name](t, motions, self.moments, self.parameters, out)
        except Exception as error:
            if name not in self.functions:
                raise
            raise InputError(
                f"the statistic {name!r} must return one number, and raised {type(error).__name__}: {error}; "
                "correct it"
            ) from error
        return out
