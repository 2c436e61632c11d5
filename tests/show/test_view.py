"""The page without a browser: what goes into it, what is refused, and that the built viewer is of
the sources in web/."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from polhode import InputError, RigidBody, flight, integrate, problems
from polhode.io import read, store
from polhode.show.view import page
from polhode.show.html import built
from polhode.show.view._page import encode
from polhode.show.view.runs import ALL_FRAMES, FRAMES
from polhode.show.view.body_shapes import equivalent_box

ROOT = Path(__file__).parents[2]


def decoded(text):
    kind, _, data = text.partition(":")
    return np.frombuffer(base64.b64decode(data), dtype=f"<{kind}")


def tumble(t_end=10.0, step=0.01, method="VLV", body=(1.0, 2.0, 3.0), **options):
    return integrate(
        RigidBody(body),
        t_span=(0.0, t_end),
        step=step,
        method=method,
        omega0=(0.01, 1.0, 0.02),
        **options,
    )


@pytest.mark.parametrize("suffix", ["nc", "npz"])
def test_what_was_stored_is_read_back(tmp_path, suffix):
    run = problems.get("krysl/fast-top").integrate("NMB", t_span=(0, 1))
    kept = read.read(store.save(run, tmp_path / f"run.{suffix}"))
    for name in ("t", "quaternion", "omega", "kinetic_energy", "total_energy"):
        assert np.array_equal(getattr(kept, name), getattr(run, name))
    assert kept.body == run.body and kept.method.name == "NMB" and kept.method.order == 2
    from_file, from_run = encode([kept])[0], encode([run])[0]
    assert from_file == from_run


def test_the_page_holds_the_motion_and_errors_formed_in_double_precision():
    run = tumble(method="NMB")
    data = encode([run])[0]
    assert np.array_equal(decoded(data["t"]), run.t)
    assert np.array_equal(decoded(data["quaternion"]).reshape(-1, 4), run.quaternion.astype("f4"))
    assert np.array_equal(decoded(data["omega"]).reshape(-1, 3), run.omega.astype("f4"))
    error = (run.total_energy - run.total_energy[0]) / run.total_energy[0]
    assert 0 < np.abs(error).max() < 1e-5  # a difference of float32 numbers would be noise of 1e-7
    assert np.array_equal(decoded(data["energy"]), error.astype("f4"))


def test_size():
    """Under 1.5 MB for 5000 frames, and for six runs of more frames than are shown."""
    one = tumble(step=0.002)
    assert len(one) == FRAMES and len(page(one).html.encode()) < 1.5e6
    six = page([one] * 6)
    assert len(six.html.encode()) < 1.5e6
    assert all(len(decoded(run["t"])) == ALL_FRAMES // 6 for run in encode([one] * 6))


def test_a_flight_has_its_path_and_the_size_of_the_body():
    body = RigidBody.box(0.2, 0.4, 0.6, mass=1.5)
    force = flight.weight(1.5) + flight.drag(linear=0.3)
    run = integrate(body, force, (0, 1), 0.01, "EXACT", omega0=(1, 4, 0), velocity0=(5, 0, 12))
    made = page(run)
    data = encode([run])[0]
    assert np.array_equal(decoded(data["position"]).reshape(-1, 3), run.position)
    assert (
        data["extent"] == pytest.approx(0.3)
        and made.title == "Box in flight under weight and linear_drag"
    )
    assert data["titles"]["momentum"] == "Momentum about the centre of mass |L − L₀| / |L₀|"
    assert data["causes"] == {"energy": "loads may change it", "momentum": ""}
    free = integrate(body, None, (0, 1), 0.01, omega0=(1, 4, 0), velocity0=(5, 0, 12))
    assert page(free).title == "Box in free flight"


def test_thinning_keeps_ends_and_peaks():
    kept = tumble(t_end=300.0)
    energy = kept.total_energy.copy()
    energy[[7, 29_999]] *= [0.5, 3.0]
    kept.potential_energy = energy - kept.kinetic_energy
    data = encode([kept])[0]
    t, error = decoded(data["t"]), decoded(data["energy"])
    assert len(t) == FRAMES and t[0] == kept.t[0] and t[-1] == kept.t[-1] and np.all(np.diff(t) > 0)
    assert error.min() == np.float32(-0.5) and error.max() == np.float32(2.0)
    assert any("5001 of 30001" in note for note in data["notes"])


def test_a_body_that_turns_far_between_points_is_owned_up_to():
    data = encode([tumble(every=500)])[0]
    assert any("stored points the body makes up to" in note for note in data["notes"])


def test_a_run_that_went_backwards_is_shown_forwards():
    run = integrate([1, 2, 3], t_span=(5.0, 0.0), step=0.01, method="NMB", omega0=(0.1, 1, 0.2))
    data = encode([run])[0]
    t, error = decoded(data["t"]), decoded(data["energy"])
    assert t[0] == 0.0 and t[-1] == 5.0 and error[-1] == 0.0 and error[0] != 0.0  # it began at 5
    assert any("backwards" in note for note in data["notes"])


def test_numbers_that_are_not_finite_end_the_page_early():
    kept = tumble()
    kept.omega[400:] = np.nan
    data = encode([kept])[0]
    assert len(decoded(data["t"])) == 400 and "NaN" not in json.dumps(data)
    with pytest.raises(InputError, match="holds 1 finite point"):
        encode([kept.part(slice(399, None))])


def test_what_a_top_is():
    run = problems.get("krysl/fast-top").integrate("NMB", t_span=(0, 1))
    data = encode([run])[0]
    assert data["shape"]["kind"] == "top" and data["arm"] == [0.0, 0.0, 1.0] and not data["free"]
    vertical = run.momentum_spatial[:, 2] - run.momentum_spatial[0, 2]
    size = np.linalg.norm(run.momentum_spatial[0])
    assert np.allclose(decoded(data["momentum"]), vertical / size, rtol=1e-6, atol=1e-18)


def test_what_stands_upright():
    """The momentum of a free body, and the third axis for a body on which a torque acts."""
    free = encode([tumble()])[0]
    run = tumble()
    assert (
        np.allclose(free["up"], run.momentum_spatial[0] / np.linalg.norm(run.momentum_spatial[0]))
        and free["free"]
    )
    assert encode([problems.get("stress").integrate("VLV", t_span=(0, 5))])[0]["up"] == [
        0.0,
        0.0,
        1.0,
    ]


def test_the_box_of_the_same_inertia():
    box = RigidBody.box(3.0, 2.0, 1.0)
    size = np.array(equivalent_box(RigidBody(box.moments))["size"])
    assert np.allclose(size / size[0], [1.0, 2 / 3, 1 / 3])
    # the book that no distribution of mass is
    flat = equivalent_box(RigidBody([5.0, 10.0, 1.0], check_triangle=False))
    assert np.all(np.array(flat["size"]) > 0)


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (5, "pair"),
        (([[0, 0, 0]], [[0, 1, 2]]), "from 0 to 0"),
        (([[0, 0]], [[0, 0, 0]]), "3 numbers"),
        (([[0, 0, 0]], [[0, 0, 0.5]]), "whole"),
        ((np.zeros((3, 3)), np.zeros((0, 3))), "shape"),
        ((np.eye(3), np.tile([0, 1, 2], (20_001, 1))), "simplify"),
    ],
)
def test_meshes_that_are_none(mesh, words):
    with pytest.raises(InputError, match=words):
        tumble().view(mesh=mesh)


def test_titles():
    assert (
        problems.get("stress").integrate("VLV", t_span=(0, 5)).view().title
        == "Stress test for long runs"
    )
    assert (
        integrate(RigidBody.box(1, 2, 3), t_span=(0, 1), step=0.1, omega0=(0, 1, 0)).view().title
        == "Box turning freely"
    )
    runs = tumble(), tumble(step=0.02)
    labels = [run["label"] for run in encode(runs)]
    assert labels == ["VLV, step 0.01", "VLV, step 0.02"]
    assert [run["label"] for run in encode([runs[0]] * 2)] == [
        "VLV, step 0.01 (1)",
        "VLV, step 0.01 (2)",
    ]
    assert "2 runs side by side" in runs[0].view(compare=runs[1]).html


def test_runs_on_one_page_are_few():
    with pytest.raises(InputError, match="1 to 6 runs"):
        page([tumble()] * 7)


def test_text_cannot_end_the_script():
    title = "</script><!--\u2028<b onclick='x'>"
    made = page(tumble(t_end=1.0), title=title).html
    start = made.rpartition("<script>")[2].partition("</script>")[0]
    assert "<" not in start and made.count("</script>") == 2 and "<b onclick" not in made
    assert title.replace("<", r"\u003c").replace(">", r"\u003e").replace("'", r"\u0027") in start


def test_saving(tmp_path):
    made = tumble().view()
    path = made.save(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == made.html and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="--force"):
        made.save(path)
    made.save(path, force=True)
    with pytest.raises(InputError, match="suffix"):
        made.save(tmp_path / "page.pdf")
    assert made._repr_html_().startswith("<iframe srcdoc=") and made._repr_html_().count("<") == 2


# --- the command ----------------------------------------------------------------------------------


def polhode(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "polhode", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_command(tmp_path):
    for name, method in (("a", "VLV"), ("b", "NMB"), ("c", "SW")):
        store.save(tumble(method=method), tmp_path / f"{name}.nc")
    done = polhode(
        "view",
        "a.nc",
        "--compare",
        "b.nc",
        "c.nc",
        "-o",
        "page.html",
        "--title",
        "Three methods",
        folder=tmp_path,
    )
    assert done.returncode == 0 and "page.html" in done.stdout
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Three methods</title>" in text and re.findall(r'"label": "(\w+)"', text) == [
        "VLV",
        "NMB",
        "SW",
    ]
    again = polhode("view", "a.nc", "-o", "page.html", folder=tmp_path)
    assert again.returncode == 2 and "--force" in again.stderr


def test_files_that_are_no_runs(tmp_path):
    (tmp_path / "broken.nc").write_text("garbage")
    (tmp_path / "broken.npz").write_text("garbage")
    (tmp_path / "run.csv").write_text("t\n0\n")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    run = tumble(t_end=1.0)
    run.to_xarray().drop_vars("omega").to_netcdf(tmp_path / "part.nc", engine="scipy")
    odd = run.to_xarray()
    odd.attrs["body"] = '{"inertia": [1, 2, -3]}'
    odd.to_netcdf(tmp_path / "odd.nc", engine="scipy")
    expected = {
        "broken.nc": "damaged",
        "broken.npz": "damaged",
        "run.csv": "lacks quaternion, omega, kinetic_energy, method, body",
        "other.npz": "lacks t, quaternion",
        "part.nc": "lacks omega",
        "odd.nc": "body that cannot be read",
        "absent.nc": "no file",
        "plain.txt": "no file",
    }
    for name, words in expected.items():
        with pytest.raises(InputError, match=words):
            read.read(tmp_path / name)


def test_command_names_a_missing_file(tmp_path):
    store.save(tumble(t_end=1.0), tmp_path / "a.nc")
    done = polhode("view", "a.nc", "--compare", "absent.nc", folder=tmp_path)
    assert (
        done.returncode == 2 and "absent.nc" in done.stderr and not (tmp_path / "a.html").exists()
    )


# --- the built viewer -----------------------------------------------------------------------------


def test_the_built_viewer_is_of_these_sources():
    """`make web` writes the digest of what it read; this needs no node."""
    web = ROOT / "web"
    names = sorted(
        [
            "build.mjs",
            "package.json",
            "package-lock.json",
            *(f"src/{path.name}" for path in (web / "src").iterdir()),
        ]
    )
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0".encode() + (web / name).read_bytes() + b"\0")
    assert built("sources.sha256").strip() == digest.hexdigest(), (
        "web/ has changed since the viewer was built: run `make web`"
    )


def test_the_built_viewer_says_what_is_in_it():
    pinned = json.loads((ROOT / "web" / "package.json").read_text("utf-8"))["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pinned.values())
    for name in ("three", "uplot"):
        assert f"{name} {pinned[name]}" in built("NOTICE")
    assert "NOTICE" in built("viewer.js")[:200] and "</script" not in built("viewer.js")
