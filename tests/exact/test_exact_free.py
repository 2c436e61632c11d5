"""The free body against fifty digits of mpmath, which take the doubles given as exact, after a
thousand precession periods."""

import itertools
import math
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from polhode import RigidBody, exact, problems, rotations
from polhode.core.closed.double_double import DOUBLE_DOUBLE, FLOAT, two_product
from polhode.core.closed.elliptic import agm, circular, hyperbolic, landen, nome
from polhode.core.closed.free_motion import flow, polhode, turn
from polhode.core.jit import bind
from polhode.core.loops.fixed import Body
from polhode.errors import InputError

DIGITS = 50
TARGET = 1e-13
Q0 = tuple(rotations.exp([0.3, -0.2, 1.1]))


# --- the oracle: Landau & Lifshitz, section 37, in the gauge of the shortest rotation -------------


def product(p, q):
    a, b, c, d = p
    x, y, z, w = q
    return [
        d * x + a * w + b * z - c * y,
        d * y + b * w + c * x - a * z,
        d * z + c * w + a * y - b * x,
        d * w - a * x - b * y - c * z,
    ]


def conjugate(q):
    return [-q[0], -q[1], -q[2], q[3]]


def turned(axis, angle):
    n = mp.sqrt(sum(x * x for x in axis))
    return [mp.sin(angle / 2) * x / n for x in axis] + [mp.cos(angle / 2)]


def symmetric(I, M, t, c):
    """Two equal moments, c the third axis: exp(t M/I1) exp(t (1/I3 - 1/I1) M3 e3); also a
    sphere."""
    a = (c + 1) % 3
    e = [mp.mpf(i == c) for i in range(3)]
    spin = M[c] * (1 / I[c] - 1 / I[a]) * t
    back = turned(e, -spin)
    G = product(turned(M, mp.sqrt(sum(x * x for x in M)) * t / I[a]), turned(e, spin))
    return G, product(product(back, [*M, mp.mpf(0)]), conjugate(back))[:3]


def triaxial(I, M, t):
    L2, E2 = sum(m * m for m in M), sum(m * m / i for m, i in zip(M, I, strict=True))
    L = mp.sqrt(L2)
    a, b, c = sorted(range(3), key=lambda i: -I[i])
    if E2 * I[b] > L2:
        a, c = c, a
    s = 1 if M[a] >= 0 else -1
    parity = 1 if (a, b, c) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1
    P, Q = (L2 - E2 * I[c]) / (I[a] - I[c]), E2 * I[a] - L2
    ma, mb, mc = (
        mp.sqrt(I[a] * P),
        mp.sqrt(I[b] * Q / (I[a] - I[b])),
        mp.sqrt(I[c] * Q / (I[a] - I[c])),
    )
    rate = (
        mp.sqrt((I[a] - I[b]) * (I[a] - I[c]) * P / (I[0] * I[1] * I[2]))
        * parity
        * s
        * (1 if I[c] > I[a] else -1)
    )
    m = (I[b] - I[c]) * Q / ((I[a] - I[b]) * (I[a] - I[c]) * P)
    K, nu = mp.ellipk(m), ma / L
    u0 = mp.ellipf(mp.atan2(M[b] / mb, M[c] / mc), m)
    n = -(nu**2) * m / (1 - nu**2)
    root = mp.sqrt(1 - n)

    def integral(u):
        """of 1 / (1 + nu dn) from 0 to u, by the incomplete integral of the third kind."""
        periods = mp.nint(u / (2 * K))
        r = u - 2 * K * periods
        sn, cn = mp.ellipfun("sn", r, m=m), mp.ellipfun("cn", r, m=m)
        part = mp.ellippi(n, mp.atan2(sn, cn), m) - nu * mp.atan2(root * sn, cn) / root
        return (part + periods * (2 * mp.ellippi(n, m) - nu * mp.pi / root)) / (1 - nu**2)

    def shortest(M):
        w = 1 + s * M[a] / L
        e = [s * (i == a) for i in range(3)]
        x = [
            (M[1] * e[2] - M[2] * e[1]) / L,
            (M[2] * e[0] - M[0] * e[2]) / L,
            (M[0] * e[1] - M[1] * e[0]) / L,
        ]
        return [y / mp.sqrt(2 * w) for y in (*x, w)]

    u = u0 + rate * t
    after = [mp.mpf(0)] * 3
    after[a], after[b], after[c] = (
        s * ma * mp.ellipfun("dn", u, m=m),
        mb * mp.ellipfun("sn", u, m=m),
        mc * mp.ellipfun("cn", u, m=m),
    )
    psi = L / I[a] * t + Q / (I[a] * L) * (integral(u) - integral(u0)) / rate
    e = [s * (i == a) for i in range(3)]
    return product(product(conjugate(shortest(M)), turned(e, psi)), shortest(after)), after


