"""Whether the total energy is conserved under a torque: it is if the torque is the gradient of a
potential that does not depend on time."""

from typing import Any, NamedTuple

import numpy as np

from polhode.core.reads import uses_variable
from polhode.core.vec import matrix, qexp, qmul
from polhode.errors import warn
from polhode.loads import kernels as _kernels

ZERO = (0.0, 0.0, 0.0)
PROBE = 1e-5  # radians: the turns by which the slope of a potential is found
# arbitrary attitudes
PROBES = tuple(qexp(turn) for turn in ((0.3, -0.5, 0.7), (-1.1, 0.4, 0.9), (0.8, 1.7, -0.6)))
TURNS = (
    ZERO,
    *((x * (i == 0), x * (i == 1), x * (i == 2)) for x in (PROBE, -PROBE) for i in range(3)),
)


def energy_unknown(torque: Any) -> str:
    """Why kinetic plus potential energy may not be conserved, in a few words; "" if it is."""
    for term in torque.terms:
        if term.acts and not term.has_potential:
            return f"torque {term.name!r} has no potential"
        if term.uses_omega or term.uses_position:
            return f"torque {term.name!r} depends on more than the attitude"
        if why := looks_at_time(term.function) or looks_at_time(term.potential):
            return f"torque {term.name!r} may depend on time: {why}"
    return (
        ""
        if has_gradient(torque)
        else f"torque {torque.name!r} is not the gradient of its potential"
    )


def looks_at_time(function: Any) -> str:
    """Why a function f(t, ...) may depend on its first argument, in a few words; "" where it does
    not."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    if code is None or not code.co_argcount:
        return "its code is not accessible, unlike that of a plain function"
    return "its code uses t" if uses_variable(code, code.co_varnames[0]) else ""


def has_gradient(torque: Any) -> bool:
    """Whether the torque is minus the slope of its potential, at a few attitudes where both are
    finite."""
    found = [_slopes(torque, 0.0, q) for q in PROBES]
    return any(found) and all(one.agree for one in found if one)


class Slopes(NamedTuple):
    """A body torque, and minus the slope of its potential."""

    torque: np.ndarray
    potential: np.ndarray
    agree: bool


def _slopes(torque, t, q):
    """Both at a time and an attitude; None where one of them is not finite."""
    acting, potential = _kernels.in_frame(torque.kernel(), torque.frame), torque.potential_kernel()
    try:
        with np.errstate(all="ignore"):
            T = np.array(acting.body(t, matrix(q), ZERO, torque.values))
            V, *around = (
                potential(t, matrix(qmul(q, qexp(turn))), torque.values) for turn in TURNS
            )
    except Exception:  # a user's function need not know every attitude
        return None
    slope = (np.array(around[3:]) - around[:3]) / (2.0 * PROBE)
    if not np.isfinite([*T, *slope]).all():
        return None
    return Slopes(
        T,
        slope,
        np.abs(T - slope).max() <= 1e-4 * max(np.abs(T).max(), np.abs(slope).max()) + 1e-9 * abs(V),
    )


def check_potential(torque, start):
    """Warn, once for each torque, if it is not the gradient of its potential: the total energy would
    then be meaningless.

    A torque may jump and a potential have a kink, so a difference at one state is not enough.
    """
    for term in torque.terms:
        if term.compared or not term.has_potential or term.is_ours or term.uses_position:
            continue
        term.compared = True
        times, attitudes, *_ = start.samples()
        states = zip(times.tolist(), map(tuple, attitudes.tolist()), strict=True)
        wrong = [
            (t, found) for t, q in states if (found := _slopes(term, t, q)) and not found.agree
        ]
        if len(wrong) > 1:
            t, found = wrong[0]
            warn(
                f"torque {term.name!r} is not minus the slope of its potential: at t = {t:.6g} it is "
                f"{found.torque.tolist()} (body frame) and minus the slope {found.potential.tolist()}, so that kinetic "
                "plus potential energy is not conserved; correct the potential, or write the part without one as "
                "a separate torque and add the two",
                RuntimeWarning,
            )
