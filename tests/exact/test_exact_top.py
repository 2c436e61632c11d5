"""The heavy top and the reference solution against Taylor series in fixed point: forty digits,
doubles taken as exact."""

import importlib
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from polhode import RigidBody, exact, problems, rotations, torques
from polhode.core.closed.heavy_top import Top, at
from polhode.core.layout import flatten, layout
from polhode.errors import InputError, IntegrationError, TorqueError
from polhode.exact import _gauss
from polhode.exact._top import prepare

BITS = 150
ONE = 1 << BITS
TARGET = 1e-13


# --- the oracle -----------------------------------------------------------------------------------


def fixed(x):
    x = Fraction(x)
    return (x.numerator << BITS) // x.denominator


def unit(q):
    n = math.isqrt(sum(x * x for x in q))
    return [(x << BITS) // n for x in q]


def value_at(series, H):
    total = 0
    for c in reversed(series):
        total = ((total * H) >> BITS) + c
    return total


@cache
def oracle(I, moment, q0, omega0, T, order=36):
    """Quaternion and omega at T of a body with moments I under heavy_top(moment): Taylor series of
    q, omega and R^T e_z."""
    q, w = unit([fixed(x) for x in q0]), [fixed(x) for x in omega0]
    I, moment, T, t = [Fraction(x) for x in I], Fraction(moment), Fraction(T), Fraction(0)
    c = [fixed((I[1] - I[2]) / I[0]), fixed((I[2] - I[0]) / I[1]), fixed((I[0] - I[1]) / I[2])]
    g = [fixed(moment / I[0]), fixed(-moment / I[1])]
    while t != T:
        x, y, z, s = q
        up = [
            2 * (x * z - y * s) >> BITS,
            2 * (y * z + x * s) >> BITS,
            ONE - (2 * (x * x + y * y) >> BITS),
        ]
        Q, W, U = ([[v] for v in start] for start in (q, w, up))
        for k in range(order):

            def of(a, b, k=k):
                return sum(a[i] * b[k - i] for i in range(k + 1)) >> BITS

            (x, y, z, s), (a, b, d), (u, v, r) = Q, W, U
            dQ = [
                of(s, a) + of(y, d) - of(z, b),
                of(s, b) + of(z, a) - of(x, d),
                of(s, d) + of(x, b) - of(y, a),
                -of(x, a) - of(y, b) - of(z, d),
            ]
            dW = [
                (c[0] * of(b, d) + g[0] * v[k]) >> BITS,
                (c[1] * of(d, a) + g[1] * u[k]) >> BITS,
                (c[2] * of(a, b)) >> BITS,
            ]
            dU = [of(v, d) - of(r, b), of(r, a) - of(u, d), of(u, b) - of(v, a)]
            for series, slopes, twice in ((Q, dQ, 2), (W, dW, 1), (U, dU, 1)):
                for one, slope in zip(series, slopes, strict=True):
                    one.append(slope // (twice * (k + 1)))
        last = max(abs(v) / ONE for series in (*Q, *W, *U) for v in series[-2:])
        reach = Fraction((1e-34 / (last + 1e-300)) ** (1.0 / order)).limit_denominator(1 << 20)
        h = min(reach, abs(T - t)) * (1 if t < T else -1)
        H = fixed(h)
        q, w, t = unit([value_at(v, H) for v in Q]), [value_at(v, H) for v in W], t + h
    return q, w


def errors(motion, I, moment, q0, omega0, T):
    """Attitude error in rad, and velocity error relative to the motion's own scale."""
    q, w = oracle(
        tuple(map(float, I)),
        float(moment),
        tuple(map(float, q0)),
        tuple(map(float, omega0)),
        float(T),
    )
    a, b, c, d = -q[0], -q[1], -q[2], q[3]
    x, y, z, s = unit([fixed(float(v)) for v in motion.quaternion.reshape(-1, 4)[-1]])
    r = (
        d * x + a * s + b * z - c * y,
        d * y + b * s + c * x - a * z,
        d * z + c * s + a * y - b * x,
    )
    w = np.array([v / ONE for v in w])
    scale = np.abs(w).max() + math.sqrt(abs(moment) / min(I)) + np.abs(omega0).max() + 1e-300
    return 2.0 * math.sqrt(sum((v / ONE / ONE) ** 2 for v in r)), np.abs(
        motion.omega.reshape(-1, 3)[-1] - w
    ).max() / scale


# --- the top in every regime ----------------------------------------------------------------------

DOWN = (1.0, 0.0, 0.0, 0.0)  # a quaternion that turns the axis straight down, exactly
UP = (0.0, 0.0, 0.6, 0.8)  # and one that leaves it straight up
# the spin of a regular precession at 1.3 rad/s, tilt 0.7
PRECESSION = (3.0 + 2.0 * 1.3**2 * math.cos(0.7)) / 1.3

CASES = {
    "fast": (5, 1, 20, [0.3, 0, 0], [0, 0, 50.0]),
    "slow": (5, 1, 20, [0.05, 0, 0], [0, 0, 5.0]),
    "any": (2, 3, 7, [0.3, 0.9, -0.4], [1.0, -2.0, 3.0]),
    "centre of mass below": (2, 3, -7, [0.3, 0.9, -0.4], [1.0, -2.0, -3.0]),
    "no weight": (2, 3, 0, [0.3, 0.9, -0.4], [1.0, -2.0, -3.0]),
    "sleeping, stable": (5, 1, 20, UP, [0, 0, 50.0]),
    "sleeping, unstable": (5, 1, 20, UP, [0, 0, 5.0]),
    "sleeping, critical": (1, 1, 4, UP, [0, 0, 4.0]),
    "nearly sleeping, stable": (5, 1, 20, [1e-8, 0, 0.4], [0, 1e-8, 50.0]),
    "nearly sleeping, unstable, 1e-8": (5, 1, 20, [1e-8, 2e-9, 0], [1e-8, 0, 5.0]),
    "nearly sleeping, unstable, 1e-14": (5, 1, 20, [1e-14, 2e-15, 0], [1e-14, 0, 5.0]),
    "hanging": (5, 1, 20, DOWN, [0, 0, 0]),
    "hanging and spinning": (5, 1, 20, DOWN, [0, 0, 7.0]),
    "kicked while hanging": (5, 1, 20, DOWN, [1.0, 0.5, 0]),
    "kicked while hanging and spinning": (5, 1, 20, DOWN, [1.0, 0.5, 3.0]),
    "kicked while upright": (5, 1, 20, UP, [1.0, 0.5, 0]),
    "kicked while upright and spinning": (5, 1, 20, UP, [1.0, 0.5, 3.0]),
    "kicked near the top": (5, 1, 20, [1e-8, 0, 0], [3.0, 1e-9, 0]),
    "kicked near the top, spinning": (5, 1, 20, [1e-8, 0, 0], [3.0, 1e-9, 2.0]),
    "pendulum": (5, 1, 20, [2.0, 0, 0], [1.0, 0, 0]),
    "pendulum over the top": (5, 1, 20, [2.0, 0, 0], [5.0, 0, 0]),
    "pendulum on the separatrix": (1, 1, 1, DOWN, [2.0, 0, 0]),
    "pendulum within the separatrix, 1e-12": (2, 1, 1, DOWN, [math.sqrt(2.0) * (1 - 1e-12), 0, 0]),
    "pendulum beyond the separatrix, 1e-9": (2, 1, 1, DOWN, [math.sqrt(2.0) * (1 + 1e-9), 0, 1e-7]),
    "spherical pendulum": (5, 1, 20, [2.0, 0, 0], [1.0, 1.0, 0]),
    "spherical pendulum, near the bottom": (5, 1, 20, [math.pi - 1e-9, 0, 0], [1.0, 1e-9, 0]),
    "from rest": (5, 1, 20, [1.0, 0, 0], [0, 0, 0]),
    "hardly any spin": (5, 1, 20, [1.0, 0, 0], [0, 0, 1e-7]),
    "regular precession": (2, 1, 3, [0.7, 0, 0], [0, 1.3 * math.sin(0.7), PRECESSION]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_regime(name):
    I1, I3, moment, rotation0, omega0 = CASES[name]
    q0 = rotations.as_quaternion(rotation0)
    for T in (0.0, 1.0, 10.0, -2.5):
        motion = exact.lagrange_top([I1, I1, I3], moment, q0, omega0, T)
        assert max(errors(motion, (I1, I1, I3), moment, q0, omega0, T)) < TARGET / 10, T


def test_values_of_krysl_and_endres():
    for name in ("krysl/fast-top", "krysl/slow-top"):
        p = problems.get(name)
        motion = exact.lagrange_top(p.body, 20.0, p.rotation0, p.omega0, 10.0)
        if name == "krysl/fast-top":
            R = [
                [-0.749215586933407, 0.602598914163208, -0.274864608390057],
                [-0.653039598593952, -0.741346305274037, 0.154741521010736],
                [-0.110522789343550, 0.295432233017806, 0.948949160245125],
            ]
            assert np.abs(motion.matrix - R).max() < 1e-12
            assert (
                np.abs(
                    p.body.momentum(motion.omega) - (-0.825255618261355, 0.772281645922445, 50.0)
                ).max()
                < 1e-12
            )
        else:
            assert (
                np.abs(
                    motion.matrix[2]
                    - (0.04775808446281386, 0.04061263806466103, 0.9980329548656384)
                ).max()
                < 1e-11
            )
            assert (
                np.abs(
                    p.body.momentum(motion.omega) - (-0.198972321437881, 0.322290429863362, 5.0)
                ).max()
                < 1e-11
            )


@pytest.mark.parametrize("j", range(0, 17, 2))
def test_towards_the_sleeping_top(j):
    """Unstable: the tilt 10^-j grows by exp(3.9) every two seconds until the top falls; the
    attitude is exact throughout."""
    q0, omega0 = rotations.exp([10.0**-j, 0.0, 0.0]), (0.0, 0.0, 5.0)
    for T in (1.0, 12.0):
        motion = exact.lagrange_top([5, 5, 1], 20.0, q0, omega0, T)
        assert max(errors(motion, (5, 5, 1), 20.0, q0, omega0, T)) < TARGET / 10


@pytest.mark.parametrize("j", range(1, 17, 3))
def test_towards_the_homoclinic_pendulum(j):
    for side in (1.0, -1.0):
        omega0 = (2.0 * (1.0 + side * 10.0**-j), 0.0, 1e-3 * 10.0**-j)
        for T in (3.0, 30.0):
            motion = exact.lagrange_top([1, 1, 2], 1.0, DOWN, omega0, T)
            assert max(errors(motion, (1, 1, 2), 1.0, DOWN, omega0, T)) < TARGET / 10


@pytest.mark.parametrize("j", range(1, 17, 3))
def test_towards_the_regular_precession(j):
    q0, omega0 = (
        rotations.exp([0.7, 0, 0]),
        (0.0, 1.3 * math.sin(0.7) * (1.0 + 10.0**-j), PRECESSION),
    )
    motion = exact.lagrange_top([2, 2, 1], 3.0, q0, omega0, 10.0)
    assert max(errors(motion, (2, 2, 1), 3.0, q0, omega0, 10.0)) < TARGET / 10


def test_a_long_time():
    q0, omega0 = rotations.exp([0.05, 0, 0]), (0.0, 0.0, 5.0)
    motion = exact.lagrange_top([5, 5, 1], 20.0, q0, omega0, 100.0)
    assert max(errors(motion, (5, 5, 1), 20.0, q0, omega0, 100.0)) < TARGET / 10


def test_homoclinic_for_ever():
    motion = exact.lagrange_top([1, 1, 1], 1.0, DOWN, (2.0, 0.0, 0.0), [0.0, 100.0, 1e6])
    assert motion.nutation == np.inf
    assert (
        np.abs(motion.matrix[1:, 2, 2] - 1.0).max() < 1e-15 and np.abs(motion.omega[2]).max() == 0.0
    )


@pytest.mark.parametrize(
    ("moments", "q0", "omega0"),
    [
        ([2.0, 2.0, 1.0], rotations.exp([0.5, 0.0, 0.0]), [0.3, 0.2, 3.0]),
        ([1.0, 1.0, 1.7], rotations.exp([1.5, -0.4, 2.0]), [1.0, -2.0, 0.1]),
        ([3.0, 3.0, 3.0], rotations.exp([0.2, 0.4, 0.0]), [1.0, 0.5, 0.1]),
        ([2.0, 2.0, 1.0], UP, [0.3, 0.2, 3.0]),  # passes through the vertical
        ([2.0, 2.0, 1.0], DOWN, [0.3e200, 0.0, 0.0]),
    ],
)
def test_period_and_heights_without_weight(moments, q0, omega0):
    """Against the attitudes themselves, and against a weight so small that it changes nothing
    here."""
    first = exact.lagrange_top(moments, 0.0, q0, omega0)
    t = np.linspace(0.0, first.nutation, 4001)
    u = exact.lagrange_top(moments, 0.0, q0, omega0, t).matrix[:, 2, 2]
    assert (
        first.heights == pytest.approx((u.min(), u.max()), abs=2e-6) and abs(u[-1] - u[0]) < 1e-13
    )
    assert abs(u[2000] - (first.heights[0] + first.heights[1] - u[0])) < 1e-13, (
        "half a period turns the tilt to the other side"
    )
    if max(omega0) < 1e100:
        other = exact.lagrange_top(moments, 1e-14, q0, omega0)
        assert first.heights == pytest.approx(
            other.heights, abs=1e-13
        ) and first.nutation == pytest.approx(other.nutation)


def test_tilt_that_is_constant_without_weight():
    for q0, omega0 in (
        (rotations.exp([0.5, 0, 0]), [0, 0, 3.0]),
        (UP, [0, 0, 3.0]),
        (rotations.exp([0.5, 0, 0]), [0, 0, 0]),
    ):
        motion = exact.lagrange_top([2.0, 2.0, 1.0], 0.0, q0, omega0, [0.0, 1.0])
        assert (
            motion.heights == pytest.approx((motion.matrix[1, 2, 2],) * 2, abs=1e-15)
            and motion.nutation == np.inf
        )


def test_period_and_heights():
    q0, omega0 = rotations.exp([0.05, 0, 0]), (0.0, 0.0, 5.0)
    first = exact.lagrange_top([5, 5, 1], 20.0, q0, omega0, 0.0)
    t = np.linspace(0.0, first.nutation, 2001)
    motion = exact.lagrange_top([5, 5, 1], 20.0, q0, omega0, t)
    u = motion.matrix[:, 2, 2]
    assert u[-1] == pytest.approx(u[0], abs=1e-14)
    assert u.min() == pytest.approx(motion.heights[0], abs=1e-5) and u.max() == pytest.approx(
        motion.heights[1], abs=1e-5
    )
    below = exact.lagrange_top([5, 5, 1], -20.0, rotations.qmul(DOWN, q0), omega0, t)
    assert np.abs(below.matrix[:, 2, 2] + u).max() < 1e-14 and below.heights == (
        -motion.heights[1],
        -motion.heights[0],
    )
    assert motion.rotation.as_quat().shape == (2001, 4)


def test_compiled_code_gives_the_bits_of_plain_python():
    for name in ("any", "slow", "nearly sleeping, unstable, 1e-8"):
        I1, I3, moment, rotation0, omega0 = CASES[name]
        q0 = rotations.as_quaternion(rotation0)
        top = prepare(I1, I3, moment, q0, omega0)[0]
        motion = exact.lagrange_top([I1, I1, I3], moment, q0, omega0, 3.3)
        q, omega = at(3.3, layout(Top).unpack(np.array(flatten(top)).reshape(-1, 1), 0))
        assert np.array_equal(q, motion.quaternion) and np.array_equal(omega, motion.omega)


def test_wrong_input_is_refused():
    for moments in ((1, 2, 3), (1, 1), (0, 0, 1)):
        with pytest.raises(InputError, match="moments"):
            exact.lagrange_top(moments, 1.0, None, (0, 0, 1), 1.0)
    with pytest.raises(InputError, match="omega0"):
        exact.lagrange_top((1, 1, 2), 1.0, None, (0, 0), 1.0)


# --- the reference for any torque -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "krysl/free-body",
        "krysl/slow-top",
        pytest.param("krysl/fast-top", marks=pytest.mark.compiled),
    ],
)
def test_reference_where_the_solution_is_known(name):
    p = problems.get(name)
    solution = exact.reference(p)
    moment = 0.0 if name == "krysl/free-body" else 20.0
    q0 = rotations.as_quaternion(p.rotation0)
    worst = max(errors(solution, p.body.moments, moment, q0, p.omega0, p.t_span[1]))
    assert worst < 3e-14
    assert solution.error[-1] < 1e-12 and worst < 3 * solution.error[-1]  # an honest estimate


@pytest.mark.compiled
def test_reference_value_of_the_wall():
    solution = exact.reference("krysl/coulomb-wall")
    assert solution.matrix[-1, 2, 2] == pytest.approx(0.554210908072546, abs=1e-13)
    assert solution.error[-1] < 1e-13
    p = problems.get("krysl/coulomb-wall")
    potential = p.torque()
    energy = [
        p.body.kinetic_energy(w) + potential.potential(0.0, R, potential.params)
        for R, w in zip(solution.matrix, solution.omega, strict=True)
    ]
    assert energy[0] == pytest.approx(1.634921234445, abs=1e-12) and energy[1] == pytest.approx(
        energy[0], abs=1e-13
    )


def test_reference_at_many_times_backwards_and_in_tilted_axes():
    A = rotations.matrices(rotations.exp([0.3, 0.7, -0.4]))
    I, omega0, q0 = (
        np.array([1.0, 1.5, 2.0]),
        np.array([0.3, -0.2, 0.9]),
        rotations.exp([0.5, 0.1, 0.2]),
    )
    plain = exact.reference(
        I, [0.0, 1.0, 3.0], torque=torques.damping(0.1), rotation0=q0, omega0=omega0
    )
    tilted = exact.reference(
        RigidBody(A @ np.diag(I) @ A.T),
        [0.0, 1.0, 3.0],
        torque=torques.damping(0.1),
        rotation0=rotations.qmul(q0, rotations.as_quaternion(A.T)),
        omega0=A @ omega0,
    )
    assert np.abs(tilted.omega - plain.omega @ A.T).max() < 5e-15
    assert np.abs(tilted.matrix - plain.matrix @ A.T).max() < 5e-15
    assert np.abs(plain.momentum - plain.omega * I).max() < 1e-15
    back = exact.reference(
        I,
        [3.0, 0.0],
        torque=torques.damping(0.1),
        rotation0=plain.quaternion[-1],
        omega0=plain.omega[-1],
    )
    assert rotations.angle_between(back.quaternion[-1], q0) < 1e-14


def test_reference_calls_python_torques_back_and_reports_their_errors():
    table = {"k": 20.0}  # what may change is not compiled

    def weight(t, R):
        return table["k"] * np.array([-R[1, 2], R[0, 2], 0.0])

    p = problems.get("krysl/slow-top")
    called = exact.reference(
        p.body, [0.0, 0.5], torque=weight, rotation0=p.rotation0, omega0=p.omega0
    )
    assert np.abs(called.quaternion - exact.reference(p, [0.0, 0.5]).quaternion).max() < 1e-15

    def broken(t, R):
        raise RuntimeError(f"no table {table['k']}")

    with pytest.raises(TorqueError, match="no table"):
        exact.reference(p.body, [0.0, 0.5], torque=broken, omega0=p.omega0)


def test_reference_does_not_depend_on_the_times_between():
    body = RigidBody([1.0, 2.0, 2.5])
    options = {"torque": torques.gravity_gradient(body, rate=0.7), "omega0": (0.3, 1.0, -0.2)}
    several = exact.reference(body, [0.0, 0.3, 0.4, 2.0], **options)
    ends = exact.reference(body, [0.0, 2.0], **options)
    assert np.abs(several.quaternion[-1] - ends.quaternion[-1]).max() < 1e-14
    assert np.abs(several.omega[-1] - ends.omega[-1]).max() < 1e-14


@pytest.mark.compiled
def test_reference_refuses_what_is_not_smooth(monkeypatch):
    monkeypatch.setattr(importlib.import_module("polhode.exact._reference"), "LARGEST", 1000)
    p = problems.get("krysl/book-toss")
    with pytest.raises(IntegrationError, match="not smooth"):
        exact.reference(p)


def test_gauss_coefficients():
    a, (b, low), c = _gauss.coefficients()
    for k in range(_gauss.STAGES):
        assert np.abs(a @ c**k - c ** (k + 1) / (k + 1)).max() < 1e-15
        assert (b + low) @ c ** (2 * k) == pytest.approx(1 / (2 * k + 1), rel=1e-15)
    assert abs(math.fsum([*b, *low]) - 1.0) < 1e-31
