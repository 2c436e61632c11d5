"""Flow: what was prepared once gives, call after call, what `integrate` gives."""

import signal
import subprocess
import sys

import numpy as np
import pytest

import polhode
from polhode import Flow, InputError, IntegrationError, TorqueError, integrate, torques

Q = tuple(polhode.rotations.as_quaternion((0.3, -0.2, 0.5)).tolist())
W = (0.4, -0.7, 5.0)
TENSOR = np.array([[5.0, 0.1, 0.2], [0.1, 4.0, 0.3], [0.2, 0.3, 3.0]])
TOP = torques.heavy_top(20.0)


@polhode.torque(frame="body", params={"k": 0.1}, uses_omega=True, form="tuple")
def drag(t, R, omega, p):
    return (-p.k * omega[0], -p.k * omega[1], -p.k * omega[2])


def weight(t, R):
    return -20.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))


def end(body, torque, span, method=None, **options):
    """The end of a run."""
    options |= {} if method is None else {"method": method}
    run = integrate(body, torque, span, **{"rotation0": Q, "omega0": W, "every": "end"} | options)
    return run.quaternion[-1], run.omega[-1]


def same(found, wanted):
    assert np.array_equal(found[0], wanted[0]) and np.array_equal(found[1], wanted[1])


CASES = [
    ([5.0, 4.0, 2.0], TOP, "LP2", {"step": 0.03}),
    ([5.0, 5.0, 1.0], weight, "EXACT-RKN4", {"step": 0.12}),
    ([5.0, 4.0, 2.0], TOP + drag, "NMB", {"step": 0.05}),
    ([5.0, 4.0, 2.0], None, "SW", {"step": 0.07}),
    (TENSOR, TOP, "LP2", {"step": 0.03}),
    (TENSOR, TOP + drag, "DOP853", {"rtol": 1e-8}),
    ([5.0, 5.0, 1.0], TOP, "DOP853", {"rtol": 1e-6, "atol": 1e-9, "max_step": 0.3}),
    ([5.0, 5.0, 1.0], TOP, "taylor", {"rtol": 1e-9}),
]


@pytest.mark.parametrize("body, torque, method, options", CASES)
def test_bit_for_bit_what_integrate_gives(body, torque, method, options):
    flow = Flow(body, torque, method, **options)
    for span in ((0.0, 3.0), (3.0, 0.0), (0.25, 2.34), (-1.0, 0.7)):
        same(flow(Q, W, *span), end(body, torque, span, method, **options))
    chained = flow(*flow(Q, W, 0.0, 1.0), 1.0, 2.5)
    first = end(body, torque, (0.0, 1.0), method, **options)
    start = {"rotation0": first[0], "omega0": first[1]}
    same(chained, end(body, torque, (1.0, 2.5), method, **options, **start))


def test_attitudes_and_numbers_in_any_form():
    flow = Flow([5.0, 4.0, 2.0], TOP, step=0.03)
    wanted = flow(Q, W, 0.0, 3.0)
    rotation = polhode.rotations.as_rotation(np.array(Q))
    for attitude in (list(Q), np.array(Q), rotation):
        same(flow(attitude, np.array(W), 0, 3), wanted)
    vector, matrix = (0.3, -0.2, 0.5), rotation.as_matrix()
    for attitude in (vector, matrix, None):
        span = (0.0, 3.0)
        same(
            flow(attitude, W, *span),
            end([5.0, 4.0, 2.0], TOP, span, "LP2", step=0.03, rotation0=attitude),
        )
    off = tuple((1.0 + 1e-9) * x for x in Q)
    same(
        flow(off, W, 0.0, 3.0),
        end([5.0, 4.0, 2.0], TOP, (0.0, 3.0), "LP2", step=0.03, rotation0=off),
    )


@pytest.mark.parametrize(
    "method, options", [("EXACT-RKN4", {"step": 0.12}), ("DOP853", {"rtol": 1e-8})]
)
def test_parameters_and_inertia_of_a_call(method, options):
    flow, span = Flow([5.0, 5.0, 1.0], TOP, method, **options), (0.0, 2.0)
    for moment in (18.0, 21):
        wanted = end([5.0, 5.0, 1.0], torques.heavy_top(moment), span, method, **options)
        same(flow(Q, W, *span, parameters={"moment": moment}), wanted)
        same(flow(Q, W, *span, parameters=(moment,)), wanted)
    for inertia in ([5.0, 4.0, 2.0], (2.0, 3.0, 3.0), np.array([4.0, 4.0, 1.0]), [1.0, 1.0, 1.0]):
        same(flow(Q, W, *span, inertia=inertia), end(inertia, TOP, span, method, **options))
    same(flow(Q, W, *span), end([5.0, 5.0, 1.0], TOP, span, method, **options))


