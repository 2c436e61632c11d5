"""Runs of systems in pages, figures and notebooks: what goes into them."""

import base64

import numpy as np
import polhode
import pytest
from polhode import InputError, RigidBody, System, interactions, plots
from polhode.results import conserved
from polhode.show.plots.smooth import smooth
from polhode.show.plots.panels import logarithmic
from polhode.show.view._page import encode
from polhode.show.view.systems import BODY_FRAMES

ROD = RigidBody.box(1.0, 0.2, 0.3, mass=2.0, name="rod")
PEBBLE = RigidBody([[2.0, 0.3, 0.1], [0.3, 2.5, -0.2], [0.1, -0.2, 1.5]], name="pebble")
BALL = RigidBody.sphere(0.4, mass=1.0)
TETRA = RigidBody.polyhedron(
    [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)],
    [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)],
    mass=1.0,
)
POINTS = RigidBody.point_masses([16.0, 1.0, 1.0], [(0, 0, -0.1), (0.8, 0, 0.8), (-0.8, 0, 0.8)])
KINDS = [ROD, PEBBLE, BALL, TETRA, POINTS, ROD]


def chain(bodies=KINDS, t1=1.0, step=0.05, **options):
    n = len(bodies)
    links = [(i, i + 1) for i in range(n - 1)]
    springs = interactions.springs(links, 3.0, length=1.0, points=((0.5, 0, 0), (-0.5, 0, 0)))
    options = {
        "position0": np.outer(np.arange(n), (2.0, 0.1, 0.0)),
        "omega0": [0.3, 1.0, 0.2],
        "velocity0": np.outer(np.linspace(-1, 1, n), (0.0, 0.4, 0.0)),
        "compiled": False,
    } | options
    return polhode.integrate(System(bodies, springs), t_span=(0, t1), step=step, **options)


@pytest.fixture(scope="module")
def run():
    return chain()


def decoded(text):
    kind, _, data = text.partition(":")
    return np.frombuffer(base64.b64decode(data), dtype=f"<{kind}")


