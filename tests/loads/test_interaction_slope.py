"""Potentials of interactions that do not belong to their forces are told."""

import warnings

import numpy as np
import polhode
import pytest
from polhode import RigidBody, System

BODIES = [RigidBody.box(1, 2, 3)] * 3
PLACES = [[-2.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 3.0, 0.2]]
STILL = np.zeros(3)


def square(r, Ri, Rj):
    return 0.5 * (r * r).sum()


def pull(r, Ri, Rj):
    return r, STILL, STILL


def inwards(t, x, R):
    return x.mean(axis=0) - x, np.zeros_like(x)


def run(acting, bodies=3):
    system = System((BODIES * 10)[:bodies], acting)
    places = PLACES if bodies == 3 else np.arange(3.0 * bodies).reshape(-1, 3)
    return polhode.integrate(system, t_span=(0, 0.1), step=0.1, position0=places, compiled=False)


def turning(r, Ri, Rj):
    return 0.5 * (r * r).sum() - (Ri[:, 2] * Rj[:, 2]).sum()


WRONG = {
    "forces of a pair": polhode.Pair(pull, potential=lambda *given: 15.4 * square(*given)),
    "torques of a pair": polhode.Pair(pull, potential=turning),
    "linked bodies": polhode.Pair(pull, links=[(0, 2)], potential=lambda *given: -square(*given)),
    "all bodies": polhode.interaction(potential=lambda t, x, R: (x * x).sum())(inwards),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_potential_of_other_forces_is_told_once(name):
    what = "torques" if "torques" in name else "forces"
    with pytest.warns(
        RuntimeWarning, match=f"the {what} of the interaction .* are not minus the slope"
    ):
        run(WRONG[name])
    run(WRONG[name])


def test_one_of_many_bodies_and_one_with_other_parameters_are_told():
    with pytest.warns(RuntimeWarning, match="not minus the slope"):
        run(polhode.Pair(pull, potential=lambda *given: -square(*given)), bodies=20)

    @polhode.interaction(
        params={"k": 1.0}, external=True, potential=lambda t, x, R, p: 0.5 * (x * x).sum()
    )
    def trap(t, x, R, p):
        return -p.k * x, np.zeros_like(x)

    run(trap)
    with pytest.warns(RuntimeWarning, match="not minus the slope"):
        run(trap.with_params(k=2.0))


RIGHT = {
    "a cut-off": polhode.Pair(pull, potential=square, cutoff=3.7),
    "a contact": polhode.Pair(
        lambda r, Ri, Rj: ((r if r @ r > 9.0 else 0.0 * r), STILL, STILL),
        potential=lambda r, Ri, Rj: 0.5 * (r @ r) if r @ r > 9.0 else 4.5,
    ),
    "a damper": polhode.Pair(
        lambda r, v, Ri, Rj, wi, wj: (r + v, STILL, STILL), potential=square, uses_velocity=True
    ),
    "a large constant": polhode.Pair(pull, potential=lambda *given: 1e6 + square(*given)),
    "the attitudes": polhode.Pair(
        lambda r, Ri, Rj: (
            r,
            np.cross(Ri[:, 2], Rj[:, 2]),
            np.cross(Rj[:, 2], Ri[:, 2]),
        ),
        potential=turning,
    ),
    "the time": polhode.interaction(
        external=True, potential=lambda t, x, R: 0.5 * t * (x * x).sum()
    )(lambda t, x, R: (-t * x, np.zeros_like(x))),
    "unknown places": polhode.interaction(
        external=True, potential=lambda t, x, R: {0.0: 0.0}[float(x[0, 0] + 2.0)]
    )(lambda t, x, R: (-x, np.zeros_like(x))),
    "no potential beside": polhode.Pair(pull, potential=lambda *given: 7.0 * square(*given))
    + polhode.Pair(pull),
}


@pytest.mark.parametrize("name", RIGHT)
def test_there_are_no_false_alarms(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(RIGHT[name])
