"""The clock of a Stepper, and the state to which it can be set back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from polhode.errors import InputError
from polhode.support.limits import check_step


@dataclass(frozen=True, eq=False)
class StepperState:
    """All that a Stepper needs to continue exactly: the method's memory, and the time as an origin
    and a number of steps; `earlier` steps were taken before the origin."""

    method: str
    origin: float
    count: int
    step: float
    memory: np.ndarray = field(repr=False)
    earlier: int = 0

    @property
    def t(self) -> float:
        """The time."""
        return self.origin + self.count * self.step


class Clock:
    """The time: k steps of h from an origin, and the number of steps before that; `usual` is the
    default size of a step."""

    __slots__ = ("earlier", "grid", "h", "k", "origin", "usual")

    def __init__(self, origin: float, usual: float, k: int = 0, earlier: int = 0) -> None:
        self.usual = self.h = usual
        self.origin, self.k, self.earlier = origin, k, earlier
        self.grid = np.array([origin, usual])  # as the loops read it

    @property
    def t(self) -> float:
        """The time."""
        return self.origin + self.k * self.h

    @property
    def steps(self) -> int:
        """Steps taken in all."""
        return self.earlier + self.k

    def restart(self, h: float) -> None:
        """Count steps of h from here on."""
        self.origin, self.h, self.earlier, self.k = self.t, h, self.steps, 0
        self.grid[0], self.grid[1] = self.origin, h


def step_size(name: str, h: float) -> float:
    """The size of a step, checked."""
    if h == 0.0:
        raise InputError(f"{name} must not be zero; a negative {name} runs backwards")
    return check_step(h, name)
