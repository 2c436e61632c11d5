"""Figures: they are drawn without a display, say what they show, and cope with odd trajectories; and the demo."""

import json
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from polhode import RigidBody, demo, integrate, plots, torques
from polhode.errors import InputError

SPIN = {"method": "VLV", "t_span": (0.0, 20.0), "step": 0.02, "omega0": (0.002, 6.0, 0.0)}


@pytest.fixture(scope="module")
def tumble():
    return integrate(RigidBody.box(0.20, 0.13, 0.03), **SPIN)


def words(figure):
    return " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


@pytest.mark.parametrize("draw", [plots.overview, plots.flip, lambda run, path=None: plots.drift([run], path)])
def test_figures_are_drawn_and_saved(tumble, draw, tmp_path):
    figure = draw(tumble, tmp_path / "a.png")
    assert isinstance(figure, Figure) and (tmp_path / "a.png").stat().st_size > 20_000
    assert "matplotlib.pyplot" not in sys.modules   # no window, no global state


def test_overview_says_what_it_shows(tumble):
    text = words(tumble.plot())
    for part in ("VLV", "step 0.02 s", "Ω [rad/s]", "time [s]", "Total energy", "Spatial angular momentum", "third axis"):
        assert part in text


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


def test_drift_labels_every_method(tumble):
    figure = plots.drift({"first": tumble, "second": tumble})
    assert "first" in words(figure) and "second" in words(figure)
    with pytest.raises(InputError, match="at least one"):
        plots.drift([])


def test_flip_takes_moments_around_the_first_flip(tumble):
    indices = plots._moments(tumble, 1, 7)
    spin = tumble.omega[indices, 1]
    assert np.all(np.diff(indices) > 0) and spin[0] > 5.8 and spin[-1] < -5.8 and abs(spin[3]) < 0.5


def test_a_body_without_shape_is_drawn_as_the_box_of_its_inertia():
    box = RigidBody.box(3.0, 2.0, 1.0)
    assert np.allclose(plots._edges(RigidBody(box.moments)), [1.0, 2 / 3, 1 / 3])


def test_thin_keeps_the_extremes():
    t = np.linspace(0, 1, 100_001)
    y = np.sin(40 * t)
    y[51_234] = 7.0
    thin_t, thin_y = plots._thin(t, y)
    assert len(thin_t) <= plots._POINTS and thin_y.max() == 7.0 and np.all(np.diff(thin_t) > 0)


def test_demo(tmp_path, monkeypatch):
    """The whole of it, on two methods; every number in the report is of this run."""
    monkeypatch.setattr(demo, "METHODS", ("NMB-cay", "VLV"))
    told = []
    data = json.loads(json.dumps(demo.run(tmp_path / "report", lambda *stage: told.append(stage))))
    newmark, verlet = data["methods"]
    assert newmark["steps"] == verlet["steps"] == 60_000 and newmark["torque_evaluations"] == 60_001
    assert newmark["energy_drift"] < -0.05 and abs(verlet["energy_drift"]) < 0.001   # Bou-Rabee's counterexample
    assert abs(newmark["energy_drift"]) > 50 * newmark["energy_drift_uncertainty"]
    assert 0.0 < verlet["attitude_error"] < 0.1 and data["flip"]["flips"] == 4
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 3 and demo.shown("energy_drift", newmark) in page
    assert "http" not in page and told[0][0] == 0 and told[-1][2] == "done"


def test_drift_comes_with_an_honest_uncertainty():
    t = np.linspace(0.0, 10.0, 5001)
    noise = np.random.default_rng(1).normal(0.0, 0.01, (200, len(t)))
    fits = np.array([demo.fitted_drift(t, 0.003 * t + row) for row in noise])
    pulls = (fits[:, 0] - 0.03) / fits[:, 1]
    assert 0.7 < pulls.std() < 1.1 and abs(pulls.mean()) < 0.25


def test_demo_needs_a_folder(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="--out"):
        demo.run(tmp_path / "taken")
