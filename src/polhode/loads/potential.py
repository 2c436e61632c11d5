"""The potential energy of a torque or a force along a motion."""

from typing import Any

import numpy as np

from polhode.core.jit import bind, compiles, compiling, interpreted
from polhode.core.layout import layout, shape
from polhode.core.loops import fixed as loops
from polhode.loads.agreement import agree
from polhode.loads.kernels import column, nested
from polhode.loads.own_axes import potential_in_axes


def potential_energy(
    acting: Any, body: Any, t: Any, attitudes: np.ndarray, positions: np.ndarray | None = None
) -> Any:
    """The potential of a torque at the given times and attitudes (principal axes), or that of a
    force, also of the positions; None when it has none."""
    if not acting.has_potential:
        return None
    t, motion = np.asarray(t, dtype=float), [np.ascontiguousarray(attitudes)]
    if positions is not None:
        motion.append(np.ascontiguousarray(positions))

    def values(loop, rows=slice(None)):
        return filled(loop[0], loop[1], t[rows], *(part[rows] for part in motion))

    def python(rows=slice(None)):
        return values(potential_loop(interpreted, acting.in_python(), body), rows)

    if len(t) > 64 and acting.potential_obstacle() is None and compiling():
        machine = potential_loop(bind, acting.with_lifted("potential"), body)
        if compiles(lambda: values(machine, slice(0))):
            found, few = values(machine), np.linspace(0, len(t) - 1, 12).astype(int)
            if acting.is_ours or agree(found[few], python(few)):
                return found
    return python()


def potential_loop(made, acting, body=None):
    """The loop that finds potentials, as `bind` or `interpreted` makes it, and its parameters;
    without a body in its own axes."""
    kernel, values = acting.potential_kernel(), acting.values
    if body is not None and not body.is_principal:
        kernel = potential_in_axes(kernel, acting.setting)
        values = nested(body.axes), values
    along = loops.flight_potential_along if acting.in_flight else loops.potential_along
    return made(along, potential=kernel, load_parameters=layout(shape(values)).unpack), column(
        values
    )


def filled(loop, values, t, *motion):
    """The potentials that a loop finds."""
    out = np.empty(len(t))
    loop(t, *motion, values, out)
    return out
