"""Ensembles: every body moves as `integrate` moves it, to the last bit, and what goes wrong with
one leaves the others alone."""

import json
import re
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

from polhode import InputError, RigidBody, ensemble, integrate, problems, torque, torques
from polhode.core import code_memory as engine, jit
from polhode.engine.ensemble import inputs
from polhode.engine.ensemble.keep import Statistics
from polhode.engine.carriers.simd_tiles import Tiles
from polhode.engine.schedule import Segment
from polhode.methods import get, names
from polhode.engine.program import build
from processor import X86, has_avx

TOP = problems.get("krysl/slow-top")
H = 0.0125
FAMILIES = ["NMB", "LP2", "VLV", "SW", "LIEMID[EA]", "taylor4", "EXACT"]
PACKED = ["NMB", "SW", "VLV", "LP2", "MR2-231", "taylor3", "taylor4"]


def many(n, seed=0):
    """Moments, attitudes, velocities and torque parameters of n bodies."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((n, 4))
    return (
        rng.uniform(1.0, 1.9, (n, 3)),
        q / np.sqrt((q * q).sum(axis=1, keepdims=True)),
        rng.standard_normal((n, 3)),
        rng.uniform(0.5, 3.0, n),
    )


def same_as_integrate(run, chosen, moments, q, omega, strengths, t_span, step, method):
    for i in chosen:
        acting = torques.heavy_top(strengths[i])
        one = integrate(
            moments[i], acting, t_span, step, method, rotation0=q[i], omega0=omega[i], every="end"
        )
        assert np.array_equal(one.quaternion[-1], run.quaternion[i])
        assert np.array_equal(one.omega[-1], run.omega[i])


# --- bit for bit ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        *FAMILIES,
        *(pytest.param(name, marks=pytest.mark.slow) for name in names() if name not in FAMILIES),
    ],
)
def test_bodies_of_their_own_move_as_integrate_moves_them(method):
    n = 67  # a whole tile and a rest
    moments, q, omega, strengths = many(n)
    # a shorter last step
    run = ensemble(
        moments,
        torques.heavy_top(1.0),
        (0.0, 21.5 * H),
        H,
        method,
        rotation0=q,
        omega0=omega,
        parameters={"moment": strengths},
    )
    assert run.success and run.t == 21.5 * H
    same_as_integrate(
        run, (0, 1, 40, 63, 64, n - 1), moments, q, omega, strengths, (0.0, 21.5 * H), H, method
    )


@pytest.mark.parametrize("method", ["NMB", "LP2"])
def test_threads_tiles_and_chunks_leave_no_trace(method):
    n, steps = 150, 60
    moments, q, omega, strengths = many(n, 1)
    program = build(get(method), torques.heavy_top(1.0), RigidBody(moments[0]))
    segment, motions = (
        Segment(0.0, H, steps, steps * H),
        np.concatenate([q, omega], axis=1),
    )

    def end(lanes, threads, chunks):
        backend = Tiles(program, n, moments.T, strengths[None], threads=threads, lanes=lanes)
        backend.task = 1 if threads > 1 else 16
        backend.begin(H, 0.0, motions)
        done = 0
        for count in chunks:
            backend.advance(segment, done, count)
            done += count
        assert done == steps
        return backend.motions()

    expected = end(64, 1, [steps])
    for lanes, threads, chunks in ((64, 2, [1] * steps), (64, 3, [7, 50, 3]), (8, 2, [steps])):
        assert np.array_equal(end(lanes, threads, chunks), expected)


def test_a_thousand_bodies_are_work_for_every_thread():
    program = build(get("LP2"), torques.heavy_top(1.0), RigidBody([2.0, 2.0, 1.0]))
    for threads in (2, 4, 8):
        backend = Tiles(program, 1000, np.ones((3, 1)), np.ones((1, 1)), threads=threads)
        assert -(-backend.tiles // backend.task) >= 2 * threads


@pytest.mark.parametrize("method", ["NMB", "VLV", "DMV4"])
def test_bodies_that_turn_far_in_a_step_are_polished_one_by_one(method):
    moments, q, omega, strengths = many(70, 2)
    # a radian and more in a step: the few corrections that all lanes make are not enough
    omega[::3] *= 60.0
    run = ensemble(
        moments,
        torques.heavy_top(1.0),
        (0.0, 10 * H),
        H,
        method,
        rotation0=q,
        omega0=omega,
        parameters={"moment": strengths},
    )
    well = np.flatnonzero(run.status == "finished")
    assert len(well) > 40 and set(well) & set(range(0, 70, 3))
    same_as_integrate(run, well[:12], moments, q, omega, strengths, (0.0, 10 * H), H, method)


def test_bodies_with_axes_of_their_own():
    rng = np.random.default_rng(3)
    turns = Rotation.random(5, random_state=4).as_matrix()
    tensors = [turn @ np.diag(rng.uniform(1.0, 1.9, 3)) @ turn.T for turn in turns]
    tensors = [0.5 * (tensor + tensor.T) for tensor in tensors]
    omega = rng.standard_normal((5, 3))
    random = Rotation.random(5, random_state=5)
    run = ensemble(
        tensors, torques.heavy_top(2.0), (0.0, 0.5), H, "NMB", rotation0=random, omega0=omega
    )
    attitudes = random.as_quat()
    for i in range(5):
        one = integrate(
            tensors[i],
            torques.heavy_top(2.0),
            (0.0, 0.5),
            H,
            "NMB",
            rotation0=attitudes[i],
            omega0=omega[i],
        )
        assert np.array_equal(one.quaternion[-1], run.quaternion[i]) and np.array_equal(
            one.omega[-1], run.omega[i]
        )
        assert one.total_energy[-1] == pytest.approx(run.energy[i], rel=1e-13)
        assert one.momentum[-1] == pytest.approx(run.momentum[i], abs=1e-13)


@pytest.mark.parametrize("method", ["EXACT", pytest.param("EXACT-RKN4", marks=pytest.mark.slow)])
def test_symmetric_and_other_bodies_in_one_ensemble_move_as_each_does_alone(method):
    moments = np.array(
        [
            [1.0, 1.2, 1.5],
            [1.3, 1.3, 0.9],
            [1.0, 1.0, 1.0],
            [1.1, 1.4, 1.4],
            [1.5, 1.2, 1.0],
            [1.2, 0.9, 1.2],
        ]
    )
    omega = np.random.default_rng(3).standard_normal((6, 3))
    omega[2] = np.nan  # fails, and leaves the others alone
    strengths = 0.5 + 0.1 * np.arange(6)
    run = ensemble(
        moments,
        torques.heavy_top(1.0),
        (0.0, 2.0),
        0.1,
        method,
        omega0=omega,
        parameters={"moment": strengths},
    )
    assert [failure.body for failure in run.failures] == [2]
    for i in (0, 1, 3, 4, 5):
        alone = integrate(
            moments[i], torques.heavy_top(strengths[i]), (0.0, 2.0), 0.1, method, omega0=omega[i]
        )
        assert np.array_equal(run.quaternion[i], alone.quaternion[-1]) and np.array_equal(
            run.omega[i], alone.omega[-1]
        )


@pytest.mark.parametrize("method", ["NMB", "EXACT"])
def test_lanes_that_turn_too_far_for_the_series_are_taken_one_by_one(method):
    """Beyond four radians a step the lanes of a tile part company; the bits stay those of `integrate`."""
    omega = np.array(
        [[0.1, 0.2, 1.0], [0.3, 0.1, 45.0], [0.2, 0.0, 39.9], [0.2, 0.0, 40.1], [30.0, 5.0, 60.0]]
    )
    run = ensemble([2.0, 2.0, 1.0], torques.heavy_top(1.0), (0.0, 1.0), 0.1, method, omega0=omega)
    assert run.success
    for i, one in enumerate(omega):
        alone = integrate(
            [2.0, 2.0, 1.0], torques.heavy_top(1.0), (0.0, 1.0), 0.1, method, omega0=one
        )
        assert np.array_equal(run.quaternion[i], alone.quaternion[-1]) and np.array_equal(
            run.omega[i], alone.omega[-1]
        )


# --- packed instructions --------------------------------------------------------------------------


def kept_whole(dispatcher, *rest):
    """The dispatcher of a loop in an engine of its own, with all that numba knows of it."""
    compile = dispatcher.compile

    def compile_whole(signature):
        with engine._engine(engine._Engine("loop")):
            return compile(signature)

    dispatcher.compile = compile_whole
    return dispatcher


def compiled_afresh(method, monkeypatch, tmp_path, dtype="float64"):
    """The machine code of a tile loop; numba shows none that came from the disk, or of which the
    object code alone is kept."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_bound", {})
    monkeypatch.setattr(engine, "compile_separately", kept_whole)
    program = build(get(method), TOP.torque(), TOP.body)
    backend = Tiles(program, 64, program.moments, program.parameters, dtype)
    backend.prepare(Segment(0.0, 0.0, 1, 0.0))
    ((machine, _),) = backend._machines.values()
    (text,) = machine.inspect_asm().values()
    return backend, re.split(r"\n(?=\S+:)", text)


