"""Numbers at the ends of the range, the same numbers on every run, and numbers after very many
steps.

Units are the user's: moments and torques times a, or a clock that runs c times as fast, describe
the same motion.  With powers of two nothing is rounded on the way, and every bit of the result must
agree, unless arithmetic has left the range somewhere.
"""

import dataclasses
import importlib.util
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest

from polhode import (
    InputError,
    IntegrationError,
    RigidBody,
    Stepper,
    ensemble,
    exact,
    integrate,
    problems,
    rotations,
    torques,
)
from polhode.support import limits
from polhode.core.jit import jit
from polhode.core.vec import qmul
from polhode.methods import everything, get

LONG = "MR.-(123|132|213|312|321)|taylor[1256]|DMV[48]"  # like others; left to the long run
METHODS = [
    pytest.param(name, marks=pytest.mark.slow) if re.search(LONG, name) else name
    for name in [
        *(method.name for method in everything()),
        "LP2+ep",
        "NMB+ep",
        "LP2+suzuki4",
        "LP2+kahanli10",
    ]
]
MOMENTS, OMEGA, STEP, COUNT = (1.0, 2.0, 2.5), (0.3, 1.1, -0.4), 1 / 16, 8
# adds a velocity and an angle, as its author's program did: another clock, another result
DIMENSIONS = {"SW-buss"}


def scaled_run(method, a, b, driven, **options):
    """Attitude and velocity after a few steps, of moments times 2^a by a clock times 2^-b, velocity
    in the old units."""
    h = math.ldexp(STEP, -b)
    torque = torques.heavy_top(math.ldexp(1.0, a + 2 * b), (0.0, 0.3, 1.0)) if driven else None
    steps = {"step": h} if "rtol" not in options else {}
    run = integrate(
        np.ldexp(MOMENTS, a),
        torque,
        (0.0, COUNT * h),
        method=method,
        omega0=np.ldexp(OMEGA, b),
        every="end",
        compiled=False,
        **steps,
        **options,
    )
    assert run.status == "finished"
    return np.concatenate([run.quaternion[-1], np.ldexp(run.omega[-1], -b)])


@pytest.mark.parametrize("method", METHODS)
def test_units_leave_no_trace_within_the_limits(method):
    corners = (
        [(164, 0), (-164, 0)]
        if method in DIMENSIONS
        else [(164, 82), (164, -82), (-164, 82), (-164, -82)]
    )
    for driven in (False, True):
        plain = scaled_run(method, 0, 0, driven)
        for a, b in corners:
            assert np.array_equal(scaled_run(method, a, b, driven), plain), (a, b, driven)


def test_the_corners_are_those_of_the_limits():
    """No power of two further out is within them."""
    assert math.ldexp(2.5, 164) <= limits.LARGEST_MOMENT < math.ldexp(2.5, 165)
    assert math.ldexp(1.0, -165) >= limits.LEAST_MOMENT > math.ldexp(1.0, -167)
    assert (
        math.ldexp(1.1, 82) <= limits.LARGEST_RATE < math.ldexp(1.1, 83)
        and math.ldexp(1.0, 83) <= limits.LARGEST_TIME
    )


SLOW = [  # moments, omega, step
    (MOMENTS, (5e-324, -1e-310, 1e-200), 0.1),
    ((1e-50, 2e-50, 2.5e-50), (1e-110, 5e-324, -2e-110), 0.1),
    (MOMENTS, OMEGA, 1e-300),
    (MOMENTS, (0.0, 1e-200, 0.0), 1e20),
]


@pytest.mark.parametrize("method", METHODS)
def test_a_body_that_turns_less_than_a_double_shows_stays(method):
    for moments, omega, step in SLOW:
        # Python says aloud what machine code does in silence: a square too small to see
        with np.errstate(all="ignore"):
            run = integrate(
                moments, None, (0.0, 3 * step), step, method, omega0=omega, compiled=False
            )
        assert run.status == "finished" and np.all(np.diff(run.t) > 0)
        assert (
            np.abs(run.quaternion[:, :3]).max() < 1e-100
            and np.abs(run.quaternion[:, 3] - 1.0).max() < 1e-15
        )
        assert np.abs(run.omega - omega).max() <= 1e-15 * np.abs(omega).max() + 1e-300


