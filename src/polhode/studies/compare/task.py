"""Tasks for `compare` and `advise`: a motion to be computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode import problems, rotations
from polhode.bodies._body import RigidBody
from polhode.core.motions import ROTATION, Kind
from polhode.engine.one_body import OneBody
from polhode.engine.rotors import speeds_felt
from polhode.engine.schedule import break_times, span
from polhode.errors import InputError, brief, number
from polhode.io.scenario._load import Scenario, is_scenario_file, load
from polhode.loads import torques
from polhode.loads._torque import ZERO
from polhode.loads.agreement import Start
from polhode.loads.force import Force
from polhode.loads.potential import potential_energy
from polhode.results.motion import in_user_axes, parts, rotor_speeds

ANY = "LP2"  # a method that flies and takes rotors: its steps are not used


@dataclass(frozen=True, eq=False)
class Task:
    """A body, what acts on it, an initial motion (principal axes), a span of time and the times at
    which the torque jumps.

    Runs are broken at the jumps, except for a torque that is made for steps of `unit` and takes the
    mean of both sides at its jumps: there steps divide `unit`.
    """

    title: str
    body: RigidBody
    torque: torques.Torque
    motion: np.ndarray
    t_span: tuple[float, float]
    jumps: tuple = ()
    unit: float | None = None
    # the arguments of `as_task` that make it again, in another process
    recipe: dict = field(default_factory=dict)
    force: Force | None = None  # None unless in flight
    kind: Kind = ROTATION

    @property
    def breaks(self) -> tuple[float, ...]:
        """The times at which runs are broken."""
        return () if self.unit else self.jumps

    @property
    def length(self) -> float:
        """The length of the span."""
        return abs(self.t_span[1] - self.t_span[0])

    @property
    def start(self) -> Any:
        """The motion at the start, in the user's axes, by its parts."""
        return parts(in_user_axes(self.body, self.motion, self.kind), self.kind)

    @property
    def run_start(self) -> Start:
        """Where its runs begin and end, for programs."""
        return Start(*self.t_span, in_user_axes(self.body, self.motion, self.kind), self.kind)

    @property
    def place(self) -> dict[str, Any]:
        """Position, velocity and force as arguments of `integrate`; none unless in flight."""
        if self.force is None:
            return {}
        at = self.start
        return {"force": self.force, "position0": at.position, "velocity0": at.velocity}

    # --- what acts --------------------------------------------------------------------------------

    @property
    def loads(self) -> tuple[torques.Torque, ...]:
        """The torque, and in flight the force."""
        return (self.torque,) if self.force is None else (self.torque, self.force)

    @cached_property
    def acting(self) -> str:
        """The names of what acts."""
        if self.force is None:
            return self.torque.name
        names = (term.name for load in self.loads for term in load.terms if term.acts)
        return " + ".join(dict.fromkeys(names)) or self.torque.name

    @property
    def is_free(self) -> bool:
        """Whether it is the rotation of a body without rotors on which nothing acts."""
        return self.kind is ROTATION and not self.torque.acts

    @cached_property
    def speeds_felt(self) -> str:
        """What acts and depends on velocities, in words; empty where nothing does."""
        return speeds_felt(self.torque, self.force, self.body)

    @property
    def conservative(self) -> bool:
        """Whether all that acts comes from potentials."""
        if self.kind is ROTATION:
            return self.torque.conservative
        terms = [term for load in self.loads for term in load.terms if term.acts]
        return all(term.conservative or term.shares_potential for term in terms) and all(
            rotor.is_free for rotor in self.body.rotors
        )

    @property
    def autonomous(self) -> bool:
        """Whether loads and potentials at one place have the same values at several times."""
        times = np.linspace(*self.t_span, 7)[:-1] + 0.0123 * self.length
        at = self.start
        R, x, v = rotations.matrices(at.attitude), *self._place(at)
        answers = np.array(
            [np.concatenate([load(t, R, at.omega, x, v) for load in self.loads]) for t in times]
        )
        potential = self.potential(times, np.tile(self.motion, (len(times), 1)))
        if potential is not None:
            answers = np.column_stack([answers, potential])
        return bool((answers == answers[0]).all())

    def _place(self, at: Any) -> tuple[Any, Any]:
        return (ZERO, ZERO) if self.force is None else (at.position, at.velocity)

    def loads_at_start(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque and force where it begins; without flight no force."""
        at = self.start
        R, place = rotations.matrices(at.attitude), self._place(at)
        first = self.t_span[0], R, at.omega, *place
        return self.torque(*first), np.zeros(3) if self.force is None else self.force(*first)

    def until(self, t: float | None) -> Task:
        """The same task, ended at time t."""
        if t is None:
            return self
        t = number("until", t)
        t0, t1 = self.t_span
        if not min(t0, t1) < t <= max(t0, t1) and not (t1 < t0 and t == t1):
            raise InputError(
                f"until must lie between {t0!r} and {t1!r}, the span of {self.title}; got {t!r}"
            )
        return replace(self, t_span=(t0, t), jumps=_times_inside(self.jumps, (t0, t)))

    # --- quantities of motions (principal axes) ---------------------------------------------------

    def energies(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Total energy at times and motions; the kinetic alone where there is no potential."""
        kinetic, potential = self.kinetic(motions), self.potential(t, motions)
        return kinetic if potential is None else kinetic + potential

    def potential(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray | None:
        """Potential energy, None where there is none."""
        found = parts(motions, self.kind)
        place = () if self.force is None else (found.position,)
        energies = [potential_energy(self.torque, self.body, t, found.attitude)]
        if self.force is not None:
            energies.append(potential_energy(self.force, self.body, t, found.attitude, *place))
        known = [one for one in energies if one is not None]
        return sum(known[1:], known[0]) if known else None

    def kinetic(self, motions: np.ndarray) -> np.ndarray:
        """Kinetic energy, in flight also of the translation."""
        found = parts(motions, self.kind)
        if self.kind.spinning:
            omega = parts(in_user_axes(self.body, motions, self.kind), self.kind).omega
            turning = self.body.kinetic_energy(omega, rotor_speeds(motions, self.kind))
        else:
            turning = 0.5 * found.omega**2 @ self.body.moments
        if self.force is None:
            return turning
        return turning + 0.5 * self.body.mass * np.sum(found.velocity**2, axis=-1)

    def momenta(self, motions: np.ndarray) -> np.ndarray:
        """Angular momentum in space, in flight about the origin."""
        if self.kind.spinning:
            found = parts(in_user_axes(self.body, motions, self.kind), self.kind)
            momentum = self.body.momentum(found.omega, rotor_speeds(motions, self.kind))
        else:
            found = parts(motions, self.kind)
            momentum = self.body.moments * found.omega
        turning = rotations.rotate(found.attitude, momentum)
        if self.force is None:
            return turning
        return turning + self.body.mass * np.cross(found.position, found.velocity)


def as_task(
    problem,
    torque=None,
    t_span=None,
    *,
    rotation0=None,
    scalar_first=None,
    omega0=None,
    momentum0=None,
    force=None,
    position0=None,
    velocity0=None,
    breaks=None,
    torque_file=None,
):
    """A Task from a problem, its name, a scenario, its file (`torque_file` is that of `load`), or a
    body with the arguments of `integrate`."""
    given = {
        "torque": torque,
        "t_span": t_span,
        "rotation0": rotation0,
        "scalar_first": scalar_first,
        "omega0": omega0,
        "momentum0": momentum0,
        "force": force,
        "position0": position0,
        "velocity0": velocity0,
        "breaks": breaks,
    }
    if isinstance(problem, Task):
        return problem
    if isinstance(problem, (str, Path, problems.Problem, Scenario)):
        extra = next((name for name, value in given.items() if value is not None), None)
        if extra:
            raise InputError(
                f"{extra} belongs to the problem or scenario; give a body first to choose {extra} yourself"
            )
        return _task_of_problem(problem, torque_file)
    if t_span is None:
        raise InputError("t_span is missing; give (t0, t1)")
    start = rotation0, omega0, momentum0, scalar_first, force, position0, velocity0
    one = OneBody(problem, torque, ANY, *start)
    return _task(one.body.name or "a body", one, span(t_span), breaks)


def _task_of_problem(problem, torque_file):
    recipe = {"torque_file": torque_file}
    problem = str(problem) if isinstance(problem, Path) else problem
    if isinstance(problem, str) and is_scenario_file(Path(problem)):
        recipe["problem"] = problem
        problem = load(problem, torque_file)
    elif torque_file is not None:
        raise InputError(
            f"a torque file goes with a scenario, and {brief(problem)} is not one; give a SCENARIO.toml, or drop it"
        )
    if isinstance(problem, Scenario):
        title, torque, t_span, breaks = (
            problem.title,
            problem.torque,
            problem.t_span,
            problem.breaks,
        )
        place = problem.force, problem.position0, problem.velocity0
    else:
        problem = problems.get(problem)
        recipe["problem"] = title = problem.name
        end = problem.t_span[1] if problem.comparable is None else problem.comparable
        torque, t_span, breaks = problem.torque(), (problem.t_span[0], end), None
        place = None, None, None
    start = problem.rotation0, problem.omega0, None, False, *place
    one = OneBody(problem.body, torque, ANY, *start)
    return _task(title, one, t_span, breaks, recipe)


def _task(title, one, t_span, breaks, recipe=None):
    unit, jumps = None, break_times(breaks).tolist()
    for term in one.torque.terms:
        if term.unit is not None:
            unit, jumps = term.unit, term.jumps
    return Task(
        title,
        one.body,
        one.torque,
        one.motion,
        tuple(t_span),
        _times_inside(jumps, t_span),
        unit,
        recipe or {},
        one.force,
        one.kind,
    )


def _times_inside(times: Iterable[float], t_span: tuple[float, float]) -> tuple[float, ...]:
    """The times inside the span, in its direction."""
    t0, t1 = t_span
    return tuple(sorted((at for at in times if min(t0, t1) < at < max(t0, t1)), reverse=t1 < t0))
