"""The free motion of gyrostats against mpmath's Taylor series with thirty digits, which take the
numbers given as exact."""

import math

import mpmath as mp
import numpy as np
import pytest

from polhode import RigidBody, Rotor, exact, integrate, rotations
from polhode.core.closed import gyrostat_motion
from polhode.core.closed.gyrostat_motion import REACH, exact_motion, parts, short_flow
from polhode.core.closed.short_motion import exact_motion as without_rotors
from polhode.core.closed.short_motion import no_further
from polhode.core.rotors import Carrier

DIGITS = 30
Q0 = tuple(rotations.exp([0.3, -0.2, 1.1]))


def truth(q, Pi, Iinv, G, times):
    """Attitudes and momenta at the times, which grow."""
    Iinv, G = [mp.mpf(x) for x in Iinv], [mp.mpf(x) for x in G]

    def slope(t, y):
        a, b, c, d, x, y, z = y
        u, v, w = (i * (p - g) for i, p, g in zip(Iinv, (x, y, z), G, strict=True))
        turn = (d * u + b * w - c * v, d * v + c * u - a * w, d * w + a * v - b * u)
        change = (y * w - z * v, z * u - x * w, x * v - y * u)
        return [*(p / 2 for p in turn), -(a * u + b * v + c * w) / 2, *change]

    with mp.workdps(DIGITS):
        solution = mp.odefun(slope, 0, [mp.mpf(x) for x in (*q, *Pi)])
        return [[float(x) for x in solution(t)] for t in times]


def distance(motion, other):
    """Of (q, Pi) from seven numbers, the momentum relative to its size."""
    size = np.linalg.norm(other[4:]) or 1.0
    q = min(np.abs(np.subtract(s, other[:4])).max() for s in (motion[0], np.negative(motion[0])))
    return max(q, np.abs(np.subtract(motion[1], other[4:])).max() / size)


def carrier(Iinv, G):
    return Carrier(tuple(1.0 / x for x in Iinv), tuple(Iinv), tuple(G))


