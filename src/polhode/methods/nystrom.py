"""Splittings of high order into kicks and free motions.  Blanes & Moan 2002, J. Comput. Appl. Math.
142.

H = T + V, with T quadratic in the momentum and V a function of the attitude alone.  So
{V, {V, {V, T}}} = 0 on T*SO(3), as in a vector space, and the splittings for Runge-Kutta-Nystrom
problems apply.  They have fewer order conditions and smaller errors than general ones.  A step is a
palindrome of kicks b_i h and drifts a_i h:

    EXACT-RKN4       b1 a1 b2 a2 b3 a3 b4 a3 ... b1            order 4,  6 stages   (SRKN_6^b)
    EXACT-RKN6       b1 a1 ... b6 a6 b6 ... a1 b1              order 6, 11 stages   (SRKN_11^b)
    EXACT-RKN6-14    a1 b1 ... a7 b7 a8 b7 ... b1 a1           order 6, 14 stages   (SRKN_14^a)

A kick is the torque at one attitude, a drift is the exact free motion (`exact_flow`).  The order
depends on this: a drift with an error of its own, even a symplectic one such as MR2's five
rotations, introduces brackets that the order conditions do not cover, and the splitting falls back
to the order of its drift.  With the rotations about the axes, the flows of four parts of H, schemes
for general splittings are used instead.  They alternate between a first-order step made of the
parts in turn and its adjoint:

    MR2-BM4          order 4, 6 kicks and 30 rotations   (S_6)
    MR2-BM6          order 6, 10 kicks and 50 rotations  (S_10)

The last kick of a step and the first of the next share their torque, so n stages need n torque
evaluations.  The coefficients solve the order conditions to 32 digits
(benchmarks/splitting_coefficients.py).
"""

from functools import cache

from polhode.core.generated import generated
from polhode.core.jit import jit
from polhode.core.kicks import KickedState, start
from polhode.methods._kicked import in_flight, in_system, with_rotors
from polhode.methods._method import Method, variant
from polhode.methods._registry import register
from polhode.methods.axis_splitting import ROTATIONS, ROTATIONS_BESIDE_ROTORS
from polhode.methods.exact_flow import DRIFTS, free_drift, gyrostat, rotor_drift, triaxial

# the free half of each row: kicks b and drifts a, all but the last of which follow from sums of one
COEFFICIENTS = {
    "RKN4": {
        "b": """
        0.082984406417405018838347478942251 0.39630980149836807709491152826373 -0.039056304922348435170865290765400
        """,
        "a": """
        0.24529895718427116260393242600140 0.60487266571107997496089269764308""",
    },
    "RKN6-11": {
        "b": """
        0.041464998518262843298778133918203 0.19812867191806654113672647318512 -0.040006192104152686888828363534165
        0.075253984301580341127878878525316 -0.011511387420687770062443201501422
        """,
        "a": """
        0.12322977594627115156108638034021 0.29055379779955827036641416932408 -0.12704921262541691566250505382969
        -0.24633176106207540419497348910142 0.35720887279592775261986034962064""",
    },
    "RKN6-14": {
        "a": """
        0.037859319840610941447021178987069 0.10263563310243655284708225093930 -0.025867888266558333163946960362363
        0.31424140307144643414714253569484 -0.13014445951741511384961507852964 0.10641770036954136802228013927812
        -0.0087942431285102043940694284394557
        """,
        "b": """
        0.091719152624462017981183228179950 0.18398317000500489849147656467732 -0.056534365832889104395277044817363
        0.0049146887747118856402056164634106 0.14376112716836168238737452999323 0.32856769374680414020048125763026""",
    },
    "BM4": {
        "b": """
        0.079203696431195669433663495888273 0.35317290604977398848106131157311 -0.042065080357719535368110298302517
        """,
        "a": """
        0.20951510661336202127407264002950 -0.14385177317981800827511505785653""",
    },
    "BM6": {
        "b": """
        0.050262764400392686021221654401860 0.41351430042834381506306372013585 0.045079889794398062968897052124231
        -0.18805485381956891479912848892060 0.54196067845078013483141474093379
        """,
        "a": """
        0.14881644790104323192090100553529 -0.13238586576778364744884542659831 0.067307604692184458150257896592944
        0.43266640257817359752766797088288""",
    },
}


def row(text, twice):
    """A whole row from its free half: the last one makes the sum 1, and stands in the middle once
    or twice."""
    half = [float(part) for part in text.split()]
    return (
        [*half, *[0.5 - sum(half)] * 2, *reversed(half)]
        if twice
        else [*half, 1.0 - 2.0 * sum(half), *reversed(half)]
    )


def rows(name):
    """(kicks, drifts): the row with one free number more has its middle to itself, and is the outer
    one, in all but RKN6-11."""
    text = COEFFICIENTS[name]
    outer, inner = text.values()
    twice = name == "RKN6-11"
    rows = dict(zip(text, (row(outer, twice), row(inner, not twice)), strict=True))
    return rows["b"], rows["a"]


# --- stages, in a row -----------------------------------------------------------------------------


def stage(move):
    """A move over the time `length` and the kick of b h after it, by the torque at t + c h; a torque
    that looks at the velocity gets that of the middle of the kick, which is `ahead` h of the torque
    before."""

    @jit
    def one(steps, length, b, ahead, c, h, t, s, body, torque, p):
        moves = torque.kicks
        s = moves.drift(move, steps, length, s, body)
        return moves.kick(b * h, moves.pull(t + c * h, ahead * h, s, body, torque, p))

    return one


