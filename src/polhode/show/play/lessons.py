"""Motions for a lesson, with a sentence that says what to observe.

The top of three lessons has A = 1 and C = 1/2 kg m² and a weight of M = 1 N m.  Upright, it is stable
("sleeps") while C Ω₃ > 2 √(A M), so for Ω₃ above 4 rad/s.
"""

import math
from typing import NamedTuple

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.loads import torques
from polhode.problems import Problem
from polhode.rotations import exp

TOP = RigidBody([1.0, 1.0, 0.5])
WEIGHT = 1.0


class Lesson(NamedTuple):
    """A problem, and whether the page begins with Poinsot's picture of it."""

    problem: Problem
    poinsot: bool = False


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
        Lesson(
            Problem(
                "tumbling-box",
                "Dzhanibekov: a box turns over",
                "Rotation about the intermediate axis is unstable. Let the box spin about the first or the "
                "third axis instead, and it stops tumbling",
                RigidBody.box(0.20, 0.13, 0.03),
                torques.free(),
                np.eye(3),
                np.array([0.02, 6.0, 0.0]),
                (0.0, 12.0),
                0.02,
            )
        ),
        Lesson(
            Problem(
                "poinsot",
                "Poinsot: a rolling ellipsoid",
                "The inertia ellipsoid rolls on a fixed plane without slipping. The point of contact "
                "draws the polhode on the ellipsoid and the herpolhode on the plane",
                RigidBody.box(0.20, 0.13, 0.03),
                torques.free(),
                np.eye(3),
                np.array([1.0, 1.0, 4.0]),
                (0.0, 12.0),
                0.02,
            ),
            poinsot=True,
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
