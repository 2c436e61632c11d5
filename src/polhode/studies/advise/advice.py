"""The advice itself: what to use, what it will cost, and why."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.engine._integrate import integrate
from polhode.errors import shows_options
from polhode.exact import FreeMotion, free_body
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results._trajectory import Trajectory
from polhode.studies.advise.cost import Price, duration_text
from polhode.studies.advise.pilot import Trial
from polhode.studies.compare.runner import Point
from polhode.studies.compare.task import Task
from polhode.support.card import Card

DECIDED = (
    *("body", "torque", "t_span", "step", "rtol", "method", "rotation0", "omega0", "momentum0"),
    *("force", "position0", "velocity0"),
)


@dataclass(frozen=True, eq=False)
class Advice(Card):
    """A recommendation, which `polhode.advise` returns; `integrate()` follows it."""

    task: Task
    trials: list  # all candidates, the cheapest first
    asked: float
    long: bool
    verified: bool  # the error was measured over the whole span
    truth: str
    pilot_span: tuple
    spent: int  # torque evaluations of the pilot runs
    price: Price
    why: str
    notes: list

    @property
    def best(self) -> Trial:
        """The Trial recommended."""
        return self.trials[0]

    @property
    def point(self) -> Point:
        """The run recommended: its setting, what it costs and how far it is off."""
        assert self.best.point is not None  # advice without one is an error of `advise`
        return self.best.point

    @property
    def method(self) -> str:
        """The name of the method; `exact.free_body` for the closed solution."""
        return self.best.entry.method.name if self.best.entry else self.best.name

    @property
    def step(self) -> float | None:
        """The size of a step; None for a run by tolerance and for the closed solution."""
        return self.point.setting if self.best.knob == "step" else None

    @property
    def rtol(self) -> float | None:
        """The tolerance; None for a run by steps."""
        return self.point.setting if self.best.knob == "rtol" else None

    @property
    def error(self) -> float:
        """The error to expect."""
        return self.point.error

    @property
    def energy_error(self) -> float:
        """The largest relative error of the energy to expect."""
        return self.point.energy

    @property
    def steps(self) -> int:
        """Steps over the whole span; 0 for the closed solution."""
        return self.point.steps

    @property
    def evaluations(self) -> int:
        """Torque evaluations over the whole span."""
        return self.point.evaluations

    @property
    def seconds(self) -> float:
        """The cost of the run, torque evaluations at the price that was given."""
        return self.best.cost

    @property
    def runner_up(self) -> str | None:
        """The name of the next best, or None."""
        return next((trial.name for trial in self.trials[1:] if trial.point is not None), None)

    @shows_options(integrate, (*DECIDED, "scalar_first", "breaks"))
    def integrate(self, **options: Any) -> Trajectory | SystemTrajectory | FreeMotion:
        """Run what is recommended; options as for `polhode.integrate`.  The closed solution gives a
        FreeMotion at `t_eval`."""
        task = self.task
        if self.best.entry is None:
            times = np.asarray(options.get("t_eval", np.linspace(*task.t_span, 1001)), dtype=float)
            at = task.start
            return free_body(task.body, at.attitude, at.omega, times - task.t_span[0])
        size = {"step": self.step} if self.rtol is None else {"rtol": self.rtol}
        return task.integrate(method=self.method, **size, **options)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "problem": self.task.title,
            "torque": self.task.acting,
            "t_span": list(self.task.t_span),
            "error_asked": self.asked,
            "judged_by": "energy" if self.long else "motion",
            "method": self.method,
            "step": self.step,
            "rtol": self.rtol,
            "steps": self.steps,
            "torque_evaluations": self.evaluations,
            "seconds": self.seconds,
            "error": self.error,
            "energy_error": self.energy_error,
            "verified": self.verified,
            "why": self.why,
            "runner_up": self.runner_up,
            "notes": self.notes,
            "torque_seconds": self.price.torque,
            "truth": self.truth,
            "pilot_span": list(self.pilot_span),
            "pilot_torque_evaluations": self.spent,
            "candidates": [trial.to_dict() for trial in self.trials],
        }

    def __repr__(self) -> str:
        size = (
            f"step {self.step:.4g}"
            if self.step
            else f"rtol {self.rtol:.2g}"
            if self.rtol
            else "closed form"
        )
        return f"<Advice: {self.method}, {size}, error {self.error:.1e}, {duration_text(self.seconds)}>"


def exact_solution(task: Task) -> Trial | None:
    """The closed-form solution as a candidate, for a free body; None for others."""
    if not task.is_free:
        return None
    at = task.start
    times = np.linspace(0.0, task.length, 2000)
    for count in (1, 2000):  # compiled, and then timed
        started = time.perf_counter()
        free_body(task.body, at.attitude, at.omega, times[:count])
        elapsed = time.perf_counter() - started
    cost = elapsed / 2000
    facts = {
        "order": None,
        "symplectic": True,
        "implicit": False,
        "symmetric": True,
        "torques_per_step": 0,
    }
    return Trial(
        None,
        facts,
        "",
        Point(0.0, 0, 0, cost, 1e-13, 1e-13, 1e-13),
        cost,
        note="closed form, each time separately",
    )


def explanation(trials, error, price, task, long, pilot):
    """The reasons, in a few sentences."""
    best, second = trials[0], next((trial for trial in trials[1:] if trial.point is not None), None)
    point = best.point
    if best.entry is None:
        return (
            "A free body has a closed-form solution: polhode.exact.free_body gives it at any time to about 1e-13, in "
            f"{duration_text(best.cost)}.  If you need steps, use {second.name if second else 'EXACT'}."
        )
    fixed = best.knob == "step"
    size = (
        f"{point.steps} steps of {point.setting:.4g}"
        if fixed
        else f"rtol = {point.setting:.2g} ({point.steps} steps)"
    )
    what = "an energy error" if long else "an error"
    if second:
        rest = f"{second.name} takes {second.cost / best.cost:.2g} times as long."
    elif trials[1:]:
        rest = "The other methods would cost several times as much."
    else:
        rest = "No other method was tried."
    first = (
        f"{best.name} (order {best.facts['order']}) reaches {what} of {error:g} with {size}: {point.evaluations} "
        f"{task.kind.acting} evaluations, {duration_text(best.cost)}.  {rest}"
    )
    return f"{first}  {_reason(best, price, task, long, pilot)}"


def _reason(best, price, task, long, pilot):
    if long:
        steps = round(best.point.steps * pilot.task.length / task.length)
        kept = "symplectic" if best.facts["symplectic"] is True else "made to conserve the energy"
        return (
            f"It is {kept}: over {steps} steps of the pilot the energy error stayed below {best.point.energy:.1e}; the phase "
            "of the motion is not controlled."
        )
    share, acting = price.share(best.point), task.kind.acting
    if share > 0.6:
        return (
            f"The {acting} takes {100 * share:.0f} % of that time, {duration_text(price.torque)} per evaluation, so the "
            "number of evaluations decides."
        )
    own = price.without_torque(best.point) / max(best.point.evaluations, 1)
    return (
        f"The {acting} is cheap: {duration_text(price.torque)} per evaluation, and {duration_text(own)} for the method's "
        f"own arithmetic.  For this error a method of order {best.facts['order']} is the fastest."
    )
