"""Motions as rows of numbers with named parts: views of the parts, the user's axes and the
principal ones, interpolation.

Which parts there are is said in `polhode.core.motions`.  Attitude and angular velocity refer to the
axes of the body; every other part is in space, and the same in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.core.motions import KINDS, ROTATION
from polhode.support.frames import rows_times

if TYPE_CHECKING:
    from polhode.bodies._body import RigidBody

WIDTH = ROTATION.width  # numbers of a rotation alone
OMEGA = ROTATION.slices["omega"]  # in every kind of motion
_SLICES = {width: tuple(kind.slices.values()) for width, kind in KINDS.items()}


def parts(y: np.ndarray) -> Any:
    """The parts of motions (..., width) by name, as views."""
    width = y.shape[-1]
    return KINDS[width].parts(*(y[..., one] for one in _SLICES[width]))


def row(*values: np.ndarray) -> np.ndarray:
    """Motions (..., width) from their parts, in the order of the names."""
    return np.concatenate(values, axis=-1)


def described(y: np.ndarray) -> dict[str, list[float]]:
    """The parts of one motion as plain numbers by name, for messages and files."""
    return {
        "quaternion" if name == "attitude" else name: part.tolist()
        for name, part in parts(y)._asdict().items()
    }


def in_principal_axes(
    moments: np.ndarray | None,
    axes: np.ndarray | None,
    q: np.ndarray,
    vector: np.ndarray,
    is_momentum: bool,
) -> np.ndarray:
    """Rotations (..., 7) in principal axes from the user's: R -> R Q, V -> Q^T V; axes None where
    they are the same."""
    if axes is not None:
        q = rotations.qmul(q, _quaternions(axes))
        vector = rows_times(vector, axes)
    return row(q, vector / moments if is_momentum else vector)


def in_user_axes(body: RigidBody, y: np.ndarray) -> np.ndarray:
    """Motions from principal axes to the user's: R -> R Q^T, Om -> Q Om."""
    return y if body.is_principal else back_to_axes(body.axes, y)


def back_to_axes(axes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same for axes (..., 3, 3)."""
    back, (q, omega, *rest) = np.swapaxes(axes, -1, -2), parts(y)
    return row(rotations.qmul(q, _quaternions(back)), rows_times(omega, back), *rest)


def _quaternions(axes):
    one_by_one = [rotations.as_quaternion(one) for one in axes.reshape(-1, 3, 3)]
    return np.array(one_by_one).reshape(*axes.shape[:-2], 4)


def interpolated(a: np.ndarray, b: np.ndarray, h: Any, s: Any) -> np.ndarray:
    """Motions a fraction s into steps of size h from a to b: Hermite on SO(3), and on the position
    in flight."""
    (q0, om0, *place0), (q1, om1, *place1) = parts(a), parts(b)
    q, om = rotations.hermite(q0, om0, q1, om1, h, s)
    return row(
        q,
        om,
        *(
            _hermite(*place0, *place1, np.asarray(h)[..., None], np.asarray(s)[..., None])
            if place0
            else ()
        ),
    )


def _hermite(x0, v0, x1, v1, h, s):
    """Position and velocity."""
    rise = (x1 - x0) / h
    x = x0 + s * h * ((1 - s) ** 2 * v0 + s * ((3 - 2 * s) * rise - (1 - s) * v1))
    v = (1 - s) * (1 - 3 * s) * v0 + s * (6 * (1 - s) * rise + (3 * s - 2) * v1)
    return x, v
