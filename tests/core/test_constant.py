"""Constants that have another value in single precision."""

import importlib
import pickle
import pkgutil

import numpy as np
import pytest

import polhode.core
import polhode.methods
from polhode.core.constant import Constant
from polhode.core.digest import digest
from polhode.core.rebind import Rebinder
from polhode.core.single import LARGEST, SMALLEST, SinglePrecision

EPS = float(np.finfo(np.float32).eps)
LIMIT = Constant(1e-12, single=1e-4)


def below(x):
    return x < LIMIT


def test_a_kernel_gets_the_value_of_its_precision():
    double = Rebinder(lambda copy: copy).copy(below).__globals__["LIMIT"]
    assert type(double) is float and double == 1e-12
    single = SinglePrecision(lambda copy: copy).copy(below).__globals__["LIMIT"]
    assert single == np.float32(1e-4) and single.dtype == np.float32


def test_an_edit_of_either_value_gives_other_machine_code(monkeypatch):
    found = [digest(below)]
    for edited in (Constant(2e-12, single=1e-4), Constant(1e-12, single=2e-4), 1e-12):
        monkeypatch.setitem(globals(), "LIMIT", edited)
        found.append(digest(below))
    assert len(set(found)) == 4


def test_it_is_a_float_and_can_be_copied():
    again = pickle.loads(pickle.dumps(LIMIT))
    assert (type(again), again, again.single) == (Constant, 1e-12, 1e-4)
    with pytest.raises(TypeError):
        Constant(1e-12)


# kernels that run in double precision alone; EQUAL is a question to the body, before a run
DOUBLE = (
    "core.closed.",
    "core.loops.adaptive_motion",
    "core.loops.taylor_steps",
    "core.loops.tolerance",
    "core.neighbours",
    "core.single",
    "methods._system_energy",
    "EQUAL",
    "COMMENSURATE",
)


def test_what_depends_on_the_arithmetic_is_a_constant():
    """A float below round-off in single precision, or above its whole numbers, must say what it is
    there; those that float32 has not got at all become its smallest and largest."""
    found = []
    for package in (polhode.core, polhode.methods):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if module.name.rpartition(".")[2] in ("pipelines", "code_memory", "packed"):
                continue  # importing them imports numba
            for name, value in vars(importlib.import_module(module.name)).items():
                if type(value) is float and (
                    SMALLEST < abs(value) < EPS or 1 / EPS < abs(value) < LARGEST
                ):
                    found.append(f"{module.name}.{name}")
    assert [one for one in found if not any(part in one for part in DOUBLE)] == []
