"""Figures: they are drawn without a display, say what they show, and cope with odd trajectories;
and the demo."""

import doctest
import json
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import polhode
from polhode import Force, RigidBody, flight, integrate, plots, problems, torques
from polhode.cli.commands.plot import plot
from polhode.show import demo_report as demo
from polhode.errors import InputError
from polhode.io import store
from polhode.results.conserved import energy, is_free, momentum
from polhode.show.plots import ellipsoid, globe, motion_figures as motion, strays
from polhode.show.plots.motion_figures import edges, moments_around_flip
from polhode.show.plots.style import POINTS, thin

SPIN = {"method": "VLV", "t_span": (0.0, 20.0), "step": 0.02, "omega0": (0.002, 6.0, 0.0)}


@pytest.fixture(scope="module")
def tumble():
    return integrate(RigidBody.box(0.20, 0.13, 0.03), **SPIN)


def words(figure):
    return " ".join(
        text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


@pytest.fixture(scope="module")
def top():
    return {name: problems.get("krysl/slow-top").integrate(name) for name in ("NMB", "LP2")}


@pytest.mark.parametrize(
    "draw", [plots.overview, plots.flip, plots.errors, plots.polhode, plots.drift]
)
def test_figures_are_drawn_and_saved(tumble, draw, tmp_path):
    figure = draw(tumble, tmp_path / "a.png")
    assert isinstance(figure, Figure) and (tmp_path / "a.png").stat().st_size > 20_000
    assert "matplotlib.pyplot" not in sys.modules  # no window, no global state


def test_overview_says_what_it_shows(tumble):
    text = words(tumble.plot())
    for part in (
        "VLV",
        "step 0.02,",
        "Ω",
        "time",
        "Total energy",
        "Spatial angular momentum",
        "third axis",
    ):
        assert part in text


def test_the_overview_of_a_flight_shows_its_path():
    body = RigidBody([1.0, 2.0, 2.5], mass=3.0)
    start = {"position0": (5, 0, 1), "velocity0": (0, 1.2, 0), "omega0": (0.1, 1.0, 0.0)}
    run = integrate(body, flight.gravity(8.0, body), (0, 20), 0.05, "EXACT-RKN4", **start)
    figure = run.plot()
    text = words(figure)
    for part in (
        "load gravity",
        "Path in space",
        "origin",
        "Angular momentum about the origin",
        "loads may change it",
    ):
        assert part in text, part
    path = next(axes for axes in figure.axes if "Path in space" in axes.get_title(loc="center"))
    assert np.allclose(
        np.diff([path.get_xlim(), path.get_ylim(), path.get_zlim()]), np.ptp(path.get_xlim())
    )
    assert np.array_equal(np.array(path.lines[0].get_data_3d()), run.position.T)
    assert "loads may change it" in words(plots.errors(run))


def test_in_flight_the_momentum_is_that_about_the_origin_or_one_that_is_kept():
    body = RigidBody([1.0, 2.0, 2.5], mass=3.0)
    start = {"position0": (5, 0, 1), "velocity0": (0, 1.2, 0), "omega0": (0.1, 1.0, 0.0)}
    free = momentum(integrate(body, None, (0, 20), 0.05, "EXACT-RKN4", **start))
    assert not free.by_right and np.abs(free.values).max() < 1e-13
    assert free.about == "the origin"
    thrown = momentum(integrate(body, flight.weight(3.0), (0, 20), 0.05, "EXACT", **start))
    assert thrown.about == "the centre of mass" and not thrown.by_right
    assert np.abs(thrown.values).max() < 1e-13
    pulled = integrate(body, flight.gravity(8.0, body), (0, 20), 0.05, "EXACT-RKN4", **start)
    assert momentum(pulled).about == "the origin"
    assert momentum(pulled).by_right and np.abs(momentum(pulled).values).max() < 1e-13
    assert "no load" in words(integrate(body, None, (0, 1), 0.05, **start).plot())


@pytest.mark.parametrize(
    "load, kept",
    [
        (flight.gravity(8.0, RigidBody([1.0, 2.0, 2.5], mass=3.0)), True),
        (flight.weight(3.0), True),
        (flight.weight(3.0) + flight.drag(linear=0.1), False),
        (flight.thrust((0, 0, 1)), False),
        (Force(lambda t, x, v, R: np.zeros(3), potential=lambda t, x, R: 0.1 * t), False),
    ],
)
def test_in_flight_the_energy_is_kept_if_all_loads_have_potentials(load, kept, tmp_path):
    body = RigidBody([1.0, 2.0, 2.5], mass=3.0)
    start = {"position0": (5, 0, 1), "velocity0": (0, 1.2, 0), "omega0": (0.1, 1.0, 0.0)}
    fresh = integrate(body, load, (0, 2), 0.05, "EXACT-RKN4", **start)
    for run in (fresh, polhode.read(store.save(fresh, tmp_path / "run.nc"))):
        summary = run.summary()
        assert energy(run).by_right is not kept
        assert (summary["energy_drift_max"] is not None) is kept
        assert (summary["energy_change_max"] is None) is kept


def test_the_sphere_takes_runs_and_directions(tumble, top):
    figure = plots.sphere({"run": tumble, "directions": 3.0 * tumble.matrix[:, :, 2]})
    # the curve's near side, before start and end
    a, b = (np.stack(axes.lines[-3].get_data_3d()) for axes in figure.axes)
    np.testing.assert_allclose(a, b, atol=1e-14)
    assert len(plots.sphere(list(top.values()) * 3, dots=False).axes) == 6
    many = plots.sphere(tumble.momentum, dots=True).axes[0]
    assert sum(len(line.get_data_3d()[0]) for line in many.lines[-2:]) == len(tumble)
    for wrong, options in ((np.zeros((5, 3)), {}), ({}, {}), (tumble, {"axis": 4})):
        with pytest.raises(InputError):
            plots.sphere(wrong, **options)


def test_a_body_at_rest_is_unchanged_to_the_last_bit():
    run = integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0.0, 0.0, 0.0))
    assert words(run.plot()).count("unchanged to the last bit") == 2