@pytest.mark.skipif(not X86, reason="reads x86 instructions")
@pytest.mark.parametrize("method", PACKED)
def test_the_inner_loop_is_made_of_packed_instructions(method, monkeypatch, tmp_path):
    backend, blocks = compiled_afresh(method, monkeypatch, tmp_path)
    inner = max(blocks, key=lambda block: len(re.findall(r"\sv?mulpd\s", block)))
    assert len(re.findall(r"\sv?mulpd\s", inner)) > 100
    # two roots cost as much singly
    singly = r"\sv?(?:mul|add|sub|div|sqrt)sd\s" if has_avx() else r"\s(?:mul|add|sub|div)sd\s"
    assert not re.findall(singly, inner)
    assert backend.vectorised


def test_methods_that_iterate_say_that_they_do_not_vectorise():
    run = ensemble(TOP.body, TOP.torque(), (0.0, 10 * H), H, "AKW", omega0=many(3)[2])
    assert run.vectorised is False and run.success


# --- single precision -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["NMB", "LP2"])
def test_single_precision_is_as_good_as_it_says(method):
    moments, q, omega, strengths = many(100, 6)
    given = dict(rotation0=q, omega0=omega, parameters={"moment": strengths})
    double = ensemble(moments, torques.heavy_top(1.0), (0.0, 400 * H), H, method, **given)
    single = ensemble(
        moments, torques.heavy_top(1.0), (0.0, 400 * H), H, method, dtype="float32", **given
    )
    assert single.success and single.vectorised
    error = (
        Rotation.from_quat(double.quaternion).inv() * Rotation.from_quat(single.quaternion)
    ).magnitude()
    assert 1e-8 < np.median(error) < 1e-4  # less would not be single precision


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_body_that_is_not_a_number_is_flagged_and_the_others_finish():
    omega = many(130)[2]
    omega[77, 1] = np.nan
    run = ensemble(TOP.body, TOP.torque(), (0.0, 20 * H), H, "NMB", omega0=omega)
    (failure,) = run.failures
    assert (failure.body, failure.step, failure.t) == (77, 0, 0.0) and "initial" in failure.reason
    assert list(np.flatnonzero(run.status != "finished")) == [77] and run.status[77] == "failed"
    others = ensemble(
        TOP.body,
        TOP.torque(),
        (0.0, 20 * H),
        H,
        "NMB",
        omega0=np.where(np.isnan(omega), 0.0, omega),
    )
    assert np.array_equal(np.delete(others.omega, 77, 0), np.delete(run.omega, 77, 0))


