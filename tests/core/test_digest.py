"""Never stale: a run computes what its torque says now, whatever that depends on and wherever it
was changed."""

import functools
import json
import subprocess
import sys
import textwrap
import types

import numba
import numpy as np
import pytest

import polhode
from machine_code import with_cache
from polhode.core.digest import digest, obstacle, reach
from polhode.errors import InputError

SPIN = {"omega0": (0.0, 0.0, 0.0)}


def push(torque, **options):
    """The momentum along x after a second: the mean of the torque there."""
    run = polhode.integrate([1.0, 1.0, 1.0], torque, (0.0, 1.0), 0.25, **{**SPIN, **options})
    return run, float(run.momentum_spatial[-1, 0])


def module(name, **values):
    made = types.ModuleType(name)
    made.__dict__.update(values)
    return made


def defined(source, **scope):
    exec(textwrap.dedent(source), scope)
    return scope["f"], scope


# --- what can be changed, each with a way to change it --------------------------------------------


def _global():
    f, scope = defined("def f(t, R):\n    return (K, 0.0, 0.0)", K=1.0)
    return f, lambda: scope.update(K=5.0)


def _cell():
    def make(k):
        return lambda t, R: (k, 0.0, 0.0)

    f = make(1.0)
    return f, lambda: setattr(f.__closure__[0], "cell_contents", 5.0)


def _default():
    def f(t, R, k=1.0):
        return (k, 0.0, 0.0)

    return f, lambda: setattr(f, "__defaults__", (5.0,))


def _keyword_default():
    def f(t, R, *, k=1.0):
        return (k, 0.0, 0.0)

    return f, lambda: f.__kwdefaults__.update(k=5.0)


def _code():
    def f(t, R):
        return (1.0, 0.0, 0.0)

    def g(t, R):
        return (5.0, 0.0, 0.0)

    return f, lambda: setattr(f, "__code__", g.__code__)


def _module():
    constants = module("constants", K=1.0)
    f, _ = defined("def f(t, R):\n    return (constants.K, 0.0, 0.0)", constants=constants)
    return f, lambda: setattr(constants, "K", 5.0)


def _submodule():
    package = module("package", sub=module("package.sub", K=1.0))
    f, _ = defined("def f(t, R):\n    return (p.sub.K, 0.0, 0.0)", p=package)
    return f, lambda: setattr(package.sub, "K", 5.0)


def _module_handed_on():
    constants = module("constants", K=1.0)
    f, _ = defined(
        "def f(t, R):\n    c = constants\n    return (c.K, 0.0, 0.0)", constants=constants
    )
    return f, lambda: setattr(constants, "K", 5.0)


def _function_of_a_module():
    helper, scope = defined("def f(t):\n    return K", K=1.0)
    f, _ = defined("def f(t, R):\n    return (m.g(t), 0.0, 0.0)", m=module("m", g=helper))
    return f, lambda: scope.update(K=5.0)


def _default_of_a_helper():
    helper, _ = defined("def f(t, k=1.0):\n    return k")
    f, _ = defined("def f(t, R):\n    return (g(t), 0.0, 0.0)", g=helper)
    return f, lambda: setattr(helper, "__defaults__", (5.0,))


def _dispatcher():
    helper, scope = defined("def f(t):\n    return K", K=1.0)
    f, _ = defined("def f(t, R):\n    return (g(t), 0.0, 0.0)", g=numba.njit(helper))
    return f, lambda: scope.update(K=5.0)


def _dispatcher_of_a_module():
    helper, scope = defined("def f(t):\n    return K", K=1.0)
    f, _ = defined(
        "def f(t, R):\n    return (m.g(t), 0.0, 0.0)", m=module("m", g=numba.njit(helper))
    )
    return f, lambda: scope.update(K=5.0)


def _torque_by_numba():
    f, scope = defined("def f(t, R):\n    return (K, 0.0, 0.0)", K=1.0)
    return numba.njit(f), lambda: scope.update(K=5.0)


