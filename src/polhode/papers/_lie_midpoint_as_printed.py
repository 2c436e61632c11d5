"""The midpoint Lie algorithms as printed, misprints included, beside the right ones: what the
misprints cost.

Plain Python on the trial problem of `polhode.certify`.  With F the free flow, I Psi/h = exp(-Psi/2)
P,

    EA                 kick h/2, F_{h/2}, F_{h/2}, kick h/2                    (right)
    EA, Krysl          Phi~* ends with exp(-Psi) (P + h T)                     for exp(-Psi) P + h T
    EA, Bou-Rabee      (8f) turns the momentum by exp(-Theta_k)                for exp(-Theta_{k+1})
    I                  I Psi/h = exp(-Psi/2) (P + h/2 exp(Psi/2) T_m)          (right)
    I, Krysl           I Psi/h = P + h/2 exp(Psi/2) T_m                        without the turn to the middle
"""

from functools import cache
from math import log2

from polhode.studies.facts import ATTITUDE, VELOCITY, trial_torque
from polhode.studies.facts.trial import SPAN, Map, apart, reference
from polhode.core.vec import (
    add,
    axpy,
    matrix,
    norm,
    qexp,
    qmul,
    qrotate,
    qrotate_t,
    scale,
    sub,
    times,
)
from polhode.loads.torques import free

COUNTS = (32, 64)  # steps


def _back(Psi, P):
    """exp(-Psi) P."""
    return qrotate_t(qexp(Psi), P)


def _solved(equation, Psi):
    """Fixed-point iteration for Psi = equation(Psi): a dozen rounds at the steps used here."""
    for _ in range(100):
        new = equation(Psi)
        if norm(sub(new, Psi)) < 1e-15:
            return new
        Psi = new
    raise ArithmeticError(f"no solution near {Psi}")


def _free(h, P, body):
    """Psi with I Psi/h = exp(-Psi/2) P."""
    return _solved(
        lambda Psi: scale(h, times(body.Iinv, _back(scale(0.5, Psi), P))),
        scale(h, times(body.Iinv, P)),
    )


def _alternating(how):
    def step(h, t, q, P, memory, T, body):
        P = axpy(0.5 * h, T(t, q), P)
        first = _free(0.5 * h, P, body)
        q, P = qmul(q, qexp(first)), _back(first, P)
        second = _free(0.5 * h, P, body)
        q = qmul(q, qexp(second))
        kick = scale(0.5 * h, T(t + h, q))
        if how == "Krysl":
            return q, _back(second, add(P, kick)), second
        return q, add(_back(memory if how == "Bou-Rabee" else second, P), kick), second

    return step


def _implicit(how):
    def step(h, t, q, P, memory, T, body):
        def impulse(Psi, share):
            half = qexp(scale(0.5, Psi))
            return axpy(share * h, qrotate(half, T(t + 0.5 * h, qmul(q, half))), P)

        def middle(Psi):
            P_m = impulse(Psi, 0.5)
            return scale(
                h, times(body.Iinv, P_m if how == "Krysl" else _back(scale(0.5, Psi), P_m))
            )

        Psi = _solved(middle, scale(h, times(body.Iinv, P)))
        return qmul(q, qexp(Psi)), _back(Psi, impulse(Psi, 1.0)), Psi

    return step


VARIANTS = {
    "EA": _alternating(""),
    "EA, Krysl": _alternating("Krysl"),
    "EA, Bou-Rabee": _alternating("Bou-Rabee"),
    "I": _implicit(""),
    "I, Krysl": _implicit("Krysl"),
}


def _run(name, count, torque):
    """The attitude after `count` steps of the trial run, and how much of the spatial momentum has
    changed."""
    trial, h = Map("LP2", torque), SPAN / count  # any method: only its body and torque are used

    def T(t, q):
        return trial.torque.body(t, matrix(q), VELOCITY, trial.parameters)

    q, P, memory = ATTITUDE, times(trial.body.I, VELOCITY), (0.0, 0.0, 0.0)
    before = qrotate(q, P)
    for k in range(count):
        q, P, memory = VARIANTS[name](h, k * h, q, P, memory, T, trial.body)
    return q, norm(sub(qrotate(q, P), before)) / norm(before)


@cache
def order(name):
    """The order in the attitude."""
    exact = reference("torque")[0]
    found = [norm(apart(exact, _run(name, count, trial_torque())[0])) for count in COUNTS]
    return log2(found[0] / found[1])


@cache
def momentum_lost(name):
    """Relative change of the spatial momentum over a torque-free run."""
    return _run(name, COUNTS[0], free())[1]
