"""Method states made from other states: what suffixes and compositions need."""

from functools import lru_cache
from typing import NamedTuple, get_type_hints

from polhode.core.loops import fixed as loops
from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.rotors import count, rotors
from polhode.core.vec import matrix, qrotate, sub, times

VELOCITY = {
    "Om": loops.velocity_from_Om,
    "om": loops.velocity_from_om,
    "Pi": loops.velocity_from_Pi,
    "pi": loops.velocity_from_pi,
}

# how a state's account of attitude and momentum reads when the body has been turned to attitude q
# and body momentum m, with the spatial momentum as it was; everything else is kept
TURNED = {
    "q": "q",
    "R": "matrix(q)",
    "Om": "times(body.Iinv, m)",
    "om": "qrotate(q, times(body.Iinv, m))",
    "Pi": "m",
}
MAPS = {"times": times, "qrotate": qrotate, "matrix": matrix}  # what these expressions use
# the same where the spatial momentum has changed too
MOVED = {**TURNED, "pi": "qrotate(q, m) if change else n.pi"}


def velocity_of(state):
    """The function `velocity(s, body)` for a state class: body angular velocity from whichever
    field has it."""
    kept = next(name for name in VELOCITY if name in state._fields)
    return velocity_beside(count(state)) if kept == "Pi" and count(state) else VELOCITY[kept]


@lru_cache(32)
def velocity_beside(n):
    """The same from the total momentum of a body with n rotors."""
    total = rotors(n).total

    @jit
    def velocity(s, body):
        return times(body.Iinv, sub(s.Pi, total(s.rotors, body)))

    return velocity


def extended(state, **fields):
    """A state class with further fields."""
    return NamedTuple("ExtendedState", [*get_type_hints(state).items(), *fields.items()])


def constructor(make, arguments, scope=MAPS, **expressions):
    """`build(arguments)`: a state of class `make`; fields without an expression are those of the
    argument n.  `scope`: the functions that the expressions use."""
    fields = ", ".join(expressions.get(name, f"n.{name}") for name in make._fields)
    return generated(__name__, "build", arguments, (), f"make({fields})", make=make, **scope)
