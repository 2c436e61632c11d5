"""Gauss collocation for systems of bodies, see `gauss.py`: of a few in registers, where the interaction is
evaluated at all stages at once, and of any number in an array, stage by stage.
"""

from functools import lru_cache

from polhode.core.generated import generated
from polhode.core.jit import apart, jit
from polhode.core.kicks import FlyingState
from polhode.core.layout import layout
from polhode.core.newton import solver
from polhode.core.scratch import scratch
from polhode.core.systems import NOTHING, SystemState, body_at, launched, load, store
from polhode.core.vec import qrotate, qrotate_t, scale
from polhode.methods._gauss_stages import (
    AIMED,
    B,
    BODIES,
    C,
    EACH,
    P,
    SLOPE,
    STAGES,
    V,
    X,
    aim,
    all_rates,
    clear,
    fill,
    guess_rotation,
    guess_translation,
    largest,
    move,
    place,
    put,
    rates,
    reached_rotation,
    sum_all,
    total3,
    turn,
    unsolved,
    vector,
    worth,
)
from polhode.methods._method import variant
from polhode.methods._system_newmark import row_with

Row = row_with("pi")  # the state of a body in a system


@jit
def without_load(q, pi, x, v):
    return Row(q, pi, NOTHING, 0.0, 0.0, x, v, NOTHING)


@jit
def guess(w, at, h, s, body):
    guess_rotation(w, at, h, s, body)
    guess_translation(w, at, h, s)


@jit
def reached(w, at, h, s):
    """The state at the end, without a load."""
    q, pi = reached_rotation(w, at, h, s)
    return without_load(q, pi, total3(w, at + X, s.x), total3(w, at + V, s.v))


@jit
def seen(s):
    """A state as interactions see it."""
    return FlyingState(s.q, qrotate_t(s.q, s.pi), s.T, 0.0, 0.0, s.x, s.v, s.a)


@jit
def kept(s, load):
    """A state with the load that was found there."""
    return Row(s.q, s.pi, load.T, 0.0, 0.0, s.x, s.v, load.a)


@jit
def in_row(s):
    """The state of what an interaction has seen."""
    return Row(s.q, qrotate(s.q, s.Pi), s.T, 0.0, 0.0, s.x, s.v, s.a)


@jit
def at_stage(w, at):
    """What interactions see at a stage."""
    _, q, Pi = place(w, at)
    x, v = vector(w, at + X), vector(w, at + V)
    return FlyingState(q, Pi, NOTHING, 0.0, 0.0, x, v, NOTHING)


@jit
def put_loads(w, at, c, s):
    put(w, at + P + SLOPE, scale(c, qrotate(s.q, s.T)))
    put(w, at + V + SLOPE, scale(c, s.a))


@lru_cache(8)
def few(n):
    """Step and start for n bodies in registers."""
    places = [BODIES + EACH * i for i in range(n)]
    pieces = (
        guess,
        aim,
        reached,
        seen,
        kept,
        in_row,
        at_stage,
        put_loads,
        sum_all,
        all_rates,
        rates,
        move,
        turn,
    )
    named = {one.__name__: one for one in pieces}

    def made(name, arguments, lines, text=None):
        """A function whose result has an entry for each body."""
        entries = (
            "".join(f"{text}, ".format(i=i, at=at) for i, at in enumerate(places)) if text else ""
        )
        return generated(
            __name__, name, arguments, lines, f"({entries})" if text else None, **named
        )

    def each_body(*lines):
        # line by line, so that the processor has work of one body while it waits for another
        return [one.format(i=i, at=at) for one in lines for i, at in enumerate(places)]

    stages = "".join(f"at_stage(w, {at} + i), " for at in places)
    evaluate = made(
        "evaluate",
        "w, h, t, body, torque, p",
        [
            f"for i in range({STAGES}):",
            f"    z = torque.interact(t + h * w[{C} + i], 0.0, ({stages}), body, p)",
            *each_body(f"    put_loads(w, {{at}} + i, h * w[{B} + i], z[{{i}}])"),
        ],
    )
    relaxed = made(
        "relaxed",
        "w, h, z, body, count",
        [
            *each_body("sum_all(w, {at}, z[{i}])"),
            f"if count == {AIMED}:",
            *each_body("    aim(w, {at}, h, body.each[{i}])"),
            *each_body("all_rates(w, {at}, h, body.each[{i}])", "move(w, {at}, h, z[{i}])"),
        ],
    )
    turned = made(
        "turned",
        "w, h, z, body",
        each_body("rates(w, {at}, h, body.each[{i}])", "turn(w, {at}, z[{i}])"),
    )
    guessed = made(
        "guessed", "w, h, z, body", each_body("guess(w, {at}, h, z[{i}], body.each[{i}])")
    )
    ended = made("ended", "w, h, z", (), "reached(w, {at}, h, z[{i}])")
    all_seen = made("all_seen", "z", (), "seen(z[{i}])")
    in_space = made("in_space", "z", (), "in_row(z[{i}])")
    all_kept = made("all_kept", "z, loads", (), "kept(z[{i}], loads[{i}])")
    size = BODIES + EACH * n

    @jit
    def start(h, t, motion, body, torque, p):
        return SystemState(0.0, in_space(torque.begin(t, motion, body, p).z), 0.0)

    @jit
    def pulled(t, z, body, torque, p):
        return all_kept(z, torque.interact(t, 0.0, all_seen(z), body, p))

    @jit
    def again(w, h, z, body):
        """The attitudes once more: their change."""
        clear(w)
        turned(w, h, z, body)
        return largest(w)

    @solver
    @jit
    def solved(w, h, t, s, body, torque, p):
        change, before, second, count = 1.0, 2.0, 0.0, 0
        while unsolved(change, before, count):
            evaluate(w, h, t, body, torque, p)
            clear(w)
            relaxed(w, h, s.z, body, count)
            change, before = largest(w), change
            second = again(w, h, s.z, body) if worth(change, second, count) else 0.0
            count += 1
        return change, count

    @jit
    def step(h, t, s, body, torque, p):
        w = scratch(size)
        fill(w)
        guessed(w, h, s.z, body)
        change, count = solved(w, h, t, s, body, torque, p)
        z = pulled(t + h, ended(w, h, s.z), body, torque, p)
        return SystemState(change, z, STAGES * count + 1.0)

    return step, start


