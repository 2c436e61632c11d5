"""Runs of systems in files: every number, the bodies and the record of what acts between them come back."""

import json

import numpy as np
import polhode
import pytest
import xarray as xr
from polhode import InputError, RigidBody, System
from polhode.io import read, store
from polhode.io.formats import formats
from polhode.results._run import BLOCK
from polhode.results.columns import columns
from polhode.studies.file_info import describe

TILTED = RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], mass=1.5, name="wedge")
BOX = RigidBody.box(1, 2, 3)
PLACES = [[-2.0, 0.0, 0.1], [2.0, 0.1, 0.0], [0.0, 3.0, 0.2]]


def swirl(t, x, R):
    """Forces without a potential."""
    pull = np.zeros_like(x)
    pull[0, 1], pull[1, 1] = 0.1, -0.1
    return pull, np.zeros_like(x)


def system(interaction="springs", **options):
    links = polhode.interactions.springs(
        [(0, 1), (1, 2)], 0.3, length=2.0, points=((0.5, 0, 0), (-0.5, 0, 0))
    )
    acting = {"springs": links, "swirl": polhode.interaction(external=True)(swirl), "none": None}
    return System([BOX, TILTED, BOX], acting[interaction], **options)


def moved(made=None, t_span=(0, 1), step=0.05, **options):
    options = {"position0": PLACES, "omega0": [0.1, 1.0, 0.2], "compiled": False} | options
    return polhode.integrate(made or system(), t_span=t_span, step=step, **options)


