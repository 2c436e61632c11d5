"""Exported Rust, compiled and run: its results are polhode's, bit for bit."""

import shutil

import numpy as np
import pytest

import polhode
from polhode import problems
from rust_code import COMPILER, compiled, motions, program
from test_export import NAMES, PAIRS, PROBLEMS, STEPS, own, same, weight

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs rustc")
MAIN = ["LP2", "EXACT", "NMB", "VLV+ep", "AKW"]
SOME = [(name, PROBLEMS[i % 4]) for i, name in enumerate(MAIN)] + [
    ("RKMK4", PROBLEMS[1]),
    ("DOP853", PROBLEMS[0]),
    ("ABAM", PROBLEMS[2]),
]
TOP = problems.get("slow-top")


def written(method, problem, **options):
    """The Rust of a method for a problem."""
    return polhode.export(
        method, "rust", torque=problem.torque(problem.step), body=problem.body, **options
    )


def agree(pairs, steps, optimisation="1"):
    """Whether Rust and polhode get to the same bits, by pair; those that polhode cannot do left out."""
    cases = [(written(*pair), pair[1], steps, "", "f64") for pair in pairs]
    found = motions(program(cases), optimisation)
    return {
        f"{method} {problem.name}": same(one, right)
        for (method, problem), one in zip(pairs, found, strict=True)
        if (right := own(method, problem, steps, compiled=steps > STEPS)) is not None
    }


def test_rust_has_the_bits_of_polhode():
    """Without a warning of the compiler, and without unsafe code."""
    found = agree(SOME, STEPS)
    assert found and [name for name, right in found.items() if not right] == []


WEIGHT = """
fn weight(_t: f64, R: file0::Mat3, _Om: file0::Vec3) -> file0::Vec3 {
    file0::vec3(-20.0 * R.y.z, 20.0 * R.x.z, 0.0)
}
"""


def test_your_torque_single_precision_and_no_fma():
    """A function of the user's is called; single precision and the lack of fma cost round-off."""
    plain, single = written("LP2", TOP, fma=False), written("EXACT", TOP, precision="float")
    assert ".mul_add(" not in plain and "f64" not in single
    cases = [
        (polhode.export("LP2", "rust"), TOP, STEPS, "weight", "f64"),
        (plain, TOP, STEPS, "", "f64"),
        (single, TOP, STEPS, "", "f32"),
    ]
    yours, unfused, rounded = motions(program(cases, WEIGHT))
    torque = polhode.torque(weight, form="tuple")
    run = polhode.integrate(
        TOP.body, torque, (0.0, STEPS * TOP.step), TOP.step, "LP2", rotation0=TOP.rotation0, scalar_first=False,
        omega0=TOP.omega0, every="end", compiled=False,
    )  # fmt: skip
    assert same(yours, np.concatenate([run.quaternion[-1], run.omega[-1]]))
    assert np.abs(unfused - own("LP2", TOP, STEPS, compiled=False)).max() < 1e-13
    assert np.abs(rounded - own("EXACT", TOP, STEPS, compiled=False)).max() < 2e-5


LIBM = "pub fn sqrt(a: f64) -> f64 { a.sqrt() } pub fn fma(a: f64, b: f64, c: f64) -> f64 { a.mul_add(b, c) }"


def test_without_std():
    """All that is needed beyond core is libm's square root and fma, here by a crate of that name."""
    folder = compiled({"main.rs": LIBM}, "0", ("--crate-type", "lib", "--crate-name", "libm"))
    (folder / "program").rename(folder / "liblibm.rlib")
    files = {
        "exact.rs": polhode.export("EXACT", "rust"),
        "flight.rs": polhode.export("LP2", "rust", flight=True),
        "main.rs": "#![no_std]\n#![forbid(unsafe_code)]\npub mod exact;\npub mod flight;\n",
    }
    flags = (
        "--crate-type",
        "lib",
        "--cfg",
        'feature="libm"',
        "--extern",
        f"libm={folder}/liblibm.rlib",
    )
    shutil.rmtree(compiled(files, "0", flags))
    shutil.rmtree(folder)


@pytest.mark.slow
def test_all_methods():
    found = agree(PAIRS, STEPS)
    assert len(found) > len(NAMES) and [name for name, right in found.items() if not right] == []


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_million_steps(problem):
    found = agree([(name, problem) for name in MAIN], 1_000_000, "3")
    assert found and [name for name, right in found.items() if not right] == []
