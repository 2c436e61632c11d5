"""The front door: what it accepts, what it refuses, what it stores, and how runs end."""

import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode
from polhode import problems, rotations, torques
from polhode.errors import ConvergenceError, InputError, TorqueError

TOP = {"body": [5, 5, 1], "torque": "heavy_top", "rotation0": (0.3, 0, 0), "omega0": (0, 0, 5)}
FREE = {"body": [1.0, 2.0, 2.5], "omega0": (0.4, 1.0, -0.3)}


def top(**changes):
    return polhode.integrate(**{**TOP, "t_span": (0, 1), "step": 0.1, "method": "NMB", **changes})


def free(**changes):
    return polhode.integrate(**{**FREE, "t_span": (0, 1), "step": 0.1, "method": "LP2", **changes})


# --- what it refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"step": 0}, ["step", "positive", "0.0"]),
        ({"step": -0.1}, ["step", "positive", "-0.1"]),
        ({"step": np.nan}, ["step", "finite", "nan"]),
        ({"step": 2.0}, ["step", "2.0", "larger than the span", "at most 1.0"]),
        ({"step": "fast"}, ["step", "real numbers", "fast"]),
        ({"step": None}, ["step is missing"]),
        ({"t_span": None}, ["t_span is missing"]),
        ({"t_span": (1, 1)}, ["t_span", "length"]),
        ({"t_span": (0, np.inf)}, ["t_span", "finite"]),
        ({"t_span": (0, 1, 2)}, ["t_span", "two times"]),
        ({"omega0": (0, 0)}, ["omega0", "three numbers", "(2,)"]),
        ({"omega0": (0, 0, np.nan)}, ["omega0", "finite"]),
        ({"omega0": None}, ["omega0 or momentum0", "neither"]),
        ({"momentum0": (1, 2, 3)}, ["omega0 or momentum0", "both"]),
        ({"rotation0": np.diag([1, 1, -1])}, ["rotation", "reflection"]),
        ({"rotation0": 1.1 * np.eye(3)}, ["rotation"]),
        ({"rotation0": (0, 0, 0, 1.5)}, ["unit quaternion", "norm 1.5"]),
        ({"method": "NBM"}, ["unknown method 'NBM'", "did you mean"]),
        ({"method": 3}, ["method must be a name"]),
        ({"torque": "heavytop"}, ["unknown torque 'heavytop'", "did you mean 'heavy_top'"]),
        ({"torque": 7}, ["torque must be a function", "7"]),
        ({"torque": lambda t: (0, 0, 0)}, ["called as f(t, R)", "defined as f(t)"]),
        ({"omega": (0, 0, 1)}, ["unknown option of integrate 'omega'", "did you mean 'omega0'"]),
        ({"every": 0}, ["every", "at least 1", "0"]),
        ({"every": "last"}, ["every", "'last'", "'end'"]),
        ({"t_eval": [0.5, 0.2]}, ["t_eval", "sort"]),
        ({"t_eval": [0.5, 1.2]}, ["t_eval", "inside the span", "1.2"]),
        ({"t_eval": [0.5], "every": 2}, ["t_eval or every"]),
        ({"breaks": [2.0]}, ["breaks", "inside the span", "2.0"]),
        ({"events": 3}, ["event", "3"]),
        ({"step": [0.0, 0.5, 0.4, 1.0]}, ["increasing or decreasing", "0.5", "0.4"]),
        ({"step": [0.0, 0.5]}, ["0.5", "t_span"]),
        ({"step": [0.0, 0.5, 1.0], "method": "SW"}, ["SW", "equal size"]),
        ({"body": [1, 2, 4]}, ["triangle", "check_triangle"]),
    ],
)
def test_bad_input_gets_an_error_that_names_value_rule_and_fix(changes, words):
    with pytest.raises(InputError) as caught:
        top(**changes)
    for word in words:
        assert word in str(caught.value)


def test_a_run_too_large_to_store_is_refused_with_its_size():
    with pytest.raises(InputError, match=r"72\d{15} bytes.*every='end'"):
        top(t_span=(0, 1e15), step=1.0)


# --- what it accepts ------------------------------------------------------------------------------


