"""Taylor series methods for systems of bodies, see `_taylor.py`.

Torques and accelerations of all bodies become polynomials through their values at Radau's nodes c_k,
with weights b_k.  The first motion is that under the torques and forces at the beginning; each sweep
evaluates the interaction along the motions of the sweep before.  At a node, ch after the beginning,

    R = R exp(rotation(ch, nu, nu', ...)),   x = x + ch v + (ch)^2/2 a + (ch)^3/6 a' + ...

and at the end of the step, where (1 - s) a(s) is integrated by the same rule,

    pi' = pi + h sum b_k t_k,   v' = v + h sum b_k a_k,   x' = x + h v + h^2 sum b_k (1 - c_k) a_k

The forces of pairs cancel at every node: the total momentum is kept to round-off.  The total angular
momentum is kept to the order of the method.
"""

from functools import cache
from typing import Any, NamedTuple

from polhode.core.jit import apart, jit
from polhode.core.layout import Vector, layout
from polhode.core.systems import (
    LIGHTNESS,
    NOTHING,
    SystemState,
    body_at,
    load_motion,
    vector,
)
from polhode.core.vec import axpy, qexp, qmul, qrotate, qrotate_t, renormalise, scale, times
from polhode.methods._system_newmark import row_with
from polhode.methods._taylor_code import (
    constant_torque,
    derivatives_of,
    mean_of,
    motion_series,
    radau,
    sweeps_of,
    taylor_sum,
    written,
)


def vectors(count):
    """The annotation of so many vectors."""
    return tuple.__class_getitem__((Vector,) * count)


@jit
def keep(z, i, place, x):
    z[i, place], z[i, place + 1], z[i, place + 2] = x


@cache
def system_taylor(order, n, rotation, prepare, count, feels):
    """State, start and step for a system, from the formula of a method for one body."""
    sweeps, length = sweeps_of(order, feels), max(n - 1, count)
    # a row of the array: the state of a body, what acts on it at the nodes, and its motion
    own = row_with("pi")
    acting: Any = NamedTuple(  # torques in the body and in space, and accelerations
        "Acting", [(name, vectors(count)) for name in ("T", "t", "a")]
    )
    motion: Any = NamedTuple(  # for the rotation vector, momenta and accelerations
        "Motion", [("W", vectors(n)), ("M", vectors(n)), ("A", vectors(count))]
    )
    row = row_with("pi", acting=acting, motion=motion)
    state, at_nodes, path, first = rows_of(own, acting, motion)
    load, store = state.unpack, state.pack

    series, momentum = motion_series(n, acting=True), taylor_sum(n)
    velocity, position = taylor_sum(count + 1), taylor_sum(count + 2)
    nodes, weights = map(tuple, radau(count))
    # one node alone, at the beginning, does not integrate 1 - s
    twice = [b * (1.0 - c) for b, c in zip(weights, nodes, strict=True)] if count > 1 else [0.5]
    mean, mean_twice = mean_of(weights), mean_of(twice)
    torques, constant = derivatives_of(nodes, length), constant_torque(length)
    accelerations, level = derivatives_of(nodes, count), constant_torque(count)
    each = "".join(f"A[{k}], " for k in range(count))
    from_v = written("from_v", "v, A", [], f"(v, {each})")
    from_x = written("from_x", "x, v, A", [], f"(x, v, {each})")

    @jit
    def begun(q, pi, x, v):
        return own(q, pi, NOTHING, 0.0, 0.0, x, v, NOTHING)

    @apart
    def start(h, t, motions, z, body, torque, p):
        for i in range(len(z)):
            m = load_motion(motions, i)
            pi = qrotate(m.attitude, times(body_at(body, i).I, m.omega))
            store(begun(m.attitude, pi, m.position, m.velocity), z, i)

    @jit
    def fit(s, T, A, body, z, i):
        """The motion of a body under this torque and this acceleration."""
        W, M = series(qrotate_t(s.q, s.pi), T, body_at(body, i).Iinv)
        path.pack(motion(prepare(W), M, A), z, i)

    @jit
    def note(k, z, body, torque, places):
        """What acts at node k."""
        for i in range(len(z)):
            at = first + 3 * k
            keep(z, i, at, torque.torque_on(body, i, places))
            keep(z, i, at + 3 * count, vector(places.N, i))
            keep(z, i, at + 6 * count, scale(body[i, LIGHTNESS], vector(places.F, i)))

    @apart
    def begin(t, z, body, torque, p):
        for i in range(len(z)):
            s = load(z, i)
            Om = times(body_at(body, i).Iinv, qrotate_t(s.q, s.pi))
            torque.place(s.q, Om, s.x, s.v, body, i, p.places)
        torque.evaluate(t, p)
        note(0, z, body, torque, p.places)
        for i in range(len(z)):
            f = at_nodes.unpack(z, i)
            fit(load(z, i), constant(f.T[0]), level(f.a[0]), body, z, i)

    @apart
    def visit(k, h, t, z, body, torque, p):
        """Evaluate the interaction where all bodies are at node k."""
        ch = nodes[k] * h
        for i in range(len(z)):
            s, m = load(z, i), path.unpack(z, i)
            q = renormalise(qmul(s.q, qexp(rotation(ch, m.W))))
            Om = times(body_at(body, i).Iinv, momentum(ch, m.M))
            x, v = position(ch, from_x(s.x, s.v, m.A)), velocity(ch, from_v(s.v, m.A))
            torque.place(q, Om, x, v, body, i, p.places)
        torque.evaluate(t + ch, p)
        note(k, z, body, torque, p.places)

    @apart
    def sweep(h, t, z, body, torque, p):
        for k in range(1, count):
            visit(k, h, t, z, body, torque, p)
        for i in range(len(z)):
            f = at_nodes.unpack(z, i)
            fit(load(z, i), torques(h, f.T), accelerations(h, f.a), body, z, i)

    @apart
    def finish(h, z):
        for i in range(len(z)):
            s, f, m = load(z, i), at_nodes.unpack(z, i), path.unpack(z, i)
            q = renormalise(qmul(s.q, qexp(rotation(h, m.W))))
            pi, v = axpy(h, mean(f.t), s.pi), axpy(h, mean(f.a), s.v)
            x = axpy(h, axpy(h, mean_twice(f.a), s.v), s.x)
            store(begun(q, pi, x, v), z, i)

    @jit
    def step(h, t, s, body, torque, p):
        begin(t, s.z, body, torque, p)
        for _ in range(sweeps):
            sweep(h, t, s.z, body, torque, p)
        finish(h, s.z)
        return SystemState(0.0, s.z, 0.0)

    return {
        "state": SystemState,
        "row": row,
        "start": start,
        "step": step,
        "torques": 1 + sweeps * (count - 1),
        "control": None,
        "conserves": (),
    }


def rows_of(own, acting, motion):
    """The layouts of the three parts of a row, and where the second begins."""
    first = layout(own).size
    second = first + layout(acting).size
    return (
        layout(own, rows=True),
        layout(acting, first=first, rows=True),
        layout(motion, first=second, rows=True),
        first,
    )
