"""Torques of users in exported files: odd names, odd code, and code that cannot be exported."""

import math
import types

import numpy as np
import pytest

import cpp_code
import csharp_code
import javascript_code
import polhode
import rust_code
from c_code import COMPILER, MANY, Stepper, compiled
from test_export import same

STEPS = 20
MOTION = types.SimpleNamespace(
    body=polhode.RigidBody([1.0, 2.0, 2.5]), step=0.01, rotation0=None, omega0=np.array([0.1, 2, 0.3])
)  # fmt: skip
EOF = 0.7
_ = 1.25
numbers = {"a": 0.7}
WIDE = 10**400


def LP2_step(double, linux):
    """A comment /* inside */ another, with a backslash \\"""
    vec3 = double * linux
    return vec3 + double


def vec3(__x):
    return __x * EOF


def main(t, R):
    """Names that mean something else in other languages."""
    double, double_, register, NULL = R[0][0], R[1][1], 0.5 * t, R[0][1] + _
    var = (double * register, NULL, double_)
    asm = unsafe = arguments = LP2_step(NULL, var[2])
    M_PI, DBL_MAX, xor, usize = vec3(asm), unsafe - 1.0, arguments * 2.0, double_ + 0.25
    Math, Vec3, stdin, _Bool = M_PI * DBL_MAX, xor - usize, double_ * 0.1, double + register
    return (Math + Vec3, stdin - _Bool, LP2_step(var[0], double_))


def counts(t, R):
    """Whole numbers, negative ones too; a counter that is changed, and one that is read later."""
    x = 0.0
    for i in range(4):
        x = x + (i - 1) * R[0][0] + (7 // 2) * (-7 % 3) + 2**-1 * i
        if i % 2 == 0:
            x = x - R[-i][2] / 3
    for j in range(3):
        j = j + 1
        x = x + j
    for k in range(5):  # noqa: B007
        x = x * 0.5
    return (x, 0.01 * k, t)


def truths(t, R):
    """Comparisons, truth values and constants that are not finite."""
    above = R[0][0] > 0.5
    chosen = above and (t < 0.105 or not above)
    x = 1.0 if 0.0 <= t < 0.105 <= R[0][0] else min(R[1][1], math.inf)
    return (x if chosen else 0.5, R[0][1] if math.nan < 1.0 else 0.1, max(R[0]) + abs(-3))


TORQUES = [main, counts, truths]


def by_polhode(torque):
    run = polhode.integrate(
        MOTION.body, torque, (0.0, STEPS * MOTION.step), MOTION.step, "LP2", omega0=MOTION.omega0, every="end",
        compiled=False,
    )  # fmt: skip
    return np.concatenate([run.quaternion[-1], run.omega[-1]])


def by_c(texts):
    found = []
    for text in texts:
        library = compiled([text + MANY.format(name="LP2", real="double")])
        one = Stepper(library, "LP2", MOTION.body.moments)
        one.start(MOTION.step, (0, 0, 0), MOTION.omega0)
        one.many(MOTION.step, STEPS)
        found.append(one.motion())
    return found


def by_cpp(texts):
    cases = [cpp_code.case(i, text, MOTION, STEPS) for i, text in enumerate(texts)]
    return cpp_code.motions(cases)


def by_rust(texts):
    return rust_code.motions(rust_code.program([(one, MOTION, STEPS, "", "f64") for one in texts]))


def by_javascript(texts):
    start = javascript_code.Start([1, 2, 2.5], MOTION.step, [[0, 0, 0, 1], [0.1, 2, 0.3]])
    return javascript_code.followed([(text, start, STEPS, None) for text in texts])


def by_csharp(texts):
    cases = [csharp_code.case(i, text, MOTION, STEPS) for i, text in enumerate(texts)]
    return csharp_code.motions(cases)


LANGUAGES = {  # what compiles and runs files, and whether it is there
    "c": (by_c, COMPILER),
    "cpp": (by_cpp, cpp_code.COMPILER),
    "rust": (by_rust, rust_code.COMPILER),
    "javascript": (by_javascript, javascript_code.NODE),
    "csharp": (by_csharp, csharp_code.COMPILER),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_odd_torques_have_the_bits_of_polhode(language):
    follow, there = LANGUAGES[language]
    if not there:
        pytest.skip(f"nothing here compiles or runs {language}")
    torques = [polhode.torque(one, form="tuple") for one in TORQUES]
    found = follow([polhode.export("LP2", language, torque=one) for one in torques])
    for torque, motion in zip(torques, found, strict=True):
        assert same(np.array(motion, float), by_polhode(torque)), torque.name


def no_return(t, R):
    if R[0][0] > 0.0:
        return (1.0, 0.0, 0.0)


def returns_in_a_loop(t, R):
    for i in range(3):
        if R[0][i] > 0.0:
            return (1.0, 0.0, 0.0)


def known_in_a_loop(t, R):
    for i in range(3):
        y = i * R[0][0]
    return (y, 0.0, 0.0)


def branches(t, R):
    n = 0
    if t > 0.0:
        n = 1
    return (R[n][0], 0.0, 0.0)


def long_numbers(t, R):
    x = 0.0
    for i in range(4):
        x = x + i * 10000000000
    return (x, 0.0, 0.0)


@pytest.mark.parametrize("language", ["c", "wasm"])
@pytest.mark.parametrize(
    ("torque", "words"),
    [
        (no_return, "without `return`"),
        (returns_in_a_loop, "without `return`"),
        (known_in_a_loop, "'y' gets its value in a loop; give it one before"),
        (branches, "has to be known"),
        (long_numbers, "10000000000 is too large for a whole number"),
        (lambda t, R: (math.log(2.0 + t, 2.0), 0.0, 0.0), "too many arguments or too few"),
        (lambda t, R: (numbers["b"], 0.0, 0.0), "there is no such item"),
        (lambda t, R: (R[0][0] * WIDE, 0.0, 0.0), "too large for a float"),
        (lambda t, R: (1.0, 2.0), "torque '<lambda>' returned 2 numbers; return three"),
    ],
)
def test_what_is_wrong_is_told(torque, words, language):
    with pytest.raises(polhode.InputError, match=words):
        polhode.export("LP2", language, torque=polhode.torque(torque, form="tuple"))
