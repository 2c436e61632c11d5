"""Every public door of the library with a call that works: `DOORS` holds (function, arguments) by
name.

Results (`Trajectory`, `Comparison`, ...) are made by the library and are no doors; their methods
are.
"""

import functools
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import polhode
from polhode import (
    exact,
    facts,
    io,
    lie,
    methods,
    plots,
    poinsot,
    problems,
    rotations,
    torques,
    translation,
    view,
)
from polhode.loads import force as flight
from polhode.engine._ensemble import ensemble

BODY, W, Q = [1.0, 2.0, 2.5], (0.1, 1.0, 0.2), (0.0, 0.0, 0.0, 1.0)
FOLDER = Path(tempfile.mkdtemp(prefix="polhode-doors-"))
CORNER = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ROBOT = (
    "<robot><link name='arm'><inertial><mass value='3'/><inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' izz='2.5'/>"
    "</inertial></link></robot>"
)
SCENARIO = "[body]\ninertia = [1.0, 2.0, 2.5]\n[initial]\nomega = [0.1, 1.0, 0.2]\n[run]\nstep = 0.1\nt_span = [0.0, 0.2]\n"


class Made(NamedTuple):
    """An argument that is made when it is needed."""

    make: object


def file(name, text):
    """A small file, made when it is needed."""
    path = FOLDER / name
    path.write_text(text)
    return path


@functools.cache
def run():
    """A short run."""
    return polhode.integrate(BODY, "heavy_top", (0, 0.3), 0.1, "NMB", omega0=W, compiled=False)


@functools.cache
def free():
    """One on which nothing acts."""
    return polhode.integrate(BODY, None, (0, 0.3), 0.1, "NMB", omega0=W, compiled=False)


@functools.cache
def stored():
    """The same in a file."""
    return io.save(run(), FOLDER / "stored.nc", force=True)


@functools.cache
def many():
    """A small ensemble."""
    return ensemble(BODY, None, (0, 0.2), 0.1, "NMB", omega0=W, n=2)


@functools.cache
def comparison():
    """A small comparison."""
    return polhode.compare("krysl/slow-top", methods=["NMB"], errors=[1e-2], until=0.1)


@functools.cache
def advice():
    """A small recommendation."""
    return polhode.advise("krysl/slow-top", methods=["NMB"], error=1e-2, until=0.1, budget=0.01)


@functools.cache
def certificate():
    """The certificate of a method."""
    return facts.certify("NMB")


def stepper():
    """A motion to step along."""
    return polhode.Stepper(BODY, step=0.1, omega0=W, method="NMB", compiled=False)


def set_state(value):
    """Go on from somewhere else."""
    stepper().state = value


def body():
    """A body."""
    return polhode.RigidBody(BODY)


def picture():
    """Poinsot's construction."""
    return poinsot.Poinsot(body(), None, W)


def torque(t, R):
    """A torque in Python."""
    return np.array([0.1, 0.0, R[2, 2]])


def spring(t, u):
    """A force."""
    return -u


def force(t, x, v, R):
    """A force in flight."""
    return -x


INITIAL = {"rotation0": None, "omega0": W, "momentum0": None}
GIVEN = {
    "body": BODY,
    "torque": torque,
    "t_span": (0.0, 0.3),
    "method": "NMB",
    **INITIAL,
    "compiled": False,
}
TOLD = {"every": 1, "t_eval": None, "events": None, "progress": None, "title": ""}
MANY = {
    "bodies": BODY,
    "torque": "heavy_top",
    "t_span": (0.0, 0.2),
    "step": 0.1,
    "method": "NMB",
    "rotation0": None,
    "omega0": W,
    "momentum0": None,
    "n": 2,
    "parameters": None,
    "rng": None,
    "first": 0,
    "breaks": None,
    "keep": "end",
    "device": "cpu",
    "dtype": "float64",
    "threads": 1,
    "progress": None,
}
TASK = {
    "problem": "krysl/slow-top",
    "torque": None,
    "t_span": None,
    "methods": ["NMB"],
    "until": 0.1,
    "rotation0": None,
    "omega0": None,
    "momentum0": None,
    "breaks": None,
    "progress": None,
}
SWEEP = {"problem": "krysl/slow-top", "run": {"t_span": [0.0, 0.1]}, "sweep": {"run.step": [0.1]}}
UNIFORM = {"mass": None, "density": None, "name": None}
TRANSLATION = {
    "u": [1.0],
    "p": [0.0],
    "force": spring,
    "step": 0.1,
    "steps": 3,
    "mass": 1.0,
    "t": 0.0,
}