def test_two_points_are_enough():
    run = integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0.1, 1.0, 0.0), every="end")
    assert len(run) == 2
    for figure in (run.plot(), plots.drift([run]), plots.flip(run)):
        figure.canvas.draw()


def test_kinetic_energy_is_named_when_there_is_no_potential():
    run = integrate([1.0, 2.0, 2.5], torques.damping(0.1), (0, 1), 0.1, omega0=(0.1, 1.0, 0.0))
    assert "Kinetic energy" in words(run.plot())


@pytest.mark.parametrize("module", [plots, ellipsoid, globe, motion, strays])
def test_the_examples_run(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "draw", [plots.overview, plots.flip, plots.errors, plots.drift, plots.polhode]
)
def test_a_stored_run_gives_the_same_figure(tumble, draw, tmp_path):
    path = store.save(tumble, tmp_path / "run.nc")
    for a, b in zip(draw(tumble).axes, draw(path).axes, strict=True):
        for one, other in zip(a.lines, b.lines, strict=True):
            assert np.array_equal(one.get_xydata(), other.get_xydata(), equal_nan=True)


def test_errors_have_signs_sizes_and_the_values_of_the_runs(top):
    figure = plots.errors(top)
    energy, momentum = figure.axes
    for line, run in zip(energy.lines, top.values(), strict=False):
        assert np.array_equal(
            line.get_ydata(), (run.total_energy - run.total_energy[0]) / abs(run.total_energy[0])
        )
    assert (
        energy.get_yscale() == "symlog"
        and "|E₀| = 32.48" in words(figure)
        and "|L₀| = 5" in words(figure)
    )
    assert {"NMB", "LP2"} <= set(words(figure).split())
    nmb, lp2 = (np.abs(line.get_ydata()).max() for line in momentum.lines[:2])
    # of a top the momentum about the vertical is kept, and NMB does not keep it
    assert nmb > 1e-3 and lp2 < 1e-13


def test_errors_cope_with_nothing_and_say_what_the_torque_does():
    still = integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0.0, 0.0, 0.0))
    assert words(plots.errors(still)).count("unchanged to the last bit") == 2
    damped = integrate([1.0, 2.0, 2.5], torques.damping(0.1), (0, 1), 0.1, omega0=(0.1, 1.0, 0.0))
    assert words(plots.errors(damped)).count("changed by the torque") == 2
    with pytest.raises(InputError, match="at least one"):
        plots.errors([])