RUNS = {
    "springs": lambda: moved(title="three boxes"),
    "no potential": lambda: moved(system("swirl")),
    "alone": lambda: moved(system("none")),
    "fixed": lambda: moved(system(fixed=[0])),
    "one body": lambda: moved(System([TILTED]), position0=None),
    "one point": lambda: moved(t_eval=[0.3]),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return RUNS[request.param]()


@pytest.mark.parametrize("suffix", formats())
def test_everything_is_read_back_exactly(run, tmp_path, suffix):
    path = run.save(tmp_path / f"run.{suffix}")
    stored = polhode.read(path, polhode.SystemTrajectory)
    for one in columns(run):
        assert one.values(stored).tobytes() == np.ascontiguousarray(one.values(run)).tobytes(), one
    assert stored.body.bodies == run.body.bodies
    assert stored.body.fixed.tolist() == run.body.fixed.tolist()
    assert stored.provenance() == json.loads(json.dumps(run.provenance()))
    assert repr(stored) == repr(run) and stored.interaction.name == run.interaction.name
    same = ("has_potential", "keeps_energy", "keeps_momentum", "title")
    assert [getattr(stored, name) for name in same] == [getattr(run, name) for name in same]
    differ = {"elapsed_s"}
    if len(run) == 1:  # the ends that a file keeps are the first and last stored points
        differ |= {key for key in run.summary() if key.endswith("_final")}
    fresh, kept = run.summary(), stored.summary()
    assert [key for key in fresh if fresh[key] != kept[key] and key not in differ] == []
    again = stored.save(tmp_path / f"again.{suffix}")
    if again.is_file():
        assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_xarray_opens_them(tmp_path, suffix):
    run = RUNS["springs"]()
    path = store.save(run, tmp_path / f"run.{suffix}")
    expected = run.to_xarray().drop_vars("body")  # their numbers, which a file need not have
    with xr.open_dataset(path, engine="scipy" if suffix == "nc" else "zarr") as data:
        assert set(data.variables) == set(expected.variables)
        for name, variable in expected.variables.items():
            assert data[name].dims == variable.dims, name
            assert np.array_equal(data[name].values, variable.values), name
        assert data.position.dims == ("time", "body", "axis")
        assert data.title == "three boxes" and json.loads(data.interaction_terms)[0]["links"]


def test_csv_names_body_and_component(tmp_path):
    text = moved().save(tmp_path / "run.csv").read_text("utf-8").splitlines()
    header = next(line for line in text if not line.startswith("#")).split(",")
    assert header[:9] == ["t", *(f"{i}.q{c}" for i in (0, 1) for c in "xyzw")]
    assert {"2.velocity_z", "linear_momentum_x", "total_energy"} <= set(header)


def test_a_stored_interaction_says_what_it_was_and_cannot_act(tmp_path):
    run = moved()
    stored = polhode.read(run.save(tmp_path / "run.nc"))
    assert stored.interaction.links.tolist() == [[0, 1], [1, 2]]
    assert stored.interaction.record()[0]["parameters"]["k"] == [0.3, 0.3]
    assert stored.body.interaction is stored.interaction
    for use in (
        lambda: stored.interaction(0.0, PLACES),
        lambda: stored.interaction.potential_energy(0.0, PLACES),
        lambda: polhode.integrate(stored.body, t_span=(0, 1), step=0.1, position0=PLACES),
    ):
        with pytest.raises(InputError, match="give the interaction itself"):
            use()


def test_a_checkpoint_streams_and_ends_with_the_same_file(tmp_path):
    n = BLOCK + 20
    options = {"t_span": (0, 1e-3 * n), "step": 1e-3, "compiled": True}
    plain = moved(System([TILTED], None), position0=None, **options)
    streamed = moved(
        System([TILTED], None), position0=None, checkpoint=tmp_path / "part", **options
    )
    paths = [one.save(tmp_path / f"{i}.npz") for i, one in enumerate((plain, streamed))]
    one, other = map(polhode.read, paths)
    assert np.array_equal(one.motion, other.motion) and np.array_equal(one.t, other.t)
    fresh, kept = plain.summary(), streamed.summary()
    assert {key for key in fresh if fresh[key] != kept[key]} <= {"elapsed_s"}


def test_info_tells_of_the_bodies(tmp_path):
    run = moved(title="three boxes")
    found = describe(run.save(tmp_path / "run.nc"))
    assert found["kind"] == "run of a system" and found["bodies"] == 3 and found["mass"] == 3.5
    assert found["names"] == "2 box, wedge" and found["energy"] == "total"
    assert found["momentum_first"] == run.linear_momentum[0].tolist()


# --- damaged --------------------------------------------------------------------------------------


def kept_and_changed(tmp_path, change):
    """A file whose provenance and arrays have been changed before it was written."""
    run = moved()
    contents = store.contents_of(run)
    arrays = {one.name: one for one in contents.variables}
    facts = json.loads(json.dumps(contents.provenance))
    pieces = dict(next(iter(contents.blocks()))[1])
    change(facts, pieces)
    variables = [
        one._replace(shape=pieces[name].shape) for name, one in arrays.items() if name in pieces
    ]
    path = tmp_path / "changed.npz"
    formats()["npz"].write(
        contents._replace(variables=variables, provenance=facts, blocks=lambda: [(0, pieces)]), path
    )
    return path


def drop(key):
    return lambda facts, arrays: arrays.pop(key)


def put(key, value):
    def change(facts, arrays):
        *way, last = key.split(".")
        here = facts
        for part in way:
            here = here[int(part) if part.isdigit() else part]
        here[last] = value

    return change


def shape(key, function):
    def change(facts, arrays):
        arrays[key] = function(arrays[key])

    return change


CHANGED = [
    (drop("position"), "lacks position"),
    (drop("quaternion"), "lacks quaternion"),
    (shape("omega", lambda a: a[:, :2]), r"omega has shape \(21, 2, 3\), expected \(21, 3, 3\)"),
    (shape("velocity", lambda a: a[:, 0]), "velocity has shape"),
    (shape("position", lambda a: a * 1e200), "position is larger than 1e.150"),
    (shape("position", lambda a: a * np.nan), "position is not finite everywhere"),
    (put("body.which", [0, 1, 7]), "which must give"),
    (put("body.which", [0, 1, -1]), "which must give"),
    (put("body.which", [0, 1, 0, 0]), r"expected \(21, 4, 4\)"),
    (put("body.which", []), "needs at least one body"),
    (put("body.fixed", [9]), "fixed must be"),
    (put("body", {"inertia": [1, 2, 2]}), "a system is a dict with"),
    (put("body.bodies", [3, 4]), "a body is a dict"),
    (put("body.bodies", 7), "which must give"),
    (put("interaction_terms", 7), "which is not a list of interactions"),
    (put("interaction_terms", [{"name": 3}]), "which is not a list of interactions"),
    (put("interaction_terms.0.links", [[0, 9]]), "links body 9, and there are 3"),
    (put("interaction_terms.0.links", [[0, 0]]), "connects two different bodies"),
    (put("interaction_terms.0.links", "ab"), "links must be pairs"),
    (put("interaction", 7), "interaction = 7, which is not text"),
]


@pytest.mark.parametrize(("change", "words"), CHANGED)
def test_what_no_run_of_a_system_has_is_refused(tmp_path, change, words):
    with pytest.raises(InputError, match=words):
        read.read(kept_and_changed(tmp_path, change))


def test_one_kind_can_be_asked_for(tmp_path):
    path = moved().save(tmp_path / "run.nc")
    assert polhode.read(path, polhode.SystemTrajectory).body.mass == 3.5
    with pytest.raises(InputError, match="holds the run of a system, but the run of one body was"):
        polhode.read(path, polhode.Trajectory)
    with pytest.raises(InputError, match="drawn for one body, got a run of 3"):
        polhode.plots.flip(path)
