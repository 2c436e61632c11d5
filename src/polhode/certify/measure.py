"""One function per declared fact.  They return numbers; what counts as a pass is for the caller to say.

Typical sizes, for the default arguments: a fact that holds leaves a defect of 1e-12 or less, one that does not leaves 1e-9 or
more.
"""

import math
from typing import NamedTuple

import numpy as np

from polhode import problems, torques
from polhode.certify.trial import ATTITUDE, SPAN, VELOCITY, Map, apart, difference, norm, reference, torque_of, trial_torque
from polhode.core.jit import Rebinder
from polhode.core.vec import dot, qexp, qmul, qrotate, times
from polhode.errors import ConvergenceError

# --- order --------------------------------------------------------------------------------------------------------------

LADDER = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)   # numbers of steps
ENOUGH, WHOLE = 256, 0.05     # the ladder ends here if the orders found are whole numbers to within so much
FLOOR, CEILING = 3e-12, 0.3   # below it the round-off of run and reference shows, above it nothing is asymptotic
POINTS = 5                    # the order is read from so many points: a factor of four in the step


class Orders(NamedTuple):
    """Measured orders (inf: exact to round-off, nan: fewer than three points in range), and the errors they are read from."""

    attitude: float
    momentum: float
    steps: np.ndarray
    attitude_errors: np.ndarray
    momentum_errors: np.ndarray


def errors(method, count, kind="torque"):
    """Attitude error (angle) and body momentum error (relative) after `count` equal steps of the trial run."""
    path = Map(method, torque_of(kind))
    q, Pi = reference(kind)
    *_, s = path.run(SPAN / count, count)
    return norm(apart(q, s.q)), difference(path.momentum(s), Pi) / norm(Pi)