def test_parameters_of_a_sum():
    flow, span = Flow(TENSOR, TOP + drag, "LP2", step=0.05), (0.0, 2.0)
    changed = torques.heavy_top(18.0) + drag.with_params(k=0.3)
    wanted = end(TENSOR, changed, span, "LP2", step=0.05)
    same(flow(Q, W, *span, parameters={"heavy_top.moment": 18.0, "k": 0.3}), wanted)


@pytest.mark.parametrize("options", [{"step": 0.1, "method": "LP2"}, {"rtol": 1e-8}])
def test_parameters_with_which_whole_numbers_overflow(options):
    """Python's whole numbers have no end, machine code's have 64 bits."""

    @polhode.torque(frame="body", form="tuple", params={"n": 3.0})
    def powers(t, R, p):
        return (1e-21 * 2 ** int(p.n), 0.0, 0.0)

    flow, span = Flow([5.0, 4.0, 2.0], powers, **options), (0.0, 1.0)
    for n in (3.0, 40.0, 70.0, 50.0, 69.0):
        wanted = end([5.0, 4.0, 2.0], powers.with_params(n=n), span, **options)
        same(flow(Q, W, *span, parameters={"n": n}), wanted)
        many = flow(Q, [W, W], *span, parameters={"n": n})
        same((many.attitude[1], many.omega[1]), wanted)


def test_terms_of_one_name_change_together():
    flow, span = Flow([5.0, 4.0, 2.0], TOP + torques.heavy_top(3.0), step=0.05), (0.0, 2.0)
    changed = torques.heavy_top(8.0) + torques.heavy_top(8.0)
    wanted = end([5.0, 4.0, 2.0], changed, span, "LP2", step=0.05)
    found = flow(Q, W, *span, parameters={"heavy_top.moment": 8.0})
    same(found, wanted)
    many = flow(Q, [W], *span, parameters={"heavy_top.moment": 8.0})
    same((many.attitude[0], many.omega[0]), wanted)


@pytest.mark.parametrize("parameters", [{"moment": [1.0]}, {"moment": (1.0, 2.0)}, (), (1.0, 2.0)])
def test_parameters_are_refused_alike_in_every_kind_of_call(parameters):
    flow = Flow([5.0, 5.0, 1.0], TOP, step=0.05)
    for omega, t_eval in ((W, None), ([W, W], None), (W, [0.5])):
        with pytest.raises(InputError, match=r"must have shape|must be a dict"):
            flow(Q, omega, 0.0, 1.0, parameters=parameters, t_eval=t_eval)


@pytest.mark.parametrize("body", [[5.0, 5.0, 1.0], TENSOR])
@pytest.mark.parametrize("options", [{"step": 0.06, "method": "LP2"}, {"rtol": 1e-8}])
def test_many_states_are_each_what_a_single_call_gives(body, options):
    flow = Flow(body, TOP, **options)
    omega = np.random.default_rng(3).standard_normal((70, 3))
    attitudes = polhode.rotations.exp(np.random.default_rng(4).standard_normal((70, 3)))
    many = flow(attitudes, omega, 0.3, 2.77)
    assert many.attitude.shape == (70, 4) and many.omega.shape == (70, 3)
    for i in (0, 7, 8, 69):
        same(flow(attitudes[i], omega[i], 0.3, 2.77), (many.attitude[i], many.omega[i]))
    one = flow(Q, omega, 0.3, 2.77)
    same(flow(Q, omega[5], 0.3, 2.77), (one.attitude[5], one.omega[5]))


def test_times_on_the_way():
    times = np.linspace(0.0, 2.0, 11)
    for options in ({"step": 0.06}, {"rtol": 1e-8}):
        flow = Flow([5.0, 5.0, 1.0], TOP, **options)
        found = flow(Q, W, 0.0, 2.0, t_eval=times)
        given = {"rotation0": Q, "omega0": W, "t_eval": times}
        run = integrate([5.0, 5.0, 1.0], TOP, (0.0, 2.0), **options, **given)
        same(found, (run.quaternion, run.omega))
        several = flow(Q, [W, W], 0.0, 2.0, t_eval=times)
        same((several.attitude[1], several.omega[1]), found)


