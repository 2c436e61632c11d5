"""The potential energy of a torque along a motion."""

import numpy as np

from polhode.core.jit import bind, compiles, compiling, interpreted
from polhode.core.layout import layout, shape
from polhode.core.loops import fixed as loops
from polhode.loads.agreement import agree
from polhode.loads.kernels import column, nested, potential_in_axes


def potential_energy(torque, body, t, attitudes):
    """The torque's potential at the given times and attitudes (principal axes); None when it has none."""
    if not torque.has_potential:
        return None
    torque = torque.with_lifted("potential")
    kernel, values = torque.potential_kernel(), torque.values
    if not body.is_principal:
        kernel, values = potential_in_axes(kernel), (nested(body.axes), values)
    out = np.empty(len(t))
    names = {"potential": kernel, "load_parameters": layout(shape(values)).unpack}
    arguments = (np.asarray(t, dtype=float), np.ascontiguousarray(attitudes), column(values), out)
    if len(t) > 64 and torque.potential_obstacle() is None and compiling():
        loop = bind(loops.potential_along, **names)
        if compiles(lambda: loop(*(one[:0] for one in arguments[:2]), *arguments[2:])):
            loop(*arguments)
            few = np.linspace(0, len(t) - 1, 5).astype(int)
            sample = arguments[0][few], arguments[1][few], arguments[2], np.empty(len(few))
            interpreted(loops.potential_along, **names)(*sample)
            if torque.is_ours or agree(out[few], sample[3]):
                return out
    interpreted(loops.potential_along, **names)(*arguments)
    return out
