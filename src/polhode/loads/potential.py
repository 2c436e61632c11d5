"""The potential energy of a torque along a motion."""

from typing import Any

import numpy as np

from polhode.core.jit import bind, compiles, compiling, interpreted
from polhode.core.layout import layout, shape
from polhode.core.loops import fixed as loops
from polhode.loads.agreement import agree
from polhode.loads.kernels import column, nested
from polhode.loads.own_axes import potential_in_axes


def potential_energy(torque: Any, body: Any, t: Any, attitudes: np.ndarray) -> Any:
    """The torque's potential at the given times and attitudes (principal axes); None when it has
    none."""
    if not torque.has_potential:
        return None
    t, attitudes = np.asarray(t, dtype=float), np.ascontiguousarray(attitudes)

    def python(rows=slice(None)):
        loop, values = potential_loop(interpreted, torque.in_python(), body)
        return filled(loop, t[rows], attitudes[rows], values)

    if len(t) > 64 and torque.potential_obstacle() is None and compiling():
        loop, values = potential_loop(bind, torque.with_lifted("potential"), body)
        if compiles(lambda: filled(loop, t[:0], attitudes[:0], values)):
            found, few = (
                filled(loop, t, attitudes, values),
                np.linspace(0, len(t) - 1, 12).astype(int),
            )
            if torque.is_ours or agree(found[few], python(few)):
                return found
    return python()


def potential_loop(made, torque, body=None):
    """The loop that finds potentials, as `bind` or `interpreted` makes it, and its parameters;
    without a body in its own axes."""
    kernel, values = torque.potential_kernel(), torque.values
    if body is not None and not body.is_principal:
        kernel, values = potential_in_axes(kernel), (nested(body.axes), values)
    return made(
        loops.potential_along, potential=kernel, load_parameters=layout(shape(values)).unpack
    ), column(values)


def filled(loop, t, attitudes, values):
    """The potentials that a loop finds."""
    out = np.empty(len(t))
    loop(t, attitudes, values, out)
    return out
