"""Forces on the centre of mass of a body in flight."""

from __future__ import annotations


from collections.abc import Callable, Mapping
from typing import Any

from polhode.loads import kernels as _kernels
from polhode.loads.kernels import FLIGHT
from polhode.loads._torque import Torque
from polhode.errors import number


class Force(Torque):
    """A force on the centre of mass, in space: `f(t, x, v, R[, p])` of position, velocity and
    attitude matrix.

    `params` and `form` are those of a torque.

    >>> import numpy as np
    >>> spring = Force(lambda t, x, v, R: -3.0 * x)
    >>> spring(0.0, np.eye(3), x=(1, 0, 0)).tolist()
    [-3.0, -0.0, -0.0]
    """

    kind = "force"

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        params: Mapping[str, Any] | None = None,
        form: str = "array",
        name: str | None = None,
    ) -> None:
        super().__init__(function, params=params, form=form, name=name, uses_position=True)

    def arguments(self) -> list[str]:
        """The names of the arguments that the function gets."""
        return ["t", "x", "v", "R", *["p"] * (self.params is not None)]

    def kernel(self, setting: Any = FLIGHT) -> Callable[..., Any]:
        """The force on tuples; only in flight."""
        return _kernels.adapt_force(self.function, self.form, self.params, bool(self.lifted))


def weight(mass: float, g: float = 9.81) -> Force:
    """Uniform gravity along -z.

    >>> import numpy as np
    >>> weight(2.0)(0.0, np.eye(3)).tolist()
    [0.0, 0.0, -19.62]
    """
    force = Force(
        _weight,
        form="tuple",
        params={"mass": number("mass", mass), "g": number("g", g)},
        name="weight",
    )
    force.of_body = ("mass",)
    return force


def _weight(t, x, v, R, p):
    return (0.0, 0.0, -p.mass * p.g)


def _nothing(t, x, v, R):
    return (0.0, 0.0, 0.0)


def as_force(value: Any) -> Force:
    """A Force from a function or a Force; None is no force."""
    if value is None:
        return Force(_nothing, form="tuple", name="none")
    return value if isinstance(value, Force) else Force(value)
