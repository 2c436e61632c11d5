"""Motions as rows of numbers with named parts: views of the parts, the user's axes and the
principal ones, interpolation.

Which parts a kind of motion has is said in `polhode.core.motions`; `PARTS` says what each of them
is.  All else follows from that: the columns of files, the attributes of a `Trajectory`, messages.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode import rotations
from polhode.core.motions import ROTATION, Kind
from polhode.errors import nearest
from polhode.support.frames import rows_times

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

LABELS = {"quaternion_component": "xyzw", "axis": "xyz"}  # of components
SPEED = "rotor_speed_"  # and the number of the rotor


class MotionPart(NamedTuple):
    """A part of a motion: its name for users, and how it turns and is interpolated."""

    name: str
    symbol: str  # in the arguments of an event
    components: str | None  # a key of LABELS, None for one number
    units: str  # in the SI
    long_name: str
    frame: str = "space"  # what it refers to: "attitude", "body" (its axes) or "space"
    rate: str | None = None  # the part that is its rate of change: between steps, Hermite's cubic

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its values in one motion."""
        return (len(LABELS[self.components]),) if self.components else ()

    @property
    def plural(self) -> str:
        """Its name for many times and bodies."""
        if self.name.startswith(SPEED):
            return self.name.replace("speed", "speeds")
        return f"{self.name.removesuffix('y')}ies" if self.name.endswith("y") else f"{self.name}s"


class Parts(dict[str, MotionPart]):
    """The parts by the names of their fields; those of rotors are made on demand."""

    def __missing__(self, field: str) -> MotionPart:
        word, _, number = field.partition("_")
        if word != "rotor" or not number.isdecimal():
            raise KeyError(field)
        about = f"speed of rotor {number} relative to the body"
        return MotionPart(f"{SPEED}{number}", f"speed_{number}", None, "rad/s", about)

    def field(self, name: str) -> str | None:
        """The field of the part that users know by this name."""
        number = name.removeprefix(SPEED)
        if number != name and number.isdecimal():
            return f"rotor_{number}"
        return next((field for field, part in self.items() if part.name == name), None)


# an attitude turns at the rate of the angular velocity
PARTS = Parts(
    {
        "attitude": MotionPart(
            "quaternion",
            "R",
            "quaternion_component",
            "1",
            "attitude, body to space, scalar last",
            "attitude",
            "omega",
        ),
        "omega": MotionPart(
            "omega", "omega", "axis", "rad/s", "angular velocity, body frame", "body"
        ),
        "position": MotionPart(
            "position", "x", "axis", "m", "position of the centre of mass", rate="velocity"
        ),
        "velocity": MotionPart("velocity", "v", "axis", "m/s", "velocity of the centre of mass"),
    }
)
# what others call the attributes of motions
SYNONYMS = {
    "angular_momentum": "momentum_spatial",
    "angular_velocity": "omega",
    "attitude": "rotation",
    "dataframe": "to_xarray",
    "energy": "total_energy",
    "euler": "rotation",
    "euler_angles": "rotation",
    "orientation": "rotation",
    "q": "quaternion",
    "time": "t",
    "times": "t",
    "to_dataframe": "to_xarray",
    "to_pandas": "to_xarray",
    "w": "omega",
    "x": "position",
    "y": "motion",
}
ATTITUDE = ROTATION.slices["attitude"]
OMEGA = ROTATION.slices["omega"]  # in every kind of motion


