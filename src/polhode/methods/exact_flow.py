"""Kicks and the exact free motion (EXACT).  van Zon & Schofield 2007; Celledoni, Fasso, Safstrom &
Zanna 2008.

H = T + V: half a kick by the torque, the exact free motion over h, half a kick.  The method is
symplectic, symmetric and explicit, with one torque evaluation per step, and exact without torque.
The free motion of a body with equal moments I_i = I_j is a product of two rotations,

    q' = q exp(h Pi / I_i) exp(h (1/I_k - 1/I_i) Pi_k e_k),

and Pi is rotated about e_k by the opposite of the second angle.  For a sphere only the first
rotation remains.  The free motion for three different moments is in
`polhode.core.closed.short_motion`.  The choice is made when the body of a run is known, so that the
compiled code contains only one of them.

With rotors inside the body, which have the part G of the momentum, H = (Pi - G) I^-1 (Pi - G) / 2.
Where all rotors lie along an axis of symmetry, the flow of -Pi I^-1 G, a rotation about that axis,
commutes with the motion without rotors.  Otherwise the free motion is the one of
`polhode.core.closed.gyrostat_motion`.
"""

import sys
from functools import cache

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.kicks import KickedState, start
from polhode.core.closed.gyrostat_motion import exact_motion as gyrostat
from polhode.core.closed.short_motion import exact_motion as triaxial
from polhode.core.scalars import sinc_cos
from polhode.core.vec import qexp, qmul, qrotate_t, qtimes, scale, times
from polhode.methods._kicked import in_flight, in_system, kicked, with_rotors
from polhode.methods._method import Method, variant
from polhode.methods._registry import register

# two moments that differ by no more, relative to their size, are one
EQUAL = 4.0 * sys.float_info.epsilon


def symmetric(k):
    """The free motion of a body that is symmetric about its principal axis k, spheres included."""
    i, j = (k + 1) % 3, (k + 2) % 3
    at = tuple({i: 0, j: 1, k: 2}[n] for n in range(3))  # where x, y, z are in (i, j, k)

    @jit
    def drift(h, q, Pi, body):
        # exp(a) exp(b) = exp(b) exp(exp(-b) a): the spin about the axis, which is known first,
        # comes first
        spin, cosine, sine = spun(
            q[i], q[j], q[k], q[3], 0.5 * h * (body.Iinv[k] - body.Iinv[i]) * Pi[k]
        )
        turned = (fma(cosine, Pi[i], sine * Pi[j]), fma(cosine, Pi[j], -sine * Pi[i]), Pi[k])
        half = 0.5 * h * body.Iinv[i]
        s, c = sinc_cos(half * half * fma(Pi[k], Pi[k], fma(Pi[i], Pi[i], Pi[j] * Pi[j])))
        # spin (v s, c) = c spin + s spin v: the product does not wait for the series
        x, y, z, w = mixed(c, spin, s, qtimes(spin, scale(half, turned)))
        q, Pi = (x, y, z), turned
        return (q[at[0]], q[at[1]], q[at[2]], w), (Pi[at[0]], Pi[at[1]], Pi[at[2]]), 0.0

    return drift


@jit
def mixed(c, p, s, q):
    """c p + s q of quaternions."""
    return (
        fma(c, p[0], s * q[0]),
        fma(c, p[1], s * q[1]),
        fma(c, p[2], s * q[2]),
        fma(c, p[3], s * q[3]),
    )


@jit
def spun(x, y, z, w, half):
    """(x, y, z, w) exp(2 half e_3), and cosine and sine of the whole angle."""
    s, c = sinc_cos(half * half)
    s = half * s
    turned = fma(c, x, s * y), fma(c, y, -s * x), fma(c, z, s * w), fma(c, w, -s * z)
    return turned, (c - s) * (c + s), 2.0 * s * c


SYMMETRIC = tuple(symmetric(k) for k in range(3))


