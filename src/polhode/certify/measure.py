"""One function per declared fact.  They return numbers; what counts as a pass is for the caller to say.

Typical sizes, for the default arguments: a fact that holds leaves a defect of 1e-12 or less, one that does not leaves 1e-9 or
more.  See `polhode.certify` for the trial problem.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from polhode import problems, torques
from polhode.body import RigidBody
from polhode.core import loops
from polhode.core import newton as newton_module
from polhode.core.jit import Rebinder
from polhode.core.vec import add, apply, cross, dot, matrix, qconj, qexp, qlog, qmul, qrotate, scale, sincos, times
from polhode.errors import unknown
from polhode.methods import get
from polhode.program import build

BODY = RigidBody((2.0, 3.0, 4.5))
ATTITUDE = qexp((0.4, -0.9, 0.7))
VELOCITY = (0.8, -0.6, 0.5)


# --- the trial torque ---------------------------------------------------------------------------------------------------

def _trial(t, R, p):
    s, _ = sincos(p.rate * t)
    arm, axis = apply(R, p.arm), apply(R, p.axis)
    weight = scale(-(1.0 + p.swing * s), cross(arm, p.up))
    return add(weight, scale(-p.stiffness * dot(p.field, axis), cross(axis, p.field)))


def _trial_potential(t, R, p):
    s, _ = sincos(p.rate * t)
    pull = dot(p.field, apply(R, p.axis))
    return (1.0 + p.swing * s) * dot(p.up, apply(R, p.arm)) + 0.5 * p.stiffness * pull * pull


def trial(swing=0.5):
    """A weight that swells and shrinks with time, and a director field: V = (1 + swing sin(rate t)) up.R arm + k/2 (field.R axis)^2.

    Without symmetry, and an entire function of attitude, velocity and time; `swing=0` makes it conservative.
    """
    params = {"swing": swing, "rate": 1.7, "arm": (0.5, -0.3, 0.9), "up": (0.2, -0.4, 0.8), "stiffness": 1.3,
              "axis": (0.7, 0.6, -0.2), "field": (-0.5, 0.6, 0.7)}
    return torques.Torque(_trial, form="tuple", params=params, potential=_trial_potential, name="trial")


_TORQUES = {"torque": trial, "free": torques.free, "damped": lambda: trial() + torques.damping((0.3, 0.2, 0.4))}


def _torque(kind):
    if kind not in _TORQUES:
        raise unknown("kind of problem", kind, list(_TORQUES))
    return _TORQUES[kind]()


# --- a method as a map --------------------------------------------------------------------------------------------------

class _Map:
    """A method with a torque and the trial body, as plain Python functions of its own state."""

    def __init__(self, method, torque, wrap=lambda frames: frames, rebind=lambda function: function):
        self.method = get(method)
        program = build(self.method, torque, BODY, compiled=False)
        self.body = loops.load_body(program.moments, 0)
        self.torque = wrap(program.names["torque"])
        self.parameters = program.names["load_parameters"](program.parameters, 0)
        self.velocity = program.names["velocity"]
        self._start, self._step = rebind(self.method.start), rebind(self.method.step)

    def start(self, h, t=0.0, q=ATTITUDE, Om=VELOCITY):
        return self._start(h, t, q, Om, self.body, self.torque, self.parameters)

    def step(self, h, t, s):
        return self._step(h, t, s, self.body, self.torque, self.parameters)

    def momentum(self, s):
        """Body momentum."""
        return times(self.body.I, self.velocity(s, self.body))

    def run(self, h, count, t=0.0, q=ATTITUDE, Om=VELOCITY):
        """The states after 0, 1, ..., count steps."""
        s = self.start(h, t, q, Om)
        yield s
        for k in range(count):
            s = self.step(h, t + k * h, s)
            yield s


def _apart(q0, q1):
    """The rotation vector from one attitude to another, in body axes."""
    return qlog(qmul(qconj(q0), q1))


def _norm(v):
    return math.sqrt(dot(v, v))


def _difference(a, b):
    return _norm((a[0] - b[0], a[1] - b[1], a[2] - b[2]))


# --- order --------------------------------------------------------------------------------------------------------------

SPAN = 3.0
LADDER = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)   # numbers of steps
FLOOR, CEILING = 2e-11, 0.3   # below it the round-off of run and reference shows, above it nothing is asymptotic
POINTS = 5                    # the slope is fitted through so many points: a factor of four in the step


class Orders(NamedTuple):
    """Measured orders (inf: exact to round-off, nan: no two points in range), and the errors they are read from."""

    attitude: float
    momentum: float
    steps: np.ndarray
    attitude_errors: np.ndarray
    momentum_errors: np.ndarray


@lru_cache(maxsize=None)
def reference(kind):
    """Quaternion and body momentum at the end of the trial run, by an explicit Runge-Kutta method of order 8, to about 1e-13."""
    from scipy.integrate import solve_ivp

    force = _torque(kind)
    frame = force.frame

    def rate(t, y):
        q, Om = tuple(y[:4].tolist()), y[4:]
        R = np.array(matrix(q))
        T = force(t, R, Om) if frame == "body" else R.T @ force(t, R, Om)
        spin = 0.5 * np.array(qmul(q, (*Om.tolist(), 0.0)))
        return np.concatenate([spin, (T - np.cross(Om, BODY.moments * Om)) / BODY.moments])

    end = solve_ivp(rate, (0.0, SPAN), [*ATTITUDE, *VELOCITY], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return tuple(end[:4] / np.linalg.norm(end[:4])), tuple(BODY.moments * end[4:])


def errors(method, count, kind="torque"):
    """Attitude error (angle) and body momentum error (relative) after `count` equal steps of the trial run."""
    path = _Map(method, _torque(kind))
    q, Pi = reference(kind)
    *_, s = path.run(SPAN / count, count)
    return _norm(_apart(q, s.q)), _difference(path.momentum(s), Pi) / _norm(Pi)


def order(method, kind="torque"):
    """Measured orders of attitude and body momentum: slopes of the global errors at the smallest steps clear of round-off.

    Parameters
    ----------
    method : str or Method
    kind : {"torque", "free", "damped"}
        The trial torque, none, or the trial torque with damping, which looks at the angular velocity.

    Examples
    --------
    >>> round(order("VLV").attitude, 1)
    2.0
    """
    found = []
    for count in LADDER:
        found.append(errors(method, count, kind))
        if max(found[-1]) < FLOOR:
            break
    steps = SPAN / np.array(LADDER[:len(found)])
    attitude, momentum = np.array(found).T
    return Orders(_slope(steps, attitude), _slope(steps, momentum), steps, attitude, momentum)


def _slope(steps, errors):
    """The slope of log error over log step through the finest points in range."""
    if np.all(errors < FLOOR):
        return math.inf
    good = (errors > FLOOR) & (errors < CEILING)
    if np.count_nonzero(good) < 2:
        return math.nan
    return float(np.polyfit(np.log(steps[good][-POINTS:]), np.log(errors[good][-POINTS:]), 1)[0])


# --- symmetry -----------------------------------------------------------------------------------------------------------

def symmetry_defect(method, step=0.25):
    """Distance, in attitude and relative momentum, between the beginning and what a step and a step back return to.

    The step back starts from the whole state, memory included.  A multistep method may have to turn its memory round first
    (a leapfrog's half-step values belong to the other side of the point): it counts as symmetric when it comes back with the
    memory as it is, as it was one step before, or as it will be one step later.
    """
    path = _Map(method, trial())
    states = list(path.run(step, 4))
    here, goal = states[2], states[1]
    turned = [here]
    if path.method.multistep:
        motion = {name: getattr(here, name) for name in ("q", "Om", "om", "Pi", "pi") if name in here._fields}
        turned += [other._replace(**motion) for other in (states[1], states[3])]
    return min(_miss(path, path.step(-step, 2 * step, s), goal) for s in turned)


def _miss(path, s, goal):
    Pi = path.momentum(goal)
    return max(_norm(_apart(goal.q, s.q)), _difference(path.momentum(s), Pi) / _norm(Pi))


# --- symplecticity ------------------------------------------------------------------------------------------------------

# Derivative by central differences of order 8: with this spacing truncation and round-off are both near 1e-13.
SPACING = 0.01
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def _jacobian(function, n):
    """The derivative of a vector function of n numbers at zero."""
    columns = []
    for i in range(n):
        column = 0.0
        for k, weight in STENCIL:
            x = np.zeros(n)
            x[i] = k * SPACING
            column = column + weight / SPACING * (np.array(function(x)) - np.array(function(-x)))
        columns.append(column)
    return np.array(columns).T


def _hat(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def canonical_form(Pi):
    """The symplectic form of T*SO(3) in body coordinates, at body momentum Pi.

    A tangent vector is (x, d): the attitude moves as R exp(e x), the momentum as Pi + e d.  With theta = Pi . x,
    -dtheta = x1.d2 - x2.d1 + Pi.(x1 x x2), since left-invariant fields have the bracket x1 x x2.
    """
    return np.block([[-_hat(Pi), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def symplecticity_defect(method, step=0.1):
    """Largest entry of J^T Om' J - Om for one step from a fresh start, with Om the `canonical_form` before and after.

    Steps under a conservative torque; of a multistep method it is the first step that is measured.
    """
    path = _Map(method, trial(swing=0.0))
    Pi0 = np.array(times(path.body.I, VELOCITY))

    def after(x, d):
        Om = times(path.body.Iinv, tuple((Pi0 + d).tolist()))
        q = qmul(ATTITUDE, qexp(tuple(x.tolist())))
        return path.step(step, 0.0, path.start(step, 0.0, q, Om))

    end = after(np.zeros(3), np.zeros(3))

    def moved(z):
        s = after(z[:3], z[3:])
        return (*_apart(end.q, s.q), *path.momentum(s))

    J = _jacobian(moved, 6)
    return float(np.max(np.abs(J.T @ canonical_form(path.momentum(end)) @ J - canonical_form(Pi0))))


def poisson_defect(method, step=0.1):
    """Largest entry of J Pi^ J^T - Pi'^ for one torque-free step of the body momentum from a fresh start.

    Zero when the step preserves the Lie-Poisson bracket of so(3)*, that is the area on every sphere |Pi| = const.  A step that
    is symplectic on T*SO(3) does; one that is not may still do.
    """
    path = _Map(method, torques.free())
    Pi0 = np.array(times(path.body.I, VELOCITY))

    def moved(d):
        Om = times(path.body.Iinv, tuple((Pi0 + d).tolist()))
        return path.momentum(path.step(step, 0.0, path.start(step, 0.0, ATTITUDE, Om)))

    J = _jacobian(moved, 3)
    return float(np.max(np.abs(J @ _hat(Pi0) @ J.T - _hat(moved(np.zeros(3))))))


# --- what the free body keeps -------------------------------------------------------------------------------------------

class FreeDrift(NamedTuple):
    """Largest relative change of spatial momentum and of energy over a torque-free run."""

    momentum: float
    energy: float


def free_drift(method, step=0.25, count=1000):
    """Largest relative change of spatial momentum and of energy over `count` torque-free steps."""
    path = _Map(method, torques.free())
    momenta, energies = [], []
    for s in path.run(step, count):
        Om, Pi = path.velocity(s, path.body), path.momentum(s)
        momenta.append(qrotate(s.q, Pi))
        energies.append(0.5 * dot(Om, Pi))
    momenta, energies = np.array(momenta), np.array(energies)
    return FreeDrift(float(np.max(np.linalg.norm(momenta - momenta[0], axis=1)) / np.linalg.norm(momenta[0])),
                     float(np.max(np.abs(energies / energies[0] - 1.0))))


# --- what a step costs --------------------------------------------------------------------------------------------------

class _Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


class TorqueCalls(NamedTuple):
    """Torque evaluations at the start and in each of a few steps, counted, and as the state itself counts them (or None)."""

    start: int
    steps: tuple
    reported: tuple | None


def torque_calls(method, step=0.1, count=8):
    """Torque evaluations at the start and in each of `count` steps under the trial torque."""
    path = _Map(method, trial(), wrap=lambda frames: type(frames)(*map(_Counted, frames)))
    totals, reported = [], []
    for s in path.run(step, count):
        totals.append(sum(part.calls for part in path.torque))
        reported.append(getattr(s, "calls", None))
    known = None if reported[-1] is None else tuple(map(int, reported[1:]))
    return TorqueCalls(totals[0], tuple(np.diff(totals).tolist()), known)


def newton_calls(method, step=0.1, count=8):
    """Nonlinear equations solved in each of `count` steps by the Newton methods of `polhode.core.newton`."""
    solvers = {function: _Counted(function) for name, function in vars(newton_module).items() if name.startswith("newton")}
    path = _Map(method, trial(), rebind=Rebinder(lambda copy: copy, solvers))
    totals = [sum(solver.calls for solver in solvers.values()) for _ in path.run(step, count)]
    return tuple(np.diff(totals).tolist())


# --- energy in the long run ---------------------------------------------------------------------------------------------

class EnergyDrift(NamedTuple):
    """Least-squares slope of the total energy over a run, the time the run reached, and how it ended."""

    slope: float
    t_end: float
    status: str


def drift_slope(method, step=0.25, t_end=None, problem="bou-rabee/stress"):
    """Slope of the energy in a long run, by default Bou-Rabee, Ortolan & Saccon's stress test to T = 15000.

    After a blow-up (`status`) the slope, that of what came before, means nothing.
    """
    chosen = problems.get(problem)
    span = chosen.t_span if t_end is None else (chosen.t_span[0], t_end)
    run = chosen.integrate(method, step=step, t_span=span)
    t = run.t - run.t.mean()
    return EnergyDrift(float(t @ run.total_energy / (t @ t)), float(run.t[-1]), run.status)