def test_rotations_in_every_form_give_the_same_run():
    vector = np.array([0.3, -0.2, 0.5])
    forms = [
        vector,
        Rotation.from_rotvec(vector),
        Rotation.from_rotvec(vector).as_matrix(),
        rotations.exp(vector),
    ]
    ends = [top(rotation0=form).quaternion[-1] for form in forms]
    for end in ends[1:]:
        assert rotations.angle_between(end, ends[0]) < 1e-14


def test_momentum0_is_inertia_times_omega0():
    a = free(omega0=(0.4, 1.0, -0.3))
    b = free(omega0=None, momentum0=(0.4, 2.0, -0.75))
    np.testing.assert_allclose(a.omega, b.omega, rtol=0, atol=1e-15)


@pytest.mark.parametrize("method", ["NMB", "VLV", "SW", "LP2", "NMS"])
def test_a_full_inertia_gives_the_same_motion_in_the_users_axes(method):
    """The same body described in turned axes is the same motion: R_turned = R Q^T, everything else turned by Q."""
    # small enough to keep the order of the axes, which LP2 minds
    Q = Rotation.from_rotvec([0.3, -0.4, 0.2]).as_matrix()
    moments = np.array([2.0, 3.0, 4.5])
    R0 = Rotation.from_rotvec([0.7, 0.1, -0.4]).as_matrix()
    om0 = np.array([0.3, -0.8, 0.5])
    options = {"t_span": (0, 5), "step": 0.05, "method": method}
    arm = np.array([0.0, 0.0, 1.0])
    plain = polhode.integrate(moments, torques.heavy_top(3.0), rotation0=R0, omega0=om0, **options)
    turned = polhode.integrate(
        Q @ np.diag(moments) @ Q.T,
        torques.heavy_top(3.0, arm=Q @ arm),
        rotation0=R0 @ Q.T,
        omega0=Q @ om0,
        **options,
    )
    np.testing.assert_allclose(turned.matrix, plain.matrix @ Q.T, atol=1e-12)
    np.testing.assert_allclose(turned.omega, plain.omega @ Q.T, atol=1e-12)
    np.testing.assert_allclose(turned.momentum_spatial, plain.momentum_spatial, atol=1e-11)
    np.testing.assert_allclose(turned.total_energy, plain.total_energy, atol=1e-12)


def test_a_python_torque_in_turned_axes_sees_the_users_attitude():
    inertia = np.array([[2, 0.3, 0.1], [0.3, 3, 0.2], [0.1, 0.2, 4]])
    seen = []

    def spy(t, R):
        seen.append(R.copy())
        return (0.0, 0.0, 0.0)

    R0 = Rotation.from_rotvec([0.7, 0.1, -0.4]).as_matrix()
    run = polhode.integrate(inertia, spy, (0, 1), 0.1, "NMB", rotation0=R0, omega0=(1, 0, 0))
    np.testing.assert_allclose(seen[0], R0, atol=1e-15)
    np.testing.assert_allclose(np.array(seen), run.matrix, atol=1e-14)


# --- times ----------------------------------------------------------------------------------------


def test_the_last_step_lands_on_the_end():
    np.testing.assert_allclose(top(step=0.3).t, [0, 0.3, 0.6, 0.9, 1.0], atol=1e-15)
    assert top(step=0.3).t[-1] == 1.0
    assert top(step=1 / 3).steps == 3
    assert top(t_span=(0, 0.7), step=0.1).steps == 7


def test_every_stores_every_so_many_steps_and_the_end():
    every = top(step=0.01, every=30)
    every_one = top(step=0.01)
    np.testing.assert_allclose(every.t, [0, 0.3, 0.6, 0.9, 1.0], atol=1e-15)
    np.testing.assert_array_equal(every.quaternion, every_one.quaternion[[0, 30, 60, 90, 100]])
    end = top(step=0.01, every="end")
    assert len(end) == 2 and end.steps == 100
    np.testing.assert_array_equal(end.quaternion[-1], every_one.quaternion[-1])


def test_chunks_leave_no_trace(tmp_path):
    whole = top(step=0.001, every=7)
    pieces = top(step=0.001, every=7, checkpoint=tmp_path / "run.part", checkpoint_every=13)
    np.testing.assert_array_equal(whole.quaternion, pieces.quaternion)
    np.testing.assert_array_equal(whole.t, pieces.t)
    np.testing.assert_array_equal(whole.residuals, pieces.residuals)


