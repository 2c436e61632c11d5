"""Bodies that come too close for the series of their gravity, or for the step, are told; others are not."""

import warnings

import numpy as np
import polhode
import pytest
from polhode import RigidBody, System, interactions
from polhode.bodies.extent import radius

BOXES = [RigidBody.box(1, 0.3, 0.2, mass=m) for m in (1, 2, 1)]
LONG = [RigidBody.box(1, 2, 3)] * 2
NAMELESS = [RigidBody([1.0, 1.0, 1.0]), RigidBody([1.0, 1.0, 0.1], mass=2.0)]
APART = [[-2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]


def run(system, position0, compiled=False, t1=1.0, step=0.5, **options):
    return polhode.integrate(
        system, t_span=(0, t1), step=step, position0=position0, compiled=compiled, **options
    )


def pair_at(r, bodies, **options):
    system = System(bodies, interactions.gravity(bodies, G=1e-9, **options))
    return run(system, [[0, 0, 0], [r, 0, 0]])


@pytest.mark.parametrize(
    ("body", "reach"),
    [
        (RigidBody.box(2, 3, 6), 3.5),
        (RigidBody.ellipsoid(1, 2, 3), 3.0),
        (RigidBody.sphere(2), 2.0),
        (RigidBody.cylinder(3, 8), 5.0),
        (
            RigidBody.point_masses([1, 1, 1, 1], [[3, 4, 0], [-3, -4, 0], [0, 0, 1], [0, 0, -1]]),
            5.0,
        ),
        (RigidBody([1, 2, 2.5]), None),
    ],
    ids=str,
)
def test_the_radius_of_a_body(body, reach):
    assert radius(body) == (None if reach is None else pytest.approx(reach))


@pytest.mark.parametrize(("bodies", "r"), [(LONG, 0.1), (LONG, 3.7), (NAMELESS[1:] * 2, 0.8)])
def test_bodies_that_begin_inside_each_other_are_told(bodies, r):
    with pytest.warns(RuntimeWarning, match=rf"bodies 0 and 1 are {r:g} from each other at t = 0,"):
        result = pair_at(r, bodies)
    assert "beyond which the series of 'gravity' converges" in result.message


@pytest.mark.parametrize(
    ("bodies", "r", "degree"),
    [(LONG, 3.8, 2), (LONG, 0.1, 0), (NAMELESS[:1] * 2, 0.1, 2), (NAMELESS, 0.7, 2)],
)
def test_others_are_not(bodies, r, degree):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = pair_at(r, bodies, degree=degree)
    assert result.message == "the run reached its end"


def test_a_meeting_on_the_way_is_told_after_the_run():
    system = System(BOXES, interactions.gravity(BOXES, G=1e-9, degree=2))
    start = {"velocity0": [[0, 0, 0], [0, 0, 0], [-0.8, 0, 0]], "t1": 2.0}
    for every in (1, "end"):
        with pytest.warns(
            RuntimeWarning, match=r"bodies 1 and 2 are 0\.4 from each other at t = 2"
        ):
            result = run(system, APART, every=every, **start)
        assert result.status == "finished"


@polhode.pair(potential=lambda r, Ri, Rj: -1.0 / np.sqrt(r @ r))
def attraction(r, Ri, Rj):
    return r / np.sqrt(r @ r) ** 3, np.zeros(3), np.zeros(3)


def fall(step, acting=attraction, **options):
    """Two bodies that fall to each other, and miss each other by little."""
    system = System([RigidBody([1.0, 1.0, 1.0])] * 2, acting)
    start = {"velocity0": [[0, 0.02, 0], [0, -0.02, 0]], "t1": 2.0}
    return run(system, [[-0.5, 0, 0], [0.5, 0, 0]], step=step, **start, **options)


def test_a_jump_of_the_energy_is_told():
    for every in (1, "end"):
        with pytest.warns(RuntimeWarning, match="the energy, which should be constant, changed by"):
            result = fall(0.01, every=every)
        assert "the step does not resolve the motion there" in result.message


def test_an_energy_that_stays_or_is_not_known_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fall(None, rtol=1e-9)
        fall(0.01, acting=polhode.Pair(attraction.function))
        oscillator = polhode.interactions.springs([(0, 1)], 1.0, 0.0)
        fall(0.2, acting=oscillator)
