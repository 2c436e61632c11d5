"""Methods as machine code and as WebAssembly, without a compiler; and run."""

import ctypes
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

import polhode
from c_code import COMPILER
from exported_bodies import Module, Run
from javascript_code import NODE, needs_node
from machine_words import has_machine_code
from polhode import problems
from polhode.exports._export import exported
from polhode.exports.module import export_obstacle, identifier
from polhode.exports.prototypes import prototypes
from polhode.rotations import as_quaternion

pytestmark = pytest.mark.skipif(not has_machine_code(), reason="needs llvmlite 0.45 or newer")
PROBLEMS = [problems.get(name) for name in ("slow-top", "coulomb-wall", "stress", "free-body")]
NAMES = [one.name for one in polhode.methods.everything() if not export_obstacle(one)]
PAIRS = [(name, PROBLEMS[i % 4]) for i, name in enumerate(NAMES)]
STEPS = 20
WHEEL = polhode.RigidBody([1, 2, 2.5], rotors=[polhode.Rotor((0, 0, 1), 0.1, torque=0.0)])


def own(method, problem, steps, **options):
    """The motion after so many steps by polhode."""
    span = (0.0, steps * problem.step)
    end = problem.integrate(method, t_span=span, every="end", **options)
    return np.concatenate([end.quaternion[-1], end.omega[-1]])


def same(a, b):
    """Whether two motions have the same bits; a quaternion may have the other sign."""
    return np.array_equal(a, b) or np.array_equal(a * ([-1.0] * 4 + [1.0] * 3), b)


def weight(t, R):
    return (-20.0 * R[1][2], 20.0 * R[0][2], 0.0)


def followed(code, method, problem, steps, users=()):
    """The motion of a module after so many steps."""
    pytest.importorskip("wasmtime", reason="needs wasmtime: pip install wasmtime")
    motion = as_quaternion(problem.rotation0, False, "rotation0"), problem.omega0
    run = Run(code, identifier(method), problem.body.moments, motion, (), problem.step, steps)
    return Module(code, run.name, dict(users)).follow(run)


def test_what_a_module_exports():
    pytest.importorskip("wasmtime", reason="needs wasmtime: pip install wasmtime")
    module = Module(polhode.export("NMB", "wasm", torque="free"), "NMB", {})
    functions = ("make_body", "start", "step", "omega", "residual", "body_size", "state_size")
    assert set(dict(module.parts)) == {"memory", "free", *(f"NMB_{one}" for one in functions)}


@pytest.mark.parametrize(
    ("language", "options"),
    [
        ("wasm", {"torque": "free"}),
        ("object", {"precision": "float", "flight": True}),
        ("object", {"body": WHEEL}),
    ],
)
def test_sizes_prototypes_and_whose_it_is(language, options):
    """They are in the file; the prototypes are those that C takes."""
    made = exported("EXACT", language, **options)
    content = made.content()
    lines = prototypes(made)
    assert b"polhode export EXACT" in content or b"polhode.export(" in content
    assert b"MIT licence" in content and b"EXACT_state_size" in content
    floats = made.size(made.module.state) // (4 if "precision" in options else 8)
    assert any(f"s[{floats}], " in one and "EXACT_start(" in one for one in lines)
    if COMPILER and language == "object":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "EXACT.o").write_bytes(content)
            users = [one.removesuffix(";  /* yours */") for one in lines if "yours" in one]
            bodies = "".join(f"{one} {{ }}\n" for one in users)
            size = "extern const char EXACT_about[];\n#include <stdio.h>\n"
            main = 'int main(void) { printf("%d %s", EXACT_state_size, EXACT_about); return 0; }\n'
            (path / "main.c").write_text(size + "\n".join(lines) + "\n" + bodies + main)
            command = [COMPILER, "-std=c99", "-o", "main", "main.c", "EXACT.o", "-lm"]
            done = subprocess.run(command, cwd=path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            said = subprocess.run(
                [path / "main"], capture_output=True, text=True, check=True
            ).stdout
            assert said.startswith(f"{made.size(made.module.state)} EXACT, by polhode")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1].name}")
def test_wasm_has_the_bits_of_polhode(pair):
    method, problem = pair
    code = polhode.export(method, "wasm", torque=problem.torque(problem.step), body=problem.body)
    found = followed(code, method, problem, STEPS)
    assert same(found, own(method, problem, STEPS, compiled=False))


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS[2:], ids=lambda problem: problem.name)
def test_a_million_steps_of_wasm(problem):
    code = polhode.export("LP2", "wasm", torque=problem.torque(problem.step), body=problem.body)
    assert same(followed(code, "LP2", problem, 1_000_000), own("LP2", problem, 1_000_000))


