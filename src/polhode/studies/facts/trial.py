"""The trial problem of all measurements, and a method as a plain map on its own state.

Nothing in it is symmetric: three different moments of inertia, a generic attitude and velocity, and
a torque that depends on attitude nonlinearly and on time.  A method that asks for the torque at the
wrong time or place has nowhere to hide.
"""

from functools import cache
from typing import Any

import numpy as np

from polhode.bodies._body import RigidBody
from polhode.core.loops import fixed as loops
from polhode.core.scalars import sincos
from polhode.core.vec import (
    add,
    apply,
    cross,
    dot,
    matrix,
    norm,
    qconj,
    qexp,
    qlog,
    qmul,
    scale,
    sub,
    times,
)
from polhode.engine.diagnosis import convergence_error
from polhode.engine.program import build
from polhode.errors import ConvergenceError, InputError, brief, choice, floats, number, whole
from polhode.loads import torques
from polhode.methods import get
from polhode.results.motion import parts
from polhode.studies.facts.digits import mapped

BODY = RigidBody((2.0, 3.0, 4.5))
ATTITUDE = qexp((0.4, -0.9, 0.7))
VELOCITY = (0.8, -0.6, 0.5)
# five times as fast: defects show at smaller steps, also those of methods of high order
LIVELY = (4.0, -3.0, 2.5)
SPAN = 3.0
# steps and velocities that may be asked for, and how many steps
SHORTEST, LONGEST, MOST = 1e-6, 100.0, 1_000_000
TROUBLE = (ArithmeticError, ValueError, ConvergenceError)  # of a step too large for a method


# --- the trial torque -----------------------------------------------------------------------------


def _trial(t, R, p):
    s, _ = sincos(p.rate * t)
    arm, axis = apply(R, p.arm), apply(R, p.axis)
    weight = scale(-(1.0 + p.swing * s), cross(arm, p.up))
    return add(weight, scale(-p.stiffness * dot(p.field, axis), cross(axis, p.field)))


def _trial_potential(t, R, p):
    s, _ = sincos(p.rate * t)
    pull = dot(p.field, apply(R, p.axis))
    return (1.0 + p.swing * s) * dot(p.up, apply(R, p.arm)) + 0.5 * p.stiffness * pull * pull


def trial_torque(swing: float = 0.5) -> torques.Torque:
    """A weight that swells and shrinks with time, and a field along which an axis turns.

    V = (1 + swing sin(rate t)) up.R arm + k/2 (field.R axis)^2: without symmetry, an entire function of attitude and time, and
    conservative with `swing=0`.
    """
    params = {
        "swing": swing,
        "rate": 1.7,
        "arm": (0.5, -0.3, 0.9),
        "up": (0.2, -0.4, 0.8),
        "stiffness": 1.3,
        "axis": (0.7, 0.6, -0.2),
        "field": (-0.5, 0.6, 0.7),
    }
    return torques.Torque(
        _trial, form="tuple", params=params, potential=_trial_potential, name="trial"
    )


_TORQUES = {
    "torque": trial_torque,
    "free": torques.free,
    "damped": lambda: trial_torque() + torques.damping((0.3, 0.2, 0.4)),
}


def torque_of(kind: str) -> torques.Torque:
    """The torque of a kind of trial run: "torque", "free" or "damped"."""
    choice("kind of problem", kind, _TORQUES)
    return _TORQUES[kind]()


# --- checks of arguments --------------------------------------------------------------------------


def step_size(step: float) -> float:
    """A step of the trial run, checked."""
    h = number("step", step)
    if not SHORTEST <= abs(h) <= LONGEST:
        raise InputError(
            f"step must be between {SHORTEST:g} and {LONGEST:g} in size, within which the trial body turns by "
            f"something that can be measured, got {h!r}; use 0.5"
        )
    return h


def spin(velocity: Any) -> tuple[float, ...]:
    """An angular velocity of the trial body, checked."""
    given = floats("velocity", velocity)
    if given.shape != (3,) or not 0.0 < np.abs(given).max() <= LONGEST:
        raise InputError(
            f"velocity must be three numbers, not all zero and at most {LONGEST:g} in size, got {given.tolist()}; "
            f"use {VELOCITY}"
        )
    return tuple(given.tolist())


def run_length(count: int, what: str = "count") -> int:
    """How many steps, or runs, to measure, checked."""
    count = whole(what, count, 1, "use 100")
    if count > MOST:
        raise InputError(
            f"{what} must be at most {MOST}, which take a minute as plain Python, got {brief(count)}; use 100"
        )
    return count


# --- a method as a map ----------------------------------------------------------------------------


class Map:
    """A method with a torque and a body, as plain Python functions of its own state."""

    def __init__(
        self,
        method,
        torque,
        body=BODY,
        wrap=lambda frames: frames,
        rebind=lambda function: function,
    ):
        program = build(get(method), torque, body, compiled=False)
        self.method = program.method  # as it is best run with this torque
        # Python's floats: NumPy's are slower, and warn where these go on with inf and nan
        self.body = mapped(float, loops.load_body(program.moments, 0))
        self.torque = wrap(program.names["torque"])
        self.parameters = mapped(float, program.names["load_parameters"](program.parameters, 0))
        self.velocity, self._residual = program.names["velocity"], program.names["residual"]
        self._start, self._step = rebind(self.method.start), rebind(self.method.step)

    def start(self, h, t=0.0, q=ATTITUDE, Om=VELOCITY):
        return self._start(h, t, q, Om, self.body, self.torque, self.parameters)

    def step(self, h, t, s):
        new = self._step(h, t, s, self.body, self.torque, self.parameters)
        residual = self._residual(new)
        if not residual <= loops.ROUND_OFF:
            where = f"of {h:g} of the trial problem"
            raise convergence_error(self.method, where, residual, "use a smaller step")
        return new

    def momentum(self, s):
        """Body momentum."""
        return times(self.body.I, self.velocity(s, self.body))

    def errors(self, s, q, Pi):
        """How far a state is from an attitude (angle) and a body momentum (relative)."""
        return norm(apart(q, s.q)), norm(sub(self.momentum(s), Pi)) / norm(Pi)

    def run(self, h, count, t=0.0, q=ATTITUDE, Om=VELOCITY):
        """The states after 0, 1, ..., count steps."""
        s = self.start(h, t, q, Om)
        yield s
        for k in range(count):
            s = self.step(h, t + k * h, s)
            yield s


def apart(q0: Any, q1: Any) -> Any:
    """The rotation vector from one attitude to another, in body axes."""
    return qlog(qmul(qconj(q0), q1))


@cache
def reference(kind):
    """Quaternion and body momentum at the end of the trial run, by Runge-Kutta of order 8, to
    3e-14."""
    from scipy.integrate import solve_ivp

    force = torque_of(kind)

    def rate(t, y):
        q, Om = parts(y)
        q = tuple(q.tolist())
        R = np.array(matrix(q))
        T = force(t, R, Om) if force.frame == "body" else R.T @ force(t, R, Om)
        spin = 0.5 * np.array(qmul(q, (*Om.tolist(), 0.0)))
        return np.concatenate([spin, (T - np.cross(Om, BODY.moments * Om)) / BODY.moments])

    end = solve_ivp(
        rate, (0.0, SPAN), [*ATTITUDE, *VELOCITY], method="DOP853", rtol=2.5e-14, atol=1e-16
    ).y[:, -1]
    q, Om = parts(end)
    return tuple(q / np.linalg.norm(q)), tuple(BODY.moments * Om)
