"""The tide of a central body on a circular orbit: T = 3 rate^2 n x I n, with n the direction of the
satellite from the centre."""

import math

from polhode.core.jit import jit
from polhode.core.scalars import sincos
from polhode.core.vec import apply, apply_t, cross, dot, scale


@jit
def _radius(t, p):
    """The direction of the satellite: on the circle about the normal that begins at the x axis, which
    goes with the normal by the shortest way from the z axis, or from -z where the normal is below."""
    x, y, z = scale(1.0 / math.sqrt(dot(p.normal, p.normal)), p.normal)
    above = z + 1e-150
    side = above / math.sqrt(above * above)  # 1 or -1, without a branch, which has no Taylor series
    a = -1.0 / (side + z)
    b = x * y * a
    s, c = sincos(p.rate * t)
    return (
        c * (1.0 + side * x * x * a) + s * b,
        c * (side * b) + s * (side + y * y * a),
        -c * (side * x) - s * y,
    )


def tidal(t, R, p):
    n = apply_t(R, _radius(t, p))
    return scale(3.0 * p.rate * p.rate, cross(n, apply(p.inertia, n)))


def tidal_potential(t, R, p):
    n = apply_t(R, _radius(t, p))
    return 1.5 * p.rate * p.rate * dot(n, apply(p.inertia, n))
