"""Many bodies: the user's input is checked here before any work, and whatever ends the run, what was
computed is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.core.motions import FLIGHT, ROTATION, Kind, with_rotors
from polhode.engine.diagnosis import check_first
from polhode.engine.ensemble import inputs
from polhode.engine.ensemble.bodies import Bodies
from polhode.engine.ensemble.parameters import (
    check_agreement,
    check_parameters,
    fields,
    own_filled,
    parameter_array,
    parameter_rows,
)
from polhode.engine.ensemble.estimate import Halved
from polhode.engine.ensemble.launch import Launch
from polhode.engine.ensemble.keep import Statistics
from polhode.engine.ensemble.measure import IN_FLIGHT, QUANTITIES, Measure
from polhode.engine.ensemble.on_gpu import is_plain, place_on_gpu
from polhode.engine.ensemble.spin import Spin
from polhode.engine.many_runs import ManyRuns
from polhode.engine.flight import check_flight, check_place
from polhode.engine.programs import find_bound
from polhode.engine.rotors import check_rotors, check_speeds, speeds_felt
from polhode.errors import InputError, floats, one_given, unknown, whole
from polhode.loads._torque import Torque
from polhode.loads.conversion import as_torque, check_made_for
from polhode.loads.force import Force, as_force
from polhode.loads.load import Load
from polhode.loads.agreement import Start
from polhode.methods._method import Method
from polhode.results._ensemble_result import Ensemble
from polhode.results.motion import OMEGA, in_principal_axes
from polhode.support.limits import check_rates
from polhode.support.on_device import OnDevice, on_host, read_in_place

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.spatial.transform import Rotation
    from polhode.bodies._body import RigidBody


class ManyBodies(ManyRuns):
    """One call of `ensemble`: checks the user's input, takes the steps and makes the Ensemble."""

    launch: Launch | None = None  # of bodies that fly
    spin: Spin | None = None  # of bodies with rotors
    force: Force | None = None
    kind: Kind = ROTATION

    def __init__(
        self,
        bodies: RigidBody | Sequence[RigidBody] | ArrayLike,
        torque: Torque | Load | Callable[..., Any] | str | None,
        t_span: tuple[float, float] | ArrayLike | None,
        step: float | ArrayLike | None,
        method: Method | str,
        breaks: ArrayLike | None,
        device: str = "cpu",
        dtype: str = "float64",
    ) -> None:
        self.device, self.dtype, self.breaks = device, dtype, breaks
        self.law = inputs.law_of(bodies)  # moments are drawn when the number of bodies is known
        if self.law is None:
            self.bodies = Bodies(read_in_place("bodies", bodies, device))
        if isinstance(torque, Load):
            self.force, torque = torque.force, torque.torque
        self.torque, self.method = as_torque(torque), inputs.method_of(method, device, dtype)
        self._will_step(t_span, step)

    def will_fly(
        self,
        force: Force | Callable[..., Any] | None,
        position0: Any,
        velocity0: Any,
        mass: Any = None,
    ) -> None:
        """Translation is to be carried along."""
        places = (
            read_in_place(name, one, self.device)
            for name, one in (("position0", position0), ("velocity0", velocity0), ("mass", mass))
        )
        self.launch, self.kind = Launch(*places), FLIGHT
        self.force = as_force(force) if self.force is None else self.force + as_force(force)
        check_flight(self.method, self.torque)
        check_place(self.force, position0)
        if mass is None and self.law is None and self.bodies.count == 1:
            check_made_for(self.force, self.bodies.one)

    def will_spin(self, speeds0: Any = None, with_momentum: bool = False) -> None:
        """The rotors of the bodies, if they have any, are to be followed."""
        if self.law is None and self.bodies.gyrostats:
            check_rotors(self.method)
            self.spin = Spin(self.bodies, speeds0, with_momentum)
            self.kind = with_rotors(self.kind, self.spin.rotors)
        elif speeds0 is not None:
            check_speeds(0, speeds0, with_momentum)

    def will_start(
        self,
        rotation0: Rotation | ArrayLike | str | None,
        scalar_first: bool | None,
        omega0: Any,
        momentum0: Any,
        n: int | None,
        parameters: Mapping[str, Any] | None,
        rng: int | np.random.Generator | None,
        first: int,
    ) -> None:
        """Check, draw and place the initial motions (n, width), in principal axes, and the
        parameters."""
        what, vector = one_given(
            "three numbers for all bodies, or for each", omega0=omega0, momentum0=momentum0
        )
        if self.law is None and self.bodies.count == 1:
            named = parameters if isinstance(parameters, Mapping) else ()
            if not any("inertia" in str(name) for name in named):
                check_made_for(self.torque, self.bodies.one)
        vector = read_in_place(what, vector, self.device)
        rotation0 = read_in_place("rotation0", rotation0, self.device)
        values = {
            name: read_in_place(f"parameter {name!r}", value, self.device)
            for name, value in check_parameters(self.torque, parameters, self.force).items()
        }
        if isinstance(rotation0, str) and rotation0 != "random":
            raise unknown("rotation0", rotation0, ["random"])
        self.first = whole("first", first, example="write first=0")
        self.seed: int | None = None
        counts = inputs.Counts(n)
        counts.add("bodies", 1 if self.law else self.bodies.count)
        random = isinstance(rotation0, str)
        turn, law = inputs.law_of(rotation0), inputs.law_of(vector)
        # plain arrays are checked on the GPU
        there = self.device == "cuda" and self.kind is ROTATION
        q: Any = rotation0
        v: Any = vector
        if not (random or turn or (there and is_plain(q, 4) and not scalar_first)):
            q = inputs.attitudes(q, scalar_first)
        if not (law or (there and is_plain(v, 3))):
            v = inputs.vectors(what, v)
        counts.add("rotation0", 1 if random or turn else len(q))
        counts.add(what, 1 if law else len(v))
        laws = {name: inputs.law_of(value) for name, value in values.items()}
        known = {name: value for name, value in values.items() if laws[name] is None}
        for load in self._loads:
            parameter_rows(load, known, counts)
        if self.launch:
            self.launch.count(counts)
        if self.spin:
            self.spin.count(counts)
        self.n = counts.n
        inputs.check_bodies_fit(self.n)
        thrown = (self.launch and self.launch.laws) or (self.spin and self.spin.law)
        if random or turn or law or self.law or thrown or len(known) < len(values):
            if n is None and self.n == 1:
                raise InputError(
                    "n is missing: what is drawn at random does not say how many bodies there are; give n=1000"
                )
            self.seed = inputs.seed_of(rng)
        if random:
            q = self._draw("rotation0", rotation0, (4,))
        if turn:
            given = self._draw("rotation0", turn, (3,), ((4,), (3, 3)))
            q = inputs.attitudes(given, scalar_first)
        if law:
            v = self._draw(what, law, (3,))
        self.values = known | {
            name: self._draw(f"parameter {name}", laws[name], self.shape_of(name))
            for name in values
            if name not in known
        }
        if self.law:
            self._draw_bodies()
        several = self.law is not None or self.bodies.count > 1
        flying: list[Torque] = []
        if self.launch:
            self.launch.draw(self._draw)
            if self.launch.masses is not None:
                self.bodies = self.bodies.with_masses(self.launch.masses)
            if several or self.launch.masses is not None:
                flying = self._loads
        self.values = own_filled(self.values, self.bodies, self.torque if several else None, flying)
        if self.spin:
            self.spin.draw(self._draw)
        if not (self.device == "cuda" and self._place_on_gpu(q, v, momentum0 is not None)):
            self._place(q, v, momentum0 is not None)

    def _place_on_gpu(self, q: Any, v: Any, is_momentum: bool) -> bool:
        """Place the motions on the GPU, and say whether that was possible: the axes must be principal,
        the bodies of one kind, the numbers within bounds.  If not, everything is copied to the
        host."""
        bodies = self.bodies
        self.lost: set[int] = set()
        moments = bodies.on_device or bodies.moments.T
        lying = {name: one for name, one in self.values.items() if isinstance(one, OnDevice)}
        one_kind = bodies.count == 1 or self.method.adapt is None
        if bodies.axes is None and one_kind and self.kind is ROTATION:
            self.motions = place_on_gpu(
                self.n, self.dtype, q, v, moments, is_momentum, [*lying.values()]
            )
            if self.motions is not None:
                return True
        if bodies.on_device is not None:
            self.bodies = Bodies(bodies.on_device.host)
        for name, one in lying.items():
            self.values[name] = floats(f"parameter {name!r}", one.host)
        return False

    def _draw(self, what: str, distribution: Any, *shapes: Any) -> np.ndarray:
        shape, *others = shapes
        return inputs.draw_values(what, distribution, shape, self.seed, self.first, self.n, *others)

    def _draw_bodies(self) -> None:
        """Bodies with moments that are drawn."""
        moments = self._draw("bodies", self.law, (3,))
        try:
            self.bodies = Bodies.of_moments(moments)
        except InputError as error:
            raise InputError(
                f"of the bodies drawn, {error}, or choose a narrower distribution"
            ) from error

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of a parameter."""
        term, _, field = name.rpartition(".")
        loads = [one for load in self._loads for one in load.terms if term in ("", one.name)]
        return next(np.shape(getattr(one.params, field)) for one in loads if field in fields(one))

    @property
    def _loads(self) -> list[Torque]:
        """What acts: the torque, and the force on bodies that fly."""
        return [self.torque] if self.force is None else [self.torque, self.force]

    def _place(self, q: np.ndarray, v: np.ndarray, is_momentum: bool) -> None:
        """The initial motions; a body with NaN or infinity is lost from the start."""
        bodies, what = self.bodies, "momentum0" if is_momentum else "omega0"
        if self.device == "cuda":
            q, v = inputs.attitudes(q), inputs.vectors(what, v)
        if self.spin and is_momentum:
            v, is_momentum = self.spin.omega(v), False
        moments = bodies.moments[:, 0] if bodies.count == 1 else bodies.moments.T
        with np.errstate(over="ignore", invalid="ignore"):
            self.motions = in_principal_axes(
                moments,
                bodies.axes,
                np.broadcast_to(q, (self.n, 4)),
                np.broadcast_to(v, (self.n, 3)),
                is_momentum,
            )
            if self.launch:
                self.motions = self.launch.beside(self.motions)
            if self.spin:
                self.motions = self.spin.beside(self.motions, FLIGHT if self.launch else ROTATION)
            total = self.motions.sum()
        self.lost, well = set(), self.motions
        if not np.isfinite(total):  # else every number is finite
            given = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
            well = well[np.broadcast_to(given, self.n)]
            finite = np.isfinite(self.motions).all(axis=1)
            self.lost = set(np.flatnonzero(~finite).tolist())
        check_rates(
            well[:, OMEGA], "the angular velocity of momentum0" if is_momentum else "omega0"
        )
        if len(self.lost) == self.n:
            raise InputError(
                f"rotation0{', position0, velocity0' if self.launch else ''} and {what} must be finite, got "
                f"{self.motions[0].tolist()} for body 0 and similarly for the others; give finite numbers"
            )

    # --- the run ----------------------------------------------------------------------------------

    def _lowered(self) -> str:
        return self.method.lowered(speeds_felt(self.torque, self.force, *self.bodies.gyrostats))

    def _result(self, **facts: Any) -> Ensemble:
        return Ensemble(
            **facts,
            torque=self.torque,
            bodies=self.bodies,
            units=self.units or self.bodies.one.units,
            force=self.force,
            measure=partial(Measure, self.bodies, self.torque, self.values, force=self.force),
            estimate=Halved(
                ManyBodies, self.bodies, self.torque, self.breaks, self.t0, *self.sample, self.force
            ),
        )

    @property
    def quantities(self) -> tuple[str, ...]:
        """The names of what can be measured."""
        return (*QUANTITIES, *(IN_FLIGHT if self.force else ()))

    def measure(self, options: Statistics) -> Measure:
        """What evaluates the quantities of some statistics."""
        if self.force is None:
            options.check_on_ground()
        return Measure(self.bodies, self.torque, self.values, options.functions, self.force)

    def _members(self, threads: int | None) -> list[tuple[Any, Any]]:
        """(numbers of bodies, their backend) for each kind of body that has a step of its own."""
        members = []
        for like, chosen in self.bodies.kinds(self.method, self.torque):
            bodies = range(self.n) if chosen is None else chosen
            well = next((i for i in bodies if i not in self.lost), None)
            start = None
            if well is not None:
                numbers, motions = self.sample
                motion = motions[0] if well == numbers[0] else on_host(self.motions[well:][:1])[0]
                start = Start(self.t0, self.segments[-1].end, motion, self.kind)
            what = self.method, self.torque, self.bodies.one
            program = find_bound(*what, force=self.force, start=start, like=like).program
            check_agreement(self.method, program, self.values, start, like)
            if well is not None:
                check_first(program, self.t0, motion)
            moments: Any = self.bodies.on_device or self.bodies.numbers
            parameters = parameter_array(program, self.bodies, self.values, self.n)
            if chosen is not None:
                moments, parameters = (
                    rows if rows.shape[1] == 1 else rows[:, chosen]
                    for rows in (moments, parameters)
                )
            members.append(
                (
                    bodies,
                    self.backend(program, len(bodies), moments, parameters, self.dtype, threads),
                )
            )
        return members