def test_runs_of_one_method_are_told_apart_by_their_step(tumble):
    other = integrate(RigidBody.box(0.20, 0.13, 0.03), **SPIN | {"step": 0.04})
    text = words(plots.errors([tumble, other, other]))
    assert "VLV, step 0.02" in text and "VLV, step 0.04" in text and "VLV, step 0.04 (3)" in text


@pytest.mark.parametrize(
    "body",
    [
        [1.0, 2.0, 3.0],
        [1.0, 1.0, 1.5],
        [2.0, 2.0, 2.0],
        [[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]],
    ],
)
def test_polhodes_of_bodies_of_every_symmetry_lie_on_the_ellipsoid(body):
    run = integrate(body, t_span=(0, 20), step=0.01, method="LP2", omega0=(0.3, 1.0, 0.2))
    picture = plots.polhode(run).axes[0]
    for line in picture.lines:
        points = np.array(line.get_data_3d()).T
        points = points[np.isfinite(points).all(axis=1)]
        if len(points) > 50:  # not the pins
            assert np.allclose(
                np.einsum("ni,ij,nj->n", points, run.body.inertia, points), 1.0, atol=1e-9
            )


def pushed(frame="spatial"):
    """A torque of somebody's own that is called free and acts."""

    def free(t, R):
        return np.array([0.0, 0.0, 0.1])

    return polhode.torque(free, frame=frame)


WEIGHT = torques.heavy_top(20.0)
TILTED = torques.heavy_top(5.0, up=(0.0, 1.0, 1.0))
NAMESAKE = torques.Torque(
    WEIGHT.function, frame="body", form="tuple", params=WEIGHT.params, name="heavy_top"
)


@pytest.mark.parametrize(
    ("torque", "vertical", "free"),
    [
        (None, False, True),
        (WEIGHT, True, False),
        (TILTED, True, False),
        (WEIGHT.with_params(moment=2.0), True, False),
        (WEIGHT + torques.free(), True, False),
        (WEIGHT + torques.heavy_top(3.0), True, False),
        (WEIGHT + torques.damping(0.1), False, False),
        (WEIGHT + TILTED, False, False),
        (NAMESAKE, False, False),
        (pushed(), False, False),
        (pushed("body"), False, False),
    ],
)
def test_what_is_kept_is_known_from_the_torque_and_not_from_its_name(
    torque, vertical, free, tmp_path
):
    run = integrate(
        [5.0, 5.0, 1.0],
        torque,
        (0.0, 0.1),
        0.01,
        rotation0=(0.3, 0.0, 0.0),
        omega0=(0.1, 0.0, 5.0),
        compiled=False,
    )
    for one in (
        run,
        *(polhode.read(store.save(run, tmp_path / f"run.{kind}")) for kind in ("nc", "npz", "csv")),
    ):
        stray = momentum(one)
        assert (
            is_free(one) is free
            and (stray.up is not None) is vertical
            and stray.title.startswith("Vertical") is vertical
        )
        assert stray.by_right is not (free or vertical)
        if vertical:
            assert np.abs(stray.values).max() < 1e-14


def test_a_polhode_needs_a_body_on_which_nothing_acts(top):
    with pytest.raises(InputError, match="this run has the torque heavy_top"):
        plots.polhode(top["NMB"])
    with pytest.raises(InputError, match="at rest"):
        plots.polhode(integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0.0, 0.0, 0.0)))


def test_convergence_draws_points_and_the_line_of_the_order():
    found = polhode.compare("krysl/slow-top", methods=["NMB", "DOP853@rtol"], errors=[1e-4])
    axes = plots.convergence(found).axes[0]
    points, line = axes.lines  # a method by tolerance has no step
    assert len(points.get_xdata()) > 4
    x, y = np.log(line.get_xdata()), np.log(line.get_ydata())
    assert (
        np.allclose(np.diff(y) / np.diff(x), found.curves[0].slope)
        and abs(found.curves[0].slope - 2) < 0.1
    )
    found.curves.pop(0)
    with pytest.raises(InputError, match="no curve"):
        plots.convergence(found)


