"""Scenario files of bodies in flight."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from polhode import Load, RigidBody, ensemble, flight, integrate, read, torques
from polhode.cli.application import app
from polhode.errors import InputError
from polhode.io import load
from polhode.io.scenario.ensembles import arguments

BODY = """
[body]
inertia = [1.0, 2.0, 2.5]
mass = 3.0
"""
START = """
[initial]
omega = [0.1, 1.0, 0.0]
position = [5.0, 0.0, 1.0]
velocity = [0.0, 1.2, 0.0]
"""
RUN = """
[run]
method = "EXACT-RKN4"
step = 0.05
t_span = [0, 2]
"""
GRAVITY = """
[[load]]
name = "gravity"
mu = 8.0
"""
NEEDS = {
    "gravity": "mu = 8.0",
    "magnet": "moment = [0.1, 0, 0]\nstrength = 2.0",
    "spring": "stiffness = 2.0\nanchor = [0, 0, 1]\ndamping = 0.1",
    "thrust": "force = [0, 0, 1]\npoint = [0.1, 0, 0]",
    "drag": "quadratic = 0.1\nwind = [1, 0, 0]",
    "detumble": "gain = 0.1\nstrength = 2.0",
    "attitude_control": "kp = 1.0\nkd = 0.5\ntarget = [0, 0, 0.3]",
}
FILE = """
import numpy as np
import polhode

@polhode.load
def pull(t, x, v, R):
    return -2.0 * x, np.zeros(3)

push = polhode.Force(lambda t, x, v, R: -2.0 * x)
"""


@pytest.fixture
def scenario(tmp_path):
    def write(*parts):
        path = tmp_path / "flight.toml"
        path.write_text("".join(parts), encoding="utf-8")
        return path

    return write


def test_loads_add_up_and_get_the_body(scenario):
    more = '[[load]]\nname = "weight"\ng = 1.5\n[torque]\nname = "damping"\ncoefficient = 0.2\n'
    job = load(scenario(BODY, START, GRAVITY, more, RUN))
    body = RigidBody([1.0, 2.0, 2.5], mass=3.0)
    acting = Load(torques.damping(0.2)) + flight.gravity(8.0, body) + flight.weight(mass=3.0, g=1.5)
    start = {"position0": (5, 0, 1), "velocity0": (0, 1.2, 0), "omega0": (0.1, 1.0, 0.0)}
    expected = integrate(body, acting, (0, 2), 0.05, "EXACT-RKN4", **start)
    run = job.integrate()
    assert job.in_flight and run.force.name == "gravity + weight"
    assert np.array_equal(run.motion, expected.motion)


@pytest.mark.parametrize("name", flight.BUILT_IN)
def test_every_load_can_be_written(scenario, name):
    job = load(scenario(BODY, START, f'[load]\nname = "{name}"\n{NEEDS.get(name, "")}\n', RUN))
    run = job.integrate()
    assert run.success and np.isfinite(run.position).all()


@pytest.mark.parametrize("key", ["position", "velocity"])
def test_a_position_or_a_velocity_lets_the_body_fly(scenario, key):
    job = load(scenario(BODY, f"[initial]\nomega = [0, 1, 0]\n{key} = [1, 2, 3]\n", RUN))
    run = job.integrate()
    assert job.in_flight and getattr(run, key)[0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", ["pull", "push"])
def test_a_load_in_python(scenario, tmp_path, name):
    (tmp_path / "loads.py").write_text(FILE, encoding="utf-8")
    job = load(scenario(BODY, START, RUN), f"{tmp_path / 'loads.py'}:{name}")
    expected = (5 * np.cos(np.sqrt(2 / 3) * 2) + 0, 1.2 * np.sqrt(1.5) * np.sin(np.sqrt(2 / 3) * 2))
    assert np.allclose(job.integrate().position[-1, :2], expected, atol=1e-6)


def test_the_command_line(scenario, tmp_path):
    path, out = str(scenario(BODY, START, GRAVITY, RUN)), str(tmp_path / "out.nc")
    told = CliRunner().invoke(app, ["run", path, "--set", "load.gravity.mu=4", "-o", out, "--json"])
    summary = json.loads(told.stdout)
    run = read(out)
    assert told.exit_code == 0 and summary["position_final"] == run.position[-1].tolist()
    assert run.force.record()[0]["parameters"]["mu"] == 4.0
    told = CliRunner().invoke(app, ["info", out, "--json"])
    assert json.loads(told.stdout)["force"] == "gravity"


@pytest.mark.parametrize(
    "parts, expected",
    [
        (
            ("[load]\nname = 'gravty'\n",),
            "load.name: unknown load 'gravty' (did you mean 'gravity'?)",
        ),
        (("[load]\nname = 'gravity'\n",), "load.mu: is missing; write mu = 398600.4"),
        (("[load]\nmu = 3.0\n",), "load: needs a name, got {'mu': 3.0}; write name = \"gravity\""),
        (("[load]\nname = 'weight'\nmass = 2.0\n",), "load.mass: unknown key; valid: name, g"),
        (("[load]\nname = 'drag'\n",), "load: drag needs one coefficient"),
        (("[load]\nfile = 'loads.py'\n",), "load: a scenario holds data and never runs code"),
        (("load = []\n",), "load: is an empty list; leave it out for a body without load"),
    ],
)
def test_what_is_wrong(scenario, parts, expected):
    text = [*parts, BODY, START, RUN] if parts[0].startswith("load") else [BODY, START, *parts, RUN]
    with pytest.raises(InputError) as caught:
        load(scenario(*text))
    assert expected in str(caught.value)


def test_a_load_that_is_singular_at_the_start(scenario):
    with pytest.raises(InputError, match=r"load: .* at the start of the run"):
        load(scenario(BODY, START.replace("[5.0, 0.0, 1.0]", "[0, 0, 0]"), GRAVITY, RUN))


def test_a_method_that_cannot_follow(scenario):
    run = RUN.replace("EXACT-RKN4", "RKMK4")
    with pytest.raises(InputError, match=r"run.method: torque 'gravity' depends on the position"):
        load(scenario(BODY, START, GRAVITY, run))


def test_an_ensemble_in_flight(scenario):
    many = "[ensemble]\nn = 4\nrotation = 'same'\nposition_spread = 0.1\n"
    job = load(scenario(BODY, START, GRAVITY, RUN, many))
    run = ensemble(**arguments(job))
    assert run.error_estimate.largest < 1e-3  # from bodies of one mass
    assert run.n == 4 and len(np.unique(run.position[:, 0])) == 4
    same = ensemble(
        **arguments(load(scenario(BODY, START, GRAVITY, RUN, many.replace("0.1", "0"))))
    )
    assert np.array_equal(same.position[2], job.integrate().position[-1])
    drawn = many + "inertia_spread = 0.1\nparameter_spread = { mu = 0.5 }\n"
    assert np.isfinite(
        ensemble(**arguments(load(scenario(BODY, START, GRAVITY, RUN, drawn)))).position
    ).all()
