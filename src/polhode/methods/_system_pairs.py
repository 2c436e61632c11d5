"""Runge-Kutta pairs for systems of bodies: stages over arrays of 13 n numbers, see
`polhode.core.loops.system_motion`.

The rows of K = `p.work` are the slopes k0, k1, ..., of which k_s is that at the end, then the
estimates of the error, then the terms F0, F1, ... of the continuous extension.
"""

from polhode.core.fma import fma
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.kicks import FlyingState
from polhode.core.loops.system_motion import (
    WIDTH,
    loaded_one,
    of_width,
    slope,
    spread,
    with_unit_quaternions,
)
from polhode.core.loops.tolerance import Pair
from polhode.core.systems import SystemState, body_at, launched, load, store
from polhode.core.vec import times
from polhode.methods._method import variant


def summed(row, first="", h=" * h"):
    """first + h sum_j a_j k_j, at place m, as source text; the newest slope comes last."""
    text = first
    for j, a in enumerate(row):
        if a:
            text = f"fma({a!r}{h}, K[{j}, m], {text})" if text else f"{a!r}{h} * K[{j}, m]"
    return text


def everywhere(**targets):
    """Lines that compute these expressions at each place m."""
    return ["for m in range(len(y)):", *(f"    {to}[m] = {text}" for to, text in targets.items())]


def stage_lines(tableau, which):
    lines = []
    for i in which:
        lines += everywhere(new=summed(tableau.a[i], "y[m]"))
        lines.append(f"torque.slopes(t + {tableau.c[i]!r} * h, new, K[{i}], body, p)")
    return lines


def stages_of(tableau):
    """`stages(h, t, y, k0, ...) -> (y', (K,))`."""
    lines = ["K, new = p.work, y.copy()", "first = K[0]", *everywhere(first="k0[m]")]
    lines += stage_lines(tableau, range(1, tableau.stages))
    lines += everywhere(new=summed(tableau.a[tableau.stages], "y[m]"))
    return generated(
        __name__, "stages", "h, t, y, k0, body, torque, p", lines, "new, (K,)", fma=fma
    )


def estimates_of(tableau):
    """`estimates((K, k_s))`: one estimate of the error, over h, for each row of the table."""
    s, first = tableau.stages, len(tableau.a)
    names = [f"e{i}" for i in range(len(tableau.errors))]
    lines = ["K, y = k", f"last = K[{s}]", *everywhere(last="y[m]")]
    lines += [f"{name} = K[{first + i}]" for i, name in enumerate(names)]
    sums = (summed(row, h="") for row in tableau.errors)
    lines += everywhere(**dict(zip(names, sums, strict=True)))
    return generated(__name__, "estimates", "k", lines, f"({', '.join(names)},)", fma=fma)


def extension_of(tableau):
    """`extension(h, t, y, y', slopes, ...)`: the rows F0, F1, ..."""
    s, first = tableau.stages, len(tableau.a) + len(tableau.errors)
    lines = ["K, new = k[0], y.copy()", *stage_lines(tableau, range(s + 1, len(tableau.a)))]
    count = 3 + len(tableau.extension)
    lines += [f"F{i} = K[{first + i}]" for i in range(count)]
    lines += everywhere(
        F0="end[m] - y[m]",
        F1="h * K[0, m] - F0[m]",
        F2=f"F0[m] - fma(h, K[{s}, m], F1[m])",
        **{f"F{3 + i}": f"h * ({summed(row, h='')})" for i, row in enumerate(tableau.extension)},
    )
    result = f"K[{first} : {first + count}]"
    arguments = "h, t, y, end, k, body, torque, p"
    return generated(__name__, "extension", arguments, lines, result, fma=fma)


def system_pair(tableau, error, order):
    """The functions of a tableau for the loop of `polhode.core.loops.tolerance`."""
    extra, terms = len(tableau.a) - tableau.stages - 1, 3 + len(tableau.extension)
    return Pair(
        stages_of(tableau),
        error(estimates_of(tableau), spread),
        extension_of(tableau),
        1.0 / order,
        0.04,
        (tableau.stages, extra),
        terms,
        of_width(WIDTH),
        len(tableau.a) + len(tableau.errors) + terms,
    )


def fixed_step(stages):
    """The step of a pair, for the states of `polhode.core.systems`."""

    @jit
    def step(h, t, s, body, torque, p):
        z = s.z
        y = p.work[0].copy()
        for i in range(len(z)):
            one = load(z, i)
            put_motion(y, i * WIDTH, one.q, times(body_at(body, i).Iinv, one.Pi), one.x, one.v)
        new, _ = stages(h, t, y, slope(t, y, body, torque, p), body, torque, p)
        new = with_unit_quaternions(new)
        for i in range(len(z)):
            m = loaded_one(new, i * WIDTH)
            Pi = times(body_at(body, i).I, (m[4], m[5], m[6]))
            one = load(z, i)
            store(FlyingState(m[:4], Pi, one.T, 0.0, 0.0, m[7:10], m[10:], one.a), z, i)
        return SystemState(0.0, z, 0.0)

    return step


@jit
def put_motion(y, i, q, Om, x, v):
    y[i], y[i + 1], y[i + 2], y[i + 3] = q
    y[i + 4], y[i + 5], y[i + 6] = Om
    y[i + 7], y[i + 8], y[i + 9] = x
    y[i + 10], y[i + 11], y[i + 12] = v


def for_systems(*tableau):
    """`Method.system` of a tableau."""
    control = system_pair(*tableau)
    step = fixed_step(control.stages)
    facts = {"state": SystemState, "start": launched, "row": FlyingState}
    return lambda entry, bodies: variant(entry, step=step, control=control, **facts)