@pytest.mark.parametrize("method, b", [("DP5", 82), ("DOP853", 82), ("taylor", 40)])
def test_runs_by_tolerance_keep_it_in_any_units(method, b):
    plain = scaled_run(method, 0, 0, True, rtol=1e-13)
    with np.errstate(all="ignore"):
        for a, clock in ((164, b), (164, -b), (-164, b), (-164, -b)):
            assert np.abs(scaled_run(method, a, clock, True, rtol=1e-9) - plain).max() < 1e-9


def test_taylor_series_beyond_their_range_keep_the_tolerance_or_say_so():
    """Twenty derivatives of a velocity of 1e24 are beyond a double."""
    plain = scaled_run("taylor", 0, 0, True, rtol=1e-9)
    with np.errstate(all="ignore"):
        assert np.abs(scaled_run("taylor", 0, -82, True, rtol=1e-9) - plain).max() < 1e-8
        with pytest.raises(IntegrationError, match="cannot continue"):
            scaled_run("taylor", 0, 82, True, rtol=1e-9)


GOOD = {"body": MOMENTS, "t_span": (0.0, 1.0), "step": 0.1, "omega0": OMEGA}
BEYOND = [
    (
        {"body": np.array(MOMENTS) * 1e150},
        "moments must lie between 1e-50 and 1e\\+50, .* got 1e\\+150; choose other units",
    ),
    ({"body": np.array(MOMENTS) * 1e-150}, "moments must lie between"),
    ({"body": [1e-320, 1e-320, 1e-320]}, "moments must lie between"),
    (
        {"omega0": (0.0, 1e150, 0.0)},
        "omega0 must be at most 1e\\+25 in size, .* got 1e\\+150; choose another unit of time",
    ),
    (
        {"omega0": None, "momentum0": (1e300, 0.0, 0.0), "body": (1e-50, 1e-50, 1e-50)},
        "of momentum0 must be at most",
    ),
    ({"t_span": (0.0, 1e150), "step": 1e149}, "t_span must lie within"),
    ({"t_span": (1e17, 1e17 + 64.0), "step": 1.0}, "smaller than the rounding of times"),
    (
        {"t_span": (0.0, 5e-323), "step": 5e-324},
        "step must be at least 1e-300 and at most 1e\\+25 in size, got 5e-324",
    ),
    (
        {"step": [0.0, 1e-310], "t_span": None},
        "shortest step of an array of times must be at least",
    ),
    ({"t_span": (0.0, 1.0), "step": 1e-300}, "more than a double can distinguish"),
    ({"step": [0.0, 1e30], "t_span": None}, "array of times must lie within"),
]


@pytest.mark.parametrize("change, words", BEYOND)
def test_beyond_the_limits_is_refused_with_the_range_and_the_fix(change, words):
    with pytest.raises(InputError, match=words):
        integrate(**GOOD | change)
    if "step" not in change and "t_span" not in change:
        given = {**GOOD, **change}
        body, start = (
            given.pop("body"),
            {key: given[key] for key in ("omega0", "momentum0") if key in given},
        )
        for call in (
            lambda: Stepper(body, step=0.1, **start),
            lambda: exact.reference(body, [0.0, 1.0], **start),
            lambda: ensemble(body, t_span=(0, 1), step=0.1, **start),
            lambda: ensemble(np.array([body, body]), t_span=(0, 1), step=0.1, **start),
            lambda: integrate(body, t_span=(0, 1), rtol=1e-6, **start),
        ):
            with pytest.raises(InputError, match=words):
                call()


@jit
def _loses_itself(h, t, s, body, torque, p):
    bad = math.nan if t > 0.45 else 0.0
    return s._replace(q=qmul(s.q, (bad, 0.0, 0.0, 1.0)))


