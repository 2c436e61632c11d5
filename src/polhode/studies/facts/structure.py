"""One function for each declared fact except the orders.  They return numbers; the caller decides
what counts as a pass.

Typical sizes, for the default arguments: a fact that holds leaves a defect of 1e-12 or less, one
that does not leaves 1e-9 or more.
"""

from typing import Any, NamedTuple

import numpy as np

from polhode.core.rebind import Rebinder
from polhode.core.vec import hat, qexp, qmul, times
from polhode.loads import torques
from polhode.methods import Method
from polhode.studies.facts.trial import (
    ATTITUDE,
    VELOCITY,
    Map,
    apart,
    run_length,
    spin,
    step_size,
    trial_torque,
)

# --- symmetry -------------------------------------------------------------------------------------


def symmetry_defect(method: Method | str, step: float = 0.5) -> float:
    """Distance, in attitude and relative momentum, between the beginning and what a step and a step
    back return to.

    The step back starts from the whole state, memory included.  A multistep method may have to turn
    its memory round first (a leapfrog's half-step values belong to the other side of the point): it
    counts as symmetric when it comes back with the memory as it is, as it was one step before, or
    as it will be one step later.

    Examples
    --------
    >>> symmetry_defect("NMB") < 1e-14 < symmetry_defect("taylor3")
    True
    """
    path = Map(method, trial_torque())
    step = step_size(step)
    states = list(path.run(step, 4))
    here, goal = states[2], states[1]
    turned = [here]
    if path.method.multistep:
        motion = {
            name: getattr(here, name)
            for name in ("q", "Om", "om", "Pi", "pi")
            if name in here._fields
        }
        turned += [other._replace(**motion) for other in (states[1], states[3])]
    back = [path.step(-step, 2 * step, s) for s in turned]
    return min(max(path.errors(s, goal.q, path.momentum(goal))) for s in back)


# --- symplecticity --------------------------------------------------------------------------------

# Derivative by central differences of order 8: with this spacing truncation and round-off are both
# near 1e-13.
SPACING = 0.01
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


class Defect(NamedTuple):
    """The size of a defect, and how much of it may come from the measurement itself."""

    value: float
    noise: float


def _jacobian(function, n, spacing):
    """The derivative of a vector function of n numbers at zero."""
    columns = []
    for i in range(n):
        column = 0.0
        for k, weight in STENCIL:
            x = np.zeros(n)
            x[i] = k * spacing
            column = column + weight / spacing * (np.array(function(x)) - np.array(function(-x)))
        columns.append(column)
    return np.array(columns).T


def _defect(matrix):
    """From `matrix(spacing)`, which should vanish: its largest entry, and how far that of another
    spacing is from it."""
    one, other = matrix(SPACING), matrix(1.3 * SPACING)
    return Defect(float(np.max(np.abs(one))), float(np.max(np.abs(one - other))))


def canonical_form(Pi: Any) -> np.ndarray:
    """The symplectic form of T*SO(3) in body coordinates, at body momentum Pi.

    A tangent vector is (x, d): the attitude moves as R exp(e x), the momentum as Pi + e d.  With theta = Pi . x,
    -dtheta = x1.d2 - x2.d1 + Pi.(x1 x x2), since left-invariant fields have the bracket x1 x x2.
    """
    return np.block([[-np.array(hat(Pi)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def symplecticity(method: Method | str, step: float = 0.5, velocity: Any = VELOCITY) -> Defect:
    """The `Defect` J^T Om' J - Om of one step from a fresh start, with Om the `canonical_form`
    before and after.

    Steps under a conservative torque; of a multistep method it is the first step that is measured.

    Examples
    --------
    >>> symplecticity("VLV").value < 1e-8 < symplecticity("NMB").value
    True
    """
    path, step = Map(method, trial_torque(swing=0.0)), step_size(step)
    Pi0 = np.array(times(path.body.I, spin(velocity)))

    def after(x, d):
        Om = times(path.body.Iinv, tuple((Pi0 + d).tolist()))
        q = qmul(ATTITUDE, qexp(tuple(x.tolist())))
        return path.step(step, 0.0, path.start(step, 0.0, q, Om))

    end = after(np.zeros(3), np.zeros(3))

    def moved(z):
        s = after(z[:3], z[3:])
        return (*apart(end.q, s.q), *path.momentum(s))

    def missing(spacing):
        J = _jacobian(moved, 6, spacing)
        return J.T @ canonical_form(path.momentum(end)) @ J - canonical_form(Pi0)

    return _defect(missing)


def poisson(method: Method | str, step: float = 0.5, velocity: Any = VELOCITY) -> Defect:
    """The `Defect` (J Pi^ J^T - Pi'^) / |Pi| of one torque-free step of the body momentum from a
    fresh start.

    Zero when the step preserves the Lie-Poisson bracket of so(3)*, that is the area on every sphere
    |Pi| = const.  A step that is symplectic on T*SO(3) does; one that is not may still do.

    Examples
    --------
    >>> poisson("DMV4").value < 1e-8 < poisson("NMB").value
    True
    """
    path, step = Map(method, torques.free()), step_size(step)
    Pi0 = np.array(times(path.body.I, spin(velocity)))

    def moved(d):
        Om = times(path.body.Iinv, tuple((Pi0 + d).tolist()))
        return path.momentum(path.step(step, 0.0, path.start(step, 0.0, ATTITUDE, Om)))

    def missing(spacing):
        J = _jacobian(moved, 3, spacing)
        return (J @ hat(Pi0) @ J.T - hat(moved(np.zeros(3)))) / np.linalg.norm(Pi0)

    return _defect(missing)


# --- what a step costs ----------------------------------------------------------------------------


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


FORMS = ("body", "spatial", "at", "near")  # in which a method may ask for the torque


def _counted(frames):
    return frames._replace(**{form: _Counted(getattr(frames, form)) for form in FORMS})


class TorqueCalls(NamedTuple):
    """Torque evaluations at the start and in each of a few steps, counted, and as the state itself
    counts them (or None)."""

    start: int
    steps: tuple
    reported: tuple | None


def torque_calls(method: Method | str, step: float = 0.1, count: int = 8) -> TorqueCalls:
    """Torque evaluations at the start and in each of `count` steps under the trial torque.

    Examples
    --------
    >>> torque_calls("NMB", count=3)
    TorqueCalls(start=1, steps=(1, 1, 1), reported=None)
    """
    path = Map(method, trial_torque(), wrap=_counted)
    totals: list[int] = []
    reported: list[Any] = []
    for s in path.run(step_size(step), run_length(count)):
        totals.append(sum(getattr(path.torque, form).calls for form in FORMS))
        reported.append(getattr(s, "calls", None))
    known = None if reported[-1] is None else tuple(map(int, reported[1:]))
    return TorqueCalls(totals[0], tuple(np.diff(totals).tolist()), known)


def solver_calls(method: Method | str, step: float = 0.1, count: int = 8) -> tuple[int, ...]:
    """Nonlinear equations solved in each of `count` steps: calls of functions marked by
    `polhode.methods.solver`, wherever they are used.

    Examples
    --------
    >>> solver_calls("NMB", count=3)
    (1, 1, 1)
    """
    counters = []

    def counting(copy):
        if not hasattr(copy, "__solver__"):
            return copy
        counters.append(_Counted(copy))
        return counters[-1]

    path = Map(method, trial_torque(), rebind=Rebinder(counting))
    totals = [
        sum(counter.calls for counter in counters)
        for _ in path.run(step_size(step), run_length(count))
    ]
    return tuple(np.diff(totals).tolist())
