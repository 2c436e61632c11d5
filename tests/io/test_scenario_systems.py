"""Scenarios of several bodies: what they become, how they are placed, and what is wrong with them."""

import json
import tomllib
from pathlib import Path

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System
from polhode.cli import app
from polhode.io import load
from polhode.io.scenario import ensembles
from polhode.io.scenario._load import make_scenario
from typer.testing import CliRunner

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIR = """
[[body]]
name = "rod"
shape = "box"
size = [1.0, 0.2, 0.3]
mass = 2.0
position = [-1.0, 0.0, 0.0]
omega = [0.0, 1.0, 0.2]
rotation_vector = [0.1, 0.0, 0.0]

[[body]]
name = "ball"
inertia = [1.0, 1.0, 1.0]
position = [1.0, 0.0, 0.0]
velocity = [0.0, 0.5, 0.0]
momentum = [0.0, 0.0, 2.0]

[[interaction]]
name = "springs"
links = [["rod", "ball"]]
stiffness = 3.0
points = [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]

[run]
method = "VLV"
step = 0.05
t_span = [0, 1]
"""


def made(text, **changes):
    return make_scenario(tomllib.loads(text), "pair.toml", **changes)


def table(more):
    """A scenario of one table of boxes, placed by these lines."""
    return (
        '[[body]]\nname = "box"\nshape = "box"\nsize = [1.0, 2.0, 3.0]\n'
        f"{more}\n[run]\nstep = 0.1\nt_span = [0, 1]\n"
    )


def test_a_scenario_is_the_call_it_describes():
    scenario = made(PAIR)
    bodies = [RigidBody.box(1.0, 0.2, 0.3, mass=2.0, name="rod"), RigidBody([1, 1, 1], name="ball")]
    springs = polhode.interactions.springs([(0, 1)], 3.0, points=((0.5, 0, 0), (0, 0, 0)))
    assert scenario.body.bodies == tuple(bodies) and scenario.in_flight
    run = scenario.integrate()
    expected = polhode.integrate(
        System(bodies, springs),
        t_span=(0, 1),
        step=0.05,
        method="VLV",
        position0=[[-1, 0, 0], [1, 0, 0]],
        velocity0=[[0, 0, 0], [0, 0.5, 0]],
        rotation0=[[0.1, 0, 0], [0, 0, 0]],
        omega0=[[0, 1, 0.2], [0, 0, 2]],
    )
    assert np.array_equal(run.motion, expected.motion) and run.title == "pair"
    assert run.interaction.record() == expected.interaction.record()


def test_settings_reach_bodies_and_interactions_by_name_or_number():
    settings = [
        ("--set", "body.ball.velocity.1=0.25"),
        ("--set", "body.0.mass=4"),
        ("--set", "interaction.springs.stiffness=7.0"),
        ("--method", "LP2"),
    ]
    scenario = made(PAIR, settings=settings)
    assert scenario.velocity0[1].tolist() == [0, 0.25, 0] and scenario.body.masses[0] == 4.0
    assert scenario.body.interaction.own.arrays[0].tolist() == [7.0]
    assert scenario.method.name == "LP2"


def test_lines_rings_and_lattices():
    line = made(table("count = 3\nline = [1.0, 0.0, 0.5]\nposition = [1.0, 0.0, 0.0]"))
    assert line.position0.tolist() == [[1, 0, 0], [2, 0, 0.5], [3, 0, 1]]
    ring = made(table("count = 4\nring = 2.0\nposition = [0.0, 0.0, 1.0]"))
    corners = [[2, 0, 1], [0, 2, 1], [-2, 0, 1], [0, -2, 1]]
    assert np.allclose(ring.position0, corners, atol=1e-15)
    turned = polhode.rotations.matrices(ring.rotation0)
    # the same side of each is outside
    assert np.allclose(2.0 * turned[:, :, 0], ring.position0 - [0, 0, 1], atol=1e-15)
    about_x = made(table("count = 4\nring = 2.0\naxis = [2.0, 0.0, 0.0]"))
    assert np.allclose(about_x.position0[:, 0], 0.0)
    assert np.allclose(np.linalg.norm(about_x.position0, axis=1), 2.0)
    cube = made(table("count = 8\nlattice = 2.0"))
    assert sorted(cube.position0.tolist()) == sorted(
        [float(x), float(y), float(z)] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)
    )
    flat = made(table("count = 6\nlattice = [1.0, 2.0, 1.0]\ncells = [2, 3, 1]"))
    assert np.ptp(flat.position0, axis=0).tolist() == [1.0, 4.0, 0.0]