@cache
def oracle(I, omega, t, digits=DIGITS):
    """Quaternion (from Q0) and body momentum at t."""
    with mp.workdps(digits):
        I, omega, t = [mp.mpf(x) for x in I], [mp.mpf(x) for x in omega], mp.mpf(t)
        M = [i * w for i, w in zip(I, omega, strict=True)]
        q = [mp.mpf(x) for x in Q0]
        q = [x / mp.sqrt(sum(y * y for y in q)) for x in q]
        moving = [i for i in range(3) if M[i]]
        if not moving or len(moving) == 1:
            G = (
                turned([mp.mpf(i == moving[0]) for i in range(3)], omega[moving[0]] * t)
                if moving
                else [0, 0, 0, 1]
            )
            return product(q, G), M
        alone = next((c for c in range(3) if I[c - 1] == I[c - 2]), None)
        G, M = triaxial(I, M, t) if alone is None else symmetric(I, M, t, alone)
        return product(q, G), M


def distance(q, exact_q, digits=DIGITS):
    """The angle between a float and an mpmath quaternion."""
    with mp.workdps(digits):
        q = [mp.mpf(float(x)) for x in q]
        r = product(conjugate(exact_q), [x / mp.sqrt(sum(y * y for y in q)) for x in q])
        return float(2 * mp.asin(min(1, mp.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2))))


def errors(I, omega, t, digits=DIGITS):
    """Attitude error in rad and relative momentum error of the library."""
    I, omega = tuple(map(float, I)), tuple(map(float, omega))
    motion = exact.free_body(np.array([I])[0], Q0, omega, t)
    q, M = oracle(I, omega, float(t), digits)
    M = np.array([float(x) for x in M])
    return distance(motion.quaternion, q, digits), np.abs(motion.momentum - M).max() / (
        np.abs(M).max() or 1.0
    )


def thousand(I, omega):
    """A thousand precession periods."""
    return 1000.0 * float(exact.periods(np.array(I, dtype=float), omega).precession)


# --- 1e-13 after 1000 precession periods ----------------------------------------------------------

VELOCITIES = [
    (0.45549, 0.82623, 0.03476),
    (-0.4, 0.3, 0.7),
    (0.2, -0.9, 0.3),
    (0.1, 0.2, -1.5),
    (-1.0, -0.2, -0.3),
]


@pytest.mark.parametrize("I", list(itertools.permutations((0.9144, 1.098, 1.66))))
def test_triaxial_bodies_in_every_order_of_axes(I):
    for omega in VELOCITIES:
        assert max(errors(I, omega, thousand(I, omega))) < TARGET
        assert max(errors(I, omega, -3.7)) < TARGET


@pytest.mark.parametrize(
    "I", [(1, 1, 2), (2, 2, 1), (1, 2, 1), (2, 1, 2), (2, 1, 1), (1, 2, 2), (3, 3, 3)]
)
@pytest.mark.parametrize(
    "omega", [(0.3, 0.4, 0.5), (0.3, 0.4, 0.0), (0.0, 0.0, -1.0), (-0.7, 0.0, 0.2), (0.0, 1.0, 0.0)]
)
def test_symmetric_bodies_and_spheres(I, omega):
    assert max(errors(I, omega, thousand(I, omega))) < TARGET


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rotation_about_a_principal_axis(axis, sign):
    omega = [0.0, 0.0, 0.0]
    omega[axis] = sign * 0.7
    assert max(errors((1, 2, 3), omega, thousand((1, 2, 3), omega))) < TARGET


