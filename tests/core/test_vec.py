"""core/vec.py against mpmath at 50 digits; group axioms; plain Python against compiled code, bit
for bit; SIMD.

The bounds are the errors reached, rounded up (for drawn inputs, up to 5 times): a lost digit fails.
EPS = 2.2e-16.
"""

import math
import re
import struct
import types
from fractions import Fraction

import mpmath as mp
import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from polhode.core import lanes, scalars, vec
from polhode.core.fma import fma, instruction
from processor import X86, has_fma

EPS = 2.0**-52
PLAIN = {
    name: f
    for module in (scalars, vec)
    for name, f in vars(module).items()
    if getattr(f, "__jit__", False) and f.__module__ == module.__name__
}
# s: scalar, t: th^2 >= 0, v: vector, q: quaternion, M: matrix, p: twelve coefficients, P: ten pairs
ARGUMENTS = {
    "nonzero": "s", "nearest": "s", "poly6": "ps", "poly10_twice": "Ps", "poly12": "ps", "sincos": "s", "sinc_cos": "t",
    "sinc_cos_short": "t",
    "half_angle": "t", "sinc_half": "t", "dexp_first": "t", "dexp_second": "t", "dexpinv_second": "t",
    "add": "vv", "sub": "vv", "neg": "v", "scale": "sv", "axpy": "svv", "times": "vv", "dot": "vv", "cross": "vv",
    "norm": "v", "hat": "v", "outer": "vv", "diag": "v", "transpose": "M", "madd": "MM", "mscale": "sM", "apply": "Mv",
    "apply_t": "Mv", "matmul": "MM", "det": "M", "solve": "Mv", "rodrigues": "ssv",
    "qmul": "qq", "qtimes": "qv", "qconj": "q", "qrotate": "qv", "qrotate_t": "qv", "normalise": "q", "renormalise": "q",
    "matrix": "q", "attitude": "q", "quaternion": "M",
    "qexp": "v", "exp": "v", "qlog": "q", "log": "M", "qcay": "v", "cay": "v",
    "dexp": "vv", "dexp_body": "vv", "dexp_matrix": "v", "dexpinv": "vv", "dexpinv_body": "vv",
}  # fmt: skip
LENGTH = {"s": 1, "t": 1, "v": 3, "q": 4, "M": 9, "p": 12, "P": 20}
VERSIONS = ["plain", pytest.param("compiled", marks=pytest.mark.compiled)]


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


@pytest.fixture(scope="module")
def compiled():
    """The same functions as the loops see them: compiled in the order of definition, each calling
    the compiled ones."""
    out = {"fma": instruction()}
    for name, f in {"fma2": lanes.fma2_alone, **PLAIN}.items():
        copy = types.FunctionType(f.__code__, {**f.__globals__, **out}, name)
        out[name] = numba.njit(forceinline=True, error_model="numpy")(copy)
    return out


def flat(x):
    """All the numbers in nested tuples, in order."""
    return [number for item in x for number in flat(item)] if isinstance(x, tuple) else [x]


def exact(x):
    """Nested tuples as an mpmath column or square matrix, without rounding."""
    if isinstance(x[0], tuple):
        return mp.matrix([[mp.mpf(c) for c in row] for row in x])
    return mp.matrix([mp.mpf(c) for c in x])


def error(x, y):
    """The largest difference between the components of x and y: tuples, mpmath matrices (by rows)
    or scalars."""
    x, y = (list(z) if isinstance(z, mp.matrix) else flat(z) for z in (x, y))
    assert len(x) == len(y)
    return float(max(abs(mp.mpf(a) - mp.mpf(b)) for a, b in zip(x, y, strict=True)))


def rounded(x):
    return [float(c) for c in x]


def mp_hat(a):
    x, y, z = a
    return mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def mp_cross(a, b):
    return mp_hat(a) * b


def mp_exp(x):
    """Rodrigues' formula; through sin^2(th/2), so that 50 digits are enough at any size of x."""
    th = mp.norm(x)
    X = mp_hat(x)
    return mp.eye(3) + (mp.sinc(th) * X + mp.sinc(th / 2) ** 2 / 2 * X * X)


def mp_cay(x):
    X = mp_hat(x) / 2
    return (mp.eye(3) - X) ** -1 * (mp.eye(3) + X)