def in_turn(move, stages):
    """The function of several stages in a row, given as (steps, a, b, ahead, c).  Written out in one
    function: a loop would not vectorise over bodies, and functions nested in functions are compiled
    over and over."""
    lines = [
        f"s = one({steps}, {a!r} * h, {b!r}, {ahead!r}, {c!r}, h, t, s, body, torque, p)"
        for steps, a, b, ahead, c in stages
    ]
    return generated(__name__, "row", "h, t, s, body, torque, p", lines, "s", one=stage(move))


def kicks_first(move, kicks, drifts, steps=None):
    """The step b1 a1 b2 ... a1 b1: its first kick has the torque of the step before.  `steps`: what
    the moves get, as source text, where that is not a_i h."""
    last, stages = len(drifts) - 1, []
    for i, a in enumerate(drifts):
        b = kicks[i + 1]
        ahead, c = (b, 1.0) if i == last else (0.5 * b, sum(drifts[: i + 1]))
        stages.append((steps[i] if steps else f"{a!r} * h", a, b, ahead, c))
    first, rest = kicks[0], in_turn(move, stages)

    @jit
    def step(h, t, s, body, torque, p):
        moves = torque.kicks
        s = moves.kick(first * h, moves.fresh(s))
        return moves.unit(rest(h, t, s, body, torque, p))

    return step


def drifts_first(move, kicks, drifts):
    """The step a1 b1 a2 ... b1 a1."""
    *before, last = drifts
    rest = in_turn(
        move,
        [
            (f"{a!r} * h", a, b, 0.5 * b, sum(drifts[: i + 1]))
            for i, (a, b) in enumerate(zip(before, kicks, strict=True))
        ],
    )

    @jit
    def step(h, t, s, body, torque, p):
        moves = torque.kicks
        s = rest(h, t, moves.fresh(s), body, torque, p)
        return moves.unit(moves.drift(move, last * h, last * h, s, body))

    return step


# --- over the exact free motion -------------------------------------------------------------------


def over_exact(name, scheme, order, arranged, aliases, best_for=""):
    """Register a splitting over the exact free motion, with a step for each kind of body."""
    kicks, drifts = rows(scheme)
    steps = {drift: arranged(drift, kicks, drifts) for drift in DRIFTS}

    @cache
    def step_with_rotors(drift):
        return arranged(drift, kicks, drifts)

    def made_for(body):
        drift = rotor_drift(body)
        return {
            "step": steps[free_drift(body)],
            "rotors": with_rotors(lambda: step_with_rotors(drift)),
        }

    torques = len(kicks) - (arranged is kicks_first)
    entry = Method(
        name,
        steps[triaxial],
        start,
        KickedState,
        order,
        torques,
        symmetric=True,
        symplectic=True,
        conserves=("momentum", "energy"),
        free_order=(float("inf"), float("inf")),
        family="splitting",
        aliases=aliases,
        cite="blanes2002practical",
        builds_on=("vanzon2007numerical",),
        best_for=best_for,
        omega_order=2,
        summary=f"Runge-Kutta-Nystrom splitting of order {order} over the exact free motion, {torques} stages",
        flight=in_flight,
        system=in_system,
        rotors=with_rotors(lambda: step_with_rotors(gyrostat)),
        adapt=lambda torque, body: variant(entry, **made_for(body), adapt=None),
    )
    return register(entry)


over_exact(
    "EXACT-RKN4",
    "RKN4",
    4,
    kicks_first,
    ("EXACT-RKN4-6", "SRKN6b"),
    best_for="torques of the attitude alone, and long runs in which the energy must not drift",
)
over_exact(
    "EXACT-RKN6",
    "RKN6-11",
    6,
    kicks_first,
    ("EXACT-RKN6-11", "SRKN11b"),
    best_for="torques of the attitude alone, with errors below 1e-6",
)
over_exact("EXACT-RKN6-14", "RKN6-14", 6, drifts_first, ("SRKN14a",))


# --- over rotations about the axes ----------------------------------------------------------------


def rotations_between(turn1, turn2, turn3):
    """Rotations 1, 2, 3 and 3, 2, 1 between two kicks, over the first and the second of two
    steps."""

    @jit
    def move(steps, q, Pi, body):
        lead, trail = steps
        q, Pi = turn1(lead, q, Pi, body)
        q, Pi = turn2(lead, q, Pi, body)
        q, Pi = turn3(lead + trail, q, Pi, body)
        q, Pi = turn2(trail, q, Pi, body)
        q, Pi = turn1(trail, q, Pi, body)
        return q, Pi, 0.0

    return move


def over_rotations(name, scheme, order):
    """Register a splitting over rotations about the axes: b1 = c1, a1 = c1 + c2, b2 = c2 + c3, ... with steps c_i of a
    first-order method, which is a kick and the rotations 1, 2, 3, and its adjoint in turn."""
    kicks, drifts = rows(scheme)
    pairs, lead = [], kicks[0]
    for b, a in zip(kicks[1:], drifts, strict=True):
        pairs.append(f"({lead!r} * h, {a - lead!r} * h)")
        lead = b - (a - lead)

    def step(turns):
        return kicks_first(rotations_between(*turns), kicks, drifts, pairs)

    register(
        Method(
            name,
            step(ROTATIONS),
            start,
            KickedState,
            order,
            len(drifts),
            symmetric=True,
            symplectic=True,
            conserves=("momentum",),
            free_order=(order, order),
            family="splitting",
            cite="blanes2002practical",
            builds_on=("mclachlan1993explicit",),
            omega_order=2,
            flight=in_flight,
            system=in_system,
            rotors=with_rotors(cache(lambda: step(ROTATIONS_BESIDE_ROTORS))),
            summary=f"Splitting of order {order} into kicks and rotations about the axes 1, 2, 3",
        )
    )


over_rotations("MR2-BM4", "BM4", 4)
over_rotations("MR2-BM6", "BM6", 6)
