"""Tasks for `compare` and `advise`: a motion to be computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from polhode.core.motions import ROTATION, Kind
from polhode.errors import InputError, number
from polhode.exact import Reference
from polhode.loads.agreement import Start
from polhode.methods import Method
from polhode.results._system_trajectory import SystemTrajectory
from polhode.results._trajectory import Trajectory
from polhode.results.motion import in_user_axes, parts


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """What moves, what acts on it, an initial motion (principal axes), a span of time and the times at
    which what acts jumps.

    Runs are broken at the jumps, except for a torque that is made for steps of `unit` and takes the
    mean of both sides at its jumps: there steps divide `unit`.
    """

    title: str
    body: Any
    motion: np.ndarray
    t_span: tuple[float, float]
    jumps: tuple = ()
    unit: float | None = None
    # the arguments of `as_task` that make it again, in another process
    recipe: dict = field(default_factory=dict)
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
        return self.in_user_axes(self.motion)

    @property
    def run_start(self) -> Start:
        """Where its runs begin and end, for programs."""
        return Start(*self.t_span, in_user_axes(self.body, self.motion, self.kind), self.kind)

    def in_user_axes(self, motions: np.ndarray) -> Any:
        """The parts of motions in the user's axes."""
        return parts(in_user_axes(self.body, motions, self.kind), self.kind)

    def until(self, t: float | None) -> Self:
        """The same task, ended at time t."""
        if t is None:
            return self
        t = number("until", t)
        t0, t1 = self.t_span
        if not min(t0, t1) < t <= max(t0, t1) and not (t1 < t0 and t == t1):
            raise InputError(
                f"until must lie between {t0!r} and {t1!r}, the span of {self.title}; got {t!r}"
            )
        return replace(self, t_span=(t0, t), jumps=times_inside(self.jumps, (t0, t)))

    # --- what acts --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def acting(self) -> str:
        """The names of what acts."""

    @property
    def is_free(self) -> bool:
        """Whether it is the rotation of a body without rotors on which nothing acts."""
        return False

    @property
    @abstractmethod
    def speeds_felt(self) -> str:
        """What acts and depends on velocities, in words; empty where nothing does."""

    @property
    @abstractmethod
    def conservative(self) -> bool:
        """Whether all that acts comes from potentials."""

    @property
    @abstractmethod
    def energy_unknown(self) -> str:
        """Why a method cannot restore the energy, in words; empty where it can."""

    @property
    @abstractmethod
    def autonomous(self) -> bool:
        """Whether what acts at one place, and its potential, have the same values at several times."""

    @abstractmethod
    def loads_at_start(self) -> Any:
        """What acts where it begins, from Python."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """A typical angular velocity: the initial one, the one that a body at rest reaches under what
        acts within a radian, or the one with which a path turns."""

    # --- runs -------------------------------------------------------------------------------------

    @abstractmethod
    def check_able(self, method: Method, by_tolerance: bool = False) -> None:
        """Refuse a method that cannot follow the motion."""

    @abstractmethod
    def has_translation_beside(self, method: Method) -> bool:
        """Whether a method follows the rotation alone, and the translation goes beside it."""

    @abstractmethod
    def program(self, method: Method) -> Any:
        """A method bound to what moves and what acts."""

    @abstractmethod
    def reference(self, times: np.ndarray, tolerance: float) -> Reference:
        """The reference solution at these times."""

    @abstractmethod
    def integrate(self, **options: Any) -> Trajectory | SystemTrajectory:
        """A run as `polhode.integrate` makes it."""

    # --- quantities of motions (principal axes) ---------------------------------------------------

    def energies(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Total energy at times and motions; the kinetic alone where there is no potential."""
        kinetic, potential = self.kinetic(motions), self.potential(t, motions)
        return kinetic if potential is None else kinetic + potential

    @abstractmethod
    def potential(self, t: np.ndarray, motions: np.ndarray) -> np.ndarray | None:
        """Potential energy, None where there is none."""

    @abstractmethod
    def kinetic(self, motions: np.ndarray) -> np.ndarray:
        """Kinetic energy, in flight also of the translation."""

    @abstractmethod
    def momenta(self, motions: np.ndarray) -> np.ndarray:
        """Angular momentum in space, in flight about the origin."""

    def size_of_momentum(self, motions: np.ndarray) -> float:
        """What errors of the momentum are relative to."""
        return float(np.linalg.norm(self.momenta(motions), axis=1).max()) or 1.0


def times_inside(times: Iterable[float], t_span: tuple[float, float]) -> tuple[float, ...]:
    """The times inside the span, in its direction."""
    t0, t1 = t_span
    return tuple(sorted((at for at in times if min(t0, t1) < at < max(t0, t1)), reverse=t1 < t0))
