"""What the first result costs: common calls in a fresh process, with empty caches and with full ones.

    python benchmarks/cold.py [--calls NAME ...] [--json]
    python benchmarks/cold.py --write       all calls, into RESULTS.md

Each call runs in processes of its own, from the start of Python to its result, imports included:
first with an empty folder for machine code, then again with what the first left there.  The
package has its bytecode, as after `pip install`.  SciPy's `solve_ivp` on the same top, started in
the same way, is the reference.  "compiled" counts the functions that numba compiled.  Times are
processor times, which other work on the machine disturbs least; on an idle machine they equal the
wall-clock times.
"""

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import polhode
from contestants.board import RESULTS, between, machine, table

BODY = "import numpy as np, polhode\nbody = polhode.RigidBody([5.0, 5.0, 1.0])\n"
START = "rotation0=(0.3, 0, 0), omega0=(0, 0, 50)"
TOP = f"{BODY}torque = polhode.torques.heavy_top(20.0)\n"
WEIGHT = """
def weight(t, R):
    return -20.0 * np.cross(R[:, 2], np.array([0.0, 0.0, 1.0]))
"""
TWO = f"""{BODY}
def pull(t, x, R):
    F = 3.0 * (x[::-1] - x)
    return F, np.zeros((2, 3))

"""
MINE = """
[body]
shape = "box"
size = [0.20, 0.13, 0.03]

[initial]
omega = [0.002, 6.0, 0.0]

[run]
step = 0.005
t_span = [0, 20]
"""


def run(torque, options):
    return f"polhode.integrate(body, {torque}, t_span=(0, 10), {options}, {START})"


def command(*words):
    """A call of the command line, in this process."""
    return (
        f"import sys\nsys.argv = ['polhode', *{words!r}]\n"
        "from polhode.cli.application import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
    )


CALLS = {
    "integrate, user's torque": BODY + WEIGHT + run("weight", "step=0.01, method='LIEMID[EA]'"),
    "integrate, free, LP2": BODY + run("None", "step=0.01, method='LP2'"),
    "integrate, rtol": TOP + run("torque", "rtol=1e-9"),
    "integrate, NMB": TOP + run("torque", "step=0.01, method='NMB'"),
    "integrate, EXACT-RKN4": TOP + run("torque", "step=0.01, method='EXACT-RKN4'"),
    "integrate, own system": TWO
    + (
        "polhode.integrate(polhode.System([body] * 2, pull), t_span=(0, 10), step=0.01,"
        " method='VLV', position0=[(0, 0, 0), (1, 0, 0)], omega0=[(0, 1, 3), (1, 0, 2)])"
    ),
    "Stepper": f"{TOP}polhode.Stepper(body, torque, step=0.01, method='NMB', {START}).step()",
    "ensemble of 1000": (
        f"{TOP}polhode.ensemble(body, torque, t_span=(0, 1), step=0.01, method='NMB',"
        " rotation0=(0.3, 0, 0), omega0=np.tile([0.0, 0.0, 50.0], (1000, 1)))"
    ),
    "exact.free_body": (
        f"{BODY}polhode.exact.free_body(body, omega0=(1.0, 2.0, 3.0),"
        " t=np.linspace(0.0, 10.0, 100))"
    ),
    "polhode run mine.toml": command("run", "mine.toml", "-o", "mine.nc"),
    "polhode demo": command("demo"),
}
SCIPY = """
import numpy as np
from scipy.integrate import solve_ivp

def rates(t, u):
    x, y, z, w, a, b, c = u
    p, q = 40.0 * (y * z + w * x), -40.0 * (x * z - w * y)
    return np.array([
        0.5 * (w * a + y * c - z * b), 0.5 * (w * b + z * a - x * c), 0.5 * (w * c + x * b - y * a),
        -0.5 * (x * a + y * b + z * c), (p + 4.0 * b * c) / 5.0, (q - 4.0 * c * a) / 5.0, 0.0])

solve_ivp(rates, (0, 10), [np.sin(0.15), 0.0, 0.0, np.cos(0.15), 0.0, 0.0, 50.0],
          method="DOP853", rtol=1e-6, atol=1e-6)
"""
REPORT = """
import json as _json, resource as _resource, sys as _sys
_used = _resource.getrusage(_resource.RUSAGE_SELF)
_seconds = _used.ru_utime + _used.ru_stime
print(_json.dumps({"seconds": _seconds, "compiled": _count[0]}), file=_sys.stderr)
"""
COUNT = """
_count = [0]
import importlib.abc as _abc, sys as _sys
class _Finder(_abc.MetaPathFinder):
    "Counts what numba compiles, once numba is there."
    def find_spec(self, name, path=None, target=None):
        if name == "numba.core.dispatcher":
            from numba.core import event
            class Listener(event.Listener):
                def on_start(self, event):
                    _count[0] += 1
                def on_end(self, event):
                    pass
            event.register("numba:compile", Listener())
_sys.meta_path.insert(0, _Finder())
"""


def measure(code, folder):
    """{"seconds": ..., "compiled": ...} of a process that runs the code with its caches in a
    folder."""
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        "POLHODE_CACHE_DIR": str(folder / "machine-code"),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "MPLBACKEND": "agg",
    }
    (folder / "mine.toml").write_text(MINE, encoding="utf-8")
    (folder / "mine.nc").unlink(missing_ok=True)
    shutil.rmtree(folder / "polhode-demo", ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-c", COUNT + textwrap.dedent(code) + REPORT],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{done.stderr}\nthis call failed")
    return json.loads(done.stderr.splitlines()[-1])


HEAD = ["call", "empty caches", "compiled", "full caches"]


def cells(name, row):
    """A row of the table."""
    cold, warm = row["cold"], row["warm"]
    return [name, f"{cold['seconds']:.2f}", str(cold["compiled"]), f"{warm['seconds']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", nargs="*", default=[""], help="beginnings of names (all)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    options = parser.parse_args()
    if options.write:
        options.calls = [""]
    compileall.compile_dir(Path(polhode.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        scipy = min(measure(SCIPY, Path(folder))["seconds"] for _ in range(3))
    rows = {}
    for name, code in CALLS.items():
        if name.startswith(tuple(options.calls)):
            with tempfile.TemporaryDirectory() as folder:
                rows[name] = {state: measure(code, Path(folder)) for state in ("cold", "warm")}
            if not options.json:
                print(*cells(name, rows[name]), sep=" | ", flush=True)
    if options.json:
        print(json.dumps({"scipy": scipy, "calls": rows}, indent=1))
        return
    goal = f"SciPy's `solve_ivp`: {scipy:.2f} s.  Goal of the first row: {2 * scipy + 1.5:.2f} s."
    print(goal)
    if options.write:
        found = table(HEAD, [cells(*item) for item in rows.items()])
        between(RESULTS, "first results", f"{machine()}  {goal}\n\n{found}")


if __name__ == "__main__":
    main()