def mp_tangent(group, x):
    """The matrix D with group(x + e y) = group(e D y) group(x) + O(e^2), by central differences with e = 1e-20."""
    e, back = mp.mpf("1e-20"), group(x).T
    columns = []
    for k in range(3):
        y = e * mp.eye(3)[:, k]
        W = (group(x + y) - group(x - y)) * back / (2 * e)
        columns.append([(W[2, 1] - W[1, 2]) / 2, (W[0, 2] - W[2, 0]) / 2, (W[1, 0] - W[0, 1]) / 2])
    return mp.matrix(columns).T


def vectors(rng, count):
    return [tuple(row) for row in rng.uniform(-1, 1, (count, 3)).tolist()]


def matrices(rng, count):
    return [tuple(map(tuple, m)) for m in rng.uniform(-1, 1, (count, 3, 3)).tolist()]


def unit_quaternions(rng, count):
    return [vec.normalise(tuple(row)) for row in rng.normal(size=(count, 4)).tolist()]


def neighbours(x, count=3):
    """x and the doubles next to it on either side."""
    out = [x]
    for _ in range(count):
        out = [float(np.nextafter(out[0], -np.inf)), *out, float(np.nextafter(out[-1], np.inf))]
    return out


def angles(top):
    """A logarithmic grid from 1e-170 that straddles every change of regime: underflow, TINY and the
    series' end."""
    special = [0.0, *neighbours(math.sqrt(scalars.NEAR)), *neighbours(math.sqrt(scalars.TINY))]
    return [
        *special,
        *np.geomspace(1e-170, top, 150).tolist(),
        *np.linspace(0.05, top, 150).tolist(),
    ]


def rotation_vectors(top, seed=0):
    rng = np.random.default_rng(seed)
    for th in angles(top):
        a = rng.normal(size=3)
        yield tuple((th * a / np.linalg.norm(a)).tolist())


AXES = [
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (0.6, 0.0, 0.8),
    (0.6, 0.8, 0.0),
    (0.48, 0.6, 0.64),
]
AXES += [vec.neg(a) for a in AXES]


# ------------------------------------------------------------------------------------------ scalars
def sincos_error(f, xs):
    """The largest absolute error over xs; where n P1 is not exact, |n| > 2^28, what is left of it
    after ulp(x)/2."""
    worst = 0.0
    for x in xs:
        s, c = f(x)
        slack = 0.501 * math.ulp(x) if abs(x) > 4.2e8 else 0.0
        worst = max(worst, error((s, c), (mp.sin(x), mp.cos(x))) - slack)
    return worst


@pytest.mark.parametrize("version", VERSIONS)
def test_sincos(version, compiled):
    f = scalars.sincos if version == "plain" else compiled["sincos"]
    rng = np.random.default_rng(1)
    for top in (1.0, 10.0, 1e3, 1e5, 1e8, 4e8, 1e11, 0.99e14):
        n = np.round(rng.uniform(-top, top, 400) / (math.pi / 2))
        xs = [*rng.uniform(-top, top, 1500), *(n * (math.pi / 2)), *((n + 0.5) * (math.pi / 2))]
        assert sincos_error(f, [float(x) for x in xs if abs(x) <= top]) < 1.2e-16, top
    near = [x for n in range(-20, 21) for k in (0.25, 0.5) for x in neighbours(n * k * math.pi)]
    assert sincos_error(f, near) < 1.2e-16
    for x in (5e-324, 1e-310, 1e-170, 1e-20, 1e-9):
        assert f(x) == (x, 1.0) and f(-x) == (-x, 1.0)


@pytest.mark.parametrize("version", VERSIONS)
def test_sincos_relative_error_of_small_angles(version, compiled):
    f = scalars.sincos if version == "plain" else compiled["sincos"]
    for x in np.geomspace(1e-12, math.pi / 4, 2000).tolist():
        assert abs(f(x)[0] / mp.sin(x) - 1) < 2e-16