def test_at_rest():
    motion = exact.free_body([1, 2, 3], Q0, (0, 0, 0), [0.0, 1e6])
    assert np.array_equal(motion.omega, np.zeros((2, 3)))
    assert np.abs(motion.quaternion - np.array(Q0)).max() < 1e-15
    assert exact.periods([1, 2, 3], (0, 0, 0)).precession == np.inf


# --- the borders, on logarithmic grids ------------------------------------------------------------


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("j", range(0, 18, 2))
def test_near_the_separatrix(side, j):
    """om3^2 I3 (I3 - I2) = om1^2 I1 (I2 - I1) on it; k'^2 reaches 1e-17."""
    omega = (0.3, 0.8, 0.3 / math.sqrt(3.0) * (1.0 + side * 0.5 * 10.0**-j))
    for t in (thousand((1, 2, 3), omega), 37.0, -0.1):
        assert max(errors((1, 2, 3), omega, t, 70)) < TARGET


def test_on_the_separatrix_the_body_turns_over_once():
    assert exact.periods((1.0, 2.0, 3.0), (0.0, 1.0, 0.0)).polhode == np.inf
    # D = I1 om1^2 (I2 - I1) - I3 om3^2 (I3 - I2) = 12 - 12
    I, omega = (3.0, 4.0, 6.0), (2.0, 1.0, 1.0)
    assert exact.periods(I, omega).polhode == np.inf
    t = np.array([-1e4, -300.0, 0.0, 300.0, 1e4])
    motion = exact.free_body(I, None, omega, t)
    L = np.linalg.norm(np.multiply(I, omega))
    assert np.abs(np.abs(motion.momentum[[0, 1, 3, 4], 1]) - L).max() < 1e-14 * L
    assert motion.momentum[0, 1] * motion.momentum[-1, 1] < 0.0
    assert np.abs(motion.momentum[2] - np.multiply(I, omega)).max() < 1e-14
    near = exact.free_body(I, None, (2.0 + 1e-15, 1.0, 1.0), 5.0)
    assert (
        rotations.angle_between(near.quaternion, exact.free_body(I, None, omega, 5.0).quaternion)
        < 1e-12
    )


def test_where_the_two_kinds_of_series_meet():
    """k^2 = 1/2, where both converge most slowly; omega_3 runs through it."""
    I, omega = (1.0, 2.0, 3.0), np.array([0.3, 0.8, 0.0])
    k2 = []
    for x in np.linspace(0.2, 0.7, 16):
        omega[2] = x
        M = np.multiply(I, omega)
        # L^2 - 2 E I_min, 2 E I_max - L^2; both gaps are 1
        P, Q = M @ M - M @ omega, 3.0 * (M @ omega) - M @ M
        k2.append(min(P, Q) / max(P, Q))
        assert max(errors(I, omega, 6000.0)) < TARGET / 20
    assert min(k2) < 0.45 and max(k2) > 0.55


@pytest.mark.compiled
def test_random_bodies_start_where_they_should():
    rng = np.random.default_rng(2)
    I, omega = rng.uniform(1.0, 2.0, (20000, 3)), rng.normal(size=(20000, 3))
    motion = exact.free_body(I, None, omega, 0.0)
    assert np.abs(motion.omega - omega).max() < 1e-14
    assert np.abs(motion.quaternion - [0, 0, 0, 1]).max() < 1e-15
    there = exact.free_body(I, None, omega, 7.0)
    back = exact.free_body(I, there.quaternion, there.omega, -7.0)
    turned_away = rotations.angle_between(back.quaternion, motion.quaternion)
    # the rounding of omega, which may be at a saddle
    assert np.median(turned_away) < 1e-14 and turned_away.max() < 1e-12


@pytest.mark.parametrize("base", [(1, 1, 2), (2, 2, 1), (1, 2, 2), (2, 1, 1)])
@pytest.mark.parametrize("j", [1, 4, 8, 12, 15])
def test_nearly_symmetric(base, j):
    I = [float(x) for x in base]
    I[next(i for i in range(3) if base.count(base[i]) == 2)] *= 1.0 + 10.0**-j
    for omega in ((0.3, 0.4, 0.5), (1e-6, 0.4, 0.5), (0.4, 0.5, 1e-6), (1e-10, 1.0, 1e-10)):
        assert max(errors(I, omega, 6000.0, 70)) < TARGET