ROWS = layout(Row, rows=True)
load_row, store_row = ROWS.unpack, ROWS.pack


@apart
def start_all(h, t, motions, z, body, torque, p):
    launched(h, t, motions, z, body, torque, p)
    for i in range(len(z)):
        store_row(in_row(load(z, i)), z, i)


@apart
def guess_all(w, h, z, body):
    for i in range(len(z)):
        guess(w, BODIES + EACH * i, h, load_row(z, i), body_at(body, i))


@apart
def evaluate_all(w, h, t, z, body, torque, p):
    """The interaction at all stages, one after the other; z is memory."""
    for i in range(STAGES):
        for k in range(len(z)):
            store(at_stage(w, BODIES + EACH * k + i), z, k)
        torque.interact(t + h * w[C + i], 0.0, z, body, p)
        for k in range(len(z)):
            put_loads(w, BODIES + EACH * k + i, h * w[B + i], load(z, k))


@apart
def relax_all(w, h, z, body, count):
    for i in range(len(z)):
        at, s, one = BODIES + EACH * i, load_row(z, i), body_at(body, i)
        sum_all(w, at, s)
        if count == AIMED:
            aim(w, at, h, one)
        all_rates(w, at, h, one)
        move(w, at, h, s)


@apart
def turn_all(w, h, z, body):
    for i in range(len(z)):
        rates(w, BODIES + EACH * i, h, body_at(body, i))
        turn(w, BODIES + EACH * i, load_row(z, i))


@jit
def again_all(w, h, z, body):
    clear(w)
    turn_all(w, h, z, body)
    return largest(w)


@apart
def end_all(w, h, z):
    for i in range(len(z)):
        store_row(reached(w, BODIES + EACH * i, h, load_row(z, i)), z, i)


@apart
def pull_all(t, z, memory, body, torque, p):
    """The interaction at the end."""
    for i in range(len(z)):
        store(seen(load_row(z, i)), memory, i)
    torque.interact(t, 0.0, memory, body, p)
    for i in range(len(z)):
        store_row(kept(load_row(z, i), load(memory, i)), z, i)


@solver
@jit
def solved_all(w, h, t, z, memory, body, torque, p):
    change, before, second, count = 1.0, 2.0, 0.0, 0
    while unsolved(change, before, count):
        evaluate_all(w, h, t, memory, body, torque, p)
        clear(w)
        relax_all(w, h, z, body, count)
        change, before = largest(w), change
        second = again_all(w, h, z, body) if worth(change, second, count) else 0.0
        count += 1
    return change, count


@jit
def step_of_system(h, t, s, body, torque, p):
    """The step of any number of bodies, in an array."""
    w, memory = scratch(BODIES + EACH * len(s.z)), s.z.copy()
    fill(w)
    guess_all(w, h, s.z, body)
    change, count = solved_all(w, h, t, s.z, memory, body, torque, p)
    end_all(w, h, s.z)
    pull_all(t + h, s.z, memory, body, torque, p)
    return SystemState(change, s.z, STAGES * count + 1.0)


def in_system(entry, system):
    facts = {"state": SystemState, "start": start_all, "row": Row}
    return variant(entry, step=step_of_system, few=few, **facts)