@pytest.mark.parametrize("version", VERSIONS)
def test_sinc_cos_on_both_sides_of_its_threshold(version, compiled):
    f, short = (
        (scalars.sinc_cos, scalars.sinc_cos_short)
        if version == "plain"
        else (compiled["sinc_cos"], compiled["sinc_cos_short"])
    )
    edge = [math.nextafter(scalars.SHORT, 0.0), scalars.SHORT, math.nextafter(scalars.SHORT, 9.0)]
    for z in [
        *np.geomspace(1e-300, scalars.SHORT, 400).tolist(),
        *edge,
        *np.geomspace(scalars.SHORT, 1e6, 200).tolist(),
    ]:
        x = mp.sqrt(z)
        assert error(f(z), (mp.sin(x) / x, mp.cos(x))) < 4e-16 + 2e-16 * math.sqrt(z), z
        if z < scalars.SHORT:  # the series themselves, without rounding
            series = [
                mp.fsum(mp.mpf(a) * mp.mpf(z) ** k for k, a in enumerate(c))
                for c in (scalars.SINC, scalars.COSINE)
            ]
            assert error(tuple(series), (mp.sin(x) / x, mp.cos(x))) < 5e-17, z
        assert bits(short(z)) == bits(f(z)) if z < scalars.SHORT else all(map(math.isnan, short(z)))
    assert f(0.0) == (1.0, 1.0) and all(map(math.isnan, (*f(math.nan), *short(math.nan))))


def test_fma_rounds_once():
    rng = np.random.default_rng(8)
    for _ in range(2000):
        a, b = (rng.standard_normal(2) * 10.0 ** rng.integers(-20, 20, 2)).tolist()
        for c in (-a * b, -a * b * (1.0 + EPS), float(rng.standard_normal())):
            once = Fraction(a) * Fraction(b) + Fraction(c)
            assert fma(a, b, c) == float(once), (a, b, c)
    assert math.copysign(1.0, fma(0.0, -1.0, -0.0)) == -1.0 and fma(math.inf, 1.0, 1.0) == math.inf
    assert math.isnan(fma(math.nan, 1.0, 1.0)) and fma(mp.mpf(2), 3.0, 4.0) == 10


@pytest.mark.parametrize("version", VERSIONS)
def test_sincos_of_signed_zero_nan_and_too_large(version, compiled):
    f = scalars.sincos if version == "plain" else compiled["sincos"]
    for zero in (0.0, -0.0):
        s, c = f(zero)
        assert s == 0.0 and math.copysign(1.0, s) == math.copysign(1.0, zero) and c == 1.0
    for x in (math.nan, math.inf, -math.inf, scalars.FAR, -scalars.FAR, 1e300):
        assert all(map(math.isnan, f(x)))


def test_pi_parts_and_nearest():
    assert (
        abs(mp.pi / 2 - sum(map(mp.mpf, (scalars.P1, scalars.P2, scalars.P3)))) < mp.mpf(2) ** -107
    )
    for part in (scalars.P1, scalars.P2):
        assert (math.frexp(part)[0] * 2**25).is_integer()
    for x in (0.5, 1.5, 2.5, -0.5, -3.7, 1e9 + 0.4):
        assert scalars.nearest(x) == round(x)
    assert (
        math.isnan(scalars.nearest(math.nan))
        and math.isnan(scalars.nonzero(0.0))
        and scalars.nonzero(2.0) == 2.0
    )


def test_polynomials():
    rng = np.random.default_rng(2)
    for _ in range(100):
        c, z = tuple(rng.uniform(-1, 1, 12).tolist()), rng.uniform(-1, 1)
        assert (
            error(
                scalars.poly6(c[:6], z),
                mp.fsum(mp.mpf(a) * mp.mpf(z) ** k for k, a in enumerate(c[:6])),
            )
            < 4e-16
        )
        first, second = c[:10], c[2:]
        for found, of in zip(
            scalars.poly10_twice(tuple(zip(first, second, strict=True)), z),
            (first, second),
            strict=True,
        ):
            assert (
                error(found, mp.fsum(mp.mpf(a) * mp.mpf(z) ** k for k, a in enumerate(of)))
                < 4 * EPS
            )
        assert (
            error(
                scalars.poly12(c, z), mp.fsum(mp.mpf(a) * mp.mpf(z) ** k for k, a in enumerate(c))
            )
            < 6e-16
        )


