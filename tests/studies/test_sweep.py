"""Sweeps: every body is its scenario's, however it is cut into chunks, and whoever is killed on the
way."""

import hashlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import polhode
import polhode.io
from polhode.errors import InputError
from polhode import Sweep, sweep
from polhode.results.motion import PARTS
from polhode.studies.sweep.cluster import Cluster, Workers
from polhode.studies.sweep.plan import Plan, boxes, load
from polhode.studies.sweep.task import SweepChunk

TOPS = """
problem = "krysl/slow-top"
[torque]
name = "heavy_top"
[run]
method = "NMB"
step = 0.001
t_span = [0, 30]
[sweep]
initial.omega.2 = { from = 1.0, to = 50.0, count = 20, scale = "log" }
torque.moment = [10.0, 20.0]
initial.omega.0 = { normal = [0.0, 0.1] }
samples = 64
seed = 3
"""
CHUNK = 128  # bodies: 20 chunks


def plan_of(text):
    return Plan(tomllib.loads(text), "sweep.toml")


def results(plan, chunk=10**9):
    """All results, computed chunk by chunk in this process."""
    out = {}
    for start, stop in boxes(plan.shape, plan.chunk_shape(None, chunk)):
        values, _ = SweepChunk(plan, (start, stop)).run(1)
        for name, part in values.items():
            whole = out.setdefault(
                name, np.full((*plan.shape, *part.shape[len(plan.shape) :]), -2, part.dtype)
            )
            whole[tuple(slice(a, b) for a, b in zip(start, stop, strict=True))] = part
    return out


