"""The named torques.  Each function returns a `Torque` in tuple form, which can be compiled,
vectorised, and run on a GPU.

    free()                       no torque
    heavy_top(20.0)              weight on an arm, a body turning about a fixed point
    coulomb_wall("described")    Holder, Leimkuhler & Reich's attraction with a soft wall
    stress_potential()           Bou-Rabee, Ortolan & Saccon's stress test
    book_toss(0.05)              Simo & Wong's toss of a book
    constant((0, 0, 1))          the same torque always
    gravity_gradient(...)        a satellite on a circular orbit
    damping(0.1)                 proportional to the angular velocity

Torques add: `heavy_top(20.0) + damping(0.1)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from polhode.loads import heavy_top_kernels, stress_kernels, tidal_kernels
from polhode.loads._torque import Torque
from polhode.loads.arguments import direction, vector
from polhode.loads.conversion import as_torque, combined, torque
from polhode.loads.foreign import Foreign
from polhode.loads.named import Source, find, register
from polhode.loads.sum import Sum
from polhode.loads.book_toss_kernels import BookToss, toss_torque
from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.vec import qexp
from polhode.bodies._body import RigidBody
from polhode.errors import InputError, choice, floats, number


__all__ = [
    "Foreign",
    "Sum",
    "Torque",
    "as_torque",
    "book_toss",
    "by_name",
    "combined",
    "constant",
    "coulomb_wall",
    "damping",
    "free",
    "gravity_gradient",
    "heavy_top",
    "stress_potential",
    "torque",
]


def __dir__() -> list[str]:
    return __all__  # what completion offers


BUILT_IN: dict[str, Callable[..., Torque]] = {}
named = partial(register, BUILT_IN)


def _nothing(t, R):
    return (0.0, 0.0, 0.0)


def _zero(t, R):
    return 0.0


@named("free")
def free() -> Torque:
    """No torque.

    Examples
    --------
    >>> free()(0.0, np.eye(3))
    array([0., 0., 0.])
    """
    none = Torque(_nothing, frame="body", form="tuple", potential=_zero, name="free")
    none.acts = False
    return none


def _with_quaternions(at, torque):
    """The torque with its form for quaternions, which Runge-Kutta methods take: their stages are not of unit length."""
    torque.quaternion = jit(at)
    return torque


# --- weight ---------------------------------------------------------------------------------------


@named("heavy_top")
def heavy_top(
    moment: float = 20.0, arm: ArrayLike = (0.0, 0.0, 1.0), up: ArrayLike = (0.0, 0.0, 1.0)
) -> Torque:
    """Weight times lever arm, for a body that turns about a fixed point: T = -moment arm x (R^T up), body frame.

    Parameters
    ----------
    moment : float
        M g l: mass, gravity, distance of the centre of mass from the fixed point.
    arm, up : vectors
        From the fixed point to the centre of mass (body frame), and against gravity (space); only
        their directions matter.

    Examples
    --------
    >>> heavy_top(20.0)(0.0, [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])   # it lies along -y and falls about x
    array([20., -0.,  0.])
    """
    moment, arm, up = number("moment", moment), direction("arm", arm), direction("up", up)
    if arm == up == heavy_top_kernels.UP:
        return _with_quaternions(
            heavy_top_kernels.upright_at,
            heavy_top_kernels.HeavyTop(
                heavy_top_kernels.upright,
                frame="body",
                form="tuple",
                params={"moment": moment},
                potential=heavy_top_kernels.upright_potential,
                derivatives=(
                    heavy_top_kernels.upright_1,
                    heavy_top_kernels.upright_2,
                    heavy_top_kernels.upright_3,
                ),
                name="heavy_top",
            ),
        )
    return heavy_top_kernels.HeavyTop(
        heavy_top_kernels.armed,
        frame="body",
        form="tuple",
        params={"moment": moment, "arm": arm, "up": up},
        potential=heavy_top_kernels.armed_potential,
        derivatives=(
            heavy_top_kernels.armed_1,
            heavy_top_kernels.armed_2,
            heavy_top_kernels.armed_3,
        ),
        name="heavy_top",
    )


# --- Coulomb attraction with a soft wall ----------------------------------------------------------


def _coulomb(t, R, p):
    z = 1.0 / (p.centre + R[2][2])
    z2 = z * z
    z4 = z2 * z2
    slope = p.sign * (z2 - p.wall * z4 * z4 * z2 * z)
    return (slope * R[2][1], -slope * R[2][0], 0.0)


def _coulomb_at(t, q, p):
    a, b, c, d = q
    z = 1.0 / (p.centre + (fma(c, c, d * d) - fma(a, a, b * b)))
    z2 = z * z
    z4 = z2 * z2
    slope = fma(p.wall * z, -z4 * z4, 1.0)  # last comes what is known last
    near = 2.0 * p.sign * z2
    return (near * fma(b, c, a * d) * slope, near * fma(b, d, -a * c) * slope, 0.0)


def _coulomb_potential(t, R, p):
    z = 1.0 / (p.centre + R[2][2])
    z2 = z * z
    z4 = z2 * z2
    return p.sign * (0.1 * p.wall * z4 * z4 * z2 - z)


@named("coulomb_wall")
def coulomb_wall(sign: str = "described", centre: float = 1.1, wall: float = 0.01) -> Torque:
    """Attraction -1/z and soft wall wall/10 z^-10, z = centre + R33.  Krysl & Endres 2004, section 3.6.

    The paper prints the torque (-z^-2 + 0.01 z^-11) [-R23, R13, 0]; its text describes an
    attraction and a wall that repels, which is the opposite sign.  `sign="described"` is the
    text's, `sign="printed"` the formula's.

    Examples
    --------
    >>> lying = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    >>> [round(float(coulomb_wall(sign)(0.0, lying)[0]), 4) for sign in ("described", "printed")]
    [0.8229, -0.8229]
    """
    signs = {"described": 1.0, "printed": -1.0}
    choice("sign of coulomb_wall", sign, signs)
    return _with_quaternions(
        _coulomb_at,
        Torque(
            _coulomb,
            frame="body",
            form="tuple",
            potential=_coulomb_potential,
            name="coulomb_wall",
            params={
                "sign": signs[sign],
                "centre": number("centre", centre),
                "wall": number("wall", wall),
            },
        ),
    )


# --- the stress test ------------------------------------------------------------------------------


ATTRACTOR = (2.5 / math.sqrt(2.0), 0.0, 2.5 / math.sqrt(2.0))


@named("stress_potential")
def stress_potential(alpha: float = 0.3, attractor: ArrayLike = ATTRACTOR) -> Torque:
    """Potential (dist(R, 1) - 1)^2 - alpha / dist(R, Rm).  Bou-Rabee, Ortolan & Saccon 2009, eq. (7).

    `attractor` is the rotation vector of Rm.

    Examples
    --------
    >>> stress_potential().has_potential
    True
    """
    return _with_quaternions(
        stress_kernels.stress_at,
        Torque(
            stress_kernels.stress,
            frame="body",
            form="tuple",
            potential=stress_kernels.stress_potential,
            name="stress_potential",
            params={
                "alpha": number("alpha", alpha),
                "attractor": qexp(vector("attractor", attractor)),
            },
        ),
    )


# --- others ---------------------------------------------------------------------------------------


@named("book_toss", step=Source.STEP)
def book_toss(
    step: float, toss: float = 20.0, release: float = 2.0, disturbance: float = 0.2
) -> Torque:
    """A toss about the intermediate axis and a nudge of one time step.  Simo & Wong 1991; Krysl & Endres 2004, section 3.2.

    (toss, 0, 0) until `release`, then (0, disturbance/step, 0) for one `step`, then nothing;
    spatial frame.

    Examples
    --------
    >>> toss = book_toss(step=0.05)
    >>> [toss(t, np.eye(3)).tolist() for t in (1.0, 2.02, 3.0)]
    [[20.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]]
    """
    given = {
        "step": number("step", step, positive=True),
        "toss": number("toss", toss),
        "release": number("release", release),
        "disturbance": number("disturbance", disturbance),
    }
    return BookToss(toss_torque, form="tuple", name="book_toss", params=given)


def _constant(t, R, p):
    return p.value


@named("constant")
def constant(value: ArrayLike, frame: str = "spatial") -> Torque:
    """The same torque at all times, in the spatial or the body frame.

    Examples
    --------
    >>> constant((0.0, 0.0, 1.0), frame="body")
    <torque constant(value=(0.0, 0.0, 1.0)), body frame>
    """
    return Torque(
        _constant,
        frame=frame,
        form="tuple",
        params={"value": vector("value", value)},
        name="constant",
    )


@named("gravity_gradient", body=Source.BODY)
def gravity_gradient(body: RigidBody, rate: float, normal: ArrayLike = (0.0, 0.0, 1.0)) -> Torque:
    """Gravity gradient on a circular orbit: T = 3 rate^2 n x I n.

    `rate` is the angular velocity in the orbit, and n the direction from the centre to the
    satellite.  `normal` is the normal of the orbit in space, about which the satellite moves
    counterclockwise; by default the orbit lies in the x-y plane, and n is at the angle rate t from
    x.  For another normal this orbit is rotated by the shortest rotation that takes z (-z, for a
    normal below the x-y plane) to the normal.

    Examples
    --------
    >>> from polhode import RigidBody
    >>> tide = gravity_gradient(RigidBody([1.0, 2.0, 3.0]), rate=0.1)
    >>> tide(2.5 * np.pi, np.eye(3)).round(6)   # after an eighth of the orbit
    array([0.   , 0.   , 0.015])
    >>> polar = gravity_gradient(RigidBody([1.0, 2.0, 3.0]), rate=0.1, normal=(0, -1, 0))
    >>> polar(2.5 * np.pi, np.eye(3)).round(6)
    array([ 0.  , -0.03,  0.  ])
    """
    body = body if isinstance(body, RigidBody) else RigidBody(body)
    tide = Torque(
        tidal_kernels.tidal,
        frame="body",
        form="tuple",
        params={
            "rate": number("rate", rate),
            "inertia": body.inertia,
            "normal": direction("normal", normal),
        },
        potential=tidal_kernels.tidal_potential,
        name="gravity_gradient",
    )
    tide.of_body = ("inertia",)
    return tide


def _drag(t, R, Om, p):
    return (-p.coefficients[0] * Om[0], -p.coefficients[1] * Om[1], -p.coefficients[2] * Om[2])


@named("damping")
def damping(coefficient: ArrayLike) -> Torque:
    """Damping T = -c Om, with one coefficient or one for each body axis.

    Examples
    --------
    >>> damping(0.1)(0.0, np.eye(3), (1.0, 2.0, 3.0))
    array([-0.1, -0.2, -0.3])
    >>> heavy_top(20.0) + damping((0.1, 0.1, 0.0))
    <torque heavy_top + damping(heavy_top.moment=20.0, damping.coefficients=(0.1, 0.1, 0.0)), spatial frame>
    """
    values = floats("coefficient", coefficient)
    if values.shape not in ((), (3,)):
        raise InputError(
            f"coefficient must be one number or three, got shape {values.shape}; give one of these"
        )
    values = np.broadcast_to(values, (3,))
    return Torque(
        _drag,
        frame="body",
        form="tuple",
        uses_omega=True,
        params={"coefficients": values},
        name="damping",
    )


def by_name(name: str) -> Callable[..., Torque]:
    """The function that makes a named torque; `heavy-top` and `heavy_top` are the same.

    Examples
    --------
    >>> by_name("heavy-top")(moment=20.0)
    <torque heavy_top(moment=20.0), body frame>
    """
    return find("torque", name, BUILT_IN)