# ----------------------------------------------------------------------------- vectors and matrices
def test_vectors():
    rng = np.random.default_rng(3)
    for a, b in zip(vectors(rng, 200), vectors(rng, 200), strict=True):
        A, B, c = exact(a), exact(b), rng.uniform(-2, 2)
        assert flat(vec.add(a, b)) == rounded(A + B)
        assert flat(vec.sub(a, b)) == rounded(A - B)
        assert flat(vec.neg(a)) == rounded(-A)
        assert flat(vec.scale(c, a)) == rounded(mp.mpf(c) * A)
        assert flat(vec.times(a, b)) == rounded(x * y for x, y in zip(A, B, strict=True))
        assert error(vec.axpy(c, a, b), mp.mpf(c) * A + B) < 4e-16
        assert error(vec.dot(a, b), (A.T * B)[0]) < 4e-16
        assert error(vec.cross(a, b), mp_cross(A, B)) < 4e-16
        assert error(vec.norm(a), mp.norm(A)) < 4e-16
        assert flat(vec.hat(a)) == rounded(mp_hat(A))
        assert flat(vec.outer(a, b)) == rounded(A * B.T)
        assert flat(vec.diag(a)) == rounded(mp.diag(list(A)))


def test_matrices():
    rng = np.random.default_rng(4)
    for M, N, a in zip(matrices(rng, 200), matrices(rng, 200), vectors(rng, 200), strict=True):
        A, B, x, c = exact(M), exact(N), exact(a), rng.uniform(-2, 2)
        assert flat(vec.transpose(M)) == rounded(A.T)
        assert flat(vec.madd(M, N)) == rounded(A + B)
        assert flat(vec.mscale(c, M)) == rounded(mp.mpf(c) * A)
        assert error(vec.apply(M, a), A * x) < 5e-16
        assert error(vec.apply_t(M, a), A.T * x) < 5e-16
        assert error(vec.matmul(M, N), A * B) < 5e-16
        assert error(vec.det(M), mp.det(A)) < 3e-16
        X = mp_hat(x)
        assert (
            error(vec.rodrigues(c, 0.7, a), mp.eye(3) + mp.mpf(c) * X + mp.mpf(0.7) * X * X) < 4e-16
        )
    assert exact(vec.IDENTITY) == mp.eye(3)


def test_solve():
    rng = np.random.default_rng(5)
    for M, b in zip(matrices(rng, 500), vectors(rng, 500), strict=True):
        A = exact(M)
        size = (
            mp.mnorm(A, mp.inf)
            * mp.mnorm(A**-1, mp.inf)
            * mp.mnorm(A**-1, mp.inf)
            * mp.norm(exact(b), mp.inf)
        )
        assert error(vec.solve(M, b), mp.lu_solve(A, exact(b))) < EPS / 2 * size
    assert vec.solve(vec.diag((2.0, 4.0, 8.0)), (1.0, 1.0, 1.0)) == (0.5, 0.25, 0.125)
    assert all(map(math.isnan, vec.solve(vec.hat((1.0, 2.0, 3.0)), (1.0, 0.0, 0.0))))


# -------------------------------------------------------------------------------------- quaternions
def mp_qmul(p, q):
    v, w = mp.matrix(p[:3]), mp.matrix(q[:3])
    return [*(p[3] * w + q[3] * v + mp_cross(v, w)), p[3] * q[3] - (v.T * w)[0]]


def mp_rotation(q):
    """R(q) a = vector part of q a q*, column by column."""
    q = [mp.mpf(c) for c in q]
    conj = [-q[0], -q[1], -q[2], q[3]]
    images = [mp_qmul(mp_qmul(q, [*mp.eye(3)[:, k], mp.mpf(0)]), conj)[:3] for k in range(3)]
    return mp.matrix(images).T


def test_quaternions():
    rng = np.random.default_rng(6)
    for p, q, a in zip(
        unit_quaternions(rng, 200), unit_quaternions(rng, 200), vectors(rng, 200), strict=True
    ):
        R = mp_rotation(q)
        assert (
            error(vec.qmul(p, q), tuple(mp_qmul([mp.mpf(c) for c in p], [mp.mpf(c) for c in q])))
            < 3e-16
        )
        assert error(vec.matrix(q), R) < 5e-16
        assert error(vec.qrotate(q, a), R * exact(a)) < 8e-16
        assert error(vec.qrotate_t(q, a), R.T * exact(a)) < 8e-16
        assert vec.qconj(q) == (-q[0], -q[1], -q[2], q[3])