def parts(y: np.ndarray, kind: Kind = ROTATION) -> Any:
    """The parts of motions (..., width) by name, as views; those of a system (..., bodies, component)."""
    if kind.bodies:
        y = y.reshape(*y.shape[:-1], kind.bodies, kind.width // kind.bodies)
    return kind.parts(*(y[..., place] for place in kind.slices.values()))


def rotor_speeds(y: np.ndarray, kind: Kind) -> np.ndarray | None:
    """The speeds of the rotors in motions (..., width), as views; None where there are none."""
    return y[..., kind.width - kind.spinning :] if kind.spinning else None


def row(kind: Kind, *values: Any) -> np.ndarray:
    """Motions (..., width) from their parts, in the order of the names."""
    places = kind.slices.values()
    found = np.concatenate(
        [
            value if isinstance(place, slice) else np.asarray(value)[..., None]
            for place, value in zip(places, values, strict=True)
        ],
        axis=-1,
    )
    return found.reshape(*found.shape[:-2], kind.width) if kind.bodies else found


def described(y: np.ndarray, kind: Kind = ROTATION) -> dict[str, Any]:
    """The parts of one motion as plain numbers by name, for messages and files."""
    return {PARTS[name].name: part.tolist() for name, part in parts(y, kind)._asdict().items()}


def call_form(name: str, kind: Kind) -> str:
    """How a function of the time and the motion is called."""
    return f"{name}(t, {', '.join(PARTS[part].symbol for part in kind.slices)})"


class Attitudes:
    """What has one `quaternion` or many."""

    __slots__ = ()

    if TYPE_CHECKING:
        quaternion: np.ndarray

    @property
    def rotation(self) -> Rotation:
        """Attitude as a scipy Rotation."""
        return rotations.as_rotation(self.quaternion)

    @property
    def matrix(self) -> np.ndarray:
        """Attitude as 3x3 matrices, body to space."""
        return rotations.matrices(self.quaternion)


class InMotion(Attitudes):
    """What has a `kind` and a `motion`, or many, with the parts as attributes: one that the kind
    does not have is None."""

    __slots__ = ()

    omega: np.ndarray
    position: np.ndarray | None
    velocity: np.ndarray | None

    @property
    def rotor_speeds(self) -> np.ndarray | None:
        """Speeds of the rotors relative to the body, the last axis one for each; None where there
        are none."""
        this: Any = self
        return rotor_speeds(this.motion, this.kind)

    @property
    def omega_spatial(self) -> np.ndarray:
        """Angular velocity in space."""
        return rotations.rotate(self.quaternion, self.omega)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            field = PARTS.field(name)
            if field is None:
                # `kind` is missing where the object is being made, and then so is its list of names
                known = [] if name[0] == "_" or name == "kind" else dir(self)
                synonyms = {one: meant for one, meant in SYNONYMS.items() if meant in known}
                hint = nearest(name, [one for one in known if one[0] != "_"], synonyms)
                raise AttributeError(f"a {type(self).__name__} has no attribute {name!r}{hint}")
            return getattr(parts(self.motion, self.kind), field, None)

        def __dir__(self):
            return [*super().__dir__(), *(PARTS[field].name for field in self.kind.slices)]


# --- differences ----------------------------------------------------------------------------------


def sizes_of_system(y: np.ndarray, kind: Kind, length: float) -> dict[str, float]:
    """What differences between motions of a system are relative to, over motions (n, width) that
    take so long: the largest angular velocity, but no less than a radian in that time; the size of
    the system, which is the largest distance of a body from the middle of all; and likewise the
    largest speed, but no less than that size in that time."""
    found, whole = parts(y, kind), 1.0 / (length or 1.0)
    size = _from_middle(found.position) or 1.0
    return {
        "omega": max(float(np.linalg.norm(found.omega, axis=-1).max()), whole),
        "position": size,
        "velocity": max(_from_middle(found.velocity), size * whole),
    }


def _from_middle(x: np.ndarray) -> float:
    """The largest distance of x (n, bodies, 3) from the mean over the bodies; that of one body alone
    is from the origin."""
    middle = x.mean(axis=-2, keepdims=True) if x.shape[-2] > 1 else 0.0
    return float(np.linalg.norm(x - middle, axis=-1).max())


def largest_differences(
    one: np.ndarray, two: np.ndarray, sizes: dict[str, float], kind: Kind = ROTATION
) -> np.ndarray:
    """For each of the motions (n, width) the angle in radians between two attitudes, or what is larger
    of the differences of the other parts, relative to these sizes; in a system the largest of any
    body."""
    found, true = parts(one, kind), parts(two, kind)
    worst = rotations.angle_between(found.attitude, true.attitude)
    for name, size in sizes.items():
        away = getattr(found, name) - getattr(true, name)
        distance = np.abs(away) if away.ndim == 1 else np.linalg.norm(away, axis=-1)
        worst = np.maximum(worst, distance / size)
    return worst.max(axis=-1) if kind.bodies else worst


# --- axes -----------------------------------------------------------------------------------------


def in_principal_axes(
    moments: np.ndarray | None,
    axes: np.ndarray | None,
    q: np.ndarray,
    vector: np.ndarray,
    is_momentum: bool,
) -> np.ndarray:
    """Rotations in principal axes from the user's: R -> R Q, V -> Q^T V; axes None where they are
    the same."""
    if axes is not None:
        q = rotations.qmul(q, _quaternions(axes))
        vector = rows_times(vector, axes)
    return np.concatenate([q, vector / moments if is_momentum else vector], axis=-1)


def in_user_axes(body: Any, y: np.ndarray, kind: Kind = ROTATION) -> np.ndarray:
    """Motions of a body or a system from principal axes to the user's: R -> R Q^T, Om -> Q Om."""
    return y if body.is_principal else back_to_axes(body.axes, y, kind)


def to_principal_axes(body: Any, y: np.ndarray, kind: Kind = ROTATION) -> np.ndarray:
    """The inverse of `in_user_axes`."""
    return y if body.is_principal else back_to_axes(np.swapaxes(body.axes, -1, -2), y, kind)


def back_to_axes(axes: np.ndarray, y: np.ndarray, kind: Kind = ROTATION) -> np.ndarray:
    """The same for axes (..., 3, 3)."""
    back = np.swapaxes(axes, -1, -2)
    turned = (_turned(name, part, back) for name, part in parts(y, kind)._asdict().items())
    return row(kind, *turned)


def part_in_user_axes(body: Any, y: np.ndarray, kind: Kind, name: str) -> np.ndarray:
    """One part of `in_user_axes`, a copy."""
    part = getattr(parts(y, kind), name)
    return (
        part.copy()
        if body.is_principal
        else _turned(name, part.copy(), np.swapaxes(body.axes, -1, -2))
    )


def _turned(name: str, part: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """A part of motions in other axes."""
    frame = PARTS[name].frame
    if frame == "attitude":
        return rotations.qmul(part, _quaternions(axes))
    return rows_times(part, axes) if frame == "body" else part


def _quaternions(axes):
    one_by_one = [_quaternion(one.tobytes()) for one in axes.reshape(-1, 3, 3)]
    return np.array(one_by_one).reshape(*axes.shape[:-2], 4)


@lru_cache(256)
def _quaternion(axes):
    """Of the axes of a body, given as bytes: they are asked for again with each motion."""
    return rotations.as_quaternion(np.frombuffer(axes).reshape(3, 3))


# --- between steps --------------------------------------------------------------------------------


def interpolated(a: np.ndarray, b: np.ndarray, h: Any, s: Any, kind: Kind = ROTATION) -> np.ndarray:
    """Motions a fraction s into steps of size h from a to b: Hermite's cubics, on SO(3) for the
    attitude; linear for a part without a rate."""
    before, after = parts(a, kind), parts(b, kind)
    if kind.bodies:
        h, s = np.asarray(h)[..., None], np.asarray(s)[..., None]
    found = {}
    for name, place in kind.slices.items():
        x0, x1 = getattr(before, name), getattr(after, name)
        steps = (np.asarray(h)[..., None], np.asarray(s)[..., None])
        steps = steps if isinstance(place, slice) else (h, s)
        rate = PARTS[name].rate
        if rate is not None:
            ends = x0, getattr(before, rate), x1, getattr(after, rate)
            found[name], found[rate] = (
                rotations.hermite(*ends, h, s)
                if PARTS[name].frame == "attitude"
                else _hermite(*ends, *steps)
            )
        elif name not in found:
            found[name] = x0 + steps[1] * (x1 - x0)
    return row(kind, *(found[name] for name in kind.slices))


def _hermite(x0, v0, x1, v1, h, s):
    """A value and its rate."""
    rise = (x1 - x0) / h
    x = x0 + s * h * ((1 - s) ** 2 * v0 + s * ((3 - 2 * s) * rise - (1 - s) * v1))
    v = (1 - s) * (1 - 3 * s) * v0 + s * (6 * (1 - s) * rise + (3 * s - 2) * v1)
    return x, v
