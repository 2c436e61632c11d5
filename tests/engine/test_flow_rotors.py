"""Flow of a body with rotors: what `integrate` gives, bit for bit."""

import pickle

import numpy as np
import pytest

import polhode
from polhode import Flow, InputError, RigidBody, Rotor, integrate
from polhode.core.jit import compiling

Q = tuple(polhode.rotations.as_quaternion((0.3, -0.2, 0.5)).tolist())
W, X, V = (0.4, -0.7, 1.5), (1.0, 0.5, -0.3), (0.1, 0.2, 2.0)
PLACE, SPAN = {"position0": X, "velocity0": V}, (0.25, 1.34)
SPEEDS = (20.0, -30.0, 5.0)
TILTED = [[2.0, 0.1, 0.0], [0.1, 3.0, 0.05], [0.0, 0.05, 4.5]]


def swing(t):
    return 0.3 * np.cos(2.0 * t)


ROTORS = [
    Rotor((0, 0.6, 0.8), 0.1, momentum=3.0),
    Rotor((1, 1, 0), 0.1, speed=30.0),
    Rotor((1, 0, 1), 0.2, torque=swing, damping=0.1),
]
BODY = RigidBody(TILTED, mass=2.0, rotors=ROTORS)
WHEEL = Rotor((0, 0, 1), 0.1, torque=0.05, speed=7.0)
PLAIN = RigidBody([2.0, 3.0, 4.5], mass=2.0, rotors=[WHEEL])


@polhode.load(params={"c": 3.0})
def spring(t, x, v, R, p):
    return -p.c * x, 0.1 * p.c * R[:, 2]


def end(body, torque, span, **options):
    """The end of a run, by part."""
    options = {"rotation0": Q, "omega0": W, "every": "end", **options}
    run = integrate(body, torque, span, **options)
    parts = run.quaternion, run.omega, run.position, run.velocity, run.rotor_speeds
    return [part[-1] for part in parts if part is not None]


def same(found, wanted):
    assert all(np.array_equal(*pair) for pair in zip(found, wanted, strict=True))


BY_STEP, BY_RTOL = {"step": 0.03, "method": "LP2"}, {"rtol": 1e-8}
BOTH = [BY_STEP, pytest.param(BY_RTOL, marks=pytest.mark.slow)]


@pytest.mark.parametrize("body, options", [(BODY, BY_STEP), (PLAIN, BY_RTOL), (PLAIN, BY_STEP)])
def test_on_the_ground(body, options):
    flow, n = Flow(body, None, **options), len(body.rotors)
    found = flow(Q, W, *SPAN)
    same(found, end(body, None, SPAN, **options))
    assert found._fields == ("attitude", "omega", "rotor_speeds") and len(found.rotor_speeds) == n
    given = {"rotor_speeds0": SPEEDS[:n]}
    found = flow(Q, W, *SPAN, **given)
    same(found, end(body, None, SPAN, **options, **given))
    back = flow(*found[:2], *SPAN[::-1], rotor_speeds0=found.rotor_speeds)
    start = dict(zip(("rotation0", "omega0", "rotor_speeds0"), found, strict=True))
    same(back, end(body, None, SPAN[::-1], **options, **start))
    # a rotation vector and whole numbers
    other = flow((0.1, 0.2, 0.3), W, *SPAN, rotor_speeds0=[20] * n)
    start = {"rotation0": (0.1, 0.2, 0.3), "rotor_speeds0": [20] * n}
    same(other, end(body, None, SPAN, **options, **start))


@pytest.mark.parametrize("options", BOTH)
def test_in_flight(options):
    flow = Flow(BODY, spring, **options)
    found = flow(Q, W, *SPAN, **PLACE)
    same(found, end(BODY, spring, SPAN, **options, **PLACE))
    assert found._fields[2:] == ("position", "velocity", "rotor_speeds")
    given = {"rotor_speeds0": SPEEDS, **PLACE}
    softer = spring.torque.with_params(c=2.0), spring.force.with_params(c=2.0)
    wanted = end(BODY, softer[0], SPAN, force=softer[1], **options, **given)
    same(flow(Q, W, *SPAN, **given, parameters={"spring.c": 2.0}), wanted)


@pytest.mark.parametrize("options", BOTH)
def test_many_states_and_times(options):
    flow = Flow(BODY, spring, **options)
    places, speeds = np.array([X, (0.0, 1.0, 2.0), (3.0, -1.0, 0.5)]), np.outer((1, 2, 3), SPEEDS)
    for given in ({}, {"rotor_speeds0": speeds}, {"rotor_speeds0": SPEEDS}):
        many = flow(Q, W, *SPAN, position0=places, velocity0=V, **given)
        assert many.rotor_speeds.shape == (3, 3)
        for i, place in enumerate(places):
            own = {name: np.atleast_2d(rows)[-3:][i % len(np.atleast_2d(rows))]
                   for name, rows in given.items()}  # fmt: skip
            alone = flow(Q, W, *SPAN, position0=place, velocity0=V, **own)
            same([part[i] for part in many], alone)
    times = [0.5, 1.0, 1.3]
    given = {"rotor_speeds0": SPEEDS, **PLACE}
    run = integrate(BODY, spring, SPAN, rotation0=Q, omega0=W, t_eval=times, **given, **options)
    found = flow(Q, W, *SPAN, **given, t_eval=times)
    same(found, (run.quaternion, run.omega, run.position, run.velocity, run.rotor_speeds))
    several = flow(Q, [W, W], *SPAN, **given, t_eval=times)
    assert np.array_equal(several.rotor_speeds[1], run.rotor_speeds)