def _partial():
    inner = functools.partial(lambda t, R, k: (k["x"], 0.0, 0.0), k={"x": 1.0})
    return inner, lambda: inner.keywords["k"].update(x=5.0)


class Spring:
    def __init__(self, k):
        self.k = k

    def __call__(self, t, R):
        return (self.k, 0.0, 0.0)

    def torque(self, t, R):
        return (self.k, 0.0, 0.0)


def _object():
    spring = Spring(1.0)
    return spring, lambda: setattr(spring, "k", 5.0)


def _method():
    spring = Spring(1.0)
    return spring.torque, lambda: setattr(spring, "k", 5.0)


def _array_of_a_module():
    constants = module("constants", K=np.array([1.0]))
    f, _ = defined("def f(t, R):\n    return (constants.K[0], 0.0, 0.0)", constants=constants)
    return f, lambda: constants.K.__setitem__(0, 5.0)


def _class():
    holder = type("Holder", (), {"k": 1.0})
    f, _ = defined("def f(t, R):\n    return (Holder.k, 0.0, 0.0)", Holder=holder)
    return f, lambda: setattr(holder, "k", 5.0)


def _tuple_of_functions():
    helper, scope = defined("def f(t):\n    return K", K=1.0)
    f, _ = defined("def f(t, R):\n    return (pair[0](t), 0.0, 0.0)", pair=(helper, helper))
    return f, lambda: scope.update(K=5.0)


def _builtin_hidden():
    f, scope = defined("def f(t, R):\n    return (abs(-1.0), 0.0, 0.0)")
    return f, lambda: scope.update(abs=lambda x: 5.0)


CHANGES = {
    one.__name__[1:]: one
    for one in (
        _global,
        _cell,
        _default,
        _keyword_default,
        _code,
        _module,
        _submodule,
        _module_handed_on,
        _function_of_a_module,
        _default_of_a_helper,
        _dispatcher,
        _dispatcher_of_a_module,
        _torque_by_numba,
        _partial,
        _object,
        _method,
        _array_of_a_module,
        _class,
        _tuple_of_functions,
        _builtin_hidden,
    )
}
# in the short run: machine code takes a second or two
COMPILED = ("default", "module", "dispatcher_of_a_module")


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in COMPILED else pytest.mark.slow) for name in CHANGES],
)
def test_a_run_after_a_change_is_not_the_one_before(name):
    f, change = CHANGES[name]()
    assert push(f)[1] == pytest.approx(1.0, abs=1e-12)
    change()
    assert push(f)[1] == pytest.approx(5.0, abs=1e-12)
    assert push(f, compiled=False)[1] == pytest.approx(5.0, abs=1e-12)