def symmetry_axis(moments):
    """The number of the axis about which a body with these moments is symmetric, 2 for a sphere;
    None: it is triaxial."""
    return next(
        (k for k in (2, 1, 0) if abs(moments[k - 2] - moments[k - 1]) <= EQUAL * moments[k - 1]),
        None,
    )


about_1, about_2, about_3 = SYMMETRIC


@jit
def any_body(h, q, Pi, body):
    """The free motion of a body of which only the step knows whether it is symmetric."""
    I = body.I
    if abs(I[0] - I[1]) <= EQUAL * I[1]:
        return about_3(h, q, Pi, body)
    if abs(I[2] - I[0]) <= EQUAL * I[0]:
        return about_2(h, q, Pi, body)
    if abs(I[1] - I[2]) <= EQUAL * I[2]:
        return about_1(h, q, Pi, body)
    return triaxial(h, q, Pi, body)


DRIFTS = (triaxial, *SYMMETRIC, any_body)


def free_drift(body):
    """The exact free motion `drift(h, q, Pi, body)` made for a body, or for all bodies of a system;
    for any body when that is None."""
    if body is None:
        return triaxial
    several = getattr(body, "bodies", (body,))
    axis, *others = {symmetry_axis(one.moments) for one in several}
    if others:
        return any_body
    return triaxial if axis is None else SYMMETRIC[axis]


@jit
def turned(h, q, Pi, body):
    """The rotation of the body by h about -I^-1 G, which the rotors cause."""
    turn = qexp(scale(-h, times(body.Iinv, body.G)))
    return qmul(q, turn), qrotate_t(turn, Pi)


@cache
def beside_rotors(drift):
    """The free motion of a body whose rotors are lined up, from that of the body without: half of the
    rotation that the rotors cause before and half of it after."""

    @jit
    def motion(h, q, Pi, body):
        q, Pi = turned(0.5 * h, q, Pi, body)
        q, Pi, _ = drift(h, q, Pi, body)
        q, Pi = turned(0.5 * h, q, Pi, body)
        return q, Pi, 0.0

    return motion


def lined_up(body):
    """Whether the rotation that the rotors cause commutes with the free motion: all of them lie
    along an axis of symmetry of the body, or it is a sphere."""
    if body is None or not body.rotors:
        return False
    k, moments = symmetry_axis(body.moments), body.moments
    if k is None:
        return False
    sphere = abs(moments[k] - moments[k - 1]) <= EQUAL * moments[k - 1]
    along = (abs(body.axes[:, k] @ one.axis) for one in body.rotors)
    return bool(sphere or all(1.0 - cosine <= EQUAL for cosine in along))


def rotor_drift(body):
    """The same as `free_drift` for a body with rotors."""
    return beside_rotors(free_drift(body)) if lined_up(body) else gyrostat


def kicked_by(drift):
    """The step made of kicks and a drift."""

    @jit
    def step(h, t, s, body, torque, p):
        # the quaternion is set to unit length last: no later operation waits for it
        return torque.kicks.unit(kicked(drift, h, t, s, body, torque, p))

    return step


STEPS = {drift: kicked_by(drift) for drift in DRIFTS}
step_with_rotors = cache(kicked_by)


def made_for(body):
    """The steps for a body."""
    drift = rotor_drift(body)
    return {
        "step": STEPS[free_drift(body)],
        "rotors": with_rotors(lambda: step_with_rotors(drift)),
    }


EXACT: Method = register(
    Method(
        "EXACT",
        STEPS[triaxial],
        start,
        KickedState,
        order=2,
        torques=1,
        symmetric=True,
        symplectic=True,
        conserves=("momentum", "energy"),
        free_order=(float("inf"), float("inf")),
        family="splitting",
        cite="vanzon2007numerical",
        best_for="free bodies, exact with any step; one torque evaluation per step in real time",
        summary="Kicks and the exact free motion: trigonometric or elliptic functions, depending on the body",
        flight=in_flight,
        system=in_system,
        rotors=with_rotors(lambda: step_with_rotors(gyrostat)),
        adapt=lambda torque, body: variant(EXACT, **made_for(body), adapt=None),
    )
)
