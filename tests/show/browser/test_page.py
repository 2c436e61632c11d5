"""The page of `polhode view` in a real browser: what is shown is what the file holds, offline and
at every size."""

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation, Slerp

from polhode import RigidBody, integrate, problems
from polhode.show import demo_report as demo
from polhode.io import store
from polhode.show.poinsot import Poinsot
from polhode.show.view import page
from polhode.show.view._page import encode

BOX = RigidBody.box(0.20, 0.13, 0.03, mass=0.8, name="box")


def tumble(method="VLV", t_end=12.0, **options):
    return integrate(
        BOX, t_span=(0.0, t_end), step=0.01, method=method, omega0=(0.02, 6.0, 0.0), **options
    )


def with_energy(run, total):
    """The run with another total energy: its potential energy makes up the difference."""
    run.potential_energy = total - run.kinetic_energy
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Stored runs and their pages."""
    folder = tmp_path_factory.mktemp("pages")
    top = problems.get("krysl/fast-top").integrate("NMB", t_span=(0, 3))
    runs = {"box": tumble(), "other": tumble("NMB", t_end=9.0), "top": top}
    for name, run in runs.items():
        store.save(run, folder / f"{name}.nc")
        page(folder / f"{name}.nc").save(folder / f"{name}.html")
    page([folder / "box.nc", folder / "other.nc"]).save(folder / "both.html")
    return folder


def stored(path):
    with xr.open_dataset(path, engine="scipy") as data:
        return data.time.values, data.quaternion.values


def apart(p, q):
    """The largest difference between two quaternions, which may have either sign."""
    p, q = np.asarray(p), np.asarray(q)
    return min(np.abs(p - q).max(), np.abs(p + q).max())


@pytest.mark.parametrize("name", ["box", "top", "both"])
def test_loads_offline_without_a_word_and_draws(tab, folder, name):
    one = tab(folder / f"{name}.html")
    share, colours = one.pixels()
    assert 0.02 < share < 0.9 and colours > 200
    assert one.complaints == [] and one.requests == [(folder / f"{name}.html").as_uri()]


def test_slider_moves_the_body_to_the_attitude_in_the_file(tab, folder):
    one, (t, q) = tab(folder / "box.html"), stored(folder / "box.nc")
    for i in (0, 1, 417, 800, len(t) - 1):
        one.seek(t[i])
        state = one.state()
        assert state["time"] == t[i] and apart(state["runs"][0]["shown"], q[i]) < 1e-6
    arcs = Slerp(t, Rotation.from_quat(q))
    for time in (0.0049, 3.33333, 7.77777):
        one.seek(time)
        assert apart(one.state()["runs"][0]["shown"], arcs(time).as_quat()) < 1e-6


def test_the_picture_changes_with_time(tab, folder):
    one = tab(folder / "box.html")
    first = one.do("viewer => viewer.picture()")
    one.seek(2.0)
    assert one.do("viewer => viewer.picture()") != first


@pytest.mark.parametrize("number", range(3))
def test_click_on_a_plot_moves_time_and_the_cursor(tab, folder, number):
    one = tab(folder / "box.html")
    over = one.page.locator(".u-over").nth(number)
    place = over.bounding_box()
    over.click(position={"x": place["width"] / 4, "y": place["height"] / 2})
    one.settle()
    assert abs(one.state()["time"] - 3.0) < 12.0 / place["width"]
    cursor = one.page.locator(".plot-cursor").nth(number).bounding_box()
    assert abs(cursor["x"] + cursor["width"] / 2 - place["x"] - place["width"] / 4) < 2


def test_keys(tab, folder):
    one, (t, _) = tab(folder / "box.html"), stored(folder / "box.nc")
    press = one.page.keyboard.press

    def after(key):
        press(key)
        one.settle()
        return one.state()

    assert (
        after("End")["time"] == t[-1]
        and after("ArrowLeft")["time"] == t[-2]
        and after("Home")["time"] == t[0]
    )
    assert after("ArrowRight")["time"] == t[1] and after("Shift+ArrowRight")[
        "time"
    ] == pytest.approx(t[1] + 0.6)
    assert (
        after("p")["poinsot"]
        and not after("a")["arrows"]
        and after("r")["trace"]
        and not after("b")["axes"]
    )
    assert (
        after("l")["logarithmic"]
        and after("z")["near"]
        and after("+")["speed"] > after("-")["speed"]
    )
    assert after("t")["theme"] == "dark"
    after("?")
    assert one.page.locator("dialog").is_visible()
    after("Escape")
    assert after(" ")["playing"] and not after(" ")["playing"]
    assert one.complaints == []


def test_plays_unless_the_reader_wants_little_motion(tab, folder):
    assert not tab(folder / "box.html").state()["playing"]
    one = tab(folder / "box.html", reduced_motion="no-preference")
    one.wait("polhode.viewer.state().time > 0.05")
    one.page.locator(".play").click()
    stopped = one.state()
    one.settle()
    assert not stopped["playing"] and one.state()["time"] == stopped["time"]


def test_runs_side_by_side_are_in_step(tab, folder):
    one = tab(folder / "both.html")
    files = [stored(folder / "box.nc"), stored(folder / "other.nc")]
    one.seek(4.2)
    for run, (t, q) in zip(one.state()["runs"], files, strict=True):
        assert apart(run["shown"], q[np.argmin(np.abs(t - 4.2))]) < 1e-6
    one.seek(11.0)  # the second ends at 9: it stays there
    assert apart(one.state()["runs"][1]["shown"], files[1][1][-1]) < 1e-6
    assert one.page.locator(".cell-name strong").all_inner_texts() == ["VLV", "NMB"]
    assert one.state()["logarithmic"]  # VLV keeps the momentum, NMB does not


def test_themes(tab, folder):
    light, dark = (tab(folder / "box.html", color_scheme=scheme) for scheme in ("light", "dark"))
    colour = "getComputedStyle(document.body).backgroundColor"
    assert (light.state()["theme"], dark.state()["theme"]) == ("light", "dark")
    assert light.page.evaluate(colour) != dark.page.evaluate(colour)
    light.page.get_by_label("Light or dark").click()
    assert (
        light.page.evaluate(colour) == dark.page.evaluate(colour)
        and light.state()["theme"] == "dark"
    )


@pytest.mark.parametrize(
    ("name", "width"), [("box", 320), ("box", 390), ("box", 1024), ("both", 390), ("both", 768)]
)
def test_fits_every_screen(tab, folder, name, width):
    one = tab(folder / f"{name}.html", viewport={"width": width, "height": 700})
    assert one.overflow() == 0
    for part in (".play", ".slider", ".time", ".stage", ".plots"):
        place = one.page.locator(part).first.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= width and place["height"] > 10
    assert one.pixels()[0] > 0.01


def test_a_logarithmic_plot_says_that_it_shows_sizes(tab, folder):
    one = tab(folder / "top.html")
    shown = one.page.locator(".plot h3").all_text_contents
    assert shown()[:2] == ["Energy (E − E₀) / |E₀|", "Vertical momentum (L − L₀)·up / |L₀|"]
    one.page.keyboard.press("l")
    one.settle()
    assert shown()[:2] == ["Energy |E − E₀| / |E₀|", "Vertical momentum |(L − L₀)·up| / |L₀|"]


def test_axis_labels_at_any_size(tab, folder):
    """Labels read back as the numbers they stand for, all different, for errors of 1e-12 as for
    errors of 1000."""
    one, kept = tab(folder / "box.html"), tumble()
    for size in (1e-12, 2.3e-6, 0.07, 1.0, 3e3, 7e8):
        total = kept.kinetic_energy[0] * (1.0 + size * np.sin(kept.t))
        one.do("(viewer, runs) => viewer.update(runs)", encode([with_energy(kept, total)]))
        one.settle()
        labels = one.state()["ticks"]["energy"]
        values = [as_number(label) for label in labels]
        assert len(labels) == len(set(labels)) >= 2 and not any(
            re.fullmatch("[−-]0(.0*)?", label) for label in labels
        )
        assert (
            np.allclose(np.diff(values), values[1] - values[0], rtol=1e-6)
            and 0.5 * size < max(np.abs(values)) < 1.2 * size
        )


def as_number(label):
    label = re.sub("^(−?)10(?=[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])", r"\g<1>1×10", label)  # a power of ten alone
    factor, _, power = label.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")).partition(
        "×10"
    )
    return float(factor) * 10.0 ** float(power or 0)


def test_poinsots_picture_is_poinsots(tab, folder):
    """The points of contact are those of `polhode.poinsot`, and all lie on the plane."""
    one, run = tab(folder / "box.html"), tumble()
    one.page.keyboard.press("p")
    one.settle()
    body, space, plane, scaling = one.do("""viewer => {
        const { poinsot } = viewer.stage.views[0], points = (trace) => Array.from(trace.whole.geometry.attributes.position.array);
        return [points(poinsot.polhode), points(poinsot.herpolhode), poinsot.distance, poinsot.scaling];
    }""")
    exact = Poinsot(BOX, omega0=run.omega[0])
    body, space = np.reshape(body, (-1, 3)) / scaling, np.reshape(space, (-1, 3)) / scaling
    # drawn a little above the surface
    assert np.abs(body / 1.004 - exact.contact(run)).max() < 2e-6 * np.abs(body).max()
    assert plane / scaling == pytest.approx(exact.plane().distance, rel=1e-6)
    assert (
        np.abs(space @ exact.plane().normal - exact.plane().distance).max()
        < 1e-3 * exact.plane().distance
    )
    assert one.pixels()[0] > 0.05


def test_poinsot_is_for_free_bodies(tab, folder):
    one = tab(folder / "top.html")
    assert one.page.get_by_text("Poinsot", exact=True).is_disabled()
    one.page.keyboard.press("p")
    one.settle()
    assert not one.state()["poinsot"] and one.state()["trace"]  # a top shows the path of its tip


def test_text_is_never_code(tab, tmp_path):
    evil = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 1'>"
    run = integrate(RigidBody([1, 2, 3], name=evil), t_span=(0, 1), step=0.1, omega0=(0, 1, 0.1))
    run.view().save(tmp_path / "evil.html")
    one = tab(tmp_path / "evil.html")
    assert (
        one.page.evaluate("window.broken") is None
        and evil in one.page.locator("h1").inner_text()
        and one.complaints == []
    )


def test_every_shape_is_drawn(tab, folder):
    """And `update` puts other runs in place of the first, as the playground does."""
    one = tab(folder / "box.html")
    one.seek(0.55)
    bodies = [
        BOX,
        RigidBody.ellipsoid(1, 2, 3),
        RigidBody.sphere(2.0),
        RigidBody.cylinder(0.3, 2.0),
        RigidBody([1.0, 2.0, 2.5]),
        RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, 0.2], [0.1, 0.2, 3.0]]),
        RigidBody.point_masses([1, 2, 1, 1], [[1, 0, 0], [-1, 0, 0], [0, 2, 0], [0, 0, 1]]),
    ]
    tetrahedron = (
        [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]],
        [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]],
    )
    shown = set()
    for body, mesh in [*((body, None) for body in bodies), (BOX, tetrahedron)]:
        run = integrate(body, t_span=(0, 1), step=0.05, omega0=(0.3, 1, 0.2))
        one.do("(viewer, runs) => viewer.update(runs)", encode([run], mesh))
        state = one.state()
        assert state["time"] == 0.55 and state["runs"][0]["frames"] == 21 and one.pixels()[0] > 0.03
        shown.add(one.do("viewer => viewer.picture()"))
    assert len(shown) == len(bodies) + 1 and one.complaints == []


def test_in_a_notebook(tab, folder, tmp_path):
    cell = tmp_path / "notebook.html"
    cell.write_text(
        f"<!doctype html><body>{tumble(every=10).view()._repr_html_()}</body>", encoding="utf-8"
    )
    one = tab(cell)
    frame = one.page.frames[1]
    assert frame.evaluate("polhode.viewer.state().runs[0].frames") == 121 and one.complaints == []


def test_a_long_run_keeps_its_peaks(tab, folder):
    one, run = tab(folder / "box.html"), tumble(t_end=200.0)
    energy = run.total_energy.copy()
    energy[12_345] = 2.0 * energy[0]
    one.do("(viewer, runs) => viewer.update(runs)", encode([with_energy(run, energy)]))
    assert one.do(
        "viewer => viewer.runs[0].energy.reduce((a, b) => Math.max(a, b))"
    ) == pytest.approx(1.0, rel=1e-6)
    assert "5001 of 20001 stored points" in one.page.locator(".note").inner_text()


def test_without_webgl_the_plots_work_alone(tab, folder, browser_without_webgl):
    one = tab(folder / "box.html", browser=browser_without_webgl)
    assert "no WebGL" in one.page.locator(".stage").inner_text()
    one.seek(3.0)
    assert one.state()["time"] == 3.0 and one.page.locator(".time").inner_text() == "t = 3.00"


@pytest.mark.parametrize("units, shown", [(None, "t = 3.000"), ({"time": "h"}, "t = 3.000 h")])
def test_the_time_has_the_unit_that_was_named(tab, tmp_path, units, shown):
    run = integrate([1, 2, 3], t_span=(0, 5), step=0.1, omega0=(0, 1, 0.1), units=units)
    one = tab(run.view().save(tmp_path / "page.html"))
    one.seek(3.0)
    assert one.page.locator(".time").inner_text() == shown


def test_the_report_of_the_demo(tab, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "METHODS", ("NMB-cay", "VLV"))
    report = Path(demo.write_demo_report(tmp_path)["report"])
    for width in (390, 1280):
        one = tab(report, viewport={"width": width, "height": 800})
        assert one.complaints == [] and one.requests == [report.as_uri()] and one.overflow() == 0
        assert (
            one.pixels()[0] > 0.02
            and one.page.locator("#drift canvas").bounding_box()["height"] > 200
        )
