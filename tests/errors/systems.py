"""Calls with systems of bodies that are refused: (call, the value as the message names it, the way out)."""

import ctypes
import pickle
import tomllib

import numpy as np

import polhode
from polhode.io.scenario import ensembles
from polhode import problems
from polhode.io.scenario._load import make_scenario
from polhode.loads.recorded import RecordedInteraction
from polhode import Pair, RigidBody, System, interaction, interactions

BOX = polhode.RigidBody.box(1, 2, 3)
APART = [[0, 0, 0], [5, 0, 0]]
ONE_SITE = [(0.0, 0.0, 0.0)]
CORNER = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
SIDES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
WEDGE = RigidBody.polyhedron(CORNER, SIDES, mass=1.0)
NAMELESS = RigidBody([1.0, 2.0, 2.5])
LIAR = RigidBody([1.0, 2.0, 2.5], shape={"kind": "box", "size": (1, 2, 3)})
LARGE = RigidBody([1.0, 2.0, 2.5], shape={"kind": "mesh", "file": "large.obj"})


def still(t, x, R):
    """An interaction that does nothing."""
    return np.zeros_like(x), np.zeros_like(x)


def one_way(r, Ri, Rj):
    return 0.0 * r, np.zeros(3), np.zeros(3)


def one_way_with_own(r, Ri, Rj, c):
    return one_way(r, Ri, Rj)


def one_way_with_each(r, Ri, Rj, a, b):
    return one_way(r, Ri, Rj)


def late_nan(t, x, R):
    return np.where(t < 0.15, 0.0, np.nan) * np.ones_like(x), np.zeros_like(x)


def fails(t, x, R):
    raise KeyError("spring 7")


@interaction(params={"k": 1.0})
def hard(t, x, R, p):
    return p.k * x, x


HARD = hard


def one_place():
    """Two bodies at the origin, where the attraction is infinite."""
    pull = Pair(lambda r, Ri, Rj: (r / (r @ r), r, r))
    return run(system=System([BOX, BOX], pull, fixed=True), position0=None)


def late_error(t, x, R):
    if t > 0.15:
        raise KeyError("spring 7")
    return still(t, x, R)


def run(acting=None, /, system=None, method="LP2", **options):
    """A short run of two boxes."""
    system = System([BOX, BOX], acting) if system is None else system
    options = {"position0": APART, "compiled": False} | options
    return polhode.integrate(system, None, (0, 1), 0.1, method=method, **options)


def stepper(**options):
    """A stepper of two boxes."""
    return polhode.Stepper(System([BOX, BOX], **options), step=0.1, position0=APART, compiled=False)


LINKED = [{"name": "spring", "parameters": {}, "conservative": True, "balanced": True, "links": [[0, 3]]}]
RECORDED = RecordedInteraction("", [{**LINKED[0], "links": None}], True)
PAIR = """
[[body]]
name = "rod"
inertia = [1.0, 1.0, 1.0]
position = [0.0, 0.0, 0.0]
MORE

[[body]]
name = "ball"
inertia = [1.0, 1.0, 1.0]
position = [1.0, 0.0, 0.0]

[[interaction]]
name = "springs"
links = [["rod", "ball"]]
stiffness = 1.0

[run]
step = 0.1
t_span = [0, 1]
"""


def scenario(change, torque_file=None):
    """A scenario of two bodies with a change: lines of the first body, or others in place of those of the second."""
    key, _, value = change.partition(" = ")
    text = PAIR
    if change == "-body":
        data = tomllib.loads(text.replace("MORE", "")) | {"body": []}
    elif change == "one body":
        data = tomllib.loads(text.replace("MORE", ""))
        data["body"] = data["body"][0]
    elif change == "both":
        data, torque_file = tomllib.loads(text.replace("MORE", "")), "pull.py"
    elif torque_file is not None:
        data = tomllib.loads(text.replace("MORE", ""))
        del data["interaction"]
    else:
        if change == "[initial]":
            text = f"{text}[initial]\n"
        elif change == "position =":
            text = text.replace("position = [1.0, 0.0, 0.0]", "")
        elif key == "name":
            text = text.replace('"ball"', value)
        elif key == "springs":
            text = text.replace('"springs"', value)
        elif key in ("links", "stiffness"):
            text = "\n".join(change if line.startswith(key) else line for line in text.split("\n"))
        else:
            text = text.replace("MORE", change.replace("|", "\n"))
        data = tomllib.loads(text.replace("MORE", ""))
    return make_scenario(data, "pair.toml", torque_file)