@pytest.mark.parametrize("j", [1, 5, 9, 13, 15])
@pytest.mark.parametrize("steps", [(1, 2), (2, 1), (-1, 1)])
def test_nearly_spherical(j, steps):
    I = (1.0, 1.0 + steps[0] * 10.0**-j, 1.0 + steps[1] * 10.0**-j)
    assert max(errors(I, (0.3, -0.4, 0.8), 6000.0, 70)) < TARGET


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("j", [1, 3, 6, 9, 15, 40, 120])
def test_near_a_principal_axis(axis, j):
    omega = [0.7 * 10.0**-j, 10.0**-j, 1.1 * 10.0**-j]
    omega[axis] = -1.0
    assert max(errors((1, 2, 3), omega, 6000.0, 70 + 4 * j)) < TARGET


@pytest.mark.parametrize("j", [3, 30, 150, 300])
def test_near_rest_is_the_same_motion_more_slowly(j):
    fast = exact.free_body([1, 2, 3], Q0, (0.3, 0.8, 0.2), 40.0)
    slow = exact.free_body([1, 2, 3], Q0, np.array([0.3, 0.8, 0.2]) * 2.0**-j, 40.0 * 2.0**j)
    assert np.array_equal(fast.quaternion, slow.quaternion)
    heavy = exact.free_body(np.array([1.0, 2, 3]) * 2.0**j, Q0, (0.3, 0.8, 0.2), 40.0)
    assert np.array_equal(fast.quaternion, heavy.quaternion)


# --- values, shapes, axes -------------------------------------------------------------------------


def test_values_of_krysl_and_endres():
    p = problems.get("krysl/free-body")
    motion = exact.free_body(p.body, p.rotation0, p.omega0, 100.0)
    R = [
        [0.937982391275661, -0.115578181224405, -0.326849686678245],
        [0.286162107043545, 0.790329174729660, 0.541748137111293],
        [0.195704578764061, -0.601682208143158, 0.774388945075286],
    ]
    assert np.abs(motion.matrix - R).max() < 2e-12
    assert (
        np.abs(motion.momentum - (0.661568603852798, 0.634130709038771, 0.400024770879447)).max()
        < 2e-12
    )


def test_full_inertia_taken_as_exact():
    """The tensor's doubles are exact: its principal moments, to fifty digits, are not those of
    eigh."""
    A = rotations.matrices(rotations.exp([0.3, 0.7, -0.4]))
    body, omega = RigidBody(A @ np.diag([1.0, 2.0, 2.5]) @ A.T), (0.4, -0.9, 0.3)
    t = 1000.0 * float(exact.periods(body, omega).precession)
    motion = exact.free_body(body, None, omega, t)
    with mp.workdps(DIGITS):
        moments, V = mp.eigsy(mp.matrix(body.inertia.tolist()))
        V = V * mp.diag([1, 1, mp.sign(mp.det(V))])
        M = [moments[i] * sum(V[j, i] * mp.mpf(omega[j]) for j in range(3)) for i in range(3)]
        G, M = triaxial(list(moments), M, mp.mpf(t))
        R = (
            V
            * mp.matrix(
                [
                    [
                        1 - 2 * (G[1] ** 2 + G[2] ** 2),
                        2 * (G[0] * G[1] - G[2] * G[3]),
                        2 * (G[0] * G[2] + G[1] * G[3]),
                    ],
                    [
                        2 * (G[0] * G[1] + G[2] * G[3]),
                        1 - 2 * (G[0] ** 2 + G[2] ** 2),
                        2 * (G[1] * G[2] - G[0] * G[3]),
                    ],
                    [
                        2 * (G[0] * G[2] - G[1] * G[3]),
                        2 * (G[1] * G[2] + G[0] * G[3]),
                        1 - 2 * (G[0] ** 2 + G[1] ** 2),
                    ],
                ]
            )
            * V.T
        )
        expected = np.array(R.tolist(), dtype=float)
        velocity = np.array(
            (V * mp.matrix([m / i for m, i in zip(M, moments, strict=True)])).T.tolist()[0],
            dtype=float,
        )
    assert np.abs(motion.matrix - expected).max() < TARGET
    assert np.abs(motion.omega - velocity).max() < TARGET
    assert np.abs(motion.momentum - body.momentum(motion.omega)).max() < 1e-14