def test_command(tumble, tmp_path):
    path = store.save(tumble, tmp_path / "run.nc")
    arguments = [sys.executable, "-m", "polhode", "plot", "run.nc", "run.nc", "--kind", "errors"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
    assert (
        done.returncode == 0
        and "run-errors.png" in done.stdout
        and (tmp_path / "run-errors.png").stat().st_size > 20_000
    )
    for runs, kind, output, expected in (
        ([path], "errors", None, "--force"),
        ([path] * 2, "overview", None, "of one run"),
        ([path], "errers", None, "did you mean 'errors'"),
        ([tmp_path / "absent.nc"], "flip", None, "no file"),
        ([path], "flip", tmp_path / "a.txt", "suffix"),
    ):
        with pytest.raises(InputError, match=expected):
            plot(runs, kind, output, False)


def test_drift_labels_every_method(tumble):
    figure = plots.drift({"first": tumble, "second": tumble})
    assert "first" in words(figure) and "second" in words(figure)
    with pytest.raises(InputError, match="at least one"):
        plots.drift([])


def test_flip_takes_moments_around_the_first_flip(tumble):
    indices = moments_around_flip(tumble, 1, 7)
    spin = tumble.omega[indices, 1]
    assert np.all(np.diff(indices) > 0) and spin[0] > 5.8 and spin[-1] < -5.8 and abs(spin[3]) < 0.5


def test_flip_says_what_it_shows(tumble, top):
    assert "turns over" in words(plots.flip(tumble))
    assert "NMB, step 0.05," in words(plots.flip(top["NMB"])) and "turns over" not in words(
        plots.flip(top["NMB"])
    )
    with pytest.raises(InputError, match="at rest"):
        plots.flip(integrate([1.0, 2.0, 2.5], t_span=(0, 1), step=0.1, omega0=(0.0, 0.0, 0.0)))


def test_a_body_without_shape_is_drawn_as_the_box_of_its_inertia():
    box = RigidBody.box(3.0, 2.0, 1.0)
    assert np.allclose(edges(RigidBody(box.moments)), [1.0, 2 / 3, 1 / 3])


def test_thin_keeps_the_extremes():
    t = np.linspace(0, 1, 100_001)
    y = np.sin(40 * t)
    y[51_234] = 7.0
    thin_t, thin_y = thin(t, y)
    assert len(thin_t) <= POINTS and thin_y.max() == 7.0 and np.all(np.diff(thin_t) > 0)


def test_demo(tmp_path, monkeypatch):
    """The whole of it, on two methods; every number in the report is of this run."""
    monkeypatch.setattr(demo, "METHODS", ("NMB-cay", "VLV"))
    told = []
    data = json.loads(
        json.dumps(demo.write_demo_report(tmp_path / "report", lambda *stage: told.append(stage)))
    )
    newmark, verlet = data["methods"]
    assert newmark["steps"] == verlet["steps"] == 60_000 and newmark["torque_evaluations"] == 60_001
    # Bou-Rabee's counterexample
    assert newmark["energy_drift"] < -0.05 and abs(verlet["energy_drift"]) < 0.001
    assert abs(newmark["energy_drift"]) > 50 * newmark["energy_drift_uncertainty"]
    assert 0.0 < verlet["attitude_error"] < 0.1 and data["flip"]["flips"] == 4
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert (
        page.count("data:image/png;base64,") == 1
        and demo.format_cell("energy_drift", newmark) in page
    )
    assert "https://" not in page and told[0][0] == 0 and told[-1][2] == "done"


def test_drift_comes_with_an_honest_uncertainty():
    t = np.linspace(0.0, 10.0, 5001)
    noise = np.random.default_rng(1).normal(0.0, 0.01, (200, len(t)))
    fits = np.array([demo.fitted_drift(t, 0.003 * t + row) for row in noise])
    pulls = (fits[:, 0] - 0.03) / fits[:, 1]
    assert 0.7 < pulls.std() < 1.1 and abs(pulls.mean()) < 0.25


def test_demo_needs_a_folder(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="--output"):
        demo.write_demo_report(tmp_path / "taken")