def test_normalise_and_renormalise():
    rng = np.random.default_rng(7)
    for q in unit_quaternions(rng, 200):
        stretched = tuple(float(10 ** rng.uniform(-100, 100)) * c for c in q)
        assert (
            error(vec.normalise(stretched), tuple(exact(stretched) / mp.norm(exact(stretched))))
            < 2.5e-16
        )
        for e in (1e-15, -1e-12, 1e-9, 1e-6, -1e-4):
            off = tuple((1 + e) * c for c in q)
            assert (
                abs(mp.norm(exact(vec.renormalise(off))) - (1 - 1.5 * e * e)) < 3e-16 + abs(e) ** 3
            )
    assert all(map(math.isnan, vec.normalise((0.0, 0.0, 0.0, 0.0))))


def turned(axis, th):
    """The unit quaternion of the turn by th about axis, rounded from 50 digits."""
    s = mp.sin(mp.mpf(th) / 2) / mp.norm(exact(axis))
    return (*(float(s * c) for c in axis), float(mp.cos(mp.mpf(th) / 2)))


@pytest.mark.parametrize("axis", AXES)
def test_quaternion_and_log_at_and_near_pi(axis):
    """R is formed in 50 digits and rounded once; the rotation vector comes back up to its sign."""
    unit = exact(axis) / mp.norm(exact(axis))
    close = [math.pi + sign * 10.0**-k for k in range(1, 17) for sign in (-1, 1)]
    right_angles = [k * math.pi / 3 for k in range(1, 6)] + [k * math.pi / 4 for k in range(1, 8)]
    for th in [*neighbours(math.pi), *close, *right_angles]:
        E = mp_exp(mp.mpf(th) * unit)
        R = tuple(tuple(float(E[i, j]) for j in range(3)) for i in range(3))
        q = vec.quaternion(R)
        assert max(q) == max(map(abs, q))  # the documented choice of sign
        target = turned(axis, th)
        assert min(error(q, target), error(q, tuple(-c for c in target))) < 3e-16
        x = vec.log(R)
        principal = (mp.mpf(th) if th <= math.pi else th - 2 * mp.pi) * unit
        # at pi rounding decides between x and -x
        signs = (1, -1) if abs(th - math.pi) < 1e-15 else (1,)
        assert min(error(x, sign * principal) for sign in signs) < 1e-15
        assert vec.norm(x) <= math.pi * (1 + EPS)
        assert error(vec.exp(x), E) < 1.1e-15


def test_quaternion_of_half_turns_is_exact():
    for k, axis in enumerate(AXES[:3]):
        R = vec.diag(tuple(1.0 if j == k else -1.0 for j in range(3)))
        assert vec.quaternion(R) == (*axis, 0.0)
        assert vec.log(R) == vec.scale(math.pi, axis)
    assert vec.quaternion(vec.IDENTITY) == (0.0, 0.0, 0.0, 1.0) and vec.log(vec.IDENTITY) == (
        0.0,
        0.0,
        0.0,
    )


# ------------------------------------------------------------------------------------- coefficients
# name: (the definition, limit at 0, relative error reached for th <= 4, conditioned error to th =
# 10)
COEFFICIENTS = {
    "sinc_half": (lambda th: mp.sin(th / 2) / th, 2, 2.5e-16, 2.5e-16),
    "dexp_first": (lambda th: (1 - mp.cos(th)) / th**2, 2, 5.5e-16, 5e-16),
    "dexp_second": (lambda th: (th - mp.sin(th)) / th**3, 6, 5.5e-16, 4e-16),
    "dexpinv_second": (lambda th: (1 - th / 2 * mp.cot(th / 2)) / th**2, 12, 9e-16, 6e-16),
}


def coefficient_grid(top):
    grid = [
        0.0,
        5e-324,
        *neighbours(scalars.NEAR, 20),
        *neighbours(scalars.TINY),
        *neighbours(1e-284),
    ]
    grid += [th * th for th in np.geomspace(1e-170, top, 1200)]
    return [float(z) for z in [*grid, *np.linspace(0.01, top * top, 1200)]]


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_from_underflow_to_four(name):
    definition, limit, bound, _ = COEFFICIENTS[name]
    for z in coefficient_grid(4.0):
        # th^3 cancels in the definition
        with mp.workdps(60 if z > 1e-4 else 60 - int(1.5 * math.log10(z or 1.0))):
            want = definition(mp.sqrt(z)) if z else 1 / mp.mpf(limit)
            assert abs(getattr(scalars, name)(z) / want - 1) < bound, z


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_beyond_four(name):
    """Here zeros and poles amplify the rounding of th itself: the error is measured against |f| +
    |th f'(th)|."""
    definition, _, _, bound = COEFFICIENTS[name]
    for z in np.linspace(16.0, 100.0, 800).tolist():
        th = mp.sqrt(z)
        want = definition(th)
        assert abs(getattr(scalars, name)(z) - want) < bound * (
            abs(want) + abs(th * mp.diff(definition, th))
        ), z