def order(method, kind="torque"):
    """Measured orders of attitude and body momentum: slopes of the global errors, at the smallest steps clear of round-off.

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
    reference(kind)   # an unknown kind is refused here
    found = []
    for count in LADDER:
        try:
            found.append(errors(method, count, kind))
        except (ArithmeticError, ValueError, ConvergenceError):   # a step too large for the method
            found.append((math.nan, math.nan))
        steps, pair = SPAN / np.array(LADDER[:len(found)]), np.array(found).T
        orders = [_slope(steps, each) for each in pair]
        settled = all(math.isinf(p) or abs(p - round(p)) < WHOLE for p in orders if not math.isnan(p))
        if max(found[-1]) < FLOOR or (count >= ENOUGH and settled):
            break
    return Orders(*orders, steps, *pair)


def _slope(steps, errors):
    """The order p from log error = a + p log h + c h, fitted to the finest points in range.

    The last term stands for the next one in the error's expansion, so that p is the slope in the limit of small steps.
    """
    if np.nanmax(errors, initial=0.0) < FLOOR and not np.all(np.isnan(errors)):
        return math.inf
    good = np.flatnonzero((errors > FLOOR) & (errors < CEILING))[-POINTS:]
    if len(good) < 3:
        return math.nan
    h = steps[good]
    terms = np.stack([np.log(h), np.ones_like(h), h][:len(good) - 1], axis=1)
    return float(np.linalg.lstsq(terms, np.log(errors[good]), rcond=None)[0][0])


# --- symmetry -----------------------------------------------------------------------------------------------------------

def symmetry_defect(method, step=0.5):
    """Distance, in attitude and relative momentum, between the beginning and what a step and a step back return to.

    The step back starts from the whole state, memory included.  A multistep method may have to turn its memory round first
    (a leapfrog's half-step values belong to the other side of the point): it counts as symmetric when it comes back with the
    memory as it is, as it was one step before, or as it will be one step later.
    """
    path = Map(method, trial_torque())
    states = list(path.run(step, 4))
    here, goal = states[2], states[1]
    turned = [here]
    if path.method.multistep:
        motion = {name: getattr(here, name) for name in ("q", "Om", "om", "Pi", "pi") if name in here._fields}
        turned += [other._replace(**motion) for other in (states[1], states[3])]
    return min(_miss(path, path.step(-step, 2 * step, s), goal) for s in turned)


def _miss(path, s, goal):
    Pi = path.momentum(goal)
    return max(norm(apart(goal.q, s.q)), difference(path.momentum(s), Pi) / norm(Pi))


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


def symplecticity_defect(method, step=0.5):
    """Largest entry of J^T Om' J - Om for one step from a fresh start, with Om the `canonical_form` before and after.

    Steps under a conservative torque; of a multistep method it is the first step that is measured.
    """
    path = Map(method, trial_torque(swing=0.0))
    Pi0 = np.array(times(path.body.I, VELOCITY))

    def after(x, d):
        Om = times(path.body.Iinv, tuple((Pi0 + d).tolist()))
        q = qmul(ATTITUDE, qexp(tuple(x.tolist())))
        return path.step(step, 0.0, path.start(step, 0.0, q, Om))

    end = after(np.zeros(3), np.zeros(3))

    def moved(z):
        s = after(z[:3], z[3:])
        return (*apart(end.q, s.q), *path.momentum(s))

    J = _jacobian(moved, 6)
    return float(np.max(np.abs(J.T @ canonical_form(path.momentum(end)) @ J - canonical_form(Pi0))))


def poisson_defect(method, step=0.5):
    """Largest entry of J Pi^ J^T - Pi'^ for one torque-free step of the body momentum from a fresh start.

    Zero when the step preserves the Lie-Poisson bracket of so(3)*, that is the area on every sphere |Pi| = const.  A step that
    is symplectic on T*SO(3) does; one that is not may still do.
    """
    path = Map(method, torques.free())
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
    path = Map(method, torques.free())
    momenta, energies = [], []
    for s in path.run(step, count):
        Om, Pi = path.velocity(s, path.body), path.momentum(s)
        momenta.append(qrotate(s.q, Pi))
        energies.append(0.5 * dot(Om, Pi))
    momenta, energies = np.array(momenta), np.array(energies)
    return FreeDrift(float(np.max(np.linalg.norm(momenta - momenta[0], axis=1)) / np.linalg.norm(momenta[0])),
                     float(np.max(np.abs(energies / energies[0] - 1.0))))


# --- what a step costs --------------------------------------------------------------------------------------------------

SOLVERS = ("newton", "implicit")   # how the names of functions that solve an equation begin


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


def _counted(frames):
    return frames._replace(body=_Counted(frames.body), spatial=_Counted(frames.spatial))


class TorqueCalls(NamedTuple):
    """Torque evaluations at the start and in each of a few steps, counted, and as the state itself counts them (or None)."""

    start: int
    steps: tuple
    reported: tuple | None


def torque_calls(method, step=0.1, count=8):
    """Torque evaluations at the start and in each of `count` steps under the trial torque."""
    path = Map(method, trial_torque(), wrap=_counted)
    totals, reported = [], []
    for s in path.run(step, count):
        totals.append(path.torque.body.calls + path.torque.spatial.calls)
        reported.append(getattr(s, "calls", None))
    known = None if reported[-1] is None else tuple(map(int, reported[1:]))
    return TorqueCalls(totals[0], tuple(np.diff(totals).tolist()), known)


def solver_calls(method, step=0.1, count=8):
    """Nonlinear equations solved in each of `count` steps: calls of functions named as SOLVERS says, wherever they are used."""
    counters = []

    def counting(copy):
        if not copy.__name__.startswith(SOLVERS):
            return copy
        counters.append(_Counted(copy))
        return counters[-1]

    path = Map(method, trial_torque(), rebind=Rebinder(counting))
    totals = [sum(counter.calls for counter in counters) for _ in path.run(step, count)]
    return tuple(np.diff(totals).tolist())


# --- energy in the long run ---------------------------------------------------------------------------------------------

class EnergyDrift(NamedTuple):
    """Least-squares slope of the total energy, and the time of the blow-up (inf: none) up to which it is taken."""

    slope: float
    blow_up: float


def drift_slope(method, step=0.25, t_end=None, problem="bou-rabee/stress", limit=1.0):
    """Slope of the energy in a long run, by default Bou-Rabee, Ortolan & Saccon's stress test to T = 15000.

    An energy that has changed by more than `limit`, or a run that could not go on, is a blow-up.
    """
    chosen = problems.get(problem)
    span = chosen.t_span if t_end is None else (chosen.t_span[0], t_end)
    run = chosen.integrate(method, step=step, t_span=span)
    change = run.total_energy - run.total_energy[0]
    lost = np.flatnonzero(~(np.abs(change) <= limit))
    end = lost[0] if len(lost) else len(change)
    blow_up = math.inf if run.status == "finished" and not len(lost) else float(run.t[min(end, len(change) - 1)])
    t = run.t[:end] - run.t[:end].mean()
    return EnergyDrift(float(t @ change[:end] / (t @ t)), blow_up)
