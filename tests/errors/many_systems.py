"""Calls with ensembles and flows of systems that are refused: (call, the value as the message names it, the way out)."""

import tomllib

import numpy as np

import polhode
import systems
from polhode.io.scenario._load import make_scenario
from polhode import Interaction, Pair, RigidBody, Statistics, System, interactions

BOX = RigidBody.box(1, 2, 3)
APART = [[0, 0, 0], [5, 0, 0]]
LEVELS = [0.0]
SPRING = interactions.springs([(0, 1)], 2.0)

class Callable:
    """A function that numba cannot compile."""

    def __call__(self, t, x, R):
        return np.zeros_like(x), np.zeros_like(x)

def still(t, x, R):
    return np.zeros_like(x), np.zeros_like(x)

def level(t, x, R):
    """A potential that must not be compiled."""
    return LEVELS[0]


def of_arrays(r, Ri, Rj):
    return r, 0.0 * r, 0.0 * r


def of_arrays_of(r, Ri, Rj, p):
    return p.k * r, 0.0 * r, 0.0 * r

def many(acting=None, /, bodies=2, **options):
    """A short run of two boxes, many times."""
    options = {"position0": [APART, APART]} | options
    return polhode.ensemble(System([BOX] * bodies, acting), None, (0, 1), 0.5, **options)

def flow(t0=0.0, t1=1.0, **options):
    made = polhode.Flow(System([BOX] * 2, SPRING), **({"step": 0.5} | options))
    return made(None, None, t0, t1, position0=APART)

def with_energy(**options):
    system = System([BOX] * 2, Interaction(still, potential=level))
    return polhode.integrate(system, None, (0, 1), 0.5, method="LP2+ep", position0=APART, **options)

def large_step():
    acting = interactions.springs([(0, 1)], 2.0, points=((0.1, 0.2, 0.3), (0.0, 0.1, 0.0)))
    made = polhode.Flow(System([BOX] * 2, acting), step=1e6)
    return made(None, None, 0.0, 1e8, position0=APART)

def lacking():
    """A file of a system without its velocities."""
    run = polhode.integrate(System([BOX] * 2), None, (0, 1), 0.5, position0=APART, compiled=False)
    run.save("whole.npz")
    held = dict(np.load("whole.npz"))
    del held["velocity"]
    np.savez("lacking.npz", **held)
    return polhode.read("lacking.npz", polhode.SystemTrajectory)


def ragged():
    """A scenario whose sites have ragged kinds."""
    data = tomllib.loads(systems.PAIR.replace("MORE", ""))
    sites = {"name": "sites", "points": [[[0.0, 0.0, 0.0]]], "cutoff": 1.0, "kinds": [[0], [0, 1]]}
    return make_scenario(data | {"interaction": [sites]}, "pair.toml", None)


def measured(function=None, of=()):
    functions = {} if function is None else {"own": function}
    return many(keep=Statistics(every=1, of=of, functions=functions))

MANY_SYSTEMS = [
    (lacking, "lacks velocity", "the file is damaged"),
    (ragged, "cannot be made from these values", "correct them"),
    (lambda: many(units="SI"), "units of a system", "give units to them"),
    (lambda: many(bodies=9, position0=np.zeros((2, 9, 3))), "it has 9 bodies", "with integrate, or with sweep"),
    (lambda: many(Callable()), "'interaction'", "run the systems one by one with integrate"),

    (lambda: many(position0=None), "position0 is missing", "give the positions of the centres of mass"),
    (lambda: many(rotation0="rendom"), "'rendom'", "valid: 'random'"),
    (lambda: many(rotation0="random", position0=APART), "n is missing", "give n=1000"),
    (lambda: many(position0=[[[np.nan] * 3] * 2]), "nan", "give finite numbers"),
    (lambda: many(position0=np.zeros((2, 3, 3))), "got shape (2, 3, 3)", "give one of these"),
    (lambda: many(rotation0=[[0, 0, 0, 1]] * 3), "got 3", "give one of these"),
    (lambda: many(SPRING, parameters=7), "got 7", "write parameters={"),
    (
        lambda: many(Pair(of_arrays_of, params={"k": 1.0}), parameters={"k": np.ones((2, 2))}),
        "got (2, 2)", "give one of these",
    ),
    (lambda: measured(of=("position_x",)), "'position_x'", "functions of your own"),
    (lambda: measured(lambda t, R: [1.0, 2.0]), "'own'", "correct it"),
    (lambda: many().save("many.nc"), "ensembles of bodies", "write the arrays that you need"),
    (lambda: many().on_device, "on_device has the results of bodies", "use quaternion, omega"),
    (lambda: many(Pair(of_arrays), device="cuda"), "'of_arrays' gets arrays", "write it as Pair(..., form='tuple')"),
    (lambda: flow(step=None), "step is missing", "or rtol for adaptive steps"),
    (lambda: flow(t1=0.0), "got 0.0 for both", "give another t1"),
    (lambda: large_step(), "blew up", "use a smaller step"),
    (lambda: polhode.Flow(System([BOX] * 9), step=0.1).compiled, "9 bodies", "call the flow from Python"),
    (with_energy, "cannot be compiled", "use a method without +ep"),
    (
        lambda: polhode.integrate(System([BOX]), None, (0, 1), method="taylor", rtol=1e-9),
        "for a system", "use DOP853 or DP5 with rtol",
    ),
]  # fmt: skip
