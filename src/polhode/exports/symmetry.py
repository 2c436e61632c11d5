"""Files for bodies with a symmetry: a method that has a better step for them is right for no other body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from polhode.core.constant import Constant
from polhode.core.digest import digest
from polhode.core.jit import jit
from polhode.core.loops.fixed import body_of
from polhode.core.rotors import Gyrostat
from polhode.core.scalars import NAN
from polhode.methods.exact_flow import EQUAL, symmetry_axis

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody
    from polhode.methods._method import Method

ALIKE = Constant(EQUAL, single=4.0 * 2.0**-23)


class Symmetry(NamedTuple):
    """What bodies of a file must have."""

    axis: int
    sphere: bool  # with rotors: the other moment is the same too
    rotors: int  # how many of them lie along the axis; 0 where they may lie anywhere

    def __str__(self) -> str:
        i, j = sorted(((self.axis + 1) % 3 + 1, (self.axis + 2) % 3 + 1))
        moments = "I1 = I2 = I3" if self.sphere else f"I{i} = I{j}"
        return moments + f" and rotors along axis {self.axis + 1}" * bool(self.rotors)

    def body(self) -> Callable[..., Any]:
        """What makes a body of its moments; all of it is NaN without the symmetry."""
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        whole, along = self.sphere, range(self.rotors)

        @jit
        def one_if_alike(I):
            alike = abs(I[i] - I[j]) <= ALIKE * I[j]
            if whole:
                alike = alike and abs(I[i] - I[k]) <= ALIKE * I[k]
            return 1.0 if alike else NAN

        @jit
        def symmetric_body(I):
            one = one_if_alike(I)
            return body_of((one * I[0], one * I[1], one * I[2]))

        @jit
        def symmetric_gyrostat(I, axes, J, free):
            one = one_if_alike(I)
            for n in along:
                one = one if 1.0 - abs(axes[n][k]) <= ALIKE else NAN
            I = (one * I[0], one * I[1], one * I[2])
            return Gyrostat(I, (1.0 / I[0], 1.0 / I[1], 1.0 / I[2]), axes, J, free)

        return symmetric_gyrostat if self.rotors or whole else symmetric_body


def symmetry(method: Method, torque: Any, body: RigidBody | None) -> Symmetry | None:
    """What the step made for a body asks of others; None if it is the one for all."""
    axis = None if body is None else symmetry_axis(body.moments)
    if body is None or axis is None:
        return None
    n = len(body.rotors)
    made, other = method.suited(torque, body), method.suited(torque, None)
    if n:
        made, other = made.rotors(made, n), other.rotors(other, n)  # type: ignore[misc]
    if digest(made.step) == digest(other.step):
        return None
    along = all(1.0 - abs(one.axis[axis]) <= EQUAL for one in body.rotors)
    return Symmetry(axis, not along, n if along else 0)