@torque(form="tuple", params={"when": 1.0})
def bursts(t, R, p):
    return (0.0, 0.0, 1.0 if t < p.when else float("nan"))


def test_a_failure_has_its_step_and_time_and_leaves_the_last_good_motion():
    when = np.full(100, 10.0)
    when[[3, 90]] = 0.3, 0.55
    run = ensemble(
        [1.0, 2.0, 2.5],
        bursts,
        (0.0, 1.0),
        0.1,
        "LP2",
        omega0=(0.1, 1.0, 0.0),
        parameters={"when": when},
    )
    assert [(failure.body, failure.step) for failure in run.failures] == [(3, 2), (90, 5)]
    assert [failure.t for failure in run.failures] == pytest.approx([0.2, 0.5])
    assert {failure.reason for failure in run.failures} == {"diverged"}
    good = integrate(
        [1.0, 2.0, 2.5],
        bursts.with_params(when=10.0),
        (0.0, 0.5),
        0.1,
        "LP2",
        omega0=(0.1, 1.0, 0.0),
    )
    assert np.array_equal(run.omega[90], good.omega[-1]) and np.array_equal(
        run.omega[3], good.omega[2]
    )
    assert run.end_times[90] == run.failures[1].t and run.t == 1.0


def test_an_equation_without_a_solution_is_named():
    omega = np.array([[0.1, 0.2, 0.3], [300.0, 200.0, -400.0], [0.1, 0.2, 0.3]])
    run = ensemble([1.0, 2.0, 2.5], None, (0.0, 1.0), 0.05, "DMV", omega0=omega)
    assert [(failure.body, failure.reason) for failure in run.failures] == [(1, "unsolved")]
    assert np.array_equal(run.omega[0], run.omega[2])


