"""Symmetric compositions: higher orders from a symmetric method of second order.

One step of h becomes steps of c_1 h, ..., c_s h in a row, with sum c_i = 1 and the c_i a palindrome.  The error of a symmetric
method has odd powers of h alone; the c_i are chosen so that the first of them cancel:

    yoshida4    3 stages    1/(2 - 2^(1/3)), -2^(1/3)/(2 - 2^(1/3)), the same;  Yoshida 1990, also Forest & Ruth, Suzuki
    suzuki4     5 stages    1/(4 - 4^(1/3)) twice, the rest, twice: smaller errors and shorter steps back
    yoshida6    7 stages    Yoshida's solution A
    yoshida8   15 stages    Yoshida's solution D

`compose(method, scheme)` makes the Method, and NAME+yoshida4 etc. names it.  What the method conserves, and whether it is
symplectic, carries over; torque evaluations multiply.  The coefficients of orders 6 and 8 are those that solve the order
conditions to 26 digits (Hairer, Lubich & Wanner 2006, V.3.2).
"""

from typing import NamedTuple

from polhode.core.jit import jit
from polhode.errors import InputError, unknown
from polhode.methods._registry import Method, get, suffix
from polhode.methods._states import constructor


class Scheme(NamedTuple):
    order: int
    steps: tuple
    cite: str


def _palindrome(half, middle=None):
    """The whole row from its first half; the middle one makes the sum 1."""
    return (*half, 1.0 - 2.0 * sum(half) if middle is None else middle, *reversed(half))


_CUBE, _FOUR = 2.0 ** (1.0 / 3.0), 4.0 ** (1.0 / 3.0)

SCHEMES = {
    "yoshida4": Scheme(4, _palindrome((1.0 / (2.0 - _CUBE),), -_CUBE / (2.0 - _CUBE)), "yoshida1990construction"),
    "suzuki4": Scheme(4, _palindrome((1.0 / (4.0 - _FOUR),) * 2, -_FOUR / (4.0 - _FOUR)), "suzuki1990fractal"),
    "yoshida6": Scheme(6, _palindrome((
        0.78451361047755726381949763, 0.23557321335935813368479318, -1.17767998417887100694641568),
        1.31518632068391121888424973), "yoshida1990construction"),
    "yoshida8": Scheme(8, _palindrome((
        0.74167036435061295344822780, -0.40910082580003159399730010, 0.19075471029623837995387626,
        -0.57386247111608226665638773, 0.29906418130365592384446354, 0.33462491824529818378495798,
        0.31529309239676659663205666), -0.79688793935291635401978884), "yoshida1990construction"),
}


@jit
def larger(a, b):
    return a if a > b else b


@jit
def both(a, b):
    return a + b


def in_a_row(step, state, steps):
    """The step function of several steps in a row; residuals and counted torque evaluations are those of all stages."""
    notes = {name: f"{how}(s.{name}, n.{name})" for name, how in (("residual", "larger"), ("calls", "both"))
             if name in state._fields}
    c = steps[0]
    if len(steps) == 1:
        @jit
        def row(h, t, s, body, torque, p):
            return step(c * h, t, s, body, torque, p)
        return row
    rest = in_a_row(step, state, steps[1:])
    joined = constructor(state, "s, n", (larger, both), **notes)

    @jit
    def row(h, t, s, body, torque, p):
        first = step(c * h, t, s, body, torque, p)
        return joined(first, rest(h, t + c * h, first, body, torque, p))
    return row


def compose(method, scheme):
    """A symmetric second-order method, composed to a higher order.

    Parameters
    ----------
    method : str or Method
        Symmetric, of order 2, without memory of earlier steps.
    scheme : {"yoshida4", "suzuki4", "yoshida6", "yoshida8"} or Scheme
        A name, or one of your own: Scheme(order, (c_1, ..., c_s), cite).

    Examples
    --------
    >>> compose("VLV", "yoshida6").order
    6
    """
    base = get(method)
    own = isinstance(scheme, Scheme)
    if not own and (not isinstance(scheme, str) or scheme not in SCHEMES):
        raise unknown("composition", scheme, SCHEMES)
    order, steps, cite = scheme if own else SCHEMES[scheme]
    scheme = "own" if own else scheme
    if abs(sum(steps) - 1.0) > 1e-14 or tuple(steps) != tuple(reversed(steps)):
        raise InputError(f"the steps of a composition must be a palindrome with the sum 1, got {tuple(steps)}")
    if not base.symmetric:
        raise InputError(f"only a symmetric method gains from a composition, and {base.name} is not one: take VLV, LP2, ...")
    if base.multistep:
        raise InputError(f"{base.name} remembers the step before, and the steps of a composition differ: take a one-step method")
    if base.order != 2:
        raise InputError(f"the composition {scheme} is made for methods of order 2, and {base.name} has order {base.order}")
    return Method(
        f"{base.name}+{scheme}", in_a_row(base.step, base.state, steps), base.start, base.state, order,
        None if base.torques is None else len(steps) * base.torques, True, base.symplectic, base.conserves,
        tuple(max(order, free) for free in base.free_order), len(steps) * base.solves, False, base.family, cite=cite,
        summary=f"{base.name} composed to order {order} ({scheme}, {len(steps)} stages)",
        adapt=base.adapt and (lambda torque: compose(base.suited(torque), scheme)))


for name in SCHEMES:
    suffix(name)(lambda base, scheme=name: compose(base, scheme))
