"""Files: what is written is read back bit for bit, with everything that is known about it, in every
format."""

import json
import math
import pickle
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import polhode
import polhode.io.formats as formats_module
from polhode.cli import app
from polhode.support import provenance
from polhode.errors import InputError
from polhode.loads.force import weight
from polhode.results import columns
from polhode.results.motion import LABELS
from polhode.studies import file_info as info
from polhode.io import read, store
from polhode.io.formats import Format, Variable, formats, netcdf, register, zarr
from polhode.results._run import BLOCK

ROOT = Path(__file__).parents[2]
FORMATS = list(formats())
BODY = polhode.RigidBody(
    [[3.0, 0.1, 0.0], [0.1, 2.0, 0.2], [0.0, 0.2, 1.5]], name="box", mass=2.5, units="SI"
)


def tumble(torque="heavy_top", **options):
    options = {
        "t_span": (0, 5),
        "step": 0.01,
        "method": "LP2",
        "omega0": (0.3, 1.0, -0.2),
        "rotation0": (0.2, 0, 0),
    } | options
    return polhode.integrate(BODY, torque, **options)


def drag(t, R):
    return np.array([0.1 * R[0, 1], 0.0, math.sin(t)])


RUNS = {
    "heavy top": lambda: tumble(),
    "no potential": lambda: tumble(drag, title='dragged along: naïve, ‘quoted’\n{"two": lines}'),
    "flight": lambda: tumble(force=weight(2.5), velocity0=(1, 2, 3)),
    "by tolerance, backwards": lambda: tumble(
        t_span=(2, -1), step=None, method="DOP853", rtol=1e-9
    ),
    "listed times": lambda: tumble(step=[0.0, 0.1, 0.15, 0.4, 1.0], t_span=None),
    "one point": lambda: tumble(t_eval=[3.0]),
    "a long one": lambda: tumble(t_span=(0, 0.01 * (BLOCK + 30))),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return RUNS[request.param]()


@pytest.mark.parametrize("suffix", FORMATS)
def test_everything_is_read_back_exactly(run, tmp_path, suffix):
    path = store.save(run, tmp_path / f"run.{suffix}")
    arrays, facts = read.contents(path)
    expected = {one.name: one.values(run) for one in columns.columns(run)}
    expected["t"] = expected.pop("time")
    assert set(arrays) == set(expected)
    for name, values in expected.items():
        assert arrays[name].tobytes() == np.ascontiguousarray(values).tobytes(), name
    assert facts == json.loads(json.dumps(run.provenance()))
    kept = read.read(path)
    assert kept.body == run.body and kept.provenance() == facts


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_xarray_opens_them_with_units_and_provenance(run, tmp_path, suffix):
    path = store.save(run, tmp_path / f"run.{suffix}")
    expected = run.to_xarray()
    with xr.open_dataset(path, engine="scipy" if suffix == "nc" else "zarr") as data:
        bear = [(data, "header_crc32"), *((data[name], "crc32") for name in data.variables)]
        assert all([held.attrs.pop(key, None) for held, key in bear]) == (suffix == "nc")
        assert (data.attrs.pop(zarr.SUM, None) is None) == (suffix == "nc")
        assert data.attrs == expected.attrs and set(data.variables) == set(expected.variables)
        for name, variable in expected.variables.items():
            assert data[name].attrs == variable.attrs and data[name].dims == variable.dims
            assert np.array_equal(data[name].values, variable.values), name
        assert (
            data.omega.units == "rad/s"
            and data.momentum.units == "kg m2/s"
            and data.time.units == "s"
        )


def test_the_netcdf_is_what_scipy_reads_and_xarray_would_write(tmp_path):
    from scipy.io import netcdf_file

    run = tumble()
    with netcdf_file(store.save(run, tmp_path / "run.nc"), mmap=False) as file:
        assert file.version_byte == 2 and file.dimensions["time"] == 501
        assert (
            np.array_equal(file.variables["omega"].data, run.omega)
            and file.variables["omega"].units == b"rad/s"
        )
        assert file.method == b"LP2" and file.steps == 500


def test_plain_libraries_read_npz_and_csv(tmp_path):
    run = tumble()
    with np.load(store.save(run, tmp_path / "run.npz")) as data:
        assert np.array_equal(data["momentum_spatial"], run.momentum_spatial)
    table = np.genfromtxt(
        store.save(run, tmp_path / "run.csv"),
        delimiter=",",
        names=True,
        skip_header=len(run.provenance()) + 2,  # the title, and the units
    )
    assert np.array_equal(table["omega_y"], run.omega[:, 1]) and np.array_equal(
        table["qw"], run.quaternion[:, 3]
    )
    lines = (tmp_path / "run.csv").read_text("utf-8").splitlines()
    assert lines[0].startswith("# title: ") and "# method: LP2" in lines


def test_provenance_says_where_the_numbers_come_from():
    python = {"t_span": (0, 0.1), "compiled": False}
    facts = tumble(drag, title="dragged", **python).provenance()
    assert (
        facts["title"] == "dragged"
        and facts["polhode_version"] == polhode.__version__
        and facts["step"] == 0.01
    )
    assert (
        facts["method_facts"]["order"] == 2
        and facts["body"] == BODY.to_dict()
        and facts["torque_mode"] == "python"
    )
    assert (
        facts["numpy_version"] == np.__version__
        and facts["python_version"] == sys.version.split()[0]
    )
    assert (
        facts["platform"].startswith(("Linux", "Darwin", "Windows"))
        and facts["command"] == "Python"
    )
    other = tumble(lambda t, R: np.array([0.1 * R[0, 1], 0.0, math.cos(t)]), **python).provenance()
    assert facts["torque_digest"] != other["torque_digest"] and len(facts["torque_digest"]) == 32
    same = tumble(drag, method="NMB", **python).provenance()
    assert (
        facts["torque_digest"] == same["torque_digest"]
        and facts["source_digest"] != same["source_digest"]
    )


def test_the_digest_of_a_torque_is_the_same_in_every_process():
    """Even where it looks at an object whose only name is its address."""
    code = (
        "import polhode, numpy as np\nclass Wind: pass\nwind = Wind()\nwind.x = 0.1\n"
        "def push(t, R): return np.array([wind.x, 0.0, 0.0])\n"
        "run = polhode.integrate([1, 2, 3], push, (0, 1), 0.1, omega0=(0, 1, 0))\n"
        "print(run.mode, run.provenance()['torque_digest'])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(said) == 1 and said.pop().startswith("callback ")


def test_a_sum_of_torques_is_stored_with_its_parameters():
    both = polhode.torques.heavy_top(moment=2.0) + polhode.torques.damping(0.25)
    run = tumble(both, compiled=False, t_span=(0, 0.1))
    assert (
        "heavy_top.moment=2.0" in run.provenance()["torque"]
        and "0.25" in run.provenance()["torque"]
    )


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
single = (
    st.none() | st.booleans() | st.integers(-(10**25), 10**25) | st.floats(allow_nan=False) | text
)
plain = single | st.lists(single, max_size=3) | st.dictionaries(text, single, max_size=3)


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(st.dictionaries(st.sampled_from(["a", "step", "message", "long name"]), plain))
def test_attributes_give_provenance_back(facts):
    held = columns.attributes(facts)
    assert all(type(value) in (str, int, float) for value in held.values())
    assert columns.provenance_in(held) == facts
    as_text = {key: str(value) for key, value in held.items()}  # as a CSV has them
    assert not any(letter in value for value in as_text.values() for letter in "\0\n\r")
    assert columns.provenance_in(as_text) == facts


def test_pieces_are_the_same_bits_as_the_whole():
    run = tumble(t_span=(0, 0.01 * (2 * BLOCK + 17)))
    pieces = list(run.blocks())
    assert [first for first, _ in pieces] == [0, BLOCK] and sum(
        len(piece) for _, piece in pieces
    ) == len(run)
    for one in columns.columns(run):
        whole = np.concatenate([one.values(piece) for _, piece in pieces])
        assert whole.tobytes() == np.ascontiguousarray(one.values(run)).tobytes(), one.name
    assert run.summary()["orthogonality_error"] == run.orthogonality_error


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_residuals_do_not_depend_on_the_chunks_of_steps(every, tmp_path):
    implicit = {"t_span": (0, 20), "method": "NMB"}
    run = tumble(every=every, **implicit)
    single = tumble(**implicit).residuals
    assert single.any()
    ends = [*range(0, 2000, every), 2000]
    assert run.residuals[1:].tolist() == [single[a + 1 : b + 1].max() for a, b in pairwise(ends)]
    in_pieces = tumble(
        every=every, checkpoint=tmp_path / "run.part", checkpoint_every=13, **implicit
    )
    assert in_pieces.residuals.tobytes() == run.residuals.tobytes()


# --- what is not a file of ours -------------------------------------------------------------------


def test_no_pickle_is_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    np.savez(tmp_path / "trap.npz", t=np.array([Trap()], dtype=object))
    (tmp_path / "bare.npz").write_bytes(pickle.dumps(Trap()))
    (tmp_path / "sprung").unlink(missing_ok=True)
    for name in ("trap.npz", "bare.npz"):
        with pytest.raises(InputError, match="damaged"):
            read.read(tmp_path / name)
        with pytest.raises(InputError, match="damaged"):
            info.describe(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_truncated_file_is_told(tmp_path, suffix):
    path = store.save(tumble(), tmp_path / f"run.{suffix}")
    victim = path if path.is_file() else path / "zarr.json"
    victim.write_bytes(victim.read_bytes()[: victim.stat().st_size // 3])
    with pytest.raises(InputError, match=rf"run.{suffix}"):
        read.read(path)


def test_without_zarr_it_says_what_to_install(tmp_path, monkeypatch):
    run = tumble()
    monkeypatch.setitem(sys.modules, "zarr", None)  # an import of it fails
    with pytest.raises(InputError, match=r"pip install 'polhode\[cluster\]'"):
        store.save(run, tmp_path / "run.zarr")
    assert not list(tmp_path.iterdir())


def test_folders_are_overwritten_only_where_they_are_stores(tmp_path):
    run = tumble()
    path = store.save(run, tmp_path / "run.zarr")
    with pytest.raises(InputError, match=r"exists; choose another name"):
        store.save(run, path)
    store.save(tumble(t_span=(0, 1)), path, force=True)
    assert len(read.read(path).t) == 101
    (tmp_path / "precious.zarr").mkdir()
    with pytest.raises(InputError, match=r"is a folder"):
        store.save(run, tmp_path / "precious.zarr", force=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["precious.zarr", "run.zarr"]


def test_a_variable_of_more_than_four_gigabytes_makes_counts_wide(tmp_path):
    """A file of 10 GB, of which only the header and the ends are written."""
    n = 200_000_000
    names = {"time": ("time",), "quaternion": ("time", "quaternion_component")}
    shapes = {"time": (n,), "quaternion": (n, 4)}
    variables = [
        Variable(name, names[name], shapes[name], np.dtype(float), {"units": "1"}) for name in names
    ]
    with netcdf.Writer(tmp_path / "long.nc", {"method": "NMB", "steps": 3}, variables) as file:
        assert file.wide
    with open(tmp_path / "long.nc", "rb") as file:
        assert file.read(4) == b"CDF\x05"
        file.seek(0)
        header = netcdf.Header(file)
    places = {name: place for name, (_, _, _, place) in header.variables.items()}
    assert {name: header.variables[name][0] for name in names} == shapes
    assert places["quaternion"] == header.end + 8 * n
    assert header.size == places["quaternion"] + 32 * n + sum(map(padded, (4, 3)))
    assert header.facts["method"] == "NMB" and header.facts["steps"] == 3


def padded(count):
    return count + -count % 4


@pytest.mark.parametrize("kind", ["run", "ensemble"])
def test_wide_netcdf_files_are_read_back(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(netcdf, "LARGEST", 100)
    if kind == "run":
        run = tumble(t_span=(0, 0.3), compiled=False)
        path = store.save(run, tmp_path / "run.nc")
        assert polhode.read(path).omega.tobytes() == np.ascontiguousarray(run.omega).tobytes()
    else:
        run = polhode.ensemble(BODY, "heavy_top", (0, 0.1), 0.01, "LP2", omega0=(0, 1, 0), n=50)
        path = run.save(tmp_path / "run.nc")
        assert read.contents(path)[0]["omega"].tobytes() == run.omega.tobytes()
    assert path.read_bytes().startswith(b"CDF\x05")
    assert read.contents(path)[1] == json.loads(json.dumps(run.provenance()))


# --- a format of one's own ------------------------------------------------------------------------


class Plain(Format):
    """All that a new format has to say."""

    suffix = "toy"

    def write(self, contents, path):
        arrays = {one.name: [] for one in contents.variables}
        for _, piece in contents.blocks():
            for name, values in piece.items():
                arrays[name] += values.tolist()
        path.write_text(json.dumps([arrays, contents.provenance]), encoding="utf-8")

    def read(self, path):
        arrays, facts = json.loads(path.read_text("utf-8"))
        return {name: np.array(values, float) for name, values in arrays.items()}, facts


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(formats_module, "_registered", dict(formats_module._registered))
    return register(Plain())


def test_a_new_format_is_one_class(toy, tmp_path, monkeypatch):
    """Every door knows it: saving and reading in Python, the command line, `polhode info`."""
    monkeypatch.chdir(tmp_path)
    run = tumble(t_span=(0, 0.3), compiled=False)
    stored = polhode.read(polhode.io.save(run, "run.toy"))
    assert stored.omega.tobytes() == np.ascontiguousarray(run.omega).tobytes()
    many = polhode.ensemble(BODY, "heavy_top", (0, 0.1), 0.01, "LP2", omega0=(0, 1, 0), n=5)
    assert info.describe(many.save("many.toy"))["bodies"] == 5
    flip = str(ROOT / "examples" / "flip.toml")
    done = CliRunner().invoke(app, ["run", flip, "-o", "flip.toy", "--checkpoint", "500"])
    assert done.exit_code == 0, done.stderr
    assert info.describe("flip.toy")["format"] == "toy" and len(polhode.read("flip.toy").t) > 100
    help = CliRunner().invoke(app, ["run", flip, "-o", "flip.odd"])
    assert help.exit_code == 2 and "toy" in help.stderr
    with pytest.raises(InputError, match=r"\.toy"):
        polhode.read(ROOT / "LICENSE")


@pytest.mark.parametrize("suffix", ["nc", "npz", "zarr"])
@pytest.mark.parametrize("kind", ["run", "ensemble"])
def test_a_byte_that_changes_is_noticed(tmp_path, suffix, kind):
    """All bytes of a netCDF file but the few that fill a variable up to four; the chunks of a
    store; an array of an archive."""
    if kind == "run":
        path = store.save(tumble(t_span=(0, 0.3), compiled=False), tmp_path / f"run.{suffix}")
    else:
        many = polhode.ensemble(BODY, "heavy_top", (0, 0.1), 0.01, "LP2", omega0=(0, 1, 0), n=50)
        path = many.save(tmp_path / f"run.{suffix}")
    files = [path] if path.is_file() else [*path.glob("*/c/*"), *path.glob("*/c/*/*")]
    for file in filter(Path.is_file, files):
        if file.parent.parent.name in LABELS or file.parent.parent.parent.name in LABELS:
            continue
        whole = file.read_bytes()
        first, last = {"nc": (0, len(whole) - 4), "zarr": (0, len(whole)), "npz": (300, 400)}[
            suffix
        ]
        for place in range(first, last, max((last - first) // 40, 1)):
            changed = bytearray(whole)
            changed[place] ^= 1 << place % 8
            file.write_bytes(changed)
            with pytest.raises(InputError, match="damaged: "):
                read.contents(path)
        file.write_bytes(whole)
    assert read.contents(path)


def test_a_store_whose_attributes_change_is_noticed(tmp_path):
    """The body is among them; a sum lies beside them, which stores of before do not have."""
    path = store.save(tumble(t_span=(0, 0.3), compiled=False), tmp_path / "run.zarr")
    held = (path / "zarr.json").read_text(encoding="utf-8")
    for was, now in (("LP2", "LP3"), ("finished", "finishad")):
        (path / "zarr.json").write_text(held.replace(was, now), encoding="utf-8")
        with pytest.raises(
            InputError,
            match=r"damaged: the attributes in zarr.json have changed since they were written; run the scenario",
        ):
            polhode.read(path)
    (path / "zarr.json").write_text(held.replace(zarr.SUM, "another"), encoding="utf-8")
    assert polhode.read(path).method.name == "LP2"


def test_it_says_which_variable_and_which_bytes(tmp_path):
    path = store.save(tumble(t_span=(0, 1), compiled=False), tmp_path / "run.nc")
    whole = path.read_bytes()
    place = whole.index(struct.pack(">d", 0.5))  # among the times
    path.write_bytes(whole[:place] + b"!" + whole[place + 1 :])
    with pytest.raises(
        InputError,
        match=r"damaged: time \(bytes \d+ to \d+\) has changed since it was written; run the scenario again",
    ):
        polhode.read(path)
    path.write_bytes(whole[:-2000])
    with pytest.raises(
        InputError,
        match=rf"takes the bytes \d+ to \d+, and the file has {len(whole) - 2000}: it was truncated",
    ):
        polhode.read(path)
    path.write_bytes(whole[:100])
    with pytest.raises(InputError, match="ends within its header, at byte 100: it was truncated"):
        polhode.read(path)


def test_files_of_other_writers_have_no_sums_and_are_read(tmp_path):
    run = tumble(t_span=(0, 1), compiled=False)
    run.to_xarray().to_netcdf(tmp_path / "run.nc", engine="scipy")
    stored = polhode.read(tmp_path / "run.nc")
    assert (
        stored.omega.tobytes() == np.ascontiguousarray(run.omega).tobytes()
        and stored.method.name == "LP2"
    )


# --- polhode info ---------------------------------------------------------------------------------


def polhode_command(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "polhode", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_info_of_a_run(tmp_path, suffix):
    run = tumble(title="a top")
    told = info.describe(store.save(run, tmp_path / f"run.{suffix}"))
    energy = run.total_energy
    assert (
        told["kind"] == "run"
        and told["format"] == suffix
        and told["title"] == "a top"
        and told["method"] == "LP2"
    )
    assert (told["points"], told["steps"], told["t_first"], told["t_last"], told["step"]) == (
        501,
        500,
        0.0,
        5.0,
        0.01,
    )
    assert (told["energy_min"], told["energy_max"], told["energy_first"]) == (
        energy.min(),
        energy.max(),
        energy[0],
    )
    assert told["body"] == {"name": "box", "mass": 2.5, "moments": BODY.moments.tolist()}
    assert told["provenance"] == json.loads(json.dumps(run.provenance())) and told["bytes"] > 50_000


@pytest.mark.parametrize("suffix", ["nc", "npz", "zarr"])
def test_info_of_an_ensemble(tmp_path, suffix):
    many = polhode.ensemble(
        BODY, "heavy_top", (0, 1), 0.01, "LP2", rotation0="random", omega0=(0, 1, 0), n=50, rng=1
    )
    path = many.save(tmp_path / f"many.{suffix}")
    told = info.describe(path)
    assert (
        told["kind"] == "ensemble"
        and told["bodies"] == told["finished"] == 50
        and told["steps"] == 100
    )
    assert told["energy_max"] == many.energy.max() and told["provenance"] == json.loads(
        json.dumps(many.provenance())
    )
    assert told["provenance"]["body"] == BODY.to_dict() and told["provenance"]["seed"] == "1"
    assert told["error_estimate"] == many.error_estimate.largest
    arrays, _ = read.contents(path)
    assert arrays["quaternion"].tobytes() == many.quaternion.tobytes()


def test_info_of_a_sweep_and_the_command(tmp_path):
    from polhode.studies.sweep import plan, sweep_store as stores

    tops = {
        "title": "tops",
        "problem": "krysl/slow-top",
        "run": {"method": "NMB"},
        "sweep": {"run.step": [0.05, 0.025]},
    }
    made = plan.load(tops)
    stores.create(tmp_path / "tops.zarr", made, made.chunk_shape(None, 2))
    told = info.describe(tmp_path / "tops.zarr")
    assert (
        told["kind"] == "sweep"
        and told["bodies"] == told["pending"] == 2
        and told["varies"] == {"run.step": [0.05, 0.025]}
        and told["method"] == "NMB"
    )
    made = plan.load(tops | {"sweep": {"run.method": ["NMB", "VLV"]}})
    stores.create(tmp_path / "both.zarr", made, made.chunk_shape(None, 2))
    assert info.describe(tmp_path / "both.zarr")["method"] == "NMB, VLV"
    done = polhode_command("info", "tops.zarr", folder=tmp_path)
    assert done.returncode == 0 and "tops" in done.stdout and "run.step" in done.stdout, done.stderr
    store.save(tumble(title="one [red]top[/]"), tmp_path / "run.nc")
    shown = polhode_command("info", "run.nc", folder=tmp_path)
    assert shown.returncode == 0
    assert all(
        words in shown.stdout for words in ("one [red]top[/]", "heavy_top", "mclachlan1993explicit")
    )
    as_json = polhode_command("info", "run.nc", "--json", folder=tmp_path)
    assert json.loads(as_json.stdout)["points"] == 501


def test_info_names_what_is_wrong(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("hello")
    for name, words in {
        "none.nc": "there is no file",
        "folder": "is a folder",
        "text.txt": "'.txt' is not the suffix",
    }.items():
        with pytest.raises(InputError, match=words):
            info.describe(tmp_path / name)


def test_a_stored_run_says_in_a_line_what_it_is(tmp_path):
    stored = read.read(store.save(tumble(), tmp_path / "run.nc"))
    assert repr(stored) == repr(tumble())


def test_another_suffix_is_no_obstacle(tmp_path):
    run = tumble()
    for format in ("nc", "npz", "csv", "zarr"):
        path = store.save(run, tmp_path / f"motion.{format}-data", format)
        assert read.read(path).omega.tobytes() == np.ascontiguousarray(run.omega).tobytes()
        assert info.describe(path)["format"] == format


def test_the_scenarios_title_and_command_are_in_the_file_and_on_the_page(tmp_path):
    from polhode.show.view import page

    done = polhode_command(
        "run", ROOT / "examples" / "flip.toml", "-o", "flip.zarr", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    facts = read.read(tmp_path / "flip.zarr").provenance()
    assert facts["title"] == "flip of a box about its intermediate axis" and facts[
        "command"
    ].startswith("polhode run ")
    assert facts["command"].endswith("flip.toml") and provenance.command() == "Python"
    assert page(tmp_path / "flip.zarr").title == facts["title"]