def test_random_starts_are_those_of_their_seed_and_have_no_momentum():
    text = table(
        'count = 27\nlattice = 2.0\nrotation = "random"\nomega_spread = 0.5\nvelocity_spread = [0.1, 0.1, 0.0]\nseed = 3'
    )
    one, same = made(text), made(text)
    for name in ("rotation0", "omega0", "velocity0"):
        assert np.array_equal(getattr(one, name), getattr(same, name))
    assert abs(one.velocity0.sum(axis=0)).max() < 1e-14 and np.ptp(one.velocity0[:, 2]) == 0.0
    assert 0.3 < one.omega0.std() < 0.7 and 0.05 < one.velocity0[:, :2].std() < 0.2
    assert np.allclose(np.linalg.norm(one.rotation0, axis=1), 1.0)
    other = made(text.replace("seed = 3", "seed = 4"))
    assert not np.array_equal(one.rotation0, other.rotation0)
    assert len(set(map(id, one.body.bodies))) == 1  # one body, many times


def test_fixed_bodies_links_by_words_and_values_by_name():
    text = PAIR.replace('links = [["rod", "ball"]]', 'links = "chain"').replace(
        "momentum = [0.0, 0.0, 2.0]", "fixed = true"
    )
    scenario = made(text.replace("velocity = [0.0, 0.5, 0.0]", ""))
    assert scenario.body.interaction.links.tolist() == [[0, 1]]
    assert scenario.body.fixed.tolist() == [False, True]
    chain = table("count = 4\nline = [1.0, 0.0, 0.0]")
    for word, links in (
        ("chain", [[0, 1], [1, 2], [2, 3]]),
        ("ring", [[0, 1], [1, 2], [2, 3], [3, 0]]),
    ):
        more = f'\n[interaction]\nname = "springs"\nlinks = "{word}"\nstiffness = 1.0\n'
        assert made(chain + more).body.interaction.links.tolist() == links
    more = '\n[interaction]\nname = "dipoles"\nmoments = { rod = [1.0, 0.0, 0.0], ball = [0.0, 0.0, 2.0] }\n'
    magnets = made(PAIR.split("[[interaction]]")[0] + more + "[run]\nstep = 0.1\nt_span = [0, 1]\n")
    assert magnets.body.interaction.each.arrays[0].tolist() == [[1, 0, 0], [0, 0, 2]]


def test_units_are_those_of_all_bodies():
    scenario = made('units = "SI"\n' + PAIR)
    assert {body.units.of("kg m2/s") for body in scenario.body.bodies} == {"kg m2/s"}


def test_an_interaction_in_python_is_run_when_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bare = PAIR.split("[[interaction]]")[0] + "[run]\nstep = 0.1\nt_span = [0, 1]\n"
    Path("bare.toml").write_text(bare, encoding="utf-8")
    Path("own.py").write_text(
        "import numpy as np\nimport polhode\n\n"
        "def pull(t, x, R):\n    F = 0.1 * (x[1] - x[0])\n    return np.stack((F, -F)), np.zeros((2, 3))\n\n"
        "@polhode.pair(form='tuple')\ndef weak(r, Ri, Rj):\n    return r, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)\n",
        encoding="utf-8",
    )
    assert load("bare.toml").body.interaction.acts is False
    assert load("bare.toml", "own.py").body.interaction.name == "weak"
    assert load("bare.toml", "own.py:pull").body.interaction.name == "pull"
    with pytest.raises(InputError, match=r"has no interaction 'pul' .did you mean 'pull'"):
        load("bare.toml", "own.py:pul")
    with pytest.raises(InputError, match=r"an interaction file is FILE.py or FILE.py:NAME"):
        load("bare.toml", "own.txt")
    line = ["run", "bare.toml", "--torque-file", "own.py:pull", "--json"]
    found = CliRunner().invoke(app, line)
    assert found.exit_code == 0 and json.loads(found.stdout)["interaction"] == "pull"


