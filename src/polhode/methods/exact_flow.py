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
"""

import sys

from polhode.core.fma import fma
from polhode.core.jit import jit
from polhode.core.closed.short_motion import exact_motion as triaxial
from polhode.core.scalars import sinc_cos
from polhode.core.vec import qtimes, renormalise, scale
from polhode.methods._kicked import KickedState, kicked, start
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


def free_drift(body):
    """The exact free motion `drift(h, q, Pi, body)` made for a body; for any body when that is
    None."""
    axis = None if body is None else symmetry_axis(body.moments)
    return triaxial if axis is None else SYMMETRIC[axis]


@jit
def of_unit_length(s):
    """The state with what rounding did to the length of its quaternion undone; nothing waits for
    that."""
    return KickedState(renormalise(s.q), s.Pi, s.T, s.residual, s.excess)


def kicked_by(drift):
    """The step made of kicks and a drift."""

    @jit
    def step(h, t, s, body, torque, p):
        return of_unit_length(kicked(drift, h, t, s, body, torque, p))

    return step


STEPS = {drift: kicked_by(drift) for drift in (triaxial, *SYMMETRIC)}

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
        adapt=lambda torque, body: variant(EXACT, step=STEPS[free_drift(body)], adapt=None),
    )
)
