"""Pages of bodies in flight and of bodies with rotors in a real browser: where they are drawn, and how
the wheels turn."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from polhode import RigidBody, Rotor, flight, integrate
from polhode.show.view import page
from polhode.show.view._page import encode

BOX = RigidBody.box(0.20, 0.13, 0.03, mass=0.8, name="box")


def tumble(t_end=2.0):
    start = {"omega0": (0.02, 6.0, 0.0), "compiled": False}
    return integrate(BOX, t_span=(0.0, t_end), step=0.01, method="LP2", **start)


# --- in flight -------------------------------------------------------------------------------------


def orbit():
    """Of a body that is a millionth of its orbit in size."""
    body = RigidBody.box(1e-3, 1e-3, 3e-3, mass=250.0)
    start = {"position0": (7000.0, 0.0, 0.0), "velocity0": (0.0, 8.5, 1.0), "omega0": (0, 0, 1e-3)}
    load = flight.gravity(398_600.4, body)
    return integrate(body, load, (0, 9600), 20.0, "EXACT-RKN4", **start)


def toss():
    force = flight.weight(BOX.mass)
    start = {"omega0": (0.02, 6.0, 0.0), "velocity0": (0.5, 0.0, 2.0)}
    return integrate(BOX, force, (0, 0.4), 0.01, "EXACT", **start)


def test_a_body_in_flight_moves_along_its_path(tab, tmp_path):
    run = orbit()
    one = tab(page(run).save(tmp_path / "orbit.html"))
    middle = (run.position.max(axis=0) + run.position.min(axis=0)) / 2
    size = np.linalg.norm(run.position - middle, axis=1).max()
    places = []
    for i in (0, 100, 333):
        one.seek(run.t[i])
        state = one.state()
        places.append(np.array(state["runs"][0]["place"]) / (run.position[i] - middle) * size)
    assert not state["follow"] and np.allclose(places, places[0][0], rtol=1e-9)
    assert "The body is drawn about" in one.page.locator(".key").inner_text()
    assert one.pixels()[0] > 0.005 and one.complaints == []


def test_a_flight_has_a_plot_of_its_position(tab, tmp_path):
    run, other = toss(), toss()
    one = tab(page(run).save(tmp_path / "toss.html"))
    assert one.page.locator(".plot h3").all_inner_texts()[3:] == ["Position"]
    lines = "viewer => viewer.plots.position.lines.map(({ label, y }) => [label, Array.from(y)])"
    labels, values = zip(*one.do(lines), strict=True)
    assert labels == ("x", "y", "z") and np.allclose(np.transpose(values), run.position, rtol=1e-6)
    one.do("(viewer, runs) => viewer.update(runs)", encode([run, other, tumble(t_end=0.4)]))
    one.settle()
    chosen = one.do(lines)  # what changes most, of the runs that fly
    assert len(chosen) == 2 and np.allclose(chosen[0][1], run.position[:, 2], rtol=1e-6)


def test_the_camera_follows_the_body(tab, tmp_path):
    one = tab(page(orbit()).save(tmp_path / "orbit.html"))
    far = one.do("viewer => viewer.picture()")
    one.page.locator(".switch", has_text="Follow").click()
    one.settle()
    state = one.state()
    assert state["follow"] and state["runs"][0]["place"] == [0, 0, 0]
    assert state["runs"][0]["scale"] == 1
    assert "times its size" not in one.page.locator(".key").inner_text()
    assert one.do("viewer => viewer.picture()") != far
    one.page.keyboard.press("f")
    one.settle()
    assert not one.state()["follow"] and one.do("viewer => viewer.picture()") == far


def test_a_short_flight_is_followed_at_once(tab, tmp_path):
    one = tab(page([toss(), tumble()]).save(tmp_path / "toss.html"))  # and one body does not fly
    one.seek(0.2)
    assert one.state()["follow"] and one.complaints == []
    one.page.keyboard.press("f")
    one.settle()
    flying, turning = one.state()["runs"]
    assert flying["place"] != [0, 0, 0] and turning["place"] == [0, 0, 0]


def test_what_does_not_fly_has_nothing_to_follow(tab, tmp_path):
    one = tab(page(tumble()).save(tmp_path / "box.html"))
    before = one.state()
    one.page.keyboard.press("f")
    assert one.page.locator(".switch", has_text="Follow").is_hidden() and one.state() == before


# --- rotors ----------------------------------------------------------------------------------------


def gyrostat(*rotors, **options):
    options = {"omega0": (0.02, 6.0, 0.0), "compiled": False, **options}
    return integrate(BOX.with_rotors(rotors), t_span=(0, 2), step=0.01, method="LP2", **options)


@pytest.fixture(scope="module")
def motor():
    """A wheel that spins up, and a slow one."""
    return gyrostat(Rotor((0, 1, 0), 1e-4, torque=2e-3), Rotor((1, 0, 1), 2e-5, speed=-3.0))


def test_rotors_turn_as_far_as_their_speeds_say(tab, tmp_path, motor):
    one = tab(page(motor).save(tmp_path / "motor.html"))
    steps = np.diff(motor.t)[:, None] * (motor.rotor_speeds[1:] + motor.rotor_speeds[:-1]) / 2
    turned = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    while one.state()["speed"] < 1.0:
        one.page.keyboard.press("+")
        one.settle()
    for i in (0, 1, 77, 200):
        one.seek(motor.t[i])
        state = one.state()
        slower = max(1.0, state["speed"] * np.abs(motor.rotor_speeds).max() / 9.0)
        assert slower > 1.0 and np.allclose(
            state["runs"][0]["rotors"], turned[i] / slower, rtol=1e-5, atol=1e-12
        )
    one.page.keyboard.press("Shift+ArrowLeft")
    one.settle()
    assert 0 < one.state()["runs"][0]["rotors"][0] < turned[-1, 0] / slower
    note = one.page.locator(".key").inner_text()
    assert (
        re.search(r"Rotors are drawn turning [\d.]+ times slower", note) and "with rotors" in note
    )
    while one.state()["speed"] > 0.01:
        one.page.keyboard.press("-")
        one.settle()
    assert "slower" not in one.page.locator(".key").inner_text()
    assert np.allclose(one.state()["runs"][0]["rotors"], turned[-11], rtol=1e-5)
    assert one.complaints == []


def test_the_wheels_are_on_their_axes_outside_the_body(tab, tmp_path, motor):
    one = tab(page(motor).save(tmp_path / "motor.html"))
    axes, places, heights = one.do("""viewer => {
        const { wheels } = viewer.stage.views[0].body.wheels, place = ({ parent }) => parent;
        const axis = (wheel) => place(wheel).getWorldDirection(wheel.position.clone()).toArray();
        const centre = (wheel) => place(wheel).position.toArray();
        return [wheels.map(axis), wheels.map(centre), wheels.map((wheel) => wheel.position.z)];
    }""")
    at_start = Rotation.from_quat(motor.quaternion[0]).apply([r.axis for r in motor.body.rotors])
    assert np.allclose(axes, at_start, atol=1e-6) and np.allclose(places, 0.0, atol=1e-6)
    half = np.array([0.20, 0.13, 0.03]) / 0.20 * 0.86  # of the box as it is drawn
    for height, axis in zip(heights, np.abs([r.axis for r in motor.body.rotors]), strict=True):
        assert half @ axis < height < half @ axis + 0.1
    before = one.do("viewer => viewer.picture()")
    one.do("viewer => { viewer.stage.views[0].body.wheels.visible = false; viewer.redraw(); }")
    assert one.do("viewer => viewer.picture()") != before


def test_the_momentum_that_is_drawn_is_that_of_body_and_rotors(tab, tmp_path, motor):
    """It stays where it is while that of the body alone does not."""
    one = tab(page(motor).save(tmp_path / "motor.html"))
    arrow = "viewer => viewer.stage.views[0].momentum.quaternion.toArray()"
    seen = []
    for time in (0.0, 0.7, 2.0):
        one.seek(time)
        seen.append(Rotation.from_quat(one.do(arrow)).apply([0, 1, 0]))
    L = motor.momentum_spatial[0] / np.linalg.norm(motor.momentum_spatial[0])
    assert np.allclose(seen, L, atol=1e-5)
    body_alone = np.einsum("nij,j,nj->ni", motor.matrix, BOX.moments, motor.omega)
    assert np.linalg.norm(body_alone[-1] / np.linalg.norm(body_alone[-1]) - L) > 0.01


def test_plots_of_rotor_speeds_come_and_go(tab, tmp_path, motor):
    one = tab(page(tumble()).save(tmp_path / "box.html"))
    titles = one.page.locator(".plot h3").all_inner_texts
    assert len(titles()) == 3
    other = gyrostat(Rotor((0, 0, 1), 1e-4, torque=0.0))
    show = "(viewer, runs) => viewer.update(runs, { fresh: true, poinsot: true })"
    one.do(show, encode([motor]))
    one.settle()
    assert titles()[3] == "Rotor speeds" and not one.state()["poinsot"]
    assert one.page.locator(".plot").nth(3).locator(".plot-key span").all_inner_texts() == [
        "w₁",
        "w₂",
    ]
    assert one.page.get_by_text("Poinsot", exact=True).is_disabled()
    remarks = one.page.locator(".plot-remark").all_inner_texts
    assert remarks()[:2] == ["motors and bearings may change it", ""]
    one.do(show, encode([motor, other, tumble(t_end=2.0)]))
    one.settle()
    drawn = "viewer => viewer.plots.speeds.lines.map(({ run, y }) => [run.label, Array.from(y)])"
    first, second = one.do(drawn)
    assert np.allclose(first[1], motor.rotor_speeds[:, 0], rtol=1e-6)
    assert np.allclose(second[1], other.rotor_speeds[:, 0], rtol=1e-6, atol=1e-9)
    one.page.locator(".choice", has_text="w₂").click()
    one.settle()
    ((_, values),) = one.do(drawn)
    assert np.allclose(values, motor.rotor_speeds[:, 1]) and one.overflow() == 0
    assert remarks()[0] == ""  # true of the first run alone
    one.do(show, encode([tumble()]))
    one.settle()
    assert len(titles()) == 3 and one.state()["poinsot"] and one.complaints == []


def test_a_flight_with_rotors(tab, tmp_path):
    run = gyrostat(Rotor((0, 1, 0), 1e-4, torque=0.0, speed=5.0), velocity0=(0.5, 0, 0.1))
    one = tab(page(run).save(tmp_path / "flight.html"), color_scheme="dark")
    one.seek(1.0)
    state = one.state()
    assert state["follow"] and len(state["runs"][0]["rotors"]) == 1
    assert "about the centre of mass, with rotors" in one.page.locator(".key").inner_text()
    assert one.pixels()[0] > 0.03 and one.complaints == []
