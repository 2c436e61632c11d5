"""Rotations: input in every form, the vectorised algebra against SciPy and mpmath, and the
interpolant."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from polhode import rotations as rot
from polhode.errors import InputError

EPS = np.finfo(float).eps
VECTOR = st.tuples(*[st.floats(-10.0, 10.0)] * 3)


def random_quaternions(n, seed=0):
    return Rotation.random(n, random_state=seed).as_quat()


def same(p, q, atol=4e-16):
    """Whether two quaternions are one rotation: equal up to sign."""
    p, q = np.asarray(p), np.asarray(q)
    sign = np.where(np.sum(p * q, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return np.allclose(p, sign * q, rtol=0, atol=atol)


def refused(value, *words):
    with pytest.raises(InputError) as caught:
        rot.as_quaternion(value)
    for word in words:
        assert word in str(caught.value), f"{word!r} not in {caught.value}"


# ---- as_quaternion -------------------------------------------------------------------------------


def test_identity_forms():
    for form in (None, np.eye(3), [0, 0, 0, 1], [0, 0, 0], Rotation.identity()):
        q = rot.as_quaternion(form)
        assert q.tolist() == [0, 0, 0, 1] and q.dtype == np.float64 and q.shape == (4,)


@settings(max_examples=200, deadline=None)
@given(VECTOR)
def test_every_form_agrees(vector):
    R = Rotation.from_rotvec(vector)
    expected = R.as_quat()
    for form in (
        R,
        R.as_matrix(),
        expected,
        list(vector),
        R.as_matrix().tolist(),
        np.float64(vector),
    ):
        q = rot.as_quaternion(form)
        assert same(q, expected, atol=2e-15) and abs(np.linalg.norm(q) - 1) <= 2 * EPS


@pytest.mark.parametrize("angle", [math.pi, math.pi - 1e-9, math.pi - 1e-15, 1e-300, 1e-9, 2.0])
@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0), (2 / 3, -2 / 3, 1 / 3)]
)
def test_matrices_at_small_angles_and_half_turns(axis, angle):
    q = rot.exp(np.array(axis) * angle)
    assert same(rot.as_quaternion(rot.matrices(q)), q, atol=1e-15)


def test_unit_quaternions_come_back_bit_for_bit():
    for q in random_quaternions(200):
        back = rot.as_quaternion(q)
        assert np.array_equal(back, q) and not np.shares_memory(back, q)
        assert np.array_equal(rot.as_quaternion(-q), -q)


def test_rounded_input_is_brought_to_the_group():
    for R in Rotation.random(50, random_state=2):
        for form in (
            R.as_matrix().astype(np.float32),
            R.as_matrix().round(7),
            R.as_quat().astype(np.float32),
        ):
            q = rot.as_quaternion(form)
            assert (
                abs(np.linalg.norm(q) - 1) <= 2 * EPS and rot.angle_between(q, R.as_quat()) < 3e-7
            )


def test_noise_goes_to_the_nearest_rotation():
    rng, R = np.random.default_rng(3), Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix()
    S = rng.normal(size=(3, 3)) * 1e-8
    # a symmetric stretch: the polar factor is R itself, to second order
    stretched = R @ (np.eye(3) + S + S.T)
    assert same(rot.as_quaternion(stretched), rot.as_quaternion(R), atol=2e-15)


@pytest.mark.parametrize(
    "value, words",
    [
        (np.diag([1.0, 1.0, -1.0]), ["reflection", "determinant is -1", "+1", "sign of one row"]),
        (
            np.diag([1.0, 1.0, -2.0]),
            ["not orthogonal", "contains a reflection", "determinant -2", "up to 3"],
        ),
        (
            np.diag([1.0, 1.0, 1.001]),
            ["not orthogonal", "up to 0.002", "allowed 1e-06", "svd", "1.001"],
        ),
        (np.eye(3) * 1e200, ["not orthogonal", "up to inf"]),
        (np.zeros((3, 3)), ["not orthogonal", "up to 1"]),
        ([1, 1, 1, 1], ["unit quaternion", "[1., 1., 1., 1.]", "norm 2", "divide"]),
        ([0, 0, 0, 1.00001], ["norm 1.00001", "divide"]),
        ([0, 0, 0, 0], ["norm 0", "(0, 0, 0, 1)"]),
        (np.ones(5), ["shape (5,)", "accepted", "3x3", "quaternion", "rotation vector"]),
        (np.eye(3)[None], ["shape (1, 3, 3)", "accepted"]),
        (np.ones((2, 4)), ["shape (2, 4)", "accepted"]),
        (1.0, ["shape ()", "accepted"]),
        ([0, np.nan, 0], ["rotation[1] = nan", "finite"]),
        ("identity", ["rotation", "'identity'", "real numbers"]),
        ([1j, 0, 0], ["rotation", "complex"]),
        ([True, False, False], ["rotation", "booleans"]),
        (
            Rotation.from_quat(random_quaternions(3)),
            ["single Rotation", "stack of 3", "rotation[0]"],
        ),
    ],
)
def test_bad_rotation(value, words):
    refused(value, *words)


def test_as_rotation():
    q = random_quaternions(5)
    assert np.allclose(rot.as_rotation(q).as_matrix(), rot.matrices(q), atol=1e-15)
    assert rot.as_rotation(q[0]).single
    with pytest.raises(InputError, match=r"shape \(4,\) or \(n, 4\), got \(5, 1, 4\); reshape"):
        rot.as_rotation(q[:, None])
    with pytest.raises(InputError, match=r"zeros.*\(0, 0, 0, 1\)"):
        rot.as_rotation([[0, 0, 0, 1], [0, 0, 0, 0]])
    with pytest.raises(InputError, match=r"4 numbers along its last axis, got shape \(3,\)"):
        rot.as_rotation([0, 0, 0])


# ---- algebra -------------------------------------------------------------------------------------


def test_against_scipy():
    p, q = random_quaternions(50, 1), random_quaternions(50, 2)
    v = np.random.default_rng(3).normal(size=(50, 3))
    P, Q = Rotation.from_quat(p), Rotation.from_quat(q)
    assert np.allclose(rot.matrices(q), Q.as_matrix(), atol=1e-15)
    assert np.allclose(rot.rotate(q, v), Q.apply(v), atol=2e-15)
    assert np.allclose(rot.rotate_inverse(q, v), Q.apply(v, inverse=True), atol=2e-15)
    assert same(rot.qmul(p, q), (P * Q).as_quat(), atol=1e-15)
    assert np.allclose(rot.angle_between(p, q), (P.inv() * Q).magnitude(), atol=2e-15)
    assert np.allclose(rot.log(q), Q.as_rotvec(), atol=3e-15)
    assert same(rot.exp(v), Rotation.from_rotvec(v).as_quat(), atol=1e-15)


def test_broadcasting():
    q, v = random_quaternions(6).reshape(2, 3, 4), np.ones((3, 3))
    assert rot.rotate(q, v).shape == rot.rotate_inverse(q, v).shape == (2, 3, 3)
    assert rot.rotate(q[0, 0], np.ones((7, 3))).shape == (7, 3) and rot.rotate(
        q, [1, 0, 0]
    ).shape == (2, 3, 3)
    assert rot.matrices(q).shape == (2, 3, 3, 3) and rot.qmul(q, q[0, 0]).shape == (2, 3, 4)
    assert (
        rot.angle_between(q, q[0, 0]).shape == (2, 3)
        and np.ndim(rot.angle_between(q[0, 0], q[0, 1])) == 0
    )
    assert rot.matrices(np.zeros((0, 4))).shape == (0, 3, 3)
    with pytest.raises(InputError, match=r"q must have 4 numbers .* got shape \(3,\)"):
        rot.rotate([1, 0, 0], [1, 0, 0])
    with pytest.raises(InputError, match=r"v must have 3 numbers"):
        rot.rotate([0, 0, 0, 1], [1, 0])


@pytest.mark.parametrize(
    "angle", [0.0, 1e-300, 1e-15, 1e-8, 1e-3, 1.0, 3.0, math.pi - 1e-8, math.pi]
)
def test_angle_between_is_accurate_everywhere(angle):
    axis = np.array([2, -2, 1]) / 3
    identity, q = np.array([0, 0, 0, 1.0]), rot.exp(angle * axis)
    for sign in (1, -1):
        assert rot.angle_between(identity, sign * q) == pytest.approx(angle, rel=1e-14, abs=0)
    q0 = random_quaternions(1)[0]
    assert rot.angle_between(q0, rot.qmul(q0, q)) == pytest.approx(angle, abs=1e-15, rel=1e-15)
    assert rot.angle_between(q, q) == rot.angle_between(q, -q) == 0.0
    assert math.hypot(*rot.log(q)) == pytest.approx(angle, rel=1e-15, abs=0)


# ---- exp, log, dexp against mpmath on a grid that straddles every branch -------------------------

GRID = np.concatenate(
    [[0.0], np.logspace(-20, 0, 41), [1 - 1e-15, 1 + 1e-15, 1.01, 2.0, 3.0, 3.14159, 4.5, 5.5]]
)


@pytest.mark.parametrize("angle", GRID)
def test_small_angle_branches(angle):
    axis, y = np.array([2, -2, 1]) / 3, np.array([0.3, 0.7, -0.4])
    x = angle * axis
    with mpmath.workdps(60):
        mx = [mpmath.mpf(v) for v in x.tolist()]
        a = mpmath.sqrt(sum(v * v for v in mx))
        if a == 0:
            A, B, C = mpmath.mpf(1) / 2, mpmath.mpf(1) / 6, mpmath.mpf(1) / 12
            q = [0, 0, 0, 1]
        else:
            A, B = (1 - mpmath.cos(a)) / a**2, (a - mpmath.sin(a)) / a**3
            C = (1 - a / 2 * mpmath.cot(a / 2)) / a**2
            q = [v * mpmath.sin(a / 2) / a for v in mx] + [mpmath.cos(a / 2)]
        A, B, C, q = float(A), float(B), float(C), [float(v) for v in q]
    xy = np.cross(x, y)
    assert (
        np.allclose(rot.exp(x)[:3], q[:3], rtol=4 * EPS, atol=0)
        and abs(rot.exp(x)[3] - q[3]) <= EPS
    )
    assert np.allclose(rot.dexp_body(x, y), y - A * xy + B * np.cross(x, xy), rtol=0, atol=2e-15)
    assert np.allclose(rot.dexpinv_body(x, y), y + xy / 2 + C * np.cross(x, xy), rtol=0, atol=1e-14)
    assert np.allclose(rot.dexp_body(x, rot.dexpinv_body(x, y)), y, atol=2e-14)
    # the coefficients of x*(x*y) themselves: about z, that term is all that shortens the x
    # component of e
    z, e = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    if angle > 1e-7:
        assert (1 - rot.dexpinv_body(angle * z, e)[0]) / angle**2 == pytest.approx(
            C, rel=1e-14, abs=4 * EPS / angle**2
        )
        assert (1 - rot.dexp_body(angle * z, e)[0]) / angle**2 == pytest.approx(
            B, rel=1e-14, abs=4 * EPS / angle**2
        )
    if angle <= math.pi:
        assert np.allclose(rot.log(rot.exp(x)), x, rtol=1e-14, atol=0)


def test_dexp_is_the_body_velocity():
    rng = np.random.default_rng(5)
    x, y, d = rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), 1e-5
    ahead, behind = rot.exp(x + d * y), rot.exp(x - d * y)
    velocity = rot.log(rot.qmul(behind * [-1, -1, -1, 1], ahead)) / (2 * d)
    assert np.allclose(rot.dexp_body(x, y), velocity, atol=1e-8)


@settings(max_examples=100, deadline=None)
@given(VECTOR)
def test_log_inverts_exp(vector):
    q = rot.exp(vector)
    x = rot.log(q)
    assert np.linalg.norm(x) <= math.pi + 1e-15 and same(rot.exp(x), q, atol=1e-15)


# ---- hermite -------------------------------------------------------------------------------------


def motion(t):
    """A smooth motion with its exact body velocity: R = exp(x(t)) exp(y(t)), W = R_y^T W_x + W_y."""
    t = np.asarray(t, float)
    x = np.stack([np.sin(t), 0.5 * np.cos(2 * t), 0.3 * t], -1)
    dx = np.stack([np.cos(t), -np.sin(2 * t), 0.3 + 0 * t], -1)
    y = np.stack([0.2 * t * t, np.sin(1.3 * t), -0.4 * np.cos(t)], -1)
    dy = np.stack([0.4 * t, 1.3 * np.cos(1.3 * t), 0.4 * np.sin(t)], -1)
    qy = rot.exp(y)
    return rot.qmul(rot.exp(x), qy), rot.rotate_inverse(qy, rot.dexp_body(x, dx)) + rot.dexp_body(
        y, dy
    )


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_hermite_orders(direction):
    s = np.linspace(0, 1, 41)
    starts = np.linspace(0.1, 1.5, 15)[:, None]
    attitude, velocity = [], []
    steps = direction * 0.2 / 2.0 ** np.arange(5)
    for h in steps:
        ends = [part for t in (starts, starts + h) for part in motion(t)]
        q, w = rot.hermite(ends[0], ends[1], ends[2], ends[3], h, s)
        exact_q, exact_w = motion(starts + h * s)
        attitude.append(rot.angle_between(q, exact_q).max())
        velocity.append(np.abs(w - exact_w).max())
    slopes = [np.log2(np.array(e[:-1]) / np.array(e[1:]))[-2:] for e in (attitude, velocity)]
    assert np.allclose(slopes[0], 4.0, atol=0.1), (attitude, slopes)
    assert np.allclose(slopes[1], 3.0, atol=0.1), (velocity, slopes)


def test_hermite_is_useful_up_to_two_radians():
    h, s = 1.0, np.linspace(0, 1, 21)
    (q0, w0), (q1, w1) = motion(0.5), motion(0.5 + h)
    assert 1.0 < rot.angle_between(q0, q1) < 2.2
    q, w = rot.hermite(q0, w0, q1, w1, h, s)
    exact_q, exact_w = motion(0.5 + h * s)
    assert rot.angle_between(q, exact_q).max() < 0.05 and np.abs(w - exact_w).max() < 0.4


@pytest.mark.parametrize("h", [0.3, -0.3, 0.07, -0.11, 1 / 3, 0.49])
def test_hermite_is_exact_at_the_ends_and_continuous(h):
    (q0, w0), (q1, w1) = motion(0.7), motion(0.7 + h)
    for sign in (1, -1):
        q, w = rot.hermite(q0, w0, sign * q1, w1, h, [0.0, 1e-9, 1 - 1e-9, 1.0])
        assert np.array_equal(q[0], q0) and (np.array_equal(q[3], q1) or np.array_equal(q[3], -q1))
        assert np.array_equal(w[0], w0) and np.array_equal(w[3], w1)
        # and no jump of sign
        assert np.allclose(q[1], q[0], atol=1e-8) and np.allclose(q[2], q[3], atol=1e-8)
        assert np.allclose(w[1], w[0], atol=1e-7) and np.allclose(w[2], w[3], atol=1e-7)
        assert np.allclose(np.linalg.norm(q, axis=-1), 1, atol=1e-15)


def test_hermite_velocity_is_the_derivative_of_its_attitude():
    h, d, s = 0.8, 1e-5, np.linspace(0.05, 0.95, 13)
    (q0, w0), (q1, w1) = motion(0.2), motion(0.2 + h)
    ahead, behind = (rot.hermite(q0, w0, q1, w1, h, s + e)[0] for e in (d, -d))
    difference = rot.log(rot.qmul(behind * [-1, -1, -1, 1], ahead)) / (2 * d * h)
    assert np.allclose(rot.hermite(q0, w0, q1, w1, h, s)[1], difference, atol=1e-8)


@pytest.mark.parametrize("angle", [1e-300, 1e-12, 1e-4, 1.0, 3.0, math.pi, 4.0, 5.0])
@pytest.mark.parametrize("h", [1.0, -1.0])
def test_hermite_reproduces_a_steady_spin(angle, h):
    axis = np.array([2, -2, 1]) / 3
    w, s, q0 = angle * axis, np.linspace(0, 1, 9), random_quaternions(1)[0]
    q1 = rot.qmul(q0, rot.exp(h * w))  # beyond pi the velocities say which way round
    q, omega = rot.hermite(q0, w, q1, w, h, s)
    assert np.allclose(omega, w, rtol=1e-13, atol=1e-15)
    assert same(q, rot.qmul(q0, rot.exp(h * s[:, None] * w)), atol=3e-15)


def test_hermite_at_rest_and_at_any_turn():
    q0 = random_quaternions(1)[0]
    q, w = rot.hermite(q0, np.zeros(3), q0, np.zeros(3), 0.1, [0.0, 0.3, 1.0])
    assert np.array_equal(w, np.zeros((3, 3))) and same(q, np.broadcast_to(q0, (3, 4)), atol=2e-16)
    rng = np.random.default_rng(7)  # garbage in: finite, unit and exact at the ends all the same
    q0, q1 = random_quaternions(200, 8)[:, None], random_quaternions(200, 9)[:, None]
    w0, w1 = rng.normal(size=(200, 1, 3)) * 30, rng.normal(size=(200, 1, 3)) * 30
    q, w = rot.hermite(q0, w0, q1, w1, 1.0, np.linspace(0, 1, 7))
    assert np.isfinite(w).all() and np.allclose(np.linalg.norm(q, axis=-1), 1, atol=1e-14)
    assert same(q[:, -1], q1[:, 0]) and np.array_equal(w[:, -1], w1[:, 0])


def test_hermite_shapes():
    t = np.linspace(0, 1, 6)
    q, w = motion(t)
    one = rot.hermite(q[0], w[0], q[1], w[1], 0.2, 0.5)
    assert one[0].shape == (4,) and one[1].shape == (3,)
    # one fraction for each step
    each = rot.hermite(q[:-1], w[:-1], q[1:], w[1:], np.diff(t), np.full(5, 0.5))
    assert each[0].shape == (5, 4) and np.allclose(each[0][0], one[0], atol=1e-15)
    for bad in (0.0, [0.1, 0.0]):
        with pytest.raises(InputError, match=r"h must not be zero.*drop that step"):
            rot.hermite(q[0], w[0], q[1], w[1], bad, 0.5)
    with pytest.raises(InputError, match=r"omega1 must have 3 numbers"):
        rot.hermite(q[0], w[0], q[1], [1, 2], 0.1, 0.5)
