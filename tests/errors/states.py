"""Errors of a machine in some state: [(what is different, how), ...], a call, the value as the message names it, the way out."""

import builtins
import errno
import pickle
import socket
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import numpy as np
from around import Q, W, compute, contents

import polhode
from polhode.cli.commands import certify
from polhode.io.store import make_report_folder
from polhode.methods import get
from polhode.studies.compare.runner import StepRunner
from polhode.studies.compare.as_task import as_task
from polhode.studies.compare.truth import truth
from polhode.engine.carriers import gpu
from polhode.io.scenario._load import make_scenario
from polhode.show.play.server import Server
from polhode.studies.sweep import cluster
from polhode.studies.sweep.plan import Plan

STRENGTH = {"x": 0.3}
FULL = OSError(errno.ENOSPC, "No space left on device")


def late(t, R):
    """Stays Python, and is called back by machine code: it looks into a dict, which might change."""
    if t > 0.55:
        raise ValueError("too late")
    return np.array([STRENGTH["x"], 0.0, 0.0])


def raising(error):
    """A function that fails."""
    def fail(*_, **__):
        raise error

    return fail


def without(library):
    """An import of all but one library."""
    load = builtins.__import__
    return lambda name, *rest: load(name if name != library else f"no_{library}", *rest)


def on_a_busy_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        Server(taken.getsockname()[1])


def fake(**held):
    """A cluster without machines."""
    return SimpleNamespace(leave=lambda: None, threads=None, wait=-1.0, **held)


def died(*_, **__):
    import distributed

    worker = SimpleNamespace(address="tcp://there:1")
    raise distributed.KilledWorker("chunk", worker, 5)


class Future:
    """Of a chunk that nobody computes."""

    def release(self):
        """Let go of it."""


def idle():
    """A client whose scheduler has no workers."""
    return SimpleNamespace(nthreads=dict, submit=lambda *_, **__: Future(), scheduler=SimpleNamespace(address="tcp://there:1"))


def outcome():
    import distributed

    return cluster._outcome(SimpleNamespace(result=died), distributed)


def chunk(changes, **sweep):
    """The first chunk of a sweep of the slow top."""
    source = {"problem": "krysl/slow-top", "run": {"t_span": [0.0, 0.1]}, **changes, "sweep": sweep}
    made = Plan(source, "the sweep")
    return compute(source, made.digest, (tuple(0 for _ in made.shape), tuple(made.shape)), 1)


TOP, PUSH = {"name": "constant", "value": [0.0, 0.0, 1.0]}, {"name": "constant", "value": [0.0, 1.0, 0.0]}
GPU = SimpleNamespace(single=False, names={}, _kernels={}, program=SimpleNamespace(method=SimpleNamespace(name="NMB"),
                                                                         torque=SimpleNamespace(name="push")))


def failing_runner():
    """NMB on a task of which the torque fails before the end."""
    free, task = (as_task([1.0, 2.0, 2.5], torque, (0.0, 1.0), omega0=W) for torque in (None, late))
    return StepRunner(task, truth(free), get("NMB"))


def tumble():
    """A short run."""
    return polhode.integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W)


def odd():
    """A torque that cannot be made."""
    raise ValueError("no such thing")


