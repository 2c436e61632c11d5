"""Named loads for a body in flight.  Each function returns a `Load` or a `Force` in tuple form:
compiled, vectorised, and fit for a GPU.

    gravity(mu, body)              a point mass at the origin, to second degree: force and torque
    magnet(moment, strength)       a magnet in the field of a dipole at the origin: force and torque
    magnet_in_field(moment, field) the same in a field given as a function
    spring(stiffness, point)       from a point of the body to a point in space
    thrust(force, point)           fixed in the body
    drag(linear=..., quadratic=...)    against the velocity
    detumble(gain, strength)       B-dot control by magnetorquers
    attitude_control(kp, kd)       towards an attitude: proportional and derivative

Loads add, to each other and to torques and forces: `gravity(mu, body) + drag(linear=0.1)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.errors import InputError, brief, called_as, number
from polhode.loads import flight_kernels as kernels
from polhode.loads._torque import ZERO, Torque
from polhode.loads.arguments import direction, vector
from polhode.loads.force import Force, weight
from polhode.loads.load import Load, load_of
from polhode.loads.named import Source, register

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "attitude_control",
    "detumble",
    "drag",
    "gravity",
    "magnet",
    "magnet_in_field",
    "spring",
    "thrust",
    "weight",
]


def __dir__() -> list[str]:
    return __all__  # what completion offers


BUILT_IN: dict[str, Callable[..., Load | Torque]] = {}
named = partial(register, BUILT_IN)
named("weight", mass=Source.MASS)(weight)


def _load(
    name: str,
    params: dict[str, Any],
    force: Any,
    torque: Any,
    potential: Any = None,
    uses_omega: bool = False,
    frame: str = "spatial",
) -> Load:
    given: dict[str, Any] = {
        "params": params,
        "form": "tuple",
        "name": name,
        "uses_omega": uses_omega,
    }
    twist = Torque(torque, frame=frame, uses_position=True, **given)
    twist.shares_potential = potential is not None
    return Load(twist, Force(force, potential=potential, **given))


@named("gravity", body=Source.BODY)
def gravity(mu: float, body: RigidBody | ArrayLike) -> Load:
    """Gravity of a point mass at the origin on an extended body: force and gravity-gradient torque.

    V = -mu m / r - mu / (2 r^3) (tr I - 3 n . I n), n = x / r (MacCullagh's formula), with the mass
    m and the inertia I of the body.

    Examples
    --------
    >>> from polhode import RigidBody
    >>> load = gravity(8.0, RigidBody([1.0, 2.0, 2.5], mass=10.0))
    >>> force, torque = load(0.0, (2.0, 0.0, 0.0), (0, 0, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> force.tolist(), torque.tolist()
    ([-21.875, -0.0, -0.0], [0.0, 0.0, 0.0])
    """
    body = body if isinstance(body, RigidBody) else RigidBody(body)
    params = {"mu": number("mu", mu), "mass": float(body.mass), "inertia": body.inertia}
    load = _load(
        "gravity",
        params,
        kernels.gravity_force,
        kernels.gravity_torque,
        kernels.gravity_energy,
        frame="body",
    )
    load.torque.of_body, load.force.of_body = ("inertia",), ("mass",)
    load.force.central = True
    return load


@named("magnet")
def magnet(moment: ArrayLike, strength: float, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Load:
    """A magnet in the field of a dipole at the origin: force and torque.

    B = strength (3 n (n . axis) - axis) / r^3, n = x / r; for a dipole of moment M in vacuum the
    strength is 1e-7 |M|.  V = -m . B.

    Parameters
    ----------
    moment : three numbers
        The magnetic moment m, body frame.
    strength : float
    axis : direction of the dipole, in space

    Examples
    --------
    >>> force, torque = magnet((0, 0, 1), 2.0)(0.0, (0.0, 0.0, 1.0), (0, 0, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> force.tolist()   # like poles, one above the other, attract
    [0.0, 0.0, -12.0]
    """
    params = {
        "moment": vector("moment", moment),
        "strength": number("strength", strength),
        "axis": direction("axis", axis),
    }
    load = _load(
        "magnet", params, kernels.magnet_force, kernels.magnet_torque, kernels.magnet_energy
    )
    load.force.central = True
    return load


SMALL = 6e-6  # cube root of the rounding of doubles, where central differences are most accurate


def magnet_in_field(
    moment: ArrayLike,
    field: Callable[..., Any],
    *,
    gradient: Callable[..., Any] | None = None,
    length: float | None = None,
) -> Load:
    """A magnet in a magnetic field that is given as a function: force and torque.

    The force is the gradient of m . B, the torque m x B, the energy -m . B.

    Parameters
    ----------
    moment : three numbers
        The magnetic moment m, body frame.
    field : function
        B in space, three numbers, as `field(x)`, or `field(t, x)` if it changes with time; x is the
        position.  Plain NumPy, compiled if numba can.
    gradient : function, optional
        The 3x3 matrix dB_i / dx_j, with the arguments of `field`.
    length : float, optional
        In place of the gradient: the length over which the field changes by much of its size.  The
        gradient is then found by central differences, to about ten digits.

    Examples
    --------
    >>> import numpy as np
    >>> def field(x):
    ...     return np.array([-0.5 * x[0], -0.5 * x[1], 1.0 + x[2]])
    >>> load = magnet_in_field((0.0, 0.0, 2.0), field, length=1.0)
    >>> force, torque = load(0.0, np.zeros(3), np.zeros(3), np.eye(3))
    >>> force.round(6).tolist()
    [0.0, 0.0, 2.0]
    """
    called_as("field", field, "field(x)", "field(t, x)")
    try:
        inspect.signature(field).bind("x")
        steady = True
    except (TypeError, ValueError):
        steady = False
    if (gradient is None) == (length is None):
        raise InputError(
            f"magnet_in_field needs gradient or length, got gradient={brief(gradient)} and length={brief(length)}; "
            "give one: the gradient of the field, or the length over which the field changes"
        )
    if gradient is not None:
        called_as("gradient", gradient, "gradient(x)" if steady else "gradient(t, x)")
    d = SMALL * (1.0 if length is None else number("length", length, positive=True))

    if steady:

        def at(t, x):
            return np.asarray(field(x))

        def energy(t, x, R, p):
            return -np.dot(R @ p.moment, np.asarray(field(x)))
    else:

        def at(t, x):
            return np.asarray(field(t, x))

        def energy(t, x, R, p):
            return -np.dot(R @ p.moment, np.asarray(field(t, x)))

    if gradient is None:

        def slope(t, x):
            found = np.empty((3, 3))
            for j in range(3):
                step = np.zeros(3)
                step[j] = d
                found[:, j] = (at(t, x + step) - at(t, x - step)) / (2.0 * d)
            return found
    elif steady:

        def slope(t, x):
            return np.asarray(gradient(x))
    else:

        def slope(t, x):
            return np.asarray(gradient(t, x))

    def magnet(t, x, v, R, p):
        m = R @ p.moment
        return slope(t, x).T @ m, np.cross(m, at(t, x))

    load = load_of(
        magnet, params={"moment": vector("moment", moment)}, potential=energy, name="magnet"
    )
    load.torque.wrapped = load.force.wrapped = field
    return load


@named("spring")
def spring(
    stiffness: float,
    point: ArrayLike = ZERO,
    anchor: ArrayLike = ZERO,
    length: float = 0.0,
    damping: float = 0.0,
) -> Load:
    """A spring from a point of the body to a point in space, with a damper beside it.

    Parameters
    ----------
    stiffness : float
        Force per length.
    point : three numbers
        Where it is fixed to the body, from the centre of mass, body frame.
    anchor : three numbers
        Where it is fixed in space.
    length : float
        At which it does not pull.
    damping : float
        Force per speed at which it grows.

    Examples
    --------
    >>> pull = spring(3.0, point=(0.1, 0, 0))
    >>> force, torque = pull(0.0, (0.0, 1.0, 0.0), (0, 0, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> force.round(6).tolist(), torque.round(6).tolist()
    ([-0.3, -3.0, -0.0], [0.0, 0.0, -0.3])
    """
    params = {
        "stiffness": number("stiffness", stiffness),
        "point": vector("point", point),
        "anchor": vector("anchor", anchor),
        "length": number("length", length),
        "damping": number("damping", damping),
    }
    if params["damping"]:
        return _load("spring", params, kernels.spring_force, kernels.spring_torque, uses_omega=True)
    return _load(
        "spring", params, kernels.elastic_force, kernels.elastic_torque, kernels.spring_energy
    )


@named("thrust")
def thrust(force: ArrayLike, point: ArrayLike = ZERO) -> Load:
    """A force fixed in the body, at a point of the body; both body frame.

    Examples
    --------
    >>> push, twist = thrust((0, 0, 2.0), (0.5, 0, 0))(0.0, (0, 0, 0), (0, 0, 0), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    >>> push.tolist(), twist.tolist()
    ([0.0, 0.0, 2.0], [1.0, 0.0, 0.0])
    """
    params = {"thrust": vector("force", force), "point": vector("point", point)}
    return _load("thrust", params, kernels.thrust_force, kernels.thrust_torque, frame="body")


@named("drag")
def drag(
    linear: float | None = None, quadratic: float | None = None, wind: ArrayLike = ZERO
) -> Force:
    """Drag against the velocity relative to the wind w: -c (v - w), or -c |v - w| (v - w).

    Give one coefficient: `linear`, or `quadratic`, which for a fluid of density rho is
    rho Cd A / 2.  `damping` of `polhode.torques` is its counterpart for the rotation.

    Examples
    --------
    >>> import numpy as np
    >>> drag(quadratic=0.5)(0.0, np.eye(3), v=(3.0, 4.0, 0.0)).tolist()
    [-7.5, -10.0, -0.0]
    """
    if (linear is None) == (quadratic is None):
        raise InputError(
            f"drag needs one coefficient, got linear={linear!r} and quadratic={quadratic!r}; give one, and add two "
            "drags for both"
        )
    which, kernel = ("linear", kernels.linear_drag)
    if linear is None:
        which, kernel = "quadratic", kernels.quadratic_drag
    params = {
        "coefficient": number(which, quadratic if linear is None else linear),
        "wind": vector("wind", wind),
    }
    return Force(kernel, form="tuple", params=params, name=f"{which}_drag")


@named("detumble")
def detumble(gain: float, strength: float, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Torque:
    """B-dot control: magnetorquers that oppose the change of the field that the body measures.

    Their moment is m = -gain dB/dt, the torque m x B, all in the body frame.  The field is that of
    `magnet` (for the Earth about 7.8e15 T m^3 along -z); it changes as the body turns and as it moves
    along its path, so that the body ends up turning with the field.

    Examples
    --------
    >>> import numpy as np
    >>> detumble(1.0, 1.0)(0.0, np.eye(3), (1.0, 0, 0), x=(0.0, 0.0, 1.0)).tolist()
    [-4.0, 0.0, 0.0]
    """
    return Torque(
        kernels.detumbling,
        frame="body",
        form="tuple",
        uses_omega=True,
        uses_position=True,
        params={
            "gain": number("gain", gain),
            "strength": number("strength", strength),
            "axis": direction("axis", axis),
        },
        name="detumble",
    )


@named("attitude_control")
def attitude_control(kp: float, kd: float, target: Any = None) -> Torque:
    """Proportional and derivative control towards a target attitude: T = -kp e - kd Om, body frame.

    e = 1/2 (Rd^T R - R^T Rd) as a vector, sin(angle) times the axis of the rotation from the target
    Rd to R.

    Parameters
    ----------
    target : scipy Rotation, 3x3 matrix, scalar-last quaternion, rotation vector, or None
        None: the attitude in which the body axes are those of space.

    Examples
    --------
    >>> import numpy as np
    >>> R = [[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]
    >>> attitude_control(2.0, 0.5)(0.0, R, (0.0, 0.0, 1.0)).round(6).tolist()
    [-0.0, -0.0, -1.7]
    """
    q = rotations.as_quaternion(target, None, "target")
    return Torque(
        kernels.attitude_control,
        frame="body",
        form="tuple",
        uses_omega=True,
        params={
            "kp": number("kp", kp),
            "kd": number("kd", kd),
            "target": rotations.matrices(q),
        },
        name="attitude_control",
    )
