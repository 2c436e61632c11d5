"""What the page may change in a problem besides its body: the tilt at the start, the speed of a
wheel, the weight, and damping."""

import numpy as np

from polhode.bodies.rotor import Rotor
from polhode.loads import flight, torques
from polhode.loads.heavy_top_kernels import HeavyTop
from polhode.rotations import as_quaternion, exp, qmul, rotate

UP = np.array([0.0, 0.0, 1.0])


def tilt(problem):
    """The angle between the third body axis and the vertical at the start, in radians."""
    axis = rotate(as_quaternion(problem.rotation0), UP)
    return float(np.arctan2(np.hypot(axis[0], axis[1]), axis[2]))


def rotation0(problem, angle):
    """The attitude at the start with another tilt, about the same horizontal axis; about the first
    axis if the problem begins upright."""
    change, given = angle - tilt(problem), as_quaternion(problem.rotation0)
    if abs(change) < 1e-12:
        return given
    sideways = np.cross(UP, rotate(given, UP))
    length = np.linalg.norm(sideways)
    about = sideways / length if length > 1e-12 else np.array([1.0, 0.0, 0.0])
    return qmul(exp(change * about), given)


def wheel(problem):
    """The speed of the first rotor at the start, None where there is none."""
    return problem.body.rotors[0].speed if problem.body.rotors else None


def with_rotors(body, problem, speed):
    """A body with the rotors of the problem, the first at this speed."""
    if not problem.body.rotors:
        return body
    first, *others = problem.body.rotors
    return body.with_rotors([Rotor(**{**first.to_dict(), "speed": speed}), *others])


def launch(lesson, mass):
    """The arguments of `integrate` for a lesson with a body that is thrown."""
    if lesson is None or lesson.thrown is None:
        return {}
    return {"force": flight.weight(mass), "velocity0": lesson.thrown}


def weight(problem):
    """The weight times its arm, in N m."""
    return sum(term.params.moment for term in problem.torque().terms if isinstance(term, HeavyTop))


def other_terms(problem, step):
    """What acts besides the weight; None if nothing does."""
    return _sum(
        [
            term
            for term in problem.torque(step).terms
            if term.acts and not isinstance(term, HeavyTop)
        ]
    )


def torque(problem, step, weight, damping):
    """The problem's torque with another weight, and with damping; None if nothing acts."""
    return _sum(
        [
            other_terms(problem, step),
            torques.heavy_top(weight) if weight else None,
            torques.damping(damping) if damping else None,
        ]
    )


def _sum(parts):
    acting = [part for part in parts if part is not None]
    return sum(acting[1:], acting[0]) if acting else None
