"""The compile cache: a second process compiles nothing, and edited code is never answered with
stale machine code."""

import json
import subprocess
import sys
import textwrap

import pytest

from machine_code import with_cache

from polhode.core.digest import digest
from polhode.core.jit import bind, compiled, interpreted, jit
from polhode.core.rebind import Rebinder


def python(code, cache, *paths, check=True):
    """Run code in a fresh process with its own cache folder; what it printed last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=with_cache(cache, *paths),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 or not check, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


RUN = """
    import json, polhode
    from machine_code import cache_statistics
    run = polhode.integrate([5, 5, 1], "heavy_top", (0, 1), 0.01, "{method}", rotation0=(0.3, 0, 0), omega0=(0, 0, 50))
    s = cache_statistics()
    print(json.dumps([s["compiled"], s["loaded"], run.quaternion[-1].tolist()]))
"""


def test_second_process_compiles_nothing(tmp_path):
    first = python(RUN.format(method="LP2"), tmp_path)
    second = python(RUN.format(method="LP2"), tmp_path)
    assert first[0] > 0 and first[1] == 0
    assert second[0] == 0 and second[1] == first[0]
    assert second[2] == first[2]


@pytest.mark.parametrize("name", [None, "nowhere"])
def test_a_torque_without_a_module_is_loaded_like_others(tmp_path, name):
    """What `exec` defines belongs to no module, or to one that cannot be imported."""
    code = f"""
        import json, polhode
        from machine_code import cache_statistics
        scope = {{"__name__": {name!r}}} if {name!r} else {{}}
        exec("def push(t, R):\\n    return (1.0, 0.0, 0.0)", scope)
        run = polhode.integrate([1, 1, 1], scope["push"], (0, 1), 0.1, omega0=(0, 0, 0))
        s = cache_statistics()
        print(json.dumps([run.mode, s["compiled"], s["loaded"]]))
    """
    mode, made, _ = python(code, tmp_path)
    assert mode == "compiled" and made > 0
    assert python(code, tmp_path) == ["compiled", 0, made]


def test_an_unwritable_cache_is_no_obstacle(tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("not a folder")
    compiled_here, loaded, _ = python(RUN.format(method="LP2"), blocked / "cache")
    assert compiled_here > 0 and loaded == 0


METHOD = """
from polhode.core.jit import jit
from helper import push
from polhode.methods import Motion, method

@method("probe", order=1, torques=0, symmetric=False, symplectic=False)
@jit
def step(h, t, s, body, torque, p):
    return Motion(s.q, push(s.Om))
"""
HELPER = """
from polhode.core.jit import jit
from constants import SIZE

@jit
def push(v):
    return (v[0] + {code}, v[1], v[2])
"""
PROBE = """
    import json, polhode, probe
    from machine_code import cache_statistics
    nothing = polhode.torques.constant((0, 0, 0))   # without a potential: the energy of this motion is not watched
    run = polhode.integrate([1, 2, 3], nothing, (0, 1), 0.1, "probe", omega0=(0, 0, 0))
    s = cache_statistics()
    print(json.dumps([s["compiled"], float(run.omega[-1, 0])]))
"""


def test_editing_any_function_a_loop_uses_is_never_answered_with_stale_code(tmp_path):
    source, cache = tmp_path / "source", tmp_path / "cache"
    source.mkdir()
    (source / "probe.py").write_text(METHOD)
    results = []
    for code, size in (("1.0", 7.0), ("2.0", 7.0), ("SIZE", 7.0), ("SIZE", 9.0), ("2.0", 9.0)):
        (source / "helper.py").write_text(HELPER.format(code=code))  # two files away from the loop
        (source / "constants.py").write_text(f"SIZE = {size}\n")  # a constant, three files away
        for cached in source.glob("__pycache__/*"):
            cached.unlink()
        results.append(python(PROBE, cache, source))
    assert [round(value, 9) for _, value in results] == [10.0, 20.0, 70.0, 90.0, 20.0]
    # the last is the second again
    assert [count > 0 for count, _ in results] == [True, True, True, True, False]


def test_digest_sees_code_constants_closures_and_callees_but_not_layout():
    def make(k):
        @jit
        def inner(x):
            return x + k

        return inner

    @jit
    def outer(x):
        return make_one(x)

    names = []
    for k in (1.0, 2.0):
        make_one = make(k)
        names.append(digest(make_one, outer))
    assert names[0] != names[1]
    assert digest(make(1.0)) == digest(make(1.0))
    first, second = {}, {}
    exec("def f(x):\n    return x + 1.5", first)
    exec("# comment\n\ndef f(x):\n\n    return x + 1.5  # why", second)
    assert digest(first["f"]) == digest(second["f"])
    exec("def f(x):\n    return x + 2.5", second)
    assert digest(first["f"]) != digest(second["f"])


def double(x):
    return 2.0 * x


def loop(n, x):
    for _ in range(n):
        x = act(x)
    return x


act = None


def test_bind_compiles_once_and_keeps_different_bindings_apart():
    one, other = bind(loop, act=double), bind(loop, act=lambda x: x + 1.0)
    assert bind(loop, act=double) is one
    assert one(3, 1.0) == 8.0 and other(3, 1.0) == 4.0
    for machine in (one, other):  # compiled or loaded
        assert sum((machine.stats.cache_misses + machine.stats.cache_hits).values()) == 1
    assert interpreted(loop, act=double)(3, 1.0) == 8.0
    assert act is None


def test_rebinder_can_stand_another_function_in_for_one_deep_inside():
    @jit
    def middle(x):
        return double(x) + 1.0

    assert Rebinder(lambda f: f, {double: lambda x: 10.0 * x})(middle)(2.0) == 21.0
    assert middle(2.0) == 5.0
    assert compiled(middle)(2.0) == 5.0


@pytest.mark.parametrize(
    "code",
    ["import polhode", "from polhode.cli import main; sys.argv[1:] = ['--help']; main()"],
    ids=["import", "help"],
)
def test_import_and_help_leave_numba_alone(code):
    program = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nassert 'numba' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
