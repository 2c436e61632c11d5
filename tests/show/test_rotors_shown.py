"""Bodies with rotors in pages, figures and cards: what is shown is the motion of body and rotors."""

import base64

import numpy as np
import pytest

from polhode import InputError, RigidBody, Rotor, ensemble, flight, integrate, plots
from polhode.io import read, store
from polhode.show.view import page
from polhode.show.view._page import encode


def decoded(text):
    kind, _, data = text.partition(":")
    return np.frombuffer(base64.b64decode(data), dtype=f"<{kind}")


def words(figure):
    return " ".join(
        text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


def test_the_page_has_the_rotors_and_the_momentum_of_all(tmp_path):
    wheels = [Rotor((0, 0, 2), 0.3, speed=4.0), Rotor((1, 1, 0), 0.2, momentum=0.5, damping=0.1)]
    body = RigidBody([1.0, 2.0, 3.0], rotors=wheels)
    start = {"omega0": (0.3, 1.0, 0.2), "compiled": False}
    run = integrate(body, t_span=(0, 2), step=0.02, method="LP2", **start)
    data = encode([run])[0]
    assert encode([read.read(store.save(run, tmp_path / "run.nc"))])[0] == data
    speeds = decoded(data["speeds"]).reshape(-1, 2)
    assert np.array_equal(speeds, run.rotor_speeds.astype("f4"))
    omega, J = decoded(data["omega"]).reshape(-1, 3), np.reshape(data["inertia"], (3, 3))
    wheels = sum(
        speeds[:, [k]] * one["inertia"] * np.array(one["axis"])
        for k, one in enumerate(data["rotors"])
    )
    assert np.allclose(omega @ J + wheels, run.momentum, rtol=1e-6)
    assert data["moments"] == [1.0, 2.0, 3.0]  # of the whole, as it was given
    assert np.abs(decoded(data["momentum"])).max() < 1e-13 and data["causes"]["momentum"] == ""
    assert data["causes"]["energy"] == "motors and bearings may change it"
    L = run.momentum_spatial[0]
    assert np.allclose(data["up"], L / np.linalg.norm(L), rtol=1e-12)
    assert data["about"]["rotor 1"] == "axis (0, 0, 1), inertia 0.3, held at 4"
    assert data["about"]["rotor 2"] == "axis (0.7071, 0.7071, 0), inertia 0.2, damping 0.1"
    assert page(run).title == "A body with 2 rotors free of external torques"
    plain = integrate([1.0, 2.0, 3.0], t_span=(0, 2), step=0.02, method="LP2", **start)
    assert encode([plain])[0]["rotors"] == []


def test_the_rotors_of_a_body_in_flight():
    body = RigidBody.box(0.2, 0.4, 0.6, mass=1.5).with_rotors([Rotor((0, 1, 0), 1e-3, torque=0.0)])
    start = {"omega0": (1, 4, 0), "velocity0": (5, 0, 12), "force": flight.weight(1.5)}
    run = integrate(body, t_span=(0, 1), step=0.01, method="LP2", compiled=False, **start)
    data = encode([run])[0]
    assert np.array_equal(decoded(data["speeds"]), run.rotor_speeds[:, 0].astype("f4"))
    assert data["causes"] == {"energy": "", "momentum": ""}
    assert np.abs(decoded(data["momentum"])).max() < 1e-13
    assert data["extent"] == pytest.approx(0.3)
    assert page(run).title == "Box with a rotor in flight under weight"


def gyrostat(*rotors, **options):
    body = RigidBody([1.0, 2.0, 2.5], mass=3.0, rotors=rotors)
    start = {"omega0": (0.1, 1.0, 0.0), "compiled": False, **options}
    return integrate(body, t_span=(0, 4), step=0.05, method="LP2", **start)


def test_the_figures_of_a_body_with_rotors():
    wheels = Rotor((0, 0, 1), 0.2, speed=5.0), Rotor((1, 0, 0), 0.1, torque=0.02)
    run, thrown = gyrostat(*wheels), gyrostat(*wheels, velocity0=(1, 0, 3))
    for one in (run, thrown):
        figure = one.plot()
        title = "Speeds of the rotors"
        axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == title)
        drawn = np.stack([line.get_ydata() for line in axes.lines])
        assert np.array_equal(drawn, one.rotor_speeds.T)
        assert [line.get_label() for line in axes.lines] == ["w₁", "w₂"]
        for part in (figure, plots.errors(one)):
            assert "motors and bearings may change it" in words(part)
    assert "Path in space" in words(figure)
    below = plots.errors(run).axes[1]  # the momentum is that of all
    assert below.get_title(loc="left").startswith("Momentum |L − L₀| / |L₀|,  |L₀| = ")
    assert np.abs(below.lines[0].get_ydata()).max() < 1e-13
    for draw in (plots.drift, plots.flip, plots.sphere):
        draw(run).canvas.draw()
    with pytest.raises(InputError, match="a body without rotors has a polhode"):
        plots.polhode(run)


def test_rotors_that_balance_the_body():
    """Without any momentum there is no direction that points up."""
    run = gyrostat(Rotor((0, 1, 0), 0.5, speed=-4.0), omega0=(0.0, 1.0, 0.0))
    assert not run.momentum_spatial.any()
    for draw in (plots.flip, plots.overview, plots.errors):
        draw(run).canvas.draw()
    run.view()


def test_cards_have_rotors():
    wheel = Rotor((0, 0, 1), 0.5, speed=7.0)
    body = RigidBody([1.0, 2.0, 2.5], rotors=[wheel], units="SI")
    text = "axis (0, 0, 1), inertia 0.5 kg m², held at 7 rad/s"
    assert text in body._repr_html_()
    start = {"t_span": (0, 1), "step": 0.1, "method": "LP2", "omega0": (0, 0, 5)}
    run = integrate(body, compiled=False, **start)
    assert text in run._repr_html_() and "<img" in run._repr_html_()
    assert "speed of rotor 1 [rad/s]" in ensemble(body, n=2, **start)._repr_html_()
