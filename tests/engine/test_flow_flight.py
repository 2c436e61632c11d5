"""Flow and Stepper in flight: what `integrate` gives, bit for bit."""

import pickle

import numpy as np
import pytest

import polhode
from polhode import Flow, InputError, PolhodeError, RigidBody, Stepper, integrate
from polhode.core.jit import compiling
from polhode.loads.force import Force, weight
from polhode.methods import everything

Q = tuple(polhode.rotations.as_quaternion((0.3, -0.2, 0.5)).tolist())
W, X, V = (0.4, -0.7, 1.5), (1.0, 0.5, -0.3), (0.1, 0.2, 2.0)
BODY = RigidBody([2.0, 3.0, 4.5], mass=2.0)
TURN = polhode.rotations.matrices(polhode.rotations.exp([0.3, -0.4, 0.2]))
TILTED = RigidBody(TURN @ np.diag([2.0, 3.0, 4.5]) @ TURN.T, mass=2.0)
SPAN = (0.25, 1.34)


@polhode.torque(uses_position=True, form="tuple", params={"k": 0.3})
def twist(t, R, x, v, p):
    return (p.k * x[1] * R[2][0], -p.k * x[0], 0.1 * v[2])


def pull(t, x, v, R, p):
    return (-p.c * x[0] - 0.1 * v[0], -p.c * x[1] + 0.2 * R[0][0], -p.c * x[2] - 1.0)


SPRING = Force(pull, form="tuple", params={"c": 3.0}, name="spring")
PLACE = {"position0": X, "velocity0": V}


def end(body, torque, force, span, method=None, **options):
    """The end of a run."""
    options = {"rotation0": Q, "omega0": W, **PLACE, "every": "end", **options}
    run = integrate(body, torque, span, method=method, force=force, **options)
    return run.quaternion[-1], run.omega[-1], run.position[-1], run.velocity[-1]


def same(found, wanted):
    assert all(np.array_equal(*pair) for pair in zip(found, wanted, strict=True))


CASES = [
    (BODY, "LP2", {"step": 0.03}),
    (TILTED, "NMB", {"step": 0.03}),
    (BODY, "EXACT-RKN4", {"step": 0.1}),
    (TILTED, None, {"rtol": 1e-9}),
]


@pytest.mark.parametrize("body, method, options", CASES)
def test_bit_for_bit_what_integrate_gives(body, method, options):
    flow = Flow(body, twist, method, force=SPRING, **options)
    wanted = end(body, twist, SPRING, SPAN, method, **options)
    found = flow(Q, W, *SPAN, **PLACE)
    same(found, wanted)
    assert np.array_equal(found.position, wanted[2]) and found._fields[2:] == (
        "position",
        "velocity",
    )
    back = {
        "rotation0": wanted[0],
        "omega0": wanted[1],
        "position0": wanted[2],
        "velocity0": wanted[3],
    }
    same(
        flow(*found[:2], *SPAN[::-1], position0=found.position, velocity0=found.velocity),
        end(body, twist, SPRING, SPAN[::-1], method, **options, **back),
    )  # fmt: skip
    # a rotation vector, whole numbers, and nothing for zero
    wanted = end(body, twist, SPRING, SPAN, method, **options, rotation0=(0.1, 0.2, 0.3), velocity0=None,
                 position0=(1, 0, 2))  # fmt: skip
    same(flow((0.1, 0.2, 0.3), W, *SPAN, position0=[1, 0, 2]), wanted)


@pytest.mark.parametrize("options", [{"step": 0.03, "method": "LP2"}, {"rtol": 1e-8}])
def test_parameters_masses_states_and_times_of_a_call(options):
    flow = Flow(BODY, twist, force=SPRING, **options)
    torque, force = twist.with_params(k=0.5), SPRING.with_params(c=2.0)
    wanted = end(BODY, torque, force, SPAN, **options)
    same(flow(Q, W, *SPAN, **PLACE, parameters={"k": 0.5, "spring.c": 2.0}), wanted)
    heavy = RigidBody([2.0, 2.5, 4.0], mass=5.0)
    same(flow(Q, W, *SPAN, **PLACE, inertia=heavy), end(heavy, twist, SPRING, SPAN, **options))
    light = RigidBody([2.0, 2.5, 4.0], mass=2.0)
    found = flow(Q, W, *SPAN, **PLACE, inertia=(2.0, 2.5, 4.0))
    same(found, end(light, twist, SPRING, SPAN, **options))
    places = np.array([X, (0.0, 1.0, 2.0), (3.0, -1.0, 0.5)])
    many = flow(Q, W, *SPAN, position0=places, velocity0=V, parameters={"c": 2.0}, inertia=heavy)
    for i, place in enumerate(places):
        wanted = end(heavy, twist, force, SPAN, **options, position0=place)
        same([part[i] for part in many], wanted)
    times = [0.5, 1.0, 1.3]
    run = integrate(BODY, twist, SPAN, force=SPRING, rotation0=Q, omega0=W, t_eval=times, **PLACE,
                    **options)  # fmt: skip
    found = flow(Q, W, *SPAN, **PLACE, t_eval=times)
    same(found, (run.quaternion, run.omega, run.position, run.velocity))
    several = flow(Q, [W, W], *SPAN, **PLACE, t_eval=times)
    assert several.position.shape == (2, 3, 3) and np.array_equal(several.position[1], run.position)