@pytest.mark.parametrize("name", ["didymos", "magnets", "chain"])
def test_the_examples_run_from_the_command_line(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    line = [
        "run",
        str(EXAMPLES / f"{name}.toml"),
        "-o",
        "run.nc",
        "--json",
        "--set",
        "run.every=20",
    ]
    found = CliRunner().invoke(app, line)
    assert found.exit_code == 0, found.stderr
    summary = json.loads(found.stdout)
    run = polhode.read("run.nc", polhode.SystemTrajectory)
    assert summary["bodies"] == len(run.body) and summary["status"] == "finished"
    assert summary["energy_drift_relative"] < 0.02
    if name != "magnets":  # whose needles are held
        assert summary["momentum_error_relative"] < 1e-13
        assert summary["angular_momentum_error_relative"] < 1e-12
    shown = CliRunner().invoke(app, ["run", str(EXAMPLES / f"{name}.toml")])
    assert "momentum" in shown.stdout and "energy drift" in shown.stdout
    for line in (
        ["info", "run.nc"],
        ["view", "run.nc"],
        ["plot", "run.nc"],
        ["plot", "run.nc", "--kind", "errors"],
    ):
        assert CliRunner().invoke(app, line).exit_code == 0, line
    assert Path("run.html").is_file() and Path("run-overview.png").is_file()


def test_an_interrupted_run_is_resumed_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pair.toml").write_text(PAIR.replace("[0, 1]", "[0, 400]"), encoding="utf-8")
    plain = CliRunner().invoke(app, ["run", "pair.toml", "-o", "plain.npz"])
    assert plain.exit_code == 0, plain.stderr
    monkeypatch.setattr("polhode.io.store.save", lambda *args, **options: 1 / 0)
    cut = CliRunner().invoke(app, ["run", "pair.toml", "-o", "cut.npz", "--checkpoint", "1000"])
    assert cut.exit_code != 0 and Path("cut.npz.part").is_dir()
    told = CliRunner().invoke(app, ["info", "cut.npz"])
    assert "springs" in told.stdout
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    again = CliRunner().invoke(app, ["run", "--resume", "cut.npz"])
    assert again.exit_code == 0, again.stderr
    one, other = polhode.read("plain.npz"), polhode.read("cut.npz")
    assert np.array_equal(one.motion, other.motion)


FAULTS = [
    ("body = []\n" + table("").split("\n", 5)[5], "body: is an empty list"),
    (PAIR + "[initial]\nomega = [1.0, 0.0, 0.0]", "initial: goes with one body"),
    (PAIR + '[torque]\nname = "free"', "torque: goes with one body, .*; write an"),
    (PAIR + "[ensemble]\nn = 3", "ensemble: goes with one body"),
    ('problem = "krysl/slow-top"\n' + PAIR, "problem: goes with one body"),
    (PAIR.replace("velocity =", "velocty ="), r"body.1.velocty: unknown key \(did you mean 'velocity'"),
    (PAIR.replace('"box"', '"bix"'), "body.0.shape: unknown shape 'bix'"),
    (PAIR.replace("inertia =", "inertai ="), "body.1: unknown key 'inertai' .did you mean 'inertia'"),
    (PAIR.replace("position = [1.0, 0.0, 0.0]", ""), "body.1.position: is missing"),
    (PAIR.replace("momentum =", "omega = [1.0, 0.0, 0.0]\nmomentum ="), "give omega or momentum, got both"),
    (PAIR.replace("momentum = [0.0, 0.0, 2.0]", "momentum = [0.0, 0.0, 1e30]"), "must be at most 1e.25"),
    (PAIR.replace("rotation_vector", 'rotation = "random"\nrotation_vector'), "give the attitude once"),
    (table("count = 3"), "3 bodies are placed on a line, a ring or a lattice, got none"),
    (table("count = 3\nring = 1.0\nlattice = 2.0"), "got ring and lattice; give one"),
    (table("count = 3\nring = 1.0\naxis = [0.0, 0.0, 0.0]"), "axis must have a length"),
    (table("count = 9\nlattice = 1.0\ncells = [2, 2, 2]"), "has no room for 9 bodies"),
    (table("count = 0"), "at least 1, got 0"),
    (table("[[body.rotors]]\naxis = [0.0, 0.0, 1.0]\ninertia = 0.01\nspeed = 1.0"), "rotors"),
    (PAIR.replace('"springs"', '"sprigns"'), "unknown interaction 'sprigns' .did you mean 'springs'"),
    (PAIR.replace('name = "springs"', ""), "interaction.0: needs a name"),
    (PAIR.replace('name = "springs"', 'name = "own.py:f"'), "never runs code.*--torque-file"),
    (PAIR.replace('[["rod", "ball"]]', '[["rod", "bal"]]'), "unknown body 'bal' .did you mean 'ball'"),
    (PAIR.replace('"rod"', '"rod"\ncount = 2\nline = [0.0, 3.0, 0.0]', 1), "there are 2 bodies 'rod'; give the number of one"),
    (PAIR.replace('[["rod", "ball"]]', "[[0, 5]]"), "has a link to body 5"),
    (PAIR.replace('[["rod", "ball"]]', '"chian"'), "did you mean 'chain'"),
    (PAIR.replace("stiffness = 3.0", 'stiffness = "much"'), "must be a number, lists of numbers"),
    (PAIR.replace("stiffness = 3.0", "stiffness = { rod = 1.0 }"), "has no value for the body 'ball'"),
    (PAIR.replace("stiffness = 3.0", "stiffness = { red = 1.0 }"), "unknown body 'red' .did you mean 'rod'"),
    (PAIR.replace("stiffness = 3.0", "stiffness = { rod = 1.0, ball = 2.0 }"), "got shape .2,."),
    (PAIR.replace("stiffness = 3.0", ""), "stiffness: is missing"),
    (
        PAIR.replace("[[body]]", "[body]", 1).split("[[body]]")[0] + '[interaction]\nname = "springs"',
        "interaction: is between bodies",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), FAULTS)
def test_faults_are_told_with_their_place(text, words):
    with pytest.raises(InputError, match=words):
        made(text)


def test_all_faults_are_told_at_once():
    text = PAIR.replace('"box"', '"bix"').replace("stiffness = 3.0", 'stiffness = "much"')
    with pytest.raises(InputError, match="has 2 errors") as told:
        made(text)
    assert "body.0.shape" in str(told.value) and "interaction.0.stiffness" in str(told.value)


def test_a_system_is_no_ensemble(tmp_path):
    with pytest.raises(InputError, match="one system of 2 bodies"):
        ensembles.arguments(made(PAIR))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('["rod", "ball"]', '["rod", "bal"]'), r"^pair.toml: interaction.0.links: unknown body 'bal' .did you mean .*'ball'$"),
        (('name = "ball"', 'name = "rod"'), "body.1.name: must be its own, and body 0 is 'rod' too; give another"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_one_error(change, message):
    text = PAIR.replace(*change).replace('["rod", "ball"]', "[0, 1]" if "name" in change[0] else "")
    with pytest.raises(InputError, match=message):
        make_scenario(tomllib.loads(text), "pair.toml")


def test_a_name_of_several_entries_is_not_set():
    spring = PAIR[PAIR.index("[[interaction]]") : PAIR.index("[run]")]
    data = tomllib.loads(PAIR.replace("[run]", f"{spring}[run]"))
    setting = [("--set", "interaction.springs.stiffness=2.0")]
    with pytest.raises(
        InputError, match=r"2 are named 'springs'; write interaction.0 or interaction.1"
    ):
        make_scenario(data, "pair.toml", settings=setting)