BY_EXACT = {"step": 0.1, "method": "EXACT-RKN4"}


@pytest.mark.parametrize("options", [BY_STEP, pytest.param(BY_EXACT, marks=pytest.mark.slow)])
def test_inertia_of_a_call(options):
    """The axle lies along the axis of symmetry of one of these bodies, not of the others."""
    flow = Flow(PLAIN, None, **options)
    for moments in ([2.0, 2.5, 4.0], [2.0, 2.0, 3.0], [2.0, 3.0, 3.0]):
        body = RigidBody(moments, rotors=[WHEEL])
        same(flow(Q, W, *SPAN, inertia=moments), end(body, None, SPAN, **options))
    same(flow(Q, W, *SPAN), end(PLAIN, None, SPAN, **options))
    with pytest.raises(InputError, match="too heavy"):
        flow(Q, W, *SPAN, inertia=[0.09, 0.09, 0.09])
    flow, heavy = Flow(PLAIN, spring, **BY_STEP), RigidBody([2.0, 2.5, 4.0], mass=5.0)
    wanted = end(heavy.with_rotors([WHEEL]), spring, SPAN, **BY_STEP, **PLACE)
    same(flow(Q, W, *SPAN, **PLACE, inertia=heavy), wanted)


def test_momentum_of_body_and_rotors_is_kept():
    body = RigidBody(TILTED, rotors=[ROTORS[0], ROTORS[2]])
    found = Flow(body, None, step=0.01)(Q, W, 0.0, 5.0)
    before, after = (
        polhode.rotations.rotate(q, body.momentum(omega, speeds))
        for q, omega, speeds in ((np.array(Q), W, body.rotor_speeds(W)), found)
    )
    assert np.allclose(before, after, rtol=0.0, atol=1e-13)


@pytest.mark.compiled
@pytest.mark.parametrize("options", BOTH)
def test_from_inside_numba(options):
    import numba

    flow = Flow(BODY, spring, **options)
    advance = flow.compiled

    @numba.njit
    def mine(c):
        return advance(Q, W, X, V, (20, -30.0, 5.0), 0.25, 1.34, ((c,), (c,)))

    *motion, status = mine(2.0)
    wanted = flow(Q, W, *SPAN, **PLACE, rotor_speeds0=SPEEDS, parameters={"spring.c": 2.0})
    assert status == 0
    same(motion, wanted)
    turning = Flow(PLAIN, None, **options)
    *motion, status = turning.compiled(Q, W, (7.0,), *SPAN)
    assert status == 0
    same(motion, turning(Q, W, *SPAN))


def test_motors_that_change_or_run_in_python():
    level, seen = 0.3, []

    def motor(t):
        return level

    def watched(t):
        seen.append(t)
        return level

    flow = Flow(RigidBody(TILTED, rotors=[Rotor((0, 0, 1), 0.1, torque=motor)]), None, **BY_STEP)
    before, level = flow(Q, W, *SPAN), 0.6
    after = flow(Q, W, *SPAN)
    same(after, end(flow.body, None, SPAN, **BY_STEP))
    assert not np.array_equal(before.rotor_speeds, after.rotor_speeds)
    flow = Flow(RigidBody(TILTED, rotors=[Rotor((0, 0, 1), 0.1, torque=watched)]), None, **BY_STEP)
    same(flow(Q, W, *SPAN), end(flow.body, None, SPAN, **BY_STEP))
    assert seen
    if compiling():
        with pytest.raises(InputError, match="torque of a rotor 'watched' runs as Python"):
            flow.compiled  # noqa: B018


def test_it_is_pickled():
    flow = Flow(BODY, None, **BY_STEP)
    same(pickle.loads(pickle.dumps(flow))(Q, W, *SPAN), flow(Q, W, *SPAN))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda flow: flow(Q, W, 0.0, 1.0, rotor_speeds0=(1.0, 2.0)), ["(1,)", "shape (2,)"]),
        (lambda flow: flow(Q, W, 0.0, 1.0, rotor_speeds0=[np.nan]), ["rotor_speeds0", "finite"]),
        (lambda flow: flow(Q, [W, W], 0.0, 1.0, rotor_speeds0=[[1.0]] * 3), ["rotor_speeds0"]),
        (lambda flow: flow(Q, [W, W], 0.0, 1.0, rotor_speeds0=[[1.0, 2.0]]), ["(1,)", "(n, 1)"]),
        (lambda flow: flow(Q, W, 0.0, 1.0, position0=X), ["position0", "force="]),
        (lambda flow: Flow([1, 2, 2.5], step=0.1)(Q, W, 0.0, 1.0, rotor_speeds0=[1.0]),
         ["rotor_speeds0", "with_rotors"]),
        (lambda flow: Flow(PLAIN, None, "NMB", step=0.1), ["NMB cannot follow"]),
    ],
)  # fmt: skip
def test_bad_calls_are_refused_with_a_reason(call, words):
    with pytest.raises(InputError) as error:
        call(Flow(PLAIN, None, **BY_STEP))
    for word in words:
        assert word in str(error.value)
