"""The errors of an ensemble, estimated from some of its bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

TOO_LARGE = 0.1  # an error with which the motion of a body is another one


@dataclass(frozen=True, eq=False)
class ErrorEstimate:
    """How large the errors at the end of an ensemble are, from some of its bodies that were run again
    with half the step.

    Attributes
    ----------
    bodies : (k,) array
        Their numbers.
    angle, omega : (k,) arrays
        Errors of the attitudes, in radians, and of the angular velocities, relative to the largest;
        infinite where half the step could not be run.
    """

    bodies: np.ndarray
    angle: np.ndarray
    omega: np.ndarray

    @property
    def largest(self) -> float:
        """The largest of all; NaN if no body was run again."""
        return float(np.max([self.angle, self.omega])) if len(self.bodies) else math.nan

    @property
    def worst(self) -> int | None:
        """The body that has it."""
        if not len(self.bodies):
            return None
        return int(self.bodies[np.argmax(np.maximum(self.angle, self.omega))])

    @property
    def advice(self) -> str:
        """What to do if the step is too large, in words; "" if it is not."""
        if not self.largest > TOO_LARGE:
            return ""
        return (
            f"the step is too large: compared with half the step, errors reach about {self.largest:.1g} (radians, or "
            f"relative to the largest angular velocity), in body {self.worst}; take a smaller step"
        )

    def __repr__(self) -> str:
        return (
            f"<ErrorEstimate: about {self.largest:.1g} at the end, from {len(self.bodies)} bodies>"
        )

    def to_dict(self) -> dict[str, list[Any]]:
        """The estimate as plain data, for files."""
        return {name: values.tolist() for name, values in vars(self).items()}

    @classmethod
    def from_dict(cls, data: dict[str, list[Any]]) -> ErrorEstimate:
        """The estimate that `to_dict` was called on."""
        return cls(*(np.array(data[name]) for name in ("bodies", "angle", "omega")))