def test_shapes_broadcast_time_first():
    rng = np.random.default_rng(1)
    I, omega = rng.uniform(1.0, 2.0, (4, 1, 3)), rng.normal(size=(5, 3))
    t = np.array([[0.0, 1.0], [2.0, 300.0]])
    motion = exact.free_body(I, Q0, omega, t)
    assert motion.quaternion.shape == (2, 2, 4, 5, 4) and motion.omega.shape == (2, 2, 4, 5, 3)
    one = exact.free_body(I[2, 0], Q0, omega[3], 300.0)
    assert np.array_equal(motion.quaternion[1, 1, 2, 3], one.quaternion)
    assert np.abs(motion.omega[0, 0] - omega).max() < 5e-15
    bodies = [RigidBody([1, 2, 2.5]), RigidBody(np.diag([1, 2, 2.5])), RigidBody([2, 1, 2])]
    assert exact.free_body(bodies, None, (1, 0, 0), 1.0).matrix.shape == (3, 3, 3)
    attitudes = rotations.exp(rng.normal(size=(5, 3)))
    assert (
        np.abs(
            exact.free_body(bodies[0], attitudes, (1, 0, 2), 0.0).matrix
            - rotations.matrices(attitudes)
        ).max()
        < 1e-15 * 4
    )
    assert exact.periods(I, omega).precession_rate.shape == (4, 5)


def test_periods():
    I, omega = (0.9144, 1.098, 1.66), (0.45549, 0.82623, 0.03476)
    p = exact.periods(I, omega)
    motion = exact.free_body(I, None, omega, float(p.polhode))
    assert np.abs(motion.omega - omega).max() < 1e-14
    # a turn of the polhode and the precession that goes with it: R e_a comes back turned about the
    # momentum
    L = np.multiply(I, omega)
    angle = float(p.precession_rate * p.polhode)
    turn = rotations.exp(L / np.linalg.norm(L) * angle)
    assert rotations.angle_between(motion.quaternion, turn) < 1e-13
    rest = exact.periods([1, 1, 2], (0.6, 0.0, 0.4))
    assert float(rest.precession_rate) == pytest.approx(math.hypot(0.6, 0.8), rel=1e-15)
    assert float(rest.polhode) == pytest.approx(2 * np.pi / 0.4, rel=1e-15)


def test_wrong_input_is_refused():
    for arguments in (dict(omega0=None), dict(omega0=(1, 2)), dict(omega0=(1, 2, np.nan))):
        with pytest.raises(InputError):
            exact.free_body([1, 2, 3], None, t=1.0, **arguments)
    with pytest.raises(InputError, match="broadcast"):
        exact.free_body(np.ones((4, 3)), None, np.ones((5, 3)), 1.0)
    with pytest.raises(InputError, match="positive"):
        exact.free_body(-np.ones((4, 3)), None, (1, 2, 3), 1.0)


# --- the kernels ----------------------------------------------------------------------------------


def _steps(n, h, x, y, z):
    body = Body((1.0, 1.5, 1.6), (1.0, 1.0 / 1.5, 1.0 / 1.6))
    q, Pi = (0.0, 0.0, 0.0, 1.0), (x, y, z)
    for _ in range(n):
        q, Pi = flow(h, q, Pi, body)
    return q, Pi


@pytest.mark.parametrize(
    "Pi", [(0.4, 0.5, 0.6), (0.1, 0.9, 0.05), (1.0, 0.0, 0.0), (0.0, 1.0, 1e-9), (0.0, 0.0, 0.0)]
)
def test_flow_step_by_step(Pi):
    """Many steps are one long one, and compiled code gives the bits of plain Python."""
    q, P = bind(_steps)(100, 0.1, *Pi)
    motion = exact.free_body([1.0, 1.5, 1.6], None, momentum0=Pi, t=10.0)
    growth = math.exp(10.0 * 0.2)  # of a rounding error near the intermediate axis, at most
    assert rotations.angle_between(q, motion.quaternion) < 2e-14 * growth
    assert np.abs(np.subtract(P, motion.momentum)).max() < 1e-14 * growth
    assert bind(_steps)(3, 0.7, *Pi) == _steps(3, 0.7, *Pi)