@pytest.mark.parametrize("method", ["LP2", "DOP853", "AKW"])
def test_wasm_calls_a_torque_of_its_host(method):
    top = problems.get("slow-top")
    users = {"torque": ((0, 9, 3), lambda t, R, Om: weight(t, R.reshape(3, 3)))}
    found = followed(polhode.export(method, "wasm"), method, top, STEPS, users)
    end = polhode.integrate(
        top.body, polhode.torque(weight, form="tuple"), (0.0, STEPS * top.step), top.step, method, every="end",
        rotation0=top.rotation0, scalar_first=False, omega0=top.omega0, compiled=False,
    )  # fmt: skip
    assert same(found, np.concatenate([end.quaternion[-1], end.omega[-1]]))


USERS = """
void LP2_torque(double T[3], double t, const double R[9], const double Om[3]);
void LP2_torque(double T[3], double t, const double R[9], const double Om[3]) {
    (void)t; (void)Om;
    T[0] = -20.0 * R[5]; T[1] = 20.0 * R[2]; T[2] = 0.0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="needs a linker")
def test_an_object_for_this_machine_is_linked_with_a_torque_in_c(tmp_path):
    (tmp_path / "torque.c").write_text(USERS)
    polhode.export("LP2", "object", output=tmp_path / "LP2.o")
    library = tmp_path / "all.so"
    files = [str(tmp_path / name) for name in ("torque.c", "LP2.o")]
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(library), *files, "-lm"], check=True)
    top, code = problems.get("slow-top"), ctypes.CDLL(str(library))
    row = lambda *values: (ctypes.c_double * len(values))(*values)  # noqa: E731
    number, body, state, omega = (
        ctypes.c_double,
        row(*[0.0] * 6),
        row(*[0.0] * 64),
        row(0.0, 0.0, 0.0),
    )
    q = row(*as_quaternion(top.rotation0, False, "rotation0"))
    code.LP2_make_body(body, row(*top.body.moments))
    code.LP2_start(state, number(top.step), number(0.0), q, row(*top.omega0), body)
    for k in range(STEPS):
        code.LP2_step(number(top.step), number(k * top.step), state, body)
    code.LP2_omega(omega, state, body)
    found = np.array([*state[:4], *omega])
    end = polhode.integrate(
        top.body, polhode.torque(weight, form="tuple"), (0.0, STEPS * top.step), top.step, "LP2", every="end",
        rotation0=top.rotation0, scalar_first=False, omega0=top.omega0, compiled=False,
    )  # fmt: skip
    assert same(found, np.concatenate([end.quaternion[-1], end.omega[-1]]))


# (bits, machine) in the head of an ELF file
TARGETS = {
    "thumbv7em-none-eabihf": (1, 40),
    "aarch64-linux-gnu": (2, 183),
    "riscv64-unknown-elf": (2, 243),
    "x86_64-linux-gnu": (2, 62),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("precision", ["double", "float"])
def test_objects_for_other_machines(target, precision):
    made = polhode.export("LP2", "object", torque="free", target=target, precision=precision)
    bits, machine = TARGETS[target]
    assert (
        made[:4] == b"\x7fELF"
        and made[4] == bits
        and struct.unpack("<H", made[18:20])[0] == machine
    )
    assert all(f"LP2_{one}".encode() in made for one in ("make_body", "start", "step", "omega"))
    # nothing is called but what every processor's library has
    assert b"malloc" not in made and b"sincos" not in made


def test_wasm_for_a_linker():
    made = polhode.export("LP2", "object", target="wasm32-unknown-unknown")
    assert made[:4] == b"\0asm" and b"linking" in made and b"LP2_torque" in made


@needs_node
def test_wasm_in_node(tmp_path):
    polhode.export("EXACT", "wasm", torque="free", output=tmp_path / "EXACT.wasm")
    (tmp_path / "run.mjs").write_text("""
        import { readFileSync } from "node:fs";
        const code = await WebAssembly.compile(readFileSync(new URL("EXACT.wasm", import.meta.url)));
        const { memory, free, ...method } = (await WebAssembly.instantiate(code)).exports;
        const h = 0.0625, place = (i) => free.value + 1024 * i, row = (i, n) => new Float64Array(memory.buffer, place(i), n);
        row(0, 3).set([1, 2, 2.5]); row(2, 4).set([0, 0, 0, 1]); row(3, 3).set([0.1, 3, 0.1]);
        method.EXACT_make_body(place(1), place(0));
        method.EXACT_start(place(4), h, 0, place(2), place(3), place(1));
        for (let k = 0; k < 20; k++) method.EXACT_step(h, h * k, place(4), place(1));
        console.log([...row(4, 4)].join(" "));
    """)
    done = subprocess.run(
        [NODE, str(tmp_path / "run.mjs")], capture_output=True, text=True, check=True
    )
    end = polhode.integrate(
        [1, 2, 2.5], None, (0, 1.25), 0.0625, "EXACT", omega0=(0.1, 3, 0.1), compiled=False
    )
    assert np.array_equal(np.array(done.stdout.split(), float), end.quaternion[-1])