def words(figure):
    return " ".join(
        text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


# --- pages ----------------------------------------------------------------------------------------


def test_a_page_holds_the_motions_of_all_bodies(run):
    data = encode([run])[0]
    assert data["bodies"] == 6 and data["which"] == [0, 1, 2, 3, 4, 0]
    assert np.array_equal(decoded(data["t"]), run.t)
    for name, width in (("quaternion", 4), ("position", 3), ("omega", 3)):
        expected = getattr(run, name).astype("f4")
        assert np.array_equal(decoded(data[name]).reshape(-1, 6, width), expected), name
    assert data["names"][:3] == ["0 rod", "1 pebble", "2"]
    assert data["links"] == [[i, i + 1] for i in range(5)]
    assert data["ends"] == [[0.5, 0, 0, -0.5, 0, 0]] * 5
    assert data["about"]["interaction"] == "springs (5 links)"


def test_bodies_have_their_shapes_to_one_scale(run):
    kinds = encode([run])[0]["kinds"]
    assert [one["shape"]["kind"] for one in kinds] == [
        "box", "ellipsoid", "sphere", "mesh", "points",
    ]  # fmt: skip
    assert kinds[0]["size"] == pytest.approx(0.5 / 0.86) and kinds[2]["size"] == 0.4
    assert kinds[3]["size"] == pytest.approx(np.sqrt(3) / 1.1)
    assert kinds[4]["size"] == pytest.approx(np.hypot(0.8, 0.9), rel=0.15)
    semi = np.array(kinds[1]["shape"]["semi_axes"])
    moments = 0.2 * PEBBLE.mass * ((semi**2).sum() - semi**2)
    assert np.allclose(moments, PEBBLE.moments)
    notes = " ".join(encode([run])[0]["notes"])
    assert notes.count("drawn as an ellipsoid of the same moments") == 1


def test_errors_are_formed_in_double_precision(run):
    data = encode([run])[0]
    energy = (run.total_energy - run.total_energy[0]) / abs(run.total_energy[0])
    assert np.allclose(decoded(data["energy"]), energy, rtol=1e-6, atol=1e-300)
    L = np.linalg.norm(run.angular_momentum - run.angular_momentum[0], axis=1)
    size = np.linalg.norm(run.angular_momenta[0], axis=1).sum()
    assert np.allclose(decoded(data["angular"]), L / size, rtol=1e-6, atol=1e-300)
    assert decoded(data["momentum"]).max() < 1e-14
    assert data["causes"] == {"energy": "", "momentum": "", "angular": ""}


def test_many_bodies_have_fewer_points():
    n = 216
    grid = np.stack(np.unravel_index(np.arange(n), (6, 6, 6)), axis=1)
    many = polhode.integrate(
        System([BALL] * n), t_span=(0, 5), step=0.01, position0=grid, omega0=(0, 0, 1.0)
    )
    data = encode([many])[0]
    frames = len(decoded(data["t"]))
    assert frames == BODY_FRAMES // n < len(many) and "omega" not in data
    assert decoded(data["position"]).shape == (frames * n * 3,)
    assert any("stored points are shown" in note for note in data["notes"])
    assert len(many.view().html) < 4e6 and len(data["kinds"]) == 1


def test_a_stored_run_makes_the_same_page(run, tmp_path):
    path = run.save(tmp_path / "run.nc")
    assert encode([polhode.read(path)]) == encode([run])
    assert run.view().title == "6 bodies: 2 rod, pebble, sphere, mesh, points"
    assert "interaction springs" in run.view().html
    side_by_side = run.view(compare=path, title="both")
    assert side_by_side.title == "both"


def test_a_page_of_a_system_has_no_mesh(run):
    with pytest.raises(InputError, match="drawn in place of one body"):
        polhode.view.page(run, mesh=([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))


def test_damaged_records_of_links_draw_lines_between_centres(run, tmp_path):
    stored = polhode.read(run.save(tmp_path / "run.nc"))
    stored.interaction.record()[0]["parameters"]["a"] = [["x"]]
    assert encode([stored])[0]["ends"] == [[0.0] * 6] * 5


# --- figures --------------------------------------------------------------------------------------


def test_the_overview_of_a_few_bodies(run, tmp_path):
    figure = run.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
    text = words(figure)
    assert "Paths in space" in text and "Total energy" in text and "interaction springs" in text
    assert "0 rod" in text and "third body axes" in text and len(figure.axes) == 5
    paths = next(axes for axes in figure.axes if "Paths in space" in axes.get_title())
    assert np.allclose(np.array(paths.lines[1].get_data_3d()).T, run.position[:, 1])


def test_the_overview_of_many_bodies():
    figure = chain([BALL] * 20).plot()
    text = words(figure)
    assert "90 % of the bodies" in text and "third body axes" not in text
    assert len(figure.axes) == 4


def test_errors_and_drift_of_systems(run):
    figure = plots.errors({"one": run, "other": chain(method="VLV")})
    assert "Angular momentum |L − L₀| / Σ|l|" in words(figure)
    assert "(E − E₀) / |E₀|" in words(plots.drift([run]))


def test_figures_of_one_body_say_so(run):
    for draw in (plots.flip, plots.polhode):
        with pytest.raises(InputError, match="drawn for one body, got a run of 6"):
            draw(run)


def test_what_may_change_is_said():
    def swirl(t, x, R):
        return np.cross((0.0, 0.0, 0.1), x), np.zeros_like(x)

    acting = polhode.interaction(swirl, external=True)
    run = polhode.integrate(
        System([ROD, BALL], acting), t_span=(0, 1), step=0.1, position0=[[0, 0, 0], [2, 0, 0]],
        compiled=False,
    )  # fmt: skip
    assert conserved.linear_momentum(run).by_right and conserved.energy(run).by_right
    assert "the interaction changes it" in words(run.plot())


def test_causes_are_named_only_where_they_act():
    def still(t, x, R):
        pull = 0.1 * (x[::-1] - x)
        return pull, np.zeros_like(x)

    apart = {"position0": [[0, 0, 0], [2, 0, 0]], "t_span": (0, 1), "step": 0.1, "compiled": False}
    free = polhode.integrate(System([ROD, BALL], still), velocity0=[[0, 1, 0], [0, 0, 0]], **apart)
    assert conserved.linear_momentum(free).cause == conserved.momentum(free).cause == ""
    spring = interactions.springs([(0, 1)], 3.0)
    held = polhode.integrate(System([ROD, BALL], spring, fixed=[0]), **apart)
    assert conserved.linear_momentum(held).cause == "fixed points change it"
    boxed = polhode.pair(lambda r, Ri, Rj: (0.1 * r, 0 * r, 0 * r), box=3.0, cutoff=1.4)
    turned = polhode.integrate(
        System([ROD, BALL], boxed), velocity0=[[0, 1, 0], [0, 0, 0]], **apart
    )
    assert conserved.momentum(turned).cause == "the periodic box changes it"
    assert conserved.linear_momentum(turned).cause == ""


def test_errors_on_logarithmic_axes_are_true_values_or_gaps():
    t = np.linspace(0.0, 1.0, 5)
    curves = {
        "small": np.array([0.0, 3e-17, 4e-17, 0.0, 2e-17]),
        "large": np.array([0.0, 1e-2, 2e-2, 3e-2, 1e-2]),
        "none": np.zeros(5),
    }
    axes = plots.new_figure(4, 3).subplots()
    logarithmic(axes, t, curves)
    for line, values in zip(axes.lines[::2], curves.values(), strict=True):
        assert np.array_equal(
            line.get_ydata(), np.where(values > 0, values, np.nan), equal_nan=True
        )
    assert np.isfinite(axes.lines[1].get_ydata()).tolist() == [False] * 4 + [True]  # as a dot
    low, high = axes.get_ylim()
    assert low < 2e-17 and high > 3e-2
    assert "none, unchanged to the last bit" in [
        one.get_text() for one in axes.get_legend().get_texts()
    ]


def test_notebooks_show_systems_and_their_runs(run):
    card = run._repr_html_()
    assert "6: 2 rod, pebble, sphere, mesh, points" in card and "<img" in card
    assert "springs" in run.body._repr_html_() and "2 rod" in run.body._repr_html_()


def test_curves_of_long_steps_are_smooth():
    by_rtol = chain(KINDS[:2], step=None, rtol=1e-6)
    assert by_rtol.steps < 50
    curves = smooth(by_rtol)
    assert len(curves) >= 1500 and np.isin(by_rtol.t, curves.t).all()
    near = chain(KINDS[:2], step=None, rtol=1e-9, t_eval=curves.t)
    assert abs(curves.position - near.position).max() < 1e-2
    assert abs(curves.quaternion - near.quaternion).max() < 1e-2
    assert smooth(near) is near
    alone = polhode.integrate(ROD, t_span=(0, 20), rtol=1e-6, omega0=(1, 2, 3), compiled=False)
    assert abs(smooth(alone).quaternion ** 2).sum(axis=1) == pytest.approx(1.0)
    lines = [line for axes in by_rtol.plot().axes[:1] for line in axes.lines]
    assert all(len(line.get_xdata()) >= 1500 for line in lines)