def test_an_attitude_that_is_not_a_number_ends_the_run():
    """The velocity need not notice it."""
    method = dataclasses.replace(get("DP5"), name="loses itself", step=_loses_itself)
    run = integrate(MOMENTS, t_span=(0, 1), step=0.1, omega0=OMEGA, method=method, compiled=False)
    assert (
        run.status == "blow-up"
        and np.isfinite(run.quaternion).all()
        and run.t[-1] == pytest.approx(0.5)
    )


# --- exact solutions ------------------------------------------------------------------------------


@pytest.mark.parametrize("moments", [MOMENTS, (1.0, 1.0, 2.0), (2.0, 2.0, 2.0)])
def test_free_motion_in_any_units(moments):
    t = np.array([0.0, 1.0, 7.0])
    plain, turns = exact.free_body(moments, None, OMEGA, t), exact.periods(moments, OMEGA)
    for a, b in (
        (500, 500),
        (-500, -500),
        (500, -500),
        (-500, 500),
        (0, 900),
        (0, -900),
        (900, 0),
        (-900, 0),
    ):
        I, omega = np.ldexp(moments, a), np.ldexp(OMEGA, b)
        moved, periods = exact.free_body(I, None, omega, np.ldexp(t, -b)), exact.periods(I, omega)
        assert np.array_equal(moved.quaternion, plain.quaternion) and np.array_equal(
            np.ldexp(moved.omega, -b), plain.omega
        )
        assert (
            np.ldexp(periods.polhode, b) == turns.polhode
            and np.ldexp(periods.precession_rate, -b) == turns.precession_rate
        )
        if abs(a + b) < 1000:
            given = exact.free_body(
                I,
                None,
                None,
                np.ldexp(t, -b),
                momentum0=np.ldexp(np.multiply(moments, OMEGA), a + b),
            )
            assert rotations.angle_between(given.quaternion, plain.quaternion).max() < 1e-14


def test_free_motion_at_the_ends_of_the_range():
    slow = np.array([5e-324, 0.0, 1e-310])
    motion = exact.free_body(MOMENTS, None, slow, [1.0, 1e10])
    assert np.abs(motion.quaternion[1, :3] - 0.5e10 * slow).max() < 1e-312 and np.array_equal(
        motion.omega, [slow, slow]
    )
    for omega, t, words in (
        (OMEGA, 1e20, "t = 1e\\+20 is too far away"),
        (OMEGA, 1e300, "too far away"),
        ((1e308, 0, 0), 1e-308, "above 1e300"),
        (np.multiply(OMEGA, 1e299), 0.0, "beyond the range"),
    ):
        moments = np.multiply(MOMENTS, 1e20) if words == "beyond the range" else MOMENTS
        with pytest.raises(InputError, match=words):
            exact.free_body(moments, None, omega, t)


def test_the_heavy_top_in_any_units_and_with_hardly_any_weight():
    start, t = [0.3, 0.0, 0.0], np.array([0.0, 1.0, 10.0])
    plain = exact.lagrange_top([5.0, 5.0, 1.0], 20.0, start, [0.0, 0.0, 50.0], t)
    for a, b in ((500, 200), (-500, -200), (0, 300), (0, -300)):
        moments, omega = np.ldexp([5.0, 5.0, 1.0], a), np.ldexp([0.0, 0.0, 50.0], b)
        moved = exact.lagrange_top(
            moments, math.ldexp(20.0, a + 2 * b), start, omega, np.ldexp(t, -b)
        )
        assert np.abs(moved.quaternion - plain.quaternion).max() < 1e-15
    for omega in ([0.0, 0.0, 50.0], OMEGA):
        free = exact.free_body([5.0, 5.0, 1.0], start, omega, t)
        for weight in (1e-30, 1e-49, 1e-60, 1e-150, 1e-300, 5e-324):
            top = exact.lagrange_top([5.0, 5.0, 1.0], weight, start, omega, t)
            assert rotations.angle_between(top.quaternion, free.quaternion).max() < 1e-15
    with pytest.raises(InputError, match="too far away"):
        exact.lagrange_top([5.0, 5.0, 1.0], 1e300, start, [0.0, 0.0, 50.0], 10.0)


