"""Motions for a lesson, with a sentence that says what to observe.

The top of three lessons has A = 1 and C = 1/2 kg m² and a weight of M = 1 N m.  Upright, it is stable
("sleeps") while C Ω₃ > 2 √(A M), so for Ω₃ above 4 rad/s.
"""

import math
from typing import NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.bodies.rotor import Rotor
from polhode.loads import torques
from polhode.problems import Problem
from polhode.rotations import exp

BOX = RigidBody.box(0.20, 0.13, 0.03)
TOP = RigidBody([1.0, 1.0, 0.5])
WEIGHT = 1.0


class Lesson(NamedTuple):
    """A problem; whether the page begins with Poinsot's picture of it; and the velocity at the start of
    a body that is thrown, and falls under its weight."""

    problem: Problem
    poinsot: bool = False
    thrown: tuple[float, float, float] | None = None


def _free(name, title, sentence, body, omega0, span, **lesson):
    """A lesson with a body on which no torque acts."""
    problem = Problem(
        name, title, sentence, body, torques.free(), np.eye(3), np.array(omega0), (0.0, span), 0.02
    )
    return Lesson(problem, **lesson)


def _top(name, title, sentence, tilt, omega0, span):
    """A lesson with the top, its axis `tilt` radians away from the vertical."""
    turn, acting = exp(np.array([tilt, 0.0, 0.0])), torques.heavy_top(WEIGHT)
    return Lesson(
        Problem(name, title, sentence, TOP, acting, turn, np.array(omega0), (0.0, span), 0.01)
    )


def _regular(tilt, spin):
    """Angular velocity of regular precession: the slow root of A cos(tilt) r² - C spin r + M = 0
    is its rate."""
    A, _, C = TOP.moments
    a, b = A * math.cos(tilt), C * spin
    rate = 2.0 * WEIGHT / (b + math.sqrt(b * b - 4.0 * a * WEIGHT))
    return 0.0, rate * math.sin(tilt), spin


LESSONS = {
    lesson.problem.name: lesson
    for lesson in (
        _free(
            "tumbling-box",
            "Dzhanibekov: a box turns over",
            "Rotation about the intermediate axis is unstable. Let the box spin about the first or the "
            "third axis instead, and it stops tumbling",
            BOX,
            (0.02, 6.0, 0.0),
            12.0,
        ),
        _free(
            "poinsot",
            "Poinsot: a rolling ellipsoid",
            "The inertia ellipsoid rolls on a fixed plane without slipping. The point of contact "
            "draws the polhode on the ellipsoid and the herpolhode on the plane",
            BOX,
            (1.0, 1.0, 4.0),
            12.0,
            poinsot=True,
        ),
        _free(
            "wheel",
            "A wheel steadies a box",
            "The box spins about its intermediate axis, and a motor holds a wheel on that axis at constant "
            "speed. Below 200 rad/s the spin is unstable, and with a slow wheel the box turns over",
            BOX.with_rotors([Rotor((0, 1, 0), 4e-5, speed=300.0)]),
            (0.02, 6.0, 0.0),
            12.0,
        ),
        _free(
            "explorer",
            "Explorer 1: a flat spin",
            "A wheel in a viscous bearing turns motion into heat, and the momentum stays as it is. So the "
            "body ends in the rotation of least energy, end over end, as the first American satellite did",
            RigidBody.box(0.12, 0.10, 0.30).with_rotors(
                [Rotor((1, 0, 0), 2e-3, speed=0.0, damping=0.01)]
            ),
            (0.1, 0.0, 6.0),
            40.0,
        ),
        _free(
            "throw",
            "A thrown box",
            "The centre of mass flies along a parabola, and the box turns over as if it did not fly. Press F to "
            "see the whole path",
            BOX,
            (0.02, 12.0, 0.0),
            1.2,
            thrown=(1.0, 0.0, 6.0),
        ),
        _top(
            "sleeping-top",
            "A sleeping top",
            "A fast top stands upright, a slow one cannot. Lower Ω₃ below 4 rad/s, and it falls; or add "
            "damping: it slows down, begins to wobble and falls",
            math.radians(1.0),
            (0.0, 0.0, 6.0),
            40.0,
        ),
        _top(
            "precession",
            "Regular precession",
            "With exactly the right initial velocity the axis moves around the vertical at constant tilt. "
            "Change any number slightly, and it nods",
            math.radians(40.0),
            _regular(math.radians(40.0), 10.0),
            40.0,
        ),
        _top(
            "nutation",
            "Nutation",
            "The axis is released at rest: it falls, is deflected sideways and rises again, with a cusp "
            "at the top of each arc. Give Ω₂ a value to turn the cusps into loops or waves",
            math.radians(40.0),
            (0.0, 0.0, 10.0),
            20.0,
        ),
    )
}
