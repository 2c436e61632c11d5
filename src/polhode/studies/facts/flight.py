"""The facts of a method for a body in flight: order, symmetry, and symplecticity on T*SE(3).

The trial load couples translation and rotation, without symmetry, and depends on time:

    V = (1 + swing sin(rate t)) k/2 |x + R arm - anchor|^2 + c/4 |x|^4 + d (x . R axis)
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from polhode.core.loops import fixed as loops
from polhode.core.scalars import sincos
from polhode.core.vec import add, apply, axpy, cross, dot, norm, qexp, qmul, scale, sub, times
from polhode.engine.diagnosis import convergence_error
from polhode.engine.flight import check_flight
from polhode.engine.program import build
from polhode.loads._torque import Torque
from polhode.loads.force import Force
from polhode.loads.load import Load
from polhode.bodies._body import RigidBody
from polhode.methods import Method, get
from polhode.studies.facts.digits import mapped
from polhode.studies.facts.structure import Defect, canonical_form, defect_of, jacobian
from polhode.studies.facts.trial import ATTITUDE, SPAN, VELOCITY, apart, step_size

BODY = RigidBody((2.0, 3.0, 4.5), mass=1.7)
POSITION, SPEED = (0.6, -0.4, 0.5), (-0.3, 0.7, 0.4)
FLOOR = 2e-13  # of errors: ten times what round-off leaves
COUNTS = (12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)  # steps of a run for the order
# attitude, angular velocity, position and velocity of these runs: there are three, because the
# error of one may happen to pass through zero
STARTS = (
    (ATTITUDE, (1.6, -1.2, 1.0), (1.2, -0.8, 1.0), (-0.6, 1.4, 0.8)),
    (qexp((-0.7, 0.3, 1.1)), (-0.9, 1.5, 1.1), (-0.5, 1.3, -0.9), (1.2, 0.3, -1.0)),
    (qexp((1.2, 0.8, -0.4)), (1.1, 0.9, -1.7), (0.9, 0.7, 1.1), (0.4, -1.3, 0.9)),
)


# --- the trial load -------------------------------------------------------------------------------


def _pull(t, x, R, p):
    """The arm in space, the force of the spring at its end, and the axis in space."""
    s, _ = sincos(p.rate * t)
    arm = apply(R, p.arm)
    return (
        arm,
        scale(-p.stiffness * (1.0 + p.swing * s), sub(add(x, arm), p.anchor)),
        apply(R, p.axis),
    )


def _force(t, x, v, R, p):
    _, pull, axis = _pull(t, x, R, p)
    return axpy(-p.quartic * dot(x, x), x, axpy(-p.field, axis, pull))


def _torque(t, R, x, v, p):
    arm, pull, axis = _pull(t, x, R, p)
    return add(cross(arm, pull), scale(-p.field, cross(axis, x)))


def trial_load(swing: float = 0.5) -> Load:
    """The load of the trial run; conservative with `swing=0`."""
    given: dict[str, Any] = {
        "form": "tuple",
        "name": "trial",
        "params": {
            "swing": swing,
            "rate": 2.3,
            "stiffness": 9.0,
            "arm": (0.5, -0.3, 0.9),
            "anchor": (0.2, -0.4, 0.8),
            "axis": (0.7, 0.6, -0.2),
            "quartic": 2.0,
            "field": 4.0,
        },
    }
    return Load(Torque(_torque, uses_position=True, **given), Force(_force, **given))


# --- a method as a map ----------------------------------------------------------------------------


class FlightMap:
    """A method with the trial load, as plain Python functions of its own state in flight."""

    def __init__(self, method: Method | str, swing: float = 0.5) -> None:
        load, entry = trial_load(swing), get(method)
        check_flight(entry, load.torque)
        program = build(entry, load.torque, BODY, compiled=False, force=load.force)
        self.method, names = program.method, program.names
        self.body = mapped(float, loops.load_body(program.moments, 0))
        self.given = (
            self.body,
            names["torque"],
            mapped(float, names["load_parameters"](program.parameters, 0)),
        )
        self._start, self._step = names["start"], names["step"]
        self._velocity, self._residual = names["velocity"], names["residual"]

    def start(self, h, q=ATTITUDE, Om=VELOCITY, x=POSITION, v=SPEED, t=0.0):
        return self._start(h, t, q, Om, x, v, *self.given)

    def step(self, h, t, s):
        new = self._step(h, t, s, *self.given)
        residual = self._residual(new)
        if not residual <= loops.ROUND_OFF:
            where = f"of {h:g} of the trial flight"
            raise convergence_error(self.method, where, residual, "use a smaller step")
        return new

    def momentum(self, s):
        """Body momentum."""
        return times(self.body.I, self._velocity(s, self.body))

    def errors(self, s, q, Pi, x, v):
        """How far a state is from an attitude (angle), a body momentum (relative), a position and a
        velocity."""
        return (
            norm(apart(q, s.q)),
            norm(sub(self.momentum(s), Pi)) / norm(Pi),
            norm(sub(s.x, x)),
            norm(sub(s.v, v)),
        )


def _end(path, start, count):
    """The state at the end of a trial flight, by so many steps."""
    h = SPAN / count
    s = path.start(h, *start)
    for k in range(count):
        s = path.step(h, k * h, s)
    return s


@cache
def _reference(start):
    """Attitude, body momentum, position and velocity at the end, by DOP853 in steps whose error is
    round-off."""
    path = FlightMap("DOP853")
    s = _end(path, start, 1024)
    return s.q, path.momentum(s), s.x, s.v


# --- the facts ------------------------------------------------------------------------------------


class FlightOrders(NamedTuple):
    """Measured orders in flight: the median of the last three slopes above round-off."""

    attitude: float
    momentum: float
    position: float
    velocity: float


def flight_order(method: Method | str) -> FlightOrders:
    """Measured orders of attitude, body momentum, position and velocity of a body in flight.

    Examples
    --------
    >>> [round(p, 1) for p in flight_order("EXACT-RKN4")]
    [4.0, 4.0, 4.0, 4.0]
    """
    path = FlightMap(method)

    errors = []
    for count in COUNTS:
        found = [path.errors(_end(path, one, count), *_reference(one)) for one in STARTS]
        errors.append(np.sqrt(np.mean(np.square(found), axis=0)))
        if errors[-1].min() < FLOOR:
            break
    if len(errors) < 3:  # of an order so high that nothing is above round-off
        return FlightOrders(*[np.nan] * 4)
    *kept, _ = np.log(errors)
    slopes = np.diff(kept, axis=0) / -np.diff(np.log(COUNTS[: len(kept)]))[:, None]
    return FlightOrders(*np.median(slopes[-3:], axis=0).tolist())


def flight_symmetry_defect(method: Method | str, step: float = 0.3) -> float:
    """How far a step and a step back of a body in flight miss the beginning.

    Examples
    --------
    >>> flight_symmetry_defect("LP2") < 1e-13 < flight_symmetry_defect("DOP853")
    True
    """
    path, h = FlightMap(method), step_size(step)
    first = path.start(h)
    here = path.step(h, 0.0, first)
    back = path.step(-h, 2.0 * h, path.step(h, h, here))
    return max(path.errors(back, here.q, path.momentum(here), here.x, here.v))


def flight_symplecticity(method: Method | str, step: float = 0.3) -> Defect:
    """The defect J^T Om' J - Om of one step on T*SE(3), under a conservative load.

    Examples
    --------
    >>> flight_symplecticity("VLV").value < 1e-8 < flight_symplecticity("NMB").value
    True
    """
    path, h = FlightMap(method, swing=0.0), step_size(step)
    Pi0, p0 = np.array(times(path.body.I, VELOCITY)), BODY.mass * np.array(SPEED)

    def after(z):
        turn, Pi, x, p = z[:3], Pi0 + z[3:6], np.array(POSITION) + z[6:9], p0 + z[9:]
        q, Om = (
            qmul(ATTITUDE, qexp(tuple(turn.tolist()))),
            times(path.body.Iinv, tuple(Pi.tolist())),
        )
        return path.step(
            h, 0.0, path.start(h, q, Om, tuple(x.tolist()), tuple((p / BODY.mass).tolist()))
        )

    end = after(np.zeros(12))

    def moved(z):
        s = after(z)
        return (*apart(end.q, s.q), *path.momentum(s), *s.x, *scale(BODY.mass, s.v))

    def form(Pi):
        rotation, translation = canonical_form(Pi), canonical_form((0.0, 0.0, 0.0))
        return np.block([[rotation, np.zeros((6, 6))], [np.zeros((6, 6)), translation]])

    def missing(spacing):
        J = jacobian(moved, 12, spacing)
        return J.T @ form(path.momentum(end)) @ J - form(Pi0)

    return defect_of(missing)