@pytest.mark.compiled
def test_a_warm_run_makes_few_calls():
    body, torque, calls = polhode.RigidBody([5.0, 5.0, 1.0]), torques.heavy_top(20.0), []
    package = str(Path(polhode.__file__).parent)

    def run():
        polhode.integrate(body, torque, (0, 1), 0.01, "NMB", omega0=(0, 0, 50), every="end")

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and code.co_name[0] != "<":
            calls.append((frame.f_back.f_code.co_filename, code.co_filename))

    run()
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    hops = [called for caller, called in calls if caller != called]
    assert 0 < len(calls) <= 62 and len(hops) <= 35 and len(set(hops)) <= 17


def test_times_that_equal_those_of_a_run_before_are_still_looked_at():
    whole, given = top(t_span=(-1, 0), step=0.5, compiled=False), {"step": 0.5, "compiled": False}
    for same in ((-1.0, -0.0), [-1, 0], np.array([-1.0, 0.0])):
        run = top(t_span=same, **given)
        assert run.t.tobytes() == whole.t.tobytes()
        assert run.motion.tobytes() == whole.motion.tobytes()
    with pytest.raises(polhode.InputError, match="t_span must be real numbers"):
        top(t_span=(-1, False), **given)


@pytest.mark.parametrize("method", ["NMB", "VLV", "SW", "LP2", "NMS", "NMB-cay"])
def test_time_may_run_backwards(method):
    there = top(method=method, step=0.01)
    back = top(
        method=method,
        step=0.01,
        t_span=(1, 0),
        rotation0=there.quaternion[-1],
        omega0=there.omega[-1],
    )
    np.testing.assert_allclose(back.t, there.t[::-1], atol=1e-15)
    # SW's remembered acceleration is lost in a new start
    tolerance = 1e-12 if method != "SW" else 1e-3
    assert rotations.angle_between(back.quaternion[-1], there.quaternion[0]) < tolerance


def test_uneven_steps():
    times = np.concatenate([[0], np.cumsum(np.tile([0.004, 0.006], 100))])
    run = top(step=times, t_span=None)
    np.testing.assert_array_equal(run.t, times)
    even = top(step=0.005, t_span=(0, 1))
    assert rotations.angle_between(run.quaternion[-1], even.quaternion[-1]) < 1e-4
    backwards = top(
        step=times[::-1], t_span=None, rotation0=run.quaternion[-1], omega0=run.omega[-1]
    )
    assert rotations.angle_between(backwards.quaternion[-1], run.quaternion[0]) < 1e-12


def test_t_eval_interpolates_to_fourth_order_in_attitude_and_third_in_velocity():
    wanted = np.linspace(0.013, 0.987, 17)
    fine = np.unique(np.concatenate([np.linspace(0, 1, 40001), wanted]))
    reference = polhode.integrate(**TOP, t_span=(0, 1), step=fine, method="LP2")
    at = np.searchsorted(fine, wanted)
    errors = []
    for n in (10, 20, 40):  # exact data at the grid, so that only the interpolation shows
        grid = np.searchsorted(fine, np.linspace(0, 1, n + 1))
        i = np.searchsorted(np.linspace(0, 1, n + 1), wanted) - 1
        a, b = grid[i], grid[i + 1]
        h = fine[b] - fine[a]
        q, om = rotations.hermite(
            reference.quaternion[a],
            reference.omega[a],
            reference.quaternion[b],
            reference.omega[b],
            h,
            (wanted - fine[a]) / h,
        )
        errors.append(
            (
                np.max(rotations.angle_between(q, reference.quaternion[at])),
                np.max(np.linalg.norm(om - reference.omega[at], axis=1)),
            )
        )
    slopes = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(slopes[:, 0] > 3.5) and np.all(slopes[:, 1] > 2.5)
    run = top(step=0.001, t_eval=wanted)
    np.testing.assert_array_equal(run.t, wanted)
    assert np.max(rotations.angle_between(run.quaternion, reference.quaternion[at])) < 1e-5