# --- never stale ----------------------------------------------------------------------------------

STRENGTH = 20.0


def outside(t, R):
    return -STRENGTH * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))


def test_a_change_of_what_the_torque_reads_is_noticed(monkeypatch):
    flow = Flow([5.0, 5.0, 1.0], outside, "LP2", step=0.05)
    before = flow(Q, W, 0.0, 1.0)
    monkeypatch.setattr(sys.modules[__name__], "STRENGTH", 10.0)
    after = flow(Q, W, 0.0, 1.0)
    same(after, end([5.0, 5.0, 1.0], outside, (0.0, 1.0), "LP2", step=0.05))
    assert not np.array_equal(before.omega, after.omega)


def test_a_change_of_closure_default_or_field_is_noticed():
    def made(strength):
        def torque(t, R, tilt=0.0):
            return strength * R[:, 2] + tilt

        def change(value):
            nonlocal strength
            strength = value

        return torque, change

    torque, change = made(2.0)
    flow, found = Flow([5.0, 4.0, 2.0], torque, "LP2", step=0.05), []
    found.append(flow(Q, W, 0.0, 1.0))
    change(3.0)
    found.append(flow(Q, W, 0.0, 1.0))
    torque.__defaults__ = (0.5,)
    found.append(flow(Q, W, 0.0, 1.0))
    same(found[-1], end([5.0, 4.0, 2.0], torque, (0.0, 1.0), "LP2", step=0.05))
    assert len({tuple(one.omega) for one in found}) == 3
    top = torques.heavy_top(20.0)
    flow = Flow([5.0, 5.0, 1.0], top, "LP2", step=0.05)
    first = flow(Q, W, 0.0, 1.0)
    top.params = top.params._replace(moment=10.0)
    same(flow(Q, W, 0.0, 1.0), end([5.0, 5.0, 1.0], top, (0.0, 1.0), "LP2", step=0.05))
    assert not np.array_equal(first.omega, flow(Q, W, 0.0, 1.0).omega)


def test_what_was_prepared_cannot_be_replaced():
    flow = Flow([5.0, 4.0, 2.0], TOP, "LP2", step=0.05)
    assert flow.step == 0.05 and flow.torque is TOP and flow.method.name == "LP2"
    assert flow.tolerance is None and flow.max_step is None and flow.body.is_principal
    other = {"body": flow.body, "torque": TOP, "method": "SW", "step": 0.1, "tolerance": 1e-3}
    for name, value in (other | {"max_step": 1.0, "stepp": 0.1}).items():
        with pytest.raises(AttributeError):
            setattr(flow, name, value)


def test_times_far_from_those_before():
    flow = Flow([5.0, 5.0, 1.0], weight, "LP2", step=0.05)
    for start in (0.0, 1.0, 5.0, -40.0):
        span = (start, start + 1.0)
        same(flow(Q, W, *span), end([5.0, 5.0, 1.0], weight, span, "LP2", step=0.05))


# --- what goes wrong ------------------------------------------------------------------------------


def late(t, R):
    if t > 0.5:
        raise ValueError("too late")
    return np.zeros(3)


def lost(t, R):
    return np.array([0.0, 0.0, np.nan if t > 0.5 else 0.0])


def test_trouble_is_told_as_integrate_tells_it():
    for torque, kind in ((late, TorqueError), (lost, TorqueError)):
        with pytest.raises(kind) as ours:
            Flow([5.0, 4.0, 2.0], torque, "LP2", step=0.1)(Q, W, 0.0, 1.0)
        with pytest.raises(kind) as theirs:
            end([5.0, 4.0, 2.0], torque, (0.0, 1.0), "LP2", step=0.1)
        assert str(ours.value) == str(theirs.value)
        assert ours.value.t == theirs.value.t and ours.value.state == theirs.value.state
    fast, flow = (1e5, 2e4, 1e4), Flow([1.0, 2.0, 3.0], None, "LP2", step=1e3)
    with pytest.raises(IntegrationError, match="blew up") as blown:
        flow(Q, fast, 0.0, 1e4)
    assert blown.value.t is not None and blown.value.state and blown.value.trajectory is not None
    with pytest.raises(IntegrationError, match="blew up") as blown:
        flow(Q, [(0.1, 0.0, 0.0), fast], 0.0, 1e4)
    assert "state 1" in blown.value.__notes__[0]
    with pytest.raises(IntegrationError, match="blew up") as blown:
        flow(Q, [(0.1, 0.0, 0.0), fast], 0.0, 1e4, t_eval=[1e4])
    assert "state 1" in blown.value.__notes__[0]