def test_half_angle():
    for z in coefficient_grid(10.0):
        th, s, c = scalars.half_angle(z)
        root = mp.sqrt(mp.mpf(z) + mp.mpf(scalars.TINY))
        assert abs(th / root - 1) < 2.3e-16
        assert error((s, c), (mp.sin(mp.mpf(th) / 2), mp.cos(mp.mpf(th) / 2))) < 1.2e-16


# ----------------------------------------------------------------------------------------- exp, cay
def test_exp_and_log():
    for x in rotation_vectors(10.0):
        X = exact(x)
        th = mp.norm(X)
        slack = EPS * float(th)  # the rounding of th itself
        q = vec.qexp(x)
        assert error(q, tuple([*(mp.sinc(th / 2) / 2 * X), mp.cos(th / 2)])) < 1.5e-16 + slack / 2
        assert abs(mp.norm(exact(q)) - 1) < 4e-16
        assert error(vec.exp(x), mp_exp(X)) < 4e-16 + slack
        if th < 3:
            for y in (
                vec.qlog(q),
                vec.qlog(tuple(-c for c in q)),
                vec.qlog(tuple(3.0 * c for c in q)),
            ):
                assert error(y, X) <= 2 * EPS * mp.norm(X, mp.inf), x


def test_exp_off_the_diagonal_is_relatively_accurate_for_tiny_angles():
    for th in np.geomspace(1e-300, 1e-9, 100).tolist():
        x = (th, -2.0 * th, 3.0 * th)
        R, E = vec.exp(x), mp_exp(exact(x))
        assert all(abs(R[i][j] / E[i, j] - 1) < 5e-16 for i in range(3) for j in range(3))
        assert all(abs(c / mp.mpf(d) - 1) < 5e-16 for c, d in zip(vec.log(R), x, strict=True))


@pytest.mark.parametrize("th", [30.0, 1e3, 1e6, 1e8])
def test_exp_of_large_angles(th):
    rng = np.random.default_rng(8)
    for a in vectors(rng, 50):
        x = vec.scale(th, a)
        R = vec.exp(x)
        assert error(R, mp_exp(exact(x))) < 4e-16 + 2 * EPS * th
        assert error(vec.matmul(R, vec.transpose(R)), vec.IDENTITY) < 1.5e-15


def test_cay():
    for x in rotation_vectors(10.0, seed=1):
        X, R = exact(x), vec.cay(x)
        n = mp.sqrt(4 + (X.T * X)[0])
        assert error(R, mp_cay(X)) < 5e-16
        assert error(vec.qcay(x), tuple([*(X / n), 2 / n])) < 3e-16
        assert error(vec.matrix(vec.qcay(x)), R) < 8e-16


# ------------------------------------------------------------------------------------- tangent maps
def test_dexp_by_its_definition():
    rng = np.random.default_rng(9)
    for x in rotation_vectors(10.0, seed=2):
        y = vectors(rng, 1)[0]
        D, Y = mp_tangent(mp_exp, exact(x)), exact(y)
        assert error(vec.dexp(x, y), D * Y) < 8e-16, x
        assert error(vec.dexp_body(x, y), D.T * Y) < 8e-16
        assert error(vec.dexp_matrix(x), D) < 6e-16
        if vec.norm(x) < 5:
            assert error(vec.dexpinv(x, y), mp.lu_solve(D, Y)) < 1.5e-15
            assert error(vec.dexpinv_body(x, y), mp.lu_solve(D.T, Y)) < 1.5e-15


def test_dexpinv_is_large_but_finite_at_two_pi():
    assert 1e12 < abs(scalars.dexpinv_second((2 * math.pi) ** 2)) < math.inf