def digests(store):
    """{file: digest} of everything in a store."""
    files = [path for path in store.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(store)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


# --- what is computed -----------------------------------------------------------------------------

BODY = "[body]\ninertia = [1.0, 2.0, 2.5]\n"
TENSOR = "[body]\ninertia = [[110.0, 2.0, 0.0], [2.0, 100.0, -1.0], [0.0, -1.0, 30.0]]\n"
RUN = '[run]\nmethod = "VLV"\nstep = 0.05\nt_span = [0, 2]\n'
SEVERAL = '[[torque]]\nname = "gravity_gradient"\nrate = 0.3\n[[torque]]\nname = "damping"\ncoefficient = 0.1\n'
LOADS = '[[load]]\nname = "gravity"\nmu = 8.0\n[[load]]\nname = "drag"\nlinear = 0.1\n'
WHEELS = (
    "[[body.rotors]]\naxis = [0.0, 0.6, 0.8]\ninertia = 3.0\nspeed = 30.0\n"
    "[[body.rotors]]\naxis = [1.0, 0.0, 0.0]\ninertia = 2.0\nmomentum = 4.0\ndamping = 0.1\n"
)
CASES = {
    "velocity, moment and method": 'problem = "slow-top"\n[torque]\nname = "heavy_top"\n[run]\nt_span = [0, 1]\n[sweep]\n'
    'run.method = ["NMB", "LIEMID[EA]"]\nrun.step = [0.05, 0.02]\n'
    "initial.omega.2 = [1.0, 5.0]\ntorque.moment = [10.0, 20.0, 30.0]\n",
    "attitudes and inertias drawn": BODY
    + RUN
    + '[sweep]\ninitial.rotation = "random"\ninitial.omega = { normal = [0.0, 1.0] }\n'
    "body.inertia.0 = { uniform = [0.9, 1.1] }\nsamples = 9\nseed = 5\n",
    "a torque that sees the body": TENSOR
    + SEVERAL
    + RUN
    + "[initial]\nmomentum = [1.0, 2.0, 3.0]\n[sweep]\n"
    "body.inertia = [[1.0, 2.0, 2.5], [2.0, 2.0, 1.0]]\n"
    "torque.gravity_gradient.rate = [0.1, 0.4]\n"
    "torque.damping.coefficient = { loguniform = [0.01, 1.0] }\nsamples = 2\n",
    "shapes and vectors": '[body]\nshape = "cylinder"\nradius = 1.0\nheight = 2.0\nmass = 3.0\n'
    + RUN
    + '[initial]\nomega = [0.1, 1.0, 0.2]\n[torque]\nname = "constant"\nvalue = [0.0, 0.0, 1.0]\n[sweep]\n'
    "body.radius = { from = 0.5, to = 2.0, count = 3 }\ntorque.value.1 = [-1.0, 1.0]\n"
    "initial.rotation_vector = [[0.1, 0.0, 0.0], [0.0, 2.0, 0.0]]\n",
    "three moments": BODY
    + RUN
    + "[initial]\nomega = [0.1, 1.0, 0.2]\n[sweep]\nbody.inertia.0 = [1.0, 1.1, 1.2]\n",
    "a method made for the body": BODY
    + RUN.replace("VLV", "LP2")
    + "[initial]\nomega = [0.1, 1.0, 0.2]\n[sweep]\n"
    'run.method = ["EXACT", "taylor4"]\n'
    "body.inertia = [[1.0, 2.0, 2.5], [2.0, 2.0, 1.0], [3.0, 3.0, 3.0]]\n",
    "a flight": BODY
    + "mass = 3.0\n"
    + LOADS
    + RUN.replace("VLV", "LP2")
    + "[initial]\nomega = [0.1, 1.0, 0.2]\nposition = [2.0, 0.0, 0.0]\n[sweep]\n"
    "initial.position.0 = [2.0, 3.0]\nload.gravity.mu = [8.0, 9.0]\nload.drag.linear = [0.0, 0.1]\n"
    "body.mass = { uniform = [2.0, 3.0] }\ninitial.velocity = { normal = [0.0, 1.0] }\nsamples = 3\n",
    "shapes in flight": '[body]\nshape = "box"\nsize = [1.0, 2.0, 3.0]\nmass = 3.0\n'
    + LOADS
    + RUN.replace("VLV", "LP2")
    + "[initial]\nomega = [0.1, 1.0, 0.2]\nposition = [2.0, 0.0, 0.0]\n[sweep]\nbody.size.0 = [1.0, 1.5]\n",
    "wheels": TENSOR
    + WHEELS
    + RUN.replace("VLV", "LP2")
    + "[initial]\nomega = [0.1, 1.0, 0.2]\nvelocity = [1.0, 0.0, 0.0]\n[sweep]\n"
    "body.rotors.0.speed = { normal = [30.0, 3.0] }\nbody.rotors.1.damping = [0.1, 0.3]\nsamples = 3\n",
    "wheels by the momentum of the whole": TENSOR
    + WHEELS
    + RUN.replace("VLV", "LP2")
    + "[initial]\nmomentum = [10.0, 20.0, 30.0]\n[sweep]\nbody.rotors.0.speed = [3.0, 30.0]\n",
}


FAST = (
    "a method made for the body",
    "shapes and vectors",
    "three moments",
    "a flight",
    "shapes in flight",
    "wheels",
)


@pytest.mark.parametrize(
    "case", [case if case in FAST else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
def test_each_body_is_its_scenario_bit_for_bit(case):
    plan = plan_of(CASES[case])
    found = results(plan)
    for place in np.ndindex(*plan.shape):
        run = plan.scenario(dict(zip(plan.dimensions, place, strict=True))).integrate()
        assert found["quaternion"][place].tolist() == run.quaternion[-1].tolist()
        assert found["omega"][place].tolist() == run.omega[-1].tolist()
        for name in run.kind.slices.keys() - {"attitude", "omega"}:
            name = PARTS[name].name
            assert found[name][place].tolist() == getattr(run, name)[-1].tolist()
        energy = run.kinetic_energy if run.total_energy is None else run.total_energy
        assert found["energy"][place] == pytest.approx(energy[-1], rel=1e-13)
        assert found["energy_error"][place] == pytest.approx(
            energy[-1] - energy[0], abs=1e-12 * abs(energy[0])
        )
        assert found["status"][place] == 0 and found["time"][place] == run.t[-1]


def test_chunks_leave_no_trace():
    plan = plan_of(TOPS.replace("[0, 30]", "[0, 0.1]"))
    whole = results(plan)
    for chunk in (1000, 77, 13):
        for name, values in results(plan, chunk).items():
            np.testing.assert_array_equal(values, whole[name], strict=True)


def test_chunks_are_cut_by_work():
    """Four tiles of lanes keep a thread busy; where there are fewer bodies, each worker has some."""
    plan, large = plan_of(TOPS), 2**40
    plan.steps = 400_000
    assert plan.chunk_shape(Workers(1, 2, large)) == (4, 2, 64)  # 512 bodies
    assert plan.chunk_shape(Workers(2, 1, large)) == (2, 2, 64)
    assert plan.chunk_shape(Workers(1, 8, large)) == (16, 2, 64)
    assert plan.chunk_shape(Workers(40, 8, large)) == (1, 1, 64)  # one for each worker
    plan.steps = 100  # little work: all at once
    assert plan.chunk_shape(Workers(1, 2, large)) == plan.shape


def test_chunks_are_boxes_of_at_most_so_many_bodies():
    plan = plan_of(TOPS)
    assert plan.shape == (20, 2, 64) and plan.n == 2560
    assert plan.chunk_shape(None, 128) == (1, 2, 64)
    assert plan.chunk_shape(None, 300) == (2, 2, 64)
    assert plan.chunk_shape(None, 10) == (1, 1, 10)
    # a quarter of the memory, 1024 bytes for each
    assert np.prod(plan.chunk_shape(Workers(1, 2, 4 * 1024 * 50))) <= 50
    covered = np.zeros(plan.shape, int)
    for start, stop in boxes(plan.shape, (1, 1, 10)):
        covered[tuple(slice(a, b) for a, b in zip(start, stop, strict=True))] += 1
    assert (covered == 1).all()


def test_every_point_of_the_grid_gets_the_same_samples():
    plan = plan_of(CASES["attitudes and inertias drawn"] + "run.step = [0.05, 0.1]\n")
    drawn = {
        place: plan.scenario({"run.step": place[0], "sample": place[1]}).omega0.tolist()
        for place in np.ndindex(2, 9)
    }
    assert all(drawn[0, i] == drawn[1, i] for i in range(9))
    assert len({tuple(value) for value in drawn.values()}) == 9


def test_a_body_that_fails_leaves_the_others_alone():
    plan = plan_of(
        BODY
        + RUN.replace("[0, 2]", "[0, 40]")
        + '[initial]\nomega = [0.1, 1.0, 0.2]\n[torque]\nname = "damping"\n'
        "coefficient = 0.1\n[sweep]\ntorque.coefficient = [0.1, -50.0, 0.2]\n"
    )
    found = results(plan)
    assert found["status"].tolist()[::2] == [0, 0] and found["status"][1] > 0
    assert found["time"][0] == 40.0 and found["time"][1] < 40.0
    assert np.isfinite(found["omega"][::2]).all()


def test_the_example_is_a_sweep_and_no_run():
    path = Path(__file__).parents[2] / "examples" / "sweep.toml"
    assert load(path).n == 2 * 16 * 3 * 100
    with pytest.raises(InputError, match="polhode sweep"):
        polhode.io.load(path)


# --- what is refused ------------------------------------------------------------------------------

START = BODY + RUN + "[initial]\nomega = [0.1, 1.0, 0.2]\n"
WRONG = {
    START: "has no \\[sweep\\] section",
    START + "[sweep]\n": "has no axis",
    START
    + "[sweep]\ninitial.omgea.1 = [1.0]\n": "unknown axis 'initial.omgea.1' .did you mean 'initial.omega.1'",
    START + "[sweep]\ninitial.omega.3 = [1.0]\n": "unknown axis 'initial.omega.3'",
    START + "[sweep]\ntorque.moment = [1.0]\n": "no \\[torque\\] section",
    START + "[sweep]\nrun.method = ['NMB', 'NBM']\n": "unknown method 'NBM' .did you mean 'NMB'",
    START + "[sweep]\nrun.step = [0.1, -0.1]\n": "run.step: must be positive",
    START + "[sweep]\nrun.step = [0.1, 0.1]\n": "0.1 is given twice",
    START + "[sweep]\nrun.step = [0.1, 'x']\n": "all of the same kind",
    START + "[sweep]\nrun.step = []\n": "the list is empty",
    START + "[sweep]\nrun.step = 0.1\n": "must be a list of values",
    START + "[sweep]\nrun.step = { uniform = [0.1, 0.2] }\nsamples = 3\n": "cannot be drawn",
    START + "[sweep]\nbody.inertia.0 = [1.0, 9.0]\n": "triangle",
    START
    + "[sweep]\nbody.inertia.0 = { form = 1.0, to = 2.0, count = 3 }\n": "form: unknown key .did you mean 'from'",
    START + "[sweep]\nbody.inertia.0 = { from = 1.0, to = 2.0 }\n": "count: is missing",
    START + "[sweep]\nbody.inertia.0 = { from = 1.0, to = 1.0, count = 3 }\n": "are both 1.0",
    START
    + "[sweep]\nbody.inertia.0 = { from = -1.0, to = 2.0, count = 3, scale = 'log' }\n": "log scale",
    START
    + "[sweep]\nbody.inertia.0 = { normal = [1.0, 0.0] }\nsamples = 3\n": "standard deviation must be positive",
    START + "[sweep]\nbody.inertia.0 = { uniform = [1.0, 0.5] }\nsamples = 3\n": "ascend",
    START
    + "[sweep]\nbody.inertia.0 = { nromal = [1.0, 0.1] }\nsamples = 3\n": "did you mean 'normal'",
    START + "[sweep]\nbody.inertia.0 = { normal = [1.0, 0.1] }\n": "samples is missing",
    START + "[sweep]\nbody.inertia.0 = [1.0]\nsamples = 3\n": "no axis is drawn",
    START + "[sweep]\nbody.inertia.0 = [1.0]\n'body.inertia' = [[1.0, 2.0, 2.5]]\n": "both vary",
    START + "[sweep]\nrun.step = [0.1]\nsede = 3\n": "unknown key 'sede' .did you mean 'seed'",
    START + "[sweep]\nrun.step = [0.1]\nseed = -3\n": "seed",
    START + "[output]\nfile = 'a.nc'\n[sweep]\nrun.step = [0.1]\n": "name the store with --output",
    START.replace("step", "every = 2\nstep")
    + "[sweep]\nrun.step = [0.1]\n": "run.every: does not go with",
    BODY + RUN + "[sweep]\ninitial.omega.1 = [1.0]\n": "initial.omega is missing",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_sweep_is_refused_before_any_work(text):
    with pytest.raises(InputError, match=WRONG[text]):
        plan_of(text)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"workers": 0}, "workers must be"),
        ({"chunk": 0}, "chunk must be"),
        ({"wait": -1.0}, "wait must be positive"),
        ({"clutser": "x"}, "did you mean 'cluster'"),
        ({"out": "nowhere/at/all.zarr"}, "does not exist"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        sweep(tomllib.loads(TOPS), **{"out": tmp_path / "a.zarr", **options})
    assert not (tmp_path / "a.zarr").exists()


def test_a_sweep_that_does_not_fit_is_refused_with_its_size(tmp_path):
    huge = TOPS.replace("samples = 64", "samples = 1000000000000")
    with pytest.raises(
        InputError, match=r"40000000000000 bodies of 81 bytes each need 3240000000000000 bytes"
    ):
        sweep(tomllib.loads(huge), tmp_path / "a.zarr", chunk=10**9)


def test_what_is_no_store_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("all of it")
    with pytest.raises(InputError, match="is not the store of a sweep"):
        sweep(tomllib.loads(TOPS), tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.tex").read_text("utf-8") == "all of it"
    with pytest.raises(InputError, match="is not the store of a sweep"):
        Sweep(tmp_path / "mine")


def test_dask_is_imported_for_a_sweep_alone_and_missed_by_name():
    code = (
        "import sys, polhode, polhode.cli\nassert not {'dask', 'distributed', 'zarr'} & set(sys.modules)\n"
        "sys.modules['zarr'] = None\ntry:\n    polhode.sweep({})\nexcept polhode.InputError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "'zarr' is not installed; install with: pip install 'polhode[cluster]'" in done.stdout, (
        done.stderr
    )


# --- real processes -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "tops.toml"
    path.write_text(TOPS)
    return path


@pytest.fixture(scope="module")
def undisturbed(file):
    """A store to compare with."""
    result = sweep(file, file.with_suffix(".zarr"), chunk=CHUNK)
    assert result.summary()["finished"] == 2560
    return result


class Command:
    """`polhode sweep` in a process, and a session, of its own."""

    def __init__(self, file, out, *more):
        self.out = out
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "polhode",
                "sweep",
                file,
                "--output",
                out,
                "--chunk",
                str(CHUNK),
                "--json",
                *more,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def until_some_are_done(self, count=3):
        """Wait until some chunks have been stored, but not all."""
        while len(list(self.out.glob("progress/sha256/c/*/0"))) < count:
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def workers(self):
        """The processes of its own cluster."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        children = {
            pid
            for task in tasks.iterdir()
            for pid in (task / "children").read_text("utf-8").split()
        }
        return [
            int(pid)
            for pid in children
            if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text("utf-8")
        ]

    def finish(self):
        """(exit code, stdout, stderr)."""
        out, err = self.process.communicate()
        return self.process.returncode, out, err


def started(*command):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *command, "--no-dashboard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class External:
    """A Dask scheduler and two workers as processes."""

    def __init__(self, port=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = port or free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = started("scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        self.workers = [
            started("worker", self.address, "--nworkers", "1", "--nthreads", "1", "--no-nanny")
            for _ in range(2)
        ]

    def kill(self):
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()


@pytest.fixture
def external():
    """Makes clusters that are gone after the test."""
    made = []

    def make(port=None):
        made.append(External(port))
        return made[-1]

    yield make
    for one in made:
        one.kill()


def same(undisturbed, out):
    assert digests(out) == digests(undisturbed.path)


def test_the_store_opens_as_a_dataset(undisturbed):
    data = xr.open_zarr(undisturbed.path)
    assert dict(data.sizes) == {
        "initial.omega.2": 20,
        "torque.moment": 2,
        "sample": 64,
        "axis": 3,
        "quaternion_component": 4,
    }
    assert set(data.coords) == {
        "initial.omega.2",
        "torque.moment",
        "initial.omega.0",
        "axis",
        "quaternion_component",
    }
    assert data["initial.omega.0"].dims == ("sample",)
    np.testing.assert_allclose(data["initial.omega.2"], np.geomspace(1.0, 50.0, 20), rtol=1e-14)
    one = data.isel({"initial.omega.2": 7, "torque.moment": 1, "sample": 11})
    run = (
        plan_of(TOPS).scenario({"initial.omega.2": 7, "torque.moment": 1, "sample": 11}).integrate()
    )
    assert one.omega.values.tolist() == run.omega[-1].tolist()
    assert one["initial.omega.0"] == run.omega[0, 0]
    assert data.status.attrs["flag_meanings"].split()[int(one.status) + 1] == "finished"
    assert data.attrs["polhode_version"] == polhode.__version__ and len(data.attrs["digest"]) == 64


def test_a_finished_sweep_is_not_computed_again(undisturbed, file):
    before = digests(undisturbed.path)
    again = sweep(file, undisturbed.path, chunk=CHUNK).summary()
    assert again["resumed"] == again["chunks"] == again["done"] == 20
    assert digests(undisturbed.path) == before


def test_a_killed_worker_loses_nothing(undisturbed, file, tmp_path):
    command = Command(file, tmp_path / "a.zarr")
    command.until_some_are_done()
    (worker,) = command.workers()
    os.kill(worker, signal.SIGKILL)
    code, out, err = command.finish()
    assert code == 0, err
    assert json.loads(out)["resumed"] == 0  # it went on by itself
    same(undisturbed, tmp_path / "a.zarr")


def test_a_killed_client_loses_nothing(undisturbed, file, tmp_path):
    command = Command(file, tmp_path / "a.zarr")
    command.until_some_are_done()
    workers = command.workers()
    command.process.kill()
    command.process.communicate()
    kept = len(list((tmp_path / "a.zarr").glob("progress/sha256/c/*/0")))
    assert 3 <= kept < 20
    # what a kill in a write leaves behind
    (tmp_path / "a.zarr" / "omega" / f"0.{32 * '7'}.partial").write_bytes(b"half of it")
    summary = sweep(file, tmp_path / "a.zarr").summary()
    assert summary["resumed"] == kept and summary["done"] == 20
    same(undisturbed, tmp_path / "a.zarr")
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):  # they go with the client
        time.sleep(0.02)


def test_a_killed_scheduler_loses_nothing(undisturbed, file, tmp_path, external):
    cluster = external()
    command = Command(file, tmp_path / "a.zarr", "--cluster", cluster.address, "--wait", "600")
    command.until_some_are_done()
    cluster.kill()
    restarted = external(cluster.port)
    code, out, err = command.finish()
    assert code == 0, err
    assert json.loads(out)["resumed"] == 0
    same(undisturbed, tmp_path / "a.zarr")
    restarted.kill()


def test_a_scheduler_that_resets_connections_while_it_comes_up_is_waited_for(external):
    with socket.create_server(("127.0.0.1", 0)) as going_down:
        port = going_down.getsockname()[1]

        def turn_away():
            for _ in range(3):
                there, _ = going_down.accept()
                there.recv(1)
                # closing it is a reset
                there.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                there.close()
            going_down.close()
            external(port)

        thread = threading.Thread(target=turn_away)
        thread.start()
        with Cluster(f"tcp://127.0.0.1:{port}", 1, wait=600.0) as cluster:
            cluster.connect()
            assert cluster.client.submit(sum, [1, 2, 3]).result() == 6
        thread.join()


@pytest.mark.slow
def test_a_scheduler_that_stays_away_is_reported_and_the_sweep_goes_on_elsewhere(
    undisturbed, file, tmp_path, external
):
    cluster = external()
    command = Command(file, tmp_path / "a.zarr", "--cluster", cluster.address, "--wait", "8")
    command.until_some_are_done()
    cluster.kill()
    code, out, err = command.finish()
    assert code == 4 and not out
    assert (
        "no Dask scheduler answers" in err
        and "continues from there" in err
        and "Traceback" not in err
    )
    summary = sweep(file, tmp_path / "a.zarr").summary()
    assert summary["resumed"] >= 3
    same(undisturbed, tmp_path / "a.zarr")


def test_ctrl_c_keeps_what_is_finished(file, tmp_path):
    command = Command(file, tmp_path / "a.zarr")
    command.until_some_are_done()
    os.killpg(command.process.pid, signal.SIGINT)  # what a terminal does: to the workers too
    code, out, err = command.finish()
    assert code == 130 and not out
    assert "of 20 chunks are in" in err and "Traceback" not in err
    assert Sweep(tmp_path / "a.zarr").summary()["done"] >= 3


def test_damaged_chunks_are_computed_again(undisturbed, file, tmp_path):
    out = tmp_path / "a.zarr"
    shutil.copytree(undisturbed.path, out)
    cut, flipped = (
        out / "omega" / "c" / "2" / "0" / "0" / "0",
        out / "energy" / "c" / "5" / "0" / "0",
    )
    cut.write_bytes(cut.read_bytes()[:100])
    data = bytearray(flipped.read_bytes())
    data[11] ^= 1
    flipped.write_bytes(data)
    (out / "status" / "c" / "9" / "0" / "0").unlink()
    (out / "progress" / "sha256" / "c" / "13" / "0").unlink()
    assert sweep(file, out).summary()["resumed"] == 16
    same(undisturbed, out)


def test_another_sweep_is_refused_and_force_starts_anew(undisturbed, file, tmp_path):
    out = tmp_path / "a.zarr"
    shutil.copytree(undisturbed.path, out)
    other = (
        TOPS.replace("10.0, 20.0", "10.0, 21.0")
        .replace("seed = 3", "seed = 4")
        .replace("[0, 30]", "[0, 0.01]")
    )
    with pytest.raises(
        InputError, match=r"another sweep: .*moment\[1\] is 20.0 there and 21.0 here"
    ) as error:
        sweep(tomllib.loads(other), out)
    assert "seed is 3 there and 4 here" in str(error.value) and "--force" in str(error.value)
    same(undisturbed, out)
    with pytest.raises(InputError, match="chunk=7 would make others"):
        sweep(file, out, chunk=7)
    again = sweep(tomllib.loads(other), out, force=True, workers=2, chunk=500)
    assert again.summary()["resumed"] == 0 and again.summary()["chunks"] == 7
    assert again.to_xarray().coords["torque.moment"].values.tolist() == [10.0, 21.0]
    fresh = results(plan_of(other))
    np.testing.assert_array_equal(again.to_xarray().quaternion, fresh["quaternion"])