@pytest.mark.parametrize("options", [{"step": 0.05, "method": "LP2"}, {"rtol": 1e-8}])
def test_what_a_torque_raises_for_one_of_many_states(options):
    @polhode.torque(uses_omega=True)
    def early(t, R, omega):
        if omega[0] > 0.9:
            raise ValueError("too fast")
        return np.array([0.1, 0.0, 0.0])

    flow, slow = Flow([5.0, 4.0, 2.0], early, **options), (0.0, 0.0, 1.0)
    with pytest.raises(TorqueError, match="too fast") as one:
        flow(Q, (0.895, 0.0, 0.0), 0.0, 1.0)
    with pytest.raises(TorqueError, match="too fast") as many:
        flow(Q, [slow, (0.895, 0.0, 0.0), slow], 0.0, 1.0)
    assert str(many.value) == str(one.value) and "state 1" in many.value.__notes__[0]
    alone, (several,) = flow(Q, slow, 0.0, 1.0), flow(Q, [slow], 0.0, 1.0).omega
    assert np.array_equal(several, alone.omega)


@pytest.mark.parametrize("body", [[5.0, 4.0, 2.0], TENSOR])
def test_a_runaway_among_many_states(body):
    flow, still = Flow(body, torques.heavy_top(2000.0), "RKMK4", step=3.0), (0.1, 0.0, 0.1)
    with pytest.raises(IntegrationError, match="kinetic energy") as one:
        flow(Q, still, 0.0, 6.0)
    with pytest.raises(IntegrationError, match="kinetic energy") as many:
        flow(Q, [still, still], 0.0, 6.0)
    assert str(many.value) == str(one.value) and "state 0" in many.value.__notes__[0]


def test_no_states_at_all_are_refused():
    for options in ({"step": 0.05}, {"rtol": 1e-8}):
        flow = Flow([5.0, 4.0, 2.0], TOP, **options)
        for attitude, omega in (
            (Q, np.empty((0, 3))),
            (np.empty((0, 4)), W),
            (np.empty((0, 4)), np.empty((0, 3))),
        ):
            for t_eval in (None, [0.5, 1.0]):
                with pytest.raises(InputError, match="at least one body"):
                    flow(attitude, omega, 0.0, 1.0, t_eval=t_eval)


