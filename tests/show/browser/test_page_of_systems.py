"""Pages of systems in a real browser: where all bodies are drawn, whom the camera follows, paths, links
and plots."""

import numpy as np
import polhode
import pytest
from polhode import RigidBody, System, interactions

ROD = RigidBody.box(1.0, 0.2, 0.3, mass=2.0, name="rod")
BALL = RigidBody.sphere(0.4, mass=1.0)


def chain(n=5, **options):
    springs = interactions.springs(
        [(i, i + 1) for i in range(n - 1)], 3.0, length=1.0, points=((0.5, 0, 0), (-0.5, 0, 0))
    )
    start = {
        "position0": np.outer(np.arange(n), (2.0, 0.1, 0.0)),
        "omega0": [0.3, 1.0, 0.2],
        "velocity0": np.outer(np.linspace(-1, 1, n), (0.0, 2.0, 0.5)),
    }
    bodies = [ROD if i % 2 else BALL for i in range(n)]
    return polhode.integrate(
        System(bodies, springs), t_span=(0, 2), step=0.05, compiled=False, **start, **options
    )


@pytest.fixture(scope="module")
def run():
    return chain()


@pytest.fixture
def one(tab, tmp_path, run):
    return tab(run.view().save(tmp_path / "chain.html"))


def shown(tab):
    state = tab.state()["runs"][0]
    return state, np.array(state["places"]).reshape(-1, 3), np.array(state["turns"]).reshape(-1, 4)


def test_all_bodies_are_where_they_are(one, run):
    middle = 0.5 * (run.position.max(axis=(0, 1)) + run.position.min(axis=(0, 1)))
    for i in (0, 13, 40):
        one.seek(run.t[i])
        state, places, turns = shown(one)
        assert np.allclose(places, (run.position[i] - middle) * state["unit"], atol=1e-6)
        assert np.allclose(turns, run.quaternion[i], atol=1e-6)
    one.seek(0.5 * (run.t[3] + run.t[4]))
    state, places, _ = shown(one)
    between = 0.5 * (run.position[3] + run.position[4])
    assert np.allclose(places, (between - middle) * state["unit"], atol=1e-6)
    assert one.complaints == [] and len(one.requests) == 1
    share, colours = one.pixels()
    assert 0.005 < share < 0.9 and colours > 100


def test_the_camera_follows_whom_one_chooses(one, run):
    chooser = one.page.locator("select.whom")
    assert chooser.locator("option").all_inner_texts()[:4] == [
        "All bodies", "Centre of mass", "Body 0", "Body 1 rod",
    ]  # fmt: skip
    one.seek(run.t[20])
    titles = one.page.locator(".plot h3").all_inner_texts
    assert [title.split()[0] for title in titles()] == ["Energy", "Momentum", "Angular"]
    chooser.select_option("3")
    one.settle()
    state, places, _ = shown(one)
    assert state["who"] == 3 and np.allclose(places[3], 0.0)
    apart = (run.position[20] - run.position[20, 3]) * state["unit"]
    assert np.allclose(places, apart, atol=1e-5)
    assert titles()[3:] == ["Angular velocity, body axes", "Position"]
    lines = "viewer => viewer.plots.position.lines.map(({ y }) => Array.from(y))"
    assert np.allclose(np.transpose(one.do(lines)), run.position[:, 3], atol=1e-6)
    chooser.select_option("centre")
    one.settle()
    state, places, _ = shown(one)
    assert np.allclose(run.body.masses @ places, 0.0, atol=1e-5)
    chooser.select_option("all")
    one.settle()
    assert len(titles()) == 3 and one.complaints == []


def test_the_key_f_goes_from_body_to_body(one):
    seen = []
    for _ in range(8):
        one.page.keyboard.press("f")
        one.settle()
        seen.append(one.state()["who"])
    assert seen == ["centre", 0, 1, 2, 3, 4, "all", "centre"]