@torque
def touchy(t, R):
    if t > 0.31 and R[2, 2] < 0.0:
        raise ValueError("upside down")
    return np.array([0.0, 0.0, 0.1])


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_a_torque_that_raises_for_one_body(kind):
    seen = {}
    acting = (
        touchy
        if kind == "compiled"
        else torque(lambda t, R: touchy(t, R) if seen.setdefault("called", True) else None)
    )
    up, down = [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]
    run = ensemble(
        [1.0, 2.0, 2.5],
        acting,
        (0.0, 1.0),
        0.1,
        "NMB",
        rotation0=np.array([up, down, up]),
        omega0=(0.0, 0.0, 0.1),
    )
    assert run.mode == {"compiled": "compiled", "python": "callback"}[kind]
    (failure,) = run.failures
    assert (failure.body, failure.step) == (1, 3) and "upside down" in failure.reason
    alone = integrate([1.0, 2.0, 2.5], acting, (0.0, 1.0), 0.1, "NMB", omega0=(0.0, 0.0, 0.1))
    assert np.array_equal(run.omega[0], alone.omega[-1]) and np.array_equal(
        run.omega[2], alone.omega[-1]
    )
    if kind == "python":
        assert run.threads == 1 and not run.vectorised and "may change" in run.note


def test_a_torque_in_c_runs_in_threads():
    from numba import carray, cfunc

    @cfunc("void(float64, CPointer(float64), CPointer(float64))")
    def spring(t, state, out):
        R, T = carray(state, 12), carray(out, 3)
        T[0], T[1], T[2] = -2.0 * R[7], 2.0 * R[6], 0.1 * t

    omega = many(200)[2]
    from polhode.loads.foreign import Foreign

    run = ensemble(
        [1.0, 2.0, 2.5], Foreign(spring.address), (0.0, 1.0), 0.05, "LP2", omega0=omega, threads=2
    )
    assert run.mode == "callback" and run.threads == 2 and run.success
    for i in (0, 99, 199):
        one = integrate(
            [1.0, 2.0, 2.5], Foreign(spring.address), (0.0, 1.0), 0.05, "LP2", omega0=omega[i]
        )
        assert np.array_equal(one.omega[-1], run.omega[i])


@pytest.mark.parametrize("kind", ["C", "Python"])
def test_torques_outside_machine_code_in_single_precision(kind):
    from numba import carray, cfunc

    seen = []  # stays Python

    @cfunc("void(float64, CPointer(float64), CPointer(float64))")
    def spring(t, state, out):
        R, T = carray(state, 12), carray(out, 3)
        T[0], T[1], T[2] = -2.0 * R[7], 2.0 * R[6], 0.1 * t

    def springing(t, R):
        seen.append(t)
        return (-2.0 * R[2, 1], 2.0 * R[2, 0], 0.1 * t)

    acting = torques.Foreign(spring.address) if kind == "C" else springing
    single, double = (
        ensemble([1.0, 2.0, 2.5], acting, (0.0, 1.0), 0.05, "LP2", omega0=many(20)[2], dtype=dtype)
        for dtype in ("float32", "float64")
    )
    assert single.success and single.mode == "callback"
    scale = np.abs(double.omega).max()
    assert 0.0 < np.abs(single.omega - double.omega).max() < 1e-5 * scale


def test_control_c_ends_a_loop_and_keeps_what_was_computed():
    def press(done, total):
        if done >= 16:
            signal.raise_signal(signal.SIGINT)  # to this thread: nothing is left for later

    finished = []
    with pytest.raises(KeyboardInterrupt, match="interrupted after") as told:
        for _ in range(2):
            finished.append(
                ensemble(
                    TOP.body,
                    TOP.torque(),
                    (0.0, 1_000_000 * H),
                    H,
                    "NMB",
                    omega0=many(10)[2],
                    progress=press,
                )
            )
    run = told.value.ensemble
    assert (
        not finished
        and run.interrupted
        and set(run.status) == {"interrupted"}
        and 16 <= run.steps < 1_000_000
    )
    again = ensemble(TOP.body, TOP.torque(), (0.0, run.t), H, "NMB", omega0=many(10)[2])
    assert np.array_equal(again.omega, run.omega)


