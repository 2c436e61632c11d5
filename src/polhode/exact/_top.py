"""The constants of a heavy top's motion, in decimals: roots of the cubic, moduli, rates,
amplitudes, initial phases.

With a = I3 omega_3/I1, b = pi_z/I1, g = 2 M g l/I1 and the transverse body velocity W (complex),

    u'^2 = f(u) = (|W0|^2 + g (u0 - u)) (1 - u^2) - (b - a u)^2 = g (u - u1)(u - u2)(u - u3),   u1 <= u <= u2 <= 1 <= u3,
    ((phi + psi)/2)' = (a + b) / 2 (1 + u),   ((phi - psi)/2)' = (b - a) / 2 (1 - u)   for I3 = I1,
    (a + b)^2 = g (1 + u1)(1 + u2)(1 + u3),   (b - a)^2 = g (1 - u1)(1 - u2)(u3 - 1);

another I3 adds the constant velocity omega_3 - a about the axis.  All differences of roots come from 150 digits, so that
none is spoilt where roots meet: k = 0 for a regular precession and a sleeping top, k = 1 for the homoclinic motion.
"""

import math
from decimal import Decimal, localcontext

from polhode.core.closed.heavy_top import Part, Top, far_form, near_cosine, near_sine
from polhode.exact._decimal import NOTHING, PI, PRECISION, circular, decay, mean, pair, times, unit

NEWTON = 800
STILL = (1e18, 0.0)  # y0 of a top that stands on the homoclinic motion's end: it never leaves


def _root(u, f, slope):
    """Newton's method from outside all roots: it approaches the nearest from one side, a double
    root too."""
    for _ in range(NEWTON):
        down = slope(u)
        step = f(u) / down if down else Decimal(0)
        u -= step
        if abs(step) <= Decimal(10) ** (10 - PRECISION) * (1 + abs(u)):
            break
    return u


def _roots(energy, g, u0, a, b):
    """u1, u2, u3 of f."""
    top = energy + g * u0

    def f(u):
        return (top - g * u) * (1 - u * u) - (b - a * u) ** 2

    def slope(u):
        return -g * (1 - u * u) - 2 * u * (top - g * u) + 2 * a * (b - a * u)

    total = (top + a * a) / g
    u1, u3 = _root(Decimal(-1), f, slope), _root(total + 2, f, slope)
    return u1, total - u1 - u3, u3


def _gap(x):
    return x if x > NOTHING else Decimal(0)


def _tangent(x, y):
    """sqrt(x / y), None for infinity."""
    return (x / y).sqrt() if y else (None if x else Decimal(0))


def _powers(q, s):
    """q^(n(n+1)) s^-n and q^(n(n+1)) s^(n+1) for n = 0, 1, 2, ... until they are nothing."""
    yield Decimal(1), s
    n = 1
    while q and s and (up := q ** (n * (n + 1)) / s**n) > Decimal("1e-45"):
        yield up, q ** (n * (n + 1)) * s ** (n + 1)
        n += 1


class _Amplitude:
    """alpha or beta: `size` is its largest modulus, and its phase turns at `turning` there;
    `tangent` places its zero."""

    def __init__(self, size, turning, tangent, sense):
        self.size, self.turning, self.tangent, self.side = (
            size,
            turning,
            tangent,
            1 if sense >= 0 else -1,
        )

    def rate(self, k, kc, z_rate):
        """Lambda: the phase's rate where it is known, less what the theta function turns there."""
        if not kc:
            return self.side * self.turning
        s, q = decay(self.tangent, k, kc)
        terms = list(_powers(q, s))
        turns = sum((2 * n + 1) * (up - down) for n, (up, down) in enumerate(terms)) / sum(
            up + down for up, down in terms
        )
        return self.side * (self.turning - z_rate * turns)

    def far(self, k, kc, constant):
        """Coefficients of theta_1(z + i s), and the amplitude that goes with them."""
        s, q = decay(self.tangent, k, kc)
        terms = (list(_powers(q, s)) + 4 * [(Decimal(0), Decimal(0))])[:4]
        form = [up + down for up, down in terms] + [up - down for up, down in terms]
        return form, self.size * constant / sum(form[:4])

    def near(self, moduli, p, period, constant):
        """cos chi, sin chi and 2 chi / period, and the amplitude."""
        t = self.tangent
        c, s = circular((Decimal(0), Decimal(1)) if t is None else unit((Decimal(1), t)), moduli)
        c2 = (c - s) * (c + s)
        theta = 1 - 2 * p * c2 + 2 * p**4 * (2 * c2 * c2 - 1) - 2 * p**9 * c2 * (4 * c2 * c2 - 3)
        lag = 2.0 * math.atan2(s, c) / float(period) if period else 0.0
        return [c, s, Decimal(lag)] + 5 * [Decimal(0)], self.size * constant / theta


def _phase(value, slope, theta, derivative, side, lag):
    """exp(i phase) that takes the theta function to the given value, or its derivative to the slope
    where both vanish."""
    x, y = (unit(value), unit(theta)) if any(value) else (unit(slope), unit(derivative))
    x, y = times(x, (y[0], side * y[1]))
    c, s = math.cos(lag), -side * math.sin(lag)
    return float(x) * c - float(y) * s, float(x) * s + float(y) * c


