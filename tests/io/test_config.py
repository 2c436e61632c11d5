"""Scenario files: what they may say, and that everything wrong in them is said at once."""

from pathlib import Path

import numpy as np
import pytest

from polhode import RigidBody, integrate, problems, torques
from polhode.errors import InputError, PolhodeError
from polhode.io import load
from polhode.io.scenario.schema import SHAPES

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.toml") if path.stem != "sweep")

GOOD = """
[body]
inertia = [1.0, 2.0, 2.5]
[initial]
omega = [0.0, 1, 0.0]
[run]
step = 0.1
t_span = [0, 1]
"""


@pytest.fixture
def scenario(tmp_path):
    def write(text, name="scenario.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def faults(scenario):
    """The lines of complaint about a scenario, without the name of the file."""

    def collect(text):
        with pytest.raises(InputError) as caught:
            load(scenario(text))
        head, *rest = str(caught.value).splitlines()
        return [line.strip() for line in rest] if rest else [head.split(": ", 1)[1]]

    return collect


# --- what is right --------------------------------------------------------------------------------


def test_a_plain_scenario(scenario):
    job = load(scenario(GOOD))
    assert job.title == "scenario" and job.t_span == (0.0, 1.0) and job.torque.name == "free"
    run = job.integrate()
    same = integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0, 1, 0))
    assert run.status == "finished" and len(run) == 11 and run.method is same.method
    assert np.array_equal(run.quaternion, same.quaternion)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_load_and_begin(path):
    assert len(EXAMPLES) == 10
    job = load(path)
    t0 = job.t_span[0]
    short = {**vars(job), "t_span": (t0, t0 + 20 * job.step), "every": 1}
    run = type(job)(**short).integrate()
    assert run.status == "finished" and run.steps == 20 and np.isfinite(run.total_energy).all()


def test_a_problem_supplies_everything(scenario):
    problem = problems.get("krysl/slow-top")
    job = load(scenario('problem = "krysl/slow-top"'))
    assert job.body is problem.body and job.step == problem.step and job.t_span == problem.t_span
    assert np.array_equal(job.rotation0, problem.rotation0) and np.array_equal(
        job.omega0, problem.omega0
    )


def test_sections_override_a_problem(scenario):
    job = load(
        scenario(
            'problem = "slow-top"\n[initial]\nomega = [1, 2, 3]\n[run]\nstep = 0.01\nmethod = "nmb"'
        )
    )
    assert job.omega0.tolist() == [1.0, 2.0, 3.0] and job.step == 0.01 and job.method.name == "NMB"
    assert np.array_equal(job.rotation0, problems.get("slow-top").rotation0)


@pytest.mark.parametrize(
    "attitude",
    [
        "rotation_vector = [0, 0, 1.5707963267948966]",
        "matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]",
        "quaternion = [0, 0, 0.7071067811865476, 0.7071067811865476]",
    ],
)
def test_attitudes(scenario, attitude):
    job = load(scenario(GOOD.replace("[initial]", f"[initial]\n{attitude}")))
    assert np.allclose(job.rotation0, [0, 0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-15)


@pytest.mark.parametrize(
    "section, body",
    [
        ('shape = "box"\nsize = [1, 2, 3]\nmass = 2', RigidBody.box(1, 2, 3, mass=2)),
        (
            'shape = "ellipsoid"\nsemi_axes = [1, 2, 3]\ndensity = 2',
            RigidBody.ellipsoid(1, 2, 3, density=2),
        ),
        ('shape = "cylinder"\nradius = 1\nheight = 2', RigidBody.cylinder(1, 2)),
        ('shape = "sphere"\nradius = 1\nhollow = true', RigidBody.sphere(1, hollow=True)),
        (
            'shape = "point_masses"\nmasses = [1, 1, 2]\npositions = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]',
            RigidBody.point_masses([1, 1, 2], np.eye(3)),
        ),
        (
            "inertia = [[3, 0.5, 0], [0.5, 4, 0], [0, 0, 5]]",
            RigidBody([[3, 0.5, 0], [0.5, 4, 0], [0, 0, 5]]),
        ),
        (
            "inertia = [5, 10, 1]\ncheck_triangle = false",
            RigidBody([5, 10, 1], check_triangle=False),
        ),
    ],
)
def test_bodies(scenario, section, body):
    assert load(scenario(GOOD.replace("inertia = [1.0, 2.0, 2.5]", section))).body == body


def test_momentum_in_place_of_omega(scenario):
    job = load(scenario(GOOD.replace("omega = [0.0, 1, 0.0]", "momentum = [1, 1, 1]")))
    assert np.allclose(job.omega0, [1.0, 0.5, 0.4])


def test_torques_add_up_and_get_the_body(scenario):
    text = (
        GOOD
        + '[[torque]]\nname = "gravity-gradient"\nrate = 0.1\n[[torque]]\nname = "damping"\ncoefficient = 0.5\n'
    )
    job = load(scenario(text))
    R, omega = np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0], np.array([1.0, 2.0, 3.0])
    expected = torques.gravity_gradient(job.body, 0.1) + torques.damping(0.5)
    assert np.array_equal(job.torque(0.3, R, omega), expected(0.3, R, omega))