def test_control_c_in_the_last_steps_is_not_forgotten():
    def press(done, total):
        if done == total:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as told:
        ensemble(
            TOP.body, TOP.torque(), (0.0, 20 * H), H, "NMB", omega0=many(10)[2], progress=press
        )
    assert told.value.ensemble.steps == 20


@pytest.mark.parametrize("wrong", ["statistic", "progress"])
def test_an_error_of_the_user_keeps_what_was_computed(wrong):
    def late(t):
        return 1.0 / (t < 10 * H)

    def impatient(done, total):
        if done >= 10:
            raise ZeroDivisionError("enough")

    keep = Statistics(
        every=5, of="energy", functions={"late": late} if wrong == "statistic" else {}
    )
    given = (TOP.body, TOP.torque(), (0.0, 100 * H), H, "NMB")
    with pytest.raises(InputError if wrong == "statistic" else ZeroDivisionError) as told:
        ensemble(
            *given,
            omega0=many(10)[2],
            keep=keep,
            progress=impatient if wrong == "progress" else None,
        )
    run = told.value.ensemble
    assert run.interrupted and 10 <= run.steps < 100
    statistics = run.statistics["energy"].over_bodies
    assert len(run.times) == len(statistics.mean) == (2 if wrong == "statistic" else 3)
    assert np.isfinite(statistics.mean).all()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"rotation0": np.tile([0.0, 0.0, 0.0, 1.0], (5, 1))}, ["rotation0", "5", "omega0", "4"]),
        ({"n": 7}, ["n is for 7", "4"]),
        ({"parameters": {"moment": [1.0, 2.0]}}, ["'moment'", "2", "4"]),
        ({"parameters": {"momnt": [1.0, 2.0]}}, ["moment"]),
        ({"device": "gpu"}, ["device", "cuda"]),
        ({"dtype": "float16"}, ["dtype", "float32"]),
        ({"keep": "ends"}, ["did you mean 'end'"]),
        ({"keep": 0}, ["at least 1"]),
        ({"keep": {"evry": 2}}, ["every"]),
        ({"keep": {"of": ["energi"]}}, ["energy"]),
        ({"keep": {"functions": {"f": lambda y: y}}}, ["argument", "omega"]),
        ({"threads": 0}, ["threads"]),
        ({"rotation0": "randm"}, ["random"]),
        ({"bodies": np.array([[1.0, 2.0, 2.5], [1.0, 2.0, 9.0]])}, ["body 1", "triangle"]),
        ({"rng": -1, "rotation0": "random"}, ["rng"]),
        ({"metod": "NMB"}, ["method"]),
    ],
)
def test_bad_input_is_refused_with_a_reason(change, words):
    given = dict(
        bodies=[1.0, 2.0, 2.5],
        torque=torques.heavy_top(),
        t_span=(0.0, 1.0),
        step=0.1,
        omega0=np.ones((4, 3)),
    )
    with pytest.raises(InputError) as error:
        ensemble(**{**given, **change})
    for word in words:
        assert word in str(error.value)


# --- what is given, and what is drawn -------------------------------------------------------------


def test_parameters_of_a_sum_of_torques():
    both = torques.heavy_top(2.0) + torques.damping(0.1)
    strengths, friction = np.array([1.0, 2.0, 3.0]), np.full((3, 3), 0.2)
    run = ensemble(
        [1.0, 2.0, 2.5],
        both,
        (0.0, 1.0),
        0.05,
        "LP2",
        omega0=(0.1, 1.0, 0.2),
        parameters={"moment": strengths, "damping.coefficients": friction},
    )
    for i, strength in enumerate(strengths):
        one = integrate(
            [1.0, 2.0, 2.5],
            torques.heavy_top(strength) + torques.damping([0.2] * 3),
            (0.0, 1.0),
            0.05,
            "LP2",
            omega0=(0.1, 1.0, 0.2),
        )
        assert np.array_equal(one.omega[-1], run.omega[i])


