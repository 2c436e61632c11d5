"""Exported C#, compiled and run by Mono: its results are polhode's, bit for bit."""

import numpy as np
import pytest

import polhode
from csharp_code import COMPILER, case, motions
from polhode import problems
from test_export import NAMES, PAIRS, PROBLEMS, STEPS, own, same, weight

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs Mono and its C# compiler")
MAIN = ["LP2", "EXACT", "NMB", "VLV+ep", "AKW"]
SOME = [(name, PROBLEMS[i % 4]) for i, name in enumerate(MAIN)] + [("RKMK4", PROBLEMS[1])]
TOP = problems.get("slow-top")


def written(i, method, problem, steps, **options):
    """A case of a method for a problem."""
    torque = problem.torque(problem.step)
    text = polhode.export(method, "csharp", torque=torque, body=problem.body, **options)
    return case(i, text, problem, steps)


def agree(pairs, steps):
    """Whether C# and polhode get to the same bits, by pair; those that polhode cannot do left out."""
    cases = [written(i, *pair, steps) for i, pair in enumerate(pairs)]
    return {
        f"{method} {problem.name}": same(one, right)
        for (method, problem), one in zip(pairs, motions(cases), strict=True)
        if (right := own(method, problem, steps, compiled=steps > STEPS)) is not None
    }


@needs_compiler
def test_csharp_has_the_bits_of_polhode():
    found = agree(SOME, STEPS)
    assert found and [name for name, right in found.items() if not right] == []


WEIGHT = """
static class Mine {
    public static File0.Vec3 Weight(double t, File0.Mat3 R, File0.Vec3 Om) {
        return new File0.Vec3(-20.0 * R.y.z, 20.0 * R.x.z, 0.0);
    }
}
"""


@needs_compiler
def test_your_torque_and_no_fma():
    """A function of the user's is called; the lack of fma costs round-off."""
    plain = written(1, "LP2", TOP, STEPS, fma=False)
    yours = case(0, polhode.export("LP2", "csharp"), TOP, STEPS, "Mine.Weight", WEIGHT)
    assert "Fused" not in plain
    yours, unfused = motions([yours, plain])
    torque = polhode.torque(weight, form="tuple")
    run = polhode.integrate(
        TOP.body, torque, (0.0, STEPS * TOP.step), TOP.step, "LP2", rotation0=TOP.rotation0, scalar_first=False,
        omega0=TOP.omega0, every="end", compiled=False,
    )  # fmt: skip
    assert same(yours, np.concatenate([run.quaternion[-1], run.omega[-1]]))
    assert np.abs(unfused - own("LP2", TOP, STEPS, compiled=False)).max() < 1e-13


def test_nothing_is_allocated():
    """All that is made are structs: no arrays, no objects."""
    for name in ("LP2", "DOP853", "EXACT"):
        text = polhode.export(name, "csharp", precision="float")
        assert " class " not in text.partition("public static class")[2]
        assert "[]" not in text and "double" not in text


@needs_compiler
@pytest.mark.slow
def test_all_methods():
    found = agree(PAIRS, STEPS)
    assert len(found) > len(NAMES) and [name for name, right in found.items() if not right] == []
