"""Calls from Python that are refused: (call, the value as the message names it, the way out)."""

import json
import pickle
import threading

from around import (
    Q, W, Claim, Foreign, Item, Rotation, Scheme,
    bibtex, bomb, check_request, comparison, compose, compute, contents, ensemble,
    enter_errata, errata, fades, free_body, get, integrate, item, lagrange_top, lie, namedtuple, newmark, np,
    polhode, push, pythonic, raising, reference, rotations, spring, stats, strict,
    two, untraceable, urdf, variant,
)


def spun(omega0):
    """A run of a body with this angular velocity."""
    return integrate([1, 2, 3], None, (0, 1), 0.1, omega0=omega0)


def shown(mesh):
    """A page of a stored run with this mesh for the body."""
    return polhode.view.page("run.nc", mesh=mesh)


def in_order(x):
    """What no other language has."""
    return tuple(sorted(x))


def swept(changes):
    """A sweep of the slow top."""
    return polhode.sweep({"problem": "krysl/slow-top", **changes}, "s.zarr")


def holed():
    """A stored run whose velocities are lost."""
    run = integrate([1, 2, 3], None, (0, 1), 0.1, omega0=(0, 0, 1))
    path = polhode.io.store.save(run, "holed.npz", force=True)
    with np.load(path) as data:
        kept = dict(data)
    np.savez(path, **kept | {"omega": np.full_like(kept["omega"], np.nan)})
    return path


class There:
    """Memory of a GPU, as CuPy and others tell of it."""

    def __init__(self):
        self.__cuda_array_interface__ = {"shape": (2, 3), "typestr": "<f8", "data": (0, False), "version": 3}


class Bare(polhode.io.formats.Format):
    """A file format that says nothing of itself."""


class Dotted(Bare):
    suffix = ".bare"


LOCK = threading.Lock()   # has no state that could be compared


def guarded(t, R):
    return (float(LOCK.locked()), 0.0, 0.0)


def guarded_event(t, R, omega):
    return 1.0 + LOCK.locked()


def changed(name, **arrays):
    """A stored result with other arrays."""
    np.savez("changed.npz", **dict(np.load(name)) | arrays)
    return "changed.npz"


def renamed(name, **facts):
    """A stored result with other facts."""
    known = json.loads(str(np.load(name)["provenance"]))
    return changed(name, provenance=np.array(json.dumps(known | facts)))


def oversized():
    """A stored run with numbers that no run has."""
    run = integrate([1, 2, 3], None, (0, 1), 0.1, omega0=(0, 0, 1))
    path = polhode.io.store.save(run, "oversized.npz", force=True)
    with np.load(path) as data:
        kept = dict(data)
    np.savez(path, **kept | {"omega": np.full_like(kept["omega"], 1e200)})
    return path


def nested(depth):
    """Tables in tables."""
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def late(t, R, omega):
    """An event."""
    return t - 0.5


late.terminal = "soon"


def fickle():
    """An event that does not stay by its word."""
    signs = iter([1.0, -1.0, *[1.0] * 100])
    return lambda t, R, omega: next(signs)


@polhode.torque(params={"n": 3.0})
def overflowing(t, R, p):
    """Machine code gets it wrong where n is large."""
    return np.array([1e-3 * float(10 ** int(p.n) % 1000003), 0.0, 0.0])

def level(t):
    return 0.1


WHEEL = polhode.Rotor((0, 0, 1), 0.1, speed=30.0)
GYROSTAT = polhode.RigidBody([1, 2, 2.5], rotors=[WHEEL])
DRIVEN = polhode.RigidBody([1, 2, 2.5], rotors=[polhode.Rotor((0, 0, 1), 0.1, torque=level)])
DAMPED = polhode.RigidBody([1, 2, 2.5], rotors=[WHEEL, polhode.Rotor((0, 0, 1), 0.1, damping=0.1)])