@pytest.mark.parametrize(
    "make",
    [
        RigidBody.box,
        RigidBody.ellipsoid,
        lambda a, b, c, **m: RigidBody.cylinder(a, c, **m),
        lambda a, b, c, **m: RigidBody.sphere(b, **m),
    ],
)
def test_bodies_of_any_size_have_their_moments_or_an_error(make):
    plain = make(1.0, 2.0, 3.0, mass=1.0).moments
    for e in (-530, -500, -300, 0, 300, 500, 530):
        for m in (-1000, -500, 0, 500, 1000):
            size = np.ldexp([1.0, 2.0, 3.0], e)
            if abs(2 * e + m) < 1000 and abs(2 * e) < 1000:
                assert np.allclose(
                    make(*size, mass=math.ldexp(1.0, m)).moments,
                    np.ldexp(plain, 2 * e + m),
                    rtol=4e-16,
                    atol=0,
                )
            elif abs(2 * e + m) > 1100:
                with pytest.raises(InputError, match="beyond the range of float64"):
                    make(*size, mass=math.ldexp(1.0, m))


# --- the reference --------------------------------------------------------------------------------


def test_the_reference_knows_its_error_on_the_papers_exact_problems():
    for name in ("krysl/lagrange-top", "buss/prism"):  # the others are in test_exact_top.py
        p = problems.get(name)
        times = np.linspace(*p.t_span, 5)
        found = exact.reference(p, times)
        if name == "buss/prism":
            known = exact.free_body(p.body, p.rotation0, p.omega0, times)
        else:
            known = exact.lagrange_top(
                p.body, p.torque().params.moment, p.rotation0, p.omega0, times
            )
        error = rotations.angle_between(found.quaternion, known.quaternion)
        assert np.all(error <= 3 * found.error) and found.error.max() < 1e-11


def test_the_reference_against_thirty_digits():
    """A triaxial body on a slanting arm, weighed and damped, by mpmath's Taylor series."""
    damping, weight, arm = 0.2, 1.5, (0.2, -0.3, 0.9)
    top = torques.heavy_top(weight, arm)
    torque = torques.damping(damping) + top
    found = exact.reference(MOMENTS, [0.0, 0.5, 1.0], torque=torque, omega0=OMEGA)
    with mpmath.workdps(30):
        I, r = [mpmath.mpf(x) for x in MOMENTS], [mpmath.mpf(x) for x in top.params.arm]

        def slope(t, y):
            x, y_, z, s, a, b, c = y
            up = 2 * (x * z - y_ * s), 2 * (y_ * z + x * s), 1 - 2 * (x * x + y_ * y_)  # R^T e_z
            T = [
                -weight * (r[1] * up[2] - r[2] * up[1]) - mpmath.mpf(damping) * a,
                -weight * (r[2] * up[0] - r[0] * up[2]) - mpmath.mpf(damping) * b,
                -weight * (r[0] * up[1] - r[1] * up[0]) - mpmath.mpf(damping) * c,
            ]
            return [
                (s * a + y_ * c - z * b) / 2,
                (s * b + z * a - x * c) / 2,
                (s * c + x * b - y_ * a) / 2,
                -(x * a + y_ * b + z * c) / 2,
                (T[0] + (I[1] - I[2]) * b * c) / I[0],
                (T[1] + (I[2] - I[0]) * c * a) / I[1],
                (T[2] + (I[0] - I[1]) * a * b) / I[2],
            ]

        solution = mpmath.odefun(
            slope, 0, [0, 0, 0, 1, *map(mpmath.mpf, OMEGA)], tol=mpmath.mpf(10) ** -22
        )
        for k, t in ((1, 0.5), (2, 1.0)):
            known = np.array([float(x) for x in solution(mpmath.mpf(t))])
            assert rotations.angle_between(found.quaternion[k], known[:4]) < 1e-14
            assert np.abs(found.omega[k] - known[4:]).max() < 1e-14 and found.error[k] < 1e-13


