"""Moves and interactions for some of the bodies of a system, from `first` to before `last`: what threads
share.  `bind` gives them the names that are None here; see `polhode.core.loops.system`.
"""

from polhode.core.loops.system import observed, outcome_of_all
from polhode.core.rows import BLOCKS, add_block
from polhode.core.systems import MOVES, Places, SystemState

# bound per method:       move
# bound per interaction:  torque, prepare, rows, act
move = torque = prepare = rows = act = load_state = velocity = None


def kick(first, last, c, z):
    MOVES.kick(c, SystemState(0.0, z[first:last], 0.0))


def drift(first, last, steps, length, z, body):
    """The largest residual."""
    return MOVES.drift(
        move, steps, length, SystemState(0.0, z[first:last], 0.0), body[first:last]
    ).residual


def fresh(first, last, z):
    MOVES.fresh(SystemState(0.0, z[first:last], 0.0))


def unit(first, last, z):
    MOVES.unit(SystemState(0.0, z[first:last], 0.0))


def show(first, last, ahead, z, body, s):
    some = Places(
        *(s.x[first:last], s.R[first:last], s.v[first:last], s.omega[first:last]),
        *(s.F[first:last], s.N[first:last]),
    )
    torque.show(ahead, z[first:last], body[first:last], some)


def feel(first, last, z, body, s):
    some = Places(
        *(s.x[first:last], s.R[first:last], s.v[first:last], s.omega[first:last]),
        *(s.F[first:last], s.N[first:last]),
    )
    torque.feel(z[first:last], body[first:last], some)


def outcome(first, last, h, residual, z, body):
    some = SystemState(residual, z[first:last], 0.0)
    return outcome_of_all(h, some, body[first:last], load_state, velocity)


def look(first, last, z, body, motions):
    some = motions[13 * first : 13 * last]
    observed(z[first:last], body[first:last], some, load_state, velocity)


def prepare_all(t, p, term):
    prepare(t, p, term)


def act_at_once(t, p, term):
    """An interaction that is not known as a sum over bodies."""
    act(t, p, term)


def act_in_block(first, last, t, p, term, forces, torques):
    return rows(t, first, last, p, term, forces, torques)


def add_blocks(first, last, begins, ends, forces, torques, places):
    """Add what each block gave to these bodies."""
    for b in range(BLOCKS):
        begin, end = max(first, begins[b]), min(last, ends[b])
        add_block(begin, end, forces[b], places.F)
        add_block(begin, end, torques[b], places.N)