def test_paths_links_axes_and_arrows_are_drawn_where_they_belong(one, run):
    one.seek(run.t[30])
    ends = one.do("""viewer => { const [view] = viewer.stage.views;
        return [Array.from(view.links.points), view.links.visible, view.paths.visible]; }""")
    state, places, turns = shown(one)
    from scipy.spatial.transform import Rotation

    arms = Rotation.from_quat(turns).apply([0.5, 0, 0]) * state["unit"] * state["enlarged"]
    links = np.array(ends[0]).reshape(4, 3, 2, 3)
    assert np.allclose(links[:, 0, 0], places[:-1], atol=1e-6)
    assert np.allclose(links[:, 1, 0], (places + arms)[:-1], atol=1e-6)
    assert np.allclose(links[:, 1, 1], (places - arms)[1:], atol=1e-6)
    assert np.allclose(links[:, 2, 1], places[1:], atol=1e-6) and ends[1:] == [True, True]
    many = one.pixels()[0]
    one.do("viewer => { viewer.switch('trace'); viewer.switch('arrows'); }")
    assert one.pixels()[0] < many
    one.do("viewer => viewer.switch('axes')")
    assert one.do("viewer => viewer.stage.views[0].axes.every((axes) => axes.visible)")
    one.do("viewer => viewer.toggleTheme()")
    assert one.pixels()[0] > 0.005 and one.complaints == []


def test_bodies_of_one_kind_are_drawn_at_once(tab, tmp_path):
    """216 molecules are three draws of 216, whatever there is of them."""
    n = 216
    water = RigidBody.point_masses([16.0, 1.0, 1.0], [(0, 0, -0.1), (0.8, 0, 0.8), (-0.8, 0, 0.8)])
    grid = 3.1 * np.stack(np.unravel_index(np.arange(n), (6, 6, 6)), axis=1)
    run = polhode.integrate(
        System([water] * n),
        t_span=(0, 5),
        step=0.05,
        position0=grid,
        velocity0=0.1 * grid,
        omega0=(0.1, 0.2, 0.3),
    )
    one = tab(run.view().save(tmp_path / "waters.html"))
    draws, instances = one.do("""viewer => { const [view] = viewer.stage.views, meshes = [];
        view.scene.traverse((part) => part.isInstancedMesh && meshes.push(part.count));
        return [meshes.length, meshes]; }""")
    assert draws <= 8 and set(instances) == {n}
    one.seek(2.5)
    _, places, _ = shown(one)
    assert len(places) == n and np.ptp(places, axis=0).min() > 0.5
    buttons = one.page.locator(".switch:visible")
    assert buttons.all_inner_texts() == ["Arrows", "Trace", "Axes"]
    idle = one.page.locator(".switch:visible:disabled")
    assert idle.all_inner_texts() == ["Arrows", "Axes"]
    assert idle.first.get_attribute("title") == "Drawn for at most 12 bodies"
    assert one.pixels()[0] > 0.005 and one.complaints == []


def test_a_periodic_box_shows_the_images_about_the_one_that_is_followed(tab, tmp_path):
    def touch(r, Ri, Rj):
        return 0.0 * r, np.zeros(3), np.zeros(3)

    inside = polhode.pair(touch, box=4.0, cutoff=1.0)
    run = polhode.integrate(
        System([BALL, BALL], inside), t_span=(0, 10), step=0.1, compiled=False,
        position0=[[-1.9, 0, 0], [1.0, 0, 0]], velocity0=[[-0.5, 0, 0], [0, 0, 0]],
    )  # fmt: skip
    one = tab(run.view().save(tmp_path / "box.html"))
    one.seek(10.0)
    state, places, _ = shown(one)
    assert np.allclose(places[:, 0] / state["unit"], [1.1, 1.0], atol=1e-5)
    one.do("viewer => viewer.look(0)")
    state, places, _ = shown(one)
    assert np.allclose(places[:, 0] / state["unit"], [0.0, -0.1], atol=1e-5)
    assert one.do("viewer => viewer.stage.views[0].box !== null") and one.complaints == []


def test_systems_side_by_side_and_beside_nothing_else(tab, tmp_path, run):
    other = chain(method="VLV")
    one = tab(run.view(compare=other).save(tmp_path / "both.html"))
    one.do("viewer => viewer.look(2)")
    states = one.state()["runs"]
    assert [state["who"] for state in states] == [2, 2] and one.complaints == []
    alone = polhode.integrate(ROD, t_span=(0, 2), step=0.05, omega0=(0.1, 1, 0), compiled=False)
    page = tab(polhode.view.page([run, alone]).save(tmp_path / "mixed.html"))
    page.do("viewer => viewer.look(1)")
    assert page.complaints == [] and page.pixels()[0] > 0.005


def test_an_axis_of_tiny_values_has_ticks(one):
    one.do("""viewer => viewer.plots.momentum.setLines(
        [{ label: "", colour: () => "red", t: [0, 1, 2], y: [0, 1e-17, 3e-17] }], false)""")
    one.settle()
    ticks = one.do("viewer => viewer.plots.momentum.ticks")
    assert len(ticks) >= 3 and len(set(ticks)) == len(ticks) and one.complaints == []
