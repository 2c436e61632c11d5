"""Exported C++, compiled and run: its results are polhode's, bit for bit."""

import numpy as np
import pytest

import polhode
from cpp_code import COMPILER, case, motions
from polhode import problems
from test_export import NAMES, PAIRS, PROBLEMS, STEPS, own, same, weight

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
MAIN = ["LP2", "EXACT", "NMB", "VLV+ep", "AKW"]
SOME = [(name, PROBLEMS[i % 4]) for i, name in enumerate(MAIN)] + [("RKMK4", PROBLEMS[1])]
TOP = problems.get("slow-top")


def written(i, method, problem, steps, precision="double", fma=True):
    """A case of a method for a problem."""
    torque = problem.torque(problem.step)
    text = polhode.export(
        method, "cpp", torque=torque, body=problem.body, precision=precision, fma=fma
    )
    return case(i, text, problem, steps, real=precision)


def agree(pairs, steps, optimisation="-O1"):
    """Whether C++ and polhode get to the same bits, by pair; those that polhode cannot do left out."""
    cases = [written(i, *pair, steps) for i, pair in enumerate(pairs)]
    return {
        f"{method} {problem.name}": same(one, right)
        for (method, problem), one in zip(pairs, motions(cases, optimisation), strict=True)
        if (right := own(method, problem, steps, compiled=steps > STEPS)) is not None
    }


def test_cpp_has_the_bits_of_polhode():
    """Without a warning of the compiler."""
    found = agree(SOME, STEPS)
    assert found and [name for name, right in found.items() if not right] == []


WEIGHT = """
static file0::vec3 weight(double, file0::mat3 R, file0::vec3) {
    return {-20.0 * R.y.z, 20.0 * R.x.z, 0.0};
}
"""


def test_your_torque_single_precision_and_no_fma():
    """A function of the user's is called; single precision and the lack of fma cost round-off."""
    plain, single = (
        written(1, "LP2", TOP, STEPS, fma=False),
        written(2, "EXACT", TOP, STEPS, "float"),
    )
    assert "std::fma(" not in plain
    yours = case(0, polhode.export("LP2", "cpp"), TOP, STEPS, "weight", further=WEIGHT)
    yours, unfused, rounded = motions([yours, plain, single])
    torque = polhode.torque(weight, form="tuple")
    run = polhode.integrate(
        TOP.body, torque, (0.0, STEPS * TOP.step), TOP.step, "LP2", rotation0=TOP.rotation0, scalar_first=False,
        omega0=TOP.omega0, every="end", compiled=False,
    )  # fmt: skip
    assert same(yours, np.concatenate([run.quaternion[-1], run.omega[-1]]))
    assert np.abs(unfused - own("LP2", TOP, STEPS, compiled=False)).max() < 1e-13
    assert np.abs(rounded - own("EXACT", TOP, STEPS, compiled=False)).max() < 2e-5


@pytest.mark.slow
def test_all_methods():
    found = agree(PAIRS, STEPS)
    assert len(found) > len(NAMES) and [name for name, right in found.items() if not right] == []


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_million_steps(problem):
    found = agree([(name, problem) for name in MAIN], 1_000_000, "-O2")
    assert found and [name for name, right in found.items() if not right] == []