DOORS = {
    "integrate": (
        polhode.integrate,
        {**GIVEN, **TOLD, "step": 0.1, "breaks": None, "checkpoint_every": "30s"},
    ),
    "integrate flight": (
        polhode.integrate,
        {**GIVEN, "step": 0.1, "force": force, "position0": W, "velocity0": W},
    ),
    "integrate rtol": (
        polhode.integrate,
        {**GIVEN, **TOLD, "method": "DP5", "rtol": 1e-3, "atol": 0.0, "max_step": None},
    ),
    "integrate t_eval": (
        polhode.integrate,
        {**GIVEN, "step": 0.1, "t_eval": [0.1], "events": lambda t, R, omega: t - 0.15},
    ),
    "integrate compiled": (
        polhode.integrate,
        {
            "body": BODY,
            "torque": torque,
            "t_span": (0.0, 0.3),
            "step": 0.1,
            "method": "NMB",
            "omega0": W,
            "compiled": True,
        },
    ),
    "Stepper": (polhode.Stepper, {**GIVEN, "step": 0.1, "t": 0.0, "t_span": ...}),
    "Stepper.step": (lambda n: stepper().step(n), {"n": 1}),
    "Stepper.state": (set_state, {"value": None}),
    "Trajectory.plot": (lambda path: run().plot(path=path), {"path": None}),
    "Trajectory.view": (lambda compare: run().view(compare), {"compare": ()}),
    "RigidBody": (
        polhode.RigidBody,
        {"inertia": BODY, "mass": 1.0, "check_triangle": True, "name": None, "shape": None},
    ),
    "RigidBody.box": (polhode.RigidBody.box, {"a": 1.0, "b": 2.0, "c": 3.0, **UNIFORM}),
    "RigidBody.ellipsoid": (polhode.RigidBody.ellipsoid, {"a": 1.0, "b": 2.0, "c": 3.0, **UNIFORM}),
    "RigidBody.cylinder": (polhode.RigidBody.cylinder, {"radius": 1.0, "height": 2.0, **UNIFORM}),
    "RigidBody.sphere": (polhode.RigidBody.sphere, {"radius": 1.0, **UNIFORM, "hollow": False}),
    "RigidBody.point_masses": (
        polhode.RigidBody.point_masses,
        {"masses": [1.0, 1.0, 2.0], "positions": np.eye(3), "name": None},
    ),
    "RigidBody.from_mesh": (
        polhode.RigidBody.from_mesh,
        {
            "path": Made(lambda: file("corner.obj", CORNER)),
            "density": 1.0,
            "mass": None,
            "units": "m",
            "name": None,
        },
    ),
    "RigidBody.from_urdf": (
        polhode.RigidBody.from_urdf,
        {"path": Made(lambda: file("robot.urdf", ROBOT)), "link": "arm"},
    ),
    "RigidBody.from_dict": (polhode.RigidBody.from_dict, {"data": {"inertia": BODY}}),
    **{
        f"RigidBody.from_dict {key}": (
            lambda value, key=key: polhode.RigidBody.from_dict(body().to_dict() | {key: value}),
            {"value": value},
        )
        for key, value in body().to_dict().items()
    },
    "RigidBody.momentum": (lambda omega: body().momentum(omega), {"omega": W}),
    "RigidBody.omega": (lambda momentum: body().omega(momentum), {"momentum": W}),
    "RigidBody.kinetic_energy": (lambda omega: body().kinetic_energy(omega), {"omega": W}),
    "RigidBody.is_symmetric": (lambda rtol: body().is_symmetric(rtol), {"rtol": 1e-9}),
    "torque": (
        lambda function, **options: polhode.torque(function, **options),
        {
            "function": lambda t, R: R[0],
            "frame": "spatial",
            "params": None,
            "potential": None,
            "derivatives": (),
            "uses_omega": False,
            "uses_position": False,
            "form": "array",
            "name": None,
        },
    ),
    "torque params": (lambda k: polhode.torque(lambda t, R, p: R[0], params={"k": k}), {"k": 1.0}),
    "Torque()": (
        lambda t, R, omega: torques.damping(0.1)(t, R, omega),
        {"t": 0.0, "R": np.eye(3), "omega": W},
    ),
    "Torque() array": (lambda t, R: polhode.torque(torque)(t, R), {"t": 0.0, "R": np.eye(3)}),
    "Sum()": (
        lambda t, R, omega: (torques.heavy_top() + torques.damping(0.1))(t, R, omega),
        {"t": 0.0, "R": np.eye(3), "omega": W},
    ),
    "Torque +": (lambda other: torques.heavy_top() + other, {"other": "heavy_top"}),
    "Torque.with_params": (
        lambda moment: torques.heavy_top().with_params(moment=moment),
        {"moment": 1.0},
    ),
    "torques.heavy_top": (torques.heavy_top, {"moment": 20.0, "arm": W, "up": W}),
    "torques.coulomb_wall": (
        torques.coulomb_wall,
        {"sign": "described", "centre": 1.1, "wall": 0.01},
    ),
    "torques.stress_potential": (torques.stress_potential, {"alpha": 0.3, "attractor": W}),
    "torques.book_toss": (
        torques.book_toss,
        {"step": 0.05, "toss": 20.0, "release": 2.0, "disturbance": 0.2},
    ),
    "torques.constant": (torques.constant, {"value": W, "frame": "body"}),
    "torques.gravity_gradient": (torques.gravity_gradient, {"body": Made(body), "rate": 1.0}),
    "torques.damping": (torques.damping, {"coefficient": 0.1}),
    "torques.by_name": (torques.by_name, {"name": "damping"}),
    "flight.Force": (
        flight.Force,
        {"function": force, "params": None, "form": "array", "name": None},
    ),
    "flight.weight": (flight.weight, {"mass": 1.0, "g": 9.81}),
    "ensemble": (ensemble, MANY),
    "ensemble statistics": (
        lambda tilt: ensemble(
            **MANY | {"keep": polhode.Statistics(every=1, functions={"tilt": tilt})}
        ),
        {"tilt": lambda R: R[2, 2]},
    ),
    "ensemble parameters": (
        lambda moment: ensemble(**MANY | {"parameters": {"moment": moment}}),
        {"moment": [1.0, 2.0]},
    ),
    "Ensemble.to_user_axes": (lambda y: many().to_user_axes(y), {"y": np.zeros((2, 7))}),
    "Ensemble.save": (
        lambda path, force: many().save(path, force=force),
        {"path": Made(lambda: FOLDER / "many.nc"), "force": True},
    ),
    "Statistics": (polhode.Statistics, {"every": 10, "of": ("energy",), "functions": {}}),
    "sweep": (
        polhode.sweep,
        {
            "source": SWEEP,
            "out": "nowhere/sweep.zarr",
            "cluster": "tcp://127.0.0.1:1",
            "workers": 1,
            "chunk": 1,
            "wait": 0.001,
            "force": True,
            "progress": None,
        },
    ),
    "sweep out": (
        lambda out: polhode.sweep(SWEEP, out, cluster="tcp://127.0.0.1:1", chunk=1, wait=0.001),
        {"out": None},
    ),
    "Sweep": (polhode.Sweep, {"path": "nowhere.zarr"}),
    "compare": (polhode.compare, {**TASK, "family": None, "errors": [1e-2]}),
    "compare body": (
        polhode.compare,
        {**TASK, "problem": BODY, "omega0": W, "t_span": (0, 0.1), "until": None, "errors": [1e-2]},
    ),
    "Comparison.ranking": (lambda error: comparison().ranking(error), {"error": 1e-2}),
    "Comparison.figure": (
        lambda path, currency: comparison().figure(path, currency),
        {"path": Made(lambda: FOLDER / "comparison.svg"), "currency": None},
    ),
    "Comparison.html": (
        lambda path: comparison().html(path),
        {"path": Made(lambda: FOLDER / "comparison.html")},
    ),
    "advise": (
        polhode.advise,
        {
            **TASK,
            "error": 1e-2,
            "torque_cost": None,
            "long": False,
            "symplectic": False,
            "explicit": False,
            "symmetric": False,
            "one_torque": False,
            "order": None,
            "budget": 0.01,
        },
    ),
    "Advice.integrate": (
        lambda every, events: advice().integrate(every=every, events=events),
        {"every": "end", "events": None},
    ),
    "methods.get": (methods.get, {"name": "NMB"}),
    "export": (
        polhode.export,
        {
            "method": "LP2",
            "language": "c",
            "torque": "free",
            "body": (1.0, 2.0, 2.5),
            "precision": "double",
            "frame": "spatial",
            "flight": False,
            "fma": True,
            "measure": False,
        },
    ),
    "certify": (facts.certify, {"method": "nonsense", "problem": None, "declared": None}),
    "facts.from_file": (facts.from_file, {"target": "nowhere.py"}),
    "facts.order": (facts.order, {"method": "NMB", "kind": "torque"}),
    "facts.symmetry_defect": (facts.symmetry_defect, {"method": "NMB", "step": 0.5}),
    "facts.symplecticity": (facts.symplecticity, {"method": "NMB", "step": 0.5, "velocity": W}),
    "facts.poisson": (facts.poisson, {"method": "NMB", "step": 0.5, "velocity": W}),
    "facts.free_drift": (facts.free_drift, {"method": "NMB", "step": 0.25, "count": 10}),
    "facts.axis_drift": (facts.axis_drift, {"method": "NMB", "step": 0.25, "count": 10}),
    "facts.size_drift": (facts.size_drift, {"method": "NMB", "step": 0.25, "count": 10}),
    "facts.drift_slope": (
        facts.drift_slope,
        {
            "method": "NMB",
            "step": 0.25,
            "t_end": 10.0,
            "problem": "bou-rabee/stress",
            "limit": None,
        },
    ),
    "facts.stability_limit": (facts.stability_limit, {"method": "NMB"}),
    "facts.torque_calls": (facts.torque_calls, {"method": "NMB", "step": 0.1, "count": 2}),
    "facts.solver_calls": (facts.solver_calls, {"method": "NMB", "step": 0.1, "count": 2}),
    "facts.cost": (facts.cost, {"method": "NMB", "count": 10, "repeats": 2}),
    "exact.free_body": (
        exact.free_body,
        {"body": BODY, "rotation0": None, "omega0": W, "t": 1.0, "momentum0": None},
    ),
    "exact.periods": (exact.periods, {"body": BODY, "omega0": W, "momentum0": None}),
    "exact.lagrange_top": (
        exact.lagrange_top,
        {
            "moments": [2.0, 2.0, 1.0],
            "moment": 1.0,
            "rotation0": (0.3, 0.0, 0.0),
            "omega0": (0.0, 0.0, 5.0),
            "t": 0.5,
        },
    ),
    "exact.reference": (
        exact.reference,
        {
            "problem": BODY,
            "t": [0.0, 0.1],
            "torque": "heavy_top",
            "rotation0": None,
            "omega0": W,
            "momentum0": None,
            "tolerance": 1e-14,
        },
    ),
    "plots.overview": (plots.overview, {"run": Made(run), "path": Made(lambda: FOLDER / "a.svg")}),
    "plots.errors": (
        plots.errors,
        {"runs": Made(lambda: [run()]), "path": Made(lambda: FOLDER / "b.svg")},
    ),
    "plots.drift": (
        plots.drift,
        {"runs": Made(lambda: [run()]), "path": Made(lambda: FOLDER / "c.svg")},
    ),
    "plots.polhode": (plots.polhode, {"run": Made(free), "path": Made(lambda: FOLDER / "d.svg")}),
    "plots.flip": (
        plots.flip,
        {"run": Made(run), "path": Made(lambda: FOLDER / "e.svg"), "snapshots": 2},
    ),
    "plots.convergence": (
        plots.convergence,
        {"comparison": Made(comparison), "path": Made(lambda: FOLDER / "f.svg")},
    ),
    "plots.work_precision": (
        plots.work_precision,
        {"comparison": Made(comparison), "path": Made(lambda: FOLDER / "g.svg"), "currency": None},
    ),
    "plots.certificate": (
        plots.certificate,
        {"certificate": Made(certificate), "path": Made(lambda: FOLDER / "h.svg")},
    ),
    "view.page": (
        view.page,
        {"runs": Made(run), "title": None, "mesh": None, "poinsot": False, "autoplay": None},
    ),
    "Page.save": (
        lambda path, force: view.page(run()).save(path, force),
        {"path": Made(lambda: FOLDER / "page.html"), "force": True},
    ),
    "Poinsot": (poinsot.Poinsot, {"body": Made(body), **INITIAL}),
    "Poinsot.ellipsoid": (lambda n: picture().ellipsoid(n), {"n": 40}),
    "Poinsot.polhode": (lambda n: picture().polhode(n), {"n": 400}),
    "Poinsot.contact": (lambda of: picture().contact(of), {"of": Made(run)}),
    "Poinsot.herpolhode": (lambda of: picture().herpolhode(of), {"of": Made(run)}),
    "problems.get": (problems.get, {"name": "krysl/slow-top"}),
    "Problem.torque": (lambda step: problems.get("krysl/slow-top").torque(step), {"step": None}),
    "Problem.integrate": (
        lambda method, step, t_span: problems.get("krysl/slow-top").integrate(
            method, step, t_span, compiled=False
        ),
        {"method": "NMB", "step": 0.1, "t_span": (0.0, 0.2)},
    ),
    "io.load": (
        io.load,
        {"path": Made(lambda: file("scenario.toml", SCENARIO)), "torque_file": None},
    ),
    "Scenario.integrate": (
        lambda progress: io.load(file("scenario.toml", SCENARIO)).integrate(progress),
        {"progress": None},
    ),
    "io.save": (
        io.save,
        {
            "result": Made(run),
            "path": Made(lambda: FOLDER / "saved.npz"),
            "format": None,
            "force": True,
        },
    ),
    "read": (polhode.read, {"path": Made(stored)}),
    "rotations.as_quaternion": (rotations.as_quaternion, {"rotation": None}),
    "rotations.as_rotation": (rotations.as_rotation, {"q": Q}),
    "rotations.matrices": (rotations.matrices, {"q": Q}),
    "rotations.rotate": (rotations.rotate, {"q": Q, "v": W}),
    "rotations.rotate_inverse": (rotations.rotate_inverse, {"q": Q, "v": W}),
    "rotations.qmul": (rotations.qmul, {"p": Q, "q": Q}),
    "rotations.exp": (rotations.exp, {"x": W}),
    "rotations.log": (rotations.log, {"q": Q}),
    "rotations.dexp_body": (rotations.dexp_body, {"x": W, "y": W}),
    "rotations.dexpinv_body": (rotations.dexpinv_body, {"x": W, "y": W}),
    "rotations.angle_between": (rotations.angle_between, {"q1": Q, "q2": Q}),
    "rotations.hermite": (
        rotations.hermite,
        {"q0": Q, "omega0": W, "q1": Q, "omega1": W, "h": 0.1, "s": 0.5},
    ),
    "lie.solve": (
        lie.solve,
        {
            "algebra": lie.so3,
            "W": lambda t: np.ones(3),
            "y0": np.eye(3),
            "t_span": (0, 1),
            "steps": 3,
            "method": "taylor2",
            "derivatives": None,
            "frame": "spatial",
        },
    ),
    "lie.solve RKMK4": (
        lie.solve,
        {
            "algebra": lie.so3,
            "W": lambda t, y: np.ones(3),
            "y0": np.eye(3),
            "t_span": (0, 1),
            "steps": 3,
            "method": "RKMK4",
        },
    ),
    "lie.series": (lie.series, {"W": [np.ones(3), np.ones(3)], "h": 0.1, "bracket": np.cross}),
    "lie.so": (lie.so, {"n": 4}),
    "lie.sl": (lie.sl, {"n": 2}),
    "lie.gl": (lie.gl, {"n": 2}),
    "translation.newmark": (translation.newmark, TRANSLATION),
    "translation.symplectic_euler": (translation.symplectic_euler, TRANSLATION),
    "translation.adjoint": (translation.adjoint, TRANSLATION),
}
del DOORS["Stepper"][1]["t_span"]


def arguments(given):
    """The arguments of a call: those that must be made first are."""
    return {
        name: value.make() if isinstance(value, Made) else value for name, value in given.items()
    }
