"""What one call of a loop gives, and how many steps a call takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

SECONDS = 0.05  # a call takes about so long: then comes progress, and Ctrl-C is heard
MOST = 1_000_000  # steps in a call
LARGEST_GROWTH = 8  # of the number of steps from one call to the next
# steps in the first call, by how the torque runs
FIRST = {"compiled": 1024, "callback": 16, "python": 1}

_NO_TIMES, _NO_MOTIONS = np.empty(0), np.empty((0, 0))


@dataclass
class Chunk:
    """The steps of one call: the motion after each group of `every` steps, and how it ended.

    `inside(j, t)` is the motion at time t inside step j, where the method has an extension of its
    own.  `failure` is the reason for which the step after these failed: a number of the loop's, or what
    the torque raised in machine code.
    """

    t: np.ndarray = field(default_factory=lambda: _NO_TIMES)
    y: np.ndarray = field(default_factory=lambda: _NO_MOTIONS)
    residuals: np.ndarray = field(default_factory=lambda: _NO_TIMES)
    steps: int = 0
    every: int = 1
    reached: float = math.nan  # the time
    through: bool = False  # the end of the segment is reached
    inside: Callable | None = None
    failure: int | Exception | None = None


class Pace:
    """How many steps a call takes: as many as fill `seconds`."""

    def __init__(
        self, first: int, most: int = MOST, seconds: float = SECONDS, least: int = 1
    ) -> None:
        self.steps, self.most, self.seconds, self.least = first, most, seconds, least

    def note(self, taken: float) -> None:
        """Adapt to what a call has taken, in seconds."""
        if taken < self.seconds / 2:
            growth = (
                LARGEST_GROWTH if LARGEST_GROWTH * taken < self.seconds else self.seconds / taken
            )
            self.steps = min(int(self.steps * growth), self.most)
        elif taken > 2 * self.seconds:
            self.steps = max(self.steps // 2, self.least)

    def one_by_one(self) -> None:
        """Single steps, to find the one that fails."""
        self.steps = 1
