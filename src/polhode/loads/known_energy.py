"""Whether the total energy under a torque is known: it is when the torque is the gradient of a potential that does not change."""

import dis

import numpy as np

from polhode.loads import kernels as _kernels
from polhode.core.vec import matrix, qexp, qmul

ZERO = (0.0, 0.0, 0.0)
PROBE = 1e-5   # radians: the turns by which the slope of a potential is found
PROBES = tuple(qexp(turn) for turn in ((0.3, -0.5, 0.7), (-1.1, 0.4, 0.9), (0.8, 1.7, -0.6)))   # attitudes like any other
TURNS = (ZERO, *((x * (i == 0), x * (i == 1), x * (i == 2)) for x in (PROBE, -PROBE) for i in range(3)))


def energy_unknown(torque):
    """Why kinetic plus potential energy is not known to stay as it is, in a few words; "" when it is known."""
    for term in getattr(torque, "terms", (torque,)):
        if term.acts and not term.has_potential:
            return f"torque {term.name!r} has no potential"
        if term.uses_omega or term.uses_position:
            return f"torque {term.name!r} depends on more than the attitude"
        if why := looks_at_time(term.function) or looks_at_time(term.potential):
            return f"torque {term.name!r} may depend on time: {why}"
    return "" if has_gradient(torque) else f"torque {torque.name!r} is not the gradient of its potential"


def looks_at_time(function):
    """Why a function f(t, ...) may depend on its first argument, in a few words; "" where it does not."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    if code is None or not code.co_argcount:
        return "its code cannot be seen, as that of a plain function can"
    t = code.co_varnames[0]
    used = t in code.co_cellvars or any(t in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
                                        for step in dis.get_instructions(code) if "FAST" in step.opname)
    return "its code uses t" if used else ""


def has_gradient(torque):
    """Whether the torque is the slope of its potential, at a few attitudes where both are finite."""
    acting, potential, tried = _kernels.in_frame(torque.kernel(), torque.frame), torque.potential_kernel(), 0
    for q in PROBES:
        try:
            with np.errstate(all="ignore"):
                T = np.array(acting.body(0.0, matrix(q), ZERO, torque.values))
                V, *around = (potential(0.0, matrix(qmul(q, qexp(turn))), torque.values) for turn in TURNS)
        except Exception:   # a user's function need not know every attitude
            continue
        slope = (np.array(around[:3]) - around[3:]) / (2.0 * PROBE)
        if np.isfinite([*T, *slope]).all():
            tried += 1
            if np.abs(T + slope).max() > 1e-4 * max(np.abs(T).max(), np.abs(slope).max()) + 1e-9 * abs(V):
                return False
    return tried > 0
