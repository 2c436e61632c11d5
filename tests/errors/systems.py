"""Calls with systems of bodies that are refused: (call, the value as the message names it, the way out)."""

import ctypes
import pickle

import numpy as np

import polhode
from polhode import Pair, RigidBody, System, interaction, interactions

BOX = polhode.RigidBody.box(1, 2, 3)
APART = [[0, 0, 0], [5, 0, 0]]
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


SYSTEMS = [
    # --- bodies
    (lambda: System(BOX), "RigidBody", "write System([body, body], ...)"),
    (lambda: System([]), "got none", "give a list of bodies"),
    (lambda: System([BOX, [1, 2, -3]]), "bodies[1]", "correct it"),
    (lambda: System([BOX, BOX], fixed=[2]), "got [2]", "correct it"),
    (lambda: System([BOX, BOX], Pair(one_way_with_each, each={"k": [1, 2, 3]})), "for 3 bodies", "give as many of each"),
    # --- interactions
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
    (lambda: Pair(one_way, box=(1, 2), cutoff=0.5), "got (1, 2)", "correct it"),
    (lambda: Pair(one_way, box=4.0), "there is no cutoff", "give one, of half an edge"),
    (lambda: Pair(one_way, box=4.0, cutoff=3.0), "cutoff 3.0", "use a smaller cutoff"),
    # --- interactions by name
    (lambda: interactions.springs([(0, 1)], [1.0, 2.0]), "got shape (2,)", "give one of these"),
    (lambda: interactions.springs([(0, 1)], 1.0, points=(1, 0, 0)), "got shape (3,)", "give one of these"),
    (lambda: interactions.bushings([(0, 1)], (1, 1, 1, 1, 1, -2.0)), "-2.0", "correct it"),
    (lambda: interactions.dipoles((0, 0, 1)), "got shape (3,)", "write moments="),
    (lambda: interactions.gravity([BOX, BOX], degree=3), "got 3", "choose one of them"),
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
    (lambda: run(method="LIEMID[I]"), "LIEMID[I]", "such as LP2"),
    (lambda: run(units="deg"), "units", "give units to them"),
    (lambda: run(force=lambda t, R: (0, 0, 0)), "force goes with one body", "to which interactions can be added"),
    (lambda: run(omega0=(0, 0, 1), momentum0=(0, 0, 1)), "not both", "drop one"),
    (lambda: run(position0=None), "position0 is missing", "give the positions"),
    (lambda: run(position0=[[0, 0, 0]]), "(1, 3)", "give as many"),
    (lambda: run(omega0=np.ones((3, 3))), "(3, 3)", "give one of these"),
    (lambda: run(rotation0=(np.nan, 0, 0)), "rotation0[0] = nan", "remove or replace it"),
    (lambda: run(rotation0=[[0, 0, 0], [np.nan, 0, 0]]), "nan", "correct it"),
    (lambda: run(fails), "raised KeyError at t = 0", "correct it"),
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
    (lambda: stepper().apply_impulse((0, 0, 1), body=2), "got 2", "correct it"),
    (lambda: setattr(stepper(), "position", (0, 0, 1)), "(3,)", "give as many"),
    (lambda: setattr(stepper(fixed=[1]), "velocity", (0, 0, 1)), "body 1", "drop it from fixed"),
    (lambda: setattr(stepper(), "state", 7), "SystemStepper of LP2", "use the state of one"),
    # --- in C
    (lambda: interaction(ctypes.CFUNCTYPE(None)()), "null pointer", "that is loaded"),
    (lambda: pickle.dumps(interaction(ctypes.CFUNCTYPE(None)(12345))), "address in this process", "load the C library there"),
    # --- studies
    (lambda: polhode.sweep(System([BOX, BOX])), "System of 2 bodies", "loop over polhode.integrate"),
    (lambda: polhode.sweep({"body": [{}, {}], "sweep": {"run.step": [0.1]}}), "[[body]]", "in a loop over polhode.integrate"),
    (lambda: polhode.exact.reference(System([BOX]), [0, 1e9], omega0=(0, 0, 1)), "a body turns", "end earlier"),
    (lambda: polhode.exact.reference(System([BOX]), [0, 1], torque="free"), "torque goes with one body", "can be added"),
    (lambda: polhode.compare(System([BOX]), "free", (0, 1)), "torque goes with one body", "can be added"),
    (lambda: polhode.compare(System([BOX]), t_span=(0, 1), processes=2), "processes = 2", "leave processes out"),
]  # fmt: skip
