"""The named torques.  Each function returns a `Torque` in tuple form: compiled, vectorised, and fit
for a GPU.

    free()                       nothing acts
    heavy_top(20.0)              weight on an arm, a body turning about a fixed point
    coulomb_wall("described")    Holder, Leimkuhler & Reich's attraction with a soft wall
    stress_potential()           Bou-Rabee, Ortolan & Saccon's stress test
    book_toss(0.05)              Simo & Wong's toss of a book
    constant((0, 0, 1))          the same torque always
    gravity_gradient(...)        a satellite on a circular orbit
    damping(0.1)                 against the angular velocity

Torques add: `heavy_top(20.0) + damping(0.1)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from polhode.loads._torque import Foreign, Sum, Torque, as_torque, torque
from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.scalars import sincos
from polhode.core.vec import add, apply, apply_t, cross, dot, matrix, qconj, qexp, qmul, scale
from polhode.bodies._body import RigidBody
from polhode.errors import InputError, brief, choice, floats, number, unknown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "Foreign",
    "Sum",
    "Torque",
    "as_torque",
    "book_toss",
    "by_name",
    "constant",
    "coulomb_wall",
    "damping",
    "free",
    "gravity_gradient",
    "heavy_top",
    "stress_potential",
    "torque",
]


def _nothing(t, R):
    return (0.0, 0.0, 0.0)


def _zero(t, R):
    return 0.0


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

UP = (0.0, 0.0, 1.0)


def _upright(t, R, p):
    return (p.moment * R[2][1], -p.moment * R[2][0], 0.0)


def _upright_potential(t, R, p):
    return p.moment * R[2][2]


def _upright_at(t, q, p):
    a, b, c, d = q
    return (2.0 * p.moment * fma(b, c, a * d), 2.0 * p.moment * fma(b, d, -a * c), 0.0)


def _armed(t, R, p):
    return _weight(p, apply_t(R, p.up))


def _armed_potential(t, R, p):
    return p.moment * dot(p.up, apply(R, p.arm))


@jit
def _weight(p, g):
    return scale(-p.moment, cross(p.arm, g))


# upwards seen from the body, g = R^T up, moves by g' = g x W_0, where W_0, W_1, ... are the body velocity and its derivatives


@jit
def _first(g, W):
    return cross(g, W[0])


@jit
def _second(g, W):
    return add(cross(g, W[1]), cross(_first(g, W), W[0]))


@jit
def _third(g, W):
    return add(
        add(cross(g, W[2]), scale(2.0, cross(_first(g, W), W[1]))), cross(_second(g, W), W[0])
    )


@jit
def _upright_weight(p, g):
    return (p.moment * g[1], -p.moment * g[0], 0.0)


def _upright_1(t, R, W, p):
    return _upright_weight(p, _first(R[2], W))


def _upright_2(t, R, W, p):
    return _upright_weight(p, _second(R[2], W))


def _upright_3(t, R, W, p):
    return _upright_weight(p, _third(R[2], W))


def _armed_1(t, R, W, p):
    return _weight(p, _first(apply_t(R, p.up), W))


def _armed_2(t, R, W, p):
    return _weight(p, _second(apply_t(R, p.up), W))


def _armed_3(t, R, W, p):
    return _weight(p, _third(apply_t(R, p.up), W))


class _HeavyTop(Torque):
    """Weight on an arm: nothing acts about the vertical."""

    @property
    def arm(self) -> tuple[float, float, float]:
        return getattr(self.params, "arm", UP)

    @property
    def up(self) -> tuple[float, float, float]:
        return getattr(self.params, "up", UP)


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
    moment, arm, up = number("moment", moment), _unit("arm", arm), _unit("up", up)
    if arm == up == UP:
        return _with_quaternions(
            _upright_at,
            _HeavyTop(
                _upright,
                frame="body",
                form="tuple",
                params={"moment": moment},
                potential=_upright_potential,
                derivatives=(_upright_1, _upright_2, _upright_3),
                name="heavy_top",
            ),
        )
    return _HeavyTop(
        _armed,
        frame="body",
        form="tuple",
        params={"moment": moment, "arm": arm, "up": up},
        potential=_armed_potential,
        derivatives=(_armed_1, _armed_2, _armed_3),
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


def coulomb_wall(sign: str = "described", centre: float = 1.1, wall: float = 0.01) -> Torque:
    """Attraction -1/z and soft wall wall/10 z^-10, z = centre + R33.  Krysl & Endres 2005, section 3.6.

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


def _vee(A):
    """v with tr(A y^) = -v . y."""
    return (A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1])


def _distance(A):
    """|Q2 - Q1| in the Frobenius norm, BR (6), from A = Q1^T Q2."""
    return math.sqrt(2.0 * (3.0 - A[0][0] - A[1][1] - A[2][2]))


def _towards(M, R):
    """M^T R."""
    a, b, c = (
        apply_t(M, (R[0][0], R[1][0], R[2][0])),
        apply_t(M, (R[0][1], R[1][1], R[2][1])),
        apply_t(M, (R[0][2], R[1][2], R[2][2])),
    )
    return ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2]))


def _stress(t, R, p):
    A = _towards(matrix(p.attractor), R)
    d = _distance(A)
    shell = 2.0 / _distance(R) - 2.0
    pull = -p.alpha / (d * d * d)
    v, w = _vee(R), _vee(A)
    return (shell * v[0] + pull * w[0], shell * v[1] + pull * w[1], shell * v[2] + pull * w[2])