# ------------------------------------------------------------------------------------- group axioms
unit_interval = st.floats(-1, 1)
VECTOR = st.tuples(unit_interval, unit_interval, unit_interval)
QUATERNION = (
    st.tuples(*[unit_interval] * 4)
    .filter(lambda q: sum(c * c for c in q) > 1e-3)
    .map(vec.normalise)
)
axioms = settings(max_examples=200, deadline=None, derandomize=True)


@axioms
@given(QUATERNION, QUATERNION, QUATERNION, VECTOR)
def test_quaternions_form_a_group_that_acts(p, q, r, a):
    one = (0.0, 0.0, 0.0, 1.0)
    assert error(vec.qmul(vec.qmul(p, q), r), vec.qmul(p, vec.qmul(q, r))) < 1e-15
    assert error(vec.qmul(p, vec.qconj(p)), one) < 6e-16
    assert vec.qmul(p, one) == p == vec.qmul(one, p)
    assert error(vec.qrotate(vec.qmul(p, q), a), vec.qrotate(p, vec.qrotate(q, a))) < 2.5e-15
    assert error(vec.qrotate_t(p, vec.qrotate(p, a)), a) < 2e-15
    assert error(vec.qrotate(p, a), vec.apply(vec.matrix(p), a)) < 1e-15
    assert error(vec.qrotate_t(p, a), vec.apply_t(vec.matrix(p), a)) < 1e-15


@axioms
@given(QUATERNION, QUATERNION)
def test_matrix_is_a_homomorphism_onto_rotations(p, q):
    P, Q = vec.matrix(p), vec.matrix(q)
    assert error(vec.matrix(vec.qmul(p, q)), vec.matmul(P, Q)) < 3e-15
    assert error(vec.matmul(P, vec.transpose(P)), vec.IDENTITY) < 2e-15
    assert abs(vec.det(P) - 1) < 3e-15
    back = vec.quaternion(P)
    assert min(error(back, p), error(back, tuple(-c for c in p))) < 6e-16


@axioms
@given(QUATERNION)
def test_exp_of_log(q):
    R = vec.matrix(q)
    assert error(vec.exp(vec.log(R)), R) < 2e-15
    assert vec.qlog(q) == vec.qlog(tuple(-c for c in q)) or q[3] == 0.0
    assert vec.norm(vec.qlog(q)) <= math.pi * (1 + 2 * EPS)


@axioms
@given(VECTOR, st.floats(0, 3.14))
def test_log_of_exp_within_the_ball(a, th):
    assume(vec.norm(a) > 1e-3)
    x = vec.scale(th / vec.norm(a), a)
    assert error(vec.log(vec.exp(x)), x) < 1.5e-15
    assert error(vec.qlog(vec.qexp(x)), x) < 1e-15


@axioms
@given(QUATERNION, VECTOR, st.floats(-10, 10), st.floats(-10, 10))
def test_exponential_laws(q, a, s, t):
    x = vec.scale(s, a)
    both = vec.qmul(vec.qexp(x), vec.qexp(vec.scale(t, a)))
    assert error(vec.qexp(vec.scale(s + t, a)), both) < 5e-15
    assert error(vec.qmul(vec.qexp(x), vec.qexp(vec.neg(x))), (0.0, 0.0, 0.0, 1.0)) < 1e-15
    conjugated = vec.qmul(vec.qmul(q, vec.qexp(x)), vec.qconj(q))
    assert error(vec.qexp(vec.qrotate(q, x)), conjugated) < 1e-14  # Ad_q x = R(q) x


@axioms
@given(VECTOR, VECTOR, st.floats(0, 3))
def test_tangent_maps_and_their_inverses(a, y, s):
    x = vec.scale(s, a)  # |x| up to 3 sqrt(3) = 5.2
    assert error(vec.dexp(x, vec.dexpinv(x, y)), y) < 5e-15
    assert error(vec.dexpinv_body(x, vec.dexp_body(x, y)), y) < 5e-15
    assert error(vec.dexp(x, y), vec.apply(vec.dexp_matrix(x), y)) < 2e-15
    assert error(vec.dexp_body(x, y), vec.apply_t(vec.dexp_matrix(x), y)) < 2e-15
    # dexp_x = exp(x) dexp_{-x}
    assert error(vec.dexp(x, y), vec.apply(vec.exp(x), vec.dexp_body(x, y))) < 4e-15
    assert vec.dexp(x, x) == vec.dexpinv(x, x) == x