def test_draws_repeat_and_do_not_depend_on_how_many_there_are():
    given = dict(
        t_span=(0.0, 0.1),
        step=0.05,
        rotation0="random",
        omega0=stats.norm([0.0, 1.0, 0.0], 0.1),
        rng=7,
    )
    whole = ensemble([1.0, 2.0, 2.5], n=5000, **given)
    again, part = (
        ensemble([1.0, 2.0, 2.5], n=5000, **given),
        ensemble([1.0, 2.0, 2.5], n=300, first=4000, **given),
    )
    assert whole.seed == 7 and np.array_equal(whole.quaternion, again.quaternion)
    assert np.array_equal(part.quaternion, whole.quaternion[4000:4300]) and np.array_equal(
        part.omega, whole.omega[4000:4300]
    )
    other = ensemble([1.0, 2.0, 2.5], n=300, **{**given, "rng": 8})
    assert not np.allclose(other.omega, whole.omega[:300])


def test_random_attitudes_are_spread_evenly():
    q = inputs.draw_values("rotation0", "random", (4,), 1, 0, 20000)
    R = Rotation.from_quat(q).as_matrix()
    assert np.abs(R.mean(axis=0)).max() < 5 / np.sqrt(3 * 20000)
    angle = Rotation.from_quat(q).magnitude()  # its density is (1 - cos) / pi
    assert stats.kstest(angle, lambda a: (a - np.sin(a)) / np.pi).pvalue > 1e-3


# --- what is kept ---------------------------------------------------------------------------------


def test_motions_on_the_way_are_those_of_integrate():
    omega = many(3)[2]
    run = ensemble(TOP.body, TOP.torque(), (0.0, 10 * H), H, "NMB", omega0=omega, keep=4)
    one = integrate(TOP.body, TOP.torque(), (0.0, 10 * H), H, "NMB", omega0=omega[2], every=4)
    assert np.array_equal(run.times, one.t) and np.array_equal(run.omegas[:, 2], one.omega)
    assert run.quaternions.shape == (4, 3, 4)


def test_statistics_are_those_of_the_stored_motions():
    def tilt(R):
        return R[2, 2]

    moments, q, omega, strengths = many(65, 9)
    given = dict(rotation0=q, omega0=omega, parameters={"moment": strengths})
    wanted = Statistics(every=3, functions={"tilt": tilt})
    run = ensemble(moments, torques.heavy_top(1.0), (0.0, 30 * H), H, "LP2", keep=wanted, **given)
    kept = ensemble(moments, torques.heavy_top(1.0), (0.0, 30 * H), H, "LP2", keep=3, **given)
    assert np.array_equal(run.times, kept.times)
    R = Rotation.from_quat(kept.quaternions.reshape(-1, 4)).as_matrix().reshape(-1, 65, 3, 3)
    Pi = kept.omegas * moments
    pi = np.einsum("tbij,tbj->tbi", R, Pi)
    energy = 0.5 * (Pi * kept.omegas).sum(axis=-1) + strengths * R[..., 2, 2]
    quantities = {
        "energy": energy,
        "momentum": np.linalg.norm(pi, axis=-1),
        "momentum_y": pi[..., 1],
        "tilt": R[..., 2, 2],
    }
    for name, values in quantities.items():
        for summary, axis in (
            (run.statistics[name].over_time, 0),
            (run.statistics[name].over_bodies, 1),
        ):
            scale = np.abs(values).max()
            by_hand = values.mean(axis), values.var(axis), values.min(axis), values.max(axis)
            for found, expected in zip(summary, by_hand, strict=True):
                assert found == pytest.approx(expected, abs=1e-13 * scale * scale + 1e-13 * scale)
    assert np.array_equal(run.omega, kept.omega)


def test_statistics_leave_out_a_body_from_where_it_failed():
    when = np.array([10.0, 0.35, 10.0])
    run = ensemble(
        [1.0, 2.0, 2.5],
        bursts,
        (0.0, 1.0),
        0.1,
        "NMB",
        omega0=(0.1, 1.0, 0.0),
        parameters={"when": when},
        keep={"every": 1, "of": "kinetic_energy"},
    )
    energy = run.statistics["kinetic_energy"]
    assert np.isfinite(energy.over_bodies.mean).all() and np.isfinite(energy.over_time.mean).all()
    assert energy.over_time.max[1] < energy.over_time.max[0]


