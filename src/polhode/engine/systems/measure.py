"""Quantities of many systems: energies, momenta, and the user's own functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.core.few import few
from polhode.core.generated import generated
from polhode.core.jit import bind, interpreted
from polhode.core.layout import layout, shape
from polhode.core.loops import tiles
from polhode.core.motions import of_bodies
from polhode.engine.ensemble.measure import ARGUMENTS
from polhode.errors import InputError
from polhode.loads import few_kernels
from polhode.loads._system import System
from polhode.results.motion import in_user_axes, parts
from polhode.results.of_bodies import OfBodies


class Moving(NamedTuple):
    """The motions of many systems."""

    body: System
    quaternion: np.ndarray
    omega: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


class Quantities(Moving, OfBodies):
    """What follows from them."""


class SystemMeasure:
    """Evaluates quantities of motions in principal axes; `parameters` are those of the interaction, (m, 1)
    or (m, n)."""

    def __init__(
        self,
        system: System,
        parameters: np.ndarray,
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.system, self.parameters = system, parameters
        self.functions = dict(functions or {})
        self.kind = of_bodies(len(system))

    @cached_property
    def _potential(self) -> Callable[..., Any] | None:
        """The loop for the potential energy; None where it is not known."""
        interaction, n = self.system.interaction, len(self.system)
        energy = few_kernels.energy_of(interaction, n)
        if energy is None:
            return None
        of = few(n)
        quantity = generated(
            __name__,
            "quantity",
            "t, m, body, p",
            (),
            "energy(t, look(m), p)",
            energy=energy,
            look=of.look,
        )
        made = bind if interaction.obstacle() is None else interpreted
        return made(
            tiles.measure,
            quantity=quantity,
            load_body=tiles.nothing,
            load_motion=of.names["load_motion"],
            load_parameters=layout(shape(few_kernels.numbers(interaction, n))).unpack,
            own_body=tiles.shared,
            own_parameters=tiles.each if self.parameters.shape[1] > 1 else tiles.shared,
        )

    def __call__(self, name: str, t: Any, motions: np.ndarray) -> np.ndarray:
        """The quantity (n,) of motions (n, width) at times (n,)."""
        y = np.ascontiguousarray(in_user_axes(self.system, motions, self.kind), dtype=float)
        now = Quantities(self.system, *parts(y, self.kind))
        if name in self.functions:
            return self._own(name, np.asarray(t, dtype=float), now)
        if name == "kinetic_energy":
            return now.kinetic_energy
        if name == "energy":
            potential = np.zeros(len(y))
            if self._potential is not None:
                none = np.empty((0, 1))
                self._potential(np.array(t, dtype=float), y, none, self.parameters, potential)
            return now.kinetic_energy + potential
        momenta = now.angular_momentum
        if name == "momentum":
            return np.linalg.norm(momenta, axis=-1)
        return np.ascontiguousarray(momenta[:, "xyz".index(name[-1])])

    def _own(self, name: str, t: np.ndarray, now: Quantities) -> np.ndarray:
        """A function of the user's, called for one system after another."""
        function, out = self.functions[name], np.empty(len(t))
        known = dict(
            zip(ARGUMENTS, (t, rotations.matrices(now.quaternion), now.omega), strict=False)
        )
        known |= {"x": now.position, "v": now.velocity}
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        for i in range(len(t)):
            try:
                out[i] = function(*(known[one][i] for one in names))
            except Exception as error:
                raise InputError(
                    f"the statistic {name!r} must return one number, and raised {type(error).__name__}: {error}; "
                    "correct it"
                ) from error
        return out