@pytest.mark.parametrize("identity", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_gives_another_digest(name, identity):
    f, change = CHANGES[name]()
    first = digest(f, identity=identity)
    assert digest(f, identity=identity) == first
    change()
    second = digest(f, identity=identity)
    assert second != first and digest(f, identity=identity) == second


# --- other doors ----------------------------------------------------------------------------------


def spring(k):
    return lambda t, R, k=k: np.array([k, 0.0, 0.0])


def height(k):
    return lambda t, R, k=k: k * R[2, 2]


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.* is not minus the slope of its potential")
def test_potentials_ensembles_and_steppers_are_not_stale():
    start = {"rotation0": (0.3, 0.0, 0.0), "omega0": (0.0, 0.0, 1.0)}
    for k in (1.0, 5.0):
        weight = polhode.torque(spring(0.0), potential=height(k))
        run = polhode.integrate([1.0, 1.0, 1.0], weight, (0.0, 1.0), 0.01, **start)
        # 101 points: compiled
        np.testing.assert_allclose(run.potential_energy, k * np.cos(0.3), rtol=1e-12)
        stepper = polhode.Stepper([1.0, 1.0, 1.0], spring(k), step=0.25, omega0=(0.0, 0.0, 0.0))
        stepper.step(4)
        assert stepper.omega[0] == pytest.approx(k, abs=1e-12)
        many = polhode.ensemble(
            [1.0, 1.0, 1.0], spring(k), (0.0, 1.0), 0.25, omega0=np.zeros((3, 3)), threads=1
        )
        np.testing.assert_allclose(many.omega[:, 0], k, atol=1e-12)


def python(code, cache, *paths, seed="0"):
    """Run code in a process of its own with its own cache folder; what it printed last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**with_cache(cache, *paths), "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


RUN = """
    import json, polhode, numpy as np
    from machine_code import cache_statistics
    {setup}
    run = polhode.integrate([1.0, 1.0, 1.0], {torque}, (0.0, 1.0), 0.25, omega0=(0.0, 0.0, 0.0))
    s = cache_statistics()
    print(json.dumps([run.mode, float(run.momentum_spatial[-1, 0]), s["compiled"], run.provenance()["torque_digest"]]))
"""


@pytest.mark.compiled
def test_a_torque_file_with_another_default_or_constant_is_not_answered_from_disk(tmp_path):
    setup = f"from polhode.loads.user_file import torque; import sys; sys.path.insert(0, {str(tmp_path)!r})"
    found = []
    for k, constant in ((1.0, 2.0), (5.0, 2.0), (5.0, 3.0)):
        (tmp_path / "constants.py").write_text(f"C = {constant}\n")
        (tmp_path / "push.py").write_text(
            f"import constants\ndef torque(t, R, k={k}):\n    return (k * constants.C, 0.0, 0.0)\n"
        )
        found.append(
            python(
                RUN.format(setup=setup, torque=f"torque({str(tmp_path / 'push.py')!r})"),
                tmp_path / "cache",
            )
        )
    assert [one[0] for one in found] == ["compiled"] * 3
    np.testing.assert_allclose([one[1] for one in found], [2.0, 10.0, 15.0], atol=1e-12)
    assert len({one[3] for one in found}) == 3


DISPATCHER = """
import numba, numpy as np
K = 1.0
@numba.njit(fastmath={fastmath})
def gain(t):
    return K
def f(t, R):
    return (gain(t), 0.0, 0.0)
"""


@pytest.mark.compiled
def test_machine_code_of_a_users_dispatcher_is_neither_used_nor_kept(tmp_path):
    """The dispatcher was compiled with K = 1 before it became 2."""
    for early in ("gain(0.0); K = 2.0", "K = 2.0"):
        setup = textwrap.indent(DISPATCHER.format(fastmath=False) + early, "    ").strip()
        mode, value, made, _ = python(RUN.format(setup=setup, torque="f"), tmp_path)
        assert mode == "compiled" and value == pytest.approx(2.0, abs=1e-12)
        # the second process finds what the first one left
        assert (made == 0) == (early == "K = 2.0")


@pytest.mark.compiled
def test_the_options_of_a_dispatcher_are_part_of_it():
    def total(t):
        return t

    options = {}, {"fastmath": True}, {"fastmath": {"nnan"}}, {"inline": "always"}
    names = [digest(numba.njit(total, **one)) for one in options]
    names.append(digest(numba.njit("f4(f4)")(total)))
    assert len(set(names)) == 5


@pytest.mark.compiled
def test_a_dispatcher_with_signatures_keeps_to_them():
    rounded = numba.njit("f4(f4)")(lambda x: x)  # what it gets becomes a float32

    def f(t, R):
        return (0.0 + rounded(0.1), 100.0, 0.0)  # beside which the rounding of the first is small

    run, value = push(f)
    assert run.mode == "compiled" and value == pytest.approx(float(np.float32(0.1)), abs=1e-15)


SETS = """
    def f(t, R):
        return (1.0 if t in (0.0, 7.5) else 2.0, 0.0, 0.0)
    def g(t, R, words=frozenset({"one", "two", "three", "four"})):
        return (1.0 if "one" in {"one", "two", "three", "four", "five"} else 2.0, 0.0, 0.0)
    names = {"one", "two", "three", "four"}
    def h(t, R):
        return (float("two" in names), 0.0, 0.0)
    from polhode.core.digest import digest
    from machine_code import cache_statistics
    import json, polhode
    run = polhode.integrate([1.0, 1.0, 1.0], f, (0.0, 1.0), 0.25, omega0=(0.0, 0.0, 0.0))
    print(json.dumps([cache_statistics()["compiled"], *(digest(one, identity=i) for one in (f, g, h) for i in (False, True))]))
"""


@pytest.mark.compiled
def test_the_digest_of_a_set_does_not_depend_on_the_hash_seed(tmp_path):
    (first, *names), (second, *others) = (python(SETS, tmp_path, seed=seed) for seed in ("1", "2"))
    assert first > 0 and second == 0
    assert names == others


# --- state ----------------------------------------------------------------------------------------


def controller():
    integral = 0.0

    def f(t, R):
        nonlocal integral
        integral += 0.1
        return (-integral, 0.0, 0.0)

    return f


STATEFUL = {
    "nonlocal": (controller, "assigns to 'integral'"),
    "global": (
        lambda: defined(
            "count = 0.0\ndef f(t, R):\n    global count\n    count += 1.0\n    return (count, 0.0, 0.0)"
        )[0],
        "assigns to the global variable 'count'",
    ),
    "attribute": (
        lambda: defined(
            "def f(t, R):\n    f.count += 1.0\n    return (f.count, 0.0, 0.0)\nf.count = 0.0"
        )[0],
        "assigns to an attribute 'count'",
    ),
    "module attribute": (
        lambda: defined(
            "def f(t, R):\n    m.K += 1.0\n    return (m.K, 0.0, 0.0)", m=module("m", K=0.0)
        )[0],
        "assigns to an attribute 'K'",
    ),
    "array of a module": (
        lambda: _array_of_a_module()[0],
        "'constants.K', a ndarray that may change",
    ),
    "default list": (
        lambda: defined(
            "def f(t, R, m=[]):\n    m.append(t)\n    return (float(len(m)), 0.0, 0.0)"
        )[0],
        "'m', a list",
    ),
    "array in a tuple": (
        lambda: defined("def f(t, R):\n    return (p[0][0], 0.0, 0.0)", p=(np.ones(1),))[0],
        "'p', a ndarray",
    ),
    "print": (
        lambda: defined("def f(t, R):\n    print(end='')\n    return (1.0, 0.0, 0.0)")[0],
        "calls print()",
    ),
    "in a helper": (
        lambda: defined(
            "def g():\n    print(end='')\n    return 1.0\ndef f(t, R):\n    return (g(), 0.0, 0.0)"
        )[0],
        "calls print()",
    ),
}
RANDOM = {
    "np.random": "def f(t, R):\n    return (np.random.random(), 0.0, 0.0)",
    "random": "import random\ndef f(t, R):\n    return (random.random(), 0.0, 0.0)",
    "from random": "from random import random\ndef f(t, R):\n    return (random(), 0.0, 0.0)",
    "from np.random": "from numpy.random import normal\ndef f(t, R):\n    return (normal(), 0.0, 0.0)",
    "alias": "r = np.random\ndef f(t, R):\n    return (r.random(), 0.0, 0.0)",
    "generator": "g = np.random.default_rng(1)\ndef f(t, R):\n    return (g.random(), 0.0, 0.0)",
    "njit": "import numba\n@numba.njit\ndef g():\n    return np.random.random()\ndef f(t, R):\n    return (g(), 0.0, 0.0)",
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", STATEFUL)
def test_what_changes_something_is_called_back_and_the_note_says_why(name):
    make, why = STATEFUL[name]
    run, value = push(make())
    assert run.mode == "callback" and why in run.note
    assert value == push(make(), compiled=False)[1]


@pytest.mark.compiled
@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_come_from_python(name):
    f, _ = defined(RANDOM[name], np=np)
    if name == "njit":
        assert "random" in obstacle(f)
        return
    run, _ = push(f)
    assert run.mode == "callback" and any(
        word in run.note for word in ("random", "Generator", "RandomState")
    )


@pytest.mark.compiled
def test_the_controller_of_a_closed_loop():
    """Compiled, its state was frozen at the first value."""
    run, value = push(controller())
    assert run.mode == "callback" and value == push(controller(), compiled=False)[1]
    assert value == pytest.approx(-0.3, abs=0.06)  # torque -0.1 n at the n-th of five times


def test_python_mode_leaves_the_users_state_in_its_place():
    """Functions that share a state share it in every mode; the caller sees it afterwards."""
    source = """
        count = 0.0
        def tick():
            global count
            count += 1.0
        def f(t, R):
            tick()
            return (count, 0.0, 0.0)
    """
    for compiled in (True, False):
        f, scope = defined(source)
        _, value = push(f, compiled=compiled)
        assert scope["count"] >= 5.0 and value > 1.0


# --- checkpoints ----------------------------------------------------------------------------------


def gained(t, R, k):
    return (k, 0.0, 0.0)


class Crossing:
    def __init__(self, level):
        self.level = level

    def __call__(self, t, R, omega):
        return omega[0] - self.level


FORMS = {
    "partial": lambda k: functools.partial(gained, k=k),
    "method": lambda k: Spring(k).torque,
    "object": lambda k: Spring(k),
    "default": spring,
    "nested partial": lambda k: functools.partial(functools.partial(gained), k=k),
}


def interrupted(folder, torque, **options):
    """Begin a run of eight steps and leave after some."""

    def stop(done, total):
        if done > 2:  # after the first checkpoint
            raise InterruptedError

    with pytest.raises(InterruptedError):
        resumed(folder, torque, progress=stop, checkpoint_every=2, **options)


def resumed(folder, torque, **options):
    return polhode.integrate(
        [1.0, 1.0, 1.0], torque, (0.0, 1.0), 0.125, checkpoint=folder, **{**SPIN, **options}
    )


@pytest.mark.parametrize("name", FORMS)
def test_a_run_is_not_continued_with_another_torque(name, tmp_path):
    interrupted(tmp_path / "run", FORMS[name](1.0))
    with pytest.raises(InputError, match="the code of the torque, or what it uses, has changed"):
        resumed(tmp_path / "run", FORMS[name](5.0))
    run = resumed(tmp_path / "run", FORMS[name](1.0))
    assert run.momentum_spatial[-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_a_run_is_not_continued_with_other_events(tmp_path):
    interrupted(tmp_path / "run", spring(1.0), events=Crossing(0.5))
    with pytest.raises(InputError, match="the code of the events, or what they use, has changed"):
        resumed(tmp_path / "run", spring(1.0), events=Crossing(0.6))
    run = resumed(tmp_path / "run", spring(1.0), events=Crossing(0.5))
    assert run.t_events[0] == pytest.approx([0.5], abs=1e-6)


def test_derivatives_and_potential_belong_to_the_torque():
    weight = polhode.torque(spring(1.0), potential=height(1.0))
    other = polhode.torque(spring(1.0), potential=height(2.0))
    assert digest(weight.source(), identity=True) != digest(other.source(), identity=True)


def test_what_cannot_be_compared_is_refused_before_the_run(tmp_path):
    with open(tmp_path / "log", "w") as log:

        def logging(t, R):
            return (1.0 if log else 2.0, 0.0, 0.0)

        def watching(t, R, omega):
            return omega[0] - (1.0 if log else 2.0)

        with pytest.raises(
            InputError, match=r"the torque uses 'log', a TextIOWrapper.*run without checkpoint"
        ):
            resumed(tmp_path / "run", logging)
        with pytest.raises(
            InputError,
            match=r"the event 'watching' uses 'log', a TextIOWrapper.*run without checkpoint",
        ):
            resumed(tmp_path / "run", spring(1.0), events=watching)
        assert push(logging)[1] == pytest.approx(1.0, abs=1e-12)  # without a checkpoint it runs


def test_state_that_a_checkpoint_does_not_hold_is_told(tmp_path):
    interrupted(tmp_path / "run", controller())
    with pytest.warns(UserWarning, match="the torque changes what it refers to while it runs"):
        resumed(tmp_path / "run", controller())


# --- finding again --------------------------------------------------------------------------------


@pytest.mark.compiled
def test_a_second_call_makes_no_digest_anew(monkeypatch):
    from polhode.core.walk import Walk

    f, scope = defined(
        "def f(t, R):\n    return np.array([K, 0.0, m.K])", K=1.0, np=np, m=module("m", K=0.0)
    )
    push(f)
    walks = []
    monkeypatch.setattr(
        Walk, "result", lambda self, result=Walk.result: walks.append(self) or result(self)
    )
    push(f)
    assert not walks
    scope["K"] = 5.0
    assert push(f)[1] == pytest.approx(5.0, abs=1e-12) and walks


def test_results_that_are_remembered_are_bounded(monkeypatch):
    from polhode.core import digest as D

    monkeypatch.setattr(D, "KEPT", 10)
    functions = [eval(f"lambda: {i}") for i in range(30)]
    assert len({digest(f) for f in functions}) == 30 and len(D._results) <= 10


def test_objects_of_many_kinds_have_names():
    """What users refer to, from numbers to frozen classes; those that cannot be copied are
    opaque."""
    import collections
    import dataclasses
    import enum
    import fractions
    import re
    import threading

    from scipy import special

    class Colour(enum.Enum):
        RED = 1

    @dataclasses.dataclass
    class Point:
        x: float = 1.0
        y: list = dataclasses.field(default_factory=list)

    class Slotted:
        __slots__ = ("x",)

    slotted = Slotted()
    slotted.x = 2.0
    known = [
        10**5000,
        "text",
        b"bytes",
        None,
        ...,
        1j,
        range(3),
        slice(1, 2),
        {1: [2]},
        {"a", "b"},
        Colour.RED,
        Point(),
        slotted,
        fractions.Fraction(1, 3),
        re.compile("a+"),
        np.float32(1.0),
        np.arange(3),
        np.array([None, 1], dtype=object),
        np.dtype("f8"),
        np.random.default_rng(3),
        collections.deque([1]),
        collections.namedtuple("P", "x")(1),
        numba.float64,
        polhode.torques.heavy_top(2.0),
        np.sin,
        np.cross,
        "a".upper,
        len,
        str.upper,
        functools.lru_cache(len),
        functools.partial(len, "a"),
        Spring(1.0),
        Spring(1.0).torque,
        Spring,
        classmethod(len),
        np.poly1d([1, 2]),
        types.MappingProxyType({1: 2}),
        np.vectorize(len),
        special.erf,
    ]
    results = [reach((one,), identity=True) for one in known]
    assert [one.opaque for one in results] == [None] * len(known)
    assert len({one.digest for one in results}) == len(known)
    for unknown in (
        threading.Lock(),
        np.frompyfunc(len, 1, 1),
        sys.stdout,
        (i for i in ()),
        sys._getframe(),
    ):
        assert reach((unknown,), identity=True).opaque


def test_a_torque_that_a_function_calls_is_known_by_its_code():
    def calling(k):
        acting = polhode.torque(lambda t, R: (k, 0.0, 0.0))
        return lambda t, R: acting(t, R)

    one, same, other = (reach(calling(k), identity=True) for k in (1.0, 1.0, 2.0))
    assert one.digest == same.digest != other.digest and one.opaque is None