def prepare(I1, I3, moment, q0, omega0):
    """The motion from the quaternion q0 and body velocity omega0, with moment > 0."""
    with localcontext() as context:
        context.prec = PRECISION
        return _prepare(
            *(Decimal(float(x)) for x in (I1, I3, moment)),
            [Decimal(float(x)) for x in q0],
            [Decimal(float(x)) for x in omega0],
        )


def _prepare(I1, I3, moment, q0, omega0):
    n = sum(x * x for x in q0).sqrt()
    x, y, z, w = (c / n for c in q0)
    alpha, beta, W = (w, z), (x, y), (omega0[0], omega0[1])
    a, g = I3 * omega0[2] / I1, 2 * moment / I1
    up, down = w * w + z * z, x * x + y * y  # (1 + u0)/2, (1 - u0)/2
    turning = times(times(alpha, (x, -y)), W)  # alpha conj(beta) W = (-u' + i (b - a u)) / 2
    u0 = up - down
    b = 2 * turning[1] + a * u0
    u1, u2, u3 = _roots(W[0] ** 2 + W[1] ** 2, g, u0, a, b)
    u21, u31, u32, rise, fall = (_gap(d) for d in (u2 - u1, u3 - u1, u3 - u2, u0 - u1, u2 - u0))
    up1, up2, down1, down2, over = (_gap(d) for d in (1 + u1, 1 + u2, 1 - u1, 1 - u2, u3 - 1))
    k, kc = ((u21 / u31).sqrt(), (u32 / u31).sqrt()) if u31 else (Decimal(0), Decimal(1))
    speed = (g * u31).sqrt() / 2
    z_rate = speed * mean(k, kc)[0] if kc else Decimal(0)
    parts = (
        _Amplitude(
            (up2 / 2).sqrt(),
            (g * (1 + u3) * up1 / up2).sqrt() / 2 if up2 else Decimal(0),
            _tangent(up1, u21),
            a * up + turning[1],
        ),
        _Amplitude(
            (down1 / 2).sqrt(),
            (g * over * down2 / down1).sqrt() / 2 if down1 else Decimal(0),
            _tangent(down2 * u31, u21 * over),
            turning[1] - a * down,
        ),
    )
    rates = [
        part.rate(k, kc, z_rate) + sign * (omega0[2] - a) / 2
        for part, sign in zip(parts, (1, -1), strict=True)
    ]
    # alpha' = (i omega_3 alpha - beta conj(W)) / 2, beta' = (alpha W - i omega_3 beta) / 2, where alpha or beta vanishes
    slopes = [tuple(-x for x in times(beta, (W[0], -W[1]))), times(alpha, W)]
    backward = turning[0] > 0
    if kc * kc < Decimal("0.5"):
        rate, period, start, nome, forms, thetas = _near(
            k, kc, speed, z_rate, parts, rise, fall, backward
        )
    else:
        rate, period, start, nome, forms, thetas = _far(k, kc, z_rate, parts, rise, fall, backward)
    made = []
    for part, turn, (form, size), (F, D), value, slope in zip(
        parts, rates, forms, thetas, (alpha, beta), slopes, strict=True
    ):
        lag = float(form[2]) * start[0] if period[0] else 0.0
        c, s = _phase(value, slope, F, D, part.side, lag)
        made.append(
            Part(
                pair(turn),
                (float(size) * c, float(size) * s),
                float(part.side),
                tuple(map(float, form)),
            )
        )
    return (
        Top(*made, rate, period, start, float(nome), float(omega0[2])),
        (float(u1), float(u2)),
        k,
        z_rate,
    )


def _far(k, kc, z_rate, parts, rise, fall, backward):
    total = rise + fall
    x, y = ((fall / total).sqrt(), (rise / total).sqrt()) if total else (Decimal(1), Decimal(0))
    x, y = circular((-x if backward else x, y), mean(k, kc)[1])
    _, q = decay(None, k, kc)
    # theta_3(0), theta_4(0)
    theta = [1 + 2 * sign * q + 2 * q**4 + 2 * sign * q**9 for sign in (1, -1)]
    forms = [part.far(k, kc, constant) for part, constant in zip(parts, theta, strict=True)]
    thetas = [far_form(*z, form) for z, (form, _) in zip(((x, y), (-y, x)), forms, strict=True)]
    return pair(z_rate), (0.0, 0.0), (float(x), float(y)), q, forms, thetas


def _near(k, kc, speed, z_rate, parts, rise, fall, backward):
    around, moduli = mean(kc, k)
    period = PI * speed * around / z_rate if z_rate else None
    x, p = decay(_tangent(rise, fall), kc, k)
    constants = 1 + 2 * p + 2 * p**4 + 2 * p**9, 1 + p**2 + p**6
    forms = [
        part.near(moduli, p, period, constant)
        for part, constant in zip(parts, constants, strict=True)
    ]
    e = x.sqrt()
    g = p / e if e else Decimal(0)
    sign = -1 if backward else 1
    (S, dS), (Q, dQ) = near_sine(e, g, p, forms[0][0]), near_cosine(e, g, p, forms[1][0])
    thetas = [
        ((sign * S[0], S[1]), (dS[0], sign * dS[1])),
        ((Q[0], sign * Q[1]), (sign * dQ[0], dQ[1])),
    ]
    start = pair(-sign * x.ln() / 2) if x else STILL
    return (
        pair(speed * around),
        pair(period) if period else (math.inf, 0.0),
        start,
        p,
        forms,
        thetas,
    )
