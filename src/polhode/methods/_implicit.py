"""What the methods share that are implicit in the torque: one equation for the mean velocity W of
the step.

    G(W) = c T(W)

G is inertia, with its exact tangent; T is the torque at an attitude that depends on W, known only
by asking for it.  Newton's method with a secant for the torque: the tangent is DG - c D, and D =
dT/dW is corrected after every iteration by Broyden's rank-one update, D += (dT - D dW) dW^T /
|dW|^2.  One torque evaluation per iteration.  D and the last torque are carried from step to step
as a guess: the solution does not depend on them.
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.core.layout import Matrix, Quaternion, Vector
from polhode.core.newton import ROUND_OFF, size, solver
from polhode.core.vec import (
    add,
    apply,
    axpy,
    cross,
    dot,
    madd,
    matrix,
    mscale,
    outer,
    qexp,
    qmul,
    scale,
    solve,
    sub,
    times,
)

ITERATIONS = 60
ZERO = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class ImplicitState(NamedTuple):
    q: Quaternion
    Pi: Vector
    T: Vector  # the last torque
    D: Matrix  # its slope dT/dW
    residual: float
    calls: float  # torque evaluations
    excess: float  # of |Pi|^2, relative: see _length.py


@jit
def start(h, t, q, Om, body, torque, p):
    return ImplicitState(
        q, times(body.I, Om), torque.body(t, matrix(q), Om, p), ZERO, 0.0, 0.0, 0.0
    )


@jit
def guess(h, s, body):
    """The velocity half a step ahead, if the torque stays what it was."""
    Om = times(body.Iinv, s.Pi)
    return axpy(0.5 * h, times(body.Iinv, add(s.T, cross(s.Pi, Om))), Om)


@jit
def torque_halfway(W, place):
    """T at the attitude half way, R exp(h W/2)."""
    h, t, q, torque, p = place
    return torque.body(t + 0.5 * h, matrix(qmul(q, qexp(scale(0.5 * h, W)))), W, p)


@solver
@jit
def implicit(balance, data, force, place, c, W, D):
    """Solve G(W) = c T(W): `balance(W, data)` gives (G, DG, size of G's terms), `force(W, place)`
    gives T.

    Returns W, T, D, the relative residual and the number of torque evaluations.
    """
    G, DG, terms = balance(W, data)
    T = force(W, place)
    F = axpy(-c, T, G)
    residual = size(F) / (terms + abs(c) * size(T) + 1e-300)
    calls = 1.0
    while residual > ROUND_OFF and calls < ITERATIONS:
        dW = solve(madd(DG, mscale(-c, D)), scale(-1.0, F))
        W = add(W, dW)
        G, DG, terms = balance(W, data)
        before, T = T, force(W, place)
        F = axpy(-c, T, G)
        residual = size(F) / (terms + abs(c) * size(T) + 1e-300)
        missed = sub(sub(T, before), apply(D, dW))
        D = madd(D, outer(scale(1.0 / (dot(dW, dW) + 1e-300), missed), dW))
        calls += 1.0
    # an iteration that ran away has no solution, not a NaN
    residual = residual if calls == 1.0 or residual < 1.0 else 1.0
    # a last correction, which asks for no torque: T and W then fit each other to the last bit, and
    # so what is conserved is
    dW = solve(madd(DG, mscale(-c, D)), scale(-1.0, F))
    return add(W, dW), add(T, apply(D, dW)), D, residual, calls
