"""A result that is read from a file is what was saved: one type, the same properties, the same bits."""

import inspect
import json
import math

import numpy as np
import pytest

import polhode
from polhode.errors import InputError
from polhode.io.formats import formats
from polhode.results.motion import PARTS

BODY = polhode.RigidBody([[3.0, 0.1, 0.0], [0.1, 2.0, 0.2], [0.0, 0.2, 1.5]], name="box", mass=2.5)
START = {"omega0": (0.3, 1.0, -0.2), "rotation0": (0.2, 0.0, 0.0)}
# what a file does not keep, as the description of both classes says
RUN_ONLY = {"ends", "torque", "method", "body", "force", "elapsed", "t_events", "y_events", "kind"}
MANY_ONLY = {
    *("torque", "method", "bodies", "elapsed", "body_steps_per_s", "threads", "vectorised", "note"),
    *("parameters", "on_device", "statistics", "error_estimate"),  # compared in parts
}


def drag(t, R):
    return np.array([0.1 * R[0, 1], 0.0, math.sin(t)])


def push(t, R, p):
    return np.array([p.k * R[0, 1], 0.0, 0.0])


RUNS = {
    "heavy top": lambda: polhode.integrate(BODY, "heavy_top", (0, 2), 0.01, **START),
    "no potential": lambda: polhode.integrate(BODY, drag, (0, 2), 0.01, title="drag", **START),
    "several": lambda: polhode.integrate(
        BODY, polhode.torques.heavy_top(3.0) + polhode.torques.damping(0.1), (0, 2), 0.01, **START
    ),
    "flight": lambda: polhode.integrate(
        BODY, None, (0, 2), 0.01, force=polhode.weight(2.5), velocity0=(1, 2, 3), **START
    ),
    "by tolerance": lambda: polhode.integrate(BODY, "heavy_top", (2, -1), rtol=1e-9, **START),
}
RANDOM = {"rotation0": "random", "omega0": (0.1, 1.0, 0.0), "rng": 7}
ENSEMBLES = {
    "end": lambda: polhode.ensemble(BODY, "heavy_top", (0, 1), 0.01, "LP2", n=9, **RANDOM),
    "statistics": lambda: polhode.ensemble(
        BODY, "heavy_top", (0, 1), 0.01, "LP2", n=9, keep="statistics", **RANDOM
    ),
    "on the way": lambda: polhode.ensemble(
        BODY, None, (0, 1), 0.01, "LP2", n=9, keep=20, dtype="float32", **RANDOM
    ),
    "own moments": lambda: polhode.ensemble(
        np.linspace([1.0, 2.0, 2.5], [2.0, 2.0, 2.5], 9), None, (0, 1), 0.01, "LP2", **RANDOM
    ),
    "own axes, own parameters": lambda: polhode.ensemble(
        [BODY, polhode.RigidBody([1.0, 2.0, 2.5])] * 4,
        polhode.torque(push, params={"k": 1.0}),
        (0, 1),
        0.01,
        "LP2",
        parameters={"k": np.linspace(0.0, 1.0, 8)},
        **RANDOM,
    ),
    "failures": lambda: polhode.ensemble(
        [1.0, 2.0, 2.5],
        None,
        (0, 1),
        0.1,
        "DMV",
        omega0=[(0.0, 1.0, 0.1), (0.0, 100.0, 1.0), (0.0, 2.0, 0.1)],
    ),
}


def properties(result):
    """All that is public in a result and is not called."""
    names = {name for name in dir(result) if not name.startswith("_")}
    names |= (
        {part.name for part in PARTS.values()} if isinstance(result, polhode.Trajectory) else set()
    )
    static = {name: inspect.getattr_static(result, name, None) for name in names}
    return {name for name in names if not callable(static[name])}


def same(one, other):
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.ascontiguousarray(one).tobytes() == (
            np.ascontiguousarray(other).tobytes()
        )
    if hasattr(one, "as_quat"):
        return same(one.as_quat(), other.as_quat())
    return one == other


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return RUNS[request.param]()


@pytest.fixture(scope="module", params=ENSEMBLES)
def many(request):
    return ENSEMBLES[request.param]()


@pytest.mark.parametrize("suffix", formats())
def test_a_stored_run_has_what_the_fresh_one_has(run, suffix, tmp_path):
    stored = polhode.read(run.save(tmp_path / f"run.{suffix}"))
    assert type(stored) is polhode.Trajectory and repr(stored) == repr(run)
    different = [
        name
        for name in properties(run) - RUN_ONLY - {"recorded", "potential_source"}
        if not same(getattr(run, name), getattr(stored, name))
    ]
    assert different == []
    assert stored.body == run.body and stored.kind is run.kind and math.isnan(stored.elapsed)
    assert repr(stored.torque) == repr(run.torque) and stored.torque.record() == run.torque.record()
    assert stored.method.name == run.method.name and stored.method.facts() == run.method.facts()
    assert stored.provenance() == json.loads(json.dumps(run.provenance()))
    assert stored.summary() | {"elapsed_s": 0} == run.summary() | {"elapsed_s": 0}
    assert stored.to_xarray().identical(run.to_xarray())


