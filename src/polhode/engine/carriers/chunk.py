"""What one call of a loop gives, and how many steps the first one takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

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
    taken: float = 0.0  # seconds