def set_of_two(setting):
    """A scenario with two interactions of one name, and a setting of the command line."""
    data = tomllib.loads(PAIR.replace("MORE", ""))
    data["interaction"] *= 2
    return make_scenario(data, "pair.toml", settings=[("--set", setting)])


def problem_with(section, interaction_file=None):
    """A scenario of a problem of two bodies, with a section that it does not take."""
    data = tomllib.loads(f"problem = 'didymos'\n{section}")
    return make_scenario(data, "didymos.toml", interaction_file)


SYSTEMS = [
    # --- problems
    (lambda: problems.of_one_body("didymos"), "'benchmark/didymos' has 2 bodies", "give one of krysl/free-body"),
    (lambda: problem_with("[initial]\nomega = [0, 0, 1]"), "'benchmark/didymos'", "write several [[body]]"),
    (lambda: problem_with("", "pull.py"), "'pull.py'", "write several [[body]]"),
    # --- bodies
    (lambda: System(BOX), "RigidBody", "write System([body, body], ...)"),
    (lambda: System([]), "got none", "give a list of bodies"),
    (lambda: System([BOX, [1, 2, -3]]), "bodies[1]", "correct it"),
    (lambda: System([BOX, BOX], fixed=[2]), "got [2]", "correct it"),
    (lambda: System([BOX, BOX], Pair(one_way_with_each, each={"k": [1, 2, 3]})), "for 3 bodies", "give as many of each"),
    (lambda: interactions.dipoles([(0, 0, 1)] * 3)(0.0, APART), "for 3 bodies, and there are 2", "give as many of each"),
    (lambda: polhode.integrate([BOX, BOX]), "a list of 2", "write System(bodies, interaction)"),
    (lambda: scenario('name = "rod"'), "body 0 is 'rod' too", "give another"),
    (lambda: set_of_two("interaction.springs.stiffness=2"), "2 are named 'springs'", "write interaction.0 or"),
    # --- interactions
    (lambda: interactions.gravity([BOX] * 2, G=-1), "G must not be negative, got -1.0", "correct it"),
    (lambda: interactions.polyhedra([BOX] * 2, G=-1), "G must not be negative, got -1.0", "correct it"),
    (lambda: interactions.springs([(0, 1)], -1.0), "stiffness must not be negative, got -1.0", "correct it"),
    (lambda: interactions.springs([(0, 1)], 1.0, damping=-2.0), "damping must not be negative, got -2.0", "correct it"),
    (lambda: System([BOX, BOX], 7), "got 7", "write def f(t, x, R): ..."),
    (lambda: interaction(7), "got 7", "write def f(...): ..."),
    (lambda: interaction(lambda t, R: None, name="pull"), "'pull' will be called as f(t, x, R)", "correct its"),
    (lambda: interaction(still, params=7), "got 7", "write params={'k': 1.0}"),
    (lambda: Pair(one_way_with_each, each={"a b": [1, 2]}), "'a b'", "write each={'k': 1.0}"),
    (lambda: Pair(one_way_with_each, each={"k": [1, 2], "m": [1]}), "k (2,), m (1,)", "correct them"),
    (lambda: Pair(one_way_with_each, each={"k": np.ones((2, 2, 2, 2))}), "(2, 2, 2, 2)", "give one of these"),
    (
        lambda: Pair(one_way_with_each, each={"k": [1, 2]}) + Pair(one_way_with_each, each={"k": [1, 2, 3]}),
        "[2, 3]", "make them for the same bodies",
    ),
    # --- pairs
    (lambda: Pair(one_way_with_own, own={"k": [1.0]}), "there are none", "give links too"),
    (lambda: Pair(one_way_with_own, links=[(0, 1)], own={"k": [1.0, 2.0]}), "got 2", "give as many"),
    (lambda: Pair(one_way, links=[(0.5, 1)]), "[(0.5, 1)]", "write links=[(0, 1), (1, 2)]"),
    (lambda: Pair(one_way, links=[(1, 1)]), "(1, 1)", "correct it"),
    (lambda: System([BOX, BOX], Pair(one_way, links=[(0, 2)])), "link to body 2", "correct the links"),
    (lambda: System([BOX] * 20_001, Pair(one_way)), "20001 bodies", "give it a cutoff"),
    (
        lambda: System([WEDGE] * 20_001, interactions.polyhedra([WEDGE] * 20_001)),
        "20001 bodies", "take fewer bodies",
    ),
    (lambda: Pair(one_way, box=(1, 2), cutoff=0.5), "got (1, 2)", "correct it"),
    (lambda: Pair(one_way, box=4.0), "there is no cutoff", "give one, of half an edge"),
    (lambda: Pair(one_way, box=4.0, cutoff=3.0), "cutoff 3.0", "use a smaller cutoff"),
    # --- sites of molecules
    (lambda: polhode.interactions.sites((0, 0, 1), cutoff=1.0), "(3,)", "write points=[(0, 0, 0)]"),
    (lambda: polhode.interactions.sites(ONE_SITE, [1, 2], cutoff=1.0), "each of the 1 sites, got shape (2,)", "give as many"),
    (lambda: polhode.interactions.sites(ONE_SITE, sigma=-1.0, cutoff=1.0), "got -1.0", "correct it"),
    (
        lambda: polhode.interactions.sites([ONE_SITE] * 2, [1.0], kinds=[0, 1], cutoff=1.0),
        "each of the 2 kinds of bodies, got [1.0]", "give as many",
    ),
    (lambda: polhode.interactions.sites([ONE_SITE], kinds=[0, 1], cutoff=1.0), "from 0 to 0", "correct it"),
    (lambda: polhode.interactions.sites(7, kinds=[0, 1], cutoff=1.0), "got 7", "with kinds"),
    (lambda: polhode.interactions.sites(ONE_SITE, cutoff=3.0, box=4.0), "cutoff 3.0", "use a smaller cutoff"),
    (lambda: polhode.interactions.water("SPC", cutoff=1.0), "'SPC'", "valid: 'TIP3P'"),
    (
        lambda: run(polhode.interactions.sites(ONE_SITE, 1.0, cutoff=1.0), position0=np.zeros((2, 3))),
        "bodies 0 and 1 are in the same place", "correct it",
    ),
    # --- interactions by name
    (lambda: interactions.springs([(0, 1)], [1.0, 2.0]), "got shape (2,)", "give one of these"),
    (lambda: interactions.springs([(0, 1)], 1.0, points=(1, 0, 0)), "got shape (3,)", "give one of these"),
    (lambda: interactions.bushings([(0, 1)], (1, 1, 1, 1, 1, -2.0)), "-2.0", "correct it"),
    (lambda: interactions.dipoles((0, 0, 1)), "got shape (3,)", "write moments="),
    (lambda: interactions.gravity([BOX, BOX], degree=3), "got 3", "choose one of them"),
    (lambda: interactions.gravity([BOX, BOX], degree=[2]), "got [2]", "choose one of them"),
    (lambda: interactions.gravity([]), "got none", "give the bodies of the system"),
    (lambda: interactions.gravity(BOX), "RigidBody", "write [body, body]"),
    (lambda: interactions.gravity([BOX, NAMELESS], degree=4), "bodies[1] has no shape", "make it by RigidBody.ellipsoid"),
    (lambda: interactions.gravity([BOX, LIAR], degree=4), "bodies[1] has the moments (1, 2, 2.5)", "or degree=2"),
    (lambda: interactions.polyhedra([WEDGE, BOX]), "bodies[1] has no mesh", "give a body made by"),
    (lambda: interactions.polyhedra([WEDGE, LARGE]), "bodies[1] has a mesh of too many faces", "give a body made by"),
    (
        lambda: run(interactions.polyhedra([WEDGE, WEDGE]), System([WEDGE] * 2, interactions.polyhedra([WEDGE] * 2)),
                    position0=[[0, 0, 0], [0.1, 0, 0]]),
        "overlap", "correct",
    ),
    # --- polyhedra
    (lambda: RigidBody.polyhedron(CORNER, SIDES), "got neither", "give one of the two"),
    (lambda: RigidBody.polyhedron(CORNER[:3], SIDES, 1.0), "got shape (3, 3)", "give these"),
    (lambda: RigidBody.polyhedron(CORNER, [1, 2, 3], 1.0), "got [1, 2, 3]", "write faces="),
    (lambda: RigidBody.polyhedron(CORNER, [(0, 1, 4)], 1.0), "got [(0, 1, 4)]", "correct them"),
    (lambda: RigidBody.polyhedron(CORNER, SIDES[1:], 1.0), "3 of 6 edges have a face on one side only", "close the holes"),
    # --- runs
    (lambda: run(threads=0), "threads", "write threads=2"),
    (lambda: polhode.integrate([1, 2, 3], None, (0, 1), 0.1, threads=2), "threads=2", "leave it out"),
    (lambda: run(method="LIEMID[I]"), "LIEMID[I]", "methods that do are LP2"),
    (lambda: run(units="deg"), "units", "give units to them"),
    (lambda: run(force=lambda t, R: (0, 0, 0)), "force goes with one body", "to which interactions can be added"),
    (lambda: run(omega0=(0, 0, 1), momentum0=(0, 0, 1)), "not both", "drop one"),
    (lambda: run(position0=None), "position0 is missing", "give the positions"),
    (lambda: run(position0=[[0, 0, 0]]), "(1, 3)", "give as many"),
    (lambda: run(omega0=np.ones((3, 3))), "(3, 3)", "give one of these"),
    (
        lambda: run(system=System([BOX] * 3), position0=np.eye(3), rotation0=np.eye(3)),
        "one rotation matrix", "write [matrix] * 3",
    ),
    (lambda: run(rotation0=(np.nan, 0, 0)), "rotation0[0] = nan", "remove or replace it"),
    (lambda: run(rotation0=[[0, 0, 0], [np.nan, 0, 0]]), "nan", "correct it"),
    (lambda: run(fails), "raised KeyError at t = 0", "correct it"),
    (lambda: run(lambda t, x, R: None), "two arrays (2, 3), got None", "write return forces, torques"),
    (lambda: run(lambda t, x, R: x), "two arrays (2, 3), got one array (2, 3)", "write return forces, torques"),
    (lambda: run(polhode.pair(lambda r, Ri, Rj: r)), "three vectors, got one array (3,)", "write return F, Ti, Tj"),
    (lambda: one_place(), "position0 is missing", "give the positions"),
    # --- parameters
    (lambda: HARD.with_params(c=1.0), "'c'", "valid: 'k'"),
    (lambda: HARD.with_params(k=1.0, **{"hard.k": 1.0}), "'hard.k' is given twice", "give it once"),
    (lambda: HARD.with_params(k=[1.0]), "got (1,)", "give as many numbers"),
    (lambda: interaction(still).with_params(k=1.0), "'still' has no parameters", "params={...}"),
    (lambda: setattr(HARD, "params", 7), "got 7", "with_params(name=value)"),
    (lambda: HARD.params.__setitem__("k", 7), "k = 7", ".with_params(k=...)"),
    (lambda: run(parameters={"k": 7}), "parameters", ".with_params(k=2.0)"),
    (lambda: polhode.Flow(System([BOX]), step=0.1)([0, 0, 0, 1], [0, 0, 1], 0.0, 1.0, parameters=7), "got 7", "{name: value}"),
    (lambda: run(velocity0=(0, np.nan, 0)), "velocity0[1] = nan", "remove or replace it"),
    (
        lambda: run(system=System([BOX, BOX], fixed=[1]), velocity0=[[0, 0, 0], [1, 0, 0]]),
        "body 1", "drop it from fixed",
    ),
    (lambda: run(late_nan), "body 0 at t = 0.2", "correct"),
    (lambda: run(late_error), "raised KeyError in the step from t = 0.1", "correct it"),
    # --- steps
    (lambda: polhode.Stepper(System([BOX, BOX]), "heavy_top", step=0.1), "torque goes with one body", "can be added"),
    (lambda: stepper().apply_impulse((0, 0, 1)), "each of the 2 bodies", "body=0"),
    (lambda: stepper().apply_impulse((0, 0, 1), body=2), "got 2", "write body="),
    (lambda: stepper().apply_impulse((0, 0, 1), body=-1), "got -1", "write body=1"),
    (lambda: setattr(stepper(), "position", (0, 0, 1)), "(3,)", "give as many"),
    (lambda: setattr(stepper(fixed=[1]), "velocity", (0, 0, 1)), "body 1", "drop it from fixed"),
    (lambda: setattr(stepper(), "state", 7), "SystemStepper of LP2", "use the state of one"),
    # --- in C
    (lambda: interaction(ctypes.CFUNCTYPE(None)()), "null pointer", "that is loaded"),
    (lambda: pickle.dumps(interaction(ctypes.CFUNCTYPE(None)(12345))), "address in this process", "load the C library there"),
    # --- scenarios
    (lambda: scenario("-body"), "body: is an empty list", "write a [[body]] for each body"),
    (lambda: scenario("[initial]"), "initial: goes with one body", "give each [[body]] its own position"),
    (lambda: scenario("position ="), "body.1.position: is missing", "write position = ["),
    (lambda: scenario("count = 3"), "3 bodies are placed on a line, a ring or a lattice, got none", "give one: write line"),
    (lambda: scenario("count = 3|ring = 1.0|axis = [0.0, 0.0, 0.0]"), "got [0.0, 0.0, 0.0]", "give a direction"),
    (lambda: scenario("count = 9|lattice = 1.0|cells = [2, 2, 2]"), "cells = [2, 2, 2]", "whose product is at least 9"),
    (lambda: scenario("omega = [1.0, 0.0, 0.0]|momentum = [1.0, 0.0, 0.0]"), "got both", "drop one"),
    (lambda: scenario('links = [["rod", "bal"]]'), "unknown body 'bal' (did you mean 'ball'?)", "valid: 'rod', 'ball'"),
    (lambda: scenario("count = 2|line = [1.0, 0.0, 0.0]"), "there are 2 bodies 'rod'", "give the number of one"),
    (lambda: scenario('stiffness = "much"'), "got 'much'", "write 1.0, [1.0, 2.0] or"),
    (lambda: scenario("stiffness = { red = 1.0 }"), "unknown body 'red'", "valid: 'rod', 'ball'"),
    (lambda: scenario("stiffness = { rod = 1.0 }"), "no value for the body 'ball'", "give one for each"),
    (lambda: scenario('springs = "sprigns"'), "'sprigns' (did you mean 'springs'?)", "valid: "),
    (lambda: scenario('springs = "pull.py:pull"'), "never runs code", "--torque-file FILE.py:NAME"),
    (lambda: scenario("one body"), "interaction: is between bodies", "write several [[body]]"),
    (lambda: scenario("both"), "given here and by the interaction file 'pull.py'", "drop one of the two"),
    (lambda: scenario("", torque_file="pull.txt"), "got 'pull.txt'", "write the interaction as a function in one"),
    (lambda: ensembles.arguments(scenario("")), "one system of 2 bodies", "use `polhode run`"),
    # --- files and pages
    (lambda: System.from_dict(7), "got 7", "pass the result of System.to_dict()"),
    (lambda: System.from_dict({"bodies": [], "which": [0], "fixed": []}), "got [0]", "pass the result of System.to_dict()"),
    (lambda: RECORDED(0.0, [[0, 0, 0]]), "'spring'", "give the interaction itself"),
    (lambda: System([BOX], RECORDED.__class__("", LINKED, True)), "links body 3, and there are 1", "the file is damaged"),
    (lambda: polhode.plots.flip(run()), "a run of 2", "draw systems with run.plot() and run.view()"),
    (lambda: polhode.view.page(run(), mesh=([[0, 0, 0]], [[0, 0, 0]])), "a system of several", "RigidBody.from_mesh"),
    (lambda: run().view("a.html"), "got 'a.html', a page", "write run.view().save('a.html')"),
    # --- studies
    (lambda: polhode.sweep(System([BOX, BOX])), "System of 2 bodies", "loop over polhode.integrate"),
    (lambda: polhode.sweep({"body": [{}, {}], "sweep": {"run.step": [0.1]}}), "[[body]]", "in a loop over polhode.integrate"),
    (lambda: polhode.exact.reference(System([BOX]), [0, 1e9], omega0=(0, 0, 1)), "a body turns", "end earlier"),
    (lambda: polhode.exact.reference(System([BOX]), [0, 1], torque="free"), "torque goes with one body", "can be added"),
    (lambda: polhode.compare(System([BOX]), "free", (0, 1)), "torque goes with one body", "can be added"),
    (lambda: polhode.compare(System([BOX]), t_span=(0, 1), processes=2), "processes = 2", "leave processes out"),
]  # fmt: skip