# ------------------------------------------------------------------------------------ compiled code
def shape(kind, numbers):
    if kind in "st":
        return numbers[0]
    width = {"M": 3, "P": 2}.get(kind)
    return tuple(zip(*[iter(numbers)] * width, strict=True)) if width else tuple(numbers)


def bits(x):
    """The bytes of every number, with one pattern for all NaNs."""
    return [struct.pack("d", math.nan if math.isnan(c) else c) for c in flat(x)]


def inputs(name, count=150):
    """Random arguments over 1e-165 to 1e3 in size, some with zeros, infinities or NaN among
    them."""
    rng = np.random.default_rng(list(name.encode()))
    for k in range(count):
        drawn = []
        for kind in ARGUMENTS[name]:
            n = LENGTH[kind]
            size = 10.0 ** (rng.uniform(-165, 3) if k % 3 == 0 else rng.uniform(-3, 1))
            numbers = size * rng.uniform(-1, 1, n)
            if k % 5 == 4:
                numbers[rng.integers(n)] = rng.choice(
                    [0.0, -0.0, math.nan, math.inf, -math.inf, 4.0, 1.0]
                )
            drawn.append(shape(kind, (abs(numbers) if kind == "t" else numbers).tolist()))
        yield drawn
    for special in (0.0, math.nan):
        yield [shape(kind, [special] * LENGTH[kind]) for kind in ARGUMENTS[name]]


def test_every_function_is_covered():
    assert list(PLAIN) == list(ARGUMENTS)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ARGUMENTS)
def test_plain_python_and_compiled_code_agree_bit_for_bit(name, compiled):
    for args in inputs(name):
        assert bits(compiled[name](*args)) == bits(PLAIN[name](*args)), args


@pytest.mark.parametrize("name", ARGUMENTS)
def test_nan_gives_nan_and_nothing_raises(name):
    nan = [shape(kind, [math.nan] * LENGTH[kind]) for kind in ARGUMENTS[name]]
    numbers = [c for c in flat(PLAIN[name](*nan)) if c not in (0.0, 1.0)]
    assert numbers and all(map(math.isnan, numbers))


@pytest.mark.compiled
@pytest.mark.skipif(not X86, reason="reads x86 assembly")
@pytest.mark.parametrize(
    "name", ["sincos", "sinc_cos_short", "qrotate", "quaternion", "solve", "dexp", "dexpinv", "cay"]
)
def test_loops_over_lanes_vectorise(name, compiled):
    """Packed multiplications, and not one call left in the loop: neither libm nor a helper that was
    not inlined."""
    kinds = ARGUMENTS[name]
    ends = np.cumsum([LENGTH[kind] for kind in kinds]).tolist()

    def arguments(cells):
        return [
            shape(kind, cells[end - LENGTH[kind] : end])
            for kind, end in zip(kinds, ends, strict=True)
        ]

    def text(x):
        return f"({', '.join(map(text, x))})" if isinstance(x, tuple) else x

    load = ", ".join(map(text, arguments([f"x[{j}, i]" for j in range(ends[-1])])))
    sample = PLAIN[name](*arguments([0.5, 0.25, 0.125] * ends[-1]))
    names = iter(f"out[{j}, i]" for j in range(len(flat(sample))))
    store = text(
        tuple(
            tuple(next(names) for _ in c) if isinstance(c, tuple) else next(names) for c in sample
        )
    )
    scope = {"f": compiled[name]}
    exec(
        f"def kernel(x, out):\n    for i in range(x.shape[1]):\n        {store} = f({load})", scope
    )
    kernel = numba.njit(error_model="numpy")(scope["kernel"])
    x, out = (
        np.random.default_rng(11).uniform(-1, 1, (ends[-1], 67)),
        np.empty((len(flat(sample)), 67)),
    )
    kernel(x, out)
    assembly = next(iter(kernel.inspect_asm().values()))
    loop = assembly[: assembly.index(".Lfunc_end0")]
    if has_fma() or "fma" not in loop:  # else it calls the C library's
        assert re.search(r"\bv?mulpd\b.*%[xyz]mm", loop)
        assert not re.search(r"\bcall", loop)
    # 67 lanes: the remainder loop too
    for column, result in zip(x.T.tolist(), out.T.tolist(), strict=True):
        assert bits(tuple(result)) == bits(PLAIN[name](*arguments(column)))
