"""How many torque evaluations the start of a method makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from polhode.core.layout import layout
from polhode.core.loops import fixed as loops
from polhode.core.motions import Kind
from polhode.loads.kernels import Frames, no_potential


class _Counter:
    """A torque of zero that counts its calls."""

    calls = 0

    def __call__(self, t: float, R: Any, Om: Any, p: Any) -> tuple[float, float, float]:
        self.calls += 1
        return (0.0, 0.0, 0.0)


@lru_cache(256)
def start_calls(start: Callable[..., Any], kind: Kind) -> int:
    """How often the start of a method evaluates the torque."""
    counter, one = _Counter(), (1.0, 1.0, 1.0)
    torque = Frames(counter, counter, counter, counter, potential=no_potential)
    motion = layout(kind.parts).unpack(np.linspace(0.0, 1.0, kind.width)[:, None], 0)
    kind.launch(start, 0.1, 0.0, motion, loops.Body(one, one), torque, ())
    return counter.calls