CALLS = [
    (lambda: rotations.as_quaternion((0.0, 1.3e308, 1.3e308)), "got [0.0e+000, 1.3e+308, 1.3e+308]", "give one of at most pi"),
    (lambda: shown((np.zeros((3, 3)), np.zeros((1, 1, 3)))), "got (3, 3) and (1, 1, 3)", "reshape them"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=(0, 0, 1), breaks=[[0.5, 0.6]]), "got shape (1, 2)", "write breaks="),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=(0, 0, 1), checkpoint=3), "got 3", "write checkpoint='run.part'"),
    (lambda: integrate([1, 2, 3], guarded, (0, 1), 0.1, omega0=(0, 0, 1), checkpoint="guarded.part"), "'LOCK', a lock",
     "leave it out of the torque, or run without checkpoint"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=(0, 0, 1), checkpoint="guarded.part", events=guarded_event),
     "'guarded_event' uses 'LOCK', a lock", "leave it out of the event, or run without checkpoint"),
    (lambda: polhode.support.limits.check_step(1e-310), "got 1e-310", "choose another unit of time"),
    (lambda: polhode.sweep({"problem": "krysl/slow-top", "sweep": {"run.step": [0.1]}}), "out is missing", "name the store"),
    (lambda: polhode.read("run.nc", polhode.RigidBody), "polhode.SystemTrajectory or polhode.Ensemble, got", "leave it out"),
    (lambda: polhode.read("run.nc", polhode.Ensemble), "'run.nc' holds the run of one body", "read it with polhode.read"),
    (lambda: integrate([1, 2, 3], polhode.read("run.nc").torque, (0, 1), 0.1, omega0=(0, 0, 1)), "the torque 'heavy_top'",
     "give the torque itself"),
    (lambda: polhode.read(changed("run.npz", **{name: values[:0] for name, values in np.load("run.npz").items() if values.ndim})),
     "'changed.npz' holds no points", "run the scenario again with -o"),
    (lambda: polhode.read(changed("many.npz", omega=np.zeros((2, 3)))), "'changed.npz': omega has shape (2, 3), expected (3, 3)",
     "the file is damaged"),
    (lambda: polhode.read(changed("many.npz", moments=-np.ones((3, 3)))), "'changed.npz' holds bodies that cannot be read",
     "run it again with -o"),
    (lambda: polhode.read(renamed("many.npz", units={"time": 3})), "holds units that cannot be read", "run it again with -o"),
    (lambda: polhode.read("objects.npz"), "'objects.npz' is not a run", "run the scenario again with -o"),
    (lambda: contents(holed()), "'holed.npz': omega is not finite", "run the scenario again with -o"),
    (lambda: pickle.dumps(Foreign(12345)), "torque 'foreign' is an address", "load the C library there"),
    (lambda: polhode.view.card(3), "card takes a result, a body, a flow, a stepper or a problem, got 3", "give one of these"),
    (lambda: polhode.torque(3), "got 3", "write def f(t, R): ..."),
    (lambda: polhode.torque(push).with_params(k=1.0), "'push'", "drop them, or give it some: params={...}"),
    (lambda: polhode.torques.heavy_top().with_params(k=1.0), "'heavy_top'", "valid: 'moment'"),
    (lambda: integrate([1, 2, 3], polhode.torque(uses_position=True)(lambda t, R, x, v: x), (0, 1), 0.1, omega0=(0, 0, 1)),
     "'<lambda>'", "give position0, velocity0 or force too"),
    (lambda: Foreign(0), "got 0", "give one of ctypes, cffi or numba.cfunc"),
    (lambda: polhode.torque(push, fame="body"), "'fame'", "valid: 'frame', 'params', 'potential', 'deri"),
    (lambda: integrate([1, 2, 3], "constant", (0, 1), 0.1, omega0=W), "'constant'", "torques.constant(value, frame='spatial')"),
    (lambda: integrate([1, 2, 3], 3.5, (0, 1), 0.1, omega0=W), "got 3.5", "write def f(t, R): ..."),
    (lambda: polhode.torque(push, frame="moon"), "'moon'", "valid: 'spatial', 'body'"),
    (lambda: polhode.torque(push, params={"k": "a"}), "got 'a'", "convert it to float"),
    (lambda: polhode.torque(push, params={"k": np.inf}), "= inf", "remove or replace it"),
    (lambda: polhode.torque(push, params=3), "got 3", "write params={'k': 1.0}"),
    (lambda: polhode.torque(push, derivatives=3), "got 3", "give a tuple of them"),
    (lambda: integrate([1, 2, 3], None, None, rtol=1e-6, omega0=(0, 0, 1)), "t_span is missing", "give (t0, t1)"),
    (lambda: polhode.Load(polhode.flight.thrust((0, 0, 1))), "<load thrust>", "use integrate"),
    (lambda: integrate([1, 2, 3], polhode.flight.gravity(1.0, [1, 2, 3]), (0, 1), 0.1, omega0=(0, 0, 1)),
     "'gravity' has its centre at the origin", "give position0"),
    (lambda: polhode.ensemble([1, 2, 3], polhode.flight.gravity(1.0, [1, 2, 3]), (0, 1), 0.1, omega0=(0, 0, 1), n=2),
     "'gravity' has its centre at the origin", "give position0"),
    (lambda: polhode.torque(lambda t, omega, R: omega, uses_omega=True), "f(t, omega, R)", "see the options uses_omega"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=(0, 0, 1), force=polhode.flight.thrust((0, 0, 1))),
     "<load thrust>", "give it in place of the torque"),
    (lambda: polhode.flight.magnet_in_field((0, 0, 1), abs), "gradient=None and length=None", "give one"),
    (lambda: polhode.flight.magnet_in_field((0, 0, 1), abs, length=0.0), "length must be positive", "above zero"),
    (lambda: polhode.flight.magnet_in_field((0, 0, 1), 3, length=1.0), "field(x) or field(t, x), got 3", "write def"),
    (lambda: polhode.flight.magnet_in_field((0, 1), abs, length=1.0), "moment must be three", "give three"),
    (lambda: polhode.flight.drag(1.0, 2.0), "linear=1.0 and quadratic=2.0", "give one, and add two drags"),
    (lambda: polhode.advise("krysl/slow-top", eror=1e-3), "'eror'", "valid: 'problem', 'torque', 't_span', 'error"),
    (lambda: polhode.RigidBody([1, 2, 3], check_triangle=3), "got 3", "give one of them"),
    (lambda: polhode.RigidBody([1, 2, 3], units="metric"), "got 'metric'", 'write units={"length": "mm"'),
    (lambda: polhode.RigidBody([1, 2, 3], units={"weight": "g"}), "unknown unit 'weight'", "valid: 'length', 'mass', 'time'"),
    (lambda: polhode.RigidBody([1, 2, 3], units={"mass": "1 g"}), "got '1 g'", "write its usual sign, such as 'kg'"),
    (lambda: polhode.RigidBody([1, 2, 3], name=3), "got 3", "put it in quotes"),
    (lambda: polhode.Rotor((0, 0, 0), 1.0, speed=1.0), "must have a length, got (0, 0, 0)",
     "give a direction, such as (0, 0, 1)"),
    (lambda: polhode.Rotor((0, 1), 1.0, speed=1.0), "got shape (2,)", "give three"),
    (lambda: polhode.Rotor((0, 0, 1), 0.0, speed=1.0), "inertia of a rotor must be positive, got 0.0", "give a value above zero"),
    (lambda: polhode.Rotor((0, 0, 1), -1.0, speed=1.0), "inertia of a rotor must be positive, got -1.0",
     "give a value above zero"),
    (lambda: polhode.Rotor((0, 0, 1), 1.0), "a rotor needs speed=...", "give one, torque=0.0 for a free rotor"),
    (lambda: polhode.Rotor((0, 0, 1), 1.0, speed=1.0, momentum=2.0), "got speed = 1.0 and momentum = 2.0", "give one of them"),
    (lambda: polhode.Rotor((0, 0, 1), 1.0, damping=-0.5), "must not be negative, got -0.5", "give 0 or more"),
    (lambda: polhode.Rotor((0, 0, 1), 1.0, torque=push), "called as torque(t) or torque(t, R, omega, speed)",
     "give it these arguments"),
    (lambda: polhode.Rotor((0, 0, 1), 1.0, torque=[1, 2]), "must be one number", "give one of its entries"),
    (lambda: polhode.RigidBody([1, 2, 3], rotors=WHEEL), "must be a list of Rotor, got", "write rotors=[...]"),
    (lambda: polhode.RigidBody([1, 2, 3], rotors=[3]), "a rotor is a polhode.Rotor(axis, inertia, ...), got 3", "make one"),
    (lambda: polhode.RigidBody([1, 2, 3], rotors=[{"axis": (0, 0, 1), "inertia": 0.1, "sped": 1.0}]), "'sped'",
     "valid: 'axis', 'inertia', 'speed'"),
    (lambda: polhode.RigidBody([1, 2, 3], rotors=[polhode.Rotor((1, 0, 0), 1.5, speed=1.0)]), "the rotors are too heavy",
     "give the inertia of the whole body, rotors included, or lighter rotors"),
    (lambda: polhode.RigidBody([1, 2, 3], rotors=[WHEEL]).momentum((0, 0, 1), (1.0, 2.0)), "rotor_speeds must have 1 numbers",
     "give 1 of them"),
    (lambda: integrate(GYROSTAT, None, (0, 1), 0.1, "NMB", omega0=W), "NMB cannot follow a body with rotors",
     "use one of LP2, DOP853"),
    (lambda: integrate(polhode.RigidBody.from_dict(DRIVEN.to_dict()), None, (0, 1), 0.1, omega0=W),
     "the torque 'level' of a rotor was a function", "body.with_rotors([...])"),
    (lambda: polhode.plots.polhode(integrate(GYROSTAT, None, (0, 1), 0.1, omega0=W)),
     "a body without rotors has a polhode", "draw the overview"),
    (lambda: polhode.view.page(polhode.ensemble([1, 2, 2.5], None, (0, 1), 0.1, omega0=W, n=2)),
     "show one body, got <Ensemble: 2 bodies", "plots.sphere("),
    (lambda: polhode.ensemble([GYROSTAT, GYROSTAT.with_rotors([])], None, (0, 1), 0.1, omega0=W),
     "body 1 has 0 rotors and body 0 has 1", "give all bodies as many"),
    (lambda: polhode.ensemble([DRIVEN, GYROSTAT], None, (0, 1), 0.1, omega0=W), "the torque of rotor 1 of body 1 is",
     "give all bodies the same function, or numbers"),
    (lambda: polhode.ensemble(GYROSTAT, None, (0, 1), 0.1, omega0=W, rotor_speeds0=(1.0, 2.0)),
     "must have a number for each rotor (1,), or those of each body (n, 1), got shape (2,)", "give one of these"),
    (lambda: polhode.ensemble([1, 2, 2.5], None, (0, 1), 0.1, omega0=W, rotor_speeds0=3.0),
     "rotor_speeds0=3.0 is for a body with rotors", "body.with_rotors([...])"),
    (lambda: polhode.ensemble(GYROSTAT, None, (0, 1), 0.1, momentum0=W, rotor_speeds0=[3.0]),
     "momentum0 is that of body and rotors", "give omega0 instead"),
    (lambda: polhode.compare(GYROSTAT, t_span=(0, 1), omega0=W, family="newmark"), "NMB cannot follow a body with rotors",
     "use one of LP2, DOP853"),
    (lambda: polhode.compare([1, 2, 2.5], polhode.flight.gravity(1.0, [1, 2, 2.5]), (0, 1), omega0=W),
     "'gravity' has its centre at the origin", "give position0"),
    (lambda: polhode.Flow([1, 2, 2.5], polhode.flight.gravity(1.0, [1, 2, 2.5]), step=0.1)(Q, W, 0.0, 1.0),
     "'gravity' has its centre at the origin", "give position0"),
    (lambda: polhode.Flow(GYROSTAT, None, "NMB", step=0.1), "NMB cannot follow a body with rotors", "use one of LP2"),
    (lambda: polhode.Flow(GYROSTAT, None, step=0.1)(None, W, 0.0, 1.0, inertia=GYROSTAT), "inertia is that of the whole body",
     "leave them out: body.with_rotors([])"),
    (lambda: integrate(GYROSTAT, None, (0, 1), 0.1, omega0=W, rotor_speeds0=3.0), "for each rotor (1,), got shape ()",
     "give 1 of them"),
    (lambda: integrate(GYROSTAT, None, (0, 1), 0.1, momentum0=W, rotor_speeds0=[3.0]), "momentum0 is that of body and rotors",
     "give omega0 instead"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=W, rotor_speeds0=[3.0]),
     "rotor_speeds0=[3.0] is for a body with rotors", "body.with_rotors([...])"),
    (lambda: polhode.exact.free_body(GYROSTAT, None, W, 1.0), "free_body does not follow the rotors", "body.with_rotors([])"),
    (lambda: reference([1, 2, 3], t=[0, 1], omega0=W, velocity0=(1.0, 2.0)), "velocity0 must be three numbers", "give three"),
    (lambda: polhode.exact.gyrostat([1, 2, 2.5], None, W, 1.0), "got [1, 2, 2.5]", "use exact.free_body"),
    (lambda: polhode.exact.gyrostat(DRIVEN, None, W, 1.0), "rotor 1 of this body is driven by a torque",
     "use polhode.integrate"),
    (lambda: polhode.exact.gyrostat(DAMPED, None, W, 1.0), "rotor 2 of this body is slowed by its damping",
     "use polhode.integrate"),
    (lambda: polhode.exact.gyrostat(GYROSTAT, None, W, [1.0, 1e12]), "t = 1000000000000.0 is too far away", "give times within"),
    (lambda: polhode.exact.gyrostat(GYROSTAT, None, W, np.nan), "got t = nan", "remove or replace it"),
    (lambda: polhode.RigidBody([1, 2]), "got shape (2,)", "give one of them"),
    (lambda: polhode.RigidBody.sphere(1.0, hollow=3), "got 3", "give one of them"),
    (lambda: polhode.RigidBody.point_masses([1.0, -1.0, 2.0], np.eye(3)), "got masses[1] = -1.0", "drop that point"),
    (lambda: polhode.RigidBody.from_dict(3), "got 3", "pass the result of RigidBody.to_dict()"),
    (lambda: polhode.RigidBody.from_dict({"inertia": [1, 2, 3], "colour": 1}),
     "'colour'", "valid: 'inertia', 'mass', 'check_triangle',"),
    (lambda: polhode.RigidBody(np.diag([1.7e308, 1.7e308, 1.7e308]) + 1e308 * (1 - np.eye(3)), check_triangle=False),
     "inertia has moments (inf, 7e+307, 7e+307)", "choose other units"),
    (lambda: polhode.RigidBody([1, 2, 2.5], shape=3), "got 3", "write one"),
    (lambda: polhode.RigidBody([1, 2, 2.5], shape={"kind": "box", "size": object()}),
     "got <object object at", "convert it first"),
    (lambda: polhode.certify("LP2", declared=3), "got 3", "write declared={'order': 2}"),
    (lambda: polhode.certify("LP2", declared={"free_order": (1, 2, 3)}), "got (1, 2, 3)", "write free_order = 2 exact"),
    (lambda: polhode.export("LP2", "pascal"), "'pascal'", "valid: 'c', "),
    (lambda: polhode.export("LP2", precision="half"), "'half'", "valid: 'double', 'float'"),
    (lambda: polhode.export("LP2", frame="inertial"), "'inertial'", "valid: 'spatial', 'body'"),
    (lambda: polhode.export("taylor"), "taylor cannot be exported", "name one, as in taylor(8)"),
    (lambda: polhode.export("NMB", flight=True), "NMB has no steps of its own", "such as LP2, EXACT or DOP853"),
    (lambda: polhode.export("LP2", torque=polhode.Load(force=lambda t, x, v, R: -x)), "written for NumPy arrays", "with tuples"),
    (lambda: polhode.export("NMB+ep"), "NMB+ep cannot be exported", "bake in a torque with a potential"),
    (lambda: polhode.export("LP2", torque=Foreign(1)), "torque 'foreign' is machine code", "leave out the torque"),
    (lambda: polhode.export("LP2", torque=lambda t, R: np.random.rand(3)), "something else each time", "on its arguments alone"),
    (lambda: polhode.export("LP2", torque=lambda t, R: np.linalg.inv(R)[0]), "cannot be exported", "write it with tuples"),
    (lambda: polhode.export("LP2", torque=polhode.torque(lambda t, R: tuple(sorted(R[0])), form="tuple")), "it calls sorted",
     "use + - * /, sqrt"),
    (lambda: polhode.export("LP2", torque=polhode.torque(lambda t, R: in_order(R[0]), form="tuple")),
     "torque '<lambda>' cannot be exported: 'in_order', line", "use + - * /"),
    (lambda: polhode.export("LP2", body=[[2, 0.1, 0], [0.1, 2, 0], [0, 0, 3]]), "work in principal axes", "give its principal"),
    (lambda: polhode.export("LP2", body=polhode.RigidBody([1, 2, 2.5], rotors=[polhode.Rotor((1, 1, 0), 0.1, torque=0.0)])),
     "of the body without its free rotors", "give inertia and rotors in these axes"),
    (lambda: polhode.export("LP2", body=polhode.System([[1, 2, 2.5]] * 2)), "<System of 2 bodies", "for one body"),
    (lambda: polhode.export(variant(get("LP2"), family="C")), "made from C", "use the file of C"),
    (lambda: polhode.export("LP2", torque=lambda t, R: (0.0, 0.0, 0.0, 0.0)), "returned 4 numbers", "return three"),
    (lambda: polhode.export("LP2", torque=lambda t, R: R), "returned shape (3, 3)", "return three"),
    (lambda: polhode.export("NMB", "javascript", body=GYROSTAT), "NMB cannot follow a body with rotors", "use one of LP2"),
    (lambda: polhode.export(variant(get("RKMK4"), start=get("ABAM").start)), "another state than its start", "the same fields"),
    (lambda: polhode.export("methods2.py"), "'methods2.py' has 2 methods", "export one of them, methods2.py:"),
    (lambda: polhode.certify("methods2.py"), "'methods2.py'", "certify them one by one"),
    (lambda: polhode.facts.order("NMB", "cold"), "'cold'", "valid: 'torque', 'free', 'damped'"),
    (lambda: polhode.compare("krysl/slow-top", method="NMB"), "'method'", "valid: 'problem', 'torque', 't_span', 'metho"),
    (lambda: polhode.compare([1, 2, 2.5], None, (0, 1), omega0=W, processes=2), "processes = 2", "leave processes out"),
    (lambda: polhode.compare("krysl/slow-top", errors=[]), "got []", "write errors=[1e-3, 1e-6]"),
    (lambda: polhode.compare("krysl/slow-top", methods=[]), "methods is empty", "name some, or leave it out"),
    (lambda: comparison([]).figure("x.png", "gold"), "'gold'", "valid: 'evaluations', 'steps', 'seconds'"),
    (lambda: comparison([]).figure("x.png"), "there is no curve to draw: no meth", "use other methods or larger errors"),
    (lambda: polhode.plots.convergence(comparison([])), "there is no curve to draw", "use other methods or larger errors"),
    (lambda: polhode.compare("krysl/slow-top", "free"),
     "torque belongs to the problem or s", "give a body first to choose torque yourself"),
    (lambda: polhode.compare([1, 2, 2.5]), "t_span is missing", "give (t0, t1)"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), rotation0="random", n=3, rng="dice"),
     "got 'dice'", "write rng=1"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), rotation0="random", rng=1),
     "n is missing", "give n=1000"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=stats.norm([0, 0], 1), n=3, rng=1),
     "omega0: cannot draw (3,) for each", "give a distribution of that shape"),
    (lambda: ensemble(stats.norm((1, 2, 2.9), 0.5), t_span=(0, 1), step=0.1, omega0=(0, 0, 1), n=50, rng=1),
     "of the bodies drawn, body ", "or choose a narrower distribution"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), n=0),
     "got 0", "write n=1000"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=np.zeros((0, 3))),
     "omega0 must be for at least one body, got an array for 0", "give a row for each body"),
    (lambda: polhode.Flow([1, 2, 2.5], rtol=1e-6)(np.zeros((0, 4)), (0, 0, 1), 0, 1),
     "rotation0 must be for at least one body, got an array for 0", "give a row for each body"),
    (lambda: ensemble([[1, 2, 2.5]] * 2, t_span=(0, 1), step=0.1, omega0=(0, 0, 1), n=3),
     "n is for 3 bodies and bodies for 2", "give one for all, or as many of each"),
    (lambda: ensemble(np.ones((2, 2)), t_span=(0, 1), step=0.1, omega0=(0, 0, 1)),
     "got shape (2, 2)", "give one of these"),
    (lambda: ensemble([[1, 2, 2.5], [1, 2, 5]], t_span=(0, 1), step=0.1, omega0=(0, 0, 1)),
     "body 1: moments (1, 2, 5): I3 = 5", "check the entries, or, if you mean them, give"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), rotation0=np.ones((2, 2))),
     "got shape (2, 2)", "give one of these"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), rotation0=np.ones((2, 4))),
     "got [1., 1., 1., 1.] of norm", "divide it by its norm if that is what you me"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), mass=2.0),
     "mass=2.0", "leave it out, or give position0"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), position0=(0, 0, 1), mass=np.ones((2, 2))),
     "got shape (2, 2)", "give one of these"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), position0=(0, 0, 1), mass=[1.0, 0.0]),
     "got 0.0 for body 1", "give positive ones"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), position0=np.ones((3, 3)), velocity0=[W] * 2),
     "position0 is for 3 bodies", "give one for all, or as many of each"),
    (lambda: ensemble([1, 2, 2.5], polhode.torque(uses_position=True)(lambda t, R, x, v: x), (0, 1), 0.1, omega0=(0, 0, 1)),
     "'<lambda>'", "give position0, velocity0 or force too"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), force=lambda t, x, v, R: x[:2]),
     "got shape (2,)", "correct it"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep=polhode.Statistics(of=("position_x",))),
     "'position_x'", "leave it out, or give position0"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=There()),
     "omega0 lies on a GPU", "write device='cuda', or copy it to the host"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1)).on_device,
     "device='cpu'", "use quaternion and omega"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 1)),
     "got shape (2,)", "give one of these"),
    (lambda: ensemble([1, 2, 2.5], "heavy_top", (0, 1), 0.1, omega0=(0, 0, 1), parameters=3),
     "got 3", "write parameters={name: values}"),
    (lambda: ensemble([1, 2, 2.5], "heavy_top", (0, 1), 0.1, omega0=(0, 0, 1), parameters={"moment": np.ones((2, 2))}),
     "got (2, 2)", "give one of these"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep=polhode.Statistics(of=("speed",))),
     "'speed'", "valid: 'energy', 'kinetic_energy', 'momentum"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep={"functions": {"energy": abs}}),
     "'energy'", "choose another name for your function"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep=0),
     "got 0", "write keep='end'"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep="all"), "'all'", "valid: 'end', 'statistics'"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep={"evry": 3}),
     "'evry'", "valid: 'every', 'of', 'functions'"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1e15), step=1.0, omega0=(0, 0, 1), keep=1),
     "1 bodies stored every 1 of 1000000", "keep fewer, 'statistics' or 'end'"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep={"functions": {"own": 3}}),
     "got 3", "write def f(omega): ..."),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), keep={"functions": {"own": lambda z: z}}),
     "'own'", "valid: 't', 'R', 'omega', 'body', 'p'"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), kep=1),
     "'kep'", "valid: 'bodies', 'torque', 't_span', 'step',"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), progress=3),
     "got 3", "write def progress(done, total): ..."),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), omega0=(0, 0, 1)),
     "step is missing", "the size of a step, or an array of times"),
    (lambda: ensemble([1, 2, 2.5], step=0.1, omega0=(0, 0, 1)), "t_span is missing", "give (t0, t1)"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1), "got neither", "give one of the two"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), first=-1),
     "got -1", "write first=0"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), rotation0="upright"),
     "'upright'", "valid: 'random'"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=np.full((2, 3), np.nan)),
     "got [0.0, 0.0, 0.0, 1.0, nan, nan, nan] for", "give finite numbers"),
    (lambda: ensemble([1, 2, 2.5], pythonic, (0, 1), 0.1, omega0=(0, 0, 1), parameters={"k": [1.0, 2.0]}),
     "'pythonic'", "ake it a function that numba can compile"),
    (lambda: spun(np.ma.masked_equal([1, 2, 3], 2)), "omega0 has masked entries", "fill or drop them first"),
    (lambda: spun([[1], [1, 2]]),
     "got [[1], [1, 2]]: setting an array element with", "give rows of equal length"),
    (lambda: spun(["a"]), "got ['a']", "convert it to float first"),
    (lambda: spun([10**400]), "got [1000000000000000000000000000000000000000000", "choose other units"),
    (lambda: spun([1, 2]), "got shape (2,)", "give three"),
    (lambda: spun([1, np.nan, 2]), "got omega0[1] = nan", "remove or replace it"),
    (lambda: integrate([1, 2, 3], None, (0, 1), rtol=1e-6, max_step=[1, 2], omega0=W),
     "got an array of shape (2,)", "give one of its entries"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), events=3),
     "got 3", "write def g(t, R, omega): ..."),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), events=fickle(), compiled=False),
     "changed its sign between t = ", "make it depend only on its arguments"),
    (lambda: ensemble([1, 2, 2.5], overflowing, (0, 1), 0.1, omega0=(0, 0, 1), parameters={"n": [3.0, 30.0]}),
     "with the parameters of body 1", "correct it, or integrate the bodies one by one"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), events=lambda t: t),
     "defined as f(t)", "write def g(t, R, omega): ..."),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), events=lambda t, R, omega: "late", compiled=False),
     "'<lambda>'", "correct it: a function g(t, R, omega)"),
    (lambda: integrate([1, 2, 2.5], None, (1e16, 1e16 + 10), rtol=1e-6, omega0=(0, 0, 1)), "t = 1e+16", "count time from the"),
    (lambda: integrate([1, 2, 2.5], None, (0, 10), rtol=1e-6, max_step=1e-15, omega0=(0, 0, 1)), "max_step = 1e-15",
     "use a larger one, or count time"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), events=lambda t, R, omega: np.nan, compiled=False),
     "'<lambda>'", "return a finite number"),
    (lambda: free_body([1, 2, 2.5], None, [0.1, 1.0, 0.2], 1e300),
     "t = 1e+300 is too far away: the bo", "give times within about 1e14 radians of the"),
    (lambda: free_body([1, 2, 2.5], None, None, 1.0), "got neither", "give one of the two"),
    (lambda: free_body(np.ones((2, 3)), None, np.ones((3, 3)), 1.0),
     "bodies (2,), rotation0 () and omeg", "give as many of each, or one"),
    (lambda: free_body([1, 2, 2.5], None, [0, 1e305, 0], 1.0),
     "omega0 gives an angular velocity a", "choose another unit of time"),
    (lambda: free_body([1e300, 2e300, 2.5e300], None, [1e100, 1.0, 0.2], 1.0),
     "t = 1.0 is too far away: the body", "give times within about 1e14 radians of the"),
    (lambda: free_body(-np.ones((2, 3)), None, np.ones(3), 1.0), "got -1.0", "give values above zero"),
    (lambda: lagrange_top([1, 2, 3], 1.0, None, None, 1.0), "got [1.0, 2.0, 3.0]", "give them in this order"),
    (lambda: lagrange_top([1, 1, 1.5], 1.0, None, [1, 2], 1.0), "got shape (2,)", "give three"),
    (lambda: reference([1, 2, 2.5], [0, 1e12], torque="heavy_top", omega0=(1, 2, 3)),
     "the body turns 3e+12 rad between t", "end earlier"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), position0=(1, 2)),
     "got shape (2,)", "give three"),
    (lambda: integrate([1, 2, 2.5], polhode.torque(uses_position=True)(lambda t, R, x, v: x), (0, 1), 0.1, "CF4", omega0=(0, 0, 1), position0=(1, 2, 3)),   # noqa: E501
     "'<lambda>'", "CF4 asks for it elsewhere.  Use a method that"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1, 2), 0.1, omega0=(0, 0, 1)),
     "got (0, 1, 2)", "write t_span=(0, 10)"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omegaa=(0, 0, 1)),
     "'omegaa'", "valid: 'body', 'torque', 't_span', 'step', '"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), progress=3),
     "got 3", "write def progress(done, total): ..."),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), omega0=(0, 0, 1)),
     "step is missing", "times, or rtol for adaptive steps"),
    (lambda: integrate([1, 2, 2.5], None, None, 0.1, omega0=(0, 0, 1)), "t_span is missing", "give (t0, t1)"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), every=2, t_eval=[0.5]),
     "give t_eval or every, not both", "drop one"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), [0.0, 0.5, 1.0], "SW", omega0=(0, 0, 1)),
     "method SW uses earlier steps", "give one number for step"),
    (lambda: integrate([1, 2, 2.5], two, (0, 1), 0.1, "NMB", omega0=(0, 0, 1)),
     "got shape (2,) at t = 0 (quaternion [0.0, 0.0, 0", "correct it"),
    (lambda: integrate([1, 2, 2.5], raising, (0, 1), 0.1, "NMB", omega0=(0, 0, 1), compiled=False),
     "raised ValueError at t", "correct it"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), momentum0=(0, 0, 1)),
     "got both", "give one of the two"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 1)),
     "got shape (2,)", "give three"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), every="day"), "'day'", "valid: 'end'"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.1, omega0=(0, 0, 1), every=0),
     "got 0", "write every=10"),
    (lambda: integrate([1, 2, 2.5], Foreign(1), (0, 1), 0.1, omega0=(0, 0, 1), compiled=False),
     "a foreign torque has no Python for", "leave out compiled=False"),
    (lambda: get(3), "got 3", "see polhode.methods.names()"),
    (lambda: compose("VLV", "yoshida5"), "'yoshida5'", "valid: 'yoshida4', 'suzuki4', 'yoshida6', 'y"),
    (lambda: compose("VLV", Scheme(4, (0.5, 0.4), "own")), "got (0.5, 0.4)", "correct them"),
    (lambda: integrate([1, 2, 2.5], untraceable, (0, 1), rtol=1e-6, method="taylor", omega0=(0, 0, 1)),
     "'untraceable'", "use DOP853 for others"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, variant(get("NMB"), state=namedtuple("State", "q")), omega0=W),
     "'NMB'", "it needs q and one of Om, om, Pi, pi"),
    (lambda: item("nobody-1999", "fig1", title="", kind="figure"),
     "'nobody-1999'", "valid: 'buss-2001', 'buss-2001-slides', 'kry"),
    (lambda: item("krysl-2005", "fig1", title="", kind="drawing"), "'drawing'", "valid: 'table', 'figure'"),
    (lambda: enter_errata("nobody-1999"), "'nobody-1999'", "valid: 'buss-2001', 'buss-2001-slides', 'kry"),
    (lambda: errata("nobody-1999"), "'nobody-1999'", "valid: 'buss-2001', 'buss-2001-slides', 'kry"),
    (lambda: Item("krysl-2005", "fig0", "", "table", 1.0, lambda work: 3).run(), "got int", "return a Table"),
    (lambda: Claim("it is so", "perhaps", ""), "'perhaps'", "valid: 'holds', 'holds for another reason',"),
    (lambda: Claim("it is so", "holds", ""), "'it is so'", "give the numbers that decide it"),
    (lambda: check_request({"colour": 1}), "'colour'", "valid: 'problem', 'body', 'omega0', 'tilt'"),
    (lambda: check_request({}), "got None;", "give a number of seconds"),
    (lambda: check_request({"problem": "nonsense", "method": "nonsense", "omega0": [1.0, None, 2.0], "body": {"kind": "ring"}}),
     "'nonsense'", "give a number of seconds"),
    (lambda: check_request({"omega0": [1.0, 2.0], "body": {"kind": "box", "colour": 1}}),
     "got shape (2,);", "give a number of seconds"),
    (lambda: check_request({"omega0": 3, "body": {"kind": "box", "values": [1.0, 2.0]}}),
     "got 2;", "give a number of seconds"),
    (lambda: check_request({"second": 3}), "got 3;", "body, omega0, tilt"),
    (lambda: check_request({"weight": -2.0}), "got -2;", "give 0 or more N m"),
    (lambda: check_request({"tilt": 200.0}), "got 200;", "at most 180 degrees"),
    (lambda: check_request({"body": {"kind": "box", "values": [1.0, 1e-9, 1e-9]}}),
     "got None;", "give a number of seconds"),
    (lambda: polhode.plots.sphere([], axis=7), "unknown axis of the body 7", "valid: '1', '2', '3'"),
    (lambda: polhode.plots.sphere([]), "sphere needs at least one run or a", "give one"),
    (lambda: polhode.plots.sphere(np.zeros((3, 3))), "got shape (3, 3)", "drop those"),
    (lambda: polhode.plots.errors([]), "errors needs at least one trajecto", "give one"),
    (lambda: bibtex("nobody1999"), "'nobody1999'", "valid: 'antonana2017reducing', 'austin1993almost"),
    (lambda: rotations.as_quaternion(Rotation.random(3)), "got a stack of 3", "pick one: rotation[0]"),
    (lambda: rotations.as_quaternion([[1.0, 2.0]]), "rotation has shape (1, 2)", "accepted: None, a single scipy Rotation, a 3"),
    (lambda: rotations.as_rotation(np.zeros(4)), "q has a quaternion of zeros, which", "the identity is (0, 0, 0, 1)"),
    (lambda: rotations.hermite(Q, W, Q, W, 0.0, 0.5), "h must not be zero: there is nothi", "drop that step"),
    (lambda: polhode.Flow([1, 2, 2.5], stepp=0.1), "'stepp'", "valid: 'body', 'torque', 'method', 'force'"),
    (lambda: polhode.Flow([1, 2, 2.5]), "step is missing", "give the size of a step, or rtol"),
    (lambda: polhode.Flow([1, 2, 2.5], step=0.1)(Q, W, 0.0, 1.0, position0=W), "position0 and velo", "make it with force=..."),
    (lambda: polhode.Flow([1, 2, 2.5], "heavy_top", step=0.1, force=lambda t, x, v, R: x)(Q, W, 0, 1, parameters=(2.0,)),
     "got (2.0,)", "write parameters={name: value}"),
    (lambda: polhode.Flow([1, 2, 2.5], polhode.flight.weight(1.0), step=0.1), "<force weight(", "give it as force=..."),
    (lambda: polhode.Flow([5, 5, 1], "heavy_top", step=0.1)(Q, (0, 0, 1), 0, 1, parameters={"moments": 2.0}), "'moments'",
     "valid: 'moment'"),
    (lambda: polhode.Flow([5, 5, 1], "heavy_top", step=0.1)(Q, (0, 0, 1), 0, 1, parameters={"moment": (1.0, 2.0)}), "got (2,)",
     "give as many numbers as the torque has"),
    (lambda: polhode.Flow([5, 5, 1], "heavy_top", step=0.1)(Q, (0, 0, 1), 0, 1, parameters=(1.0, 2.0)), "got (1.0, 2.0)",
     "write parameters={name: value}"),
    (lambda: polhode.Flow([[5, 1, 0], [1, 5, 0], [0, 0, 4]], step=0.1)(Q, (0, 0, 1), 0, 1, inertia=(1, 2, 2.5)),
     "a body with other axes", "give Flow the principal moments"),
    (lambda: polhode.Flow([5, 5, 4], step=0.1)(Q, (0, 0, 1), 0, 1, inertia=[[5, 1, 0], [1, 5, 0], [0, 0, 4]]), "[[5, 1, 0]",
     "make a new Flow for a body with other axes"),
    (lambda: polhode.Flow([5, 5, 4], step=0.1)(Q, (0, 0, 1), 0, 1, inertia=(1, 2, 30)), "got (1, 2, 30)",
     "give inertia=RigidBody(..., check_triangle=False)"),
    (lambda: polhode.Flow([5, 5, 1], polhode.torques.heavy_top(2.0) + polhode.torques.heavy_top(3.0), step=0.1)(
        Q, (0, 0, 1), 0, 1, parameters=(1.0, 2.0)),
     "a sum of torques must be a dict, got (1.0, 2.0)", "write parameters={name: value}"),
    (lambda: polhode.Flow([5, 5, 1], polhode.torques.heavy_top(2.0) + polhode.torques.damping(0.1), step=0.1)(
        Q, (0, 0, 1), 0, 1, parameters={"moment": 1.0, "heavy_top.moment": 2.0}),
     "as 'moment' and 'heavy_top.moment'", "give it once"),
    (lambda: polhode.Flow([5, 5, 1], step=0.1)(Q, (0, 0, 1), 1, 1), "got 1.0 for both", "give another t1"),
    (lambda: polhode.Flow([5, 5, 1], step=0.1)((1.0, 1.0, 0.0, 0.0), (0, 0, 1), 0, 1),
     "rotation0 must be a unit quaternion", "divide it by its norm"),
    (lambda: polhode.Flow([5, 5, 4], guarded, step=0.1).compiled, "torque 'guarded' runs as Python",
     "make it a function that numba can"),
    (lambda: [polhode.io.save(spun((0, 0, 1)), "twice.nc") for _ in range(2)], "'twice.nc' exists", "(in Python force=True)"),
    (lambda: polhode.io.formats.register(Bare), "Bare", "write register(MyFormat())"),
    (lambda: polhode.io.formats.register(Bare()), "got None of Bare", "write suffix = 'json' in the class"),
    (lambda: polhode.io.formats.register(Dotted()), "got '.bare' of Dotted", "write suffix = 'json' in the class"),
    (lambda: Bare().write(None, "run.bare"), "cannot write 'run.bare'", "define write(self, contents, path)"),
    (lambda: Bare().read("run.bare"), "cannot read 'run.bare'", "define read(self, path)"),
    (lambda: polhode.Stepper([1, 2, 2.5], step=0.1, omegaa=1), "'omegaa'", "valid: 'body', 'torque', 'step', 't', 'metho"),
    (lambda: polhode.Stepper([1, 2, 2.5], step=0.0, omega0=(0, 0, 1)), "step must not be zero", "a negative step runs backwards"),
    (lambda: polhode.Stepper([1, 2, 2.5], step=0.1, omega0=(0, 0, 1), compiled=False).step(-1),
     "got -1", "use 1"),
    (lambda: polhode.Stepper([1, 2, 2.5], raising, step=0.1, omega0=(0, 0, 1), compiled=False),
     "raised ValueError at t", "correct it"),
    (lambda: polhode.Stepper([1, 2, 2.5], step=0.1, omega0=(0, 0, 1), compiled=False).step(dt=np.nan),
     "dt must be a number, got nan", "check how it was computed"),
    (lambda: polhode.Stepper([1, 2, 2.5], step=0.1, omega0=(0, 0, 1), method="SW", compiled=False).step(dt=0.2),
     "got dt = 0.2 with step = 0.1", "leave out dt, or use another method"),
    (lambda: polhode.Stepper([1, 2, 2.5], step=0.1, omega0=(0, 0, 1), compiled=False).apply_linear_impulse((1, 0, 0)),
     "a linear impulse does nothing here", "give it position0, velocity0 or force"),
    (lambda: setattr(polhode.Stepper([1, 2, 2.5], step=0.1, omega0=(0, 0, 1), compiled=False), "position", (1, 2, 3)),
     "position cannot be set", "give it position0, velocity0 or force"),
    (lambda: setattr(polhode.Stepper([1, 2, 2.5], step=0.1, omega0=(0, 0, 1), compiled=False), "state", 3),
     "a Stepper of LP2 cannot continue from", "use the state of one with the same method"),
    (lambda: polhode.sweep({"problem": "krysl/slow-top"}, chunks=3), "'chunks'", "valid: 'source', 'out', 'cluster', 'workers'"),
    (lambda: polhode.Sweep("nowhere.zarr"), "'nowhere.zarr'", "give what `polhode sweep --output` wrote"),
    (lambda: swept({"sweep": {"initial": {"omega": [[1.0, 2.0, 3.0]]}, "initial.omega.0": [1.0]}}),
     "sweep: initial.omega.0 and init", "drop one"),
    (lambda: swept({"body": {"inertia": 3.0}, "sweep": {"body.inertia.0": [1.0, 2.0]}}),
     "got 3.0", "give all of them"),
    (lambda: swept({"run": {"rtol": 1e-6}, "sweep": {"initial.omega.0": [1.0, 2.0]}}),
     "run.method: DOP853 chooses its own", "a sweep needs steps of a given size; give run.step"),
    (lambda: compute({"problem": "krysl/slow-top", "sweep": {"run.step": [0.1]}}, "other", ((0,), (1,))),
     "this worker runs other code than t", "e same polhode, numba and Python on both"),
    (lambda: polhode.torques.heavy_top(up=(0, 1)), "got (0, 1)", "give three"),
    (lambda: newmark([1.0], [1.0, 2.0], spring, step=0.1, steps=3),
     "got shapes (1,) and (2,)", "correct them"),
    (lambda: newmark([1.0], [1.0], spring, step=0.0, steps=3), "got 0.0", "a negative step runs backwards"),
    (lambda: newmark([1.0], [1.0], spring, step=0.1, steps=-3), "got -3", "use 100"),
    (lambda: newmark([1.0], [1.0], spring, step=0.1, steps=10**15),
     "1000000000000000 steps need 160000", "use fewer at a time, and continue from the las"),
    (lambda: newmark([1.0, 2.0], [1.0, 2.0], lambda t, u: u[:1], step=0.1, steps=3),
     "got shape (1,)", "return these"),
    (lambda: newmark([1.0, 2.0], [1.0, 2.0], spring, step=0.1, steps=3, mass=-np.eye(2)),
     "got array([[-1., -0.],", "correct its entries"),
    (lambda: newmark([1.0], [1.0], spring, step=0.1, steps=3, mass=[1.0, 2.0]),
     "got shape (2,)", "give one of these"),
    (lambda: newmark([1.0], [1.0], spring, step=0.1, steps=3, mass=-1.0), "got -1.0", "give values above zero"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(3), np.eye(3), (0, 1), 10, "euler"),
     "'euler'", "valid: 'taylor1', 'taylor2', 'taylor3', 'tay"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(3), np.eye(3), (0, 1), 10, frame="moon"), "'moon'", "valid: 'spatial', 'body'"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(3), np.eye(3), (0, 1), 0), "got 0", "use 100"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(3), np.eye(4), (0, 1), 10),
     "got shape (4, 4)", "give a group element, such as the identity m"),
    (lambda: lie.solve(lie.so3, lambda t, y: np.ones(3), np.eye(3), (0, 1), 10),
     "the Taylor methods need W(t), a fu", "use RKMK4 or CF4 for W(t, y)"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(2), np.eye(3), (0, 1), 10),
     "got shape (2,)", "return one of these"),
    (lambda: shown(3), "got int", "give one"),
    (lambda: shown((np.ones((3, 3)), np.array([[0, 1, 7]]))), "mesh faces must be indices of vert", "got 0 to 7"),
    (lambda: shown((np.ones((3, 3)), np.zeros((300000, 3), dtype=int))),
     "the mesh has 300000 faces, and a p", "simplify it first"),
    (lambda: polhode.RigidBody.from_urdf("missing.urdf"), "'missing.urdf'", "give the path of a URDF file"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'/></robot>")), "case.urdf: 0 links have an <inerti", "none"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'/></robot>"), "b"), "'b'", "valid: 'a'"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'/></robot>"), "a"), "'a'", "links that have: none"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<model/>")), "got <model>", "give a URDF (expand xacro first)"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'><inertial/></link></robot>")), "'a'", "add one"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'><inertial><mass value='x'/></inertial></link></robot>")),
     "got 'x'", "correct it there"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'><inertial><mass value='-1'/></inertial></link></robot>")),
     "got -1.0", "give it a mass, or choose another link"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='-1'/></inertial></link></robot>")),   # noqa: E501
     "got I3 = -1 in (1, 1, -1)", "correct it (a body without extent about an a"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<!DOCTYPE x><robot/>")), "case.urdf: has a document type dec", "remove it"),
    (lambda: polhode.RigidBody.from_urdf(urdf("<robot")), "case.urdf: not valid XML: unclosed", "correct it there"),
    (lambda: polhode.RigidBody.from_urdf(urdf(" " * 17_000_000)), "case.urdf: has 17000000 bytes, and", "make it smaller"),
    (lambda: contents(bomb("zarr")), "'bomb.zarr'", "open them with xarray"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W, breaks=[[0.1], [0.2]]), "got shape (2, 1)", "write breaks="),
    (lambda: integrate([1, 2, 3], None, (0, 1), rtol=1e-6, atol=-1.0, omega0=W), "got -1.0", "give 0 or more"),
    (lambda: integrate([1, 2, 2.5], strict, (0, 1), 0.1, "NMB", omega0=(0, 0, 1), compiled=False),
     "the torque raised ValueError in th", "correct it, or end the run before"),
    (lambda: integrate([1, 2, 2.5], fades, (0, 1), 0.1, "NMB", omega0=(0, 0, 1), compiled=False),
     "'fades'", "correct it, or end the run before"),
    (lambda: integrate([1, 2, 2.5], None, (0, 1), 0.5, "DMV", omega0=(0, 30, 1), compiled=False),
     "DMV could not take the step from", "the largest step that works here is about 0."),
    (lambda: rotations.as_rotation(np.ones((2, 2, 4))), "got (2, 2, 4)", "reshape it to (-1, 4) first"),
    (lambda: shown((np.ones((2, 4)), np.ones((1, 3), dtype=int))),
     "got shape (2, 4)", "give 3 of them"),
    (lambda: lie.solve(lie.so3, lambda t: [[1.0], "a"], np.eye(3), (0, 1), 10), "got [[1.0], 'a']", "convert them first"),
    (lambda: ensemble([], t_span=(0, 1), step=0.1, omega0=(0, 0, 1)),
     "got shape (0,)", "give one of these"),
    (lambda: swept({"torque": {"name": "book_toss"}, "run": {"rtol": 1e-6}, "sweep": {"run.step": [0.1]}}),
     "run: give step, for fixed steps", "not both"),
    (lambda: polhode.RigidBody.from_mesh("good.obj"), "got neither", "give one of the two"),
    (lambda: polhode.Stepper([1, 2, 2.5], strict, step=0.5, omega0=(0, 0, 1), compiled=False).step(3),
     "the torque raised ValueError in th", "correct it and repeat the step"),
    # odd values at the doors
    (lambda: polhode.torque(push)(0.0, [1.0, 2.0, 3.0]), "got (3,)", "give one attitude or vector"),
    (lambda: polhode.torque(push, params={"k": np.ones((1, 2, 3))}), "got shape (1, 2, 3)", "give one of these"),
    (lambda: polhode.torque(push, params={"a b": 1.0}), "got 'a b'", "write params={'k': 1.0}"),
    (lambda: polhode.plots.certificate(3), "got 3", "give that"),
    (lambda: polhode.facts.symmetry_defect("NMB", 1e9), "got 1000000000.0", "use 0.5"),
    (lambda: polhode.facts.poisson("NMB", velocity=(0, 0, 0)), "got [0.0, 0.0, 0.0]", "use (0.8, -0.6, 0.5)"),
    (lambda: polhode.facts.free_drift("NMB", count=10**9), "got 1000000000", "use 100"),
    (lambda: polhode.compare("krysl/slow-top", methods=3), "got 3", "write methods=['NMB', 'LP2']"),
    (lambda: polhode.plots.convergence(3), "got 3", "give that"),
    (lambda: polhode.Statistics(of=3), "got 3", "write of=['energy']"),
    (lambda: polhode.Statistics(functions=3), "got 3", "write functions={'tilt': tilt}"),
    (lambda: polhode.Statistics(functions={3: push}), "got 3", "write functions={'tilt': tilt}"),
    (lambda: polhode.Statistics(functions={"range": range}), "'range'", "write def f(omega): ... around it"),
    (lambda: ensemble([1, 2, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 0, 1), n=2,
                      keep=polhode.Statistics(functions={"none": lambda t: None})), "'none'", "correct it"),
    (lambda: polhode.read(3), "got 3", "give text or a pathlib.Path"),
    (lambda: polhode.read("a\0b"), "got 'a\\x00b'", "choose another name"),
    (lambda: polhode.read("x" * 5000), "longer than a path can be", "choose another name"),
    (lambda: polhode.plots.overview(3), "got 3", "give one of them"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(3), np.eye(3), (0, 1), 10, "taylor2", derivatives=lambda t, n: [np.ones(3)]),
     "got 1", "return W and its first 1 derivatives"),
    (lambda: lie.series(3, 0.1, np.cross), "got 3", "give at least one"),
    (lambda: lie.solve(3, lambda t: np.ones(3), np.eye(3), (0, 1), 10), "got 3", "use polhode.lie.so3"),
    (lambda: lie.solve(lie.so3, lambda t: np.ones(3), np.eye(3), (0, 1), 10**15),
     "1000000000000000 steps need", "use fewer at a time"),
    (lambda: polhode.plots.flip(integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W), snapshots=10**6), "got 1000000", "use 7"),
    (lambda: polhode.plots.errors(integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W), "errors.xyz"),
     "'xyz'", "valid: 'eps'"),
    (lambda: polhode.plots.errors(integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W), "nowhere/errors.png"),
     "'nowhere/errors.png'", "give the name of a file in a folder that exists"),
    (lambda: polhode.poinsot.Poinsot([1, 2, 3], omega0=W).ellipsoid(10**9), "1000000000 by 2000000000 points need", "use fewer"),
    (lambda: polhode.poinsot.Poinsot([1, 2, 3], omega0=W).polhode(10**15), "1000000000000000 points need", "use fewer"),
    (lambda: polhode.facts.from_file(3), "got 3", "give text"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W, compiled=3), "got 3", "give one of them"),
    (lambda: integrate([1, 2, 3], None, (0, 1), 0.1, omega0=W, events=late, compiled=False), "terminal of event 'late'",
     "write terminal = True, or the number of events"),
    (lambda: reference([1, 2, 3], omega0=W), "t is missing", "give the times at which the motion is wanted"),
    (lambda: reference([1, 2, 3], [], omega0=W), "t has no times", "give at least one, the initial one"),
    (lambda: polhode.io.save(3, "three.nc"), "got 3", "pass the result of polhode.integrate"),
    (lambda: polhode.read(oversized()), "'oversized.npz': omega is larger than 1e+150", "the file is damaged"),
    (lambda: swept({"sweep": nested(200)}), "tables and lists are nested more than 100 deep",
     "remove some levels"),
]