def test_t_eval_on_the_grid_gives_the_grid_and_both_ends():
    grid = top()
    chosen = top(t_eval=grid.t)
    np.testing.assert_allclose(
        np.abs(np.sum(chosen.quaternion * grid.quaternion, axis=1)), 1.0, atol=1e-15
    )
    np.testing.assert_allclose(chosen.omega, grid.omega, atol=1e-14)
    backwards = top(t_span=(1, 0), t_eval=[1.0, 0.55, 0.0])
    np.testing.assert_array_equal(backwards.t, [1.0, 0.55, 0.0])


def test_breaks_make_a_jump_exact():
    """A torque that jumps between two steps: with a break the momentum is exact, without it is
    not."""

    def kick(t, R):
        return (1.0 if t < 0.437 else 0.0, 0.0, 0.0)

    options = {"t_span": (0, 1), "step": 0.1, "method": "SW", "omega0": (0, 0, 0)}
    with_break = polhode.integrate([1, 1, 1], kick, breaks=[0.437], **options)
    without = polhode.integrate([1, 1, 1], kick, **options)
    assert abs(with_break.momentum_spatial[-1, 0] - 0.437) < 1e-12
    assert abs(without.momentum_spatial[-1, 0] - 0.437) > 1e-3
    assert 0.437 in with_break.t
    both = polhode.integrate([1, 1, 1], kick, breaks=[0.437, 0.5], **{**options, "method": "LP2"})
    assert abs(both.momentum_spatial[-1, 0] - 0.437) < 1e-12 and 0.5 in both.t


# --- events ---------------------------------------------------------------------------------------


def test_events_are_located_and_end_the_run():
    """Free spin about z: R01 = -sin t is zero at pi, 2 pi, ..."""

    def crossing(t, R, omega):
        return R[0, 1]

    spin = {
        "body": [1, 1, 1],
        "t_span": (0.5, 10),
        "step": 0.1,
        "omega0": (0, 0, 1),
        "rotation0": (0, 0, 0.5),
    }
    run = polhode.integrate(**spin, events=crossing)
    np.testing.assert_allclose(run.t_events[0], np.pi * np.arange(1, 4), atol=1e-10)
    np.testing.assert_allclose(rotations.matrices(run.y_events[0][:, :4])[:, 0, 1], 0, atol=1e-10)
    assert run.status == "finished"

    crossing.direction = 1
    rising = polhode.integrate(**spin, events=crossing)
    np.testing.assert_allclose(rising.t_events[0], [np.pi, 3 * np.pi], atol=1e-10)

    crossing.terminal = 2
    ended = polhode.integrate(**spin, events=[crossing])
    assert ended.status == "event" and ended.success and "crossing" in ended.message
    assert abs(ended.t[-1] - 3 * np.pi) < 1e-10


# --- torques that fail, equations without solution, blow-ups --------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
def test_a_torque_that_returns_the_wrong_shape(compiled):
    with pytest.raises(TorqueError, match=r"three numbers, got shape \(2,\)"):
        top(torque=lambda t, R: (1.0, 2.0), compiled=compiled)


@pytest.mark.compiled
@pytest.mark.parametrize("stays_python", [True, False])
def test_a_torque_that_turns_nan_keeps_what_was_computed(stays_python):
    used = [] if stays_python else ()

    def bad(t, R):
        return (0.0, 0.0, np.nan if t > 0.45 and len(used) == 0 else 0.0)

    with pytest.raises(TorqueError) as caught:
        top(torque=bad)
    error = caught.value
    assert "nan" in str(error) and "quaternion" in str(error)
    assert abs(error.t - 0.4) < 1e-12 and error.step_index == 4
    assert len(error.trajectory) == 5 and error.trajectory.mode == (
        "callback" if stays_python else "compiled"
    )
    assert np.isfinite(error.trajectory.quaternion).all()


def test_a_torque_that_raises_keeps_what_was_computed_and_the_cause():
    table = {}

    def missing(t, R):
        return (0.0, 0.0, table["gone"] if t > 0.45 else 0.0)

    with pytest.raises(TorqueError, match="KeyError") as caught:
        top(torque=missing)
    assert isinstance(caught.value.__cause__, KeyError)
    assert len(caught.value.trajectory) == 5


@pytest.mark.compiled
def test_a_compiled_torque_that_raises():
    def picky(t, R):
        if t > 0.45:
            raise ValueError("too late")
        return (0.0, 0.0, 0.0)

    with pytest.raises(TorqueError, match="too late") as caught:
        top(torque=picky)
    assert caught.value.trajectory.mode == "compiled" and len(caught.value.trajectory) == 5


