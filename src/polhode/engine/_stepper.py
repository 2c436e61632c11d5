"""One body advanced step by step, for programs with a time loop of their own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from polhode.core.motions import KINDS
from polhode.engine._system_stepper import SystemStepper
from polhode.engine.one_body import OneBody, as_body
from polhode.engine.settable_motion import SettableMotion
from polhode.engine.stepping import Stepping
from polhode.errors import check_options, shows_options
from polhode.loads._system import System
from polhode.loads.potential import potential_energy
from polhode.results.motion import ATTITUDE, parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody
    from polhode.loads._torque import Torque
    from polhode.loads.force import Force
    from polhode.methods._method import Method


class Stepper(Stepping, SettableMotion):
    """A motion advanced step by step.

    The parameters are those of `integrate`; `t` is the initial time, and a negative `step` runs
    backwards.  A `System` makes a `SystemStepper`.  Between steps you may assign to `rotation`,
    `quaternion` or `matrix`, to `omega`, `momentum` or `momentum_spatial`, and in flight to `position`
    and `velocity`; the method then starts again from there.  The `params` of your torque may also
    change, and so may anything that it reads outside itself (globals, closures, defaults, attributes
    of modules); except for `params` and for floats in closures and defaults this compiles the torque
    again.

    Examples
    --------
    >>> top = Stepper([5, 5, 1], "heavy_top", step=0.01, rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
    >>> top.step(100)
    >>> round(top.t, 12)
    1.0
    >>> top.step(dt=0.004)
    >>> top.apply_impulse((0.5, 0.0, 0.0), frame="body")
    >>> saved = top.state
    >>> top.step(7)
    >>> top.state = saved
    >>> top.t == saved.t
    True
    """

    __slots__ = ()
    _one: OneBody

    @shows_options()
    def __init__(
        self,
        body: RigidBody | System | ArrayLike,
        torque: Torque | Callable[..., Any] | str | None = None,
        *,
        step: float,
        t: float = 0.0,
        method: Method | str = "LP2",
        rotation0: Rotation | ArrayLike | None = None,
        scalar_first: bool | None = None,
        omega0: ArrayLike | None = None,
        momentum0: ArrayLike | None = None,
        force: Force | Callable[..., Any] | None = None,
        position0: ArrayLike | None = None,
        velocity0: ArrayLike | None = None,
        rotor_speeds0: ArrayLike | None = None,
        units: str | Mapping[str, str] | None = None,
        compiled: bool = True,
        **misspelt: Never,
    ) -> None:
        check_options(Stepper, misspelt)
        one: Any = body  # a system is followed by a SystemStepper
        if units is not None:
            one = as_body(one).with_units(units)
        begin = rotation0, omega0, momentum0, scalar_first
        beside = force, position0, velocity0, rotor_speeds0
        self._prepare(OneBody(one, torque, method, *begin, *beside), step, t, compiled)

    def __new__(cls, body: Any = None, *given: Any, **options: Any) -> Any:
        """A `SystemStepper` where a system is to be followed."""
        if isinstance(body, System):
            return SystemStepper(body, *given, **options)
        return super().__new__(cls)

    __new__.__wrapped__ = __init__  # type: ignore[attr-defined]  # what `help` shows

    torque = property(operator.attrgetter("_one.torque"), doc="The torque.")

    @property
    def total_energy(self) -> float:
        """Kinetic plus potential energy of the rotation; the kinetic energy alone if the torque has no
        potential."""
        attitude = self._carrier.motion[None, ATTITUDE]
        known = potential_energy(self.torque, self.body, np.array([self.t]), attitude)
        return self.kinetic_energy + (0.0 if known is None else float(known[0]))

    def __repr__(self) -> str:
        what = f"{self.method.name}, step {self._clock.usual:g}, torque {self.torque.name}"
        return f"<Stepper: {what}, t = {self.t:g}, {self.body!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or one in another process, continues from here bit for bit."""
        start, names = self._start, ("rotation0", "omega0", "position0", "velocity0")
        kind = KINDS[start.kind.name]  # rotors begin as the body says
        options = dict(zip(names, parts(start.motion[: kind.width], kind), strict=False))
        options |= {"step": self._clock.usual, "t": start.t, "method": self.method}
        options |= {"force": self._one.force, "compiled": self._compiled}
        return partial(Stepper, **options), (self.body, self.torque), (None, {"state": self.state})