def test_the_book_toss_takes_its_step_from_the_run(scenario):
    assert (
        load(scenario(GOOD + '[torque]\nname = "book_toss"\ntoss = 3.0')).torque.params.step == 0.1
    )
    assert load(scenario('problem = "book-toss"\n[run]\nstep = 0.02')).torque.params.step == 0.02


@pytest.mark.parametrize("name", torques.BUILT_IN)
def test_every_built_in_torque_can_be_written(scenario, name):
    needs = {
        "constant": "value = [0, 0, 1]",
        "gravity_gradient": "rate = 1",
        "damping": "coefficient = [1, 1, 2]",
    }
    # the stress potential is singular at the identity
    attitude = "rotation_vector = [0, 0.7227, 0]\nomega"
    job = load(
        scenario(
            GOOD.replace("omega", attitude, 1) + f'[torque]\nname = "{name}"\n{needs.get(name, "")}'
        )
    )
    assert job.torque.name == name


def test_steps_one_by_one(scenario):
    job = load(
        scenario(
            GOOD.replace("step = 0.1", "step = [0, 0.1, 0.4, 1.0]").replace("t_span = [0, 1]", "")
        )
    )
    assert job.integrate().t.tolist() == [0.0, 0.1, 0.4, 1.0]


def test_a_byte_order_mark_is_no_error(tmp_path):
    path = tmp_path / "bom.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load(path).step == 0.1


# --- what is wrong --------------------------------------------------------------------------------


