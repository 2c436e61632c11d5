"""A million steps of exported C, by two compilers: the bits of polhode."""

from functools import cache

import pytest

from c_code import COMPILERS, compiled
from test_export import NAMES, PROBLEMS, follow, own, same, written

STEPS = 1_000_000
FEW = ("LP2", "NMB")  # in the default run
MISSING = {"cc": "needs a C compiler", "zig": "needs clang: pip install ziglang"}


@cache
def found(method):
    """Where polhode gets to, by problem; None where it does not get so far."""
    return {problem.name: own(method, problem, STEPS) for problem in PROBLEMS}


def differences(compiler, method):
    """The problems where C does not get to the bits of polhode."""
    problems = [problem for problem in PROBLEMS if found(method)[problem.name] is not None]
    if not problems:
        pytest.skip(f"polhode does not get through {STEPS} steps of any problem")
    texts = [written(method, problem, f"at{i}") for i, problem in enumerate(problems)]
    library = compiled(texts, "-O2", compiler=compiler)
    return [
        problem.name
        for i, problem in enumerate(problems)
        if not same(follow(library, f"at{i}", problem, STEPS), found(method)[problem.name])
    ]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "method",
    [name if name in FEW else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
)
def test_c_has_the_bits_of_polhode_after_a_million_steps(method, compiler):
    if COMPILERS[compiler] is None:
        pytest.skip(MISSING[compiler])
    assert differences(compiler, method) == []