def test_an_equation_without_solution_names_step_residual_and_largest_step():
    from polhode.core.jit import jit
    from polhode.methods._method import Method, start_motion
    from typing import NamedTuple
    from polhode.core.layout import Quaternion, Vector

    class State(NamedTuple):
        q: Quaternion
        Om: Vector
        residual: float

    @jit
    def start(h, t, q, Om, body, torque, p):
        return State(q, Om, 0.0)

    @jit
    def step(h, t, s, body, torque, p):
        return State(s.q, s.Om, 0.0 if h < 0.03 else 1e-3)

    stuck = Method(
        "stuck", step, start, State, order=1, torques=0, symmetric=False, symplectic=False
    )
    assert start_motion is not None
    with pytest.raises(ConvergenceError) as caught:
        free(method=stuck)
    error = caught.value
    assert error.residual == 1e-3 and 0.028 < error.largest_step < 0.03 and error.step_index == 0
    assert "0.001" in str(error) and "largest step" in str(error) and "t = 0" in str(error)


def test_a_blow_up_ends_the_run_with_a_status_and_finite_numbers():
    def runaway(t, R, omega):
        return 50.0 * omega

    run = free(
        torque=polhode.torque(runaway, uses_omega=True, frame="body"),
        t_span=(0, 20),
        step=0.01,
        method="NMB",
    )
    assert run.status == "blow-up" and not run.success
    assert np.isfinite(run.omega).all() and np.isfinite(run.quaternion).all() and run.t[-1] < 20
    assert "smaller step" in run.message and len(run) == run.steps + 1


def test_ctrl_c_raises_with_what_was_computed():
    before = signal.getsignal(signal.SIGINT)
    free(t_span=(0, 1), step=0.1, every="end")  # compiled before the clock ticks
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as told:
        free(t_span=(0, 1e9), step=0.1, every="end")
    run = told.value.trajectory
    assert run.status == "interrupted" and not run.success
    assert 0 < run.steps < 10**10 and run.t[-1] == pytest.approx(0.1 * run.steps)
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_is_called_up_to_the_end():
    seen = []
    free(step=0.001, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000) and [a for a, _ in seen] == sorted(a for a, _ in seen)


# --- the result -----------------------------------------------------------------------------------


def test_the_trajectory_is_consistent():
    run = top(step=0.01)
    I = np.diag([5.0, 5.0, 1.0])
    R = run.matrix
    np.testing.assert_allclose(run.rotation.as_matrix(), R, atol=1e-15)
    np.testing.assert_allclose(run.momentum, run.omega @ I, atol=1e-14)
    np.testing.assert_allclose(
        run.momentum_spatial, np.einsum("nij,nj->ni", R, run.momentum), atol=1e-13
    )
    np.testing.assert_allclose(run.omega_spatial, np.einsum("nij,nj->ni", R, run.omega), atol=1e-13)
    np.testing.assert_allclose(run.potential_energy, 20.0 * R[:, 2, 2], atol=1e-13)
    np.testing.assert_allclose(run.total_energy, run.kinetic_energy + 20.0 * R[:, 2, 2], atol=1e-12)
    assert run.nfev == run.steps + 1 == 101
    assert run.orthogonality_error < 1e-15 and run.residuals.max() < 2e-14
    rate = (R[51].T @ (R[52] - R[50])) / 0.02  # R' = R hat(omega)
    x, y, z = run.omega[51]
    np.testing.assert_allclose(rate, [[0, -z, y], [z, 0, -x], [-y, x, 0]], atol=5e-3)


def test_xarray_has_units_and_provenance():
    data = top(body=polhode.RigidBody([5, 5, 1], units="SI")).to_xarray()
    assert data.omega.attrs["units"] == "rad/s" and data.time.attrs["units"] == "s"
    assert data.sizes["time"] == 11
    for key in ("polhode_version", "method", "step", "body", "torque", "source_digest"):
        assert key in data.attrs


def test_a_torque_without_potential_tracks_the_kinetic_energy():
    run = free(torque=lambda t, R: (0.1, 0.0, 0.0))
    assert run.potential_energy is None
    np.testing.assert_array_equal(run.total_energy, run.kinetic_energy)
    assert run.summary()["energy"] == "kinetic"


