"""A system of bodies advanced step by step, for programs with a time loop of their own."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.engine.one_system import OneSystem, refuse_beside_system, refuse_units
from polhode.engine.settable_system import SettableSystem
from polhode.engine.stepping import Stepping
from polhode.errors import check_options, shows_options
from polhode.loads.interaction_energy import interaction_energy
from polhode.results.motion import part_in_user_axes, parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.loads._system import System
    from polhode.loads.interaction import Interaction
    from polhode.methods._method import Method


class SystemStepper(Stepping, SettableSystem):
    """A system of bodies advanced step by step; `Stepper(system, ...)` makes it.

    The parameters are those of `integrate`; `t` is the initial time, and a negative `step` runs
    backwards.  Between steps you may assign to `rotation`, `quaternion` or `matrix`, to `omega`,
    `momentum` or `momentum_spatial`, `position` and `velocity`: arrays with a row for each body.  The
    method then starts again from there, which takes one evaluation of the interaction.  What is
    read cannot be written into: change a copy, and assign it.  The parameters of the interaction may
    change too, `stepper.interaction.params = stepper.interaction.with_params(k=2.0).params`, and so may
    anything that it reads outside itself; in a sum they are those of a term,
    `stepper.interaction.terms[0].params`.

    Examples
    --------
    Two bodies on a spring; the first one is struck.

    >>> import polhode
    >>> def spring(t, x, R):
    ...     pull = 3.0 * (x[1] - x[0])
    ...     return np.stack((pull, -pull)), np.zeros((2, 3))
    >>> pair = polhode.System([polhode.RigidBody.box(1, 2, 3)] * 2, spring)
    >>> stepper = polhode.Stepper(pair, step=0.01, position0=[[0, 0, 0], [1, 0, 0]])
    >>> stepper.step(100)
    >>> stepper.apply_linear_impulse((0, 0, 2.0), body=0)
    >>> stepper.apply_impulse((0.5, 0, 0), body=1)
    >>> stepper.step(100)
    >>> stepper.position.shape, round(float(stepper.linear_momentum[2]), 12)
    ((2, 3), 2.0)
    """

    __slots__ = ()
    _one: OneSystem

    @shows_options()
    def __init__(
        self,
        body: System,
        torque: None = None,
        *,
        step: float,
        t: float = 0.0,
        method: Method | str = "LP2",
        rotation0: Rotation | ArrayLike | None = None,
        scalar_first: bool | None = None,
        omega0: ArrayLike | None = None,
        momentum0: ArrayLike | None = None,
        force: None = None,
        position0: ArrayLike | None = None,
        velocity0: ArrayLike | None = None,
        rotor_speeds0: None = None,
        units: None = None,
        compiled: bool = True,
        threads: int | None = None,
        **misspelt: Never,
    ) -> None:
        check_options(SystemStepper, misspelt)
        refuse_units(units)
        refuse_beside_system(torque=torque, force=force, rotor_speeds0=rotor_speeds0)
        rotation = rotation0, omega0, momentum0, scalar_first
        one = OneSystem(body, method, *rotation, position0, velocity0, threads)
        self._prepare(one, step, t, compiled)

    def _look(self) -> None:
        self._one.look(self.program, self._start)

    @property
    def interaction(self) -> Interaction:
        """The interaction."""
        return self.body.interaction

    body = property(operator.attrgetter("_one.body"), doc="The system.")

    @property
    def motion(self) -> np.ndarray:
        """Where all bodies are, in the user's axes; not to be written into."""
        motion = super().motion
        motion.flags.writeable = False
        return motion

    def _part(self, field: str) -> np.ndarray:
        part = part_in_user_axes(self.body, self._carrier.motion, self.kind, field)
        part.flags.writeable = False
        return part

    @property
    def total_energy(self) -> float:
        """Kinetic plus potential energy; the kinetic energy alone if no potential is known."""
        known = interaction_energy(
            self.interaction, len(self.body), np.array([self.t]), self.motion[None]
        )
        return self.kinetic_energy + (0.0 if known is None else float(known[0]))

    def __repr__(self) -> str:
        what = f"{self.method.name}, step {self._clock.usual:g}"
        return f"<SystemStepper: {what}, t = {self.t:g}, {self.body!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or one in another process, continues from here bit for bit."""
        start, names = self._start, ("rotation0", "omega0", "position0", "velocity0")
        options = dict(zip(names, parts(start.motion, start.kind), strict=True))
        options |= {"step": self._clock.usual, "t": start.t, "method": self.method}
        options |= {"threads": self._one.threads}
        made = partial(SystemStepper, compiled=self._compiled, **options)
        return made, (self.body,), (None, {"state": self.state})