@pytest.mark.parametrize(
    "call",
    [
        lambda flow: flow((1.0, 1.0, 0.0, 0.0), W, 0.0, 1.0),
        lambda flow: flow(Q, (np.nan, 0.0, 0.0), 0.0, 1.0),
        lambda flow: flow(Q, (1e26, 0.0, 0.0), 0.0, 1.0),
        lambda flow: flow(Q, (True, 0.0, 0.0), 0.0, 1.0),
        lambda flow: flow(Q, (1.0, 0.0), 0.0, 1.0),
        lambda flow: flow(Q, W, 0.0, 0.0),
        lambda flow: flow(Q, W, 0.0, np.inf),
        lambda flow: flow(Q, W, "0", 1.0),
        lambda flow: flow(Q, W, 0.0, 0.05),
        lambda flow: flow(Q, W, 1e20, 1e20 + 1e5),
        lambda flow: flow(Q, W, 0.0, 1.0, parameters={"moment": np.nan}),
        lambda flow: flow(Q, W, 0.0, 1.0, inertia=(1.0, 2.0, 30.0)),
        lambda flow: flow(Q, W, 0.0, 1.0, t_eval=[2.0]),
        lambda flow: flow(Q, [W, (np.nan, 0.0, 0.0)], 0.0, 1.0),
        lambda flow: flow([Q, Q, Q], [W, W], 0.0, 1.0),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(InputError):
        call(Flow([5.0, 4.0, 2.0], TOP, "LP2", step=0.1))


def test_a_torque_in_python():
    calls = []

    def counting(t, R):
        calls.append(t)
        return weight(t, R)

    flow = Flow([5.0, 5.0, 1.0], counting, "LP2", step=0.1)
    same(flow(Q, W, 0.0, 1.0), end([5.0, 5.0, 1.0], counting, (0.0, 1.0), "LP2", step=0.1))
    assert len(calls) > 10
    with pytest.raises(InputError, match="runs as Python"):
        _ = flow.compiled


def test_a_long_run_is_that_of_integrate():
    flow = Flow([5.0, 4.0, 2.0], None, "LP2", step=1e-4)
    same(flow(Q, W, 0.0, 12.0), end([5.0, 4.0, 2.0], None, (0.0, 12.0), "LP2", step=1e-4))


@pytest.mark.compiled
def test_ctrl_c_ends_a_long_call():
    source = (
        "import polhode\n"
        "flow = polhode.Flow([5.0, 4.0, 2.0], None, 'LP2', step=1e-7)\n"
        "print('ready', flush=True)\n"
        "flow((0.0, 0.0, 0.0, 1.0), (0.1, 0.2, 0.3), 0.0, 1e6)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    said = ""
    for _ in range(60):  # it may still be compiling, or importing
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=2.0)
            break
        except subprocess.TimeoutExpired:
            continue
    assert process.returncode is not None and "KeyboardInterrupt" in said


def test_it_says_what_it_is():
    body = "RigidBody(moments=(5, 5, 1), mass=1)>"
    assert repr(Flow([5, 5, 1], step=0.01)) == f"<Flow: LP2, step = 0.01, torque free, {body}"
    assert (
        repr(Flow([5, 5, 1], TOP, rtol=1e-9))
        == f"<Flow: DOP853, rtol = 1e-09, torque heavy_top, {body}"
    )
    assert "rtol = 1e-06, atol = 1e-12," in repr(Flow([5, 5, 1], rtol=1e-6, atol=1e-12))


# --- inside numba ---------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize(
    "body, torque, options",
    [
        ([5.0, 5.0, 1.0], TOP, {"step": 0.06, "method": "LP2"}),
        (TENSOR, TOP + drag, {"rtol": 1e-8}),
    ],
)
def test_called_from_machine_code(body, torque, options):
    import numba

    flow = Flow(body, torque, **options)
    advance = flow.compiled
    assert flow.compiled is advance
    given = ((18.0,), (0.3,)) if torque is not TOP else (18.0,)
    named = {"moment": 18.0} | ({"k": 0.3} if torque is not TOP else {})

    @numba.njit
    def both(q, omega):
        return advance(q, omega, 0, 2.0), advance(q, omega, 0.0, 2.0, given)

    usual, changed = both(Q, W)
    assert usual[2] == changed[2] == 0
    same(usual, flow(Q, W, 0.0, 2.0))
    same(changed, flow(Q, W, 0.0, 2.0, parameters=named))
    assert advance((1.0, 1.0, 0.0, 0.0), W, 0.0, 1.0)[2] == 5
    assert advance(Q, W, 1.0, 1.0)[2] == 5


@pytest.mark.compiled
def test_numbers_of_any_kind_are_doubles_in_machine_code():
    flow, steps = Flow([5.0, 4.0, 2.0], TOP, "LP2", step=0.0625), (0.0, 1.0)
    single = np.full(4, 0.5, dtype=np.float32), np.array(W, dtype=np.float32)
    times = np.float32(0.0), np.float32(1.0)
    q, omega = (part.astype(float) for part in single)
    wanted = flow.compiled(tuple(q.tolist()), tuple(omega.tolist()), *steps, (3.0,))
    same(flow.compiled(*single, *times, (np.float32(3.0),)), wanted)
    same(flow.compiled(q, omega, 0, 1, (3,)), wanted)
    again = Flow([5.0, 4.0, 2.0], TOP, "LP2", step=0.0625)
    same(again(q, omega, *steps, parameters={"moment": 3}), wanted)


@pytest.mark.compiled
def test_a_quaternion_is_brought_to_unit_length_alike_in_machine_code():
    flow, numbers = Flow([5.0, 4.0, 2.0], None, "LP2", step=0.1), np.random.default_rng(5)
    for size in np.repeat([1e-7, 1e-9, 1e-15, 5e-16], 200):
        q = polhode.rotations.exp(numbers.normal(size=3)) * (1.0 + size * numbers.normal())
        same(flow.compiled(tuple(q.tolist()), W, 0.0, 0.1), flow(q, W, 0.0, 0.1))