def test_a_stored_run_is_drawn_and_shown_as_the_fresh_one(run, tmp_path):
    stored = polhode.read(run.save(tmp_path / "run.nc"))
    assert stored.plot().get_suptitle() == run.plot().get_suptitle()
    assert stored.view().html == run.view().html
    assert stored.view(compare=run).html == run.view(compare=stored).html


def test_a_stored_run_can_be_saved_in_another_format(run, tmp_path):
    stored = polhode.read(run.save(tmp_path / "run.csv"))
    again = polhode.read(stored.save(tmp_path / "again", format="nc"))
    assert again.to_xarray().identical(run.to_xarray())


def test_the_method_of_a_stored_run_is_found_again_and_its_torque_refused(tmp_path):
    stored = polhode.read(RUNS["heavy top"]().save(tmp_path / "run.nc"))
    options = {"t_span": (0, 1), "step": 0.1, "omega0": (0, 1, 0)}
    run = polhode.integrate(stored.body, "heavy_top", method=stored.method, **options)
    assert run.method is polhode.methods.get("LP2")
    for call in (
        lambda: polhode.integrate(stored.body, stored.torque, **options),
        lambda: stored.torque(0.0, np.eye(3)),
        lambda: polhode.integrate(stored.body, stored.torque + drag, **options),
    ):
        with pytest.raises(InputError, match=r"'heavy_top' comes from a stored run, .* itself"):
            call()


@pytest.mark.parametrize("suffix", formats(ensembles=True))
def test_a_stored_ensemble_has_what_the_fresh_one_has(many, suffix, tmp_path):
    stored = polhode.read(many.save(tmp_path / f"many.{suffix}"))
    assert type(stored) is polhode.Ensemble and repr(stored) == repr(many)
    different = [
        name
        for name in properties(many) - MANY_ONLY - {"recorded"}
        if not same(getattr(many, name), getattr(stored, name))
    ]
    assert different == []
    for name, values in stored.parameters.items():
        assert same(values, many.parameters[name])
    if many.statistics is None:
        assert stored.statistics is None
    else:
        assert list(stored.statistics) == list(many.statistics)
        for name, statistic in many.statistics.items():
            assert same(stored.statistics[name], statistic)
    assert stored.provenance() == json.loads(json.dumps(many.provenance()))
    assert stored.to_xarray().identical(many.to_xarray())
    assert stored.summary()["error_estimate"] == many.summary()["error_estimate"]
    assert stored.error_estimate.to_dict() == many.error_estimate.to_dict()
    assert stored.error_estimate.advice == many.error_estimate.advice
    with pytest.raises(InputError, match=r"read from a file|device='cpu'"):
        _ = stored.on_device


def test_the_ensembles_that_are_tried_differ():
    """Some bodies failed, with their reasons; some have axes and parameters of their own."""
    many = ENSEMBLES["failures"]()
    assert [one.body for one in many.failures] == [1] and many.failure_reasons()
    assert "principal_axes" in ENSEMBLES["own axes, own parameters"]().to_xarray()


def test_one_kind_can_be_asked_for(tmp_path):
    run = RUNS["heavy top"]().save(tmp_path / "run.nc")
    many = ENSEMBLES["end"]().save(tmp_path / "many.nc")
    assert isinstance(polhode.read(run, polhode.Trajectory), polhode.Trajectory)
    assert isinstance(polhode.read(many, polhode.Ensemble), polhode.Ensemble)
    with pytest.raises(
        InputError, match="holds an ensemble, but the run of one body was requested"
    ):
        polhode.read(many, polhode.Trajectory)
    with pytest.raises(
        InputError, match="holds the run of one body, but an ensemble was requested"
    ):
        polhode.read(run, polhode.Ensemble)


def test_save_checks_as_the_command_line_does(tmp_path):
    run = RUNS["heavy top"]()
    run.save(tmp_path / "run.nc")
    with pytest.raises(
        InputError, match="exists; choose another name, or overwrite it with --force"
    ):
        run.save(tmp_path / "run.nc")
    assert run.save(tmp_path / "run.nc", force=True) == tmp_path / "run.nc"
    with pytest.raises(InputError, match="'xlsx'; valid: 'csv', 'nc', 'npz', 'zarr'"):
        run.save(tmp_path / "run.xlsx")
    with pytest.raises(InputError, match="does not exist; create it"):
        run.save(tmp_path / "nowhere" / "run.nc")
