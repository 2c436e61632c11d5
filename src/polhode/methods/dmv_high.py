"""Preprocessed discrete Moser-Veselov of order 8 and 10, in attitude and momentum.  Hairer &
Vilmart 2006, J. Phys. A 39.

DMV over a step k is the exact flow of K(H, C) = H + k^2 K3 + k^4 K5 + ... (dmv.py): the true motion
for the time k a(k), and a rotation about the momentum by k b(k), with a = dK/dH and b = dK/dC.  Here
are two more terms, found from exact rational series of the step and of the free motion; e1, e2, e3
are the elementary symmetric polynomials of the x_i = 1/I_i.

    56 K7 = (5 e1^3 - 5 e1 e2 + e3) H^4 + (4 e2^2 - 10 e1^2 e2 + 8 e1 e3) H^3 C + (6 e1 e2^2 + 6 e1^2 e3 - 9 e2 e3) H^2 C^2
            + (4 e3^2 - e2^3 - 6 e1 e2 e3) H C^3 + (e2^2 e3 + e1 e3^2) C^4
    144 K9 = (14 e1^4 - 21 e1^2 e2 + 3 e2^2 + 6 e1 e3) H^5 + (30 e1 e2^2 - 35 e1^3 e2 + 30 e1^2 e3 - 15 e2 e3) H^4 C
            + (30 e1^2 e2^2 - 10 e2^3 + 20 e1^3 e3 - 60 e1 e2 e3 + 12 e3^2) H^3 C^2
            + (24 e2^2 e3 - 10 e1 e2^3 - 30 e1^2 e2 e3 + 24 e1 e3^2) H^2 C^3
            + (e2^4 + 12 e1 e2^2 e3 + 6 e1^2 e3^2 - 15 e2 e3^2) H C^4 + (2 e3^3 - e2^3 e3 - 3 e1 e2 e3^2) C^5

The step k with k a(k) = h is found by reverting the series.  Like DMV6+att these methods conserve
energy and momentum and are symplectic in the body momentum, but not quite in attitude and momentum
together.  With kicks the order is 2.
"""

from polhode.core.jit import jit
from polhode.core.vec import dot, neg, qexp, qmul, scale, times
from polhode.methods._kicked import kicked
from polhode.methods.dmv import (
    corrected_method,
    in_steps,
    moser_veselov,
    rates,
    symmetric_polynomials,
)


@jit
def rates7(x, Pi):
    """a7 and b7: the derivatives of K7 with respect to H and C."""
    e1, e2, e3 = symmetric_polynomials(x)
    H, C = 0.5 * dot(Pi, times(x, Pi)), 0.5 * dot(Pi, Pi)
    k40 = 5.0 * e1 * (e1 * e1 - e2) + e3
    k31 = 4.0 * e2 * e2 - 10.0 * e1 * e1 * e2 + 8.0 * e1 * e3
    k22 = 6.0 * e1 * (e2 * e2 + e1 * e3) - 9.0 * e2 * e3
    k13 = 4.0 * e3 * e3 - e2 * (e2 * e2 + 6.0 * e1 * e3)
    k04 = e3 * (e2 * e2 + e1 * e3)
    a = ((4.0 * k40 * H + 3.0 * k31 * C) * H + 2.0 * k22 * C * C) * H + k13 * C * C * C
    b = k31 * H * H * H + (2.0 * k22 * H * H + (3.0 * k13 * H + 4.0 * k04 * C) * C) * C
    return a / 56.0, b / 56.0


@jit
def rates9(x, Pi):
    """a9 and b9: the derivatives of K9 with respect to H and C."""
    e1, e2, e3 = symmetric_polynomials(x)
    H, C = 0.5 * dot(Pi, times(x, Pi)), 0.5 * dot(Pi, Pi)
    f1, f2, f3 = e1 * e1, e2 * e2, e3 * e3
    k50 = 14.0 * f1 * f1 - 21.0 * f1 * e2 + 3.0 * f2 + 6.0 * e1 * e3
    k41 = 30.0 * e1 * (f2 + e1 * e3) - 35.0 * f1 * e1 * e2 - 15.0 * e2 * e3
    k32 = 30.0 * f1 * f2 - 10.0 * f2 * e2 + 20.0 * f1 * e1 * e3 - 60.0 * e1 * e2 * e3 + 12.0 * f3
    k23 = 24.0 * e3 * (f2 + e1 * e3) - 10.0 * e1 * e2 * (f2 + 3.0 * e1 * e3)
    k14 = f2 * f2 + 12.0 * e1 * f2 * e3 + 6.0 * f1 * f3 - 15.0 * e2 * f3
    k05 = e3 * (2.0 * f3 - f2 * e2 - 3.0 * e1 * e2 * e3)
    a = (
        ((5.0 * k50 * H + 4.0 * k41 * C) * H + 3.0 * k32 * C * C) * H + 2.0 * k23 * C * C * C
    ) * H + k14 * C * C * C * C
    b = (
        k41 * H * H * H * H
        + (2.0 * k32 * H * H * H + (3.0 * k23 * H * H + (4.0 * k14 * H + 5.0 * k05 * C) * C) * C)
        * C
    )
    return a / 144.0, b / 144.0


@jit
def reverted(a3, a5, a7, a9):
    """k with k (1 + a3 k^2 + a5 k^4 + a7 k^6 + a9 k^8) = h up to h^9, at h = 1, and whether it still grows with h."""
    s = a3 * a3
    c3, c5 = -a3, 3.0 * s - a5
    c7 = a3 * (8.0 * a5 - 12.0 * s) - a7
    c9 = 55.0 * s * (s - a5) + 10.0 * a3 * a7 + 5.0 * a5 * a5 - a9
    return 1.0 + c3 + c5 + c7 + c9, 1.0 + 3.0 * c3 + 5.0 * c5 + 7.0 * c7 + 9.0 * c9 > 0.0


@jit
def preprocessed(k, sound, turn, q, Pi, body):
    """DMV over k after a turn back about the momentum."""
    q, Pi, residual = moser_veselov(k, qmul(q, qexp(neg(turn))), Pi, body)
    return q, Pi, residual if sound else 1.0


@jit
def drift8(h, q, Pi, body):
    x, P = in_steps(h, Pi, body)
    (a3, b3, a5, b5), (a7, b7) = rates(x, P), rates7(x, P)
    k, sound = reverted(a3, a5, a7, 0.0)
    z = k * k
    return preprocessed(h * k, sound, scale(k * z * (b3 + z * (b5 + z * b7)), P), q, Pi, body)


@jit
def drift10(h, q, Pi, body):
    x, P = in_steps(h, Pi, body)
    (a3, b3, a5, b5), (a7, b7), (a9, b9) = rates(x, P), rates7(x, P), rates9(x, P)
    k, sound = reverted(a3, a5, a7, a9)
    z = k * k
    return preprocessed(
        h * k, sound, scale(k * z * (b3 + z * (b5 + z * (b7 + z * b9))), P), q, Pi, body
    )


@corrected_method("DMV8+att", free_order=(8, 8), cite="hairer2006preprocessed")
@jit
def step_8(h, t, s, body, torque, p):
    """Discrete Moser-Veselov with step and attitude corrected: the free motion is of order 8."""
    return kicked(drift8, h, t, s, body, torque, p)


@corrected_method("DMV10+att", free_order=(10, 10), cite="hairer2006preprocessed")
@jit
def step_10(h, t, s, body, torque, p):
    """Discrete Moser-Veselov with step and attitude corrected: the free motion is of order 10."""
    return kicked(drift10, h, t, s, body, torque, p)