def test_flow_backwards_is_the_inverse():
    body = Body((1.0, 1.5, 1.6), (1.0, 1.0 / 1.5, 1.0 / 1.6))
    q, Pi = flow(-3.0, *flow(3.0, Q0, (0.4, 0.5, 0.6), body), body)
    assert (
        np.abs(np.subtract(q, Q0)).max() < 2e-15
        and np.abs(np.subtract(Pi, (0.4, 0.5, 0.6))).max() < 2e-15
    )


def test_both_arithmetics_are_the_same_formulas():
    I, Pi = (1.0, 1.5, 1.6), (0.4, 0.5, 0.6)
    pairs = polhode(DOUBLE_DOUBLE, tuple((x, 0.0) for x in Pi), tuple((x, 0.0) for x in I))
    plain = polhode(FLOAT, Pi, I)
    for one, two in zip(turn(3.0, pairs), turn(3.0, plain), strict=True):
        assert np.abs(np.subtract(one, two)).max() < 1e-15 * 5


@pytest.mark.parametrize("kc", [1.0, 0.999, 0.71, 0.5, 1e-3, 1e-12, 1e-100])
def test_agm_and_the_mean_in_31_digits(kc):
    for nu in (0.0, 0.3, 1.0):
        mean, X = agm(DOUBLE_DOUBLE, (kc, 0.0), (nu, 0.0))
        with mp.workdps(320):
            c, v = mp.mpf(kc), mp.mpf(nu)
            m = 1 - c * c
            assert abs((mp.mpf(mean[0]) + mp.mpf(mean[1])) * mp.ellipk(m) * 2 / mp.pi - 1) < 1e-30
            # int dn u / (1 + dn u) has no third kind: it is elementary in u, E and sn
            if nu == 1.0:
                continue
            n = -(v**2) * m / (1 - v**2)
            expected = (
                (mp.ellippi(n, m) - v * mp.pi / 2 / mp.sqrt(1 - n)) / (1 - v**2) / mp.ellipk(m)
            )
            assert abs(mp.mpf(X[0]) + mp.mpf(X[1]) - expected) < 1e-30


def test_agm_at_the_end_of_its_range():
    assert agm(FLOAT, 0.0, 0.5) == (0.0, 1.0)


@pytest.mark.parametrize("k", [0.0, 1e-9, 0.1, 0.5, 0.7071])
def test_descent_of_real_and_imaginary_amplitudes(k):
    kc = math.sqrt((1.0 - k) * (1.0 + k))
    q = nome(k, kc)
    with mp.workdps(40):
        m = mp.mpf(k) ** 2
        K = mp.ellipk(m)
        assert q == pytest.approx(
            float(mp.exp(-mp.pi * mp.ellipk(1 - m) / K)) if k else 0.0, rel=2e-15
        )
        for phi in (-3.0, -0.4, 0.0, 1e-9, 1.2, math.pi / 2, 2.9):
            z = mp.pi * mp.ellipf(phi, m) / (2 * K)
            x, y = circular(math.cos(phi), math.sin(phi), landen(k, kc))
            assert abs(x - float(mp.cos(z))) < 5e-16 and abs(y - float(mp.sin(z))) < 5e-16
        for T in (0.0, 1e-8, 0.3, 1.0, 1.18, 1.2, 5.0, 1e3):
            s = mp.exp(-mp.pi * mp.ellipf(mp.atan(mp.mpf(T)), 1 - m) / K)
            assert hyperbolic(T, k, kc, q) == pytest.approx(float(s), rel=4e-15)
        assert hyperbolic(math.inf, k, kc, q) == q


def test_double_double_products_are_exact():
    for a, b in ((0.1, 0.3), (1.0 / 3.0, 3.0), (1e17 + 2.0, 1.0 + 2.0**-52)):
        p, e = two_product(a, b)
        with mp.workdps(60):
            assert mp.mpf(p) + mp.mpf(e) == mp.mpf(a) * mp.mpf(b)