def test_all_faults_at_once(faults):
    found = faults("""
titel = "x"
[body]
inertia = [1, -2.0, "x"]
mas = 3
[initial]
quaternion = [0, 0, 0, 2]
omega = [1, 2]
[[torque]]
name = "heavy_tpo"
[[torque]]
name = "damping"
coeficient = 3
[run]
method = "VLW"
step = -0.1
every = "ends"
problem = "krysl/slow-top"
[output]
file = "a.xls"
""")
    text = "\n".join(found)
    assert len(found) == 14
    for part in (
        "titel: unknown key (did you mean 'title'?)",
        "body.inertia.1: must be positive, got -2.0",
        "body.inertia.2: must be a number, got 'x'",
        "body.mas: unknown key (did you mean 'mass'?)",
        "initial.quaternion: rotation must be a unit quaternion",
        "initial.omega: must have 3 entries, got [",
        "torque.0.name: unknown torque 'heavy_tpo' (did you mean 'heavy_top'?)",
        "torque.1.coefficient: is missing",
        "torque.1.coeficient: unknown key (did you mean 'coefficient'?)",
        "run.method: unknown method 'VLW'",
        "run.step: must be positive, got -0.1",
        "run.every: must be a whole number of steps, at least 1, or 'end'",
        "run.problem: unknown key here; put it at the top of the file",
        "output.file: unknown suffix",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    "old, new, expected",
    [
        (
            "[body]\ninertia = [1.0, 2.0, 2.5]",
            "",
            "body: is missing; write a [body] section, or name a problem",
        ),
        (
            "inertia = [1.0, 2.0, 2.5]",
            "mass = 2",
            "body: has neither inertia nor shape nor mesh; write inertia",
        ),
        (
            "inertia = [1.0, 2.0, 2.5]",
            'shape = "bix"\nsize = [1, 2, 3]',
            "body.shape: unknown shape 'bix' (did you mean 'box'?)",
        ),
        (
            "inertia = [1.0, 2.0, 2.5]",
            "inertia = [1, 2]",
            "body.inertia: must have 3 entries, got [1, 2]",
        ),
        ("inertia = [1.0, 2.0, 2.5]", "inertia = [1, 2, 30]", "triangle inequality"),
        (
            "inertia = [1.0, 2.0, 2.5]",
            "inertia = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]",
            "body: inertia must be symmetric",
        ),
        (
            "inertia = [1.0, 2.0, 2.5]",
            "inertia = [[1, 2, 0], [0, 1], [0, 0, 1]]",
            "body.inertia.1: must have 3 entries, got [0, 1]",
        ),
        (
            "inertia = [1.0, 2.0, 2.5]",
            "inertia = [true, 2, 2]",
            "body.inertia.0: must be a number, got true; write inertia =",
        ),
        (
            "inertia = [1.0, 2.0, 2.5]",
            "inertia = [inf, 2, 2]",
            "body.inertia.0: must be finite, got inf",
        ),
        ("inertia = [1.0, 2.0, 2.5]", "inertia = 3", "body.inertia: must be a list, got 3"),
        (
            "inertia = [1.0, 2.0, 2.5]",
            'shape = "box"\nsize = [1, 1, 1]\nmass = 1\ndensity = 2',
            "body: give mass or density",
        ),
        ("omega = [0.0, 1, 0.0]", "", "initial: has neither omega nor momentum; write omega ="),
        (
            "omega = [0.0, 1, 0.0]",
            "omega = [1, 2, 3]\nmomentum = [1, 2, 3]",
            "initial: give omega or momentum, got both",
        ),
        (
            "omega = [0.0, 1, 0.0]",
            "omega = [1, 2, 3]\nrotation = 'identity'\nmatrix = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
            "initial: give the attitude once, got rotation and matrix",
        ),
        (
            "omega = [0.0, 1, 0.0]",
            "omega = [1, 2, 3]\nmatrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]",
            "initial.matrix: rotation",
        ),
        ("step = 0.1", "", "run.step: is missing"),
        ("t_span = [0, 1]", "", "run.t_span: is missing"),
        ("t_span = [0, 1]", "t_span = [0, 0]", "run.t_span: t_span must have a length"),
        ("step = 0.1", "step = 7", "run: step = 7.0 is larger than the span"),
        ("step = 0.1", "step = 0.1\nbreaks = [9]", "run: breaks must lie inside the span"),
        (
            "step = 0.1",
            "step = 0.1\nevery = 2\nt_eval = [0.5]",
            "run: give t_eval or every, not both",
        ),
        (
            "step = 0.1",
            "step = 1979-05-27",
            "run.step: is a date or a time, got 1979-05-27; write a number",
        ),
        (
            "[run]",
            "[torque]\nmoment = 3\n[run]",
            "torque: needs a name, got {'moment': 3}; write name =",
        ),
        (
            "[run]",
            '[torque]\nname = "heavy_top"\nmoment = "x"\n[run]',
            "torque.moment: must be a number, got 'x'",
        ),
        (
            "[run]",
            '[torque]\nname = "heavy_top"\narm = [0, 0, 0]\n[run]',
            "torque: arm must not be zero",
        ),
        ("[run]", '[torque]\nname = "gravity_gradient"\nrate = [1, 2]\n[run]', "torque"),
        ("[run]", '[torque]\nname = "damping"\ncoefficient = [1, 2]\n[run]', "torque"),
        (
            "[run]",
            '[torque]\nname = "stress_potential"\n[run]',
            "torque: cannot be evaluated at the start of the run",
        ),
        (
            "[run]",
            "[output]\nfile = 'a'\nformat = 'xls'\n[run]",
            "output.format: unknown output format 'xls'",
        ),
        (
            "[body]",
            'problem = "krysl/slow-tpo"\n[body]',
            "problem: unknown problem 'krysl/slow-tpo' (did you mean",
        ),
        ("[body]", "title = 3\n[body]", "title: must be text, got 3"),
    ],
)
def test_one_fault(faults, old, new, expected):
    assert old in GOOD
    found = faults(GOOD.replace(old, new))
    assert len(found) == 1 and expected in found[0]


def test_sections_of_the_wrong_kind(faults):
    found = faults('body = 3\ntorque = 4\nrun = []\ninitial = "x"\noutput = 1')
    assert [line.split(":")[0] for line in found] == ["run", "body", "initial", "torque", "output"]


def test_an_empty_list_of_torques(faults):
    assert faults("torque = []\n" + GOOD) == [
        "torque: is an empty list; leave it out for a body without torque"
    ]


def test_uneven_steps_leave_the_book_toss_without_one(faults):
    text = GOOD.replace("step = 0.1", "step = [0, 0.1, 1]") + '[torque]\nname = "book_toss"'
    assert faults(text) == [
        "torque.step: is missing, and the steps of this run are not of one size; write step = 0.01"
    ]


def test_syntax_errors_name_line_and_column(scenario):
    with pytest.raises(InputError, match=r"not valid TOML: .*line 2, column 6"):
        load(scenario("[body]\nmass ? 3"))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"cannot read the scenario .*nothing.toml.*No such file"):
        load(tmp_path / "nothing.toml")
    with pytest.raises(InputError, match="cannot read the scenario"):
        load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(PolhodeError, match="UTF-8"):
        load(tmp_path / "latin.toml")


def test_shapes_are_those_of_the_body():
    assert all(callable(getattr(RigidBody, name)) for name in SHAPES)
