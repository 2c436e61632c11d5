"""The cost of a run: the time of its steps, with torque evaluations at their measured price or at
the one given by the user."""

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.core.loops import fixed as loops
from polhode.core.motions import ROTATION
from polhode.errors import InputError, number
from polhode.exact._equation import equation_of
from polhode.exact._gauss import slopes_along
from polhode.methods import get
from polhode.results.motion import parts
from polhode.studies.compare.runner import Point
from polhode.studies.compare.as_task import ANY
from polhode.studies.compare.task import Task

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
# the time of a step without its torque is at least this fraction of the whole, whatever is measured
OWN = 0.1


def seconds(what: str, value: float | str) -> float:
    """Seconds from a number of them, or from text such as 2ms, 500us or 1.5s."""
    if not isinstance(value, str):
        return number(what, value, positive=True)
    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([a-zA-Zµμ]*)\s*", value)
    units = "ns, us, ms, s or min, as in 2ms"
    if (
        not match
        or match[1].count(".") > 1
        or not re.search("[0-9]", match[1].lower().partition("e")[0])
    ):
        raise InputError(f"{what} must be a number and a unit ({units}), got {value!r}; write 2ms")
    if match[2] not in UNITS:
        reason = f"the unit {match[2]!r} is not known" if match[2] else "there is no unit"
        raise InputError(f"{what} {value!r}: {reason}; write {units}")
    return number(what, float(match[1]) * UNITS[match[2]], positive=True)


def duration_text(duration: float) -> str:
    """Seconds as text, with a unit that fits."""
    unit, size = next(
        (pair for pair in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if duration >= pair[1]),
        ("ns", 1e-9),
    )
    return f"{duration / size:.3g} {unit}"


class Price:
    """The cost of a Point in seconds, with a torque evaluation at its measured price or at the one
    `given`."""

    def __init__(self, task: Task, given: float | None = None) -> None:
        self.measured, self.compiled = torque_seconds(task)
        self.given = given

    @property
    def torque(self) -> float:
        """The price of a torque evaluation."""
        return self.measured if self.given is None else self.given

    def of(self, point: Point) -> float:
        """The cost of a point."""
        return (
            point.seconds
            if self.given is None
            else self.without_torque(point) + point.evaluations * self.given
        )

    def without_torque(self, point: Point) -> float:
        """The cost of a run without its torque evaluations."""
        return max(point.seconds - point.evaluations * self.measured, OWN * point.seconds)

    def share(self, point: Point) -> float:
        """The share of the torque in the cost of a point."""
        return 1.0 - self.without_torque(point) / self.of(point)


def torque_seconds(task: Task, count: int = 400, repeats: int = 5) -> tuple[float, bool]:
    """Seconds of an evaluation of what acts (torque, force and motors, or an interaction) as runs make it, and whether they are
    compiled."""
    program = task.program(get(ANY))
    if program.mode != "compiled":
        return _call_seconds(task), False
    times, motions = np.linspace(*task.t_span, count), np.tile(task.motion, (count, 1))
    if task.kind is ROTATION:
        loop, out = program.bound(loops.torque_along), np.empty((count, 3))
        arguments = (times, *parts(motions), program.parameters, out)
    else:
        loop = equation_of(program).bound(slopes_along)
        arguments = (times, motions, program.moments, program.parameters, np.empty(motions.shape))
    loop(*arguments)
    return min(_duration(lambda: loop(*arguments)) for _ in range(repeats)) / count, True


def _call_seconds(task: Task, repeats: int = 3) -> float:
    return min(_duration(task.loads_at_start) for _ in range(repeats))


def _duration(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
