"""Results, and what they are made of, can be pickled and deep-copied, and sent between processes."""

import copy
import ctypes
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

import polhode
from polhode.errors import InputError
from polhode.methods import everything, get

BODY = [5.0, 5.0, 1.0]
START = {"rotation0": (0.3, 0.0, 0.0), "omega0": (0.1, 0.0, 5.0)}
WAYS = {"pickled": lambda thing: pickle.loads(pickle.dumps(thing)), "copied": copy.deepcopy}


def height(t, R):
    return 20.0 * R[2, 2]


@polhode.torque(potential=height)
def weight(t, R):
    return -20.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))


def drag(t, R, omega, p):
    return -p.k * omega


def closure(k):
    def spring(t, R):
        return np.array([k * R[0, 1], 0.0, 0.0])

    return spring


def push(t, R):
    return np.array([0.0, 0.1, 0.0])


def lifted(t, x, v, R):
    return np.array([0.0, 0.0, 1.0])


DRAG = polhode.torque(drag, uses_omega=True, frame="body", params={"k": 0.1})


def integrate(torque="heavy_top", **options):
    return polhode.integrate(BODY, torque, (0, 1), 0.01, **START | options)


@pytest.fixture(params=WAYS)
def again(request):
    return WAYS[request.param]


RUNS = {
    "named torque": lambda: integrate(),
    "a function": lambda: integrate(push),
    "potential": lambda: integrate(weight),
    "sum": lambda: integrate(weight + DRAG),
    "flight": lambda: integrate(None, force=lifted, velocity0=(0, 0, 1)),
    "by tolerance": lambda: polhode.integrate(BODY, "heavy_top", (0, 1), rtol=1e-9, **START),
    "events": lambda: integrate(events=lambda t, R, omega: R[2, 2] - 0.9),
    "a composed method": lambda: integrate(method="LP2+yoshida4"),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_run(case, again):
    run = RUNS[case]()
    other = again(run)
    assert repr(other) == repr(run) and other.method is run.method and other.kind is run.kind
    assert other.to_xarray().identical(run.to_xarray()) and other.summary() == run.summary()
    assert len(other.t_events or ()) == len(run.t_events or ())
    assert other.torque.record() == run.torque.record()


def test_a_run_whose_points_are_on_disk(again, tmp_path):
    run = integrate(checkpoint=tmp_path / "run.part")
    other = again(run)
    assert type(other) is polhode.Trajectory and other.to_xarray().identical(run.to_xarray())


def test_a_stored_result(again, tmp_path):
    stored = polhode.read(integrate(weight).save(tmp_path / "run.nc"))
    assert again(stored).to_xarray().identical(stored.to_xarray())
    many = polhode.ensemble(BODY, weight, (0, 1), 0.01, n=3, **START).save(tmp_path / "many.nc")
    assert again(polhode.read(many)).to_xarray().identical(polhode.read(many).to_xarray())


@pytest.mark.parametrize("keep", ["end", 20, "statistics"])
def test_an_ensemble(keep, again):
    tilted = polhode.RigidBody([[3.0, 0.1, 0.0], [0.1, 2.0, 0.2], [0.0, 0.2, 1.5]])
    many = polhode.ensemble(
        [tilted] * 3,
        DRAG,
        (0, 1),
        0.01,
        keep=keep,
        parameters={"k": np.array([0.1, 0.2, 0.3])},
        **START,
    )
    before, after = again(many), (many.energy, again(many))[1]  # with and without machine code
    for other in (before, after):
        assert other.to_xarray().identical(many.to_xarray()) and repr(other) == repr(many)
        assert np.array_equal(other.kinetic_energy, many.kinetic_energy)


def test_a_stepper_goes_on_bit_for_bit_and_alone(again):
    for options in ({}, {"position0": (0, 0, 1), "force": lifted}):
        first = polhode.Stepper(BODY, weight, step=0.01, **START, **options)
        first.step(10)
        second = again(first)
        assert second.t == first.t
        held = first.motion.copy()
        second.step(5)
        assert np.array_equal(first.motion, held) and first.t < second.t
        first.step(5)
        assert np.array_equal(first.motion, second.motion) and first.t == second.t


@pytest.mark.parametrize("options", [{"step": 0.01}, {"rtol": 1e-9, "max_step": 0.5}])
def test_a_flow(options, again):
    flow = polhode.Flow(BODY, DRAG, **options)
    asked = (0.0, 0.0, 0.0, 1.0), (0.1, 0.0, 5.0), 0.0, 1.0
    other = again(flow)
    for one, two in zip(flow(*asked), other(*asked), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("name", [*(one.name for one in everything()), "newmark(0.6)", "LP2+ep"])
def test_a_method_is_found_by_its_name(name, again):
    assert again(get(name)) is get(name)


def test_a_problem_a_body_a_comparison_an_advice_and_a_certificate(again):
    problem = polhode.problem("krysl/slow-top")
    other = again(problem)
    assert other.integrate("NMB").to_xarray().identical(problem.integrate("NMB").to_xarray())
    assert again(problem.body) == problem.body
    comparison = polhode.compare("krysl/slow-top", methods=["NMB"], errors=[1e-2])
    assert again(comparison).to_dict() == comparison.to_dict()
    advice = polhode.advise("krysl/slow-top", error=1e-2, methods=["NMB", "LP2"])
    assert again(advice).to_dict() == advice.to_dict()
    certificate = polhode.certify("NMB")
    assert again(certificate).to_dict() == certificate.to_dict()


@pytest.mark.parametrize(
    "torque",
    [weight, DRAG, weight + DRAG, polhode.torques.heavy_top(3.0, (1, 0, 0)), polhode.weight(2.0)],
    ids=str,
)
def test_a_torque(torque, again):
    other = again(torque)
    assert repr(other) == repr(torque) and type(other) is type(torque)
    assert np.array_equal(other(0.5, np.eye(3)), torque(0.5, np.eye(3)))
    if torque.params:
        assert type(other.params) is type(torque.params)


@pytest.mark.parametrize("function", [closure(2.0), lambda t, R: R[0]], ids=["closure", "lambda"])
def test_a_function_without_a_name_is_sent_as_code(function):
    pytest.importorskip("cloudpickle")
    run = integrate(function)
    other = WAYS["pickled"](run)
    assert np.array_equal(other.torque(0.0, np.eye(3)), run.torque(0.0, np.eye(3)))
    assert copy.deepcopy(run).torque.function is function


def test_without_cloudpickle_it_is_said_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(InputError, match=r"'closure.<locals>.spring' cannot be sent .* top of a"):
        pickle.dumps(integrate(closure(2.0)))


def test_a_torque_in_c_belongs_to_its_process():
    kind = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)
    torque = polhode.torques.as_torque(kind(lambda t, state, out: None))
    assert copy.deepcopy(torque).pointer is torque.pointer
    with pytest.raises(InputError, match="load the C library there"):
        pickle.dumps(torque)


SCRIPT = """
import multiprocessing, operator, sys
import numpy as np
import polhode

@polhode.torque(params={"k": 20.0})
def weight(t, R, p):
    return -p.k * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))

def job(omega):
    return polhode.integrate([5.0, 5.0, 1.0], weight, (0, 1), 0.01, omega0=(0.1, 0.0, omega))

if __name__ == "__main__":
    here = [job(omega) for omega in (1.0, 2.0)]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        there = pool.map(job, (1.0, 2.0))
        ends = pool.map(operator.attrgetter("total_energy"), here)
    assert all(one.omega.tobytes() == two.omega.tobytes() for one, two in zip(here, there))
    assert all(one.torque.function is weight.function for one in there)
    assert all(one.total_energy.tobytes() == end.tobytes() for one, end in zip(here, ends))
    print("the same")
"""


@pytest.mark.parametrize("how", multiprocessing.get_all_start_methods())
def test_runs_go_through_a_pool_of_processes(how, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py", how], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("the same"), done.stderr


def test_what_was_typed_into_a_session_reaches_a_new_process():
    """`job` of a notebook is not found there, the torque of a run is."""
    pytest.importorskip("cloudpickle")
    typed = SCRIPT.partition("if __name__")[0] + (
        "run = job(1.0)\n"
        "with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "    [found] = pool.map(operator.methodcaller('summary'), [run])\n"
        "print(found == run.summary())\n"
    )
    code = "import sys; exec(compile(sys.argv[1], '<typed>', 'exec'))"
    done = subprocess.run(
        [sys.executable, "-c", code, typed], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "True", done.stderr
