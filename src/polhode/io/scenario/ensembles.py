"""A scenario as many: its [ensemble] section says how many bodies there are and how they differ.

    [ensemble]
    n = 100000
    seed = 1
    rotation = "random"              # spread evenly over all rotations; or "same", that of [initial]
    omega_spread = 0.1               # standard deviation about the omega of [initial], one number or three
    rotation_spread = 0.01           # of "same": standard deviation of a turn away from it, in radians
    position_spread = 0.1            # and velocity_spread: in flight, about those of [initial]
    inertia_spread = 0.05            # relative spread of the body's extent along each principal axis
    parameter_spread.moment = 0.5    # standard deviation of a parameter of the torque

All have defaults: a scenario without the section is one of 1000 bodies at random attitudes.
"""

import numpy as np

from polhode import rotations
from polhode.bodies._body import RigidBody
from polhode.engine.ensemble.inputs import draw_values, check_bodies_fit
from polhode.engine.ensemble.parameters import terms_of
from polhode.errors import InputError
from polhode.loads._system import System
from polhode.loads._torque import ZERO
from polhode.support.frames import rows_times
from polhode.io.scenario import schema


def arguments(scenario, n=None, first=0):
    """The arguments of `polhode.ensemble` for the bodies first, first + 1, ... of a scenario; n in
    place of the scenario's."""
    from scipy import stats

    if isinstance(scenario.body, System):
        raise InputError(
            f"the scenario is of one system of {len(scenario.body)} bodies, and its bodies are not an ensemble; use "
            "`polhode run`, or write one [body]"
        )
    if scenario.rtol is not None:
        raise InputError(
            f"ensembles take steps of a given size, and the scenario has run.rtol = {scenario.rtol:g}; give run.step in "
            "its place"
        )
    spread = scenario.ensemble or schema.Ensemble()
    n = spread.n if n is None else n
    check_bodies_fit(n)
    loads = terms_of(scenario.torque) + (() if scenario.force is None else scenario.force.terms)
    parameters = {
        name: stats.norm(_value(loads, name), np.asarray(sigma))
        for name, sigma in spread.parameter_spread.items()
        if np.any(sigma)
    }
    made = bodies(scenario.body, spread, n, first)
    return {
        "bodies": made,
        "torque": scenario.torque,
        "t_span": scenario.t_span,
        "step": scenario.step,
        "method": scenario.method,
        "breaks": scenario.breaks,
        "rotation0": attitudes(scenario.rotation0, spread, n, first),
        "scalar_first": False,
        "omega0": _about(scenario.omega0, spread.omega_spread),
        **(_flight(scenario, spread) if scenario.in_flight else {}),
        "parameters": parameters or None,
        "n": n,
        "rng": spread.seed,
        "first": first,
        "units": scenario.body.units,
    }


def attitudes(rotation0, spread, n, first):
    """The attitude, attitudes turned away from it at random, or "random" for any."""
    if spread.rotation == "random":
        return "random"
    if not spread.rotation_spread:
        return rotation0
    from scipy import stats

    law = stats.norm(0.0, spread.rotation_spread)
    return rotations.qmul(
        rotation0, rotations.exp(draw_values("rotation", law, (3,), spread.seed, first, n))
    )


def _about(value, sigma):
    """The value, or a normal law about it."""
    from scipy import stats

    return stats.norm(value, np.asarray(sigma)) if np.any(sigma) else value


def _flight(scenario, spread):
    """The arguments for bodies in flight."""
    position0, velocity0 = (given or ZERO for given in (scenario.position0, scenario.velocity0))
    return {
        "force": scenario.force,
        "position0": _about(position0, spread.position_spread),
        "velocity0": _about(velocity0, spread.velocity_spread),
        "mass": scenario.body.mass,
    }


def _value(loads, name):
    term, _, field = name.rpartition(".")
    return np.asarray(
        next(
            getattr(one.params, field)
            for one in loads
            if term in ("", one.name) and one.params is not None and field in one.params._fields
        )
    )


def bodies(body, spread, n, first=0):
    """The body, or bodies that differ from it: the second moments of mass along its principal axes
    are stretched at random.

    Moments of inertia are sums of two second moments, which are positive: every body drawn is one
    that exists.
    """
    if not spread.inertia_spread:
        return body
    if body.rotors:
        tensors = bodies(RigidBody(body.inertia, check_triangle=False), spread, n, first)
        return [
            RigidBody(one, body.mass, check_triangle=False, rotors=body.rotors)
            for one in np.asarray(tensors)
        ]
    from scipy import stats

    second = 0.5 * body.moments.sum() - body.moments
    stretch = np.exp(
        draw_values("inertia", stats.norm(0.0, spread.inertia_spread), (3,), spread.seed, first, n)
    )
    stretched = np.maximum(second, 0.0) * stretch
    moments = stretched.sum(axis=1, keepdims=True) - stretched
    if not body.is_principal:
        return rows_times(body.axes * moments[:, None, :], body.axes.T)
    return moments if n != 3 else moments.tolist()  # an array (3, 3) would be one tensor