def test_statistics_of_a_body_that_never_moved_are_nan():
    omega = np.array([[0.1, 1.0, 0.0], [np.nan, 0.0, 0.0]])
    run = ensemble([1.0, 2.0, 2.5], None, (0.0, 1.0), 0.1, "LP2", omega0=omega, keep="statistics")
    assert run.status.tolist() == ["finished", "failed"]
    for name, (over_time, over_bodies) in run.statistics.items():
        for values in over_time:
            assert np.isfinite(values[0]) and np.isnan(values[1]), name
        assert np.isfinite(over_bodies).all()


def test_memory_is_at_most_twice_the_state():
    n = 100_000
    q, omega = many(n)[1:3]
    given = dict(rotation0=q, omega0=omega, threads=1)
    ensemble(TOP.body, TOP.torque(), (0.0, H), H, "NMB", **given)  # compiles
    state = 8 * n * build(get("NMB"), TOP.torque(), TOP.body).size
    tracemalloc.start()
    run = ensemble(TOP.body, TOP.torque(), (0.0, 3 * H), H, "NMB", **given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.n == n and peak < 2 * state


# --- files and the command line -------------------------------------------------------------------


def test_to_xarray_and_files(tmp_path):
    import xarray as xr

    run = ensemble(
        TOP.body,
        TOP.torque(),
        (0.0, 10 * H),
        H,
        "NMB",
        omega0=many(4)[2],
        keep={"every": 5, "of": "energy"},
    )
    data = run.to_xarray()
    assert data["quaternion"].shape == (4, 4) and data["energy_mean_over_bodies"].dims == ("time",)
    back = xr.load_dataset(run.save(tmp_path / "run.nc"), engine="scipy")
    assert (
        np.array_equal(back["omega"], run.omega)
        and back["status"].attrs["flag_meanings"].split()[0] == "finished"
    )
    with np.load(run.save(tmp_path / "run.npz")) as arrays:
        assert np.array_equal(arrays["quaternion"], run.quaternion)


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "polhode", "ensemble", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


SCENARIO = """
[body]
inertia = [1.0, 1.5, 2.0]
[initial]
omega = [0.1, 1.0, 0.2]
[torque]
name = "heavy_top"
moment = 2.0
[run]
method = "NMB"
step = 0.05
t_span = [0, 1]
[ensemble]
n = 50
seed = 3
omega_spread = 0.2
inertia_spread = 0.1
parameter_spread.moment = 0.1
"""


def test_the_command_prints_what_was_done(tmp_path):
    scenario = tmp_path / "many.toml"
    scenario.write_text(SCENARIO)
    done = command(scenario, "--n", 70, "--threads", 2, "--json", "-o", tmp_path / "out.npz")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (
        facts["n"] == 70
        and facts["device"] == "cpu"
        and facts["method"] == "NMB"
        and facts["threads"] == 2
    )
    assert (
        facts["vectorised"] is True
        and facts["body_steps_per_s"] > 0
        and facts["failed"] == 0
        and facts["steps"] == 20
    )
    with np.load(tmp_path / "out.npz") as arrays:
        assert len(np.unique(arrays["omega"][:, 0])) == 70


def test_the_command_refuses_a_bad_section(tmp_path):
    scenario = tmp_path / "many.toml"
    scenario.write_text(
        SCENARIO.replace("n = 50", "n = 0").replace(
            "parameter_spread.moment", "parameter_spread.momnt"
        )
    )
    done = command(scenario)
    assert done.returncode == 2 and "ensemble.n" in done.stderr
    scenario.write_text(SCENARIO.replace("parameter_spread.moment", "parameter_spread.momnt"))
    done = command(scenario)
    assert done.returncode == 2 and "did you mean 'moment'" in done.stderr


def test_the_dataset_says_who_each_body_was():
    run = ensemble(
        [[1, 2, 2.5], [2, 3, 4]],
        torques.heavy_top(3.0),
        (0, 0.1),
        0.01,
        omega0=(1, 0, 0),
        parameters={"moment": [1.0, 2.0]},
        keep=Statistics(every=5, of="energy"),
    )
    data = run.to_xarray()
    np.testing.assert_array_equal(data["moments"], [[1, 2, 2.5], [2, 3, 4]])
    np.testing.assert_array_equal(data["parameter_moment"], [1.0, 2.0])