@pytest.mark.compiled
def test_memory_for_the_end_alone_does_not_grow():
    import tracemalloc

    free(step=0.001, every="end")
    peaks = []
    for span in (1.0, 1000.0):
        tracemalloc.start()
        free(step=0.001, t_span=(0, span), every="end")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # one number for each of the million steps would be 8 MB; other threads of the process allocate too
    assert peaks[1] < peaks[0] + 2**20


@pytest.mark.slow
def test_a_hundred_million_steps_stay_orthogonal():
    run = problems.get("slow-top").integrate(
        "NMB", step=0.0125, t_span=(0, 1_250_000.0), every="end"
    )
    assert run.steps == 10**8 and run.orthogonality_error < 1e-13


# --- events that fail, and others whose code runs along -------------------------------------------


def late(t, R, omega):
    if t > 0.555:
        raise ZeroDivisionError("too late")
    return omega[0] - 10.0


def nowhere(t, R, omega):
    return np.nan if t > 0.555 else omega[0] - 10.0


@pytest.mark.parametrize("event", [late, nowhere])
@pytest.mark.parametrize(
    "how",
    [
        {"step": 0.01},
        {"step": 0.01, "every": 7},
        {"step": 0.01, "t_eval": np.linspace(0, 1, 21)},
        {"rtol": 1e-9, "max_step": 0.01, "step": None, "method": None},
    ],
)
def test_an_event_that_fails_keeps_what_was_computed(event, how, tmp_path):
    for more in ({}, {"checkpoint": tmp_path / "run.part"}):
        with pytest.raises(
            polhode.EventError, match=rf"event '{event.__name__}' r.* at t = 0.5[56]"
        ) as told:
            free(t_span=(0, 1), events=event, **how, **more)
        kept = told.value.trajectory
        whole = free(t_span=(0, 1), **how)
        count = len(kept) - ("every" in how)  # the last point is where it ended
        assert (
            kept.status == "failed"
            and 0.54 < kept.t[-1] <= 0.5551
            and told.value.t == kept.ends[1][0]
        )
        assert (
            np.array_equal(kept.motion[:count], whole.motion[:count])
            and told.value.step_index == kept.steps
        )
        assert isinstance(told.value.__cause__, ZeroDivisionError if event is late else type(None))


def test_an_event_that_fails_where_the_run_begins():
    words = r"raised TypeError at t = 0: .* correct it: a function g\(t, R, omega\)"
    with pytest.raises(polhode.EventError, match=words) as told:
        free(t_span=(0, 1), step=0.1, events=lambda t, R, omega: t + None)
    assert len(told.value.trajectory) == 1 and told.value.step_index == 0


def test_an_event_that_ends_the_run_comes_before_what_fails_later_in_the_chunk():
    def soon(t, R, omega):
        return t - 0.5

    def torque(t, R):
        if t > 0.8:
            raise ValueError("never reached")
        return np.array([0.0, 0.0, 0.1])

    soon.terminal = True
    for how in ({"step": 0.01}, {"rtol": 1e-9, "step": None, "method": None}):
        assert free(torque=torque, t_span=(0, 1), events=soon, **how).status == "event"


def test_an_error_of_progress_keeps_what_was_computed():
    def progress(done, total):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more") as told:
        free(t_span=(0, 1), step=0.1, progress=progress)
    assert len(told.value.trajectory) >= 2 and told.value.trajectory.status == "failed"


@pytest.mark.parametrize("compiled", [True, False])
def test_a_torque_that_is_not_finite_at_the_start_is_named_every_time(compiled):
    def late(t, R):
        return np.array([np.nan if t > 1.5 else 1.0, 0.0, 0.0])

    polhode.integrate(torque=late, t_span=(0, 1), step=0.1, compiled=compiled, **FREE)
    for _ in range(2):
        with pytest.raises(TorqueError, match="'late' returned"):
            polhode.integrate(torque=late, t_span=(2, 3), step=0.1, compiled=compiled, **FREE)
    for _ in range(2):
        with pytest.raises(TorqueError, match="'late' returned"):
            polhode.Stepper(
                FREE["body"], late, t=2.0, step=0.1, omega0=FREE["omega0"], compiled=compiled
            ).step()