CASES = {
    "triaxial": ((1.0, -2.0, 0.5), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "a fast wheel": ((1.0, -2.0, 0.5), (1.0, 0.5, 0.4), (30.0, 8.0, -5.0)),
    "a slow wheel": ((1.0, -2.0, 0.5), (1.0, 0.5, 0.4), (1e-9, 3e-8, -1e-8)),
    "no wheel": ((1.0, -2.0, 0.5), (1.0, 0.5, 0.4), (0.0, 0.0, 0.0)),
    "symmetric": ((0.1, -0.2, 0.5), (0.5, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "nearly symmetric": ((0.1, -0.2, 0.5), (0.5, 0.5 + 1e-12, 0.4), (0.3, 0.8, -0.5)),
    "sphere": ((0.1, -0.2, 0.5), (0.5, 0.5, 0.5), (0.3, 0.8, -0.5)),
    "the body stands still": ((0.3, 0.8, -0.5), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "it hardly turns": ((0.3, 0.8, -0.5 + 1e-9), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "no momentum": ((0.0, 0.0, 0.0), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "hardly any momentum": ((1e-9, 0.0, 0.0), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "along the third axis": ((0.0, 0.0, 2.0), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "against the third axis": ((0.0, 0.0, -2.0), (1.0, 0.5, 0.4), (0.3, 0.8, -0.5)),
    "permanent": ((1.0, -2.0, 0.5), (1.0, 0.5, 0.4), (0.5, -3.0, 0.125)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_motion_is_exact_to_round_off(name):
    """Over a little and over all of the reach, and over many parts."""
    Pi, Iinv, G = CASES[name]
    body = carrier(Iinv, G)
    reach = 1.0 / (parts(1.0, Pi, body) or 1.0)
    times = [0.03 * reach, 0.999 * reach, 3.0 * reach]
    for h, goal in zip(times, truth(Q0, Pi, Iinv, G, times), strict=True):
        *found, residual = exact_motion(h, Q0, Pi, body)
        assert residual == 0.0
        assert distance(found, goal) < 2e-15 * max(1.0, h / reach)
        *back, _ = exact_motion(-h, *found, body)
        assert distance(back, [*Q0, *Pi]) < 4e-15 * max(1.0, h / reach)


def test_without_rotors_it_is_that_of_a_rigid_body():
    Pi, body = (1.0, -2.0, 0.5), carrier((1.0, 0.5, 0.4), (0.0, 0.0, 0.0))
    for h in (0.01, 0.2, 3.0, -3.0):
        q, momentum, _ = without_rotors(h, Q0, Pi, body)
        assert distance(exact_motion(h, Q0, Pi, body), [*q, *momentum]) < 2e-14


def test_lanes_leave_out_what_is_out_of_reach():
    Pi, Iinv, G = CASES["triaxial"]
    body, reach = carrier(Iinv, G), 1.0 / parts(1.0, Pi, carrier(Iinv, G))
    size = 0.6 * math.sqrt(5.25) + math.sqrt(0.3**2 + 0.4**2 + 0.2**2)
    assert reach == pytest.approx(REACH / size)
    for h, residual in ((0.99 * reach, 0.0), (1.01 * reach, 1.0)):
        short = short_flow(h, Q0, Pi, body)
        reached = parts(h, Pi, body) < 1.0
        assert no_further(reached, *short, h, Q0, Pi, body) == (*short, residual)


def test_a_step_of_too_many_parts_is_not_a_motion():
    Pi, Iinv, G = CASES["triaxial"]
    q, momentum, _ = exact_motion(1.1 * gyrostat_motion.MOST, Q0, Pi, carrier(Iinv, G))
    assert np.isnan([*q, *momentum]).all()


# --- exact.gyrostat -------------------------------------------------------------------------------

ROTORS = [
    Rotor((0.0, 0.6, 0.8), 0.1, momentum=3.0),
    Rotor((0.6, 0.0, 0.8), 0.1, speed=30.0),
    Rotor((1.0, 0.0, 0.0), 0.2, torque=0.0, speed=-5.0),
]
TILTED = [[1.0, 0.1, 0.0], [0.1, 2.0, 0.05], [0.0, 0.05, 2.5]]
OMEGA = (0.3, -0.7, 0.5)


def test_long_times():
    """Held rotors about the axes: then nothing is rounded before the motion."""
    rotors = [Rotor(np.eye(3)[i], 0.125, speed=8.0 * G) for i, G in enumerate((0.25, 0.5, -0.75))]
    body = RigidBody([1.0, 2.0, 4.0], rotors=rotors, check_triangle=False)
    times = [-3.0, 0.0, 5.0, 15.0]
    Pi = body.momentum(OMEGA)
    motion = exact.gyrostat(body, Q0, OMEGA, times)
    goals = truth(Q0, Pi, (1.0, 0.5, 0.25), (0.25, 0.5, -0.75), times[1:])
    for i, goal in enumerate(goals, start=1):
        found = motion.quaternion[i], motion.momentum[i]
        assert distance(found, goal) < 1e-15 * (1.0 + 2.0 * times[i])
    back = exact.gyrostat(body, motion.quaternion[0], motion.omega[0], 3.0)
    assert distance((back.quaternion, back.momentum), [*Q0, *Pi]) < 1e-14


@pytest.mark.slow
def test_a_very_long_time():
    """What is constant after 10^5 radians, and the same motion from half-way on."""
    body = RigidBody(TILTED, rotors=ROTORS)
    motion = exact.gyrostat(body, Q0, OMEGA, [0.0, 1e4, 2e4])
    L = rotations.rotate(motion.quaternion, motion.momentum)
    assert np.abs(L - L[0]).max() < 1e-11 * np.linalg.norm(L[0])
    alone = sum(one.inertia * np.outer(one.axis, one.axis) for one in ROTORS if one.is_free)
    E = np.einsum("ti,ij,tj->t", motion.omega, TILTED - alone, motion.omega)
    assert np.ptp(E) < 1e-13 * E[0]
    speeds = motion.rotor_speeds[1]
    later = [
        ROTORS[0],
        ROTORS[1],
        Rotor(ROTORS[2].axis, ROTORS[2].inertia, torque=0.0, speed=speeds[2]),
    ]
    rest = exact.gyrostat(body.with_rotors(later), motion.quaternion[1], motion.omega[1], 1e4)
    np.testing.assert_allclose(rest.omega, motion.omega[2], atol=1e-10)
    np.testing.assert_allclose(rest.matrix, motion.matrix[2], atol=1e-10)


def test_the_users_axes_and_all_kinds_of_rotors():
    """As by `integrate`, at any order of times, alone or together."""
    body, times = RigidBody(TILTED, rotors=ROTORS), [[2.0, 0.5], [0.0, 1.0]]
    motion = exact.gyrostat(body, Q0, OMEGA, times)
    assert motion.quaternion.shape == (2, 2, 4) and motion.rotor_speeds.shape == (2, 2, 3)
    run = integrate(
        body, None, (0, 2), rtol=1e-13, t_eval=[0, 0.5, 1, 2], rotation0=Q0, omega0=OMEGA
    )
    for name in ("matrix", "omega", "momentum", "rotor_speeds"):
        ours, theirs = getattr(motion, name), getattr(run, name)
        both = ours.reshape(4, *ours.shape[2:])[[2, 1, 3, 0]]
        np.testing.assert_allclose(both, theirs, atol=1e-11, err_msg=name)
    alone = exact.gyrostat(body, Q0, OMEGA, 2.0)
    assert np.array_equal(alone.quaternion, motion.quaternion[0, 0])
    by_momentum = exact.gyrostat(body, Q0, momentum0=body.momentum(OMEGA), t=times)
    np.testing.assert_allclose(by_momentum.omega, motion.omega, atol=1e-13)


def test_a_body_without_rotors_is_a_free_body():
    body, times = RigidBody([1.0, 2.0, 2.5]), [0.0, 1.0, 10.0]
    motion, free = (one(body, Q0, OMEGA, times) for one in (exact.gyrostat, exact.free_body))
    assert motion.rotor_speeds.shape == (3, 0)
    np.testing.assert_allclose(motion.matrix, free.matrix, atol=1e-14)


def test_bodies_that_turn_steadily():
    """A sphere with nothing inside that turns, and a body at rest, take one part."""
    for body in (RigidBody([2.0, 2.0, 2.0]), RigidBody([1.0, 2.0, 2.5])):
        omega = (0.0, 0.0, 0.5)
        motion = exact.gyrostat(body, None, omega, [0.0, 3.0, 200.0])
        goal = rotations.exp(np.outer(motion.t, omega))
        np.testing.assert_allclose(np.abs(motion.quaternion), np.abs(goal), atol=1e-12)
    assert exact.gyrostat(body, Q0, (0, 0, 0), 1e300).quaternion == pytest.approx(Q0, abs=1e-15)
