"""The loads of bodies in flight on tuples: x and v are position and velocity of the centre of mass,
R the attitude, Om the body angular velocity; forces are in space, torques about the centre of mass.
"""

import math

from polhode.core.jit import jit
from polhode.core.vec import add, apply, apply_t, axpy, cross, dot, matmul, scale, sub, transpose

# --- a point mass ---------------------------------------------------------------------------------
# V = -mu m / r - mu / (2 r^3) (tr I - 3 n . I n), n = x / r: MacCullagh's formula


def gravity_force(t, x, v, R, p):
    n, r2, In, along = _seen(x, R, p)
    trace = p.inertia[0][0] + p.inertia[1][1] + p.inertia[2][2]
    near = axpy(trace - 5.0 * along, n, scale(2.0, apply(R, In)))
    return scale(-p.mu / r2, axpy(1.5 / r2, near, scale(p.mass, n)))


def gravity_torque(t, R, x, v, p):
    n, r2, In, _ = _seen(x, R, p)
    return scale(3.0 * p.mu / (r2 * math.sqrt(r2)), cross(apply_t(R, n), In))


def gravity_energy(t, x, R, p):
    _, r2, _, along = _seen(x, R, p)
    trace = p.inertia[0][0] + p.inertia[1][1] + p.inertia[2][2]
    return -p.mu / math.sqrt(r2) * (p.mass + 0.5 * (trace - 3.0 * along) / r2)


@jit
def _seen(x, R, p):
    """The direction n from the point mass, r^2, I n (body frame) and n . I n."""
    r2 = dot(x, x)
    n = scale(1.0 / math.sqrt(r2), x)
    N = apply_t(R, n)
    In = apply(p.inertia, N)
    return n, r2, In, dot(N, In)


# --- a magnet in the field of a dipole ------------------------------------------------------------
# B = k (3 n (n . a) - a) / r^3, V = -m . B


@jit
def dipole_field(x, strength, axis):
    """The field of a dipole at the origin."""
    r2 = dot(x, x)
    n = scale(1.0 / math.sqrt(r2), x)
    return scale(strength / (r2 * math.sqrt(r2)), axpy(3.0 * dot(n, axis), n, scale(-1.0, axis)))


@jit
def dipole_field_rate(x, v, strength, axis):
    """How the field of a dipole at the origin changes along the path, (v . grad) B."""
    r2 = dot(x, x)
    n = scale(1.0 / math.sqrt(r2), x)
    along, rise = dot(n, axis), dot(n, v)
    turned = axpy(dot(v, axis) - 5.0 * along * rise, n, axpy(rise, axis, scale(along, v)))
    return scale(3.0 * strength / (r2 * r2), turned)


def magnet_force(t, x, v, R, p):
    m, r2 = apply(R, p.moment), dot(x, x)
    n = scale(1.0 / math.sqrt(r2), x)
    mn, an = dot(m, n), dot(p.axis, n)
    sideways = axpy(an, m, scale(mn, p.axis))
    return scale(3.0 * p.strength / (r2 * r2), axpy(dot(m, p.axis) - 5.0 * mn * an, n, sideways))


def magnet_torque(t, R, x, v, p):
    return cross(apply(R, p.moment), dipole_field(x, p.strength, p.axis))


def magnet_energy(t, x, R, p):
    return -dot(apply(R, p.moment), dipole_field(x, p.strength, p.axis))


# --- a spring between a point of the body and a point in space ------------------------------------


@jit
def _stretch(x, R, p):
    """The arm in space, and the vector from the anchor to the point of the body."""
    arm = apply(R, p.point)
    return arm, sub(add(x, arm), p.anchor)


@jit
def _pull(d, rate, p):
    """The force of a spring that is d long and grows at `rate`, a vector."""
    long = math.sqrt(dot(d, d))
    n = scale(1.0 / (long + 1e-300), d)
    return scale(-p.stiffness * (long - p.length) - p.damping * dot(n, rate), n)


def spring_force(t, x, v, R, Om, p):
    _, d = _stretch(x, R, p)
    return _pull(d, add(v, apply(R, cross(Om, p.point))), p)


def spring_torque(t, R, Om, x, v, p):
    arm, d = _stretch(x, R, p)
    return cross(arm, _pull(d, add(v, apply(R, cross(Om, p.point))), p))


def elastic_force(t, x, v, R, p):
    _, d = _stretch(x, R, p)
    return _pull(d, (0.0, 0.0, 0.0), p)


def elastic_torque(t, R, x, v, p):
    arm, d = _stretch(x, R, p)
    return cross(arm, _pull(d, (0.0, 0.0, 0.0), p))


def spring_energy(t, x, R, p):
    _, d = _stretch(x, R, p)
    long = math.sqrt(dot(d, d)) - p.length
    return 0.5 * p.stiffness * long * long


# --- thrust and drag ------------------------------------------------------------------------------


def thrust_force(t, x, v, R, p):
    return apply(R, p.thrust)


def thrust_torque(t, R, x, v, p):
    return cross(p.point, p.thrust)


def linear_drag(t, x, v, R, p):
    return scale(-p.coefficient, sub(v, p.wind))


def quadratic_drag(t, x, v, R, p):
    w = sub(v, p.wind)
    return scale(-p.coefficient * math.sqrt(dot(w, w)), w)


# --- attitude control -----------------------------------------------------------------------------


def attitude_control(t, R, Om, p):
    """-kp e - kd Om, body frame; e = 1/2 (Rd^T R - R^T Rd) as a vector."""
    E = matmul(transpose(p.target), R)
    e = (0.5 * (E[2][1] - E[1][2]), 0.5 * (E[0][2] - E[2][0]), 0.5 * (E[1][0] - E[0][1]))
    return axpy(-p.kp, e, scale(-p.kd, Om))


def detumbling(t, R, Om, x, v, p):
    """Magnetorquers with the moment -gain dB/dt, body frame.  The field changes as the body turns,
    and as it moves."""
    B = apply_t(R, dipole_field(x, p.strength, p.axis))
    moved = apply_t(R, dipole_field_rate(x, v, p.strength, p.axis))
    return cross(scale(p.gain, sub(cross(Om, B), moved)), B)