STATES = [
    ([], lambda: failing_runner().motions(0.1), "NMB failed with step 0.1", "use a smaller one"),
    ([(gpu, "cuda", SimpleNamespace(kernel=lambda *_, **__: None)), (gpu, "compile_obstacle", lambda _: "no")],
     lambda: gpu.Gpu._launch(GPU, None), "method NMB with torque 'push' cannot be compiled for a GPU: no", "or use device='cpu'"),
    ([], lambda: polhode.ensemble([1, 2, 3], None, (0, 1), 0.1, omega0=W, n=2,
                                  keep=polhode.Statistics(functions={"f": lambda p: p})), "has an argument p", "leave p out"),
    ([("polhode.torques.BUILT_IN", {"odd": odd})],
     lambda: make_scenario({"problem": "krysl/slow-top", "torque": {"name": "odd"}}, "a.toml"), "no such thing", "correct them"),
    ([("llvmlite.__version__", "0.44.0")], lambda: polhode.export("LP2", "wasm"), "here is 0.44.0", "pip install"),
    ([("polhode.studies.processes.run_in_processes", raising(BrokenProcessPool()))],
     lambda: certify._measure_alone("crash.c", (), None), "'crash.c' ended the process that ran it", "run it under a debugger"),
    ([("builtins.__import__", without("cloudpickle"))], lambda: pickle.dumps(polhode.torque(lambda t, R: R[0])),
     "<lambda>' cannot be sent", "define it at the top of a module"),
    ([("builtins.__import__", without("zarr"))], lambda: polhode.io.save(tumble(), "run.zarr"),
     "the library zarr, which is not installed", "pip install"),
    ([("builtins.__import__", without("distributed"))], lambda: polhode.sweep({}, "tops.zarr"),
     "'no_distributed' is not installed", "pip install"),
    ([("polhode.support.memory.total", lambda: 1000)], lambda: polhode.integrate([1, 2, 3], None, (0, 100), 0.1, omega0=W),
     "1001 stored points need",
     "store fewer with a larger every, every='end' or t_eval, or stream them to disk (--checkpoint)"),
    ([("polhode.support.memory.total", lambda: 1000), ("shutil.disk_usage", raising(FULL))],
     lambda: polhode.integrate([1, 2, 3], None, (0, 100), 0.1, omega0=W), "1001 stored points need", "or use fewer steps"),
    ([("polhode.support.memory.total", lambda: 1000)], lambda: contents("run.npz"), "the arrays in 'run.npz' need",
     "open it on a larger machine"),
    ([("polhode.support.memory.total", lambda: 1000)], lambda: contents("run.nc"), "the arrays in 'run.nc' need",
     "open it on a larger machine"),
    ([], lambda: polhode.Stepper([1, 2, 3], None, step=1e3, rotation0=Q, omega0=(1e5, 2e4, 1e4)).step(),
     "LP2 blew up by step 0", "use a smaller step"),
    ([], lambda: polhode.Flow([1, 2, 3], None, step=1e3)(Q, (1e5, 2e4, 1e4), 0, 1e4), "LP2 blew up by step",
     "use a smaller step"),
    ([], lambda: polhode.advise("krysl/slow-top", error=1e-13, methods=["LP2"], until=0.2, budget=0.01),
     "none of 1 methods reached an error of 1e-13", "ask for a larger error"),
    ([("os.access", lambda *_: False)], lambda: make_report_folder("here", "report.html"), "'here'", "choose another folder"),
    ([("os.fsync", raising(FULL))], lambda: polhode.view.page("run.nc").save("full.html"),
     "'full.html': No space left", "free some space, or choose another disk"),
    ([("builtins.__import__", without("trimesh"))], lambda: polhode.RigidBody.from_mesh("good.obj", density=1.0),
     "newer, which is not installed",
     "install it"),
    ([], on_a_busy_port, "cannot be used: Address already in use", "choose another with --port"),
    ([], lambda: polhode.integrate([1, 2, 3], late, (0, 1), 0.1, omega0=W), "the torque raised ValueError in the step from",
     "correct it"),
    ([], lambda: polhode.integrate([1, 2, 3], late, (0, 1), rtol=1e-6, omega0=W, compiled=False), "too late", "correct it"),
    ([], lambda: polhode.Stepper([1, 2, 3], late, step=0.1, rotation0=Q, omega0=W).step(9), "the torque raised ValueError",
     "correct it"),
    ([], lambda: polhode.exact.reference([1, 2, 3], [0.0, 1.0], torque=late, omega0=W), "the torque raised ValueError between",
     "correct it"),
    ([], lambda: polhode.exact.free_body((1e200, 2e200, 3e200), None, (1e150, 1e149, 0.0), [0.0]), "beyond the range of float64",
     "choose other units"),
    ([], lambda: polhode.facts.symmetry_defect("DMV", 20.0), "DMV could not take the step of 20 of the trial problem",
     "use a smaller step"),
    ([], lambda: list(cluster.results(fake(client=None, connect=raising(OSError("gone"))), {}, "", [], [0])),
     "lost twice before any chunk came back: gone", "run it again"),
    ([], lambda: list(cluster._submit_chunks(fake(client=idle()), {}, "a", [None], [0])), "no workers for -1 s", "start one"),
    ([], outcome, "6 workers died at the same chunk, the last at tcp://there:1", "give them more memory"),
    ([], lambda: chunk({"torque": TOP}, **{"torque.frame": ["body", "spatial"]}), "'constant' is of several kinds",
     "make a sweep for each"),
    ([], lambda: chunk({"torque": [TOP, PUSH]}, **{"torque.constant.value": [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]}),
     "two torques are called 'constant'", "one of them cannot vary"),
    ([("polhode.studies.c_code.compiler.NAMES", ()), ("importlib.util.find_spec", lambda name: None),
      ("polhode.studies.c_code.compiler.environment", lambda: ("", ""))],
     lambda: polhode.certify("rates.c"), "there is no C compiler", "install one (Debian: apt install gcc;"),
    ([("polhode.studies.c_code.compiler.environment", lambda: ("no-such-cc", ""))],
     lambda: polhode.certify("rates.c"), "CC names the compiler 'no-such-cc'", "correct CC, or unset it"),
    ([("matplotlib.figure.Figure.savefig", raising(FULL))],
     lambda: polhode.plots.errors(tumble(), "full.png"),
     "'full.png': No space left", "free some space, or choose another disk"),
]