def _stress_at(t, q, p):
    """|Q2 - Q1|^2 = 8 |v|^2 with v the vector of conj(q1) q2, and _vee(Q1^T Q2) = 4 w v."""
    x, y, z, w = q
    a, b, c, d = qmul(qconj(p.attractor), q)
    square = 8.0 * (fma(a, a, b * b) + c * c)
    shell = (8.0 / math.sqrt(8.0 * (fma(x, x, y * y) + z * z)) - 8.0) * w
    pull = -4.0 * p.alpha * d / (square * math.sqrt(square))
    return (fma(pull, a, shell * x), fma(pull, b, shell * y), fma(pull, c, shell * z))


def _stress_potential(t, R, p):
    shell = _distance(R) - 1.0
    return shell * shell - p.alpha / _distance(_towards(matrix(p.attractor), R))


ATTRACTOR = (2.5 / math.sqrt(2.0), 0.0, 2.5 / math.sqrt(2.0))


def stress_potential(alpha: float = 0.3, attractor: ArrayLike = ATTRACTOR) -> Torque:
    """Potential (dist(R, 1) - 1)^2 - alpha / dist(R, Rm).  Bou-Rabee, Ortolan & Saccon 2009, eq. (7).

    `attractor` is the rotation vector of Rm.

    Examples
    --------
    >>> stress_potential().has_potential
    True
    """
    return _with_quaternions(
        _stress_at,
        Torque(
            _stress,
            frame="body",
            form="tuple",
            potential=_stress_potential,
            name="stress_potential",
            params={
                "alpha": number("alpha", alpha),
                "attractor": qexp(_vector("attractor", attractor)),
            },
        ),
    )


# --- others ---------------------------------------------------------------------------------------


def _toss(t, R, p):
    """The mean of the two sides at each of the two jumps: then the momentum after the toss is exact."""
    before = 0.5 * (1.0 - _sign(t - p.release, p.step))
    after = 0.5 * (1.0 + _sign(t - p.release - p.step, p.step))
    return (p.toss * before, p.disturbance / p.step * (1.0 - before - after), 0.0)


def _sign(x, step):
    return 0.0 if abs(x) < 1e-6 * step else (1.0 if x > 0.0 else -1.0)


class _BookToss(Torque):
    """A torque made for one step, which begins and ends with its jumps."""

    @property
    def unit(self) -> float:
        return self.params.step

    @property
    def jumps(self) -> tuple[float, float]:
        return self.params.release, self.params.release + self.params.step


def book_toss(
    step: float, toss: float = 20.0, release: float = 2.0, disturbance: float = 0.2
) -> Torque:
    """A toss about the intermediate axis and a nudge of one time step.  Simo & Wong 1991; Krysl & Endres 2005, section 3.2.

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
    return _BookToss(_toss, form="tuple", name="book_toss", params=given)


def _constant(t, R, p):
    return p.value


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
        params={"value": _vector("value", value)},
        name="constant",
    )


def _tidal(t, R, p):
    s, c = sincos(p.rate * t)
    n = apply_t(R, (c, s, 0.0))
    return scale(3.0 * p.rate * p.rate, cross(n, apply(p.inertia, n)))


def _tidal_potential(t, R, p):
    s, c = sincos(p.rate * t)
    n = apply_t(R, (c, s, 0.0))
    return 1.5 * p.rate * p.rate * dot(n, apply(p.inertia, n))


def gravity_gradient(body: RigidBody, rate: float) -> Torque:
    """The torque of a central body's tide on a circular orbit: T = 3 rate^2 n x I n.

    The orbit lies in the spatial x-y plane; n is the direction of the satellite from the centre, at
    angle `rate` t from x.

    Examples
    --------
    >>> from polhode import RigidBody
    >>> tide = gravity_gradient(RigidBody([1.0, 2.0, 3.0]), rate=0.1)
    >>> tide(2.5 * np.pi, np.eye(3)).round(6)   # after an eighth of the orbit
    array([0.   , 0.   , 0.015])
    """
    body = body if isinstance(body, RigidBody) else RigidBody(body)
    return Torque(
        _tidal,
        frame="body",
        form="tuple",
        params={"rate": number("rate", rate), "inertia": body.inertia},
        potential=_tidal_potential,
        name="gravity_gradient",
    )


def _drag(t, R, Om, p):
    return (-p.coefficients[0] * Om[0], -p.coefficients[1] * Om[1], -p.coefficients[2] * Om[2])


def damping(coefficient: ArrayLike) -> Torque:
    """Against the angular velocity: T = -c Om, with one coefficient or one for each body axis.

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


BUILT_IN = {
    "free": free,
    "heavy_top": heavy_top,
    "coulomb_wall": coulomb_wall,
    "stress_potential": stress_potential,
    "book_toss": book_toss,
    "constant": constant,
    "gravity_gradient": gravity_gradient,
    "damping": damping,
}


def by_name(name: str) -> Callable[..., Torque]:
    """The function that makes a named torque; `heavy-top` and `heavy_top` are the same.

    Examples
    --------
    >>> by_name("heavy-top")(moment=20.0)
    <torque heavy_top(moment=20.0), body frame>
    """
    key = name.strip().lower().replace("-", "_") if isinstance(name, str) else ""
    if key not in BUILT_IN:
        raise unknown("torque", name, list(BUILT_IN))
    return BUILT_IN[key]


def _vector(name, value):
    array = floats(name, value)
    if array.shape != (3,):
        raise InputError(f"{name} must be three numbers, got {brief(value)}; give three")
    return tuple(array.tolist())


def _unit(name, value):
    value = _vector(name, value)
    length = math.sqrt(dot(value, value))
    if length == 0.0:
        raise InputError(f"{name} must not be zero: it is a direction; give one, such as (0, 0, 1)")
    return tuple(x / length for x in value)