# --- the same on every run ------------------------------------------------------------------------

SAME = """
import hashlib, numpy as np
from polhode import ensemble, integrate, problems
h = hashlib.sha256()
p = problems.get("krysl/slow-top")
for run in (p.integrate("NMB", t_span=(0, 2)), p.integrate("LP2", t_span=(0, 2)), p.integrate(rtol=1e-9, t_span=(0, 2))):
    h.update(run.quaternion.tobytes() + run.omega.tobytes())
bodies = np.random.default_rng(3).uniform(1.0, 1.9, (301, 3))
ends = [ensemble(bodies, p.torque(), t_span=(0, 2), step=0.05, method=method, rotation0="random", omega0=(0, 1, 9), rng=7,
                 threads=threads) for method in ("NMB", "LP2") for threads in (1, 2, 3)]
for k in (0, 3):
    for one in ends[k:k + 3]:
        assert np.array_equal(one.quaternion, ends[k].quaternion) and np.array_equal(one.omega, ends[k].omega)
    h.update(ends[k].quaternion.tobytes() + ends[k].omega.tobytes())
print(h.hexdigest())
"""


def test_fresh_processes_and_any_number_of_threads_give_the_same_bits():
    def digest(seed, threads):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "OMP_NUM_THREADS": threads,
            "NUMBA_NUM_THREADS": threads,
        }
        done = subprocess.run(
            [sys.executable, "-c", SAME],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    first = digest("1", "1")
    assert len(first) == 64 and digest("2", "3") == first


# --- very many steps ------------------------------------------------------------------------------


def benchmark(name):
    """A file of benchmarks/ as a module."""
    spec = importlib.util.spec_from_file_location(
        name, Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


momentum = benchmark("momentum")
KINDS = (
    "LP2",
    "MR2-231-cay",
    "EXACT",
    "EXACT-RKN4",
    "AKW",
    "LIEMID[I]",
    "VLV",
    "DMV6+att",
    "SW",
    "taylor4",
)
KEEP = [
    name if name in KINDS else pytest.param(name, marks=pytest.mark.slow)
    for name in momentum.names()
]


@pytest.mark.parametrize("method", KEEP)
def test_rounding_does_not_add_up_in_the_momentum(method):
    """A free body's |Pi| strays by no more than a random walk, sqrt(N) eps."""
    steps = 10**5
    assert momentum.double(method, steps)[0] < np.sqrt(steps) * np.finfo(float).eps


@pytest.mark.slow
@pytest.mark.parametrize("method", momentum.names())
def test_rounding_does_not_add_up_in_very_many_steps(method):
    assert momentum.double(method, 10**8)[0] < 1e4 * np.finfo(float).eps
    assert momentum.single(method, 10**6) < 1e3 * np.finfo(np.float32).eps


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["MR2-231-cay", "EXACT", "LP2"])
def test_rounding_does_not_add_up_in_single_precision(method):
    steps = 10**5
    assert momentum.single(method, steps) < np.sqrt(steps) * np.finfo(np.float32).eps


@pytest.mark.parametrize("steps", [10**5, pytest.param(10**8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["LP2", "NMB"])
def test_long_runs_stay_on_the_group(method, steps):
    rows = benchmark("long_run").follow(method, steps)
    assert rows[-1]["steps"] == steps
    assert (
        max(row["length"] for row in rows) < 4e-16
        and max(row["orthogonality"] for row in rows) < 4e-15
    )
    early = max(row["energy"] for row in rows if row["steps"] <= 10**4)
    assert max(row["energy"] for row in rows) < 1.5 * early  # it swings, and does not drift
    # which keeps the vertical momentum: what is left is the bias of rounding, a hundredth of it per
    # step
    if method == "LP2":
        assert rows[-1]["momentum"] < 1e-12 + 1e-18 * steps
