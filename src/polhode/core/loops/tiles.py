"""The loops over many bodies: tiles of lanes, one body in each lane, the same step as for one body.

A tile is a flat array in which component i of lane k is at i * LANES + k: first the method's state,
then whether the body is well, then moments of inertia and torque parameters if every body has its own.
The outer loop is over steps, the inner one over lanes.  The inner loop has no branch that depends on
the body, so that LLVM vectorises it, and the tile stays in the nearest cache during a call.  Several
threads call the loops at once, for different ranges of tiles.

`advance` leaves out branches (see TOGETHER) and marks the lanes that need them or have failed;
`one_by_one` then repeats these lanes with the whole step.  The numbers are those of `loops.march`.
"""

from polhode.core.few import IN_PLACE
from polhode.core.jit import jit
from polhode.core.lanes import ALONE
from polhode.core.loops.fixed import DONE, LARGEST_ANGLE, outcome
from polhode.core.newton import NEARLY, ROUND_OFF, polish
from polhode.core.closed.gyrostat_motion import in_parts
from polhode.core.closed.short_motion import further, no_further
from polhode.core.scalars import sinc_cos, sinc_cos_short

# bound per method:     step, start, clock, load_state, store_state, velocity, residual
# bound per motion:     launch, observe, flaw, load_motion, store_motion
# bound per torque:     torque
# bound per ensemble:   LANES, WELL (the place of the component that says whether all is well), real (float64 or float32), and
#                       what all bodies have in common or what each has of its own: common_body(moments, 0), this_body(common,
#                       tile, lane), likewise for parameters
step = start = clock = load_state = store_state = velocity = residual = None
launch = observe = flaw = load_motion = store_motion = None
torque = LANES = WELL = real = common_body = this_body = common_parameters = these_parameters = None
load_body = load_parameters = own_body = own_parameters = quantity = None


@jit
def no_polish(equation, x, data, residual):
    """In place of `newton.polish`: a residual that is not small yet is reported as none at all."""
    return x, residual * residual if residual <= NEARLY else 1.0


# replacements without branches; later ones use the earlier
TOGETHER = (
    *ALONE,
    *IN_PLACE,
    (polish, no_polish),
    (further, no_further),
    (in_parts, no_further),
    (sinc_cos, sinc_cos_short),
)


@jit
def nothing(values, k):
    """Nothing is common to all bodies."""
    return ()


@jit
def the_same(common, tile, lane):
    """Each body has what all have."""
    return common


@jit
def each(i):
    """Every body has its own."""
    return i


@jit
def shared(i):
    """All bodies have the same."""
    return 0


@jit
def healthy(h, Om, flaw, residual):
    """1 if a step of size h came out well, else 0: the test of `loops.march`, without a branch."""
    angle = abs(h) * (abs(Om[0]) + abs(Om[1]) + abs(Om[2])) + flaw
    return (1.0 if angle < LARGEST_ANGLE else 0.0) * (1.0 if residual <= ROUND_OFF else 0.0)


def begin(first, last, h, t, motions, z, moments, parameters):
    """The method's own state of the bodies first, ..., last - 1, from the motions, one row for each
    body."""
    h, t, same_body, same_p = (
        real(h),
        real(t),
        common_body(moments, 0),
        common_parameters(parameters, 0),
    )
    for i in range(first, last):
        tile, lane = z[i // LANES], i % LANES
        # the last tile is filled up with the last body
        motion = load_motion(motions, min(i, len(motions) - 1))
        body, p = this_body(same_body, tile, lane), these_parameters(same_p, tile, lane)
        store_state(launch(start, h, t, motion, body, torque, p), tile, lane)
        tile[WELL + lane] = 1.0


def advance(first, last, count, k, grid, z, moments, parameters, before, reached):
    """`count` steps from step k on in the tiles first, ..., last - 1, up to one in which the
    component WELL is not 1 in every lane: the steps of that lane are of no use.

    reached[0] is the tile in work, `last` at the end; `before` has what was in that tile.
    """
    same_body, same_p = common_body(moments, 0), common_parameters(parameters, 0)
    for i in range(first, last):
        tile, well = z[i], 1.0
        reached[0] = i
        for j in range(len(before)):
            before[j] = tile[j]
        for j in range(count):
            t, h = clock(grid, k + j)
            t, h = real(t), real(h)
            for lane in range(LANES):
                body, p = this_body(same_body, tile, lane), these_parameters(same_p, tile, lane)
                new = step(h, t, load_state(tile, lane), body, torque, p)
                tile[WELL + lane] *= healthy(h, velocity(new, body), flaw(new), residual(new))
                store_state(new, tile, lane)
        for lane in range(LANES):
            well = min(well, tile[WELL + lane])
        if well != 1.0:
            return
    reached[0] = last


def one_by_one(bodies, count, k, grid, z, moments, parameters, why, reached):
    """The same steps for the given bodies alone; a step that fails ends the body's run, which keeps
    its last good state.

    why[i] and reached[i] say how the run of bodies[i] ended and which step would be its next.
    """
    same_body, same_p = common_body(moments, 0), common_parameters(parameters, 0)
    for i in range(len(bodies)):
        tile, lane = z[bodies[i] // LANES], bodies[i] % LANES
        body, p = this_body(same_body, tile, lane), these_parameters(same_p, tile, lane)
        s = load_state(tile, lane)
        why[i], reached[i] = DONE, k + count
        for j in range(count):
            t, h = clock(grid, k + j)
            h = real(h)
            new = step(h, real(t), s, body, torque, p)
            ended = outcome(h, velocity(new, body), flaw(new), residual(new))
            if ended != DONE:
                why[i], reached[i] = ended, k + j
                break
            s = new
        store_state(s, tile, lane)


def read(first, last, z, moments, motions):
    """The motions of the bodies in the tiles first, ..., last - 1."""
    same_body = common_body(moments, 0)
    for i in range(first * LANES, min(last * LANES, len(motions))):
        tile, lane = z[i // LANES], i % LANES
        s, body = load_state(tile, lane), this_body(same_body, tile, lane)
        store_motion(observe(s, velocity(s, body), body), motions, i)


def measure(t, motions, moments, parameters, out):
    """A quantity of each motion, at its own time; moments and parameters are (component, body)."""
    for i in range(len(out)):
        body, p = load_body(moments, own_body(i)), load_parameters(parameters, own_parameters(i))
        out[i] = quantity(t[i], load_motion(motions, i), body, p)
