"""Symmetric compositions: higher orders from a symmetric method of second order.

One step of h becomes a sequence of steps c_1 h, ..., c_s h, where sum c_i = 1 and the c_i are a
palindrome.  The error of a symmetric method contains only odd powers of h; the c_i are chosen so
that the first of them cancel:

    yoshida4    3 stages    1/(2 - 2^(1/3)), -2^(1/3)/(2 - 2^(1/3)), the same;  Yoshida 1990, also Forest & Ruth, Suzuki
    suzuki4     5 stages    1/(4 - 4^(1/3)) twice, the rest, twice: smaller errors and shorter backward steps
    yoshida6    7 stages    Yoshida's solution A
    yoshida8   15 stages    Yoshida's solution D
    kahanli6    9 stages    Kahan & Li 1997: s9odr6a, smaller errors than Yoshida's for the same work
    kahanli8   17 stages    s17odr8a
    kahanli10  33 stages    s33odr10b

`compose(method, scheme)` makes the Method; NAME+yoshida4 etc. are its names.  Conserved quantities
and symplecticity carry over; torque evaluations multiply.  The coefficients of orders 6 to 10 solve
the order conditions to 26 digits and more (Hairer, Lubich & Wanner 2006, V.3.2;
benchmarks/splitting_coefficients.py).
"""

from typing import Any, NamedTuple

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.kicks import larger
from polhode.errors import InputError, unknown
from polhode.methods._method import Method
from polhode.methods._registry import get, suffix
from polhode.methods._states import constructor


class Scheme(NamedTuple):
    order: int
    steps: tuple
    cite: str


def _palindrome(half, middle=None):
    """The whole row from its first half; the middle one makes the sum 1."""
    return (*half, 1.0 - 2.0 * sum(half) if middle is None else middle, *reversed(half))


def _numbers(name):
    return tuple(float(part) for part in HALVES[name].split())


# the first halves, in decimals: the middle one makes the sum 1
HALVES = {
    "kahanli6": """
        0.39216144400731413927925055518118 0.33259913678935943859974864032027 -0.70624617255763935980996481947476
        0.082213596293550800231490447448828""",
    "kahanli8": """
        0.13020248308889008087881763226255 0.56116298177510838456196440770159 -0.38947496264484728640807859864594
        0.15884190655515560089621074563038 -0.39590389413323757733623153902219 0.18453964097831570709183254138857
        0.25837438768632204729397910986043 0.29501172360931029887096624049197""",
    "kahanli10": """
        0.12282427644721572093644573727053 0.77644680890696440341980388988533 0.14881514553734297478899585676983
        -0.1723912595350606724884558207522 -0.54745995781852463787280360342191 0.14512932327306927479175267627145
        -0.31564555153114460562356480298645 0.12086865089833871979273652146407 0.17910277517866344258099630440484
        0.44263408813993245948543900062922 -0.81935337479593697464342249535197 0.13445474141752884044726870255067
        0.64444239169016646538042837801249 -0.7193014937020161255737168718684 0.21036902497348664609979865965817
        -0.26908194941570516294303564985075""",
}

_CUBE, _FOUR = 2.0 ** (1.0 / 3.0), 4.0 ** (1.0 / 3.0)

# fmt: off
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
    "kahanli6": Scheme(6, _palindrome(_numbers("kahanli6")), "kahan1997composition"),
    "kahanli8": Scheme(8, _palindrome(_numbers("kahanli8")), "kahan1997composition"),
    "kahanli10": Scheme(10, _palindrome(_numbers("kahanli10")), "kahan1997composition"),
}
# fmt: on


@jit
def both(a, b):
    return a + b


def in_a_row(step, state, steps):
    """The step function of several steps in a row; residuals and counted torque evaluations are
    those of all stages.

    It is written out in one function: functions nested in functions would be compiled over and
    over.
    """
    notes = {
        name: f"{how}(s.{name}, n.{name})"
        for name, how in (("residual", "larger"), ("calls", "both"))
        if name in state._fields
    }
    first, *rest = (f"step({c!r} * h, t, s, body, torque, p)" for c in steps)
    lines = [f"s = {first}"]
    for c, following in zip(steps, rest, strict=False):
        lines += [f"t = t + {c!r} * h", f"s = joined(s, {following})"]
    joined = constructor(state, "s, n", {"larger": larger, "both": both}, **notes)
    return generated(
        __name__, "row", "h, t, s, body, torque, p", lines, "s", step=step, joined=joined
    )


def compose(method: str | Method, scheme: Any) -> Method:
    """A symmetric second-order method, composed to a higher order.

    Parameters
    ----------
    method : str or Method
        Symmetric, of order 2, without memory of earlier steps.
    scheme : Scheme or str
        "yoshida4", "suzuki4", "yoshida6", "yoshida8", "kahanli6", "kahanli8" or "kahanli10".
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
    name = "own" if own else scheme
    if abs(sum(steps) - 1.0) > 1e-14 or tuple(steps) != tuple(reversed(steps)):
        raise InputError(
            f"the steps of a composition must be a palindrome with the sum 1, got {tuple(steps)}; correct them"
        )
    if not base.symmetric:
        raise InputError(
            f"only a symmetric method gains from a composition, and {base.name} is not one; use VLV, LP2, ..."
        )
    if base.multistep:
        raise InputError(
            f"{base.name} uses the previous step, and the steps of a composition differ; use a one-step method"
        )
    if base.order != 2:
        raise InputError(
            f"the composition {name} is made for methods of order 2, and {base.name} has order {base.order}; "
            "use a method of order 2"
        )
    flight, rotors, system = base.flight, base.rotors, base.system
    return Method(
        f"{base.name}+{name}",
        in_a_row(base.step, base.state, steps),
        base.start,
        base.state,
        order,
        None if base.torques is None else len(steps) * base.torques,
        True,
        base.symplectic,
        base.conserves,
        tuple(max(order, free) for free in base.free_order),
        len(steps) * (base.solves or 0),
        False,
        base.family,
        cite=cite,
        builds_on=base.references,
        flaw=base.flaw,
        summary=f"{base.name} composed to order {order} ({name}, {len(steps)} stages)",
        # explicit steps see a velocity a little ahead of their kick: they are not symmetric under a
        # torque that looks at it
        omega_order=None if base.torques is None else 2,
        flight=flight and (lambda _: compose(flight(base), scheme)),
        system=system and (lambda _, bodies: compose(system(base, bodies), scheme)),
        row=base.row,
        rotors=rotors and (lambda _, n: compose(rotors(base, n), scheme)),
        adapt=base.adapt and (lambda torque, body: compose(base.suited(torque, body), scheme)),
    )


for name in SCHEMES:
    suffix(name)(lambda base, scheme=name: compose(base, scheme))