@pytest.mark.compiled
@pytest.mark.parametrize("options", [{"step": 0.03, "method": "LP2"}, {"rtol": 1e-8}])
def test_from_inside_numba(options):
    import numba

    flow = Flow(TILTED, twist, force=SPRING, **options)
    advance = flow.compiled

    @numba.njit
    def mine(k):
        q, omega, x, v, status = advance(Q, W, X, V, 0.25, 1.34, ((k,), (2.0,)))
        return q, omega, x, v, status

    *motion, status = mine(0.5)
    wanted = flow(Q, W, *SPAN, **PLACE, parameters={"k": 0.5, "c": 2.0})
    assert status == 0
    same(motion, wanted)
    same(advance(Q, W, X, V, *SPAN)[:4], flow(Q, W, *SPAN, **PLACE))


def test_a_load_and_its_parameters():
    pulled = polhode.flight.spring(3.0, point=(0.1, 0.2, 0.3))
    flow = Flow(BODY, pulled, step=0.03, force=weight(2.0))
    same(flow(Q, W, *SPAN, **PLACE), end(BODY, pulled, weight(2.0), SPAN, step=0.03))
    softer = polhode.flight.spring(2.0, point=(0.1, 0.2, 0.3))
    found = flow(Q, W, *SPAN, **PLACE, parameters={"stiffness": 2.0})
    same(found, end(BODY, softer, weight(2.0), SPAN, step=0.03))


@pytest.mark.slow
def test_by_taylor_series():
    pulled = polhode.flight.spring(3.0, point=(0.1, 0.2, 0.3))
    flow = Flow(BODY, pulled, "taylor", rtol=1e-9)
    same(flow(Q, W, *SPAN, **PLACE), end(BODY, pulled, None, SPAN, "taylor", rtol=1e-9))
    many = flow(Q, [W, (0.1, 0.2, 0.3)], *SPAN, **PLACE)
    same([part[0] for part in many], flow(Q, W, *SPAN, **PLACE))


def test_parameters_of_a_load_in_python():
    seen = []

    @polhode.load(params={"k": 3.0})
    def pulled(t, x, v, R, p):
        seen.append(t)
        return -p.k * x, 0.1 * p.k * x

    @polhode.load(params={"k": 2.0})
    def softer(t, x, v, R, p):
        return -p.k * x, 0.1 * p.k * x

    flow = Flow(BODY, pulled, step=0.03)
    found = flow(Q, W, *SPAN, **PLACE, parameters={"k": 2.0})
    for one, other in zip(found, end(BODY, softer, None, SPAN, step=0.03), strict=True):
        assert np.allclose(one, other, rtol=0.0, atol=1e-14)
    assert seen


def test_a_force_in_python_goes_through_integrate():
    seen = []

    def watched(t, x, v, R):
        seen.append(t)
        return -3.0 * x

    flow = Flow(BODY, None, step=0.03, force=watched)
    same(flow(Q, W, *SPAN, **PLACE), end(BODY, None, watched, SPAN, step=0.03))
    assert seen
    if compiling():
        with pytest.raises(InputError, match="force 'watched' runs as Python"):
            flow.compiled  # noqa: B018


def test_a_flow_in_flight_is_pickled_and_shown():
    flow = Flow(BODY, None, step=0.03, force=weight(2.0))
    assert "force weight" in repr(flow) and flow.force.name == "weight"
    again = pickle.loads(pickle.dumps(flow))
    same(again(Q, W, *SPAN, **PLACE), flow(Q, W, *SPAN, **PLACE))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda flow: Flow(BODY, step=0.1)(Q, W, 0.0, 1.0, position0=X), ["position0", "force="]),
        (lambda flow: flow(Q, W, 0.0, 1.0, position0=(1.0, 2.0)), ["position0", "three"]),
        (lambda flow: flow(Q, W, 0.0, 1.0, velocity0=(1.0, np.nan, 2.0)), ["velocity0", "finite"]),
        (
            lambda flow: flow(Q, [W, W], 0.0, 1.0, position0=np.ones((3, 3))),
            ["position0", "omega0"],
        ),
        (lambda flow: flow(Q, W, 0.0, 1.0, parameters=(1.0,)), ["torque and force", "dict"]),
        (lambda flow: flow(Q, W, 0.0, 1.0, parameters={"d": 1.0}), ["'d'", "'c'"]),
        (lambda flow: Flow(BODY, twist, "CF4", step=0.1, force=SPRING), ["CF4", "position"]),
    ],
)
def test_bad_calls_are_refused_with_a_reason(call, words):
    with pytest.raises(PolhodeError) as error:
        call(Flow(BODY, twist, step=0.03, force=SPRING))
    for word in words:
        assert word in str(error.value)


# --- Stepper --------------------------------------------------------------------------------------

FLYING = [one.name for one in everything() if one.flight is not None]
QUICK = ["LP2", "EXACT-RKN4", "DOP853"]


@pytest.mark.parametrize(
    "method",
    [*QUICK, "NMB", *(pytest.param(one, marks=pytest.mark.slow) for one in FLYING if one not in QUICK)],
)  # fmt: skip
def test_a_stepper_by_steps_of_any_size(method):
    times = np.array([0.25, 0.28, 0.33, 0.34, 0.4])
    start = {"rotation0": Q, "omega0": W, **PLACE}
    run = integrate(BODY, twist, None, times, method, force=SPRING, **start)
    one = Stepper(BODY, twist, step=0.03, t=0.25, method=method, force=SPRING, **start)
    for h in np.diff(times).tolist():
        one.step(dt=h)
    assert np.allclose(one.position, run.position[-1], rtol=0.0, atol=1e-14)
    assert np.allclose(one.quaternion, run.quaternion[-1], rtol=0.0, atol=1e-14)
    even = integrate(BODY, twist, (0.25, 0.55), 0.03, method, force=SPRING, **start)
    other = Stepper(BODY, twist, step=0.03, t=0.25, method=method, force=SPRING, **start)
    other.step(10)
    same((other.position, other.velocity, other.omega),
         (even.position[-1], even.velocity[-1], even.omega[-1]))  # fmt: skip
