"""Methods in JavaScript, run by node: their results are polhode's, bit for bit."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import polhode
from javascript_code import Start, followed, needs_node, run, start_of
from polhode import flight, problems
from polhode.core.fma import rounded_once
from polhode.exports.module import export_obstacle

PROBLEMS = [problems.get(name) for name in ("slow-top", "coulomb-wall", "stress", "free-body")]
METHODS = [one.name for one in polhode.methods.everything() if not export_obstacle(one)]
MADE = ["newmark(0.6)", "taylor(8)", "MR2-312-cay", "LP2+yoshida4", "VLV+ep", "taylor3+ep"]
NAMES = [*METHODS, *MADE]
# every method on one of the problems, those that are recommended on all
PAIRS = [(name, PROBLEMS[i % 4]) for i, name in enumerate(NAMES)] + [
    (name, problem) for name in ("LP2", "NMB", "EXACT") for problem in PROBLEMS
]  # fmt: skip
STEPS = 20


def written(method, problem, **options):
    """The file of a method for a problem."""
    torque = problem.torque(problem.step)
    return polhode.export(method, "javascript", torque=torque, body=problem.body, **options)


def own(method, problem, steps, **options):
    """The motion after so many steps by polhode."""
    span = (0.0, steps * problem.step)
    end = problem.integrate(method, t_span=span, every="end", **options)
    return np.concatenate([end.quaternion[-1], end.omega[-1]])


def same(a, b):
    """Whether two motions have the same bits; a quaternion may have the other sign."""
    return np.array_equal(a, b) or np.array_equal(np.array(a) * ([-1.0] * 4 + [1.0] * 3), b)


@pytest.fixture(scope="module")
def motions():
    """All pairs in one process."""
    return followed([(written(*pair), start_of(pair[1]), STEPS, None) for pair in PAIRS])


@needs_node
@pytest.mark.parametrize("i", range(len(PAIRS)), ids=lambda i: f"{PAIRS[i][0]}-{PAIRS[i][1].name}")
def test_javascript_has_the_bits_of_polhode(motions, i):
    assert same(motions[i], own(*PAIRS[i], STEPS, compiled=False))


@needs_node
@pytest.mark.slow
def test_a_million_steps():
    names, steps = ("LP2", "VLV", "EXACT"), 1_000_000
    pairs = [(name, problem) for name in names for problem in PROBLEMS]
    motions = followed([(written(*pair), start_of(pair[1]), steps, None) for pair in pairs])
    for pair, motion in zip(pairs, motions, strict=True):
        assert same(motion, own(*pair, steps)), pair


@needs_node
def test_a_torque_written_in_javascript():
    top = problems.get("slow-top")
    code = "(t, R, Om) => [-20 * R[1][2], 20 * R[0][2], 0]"
    torque = polhode.torque(lambda t, R: (-20.0 * R[1][2], 20.0 * R[0][2], 0.0), form="tuple")
    names = ["LP2", "NMB", "RKMK4", "AKW", "DOP853"]
    motions = followed(
        [(polhode.export(name, "javascript"), start_of(top), STEPS, code) for name in names]
    )
    for name, motion in zip(names, motions, strict=True):
        end = polhode.integrate(
            top.body, torque, (0.0, STEPS * top.step), top.step, name, rotation0=top.rotation0, scalar_first=False,
            omega0=top.omega0, every="end", compiled=False,
        )  # fmt: skip
        assert same(motion, np.concatenate([end.quaternion[-1], end.omega[-1]]))


BODY = polhode.RigidBody([1.0, 2.0, 2.5], mass=10.0)
ALOFT = {
    "rotation0": (0.3, 0.2, 0.0), "omega0": (0.1, 2.0, 0.3), "position0": (2.0, 0.1, 0.0), "velocity0": (0.0, 1.9, 0.3)
}  # fmt: skip
BRAKED = (
    "(t, R, Om, x, v) => ({ torque: Om.map((w) => -0.2 * w), acceleration: x.map((a) => -3 * a) })"
)


@needs_node
def test_bodies_in_flight():
    names, h = ["LP2", "EXACT-RKN4", "VLV", "DOP853", "LP2+yoshida4"], 0.02
    q = polhode.rotations.as_quaternion(ALOFT["rotation0"], False, "rotation0").tolist()
    motion = [q, *(ALOFT[key] for key in ("omega0", "position0", "velocity0"))]
    start = Start(BODY.moments.tolist(), h, motion)
    pulled = flight.gravity(8.0, BODY) + flight.drag(linear=0.1)
    spring = polhode.Force(
        lambda t, x, v, R: (-30.0 * x[0], -30.0 * x[1], -30.0 * x[2]), form="tuple"
    )
    braked = polhode.Load(polhode.torques.damping(0.2), spring)
    whole = [polhode.export(name, "javascript", torque=pulled, body=BODY) for name in names]
    users = {"flight": True, "frame": "body"}
    mine = [polhode.export(name, "javascript", **users) for name in names]
    rounded = [polhode.export(name, "javascript", precision="float", **users) for name in names]
    motions = followed(
        [(text, start, STEPS, None) for text in whole]
        + [(text, start, STEPS, BRAKED) for text in [*mine, *rounded]]
    )
    for i, name in enumerate(names):
        for load, found, most in ((pulled, 0, 0.0), (braked, 5, 1e-13), (braked, 10, 2e-5)):
            end = polhode.integrate(
                BODY, load, (0, STEPS * h), h, name, every="end", compiled=False, **ALOFT
            )
            right = np.concatenate([end.quaternion, end.omega, end.position, end.velocity], axis=-1)
            assert np.abs(np.array(motions[found + i]) - right[-1]).max() <= most


@needs_node
def test_single_precision_and_no_fma():
    top = problems.get("slow-top")
    names = ["LP2", "NMB", "EXACT", "DMV4", "CG4", "taylor3", "EXACT-RKN4", "AKW"]
    plain = [written(name, top, fma=False) for name in names]
    rounded = [written(name, top, precision="float") for name in names]
    assert not any("fma(" in text for text in plain)
    motions = followed([(text, start_of(top), STEPS, None) for text in [*plain, *rounded]])
    for name, without, single in zip(names, motions[:8], motions[8:], strict=True):
        right = own(name, top, STEPS, compiled=False)
        assert np.abs(np.array(without) - right).max() < 1e-13
        single = np.array(single)
        assert np.abs(single - right).max() < 2e-5
        # numbers of single precision; the velocity of some methods is computed from others
        assert np.array_equal(single, single.astype(np.float32))


def hard():
    """Numbers for which a b + c is hard to round: near ties, with cancellation, small and large."""
    rng = np.random.default_rng(20)
    for _ in range(4000):
        a, b = rng.uniform(-2.0, 2.0, 2) * 2.0 ** rng.integers(-40, 40, 2)
        p = a * b
        yield a, b, float(rng.uniform(-2.0, 2.0)) * 2.0 ** int(rng.integers(-160, 160))
        yield a, b, -p * (1.0 + float(rng.integers(-3, 4)) * 2.0**-52)
        # a product with few bits, half a unit of c and a little
        c = float(rng.integers(2**52, 2**53))
        half, little = (
            float(rng.choice([0.5, -0.5, 0.25, -0.25])),
            2.0 ** -int(rng.integers(20, 60)),
        )
        yield half * (1.0 + little), 1.0 + float(rng.choice([-1.0, 0.0, 1.0])) * 2.0**-50, c
        yield half * (1.0 + little), 1.0 - little, 2.0 ** int(rng.integers(50, 54))
        tiny = 2.0 ** -int(rng.integers(280, 500))
        yield a * tiny, b * tiny, p * tiny * tiny * float(rng.uniform(-2.0, 2.0))
    for a in (0.0, -0.0, 1.5, math.inf, math.nan):
        for b in (0.0, -0.0, -2.5, -math.inf):
            yield from ((a, b, c) for c in (0.0, -0.0, 3.75, math.inf, math.nan))


@needs_node
def test_fma_rounds_once():
    text = polhode.export("LP2", "javascript") + "export { fma };"
    triples = [one for one in hard() if all(map(math.isfinite, one))]
    script = """
        import { readFileSync } from "node:fs";
        import { fma } from "./LP2.mjs";
        const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
        const text = (x) => Object.is(x, -0) ? "-0.0" : String(x);
        console.log(JSON.stringify(given.map(([a, b, c]) => text(fma(a, b, c)))));
    """
    found = run(script, **{"LP2.mjs": text, "tasks.json": json.dumps(triples)})
    normal = 0
    for triple, one in zip(triples, found, strict=True):
        right = rounded_once(*triple)
        if right == 0.0 or abs(right) > 1e-290:
            assert (
                math.copysign(1.0, float(one)) == math.copysign(1.0, right) and float(one) == right
            )
            normal += right != 0.0
    assert normal > 15000


@needs_node
def test_fma_rounds_once_in_single_precision():
    rng = np.random.default_rng(21)
    text = polhode.export("LP2", "javascript", precision="float") + "export { fma };"
    given = rng.uniform(-2.0, 2.0, (20000, 3)) * 2.0 ** rng.integers(-20, 20, (20000, 3))
    given[::2, 2] = rng.integers(2**23, 2**24, 10000)  # and half a unit, nearly
    given[::2, 0] = 0.5 * (1.0 + 2.0 ** -rng.integers(12, 24, 10000))
    given[::2, 1] = 1.0 + rng.integers(-1, 2, 10000) * 2.0**-22
    given = given.astype(np.float32).astype(float)
    script = """
        import { readFileSync } from "node:fs";
        import { fma } from "./LP2.mjs";
        const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
        console.log(JSON.stringify(given.map(([a, b, c]) => fma(a, b, c))));
    """
    found = run(script, **{"LP2.mjs": text, "tasks.json": json.dumps(given.tolist())})
    for (a, b, c), one in zip(given.tolist(), found, strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        near = [np.nextafter(np.float32(one), np.float32(to)) for to in (-np.inf, np.inf)]
        errors = [abs(Fraction(float(other)) - exact) for other in near]
        assert abs(Fraction(one) - exact) <= min(errors)
        assert np.float32(one) == one
