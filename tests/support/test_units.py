"""Units: what a user names is what figures, pages and files say, and nothing is said of what nobody named."""

import numpy as np
import pytest

import polhode
from polhode import InputError, RigidBody, ensemble, integrate
from polhode.show.view.runs import encode_run
from polhode.support.units import UNSPECIFIED

MM = {"length": "mm", "mass": "g", "time": "ms"}
SPAN = dict(t_span=(0.0, 1.0), step=0.01)
COMPOSED = {
    "time": "ms",
    "quaternion": "1",
    "omega": "rad/ms",
    "momentum": "g mm2/ms",
    "kinetic_energy": "g mm2/ms2",
    "total_energy": "g mm2/ms2",
    "residual": "1",
}


def run_in(units):
    body = RigidBody([5.0, 5.0, 1.0], units=units)
    return integrate(body, "heavy_top", rotation0=(0.3, 0, 0), omega0=(0, 0, 5.0), **SPAN)


def test_derived_units_are_composed_from_those_that_are_named():
    data = run_in(MM).to_xarray()
    assert {name: data[name].units for name in COMPOSED} == COMPOSED
    si = run_in("SI").to_xarray()
    assert (si.time.units, si.momentum.units, si.total_energy.units) == ("s", "kg m2/s", "J")


def test_without_units_nothing_has_one():
    data = run_in(None).to_xarray()
    named = {
        name: one.attrs["units"] for name, one in data.variables.items() if "units" in one.attrs
    }
    assert named == {"quaternion": "1", "residual": "1"}
    # of what is named as much is said as follows from it
    partly = run_in({"time": "h"}).to_xarray()
    assert partly.omega.units == "rad/h" and "units" not in partly.momentum.attrs


def test_every_door_takes_units():
    start = {"omega0": (0, 0, 5.0), "units": MM}
    labelled = [
        RigidBody([5.0, 5.0, 1.0], units=MM),
        integrate([5.0, 5.0, 1.0], **SPAN, **start).body,
        polhode.Stepper([5.0, 5.0, 1.0], step=0.01, **start).body,
        polhode.problem("slow-top").integrate(units=MM).body,
        ensemble([5.0, 5.0, 1.0], **SPAN, **start),
    ]
    assert [one.units._asdict() for one in labelled] == [MM] * 5


def test_units_change_no_number():
    assert run_in(MM).motion.tobytes() == run_in(None).motion.tobytes()
    assert RigidBody([1, 2, 3], units="SI") != RigidBody([1, 2, 3])


@pytest.mark.parametrize("suffix", ["nc", "npz", "csv", "zarr"])
def test_files_carry_the_units(suffix, tmp_path):
    path = polhode.io.save(run_in(MM), tmp_path / f"run.{suffix}")
    stored = polhode.read(path)
    assert stored.body.units._asdict() == MM and stored.body == run_in(MM).body
    path = polhode.io.save(run_in(None), tmp_path / f"bare.{suffix}")
    assert polhode.read(path).body.units == UNSPECIFIED


def test_the_table_names_them_above_its_columns(tmp_path):
    text = polhode.io.save(run_in(MM), tmp_path / "run.csv").read_text()
    assert "# units of the columns: t ms; qx 1; omega_x rad/ms;" in text
    assert "residual 1\nt,qx" in text
    assert "units" not in polhode.io.save(run_in(None), tmp_path / "bare.csv").read_text()


def labels(figure):
    return [axes.get_xlabel() for axes in figure.axes] + [axes.get_ylabel() for axes in figure.axes]


def test_figures_are_labelled_with_them():
    found = labels(run_in(MM).plot())
    assert "time [ms]" in found and "Ω [rad/ms]" in found
    bare = labels(run_in(None).plot())
    assert "time" in bare and "Ω" in bare and not any("[" in label for label in bare)
    assert "step 0.01 ms," in run_in(MM).plot().get_suptitle()
    title = polhode.plots.errors(run_in(MM)).axes[1].get_title("left")
    assert title.endswith("g mm²/ms")


def test_pages_are_labelled_with_them():
    data = encode_run(run_in(MM))
    assert (
        data["units"] == {"time": "ms", "length": "mm", "rate": "rad/ms"}
        and data["detail"] == "step 0.01 ms"
    )
    assert data["about"]["principal moments"] == "5, 5, 1 g mm²"
    bare = encode_run(run_in(None))
    assert bare["units"] == {"time": "", "length": "", "rate": ""}
    assert bare["about"]["principal moments"] == "5, 5, 1"


def test_ensembles_are_labelled_with_them(tmp_path):
    bodies = np.array([[5.0, 5.0, 1.0], [5.0, 5.0, 2.0]])
    options = dict(torque="heavy_top", omega0=(0, 0, 5.0), **SPAN)
    run = ensemble(bodies, units=MM, keep="statistics", **options)
    data = run.to_xarray()
    assert data.omega.units == "rad/ms" and data.moments.units == "g mm2"
    assert data.energy_variance_over_time.units == "(g mm2/ms2)2"
    facts = polhode.io.read.contents(run.save(tmp_path / "many.nc"))[1]
    assert facts["units"] == MM
    assert ensemble(RigidBody([5.0, 5.0, 1.0], units=MM), n=2, **options).units._asdict() == MM
    assert "units" not in ensemble(bodies, **options).to_xarray().omega.attrs


SCENARIO = "[body]\nshape = 'box'\nsize = [3, 2, 1]\n[initial]\nomega = [0, 1, 0]\n[run]\nstep = 0.1\nt_span = [0, 1]\n"


def test_scenarios_name_them(tmp_path):
    path = tmp_path / "box.toml"
    path.write_text(SCENARIO + "[units]\nlength = 'mm'\nmass = 'g'\ntime = 'ms'\n")
    job = polhode.io.load(path)
    assert job.integrate().to_xarray().momentum.units == "g mm2/ms"
    path.write_text("units = 'SI'\n" + SCENARIO)
    assert polhode.io.load(path).body.units.time == "s"
    path.write_text("problem = 'slow-top'\n[units]\ntime = 'h'\n")
    assert polhode.io.load(path).integrate().to_xarray().omega.units == "rad/h"


@pytest.mark.parametrize(
    "units, words",
    [
        ("metric", "got 'metric'; write units="),
        ({"weight": "g"}, "unknown unit 'weight'"),
        ({"mass": "1 g"}, "the unit of mass must be one word, got '1 g'; write its usual sign"),
        ({"time": 3}, "the unit of time must be one word, got 3"),
    ],
)
def test_what_is_no_unit_is_refused(units, words, tmp_path):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        RigidBody([1, 2, 3], units=units)
    with pytest.raises(InputError):
        ensemble([1, 2, 3], omega0=(0, 0, 1), units=units, **SPAN)
