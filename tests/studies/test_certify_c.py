"""Certificates of code in C: those of exported files are those of the methods, and a step written by
hand is measured, from a file or from a library."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import polhode
from c_code import COMPILER
from polhode import facts
from polhode.cli import app
from polhode.errors import InputError
from polhode.studies.c_code import compiler
from polhode.studies.facts import judge
from polhode.studies.facts.trial import BODY, Map, torque_of

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")

ENGINES = Path(__file__).parents[2] / "examples" / "engines"
INCLUDE = f'#include "{(ENGINES / "rotation.h").as_posix()}"\n'
ARGUMENTS = (
    "double h, double t, double q[4], double omega[3], const double I[3], torque_function *torque, "
    "void *context"
)
EULER = (
    INCLUDE
    + f"""
void euler_step({ARGUMENTS}) {{
    double A[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    acceleration(I, omega, A, A);
    for (int i = 0; i < 3; i++) v[i] = h * omega[i];
    for (int i = 0; i < 3; i++) omega[i] += h * A[i];
    turn(q, v);
}}
"""
)
# Adams and Bashforth of order 2 for the velocity, the mean velocity for the attitude
REMEMBERS = (
    INCLUDE
    + f"""
const int memory = 3;

void start({ARGUMENTS}, double *last) {{
    driven(t, q, omega, I, torque, context, last);
    acceleration(I, omega, last, last);
}}

void step({ARGUMENTS}, double *last) {{
    double A[3], v[3];
    driven(t, q, omega, I, torque, context, A);
    acceleration(I, omega, A, A);
    for (int i = 0; i < 3; i++) {{
        double next = omega[i] + h * (1.5 * A[i] - 0.5 * last[i]);
        v[i] = 0.5 * h * (omega[i] + next);
        omega[i] = next;
        last[i] = A[i];
    }}
    turn(q, v);
}}
"""
)


def written(folder, text, name="mine.c"):
    """A C file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def from_text(folder, text, name="mine.c"):
    """The one method of a C file with this text."""
    [method] = facts.from_file(written(folder, text, name))
    return method


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The exported C of a method, as a method."""
    folder = tmp_path_factory.mktemp("exported")
    return cache(lambda name: from_text(folder, polhode.export(name), f"{name}.c"))


def measured(method):
    """What a certificate says without long runs."""
    with np.errstate(all="ignore"):
        parts = judge._structure, judge._conserved, judge._axes, judge._counts, judge._flight
        found = [fact for part in parts for fact in part(method)]
    return {fact.name: fact for fact in found}


# --- exported files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["LP2", "NMB", "VLV", "EXACT"])
def test_the_certificate_of_exported_c_is_that_of_the_method(exported, name):
    """Steps are equal bit for bit, so that all measured in doubles is; orders are read from doubles
    instead of forty digits."""
    for kind in ("torque", "free", "damped"):
        states = [
            [(s.q, path.momentum(s)) for s in path.run(0.3, 12)]
            for path in (Map(method, torque_of(kind)) for method in (name, exported(name)))
        ]
        assert states[0] == states[1] or name == "EXACT"  # whose step is made for the torque
        assert np.allclose(
            np.concatenate(states[0][-1]), np.concatenate(states[1][-1]), rtol=0, atol=1e-13
        )
    own, found = measured(polhode.methods.get(name)), measured(exported(name))
    for key, fact in own.items():
        if key == "solves":
            assert found[key].text == "not measured: machine code does not show them"
            assert found[key].declared is None and not found[key].missing
        elif key.startswith("flight_order"):
            assert found[key].measured == pytest.approx(fact.measured, abs=0.01)
        else:
            assert found[key].measured == fact.measured, key
            # in flight the method's own steps carry the translation, and here it goes beside
            assert key.startswith("flight_") or found[key].ok == fact.ok, key
    entry = polhode.methods.get(name)
    orders = {fact.name: fact for fact in judge._orders(exported(name), {})}
    assert all(
        fact.ok is not False and fact.details["from"] == "doubles" for fact in orders.values()
    )
    assert orders["order_attitude"].measured == pytest.approx(entry.order, abs=0.02)
    for key, value in zip(("attitude", "momentum"), entry.free_order or (2, 2), strict=True):
        assert orders[f"free_order_{key}"].measured == pytest.approx(value, abs=0.02)


def test_a_whole_certificate(exported, tmp_path):
    file = written(tmp_path, polhode.export("LP2", frame="body"), "LP2.c")
    found = polhode.certify(str(file))
    assert found.ok and found.verdict == "all declared facts hold", str(found)
    assert found.name == "LP2.c" and found.summary == "LP2, exported to C" and not found.note
    assert found.facts["drift"].ok and abs(found.facts["drift"].measured) < 1e-9
    assert found.facts["symplectic"].measured and found.facts["torques"].measured == 1
    assert 1.0 < found.facts["cost"].measured < 50_000.0
    states = [
        [s.q for s in Map(method, torque_of("torque")).run(0.3, 5)]
        for method in (exported("LP2"), facts.from_file(file)[0])
    ]
    assert np.allclose(*states, rtol=0, atol=1e-14)  # the torque is asked for in either frame


# --- a step written by hand -----------------------------------------------------------------------


def test_a_false_claim_fails(tmp_path):
    text = "/* polhode: order = 1, symmetric = yes */\n" + EULER
    file = written(tmp_path, text)
    done = CliRunner().invoke(
        app, ["certify", "--c", f"{file}:euler", "--declare", "order=2", "--json"]
    )
    assert done.exit_code == 1, done.stderr
    [data] = json.loads(done.stdout)
    assert data["name"] == "mine.c:euler"
    failed = {name for name, fact in data["facts"].items() if fact["ok"] is False}
    assert failed == {
        *(f"{a}order_{b}" for a in ("", "omega_") for b in ("attitude", "momentum")),
        "symmetric",
    }
    assert data["facts"]["order_attitude"]["measured"] == pytest.approx(1.0, abs=0.02)
    assert data["facts"]["torques"]["measured"] == 1 and data["facts"]["drift"]["blow_up"] < 1000.0


def test_a_step_that_remembers(tmp_path):
    method = from_text(tmp_path, REMEMBERS)
    assert method.multistep and facts.order(method).attitude == pytest.approx(2.0, abs=0.05)
    assert facts.torque_calls(method, count=3) == (1, (1, 1, 1), None)
    run, plain = (
        polhode.integrate(
            BODY, torque_of("damped"), (0, 1), 0.1, method, omega0=(0.8, -0.6, 0.5), compiled=one
        )
        for one in (True, False)
    )
    assert run.mode == "compiled" and np.array_equal(run.quaternion, plain.quaternion)


def test_a_library_is_its_source(tmp_path):
    source = written(tmp_path, EULER.replace("euler_step", "step"))
    compiler.build(source, tmp_path / "libmine.so", "mine.c")
    runs = [
        polhode.integrate(BODY, torque_of("torque"), (0, 1), 0.1, *facts.from_file(file), omega0=(1, 2, 3), compiled=False)
        for file in (source, tmp_path / "libmine.so")
    ]  # fmt: skip
    assert (
        np.array_equal(runs[0].quaternion, runs[1].quaternion)
        and runs[1].method.name == "libmine.so"
    )


def test_a_failing_torque_is_told(tmp_path):
    """An error of the torque goes through C."""

    def torque(t, R):
        if t > 0.45:
            raise ValueError("too late")
        return np.zeros(3)

    method = from_text(tmp_path, EULER)
    with pytest.raises(polhode.errors.TorqueError, match="too late") as failed:
        polhode.integrate(BODY, torque, (0, 1), 0.1, method, omega0=(1, 2, 3), compiled=False)
    assert len(failed.value.trajectory.t) == 6


def test_several_steps_in_a_file(tmp_path):
    file = written(tmp_path, EULER + EULER.partition("\n")[2].replace("euler_", "other_"))
    assert [method.name for method in facts.from_file(file)] == ["mine.c:euler", "mine.c:other"]
    with pytest.raises(InputError, match="has 2 methods"):
        polhode.certify(str(file))


@pytest.mark.parametrize("path", sorted(ENGINES.glob("*.c")), ids=lambda path: path.stem)
def test_engines_are_what_they_declare(path):
    [method] = facts.from_file(path)
    with np.errstate(all="ignore"):
        free = facts.order(method, "free")
    if path.stem == "godot":  # which turns about a fixed axis: no approximation of a free body
        assert method.order is None and facts.free_drift(method).energy < 1e-12
        assert facts.free_drift(method).momentum > 0.1
    else:
        orders = method.free_order or (method.order,) * 2
        assert free[:2] == pytest.approx(orders, abs=0.02)
        assert facts.free_drift(method, 0.1, 50).energy > 1e-9
        assert (facts.size_drift(method, 0.1, 50) < 1e-12) == (path.stem == "jolt")
    assert set(facts.torque_calls(method, count=3).steps) == {method.torques}


# --- what cannot be used --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, expected",
    [
        ("void step(double h) { }\n", r"does not compile with .*; correct it:\n.*conflicting types"),
        ("static " + EULER[len(INCLUDE) :].strip().replace("euler_", ""), "does not compile with"),
        (INCLUDE + "const int memory = -1;\n" + f"void step({ARGUMENTS}, double *m) {{}}",
         "memory must be from 0 to 1000, got -1 in .*; it is how many numbers the step remembers"),
    ],
    ids=["arguments", "static", "memory"],
)  # fmt: skip
def test_files_that_cannot_be_used(tmp_path, text, expected):
    with pytest.raises(InputError) as error:
        facts.from_file(written(tmp_path, text))
    assert re.search(expected, str(error.value), re.DOTALL), error.value


def test_libraries_that_cannot_be_used(tmp_path):
    compiler.build(written(tmp_path, EULER), tmp_path / "mine.so", "mine.c")
    with pytest.raises(InputError, match="has none of the functions step, mine_step; name one"):
        facts.from_file(tmp_path / "mine.so")
    compiler.build(written(tmp_path, polhode.export("LP2")), tmp_path / "LP2.so", "LP2.c")
    with pytest.raises(
        InputError, match="whose structures are not in the library; give the C file"
    ):
        facts.from_file(tmp_path / "LP2.so")


def test_machine_code_of_doubles_runs_on_the_processor_alone(tmp_path):
    method = from_text(tmp_path, EULER)
    with pytest.raises(InputError, match="machine code of doubles for this processor"):
        polhode.ensemble(
            [1, 2, 3],
            t_span=(0, 1),
            step=0.1,
            method=method,
            omega0=np.ones((4, 3)),
            dtype="float32",
        )


@pytest.mark.parametrize("body", ["*(volatile int *)0 = 1;", "exit(0);"])
def test_code_that_ends_its_process_is_told(tmp_path, body):
    """And not that of polhode, which would seem to have gone well."""
    path = tmp_path / "ends.c"
    path.write_text(f"#include <stdlib.h>\n{INCLUDE}\nvoid step({ARGUMENTS}) {{ {body} }}\n")
    result = CliRunner().invoke(app, ["certify", "--c", str(path)])
    assert result.exit_code == 2 and "ended the process that ran it" in " ".join(
        result.output.split()
    )
